// Control strings: OSC, DCS, SOS, PM and APC.
//
// What is in them is not shown, but for the window's title, and "[image]" where a picture is. One
// that does not end must not swallow a log: an OSC ends at a newline, any string at the end of the
// run or when it is longer than STRING_HOLD, and then all of it was text. Only what carries data
// may be longer, for as long as it looks like data: sixel, kitty's graphics, OSC 52 and 1337, and
// what tmux passes through.
#ifndef TERSE_TERMINAL_STRING_H
#define TERSE_TERMINAL_STRING_H

#include <stdbool.h>
#include <stddef.h>

#define STRING_HOLD ((size_t)4096)
#define TITLE_LEN   256 /* bytes with the NUL; the rest is dropped */

struct terminal;

struct string {
	char held[STRING_HOLD]; /* from the byte behind ESC on */
	size_t len;
	bool more; /* came than is held */
	char title[TITLE_LEN];
};

/* `c` is the byte behind ESC. The parser stays in the string state until it ends. */
void string_begin(struct terminal *t, char c);

/* What the string goes on with. Returns where it ended, or `end`. */
const char *string_feed(struct terminal *t, const char *p, const char *end);

/* It does not go on: it becomes text. */
void string_give_up(struct terminal *t);

#endif
