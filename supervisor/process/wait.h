// Finds out from /proc what the processes of a run wait for.
#ifndef TERSE_PROCESS_WAIT_H
#define TERSE_PROCESS_WAIT_H

#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;
struct terminal;

struct wait {
	enum wait_kind kind;
	pid_t pid;     /* of the process that waits */
	char name[64]; /* its name, as it has set it: may hold anything */
	bool also;     /* WAIT_KEYS: data on its standard input would wake it up, too */
};

/* Looks at all descendants of the caller. `terminal`: the device number of the terminal. */
void wait_look(struct wait *w, dev_t terminal);

/* When to look whether a command waits: so long after it was last active, then later and later, but
   soon again once a look has found it waiting. */
struct looks {
	int master;        /* of the terminal; not owned */
	dev_t device;      /* of its slave */
	int64_t active_ms; /* when something was written or typed last; times are monotonic */
	int64_t at;        /* the next look; 0: none */
	int64_t pause_ms;  /* until the next one, if this finds nothing */
	int agreed;        /* looks in a row that found it waiting */
};

// A command that waits for keys, though nobody can type any: an agent's, without a controlling
// terminal. On a pipe such programs (whiptail, fzf, mc, nvim) give up at once; with a terminal as
// their output they draw, and wait.
//
// The look comes when nothing was written for some seconds. The process that waits is hung up (HUP,
// then TERM and KILL), as if its terminal had gone, if
//
//   - nothing of the run works, and it waits to read the terminal, not for its standard input
//     (or is all there is of the run, and waits for nothing that comes from elsewhere),
//   - it has the terminal in raw mode, or the alternate screen is on, and
//   - nothing of the run is a server.
//
// Otherwise the reader gets a line about it, as about a command that stays on the alternate screen.

struct keys {
	struct looks looks;
	int64_t hang_up;   /* after so long without output, ms; 0: never */
	int64_t grace;     /* between TERM and KILL, ms */
	int64_t screen_at; /* when to look for the alternate screen; 0: not any more */
	bool reported;     /* a wait was */
	int sent;          /* signals to `wait.pid` */
	struct wait wait;
};

enum keys_found { KEYS_NOTHING, KEYS_WAITS, KEYS_HUNG_UP };

/* The run begins. The terminal (without one nothing is ever looked at) and the times are filled
   in. */
void keys_begin(struct keys *k, int64_t now_ms);

/* Something was written. */
void keys_touch(struct keys *k, int64_t now_ms);

/* Looks if it is due; `t` is the screen, NULL where nothing was written. Returns KEYS_WAITS once,
   KEYS_HUNG_UP at the first signal to a process. */
enum keys_found keys_step(struct keys *k, const struct terminal *t, int64_t now_ms);

// Whether a command waits for somebody to type. No event reports this, so terse has to look.
//
// When the terminal has been quiet for a moment, and then less and less often, its foreground
// process group is looked at. It waits for input when
//
//   - one of its processes is blocked in a read of the terminal, or
//   - one sleeps in poll, select or epoll, nothing of it runs, the terminal is raw (so keys
//     are read one by one), and the screen looks as if somebody was asked: the cursor is
//     behind text, or a full-screen program is on, or
//   - /proc hides why it sleeps (another user's: sudo, su), nothing of it runs, the cursor is
//     behind text, and either echo is off or it has been quiet for long.
//
// Two looks in a row must agree.

/* The state of a process group. */
enum prompt_group {
	PROMPT_BUSY,   /* something runs, or is blocked elsewhere */
	PROMPT_READS,  /* blocked in a read of the terminal */
	PROMPT_POLLS,  /* asleep until one of several things happens */
	PROMPT_HIDDEN, /* asleep; the reason can't be seen */
};

/* Looks at the processes of the group that descend from the caller. `terminal`: the device number
   of the terminal. */
enum prompt_group prompt_look(pid_t group, dev_t terminal);

struct prompt {
	struct looks looks;
	bool waits;
};

/* Something was written or typed. */
void prompt_touch(struct prompt *p, int64_t now_ms);

/* Looks if it is due. Returns whether the command has just begun to wait. `t`: the screen. */
bool prompt_step(struct prompt *p, struct terminal *t, int64_t now_ms);

/* Appends the question: the text of the cursor's row, clean and short. Nothing on the alternate
   screen, which is no question. Returns 0, or -1 with ENOMEM. */
int prompt_text(struct terminal *t, struct buffer *out);

#endif
