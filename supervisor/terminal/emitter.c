#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

void emitter_flush(struct emitter *e)
{
	size_t len = e->staged;
	if (!len)
		return;
	e->staged = 0;
	e->write(e->ctx, e->stage, len);
}

void emitter_collect(void *ctx, const char *data, size_t len)
{
	if (ctx)
		buffer_append(ctx, data, len);
}

static void emitter_put(struct emitter *e, const char *data, size_t len)
{
	e->any = true;
	e->in_line = data[len - 1] != '\n';
	if (!e->stage) {
		e->write(e->ctx, data, len);
		return;
	}
	if (len > EMITTER_STAGE - e->staged) {
		emitter_flush(e);
		if (len >= EMITTER_STAGE / 2) {
			e->write(e->ctx, data, len);
			return;
		}
	}
	memcpy(e->stage + e->staged, data, len);
	e->staged += len;
}

static void emitter_repeat(struct emitter *e, char c, uint64_t count)
{
	char run[256];
	memset(run, c, count < sizeof(run) ? (size_t)count : sizeof(run));
	while (count) {
		size_t n = count < sizeof(run) ? (size_t)count : sizeof(run);
		emitter_put(e, run, n);
		count -= n;
	}
}

void emitter_settle(struct emitter *e)
{
	if (e->owed) {
		emitter_repeat(e, '\n', e->owed);
		e->newlines += e->owed;
		e->owed = 0;
	}
}

void emitter_row(struct emitter *e, bool wrapped, bool wide)
{
	if (!e->open) {
		e->pad = 0;
	} else if (!wrapped) {
		e->owed++;
		e->pad = 0;
	} else if (wide && e->gap && e->pad) {
		e->pad--;
	}
	e->open = true;
	e->gap = false;
}

void emitter_text(struct emitter *e, const char *data, size_t len)
{
	if (e->owed)
		emitter_settle(e);
	if (e->pad) {
		emitter_repeat(e, ' ', e->pad);
		e->pad = 0;
	}
	if (len > 0)
		emitter_put(e, data, len);
}

void emitter_blanks(struct emitter *e, size_t count)
{
	e->pad += count;
}

static void emitter_rows(struct emitter *e, const char *data, size_t len, size_t newlines)
{
	size_t trailing = 0;
	while (trailing < len && data[len - 1 - trailing] == '\n')
		trailing++;
	if (trailing < len) {
		emitter_text(e, data, len - trailing);
		e->newlines += newlines - trailing;
	}
	if (trailing) {
		e->owed += trailing;
		e->pad = 0;
	}
}

static void emitter_rows_end(struct emitter *e, unsigned blanks)
{
	/* The last newline is not decided yet: see emitter_row(). */
	e->owed--;
	e->open = true;
	e->pad = blanks;
	e->gap = blanks > 0;
}

void emitter_close(struct emitter *e)
{
	if (e->open)
		e->owed++;
	e->open = false;
	e->pad = 0;
	emitter_settle(e);
}

void emitter_restart(struct emitter *e)
{
	e->owed = e->any ? 1 : 0;
	e->open = false;
	e->pad = 0;
}

/* The append gear's tail: the text of the screen's last rows, held back as bytes
   below the rows that were in the grid before. It is handed on when it has
   scrolled off, and replayed into the grid when that is needed. */

static void reset(struct tail *tail)
{
	tail->len = 0;
	tail->newlines = 0;
	tail->carriage = false;
	tail->apart = false;
	tail->broken = false;
}

void append_enter(struct terminal *t)
{
	struct screen *s = t->screen;
	const struct row *row = screen_row(s, s->y);
	if (t->grid_only || !s->history || s->own_tabs || s->x || s->top ||
	    s->bottom + 1 != s->rows)
		return;
	if (!t->modes.wrap || t->modes.insert || t->modes.origin || t->protect || t->style)
		return;
	if (t->charsets.current != CHARSET_ASCII || t->partial_len)
		return;
	/* DECRC to a place below would need to know how many rows went by. */
	if (s->saved.y > s->base + s->y)
		return;
	if (!row->begun || row->wrapped || !row_is_blank(row))
		return;
	for (unsigned y = s->low; y > s->y; y--) {
		if (screen_row(s, y)->begun || !row_is_blank(screen_row(s, y)))
			return;
		s->low = y - 1;
	}
	reset(&t->tail);
	t->appending = true;
}

void append_leave(struct terminal *t, bool cut)
{
	struct tail *tail = &t->tail;
	struct screen *s = t->screen;
	enum parser_state state = t->parser.state;
	if (tail->carriage || tail->apart || state != PARSER_GROUND)
		cut = true;
	t->appending = false;
	/* The reason to leave may be a control inside a sequence. */
	t->parser.state = PARSER_GROUND;
	grid_replay(t, tail->data, tail->len);
	if (t->partial_len && cut) {
		grid_print_invalid(t, t->partial, t->partial_len);
		t->partial_len = 0;
	}
	t->parser.state = state;
	if (tail->carriage)
		s->x = 0;
	if (tail->carriage || tail->broken)
		t->width = 0;
	reset(tail);
}

/* The column after a line's text that begins in column x, as printing it would
   lead to. Adds to *wraps how often it goes on in the next row. */
static unsigned tail_lay_out(const struct terminal *t, unsigned x, const char *data, size_t len,
			     size_t *wraps)
{
	const struct screen *s = t->screen;
	uint32_t first = 0, part = 0;
	unsigned last = 0;
	size_t n;
	for (; len; data += n, len -= n) {
		unsigned width = 1;
		uint32_t cp;
		n = t->scan->ascii(data, len);
		if (n) {
			/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): there are two at least */
			*wraps += (x + n - 1) / s->cols;
			x = (unsigned)((x + n - 1) % s->cols) + 1;
			last = 1;
			first = part = (unsigned char)data[n - 1];
			continue;
		}
		n = utf8_decode(data, len, &cp);
		if (cp == '\t') {
			unsigned next = (x / TAB_WIDTH + 1) * TAB_WIDTH;
			if (x < s->cols)
				x = next < s->cols ? next : s->cols - 1;
			last = 0;
			continue;
		}
		if (cp != UTF8_REPLACEMENT)
			width = utf8_width(cp);
		if (cp == BYTE_ORDER_MARK || cp == '\r')
			continue;
		if (x > 0 &&
		    (width == 0 ? last || x >= s->cols : last && utf8_joins(first, part, cp))) {
			if (last == 1 && x < s->cols && utf8_width_joined(first, part, cp) == 2) {
				last = 2;
				x++;
			}
			part = cp;
			continue;
		}
		last = width;
		first = part = cp;
		if (x + width > s->cols) {
			x = 0;
			++*wraps;
		}
		x += width ? width : 1;
	}
	return x;
}

/* The columns left in the row in which the last line of `data` ends. The line may
   begin in `before`, which ends without newline. */
static unsigned blank_columns(const struct terminal *t, const char *before, size_t before_len,
			      const char *data, size_t len)
{
	size_t wraps = 0;
	unsigned x = 0;
	len--;
	const char *p = memrchr(data, '\n', len);
	const char *line = p ? p + 1 : data;
	if (!p && before_len) {
		p = memrchr(before, '\n', before_len);
		p = p ? p + 1 : before;
		x = tail_lay_out(t, 0, p, before_len - (size_t)(p - before), &wraps);
	}
	return t->screen->cols - tail_lay_out(t, x, line, len - (size_t)(line - data), &wraps);
}

/* All rows above the tail have scrolled off. */
static void flush_rows(struct terminal *t)
{
	struct screen *s = t->screen;
	while (s->y > 0) {
		screen_scroll(s, false);
		s->y--;
	}
}

/* The first `len` bytes of the tail, whole rows with so many newlines, have
   scrolled off with what is above them. */
static void flush_tail(struct terminal *t, size_t len, size_t newlines)
{
	struct tail *tail = &t->tail;
	flush_rows(t);
	emitter_row(&t->emitter, false, false);
	emitter_rows(&t->emitter, tail->data, len, newlines);
	emitter_rows_end(&t->emitter, blank_columns(t, NULL, 0, tail->data, len));
	memmove(tail->data, tail->data + len, tail->len - len);
	tail->len -= len;
	tail->newlines -= newlines;
	t->screen->base += newlines;
}

/* Where the line begins that is at the top of the screen when `data` is what was
   written last; `kept` newlines follow. False if that line may begin before it. */
static bool find_screen(const struct terminal *t, const char *data, size_t len, size_t *start,
			size_t *kept)
{
	size_t missing = t->screen->rows;
	const char *end = data + len;
	for (*kept = 0;; ++*kept) {
		const char *p = memrchr(data, '\n', (size_t)(end - data));
		size_t rows = 1;
		if (!p)
			return false;
		tail_lay_out(t, 0, p + 1, (size_t)(end - p) - 1, &rows);
		if (rows >= missing) {
			*start = (size_t)(p - data) + 1;
			return true;
		}
		missing -= rows;
		end = p;
	}
}

void append_trim(struct terminal *t)
{
	struct tail *tail = &t->tail;
	struct screen *s = t->screen;
	size_t start, kept;
	if (tail->newlines >= s->rows || tail->len > tail->cap / 2) {
		if (find_screen(t, tail->data, tail->len, &start, &kept))
			flush_tail(t, start, tail->newlines - kept);
		return;
	}
	while (s->y > 0 && s->y + tail->newlines >= s->rows) {
		screen_scroll(s, false);
		s->y--;
	}
}

bool append_direct(struct terminal *t, const char *data, size_t len, size_t newlines)
{
	struct tail *tail = &t->tail;
	size_t gone, kept;
	if (!find_screen(t, data, len, &gone, &kept) || len - gone > tail->cap)
		return false;
	newlines -= kept;
	flush_rows(t);
	emitter_row(&t->emitter, false, false);
	emitter_rows(&t->emitter, tail->data, tail->len, tail->newlines);
	emitter_rows(&t->emitter, data, gone, newlines);
	emitter_rows_end(&t->emitter, blank_columns(t, tail->data, tail->len, data, gone));
	t->screen->base += tail->newlines + newlines;
	reset(tail);
	memcpy(tail->data, data + gone, len - gone);
	tail->len = len - gone;
	tail->newlines = kept;
	return true;
}

void append_emit(const struct terminal *t, struct emitter *e)
{
	const struct screen *s = t->normal;
	const struct tail *tail = &t->tail;
	for (unsigned y = 0; y < s->y; y++)
		row_emit(screen_row(s, y), s->cols, &s->clusters, e);
	emitter_row(e, false, false);
	if (tail->len)
		emitter_rows(e, tail->data, tail->len, tail->newlines);
}

/* Without a grid: lines as they were written, only escapes removed. For
   `collapse` off, and when there is no memory for a grid. */

/* A CR came last: it is part of the text before LF. */
static void keep_return(struct terminal *t)
{
	if (t->tail.carriage && t->options.returns)
		emitter_text(&t->emitter, "\r", 1);
}

static void newline(struct terminal *t)
{
	t->emitter.owed++;
	emitter_settle(&t->emitter);
	t->tail.carriage = false;
}

static void text(struct terminal *t, const char *data, size_t len, size_t newlines)
{
	if (!len)
		return;
	if (t->tail.carriage && t->emitter.in_line && data[0] != '\n') {
		/* A progress bar's next frame. */
		t->lossy = true;
		newline(t);
	}
	if (data[0] == '\n')
		keep_return(t);
	t->tail.carriage = false;
	emitter_text(&t->emitter, data, len);
	t->emitter.newlines += newlines;
}

void strip_control(struct terminal *t, uint32_t c)
{
	switch (c) {
	case '\r': t->tail.carriage = true; return;
	case '\a': return;
	case '\n':
		keep_return(t);
		newline(t);
		return;
	case '\v':
	case '\f': newline(t); break;
	case '\0':
		if (t->nul == TERMINAL_NUL_SYMBOL)
			text(t, NUL_SYMBOL_BYTES, 3, 0);
		else if (t->nul == TERMINAL_NUL_NEWLINE)
			newline(t);
		break;
	default: break;
	}
	t->lossy = true;
}

const char *strip_feed(struct terminal *t, const char *p, const char *end)
{
	while (p < end && t->parser.state == PARSER_GROUND) {
		size_t newlines = 0;
		size_t n = t->scan->text(p, (size_t)(end - p), false, &newlines);
		text(t, p, n, newlines);
		p += n;
		if (p == end)
			break;
		if (*p == '\x1B') {
			parser_step(&t->parser, 0x1B);
			p++;
		} else {
			strip_control(t, (unsigned char)*p++);
		}
	}
	return p;
}

void strip_enter(struct terminal *t)
{
	TRACE(TERMINAL, "no memory for a screen: escape sequences are only removed");
	terminal_emit(t, &t->emitter);
	t->emitter.open = false;
	t->emitter.pad = 0;
	t->stripping = true;
	t->appending = false;
	t->partial_len = 0;
	screen_free(t->alternate);
	screen_free(t->normal);
	t->alternate = NULL;
	t->normal = NULL;
	t->screen = NULL;
}
