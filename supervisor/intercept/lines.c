// The text of one stream as the terminal makes it: to the live reader, into the held text, the
// artifact and the preview; and the printed part of a text that does not fit, with its notices.

#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/intercept/parts.h"
#include "supervisor/report/wording.h"

#include <string.h>

static bool shown_is_bare(const struct interceptor *s)
{
	return s->options.form == INTERCEPT_BARE;
}

struct marker {
	const struct wording_place *place;
	uint64_t lines_before;
	struct buffer *line; /* where it is measured */
};

static void make_marker(struct buffer *out, const struct preview_piece *piece,
			const struct marker *m)
{
	struct preview_piece of_all = *piece;
	of_all.from += m->lines_before;
	of_all.to += m->lines_before;
	wording_marker(out, &of_all, m->place);
}

/* Marker callback of preview_choose(): the same words that are printed. */
static size_t measure_marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	const struct marker *m = ctx;
	buffer_clear(m->line);
	make_marker(m->line, piece, m);
	if (buffer_check(m->line) < 0)
		return 0;
	memcpy(out, m->line->data, m->line->len < cap ? m->line->len : cap);
	return m->line->len;
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
	/* An unfinished line is ended, so that this one stands on its own. */
	if (!s->ended_line)
		intercept_print(s, "\n", 1);
	intercept_print(s, s->line.data, s->line.len);
}

/* Without memory for all of it at once. */
static void print_in_parts(struct interceptor *s, const char *data, size_t len,
			   enum guard_mode guard)
{
	struct buffer *part = intercept_line(s);
	/* A byte becomes three at most, or a guard stands before it. */
	size_t most = part->cap / 3;
	for (size_t n; len > 0; data += n, len -= n) {
		n = utf8_floor(data, len, len < most ? len : most);
		buffer_clear(part);
		guard_text(part, data, n, guard);
		intercept_print(s, part->data, part->len);
		guard = intercept_guard(s);
	}
}

static void print_guarded(struct interceptor *s, const char *data, size_t len,
			  enum guard_mode guard)
{
	if (guard_is_same(data, len, guard)) {
		intercept_print(s, data, len);
		return;
	}
	struct buffer clean = BUFFER_INIT;
	guard_text(&clean, data, len, guard);
	if (buffer_check(&clean) == 0)
		intercept_print(s, clean.data, clean.len);
	else
		print_in_parts(s, data, len, guard);
	buffer_release(&clean);
}

void intercept_print_text(struct interceptor *s, const char *data, size_t len)
{
	print_guarded(s, data, len, intercept_guard(s));
}

/* Prints text of a preview. */
static void print_text(struct interceptor *s, const struct preview_piece *piece)
{
	bool follows = piece->from == s->printed_lines + 1;
	size_t begun = follows ? intercept_go_on(s, piece->text, piece->len) : 0;
	enum guard_mode guard = intercept_guard(s);
	if (piece->marked && begun == 0 && guard == GUARD_LINE)
		guard = GUARD_INSIDE;
	print_guarded(s, piece->text + begun, piece->len - begun, guard);
}

static void print_piece(struct interceptor *s, const struct preview_piece *piece,
			const struct marker *marker)
{
	if (piece->kind == PREVIEW_TEXT)
		print_text(s, piece);
	else if (!shown_is_bare(s)) {
		make_marker(intercept_line(s), piece, marker);
		intercept_print_line(s);
	}
}

/* Takes down which lines a piece has shown. */
static int note_piece(struct interceptor *s, struct report_stream *report,
		      const struct preview_piece *piece)
{
	s->omits |= piece->kind == PREVIEW_GAP || piece->kind == PREVIEW_ALIKE;
	s->cuts |= piece->cut > 0;
	/* A person reads folded lines off the line before; a program needs ranges. */
	if (!report || piece->kind != PREVIEW_TEXT)
		return 0;
	report->lines_truncated += piece->cut;
	report->last_line_partial = piece->cut_last;
	return report_add_range(report, piece->from, piece->to);
}

/* The limit that stops the preview from showing more of the text. */
static enum limit_part what_limits(const struct interceptor *s, uint64_t cut)
{
	uint64_t shown = preview_shown(s->preview);
	if (s->ended)
		return s->ended->end == HEAD_COUNT ? LIMIT_COUNT : LIMIT_BYTES;
	if (shown == preview_lines(s->preview) && cut > 0 && preview_is_line_limited(s->preview))
		return LIMIT_CUT;
	/* Both limits are over, and that of lines leaves more room. */
	return s->broken == LIMIT_COUNT && shown < s->options.limit.count &&
			       preview_bytes(s->preview) > s->most
		       ? LIMIT_BYTES
		       : s->broken;
}

/* What the preview has to know of what was printed; `command` is put together for it. */
static struct preview_ask make_ask(const struct interceptor *s, struct marker *marker,
				   struct buffer *command)
{
	wording_read_some_bytes(command, marker->place);
	return (struct preview_ask){
		.command = command->len > 0 ? buffer_string(command) : NULL,
		.printed_bytes = s->printed,
		.printed_lines = s->printed_lines,
		.left_out = s->left_out,
		.left_out_count = s->left_out_count,
		.spelled = s->spelled,
		.used = s->share.printed,
		.paused = s->share.live,
		.used_lines = s->line_share.printed,
		.bytes_before = s->options.bytes_before,
		.marker = measure_marker,
		.ctx = marker,
	};
}

/* Takes down what a printed piece has left out. */
static void note_left_out(struct interceptor *s, const struct preview_piece *piece)
{
	note_piece(s, NULL, piece);
	if (piece->kind == PREVIEW_GAP)
		s->left_out[s->left_out_count++] = (struct preview_range){piece->from, piece->to};
}

/* Takes down the lines up to `last`, which are printed, but for those that were left out of them.
 */
static int note_printed(struct report_stream *report, uint64_t last,
			const struct preview_range *left_out, size_t count)
{
	uint64_t from = 1;
	for (size_t i = 0; i < count; i++) {
		const struct preview_range *gap = &left_out[i];
		if (gap->from > from && report_add_range(report, from, gap->from - 1) < 0)
			return -1;
		from = gap->to + 1;
	}
	return last >= from ? report_add_range(report, from, last) : 0;
}

bool intercept_print_last(struct interceptor *s, size_t bytes, size_t lines,
			  const struct wording_place *place)
{
	const struct preview_piece *pieces;
	struct marker marker = {place, s->options.lines_before, &s->line};
	struct buffer command = BUFFER_INIT;
	struct preview_ask ask = make_ask(s, &marker, &command);
	ask.is_pause = true;
	ask.total = s->share.printed + bytes;
	if (s->options.limit.count)
		ask.total_lines = s->line_share.printed + lines;
	int count = preview_choose(s->preview, &ask, &pieces);
	buffer_release(&command);
	/* There is no room for a line. */
	if (count == 0 || pieces[count - 1].kind == PREVIEW_GAP)
		return false;
	for (int i = 0; i < count; i++) {
		print_piece(s, &pieces[i], &marker);
		note_left_out(s, &pieces[i]);
		s->spelled |= pieces[i].spelled || pieces[i].cut > 0;
	}
	uint64_t whole;
	s->printed_lines = preview_whole_lines(s->preview, &whole);
	s->printed = whole;
	return true;
}

/* Less than that no preview has. */
#define END_LEAST ((size_t)64)

/* Behind the first part of a text, what is left of the budget is for its end. */
static void ask_for_end(const struct interceptor *s, struct preview_ask *ask)
{
	const struct limit *l = &s->options.limit;
	size_t used = s->ended->at.bytes, room = l->bytes > used ? l->bytes - used : 0;
	ask->used = ask->used_lines = ask->paused = 0;
	ask->budget = ask->total = room > END_LEAST ? room : END_LEAST;
	ask->total_lines = preview_reserve_lines(l->count);
}

int intercept_print_preview(struct interceptor *s, const struct interceptor_ending *e,
			    struct report_stream *report)
{
	const struct preview_piece *pieces;
	struct marker marker = {&e->place, s->options.lines_before, &s->line};
	struct buffer command = BUFFER_INIT;
	struct preview_ask ask = make_ask(s, &marker, &command);
	ask.status = s->failed;
	ask.budget = s->options.limit.bytes;
	ask.total = share_end(&s->share, ask.budget);
	if (s->options.limit.count)
		ask.total_lines = share_end(&s->line_share, (size_t)s->options.limit.count);
	if (s->ended)
		ask_for_end(s, &ask);
	uint64_t cut = 0;
	int result = 0, count = preview_choose(s->preview, &ask, &pieces);
	if (report)
		result = note_printed(report, s->printed_lines, s->left_out, s->left_out_count);
	for (int i = 0; i < count; i++) {
		print_piece(s, &pieces[i], &marker);
		cut += pieces[i].cut;
		if (result == 0)
			result = note_piece(s, report, &pieces[i]);
	}
	s->broken = what_limits(s, cut);
	if (report) {
		report->broken = s->broken;
		report->cuts = s->cuts;
		report->grouped = s->ended && head_is_grouped(s->ended);
		report->lines_truncated += s->ended ? s->ended->cut : 0;
	}
	buffer_release(&command);
	return result;
}

/* Takes down which lines the first part of a text has shown. */
static int note_head(struct report_stream *report, const struct head *h)
{
	const enum limit_part cut = head_grows(h) ? LIMIT_BYTES : LIMIT_CUT;
	const enum limit_part broken[] = {
		[HEAD_OPEN] = h->cut > 0 ? cut : LIMIT_LINE,
		[HEAD_COUNT] = LIMIT_COUNT,
		[HEAD_BYTES] = LIMIT_BYTES,
	};
	report->broken = broken[h->end];
	report->cuts = h->cut > 0 && !h->bare;
	report->grouped = head_is_grouped(h);
	report->lines_truncated = h->cut;
	report->last_line_partial = h->last_cut;
	return note_printed(report, h->at.lines, NULL, 0);
}

/* The most of a first part: after a failure it leaves room for what tells of it. */
static struct limit head_limit(const struct limit *l, size_t bytes, bool succeeded)
{
	struct limit limit = *l;
	bool leaves = !succeeded && !l->own_words;
	limit.bytes = bytes - (leaves ? preview_reserve(bytes) : 0);
	limit.count -= leaves ? preview_reserve_lines(l->count) : 0;
	return limit;
}

struct limit intercept_open_limit(const struct limit *l)
{
	return head_limit(l, limit_smallest(l), false);
}

static bool is_same_limit(const struct limit *a, const struct limit *b)
{
	return a->bytes == b->bytes && a->count == b->count;
}

/* Prints the rest of the first part that the outcome gets, and returns it. */
static const struct head *print_rest_of_head(struct interceptor *s)
{
	const struct limit *l = &s->options.limit, wanted = head_limit(l, l->bytes, s->succeeded);
	struct head *h = &s->head;
	struct buffer *text = &s->rest;
	size_t printed = 0;
	for (size_t i = 0; i < s->longer_count; i++) {
		if (!is_same_limit(&s->longer[i].head.limit, &wanted))
			continue;
		h = &s->longer[i].head;
		text = &s->longer[i].text;
		printed = s->common;
	}
	h->leaves_cut = !s->succeeded && s->preview;
	head_finish(h, text);
	if (text->len > printed)
		intercept_print(s, text->data + printed, text->len - printed);
	return h;
}

bool intercept_finish_head(struct interceptor *s)
{
	const struct head *h = s->ended = print_rest_of_head(s);
	if (s->succeeded || !s->preview || h->end == HEAD_OPEN)
		return false;
	s->printed = h->at.offset - s->options.bytes_before;
	s->printed_lines = h->at.lines;
	s->cuts |= h->cut > 0;
	return true;
}

int intercept_print_end_of_head(struct interceptor *s, const struct interceptor_ending *e,
				struct report_stream *report)
{
	static const enum wording_reason reasons[] = {
		[HEAD_OPEN] = WORDING_NOTHING_LEFT,
		[HEAD_COUNT] = WORDING_COUNT,
		[HEAD_BYTES] = WORDING_BYTES,
	};
	const struct head *h = s->ended;
	struct wording_head wording = {
		.reason = reasons[h->end],
		.limit = h->limit,
		.lines = h->at.lines,
		.units = h->at.units,
		.total_units = tally_units(&s->tally),
		.cut = h->cut,
		.grouped = head_is_grouped(h),
		.with_status = e->status_line == STATUS_LINE_ALWAYS,
	};
	bool partly = h->end != HEAD_OPEN || h->cut > 0 || wording.grouped;
	wording.limit.grow = head_grows(h);
	if (!shown_is_bare(s) && (partly || interceptor_is_worth_telling(e))) {
		if (partly)
			wording_head(intercept_line(s), &wording, &e->ending, &e->place);
		else
			wording_status(intercept_line(s), &e->ending, &e->place);
		intercept_print_line(s);
	}
	if (!shown_is_bare(s) && e->ending.state == WORDING_RUNNING) {
		wording_footer(intercept_line(s), &e->ending, &e->place);
		intercept_print_line(s);
	}
	return report ? note_head(report, h) : 0;
}

/* The text as it comes. */

void intercept_print(struct interceptor *s, const char *data, size_t len)
{
	if (len == 0)
		return;
	if (!intercept_is_collected(s))
		s->events.print(s->events.ctx, data, len);
	else if (buffer_try_append(&s->collected, data, len) < 0)
		s->lost = true;
	s->put += len;
	s->ended_line = data[len - 1] == '\n';
}

void intercept_resolve(struct interceptor *s)
{
	if (s->resolved)
		return;
	s->resolved = true;
	s->options.print = s->events.resolve(s->events.ctx);
	TRACE(PREVIEW, "the reader gets %s",
	      s->options.print == INTERCEPT_WHOLE ? "the whole text" : "a preview");
	if (s->options.print != INTERCEPT_WHOLE)
		return;
	if (s->held.len > s->printed)
		intercept_print(s, s->held.data + s->printed, s->held.len - s->printed);
	s->printed = s->held.len;
	preview_free(s->preview);
	s->preview = NULL;
}

/* The head's share of the lines that may be printed; 0: no limit. */
static uint64_t head_lines(const struct limit *l)
{
	uint64_t lines = l->count * l->head_share / 100;
	uint64_t most = l->count - preview_reserve_lines(l->count);
	if (lines > most)
		lines = most;
	return l->count && lines == 0 ? 1 : lines;
}

/* Whether a line is printed in any case. `run`, `lines`: bytes and lines before it that are. */
static bool is_of_head(struct interceptor *s, const char *line, size_t len, size_t run,
		       size_t lines)
{
	const struct limit *l = &s->options.limit;
	uint64_t most = head_lines(l);
	/* A program would get the bytes unchanged, so the reader has to be known. */
	if (!guard_is_same(line, len, s->head.guard) && (!intercept_is_by_head(s) || !s->resolved))
		return false;
	if (intercept_is_by_head(s))
		return head_take(&s->head, line, len);
	return s->share.printed + run + len <= preview_head_budget(s->preview) &&
	       len <= l->max_line && (!most || s->printed_lines + lines + 1 <= most);
}

/* How long the next run of whole lines is that may be printed already. */
static size_t next_head(struct interceptor *s, size_t *lines)
{
	size_t run = 0;
	*lines = 0;
	while (!s->head_closed) {
		size_t left = s->held.len - s->printed - run;
		if (left == 0)
			break;
		const char *line = s->held.data + s->printed + run;
		const char *end = memchr(line, '\n', left);
		if (!end)
			break;
		size_t len = (size_t)(end - line) + 1;
		if (!is_of_head(s, line, len, run, *lines))
			s->head_closed = true;
		else {
			run += len;
			(*lines)++;
		}
	}
	return run;
}

void intercept_print_head(struct interceptor *s)
{
	size_t lines;
	if (s->waits)
		return;
	size_t run = next_head(s, &lines);
	if (s->head_closed)
		intercept_resolve(s);
	if (s->options.print != INTERCEPT_PREVIEW)
		return;
	uint64_t put = s->put;
	size_t begun = run ? intercept_go_on(s, s->held.data + s->printed, run) : 0;
	if (run > begun)
		intercept_print_text(s, s->held.data + s->printed + begun, run - begun);
	s->printed += run;
	s->printed_lines += lines;
	s->share.printed += (size_t)(s->put - put);
	s->line_share.printed += lines;
}

/* More of a text that does not fit, in mode head. */
static void feed_head(struct interceptor *s, const char *data, size_t len)
{
	head_feed(&s->head, data, len, &s->rest);
	if (s->longer_count == 0 || !s->head.grown) {
		intercept_print(s, s->rest.data, s->rest.len);
		s->common += s->rest.len;
		buffer_clear(&s->rest);
	}
	s->head_closed = s->head.end != HEAD_OPEN;
	for (size_t i = 0; i < s->longer_count; i++)
		head_feed(&s->longer[i].head, data, len, &s->longer[i].text);
}

/* The outcome may allow more than is printed while it is open. */
static void start_longer(struct interceptor *s)
{
	const struct limit *l = &s->options.limit;
	const struct limit limits[] = {head_limit(l, l->bytes, true),
				       head_limit(l, l->cut_bytes, true),
				       head_limit(l, l->failure_bytes, false)};
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		size_t k = 0;
		while (k < i && !is_same_limit(&limits[k], &limits[i]))
			k++;
		if (k < i || is_same_limit(&limits[i], &s->head.limit))
			continue;
		struct longer *longer = &s->longer[s->longer_count++];
		longer->head = s->head;
		longer->head.limit = limits[i];
	}
}

void intercept_overflow(struct interceptor *s)
{
	s->fits = false;
	if (s->options.print == INTERCEPT_PREVIEW)
		s->broken = limit_broken_first(&s->options.limit, s->held.data, s->held.len);
	TRACE(PREVIEW, "%s is too long to be printed whole: %zu bytes held", PART_NAME(s),
	      s->held.len);
	s->head_closed = true;
	intercept_resolve(s);
	interceptor_spill(s);
	/* Whatever was printed before was in the form of the text. */
	if (s->waits && s->printed == 0 && intercept_is_by_head(s))
		s->head.form = grouping_find_form(s->held.data, s->held.len);
	s->waits = false;
	if (intercept_is_by_head(s))
		start_longer(s);
	if (intercept_is_by_head(s) && s->held.len > s->printed)
		feed_head(s, s->held.data + s->printed, s->held.len - s->printed);
	/* The text was asked for in full and can't be kept: the start is better than nothing. */
	if (s->artifact || !intercept_is_collected(s) || s->options.print == INTERCEPT_PREVIEW)
		buffer_release(&s->held);
}

/* How long the held text is when it is printed clean, where every invalid byte becomes three, with
   a guard for each line that needs one. The last bytes may be half a character or line end, unless
   this is the `end`. */
static size_t printed_size(struct interceptor *s, bool end)
{
	size_t len = s->held.len - s->counted, cut = 0;
	if (len == 0)
		return s->clean_len;
	const char *data = s->held.data + s->counted;
	if (end || !utf8_incomplete(data, len, &cut))
		cut = !end && data[len - 1] == '\r';
	s->clean_len += utf8_clean_len(data, len - cut);
	s->counted += len - cut;
	/* A line is looked at whole, once. */
	const char *newline = end ? s->held.data + s->held.len - 1 : memrchr(data, '\n', len - cut);
	if (newline && s->head.guard != GUARD_NONE) {
		const char *from = s->held.data + s->guarded, *to = newline + 1;
		size_t lines = (size_t)(to - from);
		s->clean_len +=
			guard_text_len(from, lines, s->head.guard) - utf8_clean_len(from, lines);
		s->guarded += lines;
	}
	return s->clean_len + cut;
}

bool intercept_is_over(struct interceptor *s, bool end)
{
	const struct limit *l = &s->options.limit;
	if (s->text_bytes > s->most || s->held.len > s->most)
		return true;
	if (s->options.print != INTERCEPT_PREVIEW)
		return false;
	return (l->count && tally_units(&s->tally) > l->count) ||
	       (l->longest_line && s->tally.longest > l->longest_line) ||
	       printed_size(s, end) > s->most;
}

/* Takes note of text for an agent. */
static void lines_measure(struct interceptor *s, const char *data, size_t len)
{
	if ((s->options.print != INTERCEPT_PREVIEW && !intercept_is_counted(s)) || s->reported)
		return;
	if (s->fits || intercept_is_counted(s))
		tally_feed(&s->tally, data, len);
	if (s->preview)
		preview_feed(s->preview, data, len);
}

/* The text of the terminal for a program; the start of it may have been passed on as it came. */
static void lines_print_text(struct interceptor *s, const char *data, size_t len)
{
	size_t skip = s->plain.passed < len ? s->plain.passed : len;
	s->plain.passed -= skip;
	intercept_print(s, data + skip, len - skip);
}

/* The reader gets the bytes, not the text; tracks where the terminal is in the unfinished line. */
static void lines_count_line(struct interceptor *s, const char *data, size_t len)
{
	const char *newline = memrchr(data, '\n', len);
	s->line_text = newline ? (size_t)(data + len - newline) - 1 : s->line_text + len;
}

static void lines_keep_last(struct interceptor *s, const char *data, size_t len)
{
	bool begins = s->text_bytes == 0 || s->ended_text;
	while (len > 0 && strchr("\n ", data[len - 1]))
		len--;
	const char *newline = len > 0 ? memrchr(data, '\n', len) : NULL;
	const char *line = newline ? newline + 1 : data;
	len -= (size_t)(line - data);
	if (len > 0 && (newline || begins))
		s->last_len = 0;
	size_t room = sizeof(s->last) - s->last_len;
	if (len > 0)
		memcpy(s->last + s->last_len, line, len < room ? len : room);
	s->last_len += len < room ? len : room;
}

void intercept_text(void *ctx, const char *data, size_t len)
{
	struct interceptor *s = ctx;
	lines_keep_last(s, data, len);
	s->text_bytes += len;
	if (len > 0)
		s->ended_text = data[len - 1] == '\n';
	lines_measure(s, data, len);
	if (s->artifact)
		artifact_append(s->artifact, s->options.part, data, len);
	if (s->is_plain)
		lines_count_line(s, data, len);
	else if (s->options.print == INTERCEPT_WHOLE && !s->reported)
		lines_print_text(s, data, len);
	if (!s->fits && !s->reported && intercept_is_by_head(s))
		feed_head(s, data, len);
	if (!s->fits || s->reported)
		return;

	bool was_whole = s->options.print == INTERCEPT_WHOLE;
	bool was_kept = s->artifact;
	size_t room = s->most - s->held.len;
	size_t take = len < room ? len : room;
	bool held = buffer_try_append(&s->held, data, take) == 0;
	if (!held)
		take = 0;
	if (s->options.print == INTERCEPT_PREVIEW)
		intercept_print_head(s);
	if (!held || intercept_is_over(s, false))
		intercept_overflow(s);
	if (!s->fits && !was_kept && s->artifact)
		artifact_append(s->artifact, s->options.part, data + take, len - take);
	if (!was_whole && s->options.print == INTERCEPT_WHOLE)
		intercept_print(s, data + take, len - take);
	if (!s->fits && intercept_is_by_head(s))
		feed_head(s, data + take, len - take);
}

void interceptor_skip(struct interceptor *s, const char *notice, size_t len, uint64_t bytes,
		      uint64_t newlines)
{
	interceptor_feed(s, notice, len);
	interceptor_pause(s);
	terminal_commit(s->terminal, terminal_lines(s->terminal));
	if (s->fits)
		intercept_overflow(s);
	s->text_bytes += bytes;
	if (s->preview)
		preview_skip(s->preview, bytes, newlines);
	if (intercept_is_counted(s))
		tally_skip(&s->tally, bytes, newlines);
	/* Lines behind are not the next ones. */
	s->head.cut_off = true;
	for (size_t i = 0; i < s->longer_count; i++)
		s->longer[i].head.cut_off = true;
}

void intercept_take_pending(struct interceptor *s)
{
	struct buffer pending = BUFFER_INIT;
	if (s->verbatim || s->binary || s->finished || terminal_pending(s->terminal, &pending) < 0)
		goto out;
	if (s->is_plain)
		intercept_finish_plain(s);
	else if (s->options.print == INTERCEPT_WHOLE)
		lines_print_text(s, pending.data, pending.len);
	else
		lines_measure(s, pending.data, pending.len);
	if (!s->fits && intercept_is_by_head(s))
		feed_head(s, pending.data, pending.len);
	if (s->fits && (buffer_try_append(&s->held, pending.data, pending.len) < 0 ||
			intercept_is_over(s, true)))
		intercept_overflow(s);
out:
	buffer_release(&pending);
}
