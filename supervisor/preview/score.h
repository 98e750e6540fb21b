// How much one line, taken alone, tells about why a run ended as it did.
#ifndef TERSE_PREVIEW_SCORE_H
#define TERSE_PREVIEW_SCORE_H

#include "supervisor/preview/keywords.h"
#include "supervisor/preview/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct keywords;

enum score_kind {
	SCORE_PLAIN,
	SCORE_BLANK,
	SCORE_RULE,    /* a separator: ----, ====, #### */
	SCORE_FAIL,    /* says that something failed */
	SCORE_HEADING, /* names what the lines below are about: "1) name", "___ name ___" */
	SCORE_DETAIL,  /* of a failure: expected and actual, a marked source line, a diff */
	SCORE_FRAME,   /* of a stack */
	SCORE_SUMMARY, /* counts results */
	SCORE_WARNING,
	SCORE_PASS, /* says that something went well, or was skipped */
};

struct score {
	enum score_kind kind;
	unsigned score;  /* 0 to 100: how much it tells of a failure */
	unsigned result; /* 0 to 100: how much it tells of a success */
	bool opens;      /* says that what follows belongs to it */
	unsigned indent; /* columns before the first visible character */
	size_t focus;    /* where in a very long line it tells most; 0: at its ends */
	uint32_t shape;  /* the same for lines that differ only in numbers, paths, hashes */
	uint32_t family; /* the same for lines that begin alike and tell the same */
};

/* Only the shape of a line. */
uint32_t score_shape(const struct line *line);

/* Judges a line. Only the start and the end of a long one are looked at. */
void score_judge(const struct keywords *keywords, const struct line *line, struct score *out);

/* Looks through the middle of a long line that is whole, and adds what is found there. */
void score_look_inside(const struct keywords *keywords, const struct literals *prefilter,
		       const struct line *line, struct score *score);

#endif
