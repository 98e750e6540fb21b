// Whether a stream is binary: over 30 % of its bytes are not text. That is checked at a few lengths
// of the stream. Not text are NUL, other control characters that terminals don't use, and invalid
// UTF-8.
#ifndef TERSE_REPORT_FILE_TYPE_H
#define TERSE_REPORT_FILE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* Lengths of a stream, in bytes: enough to tell text from binary; enough to know what a NUL means;
   no byte behind the last is looked at. */
#define SNIFF_LEN  ((size_t)1024)
#define SNIFF_NUL  ((size_t)4096)
#define SNIFF_MOST ((size_t)16384)

/* A zeroed struct is a new one. */
struct sniff {
	size_t len, bad;
	unsigned char more; /* bytes that are missing to the last character */
	bool nul, newline;  /* there was a NUL, a newline */
	bool binary;        /* it was, at one of the checked lengths */
};

/* The next bytes. */
void sniff_add(struct sniff *s, const char *data, size_t len);

/* Whether the bytes so far are binary. */
bool sniff_judge(const struct sniff *s);

/* Whether a text with these first bytes is binary: by the share of its bytes, or because one is not
   text and the type is known. Stores the type, or NULL, in *kind. */
bool sniff_is_binary(const char *data, size_t len, const char **kind);

/* The type of binary data by its first bytes, up to SNIFF_MOST of them: "gzip", "ELF", "PNG image";
   NULL if it is not one of the common types. */
const char *file_type_find(const char *data, size_t len);

#endif
