// See outcome.h.

#include "supervisor/compare/outcome.h"

#include "lib/buffer.h"
#include "lib/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most names that are compared, of each kind in each text, and the longest line, in bytes, that
   is looked at. */
#define NAMES_MOST 5000
#define LINE_MOST  4096

/* The most bytes of names that are printed of one list; further names are only counted. */
#define LIST_MOST 100

/* The name of a test of pytest: path::test[values]. The group is atomic, so that only the first of
   many "::" is tried. */
#define NODE "(?>[^\\s\\[]+?::[^\\s\\[]+)(?:\\[.*?\\])?"

/* A time behind a name. */
#define TIME "(?: \\([\\d.]+ ?m?s\\))?"

/* Patterns for whole lines, and which runner prints them. The letters of a mark say what the groups
   of its pattern are:
     F P L  the name of a test that failed, that passed, that was left out
     n f    the number of tests, the number of those that failed; an empty group counts one
     s      the name lacks its file, crate, package or suite
     w      a sum of a runner that says so if it stops early or leaves tests out
     p      it says so
     x      no name and no count can be relied on */
static const char forms[] =
	"(?|"
	/* pytest: its summary, unless it is unknown where the name ends; with -v, xdist, -rA */
	"FAILED (?![^\\s\\[]+\\[.*\\] - .*\\] - )(" NODE ")(?: - .*)?(*:F)"
	"|(" NODE ") PASSED(?: +\\[ *[\\d/]+%?\\])?(*:P)"
	"|(?:\\[gw\\d+\\] \\[ *\\d+%\\] )?PASSED (" NODE ") *(*:P)"
	"|(?:=+ )?()(?:((\\d+)) failed,? )?(?:(\\d+) passed,? )?"
	"(?:(?:\\d+ (?:skipped|xfailed|xpassed|warnings?)|(\\d+) deselected),? )*"
	"in [\\d.]+s(?: \\([\\d:]+\\))?(?: =+)?(*:wnfnp)"
	"|()(?:!{5,} |run-last-failure: |stepwise: ).*(*:p)"
	/* unittest, with -v */
	"|(?:FAIL|ERROR): (test\\S* \\(\\S+\\))(*:F)"
	"|(test\\S* \\(\\S+\\)) \\.\\.\\. (?:ok(*:P)|skipped .*(*:L))"
	"|Ran (\\d+) tests? in [\\d.]+s(*:n)"
	"|FAILED \\((?:failures=(\\d+))?(?:, )?(?:errors=(\\d+))?.*\\)(*:ff)"
	/* go test -v; if a test has printed an unfinished line, "--- FAIL: " stands behind it */
	"| *--- (?|FAIL: ()()(\\S+)(*:sfF)|PASS: (\\S+)(*:P)|SKIP: (\\S+)(*:L)) \\([\\d.]+s\\)"
	"|()=== RUN   \\S+(*:n)"
	"|()(?=.*+(?<=s\\))) *\\S.*--- FAIL: .*(*:x)"
	/* cargo test */
	"|test (?|()(.+) \\.\\.\\. FAILED(*:sF)|(.+) \\.\\.\\. ok(*:P)|(.+) \\.\\.\\. "
	"ignored.*(*:L))"
	"|test result: \\S+ (\\d+) passed; ((\\d+)) failed; (\\d+) ignored; .*(*:nnfn)"
	/* mocha, jest --verbose; mocha names its failures again behind its sum, with less indent */
	"| {4,}(?|(?:\\d+\\)|✕) ()(.+?)(*:sF)|(?:✓|✔) (.+?)(*:P))" TIME
	"| {4,}(?:○ skipped|✎ todo) (.+)(*:L)"
	"|  (?|((\\d+)) failing(*:nf)|(\\d+) (?:passing|pending)(*:n))" TIME
	"|Tests: +(?:(\\d+) failed, )?(?:.*, )?(\\d+) total(*:fn)"
	/* vitest, with its verbose reporter */
	"| FAIL  (\\S+ > .+)(*:F)"
	"| (?|✓ (\\S+ > .+?)(*:P)|↓ (\\S+ > .+?)(*:L))(?: \\d+ ?m?s)?"
	"| +Tests  (?:((\\d+)) failed)?(?: \\| )?(?:(\\d+) passed)?(?: \\| )?"
	"(?:(\\d+) skipped)? \\(\\d+\\)(*:nfnn)"
	/* node --test; it names its failures again behind its sum. It prints a suite that fails as
	   it prints a test, but does not count it. */
	"|(?|✖ ()(.+)(*:sF)|✔ (.+)(*:P)|﹣ (.+)(*:L)) \\([\\d.]+ms\\)(?: # SKIP)?"
	"|ℹ (?|tests (\\d+)(*:n)|fail (\\d+)(*:f)|(?:suites|cancelled|todo) ([1-9]\\d*)(*:x))"
	/* TAP */
	"|(?:not )?ok \\d+ (?:- )?(.*?) ?# (?i:SKIP|TODO)\\b.*(*:L)"
	"|(?|not ok \\d+ (?:- )?()()(\\S.*?)(*:sfF)|ok \\d+ (?:- )?(\\S.*?)(*:P))(?: # time=.*)?"
	"|1\\.\\.(\\d+)(*:n)"
	/* ctest */
	"| *\\d+/\\d+ Test +#\\d+: (\\S+) (?:\\.*\\*{3}(?:Skipped(*:L)|[A-Z](*:F)).*"
	"|\\.+ +Passed +[\\d.]+ sec(*:P))"
	"|\\d+% tests passed, (\\d+) tests? failed out of (\\d+)(*:fn))";

/* No pattern has as many groups. */
#define GROUPS_MOST 8

#define DID(did, before) ((int)((did) >> 8 * (before)) & 0xFF)

struct outcome {
	pcre2_code *code;
	pcre2_match_data *match;
	/* What each test did, now and before: F, P, L, or 0 if it is not named. See DID(). */
	json_t *tests;
	/* The sums of what the groups of each letter count, now and before. A name counts once. */
	size_t counts[2][128];
};

struct outcome *outcome_new(void)
{
	struct outcome *o = calloc(1, sizeof(*o));
	int error;
	size_t offset;
	if (!o)
		return NULL;
	/* If there is no memory for one of these, no line matches, so nothing is said. */
	o->code = pcre2_compile((PCRE2_SPTR)forms, PCRE2_ZERO_TERMINATED,
				PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL, &error, &offset,
				NULL);
	pcre2_jit_compile(o->code, PCRE2_JIT_COMPLETE);
	o->match = pcre2_match_data_create(GROUPS_MOST, NULL);
	o->tests = json_object();
	return o;
}

void outcome_free(struct outcome *o)
{
	if (!o)
		return;
	json_decref(o->tests);
	pcre2_match_data_free(o->match);
	pcre2_code_free(o->code);
	free(o);
}

void outcome_add_line(struct outcome *o, bool before, const char *line, size_t len)
{
	size_t *counts = o->counts[before];
	char text[LINE_MOST + 1];
	int groups = len > LINE_MOST
			     ? 0
			     : pcre2_match(o->code, (PCRE2_SPTR)line, len, 0, 0, o->match, NULL);
	for (int i = 1; i < groups; i++) {
		const size_t *at = pcre2_get_ovector_pointer(o->match) + 2 * i;
		const unsigned char letter = pcre2_get_mark(o->match)[i - 1];
		if (at[0] == PCRE2_UNSET)
			continue;
		const size_t size = at[1] - at[0];
		memcpy(text, line + at[0], size);
		text[size] = '\0';
		if (!strchr("FPL", letter)) {
			counts[letter] += size ? strtoull(text, NULL, 10) : 1;
			continue;
		}
		/* A name has to be printed unchanged, and a test can't do two things. */
		const json_int_t did = json_integer_value(json_object_get(o->tests, text));
		const int other = DID(did, before);
		counts[letter] += !other;
		counts['x'] += (other && other != letter) || counts[letter] > NAMES_MOST ||
			       !utf8_all_clean(text, size) || strpbrk(text, "\"\\\t") ||
			       strstr(text, "[redacted") ||
			       json_object_set_new_nocheck(
				       o->tests, text,
				       json_integer(did | (json_int_t)letter << 8 * before)) < 0;
	}
}

void outcome_compare(char out[OUTCOME_LEN], struct outcome *o, bool succeeded)
{
	/* A list as it is printed: the names that fit, and the number of all. */
	struct list {
		const char *what;
		struct buffer text;
		size_t count, shown;
	} lists[] = {{.what = "new"}, {.what = "fixed"}, {.what = "no longer"}};
	const size_t *now = o->counts[0], *then = o->counts[1];
	/* Whether all tests are named; and whether at least their number is known, and the runner
	   says what it leaves out, as often as before. */
	const bool all_now = now['F'] + now['P'] + now['L'] == now['n'];
	const bool all_then = then['F'] + then['P'] + then['L'] == then['n'];
	const bool is_whole = now['w'] > 0 && now['w'] == then['w'];
	bool known = !now['x'] && !then['x'] && now['F'] == now['f'] && then['F'] == then['f'] &&
		     ((all_now && all_then) || is_whole);
	struct buffer text = BUFFER_INIT;
	const char *name, *joint = " (";
	json_t *value;
	size_t unknown = 0;
	json_object_foreach(o->tests, name, value)
	{
		const json_int_t did = json_integer_value(value);
		const int is = DID(did, false), was = DID(did, true);
		const char *quote = strpbrk(name, " ,;()") ? "\"" : "";
		struct list *l = &lists[is == 'F' ? 0 : is == 'P' && all_now ? 1 : 2];
		/* A test that is gone could be taken for one of the same name in another file. */
		known &= (is && was) || now['s'] + then['s'] == 0;
		if ((is == 'F') == (was == 'F'))
			continue;
		unknown += is == 'F' && (was != 'P' || !all_then);
		if (l->shown == l->count++ && l->text.len + strlen(name) <= LIST_MOST)
			buffer_printf(&l->text, "%s%s%s%s", l->shown++ ? ", " : "", quote, name,
				      quote);
	}
	/* A test that didn't exist before counts as new, but not one that was left out before. */
	known &= !unknown || (is_whole && !then['p'] && then['n'] + unknown >= now['n']);
	if (!is_whole || now['p'] || now['n'] < then['n'])
		lists[2].count = 0;
	buffer_printf(&text, "failed: %zu", now['F']);
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
	const bool same = now['F'] == then['F'] && *joint != ';';
	buffer_append_string(&text, same ? " (the same)" : ")");
	/* If a run has failed and none of its tests, something else has, so nothing is said. */
	*out = '\0';
	if (known && (same || *joint == ';') && (now['F'] || (succeeded && !same)) &&
	    buffer_check(&text) == 0)
		snprintf(out, OUTCOME_LEN, "%.*s", (int)text.len, text.data);
	buffer_release(&text);
}
