#include "supervisor/preview/internal.h"

#include <string.h>

enum {
	/* The most lines that are looked at. */
	ALIKE_LOOK = 64,
};

static bool is_of_name(char c)
{
	return is_letter(c) || is_digit(c) || is_one_of(c, "_-./");
}

/* Returns the length of a number, or of a time with or without a date: digits and their
   separators. */
static size_t number_len(const char *text, size_t len)
{
	size_t n = skip_digits(text, len, 0);
	while (n + 1 < len && is_one_of(text[n], ":.-TZ") && is_digit(text[n + 1]))
		n = skip_digits(text, len, n + 1);
	return n + (n < len && text[n] == 'Z' && memchr(text, ':', n));
}

bool run_counts_on(const struct line *before, const struct line *line)
{
	const char *a = before->front, *b = line->front;
	size_t a_len = before->front_len, b_len = line->front_len, i = 0, k = 0;
	bool counted = false, words = false;
	if (!line_is_whole(before) || !line_is_whole(line))
		return false;
	while (i < a_len && k < b_len) {
		words |= is_letter(a[i]);
		if (!is_digit(a[i]) || !is_digit(b[k])) {
			if (a[i++] != b[k++])
				return false;
			continue;
		}
		size_t n = number_len(a + i, a_len - i), m = number_len(b + k, b_len - k);
		size_t end = k + m;
		if ((n != m || memcmp(a + i, b + k, n) != 0) &&
		    !(memchr(a + i, ':', n) && memchr(b + k, ':', m))) {
			/* Neither number is a time. The first number that stands alone may be a
			   counter; in "part_3.log" the number is a part of a name. */
			bool is_part =
				(k > 0 && is_of_name(b[k - 1])) ||
				(end + 1 < b_len && is_of_name(b[end]) && is_of_name(b[end + 1]) &&
				 !(b[end] == '/' && is_digit(b[end + 1])));
			bool is_greater = m > n || (m == n && memcmp(b + k, a + i, n) > 0);
			if (counted || is_part || !is_greater)
				return false;
			counted = true;
		}
		i += n;
		k = end;
	}
	return words && i == a_len && k == b_len;
}

struct run run_of(const struct line *line, uint32_t shape)
{
	return (struct run){
		.line = *line, .to = line->number, .length = line->length, .shape = shape};
}

static const struct line *run_end(const struct run *r)
{
	return r->kind ? &r->last : &r->line;
}

/* Returns the kind of run that two runs would form if they were joined. */
static enum run_kind kind_of_both(const struct run *a, const struct run *b)
{
	const struct line *x = run_end(a), *y = &b->line;
	enum run_kind kind = a->kind > b->kind ? a->kind : b->kind;
	if (a->to + 1 != y->number)
		return RUN_NONE;
	if (x->length == y->length && line_is_whole(x) && line_is_whole(y) &&
	    memcmp(x->front, y->front, x->length) == 0)
		return kind;
	if (kind <= RUN_COUNTS && run_counts_on(x, y))
		return RUN_COUNTS;
	return a->shape && a->shape == b->shape ? RUN_ALIKE : RUN_NONE;
}

static void run_add(struct run *r, const struct run *next, enum run_kind kind)
{
	struct line last = *run_end(next);
	last.offset = next->line.offset + next->length - last.length;
	r->last = last;
	r->to = next->to;
	r->length += next->length;
	r->kind = kind;
}

void run_cut(struct run *r, const struct run *of)
{
	uint64_t end = of->line.offset + of->length;
	*r = (struct run){.line = r->line,
			  .last = of->last,
			  .to = of->to,
			  .length = end - r->line.offset,
			  .kind = of->kind,
			  .shape = of->shape};
}

size_t run_join(void *array, size_t count, size_t stride, enum run_kind most)
{
	struct run *last = (struct run *)((char *)array + count * stride - stride), *r = last;
	enum run_kind kind = RUN_EQUAL, both;
	uint64_t length = 0;
	size_t n = 1;
	for (; n < count && n < ALIKE_LOOK; n++) {
		struct run *above = (struct run *)((char *)r - stride);
		both = kind_of_both(above, r);
		if (both > most)
			break;
		if (n == 1 && (above->kind || both == RUN_EQUAL)) {
			run_add(above, last, both);
			return 1;
		}
		if (above->kind)
			break;
		kind = both > kind ? both : kind;
		length += r->length;
		r = above;
	}
	struct run *second = (struct run *)((char *)r + stride);
	size_t end = size_min(run_end(last)->length, ALIKE_LAST);
	if (n < 3 || length < 2 * (second->line.length + end) + LINE_COST)
		return 0;
	for (r = second; r < last;) {
		r = (struct run *)((char *)r + stride);
		run_add(second, r, kind);
	}
	return n - 2;
}
