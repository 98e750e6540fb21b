#include "supervisor/preview/score.h"

#include "lib/fingerprint.h"
#include "supervisor/preview/chars.h"
#include "supervisor/preview/shape.h"
#include "supervisor/preview/smart.h"

#include <limits.h>
#include <stdlib.h>
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
	/* Columns in front of a message end within so many bytes. */
	COLUMNS_LEN = 120,
	/* A beginning without so many letters is no form. */
	FORM_LETTERS = 2,
	/* The code of a diagnostic has more than one. */
	CODE_DIGITS = 2,
};

/* The bit of a family that tells that its lines bear a mark of failure. */
#define MARKED 1u

enum {
	FAIL_SCORE = 25, /* from here on a plain line says that something failed */
	WARNING_SCORE = 24,
	WARNING_RESULT = 22,
	SUMMARY_SCORE = 14, /* of results without a failure */
	SUMMARY_FAILED_SCORE = 46,
	SUMMARY_RESULT = 45,
	REST_SCORE = 20, /* what further words add at most */
	/* What is left where a program only reports how another one ended. */
	OUTER_PERCENT = 20,
	OUTER_LEAST = 20,
	/* What is left of a complaint about something unused. */
	MINOR_PERCENT = 30,
};

/* The judged part of a line. For a long line it is put together in `out`. */
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

static bool is_date(const char *text, size_t len)
{
	return len > 4 && is_digit(text[0]) && is_digit(text[1]) && is_digit(text[2]) &&
	       is_digit(text[3]) && text[4] == '-';
}

/* The columns in front of a message that say where it comes from: names that end with tabs, in
   front of a date, or a name and number in front of a bar. Returns where the next column starts. */
static size_t skip_columns(const char *text, size_t len)
{
	size_t at = 0, end = len < COLUMNS_LEN ? len : COLUMNS_LEN;
	const char *tab = memchr(text, '\t', end);
	for (; tab; tab = memchr(tab + 1, '\t', end - (size_t)(tab + 1 - text))) {
		if (is_date(tab + 1, len - (size_t)(tab + 1 - text)))
			return (size_t)(tab - text) + 1;
	}
	while (at < end && !is_blank(text[at]))
		at++;
	bool named = at > 1 && is_letter(text[0]) && is_digit(text[at - 1]);
	at = skip_blanks(text, end, at);
	return named && at + 1 < end && text[at] == '|' && is_blank(text[at + 1]) ? at + 1 : 0;
}

/* The end of a time stamp at `at`: digits and what separates them, perhaps in brackets, up to a
   blank; in brackets also a share, "[ 3/10]" or "[ 50%]". `at` if there is none. */
static size_t stamp_end(const char *text, size_t len, size_t at)
{
	bool bracket = at < len && text[at] == '[';
	size_t end = bracket ? skip_blanks(text, len, at + 1) : at;
	size_t digits = 0, shares = 0, others = 0;
	for (; end < len && (is_digit(text[end]) || is_one_of(text[end], ":.,-+/TZ%")); end++) {
		bool share = text[end] == '/' || text[end] == '%';
		digits += is_digit(text[end]);
		shares += share;
		others += !share && !is_digit(text[end]);
	}
	if (bracket && (end == len || text[end++] != ']'))
		return at;
	if (end < len && !is_blank(text[end]))
		return at;
	bool share = shares == 1 && others == 0;
	return digits > 0 && (share ? bracket : digits >= 4) ? end : at;
}

/* The end of a process number as in "==4711== message" at `at`, or `at`. */
static size_t process_end(const char *text, size_t len, size_t at)
{
	size_t end = at + 2;
	if (!starts_with(text + at, len - at, "=="))
		return at;
	while (end < len && is_digit(text[end]))
		end++;
	return end > at + 2 && starts_with(text + end, len - end, "==") ? end + 2 : at;
}

/* Returns where the message with its indentation starts behind columns and stamps. */
static size_t skip_stamps(const char *text, size_t len)
{
	size_t at = skip_columns(text, len), start = at, end;
	while ((end = stamp_end(text, len, at)) > at || (end = process_end(text, len, at)) > at) {
		at = skip_blanks(text, len, end);
		if (at < len && text[at] == '|')
			end = at + 1;
		start = end < len && is_blank(text[end]) ? end + 1 : end;
		at = skip_blanks(text, len, end);
	}
	return start;
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
	size_t len;
	const char *text = judged_text(line, m->copy, &len);
	while (len > 0 && is_blank(text[len - 1]))
		len--;
	size_t stamps = skip_stamps(text, len);
	size_t at = skip_blanks(text, len, stamps);
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
		     const struct reading *r, struct score *out)
{
	bool passes = structure->kind == SCORE_PASS;
	bool failures = r->failures && !passes;
	unsigned score = r->best + min_score(r->rest / 4, r->best ? REST_SCORE : 0);
	out->kind = structure->kind;
	out->result = r->result;
	if (r->leveled)
		score /= 2;
	if (r->outer && !r->specific)
		score = min_score(score, OUTER_LEAST + score * OUTER_PERCENT / 100);
	if (r->minor)
		score = score * MINOR_PERCENT / 100;
	if (r->counts >= 2 || failures || r->headcount ||
	    (r->counts && (r->passed || r->skipped))) {
		unsigned least = failures ? SUMMARY_FAILED_SCORE : SUMMARY_SCORE;
		out->kind = SCORE_SUMMARY;
		out->score = score > least ? score : least;
		out->result = SUMMARY_RESULT;
		return;
	}
	if (r->warned) {
		out->kind = SCORE_WARNING;
		out->result = WARNING_RESULT;
		out->score = min_score(score, WARNING_SCORE);
		return;
	}
	passes |= ends_with_pass(m);
	if (passes || r->pass_first) {
		/* One test of many, unless the line is about the whole run. */
		if (passes)
			out->result = 0;
		out->kind = SCORE_PASS;
		return;
	}
	if (r->passed || r->skipped)
		score /= 2;
	if (out->kind == SCORE_PLAIN && score >= FAIL_SCORE)
		out->kind = SCORE_FAIL;
	if (structure->score) {
		unsigned low = min_score(score, structure->score);
		score = score + structure->score - low + low / 3;
	}
	out->score = min_score(score, 100);
}

static uint32_t shape_mix(uint32_t hash, uint32_t value)
{
	return (hash ^ value) * 16777619u;
}

/* A hash that is equal for messages that differ only in blanks, numbers other than 0, hashes
   and what follows the first directory of paths. */
static uint32_t shape_of(const char *text, size_t len)
{
	uint32_t hash = SHAPE_SEED;
	size_t at = 0;
	while ((at = skip_blanks(text, len, at)) < len) {
		size_t start = at;
		uint32_t token = SHAPE_SEED;
		while (at < len && !is_blank(text[at])) {
			char c = text[at++];
			if (is_digit(c)) {
				size_t from = at;
				/* Letters behind a digit are part of a hash, or a unit. */
				while (at < len && (is_digit(text[at]) || is_letter(text[at])))
					at++;
				/* "0 failed" is not like "3 failed". */
				if (c != '0' || at > from)
					c = '1';
			} else if (c == '/' && at - start > 1) {
				while (at < len && !is_blank(text[at]) && text[at] != ':')
					at++;
				token = SHAPE_SEED;
			}
			token = shape_mix(token, (unsigned char)c);
		}
		hash = shape_mix(hash, token);
	}
	return hash;
}

/* A hash that is equal for messages whose first tokens, up to one of `ends`, differ only in
   numbers. */
static uint32_t shape_of_opening(const char *text, size_t len, const char *ends)
{
	uint32_t hash = SHAPE_SEED;
	for (size_t i = 0; i < len && !is_blank(text[i]) && !is_one_of(text[i], ends); i++) {
		if (!is_digit(text[i]))
			hash = shape_mix(hash, (unsigned char)text[i]);
		else if (i == 0 || !is_digit(text[i - 1]))
			hash = shape_mix(hash, '0');
	}
	return hash;
}

/* The form of a message that tells of no failure: how it begins. A mark in front of the first word,
   or a word in brackets, is not enough, unless it says that something went well. */
static uint32_t form_of(const struct message *m, const struct score *score)
{
	static const char ends[] = "(/:";
	uint32_t hash = shape_of_opening(m->text, m->len, ends);
	size_t letters = 0, end = 0;
	if (score->score >= OPENING_SCORE ||
	    (score->kind != SCORE_PLAIN && score->kind != SCORE_PASS &&
	     score->kind != SCORE_WARNING))
		return 0;
	if (score->kind == SCORE_PASS)
		return hash | 1;
	for (; end < m->len && !is_blank(m->text[end]); end++)
		letters += is_letter(m->text[end]);
	if (letters == 0 || m->text[0] == '[') {
		end = skip_blanks(m->text, m->len, end);
		hash ^= shape_of_opening(m->text + end, m->len - end, ends) * 16777619u;
		for (; end < m->len && !is_blank(m->text[end]); end++)
			letters += is_letter(m->text[end]);
	}
	return letters >= FORM_LETTERS ? hash | 1 : 0;
}

/* The code of a diagnostic, behind a word or not, as in "error TS2304: message"; 0: it has none. */
static uint32_t code_of(const char *text, size_t len)
{
	size_t at = 0;
	for (unsigned word = 0; word < 2; word++) {
		size_t start = skip_blanks(text, len, at), letters, digits;
		for (at = start; at < len && is_letter(text[at]);)
			at++;
		for (letters = at - start; at < len && is_digit(text[at]);)
			at++;
		digits = at - start - letters;
		if (letters == 0 || at == len || !is_one_of(text[at], " :"))
			return 0;
		if (digits >= CODE_DIGITS)
			return shape_hash(SHAPE_SEED, text + start, at - start);
		if (digits > 0 || text[at] == ':')
			return 0;
	}
	return 0;
}

/* Lines that begin alike and tell the same. Those about a place in a file begin behind that, with a
   word or the letters of a code. */
static uint32_t family_of(const struct message *m, const struct structure *structure,
			  const struct reading *r, const struct score *score)
{
	const char *text = m->text, *end = m->text + m->len;
	uint32_t code = 0;
	if (structure->kind == SCORE_DETAIL && structure->score == SCORE_DIAGNOSTIC) {
		const char *behind = memmem(text, m->len, ": ", 2);
		text = behind ? behind + 2 : text;
		code = code_of(text, (size_t)(end - text));
	}
	return (r->best_word ^ (uint32_t)score->kind * 2654435769u ^
		(code ? code : shape_of_opening(text, (size_t)(end - text), "(/"))) |
	       MARKED;
}

/* The same for lines without a mark of failure, whatever their first word is, so that titles and
   messages about errors are known by their number. */
static uint32_t crowd_of(const struct message *m, const struct reading *r,
			 const struct score *score)
{
	char first = m->text[0];
	uint32_t hash = shape_mix(r->best_tail, (unsigned char)score->kind);
	hash = shape_mix(hash, m->indent);
	return shape_mix(hash, is_letter(first)  ? 'a'
			       : is_digit(first) ? '0'
						 : (unsigned char)first) &
	       ~MARKED;
}

uint32_t score_shape(const struct line *line)
{
	struct message m;
	find_message(line, &m);
	return shape_of(m.text, m.len);
}

void score_judge(const struct keywords *keywords, const struct line *line, struct score *out)
{
	struct message m;
	struct reading reading;
	*out = (struct score){.kind = SCORE_BLANK};
	find_message(line, &m);
	if (m.len == 0)
		return;
	out->indent = m.indent;
	out->shape = shape_of(m.text, m.len);
	struct structure structure = structure_of(m.text, m.len);
	out->kind = structure.kind;
	if (structure.kind == SCORE_FRAME || structure.kind == SCORE_RULE ||
	    structure.kind == SCORE_PLACE || structure.kind == SCORE_QUOTE) {
		out->alarms = structure.kind == SCORE_FRAME;
		out->score = structure.score;
		out->family = structure.kind == SCORE_PLACE ? out->shape | MARKED : 0;
		return;
	}
	reading_of(keywords, m.text, m.len, &reading);
	conclude(&m, &structure, &reading, out);
	out->alarms = reading.alarms;
	bool marked = reading.marked || (structure.score && structure.kind != SCORE_PLAIN);
	out->family = marked || !reading.best ? family_of(&m, &structure, &reading, out)
					      : crowd_of(&m, &reading, out);
	out->form = form_of(&m, out);
	out->opens = out->score >= OPENING_SCORE && m.len < OPENING_LEN &&
		     (m.text[m.len - 1] == ':' || out->kind == SCORE_HEADING);
}

void score_look_inside(const struct keywords *keywords, const struct literals *prefilter,
		       const struct line *line, struct score *score)
{
	size_t at = JUDGED_FRONT, end = line->front_len - line->ended, lines = 0;
	if (!line_is_whole(line) || end < JUDGED_FRONT + JUDGED_BACK)
		return;
	end -= JUDGED_BACK;
	for (unsigned tries = 0; tries < WINDOWS && at < end; tries++) {
		struct score inside;
		struct line window = {0};
		size_t hit = at + literals_find(prefilter, line->front + at, end - at, &lines);
		if (hit == end)
			break;
		window.front = line->front + hit - WINDOW_BEFORE;
		window.front_len = end + JUDGED_BACK - hit + WINDOW_BEFORE;
		if (window.front_len > WINDOW)
			window.front_len = WINDOW;
		window.length = window.front_len;
		score_judge(keywords, &window, &inside);
		if (inside.score >= WINDOW_TELLING &&
		    (!score->focus || inside.score > score->score)) {
			score->focus = hit - WINDOW_BEFORE;
			if (inside.score > score->score)
				score->score = inside.score;
		}
		at = hit + WINDOW / 2;
	}
}

/* Weighs the stored lines: each by itself, less if many lines say the same, more by its
   neighbours. */

/* Found by measuring on labelled logs; none of them is critical. */
enum {
	BEHIND = 14,  /* lines behind a telling one that it lifts */
	BEFORE = 16,  /* lines above, among which those it belongs to are looked for */
	SPREADS = 20, /* score from which on a line lifts others */
	UNIT = 6,     /* of a stored value, for one of a score */
	SEEN_BITS = 12,
	TITLE_REACH = 5, /* lines below a title */
	FEW = 4,         /* diagnostics of a family */
	CLEAR = 45,      /* score of a line that tells by itself what happened */
	QUIET = 30,      /* lines without one that tells of a failure */
};

static const float WEIGHT_MAX = 150.0f;
static const float END_REACH = 16000.0f; /* bytes from the end at which its favour is halved */
static const float END_FAVOUR = 0.4f, END_FAVOUR_RESULT = 1.0f;
static const float AFTER_QUIET = 1.3f;     /* for the first telling line after many that are not */
static const float RARE_DIAGNOSTIC = 1.8f; /* of one family there are few */
static const float RESULT_LEAST = 15.0f;
static const float OF_TITLE = 0.05f; /* left for the title of passing tests */

/* The share of its weight that a line hands on to the next ones, and how it fades. */
static const float TO_BEHIND = 0.5f, TO_OPENED = 0.8f;
static const float OVER_BLANK = 0.75f, OVER_OPENED = 0.93f, OVER_DEEPER = 0.9f, OVER_LINE = 0.84f;
/* To those right above it, the first of its paragraph, and those indented less. */
static const float TO_BEFORE = 0.4f, OVER_BEFORE = 0.65f;
static const float TO_PARAGRAPH = 0.55f;
static const float TO_PARENT = 0.5f, OVER_PARENT = 0.6f;

/* The share of a weight that is left for something that occurs up to so often. */
struct step {
	unsigned most;
	float factor;
};

/* For lines of one shape, for those that begin alike and tell the same, and for
   results. */
static const struct step shape_steps[] = {
	{1, 1.0f}, {4, 0.95f}, {16, 0.85f}, {64, 0.7f}, {256, 0.5f}, {UINT_MAX, 0.3f},
};
static const struct step family_steps[] = {
	{4, 1.0f}, {16, 0.9f}, {64, 0.75f}, {256, 0.6f}, {UINT_MAX, 0.45f},
};
static const struct step result_steps[] = {
	{2, 1.0f},
	{8, 0.6f},
	{UINT_MAX, 0.2f},
};
/* For further lines of one shape. */
static const struct step repeat_steps[] = {
	{0, 1.0f}, {1, 0.6f}, {2, 0.45f}, {3, 0.35f}, {UINT_MAX, 0.3f},
};

/* For lines without a mark of failure, of which there are many. */
static const struct step crowd_steps[] = {
	{6, 1.0f}, {12, 0.7f}, {24, 0.45f}, {48, 0.25f}, {UINT_MAX, 0.12f},
};
/* For further lines of one family. */
static const struct step relative_steps[] = {
	{0, 1.0f},
	{1, 0.85f},
	{3, 0.75f},
	{UINT_MAX, 0.7f},
};

static float factor_of(const struct step *steps, unsigned count)
{
	while (count > steps->most)
		steps++;
	return steps->factor;
}

/* A line that is being weighed. */
struct weighing {
	const struct smart *smart;
	const struct stored *line;
	unsigned before;    /* lines of its shape above */
	unsigned relatives; /* and of its family */
	float from_end;     /* bytes */
};

static float near_end(const struct weighing *w, float favour)
{
	return 1.0f + favour / (1.0f + w->from_end / END_REACH);
}

/* How much it says about a failure. */
static float failure_weight(const struct weighing *w)
{
	const struct sketch *sketch = &w->smart->sketch;
	float weight = (float)w->line->score;
	unsigned same = sketch_count(sketch, w->line->shape);
	unsigned family = sketch_count(sketch, w->line->family);
	/* The first of lines that all say the same: perhaps the one cause of many failures. */
	bool cause = w->before == 0 && same >= family;
	if (!cause || w->line->score < CLEAR)
		weight *= factor_of(shape_steps, same);
	weight *= factor_of(repeat_steps, w->before);
	weight *= factor_of(relative_steps, w->relatives);
	if (!(w->line->family & MARKED) && !cause)
		weight *= factor_of(crowd_steps, family);
	if (w->line->kind == SCORE_DETAIL && w->line->score >= SCORE_DIAGNOSTIC &&
	    w->line->score < FAIL_SCORE && sketch_count(sketch, w->line->family) <= FEW)
		weight *= RARE_DIAGNOSTIC;
	/* The first ones of a family may begin a cascade. */
	if (w->relatives >= 2)
		weight *= factor_of(family_steps, sketch_count(sketch, w->line->family));
	return weight * near_end(w, END_FAVOUR);
}

/* How much it says about a success. */
static float success_weight(const struct weighing *w)
{
	float weight = (float)w->line->result;
	weight *= factor_of(repeat_steps, w->before);
	weight *= factor_of(result_steps, sketch_count(&w->smart->sketch, w->line->family));
	return weight < RESULT_LEAST ? 0 : weight * near_end(w, END_FAVOUR_RESULT);
}

static void lift(struct stored *line, float weight)
{
	unsigned value = (unsigned)(weight * UNIT);
	if (line->kind == SCORE_BLANK)
		return;
	if (line->kind == SCORE_FRAME || line->kind == SCORE_PASS)
		value /= 3;
	if (value > line->value)
		line->value = (uint16_t)value;
}

static void lift_behind(struct store *store, size_t i, float weight)
{
	const struct stored *line = &store->lines[i];
	float share = weight * (line->opens ? TO_OPENED : TO_BEHIND);
	for (size_t k = 1; k <= BEHIND && i + k < store->count; k++) {
		struct stored *other = &store->lines[i + k];
		if (other->number != line->number + k)
			break;
		if (other->kind == SCORE_BLANK)
			share *= OVER_BLANK;
		else if (line->opens)
			share *= OVER_OPENED;
		else
			share *= other->indent > line->indent ? OVER_DEEPER : OVER_LINE;
		lift(other, share);
	}
}

static void lift_before(struct store *store, size_t i, float weight)
{
	const struct stored *line = &store->lines[i];
	float parent = weight * TO_PARENT, share = weight * TO_BEFORE;
	unsigned indent = line->indent;
	bool paragraph = true;
	for (size_t k = 1; k <= BEFORE && k <= i; k++) {
		struct stored *other = &store->lines[i - k];
		if (other->number + k != line->number)
			break;
		if (other->kind == SCORE_BLANK) {
			if (paragraph && k > 1)
				lift(other + 1, weight * TO_PARAGRAPH);
			paragraph = false;
			continue;
		}
		share *= OVER_BEFORE;
		lift(other, share);
		if (other->indent < indent) {
			indent = other->indent;
			lift(other, parent);
			parent *= OVER_PARENT;
		}
	}
}

/* The line's own weight, under what is asked for. */
static float own_weight(const struct weighing *w, enum outcome outcome)
{
	float failure = outcome == OUTCOME_SUCCESS ? 0 : failure_weight(w);
	float success = outcome == OUTCOME_FAILURE ? 0 : success_weight(w);
	float weight = failure > success ? failure : success;
	return weight < WEIGHT_MAX ? weight : WEIGHT_MAX;
}

/* How many were counted in this slot before; one more now. */
static unsigned count_up(uint8_t *slots, uint32_t hash)
{
	uint8_t *count = &slots[(hash * 2654435769u) >> (32 - SEEN_BITS)];
	return *count < UINT8_MAX ? (*count)++ : *count;
}

void smart_trait(const struct smart *s, const struct line *line, uint64_t bytes,
		 enum outcome outcome, struct trait *trait)
{
	struct score score;
	struct stored stored;
	struct weighing w = {.smart = s, .line = &stored};
	smart_judge(s, line, &score);
	stored = (struct stored){.score = (uint8_t)score.score,
				 .result = (uint8_t)score.result,
				 .shape = score.shape,
				 .family = score.family};
	w.from_end = (float)(bytes - line->offset);
	*trait = (struct trait){.value = (unsigned)(own_weight(&w, outcome) * UNIT),
				.shape = score.shape,
				.family = score.family,
				.form = score.form,
				.kind = (uint8_t)score.kind,
				.score = (uint8_t)score.score,
				.indent = (uint8_t)(score.indent < 255 ? score.indent : 255),
				.opens = score.opens,
				.alarms = score.alarms,
				.common = smart_is_common(s, score.form)};
}

/* Whether a line is the title of tests that pass, or of a group that begins with such: words of
   failure in it name what is tested. */
static bool is_passing_title(const struct store *store, size_t i)
{
	const struct stored *title = &store->lines[i];
	if (title->kind != SCORE_FAIL && title->kind != SCORE_HEADING &&
	    title->kind != SCORE_SUMMARY)
		return false;
	for (size_t k = 1; k <= TITLE_REACH && i + k < store->count; k++) {
		const struct stored *below = &store->lines[i + k];
		if (below->number != store->lines[i].number + k)
			return false;
		if (below->kind == SCORE_BLANK)
			continue;
		if (below->indent <= title->indent)
			return false;
		if (below->kind == SCORE_PASS)
			return true;
		if (below->kind != SCORE_PLAIN && below->kind != SCORE_FAIL &&
		    below->kind != SCORE_HEADING)
			return false;
		title = below;
	}
	return false;
}

size_t smart_failures(const struct smart *s, uint64_t *prints)
{
	size_t count = 0;
	for (size_t i = 0; i < s->store.count; i++) {
		const struct stored *line = &s->store.lines[i];
		if (line->kind == SCORE_FAIL && line->score >= FAIL_SCORE &&
		    !is_passing_title(&s->store, i))
			prints[count++] = store_print(&s->store, i);
	}
	return fingerprint_sort(prints, count);
}

void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome)
{
	struct store *store = &s->store;
	uint8_t shapes[1 << SEEN_BITS] = {0}, families[1 << SEEN_BITS] = {0};
	uint64_t told = 0; /* the last line that tells of a failure */
	for (size_t i = 0; i < store->count; i++)
		store->lines[i].value = 0;
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		struct weighing w = {.smart = s, .line = line};
		if (line->score == 0 && line->result == 0)
			continue;
		w.before = count_up(shapes, line->shape);
		w.relatives = count_up(families, line->family);
		w.from_end = (float)(bytes - line->offset);
		float weight = own_weight(&w, outcome);
		if (line->score >= SPREADS) {
			weight *= line->number > told + QUIET ? AFTER_QUIET : 1.0f;
			told = line->number;
		}
		if (is_passing_title(store, i))
			weight *= OF_TITLE;
		/* The weight from the neighbours counts half. */
		unsigned value = line->value / 2u + (unsigned)(weight * UNIT);
		line->value = (uint16_t)(value < STORE_VALUES ? value : STORE_VALUES - 1);
		if (line->score >= SPREADS && weight >= SPREADS / 2.0f &&
		    outcome != OUTCOME_SUCCESS) {
			lift_behind(store, i, weight);
			lift_before(store, i, weight);
		}
	}
}
