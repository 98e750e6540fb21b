// See nearest.h. The distance counts inserted, left out, replaced and swapped
// characters (optimal string alignment).

#include "config/nearest.h"

#include <stdio.h>
#include <string.h>

/* Longer words have no near ones. */
enum { WORD_MAX = 48 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;
	return least < c ? least : c;
}

/* Both at most WORD_MAX long. Keeps the last three rows of the usual table. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][WORD_MAX + 1];

	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *last = rows[(i + 2) % 3];
		const unsigned *older = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned other = a[i - 1] != b[j - 1];

			row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + other);
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
	if (len > 0 && len <= WORD_MAX)
		n->distance = len < 3 ? 2 : (unsigned)(len + 1) / 3 + 1; /* one slip in three */
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t word_len = strlen(n->word), len = strlen(candidate);
	unsigned d;

	if (n->distance == 0 || len > WORD_MAX)
		return;
	d = distance(n->word, word_len, candidate, len);
	if (d < n->distance && d < len) {
		n->best = candidate;
		n->distance = d;
	}
}

const char *nearest_reason(char out[NEAREST_LEN], const char *what, const char *best)
{
	snprintf(out, NEAREST_LEN, best ? "no such %s (did you mean %s?)" : "no such %s", what,
		 best);
	return out;
}
