// What starts a command: terse run, and terse-sh for a tool call.
#ifndef TERSE_COMMAND_RUN_H
#define TERSE_COMMAND_RUN_H

#include "supervisor/process/job.h"

#include <stdbool.h>

/* Whether to get out of the way: switched off, or supervised already. What a flag asks for
   in so many words (a report for a program, a command that goes on) is done wherever it runs. */
bool run_is_bypassed(struct settings *s);

/* Says why a command can't be executed, and returns the exit status that a shell has for that. */
int run_tell_exec_error(const struct job *job, int error);

/* Runs job->argv (and program and shown are filled in, too) with the settings of the agent around
   and of the profile of `words`, or of the shell string `string` if that is not NULL. Ends this
   process with the command's status; returns only when it could not be executed, with the exit
   status for that. */
int run_supervised(struct job *job, struct settings *s, char *const *words, const char *string);

#endif
