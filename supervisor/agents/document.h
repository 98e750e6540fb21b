// A configuration file of another program: read whole, replaced atomically.
#ifndef TERSE_AGENTS_DOCUMENT_H
#define TERSE_AGENTS_DOCUMENT_H

#include "lib/buffer.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Large enough for the program itself, which place.c copies. */
enum { DOCUMENT_MAX = 128 << 20 };

struct document {
	char path[PATH_MAX]; /* as the caller named it */
	char real[PATH_MAX]; /* with links resolved */
	bool exists;
	struct stat stat; /* when it was read */
	mode_t mode;      /* for the new file: the old file's mode, or 0600 */
	struct buffer text;
	const char *reason; /* the reason for a failure, if errno does not say it */
};

/* Reads the file; a missing one is not an error. No link may lead out of the directory `root`,
   unless that is NULL. Returns 0, or -1 with errno and perhaps `reason`. Release the struct even
   after a failure. */
int document_read(struct document *d, const char *path, const char *root);
void document_release(struct document *d);

/* Replaces the file's text through a temporary file beside it; a symbolic link stays a link. Makes
   missing directories. Returns 0, or -1 with errno; EAGAIN: the file has changed since it was
   read. */
int document_write(const struct document *d, const char *text, size_t len);

#endif
