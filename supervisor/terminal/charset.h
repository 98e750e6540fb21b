// Character sets of the VT100 and VT220: DEC line drawing and the national ones
// (ISO 2022, ESC ( F and the like).
#ifndef TERSE_TERMINAL_CHARSET_H
#define TERSE_TERMINAL_CHARSET_H

#include <stdbool.h>
#include <stdint.h>

#define CHARSET_ASCII 'B'

struct charsets {
	char sets[4];   /* G0 to G3, by their final byte */
	unsigned level; /* which of them is in use */
	char current;   /* usually sets[level]; DECRC restores it by itself */
};

void charsets_init(struct charsets *charsets);

/* Whether there is a set with this final byte. */
bool charset_is_known(char final);

void charsets_designate(struct charsets *charsets, unsigned number, char final);
void charsets_invoke(struct charsets *charsets, unsigned number);

/* What the ASCII character `c` looks like in the set. */
uint32_t charset_map(char set, unsigned char c);

#endif
