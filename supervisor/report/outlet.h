// A queue in front of one of the standard streams: the keeper never blocks on a
// reader that stalls, and never sets O_NONBLOCK on a descriptor it shares.
//
// A pipe or terminal is opened once more for itself (non-blocking); where that
// is refused it is written in pieces that fit after poll() said so. A socket is
// sent to with MSG_DONTWAIT. Files and other devices are written directly, under
// the limit of a file's size that the caller had set, although it may be raised since.
#ifndef TERSE_REPORT_OUTLET_H
#define TERSE_REPORT_OUTLET_H

#include "supervisor/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* A queue longer than this asks the owner to stop producing (outlet_is_full). */
#define OUTLET_FULL ((size_t)128 * 1024)

struct outlet {
	int fd;      /* the descriptor the program was given; not owned */
	int own;     /* the same file opened for us, or -1 */
	mode_t type; /* S_IFSOCK, S_IFIFO, S_IFCHR (a terminal), else written directly */
	bool tried;  /* opening it again has been tried */
	struct buffer queue;
	size_t sent;        /* of the queue's bytes */
	int error;          /* errno of the failed write (EPIPE, ENOSPC ...), 0 while it works */
	struct rlimit most; /* of a file's size, as it was when the outlet was made */
};

/* `fd` stays the caller's and must outlive the outlet. */
void outlet_init(struct outlet *o, int fd);

/* Prints or queues. After an error everything is dropped. Only where there is no memory for the
   queue the reader is waited for, a second at most. */
void outlet_write(struct outlet *o, const char *data, size_t len);

/* Writes what can be written now. */
void outlet_pump(struct outlet *o);

bool outlet_is_empty(const struct outlet *o);
bool outlet_is_full(const struct outlet *o);

/* The reader is not waited for any more: what is queued is dropped, with the error ETIMEDOUT. */
void outlet_give_up(struct outlet *o);

/* The descriptor to poll for POLLOUT while the queue is not empty. */
int outlet_poll_fd(const struct outlet *o);

/* Drops what is queued, closes what it opened. */
void outlet_release(struct outlet *o);

#endif
