#include "supervisor/preview/salience.h"

#include <stdbool.h>
#include <string.h>

enum {
	/* Bytes of a longer line that are judged: its start and its end. */
	JUDGED_FRONT = 320,
	JUDGED_BACK = 100,
	WORD_MAX = 40,
};

/* What is gathered while the words of a line are read. */
struct reading {
	const struct lexicon *lexicon;
	const char *text; /* from the first visible character behind time stamps on */
	size_t len;
	enum salience_kind structure; /* told by the first characters */
	unsigned structure_score;

	unsigned best, rest; /* weight of the words that tell most, and of the others */
	uint32_t best_word;  /* its hash */
	bool warned, leveled, passed, skipped, counted_failure;
	bool pass_first, pass_last;
	unsigned result;   /* weight of the words that tell of a success */
	unsigned counts;   /* "12 passed", "Errors: 0" */
	unsigned failures; /* those that count failures, and not to zero */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool starts_with(const char *text, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && memcmp(text, prefix, n) == 0;
}

static size_t skip_blanks(const char *text, size_t len, size_t at)
{
	while (at < len && is_blank(text[at]))
		at++;
	return at;
}

/* Time stamps and the like before the message: digits and what separates them,
   perhaps in brackets. Returns where the message starts. */
static size_t skip_stamp(const char *text, size_t len)
{
	size_t at = 0, digits, end;

	for (;;) {
		digits = 0;
		end = at;
		if (end < len && text[end] == '[')
			end++;
		while (end < len && (is_digit(text[end]) || memchr(":.,-+/TZ", text[end], 8))) {
			digits += is_digit(text[end]);
			end++;
		}
		if (text[at] == '[' && end < len && text[end] == ']')
			end++;
		if (digits < 4 || (end < len && !is_blank(text[end])))
			return at;
		at = skip_blanks(text, len, end);
		if (at < len && text[at] == '|')
			at = skip_blanks(text, len, at + 1);
	}
}

static const struct {
	const char *prefix;
	enum salience_kind kind;
	unsigned score;
} openings[] = {
	{"not ok ", SALIENCE_FAIL, 48},
	{"ok ", SALIENCE_PASS, 0},
	{"\xE2\x9C\x93", SALIENCE_PASS, 0}, /* check marks */
	{"\xE2\x9C\x94", SALIENCE_PASS, 0},
	{"\xE2\x88\x9A", SALIENCE_PASS, 0},
	{"\xE2\x9C\x85", SALIENCE_PASS, 0},
	{"\xE2\x9C\x96", SALIENCE_FAIL, 42}, /* crosses */
	{"\xE2\x9C\x97", SALIENCE_FAIL, 42},
	{"\xE2\x9C\x98", SALIENCE_FAIL, 42},
	{"\xE2\x9C\x95", SALIENCE_FAIL, 42},
	{"\xE2\x9D\x8C", SALIENCE_FAIL, 42},
	{"\xC3\x97 ", SALIENCE_FAIL, 38},
	{"\xE2\x97\x8F", SALIENCE_HEADING, 34}, /* bullets */
	{"\xE2\x80\xA2 ", SALIENCE_HEADING, 12},
	{"--- FAIL", SALIENCE_HEADING, 50},
	{"E  ", SALIENCE_DETAIL, 36},
	{">  ", SALIENCE_DETAIL, 16},
	{"** (", SALIENCE_FAIL, 45},
	{"***", SALIENCE_PLAIN, 14},
	{"!!!", SALIENCE_PLAIN, 14},
	{"at ", SALIENCE_FRAME, 6},
	{"File \"", SALIENCE_FRAME, 14},
	{"from /", SALIENCE_FRAME, 6},
	{"#0 ", SALIENCE_FRAME, 10},
	{"Caused by:", SALIENCE_FAIL, 45},
	{"npm ERR!", SALIENCE_FAIL, 30},
	{"+ ", SALIENCE_DETAIL, 6},
	{"- ", SALIENCE_DETAIL, 6},
	{"@@ ", SALIENCE_DETAIL, 6},
	{"Traceback (", SALIENCE_FAIL, 50},
};

/* A separator, or a heading inside one. */
static bool read_rule(struct reading *r)
{
	const char *t = r->text;
	size_t n = 0, end = r->len, from;

	if (!memchr("-=_*~#+<>!", t[0], 10))
		return false;
	while (n < r->len && t[n] == t[0])
		n++;
	if (n < 3)
		return false;
	from = skip_blanks(t, r->len, n);
	if (from == r->len) {
		r->structure = SALIENCE_RULE;
		return true;
	}
	while (end > 0 && t[end - 1] == t[0])
		end--;
	if (r->len - end < 3)
		return false;
	r->structure = SALIENCE_HEADING;
	r->structure_score = t[0] == '_' ? 44 : 12;
	return true;
}

/* "12) name", "3. name" */
static bool read_numbered(struct reading *r)
{
	size_t n = 0;

	while (n < r->len && n < 5 && is_digit(r->text[n]))
		n++;
	if (n == 0 || n + 2 >= r->len || !is_blank(r->text[n + 1]))
		return false;
	if (r->text[n] != ')' && r->text[n] != '.')
		return false;
	r->structure = SALIENCE_HEADING;
	r->structure_score = r->text[n] == ')' ? 34 : 14;
	return true;
}

/* A line that only points at something in the line above. */
static bool read_pointer(struct reading *r)
{
	bool caret = false;

	for (size_t i = 0; i < r->len; i++) {
		caret |= r->text[i] == '^';
		if (!memchr(" ^~|-\t.=>+", r->text[i], 10) && !is_digit(r->text[i]))
			return false;
	}
	if (!caret)
		return false;
	r->structure = SALIENCE_DETAIL;
	r->structure_score = 12;
	return true;
}

/* A frame of a stack as most languages print it: ends with "(file.ext:12)" or
   with "file.go:12 +0x1d". */
static bool read_place(const struct reading *r)
{
	size_t n = r->len, digits = 0;
	const char *plus = memrchr(r->text, '+', r->len);

	if (n > 0 && r->text[n - 1] == ')') {
		n--;
		while (n > 0 && (is_digit(r->text[n - 1]) || r->text[n - 1] == ':')) {
			digits += is_digit(r->text[n - 1]);
			n--;
		}
		return digits && n + 1 < r->len && r->text[n] == ':' && memrchr(r->text, '(', n) &&
		       memmem(r->text, n, "at ", 3);
	}
	return plus && plus > r->text + 4 &&
	       starts_with(plus, r->len - (size_t)(plus - r->text), "+0x") && plus[-1] == ' ' &&
	       is_digit(plus[-2]);
}

static void read_structure(struct reading *r)
{
	r->structure = SALIENCE_PLAIN;
	r->structure_score = 0;
	if (read_place(r)) {
		r->structure = SALIENCE_FRAME;
		r->structure_score = 6;
		return;
	}
	if (read_rule(r) || read_numbered(r) || read_pointer(r))
		return;
	for (size_t i = 0; i < sizeof(openings) / sizeof(*openings); i++) {
		if (starts_with(r->text, r->len, openings[i].prefix)) {
			r->structure = openings[i].kind;
			r->structure_score = openings[i].score;
			return;
		}
	}
}

static bool is_word_char(char c)
{
	return is_letter(c) || c == '\'' || c == '-';
}

/* A word in its surroundings. */
struct occurrence {
	char word[WORD_MAX + 1];
	size_t start, len;
	uint32_t hash;
	bool upper;    /* FAILED */
	bool embedded; /* in a path, an option, an identifier */
	bool first;    /* begins the message */
	bool colon;    /* is followed by one */
	bool tag;      /* stands alone in brackets: the level of a log line */
};

/* The part of a token without quotes and brackets around it. */
static void trim_token(const char *t, size_t *from, size_t *to)
{
	while (*from < *to && memchr("([{<'\"`*!=:>#|", t[*from], 14))
		(*from)++;
	while (*to > *from && memchr(")]}>'\"`*!=:.,;?<|", t[*to - 1], 17))
		(*to)--;
}

static void add_weight(struct reading *r, unsigned weight, const struct occurrence *o)
{
	if (weight > r->best) {
		r->rest += r->best;
		r->best = weight;
		r->best_word = o->hash;
	} else {
		r->rest += weight;
	}
}

/* The number behind a word ("Errors: 2", "failures=0", "exit code 1"), or -1. */
static int number_behind(const struct reading *r, size_t at)
{
	size_t n = at;
	int value = 0;

	while (n < r->len && n - at < 3 && memchr(" :=(", r->text[n], 4))
		n++;
	if (n >= r->len || !is_digit(r->text[n]))
		return -1;
	for (; n < r->len && is_digit(r->text[n]) && value < 100000; n++)
		value = value * 10 + (r->text[n] - '0');
	return n < r->len && (is_letter(r->text[n]) || r->text[n] == '.') ? -1 : value;
}

/* The number in front ("3 failed"), or -1. */
static int number_before(const struct reading *r, size_t at)
{
	size_t n = at, digits;
	int value = 0, scale = 1;

	while (n > 0 && is_blank(r->text[n - 1]))
		n--;
	for (digits = 0; n > 0 && (is_digit(r->text[n - 1]) || r->text[n - 1] == ',') && digits < 6;
	     n--) {
		if (r->text[n - 1] == ',')
			continue;
		value += (r->text[n - 1] - '0') * scale;
		scale *= 10;
		digits++;
	}
	if (digits == 0 ||
	    (n > 0 && (is_letter(r->text[n - 1]) || memchr("-_/.:", r->text[n - 1], 5))))
		return -1;
	return value;
}

/* Whether a count belongs to the word, and then whether it counts failures. */
static bool read_count(struct reading *r, const struct word *w, const struct occurrence *o)
{
	int number = number_before(r, o->start);

	if (!w->counted && w->kind != WORD_COUNTED)
		return false;
	if (number < 0)
		number = number_behind(r, o->start + o->len);
	if (number < 0)
		return false;
	r->counts++;
	if (w->kind == WORD_FAIL && number > 0)
		r->failures++;
	return true;
}

/* Names of exceptions: NullPointerException, ValueError, AssertionFailure. */
static unsigned class_weight(const char *word, size_t len, const struct occurrence *o)
{
	static const char *const tails[] = {"Error", "Exception", "Failure", "Fault", "Panic"};

	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		size_t n = strlen(tails[i]);

		if (len > n && memcmp(word + len - n, tails[i], n) == 0) {
			if (o->colon)
				return 48;
			return o->embedded ? 8 : 30;
		}
	}
	return 0;
}

static void add_result(struct reading *r, unsigned weight)
{
	if (weight > r->result)
		r->result = weight;
}

/* Returns whether the word negates the next one. */
static bool read_word(struct reading *r, const struct occurrence *o, const char *before,
		      size_t before_len, bool negated)
{
	const struct word *w =
		lexicon_find(r->lexicon, o->word, o->len, o->hash, before, before_len);
	unsigned weight;

	if (!w) {
		weight = class_weight(r->text + o->start, o->len, o);
		if (weight)
			add_weight(r, weight, o);
		return false;
	}
	if (!o->embedded && read_count(r, w, o))
		return false;
	weight = w->weight;
	switch (w->kind) {
	case WORD_FAIL:
		if (negated && !w->after)
			return false;
		break;
	case WORD_WARN: r->warned |= !o->embedded; break;
	case WORD_PASS:
	case WORD_SKIP:
		if (o->embedded)
			return false;
		r->passed |= w->kind == WORD_PASS;
		r->skipped |= w->kind == WORD_SKIP;
		r->pass_first |= o->first;
		add_result(r, weight);
		return false;
	case WORD_RESULT:
		if (!o->embedded)
			add_result(r, weight + (o->first ? 8 : 0));
		return false;
	case WORD_LEVEL: r->leveled |= o->start < 48 && (o->upper || o->colon); return false;
	case WORD_STATUS:
		if (number_behind(r, o->start + o->len) > 0)
			add_weight(r, 34, o);
		return false;
	case WORD_NOT: return true;
	case WORD_COUNTED: return false;
	default: break;
	}
	if (o->embedded) {
		weight /= 6;
	} else if (o->tag) {
		weight = weight * 2 / 3;
	} else if (w->kind == WORD_FAIL) {
		if (o->upper || o->colon)
			weight += weight / 4;
		if (o->first)
			weight += weight / 5;
	}
	add_weight(r, weight, o);
	return false;
}

static void read_words(struct reading *r)
{
	struct occurrence o;
	char before[WORD_MAX + 1] = "";
	size_t before_len = 0, at = 0, token, token_end, from, to;
	bool negated = false;

	while (at < r->len) {
		at = skip_blanks(r->text, r->len, at);
		token = at;
		while (at < r->len && !is_blank(r->text[at]))
			at++;
		token_end = at;
		from = token;
		to = token_end;
		trim_token(r->text, &from, &to);
		for (size_t i = token; i < token_end;) {
			size_t n = 0, uppers = 0;

			if (!is_letter(r->text[i])) {
				i++;
				continue;
			}
			o.start = i;
			while (i < token_end && n < WORD_MAX && is_word_char(r->text[i])) {
				uppers += r->text[i] >= 'A' && r->text[i] <= 'Z';
				o.word[n++] = (char)(r->text[i++] | 32);
			}
			/* "fail-fast" is one word; "error-" and "'tis" are not. */
			while (n > 0 && (o.word[n - 1] == '\'' || o.word[n - 1] == '-')) {
				n--;
				i--;
			}
			while (i < token_end && is_word_char(r->text[i]) && n == WORD_MAX)
				i++;
			o.len = n;
			for (size_t k = 0; k < n; k++) {
				if (o.word[k] == ('\'' | 32))
					o.word[k] = '\'';
				if (o.word[k] == ('-' | 32))
					o.word[k] = '-';
			}
			o.upper = uppers == n;
			o.first = o.start == from && token == 0;
			o.colon = i < r->len && r->text[i] == ':';
			o.tag = token == 0 && r->text[0] == '[' && i < r->len && r->text[i] == ']';
			o.embedded = o.start != from ||
				     !(i >= to || memchr(":[=!,;", r->text[i], 6)) ||
				     (token < token_end && r->text[token] == '-');
			o.hash = lexicon_hash(LEXICON_HASH, o.word, n);
			negated = read_word(r, &o, before, before_len, negated);
			memcpy(before, o.word, n);
			before_len = n;
			if (i == o.start)
				i++;
		}
	}
}

static bool ends_with_pass(const struct reading *r)
{
	static const char *const endings[] = {" ok",      " OK",         " PASSED",  " passed",
					      " PASS",    " done",       " yes",     " Passed",
					      " SKIPPED", " UP-TO-DATE", "(skipped)"};

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(endings[i]);

		if (r->len >= n && memcmp(r->text + r->len - n, endings[i], n) == 0)
			return true;
	}
	return false;
}

/* A hash of the line with numbers, paths and hashes masked. */
static uint32_t shape_of(const char *text, size_t len)
{
	uint32_t hash = LEXICON_HASH, token;
	size_t at = 0, start;

	while (at < len) {
		if (is_blank(text[at])) {
			at++;
			continue;
		}
		start = at;
		token = LEXICON_HASH;
		while (at < len && !is_blank(text[at])) {
			char c = text[at++];

			if (is_digit(c)) {
				/* A number, and letters in it as in hashes. */
				while (at < len && (is_digit(text[at]) || is_letter(text[at])))
					at++;
				c = '0';
			} else if (c == '/' && at - start > 1) {
				while (at < len && !is_blank(text[at]) && text[at] != ':')
					at++;
				token = LEXICON_HASH;
			}
			token = (token ^ (unsigned char)c) * 16777619u;
		}
		hash = (hash ^ token) * 16777619u;
	}
	return hash;
}

/* The first token with its digits masked, the word that tells most, and the kind. */
static uint32_t family_of(const struct reading *r, enum salience_kind kind)
{
	uint32_t hash = r->best_word ^ (uint32_t)kind * 2654435769u;

	for (size_t i = 0; i < r->len && !is_blank(r->text[i]) && r->text[i] != '('; i++) {
		char c = is_digit(r->text[i]) ? '0' : r->text[i];

		if (c == '0' && i > 0 && is_digit(r->text[i - 1]))
			continue;
		if (c == '/')
			break;
		hash = lexicon_hash(hash, &c, 1);
	}
	return hash;
}

static void conclude(struct reading *r, struct salience *out)
{
	unsigned rest = r->rest / 4 > 20 ? 20 : r->rest / 4;
	unsigned score = r->best + (r->best ? rest : 0);

	out->kind = r->structure;
	out->result = r->result;
	if (r->structure == SALIENCE_FRAME) {
		out->score = r->structure_score;
		return;
	}
	if (r->structure == SALIENCE_RULE) {
		out->score = 0;
		return;
	}
	if (r->leveled)
		score /= 2;
	if (r->warned) {
		out->kind = SALIENCE_WARNING;
		score = score > 24 ? 24 : score;
		out->result = 22;
	}
	if (r->counts >= 2 || r->failures || (r->counts && (r->passed || r->skipped))) {
		out->kind = SALIENCE_SUMMARY;
		out->score = r->failures ? 46 : 14;
		out->result = 45;
		if (score > out->score)
			out->score = score;
		return;
	}
	if (r->structure == SALIENCE_PASS || ends_with_pass(r) || r->pass_first) {
		/* One of many, unless it says so of the whole. */
		if (r->structure == SALIENCE_PASS || ends_with_pass(r))
			out->result = 0;
		out->kind = SALIENCE_PASS;
		out->score = 0;
		return;
	}
	if (r->passed || r->skipped)
		score /= 2;
	if (out->kind == SALIENCE_PLAIN && score >= 25)
		out->kind = SALIENCE_FAIL;
	if (r->structure_score) {
		unsigned high = score > r->structure_score ? score : r->structure_score;
		unsigned low = score > r->structure_score ? r->structure_score : score;

		score = high + low / 3;
	}
	out->score = score > 100 ? 100 : score;
}

/* What is judged of a line. Long ones are put together in `out`. */
static const char *judged_text(const struct line *line, char *out, size_t *len)
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

/* Finds the message in a text: behind time stamps and blanks. Returns its length. */
static size_t find_message(const char **text, size_t len, unsigned *indent)
{
	const char *t = *text;
	size_t at;

	while (len > 0 && is_blank(t[len - 1]))
		len--;
	at = skip_stamp(t, len);
	*text = t + skip_blanks(t, len, at);
	*indent = (unsigned)(*text - t - at);
	return len - (size_t)(*text - t);
}

uint32_t salience_shape(const struct line *line)
{
	char copy[JUDGED_FRONT + JUDGED_BACK + 1];
	size_t len;
	unsigned indent;
	const char *text = judged_text(line, copy, &len);

	len = find_message(&text, len, &indent);
	return shape_of(text, len);
}

void salience_judge(const struct lexicon *lexicon, const struct line *line, struct salience *out)
{
	struct reading r = {.lexicon = lexicon};
	char copy[JUDGED_FRONT + JUDGED_BACK + 1];
	size_t len;

	*out = (struct salience){.kind = SALIENCE_BLANK};
	r.text = judged_text(line, copy, &len);
	r.len = find_message(&r.text, len, &out->indent);
	if (r.len == 0)
		return;
	out->shape = shape_of(r.text, r.len);
	read_structure(&r);
	if (r.structure != SALIENCE_RULE && r.structure != SALIENCE_FRAME)
		read_words(&r);
	conclude(&r, out);
	out->family = family_of(&r, out->kind);
	out->opens = out->score >= 20 && r.len < 100 &&
		     (r.text[r.len - 1] == ':' || out->kind == SALIENCE_HEADING);
}
