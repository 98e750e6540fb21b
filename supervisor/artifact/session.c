// See session.h.

#include "supervisor/artifact/session.h"

#include "config/settings.h"

#include <stdlib.h>

/* Claude Code and Codex name the conversation that a command belongs to. */
static const char *const variables[] = {
	"CLAUDE_CODE_SESSION_ID",
	"CODEX_THREAD_ID",
};

const char *session_name(const struct settings *settings)
{
	if (settings->session && *settings->session)
		return settings->session;
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);
		if (value && *value)
			return value;
	}
	return "default";
}
