// Names of keys and what a terminal (xterm) sends for them.
#ifndef TERSE_CONFIG_KEY_H
#define TERSE_CONFIG_KEY_H

#include <stdbool.h>
#include <stddef.h>

struct key_bytes {
	char data[16];
	size_t len;
	bool cursor; /* ESC [ X, which is ESC O X where the program has asked for it (DECCKM) */
};

/* "enter", "ctrl-c", "alt-x", "shift-tab", "up", "f1", "space", "a" ...; in any case. Returns 0, or
   -1 with errno EINVAL. */
int key_parse(const char *name, struct key_bytes *key);

#endif
