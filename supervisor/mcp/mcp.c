// See mcp.h: the verb.

#include "supervisor/mcp/mcp.h"

#include "config/option.h"
#include "config/settings.h"
#include "lib/active.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"
#include "supervisor/mcp/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

extern char **environ;

/* The options that may be given several times are taken out, before the table of the others is
   used. Returns the number of arguments that are left, or -1 after saying what is wrong. */
static int mcp_take_patterns(struct server *s, int argc, char **argv)
{
	static const char option[] = "--allow";
	const size_t len = sizeof(option) - 1;
	int left = 1;
	for (int i = 1; i < argc; i++) {
		const char *value = NULL;
		if (strncmp(argv[i], option, len) == 0 && argv[i][len] == '=')
			value = argv[i] + len + 1;
		else if (strcmp(argv[i], option) == 0 && i + 1 < argc)
			value = argv[++i];
		if (!value) {
			argv[left++] = argv[i];
			continue;
		}
		const char *why = allow_add(&s->allow, value);
		if (why) {
			verb_error("mcp", "--allow: %s: %s", value, why);
			return -1;
		}
	}
	argv[left] = NULL;
	return left;
}

/* Returns 0, or -1 after saying what is wrong. */
static int mcp_parse(struct server *s, int argc, char **argv)
{
	const char *operand[1];
	const struct verb_option table[] = {
		{"--read-only", VERB_FLAG, &s->read_only},
		{"--structured", VERB_FLAG, &s->structured},
		{"--keep", VERB_FLAG, &s->keep},
		{"--all-sessions", VERB_FLAG, &s->all_sessions},
		{NULL, VERB_FLAG, NULL},
	};
	argc = mcp_take_patterns(s, argc, argv);
	int count = argc < 0 ? -1 : verb_parse(table, argc, argv, operand, 1);
	if (count > 0)
		verb_error("mcp", "%s: it takes options only (see terse help mcp)", operand[0]);
	return count == 0 ? 0 : -1;
}

/* The session of the artifacts: the agent's conversation, or else one that ends with this process.
 */
static void mcp_find_session(struct server *s)
{
	s->artifacts = session_name(s->settings, getppid(), s->room);
	if (strcmp(s->artifacts, "default") == 0 && !s->settings->session)
		s->artifacts = session_of_process("mcp", s->room);
}

/* Each child reads the configuration, and says what is wrong there: main() has said it already. */
static char *mcp_find_known_error(void)
{
	struct settings again;
	struct option_error error = {""};
	char *known = NULL;
	if (settings_load(&again, &error) < 0)
		return NULL;
	if (*error.text)
		known = strdup(error.text);
	settings_release(&again);
	return known;
}

/* Returns 0, or -1 with errno. */
static int mcp_init(struct server *s)
{
	ssize_t n = readlink("/proc/self/exe", s->program, sizeof(s->program) - 1);
	char directory[PATH_MAX];
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
	mcp_find_session(s);
	s->known = mcp_find_known_error();
	s->level = LOG_WARNING;
	return sessions_begin(&s->sessions, SESSIONS_DEFAULT, &s->start) ? 0 : -1;
}

bool mcp_is_leaving(int argc, char **argv)
{
	return argc == 5 && strcmp(argv[1], "mcp") == 0 && strcmp(argv[2], "--leave") == 0;
}

int mcp_leave(char **argv)
{
	return shell_leave_main(argv[3], argv[4], environ);
}

int command_mcp(struct command_context *c, int argc, char **argv)
{
	struct server *s = calloc(1, sizeof(*s));
	int status = EXIT_TERSE;
	if (s)
		s->settings = c->settings;
	if (s && mcp_parse(s, argc, argv) < 0)
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
