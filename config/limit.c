// See limit.h.

#include "config/limit.h"

#include "config/option.h"

#include <string.h>

/* Bytes and lines below a ceiling that are reserved for a footer or a notice, and a status. */
#define NOTICES      ((int64_t)400)
#define NOTICE_LINES 4

/* The most bytes that a long line gets, before the other lines get theirs, if [preview] max_line is
   not set. */
#define MAX_LINE ((size_t)500)

/* Limits `bytes` by a ceiling (0: none). */
static int64_t limit_hold(int64_t bytes, int64_t ceiling)
{
	/* limit_most() of the result must stay within the ceiling, too. */
	int64_t whole = ceiling * 100 / 115, cut = ceiling - NOTICES;
	int64_t most = whole < cut ? whole : cut;
	return ceiling > 0 && bytes > most ? most : bytes;
}

/* The smaller of two ceilings (0: none), minus the room for notices. */
static size_t limit_ceiling(int64_t a, int64_t b)
{
	int64_t least = a && (!b || a < b) ? a : b;
	return (size_t)(least > NOTICES ? least - NOTICES : least);
}

/* Keeps all sizes below the ceilings. cut_ceiling does not apply to terse's own verbs, whose whole
   text the agent wants. */
static void hold_all(struct limit *l, const struct settings *s)
{
	int64_t failure = limit_hold((int64_t)l->failure_bytes, s->ceiling);
	int64_t bytes = limit_hold((int64_t)l->bytes, s->ceiling), lines = s->line_ceiling;
	l->bytes = l->cut_bytes = (size_t)bytes;
	/* No room for limit_most() is needed: a text over `cut_over` is always a preview. */
	if (!l->own_words && s->cut_ceiling > 0 && bytes > s->cut_ceiling - NOTICES)
		l->cut_bytes = (size_t)(s->cut_ceiling - NOTICES);
	l->cut_over = (size_t)s->ceiling;
	l->failure_bytes = (size_t)limit_hold(failure, s->failure_ceiling);
	lines -= lines > 2 * NOTICE_LINES ? NOTICE_LINES : 0;
	if (lines > 0 && (l->count == 0 || l->count > (uint64_t)lines))
		l->count = (uint64_t)lines;
	l->ceiling = limit_ceiling(s->ceiling, 0);
	l->cut_ceiling = limit_ceiling(s->ceiling, l->own_words ? 0 : s->cut_ceiling);
	l->failure_ceiling = limit_ceiling(s->ceiling, s->failure_ceiling);
	lines = s->line_ceiling;
	l->line_ceiling = (uint64_t)(lines > NOTICE_LINES ? lines - NOTICE_LINES : lines);
}

struct limit limit_of(const struct settings *s, bool is_stderr)
{
	struct limit l = {
		.bytes = (size_t)s->size,
		.failure_bytes = (size_t)(settings_size_is_for_all(s) ? s->size : s->failure_size),
		.count = (uint64_t)s->max_lines,
		.unit = (enum unit)s->unit,
		.max_line = s->max_line ? (size_t)s->max_line : MAX_LINE,
		.own_words = s->own_words,
		.grow = s->max_line == 0,
		.mode = (enum mode)s->mode,
		.fold = (enum fold)s->fold,
		.head_share = (unsigned)s->head_share,
		.end_share = (unsigned)s->end_share,
		.patterns = &s->patterns,
		.ignore = &s->ignore,
		.about = s->about,
	};
	if (is_stderr) {
		if (s->err_size > 0)
			l.bytes = l.failure_bytes = (size_t)s->err_size;
		l.count = (uint64_t)s->max_err_lines;
		l.unit = UNIT_LINES;
	}
	hold_all(&l, s);
	return l;
}

void limit_widen(struct limit *l, const struct settings *s)
{
	if (s->ceiling == 0)
		return;
	l->bytes = l->failure_bytes = (size_t)s->ceiling;
	l->count = 0;
	l->max_line = s->max_line ? (size_t)s->max_line : MAX_LINE;
	l->grow = s->max_line == 0;
	hold_all(l, s);
	l->cut_bytes = l->bytes;
	l->cut_ceiling = l->ceiling;
}

bool limit_counts(enum unit unit, const char *line, size_t len)
{
	if (unit == UNIT_LINES)
		return true;
	if (len == 0)
		return false;
	if (unit == UNIT_ENTRIES)
		return line[len - 1] != ':' && (len < 7 || memcmp(line, "total ", 6) != 0 ||
						line[6] < '0' || line[6] > '9');
	return len != 2 || memcmp(line, "--", 2) != 0;
}

const char *limit_name(const struct limit *l, enum limit_part part)
{
	static const char *const parts[] = {
		[LIMIT_NONE] = NULL,
		[LIMIT_BYTES] = "bytes",
		[LIMIT_CUT] = "line_length",
	};
	return part == LIMIT_COUNT ? option_by_key("report", "unit")->choices[l->unit]
				   : parts[part];
}
