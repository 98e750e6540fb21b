// See buffer.h.

#include "lib/buffer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int buffer_check(const struct buffer *b)
{
	if (!b->failed)
		return 0;
	errno = ENOMEM;
	return -1;
}

int buffer_reserve(struct buffer *b, size_t extra)
{
	if (buffer_check(b) < 0)
		return -1;
	if (b->cap - b->len >= extra)
		return 0;
	if (extra > SIZE_MAX / 2 - b->len) {
		errno = ENOMEM;
		return -1;
	}
	size_t cap = b->cap ? b->cap : 64;
	while (cap - b->len < extra)
		cap *= 2;
	char *data = realloc(b->data, cap);
	if (!data)
		return -1;
	b->data = data;
	b->cap = cap;
	return 0;
}

int buffer_try_append(struct buffer *b, const void *data, size_t len)
{
	if (buffer_reserve(b, len) < 0)
		return -1;
	if (len > 0)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

void buffer_append(struct buffer *b, const void *data, size_t len)
{
	b->failed = buffer_try_append(b, data, len) < 0;
}

void buffer_add(struct buffer *b, const struct buffer *text)
{
	buffer_append(b, text->data, text->len);
	b->failed |= text->failed;
}

void buffer_append_string(struct buffer *b, const char *string)
{
	buffer_append(b, string, strlen(string));
}

void buffer_vprintf(struct buffer *b, const char *format, va_list args)
{
	va_list again;
	int n = -1;
	va_copy(again, args);
	if (buffer_reserve(b, 1) == 0)
		n = vsnprintf(b->data + b->len, b->cap - b->len, format, args);
	if (n >= 0 && (size_t)n >= b->cap - b->len) {
		if (buffer_reserve(b, (size_t)n + 1) == 0)
			vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
		else
			n = -1;
	}
	b->failed |= n < 0;
	b->len += n < 0 ? 0 : (size_t)n;
	va_end(again);
}

void buffer_printf(struct buffer *b, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	buffer_vprintf(b, format, args);
	va_end(args);
}

const char *buffer_string(struct buffer *b)
{
	if (buffer_reserve(b, 1) < 0)
		return NULL;
	b->data[b->len] = '\0';
	return b->data;
}

bool buffer_is(const struct buffer *b, const void *data, size_t len)
{
	return b->len == len && (len == 0 || memcmp(b->data, data, len) == 0);
}

void buffer_consume(struct buffer *b, size_t n)
{
	if (n == 0)
		return;
	b->len -= n;
	memmove(b->data, b->data + n, b->len);
}

void buffer_truncate(struct buffer *b, size_t len)
{
	b->len = len;
}

void buffer_clear(struct buffer *b)
{
	b->len = 0;
	b->failed = false;
}

void buffer_release(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer)BUFFER_INIT;
}

void *array_add(void *array, size_t *count, size_t *room, size_t size)
{
	/* Copies the pointer by its bytes, since its type is unknown. */
	char *items;
	memcpy(&items, array, sizeof(items));
	if (*count == *room) {
		size_t wanted = *room ? *room * 2 : 16;
		char *grown = reallocarray(items, wanted, size);
		if (!grown)
			return NULL;
		items = grown;
		memcpy(array, &items, sizeof(items));
		*room = wanted;
	}
	return items + size * (*count)++;
}
