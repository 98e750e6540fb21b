// Hints for somebody who wires an agent up.
#ifndef TERSE_AGENTS_HINTS_H
#define TERSE_AGENTS_HINTS_H

#include "supervisor/agents/wiring.h"

#include <stdbool.h>

/* Appends hints that follow from the permission patterns in the agent's settings, which do not
   match a `terse ...` that the model types. A text that can't be read has none. */
void hints_patterns(struct buffer *out, const struct wiring *w, const char *path,
		    const struct buffer *text);

/* Appends that the settings keep variables of the wiring from the agent's commands (Codex's
   shell_environment_policy.include_only), and takes what they name out of *place, as the commands
   do not see it (NULL: not wanted). Returns whether there are such. */
bool hints_variables(struct buffer *out, const struct wiring_file *file, const char *path,
		     const struct buffer *text, struct place *place);

/* Appends facts about the agent, and whether its commands find terse. */
void hints_append(struct buffer *out, const struct wiring *w, const struct place *place);

/* Whether a program of that name, of several with | between them, is in PATH. `found`: its path. */
bool hints_find_program(const char *names, char found[PATH_MAX]);

#endif
