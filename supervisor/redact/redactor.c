// See redactor.h.

#include "supervisor/redact/redactor.h"

#include "supervisor/redact/secrets.h"

#include <stdlib.h>
#include <string.h>

enum { GROUND, ESCAPE, CSI };

/* The text as it is searched: without escape sequences, each byte with its place in `work`. */
struct view {
	const char *data;
	size_t len;
	const uint32_t *map;  /* NULL: as in `work` */
	unsigned char escape; /* at the end */
};

/* Whether a terminal shows nothing of it, wherever it is. */
static bool is_ignored(unsigned char c)
{
	return c == 0x7F || (c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\b');
}

/* Takes one byte. Returns whether it is text. */
static bool step(unsigned char *state, unsigned char c)
{
	if (c == 0x1B) {
		*state = ESCAPE;
		return false;
	}
	if (is_ignored(c))
		return false;
	/* A terminal would go on with the sequence behind it; what is text is to be seen. */
	if (c < 0x20) {
		*state = GROUND;
		return true;
	}
	if (*state == ESCAPE) {
		if (c == '[')
			*state = CSI;
		else if (c >= 0x30)
			*state = GROUND;
		return false;
	}
	if (*state == CSI && c < 0x80) {
		if (c >= 0x40)
			*state = GROUND;
		return false;
	}
	*state = GROUND;
	return true;
}

static bool is_plain(const struct redactor *r)
{
	if (r->escape != GROUND)
		return false;
	for (size_t i = r->context; i < r->work.len; i++) {
		if (is_ignored((unsigned char)r->work.data[i]))
			return false;
	}
	return true;
}

static int look(struct redactor *r, struct view *v)
{
	*v = (struct view){.data = r->work.data, .len = r->work.len, .escape = r->escape};
	if (is_plain(r))
		return 0;
	buffer_clear(&r->text);
	buffer_clear(&r->map);
	if (buffer_reserve(&r->text, r->work.len + 1) < 0 ||
	    buffer_reserve(&r->map, (r->work.len + 1) * sizeof(*v->map)) < 0)
		return -1;
	uint32_t *map = (uint32_t *)(void *)r->map.data;
	memcpy(r->text.data, r->work.data, r->context);
	v->len = r->context;
	for (size_t i = r->context; i < r->work.len; i++) {
		if (!step(&v->escape, (unsigned char)r->work.data[i]))
			continue;
		map[v->len] = (uint32_t)i;
		r->text.data[v->len++] = r->work.data[i];
	}
	map[v->len] = (uint32_t)r->work.len;
	v->data = r->text.data;
	v->map = map;
	return 0;
}

/* Where a byte of the view is in `work`. */
static size_t place(const struct redactor *r, const struct view *v, size_t at)
{
	if (at < r->context)
		return r->context;
	return v->map ? v->map[at] : at;
}

/* What a terminal obeys and does not show, between the bytes from..to and behind each: the colours
   go on behind a secret. */
static int keep_escapes(struct redactor *r, const struct view *v, size_t from, size_t to)
{
	for (size_t i = from; v->map && i < to; i++) {
		size_t at = v->map[i] + 1, next = v->map[i + 1];
		if (buffer_append(&r->result, r->work.data + at, next - at) < 0)
			return -1;
	}
	return 0;
}

static int replace(struct redactor *r, const char *name)
{
	return buffer_printf(&r->result, "[redacted%s%s]", *name ? ": " : "", name);
}

/* Drops what is dealt with: the view up to `to`, `work` up to `gone`. Of its line a context stays.
 */
static void let_go(struct redactor *r, const struct view *v, size_t to, size_t gone)
{
	const char *newline = to > 0 ? memrchr(v->data, '\n', to) : NULL;
	size_t begin = newline ? (size_t)(newline - v->data) + 1 : 0;
	bool in_line = newline ? false : r->in_line;
	if (to - begin > SECRETS_CONTEXT) {
		begin = to - SECRETS_CONTEXT;
		in_line = true;
	}
	size_t context = to - begin, left = r->work.len - gone;
	char kept[SECRETS_CONTEXT];
	memcpy(kept, v->data + begin, context);
	/* What is before `gone` is at least as long as the context is. */
	memmove(r->work.data + context, r->work.data + gone, left);
	memcpy(r->work.data, kept, context);
	r->work.len = context + left;
	r->context = context;
	r->in_line = in_line;
	r->escape = left == 0 ? v->escape : GROUND;
}

/* The bytes that nothing may be known of are replaced, up to the end of the line. */
static void give_up(struct redactor *r)
{
	static const char mark[] = "[redacted]";
	r->out(r->ctx, mark, sizeof(mark) - 1);
	r->work.len = r->context = 0;
	r->in_line = true;
	r->escape = GROUND;
	r->skipping = REDACTOR_LINE;
	r->skipped = 0;
}

/* Passes over what belongs to a secret. Returns whether there is more behind it. */
static bool skip(struct redactor *r, const struct view *v, bool final)
{
	size_t from = r->context, len = v->len - from, end = 0;
	bool is_key = r->skipping == REDACTOR_KEY;
	const char *newline;
	if (is_key)
		end = secrets_block_end(v->data + from, len);
	else if ((newline = memchr(v->data + from, '\n', len)))
		end = (size_t)(newline - v->data) - from;
	/* An empty rest of a line is one, too. */
	bool found = end > 0 || (!is_key && len > 0 && v->data[from] == '\n');
	size_t held = is_key && !final ? SECRETS_END_MARK : 0;
	if (!found)
		end = len > held ? len - held : 0;
	r->skipped += end;
	if (found || (is_key && r->skipped > REDACTOR_BLOCK))
		r->skipping = REDACTOR_OPEN;
	/* Behind the end of a key everything counts again. */
	bool ended = found && is_key;
	let_go(r, v, from + end,
	       ended && v->map ? v->map[from + end - 1] + 1 : place(r, v, from + end));
	/* It is no context for what follows. */
	buffer_consume(&r->work, r->context);
	r->context = 0;
	r->in_line = true;
	return r->skipping == REDACTOR_OPEN && r->work.len > 0;
}

/* Passes on what is known to be none, and replaces what is. Returns whether there is more to do. */
static bool turn(struct redactor *r, bool final)
{
	struct view v;
	struct secrets_found found;
	if (look(r, &v) < 0) {
		give_up(r);
		return false;
	}
	if (r->skipping != REDACTOR_OPEN)
		return skip(r, &v, final);
	const struct secrets_text text = {.data = v.data,
					  .len = v.len,
					  .start = r->context,
					  .begins = !r->in_line,
					  .ends = final};
	if (secrets_find(r->secrets, &text, &found) < 0) {
		give_up(r);
		return false;
	}
	/* Up to `passed` in `work` all is passed on. */
	size_t passed = r->context, to = found.hold;
	buffer_clear(&r->result);
	for (size_t i = 0; i < found.count && r->skipping == REDACTOR_OPEN; i++) {
		const struct secrets_span *span = &found.spans[i];
		size_t begin = place(r, &v, span->from);
		if (buffer_append(&r->result, r->work.data + passed, begin - passed) < 0 ||
		    replace(r, span->name) < 0 ||
		    keep_escapes(r, &v, span->from, span->to - span->block) < 0) {
			give_up(r);
			return false;
		}
		passed = place(r, &v, span->to);
		if (span->block) {
			r->skipping = REDACTOR_KEY;
			r->skipped = 0;
			to = span->to;
		}
	}
	size_t end = place(r, &v, to);
	if (r->result.len > 0)
		r->out(r->ctx, r->result.data, r->result.len);
	if (end > passed)
		r->out(r->ctx, r->work.data + passed, end - passed);
	bool more = r->skipping != REDACTOR_OPEN && to < v.len;
	let_go(r, &v, to, end);
	if (!final && r->work.len - r->context > REDACTOR_HOLD && !more)
		give_up(r);
	return more;
}

void redactor_feed(struct redactor *r, const char *data, size_t len)
{
	while (len > 0) {
		size_t n = len < REDACTOR_PIECE ? len : REDACTOR_PIECE;
		if (buffer_append(&r->work, data, n) < 0) {
			give_up(r);
		} else {
			while (turn(r, false))
				;
		}
		data += n;
		len -= n;
	}
}

void redactor_finish(struct redactor *r)
{
	while (r->work.len > r->context && turn(r, true))
		;
}

void redactor_release(struct redactor *r)
{
	buffer_release(&r->work);
	buffer_release(&r->text);
	buffer_release(&r->map);
	buffer_release(&r->result);
}

struct collected {
	struct buffer *out;
	int result;
};

static void collect(void *ctx, const char *data, size_t len)
{
	struct collected *c = ctx;
	if (buffer_append(c->out, data, len) < 0)
		c->result = -1;
}

int redactor_string(struct secrets *secrets, const char *string, struct buffer *out)
{
	struct collected c = {.out = out};
	struct redactor r = {.secrets = secrets, .out = collect, .ctx = &c};
	redactor_feed(&r, string, strlen(string));
	redactor_finish(&r);
	redactor_release(&r);
	return c.result;
}

char **redactor_words(struct secrets *secrets, char *const *words)
{
	struct buffer text = BUFFER_INIT;
	size_t count = 0;
	char **made = NULL;
	for (; words[count]; count++) {
		if (redactor_string(secrets, words[count], &text) < 0 ||
		    buffer_append(&text, "", 1) < 0)
			goto out;
	}
	size_t table = (count + 1) * sizeof(*made);
	made = malloc(table + text.len);
	if (!made)
		goto out;
	char *at = (char *)made + table;
	if (text.len > 0)
		memcpy(at, text.data, text.len);
	for (size_t i = 0; i < count; i++) {
		made[i] = at;
		at += strlen(at) + 1;
	}
	made[count] = NULL;
out:
	buffer_release(&text);
	return made;
}
