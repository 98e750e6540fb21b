// How the front end is, which nothing tells its keeper: stopped by a SIGSTOP that can't be passed
// on, or in the background of a shell, where a command may not read the terminal.
#ifndef TERSE_PROCESS_FRONT_H
#define TERSE_PROCESS_FRONT_H

#include <stdbool.h>
#include <sys/types.h>

struct front_state {
	bool stopped;
	bool group_stopped; /* its guard is, too; or that can't be told */
	bool background;    /* of a terminal whose shell would continue it */
};

/* Looks at the front end `pid`; `self` is its other child. Nothing is set where it has gone. */
struct front_state front_look(pid_t pid, pid_t self);

#endif
