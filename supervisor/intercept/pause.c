// What is held back from an agent before the end: it is printed at pauses, at heartbeats, and when
// somebody wants the run to end.

#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/intercept/internal.h"

#include <inttypes.h>
#include <string.h>

/* When the lines are due; 0: there are no new ones. */
static int64_t lines_due(const struct pause *p)
{
	int64_t at = p->line_at + PAUSE_MS;
	if (!p->is_fresh)
		return 0;
	return at > p->not_before ? at : p->not_before;
}

/* Whether no new line has come for a pause's length. */
static bool pause_is_quiet(const struct pause *p, int64_t now_ms)
{
	int64_t due = lines_due(p);
	return due && now_ms >= due;
}

size_t share_budget(size_t budget, size_t ceiling)
{
	size_t most = ceiling - ceiling / 3;
	return ceiling && budget > most ? most : budget;
}

static size_t lesser_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The most that is printed in all. Notices leave the preview half of a budget. */
static size_t share_most(const struct share *s, size_t budget)
{
	size_t most = budget < SIZE_MAX - budget / 2 ? budget + budget / 2 : SIZE_MAX;
	size_t below = s->ceiling > s->notices ? s->ceiling - s->notices : 0;
	if (s->ceiling == 0 || below >= most)
		return most;
	size_t least = lesser_of(s->printed + s->budget / 2, s->ceiling);
	return lesser_of(most, below > least ? below : least);
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
	size_t room = words || left / 2 < s->least ? left : left / 2;
	if (room > most)
		room = most;
	return room < s->least ? 0 : room;
}

size_t share_end(const struct share *s, size_t budget)
{
	if (budget == SIZE_MAX)
		return SIZE_MAX;
	size_t most = share_most(s, budget), half = budget / 2;
	return lesser_of(budget + lesser_of(s->live, half), most);
}

void share_take(struct share *s, size_t printed, bool omits)
{
	s->printed += printed;
	s->live += printed;
	if (omits)
		s->tails += printed;
}

/* A longer unfinished line is no question. */
#define PARTIAL_MAX ((size_t)160)

/* So often a program that draws is looked at while its lines may still change. */
#define LOOK_MS 500

/* Whether a reader waits who does not get every line as it comes. */
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
	if (s->state == BYTES_UNJUDGED || s->state >= BYTES_BINARY) {
		/* Nothing of what came can be printed before more comes. */
		s->pause.is_fresh = s->pause.is_touched = false;
		return false;
	}
	/* The complete lines become final, as far as they have stood. */
	bool is_due = moment != INTERCEPT_PAUSE || pause_is_quiet(&s->pause, now_ms);
	if (is_due && intercept_is_drawn(s, now_ms))
		terminal_settle(s->terminal, now_ms, INTERCEPT_SETTLE_DRAWN_MS,
				INTERCEPT_SETTLE_DRAWN_MS);
	else if (is_due)
		terminal_commit(s->terminal, terminal_lines(s->terminal));
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

/* Prints the lines of a text that fits. */
static void held_print_lines(struct interceptor *s)
{
	size_t len = held_lines_len(s), done = 0;
	uint64_t put = s->put, lines = 0;
	const char *data = s->held.data + s->printed;
	/* What is printed can't be grouped any more. */
	s->head.form = GROUPING_NONE;
	while (done < len) {
		const char *end = memchr(data + done, '\n', len - done);
		size_t line = (size_t)(end - data) + 1 - done;
		/* In mode head it counts there. */
		if (intercept_is_by_head(s) && !head_give(&s->head, data + done, line))
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

/* Prints the unfinished line if it is all that the terminal still holds and may be a question. A
   character that has not come whole waits, and so does what may become a line like a notice. */
static void held_print_partial(struct interceptor *s)
{
	struct buffer line = BUFFER_INIT;
	uint64_t put = s->put;
	size_t cut;
	s->pause.is_touched = false;
	/* Everything before it is printed. */
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
	if (most > utf8_clean_len(line.data, line.len) + used &&
	    buffer_try_append(&s->partial, line.data, line.len) == 0) {
		intercept_print_text(s, line.data, line.len);
		held_take(s, put, 0, !s->fits);
	}
out:
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

/* Prints lines that wait. Returns false if they can't be. */
static bool held_print(struct interceptor *s, enum interceptor_moment moment,
		       const struct wording_place *place)
{
	/* In mode head the end is near, and tells the ID. */
	if (!s->fits && intercept_is_by_head(s))
		return moment == INTERCEPT_LAST_WORDS;
	if (!s->fits) {
		uint64_t whole, put = s->put;
		if (preview_whole_lines(s->preview, &whole) <= s->printed_lines)
			return true;
		bool words = moment == INTERCEPT_LAST_WORDS;
		size_t bytes = share_tail(&s->share, words),
		       lines = share_tail(&s->line_share, words);
		if (bytes == 0 || lines == 0 || s->left_out_count == LEFT_OUT_MAX ||
		    !intercept_print_last(s, bytes, lines, place))
			return false;
		held_take(s, put, preview_shown(s->preview) - s->line_share.printed, true);
		return true;
	}
	if (held_lines_len(s) > 0)
		held_print_lines(s);
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
		room = held_print(s, moment, place);
		p->is_fresh = false;
		if (!s->fits) {
			p->distance = p->distance ? 2 * p->distance : PAUSE_DISTANCE_MS;
			p->not_before = now_ms + p->distance;
		}
		/* Lines wait that may still change. */
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
