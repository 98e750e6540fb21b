// terse search ID|FILE|--all REGEX: the lines of a text that match, with their numbers.
//
// An agent gets so many lines and bytes, and then how many there are. A program
// (`terse search ID REGEX | sort`) gets all of them, uncut, and nothing else.

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/command/followup.h"
#include "supervisor/command/person.h"
#include "supervisor/command/verb.h"
#include "supervisor/reading/listing.h"
#include "supervisor/reading/matcher.h"
#include "supervisor/reading/walk.h"
#include "supervisor/report/file_type.h"
#include "supervisor/report/notice.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The limit of the search profile. */
#define PAGE_MATCHES 100

struct search {
	struct verb_call *call;
	struct notice_query query;
	const char *name; /* the text as given; NULL: all of a session */
	bool all, as_it_is;
	uint64_t context; /* before and after, where they are not given */
	enum sink sink;
	struct matcher *matcher;
	struct listing listing;
	struct walk *walk; /* the search in the current text, or NULL */
	struct buffer place;
	struct buffer text;       /* for JSON: what would be printed */
	char next_id[ID_LEN + 1]; /* storage of listing.next_in in a search through many */

	/* In a search through many: the artifacts, those that match, and those listed (-l, -c). */
	uint64_t artifacts, matching, listed;
	bool found;     /* a match */
	uint64_t total; /* matches in the last text */

	/* What was printed counts as read of the first artifact with a match: its session's
	   directory, or -1. */
	struct followup followup;
	int first;
	char first_id[ID_LEN + 1];
	uint64_t size; /* of the text */
	struct progress progress;
};

/* A text that is searched. */
struct search_subject {
	struct text *text;
	const char *name; /* for messages */
	struct listing_text listing;
};

/* --- what is printed ------------------------------------------------------------------ */

/* Prints the answer as JSON, for one text or for a session: the matches as text, how many there
   are, and how to continue. Returns 0, or -1 with errno. */
static int search_json(struct search *s, const struct text *text, const char *session)
{
	const struct notice_query *q = &s->query;
	const struct notice_found *f = &s->listing.found;
	struct buffer out = BUFFER_INIT, next = BUFFER_INIT, all = BUFFER_INIT;
	bool lines = !q->names && !q->count;
	if (!lines || f->shown == 0)
		buffer_add(&s->text, &s->listing.gap);
	envelope_begin(&out);
	if (text) {
		verb_json_place(&out, text, s->name);
	} else {
		json_add_string(&out, "session", session);
		json_add_count(&out, "searched", s->artifacts);
	}
	json_add_text(&out, "text", s->text.data, s->text.len);
	out.failed |= s->text.failed;
	json_add_count(&out, "shown", lines ? f->shown : text ? s->total : s->listed);
	json_add_count(&out, "total", lines ? f->total : text ? s->total : s->matching);
	json_add_bool(&out, "truncated", f->full);
	if (f->full && lines)
		notice_next(&next, q, f);
	if (f->full && lines && !f->out_of_room)
		notice_all(&all, q, f);
	json_add_made(&out, "next", &next);
	json_add_made(&out, "all", &all);
	if (text && walk_long_line(s->walk))
		json_add_count(&out, "long_line", walk_long_line(s->walk));
	envelope_end(&out);
	followup_add(&s->followup, out.data, out.len);
	int result = verb_write(&out);
	buffer_release(&out);
	return result;
}

/* For the listing: prints on standard output, or collects in s->text. */
static int search_print(void *ctx, const char *data, size_t len)
{
	struct search *s = ctx;
	if (!s->call->json) {
		progress_end(&s->progress);
		followup_add(&s->followup, data, len);
		return io_write(STDOUT_FILENO, data, len);
	}
	buffer_append(&s->text, data, len);
	return buffer_check(&s->text);
}

/* Adds a line about a whole text, if the limits allow one more: for -c and -l, or if it is `binary`
   (its kind, or "") and not shown. Returns 0, or -1 with ENOMEM. */
static int search_add_summary(struct search *s, const struct search_subject *t, uint64_t total,
			      const char *binary)
{
	const struct notice_query *q = &s->query;
	struct listing *l = &s->listing;
	struct buffer line = BUFFER_INIT;
	const char *label = t->listing.label;
	if (q->names)
		quote_text(&line, t->name, strlen(t->name), 0);
	else if (label)
		buffer_printf(&line, q->count ? "%s:" : "%s: ", label);
	if (binary) {
		struct notice_query one = *q;
		one.place = t->listing.place;
		notice_binary(&line, &one, *binary ? binary : NULL, total);
	} else if (q->count && !q->names) {
		buffer_printf(&line, "%" PRIu64 "\n", total);
	} else {
		buffer_append_string(&line, "\n");
	}
	if (label) {
		s->matching++;
		if (!l->found.full && s->listed >= l->options.limit)
			l->found.full = true;
		else if (!l->found.full && l->printed + l->out.len + line.len > l->options.room)
			l->found.full = l->found.out_of_room = true;
		s->listed += !l->found.full;
	}
	if (!label || !l->found.full)
		buffer_add(&l->out, &line);
	buffer_release(&line);
	return buffer_check(&l->out);
}

/* Prints the closing notices: after the one text was searched, or (NULL) all of a session. Returns
   0, or -1 with errno. */
static int search_end(struct search *s, const struct text *text, const char *session)
{
	const struct notice_query *q = &s->query;
	struct listing *l = &s->listing;
	const struct notice_found *f = &l->found;
	struct buffer notice = BUFFER_INIT, said = BUFFER_INIT;
	bool lines = !q->count && !q->names;
	progress_end(&s->progress);
	if (listing_finish(l) < 0)
		return -1;
	if (s->call->json)
		return search_json(s, text, session);
	if (f->full && (text || f->total)) {
		notice_more(&notice, q, f);
	} else if (f->full) {
		notice_more_artifacts(&notice, q, s->listed, s->matching, f->out_of_room);
	} else if (!text && s->artifacts == 0) {
		buffer_printf(&said, "session %s has no artifacts", session);
	} else if (!text && !s->found && lines) {
		buffer_printf(&said, "no match in %" PRIu64 " artifact%s of session %s",
			      s->artifacts, s->artifacts == 1 ? "" : "s", session);
	} else if (text && !s->found && lines) {
		notice_nothing(&said, q, walk_lines(s->walk),
			       *text->id && !q->standard_error &&
				       id_has_file(text->dir, text->id, ARTIFACT_ERR));
		if (walk_long_line(s->walk)) {
			buffer_append_string(&said, "; ");
			notice_long_line(&said, walk_long_line(s->walk), WALK_EDGE);
		}
		/* The line about a gap, without its newline. */
		if (l->gap.len)
			buffer_printf(&said, " %.*s", (int)l->gap.len - 1, l->gap.data);
	} else if (text && walk_long_line(s->walk) && !q->names) {
		notice_long_line(&said, walk_long_line(s->walk), WALK_EDGE);
	}
	int result = buffer_check(&said);
	/* To a model that is the answer. */
	bool answers = s->call->settings->words == WORDS_TOOLS;
	buffer_append(&said, "\n", answers && said.len);
	if (result == 0 && answers)
		result = reader_notice(s->sink, &said);
	else if (result == 0 && said.len)
		verb_error(s->call->verb->name, "%.*s", (int)said.len, said.data);
	if (result == 0)
		result = reader_notice(s->sink, &notice);
	followup_add(&s->followup, notice.data, notice.len);
	buffer_release(&notice);
	buffer_release(&said);
	/* The gaps of texts that are not listed. */
	const char *at = l->gap.data, *end = l->gap.data + l->gap.len, *newline;
	bool tells = result == 0 && (!lines || (!text && !s->found));
	for (; tells && at < end && (newline = memchr(at, '\n', (size_t)(end - at)));
	     at = newline + 1)
		verb_error(s->call->verb->name, "%.*s", (int)(newline - at), at);
	return result;
}

/* Reports that the search gave up at a line, and what was found before. */
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

/* --- a limit to its time ---------------------------------------------------------------- */

/* Seconds of processor time for a block of text (walk.h). Only a bad pattern takes PCRE2 so
   long, which can't be made to return. */
#define PATIENCE 10

static void search_give_up_text(int number)
{
	static const char failure[] =
		"terse search: gave up: one part of the text takes too long\n";
	(void)number;
	io_write(STDERR_FILENO, failure, sizeof(failure) - 1);
	_exit(EXIT_TERSE);
}

static void search_give_up_json(int number)
{
	static const char failure[] = "{\"ok\":false,\"error\":{\"code\":\"bad_pattern\","
				      "\"message\":\"one part of the text takes too long\"}}\n";
	(void)number;
	io_write(STDOUT_FILENO, failure, sizeof(failure) - 1);
	_exit(EXIT_TERSE);
}

/* For the walk: another block begins. What was found before is printed. */
static void search_tick(void *ctx, uint64_t bytes)
{
	const struct itimerval limit = {.it_value.tv_sec = PATIENCE};
	struct search *s = ctx;
	listing_flush(&s->listing);
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
	progress_tell(&s->progress, "searching: %u %%",
		      (unsigned)(s->size ? bytes * 100 / s->size : 100));
}

/* --- what is asked ---------------------------------------------------------------------- */

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
	if (!s->matcher) {
		verb_fail(s->call, ENVELOPE_UNREADABLE, "%m");
		return EXIT_TERSE;
	}
	bool whole = s->sink == SINK_PROGRAM;
	size_t reserved = notice_room(q, name);
	s->followup = (struct followup){.is_counted = !whole};
	s->listing.options = (struct listing_options){
		.before = q->before,
		.after = q->after,
		.limit = q->limit ? q->limit
			 : whole  ? UINT64_MAX
				  : PAGE_MATCHES,
		.room = whole || s->sink == SINK_PERSON             ? SIZE_MAX
			: reserved + LISTING_ROOM_MIN < READER_PAGE ? READER_PAGE - reserved
								    : LISTING_ROOM_MIN,
		.whole = whole,
		.mark = s->call->colour ? paint_code(true, PAINT_MATCH) : NULL,
		.unmark = s->call->colour ? paint_none(true) : NULL,
		.words = q->words,
		.from = q->from,
		.print = search_print,
		.ctx = s,
	};
	/* It may be blocked by whoever started us. */
	sigset_t alarm;
	signal(SIGVTALRM, q->json ? search_give_up_json : search_give_up_text);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGVTALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	progress_begin(&s->progress);
	return 0;
}

/* Searches the text of s->walk. */
static enum walk_kind search_walk(struct search *s, const struct search_subject *t, bool list,
				  uint64_t *total, struct walk_line *line)
{
	enum walk_kind kind;
	struct buffer *gaps = &s->listing.gap;
	size_t before = gaps->len;
	if (list) {
		uint64_t total_before = s->listing.found.total;
		kind = listing_add(&s->listing, s->walk, &t->listing, line);
		*total = s->listing.found.total - total_before;
		return kind;
	}
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
	const char *what = NULL;
	struct walk_line line = {.number = 0};
	uint64_t total = 0;
	bool lines = !q->count && !q->names;
	bool binary = lines && !q->binary && verb_is_binary(t->text, &what);
	const struct walk_options options = {
		.invert = q->invert,
		.context = lines ? q->before : 0,
		.from = q->from,
		.tick = search_tick,
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
	bool summary = (binary || !lines) && (total > 0 || (q->count && !t->listing.label));
	if (kind == WALK_FAILED || (summary && search_add_summary(s, t, total,
								  !binary ? NULL
								  : what  ? what
									  : "") < 0)) {
		progress_end(&s->progress);
		verb_fail(s->call, ENVELOPE_UNREADABLE, "%s: %m", t->name);
		return 1;
	}
	return 0;
}

/* The exit status: 0, 1: nothing was found; 2: a match may be in a gap. */
static int search_status(const struct search *s)
{
	return s->found ? 0 : s->listing.gap.len ? 2 : 1;
}

static int search_one(struct search *s)
{
	const char *name = s->name;
	struct text text;
	enum artifact_part part = s->query.standard_error ? ARTIFACT_ERR : ARTIFACT_OUT;
	if (verb_open(s->call, part, name, &text) < 0) {
		/* Is the pattern given first, as for grep? */
		const char *first = s->query.pattern;
		struct store stores[STORE_MAX];
		struct id_found found;
		int count;
		if (s->call->json || s->query.words != WORDS_COMMANDS)
			return 1;
		if (verb_find(s->call, first, stores, &count, &found) == 0 ||
		    (s->call->settings->reach == REACH_FILES && access(first, F_OK) == 0))
			verb_error(s->call->verb->name,
				   "the text comes first: terse search %s REGEX", first);
		store_close_all(stores, count);
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
	if (status == 0 && search_end(s, &text, NULL) < 0) {
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
	if (got < 0 || (status == 0 && search_end(s, NULL, directory) < 0)) {
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

static int search_run(struct verb_call *c)
{
	static const char usage[] = "usage: terse search ID|FILE|--all REGEX";
	const uint64_t unset = UINT64_MAX;
	struct search s = {
		.call = c, .first = -1, .query = {.before = unset, .after = unset, .from = 1}};
	struct notice_query *q = &s.query;
	if (verb_parse(c, &s) < 0)
		return EXIT_TERSE;
	/* Which operand is the text, which the pattern. */
	int count = c->operand_count;
	if (!q->pattern && count > 0)
		q->pattern = c->operands[--count];
	if (count > 0)
		s.name = c->operands[0];
	const char *wrong = count > 1         ? "one argument too many"
			    : !q->pattern     ? usage
			    : s.name && s.all ? "--all searches every artifact: name no text"
			    : !s.name && !s.all && !c->session ? usage
			    : !s.name && q->from > 1           ? "--offset needs one text"
							       : NULL;
	if (wrong) {
		verb_fail(c, ENVELOPE_USAGE, "%s", wrong);
		return EXIT_TERSE;
	}
	if (q->before == unset)
		q->before = s.context;
	if (q->after == unset)
		q->after = s.context;
	q->session = s.name ? NULL : c->session;
	s.sink = c->json ? SINK_AGENT : reader_of_text();
	int status = search_prepare(&s, s.name);
	if (status == 0)
		status = s.name ? search_one(&s) : search_all(&s);
	setitimer(ITIMER_VIRTUAL, &(struct itimerval){0}, NULL);
	walk_free(s.walk);
	matcher_free(s.matcher);
	buffer_release(&s.listing.out);
	buffer_release(&s.listing.gap);
	buffer_release(&s.place);
	buffer_release(&s.text);
	return status;
}

#define SEARCH_AT(member) offsetof(struct search, member)

static const struct verb_option search_options[] = {
	{"--ignore-case", 'i', VERB_FLAG, SEARCH_AT(query.ignore_case), NULL, "ignore case"},
	{"--word-regexp", 'w', VERB_FLAG, SEARCH_AT(query.word), NULL, "match whole words"},
	{"--invert-match", 'v', VERB_FLAG, SEARCH_AT(query.invert), NULL,
	 "the lines that do not match"},
	{"--fixed-strings", 'F', VERB_FLAG, SEARCH_AT(query.literal), NULL,
	 "REGEX is a plain string"},
	{"--after-context", 'A', VERB_NUMBER, SEARCH_AT(query.after), "N", "lines after a match"},
	{"--before-context", 'B', VERB_NUMBER, SEARCH_AT(query.before), "N",
	 "lines before a match"},
	{"--context", 'C', VERB_NUMBER, SEARCH_AT(context), "N", "lines before and after"},
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
