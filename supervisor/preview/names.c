// A line that says that something failed names it, and so does the line where that began: what is
// printed between them belongs to the failure, whatever words it has.
#include "supervisor/preview/chars.h"
#include "supervisor/preview/layout.h"

enum {
	/* So many lines above, the beginning is looked for. */
	NAMES_REACH = 48,
	NAMES_LEAST = 5, /* letters of a name */
	NAMES_PARTS = 8, /* the share of the budget for what is between */
};

struct name {
	const char *text;
	size_t len;
};

static bool is_of_name(char c)
{
	return is_letter(c) || is_digit(c) || is_one_of(c, "_.:-/");
}

/* Whether a word is a name, and neither one of a sentence nor a path: "queue_order",
   "QueueTest.Pops", "TestPop". */
static bool is_name(const char *text, size_t len)
{
	bool inner = false;
	size_t letters = 0;
	for (size_t i = 0; i < len; i++) {
		letters += is_letter(text[i]);
		inner |= i > 0 && (is_one_of(text[i], "_.:") ||
				   (is_upper(text[i]) && !is_upper(text[i - 1])));
	}
	return inner && !memchr(text, '/', len) && letters >= NAMES_LEAST;
}

/* The longest name in a line; its length is 0 if there is none. */
static struct name find_name(const struct line *line)
{
	struct name best = {NULL, 0};
	for (size_t at = 0, end; at < line->front_len; at = end + 1) {
		while (at < line->front_len && !is_letter(line->front[at]))
			at++;
		for (end = at; end < line->front_len && is_of_name(line->front[end]);)
			end++;
		size_t len = end - at;
		while (len > 0 && is_one_of(line->front[at + len - 1], ".:-"))
			len--;
		if (len > best.len && is_name(line->front + at, len))
			best = (struct name){line->front + at, len};
	}
	return best;
}

static bool has_name(const struct line *line, const struct name *name)
{
	const char *at = line->front, *end = line->front + line->front_len;
	while ((at = memmem(at, (size_t)(end - at), name->text, name->len))) {
		bool begins = at == line->front || !is_of_name(at[-1]);
		at += name->len;
		if (begins && (at == end || !is_of_name(*at)))
			return true;
	}
	return false;
}

void layout_take_named(struct layout *l, size_t unit)
{
	const struct unit *u = &l->units[unit];
	struct name name = find_name(&u->line);
	size_t room = l->budget / NAMES_PARTS, i;
	if (name.len == 0)
		return;
	for (i = unit; i-- > l->back && i + NAMES_REACH >= unit;) {
		const struct unit *above = &l->units[i];
		if (above->to + 1 != above[1].line.number)
			return;
		if (!has_name(&above->line, &name))
			continue;
		if (above->trait.kind == SCORE_FAIL)
			return;
		break;
	}
	if (i < l->back || i + NAMES_REACH < unit)
		return;
	for (size_t k = unit; --k > i && l->units[k].cost <= room;) {
		if (l->units[k].trait.kind == SCORE_BLANK || l->units[k].trait.kind == SCORE_RULE)
			continue;
		if (!layout_take(l, k))
			return;
		room -= l->units[k].cost;
	}
}
