// The interceptor's contract with other rooms: life cycle, pauses, the end, the report.

#include "supervisor/intercept/interceptor.h"

#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/intercept/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Whether the reader would have seen so little of the text that it gets no more of it. */
static bool interceptor_is_cut(struct interceptor *s)
{
	const struct limit *l = &s->options.limit;
	return !s->fits && interceptor_bytes(s) > l->cut_over;
}

void interceptor_conclude(struct interceptor *s, enum interceptor_outcome outcome)
{
	struct limit *l = &s->options.limit;
	size_t bytes = l->bytes;
	if (outcome == INTERCEPT_RUNNING)
		bytes = limit_smallest(l);
	else if (outcome == INTERCEPT_FAILURE)
		bytes = l->failure_bytes;
	s->concluded = true;
	s->failed = outcome == INTERCEPT_FAILURE;
	s->succeeded = outcome == INTERCEPT_SUCCESS;
	if (s->options.print == INTERCEPT_PREVIEW) {
		s->most = limit_most(bytes);
		TRACE(PREVIEW, "%s %s: %zu bytes fit", PART_NAME(s),
		      outcome == INTERCEPT_RUNNING ? "goes on"
		      : s->failed                  ? "has failed"
						   : "has ended well",
		      s->most);
		if (s->fits && !s->reported && intercept_is_over(s, false))
			intercept_overflow(s);
	}
	bool cut = outcome == INTERCEPT_SUCCESS && interceptor_is_cut(s);
	if (cut)
		bytes = l->cut_bytes;
	if (outcome != INTERCEPT_RUNNING)
		s->share.ceiling = s->failed ? l->failure_ceiling
				   : cut     ? l->cut_ceiling
					     : l->ceiling;
	l->bytes = l->failure_bytes = bytes;
}

/* For owners that need not know before the report. */
static void conclude_by(struct interceptor *s, const struct wording_ending *e)
{
	bool failed = e->state == WORDING_INTERRUPTED || e->exit_code != 0;
	if (!s->concluded)
		interceptor_conclude(s, e->state == WORDING_RUNNING ? INTERCEPT_RUNNING
					: failed                    ? INTERCEPT_FAILURE
								    : INTERCEPT_SUCCESS);
}

/* Prints what is left of a text that is held as a whole. */
static int collect_all(struct interceptor *s, struct report_stream *out)
{
	if (s->held.len > s->printed)
		intercept_print_text(s, s->held.data + s->printed, s->held.len - s->printed);
	return out->total_lines > 0 ? report_add_range(out, 1, out->total_lines) : 0;
}

/* The start of a text that was asked for in full and could not be kept: whole lines if there is
   one. */
static int collect_start(struct interceptor *s, struct report_stream *out)
{
	struct tally shown = {.unit = UNIT_LINES};
	const char *last = memrchr(s->held.data, '\n', s->held.len);
	size_t len = last ? (size_t)(last - s->held.data) + 1
			  : utf8_floor(s->held.data, s->held.len, s->held.len - 1);
	tally_feed(&shown, s->held.data, len);
	intercept_print_text(s, s->held.data, len);
	out->broken = LIMIT_BYTES;
	out->last_line_partial = !last;
	out->lines_truncated = !last;
	return report_add_range(out, 1, tally_lines(&shown));
}

static int collect_text(struct interceptor *s, const struct interceptor_ending *given,
			struct report_stream *out)
{
	struct interceptor_ending e = *given;
	if (s->fits)
		return collect_all(s, out);
	if (s->options.print == INTERCEPT_SILENT)
		return !s->artifact && s->held.len > 0 ? collect_start(s, out) : 0;
	out->broken = s->broken;
	if (!intercept_is_by_head(s) || intercept_finish_head(s))
		return intercept_print_preview(s, &e, out);
	/* The report says elsewhere how the command ended. */
	e.ending = (struct wording_ending){.lines = out->total_lines, .bytes = out->total_bytes};
	e.status_line = STATUS_LINE_NEVER;
	return intercept_print_end_of_head(s, &e, out);
}

int interceptor_collect(struct interceptor *s, const struct interceptor_ending *e,
			struct report_stream *out)
{
	int result = 0;
	intercept_judge(s, true);
	intercept_take_pending(s);
	conclude_by(s, &e->ending);
	out->limit = s->options.limit;
	out->total_bytes = interceptor_bytes(s);
	if (s->binary && !s->verbatim) {
		buffer_clear(&s->collected);
		out->binary = true;
		out->kind = s->kind.name;
	} else {
		out->total_lines = interceptor_lines(s);
		result = collect_text(s, e, out);
	}
	s->reported = true;
	out->text = s->collected;
	s->collected = (struct buffer)BUFFER_INIT;
	return s->lost ? -1 : result;
}

/* Notices for a live reader when the command has ended or has been silent for long. */

bool interceptor_is_worth_telling(const struct interceptor_ending *e)
{
	bool failed = e->ending.exit_code != 0;
	if (e->ending.background || e->is_second)
		return e->ending.background;
	return e->status_line == STATUS_LINE_ALWAYS || e->ending.prompt || e->ending.hung_up ||
	       e->ending.picture || (e->status_line == STATUS_LINE_FAILURE && failed) ||
	       e->ending.timed_out || e->ending.state != WORDING_ENDED;
}

/* The rest of a text that fits. A program gets it unchanged, and no notices. */
static void print_rest(struct interceptor *s, const struct interceptor_ending *e)
{
	size_t len = s->held.len - s->printed;
	const char *rest = len ? s->held.data + s->printed : "";
	size_t begun = intercept_go_on(s, rest, len);
	rest += begun;
	len -= begun;
	bool announced = interceptor_is_worth_telling(e);
	if (announced || !guard_is_same(rest, len, intercept_guard(s)))
		intercept_resolve(s);
	if (s->options.print != INTERCEPT_PREVIEW)
		return;
	intercept_print_text(s, rest, len);
	/* The person who interrupted it may not have read this far. */
	if (announced && e->ending.state != WORDING_ENDED)
		wording_footer(intercept_line(s), &e->ending, &e->place);
	else if (announced)
		wording_status(intercept_line(s), &e->ending, &e->place);
	if (announced)
		intercept_print_line(s);
}

/* The preview, and the line about the whole. */
static void closing_print_preview(struct interceptor *s, struct interceptor_ending *e)
{
	intercept_print_preview(s, e, &s->shown);
	e->ending.broken = s->broken;
	e->ending.omits = s->omits;
	e->ending.cuts = s->cuts;
	wording_footer(intercept_line(s), &e->ending, &e->place);
	intercept_print_line(s);
}

static void print_binary(struct interceptor *s, const struct interceptor_ending *e)
{
	wording_binary(intercept_line(s), &e->ending, s->kind.name, &e->place);
	intercept_print_line(s);
}

void interceptor_report(struct interceptor *s, const struct interceptor_ending *given)
{
	struct interceptor_ending e = *given;
	intercept_judge(s, true);
	intercept_take_pending(s);
	conclude_by(s, &e.ending);
	e.ending.lines = s->options.lines_before + interceptor_lines(s);
	e.ending.bytes = s->options.bytes_before + interceptor_bytes(s);
	e.ending.limit = s->options.limit;
	e.ending.picture = terminal_is_pictured(s->terminal);
	TRACE(PREVIEW, "%s ends: %" PRIu64 " bytes, %s", PART_NAME(s), e.ending.bytes,
	      s->binary                               ? "binary"
	      : s->options.print != INTERCEPT_PREVIEW ? "printed as it came"
	      : s->fits                               ? "printed whole"
						      : "a preview");
	if (s->options.print == INTERCEPT_PREVIEW) {
		if (s->binary) {
			print_binary(s, &e);
		} else if (s->fits) {
			print_rest(s, &e);
			report_add_range(&s->shown, 1, interceptor_lines(s));
		} else if (intercept_is_by_head(s) && !intercept_finish_head(s)) {
			intercept_print_end_of_head(s, &e, &s->shown);
		} else {
			closing_print_preview(s, &e);
		}
	}
	s->reported = true;
}

void interceptor_heartbeat(struct interceptor *s, int64_t elapsed_ms, enum wait_kind wait,
			   const char *who, const struct wording_place *place)
{
	struct buffer pending = BUFFER_INIT;
	uint64_t lines = terminal_lines(s->terminal), bytes = interceptor_bytes(s);
	if (!s->binary && terminal_pending(s->terminal, &pending) == 0)
		bytes += pending.len;
	wording_heartbeat(intercept_line(s), elapsed_ms, lines, bytes, wait, who, place);
	intercept_print_line(s);
	share_notice(&s->share, s->line.len);
	buffer_release(&pending);
}

/* Reserved at the start, so that the last notice, and the text of most commands, need no more
   memory. */
#define LINE_RESERVE ((size_t)1024)
#define HELD_RESERVE ((size_t)8 * 1024)

static void interceptor_on_reply(void *ctx, const char *data, size_t len)
{
	struct interceptor *s = ctx;
	TRACE(TERMINAL, "a query is answered with %zu bytes", len);
	if (s->events.reply)
		s->events.reply(s->events.ctx, data, len);
}

/* A line that tells of a failure stays in the text, also if the program writes something else over
   it. A program or a file gets the text of a terminal, in which it does not. */
static bool interceptor_on_overwritten(void *ctx, const char *line, size_t len)
{
	struct interceptor *s = ctx;
	if (!s->judge)
		s->judge = preview_judge_new();
	if (!s->judge || !preview_judge_is_failure(s->judge, line, len))
		return false;
	intercept_resolve(s);
	return s->options.print != INTERCEPT_WHOLE;
}

/* The limit of units is a limit of lines here, which holds for any unit. */
static struct preview_options make_preview_options(const struct interceptor_options *options)
{
	const struct limit *l = &options->limit;
	static const enum preview_mode modes[] = {
		[MODE_SMART] = PREVIEW_SMART,
		/* Behind the head. */
		[MODE_HEAD] = PREVIEW_TAIL,
		[MODE_TAIL] = PREVIEW_TAIL,
		[MODE_ENDS] = PREVIEW_ENDS,
	};
	return (struct preview_options){.mode = modes[l->mode],
					.budget = limit_largest(l),
					.least_budget = limit_smallest(l),
					.head_share = l->head_share,
					.end_share = l->end_share,
					.counters = l->fold == FOLD_COUNTERS,
					.patterns = l->patterns ? l->patterns->items : NULL,
					.ignore = l->ignore ? l->ignore->items : NULL,
					.max_line = l->max_line,
					.grow = l->grow,
					.guard = !l->own_words,
					.max_lines = l->count,
					.bare = options->form == INTERCEPT_BARE};
}

/* Fewer bytes at a pause would tell nothing. */
#define SHARE_LEAST ((size_t)256)

/* While the command runs, its outcome is not known, so the smaller limits count. */
static struct share make_share(const struct limit *l)
{
	size_t budget = limit_smallest(l), ceiling = limit_least_ceiling(l);
	return (struct share){.budget = share_budget(budget, ceiling),
			      .ceiling = ceiling,
			      .least = budget / 8 < SHARE_LEAST ? budget / 8 : SHARE_LEAST};
}

static struct share make_line_share(const struct limit *l)
{
	size_t budget = l->count ? (size_t)l->count : SIZE_MAX;
	return (struct share){.budget = share_budget(budget, (size_t)l->line_ceiling),
			      .ceiling = (size_t)l->line_ceiling,
			      .least = 1};
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
	if (options->limit.failure_bytes == 0)
		s->options.limit.failure_bytes = options->limit.bytes;
	if (options->limit.cut_bytes == 0) {
		s->options.limit.cut_bytes = options->limit.bytes;
		s->options.limit.cut_ceiling = options->limit.ceiling;
	}
	/* A text that is only a little too long is printed whole rather than cut. */
	s->most = limit_most(limit_largest(&s->options.limit));
	s->tally.unit = options->limit.unit;
	s->tally.by_line = options->limit.longest_line > 0;
	s->head.limit = intercept_open_limit(&s->options.limit);
	s->head.bare = options->form == INTERCEPT_BARE;
	s->head.at.offset = options->bytes_before;
	s->share = make_share(&s->options.limit);
	s->line_share = make_line_share(&s->options.limit);
	s->fits = true;
	s->waits = options->limit.group && intercept_is_by_head(s);
	s->ended_line = s->ended_text = true;
	s->head.guard = intercept_guard(s);
	s->is_plain = options->exact && options->print == INTERCEPT_WHOLE;
	s->resolved = options->print != INTERCEPT_PREVIEW || !events->resolve;
	const struct terminal_events t = {.text = intercept_text,
					  .reply = interceptor_on_reply,
					  .stays = interceptor_on_overwritten,
					  .ctx = s};
	s->terminal = terminal_new(&options->terminal, &t);
	if (!s->terminal || buffer_reserve(&s->line, LINE_RESERVE) < 0 ||
	    buffer_reserve(&s->held, s->most < HELD_RESERVE ? s->most : HELD_RESERVE) < 0)
		goto fail;
	/* terse's own text tells nothing of another run's end. */
	bool is_own = options->limit.own_words && options->limit.mode == MODE_HEAD;
	if (options->print == INTERCEPT_PREVIEW && !is_own) {
		const struct preview_options preview = make_preview_options(&s->options);
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
	preview_judge_free(s->judge);
	head_release(&s->head);
	for (size_t i = 0; i < s->longer_count; i++) {
		head_release(&s->longer[i].head);
		buffer_release(&s->longer[i].text);
	}
	buffer_release(&s->rest);
	plain_release(&s->plain);
	raw_release(&s->raw);
	buffer_release(&s->first);
	buffer_release(&s->held);
	buffer_release(&s->line);
	buffer_release(&s->partial);
	buffer_release(&s->collected);
	free(s->shown.ranges);
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
	TRACE(PREVIEW, "%s is kept, with %zu bytes so far", PART_NAME(s), s->held.len);
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
	if (s->finished || s->binary || s->is_plain)
		return false;
	if (s->followed)
		return true;
	if (s->reported || intercept_is_collected(s))
		return false;
	return s->options.print == INTERCEPT_WHOLE ||
	       (s->options.print == INTERCEPT_PREVIEW && !s->head_closed);
}

bool interceptor_is_holding(const struct interceptor *s)
{
	bool is_partial = s->printed < s->text_bytes || (!s->fits && intercept_is_by_head(s));
	return s->options.print == INTERCEPT_PREVIEW && s->head_closed && is_partial;
}

/* Grouping matches is worth no longer wait. */
#define WAITS_MS 1000

/* The text comes slowly, so its lines are printed as they come. */
static void stop_waiting(struct interceptor *s, int64_t now_ms)
{
	if (!s->waits || s->text_bytes == 0)
		return;
	if (!s->waits_since)
		s->waits_since = now_ms;
	if (now_ms - s->waits_since < WAITS_MS)
		return;
	s->waits = false;
	if (s->fits && !s->reported)
		intercept_print_head(s);
}

bool intercept_is_drawn(struct interceptor *s, int64_t now_ms)
{
	uint64_t redraws = terminal_redraws(s->terminal);
	bool hides = !terminal_shows_cursor(s->terminal);
	if (redraws != s->redraws)
		s->redrawn_at = now_ms;
	if (hides && !s->hides)
		s->hidden_at = now_ms;
	s->redraws = redraws;
	s->hides = hides;
	return (redraws && now_ms - s->redrawn_at < INTERCEPT_SETTLE_DRAWN_MS) ||
	       (hides && now_ms - s->hidden_at < INTERCEPT_SETTLE_DRAWN_MS);
}

/* So often lines are looked at that may stand soon. */
#define SETTLE_LOOK_MS 200

void interceptor_settle(struct interceptor *s, int64_t now_ms)
{
	int64_t plain_ms = s->options.settle_ms;
	s->settle_at = 0;
	stop_waiting(s, now_ms);
	if (s->waits && s->text_bytes > 0)
		s->settle_at = now_ms + SETTLE_LOOK_MS;
	if (!interceptor_is_live(s))
		return;
	bool drawn = intercept_is_drawn(s, now_ms);
	if (drawn)
		terminal_settle(s->terminal, now_ms, INTERCEPT_SETTLE_DRAWN_MS,
				INTERCEPT_SETTLE_DRAWN_MS);
	else
		terminal_settle(s->terminal, now_ms, plain_ms, INTERCEPT_SETTLE_MS);
	if (terminal_lines(s->terminal) > terminal_settled(s->terminal))
		s->settle_at =
			now_ms + (drawn || !plain_ms || plain_ms > SETTLE_LOOK_MS ? SETTLE_LOOK_MS
										  : plain_ms);
}

void interceptor_follow(struct interceptor *s)
{
	s->followed = true;
}

int64_t interceptor_settle_due(const struct interceptor *s)
{
	return s->settle_at;
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
	/* A character that was never finished may have overwritten another one. */
	if (s->artifact && terminal_is_lossy(s->terminal))
		raw_start(&s->raw, s->artifact);
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

const struct report_range *interceptor_shown(const struct interceptor *s, size_t *count)
{
	*count = s->shown.range_count;
	return s->shown.ranges;
}

bool interceptor_is_previewed(const struct interceptor *s)
{
	return s->preview && interceptor_is_partial(s) && !s->binary &&
	       s->options.limit.mode == MODE_SMART;
}

void interceptor_compare(struct interceptor *s, const struct fingerprints *success)
{
	if (s->preview && !s->binary)
		preview_compare(s->preview, success);
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

const char *interceptor_last_line(const struct interceptor *s, size_t *len)
{
	*len = s->last_len;
	return s->last;
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
