// terse mcp: a server of the Model Context Protocol on standard input and output. For agents that
// can't be given a shell or a prefix: they get running, reading, searching and typing as tools.
//
// One process and one poll loop. Each call that needs a verb of terse is a child of its own, which
// is this program again (child.h), so a command is supervised as any run.
#ifndef TERSE_MCP_MCP_H
#define TERSE_MCP_MCP_H

struct command_context;

/* The verb. */
int command_mcp(struct command_context *c, int argc, char **argv);

#endif
