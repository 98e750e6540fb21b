// The tools: what a client is told about them, and which arguments each takes.
#ifndef TERSE_MCP_TOOLS_H
#define TERSE_MCP_TOOLS_H

/* "terse://cmd-1m5zq8k3x7f": an artifact as a resource. */
#define RESOURCES_SCHEME "terse://"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

enum tool_id {
	TOOL_RUN_COMMAND,
	TOOL_READ_OUTPUT,
	TOOL_LIST_COMMANDS,
	TOOL_AWAIT_COMMAND,
	TOOL_SEND_INPUT,
	TOOL_SIGNAL_COMMAND,
	TOOL_SHOW_SCREEN,
	TOOL_NEW_SESSION,
	TOOL_END_SESSION,
	TOOL_LIST_SESSIONS,
	TOOLS
};

/* The type of an argument. */
enum tool_type {
	TOOL_TEXT,
	TOOL_COUNT,   /* a whole number, `least` at least */
	TOOL_LINE,    /* a whole number; below 0 counts from the end */
	TOOL_FLAG,    /* true or false */
	TOOL_STRINGS, /* a list of strings */
	TOOL_PAIRS,   /* an object whose members are strings */
};

struct tool_argument {
	const char *name;
	enum tool_type type;
	uint64_t least, most;    /* of a COUNT */
	const char *description; /* NULL: the name says all */
	const char *choices;     /* of a TEXT: JSON, a list; or NULL */
	bool required;
};

enum { TOOL_ARGUMENTS_MAX = 16 };

struct tool {
	const char *name, *title, *description;
	const char *output; /* the members of its structured answer: JSON */
	bool read_only;     /* it neither runs nor types anything */
	bool destructive;   /* what it does can't be undone */
	bool open_world;    /* it reaches beyond the server's own commands */
	struct tool_argument arguments[TOOL_ARGUMENTS_MAX]; /* ends with a NULL name */
};

extern const struct tool tools[TOOLS];

/* NULL: there is no such tool, or it is not offered. */
const struct tool *tool_find(const char *name, bool read_only);

/* Appends the array of the tools as tools/list has it; `structured`: answers are JSON. */
void tool_list(struct buffer *out, bool read_only, bool structured);

#endif
