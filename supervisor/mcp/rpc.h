// JSON-RPC 2.0 as the Model Context Protocol uses it: one message is one line.
//
// The inbox puts the lines together from what read(2) gives; jansson reads them, lib/json writes.
#ifndef TERSE_MCP_RPC_H
#define TERSE_MCP_RPC_H

#include "lib/buffer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of an ID as JSON, with the NUL. */
enum { RPC_ID_MAX = 512 };

// The lines that a client sends. A line has an end in size: what is longer is skipped to its end in
// constant memory, and stands for an error.

/* Bytes of a line. */
#define INBOX_LINE_MAX ((size_t)16 * 1024 * 1024)

struct inbox {
	struct buffer data; /* lines that came and were not taken, and the start of one; owned */
	size_t taken;       /* bytes of it */
	size_t most;        /* of a line; INBOX_LINE_MAX but for tests */
	bool skipping;      /* the rest of a line that is too long */
	bool ended;         /* the client sends nothing more; an unfinished line counts as one */
};

/* Reads once from a descriptor that has something; at its end, sets `ended`. Never blocks then. No
   memory for what came: its line counts as too long. */
void inbox_read(struct inbox *i, int fd);

/* The next line, without its newline, for rpc_read(): valid until the next inbox_read(); NULL
   stands for one that was too long. Blank ones are skipped. Returns whether there is one. */
bool inbox_next(struct inbox *i, const char **line, size_t *len);

// Messages.

/* The codes of errors. */
enum rpc_code {
	RPC_NOT_JSON = -32700,
	RPC_INVALID = -32600,
	RPC_NO_METHOD = -32601,
	RPC_BAD_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NOT_FOUND = -32002, /* no such resource */
};

enum rpc_kind {
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESPONSE, /* to a request that this server never sends: ignored */
	RPC_WRONG,
};

struct rpc_message {
	enum rpc_kind kind;
	char id[RPC_ID_MAX]; /* as JSON; "null" if there is none */
	const char *method;  /* borrowed from `value` */
	json_t *params;      /* an object, or NULL; borrowed as well */
	json_t *value;       /* all of it, or NULL; the caller releases it */
	enum rpc_code code;  /* RPC_WRONG: which error */
	char wrong[160];     /* and why; else "" */
};

/* Reads a line of the inbox. */
void rpc_read(struct rpc_message *m, const char *line, size_t len);

/* Writes an ID or a progress token, a string or a whole number, as JSON. Returns 0, or -1 if it is
   something else or too long; then it is "". */
int rpc_write_id(char out[RPC_ID_MAX], const json_t *id);

/* Begins the line of a response: what its member, "result", has follows, and rpc_end(). */
void rpc_begin(struct buffer *out, const char *id, const char *member);
void rpc_end(struct buffer *out);

/* The line of a response that is an error. */
void rpc_error(struct buffer *out, const char *id, enum rpc_code code, const char *message);

#endif
