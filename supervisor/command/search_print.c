// What a search prints. See search.h.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/command/command.h"
#include "supervisor/command/search.h"
#include "supervisor/command/verb.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int search_json_summary(struct buffer *out, const struct search_subject *t, uint64_t total,
			       const struct notice_query *q, const struct kind *binary)
{
	/* Of one text the answer tells it. */
	if (!t->listing.label)
		return 0;
	if (buffer_append_string(out, ",{") < 0 ||
	    json_add_string(out, "artifact", t->listing.label) < 0 ||
	    (!q->names && json_add_count(out, "total", total) < 0) ||
	    (binary && json_add_bool(out, "binary", true) < 0))
		return -1;
	return buffer_append_string(out, "}");
}

/* A member that is an array of what was collected. */
static int add_array(struct buffer *out, const char *key, const struct buffer *elements)
{
	/* Where each begins with a comma, the first has one too many. */
	size_t skip = elements->len > 0 && elements->data[0] == ',';
	if (json_begin_array(out, key) < 0 ||
	    buffer_append(out, elements->data + skip, elements->len - skip) < 0)
		return -1;
	return buffer_append_string(out, "]");
}

static int search_json_add_command(struct buffer *out, const char *key, const struct search *s,
				   bool wanted,
				   int (*make)(struct buffer *out, const struct notice_query *q,
					       const struct listing *l))
{
	struct buffer command = BUFFER_INIT;
	int result = wanted ? make(&command, &s->query, &s->listing) : 0;
	if (result == 0 && command.len == 0)
		result = json_add_null(out, key);
	else if (result == 0)
		result = json_add_text(out, key, command.data, command.len);
	buffer_release(&command);
	return result;
}

/* The lines that were found, how many there are, and how to go on. */
static int add_matches(struct buffer *out, const struct search *s)
{
	const struct listing *l = &s->listing;
	const char *why = !l->full ? NULL : l->out_of_room ? "bytes" : "matches";
	if (add_array(out, "matches", &s->json) < 0 || json_add_count(out, "shown", l->shown) < 0 ||
	    json_add_count(out, "total", l->total) < 0 ||
	    json_add_bool(out, "truncated", l->full) < 0 ||
	    json_add_string(out, "truncated_by", why) < 0 || add_array(out, "gaps", &l->gap) < 0 ||
	    search_json_add_command(out, "next", s, l->full, notice_next) < 0)
		return -1;
	return search_json_add_command(out, "all", s, l->full && !l->out_of_room, notice_all);
}

static int search_json_print(struct buffer *out, int result)
{
	if (result == 0)
		result = io_write(STDOUT_FILENO, out->data, out->len);
	buffer_release(out);
	return result;
}

static int add_one(struct buffer *out, const struct search *s, const struct text *text,
		   uint64_t total)
{
	const struct notice_query *q = &s->query;
	if (envelope_begin(out) < 0 || verb_json_place(out, text, s->name) < 0)
		return -1;
	if (q->names) {
		if (json_add_bool(out, "matches", s->found) < 0)
			return -1;
	} else if (q->count) {
		if (json_add_count(out, "total", total) < 0)
			return -1;
	} else if (add_matches(out, s) < 0) {
		return -1;
	}
	if ((q->names || q->count) && s->listing.gap.len > 0 &&
	    add_array(out, "gaps", &s->listing.gap) < 0)
		return -1;
	if (walk_long_line(s->walk) &&
	    json_add_count(out, "long_line", walk_long_line(s->walk)) < 0)
		return -1;
	return envelope_end(out);
}

int search_json_one(struct search *s, const struct text *text, uint64_t total)
{
	struct buffer out = BUFFER_INIT;
	return search_json_print(&out, add_one(&out, s, text, total));
}

static int search_json_add_all(struct buffer *out, const struct search *s, const char *session)
{
	const struct notice_query *q = &s->query;
	if (envelope_begin(out) < 0 || json_add_string(out, "session", session) < 0 ||
	    json_add_count(out, "searched", s->artifacts) < 0)
		return -1;
	if (!q->names && !q->count) {
		if (add_matches(out, s) < 0)
			return -1;
	} else if ((s->listing.gap.len > 0 && add_array(out, "gaps", &s->listing.gap) < 0) ||
		   add_array(out, "artifacts", &s->json) < 0 ||
		   json_add_count(out, "shown", s->listed) < 0 ||
		   json_add_count(out, "total", s->matching) < 0 ||
		   json_add_bool(out, "truncated", s->listing.full) < 0) {
		return -1;
	}
	return envelope_end(out);
}

int search_json_all(struct search *s, const char *session)
{
	struct buffer out = BUFFER_INIT;
	return search_json_print(&out, search_json_add_all(&out, s, session));
}

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
	write_number(s->time_limit.seconds);
	io_write(STDERR_FILENO, " s\n", 3);
	_exit(EXIT_TERSE);
}
