#include "supervisor/preview/internal.h"

#include <string.h>
#include <strings.h>

/* Returns the slot of a word; takes a free one if it has none. */
static struct keyword *keyword_add(struct keywords *k, uint32_t hash)
{
	struct keyword *slot = &k->slots[keywords_find(k, hash) - k->slots];
	slot->hash = hash;
	return slot;
}

enum {
	PHRASE_SCORE = 90,
	/* Bytes; shorter words of a question are ignored. */
	ABOUT_LEAST = 3,
	/* The most phrases of each kind that are used; profiles may add more. */
	PHRASES = 64,
};

/* Adds a text to a search, in the group with the fewest texts; does nothing if all groups are
   full. */
static void prefilter_add(struct literals *prefilter, const char *text)
{
	unsigned least = 0;
	for (unsigned k = 1; k < FRAGMENT_GROUPS; k++) {
		if (prefilter->counts[k] < prefilter->counts[least])
			least = k;
	}
	if (prefilter->counts[least] < FRAGMENT_MAX)
		literals_add(prefilter, text, least);
}

/* Returns the next word of a question, from `at` on, and its length in *len: 0 if there is none. */
static const char *next_word(const char *at, size_t *len)
{
	do {
		at += strspn(at, " ");
		*len = strcspn(at, " ");
	} while (*len > 0 && *len < ABOUT_LEAST && (at += *len));
	return at;
}

/* Finds a part of a phrase in a text, ignoring case. Returns NULL if it isn't there. */
static const char *find_part(const char *at, const char *end, const char *part, size_t len)
{
	for (; (size_t)(end - at) >= len; at++) {
		if (len == 0 || ((at[0] | 32) == (part[0] | 32) && strncasecmp(at, part, len) == 0))
			return at;
	}
	return NULL;
}

/* Returns where one of the phrases begins in a text, or NULL. */
static const char *find_phrase(const struct strings *phrases, const char *text, size_t len)
{
	for (size_t i = 0; phrases && i < phrases->count && i < PHRASES; i++) {
		const char *at = text, *first = NULL;
		for (const char *part = phrases->items[i]; *part && at; part += *part == '*') {
			size_t part_len = strcspn(part, "*");
			at = find_part(at, text + len, part, part_len);
			first = first || part_len == 0 ? first : at;
			at = at ? at + part_len : NULL;
			part += part_len;
		}
		if (at)
			return first ? first : text;
	}
	return NULL;
}

/* Raises the score of a line by the share of a question's words that are in it. */
static void raise_by_question(const char *about, const struct line *line, struct score *score)
{
	size_t words = 0, found = 0, len = 0;
	for (const char *at = about; at && *(at = next_word(at, &len)); at += len) {
		words++;
		found += find_part(line->front, line->front + line->front_len, at, len) != NULL;
	}
	if (found == 0)
		return;
	score->score = (uint8_t)size_min(score->score + PHRASE_SCORE * found / words, 100);
	score->result = (uint8_t)size_min(score->result + PHRASE_SCORE * found / words, 100);
}

void phrases_apply(const struct limit *limit, const struct line *line, struct score *score)
{
	const struct strings *relevant = limit->patterns, *ignored = limit->ignore;
	const char *text = line->front, *found;
	if (score->kind == SCORE_BLANK)
		return;
	if (find_phrase(ignored, text, line->front_len)) {
		score->kind = SCORE_PLAIN;
		score->score = score->result = 0;
		score->opens = false;
		score->focus = 0;
	} else if ((found = find_phrase(relevant, text, line->front_len))) {
		if (score->kind == SCORE_PASS || score->kind == SCORE_FRAME)
			score->kind = SCORE_PLAIN;
		score->score = (uint8_t)size_max(score->score, PHRASE_SCORE);
		score->result = (uint8_t)size_max(score->result, PHRASE_SCORE);
		score->focus =
			found - text > FOUND_BEFORE ? (uint32_t)(found - text) - FOUND_BEFORE : 0;
	} else {
		raise_by_question(limit->about, line, score);
	}
}

/* Fragments of the most relevant words of failure: error, corrupt, refused, conflict, overflow ...
   Each has FRAGMENT_LEN bytes, and a bar after it. Similar fragments share a group, which makes
   false hits rare. */
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

void judge_init(struct preview_judge *j, const struct limit *limit)
{
	const struct strings *relevant = limit->patterns, *ignored = limit->ignore;
	*j = (struct preview_judge){.limit = *limit};
	j->has_phrases =
		limit->about || (relevant && relevant->count) || (ignored && ignored->count);
	for (const struct word *row = word_weights; row->words; row++) {
		uint32_t hash = SHAPE_SEED;
		for (const char *at = row->words; hash; at++) {
			if (*at == '_')
				keyword_add(&j->keywords, hash)->is_first = true;
			if (*at && *at != ' ') {
				hash = shape_mix(hash, (unsigned char)*at);
				continue;
			}
			keyword_add(&j->keywords, hash)->row = row;
			hash = *at ? SHAPE_SEED : 0;
		}
	}
	for (const struct opening *o = opening_weights; o->prefixes; o++) {
		for (const char *at = o->prefixes; at; at = strchr(at, '|'), at += at != NULL)
			j->openings[(unsigned char)*at] = true;
	}
	literals_init(&j->prefilter);
	for (unsigned group = 0; group < FRAGMENT_GROUPS; group++) {
		for (const char *at = fragments[group]; *at; at += FRAGMENT_LEN + 1)
			literals_add(&j->prefilter, at, group);
	}
	for (size_t i = 0; relevant && i < relevant->count && i < PHRASES; i++) {
		/* Stars divide a phrase into parts. The first part that is long enough is used. */
		const char *part = relevant->items[i], *star;
		while ((star = strchr(part, '*')) && star - part < FRAGMENT_LEN)
			part = star + 1;
		prefilter_add(&j->prefilter, part);
	}
	size_t len = 0;
	for (const char *at = limit->about; at && *(at = next_word(at, &len)); at += len) {
		if (len >= FRAGMENT_LEN)
			prefilter_add(&j->prefilter, at);
	}
}
