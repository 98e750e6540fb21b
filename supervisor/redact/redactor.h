// Replaces secrets in the bytes of a command, before anything else sees them.
//
// The result does not depend on how the bytes are cut into pieces. The end of an unfinished line is
// held back only where a secret may have begun. After each REDACTOR_HOLD bytes of input, held bytes
// that are more than REDACTOR_HOLD are replaced up to the end of their line. A private key is
// replaced up to the line that ends it, or for REDACTOR_BLOCK bytes and the rest of that line, even
// if it begins in a line that is replaced for another reason.
//
// Bytes that a terminal does not show (colours, other sequences, controls, strings like a title,
// characters without width) do not hide a secret that they interrupt. They end a word, so a secret
// may begin after them. A second search includes the bytes that are not shown, since a string or an
// unfinished sequence may contain a secret. NUL, VT and FF end a line.
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
// A pattern is a Perl regular expression (PCRE2), and matches bytes within a line. The match is
// replaced, or only the part of it after "\K": "password=\K\S+".

/* How many bytes a pattern may look back. */
#define SECRETS_CONTEXT 128

/* Makes the patterns that the settings ask for. Returns NULL with errno; 0: they ask for none;
   EINVAL: a pattern is malformed; ENOMEM. */
struct secrets *secrets_new(const struct settings *settings);
void secrets_free(struct secrets *s);

/* How much is replaced after a secret: nothing, the rest of the line, or everything up to the line
   that ends a key. */
enum redactor_rest { REDACTOR_OPEN, REDACTOR_LINE, REDACTOR_KEY };

struct secrets_span {
	size_t from, to;
	size_t begin;     /* of the match, with the part that \K leaves out */
	const char *name; /* "github token"; "": a pattern of the settings */
	enum redactor_rest then;
};

#define SECRETS_GAP 1

struct secrets_text {
	const char *data;
	/* For each byte: SECRETS_GAP if a gap is before it, which ends a word. May be NULL. */
	const char *gaps;
	size_t len;
	size_t start; /* the bytes before this are only context */
	bool begins;  /* a line begins where the text begins */
	bool ends;    /* nothing follows its last line */
};

/* Finds the secrets in a text of whole lines, the last of which may be incomplete. Appends a struct
   secrets_span for each, in any order; they may overlap. Lowers *hold to the place where an
   incomplete secret may begin. Returns 0, or -1 with ENOMEM. */
int secrets_find(struct secrets *s, const struct secrets_text *text, struct buffer *spans,
		 size_t *hold);

// Replacing secrets in a stream.

/* One of the two texts that are made from the bytes and searched. Bytes that are not part of the
   text leave a gap. */
struct redactor_view {
	struct buffer text;   /* of the unfinished line: context, then the bytes not passed on
				 yet */
	struct buffer gaps;   /* for each byte of `text`: SECRETS_GAP if a gap is before it */
	struct buffer places; /* for each byte after the context: its offset in `work`, as uint32_t;
				 empty: the offsets are the same */
	size_t context;
	bool in_line; /* the line began before the context */
	bool gap;     /* a gap is directly after the context */
	bool at_end;  /* a gap is at the end of the text */
};

struct redactor {
	struct secrets *secrets; /* not owned */
	/* Gets the bytes with secrets replaced, in any number of calls. */
	void (*out)(void *ctx, const char *data, size_t len);
	void *ctx;

	struct buffer work;   /* bytes not passed on yet */
	size_t usable;        /* how many of them are whole characters */
	bool plain;           /* `work` is just what a terminal shows */
	struct parser parser; /* its state before `work` */
	/* The text that a terminal shows, and the text with all bytes except controls. */
	struct redactor_view shown, whole;
	bool differ; /* the two differ by more than colours */
	enum redactor_rest skipping;
	size_t skipped; /* bytes of a key that were dropped so far */
	uint64_t fed;
	struct buffer spans, cuts, result; /* scratch */
};

/* Takes the next bytes. A zeroed struct with the first three members set is a new redactor. */

void redactor_feed(struct redactor *r, const char *data, size_t len);

/* The input has ended: passes on what was held back. */
void redactor_finish(struct redactor *r);

void redactor_release(struct redactor *r);

/* Appends a whole string to `out`, with secrets replaced. Returns 0, or -1 with ENOMEM. */
int redactor_string(struct secrets *secrets, const char *string, struct buffer *out);

/* Like redactor_string(), but in place, in `room` bytes: a longer result is cut; if there is no
   memory, the whole string is replaced. */
void redactor_inside(struct secrets *secrets, char *string, size_t room);

/* Returns a copy of a command's words with secrets replaced, NULL-terminated, in one block for
   free(); NULL with ENOMEM. */
char **redactor_words(struct secrets *secrets, char *const *words);

#endif
