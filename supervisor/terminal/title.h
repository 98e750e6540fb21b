// The title a program gives its window (OSC 0 and OSC 2), kept clean and short.
#ifndef TERSE_TERMINAL_TITLE_H
#define TERSE_TERMINAL_TITLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TITLE_LEN 256 /* bytes with the NUL; the rest is dropped */

struct title {
	char text[TITLE_LEN];
	char next[TITLE_LEN]; /* the string that is being read */
	size_t len;
};

/* A code point of an operating system command: `first` begins one. */
void title_take(struct title *t, uint32_t c, bool first);

/* The string is complete. */
void title_end(struct title *t);

#endif
