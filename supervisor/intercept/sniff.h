// Whether a stream is binary, by the share of its bytes that are no text: over 30 % of what has
// come, looked at after each of some lengths. No text are NUL and other controls that terminals
// have no use for, and what is not UTF-8.
#ifndef TERSE_INTERCEPT_SNIFF_H
#define TERSE_INTERCEPT_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

struct kind;

/* Enough to be judged; to know what a NUL stands for; and from where on nothing is looked at. */
#define SNIFF_LEN  ((size_t)1024)
#define SNIFF_NUL  ((size_t)4096)
#define SNIFF_MOST ((size_t)16384)

/* A zeroed one is new. */
struct sniff {
	size_t len, bad;
	unsigned char more; /* bytes that the last character lacks */
	bool nul, newline;  /* there was one */
	bool binary;        /* at one of those lengths */
};

/* The next bytes. */
void sniff_add(struct sniff *s, const char *data, size_t len);

/* What can be said by now. */
bool sniff_judge(const struct sniff *s);

/* The same of the first bytes of a text, which are also binary where there is one that is no text
   and the kind is known. Says which. */
bool sniff_is_binary(const char *data, size_t len, struct kind *kind);

#endif
