// Finding the live run that a verb is about.
#ifndef TERSE_COMMAND_LIVE_RUN_H
#define TERSE_COMMAND_LIVE_RUN_H

#include "supervisor/process/control_client.h"

struct settings;

/* Connects to the run that `name` means: as verb_find() has it, or the beginning of the ID of a run
   that has no artifact yet. Returns 0; 1: it has ended (nothing is said, v->fd is -1, `id` is
   filled in); or -1 after saying on stderr why not. */
int live_run_find(const struct settings *settings, const char *session, const char *verb,
		  const char *name, struct client *v, char id[ID_LEN + 1]);

/* The same where an ended run is of no use: -1 is the only other result. */
int live_run_open(const struct settings *settings, const char *session, const char *verb,
		  const char *name, struct client *v, char id[ID_LEN + 1]);

/* Lets a run that has no artifact yet make one of its text so far, for somebody who reads it.
   Returns 0, or -1 if no such run answers. */
int live_run_text(const struct store *stores, int count, const char *name);

/* Says that a request failed with `error`. */
void live_run_failed(const char *verb, const char *id, int error);

#endif
