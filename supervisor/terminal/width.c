// See width.h.

#include "supervisor/terminal/width.h"

#include <stddef.h>
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
