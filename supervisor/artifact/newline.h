// Counting newlines, at memory speed: everything that is written passes here.
#ifndef TERSE_ARTIFACT_NEWLINE_H
#define TERSE_ARTIFACT_NEWLINE_H

#include <stddef.h>
#include <stdint.h>

/* How many newlines there are. */
uint64_t newline_count(const char *data, size_t len);

/* Passes up to *n newlines and lowers *n by those passed. Returns the offset behind the
   last of them if *n reached 0, else `len`. */
size_t newline_skip(const char *data, size_t len, uint64_t *n);

#endif
