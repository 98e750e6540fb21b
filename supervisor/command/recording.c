// See recording.h.

#include "supervisor/command/recording.h"

#include "lib/io.h"
#include "lib/json_read.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <stdio.h>
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
	json_t *header = got == 1 ? json_read(line, len, 0, NULL) : NULL;
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
	e->array = json_read(line, len, 0, NULL);
	int error = !e->array && errno == ENOMEM ? ENOMEM : EBADMSG;
	const json_t *at = json_array_get(e->array, 0), *kind = json_array_get(e->array, 1),
		     *data = json_array_get(e->array, 2);
	e->at = json_number_value(at);
	if (!json_is_number(at) || !json_is_string(kind) || !json_is_string(data) ||
	    !(e->at >= 0 && e->at < RECORDING_END_MOST) || json_string_length(kind) != 1) {
		json_decref(e->array);
		errno = error;
		return -1;
	}
	e->kind = *json_string_value(kind);
	e->data = json_string_value(data);
	e->len = json_string_length(data);
	return 1;
}

static void recording_on_text(void *ctx, const char *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
}

struct terminal *recording_terminal(const json_t *header)
{
	const struct terminal_options options = {
		.cols = (unsigned)json_integer_value(json_object_get(header, "width")),
		.rows = (unsigned)json_integer_value(json_object_get(header, "height")),
		.collapse = true,
		.styles = true,
	};
	const struct terminal_events events = {.text = recording_on_text};
	return terminal_new(&options, &events);
}

void recording_feed(struct terminal *t, const struct recording_event *e)
{
	unsigned cols, rows;
	if (e->kind == 'o')
		terminal_feed(t, e->data, e->len);
	else if (e->kind == 'r' && sscanf(e->data, "%ux%u", &cols, &rows) == 2 && cols >= 2 &&
		 cols <= 1000 && rows >= 2 && rows <= 500)
		terminal_resize(t, cols, rows);
}

struct terminal *recording_last(int fd)
{
	struct recording r = {.fd = fd};
	struct recording_event e;
	json_t *header = recording_header(&r);
	struct terminal *t = header ? recording_terminal(header) : NULL;
	while (t && recording_next(&r, &e) == 1) {
		recording_feed(t, &e);
		json_decref(e.array);
	}
	json_decref(header);
	buffer_release(&r.buffer);
	return t;
}
