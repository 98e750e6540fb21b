// JSON-RPC 2.0 as the Model Context Protocol uses it: one message is one line.
//
// jansson reads, lib/json writes. Every function that writes appends a whole line with its newline.
#ifndef TERSE_MCP_RPC_H
#define TERSE_MCP_RPC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer;

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

/* Bytes of an ID as JSON, with the NUL. */
enum { RPC_ID_MAX = 512 };

struct rpc_message {
	enum rpc_kind kind;
	char id[RPC_ID_MAX]; /* as JSON; "null" if there is none */
	const char *method;  /* lives as long as the value it was read from */
	json_t *params;      /* an object, or NULL; borrowed as well */
	const char *wrong;   /* RPC_WRONG: why; lives as long as `why` of rpc_explain() */
};

/* Looks for the ID in a message that can't be read, or that is too long to be kept, so that it can
   be answered. Constant memory; {.depth = 0} begins. */
struct rpc_scan {
	unsigned depth;
	bool quoted, escaped, is_id;
	size_t len; /* of the present key or value of the message; RPC_ID_MAX: it is long */
	char token[RPC_ID_MAX]; /* it */
	char id[RPC_ID_MAX];    /* as the client wrote it; "": there is none so far */
};

/* Takes the next part. */
void rpc_scan(struct rpc_scan *s, const char *data, size_t len);

/* Writes the ID down as JSON; "null" if there is none. */
void rpc_scan_id(const struct rpc_scan *s, char id[RPC_ID_MAX]);

/* Reads a line. NULL: it is no JSON, and `why` says so. The caller calls json_decref(). */
json_t *rpc_parse(const char *line, size_t len, char why[160]);

/* Explains the value of a line (NULL: it could not be read, for the reason `why`) as a message. */
void rpc_explain(struct rpc_message *m, json_t *value, const char *line, size_t len,
		 const char *why);

/* Writes an ID or a progress token, a string or a whole number, as JSON. Returns 0, or -1 if it is
   something else or too long; then it is "". */
int rpc_write_id(char out[RPC_ID_MAX], const json_t *id);

/* A response: begin, the members of the result, end. */
void rpc_begin_result(struct buffer *out, const char *id);
void rpc_end_result(struct buffer *out);

void rpc_error(struct buffer *out, const char *id, enum rpc_code code, const char *message);

/* A notification: begin, the members of its params, end. */
void rpc_begin_notification(struct buffer *out, const char *method);
void rpc_end_notification(struct buffer *out);

#endif
