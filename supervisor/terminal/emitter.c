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

void emitter_close(struct emitter *e)
{
	if (e->open)
		e->owed++;
	e->open = false;
	e->pad = 0;
	emitter_settle(e);
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
