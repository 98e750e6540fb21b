// Runs as `terse list` and `terse history` show them, as rows of a table or as JSON:
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
#include "supervisor/artifact/artifact.h"
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

/* The colour for how a run ended, or that it lives; NULL: nothing is known of it. */
enum paint runs_paint(const struct meta *m);

/* Whether the sizes in the metadata are those of what the command wrote. */
bool runs_is_counted(const struct meta *m);

/* Counts the lines of a text whose metadata lack them, since its run has not ended. */
void runs_count_lines(int dir, const char *id, enum artifact_part part, struct meta_stream *s);

/* Appends the members above, with at most `budget` bytes of the command. */
void runs_append_json(struct buffer *out, const struct meta *m, size_t budget);

#endif
