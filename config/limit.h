// What may be printed of one stream's text before a preview takes its place.
#ifndef TERSE_CONFIG_LIMIT_H
#define TERSE_CONFIG_LIMIT_H

#include "config/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text within all of the first three is printed whole, other text as a preview that keeps within
   the first two. */
struct limit {
	size_t bytes;
	size_t failure_bytes; /* the same when the command failed; at most `bytes` */
	uint64_t count;       /* of what limit_counts(); 0: no limit */
	size_t longest_line;  /* bytes without the newline; 0: no limit */

	enum unit unit;      /* what is counted */
	size_t max_line;     /* a preview cuts longer lines ... */
	bool own_words;      /* what looks like a notice of terse is one: it is terse that is run */
	bool grow;           /* ... unless there is room for more of them */
	enum mode mode;      /* which part of the text it shows */
	unsigned head_share; /* percent */
	unsigned end_share;  /* percent */
	const struct strings *patterns, *ignore; /* of the settings; may be NULL */
};

/* Text up to this many bytes is printed whole rather than cut a little. */
static inline size_t limit_most(size_t bytes)
{
	return bytes + bytes * 15 / 100;
}

/* For standard output or the two together, or for standard error kept apart. All of it is within
   the ceilings of the settings, with what is printed around the text. */
struct limit limit_of(const struct settings *s, bool is_stderr);

/* For a text that can't be kept: as much of it as the ceilings let through, if there are any. */
void limit_widen(struct limit *l, const struct settings *s);

/* Whether a line (without its newline) is one of the unit. All are UNIT_LINES. Of UNIT_ENTRIES
   neither blank lines are nor what `ls` prints around them: "total 8" and "directory:". Of the
   others, blank lines and a "--" of its own are not. */
bool limit_counts(enum unit unit, const char *line, size_t len);

/* Which part of a limit a text went over first, or (LIMIT_CUT: max_line) what keeps a preview from
   showing more of it. */
enum limit_part { LIMIT_NONE, LIMIT_BYTES, LIMIT_COUNT, LIMIT_LINE, LIMIT_CUT };

/* The same for a text of which `text` is the start, up to the place where the limit's bytes are
   used up or where it ends: if none of the other parts is broken in there, it is LIMIT_BYTES. */
enum limit_part limit_broken_first(const struct limit *l, const char *text, size_t len);

/* Its name in reports: "bytes", "line_length", what is counted ("lines", "matches" ...); NULL for
   LIMIT_NONE. */
const char *limit_name(const struct limit *l, enum limit_part part);

#endif
