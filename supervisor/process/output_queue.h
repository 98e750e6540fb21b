// A queue in front of one of the standard streams: the supervisor never blocks on a reader that
// stalls, and never sets O_NONBLOCK on a descriptor that it shares.
//
// A pipe or terminal is opened again (non-blocking). If that is refused, poll() comes first, and
// writes are small enough to fit. A socket is written to with MSG_DONTWAIT. Files and other devices
// are written directly, under the caller's RLIMIT_FSIZE, which terse has raised for its own files.
#ifndef TERSE_PROCESS_OUTPUT_QUEUE_H
#define TERSE_PROCESS_OUTPUT_QUEUE_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* From this length on the queue counts as full (output_queue_is_full()), and the owner stops
   producing. */
#define OUTPUT_QUEUE_FULL ((size_t)128 * 1024)

struct output_queue {
	int fd;              /* the descriptor the program was given; not owned */
	int own;             /* the same file, opened again, or -1 */
	mode_t type;         /* S_IFSOCK, S_IFIFO, S_IFCHR (a terminal), else written directly */
	bool tried;          /* opening it again has been tried */
	struct buffer queue; /* empty: all is printed */
	size_t sent;         /* bytes of the queue */
	int error;           /* errno of the failed write (EPIPE, ENOSPC ...), 0 while it works */
	struct rlimit most;  /* RLIMIT_FSIZE when the queue was made */
};

/* `fd` stays the caller's and must outlive the output queue. */
void output_queue_init(struct output_queue *o, int fd);

/* Prints or queues the bytes. After an error everything is dropped. If there is no memory for the
   queue, waits for the reader, a second at most. */
void output_queue_write(struct output_queue *o, const char *data, size_t len);

/* Writes what can be written now. */
void output_queue_pump(struct output_queue *o);

bool output_queue_is_full(const struct output_queue *o);

/* Drops the queued bytes, and sets `error` to ETIMEDOUT. */
void output_queue_give_up(struct output_queue *o);

/* The descriptor to poll for POLLOUT while the queue is not empty. */
int output_queue_poll_fd(const struct output_queue *o);

/* Drops the queued bytes, and closes `own`. */
void output_queue_release(struct output_queue *o);

#endif
