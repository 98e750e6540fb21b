// See guard.h.

#include "lib/guard.h"

#include "lib/buffer.h"
#include "lib/utf8.h"

#include <stdint.h>
#include <string.h>

enum likeness { LIKENESS_NONE, LIKENESS_BEGUN, LIKENESS_FULL };

/* What is replaced by a sign when it is cleaned hides nothing either. */
static bool is_hidden(uint32_t cp)
{
	return utf8_is_blank(cp) || !utf8_is_clean(cp) || cp == UTF8_REPLACEMENT;
}

/* How far a text goes along with the start of a notice, what is hidden aside. */
static enum likeness compare_notice(const char *data, size_t len)
{
	static const char terse[] = "[terse:", dots[] = "[...";
	const size_t whole = sizeof(terse) - 1, part = sizeof(dots) - 1;
	char seen[sizeof(terse) - 1 + UTF8_ASCII_MOST], like[UTF8_ASCII_MOST];
	size_t n = 0, step;
	uint32_t cp;
	for (size_t at = 0; at < len && n < whole; at += step) {
		step = utf8_decode(data + at, len - at, &cp);
		if (n == part && is_hidden(cp) && memcmp(seen, dots, n) == 0)
			return LIKENESS_FULL;
		if (is_hidden(cp))
			continue;
		size_t count = utf8_ascii(cp, like);
		memcpy(seen + n, like, count);
		n += count;
		size_t compared = n < whole ? n : whole;
		if (count == 0 || (memcmp(seen, terse, compared) != 0 &&
				   (n > part || memcmp(seen, dots, n) != 0)))
			return LIKENESS_NONE;
	}
	return n < whole ? LIKENESS_BEGUN : LIKENESS_FULL;
}

/* Nearly all lines are told by their first byte. */
static bool may_begin_notice(char c)
{
	return c == '[' || c == ' ' || (unsigned char)c < ' ' || (unsigned char)c >= 0x7F;
}

bool guard_is_needed(const char *line, size_t len)
{
	return len > 0 && may_begin_notice(*line) && compare_notice(line, len) == LIKENESS_FULL;
}

bool guard_may_be_needed(const char *line, size_t len)
{
	return len == 0 || (may_begin_notice(*line) && compare_notice(line, len) != LIKENESS_NONE);
}

/* Appends to `out` (NULL: only counts), and returns how many guards there are. */
static size_t guard_lines(struct buffer *out, const char *data, size_t len, enum guard_mode mode)
{
	size_t done = 0, count = 0;
	for (size_t at = 0, n; mode != GUARD_NONE && at < len; at += n) {
		const char *newline = memchr(data + at, '\n', len - at);
		n = newline ? (size_t)(newline - data) + 1 - at : len - at;
		if ((at == 0 && mode != GUARD_LINE) || !guard_is_needed(data + at, n))
			continue;
		count++;
		if (!out)
			continue;
		utf8_clean(out, data + done, at - done);
		buffer_append_string(out, GUARD);
		done = at;
	}
	if (out)
		utf8_clean(out, data + done, len - done);
	return count;
}

void guard_text(struct buffer *out, const char *data, size_t len, enum guard_mode mode)
{
	guard_lines(out, data, len, mode);
}

size_t guard_text_len(const char *data, size_t len, enum guard_mode mode)
{
	return utf8_clean_len(data, len) + guard_lines(NULL, data, len, mode) * strlen(GUARD);
}

bool guard_is_same(const char *data, size_t len, enum guard_mode mode)
{
	return utf8_all_clean(data, len) && guard_lines(NULL, data, len, mode) == 0;
}
