// A file of lines in a session's directory that many runs append to, while another process may
// take lines out of it.
//
// A process that appends holds a shared lock on the file for the one write. A process that takes
// lines out writes the others to a temporary file and, with an exclusive lock, replaces the file
// with it. Only lines that came meanwhile are dealt with under that lock.
#ifndef TERSE_ARTIFACT_REMOVAL_H
#define TERSE_ARTIFACT_REMOVAL_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends `line`, newline included, with one write. Returns 0, or -1 with errno. */
int journal_append(int dir, const char *name, const char *line, size_t len);

/* Asks `keep` about each line, without its newline: how many of its last bytes stay (a write that
   was cut short may stand before them); 0: the line is taken out. So is a last line that has no
   newline. Returns how many lines were taken out or cut, or -1 with errno (ENOENT: there is no such
   file); then nothing has changed. */
long journal_filter(int dir, const char *name,
		    size_t (*keep)(void *ctx, const char *line, size_t len), void *ctx);

/* Whether `name` is a temporary file that journal_filter() makes, and may have left. */
bool journal_is_temporary(const char *name);

// Removing one artifact.
//
// Its text goes first: from then on it is not listed, found or counted. Other files that a crash
// leaves have no text, and go with the next gc (gc.h). The claim of its ID goes last, so that no
// new run gets that ID before.
//
// Nothing but names in the session's directory and in STORE/ids is removed; a link that somebody
// put there goes, and what it leads to stays.

enum removal {
	REMOVAL_DONE,
	REMOVAL_ABSENT,  /* it is not there (any more) */
	REMOVAL_RUNNING, /* a supervisor still writes it, or has just begun to: it stays */
	REMOVAL_FAILED,  /* errno */
};

/* `dir` is the session's directory. Adds the freed bytes to *freed, even if only a part of the
   artifact was there (REMOVAL_ABSENT). Any number of processes may do this at a time. */
enum removal removal_of(const struct store *s, const char *session, int dir, const char *id,
			uint64_t *freed);

/* Whether a supervisor still writes it, or has just begun to. */
bool removal_is_running(int dir, const char *id);

#endif
