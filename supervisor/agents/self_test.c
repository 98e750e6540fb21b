// Runs a command as an agent would. See wiring.h.

#include "supervisor/agents/wiring.h"

#include "config/option.h"
#include "lib/active.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "shim/shell_string.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 10000, OUTPUT_MAX = 64 << 10 };

/* A call of a shell as an agent makes it, with all that terse's built-in rules look at. */
struct self_test {
	const char *agent;       /* and the name of the process that starts the shell */
	const char *environment; /* the agent's mark in it: NAME=VALUE, or NULL */
	const char *argv[4];     /* "SHELL": terse-sh; "TERSE": terse */
	/* The variables that its wiring sets: the library, the file for BASH_ENV, Claude Code's prefix. */
	bool preload, bash_env, prefix;
	bool socket; /* for its standard input, otherwise /dev/null or ... */
	const char *input, *expect;
};

#define COMMAND "seq 5000"

/* Agents that take a path for their shell, and those that start bash by its own. */
#define PREVIEWED            .expect = "full text: terse read cmd-"
#define BY_SHELL(name, mark) name, mark, {"SHELL", "-c", COMMAND}, PREVIEWED
#define BY_BASH(name, mark, string, ...) \
	name, mark, {"/bin/bash", "-c", string}, __VA_ARGS__ = true, PREVIEWED

static const struct self_test canaries[] = {
	{BY_BASH("claude", "CLAUDECODE=1",
		 "$" SHELL_PREFIX " \"true && eval '" COMMAND
		 "' < /dev/null && pwd -P >| /dev/null\"",
		 .prefix)},
	{BY_BASH("codex", "CODEX_THREAD_ID=terse-doctor", "exec /bin/bash -c '" COMMAND "'",
		 .bash_env = true, .preload)},
	{BY_SHELL("opencode", "OPENCODE=1")},
	{BY_SHELL("pi", "PI_CODING_AGENT=true")},
	{BY_BASH("gemini", "GEMINI_CLI=1",
		 "exec /bin/bash -c '{ " COMMAND
		 "; }; __code=$?; pgrep -g 0 >/dev/null 2>&1; exit $__code;'",
		 .preload)},
	{BY_BASH("qwen", "QWEN_CODE=1", "exec /bin/bash -c '" COMMAND "'", .preload)},
	{BY_BASH("copilot", "COPILOT_CLI=1", "exec /bin/bash --norc --noprofile -c '" COMMAND "'",
		 .preload)},
	{BY_SHELL("kilo", "KILO=1")},
	{BY_BASH("grok", "TERSE_AGENT=grok", "exec /bin/sh -c '" COMMAND "'", .socket = true,
		 .preload)},
	{"cursor",
	 NULL,
	 {"TERSE", "hook", "cursor", "preToolUse"},
	 .input = "{\"tool_name\":\"Shell\",\"tool_input\":{\"command\":\"" COMMAND "\"}}",
	 .expect = "\"permission\":\"ask\",\"updated_input\""},
};

/* The process that stands for the agent: the parent of the shell. */
static _Noreturn void become_agent(const struct self_test *c, const struct place *place,
				   const char *home, int input, int output)
{
	/* Variables of the caller that would change the result. */
	static const char *const names[] = {ACTIVE_NAME, "TERSE", "LD_PRELOAD", "BASH_ENV",
					    SHELL_PREFIX};
	setpgid(0, 0);
	prctl(PR_SET_NAME, c->agent);
	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(output, STDERR_FILENO) < 0)
		_exit(126);
	io_close_others(STDERR_FILENO + 1, NULL, 0);
	/* The store of the caller is not written to. */
	int status = setenv("TERSE_HOME", home, 1) |
		     unsetenv(option_by_key("session", "name")->variable);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		status |= unsetenv(names[i]);
	for (size_t i = 0; i < sizeof(canaries) / sizeof(*canaries); i++) {
		const char *mark = canaries[i].environment;
		char name[32];
		if (!mark)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(mark, "="), mark);
		status |= unsetenv(name);
	}
	pid_t pid = status == 0 ? fork() : -1;
	if (pid == 0) {
		char *argv[5] = {NULL}, script[PATH_MAX + sizeof(PLACE_UNLESS_VERBOSE)];
		for (size_t i = 0; i < 4 && c->argv[i]; i++)
			argv[i] = (char *)c->argv[i];
		if (strcmp(argv[0], "SHELL") == 0)
			argv[0] = (char *)place->shell;
		if (strcmp(argv[0], "TERSE") == 0)
			argv[0] = (char *)place->program;
		if (c->environment)
			status |= putenv((char *)c->environment);
		if (c->preload && *place->library)
			status |= setenv("LD_PRELOAD", place->library, 1);
		if (c->preload && *place->shell)
			status |= setenv("TERSE_SHIM_SHELL", place->shell, 1);
		snprintf(script, sizeof(script), "%s" PLACE_UNLESS_VERBOSE, place->bash_env);
		if (c->bash_env && *place->bash_env)
			status |= setenv("BASH_ENV", script, 1);
		if (c->prefix)
			status |= setenv(SHELL_PREFIX, place->shell, 1);
		if (status == 0)
			execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		_exit(126);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 126);
}

int self_test_run(const char *agent, const struct place *place, char reason[256])
{
	const struct self_test *c = canaries, *end = c + sizeof(canaries) / sizeof(*canaries);
	const char *folder = getenv("TMPDIR");
	struct buffer out = BUFFER_INIT;
	char home[PATH_MAX];
	int ends[2] = {-1, -1}, inputs[2] = {-1, -1}, status = -1;
	while (c < end && strcmp(c->agent, agent) != 0)
		c++;
	if (c == end)
		return 0;
	snprintf(home, sizeof(home), "%s/terse-doctor-XXXXXX",
		 folder && *folder == '/' ? folder : "/tmp");
	if (!mkdtemp(home)) {
		snprintf(reason, 256, "%.200s: %s", home, strerror(errno));
		return -1;
	}
	/* The command's standard input: a socket whose other end is closed, an unnamed file with a
	   text, or nothing. */
	if (c->socket && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, inputs) == 0)
		io_close(&inputs[1]);
	else if (!c->socket)
		inputs[0] = c->input ? open(home, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)
				     : open("/dev/null", O_RDONLY | O_CLOEXEC);
	bool ready = inputs[0] >= 0 && pipe2(ends, O_CLOEXEC) == 0;
	if (ready && c->input)
		ready = io_write_at(inputs[0], c->input, strlen(c->input), 0) == 0;
	fflush(stdout);
	pid_t pid = ready ? fork() : -1;
	if (pid == 0)
		become_agent(c, place, home, inputs[0], ends[1]);
	io_close(&ends[1]);
	if (pid < 0) {
		snprintf(reason, 256, "%s", strerror(errno));
		goto out;
	}
	/* Until the output ends or the time is up. */
	int64_t stop = clock_monotonic_ms() + WAIT_MS, left;
	struct pollfd p = {.fd = ends[0], .events = POLLIN};
	while (out.len < OUTPUT_MAX && buffer_reserve(&out, 4096) == 0 &&
	       (left = stop - clock_monotonic_ms()) > 0) {
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		ssize_t n = read(ends[0], out.data + out.len, 4096);
		if (n <= 0)
			break;
		out.len += (size_t)n;
	}
	/* A process that kept to the time limit has ended by now. */
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* The first line is the reason. */
	const char *text = buffer_string(&out);
	if (text && memmem(text, out.len, c->expect, strlen(c->expect)))
		status = 1;
	else
		snprintf(reason, 256, "%.*s", (int)strcspn(text ? text : "", "\n"),
			 text ? text : "");
out:
	io_close(&inputs[0]);
	io_close(&ends[0]);
	io_remove_tree(home);
	buffer_release(&out);
	return status;
}
