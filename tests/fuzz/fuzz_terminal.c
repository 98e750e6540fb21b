// Any stream gives the same text however it is cut and in either gear, what is
// pending is what comes at the end, and plain lines come out as they went in.

#include "supervisor/base/buffer.h"
#include "supervisor/terminal/internal.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first bytes of the input: the size of the window, and what else is done. */
#define HEADER 4

enum {
	ONLCR = 1,
	STRIP = 2,
	RESIZE = 4,
	COMMIT = 8,
	LARGE = 16,
	LOOK = 32,
	REPEAT = 64,
};

/* What the append gear hands on without copying is longer than inputs are: with
   REPEAT the stream is so many times as long. */
#define REPEATS 40

static void keep(void *ctx, const char *data, size_t len)
{
	assert(len > 0);
	assert(buffer_append(ctx, data, len) == 0);
}

static void drop(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	assert(len > 0 && data[0] == '\033');
}

struct run {
	struct terminal_options options;
	bool grid;
	bool single;   /* byte by byte */
	uint32_t seed; /* otherwise in pieces, unless 0 */
	unsigned flags;
};

static size_t piece(const struct run *run, uint32_t *state, size_t left)
{
	size_t n = left;

	if (run->single)
		n = 1;
	if (run->seed) {
		*state = *state * 1103515245 + 12345;
		n = 1 + (*state >> 16) % (run->flags & REPEAT ? 9000 : 17);
	}
	return n < left ? n : left;
}

/* Looks at everything; returns nothing but must not crash or change anything. */
static void look(const struct terminal *t)
{
	struct buffer out = BUFFER_INIT;
	unsigned row, col;

	assert(terminal_picture(t, &out, &row, &col) == 0);
	assert(row >= 1 && col >= 1);
	assert(terminal_pending(t, &out) == 0);
	buffer_release(&out);
}

/* Runs the stream; the text is in `out`. Returns whether it was lossy. */
static bool render(const struct run *run, const char *data, size_t len, struct buffer *out)
{
	struct terminal_events events = {keep, drop, out};
	struct terminal *t = terminal_new(&run->options, &events);
	struct buffer pending = BUFFER_INIT;
	uint32_t state = run->seed;
	size_t at, n;
	bool lossy;

	assert(t);
	if (run->grid && run->options.collapse)
		terminal_force_grid(t);
	for (at = 0; at < len; at += n) {
		n = piece(run, &state, len - at);
		terminal_feed(t, data + at, n);
		if (run->flags & COMMIT)
			terminal_commit(t, terminal_lines(t) - (at & 1));
		if ((run->flags & RESIZE) && at % 3 == 0)
			terminal_resize(t, 2 + (unsigned)(at * 7 % 30), 2 + (unsigned)(at % 11));
		if (run->flags & LOOK)
			look(t);
	}
	lossy = terminal_is_lossy(t);
	/* An unfinished character is not pending yet. */
	if (len && (unsigned char)data[len - 1] < 0x80) {
		assert(buffer_append(&pending, out->data, out->len) == 0);
		assert(terminal_pending(t, &pending) == 0);
	}
	terminal_finish(t);
	if (len && (unsigned char)data[len - 1] < 0x80)
		assert(pending.len == out->len &&
		       (!out->len || memcmp(pending.data, out->data, out->len) == 0));
	buffer_release(&pending);
	terminal_free(t);
	return lossy;
}

static bool equal(const struct buffer *a, const struct buffer *b)
{
	return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

static bool is_plain(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)data[i];

		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F || c == 0xC2)
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct buffer first = BUFFER_INIT;
	struct buffer other = BUFFER_INIT;
	struct run run = {{0}, false, false, 0, 0};
	struct buffer stream = BUFFER_INIT;
	const char *data;
	size_t len;
	unsigned flags, i;
	bool lossy;

	if (size < HEADER)
		return 0;
	flags = input[2];
	run.options.cols = 2 + input[0] % 40;
	run.options.rows = 2 + input[1] % 12;
	if (flags & LARGE) {
		run.options.cols = 120;
		run.options.rows = 40;
	}
	if (flags & REPEAT)
		flags &= ~(unsigned)LOOK;
	run.options.onlcr = flags & ONLCR;
	run.options.collapse = !(flags & STRIP);

	for (i = 0; i < (flags & REPEAT ? REPEATS : 1); i++)
		assert(buffer_append(&stream, input + HEADER, size - HEADER) == 0);
	data = stream.data;
	len = stream.len;

	lossy = render(&run, data, len, &first);
	if ((flags & ONLCR) && is_plain(data, len))
		assert(first.len == len && (!len || memcmp(first.data, data, len) == 0));

	run.grid = true;
	assert(render(&run, data, len, &other) == lossy);
	assert(equal(&first, &other));
	buffer_clear(&other);

	run.single = !(flags & REPEAT);
	run.grid = input[3] & 1;
	assert(render(&run, data, len, &other) == lossy);
	assert(equal(&first, &other));
	buffer_clear(&other);

	run.single = false;
	run.seed = input[3] | 1;
	run.grid = false;
	run.flags = flags & (LOOK | REPEAT);
	assert(render(&run, data, len, &other) == lossy);
	assert(equal(&first, &other));
	buffer_clear(&other);

	run.flags = flags & (COMMIT | RESIZE | LOOK | REPEAT);
	render(&run, data, len, &other);
	if (!lossy && !(flags & RESIZE))
		assert(equal(&first, &other));

	buffer_release(&stream);
	buffer_release(&first);
	buffer_release(&other);
	return 0;
}
