// Messages between the front end and the supervisor, over a SOCK_SEQPACKET pair: one message a
// packet. The end of the pair means that the other process has gone.
#ifndef TERSE_PROCESS_MESSAGE_H
#define TERSE_PROCESS_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

#define MESSAGE_DATA 4096

enum message_kind {
	/* front end to supervisor */
	MESSAGE_GUARDED, /* the first one: there is a watchdog, so the command may be started */
	MESSAGE_SIGNAL,  /* a: pass this signal to the command's process group, or b: to the command
			    alone; data: siginfo_t, if it was queued with a value */
	MESSAGE_INPUT,   /* data: what the person typed */
	MESSAGE_WINDOW,  /* a: columns, b: rows */
	MESSAGE_AWAKE,   /* after MESSAGE_STOPPED: stopped with the command, and continued */
	/* supervisor to front end */
	MESSAGE_STARTED,   /* a: the command, b: its process group; it runs: nothing of the caller's
			      needs to be held */
	MESSAGE_STOPPED,   /* a: the command was stopped by this signal */
	MESSAGE_ENDED,     /* a: status as from waitpid, b: ENDED_ bits */
	MESSAGE_YIELDED,   /* a: exit status of the front end; the command goes on without it */
	MESSAGE_NOT_FOUND, /* a: errno of exec */
	MESSAGE_REFUSED,   /* a: errno; nothing was started */
};

/* The exit status of a run that --timeout has ended. */
#define EXIT_TIMEOUT 124

/* The command was ended by --timeout; the supervisor lives on (else it ends now); so does the
   watchdog (else it has ended). */
enum { ENDED_TIMED_OUT = 1, ENDED_LIVES_ON = 2, ENDED_WATCHED = 4 };

struct message {
	int kind;
	int a, b;
	char data[MESSAGE_DATA]; /* the packet ends with the last byte of it */
};

/* Sends; `len` bytes of m->data are filled in. Returns 0, or -1 with errno: EAGAIN, since the other
   side may be stopped, where it has not read what was sent before. */
int message_send(int fd, const struct message *m, size_t len);

/* Receives one (blocks unless `flags` has MSG_DONTWAIT). Returns the length of the data part,
   -1 with errno, or -1 with errno EPIPE when the other side is gone. */
ssize_t message_receive(int fd, struct message *m, int flags);

#endif
