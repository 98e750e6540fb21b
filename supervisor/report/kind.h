// What binary data is, by its first bytes: file(1) knows every kind, a reader of a command's
// output or of a project's files needs the common ones.
#ifndef TERSE_REPORT_KIND_H
#define TERSE_REPORT_KIND_H

#include <stddef.h>
#include <stdint.h>

struct buffer;

/* Enough for every kind; the size of most JPEG images is found in so many, too. */
#define KIND_LEN ((size_t)65536)

struct kind {
	const char *name;       /* "gzip", "ELF", "PNG image"; NULL: not known */
	uint32_t width, height; /* pixels of an image, 0: not known */
};

void kind_find(struct kind *k, const char *data, size_t len);

/* Appends "PNG image, 640x480", or "binary data". Returns 0, or -1 with ENOMEM. */
int kind_append(struct buffer *out, const struct kind *k);

#endif
