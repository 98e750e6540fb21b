// A text that marks lines as telling, or as not telling, for a preview: what
// [preview] patterns and ignore consist of.
//
// It is found anywhere in a line, letters of ASCII in either case; "*" stands for
// any bytes of the line. Some bytes in a row have to be given, so that a fast
// search can look for them in a text of any size.
#ifndef TERSE_CONFIG_PHRASE_H
#define TERSE_CONFIG_PHRASE_H

enum {
	PHRASE_MAX = 150,  /* bytes of one */
	PHRASE_COUNT = 32, /* in a list */
	PHRASE_LEAST = 4,  /* bytes that have to stand in a row in each */
};

/* A reason if `text` can't be one, else NULL. */
const char *phrase_refuse(const char *text);

#endif
