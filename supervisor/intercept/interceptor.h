// One captured stream on its way from the bytes of the command to the reader,
// the artifact and the preview:
//
//   raw bytes ─► terminal ─► text ─► held until the threshold, then artifact
//                                ├─► preview
//                                └─► reader, live
//
// Text up to the threshold is held in memory; past it the artifact is opened and everything goes
// there. An agent gets the first lines of the text as they become final; interceptor_report()
// decides which of the rest it gets. Other readers get the whole text as it comes.
//
// Binary output (file_type.h) is not rendered: its bytes go to the artifact, and unchanged to a
// program or file. A NUL in text becomes a newline if the first 4 KB have NULs and no newline, else
// U+2400.
//
// The struct does no I/O itself, only through its events. Its memory is bounded.
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
	INTERCEPT_PROGRAM,   /* a program, or a file: the whole text */
	INTERCEPT_COLLECTED, /* a report when all is over, with a preview: interceptor_collect() */
	INTERCEPT_SILENT,    /* a report with the whole text, which the caller reads from disk */
};

enum interceptor_raw { INTERCEPT_RAW_AUTO, INTERCEPT_RAW_YES, INTERCEPT_RAW_NO };

struct interceptor_options {
	struct terminal_options terminal;
	/* A text within the limit is printed whole. `bytes` and `max_line` are not 0. failure_bytes
	   0: the same as `bytes`. cut_bytes 0: the same as `bytes`, with its ceiling. Text is held
	   up to the largest of the three. */
	struct limit limit;
	enum interceptor_reader reader;
	enum interceptor_raw raw;
	enum artifact_part part; /* ARTIFACT_OUT or ARTIFACT_ERR */
	/* The bytes come through a pipe, so a program or file gets them unchanged. Without `exact`
	   they come through a pty, and are passed on unchanged only from the first NUL on. */
	bool exact;
	/* A live reader gets a plain line this many ms after its newline. */
	int64_t settle_ms;
	/* Size of the text that comes before what is fed: a preview and its last line number the
	   lines of both as one text. Not in mode head. */
	uint64_t lines_before, bytes_before;
};

struct fingerprints;

struct interceptor_events {
	/* Returns the run's artifact, which the first call opens. NULL: nothing can be kept. */
	struct artifact *(*artifact)(void *ctx);
	/* Bytes for an agent, a program or a file. */
	void (*print)(void *ctx, const char *data, size_t len);
	/* For INTERCEPT_AGENT: says who really reads. Called once, when it begins to matter. NULL:
	   it is an agent. */
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

/* Skips a missing part of the text, which had this many bytes and newlines. `notice`, a line with
   its newline, takes its place. After that the text no longer fits. */
void interceptor_skip(struct interceptor *s, const char *notice, size_t len, uint64_t bytes,
		      uint64_t newlines);

/* Call it when no more bytes can be read right now: decides whether the bytes so far are text, and
   passes them on. */
void interceptor_pause(struct interceptor *s);

/* For a reader who gets every line as it comes: passes on lines that could still be overwritten but
   have not changed for settle_ms; for 1.5 s, if they were overwritten before; for 5 s, if the
   command redraws lines or hides the cursor. `now_ms` is of the monotonic clock. */
void interceptor_settle(struct interceptor *s, int64_t now_ms);

/* Somebody reads the artifact as it grows: from now on interceptor_settle() serves this reader
   too. */
void interceptor_follow(struct interceptor *s);

/* Passes on all complete lines, unless the command redraws. */
void interceptor_settle_all(struct interceptor *s);

/* The moments at which text that is held back is printed. A reader who gets every line as it comes
   has none. */
enum interceptor_moment {
	INTERCEPT_PAUSE,      /* the time of interceptor_pause_due() has come */
	INTERCEPT_HEARTBEAT,  /* the reader has waited long */
	INTERCEPT_LAST_WORDS, /* somebody wants the run to end */
};

/* Call it after each interceptor_feed(); `now_ms` is the monotonic time. */
void interceptor_came(struct interceptor *s, int64_t now_ms);

/* When the next pause is due; 0: not before more text comes. */
int64_t interceptor_pause_due(const struct interceptor *s);

/* Call it before interceptor_print_held(): makes complete lines final, and may open the artifact.
   Returns whether something may be printed. */
bool interceptor_begin_print(struct interceptor *s, enum interceptor_moment moment, int64_t now_ms);

/* Prints what is held back: all of it if the text so far fits, else a marker and the last lines;
   then an unfinished line that may be a question. Returns false if some of the waiting lines will
   not be printed before the end; then a heartbeat is due. */
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

/* Sets the outcome, which decides how much is printed; may open the artifact. Without this call,
   interceptor_report() takes the outcome from `ending`. */
void interceptor_conclude(struct interceptor *s, enum interceptor_outcome outcome);

/* The run is cut short now: see terminal_cut(). */
void interceptor_cut(struct interceptor *s);

/* The terminal, for its screen and for a new size. Bytes that are not yet known to be text reach it
   at interceptor_pause(); binary output never does. */
struct terminal *interceptor_terminal(const struct interceptor *s);

/* Opens the artifact, if it is not open, and writes the held text to it. All later text goes there
   too. */
void interceptor_spill(struct interceptor *s);

/* After the end: the whole text, if it is held in memory; else NULL. */
const struct buffer *interceptor_held(const struct interceptor *s);

/* Writes the lines that are not final yet to the artifact's live end. */
void interceptor_update_live(struct interceptor *s);

/* How the command ended, for interceptor_report(). */
struct interceptor_ending {
	struct wording_ending ending; /* lines and bytes are filled in from the stream */
	struct wording_place place;
	bool is_second; /* the same reader also gets a notice on the other stream */
	/* Size of the last part of the text, which the caller itself prints after the report. */
	uint64_t lines_behind, bytes_behind;
	enum status_when { STATUS_LINE_NEVER, STATUS_LINE_FAILURE, STATUS_LINE_ALWAYS } status_line;
};

/* Whether terse prints a line about this ending even if the command printed nothing. */
bool interceptor_is_worth_telling(const struct interceptor_ending *e);

/* Prints what the reader has not got yet: the rest of a text that fits, or the preview and the
   footer. Call it once, when the command has ended: after interceptor_finish(), or after
   interceptor_spill() if background children may still write. Their text goes to the artifact
   alone. */
void interceptor_report(struct interceptor *s, const struct interceptor_ending *ending);

/* interceptor_report() for a report: fills in a zeroed `out` instead of printing.
   INTERCEPT_COLLECTED: the text if it fits, else the preview. INTERCEPT_SILENT: the text if it
   fits; else nothing if the text is on disk, or the held start of it. Returns 0, or -1 with
   ENOMEM. */
int interceptor_collect(struct interceptor *s, const struct interceptor_ending *ending,
			struct report_stream *out);

/* Prints a line that says how much text there is, for a live reader who has waited long. */
void interceptor_heartbeat(struct interceptor *s, int64_t elapsed_ms, enum wait_kind wait,
			   const char *who, const struct wording_place *place);

/* Returns who reads; asks `resolve` if that is not known yet. */
enum interceptor_reader interceptor_reader(struct interceptor *s);

/* Like preview_compare(), if the reader gets previews; else does nothing. */
void interceptor_compare(struct interceptor *s, const struct fingerprints *success);

/* Facts about the text for its owner. */
struct interceptor_facts {
	uint64_t lines;
	uint64_t bytes;     /* of the text; raw ones, if the output is binary */
	uint64_t settled;   /* bytes of the text that later output can't change */
	int64_t settle_due; /* when to call interceptor_settle(); 0: no complete line waits, or
			       nothing was fed since interceptor_came() */
	/* The lines that were shown, by interceptor_report() and before it, in order. Binary output
	   has none. Valid until interceptor_free(). */
	const struct report_range *shown;
	size_t shown_count;
	bool is_binary;
	bool is_on_disk;   /* INTERCEPT_SILENT: the text was too long to be held, so only the
			      artifact has it */
	bool is_holding;   /* a live reader does not get all lines before the end */
	bool is_previewed; /* the reader gets a preview, or a text that fits without its progress */
	bool is_partial;   /* the reader got only a part, so what is not kept is lost */
	bool fits;         /* everything was printed: no preview was needed */
};

struct interceptor_facts interceptor_facts(const struct interceptor *s);

#endif
