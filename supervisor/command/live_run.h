// A live run as the verbs reach it: finding it by its name, and waiting for it.
#ifndef TERSE_COMMAND_LIVE_RUN_H
#define TERSE_COMMAND_LIVE_RUN_H

#include "lib/buffer.h"
#include "supervisor/process/protocol.h"

struct verb_call;

/* What `terse send` has typed before it awaits. */
struct typed {
	uint64_t from;      /* the bytes of the text before */
	struct buffer text; /* as it was typed */
};

/* Connects *run to the run that `name` means by the rules of verb_find(), or by its whole
   ID if it has no artifact yet. Returns 0; 1 if it has ended (*run is -1, `id` is filled in); 2
   if it has ended without an artifact, after saying how; or -1 after saying why not. `needed`: it
   has to live, so 0 or -1. */
int live_run_find(const struct verb_call *c, const char *name, int *run, char id[ID_LEN + 1],
		  bool needed);

/* Whether the run belongs to the call's session. */
bool live_run_is_own(const struct verb_call *c, const char *id);

/* Makes a run that has no artifact yet write one, so that its text can be read. Returns 0, or -1 if
   no such run answers. */
int live_run_text(const struct verb_call *c, const struct store *stores, int count,
		  const char *name);

/* What is waited for. */
struct await {
	const char *name;          /* the run */
	const char *pattern;       /* or NULL */
	const struct typed *typed; /* only text counts that follows its echo; or NULL */
	bool answers;              /* what was typed by the same command */
	uint64_t from;             /* the line to look for the pattern from; 1: all */
	int64_t timeout, idle;     /* ms; 0: none */
};

/* Waits, and prints what is new. Returns the exit status. */
int await_answer(const struct verb_call *c, const struct await *a);

/* Reports that a request failed with `error`. */
void live_run_failed(const struct verb_call *c, const char *id, int error);

#endif
