// The effective settings of one call, filled from the option table (option.h):
// built-in defaults, then files, TERSE_* variables and flags, later ones winning.
//
// Durations are milliseconds, 0 meaning off; sizes are bytes.
#ifndef TERSE_CONFIG_SETTINGS_H
#define TERSE_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tristate { TRI_AUTO, TRI_YES, TRI_NO };
enum streams { STREAMS_AUTO, STREAMS_MERGED, STREAMS_SPLIT };
enum printing { PRINT_AUTO, PRINT_PREVIEW, PRINT_FULL };
enum status_line { STATUS_NEVER, STATUS_FAILURE, STATUS_ALWAYS };
enum mode { MODE_SMART, MODE_HEAD, MODE_TAIL, MODE_ENDS };

/* A list of strings; the settings own it. */
struct strings {
	char **items; /* NULL-terminated when not NULL */
	size_t count;
};

struct settings {
	/* [run] */
	int64_t timeout; /* TERM to the command after this long */
	int64_t grace;   /* KILL this long after TERM */
	int64_t linger;  /* keep recording background writers this long */
	int64_t pty;     /* enum tristate */
	int64_t tty;     /* enum tristate: controlling terminal for the command */
	int64_t streams; /* enum streams */

	/* [terminal] */
	int64_t cols, rows;
	int64_t collapse; /* bool */

	/* [report] */
	int64_t size;      /* budget of what is printed, bytes */
	int64_t max_lines; /* 0: no limit */
	int64_t print;     /* enum printing: --preview, --full */
	int64_t heartbeat;
	int64_t status; /* enum status_line */

	/* [preview] */
	int64_t mode;       /* enum mode */
	int64_t head_share; /* percent */
	int64_t max_line;

	/* [spill] */
	int64_t max_artifact;
	int64_t raw; /* enum tristate */

	/* [session] */
	char *session; /* NULL: find out */

	/* [shim] */
	char *shell; /* NULL: bash where there is one, else sh */

	/* [environment] */
	struct strings env_set;   /* NAME=VALUE */
	struct strings env_unset; /* NAME */
	struct strings env_keep;  /* NAME: not touched by set and unset when the caller has it */
};

#endif
