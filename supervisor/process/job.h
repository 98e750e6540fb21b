// One run as the front end and the supervisor both know it.
#ifndef TERSE_PROCESS_JOB_H
#define TERSE_PROCESS_JOB_H

#include "config/settings.h"
#include "supervisor/process/sink.h"
#include "supervisor/process/spawn.h"

#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

struct secrets;

struct job {
	const char *program; /* what is executed; NULL: argv[0] */
	char **argv;
	const char *service;     /* its name, or NULL */
	const char *description; /* of who asked for it, or NULL */
	int64_t cached_ms;       /* a run so old may answer; 0: none */
	uint64_t environment;    /* a hash of its environment, then */
	char **shown;            /* what the user typed, for the metadata */
	const struct settings *settings;
	struct secrets *secrets; /* to be replaced in all output (redact/redactor.h), or NULL */
	struct channels channels;
	struct signals signals; /* as the caller had them */
	pid_t front, parent;    /* the front end's process ID, and its parent's */
	/* A connected socket on which the caller is a client of the run (protocol.h); 0: none. */
	int caller;
	bool leashed;       /* the run ends when the caller closes it */
	bool leads;         /* the command leads its process group */
	bool deliberate;    /* whoever started the run wants it to go on without him */
	int64_t started_ms; /* real time */
	int64_t begun_ms;   /* the same moment, monotonic */
	unsigned cols, rows;
	struct termios modes, raw; /* of the person's terminal, if there is a keyboard */
};

// The process that was typed: it starts supervisor and watchdog, waits, passes signals on, reads
// the person's keyboard, and ends as the command did.

/* Runs the job and ends this process with the command's status. Returns only when the command could
   not be executed: its errno, which the caller reports. */
int frontend_run(struct job *job);

// The process that owns the pty: it starts the command, reads what it writes,
// renders, spills and prints, answers queries, passes signals on, ends everything when
// the front end dies, and outlives it while background processes still write.

/* Runs in the supervisor's process, which it ends. `front` is its end of the socket pair
   (protocol.h), `watchdog` the write end of the watchdog's pipe or -1. */
_Noreturn void supervisor_run(const struct job *job, int front, int watchdog);

#endif
