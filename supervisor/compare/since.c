// See since.h.

#include "supervisor/compare/since.h"

#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/artifact/text.h"
#include "supervisor/compare/outcome.h"
#include "supervisor/reading/walk.h"

#include <stdio.h>
#include <string.h>

/* Longer texts are not compared at the end of a run: it would take too long. */
#define TEXT_MOST ((uint64_t)16 * 1024 * 1024)

/* The most lines of journals that are searched for an earlier run; they reach back some days. */
#define LOOKS 1000

/* Opens the text of a run, or its standard error. Returns false if the text is not complete, or
   longer than `most`. */
static bool since_open_text(struct text *text, int dir, const struct meta *m, bool is_stderr,
			    uint64_t most)
{
	const struct meta_stream *s = is_stderr ? &m->err : &m->out;
	return s->gap_from == 0 && s->error == 0 && s->bytes <= most &&
	       text_open(text, dir, m->id, is_stderr ? ARTIFACT_ERR : ARTIFACT_OUT) == 0;
}

/* Whether two texts are the same in every byte; false if one can't be read. Compares the lengths
   first. */
static bool since_is_same_part(const struct since_run *run, const struct earlier_run *other,
			       bool is_stderr)
{
	const struct meta *m = run->meta, *o = &other->meta;
	char blocks[2][16 * 1024];
	struct text now, before;
	bool same = false;
	if ((is_stderr ? m->err.bytes != o->err.bytes : m->out.bytes != o->out.bytes) ||
	    !since_open_text(&now, artifact_directory(run->artifact), m, is_stderr, TEXT_MOST))
		return false;
	if (since_open_text(&before, other->dir, o, is_stderr, TEXT_MOST)) {
		same = now.size == before.size;
		for (uint64_t at = 0; same && at < now.size; at += sizeof(blocks[0])) {
			uint64_t left = now.size - at;
			size_t len = left < sizeof(blocks[0]) ? (size_t)left : sizeof(blocks[0]);
			same = io_read_whole(now.fd, blocks[0], len, (off_t)at) == 0 &&
			       io_read_whole(before.fd, blocks[1], len, (off_t)at) == 0 &&
			       memcmp(blocks[0], blocks[1], len) == 0;
		}
		text_close(&before);
	}
	text_close(&now);
	return same;
}

/* In longer texts no tests are looked for: that would take more than about 10 ms. */
#define LINES_MOST ((uint64_t)4 * 1024 * 1024)

/* Opens a text and walks its lines; NULL if the text is not complete. To be ended by walk_free()
   and text_close(). */
static struct walk *since_walk(struct text *text, int dir, const struct meta *m, bool is_stderr)
{
	static const struct walk_options options = {.from = 1, .here = true};
	if (!since_open_text(text, dir, m, is_stderr, LINES_MOST))
		return NULL;
	struct walk *w = walk_new(text, NULL, &options);
	if (!w)
		text_close(text);
	return w;
}

static int since_next_print(void *ctx, uint64_t *print)
{
	struct walk_line line;
	enum walk_kind kind = walk_step(ctx, &line);
	if (kind == WALK_LINE)
		*print = fingerprint_masked(line.data, line.len);
	return kind == WALK_LINE ? 1 : kind == WALK_END ? 0 : -1;
}

/* Compares which tests have failed. Does nothing if one of the runs was ended early, since nobody
   knows which tests it left out. */
static void since_compare_names(struct wording_since *out, const struct since_run *run,
				const struct earlier_run *last)
{
	struct outcome *o = outcome_new();
	bool known = o;
	for (int i = 0; known && i < 4; i++) {
		const bool before = i / 2, is_stderr = i % 2;
		const struct meta *m = before ? &last->meta : run->meta;
		const int dir = before ? last->dir : artifact_directory(run->artifact);
		struct text text;
		struct walk_line line;
		if (is_stderr && !m->err.present)
			continue;
		struct walk *w = m->state == META_DONE && !m->timed_out && !m->signal
					 ? since_walk(&text, dir, m, is_stderr)
					 : NULL;
		enum walk_kind kind = w ? WALK_LINE : WALK_FAILED;
		while (kind == WALK_LINE && (kind = walk_step(w, &line)) == WALK_LINE)
			outcome_add_line(o, before, line.data, line.len);
		if (w)
			text_close(&text);
		walk_free(w);
		known = kind == WALK_END;
	}
	if (known)
		outcome_compare(out->tests, o, !meta_has_failed(run->meta));
	outcome_free(o);
}

void since_look(struct wording_since *out, const struct since_run *run)
{
	struct store store;
	struct earlier_run last, success = {.dir = -1};
	char session[STORE_SESSION_LEN + 1];
	*out = (struct wording_since){.id = ""};
	if (store_open_write(&store) < 0)
		return;
	store_session_name(run->meta->session, session);
	earlier_find(&store, 1, session, run->meta, LOOKS, &last,
		     meta_has_failed(run->meta) ? &success : NULL);
	if (last.is_found) {
		const struct meta *other = &last.meta;
		snprintf(out->id, sizeof(out->id), "%s", other->id);
		out->exit_code = other->exit_code;
		out->signal = other->signal;
		out->age_ms = clock_real_ms() - other->ended_ms;
		out->identical = run->meta->err.present == other->err.present &&
				 since_is_same_part(run, &last, false) &&
				 (!other->err.present || since_is_same_part(run, &last, true));
		if (!out->identical && (meta_has_failed(run->meta) || meta_has_failed(other)))
			since_compare_names(out, run, &last);
	}
	for (int is_stderr = 0; success.is_found && is_stderr < 2; is_stderr++) {
		struct text text;
		struct walk *w = since_walk(&text, success.dir, &success.meta, is_stderr);
		if (!w)
			continue;
		run->success(run->ctx, is_stderr, &(struct fingerprints){since_next_print, w});
		walk_free(w);
		text_close(&text);
	}
	earlier_run_release(&last);
	earlier_run_release(&success);
	store_close(&store);
}
