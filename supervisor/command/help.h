// The texts of `terse help`, which completion reads, too.
#ifndef TERSE_COMMAND_HELP_H
#define TERSE_COMMAND_HELP_H

#include <stdbool.h>

/* One verb. `synopsis`: its forms, a line each, that begin with "terse VERB"; words in capitals
   stand for something, the others are typed as they are. `text`: what it does; lines that begin
   with two blanks and a hyphen are its options. */
struct help_topic {
	const char *verb, *summary, *synopsis, *text;
};

/* Ends with a NULL verb. */
extern const struct help_topic help_topics[];

/* The topic of the verb `name`, or NULL. */
const struct help_topic *help_find(const char *name);

/* Whether --help or -h is among the words of a verb: an option of its own, no value of another one,
   and no word of a command that it runs. */
bool help_is_asked(const struct help_topic *t, int count, char **words);

#endif
