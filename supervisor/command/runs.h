// Runs as `terse list` and `terse history` show them: which of them, as rows of a table, or as
// JSON:
//
//   {"id":"cmd-...","session":"default","command":["npm","test"],"cwd":"/work","state":"done",
//    "exit_code":1,"signal":null,"success":false,"timed_out":false,"binary":false,
//    "started":"2026-11-20T09:03:34.123Z","ended":"...","duration_ms":12345,
//    "lines":8432,"bytes":484352}
//
// and "gaps" if a part of its text was not kept.
// "id", "lines" and "bytes" are null where no artifact was made, "ended" and "duration_ms" while it
// runs; "command_cut" is there if the command was cut.
#ifndef TERSE_COMMAND_RUNS_H
#define TERSE_COMMAND_RUNS_H

#include "lib/buffer.h"
#include "lib/gap.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/sink.h"

#include <stdbool.h>
#include <stdint.h>

struct settings;

/* Append to a row: the command as one line of words; `text` on one line, clean, cut to `width`
   columns; a line below for each gap. */
void row_add_command(struct buffer *out, const struct meta *m);
void row_add_cell(struct buffer *out, const char *text, size_t len, size_t width);
void row_add_gaps(struct buffer *out, int indent, struct gaps gaps);

struct runs {
	struct verb verb;
	const struct settings *settings;
	bool history;     /* all runs, else those with artifacts */
	bool live, watch; /* only of list: what runs now (verb_list.c) */
	enum sink sink;

	/* The options as given. */
	bool all;
	const char *session, *command, *state, *exit, *since, *until;
	uint64_t limit; /* 0: not given */

	/* Their meaning. */
	char directory[STORE_SESSION_LEN + 1]; /* of the session */
	int want_state;                        /* enum meta_state, -1: any */
	int want_exit;                         /* -1: any */
	bool want_failed;
	int64_t from_ms, to_ms; /* limits of the start */

	size_t width; /* columns */
	uint64_t rows;
	struct buffer out;
};

/* Parses the arguments. Returns 0, or the exit status after saying what is wrong. */
int runs_parse(struct runs *r, const struct settings *settings, int argc, char **argv);

/* Whether the options select runs. Then a run whose metadata can't be read is left out. */
bool runs_is_choosy(const struct runs *r);
bool runs_match(const struct runs *r, const struct meta *m);

/* Whether the limit is reached. */
bool runs_is_full(const struct runs *r);

/* Adds a run; writes the collected output now and then. `m` NULL: its metadata can't be read, with
   errno. Returns 0, or -1 with errno. */
int runs_add(struct runs *r, const char *id, const char *session, const struct meta *m);

/* Writes the rest and, if there are `more` runs, the command that lists them. Returns 0, or -1 with
   errno. */
int runs_finish(struct runs *r, bool more);

void runs_release(struct runs *r);

/* Appends the members above, with at most `budget` bytes of the command. */
void runs_append_json(struct buffer *out, const struct meta *m, size_t budget);

#endif
