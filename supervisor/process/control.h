// The control socket of a live run, and its protocol.
//
// STORE/live/ID is a SOCK_SEQPACKET socket (0600, in a directory 0700), there while the
// run lives; only its own user is let in (SO_PEERCRED). A socket that refuses a
// connection belongs to a supervisor that was killed.
//
// A packet is struct control_head in the byte order of the machine, and data behind it.
// To the supervisor (data at most CONTROL_REQUEST_DATA; each is answered by one packet or
// more of CONTROL_DONE, CONTROL_STATUS or CONTROL_PICTURE, in the order they were sent):
//
//   STATUS                            the state of the run: JSON (live_status.h)
//   WATCH   a: 1: follows the text    the same, and again whenever it has changed; the text can be
//                                     read in an artifact from then on
//   TYPE    data, a: 1 if it is a cursor key (ESC [ A), which programs can ask for in
//           another form
//   CLOSE                             type what ends the input
//   SIGNAL  a: number, 0: end it      to the command's process group; 0: TERM to everything
//           b: 1: its session asks    it started, KILL after the grace time
//   RESIZE  a: columns, b: rows
//   PICTURE a: 1: with its colours    the screen: JSON (live.h)
//   ATTACH  a: columns, b: rows (0, 0: look only)   from here on OUTPUT comes
//   REPORTED  a: lines                a reader has seen the text up to this line
//
// From the supervisor:
//
//   DONE    a: 0, or an errno         EPROTO: no such request, or of a wrong form; EBUSY, without
//                                     one: it has too many clients
//   STATUS, PICTURE  a: bytes still to come in packets of the same kind, data
//   OUTPUT  data                      output for the client's terminal: first a repaint
//
// A client that does not read is not waited for: it misses OUTPUT, and gets a repaint
// when it reads again; its requests wait until it takes their answers.
#ifndef TERSE_PROCESS_CONTROL_H
#define TERSE_PROCESS_CONTROL_H

#include "lib/buffer.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_CLIENTS      64
#define CONTROL_REQUEST_DATA 4096
#define CONTROL_PACKET_DATA  16384

enum control_kind {
	CONTROL_STATUS = 1,
	CONTROL_WATCH,
	CONTROL_TYPE,
	CONTROL_CLOSE,
	CONTROL_SIGNAL,
	CONTROL_RESIZE,
	CONTROL_PICTURE,
	CONTROL_ATTACH,
	CONTROL_REPORTED,
	CONTROL_DONE = 64,
	CONTROL_OUTPUT,
};

struct control_head {
	uint32_t kind, a, b;
};

struct control_packet {
	struct control_head head;
	char data[CONTROL_PACKET_DATA];
};

/* Requests that the owner serves. Each returns 0 or an errno, which is the answer. */
struct control_events {
	/* reads: the client will read the text, and does not only look at the status. */
	int (*status)(void *ctx, bool reads, struct buffer *json);
	int (*picture)(void *ctx, bool painted, struct buffer *json);
	int (*repaint)(void *ctx, struct buffer *out);
	int (*type)(void *ctx, const char *data, size_t len, bool cursor_key);
	int (*close)(void *ctx);
	/* own: the session of the run asks for it. */
	int (*signal)(void *ctx, int sig, bool own);
	/* attached: the size is that of a client's terminal; 0, 0: the last such client has
	   gone. */
	int (*resize)(void *ctx, unsigned cols, unsigned rows, bool attached);
	int (*reported)(void *ctx, uint64_t lines);
	void (*follow)(void *ctx); /* a client reads the text as it grows */
	void (*left)(void *ctx);   /* the caller has gone; may be NULL */
	void *ctx;
};

struct control_client;

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

/* Takes a connected socket as a client. One too many gets EBUSY and is closed. */
void control_adopt(struct control *c, int fd);

/* The same for the socket of the run's caller: there is always room for it, and events.left is
   called when its other end is closed. */
void control_hold(struct control *c, int fd);

/* Fills in what to wait for (at most `room` entries). Returns how many. */
size_t control_poll(const struct control *c, struct pollfd *fds, size_t room);

/* Does everything that can be done now; never blocks. */
void control_serve(struct control *c);

/* The command has written: for clients that are attached. */
void control_output(struct control *c, const char *data, size_t len);

/* The status has changed: for clients that watch. */
void control_changed(struct control *c);

int control_attached(const struct control *c);

/* Whether anything is still queued for a client. */
bool control_is_pending(const struct control *c);

/* Removes the socket and disconnects every client. */
void control_close(struct control *c);

#endif
