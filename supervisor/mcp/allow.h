// The commands that a server may run (--allow PATTERN, as often as wanted; none: all).
//
// A pattern is read word by word, each with alternatives and stars: the program, by its name alone,
// so that it is the one that the server's PATH leads to, and the words behind it, in their order.
// Behind them operands may follow; options and NAME=VALUE only where the pattern names them or ends
// in " *". A shell string may run if it is a list of plain commands and each of them matches: what
// has more in it than words, quotes and the operators of lists is not run.
#ifndef TERSE_MCP_ALLOW_H
#define TERSE_MCP_ALLOW_H

struct buffer;

/* Patterns of a server; a NULL ends them. */
enum { ALLOW_MAX = 64 };

/* Whether these words, a program and its arguments, may run: 0, or -1 and appends why not. */
int allow_words(const char *const allow[], char *const words[], struct buffer *why);

/* The same for a shell string. */
int allow_string(const char *const allow[], const char *string, struct buffer *why);

/* Appends PATH=, without entries that depend on the directory, to what a server was started with
   (NULL: without any). */
void allow_clean_path(const char *path, struct buffer *out);

#endif
