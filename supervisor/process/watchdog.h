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
#include <sys/types.h>

struct job;

/* Starts it as a child, for the job of the supervisor whose process ID is `session`. `pipe`: the
   read end; watchdog_tell() has the other one, which closes on exec. Returns its pid, or -1 with
   errno: the run goes on without. *asked: the socket to ask it through, or -1. */
pid_t watchdog_start(const struct job *job, pid_t session, int pipe, int *asked);

/* For the supervisor: the command's process group, once there is one; 0: all is well, and `pipe` is
   closed. The watchdog reads it when all write ends are closed. */
void watchdog_tell(int *pipe, pid_t group);

/* Asks the watchdog whether it was sent the signal `what`, too; it forgets that. True where it does
   not answer. WATCHDOG_LEAVE: it leaves the group of a front end that ends before it. */
#define WATCHDOG_LEAVE 0x7f
bool watchdog_ask(pid_t watchdog, int asked, int what);

/* Sets the person's terminal, if there is one, back to the job's modes if it still has the raw
   ones. */
void watchdog_restore_terminal(const struct job *job);

#endif
