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

struct hook;

struct call {
	const struct hook *hook;
	const json_t *input; /* NULL: it could not be read */
	const struct hook_terse *terse;
	const char *agent;
	struct buffer *answer;
	struct hook_outcome *outcome;
};

struct hook {
	const char *agent, *event;
	int (*run)(struct call *c);
	/* The end of a conversation: where its name is, or the variable by which the commands know
	   the agent, where they do not know their conversation. */
	const char *name[4], *mark;
};

/* A string at the end of a path of keys that ends with NULL. */
static const char *string_at(const json_t *value, const char *const *path)
{
	for (; value && *path; path++)
		value = json_object_get(value, *path);
	return json_string_value(value);
}

#define STRING_AT(value, ...) string_at(value, (const char *const[]){__VA_ARGS__, NULL})

/* Whether it can be the name of a session. */
static bool hook_is_name(const char *text)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_-.";
	size_t len = text ? strlen(text) : 0;
	return len > 0 && len <= HOOK_SESSION_MAX && strspn(text, good) == len &&
	       !strchr("-.", *text);
}

/* --- the end of a conversation ------------------------------------------------------------- */

/* Ends the session of a conversation, or the one that is named after the agent's process. */
static int hook_end(struct call *c)
{
	const char *name = string_at(c->input, c->hook->name);
	if (c->hook->mark) {
		c->outcome->ends = json_is_object(c->input);
		c->outcome->mark = c->hook->mark;
	} else if (hook_is_name(name)) {
		c->outcome->ends = true;
		snprintf(c->outcome->session, sizeof(c->outcome->session), "%s", name);
	}
	return 0;
}

/* --- rewriting ------------------------------------------------------------------------------- */

static bool is_among(const char *word, const char *const *list)
{
	for (; *list; list++) {
		if (strcmp(word, *list) == 0)
			return true;
	}
	return false;
}

/* Crush refuses these programs and arguments (the list of its `bash` tool). A command in which one
   of these occurs is left to it. */
static bool crush_refuses(char *const *words, size_t count)
{
	static const char *const programs[] = {
		"alias",    "aria2c",  "axel",      "chrome",    "curl",         "curlie",
		"firefox",  "http",    "https",     "httpie",    "http-prompt",  "links",
		"lynx",     "nc",      "safari",    "scp",       "sftp",         "ssh",
		"telnet",   "w3m",     "wget",      "xh",        "doas",         "su",
		"sudo",     "apk",     "apt",       "apt-get",   "apt-cache",    "aptitude",
		"brew",     "dnf",     "dpkg",      "emerge",    "home-manager", "makepkg",
		"opkg",     "pacman",  "paru",      "pkg",       "pkg_add",      "pkg_delete",
		"portage",  "rpm",     "snap",      "yay",       "yum",          "zypper",
		"at",       "batch",   "crontab",   "fdisk",     "mkfs",         "mount",
		"parted",   "service", "chkconfig", "systemctl", "umount",       "firewall-cmd",
		"ifconfig", "ip",      "iptables",  "netstat",   "pfctl",        "route",
		"ufw",      NULL};
	static const char *const arguments[] = {"install", "add",   "global", "-g", "--global",
						"--user",  "-exec", "-Syu",   "-S", NULL};
	if (is_among(shell_call_name(words[0]), programs))
		return true;
	for (size_t i = 1; i < count; i++) {
		if (is_among(words[i], arguments) || strncmp(words[i], "-exec=", 6) == 0)
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

/* Whether the commands run as they would have below a shell of terse's, and what they run is plain
   to see. One that changes the shell it runs in (cd, export ...) would be lost there. */
static bool may_rewrite(const char *command, bool crush)
{
	struct words w;
	bool good;
	/* words_parse() does not report a command within a command. */
	if (crush && (strchr(command, '`') || strstr(command, "$(") || strstr(command, "<(") ||
		      strstr(command, ">(")))
		return false;
	if ((crush && !crush_asks(command)) || words_parse(&w, command) < 0)
		return false;
	good = w.count > 0;
	for (size_t i = 0; good && i < w.count; i++) {
		char *const *words = w.words + w.commands[i].first;
		const char *name = shell_call_name(words[0]);
		good = !shell_is_builtin(words[0]) && strcmp(name, "terse") != 0 &&
		       !shell_is_own_name(name) &&
		       (!crush || (!strpbrk(words[0], "$`*?[{~\\") &&
				   !crush_refuses(words, w.commands[i].count)));
	}
	words_release(&w);
	return good;
}

/* The command below terse, to be released; NULL where it is left alone. */
static json_t *rewrite(const struct call *c, const char *tool, const char *session, bool crush)
{
	const char *command = STRING_AT(c->input, "tool_input", "command");
	const char *name = STRING_AT(c->input, "tool_name");
	struct buffer line = BUFFER_INIT;
	struct settings asked = {0};
	struct option_error error;
	struct comment comment;
	json_t *result = NULL;
	if (!command || !name || strcmp(name, tool) != 0 || !may_rewrite(command, crush))
		return NULL;
	quote_append(&line, c->terse->program);
	if (hook_is_name(session))
		buffer_printf(&line, " --session %s", session);
	comment_read(&comment, command, &asked, &error);
	for (size_t i = 0; i < comment.count; i++) {
		buffer_append(&line, " ", 1);
		quote_append(&line, comment.flags[i]);
	}
	buffer_append_string(&line, " -c ");
	quote_append(&line, command);
	if (buffer_check(&line) == 0)
		result = json_stringn(line.data, line.len);
	buffer_release(&line);
	return result;
}

/* Takes `reply`. */
static int hook_reply(struct call *c, json_t *reply)
{
	char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
	if (text)
		buffer_printf(c->answer, "%s\n", text);
	free(text);
	json_decref(reply);
	return text ? buffer_check(c->answer) : -1;
}

/* --- terse in front of a command -------------------------------------------------------- */

/* What the model is told; NULL: the command is none of these, or what it is is not plain. */
static const char *hook_refusal(const struct call *c)
{
	static const char plain[] =
		"Type the command itself, without terse in front of it: it runs under terse "
		"anyway.";
	static const char commented[] =
		"Type the command itself, without terse in front of it: it runs under terse "
		"anyway. For what options would ask, end it with a comment: "
		"# terse: yield=10s, timeout=5m, size=20KB (each as needed).";
	const char *command = STRING_AT(c->input, "tool_input", "command");
	const struct wiring *w = wiring_find(wirings, c->agent);
	struct words words;
	bool found = false;
	if (c->terse->in_front == IN_FRONT_PASS || !command || words_parse(&words, command) < 0)
		return NULL;
	/* Words that run another command below terse, which the agent's rules do not see. */
	for (size_t i = 0; !found && i < words.count; i++) {
		char *const *inner = words.words + words.commands[i].first;
		while (inner && strcmp(shell_call_name(inner[0]), "terse") != 0)
			inner = wrapper_inner(inner);
		const char *first = inner ? inner[1] : NULL;
		found = first && (!c->terse->is_verb(first) || strcmp(first, "run") == 0 ||
				  strcmp(first, "agent") == 0 || strcmp(first, "probe") == 0);
	}
	words_release(&words);
	return !found ? NULL : w && w->comment ? commented : plain;
}

static const char *hook_decision(const struct call *c)
{
	return c->terse->in_front == IN_FRONT_ASK ? "ask" : "deny";
}

static int claude_before(struct call *c)
{
	const char *why = hook_refusal(c);
	if (!why)
		return 0;
	return hook_reply(c, json_pack("{s:{s:s,s:s,s:s}}", "hookSpecificOutput", "hookEventName",
				       "PreToolUse", "permissionDecision", hook_decision(c),
				       "permissionDecisionReason", why));
}

/* Without a terminal Gemini CLI waits for the answer to a question for ever. */
static int gemini_before(struct call *c)
{
	const char *why = hook_refusal(c);
	if (!why)
		return 0;
	return hook_reply(c, json_pack("{s:s,s:s}", "decision", "deny", "reason", why));
}

static int opencode_before(struct call *c)
{
	const char *why = hook_refusal(c);
	if (why)
		buffer_printf(c->answer, "%s\n", why);
	return buffer_check(c->answer);
}

static int cursor_before(struct call *c)
{
	const char *why = hook_refusal(c);
	if (why)
		return hook_reply(c, json_pack("{s:s,s:s}", "permission", hook_decision(c),
					       "agent_message", why));
	json_t *command = rewrite(c, "Shell", STRING_AT(c->input, "conversation_id"), false);
	json_t *reply = json_pack("{s:s}", "permission", "ask");
	if (command && reply) {
		json_t *input = json_deep_copy(json_object_get(c->input, "tool_input"));
		json_object_set(input, "command", command);
		json_object_set_new(reply, "updated_input", input);
	}
	json_decref(command);
	return hook_reply(c, reply);
}

static int crush_before(struct call *c)
{
	const char *why = hook_refusal(c);
	if (why)
		return hook_reply(c, json_pack("{s:i,s:s,s:s}", "version", 1, "decision", "deny",
					       "reason", why));
	json_t *command = rewrite(c, "bash", STRING_AT(c->input, "session_id"), true);
	if (!command)
		return 0;
	return hook_reply(
		c, json_pack("{s:i,s:{s:o}}", "version", 1, "updated_input", "command", command));
}

/* ------------------------------------------------------------------------------------------ */

static const struct hook hooks[] = {
	{"claude", "SessionEnd", hook_end, .name = {"session_id"}},
	{"gemini", "SessionEnd", hook_end, .mark = "GEMINI_CLI"},
	{"opencode", "session.deleted", hook_end, .name = {"properties", "info", "id"}},
	{"cursor", "sessionEnd", hook_end, .name = {"conversation_id"}},
	{"claude", "PreToolUse", .run = claude_before},
	{"gemini", "BeforeTool", .run = gemini_before},
	{"opencode", "tool.execute.before", .run = opencode_before},
	{"cursor", "preToolUse", .run = cursor_before},
	{"crush", "PreToolUse", .run = crush_before},
};

int hook_answer(const char *agent, const char *event, const char *input, size_t len,
		const struct hook_terse *terse, struct buffer *answer, struct hook_outcome *outcome)
{
	*outcome = (struct hook_outcome){.ends = false};
	for (size_t i = 0; i < sizeof(hooks) / sizeof(*hooks); i++) {
		const struct hook *h = &hooks[i];
		if (strcmp(h->agent, agent) != 0 || strcmp(h->event, event) != 0)
			continue;
		json_t *value = json_read(input, len, 0, NULL);
		struct call c = {h, value, terse, agent, answer, outcome};
		int status = h->run(&c);

		json_decref(value);
		return status;
	}
	errno = EINVAL;
	return -1;
}
