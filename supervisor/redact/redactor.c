// See redactor.h.

#include "supervisor/redact/redactor.h"

#include "lib/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The classes of characters in the search for secrets. */
enum part {
	NOTHING,
	SHOWN,
	LINE,        /* the end of a line */
	SEQUENCE,    /* a byte of an escape sequence */
	BODY,        /* a byte of a string that a terminal does not show */
	HIDDEN_LINE, /* the end of a line in such a sequence or string */
};

/* A byte of a view that must not be replaced, since a terminal obeys it. */
#define KEPT (SECRETS_GAP << 1)

static bool is_in_string(const struct parser *p)
{
	return p->state >= PARSER_STRING;
}

/* Takes a character below U+0080, or a C1 control, and returns its class. */
static enum part take_control(struct parser *p, uint32_t cp)
{
	bool was_string = is_in_string(p), was_ground = p->state == PARSER_GROUND;
	bool is_control = cp < 0x20 || cp >= 0x7F;
	bool is_line = cp == '\0' || cp == '\n' || cp == '\v' || cp == '\f';
	bool is_shown = cp == '\t' || cp == '\r' || cp == '\b';
	if (was_ground && (!is_control || is_shown))
		return SHOWN;
	parser_step(p, cp);
	bool in_string = was_string && is_in_string(p);
	if (is_line)
		return in_string || (cp == '\0' && !was_ground) ? HIDDEN_LINE : LINE;
	/* A terminal obeys controls within a sequence, too. */
	if (is_control)
		return is_shown && !in_string ? SHOWN : NOTHING;
	return in_string ? BODY : SEQUENCE;
}

#define SOFT_HYPHEN 0xAD

/* Whether the character is invisible. */
static bool redactor_is_invisible(uint32_t cp)
{
	return cp == SOFT_HYPHEN || utf8_width(cp) == 0;
}

/* Takes the character at `data`. Returns its length; 0: more bytes are needed. */
static size_t redactor_take(struct parser *p, const char *data, size_t len, bool final,
			    enum part *part)
{
	unsigned char c = (unsigned char)*data;
	uint32_t cp = c;
	if (c < 0x80) {
		*part = take_control(p, c);
		return 1;
	}
	*part = SHOWN;
	size_t cut, n;
	bool valid = utf8_next(data, len, &cp, &n);
	if (!final && n == len && utf8_incomplete(data, len, &cut))
		return 0;
	if (cp < 0xA0)
		*part = take_control(p, cp);
	else if (is_in_string(p))
		*part = BODY;
	else if (p->state != PARSER_GROUND)
		*part = SEQUENCE;
	else if (valid && redactor_is_invisible(cp))
		*part = NOTHING;
	/* A terminal ignores invalid bytes. */
	if (cp >= 0xA0 && valid && p->state != PARSER_GROUND)
		parser_step(p, cp);
	return n;
}

static bool redactor_is_plain(const struct redactor *r)
{
	const char *data = r->work.data;
	size_t len = r->work.len, n;
	if (r->parser.state != PARSER_GROUND)
		return false;
	for (size_t i = 0; i < len; i += n) {
		unsigned char c = (unsigned char)data[i];
		uint32_t cp;
		n = 1;
		if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\b') || c == 0x7F)
			return false;
		if (c >= 0x80 && utf8_next(data + i, len - i, &cp, &n) &&
		    (cp < 0xA0 || redactor_is_invisible(cp)))
			return false;
	}
	return !utf8_incomplete(data, len, &n);
}

/* Empties the view except for its context, and makes room for `room` bytes. Returns 0, or -1 with
   ENOMEM. */
static int view_begin(struct redactor_view *v, size_t room)
{
	buffer_clear(&v->places);
	v->text.len = v->gaps.len = v->context;
	v->at_end = v->gap;
	return buffer_reserve(&v->text, room + 1) < 0 || buffer_reserve(&v->gaps, room + 1) < 0 ||
			       buffer_reserve(&v->places, (room + 1) * sizeof(uint32_t)) < 0
		       ? -1
		       : 0;
}

/* Adds bytes that need no entry in `places`, or have one already. */
static void view_add(struct redactor_view *v, const char *data, size_t len, int flag)
{
	if (len == 0)
		return;
	memcpy(v->text.data + v->text.len, data, len);
	memset(v->gaps.data + v->gaps.len, flag, len);
	v->gaps.data[v->gaps.len] |= v->at_end ? SECRETS_GAP : 0;
	v->text.len += len;
	v->gaps.len += len;
	v->at_end = false;
}

/* Takes the character of `n` bytes at `at` in `work`. */
static void view_take(struct redactor_view *v, const char *work, size_t at, size_t n,
		      enum part part)
{
	uint32_t *places = (uint32_t *)(void *)(v->places.data + v->places.len);
	bool line = part == LINE || part == HIDDEN_LINE;
	for (size_t i = 0; i < n; i++)
		places[i] = (uint32_t)(at + i);
	v->places.len += n * sizeof(*places);
	view_add(v, line ? "\n\n" : work + at, n, part == SEQUENCE ? KEPT : 0);
}

static void look_closely(struct redactor *r, bool final)
{
	struct parser parser = r->parser;
	const char *data = r->work.data;
	size_t at, n;
	enum part part;
	for (at = 0; at < r->work.len; at += n) {
		enum parser_state before = parser.state;
		n = redactor_take(&parser, data + at, r->work.len - at, final, &part);
		if (n == 0)
			break;
		bool ends = part == SEQUENCE &&
			    (parser.state == PARSER_GROUND || is_in_string(&parser));
		/* No secret begins with a byte of a colour. */
		if (part == SEQUENCE &&
		    strchr(before < PARSER_CSI_ENTRY ? "[" : "0123456789:;?mK", data[at]))
			part = NOTHING;
		r->differ |= part >= SEQUENCE;
		if (part == SHOWN || part == LINE)
			view_take(&r->shown, data, at, n, part);
		else
			r->shown.at_end = true;
		if (part != NOTHING)
			view_take(&r->whole, data, at, n, part);
		if (part == NOTHING || ends)
			r->whole.at_end = true;
	}
	r->usable = at;
}

/* Converts an offset in a view to one in `work`. */
static size_t view_place(const struct redactor *r, const struct redactor_view *v, size_t at)
{
	const uint32_t *places = (const uint32_t *)(const void *)v->places.data;
	if (at < v->context)
		return 0;
	if (at == v->text.len)
		return r->usable;
	return v->places.len > 0 ? places[at - v->context] : at - v->context;
}

/* Drops the bytes before `gone` in `work` from a view, except a context on the same line. */
static void view_let_go(const struct redactor *r, struct redactor_view *v, size_t gone)
{
	size_t to = v->context, end = v->text.len;
	while (to < end) {
		size_t middle = to + (end - to) / 2;
		if (view_place(r, v, middle) < gone)
			to = middle + 1;
		else
			end = middle;
	}
	bool gap = to < v->text.len ? v->gaps.data[to] & SECRETS_GAP : v->at_end;
	const char *newline = to > 0 ? memrchr(v->text.data, '\n', to) : NULL;
	size_t begin = newline ? (size_t)(newline - v->text.data) + 1 : 0;
	bool in_line = newline ? false : v->in_line;
	if (to - begin > SECRETS_CONTEXT) {
		begin = to - SECRETS_CONTEXT;
		in_line = true;
	}
	v->context = to - begin;
	memmove(v->text.data, v->text.data + begin, v->context);
	memmove(v->gaps.data, v->gaps.data + begin, v->context);
	v->in_line = in_line;
	v->gap = gap;
}

/* Drops the first `gone` bytes of `work`; `passed`: a terminal has received them. */
static void redactor_let_go(struct redactor *r, size_t gone, bool passed)
{
	enum part part;
	view_let_go(r, &r->shown, gone);
	view_let_go(r, &r->whole, gone);
	for (size_t at = 0; passed && !r->plain && at < gone;)
		at += redactor_take(&r->parser, r->work.data + at, r->usable - at, true, &part);
	buffer_consume(&r->work, gone);
	r->differ = r->differ && (r->shown.context > 0 || r->whole.context > 0 ||
				  r->parser.state != PARSER_GROUND);
}

static void redactor_forget(struct redactor *r)
{
	r->shown.context = r->whole.context = 0;
	r->shown.in_line = r->whole.in_line = true;
	r->shown.gap = r->whole.gap = false;
}

/* Fails safe: replaces everything up to the end of the line, or of the key. */
static void give_up(struct redactor *r)
{
	static const char mark[] = "[redacted]";
	if (r->skipping != REDACTOR_OPEN)
		return;
	r->out(r->ctx, mark, sizeof(mark) - 1);
	redactor_forget(r);
	r->skipping = REDACTOR_LINE;
}

/* The longest line that begins or ends a key. */
#define SECRETS_MARK 80

/* Returns the offset after the first line that begins (or, with `ends`, ends) a key, or 0. */
static size_t secrets_key_mark(const char *data, size_t len, bool ends)
{
	static const char dashes[] = "-----";
	const char *begin = ends ? "-----END " : "-----BEGIN ", *what = ends ? "" : "PRIVATE KEY";
	const char *end = data + len;
	for (const char *at = data; (at = memmem(at, (size_t)(end - at), begin, strlen(begin)));) {
		at += strlen(begin);
		size_t left = (size_t)(end - at);
		const char *stop = memmem(at, left < 64 ? left : 64, dashes, strlen(dashes));
		if (stop && memmem(at, (size_t)(stop - at), what, strlen(what)))
			return (size_t)(stop - data) + strlen(dashes);
	}
	return 0;
}

/* Memory has run out: drops `data` and the held bytes. If a key begins in them, the bytes that
   follow are replaced as part of the key. */
static void redactor_lose(struct redactor *r, const char *data, size_t len)
{
	give_up(r);
	if (secrets_key_mark(data, len, false) ||
	    (r->work.len > 0 && secrets_key_mark(r->work.data, r->work.len, false))) {
		r->skipping = REDACTOR_KEY;
		r->skipped = 0;
	}
	buffer_clear(&r->work);
	redactor_forget(r);
}

/* Drops bytes that belong to a secret. Returns whether others follow them. */
static bool redactor_skip(struct redactor *r, bool final)
{
	const struct redactor_view *v = &r->whole;
	const char *data = v->text.data + v->context, *newline = NULL;
	size_t len = v->text.len - v->context, seen = len, limit = SIZE_MAX;
	/* A mark at the end may be incomplete. */
	size_t held = final ? 0 : SECRETS_MARK, end = len > held ? len - held : 0;
	size_t stop = 0, begin;
	if (r->skipping == REDACTOR_KEY) {
		limit = REDACTOR_BLOCK - r->skipped;
		seen = len < limit + SECRETS_MARK ? len : limit + SECRETS_MARK;
		stop = secrets_key_mark(data, seen, true);
	} else if ((newline = memchr(data, '\n', len))) {
		seen = (size_t)(newline - data);
	}
	bool marked = true, more = true;
	r->skipped += end;
	if ((begin = secrets_key_mark(data, stop ? stop : seen, false))) {
		end = begin;
		r->skipping = REDACTOR_KEY;
		r->skipped = 0;
	} else if (stop) {
		end = stop;
		r->skipping = REDACTOR_OPEN;
	} else {
		marked = false;
		if (newline) {
			end = seen;
			r->skipping = REDACTOR_OPEN;
		} else if (end >= limit) {
			end = limit;
			r->skipping = REDACTOR_LINE;
		} else {
			more = false;
		}
	}
	end += v->context;
	/* Bytes after the end of the secret are searched and printed again. */
	redactor_let_go(r, marked ? view_place(r, v, end - 1) + 1 : view_place(r, v, end), false);
	/* A secret must not be context for what follows. */
	redactor_forget(r);
	return more && r->work.len > 0;
}

/* A run of bytes in `work` that is replaced. */
struct cut {
	size_t from, to;
	size_t begin, end; /* the whole match */
	const char *name;
	bool first;              /* the first part of the match */
	enum redactor_rest then; /* what is replaced after the last part */
};

static int redactor_compare(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

/* Adds the cuts for secrets found in a view. Lowers *hold to the first place where more bytes are
   needed to decide. */
static int find_in(struct redactor *r, const struct redactor_view *v, bool final, size_t *hold)
{
	const struct secrets_text text = {.data = v->text.data,
					  .gaps = v->gaps.data,
					  .len = v->text.len,
					  .start = v->context,
					  .begins = !v->in_line,
					  .ends = final};
	size_t held = v->text.len;
	buffer_clear(&r->spans);
	if (secrets_find(r->secrets, &text, &r->spans, &held) < 0)
		return -1;
	if (view_place(r, v, held) < *hold)
		*hold = view_place(r, v, held);
	const struct secrets_span *span = (const struct secrets_span *)(const void *)r->spans.data;
	for (size_t left = r->spans.len / sizeof(*span); left > 0; left--, span++) {
		struct cut cut = {.begin = view_place(r, v, span->begin),
				  .end = view_place(r, v, span->to - 1) + 1,
				  .name = span->name,
				  .first = true};
		for (size_t i = span->from, next; i < span->to; i = next) {
			next = i + 1;
			if (v->gaps.data[i] & KEPT)
				continue;
			cut.from = view_place(r, v, i);
			while (next < span->to && !(v->gaps.data[next] & KEPT) &&
			       view_place(r, v, next) == cut.from + (next - i))
				next++;
			cut.to = cut.from + (next - i);
			cut.then = next == span->to ? span->then : REDACTOR_OPEN;
			buffer_append(&r->cuts, &cut, sizeof(cut));
			cut.first = false;
		}
	}
	return buffer_check(&r->cuts);
}

/* Finds the bytes to replace, sorted by offset. Sets *hold to the first offset where more bytes are
   needed to decide. Returns 0, or -1 with ENOMEM. */
static int redactor_find(struct redactor *r, bool final, size_t *hold)
{
	buffer_clear(&r->cuts);
	*hold = r->usable;
	if (find_in(r, &r->shown, final, hold) < 0 ||
	    (r->differ && find_in(r, &r->whole, final, hold) < 0))
		return -1;
	struct cut *cuts = (struct cut *)(void *)r->cuts.data;
	size_t count = r->cuts.len / sizeof(*cuts);
	/* No secret is cut in two. */
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < count; i++) {
			if (cuts[i].end > *hold && cuts[i].begin < *hold) {
				*hold = cuts[i].begin;
				again = true;
			}
		}
	}
	if (count > 1)
		qsort(cuts, count, sizeof(*cuts), redactor_compare);
	return 0;
}

/* Builds the result for `work` up to *passed; the bytes from there to *hold go out unchanged. A
   secret that extends into later bytes lowers both, even if it is within another secret. */
static int cut_out(struct redactor *r, size_t *hold, size_t *passed)
{
	const struct cut *cut = (const struct cut *)(const void *)r->cuts.data;
	size_t left = r->cuts.len / sizeof(*cut);
	buffer_clear(&r->result);
	for (*passed = 0; left > 0 && cut->from < *hold; cut++, left--) {
		if (cut->from >= *passed) {
			buffer_append(&r->result, r->work.data + *passed, cut->from - *passed);
			if (cut->first)
				buffer_printf(&r->result, "[redacted%s%s]", *cut->name ? ": " : "",
					      cut->name);
		}
		if (cut->to > *passed)
			*passed = cut->to;
		if (cut->then > r->skipping) {
			r->skipping = cut->then;
			r->skipped = 0;
			*hold = cut->to;
		}
	}
	return buffer_check(&r->result);
}

/* Passes on the bytes that can't belong to an unfinished secret, with secrets replaced. Returns
   whether there is more to do. */
static bool redactor_turn(struct redactor *r, bool final)
{
	size_t hold, passed;
	const size_t len = r->work.len;
	if (view_begin(&r->shown, len) < 0 || view_begin(&r->whole, len) < 0) {
		redactor_lose(r, "", 0);
		return false;
	}
	r->plain = redactor_is_plain(r);
	r->usable = len;
	if (r->plain) {
		view_add(&r->shown, r->work.data, len, 0);
		view_add(&r->whole, r->work.data, len, 0);
	} else {
		look_closely(r, final);
	}
	if (r->skipping != REDACTOR_OPEN)
		return redactor_skip(r, final);
	if (redactor_find(r, final, &hold) < 0 || cut_out(r, &hold, &passed) < 0) {
		redactor_lose(r, "", 0);
		return false;
	}
	if (r->result.len > 0)
		r->out(r->ctx, r->result.data, r->result.len);
	if (hold > passed)
		r->out(r->ctx, r->work.data + passed, hold - passed);
	bool more = r->skipping != REDACTOR_OPEN && hold < r->usable;
	redactor_let_go(r, hold, true);
	return more;
}

void redactor_feed(struct redactor *r, const char *data, size_t len)
{
	while (len > 0) {
		/* Checks for too many held bytes only at offsets that do not depend on how the
		   input is cut into pieces. */
		size_t room = REDACTOR_HOLD - r->fed % REDACTOR_HOLD, n = len < room ? len : room;
		if (buffer_try_append(&r->work, data, n) < 0)
			redactor_lose(r, data, n);
		while (redactor_turn(r, false))
			;
		if (n == room && r->work.len > REDACTOR_HOLD) {
			give_up(r);
			while (redactor_turn(r, false))
				;
		}
		r->fed += n;
		data += n;
		len -= n;
	}
}

void redactor_finish(struct redactor *r)
{
	while (r->work.len > 0 && redactor_turn(r, true))
		;
}

void redactor_release(struct redactor *r)
{
	struct buffer *const all[] = {
		&r->work,       &r->shown.text,   &r->shown.gaps, &r->shown.places, &r->whole.text,
		&r->whole.gaps, &r->whole.places, &r->spans,      &r->cuts,         &r->result};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		buffer_release(all[i]);
}

static void redactor_collect(void *ctx, const char *data, size_t len)
{
	buffer_append(ctx, data, len);
}

int redactor_string(struct secrets *secrets, const char *string, struct buffer *out)
{
	struct redactor r = {.secrets = secrets, .out = redactor_collect, .ctx = out};
	redactor_feed(&r, string, strlen(string));
	redactor_finish(&r);
	redactor_release(&r);
	return buffer_check(out);
}

void redactor_inside(struct secrets *secrets, char *string, size_t room)
{
	struct buffer safe = BUFFER_INIT;
	bool made = redactor_string(secrets, string, &safe) == 0 && buffer_string(&safe);
	snprintf(string, room, "%s", made ? safe.data : "[redacted]");
	buffer_release(&safe);
}

char **redactor_words(struct secrets *secrets, char *const *words)
{
	struct buffer text = BUFFER_INIT;
	size_t count = 0;
	char **made = NULL;
	for (; words[count]; count++) {
		redactor_string(secrets, words[count], &text);
		buffer_append(&text, "", 1);
	}
	size_t table = (count + 1) * sizeof(*made);
	if (buffer_check(&text) == 0)
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
