#include "supervisor/intercept/internal.h"

#include "lib/trace.h"

#include <string.h>

void raw_release(struct raw *r)
{
	r->state = RAW_OFF;
	buffer_release(&r->held);
}

void raw_start(struct raw *r, struct artifact *artifact)
{
	if (r->state != RAW_HOLDING)
		return;
	artifact_append(artifact, ARTIFACT_RAW, r->held.data, r->held.len);
	raw_release(r);
	r->state = RAW_STREAMING;
}

void raw_feed(struct raw *r, const char *data, size_t len, struct artifact *artifact, bool wanted)
{
	if (r->state == RAW_HOLDING) {
		bool fits = r->held.len + len <= RAW_HOLD;
		if (fits && buffer_try_append(&r->held, data, len) == 0) {
			if (artifact && wanted)
				raw_start(r, artifact);
			return;
		}
		if (artifact && wanted)
			raw_start(r, artifact);
		else
			raw_release(r);
	}
	if (r->state == RAW_STREAMING)
		artifact_append(artifact, ARTIFACT_RAW, data, len);
}

/* Where the first of some bytes is, or `len`. memchr() for each over a piece that stays in the
   cache is faster than one loop that looks for all. */
static size_t plain_find(const char *data, size_t len, char byte)
{
	const char *at = memchr(data, byte, len);
	return at ? (size_t)(at - data) : len;
}

#define PIECE ((size_t)16 * 1024)

/* The first CR that no LF follows. The byte behind the last one is not looked at. */
static size_t find_return(const char *data, size_t len)
{
	for (size_t i = 0; (i += plain_find(data + i, len - i, '\r')) < len; i++) {
		if (i + 1 == len || data[i + 1] != '\n')
			return i;
	}
	return len;
}

/* How many bytes come before the first that redraws. A CR at the very end counts as one, since
   what follows it is not known yet. */
static size_t plain_length(const char *data, size_t len)
{
	size_t done = 0;
	while (done < len) {
		size_t piece = len - done < PIECE ? len - done : PIECE;
		/* The LF behind a CR belongs to the same piece. */
		if (data[done + piece - 1] == '\r' && done + piece < len)
			piece++;
		size_t n = plain_find(data + done, piece, '\x1B');
		n = plain_find(data + done, n, '\b');
		n = find_return(data + done, n);
		done += n;
		if (n < piece)
			break;
	}
	return done;
}

/* The bytes of a pipe on their way to a program or file, as long as they are plain.

   A program must get what the command wrote: CR before LF, form feeds, invalid UTF-8, everything (a
   patch has to apply). Only what redraws (ESC, backspace, CR without LF) is resolved by the
   terminal. So whole lines are passed on as they are until the first such byte; from its line on
   the text of the terminal is what is printed. */

/* An unfinished line longer than this is passed on before its end is known. */
#define PLAIN_LINE ((size_t)64 * 1024)

/* Passes on the rest: nothing that redraws has come. */
static void plain_finish(struct interceptor *s)
{
	struct plain *p = &s->plain;
	intercept_print(s, p->line.data, p->line.len);
	p->passed += p->line.len;
	buffer_clear(&p->line);
}

/* Takes bytes that look the same on a terminal as they are; passes on what is ready, and all where
   there is no memory. */
static void pass_plain(struct interceptor *s, const char *data, size_t len)
{
	struct plain *p = &s->plain;
	terminal_feed(s->terminal, data, len);
	const char *end = len ? memrchr(data, '\n', len) : NULL;
	if (end) {
		size_t whole = (size_t)(end - data) + 1;
		plain_finish(s);
		intercept_print(s, data, whole);
		p->passed = 0;
		data += whole;
		len -= whole;
	}
	bool kept = buffer_try_append(&p->line, data, len) == 0;
	if (!kept || p->line.len > PLAIN_LINE)
		plain_finish(s);
	if (!kept) {
		intercept_print(s, data, len);
		p->passed += len;
	}
}

/* The bytes of the command before they are text: decides which are binary, which are plain and go
   to a program unchanged, and which the terminal has to render. See interceptor.h. */

void intercept_finish_plain(struct interceptor *s)
{
	if (s->plain.returns)
		pass_plain(s, "\r", 1);
	s->plain.returns = false;
	plain_finish(s);
}

/* Something redraws: from the unfinished line on, the terminal's text is printed. */
static void leave_plain(struct interceptor *s)
{
	TRACE(TERMINAL, "%s redraws: rendered from here on", PART_NAME(s));
	terminal_commit(s->terminal, terminal_lines(s->terminal));
	s->state = BYTES_RENDERED;
	/* The terminal may have released more or less of a long line than was passed on. */
	size_t passed = s->plain.passed, gone = s->line_text;
	if (gone > passed + s->plain.line.len)
		gone = passed + s->plain.line.len;
	if (gone > passed)
		intercept_print(s, s->plain.line.data, gone - passed);
	s->plain.passed = gone < passed ? passed - gone : 0;
	buffer_release(&s->plain.line);
	if (s->plain.returns)
		terminal_feed(s->terminal, "\r", 1);
	s->plain.returns = false;
}

/* A program that gets a NUL may want every byte (find -print0 | xargs -0): from here on it gets the
   bytes unchanged. */
static void begin_bytes(struct interceptor *s)
{
	intercept_resolve(s);
	if (s->reader != readers[INTERCEPT_PROGRAM])
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

/* Takes bytes for a program or file, the plain ones as they are. */
static void feed_plain(struct interceptor *s, const char *data, size_t len)
{
	if (s->state == BYTES_PASSED) {
		terminal_feed(s->terminal, data, len);
		intercept_print(s, data, len);
		return;
	}
	if (s->plain.returns && *data == '\n') {
		s->plain.returns = false;
		pass_plain(s, "\r\n", 2);
		data++;
		len--;
	} else if (s->plain.returns) {
		leave_plain(s);
	}
	size_t n = s->state == BYTES_PLAIN ? plain_length(data, len) : 0;
	if (n > 0)
		pass_plain(s, data, n);
	if (s->state == BYTES_PLAIN && n + 1 == len && data[n] == '\r') {
		s->plain.returns = true;
		return;
	}
	if (s->state == BYTES_PLAIN && n < len)
		leave_plain(s);
	if (n < len)
		terminal_feed(s->terminal, data + n, len - n);
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
	if (s->raw.state == RAW_OFF)
		s->raw.state = RAW_HOLDING;
	/* The start is no text, either, unless it was kept as one already. */
	if (!s->artifact) {
		buffer_clear(&s->held);
		s->printed = s->counted = s->guarded = s->clean_len = 0;
	}
	interceptor_spill(s);
	if (s->artifact)
		raw_start(&s->raw, s->artifact);
}

static void process(struct interceptor *s, const char *data, size_t len)
{
	bool whole = s->reader == readers[INTERCEPT_PROGRAM] || s->events.resolve;
	if (len == 0)
		return;
	s->raw_bytes += len;
	if (s->state < BYTES_PASSED && whole && memchr(data, '\0', len))
		begin_bytes(s);
	if (s->state == BYTES_VERBATIM) {
		intercept_text(s, data, len);
		return;
	}
	if (s->state == BYTES_PLAIN || s->state == BYTES_PASSED)
		feed_plain(s, data, len);
	else if (s->state < BYTES_BINARY)
		terminal_feed(s->terminal, data, len);
	/* A swallowed picture leaves no text: only the raw bytes have it. */
	if (s->raw.state == RAW_HOLDING && s->raw.held.len + len > RAW_HOLD &&
	    terminal_facts(s->terminal).is_swallowing)
		interceptor_spill(s);
	bool wanted = s->state == BYTES_BINARY || s->options.raw == INTERCEPT_RAW_YES ||
		      terminal_facts(s->terminal).is_lossy;
	raw_feed(&s->raw, data, len, s->artifact, wanted);
}

void intercept_judge(struct interceptor *s, bool end)
{
	struct buffer first = s->first;
	if (s->state != BYTES_UNJUDGED)
		return;
	s->sniff = (struct sniff){.len = 0};
	sniff_add(&s->sniff, first.data, first.len);
	if (s->sniff.bad > 0)
		s->kind = file_type_find(first.data, first.len);
	bool binary = sniff_judge(&s->sniff) || (s->kind && s->sniff.bad > 0);
	if (binary)
		intercept_resolve(s);
	/* A few bytes tell little, but a program must not wait. */
	if (binary && !end && !s->kind && first.len < SNIFF_LEN &&
	    s->reader != readers[INTERCEPT_PROGRAM])
		return;
	s->state = s->options.exact ? BYTES_PLAIN : BYTES_RENDERED;
	s->first = (struct buffer)BUFFER_INIT;
	bool separates = s->sniff.nul && !s->sniff.newline;
	if (binary)
		become_binary(s);
	else
		terminal_show_nul(s->terminal,
				  separates ? TERMINAL_NUL_NEWLINE : TERMINAL_NUL_SYMBOL);
	if (s->options.raw == INTERCEPT_RAW_YES && s->state != BYTES_VERBATIM)
		interceptor_spill(s);
	process(s, first.data, first.len);
	buffer_release(&first);
}

void interceptor_feed(struct interceptor *s, const char *data, size_t len)
{
	if (s->state == BYTES_UNJUDGED) {
		const struct buffer *first = &s->first;
		bool kept = buffer_try_append(&s->first, data, len) == 0;
		/* Enough are there: a newline tells what a NUL is. */
		if (!kept || first->len >= SNIFF_NUL ||
		    (first->len >= SNIFF_LEN && memchr(first->data, '\n', first->len)))
			intercept_judge(s, true);
		if (kept)
			return;
	}
	if (s->sniff.len < SNIFF_MOST && s->state < BYTES_BINARY) {
		/* All bytes are still at hand: the start may have looked like text. */
		sniff_add(&s->sniff, data, len);
		if (s->sniff.binary && (s->raw.state != RAW_OFF || !s->reader->previews))
			become_binary(s);
	}
	process(s, data, len);
}

void interceptor_pause(struct interceptor *s)
{
	if (s->first.len > 0)
		intercept_judge(s, false);
}
