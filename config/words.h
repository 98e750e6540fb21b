// A shell string taken apart just far enough to tell which commands it runs, with
// which words, and whose output is the string's.
//
// It reads what people and agents type for bash and sh: quotes, expansions,
// here-documents, redirections, comments, pipelines, lists, subshells, loops,
// conditions, cases and functions. Nothing is expanded or executed. Commands
// within $(...), `...` and <(...) are not told: a word takes their output.
#ifndef TERSE_CONFIG_WORDS_H
#define TERSE_CONFIG_WORDS_H

#include <stddef.h>

/* Where a command's standard output goes when not to another one. */
enum {
	WORDS_OUT = -1,     /* it is the string's */
	WORDS_NOWHERE = -2, /* to a file, or into a loop, a condition or the like */
};

/* One simple command. */
struct words_command {
	size_t first; /* its words: words[first] and on; a NULL follows the last one */
	size_t count; /* of them; at least 1 */
	int into;     /* the command that reads its output, WORDS_OUT or WORDS_NOWHERE */
};

struct words {
	struct words_command *commands; /* in the order they are written */
	size_t count;
	/* Without quotes; expansions as they are written. Assignments and redirections are no
	   words. Of [[ ... ]] there is just the first word. */
	char **words;
	size_t word_count; /* with the NULLs */
	char *text;        /* what the words point into */
};

/* More commands than this, and loops and the like nested deeper than this, are not read. */
enum { WORDS_COMMANDS_MAX = 512, WORDS_DEPTH_MAX = 40 };

/* Returns 0, or -1 with nothing to release and errno: EINVAL: unclear, such as a quote that is not
   closed; ENOMEM. Takes time in proportion to the string's length. */
int words_parse(struct words *w, const char *string);

void words_release(struct words *w);

#endif
