// What differs between two texts, as diff -u tells it.
#ifndef TERSE_AGENTS_DOCUMENT_H
#define TERSE_AGENTS_DOCUMENT_H

#include "lib/buffer.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct buffer;

struct diff_text {
	const char *name;
	const char *data;
	size_t len;
};

/* Appends the difference, or nothing if there is none. Returns 0, or -1 with ENOMEM. Texts of more
   than some thousand lines that differ in many places are told in one piece. */
int diff_append(struct buffer *out, const struct diff_text *before, const struct diff_text *after);

// A configuration file that is somebody else's: read whole, replaced atomically.

enum { DOCUMENT_MAX = 4 << 20 };

/* The text of a file before terse changed it is kept in a file of this name behind its own. */
#define DOCUMENT_BACKUP ".before-terse"

struct document {
	char path[PATH_MAX]; /* as named */
	char real[PATH_MAX]; /* where links lead to */
	bool exists;
	struct stat stat; /* when it was read */
	mode_t mode;      /* to write it with: as it was, or 0600 */
	struct buffer text;
	const char *reason; /* of a failure, where errno does not tell it */
};

/* Reads it; that it is missing is no error. `root`: what a link must not lead out of, or NULL.
   Returns 0, or -1 with errno and perhaps `reason`. To be released in any case. */
int document_read(struct document *d, const char *path, const char *root);
void document_release(struct document *d);

/* Puts another text in its place, by way of a new file beside it; a link stays one. Directories
   that are missing are made. -1 with errno: EAGAIN: it was changed since it was read. */
int document_write(const struct document *d, const char *text, size_t len);

/* Removes it, and the directories below `top` (NULL: none) that are empty then. */
int document_remove(const struct document *d, const char *top);

#endif
