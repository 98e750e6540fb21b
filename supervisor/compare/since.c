// See since.h.

#include "supervisor/compare/since.h"

#include "lib/human.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/artifact/text.h"
#include "supervisor/compare/outcome.h"
#include "supervisor/reading/walk.h"

#include <stdio.h>
#include <string.h>

/* Longer texts are not compared, and in longer ones no lines are looked at: that would take more
   than about 10 ms. */
#define TEXT_MOST  ((uint64_t)16 * 1024 * 1024)
#define LINES_MOST ((uint64_t)4 * 1024 * 1024)

/* The most lines of journals that are searched for an earlier run; they reach back some days. */
#define LOOKS 1000

/* Opens the text of a run, or its standard error, which is empty if there is none. Returns false if
   the text is not complete. text_close() it in any case. */
static bool since_open(struct text *text, const struct earlier_run *run, bool is_stderr)
{
	const struct meta_stream *s = is_stderr ? &run->meta.err : &run->meta.out;
	*text = (struct text){.fd = -1, .idx = -1, .dir = -1, .json = -1};
	if (is_stderr && !s->present)
		return true;
	return text_open(text, run->dir, run->meta.id, is_stderr ? ARTIFACT_ERR : ARTIFACT_OUT) ==
		       0 &&
	       s->gap_from == 0 && text->size == s->bytes;
}

/* Whether two texts are the same in every byte; false if one can't be read. */
static bool since_is_same(const struct text *a, const struct text *b)
{
	char blocks[2][16 * 1024];
	bool same = a->size == b->size && a->size <= TEXT_MOST;
	for (uint64_t at = 0; same && at < a->size; at += sizeof(*blocks)) {
		const ssize_t len = text_read(a, blocks[0], sizeof(*blocks), at);
		same = len > 0 && text_read(b, blocks[1], sizeof(*blocks), at) == len &&
		       memcmp(blocks[0], blocks[1], (size_t)len) == 0;
	}
	return same;
}

/* Walks the lines of a text; NULL if it is too long. */
static struct walk *since_walk(struct text *text)
{
	static const struct walk_options options = {.from = 1, .here = true};
	return text->size <= LINES_MOST ? walk_new(text, NULL, &options) : NULL;
}

static int since_next_print(void *ctx, uint64_t *print)
{
	struct walk_line line;
	enum walk_kind kind = walk_step(ctx, &line);
	if (kind == WALK_LINE)
		*print = fingerprint_masked(line.data, line.len);
	return kind == WALK_LINE ? 1 : kind == WALK_END ? 0 : -1;
}

/* Compares the texts of two runs, now and before: whether they are the same, and if not, which
   tests have failed. */
static void since_compare(struct wording_since *out, const struct earlier_run runs[2])
{
	const struct meta *now = &runs[0].meta, *then = &runs[1].meta;
	const bool has_failed = meta_has_failed(now) || meta_has_failed(then);
	struct outcome *o = NULL;
	struct text texts[4];
	bool known = true;
	/* Compares the lengths first. */
	if (!has_failed && (now->out.bytes != then->out.bytes || now->err.bytes != then->err.bytes))
		return;
	for (int i = 0; i < 4; i++)
		known &= since_open(&texts[i], &runs[i / 2], i % 2);
	out->identical =
		known && since_is_same(&texts[0], &texts[2]) && since_is_same(&texts[1], &texts[3]);
	if (known && has_failed && !out->identical)
		o = outcome_new();
	for (int i = 0; i < 4; i++) {
		const struct meta *m = &runs[i / 2].meta;
		struct walk *w = o ? since_walk(&texts[i]) : NULL;
		enum walk_kind kind = WALK_FAILED;
		struct walk_line line;
		while (w && (kind = walk_step(w, &line)) == WALK_LINE)
			outcome_add_line(o, i / 2, line.data, line.len);
		/* A run that was ended early may have left out any test. */
		known &= kind == WALK_END && m->state == META_DONE && !m->timed_out && !m->signal;
		walk_free(w);
		text_close(&texts[i]);
	}
	if (known)
		outcome_compare(out->tests, o, !meta_has_failed(now));
	outcome_free(o);
}

void since_look(struct wording_since *out, const struct meta *m, int dir,
		void (*success)(void *ctx, bool is_stderr, const struct fingerprints *lines),
		void *ctx)
{
	struct earlier_run runs[] = {{.meta = *m, .dir = dir}, {.dir = -1}, {.dir = -1}};
	struct earlier_run *last = &runs[1], *best = &runs[2];
	struct store store;
	char session[STORE_SESSION_LEN + 1];
	*out = (struct wording_since){.id = ""};
	if (store_open_write(&store) < 0)
		return;
	store_session_name(m->session, session);
	earlier_find(&store, 1, session, m, LOOKS, last, meta_has_failed(m) ? best : NULL);
	if (last->is_found) {
		snprintf(out->id, sizeof(out->id), "%s", last->meta.id);
		out->exit_code = last->meta.exit_code;
		out->signal = last->meta.signal;
		out->age_ms = clock_real_ms() - last->meta.ended_ms;
		since_compare(out, runs);
	}
	for (int i = 0; i < 2 && best->is_found; i++) {
		struct text text;
		struct walk *w = since_open(&text, best, i) ? since_walk(&text) : NULL;
		if (w)
			success(ctx, i, &(struct fingerprints){since_next_print, w});
		walk_free(w);
		text_close(&text);
	}
	earlier_run_release(last);
	earlier_run_release(best);
	store_close(&store);
}
