// A stream through a terminal, in one of several ways that must not matter; for
// the fuzzers of the terminal.
#ifndef TERSE_TESTS_FUZZ_TERMINAL_H
#define TERSE_TESTS_FUZZ_TERMINAL_H

#include "lib/buffer.h"
#include "supervisor/terminal/internal.h"

struct way {
	struct terminal_options options;
	bool grid;    /* the append gear stays off */
	size_t scan;  /* another variant of the scanner */
	size_t piece; /* bytes fed at a time at most, their number random; 0: all at once */
	uint32_t seed;
	bool stays;                /* about every other line that is written over */
	bool commit, resize, look; /* now and then */
};

static inline void keep(void *ctx, const char *data, size_t len)
{
	assert(len > 0);
	assert(buffer_try_append(ctx, data, len) == 0);
}

static inline void drop(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	assert(len > 0 && data[0] == '\033');
}

static inline bool is_odd(void *ctx, const char *line, size_t len)
{
	(void)ctx;
	(void)line;
	assert(len > 0);
	return len & 1;
}

static inline size_t next_piece(const struct way *way, uint32_t *state, size_t left)
{
	size_t n = left;

	if (way->piece) {
		*state = *state * 1103515245 + 12345;
		n = 1 + (*state >> 16) % way->piece;
	}
	return n < left ? n : left;
}

/* Looking must not crash or change anything. */
static inline void look(struct terminal *t)
{
	struct buffer out = BUFFER_INIT;
	unsigned row, col;

	assert(terminal_picture(t, &out, &row, &col) == 0);
	assert(row >= 1 && col >= 1);
	assert(terminal_pending(t, &out) == 0);
	buffer_release(&out);
}

/* Runs the stream; the text is in `out`, and is what was pending before the end. Returns whether it
   was lossy. */
static inline bool render(const struct way *way, const char *data, size_t len, struct buffer *out)
{
	const struct terminal_events events = {
		.text = keep, .reply = drop, .stays = way->stays ? is_odd : NULL, .ctx = out};
	struct terminal_options options = way->options;
	options.cells = way->grid;
	struct terminal *t = terminal_new(&options, &events);
	struct buffer pending = BUFFER_INIT;
	uint32_t state = way->seed;
	/* An unfinished character is not pending yet. */
	bool whole = len && (unsigned char)data[len - 1] < 0x80;

	assert(t);
	for (size_t i = 0; i < way->scan && scan_variants()[i]; i++)
		t->scan = scan_variants()[i];
	for (size_t at = 0, n; at < len; at += n) {
		n = next_piece(way, &state, len - at);
		terminal_feed(t, data + at, n);
		if (way->commit && at & 2)
			terminal_settle(t, (int64_t)at, 3, 7);
		else if (way->commit)
			terminal_commit(t);
		if (way->resize && at % 3 == 0)
			terminal_resize(t, 2 + (unsigned)(at * 7 % 30), 2 + (unsigned)(at % 11));
		if (way->look)
			look(t);
	}
	assert(buffer_try_append(&pending, out->data, out->len) == 0);
	assert(terminal_pending(t, &pending) == 0);
	terminal_finish(t);
	bool lossy = terminal_facts(t).is_lossy;
	assert(!whole || (pending.len == out->len &&
			  (!out->len || memcmp(pending.data, out->data, out->len) == 0)));
	buffer_release(&pending);
	terminal_free(t);
	return lossy;
}

static inline bool is_equal(const struct buffer *a, const struct buffer *b)
{
	return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

#endif
