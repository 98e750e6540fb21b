#include "supervisor/preview/internal.h"

#include <string.h>

/* The form of one message. */

struct structure {
	enum score_kind kind;
	unsigned score; /* 0 to 100, as in struct score */
};

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

/* `text` is the message of a line: without blanks around it, not empty. */
static struct structure structure_of(const char *text, size_t len)
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

/* The evidence of all words of one message. */

struct reading {
	/* Words that tell of a failure: the highest weight, and the sum of the others.
	   Where a word stands counts: free and before a
	   colon much, inside of a path, an option or an identifier little. */
	unsigned best, rest;
	uint32_t best_word; /* the hash of the word with the highest weight */
	unsigned result;    /* weight of the words that tell of a success */
	unsigned counts;    /* "12 passed", "Errors: 0" */
	unsigned failures;  /* those that count failures, and not to zero */
	bool alarms;        /* a word of failure is in it, in whatever place */
	bool specific;      /* one of them says more than that something failed */
	/* A mark of failure is with one of them: a colon, capitals at one of the ends, brackets. */
	bool marked;
	/* As best_word, but the same for all names of exceptions that end alike. */
	uint32_t best_tail;
	bool outer;     /* it is about a build, a command, a task */
	bool minor;     /* it is about something harmless */
	bool headcount; /* begins with a count of what passed */
	bool warned;    /* it is a warning */
	bool leveled;   /* it bears a log level below a warning */
	bool passed, skipped;
	bool pass_first; /* begins with one of the two */
};

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

/* What both tell together. */

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

static unsigned lesser(unsigned a, unsigned b)
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
	unsigned score = r->best + lesser(r->rest / 4, r->best ? REST_SCORE : 0);
	out->kind = structure->kind;
	out->result = r->result;
	if (r->leveled)
		score /= 2;
	if (r->outer && !r->specific)
		score = lesser(score, OUTER_LEAST + score * OUTER_PERCENT / 100);
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
		out->score = lesser(score, WARNING_SCORE);
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
		unsigned low = lesser(score, structure->score);
		score = score + structure->score - low + low / 3;
	}
	out->score = lesser(score, 100);
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

uint32_t score_shape(const struct line *line)
{
	struct message m;
	find_message(line, &m);
	return shape_of(m.text, m.len);
}

void score_judge(const struct keywords *keywords, const struct line *line, struct score *out)
{
	struct message m;
	struct reading reading = {0};
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
	struct reader reader = {
		.keywords = keywords, .text = m.text, .len = m.len, .out = &reading};
	for (size_t at = 0, token; (at = skip_blanks(m.text, m.len, at)) < m.len;) {
		for (token = at; at < m.len && !is_blank(m.text[at]);)
			at++;
		read_token(&reader, token, at);
	}
	conclude(&m, &structure, &reading, out);
	out->alarms = reading.alarms;
	bool marked = reading.marked || (structure.score && structure.kind != SCORE_PLAIN);
	if (marked || !reading.best) {
		/* Lines that begin alike and tell the same. Those about a place in a file begin
		   behind that, with a word or the letters of a code. */
		const char *text = m.text, *end = m.text + m.len;
		uint32_t code = 0;
		if (structure.kind == SCORE_DETAIL && structure.score == SCORE_DIAGNOSTIC) {
			const char *behind = memmem(text, m.len, ": ", 2);
			text = behind ? behind + 2 : text;
			code = code_of(text, (size_t)(end - text));
		}
		if (!code)
			code = shape_of_opening(text, (size_t)(end - text), "(/");
		out->family = (reading.best_word ^ (uint32_t)out->kind * 2654435769u ^ code) |
			      SCORE_MARKED;
	} else {
		/* The same for lines without a mark of failure, whatever their first word is, so
		   that titles and messages about errors are known by their number. */
		char first = m.text[0];
		uint32_t hash = shape_mix(reading.best_tail, out->kind);
		hash = shape_mix(hash, m.indent);
		first = is_letter(first) ? 'a' : is_digit(first) ? '0' : first;
		out->family = shape_mix(hash, (unsigned char)first) & ~SCORE_MARKED;
	}
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
