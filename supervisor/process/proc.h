// What /proc tells of one process.
#ifndef TERSE_PROCESS_PROC_H
#define TERSE_PROCESS_PROC_H

#include <sys/types.h>

struct proc {
	char state; /* R S D T t Z X I */
	pid_t parent, group, session;
	char name[64]; /* as the process has set it: may hold anything */
};

/* Returns 0, or -1 when it is gone or hidden. */
int proc_read(pid_t pid, struct proc *p);

#endif
