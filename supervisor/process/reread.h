// The text of a run that was asked for in full and is too long for memory: read back from its
// artifact while the report of the run is written.
#ifndef TERSE_PROCESS_REREAD_H
#define TERSE_PROCESS_REREAD_H

#include "supervisor/artifact/text.h"
#include "supervisor/base/buffer.h"
#include "supervisor/report/report.h"

#include <stdbool.h>
#include <stdint.h>

struct reread {
	struct text text;
	bool is_open;
	struct report *report;
	int which;           /* of the report's streams */
	uint64_t from;       /* first line of the range that is being read */
	bool skips;          /* the rest of a line that a gap began in */
	bool in_line;        /* what was handed out does not end with a newline */
	struct buffer chunk; /* bytes read; between calls those that may be half a character */
};

/* Makes the artifact's text what the stream hands out; its total_lines are known. The artifact is
   up to date and stays open; both structs stay where they are. Returns 0, or -1 with errno. */
int reread_start(struct reread *r, const struct artifact *a, struct report *report, int which);

void reread_release(struct reread *r);

#endif
