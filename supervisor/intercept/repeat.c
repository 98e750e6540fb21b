// See parts.h.

#include "supervisor/intercept/parts.h"

/* So many bytes of lines are held at most while they are too few. */
#define REPEAT_HELD ((size_t)64 * 1024)

static bool repeat_is_enough(uint64_t lines, uint64_t bytes)
{
	return lines >= REPEAT_LEAST && bytes >= REPEAT_BYTES;
}

/* Holds a line as long as it may have to be printed. */
static bool repeat_hold(struct repeat *r, const char *line, size_t len)
{
	if (repeat_is_enough(r->lines + 1, r->bytes + len + 1)) {
		buffer_release(&r->held);
		return true;
	}
	if (r->held.len + len + 1 > REPEAT_HELD || buffer_reserve(&r->held, len + 1) < 0)
		return false;
	buffer_append(&r->held, line, len);
	buffer_append(&r->held, "\n", 1);
	return true;
}

bool repeat_take(struct repeat *r, const char *line, size_t len, enum unit unit)
{
	const struct recall *recall = r->memory.recall;
	struct recall_place at = r->at;
	bool shown = r->lines > 0
			     ? recall->follows(recall->ctx, &at, line, len)
			     : recall->find(recall->ctx, line, len, &at) == RECALL_SAME && at.id;
	if (!shown || !repeat_hold(r, line, len))
		return false;
	r->at = at;
	r->lines++;
	r->bytes += len + 1;
	r->units += limit_counts(unit, line, len);
	return true;
}

bool repeat_mark(const struct repeat *r, uint64_t from, bool first, struct buffer *out)
{
	const struct preview_piece gap = {.kind = PREVIEW_GAP,
					  .from = from,
					  .to = from + r->lines - 1,
					  .bytes = r->bytes,
					  .spelled = first,
					  .as = r->at.id,
					  .as_from = r->at.line - r->lines + 1,
					  .as_to = r->at.line};
	if (!repeat_is_enough(r->lines, r->bytes))
		return false;
	wording_marker(out, &gap, &r->memory.place);
	return true;
}

void repeat_end(struct repeat *r)
{
	r->lines = r->bytes = r->units = 0;
	buffer_clear(&r->held);
}
