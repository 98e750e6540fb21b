#include "supervisor/preview/window.h"

#include <stdlib.h>
#include <string.h>

int window_init(struct window *w, size_t head, size_t tail)
{
	*w = (struct window){.head_cap = head, .tail_keep = tail};
	w->head = malloc(head + 1);
	/* Twice the size, so that it is moved only once per `tail` bytes. */
	w->tail = malloc(2 * tail + 1);
	if (!w->head || !w->tail) {
		window_release(w);
		return -1;
	}
	return 0;
}

void window_release(struct window *w)
{
	free(w->head);
	free(w->tail);
	w->head = NULL;
	w->tail = NULL;
}

typedef unsigned char bytes16 __attribute__((vector_size(16)));

static size_t window_count_newlines(const char *data, size_t len)
{
	size_t i = 0, n = 0;

	while (len - i >= sizeof(bytes16)) {
		size_t rounds = (len - i) / sizeof(bytes16);
		bytes16 sum = {0}, block;

		/* Each byte of the sum can count to 255. */
		if (rounds > 255)
			rounds = 255;
		for (; rounds; rounds--, i += sizeof(block)) {
			memcpy(&block, data + i, sizeof(block));
			sum -= (bytes16)(block == '\n');
		}
		for (size_t k = 0; k < sizeof(sum); k++)
			n += sum[k];
	}
	for (; i < len; i++)
		n += data[i] == '\n';
	return n;
}

static void note_starts(struct window *w, const char *data, size_t len)
{
	const char *last = memrchr(data, '\n', len);
	const char *prev;

	if (!last)
		return;
	prev = memrchr(data, '\n', (size_t)(last - data));
	w->prev_start = prev ? w->bytes + (size_t)(prev - data) + 1 : w->last_start;
	w->last_start = w->bytes + (size_t)(last - data) + 1;
}

static void keep_tail(struct window *w, const char *data, size_t len)
{
	if (len >= w->tail_keep) {
		memcpy(w->tail, data + len - w->tail_keep, w->tail_keep);
		w->tail_len = w->tail_keep;
		return;
	}
	if (w->tail_len + len > 2 * w->tail_keep) {
		size_t keep = w->tail_keep - len;

		memmove(w->tail, w->tail + w->tail_len - keep, keep);
		w->tail_len = keep;
	}
	memcpy(w->tail + w->tail_len, data, len);
	w->tail_len += len;
}

void window_feed(struct window *w, const char *data, size_t len, bool count)
{
	size_t n = 0;

	if (len == 0)
		return;
	if (w->head_len < w->head_cap) {
		n = w->head_cap - w->head_len;
		if (n > len)
			n = len;
		memcpy(w->head + w->head_len, data, n);
		w->head_len += n;
	}
	if (w->head_len == w->head_cap && !w->head_end) {
		const char *newline = memchr(data + n, '\n', len - n);

		if (newline)
			w->head_end = w->bytes + (size_t)(newline - data) + 1;
	}
	if (count)
		w->newlines += window_count_newlines(data, len);
	note_starts(w, data, len);
	keep_tail(w, data, len);
	w->bytes += len;
}

void window_skip(struct window *w, uint64_t bytes, uint64_t newlines)
{
	/* What is kept has to be without a hole. */
	w->head_cap = w->head_len;
	w->tail_len = 0;
	w->bytes += bytes;
	w->newlines += newlines;
	w->prev_start = w->last_start = w->bytes;
}

uint64_t window_lines(const struct window *w)
{
	return w->newlines + (w->bytes > w->last_start);
}

/* The last tail_keep bytes and where they are in the text. */
static const char *tail_data(const struct window *w, size_t *len, uint64_t *offset)
{
	*len = w->tail_len < w->tail_keep ? w->tail_len : w->tail_keep;
	*offset = w->bytes - *len;
	return w->tail + w->tail_len - *len;
}

size_t window_last(const struct window *w, size_t most, const char **text, uint64_t *number)
{
	size_t len;
	uint64_t offset;
	const char *data = tail_data(w, &len, &offset), *end = data + len, *start = data;

	if (most < offset + len) {
		/* A line starts behind a newline. */
		if (most < len)
			start = end - most - 1;
		start = memchr(start, '\n', (size_t)(end - start));
		start = start ? start + 1 : end;
	}
	*text = start;
	*number = window_lines(w) - window_count_newlines(start, (size_t)(end - start)) -
		  (w->bytes > w->last_start) + 1;
	return (size_t)(end - start);
}

/* Moves the cursor to where the first line of the tail starts, which is behind
   what the head gave. */
static void enter_tail(const struct window *w, struct window_cursor *c)
{
	size_t len, skip = 0;
	uint64_t offset;
	const char *data = tail_data(w, &len, &offset);
	const char *newline;

	c->in_tail = true;
	if (c->offset >= offset)
		return;
	newline = memchr(data, '\n', len);
	skip = newline ? (size_t)(newline - data) + 1 : len;
	if (skip == len) {
		/* Not one line starts in the tail: the last one is longer. */
		c->offset = w->bytes > w->last_start ? w->last_start : w->prev_start;
		c->number = window_lines(w) - 1;
		return;
	}
	c->offset = offset + skip;
	c->number = window_lines(w) - window_count_newlines(data + skip, len - skip) -
		    (w->bytes > w->last_start);
}

/* A line that starts in the head, where its newline is not: its end may be in
   the tail or gone. Needs the offset of its end. */
static void window_cut_line(const struct window *w, struct line *line, uint64_t end)
{
	size_t len;
	uint64_t offset;
	const char *data = tail_data(w, &len, &offset);

	line->length = end - line->offset;
	line->ended = end <= w->last_start;
	if (line->offset < w->head_len) {
		line->front = w->head + line->offset;
		line->front_len = w->head_len - (size_t)line->offset;
	}
	if (end > offset) {
		line->back = data;
		line->back_len = (size_t)(end - offset) - line->ended;
	}
}

/* A line that lies in `data`, which is all there is from its start on. */
static void full_line(struct line *line, const char *data, size_t len)
{
	const char *newline = memchr(data, '\n', len);

	line->front = data;
	line->front_len = newline ? (size_t)(newline - data) + 1 : len;
	line->length = line->front_len;
	line->ended = newline != NULL;
}

bool window_next(const struct window *w, struct window_cursor *c, struct line *line)
{
	size_t len;
	uint64_t offset;
	const char *data = tail_data(w, &len, &offset);
	bool in_head = !c->in_tail && c->offset < w->head_len && c->offset < offset;

	*line = (struct line){.number = c->number + 1, .offset = c->offset};
	if (in_head) {
		full_line(line, w->head + c->offset, w->head_len - (size_t)c->offset);
		if (!line->ended && w->head_end)
			window_cut_line(w, line, w->head_end);
		in_head = line->ended;
	}
	if (!in_head) {
		if (!c->in_tail)
			enter_tail(w, c);
		if (c->offset >= w->bytes)
			return false;
		*line = (struct line){.number = c->number + 1, .offset = c->offset};
		if (c->offset < offset)
			window_cut_line(w, line, w->bytes);
		else
			full_line(line, data + (c->offset - offset),
				  (size_t)(w->bytes - c->offset));
	}
	c->number++;
	c->offset += line->length;
	return true;
}
