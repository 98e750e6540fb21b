// See plain.h.

#include "supervisor/intercept/plain.h"

#include <string.h>

/* Where the first of some bytes is, or `len`. memchr() for each over a piece that stays in the
   cache is faster than one loop that looks for all. */
static size_t plain_find(const char *data, size_t len, char byte)
{
	const char *at = memchr(data, byte, len);
	return at ? (size_t)(at - data) : len;
}

#define PIECE ((size_t)16 * 1024)

/* The first CR that no LF follows. The byte behind the last one is not looked at. */
static size_t find_return(const char *data, size_t len)
{
	for (size_t i = 0; (i += plain_find(data + i, len - i, '\r')) < len; i++) {
		if (i + 1 == len || data[i + 1] != '\n')
			return i;
	}
	return len;
}

size_t plain_length(const char *data, size_t len)
{
	size_t done = 0;
	while (done < len) {
		size_t piece = len - done < PIECE ? len - done : PIECE;
		/* The LF behind a CR belongs to the same piece. */
		if (data[done + piece - 1] == '\r' && done + piece < len)
			piece++;
		size_t n = plain_find(data + done, piece, '\x1B');
		n = plain_find(data + done, n, '\b');
		n = find_return(data + done, n);
		done += n;
		if (n < piece)
			break;
	}
	return done;
}

int plain_feed(struct plain *p, const char *data, size_t len,
	       void (*pass)(void *ctx, const char *data, size_t len), void *ctx)
{
	const char *end = len ? memrchr(data, '\n', len) : NULL;
	if (end) {
		size_t whole = (size_t)(end - data) + 1;
		plain_finish(p, pass, ctx);
		pass(ctx, data, whole);
		p->passed = 0;
		data += whole;
		len -= whole;
	}
	if (buffer_append(&p->line, data, len) < 0) {
		plain_finish(p, pass, ctx);
		pass(ctx, data, len);
		p->passed += len;
		return -1;
	}
	if (p->line.len > PLAIN_LINE)
		plain_finish(p, pass, ctx);
	return 0;
}

void plain_finish(struct plain *p, void (*pass)(void *ctx, const char *data, size_t len), void *ctx)
{
	if (p->line.len > 0)
		pass(ctx, p->line.data, p->line.len);
	p->passed += p->line.len;
	buffer_clear(&p->line);
}

void plain_release(struct plain *p)
{
	buffer_release(&p->line);
}
