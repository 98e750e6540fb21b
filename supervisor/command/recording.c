// See recording.h.

#include "supervisor/command/recording.h"

#include "lib/io.h"

#include <errno.h>
#include <string.h>

/* Bytes of one line: an event holds the result of one read(2), escaped. */
#define LINE_MOST ((size_t)1024 * 1024)

/* The next line, without its newline. Returns 1, 0 at the end, or -1 with errno. */
static int recording_line(struct recording *l, const char **line, size_t *len)
{
	for (;;) {
		const char *start = l->buffer.data + l->used;
		size_t left = l->buffer.len - l->used;
		const char *newline = left ? memchr(start, '\n', left) : NULL;
		if (newline) {
			*line = start;
			*len = (size_t)(newline - start);
			l->used += *len + 1;
			return 1;
		}
		if (left > LINE_MOST) {
			errno = EBADMSG;
			return -1;
		}
		buffer_consume(&l->buffer, l->used);
		l->used = 0;
		if (buffer_reserve(&l->buffer, 65536) < 0)
			return -1;
		ssize_t n = io_read(l->fd, l->buffer.data + l->buffer.len, 65536);
		/* A last line without a newline was not written completely. */
		if (n <= 0)
			return n < 0 ? -1 : 0;
		l->buffer.len += (size_t)n;
	}
}

json_t *recording_header(struct recording *l)
{
	const char *line;
	size_t len;
	int got = recording_line(l, &line, &len);
	json_t *header = got == 1 ? json_loadb(line, len, 0, NULL) : NULL;
	if (json_integer_value(json_object_get(header, "version")) == 2)
		return header;
	json_decref(header);
	errno = got == 0 && l->buffer.len == 0 ? ENODATA : EBADMSG;
	return NULL;
}

int recording_next(struct recording *l, struct recording_event *e)
{
	const char *line;
	size_t len;
	int got = recording_line(l, &line, &len);
	if (got <= 0)
		return got;
	e->array = json_loadb(line, len, 0, NULL);
	const json_t *at = json_array_get(e->array, 0), *kind = json_array_get(e->array, 1),
		     *data = json_array_get(e->array, 2);
	e->at = json_number_value(at);
	if (!json_is_number(at) || !json_is_string(kind) || !json_is_string(data) || e->at < 0 ||
	    json_string_length(kind) != 1) {
		json_decref(e->array);
		errno = EBADMSG;
		return -1;
	}
	e->kind = *json_string_value(kind);
	e->data = json_string_value(data);
	e->len = json_string_length(data);
	return 1;
}
