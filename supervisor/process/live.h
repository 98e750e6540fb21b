// A run as control clients see it while it lives: the supervisor's side of the control socket
// (protocol.h), and the check whether the command waits for input.
//
// The socket is made when a run has lived for a moment, so that short runs do not pay for it. A run
// gets an artifact when somebody waits for its text, however short that is.
//
// The answer to PICTURE as JSON: {"cols":80,"rows":24,"row":1,"col":3,"alternate":false,
// "cursor":true,"title":"...","text":"one line per row\n..."}; row and col from 1. If it is wanted
// with its colours, "paint" is what puts it on a terminal of that size.
#ifndef TERSE_PROCESS_LIVE_H
#define TERSE_PROCESS_LIVE_H

#include "lib/buffer.h"
#include "lib/loop.h"
#include "supervisor/process/job.h"
#include "supervisor/process/protocol.h"
#include "supervisor/process/record.h"
#include "supervisor/process/source.h"
#include "supervisor/process/wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The clients of a live run (protocol.h), as its supervisor serves them.

#define CONTROL_CLIENTS 64

/* How long a run lives before it gets its socket. */
#define LIVE_OPEN_MS 100

struct control_client {
	struct control_client *next;
	int fd;
	struct buffer queue; /* packets, each behind its length (size_t) */
	size_t sent;         /* bytes of the queue */
	bool watches, changed;
	bool attached, sizes; /* `sizes`: its terminal's size is the run's */
	bool behind;          /* missed output */
	bool dead;
	bool caller; /* its end is reported */
};

/* A handler has queued an answer of its own. */
#define CONTROL_ANSWERED (-1)

/* What can be asked. */
struct control_request {
	/* Returns 0 or an errno, which is the answer, or CONTROL_ANSWERED. `client`: NULL for the
	   front end. */
	int (*handle)(void *ctx, struct control_client *client, const struct frame *f, size_t len);
	bool touches; /* a client that only looks may not ask */
	bool front;   /* nor may any other but the front end */
};

/* Who owns the clients. */
struct control_events {
	const struct control_request *requests; /* by FRAME_..., as many as FRAME_REQUESTS */
	int (*repaint)(void *ctx, struct buffer *out);
	void (*unsize)(void *ctx); /* the last client with a terminal has gone */
	void (*left)(void *ctx);   /* the caller has gone; may be NULL */
	void *ctx;
};

/* Without a socket, clients come by control_adopt() alone. */
struct control {
	struct control_events events;
	int dir; /* STORE/live, -1: not open */
	int fd;  /* listens */
	char name[32];
	struct control_client *clients; /* a list, newest first */
	int count;
};

/* Makes the socket `name` in the directory `dir`, which it owns from then on (whatever the result).
   Returns 0, or -1 with errno. */
int control_open(struct control *c, int dir, const char *name);

/* Takes a connected socket as a client. One too many gets EBUSY and is closed. The run's caller
   has room always, and events.left is called when its other end is closed. */
void control_adopt(struct control *c, int fd, bool caller);

/* Queues an answer, in frames of one kind. */
void control_answer(struct control_client *client, enum frame_kind kind, const void *data,
		    size_t len);

/* What to wait for before control_serve(). */
void control_watch(const struct control *c, struct loop *l);

/* Does everything that can be done now; never blocks. */
void control_serve(struct control *c);

/* The command has written: for clients that are attached. */
void control_output(struct control *c, const char *data, size_t len);

/* The status has changed: for clients that watch. */
void control_changed(struct control *c);

/* Whether anything is still queued for a client. */
bool control_is_pending(const struct control *c);

/* Removes the socket and disconnects every client. */
void control_close(struct control *c);

/* Of the first source: the text, and the terminal if there is one. */
struct live {
	struct control control;
	struct prompt prompt;
	struct cast cast;
	bool recording; /* an asciicast was asked for, and has not begun */
	bool terminal;  /* the command has a controlling terminal */
	bool asks;      /* nobody sees what the command asks, so look whether it waits for input */
	bool opened;    /* or it was tried */
	bool active;    /* something was written or typed since the last step */
	enum live_state state;       /* LIVE_WAITING is in `prompt` */
	char typed;                  /* the last byte */
	unsigned cols, rows;         /* while nobody is attached */
	uint64_t reported;           /* lines of the text that a reader has been sent */
	int64_t open_at, changed_at; /* monotonic; 0: not set */
	bool follows;                /* a client reads the text as it grows, ... */
	uint64_t settled;            /* ... and so much of it is final */
	int64_t changes_sent_at;     /* to those who watch */
};

#endif
