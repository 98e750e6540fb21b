// terse mcp: a server of the Model Context Protocol on standard input and output. For agents that
// can't be given a shell or a prefix: they get running, reading, searching and typing as tools.
//
// One process and one poll loop. Each call that needs a verb of terse is a child of its own, which
// is this program again (call.c), so a command is supervised as any run.

#include "config/option.h"
#include "config/settings.h"
#include "lib/active.h"
#include "supervisor/command/verb.h"
#include "supervisor/mcp/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

static const char *mcp_take_pattern(void *into, const struct verb_option *o, const char *value)
{
	struct server *s = into;
	(void)o;
	return allow_add(&s->allow, value);
}

/* Returns 0, or -1 with errno. */
static int mcp_init(struct server *s)
{
	ssize_t n = readlink("/proc/self/exe", s->program, sizeof(s->program) - 1);
	char directory[PATH_MAX];
	struct settings again;
	struct option_error error = {""};
	if (n < 0 || !shell_find_directory(directory))
		return -1;
	s->program[n] = '\0';
	shell_state_init(&s->start, directory, environ);
	if (s->allow.count > 0) {
		struct buffer path = BUFFER_INIT;
		allow_clean_path(getenv("PATH"), &path);
		if (buffer_string(&path))
			shell_state_set(&s->start, path.data);
		s->start.failed |= path.failed;
		buffer_release(&path);
	}
	/* The tools that run nothing are inside of no run. */
	unsetenv(ACTIVE_NAME);
	unsetenv("TERSE");
	s->settings->reach = s->all_sessions ? REACH_STORE : REACH_SESSION;
	/* The session of the artifacts: the agent's conversation, or else one that ends with this
	   process. */
	s->artifacts = session_name(s->settings, getppid(), s->room);
	if (strcmp(s->artifacts, "default") == 0 && !s->settings->session)
		s->artifacts = session_of_process("mcp", s->room);
	/* Each run reads the configuration, and says what is wrong there: main() has said it. */
	if (settings_load(&again, &error) == 0) {
		s->known = *error.text ? strdup(error.text) : NULL;
		settings_release(&again);
	}
	s->level = LOG_WARNING;
	return sessions_begin(&s->sessions, SESSIONS_DEFAULT, &s->start) ? 0 : -1;
}

static int mcp_run(struct verb_call *c)
{
	struct server *s = calloc(1, sizeof(*s));
	int status = EXIT_TERSE;
	if (s)
		s->settings = c->settings;
	if (s && verb_parse(c, s) < 0)
		goto out;
	if (!s || mcp_init(s) < 0 || server_run(s) < 0)
		verb_error("mcp", "%s", strerror(errno));
	else
		status = 0;
out:
	if (s) {
		allow_release(&s->allow);
		free(s->known);
	}
	free(s);
	return status;
}

static const struct verb_option mcp_options[] = {
	{"--read-only", 0, VERB_FLAG, offsetof(struct server, read_only), NULL,
	 "only the tools that neither run nor type anything"},
	{"--allow", 0, VERB_TAKE, 0, "PATTERN",
	 "run only commands that match word by word, such as 'npm test' or 'git log *' (with "
	 "options, too); may be given several times; what can't be checked is refused"},
	{"--all-sessions", 0, VERB_FLAG, offsetof(struct server, all_sessions), NULL,
	 "the tools reach the artifacts of every session"},
	{"--keep", 0, VERB_FLAG, offsetof(struct server, keep), NULL,
	 "commands that run when the server ends go on"},
	{"--structured", 0, VERB_FLAG, offsetof(struct server, structured), NULL,
	 "answers are JSON, as text and as structured content"},
	VERB_END_ROW,
};

const struct verb verb_mcp = {
	.name = "mcp",
	.purpose = "serve the tools of terse to an agent without a shell",
	.forms = "",
	.text = "Speaks the Model Context Protocol on standard input and output: an agent starts "
		"it and\n"
		"gets running, reading, searching and typing as tools.\n",
	.options = mcp_options,
	.take = mcp_take_pattern,
	.run = mcp_run,
};
