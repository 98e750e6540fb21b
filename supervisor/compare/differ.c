// See differ.h.

#include "supervisor/compare/differ.h"

#include "lib/align.h"
#include "lib/buffer.h"
#include "lib/fingerprint.h"
#include "supervisor/reading/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A line; or a part that was not kept, as one line that has the numbers of all of its lines. */
struct differ_line {
	uint64_t print;  /* its fingerprint ... */
	uint64_t bytes;  /* ... and that of all its bytes */
	uint64_t number; /* 1-based */
	uint64_t offset; /* of its first byte in the file */
};

/* The lines of one text behind what is equal in both. */
struct differ_side {
	struct text *text;
	struct walk *walk;
	bool exact;
	struct differ_line first;  /* of them, where the texts begin to differ */
	struct differ_line *lines; /* and one behind the last */
	size_t count, room;
	uint64_t *hashes;
	bool *alone;
};

struct differing {
	const struct differ *d;
	struct differ_side sides[2];
};

/* Begins where the texts differ, or at their start. Returns 0, or -1 with errno. */
static int differ_rewind(struct differ_side *s)
{
	const struct walk_options options = {.from = s->first.number, .here = true};
	walk_free(s->walk);
	text_seek_byte(s->text, s->first.offset);
	s->walk = walk_new(s->text, NULL, &options);
	return s->walk ? 0 : -1;
}

/* Takes what the walk has come to. Returns 1, 0 at the end, or -1 with errno. */
static int differ_take(struct differ_side *s, enum walk_kind kind, struct walk_line *at,
		       struct differ_line *line)
{
	*line = (struct differ_line){.number = at->number, .offset = at->offset};
	if (kind == WALK_GAP) {
		const struct gap *g = &at->gap->gap;
		line->number = g->from;
		line->print = line->bytes =
			fingerprint_exact((const char *)&g->bytes, sizeof(g->bytes));
	} else if (kind == WALK_LINE) {
		bool masks = !s->exact && !at->more_behind;
		line->bytes = fingerprint_exact(at->data, at->len);
		line->print = masks ? fingerprint_masked(at->data, at->len) : line->bytes;
	}
	while (kind == WALK_LINE && at->more_behind) {
		kind = walk_step(s->walk, at);
		if (kind == WALK_LINE)
			line->bytes = (line->bytes ^ fingerprint_exact(at->data, at->len)) * 31 | 1;
		line->print = line->bytes;
	}
	if (kind == WALK_LINE && !at->newline) {
		line->print ^= 1;
		line->bytes ^= 1;
	}
	return kind == WALK_FAILED ? -1 : kind != WALK_END;
}

static int differ_next(struct differ_side *s, struct differ_line *line)
{
	struct walk_line at;
	enum walk_kind kind = walk_step(s->walk, &at);
	return differ_take(s, kind, &at, line);
}

/* Passes over lines of the same bytes. Returns 0, or -1 with errno. */
static int differ_pass_equal(struct differing *d)
{
	struct walk_line at[2];
	enum walk_kind kinds[2];
	bool same;
	do {
		for (int i = 0; i < 2; i++)
			kinds[i] = walk_step(d->sides[i].walk, &at[i]);
		same = kinds[0] == WALK_LINE && kinds[1] == WALK_LINE && at[0].len == at[1].len &&
		       at[0].newline == at[1].newline && !at[0].more_behind && !at[1].more_behind &&
		       memcmp(at[0].data, at[1].data, at[0].len) == 0;
	} while (same);
	for (int i = 0; i < 2; i++) {
		if (differ_take(&d->sides[i], kinds[i], &at[i], &d->sides[i].first) < 0)
			return -1;
	}
	return 0;
}

/* Takes the rest of a text. Returns 1; 0 if it has more than `most` lines; -1 with errno. */
static int differ_collect(struct differ_side *s, uint32_t most)
{
	int got = differ_rewind(s) < 0 ? -1 : 1;
	while (got > 0) {
		struct differ_line *line = array_add(&s->lines, &s->count, &s->room, sizeof(*line));
		got = line ? differ_next(s, line) : -1;
		if (got > 0 && s->count > most)
			return 0;
	}
	s->count -= got == 0;
	return got < 0 ? -1 : 1;
}

/* Lines x to y - 1 of what was collected. */
static struct differ_lines lines_of(const struct differ_side *s, size_t x, size_t y)
{
	return (struct differ_lines){.from = s->lines[x].number,
				     .count = s->lines[y].number - s->lines[x].number,
				     .offset = s->lines[x].offset,
				     .end = s->lines[y].offset};
}

/* Reports what is not the same on both sides, in its order. Returns what `change` returned. */
static int differ_tell(const struct differing *d)
{
	const struct differ_side *a = &d->sides[0], *b = &d->sides[1];
	int answer = 0;
	for (size_t x = 0, y = 0; answer == 0 && (x < a->count || y < b->count);) {
		size_t i = x, k = y;
		while (i < a->count && a->alone[i])
			i++;
		while (k < b->count && b->alone[k])
			k++;
		const struct differ_change c = {{lines_of(a, x, i), lines_of(b, y, k)}};
		if (i > x || k > y) {
			d->d->facts->same = false;
			answer = d->d->change(d->d->ctx, &c);
		}
		if (i < a->count && a->lines[i].bytes != b->lines[k].bytes) {
			d->d->facts->same = false;
			d->d->facts->masked++;
		}
		x = i + (i < a->count);
		y = k + (k < b->count);
	}
	return answer;
}

/* Aligns lines x..i-1 of the first text and y..k-1 of the second by all their bytes, or by their
   fingerprints. */
static int differ_align_part(struct differing *d, bool bytes, const size_t from[2],
			     const size_t to[2])
{
	struct align_side sides[2];
	for (int i = 0; i < 2; i++) {
		struct differ_side *s = &d->sides[i];
		for (size_t k = from[i]; k < to[i]; k++) {
			s->hashes[k] = bytes ? s->lines[k].bytes : s->lines[k].print;
			s->alone[k] = false;
		}
		sides[i] = (struct align_side){s->hashes + from[i], (uint32_t)(to[i] - from[i]),
					       s->alone + from[i]};
	}
	return align_mark(&sides[0], &sides[1]);
}

/* Lines that are the same in every byte belong together; between them those whose fingerprints
   are. */
static int differ_align(struct differing *d)
{
	size_t at[2] = {0, 0}, end[2];
	for (int i = 0; i < 2; i++) {
		struct differ_side *s = &d->sides[i];
		s->hashes = malloc((s->count + 1) * sizeof(*s->hashes));
		s->alone = malloc((s->count + 1) * sizeof(*s->alone));
		if (!s->hashes || !s->alone)
			return -1;
		end[i] = s->count;
	}
	if (differ_align_part(d, true, at, end) < 0)
		return -1;
	while (!d->d->exact && (at[0] < end[0] || at[1] < end[1])) {
		size_t to[2];
		for (int i = 0; i < 2; i++) {
			for (to[i] = at[i]; to[i] < end[i] && d->sides[i].alone[to[i]];)
				to[i]++;
		}
		if (to[0] > at[0] && to[1] > at[1] && differ_align_part(d, false, at, to) < 0)
			return -1;
		for (int i = 0; i < 2; i++)
			at[i] = to[i] + (to[i] < end[i]);
	}
	return differ_tell(d);
}

/* --- texts that are too long --------------------------------------------------- */

/* A set of fingerprints, as many as fit; `from`: those of lines in front of it were in others. */
struct prints {
	uint64_t *slots;
	size_t mask, count;
};

static bool prints_have(const struct prints *p, uint64_t print, size_t *slot)
{
	size_t at = print & p->mask;
	while (p->slots[at] && p->slots[at] != print)
		at = (at + 1) & p->mask;
	*slot = at;
	return p->slots[at] != 0;
}

/* Notes which lines of a text the other one has, in one bit each. Of that a part at a time is in
   memory. */
static int differ_look_up(struct differing *d, int which, struct prints *set, struct buffer *found)
{
	struct differ_side *side = &d->sides[which], *other = &d->sides[!which];
	struct differ_line line;
	int more = 1, got;
	if (differ_rewind(other) < 0)
		return -1;
	do {
		size_t slot, i = 0;
		memset(set->slots, 0, (set->mask + 1) * sizeof(*set->slots));
		for (set->count = 0; set->count <= set->mask / 2;) {
			more = differ_next(other, &line);
			if (more <= 0)
				break;
			set->count += !prints_have(set, line.print, &slot);
			set->slots[slot] = line.print;
		}
		if (differ_rewind(side) < 0)
			return -1;
		while (more >= 0 && (got = differ_next(side, &line)) != 0) {
			if (got < 0)
				return -1;
			if (i / 8 == found->len && buffer_try_append(found, "", 1) < 0)
				return -1;
			if (prints_have(set, line.print, &slot))
				found->data[i / 8] = (char)(found->data[i / 8] | 1 << i % 8);
			i++;
		}
	} while (more > 0);
	return more;
}

/* Reports runs of lines that the other text has nowhere. */
static int differ_tell_alone(struct differing *d, int which, const struct buffer *found)
{
	struct differ_side *side = &d->sides[which];
	const struct differ_line first = side->first;
	struct differ_change c = {{{.count = 0}}};
	struct differ_lines *run = &c.lines[which];
	struct differ_line line;
	int got = 1, answer = 0;
	if (differ_rewind(side) < 0)
		return -1;
	for (size_t i = 0; got > 0 && answer == 0; i++) {
		got = differ_next(side, &line);
		bool alone = got > 0 && !(found->data[i / 8] >> i % 8 & 1);
		if (alone && run->from == 0)
			*run = (struct differ_lines){.from = line.number, .offset = line.offset};
		if (alone || got < 0 || run->from == 0)
			continue;
		run->count = line.number - run->from;
		run->end = line.offset;
		answer = d->d->change(d->d->ctx, &c);
		run->from = 0;
		/* The report has moved in the text. */
		side->first = line;
		if (got > 0 && (differ_rewind(side) < 0 || differ_next(side, &line) < 0))
			got = -1;
		side->first = first;
	}
	return got < 0 ? -1 : answer;
}

static int differ_sets(struct differing *d, uint32_t most)
{
	struct prints set = {.mask = 1};
	int result = -1;
	while (set.mask < (size_t)most * 4)
		set.mask = set.mask * 2 + 1;
	free(d->sides[0].lines);
	d->sides[0].lines = NULL;
	set.slots = malloc((set.mask + 1) * sizeof(*set.slots));
	for (int i = 0; set.slots && i < 2; i++) {
		struct buffer found = BUFFER_INIT;
		result = differ_look_up(d, i, &set, &found);
		if (result == 0)
			result = differ_tell_alone(d, i, &found);
		buffer_release(&found);
		if (result)
			break;
	}
	free(set.slots);
	return result;
}

int differ_run(const struct differ *differ)
{
	struct differing d = {.d = differ};
	uint32_t most = differ->most ? differ->most : DIFFER_LINES;
	int result = -1;
	*differ->facts = (struct differ_facts){.same = true};
	for (int i = 0; i < 2; i++) {
		const struct text *t = differ->texts[i];
		differ->facts->same &= t->gap.begin == t->gap.end && t->lost_bytes == 0;
		d.sides[i].text = differ->texts[i];
		d.sides[i].exact = differ->exact;
		d.sides[i].first.number = 1;
		if (differ_rewind(&d.sides[i]) < 0)
			goto out;
	}
	if (differ_pass_equal(&d) < 0)
		goto out;
	result = differ_collect(&d.sides[0], most);
	if (result == 1)
		result = differ_collect(&d.sides[1], most);
	if (result == 1) {
		result = differ_align(&d);
	} else if (result == 0) {
		*differ->facts = (struct differ_facts){.apart = true};
		result = differ_sets(&d, most);
	}
out:;
	int saved = errno;
	for (int i = 0; i < 2; i++) {
		walk_free(d.sides[i].walk);
		free(d.sides[i].lines);
		free(d.sides[i].hashes);
		free(d.sides[i].alone);
	}
	errno = saved;
	return result;
}
