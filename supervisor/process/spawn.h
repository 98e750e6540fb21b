// Starts the command: its own process group, its streams, the caller's signal state.
#ifndef TERSE_PROCESS_SPAWN_H
#define TERSE_PROCESS_SPAWN_H

#include "supervisor/process/signals.h"

#include <sys/types.h>

struct spawn {
	const char *program; /* NULL: argv[0] */
	char *const *argv;
	char *const *envp;
	int fds[3];   /* what becomes 0, 1 and 2; -1: as it is */
	int terminal; /* slave of the controlling terminal to be in the foreground of, or -1 */
	const struct signals *signals;
	bool leads; /* its group: then it can't make a session; else one that ends at once does */
};

/* Starts it as a child in a process group of its own, *group, and waits until it has been executed.
   A *group that is not the pid is that of another child, which has ended and keeps the number until
   it is waited for. Returns the pid; -1 with errno when there is no process for it; 0 with errno
   when the program can't be executed. */
pid_t spawn_command(const struct spawn *s, pid_t *group);

/* Replaces this process by the command, with the PATH search of execvp(3), but a binary that the
   kernel does not execute is not given to sh. `program`: NULL for argv[0]. Returns errno only on
   failure. */
int spawn_exec(const char *program, char *const *argv, char *const *envp);

/* The exit status a shell gives for it. */
int spawn_exit_status(int exec_errno);

#endif
