// The commands that a server may run (--allow PATTERN, as often as wanted; none: all).
//
// A pattern is read word by word, each with alternatives and stars: the program, by its name alone,
// so that it is the one that the server's PATH leads to, and the words behind it, in their order.
// Behind them operands may follow; options and NAME=VALUE only where the pattern names them or ends
// in " *". A shell string may run if it is a list of plain commands and each of them matches: what
// has more in it than words, quotes and the operators of lists is not run.
#ifndef TERSE_MCP_ALLOW_H
#define TERSE_MCP_ALLOW_H

#include <stddef.h>

struct buffer;

struct allow {
	const char **patterns; /* owned; the patterns are the caller's */
	size_t count, room;
};

enum { ALLOW_WHY_MAX = 300 };

/* Adds one. Returns NULL, or why it is none. */
const char *allow_add(struct allow *a, const char *pattern);
void allow_release(struct allow *a);

/* Whether these words, a program and its arguments, may run; 0, or -1 with the reason. */
int allow_words(const struct allow *a, char *const words[], char why[ALLOW_WHY_MAX]);

/* Appends PATH=, without entries that depend on the directory, to what a server was started with
   (NULL: without any). Returns 0, or -1 without memory. */
int allow_clean_path(const char *path, struct buffer *out);

/* The same for a shell string. */
int allow_string(const struct allow *a, const char *string, char why[ALLOW_WHY_MAX]);

#endif
