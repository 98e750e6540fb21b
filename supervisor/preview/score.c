#include "supervisor/preview/internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	COUNT_MAX = 100000,
	/* Bytes that are judged at the start, and at the end, of a long line. */
	JUDGED = 320,
	/* The most places between them that are judged, and the size of each in bytes. */
	WINDOWS = 16,
	WINDOW = 100,
};

/* Facts about one message, collected while it is read. */
struct reading {
	const struct preview_judge *judge;
	const char *text;
	size_t len;
	size_t name;        /* in a message "name: value", the end of the name; else 0 */
	bool names;         /* the last word of failure is in that name, not at its end */
	uint32_t before;    /* hash of the word before and "_", if that word may be the first of a
			       pair; or 0 */
	int sum;            /* sum of the weights of its words and forms */
	uint32_t forms;     /* the forms that were found: bits of enum form */
	int best;           /* the highest weight of a word of failure */
	uint32_t best_word; /* that word's hash; of the names of exceptions: read_word() */
	unsigned result;    /* how much it says about a success */
	unsigned counts;    /* how many counts it has: "12 passed", "Errors: 0" */
	bool failures;      /* one of them counts failures, and is not 0 */
	bool alarms;        /* it has a word of failure */
	bool warned, passed;
	bool thread;     /* it names a thread */
	bool expects;    /* it begins with an expected value, so the actual one follows */
	bool pass_first; /* it begins with a word for a passed or skipped test */
	bool pass_last;  /* it ends with such a word, or only times follow it */
};

static void add_form(struct reading *r, enum form form)
{
	if (!(r->forms >> form & 1))
		r->sum += form_weights[form];
	r->forms |= 1u << form;
}

/* The form of one message: how it begins, and what it consists of. */

/* A separator, which repeats one character, or a heading between two separators. */
static bool read_rule(struct reading *r, enum score_kind *kind)
{
	const char *text = r->text;
	size_t one = (unsigned char)text[0] >= 0xE0 ? 3 : 1, n = one, end = r->len;
	if (is_letter(text[0]) || is_digit(text[0]))
		return false;
	while (n + one <= end && memcmp(text + n, text, one) == 0)
		n += one;
	if (n < 3 * one)
		return false;
	*kind = SCORE_RULE;
	if (skip_blanks(text, end, n) == end)
		return true;
	while (end >= n + one && memcmp(text + end - one, text, one) == 0)
		end -= one;
	if (r->len - end < 3 * one)
		return false;
	*kind = SCORE_HEADING;
	add_form(r, text[0] == '_' ? FORM_UNDERSCORED : FORM_RULED);
	return true;
}

/* A quoted source line: "12 | source", "> 12 | source". Not a row of a table: "12 | ERROR |
   message". */
static bool is_quote(const char *text, size_t len)
{
	size_t from = skip_blanks(text, len, text[0] == '>'), at = skip_digits(text, len, from);
	bool numbered = at > from;
	at = skip_blanks(text, len, at);
	size_t bar = at < len && text[at] == '|'                        ? 1
		     : starts_with(text + at, len - at, "\xE2\x94\x82") ? 3
									: 0;
	if (!numbered || bar == 0 || (at + bar < len && !is_blank(text[at + bar])))
		return false;
	at = skip_blanks(text, len, at + bar);
	return at + 1 >= len || !is_upper(text[at]) || !is_upper(text[at + 1]);
}

/* A message of a compiler or linter, "file.c:12:5: message", or only its place. */
static bool read_diagnostic(struct reading *r, enum score_kind *kind)
{
	const char *text = r->text;
	size_t n = 0, numbers = 0, len = r->len;
	bool dot = false, bracket = false;
	for (; n + 1 < len && !is_blank(text[n]) && text[n] != ':' && !bracket; n++) {
		dot |= text[n] == '.' && n > 0;
		bracket = dot && text[n] == '(' && is_digit(text[n + 1]);
	}
	while (bracket && n < len && (is_digit(text[n]) || text[n] == ','))
		n++;
	numbers = bracket && n < len && text[n++] == ')';
	for (; n + 1 < len && text[n] == ':' && is_digit(text[n + 1]); numbers++)
		n = skip_digits(text, len, n + 1);
	if (!dot || numbers == 0 || numbers > 2 || (n < len && !is_one_of(text[n], ": ")))
		return false;
	/* "/shop/a.go:12", "/shop/a.go:12 +0x1d" */
	if (n == len || starts_with(text + n, len - n, " +0x")) {
		*kind = SCORE_FRAME;
		return text[0] == '/';
	}
	bool colon = text[n] == ':';
	if (colon && n + 1 < len &&
	    (!is_blank(text[n + 1]) || starts_with(text + n, len - n, ": in "))) {
		*kind = SCORE_FRAME; /* "file.rb:12:in `load'", "file.py:12: in load" */
		add_form(r, FORM_FRAME);
		return true;
	}
	*kind = colon && n + 1 == len ? SCORE_PLACE : SCORE_DETAIL;
	add_form(r, *kind == SCORE_PLACE ? FORM_PLACE : colon ? FORM_DIAGNOSTIC : FORM_PLACED);
	return true;
}

static enum score_kind read_structure(struct reading *r)
{
	static const char *const blocked[] = {"semacquire", "Mutex", "waiting for monitor"};
	const char *text = r->text;
	enum score_kind kind = SCORE_PLAIN;
	size_t len = r->len, n = skip_digits(text, size_min(len, 5), 0);
	if (read_rule(r, &kind))
		return kind;
	/* A thread in a dump of threads: 'goroutine 7 [select]:', '"main" #1 prio=5 tid=0x1'. */
	r->thread = text[0] == '"'
			    ? memmem(text, len, " prio=", 6) || memmem(text, len, " nid=", 5)
			    : starts_with(text, len, "goroutine ") && ends_with(text, len, "]:");
	for (size_t i = 0; r->thread && i < sizeof(blocked) / sizeof(*blocked); i++) {
		if (memmem(text, len, blocked[i], strlen(blocked[i])))
			add_form(r, FORM_BLOCKED);
	}
	/* "12) name", "3. name" */
	if (n > 0 && n + 2 < len && is_blank(text[n + 1]) && is_one_of(text[n], ").")) {
		add_form(r, text[n] == ')' ? FORM_BRACKETED : FORM_NUMBERED);
		return SCORE_HEADING;
	}
	if (is_quote(text, len))
		return SCORE_QUOTE;
	if (read_diagnostic(r, &kind))
		return kind;
	if (!r->judge->openings[(unsigned char)text[0]])
		return SCORE_PLAIN;
	for (const struct opening *o = opening_weights; o->prefixes; o++) {
		for (const char *at = o->prefixes, *end; *at; at = end + (*end == '|')) {
			end = strchrnul(at, '|');
			if (at[0] != text[0] || len < (size_t)(end - at) ||
			    memcmp(text, at, (size_t)(end - at)) != 0)
				continue;
			/* "File "a.ml", line 4, characters 10-23:" */
			if (o->kind == SCORE_FRAME && text[len - 1] == ':') {
				add_form(r, FORM_PLACE);
				return SCORE_PLACE;
			}
			r->sum += o->weight;
			return (enum score_kind)o->kind;
		}
	}
	return SCORE_PLAIN;
}

/* The words of one message. */

/* Returns the number after a word ("Errors: 2", "failures=0", "exit code 1"), or -1. */
static int number_behind(const struct reading *r, size_t at)
{
	size_t n = at;
	int value = 0;
	while (n < r->len && n - at < 3 && is_one_of(r->text[n], " :=("))
		n++;
	if (n >= r->len || !is_digit(r->text[n]))
		return -1;
	for (; n < r->len && is_digit(r->text[n]) && value < COUNT_MAX; n++)
		value = value * 10 + (r->text[n] - '0');
	/* "2.5 s" and "3rd" are not counts, but "3." is. */
	if (n < r->len && (is_letter(r->text[n]) ||
			   (r->text[n] == '.' && n + 1 < r->len && is_digit(r->text[n + 1]))))
		return -1;
	return value;
}

/* Returns the number before a word ("3 failed"), or -1. */
static int number_before(const struct reading *r, size_t at)
{
	int value = 0, scale = 1;
	size_t n = at;
	while (n > 0 && is_blank(r->text[n - 1]))
		n--;
	for (; n > 0 && scale <= COUNT_MAX; n--) {
		char c = r->text[n - 1];
		if (!is_digit(c) && (c != ',' || scale == 1))
			break;
		value += is_digit(c) ? (c - '0') * scale : 0;
		scale *= is_digit(c) ? 10 : 1;
	}
	if (scale == 1 ||
	    (n > 0 && (is_letter(r->text[n - 1]) || is_one_of(r->text[n - 1], "-_/.:"))))
		return -1;
	return value;
}

/* Whether the rest of a message after a word is a value with a unit: "timeout: 15.0 minutes",
   "timeout=30s". */
static bool is_setting(const struct reading *r, size_t at)
{
	if (at == r->len || !is_one_of(r->text[at], ":="))
		return false;
	size_t from = skip_blanks(r->text, r->len, at + 1), unit = from;
	while (unit < r->len && (is_digit(r->text[unit]) || r->text[unit] == '.'))
		unit++;
	size_t end = skip_blanks(r->text, r->len, unit);
	bool bare = r->text[at] == '=' && end == r->len;
	while (end < r->len && is_letter(r->text[end]))
		end++;
	return unit > from && end == r->len && (bare || is_letter(r->text[end - 1]));
}

/* A word, and what is around it. */
struct occurrence {
	size_t start, len;
	uint32_t hash; /* of the word in lower case */
	bool upper;    /* FAILED */
	bool embedded; /* part of a path, an option or an identifier, and so of no weight */
	bool first;    /* it begins the message */
	bool colon;    /* a colon follows */
};

/* Whether a name is that of an exception: NullPointerException, ValueError, AssertionFailure. */
static bool is_exception(const char *name, size_t len)
{
	static const char *const tails[] = {"Error", "Exception", "Failure", "Fault", "Panic"};
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails) && is_one_of(name[len - 1], "rnetc");
	     i++) {
		if (len > strlen(tails[i]) && ends_with(name, len, tails[i]))
			return true;
	}
	return false;
}

static void read_word(struct reading *r, const struct occurrence *o)
{
	const char *name = r->text + o->start;
	size_t end = o->start + o->len;
	uint32_t hash = o->hash, pair = r->before;
	const struct keyword *k = keywords_find(&r->judge->keywords, hash);
	const struct word *w = k->row;
	r->before = k->is_first ? shape_mix(hash, '_') : 0;
	if (pair) {
		for (size_t i = 0; i < o->len; i++)
			pair = shape_mix(pair, (unsigned char)(name[i] | 32));
		k = keywords_find(&r->judge->keywords, pair);
		w = k->row ? k->row : w;
	}
	enum word_kind kind = w ? (enum word_kind)w->kind : WORD_OTHER;
	int weight = w ? w->weight : 0;
	if (kind != WORD_UNIT)
		r->pass_last =
			!o->first && (kind == WORD_PASS || kind == WORD_SKIP || kind == WORD_DONE);
	bool counted = !o->embedded && w && w->counted;
	int count = counted ? number_before(r, o->start) : -1;
	/* In "error 98" the number is a code, not a count. */
	if (counted && count < 0 &&
	    !(o->len == 5 && strncasecmp(name, "error", 5) == 0 && end < r->len &&
	      is_blank(r->text[end])))
		count = number_behind(r, end);
	if (o->embedded || (count < 0 && kind == WORD_FAIL && is_setting(r, end))) {
		r->alarms |= kind == WORD_FAIL;
		return;
	}
	if (count >= 0) {
		r->counts++;
		r->failures |= kind == WORD_FAIL && count > 0;
		add_form(r, FORM_COUNT);
		if (kind == WORD_FAIL)
			add_form(r, count > 0 ? FORM_FAILURES : FORM_NO_FAILURES);
		return;
	}
	r->sum += weight;
	r->expects |= o->first && kind == WORD_EXPECTED;
	if (w && kind == WORD_FAIL) {
		if (o->colon)
			add_form(r, FORM_COLON);
		if (o->upper)
			add_form(r, FORM_UPPER);
		if (o->first)
			add_form(r, FORM_FIRST);
	} else if (!w && is_exception(name, o->len)) {
		enum form form = o->colon ? FORM_EXCEPTION_COLON : FORM_EXCEPTION;
		add_form(r, form);
		kind = WORD_FAIL;
		weight += form_weights[form];
		/* The name of an exception is too specific to be compared: names with the same
		   ending count as one word. */
		hash = (unsigned char)name[o->len - 2];
	}
	if (kind == WORD_FAIL) {
		r->alarms = true;
		r->names = end < r->name;
		if (weight > r->best || !r->best_word) {
			r->best = weight;
			r->best_word = hash;
		}
	} else if (kind == WORD_PASS || kind == WORD_SKIP) {
		r->passed = true;
		r->pass_first |= o->first;
	} else if (kind == WORD_STATUS) {
		/* Words may come before the number: "exited with status 1". */
		while (end < r->len && (is_letter(r->text[end]) || is_one_of(r->text[end], " -")))
			end++;
		if (number_behind(r, end) > 0)
			add_form(r, FORM_STATUS);
	}
	r->warned |= kind == WORD_WARN;
	if (kind == WORD_PASS)
		r->result = RESULT_PASS;
	else if ((kind == WORD_RESULT || kind == WORD_DONE) && !r->result)
		r->result = RESULT_MADE;
}

/* Whether the word at `at` is the last part of a qualified name: java.lang.AssertionError,
   Foo::Error. */
static bool is_class_name(const char *text, size_t token, size_t at)
{
	if (at <= token || !is_upper(text[at]) || !is_one_of(text[at - 1], ".:\\"))
		return false;
	while (at > token && (is_letter(text[at - 1]) || is_digit(text[at - 1]) ||
			      is_one_of(text[at - 1], ".:_$\\")))
		at--;
	return at == token || !is_one_of(text[at - 1], "/-");
}

/* Reads a token, which has only visible characters. */
static void read_token(struct reading *r, size_t token, size_t end)
{
	const char *text = r->text;
	size_t from = token, to = end, at = token;
	/* Skips quotes and brackets around it. */
	while (from < to && is_one_of(text[from], "([{<'\"`*!=:>#|."))
		from++;
	while (to > from && is_one_of(text[to - 1], ")]}>'\"`*!=:.,;?<|"))
		to--;
	while (at < end) {
		struct occurrence o;
		if (!is_letter(text[at])) {
			at++;
			continue;
		}
		/* A hyphen is a part of "fail-fast", but not of "error-". */
		o = (struct occurrence){.start = at, .hash = SHAPE_SEED};
		uint32_t hash = SHAPE_SEED;
		size_t uppers = 0;
		for (size_t i = at; i < end; i++) {
			const bool letter = is_letter(text[i]);
			if (!letter && !is_one_of(text[i], "'-"))
				break;
			/* Makes letters lower case; apostrophe and hyphen have this bit already. */
			hash = shape_mix(hash, (unsigned char)(text[i] | 32));
			uppers += is_upper(text[i]);
			o.hash = letter ? hash : o.hash;
			at = letter ? i + 1 : at;
		}
		o.len = at - o.start;
		o.upper = uppers == o.len;
		char next = at < r->len ? text[at] : ' ';
		o.first = o.start == from && token == 0;
		o.colon = next == ':' && (at + 1 == r->len || text[at + 1] != ':');
		o.embedded = (o.start != from && !is_class_name(text, token, o.start)) ||
			     text[token] == '-' || (at < to && !is_one_of(next, ":[=!,;"));
		read_word(r, &o);
	}
}

/* Returns the end of a time stamp at `at`, or `at` if there is none. A blank follows it. It has a
   time ("07:12", "11/29-07:12:05.3") or a date ("2026-11-29"); in brackets it may also be a share
   or seconds: "[ 3/10]", "[ 50%]", "[ 12.345678]". */
static size_t stamp_end(const char *text, size_t len, size_t at)
{
	static const char *const forms[] = {"2:2", "1:2", "4-2-2", "4/2/2"};
	bool bracket = at < len && text[at] == '[', found = false;
	size_t end = bracket ? skip_blanks(text, len, at + 1) : at, n = 0;
	char form[24] = ""; /* with the length of each number in place of its digits */
	while (end < len && n + 1 < sizeof(form)) {
		size_t digits = skip_digits(text, len, end) - end;
		if (digits == 0 && (n == 0 || !is_one_of(text[end], ":.,-+/TZ%")))
			break;
		form[n++] = digits ? (char)('0' + size_min(digits, 9)) : text[end];
		end += digits ? digits : 1;
	}
	for (size_t i = 0; n > 1 && i < sizeof(forms) / sizeof(*forms); i++)
		found |= strstr(form, forms[i]) != NULL;
	if (bracket && (end == len || text[end++] != ']'))
		return at;
	if (end < len && !is_blank(text[end]))
		return at;
	return found || (bracket && strpbrk(form, "/%.")) ? end : at;
}

/* The message of a line: the line without time stamps at its start, and without blanks at its
   ends. */
struct message {
	char copy[2 * JUDGED + 1];
	const char *text;
	size_t len;
	unsigned indent;
};

static void find_message(const struct line *line, struct message *m)
{
	const bool whole = line_is_whole(line);
	const char *text = line->front;
	size_t len = line->front_len - (whole && line->ended);
	/* Joins the start and the end of a long line. */
	if (!whole || len > 2 * JUDGED) {
		const char *end = whole ? text + len : line->back + line->back_len;
		size_t back = size_min(whole ? len : line->back_len, JUDGED);
		len = size_min(len, JUDGED);
		if (len)
			memcpy(m->copy, text, len);
		m->copy[len++] = ' ';
		if (back)
			memcpy(m->copy + len, end - back, back);
		len += back;
		text = m->copy;
	}
	while (len > 0 && is_blank(text[len - 1]))
		len--;
	/* Skips time stamps. The blanks after them are the indent. */
	size_t start = 0, at = 0, end;
	while ((end = stamp_end(text, len, at)) > at && skip_blanks(text, len, end) < len) {
		at = skip_blanks(text, len, end);
		if (at < len && text[at] == '|')
			end = at + 1;
		start = end < len && is_blank(text[end]) ? end + 1 : end;
		at = skip_blanks(text, len, end);
	}
	at = skip_blanks(text, len, start);
	m->text = text + at;
	m->len = len - at;
	m->indent = (unsigned)(at - start);
}

/* Returns a hash that is equal for messages that differ only in blanks, numbers other than 0,
   hashes, and paths after their first directory. */
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
				/* Letters after a digit are a part of a hash, or a unit. */
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

/* Returns a hash that is equal for messages that have the same kind and strongest word, and whose
   first tokens, up to a bracket, differ only in numbers. */
static uint32_t family_of(const struct message *m, const struct reading *r, enum score_kind kind)
{
	/* Messages about a place in a file begin after that place. */
	bool placed = r->forms >> FORM_DIAGNOSTIC & 1;
	const char *behind = placed ? memmem(m->text, m->len, ": ", 2) : NULL;
	const char *at = behind ? behind + 2 : m->text, *end = m->text + m->len;
	uint32_t opening = SHAPE_SEED;
	for (bool digits = false; at < end && !is_blank(*at) && !is_one_of(*at, "(/"); at++) {
		if (!is_digit(*at) || !digits)
			opening = shape_mix(opening, is_digit(*at) ? '0' : (unsigned char)*at);
		digits = is_digit(*at);
	}
	/* A line with a status of failure is of another family than those with status 0. */
	return r->best_word ^ (uint32_t)kind * 2654435769u ^ opening ^
	       (r->forms >> FORM_STATUS & 1);
}

static void judge_message(const struct preview_judge *j, const struct line *line, struct score *out)
{
	struct message m;
	*out = (struct score){.kind = SCORE_BLANK};
	find_message(line, &m);
	if (m.len == 0)
		return;
	struct reading r = {.judge = j, .text = m.text, .len = m.len};
	size_t name = 0;
	while (name < m.len && (is_letter(m.text[name]) || m.text[name] == ' '))
		name++;
	if (starts_with(m.text + name, m.len - name, ": ") && name + 2 < m.len)
		r.name = name;
	enum score_kind kind = read_structure(&r);
	bool is_text = kind != SCORE_FRAME && kind != SCORE_RULE && kind != SCORE_PLACE &&
		       kind != SCORE_QUOTE;
	for (size_t at = 0, token; is_text && (at = skip_blanks(m.text, m.len, at)) < m.len;) {
		for (token = at; at < m.len && !is_blank(m.text[at]);)
			at++;
		read_token(&r, token, at);
	}
	bool opens = is_text && m.text[m.len - 1] == ':';
	if (opens)
		add_form(&r, FORM_OPENS);
	/* A passed test, unless the line sums up the whole run. */
	bool passes = kind == SCORE_PASS || r.pass_last;
	bool sums_up =
		(r.failures && kind != SCORE_PASS) || r.counts >= 2 || (r.counts && r.passed);
	if (sums_up) {
		kind = SCORE_SUMMARY;
		r.result = RESULT_COUNTS;
		if (r.failures && r.sum < SCORE_FAILURES)
			r.sum = SCORE_FAILURES;
	} else if (r.warned) {
		kind = SCORE_WARNING;
		r.result = RESULT_MADE;
	} else if (passes || r.pass_first) {
		kind = SCORE_PASS;
		r.result = passes ? 0 : r.result;
		r.sum = 0;
	} else if (kind == SCORE_PLAIN && r.sum >= SCORE_RELEVANT) {
		kind = r.expects ? SCORE_DETAIL : SCORE_FAIL;
	}
	bool tells = r.sum >= SCORE_RELEVANT;
	out->kind = (uint8_t)kind;
	out->score = (uint8_t)(r.sum < 0 ? 0 : size_min((size_t)r.sum, 100));
	out->result = (uint8_t)r.result;
	out->indent = (uint8_t)size_min(m.indent, UINT8_MAX);
	out->alarms = r.alarms || kind == SCORE_FRAME;
	out->thread = r.thread;
	out->field = r.name > 0;
	out->names = r.names;
	out->ends = r.forms >> FORM_STATUS & 1;
	out->shape = shape_of(m.text, m.len);
	out->family = is_text ? family_of(&m, &r, kind) : kind == SCORE_PLACE ? out->shape : 0;
	out->tells =
		is_text &&
		(tells || (kind != SCORE_PLAIN && kind != SCORE_PASS && kind != SCORE_WARNING));
	out->opens = is_text && tells && (opens || r.expects);
}

/* Judges places in the middle of a long line, and adds to its score. */
static void look_inside(const struct preview_judge *j, const struct line *line, struct score *score)
{
	size_t at = JUDGED, end = line->front_len - line->ended - JUDGED, lines = 0;
	for (unsigned tries = 0; tries < WINDOWS && at < end; tries++) {
		struct score inside;
		size_t from = at + literals_find(&j->prefilter, line->front + at, end - at, &lines);
		if (from == end)
			break;
		from -= FOUND_BEFORE;
		size_t len = size_min(end + JUDGED - from, WINDOW);
		judge_message(j,
			      &(struct line){
				      .front = line->front + from, .front_len = len, .length = len},
			      &inside);
		if (inside.score >= SCORE_RELEVANT &&
		    (!score->focus || inside.score > score->score)) {
			score->focus = (uint32_t)from;
			if (inside.score > score->score)
				score->score = inside.score;
		}
		at = from + WINDOW;
	}
}

void score_judge(const struct preview_judge *j, const struct line *line, struct score *out)
{
	judge_message(j, line, out);
	if (line_is_whole(line) && line->length > STORE_FRONT + STORE_BACK &&
	    line->length <= LONG_LINE)
		look_inside(j, line, out);
	if (j->has_phrases)
		phrases_apply(&j->limit, line, out);
}

/* Whether a word says that not all went well, as in "✓ adds (1 failed)", "checking for x... no",
   "ok 3 # TODO". */
static bool denies_success(const char *text, size_t len)
{
	static const char words[] = " # FAIL FAILED failed ERROR no No NO not Not NOT none skipped "
				    "Skipped SKIPPED skipping Skipping SKIP pending retrying ";
	/* The first characters of the words: most words of a text have none of these. */
	static const char firsts[] = "#FENSfnprs";
	for (size_t at = 0, end; at < len; at = end + 1) {
		for (end = at; end < len && !is_blank(text[end]) && !is_one_of(text[end], "(),:");)
			end++;
		/* "3 of 4 passed" */
		bool counts = at > 1 && end + 1 < len && is_digit(text[at - 2]) &&
			      is_digit(text[end + 1]) && starts_with(text + at, end - at, "of");
		if (counts ||
		    (is_one_of(text[at], firsts) && word_is_of(words, text + at, end - at)))
			return true;
	}
	return false;
}

bool score_is_progress(const struct line *line, const struct score *score)
{
	/* Words that lines of progress begin with. */
	static const char goes_on[] =
		" Get Hit Fetched Downloaded Requirement Task Start RUN PASS"
		" CC CXX CCLD LD AR GEN cc gcc clang"
		" Adding Applying Building Bundling Checking Collecting Compiling Configuring"
		" Copying Creating Detecting Determining Downloading Emitting Extracting Fetching"
		" Generating Getting Installing Linking Loading Looking Packing Performing"
		" Preparing Processing Pulling Reading Removing Resolving Running Scanning"
		" Selecting Setting Transforming Unpacking Updating Using Writing"
		" adding building checking compiling copying creating extracting generating"
		" inflating installing linking processing reading removing running updating"
		" writing ";
	const char *text = line->front;
	size_t len = line->front_len - line->ended, at = 0;
	bool plain = score->kind == SCORE_PLAIN && !score->alarms && score->score < SCORE_RELEVANT;
	bool share = false;
	if (!line_is_whole(line) || (!plain && score->kind != SCORE_PASS) ||
	    denies_success(text, len))
		return false;
	if (!plain || ends_with(text, len, " 0 errors") || ends_with(text, len, " no errors") ||
	    ends_with(text, len, " 0 failures"))
		return true;
	/* Skips a level or a share: "[INFO] ", "[ 3/10] ", "-- ". */
	while (at < len && !is_letter(text[at])) {
		bool level = text[at] == '[' && at + 1 < len && is_letter(text[at + 1]);
		const char *end = level ? memchr(text + at, ']', len - at) : NULL;
		share |= at > 0 && text[at] == ']' && is_one_of(text[at - 1], "0123456789%");
		at = end ? (size_t)(end - text) + 1 : at + 1;
	}
	size_t end = at;
	while (end < len && is_letter(text[end]))
		end++;
	return (end == len || is_blank(text[end]) || is_one_of(text[end], ":+")) &&
	       (share || word_is_of(goes_on, text + at, end - at));
}

struct preview_judge *preview_judge_new(void)
{
	struct preview_judge *j = malloc(sizeof(*j));
	if (j)
		judge_init(j, &(struct limit){0});
	return j;
}

bool preview_judge_is_failure(const struct preview_judge *j, const char *data, size_t len)
{
	const struct line line = {.number = 1, .front = data, .front_len = len, .length = len};
	struct score score;
	if (literals_find(&j->prefilter, data, len, &(size_t){0}) == len)
		return false;
	score_judge(j, &line, &score);
	return score.kind == SCORE_FAIL && score.score >= SCORE_FAILURES;
}

bool preview_judge_is_progress(const struct preview_judge *j, const char *data, size_t len)
{
	const struct line line = {
		.number = 1, .front = data, .front_len = len, .length = len, .ended = true};
	struct score score;
	score_judge(j, &line, &score);
	return score_is_progress(&line, &score);
}
