// Runs a command as an agent would. See wiring.h.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "shim/exec_call.h"
#include "supervisor/agents/probe.h"
#include "supervisor/agents/rule.h"
#include "supervisor/agents/wiring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 10000, OUTPUT_MAX = 256 << 10, WORDS_MAX = 24 };

/* Agents that call a hook: the hook rewrites the command, which is not executed here. */
static const struct {
	const char *agent, *event, *tool;
} hooks[] = {{"cursor", "preToolUse", "Shell"}, {"crush", "PreToolUse", "bash"}};

/* A call as the agent would make it, according to its section and its wiring. `terse agent` starts
   a bash under the name of the agent's process, and that bash makes the call. */
struct trial {
	const struct settings *settings;
	const char *agent, *made; /* made: a string of the agent's, or NULL */
	const struct place *place;
	bool types;          /* the agent types into a shell at a terminal */
	char home[PATH_MAX]; /* the directory of this trial */
	struct buffer texts; /* the words, each with its NUL */
};

/* Appends a valid shell string that fits the template and contains the command. */
static void append_instance(struct buffer *out, const char *template, const char *command)
{
	for (const char *at = template; *at; at++) {
		const char *before = at;
		while (before > template && before[-1] == ' ')
			before--;
		const bool file = before > template && strchr(">|", before[-1]);
		if (strncmp(at, "{command}", 9) == 0) {
			buffer_append_string(out, command);
			at += 8;
		} else if (strncmp(at, "{word}", 6) == 0) {
			quote_append(out, command);
			at += 5;
		} else if (*at == '*') {
			buffer_append_string(out, file ? "/dev/null" : ": ");
		} else if (*at == '\\' && at[1]) {
			buffer_append(out, *++at == 'n' ? "\n" : at, 1);
		} else {
			buffer_append(out, at, 1);
		}
	}
}

/* Appends a name that fits the pattern: its first alternative, without stars. */
static void append_name(struct buffer *out, const char *pattern)
{
	for (const char *at = pattern; *at && !strchr("| ", *at); at++)
		buffer_append(out, at, *at != '*');
}

static void add_word(struct trial *t, const char *word)
{
	buffer_append(&t->texts, word, strlen(word) + 1);
}

/* Appends the shell, its options and the string or file. `wired`: the shell that the agent's files
   name, or NULL. Returns 0, or -1 if the section has neither. */
static int trial_call(struct trial *t, const char *wired, const char *command)
{
	const char *string = rule_first(t->settings, t->agent, RULE_STRING),
		   *file = rule_first(t->settings, t->agent, RULE_FILE);
	const char *shell = string ? rule_first(t->settings, t->agent, RULE_SHELL) : "sh";
	const char *made = t->made ? strstr(t->made, PROBE_COMMAND) : NULL;
	struct buffer *out = &t->texts;
	if (t->types)
		add_word(t, "/bin/bash");
	if (t->types || (!string && !file))
		return t->types - 1;
	shell = shell ? shell : "*sh -c";
	add_word(t, wired ? wired : *shell == '*' ? "/bin/bash" : "/bin/sh");
	while (*(shell += strcspn(shell, " "))) {
		append_name(out, ++shell);
		add_word(t, "");
	}
	if (made) {
		buffer_append(out, t->made, (size_t)(made - t->made));
		buffer_append_string(out, command);
		add_word(t, made + strlen(PROBE_COMMAND));
		return 0;
	}
	if (string) {
		append_instance(out, string, command);
		add_word(t, "");
		return 0;
	}
	/* Writes the script, at a path below `home` that fits the template. */
	size_t path = out->len;
	buffer_append_string(out, t->home);
	for (const char *at = file + (*file == '*'); *at; at++)
		buffer_append(out, *at == '*' ? "x" : at, 1);
	add_word(t, "");
	char *name = out->failed || *file != '*' ? NULL : out->data + path, *slash = name;
	while (name && (slash = strchr(slash + 1, '/')) != NULL) {
		*slash = '\0';
		mkdir(name, 0700);
		*slash = '/';
	}
	int fd = name ? open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
	int status = fd < 0 ? -1 : io_write(fd, command, strlen(command));
	io_close(&fd);
	return status;
}

/* Builds the words of the call. Returns 0, or -1 if nothing is known about the agent's calls. */
static int trial_make(struct trial *t, const char *command)
{
	const struct wiring *w = wiring_find(wirings, t->agent);
	const struct wiring_item *item = w ? &w->files[0].items[0] : NULL;
	const char *mark = rule_first(t->settings, t->agent, RULE_ENVIRONMENT),
		   *name = rule_first(t->settings, t->agent, RULE_PARENT);
	const bool named = item && item->value && item->kind == WIRING_STRING;
	const char *key = named ? item->path[1] : NULL;
	size_t hook = 0;
	int status = 0;
	if (w && w->shell) {
		buffer_printf(&t->texts, "/usr/bin/env%cTERSE_INTERACTIVE=yes%c%s%c", 0, 0,
			      t->agent, 0);
		return buffer_check(&t->texts);
	}
	buffer_printf(&t->texts, "%s%cagent%c--as%c%s%c%s/", t->place->program, 0, 0, 0, t->agent,
		      0, t->home);
	size_t link = t->texts.len - strlen(t->home) - 1;
	name = name ? name : rule_first(t->settings, t->agent, RULE_PROCESS);
	append_name(&t->texts, name ? name : t->agent);
	buffer_printf(&t->texts, "%c-c%cexport ", 0, 0);
	append_name(&t->texts, mark ? mark : "TERSE_DOCTOR");
	buffer_printf(&t->texts, "%s; \"$@\"; exit $?%csh%c", mark && strchr(mark, '=') ? "" : "=1",
		      0, 0);
	while (hook < 2 && strcmp(hooks[hook].agent, t->agent) != 0)
		hook++;
	if (hook < 2) {
		buffer_printf(&t->texts,
			      "/bin/sh%c-c%cexec \"$0\" hook %s %s <<'E'\n{\"tool_name\":\"%s\","
			      "\"tool_input\":{\"command\":\"%s\"}}\nE\n%c%s%c",
			      0, 0, t->agent, hooks[hook].event, hooks[hook].tool, command, 0,
			      t->place->program, 0);
	} else if (key && strcmp(key, SHELL_PREFIX) == 0) {
		buffer_printf(&t->texts, "%s%c", t->place->shell, 0);
		append_instance(&t->texts, rule_first(t->settings, t->agent, RULE_STRING), command);
		add_word(t, "");
	} else {
		status = trial_call(t, named && !key ? t->place->shell : NULL, command);
	}
	return status == 0 && buffer_check(&t->texts) == 0
		       ? symlink("/bin/bash", t->texts.data + link)
		       : -1;
}

/* Opens the command's standard input: the kind that the section names, else /dev/null. The caller
   closes *other when the command has ended. */
static int trial_input(const struct trial *t, int *other)
{
	const char *stdin_ = rule_first(t->settings, t->agent, RULE_STDIN);
	int ends[2] = {-1, -1};
	if (stdin_ && strncmp(stdin_, "socket", 6) == 0) {
		/* Closes the other end, so that reading returns end of file. */
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
			io_close(&ends[1]);
		return ends[0];
	}
	if (t->types || (stdin_ && strncmp(stdin_, "/dev/pts/", 9) == 0)) {
		char name[64];
		*other = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
		return *other < 0 || grantpt(*other) < 0 || unlockpt(*other) < 0 ||
				       ptsname_r(*other, name, sizeof(name)) != 0
			       ? -1
			       : open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	}
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static _Noreturn void trial_exec(struct trial *t, int input, int output)
{
	/* Only these variables of the caller's are kept: others could change the result. */
	static const char *const names[] = {
		"PATH", "HOME", "TMPDIR", "LANG", "XDG_CONFIG_HOME", "TERSE_CONFIG"};
	enum { NAMES = sizeof(names) / sizeof(*names) };
	const char *values[NAMES];
	char *words[WORDS_MAX] = {NULL};
	size_t count = 0;
	for (size_t at = 0; at < t->texts.len && count + 1 < WORDS_MAX;
	     at += strlen(t->texts.data + at) + 1)
		words[count++] = t->texts.data + at;
	/* An interactive shell wants a terminal. */
	setsid();
	ioctl(input, TIOCSCTTY, 0);
	if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(output, STDERR_FILENO) < 0)
		_exit(126);
	io_close_others(STDERR_FILENO + 1, NULL, 0);
	for (size_t i = 0; i < NAMES; i++)
		values[i] = getenv(names[i]);
	/* Writes neither to the caller's store nor to the caller's shell history. */
	int status = clearenv() | setenv("TERSE_HOME", t->home, 1) | setenv("HISTFILE", "", 1);
	for (size_t i = 0; i < NAMES; i++)
		status |= values[i] ? setenv(names[i], values[i], 1) : 0;
	if (status == 0)
		execv(words[0], words);
	_exit(127);
}

bool self_test_is_preview(const struct self_test *t)
{
	static const char begin[] = "1\n2\n3\n", behind[] = "[terse: exit 0";
	const char *text = t->out.data, *end = text ? strstr(text, behind) : NULL;
	/* The last line is printed, or is the end of a range of folded lines. */
	return end && strncmp(text, begin, strlen(begin)) == 0 &&
	       (strstr(text, "\n5000\n") || strstr(text, " 5000]\n")) &&
	       strstr(end, ": terse read cmd-");
}

static const char leave[] = "exit $?\n";

/* Keeps only the text from the last echo of the typed command to the next prompt, with plain line
   ends and without the escape sequences of the shell's line editor. */
static void trial_cut(struct buffer *out, const char *command)
{
	size_t to = 0, len = strlen(command);
	for (size_t i = 0; i < out->len; i++) {
		if (out->data[i] == '\033' && i + 1 < out->len && out->data[i + 1] == '[') {
			for (i += 2; i < out->len && (unsigned char)out->data[i] < '@'; i++)
				;
			continue;
		}
		if (out->data[i] == '\r')
			continue;
		out->data[to++] = out->data[i];
		if (to > len && out->data[to - 1] == '\n' &&
		    memcmp(out->data + to - 1 - len, command, len) == 0)
			to = 0;
	}
	const char *prompt = memmem(out->data, to, leave, strlen(leave));
	while (prompt && prompt > out->data && prompt[-1] != '\n')
		prompt--;
	buffer_truncate(out, prompt ? (size_t)(prompt - out->data) : to);
}

int self_test_run(struct self_test *result, const struct settings *s, const char *agent,
		  const char *command, const struct place *place)
{
	struct trial t = {.settings = s, .agent = agent, .place = place, .made = result->string};
	const char *folder = getenv("TMPDIR");
	int ends[2] = {-1, -1}, input = -1, other = -1, status = -1;
	struct buffer *out = &result->out;
	const struct wiring *w = wiring_find(wirings, agent);
	*result = (struct self_test){.string = result->string, .status = -1};
	t.types = rule_types(s, agent) || (w && w->shell);
	snprintf(t.home, sizeof(t.home), "%s/terse-doctor-XXXXXX",
		 folder && *folder == '/' ? folder : "/tmp");
	if (!mkdtemp(t.home)) {
		buffer_printf(out, "%s: %s", t.home, strerror(errno));
		return -1;
	}
	if (trial_make(&t, command) < 0) {
		status = 0;
		goto out;
	}
	input = trial_input(&t, &other);
	fflush(stdout);
	int64_t begun = clock_monotonic_ms(), left;
	pid_t pid = input >= 0 && pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
	if (pid == 0)
		trial_exec(&t, input, t.types ? input : ends[1]);
	io_close(&ends[1]);
	io_close(&input);
	if (pid < 0) {
		buffer_append_string(out, strerror(errno));
		goto out;
	}
	if (t.types) {
		/* First types a line that prepares the shell: terse's hooks work from the second
		   line on, the echo must not scroll because of a long prompt, and the start-up file
		   may have named a history. */
		struct buffer typed = BUFFER_INIT;
		buffer_printf(&typed, " PS1= HISTFILE=\n%s\n%s", command, leave);
		if (buffer_check(&typed) == 0)
			io_write(other, typed.data, typed.len);
		buffer_release(&typed);
	}
	struct pollfd p = {.fd = t.types ? other : ends[0], .events = POLLIN};
	while (out->len < OUTPUT_MAX && buffer_reserve(out, 4096) == 0 &&
	       (left = begun + WAIT_MS - clock_monotonic_ms()) > 0) {
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		ssize_t n = read(p.fd, out->data + out->len, 4096);
		if (n <= 0)
			break;
		out->len += (size_t)n;
	}
	result->ms = clock_monotonic_ms() - begun;
	/* Kills a process that has not ended within the time. */
	kill(-pid, SIGKILL);
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		result->status = WEXITSTATUS(status);
	if (t.types)
		trial_cut(out, command);
	status = buffer_string(out) ? 1 : -1;
out:
	io_close(&input);
	io_close(&other);
	io_close(&ends[0]);
	io_remove_tree(t.home);
	buffer_release(&t.texts);
	return status;
}
