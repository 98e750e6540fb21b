// The messages between the processes of a live run: front end, supervisor, and the verbs and
// servers that reach a run from outside. Also the client's end of a connection.
//
// Front end and supervisor have a socket pair. All others connect to STORE/live/ID, a socket (0600,
// in a directory 0700) that exists while the run lives; only the run's own user is let in
// (SO_PEERCRED). A socket that refuses a connection belongs to a supervisor that was killed. All
// sockets are SOCK_SEQPACKET: a packet is one frame, in the byte order of the machine. Each frame
// has the protocol's version; a run of another version is left alone.
//
// Requests from outside are answered in the order in which they were sent, by FRAME_DONE if no
// other answer is named. The front end gets no answers.
//
// The supervisor does not wait for a client that does not read: the client misses FRAME_OUTPUT, and
// gets a repaint when it reads again. Its requests wait until it takes their answers.
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

/* Raise it with each change of a frame or of struct live_status. */
#define PROTOCOL_VERSION 2

#define FRAME_DATA    16384
#define FRAME_REQUEST 4096 /* the most bytes of data of a request */

enum frame_kind {
	/* Requests. */
	FRAME_STATUS,   /* the state of the run */
	FRAME_WATCH,    /* as FRAME_STATUS, and again whenever the state has changed; from then on
			   the text can be read in an artifact; a: 1: also as the text grows */
	FRAME_TYPE,     /* data: the bytes; a: 1: a cursor key (ESC [ A), which programs can ask for
			   in another form; b: 1: the bytes may be a secret; 0: EACCES if the
			   terminal does not echo */
	FRAME_CLOSE,    /* type the key that ends the input */
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
	FRAME_AWAKE,   /* after FRAME_STOPPED: the front end was stopped, too, and has been
			  continued */
	FRAME_REQUESTS,

	/* Answers. */
	FRAME_DONE, /* a: 0 or an errno: EPROTO: there is no such request, or its form is wrong;
		       EBUSY: the run has too many clients (sent without a request) */
	/* FRAME_STATUS, FRAME_WATCH and FRAME_PICTURE are answered by frames of the same kind; a:
	   bytes still to come in further frames. */
	FRAME_OUTPUT, /* bytes for the client's terminal, at first a repaint */
	/* To the front end. */
	FRAME_STARTED,   /* the command runs, so the front end can close the caller's descriptors;
			    a: the command, b: its process group */
	FRAME_STOPPED,   /* a: the command was stopped by this signal */
	FRAME_ENDED,     /* a: status as from waitpid, b: ENDED_ bits */
	FRAME_YIELDED,   /* a: exit status of the front end; the command continues without it */
	FRAME_NOT_FOUND, /* a: errno of exec */
	FRAME_REFUSED,   /* a: errno; nothing was started */
};

/* The exit status of a run that --timeout has ended. */
#define EXIT_TIMEOUT 124

/* The bits of FRAME_ENDED. TIMED_OUT: --timeout has ended the command. LIVES_ON: the supervisor
   stays; otherwise it ends now. WATCHED: the watchdog stays; otherwise it has ended. */
enum { ENDED_TIMED_OUT = 1, ENDED_LIVES_ON = 2, ENDED_WATCHED = 4 };

struct frame {
	uint16_t kind, version;
	int a, b;
	char data[FRAME_DATA]; /* the packet ends with the last byte of data */
};

/* A frame is sent as this head and its data, which may lie elsewhere: nothing is copied. */
struct frame_head {
	uint16_t kind, version;
	int a, b;
};

#define FRAME_HEAD sizeof(struct frame_head)
_Static_assert(FRAME_HEAD == offsetof(struct frame, data), "one layout");

/* Sends a frame with `len` bytes of data. Returns 0, or -1 with errno. With MSG_DONTWAIT in
   `flags`, EAGAIN means that the other side, which may be stopped, has not read earlier frames. */
int frame_send(int fd, enum frame_kind kind, int a, int b, const void *data, size_t len, int flags);

/* Receives a frame. Returns the length of its data, or -1 with errno: EPIPE: the other side is
   gone; EPROTO: the packet was not a frame; EPROTONOSUPPORT: a frame of another version came; else
   the errno of recv(2). */
ssize_t frame_receive(int fd, struct frame *f, int flags);

#define LIVE_TEXT 256  /* the most bytes of a prompt or line, with the NUL */
#define LIVE_ARGV 1024 /* of the command */

enum live_state { LIVE_RUNNING, LIVE_WAITING, LIVE_STOPPED, LIVE_ENDED, LIVE_STATES };

/* The answer to STATUS and WATCH. All texts are clean. */
struct live_status {
	char id[ID_LEN + 1];
	enum live_state state;
	char prompt[LIVE_TEXT];       /* LIVE_WAITING: the question; may be empty */
	enum wait_kind asked;         /* LIVE_WAITING: WAIT_PERSON or WAIT_SECRET if a person has to
					 answer */
	pid_t pid;                    /* of the command */
	int64_t elapsed_ms, quiet_ms; /* time since the start; time since something was last written
					 or typed */
	uint64_t lines, bytes;        /* of the text so far, with unfinished lines */
	uint64_t settled;             /* bytes of it that are final */
	uint64_t reported;            /* lines that were sent to a reader */
	bool terminal;                /* the run has a controlling terminal, so one can type into
					 it */
	char last_line[LIVE_TEXT];    /* the last line that is not blank */
	char argv[LIVE_ARGV];         /* the command, a NUL after each argument */
	size_t argv_len;
	bool argv_cut; /* `argv` is not the whole command */
};

/* A change of the size needs another version. */
_Static_assert(sizeof(size_t) != 8 || sizeof(struct live_status) == 1640, "PROTOCOL_VERSION");

/* Connects to the run `id`. Returns the socket, or -1 with errno; ENOENT: the run does not live (a
   socket that a killed supervisor has left is removed). Receiving on the socket times out after a
   few seconds. */
int client_open(const struct store *stores, int count, const char *id);

/* Sends a request and waits for its whole answer. `reply` is emptied first; it may be NULL if the
   answer is only FRAME_DONE. There must be no other unread frames. Returns 0, or -1 with errno: the
   supervisor's answer; ETIMEDOUT: the supervisor does not answer; EBUSY: it has too many
   clients. */
int client_ask(int fd, enum frame_kind kind, int a, int b, const char *data, size_t len,
	       struct buffer *reply);

/* The same for FRAME_STATUS or FRAME_WATCH. */
int client_status(int fd, enum frame_kind kind, struct live_status *now);

/* Takes one of the frames that follow FRAME_WATCH, if there is one. Returns 1 if *now has a new
   status, 0 if not, or -1 if the supervisor is gone. If the supervisor refuses to answer, sets
   refused to its errno. */
int client_take_status(int fd, struct live_status *now, int *refused);

/* Lists the IDs of all sockets, stale ones included, newest first; the caller frees *ids. Returns
   0, or -1 with errno and as many IDs as there was memory for. */
int client_list(const struct store *stores, int count, char (**ids)[ID_LEN + 1], size_t *found);

/* Finds the TCP ports that the processes of the command's session listen on. Returns how many. */
#define PORTS_MOST 8
size_t ports_of(pid_t command, unsigned ports[PORTS_MOST]);

/* Removes the sockets that killed supervisors have left. Returns how many. */
unsigned client_sweep(const struct store *s);

#endif
