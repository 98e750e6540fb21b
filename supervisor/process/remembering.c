// See remembering.h.

#include "supervisor/process/remembering.h"

#include "lib/buffer.h"
#include "lib/fingerprint.h"
#include "lib/trace.h"

#include <stdlib.h>
#include <string.h>

/* Whether the text of a run can be read, of the session's directory. */
static bool remembering_is_readable(struct remembering *r, uint32_t run)
{
	if (r->readable[run] < 0)
		r->readable[run] = id_has_file(r->record->history, r->memory.ids[run], ".txt");
	return r->readable[run];
}

static enum recall_found remembering_find(void *ctx, const char *line, size_t len,
					  struct recall_place *where)
{
	struct remembering *r = ctx;
	if (r->memory.count == 0)
		return RECALL_NEW;
	uint32_t exact = (uint32_t)fingerprint_exact(line, len);
	const struct memory_entry *e =
		memory_find(&r->memory, fingerprint_masked(line, len), exact);
	if (!e)
		return RECALL_NEW;
	where->id = remembering_is_readable(r, e->run) ? r->memory.ids[e->run] : NULL;
	where->line = e->line.number;
	where->mark = (size_t)(e - r->memory.entries);
	return e->line.exact == exact ? RECALL_SAME : RECALL_MASKED;
}

static bool remembering_follows(void *ctx, struct recall_place *where, const char *line, size_t len)
{
	struct remembering *r = ctx;
	if (where->mark == 0)
		return false;
	/* The lines of a run stand in reverse (memory.h). */
	const struct memory_entry *above = &r->memory.entries[where->mark], *e = above - 1;
	if (e->run != above->run || e->line.number != above->line.number + 1 ||
	    e->line.exact != (uint32_t)fingerprint_exact(line, len) ||
	    e->line.print != fingerprint_masked(line, len))
		return false;
	where->mark--;
	where->line++;
	return true;
}

static void remembering_shown(void *ctx, const char *line, size_t len, uint64_t number)
{
	struct remembering *r = ctx;
	if (number > UINT32_MAX)
		return;
	struct memory_line *l = array_add(&r->shown, &r->count, &r->cap, sizeof(*l));
	if (l)
		*l = (struct memory_line){.print = fingerprint_masked(line, len),
					  .exact = (uint32_t)fingerprint_exact(line, len),
					  .number = (uint32_t)number};
}

static void remembering_until(void *ctx, uint64_t last)
{
	struct remembering *r = ctx;
	while (r->count > 0 && r->shown[r->count - 1].number > last)
		r->count--;
}

bool remembering_is_possible(const struct record *record)
{
	return record->history >= 0 && strcmp(record->meta.session, "default") != 0;
}

void remembering_begin(struct remembering *r, const struct record *record)
{
	*r = (struct remembering){.record = record};
	if (!remembering_is_possible(record) || !record->meta.id[0])
		return;
	if (memory_read(&r->memory, record->history) < 0)
		memory_release(&r->memory);
	r->readable = malloc(r->memory.runs + 1);
	if (!r->readable) {
		memory_release(&r->memory);
		return;
	}
	memset(r->readable, -1, r->memory.runs + 1);
	r->recall = (struct recall){.find = remembering_find,
				    .follows = remembering_follows,
				    .shown = remembering_shown,
				    .until = remembering_until,
				    .ctx = r};
	r->is_open = true;
	TRACE(PREVIEW, "the session remembers %zu lines of %zu runs", r->memory.count,
	      r->memory.runs);
}

/* Drops lines that can't be read, since they were not kept. */
static void remembering_drop_gaps(struct remembering *r)
{
	const struct gaps gaps = record_place(r->record, false).gaps;
	for (int i = 0; i < gaps.count; i++) {
		size_t kept = 0;
		for (size_t k = 0; k < r->count; k++) {
			uint64_t number = r->shown[k].number;
			if (number < gaps.items[i].from || number > gaps.items[i].to)
				r->shown[kept++] = r->shown[k];
		}
		r->count = kept;
	}
}

void remembering_end(struct remembering *r)
{
	if (r->is_open)
		remembering_drop_gaps(r);
	if (r->count > 0)
		memory_add(r->record->history, r->record->meta.id, r->shown, r->count,
			   r->memory.size);
	remembering_drop(r);
}

void remembering_drop(struct remembering *r)
{
	memory_release(&r->memory);
	free(r->readable);
	free(r->shown);
	*r = (struct remembering){.is_open = false};
}
