// The session that the caller belongs to.
#ifndef TERSE_AGENTS_SESSION_H
#define TERSE_AGENTS_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

struct settings;

/* Room for a session name that is made from a process. */
enum { SESSION_ROOM = 96 };

/* Returns the first of these: the setting (--session, TERSE_SESSION); the conversation that the
   agent's environment names (supervisor/agents/rule.h); the agent's process, searched from the
   process `from` upwards, as a name that is made in `room` ("agent-pi-4711-88123.4026531836": name,
   process ID, start time and PID namespace); "default". store_session_name() makes a directory's
   name from the result, which lives as long as the settings, the environment and the room. */
const char *session_name(const struct settings *settings, pid_t from, char room[SESSION_ROOM]);

/* Makes the name of a session that ends with this process: "agent-", `what`, and the process as in
   session_name(). Returns `room`. */
const char *session_of_process(const char *what, char room[SESSION_ROOM]);

/* Whether the session is named after a process that is gone, so that nobody can continue the
   session. False for a process in another PID namespace (a container, a sandbox). */
bool session_is_over(const char *name);

#endif
