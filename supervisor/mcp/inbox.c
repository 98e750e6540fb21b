// See inbox.h.

#include "supervisor/mcp/inbox.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Bytes that are read at once. */
#define INBOX_CHUNK ((size_t)64 * 1024)

/* Memory that stays reserved between messages. */
#define INBOX_KEEP ((size_t)256 * 1024)

void inbox_init(struct inbox *i, size_t most)
{
	*i = (struct inbox){.most = most};
}

/* Forgets the lines that were taken. */
static void inbox_compact(struct inbox *i)
{
	buffer_consume(&i->data, i->taken);
	i->looked -= i->taken;
	i->taken = 0;
	if (i->data.len == 0 && i->data.cap > INBOX_KEEP)
		buffer_release(&i->data);
}

/* Drops the beginning of a line that is too long. The mark of one that is to be reported is a line
   that begins with NUL, as no other does. */
static void inbox_skip(struct inbox *i, size_t start)
{
	i->scan = (struct rpc_scan){.depth = 0};
	rpc_scan(&i->scan, i->data.data + start, i->data.len - start);
	buffer_truncate(&i->data, start);
	if (i->looked > start)
		i->looked = start;
	i->skipping = true;
}

/* The bytes of the unfinished line that there are. */
static size_t inbox_start_of_last(const struct inbox *i)
{
	const char *newline = i->data.len > i->taken ? memrchr(i->data.data + i->taken, '\n',
							       i->data.len - i->taken)
						     : NULL;
	return newline ? (size_t)(newline + 1 - i->data.data) : i->taken;
}

static void inbox_add_mark(struct inbox *i)
{
	char mark[1 + RPC_ID_MAX] = "";
	rpc_scan_id(&i->scan, mark + 1);
	size_t len = 1 + strlen(mark + 1);
	mark[len++] = '\n';
	/* Where there is no memory for it, the report is lost. */
	buffer_try_append(&i->data, mark, len);
}

/* Adds a part of one line; `ends`: with its newline. */
static void inbox_add_part(struct inbox *i, const char *data, size_t len, bool ends)
{
	size_t start = inbox_start_of_last(i);
	bool fits = !i->skipping && i->data.len - start + len <= i->most;
	if (fits && buffer_try_append(&i->data, data, len + ends) == 0) {
		/* It is no JSON either way. */
		if (len > 0 && !i->data.data[start])
			i->data.data[start] = '\1';
		return;
	}
	if (!i->skipping)
		inbox_skip(i, start);
	rpc_scan(&i->scan, data, len);
	if (!ends)
		return;
	i->skipping = false;
	inbox_add_mark(i);
}

void inbox_add(struct inbox *i, const char *data, size_t len)
{
	inbox_compact(i);
	while (len > 0) {
		const char *newline = memchr(data, '\n', len);
		size_t n = newline ? (size_t)(newline - data) : len;
		inbox_add_part(i, data, n, newline);
		n += newline ? 1 : 0;
		data += n;
		len -= n;
	}
}

void inbox_read(struct inbox *i, int fd)
{
	char chunk[INBOX_CHUNK];
	ssize_t n;
	do
		n = read(fd, chunk, sizeof(chunk));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		inbox_add(i, chunk, (size_t)n);
	if (n > 0 || (n < 0 && errno == EAGAIN))
		return;
	i->ended = true;
	if (i->skipping || inbox_start_of_last(i) < i->data.len)
		inbox_add(i, "\n", 1);
}

static bool inbox_is_blank(const char *line, size_t len)
{
	for (size_t k = 0; k < len; k++) {
		if (line[k] != ' ' && line[k] != '\t' && line[k] != '\r')
			return false;
	}
	return true;
}

enum inbox_kind inbox_next(struct inbox *i, const char **line, size_t *len)
{
	for (;;) {
		size_t from = i->looked > i->taken ? i->looked : i->taken;
		const char *newline =
			i->data.len > from ? memchr(i->data.data + from, '\n', i->data.len - from)
					   : NULL;
		if (!newline) {
			i->looked = i->data.len;
			return INBOX_NOTHING;
		}
		*line = i->data.data + i->taken;
		*len = (size_t)(newline - *line);
		i->taken += *len + 1;
		i->looked = i->taken;
		if (*len > 1 && **line == '\0') {
			++*line;
			--*len;
			return INBOX_TOO_LONG;
		}
		if (!inbox_is_blank(*line, *len))
			return INBOX_LINE;
	}
}

void inbox_release(struct inbox *i)
{
	buffer_release(&i->data);
}
