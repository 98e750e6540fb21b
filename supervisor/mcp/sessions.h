// The shell sessions of a server: each a name, a directory and exported variables, which its
// commands share one after the other. The session "default" is always there.
#ifndef TERSE_MCP_SESSIONS_H
#define TERSE_MCP_SESSIONS_H

#include "supervisor/mcp/shell_state.h"

#include <stdint.h>

struct buffer;

#define SESSIONS_DEFAULT  "default"
#define SESSIONS_MAX      64
#define SESSIONS_NAME_MAX 64

struct session {
	char name[SESSIONS_NAME_MAX + 1];
	uint64_t number; /* tells a session from a later one of its name */
	struct shell_state state;
	int64_t begun_ms;  /* monotonic */
	uint64_t commands; /* that it has run */
};

struct sessions {
	struct session *items; /* in the order of their beginning */
	size_t count, room;
	uint64_t begun; /* the number of the next one */
};

/* Makes the default session. Returns 0, or -1 with errno. */
int sessions_init(struct sessions *s, const char *directory, char *const *env);
void sessions_release(struct sessions *s);

/* NULL: there is none of that name (NULL: the default one). Valid until one begins or ends. */
struct session *sessions_find(const struct sessions *s, const char *name);

/* The session with that number, or NULL. */
struct session *sessions_by_number(const struct sessions *s, uint64_t number);

/* Begins one as a copy of the default session's beginning state, in `directory` (NULL: that of the
   default one). `name` NULL: "session-N". Returns NULL with errno: EEXIST, EINVAL (letters, digits,
   '.', '_', '-' only), ENFILE (too many), ENOMEM. */
struct session *sessions_begin(struct sessions *s, const char *name, const char *directory,
			       char *const *env);

/* Ends one. The default one begins anew. Returns 0, or -1 with errno ENOENT or ENOMEM. */
int sessions_end(struct sessions *s, const char *name, const char *directory, char *const *env);

/* A line for each. */
void sessions_list(const struct sessions *s, struct buffer *out, int64_t now_ms);

/* The same as JSON, the member `sessions`. */
void sessions_list_json(const struct sessions *s, struct buffer *out, int64_t now_ms);

#endif
