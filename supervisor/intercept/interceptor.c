// One stream: its text on the way to reader, held text, artifact and preview, and the contract with
// other rooms.

#include "supervisor/intercept/interceptor.h"

#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/intercept/internal.h"

#include <stdlib.h>
#include <string.h>

/* Whether all of the text goes through the tally. */
static bool is_counted(const struct interceptor *s)
{
	return intercept_is_by_head(s) || s->reader == &readers[INTERCEPT_SILENT];
}

struct intercept_totals intercept_totals(const struct interceptor *s)
{
	struct intercept_totals t = {.bytes = s->text_bytes};
	if (is_counted(s)) {
		t = (struct intercept_totals){tally_lines(&s->tally), s->tally.bytes};
	} else if (s->preview) {
		const struct preview_facts seen = preview_facts(s->preview);
		t = (struct intercept_totals){seen.lines, seen.bytes};
	}
	if (s->state == BYTES_BINARY)
		t.bytes = s->raw_bytes;
	return t;
}

void intercept_overflow(struct interceptor *s)
{
	const struct limit *l = &s->options.limit;
	struct tally held = {.unit = l->unit};
	s->fits = false;
	if (s->reader->previews) {
		/* Counts the held text alone, to see which part of the limit it exceeds: s->tally
		   may have more text, which came in the same call. */
		tally_feed(&held, s->held.data, s->held.len);
		s->broken = l->count && tally_units(&held) > l->count ? LIMIT_COUNT : LIMIT_BYTES;
	}
	TRACE(PREVIEW, "%s is too long to be printed whole: %zu bytes held", PART_NAME(s),
	      s->held.len);
	s->opening_over = true;
	intercept_resolve(s);
	interceptor_spill(s);
	if (intercept_is_by_head(s)) {
		/* The first part continues in the held text, where printing has stopped. */
		const struct head_place at = {.bytes = s->printed,
					      .lines = s->printed_lines,
					      .units = s->line_share.printed};
		preview_begin_head(s->preview, &at);
		if (s->held.len > s->printed)
			preview_feed_head(s->preview, s->held.data + s->printed,
					  s->held.len - s->printed);
		s->opening_over = !s->reader->along;
	}
	/* If a report wants the full text and it can't be kept on disk, its start stays in
	   memory. */
	if (s->artifact || s->reader->along || s->reader->previews)
		buffer_release(&s->held);
}

/* Whether the text so far is over the limit; `end`: nothing more comes. */
static bool intercept_is_over(struct interceptor *s, bool end)
{
	const struct limit *l = &s->options.limit;
	if (s->text_bytes > s->most || s->held.len > s->most)
		return true;
	if (!s->reader->previews)
		return false;
	if (l->count && tally_units(&s->tally) > l->count)
		return true;
	/* Counts the bytes that the text takes when it is printed: an invalid byte becomes three,
	   and a line that looks like one of terse's own gets a guard. Only new bytes of an
	   unfinished line are counted. */
	const char *rest = s->held.data + s->counted;
	size_t len = s->held.len - s->counted, cut = 0;
	const char *newline =
		len > s->begun ? memrchr(rest + s->begun, '\n', len - s->begun) : NULL;
	if (newline) {
		size_t lines = (size_t)(newline - rest) + 1;
		s->clean_len += guard_text(NULL, rest, lines, intercept_guard(s));
		s->counted += lines;
		s->begun = s->begun_len = 0;
		rest += lines;
		len -= lines;
	}
	if (len == 0)
		return s->clean_len > s->most;
	if (end)
		return s->clean_len + guard_text(NULL, rest, len, intercept_guard(s)) > s->most;
	/* The last bytes may be the start of a character, or of CR LF. */
	if (!utf8_incomplete(rest + s->begun, len - s->begun, &cut))
		cut = rest[len - 1] == '\r';
	s->begun_len += utf8_clean(NULL, rest + s->begun, len - cut - s->begun);
	s->begun = len - cut;
	return s->clean_len + s->begun_len + cut > s->most;
}

/* Counts text for an agent or for a report, and gives it to the preview. */
static void measure_text(struct interceptor *s, const char *data, size_t len)
{
	if (s->reported || (!s->reader->previews && s->reader->along))
		return;
	if (s->fits || is_counted(s))
		tally_feed(&s->tally, data, len);
	if (s->preview)
		preview_feed(s->preview, data, len);
}

void intercept_text(void *ctx, const char *data, size_t len)
{
	struct interceptor *s = ctx;
	const struct reader *reader = s->reader;
	s->text_bytes += len;
	const char *newline = memrchr(data, '\n', len);
	s->line_text = newline ? (size_t)(data + len - newline) - 1 : s->line_text + len;
	measure_text(s, data, len);
	if (s->artifact)
		artifact_append(s->artifact, s->options.part, data, len);
	if (!s->reported)
		intercept_pass_on(s, data, len);
	if (!s->fits || s->reported)
		return;

	bool was_kept = s->artifact;
	size_t room = s->most - s->held.len;
	size_t take = len < room ? len : room;
	bool held = buffer_try_append(&s->held, data, take) == 0;
	if (!held)
		take = 0;
	intercept_find_progress(s);
	if (s->reader->previews)
		intercept_print_lines(s, NULL);
	if (!held || intercept_is_over(s, false))
		intercept_overflow(s);
	data += take;
	len -= take;
	if (!s->fits && !was_kept && s->artifact)
		artifact_append(s->artifact, s->options.part, data, len);
	/* intercept_resolve() may have found a program, which gets the rest as well. */
	if (s->reader != reader)
		intercept_print(s, data, len);
	else if (s->reader->previews)
		intercept_pass_on(s, data, len);
}

void interceptor_skip(struct interceptor *s, const char *notice, size_t len, uint64_t bytes,
		      uint64_t newlines)
{
	interceptor_feed(s, notice, len);
	interceptor_pause(s);
	terminal_commit(s->terminal);
	if (s->fits)
		intercept_overflow(s);
	s->text_bytes += bytes;
	if (s->preview)
		preview_skip(s->preview, bytes, newlines);
	if (is_counted(s))
		tally_skip(&s->tally, bytes, newlines);
}

void interceptor_conclude(struct interceptor *s, enum interceptor_outcome outcome)
{
	struct limit *l = &s->options.limit;
	size_t bytes = outcome == INTERCEPT_SUCCESS   ? l->bytes
		       : outcome == INTERCEPT_FAILURE ? l->failure_bytes
						      : limit_smallest(l);
	s->outcome = outcome;
	if (s->reader->previews) {
		s->most = limit_most(bytes);
		TRACE(PREVIEW, "%s %s: %zu bytes fit", PART_NAME(s),
		      outcome == INTERCEPT_RUNNING   ? "goes on"
		      : outcome == INTERCEPT_FAILURE ? "has failed"
						     : "has ended well",
		      s->most);
		if (s->fits && !s->reported && intercept_is_over(s, false))
			intercept_overflow(s);
	}
	/* An agent that cuts long texts itself would show very little of this one, so it gets no
	   more than cut_bytes. */
	bool cut =
		outcome == INTERCEPT_SUCCESS && !s->fits && intercept_totals(s).bytes > l->cut_over;
	if (cut)
		bytes = l->cut_bytes;
	if (outcome != INTERCEPT_RUNNING)
		s->share.ceiling = outcome == INTERCEPT_FAILURE ? l->failure_ceiling
				   : cut                        ? l->cut_ceiling
								: l->ceiling;
	l->bytes = l->failure_bytes = bytes;
}

void intercept_end_text(struct interceptor *s, const struct wording_ending *e)
{
	struct buffer pending = BUFFER_INIT;
	intercept_judge(s, true);
	/* Background children may still change the text that the terminal holds. The reader gets it
	   as it is now, the artifact once it is final. */
	if (s->state < BYTES_BINARY && !s->finished &&
	    terminal_pending(s->terminal, &pending) == 0) {
		measure_text(s, pending.data, pending.len);
		intercept_pass_on(s, pending.data, pending.len);
		if (s->fits && (buffer_try_append(&s->held, pending.data, pending.len) < 0 ||
				intercept_is_over(s, true)))
			intercept_overflow(s);
	}
	buffer_release(&pending);
	bool failed = e->state == WORDING_INTERRUPTED || e->exit_code != 0;
	if (s->outcome == INTERCEPT_OPEN)
		interceptor_conclude(s, e->state == WORDING_RUNNING ? INTERCEPT_RUNNING
					: failed                    ? INTERCEPT_FAILURE
								    : INTERCEPT_SUCCESS);
	s->reported = true;
}

void interceptor_heartbeat(struct interceptor *s, int64_t elapsed_ms, enum wait_kind wait,
			   const char *who, const struct wording_place *place)
{
	struct buffer pending = BUFFER_INIT;
	uint64_t lines = terminal_lines(s->terminal), bytes = intercept_totals(s).bytes;
	if (s->state < BYTES_BINARY && terminal_pending(s->terminal, &pending) == 0)
		bytes += pending.len;
	wording_heartbeat(intercept_line(s), elapsed_ms, lines, bytes, wait, who, place);
	intercept_print_line(s);
	s->share.notices += s->line.len;
	buffer_release(&pending);
}

/* Bytes that are allocated at the start. They are enough for the last notice, and for the text of
   most commands. */
#define LINE_RESERVE ((size_t)1024)
#define HELD_RESERVE ((size_t)8 * 1024)

/* In mode head, the limit of lines where none is set and the size is at most 32 KB. */
#define HEAD_LINES ((size_t)4096)

static void interceptor_on_reply(void *ctx, const char *data, size_t len)
{
	struct interceptor *s = ctx;
	TRACE(TERMINAL, "a query is answered with %zu bytes", len);
	if (s->events.reply)
		s->events.reply(s->events.ctx, data, len);
}

/* Keeps a line that reports a failure in the text although the command writes something else over
   it. A program or a file gets what a terminal would show, without such lines. */
static bool interceptor_on_overwritten(void *ctx, const char *line, size_t len)
{
	struct interceptor *s = ctx;
	if (!s->judge)
		s->judge = preview_judge_new();
	if (!s->judge || !preview_judge_is_failure(s->judge, line, len))
		return false;
	intercept_resolve(s);
	return s->reader != &readers[INTERCEPT_PROGRAM];
}

/* With less room than this, in bytes, no text is printed at a pause. */
#define SHARE_LEAST ((size_t)256)

struct interceptor *interceptor_new(const struct interceptor_options *options,
				    const struct interceptor_events *events)
{
	struct interceptor *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	struct limit *l = &s->options.limit;
	s->options = *options;
	s->events = *events;
	s->reader = &readers[options->reader];
	if (options->reader != INTERCEPT_AGENT)
		s->events.resolve = NULL;
	s->options.exact &= options->reader == INTERCEPT_PROGRAM;
	s->raw_state = options->raw == INTERCEPT_RAW_NO ? RAW_OFF : RAW_HOLDING;
	if (l->failure_bytes == 0)
		l->failure_bytes = l->bytes;
	if (l->cut_bytes == 0) {
		l->cut_bytes = l->bytes;
		l->cut_ceiling = l->ceiling;
	}
	/* Mode head numbers lines from 1, which would be wrong after other text. */
	if (l->mode == MODE_HEAD && options->lines_before > 0)
		l->mode = MODE_ENDS;
	/* The preview holds the lines of the first part. This limit bounds its memory where lines
	   are very short. */
	size_t lines_most = limit_largest(l) / 8;
	if (intercept_is_by_head(s) && !l->count)
		l->count = lines_most > HEAD_LINES ? lines_most : HEAD_LINES;
	/* A text that is only a little too long is printed whole rather than cut. */
	s->most = limit_most(limit_largest(l));
	s->tally.unit = l->unit;
	/* Until the outcome is known, the smaller of the limits for success and failure applies. */
	size_t budget = limit_smallest(l), ceiling = limit_least_ceiling(l);
	size_t lines = l->count ? (size_t)l->count : SIZE_MAX;
	s->share = (struct share){.budget = share_budget(budget, ceiling),
				  .ceiling = ceiling,
				  .least = budget / 8 < SHARE_LEAST ? budget / 8 : SHARE_LEAST};
	s->line_share = (struct share){.budget = share_budget(lines, (size_t)l->line_ceiling),
				       .ceiling = (size_t)l->line_ceiling,
				       .least = 1};
	s->fits = s->ended_line = true;
	const struct terminal_events t = {.text = intercept_text,
					  .reply = interceptor_on_reply,
					  .stays = interceptor_on_overwritten,
					  .ctx = s};
	s->terminal = terminal_new(&options->terminal, &t);
	if (!s->terminal || buffer_reserve(&s->line, LINE_RESERVE) < 0 ||
	    buffer_reserve(&s->held, s->most < HELD_RESERVE ? s->most : HELD_RESERVE) < 0 ||
	    (s->reader->previews && !(s->preview = preview_new(&(struct preview_options){
					      .limit = *l, .bare = s->reader->reports})))) {
		interceptor_free(s);
		return NULL;
	}
	return s;
}

void interceptor_free(struct interceptor *s)
{
	if (!s)
		return;
	terminal_free(s->terminal);
	preview_free(s->preview);
	free(s->judge);
	buffer_release(&s->raw);
	buffer_release(&s->unjudged);
	buffer_release(&s->held);
	buffer_release(&s->line);
	buffer_release(&s->partial);
	buffer_release(&s->collected);
	free(s->shown.ranges);
	free(s);
}

void interceptor_spill(struct interceptor *s)
{
	if (s->artifact || !s->events.artifact)
		return;
	s->artifact = s->events.artifact(s->events.ctx);
	if (!s->artifact) {
		s->events.artifact = NULL;
		s->raw_state = RAW_OFF;
		buffer_release(&s->raw);
		return;
	}
	TRACE(PREVIEW, "%s is kept, with %zu bytes so far", PART_NAME(s), s->held.len);
	artifact_append(s->artifact, s->options.part, s->held.data, s->held.len);
	intercept_keep_raw(s, NULL, 0);
}

const struct buffer *interceptor_held(const struct interceptor *s)
{
	return s->finished && s->fits && !s->artifact ? &s->held : NULL;
}

/* Whether a reader waits for lines as they become complete. */
static bool interceptor_is_live(const struct interceptor *s)
{
	if (s->finished || s->state > BYTES_RENDERED)
		return false;
	bool wanted = s->reader->lines == LINES_ALL ||
		      (s->reader->lines == LINES_OF_OPENING && !s->opening_over);
	return s->followed || (!s->reported && wanted);
}

bool intercept_is_drawn(struct interceptor *s, int64_t now_ms)
{
	struct drawing *d = &s->drawing;
	uint64_t redraws = terminal_facts(s->terminal).redraws;
	bool hides = !terminal_facts(s->terminal).shows_cursor;
	if (redraws != d->redraws)
		d->redrawn_at = now_ms;
	if (hides && !d->hides)
		d->hidden_at = now_ms;
	d->redraws = redraws;
	d->hides = hides;
	return (redraws && now_ms - d->redrawn_at < INTERCEPT_SETTLE_DRAWN_MS) ||
	       (hides && now_ms - d->hidden_at < INTERCEPT_SETTLE_DRAWN_MS);
}

/* How often lines that may soon be final are checked. */
#define SETTLE_LOOK_MS 200

void interceptor_settle(struct interceptor *s, int64_t now_ms)
{
	int64_t plain_ms = s->options.settle_ms;
	s->settle_at = 0;
	if (!interceptor_is_live(s))
		return;
	bool drawn = intercept_is_drawn(s, now_ms);
	terminal_settle(s->terminal, now_ms, drawn ? INTERCEPT_SETTLE_DRAWN_MS : plain_ms,
			drawn ? INTERCEPT_SETTLE_DRAWN_MS : INTERCEPT_SETTLE_MS);
	if (terminal_lines(s->terminal) > terminal_settled(s->terminal))
		s->settle_at =
			now_ms + (drawn || !plain_ms || plain_ms > SETTLE_LOOK_MS ? SETTLE_LOOK_MS
										  : plain_ms);
}

void interceptor_follow(struct interceptor *s)
{
	s->followed = true;
}

void interceptor_settle_all(struct interceptor *s)
{
	if (interceptor_is_live(s) && !terminal_facts(s->terminal).redraws)
		terminal_commit(s->terminal);
}

void interceptor_finish(struct interceptor *s)
{
	if (s->finished)
		return;
	intercept_judge(s, true);
	if (s->state < BYTES_BINARY)
		terminal_finish(s->terminal);
	s->finished = true;
	if (s->fits && !s->reported && intercept_is_over(s, true))
		intercept_overflow(s);
	/* When an unfinished character was ended, it may have overwritten another one. Then the raw
	   bytes are wanted. */
	intercept_keep_raw(s, NULL, 0);
	if (s->artifact)
		artifact_set_live(s->artifact, s->options.part, NULL, 0);
}

void interceptor_cut(struct interceptor *s)
{
	interceptor_pause(s);
	terminal_cut(s->terminal);
}

void interceptor_update_live(struct interceptor *s)
{
	struct buffer pending = BUFFER_INIT;
	if (!s->artifact || s->state >= BYTES_BINARY || s->finished ||
	    terminal_facts(s->terminal).version == s->live_version)
		return;
	if (terminal_pending(s->terminal, &pending) == 0) {
		artifact_set_live(s->artifact, s->options.part, pending.data, pending.len);
		s->live_version = terminal_facts(s->terminal).version;
	}
	buffer_release(&pending);
}

struct terminal *interceptor_terminal(const struct interceptor *s)
{
	return s->terminal;
}

enum interceptor_reader interceptor_reader(struct interceptor *s)
{
	intercept_resolve(s);
	return (enum interceptor_reader)(s->reader - readers);
}

void interceptor_compare(struct interceptor *s, const struct fingerprints *success)
{
	if (s->preview && s->state != BYTES_BINARY)
		preview_compare(s->preview, success);
}

struct interceptor_facts interceptor_facts(const struct interceptor *s)
{
	const struct intercept_totals totals = intercept_totals(s);
	bool is_whole = s->fits && s->omitted == 0 && s->state != BYTES_BINARY;
	bool is_partial = s->reader->previews && !is_whole;
	bool folds = s->reader->previews && s->fits &&
		     progress_next(&s->progress, (size_t)s->printed, 0).end;
	return (struct interceptor_facts){
		.lines = totals.lines,
		.bytes = totals.bytes,
		.settled = s->text_bytes,
		.settle_due = s->settle_at,
		.shown = s->shown.ranges,
		.shown_count = s->shown.range_count,
		.is_binary = s->state >= BYTES_BINARY,
		.is_on_disk = s->reader == &readers[INTERCEPT_SILENT] && !s->fits && s->artifact,
		.is_holding = s->reader->previews && s->opening_over && s->printed < s->text_bytes,
		.is_previewed = s->preview && (is_partial || folds) && s->state != BYTES_BINARY &&
				s->options.limit.mode == MODE_SMART,
		.is_partial = is_partial,
		.fits = is_whole,
	};
}
