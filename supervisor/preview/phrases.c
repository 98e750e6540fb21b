#include "supervisor/preview/phrases.h"

#include "supervisor/preview/chars.h"
#include "supervisor/search/literal.h"

#include <stdlib.h>
#include <string.h>

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
	char **copy;

	while (count < PHRASES && list[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
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

/* The bytes in a row of a phrase that occur least. */
static const char *rarest(const char *phrase)
{
	const char *best = phrase;
	unsigned most = 0;

	for (const char *at = phrase; strlen(at) >= SCOUT_LEN; at++) {
		unsigned rarity = 0;

		if (strcspn(at, "*") < SCOUT_LEN)
			continue;
		for (size_t k = 0; k < SCOUT_LEN; k++)
			rarity += literal_byte_rarity((unsigned char)at[k], is_letter(at[k]));
		if (rarity > most) {
			most = rarity;
			best = at;
		}
	}
	return best;
}

int phrases_init(struct phrases *p, char *const *telling, char *const *ignored, size_t longest,
		 struct scout *scout)
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
		scout_add(scout, rarest(p->telling[i]));
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

void phrases_apply(const struct phrases *p, const struct line *line, struct salience *salience)
{
	size_t len = line->front_len, begin;

	if (!p->lower || len == 0 || salience->kind == SALIENCE_BLANK)
		return;
	if (len > p->longest)
		len = p->longest;
	lower(p->lower, line->front, len);
	if (phrases_find_one(p->ignored, p->lower, len, &begin)) {
		salience->kind = SALIENCE_PLAIN;
		salience->score = salience->result = 0;
		salience->opens = false;
		salience->focus = 0;
	} else if (phrases_find_one(p->telling, p->lower, len, &begin)) {
		if (salience->kind == SALIENCE_PASS || salience->kind == SALIENCE_FRAME)
			salience->kind = SALIENCE_PLAIN;
		if (salience->score < PHRASE_SCORE)
			salience->score = PHRASE_SCORE;
		if (salience->result < PHRASE_RESULT)
			salience->result = PHRASE_RESULT;
		salience->focus = begin > BEFORE ? begin - BEFORE : 0;
	}
}
