// terse mcp: a server of the Model Context Protocol on standard input and output. For agents that
// can't be given a shell or a prefix: they get running, reading, searching and typing as tools.
//
// One process and one poll loop. Each call that needs a verb of terse is a child of its own, which
// is this program again (child.h), so a command is supervised as any run.
#ifndef TERSE_MCP_MCP_H
#define TERSE_MCP_MCP_H

#include <stdbool.h>

/* Whether the arguments of the program (argv[1] on) are those of a command's shell that ends, in a
   session of a server. It needs no settings, since each command pays for it. */
bool mcp_is_leaving(int argc, char **argv);

/* Writes the directory and variables down that it has inherited. Returns the exit status. */
int mcp_leave(char **argv);

#endif
