// See emitter.h.

#include "supervisor/terminal/emitter.h"

#include <string.h>

void emitter_flush(struct emitter *e)
{
	size_t len = e->staged;

	if (!len)
		return;
	e->staged = 0;
	e->write(e->ctx, e->stage, len);
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
	emitter_put(e, data, len);
}

void emitter_blanks(struct emitter *e, size_t count)
{
	e->pad += count;
}

void emitter_rows(struct emitter *e, const char *data, size_t len, size_t newlines)
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

void emitter_rows_end(struct emitter *e, unsigned blanks)
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
