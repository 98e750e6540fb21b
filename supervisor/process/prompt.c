// See supervisor_internal.h: what the command waits for, and who answers.

#include "supervisor/process/supervisor_internal.h"

#include "lib/exec.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

// Finding out what the command waits for.

#define AGREED 2

/* How long a program has to react to HUP. */
#define HUP_GRACE_MS 500

/* How long a command has to be quiet before the first look for keys. LOOK_KEYS_MS: if [run] hang_up
   is 0. JOBS_HANG_UP_MS: the longest on a terminal that exists only for job control. */
#define LOOK_KEYS_MS    3000
#define JOBS_HANG_UP_MS 300

/* A full-screen program that has run for this time may run forever, so the reader is told. */
#define LOOK_SCREEN_MS 5000

/* Intervals between looks. MOST_MS: the longest for prompts. AGAIN_MS: for keys, after a look that
   found the command waiting. PAUSE_MOST_MS: the longest for keys. */
#define MOST_MS       2000
#define AGAIN_MS      100
#define PAUSE_MOST_MS 30000

/* Ends the wait for input, and counts it. */
static void looks_end_wait(struct looks *l, int64_t now_ms)
{
	struct meta_waits *w = &l->waits;
	if (!l->waits_ms)
		return;
	if (w->count++ == 0)
		w->from_ms = l->waits_ms;
	w->to_ms = now_ms;
	w->ms += now_ms - l->waits_ms;
	l->waits_ms = 0;
}

void looks_touch(struct looks *l, int64_t now_ms)
{
	looks_end_wait(l, now_ms);
	l->active_ms = now_ms;
	l->pause_ms = l->first_ms;
	l->at = l->device ? now_ms + (l->sent ? HUP_GRACE_MS : l->first_ms) : 0;
	l->agreed = 0;
	l->prompts = false;
}

void prompt_begin(struct supervisor *s, int64_t now_ms)
{
	const int64_t hang_up = s->job->settings->hang_up;
	struct looks *l = &s->looks;
	l->first_ms = !s->drawn ? LOOK_PROMPT_MS : hang_up ? hang_up : LOOK_KEYS_MS;
	/* Without job control there would be no /dev/tty, and the program would have failed at
	   once. */
	if (s->job->channels.jobs && hang_up > JOBS_HANG_UP_MS)
		l->first_ms = JOBS_HANG_UP_MS;
	l->screen_at = now_ms + LOOK_SCREEN_MS;
	looks_touch(l, now_ms);
}

/* Notes what a look has found. Returns whether enough looks in a row have found the command
   waiting. */
static bool looks_note(struct looks *l, bool waits, int64_t now_ms, int64_t again_ms,
		       int64_t most_ms)
{
	if (waits) {
		l->at = now_ms + again_ms;
		if (++l->agreed < AGREED)
			return false;
		l->waits_ms = l->waits_ms ? l->waits_ms : l->active_ms;
		return true;
	}
	looks_end_wait(l, now_ms);
	l->agreed = 0;
	l->at = now_ms + l->pause_ms;
	l->pause_ms = l->pause_ms * 3 / 2 < most_ms ? l->pause_ms * 3 / 2 : most_ms;
	return false;
}

/* Hangs up the process that the last look saw waiting: by HUP at first, by TERM the next time, then
   by KILL. */
static void looks_hang_up(struct looks *l)
{
	static const int signals[] = {SIGHUP, SIGTERM, SIGKILL};
	kill(l->wait.pid, signals[l->sent]);
	l->sent += l->sent < 2;
}

/* How long the terminal has to be quiet before weaker evidence counts: INPUT_POLLED,
   INPUT_HIDDEN. */
#define POLLS_QUIET_MS  250
#define HIDDEN_QUIET_MS 1500

#define TEXT_MOST ((size_t)200)

bool looks_find_prompt(struct looks *l, struct terminal *t, int64_t now_ms)
{
	if (!l->at || now_ms < l->at)
		return false;
	struct termios modes;
	pid_t group = tcgetpgrp(l->master);
	const int64_t quiet_ms = now_ms - l->active_ms;
	struct wait w = {.input = INPUT_NONE};
	if (group > 0 && tcgetattr(l->master, &modes) == 0)
		wait_look(&w, l->device, group);
	bool seems = w.input == INPUT_READ;
	if ((w.input == INPUT_POLLED && !(modes.c_lflag & ICANON) && quiet_ms >= POLLS_QUIET_MS) ||
	    (w.input == INPUT_HIDDEN && (!(modes.c_lflag & ECHO) || quiet_ms >= HIDDEN_QUIET_MS))) {
		struct buffer line = BUFFER_INIT;
		seems = terminal_facts(t).is_alternate ||
			(prompt_text(t, &line) == 0 && line.len > 0);
		buffer_release(&line);
	}
	bool waited = l->prompts;
	if (w.pid != l->wait.pid)
		l->sent = 0;
	l->wait = w;
	l->prompts = looks_note(l, seems, now_ms, LOOK_PROMPT_MS, MOST_MS);
	if (l->prompts)
		l->at = now_ms + MOST_MS;
	return l->prompts && !waited;
}

int prompt_text(struct terminal *t, struct buffer *out)
{
	struct buffer picture = BUFFER_INIT;
	unsigned row, col;
	int result = -1;
	if (terminal_facts(t).is_alternate)
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
	/* Adds a blank before the cursor: the picture has no blanks at the ends of rows. */
	size_t columns = 0;
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		i += utf8_decode(at + i, len - i, &cp);
		columns += utf8_width(cp);
	}
	if (len > 0 && col > columns + 1)
		buffer_append(out, " ", 1);
	result = buffer_check(out);
out:
	buffer_release(&picture);
	return result;
}

// Questions.

/* For this time after a typed key, a question counts as unanswered even if a look does not find the
   command waiting. */
#define TYPED_MS 2000

/* How often the end of input is typed, since some programs ignore the first one. */
#define ENDS_TYPED 2

void prompt_read(struct supervisor *s, char out[LIVE_TEXT])
{
	struct buffer line = BUFFER_INIT;
	struct terminal *t = live_screen(s);
	size_t len = 0;
	if (t && prompt_text(t, &line) == 0)
		len = utf8_floor(line.data, line.len,
				 line.len < LIVE_TEXT ? line.len : LIVE_TEXT - 1);
	if (len > 0)
		memcpy(out, line.data, len);
	out[len] = '\0';
	buffer_release(&line);
}

bool prompt_hides(const struct supervisor *s, const char *prompt)
{
	struct termios modes;
	if (!s->device || tcgetattr(s->sources[0].fd, &modes) < 0 || (modes.c_lflag & ECHO))
		return false;
	return (modes.c_lflag & ICANON) || strcasestr(prompt, "passw") ||
	       strcasestr(prompt, "passphrase");
}

static void prompt_answered(struct supervisor *s)
{
	s->asked = WAIT_UNKNOWN;
	s->timer[TIMER_PERSON] = 0;
}

int prompt_type(struct supervisor *s, const char *data, size_t len)
{
	if (!s->device)
		return ENOTTY;
	if (s->state >= SUPERVISOR_FLUSHING)
		return ESRCH;
	int error = supervisor_queue_input(s, data, len);
	if (error)
		return error;
	if (len > 0) {
		const int64_t now_ms = clock_monotonic_ms();
		looks_touch(&s->looks, now_ms);
		live_tell_soon(s, now_ms);
		s->live.typed = data[len - 1];
		s->live.typed_ms = now_ms;
		/* The key ends a line, or the command. */
		if (memchr("\r\n\003\004", s->live.typed, 4))
			prompt_answered(s);
	}
	s->ends_typed = 0;
	return 0;
}

int prompt_type_end(struct supervisor *s)
{
	struct termios modes;
	if (!s->device || s->sources[0].fd < 0 || tcgetattr(s->sources[0].fd, &modes) < 0)
		return ENOTTY;
	const char end = (char)modes.c_cc[VEOF], ends[] = {end, end};
	bool in_line = (modes.c_lflag & ICANON) && s->live.typed && s->live.typed != '\n' &&
		       s->live.typed != '\r' && s->live.typed != end;
	return prompt_type(s, ends, in_line ? 2 : 1);
}

/* Whether [prompt] person names the question. */
static bool prompt_is_for_person(const struct settings *set, const char *question)
{
	int error;
	size_t at;
	if (!set->person)
		return false;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)set->person, PCRE2_ZERO_TERMINATED,
					 PCRE2_NEVER_BACKSLASH_C, &error, &at, NULL);
	pcre2_match_data *match = code ? pcre2_match_data_create(1, NULL) : NULL;
	bool is = match &&
		  pcre2_match(code, (PCRE2_SPTR)question, strlen(question), 0, 0, match, NULL) >= 0;
	pcre2_match_data_free(match);
	pcre2_code_free(code);
	return is;
}

#define WORDS_MOST 64

/* Calls the person, if [prompt] call is set: the command in that setting is given the question and
   the way to answer. It belongs to no run, and its output is dropped. */
static void prompt_call(const struct supervisor *s)
{
	char what[LIVE_TEXT + 16], how[ID_LEN + 32], *argv[WORDS_MOST + 3], *rest;
	const struct settings *set = s->job->settings;
	if (!set->person && SETTING_ORIGIN(set, call) == ORIGIN_BUILT_IN)
		return;
	char *call = set->call ? strdup(set->call) : NULL;
	size_t count = 0;
	for (char *word = call ? strtok_r(call, " ", &rest) : NULL; word && count < WORDS_MOST;
	     word = strtok_r(NULL, " ", &rest))
		argv[count++] = word;
	snprintf(what, sizeof(what), "terse: %s", *s->prompt ? s->prompt : "a secret is asked for");
	snprintf(how, sizeof(how), "terse attach %s", s->record.meta.id);
	argv[count] = what;
	argv[count + 1] = how;
	argv[count + 2] = NULL;
	pid_t pid = count > 0 ? fork() : -1;
	/* Forks twice, so that this process need not wait for the command. */
	if (pid == 0 && fork() == 0) {
		setsid();
		io_null(STDIN_FILENO, STDERR_FILENO);
		setenv("TERSE", "0", 1);
		signals_restore(&s->job->signals);
		exec_search(argv[0], argv);
	}
	if (pid == 0)
		_exit(0);
	spawn_reap(pid);
	TRACE(PROCESS, "supervisor: a person is called%s", pid < 0 ? ", which fails" : "");
	free(call);
}

/* Ends the input, since nobody answers. Hangs up a program that reads single keys, as if its
   terminal were gone. */
static void prompt_refuse(struct supervisor *s, int64_t now_ms)
{
	struct looks *l = &s->looks;
	if (!pty_is_raw(l->master)) {
		prompt_type_end(s);
	} else if (l->wait.pid) {
		looks_hang_up(l);
		looks_touch(l, now_ms);
	} else {
		supervisor_end_tree(s, TREE_HUP);
	}
}

void prompt_on_unanswered(struct supervisor *s, int64_t now_ms)
{
	if (live_has_person(&s->live)) {
		s->timer[TIMER_PERSON] = now_ms + s->job->settings->person_wait;
		return;
	}
	prompt_answered(s);
	s->unanswered = true;
	prompt_refuse(s, now_ms);
}

/* Called when a question has come up: decides who answers it, and whether the run continues. */
static void prompt_on_question(struct supervisor *s, int64_t now_ms)
{
	const struct settings *set = s->job->settings;
	const enum prompting prompting = (enum prompting)set->prompt;
	/* With `called` the terminal exists only for questions to a person; all other questions are
	   refused. */
	const bool called = s->job->channels.called && s->caller == CALLER_WAITS;
	const bool attached = live_has_person(&s->live);
	TRACE(PROCESS, "supervisor: the command waits for input");
	prompt_read(s, s->prompt);
	const bool hides = prompt_hides(s, s->prompt);
	const bool named = prompt_is_for_person(set, s->prompt);
	/* The person can only reach a run that has an ID. */
	if ((called ? named && (attached || !s->unanswered) : named || hides) && live_open(s) == 0)
		s->asked = hides ? WAIT_SECRET : WAIT_PERSON;
	live_tell_now(s, now_ms);
	enum { PERSON, CALLER, NOBODY, WHO_SEES_IT } answers = WHO_SEES_IT;
	if (called)
		answers = s->asked ? PERSON : attached ? WHO_SEES_IT : NOBODY;
	else if (s->front.fd >= 0 && s->caller == CALLER_WAITS && prompting != PROMPTING_AWAIT)
		answers = prompting == PROMPTING_REPORT ? CALLER : NOBODY;
	if (s->asked && !attached && answers != NOBODY)
		prompt_call(s);
	if (answers == PERSON) {
		supervisor_tell_wait(s, s->sources, now_ms);
		s->timer[TIMER_PERSON] = now_ms + set->person_wait;
	} else if (answers == CALLER) {
		s->question = s->prompt;
		supervisor_yield(s, now_ms);
		s->question = NULL;
	} else if (answers == NOBODY && called) {
		prompt_refuse(s, now_ms);
	} else if (answers == NOBODY && prompting == PROMPTING_EOF && s->ends_typed < ENDS_TYPED) {
		int typed = s->ends_typed + 1;
		prompt_type_end(s);
		s->ends_typed = typed;
	} else if (answers == NOBODY) {
		s->question = s->prompt;
		supervisor_end_tree(s, TREE_HUP);
	}
}

// Keys that nobody can type, and the looks at the command.

static void prompt_on_keys(struct supervisor *s, int64_t now_ms)
{
	const struct settings *set = s->job->settings;
	struct looks *l = &s->looks;
	unsigned ports[PORTS_MOST];
	struct interceptor *text = s->drawn ? s->drawn->text : NULL;
	/* Without a text nothing was written. */
	const bool alternate = text && terminal_facts(interceptor_terminal(text)).is_alternate;
	const bool screen_due = l->screen_at && now_ms >= l->screen_at;
	bool tells = screen_due && alternate && !l->reported;
	if (screen_due)
		l->screen_at = 0;
	if (tells) {
		l->wait.kind = WAIT_SCREEN;
	} else if (now_ms >= l->at) {
		const pid_t last = l->wait.pid;
		wait_look(&l->wait, l->device, 0);
		if (l->wait.pid != last)
			l->agreed = l->sent = 0;
		const bool screen = alternate || pty_is_raw(l->master);
		/* elinks, for example, reads keys from its standard input, which is empty. */
		if (l->wait.kind == WAIT_ALONE && screen)
			l->wait.kind = WAIT_KEYS;
		if (!looks_note(l, l->wait.kind == WAIT_KEYS, now_ms, AGAIN_MS, PAUSE_MOST_MS))
			return;
		if (set->hang_up && !l->wait.also && screen && ports_of(s->command, ports) == 0) {
			TRACE(PROCESS, "supervisor: process %d waits for keys, and is hung up",
			      (int)l->wait.pid);
			l->at = now_ms + (l->sent == 1 ? set->grace : HUP_GRACE_MS);
			looks_hang_up(l);
			s->hung_up = true;
			supervisor_each_text(s, interceptor_cut);
			return;
		}
		l->at = now_ms + l->pause_ms;
		tells = !l->reported;
	}
	if (!tells)
		return;
	TRACE(PROCESS, "supervisor: process %d waits for keys", (int)l->wait.pid);
	l->reported = true;
	if (text)
		supervisor_tell_wait(s, s->drawn, now_ms);
}

void prompt_on_look(struct supervisor *s, int64_t now_ms)
{
	if (s->drawn) {
		prompt_on_keys(s, now_ms);
		return;
	}
	const bool waited = s->looks.prompts || s->asked;
	if (now_ms < s->looks.at)
		return;
	struct terminal *t = live_screen(s);
	if (!t) {
		looks_touch(&s->looks, now_ms);
		return;
	}
	bool begins = looks_find_prompt(&s->looks, t, now_ms) && !s->asked &&
		      s->state == SUPERVISOR_RUNNING;
	/* While somebody types, a look may fail to see that the command waits. */
	if (s->looks.agreed == 0 && now_ms >= s->live.typed_ms + TYPED_MS)
		prompt_answered(s);
	if (begins)
		prompt_on_question(s, now_ms);
	else if (waited != (s->looks.prompts || s->asked))
		live_tell_now(s, now_ms);
}
