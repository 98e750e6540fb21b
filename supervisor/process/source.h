// One channel from the command to its reader: the pty master or pipe that is
// read, the stream that makes text of it, the outlet it is printed to.
#ifndef TERSE_PROCESS_SOURCE_H
#define TERSE_PROCESS_SOURCE_H

#include "supervisor/intercept/interceptor.h"
#include "supervisor/process/intake.h"
#include "supervisor/process/job.h"
#include "supervisor/process/record.h"
#include "supervisor/redact/redactor.h"
#include "supervisor/report/outlet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The least that is worth a read, and what one wake-up reads at most before others get a turn. */
#define SOURCE_CHUNK ((size_t)64 * 1024)
#define SOURCE_TURN  ((size_t)1024 * 1024)

struct source {
	int fd;    /* non-blocking; -1 when closed */
	int child; /* the command's end, to be closed once it is started; -1 */
	bool pty;
	bool person;  /* raw pass-through */
	bool lasting; /* a controlling terminal: /dev/tty may be opened after all ends were closed
		       */
	bool hung;    /* they are now: not to be polled, but read again later */
	bool is_stderr;
	bool printed;          /* something reached the reader since the owner last cleared it */
	bool lost;             /* there was no memory for a text that is to be reported */
	char last;             /* the last byte a person saw */
	unsigned lulls;        /* how often in a row only a little came */
	uint64_t came;         /* bytes read in all */
	uint64_t taken;        /* bytes read since the thread was last begun or ended */
	struct intake *intake; /* the thread that reads ahead, or NULL */
	enum sink sink;
	const struct job *job;
	struct interceptor *text; /* NULL until the first bytes come */
	struct redactor redactor; /* before all that, if the job has secrets */
	bool refused;             /* there was no memory for it then: the bytes are passed on */
	struct outlet outlet;
	struct record *record;
	void (*reply)(void *ctx, const char *data, size_t len);
	void (*seen)(void *ctx, const char *data, size_t len);
	void *ctx; /* of both */
};

/* Opens the channel for stdout (0) or stderr (1) of the job. A pty that can't be had becomes a
   pipe, but not for a person. Returns 0, or -1 with errno. */
int source_open(struct source *s, const struct job *job, int which);

/* Ready to read; after the command was started. What turns bytes to text is made when the first
   come, since many commands print nothing. `reply`: an answer to a query of the command; `seen`:
   bytes that were read (may be NULL). */
void source_connect(struct source *s, struct record *record,
		    void (*reply)(void *ctx, const char *data, size_t len),
		    void (*seen)(void *ctx, const char *data, size_t len), void *ctx);

/* What turns the bytes to text, made if it is not there yet; NULL: no memory for it. */
struct interceptor *source_text(struct source *s);

/* Becomes readable when there is something for source_read(). */
int source_poll_fd(const struct source *s);

/* Nobody reads ahead any more: what was read is taken, and `fd` is read here again. */
void source_take_back(struct source *s);

/* Reads what is there, up to `most` bytes. Returns 1 if there may be more, 0 if not, -1 when the
   other side is closed (the source is then, too). */
int source_read(struct source *s, char chunk[SOURCE_CHUNK], size_t most);

/* Prints the end of what a run has to say on this channel. */
void source_report(struct source *s, const struct interceptor_ending *ending);

/* From now on nobody reads: what comes is only kept. */
void source_let_go(struct source *s);

void source_close(struct source *s);

/* Closes it but for the descriptor, which is the caller's now if it is open (else -1). `why` no
   more is recorded of what comes through it is told in the text. */
int source_abandon(struct source *s, const char *why);

void source_release(struct source *s);

#endif
