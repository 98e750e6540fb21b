// See differ.h.

#include "supervisor/compare/differ.h"

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "supervisor/compare/align.h"
#include "supervisor/compare/side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lines of the windows; texts with fewer bytes left begin with the second. */
static const uint32_t windows[] = {512, 8192, 262144};

#define WINDOWS   (sizeof(windows) / sizeof(*windows))
#define FEW_BYTES ((uint64_t)512 * 1024)

/* A run of so many equal lines shows how the texts go on. */
#define SOLID 24

/* Lines of the sample of one text. */
#define SAMPLE 32768

/* Bytes in front of a line of the sample that may be equal, too. */
#define BACK ((size_t)128 * 1024)

struct sample {
	struct side_line *lines;
	size_t count;
	uint64_t mask; /* those are in it whose fingerprint has none of these bits */
};

struct differing {
	const struct differ *d;
	struct side sides[2];
	struct side_line *lines[2]; /* of the window */
	uint64_t *prints[2];
	uint32_t room; /* of these */
	bool sampled;
	struct sample samples[2];
	struct align anchors; /* of the samples */
	uint64_t *sample_prints[2];
};

/* Where both sides are; what is in front of it is dealt with. */
struct places {
	uint64_t offset[2], number[2];
};

static struct places places_now(const struct differing *d)
{
	struct places p;
	for (int i = 0; i < 2; i++) {
		p.offset[i] = side_offset(&d->sides[i]);
		p.number[i] = d->sides[i].number;
	}
	return p;
}

/* Reports what is between two places, if it is anything. */
static int differ_tell(const struct differing *d, const struct places *from,
		       const struct places *to)
{
	struct differ_change c;
	for (int i = 0; i < 2; i++)
		c.lines[i] = (struct differ_lines){.from = from->number[i],
						   .count = to->number[i] - from->number[i],
						   .offset = from->offset[i],
						   .end = to->offset[i]};
	if (c.lines[0].count == 0 && c.lines[1].count == 0)
		return 0;
	return d->d->change(d->d->ctx, &c);
}

/* How many of the first bytes are the same. */
static size_t same_bytes(const char *a, const char *b, size_t len)
{
	enum { STEP = 4096 };
	size_t at = 0;
	while (len - at >= STEP && memcmp(a + at, b + at, STEP) == 0)
		at += STEP;
	while (at < len && a[at] == b[at])
		at++;
	return at;
}

/* Passes over whole lines whose bytes are the same. Returns 1 if there were some, 0, or -1. */
static int differ_pass_bytes(struct differing *d)
{
	const char *data[2];
	size_t len[2];
	for (int i = 0; i < 2; i++) {
		if (side_look(&d->sides[i], &data[i], &len[i]) < 0)
			return -1;
	}
	size_t same = same_bytes(data[0], data[1], len[0] < len[1] ? len[0] : len[1]);
	const char *last = same ? memrchr(data[0], '\n', same) : NULL;
	if (!last)
		return 0;
	same = (size_t)(last - data[0]) + 1;
	uint64_t newlines = newline_count(data[0], same);
	side_pass(&d->sides[0], same, newlines);
	side_pass(&d->sides[1], same, newlines);
	return 1;
}

/* Passes over a line if both are the same. Returns 1, 0 if they differ, 2 at the end of both, or
   -1. */
static int differ_pass_line(struct differing *d)
{
	const struct places before = places_now(d);
	struct side_line lines[2];
	int got[2];
	for (int i = 0; i < 2; i++) {
		got[i] = side_next(&d->sides[i], &lines[i]);
		if (got[i] < 0)
			return -1;
	}
	if (!got[0] && !got[1])
		return 2;
	if (got[0] && got[1] && lines[0].print == lines[1].print) {
		if (d->d->masked)
			*d->d->masked = true;
		return 1;
	}
	for (int i = 0; i < 2; i++)
		side_seek(&d->sides[i], before.offset[i], before.number[i]);
	return 0;
}

/* Goes on to where the texts differ. Returns 0, 2 at their ends, or -1. */
static int differ_find(struct differing *d)
{
	int passed;
	do {
		passed = differ_pass_bytes(d);
		if (passed == 0)
			passed = differ_pass_line(d);
	} while (passed == 1);
	return passed;
}

static int differ_make_room(struct differing *d, uint32_t lines)
{
	for (int i = 0; i < 2 && lines > d->room; i++) {
		free(d->lines[i]);
		free(d->prints[i]);
		d->lines[i] = malloc(lines * sizeof(*d->lines[i]));
		d->prints[i] = malloc(lines * sizeof(*d->prints[i]));
		if (!d->lines[i] || !d->prints[i]) {
			d->room = 0;
			return -1;
		}
	}
	if (lines > d->room)
		d->room = lines;
	return 0;
}

/* Reads a window of at most `most` lines of one side. Returns 1 if the text ends with it, 0,
   or -1. */
static int differ_collect(struct differing *d, int which, uint32_t most, uint32_t *count)
{
	int got = 1;
	for (*count = 0; *count < most; ++*count) {
		struct side_line *line = &d->lines[which][*count];
		got = side_next(&d->sides[which], line);
		if (got <= 0)
			return got < 0 ? -1 : 1;
		d->prints[which][*count] = line->print;
	}
	return 0;
}

/* The place of a line of the window, or behind the last one of it. */
static void place_line(const struct differing *d, int which, uint32_t line, uint32_t count,
		       struct places *p)
{
	if (line == count) {
		p->offset[which] = side_offset(&d->sides[which]);
		p->number[which] = d->sides[which].number;
		return;
	}
	p->offset[which] = d->lines[which][line].offset;
	p->number[which] = d->lines[which][line].number;
}

/* Reports the changes in front of the first `runs` runs of the window, and `done` moves behind
   the last of these. */
static int differ_tell_runs(const struct differing *d, const struct align *m, size_t runs,
			    struct places *done)
{
	struct places to;
	int result = 0;
	for (size_t i = 0; i < runs && result == 0; i++) {
		const struct align_run *r = &m->runs[i];
		place_line(d, 0, r->a, m->a_count, &to);
		place_line(d, 1, r->b, m->b_count, &to);
		result = differ_tell(d, done, &to);
		place_line(d, 0, r->a + r->len, m->a_count, done);
		place_line(d, 1, r->b + r->len, m->b_count, done);
	}
	return result;
}

/* How many runs of a window count: those up to the last solid one, or all at the end of the texts.
   0: it is too small. */
static size_t differ_trust(const struct align *m, bool at_end, bool largest)
{
	size_t runs = m->count;
	if (at_end)
		return runs;
	while (runs > 0 && m->runs[runs - 1].len < SOLID)
		runs--;
	return runs ? runs : largest ? m->count : 0;
}

/* Deals with a window from where the texts differ. Returns 1 if it shows how they go on, 0 if not,
   2 at their ends, or -1; *answer is that of `change`. */
static int differ_window(struct differing *d, const struct places *start, uint32_t most,
			 int *answer)
{
	struct places done = *start;
	uint32_t counts[2];
	int ends[2];
	for (int i = 0; i < 2; i++) {
		side_seek(&d->sides[i], start->offset[i], start->number[i]);
		ends[i] = differ_collect(d, i, most, &counts[i]);
		if (ends[i] < 0)
			return -1;
	}
	struct align m = {
		.a = d->prints[0], .b = d->prints[1], .a_count = counts[0], .b_count = counts[1]};
	int result = align_make(&m);
	bool at_end = ends[0] && ends[1];
	size_t runs = result == 0 ? differ_trust(&m, at_end, most == windows[WINDOWS - 1]) : 0;
	if (result == 0 && (runs > 0 || at_end)) {
		*answer = differ_tell_runs(d, &m, runs, &done);
		const struct places end = places_now(d);
		if (*answer == 0 && at_end)
			*answer = differ_tell(d, &done, &end);
		for (int i = 0; i < 2; i++)
			side_seek(&d->sides[i], done.offset[i], done.number[i]);
		result = at_end ? 2 : 1;
	}
	align_release(&m);
	return result;
}

/* Takes a sample of the rest of a text. */
static int differ_sample(struct differing *d, int which)
{
	struct sample *s = &d->samples[which];
	struct side *side = &d->sides[which];
	int got;
	s->lines = malloc(SAMPLE * sizeof(*s->lines));
	if (!s->lines)
		return -1;
	for (;;) {
		struct side_line line;
		got = side_next(side, &line);
		if (got <= 0)
			return got;
		if (line.print >> 8 & s->mask)
			continue;
		while (s->count == SAMPLE) {
			size_t kept = 0;
			s->mask = s->mask * 2 + 1;
			for (size_t i = 0; i < s->count; i++) {
				if (!(s->lines[i].print >> 8 & s->mask))
					s->lines[kept++] = s->lines[i];
			}
			s->count = kept;
		}
		if (!(line.print >> 8 & s->mask))
			s->lines[s->count++] = line;
	}
}

/* Finds the lines of the samples that belong together. */
static int differ_find_anchors(struct differing *d, const struct places *start)
{
	d->sampled = true;
	for (int i = 0; i < 2; i++) {
		side_seek(&d->sides[i], start->offset[i], start->number[i]);
		if (differ_sample(d, i) < 0)
			return -1;
	}
	uint64_t mask = d->samples[0].mask | d->samples[1].mask;
	uint32_t counts[2];
	for (int i = 0; i < 2; i++) {
		struct sample *s = &d->samples[i];
		d->sample_prints[i] = malloc(SAMPLE * sizeof(uint64_t));
		if (!d->sample_prints[i])
			return -1;
		counts[i] = 0;
		for (size_t k = 0; k < s->count; k++) {
			if (s->lines[k].print >> 8 & mask)
				continue;
			d->sample_prints[i][counts[i]] = s->lines[k].print;
			s->lines[counts[i]++] = s->lines[k];
		}
	}
	d->anchors = (struct align){.a = d->sample_prints[0],
				    .b = d->sample_prints[1],
				    .a_count = counts[0],
				    .b_count = counts[1]};
	return align_make(&d->anchors);
}

/* The next anchor behind a place; false: there is none. */
static bool differ_next_anchor(const struct differing *d, const struct places *start,
			       struct places *anchor)
{
	for (size_t i = 0; i < d->anchors.count; i++) {
		for (uint32_t k = 0; k < d->anchors.runs[i].len; k++) {
			const struct side_line *lines[2] = {
				&d->samples[0].lines[d->anchors.runs[i].a + k],
				&d->samples[1].lines[d->anchors.runs[i].b + k]};
			for (int j = 0; j < 2; j++) {
				anchor->offset[j] = lines[j]->offset;
				anchor->number[j] = lines[j]->number;
			}
			if (lines[0]->offset > start->offset[0] &&
			    lines[1]->offset > start->offset[1])
				return true;
		}
	}
	return false;
}

/* Moves an anchor to the front while the bytes of the lines before it are the same. */
static int differ_go_back(struct differing *d, const struct places *start, struct places *anchor)
{
	char *blocks[2] = {malloc(BACK), malloc(BACK)};
	struct text_piece piece;
	size_t most = BACK, same = 0;
	int result = blocks[0] && blocks[1] ? 0 : -1;
	for (int i = 0; i < 2; i++) {
		/* With the newline in front of where the change begins. */
		uint64_t from = start->offset[i] > 0 ? start->offset[i] - 1 : 0;
		if (anchor->offset[i] - from < most)
			most = (size_t)(anchor->offset[i] - from);
	}
	for (int i = 0; i < 2 && result == 0; i++) {
		text_seek_byte(d->d->texts[i], anchor->offset[i] - most);
		result = text_next(d->d->texts[i], blocks[i], most, &piece);
		/* A gap is near: the anchor stays. */
		if (result == 0 && (piece.kind != TEXT_BYTES || piece.len < most))
			most = 0;
	}
	while (result == 0 && same < most &&
	       blocks[0][most - same - 1] == blocks[1][most - same - 1])
		same++;
	/* Up to where a line begins: behind a newline. */
	const char *end = result == 0 ? blocks[0] + most : NULL;
	const char *newline = same ? memchr(end - same, '\n', same) : NULL;
	if (newline) {
		size_t back = (size_t)(end - newline) - 1;
		uint64_t newlines = newline_count(newline + 1, back);
		for (int i = 0; i < 2; i++) {
			anchor->offset[i] -= back;
			anchor->number[i] -= newlines;
		}
	}
	free(blocks[0]);
	free(blocks[1]);
	return result;
}

/* No window shows how the texts go on: goes to the next anchor, or to their ends. Returns 1, 2 at
   their ends, or -1; *answer is that of `change`. */
static int differ_leap(struct differing *d, const struct places *start, int *answer)
{
	struct places to;
	int result = 1;
	if (!d->sampled && differ_find_anchors(d, start) < 0)
		return -1;
	if (differ_next_anchor(d, start, &to)) {
		if (differ_go_back(d, start, &to) < 0)
			return -1;
		/* The text was read elsewhere meanwhile. */
		for (int i = 0; i < 2; i++)
			d->sides[i].len = 0;
	} else {
		result = 2;
	}
	for (int i = 0; i < 2; i++) {
		const struct places *at = result == 2 ? start : &to;
		side_seek(&d->sides[i], at->offset[i], at->number[i]);
		if (result == 2 && side_pass_all(&d->sides[i]) < 0)
			return -1;
	}
	to = places_now(d);
	*answer = differ_tell(d, start, &to);
	return result;
}

/* The texts differ here. Returns 1, 2 at their ends, or -1; *answer is that of `change`. */
static int differ_go_on(struct differing *d, int *answer)
{
	const struct places start = places_now(d);
	size_t first = 1;
	int result = 0;
	for (int i = 0; i < 2; i++) {
		if (d->d->texts[i]->size > start.offset[i] + FEW_BYTES)
			first = 0;
	}
	for (size_t i = first; i < WINDOWS && result == 0; i++) {
		if (differ_make_room(d, windows[i]) < 0)
			return -1;
		result = differ_window(d, &start, windows[i], answer);
	}
	return result ? result : differ_leap(d, &start, answer);
}

static void differ_release(struct differing *d)
{
	for (int i = 0; i < 2; i++) {
		side_release(&d->sides[i]);
		free(d->lines[i]);
		free(d->prints[i]);
		free(d->samples[i].lines);
		free(d->sample_prints[i]);
	}
	align_release(&d->anchors);
}

int differ_run(const struct differ *differ)
{
	struct differing d = {.d = differ};
	int result = 0, answer = 0;
	for (int i = 0; i < 2 && result == 0; i++)
		result = side_init(&d.sides[i], differ->texts[i], differ->exact);
	while (result == 0 || result == 1) {
		result = differ_find(&d);
		if (result == 0)
			result = differ_go_on(&d, &answer);
		if (answer)
			break;
	}
	int saved = errno;
	differ_release(&d);
	errno = saved;
	return answer ? answer : result < 0 ? -1 : 0;
}
