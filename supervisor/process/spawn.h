// Starts the command: its own process group, its streams, the caller's signal state.
#ifndef TERSE_PROCESS_SPAWN_H
#define TERSE_PROCESS_SPAWN_H

#include "supervisor/process/signals.h"

#include <sys/types.h>

struct spawn {
	char *const *argv;
	char *const *envp;
	const char *cwd; /* or NULL */
	int fds[3];      /* what becomes 0, 1 and 2; -1: as it is */
	int terminal;    /* slave of the controlling terminal to be in the foreground of, or -1 */
	const struct signals *signals;
};

/* Starts it as a child in a process group of its own. `error` gets the read end of a pipe
   (non-blocking, close-on-exec) that holds an errno if the program could not be executed
   (then it exits 127 or 126) and is empty otherwise. Returns the pid, or -1 with errno. */
pid_t spawn_command(const struct spawn *s, int *error);

/* After the exit status 126 or 127: the errno of the failed exec, or 0 if the command itself exited
   so. Closes the pipe. */
int spawn_error(int *error);

/* Replaces this process by the command, with the PATH search of execvp(3). Returns
   errno only on failure. */
int spawn_exec(char *const *argv, char *const *envp);

/* The exit status a shell gives for it. */
int spawn_exit_status(int exec_errno);

#endif
