// A file of lines in a session's directory that many runs append to, while another process may
// take lines out of it.
//
// Who appends holds a shared lock on the file for the one write. Who takes lines out writes those
// that stay to a temporary file and, with an exclusive lock, puts it in the other's place: only
// lines that came meanwhile are dealt with under that lock.
#ifndef TERSE_ARTIFACT_JOURNAL_H
#define TERSE_ARTIFACT_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
