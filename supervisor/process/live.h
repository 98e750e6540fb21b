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

struct control {
	struct control_events events;
	int dir; /* STORE/live, -1: not open */
	int fd;  /* listens */
	char name[32];
	struct control_client *clients; /* a list, newest first */
	int count;
};

/* Sets up one without a socket: clients come by control_adopt(). */
void control_init(struct control *c, const struct control_events *events);

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

struct live {
	const struct job *job;
	struct record *record;
	struct source *source; /* of the text, and of the terminal if there is one */
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

/* `device`: of the command's controlling terminal; 0: it has none. Makes no socket yet. */
void live_init(struct live *l, const struct job *job, struct source *source, struct record *record,
	       dev_t device, const struct control_events *events);

/* Makes the socket and the artifact now. Returns 0, or -1 when nobody could reach the run. */
int live_open(struct live *l);

/* The state of the run. `reads`: for somebody who will read the text. Returns 0 or an errno. */
int live_describe(struct live *l, bool reads, struct live_status *now);

/* The screen as it is now, or NULL without memory for it. */
const struct terminal *live_screen(const struct live *l);

/* The same as JSON. Returns 0 or an errno. */
int live_picture(const struct live *l, bool painted, struct buffer *json);

/* The command has written. */
void live_output(struct live *l, const char *data, size_t len);

/* What ends the input now: fills in `end` and returns its length; 0: there is no terminal. */
size_t live_end_of_input(const struct live *l, char end[2]);

/* Sets the size of the terminal; `own`: it is the run's while nobody is attached. Returns 0 or an
   errno. */
int live_resize(struct live *l, unsigned cols, unsigned rows, bool own);

/* Whether somebody may ask something. */
static inline bool live_has_clients(const struct live *l)
{
	return l->control.fd >= 0 || l->control.clients;
}

/* Does what is due. Returns whether the command has just begun to wait for input. */
bool live_step(struct live *l, int64_t now_ms);

/* When live_step() is due next; 0: not before something happens. */
int64_t live_due(const struct live *l);

/* The state has changed: clients that watch are sent it. */
void live_changed(struct live *l);

/* The question that the command asks, clean; "" on the alternate screen. */
void live_prompt(const struct live *l, char out[LIVE_TEXT]);

/* The length of the text: complete lines, and bytes including unfinished ones. */
void live_count(const struct live *l, uint64_t *lines, uint64_t *bytes);

#endif
