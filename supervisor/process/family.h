// The processes of a command: its process group, and whatever else stayed in the
// session that the keeper made for it. What made a session of its own (setsid, daemons)
// does not belong to it any more.
#ifndef TERSE_PROCESS_FAMILY_H
#define TERSE_PROCESS_FAMILY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sends `sig` to every process whose session is `session`, except `session` itself (the keeper)
   and the caller. Returns how many there are (zombies do not count). */
int family_signal(pid_t session, int sig);

/* How a family is ended: HUP (with CONT, so that stopped ones get it), TERM, then KILL. */
struct family_end {
	pid_t session;
	pid_t command;    /* ended even if it has made a session of its own; 0: it is not known */
	pid_t group;      /* of the command: all that is known where /proc tells nothing */
	int64_t grace_ms; /* between TERM and KILL */
	int step;         /* what has been sent */
	int64_t next_ms;  /* monotonic time of the next step; 0: not begun */
	int64_t look_ms;  /* when it is looked again whether any are left */
	int64_t pause_ms; /* between the last KILLs */
};

/* Begins or goes on when it is time; to be called every few milliseconds, and cheap when there is
   nothing to do. `first` is the step to begin with: FAMILY_HUP or FAMILY_TERM. Returns whether
   anything of the family is left. */
enum { FAMILY_HUP = 1, FAMILY_TERM, FAMILY_KILL };
bool family_end_step(struct family_end *e, int first, int64_t now_ms);

#endif
