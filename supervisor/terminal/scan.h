// Looks for the next byte of a stream that is more than text, a vector register
// at a time.
//
// The functions pick the widest instructions that the processor has; every
// variant gives the same answer.
#ifndef TERSE_TERMINAL_SCAN_H
#define TERSE_TERMINAL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that copy() may write past what it copies. */
#define SCAN_SLACK 32

struct scan {
	const char *name;
	/* How many of the `len` bytes come before the first one that is a control
	   character other than tab and newline, or DEL, or a newline if `line`.
	   Adds the number of newlines among them. */
	size_t (*text)(const char *data, size_t len, bool line, size_t *newlines);
	/* The same, and copies these bytes. */
	size_t (*copy)(char *to, const char *data, size_t len, bool line, size_t *newlines);
	/* How many bytes are printable ASCII. */
	size_t (*ascii)(const char *data, size_t len);
};

/* The variants that run here, the best one first, up to a NULL. */
const struct scan *const *scan_variants(void);

/* Copies ASCII into cells. */
void scan_widen(uint32_t *cells, const char *data, size_t len);

/* Copies cells that hold printable ASCII, up to the first that does not or that
   is a blank at which trimming may have to begin. Returns how many. */
size_t scan_narrow(char *data, const uint32_t *cells, size_t len);

#endif
