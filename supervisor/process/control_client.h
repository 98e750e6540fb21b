// The verbs' side of a live run's control socket (control.h).
#ifndef TERSE_PROCESS_CONTROL_CLIENT_H
#define TERSE_PROCESS_CONTROL_CLIENT_H

#include "supervisor/artifact/store.h"
#include "supervisor/process/control.h"
#include "supervisor/process/live_status.h"

#include <sys/types.h>

struct client {
	int fd; /* -1: not open */
};

/* Connects to the run `id`. Returns 0, or -1 with errno; ENOENT: it does not run (a socket that a
   killed supervisor left is removed). */
int client_open(struct client *v, const struct store *stores, int count, const char *id);

/* The next packet, waiting for it (MSG_DONTWAIT in `flags`: EAGAIN). Returns the length of its
   data, or -1 with errno; EPIPE: the supervisor has ended. */
ssize_t client_receive(const struct client *v, struct control_packet *p, int flags);

int client_send(const struct client *v, enum control_kind kind, uint32_t a, uint32_t b,
		const char *data, size_t len);

/* Sends a request and waits for all of its answer (`reply` may be NULL where that is DONE; it is
   emptied first). Nothing else may be on its way. Returns 0, or -1 with errno: the supervisor's, or
   ETIMEDOUT when it does not answer, EBUSY when it has too many clients. */
int client_ask(const struct client *v, enum control_kind kind, uint32_t a, uint32_t b,
	       const char *data, size_t len, struct buffer *reply);

int client_status(const struct client *v, struct live_status *c);

/* Takes one packet, if there is one, of what follows CONTROL_WATCH. `part` keeps what has come of a
   status. Returns 1 if it completes *now, 0, or -1 if the supervisor has gone. *refused: its errno
   if it refuses to answer, else as before. */
int client_take_status(const struct client *v, struct buffer *part, struct live_status *now,
		       int *refused);

/* Calls `each` with the ID of every socket there is, stale ones included, until it returns other
   than 0; returns that. */
int client_each(const struct store *stores, int count, int (*each)(void *ctx, const char *id),
		void *ctx);

void client_close(struct client *v);

/* Removes the sockets that killed supervisors have left. Returns how many. */
unsigned client_sweep(const struct store *s);

#endif
