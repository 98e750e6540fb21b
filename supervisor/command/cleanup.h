// Shared by the verbs that remove artifacts: lists what was removed.
#ifndef TERSE_COMMAND_CLEANUP_H
#define TERSE_COMMAND_CLEANUP_H

#include "lib/buffer.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/command/progress.h"

struct verb_call;
struct settings;

/* The most lines about single artifacts, since an agent has to read them all. */
#define CLEANUP_LINES 30

struct cleanup {
	struct buffer out;
	uint64_t listed; /* artifacts, with or without a line */
	bool dry;
	int64_t now_ms;
	struct progress progress; /* to be ended before something else is printed */
};

/* A gc whose removals are listed in *c. */
struct gc cleanup_begin(struct cleanup *c, const struct settings *settings,
			const struct store *store, bool dry);

/* Adds the result of one store. */
void cleanup_add(struct gc_result *sum, const struct gc_result *one);

/* Prints the lines and the sum on standard output. Returns the exit status. */
int cleanup_end(struct cleanup *c, const struct verb_call *call, const struct gc_result *sum);

#endif
