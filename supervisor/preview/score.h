// How much one line, taken alone, tells about why a run ended as it did: by its words in their
// places, by its form, and by the texts that the user marked.
#ifndef TERSE_PREVIEW_SCORE_H
#define TERSE_PREVIEW_SCORE_H

#include "lib/bytes.h"
#include "supervisor/preview/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* keywords.c: the words by which tools say that something failed, passed or is being counted.
   They are ordinary words of the trade, not of any one tool. */

enum word_kind {
	WORD_FAIL = 1, /* something went wrong */
	WORD_DETAIL,   /* the expected and the actual value */
	WORD_WARN,
	WORD_PASS,
	WORD_RESULT,  /* something was made */
	WORD_SKIP,    /* neither passed nor failed */
	WORD_NOT,     /* turns the next word around */
	WORD_COUNTED, /* what summaries count */
	WORD_LEVEL,   /* log levels below a warning */
	WORD_STATUS,  /* a number that follows is an exit status */
	WORD_MINOR,   /* something is not as it should be, and does no harm */
	WORD_OUTER,   /* what a program runs for others: of it only the outcome is known */
};

struct word {
	const char *text;  /* lower case */
	const char *after; /* only behind this word; NULL: anywhere */
	unsigned char len;
	unsigned char kind;
	unsigned char weight; /* 0 to 100: how surely a line with it tells how a run ended */
	bool counted;         /* "3 failed": may be counted by a summary */
	bool general;         /* says that something failed, and nothing of what */
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

enum score_kind {
	SCORE_PLAIN,
	SCORE_BLANK,
	SCORE_RULE,    /* a separator: ----, ====, #### */
	SCORE_FAIL,    /* says that something failed */
	SCORE_HEADING, /* names what the lines below are about: "1) name", "___ name ___" */
	SCORE_DETAIL,  /* of a failure: expected and actual, a marked source line, a diff */
	SCORE_FRAME,   /* of a stack */
	SCORE_PLACE,   /* only says where in a file what follows was found: "a.c:1:2:" */
	SCORE_QUOTE,   /* a source line with its number: its words are not of the run */
	SCORE_SUMMARY, /* counts results */
	SCORE_WARNING,
	SCORE_PASS, /* says that something went well, or was skipped */
};

/* The bit of a family that tells that its lines bear a mark of failure. */
#define SCORE_MARKED 1u

struct score {
	enum score_kind kind;
	unsigned score;  /* 0 to 100: how much it says about a failure */
	unsigned result; /* 0 to 100: how much it says about a success */
	bool opens;      /* says that what follows belongs to it */
	bool alarms;     /* has a word of failure, whatever it says, or is a frame of a stack */
	unsigned indent; /* columns before the first visible character */
	size_t focus;    /* where in a very long line it tells most; 0: at its ends */
	uint32_t shape;  /* the same for lines that differ only in numbers, paths, hashes */
	uint32_t family; /* the same for lines that begin alike and tell the same: SCORE_MARKED */
	/* The same for lines that begin alike and tell of no failure, as progress does; 0: it has
	   no such form. */
	uint32_t form;
};

/* What is known of a line beside its bytes, see struct score; zero where nothing is. */
struct trait {
	unsigned value; /* set by whoever chooses */
	uint32_t shape, family, form;
	uint8_t kind, score, indent;
	bool opens, alarms;
	bool common; /* many lines have that form */
	bool odd;    /* it is like no other in a text of lines that are alike */
};

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

/* Adds the first FRAGMENT_LEN bytes of `text`; nothing when there are too many. */
void prefilter_add(struct literals *s, const char *text);

/* evidence.c: the form of one message (how it begins, what it consists of) and its words. */

enum {
	SCORE_OWN_FRAME = 10,  /* at least this: a frame in the user's own files */
	SCORE_DIAGNOSTIC = 20, /* "file.c:12:5: message", with whatever words */
	SCORE_FAILURE = 25,    /* from here on a plain line says that something failed */
};

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
	bool alarms;        /* a word of failure is in it, in whatever place */
	bool specific;      /* one of them says more than that something failed */
	/* A mark of failure is with one of them: a colon, capitals at one of the ends, brackets. */
	bool marked;
	/* As best_word, but the same for all names of exceptions that end alike. */
	uint32_t best_tail;
	bool outer;     /* it is about a build, a command, a task */
	bool minor;     /* it is about something harmless */
	bool headcount; /* begins with a count of what passed */
	bool warned;    /* it is a warning */
	bool leveled;   /* it bears a log level below a warning */
	bool passed, skipped;
	bool pass_first; /* begins with one of the two */
};

/* `text` is the message of a line. */
void reading_of(const struct keywords *keywords, const char *text, size_t len, struct reading *out);

/* score.c */

/* Only the shape of a line. */
uint32_t score_shape(const struct line *line);

/* Judges a line. Only the start and the end of a long one are looked at. */
void score_judge(const struct keywords *keywords, const struct line *line, struct score *out);

/* Looks through the middle of a long line that is whole, and adds what is found there. */
void score_look_inside(const struct keywords *keywords, const struct literals *prefilter,
		       const struct line *line, struct score *score);

#endif
