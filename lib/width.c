// See width.h.

#include "lib/width.h"

#include <stddef.h>
#include <string.h>
#include <utf8proc.h>

/* Where terminals decide otherwise than utf8proc 2.8. */
static const struct {
	uint32_t first, last;
	unsigned width;
} exceptions[] = {
	{0x1160, 0x11FF, 0},   /* Hangul vowels and finals: drawn into the syllable */
	{0x2028, 0x2029, 1},   /* line and paragraph separator: no effect in a terminal */
	{0xF900, 0xFAFF, 2},   /* CJK compatibility ideographs, unassigned ones too */
	{0x20000, 0x2FFFD, 2}, /* CJK extensions, unassigned ones too (UAX 11) */
	{0x30000, 0x3FFFD, 2},
};

unsigned width_lookup(uint32_t cp)
{
	const utf8proc_property_t *property;
	size_t i;

	for (i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (cp >= exceptions[i].first && cp <= exceptions[i].last)
			return exceptions[i].width;

	property = utf8proc_get_property((utf8proc_int32_t)cp);
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

	return property->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

bool width_joins(uint32_t first, uint32_t last, uint32_t cp)
{
	if (width_is_skin_tone(cp))
		return is_emoji(first);
	return last == ZWJ && is_emoji(first) && is_emoji(cp);
}

unsigned width_joined(uint32_t first, uint32_t last, uint32_t cp)
{
	if (cp == KEYCAP && last == EMOJI_SELECTOR)
		return first < 0x80 && strchr("0123456789#*", (int)first) ? 2 : 1;
	if (cp == EMOJI_SELECTOR)
		return is_emoji(first) ? 2 : 1;
	return width_of(cp) == 2 ? 2 : 1;
}
