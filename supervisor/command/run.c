// terse run: a command under supervision.

#include "config/option.h"
#include "shim/shell.h"
#include "supervisor/artifact/session.h"
#include "supervisor/base/clock.h"
#include "supervisor/command/command.h"
#include "supervisor/process/environment.h"
#include "supervisor/process/frontend.h"
#include "supervisor/process/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

struct arguments {
	char **argv;        /* the command, NULL-terminated */
	const char *string; /* a shell string, or NULL */
	const char *cwd;
};

static int bad_usage(const char *what, const char *why)
{
	fprintf(stderr, "terse: %s: %s (see terse help run)\n", what, why);
	return -1;
}

/* Reads the options up to the command. Returns 0, or -1 after saying what is wrong. */
static int parse(struct settings *s, int argc, char **argv, struct arguments *a)
{
	struct option_error error = {""};
	int i = 1;
	while (i < argc && argv[i][0] == '-') {
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		if (strcmp(argv[i], "-c") == 0 || strcmp(argv[i], "--cwd") == 0) {
			if (i + 1 >= argc)
				return bad_usage(argv[i], "needs a value");
			if (argv[i][1] == '-')
				a->cwd = argv[i + 1];
			else
				a->string = argv[i + 1];
			i += 2;
			/* As with sh -c, what follows the string are its arguments. */
			if (a->string)
				break;
			continue;
		}
		int taken = settings_take_flag(s, argc, argv, &i, &error);
		if (taken < 0) {
			fprintf(stderr, "terse: %s\n", error.text);
			return -1;
		}
		if (taken == 0)
			return bad_usage(argv[i], "no such option");
	}
	a->argv = argv + i;
	if (!a->string && i >= argc)
		return bad_usage("run", "no command given");
	if (!a->string && i + 1 == argc && shell_is_string(argv[i])) {
		a->string = argv[i];
		a->argv = argv + i + 1;
	}
	return 0;
}

/* The command as it is executed: the words, or a shell with the string. */
static char **make_argv(const struct settings *s, const struct arguments *a)
{
	size_t count = 0, n = 0;
	if (!a->string)
		return a->argv;
	while (a->argv[count])
		count++;
	char **argv = malloc((count + 4) * sizeof(*argv));
	if (!argv)
		return NULL;
	argv[n++] = (char *)shell_find(s->shell);
	argv[n++] = (char *)"-c";
	argv[n++] = (char *)a->string;
	for (size_t i = 0; i <= count; i++)
		argv[n++] = a->argv[i];
	return argv;
}

static int tell_exec_error(const char *command, int error)
{
	const char *why =
		error == ENOENT && !strchr(command, '/') ? "command not found" : strerror(error);
	fprintf(stderr, "terse: %s: %s", command, why);
	if (error == ENOENT && shell_is_builtin(command))
		fprintf(stderr, " (a shell string needs: terse -c '%s ...')", command);
	fputc('\n', stderr);
	return spawn_exit_status(error);
}

/* Whether to get out of the way: switched off, or supervised already. */
static bool is_bypassed(void)
{
	const char *off = getenv("TERSE"), *active = getenv(ENVIRONMENT_ACTIVE);
	return (off && strcmp(off, "0") == 0) || (active && *active);
}

/* The size and modes of the person's terminal; the settings say what it is otherwise. */
static void look_at_terminal(struct job *job)
{
	struct winsize size;
	job->cols = (unsigned)job->settings->cols;
	job->rows = (unsigned)job->settings->rows;
	if (job->layout.keyboard >= 0) {
		if (tcgetattr(job->layout.keyboard, &job->modes) == 0) {
			job->raw = job->modes;
			cfmakeraw(&job->raw);
		}
	}
	if (job->layout.person && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 &&
	    size.ws_row > 1) {
		job->cols = size.ws_col;
		job->rows = size.ws_row;
	}
}

int command_run(struct command_context *c, int argc, char **argv)
{
	struct arguments a = {NULL, NULL, NULL};
	struct job job = {.settings = c->settings, .started_ms = clock_real_ms()};
	job.begun_ms = clock_monotonic_ms();
	if (parse(c->settings, argc, argv, &a) < 0)
		return EXIT_TERSE;
	job.cwd = a.cwd;
	job.argv = job.shown = make_argv(c->settings, &a);
	if (!job.argv) {
		fprintf(stderr, "terse: %s\n", strerror(errno));
		return EXIT_TERSE;
	}
	if (!is_bypassed())
		layout_decide(&job.layout, c->settings);
	if (is_bypassed() || job.layout.direct)
		return tell_exec_error(job.argv[0], frontend_exec(&job));
	job.session = session_name(c->settings);
	look_at_terminal(&job);
	return tell_exec_error(job.argv[0], frontend_run(&job));
}
