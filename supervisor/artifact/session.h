// Which session the caller belongs to.
#ifndef TERSE_ARTIFACT_SESSION_H
#define TERSE_ARTIFACT_SESSION_H

struct settings;

/* The setting, else TERSE_SESSION, else what agents set for their commands, else "default".
   Not yet a directory name: see store_session_name(). Lives as long as the settings and
   the environment. */
const char *session_name(const struct settings *settings);

#endif
