// UTF-8: decoding, the columns that characters take, and which of them may be shown to a reader
// that is not a terminal (invariant "clean"). No other file calls utf8proc.
#ifndef TERSE_LIB_UTF8_H
#define TERSE_LIB_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

#define UTF8_REPLACEMENT 0xFFFD

/* Decodes one code point at `data` (len > 0). Returns the bytes it takes (1 to
   4) and sets *cp; an invalid or cut sequence yields UTF8_REPLACEMENT and the
   length of its maximal valid part (at least 1), as Unicode recommends. */
size_t utf8_decode(const char *data, size_t len, uint32_t *cp);

/* The same, but returns whether the bytes are a valid character. */
bool utf8_next(const char *data, size_t len, uint32_t *cp, size_t *taken);

/* Encodes `cp` (a scalar value) into `out`; returns 1 to 4. (utf8_encode is a name jansson
   exports.) */
size_t utf8_put(uint32_t cp, char out[4]);

/* True if `data` ends inside a sequence that more bytes could complete;
 *tail is then the number of bytes of the unfinished part (1 to 3). */
bool utf8_incomplete(const char *data, size_t len, size_t *tail);

/* The largest n <= len at which `data` can be cut without splitting a character
   (invalid bytes count as characters of their own). */
size_t utf8_floor(const char *data, size_t total, size_t len);

/* Whether `cp` may be printed to something that is not a terminal: newline, tab and everything
   except C0, DEL, C1, bidi controls (U+200E, U+200F, U+061C, U+202A-202E, U+2066-2069), separators
   (U+2028, U+2029), tags (U+E0000-E007F), surrogates, noncharacters and U+FEFF. */
bool utf8_is_clean(uint32_t cp);

/* Whether all of `data` is valid UTF-8 of clean code points; CR before LF counts as clean. Fast on
   ASCII. */
bool utf8_all_clean(const char *data, size_t len);

/* Appends `data` to `out` with each invalid part and each code point that is not clean replaced by
   U+FFFD, NUL by U+2400. Returns the number of bytes appended; `out` NULL: only counts them. */
size_t utf8_clean(struct buffer *out, const char *data, size_t len);

/* Whether a character is invisible. utf8_is_blank() calls utf8_is_blank_lookup() for characters
   beyond ASCII. */
bool utf8_is_blank_lookup(uint32_t cp);
static inline bool utf8_is_blank(uint32_t cp)
{
	return cp < 0x80 ? cp == ' ' || cp == '\t' : utf8_is_blank_lookup(cp);
}

/* Finds the ASCII characters that a character looks like: letters of other widths and styles (as
   lower case), brackets, the ellipsis. Returns their number; 0: it looks like none. */
#define UTF8_ASCII_MOST 4
size_t utf8_ascii(uint32_t cp, char out[UTF8_ASCII_MOST]);

/* A part of utf8_width(), for all except the frequent characters. */
unsigned utf8_width_lookup(uint32_t cp);

/* The columns that a character takes: 0 (combining marks, joiners, format characters), 1 or 2 (East
   Asian wide, emoji). utf8proc's tables, changed where xterm and other terminals differ from them.
   `cp` must not be a control character. */
static inline unsigned utf8_width(uint32_t cp)
{
	/* Latin, up to the combining marks; box drawing and blocks; Braille. */
	if (cp < 0x300 || (cp >= 0x2500 && cp < 0x25A0) || (cp >= 0x2800 && cp < 0x2900))
		return 1;
	/* Han */
	if (cp >= 0x4E00 && cp < 0xA000)
		return 2;
	return utf8_width_lookup(cp);
}

/* Some sequences count as one character: emoji that zero width joiners put together, an emoji and a
   skin tone, and a character that a variation selector makes an emoji. `first` and `last`: the
   first and the last code point of the sequence so far. */

#define ZWJ 0x200D /* zero width joiner */

static inline bool utf8_is_skin_tone(uint32_t cp)
{
	return cp >= 0x1F3FB && cp <= 0x1F3FF;
}

/* A quick test before utf8_joins(): false for most characters. */
static inline bool utf8_may_join(uint32_t cp)
{
	return (cp >= 0x203C && cp < 0x23FB) || (cp >= 0x25AA && cp < 0x3300) || cp >= 0x1F000;
}

/* Whether `cp`, which has a width of its own, is a part of the character before it. */
bool utf8_joins(uint32_t first, uint32_t last, uint32_t cp);

/* The width of a one-column character after `cp` has become a part of it. */
unsigned utf8_width_joined(uint32_t first, uint32_t last, uint32_t cp);

#endif
