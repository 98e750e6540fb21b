// The report (report/report.h) of one run that was supervised here, from its record and its
// streams, and its bytes in the format that was asked for.
#ifndef TERSE_PROCESS_SUMMARY_H
#define TERSE_PROCESS_SUMMARY_H

#include "lib/buffer.h"
#include "supervisor/artifact/store.h"
#include "supervisor/artifact/text.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/process/record.h"
#include "supervisor/report/report.h"

#include <stdbool.h>
#include <stdint.h>

/* A text that was asked for in full and is too long for memory: read back from its artifact while
   the report is written. */
struct summary_text {
	struct text text;
	bool is_open;
	struct report *report;
	int which;           /* of the report's streams */
	uint64_t from;       /* first line of the range that is being read */
	bool skips;          /* the rest of a line that a gap began in */
	bool in_line;        /* what was handed out does not end with a newline */
	struct buffer chunk; /* bytes read; between calls those that may be half a character */
};

struct summary {
	struct report report;
	struct report_writer writer;
	enum format format;
	struct summary_text texts[2];
	char session[STORE_SESSION_LEN + 1];
	char paths[REPORT_FILES][PATH_MAX];
	struct buffer out; /* for the owner to print from */
	bool is_open;      /* not all of it was handed out */
};

/* Makes an interceptor collect what a report needs. */
void summary_prepare(const struct settings *s, struct interceptor_options *options);

/* Takes the memory that most reports need, so that the end of a run does not fail for want of it.
   Returns 0, or -1 with ENOMEM. */
int summary_reserve(struct summary *a);

/* Begins the report of a run whose record is complete (record_end()). The record stays open until
   the summary is released. The struct is zeroed, or reserved. */
void summary_init(struct summary *a, const struct job *job, struct record *record);

/* Adds the text of one channel, once it is finished or (`background`, as in struct wording_ending)
   spilled. */
void summary_add(struct summary *a, struct interceptor *text, bool is_stderr,
		 const char *background, const struct record *record);

/* Appends the next piece. Returns 1, or 0 after the last one. Without memory it breaks off. */
int summary_next(struct summary *a, struct buffer *out);

/* Frees; may be called again, and on a zeroed struct. */
void summary_release(struct summary *a);

/* Why there is no run to report. */
struct summary_failure {
	const char *code, *message;
	enum report_state state;
	int exit_code; /* that terse ends with, -1: of a command whose status is not known */
};

/* Prints such a report to standard output, in the format of the settings, which is not text. */
void summary_print_failure(const struct job *job, const struct summary_failure *failure);

#endif
