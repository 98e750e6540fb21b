// See hook.h.

#include "supervisor/agents/hook.h"

#include "config/pattern.h"
#include "config/settings.h"
#include "config/words.h"
#include "lib/buffer.h"
#include "lib/json_read.h"
#include "lib/quote.h"
#include "shim/exec_call.h"
#include "shim/shell.h"
#include "shim/shell_string.h"
#include "supervisor/agents/wiring.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hook {
	const char *agent, *event;
	/* The end of a conversation: where its name is, or the variable by which the commands know
	   the agent, where they do not know their conversation. */
	const char *name[4], *mark;
	/* Before a command: the answer that refuses it, with "deny" or "ask", and why. */
	const char *refusal;
	bool asks;     /* it may answer "ask" */
	bool rewrites; /* commands of Cursor's Shell */
};

static const struct hook hooks[] = {
	{"claude", "SessionEnd", .name = {"session_id"}},
	{"gemini", "SessionEnd", .mark = "GEMINI_CLI"},
	{"opencode", "session.deleted", .name = {"properties", "info", "id"}},
	{"cursor", "sessionEnd", .name = {"conversation_id"}},
	{"claude", "PreToolUse", .asks = true,
	 .refusal = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
		    "\"permissionDecision\":\"%s\",\"permissionDecisionReason\":\"%s\"}}\n"},
	/* Without a terminal Gemini CLI waits for the answer to a question for ever. */
	{"gemini", "BeforeTool", .refusal = "{\"decision\":\"%s\",\"reason\":\"%s\"}\n"},
	{"opencode", "tool.execute.before", .refusal = "%.0s%s\n"},
	{"cursor", "preToolUse", .asks = true,
	 .refusal = "{\"permission\":\"%s\",\"agent_message\":\"%s\"}\n", .rewrites = true},
};

/* Whether it can be the name of a session. */
static bool hook_is_name(const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_-.";
	size_t len = text ? strlen(text) : 0;
	return len > 0 && len <= HOOK_SESSION_MAX && strspn(text, good) == len &&
	       !strchr("-.", *text);
}

/* --- a command that is about to run ------------------------------------------------------ */

/* Whether the commands run as they would have below a shell of terse's, and what they run is plain
   to see. One that changes the shell it runs in (cd, export ...) would be lost there. */
static bool may_rewrite(const char *command)
{
	struct words w;
	bool good;
	if (words_parse(&w, command) < 0)
		return false;
	good = w.count > 0;
	for (size_t i = 0; good && i < w.count; i++) {
		char *const *words = w.words + w.commands[i].first;
		const char *name = shell_call_name(words[0]);
		good = !shell_is_builtin(words[0]) && strcmp(name, "terse") != 0 &&
		       !shell_is_own_name(name);
	}
	words_release(&w);
	return good;
}

/* Why the agent has to refuse the command: terse stands in front of one. NULL: it does not, or what
   it is is not plain. */
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
	/* Words that run another command below terse, which the agent's rules do not see. */
	for (size_t i = 0; !found && i < words.count; i++) {
		char *const *inner = words.words + words.commands[i].first;
		while (inner && strcmp(shell_call_name(inner[0]), "terse") != 0)
			inner = wrapper_inner(inner);
		const char *first = inner ? inner[1] : NULL;
		found = first && (!terse->is_verb(first) || strcmp(first, "run") == 0 ||
				  strcmp(first, "agent") == 0 || strcmp(first, "probe") == 0);
	}
	words_release(&words);
	return !found ? NULL : w && w->comment ? commented : plain;
}

/* The command below terse, to be released. */
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
	if (why || !h->rewrites)
		return buffer_check(answer);
	json_t *line = NULL, *reply = json_pack("{s:s}", "permission", "ask");
	if (command && name && strcmp(name, "Shell") == 0 && may_rewrite(command))
		line = rewrite(terse, command,
			       json_string_value(json_object_get(input, "conversation_id")));
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
	*outcome = (struct hook_outcome){.ends = false};
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
		/* The session that is named after the agent's process. */
		outcome->ends = json_is_object(value);
		outcome->mark = h->mark;
	} else {
		const json_t *at = value;
		for (const char *const *key = h->name; *key; key++)
			at = json_object_get(at, *key);
		const char *name = json_string_value(at);
		outcome->ends = hook_is_name(name);
		if (outcome->ends)
			snprintf(outcome->session, sizeof(outcome->session), "%s", name);
	}
	json_decref(value);
	return status;
}
