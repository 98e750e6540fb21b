// See cast.h.

#include "supervisor/process/cast.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/json_text.h"
#include "supervisor/base/utf8.h"

#include <inttypes.h>
#include <string.h>

/* The command in the header; asciinema shows it. */
#define COMMAND_MOST 1000

static int cast_add_command(struct buffer *out, const struct meta *m)
{
	struct buffer words = BUFFER_INIT;
	int result = 0;
	for (char **arg = m->argv; result == 0 && arg && *arg && words.len < COMMAND_MOST; arg++) {
		if (arg != m->argv)
			result = buffer_append(&words, " ", 1);
		if (result == 0)
			result = buffer_append_string(&words, *arg);
	}
	if (result == 0)
		result = json_text_quote(
			out, words.data ? words.data : "",
			utf8_floor(words.data, words.len,
				   words.len < COMMAND_MOST ? words.len : COMMAND_MOST));
	buffer_release(&words);
	return result;
}

void cast_start(struct cast *c, struct artifact *artifact, const struct meta *m, bool newlines)
{
	struct buffer line = BUFFER_INIT;
	*c = (struct cast){.artifact = artifact, .newlines = newlines};
	if (buffer_printf(&line,
			  "{\"version\":2,\"width\":%u,\"height\":%u,\"timestamp\":%" PRId64
			  ",\"command\":",
			  m->cols, m->rows, m->started_ms / 1000) == 0 &&
	    cast_add_command(&line, m) == 0 && buffer_append_string(&line, "}\n") == 0)
		artifact_append(artifact, ARTIFACT_CAST, line.data, line.len);
	else
		c->artifact = NULL;
	buffer_release(&line);
}

/* Appends bytes with a CR in front of each LF that has none. */
static int add_newlines(struct cast *c, struct buffer *out, const char *data, size_t len)
{
	while (len > 0) {
		const char *newline = memchr(data, '\n', len);
		size_t n = newline ? (size_t)(newline - data) : len;
		if (n > 0) {
			if (buffer_append(out, data, n) < 0)
				return -1;
			c->last = data[n - 1];
		}
		if (newline) {
			if (buffer_append_string(out, c->last == '\r' ? "\n" : "\r\n") < 0)
				return -1;
			c->last = '\n';
			n++;
		}
		data += n;
		len -= n;
	}
	return 0;
}

static int add_event(struct buffer *out, int64_t ms, char kind)
{
	return buffer_printf(out, "[%" PRId64 ".%03d,\"%c\",", ms / 1000, (int)(ms % 1000), kind);
}

void cast_output(struct cast *c, int64_t ms, const char *data, size_t len)
{
	struct buffer bytes = BUFFER_INIT, line = BUFFER_INIT;
	size_t cut = 0;
	if (!c->artifact)
		return;
	int result = buffer_append(&bytes, c->partial, c->partial_len);
	if (result == 0)
		result = c->newlines ? add_newlines(c, &bytes, data, len)
				     : buffer_append(&bytes, data, len);
	if (result < 0)
		goto out;
	if (!utf8_incomplete(bytes.data, bytes.len, &cut))
		cut = 0;
	c->partial_len = cut;
	memcpy(c->partial, bytes.data + bytes.len - cut, cut);
	if (bytes.len > cut && add_event(&line, ms, 'o') == 0 &&
	    json_text_quote(&line, bytes.data, bytes.len - cut) == 0 &&
	    buffer_append_string(&line, "]\n") == 0)
		artifact_append(c->artifact, ARTIFACT_CAST, line.data, line.len);
out:
	buffer_release(&bytes);
	buffer_release(&line);
}

void cast_resize(struct cast *c, int64_t ms, unsigned cols, unsigned rows)
{
	struct buffer line = BUFFER_INIT;
	if (c->artifact && add_event(&line, ms, 'r') == 0 &&
	    buffer_printf(&line, "\"%ux%u\"]\n", cols, rows) == 0)
		artifact_append(c->artifact, ARTIFACT_CAST, line.data, line.len);
	buffer_release(&line);
}
