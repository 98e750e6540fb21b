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
	/* Only the lower of the two counts grows. A higher one has counted another shape as
	   well. */
	for (int row = 0; row < 2; row++) {
		uint16_t *count = &s->rows[row][slot(shape, row)];
		if (*count == least)
			(*count)++;
	}
	return least + 1;
}

/* Drops half of the lines: those with the lowest values; among equal values, the later ones. */
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
	/* All lines in these first bytes of a text are judged. */
	JUDGE_ALL = 2 * 1024 * 1024,
	LINES_BEFORE = 3,
	LINES_BEHIND = 12,
	/* Hits of a fragment are counted separately for each combination of the AROUND bytes on
	   both sides of it. After FAMILIAR hits with the same bytes, further ones are ignored. That
	   limit falls with every FAMILIAR_WORD hits of the fragment, whatever is around them, so
	   that a text full of different errors costs no more than others. */
	AROUND = 12,
	FAMILIAR = 1024,
	FAMILIAR_WORD = 64,
};

struct smart *smart_new(struct window *window, const struct limit *limit)
{
	/* calloc() does not touch the pages, so unused ones cost nothing. */
	struct smart *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->threads = 1;
	s->window = window;
	judge_init(&s->judge, limit);
	return s;
}

/* Stores a judged line after the others. */
static void smart_store(struct smart *s, const struct line *line, const struct score *score)
{
	struct store *store = &s->store;
	/* Joins the line that was stored last with earlier ones that are alike. The texts of the
	   first and the last of them are kept. */
	size_t gone = run_join(store->lines, store->count, sizeof(*store->lines), RUN_ALIKE);
	if (gone > 0) {
		store->count -= gone;
		struct run *r = &store->lines[store->count - 1].run;
		char *end = store->text + (r->line.front - store->text) + r->line.front_len +
			    r->line.back_len;
		size_t len = r->kind ? size_min(r->last.front_len, ALIKE_LAST + FRAGMENT_LEN) : 0;
		if (len)
			memmove(end, r->last.front, len);
		r->last.front = end;
		r->last.front_len = len;
		r->last.back_len = r->last.after = 0;
		store->used = (size_t)(end + len - store->text);
	}
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
		d->run.line.front_len = size_min(line->front_len, STORE_FRONT);
		d->run.line.back += skip;
		d->run.line.back_len -= skip;
	} else if (line->front_len > STORE_FRONT + STORE_BACK) {
		size_t body = line->front_len - line->ended;
		size_t end = score->focus ? size_min(score->focus + STORE_FRONT, body) : body;
		/* Keeps more of the focus than of the start. */
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

/* Whether a line of the window repeats the line above it. */
static bool is_repeat(const struct smart *s, const struct line *line)
{
	const struct window *w = s->window;
	size_t at = (size_t)(line->offset - window_offset(w)), len = (size_t)line->length;
	/* The line above has to begin at the start of the text, or after a newline. */
	if (len > LOOK_BACK || len > at || (len == at && line->offset > len))
		return false;
	return (len == at || line->front[-1 - (ptrdiff_t)len] == '\n') &&
	       memcmp(line->front, line->front - len, len) == 0;
}

bool smart_is_common(const struct smart *s, const struct score *score)
{
	return !score->tells && sketch_count(&s->sketch, score->family) >= COMMON;
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

/* Makes a line with this number, whose first byte is at `at`. */
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

/* Stores the lines above a relevant one. */
static void keep_before(struct smart *s, const struct line *line)
{
	const char *first = line->front, *start = s->window->tail;
	uint64_t number = line->number;
	for (; first > start && number > s->stored + 1 && line->number - number < LINES_BEFORE;
	     number--) {
		const char *newline = memrchr(start, '\n', (size_t)(first - start) - 1);
		const char *above = newline ? newline + 1 : start;
		/* The window may or may not have earlier bytes, depending on how the text was
		   fed. */
		if (line->front - above > LOOK_BACK)
			break;
		first = above;
	}
	for (struct line other; first < line->front; first += other.length) {
		window_line(s->window, first, number++, &other);
		smart_keep_line(s, &other);
	}
}

/* Returns the counter for hits with the same bytes around them in their line; numbers count as
   equal. */
static uint16_t *count_of(const struct window *w, uint16_t *counts, const char *hit, size_t around)
{
	const char *at = (size_t)(hit - w->tail) > around ? hit - around : w->tail;
	const char *to = hit + FRAGMENT_LEN + around;
	uint32_t hash = SHAPE_SEED;
	bool digits = false;
	/* The loop can't leave the window: the line with the hit is complete. */
	for (; at < to && (at < hit || *at != '\n'); at++) {
		if (is_digit(*at) && digits)
			continue;
		digits = is_digit(*at);
		hash = shape_mix(hash, (unsigned char)(digits && *at != '0' ? '1' : *at));
	}
	return &counts[hash >> (32 - FOUND_BITS)];
}

/* Whether so many similar fragments were found that another adds nothing. If not, counts this
   one. */
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

/* Skips lines that repeat the one before. Returns where they end. */
static const char *skip_repeats(struct smart *s, const char *at, const char *end)
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

/* Skips lines up to the next that may be relevant, and judges that one. Returns where it ends. */
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
	/* Such a long line is not stored. */
	if (line.length > LONG_LINE)
		return at;
	struct score score;
	score_judge(&s->judge, &line, &score);
	unsigned count = sketch_add(&s->sketch, score.shape);
	sketch_add(&s->sketch, score.family);
	if (score.score < SCORE_RELEVANT)
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
			passed = skip_repeats(s, at, end);
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

/* The value of each stored line: how relevant it is by itself; less if many lines, or a successful
   run, say the same; more beside relevant lines. */

/* These numbers come from measurements on labelled logs. None is critical. */
enum {
	SEEN_BITS = 12, /* size of the table of families */
	QUIET = 30,     /* this many lines without a relevant one make the next relevant line more
			   important */
	LIFTED = 256,   /* the most lines that one line lifts: many messages may form one block */
	SLOT_BITS = 13, /* size of the table of fingerprints, which is larger than the store */
};

/* Lines near the end count more: the last line counts 2 times, and a line that ends this many bytes
   before the end counts 1.5 times. */
static const float END_REACH = 16000.0f;
/* The weight of a line is divided by 1 plus this for each doubling of the number of lines of its
   family above it, and again for each doubling of the number of all lines of its family. */
static const float AGAIN = 0.32f;
/* Lines that a successful run has printed too keep this share of their weight. */
static const float OF_NORMAL = 0.15f;
/* A relevant line raises the lines below, and above, to this share of its weight. At each further
   line the share is multiplied by NEXT, or by OWN if that line belongs to the relevant one.
   Expected values and quoted source do not reduce it. */
static const float TO_BEHIND = 0.85f, TO_BEFORE = 0.4f, NEXT = 0.7f, OWN = 0.8f;
static const float AFTER_QUIET = 1.3f; /* factor for the first relevant line after QUIET others */

/* Whether a frame of a stack is in code that the user has not written. */
static bool is_foreign(const struct line *frame)
{
	static const char *const places[] = {"node_modules", "-packages/", "/lib/", "/usr/",
					     "/gems/",       "/rustc/",    "node:", "internal/",
					     "java.",        "jdk.",       "sun.",  "scala.",
					     "org.junit",    "org.gradle"};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (memmem(frame->front, frame->front_len, places[i], strlen(places[i])))
			return true;
	}
	return false;
}

/* Whether a line is a part of the message above it. */
static bool is_part(const struct score *score, const struct score *message)
{
	return score->kind == SCORE_DETAIL || score->kind == SCORE_QUOTE ||
	       score->kind == SCORE_FRAME ||
	       (score->score < SCORE_RELEVANT && score->indent > message->indent);
}

/* Raises the values of the lines below a line, or above it, to a share of its weight. The cause of
   an exit status is above it, so lines above get the larger share too. */
static void lift_neighbours(struct store *store, size_t i, bool below, float weight)
{
	struct stored *line = &store->lines[i];
	const struct score *message = &line->trait.score;
	float share = weight * (below || message->ends ? TO_BEHIND : TO_BEFORE);
	size_t most = size_min(below ? store->count - 1 - i : i, LIFTED);
	for (size_t k = 1; share >= 1 && k <= most; k++) {
		struct stored *other = below ? line + k : line - k;
		struct trait *t = &other->trait;
		enum score_kind kind = (enum score_kind)t->score.kind;
		const struct run *r = &other->run;
		if (r->kind || (below ? r->line.number != other[-1].run.to + 1
				      : r->to + 1 != other[1].run.line.number))
			break;
		if (kind == SCORE_BLANK || t->foreign ||
		    (!below && (kind == SCORE_PASS || kind == SCORE_RULE)))
			continue;
		bool owns = below ? t->score.indent > message->indent : !message->ends;
		if (kind != SCORE_DETAIL && kind != SCORE_QUOTE)
			share *= owns ? OWN : NEXT;
		unsigned value = (unsigned)(share * STORE_UNIT);
		value = (unsigned)size_min(value, STORE_VALUES - 1);
		if (value <= t->value)
			continue;
		t->value = value;
		t->owner = t->frame && t->frame != other->run.line.number ? t->frame
			   : below && is_part(&t->score, message)         ? line->run.line.number
									  : 0;
	}
}

/* If warnings have failed the run ("Failing due to -Werror"), warnings above that line count as
   much as errors. */
static void raise_warnings(struct store *store)
{
	bool raised = false;
	for (size_t i = store->count; i-- > 0;) {
		const struct line *line = &store->lines[i].run.line;
		struct score *score = &store->lines[i].trait.score;
		raised |= score->score >= SCORE_RELEVANT &&
			  (memmem(line->front, line->front_len, "due to -Werror", 14) ||
			   memmem(line->front, line->front_len, "treated as errors", 17));
		if (raised && score->kind == SCORE_WARNING && score->score < SCORE_FAILURES)
			score->score = SCORE_FAILURES;
	}
}

/* Returns how much a line by itself says about the failure or the success of the run. Its family
   has `family` lines, of which `above` come before it. */
static float own_weight(const struct score *score, unsigned above, unsigned family,
			enum outcome outcome)
{
	float success = score->result / (1.0f + (float)family / 8), again = 1.0f;
	for (unsigned n = above; n > 0; n /= 2)
		again += AGAIN;
	for (unsigned n = above ? family : 0; n > 1; n /= 2)
		again += AGAIN;
	float failure = score->score / again;
	if (outcome == OUTCOME_SUCCESS)
		failure = 0;
	if (outcome == OUTCOME_FAILURE || success < 0.75f * RESULT_MADE)
		success = 0;
	return failure > success ? failure : success;
}

/* Binds the frames of libraries in a stack to the most relevant frame of the user's own code: they
   are not chosen without it, so its value becomes at least theirs. */
static void bind_frames(struct store *store)
{
	for (size_t from = 0, to; from < store->count; from = to + 1) {
		struct trait *own = NULL, *t;
		for (to = from; to < store->count && (t = &store->lines[to].trait)->frame; to++) {
			if (t->score.kind == SCORE_FRAME && !t->foreign &&
			    (!own || t->value > own->value))
				own = t;
		}
		for (size_t i = from; own && i < to; i++) {
			t = &store->lines[i].trait;
			if (!t->foreign || t->score.kind != SCORE_FRAME)
				continue;
			t->owner = own->frame;
			own->value = (unsigned)size_max(own->value, t->value);
		}
	}
}

void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome)
{
	struct store *store = &s->store;
	uint64_t told = 0; /* the last line about a failure */
	uint8_t above[1 << SEEN_BITS] = {0};
	const struct stored *frame = NULL;
	if (outcome == OUTCOME_FAILURE)
		raise_warnings(store);
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		struct trait *t = &line->trait;
		/* In a list of names and values, words of failure in a name mean nothing. */
		if (t->score.names && i > 0 && i + 1 < store->count && line[-1].trait.score.field &&
		    line[1].trait.score.field)
			t->score.score = 0;
		*t = (struct trait){.score = t->score,
				    .threads = t->threads,
				    .common = smart_is_common(s, &t->score)};
		/* Source lines below a frame belong to it. */
		if (t->score.kind == SCORE_FRAME)
			frame = line;
		else if (frame && t->score.indent <= frame->trait.score.indent)
			frame = NULL;
		t->frame = frame ? frame->run.line.number : 0;
		t->foreign =
			frame == line ? is_foreign(&line->run.line) : frame && frame->trait.foreign;
	}
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		struct trait *t = &line->trait;
		const bool relevant = t->score.score >= SCORE_RELEVANT;
		if (t->score.score == 0 && t->score.result == 0)
			continue;
		/* Lines that a successful run has printed too are counted separately. */
		uint32_t family = t->score.family ^ (line->normal ? 0x5BD1E995u : 0);
		uint8_t *count = &above[(family * 2654435769u) >> (32 - SEEN_BITS)];
		float weight = own_weight(&t->score, *count,
					  sketch_count(&s->sketch, t->score.family), outcome);
		const struct run *r = &line->run;
		float from_end = (float)(bytes - r->line.offset - r->length);
		weight *= 1.0f + 1.0f / (1.0f + from_end / END_REACH);
		*count = (uint8_t)size_min(*count + r->to - r->line.number + 1, UINT8_MAX);
		weight *= line->normal ? OF_NORMAL : 1.0f;
		if (relevant) {
			weight *= r->line.number > told + QUIET ? AFTER_QUIET : 1.0f;
			told = r->to;
		}
		/* Value that comes from neighbours counts half. */
		if (weight * STORE_UNIT > (float)t->value / 2)
			t->owner = 0;
		t->value = (unsigned)size_min(t->value / 2 + (size_t)(weight * STORE_UNIT),
					      STORE_VALUES - 1);
		for (int below = 1;
		     below >= 0 && relevant && !t->foreign && outcome != OUTCOME_SUCCESS; below--)
			lift_neighbours(store, i, below, weight);
	}
	bind_frames(store);
}

/* A slot of a table: a fingerprint, and whether the successful run has printed a line with it. */
struct normal {
	uint64_t print; /* 0: the slot is free */
	bool said;
};

/* The fingerprint of a stored line; if it is not whole, of its stored part. */
static uint64_t stored_print(const struct line *l)
{
	bool newline = line_is_whole(l) && l->ended;
	return fingerprint_masked(l->front, l->front_len + l->back_len - newline);
}

/* Returns the slot of a fingerprint, or a free one. */
static struct normal *normal_slot(struct normal *slots, uint64_t print)
{
	size_t i = (print * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS);
	while (slots[i].print && slots[i].print != print)
		i = (i + 1) % (1 << SLOT_BITS);
	return &slots[i];
}

int smart_compare(struct smart *s, const struct fingerprints *success)
{
	struct normal *slots = calloc(1 << SLOT_BITS, sizeof(*slots));
	struct stored *lines = s->store.lines, *end = lines + s->store.count;
	uint64_t print;
	if (!slots)
		return -1;
	for (struct stored *l = lines; l < end; l++) {
		print = stored_print(&l->run.line);
		normal_slot(slots, print)->print = print;
	}
	while (success->next(success->ctx, &print) == 1)
		normal_slot(slots, print)->said = true;
	for (struct stored *l = lines; l < end; l++)
		l->normal = normal_slot(slots, stored_print(&l->run.line))->said;
	free(slots);
	return 0;
}
