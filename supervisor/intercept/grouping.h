// Matches of a search below the names of their files, as rg --heading prints them:
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
//
// Pure functions: no memory, no I/O.
#ifndef TERSE_INTERCEPT_GROUPING_H
#define TERSE_INTERCEPT_GROUPING_H

#include <stddef.h>

/* The form of a search's matches. */
enum grouping_form {
	GROUPING_NONE,
	GROUPING_NUMBERED, /* NAME:12:TEXT */
	GROUPING_PLAIN,    /* NAME:TEXT */
};

/* The form of a text, by its complete lines. GROUPING_NONE: it is no list of matches in several
   files, or grouping them would save less than an eighth. */
enum grouping_form grouping_find_form(const char *text, size_t len);

/* The length of the file's name in front of a match (without its newline); 0: there is none. */
size_t grouping_name(enum grouping_form form, const char *line, size_t len);

#endif
