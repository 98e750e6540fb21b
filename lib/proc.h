// What /proc tells of a process, as far as it is needed to know an agent, a shell
// or a reader among the ancestors.
#ifndef TERSE_LIB_PROC_H
#define TERSE_LIB_PROC_H

#include <stdbool.h>
#include <sys/types.h>

struct process {
	pid_t pid, parent, group, session;
	pid_t foreground;           /* the group in its terminal's; -1: no terminal */
	char state;                 /* R S D T t Z X I */
	unsigned long long started; /* clock ticks after the start of the machine */
	char name[64];              /* as the process has set it: may hold anything */
};

/* Returns 0, or -1 when it is gone or hidden. */
int process_read(pid_t pid, struct process *p);

/* The name of what it runs: its program's, without the directory, or for an interpreter (node,
   python ...) its script's. `room`: where that is put. NULL: not known. */
const char *process_program(pid_t pid, char *room, size_t size);

#endif
