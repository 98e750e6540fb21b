#include "supervisor/preview/preview.h"

#include "lib/bytes.h"
#include "lib/trace.h"
#include "supervisor/preview/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Makes room after the tail by dropping its first bytes. If they belong to an unfinished line, the
   start of that line is kept in `front`. */
static void window_shift(struct window *w)
{
	size_t unread = (size_t)(w->bytes - w->last_start), least = unread + LOOK_BACK + 1;
	size_t left = unread <= LONG_LINE && least > w->keep ? least : w->keep;
	if (left >= w->len)
		return;
	if (unread > left && unread <= w->len)
		memcpy(w->front, w->tail + w->len - unread, sizeof(w->front));
	memmove(w->tail, w->tail + w->len - left, left);
	w->len = left;
}

/* The number of lines so far, an unfinished one included. */
static uint64_t window_lines(const struct window *w)
{
	return w->newlines + (w->bytes > w->last_start);
}

/* The last `keep` bytes, and their offset in the text. */
static const char *tail_data(const struct window *w, size_t *len, uint64_t *offset)
{
	*len = size_min(w->len, w->keep);
	*offset = w->bytes - *len;
	return w->tail + w->len - *len;
}

/* A cursor for window_next(), which returns the lines that begin in the tail, in order, and always
   the last line. It is zeroed at first, or set to a line. Valid until more is fed. */
struct window_cursor {
	uint64_t number, offset; /* number of the last returned line; offset of the next one */
};

/* If only the start of a line is in `front`, adds the end of it that is in the tail. */
static void add_tail(const struct window *w, struct line *line)
{
	size_t len;
	uint64_t offset, end = line->offset + line->length;
	const char *data = tail_data(w, &len, &offset);
	if (!line_is_whole(line) && end > offset) {
		line->back = data;
		line->back_len = (size_t)(end - offset) - line->ended;
	}
}

static bool window_next(const struct window *w, struct window_cursor *c, struct line *line)
{
	size_t len;
	uint64_t offset, end = w->bytes;
	const char *data = tail_data(w, &len, &offset);
	if (c->offset >= w->bytes)
		return false;
	if (c->offset < offset) {
		/* Begins with the first line that starts in the tail; if none does, with the last
		   line. */
		const char *newline = memchr(data, '\n', len);
		size_t skip = newline ? (size_t)(newline - data) + 1 : len;
		bool unended = w->bytes > w->last_start;
		c->offset = skip < len ? offset + skip : unended ? w->last_start : w->prev_start;
		c->number = skip < len ? w->newlines - newline_count(data + skip, len - skip)
				       : window_lines(w) - 1;
	}
	*line = (struct line){.number = ++c->number, .offset = c->offset};
	if (c->offset >= offset) {
		line->front = data + (c->offset - offset);
		line->front_len = (size_t)(w->bytes - c->offset);
	}
	const char *newline = line->front ? memchr(line->front, '\n', line->front_len) : NULL;
	if (newline) {
		line->front_len = (size_t)(newline - line->front) + 1;
		end = c->offset + line->front_len;
	}
	line->length = end - c->offset;
	line->ended = end <= w->last_start;
	add_tail(w, line);
	c->offset = end;
	return true;
}

enum {
	BUDGET_LEAST = 64,
	/* Bytes that are not used for what is printed live, since a marker may follow it. */
	MARKER_RESERVE = 160,
	/* The most stored lines that a choice looks at. Together with the last lines of a text they
	   usually make at most 1024 units, so the layout's memory need not grow. */
	CANDIDATES = 750,
	/* The smallest size of the tail, all of whose lines are judged. Modes other than smart show
	   shorter lines, and this is enough for as many as may be shown. */
	LAST_JUDGED = 24 * 1024,
};

struct preview {
	struct limit limit; /* `bytes` and `max_line` are those of the current choice */
	struct preview_options given;
	size_t most, least; /* the largest and the smallest budget of a choice */
	struct window window;
	struct head head; /* in mode head: the lines after those that were printed before the text
			     became too long */
	bool by_head;
	struct layout layout;
	struct preview_piece last; /* the only piece if the layout has no memory */
	struct smart *smart;       /* NULL while the text fits into the budget, or if there is no
				      memory */
	bool is_unjudged;          /* `smart` stays NULL */
};

static void preview_set_budget(struct preview *p, size_t budget)
{
	p->limit.bytes = budget;
	p->limit.max_line = limit_line(&p->given.limit, budget);
}

struct preview *preview_new(const struct preview_options *options)
{
	const struct limit *l = &options->limit;
	size_t most = limit_largest(l), least = limit_smallest(l);
	if (most < BUDGET_LEAST || (least && least < BUDGET_LEAST) || l->head_share > 100 ||
	    l->end_share > 100 || l->max_line == 0) {
		errno = EINVAL;
		return NULL;
	}
	struct preview *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->given = *options;
	p->limit = *l;
	p->most = most;
	p->least = least ? least : most;
	preview_set_budget(p, most);
	/* In mode head, only the first lines of terse's own text are shown, so no lines are
	   judged. */
	p->is_unjudged = l->own_words && l->mode == MODE_HEAD;
	/* The tail has to have the start of a line that is cut at the budget. */
	struct window *w = &p->window;
	w->keep = size_max(p->is_unjudged ? 0 : most + p->limit.max_line, LAST_JUDGED);
	/* The buffer is larger than that, so that the tail is not moved often. */
	w->cap = 2 * w->keep + 2 * LONG_LINE;
	w->tail = malloc(w->cap);
	if (!w->tail) {
		preview_free(p);
		return NULL;
	}
	p->by_head = l->mode == MODE_HEAD;
	if (!p->by_head)
		head_begin(&p->head, l, &(struct head_place){0});
	return p;
}

void preview_free(struct preview *p)
{
	if (!p)
		return;
	free(p->smart);
	head_release(&p->head);
	free(p->layout.units);
	free(p->layout.pieces);
	buffer_release(&p->layout.text);
	free(p->window.tail);
	free(p);
}

/* Begins to judge lines once the text is longer than the budget: short texts are never judged. At
   that point the window still has all earlier text. If there is no memory for judging, the first
   and last lines are shown. */
static void start_smart(struct preview *p)
{
	struct window *w = &p->window;
	if (p->smart || p->is_unjudged || !(p->smart = smart_new(w, &p->limit)))
		return;
	if (window_offset(w) == 0) {
		w->newlines = 0;
		smart_read(p->smart, 0);
	}
}

void preview_feed(struct preview *p, const char *data, size_t len)
{
	struct window *w = &p->window;
	if (w->bytes + len > p->most)
		start_smart(p);
	if (!p->by_head)
		head_feed(&p->head, data, len);
	while (len > 0) {
		const uint64_t from = w->last_start;
		if (w->len == w->cap)
			window_shift(w);
		const size_t n = size_min(len, w->cap - w->len);
		const char *last = memrchr(data, '\n', n);
		if (last) {
			const char *prev = memrchr(data, '\n', (size_t)(last - data));
			w->prev_start = prev ? w->bytes + (size_t)(prev - data) + 1 : w->last_start;
			w->last_start = w->bytes + (size_t)(last - data) + 1;
		}
		memcpy(w->tail + w->len, data, n);
		w->len += n;
		w->bytes += n;
		if (p->smart)
			smart_read(p->smart, from);
		else
			w->newlines += newline_count(data, n);
		data += n;
		len -= n;
	}
}

void preview_begin_head(struct preview *p, const struct head_place *printed)
{
	head_begin(&p->head, &p->given.limit, printed);
}

void preview_feed_head(struct preview *p, const char *data, size_t len)
{
	head_feed(&p->head, data, len);
}

void preview_skip(struct preview *p, uint64_t bytes, uint64_t newlines)
{
	/* Lines after the missing part do not follow those in the head. */
	p->head.is_open = false;
	start_smart(p);
	if (p->smart)
		p->smart->follow = 0;
	struct window *w = &p->window;
	w->len = 0;
	w->bytes += bytes;
	w->newlines += newlines;
	w->prev_start = w->last_start = w->bytes;
}

struct preview_facts preview_facts(const struct preview *p)
{
	const struct window *w = &p->window;
	return (struct preview_facts){.lines = window_lines(w),
				      .bytes = w->bytes,
				      .whole_lines = w->newlines,
				      .whole_bytes = w->last_start,
				      .shown = p->layout.lines,
				      .is_line_limited = p->layout.at_ceiling};
}

struct limit preview_live_limit(const struct preview *p)
{
	struct limit limit = p->given.limit;
	limit.bytes = p->least;
	limit = layout_head_share(&limit);
	limit.max_line = limit_line(&limit, p->least);
	/* In mode head no marker follows. */
	size_t most = p->least > MARKER_RESERVE ? p->least - MARKER_RESERVE : 0;
	if (limit.mode != MODE_HEAD && limit.bytes > most)
		limit.bytes = most;
	return limit;
}

/* Adds to a line of the window the bytes that the store has of it. The store has the most relevant
   part of a long line; the window may have more of its start or end. Even a short line may be cut
   off where the window begins. */
static void add_stored_bytes(const struct line *stored, struct line *line)
{
	if (line->front_len < stored->front_len) {
		line->front = stored->front;
		line->front_len = stored->front_len;
	}
	if (stored->after > 0 || line->back_len < stored->back_len) {
		line->back = stored->back;
		line->back_len = stored->back_len;
		line->after = stored->after;
	}
}

/* Adds in order the first lines, those of the window after them, and the best stored ones. `smart`
   NULL: none are stored. */
static int preview_add_lines(struct preview *p, const struct smart *smart)
{
	struct window_cursor cursor = {0};
	struct layout *l = &p->layout;
	const struct stored *s = smart ? smart->store.lines : NULL;
	const struct stored *end = smart ? s + smart->store.count : NULL;
	size_t most = CANDIDATES;
	const unsigned least = smart ? store_least(&smart->store, &most) : 0;
	const size_t heads = head_settle(&p->head, !l->ask->is_pause);
	const struct run *around = NULL; /* the last stored run that begins at or before the line */
	struct line line;
	bool more = true;
	for (size_t i = 0; more; i++) {
		const struct line *first = i < heads ? &p->head.lines[i] : NULL;
		const bool is_first = first && p->by_head;
		/* A long line may be shown longer once the outcome is known. If it is the last
		   line, its end may be shown instead. */
		bool may_change = p->limit.max_line < l->ceiling || i + 1 == p->head.count;
		if (is_first && l->ask->is_pause && first->length > p->limit.max_line && may_change)
			break;
		if (first) {
			line = *first;
			cursor.number = line.number;
			cursor.offset = line.offset + line.length;
			add_tail(&p->window, &line);
		}
		more = first || (!l->ask->is_head && window_next(&p->window, &cursor, &line));
		for (; s < end && (!more || s->run.line.number < line.number); s++) {
			/* Lines with a lower value than `least` are not used, nor are blank lines,
			   except directly after a used line. */
			bool is_next = l->count > 0 &&
				       l->units[l->count - 1].run.to + 1 == s->run.line.number;
			bool is_good = s->trait.score.kind == SCORE_BLANK
					       ? is_next
					       : s->trait.value > 0 && s->trait.value >= least;
			if (is_good && layout_add(l, &s->run, &s->trait, false))
				return -1;
			around = &s->run;
		}
		uint64_t behind = p->window.bytes - line.offset - line.length;
		struct trait trait = {.value = 1};
		struct run run = run_of(&line, 0);
		if (more && s < end && s->run.line.number == line.number) {
			around = &s->run;
			run = s->run;
			if (!is_first)
				add_stored_bytes(&run.line, &line);
			run.line = line;
			trait = s++->trait;
		} else if (!more || (!is_first &&
				     ((!line_is_whole(&line) && line.length <= p->limit.max_line) ||
				      (smart && line.offset > p->limit.bytes &&
				       behind > p->limit.bytes + p->limit.max_line)))) {
			/* A line that is not stored is useless if it is cut off where the window
			   begins; or if lines were judged, and it is not near the start or end of
			   the text. */
			continue;
		} else if (smart) {
			score_judge(&smart->judge, &line, &trait.score);
			trait.common = smart_is_common(smart, &trait.score);
			run.shape = run_shape(&trait.score);
			/* Adds the rest of the line's run too. */
			if (around && around->kind <= l->joins && line.number < around->to)
				run_cut(&run, around);
		}
		if (layout_add(l, &run, &trait, is_first))
			return -1;
		/* The first part may end inside a run of equal lines. The rest of that run is one
		   unit. */
		if (is_first && i + 1 == heads && around && around->kind <= l->joins &&
		    around->to > line.number) {
			run.line.number++;
			run.line.offset += line.length;
			run_cut(&run, around);
			if (layout_add(l, &run, &trait, false))
				return -1;
		}
	}
	return 0;
}

int preview_choose(struct preview *p, const struct preview_ask *ask,
		   const struct preview_piece **pieces)
{
	struct layout *l = &p->layout;
	const struct window *w = &p->window;
	const bool pause = ask->is_pause, succeeded = !pause && ask->status == 0;
	enum outcome outcome = succeeded ? OUTCOME_SUCCESS : OUTCOME_FAILURE;
	int count = -1;
	const bool judges = !pause && !ask->is_head;
	if (!pause || ask->is_head)
		preview_set_budget(p, ask->budget ? ask->budget : p->most);
	if (judges)
		start_smart(p);
	if (judges && p->smart)
		smart_weigh(p->smart, w->bytes, outcome);
	/* At a pause only the last complete lines are shown, so none are judged. */
	struct limit limit = p->limit;
	const struct smart *smart = judges ? p->smart : NULL;
	if (pause && !ask->is_head)
		limit.mode = MODE_TAIL;
	else if (!smart && limit.mode == MODE_SMART)
		limit.mode = MODE_ENDS;
	bool judged = smart && limit.mode == MODE_SMART;
	/* The text was asked for: see struct preview_options. */
	const size_t failure = limit.failure_bytes;
	bool asked = succeeded && limit.mode == MODE_SMART &&
		     ((failure && limit.bytes > failure) || limit.fold == FOLD_COUNTERS);
	layout_begin(l, &limit, &p->given, ask, pause ? w->newlines : window_lines(w),
		     pause ? w->last_start : w->bytes);
	l->brief = succeeded && judged && smart->regular * 100 >= smart->judged * REGULAR_SHARE &&
		   !asked;
	l->asked_for = asked;
	l->joins = !judged || p->given.bare ? RUN_EQUAL : asked ? RUN_COUNTS : RUN_ALIKE;
	if (preview_add_lines(p, smart) == 0)
		count = layout_choose(l, &limit);
	TRACE(PREVIEW, "%s: %d pieces, %" PRIu64 " of %" PRIu64 " lines, %zu of %zu bytes%s",
	      pause   ? "at a pause"
	      : smart ? "smart"
		      : "by position",
	      count, l->lines, l->total_lines, l->used, l->budget, count < 0 ? "; no memory" : "");
	*pieces = l->pieces;
	if (count >= 0 || pause)
		return count > 0 ? count : 0;
	/* If there is no memory, all of the text is one gap. */
	p->last = (struct preview_piece){.kind = PREVIEW_GAP,
					 .from = ask->printed_lines + 1,
					 .to = window_lines(w),
					 .bytes = w->bytes - ask->printed_bytes,
					 .spelled = true};
	*pieces = &p->last;
	return p->last.from <= p->last.to;
}

void preview_compare(struct preview *p, const struct fingerprints *success)
{
	start_smart(p);
	if (p->smart && smart_compare(p->smart, success) == 0)
		TRACE(PREVIEW, "compared with the lines of a success");
}
