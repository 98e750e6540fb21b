// See head.h.

#include "supervisor/intercept/head.h"

#include "supervisor/base/human.h"
#include "supervisor/base/utf8.h"

#include <string.h>

static bool is_full(const struct head *h)
{
	return h->limit.count && h->units >= h->limit.count;
}

static size_t room(const struct head *h)
{
	return h->limit.bytes > h->bytes ? h->limit.bytes - h->bytes : 0;
}

static void count_line(struct head *h, const char *line, size_t len, size_t printed)
{
	h->bytes += printed;
	h->lines++;
	h->units += limit_counts(h->limit.unit, line, len);
}

bool head_take(struct head *h, const char *line, size_t len)
{
	size_t printed = utf8_clean_len(line, len);

	if (is_full(h) || len - 1 > h->limit.max_line || printed > room(h))
		return false;
	count_line(h, line, len - 1, printed);
	return true;
}

/* Appends the first line's start, as much as there is room for. */
static void give_part(struct head *h, const char *line, size_t len, struct buffer *out)
{
	size_t most = room(h), n = utf8_floor(line, len, len < most ? len : most), printed;

	/* What is not clean may become longer. */
	while ((printed = utf8_clean_len(line, n)) > most)
		n = utf8_floor(line, len, n - (printed - most + 2) / 3);
	h->end = HEAD_LINE;
	h->first_length = h->length;
	h->first_shown = n;
	h->bytes += printed;
	utf8_clean(out, line, n);
}

/* Puts together how a line is printed. Returns 0, or -1 with ENOMEM. */
static int write_line(const struct head *h, const char *line, size_t len, bool is_cut, bool ended,
		      struct buffer *out)
{
	char count[HUMAN_LEN];
	size_t n = is_cut ? utf8_floor(line, len, h->limit.max_line) : len;
	bool returns = !is_cut && ended && len > 0 && line[len - 1] == '\r';

	if (utf8_clean(out, line, n - returns) < 0)
		return -1;
	if (is_cut && !h->bare &&
	    buffer_printf(out, "[... %s bytes omitted ...]", human_count(count, h->length - n)) < 0)
		return -1;
	return ended ? buffer_append(out, &"\r\n"[!returns], 1 + returns) : 0;
}

/* The line of h->length bytes is complete; `len` of them are at hand. */
static void end_line(struct head *h, const char *line, size_t len, bool ended, struct buffer *out)
{
	bool is_cut = h->length > h->limit.max_line;
	size_t before = out->len;

	if (is_full(h)) {
		h->end = HEAD_COUNT;
		return;
	}
	/* Beyond the room there is no more of it than tells that it is too long. */
	if ((!is_cut && h->length + ended > room(h)) ||
	    write_line(h, line, len, is_cut, ended, out) < 0 || out->len - before > room(h)) {
		out->len = before;
		h->end = HEAD_BYTES;
		if (h->lines == 0)
			give_part(h, line, len, out);
		return;
	}
	if (is_cut && h->cut++ == 0)
		h->first_cut = h->lines + 1;
	h->last_cut = is_cut;
	count_line(h, line, len, out->len - before);
}

/* Keeps what may be shown of an unfinished line. */
static void keep(struct head *h, const char *data, size_t len)
{
	/* Some more, so that it is cut where a character ends. */
	size_t most = h->limit.bytes + 4;
	size_t space = h->line.len < most ? most - h->line.len : 0;

	h->length += len;
	if (buffer_append(&h->line, data, len < space ? len : space) < 0)
		h->end = HEAD_BYTES;
}

void head_feed(struct head *h, const char *data, size_t len, struct buffer *out)
{
	while (len > 0 && h->end == HEAD_OPEN) {
		const char *newline = memchr(data, '\n', len);
		size_t piece = newline ? (size_t)(newline - data) : len;

		if (newline && h->length == 0) {
			h->length = piece;
			end_line(h, data, piece, true, out);
			h->length = 0;
		} else {
			keep(h, data, piece);
			if (newline && h->end == HEAD_OPEN)
				end_line(h, h->line.data, h->line.len, true, out);
			if (newline) {
				buffer_clear(&h->line);
				h->length = 0;
			}
		}
		piece += newline != NULL;
		data += piece;
		len -= piece;
	}
	if (h->end != HEAD_OPEN)
		buffer_release(&h->line);
}

void head_finish(struct head *h, struct buffer *out)
{
	if (h->end == HEAD_OPEN && h->length > 0)
		end_line(h, h->line.data, h->line.len, false, out);
	head_release(h);
}

void head_release(struct head *h)
{
	buffer_release(&h->line);
}
