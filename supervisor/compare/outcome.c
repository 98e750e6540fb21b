// See outcome.h.

#include "supervisor/compare/outcome.h"

#include "lib/buffer.h"
#include "lib/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most names that are compared, and the longest line, in bytes, that is looked at. */
#define NAMES_MOST 5000
#define LINE_MOST  4096

/* The most bytes of names that are printed of one list; further names are only counted. */
#define LIST_MOST 100

enum mark {
	FAILED, /* the line names a test that failed */
	PASSED, /* it names one that passed */
	SUM,    /* it counts both: "1 failed, 2 passed" */
	RAN,    /* it counts tests that ran, passed or not; without a group it counts one */
	TOTAL,  /* as RAN, by a runner that also counts those that failed */
	LEFT,   /* it names a test that was left out */
	WHOLE,  /* as SUM, by a runner that says so if it stops early or leaves tests out */
	PART,   /* such a runner says so */
	SPOILT, /* no count can be relied on */

	SHORT = 16, /* beside FAILED, PASSED: the name lacks its file, crate, package or suite */
};

/* The name of a test of pytest: path::test[values]. The group is atomic, so that only the first of
   many "::" is tried. */
#define NODE "(?>[^\\s\\[]+?::[^\\s\\[]+)(?:\\[.*?\\])?"

/* A time behind a name. */
#define TIME "(?: \\([\\d.]+ ?m?s\\))?"

/* Patterns for whole lines. The group is the name of a test, or the count. */
static const struct form {
	enum mark mark;
	const char *pattern;
} forms[] = {
	/* pytest: its summary; with -v, and with xdist; with -rA */
	{SPOILT, "FAILED [^\\s\\[]+\\[.*\\] - .*\\] - .*"}, /* it's unknown where the name ends */
	{FAILED, "FAILED (" NODE ")(?: - .*)?"},
	{PASSED, "(" NODE ") PASSED(?: +\\[ *[\\d/]+%?\\])?"},
	{PASSED, "(?:\\[gw\\d+\\] \\[ *\\d+%\\] )?PASSED (" NODE ") *"},
	{WHOLE, "(?:=+ )?((?:\\d+ [a-z]+(?:, )?)+) in [\\d.]+s(?: \\([\\d:]+\\))?(?: =+)?"},
	{PART, "!{5,} .*|run-last-failure: .*|stepwise: .*"},
	/* unittest, with -v */
	{FAILED, "(?:FAIL|ERROR): (test\\S* \\(\\S+\\))"},
	{PASSED, "(test\\S* \\(\\S+\\)) \\.\\.\\. ok"},
	{TOTAL, "Ran (\\d+) tests? in [\\d.]+s"},
	{SUM, "(?:FAILED|OK) \\(([a-z]+=\\d+(?:, [a-z]+=\\d+)*)\\)"},
	/* go test -v */
	{FAILED | SHORT, " *--- FAIL: (\\S+) \\([\\d.]+s\\)"},
	{PASSED | SHORT, " *--- PASS: (\\S+) \\([\\d.]+s\\)"},
	{LEFT, " *--- SKIP: \\S+ \\([\\d.]+s\\)"},
	{RAN, "=== RUN   \\S+"},
	{SPOILT, "FAIL\\t.* \\[(?:build|setup) failed\\]"},
	/* cargo test */
	{FAILED | SHORT, "test (.+) \\.\\.\\. FAILED"},
	{PASSED | SHORT, "test (.+) \\.\\.\\. ok"},
	{SUM, "test result: (?:ok|FAILED)\\. (.+); finished in [\\d.]+s"},
	/* mocha, jest --verbose; mocha names its failures again behind its sum, with less indent */
	{FAILED | SHORT, " {4,}\\d+\\) (.+)"},
	{FAILED | SHORT, " {4,}✕ (.+?)" TIME},
	{PASSED | SHORT, " {4,}(?:✓|✔) (.+?)" TIME},
	{SUM, "  (\\d+ (?:passing|failing|pending))" TIME},
	{SUM, "Tests: +(\\d+ [a-z]+(?:, \\d+ [a-z]+)*), \\d+ total"},
	{SPOILT, "  ● Test suite failed to run"},
	/* vitest, with its verbose reporter */
	{FAILED, " FAIL  (\\S+ > .+)"},
	{PASSED, " ✓ (\\S+ > .+?)(?: \\d+ ?m?s)?"},
	{SUM, " +Tests  (\\d+ [a-z]+(?: \\| \\d+ [a-z]+)*) \\(\\d+\\)"},
	/* node --test; it names its failures again behind its sum. It prints a suite that fails as
	   it prints a test, but does not count it. */
	{PASSED | SHORT, "✔ (.+) \\([\\d.]+ms\\)"},
	{FAILED | SHORT, "✖ (.+) \\([\\d.]+ms\\)"},
	{SPOILT, "ℹ suites [1-9]\\d*"},
	{SUM, "ℹ ((?:pass|fail|cancelled|skipped|todo) \\d+)"},
	/* TAP */
	{LEFT, "(?:not )?ok \\d+ .*# (?:SKIP|TODO|skip|todo)\\b.*"},
	{FAILED | SHORT, "not ok \\d+ (?:- )?(\\S.*?)(?: # time=.*)?"},
	{PASSED | SHORT, "ok \\d+ (?:- )?(\\S.*?)(?: # time=.*)?"},
	{RAN, "1\\.\\.(\\d+)"},
	{SPOILT, "Bail out!.*"},
	/* ctest */
	{LEFT, " *\\d+/\\d+ Test +#\\d+: \\S+ \\.*\\*\\*\\*Skipped.*"},
	{FAILED, " *\\d+/\\d+ Test +#\\d+: (\\S+) \\.*\\*\\*\\*[A-Z].*"},
	{PASSED, " *\\d+/\\d+ Test +#\\d+: (\\S+) \\.+ +Passed +[\\d.]+ sec"},
	{RAN, "\\d+% tests passed, \\d+ tests? failed out of (\\d+)"},
};

/* The words in sums. */
static const struct {
	const char *word;
	enum mark mark;
} words[] = {
	{"failed", FAILED},   {"failing", FAILED}, {"fail", FAILED},  {"failures", FAILED},
	{"errors", FAILED},   {"passed", PASSED},  {"pass", PASSED},  {"passing", PASSED},
	{"skipped", LEFT},    {"ignored", LEFT},   {"pending", LEFT}, {"todo", LEFT},
	{"xfailed", LEFT},    {"xpassed", LEFT},   {"warning", LEFT}, {"warnings", LEFT},
	{"deselected", PART}, {"filtered", PART},
};

struct outcome {
	pcre2_code *code;
	pcre2_match_data *match;
	/* The names of both texts. A name may be there several times. */
	struct name {
		char *text;
		unsigned where; /* bits, see WHERE() */
	} * names;
	size_t count, room;
	bool is_short; /* at least one name is SHORT */
	struct side {
		uint64_t counts[SPOILT + 1];
		uint64_t names[2]; /* how many different ones FAILED, PASSED */
	} sides[2];
};

#define WHERE(mark, which) (1u << (2 * (which) + (mark)))

struct outcome *outcome_new(void)
{
	struct outcome *o = calloc(1, sizeof(*o));
	struct buffer pattern = BUFFER_INIT;
	int error;
	size_t offset;
	/* Joins all patterns to one. (*:N) says which of them has matched. */
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		buffer_printf(&pattern, "%s(?:%s)(*:%zu)", i ? "|" : "(?|", forms[i].pattern, i);
	buffer_append_string(&pattern, ")");
	if (o && buffer_check(&pattern) == 0)
		o->code = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.len,
					PCRE2_ANCHORED | PCRE2_ENDANCHORED, &error, &offset, NULL);
	if (o && o->code) {
		pcre2_jit_compile(o->code, PCRE2_JIT_COMPLETE);
		o->match = pcre2_match_data_create_from_pattern(o->code, NULL);
	}
	buffer_release(&pattern);
	if (o && o->match)
		return o;
	outcome_free(o);
	return NULL;
}

void outcome_free(struct outcome *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->count; i++)
		free(o->names[i].text);
	free(o->names);
	pcre2_match_data_free(o->match);
	pcre2_code_free(o->code);
	free(o);
}

/* Adds a name. Returns false if there is no room for it, or if it can't be printed unchanged. */
static bool outcome_add_name(struct outcome *o, const char *text, unsigned where)
{
	bool is_plain = utf8_all_clean(text, strlen(text)) && !strpbrk(text, "\"\\\t") &&
			!strstr(text, "[redacted");
	char *copy = is_plain && o->count < NAMES_MOST ? strdup(text) : NULL;
	struct name *name = copy ? array_add(&o->names, &o->count, &o->room, sizeof(*name)) : NULL;
	if (name)
		*name = (struct name){copy, where};
	else
		free(copy);
	return name;
}

/* Adds the counts of a sum: "1 failed, 2 passed", "failures=1, errors=2", "pass 2". */
static void side_add_sum(struct side *side, enum mark sum, char *list)
{
	side->counts[sum]++;
	char *rest = NULL;
	for (char *item = strtok_r(list, ",;|", &rest); item; item = strtok_r(NULL, ",;|", &rest)) {
		char word[16] = "";
		uint64_t n = 0;
		if (sscanf(item, " %" SCNu64 " %15[a-z]", &n, word) != 2)
			sscanf(item, " %15[a-z]%*[ =]%" SCNu64, word, &n);
		enum mark mark = SPOILT;
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
			if (strcmp(words[i].word, word) == 0)
				mark = words[i].mark;
		}
		side->counts[mark] += n;
	}
}

void outcome_add_line(struct outcome *o, bool before, const char *line, size_t len)
{
	struct side *side = &o->sides[before];
	char text[LINE_MOST + 1] = "1";
	/* If a test has printed an unfinished line, go prints "--- FAIL: " behind it. */
	const char *fail = len > 0 && line[len - 1] == ')'
				   ? memmem(line, len, "--- FAIL: ", strlen("--- FAIL: "))
				   : NULL;
	side->counts[SPOILT] += fail && strspn(line, " ") < (size_t)(fail - line);
	if (len > LINE_MOST ||
	    pcre2_match(o->code, (PCRE2_SPTR)line, len, 0, 0, o->match, NULL) < 1)
		return;
	enum mark mark = forms[strtoul((const char *)pcre2_get_mark(o->match), NULL, 10)].mark;
	const size_t *at = pcre2_get_ovector_pointer(o->match);
	o->is_short |= (mark & SHORT) != 0;
	mark &= ~SHORT;
	if (at[2] != PCRE2_UNSET)
		snprintf(text, sizeof(text), "%.*s", (int)(at[3] - at[2]), line + at[2]);
	if (mark == FAILED || mark == PASSED)
		side->counts[SPOILT] += !outcome_add_name(o, text, WHERE(mark, before));
	else if (mark == SUM || mark == WHOLE)
		side_add_sum(side, mark, text);
	else
		side->counts[mark] += strtoull(text, NULL, 10);
}

static int name_order(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* Sorts the names and merges equal ones. Returns false if one text has a name both failed and
   passed. */
static bool outcome_settle(struct outcome *o)
{
	size_t kept = 0;
	if (o->count > 0)
		qsort(o->names, o->count, sizeof(*o->names), name_order);
	for (size_t i = 0; i < o->count; i++) {
		if (kept == 0 || strcmp(o->names[kept - 1].text, o->names[i].text) != 0) {
			o->names[kept++] = o->names[i];
			continue;
		}
		o->names[kept - 1].where |= o->names[i].where;
		free(o->names[i].text);
	}
	o->count = kept;
	for (size_t i = 0; i < 4 * kept; i++)
		o->sides[i / 2 % 2].names[i % 2] += o->names[i / 4].where >> i % 4 & 1;
	for (size_t i = 0; i < kept; i++) {
		if ((o->names[i].where & o->names[i].where >> 1) & (WHERE(0, 0) | WHERE(0, 1)))
			return false;
	}
	return true;
}

/* Whether all tests that FAILED, or PASSED, are named: there are as many names as the runner has
   counted. Some runners count only all tests that ran, so all names are compared with that. If
   runners of both kinds have printed, it is unknown which of them a name belongs to. */
static bool side_names(const struct side *s, enum mark mark)
{
	const bool tells = s->counts[SUM] || s->counts[WHOLE];
	const uint64_t ran = s->counts[RAN] + s->counts[TOTAL];
	if (s->counts[RAN] > 0 && tells)
		return false;
	if (ran == 0 || (mark == FAILED && tells))
		return tells && s->names[mark] == s->counts[mark];
	return s->names[FAILED] + s->names[PASSED] + s->counts[LEFT] == ran;
}

/* Whether all tests of `other` but `more` ran in `s` as well. That is so if the runner says what it
   leaves out, no other runner has printed, and the counts are large enough. */
static bool side_covers(const struct side *s, const struct side *other, uint64_t more)
{
	return s->counts[WHOLE] > 0 && s->counts[WHOLE] >= other->counts[WHOLE] &&
	       s->counts[SUM] + s->counts[RAN] + s->counts[TOTAL] + s->counts[PART] == 0 &&
	       s->counts[FAILED] + s->counts[PASSED] + more >=
		       other->counts[FAILED] + other->counts[PASSED];
}

/* Whether both texts name the same tests, and none was left out. Otherwise a test that is gone
   could be taken for one of the same name in another file. */
static bool outcome_has_the_same(const struct outcome *o)
{
	for (size_t i = 0; i < o->count; i++) {
		if (!(o->names[i].where & (WHERE(FAILED, 0) | WHERE(PASSED, 0))) ||
		    !(o->names[i].where & (WHERE(FAILED, 1) | WHERE(PASSED, 1))))
			return false;
	}
	return o->sides[0].counts[LEFT] + o->sides[1].counts[LEFT] == 0;
}

/* A list as it is printed: the names that fit, and the number of all. */
struct list {
	const char *what;
	struct buffer text;
	size_t count, shown;
};

static void list_add_name(struct list *l, const char *name)
{
	const char *quote = strpbrk(name, " ,;()") ? "\"" : "";
	if (l->shown == l->count++ && l->text.len + strlen(name) <= LIST_MOST)
		buffer_printf(&l->text, "%s%s%s%s", l->shown++ ? ", " : "", quote, name, quote);
}

void outcome_compare(char out[OUTCOME_LEN], struct outcome *o, bool succeeded)
{
	const struct side *now = &o->sides[0], *before = &o->sides[1];
	struct list lists[] = {{.what = "new"}, {.what = "fixed"}, {.what = "no longer"}};
	struct buffer text = BUFFER_INIT;
	const char *joint = " (";
	uint64_t unknown = 0;
	*out = '\0';
	if (!outcome_settle(o) || now->counts[SPOILT] || before->counts[SPOILT] ||
	    !side_names(now, FAILED) || !side_names(before, FAILED))
		return;
	const bool names_then = side_names(before, PASSED), names_now = side_names(now, PASSED);
	const bool is_covered = side_covers(now, before, 0);
	if (o->is_short && !(names_then && names_now && outcome_has_the_same(o)))
		return;
	for (const struct name *n = o->names; n < o->names + o->count; n++) {
		bool fails = n->where & WHERE(FAILED, 0), failed = n->where & WHERE(FAILED, 1);
		if (fails == failed)
			continue;
		if (fails) {
			list_add_name(&lists[0], n->text);
			unknown += !names_then || !(n->where & WHERE(PASSED, 1));
		} else if (names_now && n->where & WHERE(PASSED, 0)) {
			list_add_name(&lists[1], n->text);
		} else if (is_covered) {
			list_add_name(&lists[2], n->text);
		}
	}
	buffer_printf(&text, "failed: %" PRIu64, now->names[FAILED]);
	bool same = now->names[FAILED] == before->names[FAILED] && lists[0].count == 0;
	for (struct list *l = lists; l < lists + 3; l++) {
		if (l->count > 0) {
			buffer_printf(&text, "%s%s: ", joint, l->what);
			buffer_add(&text, &l->text);
			joint = "; ";
		}
		if (l->shown < l->count)
			buffer_printf(&text, l->shown ? " and %zu more" : "%zu",
				      l->count - l->shown);
		buffer_release(&l->text);
	}
	buffer_append_string(&text, same ? " (the same)" : ")");
	/* If a run has failed and none of its tests, something else has, so nothing is said. A test
	   that didn't exist before counts as new, but not one that was left out before. */
	if ((same || *joint == ';') && (now->names[FAILED] || (succeeded && !same)) &&
	    (unknown == 0 || side_covers(before, now, unknown)) && buffer_check(&text) == 0)
		snprintf(out, OUTCOME_LEN, "%.*s", (int)text.len, text.data);
	buffer_release(&text);
}
