// See cap.h.

#include "supervisor/artifact/cap.h"

#include "supervisor/artifact/newline.h"

#include <string.h>

void cap_init(struct cap *c, uint64_t max_bytes)
{
	*c = (struct cap){0};
	if (max_bytes == 0)
		return;
	if (max_bytes < CAP_MIN)
		max_bytes = CAP_MIN;
	c->step = max_bytes / 2 / CAP_STEPS;
	c->tail = c->step * CAP_STEPS;
	c->head = max_bytes - c->tail;
	c->next = c->head + c->step;
}

size_t cap_piece(const struct cap *c, uint64_t bytes, size_t len)
{
	if (c->head == 0)
		return len;
	uint64_t most = bytes < c->head ? c->head - bytes : c->step;
	return len < most ? len : (size_t)most;
}

void cap_end_head(struct cap *c, uint64_t offset, uint64_t line)
{
	c->begin = c->end = offset;
	c->from = c->to = line;
}

bool cap_make_room(struct cap *c, uint64_t bytes, uint64_t lines, size_t len)
{
	if (c->head == 0 || bytes < c->head || bytes + len - c->end <= c->tail)
		return false;
	uint64_t needed = bytes + len - c->tail;
	size_t passed = 0;
	while (passed < c->mark_count && c->marks[passed].offset < needed)
		passed++;
	if (passed < c->mark_count) {
		c->end = c->marks[passed].offset;
		c->to = c->marks[passed].line - 1;
		c->whole = true;
		passed++;
	} else {
		/* No line starts from c->next on, so all from there is in the line that is open.
		   It lies well before `bytes`: at most two steps behind `needed`. */
		c->end = (needed > c->next ? needed : c->next) + c->step;
		c->to = lines + 1;
		c->whole = false;
	}
	c->mark_count -= passed;
	memmove(c->marks, c->marks + passed, c->mark_count * sizeof(*c->marks));
	return true;
}

void cap_pass(struct cap *c, uint64_t bytes, uint64_t lines, const char *data, size_t len)
{
	if (c->head == 0)
		return;
	size_t done = 0;
	/* A line that starts at `next` has its newline one byte before. */
	while (bytes + len >= c->next && c->mark_count < CAP_MARKS) {
		size_t from = c->next - 1 > bytes + done ? (size_t)(c->next - 1 - bytes) : done;
		const char *newline = memchr(data + from, '\n', len - from);
		if (!newline)
			return;
		size_t start = (size_t)(newline - data) + 1;
		lines += newline_count(data + done, start - done);
		done = start;
		c->marks[c->mark_count++] =
			(struct cap_mark){.offset = bytes + start, .line = lines + 1};
		c->next = bytes + start + c->step;
	}
}
