// A queue in front of one of the standard streams: the supervisor never blocks on a reader that
// stalls, and never sets O_NONBLOCK on a descriptor that it shares.
//
// A pipe or terminal is opened again (non-blocking). Where that is refused it is written, after
// poll(), in pieces that fit. A socket is sent to with MSG_DONTWAIT. Files and other devices are
// written directly, under the caller's limit of file sizes, which is raised for other files.
#ifndef TERSE_PROCESS_SOURCE_H
#define TERSE_PROCESS_SOURCE_H

#include "lib/buffer.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/process/sink.h"
#include "supervisor/redact/redactor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct supervisor;

/* From this length on output_queue_is_full(), and the owner stops producing. */
#define OUTPUT_QUEUE_FULL ((size_t)128 * 1024)

struct output_queue {
	int fd;              /* the descriptor the program was given; not owned */
	int own;             /* the same file, opened again, or -1 */
	mode_t type;         /* S_IFSOCK, S_IFIFO, S_IFCHR (a terminal), else written directly */
	bool tried;          /* opening it again has been tried */
	struct buffer queue; /* empty: all is printed */
	size_t sent;         /* of the queue's bytes */
	int error;           /* errno of the failed write (EPIPE, ENOSPC ...), 0 while it works */
	struct rlimit most;  /* RLIMIT_FSIZE when the queue was made */
};

/* `fd` stays the caller's and must outlive the output queue. */
void output_queue_init(struct output_queue *o, int fd);

/* Prints or queues. After an error everything is dropped. Where there is no memory for the queue it
   waits for the reader, a second at most. */
void output_queue_write(struct output_queue *o, const char *data, size_t len);

/* Writes what can be written now. */
void output_queue_pump(struct output_queue *o);

bool output_queue_is_full(const struct output_queue *o);

/* Drops what is queued, with the error ETIMEDOUT. */
void output_queue_give_up(struct output_queue *o);

/* The descriptor to poll for POLLOUT while the queue is not empty. */
int output_queue_poll_fd(const struct output_queue *o);

/* Drops what is queued, closes what it opened. */
void output_queue_release(struct output_queue *o);

// One channel from the command to its reader: the pty master or pipe that is
// read, the stream that makes text of it, the output queue it is printed to.

/* Bytes of one read, and the most of one wake-up, before others get a turn. */
#define SOURCE_CHUNK ((size_t)64 * 1024)
#define SOURCE_TURN  ((size_t)1024 * 1024)

struct source {
	int fd;    /* non-blocking; -1 when closed */
	int child; /* the command's end, to be closed once it is started; -1 */
	bool pty;
	bool person;  /* raw pass-through */
	bool lasting; /* a controlling terminal: /dev/tty may be opened after all ends closed */
	bool hung;    /* they are now: not to be polled, but read again later */
	bool is_stderr;
	bool gone;      /* its reader has: the next write of the command is the last */
	bool onward;    /* a program gets what is written after the command's end, too */
	bool printed;   /* something reached the reader since the owner last cleared it */
	char last;      /* the last byte a person saw */
	uint64_t came;  /* bytes read in all */
	uint64_t shown; /* bytes added to what was shown (supervisor_internal.h) */
	enum sink sink;
	struct supervisor *run; /* gets answers to queries of the command, and sees what is read
				   from the first source; NULL: not opened */
	struct interceptor
		*text; /* NULL until the first bytes come, since many commands print nothing */
	struct redactor redactor; /* before all that, if the job has secrets */
	bool refused;             /* there was no memory for it then: the bytes are passed on */
	struct output_queue queue;
};

/* Opens the channel for stdout (0) or stderr (1) of the run's job. A pty that can't be had becomes
   a pipe, but not for a person. Its queue is to be made before the first read. Returns 0, or -1
   with errno. */
int source_open(struct source *s, struct supervisor *run, int which);

/* The interceptor, made if it is not there yet; NULL: no memory for it, or no channel. */
struct interceptor *source_text(struct source *s);

/* One read of a non-blocking pty master or pipe. Returns how many bytes came; 0: *end tells why
   (EAGAIN, 0 at the end of a pipe, EIO at that of a pty, ...), else it is -1. */
size_t source_read_once(int fd, char *data, size_t len, int *end);

/* Reads what is there, up to `most` bytes. Returns 1 if there may be more, 0 if not, -1 when the
   other side is closed (the source is then, too). */
int source_read(struct source *s, char chunk[SOURCE_CHUNK], size_t most);

/* Prints the end of the report on this channel. */
void source_report(struct source *s, const struct interceptor_ending *ending);

/* The reader has gone: from now on text is only kept. */
void source_let_go(struct source *s);

void source_close(struct source *s);

/* Closes everything but the descriptor, which it returns to the caller, or -1. The text says `why`
   no more of it is recorded. */
int source_abandon(struct source *s, const char *why);

void source_release(struct source *s);

#endif
