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

/* With `collapse` off: lines as they were written, only escapes removed. The screen stays empty. */

static void strip_text(struct terminal *t, const char *data, size_t len, size_t newlines)
{
	struct emitter *e = &t->emitter;
	if (t->tail.carriage && *data == '\n') {
		if (t->options.returns)
			emitter_text(e, "\r", 1);
	} else if (t->tail.carriage && e->in_line) {
		/* A progress bar's next frame. */
		t->lossy = true;
		emitter_text(e, "\n", 1);
		e->newlines++;
	}
	t->tail.carriage = false;
	emitter_text(e, data, len);
	e->newlines += newlines;
}

void strip_control(struct terminal *t, uint32_t c)
{
	if (c == '\r') {
		t->tail.carriage = true;
		return;
	}
	t->lossy |= c != '\a' && c != '\n';
	if (c == '\n' || c == '\v' || c == '\f' || (c == '\0' && t->nul == TERMINAL_NUL_NEWLINE))
		strip_text(t, "\n", 1, 1);
	else if (c == '\0' && t->nul == TERMINAL_NUL_SYMBOL)
		strip_text(t, NUL_SYMBOL_BYTES, 3, 0);
}

const char *strip_feed(struct terminal *t, const char *p, const char *end)
{
	while (p < end && t->parser.state == PARSER_GROUND) {
		size_t newlines = 0;
		size_t n = t->scan->text(p, (size_t)(end - p), false, &newlines);
		if (n)
			strip_text(t, p, n, newlines);
		p += n;
		if (p == end)
			break;
		if (*p == '\x1B')
			p = terminal_escape(t, p, end);
		else
			strip_control(t, (unsigned char)*p++);
	}
	return p;
}
