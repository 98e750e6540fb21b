// See interceptor.h.

#include "supervisor/intercept/interceptor.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"
#include "supervisor/intercept/head.h"
#include "supervisor/intercept/plain.h"
#include "supervisor/intercept/raw.h"
#include "supervisor/intercept/sniff.h"
#include "supervisor/intercept/tally.h"
#include "supervisor/preview/preview.h"

#include <stdlib.h>
#include <string.h>

struct interceptor {
	struct interceptor_options options;
	struct interceptor_events events;
	struct terminal *terminal;
	struct preview *preview;   /* NULL unless a preview may be printed, and in mode head */
	struct artifact *artifact; /* NULL until the text spilled */
	struct raw raw;

	struct buffer sniff; /* the first bytes, until they are judged */
	bool judged;
	bool binary;
	struct plain plain; /* for a program or file behind a pipe, while nothing has redrawn: */
	bool is_plain;      /* it gets the bytes, not the terminal's text */
	size_t line_text;   /* of the unfinished line: what the terminal has let go */
	bool held_return;   /* the last byte was a CR: what follows decides */
	bool verbatim;      /* what comes is text as it is: not rendered */

	uint64_t raw_bytes, text_bytes;
	struct tally tally; /* of the text, for an agent: while it fits, in mode head always */
	struct head head;   /* what an agent gets in mode head */
	size_t most;        /* a text up to this many bytes is printed whole */
	struct buffer held; /* the text so far, while it is within the limit */
	size_t counted;     /* bytes of it, up to the end of a character ... */
	size_t clean_len;   /* ... and how many they are when they are printed clean */
	bool fits;

	/* The live reader: bytes and lines of the text that are printed. */
	size_t printed, printed_lines;
	size_t shown; /* bytes printed for them, after cleaning */
	bool head_closed;
	bool resolved;
	const char *kind; /* of binary output, or NULL */
	bool ended_line;  /* the last byte printed was a newline */
	bool finished;    /* nothing is left in the terminal */
	bool reported;

	uint64_t committed, mark; /* lines; see interceptor_settle() */
	uint64_t live_version;    /* of the terminal, when the artifact's end was written */
	bool spill_failed;
};

static void on_text(void *ctx, const char *data, size_t len);

static void on_reply(void *ctx, const char *data, size_t len)
{
	struct interceptor *s = ctx;
	if (s->events.reply)
		s->events.reply(s->events.ctx, data, len);
}

/* No more lines than units are allowed: of whatever is counted there are then not too many. */
static struct preview_options make_preview_options(const struct limit *l)
{
	return (struct preview_options){.mode = (enum preview_mode)l->mode,
					.budget = l->bytes,
					.head_share = l->head_share,
					.max_line = l->max_line,
					.max_lines = l->count};
}

/* Whether the text is shown by its first part if it does not fit. */
static bool is_by_head(const struct interceptor *s)
{
	return s->options.print == INTERCEPT_PREVIEW && s->options.limit.mode == MODE_HEAD;
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
	s->most = options->limit.bytes + options->limit.bytes * 15 / 100;
	s->tally.unit = options->limit.unit;
	s->tally.by_line = options->limit.longest_line > 0;
	s->head.limit = options->limit;
	s->fits = true;
	s->ended_line = true;
	s->is_plain = options->exact && options->print == INTERCEPT_WHOLE;
	s->resolved = options->print != INTERCEPT_PREVIEW || !events->resolve;
	const struct terminal_events t = {.text = on_text, .reply = on_reply, .ctx = s};
	s->terminal = terminal_new(&options->terminal, &t);
	if (!s->terminal)
		goto fail;
	if (options->print == INTERCEPT_PREVIEW && options->limit.mode != MODE_HEAD) {
		const struct preview_options preview = make_preview_options(&options->limit);
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
	plain_release(&s->plain);
	raw_release(&s->raw);
	buffer_release(&s->sniff);
	buffer_release(&s->held);
	free(s);
}

static void print(struct interceptor *s, const char *data, size_t len)
{
	if (len == 0)
		return;
	s->events.print(s->events.ctx, data, len);
	s->ended_line = data[len - 1] == '\n';
}

/* Prints text for a reader that is no terminal and no program: only clean
   characters. Returns the bytes printed. */
static size_t print_clean(struct interceptor *s, const char *data, size_t len)
{
	if (utf8_all_clean(data, len)) {
		print(s, data, len);
		return len;
	}
	struct buffer clean = BUFFER_INIT;
	size_t n = 0;
	if (utf8_clean(&clean, data, len) == 0) {
		n = clean.len;
		print(s, clean.data, clean.len);
	}
	buffer_release(&clean);
	return n;
}

/* It begins to matter who reads: asks once. When it is a program after all, it gets everything. */
static void resolve(struct interceptor *s)
{
	if (s->resolved)
		return;
	s->resolved = true;
	s->options.print = s->events.resolve(s->events.ctx);
	if (s->options.print != INTERCEPT_WHOLE)
		return;
	if (s->held.len > s->printed)
		print(s, s->held.data + s->printed, s->held.len - s->printed);
	s->printed = s->held.len;
	preview_free(s->preview);
	s->preview = NULL;
}

void interceptor_spill(struct interceptor *s)
{
	if (s->artifact || s->spill_failed)
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

/* The head's share of the lines that may be printed; 0: no limit. */
static uint64_t head_lines(const struct limit *l)
{
	uint64_t lines = l->count * l->head_share / 100;
	return l->count && lines == 0 ? 1 : lines;
}

/* Whether a line is part of what is printed in any case. `run`, `lines`: bytes and lines before it
   that are. */
static bool is_of_head(struct interceptor *s, const char *line, size_t len, size_t run,
		       size_t lines)
{
	const struct limit *l = &s->options.limit;
	uint64_t most = head_lines(l);
	/* A program would get the bytes as they are: who reads has to be known. */
	if (!utf8_all_clean(line, len) && (!is_by_head(s) || !s->resolved))
		return false;
	if (is_by_head(s))
		return head_take(&s->head, line, len);
	return s->shown + run + len <= preview_head_budget(s->preview) && len <= l->max_line &&
	       (!most || s->printed_lines + lines + 1 <= most);
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

static void print_head(struct interceptor *s)
{
	size_t lines;
	size_t run = next_head(s, &lines);
	if (s->head_closed)
		resolve(s);
	if (s->options.print != INTERCEPT_PREVIEW)
		return;
	if (run > 0)
		print_clean(s, s->held.data + s->printed, run);
	s->printed += run;
	s->shown += run;
	s->printed_lines += lines;
}

/* More of a text that does not fit, in mode head. */
static void feed_head(struct interceptor *s, const char *data, size_t len)
{
	struct buffer out = BUFFER_INIT;
	head_feed(&s->head, data, len, &out);
	print(s, out.data, out.len);
	buffer_release(&out);
	s->head_closed = s->head.end != HEAD_OPEN;
}

/* The text is longer than what is printed whole: it goes to disk, and of what
   the reader gets only the head is settled. */
static void overflow(struct interceptor *s)
{
	s->fits = false;
	s->head_closed = true;
	resolve(s);
	interceptor_spill(s);
	if (is_by_head(s) && s->held.len > s->printed)
		feed_head(s, s->held.data + s->printed, s->held.len - s->printed);
	buffer_release(&s->held);
}

/* How long the held text is when it is printed clean, where every invalid byte becomes three. The
   last bytes may be half a character, unless this is the `end`. */
static size_t printed_size(struct interceptor *s, bool end)
{
	size_t len = s->held.len - s->counted, cut = 0;
	if (len == 0)
		return s->clean_len;
	const char *data = s->held.data + s->counted;
	if (end || !utf8_incomplete(data, len, &cut))
		cut = 0;
	s->clean_len += utf8_clean_len(data, len - cut);
	s->counted += len - cut;
	return s->clean_len + cut;
}

static bool is_over(struct interceptor *s, bool end)
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
static void measure(struct interceptor *s, const char *data, size_t len)
{
	if (s->options.print != INTERCEPT_PREVIEW || s->reported)
		return;
	if (s->fits || is_by_head(s))
		tally_feed(&s->tally, data, len);
	if (s->preview)
		preview_feed(s->preview, data, len);
}

/* The text of the terminal for a program; the start of it may have been passed on as it came. */
static void print_text(struct interceptor *s, const char *data, size_t len)
{
	size_t skip = s->plain.passed < len ? s->plain.passed : len;
	s->plain.passed -= skip;
	print(s, data + skip, len - skip);
}

/* Text that is not printed since its bytes are: where the terminal is in the unfinished line. */
static void count_line(struct interceptor *s, const char *data, size_t len)
{
	const char *newline = memrchr(data, '\n', len);
	s->line_text = newline ? (size_t)(data + len - newline) - 1 : s->line_text + len;
}

static void on_text(void *ctx, const char *data, size_t len)
{
	struct interceptor *s = ctx;
	s->text_bytes += len;
	measure(s, data, len);
	if (s->artifact)
		artifact_append(s->artifact, s->options.part, data, len);
	if (s->is_plain)
		count_line(s, data, len);
	else if (s->options.print == INTERCEPT_WHOLE && !s->reported)
		print_text(s, data, len);
	if (!s->fits && !s->reported && is_by_head(s))
		feed_head(s, data, len);
	if (!s->fits || s->reported)
		return;

	bool was_whole = s->options.print == INTERCEPT_WHOLE;
	bool was_kept = s->artifact;
	size_t room = s->most - s->held.len;
	size_t take = len < room ? len : room;
	bool held = buffer_append(&s->held, data, take) == 0;
	if (!held)
		take = 0;
	if (s->options.print == INTERCEPT_PREVIEW)
		print_head(s);
	if (!held || is_over(s, false))
		overflow(s);
	if (!s->fits && !was_kept && s->artifact)
		artifact_append(s->artifact, s->options.part, data + take, len - take);
	if (!was_whole && s->options.print == INTERCEPT_WHOLE)
		print(s, data + take, len - take);
	if (!s->fits && is_by_head(s))
		feed_head(s, data + take, len - take);
}

static void on_plain(void *ctx, const char *data, size_t len)
{
	print(ctx, data, len);
}

/* Bytes that look the same on a terminal as they are. */
static void pass_plain(struct interceptor *s, const char *data, size_t len)
{
	terminal_feed(s->terminal, data, len);
	plain_feed(&s->plain, data, len, on_plain, s);
}

static void finish_plain(struct interceptor *s)
{
	if (s->held_return)
		pass_plain(s, "\r", 1);
	s->held_return = false;
	plain_finish(&s->plain, on_plain, s);
}

/* Something redraws: from the unfinished line on the terminal's text is what is printed. */
static void leave_plain(struct interceptor *s)
{
	terminal_commit(s->terminal, terminal_lines(s->terminal));
	s->is_plain = false;
	/* Of a long line the terminal may have let go more than was passed on, or less. */
	size_t passed = s->plain.passed, gone = s->line_text;
	if (gone > passed + s->plain.line.len)
		gone = passed + s->plain.line.len;
	if (gone > passed)
		print(s, s->plain.line.data, gone - passed);
	s->plain.passed = gone < passed ? passed - gone : 0;
	buffer_release(&s->plain.line);
	if (s->held_return)
		terminal_feed(s->terminal, "\r", 1);
	s->held_return = false;
}

/* Takes bytes for a program or file, the plain ones as they are. */
static void feed_plain(struct interceptor *s, const char *data, size_t len)
{
	if (s->held_return && *data == '\n') {
		s->held_return = false;
		pass_plain(s, "\r\n", 2);
		data++;
		len--;
	} else if (s->held_return) {
		leave_plain(s);
	}
	size_t n = s->is_plain ? plain_length(data, len) : 0;
	if (n > 0)
		pass_plain(s, data, n);
	if (s->is_plain && n + 1 == len && data[n] == '\r') {
		s->held_return = true;
		return;
	}
	if (s->is_plain && n < len)
		leave_plain(s);
	if (n < len)
		terminal_feed(s->terminal, data + n, len - n);
}

/* From here on bytes are not rendered. A program or file gets them as they
   are, an agent a line about them; the artifact keeps them. */
static void become_binary(struct interceptor *s)
{
	resolve(s);
	s->binary = true;
	if (s->options.print != INTERCEPT_PREVIEW) {
		finish_plain(s);
		terminal_finish(s->terminal);
		s->is_plain = false;
		s->verbatim = true;
		return;
	}
	/* There is no text, so these bytes are not a second copy that may be unwanted. */
	if (s->raw.state == RAW_OFF)
		s->raw.state = RAW_HOLDING;
	interceptor_spill(s);
	if (s->artifact)
		raw_start(&s->raw, s->artifact);
}

static void process(struct interceptor *s, const char *data, size_t len)
{
	bool whole = s->options.print == INTERCEPT_WHOLE || !s->resolved;
	if (len == 0)
		return;
	s->raw_bytes += len;
	if (s->options.exact && !s->binary && whole && memchr(data, '\0', len)) {
		resolve(s);
		if (s->options.print == INTERCEPT_WHOLE)
			become_binary(s);
	}
	if (s->verbatim) {
		on_text(s, data, len);
		return;
	}
	if (s->is_plain)
		feed_plain(s, data, len);
	else if (!s->binary)
		terminal_feed(s->terminal, data, len);
	bool wanted =
		s->binary || s->options.raw == INTERCEPT_RAW_YES || terminal_is_lossy(s->terminal);
	raw_feed(&s->raw, data, len, s->artifact, wanted);
}

/* Enough is there to tell text from binary, or nothing more comes for now. */
static void judge(struct interceptor *s)
{
	struct buffer first = s->sniff;
	if (s->judged)
		return;
	s->judged = true;
	s->sniff = (struct buffer)BUFFER_INIT;
	if (sniff_is_binary(first.data, first.len)) {
		s->kind = wording_binary_kind(first.data, first.len);
		become_binary(s);
	}
	if (s->options.raw == INTERCEPT_RAW_YES && !s->verbatim)
		interceptor_spill(s);
	process(s, first.data, first.len);
	buffer_release(&first);
}

void interceptor_feed(struct interceptor *s, const char *data, size_t len)
{
	if (!s->judged) {
		if (buffer_append(&s->sniff, data, len) == 0) {
			if (s->sniff.len >= SNIFF_LEN)
				judge(s);
			return;
		}
		judge(s);
	}
	process(s, data, len);
}

void interceptor_pause(struct interceptor *s)
{
	if (s->sniff.len > 0)
		judge(s);
}

/* Whether a reader waits for lines as they come. */
static bool is_live(const struct interceptor *s)
{
	if (s->reported || s->verbatim || s->is_plain || terminal_redraws(s->terminal))
		return false;
	return s->options.print == INTERCEPT_WHOLE ||
	       (s->options.print == INTERCEPT_PREVIEW && !s->head_closed);
}

bool interceptor_is_unsettled(const struct interceptor *s)
{
	return is_live(s) && terminal_lines(s->terminal) > s->committed;
}

void interceptor_settle(struct interceptor *s, bool all)
{
	if (!is_live(s))
		return;
	if (all)
		s->mark = terminal_lines(s->terminal);
	terminal_commit(s->terminal, s->mark);
	s->committed = s->mark;
	s->mark = terminal_lines(s->terminal);
}

void interceptor_finish(struct interceptor *s)
{
	if (s->finished)
		return;
	judge(s);
	if (s->is_plain)
		finish_plain(s);
	if (!s->verbatim && !s->binary)
		terminal_finish(s->terminal);
	s->finished = true;
	if (s->fits && !s->reported && is_over(s, true))
		overflow(s);
	if (s->artifact)
		artifact_set_live(s->artifact, s->options.part, NULL, 0);
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
	resolve(s);
	return s->options.print;
}

uint64_t interceptor_lines(const struct interceptor *s)
{
	if (is_by_head(s))
		return tally_lines(&s->tally);
	return s->preview ? preview_lines(s->preview) : 0;
}

uint64_t interceptor_bytes(const struct interceptor *s)
{
	if (s->binary && !s->verbatim)
		return s->raw_bytes;
	if (is_by_head(s))
		return s->tally.bytes;
	return s->preview ? preview_bytes(s->preview) : s->text_bytes;
}

bool interceptor_is_binary(const struct interceptor *s)
{
	return s->binary;
}

bool interceptor_is_spilled(const struct interceptor *s)
{
	return s->artifact || s->spill_failed;
}

bool interceptor_fits(const struct interceptor *s)
{
	return s->fits && (!s->binary || s->verbatim);
}

bool interceptor_is_partial(const struct interceptor *s)
{
	return s->options.print == INTERCEPT_PREVIEW && !interceptor_fits(s);
}

/* Marker callback of preview_choose(): the same words that print_marker() prints. */
static size_t measure_marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	struct buffer text = BUFFER_INIT;
	size_t len = 0;
	if (wording_marker(&text, piece, ctx) == 0) {
		len = text.len;
		memcpy(out, text.data, len < cap ? len : cap);
	}
	buffer_release(&text);
	return len;
}

/* Ends an unfinished line, so that what follows stands on its own. */
static void end_line(struct interceptor *s)
{
	if (!s->ended_line)
		print(s, "\n", 1);
}

static void print_line(struct interceptor *s, struct buffer *line)
{
	end_line(s);
	print(s, line->data, line->len);
	buffer_clear(line);
}

static void print_numbered(struct interceptor *s, const struct preview_piece *piece)
{
	struct buffer out = BUFFER_INIT;
	const char *at = piece->text, *end = piece->text + piece->len;
	for (uint64_t number = piece->from; at < end; number++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop + 1 : end) - at);
		if (buffer_printf(&out, "%llu: ", (unsigned long long)number) < 0 ||
		    buffer_append(&out, at, len) < 0)
			break;
		at += len;
	}
	print_clean(s, out.data, out.len);
	buffer_release(&out);
}

static void print_preview(struct interceptor *s, const struct interceptor_ending *e)
{
	const struct preview_piece *pieces;
	const struct wording_place *place = &e->place;
	const struct preview_ask ask = {
		.printed_bytes = s->printed,
		.printed_lines = s->printed_lines,
		.status = e->ending.state == WORDING_INTERRUPTED || e->ending.exit_code != 0,
		.marker = measure_marker,
		.ctx = (void *)place,
	};
	struct buffer line = BUFFER_INIT;
	int count = preview_choose(s->preview, &ask, &pieces);
	for (int i = 0; i < count; i++) {
		const struct preview_piece *piece = &pieces[i];
		if (piece->kind == PREVIEW_TEXT && piece->numbered)
			print_numbered(s, piece);
		else if (piece->kind == PREVIEW_TEXT)
			print_clean(s, piece->text, piece->len);
		else if (wording_marker(&line, piece, place) == 0)
			print_line(s, &line);
	}
	if (wording_footer(&line, &e->ending, place) == 0)
		print_line(s, &line);
	buffer_release(&line);
}

bool interceptor_is_worth_telling(const struct interceptor_ending *e)
{
	bool failed = e->ending.exit_code != 0;
	if (e->is_second)
		return false;
	return e->status_line == STATUS_LINE_ALWAYS ||
	       (e->status_line == STATUS_LINE_FAILURE && failed) || e->ending.timed_out ||
	       e->ending.state == WORDING_INTERRUPTED;
}

/* The rest of a text that fits. A program gets it as it is, and no words of ours. */
static void print_rest(struct interceptor *s, const struct interceptor_ending *e)
{
	struct buffer line = BUFFER_INIT;
	size_t len = s->held.len - s->printed;
	const char *rest = len ? s->held.data + s->printed : "";
	bool told = interceptor_is_worth_telling(e);
	if (told || !utf8_all_clean(rest, len))
		resolve(s);
	if (s->options.print != INTERCEPT_PREVIEW)
		return;
	print_clean(s, rest, len);
	int made = -1;
	/* Whoever interrupted it may not have read this far. */
	if (told && e->ending.state == WORDING_INTERRUPTED)
		made = wording_footer(&line, &e->ending, &e->place);
	else if (told)
		made = wording_status(&line, &e->ending);
	if (made == 0)
		print_line(s, &line);
	buffer_release(&line);
}

/* The rest of the first part of a text, and how to go on. */
static void print_end_of_head(struct interceptor *s, const struct interceptor_ending *e)
{
	static const enum wording_reason reasons[] = {
		[HEAD_OPEN] = WORDING_NOTHING_LEFT,
		[HEAD_COUNT] = WORDING_COUNT,
		[HEAD_BYTES] = WORDING_BYTES,
		[HEAD_LINE] = WORDING_FIRST_LINE,
	};
	struct head *h = &s->head;
	struct buffer line = BUFFER_INIT;
	head_finish(h, &line);
	print(s, line.data, line.len);
	buffer_clear(&line);
	const struct wording_head told = {
		.reason = reasons[h->end],
		.limit = h->limit,
		.lines = h->lines,
		.units = h->units,
		.total_units = tally_units(&s->tally),
		.cut = h->cut,
		.first_cut = h->first_cut,
		.first_length = h->first_length,
		.first_shown = h->first_shown,
		.with_status = e->status_line == STATUS_LINE_ALWAYS,
	};
	int made = -1;
	if (h->end != HEAD_OPEN || h->cut > 0)
		made = wording_head(&line, &told, &e->ending, &e->place);
	else if (interceptor_is_worth_telling(e))
		made = wording_status(&line, &e->ending);
	if (made == 0)
		print_line(s, &line);
	buffer_release(&line);
}

static void print_binary(struct interceptor *s, const struct interceptor_ending *e)
{
	struct buffer line = BUFFER_INIT;
	if (wording_binary(&line, &e->ending, s->kind, &e->place) == 0)
		print_line(s, &line);
	buffer_release(&line);
}

/* What the terminal still holds of a command whose background children live on: the reader gets it
   as it is now, the artifact goes on with what becomes of it. */
static void take_pending(struct interceptor *s)
{
	struct buffer pending = BUFFER_INIT;
	if (s->verbatim || s->binary || s->finished || terminal_pending(s->terminal, &pending) < 0)
		goto out;
	if (s->is_plain)
		finish_plain(s);
	else if (s->options.print == INTERCEPT_WHOLE)
		print_text(s, pending.data, pending.len);
	else
		measure(s, pending.data, pending.len);
	if (!s->fits && is_by_head(s))
		feed_head(s, pending.data, pending.len);
	if (s->fits && (buffer_append(&s->held, pending.data, pending.len) < 0 || is_over(s, true)))
		overflow(s);
out:
	buffer_release(&pending);
}

void interceptor_report(struct interceptor *s, const struct interceptor_ending *given)
{
	struct interceptor_ending e = *given;
	interceptor_pause(s);
	take_pending(s);
	e.ending.lines = interceptor_lines(s);
	e.ending.bytes = interceptor_bytes(s);
	if (s->options.print == INTERCEPT_PREVIEW) {
		if (s->binary) {
			print_binary(s, &e);
		} else if (s->fits) {
			print_rest(s, &e);
		} else if (is_by_head(s)) {
			print_end_of_head(s, &e);
		} else {
			print_preview(s, &e);
		}
	}
	s->reported = true;
	buffer_release(&s->held);
}

void interceptor_heartbeat(struct interceptor *s, int64_t elapsed_ms,
			   const struct wording_place *place)
{
	struct buffer line = BUFFER_INIT, pending = BUFFER_INIT;
	uint64_t lines = terminal_lines(s->terminal), bytes = interceptor_bytes(s);
	if (!s->binary && terminal_pending(s->terminal, &pending) == 0)
		bytes += pending.len;
	if (wording_heartbeat(&line, elapsed_ms, lines, bytes, place) == 0)
		print_line(s, &line);
	buffer_release(&pending);
	buffer_release(&line);
}
