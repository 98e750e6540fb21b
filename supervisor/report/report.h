// The report on an ended run, as one struct, for readers that want it at the end (`terse run
// --format json`). The interceptor fills in the texts (interceptor_collect), the process room the
// rest (process/summary.c).
//
// It is handed out in pieces, since a text that was asked for in full may be larger than memory:
// such a text is read from disk meanwhile.
#ifndef TERSE_REPORT_REPORT_H
#define TERSE_REPORT_REPORT_H

#include "config/limit.h"
#include "lib/buffer.h"
#include "lib/gap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wording_since;

/* Lines of a text, 1-based, inclusive. */
struct report_range {
	uint64_t from, to;
};

struct report_stream {
	/* The part of the text that is returned, printable UTF-8 (utf8_clean). Where `next` is set,
	   it is called for more of it: appends the next piece to `out`, filling in the rest of this
	   struct as it goes. Returns 1, 0 at the end, or -1 with errno. */
	struct buffer text;
	size_t handed_out; /* of `text` */
	int (*next)(void *ctx, struct buffer *out);
	void *ctx;

	struct report_range *ranges; /* the lines that are returned, in order */
	size_t range_count, range_cap;
	uint64_t total_lines,
		total_bytes; /* of the whole text; of binary data the bytes as they were */
	uint64_t returned_lines;
	uint64_t returned_bytes;  /* of what was handed out */
	uint64_t lines_truncated; /* returned lines that are not whole */
	bool last_line_partial;   /* the last one returned is one of them */
	bool binary;              /* no text: nothing is returned */
	const char *kind;         /* of the binary data, or NULL */
	struct gaps gaps;         /* what of it could not be kept */
	struct limit limit;
	enum limit_part broken; /* which part of it the text was over first */
};

enum { REPORT_FILES = 4 };

enum report_state { REPORT_DONE, REPORT_RUNNING, REPORT_INTERRUPTED, REPORT_NOT_STARTED };

struct report {
	char *const *command; /* NULL-terminated; NULL: none was understood */
	const char *cwd;
	enum report_state state;
	int exit_code; /* -1: by `signal`, or not known */
	int signal;    /* 0: none */
	bool timed_out;
	int64_t started_ms, duration_ms;
	struct report_stream streams[2]; /* stdout (or both merged), stderr */
	struct buffer piece;             /* of their text, before it is JSON */
	enum { REPORT_START, REPORT_STDOUT, REPORT_STDERR, REPORT_ALL } part; /* that comes next */

	/* The place of the whole text; id NULL: there is no artifact. Its files: text, standard
	   error, raw bytes, recording; NULL where there is none. */
	const char *id, *session, *paths[REPORT_FILES];

	/* What has changed since the last run of the command; NULL: nothing is known. */
	const struct wording_since *since;

	bool is_cached; /* it was not run again: an earlier run of the command answers */

	/* Problems of the report, not of the command: strings with a NUL each. */
	struct buffer warnings;

	/* Why there was no run; code NULL: there was one. */
	const char *error_code, *error_message;
};

/* Adds lines to what is returned; those that follow the last range become part of it. Returns 0, or
   -1 with ENOMEM. */
int report_add_range(struct report_stream *s, uint64_t from, uint64_t to);

/* Whether less than the whole text is returned. */
bool report_is_truncated(const struct report_stream *s);

/* Adds a warning, made as by printf. Without memory for it, it is left out. */
void report_warn(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Frees what the struct owns: texts, ranges, warnings. */
void report_release(struct report *r);

/* Appends the next piece of the report as one compact JSON object and a newline. Returns 1, 0 when
   all of it was written, or -1 with errno. */
int report_next(struct report *r, struct buffer *out);

#endif
