// What a word of terse's command line may be, for completion.
#ifndef TERSE_COMMAND_CANDIDATES_H
#define TERSE_COMMAND_CANDIDATES_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>

struct option;
struct settings;

/* What the shell completes itself, besides the candidates. */
enum shell_part {
	SHELL_NONE,
	SHELL_FILES,
	SHELL_FOLDERS,
	SHELL_COMMANDS, /* names of commands */
	SHELL_COMMAND,  /* a command with its arguments, from one of the words on */
};

struct candidates {
	const struct settings *settings;
	const char *verb;
	const char *session; /* --session, or NULL */
	const char *before;  /* in front of each candidate: "--mode=", or "" */
	const char *prefix;  /* only candidates that begin so; `before` does not belong to it */
	enum shell_part part;
	struct buffer out; /* a line for each: the word, a tab, its description */
};

/* Adds a word of `len` bytes if it begins as the prefix. `text`: its description, of which the
   first line counts, or NULL. */
void candidates_add(struct candidates *c, const char *word, size_t len, const char *text);

/* Adds what a placeholder of `terse help` stands for: "ID", "ID|FILE", "yes|no", "COMMAND". One
   that is not known has no candidates. */
void candidates_add_place(struct candidates *c, const char *place, size_t len);

/* Adds the values of an option that takes one. */
void candidates_add_values(struct candidates *c, const struct option *o);

/* Adds the options of the table that a run takes. */
void candidates_add_flags(struct candidates *c);

/* Adds the verbs. */
void candidates_add_verbs(struct candidates *c);

#endif
