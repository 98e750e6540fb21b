// The names of the tools of terse mcp that terse's own lines mention: for a model with tools and no
// shell, the lines name calls of tools instead of commands ([report] words = tools).
#ifndef TERSE_LIB_TOOL_NAMES_H
#define TERSE_LIB_TOOL_NAMES_H

#define TOOL_READ   "read_command_output"
#define TOOL_AWAIT  "await_command"
#define TOOL_SEND   "send_input"
#define TOOL_SCREEN "screen"
#define TOOL_SIGNAL "signal_command"
#define TOOL_RUN    "run_command"
#define TOOL_LIST   "list_commands"

/* Examples of keys that can be sent. */
#define TOOL_KEYS "enter, tab, escape, up, ctrl-c, ctrl-d, f1 ..."

/* The argument that names a run. */
#define TOOL_ID " artifact_id="

#endif
