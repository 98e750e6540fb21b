// Finding a live run by its name.
#ifndef TERSE_COMMAND_LIVE_RUN_H
#define TERSE_COMMAND_LIVE_RUN_H

#include "lib/buffer.h"
#include "supervisor/process/control_client.h"

struct command_context;
struct settings;

/* What `terse send` has typed before it awaits. */
struct typed {
	uint64_t from;      /* the bytes of the text before */
	struct buffer text; /* as it was typed */
};

/* Connects to the run that `name` means by the rules of verb_find(), or by the beginning of its ID
   if it has no artifact yet. Returns 0; 1 if it has ended (v->fd is -1, `id` is filled in); 2 if it
   has ended without an artifact, after saying how; or -1 after saying why not. */
int live_run_find(const struct settings *settings, const char *session, const char *verb,
		  const char *name, struct client *v, char id[ID_LEN + 1]);

/* The same for verbs that need a live run: returns 0, or -1 after saying why not. */
int live_run_open(const struct settings *settings, const char *session, const char *verb,
		  const char *name, struct client *v, char id[ID_LEN + 1]);

/* Whether the run belongs to the session (NULL: the caller's). */
bool live_run_is_own(const struct settings *settings, const char *session, const char *id);

/* Makes a run that has no artifact yet write one, so that its text can be read. Returns 0, or -1 if
   no such run answers. */
int live_run_text(const struct settings *settings, const char *session, const struct store *stores,
		  int count, const char *name);

/* command_await() after something was typed (NULL: nothing): for --for only text counts that
   follows its echo. */
int await_typed(struct command_context *c, int argc, char **argv, const struct typed *typed);

/* Reports that a request failed with `error`. */
void live_run_failed(const struct settings *settings, const char *verb, const char *id, int error);

#endif
