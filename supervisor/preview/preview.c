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
};

struct preview {
	struct preview_options options;
	struct window window;
	struct layout layout;
	struct smart *smart; /* NULL in the other modes */
};

struct preview *preview_new(const struct preview_options *options)
{
	struct preview *p;
	size_t tail;

	if (options->budget < BUDGET_LEAST || options->head_share > 100 || options->max_line == 0) {
		errno = EINVAL;
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->options = *options;
	/* A line that is cut needs its first bytes behind what is in the budget. */
	tail = options->budget + options->max_line;
	if (window_init(&p->window, tail, tail)) {
		free(p);
		return NULL;
	}
	if (options->mode == PREVIEW_SMART) {
		p->smart = malloc(sizeof(*p->smart));
		if (!p->smart || smart_init(p->smart)) {
			free(p->smart);
			p->smart = NULL;
			preview_free(p);
			return NULL;
		}
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

void preview_feed(struct preview *p, const char *data, size_t len)
{
	window_feed(&p->window, data, len, !p->smart);
	if (p->smart)
		p->window.newlines = smart_feed(p->smart, data, len);
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

/* The lines of the window and the stored ones, in order. */
static int add_lines(struct preview *p)
{
	struct window_cursor cursor = {0};
	struct store *store = p->smart ? &p->smart->store : NULL;
	size_t i = 0, count = store ? store->count : 0;
	unsigned least = store ? store_rank(store, CANDIDATES) : 0;
	struct line line, other;
	bool more = true;

	if (least == 0)
		least = 1;

	while (more || i < count) {
		const struct stored *stored = i < count ? &store->lines[i] : NULL;

		more = more && window_next(&p->window, &cursor, &line);
		while (stored && (!more || stored->number < line.number)) {
			store_line(store, i, &other);
			if (stored->value >= least &&
			    layout_add(&p->layout, &other, stored->value, stored->shape))
				return -1;
			stored = ++i < count ? &store->lines[i] : NULL;
		}
		if (more) {
			bool both = stored && stored->number == line.number;

			if (layout_add(&p->layout, &line, both ? stored->value : 1,
				       both ? stored->shape : 0))
				return -1;
			i += both;
		}
	}
	return 0;
}

int preview_choose(struct preview *p, const struct preview_ask *ask,
		   const struct preview_piece **pieces)
{
	struct layout *l = &p->layout;
	int count;

	layout_begin(l, &p->options, ask, preview_lines(p), preview_bytes(p));
	if (p->smart)
		smart_weigh(p->smart, preview_bytes(p),
			    ask->status == 0 ? OUTCOME_SUCCESS : OUTCOME_FAILURE);
	if (add_lines(p))
		return -1;
	layout_price(l);
	if (!layout_take_all(l))
		choose(l, &p->options);
	count = layout_pieces(l);
	*pieces = l->pieces;
	return count;
}
