// See listing.h.

#include "supervisor/search/listing.h"

#include "supervisor/base/gap.h"
#include "supervisor/base/human.h"
#include "supervisor/base/utf8.h"
#include "supervisor/search/excerpt.h"
#include "supervisor/search/listing_json.h"

#include <errno.h>
#include <inttypes.h>

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

int listing_flush(struct listing *l)
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
		l->out.len = before;
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
			l->out.len = before;
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
