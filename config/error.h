// Messages about settings, and suggestions for misspelled names.
#ifndef TERSE_CONFIG_ERROR_H
#define TERSE_CONFIG_ERROR_H

#include "config/option.h"

#include <stddef.h>

/* Longer words get no suggestion. */
enum { NEAREST_WORD = 48 };

struct nearest {
	const char *word;
	const char *best; /* in `room`; NULL: no candidate is near enough */
	char room[NEAREST_WORD + 1];
	unsigned distance; /* edit distance of `best`; at first one more than the largest that
			      counts as near */
};

/* `word` must outlive the struct. */
void nearest_init(struct nearest *n, const char *word);

/* Keeps the first of equally near candidates. */
void nearest_offer(struct nearest *n, const char *candidate);

#define NEAREST_LEN 128

/* "no such WHAT", with a suggestion if `best` is not NULL. Writes into `out` and returns it. */
const char *nearest_reason(char out[NEAREST_LEN], const char *what, const char *best);

// The form of every message about a setting:
//
//   /etc/terse.ini:7: [report] size: 4XB: not a size (like 4096, 4KB or 1000tok)
//   --cols: 7: out of range (20 to 1000)

/* The parts of a message. Parts that are NULL or 0 are left out, and so is an empty value. */
struct config_error {
	const char *where; /* a file, a variable or a flag; cut at its start */
	unsigned line;
	const char *section, *key;
	const char *value; /* cut at 60 bytes, like section and key */
	const char *reason;
};

/* Writes the message without unprintable characters. The parts may lie in error->text. */
void config_error_write(const struct config_error *c, struct option_error *error);

#endif
