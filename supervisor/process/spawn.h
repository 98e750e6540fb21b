// A pseudo-terminal for a command. Its size and modes are set before the command starts; both ends
// are close-on-exec, and the master does not block.
#ifndef TERSE_PROCESS_SPAWN_H
#define TERSE_PROCESS_SPAWN_H

#include "config/settings.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct job;

struct pty {
	int master;
	int slave; /* the owner closes it once the command has it; otherwise the output would never
		      end */
};

enum pty_use {
	PTY_WRITTEN, /* nobody types: output passes unchanged, and the slave can only be written to
		      */
	PTY_JOBS,    /* PTY_WRITTEN, and the controlling terminal of this process's session, so that
			a shell can control its jobs; /dev/tty can't be opened, or reads of it end
			at once */
	PTY_TYPED,   /* a person or an input queue types: echo and CR NL output stay on */
};

/* Opens a pseudo-terminal. PTY_TYPED takes the modes from *like unless that is NULL. Returns 0, or
   -1 with errno. */
int pty_open(struct pty *p, unsigned cols, unsigned rows, enum pty_use use,
	     const struct termios *like);

int pty_resize(int master, unsigned cols, unsigned rows);

/* Whether the terminal is raw (no line editing), so that the command gets the answer to a query,
   without an echo. */
bool pty_is_raw(int master);

// Signals: saving the caller's state, and ending this process the way another process ended.

/* The mask a process was started with, and the one disposition that terse changes. */
struct signals {
	sigset_t mask;
	bool children_ignored;
};

/* Saves the caller's state and blocks every signal: no signal ends terse's own processes, and the
   front end passes each on. */
void signals_take(struct signals *saved);

/* Puts the saved state back, in the command's process before exec. */
void signals_restore(const struct signals *saved);

/* Ends this process as another process ended, by its wait status: with the same exit code, or by
   the same signal, without a second core dump. */
_Noreturn void signals_end_like(int status);

// The command's environment: the caller's, with the changes of [environment] if output is captured,
// and TERSE_ACTIVE (lib/active.h).

/* Whether two entries, "NAME=VALUE" or "NAME", are of the same variable; and whether a list has an
   entry of the same variable. */
bool environment_is_same(const char *entry, const char *other);
bool environment_lists(const struct strings *list, const char *entry);

/* Returns the command's environment: a NULL-terminated array whose strings belong to `from`, `s`
   and the caller; free() the array alone. `captured`: apply [environment]. `active`: an entry that
   is always set. NULL with errno ENOMEM. */
char **environment_make(char *const *from, const struct settings *s, bool captured, char *active);

// Starts the command, in its own process group, with its streams and the caller's signal state.

/* Starts the job's command as a child in a process group of its own, *group, and waits until it has
   been executed. `fds` become 0, 1 and 2; -1: unchanged. `terminal`: the slave of the controlling
   terminal, in whose foreground the command runs; or -1. If *group is not the command's pid, it is
   the pid of another child, which has ended and is kept as a zombie so that the number stays taken.
   Returns the pid; -1 with errno if no process can be made; 0 with errno if the program can't be
   executed. */
pid_t spawn_command(const struct job *job, char *const *envp, const int fds[3], int terminal,
		    pid_t *group);

/* Replaces this process with the job's command, like exec_search() (lib/exec.h), but with the PATH
   of `envp`. Returns errno only on failure. */
int spawn_exec(const struct job *job, char *const *envp);

/* Waits for the end of a child; a `pid` of 0 or -1: there is none. */
void spawn_reap(pid_t pid);

/* The exit status that a shell reports for this errno of exec. */
int spawn_exit_status(int exec_errno);

#endif
