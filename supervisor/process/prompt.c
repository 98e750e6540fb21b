// See prompt.h.

#include "supervisor/process/prompt.h"

#include "lib/buffer.h"
#include "lib/proc.h"
#include "lib/utf8.h"
#include "supervisor/process/process_tree.h"
#include "supervisor/process/wait.h"
#include "supervisor/terminal/terminal.h"

#include <string.h>
#include <termios.h>
#include <unistd.h>

/* The first look comes this long after the last activity, the next ones later and later. */
#define FIRST_MS 60
#define MOST_MS  2000

/* How long the terminal has to be quiet where a look is weaker evidence. */
#define POLLS_QUIET_MS  250
#define HIDDEN_QUIET_MS 1500

#define AGREED 2

/* Threads of one process that are looked at. */
#define THREADS_MOST 64

#define TEXT_MOST ((size_t)200)

/* Where the kernel has put a thread to sleep. */
static enum prompt_group prompt_look_at_channel(pid_t pid, long thread)
{
	char text[128];
	if (process_file(pid, text, sizeof(text), "task/%ld/wchan", thread) < 0 ||
	    strcmp(text, "0") == 0)
		return PROMPT_HIDDEN;
	if (strcmp(text, "n_tty_read") == 0)
		return PROMPT_READS;
	if (strstr(text, "poll") || strcmp(text, "do_select") == 0)
		return PROMPT_POLLS;
	return PROMPT_BUSY;
}

static enum prompt_group prompt_look_at_thread(pid_t pid, long thread, dev_t terminal)
{
	struct process_call call;
	if (process_call(pid, thread, &call) < 0)
		return prompt_look_at_channel(pid, thread);
	if (wait_is_read(call.number) && wait_is_terminal(pid, call.args[0], terminal))
		return PROMPT_READS;
	return wait_is_poll(call.number) ? PROMPT_POLLS : PROMPT_BUSY;
}

/* One thread that reads decides; most others wait for work. */
static enum prompt_group prompt_look_at_process(pid_t pid, dev_t terminal)
{
	enum prompt_group found = PROMPT_BUSY;
	struct process_walk w;
	int count = 0;
	for (long tid = process_walk(&w, PROCESS_THREADS, pid);
	     tid >= 0 && found != PROMPT_READS && count < THREADS_MOST;
	     tid = process_walk_next(&w), count++) {
		enum prompt_group one = prompt_look_at_thread(pid, tid, terminal);
		if (one == PROMPT_READS || (one != PROMPT_BUSY && found != PROMPT_POLLS))
			found = one;
	}
	process_walk_end(&w);
	return found;
}

/* Adds one process of the group to the result. Returns whether that decides it. */
static bool prompt_judge(enum prompt_group *found, pid_t pid, char state, dev_t terminal)
{
	if (state == 'R' || state == 'D') {
		*found = PROMPT_BUSY;
		return true;
	}
	if (state != 'S')
		return false;
	enum prompt_group one = prompt_look_at_process(pid, terminal);
	if (one == PROMPT_READS || *found == PROMPT_BUSY)
		*found = one;
	else if (*found == PROMPT_HIDDEN && one == PROMPT_POLLS)
		*found = one;
	return false;
}

enum prompt_group prompt_look(pid_t group, dev_t terminal)
{
	enum prompt_group found = PROMPT_BUSY;
	struct process_tree process_tree = {.passes = false};
	struct buffer run = BUFFER_INIT;
	bool over = process_tree_descendants(&process_tree, getpid(), &run) < 0;
	const pid_t *pids = (const pid_t *)run.data;
	for (size_t i = 0; !over && i < run.len / sizeof(*pids); i++) {
		struct process p;
		if (getpgid(pids[i]) == group && process_read(pids[i], &p) == 0)
			over = prompt_judge(&found, pids[i], p.state, terminal);
	}
	process_tree_release(&process_tree);
	buffer_release(&run);
	return found;
}

void prompt_touch(struct prompt *p, int64_t now_ms)
{
	p->active_ms = now_ms;
	p->pause_ms = FIRST_MS;
	p->look_at = now_ms + FIRST_MS;
	p->agreed = 0;
	p->waits = false;
}

/* Whether the screen looks as if somebody was asked something. */
static bool is_asking(const struct terminal *t)
{
	struct buffer line = BUFFER_INIT;
	if (terminal_is_alternate(t))
		return true;
	bool asking = prompt_text(t, &line) == 0 && line.len > 0;
	buffer_release(&line);
	return asking;
}

static bool looks_waiting(const struct prompt *p, const struct terminal *t, int64_t quiet_ms)
{
	struct termios modes;
	pid_t group = tcgetpgrp(p->master);
	if (group <= 0 || tcgetattr(p->master, &modes) < 0)
		return false;
	bool raw = !(modes.c_lflag & ICANON), silent = !(modes.c_lflag & ECHO);
	switch (prompt_look(group, p->device)) {
	case PROMPT_READS: return true;
	case PROMPT_POLLS: return raw && quiet_ms >= POLLS_QUIET_MS && is_asking(t);
	case PROMPT_HIDDEN: return (silent || quiet_ms >= HIDDEN_QUIET_MS) && is_asking(t);
	default: return false;
	}
}

bool prompt_step(struct prompt *p, const struct terminal *t, int64_t now_ms)
{
	if (!p->look_at || now_ms < p->look_at)
		return false;
	if (looks_waiting(p, t, now_ms - p->active_ms)) {
		bool began = !p->waits && ++p->agreed >= AGREED;
		p->waits |= began;
		p->look_at = now_ms + (p->waits ? MOST_MS : FIRST_MS);
		return began;
	}
	p->agreed = 0;
	p->waits = false;
	p->look_at = now_ms + p->pause_ms;
	p->pause_ms = p->pause_ms * 3 / 2 < MOST_MS ? p->pause_ms * 3 / 2 : MOST_MS;
	return false;
}

static size_t columns(const char *text, size_t len)
{
	size_t sum = 0;
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		i += utf8_decode(text + i, len - i, &cp);
		sum += utf8_width(cp);
	}
	return sum;
}

int prompt_text(const struct terminal *t, struct buffer *out)
{
	struct buffer picture = BUFFER_INIT;
	unsigned row, col;
	int result = -1;
	if (terminal_is_alternate(t))
		return 0;
	if (terminal_picture(t, &picture, &row, &col) < 0)
		goto out;
	const char *at = picture.data, *end = at + picture.len;
	while (at < end && --row > 0) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		at = newline ? newline + 1 : end;
	}
	const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
	size_t len = stop ? (size_t)(stop - at) : (size_t)(end - at);
	/* The end of a long question matters most. */
	if (len > TEXT_MOST) {
		size_t from = utf8_floor(at, len, len - TEXT_MOST);
		at += from;
		len -= from;
	}
	if (col > 1 && len > 0)
		utf8_clean(out, at, len);
	/* The picture has no blanks at the ends of rows. */
	if (len > 0 && col > columns(at, len) + 1)
		buffer_append(out, " ", 1);
	result = buffer_check(out);
out:
	buffer_release(&picture);
	return result;
}
