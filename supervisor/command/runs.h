// Runs as `terse list` and `terse history` show them: which of them, as rows of a table, or as
// JSON:
//
//   {"id":"cmd-...","session":"default","command":["npm","test"],"cwd":"/work","state":"done",
//    "exit_code":1,"signal":null,"success":false,"timed_out":false,"binary":false,
//    "started":"2026-11-20T09:03:34.123Z","ended":"...","duration_ms":12345,
//    "lines":8432,"bytes":484352}
//
// and "gaps" if a part of its text was not kept, "stdout_file" and "stderr_file" if the command
// wrote to files itself. "id", "lines" and "bytes" are null where no artifact was made, the last
// two also where all that was written is in such files, "ended" and "duration_ms" while it runs;
// "command_cut" is there if the command was cut.
#ifndef TERSE_COMMAND_RUNS_H
#define TERSE_COMMAND_RUNS_H

#include "lib/buffer.h"
#include "lib/gap.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/command/person.h"
#include "supervisor/command/verb.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Append to a row: the command as one line of words; `text` on one line, clean, cut to `width`
   columns; a line below for each gap, and for each file that the command wrote to itself. */
void row_add_command(struct buffer *out, const struct meta *m);
void row_add_cell(struct buffer *out, const char *text, size_t len, size_t width);
void row_add_gaps(struct buffer *out, int indent, struct gaps gaps);
void row_add_files(struct buffer *out, int indent, const struct meta *m);

/* Describes how a run ended, or that it lives: "exit 0". */
void runs_describe_state(const struct meta *m, char out[24]);

/* The colour for that; NULL: nothing is known of it. */
enum paint runs_paint(const struct meta *m);

/* Whether the sizes in the metadata are those of what the command wrote. */
bool runs_is_counted(const struct meta *m);

/* Appends the members above, with at most `budget` bytes of the command. */
void runs_append_json(struct buffer *out, const struct meta *m, size_t budget);

/* The columns for rows on standard output: those of the terminal, or 120 if it is none. */
size_t row_window_width(void);

/* The artifacts of the caller's session, or `all`, the newest first, `limit` at most: printed, or
   given to `each`, which returns 0, or -1 with errno; `m` NULL: the metadata can't be read, for the
   reason `error`. *more: there are others. Returns the exit status. */
int list_answer(struct verb_call *c, bool all, uint64_t limit,
		int (*each)(void *ctx, const char *id, const struct meta *m, int error), void *ctx,
		bool *more);

/* The options of `terse list` and `terse history`. */
struct runs_options {
	bool all;
	const char *command, *exit;
	int state; /* enum meta_state; -1: any */
	struct verb_when since, until;
	uint64_t limit; /* 0: not given */

	bool live; /* only of list: what runs now (live_list.c) */
	bool remote, failed;
	const char *host;
};

/* Whether the command has `text` in it (NULL: any has). -1: no memory to tell. */
int runs_has_command(const struct meta *m, const char *text);

/* Append the end of a list: the members behind its array, and the line that says that there are
   more than its limit. */
void runs_end_json(struct buffer *out, const struct verb_call *c, const struct runs_options *o,
		   uint64_t shown, bool more);
void runs_add_notice(struct buffer *out, const struct verb_call *c, const struct runs_options *o);

/* terse list --remote. */
int remote_list(struct verb_call *c, const struct runs_options *o);

/* terse list --live: prints a row for each live run. Returns the exit status. */
int live_list(const struct verb_call *c);

#endif
