#include "supervisor/preview/preview.h"

#include "supervisor/preview/choose.h"
#include "supervisor/preview/layout.h"
#include "supervisor/preview/smart.h"
#include "supervisor/preview/window.h"

#include <errno.h>
#include <stdlib.h>

enum {
	BUDGET_LEAST = 64,
	/* Kept back from what is printed live, for the marker behind it. */
	MARKER_RESERVE = 160,
	/* Stored lines that are weighed against each other at most. */
	CANDIDATES = 1000,
	/* The last bytes of a text of which all lines are judged; in the other modes as many lines
	   as may be shown, which are shorter there, should be in them. */
	LAST_JUDGED = 24 * 1024,
};

struct preview {
	struct preview_options options;
	struct window window;
	struct layout layout;
	struct preview_piece plain[2]; /* in place of what the layout has no memory for */
	struct smart *smart; /* NULL in the other modes, and while all fits into the budget */
};

struct preview *preview_new(const struct preview_options *options)
{
	struct preview *p;
	size_t keep;

	if (options->budget < BUDGET_LEAST || options->head_share > 100 ||
	    options->end_share > 100 || options->max_line == 0) {
		errno = EINVAL;
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->options = *options;
	/* No line is shown beyond the budget. */
	if (p->options.max_line > options->budget) {
		p->options.max_line = options->budget;
		p->options.grow = true;
	}
	/* A line that is cut needs its first bytes behind what is in the budget. */
	keep = options->budget + p->options.max_line;
	if (window_init(&p->window, keep, keep < LAST_JUDGED ? LAST_JUDGED : keep)) {
		free(p);
		return NULL;
	}
	return p;
}

void preview_free(struct preview *p)
{
	if (!p)
		return;
	if (p->smart)
		smart_release(p->smart);
	free(p->smart);
	layout_release(&p->layout);
	window_release(&p->window);
	free(p);
}

/* Mode smart begins when the text gets longer than the budget, so that a short
   run pays nothing for it. What came before is all in the window. */
static void start_smart(struct preview *p)
{
	p->smart = calloc(1, sizeof(*p->smart));
	if (!p->smart || smart_init(p->smart, p->options.patterns, p->options.ignore)) {
		/* The ends are better than nothing. */
		free(p->smart);
		p->smart = NULL;
		p->options.mode = PREVIEW_ENDS;
		return;
	}
	smart_feed(p->smart, p->window.head, p->window.head_len);
}

void preview_feed(struct preview *p, const char *data, size_t len)
{
	if (p->options.mode == PREVIEW_SMART && !p->smart &&
	    p->window.bytes + len > p->options.budget)
		start_smart(p);
	window_feed(&p->window, data, len, !p->smart);
	if (p->smart)
		p->window.newlines = smart_feed(p->smart, data, len);
}

void preview_skip(struct preview *p, uint64_t bytes, uint64_t newlines)
{
	if (p->options.mode == PREVIEW_SMART && !p->smart)
		start_smart(p);
	if (p->smart)
		smart_skip(p->smart, bytes, newlines);
	window_skip(&p->window, bytes, newlines);
}

uint64_t preview_lines(const struct preview *p)
{
	return window_lines(&p->window);
}

uint64_t preview_bytes(const struct preview *p)
{
	return p->window.bytes;
}

size_t preview_head_budget(const struct preview *p)
{
	size_t share = choose_head_share(&p->options);
	size_t most = p->options.budget > MARKER_RESERVE ? p->options.budget - MARKER_RESERVE : 0;

	return share < most ? share : most;
}

static int add_stored(struct preview *p, size_t i)
{
	const struct stored *stored = &p->smart->store.lines[i];
	struct line line;

	store_line(&p->smart->store, i, &line);
	return layout_add(&p->layout, &line, stored->value, stored->shape);
}

/* Adds a line of the window that is not stored. */
static int add_unjudged(struct preview *p, const struct line *line, enum outcome outcome)
{
	uint64_t behind = p->window.bytes - line->offset - line->length;
	unsigned value = 1;
	uint32_t shape = 0;

	/* Short, and cut only because the window ends there. */
	if (!line_is_whole(line) && line->length <= p->options.max_line)
		return 0;
	if (p->smart)
		value += smart_value(p->smart, line, p->window.bytes, outcome, &shape);
	/* Lines that have nothing but their place must be near an end. */
	if (p->smart && value == 1 && line->offset > p->options.budget &&
	    behind > p->options.budget + p->options.max_line)
		return 0;
	return layout_add(&p->layout, line, value, shape);
}

/* Of a long line the store has what tells most, the window more of its start or end; a short one
   may be cut where the window ends. */
static void add_stored_bytes(const struct store *store, size_t i, struct line *line)
{
	struct line stored;
	size_t at;

	store_line(store, i, &stored);
	if (line_is_whole(&stored)) {
		*line = stored;
		return;
	}
	if (!stored.around) {
		if (line->front_len < stored.front_len) {
			line->front = stored.front;
			line->front_len = stored.front_len;
		}
		if (!line_is_whole(line) && line->back_len < stored.back_len) {
			line->back = stored.back;
			line->back_len = stored.back_len;
		}
		return;
	}
	at = (size_t)stored.length - stored.ended - stored.after - stored.back_len;
	if (line->front_len < at + stored.back_len) {
		stored.front = line->front_len > stored.front_len ? line->front : stored.front;
		if (line->front_len > stored.front_len)
			stored.front_len = line->front_len < at ? line->front_len : at;
		*line = stored;
		return;
	}
	/* All of it, from the front on. */
	line->around = true;
	line->back = line->front + at;
	line->back_len = line->front_len - (line_is_whole(line) && line->ended) - at;
	line->after = (size_t)line->length - line->ended - at - line->back_len;
}

/* Adds the lines of the window and the best of the stored ones, in order. */
static int preview_add_lines(struct preview *p, enum outcome outcome)
{
	struct window_cursor cursor = {0};
	struct store none = {0};
	const struct store *store = p->smart ? &p->smart->store : &none;
	unsigned least = store_rank(store, CANDIDATES);
	struct line line;
	bool more;
	size_t i = 0;

	if (least == 0)
		least = 1;
	do {
		more = window_next(&p->window, &cursor, &line);
		for (; i < store->count && (!more || store->lines[i].number < line.number); i++) {
			if (store->lines[i].value >= least && add_stored(p, i))
				return -1;
		}
		if (!more)
			break;
		if (i == store->count || store->lines[i].number != line.number) {
			if (add_unjudged(p, &line, outcome))
				return -1;
			continue;
		}
		add_stored_bytes(store, i, &line);
		if (layout_add(&p->layout, &line, store->lines[i].value, store->lines[i].shape))
			return -1;
		i++;
	} while (more);
	return 0;
}

/* Puts together what is printed; with `join` lines that are alike are folded. */
static int preview_lay_out(struct preview *p, const struct preview_ask *ask, enum outcome outcome,
			   bool join)
{
	struct layout *l = &p->layout;

	layout_begin(l, &p->options, ask, choose_end_share(&p->options, ask->status),
		     preview_lines(p), preview_bytes(p));
	l->same = p->smart ? &p->smart->same : NULL;
	l->similar = p->smart ? &p->smart->alike : NULL;
	if (preview_add_lines(p, outcome))
		return -1;
	layout_price(l, join);
	if (!layout_take_all(l))
		choose(l, &p->options);
	return 0;
}

/* What needs no memory: the last lines, behind a gap. */
static int choose_last(struct preview *p, const struct preview_ask *ask,
		       const struct preview_piece **pieces)
{
	size_t used = (size_t)ask->printed_bytes + MARKER_RESERVE;
	size_t room = p->options.budget > used ? p->options.budget - used : 0;
	uint64_t left = preview_bytes(p) - ask->printed_bytes, number;
	size_t most = room < left ? room : (size_t)left, len;
	struct preview_piece *piece = p->plain;
	const char *text;

	do {
		len = window_last(&p->window, most, &text, &number);
		most /= 2;
	} while (line_clean_len(text, len) > room);
	if (number > ask->printed_lines + 1)
		*piece++ = (struct preview_piece){.kind = PREVIEW_GAP,
						  .from = ask->printed_lines + 1,
						  .to = number - 1,
						  .bytes = left - len};
	if (len > 0)
		*piece++ = (struct preview_piece){.kind = PREVIEW_TEXT,
						  .from = number,
						  .to = preview_lines(p),
						  .bytes = len,
						  .text = text,
						  .len = len};
	*pieces = p->plain;
	return (int)(piece - p->plain);
}

int preview_choose(struct preview *p, const struct preview_ask *ask,
		   const struct preview_piece **pieces)
{
	enum outcome outcome = ask->status == 0 ? OUTCOME_SUCCESS : OUTCOME_FAILURE;
	int count = -1;

	if (p->options.mode == PREVIEW_SMART && !p->smart)
		start_smart(p);
	if (p->smart)
		smart_weigh(p->smart, preview_bytes(p), outcome);
	bool failed = preview_lay_out(p, ask, outcome, p->smart && !p->options.bare);
	/* Lines are folded to make room for others. */
	if (!failed && p->smart && !p->options.bare && p->layout.used < p->options.budget / 2)
		failed = preview_lay_out(p, ask, outcome, false);
	if (!failed) {
		layout_grow(&p->layout);
		count = layout_pieces(&p->layout);
	}
	*pieces = p->layout.pieces;
	return count < 0 ? choose_last(p, ask, pieces) : count;
}

uint64_t preview_shown(const struct preview *p)
{
	return p->layout.lines;
}

bool preview_is_line_limited(const struct preview *p)
{
	return p->layout.at_ceiling;
}
