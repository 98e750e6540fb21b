// terse run: runs a command under a supervisor.

#include "config/option.h"
#include "config/profile.h"
#include "lib/active.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "lib/trace.h"
#include "shim/exec_call.h"
#include "shim/shell.h"
#include "supervisor/agents/rule.h"
#include "supervisor/command/internal.h"
#include "supervisor/process/record.h"
#include "supervisor/process/spawn.h"
#include "supervisor/redact/redactor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

struct arguments {
	char **argv;         /* the command, NULL-terminated */
	const char *string;  /* a shell string, or NULL */
	const char *prelude; /* what the string's shell executes first, or NULL */
	const char *cwd;     /* or NULL */
	int caller;          /* --control or --leash; -1: not given */
	bool leashed;
	struct service service; /* from --service and its options */
	bool joins;             /* --join */
	int64_t cached_ms;      /* --cached, or 0 */
	const char *description;
};

/* Reports an error in the format that the settings name so far. Returns `exit_code`. */
static int run_fail(const struct job *given, const char *code, const char *message, int exit_code)
{
	struct job job = *given;
	struct secrets *made = job.secrets ? NULL : secrets_new(job.settings);
	struct buffer safe = BUFFER_INIT;
	if (made)
		job.secrets = made;
	if (job.secrets && redactor_string(job.secrets, message, &safe) == 0)
		message = buffer_string(&safe);
	const struct report failure = {.error_code = code,
				       .error_message = message ? message : code,
				       .state = REPORT_NOT_STARTED,
				       .exit_code = exit_code};
	if (job.settings->format == FORMAT_TEXT)
		verb_error(NULL, "%s", failure.error_message);
	else
		summary_print_failure(&job, &failure);
	buffer_release(&safe);
	secrets_free(made);
	return exit_code;
}

/* Reports why options could not be taken. An empty reason means that there was no memory. */
static int run_refuse(const struct job *job, const struct option_error *error)
{
	if (*error->text)
		return run_fail(job, "usage", error->text, EXIT_TERSE);
	return run_fail(job, "out_of_memory", strerror(ENOMEM), EXIT_TERSE);
}

/* Takes the descriptor of --control, or of --leash (o->at is 1). */
static const char *run_take_caller(void *into, const struct verb_option *o, const char *value)
{
	struct arguments *a = into;
	struct stat st;
	char *end;
	long fd = strtol(value, &end, 10);
	if (!*value || *end || fd <= STDERR_FILENO || fd > INT_MAX || fstat((int)fd, &st) < 0 ||
	    !S_ISSOCK(st.st_mode))
		return "not an open socket above 2";
	fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	a->caller = (int)fd;
	a->leashed = o->at == 1;
	return NULL;
}

bool run_is_fed(void)
{
	struct stat st;
	return fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

/* Makes the command that is executed: the words, or a shell with the string, which is put into
   `string`. A blank before a string like "-x" keeps it from being an option. With a `prelude`, the
   string still begins on line 1, since error messages name lines. Returns NULL with ENOMEM. */
static char **run_make_argv(const struct settings *s, const struct arguments *a,
			    const char *prelude, struct buffer *string)
{
	/* Shells with the eval of POSIX. */
	static const char *const posix[] = {"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"};
	if (!a->string)
		return a->argv;
	const char *shell = shell_find(s->shell);
	const char *blank = *a->string && strchr("-+", *a->string) ? " " : "";
	bool has_eval = false;
	for (size_t i = 0; prelude && i < sizeof(posix) / sizeof(*posix); i++)
		has_eval |= strcmp(posix[i], shell_call_name(shell)) == 0;
	if (has_eval) {
		/* eval puts a blank between its arguments. */
		buffer_printf(string, "%s; eval %s", prelude, *blank ? "'' " : "");
		quote_single(string, a->string);
	} else {
		buffer_printf(string, "%s%s", blank, a->string);
	}
	size_t count = 1;
	while (a->argv[count - 1])
		count++;
	char **argv = buffer_string(string) ? malloc((count + 3) * sizeof(*argv)) : NULL;
	if (argv) {
		argv[0] = (char *)shell;
		argv[1] = (char *)"-c";
		argv[2] = string->data;
		memcpy(argv + 3, a->argv, count * sizeof(*argv));
	}
	return argv;
}

int run_tell_exec_error(const struct job *job, int error)
{
	const char *command = job->program ? job->program : job->argv[0];
	const char *why =
		error == ENOENT && !strchr(command, '/') ? "command not found" : strerror(error);
	bool not_found = error == ENOENT;
	struct buffer message = BUFFER_INIT;
	buffer_printf(&message, "%s: %s", command, why);
	const struct verb *verb = not_found && !job->program ? verb_nearest(command) : NULL;
	if (not_found && shell_is_builtin(command))
		buffer_printf(&message, " (a shell string needs: terse -c '%s ...')", command);
	else if (verb)
		buffer_printf(&message, " (did you mean terse %s?)", verb->name);
	const char *text = buffer_string(&message);
	int exit_code = run_fail(job, not_found ? "not_found" : "not_executable", text ? text : why,
				 spawn_exit_status(error));
	buffer_release(&message);
	return exit_code;
}

/* Whether the output goes to an outer run that no person sees. */
static bool run_is_captured(void)
{
	const char *active = getenv(ACTIVE_NAME);
	return active && !active_has_person(active) && active_is_inside(active);
}

static bool run_is_off(void)
{
	const char *off = getenv("TERSE");
	return off && strcmp(off, "0") == 0;
}

bool run_is_bypassed(struct settings *s)
{
	const char *active = getenv(ACTIVE_NAME);
	bool asked =
		(s->format != FORMAT_TEXT && SETTING_ORIGIN(s, format) == ORIGIN_FLAG) ||
		(s->yield && SETTING_ORIGIN(s, yield) == ORIGIN_FLAG) ||
		(s->detach && SETTING_ORIGIN(s, detach) == ORIGIN_FLAG) ||
		(s->tty == TRI_YES && SETTING_ORIGIN(s, tty) == ORIGIN_FLAG && run_is_captured());
	return run_is_off() || (active && !asked && active_is_inside(active));
}

int run_supervised(struct job *job, struct settings *s, char *const *words, const char *string)
{
	struct option_error error = {""};
	job->settings = s;
	channels_look(&job->channels);
	/* `jobs`: the shell would use job control without terse, since it is interactive and has a
	   controlling terminal. */
	bool jobs = s->tty != TRI_NO && shell_call_is_interactive(job->argv);
	int terminal = jobs ? open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC) : -1;
	jobs = terminal >= 0;
	io_close(&terminal);
	/* Applies the settings of the agent and of the command's profile; not if a person reads,
	   since a person's programs keep their terminal. */
	bool wanted = job->channels.sink[0] != SINK_PERSON || s->print == PRINT_PREVIEW ||
		      s->format != FORMAT_TEXT;
	const char *agent = wanted && !s->agent ? rule_agent(s) : NULL;
	struct profile_choice choice;
	if (agent)
		rule_apply(s, agent);
	if ((wanted || s->profile) && profile_choose(s, words, string, &choice, &error) < 0 &&
	    *error.text) {
		if (SETTING_ORIGIN(s, profile) == ORIGIN_FLAG) {
			job->shown = NULL;
			return run_refuse(job, &error);
		}
		verb_error(NULL, "%s", error.text);
	}
	if (wanted)
		profile_apply(s, &choice);
	/* `asked`: a terminal is needed, since the caller asks for one, or a person may be asked
	   there. */
	bool asked = s->tty == TRI_YES || s->yield || s->detach || jobs || (s->person && s->agent);
	if (asked && s->pty == TRI_NO && SETTING_ORIGIN(s, pty) == ORIGIN_PROFILE)
		s->pty = TRI_AUTO;
	/* The caller, and not only a rule, has asked for a run in the background. */
	job->deliberate = s->detach || SETTING_ORIGIN(s, yield) == ORIGIN_FLAG;
	/* Traces the settings that come from the agent's section. */
	for (size_t i = 0; trace_fd >= 0 && i < option_count; i++) {
		const struct option *o = &option_table[i];
		char value[VALUE_LEN];
		if (option_source(s, o)->by == ORIGIN_AGENT)
			TRACE(CONFIG, "by agent %s: %s = %s", s->agent, o->key,
			      option_number_text(o, *option_number(s, o), value));
	}
	channels_decide(&job->channels, s, run_is_captured(), jobs);
	if (job->channels.direct)
		return run_tell_exec_error(job, spawn_exec(job, environ));
	/* If secrets can't be replaced, nothing may be kept, so the command is executed without
	   terse. */
	if (s->redact || s->redact_patterns.count > 0) {
		job->secrets = secrets_new(s);
		char **shown = job->secrets ? redactor_words(job->secrets, job->shown) : NULL;
		if (!shown)
			return run_tell_exec_error(job, spawn_exec(job, environ));
		job->shown = shown;
	}
	int status = job->cached_ms ? cached_answer(job) : -1;
	if (status >= 0)
		return status;
	/* Size and modes come from the person's terminal, if there is one, else from the
	   settings. */
	struct winsize size;
	job->cols = (unsigned)s->cols;
	job->rows = (unsigned)s->rows;
	if (job->channels.keyboard >= 0) {
		tcgetattr(job->channels.keyboard, &job->modes);
		/* While terse is in the background, the terminal has the modes of the shell's line
		   editor, so the usual modes are used instead. */
		if (tcgetpgrp(job->channels.keyboard) != getpgrp()) {
			job->modes.c_iflag |= ICRNL | IXON;
			job->modes.c_oflag |= OPOST | ONLCR;
			job->modes.c_lflag |= ICANON | ECHO | ECHOE | ECHOK | ISIG | IEXTEN;
		}
		job->raw = job->modes;
		cfmakeraw(&job->raw);
	}
	if (job->channels.person && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	    size.ws_col > 1 && size.ws_row > 1) {
		job->cols = size.ws_col;
		job->rows = size.ws_row;
	}
	return run_tell_exec_error(job, frontend_run(job));
}

static int run_run(struct verb_call *c)
{
	struct option_error error = {""};
	struct job job = {.settings = c->settings,
			  .started_ms = clock_real_ms(),
			  .begun_ms = clock_monotonic_ms()};
	struct arguments a = {.caller = -1};
	c->error = &error;
	int status = verb_parse(c, &a);
	a.argv = c->operands;
	const struct await *ready = &a.service.ready;
	const char *wrong = !a.service.name && (ready->pattern || ready->port || a.service.restart)
				    ? "--for, --port and --restart go with --service"
			    : a.service.name && !*a.service.name ? "--service: a name is missing"
			    : ready->port > UINT16_MAX           ? "--port: from 1 to 65535"
			    : a.cached_ms && (a.service.name || c->settings->detach)
				    ? "--cached goes with neither --service nor --detach"
				    : NULL;
	if (status == 0 && a.cwd && chdir(a.cwd) < 0)
		status = verb_fail(c, ENVELOPE_USAGE, "--cwd: %s: %m", a.cwd);
	else if (status == 0 && !a.string && c->operand_count == 0)
		status =
			verb_fail(c, ENVELOPE_USAGE, "run: no command given%s (see terse help run)",
				  run_is_fed() ? "; terse filter takes what is piped in" : "");
	else if (status == 0 && wrong)
		status = verb_fail(c, ENVELOPE_USAGE, "%s", wrong);
	c->error = NULL;
	if (status != 0)
		return run_refuse(&job, &error);
	/* A shell string may be given without -c. Its arguments follow it, as with sh -c. */
	if (!a.string && c->operand_count == 1 && shell_is_string(a.argv[0]))
		a.string = *a.argv++;
	if (a.caller >= 0)
		job.caller = a.caller;
	job.leashed = a.leashed;
	job.description = a.description;
	/* A command with standard input is not answered by an earlier run, whose input may have
	   differed. */
	if (a.cached_ms && !run_is_fed()) {
		job.cached_ms = a.cached_ms;
		job.environment = cached_environment();
		c->settings->spill = SPILL_ALWAYS;
	}
	struct buffer strings[2] = {BUFFER_INIT, BUFFER_INIT};
	char **shown = run_make_argv(c->settings, &a, NULL, &strings[0]), **longer = NULL;
	if (shown && a.prelude && a.string)
		longer = run_make_argv(c->settings, &a, a.prelude, &strings[1]);
	const bool bypassed = run_is_bypassed(c->settings);
	job.service = run_is_off() ? NULL : a.service.name;
	job.shown = shown;
	a.service.argv = shown;
	job.argv = a.prelude && a.string ? longer : shown;
	if (!job.argv) {
		status = run_fail(&job, "out_of_memory", strerror(errno), EXIT_TERSE);
	} else if ((job.service || (a.joins && !bypassed)) &&
		   (status = service_run(c, &a.service, &job.caller, &job.lock)) >= 0) {
		TRACE(CONFIG, "a service, or joined");
	} else if (bypassed && !job.service) {
		TRACE(CONFIG, "TERSE=0, or inside a run: the command is executed directly");
		c->settings->format = FORMAT_TEXT;
		status = run_tell_exec_error(&job, spawn_exec(&job, environ));
	} else {
		status = run_supervised(&job, c->settings, a.argv, a.string);
	}
	if (a.string)
		free(shown);
	free(longer);
	for (int i = 0; i < 2; i++)
		buffer_release(&strings[i]);
	return status;
}

static const struct verb_option run_options[] = {
	{"-c", 0, VERB_STRING, offsetof(struct arguments, string), "STRING",
	 "run a shell string (so is one argument with blanks or shell syntax)"},
	{"--cwd", 0, VERB_TEXT, offsetof(struct arguments, cwd), "DIR", "run the command in DIR"},
	{"--service", 0, VERB_TEXT, offsetof(struct arguments, service.name), "NAME",
	 "run it in the background under this name, unless one of this name already runs in "
	 "this directory"},
	{"--for", 0, VERB_TEXT, offsetof(struct arguments, service.ready.pattern), "REGEX",
	 "wait until the service prints a line that matches"},
	{"--port", 0, VERB_COUNT, offsetof(struct arguments, service.ready.port), "N",
	 "wait until the service listens on this port"},
	{"--restart", 0, VERB_FLAG, offsetof(struct arguments, service.restart), NULL,
	 "first end the service if it is running"},
	{"--join", 0, VERB_FLAG, offsetof(struct arguments, joins), NULL,
	 "if the same command already runs in this directory, wait for that run"},
	{"--cached", 0, VERB_TIME, offsetof(struct arguments, cached_ms), "TIME",
	 "if the same command succeeded with --cached in this directory and environment at most "
	 "this long ago, print what was kept of it"},
	{"--description", 0, VERB_TEXT, offsetof(struct arguments, description), "TEXT",
	 "what the command is for; terse list shows this"},
	{"--control", 0, VERB_TAKE, 0, "FD",
	 "for programs that run commands for others: speak the protocol of a live run on this "
	 "socket"},
	{"--leash", 0, VERB_TAKE, 1, "FD",
	 "the same, but the run ends when the other end is closed"},
	{"--prelude", 0, VERB_TEXT, offsetof(struct arguments, prelude), "STRING",
	 "shell code that runs before a shell string, in the same shell"},
	VERB_END_ROW,
};

const struct verb verb_run = {
	.name = "run",
	.purpose = "run a command",
	.forms = "COMMAND [ARG...]\n-c STRING [ARG...]",
	.text = "Runs COMMAND and prints what a person at a terminal would have seen. Output that\n"
		"is too long is kept on disk as an artifact; a preview with its ID is printed.\n"
		"Exits with the command's status: its exit code, or by the same signal. 124: "
		"timed\n"
		"out, 125: wrong usage, 126 and 127: the command can't be run or found.\n",
	.options = run_options,
	.more = -1,
	.command = true,
	.settings = "",
	.lists_settings = true,
	.take = run_take_caller,
	.run = run_run,
};
