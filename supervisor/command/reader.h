// Who reads what a verb prints, and how much of it: an agent gets a page, then a line that tells
// what is missing; a program (`terse read ID | sort`) everything, and nothing else; a file may be
// one an agent reads, or one that only looks complete.
#ifndef TERSE_COMMAND_READER_H
#define TERSE_COMMAND_READER_H

#include "supervisor/process/sink.h"

#include <stddef.h>

struct buffer;

/* Bytes of a page, notices included: Claude Code shows an agent 30,000 characters and cuts what is
   longer. */
#define READER_PAGE ((size_t)30000)

/* A person asked for what is printed, and can scroll. */
#define READER_PAGE_PERSON ((size_t)256 * 1024)

/* Who reads standard output; never SINK_PIPE. */
enum sink reader_find(void);

/* Prints lines about what is not shown: on standard output, in a warning colour at a terminal;
   for a program on standard error, for a file on both. Returns 0, or -1 with errno. */
int reader_notice(enum sink sink, const struct buffer *text);

#endif
