#include "supervisor/preview/internal.h"

#include <stdlib.h>
#include <string.h>

/* Words of one kind and weight. Words that only count behind another one: "not_found". */
/* clang-format off */
static const struct word words[] = {
	{WORD_FAIL, 50, false, true, "aborted aborting"},
	{WORD_FAIL, 50, true, true, "error"},
	{WORD_FAIL, 48, true, true, "failed"},
	{WORD_FAIL, 46, true, true, "failure"},
	{WORD_FAIL, 45, false, true, "abort"},
	{WORD_FAIL, 45, true, true, "errored"},
	{WORD_FAIL, 42, false, true, "exception"},
	{WORD_FAIL, 42, true, true, "errors fail failures"},
	{WORD_FAIL, 40, true, true, "failing"},
	{WORD_FAIL, 38, false, true, "terminated"},
	{WORD_FAIL, 35, false, true, "non-zero nonzero"},
	{WORD_FAIL, 30, true, true, "fails"},
	{WORD_FAIL, 18, false, true, "stopped"},
	{WORD_FAIL, 70, false, false, "segfault segmentation_fault"},
	{WORD_FAIL, 65, false, false, "panicked sigsegv"},
	{WORD_FAIL, 60, false, false, "core_dumped fatal panic segv undefined_reference"},
	{WORD_FAIL, 55, false, false,
	 "double_free heap-buffer-overflow heap-use-after-free oom oomkilled out-of-memory "
	 "sigabrt stack-buffer-overflow use-after-free"},
	{WORD_FAIL, 50, false, false,
	 "crashed crashloopbackoff imagepullbackoff killed sigkill smashing stack-overflow "
	 "traceback"},
	{WORD_FAIL, 48, false, false, "uncaught"},
	{WORD_FAIL, 45, false, false,
	 "corruption crash multiple_definition no_space oops timed_out"},
	{WORD_FAIL, 44, false, false, "assertionerror"},
	{WORD_FAIL, 42, false, false, "denied no_rule no_such refused"},
	{WORD_FAIL, 40, false, false,
	 "deadlock definitely_lost died err not_defined not_exist not_found not_permitted "
	 "severity_critical severity_high unable undeclared unhandled unresolved violation"},
	{WORD_FAIL, 38, false, false,
	 "can't cannot connection_reset could_not exceeded exhausted forbidden mismatch "
	 "not_match not_succeed unauthorized unexpected unsatisfied"},
	{WORD_FAIL, 36, false, false, "undefined"},
	{WORD_FAIL, 35, false, false,
	 "already_exists conflict conflicts corrupt corrupted couldn't illegal invalid "
	 "leak leaked leaks malformed mismatched not_recognised not_recognized rejected "
	 "unexpectedly unmet unrecognised unrecognized violates"},
	{WORD_FAIL, 35, true, false, "assertion violations"},
	{WORD_FAIL, 32, false, false,
	 "incompatible incorrect insufficient misconfigured missing overflow timeout "
	 "unbound wrong"},
	{WORD_FAIL, 30, false, false,
	 "ambiguous broken exceeds fault halted halting impossible mismatching not_allowed "
	 "not_matched not_resolved notfound rejection sigterm threw throwing unavailable "
	 "unknown unreadable unsupported unwritable"},
	{WORD_FAIL, 30, true, false, "exceptions problem problems"},
	{WORD_FAIL, 28, false, false,
	 "assert disconnected expired inaccessible not_supported thrown"},
	{WORD_FAIL, 25, false, false,
	 "bad disallowed duplicate improper terminating unacceptable unreachable"},
	{WORD_FAIL, 25, true, false, "canceled cancelled offense offenses"},
	{WORD_FAIL, 20, false, false, "bug cyclic dirty not_satisfied truncated"},
	{WORD_FAIL, 15, false, false, "installable stopping to_find to_locate"},
	{WORD_FAIL, 12, false, false, "stop"},
	{WORD_DETAIL, 22, false, false, "expected summary"},
	{WORD_DETAIL, 20, false, false, "expecting"},
	{WORD_DETAIL, 18, false, false, "actual attempt"},
	{WORD_DETAIL, 15, false, false, "caused instead"},
	{WORD_DETAIL, 14, false, false, "but_was syntax"},
	{WORD_DETAIL, 12, false, false, "received"},
	{WORD_DETAIL, 10, false, false, "got of_memory to_open usage"},
	{WORD_DETAIL, 8, false, false, "permission"},
	{WORD_DETAIL, 6, false, false, "but diff resolve"},
	{WORD_DETAIL, 5, false, false, "parse"},
	{WORD_DETAIL, 3, false, false, "range"},
	{WORD_DETAIL, 0, false, false, "timed"},
	{WORD_WARN, 12, true, false, "warning"},
	{WORD_WARN, 10, false, false, "warn"},
	{WORD_WARN, 10, true, false, "warnings"},
	{WORD_WARN, 8, true, false, "vulnerabilities"},
	{WORD_WARN, 6, false, false, "deprecated"},
	{WORD_PASS, 32, false, false, "successfully"},
	{WORD_PASS, 32, true, false, "success"},
	{WORD_PASS, 30, false, false, "successful"},
	{WORD_PASS, 30, true, false, "succeeded"},
	{WORD_PASS, 20, true, false, "successes"},
	{WORD_PASS, 0, false, false, "ok okay"},
	{WORD_PASS, 0, true, false, "pass passed passes passing"},
	{WORD_RESULT, 20, false, false, "built deployed installed published"},
	{WORD_RESULT, 18, false, false, "finished"},
	{WORD_RESULT, 16, false, false, "completed created packaged pushed uploaded wrote"},
	{WORD_RESULT, 14, false, false, "complete done generated saved written"},
	{WORD_RESULT, 12, false, false, "compiled"},
	{WORD_RESULT, 10, false, false, "total"},
	{WORD_SKIP, 0, false, false, "skipping"},
	{WORD_SKIP, 0, true, false, "pending skip skipped"},
	{WORD_NOT, 0, false, false,
	 "aren't could didn't doesn't don't isn't never no not wasn't without won't zero"},
	{WORD_COUNTED, 0, false, false, "assertions examples issues specs suites test tests"},
	{WORD_LEVEL, 0, false, false, "debug info notice trace verbose"},
	{WORD_STATUS, 10, false, false, "exited"},
	{WORD_STATUS, 6, false, false, "returned returning"},
	{WORD_STATUS, 0, false, false, "exit exit_code exit_status return_code status status_code"},
	{WORD_MINOR, 0, false, false, "never_read never_used unused"},
	{WORD_OUTER, 0, false, false,
	 "build builds command goal invocation job lifecycle process program recipe script "
	 "stage step subprocess target task workflow"},
};
/* clang-format on */

void keywords_init(struct keywords *k)
{
	*k = (struct keywords){0};
	/* Those behind another word come first, so that they are found first. */
	for (int behind = 1; behind >= 0; behind--) {
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
			for (const char *at = words[i].words, *end; *at; at = end + (*end == ' ')) {
				end = strchrnul(at, ' ');
				const char *mark = memchr(at, '_', (size_t)(end - at));
				const char *word = mark ? mark + 1 : at;
				if (behind != (mark != NULL))
					continue;
				unsigned slot = shape_hash(SHAPE_SEED, word, (size_t)(end - word)) %
						KEYWORDS_SLOTS;
				while (k->slots[slot].word)
					slot = (slot + 1) % KEYWORDS_SLOTS;
				k->slots[slot] = (struct keyword){
					.word = (uint8_t)(i + 1),
					.len = (uint8_t)(end - word),
					.after = (uint8_t)(mark ? mark - at : 0),
					.at = (uint16_t)(word - words[i].words),
				};
			}
		}
	}
}

const struct word *keywords_find(const struct keywords *k, const char *word, size_t len,
				 uint32_t hash, const char *before, size_t before_len, bool *behind)
{
	for (unsigned slot = hash % KEYWORDS_SLOTS; k->slots[slot].word;
	     slot = (slot + 1) % KEYWORDS_SLOTS) {
		const struct keyword *found = &k->slots[slot];
		const struct word *w = &words[found->word - 1];
		const char *text = w->words + found->at;
		if (found->len != len || memcmp(text, word, len) != 0)
			continue;
		if (found->after && (found->after != before_len ||
				     memcmp(text - found->after - 1, before, before_len) != 0))
			continue;
		*behind = found->after > 0;
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

static char **copy_list(const struct strings *list)
{
	size_t count = list ? list->count : 0;
	if (count > PHRASES)
		count = PHRASES;
	char **copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = strdup(list->items[i]);
		if (!copy[i])
			return copy;
		lower(copy[i], copy[i], strlen(copy[i]));
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

int phrases_init(struct phrases *p, const struct strings *telling, const struct strings *ignored,
		 size_t longest, struct literals *prefilter)
{
	if ((!telling || !telling->count) && (!ignored || !ignored->count))
		return 0;
	p->telling = copy_list(telling);
	p->ignored = copy_list(ignored);
	p->longest = longest;
	p->lower = malloc(longest);
	if (!p->telling || !p->ignored || !p->lower) {
		phrases_release(p);
		return -1;
	}
	for (size_t i = 0; p->telling[i]; i++) {
		/* Into the group that has the fewest; where all are full, it is not looked for. */
		unsigned least = 0;
		for (unsigned k = 1; k < FRAGMENT_GROUPS; k++) {
			if (prefilter->counts[k] < prefilter->counts[least])
				least = k;
		}
		if (prefilter->counts[least] < FRAGMENT_MAX)
			literals_add(prefilter, rarest(p->telling[i]), least);
	}
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
