// terse search ID|FILE|--all REGEX: the lines of a text that match, with their numbers.
//
// An agent gets so many lines and bytes, and then how many there are. A program
// (`terse search ID REGEX | sort`) gets all of them, uncut, and nothing else.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/command/person.h"
#include "supervisor/command/search.h"
#include "supervisor/command/verb.h"
#include "supervisor/report/file_type.h"

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

/* A text that is searched. */
struct search_subject {
	struct text *text;
	const char *name; /* for messages */
	struct listing_text listing;
};

/* --- what is printed ------------------------------------------------------------------ */

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
	json_add_count(out, "shown", l->found.shown);
	json_add_count(out, "total", l->found.total);
	json_add_bool(out, "truncated", l->found.full);
	json_add_string(out, "truncated_by",
			!l->found.full         ? NULL
			: l->found.out_of_room ? "bytes"
					       : "matches");
	search_json_add_array(out, "gaps", &l->gap);
	if (l->found.full)
		notice_next(&next, &s->query, &l->found);
	if (l->found.full && !l->found.out_of_room)
		notice_all(&all, &s->query, &l->found);
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

static int search_json_one(struct search *s, const struct text *text, uint64_t total)
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

static int search_json_all(struct search *s, const char *session)
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
		json_add_bool(&out, "truncated", s->listing.found.full);
	}
	return search_json_print(s, &out);
}

static int search_print(void *ctx, const char *data, size_t len)
{
	struct search *s = ctx;
	if (!s->call->json) {
		progress_end(&s->progress);
		followup_add(&s->followup, data, len);
		return io_write(STDOUT_FILENO, data, len);
	}
	buffer_append(&s->json, data, len);
	return buffer_check(&s->json);
}

static void search_tell_progress(void *ctx, uint64_t bytes)
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
	if (!l->found.full && s->listed >= l->options.limit)
		l->found.full = true;
	else if (!l->found.full && l->printed + l->out.len + line->len > l->options.room)
		l->found.full = l->found.out_of_room = true;
	if (l->found.full)
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

static int search_add_summary(struct search *s, const struct search_subject *t, uint64_t total,
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

static void search_give_up(struct search *s, const struct search_subject *t, uint64_t line)
{
	struct buffer notice = BUFFER_INIT;
	progress_end(&s->progress);
	notice_gave_up(&notice, &s->query, t->listing.place, line, matcher_reason(s->matcher));
	if (buffer_check(&notice) == 0)
		verb_fail(s->call, ENVELOPE_BAD_PATTERN, "%s: %.*s", s->query.pattern,
			  (int)notice.len, notice.data);
	buffer_clear(&notice);
	if (!s->call->json && listing_finish(&s->listing) == 0 && s->listing.found.shown > 0) {
		notice_up_to(&notice, s->listing.found.shown, line);
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
static void search_give_up_now(void *ctx)
{
	static const char rest[] = " or behind it: one line takes over ";
	struct search *s = ctx;
	progress_end(&s->progress);
	if (s->call->json) {
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

/* --- what is asked ---------------------------------------------------------------------- */

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
	s->followup = followup_of(s->sink, s->call->json);
	o.ctx = s;
	if (s->colour) {
		o.mark = paint_code(true, PAINT_MATCH);
		o.unmark = paint_none(true);
	}
	o.json = s->call->json;
	o.words = q->words;
	if (s->call->json)
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
	q->words = s->call->settings->words;
	q->json = s->call->json;
	s->matcher = matcher_new(q->pattern, &options, &error);
	if (!s->matcher && errno == EINVAL) {
		verb_fail(s->call, ENVELOPE_BAD_PATTERN, "%s: at offset %zu: %s", q->pattern,
			  error.offset, error.text);
		return EXIT_TERSE;
	}
	if (*s->call->verb->name)
		buffer_printf(&s->who, "terse %s: ", s->call->verb->name);
	quote_text(&s->who, q->pattern, strlen(q->pattern), 0);
	buffer_append_string(&s->who, ": gave up at line ");
	if (!s->matcher || buffer_check(&s->who) < 0) {
		verb_fail(s->call, ENVELOPE_UNREADABLE, "%m");
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

/* Tells the text and the pattern apart. Returns 0, or -1 after saying what is wrong. */
static int search_sort_operands(struct search *s)
{
	char **operands = s->call->operands;
	int count = s->call->operand_count;
	static const char usage[] = "usage: terse search ID|FILE|--all REGEX";
	const char *wrong = NULL;
	if (!s->query.pattern && count > 0)
		s->query.pattern = operands[--count];
	if (count > 0)
		s->name = operands[0];
	if (count > 1)
		wrong = "one argument too many";
	else if (!s->query.pattern)
		wrong = usage;
	else if (s->name && s->all)
		wrong = "--all searches every artifact: name no text";
	else if (!s->name && !s->all && !s->call->session)
		wrong = usage;
	else if (!s->name && s->query.from > 1)
		wrong = "--offset needs one text";
	if (wrong)
		verb_fail(s->call, ENVELOPE_USAGE, "%s", wrong);
	return wrong ? -1 : 0;
}

/* Returns 0, or -1 after saying what is wrong. */
static int search_parse(struct search *s)
{
	struct notice_query *q = &s->query;
	uint64_t unset = UINT64_MAX;
	q->before = q->after = s->context = unset;
	q->from = 1;
	if (verb_parse(s->call, s) < 0 || search_sort_operands(s) < 0)
		return -1;
	s->colour = s->call->colour;
	uint64_t context = s->context == unset ? 0 : s->context;
	if (q->before == unset)
		q->before = context;
	if (q->after == unset)
		q->after = context;
	q->session = s->name ? NULL : s->call->session;
	return 0;
}

/* Searches the text of s->walk. */
static enum walk_kind search_walk(struct search *s, const struct search_subject *t, bool list,
				  uint64_t *total, struct walk_line *line)
{
	enum walk_kind kind;
	if (list) {
		uint64_t before = s->listing.found.total;
		kind = listing_add(&s->listing, s->walk, &t->listing, line);
		*total = s->listing.found.total - before;
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
	bool summary = (s->call->json ? !lines : binary || !lines) &&
		       (total > 0 || (q->count && !t->listing.label));
	if (kind == WALK_FAILED ||
	    (summary && search_add_summary(s, t, total, binary ? &what : NULL) < 0)) {
		progress_end(&s->progress);
		verb_fail(s->call, ENVELOPE_UNREADABLE, "%s: %m", t->name);
		return 1;
	}
	/* JSON has no other way to report a binary text that is not shown. */
	if (binary && total > 0 && s->call->json && !t->listing.label) {
		progress_end(&s->progress);
		verb_fail(s->call, ENVELOPE_BINARY,
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
		verb_error(s->call->verb->name, "%.*s", (int)(newline - at), at);
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
		notice_nothing(&notice, q, walk_lines(s->walk), is_apart);
		if (walk_long_line(s->walk)) {
			buffer_append_string(&notice, "; ");
			notice_long_line(&notice, walk_long_line(s->walk), WALK_EDGE);
		}
		/* The line about a gap, without its newline. */
		if (gap->len)
			buffer_printf(&notice, " %.*s", (int)gap->len - 1, gap->data);
	} else if (walk_long_line(s->walk) && !q->names) {
		notice_long_line(&notice, walk_long_line(s->walk), WALK_EDGE);
	}
	int result = buffer_check(&notice);
	if (result == 0 && notice.len)
		verb_error(s->call->verb->name, "%.*s", (int)notice.len, notice.data);
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
	if (s->call->json)
		return search_json_one(s, text, s->total);
	if (s->listing.found.full) {
		notice_more(&notice, &s->query, &s->listing.found);
		result = search_print_notice(s, &notice);
	} else {
		result = search_say_nothing(s, text);
	}
	if (result == 0 && (s->query.count || s->query.names))
		search_tell_gaps(s);
	return result;
}

/* Whether there is an artifact or file of this name. */
static bool search_is_text(const struct search *s, const char *name)
{
	struct store stores[STORE_MAX];
	struct id_found found;
	int count;
	bool is = verb_find(s->call, name, stores, &count, &found) == 0;
	store_close_all(stores, count);
	return is || (s->call->settings->reach == REACH_FILES && access(name, F_OK) == 0);
}

static int search_one(struct search *s)
{
	const char *name = s->name;
	struct text text;
	enum artifact_part part = s->query.standard_error ? ARTIFACT_ERR : ARTIFACT_OUT;
	if (verb_open(s->call, part, name, &text) < 0) {
		/* Is the pattern given first, as for grep? */
		if (!s->call->json && s->query.words == WORDS_COMMANDS &&
		    search_is_text(s, s->query.pattern))
			verb_error(s->call->verb->name,
				   "the text comes first: terse search %s REGEX", s->query.pattern);
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
		verb_fail(s->call, ENVELOPE_UNREADABLE, "%m");
		goto out;
	}
	s->query.place = t.listing.place = s->place.data;
	status = search_text(s, &t);
	if (status == 0 && search_end_one(s, &text) < 0) {
		verb_fail(s->call, ENVELOPE_UNREADABLE, "%m");
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
	if (s->call->json)
		return search_json_all(s, session);
	if (l->found.full && l->found.total)
		notice_more(&notice, q, &l->found);
	else if (l->found.full)
		notice_more_artifacts(&notice, q, s->listed, s->matching, l->found.out_of_room);
	else if (s->artifacts == 0)
		verb_error(s->call->verb->name, "session %s has no artifacts", session);
	else if (!s->found && !q->count && !q->names)
		verb_error(s->call->verb->name, "no match in %" PRIu64 " artifact%s of session %s",
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
			verb_error(s->call->verb->name, "%s: %m", found->id);
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
	if (s->listing.found.next_in == found->id) {
		snprintf(s->next_id, sizeof(s->next_id), "%s", found->id);
		s->listing.found.next_in = s->next_id;
	}
	walk_free(s->walk);
	s->walk = NULL;
	text_close(&text);
	return status;
}

/* Every artifact of a session, the newest first. */
static int search_all(struct search *s)
{
	char directory[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	struct id_found found;
	if (!verb_has_session(s->call))
		return 1;
	int got = -1, status = 0, unseen = 0;
	int count = verb_open_stores(s->call, stores, &unseen);
	verb_session_name(s->call->settings, s->call->session, directory);
	struct journal *j = journal_open(stores, count, directory, JOURNAL_MADE);
	while (j && status == 0 && (got = journal_next_made(j, &found)) == 1)
		status = search_found(s, &found);
	if (got < 0 || (status == 0 && search_end_all(s, directory) < 0)) {
		verb_fail(s->call, ENVELOPE_UNREADABLE, "%m");
		status = 1;
	} else if (status == 0) {
		status = search_status(s);
		followup_keep(&s->followup, s->first, s->first_id);
	}
	io_close(&s->first);
	if (status == 0)
		status = unseen;
	journal_close(j);
	store_close_all(stores, count);
	return status;
}

int search_answer(struct search *s)
{
	int status = search_prepare(s, s->name);
	if (status == 0)
		status = s->name ? search_one(s) : search_all(s);
	search_release(s);
	return status;
}

static int search_run(struct verb_call *c)
{
	struct search s = {.call = c, .first = -1};
	if (search_parse(&s) < 0)
		return EXIT_TERSE;
	s.sink = reader_of_text();
	return search_answer(&s);
}

#define SEARCH_AT(member) offsetof(struct search, member)

static const struct verb_option search_options[] = {
	{"--ignore-case", 'i', VERB_FLAG, SEARCH_AT(query.ignore_case), NULL, "ignore case"},
	{"--word-regexp", 'w', VERB_FLAG, SEARCH_AT(query.word), NULL, "match whole words"},
	{"--invert-match", 'v', VERB_FLAG, SEARCH_AT(query.invert), NULL,
	 "the lines that do not match"},
	{"--fixed-strings", 'F', VERB_FLAG, SEARCH_AT(query.literal), NULL,
	 "REGEX is a plain string"},
	{"--after-context", 'A', VERB_NUMBER, SEARCH_AT(query.after), "N",
	 "lines of context after a match"},
	{"--before-context", 'B', VERB_NUMBER, SEARCH_AT(query.before), "N", "before it"},
	{"--context", 'C', VERB_NUMBER, SEARCH_AT(context), "N", "around it"},
	{"--count", 'c', VERB_FLAG, SEARCH_AT(query.count), NULL, "print only the count"},
	{"--files-with-matches", 'l', VERB_FLAG, SEARCH_AT(query.names), NULL,
	 "print only the names of matching texts"},
	{"--regexp", 'e', VERB_TEXT, SEARCH_AT(query.pattern), "REGEX",
	 "the pattern, if it begins with a hyphen"},
	{"--text", 'a', VERB_FLAG, SEARCH_AT(query.binary), NULL,
	 "print lines of binary data, too"},
	{"--limit", 'm', VERB_COUNT, SEARCH_AT(query.limit), "N", "at most N matches"},
	{"--offset", 0, VERB_COUNT, SEARCH_AT(query.from), "N", "start at line N"},
	{"--all", 0, VERB_FLAG, SEARCH_AT(all), NULL, "search all artifacts of the session"},
	VERB_SESSION_ROW("search this session"),
	{"--stderr", 0, VERB_FLAG, SEARCH_AT(query.standard_error), NULL,
	 "search standard error, if it was kept apart"},
	VERB_JSON_ROW,
	VERB_COLOR_ROW,
	/* Accepted, as grep has them; they are always on. */
	{"-n", 0, VERB_FLAG, SEARCH_AT(as_it_is), NULL, NULL},
	{"-E", 0, VERB_FLAG, SEARCH_AT(as_it_is), NULL, NULL},
	{"-P", 0, VERB_FLAG, SEARCH_AT(as_it_is), NULL, NULL},
	VERB_END_ROW,
};

const struct verb verb_search = {
	.name = "search",
	.purpose = "print matching lines of an artifact or a file",
	.forms = "ID|FILE REGEX\n--all REGEX",
	.text = "Prints the lines of an artifact or of any file that match, as LINE:text, at most\n"
		"100 of them, and their total. A program that reads the output gets every one.\n"
		"Patterns are Perl's. Exits with 1 if nothing matches.\n",
	.options = search_options,
	.most = 3,
	.run = search_run,
};
