// Which session the caller belongs to.
#ifndef TERSE_AGENTS_SESSION_H
#define TERSE_AGENTS_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

struct settings;

/* Enough for the name of one that is named after a process. */
enum { SESSION_ROOM = 96 };

/* The setting (--session, TERSE_SESSION), else the conversation that the environment of the agent
   names (supervisor/agents/rule.h), else the agent's process, which is looked for from `from` on
   upwards and written into `room` ("agent-pi-4711-88123.4026531836": its name, process ID, start
   time and namespace of process IDs), else "default". Not yet a directory name: see
   store_session_name(). Lives as long as the settings, the environment and the room. */
const char *session_name(const struct settings *settings, pid_t from, char room[SESSION_ROOM]);

/* The same, and that process is gone: nobody can go on with the session. Of a process in another
   namespace (a container's, a sandbox's) nothing is known. */
bool session_is_over(const char *name);

#endif
