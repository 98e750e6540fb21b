// The evidence in one line: its form (how it begins, what it consists of) and its words.
#ifndef TERSE_PREVIEW_EVIDENCE_H
#define TERSE_PREVIEW_EVIDENCE_H

#include "supervisor/preview/keywords.h"
#include "supervisor/preview/score.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct structure {
	enum score_kind kind;
	unsigned score; /* 0 to 100, as in struct score */
};

/* `text` is the message of a line: without blanks around it, not empty. */
struct structure structure_of(const char *text, size_t len);

/* The evidence of all words of one message. */

struct reading {
	/* Words that tell of a failure: the highest weight, and the sum of the others.
	   Where a word stands counts: free and before a
	   colon much, inside of a path, an option or an identifier little. */
	unsigned best, rest;
	uint32_t best_word; /* the hash of the word with the highest weight */
	unsigned result;    /* weight of the words that tell of a success */
	unsigned counts;    /* "12 passed", "Errors: 0" */
	unsigned failures;  /* those that count failures, and not to zero */
	bool warned;        /* it is a warning */
	bool leveled;       /* it bears a log level below a warning */
	bool passed, skipped;
	bool pass_first; /* begins with one of the two */
};

/* `text` is the message of a line. */
void reading_of(const struct keywords *keywords, const char *text, size_t len, struct reading *out);

#endif
