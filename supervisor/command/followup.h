// What a verb prints of an artifact for somebody who is no person, taken down for terse stats
// (artifact/journal.h): a preview that is followed up has cost more than it shows.
#ifndef TERSE_COMMAND_FOLLOWUP_H
#define TERSE_COMMAND_FOLLOWUP_H

#include "lib/tokens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed but for `is_counted`. */
struct followup {
	/* An agent may read it: no program, or JSON. What a program or a file gets is a follow-up
	   of no bytes: nobody knows how much of it an agent sees. */
	bool is_counted;
	uint64_t bytes;
	struct tokens tokens;
};

/* These bytes were printed. */
void followup_add(struct followup *f, const char *data, size_t len);

/* All is printed, of the artifact `id` in the session directory `dir`. Does nothing if `id` is "":
   a file that is no artifact. */
void followup_keep(const struct followup *f, int dir, const char *id);

#endif
