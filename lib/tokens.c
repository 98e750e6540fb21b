// See tokens.h.

#include "lib/tokens.h"

#include <stdbool.h>

enum class {
	CLASS_NONE,
	CLASS_SMALL,
	CLASS_CAPITAL,
	CLASS_DIGIT,
	CLASS_BLANK,
	CLASS_LINE,
	CLASS_MARK,
	CLASS_WIDE
};

/* How many letters of a word the weight of TOKENS_WORD covers. */
#define WORD_LETTERS 6

/* Thousandths of a token for one of each feature. */
static const unsigned weights[TOKENS_FEATURES] = {
	[TOKENS_WORD] = 1013, [TOKENS_LETTER] = 166, [TOKENS_DIGIT] = 1088, [TOKENS_NUMBER] = 570,
	[TOKENS_MIXED] = 0,   [TOKENS_MARK] = 325,   [TOKENS_MARKS] = 1293, [TOKENS_INDENT] = 540,
	[TOKENS_LINE] = 2247, [TOKENS_TWO] = 389,    [TOKENS_THREE] = 569,  [TOKENS_FOUR] = 2000,
};

static enum class class_of(unsigned char c) {
	if (c >= 'a' && c <= 'z') return CLASS_SMALL;
	if (c >= 'A' && c <= 'Z') return CLASS_CAPITAL;
	if (c >= '0' && c <= '9') return CLASS_DIGIT;
	if (c == '\n') return CLASS_LINE;
	if (c <= ' ') return CLASS_BLANK;
	return c < 0x80 ? CLASS_MARK : CLASS_WIDE;
}

void tokens_feed(struct tokens *t, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)data[i];
		enum class class = class_of(c);
		/* Small letters continue a word that begins with capitals. */
		bool same = t->last == class || (t->last == CLASS_CAPITAL && class == CLASS_SMALL);
		t->run = same ? t->run + 1 : 1;
		switch (class) {
		case CLASS_SMALL:
		case CLASS_CAPITAL:
			t->count[TOKENS_MIXED] += t->last == CLASS_DIGIT;
			t->count[TOKENS_WORD] += !same;
			t->count[TOKENS_LETTER] += t->run > WORD_LETTERS;
			break;
		case CLASS_DIGIT:
			t->count[TOKENS_DIGIT] += t->run % 3 == 1;
			t->count[TOKENS_NUMBER] += t->last == CLASS_BLANK;
			t->count[TOKENS_MIXED] +=
				t->last == CLASS_SMALL || t->last == CLASS_CAPITAL;
			break;
		case CLASS_BLANK: t->count[TOKENS_INDENT] += t->run == 2; break;
		case CLASS_LINE: t->count[TOKENS_LINE]++; break;
		case CLASS_MARK:
			t->count[TOKENS_MARK] += t->run == 1;
			t->count[TOKENS_MARKS] += t->run > 2;
			break;
		default:
			t->count[TOKENS_FOUR] += c >= 0xf0;
			t->count[TOKENS_THREE] += c >= 0xe0 && c < 0xf0;
			t->count[TOKENS_TWO] += c >= 0xc0 && c < 0xe0;
		}
		t->last = (unsigned char)class;
	}
}

uint64_t tokens_estimate(const struct tokens *t)
{
	uint64_t sum = 0;
	for (int i = 0; i < TOKENS_FEATURES; i++)
		sum += t->count[i] * weights[i];
	return (sum + 999) / 1000;
}

uint64_t tokens_scale(uint64_t tokens, uint64_t seen, uint64_t bytes)
{
	return seen ? (uint64_t)((double)tokens * (double)bytes / (double)seen) : bytes / 4;
}
