// What an agent gets of a picture of the screen: without what only makes it look good.

#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

/* So much of a rule is left. */
#define RULE_MOST 8

static bool is_rule(uint32_t cp)
{
	return cp == '-' || cp == '=' || cp == '_' || (cp >= 0x2500 && cp <= 0x257F);
}

static bool is_bar(uint32_t cp)
{
	return cp == ' ' || cp == '|' || cp == 0x2502 || cp == 0x2503 || cp == 0x2551;
}

static bool picture_is_blank(const char *row, size_t len)
{
	uint32_t cp;
	for (size_t i = 0; i < len;) {
		i += utf8_decode(row + i, len - i, &cp);
		if (!is_bar(cp))
			return false;
	}
	return true;
}

static int append_row(struct buffer *out, const char *row, size_t len)
{
	uint32_t cp, last = 0;
	size_t run = 0, n;
	for (size_t i = 0; i < len; i += n) {
		n = utf8_decode(row + i, len - i, &cp);
		run = cp == last ? run + 1 : 1;
		last = cp;
		if ((run <= RULE_MOST || !is_rule(cp)) && buffer_append(out, row + i, n) < 0)
			return -1;
	}
	return buffer_append(out, "\n", 1);
}

/* The blanks that all rows begin with which are not empty. */
static size_t find_indent(const char *rows, size_t len)
{
	size_t least = len;
	for (size_t i = 0; i < len; i++) {
		size_t start = i;
		while (i < len && rows[i] == ' ')
			i++;
		if (i < len && rows[i] != '\n' && i - start < least)
			least = i - start;
		while (i < len && rows[i] != '\n')
			i++;
	}
	return least;
}

int picture_tidy(struct buffer *out, const char *rows, size_t len)
{
	const char *at = rows, *end = rows + len;
	size_t indent = find_indent(rows, len);
	bool gap = false, any = false;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t row = newline ? (size_t)(newline - at) : (size_t)(end - at);
		bool blank = picture_is_blank(at, row);
		if (!blank && ((gap && any && buffer_append(out, "\n", 1) < 0) ||
			       append_row(out, at + indent, row - indent) < 0))
			return -1;
		any |= !blank;
		gap = blank;
		at += row + (newline != NULL);
	}
	return 0;
}
