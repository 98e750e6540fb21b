// Whether a stream is binary: over 30 % of its bytes are not text. This is checked at a few lengths
// of the stream. NUL, other control characters that terminals don't use, and invalid UTF-8 are not
// text.
#ifndef TERSE_REPORT_FILE_TYPE_H
#define TERSE_REPORT_FILE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* Lengths of a stream, in bytes. SNIFF_LEN is enough to distinguish text from binary, SNIFF_NUL to
   know what a NUL means. Bytes after SNIFF_MOST are ignored. */
#define SNIFF_LEN  ((size_t)1024)
#define SNIFF_NUL  ((size_t)4096)
#define SNIFF_MOST ((size_t)16384)

/* A zeroed struct is a new one. */
struct sniff {
	size_t len, bad;
	unsigned char more; /* how many bytes the last character still lacks */
	bool nul, newline;  /* there was a NUL, a newline */
	bool binary;        /* it was, at one of the checked lengths */
};

/* The next bytes. */
void sniff_add(struct sniff *s, const char *data, size_t len);

/* Whether the bytes so far are binary. */
bool sniff_judge(const struct sniff *s);

/* Whether a text with these first bytes is binary: by the share of bytes that are not text, or
   because there is at least one and the type is known. Stores the type, or NULL, in *kind. */
bool sniff_is_binary(const char *data, size_t len, const char **kind);

/* The type of binary data by its first bytes, up to SNIFF_MOST of them: "gzip", "ELF", "PNG image";
   NULL if it is not one of the common types. */
const char *file_type_find(const char *data, size_t len);

#endif
