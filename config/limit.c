// See limit.h.

#include "config/limit.h"

#include <string.h>

struct limit limit_of(const struct settings *s, bool is_stderr)
{
	struct limit l = {
		.bytes = (size_t)s->size,
		.count = (uint64_t)s->max_lines,
		.longest_line = (size_t)s->longest_line,
		.unit = (enum unit)s->unit,
		.max_line = (size_t)s->max_line,
		.mode = (enum mode)s->mode,
		.head_share = (unsigned)s->head_share,
	};

	if (is_stderr) {
		if (s->err_size > 0)
			l.bytes = (size_t)s->err_size;
		l.count = (uint64_t)s->max_err_lines;
		l.unit = UNIT_LINES;
	}
	return l;
}

static bool is_total(const char *line, size_t len)
{
	static const char word[] = "total ";
	const size_t word_len = sizeof(word) - 1;

	return len > word_len && memcmp(line, word, word_len) == 0 && line[word_len] >= '0' &&
	       line[word_len] <= '9';
}

bool limit_counts(enum unit unit, const char *line, size_t len)
{
	if (unit == UNIT_LINES)
		return true;
	if (len == 0)
		return false;
	if (unit == UNIT_ENTRIES)
		return line[len - 1] != ':' && !is_total(line, len);
	return len != 2 || memcmp(line, "--", 2) != 0;
}
