// "Did you mean": the candidate that a word is most likely a misspelling of.
#ifndef TERSE_CONFIG_ERROR_H
#define TERSE_CONFIG_ERROR_H

#include "config/option.h"

#include <stddef.h>

struct nearest {
	const char *word;
	const char *best;  /* the caller's pointer; NULL: none is near enough */
	unsigned distance; /* of best, or one more than the largest that counts as near */
};

/* `word` must outlive the struct. */
void nearest_init(struct nearest *n, const char *word);

/* Of two candidates as near as each other the first is kept. */
void nearest_offer(struct nearest *n, const char *candidate);

#define NEAREST_LEN 128

/* "no such WHAT", and which one is meant if `best` is not NULL. Writes into `out` and returns it.
 */
const char *nearest_reason(char out[NEAREST_LEN], const char *what, const char *best);

// The one form of every message about a setting:
//
//   /etc/terse.ini:7: [report] size: 4XB: not a size (like 4096, 4KB or 1000tok)
//   --cols: 7: out of range (20 to 1000)

/* A message's parts; those that are NULL (0) are left out, and so is an empty value. */
struct config_error {
	const char *where; /* a file, a variable or a flag; of a long one the end is shown */
	unsigned line;
	const char *section, *key;
	const char *value; /* cut at 60 bytes, as are section and key */
	const char *reason;
};

/* Writes the message, cleaned of everything that is not printable. The parts may lie
   in error->text. */
void config_error_write(const struct config_error *c, struct option_error *error);

#endif
