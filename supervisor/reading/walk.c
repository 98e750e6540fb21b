// See walk.h.
//
//   data  |  kept lines  |  passed  |  lines to come  |  start of a line  |  free  |
//         start                     at                end                 len      cap

#include "supervisor/reading/walk.h"

#include "lib/bytes.h"
#include "lib/io.h"
#include "lib/utf8.h"

#include <stdlib.h>
#include <string.h>

/* The smallest size of `data`. */
#define WALK_LEAST ((size_t)4096)

/* The most bytes of lines that are kept for walk_before() when the next block is read. */
#define KEPT_MAX ((size_t)128 * 1024)

struct walk {
	struct text *text;
	struct matcher *matcher;
	struct walk_options options;

	char *data;
	size_t cap, most, start, at, end, len;
	uint64_t base; /* offset of `data` in the file */
	uint64_t line; /* number of the line at `at` */
	size_t last;   /* offset in `data` of the line that was returned last */

	size_t hit; /* offset of the next matching line at or after `at`; `end`: none */
	bool hit_known;

	struct text_piece gap; /* the gap after `len`; struct walk_line points to it */
	bool at_gap, at_end;   /* a gap, or the end of the text, is directly after `len` */
	bool is_long;          /* the line at `at` fills `data`, and continues */
	bool in_long;          /* a part of the line at `at` was returned; its rest is skipped */
	bool in_parts;         /* a part of the line at `at` was returned; its rest is returned
				  next */
};

struct walk *walk_new(struct text *text, struct matcher *m, const struct walk_options *options)
{
	uint64_t lines;
	int found = 0;
	struct walk *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	*w = (struct walk){
		.text = text,
		.matcher = m,
		.options = *options,
		.most = options->most ? options->most : WALK_LINE_MAX,
		.cap = WALK_BLOCK + (options->context ? KEPT_MAX : 0),
		.line = options->from,
	};
	/* `data` grows if lines need it. */
	if (w->cap > text->size)
		w->cap = (text->size / WALK_LEAST + 1) * WALK_LEAST;
	if (w->cap > w->most)
		w->cap = w->most;
	w->data = io_block(w->cap);
	if (w->data && !options->here)
		found = text_seek(text, w->line, &lines);
	w->base = text->offset;
	if (!w->data || found < 0) {
		walk_free(w);
		return NULL;
	}
	if (found == 1) {
		w->at_end = true;
		w->line = lines + 1;
	}
	return w;
}

void walk_free(struct walk *w)
{
	if (w)
		free(w->data);
	free(w);
}

/* --- blocks ------------------------------------------------------------------ */

/* The offset where the line begins that ends at `at`. */
static size_t line_before(const struct walk *w, size_t at)
{
	const char *newline = memrchr(w->data + w->start, '\n', at - 1 - w->start);
	return newline ? (size_t)(newline - w->data) + 1 : w->start;
}

/* Drops the lines before `at`, except the last `context` of them. */
static void walk_drop(struct walk *w, uint64_t context)
{
	size_t keep = w->at;
	for (uint64_t n = 0; n < context && keep > w->start; n++) {
		size_t before = line_before(w, keep);
		if (w->at - before > KEPT_MAX)
			break;
		keep = before;
	}
	memmove(w->data, w->data + keep, w->len - keep);
	w->start = 0;
	w->base += keep;
	w->at -= keep;
	w->end -= keep;
	w->len -= keep;
}

static int read_piece(struct walk *w)
{
	struct text_piece piece;
	size_t room = w->cap - w->len;
	if (text_next(w->text, w->data + w->len, room < WALK_BLOCK ? room : WALK_BLOCK, &piece) < 0)
		return -1;
	if (piece.kind == TEXT_BYTES) {
		w->len += piece.len;
		w->base = w->text->offset - w->len;
	} else if (piece.kind == TEXT_GAP) {
		w->gap = piece;
		w->at_gap = true;
	} else {
		w->at_end = true;
	}
	return 0;
}

/* Finds the end of the whole lines from `at` on. Between `at` and `from` there is no newline. */
static void walk_settle(struct walk *w, size_t from)
{
	const char *newline = memrchr(w->data + from, '\n', w->len - from);
	w->end = newline ? (size_t)(newline - w->data) + 1 : w->at;
	if (w->at_gap || w->at_end)
		w->end = w->len;
	w->hit_known = false;
}

/* Reads until a line is at `at` and returns WALK_LINE; or returns what comes in its place. */
static enum walk_kind get_line(struct walk *w)
{
	if (w->in_long) {
		/* Skips the rest of a long line, up to its newline or a gap. */
		const char *newline;
		while (!(newline = memchr(w->data + w->at, '\n', w->len - w->at)) && !w->at_gap &&
		       !w->at_end) {
			w->at = w->len = 0;
			if (read_piece(w) < 0)
				return WALK_FAILED;
		}
		w->start = w->at = newline ? (size_t)(newline - w->data) + 1 : w->len;
		w->in_long = false;
		w->line++;
		walk_settle(w, w->at);
	}
	/* If all lines of the block were returned, reads until there is a whole line, a gap or the
	   end. */
	if (w->at > 0 && w->at == w->end && !w->is_long && !w->at_gap && !w->at_end)
		walk_drop(w, w->options.context);
	while (w->at == w->end && !w->is_long && !w->at_gap && !w->at_end) {
		size_t larger = w->cap * 2 < w->most ? w->cap * 2 : w->most;
		if (w->len == w->cap && larger > w->cap) {
			char *data = realloc(w->data, larger);
			if (!data)
				return WALK_FAILED;
			w->data = data;
			w->cap = larger;
		} else if (w->len == w->cap) {
			/* Makes room by dropping the lines that were kept. If there are none, the
			   line is a long one. */
			w->is_long = w->at == 0;
			walk_drop(w, 0);
			if (w->is_long)
				break;
		}
		size_t before = w->len;
		if (read_piece(w) < 0)
			return WALK_FAILED;
		walk_settle(w, before);
	}
	/* With in_parts, an empty rest ends the line. */
	if (w->at < w->end || w->is_long || w->in_parts)
		return WALK_LINE;
	return w->at_gap ? WALK_GAP : WALK_END;
}

/* --- a long line ----------------------------------------- */

/* Searches a line that fills `data`, window by window; `at` is 0. */
static enum walk_kind take_long(struct walk *w, struct walk_line *line)
{
	enum matcher_result result;
	size_t start = 0, len = w->len;
	bool ends = false;
	if (w->options.long_line && *w->options.long_line == 0)
		*w->options.long_line = w->line;
	line->number = w->line;
	while ((result = matcher_part(w->matcher, w->data, len, start, ends, &line->span)) ==
		       MATCHER_NONE &&
	       !ends) {
		/* Keeps the end of the window, and fills the rest of `data` from the text. */
		const size_t keep = 2 * WALK_EDGE;
		memmove(w->data, w->data + w->len - keep, keep);
		w->len = keep;
		start = utf8_floor(w->data, keep, WALK_EDGE);
		const char *newline = NULL;
		while (!newline && w->len < w->cap && !w->at_gap && !w->at_end) {
			size_t before = w->len;
			if (read_piece(w) < 0)
				return WALK_FAILED;
			newline = memchr(w->data + before, '\n', w->len - before);
		}
		ends = newline || w->at_gap || w->at_end;
		len = newline ? (size_t)(newline - w->data) : w->len;
	}
	if (result == MATCHER_GAVE_UP)
		return WALK_GAVE_UP;
	line->data = w->data;
	line->len = len;
	line->wanted = (result == MATCHER_FOUND) != w->options.invert;
	line->more_before = start > 0;
	line->more_behind = !ends;
	if (result == MATCHER_NONE)
		line->span = (struct matcher_span){0, 0};
	w->last = 0;
	w->at = len;
	w->is_long = false;
	w->in_long = true;
	return WALK_LINE;
}

/* --- lines ------------------------------------------------------------------- */

/* Finds the next matching line of the block, if it is not known. */
static enum walk_kind find_hit(struct walk *w, struct walk_line *line)
{
	if (w->hit_known)
		return WALK_LINE;
	size_t found = 0;
	enum matcher_result result =
		matcher_next(w->matcher, w->data + w->at, w->end - w->at, &found);
	w->hit = result == MATCHER_NONE ? w->end : w->at + found;
	if (result == MATCHER_GAVE_UP) {
		line->number = w->line + newline_count(w->data + w->at, w->hit - w->at);
		return WALK_GAVE_UP;
	}
	w->hit_known = true;
	return WALK_LINE;
}

enum walk_kind walk_step(struct walk *w, struct walk_line *line)
{
	/* Most lines are in the block already. */
	enum walk_kind kind = w->at < w->end && !w->in_long ? WALK_LINE : get_line(w);
	*line = (struct walk_line){.number = w->line, .offset = w->base + w->at, .gap = &w->gap};
	if (kind == WALK_GAP) {
		w->at_gap = false;
		w->line = w->gap.gap.to + !w->gap.goes_on;
		w->start = w->at = w->end = w->len = 0;
		w->base = w->text->offset;
	}
	if (kind != WALK_LINE)
		return kind;
	if (w->is_long && w->matcher)
		return take_long(w, line);
	if (w->matcher && (kind = find_hit(w, line)) != WALK_LINE)
		return kind;
	line->data = w->data + w->at;
	const char *newline = w->is_long ? NULL : memchr(line->data, '\n', w->end - w->at);
	size_t behind = newline ? (size_t)(newline - w->data) + 1 : w->is_long ? w->len : w->end;
	line->newline = newline;
	line->len = behind - w->at - line->newline;
	line->wanted = !w->matcher || (w->at == w->hit) != w->options.invert;
	line->more_before = w->in_parts;
	line->more_behind = w->is_long;
	if (w->at == w->hit)
		w->hit_known = false;
	w->line += !w->is_long;
	w->in_parts = w->is_long;
	w->is_long = false;
	w->last = w->at;
	w->at = behind;
	if (w->in_parts)
		w->end = behind;
	return WALK_LINE;
}

enum walk_kind walk_next(struct walk *w, struct walk_line *line)
{
	for (;;) {
		enum walk_kind kind = w->in_long ? get_line(w) : WALK_LINE;
		if (kind == WALK_LINE && w->at < w->end && !w->is_long)
			kind = find_hit(w, line);
		else
			w->hit = w->at;
		if (kind == WALK_GAVE_UP || kind == WALK_FAILED)
			return kind;
		if (!w->options.invert && w->hit > w->at) {
			w->line += newline_count(w->data + w->at, w->hit - w->at) +
				   (w->data[w->hit - 1] != '\n');
			w->at = w->hit;
			if (w->at == w->end)
				continue;
		}
		kind = walk_step(w, line);
		if (kind != WALK_LINE || line->wanted)
			return kind;
	}
}

/* --- around a line ----------------------------------------------------------- */

uint64_t walk_before_count(const struct walk *w, uint64_t max)
{
	uint64_t n = 0;
	for (size_t at = w->last; n < max && at > w->start; n++)
		at = line_before(w, at);
	return n;
}

void walk_before(const struct walk *w, uint64_t back, struct walk_line *line)
{
	size_t at = w->last, end = at;
	for (uint64_t n = 0; n < back; n++) {
		end = at;
		at = line_before(w, at);
	}
	*line = (struct walk_line){
		.number = w->line - 1 - back,
		.data = w->data + at,
		.len = end - at - 1,
	};
}

void walk_span(struct walk *w, const struct walk_line *line, struct matcher_span *span)
{
	*span = line->span;
	if (line->more_before || line->more_behind)
		return;
	if (matcher_line(w->matcher, line->data, line->len, span) != MATCHER_FOUND)
		*span = (struct matcher_span){0, 0};
}
