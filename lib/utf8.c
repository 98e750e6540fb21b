// See utf8.h.

#include "lib/utf8.h"

#include "lib/buffer.h"

#include <string.h>
#include <utf8proc.h>

/* How many bytes follow a lead byte; 0: this is not a lead byte. See Unicode's table 3-7. */
static size_t lead_more(unsigned char c)
{
	return c < 0xC2 || c > 0xF4 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
}

/* The length of the longest valid start of a character at `data`; *whole: it is a complete
   character. */
static size_t valid_part(const unsigned char *data, size_t len, bool *whole)
{
	const unsigned char lead = data[0];
	const size_t more = lead_more(lead);
	/* The range of the second byte: no overlong forms, no surrogates, nothing beyond
	   U+10FFFF. */
	unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
	unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
	size_t n = 1;
	while (n <= more && n < len && data[n] >= low && data[n] <= high) {
		n++;
		low = 0x80;
		high = 0xBF;
	}
	*whole = more > 0 && n > more;
	return n;
}

size_t utf8_decode(const char *data, size_t len, uint32_t *cp)
{
	const unsigned char *d = (const unsigned char *)data;
	if (d[0] < 0x80) {
		*cp = d[0];
		return 1;
	}
	bool whole;
	size_t n = valid_part(d, len, &whole);
	if (!whole) {
		*cp = UTF8_REPLACEMENT;
		return n;
	}
	uint32_t value = d[0] & (0x7Fu >> n);
	for (size_t i = 1; i < n; i++)
		value = value << 6 | (d[i] & 0x3Fu);
	*cp = value;
	return n;
}

bool utf8_next(const char *data, size_t len, uint32_t *cp, size_t *taken)
{
	*taken = utf8_decode(data, len, cp);
	/* A real U+FFFD is three bytes; an invalid part of three bytes begins with F0 to F4. */
	return *cp != UTF8_REPLACEMENT || (*taken == 3 && (unsigned char)*data == 0xEF);
}

size_t utf8_put(uint32_t cp, char out[4])
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (cp & 0x3F));
		cp >>= 6;
	}
	out[0] = (char)((0xF00u >> n) | cp);
	return n;
}

bool utf8_incomplete(const char *data, size_t len, size_t *tail)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		const unsigned char *d = (const unsigned char *)data + len - back;
		if ((*d & 0xC0) == 0x80)
			continue;
		bool whole;
		if (!lead_more(*d) || valid_part(d, back, &whole) != back || whole)
			return false;
		*tail = back;
		return true;
	}
	return false;
}

size_t utf8_floor(const char *data, size_t total, size_t len)
{
	if (len >= total)
		return total;
	size_t tail;
	if (!utf8_incomplete(data, len, &tail))
		return len;
	/* The character is only left out if the bytes that follow complete it. */
	bool whole;
	const unsigned char *d = (const unsigned char *)data + len - tail;
	valid_part(d, total - len + tail, &whole);
	return whole ? len - tail : len;
}

/* Code points besides C0 that must not reach a reader other than a terminal. */
static const struct {
	uint32_t first, last;
} unclean[] = {
	{0x7F, 0x9F},     {0x61C, 0x61C},   {0x200E, 0x200F}, {0x2028, 0x202E},   {0x2066, 0x2069},
	{0xD800, 0xDFFF}, {0xFDD0, 0xFDEF}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE007F},
};

bool utf8_is_clean(uint32_t cp)
{
	if (cp < 0x20)
		return cp == '\n' || cp == '\t';
	if (cp < 0x7F)
		return true;
	if ((cp & 0xFFFE) == 0xFFFE)
		return false;
	for (size_t i = 0; i < sizeof(unclean) / sizeof(*unclean); i++) {
		if (cp >= unclean[i].first && cp <= unclean[i].last)
			return false;
	}
	return true;
}

/* How many bytes at `data` may be shown unchanged. */
static size_t clean_run(const char *data, size_t len)
{
	size_t n = 0;
	while (n < len) {
		uint32_t cp;
		while (n < len &&
		       (data[n] == '\n' || data[n] == '\t' || (data[n] >= 0x20 && data[n] < 0x7F)))
			n++;
		if (n == len)
			break;
		/* CRLF, which ends lines on other systems. */
		if (data[n] == '\r' && n + 1 < len && data[n + 1] == '\n') {
			n += 2;
			continue;
		}
		size_t step;
		if (!utf8_next(data + n, len - n, &cp, &step) || !utf8_is_clean(cp))
			break;
		n += step;
	}
	return n;
}

bool utf8_all_clean(const char *data, size_t len)
{
	return clean_run(data, len) == len;
}

size_t utf8_clean(struct buffer *out, const char *data, size_t len)
{
	size_t written = 0;
	for (size_t n; len > 0; data += n, len -= n) {
		const char *shown = data;
		uint32_t cp;
		n = clean_run(data, len);
		size_t size = n;
		if (n == 0) {
			n = utf8_decode(data, len, &cp);
			shown = cp == 0 ? "\xE2\x90\x80" : "\xEF\xBF\xBD";
			size = 3;
		}
		if (out)
			buffer_append(out, shown, size);
		written += size;
	}
	return written;
}

/* --- columns ---------------------------------------------------------------------- */

bool utf8_is_blank_lookup(uint32_t cp)
{
	const utf8proc_property_t *p = utf8proc_get_property((utf8proc_int32_t)cp);
	return p->charwidth == 0 || p->category == UTF8PROC_CATEGORY_ZS ||
	       p->category == UTF8PROC_CATEGORY_CF || cp == 0x2800 || cp == 0x3164;
}

size_t utf8_ascii(uint32_t cp, char out[UTF8_ASCII_MOST])
{
	utf8proc_int32_t parts[UTF8_ASCII_MOST];
	int boundary;
	if (cp < 0x80) {
		*out = cp >= 'A' && cp <= 'Z' ? (char)(cp | 0x20) : (char)cp;
		return 1;
	}
	utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)cp, parts, UTF8_ASCII_MOST,
						     UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT |
							     UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK,
						     &boundary);
	bool found = n > 0 && n <= UTF8_ASCII_MOST;
	for (utf8proc_ssize_t i = 0; found && i < n; i++) {
		found = parts[i] < 0x80;
		out[i] = (char)parts[i];
	}
	if (found)
		return (size_t)n;
	*out = '[';
	return utf8proc_get_property((utf8proc_int32_t)cp)->category == UTF8PROC_CATEGORY_PS;
}

/* New versions of Unicode add emoji to this block, so its unassigned code points count as emoji,
   too. */
#define PICTURES_FIRST 0x1FA70
#define PICTURES_LAST  0x1FAFF

/* Characters whose width in terminals differs from utf8proc 2.8 (Unicode 15), and characters of
   later versions of Unicode. In ascending order. */
static const struct {
	uint32_t first, last;
	unsigned width;
} width_exceptions[] = {
	{0x0897, 0x0897, 0}, /* an Arabic mark */
	{0x1160, 0x11FF, 0}, /* Hangul vowels and finals: drawn into the syllable */
	{0x1ACF, 0x1AEB, 0}, /* combining marks */
	{0x2028, 0x2029, 1}, /* line and paragraph separator: no effect in a terminal */
	{0x2FFC, 0x2FFF, 2}, /* ideographic descriptions, strokes */
	{0x31E4, 0x31E5, 2},
	{0x31EF, 0x31EF, 2},
	{0xF900, 0xFAFF, 2},   /* CJK compatibility ideographs, unassigned ones too */
	{0x16FF2, 0x16FF6, 2}, /* Chinese, Tangut and Khitan signs */
	{0x187F8, 0x187FF, 2},
	{0x18CFF, 0x18CFF, 2},
	{0x18D09, 0x18DF2, 2},
	{0x1F6D8, 0x1F6D8, 2},
	{PICTURES_FIRST, PICTURES_LAST, 2},
	{0x20000, 0x2FFFD, 2}, /* CJK extensions, unassigned ones too (UAX 11) */
	{0x30000, 0x3FFFD, 2},
};

unsigned utf8_width_lookup(uint32_t cp)
{
	const size_t total = sizeof(width_exceptions) / sizeof(*width_exceptions);
	for (size_t i = 0; i < total && cp >= width_exceptions[i].first; i++) {
		if (cp <= width_exceptions[i].last)
			return width_exceptions[i].width;
	}
	const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)cp);
	/* Spacing marks of Indic scripts take a column of their own. */
	if (property->category == UTF8PROC_CATEGORY_MC && property->charwidth == 0)
		return 1;
	return property->charwidth;
}

#define EMOJI_SELECTOR 0xFE0F /* VS16 */
#define KEYCAP         0x20E3

static bool is_emoji(uint32_t cp)
{
	const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)cp);
	return property->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC ||
	       (cp >= PICTURES_FIRST && cp <= PICTURES_LAST) || cp == 0x1F6D8;
}

bool utf8_joins(uint32_t first, uint32_t last, uint32_t cp)
{
	if (utf8_is_skin_tone(cp))
		return is_emoji(first);
	return last == ZWJ && is_emoji(first) && is_emoji(cp);
}

unsigned utf8_width_joined(uint32_t first, uint32_t last, uint32_t cp)
{
	if (cp == KEYCAP && last == EMOJI_SELECTOR)
		return first < 0x80 && strchr("0123456789#*", (int)first) ? 2 : 1;
	if (cp == EMOJI_SELECTOR)
		return is_emoji(first) ? 2 : 1;
	return utf8_width(cp) == 2 ? 2 : 1;
}
