// See interceptor.h.

#include "supervisor/intercept/interceptor.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"
#include "supervisor/intercept/raw.h"
#include "supervisor/intercept/sniff.h"

#include <stdlib.h>
#include <string.h>

struct interceptor {
	struct interceptor_options options;
	struct interceptor_events events;
	struct terminal *terminal;
	struct preview *preview;   /* NULL unless a preview may be printed */
	struct artifact *artifact; /* NULL until the text spilled */
	struct raw raw;

	struct buffer sniff; /* the first bytes, until they are judged */
	bool judged;
	bool binary;
	bool verbatim; /* what comes is text as it is: not rendered */

	uint64_t raw_bytes, text_bytes;
	size_t limit;       /* a text up to this is printed whole */
	struct buffer held; /* the text so far, while it is within the limit */
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
	s->limit = options->preview.budget + options->preview.budget * 15 / 100;
	s->fits = true;
	s->ended_line = true;
	s->resolved = options->print != INTERCEPT_PREVIEW || !events->resolve;
	const struct terminal_events t = {.text = on_text, .reply = on_reply, .ctx = s};
	s->terminal = terminal_new(&options->terminal, &t);
	if (!s->terminal)
		goto fail;
	if (options->print == INTERCEPT_PREVIEW) {
		s->preview = preview_new(&options->preview);
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

/* How long the next run of whole lines is that the head's budget has room for. */
static size_t next_head(struct interceptor *s, size_t *lines)
{
	size_t budget = preview_head_budget(s->preview);
	size_t run = 0;
	*lines = 0;
	while (!s->head_closed) {
		const char *line = s->held.data + s->printed + run;
		size_t left = s->held.len - s->printed - run;
		const char *end = left ? memchr(line, '\n', left) : NULL;
		if (!end)
			break;
		size_t len = (size_t)(end - line) + 1;
		uint64_t most = s->options.preview.max_lines;
		if (s->shown + run + len > budget || len > s->options.preview.max_line ||
		    !utf8_all_clean(line, len) || (most && s->printed_lines + *lines + 1 > most))
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
	print(s, s->held.data + s->printed, run);
	s->printed += run;
	s->shown += run;
	s->printed_lines += lines;
}

/* The text is longer than what is printed whole: it goes to disk, and of what
   the reader gets only the head is settled. */
static void overflow(struct interceptor *s)
{
	s->fits = false;
	s->head_closed = true;
	resolve(s);
	interceptor_spill(s);
	buffer_release(&s->held);
}

static bool is_over(const struct interceptor *s)
{
	uint64_t most = s->options.preview.max_lines;
	return s->text_bytes > s->limit || (s->preview && most && preview_lines(s->preview) > most);
}

static void on_text(void *ctx, const char *data, size_t len)
{
	struct interceptor *s = ctx;
	s->text_bytes += len;
	if (s->preview && !s->reported)
		preview_feed(s->preview, data, len);
	if (s->artifact)
		artifact_append(s->artifact, s->options.part, data, len);
	if (s->options.print == INTERCEPT_WHOLE && !s->reported)
		print(s, data, len);
	if (!s->fits)
		return;

	bool was_whole = s->options.print == INTERCEPT_WHOLE;
	bool was_kept = s->artifact;
	size_t room = s->limit - s->held.len;
	size_t take = len < room ? len : room;
	bool held = buffer_append(&s->held, data, take) == 0;
	if (s->options.print == INTERCEPT_PREVIEW && !s->reported)
		print_head(s);
	if (!held || is_over(s))
		overflow(s);
	if (!s->fits && !was_kept && s->artifact)
		artifact_append(s->artifact, s->options.part, data + take, len - take);
	if (!was_whole && s->options.print == INTERCEPT_WHOLE && !s->reported)
		print(s, data + take, len - take);
}

/* From here on bytes are not rendered. A program or file gets them as they
   are, an agent a line about them; the artifact keeps them. */
static void become_binary(struct interceptor *s)
{
	resolve(s);
	s->binary = true;
	if (s->options.print != INTERCEPT_PREVIEW) {
		terminal_finish(s->terminal);
		s->verbatim = true;
		return;
	}
	interceptor_spill(s);
	if (s->artifact)
		raw_start(&s->raw, s->artifact);
}

static void process(struct interceptor *s, const char *data, size_t len)
{
	s->raw_bytes += len;
	if (s->options.exact && !s->binary && s->options.print == INTERCEPT_WHOLE &&
	    memchr(data, '\0', len))
		become_binary(s);
	if (s->verbatim) {
		on_text(s, data, len);
		return;
	}
	if (!s->binary)
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
	if (s->reported || s->verbatim || terminal_redraws(s->terminal))
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
	judge(s);
	if (!s->verbatim && !s->binary && !s->finished)
		terminal_finish(s->terminal);
	s->finished = true;
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
	if (!s->artifact || s->binary || terminal_version(s->terminal) == s->live_version)
		return;
	if (terminal_pending(s->terminal, &pending) == 0) {
		artifact_set_live(s->artifact, s->options.part, pending.data, pending.len);
		s->live_version = terminal_version(s->terminal);
	}
	buffer_release(&pending);
}

enum interceptor_print interceptor_reader(struct interceptor *s)
{
	resolve(s);
	return s->options.print;
}

uint64_t interceptor_lines(const struct interceptor *s)
{
	return s->preview ? preview_lines(s->preview) : 0;
}

uint64_t interceptor_bytes(const struct interceptor *s)
{
	return s->binary && !s->verbatim ? s->raw_bytes : s->text_bytes;
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
	return s->fits;
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
		if (piece->kind != PREVIEW_TEXT && wording_marker(&line, piece, place) == 0)
			print_line(s, &line);
		if (piece->numbered)
			print_numbered(s, piece);
		else if (piece->text)
			print_clean(s, piece->text, piece->len);
	}
	if (wording_footer(&line, &e->ending, place) == 0)
		print_line(s, &line);
	buffer_release(&line);
}

static void print_status(struct interceptor *s, const struct interceptor_ending *e)
{
	struct buffer line = BUFFER_INIT;
	bool failed = e->ending.exit_code != 0;
	bool wanted = e->status_line == STATUS_LINE_ALWAYS ||
		      (e->status_line == STATUS_LINE_FAILURE && failed) || e->ending.timed_out ||
		      e->ending.state == WORDING_INTERRUPTED;
	if (wanted && wording_status(&line, &e->ending) == 0)
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
	if (s->verbatim || s->binary || s->finished)
		return;
	terminal_commit(s->terminal, terminal_lines(s->terminal));
	if (terminal_pending(s->terminal, &pending) == 0) {
		if (s->options.print == INTERCEPT_WHOLE)
			print(s, pending.data, pending.len);
		else if (s->preview)
			preview_feed(s->preview, pending.data, pending.len);
		if (s->fits && buffer_append(&s->held, pending.data, pending.len) < 0)
			s->fits = false;
	}
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
			print_clean(s, s->held.data + s->printed, s->held.len - s->printed);
			print_status(s, &e);
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
	struct buffer line = BUFFER_INIT;
	if (wording_heartbeat(&line, elapsed_ms, terminal_lines(s->terminal), interceptor_bytes(s),
			      place) == 0)
		print_line(s, &line);
	buffer_release(&line);
}
