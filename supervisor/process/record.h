// What is kept of one run: its artifact, opened when the first text spills, and its
// line in the history.
#ifndef TERSE_PROCESS_RECORD_H
#define TERSE_PROCESS_RECORD_H

#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/session.h"
#include "supervisor/process/holder.h"
#include "supervisor/process/job.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>

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
void record_held(struct record *r, const struct holder *holders, int count);

/* Nothing more comes: the line in the history, and the last update if text came since record_end();
 * frees. */
void record_close(struct record *r, bool grown);

/* Cleans the stores up, if it is time and nobody else does. To be called when nobody waits. */
void record_clean_up(const struct record *r, const struct settings *settings);

#endif
