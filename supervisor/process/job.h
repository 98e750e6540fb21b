// The description of a run that front end and supervisor share.
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
	const char *service;     /* the name of the service, or NULL */
	const char *description; /* from the caller, or NULL */
	int64_t cached_ms;       /* an earlier run up to this age may answer; 0: none may */
	uint64_t environment;    /* with cached_ms: a hash of the environment */
	char **shown;            /* what the user typed, for the metadata */
	const struct settings *settings;
	struct secrets *secrets; /* patterns of secrets to replace in all output
				    (redact/redactor.h), or NULL */
	struct channels channels;
	struct signals signals; /* the caller's signal state */
	pid_t front, parent;    /* the front end's process ID, and its parent's */
	/* A connected socket on which the caller is a client of the run (protocol.h); 0: none. */
	int caller;
	int lock;           /* --join: held until others can find the run; at most 0: none */
	bool leashed;       /* the run ends when the caller closes it */
	bool leads;         /* the command leads its process group */
	bool deliberate;    /* the caller asked to return before the run ends */
	int64_t started_ms; /* real time */
	int64_t begun_ms;   /* the same moment, monotonic */
	unsigned cols, rows;
	struct termios modes, raw; /* modes of the person's terminal, if there is a keyboard */
};

// The process that the user started: it starts supervisor and watchdog, waits, passes signals on,
// reads the person's keyboard, and ends as the command did.

/* Runs the job and ends this process with the command's status. Returns only if the command could
   not be executed, with an errno, which the caller reports. */
int frontend_run(struct job *job);

// The process that owns the pty: it starts the command, reads what it writes,
// renders, spills and prints, answers queries, passes signals on, ends everything when
// the front end dies, and outlives it while background processes still write.

/* Runs the supervisor in this process, and ends the process. `front`: the supervisor's end of the
   socket pair (protocol.h); `watchdog`: the write end of the watchdog's pipe, or -1. */
_Noreturn void supervisor_run(const struct job *job, int front, int watchdog);

#endif
