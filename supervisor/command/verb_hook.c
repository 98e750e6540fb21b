// terse hook AGENT EVENT: the program that terse init puts into an agent's files.
//
// Contracts (each is JSON; an input that is not understood gets no answer, so the agent continues
// as if it had no hook):
//
//   claude SessionEnd         {session_id, reason ...}; no answer
//   gemini SessionEnd         {session_id, reason ...}; no answer
//   opencode session.deleted  the plugin's event: {properties: {info: {id}}}; no answer
//   cursor sessionEnd         {conversation_id ...}; no answer
//   cursor preToolUse         {conversation_id, tool_name: "Shell", tool_input: {command}}; the
//                             answer has to have a `permission`, and anything else blocks: "ask",
//                             with updated_input where the command is rewritten
//   crush PreToolUse          {session_id, tool_name: "bash", tool_input: {command}}; updated_input
//                             where the command is rewritten, of which crush asks as of any
//   claude PreToolUse, gemini BeforeTool, opencode tool.execute.before
//                             {tool_name, tool_input: {command}}; no answer, or as below
//
// A command is rewritten to `terse --session CONVERSATION -c COMMAND`, unless that would change its
// effect.
//
// An agent's permission rules for CMD don't match `terse CMD`. So the hooks that see a command
// before it runs refuse `terse CMD` with "deny" or "ask", and say what to type instead (opencode
// has no form for that, and gets only the text). No hook ever answers "allow".

#include "config/pattern.h"
#include "config/settings.h"
#include "config/words.h"
#include "lib/io.h"
#include "lib/json_read.h"
#include "lib/proc.h"
#include "lib/quote.h"
#include "shim/exec_call.h"
#include "shim/shell.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/command/internal.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The most bytes of an event. */
#define INPUT_MAX ((size_t)4 << 20)

struct hook {
	const char *agent, *event;
	/* For the end of a conversation: the path of the member that has the conversation's name.
	   If commands don't know their conversation: `mark`, the variable from which they know the
	   agent. */
	const char *name[4], *mark;
	/* Before a command: the answer that refuses it, as a format that takes "deny" or "ask", and
	   the reason. */
	const char *refusal;
	bool asks; /* the answer may be "ask" */
	/* For a hook that rewrites commands: the tool, the member with the conversation, the answer
	   without the command, and programs that the agent refuses, whose commands stay as they
	   are. */
	const char *tool, *conversation, *answer, *refused[4];
};

/* Programs that crush refuses, some only with certain arguments. */
#define CRUSH_REFUSED                                                                              \
	{                                                                                          \
		"alias|aria2c|axel|chrome|curl|curlie|firefox|http-prompt|httpie|links|lynx|nc|"   \
		"safari|scp|ssh|telnet|w3m|wget|xh|doas|su|sudo|apk|apt*|dnf|dpkg|emerge|"         \
		"home-manager|makepkg|opkg|pacman|paru|pkg*|portage|rpm|yay|yum|zypper|at|batch|"  \
		"chkconfig|crontab|fdisk|mkfs|mount|parted|service|systemctl|umount|"              \
		"firewall-cmd|ifconfig|ip|iptables|netstat|pfctl|route|ufw",                       \
			"brew|cargo|gem|go|npm|pip*|pnpm|yarn install|add|global", "go test -exec" \
	}

static const struct hook hooks[] = {
	{"claude", "SessionEnd", .name = {"session_id"}},
	{"gemini", "SessionEnd", .mark = "GEMINI_CLI"},
	{"opencode", "session.deleted", .name = {"properties", "info", "id"}},
	{"cursor", "sessionEnd", .name = {"conversation_id"}},
	{"claude", "PreToolUse", .asks = true,
	 .refusal = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
		    "\"permissionDecision\":\"%s\",\"permissionDecisionReason\":\"%s\"}}\n"},
	/* Gemini CLI without a terminal would wait forever after "ask". */
	{"gemini", "BeforeTool", .refusal = "{\"decision\":\"%s\",\"reason\":\"%s\"}\n"},
	{"opencode", "tool.execute.before", .refusal = "%.0s%s\n"},
	{"cursor", "preToolUse", .asks = true,
	 .refusal = "{\"permission\":\"%s\",\"agent_message\":\"%s\"}\n", .tool = "Shell",
	 .conversation = "conversation_id", .answer = "{\"permission\":\"ask\"}"},
	{"crush", "PreToolUse",
	 .refusal = "{\"version\":1,\"decision\":\"%s\",\"reason\":\"%s\"}\n", .tool = "bash",
	 .conversation = "session_id", .answer = "{\"version\":1}", .refused = CRUSH_REFUSED},
};

/* Whether a text can be the name of a session. */
static bool hook_is_name(const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_-.";
	size_t len = text ? strlen(text) : 0;
	return len > 0 && len <= HOOK_SESSION_MAX && strspn(text, good) == len &&
	       !strchr("-.", *text);
}

/* --- a command that is about to run ------------------------------------------------------ */

/* Whether the commands can be parsed, and would have the same effect in a shell that terse starts.
   Commands that change their own shell (cd, export ...) would have no effect there. */
static bool may_rewrite(const struct hook *h, const char *command)
{
	struct words w;
	bool good;
	if (words_parse(&w, command) < 0)
		return false;
	good = w.words && w.count > 0;
	for (size_t i = 0; good && i < w.count; i++) {
		char *const *words = w.words + w.commands[i].first;
		const char *name = shell_call_name(words[0]);
		good = !shell_is_builtin(words[0]) && strcmp(name, "terse") != 0 &&
		       !shell_is_own_name(name);
		for (const char *const *p = h->refused; good && *p; p++) {
			for (char *const *in = words; good && in; in = wrapper_inner(in))
				good = pattern_match(*p, in) == 0;
		}
	}
	words_release(&w);
	return good;
}

/* Returns why the agent has to refuse a command in which terse precedes another command; NULL if
   there is no reason, or if the command can't be parsed. */
static const char *hook_refusal(const struct hook *h, const struct hook_terse *terse,
				const char *command)
{
	static const char plain[] =
		"Type the command itself, without terse in front of it: it runs under terse "
		"anyway.";
	static const char commented[] =
		"Type the command itself, without terse in front of it: it runs under terse "
		"anyway. For what options would ask, end it with a comment: "
		"# terse: yield=10s, timeout=5m, size=20KB (each as needed).";
	const struct wiring *w = wiring_find(wirings, h->agent);
	struct words words;
	bool found = false;
	if (terse->in_front == IN_FRONT_PASS || words_parse(&words, command) < 0)
		return NULL;
	static const char *const runners[] = {"run", "agent", "probe", "shell", NULL};
	/* Looks for terse with a command, or with a verb that runs one: the agent's rules would not
	   see that command. */
	for (size_t i = 0; !found && i < words.count; i++) {
		char *const *inner = words.words + words.commands[i].first;
		while (inner && strcmp(shell_call_name(inner[0]), "terse") != 0)
			inner = wrapper_inner(inner);
		const char *first = inner ? inner[1] : NULL;
		found = first && !verb_named(first);
		for (size_t k = 0; first && !found && runners[k]; k++)
			found = strcmp(first, runners[k]) == 0;
	}
	words_release(&words);
	return !found ? NULL : w && w->comment ? commented : plain;
}

/* Returns the tool input with the command rewritten, to be released. */
static json_t *rewrite(const struct hook_terse *terse, const char *command, const char *session)
{
	struct buffer line = BUFFER_INIT;
	struct settings asked = {0};
	struct option_error error;
	struct comment comment;
	quote_append(&line, terse->program);
	if (hook_is_name(session))
		buffer_printf(&line, " --session %s", session);
	comment_read(&comment, command, &asked, &error);
	for (size_t i = 0; i < comment.count; i++) {
		buffer_append(&line, " ", 1);
		quote_append(&line, comment.flags[i]);
	}
	buffer_append_string(&line, " -c ");
	quote_append(&line, command);
	json_t *result = buffer_check(&line) == 0 ? json_stringn(line.data, line.len) : NULL;
	buffer_release(&line);
	return result;
}

static int hook_before(const struct hook *h, const json_t *input, const struct hook_terse *terse,
		       struct buffer *answer)
{
	const json_t *given = json_object_get(input, "tool_input");
	const char *command = json_string_value(json_object_get(given, "command"));
	const char *why = command ? hook_refusal(h, terse, command) : NULL;
	const char *name = json_string_value(json_object_get(input, "tool_name"));
	if (why) {
		bool asks = h->asks && terse->in_front == IN_FRONT_ASK;
		buffer_printf(answer, h->refusal, asks ? "ask" : "deny", why);
	}
	if (why || !h->tool)
		return buffer_check(answer);
	json_t *line = NULL, *reply = json_loads(h->answer, 0, NULL);
	if (command && name && strcmp(name, h->tool) == 0 && may_rewrite(h, command))
		line = rewrite(terse, command,
			       json_string_value(json_object_get(input, h->conversation)));
	if (line && reply) {
		json_t *changed = json_deep_copy(given);
		json_object_set(changed, "command", line);
		json_object_set_new(reply, "updated_input", changed);
	}
	char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
	if (text)
		buffer_printf(answer, "%s\n", text);
	free(text);
	json_decref(line);
	json_decref(reply);
	return buffer_check(answer);
}

int hook_answer(const char *agent, const char *event, const char *input, size_t len,
		const struct hook_terse *terse, struct buffer *answer, struct hook_outcome *outcome)
{
	size_t i = 0, count = sizeof(hooks) / sizeof(*hooks);
	*outcome = (struct hook_outcome){.mark = NULL};
	while (i < count &&
	       (strcmp(hooks[i].agent, agent) != 0 || strcmp(hooks[i].event, event) != 0))
		i++;
	if (i == count) {
		errno = EINVAL;
		return -1;
	}
	const struct hook *h = &hooks[i];
	json_t *value = json_read(input, len, 0, NULL);
	int status = 0;
	if (h->refusal) {
		status = hook_before(h, value, terse, answer);
	} else if (h->mark) {
		/* Ends the session that is named after the agent's process. */
		outcome->mark = json_is_object(value) ? h->mark : NULL;
	} else {
		const json_t *at = value;
		for (const char *const *key = h->name; *key; key++)
			at = json_object_get(at, *key);
		const char *name = json_string_value(at);
		if (hook_is_name(name))
			snprintf(outcome->session, sizeof(outcome->session), "%s", name);
	}
	json_decref(value);
	return status;
}

/* --- the verb --------------------------------------------------------------------------------- */

/* Runs `terse session end` as a child without output, since the agent reads the output as the
   hook's answer. */
static void hook_mark_ended(const struct hook_outcome *o, const char *program)
{
	char *argv[] = {(char *)"terse", (char *)"session", (char *)"end",
			*o->session ? (char *)o->session : NULL, NULL};
	pid_t pid = fork();
	if (pid == 0) {
		io_null(STDIN_FILENO, STDERR_FILENO);
		if (!o->mark || setenv(o->mark, "1", 0) == 0)
			execv(program, argv);
		_exit(EXIT_TERSE);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static int hook_run(struct verb_call *c)
{
	struct buffer input = BUFFER_INIT, answer = BUFFER_INIT;
	struct hook_outcome outcome;
	char program[PATH_MAX];
	const struct hook_terse terse = {program, c->settings->in_front};
	int status;
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	process_link(0, program, sizeof(program), "exe");
	/* Input that is too long, or can't be read, counts as empty. */
	if (io_read_all(STDIN_FILENO, &input, INPUT_MAX) < 0)
		input.len = 0;
	status = hook_answer(c->operands[0], c->operands[1], input.data ? input.data : "",
			     input.len, &terse, &answer, &outcome);
	/* Ignores errors, so that the agent continues. */
	if (status == 0 && answer.len)
		io_write(STDOUT_FILENO, answer.data, answer.len);
	if (status == 0 && (outcome.mark || *outcome.session))
		hook_mark_ended(&outcome, program);
	buffer_release(&input);
	buffer_release(&answer);
	return 0;
}

const struct verb verb_hook = {
	.name = "hook",
	.purpose = "the program that terse init puts into an agent's files",
	.forms = "AGENT EVENT",
	.text = "Agents call this: it reads an event from standard input, and ends the session of\n"
		"a conversation that has ended, or rewrites a command (cursor, crush).\n",
	.least = 2,
	.run = hook_run,
};
