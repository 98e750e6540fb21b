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
#include <strings.h>

struct hook {
	const char *agent, *event;
	/* The end of a conversation: where its name is, or the variable by which the commands know
	   the agent, where they do not know their conversation. */
	const char *name[4], *mark;
	/* Before a command: the answer that refuses it, with "deny" or "ask", and why. */
	const char *refusal;
	bool asks; /* it may answer "ask" */
	/* The tool whose commands are rewritten, and what names the conversation. */
	const char *tool, *session;
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
	 .refusal = "{\"permission\":\"%s\",\"agent_message\":\"%s\"}\n", .tool = "Shell",
	 .session = "conversation_id"},
	{"crush", "PreToolUse",
	 .refusal = "{\"version\":1,\"decision\":\"%s\",\"reason\":\"%s\"}\n", .tool = "bash",
	 .session = "session_id"},
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

/* --- Crush: what its `bash` tool asks about ------------------------------------------------ */

/* Whether the word is one of those with | between them. */
static bool is_among(const char *word, const char *words)
{
	return pattern_match_word(words, strlen(words), word);
}

/* Whether Crush refuses these programs and arguments. A command in which one of these occurs is
   left to it. */
static bool crush_refuses(char *const *words, size_t count)
{
	if (strpbrk(words[0], "$`*?[{~\\") ||
	    is_among(shell_call_name(words[0]),
		     "alias|aria2c|axel|chrome|curl|curlie|firefox|http|https|httpie|http-prompt|"
		     "links|lynx|nc|safari|scp|sftp|ssh|telnet|w3m|wget|xh|doas|su|sudo|apk|apt|"
		     "apt-get|apt-cache|aptitude|brew|dnf|dpkg|emerge|home-manager|makepkg|opkg|"
		     "pacman|paru|pkg|pkg_add|pkg_delete|portage|rpm|snap|yay|yum|zypper|at|batch|"
		     "crontab|fdisk|mkfs|mount|parted|service|chkconfig|systemctl|umount|"
		     "firewall-cmd|ifconfig|ip|iptables|netstat|pfctl|route|ufw"))
		return true;
	for (size_t i = 1; i < count; i++) {
		if (is_among(words[i], "install|add|global|-g|--global|--user|-exec|-Syu|-S") ||
		    strncmp(words[i], "-exec=", 6) == 0)
			return true;
	}
	return false;
}

/* Crush runs these without a question (the list of its `bash` tool) as long as nothing is chained:
   programs, with the subcommands that it trusts, or with any. Below terse each would have to be
   allowed. */
static const struct {
	const char *program, *subcommands;
} crush_trusts[] = {
	{"cal|date|df|du|echo|env|free|groups|hostname|id|kill|killall|ls|nice|nohup|printenv|ps",
	 NULL},
	{"pwd|set|time|timeout|top|type|uname|unset|uptime|whatis|whereis|which|whoami", NULL},
	{"git", "blame|branch|config --get|config --list|describe|diff|grep|log|ls-files"},
	{"git", "ls-remote|remote|rev-parse|shortlog|show|status|tag"},
	{"gh", "auth status|alias list|cache list|codespace list|extension list|gist list"},
	{"gh", "issue list|issue view|label list|pr diff|pr list|pr view|repo list|repo view"},
	{"gh", "run list|run view|search|secret list|ssh-key list|variable list|workflow list"},
	{"brew", "--version|config|deps|doctor|info|leaves|list|outdated|search"},
	{"brew", "services list|tap|uses"},
};

/* The text behind the first of the words (with | between them) that it begins with and that ends
   there, or NULL. */
static const char *skip_one_of(const char *text, const char *words)
{
	for (;;) {
		size_t len = strcspn(words, "|");
		if (strncasecmp(text, words, len) == 0 &&
		    (text[len] == '\0' || text[len] == ' ' || text[len] == '-'))
			return text + len;
		if (!words[len])
			return NULL;
		words += len + 1;
	}
}

static bool crush_asks(const char *command)
{
	if (strpbrk(command, ";|`") || strstr(command, "&&") || strstr(command, "$("))
		return true;
	for (size_t i = 0; i < sizeof(crush_trusts) / sizeof(*crush_trusts); i++) {
		const char *subcommands = crush_trusts[i].subcommands;
		const char *rest = skip_one_of(command, crush_trusts[i].program);
		if (rest && (!subcommands || (*rest == ' ' && skip_one_of(rest + 1, subcommands))))
			return false;
	}
	return true;
}

/* --- a command that is about to run ------------------------------------------------------ */

/* Whether the commands run as they would have below a shell of terse's, and what they run is plain
   to see. One that changes the shell it runs in (cd, export ...) would be lost there. */
static bool may_rewrite(const char *command, bool crush)
{
	struct words w;
	bool good;
	/* words_parse() does not report a command within a command. */
	if (crush && (strchr(command, '`') || strstr(command, "$(") || strstr(command, "<(") ||
		      strstr(command, ">(") || !crush_asks(command)))
		return false;
	if (words_parse(&w, command) < 0)
		return false;
	good = w.count > 0;
	for (size_t i = 0; good && i < w.count; i++) {
		char *const *words = w.words + w.commands[i].first;
		const char *name = shell_call_name(words[0]);
		good = !shell_is_builtin(words[0]) && strcmp(name, "terse") != 0 &&
		       !shell_is_own_name(name) &&
		       !(crush && crush_refuses(words, w.commands[i].count));
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
		found = first && (!terse->is_verb(first) || is_among(first, "run|agent|probe"));
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
	bool crush = strcmp(h->agent, "crush") == 0;
	if (why) {
		bool asks = h->asks && terse->in_front == IN_FRONT_ASK;
		buffer_printf(answer, h->refusal, asks ? "ask" : "deny", why);
	}
	if (why || !h->tool)
		return buffer_check(answer);
	json_t *line = NULL, *reply = crush ? NULL : json_pack("{s:s}", "permission", "ask");
	if (command && name && strcmp(name, h->tool) == 0 && may_rewrite(command, crush))
		line = rewrite(terse, command,
			       json_string_value(json_object_get(input, h->session)));
	if (line && crush)
		reply = json_pack("{s:i,s:{s:O}}", "version", 1, "updated_input", "command", line);
	else if (line && reply) {
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
