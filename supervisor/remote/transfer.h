// One object on its way: a child process that runs the remote's program, within a time.
//
// The child gets no terminal, no standard input, and TERSE=0, so that nothing it starts is
// supervised. It ends with the process that started it. What the program says on standard error is
// kept (its last line, for a message), whatever the amount. With push_encrypt or pull_decrypt the
// child runs two programs, one after the other.
#ifndef TERSE_REMOTE_TRANSFER_H
#define TERSE_REMOTE_TRANSFER_H

#include "supervisor/remote/remote.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TRANSFER_WHY 256

struct transfer {
	pid_t pid;               /* 0: none */
	int errors;              /* read end of its standard error, or -1 */
	int64_t deadline_ms;     /* monotonic */
	bool late;               /* it was ended for taking too long */
	const char *absent;      /* as in struct remote, not owned */
	int status;              /* wait status, once it has ended */
	char tail[TRANSFER_WHY]; /* the end of what it said */
	size_t tail_len;
};

/* Begins one. `most` > 0: the program may write no file larger than that. Returns 0, or -1 with
   errno. */
int transfer_start(struct transfer *t, const struct remote *r, enum remote_work work,
		   const struct remote_object *object, int64_t most);

/* Waits until one of `count` transfers ends (or needs a look, or `until_ms`, monotonic, comes; 0:
   no limit). */
void transfers_wait(struct transfer *t, size_t count, int64_t until_ms);

/* Whether it has ended; looks, and ends one that takes too long. */
bool transfer_is_over(struct transfer *t);

/* Ends it at once. */
void transfer_cancel(struct transfer *t);

/* Of a transfer that is over: 0: done; 1: there is no such object; -1: it failed, and `why` says
   it on one line. */
int transfer_result(const struct transfer *t, char why[TRANSFER_WHY]);

/* One transfer from begin to end, or until then (monotonic; 0: no limit); the result and `why` as
   above. */
int transfer_run(const struct remote *r, enum remote_work work, const struct remote_object *object,
		 int64_t most, int64_t until_ms, char why[TRANSFER_WHY]);

#endif
