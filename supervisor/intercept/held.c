// Prints what is held back from a live reader before the end: at pauses, at heartbeats, and when
// somebody wants the run to end.

#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/intercept/parts.h"

#include <inttypes.h>
#include <string.h>

/* A longer unfinished line is no question. */
#define PARTIAL_MAX ((size_t)160)

/* So often a program that draws is looked at while its lines may still change. */
#define LOOK_MS 500

/* Whether a reader waits who does not get every line as it comes. */
static bool held_has_reader(const struct interceptor *s)
{
	return s->options.print == INTERCEPT_PREVIEW && !s->reported && !s->binary &&
	       !s->finished && !intercept_is_collected(s);
}

void interceptor_came(struct interceptor *s, int64_t now_ms)
{
	if (held_has_reader(s))
		pause_note(&s->pause, terminal_lines(s->terminal), now_ms);
	if (!s->settle_at)
		interceptor_settle(s, now_ms);
}

int64_t interceptor_pause_due(const struct interceptor *s)
{
	return held_has_reader(s) ? pause_due(&s->pause) : 0;
}

/* Makes the complete lines final, as far as they have stood. */
static void held_settle(struct interceptor *s, int64_t now_ms)
{
	if (intercept_is_drawn(s, now_ms))
		terminal_settle(s->terminal, now_ms, INTERCEPT_SETTLE_DRAWN_MS,
				INTERCEPT_SETTLE_DRAWN_MS);
	else
		terminal_commit(s->terminal, terminal_lines(s->terminal));
}

static bool held_is_settled(const struct interceptor *s)
{
	return terminal_settled(s->terminal) >= terminal_lines(s->terminal);
}

/* The text up to the last newline that is held and not printed. */
static size_t held_lines_len(const struct interceptor *s)
{
	size_t left = s->held.len - s->printed;
	const char *data = s->held.data + s->printed;
	const char *last = left ? memrchr(data, '\n', left) : NULL;
	return last ? (size_t)(last - data) + 1 : 0;
}

/* Whether the lines that are held are more than may be printed before the end. */
static bool held_is_over(const struct interceptor *s)
{
	size_t len = held_lines_len(s);
	const char *line = s->held.data + s->printed, *end = line + len;
	size_t cost = guard_text_len(line, len, s->head.guard);
	uint64_t lines = 0;
	for (; line < end; lines++)
		line = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
	return s->share.printed + cost > share_whole(&s->share) ||
	       s->line_share.printed + lines > share_whole(&s->line_share);
}

bool interceptor_begin_print(struct interceptor *s, enum interceptor_moment moment, int64_t now_ms)
{
	if (!held_has_reader(s))
		return false;
	interceptor_pause(s);
	if (!s->judged || s->binary) {
		pause_pass(&s->pause);
		return false;
	}
	if (moment != INTERCEPT_PAUSE || pause_is_quiet(&s->pause, now_ms))
		held_settle(s, now_ms);
	/* A program gets all. */
	intercept_resolve(s);
	if (!held_has_reader(s))
		return false;
	if (s->fits && !intercept_is_by_head(s) && held_is_over(s))
		intercept_overflow(s);
	return true;
}

/* Notes what was printed since `put` bytes were. */
static void held_take(struct interceptor *s, uint64_t put, uint64_t lines, bool omits)
{
	share_take(&s->share, (size_t)(s->put - put), omits);
	share_take(&s->line_share, (size_t)lines, omits);
}

/* Whether a line that fits is printed now. In mode head it counts there. */
static bool held_may_print(struct interceptor *s, const char *line, size_t len)
{
	return !intercept_is_by_head(s) || head_give(&s->head, line, len);
}

/* Prints the lines of a text that fits. */
static void held_print_lines(struct interceptor *s)
{
	size_t len = held_lines_len(s), done = 0;
	uint64_t put = s->put, lines = 0;
	const char *data = s->held.data + s->printed;
	/* What is printed can't be grouped any more. */
	s->waits = false;
	while (done < len) {
		const char *end = memchr(data + done, '\n', len - done);
		size_t line = (size_t)(end - data) + 1 - done;
		if (!held_may_print(s, data + done, line))
			break;
		size_t skip = intercept_go_on(s, data + done, line);
		intercept_print_text(s, data + done + skip, line - skip);
		done += line;
		lines++;
	}
	s->printed += done;
	s->printed_lines += lines;
	/* In mode head lines go on as they come. */
	if (intercept_is_by_head(s) && done == len)
		s->head_closed = false;
	held_take(s, put, lines, false);
}

/* Appends the unfinished line if it is all that the terminal still holds and may be a question.
   A character that has not come whole waits, and so does what may become a line like a notice. */
static bool held_find_partial(const struct interceptor *s, struct buffer *out)
{
	size_t cut;
	if (terminal_is_alternate(s->terminal) || !s->ended_text ||
	    terminal_pending(s->terminal, out) < 0)
		return false;
	if (utf8_incomplete(out->data, out->len, &cut))
		buffer_truncate(out, out->len - cut);
	return out->len > 0 && out->len <= PARTIAL_MAX && !memchr(out->data, '\n', out->len) &&
	       strspn(buffer_string(out), " \t\r") < out->len &&
	       (s->options.limit.own_words || !guard_may_be_needed(out->data, out->len));
}

/* Whether everything before the unfinished line is printed, and there is room for it. */
static bool held_may_print_partial(const struct interceptor *s, size_t len)
{
	if (s->partial.len > 0 || s->printed < s->text_bytes || intercept_is_by_head(s))
		return false;
	size_t most = s->fits ? share_whole(&s->share) : share_tail(&s->share, true);
	return most > len + (s->fits ? s->share.printed : 0);
}

static void held_print_partial(struct interceptor *s)
{
	struct buffer line = BUFFER_INIT;
	uint64_t put = s->put;
	s->pause.is_touched = false;
	if (held_is_settled(s) && held_find_partial(s, &line) &&
	    held_may_print_partial(s, utf8_clean_len(line.data, line.len)) &&
	    buffer_try_append(&s->partial, line.data, line.len) == 0) {
		intercept_print_text(s, line.data, line.len);
		held_take(s, put, 0, !s->fits);
	}
	buffer_release(&line);
}

size_t intercept_go_on(struct interceptor *s, const char *data, size_t len)
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

/* Whether complete lines wait behind those that are printed, of a text that does not fit. */
static bool held_is_behind(const struct interceptor *s)
{
	uint64_t bytes;
	return preview_whole_lines(s->preview, &bytes) > s->printed_lines;
}

/* Prints the last lines of a text that does not fit. Returns whether there was room. */
static bool held_print_last(struct interceptor *s, enum interceptor_moment moment,
			    const struct wording_place *place)
{
	bool words = moment == INTERCEPT_LAST_WORDS;
	size_t bytes = share_tail(&s->share, words), lines = share_tail(&s->line_share, words);
	uint64_t put = s->put;
	if (bytes == 0 || lines == 0 || s->left_out_count == LEFT_OUT_MAX ||
	    !intercept_print_last(s, bytes, lines, place))
		return false;
	held_take(s, put, preview_shown(s->preview) - s->line_share.printed, true);
	return true;
}

/* Prints lines that wait. Returns false if they can't be. */
static bool held_print(struct interceptor *s, enum interceptor_moment moment,
		       const struct wording_place *place)
{
	/* In mode head the end is near, and tells the ID. */
	if (!s->fits && intercept_is_by_head(s))
		return moment == INTERCEPT_LAST_WORDS;
	if (!s->fits)
		return !held_is_behind(s) || held_print_last(s, moment, place);
	if (held_lines_len(s) > 0)
		held_print_lines(s);
	return true;
}

bool interceptor_print_held(struct interceptor *s, enum interceptor_moment moment, int64_t now_ms,
			    const struct wording_place *place)
{
	bool room = true;
	if (moment != INTERCEPT_PAUSE || pause_is_quiet(&s->pause, now_ms)) {
		TRACE(PREVIEW, "%s: what is held back is printed, after %" PRIu64 " bytes",
		      PART_NAME(s), s->text_bytes);
		room = held_print(s, moment, place);
		pause_printed(&s->pause, now_ms, !s->fits);
		if (!held_is_settled(s))
			pause_again(&s->pause, now_ms + LOOK_MS);
	}
	if (pause_is_silent(&s->pause, now_ms) || moment == INTERCEPT_LAST_WORDS)
		held_print_partial(s);
	return room;
}
