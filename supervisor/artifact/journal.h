// The journal of a session, SESSION/journal.jsonl: a line for each event, appended when it happens.
// The first member of a line says what has happened (docs/journal.schema.json; times are ns since
// 1970):
//
//   {"eventName":"terse.artifact","id":"cmd-...","timeUnixNano":...}
//                                one was made, or a short text
//   {"eventName":"terse.run","id":"cmd-...", ...}   a run has ended (meta.h); "": no artifact
//   {"eventName":"terse.read","id":"cmd-...","timeUnixNano":...,"bytes":4012,"tokens":1204,
//    "inside":true}              the text of an artifact was read or searched for a reader that is
//                                not a person; inside: within a run, whose own line says what was
//                                shown
//   {"eventName":"terse.session.end","timeUnixNano":...,"session.id":"..."}
//                                the session has ended, unless a run follows
//
// It is read from its end, so that the time to find what is new does not depend on its length.
// Bytes that are not a line are skipped: a writer that was killed leaves at most a part of a line,
// and the next line begins after a newline.
//
// A process that appends holds a shared lock on the file for the one write. A process that takes
// lines out writes the remaining lines to a temporary file and, under an exclusive lock, replaces
// the journal with it. Under the lock it deals only with lines that came meanwhile.
#ifndef TERSE_ARTIFACT_JOURNAL_H
#define TERSE_ARTIFACT_JOURNAL_H

#include "lib/members.h"
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
	JOURNAL_UNSEEN = 16, /* artifacts that were made; whether they still exist is not checked */
};

/* A text that was printed for a reader by `read`, `search` ... */
struct journal_read {
	char id[ID_LEN + 1];
	int64_t at_ms;
	uint64_t bytes, tokens;
	bool inside;
};

/* Append to the journal in a session's directory. A run's command and directory are cut, so that
   its line stays under META_LINE bytes; `made`: also appends the line JOURNAL_MADE for its
   artifact. Return 0, or -1 with errno. */
int journal_add_made(int dir, const char *id);
int journal_add_run(int dir, const struct meta *m, bool made);
int journal_add_read(int dir, const struct journal_read *read);
int journal_add_end(int dir, const char *session, int64_t now_ms);

/* Appends a line, which has no newline yet, to the journal with one write, and releases the line.
   Returns 0, or -1 with errno. */
int journal_append(int dir, struct buffer *line);

/* Calls `keep` for each line of the journal, without its newline. Takes out the lines for which
   `keep` returns false, and an unfinished line at the end. Returns how many were taken out, or -1
   with errno (ENOENT: there is no journal); then nothing has changed. */
long journal_filter(int dir, bool (*keep)(void *ctx, const char *line, size_t len), void *ctx);

/* Takes out lines of artifacts that are gone, lines of runs that started at or after from_ms and
   before to_ms, and lines of reads in that time. Returns as journal_filter(). */
long journal_clean(int dir, int64_t from_ms, int64_t to_ms);

/* How the names of journal_filter()'s temporary files begin; a crash may leave one. */
#define JOURNAL_TEMPORARY ".journal."

/* Returns when the session has ended; 0 if it has not, or if anything but reads has happened in it
   since. */
int64_t journal_end_ms(int dir);

struct journal_session {
	struct store *store; /* one of the stores given */
	int64_t ms;          /* when the session's journal was last written; if there is none, the
				directory */
	char name[STORE_SESSION_LEN + 1];
};

/* Lists `session` (even if it is not there) in each of the stores, or all sessions when it is NULL.
   The most recently used come first. free() the list. Returns 0, or -1 with errno. */
int journal_sessions(struct store *stores, int count, const char *session,
		     struct journal_session **sessions, size_t *found);

struct journal;

/* Begins to read the lines of these kinds, the newest first (a run's time is its end), of `session`
   (a result of store_session_name) in all the given stores, or of every session if `session` is
   NULL: then a session is opened only when the time of its journal shows that it may have the next
   line. The stores must outlive the journal. NULL with errno. */
struct journal *journal_open(struct store *stores, int count, const char *session, unsigned kinds);

struct journal_line {
	enum journal_kind kind;
	const char *text; /* valid until the next call */
	size_t len;
	uint64_t at;        /* its offset in the file */
	struct id_found of; /* store, session and ID */
	bool is_there;      /* the artifact exists; set if JOURNAL_MADE is one of the kinds */
};

/* Goes to the next line. Skips artifacts that are gone, unless JOURNAL_UNSEEN is one of the kinds.
   This and the following function return 1, 0 at the end, or -1 with errno. */
int journal_next(struct journal *j, struct journal_line *line);

/* The next run (JOURNAL_RUN). *m is valid until the next call. */
int journal_next_run(struct journal *j, struct meta *m);

/* Parses a run's line; *m is valid until the next run is parsed. Returns 1, 0 if it is damaged, or
   -1 with ENOMEM. */
int journal_parse_run(struct journal *j, const struct journal_line *line, struct meta *m);

/* The time of a line: for an artifact when it was made, for a run when it ended. */
int64_t journal_line_ms(const struct journal_line *line);

/* Parses a JOURNAL_READ line. Returns false if the line is damaged. */
bool journal_parse_read(const struct journal_line *line, struct journal_read *read);

/* The parts of a run's line that `terse stats` needs. */
struct journal_sums {
	int64_t started_ms, duration_ms;
	struct meta_shown shown;
	bool has_failed;
	bool is_own;               /* the command is a verb of terse */
	struct member_value agent; /* its name, in the line; may hold any bytes */
};

/* Parses the parts of a JOURNAL_RUN line, in a tenth of the time that meta_parse() takes. Returns
   false if one of them is damaged. */
bool journal_parse_sums(const struct journal_line *line, struct journal_sums *sums);

/* How many lines of runs were damaged so far. */
uint64_t journal_damaged(const struct journal *j);

void journal_close(struct journal *j);

#endif
