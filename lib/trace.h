// A timed trace of decisions, to find out why a run did what it did:
//
//   TERSE_DEBUG=AREA[,AREA...]:FILE    process, signals, sink, terminal, preview, config, or all
//
// Front end, supervisor and watchdog append to one file, a line for each decision: seconds since
// the start, process ID, area, text. FILE may be /dev/fd/N.
//
// When it is off, a TRACE() costs one test of a variable, and none is on a path that runs for each
// byte or line. Texts of the command and its arguments are not traced: what is secret stays so.
// Control bytes are escaped. Nothing waits for the file and nothing fails for it.
#ifndef TERSE_LIB_TRACE_H
#define TERSE_LIB_TRACE_H

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

/* The areas that are traced, as 1 << enum trace_area. */
extern unsigned trace_mask;

/* TRACE(SIGNALS, "sent %s to group %d", ...): one line, like printf, without a newline. */
#define TRACE(area, ...)                                        \
	do {                                                    \
		if (trace_mask & (1u << TRACE_##area))          \
			trace_print(TRACE_##area, __VA_ARGS__); \
	} while (0)

/* Begins what `spec` asks for, the value of TERSE_DEBUG (NULL or "": nothing). `what`: the first
   line. Returns 0, or -1 with errno: EINVAL for an area that is not known or no file, else why the
   file can't be written. Nothing is traced then. */
int trace_open(const char *spec, const char *what);

/* For TRACE() alone. Keeps errno. */
void trace_print(enum trace_area area, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The descriptor, for a process that closes all others; -1: nothing is traced. */
int trace_fd(void);

/* The name of the file, "": nothing is traced. */
const char *trace_file(void);

/* Ends the trace. */
void trace_close(void);

#endif
