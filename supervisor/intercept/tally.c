// See tally.h.

#include "supervisor/intercept/tally.h"

#include "supervisor/artifact/newline.h"

#include <string.h>

/* Notes bytes of the unfinished line. */
static void begin_line(struct tally *t, const char *data, size_t len)
{
	if (len == 0)
		return;
	for (size_t i = 0; i < len && t->length + i < TALLY_FRONT; i++)
		t->front[t->length + i] = data[i];
	t->length += len;
	if (t->length > TALLY_FRONT)
		t->front[TALLY_FRONT - 1] = data[len - 1];
	if (t->length > t->longest)
		t->longest = t->length;
}

static bool counts(const struct tally *t)
{
	size_t kept = t->length < TALLY_FRONT ? (size_t)t->length : TALLY_FRONT;

	return limit_counts(t->unit, t->front, kept);
}

/* Takes whole lines of which nothing but their number is asked. Returns how many bytes. */
static size_t skip_lines(struct tally *t, const char *data, size_t len)
{
	const char *last = memrchr(data, '\n', len);
	size_t skipped = last ? (size_t)(last - data) + 1 : 0;
	uint64_t count = newline_count(data, skipped);

	t->lines += count;
	t->units += count;
	if (last)
		t->length = 0;
	return skipped;
}

void tally_feed(struct tally *t, const char *data, size_t len)
{
	const char *newline;

	t->bytes += len;
	if (t->unit == UNIT_LINES && !t->by_line && len > 0) {
		size_t skipped = skip_lines(t, data, len);

		data += skipped;
		len -= skipped;
	}
	while (len > 0 && (newline = memchr(data, '\n', len))) {
		size_t line = (size_t)(newline - data);

		if (t->length > 0 || line == 0) {
			begin_line(t, data, line);
			t->units += counts(t);
			t->length = 0;
		} else {
			t->units += limit_counts(t->unit, data, line);
			if (line > t->longest)
				t->longest = line;
		}
		t->lines++;
		data += line + 1;
		len -= line + 1;
	}
	begin_line(t, data, len);
}

void tally_skip(struct tally *t, uint64_t bytes, uint64_t newlines)
{
	t->bytes += bytes;
	t->lines += newlines;
	t->units += t->unit == UNIT_LINES ? newlines : 0;
}

uint64_t tally_lines(const struct tally *t)
{
	return t->lines + (t->length > 0);
}

uint64_t tally_units(const struct tally *t)
{
	return t->units + (t->length > 0 && counts(t));
}
