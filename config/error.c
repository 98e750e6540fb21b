// See error.h. The distance counts inserted, removed, replaced and swapped characters (optimal
// string alignment).

#include "config/error.h"

#include "lib/buffer.h"
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
		n->distance = len < 3 ? 2 : (unsigned)(len + 1) / 3 + 1; /* one wrong character in
									    three */
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

/* Adds a part; one longer than `most` bytes is cut, and ends with dots. NULL: there is none. */
static void error_add(struct buffer *out, const char *before, const char *text, size_t most,
		      const char *after)
{
	if (!text)
		return;
	buffer_append_string(out, before);
	size_t start = out->len;
	quote_text(out, text, strlen(text), 0);
	if (out->len - start > most) {
		buffer_truncate(out, start + utf8_floor(out->data + start, out->len - start, most));
		buffer_append_string(out, "...");
	}
	buffer_append_string(out, after);
}

void config_error_write(const struct config_error *c, struct option_error *error)
{
	struct buffer out = BUFFER_INIT, where = BUFFER_INIT;
	char line[BETWEEN_MAX] = ": ";
	size_t cut = 0;
	if (c->line > 0)
		snprintf(line, sizeof(line), ":%u: ", c->line);
	/* The end of a path says more than its beginning. */
	quote_text(&where, c->where, strlen(c->where), 0);
	if (where.len > WHERE_MAX)
		cut = utf8_floor(where.data, where.len, where.len - WHERE_MAX);
	buffer_printf(&out, "%s%.*s%s", cut ? "..." : "", (int)(where.len - cut),
		      where.len ? where.data + cut : "", line);
	error_add(&out, "[", c->section, VALUE_MAX, c->key ? "] " : "]: ");
	error_add(&out, "", c->key, VALUE_MAX, ": ");
	error_add(&out, "", c->value && *c->value ? c->value : NULL, VALUE_MAX, ": ");
	error_add(&out, "", c->reason, REASON_MAX, "");
	/* If memory runs out, the message is only the reason, which may already be in
	   error->text. */
	if (buffer_string(&out))
		snprintf(error->text, sizeof(error->text), "%s", out.data);
	else if (c->reason != error->text)
		snprintf(error->text, sizeof(error->text), "%s", c->reason);
	buffer_release(&where);
	buffer_release(&out);
}
