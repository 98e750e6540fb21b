// Without a grid: lines as they were written, only escapes removed. For
// `collapse` off, and when there is no memory for a grid.

#include "supervisor/terminal/internal.h"

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
		size_t n;

		n = t->scan->text(p, (size_t)(end - p), false, &newlines);
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
