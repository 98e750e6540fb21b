// From the command to the terminal: decides which bytes are binary, which go to a program
// unchanged, and which the terminal has to render. See interceptor.h.

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

/* The text has a NUL. If a program reads, it may want every byte (find -print0 | xargs -0), so from
   here on it gets the bytes unchanged. */
static void begin_bytes(struct interceptor *s)
{
	intercept_resolve(s);
	if (s->reader != &readers[INTERCEPT_PROGRAM])
		return;
	TRACE(TERMINAL, "%s has a NUL: its bytes are passed on as they are", PART_NAME(s));
	struct buffer pending = BUFFER_INIT;
	if (terminal_pending(s->terminal, &pending) == 0)
		intercept_print(s, pending.data, pending.len);
	buffer_release(&pending);
	s->state = BYTES_PASSED;
}

/* The output is binary: it is not rendered from here on. The artifact keeps its bytes, a program or
   file gets them unchanged, an agent gets one line about them. */
static void become_binary(struct interceptor *s)
{
	TRACE(TERMINAL, "%s is binary%s%s", PART_NAME(s), s->kind ? ": " : "",
	      s->kind ? s->kind : "");
	intercept_resolve(s);
	if (!s->reader->previews) {
		terminal_finish(s->terminal);
		s->state = BYTES_VERBATIM;
		return;
	}
	s->state = BYTES_BINARY;
	/* There is no text, so the raw bytes are what is kept. */
	if (s->raw_state == RAW_OFF)
		s->raw_state = RAW_HOLDING;
	/* Held text turns out to be binary too. Text that is in the artifact already stays
	   there. */
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
	if (s->state < BYTES_BINARY)
		terminal_feed(s->terminal, data, len);
	if (s->state == BYTES_PASSED)
		intercept_print(s, data, len);
	/* A picture leaves no text, so its raw bytes have to reach the artifact. */
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
	/* There are too few bytes to judge, so it waits for more. A program gets them at once. */
	if (binary && !end && !s->kind && so_far.len < SNIFF_LEN &&
	    s->reader != &readers[INTERCEPT_PROGRAM])
		return;
	s->state = s->options.exact ? BYTES_PASSED : BYTES_RENDERED;
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
		/* In text without newlines a NUL is a separator, so text that has had none so far
		   is judged later. */
		if (!kept || so_far->len >= SNIFF_NUL ||
		    (so_far->len >= SNIFF_LEN && memchr(so_far->data, '\n', so_far->len)))
			intercept_judge(s, true);
		if (kept)
			return;
	}
	if (s->sniff.len < SNIFF_MOST && s->state < BYTES_BINARY) {
		/* The first bytes may have looked like text, so all of them are judged again while
		   the raw ones are still held. */
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
