#include "supervisor/preview/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MARKER_MAX = 512,
};

void layout_begin(struct layout *l, const struct limit *limit, const struct preview_options *given,
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
		.unit = limit->unit,
		.ceiling = given->limit.grow ? SIZE_MAX : given->limit.max_line,
		.total_lines = lines,
		.total_bytes = bytes,
		.spelled = ask->spelled,
		.bare = given->bare,
		.mode = given->bare || limit->own_words ? GUARD_NONE : GUARD_LINE,
	};
	buffer_clear(&l->text);
}

static size_t line_limit(const struct line *line, size_t limit)
{
	bool barely =
		line_is_whole(line) && line->length > limit && line->length - limit <= LINE_SLACK;
	return barely ? (size_t)line->length : limit;
}

/* Joins the last unit with those that are like it. */
static void join_last(struct layout *l, enum run_kind most)
{
	struct entry *units = l->units + l->single, *joined;
	size_t gone = run_join(units, l->count - l->single, sizeof(*units), most);
	for (l->count -= gone, joined = &l->units[l->count - 1]; gone > 0; gone--)
		joined->trait.value = joined[gone].trait.value > joined->trait.value
					      ? joined[gone].trait.value
					      : joined->trait.value;
}

int layout_add(struct layout *l, const struct run *run, const struct trait *trait, bool is_first)
{
	const struct preview_ask *ask = l->ask;
	const uint64_t number = run->line.number;
	const bool is_back = number <= ask->printed_lines;
	size_t range = is_back ? 0 : ask->left_out_count;
	if (number > l->total_lines)
		return 0;
	/* Which of the lines left out it is one of. */
	while (is_back && range < ask->left_out_count && ask->left_out[range].to < number)
		range++;
	if (is_back && (range == ask->left_out_count || ask->left_out[range].from > number))
		return 0;
	struct entry *u = l->count ? &l->units[l->count - 1] : NULL;
	if (u && u->range == range && number <= u->run.to)
		return 0;
	u = array_add(&l->units, &l->count, &l->cap, sizeof(*u));
	if (!u)
		return -1;
	*u = (struct entry){.run = *run,
			    .range = range,
			    .limit = line_limit(&run->line, l->max_line),
			    .is_first = is_first,
			    .trait = *trait};
	u->trait.common &= ask->status == 0 && !l->asked_for;
	if (is_back || is_first || run->kind > l->joins)
		u->run = run_of(&run->line, run->shape);
	l->back += is_back;
	if (is_back || is_first)
		l->single = l->count;
	else
		join_last(l, u->run.to < l->total_lines ? l->joins : RUN_EQUAL);
	return 0;
}

static uint64_t unit_lines(const struct entry *u)
{
	return u->folded ? 1 : u->run.to - u->run.line.number + 1;
}

/* In the unit of the limit. */
static uint64_t unit_count(const struct layout *l, const struct entry *u)
{
	size_t len = u->run.line.front_len;
	if (len > 0 && u->run.line.front[len - 1] == '\n')
		len--;
	return limit_counts(l->unit, u->run.line.front, len) ? unit_lines(u) : 0;
}

/* Whether there is room for a unit behind so many. Lines that do not count end no list. */
static bool has_count(const struct layout *l, uint64_t lines, uint64_t count)
{
	return !l->max_lines || lines + (count ? count : 1) <= l->max_lines;
}

static size_t marker_cost(const struct layout *l, const struct preview_piece *piece)
{
	char marker[MARKER_MAX];
	if (l->bare || l->ask->is_head)
		return 0;
	return l->ask->marker(l->ask->ctx, piece, marker, sizeof(marker));
}

static struct line_form unit_form(const struct layout *l, const struct entry *u)
{
	bool last = u->run.line.number == l->total_lines && !l->ask->is_head;
	return (struct line_form){.limit = u->limit,
				  .last = last,
				  .first = u->is_first && !last,
				  .bare = l->bare,
				  .before = l->ask->bytes_before};
}

/* The fold of the lines behind the first of a unit. The last of them is written to `text`, where
   ALIKE_LAST bytes are. */
static struct preview_piece unit_fold(const struct layout *l, const struct entry *u, char *text)
{
	struct line_form form = {.limit = ALIKE_LAST, .before = l->ask->bytes_before};
	struct preview_piece piece = {.kind = u->run.kind ? PREVIEW_ALIKE : PREVIEW_FOLD,
				      .from = u->run.line.number + 1,
				      .to = u->run.to,
				      .bytes = u->run.length - u->run.line.length};
	if (!u->run.kind)
		return piece;
	piece.text = text;
	if (l->max_line < ALIKE_LAST)
		form.limit = l->max_line;
	piece.len = line_write(&u->run.last, &form, text);
	/* Not even the note fits. */
	form.limit = ALIKE_LAST;
	if (piece.len == 0)
		piece.len = line_write(&u->run.last, &form, text);
	piece.cut = !line_is_whole(&u->run.last) || u->run.last.length > form.limit;
	if (piece.len && text[piece.len - 1] == '\n')
		piece.len--;
	return piece;
}

static bool is_cut(const struct entry *u)
{
	return !line_is_whole(&u->run.line) || u->run.line.length > u->limit;
}

/* Whether its lines begin with the mark for what was cut: no byte of their start is at hand. */
static bool unit_is_marked(const struct layout *l, const struct entry *u)
{
	return is_cut(u) && u->run.line.front_len == 0 && !l->bare;
}

/* Finds out what a unit costs when it is printed; 0: it can't be, or there is no memory for it. */
static void layout_price_unit(struct layout *l, struct entry *u)
{
	uint64_t repeats = u->run.to - u->run.line.number;
	char last[ALIKE_LAST];
	size_t text; /* printed bytes of one line, cleaned */
	if (!is_cut(u)) {
		text = guard_text(NULL, u->run.line.front, u->run.line.front_len, l->mode);
	} else {
		struct line_form form = unit_form(l, u);
		bool inside = l->mode == GUARD_LINE && unit_is_marked(l, u);
		text = line_write(&u->run.line, &form, NULL);
		if (buffer_reserve(&l->text, text))
			text = 0;
		if (text) {
			text = line_write(&u->run.line, &form, l->text.data);
			text = guard_text(NULL, l->text.data, text,
					  inside ? GUARD_INSIDE : l->mode);
		}
	}
	u->folded = false;
	u->cost = text;
	if (repeats == 0 || text == 0)
		return;
	struct preview_piece fold = unit_fold(l, u, last);
	size_t folded = marker_cost(l, &fold);
	if (u->run.kind || folded < text * repeats) {
		u->folded = true;
		u->cost += folded;
	} else {
		u->cost += text * (size_t)repeats;
	}
}

static bool unit_is_back(const struct layout *l, const struct entry *u)
{
	return u && u->run.line.number <= l->ask->printed_lines;
}

/* The gap between two units; NULL is the end of the text on that side. From > to: there is none.
   Or the jump in front of a unit that is not the next line, where no line is left out that was not
   announced already. */
static struct preview_piece gap_between(const struct layout *l, const struct entry *a,
					const struct entry *b)
{
	const bool from_back = unit_is_back(l, a), to_back = unit_is_back(l, b);
	if (to_back || (from_back && b && b->run.line.number == l->ask->printed_lines + 1)) {
		bool follows = a && a->run.to + 1 == b->run.line.number;
		return (struct preview_piece){.kind = PREVIEW_JUMP,
					      .from = b->run.line.number,
					      .to = follows ? 0 : b->run.line.number,
					      .back = to_back};
	}
	if (from_back)
		a = NULL;
	uint64_t start = a ? a->run.line.offset + a->run.length : l->ask->printed_bytes;
	uint64_t end = b ? b->run.line.offset : l->total_bytes;
	const struct trait *last = b ? &b->trait : NULL;
	bool counts = a && b && a->trait.threads && last->threads && !a->folded;
	return (struct preview_piece){
		.kind = PREVIEW_GAP,
		.from = a ? a->run.to + 1 : l->ask->printed_lines + 1,
		.to = b ? b->run.line.number - 1 : l->total_lines,
		.bytes = end - start,
		.threads = counts ? last->threads - last->score.thread - a->trait.threads : 0};
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
	int in_line = 0;
	size_t shorter = marker_cost(l, &piece);
	piece.spelled = true;
	size_t cost = marker_cost(l, &piece) - shorter;
	if (l->ask->command && !l->bare) {
		uint64_t most = l->ask->bytes_before + l->total_bytes;
		in_line =
			snprintf(NULL, 0, ": %s%" PRIu64 "-%" PRIu64, l->ask->command, most, most);
	}
	return cost > (size_t)in_line ? cost : (size_t)in_line;
}

void layout_price(struct layout *l)
{
	for (size_t i = 0; i < l->count; i++)
		layout_price_unit(l, &l->units[i]);
	l->gap_cost = gap_cost(l, NULL, NULL);
	l->spell_cost = spell_cost(l);
	l->used += l->gap_cost + l->spell_cost;
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

/* Prices a unit, of which fewer bytes are shown for as long as that is more than `most`: bytes may
   grow when they are cleaned, and it may have a fold. */
static void price_within(struct layout *l, struct entry *u, size_t most)
{
	layout_price_unit(l, u);
	while (u->cost > most) {
		u->limit = size_min(most * u->limit / u->cost, l->ceiling);
		layout_price_unit(l, u);
	}
}

bool layout_take(struct layout *l, size_t unit, size_t most)
{
	struct entry *u = &l->units[unit];
	if (u->chosen)
		return true;
	const struct hole h = find_hole(l, unit);
	const struct entry *before = h.from > 0 ? &l->units[h.from - 1] : NULL, whole = *u;
	const struct entry *behind = h.to < l->count ? &l->units[h.to] : NULL;
	/* What is used beside its text. */
	size_t beside = l->used - gap_cost(l, before, behind) + gap_cost(l, before, u) +
			gap_cost(l, u, behind);
	if (beside >= l->budget)
		return false;
	size_t room = l->budget - beside;
	if (most > 0) {
		room = size_min(most, room);
		if (room < u->limit)
			u->limit = size_min(room, l->max_line);
		price_within(l, u, room);
	}
	uint64_t lines = unit_count(l, u);
	/* A cut that saves hardly more than its note takes from the line for nothing. */
	bool is_idle = u->cost < whole.cost && whole.cost - u->cost < LINE_SLACK;
	if (u->cost == 0 || u->cost > room || is_idle || !has_count(l, l->lines, lines)) {
		*u = whole;
		return false;
	}
	u->chosen = true;
	l->used = beside + u->cost;
	l->lines += lines;
	if (unit == h.from)
		l->hole.from++;
	else
		l->hole.to = unit;
	return true;
}

bool layout_close_gap(struct layout *l, size_t from, size_t to, bool spelled, size_t room)
{
	const struct entry *before = from > 0 ? &l->units[from - 1] : NULL;
	const struct entry *behind = to < l->count ? &l->units[to] : NULL;
	struct preview_piece gap = gap_between(l, before, behind);
	if (gap.from > gap.to || gap.kind == PREVIEW_JUMP)
		return true;
	size_t unspelled = marker_cost(l, &gap);
	gap.spelled = spelled;
	size_t spelled_cost = marker_cost(l, &gap),
	       most = room > spelled_cost ? room : spelled_cost;
	size_t cost = from < to ? gap_cost(l, before, &l->units[from]) : 0;
	uint64_t lines = l->lines;
	for (size_t i = from; i < to; i++) {
		const struct entry *u = &l->units[i];
		uint64_t count = unit_count(l, u);
		if (u->run.line.number != gap.from || u->cost == 0 || u->cost > most ||
		    cost + u->cost > most || !has_count(l, lines, count))
			return false;
		cost += u->cost;
		lines += count;
		gap.from = u->run.to + 1;
	}
	if (gap.from <= gap.to || l->used - unspelled + cost > l->budget)
		return false;
	for (size_t i = from; i < to; i++)
		l->units[i].chosen = true;
	l->hole = (struct hole){0};
	l->used = l->used - unspelled + cost;
	l->lines = lines;
	return true;
}

void layout_close_around(struct layout *l, size_t unit, size_t room)
{
	for (int below = 0; below < 2; below++) {
		size_t next = below ? unit + 1 : unit - 1; /* in front of the first: none */
		struct hole h = next < l->count && !l->units[next].chosen ? find_hole(l, next)
									  : (struct hole){0};
		if (h.from < h.to)
			layout_close_gap(l, h.from, h.to, false, room);
	}
}

void layout_end_head(struct layout *l, size_t from)
{
	size_t kept = from;
	for (size_t i = from; i < l->count; i++) {
		struct entry *u = &l->units[kept++];
		*u = l->units[i];
		bool changed = u->is_first;
		u->is_first = false;
		/* Equal ones are one unit, as others are already. */
		size_t gone = run_join(&l->units[from], kept - from, sizeof(*u), RUN_EQUAL);
		kept -= gone;
		if (changed || gone)
			layout_price_unit(l, &l->units[kept - 1]);
	}
	l->count = kept;
}

bool layout_take_all(struct layout *l)
{
	bool spells = false;
	for (size_t i = 0; i < l->count; i++)
		spells |= (l->units[i].folded && l->units[i].run.kind) || is_cut(&l->units[i]);
	const size_t spare = spells ? 0 : l->spell_cost;
	l->used -= spare;
	if (l->back == 0 && layout_close_gap(l, 0, l->count, false, l->budget))
		return true;
	l->used += spare;
	return false;
}

/* Whether a taken line could be shown further. */
static bool can_grow(const struct entry *u)
{
	return u->chosen && unit_lines(u) == 1 && is_cut(u);
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
		longer.limit = size_min(most, l->ceiling);
		price_within(l, &longer, most);
		if (longer.limit > u->limit && longer.cost > 0 && longer.cost <= most) {
			l->used = l->used - u->cost + longer.cost;
			*u = longer;
		}
		l->at_ceiling |= u->limit == l->ceiling && is_cut(u);
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
			piece.from = u->run.line.number + k;
			piece.to = piece.from - 1;
			piece.text = l->text.data + l->text.len;
			piece.marked = unit_is_marked(l, u);
			if (layout_add_piece(l, &piece))
				return -1;
			last = &l->pieces[l->piece_count - 1];
		}
		size_t len = line_write(&u->run.line, &form, l->text.data + l->text.len);
		form.before += u->run.line.length;
		form.command = NULL;
		l->text.len += len;
		last->len += len;
		last->cut_last = is_cut(u);
		last->cut += last->cut_last;
		last->to = u->run.line.number + k;
		last->bytes += u->run.line.length;
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
		if (layout_add_text(l, u, unit_lines(u)))
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
