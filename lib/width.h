// How many columns a character takes.
#ifndef TERSE_LIB_WIDTH_H
#define TERSE_LIB_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

/* The width of any character but the frequent ones below. */
unsigned width_lookup(uint32_t cp);

/* 0 (combining marks, joiners, format characters), 1 or 2 (East Asian wide,
   emoji). utf8proc's tables, made to agree with xterm and other terminals where
   these differ: see width.c. `cp` is no control character. */
static inline unsigned width_of(uint32_t cp)
{
	/* Latin and what begins beyond it; box drawing, blocks; Braille. */
	if (cp < 0x300 || (cp >= 0x2500 && cp < 0x25A0) || (cp >= 0x2800 && cp < 0x2900))
		return 1;
	/* Han */
	if (cp >= 0x4E00 && cp < 0xA000)
		return 2;
	return width_lookup(cp);
}

#define ZWJ 0x200D /* zero width joiner */

/* A character that programs count as one may be several: emoji that zero width joiners put together
   or that a skin tone follows, and what a variation selector makes an emoji. `first` and `last` are
   the parts so far. */

static inline bool width_is_skin_tone(uint32_t cp)
{
	return cp >= 0x1F3FB && cp <= 0x1F3FF;
}

/* Whether a character that has a width of its own is a part of the one before it; for most, the
   first says no. */
static inline bool width_may_join(uint32_t cp)
{
	return (cp >= 0x203C && cp < 0x23FB) || (cp >= 0x25AA && cp < 0x3300) || cp >= 0x1F000;
}
bool width_joins(uint32_t first, uint32_t last, uint32_t cp);

/* The width of one that had a single column, with this part. */
unsigned width_joined(uint32_t first, uint32_t last, uint32_t cp);

#endif
