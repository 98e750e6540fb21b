// One captured stream on its way from the bytes of the command to the reader,
// the artifact and the preview:
//
//   raw bytes ─► terminal ─► text ─► held until the threshold, then artifact
//                                ├─► preview
//                                └─► reader, live
//
// Text up to the threshold is held in memory; past it the artifact is opened
// and everything goes there. For a reader that gets a preview (an agent) the
// opening of the text is printed as its lines become final, the rest is
// decided by interceptor_report(). Other readers get the whole text as it comes.
//
// Binary output (file_type.h) is not rendered: its bytes go to the artifact, and as
// they are to a program or file. In text a NUL is a newline where the first 4 KB
// have NULs and no newline, else U+2400.
//
// The struct does no I/O of its own but through its events; memory is bounded.
#ifndef TERSE_INTERCEPT_INTERCEPTOR_H
#define TERSE_INTERCEPT_INTERCEPTOR_H

#include "config/limit.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/report/report.h"
#include "supervisor/report/wording.h"
#include "supervisor/terminal/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who reads. */
enum interceptor_reader {
	INTERCEPT_PERSON,    /* at a terminal: the owner prints the raw bytes itself */
	INTERCEPT_AGENT,     /* the opening as it comes, then a preview: interceptor_report() */
	INTERCEPT_PROGRAM,   /* or a file: the whole text */
	INTERCEPT_COLLECTED, /* a report when all is over, with a preview: interceptor_collect() */
	INTERCEPT_SILENT,    /* such a report, for which the whole text is read from disk */
};

enum interceptor_raw { INTERCEPT_RAW_AUTO, INTERCEPT_RAW_YES, INTERCEPT_RAW_NO };

struct interceptor_options {
	struct terminal_options terminal;
	/* A text within the limit is printed whole. `bytes` and `max_line` are not 0. failure_bytes
	   or cut_bytes 0: the same as `bytes`, below the same ceiling. Text is held up to the
	   largest of the three. */
	struct limit limit;
	enum interceptor_reader reader;
	enum interceptor_raw raw;
	enum artifact_part part; /* ARTIFACT_OUT or ARTIFACT_ERR */
	/* The bytes come through a pipe, as the command wrote them for a program. A program or file
	   gets them unchanged. Without `exact` (a pty) it gets them unchanged from the first NUL
	   on. */
	bool exact;
	/* How many ms after its newline a live reader gets a plain line. */
	int64_t settle_ms;
	/* Size of the text in front of the part that is fed, for the numbers in a preview (not in
	   mode head) and in its last line. */
	uint64_t lines_before, bytes_before;
};

struct fingerprints;

struct interceptor_events {
	/* The run's artifact, opened at the first call. NULL: it can't be kept. */
	struct artifact *(*artifact)(void *ctx);
	/* Bytes for an agent, a program or a file. */
	void (*print)(void *ctx, const char *data, size_t len);
	/* Says who reads, if that was not known at the start (INTERCEPT_AGENT). Called once, when
	   it begins to matter. NULL: the reader is an agent. */
	enum interceptor_reader (*resolve)(void *ctx);
	/* An answer to a query of the command. May be NULL. */
	void (*reply)(void *ctx, const char *data, size_t len);
	void *ctx;
};

struct interceptor;

/* NULL with errno. */
struct interceptor *interceptor_new(const struct interceptor_options *options,
				    const struct interceptor_events *events);
void interceptor_free(struct interceptor *s);

/* The next bytes from the command. */
void interceptor_feed(struct interceptor *s, const char *data, size_t len);

/* Passes over a part of the text that is missing and had this many bytes and newlines. `notice`, a
   line with its newline, takes its place. After that the text does not fit. */
void interceptor_skip(struct interceptor *s, const char *notice, size_t len, uint64_t bytes,
		      uint64_t newlines);

/* No more bytes are there right now: judges the bytes that were held back. */
void interceptor_pause(struct interceptor *s);

/* For a reader who gets every line as it comes: hands on lines that could still be overwritten but
   have not changed for a while. That is settle_ms for plain lines, 1.5 s for lines that were
   written over, and 5 s for all lines once the command has redrawn some or hidden the cursor.
   `now_ms` is of the monotonic clock. */
void interceptor_settle(struct interceptor *s, int64_t now_ms);

/* Does the same from now on for somebody who reads the artifact as it grows. */
void interceptor_follow(struct interceptor *s);

/* Hands on all complete lines, unless the command redraws. */
void interceptor_settle_all(struct interceptor *s);

/* The moments at which a reader who does not get every line as it comes gets what is held back: */
enum interceptor_moment {
	INTERCEPT_PAUSE,      /* interceptor_pause_due() has come */
	INTERCEPT_HEARTBEAT,  /* the reader has waited long */
	INTERCEPT_LAST_WORDS, /* somebody wants the run to end */
};

/* Call it after bytes were fed; `now_ms` is the monotonic time. */
void interceptor_came(struct interceptor *s, int64_t now_ms);

/* When the next pause is due; 0: not before more text comes. */
int64_t interceptor_pause_due(const struct interceptor *s);

/* Makes what is held back final, and may open the artifact. Returns whether
   interceptor_print_held() has something to do. */
bool interceptor_begin_print(struct interceptor *s, enum interceptor_moment moment, int64_t now_ms);

/* Prints what is held back: all of it if the text so far fits, else the last lines behind a marker;
   then an unfinished line that may be a question. Returns false if there are lines that the reader
   does not get before the end: then a heartbeat is due. */
bool interceptor_print_held(struct interceptor *s, enum interceptor_moment moment, int64_t now_ms,
			    const struct wording_place *place);

/* The command's side is closed. */
void interceptor_finish(struct interceptor *s);

enum interceptor_outcome {
	INTERCEPT_OPEN,
	INTERCEPT_RUNNING,
	INTERCEPT_SUCCESS,
	INTERCEPT_FAILURE
};

/* Says the outcome, which decides how much is printed; may open the artifact. If the owner does not
   call it, the report takes the outcome from its ending. */
void interceptor_conclude(struct interceptor *s, enum interceptor_outcome outcome);

/* The run is cut short now: see terminal_cut(). */
void interceptor_cut(struct interceptor *s);

/* The terminal, for looking at the picture and for a new size. Bytes that wait to be judged reach
   it at interceptor_pause(); binary output never does. */
struct terminal *interceptor_terminal(const struct interceptor *s);

/* Opens the artifact (if it is not open) and writes what is held: from now on the text is on
   disk. */
void interceptor_spill(struct interceptor *s);

/* The whole text if it is still held when nothing more comes; else NULL. */
const struct buffer *interceptor_held(const struct interceptor *s);

/* Brings the artifact's end up to date with what is not final yet. */
void interceptor_update_live(struct interceptor *s);

/* How the command ended, for interceptor_report(). */
struct interceptor_ending {
	struct wording_ending ending; /* lines and bytes are filled in from the stream */
	struct wording_place place;
	bool is_second; /* the same reader also gets a notice on the other stream */
	/* Size of the end of the text that the owner prints himself, behind the report. */
	uint64_t lines_behind, bytes_behind;
	enum status_when { STATUS_LINE_NEVER, STATUS_LINE_FAILURE, STATUS_LINE_ALWAYS } status_line;
};

/* Whether there is something to tell even when the command printed nothing. */
bool interceptor_is_worth_telling(const struct interceptor_ending *e);

/* Prints what the reader has not got yet: the rest of a text that fits, or the preview and the
   footer. The command has ended; text may still come for the artifact, but no more is printed.
   Only once, and after interceptor_finish() or, where more may come, interceptor_spill(). */
void interceptor_report(struct interceptor *s, const struct interceptor_ending *ending);

/* Replaces interceptor_report() for a report: fills in the facts about a zeroed stream.
   INTERCEPT_COLLECTED: the text if it fits, else the preview. INTERCEPT_SILENT: the text if it
   fits; else nothing if the text is on disk, or as much of its start as is held. Returns 0, or -1
   with ENOMEM. */
int interceptor_collect(struct interceptor *s, const struct interceptor_ending *ending,
			struct report_stream *out);

/* A live reader has waited long: prints a line that says how much text there is. */
void interceptor_heartbeat(struct interceptor *s, int64_t elapsed_ms, enum wait_kind wait,
			   const char *who, const struct wording_place *place);

/* Returns who reads; asks `resolve` if that is not known yet. */
enum interceptor_reader interceptor_reader(struct interceptor *s);

/* As preview_compare(), if the reader gets previews; else does nothing. */
void interceptor_compare(struct interceptor *s, const struct fingerprints *success);

/* Facts about the text for its owner. */
struct interceptor_facts {
	uint64_t lines;
	uint64_t bytes;     /* of text; of raw bytes when binary */
	uint64_t settled;   /* bytes of the text that are final: no later output changes them */
	int64_t settle_due; /* when to call interceptor_settle(); 0: no complete line waits, or
			       nothing was fed since interceptor_came() */
	/* The lines that were shown, by interceptor_report() and before it, in order. Binary output
	   has none. Valid until interceptor_free(). */
	const struct report_range *shown;
	size_t shown_count;
	bool is_binary;
	bool is_on_disk;   /* INTERCEPT_SILENT: the text was too long to be held, so only the
			      artifact has it */
	bool is_holding;   /* text is held back from a live reader until the end */
	bool is_previewed; /* the reader gets only the lines that tell something: a preview, or a
			      text that fits without its chatter */
	bool is_partial;   /* the reader got a part, so text that could not be kept is lost */
	bool fits;         /* everything was printed: no preview was needed */
};

struct interceptor_facts interceptor_facts(const struct interceptor *s);

#endif
