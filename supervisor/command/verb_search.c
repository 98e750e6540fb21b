// terse search ID|FILE|--all|--remote REGEX: prints the lines of a text that match, with their
// numbers.
//
//   12:text                 a match
//   13-text                 a line around it; "--" between groups that do not touch
//   cmd-1m5zq8k3x7f:12:text in a search through several texts
//   14:[truncated]...text...[truncated] [whole line (5.0 MB): terse read ID --offset 14 --limit 1]
//   [... lines 5,001-9,000 (4,000, 1.2 MB) not kept: ...]
//
// An agent gets a limited number of lines and bytes, and a line that says how many matches there
// are. A program (`terse search ID REGEX | sort`) gets all matches, uncut, and nothing else.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/command/internal.h"
#include "supervisor/reading/matcher.h"
#include "supervisor/reading/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The most matches that an agent gets by default. */
#define PAGE_MATCHES 100

/* Bytes of a long line that are shown, with the match in the middle; LEAD of them are before a
   match that is too long for that. */
#define EXCERPT_MAX ((size_t)500)
#define LEAD        60

/* Bytes; enough for one match, cut as far as possible. */
#define ROOM_MIN ((size_t)4096)

/* The most runs of the remote that are searched, since each has to be fetched. */
#define REMOTE_RUNS 100

/* Output is written in pieces of about this size. */
#define COLLECTED ((size_t)64 * 1024)

struct search {
	struct verb_call *call;
	const char *name; /* the text as it was given; NULL: many texts */
	const char *pattern;
	bool all, remote, as_it_is;
	struct runs_filter filter; /* for many texts */
	bool ignore_case, word, invert, literal, binary, standard_error, count, names;
	bool lines; /* neither `count` nor `names` */
	bool whole; /* long lines are not cut */
	uint64_t before, after, context;
	uint64_t from;  /* the first line; 1: all */
	uint64_t limit; /* as it was given, or 0 */
	enum sink sink;
	struct matcher *matcher;
	uint64_t most; /* the most matches that are shown; UINT64_MAX: all */
	size_t room;   /* the most bytes, at least ROOM_MIN; SIZE_MAX: all */

	/* The current text. */
	struct wording_place where;
	const char *label;          /* printed before each line, unless NULL */
	struct buffer quoted;       /* the name of the only text, for a shell */
	uint64_t last, floor;       /* number of the last printed line; lines up to `floor` are in a
				       gap, or before `from` */
	uint64_t total, line_count; /* numbers of matches, of lines */
	uint64_t long_line;         /* number of the first line that was searched in pieces */

	/* All texts. */
	struct buffer out;       /* output to be printed; with --json all of it, an object for each
				    line */
	struct buffer gap;       /* gaps that are announced before the next match; with --json all
				    gaps */
	size_t printed;          /* printed bytes */
	int error;               /* errno of the first print that failed, after which nothing is
				    printed */
	bool found;              /* there was a match */
	uint64_t shown, matches; /* numbers of shown matches, of all matches */
	bool full;               /* some match was not shown */
	bool out_of_room;        /* because of `room`, not of `most` */
	uint64_t next;           /* number of the line of the first match that was not shown; 0: all
				    were shown */
	/* In a search through many texts: numbers of artifacts; of those with a match; of those
	   listed (-l, -c). */
	uint64_t artifacts, matching, listed;

	/* Printed bytes count as read from one artifact: the only one, or the first with a match.
	   `first`: its session directory, or -1. */
	struct followup followup;
	int first;
	char first_id[ID_LEN + 1];
};

/* --- commands that go on -------------------------------------------------------------- */

/* Appends "terse search ID REGEX -i -C 2 --offset 7 --limit 9". `place` NULL: --all. `from`,
   `limit` 0: left out. */
static void search_add_command(struct buffer *out, const struct search *s, const char *place,
			       uint64_t from, uint64_t limit)
{
	const struct vocabulary *words = &vocabularies[s->call->settings->words];
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
		buffer_printf(out, "%s%s", words->search,
			      place       ? place
			      : s->remote ? "--remote"
					  : "--all");
		if (!place && s->call->session) {
			buffer_append_string(out, " --session ");
			quote_append(out, s->call->session);
		}
		if (!place)
			runs_filter_add(out, &s->filter);
		buffer_append_string(out, s->pattern[0] == '-' ? " -e " : " ");
		quote_append(out, s->pattern);
		buffer_append_string(out, s->standard_error ? words->standard_error : "");
		for (const struct verb_option *o = s->call->verb->options; o->name; o++) {
			if (o->letter && o->kind == VERB_FLAG &&
			    *(const bool *)((const char *)s + o->at))
				buffer_printf(out, " -%c", o->letter);
		}
		buffer_append_string(out, s->call->json ? " --json" : "");
	}
	for (size_t i = s->call->settings->words == WORDS_TOOLS ? 3 : 0; i < 5; i++) {
		if (numbers[i].n)
			buffer_printf(out, " %s%s%" PRIu64, numbers[i].name, words->is,
				      numbers[i].n);
	}
}

/* Appends the command that shows more: from the first match that was not shown; for many texts, all
   matches. */
static void search_add_next(struct buffer *out, const struct search *s)
{
	if (!s->name)
		search_add_command(out, s, NULL, 0, s->matches ? s->matches : s->matching);
	else if (s->next)
		search_add_command(out, s, s->where.id, s->next, s->limit);
}

/* --- matches --------------------------------------------------------------------------- */

/* Prints the collected output. Returns 0, or -1 with errno; after an error always -1. */
static int search_flush(struct search *s)
{
	if (buffer_check(&s->out) < 0)
		return -1;
	if (s->call->json)
		return 0;
	if (!s->error && s->out.len > 0) {
		followup_add(&s->followup, s->out.data, s->out.len);
		if (io_write(STDOUT_FILENO, s->out.data, s->out.len) < 0)
			s->error = errno;
	}
	s->printed += s->out.len;
	buffer_clear(&s->out);
	errno = s->error;
	return s->error ? -1 : 0;
}

/* Prints what is still collected after the last text, and the gaps after the last match. If no
   match was shown, search_end() reports the gaps. Returns 0, or -1 with errno. */
static int search_finish(struct search *s)
{
	if (s->shown > 0 && !s->call->json)
		buffer_append(&s->out, s->gap.data, s->gap.len);
	return buffer_check(&s->gap) < 0 ? -1 : search_flush(s);
}

static bool search_has_room(const struct search *s)
{
	return s->printed + s->out.len <= s->room;
}

static void search_set_full(struct search *s, bool out_of_room)
{
	if (!s->full)
		s->out_of_room = out_of_room;
	s->full = true;
}

/* Notes a gap, which is announced before the next match. Returns 0, or -1 with ENOMEM. */
static int search_note_gap(struct search *s, const struct text_piece *gap)
{
	char line[GAP_ANNOUNCE_MAX];
	s->floor = gap->gap.to - gap->goes_on;
	if (s->call->json) {
		gap_begin_json(&s->gap, &gap->gap);
		if (s->label)
			json_add_string(&s->gap, "artifact", s->label);
		json_end(&s->gap, '}');
		return buffer_check(&s->gap);
	}
	if (s->label)
		buffer_printf(&s->gap, "%s: ", s->label);
	buffer_append(&s->gap, line, gap_announce(line, &gap->gap));
	return buffer_check(&s->gap);
}

/* Adds a matching line, or a line near one. */
static void search_add_line(struct search *s, const struct walk_line *found, struct walk *w)
{
	struct walk_line line = *found;
	struct matcher_span match = {0, 0};
	struct buffer *out = &s->out;
	const char separator = line.wanted ? ':' : '-';
	/* The CR at its end is not part of the line. */
	if (line.len > 0 && line.data[line.len - 1] == '\r' && !line.more_behind)
		line.len--;
	size_t from = 0, to = line.len;
	bool part = line.more_before || line.more_behind;
	bool is_cut = part || (!s->whole && line.len > EXCERPT_MAX);
	if (line.wanted && (is_cut || s->call->colour))
		walk_span(w, found, &match);
	if (match.to > line.len)
		match.to = line.len;
	if (match.from > match.to)
		match.from = match.to;
	if (is_cut) {
		/* Shows the match in the middle, or the start of a match that is too long for that.
		   Near the end of the line, more bytes before the match fit. Characters are not
		   split. */
		size_t inner = match.to - match.from;
		size_t lead = inner + LEAD > EXCERPT_MAX ? LEAD : (EXCERPT_MAX - inner) / 2;
		from = match.from > lead ? match.from - lead : 0;
		if (line.len < from + EXCERPT_MAX)
			from = line.len > EXCERPT_MAX ? line.len - EXCERPT_MAX : 0;
		from = utf8_floor(line.data, line.len, from);
		if (line.len > from + EXCERPT_MAX)
			to = utf8_floor(line.data, line.len, from + EXCERPT_MAX);
	}
	if (s->call->json) {
		json_begin(out, NULL, '{');
		if (s->label)
			json_add_string(out, "artifact", s->label);
		json_add_count(out, "line", line.number);
		json_add_bool(out, "match", line.wanted);
		json_add_text(out, "text", line.data + from, to - from);
		json_add_bool(out, "truncated", is_cut);
		json_end(out, '}');
		return;
	}
	if (s->label)
		buffer_printf(out, "%s%c", s->label, separator);
	buffer_printf(out, "%" PRIu64 "%c", line.number, separator);
	if (from > 0 || line.more_before)
		buffer_append_string(out, "[truncated]");
	if (match.to > to)
		match.to = to;
	const bool marks = s->call->colour && match.to > match.from;
	if (!marks)
		match = (struct matcher_span){to, to};
	utf8_clean(out, line.data + from, match.from - from);
	buffer_append_string(out, paint_code(marks, PAINT_MATCH));
	utf8_clean(out, line.data + match.from, match.to - match.from);
	buffer_append_string(out, paint_none(marks));
	utf8_clean(out, line.data + match.to, to - match.to);
	if (to < line.len || line.more_behind)
		buffer_append_string(out, "[truncated]");
	if (is_cut) {
		buffer_append_string(out, " [whole line");
		/* The size of the line is unknown if only a part of it is in memory. */
		if (!part)
			buffer_printf(out, " (%s)", HUMAN_SIZE(line.len));
		buffer_append_string(out, ": ");
		wording_read_lines(out, &s->where, line.number, 1);
		buffer_append_string(out, "]");
	}
	buffer_append_string(out, "\n");
}

/* Adds a matching line and the lines before it. Returns 0; 1 if there is no room for the match; or
   -1 with errno. */
static int search_add_match(struct search *s, const struct walk_line *line, struct walk *w)
{
	struct walk_line around;
	size_t before = s->out.len;
	uint64_t known = s->last > s->floor ? s->last : s->floor;
	/* `known` may be the match's own number: a gap can be inside a line, whose rest has the
	   same number. */
	uint64_t want = line->number > known ? line->number - 1 - known : 0;
	if (want > s->before)
		want = s->before;
	/* Shows the `have` nearest of these lines. */
	uint64_t have = walk_before_count(w, want);
	bool touches = s->last > 0 && line->number - want - 1 == s->last;
	for (;;) {
		bool group = (s->before || s->after) && !touches && s->shown > 0;
		if (group && s->gap.len == 0 && !s->call->json)
			buffer_append_string(&s->out, "--\n");
		buffer_append(&s->out, s->gap.data, s->call->json ? 0 : s->gap.len);
		if (want > have && s->call->json) {
			json_begin(&s->out, NULL, '{');
			json_add_count(&s->out, "omitted", want - have);
			json_end(&s->out, '}');
		} else if (want > have) {
			wording_omitted(&s->out, &s->where, line->number - want, want - have);
		}
		for (uint64_t back = have; back > 0; back--) {
			walk_before(w, back, &around);
			search_add_line(s, &around, w);
		}
		search_add_line(s, line, w);
		if (buffer_check(&s->out) < 0)
			return -1;
		if (search_has_room(s))
			break;
		buffer_truncate(&s->out, before);
		/* The first match is always shown: drops the farthest half of the lines before
		   it. */
		if (s->shown > 0 || have == 0)
			return 1;
		have /= 2;
	}
	if (!s->call->json)
		buffer_clear(&s->gap);
	s->last = line->number;
	s->shown++;
	return s->out.len > COLLECTED ? search_flush(s) : 0;
}

/* Lists the matches of a text. Returns WALK_END, WALK_GAVE_UP at *line, or WALK_FAILED with errno.
   Matches before an error are printed. */
static enum walk_kind search_list(struct search *s, struct walk *w, struct walk_line *line)
{
	uint64_t behind = 0; /* how many more lines after a match are shown */
	s->last = 0;
	s->floor = s->from - 1;
	for (;;) {
		enum walk_kind kind = behind ? walk_step(w, line) : walk_next(w, line);
		if (kind == WALK_GAP) {
			behind = 0;
			if (search_note_gap(s, line->gap) < 0)
				return WALK_FAILED;
			continue;
		}
		if (kind != WALK_LINE)
			return kind;
		if (!line->wanted) {
			size_t before = s->out.len;
			search_add_line(s, line, w);
			if (buffer_check(&s->out) < 0)
				return WALK_FAILED;
			behind--;
			if (search_has_room(s)) {
				s->last = line->number;
				continue;
			}
			buffer_truncate(&s->out, before);
			search_set_full(s, true);
			behind = 0;
			continue;
		}
		s->matches++;
		bool over = s->shown >= s->most;
		int added = s->full || over ? 1 : search_add_match(s, line, w);
		if (added < 0)
			return WALK_FAILED;
		behind = added ? 0 : s->after;
		if (added == 0)
			continue;
		/* Further matches are only counted. */
		search_set_full(s, !over);
		if (!s->next)
			s->next = line->number;
		if (search_flush(s) < 0)
			return WALK_FAILED;
	}
}

/* --- what is printed ------------------------------------------------------------------ */

/* Prints the answer as JSON, for one text or for a session: the matches, their number, and the
   command that shows more. Returns 0, or -1 with errno. */
static int search_json(struct search *s, const struct text *text, const char *session)
{
	struct buffer out = BUFFER_INIT, next = BUFFER_INIT;
	envelope_begin(&out);
	if (text) {
		verb_json_place(&out, text, s->name);
	} else {
		json_add_string(&out, "session", session);
		json_add_count(&out, "searched", s->artifacts);
	}
	json_begin(&out, "found", '[');
	buffer_add(&out, &s->out);
	json_end(&out, ']');
	json_begin(&out, "gaps", '[');
	buffer_add(&out, &s->gap);
	json_end(&out, ']');
	json_add_count(&out, "shown", s->lines ? s->shown : text ? s->total : s->listed);
	json_add_count(&out, "total", s->lines ? s->matches : text ? s->total : s->matching);
	json_add_bool(&out, "truncated", s->full);
	if (s->full && (s->name || !s->out_of_room))
		search_add_next(&next, s);
	json_add_made(&out, "next", &next);
	if (text && s->long_line)
		json_add_count(&out, "long_line", s->long_line);
	envelope_end(&out);
	followup_add(&s->followup, out.data, out.len);
	int result = verb_write(&out);
	buffer_release(&out);
	return result;
}

/* Adds a line about a whole text, if the limits allow it: for -c and -l, or for a binary text,
   which is not shown (`binary`: its type, or ""). Returns 0, or -1 with ENOMEM. */
static int search_add_summary(struct search *s, const char *name, uint64_t total,
			      const char *binary)
{
	struct buffer line = BUFFER_INIT;
	const char *label = s->label;
	if (s->call->json) {
		json_begin(&line, NULL, '{');
		json_add_string(&line, "artifact", label);
		json_add_known(&line, "total", !s->names, total);
		json_add_string(&line, "binary", binary);
		json_end(&line, '}');
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
			search_add_command(&line, s, s->where.id, 0, 0);
			buffer_append_string(&line, " -a]");
		} else if (s->count && !s->names) {
			buffer_printf(&line, "%" PRIu64, total);
		}
		buffer_append_string(&line, "\n");
	}
	if (label) {
		s->matching++;
		if (s->listed >= s->most || s->printed + s->out.len + line.len > s->room)
			search_set_full(s, s->listed < s->most);
		s->listed += !s->full;
	}
	if (s->call->json && (!label || !s->full))
		json_add_raw(&s->out, NULL, line.data, line.len);
	else if (!label || !s->full)
		buffer_add(&s->out, &line);
	buffer_release(&line);
	return buffer_check(&s->out);
}

/* Appends "[100 of 82,310 matches shown: terse search ID REGEX --offset 1234, or narrow the
   pattern]", or the like for a list of artifacts. */
static void search_add_more(struct buffer *out, const struct search *s)
{
	const bool lists = !s->name && !s->matches;
	if (lists)
		buffer_printf(out, "[%s of %s artifacts", HUMAN_COUNT(s->listed),
			      HUMAN_COUNT(s->matching));
	else
		buffer_printf(out, "[%s of %s match%s", HUMAN_COUNT(s->shown),
			      HUMAN_COUNT(s->matches), s->matches == 1 ? "" : "es");
	if (s->from > 1)
		buffer_printf(out, " from line %s on", HUMAN_COUNT(s->from));
	if (!lists && !s->next) {
		buffer_append_string(out, " shown, not all lines around them]\n");
		return;
	}
	buffer_append_string(out, s->out_of_room ? " shown, as many as fit: " : " shown: ");
	if (s->name || !s->out_of_room) {
		search_add_next(out, s);
		buffer_append_string(out, ", or ");
	}
	buffer_append_string(out, "narrow the pattern]\n");
}

/* Appends "no match in 8,432 lines", and a likely reason. */
static void search_add_nothing(struct buffer *out, const struct search *s, const struct text *text)
{
	/* Syntax that has another meaning in PCRE than in other regular expressions or programs. */
	static const struct {
		const char *text, *advice;
	} known[] = {
		{"\\|", "; for one or the other write a|b, not a\\|b"},
		{"\\n", "; lines are matched one by one, so that \\n is never there"},
		{"\n", "; lines are matched one by one, so that a newline is never there"},
	};
	uint64_t lines = s->line_count >= s->from ? s->line_count - s->from + 1 : 0;
	buffer_printf(out, "%s in %s line%s", s->invert ? "none that does not match" : "no match",
		      HUMAN_COUNT(lines), lines == 1 ? "" : "s");
	if (s->from > 1)
		buffer_printf(out, " from line %s on", HUMAN_COUNT(s->from));
	int other = *text->id && !s->standard_error
			    ? id_open_text(text->dir, text->id, ARTIFACT_ERR)
			    : -1;
	if (other >= 0)
		buffer_printf(out, "; standard error was kept apart, see%s",
			      vocabularies[s->call->settings->words].standard_error);
	io_close(&other);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !s->literal && !s->invert; i++) {
		if (strstr(s->pattern, known[i].text)) {
			buffer_append_string(out, known[i].advice);
			break;
		}
	}
}

/* Prints the last notices after the search of one text, or (NULL) of many. Returns the exit status:
   0; 1 if nothing was found; 2 if a match may be in a gap. */
static int search_end(struct search *s, const struct text *text, const char *session)
{
	struct buffer notice = BUFFER_INIT, said = BUFFER_INIT;
	int result = search_finish(s);
	if (result == 0 && s->call->json) {
		result = search_json(s, text, session);
	} else if (result == 0) {
		bool nothing = s->lines && !s->found && !s->full;
		if (s->full)
			search_add_more(&notice, s);
		else if (!text && s->artifacts == 0)
			buffer_printf(&said, "%s%s has no %sartifacts", session ? "session " : "",
				      session ? session : s->call->settings->remote,
				      !session || runs_filter_is_set(&s->filter, true) ? "such "
										       : "");
		else if (!text && nothing)
			buffer_printf(&said, "no match in %" PRIu64 " artifact%s of %s%s",
				      s->artifacts, s->artifacts == 1 ? "" : "s",
				      session ? "session " : "",
				      session ? session : s->call->settings->remote);
		else if (nothing)
			search_add_nothing(&said, s, text);
		if (text && s->long_line && !s->full && !s->names)
			buffer_printf(&said,
				      "%sline %s was searched in pieces: a match of over %s in it "
				      "is missed",
				      said.len ? "; " : "", HUMAN_COUNT(s->long_line),
				      HUMAN_SIZE(WALK_EDGE));
		if (text && nothing && s->gap.len)
			buffer_printf(&said, " %.*s", (int)s->gap.len - 1, s->gap.data);
		result = buffer_check(&said);
		/* For a model with tools, the notices are the answer. */
		bool answers = s->call->settings->words == WORDS_TOOLS;
		buffer_append(&said, "\n", answers && said.len);
		if (result == 0 && answers)
			result = reader_notice(s->sink, &said);
		else if (result == 0 && said.len)
			verb_error(s->call->verb->name, "%.*s", (int)said.len, said.data);
		if (result == 0)
			result = reader_notice(s->sink, &notice);
		followup_add(&s->followup, notice.data, notice.len);
		/* Reports gaps that were not announced among matches. */
		const char *at = s->gap.data, *end = s->gap.data + s->gap.len, *newline;
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
	return s->found ? 0 : s->gap.len ? 2 : 1;
}

/* Reports at which line the search gave up, and how many matches it has found before. */
static void search_give_up(struct search *s, uint64_t line)
{
	const uint64_t shown = s->shown;
	struct buffer notice = BUFFER_INIT;
	buffer_printf(&notice, "gave up at line %s", HUMAN_COUNT(line));
	if (!s->name)
		buffer_printf(&notice, " of %s", s->where.id);
	buffer_printf(&notice, ": %s; behind it: ", matcher_reason(s->matcher));
	search_add_command(&notice, s, s->where.id, line + 1, 0);
	if (buffer_check(&notice) == 0)
		verb_fail(s->call, ENVELOPE_BAD_PATTERN, "%s: %.*s", s->pattern, (int)notice.len,
			  notice.data);
	buffer_clear(&notice);
	if (!s->call->json && search_finish(s) == 0 && shown > 0) {
		buffer_printf(&notice,
			      "[%s match%s shown, up to line %s where the search gave up]\n",
			      HUMAN_COUNT(shown), shown == 1 ? "" : "es", HUMAN_COUNT(line));
		reader_notice(s->sink, &notice);
	}
	buffer_release(&notice);
}

/* --- texts ------------------------------------------------------------------------------ */

/* Searches the text of s->where. Returns 0, or an exit status if the search has to end. */
static int search_text(struct search *s, struct text *text, const char *name)
{
	const char *what = NULL, *label = s->label;
	struct walk_line line = {.number = 0};
	uint64_t total = 0, total_before = s->matches;
	size_t gaps_before = s->gap.len;
	bool binary = s->lines && !s->binary && verb_is_binary(text, &what);
	const struct walk_options options = {
		.invert = s->invert,
		.context = s->lines ? s->before : 0,
		.from = s->from,
		.long_line = &s->long_line,
	};
	struct walk *w = walk_new(text, s->matcher, &options);
	enum walk_kind kind = w ? WALK_GAP : WALK_FAILED;
	if (w && s->lines && !binary) {
		kind = search_list(s, w, &line);
		total = s->matches - total_before;
	}
	/* Counts the matches; with -l the first one is enough. */
	while (kind == WALK_GAP || (kind == WALK_LINE && !s->names)) {
		kind = walk_next(w, &line);
		total += kind == WALK_LINE;
		if (kind == WALK_GAP && search_note_gap(s, line.gap) < 0)
			kind = WALK_FAILED;
	}
	if (s->names && total)
		buffer_truncate(&s->gap, gaps_before);
	s->line_count = line.number - 1;
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
		/* Prints a hint if the operands seem to be in grep's order, the pattern first. */
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
	int status = verb_place(s->call, &text, s->name, &s->quoted, &s->where) < 0
			     ? verb_fail(s->call, ENVELOPE_UNREADABLE, "%m")
			     : search_text(s, &text, *text.id ? text.id : s->name);
	if (status == 0)
		status = search_end(s, &text, NULL);
	text_close(&text);
	return status;
}

/* Searches one of many artifacts, if the filter lets it through. `dir`: its session directory.
   Returns as search_text(). */
static int search_artifact(struct search *s, int dir, const char *id)
{
	struct text text;
	struct meta m = {.owned = NULL};
	bool wanted = dir >= 0;
	/* With --remote, the filter was applied to the index already. */
	if (wanted && !s->remote && runs_filter_is_set(&s->filter, true))
		wanted = meta_read(dir, id, &m) == 0 && runs_filter_match(&s->filter, &m) > 0;
	meta_release(&m);
	if (!wanted)
		return 0;
	if (text_open(&text, dir, id, s->standard_error ? ARTIFACT_ERR : ARTIFACT_OUT) < 0) {
		/* It is not an error if the artifact was removed in the meantime, or if standard
		   error is part of the same text. */
		if (errno != ENOENT)
			verb_error(s->call->verb->name, "%s: %s", id, verb_reason(errno));
		return 0;
	}
	s->artifacts++;
	s->label = s->where.id = id;
	int status = search_text(s, &text, id);
	text_close(&text);
	return status;
}

/* Searches every artifact of a session, newest first. */
static int search_all(struct search *s)
{
	char directory[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	struct journal_line made;
	if (!verb_has_session(s->call, directory))
		return 1;
	int got = -1, status = 0, unseen = 0, dir = -1;
	const struct store *opened = NULL;
	int count = verb_open_stores(s->call, stores, &unseen);
	struct journal *j = journal_open(stores, count, directory, JOURNAL_MADE | JOURNAL_UNSEEN);
	while (j && status == 0 && (got = journal_next(j, &made)) == 1) {
		if (made.of.store != opened) {
			io_close(&dir);
			dir = store_open_session(made.of.store, made.of.session, false);
			opened = dir < 0 ? NULL : made.of.store;
		}
		status = search_artifact(s, dir, made.of.id);
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

/* Searches the newest runs of the remote that the filter lets through. */
static int search_remote(struct search *s)
{
	struct runs_remote remote = {.call = s->call, .filter = &s->filter, .most = REMOTE_RUNS};
	/* Runs that can't be fetched are reported on standard error, even with --json. */
	struct verb_call told = *s->call;
	struct id_found found;
	int status = runs_remote_find(&remote), unseen = 0;
	char id[ID_LEN + 1];
	told.json = false;
	told.session = NULL;
	for (size_t i = 0; i < remote.count && status == 0; i++) {
		id_unpack(remote.runs[i].id, id);
		int dir = verb_find_directory(&told, id, &found, NULL);
		unseen |= dir < 0;
		status = search_artifact(s, dir, id);
		io_close(&dir);
	}
	if (remote.more && !s->call->json)
		verb_error(s->call->verb->name,
			   "only the newest %d runs are searched: --since, --until, --label, "
			   "--host and others choose among them",
			   REMOTE_RUNS);
	if (status == 0)
		status = search_end(s, NULL, NULL);
	runs_remote_release(&remote);
	return status == 0 ? unseen : status;
}

static int search_run(struct verb_call *c)
{
	static const char usage[] = "usage: terse search ID|FILE|--all|--remote REGEX";
	const uint64_t unset = UINT64_MAX;
	struct search made = {.call = c,
			      .first = -1,
			      .before = unset,
			      .after = unset,
			      .from = 1,
			      .filter = RUNS_FILTER_NONE},
		      *s = &made;
	struct matcher_error error;
	if (verb_parse(c, s) < 0)
		return EXIT_TERSE;
	/* The last operand is the pattern, unless an option gave it; the first one is the text. */
	int count = c->operand_count, status = EXIT_TERSE;
	if (!s->pattern && count > 0)
		s->pattern = c->operands[--count];
	if (count > 0)
		s->name = c->operands[0];
	const bool many = s->all || s->remote;
	const char *wrong = count > 1     ? "one argument too many"
			    : !s->pattern ? usage
			    : s->name && many
				    ? "--all and --remote search many artifacts: name no text"
			    : s->name && runs_filter_is_set(&s->filter, true)
				    ? "options that choose runs go with --all or --remote"
			    : s->all && s->remote              ? "one of --all and --remote"
			    : s->filter.host && !s->remote     ? "--host goes with --remote"
			    : !s->name && !many && !c->session ? usage
			    : !s->name && s->from > 1          ? "--offset needs one text"
							       : NULL;
	if (wrong)
		return verb_fail(c, ENVELOPE_USAGE, "%s", wrong);
	const struct matcher_options pattern = {
		.ignore_case = s->ignore_case, .word = s->word, .literal = s->literal};
	s->matcher = matcher_new(s->pattern, &pattern, &error);
	if (!s->matcher && errno == EINVAL)
		return verb_fail(c, ENVELOPE_BAD_PATTERN, "%s: at offset %zu: %s", s->pattern,
				 error.offset, error.text);
	if (!s->matcher)
		return verb_fail(c, ENVELOPE_UNREADABLE, "%m");
	if (s->before == unset)
		s->before = s->context;
	if (s->after == unset)
		s->after = s->context;
	s->lines = !s->count && !s->names;
	s->sink = reader_of_text(c);
	s->whole = s->sink == SINK_PROGRAM;
	/* Room for notices, which name the command twice. Quoting turns one byte into at most
	   four. */
	size_t reserved = 512 + 2 * 4 *
					(strlen(s->pattern) + (s->name ? strlen(s->name) : 0) +
					 (!s->name && c->session ? strlen(c->session) : 0));
	s->followup = (struct followup){.is_counted = !s->whole};
	s->where =
		(struct wording_place){.words = c->settings->words, .is_stderr = s->standard_error};
	s->most = s->limit ? s->limit : s->whole ? UINT64_MAX : PAGE_MATCHES;
	s->room = s->whole || s->sink == SINK_PERSON  ? SIZE_MAX
		  : reserved + ROOM_MIN < READER_PAGE ? READER_PAGE - reserved
						      : ROOM_MIN;
	status = s->name ? search_one(s) : s->remote ? search_remote(s) : search_all(s);
	matcher_free(s->matcher);
	io_close(&s->first);
	buffer_release(&s->out);
	buffer_release(&s->gap);
	buffer_release(&s->quoted);
	return status;
}

#define SEARCH_AT(member) offsetof(struct search, member)
#define FILTER_AT(member) SEARCH_AT(filter.member)

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
	{"--remote", 0, VERB_FLAG, SEARCH_AT(remote), NULL,
	 "search what all machines pushed to the remote (--since 1h), the newest 100 runs"},
	VERB_SESSION_ROW("search this session"),
	RUNS_FILTER_ROWS(FILTER_AT),
	{"--stderr", 0, VERB_FLAG, SEARCH_AT(standard_error), NULL,
	 "search standard error, if it was kept apart"},
	VERB_JSON_ROW,
	VERB_COLOR_ROW,
	/* Options of grep that are always on here. */
	{"-n", 0, VERB_FLAG, SEARCH_AT(as_it_is), NULL, NULL},
	{"-E", 0, VERB_FLAG, SEARCH_AT(as_it_is), NULL, NULL},
	{"-P", 0, VERB_FLAG, SEARCH_AT(as_it_is), NULL, NULL},
	VERB_END_ROW,
};

const struct verb verb_search = {
	.name = "search",
	.purpose = "print matching lines of an artifact or a file",
	.forms = "ID|FILE REGEX\n--all REGEX\n--remote REGEX",
	.text = "Prints the lines of an artifact or of any file that match, as LINE:text, at most\n"
		"100 of them, and their total. A program that reads the output gets every one.\n"
		"Patterns are Perl's. Exits with 1 if nothing matches.\n",
	.options = search_options,
	.more = 3,
	.run = search_run,
};
