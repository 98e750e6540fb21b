// The words by which tools say that something failed, passed or is being
// counted. Ordinary words of the trade, not of any one tool.
#ifndef TERSE_PREVIEW_KEYWORDS_H
#define TERSE_PREVIEW_KEYWORDS_H

#include "lib/bytes.h"
#include "supervisor/preview/line.h"
#include "supervisor/preview/score.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct score;

enum word_kind {
	WORD_FAIL = 1, /* something went wrong */
	WORD_DETAIL,   /* what was wanted and what was there */
	WORD_WARN,
	WORD_PASS,
	WORD_RESULT,  /* something was made */
	WORD_SKIP,    /* neither passed nor failed */
	WORD_NOT,     /* turns the next word around */
	WORD_COUNTED, /* what summaries count */
	WORD_LEVEL,   /* log levels below a warning */
	WORD_STATUS,  /* a number that follows is an exit status */
};

struct word {
	const char *text;  /* lower case */
	const char *after; /* only behind this word; NULL: anywhere */
	unsigned char len;
	unsigned char kind;
	unsigned char weight; /* 0 to 100: how surely a line with it tells how a run ended */
	bool counted;         /* "3 failed": may be counted by a summary */
};

enum { KEYWORDS_SLOTS = 1024 };

/* Finds a word through its hash. */
struct keywords {
	uint16_t slots[KEYWORDS_SLOTS];
};

void keywords_init(struct keywords *l);

/* The entry for a lower-case word of that shape_hash() behind the word `before` (lower
   case, may be empty), or NULL. */
const struct word *keywords_find(const struct keywords *l, const char *word, size_t len,
				 uint32_t hash, const char *before, size_t before_len);

/* The texts by which a user marks lines as telling, or as not (config/value.h). */

struct phrases {
	char **telling, **ignored; /* lower case; NULL-terminated, or NULL */
	char *lower;               /* room for the longest line that is looked at */
	size_t longest;
};

/* Copies two lists, NULL-terminated or NULL, and has a search look for the first of them.
   `longest`: of the lines, bytes. `p` is all zeroes. 0, or -1 with ENOMEM. */
int phrases_init(struct phrases *p, char *const *telling, char *const *ignored, size_t longest,
		 struct literals *prefilter);
void phrases_release(struct phrases *p);

/* Corrects what was found out about a line. */
void phrases_apply(const struct phrases *p, const struct line *line, struct score *score);

/* The fragments of words that tell of failures, for a search at the speed of memory. */
void prefilter_init(struct literals *s);

/* Adds the first LITERAL_LEN bytes of `text`; nothing when there are too many. */
void prefilter_add(struct literals *s, const char *text);

#endif
