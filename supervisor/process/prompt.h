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
#ifndef TERSE_PROCESS_PROMPT_H
#define TERSE_PROCESS_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;
struct terminal;

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
	int master;        /* of the terminal; not owned */
	dev_t device;      /* of its slave */
	int64_t active_ms; /* when something was written or typed last */
	int64_t look_at;   /* monotonic; 0: not to be looked at */
	int64_t pause_ms;  /* until the next look */
	int agreed;        /* looks in a row that found it waiting */
	bool waits;
};

/* Something was written or typed. */
void prompt_touch(struct prompt *p, int64_t now_ms);

/* Looks if it is due. Returns whether the command has just begun to wait. `t`: the screen. */
bool prompt_step(struct prompt *p, const struct terminal *t, int64_t now_ms);

/* Appends the question: the text of the cursor's row, clean and short. Nothing on the alternate
   screen, which is no question. Returns 0, or -1 with ENOMEM. */
int prompt_text(const struct terminal *t, struct buffer *out);

#endif
