// Fingerprints of lines: 64 bits by which the lines of two texts are compared. Parts that
// differ between runs although nothing has changed are masked:
//
//   - numbers that stand alone, with the separators of their parts and a unit after them: line
//     numbers, times, dates, sizes, process IDs, "0x7f..." (but a lone 0 is not masked, so "0
//     failed" differs from "3 failed");
//   - hashes: words of seven or more hexadecimal digits, one of them a decimal digit;
//   - the first name below a directory of temporary files.
//
// A number inside a name ("test_12", "utf8") is not masked, and neither is anything else.
#ifndef TERSE_LIB_FINGERPRINT_H
#define TERSE_LIB_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* The fingerprint of a line without its newline; never 0. */
uint64_t fingerprint_masked(const char *line, size_t len);

/* The fingerprint of any bytes, with nothing masked; never 0. */
uint64_t fingerprint_exact(const char *line, size_t len);

/* A sequence of fingerprints: next() sets *print and returns 1; it returns 0 after the last one, or
   -1 with errno. */
struct fingerprints {
	int (*next)(void *ctx, uint64_t *print);
	void *ctx;
};

#endif
