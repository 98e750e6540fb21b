// Replaces secrets in the bytes of a command, before anything else sees them.
//
// However the bytes come in pieces, what comes out is the same. The end of an unfinished line is
// held back only where a secret may have begun; what is longer than REDACTOR_HOLD is replaced up to
// the end of its line. Colours and other CSI sequences within a secret do not hide it. Of a private
// key everything is replaced up to the line that ends it, or REDACTOR_BLOCK bytes.
#ifndef TERSE_REDACT_REDACTOR_H
#define TERSE_REDACT_REDACTOR_H

#include "supervisor/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REDACTOR_PIECE ((size_t)64 * 1024)
#define REDACTOR_HOLD  ((size_t)16 * 1024)
#define REDACTOR_BLOCK ((size_t)64 * 1024)

struct secrets;

struct redactor {
	struct secrets *secrets; /* not owned */
	/* What is passed on; *not* the bytes fed. Called any number of times. */
	void (*out)(void *ctx, const char *data, size_t len);
	void *ctx;

	struct buffer work; /* of the unfinished line: context, then bytes not passed on */
	size_t context;
	bool in_line; /* the line began before the context */
	enum { REDACTOR_OPEN, REDACTOR_LINE, REDACTOR_KEY } skipping;
	size_t skipped;
	unsigned char escape;            /* where in an escape sequence the bytes begin */
	struct buffer text, map, result; /* for its own use */
};

/* A zeroed one with the first three members set is a new one. */

void redactor_feed(struct redactor *r, const char *data, size_t len);

/* Nothing follows: passes on what was held back. */
void redactor_finish(struct redactor *r);

void redactor_release(struct redactor *r);

/* A whole string at once: appends it to `out`. Returns 0, or -1 with ENOMEM. */
int redactor_string(struct secrets *secrets, const char *string, struct buffer *out);

/* A command's words, NULL-terminated: free() them, they are one block. NULL with ENOMEM. */
char **redactor_words(struct secrets *secrets, char *const *words);

#endif
