// The command line of a child of the server, put together from the arguments of a tool's call.
#ifndef TERSE_MCP_ORDER_H
#define TERSE_MCP_ORDER_H

#include "supervisor/mcp/arguments.h"

#include <stdbool.h>
#include <stddef.h>

struct order {
	char **argv; /* NULL-terminated; owned, with the words */
	size_t count, room;
	const char *input; /* standard input; borrowed from the arguments; NULL: none */
	size_t input_len;
	bool failed; /* no memory */
};

/* What the server adds to a call. */
struct order_context {
	const char *session; /* of the artifacts */
	const char *leave;   /* the shell command that writes down what the shell leaves, or NULL */
	bool all_sessions;   /* not only that one's artifacts */
	bool structured;     /* the answer is JSON */
	bool keep;           /* the command outlives the server */
};

/* Adds words: one, and an option with a number behind it. */
void order_add(struct order *o, const char *word);
void order_add_number(struct order *o, const char *option, int64_t n);

/* Begins with "terse VERB --session NAME". */
void order_begin(struct order *o, const char *verb, const struct order_context *c);

/* "terse list --json" of what the tools reach. */
void order_begin_list(struct order *o, const struct order_context *c, int64_t limit);

/* Puts together the command line for a call of a tool that has a child. NULL: it is there (or
   failed without memory); else the reason why there is none, for the model. */
const char *order_make(struct order *o, const struct arguments_of *a,
		       const struct order_context *c);

void order_release(struct order *o);

#endif
