// A configuration file of another program: read whole, replaced atomically.
#ifndef TERSE_AGENTS_DOCUMENT_H
#define TERSE_AGENTS_DOCUMENT_H

#include "lib/buffer.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* The program itself is copied, too (place.c). */
enum { DOCUMENT_MAX = 128 << 20 };

struct document {
	char path[PATH_MAX]; /* as named */
	char real[PATH_MAX]; /* where links lead to */
	bool exists;
	struct stat stat; /* when it was read */
	mode_t mode;      /* to write it with: as it was, or 0600 */
	struct buffer text;
	const char *reason; /* of a failure that errno does not explain */
};

/* Reads it; a missing file is no error. No link may lead out of the directory `root` (NULL: any
   may). Returns 0, or -1 with errno and perhaps `reason`. To be released in any case. */
int document_read(struct document *d, const char *path, const char *root);
void document_release(struct document *d);

/* Replaces the text through a temporary file beside it; a symbolic link stays one. Makes missing
   directories. Returns 0, or -1 with errno; EAGAIN: the file changed since it was read. */
int document_write(const struct document *d, const char *text, size_t len);

#endif
