// What the verbs that read artifacts share: their options, their messages, and
// finding the artifact that is meant.
#ifndef TERSE_COMMAND_VERB_H
#define TERSE_COMMAND_VERB_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stdint.h>

struct settings;
struct text;

enum verb_kind {
	VERB_FLAG,   /* --name; bool */
	VERB_COUNT,  /* --name N or --name=N, N at least 1; uint64_t */
	VERB_NUMBER, /* the same, N at least 0 */
	VERB_TEXT,   /* --name TEXT or --name=TEXT, once; const char *, NULL before */
};

struct verb_option {
	const char
		*name; /* "--limit"; or of one letter, "-C", which may stand as -C N, -CN, -iCN */
	enum verb_kind kind;
	void *value; /* of the kind's type */
};

/* Parses argv[1] on by a table that ends with a NULL name; "--" ends the options. What
   is no option is stored in `operands`, at most `max` of them. Returns how many, or -1
   after saying on stderr what is wrong (the caller returns EXIT_TERSE). */
int verb_parse(const struct verb_option *table, int argc, char **argv, const char **operands,
	       int max);

/* "terse VERB: ..." on stderr; the newline is added and unprintable bytes are replaced. */
void verb_error(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens what `name` means, an artifact (its text or standard error) or else any regular file.
   Returns 0, or -1 after saying on stderr why not. text->id is "" for a file. */
int verb_open(const struct settings *settings, const char *session, bool standard_error,
	      const char *verb, const char *name, struct text *text);

/* The same of an artifact that was found. -1 with errno, nothing said. */
int verb_open_found(const struct id_found *found, bool standard_error, struct text *text);

/* The directory's name of the session `session`, or of the caller's if NULL. */
void verb_session(const struct settings *settings, const char *session,
		  char directory[STORE_SESSION_LEN + 1]);

/* Finds the artifact that `name` means in the session `session`, or the caller's if NULL.
   Opens the stores; *count of them are to be closed. Returns 0, or -1 with errno as id_find. */
int verb_find(const struct settings *settings, const char *session, const char *name,
	      struct store stores[STORE_MAX], int *count, struct id_found *found);

/* Says that verb_find() failed with `error`. */
void verb_not_found(const char *verb, const char *name, int error);

#endif
