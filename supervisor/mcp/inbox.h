// The lines that a client sends, put together from what read(2) gives. A line has an end in size:
// what is longer is skipped to its end in constant memory, and reported once, with its ID.
#ifndef TERSE_MCP_INBOX_H
#define TERSE_MCP_INBOX_H

#include "lib/buffer.h"
#include "supervisor/mcp/rpc.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a line. */
#define INBOX_LINE_MAX ((size_t)16 * 1024 * 1024)

struct inbox {
	struct buffer data;   /* lines that came and were not taken, and the beginning of one */
	size_t taken;         /* bytes of it */
	size_t looked;        /* bytes of it in which there is no further newline */
	size_t most;          /* of a line; INBOX_LINE_MAX but for tests */
	bool skipping;        /* the rest of a line that is too long */
	struct rpc_scan scan; /* of it */
	bool ended;           /* the client sends nothing more; an unfinished line counts as one */
};

enum inbox_kind { INBOX_NOTHING, INBOX_LINE, INBOX_TOO_LONG };

void inbox_init(struct inbox *i, size_t most);

/* Adds what came. No memory for it: the line counts as too long. */
void inbox_add(struct inbox *i, const char *data, size_t len);

/* Reads once from a descriptor that has something; at its end, sets `ended`. Never blocks then. */
void inbox_read(struct inbox *i, int fd);

/* The next line, without its newline: valid until the next call. Blank lines are skipped. Of one
   that was too long it is the ID, as JSON. */
enum inbox_kind inbox_next(struct inbox *i, const char **line, size_t *len);

void inbox_release(struct inbox *i);

#endif
