#include "lib/human.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "supervisor/command/command.h"
#include "supervisor/command/search.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_AFTER 1000 /* ms */
#define PROGRESS_EVERY 200

static int search_print(void *ctx, const char *data, size_t len)
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

// terse search ID|FILE|--all REGEX: the lines of a text that match, with their numbers.
//
// An agent gets so many lines and bytes, and then how many there are. A program
// (`terse search ID REGEX | sort`) gets all of them, uncut, and nothing else.

/* The limit of the search profile. */
#define PAGE_MATCHES 100

/* Seconds: no line takes PCRE2 so long unless something is wrong with the pattern. */
#define PATIENCE 10

static void set_limits(struct search *s, const char *name)
{
	const struct notice_query *q = &s->query;
	size_t reserved = notice_room(q, name);
	struct listing_options o = {
		.before = q->before,
		.after = q->after,
		.limit = q->limit ? q->limit : PAGE_MATCHES,
		.room = SIZE_MAX,
		.from = q->from,
		.print = search_print,
	};
	s->sink = reader_find();
	o.ctx = s;
	o.json = s->verb.json;
	if (s->verb.json)
		reserved *= 2; /* escapes */
	if (s->sink == SINK_PROGRAM && !o.json) {
		o.whole = true;
		if (!q->limit)
			o.limit = UINT64_MAX;
	} else if (s->sink != SINK_PERSON || o.json) {
		o.room = reserved + LISTING_ROOM_MIN < READER_PAGE ? READER_PAGE - reserved
								   : LISTING_ROOM_MIN;
	}
	listing_init(&s->listing, &o);
}

/* Returns 0, or the exit status. */
static int search_prepare(struct search *s, const char *name)
{
	const struct notice_query *q = &s->query;
	const struct matcher_options options = {
		.ignore_case = q->ignore_case, .word = q->word, .literal = q->literal};
	struct matcher_error error;
	s->matcher = matcher_new(q->pattern, &options, &error);
	if (!s->matcher && errno == EINVAL) {
		verb_fail(&s->verb, ENVELOPE_BAD_PATTERN, "%s: at offset %zu: %s", q->pattern,
			  error.offset, error.text);
		return EXIT_TERSE;
	}
	if (!s->matcher || buffer_printf(&s->who, "terse %s: ", s->verb.name) < 0 ||
	    quote_text(&s->who, q->pattern, strlen(q->pattern), 0) < 0 ||
	    buffer_append_string(&s->who, ": gave up at line ") < 0) {
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%m");
		return EXIT_TERSE;
	}
	s->time_limit = (struct time_limit){
		.count = matcher_calls(s->matcher),
		.seconds = PATIENCE,
		.expired = search_give_up_now,
		.ctx = s,
	};
	/* It goes without. */
	s->watched = time_limit_start(&s->time_limit) == 0;
	set_limits(s, name);
	s->began_ms = clock_monotonic_ms();
	s->progress = isatty(STDERR_FILENO);
	return 0;
}

static void release(struct search *s)
{
	if (s->watched)
		time_limit_stop(&s->time_limit);
	walk_free(s->walk);
	matcher_free(s->matcher);
	listing_release(&s->listing);
	buffer_release(&s->who);
	buffer_release(&s->place);
	buffer_release(&s->json);
}

struct arguments {
	bool all;
	const char *session, *name;
	uint64_t context;
};

/* Sorts out what is the text and what the pattern. Returns 0, or -1 after saying what is wrong. */
static int take_operands(struct search *s, struct arguments *a, const char **operands, int count)
{
	const char *wrong = NULL;
	if (!s->query.pattern && count > 0)
		s->query.pattern = operands[--count];
	if (count > 0)
		a->name = operands[0];
	if (count > 1)
		wrong = "one argument too many";
	else if (!s->query.pattern)
		wrong = "what? terse search ID REGEX or terse search FILE REGEX";
	else if (a->name && a->all)
		wrong = "--all is for every artifact, not for one text";
	else if (!a->name && !a->all && !a->session)
		wrong = "in what? terse search ID REGEX, terse search FILE REGEX or --all";
	else if (!a->name && s->query.from > 1)
		wrong = "--offset is for one text";
	if (wrong)
		verb_fail(&s->verb, ENVELOPE_USAGE, "%s", wrong);
	return wrong ? -1 : 0;
}

/* Returns 0, or -1 after saying what is wrong. */
static int search_parse(struct search *s, struct arguments *a, int argc, char **argv)
{
	struct notice_query *q = &s->query;
	bool as_it_is;
	const char *operands[3];
	uint64_t unset = UINT64_MAX;
	q->before = q->after = a->context = unset;
	q->from = 1;
	const struct verb_option table[] = {
		{"-i", VERB_FLAG, &q->ignore_case},
		{"--ignore-case", VERB_FLAG, &q->ignore_case},
		{"-w", VERB_FLAG, &q->word},
		{"--word-regexp", VERB_FLAG, &q->word},
		{"-v", VERB_FLAG, &q->invert},
		{"--invert-match", VERB_FLAG, &q->invert},
		{"-F", VERB_FLAG, &q->literal},
		{"--fixed-strings", VERB_FLAG, &q->literal},
		{"-c", VERB_FLAG, &q->count},
		{"--count", VERB_FLAG, &q->count},
		{"-l", VERB_FLAG, &q->names},
		{"--files-with-matches", VERB_FLAG, &q->names},
		{"-a", VERB_FLAG, &q->binary},
		{"--text", VERB_FLAG, &q->binary},
		{"-C", VERB_NUMBER, &a->context},
		{"--context", VERB_NUMBER, &a->context},
		{"-A", VERB_NUMBER, &q->after},
		{"--after-context", VERB_NUMBER, &q->after},
		{"-B", VERB_NUMBER, &q->before},
		{"--before-context", VERB_NUMBER, &q->before},
		{"-m", VERB_COUNT, &q->limit},
		{"--limit", VERB_COUNT, &q->limit},
		{"--offset", VERB_COUNT, &q->from},
		{"-e", VERB_TEXT, &q->pattern},
		{"--regexp", VERB_TEXT, &q->pattern},
		{"--all", VERB_FLAG, &a->all},
		{"--session", VERB_TEXT, &a->session},
		{"--stderr", VERB_FLAG, &q->standard_error},
		{"--json", VERB_FLAG, &s->verb.json},
		/* What is so without them. */
		{"-n", VERB_FLAG, &as_it_is},
		{"-E", VERB_FLAG, &as_it_is},
		{"-P", VERB_FLAG, &as_it_is},
		{NULL, VERB_FLAG, NULL},
	};
	int count = verb_parse(table, argc, argv, operands, 3);
	if (count < 0 || take_operands(s, a, operands, count) < 0)
		return -1;
	uint64_t context = a->context == unset ? 0 : a->context;
	if (q->before == unset)
		q->before = context;
	if (q->after == unset)
		q->after = context;
	q->session = a->name ? NULL : a->session;
	q->json = s->verb.json;
	return 0;
}

int command_search(struct command_context *c, int argc, char **argv)
{
	struct search s = {.verb = {.name = argv[0]}, .settings = c->settings};
	struct arguments a = {.all = false};
	if (search_parse(&s, &a, argc, argv) < 0)
		return EXIT_TERSE;
	s.name = a.name;
	int status = search_prepare(&s, a.name);
	if (status == 0)
		status = a.name ? search_one(&s, a.session, a.name) : search_all(&s, a.session);
	release(&s);
	return status;
}
