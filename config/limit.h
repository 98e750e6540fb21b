// The size up to which one stream's text is printed whole; longer text becomes a preview.
#ifndef TERSE_CONFIG_LIMIT_H
#define TERSE_CONFIG_LIMIT_H

#include "config/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Text within `bytes` and `count` is printed whole; other text becomes a preview within both. */
struct limit {
	size_t bytes;
	size_t failure_bytes; /* the same if the command failed */
	size_t cut_bytes;     /* budget of a success with more text than cut_over; at most
				 `bytes` */
	size_t cut_over;      /* bytes of text */
	uint64_t count;       /* of units, see limit_counts(); 0: no limit */

	/* For a run that also prints lines before its end: the most bytes that are printed in
	   total, without the footer; 0: no limit. */
	size_t ceiling;
	size_t failure_ceiling; /* at most `ceiling` */
	size_t cut_ceiling;     /* the same for a success with more text than cut_over; at most
				   `ceiling` */
	uint64_t line_ceiling;

	enum unit unit;      /* what is counted */
	size_t max_line;     /* a preview cuts longer lines */
	bool own_words;      /* the command is terse, so its notices are genuine */
	bool grow;           /* long lines are cut less if there is room */
	enum mode mode;      /* which part of the text a preview shows */
	enum fold fold;      /* what is folded in a success */
	unsigned head_share; /* percent */
	unsigned end_share;  /* percent */
	const struct strings *patterns, *ignore; /* of the settings; may be NULL */
	const char *about;                       /* of the settings; may be NULL */
};

/* Text up to this many bytes is printed whole rather than cut a little. */
static inline size_t limit_most(size_t bytes)
{
	return bytes + bytes * 15 / 100;
}

/* The most bytes that one line gets in a preview of `bytes` bytes, before the other lines get
   theirs. In mode head this is a quarter of the preview. */
static inline size_t limit_line(const struct limit *l, size_t bytes)
{
	size_t least = bytes < 256 ? 64 : bytes / 4;
	size_t most = l->mode == MODE_HEAD && least < bytes ? least : bytes;
	return size_min(l->max_line, most);
}

/* While the command runs, the smallest size limits what is printed, since the outcome is not known
   yet. Text up to the largest size is held in memory. */
static inline size_t limit_smallest(const struct limit *l)
{
	return size_min(l->cut_bytes, l->failure_bytes);
}

static inline size_t limit_largest(const struct limit *l)
{
	return size_max(l->bytes, l->failure_bytes);
}

/* The ceiling until the outcome is known: the smallest of the ceilings; 0: none. */
static inline size_t limit_least_ceiling(const struct limit *l)
{
	bool cut_first = l->cut_ceiling && l->cut_ceiling < l->failure_ceiling;
	return cut_first || !l->failure_ceiling ? l->cut_ceiling : l->failure_ceiling;
}

/* The limit of standard output or of both streams together, or of separate standard error. Text and
   notices stay within the ceilings of the settings. */
struct limit limit_of(const struct settings *s, bool is_stderr);

/* For a text that can't be kept: widens its limit up to the ceilings, if there are any. */
void limit_widen(struct limit *l, const struct settings *s);

/* Whether a line (without its newline) counts. UNIT_LINES counts every line. UNIT_ENTRIES does not
   count blank lines and the lines "total 8" and "directory:" of `ls`. The other units do not count
   blank lines and a lone "--". */
bool limit_counts(enum unit unit, const char *line, size_t len);

/* The part of a limit that a text exceeds, or that stops a preview from showing more (LIMIT_CUT:
   max_line). */
enum limit_part { LIMIT_NONE, LIMIT_BYTES, LIMIT_COUNT, LIMIT_CUT };

/* Its name in reports: "bytes", "line_length", what is counted ("lines", "matches" ...); NULL for
   LIMIT_NONE. */
const char *limit_name(const struct limit *l, enum limit_part part);

#endif
