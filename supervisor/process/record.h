// The records of a run: the text that its reader was shown, its artifact and its line in the
// history; and the report that is made from them.
#ifndef TERSE_PROCESS_RECORD_H
#define TERSE_PROCESS_RECORD_H

#include "lib/tokens.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/store.h"
#include "supervisor/artifact/text.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/process/job.h"
#include "supervisor/remote/outbox.h"
#include "supervisor/report/report.h"
#include "supervisor/report/wording.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

// The output that the reader of a run was shown: counted for `terse stats`, and kept unchanged
// beside the artifact, for `terse report`.
//
// Only bytes that an agent may read count: a model does not see what goes to a program, a file or a
// person.

struct shown {
	uint64_t bytes;        /* printed for the reader, terse's own lines included */
	uint64_t unseen;       /* the part of `bytes` whose reader turned out not to be an agent */
	struct tokens tokens;  /* of the first SHOWN_MOST bytes */
	struct buffer printed; /* the first SHOWN_MOST bytes */
	uint64_t text, lines;  /* of the whole texts of which `bytes` were shown */
	struct buffer ranges;  /* the ranges of shown lines, as the first line of ID.shown has
				  them */
};

/* Notes that these bytes were printed. */
void shown_add(struct shown *w, const char *data, size_t len);

/* Notes that `bytes` of the printed bytes were not read by an agent after all. Once that is true of
   all printed bytes, forgets them. */
void shown_forget(struct shown *w, uint64_t bytes);

/* Writes ID.shown beside the artifact, once. Does nothing if `a` is NULL. */
void shown_keep(struct shown *w, struct artifact *a);

// The artifact is opened when the first text spills. A text that did not spill is kept at the end
// of the run, as a short text.

struct record {
	struct meta meta;
	struct artifact *artifact;
	bool claimed;                   /* it has an ID, although there is no artifact yet */
	bool is_short;                  /* it has a short text */
	bool settled;                   /* it has a short text, or is certain to have none */
	int error;                      /* why there is no artifact although one was wanted */
	const struct settings *pushing; /* NULL: runs are not pushed */
	struct outbox outbox;           /* open if runs are pushed */
	bool push_due;                  /* something waits in the outbox */
	struct outbox_origin origin;    /* host and labels that `meta` points to */
	bool noted;                     /* the outbox has a note of the run */
	bool over;                      /* the command has ended, and record_end() comes next */
	bool writes_file;               /* the command writes to a regular file */
	struct shown shown;
	const struct settings *settings;
	int history; /* the session's directory; -1: no place to keep text is known
		      */
	bool gc_due;
	/* Long members come last: a run usually touches only the start of each. */
	char session[SESSION_ROOM];
	char description[4 * META_DESCRIPTION];
	char cwd[PATH_MAX];
	char files[2][PATH_MAX]; /* paths that the metadata point to */
};

/* `r` holds zeros. */
void record_init(struct record *r, const struct job *job);

/* Opens the history while the command starts, so that the end of the run is not delayed; checks
   whether a cleanup is due (r->gc_due). */
void record_prepare(struct record *r, int64_t gc_interval_ms);

/* Gives the run an ID, in its metadata, if it has none. Returns 0, or -1 with errno. */
int record_claim(struct record *r);

/* Returns the artifact, which the first call makes; NULL: it can't be made. */
struct artifact *record_open(struct record *r);

/* Where the text can be read, for messages. */
struct wording_place record_place(const struct record *r, bool is_stderr);

/* The command has ended with a wait status: fills in the metadata and updates the artifact. */
void record_end(struct record *r, int status, bool timed_out, bool interrupted,
		int64_t duration_ms);

/* Keeps the texts of a run that has ended without an artifact (NULL: there is no such stream),
   if all runs are kept or this one is to be pushed. Returns 0, or -1 with errno, after which an
   artifact may still hold the texts. */
int record_keep(struct record *r, const struct buffer *const texts[2]);

/* Puts what the reader was shown into the metadata. */
void record_tell_shown(struct record *r);

/* Appends the run's line to its session's history, once: at the run's end, or earlier if the caller
   may continue and look for the run. */
void record_add_history(struct record *r);

/* Call it when no more text comes. Adds the run to the history, updates the artifact if text came
   after record_end() (`grown`), finds out whether something is to be pushed (r->push_due), and
   releases the record. */
void record_close(struct record *r, bool grown);

/* Cleans the stores up, unless somebody else is doing so. Call it when it is due and nobody
   waits. */
void record_clean_up(const struct record *r);

// Makes the report (report/report.h) of a run from its record and its streams, and then the
// report's bytes in the format of the settings.

/* Reads a text from its artifact while the report is written, if the report has to have the whole
   text and that is too long for memory. */
struct summary_text {
	struct text text;
	bool is_open;
	struct report *report;
	int which;           /* the index of the report's stream */
	uint64_t from;       /* first line of the range that is being read */
	bool skips;          /* skip the rest of a line in which a gap began */
	bool in_line;        /* the text handed out so far does not end with a newline */
	struct buffer chunk; /* bytes that were read; between calls only an incomplete character */
};

struct summary {
	struct report report;
	struct summary_text texts[2];
	char session[STORE_SESSION_LEN + 1];
	char paths[REPORT_FILES][PATH_MAX];
	struct buffer out; /* for the owner to print from */
	bool is_open;      /* a part of it was not handed out yet */
};

/* Begins the report of a run whose record is complete (record_end()). The record stays open until
   the summary is released. The struct is zeroed, but may have reserved memory in `out` and
   `report.piece`. */
void summary_init(struct summary *a, const struct job *job, struct record *record);

/* Adds the text (NULL: there is none) of one channel, once the text is finished or, if background
   processes still write it, spilled. */
void summary_add(struct summary *a, struct interceptor *text, const struct interceptor_ending *e,
		 const struct record *record);

/* Appends the next piece. Returns 1, or 0 after the last one. If memory runs out, the report ends
   early. */
int summary_next(struct summary *a, struct buffer *out);

/* Frees; may be called again, and on a zeroed struct. */
void summary_release(struct summary *a);

/* Prints to standard output why there is no run, in the format of the settings (other than text).
   `failure` has the error, the state, and the exit status of terse; -1: the command's status is not
   known. */
void summary_print_failure(const struct job *job, const struct report *failure);

#endif
