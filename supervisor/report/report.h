// The report of a run, for readers that want it at its end (`terse run --format json`). The
// interceptor fills in the texts (interceptor_collect), the process room the rest
// (process/summary.c).
//
// It is written in pieces, since a full text may be larger than memory: each piece is read from
// disk when it is written.
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
	/* The part of the text that is returned, as printable UTF-8 (utf8_clean). If `next` is set,
	   more of it follows: `next` appends the next piece to `out` and updates this struct. It
	   returns 1, 0 at the end, or -1 with errno. */
	struct buffer text;
	size_t handed_out; /* bytes of `text` that were written */
	int (*next)(void *ctx, struct buffer *out);
	void *ctx;

	struct report_range *ranges; /* the lines that are returned, in order */
	size_t range_count, range_cap;
	uint64_t total_lines,
		total_bytes; /* of the whole text; total_bytes of binary data are raw bytes */
	uint64_t returned_lines;
	uint64_t returned_bytes;  /* of the text, as written */
	uint64_t lines_truncated; /* returned lines that are not whole */
	bool last_line_partial;   /* the last returned line is not whole */
	bool binary;              /* the output is binary, and nothing is returned */
	const char *kind;         /* of the binary data, or NULL */
	struct gaps gaps;         /* parts that could not be kept */
	struct limit limit;
	enum limit_part broken; /* the part of `limit` that was exceeded */
};

enum { REPORT_FILES = 4 };

enum report_state { REPORT_DONE, REPORT_RUNNING, REPORT_INTERRUPTED, REPORT_NOT_STARTED };

struct report {
	char *const *command; /* NULL-terminated; NULL: the arguments named none */
	const char *cwd;
	enum report_state state;
	int exit_code; /* -1: killed by `signal`, or not known */
	int signal;    /* 0: none */
	bool timed_out;
	int64_t started_ms, duration_ms;
	struct report_stream streams[2]; /* stdout (or both merged), stderr */
	struct buffer piece;             /* the next piece of text, before it is JSON */
	enum { REPORT_START, REPORT_STDOUT, REPORT_STDERR, REPORT_ALL } part; /* the next one */

	/* The artifact; id NULL: there is none. `paths` are its files, or NULL: text, standard
	   error, raw bytes, recording. */
	const char *id, *session, *paths[REPORT_FILES];

	/* How the last run of the same command ended; NULL: not known. */
	const struct wording_since *since;

	bool is_cached; /* the command was not run: the report is that of an earlier run */

	/* Problems of the report, not of the command: strings, each with its NUL. */
	struct buffer warnings;

	/* Why the command was not run; error_code NULL: it was. */
	const char *error_code, *error_message;
};

/* Adds a range of returned lines, or extends the last range if the lines follow it. Returns 0, or
   -1 with ENOMEM. */
int report_add_range(struct report_stream *s, uint64_t from, uint64_t to);

/* Whether less than the whole text is returned. */
bool report_is_truncated(const struct report_stream *s);

/* Adds a warning. If there is no memory for it, it is dropped. */
void report_warn(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Frees what the struct owns: texts, ranges, warnings. */
void report_release(struct report *r);

/* Appends the next piece of the report as one compact JSON object and a newline. Returns 1, 0 when
   all of it was written, or -1 with errno. */
int report_next(struct report *r, struct buffer *out);

#endif
