#include "supervisor/preview/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MARKER_MAX = 512 };

void layout_begin(struct layout *l, const struct preview_options *options,
		  const struct preview_ask *ask, uint64_t lines, uint64_t bytes)
{
	l->count = 0;
	l->piece_count = 0;
	buffer_clear(&l->text);
	l->ask = ask;
	l->budget = options->budget;
	l->used = (size_t)ask->printed_bytes;
	l->max_lines = options->max_lines;
	l->lines = ask->printed_lines;
	l->max_line = options->max_line;
	l->total_lines = lines;
	l->total_bytes = bytes;
	l->bare = options->bare;
}

void layout_release(struct layout *l)
{
	free(l->units);
	free(l->pieces);
	buffer_release(&l->text);
	*l = (struct layout){0};
}

/* Makes room for one more item in an array. */
static int grow(void **items, size_t count, size_t *cap, size_t size)
{
	size_t want;
	void *more;

	if (count < *cap)
		return 0;
	want = *cap ? 2 * *cap : 64;
	more = realloc(*items, want * size);
	if (!more)
		return -1;
	*items = more;
	*cap = want;
	return 0;
}

static enum line_cut cut_of(const struct layout *l, const struct line *line)
{
	bool last = line->number == l->total_lines;

	if (l->bare)
		return last ? LINE_CUT_START : LINE_CUT_END;
	return last ? LINE_CUT_EARLY : LINE_CUT_LATE;
}

int layout_add(struct layout *l, const struct line *line, unsigned value, uint32_t shape)
{
	struct unit *u;

	if (line->number <= l->ask->printed_lines)
		return 0;
	if (l->count) {
		u = &l->units[l->count - 1];
		if (u->to + 1 == line->number && line_equal(&u->line, line)) {
			u->to++;
			u->length += line->length;
			if (value > u->value)
				u->value = value;
			return 0;
		}
	}
	if (grow((void **)&l->units, l->count, &l->cap, sizeof(*l->units)))
		return -1;
	u = &l->units[l->count++];
	*u = (struct unit){.line = *line,
			   .to = line->number,
			   .length = line->length,
			   .limit = l->max_line,
			   .value = value,
			   .shape = shape,
			   .cut = cut_of(l, line)};
	return 0;
}

static size_t marker_cost(const struct layout *l, const struct preview_piece *piece)
{
	char marker[MARKER_MAX];

	if (l->bare)
		return 0;
	return l->ask->marker(l->ask->ctx, piece, marker, sizeof(marker));
}

/* The fold of the lines behind the first of a unit. */
static struct preview_piece unit_fold(const struct unit *u, const char *text, size_t len)
{
	return (struct preview_piece){.kind = PREVIEW_FOLD,
				      .from = u->line.number + 1,
				      .to = u->to,
				      .bytes = u->length - u->line.length,
				      .text = text,
				      .len = len};
}

/* Printed bytes of one line of the unit, cleaned. */
static size_t text_cost(struct layout *l, const struct unit *u)
{
	size_t len;

	if (line_is_whole(&u->line) && u->line.length <= u->limit)
		return line_clean_len(u->line.front, u->line.front_len);
	len = line_written(&u->line, u->limit, u->cut);
	if (len == 0)
		return 0;
	if (buffer_reserve(&l->text, len))
		return SIZE_MAX;
	len = line_write(&u->line, u->limit, u->cut, l->text.data);
	return line_clean_len(l->text.data, len);
}

static void price(struct layout *l, struct unit *u)
{
	uint64_t repeats = u->to - u->line.number;
	struct preview_piece fold;
	size_t text = text_cost(l, u), folded;

	u->folded = false;
	u->cost = text;
	u->lines = 1;
	if (repeats == 0 || text == SIZE_MAX)
		return;
	fold = unit_fold(u, u->line.front, u->line.front_len);
	folded = marker_cost(l, &fold);
	if (folded < text * repeats) {
		u->folded = true;
		u->cost += folded;
	} else {
		u->cost += text * (size_t)repeats;
		u->lines += repeats;
	}
}

static size_t digits(uint64_t n)
{
	size_t count = 1;

	for (; n >= 10; n /= 10)
		count++;
	return count;
}

/* Runs that are not folded are short, so the last number stands for all. */
size_t layout_number_cost(const struct layout *l, const struct unit *u)
{
	if (l->bare)
		return 0;
	return (digits(u->to) + 2) * (size_t)u->lines;
}

/* The gap between two units; NULL is the end of the text on that side. */
static struct preview_piece gap_between(const struct layout *l, const struct unit *a,
					const struct unit *b)
{
	uint64_t start = a ? a->line.offset + a->length : l->ask->printed_bytes;
	uint64_t end = b ? b->line.offset : l->total_bytes;

	return (struct preview_piece){.kind = PREVIEW_GAP,
				      .from = a ? a->to + 1 : l->ask->printed_lines + 1,
				      .to = b ? b->line.number - 1 : l->total_lines,
				      .bytes = end - start};
}

static size_t gap_cost(const struct layout *l, const struct unit *a, const struct unit *b)
{
	struct preview_piece gap = gap_between(l, a, b);

	return gap.from <= gap.to ? marker_cost(l, &gap) : 0;
}

void layout_price(struct layout *l)
{
	for (size_t i = 0; i < l->count; i++)
		price(l, &l->units[i]);
	l->gap_cost = gap_cost(l, NULL, NULL);
	l->used += l->gap_cost;
}

void layout_limit(struct layout *l, size_t unit, size_t limit)
{
	l->units[unit].limit = limit;
	price(l, &l->units[unit]);
}

bool layout_take_all(struct layout *l)
{
	size_t cost = (size_t)l->ask->printed_bytes;
	uint64_t next = l->ask->printed_lines + 1, lines = l->lines;

	for (size_t i = 0; i < l->count; i++) {
		const struct unit *u = &l->units[i];

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

static const struct unit *chosen_before(const struct layout *l, size_t unit)
{
	while (unit-- > 0) {
		if (l->units[unit].chosen)
			return &l->units[unit];
	}
	return NULL;
}

static const struct unit *chosen_behind(const struct layout *l, size_t unit)
{
	while (++unit < l->count) {
		if (l->units[unit].chosen)
			return &l->units[unit];
	}
	return NULL;
}

/* What would be used if the unit were taken at no cost for its text. */
static size_t used_beside(const struct layout *l, const struct unit *u, bool numbered)
{
	size_t i = (size_t)(u - l->units);
	const struct unit *before = chosen_before(l, i), *behind = chosen_behind(l, i);

	return l->used - gap_cost(l, before, behind) + gap_cost(l, before, u) +
	       gap_cost(l, u, behind) + (numbered ? layout_number_cost(l, u) : 0);
}

static bool take(struct layout *l, struct unit *u, size_t beside)
{
	if (u->cost == 0 || beside > l->budget || u->cost > l->budget - beside)
		return false;
	if (l->max_lines && l->lines + u->lines > l->max_lines)
		return false;
	u->chosen = true;
	l->used = beside + u->cost;
	l->lines += u->lines;
	return true;
}

bool layout_take(struct layout *l, size_t unit, bool numbered)
{
	struct unit *u = &l->units[unit];

	return u->chosen || take(l, u, used_beside(l, u, numbered));
}

bool layout_take_cut(struct layout *l, size_t unit, size_t limit, bool numbered)
{
	struct unit *u = &l->units[unit];
	size_t beside, room;

	if (u->chosen)
		return true;
	beside = used_beside(l, u, numbered);
	if (beside >= l->budget)
		return false;
	room = l->budget - beside;
	if (limit < room)
		room = limit;
	if (room < u->limit)
		u->limit = room;
	price(l, u);
	/* Bytes that grow when they are cleaned, or a fold. */
	while (u->cost > room && u->cost != SIZE_MAX) {
		u->limit = u->limit - 1 < room * u->limit / u->cost ? u->limit - 1
								    : room * u->limit / u->cost;
		price(l, u);
	}
	return take(l, u, beside);
}

static int add_piece(struct layout *l, const struct preview_piece *piece)
{
	if (grow((void **)&l->pieces, l->piece_count, &l->piece_cap, sizeof(*l->pieces)))
		return -1;
	l->pieces[l->piece_count++] = *piece;
	return 0;
}

/* Adds the lines from..to of a unit, which look all the same, to the text piece
   at the end or to a new one. */
static int add_text(struct layout *l, const struct unit *u, uint64_t lines, bool numbered)
{
	struct preview_piece *last = l->piece_count ? &l->pieces[l->piece_count - 1] : NULL;
	struct preview_piece piece = {.kind = PREVIEW_TEXT, .numbered = numbered};
	uint64_t k;

	if (!last || last->kind != PREVIEW_TEXT) {
		piece.from = u->line.number;
		piece.text = l->text.data + l->text.len;
		if (add_piece(l, &piece))
			return -1;
		last = &l->pieces[l->piece_count - 1];
	}
	for (k = 0; k < lines; k++) {
		size_t len = line_write(&u->line, u->limit, u->cut, l->text.data + l->text.len);

		l->text.len += len;
		last->len += len;
	}
	last->cut_last = !line_is_whole(&u->line) || u->line.length > u->limit;
	if (last->cut_last)
		last->cut += lines;
	last->to = u->line.number + lines - 1;
	last->bytes += u->line.length * lines;
	return 0;
}

static int add_unit(struct layout *l, const struct unit *u, bool numbered)
{
	struct preview_piece fold;
	size_t len;

	if (!u->folded)
		return add_text(l, u, u->lines, numbered);
	if (add_text(l, u, 1, numbered))
		return -1;
	len = line_written(&u->line, u->limit, u->cut);
	fold = unit_fold(u, l->text.data + l->text.len - len, len);
	fold.numbered = numbered;
	return add_piece(l, &fold);
}

/* Whether nothing is left out between the unit and the end of the text. */
static bool reaches_end(const struct layout *l, size_t unit)
{
	for (; unit + 1 < l->count; unit++) {
		if (!l->units[unit + 1].chosen ||
		    l->units[unit].to + 1 != l->units[unit + 1].line.number)
			return false;
	}
	return l->units[unit].to == l->total_lines;
}

int layout_pieces(struct layout *l)
{
	const struct unit *before = NULL;
	bool from_start = true, to_end = false;
	struct preview_piece gap;

	buffer_clear(&l->text);
	/* Cleaning makes bytes fewer by a quarter at most (U+FFFD for a character of four). */
	if (buffer_reserve(&l->text, l->used + l->used / 3 + 1))
		return -1;
	for (size_t i = 0; i < l->count; i++) {
		const struct unit *u = &l->units[i];

		if (!u->chosen)
			continue;
		gap = gap_between(l, before, u);
		if (gap.from <= gap.to) {
			from_start = false;
			to_end = reaches_end(l, i);
			if (add_piece(l, &gap))
				return -1;
		}
		if (add_unit(l, u, !from_start && !to_end))
			return -1;
		before = u;
	}
	gap = gap_between(l, before, NULL);
	if (gap.from <= gap.to && add_piece(l, &gap))
		return -1;
	return (int)l->piece_count;
}
