// A process that only waits: when the keeper dies before the command has ended
// (SIGKILL, out of memory), it ends what the keeper had started and puts the person's terminal
// back. It lives in a session of its own, holds no descriptor but its pipe and that terminal.
#ifndef TERSE_PROCESS_GUARD_H
#define TERSE_PROCESS_GUARD_H

#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

struct guard {
	pid_t session;    /* the keeper's: also its process ID */
	pid_t group;      /* the command's */
	int pipe;         /* read end; one byte: all is well; end of file: the keeper died */
	int64_t grace_ms; /* between TERM and KILL */
	int terminal;     /* to be put back, or -1 */
	const struct termios *modes;
	const struct termios *raw; /* only while the terminal is still as terse has set it */
};

/* Starts it as a child. Returns its pid, or -1 with errno: the run goes on without. */
pid_t guard_start(const struct guard *g);

/* Puts `terminal` back to *modes if it is still in the *raw ones. */
void guard_restore_terminal(int terminal, const struct termios *modes, const struct termios *raw);

#endif
