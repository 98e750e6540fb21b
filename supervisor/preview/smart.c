#include "supervisor/preview/internal.h"

#include "lib/fingerprint.h"
#include <stdlib.h>
#include <string.h>

/* Drops about half of it: the lines of least value and, among equals, the later. */
static void store_halve(struct store *s)
{
	uint32_t lines[STORE_VALUES] = {0}, bytes[STORE_VALUES] = {0};
	size_t room_lines = STORE_LINES / 2, room_bytes = STORE_BYTES / 2, kept = 0, used = 0;
	/* The highest value at which the lines above it, and not all of those at it, fit into half
	   of the store. */
	unsigned least = STORE_VALUES - 1;
	for (size_t i = 0; i < s->count; i++) {
		const struct stored *line = &s->lines[i];
		lines[line->value]++;
		bytes[line->value] += (uint32_t)(line->line.front_len + line->line.back_len);
	}
	while (lines[least] <= room_lines && bytes[least] <= room_bytes) {
		room_lines -= lines[least];
		room_bytes -= bytes[least];
		if (least == 0)
			break;
		least--;
	}
	/* So many of those at it fit, too. */
	size_t ties = room_bytes / (STORE_FRONT + STORE_BACK);
	if (ties > room_lines)
		ties = room_lines;
	for (size_t i = 0; i < s->count; i++) {
		struct stored line = s->lines[i];
		size_t front_len = line.line.front_len, len = front_len + line.line.back_len;
		if (line.value < least || (line.value == least && ties == 0))
			continue;
		ties -= line.value == least;
		line.line.front = memmove(s->text + used, line.line.front, len);
		line.line.back = line.line.front + front_len;
		used += len;
		s->lines[kept++] = line;
	}
	s->count = kept;
	s->used = used;
}

enum {
	/* Lines longer than this are known by their start and end only. */
	LONG_LINE = 32 * 1024,
	/* The first bytes of a text, which are judged line by line. */
	JUDGE_ALL = 2 * 1024 * 1024,
	LOOK_BACK = 4096, /* bytes kept in front of what is judged next */
	LINES_BEFORE = 3,
	LINES_BEHIND = 12,
	RARE = 8,   /* of lines of a shape that occurs more often, only the line itself */
	USUAL = 64, /* and of those that occur more often, none */
	COMMON = 5, /* lines of one form; in a regular text, so many percent are of such forms */
	REGULAR_SHARE = 60,
	/* Bytes around a find by which the commonest are known, and how often those are
	   looked at. */
	AROUND = 12,
	FAMILIAR = 1024,
	/* The same for the word alone, so that a text full of different errors costs no more
	   than others: from so many on, only those in surroundings that are rather new are looked
	   at, and in the end none. */
	AROUND_WORD = 1,
	FAMILIAR_WORD = 1024,
	RATHER_NEW = 4,
	TIRED_WORD = 16384,
};

struct smart *smart_new(const struct strings *telling, const struct strings *ignored)
{
	/* Only what is used of it is touched. */
	struct smart *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	keywords_init(&s->keywords);
	prefilter_init(&s->prefilter);
	phrases_init(telling, &s->prefilter);
	s->telling = telling;
	s->ignored = ignored;
	return s;
}

/* Adds a judged line behind the others. */
static void smart_store(struct smart *s, const struct line *line, const struct score *score)
{
	struct store *store = &s->store;
	if (store->count == STORE_LINES || STORE_BYTES - store->used < STORE_FRONT + STORE_BACK) {
		smart_weigh(s, line->offset, OUTCOME_UNKNOWN);
		store_halve(store);
	}
	struct stored *d = &store->lines[store->count++];
	*d = (struct stored){.line = *line, .score = *score};
	if (!line_is_whole(line)) {
		size_t skip = line->back_len > STORE_BACK ? line->back_len - STORE_BACK : 0;
		if (line->front_len > STORE_FRONT)
			d->line.front_len = STORE_FRONT;
		d->line.back += skip;
		d->line.back_len -= skip;
	} else if (line->front_len > STORE_FRONT + STORE_BACK) {
		size_t body = line->front_len - line->ended;
		size_t end = score->focus ? score->focus + STORE_FRONT : body;
		/* Around the focus more is kept than of the start. */
		if (end > body)
			end = body;
		d->line.front_len = score->focus ? STORE_BACK : STORE_FRONT;
		d->line.back_len = STORE_FRONT + STORE_BACK - d->line.front_len;
		d->line.back = line->front + end - d->line.back_len;
		d->line.after = body - end;
	}
	d->line.front = memcpy(store->text + store->used, d->line.front, d->line.front_len);
	store->used += d->line.front_len;
	if (d->line.back_len)
		d->line.back = memcpy(store->text + store->used, d->line.back, d->line.back_len);
	store->used += d->line.back_len;
	s->stored = line->number;
}

void smart_judge(const struct smart *s, const struct line *line, struct score *score)
{
	score_judge(&s->keywords, line, score);
	if (line->length > STORE_FRONT + STORE_BACK && line->length <= LONG_LINE)
		score_look_inside(&s->keywords, &s->prefilter, line, score);
	phrases_apply(s->telling, s->ignored, line, score);
}

/* Whether a line in the block is the one above it once more. */
static bool is_repeat(const struct smart *s, const struct line *line)
{
	size_t at = (size_t)(line->offset - s->offset), len = (size_t)line->length;
	/* In front of it is the start of the text, or the newline that ends the line before. */
	if (len > at || len > LOOK_BACK || (len == at && s->offset > 0))
		return false;
	return (len == at || s->block[at - len - 1] == '\n') &&
	       memcmp(line->front, line->front - len, len) == 0;
}

static void note_streaks(struct smart *s, const struct line *line, uint32_t shape)
{
	streaks_add(&s->same, line, 1, is_repeat(s, line));
	if (s->counts) {
		const struct line *last = &s->alike.now.last;
		bool goes_on = last->number + 1 == line->number && shape == s->shape &&
			       shape_counts_on(last, line);
		streaks_add(&s->counting, line, 1, goes_on);
	}
	streaks_add(&s->alike, line, 1, shape == s->shape);
	s->shape = shape;
}

struct trait smart_trait(const struct smart *s, const struct score *score)
{
	return (struct trait){
		.score = *score,
		.common = !score->tells && sketch_count(&s->sketch, score->family) >= COMMON,
	};
}

bool smart_is_regular(const struct smart *s)
{
	return s->regular * 100 >= s->judged * REGULAR_SHARE;
}

static void smart_keep_line(struct smart *s, const struct line *line)
{
	struct score score;
	smart_judge(s, line, &score);
	note_streaks(s, line, score.shape);
	if (score.kind != SCORE_BLANK) {
		s->judged++;
		if (sketch_add(&s->sketch, score.family) >= COMMON && !score.tells)
			s->regular++;
	}
	smart_store(s, line, &score);
}

/* The line at `start` in the block, which ends with a newline before `end`. */
static void block_line(const struct smart *s, size_t start, uint64_t number, struct line *line)
{
	const char *front = s->block + start;
	const char *newline = memchr(front, '\n', s->len - start);
	*line = (struct line){.number = number,
			      .offset = s->offset + start,
			      .length = (size_t)(newline - front) + 1,
			      .ended = true,
			      .front = front};
	line->front_len = (size_t)line->length;
}

/* Stores the lines above a telling one. */
static void keep_before(struct smart *s, const struct line *line)
{
	size_t starts[LINES_BEFORE], count = 0;
	size_t here = (size_t)(line->offset - s->offset), at = here;
	struct line other;
	while (count < LINES_BEFORE && at > 0 && line->number - count > s->stored + 1) {
		const char *newline = memrchr(s->block, '\n', at - 1);
		at = newline ? (size_t)(newline - s->block) + 1 : 0;
		/* Earlier content of the block depends on how the text was fed. */
		if (here - at > LOOK_BACK)
			break;
		starts[count++] = at;
	}
	while (count-- > 0) {
		block_line(s, starts[count], line->number - count - 1, &other);
		smart_keep_line(s, &other);
	}
}

/* Where finds are counted that have the same bytes around in their line, numbers apart. */
static uint16_t *count_of(const struct smart *s, uint16_t *counts, size_t hit, size_t around)
{
	size_t at = hit > around ? hit - around : 0, to = hit + FRAGMENT_LEN + around;
	uint32_t hash = SHAPE_SEED;
	bool digits = false;
	/* The line with the find is in the block up to its end. */
	for (; at < to && (at < hit || s->block[at] != '\n'); at++) {
		char c = s->block[at];
		if (is_digit(c) && digits)
			continue;
		digits = is_digit(c);
		hash = (hash ^ (unsigned char)(digits && c != '0' ? '1' : c)) * 16777619u;
	}
	return &counts[hash >> (32 - FOUND_BITS)];
}

/* Whether so many finds looked like this one that no further one can tell anything. */
static bool is_familiar(struct smart *s, size_t hit)
{
	uint16_t *word = count_of(s, s->found_words, hit, AROUND_WORD);
	if (*word == TIRED_WORD)
		return true;
	uint16_t *here = count_of(s, s->found, hit, AROUND);
	(*word)++;
	if (*here >= (*word > FAMILIAR_WORD ? RATHER_NEW : FAMILIAR))
		return true;
	(*here)++;
	return false;
}

/* Passes over further lines of a streak of the same line. Returns whether there are some. */
static bool pass_repeats(struct smart *s, size_t end)
{
	uint64_t count = 0;
	struct line line, last;
	if (s->same.now.last.number != s->number || s->same.now.from == s->number)
		return false;
	block_line(s, s->done, s->number + 1, &line);
	while (s->done < end && is_repeat(s, &line)) {
		last = line;
		count++;
		s->done += (size_t)line.length;
		line.number++;
		line.offset += line.length;
		line.front += line.length;
		if (s->len - s->done < line.length)
			break;
	}
	if (count == 0)
		return false;
	s->number += count;
	streaks_add(&s->same, &last, count, true);
	streaks_add(&s->alike, &last, count, true);
	if (s->counts)
		streaks_add(&s->counting, &last, count, true);
	return true;
}

/* Passes over lines up to `end` of the block, judging those that may tell something. */
static void search_block(struct smart *s, size_t end)
{
	struct line line;
	size_t lines = 0, hit = s->done;
	for (;; hit += FRAGMENT_LEN) {
		hit += literals_find(&s->prefilter, s->block + hit, end - hit, &lines);
		if (hit >= end) {
			s->number += lines;
			s->done = end;
			return;
		}
		if (!is_familiar(s, hit))
			break;
	}
	s->number += lines;
	const char *newline = memrchr(s->block + s->done, '\n', hit - s->done);
	if (newline)
		s->done = (size_t)(newline - s->block) + 1;
	block_line(s, s->done, ++s->number, &line);
	s->done += (size_t)line.length;
	/* Long lines are judged by their ends alone, wherever the block ends. */
	if (line.length > LONG_LINE)
		return;
	struct score score = {.shape = score_shape(&line)};
	note_streaks(s, &line, score.shape);
	unsigned count = sketch_add(&s->sketch, score.shape);
	if (count > USUAL)
		return;
	smart_judge(s, &line, &score);
	sketch_add(&s->sketch, score.family);
	if (score.score < SCORE_TELLING)
		return;
	if (count <= RARE) {
		keep_before(s, &line);
		s->follow = LINES_BEHIND;
	}
	smart_store(s, &line, &score);
}

/* Passes over the complete lines in the block. */
static void scan_block(struct smart *s)
{
	const char *newline = memrchr(s->block + s->done, '\n', s->len - s->done);
	size_t end = newline ? (size_t)(newline - s->block) + 1 : s->done;
	while (s->done < end) {
		struct line line;
		if (s->offset + s->done >= JUDGE_ALL && s->follow == 0) {
			if (!pass_repeats(s, end))
				search_block(s, end);
			continue;
		}
		block_line(s, s->done, ++s->number, &line);
		s->follow -= s->follow > 0;
		s->done += (size_t)line.length;
		smart_keep_line(s, &line);
	}
}

/* Takes what belongs to the long line; returns how many bytes that is. */
static size_t feed_long(struct smart *s, const char *data, size_t len)
{
	const char *newline = memchr(data, '\n', len);
	size_t n = newline ? (size_t)(newline - data) : len;
	char *back = s->long_text + STORE_FRONT;
	size_t last = n < STORE_BACK ? n : STORE_BACK;
	struct line line;
	memmove(back, back + last, STORE_BACK - last);
	memcpy(back + STORE_BACK - last, data + n - last, last);
	s->long_length += n;
	s->offset += n;
	if (!newline)
		return n;
	line = (struct line){.offset = s->long_start,
			     .length = s->long_length + 1,
			     .ended = true,
			     .front = s->long_text,
			     .front_len = STORE_FRONT,
			     .back = back,
			     .back_len = STORE_BACK};
	s->offset++;
	s->in_long = false;
	line.number = ++s->number;
	if (s->long_start < JUDGE_ALL || s->follow) {
		s->follow -= s->follow > 0;
		smart_keep_line(s, &line);
	}
	return n + 1;
}

uint64_t smart_feed(struct smart *s, const char *data, size_t len)
{
	while (len > 0) {
		size_t n = s->in_long ? feed_long(s, data, len) : 0;
		data += n;
		len -= n;
		n = BLOCK - s->len < len ? BLOCK - s->len : len;
		if (s->in_long || n == 0)
			continue;
		memcpy(s->block + s->len, data, n);
		s->len += n;
		data += n;
		len -= n;
		if (s->len < BLOCK)
			continue;
		scan_block(s);
		size_t left = s->len - s->done;
		if (left <= LONG_LINE) {
			size_t from = s->done > LOOK_BACK + 1 ? s->done - LOOK_BACK - 1 : 0;
			memmove(s->block, s->block + from, s->len - from);
			s->offset += from;
			s->len -= from;
			s->done -= from;
			continue;
		}
		/* A long line is known by its ends. */
		s->in_long = true;
		s->long_start = s->offset + s->done;
		s->long_length = left;
		memcpy(s->long_text, s->block + s->done, STORE_FRONT);
		memcpy(s->long_text + STORE_FRONT, s->block + s->len - STORE_BACK, STORE_BACK);
		s->offset += s->len;
		s->len = s->done = 0;
	}
	scan_block(s);
	return s->number;
}

void smart_skip(struct smart *s, uint64_t bytes, uint64_t newlines)
{
	s->offset += s->len + bytes;
	s->number += newlines;
	s->len = s->done = 0;
	s->follow = 0;
}
