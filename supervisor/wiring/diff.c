// See diff.h.

#include "supervisor/wiring/diff.h"

#include "supervisor/base/buffer.h"
#include "supervisor/report/quote.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	CONTEXT = 3,
	/* Cells of the table of common lines; beyond that all lines in between are replaced. */
	CELLS_MAX = 4 << 20,
};

struct lines {
	const char **start; /* one more than there are: the end of the text */
	size_t count;
};

static int split(struct lines *l, const struct diff_text *t)
{
	size_t count = 0;
	const char *at = t->data, *end = t->data + t->len;

	for (size_t i = 0; i < t->len; i++)
		count += t->data[i] == '\n';
	l->start = malloc((count + 2) * sizeof(*l->start));
	if (!l->start)
		return -1;
	for (l->count = 0; at < end; l->count++) {
		const char *next = memchr(at, '\n', (size_t)(end - at));

		l->start[l->count] = at;
		at = next ? next + 1 : end;
	}
	l->start[l->count] = end;
	return 0;
}

static size_t diff_length(const struct lines *l, size_t i)
{
	return (size_t)(l->start[i + 1] - l->start[i]);
}

static bool diff_is_same(const struct lines *a, size_t i, const struct lines *b, size_t k)
{
	return diff_length(a, i) == diff_length(b, k) &&
	       memcmp(a->start[i], b->start[k], diff_length(a, i)) == 0;
}

/* What becomes of each line: kept[i] of the first text, new[k] of the second. */
struct marks {
	bool *lost, *added;
};

/* The longest common part of what is between equal starts and ends. */
static int diff_compare(const struct lines *a, const struct lines *b, struct marks *m)
{
	size_t from = 0, enda = a->count, endb = b->count;

	while (from < enda && from < endb && diff_is_same(a, from, b, from))
		from++;
	while (enda > from && endb > from && diff_is_same(a, enda - 1, b, endb - 1)) {
		enda--;
		endb--;
	}
	size_t rows = enda - from, columns = endb - from;
	memset(m->lost + from, 1, rows);
	memset(m->added + from, 1, columns);
	if (rows == 0 || columns == 0 || rows > CELLS_MAX / columns)
		return 0;
	uint32_t *table = calloc((rows + 1) * (columns + 1), sizeof(*table));
	if (!table)
		return -1;
#define CELL(i, k) table[(i) * (columns + 1) + (k)]
	for (size_t i = rows; i-- > 0;) {
		for (size_t k = columns; k-- > 0;) {
			uint32_t down = CELL(i + 1, k), right = CELL(i, k + 1);

			CELL(i, k) = diff_is_same(a, from + i, b, from + k) ? CELL(i + 1, k + 1) + 1
				     : down > right                         ? down
									    : right;
		}
	}
	for (size_t i = 0, k = 0; i < rows && k < columns;) {
		if (diff_is_same(a, from + i, b, from + k)) {
			m->lost[from + i++] = false;
			m->added[from + k++] = false;
		} else if (CELL(i + 1, k) >= CELL(i, k + 1)) {
			i++;
		} else {
			k++;
		}
	}
#undef CELL
	free(table);
	return 0;
}

static int diff_write_line(struct buffer *out, char mark, const struct lines *l, size_t i)
{
	size_t len = diff_length(l, i);
	int status = buffer_append(out, &mark, 1) < 0 || buffer_append(out, l->start[i], len) < 0
			     ? -1
			     : 0;

	if (len == 0 || l->start[i][len - 1] != '\n')
		status |= buffer_append_string(out, "\n\\ No newline at end of file\n");
	return status;
}

/* One piece: the lines [i, endi) of the first text and [k, endk) of the second. */
static int write_piece(struct buffer *out, const struct lines *a, const struct lines *b,
		       const struct marks *m, const size_t at[4])
{
	size_t i = at[0], endi = at[1], k = at[2], endk = at[3];
	int status = buffer_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", endi > i ? i + 1 : i, endi - i,
				   endk > k ? k + 1 : k, endk - k);

	while (i < endi || k < endk) {
		if (i < endi && m->lost[i])
			status |= diff_write_line(out, '-', a, i++);
		else if (k < endk && m->added[k])
			status |= diff_write_line(out, '+', b, k++);
		else {
			status |= diff_write_line(out, ' ', a, i++);
			k++;
		}
	}
	return status;
}

static int diff_write_all(struct buffer *out, const struct lines *a, const struct lines *b,
			  const struct marks *m)
{
	size_t i = 0, k = 0;
	int status = 0;

	for (;;) {
		while (i < a->count && k < b->count && !m->lost[i] && !m->added[k]) {
			i++;
			k++;
		}
		if ((i >= a->count || !m->lost[i]) && (k >= b->count || !m->added[k]))
			return status;
		size_t lead = i < CONTEXT ? i : CONTEXT, same = 0;
		size_t at[4] = {i - lead, 0, k - lead, 0};
		/* Up to where more lines are the same than context around both sides needs. */
		while ((i < a->count || k < b->count) && same <= (size_t)2 * CONTEXT) {
			if (i < a->count && m->lost[i]) {
				i++;
				same = 0;
			} else if (k < b->count && m->added[k]) {
				k++;
				same = 0;
			} else {
				i++;
				k++;
				same++;
			}
		}
		size_t back = same > CONTEXT ? same - CONTEXT : 0;
		at[1] = i - back;
		at[3] = k - back;
		status |= write_piece(out, a, b, m, at);
	}
}

static int write_name(struct buffer *out, const char *mark, const char *name)
{
	if (buffer_append_string(out, mark) < 0 || quote_text(out, name, strlen(name), 0) < 0)
		return -1;
	return buffer_append(out, "\n", 1);
}

int diff_append(struct buffer *out, const struct diff_text *before, const struct diff_text *after)
{
	struct lines a = {NULL, 0}, b = {NULL, 0};
	struct marks m = {NULL, NULL};
	int status = -1;

	if (before->len == after->len && memcmp(before->data, after->data, after->len) == 0)
		return 0;
	if (split(&a, before) < 0 || split(&b, after) < 0)
		goto out;
	m.lost = calloc(a.count + 1, 1);
	m.added = calloc(b.count + 1, 1);
	if (!m.lost || !m.added || diff_compare(&a, &b, &m) < 0)
		goto out;
	status = write_name(out, "--- ", before->name) < 0 ||
				 write_name(out, "+++ ", after->name) < 0 ||
				 diff_write_all(out, &a, &b, &m) < 0
			 ? -1
			 : 0;
out:
	free(m.lost);
	free(m.added);
	free(a.start);
	free(b.start);
	return status;
}
