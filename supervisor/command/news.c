// See news.h.

#include "supervisor/command/news.h"

#include "config/limit.h"
#include "supervisor/artifact/text.h"
#include "supervisor/base/gap.h"
#include "supervisor/base/io.h"
#include "supervisor/intercept/interceptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)256 * 1024)

static struct artifact *changes_on_artifact(void *ctx)
{
	(void)ctx;
	return NULL; /* there is one already */
}

static void changes_on_print(void *ctx, const char *data, size_t len)
{
	int *error = ctx;
	if (!*error && io_write(STDOUT_FILENO, data, len) < 0)
		*error = errno;
}

static uint64_t changes_count_newlines(const char *data, size_t len)
{
	uint64_t count = 0;
	for (const char *end = data + len; (data = memchr(data, '\n', (size_t)(end - data)));
	     data++)
		count++;
	return count;
}

/* *lines grows by the complete ones. */
static int changes_feed(struct interceptor *s, struct text *text, uint64_t *lines)
{
	char *chunk = malloc(CHUNK);
	int result = -1;
	struct text_piece piece;
	while (chunk && (result = text_next(text, chunk, CHUNK, &piece)) == 0 &&
	       piece.kind != TEXT_END) {
		char line[GAP_ANNOUNCE_MAX];
		if (piece.kind == TEXT_BYTES) {
			interceptor_feed(s, chunk, piece.len);
			*lines += changes_count_newlines(chunk, piece.len);
		} else {
			interceptor_feed(s, line, gap_announce(line, &piece.gap));
			*lines = piece.gap.to - piece.goes_on;
		}
	}
	free(chunk);
	return result;
}

int news_print(const struct settings *s, struct text *text, uint64_t *told,
	       const struct wording_ending *ending, const char *id)
{
	int error = 0, result = -1;
	uint64_t lines;
	int sought = text_seek(text, *told + 1, &lines);
	if (sought < 0)
		return -1;
	struct interceptor_options options = {
		.terminal = {.cols = (unsigned)s->cols,
			     .rows = (unsigned)s->rows,
			     .onlcr = true,
			     .returns = true},
		.limit = limit_of(s, false),
		.print = INTERCEPT_PREVIEW,
		.raw = INTERCEPT_RAW_NO,
		.part = ARTIFACT_OUT,
		.lines_before = sought == 1 ? lines : *told,
		.bytes_before = sought == 1 ? text->size : text->offset,
	};
	const struct interceptor_events events = {
		.artifact = changes_on_artifact, .print = changes_on_print, .ctx = &error};
	/* A head says how to read on by numbers of its own. */
	if (options.limit.mode == MODE_HEAD)
		options.limit.mode = MODE_ENDS;
	struct interceptor *news = interceptor_new(&options, &events);
	if (!news)
		return -1;
	*told = options.lines_before;
	if (sought == 0 && changes_feed(news, text, told) < 0)
		goto out;
	interceptor_finish(news);
	const struct interceptor_ending end = {
		.ending = *ending,
		.place = {.id = id},
		.status_line = STATUS_LINE_ALWAYS,
	};
	interceptor_report(news, &end);
	errno = error;
	result = error ? -1 : 0;
out:
	interceptor_free(news);
	return result;
}
