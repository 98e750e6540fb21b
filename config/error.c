// See error.h. The distance counts inserted, removed, replaced and swapped characters (optimal
// string alignment).

#include "config/error.h"

#include "lib/quote.h"
#include "lib/utf8.h"

#include <stdio.h>
#include <string.h>

/* Both are at most NEAREST_WORD long. Keeps the last three rows of the matrix. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][NEAREST_WORD + 1];
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *last = rows[(i + 2) % 3];
		const unsigned *older = rows[(i + 1) % 3];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned other = a[i - 1] != b[j - 1];
			row[j] = last[j - 1] + other;
			if (last[j] + 1 < row[j])
				row[j] = last[j] + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    older[j - 2] + 1 < row[j])
				row[j] = older[j - 2] + 1;
		}
	}
	return rows[a_len % 3][b_len];
}

void nearest_init(struct nearest *n, const char *word)
{
	size_t len = strlen(word);
	*n = (struct nearest){.word = word};
	if (len > 0 && len <= NEAREST_WORD)
		n->distance = len < 3 ? 2 : (unsigned)(len + 1) / 3 + 1; /* one slip in three */
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t word_len = strlen(n->word), len = strlen(candidate);
	if (n->distance == 0 || len > NEAREST_WORD)
		return;
	unsigned d = distance(n->word, word_len, candidate, len);
	if (d < n->distance && d < len) {
		n->best = memcpy(n->room, candidate, len + 1);
		n->distance = d;
	}
}

const char *nearest_reason(char out[NEAREST_LEN], const char *what, const char *best)
{
	snprintf(out, NEAREST_LEN, best ? "no such %s (did you mean %s?)" : "no such %s", what,
		 best);
	return out;
}

/* The most bytes of each part. All parts together fit into an option_error. */
enum { WHERE_MAX = 160, VALUE_MAX = 60, REASON_MAX = 120, BETWEEN_MAX = 40 };
_Static_assert(WHERE_MAX + 3 * VALUE_MAX + REASON_MAX + BETWEEN_MAX <= sizeof(struct option_error),
	       "a message has room for all of its parts");

/* Takes a character from the string, clean. Returns its length in `encoded`. */
static size_t error_take(const char **string, char encoded[4])
{
	uint32_t cp;
	*string += utf8_decode(*string, strnlen(*string, 4), &cp);
	if (!quote_is_plain(cp))
		cp = UTF8_REPLACEMENT;
	return utf8_put(cp, encoded);
}

void config_error_write(const struct config_error *c, struct option_error *error)
{
	char out[sizeof(error->text)], encoded[4], line[BETWEEN_MAX] = ": ";
	const char *where = c->where;
	size_t len = 0;
	for (const char *end = where; *end;)
		len += error_take(&end, encoded);
	bool cut = len > WHERE_MAX;
	while (len > WHERE_MAX)
		len -= error_take(&where, encoded);
	if (c->line > 0)
		snprintf(line, sizeof(line), ":%u: ", c->line);
	const struct {
		const char *before, *text, *after; /* text NULL: the part is left out */
		size_t most;
	} parts[] = {
		{cut ? "..." : "", where, line, WHERE_MAX},
		{"[", c->section, c->key ? "] " : "]: ", VALUE_MAX},
		{"", c->key, ": ", VALUE_MAX},
		{"", c->value && *c->value ? c->value : NULL, ": ", VALUE_MAX},
		{"", c->reason, "", REASON_MAX},
	};
	len = 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *text = parts[i].text, *dots = "";
		if (!text)
			continue;
		len = (size_t)(stpcpy(out + len, parts[i].before) - out);
		for (size_t most = len + parts[i].most; *text && !*dots;) {
			size_t n = error_take(&text, encoded);
			if (len + n > most) {
				dots = "...";
			} else {
				memcpy(out + len, encoded, n);
				len += n;
			}
		}
		len = (size_t)(stpcpy(stpcpy(out + len, dots), parts[i].after) - out);
	}
	memcpy(error->text, out, len + 1);
}
