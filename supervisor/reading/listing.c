// See listing.h.

#include "supervisor/reading/listing.h"

#include "lib/buffer.h"
#include "lib/gap.h"
#include "lib/human.h"
#include "lib/json.h"
#include "lib/utf8.h"

#include <errno.h>
#include <inttypes.h>

/* Bytes shown before a match that is too long to be shown. */
#define LEAD 60

/* Output is written when so much is collected. */
#define COLLECTED ((size_t)64 * 1024)

int listing_flush(struct listing *l)
{
	if (buffer_check(&l->out) < 0 || l->options.json)
		return l->out.failed ? -1 : 0;
	if (!l->error && l->out.len > 0 &&
	    l->options.print(l->options.ctx, l->out.data, l->out.len) < 0)
		l->error = errno;
	l->printed += l->out.len;
	buffer_clear(&l->out);
	errno = l->error;
	return l->error ? -1 : 0;
}

int listing_finish(struct listing *l)
{
	if (l->found.shown > 0 && !l->options.json)
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

/* Adds a match, or a line around one. */
static void listing_add_line(struct listing *l, const struct listing_text *text,
			     const struct walk_line *found, struct walk *w)
{
	const struct listing_options *o = &l->options;
	struct walk_line line = *found;
	struct matcher_span match = {0, 0};
	struct buffer *out = &l->out;
	const char separator = line.wanted ? ':' : '-';
	/* For the pattern, too, the line ends before its CR. */
	if (line.len > 0 && line.data[line.len - 1] == '\r' && !line.more_behind)
		line.len--;
	size_t from = 0, to = line.len;
	bool part = line.more_before || line.more_behind;
	bool is_cut = part || (!o->whole && line.len > EXCERPT_MAX);
	if (line.wanted && (is_cut || o->mark))
		walk_span(w, found, &match);
	if (match.to > line.len)
		match.to = line.len;
	if (match.from > match.to)
		match.from = match.to;
	if (is_cut) {
		/* The match in the middle, or the beginning of a longer one; near the end of the
		   line, more fits before the match. No character is split. */
		size_t inner = match.to - match.from;
		size_t lead = inner + LEAD > EXCERPT_MAX ? LEAD : (EXCERPT_MAX - inner) / 2;
		from = match.from > lead ? match.from - lead : 0;
		if (line.len < from + EXCERPT_MAX)
			from = line.len > EXCERPT_MAX ? line.len - EXCERPT_MAX : 0;
		from = utf8_floor(line.data, line.len, from);
		if (line.len > from + EXCERPT_MAX)
			to = utf8_floor(line.data, line.len, from + EXCERPT_MAX);
	}
	if (o->json) {
		json_begin_object(out, NULL);
		if (text->label)
			json_add_string(out, "artifact", text->label);
		json_add_count(out, "line", line.number);
		json_add_bool(out, "match", line.wanted);
		json_add_text(out, "text", line.data + from, to - from);
		json_add_bool(out, "truncated", is_cut);
		json_end_object(out);
		return;
	}
	if (text->label)
		buffer_printf(out, "%s%c", text->label, separator);
	buffer_printf(out, "%" PRIu64 "%c", line.number, separator);
	if (from > 0 || line.more_before)
		buffer_append_string(out, "[truncated]");
	if (match.to > to)
		match.to = to;
	if (!o->mark || match.to <= match.from) {
		utf8_clean(out, line.data + from, to - from);
	} else {
		utf8_clean(out, line.data + from, match.from - from);
		buffer_append_string(out, o->mark);
		utf8_clean(out, line.data + match.from, match.to - match.from);
		buffer_append_string(out, o->unmark);
		utf8_clean(out, line.data + match.to, to - match.to);
	}
	if (to < line.len || line.more_behind)
		buffer_append_string(out, "[truncated]");
	if (is_cut) {
		buffer_append_string(out, " [whole line");
		/* The size is not known while a part of the line is not in memory. */
		if (!part)
			buffer_printf(out, " (%s)", HUMAN_SIZE(line.len));
		buffer_append_string(out, ": ");
		wording_read_lines(out, &text->place, line.number, 1);
		buffer_append_string(out, "]");
	}
	buffer_append_string(out, "\n");
}

/* Adds a match and what goes before it. Returns 0, 1 if there is no room for it, or -1 with
   errno. */
static int listing_add_match(struct listing *l, const struct listing_text *text,
			     const struct walk_line *line, struct walk *w)
{
	const struct listing_options *o = &l->options;
	struct walk_line around;
	size_t before = l->out.len;
	uint64_t known = l->last > l->floor ? l->last : l->floor;
	/* Behind a gap the rest of a line has the same number again. */
	uint64_t want = line->number > known ? line->number - 1 - known : 0;
	if (want > o->before)
		want = o->before;
	/* Of these lines the nearest `have` are shown. */
	uint64_t have = walk_behind(w, want);
	bool touches = l->last > 0 && line->number - want - 1 == l->last;
	for (;;) {
		bool group = (o->before || o->after) && !touches && l->found.shown > 0;
		if (group && l->gap.len == 0 && !o->json)
			buffer_append_string(&l->out, "--\n");
		buffer_append(&l->out, l->gap.data, o->json ? 0 : l->gap.len);
		if (want > have && o->json) {
			json_begin_object(&l->out, NULL);
			json_add_count(&l->out, "omitted", want - have);
			json_end_object(&l->out);
		} else if (want > have) {
			wording_omitted(&l->out, &text->place, line->number - want, want - have);
		}
		for (uint64_t back = have; back > 0; back--) {
			walk_before(w, back, &around);
			listing_add_line(l, text, &around, w);
		}
		listing_add_line(l, text, line, w);
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
	if (!o->json)
		buffer_clear(&l->gap);
	l->last = line->number;
	l->found.shown++;
	return l->out.len > COLLECTED ? listing_flush(l) : 0;
}

int listing_note_gap(struct listing *l, const struct listing_text *text,
		     const struct text_piece *gap)
{
	char line[GAP_ANNOUNCE_MAX];
	l->floor = gap->gap.to - gap->goes_on;
	if (l->options.json) {
		gap_begin_json(&l->gap, &gap->gap);
		if (text->label)
			json_add_string(&l->gap, "artifact", text->label);
		json_end_object(&l->gap);
		return buffer_check(&l->gap);
	}
	if (text->label)
		buffer_printf(&l->gap, "%s: ", text->label);
	buffer_append(&l->gap, line, gap_announce(line, &gap->gap));
	return buffer_check(&l->gap);
}

enum walk_kind listing_add(struct listing *l, struct walk *w, const struct listing_text *text,
			   struct walk_line *line)
{
	struct listing_found *f = &l->found;
	uint64_t behind = 0; /* so many lines behind a match are still to be shown */
	l->last = 0;
	l->floor = l->options.from - 1;
	for (;;) {
		enum walk_kind kind = behind ? walk_step(w, line) : walk_next(w, line);
		if (kind == WALK_GAP) {
			behind = 0;
			if (listing_note_gap(l, text, line->gap) < 0)
				return WALK_FAILED;
			continue;
		}
		if (kind != WALK_LINE)
			return kind;
		if (!line->wanted) {
			size_t before = l->out.len;
			listing_add_line(l, text, line, w);
			if (buffer_check(&l->out) < 0)
				return WALK_FAILED;
			behind--;
			if (listing_has_room(l)) {
				l->last = line->number;
				continue;
			}
			buffer_truncate(&l->out, before);
			listing_set_full(l, true);
			behind = 0;
			continue;
		}
		f->total++;
		bool over = f->shown >= l->options.limit;
		int added = f->full || over ? 1 : listing_add_match(l, text, line, w);
		if (added < 0)
			return WALK_FAILED;
		behind = added ? 0 : l->options.after;
		if (added == 0)
			continue;
		/* From here on they are only counted. */
		listing_set_full(l, !over);
		if (!f->next_in) {
			f->next = line->number;
			f->next_in = text->place.id;
		}
		if (listing_flush(l) < 0)
			return WALK_FAILED;
	}
}
