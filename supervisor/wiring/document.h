// A configuration file that is somebody else's: read whole, replaced atomically.
#ifndef TERSE_WIRING_DOCUMENT_H
#define TERSE_WIRING_DOCUMENT_H

#include "supervisor/base/buffer.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

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
