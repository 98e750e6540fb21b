// How much text there is, and the form of a search's matches. In the first part of a text they
// stand below the names of their files, as rg --heading prints them:
//
//   src/a.c:12:int x;          src/a.c
//   src/a.c:40:int y;          12:int x;
//   src/b.c:7:int z;           40:int y;
//
//                              src/b.c
//                              7:int z;
//
// The names are about a third of what grep -rn prints. Nothing is lost: a name, a colon and a line
// below it are a line of the text.
#ifndef TERSE_PREVIEW_HEAD_H
#define TERSE_PREVIEW_HEAD_H

#include "config/limit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The form of a search's matches. */
enum grouping_form {
	GROUPING_NONE,
	GROUPING_OPEN, /* not known before the text does not fit: until then nothing is printed */
	GROUPING_NUMBERED, /* NAME:12:TEXT */
	GROUPING_PLAIN,    /* NAME:TEXT */
};

/* The form of a text, by its complete lines. GROUPING_NONE: it is no list of matches in several
   files, or grouping them would save less than an eighth. */
enum grouping_form grouping_find_form(const char *text, size_t len);

/* The length of the file's name in front of a match (without its newline); 0: there is none. */
size_t grouping_name(enum grouping_form form, const char *line, size_t len);

/* How much text there is, in lines and in the unit that its limit counts
   (config/limit.h), while it passes by in pieces. */

/* Kept bytes of an unfinished line: enough to see whether it counts. */
#define TALLY_FRONT 16

struct tally {
	enum unit unit;
	uint64_t bytes, lines, units; /* an unfinished last line is in none of the last two ... */
	uint64_t length;              /* ... but its bytes so far are here */
	char front[TALLY_FRONT];      /* its first bytes; the last of them is the line's last */
};

/* The next bytes of the text. `t` is all zeroes at first except `unit`. */
void tally_feed(struct tally *t, const char *data, size_t len);

/* Passes over bytes that are not there, with so many newlines. */
void tally_skip(struct tally *t, uint64_t bytes, uint64_t newlines);

/* Lines and units so far, the unfinished line included. */
uint64_t tally_lines(const struct tally *t);
uint64_t tally_units(const struct tally *t);

/* What of a text is printed before it is known that it does not fit, and the form of what follows
   that in its first part. */
struct head_place {
	enum grouping_form form; /* GROUPING_NONE unless nothing is printed */
	uint64_t bytes, lines, units;
};

#endif
