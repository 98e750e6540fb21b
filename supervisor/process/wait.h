// What the processes of a run wait for, as /proc shows it from outside: nothing tells.
#ifndef TERSE_PROCESS_WAIT_H
#define TERSE_PROCESS_WAIT_H

#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <sys/types.h>

struct wait {
	enum wait_kind kind;
	pid_t pid;     /* who does */
	char name[64]; /* its name, as it has set it: may hold anything */
	bool also;     /* WAIT_KEYS: data on its standard input would wake it up as well */
};

/* Looks at all that descends from the caller. `terminal`: the device number of the terminal. */
void wait_look(struct wait *w, dev_t terminal);

/* Whether one of them may have others connect to it: it listens on a socket that is no local one,
   or can't be asked. */
bool wait_is_serving(void);

/* What a system call of this number does. */
bool wait_is_read(long number);
bool wait_is_poll(long number);

/* Whether the open file `fd` of the process is the terminal. */
bool wait_is_terminal(pid_t pid, unsigned long fd, dev_t terminal);

#endif
