// See follow.h.

#include "supervisor/command/follow.h"

#include "supervisor/base/io.h"
#include "supervisor/base/utf8.h"
#include "supervisor/search/matcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of a line that is longer, pieces are matched. */
#define BLOCK ((size_t)256 * 1024)

/* Of the line that matched. */
#define FOUND_MOST ((size_t)300)

int follow_init(struct follow *f, struct matcher *matcher, int fd, uint64_t offset)
{
	*f = (struct follow){.matcher = matcher, .fd = fd, .offset = offset};
	f->block = malloc(BLOCK);
	return f->block ? 0 : -1;
}

static int follow_keep_line(struct follow *f, const char *line, size_t len)
{
	const char *newline = memchr(line, '\n', len);
	if (newline)
		len = (size_t)(newline - line);
	size_t n = utf8_floor(line, len, len < FOUND_MOST ? len : FOUND_MOST);
	if (utf8_clean(&f->found, line, n) < 0)
		return -1;
	return n < len ? buffer_append_string(&f->found, "...") : 0;
}

/* Matches whole lines, and the last one as far as it goes. */
static int follow_look_at(struct follow *f, size_t len)
{
	size_t at;
	matcher_begin(f->matcher, f->block, len);
	switch (matcher_next(f->matcher, 0, &at)) {
	case MATCHER_FOUND: return follow_keep_line(f, f->block + at, len - at) < 0 ? -1 : 1;
	case MATCHER_GAVE_UP: errno = EINVAL; return -1;
	default: return 0;
	}
}

int follow_look(struct follow *f, uint64_t settled)
{
	uint64_t at = f->offset;
	for (;;) {
		ssize_t n = io_read_at(f->fd, f->block, BLOCK, (off_t)at);
		if (n <= 0)
			return n < 0 ? -1 : 0;
		size_t len = (size_t)n;
		const char *newline = memrchr(f->block, '\n', len);
		/* The rest of the last line comes with the next block. */
		if (len == BLOCK && newline)
			len = (size_t)(newline - f->block) + 1;
		int result = follow_look_at(f, len);
		if (result != 0)
			return result;
		size_t final = settled > at ? settled - at : 0;
		if (final > len)
			final = len;
		newline = memrchr(f->block, '\n', final);
		if (f->offset == at && (newline || final == BLOCK))
			f->offset += newline ? (size_t)(newline - f->block) + 1 : final;
		at += len;
		if ((size_t)n < BLOCK)
			return 0;
	}
}

void follow_release(struct follow *f)
{
	io_close(&f->fd);
	free(f->block);
	buffer_release(&f->found);
	*f = (struct follow){.fd = -1};
}
