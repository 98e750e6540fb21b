// A process that only waits. When the supervisor dies before the command has ended (SIGKILL, out of
// memory), or the front end before the command has been executed, it ends the command's processes
// and restores the person's terminal. It holds no descriptor but its own two and that terminal.
//
// It is also a witness. A process can't know whether a signal was sent to it alone or to its
// process group, so the watchdog stays in the front end's group: a signal that came to both was for
// the group. The kernel signals the newest member of a group first, so the watchdog has the signal
// before the front end. Every signal must be blocked in the process that starts it
// (signals_take()).
#ifndef TERSE_PROCESS_WATCHDOG_H
#define TERSE_PROCESS_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

struct watchdog {
	pid_t session;    /* the supervisor's: also its process ID */
	int pipe;         /* read end; watchdog_tell() has the other one, which closes on exec */
	int64_t grace_ms; /* between TERM and KILL */
	int terminal;     /* to be restored, or -1 */
	const struct termios *modes;
	const struct termios *raw; /* only while the terminal is still as terse has set it */
};

/* Starts it as a child. Returns its pid, or -1 with errno: the run goes on without. *asked: the
   socket to ask it through, or -1. */
pid_t watchdog_start(const struct watchdog *g, int *asked);

/* For the supervisor: the command's process group, once there is one; 0: all is well, and `pipe` is
   closed. The watchdog reads it when all write ends are closed. */
void watchdog_tell(int *pipe, pid_t group);

/* Asks the watchdog whether it was sent the signal `what`, too; it forgets that. True where it does
   not answer. WATCHDOG_LEAVE: it leaves the group of a front end that ends before it. */
#define WATCHDOG_LEAVE 0x7f
bool watchdog_ask(int asked, int what);

/* Sets `terminal` back to *modes if it still has the *raw ones. */
void watchdog_restore_terminal(int terminal, const struct termios *modes,
			       const struct termios *raw);

#endif
