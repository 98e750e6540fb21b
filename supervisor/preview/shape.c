#include "supervisor/preview/internal.h"

#include <string.h>

uint32_t shape_hash(uint32_t hash, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)data[i]) * 16777619u;
	return hash;
}

/* The least letters and digits of a hash. */
enum { HASH_LEAST = 7 };

/* A part of a line: a time, a number, a word of letters and digits, or one other byte. */
struct token {
	enum token_kind { TOKEN_OTHER, TOKEN_WORD, TOKEN_NUMBER, TOKEN_HASH, TOKEN_TIME } kind;
	size_t len;
};

static bool is_alnum(char c)
{
	return is_letter(c) || is_digit(c);
}

/* "12:04", "12:04:33.5Z", also behind a date: "2026-01-31T12:04:33+01:00". */
static size_t clock_len(const char *text, size_t len)
{
	bool colon = false;
	size_t n = 0;
	for (; n < len && (is_digit(text[n]) || is_one_of(text[n], ":.,-+TZ")); n++)
		colon |= n >= 2 && n + 2 < len && text[n] == ':' && is_digit(text[n - 1]) &&
			 is_digit(text[n - 2]) && is_digit(text[n + 1]) && is_digit(text[n + 2]);
	return colon ? n : 0;
}

/* "12 ms", "0.33s" */
static size_t duration_len(const char *text, size_t len)
{
	static const char *const units[] = {"s", "ms", "us", "ns", "sec", "secs", "seconds", "min"};
	size_t n = 0, unit, end;
	while (n < len && (is_digit(text[n]) || text[n] == '.'))
		n++;
	for (unit = skip_blanks(text, len, n), end = unit; end < len && is_alnum(text[end]);)
		end++;
	for (size_t i = 0; end > unit && i < sizeof(units) / sizeof(*units); i++) {
		if (end - unit == strlen(units[i]) &&
		    memcmp(text + unit, units[i], end - unit) == 0)
			return end;
	}
	return 0;
}

static struct token token_at(const char *text, size_t len)
{
	size_t n = 0, digits = 0, hex = 0;
	if (is_digit(text[0]) && (n = clock_len(text, len)))
		return (struct token){TOKEN_TIME, n};
	for (n = 0; n < len && is_alnum(text[n]); n++) {
		digits += is_digit(text[n]);
		hex += is_digit(text[n]) || is_one_of(text[n], "abcdefABCDEF");
	}
	if (n >= HASH_LEAST && hex == n && digits > 0 && digits < n)
		return (struct token){TOKEN_HASH, n};
	for (n = 0; n < len && is_digit(text[n]);)
		n++;
	if (n > 0 && n + 1 < len && text[n] == '.' && is_digit(text[n + 1]))
		while (++n < len && is_digit(text[n]))
			;
	if (n > 0)
		return (struct token){TOKEN_NUMBER, n};
	while (n < len && is_letter(text[n]))
		n++;
	return n ? (struct token){TOKEN_WORD, n} : (struct token){TOKEN_OTHER, 1};
}

/* Whether the number at `at` stands for itself, and is no part of a name as in "part_3.log". */
static bool is_counter(const char *text, size_t at, size_t number, size_t len)
{
	size_t end = at + number;
	if (at > 0 && (is_alnum(text[at - 1]) || is_one_of(text[at - 1], "_-./")))
		return false;
	return end + 1 >= len || !is_one_of(text[end], "_-./") || !is_alnum(text[end + 1]) ||
	       (text[end] == '/' && is_digit(text[end + 1]));
}

/* Whether one number is greater than another. */
static bool is_greater(const char *a, size_t a_len, const char *b, size_t b_len)
{
	for (; a_len > 1 && *a == '0'; a++)
		a_len--;
	for (; b_len > 1 && *b == '0'; b++)
		b_len--;
	return b_len > a_len || (b_len == a_len && memcmp(b, a, b_len) > 0);
}

/* What differs first in two lines: it begins at `a` and `b`, and is no news if it is a time, a hash
   or the first counter. Sets the tokens. */
static bool differs_as_counter(const char *a, size_t a_len, const struct line *line, size_t at,
			       struct token *x, struct token *y, bool *counted)
{
	const char *b = line->front + at;
	size_t b_len = line->front_len - at;
	if (x->kind != y->kind)
		return false;
	if (x->kind == TOKEN_HASH)
		return x->len == y->len;
	if (x->kind != TOKEN_NUMBER)
		return x->kind == TOKEN_TIME;
	size_t for_a = duration_len(a, a_len), for_b = duration_len(b, b_len);
	if (for_a && for_b) {
		x->len = for_a;
		y->len = for_b;
		return true;
	}
	if (*counted || !is_greater(a, x->len, b, y->len) ||
	    !is_counter(line->front, at, y->len, line->front_len))
		return false;
	*counted = true;
	return true;
}

bool shape_counts_on(const struct line *before, const struct line *line)
{
	const char *a = before->front, *b = line->front;
	size_t a_len = before->front_len, b_len = line->front_len;
	bool words = false, counted = false;
	size_t letter = 0;
	if (!line_is_whole(before) || !line_is_whole(line))
		return false;
	/* Numbers alone are soon known. */
	while (letter < a_len && !is_letter(a[letter]))
		letter++;
	if (letter == a_len)
		return false;
	for (;;) {
		size_t same = 0;
		while (same < a_len && same < b_len && a[same] == b[same])
			words |= is_letter(a[same++]);
		if (same == a_len || same == b_len)
			return words && a_len == b_len;
		/* Where the token may begin. */
		while (same > 0 && (is_alnum(a[same - 1]) || is_one_of(a[same - 1], ":.,-+")))
			same--;
		struct token x = {TOKEN_OTHER, same}, y = x;
		do {
			a += x.len;
			a_len -= x.len;
			b += y.len;
			b_len -= y.len;
			x = token_at(a, a_len);
			y = token_at(b, b_len);
		} while (x.len == y.len && memcmp(a, b, x.len) == 0);
		if (!differs_as_counter(a, a_len, line, line->front_len - b_len, &x, &y, &counted))
			return false;
		a += x.len;
		a_len -= x.len;
		b += y.len;
		b_len -= y.len;
	}
}

static unsigned slot(uint32_t shape, int row)
{
	static const uint32_t factors[] = {2654435769u, 2246822519u};
	return (shape * factors[row]) >> (32 - SKETCH_BITS);
}

unsigned sketch_count(const struct sketch *s, uint32_t shape)
{
	unsigned a = s->rows[0][slot(shape, 0)];
	unsigned b = s->rows[1][slot(shape, 1)];
	return a < b ? a : b;
}

unsigned sketch_add(struct sketch *s, uint32_t shape)
{
	unsigned least = sketch_count(s, shape);
	if (least == UINT16_MAX)
		return least;
	/* Only the lower one grows: the other has collided. */
	for (int row = 0; row < 2; row++) {
		uint16_t *count = &s->rows[row][slot(shape, row)];
		if (*count == least)
			(*count)++;
	}
	return least + 1;
}

/* A shorter one is of no use. */
enum { STREAK_LEAST = 32 };

static uint64_t streak_length(const struct streak *s)
{
	return s->last.number - s->from;
}

/* Keeps a streak that has ended if it is one of the longest. */
static void streak_keep(struct streaks *s, const struct streak *ended)
{
	struct streak *slot = s->longest;
	if (streak_length(ended) < STREAK_LEAST)
		return;
	if (s->count < STREAKS) {
		slot += s->count++;
	} else {
		for (struct streak *other = slot + 1; other < s->longest + STREAKS; other++) {
			if (streak_length(other) < streak_length(slot))
				slot = other;
		}
		if (streak_length(ended) <= streak_length(slot))
			return;
	}
	*slot = *ended;
	slot->last.front = slot->text;
}

void streaks_add(struct streaks *s, uint64_t number, uint64_t count, bool goes_on)
{
	uint64_t first = number - count + 1;
	if (first <= s->now.last.number)
		return;
	if (!goes_on || first != s->now.last.number + 1) {
		streak_keep(s, &s->now);
		s->now.from = first;
	}
	s->now.last.number = number;
}

void streaks_add_line(struct streaks *s, const struct line *line, bool goes_on)
{
	struct streak *now = &s->now;
	if (line->number <= now->last.number)
		return;
	streaks_add(s, line->number, 1, goes_on);
	size_t len = line->front_len < STREAK_LAST ? line->front_len : STREAK_LAST;
	now->last = (struct line){.number = line->number,
				  .offset = line->offset,
				  .length = line->length,
				  .ended = line->ended,
				  .front = memcpy(now->text, line->front, len),
				  .front_len = len};
}

static bool streak_holds(const struct streak *s, uint64_t from, uint64_t to)
{
	return from >= s->from && to <= s->last.number;
}

const struct streak *streaks_find(const struct streaks *s, uint64_t from, uint64_t to)
{
	if (streak_holds(&s->now, from, to))
		return &s->now;
	for (size_t i = 0; i < s->count; i++) {
		if (streak_holds(&s->longest[i], from, to))
			return &s->longest[i];
	}
	return NULL;
}
