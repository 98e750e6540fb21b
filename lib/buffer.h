// A growing array of bytes, for texts that are put together piece by piece.
//
// Ownership: the buffer owns `data`; buffer_release() frees it. A zeroed struct (or BUFFER_INIT) is
// an empty buffer, and buffer_release() makes it one again.
//
// Errors: an append that finds no memory adds nothing and marks the buffer as failed. From then on
// every append does nothing, so a failed buffer holds the start of the text, without holes. A
// caller checks once, where it uses the text: with buffer_check(), or with buffer_string(), which
// returns NULL after a failure. buffer_clear() begins a new text and forgets the failure; nothing
// else does.
//
// Queues and other buffers that have to survive a lack of memory use buffer_try_append() or
// buffer_reserve(): these report the failure at once and do not mark the buffer.
#ifndef TERSE_LIB_BUFFER_H
#define TERSE_LIB_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer {
	char *data; /* not NUL-terminated; NULL while nothing was reserved */
	size_t len;
	size_t cap;
	bool failed; /* an append found no memory */
};

#define BUFFER_INIT \
	{           \
		0   \
	}

void buffer_append(struct buffer *b, const void *data, size_t len);
void buffer_append_string(struct buffer *b, const char *string);

/* Appends like printf. */
void buffer_printf(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *b, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* Appends another buffer's text; `b` fails if that buffer has failed. */
void buffer_add(struct buffer *b, const struct buffer *text);

/* Returns 0, or -1 with errno ENOMEM if an append failed since the buffer was last empty. */
int buffer_check(const struct buffer *b);

/* Appends a NUL that `len` does not count, and returns the string; NULL with errno ENOMEM if there
   is no memory for it or an append failed. */
const char *buffer_string(struct buffer *b);

/* Makes room for `extra` more bytes, so that appending them can't fail. Returns 0, or -1 with errno
   ENOMEM and the buffer unchanged. */
int buffer_reserve(struct buffer *b, size_t extra);

/* Appends bytes for a caller that can handle the failure. Returns 0, or -1 with errno ENOMEM and
   the buffer unchanged. */
int buffer_try_append(struct buffer *b, const void *data, size_t len);

/* Whether the buffer has exactly these bytes. */
bool buffer_is(const struct buffer *b, const void *data, size_t len);

/* Drops the first `n` bytes (n <= len). */
void buffer_consume(struct buffer *b, size_t n);

/* Shortens the text to its first `len` bytes (len <= b->len). */
void buffer_truncate(struct buffer *b, size_t len);

/* Empties it and forgets a failure; the memory stays reserved. */
void buffer_clear(struct buffer *b);

void buffer_release(struct buffer *b);

/* Adds an item of `size` bytes, which the caller fills in, to a growing array. `array` is the
   address of the pointer that owns the array; *count is the number of items, *room the number that
   fit. Returns the new item, or NULL with errno ENOMEM and nothing changed. */
void *array_add(void *array, size_t *count, size_t *room, size_t size);

#endif
