// Hints for somebody who wires an agent up.
#ifndef TERSE_AGENTS_HINTS_H
#define TERSE_AGENTS_HINTS_H

#include "supervisor/agents/wiring.h"

#include <stdbool.h>

/* Appends hints that follow from the permission patterns in the agent's settings, which do not
   match a `terse ...` that the model types. A text that can't be read has none. */
void hints_patterns(struct buffer *out, const struct wiring *w, const char *path,
		    const struct buffer *text);

/* Appends facts about the agent, and whether its commands find terse. */
void hints_append(struct buffer *out, const struct wiring *w, const struct place *place);

/* Whether a program of that name, of several with | between them, is in PATH. `found`: its path. */
bool hints_find_program(const char *names, char found[PATH_MAX]);

#endif
