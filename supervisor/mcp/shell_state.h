// What a shell leaves to the next command: its directory and its exported variables.
//
// A session of the server has both. A command's shell starts with them, and when it ends, a child
// of it (`terse mcp --leave`) writes down what it inherits: nothing is parsed, so `cd`, `export`,
// `unset` and `source` all count. Only what changed during the command is taken over, so that
// commands that run at the same time do not undo each other's changes.
#ifndef TERSE_MCP_SHELL_STATE_H
#define TERSE_MCP_SHELL_STATE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer;

/* Bytes of an environment that are taken over; of a larger one nothing is. */
#define SHELL_STATE_MAX ((size_t)4 * 1024 * 1024)

struct shell_state {
	char *directory;
	char **env; /* NAME=VALUE, NULL-terminated; each its own memory */
	size_t count, room;
};

/* This process's directory as its shell named it (PWD), through links too, where that is still it.
   Returns whether it has one. */
bool shell_find_directory(char out[PATH_MAX]);

/* Copies an environment without what belongs to this process alone. Returns 0, or -1 with ENOMEM
   and nothing to release. */
int shell_state_init(struct shell_state *s, const char *directory, char *const *env);
void shell_state_release(struct shell_state *s);

/* Sets NAME=VALUE. Returns 0, or -1 with ENOMEM. */
int shell_state_set(struct shell_state *s, const char *entry);

/* Changes the directory, and PWD with it. Returns 0, or -1 with ENOMEM. */
int shell_state_enter(struct shell_state *s, const char *directory);

/* Appends a directory as this state's shell takes it: relative to its own, "~" is its HOME. */
void shell_state_resolve(const struct shell_state *s, const char *directory, struct buffer *out);

/* Takes over what a command that began with `before` has left: "DIRECTORY\0NAME=VALUE\0...".
   Returns 0, or -1 with errno: EPROTO, it is not of this form; ENOMEM, a part may be taken over. */
int shell_state_take(struct shell_state *s, const struct shell_state *before, const char *left,
		     size_t len);

// The file in memory that a shell leaves its state in.

/* Room for the mark that tells one such file from all other descriptors of the server. */
enum { SHELL_MARK_MAX = 40 };

struct shell_leave {
	int fd; /* -1: none */
	char mark[SHELL_MARK_MAX];
};

/* Returns 0, or -1 with errno. */
int shell_leave_open(struct shell_leave *l);

/* The shell command that writes to it: `program` is this program's path. NULL: no memory; to be
   freed. */
char *shell_leave_command(const struct shell_leave *l, const char *program);

/* Reads what was left: 0, to be freed; or -1 with errno, ENODATA: nothing, since the shell was
   killed or replaced by exec. */
int shell_leave_read(const struct shell_leave *l, char **left, size_t *len);

void shell_leave_close(struct shell_leave *l);

/* terse mcp --leave FILE MARK: writes this process's directory and environment to a file that
   begins with the mark. Returns the exit status. */
int shell_leave_main(const char *file, const char *mark, char *const *env);

#endif
