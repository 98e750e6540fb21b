// The memory of a session (artifact/memory.h) from where a run's text does not fit, or its report
// begins, to the end of the report: what the reader was shown before, and what it is shown now.
// Only sessions of one conversation have it: in "default" nobody knows who has read what.
#ifndef TERSE_PROCESS_REMEMBERING_H
#define TERSE_PROCESS_REMEMBERING_H

#include "lib/recall.h"
#include "supervisor/artifact/memory.h"
#include "supervisor/process/record.h"

#include <stdbool.h>
#include <stddef.h>

struct remembering {
	bool is_open; /* else nothing is remembered, and `recall` is of no use */
	struct recall recall;
	struct memory memory;
	const struct record *record;
	signed char *readable; /* of each run: 1, 0, or -1: not looked at */
	struct memory_line *shown;
	size_t count, cap;
};

/* Whether the session of a run has a memory. */
bool remembering_is_possible(const struct record *record);

/* Reads the memory, if there is one. The struct stays where it is. */
void remembering_begin(struct remembering *r, const struct record *record);

/* Writes down what was shown, as far as it can be read, and frees. Nothing where it was not
   begun. */
void remembering_end(struct remembering *r);

/* Frees: nothing was shown after all. */
void remembering_drop(struct remembering *r);

#endif
