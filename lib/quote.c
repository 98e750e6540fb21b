// See quote.h.

#include "lib/quote.h"

#include "lib/buffer.h"
#include "lib/utf8.h"

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

static void quote_append_escape(struct buffer *out, uint32_t cp)
{
	if (cp == '\n' || cp == '\t' || cp == '\r')
		buffer_append_string(out, cp == '\n' ? "\\n" : cp == '\t' ? "\\t" : "\\r");
	else
		buffer_printf(out,
			      cp < 0x80      ? "\\x%02x"
			      : cp < 0x10000 ? "\\u%04x"
					     : "\\U%08x",
			      (unsigned)cp);
}

static void quote_append_invalid(struct buffer *out, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buffer_printf(out, "\\x%02x", (unsigned char)bytes[i]);
}

void quote_text(struct buffer *out, const char *text, size_t len, char mark)
{
	uint32_t cp;
	buffer_append(out, &mark, mark != 0);
	for (size_t n; len > 0; text += n, len -= n) {
		if (!utf8_next(text, len, &cp, &n))
			quote_append_invalid(out, text, n);
		else if (!quote_is_plain(cp))
			quote_append_escape(out, cp);
		else if (mark && (cp == (unsigned char)mark || cp == '\\'))
			buffer_printf(out, "\\%c", (char)cp);
		else
			buffer_append(out, text, n);
	}
	buffer_append(out, &mark, mark != 0);
}

static bool quote_needs_none(const char *word, size_t len)
{
	uint32_t cp;
	for (size_t n; len > 0; word += n, len -= n) {
		if (!utf8_next(word, len, &cp, &n) || !quote_is_plain(cp))
			return false;
	}
	return true;
}

static const char plain[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:@%+=-";

static void quote_append_ansi(struct buffer *out, const char *word)
{
	buffer_append_string(out, "$'");
	for (; *word; word++) {
		unsigned char c = (unsigned char)*word;
		bool special = c == '\'' || c == '\\' || c < 0x20 || c >= 0x7F;
		/* Three octal digits end by themselves, whatever follows. */
		buffer_printf(out, special ? "\\%03o" : "%c", c);
	}
	buffer_append_string(out, "'");
}

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
	size_t len = strlen(word);
	if (len > 0 && strspn(word, plain) == len)
		buffer_append(out, word, len);
	else if (quote_needs_none(word, len))
		quote_single(out, word);
	else
		quote_append_ansi(out, word);
}
