#include "supervisor/preview/score.h"

#include "supervisor/preview/chars.h"
#include "supervisor/preview/shape.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY(text, after, kind, weight, counted)                           \
	{                                                                   \
		text, after, sizeof(text) - 1, kind, weight, counted, false \
	}
/* A word that says that something failed, and nothing of what. */
#define GENERAL(text, weight, counted)                                         \
	{                                                                      \
		text, NULL, sizeof(text) - 1, WORD_FAIL, weight, counted, true \
	}

/* Sorted; an entry that needs a word before it comes before the one that does not. */
/* clang-format off */
static const struct word words[] = {
	GENERAL("abort", 45, false),
	GENERAL("aborted", 50, false),
	GENERAL("aborting", 50, false),
	ENTRY("actual", NULL, WORD_DETAIL, 18, false),
	ENTRY("allowed", "not", WORD_FAIL, 30, false),
	ENTRY("ambiguous", NULL, WORD_FAIL, 30, false),
	ENTRY("aren't", NULL, WORD_NOT, 0, false),
	ENTRY("assert", NULL, WORD_FAIL, 28, false),
	ENTRY("assertion", NULL, WORD_FAIL, 35, true),
	ENTRY("assertionerror", NULL, WORD_FAIL, 44, false),
	ENTRY("assertions", NULL, WORD_COUNTED, 0, false),
	ENTRY("attempt", NULL, WORD_DETAIL, 18, false),
	ENTRY("bad", NULL, WORD_FAIL, 25, false),
	ENTRY("broken", NULL, WORD_FAIL, 30, false),
	ENTRY("bug", NULL, WORD_FAIL, 20, false),
	ENTRY("build", NULL, WORD_OUTER, 0, false),
	ENTRY("builds", NULL, WORD_OUTER, 0, false),
	ENTRY("built", NULL, WORD_RESULT, 20, false),
	ENTRY("but", NULL, WORD_DETAIL, 6, false),
	ENTRY("can't", NULL, WORD_FAIL, 38, false),
	ENTRY("canceled", NULL, WORD_FAIL, 25, true),
	ENTRY("cancelled", NULL, WORD_FAIL, 25, true),
	ENTRY("cannot", NULL, WORD_FAIL, 38, false),
	ENTRY("caused", NULL, WORD_DETAIL, 15, false),
	ENTRY("code", "exit", WORD_STATUS, 0, false),
	ENTRY("code", "status", WORD_STATUS, 0, false),
	ENTRY("code", "return", WORD_STATUS, 0, false),
	ENTRY("command", NULL, WORD_OUTER, 0, false),
	ENTRY("compiled", NULL, WORD_RESULT, 12, false),
	ENTRY("complete", NULL, WORD_RESULT, 14, false),
	ENTRY("completed", NULL, WORD_RESULT, 16, false),
	ENTRY("conflict", NULL, WORD_FAIL, 35, false),
	ENTRY("conflicts", NULL, WORD_FAIL, 35, false),
	ENTRY("corrupt", NULL, WORD_FAIL, 35, false),
	ENTRY("corrupted", NULL, WORD_FAIL, 35, false),
	ENTRY("corruption", NULL, WORD_FAIL, 45, false),
	ENTRY("could", NULL, WORD_NOT, 0, false),
	ENTRY("couldn't", NULL, WORD_FAIL, 35, false),
	ENTRY("crash", NULL, WORD_FAIL, 45, false),
	ENTRY("crashed", NULL, WORD_FAIL, 50, false),
	ENTRY("crashloopbackoff", NULL, WORD_FAIL, 50, false),
	ENTRY("created", NULL, WORD_RESULT, 16, false),
	ENTRY("critical", "severity", WORD_FAIL, 40, false),
	ENTRY("cyclic", NULL, WORD_FAIL, 20, false),
	ENTRY("deadlock", NULL, WORD_FAIL, 40, false),
	ENTRY("debug", NULL, WORD_LEVEL, 0, false),
	ENTRY("defined", "not", WORD_FAIL, 40, false),
	ENTRY("definition", "multiple", WORD_FAIL, 45, false),
	ENTRY("denied", NULL, WORD_FAIL, 42, false),
	ENTRY("deployed", NULL, WORD_RESULT, 20, false),
	ENTRY("deprecated", NULL, WORD_WARN, 6, false),
	ENTRY("didn't", NULL, WORD_NOT, 0, false),
	ENTRY("died", NULL, WORD_FAIL, 40, false),
	ENTRY("diff", NULL, WORD_DETAIL, 6, false),
	ENTRY("dirty", NULL, WORD_FAIL, 20, false),
	ENTRY("disallowed", NULL, WORD_FAIL, 25, false),
	ENTRY("disconnected", NULL, WORD_FAIL, 28, false),
	ENTRY("doesn't", NULL, WORD_NOT, 0, false),
	ENTRY("don't", NULL, WORD_NOT, 0, false),
	ENTRY("done", NULL, WORD_RESULT, 14, false),
	ENTRY("dumped", "core", WORD_FAIL, 60, false),
	ENTRY("duplicate", NULL, WORD_FAIL, 25, false),
	ENTRY("err", NULL, WORD_FAIL, 40, false),
	GENERAL("error", 50, true),
	GENERAL("errored", 45, true),
	GENERAL("errors", 42, true),
	ENTRY("examples", NULL, WORD_COUNTED, 0, false),
	ENTRY("exceeded", NULL, WORD_FAIL, 38, false),
	ENTRY("exceeds", NULL, WORD_FAIL, 30, false),
	GENERAL("exception", 42, false),
	ENTRY("exceptions", NULL, WORD_FAIL, 30, true),
	ENTRY("exhausted", NULL, WORD_FAIL, 38, false),
	ENTRY("exist", "not", WORD_FAIL, 40, false),
	ENTRY("exists", "already", WORD_FAIL, 35, false),
	ENTRY("exit", NULL, WORD_STATUS, 0, false),
	ENTRY("exited", NULL, WORD_STATUS, 10, false),
	ENTRY("expected", NULL, WORD_DETAIL, 22, false),
	ENTRY("expecting", NULL, WORD_DETAIL, 20, false),
	ENTRY("expired", NULL, WORD_FAIL, 28, false),
	GENERAL("fail", 42, true),
	GENERAL("failed", 48, true),
	GENERAL("failing", 40, true),
	GENERAL("fails", 30, true),
	GENERAL("failure", 46, true),
	GENERAL("failures", 42, true),
	ENTRY("fatal", NULL, WORD_FAIL, 60, false),
	ENTRY("fault", "segmentation", WORD_FAIL, 70, false),
	ENTRY("fault", NULL, WORD_FAIL, 30, false),
	ENTRY("find", "to", WORD_FAIL, 15, false),
	ENTRY("finished", NULL, WORD_RESULT, 18, false),
	ENTRY("forbidden", NULL, WORD_FAIL, 38, false),
	ENTRY("found", "not", WORD_FAIL, 40, false),
	ENTRY("free", "double", WORD_FAIL, 55, false),
	ENTRY("generated", NULL, WORD_RESULT, 14, false),
	ENTRY("goal", NULL, WORD_OUTER, 0, false),
	ENTRY("got", NULL, WORD_DETAIL, 10, false),
	ENTRY("halted", NULL, WORD_FAIL, 30, false),
	ENTRY("halting", NULL, WORD_FAIL, 30, false),
	ENTRY("heap-buffer-overflow", NULL, WORD_FAIL, 55, false),
	ENTRY("heap-use-after-free", NULL, WORD_FAIL, 55, false),
	ENTRY("high", "severity", WORD_FAIL, 40, false),
	ENTRY("illegal", NULL, WORD_FAIL, 35, false),
	ENTRY("imagepullbackoff", NULL, WORD_FAIL, 50, false),
	ENTRY("impossible", NULL, WORD_FAIL, 30, false),
	ENTRY("improper", NULL, WORD_FAIL, 25, false),
	ENTRY("inaccessible", NULL, WORD_FAIL, 28, false),
	ENTRY("incompatible", NULL, WORD_FAIL, 32, false),
	ENTRY("incorrect", NULL, WORD_FAIL, 32, false),
	ENTRY("info", NULL, WORD_LEVEL, 0, false),
	ENTRY("installable", NULL, WORD_FAIL, 15, false),
	ENTRY("installed", NULL, WORD_RESULT, 20, false),
	ENTRY("instead", NULL, WORD_DETAIL, 15, false),
	ENTRY("insufficient", NULL, WORD_FAIL, 32, false),
	ENTRY("invalid", NULL, WORD_FAIL, 35, false),
	ENTRY("invocation", NULL, WORD_OUTER, 0, false),
	ENTRY("isn't", NULL, WORD_NOT, 0, false),
	ENTRY("issues", NULL, WORD_COUNTED, 0, false),
	ENTRY("job", NULL, WORD_OUTER, 0, false),
	ENTRY("killed", NULL, WORD_FAIL, 50, false),
	ENTRY("leak", NULL, WORD_FAIL, 35, false),
	ENTRY("leaked", NULL, WORD_FAIL, 35, false),
	ENTRY("leaks", NULL, WORD_FAIL, 35, false),
	ENTRY("lifecycle", NULL, WORD_OUTER, 0, false),
	ENTRY("locate", "to", WORD_FAIL, 15, false),
	ENTRY("lost", "definitely", WORD_FAIL, 40, false),
	ENTRY("malformed", NULL, WORD_FAIL, 35, false),
	ENTRY("match", "not", WORD_FAIL, 38, false),
	ENTRY("matched", "not", WORD_FAIL, 30, false),
	ENTRY("memory", "of", WORD_DETAIL, 10, false),
	ENTRY("misconfigured", NULL, WORD_FAIL, 32, false),
	ENTRY("mismatch", NULL, WORD_FAIL, 38, false),
	ENTRY("mismatched", NULL, WORD_FAIL, 35, false),
	ENTRY("mismatching", NULL, WORD_FAIL, 30, false),
	ENTRY("missing", NULL, WORD_FAIL, 32, false),
	ENTRY("never", NULL, WORD_NOT, 0, false),
	ENTRY("no", NULL, WORD_NOT, 0, false),
	GENERAL("non-zero", 35, false),
	GENERAL("nonzero", 35, false),
	ENTRY("not", "could", WORD_FAIL, 38, false),
	ENTRY("not", NULL, WORD_NOT, 0, false),
	ENTRY("notfound", NULL, WORD_FAIL, 30, false),
	ENTRY("notice", NULL, WORD_LEVEL, 0, false),
	ENTRY("offense", NULL, WORD_FAIL, 25, true),
	ENTRY("offenses", NULL, WORD_FAIL, 25, true),
	ENTRY("ok", NULL, WORD_PASS, 0, false),
	ENTRY("okay", NULL, WORD_PASS, 0, false),
	ENTRY("oom", NULL, WORD_FAIL, 55, false),
	ENTRY("oomkilled", NULL, WORD_FAIL, 55, false),
	ENTRY("oops", NULL, WORD_FAIL, 45, false),
	ENTRY("open", "to", WORD_DETAIL, 10, false),
	ENTRY("out", "timed", WORD_FAIL, 45, false),
	ENTRY("out-of-memory", NULL, WORD_FAIL, 55, false),
	ENTRY("overflow", NULL, WORD_FAIL, 32, false),
	ENTRY("packaged", NULL, WORD_RESULT, 16, false),
	ENTRY("panic", NULL, WORD_FAIL, 60, false),
	ENTRY("panicked", NULL, WORD_FAIL, 65, false),
	ENTRY("parse", NULL, WORD_DETAIL, 5, false),
	ENTRY("pass", NULL, WORD_PASS, 0, true),
	ENTRY("passed", NULL, WORD_PASS, 0, true),
	ENTRY("passes", NULL, WORD_PASS, 0, true),
	ENTRY("passing", NULL, WORD_PASS, 0, true),
	ENTRY("pending", NULL, WORD_SKIP, 0, true),
	ENTRY("permission", NULL, WORD_DETAIL, 8, false),
	ENTRY("permitted", "not", WORD_FAIL, 40, false),
	ENTRY("problem", NULL, WORD_FAIL, 30, true),
	ENTRY("problems", NULL, WORD_FAIL, 30, true),
	ENTRY("process", NULL, WORD_OUTER, 0, false),
	ENTRY("program", NULL, WORD_OUTER, 0, false),
	ENTRY("published", NULL, WORD_RESULT, 20, false),
	ENTRY("pushed", NULL, WORD_RESULT, 16, false),
	ENTRY("range", NULL, WORD_DETAIL, 3, false),
	ENTRY("read", "never", WORD_MINOR, 0, false),
	ENTRY("received", NULL, WORD_DETAIL, 12, false),
	ENTRY("recipe", NULL, WORD_OUTER, 0, false),
	ENTRY("recognised", "not", WORD_FAIL, 35, false),
	ENTRY("recognized", "not", WORD_FAIL, 35, false),
	ENTRY("reference", "undefined", WORD_FAIL, 60, false),
	ENTRY("refused", NULL, WORD_FAIL, 42, false),
	ENTRY("rejected", NULL, WORD_FAIL, 35, false),
	ENTRY("rejection", NULL, WORD_FAIL, 30, false),
	ENTRY("reset", "connection", WORD_FAIL, 38, false),
	ENTRY("resolve", NULL, WORD_DETAIL, 6, false),
	ENTRY("resolved", "not", WORD_FAIL, 30, false),
	ENTRY("returned", NULL, WORD_STATUS, 6, false),
	ENTRY("returning", NULL, WORD_STATUS, 6, false),
	ENTRY("rule", "no", WORD_FAIL, 42, false),
	ENTRY("satisfied", "not", WORD_FAIL, 20, false),
	ENTRY("saved", NULL, WORD_RESULT, 14, false),
	ENTRY("script", NULL, WORD_OUTER, 0, false),
	ENTRY("segfault", NULL, WORD_FAIL, 70, false),
	ENTRY("segv", NULL, WORD_FAIL, 60, false),
	ENTRY("sigabrt", NULL, WORD_FAIL, 55, false),
	ENTRY("sigkill", NULL, WORD_FAIL, 50, false),
	ENTRY("sigsegv", NULL, WORD_FAIL, 65, false),
	ENTRY("sigterm", NULL, WORD_FAIL, 30, false),
	ENTRY("skip", NULL, WORD_SKIP, 0, true),
	ENTRY("skipped", NULL, WORD_SKIP, 0, true),
	ENTRY("skipping", NULL, WORD_SKIP, 0, false),
	ENTRY("smashing", NULL, WORD_FAIL, 50, false),
	ENTRY("space", "no", WORD_FAIL, 45, false),
	ENTRY("specs", NULL, WORD_COUNTED, 0, false),
	ENTRY("stack-buffer-overflow", NULL, WORD_FAIL, 55, false),
	ENTRY("stack-overflow", NULL, WORD_FAIL, 50, false),
	ENTRY("stage", NULL, WORD_OUTER, 0, false),
	ENTRY("status", "exit", WORD_STATUS, 0, false),
	ENTRY("status", NULL, WORD_STATUS, 0, false),
	ENTRY("step", NULL, WORD_OUTER, 0, false),
	ENTRY("stop", NULL, WORD_FAIL, 12, false),
	GENERAL("stopped", 18, false),
	ENTRY("stopping", NULL, WORD_FAIL, 15, false),
	ENTRY("subprocess", NULL, WORD_OUTER, 0, false),
	ENTRY("succeed", "not", WORD_FAIL, 38, false),
	ENTRY("succeeded", NULL, WORD_PASS, 30, true),
	ENTRY("success", NULL, WORD_PASS, 32, true),
	ENTRY("successes", NULL, WORD_PASS, 20, true),
	ENTRY("successful", NULL, WORD_PASS, 30, false),
	ENTRY("successfully", NULL, WORD_PASS, 32, false),
	ENTRY("such", "no", WORD_FAIL, 42, false),
	ENTRY("suites", NULL, WORD_COUNTED, 0, false),
	ENTRY("summary", NULL, WORD_DETAIL, 22, false),
	ENTRY("supported", "not", WORD_FAIL, 28, false),
	ENTRY("syntax", NULL, WORD_DETAIL, 14, false),
	ENTRY("target", NULL, WORD_OUTER, 0, false),
	ENTRY("task", NULL, WORD_OUTER, 0, false),
	GENERAL("terminated", 38, false),
	ENTRY("terminating", NULL, WORD_FAIL, 25, false),
	ENTRY("test", NULL, WORD_COUNTED, 0, false),
	ENTRY("tests", NULL, WORD_COUNTED, 0, false),
	ENTRY("threw", NULL, WORD_FAIL, 30, false),
	ENTRY("throwing", NULL, WORD_FAIL, 30, false),
	ENTRY("thrown", NULL, WORD_FAIL, 28, false),
	ENTRY("timed", NULL, WORD_DETAIL, 0, false),
	ENTRY("timeout", NULL, WORD_FAIL, 32, false),
	ENTRY("total", NULL, WORD_RESULT, 10, false),
	ENTRY("trace", NULL, WORD_LEVEL, 0, false),
	ENTRY("traceback", NULL, WORD_FAIL, 50, false),
	ENTRY("truncated", NULL, WORD_FAIL, 20, false),
	ENTRY("unable", NULL, WORD_FAIL, 40, false),
	ENTRY("unacceptable", NULL, WORD_FAIL, 25, false),
	ENTRY("unauthorized", NULL, WORD_FAIL, 38, false),
	ENTRY("unavailable", NULL, WORD_FAIL, 30, false),
	ENTRY("unbound", NULL, WORD_FAIL, 32, false),
	ENTRY("uncaught", NULL, WORD_FAIL, 48, false),
	ENTRY("undeclared", NULL, WORD_FAIL, 40, false),
	ENTRY("undefined", NULL, WORD_FAIL, 36, false),
	ENTRY("unexpected", NULL, WORD_FAIL, 38, false),
	ENTRY("unexpectedly", NULL, WORD_FAIL, 35, false),
	ENTRY("unhandled", NULL, WORD_FAIL, 40, false),
	ENTRY("unknown", NULL, WORD_FAIL, 30, false),
	ENTRY("unmet", NULL, WORD_FAIL, 35, false),
	ENTRY("unreachable", NULL, WORD_FAIL, 25, false),
	ENTRY("unreadable", NULL, WORD_FAIL, 30, false),
	ENTRY("unrecognised", NULL, WORD_FAIL, 35, false),
	ENTRY("unrecognized", NULL, WORD_FAIL, 35, false),
	ENTRY("unresolved", NULL, WORD_FAIL, 40, false),
	ENTRY("unsatisfied", NULL, WORD_FAIL, 38, false),
	ENTRY("unsupported", NULL, WORD_FAIL, 30, false),
	ENTRY("unused", NULL, WORD_MINOR, 0, false),
	ENTRY("unwritable", NULL, WORD_FAIL, 30, false),
	ENTRY("uploaded", NULL, WORD_RESULT, 16, false),
	ENTRY("usage", NULL, WORD_DETAIL, 10, false),
	ENTRY("use-after-free", NULL, WORD_FAIL, 55, false),
	ENTRY("used", "never", WORD_MINOR, 0, false),
	ENTRY("verbose", NULL, WORD_LEVEL, 0, false),
	ENTRY("violates", NULL, WORD_FAIL, 35, false),
	ENTRY("violation", NULL, WORD_FAIL, 40, false),
	ENTRY("violations", NULL, WORD_FAIL, 35, true),
	ENTRY("vulnerabilities", NULL, WORD_WARN, 8, true),
	ENTRY("warn", NULL, WORD_WARN, 10, false),
	ENTRY("warning", NULL, WORD_WARN, 12, true),
	ENTRY("warnings", NULL, WORD_WARN, 10, true),
	ENTRY("was", "but", WORD_DETAIL, 14, false),
	ENTRY("wasn't", NULL, WORD_NOT, 0, false),
	ENTRY("without", NULL, WORD_NOT, 0, false),
	ENTRY("won't", NULL, WORD_NOT, 0, false),
	ENTRY("workflow", NULL, WORD_OUTER, 0, false),
	ENTRY("written", NULL, WORD_RESULT, 14, false),
	ENTRY("wrong", NULL, WORD_FAIL, 32, false),
	ENTRY("wrote", NULL, WORD_RESULT, 16, false),
	ENTRY("zero", NULL, WORD_NOT, 0, false),
};
/* clang-format on */

enum { WORD_COUNT = sizeof(words) / sizeof(*words) };

_Static_assert(2 * WORD_COUNT < KEYWORDS_SLOTS, "the table has grown");

void keywords_init(struct keywords *l)
{
	memset(l->slots, 0, sizeof(l->slots));
	for (size_t i = 0; i < WORD_COUNT; i++) {
		/* Entries of one word are found through the first of them. */
		if (i > 0 && strcmp(words[i].text, words[i - 1].text) == 0)
			continue;
		unsigned slot =
			shape_hash(SHAPE_SEED, words[i].text, words[i].len) % KEYWORDS_SLOTS;
		while (l->slots[slot])
			slot = (slot + 1) % KEYWORDS_SLOTS;
		l->slots[slot] = (uint16_t)(i + 1);
	}
}

const struct word *keywords_find(const struct keywords *l, const char *word, size_t len,
				 uint32_t hash, const char *before, size_t before_len)
{
	unsigned slot = hash % KEYWORDS_SLOTS;
	const struct word *w;
	for (;; slot = (slot + 1) % KEYWORDS_SLOTS) {
		if (!l->slots[slot])
			return NULL;
		w = &words[l->slots[slot] - 1];
		if (w->len == len && memcmp(w->text, word, len) == 0)
			break;
	}
	for (; w < words + WORD_COUNT && w->len == len && memcmp(w->text, word, len) == 0; w++) {
		if (!w->after ||
		    (strlen(w->after) == before_len && memcmp(w->after, before, before_len) == 0))
			return w;
	}
	return NULL;
}

enum {
	PHRASE_SCORE = 90,
	PHRASE_RESULT = 60,
	/* Phrases of each kind at most, whatever profiles add. */
	PHRASES = 64,
	/* Bytes in front of what is found in a long line that are shown. */
	BEFORE = 60,
};

static void lower(char *to, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = is_upper(from[i]) ? (char)(from[i] | 32) : from[i];
}

static char **copy_list(char *const *list)
{
	size_t count = 0;
	while (count < PHRASES && list[count])
		count++;
	char **copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = strdup(list[i]);
		if (!copy[i])
			return copy;
		lower(copy[i], list[i], strlen(list[i]));
	}
	return copy;
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* Bytes in a row of a phrase, with as few blanks as can be: blanks are everywhere. */
static const char *rarest(const char *phrase)
{
	const char *best = phrase;
	size_t fewest = SIZE_MAX;
	for (const char *at = phrase; strlen(at) >= FRAGMENT_LEN; at++) {
		size_t blanks = 0;
		for (size_t k = 0; k < FRAGMENT_LEN; k++)
			blanks += at[k] == ' ';
		if (strcspn(at, "*") >= FRAGMENT_LEN && blanks < fewest) {
			fewest = blanks;
			best = at;
		}
	}
	return best;
}

int phrases_init(struct phrases *p, char *const *telling, char *const *ignored, size_t longest,
		 struct literals *prefilter)
{
	char *const none[] = {NULL};
	if ((!telling || !*telling) && (!ignored || !*ignored))
		return 0;
	p->telling = copy_list(telling ? telling : none);
	p->ignored = copy_list(ignored ? ignored : none);
	p->longest = longest;
	p->lower = malloc(longest);
	if (!p->telling || !p->ignored || !p->lower) {
		phrases_release(p);
		return -1;
	}
	for (size_t i = 0; p->telling[i]; i++)
		prefilter_add(prefilter, rarest(p->telling[i]));
	return 0;
}

void phrases_release(struct phrases *p)
{
	free_list(p->telling);
	free_list(p->ignored);
	free(p->lower);
	*p = (struct phrases){0};
}

/* Whether a phrase is in a text, and where it begins. */
static bool phrases_is_in(const char *phrase, const char *text, size_t len, size_t *begin)
{
	const char *at = text, *end = text + len;
	*begin = len;
	while (*phrase) {
		size_t part = strcspn(phrase, "*");
		const char *found = part ? memmem(at, (size_t)(end - at), phrase, part) : at;
		if (!found)
			return false;
		if (part && *begin == len)
			*begin = (size_t)(found - text);
		at = found + part;
		phrase += part;
		phrase += *phrase == '*';
	}
	return true;
}

static bool phrases_find_one(char *const *phrases, const char *text, size_t len, size_t *begin)
{
	for (; *phrases; phrases++) {
		if (phrases_is_in(*phrases, text, len, begin))
			return true;
	}
	return false;
}

void phrases_apply(const struct phrases *p, const struct line *line, struct score *score)
{
	size_t len = line->front_len, begin;
	if (!p->lower || len == 0 || score->kind == SCORE_BLANK)
		return;
	if (len > p->longest)
		len = p->longest;
	lower(p->lower, line->front, len);
	if (phrases_find_one(p->ignored, p->lower, len, &begin)) {
		score->kind = SCORE_PLAIN;
		score->score = score->result = 0;
		score->opens = false;
		score->focus = 0;
	} else if (phrases_find_one(p->telling, p->lower, len, &begin)) {
		if (score->kind == SCORE_PASS || score->kind == SCORE_FRAME)
			score->kind = SCORE_PLAIN;
		if (score->score < PHRASE_SCORE)
			score->score = PHRASE_SCORE;
		if (score->result < PHRASE_RESULT)
			score->result = PHRASE_RESULT;
		score->focus = begin > BEFORE ? begin - BEFORE : 0;
	}
}

/* The fragments. */

/* Fragments that look alike share a group, which keeps false alarms rare. */
static const struct {
	char text[FRAGMENT_LEN + 1];
	uint8_t group;
} fragments[] = {
	{"rror", 0},                       /* error */
	{"orru", 0},                       /* corrupt */
	{"efus", 0},                       /* refused */
	{"fail", 1},          {"fata", 1}, /* fatal */
	{"kill", 1},                       /* killed */
	{"xcep", 2},                       /* exception */
	{"xcee", 2},                       /* exceeded */
	{"xpec", 2},                       /* expected */
	{"aceb", 3},                       /* traceback */
	{"anic", 3},                       /* panic */
	{"unab", 3},                       /* unable */
	{"bort", 4},                       /* abort */
	{"sser", 4},                       /* assert */
	{"rash", 4},                       /* crash */
	{"not ", 5},                       /* not found, cannot open, not ok */
	{"n't ", 5},                       /* can't, couldn't */
	{"such", 5},                       /* no such */
	{"ndef", 6},                       /* undefined */
	{"nied", 6},                       /* denied */
	{"nhan", 6},                       /* unhandled */
	{"ncau", 6},                       /* uncaught */
	{"nval", 6},                       /* invalid */
	{"imed", 7},                       /* timed out */
	{"meou", 7},                       /* timeout */
	{"issi", 7},                       /* missing, permission */
	{"smat", 7},                       /* mismatch */
	{"iola", 7},                       /* violation */
	{"egfa", 3},                       /* segfault */
	{"gmen", 3},                       /* segmentation */
	{"onfl", 0},                       /* conflict */
	{"verf", 0},                       /* overflow */
	{"leak", 1},          {"ejec", 0}, /* rejected */
	{"eadl", 3},                       /* deadlock */
	{"xhau", 2},                       /* exhausted */
	{"nres", 6},                       /* unresolved */
	{"nrec", 6},                       /* unrecognized */
	{"nkno", 6},                       /* unknown */
	{"rong", 4},                       /* wrong */
	{"lleg", 7},                       /* illegal */
	{"ncor", 6},                       /* incorrect */
	{"ncom", 6},                       /* incompatible */
	{"upli", 5},                       /* duplicate */
	{"mina", 4},                       /* terminate */
	{"err!", 0},                       /* npm ERR! */
	{"ce l", 7},                       /* no space left */
	{"top.", 5},                       /* No rule to make target. Stop. */
	{"\xE2\x9C\x95 ", 1},              /* multiplication x */
	{"\xE2\x9C\x96 ", 1},              /* heavy multiplication x */
	{"\xE2\x9C\x97 ", 1},              /* ballot x */
};

void prefilter_init(struct literals *s)
{
	literals_init(s);
	for (size_t i = 0; i < sizeof(fragments) / sizeof(*fragments); i++)
		literals_add(s, fragments[i].text, fragments[i].group);
}

void prefilter_add(struct literals *s, const char *text)
{
	unsigned least = 0;
	for (unsigned i = 1; i < FRAGMENT_GROUPS; i++) {
		if (s->counts[i] < s->counts[least])
			least = i;
	}
	if (s->counts[least] < FRAGMENT_MAX)
		literals_add(s, text, least);
}
