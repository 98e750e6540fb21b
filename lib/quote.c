// See quote.h.

#include "lib/quote.h"

#include "lib/buffer.h"
#include "lib/utf8.h"

#include <stdint.h>
#include <string.h>

/* Characters that are invisible, or that some programs take for the end of a line. */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{0xAD, 0xAD},       {0x34F, 0x34F},     {0x115F, 0x1160}, {0x17B4, 0x17B5},
	{0x180B, 0x180F},   {0x200B, 0x200D},   {0x2028, 0x2029}, {0x2060, 0x206F},
	{0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB},
	{0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

bool quote_is_plain(uint32_t cp)
{
	if (cp == '\n' || cp == '\t' || !utf8_is_clean(cp))
		return false;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
		if (cp >= hidden[i].first && cp <= hidden[i].last)
			return false;
	}
	return true;
}

void quote_text(struct buffer *out, const char *text, size_t len, char mark)
{
	uint32_t cp;
	buffer_append(out, &mark, mark != 0);
	for (size_t n; len > 0; text += n, len -= n) {
		if (!utf8_next(text, len, &cp, &n)) {
			for (size_t i = 0; i < n; i++)
				buffer_printf(out, "\\x%02x", (unsigned char)text[i]);
		} else if (cp == '\n' || cp == '\t' || cp == '\r') {
			buffer_append_string(out, cp == '\n' ? "\\n" : cp == '\t' ? "\\t" : "\\r");
		} else if (!quote_is_plain(cp)) {
			buffer_printf(out,
				      cp < 0x80      ? "\\x%02x"
				      : cp < 0x10000 ? "\\u%04x"
						     : "\\U%08x",
				      (unsigned)cp);
		} else if (mark && (cp == (unsigned char)mark || cp == '\\')) {
			buffer_printf(out, "\\%c", (char)cp);
		} else {
			buffer_append(out, text, n);
		}
	}
	buffer_append(out, &mark, mark != 0);
}

static const char plain[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:@%+=-";

void quote_single(struct buffer *out, const char *word)
{
	buffer_append_string(out, "'");
	for (const char *quote; (quote = strchr(word, '\'')); word = quote + 1) {
		buffer_append(out, word, (size_t)(quote - word));
		buffer_append_string(out, "'\\''");
	}
	buffer_append_string(out, word);
	buffer_append_string(out, "'");
}

void quote_append(struct buffer *out, const char *word)
{
	size_t len = strlen(word), at = 0;
	uint32_t cp;
	if (len > 0 && strspn(word, plain) == len) {
		buffer_append(out, word, len);
		return;
	}
	for (size_t n; at < len && utf8_next(word + at, len - at, &cp, &n) && quote_is_plain(cp);)
		at += n;
	if (at == len) {
		quote_single(out, word);
		return;
	}
	buffer_append_string(out, "$'");
	for (; *word; word++) {
		unsigned char c = (unsigned char)*word;
		bool special = c == '\'' || c == '\\' || c < 0x20 || c >= 0x7F;
		/* Three octal digits, so that a digit after them does not belong to the escape. */
		buffer_printf(out, special ? "\\%03o" : "%c", c);
	}
	buffer_append_string(out, "'");
}

/* The text of a command among lines of terse's own. */

enum likeness { LIKENESS_NONE, LIKENESS_BEGUN, LIKENESS_FULL };

/* Whether a character is invisible. A character that cleaning replaces is visible as U+FFFD. */
static bool is_hidden(uint32_t cp)
{
	return utf8_is_blank(cp) || !utf8_is_clean(cp) || cp == UTF8_REPLACEMENT;
}

/* How far a text matches the start of a notice, ignoring invisible characters. */
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

/* Rules out nearly all lines by their first byte. */
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

size_t guard_text(struct buffer *out, const char *data, size_t len, enum guard_mode mode)
{
	size_t done = 0, size = 0;
	for (size_t at = 0, n; mode != GUARD_NONE && at < len; at += n) {
		const char *newline = memchr(data + at, '\n', len - at);
		n = newline ? (size_t)(newline - data) + 1 - at : len - at;
		if ((at == 0 && mode != GUARD_LINE) || !guard_is_needed(data + at, n))
			continue;
		size += utf8_clean(out, data + done, at - done) + strlen(GUARD);
		if (out)
			buffer_append_string(out, GUARD);
		done = at;
	}
	return size + utf8_clean(out, data + done, len - done);
}

bool guard_is_same(const char *data, size_t len, enum guard_mode mode)
{
	return utf8_all_clean(data, len) &&
	       (mode == GUARD_NONE || guard_text(NULL, data, len, mode) == len);
}
