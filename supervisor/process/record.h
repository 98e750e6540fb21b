// The records of a run: what its reader was shown, its artifact, its line in the history.
#ifndef TERSE_PROCESS_RECORD_H
#define TERSE_PROCESS_RECORD_H

#include "lib/buffer.h"
#include "lib/tokens.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/process/job.h"
#include "supervisor/remote/outbox.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings;

// What the reader of a run was shown: counted for `terse stats`, and kept beside the artifact as it
// was, for `terse report`.
//
// Only what an agent may read counts. What a program, a file or a person gets is not shown to a
// model.

struct shown {
	uint64_t bytes;        /* printed for the reader, terse's own lines included */
	uint64_t unseen;       /* of them, those that turned out to have another reader */
	struct tokens tokens;  /* of the first SHOWN_MOST of them */
	struct buffer printed; /* the first SHOWN_MOST of them */
	uint64_t text, lines;  /* of the texts that they are about */
	struct buffer ranges;  /* of lines, as the head of ID.shown has them */
};

/* These bytes were printed. */
void shown_add(struct shown *w, const char *data, size_t len);

/* It was no agent that read so many of them after all. When nobody else has read any, all are
   forgotten. */
void shown_forget(struct shown *w, uint64_t bytes);

/* Writes ID.shown beside an artifact (NULL: there is none), once. */
void shown_keep(struct shown *w, struct artifact *a);

// The artifact is opened when the first text spills.

struct record {
	struct meta meta;
	struct artifact *artifact;
	bool claimed;                   /* its ID was, before there is an artifact */
	int error;                      /* why there is no artifact although one was wanted */
	const struct settings *pushing; /* NULL: runs are not pushed */
	struct outbox outbox;           /* open where they are */
	bool push_due;                  /* something waits there */
	struct outbox_origin origin;    /* of the run, then */
	bool noted;                     /* the run does */
	bool over;                      /* the command has ended, and record_end() comes next */
	char cwd[PATH_MAX];
	char session[SESSION_ROOM];
	char files[2][PATH_MAX]; /* of the metadata */
	bool filed;              /* one of them is a regular file */
	struct shown shown;
	const struct settings *settings;
	int history; /* the session's directory; -1: there is no place to keep text, as far as known
		      */
	bool gc_due;
};

/* `r` holds zeros. */
void record_init(struct record *r, const struct job *job);

/* Opens the history while the command starts, so that its end is not delayed; checks whether a
   cleanup is due (r->gc_due). */
void record_prepare(struct record *r, int64_t gc_interval_ms);

/* Gives the run an ID, in its metadata, if it has none. Returns 0, or -1 with errno. */
int record_claim(struct record *r);

/* The artifact, made at the first call; NULL: it can't be made. */
struct artifact *record_open(struct record *r);

/* Where the text can be read, for messages. */
struct wording_place record_place(const struct record *r, bool is_stderr);

/* The command has ended with a wait status: fills in the metadata and updates the artifact. */
void record_end(struct record *r, int status, bool timed_out, bool interrupted,
		int64_t duration_ms);

/* Whether the run has ended, would be pushed, and has no artifact: a short failure is what somebody
   asks for the next morning. */
bool record_lacks_artifact(const struct record *r);

/* Appends the run's line to its session's history, once: at its end, or before that where its
   caller may go on and look for it. */
void record_add_history(struct record *r);

/* No more text comes: adds to the history, updates the artifact if text came since
   record_end() (`grown`), finds out what is to be pushed (r->push_due), and frees. */
void record_close(struct record *r, bool grown);

/* Cleans the stores up, which is due, unless somebody else does. Call it when nobody waits. */
void record_clean_up(const struct record *r);

#endif
