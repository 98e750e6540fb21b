#include "supervisor/preview/reading.h"

#include "supervisor/preview/chars.h"
#include "supervisor/preview/shape.h"

#include <string.h>

enum {
	WORD_MAX = 40,
	LEVEL_WITHIN = 48, /* of the start of a message, a log level is expected */
	COUNT_MAX = 100000,
};

/* Weights of what is no word of the lexicon. */
enum { WEIGHT_STATUS = 34, WEIGHT_HTTP = 30 };

/* A word in its surroundings. */
struct occurrence {
	char word[WORD_MAX]; /* lower case */
	size_t start, len;
	uint32_t hash;
	bool upper;    /* FAILED */
	bool embedded; /* in a path, an option, an identifier */
	bool first;    /* begins the message */
	bool colon;    /* is followed by one */
	bool tag;      /* stands alone in brackets: the level of a log line */
};

struct reader {
	const struct lexicon *lexicon;
	const char *text;
	size_t len;
	struct reading *out;
	/* the word before */
	char before[WORD_MAX];
	size_t before_len;
	bool negated;
};

static void add_weight(struct reading *out, unsigned weight, uint32_t word)
{
	if (weight > out->best) {
		out->rest += out->best;
		out->best = weight;
		out->best_word = word;
	} else {
		out->rest += weight;
	}
}

static void evidence_add_result(struct reading *out, unsigned weight)
{
	if (weight > out->result)
		out->result = weight;
}

/* The number behind a word ("Errors: 2", "failures=0", "exit code 1"), or -1. */
static int number_behind(const struct reader *r, size_t at)
{
	size_t n = at;
	int value = 0;

	while (n < r->len && n - at < 3 && is_one_of(r->text[n], " :=("))
		n++;
	if (n >= r->len || !is_digit(r->text[n]))
		return -1;
	for (; n < r->len && is_digit(r->text[n]) && value < COUNT_MAX; n++)
		value = value * 10 + (r->text[n] - '0');
	/* "2.5 s" and "3rd" are no counts, the end of a sentence is. */
	if (n < r->len && (is_letter(r->text[n]) ||
			   (r->text[n] == '.' && n + 1 < r->len && is_digit(r->text[n + 1]))))
		return -1;
	return value;
}

/* The number in front ("3 failed"), or -1. */
static int number_before(const struct reader *r, size_t at)
{
	int value = 0, scale = 1;
	size_t n = at;

	while (n > 0 && is_blank(r->text[n - 1]))
		n--;
	for (; n > 0 && scale <= COUNT_MAX; n--) {
		char c = r->text[n - 1];

		if (is_digit(c)) {
			value += (c - '0') * scale;
			scale *= 10;
		} else if (c != ',' || scale == 1) {
			break;
		}
	}
	if (scale == 1 ||
	    (n > 0 && (is_letter(r->text[n - 1]) || is_one_of(r->text[n - 1], "-_/.:"))))
		return -1;
	return value;
}

/* Takes the word as part of a count, if a number belongs to it. */
static bool read_count(struct reader *r, const struct word *w, const struct occurrence *o)
{
	int number;

	if (o->embedded || (!w->counted && w->kind != WORD_COUNTED))
		return false;
	number = number_before(r, o->start);
	if (number < 0)
		number = number_behind(r, o->start + o->len);
	if (number < 0)
		return false;
	r->out->counts++;
	if (w->kind == WORD_FAIL && number > 0)
		r->out->failures++;
	return true;
}

/* Names of exceptions: NullPointerException, ValueError, AssertionFailure. */
static unsigned class_weight(const struct reader *r, const struct occurrence *o)
{
	static const char *const tails[] = {"Error", "Exception", "Failure", "Fault", "Panic"};

	if (!is_one_of(r->text[o->start + o->len - 1], "rnetc"))
		return 0;
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		if (ends_with(r->text + o->start, o->len, tails[i]) && o->len > strlen(tails[i]))
			return o->colon ? 48 : o->embedded ? 8 : 30;
	}
	return 0;
}

/* The weight of a word that tells of a failure, where it stands. */
static unsigned place_weight(const struct word *w, const struct occurrence *o)
{
	unsigned weight = w->weight;

	if (o->embedded)
		return weight / 6;
	if (o->tag)
		return weight * 2 / 3;
	if (w->kind == WORD_FAIL) {
		if (o->upper || o->colon)
			weight += weight / 4;
		if (o->first)
			weight += weight / 5;
	}
	return weight;
}

/* Returns whether the word negates the next one. */
static bool read_known(struct reader *r, const struct word *w, const struct occurrence *o)
{
	struct reading *out = r->out;

	switch ((enum word_kind)w->kind) {
	case WORD_FAIL:
		/* "not found" has its "not" in the lexicon. */
		if (r->negated && !w->after)
			break;
		add_weight(out, place_weight(w, o), o->hash);
		break;
	case WORD_WARN:
		out->warned |= !o->embedded;
		add_weight(out, place_weight(w, o), o->hash);
		break;
	case WORD_DETAIL: add_weight(out, place_weight(w, o), o->hash); break;
	case WORD_PASS:
	case WORD_SKIP:
		if (o->embedded)
			break;
		out->passed |= w->kind == WORD_PASS;
		out->skipped |= w->kind == WORD_SKIP;
		out->pass_first |= o->first;
		evidence_add_result(out, w->weight);
		break;
	case WORD_RESULT:
		if (!o->embedded)
			evidence_add_result(out, w->weight + (o->first ? 8 : 0));
		break;
	case WORD_LEVEL: out->leveled |= o->start < LEVEL_WITHIN && (o->upper || o->colon); break;
	case WORD_STATUS:
		if (number_behind(r, o->start + o->len) > 0)
			add_weight(out, WEIGHT_STATUS, o->hash);
		break;
	case WORD_NOT: return true;
	case WORD_COUNTED: break;
	}
	return false;
}

static void read_word(struct reader *r, struct occurrence *o)
{
	const struct word *w;
	unsigned weight;

	o->hash = shape_hash(SHAPE_SEED, o->word, o->len);
	w = lexicon_find(r->lexicon, o->word, o->len, o->hash, r->before, r->before_len);
	if (!w) {
		weight = class_weight(r, o);
		if (weight)
			add_weight(r->out, weight, o->hash);
		r->negated = false;
	} else {
		r->negated = !read_count(r, w, o) && read_known(r, w, o);
	}
	memcpy(r->before, o->word, o->len);
	r->before_len = o->len;
}

/* The part of a token without the quotes and brackets around it. */
static void trim_token(const char *t, size_t *from, size_t *to)
{
	while (*from < *to && is_one_of(t[*from], "([{<'\"`*!=:>#|."))
		(*from)++;
	while (*to > *from && is_one_of(t[*to - 1], ")]}>'\"`*!=:.,;?<|"))
		(*to)--;
}

/* Reads the word at `at`, where a letter is. Returns where it ends. */
static size_t cut_word(const struct reader *r, size_t at, size_t end, struct occurrence *o)
{
	size_t uppers = 0;

	o->start = at;
	o->len = 0;
	do {
		if (o->len < WORD_MAX) {
			uppers += is_upper(r->text[at]);
			/* An apostrophe and a hyphen have that bit already. */
			o->word[o->len++] = (char)(r->text[at] | 32);
		}
		at++;
	} while (at < end && (is_letter(r->text[at]) || is_one_of(r->text[at], "'-")));
	/* "fail-fast" is one word, "error-" is not. */
	while (o->len > 1 && is_one_of(o->word[o->len - 1], "'-") && o->len == at - o->start) {
		o->len--;
		at--;
	}
	o->upper = uppers == o->len;
	return at;
}

/* Reads a run of visible characters. */
static void read_token(struct reader *r, size_t token, size_t end)
{
	size_t from = token, to = end, at = token;

	trim_token(r->text, &from, &to);
	/* 404 or 503 beside an address. */
	if (to - from == 3 && is_one_of(r->text[from], "45") && is_digit(r->text[from + 1]) &&
	    is_digit(r->text[from + 2]) && memmem(r->text, r->len, "http", 4))
		add_weight(r->out, WEIGHT_HTTP, WEIGHT_HTTP);
	while (at < end) {
		struct occurrence o;
		char next;

		/* "\\nfailed" in a quoted text begins with an f. */
		if (r->text[at] == '\\' && at + 1 < end && is_one_of(r->text[at + 1], "ntr")) {
			at += 2;
			from = at;
			continue;
		}
		if (!is_letter(r->text[at])) {
			at++;
			continue;
		}
		at = cut_word(r, at, end, &o);
		next = at < r->len ? r->text[at] : ' ';
		o.first = o.start == from && token == 0;
		o.colon = next == ':';
		o.tag = token == 0 && r->text[0] == '[' && next == ']';
		o.embedded = o.start != from || r->text[token] == '-' ||
			     (at < to && !is_one_of(next, ":[=!,;"));
		read_word(r, &o);
	}
}

void reading_of(const struct lexicon *lexicon, const char *text, size_t len, struct reading *out)
{
	struct reader r = {.lexicon = lexicon, .text = text, .len = len, .out = out};
	size_t at = 0, token;

	*out = (struct reading){0};
	while ((at = skip_blanks(text, len, at)) < len) {
		token = at;
		while (at < len && !is_blank(text[at]))
			at++;
		read_token(&r, token, at);
	}
}
