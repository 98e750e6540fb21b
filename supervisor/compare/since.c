// See since.h.

#include "supervisor/compare/since.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/utf8.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/reading/walk.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts of more than TEXT_MOST bytes are not compared, and the lines of texts of more than
   LINES_MOST are not read: either would take over about 10 ms. */
#define TEXT_MOST  ((uint64_t)16 * 1024 * 1024)
#define LINES_MOST ((uint64_t)4 * 1024 * 1024)

/* The most lines of journals that are searched for an earlier run; they reach back some days. */
#define LOOKS 1000

/* The most names that are compared, of each kind in each text, and the longest line, in bytes, that
   is looked at. */
#define NAMES_MOST 5000
#define LINE_MOST  4096

/* A list of tests is printed up to about this many bytes; further names are only counted. */
#define LIST_MOST 100

/* The name of a test of pytest: path::test[values]. The group is atomic, so that only the first of
   many "::" is tried. */
#define NODE "(?>[^\\s\\[]+?::[^\\s\\[]+)(?:\\[.*?\\])?"

/* A time after a name. */
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
	"(?s)(?|"
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
	/* go test -v; if a test has printed an unfinished line, "--- FAIL: " follows on the same
	   line */
	"| *--- (?|FAIL: ()()(\\S+)(*:sfF)|PASS: (\\S+)(*:P)|SKIP: (\\S+)(*:L)) \\([\\d.]+s\\)"
	"|()=== RUN   \\S+(*:n)"
	"|()(?=.*+(?<=s\\))) *\\S.*--- FAIL: .*(*:x)"
	/* cargo test */
	"|test (?|()(.+) \\.\\.\\. FAILED(*:sF)|(.+) \\.\\.\\. ok(*:P)|(.+) \\.\\.\\. "
	"ignored.*(*:L))"
	"|test result: \\S+ (\\d+) passed; ((\\d+)) failed; (\\d+) ignored; .*(*:nnfn)"
	/* mocha, jest --verbose; mocha names its failures again after its sum, with less indent */
	"| {4,}(?|(?:\\d+\\)|✕) ()(.+?)(*:sF)|(?:✓|✔) (.+?)(*:P))" TIME
	"| {4,}(?:○ skipped|✎ todo) (.+)(*:L)"
	"|  (?|((\\d+)) failing(*:nf)|(\\d+) (?:passing|pending)(*:n))" TIME
	"|Tests: +(?:(\\d+) failed, )?(?:.*, )?(\\d+) total(*:fn)"
	/* vitest, with its verbose reporter */
	"| FAIL  (\\S+ > .+)(*:F)"
	"| (?|✓ (\\S+ > .+?)(*:P)|↓ (\\S+ > .+?)(*:L))(?: \\d+ ?m?s)?"
	"| +Tests  (?:((\\d+)) failed)?(?: \\| )?(?:(\\d+) passed)?(?: \\| )?"
	"(?:(\\d+) skipped)? \\(\\d+\\)(*:nfnn)"
	/* node --test; it names its failures again after its sum. It prints a suite that fails as
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

/* More groups than any pattern has. */
#define GROUPS_MOST 8

static const struct walk_options all_lines = {.from = 1, .here = true};

/* What is known about the tests of two runs. */
struct since_tests {
	pcre2_code *code;
	pcre2_match_data *match;
	/* What each test did, now and, in the second byte, before: F, P, L; 0: not named. */
	json_t *names;
	/* The sums of what the groups of each letter count, now and before. A name counts once. */
	size_t counts[2][128];
};

/* Takes the next line, of LINE_MOST bytes at most, of the run now or `before`. */
static void since_add_line(struct since_tests *t, bool before, const char *line, size_t len)
{
	size_t *counts = t->counts[before];
	char text[LINE_MOST + 1];
	const int groups = pcre2_match(t->code, (PCRE2_SPTR)line, len, 0, 0, t->match, NULL);
	for (int i = 1; i < groups; i++) {
		const size_t *at = pcre2_get_ovector_pointer(t->match) + 2 * i;
		const unsigned char letter = pcre2_get_mark(t->match)[i - 1];
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
		const int did = (int)json_integer_value(json_object_get(t->names, text));
		const int other = did >> 8 * before & 0xFF;
		counts[letter] += !other;
		counts['x'] +=
			(other && other != letter) || counts[letter] > NAMES_MOST ||
			!utf8_all_clean(text, size) || strpbrk(text, "\"\\\t") ||
			strstr(text, "[redacted") ||
			json_object_set_new_nocheck(t->names, text,
						    json_integer(did | letter << 8 * before)) < 0;
	}
}

void since_compare_tests(struct wording_since *out, struct text texts[4], bool succeeded)
{
	static const char *const titles[] = {"; new: ", "; fixed: ", "; no longer: "};
	struct buffer lists = BUFFER_INIT;
	const char *name;
	json_t *value;
	bool known = true;
	int error;
	size_t offset, unknown = 0;
	/* If there is no memory for one of these, no line matches, so nothing is said. */
	struct since_tests t = {
		.code = pcre2_compile((PCRE2_SPTR)forms, PCRE2_ZERO_TERMINATED,
				      PCRE2_ANCHORED | PCRE2_ENDANCHORED, &error, &offset, NULL),
		.match = pcre2_match_data_create(GROUPS_MOST, NULL),
		.names = json_object(),
	};
	const size_t *now = t.counts[0], *then = t.counts[1];
	pcre2_jit_compile(t.code, PCRE2_JIT_COMPLETE);
	for (int i = 0; i < 4; i++) {
		struct walk *w = walk_new(&texts[i], NULL, &all_lines);
		enum walk_kind kind = WALK_FAILED;
		struct walk_line line;
		/* A long line counts as an empty one. */
		while (w && (kind = walk_step(w, &line)) == WALK_LINE)
			since_add_line(&t, i / 2, line.data, line.len > LINE_MOST ? 0 : line.len);
		known &= kind == WALK_END;
		walk_free(w);
	}
	/* all_now, all_then: every test is named. is_whole: the runner has printed sums with the
	   mark `w`, and as many of them as before. */
	const bool all_now = now['F'] + now['P'] + now['L'] == now['n'];
	const bool all_then = then['F'] + then['P'] + then['L'] == then['n'];
	const bool is_whole = now['w'] > 0 && now['w'] == then['w'];
	known &= !now['x'] && !then['x'] && now['F'] == now['f'] && then['F'] == then['f'] &&
		 ((all_now && all_then) || is_whole);
	/* Tests that are not named now are listed if all have run. */
	const int count = is_whole && !now['p'] && now['n'] >= then['n'] ? 3 : 2;
	for (int i = 0; i < count; i++) {
		const size_t start = lists.len;
		size_t more = 0;
		json_object_foreach(t.names, name, value)
		{
			const int did = (int)json_integer_value(value), is = did & 0xFF;
			const int was = did >> 8;
			const bool passed = is == 'P' && all_now;
			/* A test that is gone could be taken for one of the same name in another
			   file. */
			known &= (is && was) || now['s'] + then['s'] == 0;
			if ((is == 'F') == (was == 'F') || i != (is == 'F' ? 0 : 2 - passed))
				continue;
			const char *quote = strpbrk(name, " ,;()") ? "\"" : "";
			unknown += is == 'F' && (was != 'P' || !all_then);
			more += more || lists.len - start + strlen(name) > LIST_MOST;
			if (!more)
				buffer_printf(&lists, "%s%s%s%s",
					      lists.len > start ? ", " : titles[i], quote, name,
					      quote);
		}
		/* The title precedes the first name, or the number if there are no names. */
		if (more)
			buffer_printf(&lists, lists.len > start ? "%.0s and %zu more" : "%s%zu",
				      titles[i], more);
	}
	/* A test that didn't exist before counts as new, but not one that was left out before. */
	known &= !unknown || (is_whole && !then['p'] && then['n'] + unknown >= now['n']);
	/* If a run failed but none of its tests did, something else failed, so nothing is said. */
	known &= lists.len > 0 ? now['F'] || succeeded : now['F'] && now['F'] == then['F'];
	const char *told = buffer_string(&lists);
	if (known && told)
		snprintf(out->tests, sizeof(out->tests), "failed: %zu (%s)", now['F'],
			 *told ? told + strlen("; ") : "the same");
	buffer_release(&lists);
	json_decref(t.names);
	pcre2_match_data_free(t.match);
	pcre2_code_free(t.code);
}

/* Opens the text of a run, or its standard error, which is empty if there is none. Returns false if
   the text is not complete. Call text_close() in every case. */
static bool since_open(struct text *text, const struct earlier_run *run, enum artifact_part part)
{
	const struct meta_stream *s = part == ARTIFACT_ERR ? &run->meta.err : &run->meta.out;
	*text = (struct text){.fd = -1, .idx = -1, .dir = -1, .json = -1};
	return ((part == ARTIFACT_ERR && !s->present) ||
		text_open(text, run->dir, run->meta.id, part) == 0) &&
	       s->gap_from == 0 && text->size == s->bytes;
}

/* Whether two texts are identical; false if one can't be read. */
static bool since_is_same(const struct text *a, const struct text *b)
{
	char blocks[2][16 * 1024];
	bool same = a->size == b->size && a->size <= TEXT_MOST;
	for (uint64_t at = 0; same && at < a->size; at += sizeof(*blocks)) {
		const ssize_t len = text_read(a, blocks[0], sizeof(*blocks), at);
		same = len > 0 && text_read(b, blocks[1], sizeof(*blocks), at) == len &&
		       memcmp(blocks[0], blocks[1], (size_t)len) == 0;
	}
	return same;
}

static int since_next_print(void *ctx, uint64_t *print)
{
	struct walk_line line;
	const enum walk_kind kind = walk_step(ctx, &line);
	*print = kind == WALK_LINE ? fingerprint_masked(line.data, line.len) : 0;
	return kind == WALK_LINE ? 1 : kind == WALK_END ? 0 : -1;
}

/* Compares the texts of two runs, now and before: whether they are the same, and if not, which
   tests have failed. */
static void since_compare(struct wording_since *out, const struct earlier_run runs[2])
{
	const struct meta *now = &runs[0].meta, *then = &runs[1].meta;
	const bool has_failed = meta_has_failed(now) || meta_has_failed(then);
	struct text texts[4];
	bool known = true, is_whole = has_failed;
	/* Compares the lengths first. */
	if (!has_failed && (now->out.bytes != then->out.bytes || now->err.bytes != then->err.bytes))
		return;
	for (int i = 0; i < 4; i++) {
		const struct meta *m = &runs[i / 2].meta;
		known &= since_open(&texts[i], &runs[i / 2], i % 2);
		/* A run that was ended early may have left out any test. */
		is_whole &= m->state == META_DONE && !m->timed_out && !m->signal &&
			    texts[i].size <= LINES_MOST;
	}
	out->identical =
		known && since_is_same(&texts[0], &texts[2]) && since_is_same(&texts[1], &texts[3]);
	if (known && is_whole && !out->identical)
		since_compare_tests(out, texts, !meta_has_failed(now));
	for (int i = 0; i < 4; i++)
		text_close(&texts[i]);
}

void since_look(struct wording_since *out, const struct meta *m, int dir,
		void (*success)(void *ctx, bool is_stderr, const struct fingerprints *lines),
		void *ctx)
{
	struct earlier_run runs[] = {{.meta = *m, .dir = dir}, {.dir = -1}, {.dir = -1}};
	struct earlier_run *last = &runs[1], *best = &runs[2];
	struct store store;
	char session[STORE_SESSION_LEN + 1];
	*out = (struct wording_since){.id = ""};
	if (store_open_write(&store) < 0)
		return;
	store_session_name(m->session, session);
	earlier_find(&store, 1, session, m, LOOKS, last, meta_has_failed(m) ? best : NULL);
	if (last->is_found) {
		snprintf(out->id, sizeof(out->id), "%s", last->meta.id);
		out->exit_code = last->meta.exit_code;
		out->signal = last->meta.signal;
		out->age_ms = clock_real_ms() - last->meta.ended_ms;
		since_compare(out, runs);
	}
	for (int i = 0; i < 2 && best->is_found; i++) {
		struct text text;
		struct walk *w = since_open(&text, best, i) && text.size <= LINES_MOST
					 ? walk_new(&text, NULL, &all_lines)
					 : NULL;
		if (w)
			success(ctx, i, &(struct fingerprints){since_next_print, w});
		walk_free(w);
		text_close(&text);
	}
	earlier_run_release(last);
	earlier_run_release(best);
	store_close(&store);
}
