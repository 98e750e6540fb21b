#include "supervisor/preview/internal.h"

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

enum {
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

/* The columns in front of a message that say where it comes from: names that end with tabs, in
   front of a date, or a name and number in front of a bar. Returns where the next column starts. */
static size_t skip_columns(const char *text, size_t len)
{
	size_t at = 0, end = len < COLUMNS_LEN ? len : COLUMNS_LEN;
	const char *tab = memchr(text, '\t', end);
	for (; tab; tab = memchr(tab + 1, '\t', end - (size_t)(tab + 1 - text))) {
		const char *date = tab + 1;
		if (len - (size_t)(date - text) > 4 && is_digit(date[0]) && is_digit(date[1]) &&
		    is_digit(date[2]) && is_digit(date[3]) && date[4] == '-')
			return (size_t)(date - text);
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
	bool whole = line_is_whole(line);
	const char *text = line->front, *back = whole ? line->front : line->back;
	size_t len = whole ? line->front_len - line->ended : line->front_len;
	size_t back_len = whole ? len : line->back_len;
	/* Of a long line its start and its end are put together. */
	if (!whole || len > JUDGED_FRONT + JUDGED_BACK) {
		if (len > JUDGED_FRONT)
			len = JUDGED_FRONT;
		if (back_len > JUDGED_BACK) {
			back += back_len - JUDGED_BACK;
			back_len = JUDGED_BACK;
		}
		if (len)
			memcpy(m->copy, text, len);
		m->copy[len++] = ' ';
		if (back_len)
			memcpy(m->copy + len, back, back_len);
		len += back_len;
		text = m->copy;
	}
	while (len > 0 && is_blank(text[len - 1]))
		len--;
	size_t stamps = skip_stamps(text, len);
	size_t at = skip_blanks(text, len, stamps);
	m->text = text + at;
	m->len = len - at;
	m->indent = (unsigned)(at - stamps);
}

static unsigned min_score(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Puts together what structure and words tell. */
static void conclude(const struct message *m, const struct structure *structure,
		     const struct reading *r, struct score *out)
{
	static const char *const endings[] = {
		" ok",   " OK",  " PASSED",  " passed",     " Passed",   " PASS",
		" done", " yes", " SKIPPED", " UP-TO-DATE", "(skipped)",
	};
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
	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings) && !passes; i++)
		passes = ends_with(m->text, m->len, endings[i]);
	if (passes || r->pass_first) {
		/* One test of many, unless the line is about the whole run. */
		if (passes)
			out->result = 0;
		out->kind = SCORE_PASS;
		return;
	}
	if (r->passed || r->skipped)
		score /= 2;
	if (out->kind == SCORE_PLAIN && score >= SCORE_FAILURE)
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
	       SCORE_MARKED;
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
	       ~SCORE_MARKED;
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
	out->indent = (uint8_t)(m.indent < 255 ? m.indent : 255);
	out->shape = shape_of(m.text, m.len);
	struct structure structure = structure_of(m.text, m.len);
	out->kind = structure.kind;
	if (structure.kind == SCORE_FRAME || structure.kind == SCORE_RULE ||
	    structure.kind == SCORE_PLACE || structure.kind == SCORE_QUOTE) {
		out->alarms = structure.kind == SCORE_FRAME;
		out->score = structure.score;
		out->family = structure.kind == SCORE_PLACE ? out->shape | SCORE_MARKED : 0;
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
