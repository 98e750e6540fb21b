// See listing.h.

#include "supervisor/reading/listing.h"

#include "lib/buffer.h"
#include "lib/gap.h"
#include "lib/human.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int add_switch(struct buffer *out, bool on, const char *text)
{
	return on ? buffer_append_string(out, text) : 0;
}

static int notice_add_number(struct buffer *out, const char *option, uint64_t n)
{
	return n > 0 ? buffer_printf(out, " %s %" PRIu64, option, n) : 0;
}

/* The pattern and what goes with it. */
static int add_pattern(struct buffer *out, const struct notice_query *q)
{
	bool same = q->before == q->after;
	if (buffer_append_string(out, q->pattern[0] == '-' ? " -e " : " ") < 0 ||
	    quote_append(out, q->pattern) < 0 ||
	    add_switch(out, q->standard_error, " --stderr") < 0 ||
	    add_switch(out, q->ignore_case, " -i") < 0 || add_switch(out, q->word, " -w") < 0 ||
	    add_switch(out, q->invert, " -v") < 0 || add_switch(out, q->literal, " -F") < 0 ||
	    add_switch(out, q->binary, " -a") < 0 || add_switch(out, q->count, " -c") < 0 ||
	    add_switch(out, q->names, " -l") < 0 || add_switch(out, q->json, " --json") < 0)
		return -1;
	if (same)
		return notice_add_number(out, "-C", q->before);
	return notice_add_number(out, "-B", q->before) < 0 ? -1
							   : notice_add_number(out, "-A", q->after);
}

static int notice_add_command(struct buffer *out, const struct notice_query *q, const char *place)
{
	if (buffer_append_string(out, "terse search ") < 0 ||
	    buffer_append_string(out, place ? place : "--all") < 0)
		return -1;
	if (!place && q->session &&
	    (buffer_append_string(out, " --session ") < 0 || quote_append(out, q->session) < 0))
		return -1;
	return add_pattern(out, q);
}

static int add_shown(struct buffer *out, uint64_t shown, uint64_t total, const char *what)
{
	char counts[2][HUMAN_LEN];
	return buffer_printf(out, "[%s of %s %s", human_count(counts[0], shown),
			     human_count(counts[1], total), what);
}

int notice_next(struct buffer *out, const struct notice_query *q, const struct listing *l)
{
	if (!l->next_in)
		return 0;
	if (notice_add_command(out, q, l->next_in) < 0 ||
	    buffer_printf(out, " --offset %" PRIu64, l->next) < 0)
		return -1;
	return l->out_of_room ? notice_add_number(out, "--limit", q->limit) : 0;
}

int notice_all(struct buffer *out, const struct notice_query *q, const struct listing *l)
{
	if (notice_add_command(out, q, q->place) < 0 ||
	    (q->from > 1 && buffer_printf(out, " --offset %" PRIu64, q->from) < 0))
		return -1;
	return buffer_printf(out, " --limit %" PRIu64, l->total);
}

int notice_more(struct buffer *out, const struct notice_query *q, const struct listing *l)
{
	char line[HUMAN_LEN];
	if (add_shown(out, l->shown, l->total, l->total == 1 ? "match" : "matches") < 0)
		return -1;
	if (q->from > 1 && buffer_printf(out, " from line %s on", human_count(line, q->from)) < 0)
		return -1;
	if (!l->next_in)
		return buffer_append_string(out, " shown, not all lines around them]\n");
	if (buffer_append_string(out, l->out_of_room ? " shown, as many as fit: " : " shown: ") < 0)
		return -1;
	if (l->out_of_room) {
		if (notice_next(out, q, l) < 0)
			return -1;
		return buffer_append_string(out, ", or narrow the pattern]\n");
	}
	if (notice_all(out, q, l) < 0 ||
	    buffer_append_string(out, ", or narrow the pattern]\n[next match: ") < 0 ||
	    (!q->place && buffer_printf(out, "%s, ", l->next_in) < 0) ||
	    buffer_printf(out, "line %s: ", human_count(line, l->next)) < 0 ||
	    notice_next(out, q, l) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int notice_more_artifacts(struct buffer *out, const struct notice_query *q, uint64_t shown,
			  uint64_t total, bool out_of_room)
{
	if (add_shown(out, shown, total, "artifacts shown: ") < 0)
		return -1;
	if (!out_of_room) {
		if (notice_add_command(out, q, NULL) < 0 ||
		    buffer_printf(out, " --limit %" PRIu64 ", or ", total) < 0)
			return -1;
	}
	return buffer_append_string(out, "narrow the pattern]\n");
}

int notice_gave_up(struct buffer *out, const struct notice_query *q, const char *place,
		   uint64_t line, const char *reason)
{
	char number[HUMAN_LEN];
	if (buffer_printf(out, "gave up at line %s", human_count(number, line)) < 0 ||
	    (!q->place && buffer_printf(out, " of %s", place) < 0) ||
	    buffer_printf(out, ": %s; behind it: ", reason) < 0 ||
	    notice_add_command(out, q, place) < 0)
		return -1;
	return buffer_printf(out, " --offset %" PRIu64, line + 1);
}

int notice_up_to(struct buffer *out, uint64_t shown, uint64_t line)
{
	char count[HUMAN_LEN], number[HUMAN_LEN];
	return buffer_printf(out, "[%s match%s shown, up to line %s where the search gave up]\n",
			     human_count(count, shown), shown == 1 ? "" : "es",
			     human_count(number, line));
}

int notice_binary(struct buffer *out, const struct notice_query *q, const char *kind,
		  uint64_t total)
{
	char count[HUMAN_LEN];
	if (buffer_printf(out, "[%s line%s in binary data", human_count(count, total),
			  total == 1 ? " matches" : "s match") < 0 ||
	    (kind && buffer_printf(out, " (%s)", kind) < 0) ||
	    buffer_append_string(out, ", not shown: ") < 0 ||
	    notice_add_command(out, q, q->place) < 0)
		return -1;
	return buffer_append_string(out, " -a]\n");
}

/* What people write for another kind of expression, or expect of another kind of program. */
static int notice_add_hint(struct buffer *out, const struct notice_query *q)
{
	static const struct {
		const char *text, *hint;
	} hints[] = {
		{"\\|", "; for one or the other write a|b, not a\\|b"},
		{"\\n", "; lines are matched one by one, so that \\n is never there"},
		{"\n", "; lines are matched one by one, so that a newline is never there"},
	};
	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints) && !q->literal; i++) {
		if (strstr(q->pattern, hints[i].text))
			return buffer_append_string(out, hints[i].hint);
	}
	return 0;
}

int notice_nothing(struct buffer *out, const struct notice_query *q, const struct walk *w,
		   bool apart)
{
	char count[HUMAN_LEN], first[HUMAN_LEN];
	uint64_t lines = walk_lines(w), before = q->from - 1;
	lines = lines > before ? lines - before : 0;
	if (buffer_printf(out, "%s in %s line%s",
			  q->invert ? "none that does not match" : "no match",
			  human_count(count, lines), lines == 1 ? "" : "s") < 0 ||
	    (q->from > 1 &&
	     buffer_printf(out, " from line %s on", human_count(first, q->from)) < 0) ||
	    (apart &&
	     buffer_append_string(out, "; standard error was kept apart, see --stderr") < 0) ||
	    (!q->invert && notice_add_hint(out, q) < 0))
		return -1;
	if (walk_long_line(w) == 0)
		return 0;
	return buffer_append_string(out, "; ") < 0 ? -1 : notice_long_line(out, walk_long_line(w));
}

int notice_long_line(struct buffer *out, uint64_t line)
{
	char number[HUMAN_LEN], size[HUMAN_LEN];
	return buffer_printf(out,
			     "line %s was searched in pieces: a match of over %s in it is missed",
			     human_count(number, line), human_size(size, WALK_EDGE));
}

size_t notice_room(const struct notice_query *q, const char *name)
{
	size_t words = strlen(q->pattern) + (q->session ? strlen(q->session) : 0) +
		       (name ? strlen(name) : 0);
	/* Twice the command; a byte of it becomes four at most. */
	return 512 + 2 * 4 * words;
}

/* What is shown before a match that is too long to be shown. */
#define LEAD 60

/* Up to `n` characters on from `at`. Returns how many there were. */
static size_t forward(const char *data, size_t len, size_t *at, size_t n)
{
	size_t done = 0;
	uint32_t cp;
	for (; done < n && *at < len; done++)
		*at += utf8_decode(data + *at, len - *at, &cp);
	return done;
}

/* The same towards the start. */
static size_t backward(const char *data, size_t *at, size_t n)
{
	size_t done = 0;
	uint32_t cp;
	for (; done<n && * at> 0; done++) {
		size_t step = 1;
		/* The longest character that ends here; else a byte that is none. */
		for (size_t back = 2; back <= 4 && back <= *at; back++) {
			const char *start = data + *at - back;
			if (utf8_decode(start, back, &cp) == back &&
			    (cp != UTF8_REPLACEMENT || (unsigned char)*start == 0xEF))
				step = back;
		}
		*at -= step;
	}
	return done;
}

/* Whether the line (or what is there of it) has more than EXCERPT_MAX characters. */
static bool excerpt_is_long(const char *data, size_t len)
{
	size_t at = 0;
	if (len <= EXCERPT_MAX)
		return false;
	forward(data, len, &at, EXCERPT_MAX);
	return at < len;
}

void excerpt_choose(struct excerpt *e, const struct walk_line *line,
		    const struct matcher_span *match)
{
	size_t inner = match->from;
	size_t taken = forward(line->data, match->to, &inner, EXCERPT_MAX);
	size_t lead = taken + LEAD > EXCERPT_MAX ? LEAD : (EXCERPT_MAX - taken) / 2;
	e->from = match->from;
	taken = backward(line->data, &e->from, lead);
	e->to = match->from;
	forward(line->data, line->len, &e->to, EXCERPT_MAX - taken);
	/* Near the end there is room for more before. */
	if (e->to == line->len) {
		size_t from = line->len;
		backward(line->data, &from, EXCERPT_MAX);
		if (from < e->from)
			e->from = from;
	}
	e->cut_before = e->from > 0 || line->more_before;
	e->cut_behind = e->to < line->len || line->more_behind;
}

int excerpt_append(struct buffer *out, const struct excerpt *e, const char *data)
{
	if ((e->cut_before && buffer_append_string(out, "[truncated]") < 0) ||
	    utf8_clean(out, data + e->from, e->to - e->from) < 0 ||
	    (e->cut_behind && buffer_append_string(out, "[truncated]") < 0))
		return -1;
	return 0;
}

static int listing_json_open(struct listing *l)
{
	if (l->shown > 0 && listing_json_close(l) < 0)
		return -1;
	return 0;
}

static int listing_json_before(struct listing *l)
{
	return json_begin_array(&l->out, "before");
}

static int listing_json_after(struct listing *l)
{
	return buffer_append_string(&l->out, "],\"after\":[");
}

int listing_json_close(struct listing *l)
{
	return buffer_append_string(&l->out, "]}");
}

/* The member "text". */
static int listing_json_add_text(struct listing *l, const char *data, size_t len)
{
	return json_add_text(&l->out, "text", data, len);
}

static int listing_json_add_command(struct listing *l, const struct listing_text *text,
				    uint64_t number)
{
	struct buffer command = BUFFER_INIT;
	int result = listing_read(&command, text, number, 1);
	if (result == 0)
		result = json_add_text(&l->out, "command", command.data, command.len);
	buffer_release(&command);
	return result;
}

/* A line that was found, or one around it; `excerpt` NULL: whole. */
static int listing_json_line(struct listing *l, const struct listing_text *text,
			     const struct walk_line *line, const struct excerpt *e)
{
	struct buffer *out = &l->out;
	const char *data = e ? line->data + e->from : line->data;
	size_t len = e ? e->to - e->from : line->len;
	if (json_begin_object(out, NULL) < 0 ||
	    (line->wanted && text->label && json_add_string(out, "artifact", text->label) < 0) ||
	    json_add_count(out, "line", line->number) < 0 ||
	    listing_json_add_text(l, data, len) < 0 || json_add_bool(out, "truncated", e) < 0 ||
	    (e && listing_json_add_command(l, text, line->number) < 0))
		return -1;
	/* Of a line that was found more follows. */
	return line->wanted ? 0 : buffer_append_string(out, "}");
}

/* So many lines before. */
static int listing_json_omission(struct listing *l, uint64_t lines)
{
	if (json_begin_object(&l->out, NULL) < 0 || json_add_count(&l->out, "omitted", lines) < 0)
		return -1;
	return buffer_append_string(&l->out, "}");
}

static int listing_json_gap(struct listing *l, const struct listing_text *text,
			    const struct text_piece *gap)
{
	struct buffer *out = &l->gap;
	if (gap_begin_json(out, &gap->gap) < 0 ||
	    (text->label && json_add_string(out, "artifact", text->label) < 0))
		return -1;
	return buffer_append_string(out, "}");
}

/* Printed at the latest when so much is collected. */
#define COLLECTED ((size_t)64 * 1024)

void listing_init(struct listing *l, const struct listing_options *options)
{
	*l = (struct listing){.options = *options};
}

void listing_release(struct listing *l)
{
	buffer_release(&l->out);
	buffer_release(&l->gap);
}

/* Prints what is collected. Returns 0, or -1 with errno. */
static int listing_flush(struct listing *l)
{
	if (l->out.len == 0)
		return 0;
	int result = l->options.print(l->options.ctx, l->out.data, l->out.len);
	l->printed += l->out.len;
	buffer_clear(&l->out);
	return result;
}

int listing_finish(struct listing *l)
{
	if (l->shown > 0 && (l->options.json ? listing_json_close(l)
					     : buffer_append(&l->out, l->gap.data, l->gap.len)) < 0)
		return -1;
	return listing_flush(l);
}

static bool listing_has_room(const struct listing *l)
{
	return l->printed + l->out.len <= l->options.room;
}

static void set_full(struct listing *l, bool out_of_room)
{
	if (!l->full)
		l->out_of_room = out_of_room;
	l->full = true;
}

/* --- lines ------------------------------------------------------------------- */

static int listing_add_number(struct listing *l, const struct listing_text *text, uint64_t number,
			      char separator)
{
	if (text->label && buffer_printf(&l->out, "%s%c", text->label, separator) < 0)
		return -1;
	return buffer_printf(&l->out, "%" PRIu64 "%c", number, separator);
}

int listing_read(struct buffer *out, const struct listing_text *text, uint64_t first,
		 uint64_t count)
{
	return buffer_printf(out, "terse read %s%s --offset %" PRIu64 " --limit %" PRIu64,
			     text->place, text->standard_error ? " --stderr" : "", first, count);
}

static int listing_add_cut(struct listing *l, const struct listing_text *text,
			   const struct walk_line *line, const struct excerpt *e)
{
	char size[HUMAN_LEN];
	if (excerpt_append(&l->out, e, line->data) < 0 ||
	    buffer_append_string(&l->out, " [whole line") < 0)
		return -1;
	/* Of a line that is not held at once nobody knows it yet. */
	if (!line->more_before && !line->more_behind &&
	    buffer_printf(&l->out, " (%s)", human_size(size, line->len)) < 0)
		return -1;
	if (buffer_append_string(&l->out, ": ") < 0 ||
	    listing_read(&l->out, text, line->number, 1) < 0)
		return -1;
	return buffer_append(&l->out, "]", 1);
}

static int listing_add_line(struct listing *l, const struct listing_text *text,
			    const struct walk_line *found, struct walk *w)
{
	struct walk_line line = *found;
	struct matcher_span match = {0, 0};
	struct excerpt e;
	/* The end of the line, as far as the pattern is concerned, too. */
	if (line.len > 0 && line.data[line.len - 1] == '\r' && !line.more_behind)
		line.len--;
	bool is_cut = line.more_before || line.more_behind ||
		      (!l->options.whole && excerpt_is_long(line.data, line.len));
	if (is_cut) {
		if (line.wanted)
			walk_span(w, found, &match);
		if (match.to > line.len)
			match.to = line.len;
		if (match.from > match.to)
			match.from = match.to;
		excerpt_choose(&e, &line, &match);
	}
	if (l->options.json)
		return listing_json_line(l, text, &line, is_cut ? &e : NULL);
	if (listing_add_number(l, text, line.number, line.wanted ? ':' : '-') < 0)
		return -1;
	if (is_cut) {
		if (listing_add_cut(l, text, &line, &e) < 0)
			return -1;
	} else if (utf8_clean(&l->out, line.data, line.len) < 0) {
		return -1;
	}
	return buffer_append(&l->out, "\n", 1);
}

/* --- what is before a line --------------------------------------------------- */

/* Lines first..last belong here and are not shown. */
static int add_omission(struct listing *l, const struct listing_text *text, uint64_t first,
			uint64_t last)
{
	char count[HUMAN_LEN];
	if (last < first)
		return 0;
	if (l->options.json)
		return listing_json_omission(l, last - first + 1);
	if (buffer_printf(&l->out, "[... %s line%s omitted: ", human_count(count, last - first + 1),
			  last == first ? "" : "s") < 0 ||
	    listing_read(&l->out, text, first, last - first + 1) < 0)
		return -1;
	return buffer_append_string(&l->out, "]\n");
}

static int add_before(struct listing *l, const struct listing_text *text, uint64_t number,
		      struct walk *w, uint64_t want, uint64_t have)
{
	struct walk_line line;
	if (add_omission(l, text, number - want, number - have - 1) < 0)
		return -1;
	for (uint64_t back = have; back > 0; back--) {
		walk_before(w, back, &line);
		if (listing_add_line(l, text, &line, w) < 0)
			return -1;
	}
	return 0;
}

/* The line and what goes before it, `have` lines of its context. */
static int add_group(struct listing *l, const struct listing_text *text,
		     const struct walk_line *line, struct walk *w, uint64_t have)
{
	const struct listing_options *o = &l->options;
	uint64_t known = l->last > l->floor ? l->last : l->floor;
	/* Behind a gap the rest of a line has its number, again. */
	uint64_t want = line->number > known ? line->number - 1 - known : 0;
	if (want > o->before)
		want = o->before;
	if (have > want)
		have = want;
	bool touches = l->last > 0 && line->number - want - 1 == l->last;
	bool first = l->shown == 0;
	if (o->json) {
		if (listing_json_open(l) < 0 || listing_add_line(l, text, line, w) < 0 ||
		    listing_json_before(l) < 0 ||
		    add_before(l, text, line->number, w, want, have) < 0)
			return -1;
		return listing_json_after(l);
	}
	if ((o->before || o->after) && !touches && !first && l->gap.len == 0 &&
	    buffer_append_string(&l->out, "--\n") < 0)
		return -1;
	if (buffer_append(&l->out, l->gap.data, l->gap.len) < 0 ||
	    add_before(l, text, line->number, w, want, have) < 0)
		return -1;
	return listing_add_line(l, text, line, w);
}

/* Returns 1 if there is no room for it. */
static int add_found(struct listing *l, const struct listing_text *text,
		     const struct walk_line *line, struct walk *w)
{
	size_t before = l->out.len;
	uint64_t have = walk_behind(w, l->options.before);
	for (;;) {
		if (add_group(l, text, line, w, have) < 0)
			return -1;
		if (listing_has_room(l))
			break;
		buffer_truncate(&l->out, before);
		/* Something has to be shown, and what is nearest counts most. */
		if (l->shown > 0 || have == 0)
			return 1;
		have /= 2;
	}
	if (!l->options.json)
		buffer_clear(&l->gap);
	l->last = line->number;
	l->shown++;
	if (l->out.len > COLLECTED && listing_flush(l) < 0)
		return -1;
	return 0;
}

/* --- a text ------------------------------------------------------------------ */

int listing_note_gap(struct listing *l, const struct listing_text *text,
		     const struct text_piece *gap)
{
	char line[GAP_ANNOUNCE_MAX];
	size_t len = gap_announce(line, &gap->gap);
	l->floor = gap->gap.to - gap->goes_on;
	if (l->options.json)
		return listing_json_gap(l, text, gap);
	if (text->label && buffer_printf(&l->gap, "%s: ", text->label) < 0)
		return -1;
	return buffer_append(&l->gap, line, len);
}

/* The lines behind one that was found. WALK_LINE: *line is the next that is. */
static enum walk_kind add_after(struct listing *l, struct walk *w, const struct listing_text *text,
				struct walk_line *line)
{
	for (uint64_t n = 0; n < l->options.after; n++) {
		enum walk_kind kind = walk_step(w, line);
		if (kind != WALK_LINE || line->wanted)
			return kind;
		size_t before = l->out.len;
		if (listing_add_line(l, text, line, w) < 0)
			return WALK_FAILED;
		if (!listing_has_room(l)) {
			buffer_truncate(&l->out, before);
			set_full(l, true);
			break;
		}
		l->last = line->number;
	}
	return walk_next(w, line);
}

static enum walk_kind count_rest(struct listing *l, struct walk *w, const struct listing_text *text,
				 struct walk_line *line)
{
	enum walk_kind kind;
	if (listing_flush(l) < 0)
		return WALK_FAILED;
	while ((kind = walk_count(w, &l->total, line)) == WALK_GAP) {
		if (listing_note_gap(l, text, walk_gap(w)) < 0)
			return WALK_FAILED;
	}
	return kind;
}

enum walk_kind listing_add(struct listing *l, struct walk *w, const struct listing_text *text,
			   struct walk_line *line)
{
	l->last = 0;
	l->floor = l->options.from - 1;
	enum walk_kind kind = walk_next(w, line);
	for (;;) {
		if (kind == WALK_GAP) {
			if (listing_note_gap(l, text, walk_gap(w)) < 0)
				return WALK_FAILED;
			kind = walk_next(w, line);
			continue;
		}
		if (kind != WALK_LINE)
			break;
		l->total++;
		if (l->shown >= l->options.limit)
			set_full(l, false);
		int added = l->full ? 1 : add_found(l, text, line, w);
		if (added < 0)
			return WALK_FAILED;
		if (added > 0) {
			set_full(l, true);
			if (!l->next_in) {
				l->next = line->number;
				l->next_in = text->place;
			}
			kind = count_rest(l, w, text, line);
			break;
		}
		kind = add_after(l, w, text, line);
	}
	return kind;
}
