// Requests that came as one array, which one revision of the protocol has: their answers go back as
// one array, when the last is there.
#ifndef TERSE_MCP_BATCH_H
#define TERSE_MCP_BATCH_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of an array of answers. What does not fit goes back alone. */
#define BATCH_ANSWERS_MAX ((size_t)8 * 1024 * 1024)

struct batch {
	struct batch *next;
	char **ids; /* as JSON, of requests that are not answered yet; owned */
	size_t count, room;
	struct buffer answers; /* "[ANSWER,ANSWER" */
};

/* Adds a batch to the list. NULL: no memory. */
struct batch *batch_new(struct batch **list);

/* A request of it. Returns 0, or -1 with ENOMEM: its answer will go back alone. */
int batch_expect(struct batch *b, const char *id);

/* Takes an answer, a whole line (NULL: there will be none). Returns whether it goes back in an
   array of the list. The last one ends its batch: then `whole` gets the array, a line. */
bool batch_take(struct batch **list, const char *id, const struct buffer *line,
		struct buffer *whole);

void batch_release_all(struct batch **list);

#endif
