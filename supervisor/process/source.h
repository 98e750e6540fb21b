// One channel from the command to its reader: the pty master or pipe from which bytes are read, the
// interceptor that turns them into text, and the output queue that takes the printed bytes.
#ifndef TERSE_PROCESS_SOURCE_H
#define TERSE_PROCESS_SOURCE_H

#include "supervisor/intercept/interceptor.h"
#include "supervisor/process/output_queue.h"
#include "supervisor/process/sink.h"
#include "supervisor/redact/redactor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct supervisor;

/* Bytes of one read, and the most bytes of one turn, after which other descriptors are served. */
#define SOURCE_CHUNK ((size_t)64 * 1024)
#define SOURCE_TURN  ((size_t)1024 * 1024)

struct source {
	int fd;    /* non-blocking; -1 when closed */
	int child; /* the command's end, to be closed once it is started; -1 */
	bool pty;
	bool person;  /* raw pass-through */
	bool lasting; /* a controlling terminal, which a process can open again as /dev/tty after
			 all have closed it */
	bool hung;    /* all have closed the terminal now: it is not polled, but read again later */
	bool is_stderr;
	bool gone;      /* its reader is gone: the command's next write is its last */
	bool onward;    /* its reader is a program, which gets what is written after the command's
			   end, too */
	bool printed;   /* bytes were printed since the owner last cleared this */
	char last;      /* the last byte a person saw */
	uint64_t came;  /* bytes read in total */
	uint64_t shown; /* bytes added to what was shown (record.h) */
	enum sink sink;
	struct supervisor *run; /* gets answers to the command's queries, and the bytes of the first
				   source; NULL: the source is not open */
	struct interceptor
		*text; /* NULL until the first bytes come, since many commands print nothing */
	struct redactor redactor; /* comes before `text`, if the job has secrets */
	bool refused;             /* there was no memory for `text`: the bytes are passed on */
	struct output_queue queue;
};

/* Opens the channel for stdout (0) or stderr (1) of the run's job. If there is no pty, makes a
   pipe, but not for a person. The caller initializes `queue` before the first read. Returns 0, or
   -1 with errno. */
int source_open(struct source *s, struct supervisor *run, int which);

/* Returns the interceptor, which the first call makes; NULL: there is no memory for it, or no
   channel. */
struct interceptor *source_text(struct source *s);

/* Reads once from a non-blocking pty master or pipe; `first`: no byte was read from it before.
   Returns how many bytes it read. If none, *end is the reason: EAGAIN, 0 (the end of a pipe), EIO
   (the end of a pty) ...; otherwise *end is -1. */
size_t source_read_once(int fd, bool first, char *data, size_t len, int *end);

/* Reads available bytes, up to `most`. Returns 1 if there may be more, 0 if not, -1 when the other
   side is closed; the source is then closed, too. */
int source_read(struct source *s, char chunk[SOURCE_CHUNK], size_t most);

/* Prints the last part of the report on this channel. */
void source_report(struct source *s, const struct interceptor_ending *ending);

/* Call it when the reader is gone: from now on text is kept, but not printed. */
void source_let_go(struct source *s);

void source_close(struct source *s);

void source_release(struct source *s);

#endif
