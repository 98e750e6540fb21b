// terse search ID|FILE|--all REGEX: the lines of a text that match, with their numbers.
//
// An agent gets so many lines and bytes, and then how many there are. A program
// (`terse search ID REGEX | sort`) gets all of them, uncut, and nothing else.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "supervisor/artifact/history.h"
#include "supervisor/command/command.h"
#include "supervisor/command/paint.h"
#include "supervisor/command/search.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The limit of the search profile. */
#define PAGE_MATCHES 100

/* Seconds of processor time. Only a bad pattern takes PCRE2 so long on one line. */
#define PATIENCE 10

static void search_set_limits(struct search *s, const char *name)
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
	s->followup = followup_of(s->sink, s->verb.json);
	o.ctx = s;
	if (s->colour) {
		o.mark = paint_code(true, PAINT_MATCH);
		o.unmark = paint_none(true);
	}
	o.json = s->verb.json;
	o.tools = q->tools;
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
	struct notice_query *q = &s->query;
	const struct matcher_options options = {
		.ignore_case = q->ignore_case, .word = q->word, .literal = q->literal};
	struct matcher_error error;
	q->tools = s->settings->words == WORDS_TOOLS;
	q->json = s->verb.json;
	s->matcher = matcher_new(q->pattern, &options, &error);
	if (!s->matcher && errno == EINVAL) {
		verb_fail(&s->verb, ENVELOPE_BAD_PATTERN, "%s: at offset %zu: %s", q->pattern,
			  error.offset, error.text);
		return EXIT_TERSE;
	}
	if (*s->verb.name)
		buffer_printf(&s->who, "terse %s: ", s->verb.name);
	quote_text(&s->who, q->pattern, strlen(q->pattern), 0);
	buffer_append_string(&s->who, ": gave up at line ");
	if (!s->matcher || buffer_check(&s->who) < 0) {
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%m");
		return EXIT_TERSE;
	}
	s->time_limit = (struct time_limit){
		.count = matcher_calls(s->matcher),
		.seconds = PATIENCE,
		.expired = search_give_up_now,
		.ctx = s,
	};
	/* Best effort. */
	s->watched = time_limit_start(&s->time_limit) == 0;
	search_set_limits(s, name);
	progress_begin(&s->progress);
	return 0;
}

static void search_release(struct search *s)
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

struct search_arguments {
	bool all;
	const char *session, *name;
	uint64_t context;
};

/* Tells the text and the pattern apart. Returns 0, or -1 after saying what is wrong. */
static int search_sort_operands(struct search *s, struct search_arguments *a, const char **operands,
				int count)
{
	const char *wrong = NULL;
	if (!s->query.pattern && count > 0)
		s->query.pattern = operands[--count];
	if (count > 0)
		a->name = operands[0];
	if (count > 1)
		wrong = "one argument too many";
	else if (!s->query.pattern)
		wrong = "usage: terse search ID|FILE|--all REGEX";
	else if (a->name && a->all)
		wrong = "--all searches every artifact: name no text";
	else if (!a->name && !a->all && !a->session)
		wrong = "usage: terse search ID|FILE|--all REGEX";
	else if (!a->name && s->query.from > 1)
		wrong = "--offset needs one text";
	if (wrong)
		verb_fail(&s->verb, ENVELOPE_USAGE, "%s", wrong);
	return wrong ? -1 : 0;
}

/* Returns 0, or -1 after saying what is wrong. */
static int search_parse(struct search *s, struct search_arguments *a, int argc, char **argv)
{
	const char *color = NULL;
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
		{"--color", VERB_TEXT, &color},
		/* Accepted, as grep has them; they are always on. */
		{"-n", VERB_FLAG, &as_it_is},
		{"-E", VERB_FLAG, &as_it_is},
		{"-P", VERB_FLAG, &as_it_is},
		{NULL, VERB_FLAG, NULL},
	};
	int count = verb_parse(table, argc, argv, operands, 3);
	if (count < 0 || search_sort_operands(s, a, operands, count) < 0 ||
	    paint_choose(&s->verb, color, &s->colour) < 0)
		return -1;
	uint64_t context = a->context == unset ? 0 : a->context;
	if (q->before == unset)
		q->before = context;
	if (q->after == unset)
		q->after = context;
	q->session = a->name ? NULL : a->session;
	return 0;
}

/* Searches the text of s->walk. */
static enum walk_kind search_walk(struct search *s, const struct search_subject *t, bool list,
				  uint64_t *total, struct walk_line *line)
{
	enum walk_kind kind;
	if (list) {
		uint64_t before = s->listing.total;
		kind = listing_add(&s->listing, s->walk, &t->listing, line);
		*total = s->listing.total - before;
		return kind;
	}
	struct buffer *gaps = &s->listing.gap;
	size_t before = gaps->len;
	do {
		/* For a name, one match is enough. */
		kind = s->query.names ? walk_next(s->walk, line) : walk_count(s->walk, total, line);
		if (kind == WALK_GAP &&
		    listing_note_gap(&s->listing, &t->listing, walk_gap(s->walk)) < 0)
			kind = WALK_FAILED;
	} while (kind == WALK_GAP);
	if (s->query.names)
		*total = kind == WALK_LINE;
	if (s->query.names && *total)
		buffer_truncate(gaps, before);
	return kind;
}

/* Returns 0, or the exit status of a search that ends here. */
static int search_text(struct search *s, const struct search_subject *t)
{
	const struct notice_query *q = &s->query;
	struct kind what;
	struct walk_line line = {.number = 0};
	uint64_t total = 0;
	bool lines = !q->count && !q->names;
	bool binary = lines && !q->binary && verb_is_binary(t->text, &what);
	const struct walk_options options = {
		.invert = q->invert,
		.context = lines ? q->before : 0,
		.from = q->from,
		.tick = s->progress.on ? search_tell_progress : NULL,
		.ctx = s,
	};
	s->size = t->text->size;
	s->walk = walk_new(t->text, s->matcher, &options);
	enum walk_kind kind =
		s->walk ? search_walk(s, t, lines && !binary, &total, &line) : WALK_FAILED;
	if (kind == WALK_GAVE_UP) {
		search_give_up(s, t, line.number);
		return EXIT_TERSE;
	}
	s->found |= total > 0;
	s->total = total;
	bool summary = (s->verb.json ? !lines : binary || !lines) &&
		       (total > 0 || (q->count && !t->listing.label));
	if (kind == WALK_FAILED ||
	    (summary && search_add_summary(s, t, total, binary ? &what : NULL) < 0)) {
		progress_end(&s->progress);
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%s: %m", t->name);
		return 1;
	}
	/* JSON has no other way to report a binary text that is not shown. */
	if (binary && total > 0 && s->verb.json && !t->listing.label) {
		progress_end(&s->progress);
		verb_fail(&s->verb, ENVELOPE_BINARY,
			  "%s: %" PRIu64 " line%s in binary data (%s), not shown without -a",
			  t->name, total, total == 1 ? " matches" : "s match",
			  what.name ? what.name : "of no known kind");
		return 1;
	}
	return 0;
}

/* Reports the gaps of texts that are not listed. */
static void search_tell_gaps(struct search *s)
{
	const struct buffer *gaps = &s->listing.gap;
	const char *at = gaps->data, *end = gaps->data + gaps->len;
	for (const char *newline; at < end && (newline = memchr(at, '\n', (size_t)(end - at)));
	     at = newline + 1)
		verb_error(s->verb.name, "%.*s", (int)(newline - at), at);
}

/* The exit status: 0, 1: nothing was found; 2: a match may be in a gap. */
static int search_status(const struct search *s)
{
	return s->found ? 0 : s->listing.gap.len ? 2 : 1;
}

/* Says that one text has no match, or that a part of it was not searched as a whole. */
static int search_say_nothing(struct search *s, const struct text *text)
{
	struct buffer notice = BUFFER_INIT;
	const struct buffer *gap = &s->listing.gap;
	const struct notice_query *q = &s->query;
	bool is_apart = *text->id && !q->standard_error &&
			id_has_file(text->dir, text->id, artifact_files[ARTIFACT_ERR].suffix);
	if (!s->found && !q->count && !q->names) {
		notice_nothing(&notice, q, s->walk, is_apart);
		/* The line about a gap, without its newline. */
		if (gap->len)
			buffer_printf(&notice, " %.*s", (int)gap->len - 1, gap->data);
	} else if (walk_long_line(s->walk) && !q->names) {
		notice_long_line(&notice, walk_long_line(s->walk));
	}
	int result = buffer_check(&notice);
	if (result == 0 && notice.len)
		verb_error(s->verb.name, "%.*s", (int)notice.len, notice.data);
	buffer_release(&notice);
	return result;
}

static int search_print_notice(struct search *s, struct buffer *notice)
{
	int result = reader_notice(s->sink, notice);
	followup_add(&s->followup, notice->data, notice->len);
	buffer_release(notice);
	return result;
}

/* Prints the closing notices after the one text was searched. Returns 0, or -1 with errno. */
static int search_end_one(struct search *s, const struct text *text)
{
	struct buffer notice = BUFFER_INIT;
	int result;
	progress_end(&s->progress);
	if (listing_finish(&s->listing) < 0)
		return -1;
	if (s->verb.json)
		return search_json_one(s, text, s->total);
	if (s->listing.full) {
		notice_more(&notice, &s->query, &s->listing);
		result = search_print_notice(s, &notice);
	} else {
		result = search_say_nothing(s, text);
	}
	if (result == 0 && (s->query.count || s->query.names))
		search_tell_gaps(s);
	return result;
}

/* Whether there is an artifact or file of this name. */
static bool search_is_text(const struct search *s, const char *session, const char *name)
{
	struct store stores[STORE_MAX];
	struct id_found found;
	int count;
	bool is = verb_find(s->settings, session, name, stores, &count, &found) == 0;
	store_close_all(stores, count);
	return is || (s->settings->reach == REACH_FILES && access(name, F_OK) == 0);
}

static int search_one(struct search *s, const char *session, const char *name)
{
	struct text text;
	enum artifact_part part = s->query.standard_error ? ARTIFACT_ERR : ARTIFACT_OUT;
	if (verb_open(&s->verb, s->settings, session, part, name, &text) < 0) {
		/* Is the pattern given first, as for grep? */
		if (!s->verb.json && search_is_text(s, session, s->query.pattern))
			verb_error(s->verb.name, "the text comes first: terse search %s REGEX",
				   s->query.pattern);
		return 1;
	}
	struct search_subject t = {.text = &text,
				   .name = *text.id ? text.id : name,
				   .listing = {.standard_error = s->query.standard_error}};
	int status = 1;
	if (*t.name == '-')
		buffer_append_string(&s->place, "./");
	quote_append(&s->place, t.name);
	if (!buffer_string(&s->place)) {
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%m");
		goto out;
	}
	s->query.place = t.listing.place = s->place.data;
	status = search_text(s, &t);
	if (status == 0 && search_end_one(s, &text) < 0) {
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%m");
		status = 1;
	} else if (status == 0) {
		status = search_status(s);
		followup_keep(&s->followup, text.dir, text.id);
	}
out:
	text_close(&text);
	return status;
}

/* The same after a search in a session. */
static int search_end_all(struct search *s, const char *session)
{
	struct buffer notice = BUFFER_INIT;
	const struct listing *l = &s->listing;
	const struct notice_query *q = &s->query;
	progress_end(&s->progress);
	if (listing_finish(&s->listing) < 0)
		return -1;
	if (s->verb.json)
		return search_json_all(s, session);
	if (l->full && l->total)
		notice_more(&notice, q, l);
	else if (l->full)
		notice_more_artifacts(&notice, q, s->listed, s->matching, l->out_of_room);
	else if (s->artifacts == 0)
		verb_error(s->verb.name, "session %s has no artifacts", session);
	else if (!s->found && !q->count && !q->names)
		verb_error(s->verb.name, "no match in %" PRIu64 " artifact%s of session %s",
			   s->artifacts, s->artifacts == 1 ? "" : "s", session);
	int result = search_print_notice(s, &notice);
	if (result == 0 && (q->count || q->names || !s->found))
		search_tell_gaps(s);
	return result;
}

/* Returns 0, or the exit status of a search that ends here. */
static int search_found(struct search *s, const struct id_found *found)
{
	struct text text;
	enum artifact_part part = s->query.standard_error ? ARTIFACT_ERR : ARTIFACT_OUT;
	if (verb_open_found(found, part, &text) < 0) {
		/* It was removed meanwhile, or both streams are one text. */
		if (errno != ENOENT)
			verb_error(s->verb.name, "%s: %m", found->id);
		return 0;
	}
	const struct search_subject t = {.text = &text,
					 .name = found->id,
					 .listing = {.label = found->id,
						     .place = found->id,
						     .standard_error = s->query.standard_error}};
	s->artifacts++;
	int status = search_text(s, &t);
	if (s->found && s->first < 0) {
		s->first = fcntl(text.dir, F_DUPFD_CLOEXEC, 0);
		memcpy(s->first_id, text.id, sizeof(s->first_id));
	}
	if (s->listing.next_in == found->id) {
		snprintf(s->next_id, sizeof(s->next_id), "%s", found->id);
		s->listing.next_in = s->next_id;
	}
	walk_free(s->walk);
	s->walk = NULL;
	text_close(&text);
	return status;
}

/* Every artifact of a session, the newest first. */
static int search_all(struct search *s, const char *session)
{
	char directory[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	struct id_found found;
	if (!verb_has_session(&s->verb, s->settings, session))
		return 1;
	int got = -1, status = 0, unseen = 0;
	int count = verb_open_stores(s->verb.name, stores, &unseen);
	verb_session(s->settings, session, directory);
	struct recent *r = recent_open(stores, count, directory);
	while (r && status == 0 && (got = recent_next(r, &found)) == 1)
		status = search_found(s, &found);
	if (got < 0 || (status == 0 && search_end_all(s, directory) < 0)) {
		verb_fail(&s->verb, ENVELOPE_UNREADABLE, "%m");
		status = 1;
	} else if (status == 0) {
		status = search_status(s);
		followup_keep(&s->followup, s->first, s->first_id);
	}
	io_close(&s->first);
	if (status == 0)
		status = unseen;
	if (r)
		recent_close(r);
	store_close_all(stores, count);
	return status;
}

int search_answer(struct search *s, const char *session, const char *name)
{
	s->name = name;
	int status = search_prepare(s, name);
	if (status == 0)
		status = name ? search_one(s, session, name) : search_all(s, session);
	search_release(s);
	return status;
}

int command_search(struct command_context *c, int argc, char **argv)
{
	struct search s = {.verb = {.name = argv[0]}, .settings = c->settings, .first = -1};
	struct search_arguments a = {.all = false};
	if (search_parse(&s, &a, argc, argv) < 0)
		return EXIT_TERSE;
	s.sink = reader_of_text();
	return search_answer(&s, a.session, a.name);
}
