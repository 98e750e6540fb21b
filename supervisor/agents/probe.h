// Finds out how an unknown agent calls its shell, so that a rule (rule.h) can be written.
//
// While PROBE_VARIABLE names a file, each call of a shell, or of python with a file, adds a record
// to it, one JSON object a line, and then runs unchanged. A record has the names of all variables,
// but no values, which may be secret. The user asks the agent to run PROBE_COMMAND, which
// distinguishes its tool calls from its other strings and files. If a shell gets neither a string
// nor a file, the agent types into it.
#ifndef TERSE_AGENTS_PROBE_H
#define TERSE_AGENTS_PROBE_H

#include <stddef.h>

struct buffer;

#define PROBE_VARIABLE "TERSE_PROBE"
#define PROBE_WORD     "terse-probe"
#define PROBE_COMMAND  "echo " PROBE_WORD

/* Adds a record of this process with these arguments; `string`: the shell's, or NULL. The file
   exists while `terse probe` runs. Nothing is written unless it is a regular file of the user's.
 */
void probe_record(const char *file, char *const argv[], const char *string);

/* The outcome of a probe. */
struct probe_result {
	size_t calls; /* of shells with a string */
	size_t hits;  /* calls with PROBE_COMMAND, in the string or in a file */
	size_t typed; /* shells that are typed into at a terminal */
	char *string; /* of the tool call, or NULL; the caller frees it */
};

/* Appends the section for the agent `name` according to the records `text`. If no record has the
   command, appends comments with the strings that were seen. `before`: the environment that the
   agent was started with. Returns 0, or -1 with ENOMEM. */
int probe_write(struct buffer *out, const char *name, const char *text, size_t len,
		char *const before[], struct probe_result *result);

#endif
