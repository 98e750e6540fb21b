#include "supervisor/preview/internal.h"

#include <stdlib.h>
#include <string.h>

void keywords_init(struct keywords *k)
{
	*k = (struct keywords){0};
	/* Those behind another word come first, so that they are found first. */
	for (int behind = 1; behind >= 0; behind--) {
		for (size_t i = 0; word_weights[i].words; i++) {
			for (const char *at = word_weights[i].words, *end; *at;
			     at = end + (*end == ' ')) {
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
					.at = (uint16_t)(word - word_weights[i].words),
				};
			}
		}
	}
}

const struct word *keywords_find(const struct keywords *k, const char *word, size_t len,
				 uint32_t hash, const char *before, size_t before_len)
{
	for (unsigned slot = hash % KEYWORDS_SLOTS; k->slots[slot].word;
	     slot = (slot + 1) % KEYWORDS_SLOTS) {
		const struct keyword *found = &k->slots[slot];
		const struct word *w = &word_weights[found->word - 1];
		const char *text = w->words + found->at;
		if (found->len != len || memcmp(text, word, len) != 0)
			continue;
		if (found->after && (found->after != before_len ||
				     memcmp(text - found->after - 1, before, before_len) != 0))
			continue;
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

/* Fragments of the words of failure that tell most: error, corrupt, refused, conflict, overflow ...
   Those that look alike share a group, which keeps false alarms rare. Each has FRAGMENT_LEN bytes,
   and a bar behind it. */
static const char *const fragments[FRAGMENT_GROUPS] = {
	"rror|orru|efus|onfl|verf|ejec|err!|",
	"fail|fata|kill|leak|\xE2\x9C\x95 |\xE2\x9C\x96 |\xE2\x9C\x97 |", /* crosses */
	"xcep|xcee|xpec|xhau|",
	"aceb|anic|unab|egfa|gmen|eadl|",
	"bort|sser|rash|rong|mina|",
	"not |n't |such|upli|top.|",
	"ndef|nied|nhan|ncau|nval|nres|nrec|nkno|ncor|ncom|",
	"imed|meou|issi|smat|iola|lleg|ce l|",
};

void prefilter_init(struct literals *s)
{
	literals_init(s);
	for (unsigned group = 0; group < FRAGMENT_GROUPS; group++) {
		for (const char *at = fragments[group]; *at; at += FRAGMENT_LEN + 1)
			literals_add(s, at, group);
	}
}
