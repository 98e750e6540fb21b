// What a live reader is told when the command has ended, or has been silent for long. See
// interceptor.h.

#include "supervisor/intercept/internal.h"

#include "supervisor/base/utf8.h"

#include <string.h>

void interceptor_conclude(struct interceptor *s, bool failed)
{
	if (s->options.print != INTERCEPT_PREVIEW || !failed)
		return;
	s->most = limit_most(s->options.limit.failure_bytes);
	if (s->fits && !s->reported && intercept_is_over(s, false))
		intercept_overflow(s);
}

bool interceptor_is_worth_telling(const struct interceptor_ending *e)
{
	bool failed = e->ending.exit_code != 0;
	if (e->is_second)
		return false;
	return e->status_line == STATUS_LINE_ALWAYS || e->ending.prompt || e->ending.hung_up ||
	       e->ending.picture || (e->status_line == STATUS_LINE_FAILURE && failed) ||
	       e->ending.timed_out || e->ending.state != WORDING_ENDED;
}

/* Prints text with a notice behind it: no line of it is to look like one. */
static void print_guarded(struct interceptor *s, const char *data, size_t len)
{
	size_t done = 0;
	for (size_t at = 0; at < len && !s->options.limit.own_words;) {
		const char *newline = memchr(data + at, '\n', len - at);
		size_t end = newline ? (size_t)(newline - data) + 1 : len;
		if (line_is_like_notice(data + at, end - at)) {
			intercept_print_clean(s, data + done, at - done);
			intercept_print(s, LINE_GUARD, strlen(LINE_GUARD));
			done = at;
		}
		at = end;
	}
	intercept_print_clean(s, data + done, len - done);
}

/* The rest of a text that fits. A program gets it as it is, and no words of ours. */
static void print_rest(struct interceptor *s, const struct interceptor_ending *e)
{
	size_t len = s->held.len - s->printed;
	const char *rest = len ? s->held.data + s->printed : "";
	bool told = interceptor_is_worth_telling(e);
	if (told || !utf8_all_clean(rest, len))
		intercept_resolve(s);
	if (s->options.print != INTERCEPT_PREVIEW)
		return;
	if (told || e->is_second)
		print_guarded(s, rest, len);
	else
		intercept_print_clean(s, rest, len);
	/* Whoever interrupted it may not have read this far. */
	if (told && e->ending.state != WORDING_ENDED)
		intercept_print_line(s, wording_footer(intercept_line(s), &e->ending, &e->place));
	else if (told)
		intercept_print_line(s, wording_status(intercept_line(s), &e->ending));
}

/* The preview, and the line about the whole. */
static void closing_print_preview(struct interceptor *s, struct interceptor_ending *e)
{
	intercept_print_preview(s, e, NULL);
	e->ending.broken = s->broken;
	e->ending.cut = s->cut;
	intercept_print_line(s, wording_footer(intercept_line(s), &e->ending, &e->place));
}

static void print_binary(struct interceptor *s, const struct interceptor_ending *e)
{
	intercept_print_line(
		s, wording_binary(intercept_line(s), &e->ending, s->kind.name, &e->place));
}

void interceptor_report(struct interceptor *s, const struct interceptor_ending *given)
{
	struct interceptor_ending e = *given;
	intercept_judge(s, true);
	intercept_take_pending(s);
	e.ending.lines = s->options.lines_before + interceptor_lines(s);
	e.ending.bytes = s->options.bytes_before + interceptor_bytes(s);
	e.ending.limit = s->options.limit;
	e.ending.picture = terminal_is_pictured(s->terminal);
	if (s->options.print == INTERCEPT_PREVIEW) {
		if (s->binary) {
			print_binary(s, &e);
		} else if (s->fits) {
			print_rest(s, &e);
		} else if (intercept_is_by_head(s)) {
			intercept_print_end_of_head(s, &e, NULL);
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
	intercept_print_line(s, wording_heartbeat(intercept_line(s), elapsed_ms, lines, bytes, wait,
						  who, place));
	buffer_release(&pending);
}
