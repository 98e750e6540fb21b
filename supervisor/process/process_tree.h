// Who is whose child, as /proc tells it: from the lists that the kernel keeps of the children of
// each thread, or, where it keeps none (no CONFIG_PROC_CHILDREN), from one pass over all processes.
#ifndef TERSE_PROCESS_PROCESS_TREE_H
#define TERSE_PROCESS_PROCESS_TREE_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Zeroed: nothing is known yet. To be used for one question and released, since it grows stale. */
struct process_tree {
	bool passes;       /* the lists are not to be asked */
	struct buffer all; /* of struct process_tree_pair: what the pass found */
};

/* Puts the PIDs (pid_t) of the children of `parent` into `out`, which is emptied first. Who is its
   child from before the call to its end is among them. Without memory some may be missing: then
   the result is -1, else 0. */
int process_tree_children(struct process_tree *k, pid_t parent, struct buffer *out);

/* The same of every process of which `parent` is the ancestor through no one who has ended: parents
   first. */
int process_tree_descendants(struct process_tree *k, pid_t parent, struct buffer *out);

/* Forgets what a pass has found, so that the next question begins a new one. */
void process_tree_release(struct process_tree *k);

// Who keeps the other end of a channel open when the command has ended: background processes, and
// daemons that took it along.

struct pipe_holder {
	pid_t pid, session;
	char name[64]; /* as the process has set it: may hold anything */
};

/* Looks through /proc for processes, but for the caller, that hold the other end of one of `fds`
   (our end of a pty or pipe, or -1). Puts up to `most` of them into `found`, in the order of /proc.
   Returns how many there are; what belongs to other users is not seen. */
int pipe_holder_find(const int *fds, int count, struct pipe_holder *found, int most);

// The processes of a command: its process group, and whatever else stayed in the
// session that the supervisor made for it. What made a session of its own (setsid, daemons)
// does not belong to it any more.

/* Sends `sig` to every process whose session is `session`, except `session` itself (the supervisor)
   and the caller. Returns how many there are (zombies do not count). */
int tree_signal(pid_t session, int sig);

/* How a process tree is ended: HUP (with CONT, so that stopped ones get it), TERM, then KILL. */
struct tree_end {
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
   nothing to do. `first` is the step to begin with: TREE_HUP or TREE_TERM. Returns whether
   anything of the process tree is left. */
enum { TREE_HUP = 1, TREE_TERM, TREE_KILL };
bool tree_end_step(struct tree_end *e, int first, int64_t now_ms);

/* When tree_end_step() has something to do. */
int64_t tree_end_due(const struct tree_end *e);

#endif
