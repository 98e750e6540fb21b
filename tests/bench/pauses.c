// A recorded output as an agent would have got it from a command that pauses: the text on standard
// input comes in pieces with random pauses between them. Time is a number here, so nothing is
// waited for.
//
//     pauses SIZE STATUS SEED PAUSES <LOG
//
// SIZE: bytes of the budget; STATUS: exit status; PAUSES: how many there are on average.

#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/intercept/interceptor.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line comes so much later than the one before, and a pause lasts so long, in ms. */
enum { LINE_MS = 3, SHORT_MS = 1500, LONG_MS = 120000 };

static const struct wording_place place = {.id = "cmd-1m7vwf5bqe9c"};

static uint64_t seed;

/* Uniform in [0, 1). */
static double chance(void)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

/* Short pauses are the more frequent ones. */
static int64_t pause_length(void)
{
	double x = chance();
	return SHORT_MS + (int64_t)(x * x * x * LONG_MS);
}

static void on_print(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	fwrite(data, 1, len, stdout);
}

static struct artifact *on_artifact(void *ctx)
{
	(void)ctx;
	return NULL;
}

static struct interceptor *make_text(size_t size)
{
	const struct interceptor_options options = {
		.terminal = {.cols = 160, .rows = 50, .onlcr = true},
		.limit = {.bytes = size,
			  .failure_bytes = size,
			  .mode = MODE_SMART,
			  .head_share = 5,
			  .end_share = 8,
			  .max_line = 500,
			  .grow = true},
		.reader = INTERCEPT_AGENT,
		.settle_ms = 50,
	};
	const struct interceptor_events events = {.artifact = on_artifact, .print = on_print};
	return interceptor_new(&options, &events);
}

/* Time passes in which nothing comes. */
static void pass(struct interceptor *text, int64_t until)
{
	int64_t due;
	while ((due = interceptor_facts(text).settle_due) && due <= until)
		interceptor_settle(text, due);
	while ((due = interceptor_pause_due(text)) && due <= until) {
		if (interceptor_begin_print(text, INTERCEPT_PAUSE, due))
			interceptor_print_held(text, INTERCEPT_PAUSE, due, &place);
	}
}

static void replay(struct interceptor *text, const struct buffer *log, double pauses)
{
	size_t lines = 1;
	int64_t now = 1000;
	for (size_t i = 0; i < log->len; i++)
		lines += log->data[i] == '\n';
	for (size_t at = 0, n; at < log->len; at += n) {
		const char *end = memchr(log->data + at, '\n', log->len - at);
		n = end ? (size_t)(end - log->data) + 1 - at : log->len - at;
		interceptor_feed(text, log->data + at, n);
		interceptor_pause(text);
		interceptor_came(text, now);
		now += LINE_MS;
		if (at + n < log->len && chance() < pauses / (double)lines)
			now += pause_length();
		pass(text, now);
	}
}

int main(int argc, char **argv)
{
	static char chunk[256 * 1024];
	struct buffer log = BUFFER_INIT;
	ssize_t n;
	if (argc != 5) {
		fprintf(stderr, "usage: pauses SIZE STATUS SEED PAUSES <LOG\n");
		return 125;
	}
	struct interceptor *text = make_text((size_t)strtoul(argv[1], NULL, 10));
	while ((n = read(STDIN_FILENO, chunk, sizeof(chunk))) > 0)
		buffer_append(&log, chunk, (size_t)n);
	if (!text || buffer_check(&log) < 0)
		return 125;
	seed = strtoul(argv[3], NULL, 10);
	replay(text, &log, strtod(argv[4], NULL));
	interceptor_finish(text);
	const struct interceptor_ending ending = {
		.ending = {.exit_code = atoi(argv[2]), .duration_ms = 12345}, .place = place};
	interceptor_report(text, &ending);
	interceptor_free(text);
	buffer_release(&log);
	return 0;
}
