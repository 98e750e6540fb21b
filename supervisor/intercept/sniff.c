// See sniff.h.

#include "supervisor/intercept/sniff.h"

#include "supervisor/base/utf8.h"

#include <string.h>

/* BEL BS TAB LF VT FF CR SO SI ESC: what text for a terminal may hold. */
static bool is_terminal_control(uint32_t cp)
{
	return (cp >= 0x07 && cp <= 0x0F) || cp == 0x1B;
}

bool sniff_is_binary(const char *data, size_t len)
{
	if (len > SNIFF_LEN)
		len = SNIFF_LEN;
	if (len == 0)
		return false;
	if (memchr(data, '\0', len))
		return true;
	size_t cut;
	size_t whole = utf8_incomplete(data, len, &cut) ? len - cut : len;
	size_t bad = 0;
	for (size_t i = 0; i < whole;) {
		uint32_t cp;
		size_t n = utf8_decode(data + i, whole - i, &cp);
		bool invalid = cp == UTF8_REPLACEMENT && (n != 3 || (unsigned char)data[i] != 0xEF);
		if (invalid || (cp < 0x20 && !is_terminal_control(cp)) || cp == 0x7F)
			bad += n;
		i += n;
	}
	return bad * 10 > len * 3;
}
