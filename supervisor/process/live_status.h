// The state of a live run, as its supervisor answers CONTROL_STATUS and CONTROL_WATCH.
//
// As JSON: {"id":"cmd-...","state":"running|waiting|stopped|ended","prompt":"Password: ",
// "screen":false,"pid":4711,"elapsed_ms":1200,"quiet_ms":300,"lines":12,"bytes":340,
// "settled":300,"told":0,"cols":160,"rows":50,"terminal":true,"attached":0,
// "exit_code":0,"signal":0,"timed_out":false,"last_line":"...","argv":["sleep","9"],"argv_cut":false}
#ifndef TERSE_PROCESS_LIVE_STATUS_H
#define TERSE_PROCESS_LIVE_STATUS_H

#include "supervisor/artifact/id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;

#define LIVE_TEXT 256  /* bytes of a prompt or line at most, with the NUL */
#define LIVE_ARGV 1024 /* of the command */

enum live_status_state { LIVE_RUNNING, LIVE_WAITING, LIVE_STOPPED, LIVE_ENDED };

struct live_status {
	char id[ID_LEN + 1];
	enum live_status_state state;
	char prompt[LIVE_TEXT];       /* LIVE_WAITING: what was asked, clean; may be empty */
	bool screen;                  /* a full-screen program is on */
	pid_t pid;                    /* of the command */
	int64_t elapsed_ms, quiet_ms; /* since the start; since something was written or typed */
	uint64_t lines, bytes;        /* of the text so far, with unfinished lines */
	uint64_t settled;             /* bytes of it that are final */
	uint64_t reported;            /* lines that a reader has been sent; "told" in the JSON */
	unsigned cols, rows;
	bool terminal; /* it has a controlling terminal: it can be typed into */
	int attached;
	int exit_code, signal; /* LIVE_ENDED: exit_code -1: by `signal` */
	bool timed_out;
	char last_line[LIVE_TEXT]; /* that has something in it; clean */
	char argv[LIVE_ARGV];      /* the command, a NUL behind each argument */
	size_t argv_len;
	bool argv_cut; /* argv is not all of it */
};

/* Appends the JSON. Returns 0, or -1 with ENOMEM. */
int live_status_encode(struct buffer *out, const struct live_status *c);

/* Returns 0, or -1 with errno EPROTO. */
int live_status_parse(const char *json, size_t len, struct live_status *c);

/* Copies the command, cut where it does not fit. */
void live_status_set_argv(struct live_status *c, char *const *argv);

/* Copies text, cut where it does not fit. */
void live_status_set_text(char out[LIVE_TEXT], const char *text, size_t len);

const char *live_status_state_name(enum live_status_state state);

#endif
