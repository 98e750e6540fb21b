// A timed trace of decisions, to find out why a run did what it did:
//
//   TERSE_DEBUG=FILE    an absolute path, such as /dev/fd/3
//
// Front end, supervisor and watchdog append to one file, a line for each decision: seconds since
// the start, process ID, area, text.
//
// Without the variable, a TRACE() costs one test of a flag. No TRACE() is on a path that runs for
// each byte or line. The command's text and its arguments are not traced, so secrets stay secret.
// Control bytes are escaped. The trace never makes terse wait or fail.
#ifndef TERSE_LIB_TRACE_H
#define TERSE_LIB_TRACE_H

#include <stdbool.h>

#define TRACE_VARIABLE "TERSE_DEBUG"

enum trace_area {
	TRACE_PROCESS,
	TRACE_SIGNALS,
	TRACE_SINK,
	TRACE_TERMINAL,
	TRACE_PREVIEW,
	TRACE_CONFIG,
	TRACE_AREAS
};

/* The file's descriptor; -1: nothing is traced. A process that closes all other descriptors keeps
   it open. */
extern int trace_fd;

/* TRACE(SIGNALS, "sent %s to group %d", ...): one line, like printf, without a newline. */
#define TRACE(area, ...)                                        \
	do {                                                    \
		if (trace_fd >= 0)                              \
			trace_print(TRACE_##area, __VA_ARGS__); \
	} while (0)

/* Begins to trace to `file`, which TERSE_DEBUG named ("": does nothing). `what`: the first line.
   Returns 0, or -1 with errno: EINVAL for a path that is not absolute, else why the file can't be
   written. After a failure nothing is traced. */
int trace_open(const char *file, const char *what);

/* For TRACE() alone. Keeps errno. */
void trace_print(enum trace_area area, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Ends the trace. */
void trace_close(void);

#endif
