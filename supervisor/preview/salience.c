#include "supervisor/preview/salience.h"

#include "supervisor/preview/chars.h"
#include "supervisor/preview/reading.h"
#include "supervisor/preview/shape.h"
#include "supervisor/preview/structure.h"

#include <string.h>

enum {
	/* Bytes of a long line that are judged: its start and its end. */
	JUDGED_FRONT = 320,
	JUDGED_BACK = 100,
	/* Places inside of it that are looked at, and their size. */
	WINDOWS = 16,
	WINDOW = 240,
	WINDOW_BEFORE = 60,
	WINDOW_TELLING = 25,
	/* A line this short that ends with a colon says what follows. */
	OPENING_LEN = 100,
	OPENING_SCORE = 20,
};

enum {
	FAIL_SCORE = 25, /* from here on a plain line says that something failed */
	WARNING_SCORE = 24,
	WARNING_RESULT = 22,
	SUMMARY_SCORE = 14, /* of results without a failure */
	SUMMARY_FAILED_SCORE = 46,
	SUMMARY_RESULT = 45,
	REST_SCORE = 20, /* what further words add at most */
};

/* What is judged of a line. That of a long one is put together in `out`. */
static const char *judged_text(const struct line *line,
			       char out[static JUDGED_FRONT + JUDGED_BACK + 1], size_t *len)
{
	bool whole = line_is_whole(line);
	const char *back = whole ? line->front : line->back;
	size_t back_len = whole ? line->front_len - line->ended : line->back_len;
	size_t front_len = whole ? back_len : line->front_len;

	if (whole && front_len <= JUDGED_FRONT + JUDGED_BACK) {
		*len = front_len;
		return line->front;
	}
	if (front_len > JUDGED_FRONT)
		front_len = JUDGED_FRONT;
	if (back_len > JUDGED_BACK) {
		back += back_len - JUDGED_BACK;
		back_len = JUDGED_BACK;
	}
	if (front_len)
		memcpy(out, line->front, front_len);
	out[front_len] = ' ';
	if (back_len)
		memcpy(out + front_len + 1, back, back_len);
	*len = front_len + 1 + back_len;
	return out;
}

/* Time stamps and the like: digits and what separates them, perhaps in brackets,
   up to a blank. Returns where the message starts. */
static size_t skip_stamps(const char *text, size_t len)
{
	size_t at = 0, digits, end;

	for (;;) {
		digits = 0;
		end = at < len && text[at] == '[' ? at + 1 : at;
		while (end < len && (is_digit(text[end]) || is_one_of(text[end], ":.,-+/TZ"))) {
			digits += is_digit(text[end]);
			end++;
		}
		if (end < len && text[end] == ']' && text[at] == '[')
			end++;
		if (digits < 4 || (end < len && !is_blank(text[end])))
			return at;
		at = skip_blanks(text, len, end);
		if (at < len && text[at] == '|')
			at = skip_blanks(text, len, at + 1);
	}
}

/* The message of a line: what is behind time stamps and between blanks. */
struct message {
	char copy[JUDGED_FRONT + JUDGED_BACK + 1];
	const char *text;
	size_t len;
	unsigned indent;
};

static void find_message(const struct line *line, struct message *m)
{
	size_t len, stamps, at;
	const char *text = judged_text(line, m->copy, &len);

	while (len > 0 && is_blank(text[len - 1]))
		len--;
	stamps = skip_stamps(text, len);
	at = skip_blanks(text, len, stamps);
	m->text = text + at;
	m->len = len - at;
	m->indent = (unsigned)(at - stamps);
}

static bool ends_with_pass(const struct message *m)
{
	static const char *const endings[] = {
		" ok",   " OK",  " PASSED",  " passed",     " Passed",   " PASS",
		" done", " yes", " SKIPPED", " UP-TO-DATE", "(skipped)",
	};

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		if (ends_with(m->text, m->len, endings[i]))
			return true;
	}
	return false;
}

static unsigned min_score(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Puts together what structure and words tell. */
static void conclude(const struct message *m, const struct structure *structure,
		     const struct reading *r, struct salience *out)
{
	bool passes = structure->kind == SALIENCE_PASS;
	bool failures = r->failures && !passes;
	unsigned score = r->best + min_score(r->rest / 4, r->best ? REST_SCORE : 0);

	out->kind = structure->kind;
	out->result = r->result;
	if (r->leveled)
		score /= 2;
	if (r->counts >= 2 || failures || (r->counts && (r->passed || r->skipped))) {
		unsigned least = failures ? SUMMARY_FAILED_SCORE : SUMMARY_SCORE;

		out->kind = SALIENCE_SUMMARY;
		out->score = score > least ? score : least;
		out->result = SUMMARY_RESULT;
		return;
	}
	if (r->warned) {
		out->kind = SALIENCE_WARNING;
		out->result = WARNING_RESULT;
		out->score = min_score(score, WARNING_SCORE);
		return;
	}
	passes |= ends_with_pass(m);
	if (passes || r->pass_first) {
		/* One of many, unless it says so of the whole. */
		if (passes)
			out->result = 0;
		out->kind = SALIENCE_PASS;
		return;
	}
	if (r->passed || r->skipped)
		score /= 2;
	if (out->kind == SALIENCE_PLAIN && score >= FAIL_SCORE)
		out->kind = SALIENCE_FAIL;
	if (structure->score) {
		unsigned low = min_score(score, structure->score);

		score = score + structure->score - low + low / 3;
	}
	out->score = min_score(score, 100);
}

uint32_t salience_shape(const struct line *line)
{
	struct message m;

	find_message(line, &m);
	return shape_of(m.text, m.len);
}

void salience_judge(const struct lexicon *lexicon, const struct line *line, struct salience *out)
{
	struct message m;
	struct structure structure;
	struct reading reading;

	*out = (struct salience){.kind = SALIENCE_BLANK};
	find_message(line, &m);
	if (m.len == 0)
		return;
	out->indent = m.indent;
	out->shape = shape_of(m.text, m.len);
	structure = structure_of(m.text, m.len);
	out->kind = structure.kind;
	if (structure.kind == SALIENCE_FRAME || structure.kind == SALIENCE_RULE) {
		out->score = structure.score;
		return;
	}
	reading_of(lexicon, m.text, m.len, &reading);
	conclude(&m, &structure, &reading, out);
	out->family = reading.best_word ^ (uint32_t)out->kind * 2654435769u ^
		      shape_of_opening(m.text, m.len);
	out->opens = out->score >= OPENING_SCORE && m.len < OPENING_LEN &&
		     (m.text[m.len - 1] == ':' || out->kind == SALIENCE_HEADING);
}

void salience_look_inside(const struct lexicon *lexicon, const struct scout *scout,
			  const struct line *line, struct salience *salience)
{
	size_t at = JUDGED_FRONT, end = line->front_len - line->ended, lines = 0;

	if (!line_is_whole(line) || end < JUDGED_FRONT + JUDGED_BACK)
		return;
	end -= JUDGED_BACK;
	for (unsigned tries = 0; tries < WINDOWS && at < end; tries++) {
		struct salience inside;
		struct line window = {0};
		size_t hit = at + scout_find(scout, line->front + at, end - at, &lines);

		if (hit == end)
			break;
		window.front = line->front + hit - WINDOW_BEFORE;
		window.front_len = end + JUDGED_BACK - hit + WINDOW_BEFORE;
		if (window.front_len > WINDOW)
			window.front_len = WINDOW;
		window.length = window.front_len;
		salience_judge(lexicon, &window, &inside);
		if (inside.score >= WINDOW_TELLING &&
		    (!salience->focus || inside.score > salience->score)) {
			salience->focus = hit - WINDOW_BEFORE;
			if (inside.score > salience->score)
				salience->score = inside.score;
		}
		at = hit + WINDOW / 2;
	}
}
