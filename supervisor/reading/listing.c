// See listing.h.

#include "supervisor/reading/listing.h"

#include "lib/buffer.h"
#include "lib/gap.h"
#include "lib/human.h"
#include "lib/json.h"
#include "lib/utf8.h"

#include <inttypes.h>

/* Characters shown before a match that is too long to be shown. */
#define LEAD 60

/* Moves *at by up to `n` characters. Returns how many there were. */
static size_t forward(const char *data, size_t len, size_t *at, size_t n)
{
	size_t done = 0;
	uint32_t cp;
	for (; done < n && *at < len; done++)
		*at += utf8_decode(data + *at, len - *at, &cp);
	return done;
}

/* The same backwards. */
static size_t backward(const char *data, size_t *at, size_t n)
{
	size_t done = 0;
	uint32_t cp;
	for (; done<n && * at> 0; done++) {
		size_t step = 1;
		/* Step over the longest character that ends here, or over an invalid byte. */
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

/* Whether the line, as far as it is in memory, has more than EXCERPT_MAX characters. */
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
	/* Near the end of the line, more fits before the match. */
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
	if (e->cut_before)
		buffer_append_string(out, "[truncated]");
	utf8_clean(out, data + e->from, e->to - e->from);
	if (e->cut_behind)
		buffer_append_string(out, "[truncated]");
	return buffer_check(out);
}

/* The text of a line, for the commands that show it whole. */
static struct wording_place listing_place(const struct listing *l, const struct listing_text *text)
{
	return (struct wording_place){
		.id = text->place, .words = l->options.words, .is_stderr = text->standard_error};
}

/* --- the elements of an array in JSON ---------------------------------------------- */

/* Ends the element of the match before: "after" is its last member. */
static void listing_json_close(struct listing *l)
{
	json_end_array(&l->out);
	json_end_object(&l->out);
}

/* A match, whose element stays open, or a line around one. `e` NULL: the whole line. */
static void listing_json_line(struct listing *l, const struct listing_text *text,
			      const struct walk_line *line, const struct excerpt *e)
{
	struct buffer *out = &l->out;
	json_begin_object(out, NULL);
	if (line->wanted && text->label)
		json_add_string(out, "artifact", text->label);
	json_add_count(out, "line", line->number);
	json_add_text(out, "text", e ? line->data + e->from : line->data,
		      e ? e->to - e->from : line->len);
	json_add_bool(out, "truncated", e);
	if (e) {
		struct buffer command = BUFFER_INIT;
		const struct wording_place place = listing_place(l, text);
		wording_read_lines(&command, &place, (int64_t)line->number, 1);
		json_add_made(out, "command", &command);
	}
	if (!line->wanted)
		json_end_object(out);
}

/* `lines` lines before that did not fit. */
static void listing_json_omission(struct listing *l, uint64_t lines)
{
	json_begin_object(&l->out, NULL);
	json_add_count(&l->out, "omitted", lines);
	json_end_object(&l->out);
}

static void listing_json_gap(struct listing *l, const struct listing_text *text,
			     const struct text_piece *gap)
{
	gap_begin_json(&l->gap, &gap->gap);
	if (text->label)
		json_add_string(&l->gap, "artifact", text->label);
	json_end_object(&l->gap);
}

/* ------------------------------------------------------------------------------------ */

/* Output is written when so much is collected. */
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
	if (buffer_check(&l->out) < 0)
		return -1;
	if (l->out.len == 0)
		return 0;
	int result = l->options.print(l->options.ctx, l->out.data, l->out.len);
	l->printed += l->out.len;
	buffer_clear(&l->out);
	return result;
}

int listing_finish(struct listing *l)
{
	if (l->found.shown > 0 && l->options.json)
		listing_json_close(l);
	else if (l->found.shown > 0)
		buffer_append(&l->out, l->gap.data, l->gap.len);
	return buffer_check(&l->gap) < 0 ? -1 : listing_flush(l);
}

static bool listing_has_room(const struct listing *l)
{
	return l->printed + l->out.len <= l->options.room;
}

static void listing_set_full(struct listing *l, bool out_of_room)
{
	if (!l->found.full)
		l->found.out_of_room = out_of_room;
	l->found.full = true;
}

/* --- lines ------------------------------------------------------------------- */

static void listing_add_cut(struct listing *l, const struct listing_text *text,
			    const struct walk_line *line, const struct excerpt *e)
{
	char size[HUMAN_LEN];
	const struct wording_place place = listing_place(l, text);
	excerpt_append(&l->out, e, line->data);
	buffer_append_string(&l->out, " [whole line");
	/* The size is not known while a part of the line is not in memory. */
	if (!line->more_before && !line->more_behind)
		buffer_printf(&l->out, " (%s)", human_size(size, line->len));
	buffer_append_string(&l->out, ": ");
	wording_read_lines(&l->out, &place, (int64_t)line->number, 1);
	buffer_append_string(&l->out, "]");
}

/* Chooses the part of the line `found` that is shown; `line` is the line without its CR. */
static void listing_choose(struct excerpt *e, const struct walk_line *line,
			   const struct walk_line *found, struct walk *w)
{
	struct matcher_span match = {0, 0};
	if (line->wanted)
		walk_span(w, found, &match);
	if (match.to > line->len)
		match.to = line->len;
	if (match.from > match.to)
		match.from = match.to;
	excerpt_choose(e, line, &match);
}

/* A line that is not cut, with its match marked. */
static void listing_add_whole(struct listing *l, const struct walk_line *line,
			      const struct walk_line *found, struct walk *w)
{
	struct matcher_span match = {0, 0};
	if (l->options.mark && line->wanted)
		walk_span(w, found, &match);
	if (match.to <= match.from || match.to > line->len) {
		utf8_clean(&l->out, line->data, line->len);
		return;
	}
	utf8_clean(&l->out, line->data, match.from);
	buffer_append_string(&l->out, l->options.mark);
	utf8_clean(&l->out, line->data + match.from, match.to - match.from);
	buffer_append_string(&l->out, l->options.unmark);
	utf8_clean(&l->out, line->data + match.to, line->len - match.to);
}

static void listing_add_line(struct listing *l, const struct listing_text *text,
			     const struct walk_line *found, struct walk *w)
{
	struct walk_line line = *found;
	struct excerpt e;
	char separator = line.wanted ? ':' : '-';
	/* For the pattern, too, the line ends before its CR. */
	if (line.len > 0 && line.data[line.len - 1] == '\r' && !line.more_behind)
		line.len--;
	bool is_cut = line.more_before || line.more_behind ||
		      (!l->options.whole && excerpt_is_long(line.data, line.len));
	if (is_cut)
		listing_choose(&e, &line, found, w);
	if (l->options.json) {
		listing_json_line(l, text, &line, is_cut ? &e : NULL);
		return;
	}
	if (text->label)
		buffer_printf(&l->out, "%s%c", text->label, separator);
	buffer_printf(&l->out, "%" PRIu64 "%c", line.number, separator);
	if (is_cut)
		listing_add_cut(l, text, &line, &e);
	else
		listing_add_whole(l, &line, found, w);
	buffer_append_string(&l->out, "\n");
}

/* --- what is before a line --------------------------------------------------- */

/* The lines of the context: `want` of them belong here, the nearest `have` are shown. */
static void listing_add_before(struct listing *l, const struct listing_text *text, uint64_t number,
			       struct walk *w, uint64_t want, uint64_t have)
{
	struct walk_line line;
	if (want > have && l->options.json) {
		listing_json_omission(l, want - have);
	} else if (want > have) {
		const struct wording_place place = listing_place(l, text);
		notice_omitted(&l->out, &place, (int64_t)(number - want), want - have);
	}
	for (uint64_t back = have; back > 0; back--) {
		walk_before(w, back, &line);
		listing_add_line(l, text, &line, w);
	}
}

/* A match and what goes before it, `have` lines of its context. */
static void listing_add_group(struct listing *l, const struct listing_text *text,
			      const struct walk_line *line, struct walk *w, uint64_t have)
{
	const struct listing_options *o = &l->options;
	uint64_t known = l->last > l->floor ? l->last : l->floor;
	/* Behind a gap the rest of a line has the same number again. */
	uint64_t want = line->number > known ? line->number - 1 - known : 0;
	if (want > o->before)
		want = o->before;
	if (have > want)
		have = want;
	if (o->json) {
		if (l->found.shown > 0)
			listing_json_close(l);
		listing_add_line(l, text, line, w);
		json_begin_array(&l->out, "before");
		listing_add_before(l, text, line->number, w, want, have);
		json_end_array(&l->out);
		json_begin_array(&l->out, "after");
		return;
	}
	bool touches = l->last > 0 && line->number - want - 1 == l->last;
	if ((o->before || o->after) && !touches && l->found.shown > 0 && l->gap.len == 0)
		buffer_append_string(&l->out, "--\n");
	buffer_append(&l->out, l->gap.data, l->gap.len);
	listing_add_before(l, text, line->number, w, want, have);
	listing_add_line(l, text, line, w);
}

/* Returns 0, 1 if there is no room for it, or -1 with errno. */
static int listing_add_match(struct listing *l, const struct listing_text *text,
			     const struct walk_line *line, struct walk *w)
{
	size_t before = l->out.len;
	uint64_t have = walk_behind(w, l->options.before);
	for (;;) {
		listing_add_group(l, text, line, w, have);
		if (buffer_check(&l->out) < 0)
			return -1;
		if (listing_has_room(l))
			break;
		buffer_truncate(&l->out, before);
		/* At least one match is shown; drop the farthest lines around it. */
		if (l->found.shown > 0 || have == 0)
			return 1;
		have /= 2;
	}
	if (!l->options.json)
		buffer_clear(&l->gap);
	l->last = line->number;
	l->found.shown++;
	return l->out.len > COLLECTED ? listing_flush(l) : 0;
}

/* --- a text ------------------------------------------------------------------ */

int listing_note_gap(struct listing *l, const struct listing_text *text,
		     const struct text_piece *gap)
{
	char line[GAP_ANNOUNCE_MAX];
	size_t len = gap_announce(line, &gap->gap);
	l->floor = gap->gap.to - gap->goes_on;
	if (l->options.json) {
		listing_json_gap(l, text, gap);
		return buffer_check(&l->gap);
	}
	if (text->label)
		buffer_printf(&l->gap, "%s: ", text->label);
	buffer_append(&l->gap, line, len);
	return buffer_check(&l->gap);
}

/* The lines behind one that was found. WALK_LINE: *line is the next that is. */
static enum walk_kind listing_add_after(struct listing *l, struct walk *w,
					const struct listing_text *text, struct walk_line *line)
{
	for (uint64_t n = 0; n < l->options.after; n++) {
		enum walk_kind kind = walk_step(w, line);
		if (kind != WALK_LINE || line->wanted)
			return kind;
		size_t before = l->out.len;
		listing_add_line(l, text, line, w);
		if (buffer_check(&l->out) < 0)
			return WALK_FAILED;
		if (!listing_has_room(l)) {
			buffer_truncate(&l->out, before);
			listing_set_full(l, true);
			break;
		}
		l->last = line->number;
	}
	return walk_next(w, line);
}

static enum walk_kind listing_count_rest(struct listing *l, struct walk *w,
					 const struct listing_text *text, struct walk_line *line)
{
	enum walk_kind kind;
	if (listing_flush(l) < 0)
		return WALK_FAILED;
	while ((kind = walk_count(w, &l->found.total, line)) == WALK_GAP) {
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
		l->found.total++;
		if (l->found.shown >= l->options.limit)
			listing_set_full(l, false);
		int added = l->found.full ? 1 : listing_add_match(l, text, line, w);
		if (added < 0)
			return WALK_FAILED;
		if (added > 0) {
			listing_set_full(l, true);
			if (!l->found.next_in) {
				l->found.next = line->number;
				l->found.next_in = text->place;
			}
			kind = listing_count_rest(l, w, text, line);
			break;
		}
		kind = listing_add_after(l, w, text, line);
	}
	return kind;
}
