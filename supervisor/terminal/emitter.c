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
