// See search.h.

#include "supervisor/command/search.h"

#include "supervisor/base/clock.h"
#include "supervisor/base/io.h"
#include "supervisor/command/command.h"
#include "supervisor/command/reader.h"
#include "supervisor/report/quote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_AFTER 1000 /* ms */
#define PROGRESS_EVERY 200

int search_print(void *ctx, const char *data, size_t len)
{
	struct search *s = ctx;
	if (s->verb.json)
		return buffer_append(&s->json, data, len);
	return io_write(STDOUT_FILENO, data, len);
}

void search_tell_progress(void *ctx, uint64_t bytes)
{
	struct search *s = ctx;
	char line[64];
	int64_t now = clock_monotonic_ms();
	if (now - s->began_ms < PROGRESS_AFTER || now - s->told_ms < PROGRESS_EVERY)
		return;
	s->told_ms = now;
	int len = snprintf(line, sizeof(line), "\r\033[Ksearching: %u %%",
			   (unsigned)(s->size ? bytes * 100 / s->size : 100));
	io_write(STDERR_FILENO, line, (size_t)len);
}

void search_end_progress(struct search *s)
{
	if (s->told_ms)
		io_write(STDERR_FILENO, "\r\033[K", 4);
	s->told_ms = 0;
}

/* A line of text about a whole artifact: as many as the limits allow. */
static int list_artifact(struct search *s, const char *line, size_t len)
{
	struct listing *l = &s->listing;
	s->matching++;
	if (!l->full && s->listed >= l->options.limit)
		l->full = true;
	else if (!l->full && l->printed + l->out.len + len > l->options.room)
		l->full = l->out_of_room = true;
	if (l->full)
		return 0;
	s->listed++;
	return buffer_append(&l->out, line, len);
}

static int search_output_describe(const struct search *s, const struct search_subject *t,
				  uint64_t total, const struct kind *binary, struct buffer *line)
{
	const struct notice_query *q = &s->query;
	if (q->json)
		return search_json_summary(line, t, total, q, binary);
	if (q->names) {
		if (quote_text(line, t->name, strlen(t->name), 0) < 0)
			return -1;
	} else if (t->listing.label &&
		   buffer_printf(line, q->count ? "%s:" : "%s: ", t->listing.label) < 0) {
		return -1;
	}
	if (binary) {
		struct notice_query one = *q;
		one.place = t->listing.place;
		return notice_binary(line, &one, binary->name, total);
	}
	if (q->count && !q->names && buffer_printf(line, "%" PRIu64, total) < 0)
		return -1;
	return buffer_append(line, "\n", 1);
}

int search_add_summary(struct search *s, const struct search_subject *t, uint64_t total,
		       const struct kind *binary)
{
	struct buffer line = BUFFER_INIT;
	int result = search_output_describe(s, t, total, binary, &line);
	if (result == 0)
		result = t->listing.label ? list_artifact(s, line.data, line.len)
					  : buffer_append(&s->listing.out, line.data, line.len);
	buffer_release(&line);
	return result;
}

void search_give_up(struct search *s, const struct search_subject *t, uint64_t line)
{
	struct buffer notice = BUFFER_INIT;
	search_end_progress(s);
	if (notice_gave_up(&notice, &s->query, t->listing.place, line,
			   matcher_reason(s->matcher)) == 0)
		verb_fail(&s->verb, ENVELOPE_BAD_PATTERN, "%s: %.*s", s->query.pattern,
			  (int)notice.len, notice.data);
	buffer_clear(&notice);
	if (!s->verb.json && listing_finish(&s->listing) == 0 && s->listing.shown > 0 &&
	    notice_up_to(&notice, s->listing.shown, line) == 0)
		reader_notice(s->sink, &notice);
	buffer_release(&notice);
}

/* For a signal handler, where printf(3) may not be called. */
static void write_number(uint64_t number)
{
	char digits[20], *at = digits + sizeof(digits);
	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	io_write(STDERR_FILENO, at, (size_t)(digits + sizeof(digits) - at));
}

/* In a signal handler: nothing may be allocated here. */
void search_give_up_now(void *ctx)
{
	static const char rest[] = " or behind it: one line takes over ";
	const struct search *s = ctx;
	if (s->verb.json) {
		static const char failure[] =
			"{\"ok\":false,\"error\":{\"code\":\"bad_pattern\",\"message\":\"one line "
			"takes too long\"}}\n";
		io_write(STDOUT_FILENO, failure, strlen(failure));
		_exit(EXIT_TERSE);
	}
	io_write(STDOUT_FILENO, s->listing.out.data, s->listing.out.len);
	io_write(STDERR_FILENO, s->who.data, s->who.len);
	write_number(s->walk ? walk_lines(s->walk) + 1 : 0);
	io_write(STDERR_FILENO, rest, strlen(rest));
	write_number(s->watchdog.seconds);
	io_write(STDERR_FILENO, " s\n", 3);
	_exit(EXIT_TERSE);
}
