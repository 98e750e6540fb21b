// See interceptor.h.

#include "supervisor/intercept/interceptor.h"

#include "supervisor/intercept/internal.h"

#include <stdlib.h>

/* What is said at the end, and the text of most commands, must not fail for want of memory that was
   there at the start. */
#define LINE_RESERVE ((size_t)1024)
#define HELD_RESERVE ((size_t)8 * 1024)

/* For so long a line has to stand before a live reader gets it. What draws may
   change it later, but some hide the cursor for good. */
#define SETTLE_MS       1500
#define SETTLE_DRAWN_MS 5000

static void interceptor_on_reply(void *ctx, const char *data, size_t len)
{
	struct interceptor *s = ctx;
	if (s->events.reply)
		s->events.reply(s->events.ctx, data, len);
}

/* No more lines than units are allowed: of whatever is counted there are then not too many. */
static struct preview_options make_preview_options(const struct interceptor_options *options)
{
	const struct limit *l = &options->limit;
	static const enum preview_mode modes[] = {
		[MODE_SMART] = PREVIEW_SMART,
		[MODE_TAIL] = PREVIEW_TAIL,
		[MODE_ENDS] = PREVIEW_ENDS,
	};
	return (struct preview_options){.mode = modes[l->mode],
					.budget = l->bytes,
					.head_share = l->head_share,
					.end_share = l->end_share,
					.patterns = l->patterns ? l->patterns->items : NULL,
					.ignore = l->ignore ? l->ignore->items : NULL,
					.max_line = l->max_line,
					.grow = l->grow,
					.guard = !l->own_words,
					.max_lines = l->count,
					.bare = options->form == INTERCEPT_BARE};
}

struct interceptor *interceptor_new(const struct interceptor_options *options,
				    const struct interceptor_events *events)
{
	struct interceptor *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->options = *options;
	s->events = *events;
	s->raw.state = options->raw == INTERCEPT_RAW_NO ? RAW_OFF : RAW_HOLDING;
	/* A text that is only a little too long is printed whole rather than cut. */
	s->most = limit_most(options->limit.bytes);
	s->tally.unit = options->limit.unit;
	s->tally.by_line = options->limit.longest_line > 0;
	if (options->limit.failure_bytes == 0)
		s->options.limit.failure_bytes = options->limit.bytes;
	s->head.limit = s->options.limit;
	s->head.limit.bytes = s->options.limit.failure_bytes;
	s->head.bare = options->form == INTERCEPT_BARE;
	s->head.guard = !s->head.bare && !options->limit.own_words;
	s->head.offset = options->bytes_before;
	s->fits = true;
	s->ended_line = true;
	s->is_plain = options->exact && options->print == INTERCEPT_WHOLE;
	s->resolved = options->print != INTERCEPT_PREVIEW || !events->resolve;
	const struct terminal_events t = {
		.text = intercept_text, .reply = interceptor_on_reply, .ctx = s};
	s->terminal = terminal_new(&options->terminal, &t);
	if (!s->terminal || buffer_reserve(&s->line, LINE_RESERVE) < 0 ||
	    buffer_reserve(&s->held, s->most < HELD_RESERVE ? s->most : HELD_RESERVE) < 0)
		goto fail;
	if (options->print == INTERCEPT_PREVIEW && options->limit.mode != MODE_HEAD) {
		const struct preview_options preview = make_preview_options(options);
		s->preview = preview_new(&preview);
		if (!s->preview)
			goto fail;
	}
	return s;
fail:
	interceptor_free(s);
	return NULL;
}

void interceptor_free(struct interceptor *s)
{
	if (!s)
		return;
	terminal_free(s->terminal);
	preview_free(s->preview);
	head_release(&s->head);
	head_release(&s->full);
	buffer_release(&s->more);
	buffer_release(&s->rest);
	plain_release(&s->plain);
	raw_release(&s->raw);
	buffer_release(&s->first);
	buffer_release(&s->held);
	buffer_release(&s->line);
	buffer_release(&s->collected);
	free(s);
}

void interceptor_spill(struct interceptor *s)
{
	if (s->artifact || s->spill_failed || s->forgotten)
		return;
	s->artifact = s->events.artifact(s->events.ctx);
	if (!s->artifact) {
		s->spill_failed = true;
		raw_release(&s->raw);
		return;
	}
	artifact_append(s->artifact, s->options.part, s->held.data, s->held.len);
	bool wanted = s->binary || s->options.raw == INTERCEPT_RAW_YES;
	if (wanted || terminal_is_lossy(s->terminal))
		raw_start(&s->raw, s->artifact);
}

void interceptor_forget(struct interceptor *s)
{
	s->forgotten = true;
	buffer_release(&s->held);
}

/* Whether a reader waits for lines as they come. */
static bool interceptor_is_live(const struct interceptor *s)
{
	if (s->reported || s->binary || s->is_plain || intercept_is_collected(s))
		return false;
	return s->options.print == INTERCEPT_WHOLE ||
	       (s->options.print == INTERCEPT_PREVIEW && !s->head_closed);
}

bool interceptor_is_unsettled(const struct interceptor *s)
{
	return interceptor_is_live(s) &&
	       terminal_lines(s->terminal) > terminal_settled(s->terminal);
}

bool interceptor_is_holding(const struct interceptor *s)
{
	return s->options.print == INTERCEPT_PREVIEW && s->head_closed;
}

void interceptor_settle(struct interceptor *s, int64_t now_ms)
{
	bool drawn = terminal_redraws(s->terminal) || !terminal_shows_cursor(s->terminal);
	if (interceptor_is_live(s))
		terminal_settle(s->terminal, now_ms, drawn ? SETTLE_DRAWN_MS : SETTLE_MS);
}

void interceptor_settle_all(struct interceptor *s)
{
	if (interceptor_is_live(s) && !terminal_redraws(s->terminal))
		terminal_commit(s->terminal, terminal_lines(s->terminal));
}

void interceptor_finish(struct interceptor *s)
{
	if (s->finished)
		return;
	intercept_judge(s, true);
	if (s->is_plain)
		intercept_finish_plain(s);
	if (!s->verbatim && !s->binary)
		terminal_finish(s->terminal);
	s->finished = true;
	if (s->fits && !s->reported && intercept_is_over(s, true))
		intercept_overflow(s);
	if (s->artifact)
		artifact_set_live(s->artifact, s->options.part, NULL, 0);
}

void interceptor_cut(struct interceptor *s)
{
	interceptor_pause(s);
	terminal_cut(s->terminal);
}

void interceptor_resize(struct interceptor *s, unsigned cols, unsigned rows)
{
	terminal_resize(s->terminal, cols, rows);
}

void interceptor_update_live(struct interceptor *s)
{
	struct buffer pending = BUFFER_INIT;
	if (!s->artifact || s->binary || s->finished ||
	    terminal_version(s->terminal) == s->live_version)
		return;
	if (terminal_pending(s->terminal, &pending) == 0) {
		artifact_set_live(s->artifact, s->options.part, pending.data, pending.len);
		s->live_version = terminal_version(s->terminal);
	}
	buffer_release(&pending);
}

const struct terminal *interceptor_terminal(const struct interceptor *s)
{
	return s->terminal;
}

enum interceptor_print interceptor_reader(struct interceptor *s)
{
	intercept_resolve(s);
	return s->options.print;
}

uint64_t interceptor_lines(const struct interceptor *s)
{
	if (intercept_is_counted(s))
		return tally_lines(&s->tally);
	return s->preview ? preview_lines(s->preview) : 0;
}

uint64_t interceptor_bytes(const struct interceptor *s)
{
	if (s->binary && !s->verbatim)
		return s->raw_bytes;
	if (intercept_is_counted(s))
		return s->tally.bytes;
	return s->preview ? preview_bytes(s->preview) : s->text_bytes;
}

uint64_t interceptor_settled(const struct interceptor *s)
{
	return s->text_bytes;
}

bool interceptor_is_binary(const struct interceptor *s)
{
	return s->binary;
}

bool interceptor_is_spilled(const struct interceptor *s)
{
	return s->artifact || s->spill_failed;
}

bool interceptor_is_on_disk(const struct interceptor *s)
{
	return s->options.print == INTERCEPT_SILENT && !s->fits && s->artifact;
}

bool interceptor_fits(const struct interceptor *s)
{
	return s->fits && (!s->binary || s->verbatim);
}

bool interceptor_is_partial(const struct interceptor *s)
{
	return s->options.print == INTERCEPT_PREVIEW && !interceptor_fits(s);
}
