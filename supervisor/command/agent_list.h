// The agents that terse knows: which are on this machine, and whether they are wired up.
#ifndef TERSE_COMMAND_AGENT_LIST_H
#define TERSE_COMMAND_AGENT_LIST_H

#include "lib/buffer.h"
#include "supervisor/agents/wiring.h"

enum { AGENTS_MAX = 16 };

/* Which agents a call is about. */
struct agent_list {
	const struct wiring *items[AGENTS_MAX];
	size_t count;
};

/* The agents whose programs are in PATH, in the order of the table. */
void agent_list_find(struct agent_list *l);

/* Appends a line for each: its name, its state, its path. `place`: what their files name.
   `project`: the project's directory, whose files count, too, or NULL. */
void agent_list_print(struct buffer *out, const struct agent_list *l, const struct place *place,
		      const char *project);

/* Asks the person at the terminal which of the agents are meant, and keeps those. Returns 0, or -1:
   the answer names something else, and *wrong is that word (in static memory). */
int agent_list_ask(struct agent_list *l, const char **wrong);

#endif
