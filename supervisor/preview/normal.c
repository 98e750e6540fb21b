// What a run of the same command that went well has said, too, is normal.

#include "supervisor/preview/internal.h"

#include <stdlib.h>

/* Slots of the table: more than twice the stored lines. */
enum { SLOT_BITS = 14 };

/* The stored lines by their fingerprints. */
struct normal {
	uint64_t prints[STORE_LINES];
	uint16_t slots[1 << SLOT_BITS]; /* a line's index + 1; 0: free */
	bool said[STORE_LINES];         /* of the first line with a fingerprint */
};

/* The slot of a fingerprint, or a free one. */
static uint16_t *normal_slot(struct normal *n, uint64_t print)
{
	size_t i = (print * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS);
	while (n->slots[i] && n->prints[n->slots[i] - 1] != print)
		i = (i + 1) & ((1 << SLOT_BITS) - 1);
	return &n->slots[i];
}

int smart_compare(struct smart *s, const struct fingerprints *success)
{
	struct normal *n = calloc(1, sizeof(*n));
	uint64_t print;
	if (!n)
		return -1;
	for (size_t i = 0; i < s->store.count; i++) {
		n->prints[i] = store_print(&s->store, i);
		uint16_t *slot = normal_slot(n, n->prints[i]);
		if (!*slot)
			*slot = (uint16_t)(i + 1);
	}
	while (success->next(success->ctx, &print) == 1) {
		const uint16_t *slot = normal_slot(n, print);
		if (*slot)
			n->said[*slot - 1] = true;
	}
	for (size_t i = 0; i < s->store.count; i++)
		s->store.lines[i].normal = n->said[*normal_slot(n, n->prints[i]) - 1];
	s->compared = true;
	free(n);
	return 0;
}
