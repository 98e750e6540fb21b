// A growing array of bytes.
//
// Ownership: the buffer owns `data`; buffer_release() frees it. A zeroed struct
// (or BUFFER_INIT) is an empty buffer, and buffer_release() makes it one again.
// Functions that allocate return 0, or -1 with errno ENOMEM and the buffer as
// it was.
#ifndef TERSE_LIB_BUFFER_H
#define TERSE_LIB_BUFFER_H

#include <stdarg.h>
#include <stddef.h>

struct buffer {
	char *data; /* not NUL-terminated; NULL while nothing was reserved */
	size_t len;
	size_t cap;
};

#define BUFFER_INIT        \
	{                  \
		NULL, 0, 0 \
	}

/* Makes room for `extra` more bytes behind `len`. */
int buffer_reserve(struct buffer *b, size_t extra);

int buffer_append(struct buffer *b, const void *data, size_t len);
int buffer_append_string(struct buffer *b, const char *string);

/* Appends like printf. */
int buffer_printf(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
int buffer_vprintf(struct buffer *b, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* Appends a NUL that `len` does not count, and returns the string; NULL on ENOMEM. */
const char *buffer_string(struct buffer *b);

/* Drops the first `n` bytes (n <= len). */
void buffer_consume(struct buffer *b, size_t n);

/* Empties it; the memory stays reserved. */
void buffer_clear(struct buffer *b);

void buffer_release(struct buffer *b);

#endif
