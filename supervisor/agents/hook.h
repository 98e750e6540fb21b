// The input that an agent's hook reads, and the answer to it.
//
// Contracts (each is JSON; an input that is not understood gets no answer, which leaves the agent
// as it is without the hook):
//
//   claude SessionEnd         {session_id, reason ...}; no answer
//   gemini SessionEnd         {session_id, reason ...}; no answer
//   opencode session.deleted  the plugin's event: {properties: {info: {id}}}; no answer
//   cursor sessionEnd         {conversation_id ...}; no answer
//   cursor preToolUse         {conversation_id, tool_name: "Shell", tool_input: {command}}; the
//   answer
//                             has to have a `permission`, and anything else blocks: "ask", with
//                             updated_input where the command is rewritten
//   claude PreToolUse, gemini BeforeTool, opencode tool.execute.before
//                             {tool_name, tool_input: {command}}; no answer, or as below
//
// A command is rewritten to `terse --session CONVERSATION -c COMMAND`, unless that would change its
// effect.
//
// The agent's rules see `terse CMD` as a command of its own, so whatever they say of CMD would not
// hold for it. All that see a command before it runs answer such a one with "deny" or "ask", and
// what to type instead (opencode, which has no form for that, with this text alone). None ever
// answers "allow".
#ifndef TERSE_AGENTS_HOOK_H
#define TERSE_AGENTS_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

enum { HOOK_INPUT_MAX = 4 << 20, HOOK_SESSION_MAX = 128 };

struct hook_outcome {
	bool ends;                          /* a session does: */
	char session[HOOK_SESSION_MAX + 1]; /* its name; "": the caller's */
	const char *mark; /* a variable by which the agent's commands know it, or NULL */
};

struct hook_terse {
	const char *program; /* its path */
	bool (*is_verb)(const char *word);
	int64_t in_front; /* [shim] in_front */
};

/* Appends the answer. Returns 0, or -1 with errno: EINVAL: no such agent or event; ENOMEM. */
int hook_answer(const char *agent, const char *event, const char *input, size_t len,
		const struct hook_terse *terse, struct buffer *answer,
		struct hook_outcome *outcome);

#endif
