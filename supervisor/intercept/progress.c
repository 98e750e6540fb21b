// Progress: successive lines that report success, or how far the command is. An agent gets the
// first lines of such a run, a marker for the middle, and the last line, even if the whole text
// would fit.

#include "supervisor/intercept/internal.h"

#include <string.h>

enum {
	/* A run has at least this many lines. */
	RUN_LEAST = 8,
	/* This many are shown at its start. */
	SHOWN_LEAST = 2,
	/* Lines are left out only if they have at least this many bytes: a marker takes about as
	   many. */
	FOLD_LEAST = 64,
	/* Nothing is left out of a text if that would save fewer bytes than this in total. */
	SAVED_LEAST = 256,
};

/* Counts the next line, from `at` to `end`. */
static void progress_add(struct progress *c, bool is_progress, size_t at, size_t end)
{
	c->lines++;
	if (!is_progress) {
		c->count = 0;
		c->open = NULL;
		return;
	}
	if (c->count++ == SHOWN_LEAST)
		c->now = (struct progress_fold){.first = c->lines, .at = at};
	c->now.last = at;
	c->now.last_number = c->lines;
	c->now.end = end;
	if (c->count == RUN_LEAST && c->fold_count < PROGRESS_FOLDS)
		c->open = &c->folds[c->fold_count++];
	if (c->open)
		*c->open = c->now;
}

void intercept_find_progress(struct interceptor *s)
{
	struct progress *c = &s->progress;
	if (s->options.limit.fold != FOLD_ALWAYS || s->options.limit.mode != MODE_SMART ||
	    s->reader != &readers[INTERCEPT_AGENT] || tally_lines(&s->tally) < RUN_LEAST)
		return;
	if (!s->judge && !(s->judge = preview_judge_new()))
		return;
	const char *text = s->held.data, *newline;
	while (c->end < s->held.len &&
	       (newline = memchr(text + c->end, '\n', s->held.len - c->end))) {
		size_t at = c->end;
		c->end = (size_t)(newline - text) + 1;
		progress_add(c, preview_judge_is_progress(s->judge, text + at, c->end - at), at,
			     c->end);
	}
	size_t saved = 0;
	for (size_t i = 0; i < c->fold_count; i++)
		saved += c->folds[i].last - c->folds[i].at;
	/* Lines that are left out have to be readable on disk: if they can't be kept, none are left
	   out. */
	c->is_worth = saved >= SAVED_LEAST;
	if (c->is_worth)
		interceptor_spill(s);
}

struct progress_fold progress_next(const struct progress *c, size_t at, uint64_t number)
{
	for (size_t i = 0; i < c->fold_count && c->is_worth; i++) {
		struct progress_fold f = c->folds[i];
		if (f.at < at) {
			f.at = at;
			f.first = number;
		}
		if (f.last > f.at && f.last - f.at >= FOLD_LEAST)
			return f;
	}
	return (struct progress_fold){0};
}
