// The clients of a live run (protocol.h), as its supervisor serves them.
#ifndef TERSE_PROCESS_CONTROL_H
#define TERSE_PROCESS_CONTROL_H

#include "lib/buffer.h"
#include "lib/loop.h"
#include "supervisor/process/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_CLIENTS 64

struct control_client {
	struct control_client *next;
	int fd;
	struct buffer queue; /* packets, each behind its length (size_t) */
	size_t sent;         /* bytes of the queue */
	bool watches, changed;
	bool attached, sizes; /* `sizes`: its terminal's size is the run's */
	bool behind;          /* missed output */
	bool dead;
	bool caller; /* its end is told */
};

/* A handler has queued an answer of its own. */
#define CONTROL_ANSWERED (-1)

/* Answers a request. Returns 0 or an errno, which is the answer, or CONTROL_ANSWERED. */
typedef int control_handler(void *ctx, struct control_client *client, const struct frame *f,
			    size_t len);

/* Without a socket, clients come by control_adopt() alone. */
struct control {
	control_handler *const *requests; /* by FRAME_..., as many as FRAME_REQUESTS */
	int (*repaint)(void *ctx, struct buffer *out);
	void *ctx;
	/* For the owner, who clears them: the last client with a terminal has gone; the caller. */
	bool unsized, left;
	int dir; /* STORE/live, -1: not open */
	int fd;  /* listens */
	char name[32];
	struct control_client *clients; /* a list, newest first */
	int count;
	int64_t changed_at, told_at; /* monotonic: when those who watch are told next, were last */
};

/* Makes the socket `name` in the directory `dir`, which it owns from then on (whatever the result).
   Returns 0, or -1 with errno. */
int control_open(struct control *c, int dir, const char *name);

/* Takes a connected socket as a client. One too many gets EBUSY and is closed. The run's caller
   has room always, and `left` is set when its other end is closed. */
void control_adopt(struct control *c, int fd, bool caller);

/* Queues an answer, in frames of one kind. */
void control_answer(struct control_client *client, enum frame_kind kind, const void *data,
		    size_t len);

/* What to wait for before control_serve(); who connects meanwhile becomes a client. */
void control_watch(struct control *c, struct loop *l);

/* Does everything that can be done now; never blocks. */
void control_serve(struct control *c);

/* The command has written: for clients that are attached. */
void control_output(struct control *c, const char *data, size_t len);

/* The status has changed: clients that watch are told. */
void control_changed(struct control *c);

/* Whether anything is still queued for a client. */
bool control_is_pending(const struct control *c);

/* Removes the socket and disconnects every client. */
void control_close(struct control *c);

#endif
