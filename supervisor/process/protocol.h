// What the processes of a live run say to each other: front end, supervisor, and the verbs and
// servers that reach a run from outside. Also the outside's end of a connection, a socket.
//
// Front end and supervisor have a socket pair. Everybody else connects to STORE/live/ID, a socket
// (0600, in a directory 0700) that is there while the run lives; only its own user is let in
// (SO_PEERCRED). One that refuses a connection belongs to a supervisor that was killed. All are of
// SOCK_SEQPACKET: a packet is one frame, in the byte order of the machine. Each frame has the
// version; a run of another one is left alone.
//
// Each request from outside is answered, by DONE where nothing else is said, in the order in which
// they were sent. The front end gets no answers.
//
// A client that does not read is not waited for: it misses OUTPUT, and gets a repaint
// when it reads again; its requests wait until it takes their answers.
#ifndef TERSE_PROCESS_PROTOCOL_H
#define TERSE_PROCESS_PROTOCOL_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;

/* Goes up with each change of a frame or of struct live_status. */
#define PROTOCOL_VERSION 2

#define FRAME_DATA    16384
#define FRAME_REQUEST 4096 /* data of a request at most */

enum frame_kind {
	/* Requests. */
	FRAME_STATUS,   /* the state of the run */
	FRAME_WATCH,    /* FRAME_STATUS, and again whenever the state has changed; from then on the
			   text can be read in an artifact; a: 1: follows the text as it grows */
	FRAME_TYPE,     /* data: the bytes; a: 1: a cursor key (ESC [ A), which programs can ask for
			   in another form; b: 1: the bytes may be a secret; without it EACCES where
			   the terminal does not echo */
	FRAME_CLOSE,    /* type what ends the input */
	FRAME_SIGNAL,   /* a: number, to the command's group; 0: TERM to everything that it started,
			   KILL after the grace time; b: 1: the run's own session asks */
	FRAME_RESIZE,   /* a: columns, b: rows */
	FRAME_PICTURE,  /* the screen as JSON (picture_append()) */
	FRAME_ATTACH,   /* a: columns, b: rows (0, 0: only looks); FRAME_OUTPUT follows from now
			   on */
	FRAME_REPORTED, /* a: the line up to which a reader has seen the text */
	/* Only between front end and supervisor. */
	FRAME_GUARDED, /* the first frame: there is a watchdog, so the command may be started */
	FRAME_PASS,    /* a: a signal that came for the command's group; b: 1: for the command
			  alone; data: siginfo_t, if the signal was queued with a value */
	FRAME_AWAKE,   /* after FRAME_STOPPED: the front end was stopped as well, and is
			  continued */
	FRAME_REQUESTS,

	/* Answers. */
	FRAME_DONE, /* a: 0 or an errno: EPROTO: no such request, or one of a wrong form; EBUSY: the
		       run has too many clients (sent without a request) */
	/* FRAME_STATUS, FRAME_WATCH and FRAME_PICTURE are answered by frames of the same kind; a:
	   bytes still to come in further frames. */
	FRAME_OUTPUT, /* for the client's terminal: first a repaint */
	/* To the front end. */
	FRAME_STARTED,   /* the command runs, so nothing of the caller's needs to be held; a: the
			    command, b: its process group */
	FRAME_STOPPED,   /* a: the command was stopped by this signal */
	FRAME_ENDED,     /* a: status as from waitpid, b: ENDED_ bits */
	FRAME_YIELDED,   /* a: exit status of the front end; the command goes on without it */
	FRAME_NOT_FOUND, /* a: errno of exec */
	FRAME_REFUSED,   /* a: errno; nothing was started */
};

/* The exit status of a run that --timeout has ended. */
#define EXIT_TIMEOUT 124

/* --timeout has ended the command; the supervisor lives on (else it ends now); the watchdog lives
   on (else it has ended). */
enum { ENDED_TIMED_OUT = 1, ENDED_LIVES_ON = 2, ENDED_WATCHED = 4 };

struct frame {
	uint16_t kind, version;
	int a, b;
	char data[FRAME_DATA]; /* the packet ends with the last byte of it */
};

/* A frame is sent as this head and its data, which may lie elsewhere: nothing is copied. */
struct frame_head {
	uint16_t kind, version;
	int a, b;
};

#define FRAME_HEAD sizeof(struct frame_head)
_Static_assert(FRAME_HEAD == offsetof(struct frame, data), "one layout");

/* Sends a frame with `len` bytes of data. Returns 0, or -1 with errno. With MSG_DONTWAIT in `flags`
   EAGAIN means that the other side has not read the frames before this one; it may be stopped. */
int frame_send(int fd, enum frame_kind kind, int a, int b, const void *data, size_t len, int flags);

/* Receives a frame. Returns the length of its data, or -1 with errno: EPIPE: the other side is
   gone; EPROTO: no frame came; EPROTONOSUPPORT: a frame of another version came; else as
   recv(2). */
ssize_t frame_receive(int fd, struct frame *f, int flags);

#define LIVE_TEXT 256  /* bytes of a prompt or line at most, with the NUL */
#define LIVE_ARGV 1024 /* of the command */

enum live_state { LIVE_RUNNING, LIVE_WAITING, LIVE_STOPPED, LIVE_ENDED, LIVE_STATES };

/* The answer to STATUS and WATCH. All texts are clean. */
struct live_status {
	char id[ID_LEN + 1];
	enum live_state state;
	char prompt[LIVE_TEXT];       /* LIVE_WAITING: what was asked; may be empty */
	enum wait_kind asked;         /* with LIVE_WAITING: WAIT_PERSON or WAIT_SECRET if a person
					 has to answer */
	pid_t pid;                    /* of the command */
	int64_t elapsed_ms, quiet_ms; /* since the start; since something was written or typed */
	uint64_t lines, bytes;        /* of the text so far, with unfinished lines */
	uint64_t settled;             /* bytes of it that are final */
	uint64_t reported;            /* lines that a reader has been sent */
	bool terminal;                /* the run has a controlling terminal, so one can type into
					 it */
	char last_line[LIVE_TEXT];    /* that has something in it */
	char argv[LIVE_ARGV];         /* the command, a NUL behind each argument */
	size_t argv_len;
	bool argv_cut; /* argv is not all of it */
};

/* Another size is another version. */
_Static_assert(sizeof(size_t) != 8 || sizeof(struct live_status) == 1640, "PROTOCOL_VERSION");

/* Connects to the run `id`. Returns the socket, or -1 with errno; ENOENT: it does not run (a socket
   that a killed supervisor left is removed). Its answers are waited for a few seconds. */
int client_open(const struct store *stores, int count, const char *id);

/* Sends a request and waits for all of its answer. `reply` is emptied first; it may be NULL if the
   answer is FRAME_DONE alone. Nothing else may be on its way. Returns 0, or -1 with errno: the
   supervisor's, or ETIMEDOUT when it does not answer, EBUSY when it has too many clients. */
int client_ask(int fd, enum frame_kind kind, int a, int b, const char *data, size_t len,
	       struct buffer *reply);

/* The same for FRAME_STATUS or FRAME_WATCH. */
int client_status(int fd, enum frame_kind kind, struct live_status *now);

/* Takes one of the frames that follow FRAME_WATCH, if there is one. Returns 1 if it was a status,
   which is in *now; 0 if not; -1 if the supervisor has gone. Sets *refused to the supervisor's
   errno if it refuses to answer. */
int client_take_status(int fd, struct live_status *now, int *refused);

/* The IDs of all sockets, stale ones included, newest first; the caller frees *ids. Returns 0, or
   -1 with errno and as many IDs as there was memory for. */
int client_list(const struct store *stores, int count, char (**ids)[ID_LEN + 1], size_t *found);

/* The TCP ports that the processes of the command's session listen on. Returns how many. */
#define PORTS_MOST 8
size_t ports_of(pid_t command, unsigned ports[PORTS_MOST]);

/* Removes the sockets that killed supervisors have left. Returns how many. */
unsigned client_sweep(const struct store *s);

#endif
