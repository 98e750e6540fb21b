// Secrets: the built-in patterns and those of [redact] patterns, and the search for them in lines.
//
// Patterns are Perl's (PCRE2), of bytes, and match within a line. The match is replaced; "\K" in a
// pattern begins it there: "password=\K\S+".
#ifndef TERSE_REDACT_SECRETS_H
#define TERSE_REDACT_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

struct settings;
struct secrets;

/* Bytes before a place that a pattern may look back at. */
#define SECRETS_CONTEXT 128

/* The set that the settings ask for. NULL with errno: 0, they ask for nothing; EINVAL, a pattern is
   malformed; ENOMEM. */
struct secrets *secrets_new(const struct settings *settings);
void secrets_free(struct secrets *s);

struct secrets_span {
	size_t from, to;
	size_t begin;     /* of the match, before what \K leaves out */
	const char *name; /* "github token"; of a pattern of the settings "" */
	bool block;       /* goes on up to the line that ends a key */
};

struct secrets_found {
	struct secrets_span *spans; /* sorted by `from`, they do not overlap; the set's own */
	size_t count;
	size_t hold; /* from here on a secret may begin that is not complete yet; or the length */
};

#define SECRETS_GAP 1

struct secrets_text {
	const char *data;
	/* SECRETS_GAP for each byte that has a gap before it, which ends a word. May be NULL. */
	const char *gaps;
	size_t len;
	size_t start; /* what is before is only context */
	bool begins;  /* a line does so with the text */
	bool ends;    /* nothing follows its last line */
};

/* Finds them in text of whole lines and, at its end, a part of one. Returns 0, or -1 with
   ENOMEM. */
int secrets_find(struct secrets *s, const struct secrets_text *text, struct secrets_found *found);

/* The end of a key that has begun: the offset behind the mark of its last line, or 0. */
size_t secrets_block_end(const char *data, size_t len);

/* The longest such mark. */
#define SECRETS_END_MARK 80

#endif
