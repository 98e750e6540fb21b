// How far long work is, for a person who waits: one line on standard error, which goes again. Only
// at a terminal, and only after a second.
#ifndef TERSE_COMMAND_PROGRESS_H
#define TERSE_COMMAND_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on;    /* standard error is a terminal */
	bool shows; /* the line is there now */
	int64_t began_ms, shown_ms;
};

void progress_begin(struct progress *p);

/* Shows it, if it is time to. May be called often. */
void progress_tell(struct progress *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Takes it away: before anything else is printed, and at the end. */
void progress_end(struct progress *p);

#endif
