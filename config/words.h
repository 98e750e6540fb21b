// Reads a shell string just far enough to tell which commands it runs, with which words, and which
// of them print the string's output.
//
// It understands what people and agents type for bash and sh: quotes, expansions, here-documents,
// redirections, comments, pipelines, lists, subshells, loops, conditions, cases and functions.
// Nothing is expanded or executed. Commands within $(...), `...` and <(...) are left out: their
// output becomes part of a word.
#ifndef TERSE_CONFIG_WORDS_H
#define TERSE_CONFIG_WORDS_H

#include <stddef.h>

/* Where standard output goes if not to a command. */
enum {
	WORDS_OUT = -1,     /* the string's output */
	WORDS_NOWHERE = -2, /* a file, or the input of a loop or the like */
};

/* One simple command. */
struct words_command {
	size_t first; /* words[first] is its first word; a NULL follows the last one */
	size_t count; /* of its words; at least 1 */
	int into;     /* the command that reads its output, WORDS_OUT or WORDS_NOWHERE */
};

struct words {
	struct words_command *commands; /* in the order of the string */
	size_t count;
	/* Quotes are removed, expansions stay. Assignments and redirections are left out; of [[ ...
	   ]] only the first word is kept. */
	char **words;
	size_t word_count;   /* with the NULLs */
	char *text;          /* what the words point into */
	const char *comment; /* the comment at the end of the string, in that string; NULL: none */
};

/* Strings with more commands, or with loops and the like nested deeper, are not read. */
enum { WORDS_COMMANDS_MAX = 512, WORDS_DEPTH_MAX = 40 };

/* Returns 0, or -1 with nothing to release and errno: EINVAL (unclear, such as a quote that is not
   closed) or ENOMEM. Takes linear time. */
int words_parse(struct words *w, const char *string);

void words_release(struct words *w);

/* Returns the end of the word at `text`, or NULL if no word is there. Unless `out` is NULL, it gets
   the word without quotes, and has room for the word's bytes and a NUL. */
const char *words_skip(const char *text, char *out);

#endif
