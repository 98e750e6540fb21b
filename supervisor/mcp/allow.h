// The commands that a server may run (--allow PATTERN, as often as wanted; none: all).
//
// A pattern is one for a command (config/pattern.h): a program, its first operands, options. A
// shell string may run if each of its commands matches one. The shell reader leaves out what is in
// an expansion and what an assignment or a redirection does, so a string with one of these is
// refused: what can't be read is not run.
#ifndef TERSE_MCP_ALLOW_H
#define TERSE_MCP_ALLOW_H

#include <stddef.h>

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

/* The same for a shell string. */
int allow_string(const struct allow *a, const char *string, char why[ALLOW_WHY_MAX]);

#endif
