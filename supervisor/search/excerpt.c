// See excerpt.h.

#include "supervisor/search/excerpt.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"

/* What is shown before a match that is too long to be shown. */
#define LEAD 60

/* Up to `n` characters on from `at`. Returns how many there were. */
static size_t forward(const char *data, size_t len, size_t *at, size_t n)
{
	size_t done = 0;
	uint32_t cp;
	for (; done < n && *at < len; done++)
		*at += utf8_decode(data + *at, len - *at, &cp);
	return done;
}

/* The same towards the start. */
static size_t backward(const char *data, size_t *at, size_t n)
{
	size_t done = 0;
	uint32_t cp;
	for (; done<n && * at> 0; done++) {
		size_t step = 1;
		/* The longest character that ends here; else a byte that is none. */
		for (size_t back = 2; back <= 4 && back <= *at; back++) {
			const char *start = data + *at - back;
			if (utf8_decode(start, back, &cp) == back &&
			    (cp != UTF8_REPLACEMENT || (unsigned char)*start == 0xEF))
				step = back;
		}
		*at -= step;
	}
	return done;
}

bool excerpt_is_long(const char *data, size_t len)
{
	size_t at = 0;
	if (len <= EXCERPT_MAX)
		return false;
	forward(data, len, &at, EXCERPT_MAX);
	return at < len;
}

void excerpt_choose(struct excerpt *e, const struct walk_line *line,
		    const struct matcher_span *match)
{
	size_t inner = match->from;
	size_t taken = forward(line->data, match->to, &inner, EXCERPT_MAX);
	size_t lead = taken + LEAD > EXCERPT_MAX ? LEAD : (EXCERPT_MAX - taken) / 2;
	e->from = match->from;
	taken = backward(line->data, &e->from, lead);
	e->to = match->from;
	forward(line->data, line->len, &e->to, EXCERPT_MAX - taken);
	/* Near the end there is room for more before. */
	if (e->to == line->len) {
		size_t from = line->len;
		backward(line->data, &from, EXCERPT_MAX);
		if (from < e->from)
			e->from = from;
	}
	e->cut_before = e->from > 0 || line->more_before;
	e->cut_behind = e->to < line->len || line->more_behind;
}

int excerpt_append(struct buffer *out, const struct excerpt *e, const char *data)
{
	if ((e->cut_before && buffer_append_string(out, "[truncated]") < 0) ||
	    utf8_clean(out, data + e->from, e->to - e->from) < 0 ||
	    (e->cut_behind && buffer_append_string(out, "[truncated]") < 0))
		return -1;
	return 0;
}
