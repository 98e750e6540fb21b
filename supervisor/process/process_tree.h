// The processes of a run: children and descendants, who holds its output, and how all are ended.
//
// Children come from the lists that the kernel keeps for each thread, or, where it keeps none (no
// CONFIG_PROC_CHILDREN), from one pass over all processes.
#ifndef TERSE_PROCESS_PROCESS_TREE_H
#define TERSE_PROCESS_PROCESS_TREE_H

#include "lib/buffer.h"
#include "lib/proc.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroed: nothing is known yet. Use it for one question and release it, since it grows stale. */
struct process_tree {
	bool passes;       /* do not read the lists */
	struct buffer all; /* of struct process_tree_pair: what the pass found */
};

/* Puts the PIDs (pid_t) of the children of `parent` into `out`, which is emptied first: at least
   all that are its children during the whole call. Returns 0, or -1 without memory: some may be
   missing then. */
int process_tree_children(struct process_tree *k, pid_t parent, struct buffer *out);

/* The same for all descendants, parents first; those of a process that has ended are not found. */
int process_tree_descendants(pid_t parent, struct buffer *out);

/* Forgets the pass, so that the next question begins a new one. */
void process_tree_release(struct process_tree *k);

// The processes that hold the other end of a channel when the command has ended: background
// processes and daemons.

/* Finds the processes, other than the caller, that hold the other end of one of `fds` (our end of a
   pty or pipe, or -1). Puts up to `most` of them into `found`, in the order of /proc. Returns how
   many there are; those of other users can't be seen. */
int pipe_holder_find(const int fds[2], struct process *found, int most);

// Ending the processes of a command: all in the session that the supervisor made for it. A process
// with a session of its own (setsid, a daemon) does not belong to it any more.

/* Sends `sig` to every process whose session is `session`, except `session` itself (the supervisor)
   and the caller. Returns how many there are (zombies do not count). Nobody is signalled for a
   session below 2, nor for the caller's own unless it is the supervisor; so in tree_end_step(). */
int tree_signal(pid_t session, int sig);

/* How a process tree is ended: HUP (with CONT, so that stopped ones get it), TERM, then KILL. */
struct tree_end {
	pid_t session;
	pid_t command;    /* ended even if it has a session of its own; 0: not known */
	pid_t group;      /* of the command: signalled where /proc can't be read */
	int64_t grace_ms; /* between TERM and KILL */
	int step;         /* what has been sent */
	int64_t next_ms;  /* monotonic time of the next step, which is due then; 0: not begun */
	int64_t look_ms;  /* when to look again whether any are left */
	int64_t pause_ms; /* between the last KILLs */
};

/* Begins, or goes on when it is due; cheap when there is nothing to do. `first` is the step to
   begin with: TREE_HUP or TREE_TERM. Returns whether any process is left. */
enum { TREE_HUP = 1, TREE_TERM, TREE_KILL };
bool tree_end_step(struct tree_end *e, int first, int64_t now_ms);

#endif
