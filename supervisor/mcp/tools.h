// The tools: a row for each, with what a client is told, the arguments, and what answers. The JSON
// schemas are written from the rows, the arguments of a call are checked against them, and the
// options of the verb follow: a mistake is one sentence for the model, which names the argument and
// what it has to be.
#ifndef TERSE_MCP_TOOLS_H
#define TERSE_MCP_TOOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct server;

/* "terse://cmd-1m5zq8k3x7f": an artifact as a resource. */
#define RESOURCES_SCHEME "terse://"

enum argument_type {
	ARGUMENT_TEXT,
	ARGUMENT_DATA,    /* a text that may hold anything, NUL too */
	ARGUMENT_COUNT,   /* a whole number, `least` at least */
	ARGUMENT_TIME,    /* the same in ms, from 1 to a day */
	ARGUMENT_LINE,    /* a whole number; below 0 counts from the end */
	ARGUMENT_FLAG,    /* true or false */
	ARGUMENT_STRINGS, /* a list of strings */
	ARGUMENT_PAIRS,   /* an object whose members are strings */
};

struct argument {
	const char *name;
	enum argument_type type;
	const char *description; /* NULL: the name says all */
	const char *option;      /* of the verb; NULL: an operand. Of choices each but the first
				    is one */
	bool required;
	uint64_t least, most; /* of a COUNT */
	int64_t otherwise;    /* where it is not given; 0: the verb's own default */
	const char *choices;  /* of a TEXT: JSON, a list; or NULL */
};

enum { ARGUMENTS_MAX = 16 };

struct arguments {
	const struct tool *tool;
	json_t *values[ARGUMENTS_MAX]; /* by the tool's row; borrowed; NULL: not given */
};

struct tool {
	const char *name, *title, *description;
	bool read_only;   /* it neither runs nor types anything */
	bool destructive; /* what it does can't be undone */
	bool open_world;  /* it reaches beyond the server's own commands */

	/* One of them answers: the server, 0 and appends the text, or -1 and what is wrong; or a
	   child of it, the verb with these options. */
	int (*serve)(struct server *s, const struct arguments *a, struct buffer *text);
	const char *verb, *also; /* an option that it always has; or NULL */

	/* Returns what is wrong with arguments that do not go together, or NULL; or NULL. */
	const char *(*check)(const struct arguments *a);

	const struct argument *arguments; /* end with a NULL name */
};

/* Ends with a NULL name. */
extern const struct tool tools[];

/* NULL: there is no such tool, or it is not offered. */
const struct tool *tool_find(const char *name, bool read_only);

/* Appends the array of the tools as tools/list has it. */
void tools_list(struct buffer *out, bool read_only);

/* Reads the object `given` (NULL: empty). Understood, too: what other tools call an argument
   (timeout_ms, description), numbers and booleans as strings ("5"), which models write, an
   artifact's URI for its ID, and null, "", 0 or [] for what is left out. Values are changed in
   `given`. Returns 0, or -1 and appends what is wrong. */
int arguments_read(struct arguments *a, const struct tool *tool, json_t *given,
		   struct buffer *wrong);

/* An argument's value; where it was not given NULL or `otherwise`. */
json_t *argument_value(const struct arguments *a, const char *name);
const char *argument_text(const struct arguments *a, const char *name);
int64_t argument_number(const struct arguments *a, const char *name, int64_t otherwise);

#endif
