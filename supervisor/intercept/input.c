// From the command to the terminal: decides which bytes are binary, which are plain and go to a
// program unchanged, and which the terminal has to render. See interceptor.h.

#include "supervisor/intercept/internal.h"

#include "lib/trace.h"

#include <string.h>

void intercept_keep_raw(struct interceptor *s, const char *data, size_t len)
{
	bool wanted =
		s->artifact && (s->state == BYTES_BINARY || s->options.raw == INTERCEPT_RAW_YES ||
				terminal_facts(s->terminal).is_lossy);
	if (s->raw_state == RAW_HOLDING && !wanted && s->raw.len + len <= RAW_HOLD &&
	    buffer_try_append(&s->raw, data, len) == 0)
		return;
	if (s->raw_state == RAW_HOLDING) {
		s->raw_state = wanted ? RAW_STREAMING : RAW_OFF;
		if (wanted)
			artifact_append(s->artifact, ARTIFACT_RAW, s->raw.data, s->raw.len);
		buffer_release(&s->raw);
	}
	if (s->raw_state == RAW_STREAMING)
		artifact_append(s->artifact, ARTIFACT_RAW, data, len);
}

/* Where the byte is first, or `len`. memchr() for each over a piece that stays in the cache is
   faster than one loop that looks for all. */
static size_t plain_find(const char *data, size_t len, char byte)
{
	const char *at = memchr(data, byte, len);
	return at ? (size_t)(at - data) : len;
}

#define PIECE ((size_t)16 * 1024)

/* How many bytes come before the first that redraws: ESC, backspace, CR without LF. What follows a
   CR at the very end is not known yet. */
static size_t plain_length(const char *data, size_t len)
{
	size_t done = 0;
	while (done < len) {
		size_t piece = len - done < PIECE ? len - done : PIECE;
		size_t n = plain_find(data + done, piece, '\x1B');
		n = plain_find(data + done, n, '\b');
		for (size_t i = 0; (i += plain_find(data + done + i, n - i, '\r')) < n; i++) {
			if (done + i + 1 < len && data[done + i + 1] != '\n') {
				n = i;
				break;
			}
		}
		done += n;
		if (n < piece)
			break;
	}
	return done;
}

void intercept_finish_plain(struct interceptor *s)
{
	struct plain *p = &s->plain;
	intercept_print(s, p->line.data, p->line.len);
	p->passed += p->line.len;
	buffer_clear(&p->line);
}

/* Something redraws: from the unfinished line on, the terminal's text is printed. */
static void leave_plain(struct interceptor *s)
{
	struct plain *p = &s->plain;
	TRACE(TERMINAL, "%s redraws: rendered from here on", PART_NAME(s));
	terminal_commit(s->terminal);
	s->state = BYTES_RENDERED;
	/* The terminal may have released more or less of a long line than was passed on. */
	size_t passed = p->passed, gone = s->line_text;
	if (gone > passed + p->line.len)
		gone = passed + p->line.len;
	if (gone > passed)
		intercept_print(s, p->line.data, gone - passed);
	p->passed = gone < passed ? passed - gone : 0;
	buffer_release(&p->line);
}

/* A program that gets a NUL may want every byte (find -print0 | xargs -0): from here on it gets the
   bytes unchanged. */
static void begin_bytes(struct interceptor *s)
{
	intercept_resolve(s);
	if (s->reader != &readers[INTERCEPT_PROGRAM])
		return;
	TRACE(TERMINAL, "%s has a NUL: its bytes are passed on as they are", PART_NAME(s));
	struct buffer pending = BUFFER_INIT;
	if (s->state == BYTES_PLAIN) {
		intercept_finish_plain(s);
	} else if (terminal_pending(s->terminal, &pending) == 0) {
		size_t skip = s->plain.passed < pending.len ? s->plain.passed : pending.len;
		if (pending.len > skip)
			intercept_print(s, pending.data + skip, pending.len - skip);
	}
	buffer_release(&pending);
	s->plain.passed = 0;
	s->state = BYTES_PASSED;
}

/* Takes bytes for a program or file: whole lines are passed on as they are, for as long as nothing
   redraws. */
static void feed_plain(struct interceptor *s, const char *data, size_t len)
{
	struct plain *p = &s->plain;
	bool redraws = p->line.len > 0 && p->line.data[p->line.len - 1] == '\r' && *data != '\n';
	size_t n = redraws ? 0 : plain_length(data, len), from = 0;
	const char *newline = n ? memrchr(data, '\n', n) : NULL;
	terminal_feed(s->terminal, data, n);
	if (newline) {
		from = (size_t)(newline - data) + 1;
		intercept_finish_plain(s);
		intercept_print(s, data, from);
		p->passed = 0;
	}
	bool kept = buffer_try_append(&p->line, data + from, n - from) == 0;
	if (!kept || (p->line.len > PLAIN_LINE && p->line.data[p->line.len - 1] != '\r'))
		intercept_finish_plain(s);
	if (!kept) {
		intercept_print(s, data + from, n - from);
		p->passed += n - from;
	}
	if (n < len) {
		leave_plain(s);
		terminal_feed(s->terminal, data + n, len - n);
	}
}

/* From here on bytes are not rendered. A program or file gets them as they
   are, an agent a line about them; the artifact keeps them. */
static void become_binary(struct interceptor *s)
{
	TRACE(TERMINAL, "%s is binary%s%s", PART_NAME(s), s->kind ? ": " : "",
	      s->kind ? s->kind : "");
	intercept_resolve(s);
	if (!s->reader->previews) {
		intercept_finish_plain(s);
		terminal_finish(s->terminal);
		s->plain.passed = 0;
		s->state = BYTES_VERBATIM;
		return;
	}
	s->state = BYTES_BINARY;
	/* There is no text, so these bytes are not a second copy that may be unwanted. */
	if (s->raw_state == RAW_OFF)
		s->raw_state = RAW_HOLDING;
	/* The start is no text, either, unless it was kept as one already. */
	if (!s->artifact) {
		buffer_clear(&s->held);
		s->printed = s->counted = s->clean_len = s->begun = s->begun_len = 0;
	}
	interceptor_spill(s);
	intercept_keep_raw(s, NULL, 0);
}

static void process(struct interceptor *s, const char *data, size_t len)
{
	bool whole = s->reader == &readers[INTERCEPT_PROGRAM] || s->events.resolve;
	if (len == 0)
		return;
	s->raw_bytes += len;
	if (s->state < BYTES_PASSED && whole && memchr(data, '\0', len))
		begin_bytes(s);
	if (s->state == BYTES_VERBATIM) {
		intercept_text(s, data, len);
		return;
	}
	if (s->state == BYTES_PLAIN)
		feed_plain(s, data, len);
	else if (s->state < BYTES_BINARY)
		terminal_feed(s->terminal, data, len);
	if (s->state == BYTES_PASSED)
		intercept_print(s, data, len);
	/* A swallowed picture leaves no text: only the raw bytes have it. */
	if (s->raw_state == RAW_HOLDING && s->raw.len + len > RAW_HOLD &&
	    terminal_facts(s->terminal).is_swallowing)
		interceptor_spill(s);
	intercept_keep_raw(s, data, len);
}

void intercept_judge(struct interceptor *s, bool end)
{
	struct buffer so_far = s->unjudged;
	if (s->state != BYTES_UNJUDGED)
		return;
	s->sniff = (struct sniff){.len = 0};
	sniff_add(&s->sniff, so_far.data, so_far.len);
	if (s->sniff.bad > 0)
		s->kind = file_type_find(so_far.data, so_far.len);
	bool binary = sniff_judge(&s->sniff) || (s->kind && s->sniff.bad > 0);
	if (binary)
		intercept_resolve(s);
	/* A few bytes tell little, but a program must not wait. */
	if (binary && !end && !s->kind && so_far.len < SNIFF_LEN &&
	    s->reader != &readers[INTERCEPT_PROGRAM])
		return;
	s->state = s->options.exact ? BYTES_PLAIN : BYTES_RENDERED;
	s->unjudged = (struct buffer)BUFFER_INIT;
	bool separates = s->sniff.nul && !s->sniff.newline;
	if (binary)
		become_binary(s);
	else
		terminal_show_nul(s->terminal,
				  separates ? TERMINAL_NUL_NEWLINE : TERMINAL_NUL_SYMBOL);
	if (s->options.raw == INTERCEPT_RAW_YES && s->state != BYTES_VERBATIM)
		interceptor_spill(s);
	process(s, so_far.data, so_far.len);
	buffer_release(&so_far);
}

void interceptor_feed(struct interceptor *s, const char *data, size_t len)
{
	if (s->state == BYTES_UNJUDGED) {
		const struct buffer *so_far = &s->unjudged;
		bool kept = buffer_try_append(&s->unjudged, data, len) == 0;
		/* Enough are there: a newline tells what a NUL is. */
		if (!kept || so_far->len >= SNIFF_NUL ||
		    (so_far->len >= SNIFF_LEN && memchr(so_far->data, '\n', so_far->len)))
			intercept_judge(s, true);
		if (kept)
			return;
	}
	if (s->sniff.len < SNIFF_MOST && s->state < BYTES_BINARY) {
		/* All bytes are still at hand: the start may have looked like text. */
		sniff_add(&s->sniff, data, len);
		if (s->sniff.binary && (s->raw_state != RAW_OFF || !s->reader->previews))
			become_binary(s);
	}
	process(s, data, len);
}

void interceptor_pause(struct interceptor *s)
{
	if (s->unjudged.len > 0)
		intercept_judge(s, false);
}
