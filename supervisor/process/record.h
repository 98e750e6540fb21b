// What a command wrote and when, as an asciicast (version 2), which terse replay and
// asciinema play.
//
// Format: https://docs.asciinema.org/manual/asciicast/v2/: a line with a header object,
// then a line for each event: [seconds, "o", text] or [seconds, "r", "80x24"]. A LF that
// the terminal took for a new line (no output processing) is a CR LF in it.
#ifndef TERSE_PROCESS_RECORD_H
#define TERSE_PROCESS_RECORD_H

#include "supervisor/agents/session.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/process/job.h"
#include "supervisor/process/process_tree.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cast {
	struct artifact *artifact; /* where it goes: ARTIFACT_CAST; not owned; NULL: nowhere */
	bool newlines;             /* LF is a new line */
	char last;                 /* the last byte */
	char partial[4];           /* the beginning of a character */
	size_t partial_len;
};

/* Begins with the header, which tells the command of the metadata. */
void cast_start(struct cast *c, struct artifact *artifact, const struct meta *m, bool newlines);

/* `ms`: since the start of the run. */
void cast_output(struct cast *c, int64_t ms, const char *data, size_t len);
void cast_resize(struct cast *c, int64_t ms, unsigned cols, unsigned rows);

// What is kept of one run: its artifact, opened when the first text spills, and its
// line in the history.

struct record {
	struct meta meta;
	struct artifact *artifact;
	uint64_t max_bytes, min_free;
	bool claimed; /* its ID was, before there is an artifact */
	int error;    /* why there is no artifact although one was wanted */
	char cwd[PATH_MAX];
	char session[SESSION_ROOM];
	int history; /* the session's directory, or -1 */
	bool gc_due;
};

void record_init(struct record *r, const struct job *job);

/* Opens what the line in the history needs, while the command starts, so that its end is not
   delayed; looks whether it is time to clean up (r->gc_due). */
void record_prepare(struct record *r, int64_t gc_interval_ms);

/* Whether there is a place to keep it, as far as is known after record_prepare(). */
bool record_is_kept(const struct record *r);

/* Claims the run's ID if it has none yet: it is in the metadata then. Returns 0, or -1 with errno.
 */
int record_claim(struct record *r);

/* The artifact, made at the first call. NULL: it can't be. */
struct artifact *record_open(struct record *r);

/* Where the text can be read, for messages. */
struct wording_place record_place(const struct record *r, bool is_stderr);

/* The command has ended (a status of waitpid): fills in the metadata, and brings the artifact up to
 * date. */
void record_end(struct record *r, int status, bool timed_out, bool interrupted,
		int64_t duration_ms);

/* The command has ended, and these keep its output open. */
void record_held(struct record *r, const struct pipe_holder *holders, int count);

/* Nothing more comes: the line in the history, and the last update if text came since record_end();
 * frees. */
void record_close(struct record *r, bool grown);

/* Cleans the stores up, if it is time and nobody else does. To be called when nobody waits. */
void record_clean_up(const struct record *r, const struct settings *settings);

#endif
