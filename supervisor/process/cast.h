// What a command wrote and when, as an asciicast (version 2), which terse replay and
// asciinema play.
//
// Format: https://docs.asciinema.org/manual/asciicast/v2/: a line with a header object,
// then a line for each event: [seconds, "o", text] or [seconds, "r", "80x24"]. A LF that
// the terminal took for a new line (no output processing) is a CR LF in it.
#ifndef TERSE_PROCESS_CAST_H
#define TERSE_PROCESS_CAST_H

#include "supervisor/artifact/artifact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cast {
	struct artifact *artifact; /* where it goes: ARTIFACT_CAST; not owned; NULL: nowhere */
	bool newlines;             /* LF is a new line */
	char last;                 /* the last byte */
	char partial[4];           /* the beginning of a character */
	size_t partial_len;
};

/* Begins with the header, which tells the command of the metadata. */
void cast_start(struct cast *c, struct artifact *artifact, const struct meta *m, bool newlines);

/* `ms`: since the start of the run. */
void cast_output(struct cast *c, int64_t ms, const char *data, size_t len);
void cast_resize(struct cast *c, int64_t ms, unsigned cols, unsigned rows);

#endif
