// terse run: a command under supervision.

#include "config/option.h"
#include "config/profile.h"
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
};

static int bad_usage(const char *what, const char *why)
{
	fprintf(stderr, "terse: %s: %s (see terse help run)\n", what, why);
	return -1;
}

static int change_directory(const char *path)
{
	if (chdir(path) == 0)
		return 0;
	fprintf(stderr, "terse: --cwd: %s: %s\n", path, strerror(errno));
	return -1;
}

/* The options that are no settings. Returns 1 if argv[*i] was one and moves past it, 0 if not,
   -1 after saying what is wrong. */
static int take_own(struct arguments *a, int argc, char **argv, int *i)
{
	static const char cwd[] = "--cwd";
	const char *name = argv[*i], *value = argv[*i + 1];
	bool is_string = strcmp(name, "-c") == 0;
	if (strncmp(name, cwd, sizeof(cwd) - 1) == 0 && name[sizeof(cwd) - 1] == '=') {
		(*i)++;
		return change_directory(name + sizeof(cwd)) < 0 ? -1 : 1;
	}
	if (!is_string && strcmp(name, cwd) != 0)
		return 0;
	if (*i + 1 >= argc)
		return bad_usage(name, "needs a value");
	*i += 2;
	if (is_string)
		a->string = value;
	else if (change_directory(value) < 0)
		return -1;
	return 1;
}

/* Reads the options up to the command. Returns 0, or -1 after saying what is wrong. */
static int parse(struct settings *s, int argc, char **argv, struct arguments *a)
{
	struct option_error error = {""};
	int i = 1;
	/* As with sh -c, what follows the string are its arguments. */
	while (i < argc && argv[i][0] == '-' && !a->string) {
		if (strcmp(argv[i], "--") == 0) {
			i++;
			break;
		}
		int taken = take_own(a, argc, argv, &i);
		if (taken == 0) {
			taken = settings_take_flag(s, argc, argv, &i, &error);
			if (taken < 0)
				fprintf(stderr, "terse: %s\n", error.text);
			else if (taken == 0)
				taken = bad_usage(argv[i], "no such option");
		}
		if (taken < 0)
			return -1;
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
		tcgetattr(job->layout.keyboard, &job->modes);
		/* In the background these are, by chance, what the shell's line editor has set. */
		if (tcgetpgrp(job->layout.keyboard) != getpgrp()) {
			job->modes.c_iflag |= ICRNL | IXON;
			job->modes.c_oflag |= OPOST | ONLCR;
			job->modes.c_lflag |= ICANON | ECHO | ECHOE | ECHOK | ISIG | IEXTEN;
		}
		job->raw = job->modes;
		cfmakeraw(&job->raw);
	}
	if (job->layout.person && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 &&
	    size.ws_row > 1) {
		job->cols = size.ws_col;
		job->rows = size.ws_row;
	}
}

/* Puts the settings of the command's profile in place. A person's programs keep their terminal, so
   it is for other readers. Returns 0, or -1 after saying that a flag names none. */
static int apply_profile(struct settings *s, const struct arguments *a)
{
	struct option_error error = {""};
	struct profile_choice choice;
	bool wanted = !isatty(STDOUT_FILENO) || s->print == PRINT_PREVIEW;
	if (!wanted && !s->profile)
		return 0;
	if (profile_choose(s, a->argv, a->string, &choice, &error) < 0 && *error.text) {
		fprintf(stderr, "terse: %s\n", error.text);
		if (option_source(s, option_by_key("run", "profile"))->by == ORIGIN_FLAG)
			return -1;
	}
	if (wanted)
		profile_apply(s, &choice);
	/* A terminal was asked for in so many words. */
	bool wants_terminal = s->tty == TRI_YES || s->yield || s->detach;
	if (wants_terminal && s->pty == TRI_NO &&
	    option_source(s, option_by_key("run", "pty"))->by == ORIGIN_PROFILE)
		s->pty = TRI_AUTO;
	return 0;
}

int command_run(struct command_context *c, int argc, char **argv)
{
	struct arguments a = {NULL, NULL};
	struct job job = {.settings = c->settings, .started_ms = clock_real_ms()};
	job.begun_ms = clock_monotonic_ms();
	if (parse(c->settings, argc, argv, &a) < 0)
		return EXIT_TERSE;
	if (!is_bypassed() && apply_profile(c->settings, &a) < 0)
		return EXIT_TERSE;
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
