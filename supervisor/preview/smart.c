#include "supervisor/preview/internal.h"

#include <stdlib.h>
#include <string.h>

unsigned store_least(const struct store *s, size_t *count)
{
	size_t lines[STORE_VALUES] = {0};
	unsigned value = STORE_VALUES;
	for (size_t i = 0; i < s->count; i++)
		lines[s->lines[i].trait.value]++;
	while (value > 0 && lines[value - 1] <= *count)
		*count -= lines[--value];
	return value;
}

/* Drops half of the lines: those of least value and, among equals, the later. */
static void store_halve(struct store *s)
{
	size_t kept = 0, used = 0, ties = s->count / 2;
	unsigned least = store_least(s, &ties);
	for (size_t i = 0; i < s->count; i++) {
		struct stored d = s->lines[i];
		struct run *r = &d.run;
		size_t len = r->line.front_len + r->line.back_len, last = r->last.front_len;
		if (d.trait.value < least && (d.trait.value + 1 < least || ties == 0))
			continue;
		ties -= d.trait.value < least;
		r->line.front = memmove(s->text + used, r->line.front, len + last);
		r->line.back = r->line.front + r->line.front_len;
		r->last.front = r->line.front + len;
		used += len + last;
		s->lines[kept++] = d;
	}
	s->count = kept;
	s->used = used;
}

enum {
	/* The first bytes of a text, which are judged line by line. */
	JUDGE_ALL = 2 * 1024 * 1024,
	LINES_BEFORE = 3,
	LINES_BEHIND = 12,
	REGULAR_SHARE = 60, /* percent of the lines of a regular text are of common families */
	/* Bytes around a find by which the commonest are known, and how often those are looked at.
	   Each time that the word alone, was found so often, that is less:
	   a text full of different errors costs no more than others. */
	AROUND = 12,
	FAMILIAR = 1024,
	FAMILIAR_WORD = 64,
};

struct smart *smart_new(struct window *window, const struct limit *limit)
{
	/* Only what is used of it is touched. */
	struct smart *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->threads = 1;
	s->window = window;
	judge_init(&s->judge, limit);
	return s;
}

/* Joins the line stored last with those that are like it, and keeps the texts of the first and of
   the last of them. */
static void store_join(struct store *s)
{
	size_t gone = run_join(s->lines, s->count, sizeof(*s->lines), RUN_ALIKE);
	if (gone == 0)
		return;
	s->count -= gone;
	struct run *r = &s->lines[s->count - 1].run;
	size_t first = r->line.front_len + r->line.back_len, len = 0;
	char *end = s->text + (r->line.front - s->text) + first;
	if (r->kind) {
		len = size_min(r->last.front_len, ALIKE_LAST + FRAGMENT_LEN);
		memmove(end, r->last.front, len);
	}
	r->last.front = end;
	r->last.front_len = len;
	r->last.back_len = r->last.after = 0;
	s->used = (size_t)(end + len - s->text);
}

/* Adds a judged line behind the others. */
static void smart_store(struct smart *s, const struct line *line, const struct score *score)
{
	struct store *store = &s->store;
	/* The line stored last may be the last one, which is shown as it is. */
	store_join(store);
	while (store->count == STORE_LINES ||
	       STORE_BYTES - store->used < STORE_FRONT + STORE_BACK) {
		smart_weigh(s, line->offset, OUTCOME_UNKNOWN);
		store_halve(store);
	}
	struct stored *d = &store->lines[store->count++];
	*d = (struct stored){.run = run_of(line, run_shape(score)),
			     .trait = {.score = *score, .threads = s->threads}};
	if (!line_is_whole(line)) {
		size_t skip = line->back_len > STORE_BACK ? line->back_len - STORE_BACK : 0;
		if (line->front_len > STORE_FRONT)
			d->run.line.front_len = STORE_FRONT;
		d->run.line.back += skip;
		d->run.line.back_len -= skip;
	} else if (line->front_len > STORE_FRONT + STORE_BACK) {
		size_t body = line->front_len - line->ended;
		size_t end = score->focus ? score->focus + STORE_FRONT : body;
		/* Around the focus more is kept than of the start. */
		if (end > body)
			end = body;
		d->run.line.front_len = score->focus ? STORE_BACK : STORE_FRONT;
		d->run.line.back_len = STORE_FRONT + STORE_BACK - d->run.line.front_len;
		d->run.line.back = line->front + end - d->run.line.back_len;
		d->run.line.after = body - end;
	}
	d->run.line.front =
		memcpy(store->text + store->used, d->run.line.front, d->run.line.front_len);
	store->used += d->run.line.front_len;
	if (d->run.line.back_len)
		d->run.line.back =
			memcpy(store->text + store->used, d->run.line.back, d->run.line.back_len);
	store->used += d->run.line.back_len;
	s->stored = line->number;
}

/* Whether a line of the window is the one above it once more. */
static bool is_repeat(const struct smart *s, const struct line *line)
{
	const struct window *w = s->window;
	size_t at = (size_t)(line->offset - window_offset(w)), len = (size_t)line->length;
	/* In front of it is the start of the text, or the newline that ends the line before. */
	if (len > LOOK_BACK || len > at || (len == at && line->offset > len))
		return false;
	return (len == at || line->front[-1 - (ptrdiff_t)len] == '\n') &&
	       memcmp(line->front, line->front - len, len) == 0;
}

bool smart_is_common(const struct smart *s, const struct score *score)
{
	return !score->tells && sketch_count(&s->sketch, score->family) >= COMMON;
}

bool smart_is_regular(const struct smart *s)
{
	return s->regular * 100 >= s->judged * REGULAR_SHARE;
}

static void smart_keep_line(struct smart *s, const struct line *line)
{
	struct score score;
	score_judge(&s->judge, line, &score);
	s->threads += s->threads && score.thread;
	if (score.kind != SCORE_BLANK) {
		s->judged++;
		if (sketch_add(&s->sketch, score.family) >= COMMON && !score.tells)
			s->regular++;
	}
	smart_store(s, line, &score);
}

/* The line with that number, whose first byte is at `at`. */
static void window_line(const struct window *w, const char *at, uint64_t number, struct line *line)
{
	size_t left = (size_t)(w->tail + w->len - at);
	const char *newline = memchr(at, '\n', left);
	*line = (struct line){.number = number,
			      .offset = w->bytes - left,
			      .length = (size_t)(newline - at) + 1,
			      .ended = true,
			      .front = at};
	line->front_len = (size_t)line->length;
}

/* Stores the lines above a telling one. */
static void keep_before(struct smart *s, const struct line *line)
{
	const char *starts[LINES_BEFORE], *at = line->front, *start = s->window->tail;
	size_t count = 0;
	struct line other;
	while (count < LINES_BEFORE && at > start && line->number - count > s->stored + 1) {
		const char *newline = memrchr(start, '\n', (size_t)(at - start) - 1);
		at = newline ? newline + 1 : start;
		/* What else is there depends on how the text was fed. */
		if (line->front - at > LOOK_BACK)
			break;
		starts[count++] = at;
	}
	while (count-- > 0) {
		window_line(s->window, starts[count], line->number - count - 1, &other);
		smart_keep_line(s, &other);
	}
}

/* Where finds are counted that have the same bytes around in their line, numbers apart. */
static uint16_t *count_of(const struct window *w, uint16_t *counts, const char *hit, size_t around)
{
	const char *at = (size_t)(hit - w->tail) > around ? hit - around : w->tail;
	const char *to = hit + FRAGMENT_LEN + around;
	uint32_t hash = SHAPE_SEED;
	bool digits = false;
	/* The line with the find is there up to its end. */
	for (; at < to && (at < hit || *at != '\n'); at++) {
		if (is_digit(*at) && digits)
			continue;
		digits = is_digit(*at);
		hash = shape_mix(hash, (unsigned char)(digits && *at != '0' ? '1' : *at));
	}
	return &counts[hash >> (32 - FOUND_BITS)];
}

/* Whether so many finds looked like this one that no further one can tell anything. */
static bool is_familiar(struct smart *s, const char *hit)
{
	uint16_t *word = count_of(s->window, s->found_words, hit, 0);
	if (*word == UINT16_MAX)
		return true;
	uint16_t *here = count_of(s->window, s->found, hit, AROUND);
	if (*here >= FAMILIAR / (1 + *word / FAMILIAR_WORD))
		return true;
	(*word)++;
	(*here)++;
	return false;
}

/* Passes over further lines of a streak of the same line. Returns where they end. */
static const char *pass_repeats(struct smart *s, const char *at, const char *end)
{
	struct window *w = s->window;
	struct run *last = s->store.count ? &s->store.lines[s->store.count - 1].run : NULL;
	struct line line;
	if (!last || last->kind || last->to != w->newlines)
		return at;
	window_line(w, at, w->newlines + 1, &line);
	while (line.front < end && is_repeat(s, &line)) {
		last->to = ++w->newlines;
		last->length += line.length;
		s->stored++;
		line.offset += line.length;
		line.front += line.length;
		if ((size_t)(w->tail + w->len - line.front) < line.length)
			break;
	}
	return line.front;
}

/* Passes over lines up to the next that may tell something, which is judged. Returns where it ends.
 */
static const char *search_line(struct smart *s, const char *at, const char *end)
{
	struct window *w = s->window;
	struct line line;
	const char *hit = at;
	size_t lines = 0;
	s->threads = 0;
	for (;; hit += FRAGMENT_LEN) {
		hit += literals_find(&s->judge.prefilter, hit, (size_t)(end - hit), &lines);
		if (hit >= end || !is_familiar(s, hit))
			break;
	}
	w->newlines += lines;
	if (hit >= end)
		return end;
	const char *newline = memrchr(at, '\n', (size_t)(hit - at));
	window_line(w, newline ? newline + 1 : at, ++w->newlines, &line);
	at = line.front + line.length;
	/* Long lines are judged by their ends alone. */
	if (line.length > LONG_LINE)
		return at;
	struct score score;
	score_judge(&s->judge, &line, &score);
	unsigned count = sketch_add(&s->sketch, score.shape);
	sketch_add(&s->sketch, score.family);
	if (score.score < SCORE_TELLING)
		return at;
	if (count <= COMMON) {
		keep_before(s, &line);
		s->follow = LINES_BEHIND;
	}
	smart_store(s, &line, &score);
	return at;
}

void smart_read(struct smart *s, uint64_t from)
{
	struct window *w = s->window;
	const uint64_t offset = window_offset(w);
	const char *at = w->tail + (from > offset ? from - offset : 0), *end = at, *passed;
	if (w->last_start > offset)
		end = w->tail + (w->last_start - offset);
	while (at < end) {
		const bool follows = s->follow > 0, all = from < JUDGE_ALL || follows;
		struct line line;
		if (!all && from >= offset) {
			passed = pass_repeats(s, at, end);
			if (passed == at)
				passed = search_line(s, at, end);
			from += (uint64_t)(passed - at);
			at = passed;
			continue;
		}
		window_line(w, at, ++w->newlines, &line);
		at += line.length;
		line.offset = from;
		from = offset + (size_t)(at - w->tail);
		line.length = from - line.offset;
		if (line.length > LONG_LINE) {
			line.front = line.offset < offset ? w->front : line.front;
			line.front_len = STORE_FRONT;
			line.back = at - 1 - STORE_BACK;
			line.back_len = STORE_BACK;
		}
		s->follow -= follows;
		if (all)
			smart_keep_line(s, &line);
	}
}
