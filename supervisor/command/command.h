// The verbs of the program, one file each.
//
// A verb gets its own arguments (argv[0] is the verb's name), prints what it
// has to say itself, and returns the exit status: 0, 1 (nothing found, or it
// could not be read), or EXIT_TERSE for bad usage and terse's own failures.
#ifndef TERSE_COMMAND_COMMAND_H
#define TERSE_COMMAND_COMMAND_H

/* Exit status of terse's own errors, as env(1) and timeout(1) use it. */
#define EXIT_TERSE 125

struct settings;

struct command_context {
	struct settings *settings; /* files and variables are loaded; flags not yet */
};

/* terse-sh, with argv as it was started. */
int command_shell(char **argv);

int command_run(struct command_context *c, int argc, char **argv);
int command_filter(struct command_context *c, int argc, char **argv);
int command_read(struct command_context *c, int argc, char **argv);
int command_search(struct command_context *c, int argc, char **argv);
int command_list(struct command_context *c, int argc, char **argv);
int command_show(struct command_context *c, int argc, char **argv);
int command_history(struct command_context *c, int argc, char **argv);
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
int command_agent(struct command_context *c, int argc, char **argv);
int command_init(struct command_context *c, int argc, char **argv);
int command_hook(struct command_context *c, int argc, char **argv);
int command_doctor(struct command_context *c, int argc, char **argv);
int command_help(struct command_context *c, int argc, char **argv);

/* The verb that a word is likely a misspelling of, or NULL. */
const char *help_nearest(const char *word);

int command_version(struct command_context *c, int argc, char **argv);

#endif
