// The verbs of the program, one file each.
//
// A verb gets its own arguments (argv[0] is the verb's name), prints what it
// has to say itself, and returns the exit status: 0, 1 (nothing found, or it
// could not be read), or EXIT_TERSE for bad usage and terse's own failures.
#ifndef TERSE_COMMAND_COMMAND_H
#define TERSE_COMMAND_COMMAND_H

#include "supervisor/artifact/id.h"
#include "supervisor/process/job.h"

#include <stdbool.h>

struct command_context;
struct layer;
struct layer_form;
struct settings;

/* Exit status of terse's own errors, as env(1) and timeout(1) use it. */
#define EXIT_TERSE 125

struct command_context {
	struct settings *settings; /* with files and variables, but without flags yet */
};

/* Whether this process was started as terse-sh: by the name of the file that was executed, or by
   argv[0]. */
bool decision_is_shell(const char *path);

/* terse-sh, with argv as it was started. */
int command_shell(char **argv);

int command_run(struct command_context *c, int argc, char **argv);
int command_filter(struct command_context *c, int argc, char **argv);
int command_read(struct command_context *c, int argc, char **argv);
int command_search(struct command_context *c, int argc, char **argv);
int command_changes(struct command_context *c, int argc, char **argv);
int command_list(struct command_context *c, int argc, char **argv);
int command_show(struct command_context *c, int argc, char **argv);
int command_history(struct command_context *c, int argc, char **argv);
int command_stats(struct command_context *c, int argc, char **argv);
/* terse alone, at a terminal. */
int command_welcome(void);

int command_report(struct command_context *c, int argc, char **argv);
int command_path(struct command_context *c, int argc, char **argv);
int command_attach(struct command_context *c, int argc, char **argv);
int command_await(struct command_context *c, int argc, char **argv);
int command_send(struct command_context *c, int argc, char **argv);
int command_signal(struct command_context *c, int argc, char **argv);
int command_snapshot(struct command_context *c, int argc, char **argv);
int command_replay(struct command_context *c, int argc, char **argv);
int command_session(struct command_context *c, int argc, char **argv);
int command_rewind(struct command_context *c, int argc, char **argv);
int command_drop(struct command_context *c, int argc, char **argv);
int command_gc(struct command_context *c, int argc, char **argv);
int command_archive(struct command_context *c, int argc, char **argv);
int command_unarchive(struct command_context *c, int argc, char **argv);
int command_push(struct command_context *c, int argc, char **argv);
int command_agent(struct command_context *c, int argc, char **argv);
int command_init(struct command_context *c, int argc, char **argv);
int command_hook(struct command_context *c, int argc, char **argv);
int command_doctor(struct command_context *c, int argc, char **argv);
int command_config(struct command_context *c, int argc, char **argv);
int command_help(struct command_context *c, int argc, char **argv);

/* The verb that a word is likely a misspelling of, or NULL. */
const char *help_nearest(const char *word);

int command_probe(struct command_context *c, int argc, char **argv);
int command_version(struct command_context *c, int argc, char **argv);

/* For completion scripts (config/completion.h), not for people: completes the last of the words
   that follow `terse`. */
int command_complete(struct command_context *c, int argc, char **argv);

// Starting a command, for terse run and for terse-sh.

/* Whether terse is switched off, or the command is supervised already. A flag that asks for a
   report (--format) or for a background run (--yield, --detach) is obeyed everywhere, --tty where
   no person sees the run around this one. */
bool run_is_bypassed(struct settings *s);

/* Reports why a command can't be executed, and returns the exit status of a shell for that. */
int run_tell_exec_error(const struct job *job, int error);

/* Runs job->argv (and program and shown are filled in, too) with the settings of the agent around
   and of the profile of `words`, or of the shell string `string` if that is not NULL. Ends this
   process with the command's status; returns only when it could not be executed, with the exit
   status for that. */
int run_supervised(struct job *job, struct settings *s, char *const *words, const char *string);

#endif
