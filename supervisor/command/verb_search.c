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
#include "supervisor/command/internal.h"
#include "supervisor/reading/listing.h"
#include "supervisor/reading/matcher.h"
#include "supervisor/reading/walk.h"
#include "supervisor/report/file_type.h"
#include "supervisor/report/wording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The limit of the search profile. */
#define PAGE_MATCHES 100

struct search {
	struct verb_call *call;
	const char *name; /* the text as given; NULL: all of a session */
	const char *pattern;
	bool all, as_it_is;
	bool ignore_case, word, invert, literal, binary, standard_error, count, names;
	bool lines; /* neither `count` nor `names` */
	uint64_t before, after, context;
	uint64_t from;  /* 1: all lines */
	uint64_t limit; /* as given, or 0 */
	enum sink sink;
	struct matcher *matcher;
	struct listing listing;
	struct listing_text where; /* the current text */
	uint64_t last, long_line;  /* its last line, and the first that was searched in pieces */
	struct buffer quoted;      /* the name of the one text */
	char next_id[ID_LEN + 1];  /* storage of listing.next_in in a search through many */

	/* In a search through many: the artifacts, those that match, and those listed (-l, -c). */
	uint64_t artifacts, matching, listed;
	bool found;     /* a match */
	uint64_t total; /* matches in the last text */

	/* What was printed counts as read of the one artifact, or of the first with a match: its
	   session's directory, or -1. */
	struct followup followup;
	int first;
	char first_id[ID_LEN + 1];

	timer_t timer; /* see search_tick(); some sandboxes have none */
	bool has_timer;
	struct buffer late; /* the message if it expires */
};

/* --- commands that go on -------------------------------------------------------------- */

/* "terse search ID REGEX -i -C 2 --offset 7 --limit 9"; `place` NULL: --all; 0: not given. */
static void search_add_command(struct buffer *out, const struct search *s, const char *place,
			       uint64_t from, uint64_t limit)
{
	const struct vocabulary *words = &vocabularies[s->call->settings->words];
	const struct {
		bool is;
		const char *text;
	} flags[] = {
		{s->standard_error, words->standard_error},
		{s->ignore_case, " -i"},
		{s->word, " -w"},
		{s->invert, " -v"},
		{s->literal, " -F"},
		{s->binary, " -a"},
		{s->count, " -c"},
		{s->names, " -l"},
		{s->call->json, " --json"},
	};
	const struct {
		const char *name;
		uint64_t n;
	} numbers[] = {
		{"-C", s->before == s->after ? s->before : 0},
		{"-B", s->before != s->after ? s->before : 0},
		{"-A", s->before != s->after ? s->after : 0},
		{words->offset, from},
		{words->limit, limit},
	};
	if (s->call->settings->words == WORDS_TOOLS) {
		buffer_printf(out, "%s%s%s search=", words->search, place ? place : "last",
			      s->standard_error ? words->standard_error : "");
		quote_text(out, s->pattern, strlen(s->pattern), '"');
		if (s->before)
			buffer_printf(out, " context=%" PRIu64, s->before);
	} else {
		buffer_printf(out, "%s%s", words->search, place ? place : "--all");
		if (!place && s->call->session) {
			buffer_append_string(out, " --session ");
			quote_append(out, s->call->session);
		}
		buffer_append_string(out, s->pattern[0] == '-' ? " -e " : " ");
		quote_append(out, s->pattern);
		for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
			buffer_append_string(out, flags[i].is ? flags[i].text : "");
	}
	for (size_t i = s->call->settings->words == WORDS_TOOLS ? 3 : 0; i < 5; i++) {
		if (numbers[i].n)
			buffer_printf(out, " %s%s%" PRIu64, numbers[i].name, words->is,
				      numbers[i].n);
	}
}

/* The command that continues at the first match that was not shown, if there is one. */
static void search_add_next(struct buffer *out, const struct search *s)
{
	const struct listing_found *f = &s->listing.found;
	if (f->next_in)
		search_add_command(out, s, f->next_in, f->next, f->out_of_room ? s->limit : 0);
}

/* The command that shows all matches. */
static void search_add_all(struct buffer *out, const struct search *s)
{
	search_add_command(out, s, s->name ? s->where.place.id : NULL, s->from > 1 ? s->from : 0,
			   s->listing.found.total);
}

/* --- what is printed ------------------------------------------------------------------ */

/* Prints the answer as JSON, for one text or for a session: what was found, how much there is, and
   how to continue. Returns 0, or -1 with errno. */
static int search_json(struct search *s, const struct text *text, const char *session)
{
	const struct listing_found *f = &s->listing.found;
	struct buffer out = BUFFER_INIT, next = BUFFER_INIT, all = BUFFER_INIT;
	envelope_begin(&out);
	if (text) {
		verb_json_place(&out, text, s->name);
	} else {
		json_add_string(&out, "session", session);
		json_add_count(&out, "searched", s->artifacts);
	}
	json_begin_array(&out, "found");
	buffer_add(&out, &s->listing.out);
	json_end_array(&out);
	json_begin_array(&out, "gaps");
	buffer_add(&out, &s->listing.gap);
	json_end_array(&out);
	json_add_count(&out, "shown", s->lines ? f->shown : text ? s->total : s->listed);
	json_add_count(&out, "total", s->lines ? f->total : text ? s->total : s->matching);
	json_add_bool(&out, "truncated", f->full);
	if (f->full && s->lines)
		search_add_next(&next, s);
	if (f->full && s->lines && !f->out_of_room)
		search_add_all(&all, s);
	json_add_made(&out, "next", &next);
	json_add_made(&out, "all", &all);
	if (text && s->long_line)
		json_add_count(&out, "long_line", s->long_line);
	envelope_end(&out);
	followup_add(&s->followup, out.data, out.len);
	int result = verb_write(&out);
	buffer_release(&out);
	return result;
}

/* For the listing. */
static int search_print(void *ctx, const char *data, size_t len)
{
	struct search *s = ctx;
	followup_add(&s->followup, data, len);
	return io_write(STDOUT_FILENO, data, len);
}

/* Adds a line about a whole text, if the limits allow one more: for -c and -l, or if it is `binary`
   (its kind, or "") and not shown. Returns 0, or -1 with ENOMEM. */
static int search_add_summary(struct search *s, const char *name, uint64_t total,
			      const char *binary)
{
	struct listing *l = &s->listing;
	struct buffer line = BUFFER_INIT;
	const char *label = s->where.label;
	if (s->call->json) {
		json_begin_object(&line, NULL);
		json_add_string(&line, "artifact", label);
		json_add_known(&line, "total", !s->names, total);
		json_add_string(&line, "binary", binary);
		json_end_object(&line);
	} else {
		if (s->names)
			quote_text(&line, name, strlen(name), 0);
		else if (label)
			buffer_printf(&line, s->count ? "%s:" : "%s: ", label);
		if (binary) {
			/* "[12 lines match in binary data (ELF), not shown:
			   terse search FILE REGEX -a]" */
			buffer_printf(&line, "[%s line%s in binary data", HUMAN_COUNT(total),
				      total == 1 ? " matches" : "s match");
			if (*binary)
				buffer_printf(&line, " (%s)", binary);
			buffer_append_string(&line, ", not shown: ");
			search_add_command(&line, s, s->where.place.id, 0, 0);
			buffer_append_string(&line, " -a]");
		} else if (s->count && !s->names) {
			buffer_printf(&line, "%" PRIu64, total);
		}
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
	if (s->call->json && (!label || !l->found.full))
		json_add_raw(&l->out, NULL, line.data, line.len);
	else if (!label || !l->found.full)
		buffer_add(&l->out, &line);
	buffer_release(&line);
	return buffer_check(&l->out);
}

/* "[100 of 82,310 matches shown: terse search ID REGEX --limit 82310, or narrow the pattern]" and
   where the next match is; the same for a list of artifacts. */
static void search_add_more(struct buffer *out, const struct search *s)
{
	static const char narrow[] = "narrow the pattern]\n";
	const struct listing_found *f = &s->listing.found;
	if (!s->name && !f->total) {
		buffer_printf(out, "[%s of %s artifacts shown: ", HUMAN_COUNT(s->listed),
			      HUMAN_COUNT(s->matching));
		if (!f->out_of_room) {
			search_add_command(out, s, NULL, 0, s->matching);
			buffer_append_string(out, ", or ");
		}
		buffer_append_string(out, narrow);
		return;
	}
	buffer_printf(out, "[%s of %s match%s", HUMAN_COUNT(f->shown), HUMAN_COUNT(f->total),
		      f->total == 1 ? "" : "es");
	if (s->from > 1)
		buffer_printf(out, " from line %s on", HUMAN_COUNT(s->from));
	if (!f->next_in) {
		buffer_append_string(out, " shown, not all lines around them]\n");
	} else if (f->out_of_room) {
		buffer_append_string(out, " shown, as many as fit: ");
		search_add_next(out, s);
		buffer_printf(out, ", or %s", narrow);
	} else {
		buffer_append_string(out, " shown: ");
		search_add_all(out, s);
		buffer_printf(out, ", or %s[next match: ", narrow);
		if (!s->name)
			buffer_printf(out, "%s, ", f->next_in);
		buffer_printf(out, "line %s: ", HUMAN_COUNT(f->next));
		search_add_next(out, s);
		buffer_append_string(out, "]\n");
	}
}

/* "no match in 8,432 lines" of the one text, and the likely reason. */
static void search_add_nothing(struct buffer *out, const struct search *s, const struct text *text)
{
	/* Syntax that means something else in another kind of expression, or in another program. */
	static const struct {
		const char *text, *advice;
	} known[] = {
		{"\\|", "; for one or the other write a|b, not a\\|b"},
		{"\\n", "; lines are matched one by one, so that \\n is never there"},
		{"\n", "; lines are matched one by one, so that a newline is never there"},
	};
	uint64_t lines = s->last >= s->from ? s->last - s->from + 1 : 0;
	buffer_printf(out, "%s in %s line%s", s->invert ? "none that does not match" : "no match",
		      HUMAN_COUNT(lines), lines == 1 ? "" : "s");
	if (s->from > 1)
		buffer_printf(out, " from line %s on", HUMAN_COUNT(s->from));
	if (*text->id && !s->standard_error && id_has_file(text->dir, text->id, ARTIFACT_ERR))
		buffer_printf(out, "; standard error was kept apart, see%s",
			      vocabularies[s->call->settings->words].standard_error);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !s->literal && !s->invert; i++) {
		if (strstr(s->pattern, known[i].text)) {
			buffer_append_string(out, known[i].advice);
			break;
		}
	}
}

/* Prints the closing notices: after the one text was searched, or (NULL) all of a session. Returns
   the exit status: 0, 1: nothing was found; 2: a match may be in a gap. */
static int search_end(struct search *s, const struct text *text, const char *session)
{
	struct listing *l = &s->listing;
	const struct listing_found *f = &l->found;
	struct buffer notice = BUFFER_INIT, said = BUFFER_INIT;
	int result = listing_finish(l);
	if (result == 0 && s->call->json) {
		result = search_json(s, text, session);
	} else if (result == 0) {
		bool nothing = s->lines && !s->found && !f->full;
		if (f->full)
			search_add_more(&notice, s);
		else if (!text && s->artifacts == 0)
			buffer_printf(&said, "session %s has no artifacts", session);
		else if (!text && nothing)
			buffer_printf(&said, "no match in %" PRIu64 " artifact%s of session %s",
				      s->artifacts, s->artifacts == 1 ? "" : "s", session);
		else if (nothing)
			search_add_nothing(&said, s, text);
		/* A line that memory can't hold. */
		if (text && s->long_line && !f->full && !s->names)
			buffer_printf(&said,
				      "%sline %s was searched in pieces: a match of over %s in it "
				      "is missed",
				      said.len ? "; " : "", HUMAN_COUNT(s->long_line),
				      HUMAN_SIZE(WALK_EDGE));
		/* The line about a gap, without its newline. */
		if (text && nothing && l->gap.len)
			buffer_printf(&said, " %.*s", (int)l->gap.len - 1, l->gap.data);
		result = buffer_check(&said);
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
		/* The gaps of texts that are not listed. */
		const char *at = l->gap.data, *end = l->gap.data + l->gap.len, *newline;
		bool tells = result == 0 && (!s->lines || (!text && !s->found));
		for (; tells && at < end && (newline = memchr(at, '\n', (size_t)(end - at)));
		     at = newline + 1)
			verb_error(s->call->verb->name, "%.*s", (int)(newline - at), at);
	}
	buffer_release(&notice);
	buffer_release(&said);
	if (result < 0)
		return verb_fail(s->call, ENVELOPE_UNREADABLE, "%m");
	followup_keep(&s->followup, s->first, s->first_id);
	return s->found ? 0 : l->gap.len ? 2 : 1;
}

/* Reports that the search gave up at a line, and what was found before. */
static void search_give_up(struct search *s, uint64_t line)
{
	const uint64_t shown = s->listing.found.shown;
	struct buffer notice = BUFFER_INIT;
	buffer_printf(&notice, "gave up at line %s", HUMAN_COUNT(line));
	if (!s->name)
		buffer_printf(&notice, " of %s", s->where.place.id);
	buffer_printf(&notice, ": %s; behind it: ", matcher_reason(s->matcher));
	search_add_command(&notice, s, s->where.place.id, line + 1, 0);
	if (buffer_check(&notice) == 0)
		verb_fail(s->call, ENVELOPE_BAD_PATTERN, "%s: %.*s", s->pattern, (int)notice.len,
			  notice.data);
	buffer_clear(&notice);
	if (!s->call->json && listing_finish(&s->listing) == 0 && shown > 0) {
		buffer_printf(&notice,
			      "[%s match%s shown, up to line %s where the search gave up]\n",
			      HUMAN_COUNT(shown), shown == 1 ? "" : "es", HUMAN_COUNT(line));
		reader_notice(s->sink, &notice);
	}
	buffer_release(&notice);
}

/* --- a limit to its time ---------------------------------------------------------------- */

/* Seconds of processor time for a block of text (walk.h). Only a bad pattern takes PCRE2 so
   long, which can't be made to return. */
#define PATIENCE 10

static void search_on_timer(int number, siginfo_t *info, void *context)
{
	const struct search *s = info->si_value.sival_ptr;
	(void)number, (void)context;
	if (info->si_code != SI_TIMER)
		return;
	io_write(s->call->json ? STDOUT_FILENO : STDERR_FILENO, s->late.data, s->late.len);
	_exit(EXIT_TERSE);
}

/* For the walk: another block begins. What was found before is printed. */
static void search_tick(void *ctx, uint64_t line)
{
	const struct itimerspec limit = {.it_value.tv_sec = PATIENCE},
				none = {.it_value.tv_sec = 0};
	struct search *s = ctx;
	struct buffer text = BUFFER_INIT;
	/* The message is not there for a moment. */
	if (s->has_timer)
		timer_settime(s->timer, 0, &none, NULL);
	listing_flush(&s->listing);
	buffer_printf(&text, "%s: gave up in %s, from line %s on: a part of it takes over %d s",
		      s->pattern, s->where.place.id, HUMAN_COUNT(line), PATIENCE);
	buffer_clear(&s->late);
	verb_add_failure(s->call, ENVELOPE_BAD_PATTERN, &s->late, &text);
	buffer_release(&text);
	if (s->has_timer)
		timer_settime(s->timer, 0, &limit, NULL);
}

/* --- texts ------------------------------------------------------------------------------ */

/* Searches the text of s->where. Returns 0, or the exit status of a search that ends here. */
static int search_text(struct search *s, struct text *text, const char *name)
{
	struct listing *l = &s->listing;
	const char *what = NULL, *label = s->where.label;
	struct walk_line line = {.number = 0};
	uint64_t total = 0, total_before = l->found.total;
	size_t gaps_before = l->gap.len;
	bool binary = s->lines && !s->binary && verb_is_binary(text, &what);
	const struct walk_options options = {
		.invert = s->invert,
		.context = s->lines ? s->before : 0,
		.from = s->from,
		.tick = search_tick,
		.ctx = s,
		.long_line = &s->long_line,
	};
	struct walk *w = walk_new(text, s->matcher, &options);
	enum walk_kind kind = w ? WALK_GAP : WALK_FAILED;
	if (w && s->lines && !binary) {
		kind = listing_add(l, w, &s->where, &line);
		total = l->found.total - total_before;
	}
	/* For a name, one match is enough. */
	while (kind == WALK_GAP || (kind == WALK_LINE && !s->names)) {
		kind = walk_next(w, &line);
		total += kind == WALK_LINE;
		if (kind == WALK_GAP && listing_note_gap(l, &s->where, line.gap) < 0)
			kind = WALK_FAILED;
	}
	if (s->names && total)
		buffer_truncate(&l->gap, gaps_before);
	s->last = line.number - 1;
	walk_free(w);
	if (kind == WALK_GAVE_UP) {
		search_give_up(s, line.number);
		return EXIT_TERSE;
	}
	s->found |= total > 0;
	s->total = total;
	if (s->first < 0 && (s->found || s->name)) {
		s->first = fcntl(text->dir, F_DUPFD_CLOEXEC, 0);
		memcpy(s->first_id, text->id, sizeof(s->first_id));
	}
	bool summary = (binary || !s->lines) && (total > 0 || (s->count && !label));
	const char *kind_name = !binary ? NULL : what ? what : "";
	if (kind == WALK_FAILED || (summary && search_add_summary(s, name, total, kind_name) < 0))
		return verb_fail(s->call, ENVELOPE_UNREADABLE, "%s: %m", name);
	return 0;
}

static int search_one(struct search *s)
{
	struct text text;
	if (verb_open(s->call, s->standard_error ? ARTIFACT_ERR : ARTIFACT_OUT, s->name, &text) <
	    0) {
		/* Is the pattern given first, as for grep? */
		struct store stores[STORE_MAX];
		struct id_found found;
		int count;
		if (s->call->json || s->call->settings->words != WORDS_COMMANDS)
			return 1;
		if (verb_find(s->call, s->pattern, stores, &count, &found) == 0 ||
		    (s->call->settings->reach == REACH_FILES && access(s->pattern, F_OK) == 0))
			verb_error(s->call->verb->name,
				   "the text comes first: terse search %s REGEX", s->pattern);
		store_close_all(stores, count);
		return 1;
	}
	int status = 1;
	if (verb_place(s->call, &text, s->name, &s->quoted, &s->where.place) < 0)
		verb_fail(s->call, ENVELOPE_UNREADABLE, "%m");
	else
		status = search_text(s, &text, *text.id ? text.id : s->name);
	if (status == 0)
		status = search_end(s, &text, NULL);
	text_close(&text);
	return status;
}

/* Every artifact of a session, the newest first. */
static int search_all(struct search *s)
{
	char directory[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	struct journal_line made;
	struct text text;
	if (!verb_has_session(s->call, directory))
		return 1;
	int got = -1, status = 0, unseen = 0, dir = -1;
	const struct store *opened = NULL;
	int count = verb_open_stores(s->call, stores, &unseen);
	struct journal *j = journal_open(stores, count, directory, JOURNAL_MADE);
	while (j && status == 0 && (got = journal_next(j, &made)) == 1) {
		if (made.of.store != opened) {
			io_close(&dir);
			dir = store_open_session(made.of.store, made.of.session, false);
			opened = dir < 0 ? NULL : made.of.store;
		}
		if (dir < 0 || text_open(&text, dir, made.of.id,
					 s->standard_error ? ARTIFACT_ERR : ARTIFACT_OUT) < 0) {
			/* It was removed meanwhile, or both streams are one text. */
			if (errno != ENOENT)
				verb_error(s->call->verb->name, "%s: %m", made.of.id);
			continue;
		}
		s->artifacts++;
		s->where.label = s->where.place.id = made.of.id;
		status = search_text(s, &text, made.of.id);
		if (s->listing.found.next_in == made.of.id) {
			memcpy(s->next_id, made.of.id, sizeof(s->next_id));
			s->listing.found.next_in = s->next_id;
		}
		text_close(&text);
	}
	if (got < 0) {
		status = verb_fail(s->call, ENVELOPE_UNREADABLE, "%m");
	} else if (status == 0) {
		status = search_end(s, NULL, directory);
	}
	if (status == 0)
		status = unseen;
	journal_close(j);
	io_close(&dir);
	store_close_all(stores, count);
	return status;
}

static int search_run(struct verb_call *c)
{
	static const char usage[] = "usage: terse search ID|FILE|--all REGEX";
	const uint64_t unset = UINT64_MAX;
	struct search made = {.call = c, .first = -1, .before = unset, .after = unset, .from = 1},
		      *s = &made;
	struct matcher_error error;
	if (verb_parse(c, s) < 0)
		return EXIT_TERSE;
	/* Which operand is the text, which the pattern. */
	int count = c->operand_count, status = EXIT_TERSE;
	if (!s->pattern && count > 0)
		s->pattern = c->operands[--count];
	if (count > 0)
		s->name = c->operands[0];
	const char *wrong = count > 1           ? "one argument too many"
			    : !s->pattern       ? usage
			    : s->name && s->all ? "--all searches every artifact: name no text"
			    : !s->name && !s->all && !c->session ? usage
			    : !s->name && s->from > 1            ? "--offset needs one text"
								 : NULL;
	if (wrong)
		return verb_fail(c, ENVELOPE_USAGE, "%s", wrong);
	const struct matcher_options pattern = {
		.ignore_case = s->ignore_case, .word = s->word, .literal = s->literal};
	s->matcher = matcher_new(s->pattern, &pattern, &error);
	if (!s->matcher && errno == EINVAL)
		return verb_fail(c, ENVELOPE_BAD_PATTERN, "%s: at offset %zu: %s", s->pattern,
				 error.offset, error.text);
	if (!s->matcher) {
		verb_fail(c, ENVELOPE_UNREADABLE, "%m");
		return EXIT_TERSE;
	}
	if (s->before == unset)
		s->before = s->context;
	if (s->after == unset)
		s->after = s->context;
	s->lines = !s->count && !s->names;
	s->sink = c->json ? SINK_AGENT : reader_of_text(c->settings);
	bool whole = s->sink == SINK_PROGRAM;
	/* For notices: the command stands there twice; a byte becomes four at most. */
	size_t reserved = 512 + 2 * 4 *
					(strlen(s->pattern) + (s->name ? strlen(s->name) : 0) +
					 (!s->name && c->session ? strlen(c->session) : 0));
	s->followup = (struct followup){.is_counted = !whole};
	s->where.place =
		(struct wording_place){.words = c->settings->words, .is_stderr = s->standard_error};
	s->listing.options = (struct listing_options){
		.before = s->before,
		.after = s->after,
		.limit = s->limit ? s->limit
			 : whole  ? UINT64_MAX
				  : PAGE_MATCHES,
		.room = whole || s->sink == SINK_PERSON             ? SIZE_MAX
			: reserved + LISTING_ROOM_MIN < READER_PAGE ? READER_PAGE - reserved
								    : LISTING_ROOM_MIN,
		.whole = whole,
		.json = c->json,
		.mark = c->colour ? paint_code(true, PAINT_MATCH) : NULL,
		.unmark = c->colour ? paint_none(true) : NULL,
		.from = s->from,
		.print = search_print,
		.ctx = s,
	};
	struct sigaction action = {.sa_sigaction = search_on_timer, .sa_flags = SA_SIGINFO};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM, .sigev_value.sival_ptr = s};
	/* It may be blocked by whoever started us. */
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGVTALRM);
	sigaction(SIGVTALRM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	s->has_timer = timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &s->timer) == 0;
	status = s->name ? search_one(s) : search_all(s);
	if (s->has_timer)
		timer_delete(s->timer);
	matcher_free(s->matcher);
	io_close(&s->first);
	buffer_release(&s->listing.out);
	buffer_release(&s->listing.gap);
	buffer_release(&s->quoted);
	buffer_release(&s->late);
	return status;
}

#define SEARCH_AT(member) offsetof(struct search, member)

static const struct verb_option search_options[] = {
	{"--ignore-case", 'i', VERB_FLAG, SEARCH_AT(ignore_case), NULL, "ignore case"},
	{"--word-regexp", 'w', VERB_FLAG, SEARCH_AT(word), NULL, "match whole words"},
	{"--invert-match", 'v', VERB_FLAG, SEARCH_AT(invert), NULL, "the lines that do not match"},
	{"--fixed-strings", 'F', VERB_FLAG, SEARCH_AT(literal), NULL, "REGEX is a plain string"},
	{"--after-context", 'A', VERB_NUMBER, SEARCH_AT(after), "N", "lines after a match"},
	{"--before-context", 'B', VERB_NUMBER, SEARCH_AT(before), "N", "lines before a match"},
	{"--context", 'C', VERB_NUMBER, SEARCH_AT(context), "N", "lines before and after"},
	{"--count", 'c', VERB_FLAG, SEARCH_AT(count), NULL, "print only the count"},
	{"--files-with-matches", 'l', VERB_FLAG, SEARCH_AT(names), NULL,
	 "print only the names of matching texts"},
	{"--regexp", 'e', VERB_TEXT, SEARCH_AT(pattern), "REGEX",
	 "the pattern, if it begins with a hyphen"},
	{"--text", 'a', VERB_FLAG, SEARCH_AT(binary), NULL, "print lines of binary data, too"},
	{"--limit", 'm', VERB_COUNT, SEARCH_AT(limit), "N", "at most N matches"},
	{"--offset", 0, VERB_COUNT, SEARCH_AT(from), "N", "start at line N"},
	{"--all", 0, VERB_FLAG, SEARCH_AT(all), NULL, "search all artifacts of the session"},
	VERB_SESSION_ROW("search this session"),
	{"--stderr", 0, VERB_FLAG, SEARCH_AT(standard_error), NULL,
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
