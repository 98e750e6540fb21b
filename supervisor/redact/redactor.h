// Replaces secrets in the bytes of a command, before anything else sees them.
//
// The result does not depend on how the bytes are cut into pieces. The end of an unfinished line is
// held back only where a secret may have begun; what is longer than REDACTOR_HOLD, or twice that,
// is replaced up to the end of its line. A private key is replaced up to the line that ends it, or
// for REDACTOR_BLOCK bytes and the rest of that line; also one that begins in a line that is
// replaced.
//
// Bytes that a terminal does not show (colours, other sequences, controls, strings like a title,
// characters without width) do not hide a secret that they interrupt, and end a word: a secret may
// begin behind them. All bytes in a row are searched, too: the text of such strings, and what an
// unfinished sequence swallows. NUL, VT and FF end a line.
#ifndef TERSE_REDACT_REDACTOR_H
#define TERSE_REDACT_REDACTOR_H

#include "lib/buffer.h"
#include "supervisor/terminal/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REDACTOR_HOLD  ((size_t)16 * 1024)
#define REDACTOR_BLOCK ((size_t)64 * 1024)

struct settings;
struct secrets;

// Secrets: the built-in patterns and those of [redact] patterns, and the search for them in lines.
//
// Patterns are Perl's (PCRE2), of bytes, and match within a line. The match is replaced; "\K" in a
// pattern begins it there: "password=\K\S+".

/* Bytes before a place that a pattern may look back at. */
#define SECRETS_CONTEXT 128

/* The set that the settings ask for. NULL with errno: 0, they ask for nothing; EINVAL, a pattern is
   malformed; ENOMEM. */
struct secrets *secrets_new(const struct settings *settings);
void secrets_free(struct secrets *s);

/* How much is replaced behind a secret: nothing, the rest of the line, or all up to the line that
   ends a key. */
enum redactor_rest { REDACTOR_OPEN, REDACTOR_LINE, REDACTOR_KEY };

struct secrets_span {
	size_t from, to;
	size_t begin;     /* of the match, before what \K leaves out */
	const char *name; /* "github token"; of a pattern of the settings "" */
	enum redactor_rest then;
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

/* Finds them in text of whole lines and, at its end, a part of one: appends a struct secrets_span
   for each, in any order; they may overlap. Lowers *hold to the place where an incomplete secret
   may begin. Returns 0, or -1 with ENOMEM. */
int secrets_find(struct secrets *s, const struct secrets_text *text, struct buffer *spans,
		 size_t *hold);

// Replacing them in a stream.

/* The bytes as text, as it is searched. Bytes that are not part of the text leave a gap. */
struct redactor_view {
	struct buffer text;   /* of the unfinished line: context, then what is not passed on */
	struct buffer gaps;   /* for each byte of it: whether a gap is before it (SECRETS_GAP) */
	struct buffer places; /* where the bytes behind the context are in `work`, as uint32_t;
				 empty: the same as there */
	size_t context;
	bool in_line; /* the line began before the context */
	bool gap;     /* one is before what follows the context */
	bool at_end;  /* one is at the end of the text */
};

struct redactor {
	struct secrets *secrets; /* not owned */
	/* Gets the bytes with secrets replaced, in any number of calls. */
	void (*out)(void *ctx, const char *data, size_t len);
	void *ctx;

	struct buffer work;   /* bytes not passed on yet */
	size_t usable;        /* so many of them are whole characters */
	bool plain;           /* they are what a terminal shows */
	struct parser parser; /* before them */
	/* The text that a terminal shows, and all bytes but controls. */
	struct redactor_view shown, whole;
	bool differ; /* ... by more than colours */
	enum redactor_rest skipping;
	size_t skipped; /* of a key */
	uint64_t fed;
	struct buffer spans, cuts, result; /* for its own use */
};

/* A zeroed one with the first three members set is a new one. */

void redactor_feed(struct redactor *r, const char *data, size_t len);

/* The input has ended: passes on what was held back. */
void redactor_finish(struct redactor *r);

void redactor_release(struct redactor *r);

/* A whole string at once: appends it to `out`. Returns 0, or -1 with ENOMEM. */
int redactor_string(struct secrets *secrets, const char *string, struct buffer *out);

/* The same in place, in `room` bytes: a result that is longer is cut; without memory the whole
   string is replaced. */
void redactor_inside(struct secrets *secrets, char *string, size_t room);

/* A command's words, NULL-terminated: free() them, they are one block. NULL with ENOMEM. */
char **redactor_words(struct secrets *secrets, char *const *words);

#endif
