// See error.h. The distance counts inserted, removed, replaced and swapped characters (optimal
// string alignment).

#include "config/error.h"

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
	unsigned d;
	if (n->distance == 0 || len > NEAREST_WORD)
		return;
	d = distance(n->word, word_len, candidate, len);
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

struct text {
	char bytes[sizeof(struct option_error)];
	size_t len;
};

/* Adds short text that is known to be clean. */
static void add_plain(struct text *t, const char *plain)
{
	size_t len = strlen(plain);
	memcpy(t->bytes + t->len, plain, len);
	t->len += len;
}

/* Takes a character from the string, clean. Returns its length in `encoded`. */
static size_t error_take(const char **string, char encoded[4])
{
	uint32_t cp;
	*string += utf8_decode(*string, strnlen(*string, 4), &cp);
	if (!utf8_is_clean(cp) || cp == '\n' || cp == '\t')
		cp = UTF8_REPLACEMENT;
	return utf8_put(cp, encoded);
}

/* Adds up to `max` bytes, and dots for the rest. */
static void error_add_clean(struct text *t, const char *string, size_t max)
{
	char encoded[4];
	for (size_t end = t->len + max; *string;) {
		size_t len = error_take(&string, encoded);
		if (t->len + len > end) {
			add_plain(t, "...");
			return;
		}
		memcpy(t->bytes + t->len, encoded, len);
		t->len += len;
	}
}

void config_error_write(const struct config_error *c, struct option_error *error)
{
	struct text t = {.len = 0};
	const char *where = c->where, *end = where;
	char encoded[4];
	size_t len = 0;
	while (*end)
		len += error_take(&end, encoded);
	if (len > WHERE_MAX)
		add_plain(&t, "...");
	while (len > WHERE_MAX)
		len -= error_take(&where, encoded);
	error_add_clean(&t, where, WHERE_MAX);
	if (c->line > 0)
		t.len += (size_t)snprintf(t.bytes + t.len, BETWEEN_MAX, ":%u", c->line);
	add_plain(&t, ": ");
	if (c->section) {
		add_plain(&t, "[");
		error_add_clean(&t, c->section, VALUE_MAX);
		add_plain(&t, c->key ? "] " : "]: ");
	}
	if (c->key) {
		error_add_clean(&t, c->key, VALUE_MAX);
		add_plain(&t, ": ");
	}
	if (c->value && *c->value != '\0') {
		error_add_clean(&t, c->value, VALUE_MAX);
		add_plain(&t, ": ");
	}
	error_add_clean(&t, c->reason, REASON_MAX);
	memcpy(error->text, t.bytes, t.len);
	error->text[t.len] = '\0';
}
