// Whether a stream is binary, by the share of its bytes that are no text: over 30 % of what has
// come, looked at after each of some lengths. Bytes that are no text: NUL, other controls that
// terminals have no use for, and invalid UTF-8.
#ifndef TERSE_REPORT_FILE_TYPE_H
#define TERSE_REPORT_FILE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* Enough to be judged; to know what a NUL stands for; and the length from which on nothing is
   looked at. */
#define SNIFF_LEN  ((size_t)1024)
#define SNIFF_NUL  ((size_t)4096)
#define SNIFF_MOST ((size_t)16384)

/* A zeroed one is new. */
struct sniff {
	size_t len, bad;
	unsigned char more; /* bytes that the last character lacks */
	bool nul, newline;  /* there was one */
	bool binary;        /* at one of those lengths */
};

/* The next bytes. */
void sniff_add(struct sniff *s, const char *data, size_t len);

/* The judgement on the bytes so far. */
bool sniff_judge(const struct sniff *s);

/* The same of the first bytes of a text, which are also binary where there is one that is no text
   and the kind is known. Says which. */
bool sniff_is_binary(const char *data, size_t len, const char **kind);

/* The type of binary data by its first bytes, SNIFF_MOST for every one: "gzip", "ELF", "PNG image";
   NULL: not known. file(1) knows every type; a reader of a command's output or of a project's files
   needs the common ones. */
const char *file_type_find(const char *data, size_t len);

#endif
