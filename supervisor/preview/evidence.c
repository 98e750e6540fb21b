#include "supervisor/preview/internal.h"

#include <string.h>

enum { FOREIGN_FRAME = 4 };

/* clang-format off */
static const struct {
	const char *prefix;
	enum score_kind kind;
	unsigned char score;
} openings[] = {
	/* TAP, and the marks that test runners draw */
	{"not ok ",       SCORE_FAIL,    48},
	{"ok ",           SCORE_PASS,    0},
	{"\xE2\x9C\x93",  SCORE_PASS,    0},  /* check mark */
	{"\xE2\x9C\x94",  SCORE_PASS,    0},  /* heavy check mark */
	{"\xE2\x9C\x85",  SCORE_PASS,    0},  /* white heavy check mark */
	{"\xE2\x88\x9A",  SCORE_PASS,    0},  /* square root */
	{"\xE2\x9C\x95",  SCORE_FAIL,    42}, /* multiplication x */
	{"\xE2\x9C\x96",  SCORE_FAIL,    42}, /* heavy multiplication x */
	{"\xE2\x9C\x97",  SCORE_FAIL,    42}, /* ballot x */
	{"\xE2\x9C\x98",  SCORE_FAIL,    42}, /* heavy ballot x */
	{"\xE2\x9D\x8C",  SCORE_FAIL,    42}, /* cross mark */
	{"\xC3\x97 ",     SCORE_FAIL,    38}, /* multiplication sign */
	{"\xE2\x97\x8F",  SCORE_HEADING, 34}, /* black circle */
	{"\xE2\x80\xA2 ", SCORE_HEADING, 12}, /* bullet */
	{"--- FAIL",      SCORE_HEADING, 50},
	/* what a failure is explained with */
	{"E  ",           SCORE_DETAIL,  36},
	{">  ",           SCORE_DETAIL,  16},
	{"+ ",            SCORE_DETAIL,  6},
	{"- ",            SCORE_DETAIL,  6},
	{"@@ ",           SCORE_DETAIL,  6},
	{"** (",          SCORE_FAIL,    45},
	{"[-] ",          SCORE_FAIL,    42},
	{"[+] ",          SCORE_PASS,    0},
	{"E: ",           SCORE_FAIL,    45},
	{"***",           SCORE_PLAIN,   14},
	{"!!!",           SCORE_PLAIN,   14},
	{"npm ERR!",      SCORE_FAIL,    12},
	{"Caused by:",    SCORE_FAIL,    45},
	{"Traceback (",   SCORE_FAIL,    50},
	/* stacks */
	{"at ",           SCORE_FRAME,   0},
	{"by 0x",         SCORE_FRAME,   0},
	{"from /",        SCORE_FRAME,   0},
	{"#0 ",           SCORE_FRAME,   0},
	{"#1 ",           SCORE_FRAME,   0},
	{"File \"",       SCORE_FRAME,   0},
};
/* clang-format on */

/* A separator, or a heading inside one. */
static bool read_rule(const char *text, size_t len, struct structure *s)
{
	size_t n = 1, end = len;
	if (!is_one_of(text[0], "-=_*~#+<>!"))
		return false;
	while (n < len && text[n] == text[0])
		n++;
	if (n < 3)
		return false;
	if (skip_blanks(text, len, n) == len) {
		s->kind = SCORE_RULE;
		return true;
	}
	while (text[end - 1] == text[0])
		end--;
	if (len - end < 3)
		return false;
	s->kind = SCORE_HEADING;
	s->score = text[0] == '_' ? 44 : 12;
	return true;
}

/* "12 | source", "> 12 | source", but not a table's "12 | ERROR | message". */
static bool read_quote(const char *text, size_t len, struct structure *s)
{
	bool pointed = text[0] == '>';
	size_t at = skip_blanks(text, len, pointed), digits = at;
	while (at < len && is_digit(text[at]))
		at++;
	digits = at - digits;
	at = skip_blanks(text, len, at);
	size_t bar = at < len && text[at] == '|'                        ? 1
		     : starts_with(text + at, len - at, "\xE2\x94\x82") ? 3
									: 0;
	if (digits == 0 || bar == 0 || (at + bar < len && !is_blank(text[at + bar])))
		return false;
	at = skip_blanks(text, len, at + bar);
	if (at + 1 < len && is_upper(text[at]) && is_upper(text[at + 1]))
		return false;
	s->kind = SCORE_QUOTE;
	s->score = pointed ? 12 : 4;
	return true;
}

/* "file.c:12:5: message", as compilers and linters begin, or the place alone. */
static bool read_diagnostic(const char *text, size_t len, struct structure *s)
{
	size_t n = 0, numbers = 0;
	bool dot = false;
	while (n < len && !is_blank(text[n]) && text[n] != ':') {
		dot |= text[n] == '.' && n > 0;
		n++;
	}
	while (n + 1 < len && text[n] == ':' && is_digit(text[n + 1])) {
		for (n++; n < len && is_digit(text[n]); n++)
			;
		numbers++;
	}
	if (numbers == 0 && n >= 4 && text[n - 1] == ')') {
		/* A place in brackets: "file.ts(12,5)". */
		size_t at = n - 1, digits = 0;
		for (; at > 0 && (is_digit(text[at - 1]) || text[at - 1] == ','); at--)
			digits += is_digit(text[at - 1]);
		numbers = digits > 0 && at > 1 && text[at - 1] == '(';
	}
	if (!dot || numbers == 0 || numbers > 2 || n >= len || !is_one_of(text[n], ": "))
		return false;
	/* Behind a blank, a rule that is drawn with lines. */
	bool alone = text[n] == ':' ? n + 1 == len
				    : ends_with(text, len, "\xE2\x94\x81") ||
					      ends_with(text, len, "\xE2\x94\x80");
	s->kind = alone ? SCORE_PLACE : SCORE_DETAIL;
	s->score = text[n] == ':' ? SCORE_DIAGNOSTIC : 8;
	return true;
}

/* A stack frame behind something else: it ends with "(file.ext:12)" and has an "at", or ends with
   "file.go:12 +0x1d"; "file.py:12: in name", or "/srv/file.go:12" and nothing else. */
static bool is_frame(const char *text, size_t len)
{
	size_t n = len, digits = 0;
	if (text[len - 1] == ')') {
		for (n--; n > 0 && (is_digit(text[n - 1]) || text[n - 1] == ':'); n--)
			digits += is_digit(text[n - 1]);
		return digits && text[n] == ':' && memrchr(text, '(', n) &&
		       memmem(text, n, "at ", 3);
	}
	const char *plus = memrchr(text, '+', len), *in = memmem(text, len, ": in ", 5);
	if (plus && plus - text > 4 && plus[-1] == ' ' && is_digit(plus[-2]) &&
	    starts_with(plus, len - (size_t)(plus - text), "+0x"))
		return true;
	if (in && in > text && is_digit(in[-1]) && !memchr(text, ' ', (size_t)(in - text)))
		return true;
	while (n > 0 && is_digit(text[n - 1]))
		n--;
	return n < len && n > 1 && text[n - 1] == ':' && text[0] == '/' && !memchr(text, ' ', len);
}

/* Everything but whether a frame is the user's own. */
static struct structure read_structure(const char *text, size_t len)
{
	struct structure s = {SCORE_PLAIN, 0};
	size_t n = 0;
	if (is_frame(text, len))
		return (struct structure){SCORE_FRAME, 0};
	if (read_rule(text, len, &s))
		return s;
	/* "12) name", "3. name" */
	while (n < len && n < 5 && is_digit(text[n]))
		n++;
	if (n > 0 && n + 2 < len && is_blank(text[n + 1]) && is_one_of(text[n], ")."))
		return (struct structure){SCORE_HEADING, text[n] == ')' ? 34 : 14};
	/* Only points at something in the line above. */
	for (n = 0; n < len && (is_digit(text[n]) || is_one_of(text[n], " ^~|-\t.=>+"));)
		n++;
	if (n == len && memchr(text, '^', len))
		return (struct structure){SCORE_DETAIL, 12};
	if (read_quote(text, len, &s))
		return s;
	/* "File "a.ml", line 4, characters 10-23:" */
	if (starts_with(text, len, "File \"") && text[len - 1] == ':' &&
	    memmem(text, len, "\", line ", 8))
		return (struct structure){SCORE_PLACE, 4};
	if (read_diagnostic(text, len, &s))
		return s;
	for (size_t i = 0; i < sizeof(openings) / sizeof(*openings); i++) {
		if (text[0] == openings[i].prefix[0] &&
		    starts_with(text, len, openings[i].prefix)) {
			s = (struct structure){openings[i].kind, openings[i].score};
			break;
		}
	}
	if (starts_with(text, len, "\xE2\x9D\xAF ")) {
		/* With "file.js:9:14" at the end. */
		size_t colons = 0;
		for (n = len; n > 0 && (is_digit(text[n - 1]) || (text[n - 1] == ':' && n < len));)
			colons += text[--n] == ':';
		if (colons == 2 && n > 0 && text[n] == ':')
			s.kind = SCORE_FRAME;
	}
	return s;
}

struct structure structure_of(const char *text, size_t len)
{
	static const char *const foreign[] = {
		"node_modules/",  "site-packages/",
		"dist-packages/", "node:",
		" (internal/",    "/usr/",
		"<frozen ",       "<anonymous>)",
		" java.",         " javax.",
		" sun.",          " jdk.",
		"java.base/",     "org.junit",
		"org.gradle.",    "org.apache.maven",
		"/rustc/",        ".cargo/registry",
		"/gems/",         "/vendor/",
		"lib/python",     "vg_replace_malloc",
		"(in /",          "_testmain.go",
		"at assert",      "/assert.",
	};
	struct structure s = read_structure(text, len);
	if (s.kind != SCORE_FRAME)
		return s;
	/* Whether it names a place in a file, and one that is not of a library or a runtime. */
	bool own = memmem(text, len, "\", line ", 8) || memmem(text, len, ":line ", 6);
	for (size_t i = 1; i + 1 < len && !own; i++)
		own = text[i] == ':' && is_digit(text[i + 1]) && is_letter(text[i - 1]);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign) && own; i++)
		own = !memmem(text, len, foreign[i], strlen(foreign[i]));
	s.score = own ? SCORE_OWN_FRAME : FOREIGN_FRAME;
	return s;
}

enum {
	WORD_MAX = 40,
	LEVEL_WITHIN = 48, /* of the start of a message, a log level is expected */
	COUNT_MAX = 100000,
};

/* How many words may stand between who fails and that it does. */
enum { OUTER_REACH = 3 };

/* Weights of evidence that is not in the keyword table. */
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
	bool behind;   /* counts only behind the word before */
	bool tag;      /* stands alone in brackets: the level of a log line */
};

struct reader {
	const struct keywords *keywords;
	const char *text;
	size_t len;
	struct reading *out;
	/* the word before */
	char before[WORD_MAX];
	size_t before_len;
	bool negated;
	/* How many words ago something was said to fail, and who may have. */
	unsigned words, failed_at, outer_at;
};

static void add_weight(struct reading *out, unsigned weight, uint32_t word, uint32_t tail)
{
	if (weight > out->best) {
		out->rest += out->best;
		out->best = weight;
		out->best_word = word;
		out->best_tail = tail;
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
	if (o->embedded || (!w->counted && w->kind != WORD_COUNTED))
		return false;
	int number = number_before(r, o->start);
	/* "error 98" is one error with its number. */
	bool coded = o->len == 5 && memcmp(o->word, "error", 5) == 0 && o->start + 5 < r->len &&
		     is_blank(r->text[o->start + 5]);
	if (number < 0 && !coded)
		number = number_behind(r, o->start + o->len);
	if (number < 0)
		return false;
	r->out->counts++;
	r->out->headcount |= w->kind == WORD_PASS && r->words == 1 && is_digit(r->text[0]);
	if (w->kind == WORD_FAIL && number > 0)
		r->out->failures++;
	return true;
}

/* The weight of a word that means failure, in its place. */
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
		/* "not found" has its "not" in the keyword table. */
		if (r->negated && !o->behind)
			break;
		out->alarms = true;
		/* As tools set it apart: "error:", "[ERROR]", "FAIL name", "name FAILED". */
		out->marked |=
			!o->embedded && (o->colon || o->tag ||
					 (o->upper && (o->first || o->start + o->len == r->len)));
		if (w->general)
			r->failed_at = r->words;
		else
			out->specific |= !o->embedded;
		add_weight(out, place_weight(w, o), o->hash, o->hash);
		break;
	case WORD_WARN:
		out->warned |= !o->embedded;
		add_weight(out, place_weight(w, o), o->hash, o->hash);
		break;
	case WORD_DETAIL: add_weight(out, place_weight(w, o), o->hash, o->hash); break;
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
			add_weight(out, WEIGHT_STATUS, o->hash, o->hash);
		break;
	case WORD_MINOR: out->minor |= !o->embedded; break;
	case WORD_OUTER:
		if (!o->embedded)
			r->outer_at = r->words;
		break;
	case WORD_NOT: return true;
	case WORD_COUNTED: break;
	}
	return false;
}

static void read_word(struct reader *r, struct occurrence *o)
{
	/* Names of exceptions: NullPointerException, ValueError, AssertionFailure. */
	static const char *const tails[] = {"Error", "Exception", "Failure", "Fault", "Panic"};
	o->hash = shape_hash(SHAPE_SEED, o->word, o->len);
	r->words++;
	const struct word *w = keywords_find(r->keywords, o->word, o->len, o->hash, r->before,
					     r->before_len, &o->behind);
	if (!w) {
		const char *name = r->text + o->start;
		unsigned weight = o->colon ? 48 : o->embedded ? 8 : 30;
		size_t i =
			is_one_of(name[o->len - 1], "rnetc") ? 0 : sizeof(tails) / sizeof(*tails);
		for (; i < sizeof(tails) / sizeof(*tails); i++) {
			if (!ends_with(name, o->len, tails[i]) || o->len == strlen(tails[i]))
				continue;
			r->out->alarms = true;
			r->out->specific |= !o->embedded;
			r->out->marked |= o->colon;
			/* The tails differ in their last letters. */
			add_weight(r->out, weight, o->hash, (unsigned char)name[o->len - 2]);
			break;
		}
		r->negated = false;
	} else {
		r->negated = !read_count(r, w, o) && read_known(r, w, o);
	}
	if (r->failed_at && r->outer_at)
		r->out->outer |= r->failed_at <= r->outer_at + OUTER_REACH &&
				 r->outer_at <= r->failed_at + OUTER_REACH;
	memcpy(r->before, o->word, o->len);
	r->before_len = o->len;
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

/* Reads a run of visible characters. */
static void read_token(struct reader *r, size_t token, size_t end)
{
	size_t from = token, to = end, at = token;
	/* Without the quotes and brackets around it. */
	while (from < to && is_one_of(r->text[from], "([{<'\"`*!=:>#|."))
		from++;
	while (to > from && is_one_of(r->text[to - 1], ")]}>'\"`*!=:.,;?<|"))
		to--;
	/* 404 or 503 beside an address. */
	if (to - from == 3 && is_one_of(r->text[from], "45") && is_digit(r->text[from + 1]) &&
	    is_digit(r->text[from + 2]) && memmem(r->text, r->len, "http", 4))
		add_weight(r->out, WEIGHT_HTTP, WEIGHT_HTTP, WEIGHT_HTTP);
	while (at < end) {
		struct occurrence o;
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
		char next = at < r->len ? r->text[at] : ' ';
		o.first = o.start == from && token == 0;
		o.colon = next == ':' && (at + 1 == r->len || r->text[at + 1] != ':');
		o.tag = token == 0 && r->text[0] == '[' && next == ']';
		o.embedded = (o.start != from && !is_class_name(r->text, token, o.start)) ||
			     r->text[token] == '-' || (at < to && !is_one_of(next, ":[=!,;"));
		read_word(r, &o);
	}
}

void reading_of(const struct keywords *keywords, const char *text, size_t len, struct reading *out)
{
	struct reader r = {.keywords = keywords, .text = text, .len = len, .out = out};
	size_t at = 0, token;
	*out = (struct reading){0};
	while ((at = skip_blanks(text, len, at)) < len) {
		token = at;
		while (at < len && !is_blank(text[at]))
			at++;
		read_token(&r, token, at);
	}
}
