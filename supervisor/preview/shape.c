#include "supervisor/preview/shape.h"

#include "supervisor/preview/chars.h"

uint32_t shape_hash(uint32_t hash, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)data[i]) * 16777619u;
	return hash;
}

static uint32_t mix(uint32_t hash, uint32_t value)
{
	return (hash ^ value) * 16777619u;
}

uint32_t shape_of(const char *text, size_t len)
{
	uint32_t hash = SHAPE_SEED;
	size_t at = 0;

	while ((at = skip_blanks(text, len, at)) < len) {
		size_t start = at;
		uint32_t token = SHAPE_SEED;

		while (at < len && !is_blank(text[at])) {
			char c = text[at++];

			if (is_digit(c)) {
				size_t from = at;

				/* Letters behind a digit are part of a hash, or a unit. */
				while (at < len && (is_digit(text[at]) || is_letter(text[at])))
					at++;
				/* "0 failed" is not like "3 failed". */
				if (c != '0' || at > from)
					c = '1';
			} else if (c == '/' && at - start > 1) {
				while (at < len && !is_blank(text[at]) && text[at] != ':')
					at++;
				token = SHAPE_SEED;
			}
			token = mix(token, (unsigned char)c);
		}
		hash = mix(hash, token);
	}
	return hash;
}

uint32_t shape_of_opening(const char *text, size_t len)
{
	uint32_t hash = SHAPE_SEED;

	for (size_t i = 0; i < len && !is_blank(text[i]) && !is_one_of(text[i], "(/"); i++) {
		if (!is_digit(text[i]))
			hash = mix(hash, (unsigned char)text[i]);
		else if (i == 0 || !is_digit(text[i - 1]))
			hash = mix(hash, '0');
	}
	return hash;
}
