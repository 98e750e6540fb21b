// What the verbs print with --json: one line,
//
//   {"ok":true,"data":{...}}
//   {"ok":false,"error":{"code":"unknown_artifact","message":"..."}}
//
// The codes are an interface: programs decide by them, the messages are for people.
#ifndef TERSE_REPORT_ENVELOPE_H
#define TERSE_REPORT_ENVELOPE_H

#include <stddef.h>

struct buffer;

enum envelope_code {
	ENVELOPE_USAGE,            /* called wrongly */
	ENVELOPE_UNKNOWN_ARTIFACT, /* there is no such artifact or file, or more than one */
	ENVELOPE_UNKNOWN_SESSION,  /* there is no such session */
	ENVELOPE_BAD_PATTERN,      /* the pattern is not valid, or takes too long */
	ENVELOPE_BAD_RANGE,        /* there is no such line or byte */
	ENVELOPE_UNREADABLE,       /* it is there, and can't be read; or it was not kept */
	ENVELOPE_BINARY,           /* it is not text: the message tells what it is */
	ENVELOPE_CODES,
};

/* "unknown_artifact" */
const char *envelope_code_name(enum envelope_code code);

/* Appends what goes before and behind the members of a success's data. Returns 0, or -1 with
   ENOMEM. */
int envelope_begin(struct buffer *out);
int envelope_end(struct buffer *out);

/* Appends a failure. Returns 0, or -1 with ENOMEM. */
int envelope_fail(struct buffer *out, enum envelope_code code, const char *message, size_t len);

#endif
