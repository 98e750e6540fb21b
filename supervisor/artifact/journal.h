// The journal of a session, SESSION/journal.jsonl: a line for each thing, appended when it happens.
// The first member of a line says what has happened (docs/journal.schema.json; times are ns since
// 1970):
//
//   {"eventName":"terse.artifact","id":"cmd-...","timeUnixNano":...}    one was made,
//                              or a short text
//   {"eventName":"terse.run","id":"cmd-...", ...}   a run has ended (meta.h); "": no artifact
//   {"eventName":"terse.read","id":"cmd-...","timeUnixNano":...,"bytes":4012,"tokens":1204,
//    "inside":true}              the text of an artifact was read or searched for somebody who is
//                                no person; inside: within a run, whose own line says what was
//                                shown
//   {"eventName":"terse.session.end","timeUnixNano":...,"session.id":"..."}
//                                the session has ended, unless a run follows
//
// It is read from its end, so that the time to find what is new does not depend on its length.
// Bytes that are no line are passed over: a writer that was killed leaves at most a part of a line,
// and the next line begins behind a newline.
//
// A process that appends holds a shared lock on the file for the one write. A process that takes
// lines out writes the others to a temporary file and, under an exclusive lock, replaces the
// journal with it. Under the lock it deals only with lines that came meanwhile.
#ifndef TERSE_ARTIFACT_JOURNAL_H
#define TERSE_ARTIFACT_JOURNAL_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_FILE "journal.jsonl"
#define JOURNAL_SUMS "journal.sums" /* beside it: sums over its lines (command/internal.h) */

enum journal_kind {
	JOURNAL_DAMAGED = 0,
	JOURNAL_MADE = 1,
	JOURNAL_RUN = 2,
	JOURNAL_READ = 4,
	JOURNAL_ENDED = 8,
	JOURNAL_UNSEEN = 16, /* artifacts that were made, without a look whether they are there */
};

/* Printed for a reader by `read`, `search` ... */
struct journal_read {
	char id[ID_LEN + 1];
	int64_t at_ms;
	uint64_t bytes, tokens;
	bool inside;
};

/* Append to the journal in a session's directory. Of a run long commands and directories are cut,
   so that its line stays under META_LINE bytes; `made`: the line that its artifact was made comes
   with it. Return 0, or -1 with errno. */
int journal_add_made(int dir, const char *id);
int journal_add_run(int dir, const struct meta *m, bool made);
int journal_add_read(int dir, const struct journal_read *read);
int journal_add_end(int dir, const char *session, int64_t now_ms);

/* Appends `line`, newline included, to a file of lines with one write. Returns 0, or -1 with
   errno. */
int journal_append(int dir, const char *name, const char *line, size_t len);

/* Asks `keep` about each line of a file, without its newline, and takes out those that it does not
   want, and a last line that has no newline. Returns how many were taken out, or -1 with errno
   (ENOENT: there is no such file); then nothing has changed. */
long journal_filter(int dir, const char *name,
		    bool (*keep)(void *ctx, const char *line, size_t len), void *ctx);

/* Takes out the lines that an artifact was made if that artifact is gone, and the runs that
   started, and the reads that happened, at or after from_ms and before to_ms. Returns as
   journal_filter(). */
long journal_clean(int dir, int64_t from_ms, int64_t to_ms);

/* How the names of journal_filter()'s temporary files begin; a crash may leave one. */
#define JOURNAL_TEMPORARY ".journal."

/* When the session has ended; 0 if it has not, or if more than reading has happened in it since. */
int64_t journal_end_ms(int dir);

struct journal_session {
	struct store *store; /* one of the stores given */
	int64_t ms; /* when the session's journal was last written, or without a journal its
		       directory */
	char name[STORE_SESSION_LEN + 1];
};

/* Lists `session` (even if it is not there) in each of the stores, or all sessions when it is NULL.
   Sessions that were used last come first. free() the list. Returns 0, or -1 with errno. */
int journal_sessions(struct store *stores, int count, const char *session,
		     struct journal_session **sessions, size_t *found);

struct journal;

/* Goes through the lines of these kinds of `session` (a result of store_session_name) in all the
   stores given, or of every session when it is NULL, the newest first: runs by their ends. A
   session is opened only when the time of its journal shows that it may have the next line. The
   stores must outlive the journal. NULL with errno. */
struct journal *journal_open(struct store *stores, int count, const char *session, unsigned kinds);

struct journal_line {
	enum journal_kind kind;
	const char *text; /* until the next call */
	size_t len;
	uint64_t at;        /* its place in the file */
	struct id_found of; /* store, session and ID */
	bool is_there;      /* the artifact, where JOURNAL_MADE is one of the kinds */
};

/* Goes to the next line. Passes over artifacts that are gone, unless JOURNAL_UNSEEN is one of the
   kinds. This and the following function return 1, 0 at the end, or -1 with errno. */
int journal_next(struct journal *j, struct journal_line *line);

/* The next run (JOURNAL_RUN). *m is valid until the next call. */
int journal_next_run(struct journal *j, struct meta *m);

/* Takes a run from its line; *m is valid until the next one is taken. Returns 1, 0: it is damaged,
   or -1 with ENOMEM. */
int journal_parse_run(struct journal *j, const struct journal_line *line, struct meta *m);

/* The time of a line: for an artifact when it was made, for a run when it ended. */
int64_t journal_line_ms(const struct journal_line *line);

/* Takes from a JOURNAL_READ line what was read. Returns false if the line is damaged. */
bool journal_parse_read(const struct journal_line *line, struct journal_read *read);

/* Takes what terse stats counts of a run from its line (JOURNAL_RUN), in a fifth of the time that
   meta_parse() needs: its ID, start, duration, end, `shown`, and `profile` if that is terse's own.
   There is nothing to release. Returns false if one of these is damaged. */
bool journal_parse_sums(const struct journal_line *line, struct meta *m);

/* How many damaged runs were met so far; with JOURNAL_RUN lines that do not parse count, too. */
uint64_t journal_damaged(const struct journal *j);

void journal_close(struct journal *j);

#endif
