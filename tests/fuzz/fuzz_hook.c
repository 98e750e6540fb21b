// The input that agents give their hooks: whatever it is, the answer is nothing or one line of JSON
// that allows nothing, and the session to be ended has a name that can be one. The first byte
// chooses the hook.

#include "supervisor/command/internal.h"

#include "lib/buffer.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

static void check_answer(const char *agent, const struct buffer *answer)
{
	json_t *value = json_loadb(answer->data, answer->len, 0, NULL);
	const char *permission = json_string_value(json_object_get(value, "permission"));
	assert(json_is_object(value));
	assert(memchr(answer->data, '\n', answer->len) == answer->data + answer->len - 1);
	const char *decision = json_string_value(json_object_get(value, "decision"));
	assert(!decision || strcmp(decision, "deny") == 0);
	assert(strcmp(agent, "cursor") != 0 || (permission && strcmp(permission, "allow") != 0));
	json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const hooks[][2] = {
		{"claude", "SessionEnd"}, {"gemini", "SessionEnd"}, {"opencode", "session.deleted"},
		{"cursor", "sessionEnd"}, {"cursor", "preToolUse"}, {"claude", "PreToolUse"},
		{"gemini", "BeforeTool"},
	};
	static const struct hook_terse terse = {"/usr/bin/terse", 0};
	struct buffer answer = BUFFER_INIT;
	struct hook_outcome outcome;
	if (size == 0)
		return 0;
	const char *const *hook = hooks[*data % (sizeof(hooks) / sizeof(*hooks))];
	int status = hook_answer(hook[0], hook[1], (const char *)data + 1, size - 1, &terse,
				 &answer, &outcome);
	if (status == 0 && answer.len)
		check_answer(hook[0], &answer);
	if (status == 0)
		assert(strspn(outcome.session,
			      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "0123456789_-.") == strlen(outcome.session));
	buffer_release(&answer);
	return 0;
}
