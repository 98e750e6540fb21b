// The arguments of a tool's call, checked against the tool's table. A mistake is one sentence for
// the model, which names the argument and what it has to be.
#ifndef TERSE_MCP_ARGUMENTS_H
#define TERSE_MCP_ARGUMENTS_H

#include "supervisor/mcp/tools.h"

#include <jansson.h>

enum { ARGUMENTS_WRONG_MAX = 400 };

struct arguments_of {
	const struct tool *tool;
	json_t *values[TOOL_ARGUMENTS_MAX]; /* by the tool's table; borrowed; NULL: not given */
	char wrong[ARGUMENTS_WRONG_MAX];
};

/* Reads the object `given` (NULL: empty). Understood, too: what other tools call an
   argument (timeout_ms, description), camelCase (maxOutputLines), numbers and
   booleans as strings ("5"), which models write, an artifact's URI for its ID, and null, "" or 0
   for what is left out. Values are changed in `given`. Returns 0, or -1 with `wrong`. */
int arguments_read(struct arguments_of *a, const struct tool *tool, json_t *given);

/* An argument's value; where it was not given NULL, `otherwise`, false. The name has to be in the
   tool's table. */
json_t *argument_value(const struct arguments_of *a, const char *name);
const char *argument_text(const struct arguments_of *a, const char *name);
int64_t argument_number(const struct arguments_of *a, const char *name, int64_t otherwise);
bool argument_flag(const struct arguments_of *a, const char *name);

/* A list; NULL where it is empty, too, since some models write that for what they leave out. */
const json_t *argument_list(const struct arguments_of *a, const char *name);

#endif
