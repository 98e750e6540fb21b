// "Did you mean": the candidate that a word is most likely a misspelling of.
#ifndef TERSE_CONFIG_NEAREST_H
#define TERSE_CONFIG_NEAREST_H

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

#endif
