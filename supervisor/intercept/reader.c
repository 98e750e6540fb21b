// The readers: who gets a text as it comes, a first part, or a preview with its notices; and when
// an agent gets lines that are held back.

#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/intercept/internal.h"
#include "supervisor/report/wording.h"

#include <inttypes.h>
#include <string.h>

bool intercept_is_by_head(const struct interceptor *s)
{
	return s->reader->previews && s->options.limit.mode == MODE_HEAD;
}

enum guard_mode intercept_guard(const struct interceptor *s)
{
	return s->options.limit.own_words || s->reader->reports ? GUARD_NONE : GUARD_LINE;
}

void intercept_print(struct interceptor *s, const char *data, size_t len)
{
	if (len == 0)
		return;
	if (s->reader->along)
		s->events.print(s->events.ctx, data, len);
	else
		buffer_append(&s->collected, data, len);
	s->put += len;
	s->ended_line = data[len - 1] == '\n';
}

struct buffer *intercept_line(struct interceptor *s)
{
	buffer_clear(&s->line);
	return &s->line;
}

void intercept_print_line(struct interceptor *s)
{
	if (buffer_check(&s->line) < 0)
		return;
	/* Ends an unfinished line of the text first. */
	if (!s->ended_line)
		intercept_print(s, "\n", 1);
	intercept_print(s, s->line.data, s->line.len);
}

/* How the next text has to be guarded. The rest of an unfinished line gets no guard. */
static enum guard_mode guard_here(const struct interceptor *s)
{
	enum guard_mode guard = intercept_guard(s);
	return guard == GUARD_LINE && !s->ended_line ? GUARD_INSIDE : guard;
}

/* Prints text. `marked`: it begins with a mark of terse's own. */
static void print_text(struct interceptor *s, const char *data, size_t len, bool marked)
{
	enum guard_mode guard = guard_here(s);
	if (marked && guard == GUARD_LINE)
		guard = GUARD_INSIDE;
	if (guard_is_same(data, len, guard)) {
		intercept_print(s, data, len);
		return;
	}
	struct buffer clean = BUFFER_INIT;
	guard_text(&clean, data, len, guard);
	if (buffer_check(&clean) == 0) {
		intercept_print(s, clean.data, clean.len);
		buffer_release(&clean);
		return;
	}
	buffer_release(&clean);
	/* If there is no memory for all of it, prints it in parts. A byte becomes three at most,
	   guard included. */
	struct buffer *part = intercept_line(s);
	for (size_t n; len > 0; data += n, len -= n) {
		n = utf8_floor(data, len, len < part->cap / 3 ? len : part->cap / 3);
		buffer_clear(part);
		guard_text(part, data, n, guard);
		intercept_print(s, part->data, part->len);
		guard = guard_here(s);
	}
}

static void make_marker(struct interceptor *s, const struct preview_piece *piece,
			const struct wording_place *place)
{
	struct preview_piece of_all = *piece;
	of_all.from += s->options.lines_before;
	of_all.to += s->options.lines_before;
	wording_marker(intercept_line(s), &of_all, place);
}

struct marker {
	struct interceptor *s;
	const struct wording_place *place;
};

/* Callback of preview_choose(): measures a marker in the words that will be printed. */
static size_t measure_marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	const struct marker *m = ctx;
	const struct buffer *line = &m->s->line;
	make_marker(m->s, piece, m->place);
	if (buffer_check(line) < 0)
		return 0;
	memcpy(out, line->data, line->len < cap ? line->len : cap);
	return line->len;
}

/* Call it before the next line, `data`, is printed. Its start may have been printed at a pause:
   returns the number of bytes in that start. If the line has changed since, ends the printed start
   with a newline and returns 0. */
static size_t intercept_go_on(struct interceptor *s, const char *data, size_t len)
{
	size_t begun = s->partial.len;
	if (begun == 0)
		return 0;
	bool goes_on = !s->ended_line && len >= begun && memcmp(data, s->partial.data, begun) == 0;
	buffer_clear(&s->partial);
	if (!goes_on && !s->ended_line)
		intercept_print(s, "\n", 1);
	return goes_on ? begun : 0;
}

/* Prints the next `len` bytes of the held text; without its progress, unless `place` is NULL. */
static void print_held(struct interceptor *s, size_t len, const struct wording_place *place)
{
	const char *text = len ? s->held.data + s->printed : "", *end = text + len;
	size_t begun = intercept_go_on(s, text, len);
	/* Looks for progress from the first line whose start is not printed. */
	const char *next = begun ? memchr(text, '\n', len) : NULL;
	uint64_t number = s->printed_lines + 1 + (next ? 1 : 0);
	size_t at = s->printed + (next ? (size_t)(next - text) + 1 : begun);
	text += begun;
	while (place && place->id && s->left_out_count < PROGRESS_FOLDS) {
		const struct progress_fold f = progress_next(&s->progress, at, number);
		const char *left_out = s->held.data + f.at, *last = s->held.data + f.last;
		if (f.end == 0)
			break;
		struct preview_piece piece = {.kind = PREVIEW_ALIKE,
					      .from = f.first,
					      .to = f.last_number - 1,
					      .bytes = f.last - f.at,
					      .spelled = s->left_out_count == 0};
		print_text(s, text, (size_t)(left_out - text), false);
		make_marker(s, &piece, place);
		intercept_print_line(s);
		s->omitted++;
		s->left_out[s->left_out_count++] = (struct preview_range){piece.from, piece.to};
		text = last;
		at = f.last;
		number = f.last_number;
	}
	print_text(s, text, (size_t)(end - text), false);
}

/* Adds `lines` lines to the shares, and the bytes that were printed since s->put was `put`. */
static void held_take(struct interceptor *s, uint64_t put, uint64_t lines, bool omits)
{
	share_take(&s->share, (size_t)(s->put - put), omits);
	share_take(&s->line_share, (size_t)lines, omits);
}

/* Prints a piece, and notes which lines it has shown. */
static int print_piece(struct interceptor *s, const struct preview_piece *piece,
		       const struct wording_place *place, struct report_stream *report)
{
	s->omitted += piece->kind == PREVIEW_GAP || piece->kind == PREVIEW_ALIKE;
	s->cut += piece->cut;
	if (piece->kind == PREVIEW_TEXT) {
		bool follows = piece->from == s->printed_lines + 1;
		size_t begun = follows ? intercept_go_on(s, piece->text, piece->len) : 0;
		print_text(s, piece->text + begun, piece->len - begun, piece->marked && begun == 0);
	} else if (!s->reader->reports) {
		make_marker(s, piece, place);
		intercept_print_line(s);
	}
	if (!report || piece->kind != PREVIEW_TEXT)
		return 0;
	report->lines_truncated += piece->cut;
	report->last_line_partial = piece->cut_last;
	return report_add_range(report, piece->from, piece->to);
}

/* Makes a request to the preview: what was printed, and in `command` the words that a marker names.
   Both pointers are NULL if no markers are printed. */
static struct preview_ask make_ask(const struct interceptor *s, struct marker *marker,
				   struct buffer *command)
{
	if (command)
		wording_read_some_bytes(command, marker->place);
	return (struct preview_ask){
		.command = command && command->len > 0 ? buffer_string(command) : NULL,
		.printed_bytes = s->printed,
		.printed_lines = s->printed_lines,
		.left_out = s->left_out,
		.left_out_count = s->left_out_count,
		/* Lines of a first part are cut without a marker. */
		.spelled = s->left_out_count > 0 || (s->cut > 0 && !intercept_is_by_head(s)),
		.used = s->share.printed,
		.used_lines = s->line_share.printed,
		.bytes_before = s->options.bytes_before,
		.marker = measure_marker,
		.ctx = marker,
	};
}

/* Notes the lines up to `last` as shown, without those that were left out. */
static int note_printed(const struct interceptor *s, uint64_t last, struct report_stream *report)
{
	uint64_t from = 1;
	for (size_t i = 0; i < s->left_out_count; i++) {
		const struct preview_range *gap = &s->left_out[i];
		if (gap->from > from && report_add_range(report, from, gap->from - 1) < 0)
			return -1;
		from = gap->to + 1;
	}
	return last >= from ? report_add_range(report, from, last) : 0;
}

/* Prints the line at the end of a preview, which describes the whole text. `last`: the last line
   that is shown; `is_first`: the preview is the first part of the text. */
static void print_about_preview(struct interceptor *s, const struct interceptor_ending *e,
				uint64_t last, bool is_first)
{
	const struct limit *l = &s->options.limit;
	struct wording_ending ending = e->ending;
	const struct wording_head head = {
		.lines = last,
		.units = preview_facts(s->preview).shown,
		.total_units = tally_units(&s->tally),
		.cut = s->cut,
		.with_status = e->status_line == STATUS_LINE_ALWAYS,
	};
	ending.limit.grow |= limit_line(l, l->bytes) < l->max_line;
	ending.broken = s->broken;
	ending.omits = s->omitted > 0;
	ending.cuts = s->cut > 0;
	intercept_line(s);
	if (is_first && (ending.omits || ending.cuts))
		wording_head(&s->line, &head, &ending, &e->place);
	else if (is_first && interceptor_is_worth_telling(e))
		wording_status(&s->line, &ending, &e->place);
	if (!is_first || ending.state == WORDING_RUNNING)
		wording_footer(&s->line, &ending, &e->place);
	if (s->line.len > 0)
		intercept_print_line(s);
}

/* Prints the pieces of the preview that are not printed yet, with markers and the last line unless
   they go into a report. Stores the printed ranges in `report`. Returns 0, or -1 with ENOMEM. */
static int print_preview(struct interceptor *s, const struct interceptor_ending *e,
			 struct report_stream *report)
{
	const struct preview_piece *pieces;
	const struct limit *l = &s->options.limit;
	struct marker marker = {s, &e->place};
	struct buffer command = BUFFER_INIT;
	struct preview_ask ask = make_ask(s, &marker, &command);
	ask.status = s->outcome == INTERCEPT_FAILURE;
	ask.budget = l->bytes;
	/* In mode head the preview of a success is nothing but the first part of the text. */
	const bool by_head = intercept_is_by_head(s);
	ask.is_head = by_head && (s->outcome == INTERCEPT_SUCCESS || l->own_words);
	if (ask.is_head)
		ask.command = NULL;
	/* In mode head nothing is printed twice. */
	if (!by_head) {
		ask.total = share_end(&s->share, ask.budget);
		if (l->count)
			ask.total_lines = share_end(&s->line_share, (size_t)l->count);
	}
	uint64_t cut = s->cut, last = s->printed_lines;
	int count = preview_choose(s->preview, &ask, &pieces);
	int result = note_printed(s, last, report);
	bool folds = false;
	for (int i = 0; i < count; i++) {
		folds |= pieces[i].kind == PREVIEW_FOLD;
		if (pieces[i].kind == PREVIEW_TEXT)
			last = pieces[i].to;
		/* A first part needs no marker for the rest: the last line announces it. */
		if (ask.is_head && pieces[i].kind == PREVIEW_GAP)
			s->omitted++;
		else if (print_piece(s, &pieces[i], &e->place, report) < 0)
			result = -1;
	}
	buffer_release(&command);
	/* The last line names the limit that keeps the preview from showing more. */
	const struct preview_facts facts = preview_facts(s->preview);
	if (s->omitted == 0 && s->cut > cut && facts.is_line_limited)
		s->broken = LIMIT_CUT;
	else if (ask.is_head)
		s->broken = s->omitted && l->count && facts.shown >= l->count ? LIMIT_COUNT
									      : LIMIT_BYTES;
	/* The limit of lines has room left, so the limit of bytes is named. */
	else if (s->broken == LIMIT_COUNT && facts.shown < l->count &&
		 intercept_totals(s).bytes > s->most)
		s->broken = LIMIT_BYTES;
	report->broken = s->broken;
	bool is_whole = s->omitted == 0 && s->cut == 0 && !folds;
	if (!s->reader->reports)
		print_about_preview(s, e, last, ask.is_head || (by_head && is_whole));
	return result;
}

/* Text that is printed as it comes. */

void intercept_resolve(struct interceptor *s)
{
	if (!s->events.resolve)
		return;
	s->reader = &readers[s->events.resolve(s->events.ctx)];
	s->events.resolve = NULL;
	TRACE(PREVIEW, "the reader gets %s", s->reader->name);
	if (s->reader != &readers[INTERCEPT_PROGRAM])
		return;
	if (s->held.len > s->printed)
		intercept_print(s, s->held.data + s->printed, s->held.len - s->printed);
	s->printed = s->held.len;
	preview_free(s->preview);
	s->preview = NULL;
}

/* The lines of the held text that are printed next. */
struct run {
	size_t bytes, cost; /* as it is printed */
	uint64_t lines, units;
};

/* Whether there is room for a line before the outcome is known. A line that is too long for a
   preview to show whole may take only half of the room, or none if the length of lines is limited,
   as in mode head. With `all`, such a line counts as any other. */
static bool run_has_room(const struct interceptor *s, const struct run *r, const char *line,
			 size_t len, bool all)
{
	const struct limit most = preview_live_limit(s->preview);
	size_t used = s->share.printed + r->cost, room = most.bytes > used ? most.bytes - used : 0;
	if (!all && len - 1 > most.max_line)
		room = most.grow && most.mode != MODE_HEAD ? room / 2 : 0;
	if (guard_text(NULL, line, len, intercept_guard(s)) > room)
		return false;
	return !most.count || s->line_share.printed + r->units < most.count;
}

/* Whether the line at `at` waits until its run of progress ends. */
static bool progress_withholds(const struct progress *c, size_t at)
{
	for (size_t i = 0; i < c->fold_count; i++) {
		if (at >= c->folds[i].at && at < c->folds[i].end)
			return true;
	}
	return false;
}

void intercept_print_lines(struct interceptor *s, const struct wording_place *all)
{
	struct run run = {0};
	bool by_head = intercept_is_by_head(s), stopped = false;
	while (all || !s->opening_over) {
		size_t at = s->printed + run.bytes, left = s->held.len - at;
		const char *line = s->held.data + at, *end = left ? memchr(line, '\n', left) : NULL;
		if (!end)
			break;
		size_t len = (size_t)(end - line) + 1;
		/* An agent gets this line with a guard, a program without one, so the line waits
		   until the reader is known. */
		bool is_open = s->events.resolve && !guard_is_same(line, len, intercept_guard(s));
		if (all)
			stopped = by_head && !run_has_room(s, &run, line, len, true);
		else
			stopped = is_open || progress_withholds(&s->progress, at) ||
				  !run_has_room(s, &run, line, len, false);
		if (stopped)
			break;
		run.bytes += len;
		run.cost += guard_text(NULL, line, len, intercept_guard(s));
		run.lines++;
		run.units += limit_counts(s->options.limit.unit, line, len - 1);
	}
	s->opening_over =
		all ? stopped || (s->opening_over && !by_head) : s->opening_over || stopped;
	if (!all && s->opening_over)
		intercept_resolve(s);
	if (!s->reader->previews)
		return;
	uint64_t put = s->put;
	if (run.bytes > 0)
		print_held(s, run.bytes, all);
	s->printed += run.bytes;
	s->printed_lines += run.lines;
	if (all) {
		held_take(s, put, run.units, false);
	} else {
		s->share.printed += (size_t)(s->put - put);
		s->line_share.printed += run.units;
	}
}

/* Mode head: prints the complete lines of the first part that are shown whatever the outcome is. */
static void print_first_lines(struct interceptor *s)
{
	const struct preview_piece *pieces;
	const struct limit live = preview_live_limit(s->preview);
	struct preview_ask ask = make_ask(s, NULL, NULL);
	ask.is_pause = ask.is_head = true;
	ask.budget = limit_smallest(&s->options.limit);
	ask.total = live.bytes;
	ask.total_lines = live.count;
	uint64_t put = s->put;
	int count = preview_choose(s->preview, &ask, &pieces);
	for (int i = 0; i < count && pieces[i].kind == PREVIEW_TEXT; i++) {
		print_piece(s, &pieces[i], NULL, NULL);
		s->printed += pieces[i].bytes;
		s->printed_lines = pieces[i].to;
	}
	/* Stops if not even one line fits, though more than one waits. */
	s->opening_over = s->put == put && tally_lines(&s->tally) > s->printed_lines + 1;
	s->share.printed += (size_t)(s->put - put);
	s->line_share.printed = (size_t)preview_facts(s->preview).shown;
}

void intercept_pass_on(struct interceptor *s, const char *data, size_t len)
{
	if (!s->fits && intercept_is_by_head(s)) {
		preview_feed_head(s->preview, data, len);
		if (!s->opening_over && s->tally.lines > s->printed_lines)
			print_first_lines(s);
	}
	if (s->reader == &readers[INTERCEPT_PROGRAM] && s->state != BYTES_PASSED)
		intercept_print(s, data, len);
}

bool interceptor_is_worth_telling(const struct interceptor_ending *e)
{
	bool failed = e->ending.exit_code != 0;
	if (e->ending.background || e->is_second)
		return e->ending.background;
	return e->status_line == STATUS_LINE_ALWAYS || e->ending.prompt || e->ending.hung_up ||
	       e->ending.picture || (e->status_line == STATUS_LINE_FAILURE && failed) ||
	       e->ending.timed_out || e->ending.state != WORDING_ENDED;
}

void interceptor_report(struct interceptor *s, const struct interceptor_ending *given)
{
	struct interceptor_ending e = *given;
	intercept_end_text(s, &e.ending);
	const struct intercept_totals totals = intercept_totals(s);
	e.ending.lines = s->options.lines_before + totals.lines + e.lines_behind;
	e.ending.bytes = s->options.bytes_before + totals.bytes + e.bytes_behind;
	e.ending.limit = s->options.limit;
	e.ending.picture = terminal_facts(s->terminal).is_pictured;
	TRACE(PREVIEW, "%s ends: %" PRIu64 " bytes, %s, for a reader of %s", PART_NAME(s),
	      e.ending.bytes,
	      s->state >= BYTES_BINARY ? "binary"
	      : s->fits                ? "not too long"
				       : "too long",
	      s->reader->name);
	if (!s->reader->previews)
		return;
	if (s->state == BYTES_BINARY) {
		wording_binary(intercept_line(s), &e.ending, s->kind, &e.place);
		intercept_print_line(s);
		return;
	}
	if (!s->fits) {
		print_preview(s, &e, &s->shown);
		return;
	}
	/* Prints the rest of a text that fits. A program gets it unchanged. */
	size_t len = s->held.len - s->printed;
	const char *rest = len ? s->held.data + s->printed : "";
	bool announced = interceptor_is_worth_telling(&e);
	if (announced || !guard_is_same(rest, len, guard_here(s)))
		intercept_resolve(s);
	if (s->reader->previews) {
		print_held(s, len, &e.place);
		e.ending.omits = s->omitted > 0;
		announced |= e.ending.omits;
		/* If the run was interrupted, its reader may not have read all of the text, so the
		   last line names the artifact. */
		if (announced && (e.ending.omits || e.ending.state != WORDING_ENDED))
			wording_footer(intercept_line(s), &e.ending, &e.place);
		else if (announced)
			wording_status(intercept_line(s), &e.ending, &e.place);
		if (announced)
			intercept_print_line(s);
		note_printed(s, totals.lines, &s->shown);
	}
}

int interceptor_collect(struct interceptor *s, const struct interceptor_ending *e,
			struct report_stream *out)
{
	int result = 0;
	intercept_end_text(s, &e->ending);
	out->limit = s->options.limit;
	const struct intercept_totals totals = intercept_totals(s);
	out->total_bytes = totals.bytes;
	out->binary = s->state == BYTES_BINARY;
	out->total_lines = out->binary ? 0 : totals.lines;
	if (out->binary) {
		buffer_clear(&s->collected);
		out->kind = s->kind;
	} else if (s->fits) {
		print_held(s, s->held.len - s->printed, NULL);
		result = note_printed(s, out->total_lines, out);
	} else if (s->reader->previews) {
		result = print_preview(s, e, out);
	} else if (!s->artifact && s->held.len > 0) {
		/* The text could not be kept, so the held start of it is all there is: its whole
		   lines, or a part of the first one. */
		struct tally shown = {.unit = UNIT_LINES};
		const char *last = memrchr(s->held.data, '\n', s->held.len);
		size_t len = last ? (size_t)(last - s->held.data) + 1
				  : utf8_floor(s->held.data, s->held.len, s->held.len - 1);
		tally_feed(&shown, s->held.data, len);
		print_text(s, s->held.data, len, false);
		out->broken = LIMIT_BYTES;
		out->last_line_partial = !last;
		out->lines_truncated = !last;
		result = report_add_range(out, 1, tally_lines(&shown));
	}
	if (buffer_check(&s->collected) < 0)
		result = -1;
	out->text = s->collected;
	out->text.failed = false;
	s->collected = (struct buffer)BUFFER_INIT;
	return result;
}

/* Text that is held back from an agent, and is printed before the end: see enum
   interceptor_moment. */

/* When new lines are to be printed; 0: there are none. */
static int64_t lines_due(const struct pause *p)
{
	int64_t at = p->line_at + PAUSE_MS;
	if (!p->is_fresh)
		return 0;
	return at > p->not_before ? at : p->not_before;
}

/* Whether no new line has come for the length of a pause. */
static bool pause_is_quiet(const struct pause *p, int64_t now_ms)
{
	int64_t due = lines_due(p);
	return due && now_ms >= due;
}

size_t share_budget(size_t budget, size_t ceiling)
{
	return ceiling ? size_min(budget, ceiling - ceiling / 3) : budget;
}

/* The most that may be printed in total. However many heartbeats there were, half of a budget is
   left for the preview. */
static size_t share_most(const struct share *s, size_t budget)
{
	size_t most = budget < SIZE_MAX - budget / 2 ? budget + budget / 2 : SIZE_MAX;
	size_t below = s->ceiling > s->notices ? s->ceiling - s->notices : 0;
	if (s->ceiling == 0 || below >= most)
		return most;
	size_t least = size_min(s->printed + s->budget / 2, s->ceiling);
	return size_min(most, size_max(below, least));
}

size_t share_whole(const struct share *s)
{
	if (s->budget == SIZE_MAX)
		return SIZE_MAX;
	return share_most(s, s->budget) - s->budget / 2;
}

size_t share_tail(const struct share *s, bool words)
{
	size_t whole = share_whole(s), share = s->budget / 2;
	size_t left = share > s->tails ? share - s->tails : 0;
	size_t most = whole > s->printed ? whole - s->printed : 0;
	size_t room = size_min(words || left / 2 < s->least ? left : left / 2, most);
	return room < s->least ? 0 : room;
}

size_t share_end(const struct share *s, size_t budget)
{
	if (budget == SIZE_MAX)
		return SIZE_MAX;
	size_t most = share_most(s, budget), half = budget / 2;
	return size_min(budget + size_min(s->live, half), most);
}

void share_take(struct share *s, size_t printed, bool omits)
{
	s->printed += printed;
	s->live += printed;
	if (omits)
		s->tails += printed;
}

/* An unfinished line that is longer than this is not a question. */
#define PARTIAL_MAX ((size_t)160)

/* While lines may still change, they are checked again after this many ms. */
#define LOOK_MS 500

/* Whether the reader waits and does not get every line as it comes. */
static bool held_has_reader(const struct interceptor *s)
{
	return s->reader->previews && s->reader->along && !s->reported && !s->finished &&
	       s->state < BYTES_BINARY;
}

void interceptor_came(struct interceptor *s, int64_t now_ms)
{
	struct pause *p = &s->pause;
	uint64_t lines = terminal_lines(s->terminal);
	if (held_has_reader(s)) {
		p->is_touched = true;
		p->byte_at = now_ms;
		if (lines > p->lines) {
			p->lines = lines;
			p->is_fresh = true;
			p->line_at = now_ms;
		}
	}
	if (!s->settle_at)
		interceptor_settle(s, now_ms);
}

int64_t interceptor_pause_due(const struct interceptor *s)
{
	const struct pause *p = &s->pause;
	int64_t lines = lines_due(p), bytes = p->is_touched ? p->byte_at + PAUSE_MS : 0;
	if (!held_has_reader(s))
		return 0;
	return lines && (!bytes || lines < bytes) ? lines : bytes;
}

static bool held_is_settled(const struct interceptor *s)
{
	return terminal_settled(s->terminal) >= terminal_lines(s->terminal);
}

/* The held text that is not printed yet, up to its last newline. */
static size_t held_lines_len(const struct interceptor *s)
{
	size_t left = s->held.len - s->printed;
	const char *data = s->held.data + s->printed;
	const char *last = left ? memrchr(data, '\n', left) : NULL;
	return last ? (size_t)(last - data) + 1 : 0;
}

/* Whether more lines are held than may be printed before the end. */
static bool held_is_over(const struct interceptor *s)
{
	size_t len = held_lines_len(s);
	const char *line = s->held.data + s->printed, *end = line + len;
	size_t cost = guard_text(NULL, line, len, intercept_guard(s));
	uint64_t units = 0;
	for (const char *next; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		units += limit_counts(s->options.limit.unit, line, (size_t)(next - line));
	}
	return s->share.printed + cost > share_whole(&s->share) ||
	       s->line_share.printed + units > share_whole(&s->line_share);
}

bool interceptor_begin_print(struct interceptor *s, enum interceptor_moment moment, int64_t now_ms)
{
	if (!held_has_reader(s))
		return false;
	interceptor_pause(s);
	if (s->state == BYTES_UNJUDGED || s->state >= BYTES_BINARY) {
		/* Nothing can be printed before more comes. */
		s->pause.is_fresh = s->pause.is_touched = false;
		return false;
	}
	bool is_due = moment != INTERCEPT_PAUSE || pause_is_quiet(&s->pause, now_ms);
	if (is_due && intercept_is_drawn(s, now_ms))
		terminal_settle(s->terminal, now_ms, INTERCEPT_SETTLE_DRAWN_MS,
				INTERCEPT_SETTLE_DRAWN_MS);
	else if (is_due)
		terminal_commit(s->terminal);
	intercept_resolve(s);
	if (!held_has_reader(s))
		return false;
	if (s->fits && !intercept_is_by_head(s) && held_is_over(s))
		intercept_overflow(s);
	return true;
}

/* Prints the unfinished line if it may be a question and every line before it is printed. Leaves
   out an incomplete character at its end. Prints nothing of a line that begins like one of terse's
   own. */
static void held_print_partial(struct interceptor *s)
{
	struct buffer line = BUFFER_INIT;
	uint64_t put = s->put;
	size_t cut;
	s->pause.is_touched = false;
	bool is_next = held_is_settled(s) && s->partial.len == 0 && s->printed >= s->text_bytes &&
		       s->line_text == 0 && !intercept_is_by_head(s);
	if (!is_next || terminal_facts(s->terminal).is_alternate ||
	    terminal_pending(s->terminal, &line) < 0)
		goto out;
	if (utf8_incomplete(line.data, line.len, &cut))
		buffer_truncate(&line, line.len - cut);
	if (line.len == 0 || line.len > PARTIAL_MAX || memchr(line.data, '\n', line.len) ||
	    strspn(buffer_string(&line), " \t\r") == line.len ||
	    (!s->options.limit.own_words && guard_may_be_needed(line.data, line.len)))
		goto out;
	size_t most = s->fits ? share_whole(&s->share) : share_tail(&s->share, true);
	size_t used = s->fits ? s->share.printed : 0;
	if (most > utf8_clean(NULL, line.data, line.len) + used &&
	    buffer_try_append(&s->partial, line.data, line.len) == 0) {
		print_text(s, line.data, line.len, false);
		held_take(s, put, 0, !s->fits);
	}
out:
	buffer_release(&line);
}

/* For a text that does not fit: prints the new complete lines, or a marker and the last of them.
   Returns whether there was room for a line. */
static bool held_print_last(struct interceptor *s, bool words, const struct wording_place *place)
{
	const struct preview_piece *pieces;
	struct marker marker = {s, place};
	struct buffer command = BUFFER_INIT;
	size_t bytes = share_tail(&s->share, words), lines = share_tail(&s->line_share, words);
	uint64_t put = s->put;
	if (bytes == 0 || lines == 0 || s->left_out_count == LEFT_OUT_MAX)
		return false;
	struct preview_ask ask = make_ask(s, &marker, &command);
	ask.is_pause = true;
	ask.total = s->share.printed + bytes;
	if (s->options.limit.count)
		ask.total_lines = s->line_share.printed + lines;
	int count = preview_choose(s->preview, &ask, &pieces);
	buffer_release(&command);
	if (count == 0 || pieces[count - 1].kind == PREVIEW_GAP)
		return false;
	for (int i = 0; i < count; i++) {
		print_piece(s, &pieces[i], place, NULL);
		if (pieces[i].kind == PREVIEW_GAP)
			s->left_out[s->left_out_count++] =
				(struct preview_range){pieces[i].from, pieces[i].to};
	}
	const struct preview_facts facts = preview_facts(s->preview);
	s->printed_lines = facts.whole_lines;
	s->printed = facts.whole_bytes;
	held_take(s, put, facts.shown - s->line_share.printed, true);
	return true;
}

bool interceptor_print_held(struct interceptor *s, enum interceptor_moment moment, int64_t now_ms,
			    const struct wording_place *place)
{
	struct pause *p = &s->pause;
	bool room = true;
	if (moment != INTERCEPT_PAUSE || pause_is_quiet(p, now_ms)) {
		TRACE(PREVIEW, "%s: what is held back is printed, after %" PRIu64 " bytes",
		      PART_NAME(s), s->text_bytes);
		bool words = moment == INTERCEPT_LAST_WORDS;
		/* In mode head nothing is printed here once the text does not fit. If the run is
		   about to end, its last line names the ID, so no heartbeat is needed. */
		if (s->fits && held_lines_len(s) > 0)
			intercept_print_lines(s, place);
		else if (!s->fits && intercept_is_by_head(s))
			room = words;
		else if (!s->fits && preview_facts(s->preview).whole_lines > s->printed_lines)
			room = held_print_last(s, words, place);
		p->is_fresh = false;
		if (!s->fits) {
			p->distance = p->distance ? 2 * p->distance : PAUSE_DISTANCE_MS;
			p->not_before = now_ms + p->distance;
		}
		/* Soon checks the lines again that may still change. */
		if (!held_is_settled(s)) {
			p->is_fresh = true;
			if (p->not_before < now_ms + LOOK_MS)
				p->not_before = now_ms + LOOK_MS;
		}
	}
	if (now_ms >= p->byte_at + PAUSE_MS || moment == INTERCEPT_LAST_WORDS)
		held_print_partial(s);
	return room;
}

const struct reader readers[] = {
	[INTERCEPT_PERSON] = {.name = "nothing", .along = true},
	[INTERCEPT_AGENT] = {.name = "a preview",
			     .previews = true,
			     .along = true,
			     .lines = LINES_OF_OPENING},
	[INTERCEPT_PROGRAM] = {.name = "the whole text", .along = true, .lines = LINES_ALL},
	[INTERCEPT_COLLECTED] = {.name = "a preview in a report",
				 .previews = true,
				 .reports = true},
	[INTERCEPT_SILENT] = {.name = "the whole text in a report", .reports = true},
};
