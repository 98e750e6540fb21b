// What runs have shown and what was read back of them, for `terse stats` and `terse report`: the
// history of a session and SESSION/reads, read from their beginnings without a tree of JSON, since
// they may have hundreds of thousands of lines.
//
// SESSION/reads has one line for each time that the text of one of the session's artifacts was read
// or searched for somebody who is no person:
//
//   {"id":"cmd-...","started_ms":...,"bytes":4012,"tokens":1204,"inside":true}
//
// `inside`: within a run, whose own line says what the agent was shown of it.
#ifndef TERSE_ARTIFACT_USAGE_H
#define TERSE_ARTIFACT_USAGE_H

#include "lib/members.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USAGE_READS "reads"

struct usage_read {
	char id[ID_LEN + 1];
	int64_t at_ms;
	uint64_t bytes, tokens; /* printed */
	bool inside;
};

struct usage_run {
	uint64_t id; /* packed; 0: no artifact */
	int64_t started_ms, ended_ms, duration_ms;
	bool failed; /* it did not end well */
	struct meta_shown shown;
	struct member_value line; /* all of it, for meta_parse() */
	/* As they are in JSON, valid until the callback returns; len 0: not there. */
	struct member_value command, cwd, agent, profile;
};

struct usage_events {
	void (*run)(void *ctx, const struct usage_run *run);
	void (*read)(void *ctx, const struct usage_read *read);
	void *ctx;
};

/* Reports what the session has, runs in the order of their ends, then reads. Adds lines that
   are damaged to *damaged. Returns 0, or -1 with errno. */
int usage_scan(const struct store *s, const char *session, const struct usage_events *events,
	       uint64_t *damaged);

/* Takes down that an artifact in the session directory `dir` was read. Returns 0, or -1 with
   errno. */
int usage_append_read(int dir, const struct usage_read *read);

/* The fields of one line of the history. Returns false if it is damaged. */
bool usage_parse_run(const char *line, size_t len, struct usage_run *run);

#endif
