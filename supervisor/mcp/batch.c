// See batch.h.

#include "supervisor/mcp/batch.h"

#include <stdlib.h>
#include <string.h>

struct batch *batch_new(struct batch **list)
{
	struct batch *b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->next = *list;
	*list = b;
	return b;
}

int batch_expect(struct batch *b, const char *id)
{
	char *copy = strdup(id);
	char **place = copy ? array_add(&b->ids, &b->count, &b->room, sizeof(*place)) : NULL;
	if (!place) {
		free(copy);
		return -1;
	}
	*place = copy;
	return 0;
}

static void batch_remove(struct batch **at)
{
	struct batch *b = *at;
	*at = b->next;
	while (b->count > 0)
		free(b->ids[--b->count]);
	free(b->ids);
	buffer_release(&b->answers);
	free(b);
}

/* Forgets the ID. Returns whether the batch expected it. */
static bool batch_forget(struct batch *b, const char *id)
{
	for (size_t i = 0; i < b->count; i++) {
		if (strcmp(b->ids[i], id) != 0)
			continue;
		free(b->ids[i]);
		b->ids[i] = b->ids[--b->count];
		return true;
	}
	return false;
}

/* There is always room for the end of the array. */
static bool batch_add(struct batch *b, const struct buffer *line)
{
	struct buffer *out = &b->answers;
	if (out->len + line->len > BATCH_ANSWERS_MAX || buffer_reserve(out, line->len + 2) < 0)
		return false;
	buffer_append_string(out, out->len ? "," : "[");
	buffer_append(out, line->data, line->len - 1);
	return true;
}

bool batch_take(struct batch **list, const char *id, const struct buffer *line,
		struct buffer *whole)
{
	struct batch **at = list;
	while (*at && !batch_forget(*at, id))
		at = &(*at)->next;
	struct batch *b = *at;
	if (!b)
		return false;
	bool taken = line && batch_add(b, line);
	if (b->count > 0)
		return taken;
	if (b->answers.len > 0) {
		buffer_append_string(&b->answers, "]\n");
		*whole = b->answers;
		b->answers = (struct buffer)BUFFER_INIT;
	}
	batch_remove(at);
	return taken;
}

void batch_release_all(struct batch **list)
{
	while (*list)
		batch_remove(list);
}
