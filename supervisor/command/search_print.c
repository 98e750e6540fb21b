// The output of terse search. See search.h.

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

static void search_json_summary(struct buffer *out, const struct search_subject *t, uint64_t total,
				const struct notice_query *q, const struct kind *binary)
{
	/* In a search of one text, the answer itself has this. */
	if (!t->listing.label)
		return;
	buffer_append_string(out, ",{");
	json_add_string(out, "artifact", t->listing.label);
	if (!q->names)
		json_add_count(out, "total", total);
	if (binary)
		json_add_bool(out, "binary", true);
	json_end_object(out);
}

/* A member that is an array of what was collected. */
static void search_json_add_array(struct buffer *out, const char *key,
				  const struct buffer *elements)
{
	/* Each may begin with a comma; the first must not. */
	size_t skip = elements->len > 0 && elements->data[0] == ',';
	json_begin_array(out, key);
	buffer_append(out, elements->data + skip, elements->len - skip);
	json_end_array(out);
	out->failed |= elements->failed;
}

/* The lines that were found, how many there are, and how to continue. */
static void search_json_add_matches(struct buffer *out, const struct search *s)
{
	const struct listing *l = &s->listing;
	struct buffer next = BUFFER_INIT, all = BUFFER_INIT;
	search_json_add_array(out, "matches", &s->json);
	json_add_count(out, "shown", l->shown);
	json_add_count(out, "total", l->total);
	json_add_bool(out, "truncated", l->full);
	json_add_string(out, "truncated_by",
			!l->full         ? NULL
			: l->out_of_room ? "bytes"
					 : "matches");
	search_json_add_array(out, "gaps", &l->gap);
	if (l->full)
		notice_next(&next, &s->query, l);
	if (l->full && !l->out_of_room)
		notice_all(&all, &s->query, l);
	json_add_made(out, "next", &next);
	json_add_made(out, "all", &all);
}

static int search_json_print(struct search *s, struct buffer *out)
{
	envelope_end(out);
	followup_add(&s->followup, out->data, out->len);
	int result = verb_write(out);
	buffer_release(out);
	return result;
}

int search_json_one(struct search *s, const struct text *text, uint64_t total)
{
	const struct notice_query *q = &s->query;
	struct buffer out = BUFFER_INIT;
	envelope_begin(&out);
	verb_json_place(&out, text, s->name);
	if (q->names)
		json_add_bool(&out, "matches", s->found);
	else if (q->count)
		json_add_count(&out, "total", total);
	else
		search_json_add_matches(&out, s);
	if ((q->names || q->count) && s->listing.gap.len > 0)
		search_json_add_array(&out, "gaps", &s->listing.gap);
	if (walk_long_line(s->walk))
		json_add_count(&out, "long_line", walk_long_line(s->walk));
	return search_json_print(s, &out);
}

int search_json_all(struct search *s, const char *session)
{
	struct buffer out = BUFFER_INIT;
	envelope_begin(&out);
	json_add_string(&out, "session", session);
	json_add_count(&out, "searched", s->artifacts);
	if (!s->query.names && !s->query.count) {
		search_json_add_matches(&out, s);
	} else {
		if (s->listing.gap.len > 0)
			search_json_add_array(&out, "gaps", &s->listing.gap);
		search_json_add_array(&out, "artifacts", &s->json);
		json_add_count(&out, "shown", s->listed);
		json_add_count(&out, "total", s->matching);
		json_add_bool(&out, "truncated", s->listing.full);
	}
	return search_json_print(s, &out);
}

int search_print(void *ctx, const char *data, size_t len)
{
	struct search *s = ctx;
	if (!s->verb.json) {
		progress_end(&s->progress);
		followup_add(&s->followup, data, len);
		return io_write(STDOUT_FILENO, data, len);
	}
	buffer_append(&s->json, data, len);
	return buffer_check(&s->json);
}

void search_tell_progress(void *ctx, uint64_t bytes)
{
	struct search *s = ctx;
	progress_tell(&s->progress, "searching: %u %%",
		      (unsigned)(s->size ? bytes * 100 / s->size : 100));
}

/* Adds a line about a whole artifact, if the limits allow one more. */
static void search_list_artifact(struct search *s, const struct buffer *line)
{
	struct listing *l = &s->listing;
	s->matching++;
	if (!l->full && s->listed >= l->options.limit)
		l->full = true;
	else if (!l->full && l->printed + l->out.len + line->len > l->options.room)
		l->full = l->out_of_room = true;
	if (l->full)
		return;
	s->listed++;
	buffer_append(&l->out, line->data, line->len);
}

static void search_describe(const struct search *s, const struct search_subject *t, uint64_t total,
			    const struct kind *binary, struct buffer *line)
{
	const struct notice_query *q = &s->query;
	if (q->json) {
		search_json_summary(line, t, total, q, binary);
		return;
	}
	if (q->names)
		quote_text(line, t->name, strlen(t->name), 0);
	else if (t->listing.label)
		buffer_printf(line, q->count ? "%s:" : "%s: ", t->listing.label);
	if (binary) {
		struct notice_query one = *q;
		one.place = t->listing.place;
		notice_binary(line, &one, binary->name, total);
		return;
	}
	if (q->count && !q->names)
		buffer_printf(line, "%" PRIu64, total);
	buffer_append_string(line, "\n");
}

int search_add_summary(struct search *s, const struct search_subject *t, uint64_t total,
		       const struct kind *binary)
{
	struct buffer line = BUFFER_INIT, *out = &s->listing.out;
	search_describe(s, t, total, binary, &line);
	out->failed |= line.failed;
	if (t->listing.label)
		search_list_artifact(s, &line);
	else
		buffer_append(out, line.data, line.len);
	buffer_release(&line);
	return buffer_check(out);
}

void search_give_up(struct search *s, const struct search_subject *t, uint64_t line)
{
	struct buffer notice = BUFFER_INIT;
	progress_end(&s->progress);
	notice_gave_up(&notice, &s->query, t->listing.place, line, matcher_reason(s->matcher));
	if (buffer_check(&notice) == 0)
		verb_fail(&s->verb, ENVELOPE_BAD_PATTERN, "%s: %.*s", s->query.pattern,
			  (int)notice.len, notice.data);
	buffer_clear(&notice);
	if (!s->verb.json && listing_finish(&s->listing) == 0 && s->listing.shown > 0) {
		notice_up_to(&notice, s->listing.shown, line);
		reader_notice(s->sink, &notice);
	}
	buffer_release(&notice);
}

/* printf(3) is not allowed in a signal handler. */
static void search_write_number(uint64_t number)
{
	char digits[20], *at = digits + sizeof(digits);
	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	io_write(STDERR_FILENO, at, (size_t)(digits + sizeof(digits) - at));
}

/* Runs in a signal handler, so it allocates nothing. */
void search_give_up_now(void *ctx)
{
	static const char rest[] = " or behind it: one line takes over ";
	struct search *s = ctx;
	progress_end(&s->progress);
	if (s->verb.json) {
		static const char failure[] =
			"{\"ok\":false,\"error\":{\"code\":\"bad_pattern\",\"message\":\"one line "
			"takes too long\"}}\n";
		io_write(STDOUT_FILENO, failure, strlen(failure));
		_exit(EXIT_TERSE);
	}
	io_write(STDOUT_FILENO, s->listing.out.data, s->listing.out.len);
	io_write(STDERR_FILENO, s->who.data, s->who.len);
	search_write_number(s->walk ? walk_lines(s->walk) + 1 : 0);
	io_write(STDERR_FILENO, rest, strlen(rest));
	search_write_number(s->time_limit.seconds);
	io_write(STDERR_FILENO, " s\n", 3);
	_exit(EXIT_TERSE);
}
