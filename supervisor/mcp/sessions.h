// The shell sessions of a server: each a name, a directory and exported variables, which its
// commands share one after the other. The session "default" is always there.
#ifndef TERSE_MCP_SESSIONS_H
#define TERSE_MCP_SESSIONS_H

#include "lib/buffer.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arguments;
struct server;

// The state of a shell, "NAME=VALUE\0...": its exported variables, of which PWD is its directory.
// The buffer remembers a lack of memory.
//
// A session has one. A command's shell starts with it, and when it ends, a child of it (`terse mcp
// --leave`) writes down what it inherits: nothing is parsed, so `cd`, `export`, `unset` and
// `source` all count. Only what changed during the command is taken over, so that commands that run
// at the same time do not undo each other's changes.

/* Bytes of a state that is taken over; of a larger one nothing is. */
#define SHELL_STATE_MAX ((size_t)4 * 1024 * 1024)

/* Makes one of an environment, without what belongs to this process alone. */
void shell_state_init(struct buffer *s, const char *directory, char *const *env);

/* Sets NAME=VALUE, as printf. */
void shell_state_set(struct buffer *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The directory, absolute; "" where there is none. */
const char *shell_state_directory(const struct buffer *s);

/* Changes it, as this state's shell takes it: relative to its own, "~" is its HOME. */
void shell_state_enter(struct buffer *s, const char *directory);

/* Takes over what a command that began with `before` has left, another state. Returns 0, or -1 with
   errno and all as it was: EPROTO, it is none; ENOMEM. */
int shell_state_take(struct buffer *s, const struct buffer *before, const char *left, size_t len);

/* The strings of a buffer, each with its NUL, as argv and environ have them. NULL without memory;
   to be freed. */
char **shell_strings(const struct buffer *s);

/* This process's directory as its shell named it (PWD), through links too, where that is still it.
   Returns whether it has one. */
bool shell_find_directory(char out[PATH_MAX]);

// The file in memory that a shell leaves its state in.

/* Room for the mark that tells one such file from all other descriptors of the server. */
enum { SHELL_MARK_MAX = 40 };

struct shell_leave {
	int fd; /* -1: none */
	char mark[SHELL_MARK_MAX];
};

/* Opens one, {.fd = -1} before, and returns the shell command that writes to it: `program` is this
   program's path. NULL: there is none; to be freed. */
char *shell_leave_open(struct shell_leave *l, const char *program);

/* Appends what was left. Returns 0, or -1 with errno, ENODATA: nothing, since the shell was killed
   or replaced by exec. */
int shell_leave_read(const struct shell_leave *l, struct buffer *left);

/* terse mcp --leave FILE MARK: writes this process's directory and environment to a file that
   begins with the mark. Returns the exit status. */
int shell_leave_main(const char *file, const char *mark, char *const *env);

// The sessions.

#define SESSIONS_DEFAULT  "default"
#define SESSIONS_MAX      64
#define SESSIONS_NAME_MAX 64

struct session {
	char name[SESSIONS_NAME_MAX + 1];
	uint64_t number; /* tells a session from a later one of its name */
	struct buffer state;
	int64_t begun_ms;  /* monotonic */
	uint64_t commands; /* that it has run */
};

struct sessions {
	struct session
		items[SESSIONS_MAX]; /* in the order of their beginning; each owns its state */
	size_t count;
	uint64_t begun; /* the number of the next one */
};

/* NULL: there is none of that name (NULL: the default one). Valid until one begins or ends. */
struct session *sessions_find(struct sessions *s, const char *name);

/* Begins one with this state. `name` NULL: "session-N". Returns NULL with errno: EEXIST, EINVAL
   (letters, digits, '.', '_', '-' only), ENFILE (too many), ENOMEM. */
struct session *sessions_begin(struct sessions *s, const char *name, const struct buffer *state);

/* Ends one. The default one begins anew, with this state. Returns 0, or -1 with errno ENOENT or
   ENOMEM. */
int sessions_end(struct sessions *s, const char *name, const struct buffer *state);

/* The tools new_session, end_session and list_sessions, as their rows have them (tools.h). */
int sessions_serve_new(struct server *s, const struct arguments *a, struct buffer *text);
int sessions_serve_end(struct server *s, const struct arguments *a, struct buffer *text);
int sessions_serve_list(struct server *s, const struct arguments *a, struct buffer *text);

#endif
