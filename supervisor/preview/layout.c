#include "supervisor/preview/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MARKER_MAX = 512,
	/* Of lines that are alike the last one is shown up to so many bytes. */
	ALIKE_LAST = 120,
	/* A line that is longer than its limit by less than twice a note is not cut. */
	LINE_SLACK = 40,
	/* So many lines that are alike are shown. */
	ALIKE_SHOWN = 2,
	/* At least so many are left out, and that must save so many times its cost. */
	ALIKE_LEAST = 3,
	ALIKE_GAIN = 2,
};

void layout_begin(struct layout *l, const struct limit *limit, bool bare,
		  const struct preview_ask *ask, uint64_t lines, uint64_t bytes)
{
	/* The memory is kept. */
	*l = (struct layout){
		.units = l->units,
		.cap = l->cap,
		.pieces = l->pieces,
		.piece_cap = l->piece_cap,
		.text = l->text,
		.ask = ask,
		.budget = ask->total ? ask->total : limit->bytes,
		.used = ask->used,
		.max_lines = ask->total_lines ? ask->total_lines : limit->count,
		.lines = ask->used_lines,
		.max_line = limit->max_line,
		.ceiling = limit->grow ? SIZE_MAX : limit->max_line,
		.total_lines = lines,
		.total_bytes = bytes,
		.spelled = ask->spelled,
		.bare = bare,
		.mode = bare || limit->own_words ? GUARD_NONE : GUARD_LINE,
	};
	buffer_clear(&l->text);
}

/* Whether a line follows a unit, or those between are `known` to be of one kind. */
static bool layout_goes_on(const struct streaks *known, const struct entry *u, uint64_t number)
{
	return u->to + 1 == number || (known && streaks_find(known, u->to, number));
}

static size_t line_limit(const struct line *line, size_t limit)
{
	bool barely =
		line_is_whole(line) && line->length > limit && line->length - limit <= LINE_SLACK;
	return barely ? (size_t)line->length : limit;
}

/* Whether both are whole and hold the same bytes. */
static bool line_equal(const struct line *a, const struct line *b)
{
	return a->length == b->length && line_is_whole(a) && line_is_whole(b) &&
	       memcmp(a->front, b->front, a->length) == 0;
}

int layout_add(struct layout *l, const struct line *line, const struct trait *trait)
{
	static const enum line_cut cuts[2][2] = {{LINE_CUT_LATE, LINE_CUT_EARLY},
						 {LINE_CUT_END, LINE_CUT_START}};
	const struct preview_ask *ask = l->ask;
	struct entry *u;
	size_t range = ask->left_out_count;
	bool is_back = line->number <= ask->printed_lines;
	if (line->number > l->total_lines)
		return 0;
	if (is_back) {
		/* Which of the lines left out it is one of. */
		for (range = 0; range < ask->left_out_count; range++) {
			if (ask->left_out[range].to >= line->number)
				break;
		}
		if (range == ask->left_out_count || ask->left_out[range].from > line->number)
			return 0;
	}
	if (l->count && l->units[l->count - 1].range == range) {
		u = &l->units[l->count - 1];
		/* A repeated line was announced with those around it. */
		if (is_back && line_equal(&u->line, line))
			return 0;
		if (line_equal(&u->line, line) && layout_goes_on(l->same, u, line->number)) {
			u->to = line->number;
			u->length = line->offset + line->length - u->line.offset;
			if (trait->value > u->trait.value)
				u->trait.value = trait->value;
			return 0;
		}
	}
	u = array_add(&l->units, &l->count, &l->cap, sizeof(*u));
	if (!u)
		return -1;
	l->back += is_back;
	*u = (struct entry){.line = *line,
			    .range = range,
			    .to = line->number,
			    .length = line->length,
			    .limit = line_limit(line, l->max_line),
			    .trait = *trait,
			    .cut = cuts[l->bare][line->number == l->total_lines]};
	u->trait.common &= !l->asked_for;
	return 0;
}

static size_t marker_cost(const struct layout *l, const struct preview_piece *piece)
{
	char marker[MARKER_MAX];
	if (l->bare)
		return 0;
	return l->ask->marker(l->ask->ctx, piece, marker, sizeof(marker));
}

static struct line_form unit_form(const struct layout *l, const struct entry *u)
{
	return (struct line_form){.limit = u->limit, .cut = u->cut, .before = l->ask->bytes_before};
}

/* The fold of the lines behind the first of a unit. The last of them is written to `text`, where
   ALIKE_LAST bytes are. */
static struct preview_piece unit_fold(const struct layout *l, const struct entry *u, char *text)
{
	struct line_form form = {
		.limit = ALIKE_LAST, .cut = LINE_CUT_LATE, .before = l->ask->bytes_before};
	struct preview_piece piece = {.kind = u->alike ? PREVIEW_ALIKE : PREVIEW_FOLD,
				      .from = u->line.number + 1,
				      .to = u->to,
				      .bytes = u->length - u->line.length};
	if (!u->alike)
		return piece;
	piece.text = text;
	if (l->max_line < ALIKE_LAST)
		form.limit = l->max_line;
	piece.len = line_write(&u->last, &form, text);
	/* Not even the note fits. */
	form.limit = ALIKE_LAST;
	if (piece.len == 0)
		piece.len = line_write(&u->last, &form, text);
	piece.cut = !line_is_whole(&u->last) || u->last.length > form.limit;
	if (piece.len && text[piece.len - 1] == '\n')
		piece.len--;
	return piece;
}

static bool is_cut(const struct entry *u)
{
	return !line_is_whole(&u->line) || u->line.length > u->limit;
}

/* Whether its lines begin with the mark for what was cut: no byte of their start is at hand. */
static bool unit_is_marked(const struct layout *l, const struct entry *u)
{
	return is_cut(u) && u->line.front_len == 0 && !l->bare;
}

/* Finds out what a unit costs when it is printed. */
static void layout_price_unit(struct layout *l, struct entry *u)
{
	uint64_t repeats = u->to - u->line.number;
	char last[ALIKE_LAST];
	size_t text; /* printed bytes of one line, cleaned */
	if (!is_cut(u)) {
		text = guard_text_len(u->line.front, u->line.front_len, l->mode);
	} else {
		struct line_form form = unit_form(l, u);
		bool inside = l->mode == GUARD_LINE && unit_is_marked(l, u);
		text = line_write(&u->line, &form, NULL);
		if (text && buffer_reserve(&l->text, text)) {
			text = SIZE_MAX;
		} else if (text) {
			text = line_write(&u->line, &form, l->text.data);
			text = guard_text_len(l->text.data, text, inside ? GUARD_INSIDE : l->mode);
		}
	}
	u->folded = false;
	u->cost = text;
	u->lines = 1;
	if (repeats == 0 || text == 0 || text == SIZE_MAX)
		return;
	struct preview_piece fold = unit_fold(l, u, last);
	size_t folded = marker_cost(l, &fold);
	if (u->alike || folded < text * repeats) {
		u->folded = true;
		u->cost += folded;
	} else {
		u->cost += text * (size_t)repeats;
		u->lines += repeats;
	}
}

static bool unit_is_back(const struct layout *l, const struct entry *u)
{
	return u && u->line.number <= l->ask->printed_lines;
}

/* What stands in front of a unit that is not the next line, where no line is left out that was not
   announced already. */
static struct preview_piece jump_between(const struct layout *l, const struct entry *a,
					 const struct entry *b)
{
	bool follows = a && a->to + 1 == b->line.number;
	return (struct preview_piece){.kind = PREVIEW_JUMP,
				      .from = b->line.number,
				      .to = follows ? 0 : b->line.number,
				      .back = unit_is_back(l, b)};
}

/* The gap between two units; NULL is the end of the text on that side. From > to: there is none. */
static struct preview_piece gap_between(const struct layout *l, const struct entry *a,
					const struct entry *b)
{
	bool from_back = unit_is_back(l, a);
	if (unit_is_back(l, b) || (from_back && b && b->line.number == l->ask->printed_lines + 1))
		return jump_between(l, a, b);
	if (from_back)
		a = NULL;
	uint64_t start = a ? a->line.offset + a->length : l->ask->printed_bytes;
	uint64_t end = b ? b->line.offset : l->total_bytes;
	struct preview_piece gap = {.kind = PREVIEW_GAP,
				    .from = a ? a->to + 1 : l->ask->printed_lines + 1,
				    .to = b ? b->line.number - 1 : l->total_lines,
				    .bytes = end - start};
	return gap;
}

static size_t gap_cost(const struct layout *l, const struct entry *a, const struct entry *b)
{
	struct preview_piece gap = gap_between(l, a, b);
	return gap.from <= gap.to ? marker_cost(l, &gap) : 0;
}

/* The bytes that the command takes in the first marker, at most: the last lines have the longest
   numbers. */
static size_t spell_cost(const struct layout *l)
{
	if (l->spelled)
		return 0;
	struct preview_piece piece = {.kind = PREVIEW_GAP,
				      .from = l->total_lines - (l->total_lines > 1),
				      .to = l->total_lines,
				      .bytes = l->total_bytes};
	size_t shorter = marker_cost(l, &piece), in_line = 0;
	piece.spelled = true;
	size_t cost = marker_cost(l, &piece) - shorter;
	if (l->ask->command && !l->bare) {
		uint64_t most = l->ask->bytes_before + l->total_bytes;
		in_line = strlen(": ") + strlen(l->ask->command) +
			  (size_t)snprintf(NULL, 0, "%" PRIu64 "-%" PRIu64, most, most);
	}
	return cost > in_line ? cost : in_line;
}

/* Whether a unit goes on from the one in front of it. The last line is shown as it is. */
static bool unit_goes_on(const struct layout *l, size_t i)
{
	const struct entry *u = &l->units[i];
	return u->to < l->total_lines && layout_goes_on(l->similar, u - 1, u->line.number);
}

/* Makes one unit of those from..end; false: they are cheap enough. */
static bool join_units(struct layout *l, size_t from, size_t end)
{
	const struct entry *last = &l->units[end - 1];
	struct entry joined = l->units[from];
	size_t cost = 0;
	joined.alike = true;
	joined.last = last->alike ? last->last : last->line;
	if (!last->alike)
		joined.last.offset += last->length - last->line.length;
	joined.to = last->to;
	joined.length = last->line.offset + last->length - joined.line.offset;
	for (size_t i = from; i < end; i++) {
		cost += l->units[i].cost;
		if (l->units[i].trait.value > joined.trait.value)
			joined.trait.value = l->units[i].trait.value;
	}
	/* Those behind that are known to be so. */
	const struct streak *s = l->similar ? streaks_find(l->similar, joined.to, joined.to) : NULL;
	bool more = s && s->last.number != joined.to && joined.line.number >= s->from &&
		    (end == l->count || l->units[end].line.number > s->last.number);
	if (more) {
		joined.to = s->last.number;
		joined.length = s->last.offset + s->last.length - joined.line.offset;
		joined.last = s->last;
	}
	layout_price_unit(l, &joined);
	if (!more && (end - from <= ALIKE_LEAST || joined.cost > cost / ALIKE_GAIN))
		return false;
	l->units[from] = joined;
	return true;
}

/* Joins the units at `from` that are alike, if there are some. Returns how many are left of them;
 *end is behind them. */
static size_t fold_at(struct layout *l, size_t from, size_t *end)
{
	/* Lines that differ only in numbers and paths, or as a counter. */
	for (*end = from + 1; *end < l->count; ++*end) {
		const struct entry *u = &l->units[*end], *before = u - 1;
		bool is_alike = l->asked_for
					? shape_counts_on(&before->line, &u->line)
					: u->trait.score.shape &&
						  u->trait.score.shape == before->trait.score.shape;
		if (!is_alike || !unit_goes_on(l, *end))
			break;
	}
	if (from + ALIKE_SHOWN < *end && join_units(l, from + ALIKE_SHOWN - 1, *end))
		return ALIKE_SHOWN;
	*end = from + 1;
	return 1;
}

void layout_price(struct layout *l, bool join)
{
	for (size_t i = 0; i < l->count; i++) {
		struct entry *u = &l->units[i];
		const struct streak *s = NULL;
		if (i >= l->back && l->same)
			s = streaks_find(l->same, u->line.number, u->to);
		if (s) {
			/* Of equal lines those around that are known to be the same. */
			uint64_t before = i > l->back ? u[-1].to : l->ask->printed_lines;
			uint64_t behind = i + 1 < l->count ? u[1].line.number : UINT64_MAX;
			if (s->from > before) {
				u->line.offset -= (u->line.number - s->from) * u->line.length;
				u->line.number = s->from;
			}
			if (s->last.number < behind)
				u->to = s->last.number;
			u->length = (u->to - u->line.number + 1) * u->line.length;
		}
		layout_price_unit(l, u);
	}
	/* One unit is made of lines that are alike, where that saves much. */
	size_t kept = l->back;
	for (size_t i = l->back, end; join && i < l->count; i = end) {
		size_t left = fold_at(l, i, &end);
		for (size_t k = 0; k < left; k++)
			l->units[kept++] = l->units[i + k];
	}
	if (join)
		l->count = kept;
	l->gap_cost = gap_cost(l, NULL, NULL);
	l->spell_cost = spell_cost(l);
	l->used += l->gap_cost + l->spell_cost;
}

bool layout_take_all(struct layout *l)
{
	size_t cost = l->ask->used;
	uint64_t next = l->ask->printed_lines + 1, lines = l->lines;
	bool spells = false;
	if (l->back > 0)
		return false;
	for (size_t i = 0; i < l->count; i++) {
		const struct entry *u = &l->units[i];
		if (((u->folded && u->alike) || is_cut(u)) && !spells) {
			spells = true;
			cost += l->spell_cost;
		}
		if (u->line.number != next || u->cost == 0 || u->cost > l->budget ||
		    cost > l->budget - u->cost)
			return false;
		cost += u->cost;
		lines += u->lines;
		next = u->to + 1;
	}
	if (next != l->total_lines + 1 || (l->max_lines && lines > l->max_lines))
		return false;
	for (size_t i = 0; i < l->count; i++)
		l->units[i].chosen = true;
	l->used = cost;
	l->lines = lines;
	return true;
}

/* The units around this one that are not chosen, as it is not. */
static struct hole find_hole(struct layout *l, size_t unit)
{
	struct hole *h = &l->hole;
	if (unit >= h->from && unit < h->to)
		return *h;
	*h = (struct hole){.from = unit, .to = unit + 1};
	while (h->from > 0 && !l->units[h->from - 1].chosen)
		h->from--;
	while (h->to < l->count && !l->units[h->to].chosen)
		h->to++;
	return *h;
}

/* A unit is chosen. */
static void note_chosen(struct layout *l, size_t unit)
{
	struct hole *h = &l->hole;
	if (unit == h->from)
		h->from++;
	else if (unit > h->from && unit < h->to)
		h->to = unit;
	l->units[unit].chosen = true;
}

/* The bytes used if the unit were taken and its text cost nothing. */
static size_t used_beside(struct layout *l, const struct entry *u)
{
	const struct hole h = find_hole(l, (size_t)(u - l->units));
	const struct entry *before = h.from > 0 ? &l->units[h.from - 1] : NULL;
	const struct entry *behind = h.to < l->count ? &l->units[h.to] : NULL;
	return l->used - gap_cost(l, before, behind) + gap_cost(l, before, u) +
	       gap_cost(l, u, behind);
}

static bool layout_choose(struct layout *l, struct entry *u, size_t beside)
{
	if (u->cost == 0 || beside > l->budget || u->cost > l->budget - beside)
		return false;
	if (l->max_lines && l->lines + u->lines > l->max_lines)
		return false;
	note_chosen(l, (size_t)(u - l->units));
	l->used = beside + u->cost;
	l->lines += u->lines;
	return true;
}

bool layout_take(struct layout *l, size_t unit)
{
	struct entry *u = &l->units[unit];
	return u->chosen || layout_choose(l, u, used_beside(l, u));
}

/* Prices a unit, of which fewer bytes are shown for as long as that is more than `most`: bytes may
   grow when they are cleaned, and it may have a fold. */
static void price_within(struct layout *l, struct entry *u, size_t most)
{
	layout_price_unit(l, u);
	while (u->cost > most && u->cost != SIZE_MAX) {
		size_t fewer = most * u->limit / u->cost;
		u->limit = fewer < l->ceiling ? fewer : l->ceiling;
		layout_price_unit(l, u);
	}
}

bool layout_take_cut(struct layout *l, size_t unit, size_t limit)
{
	struct entry *u = &l->units[unit];
	if (u->chosen)
		return true;
	size_t beside = used_beside(l, u);
	if (beside >= l->budget)
		return false;
	size_t room = l->budget - beside;
	if (limit < room)
		room = limit;
	const struct entry before = *u;
	if (room < u->limit)
		u->limit = room < l->max_line ? room : l->max_line;
	price_within(l, u, room);
	if (layout_choose(l, u, beside))
		return true;
	*u = before;
	return false;
}

bool layout_close_gap(struct layout *l, size_t from, size_t to, bool spelled, size_t room)
{
	const struct entry *before = from > 0 ? &l->units[from - 1] : NULL;
	const struct entry *behind = to < l->count ? &l->units[to] : NULL;
	struct preview_piece gap = gap_between(l, before, behind);
	if (gap.from > gap.to || gap.kind == PREVIEW_JUMP)
		return true;
	size_t unspelled = marker_cost(l, &gap), cost = 0;
	gap.spelled = spelled;
	size_t most = marker_cost(l, &gap);
	if (most < room)
		most = room;
	if (unit_is_back(l, before) && from < to) {
		struct preview_piece jump = jump_between(l, before, &l->units[from]);
		cost = marker_cost(l, &jump);
	}
	uint64_t lines = l->lines;
	for (size_t i = from; i < to; i++) {
		const struct entry *u = &l->units[i];
		if (u->line.number != gap.from || u->cost == 0 || u->cost > most ||
		    cost + u->cost > most)
			return false;
		cost += u->cost;
		lines += u->lines;
		gap.from = u->to + 1;
	}
	if (gap.from <= gap.to || l->used - unspelled + cost > l->budget ||
	    (l->max_lines && lines > l->max_lines))
		return false;
	for (size_t i = from; i < to; i++)
		note_chosen(l, i);
	l->used = l->used - unspelled + cost;
	l->lines = lines;
	return true;
}

/* Whether a taken line could be shown further. */
static bool can_grow(const struct entry *u)
{
	return u->chosen && u->lines == 1 && is_cut(u);
}

void layout_grow(struct layout *l)
{
	/* Each gets as much more, and what one of them leaves the next ones have. */
	size_t count = 0;
	for (size_t i = 0; i < l->count; i++)
		count += can_grow(&l->units[i]);
	for (size_t i = 0; i < l->count && l->used < l->budget; i++) {
		struct entry *u = &l->units[i], longer = *u;
		if (!can_grow(u))
			continue;
		size_t most = u->cost + (l->budget - l->used) / count--;
		longer.limit = most < l->ceiling ? most : l->ceiling;
		price_within(l, &longer, most);
		if (longer.limit <= u->limit || longer.cost > most)
			continue;
		l->used = l->used - u->cost + longer.cost;
		l->at_ceiling |= longer.limit == l->ceiling && is_cut(&longer);
		*u = longer;
	}
}

static int layout_add_piece(struct layout *l, const struct preview_piece *piece)
{
	struct preview_piece *added =
		array_add(&l->pieces, &l->piece_count, &l->piece_cap, sizeof(*added));
	if (!added)
		return -1;
	*added = *piece;
	if (piece->kind == PREVIEW_GAP || piece->kind == PREVIEW_ALIKE) {
		added->spelled = !l->spelled;
		l->spelled = true;
	}
	return 0;
}

/* Adds the lines from..to of a unit, which look all the same, to the text piece
   at the end or to a new one. */
static int layout_add_text(struct layout *l, const struct entry *u, uint64_t lines)
{
	struct preview_piece *last = l->piece_count ? &l->pieces[l->piece_count - 1] : NULL;
	struct preview_piece piece = {.kind = PREVIEW_TEXT};
	struct line_form form = unit_form(l, u);
	if (is_cut(u) && !l->bare && !l->spelled && l->ask->command) {
		form.command = l->ask->command;
		l->spelled = true;
	}
	for (uint64_t k = 0; k < lines; k++) {
		if (!last || last->kind != PREVIEW_TEXT || unit_is_marked(l, u)) {
			piece.from = u->line.number + k;
			piece.to = piece.from - 1;
			piece.text = l->text.data + l->text.len;
			piece.marked = unit_is_marked(l, u);
			if (layout_add_piece(l, &piece))
				return -1;
			last = &l->pieces[l->piece_count - 1];
		}
		size_t len = line_write(&u->line, &form, l->text.data + l->text.len);
		form.before += u->line.length;
		form.command = NULL;
		l->text.len += len;
		last->len += len;
		last->cut_last = is_cut(u);
		last->cut += last->cut_last;
		last->to = u->line.number + k;
		last->bytes += u->line.length;
	}
	return 0;
}

int layout_pieces(struct layout *l)
{
	const struct entry *before = NULL;
	struct preview_piece gap;
	l->spelled = l->ask->spelled;
	buffer_clear(&l->text);
	/* Cleaning removes a quarter of the bytes at most (U+FFFD for a character of four). */
	if (buffer_reserve(&l->text, l->used + l->used / 3 + 1 + ALIKE_LAST))
		return -1;
	for (size_t i = 0; i < l->count; i++) {
		const struct entry *u = &l->units[i];
		if (!u->chosen)
			continue;
		gap = gap_between(l, before, u);
		if (gap.from <= gap.to && layout_add_piece(l, &gap))
			return -1;
		if (layout_add_text(l, u, u->folded ? 1 : u->lines))
			return -1;
		if (u->folded) {
			struct preview_piece fold = unit_fold(l, u, l->text.data + l->text.len);
			l->text.len += fold.len;
			if (layout_add_piece(l, &fold))
				return -1;
		}
		before = u;
	}
	gap = gap_between(l, before, NULL);
	if (gap.from <= gap.to && layout_add_piece(l, &gap))
		return -1;
	return (int)l->piece_count;
}
