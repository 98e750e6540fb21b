// terse-sh: finds out what its arguments mean, and whether an agent's tool call has started it.
//
//   terse-sh [-l] -c SCRIPT [args]   as a shell; -lc, -ic, -euo pipefail -c, -- as well
//   terse-sh SCRIPT                  one argument that is not a file, or any one argument under
//                                    CLAUDE_CODE_SHELL_PREFIX: a shell string
//   terse-sh FILE [args], terse-sh   as a shell; the library starts it for python FILE, too
//
// terse-sh stands for the user's real shell (shell_real() in shell.h), which gets exactly these
// arguments. libterse-shim.so starts terse-sh with the arguments of the shell that an agent wanted
// to start, argv[0] included, and with
//
//   TERSE_SHIM_PROGRAM   that shell's path
//   TERSE_SHIM_PRELOAD   what LD_PRELOAD was, for a shell that is passed on
//
// which are gone from the environment afterwards.

#include "config/settings.h"
#include "lib/human.h"
#include "shim/exec_call.h"
#include "shim/shell.h"
#include "supervisor/agents/probe.h"
#include "supervisor/agents/rule.h"
#include "supervisor/command/verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

struct decision {
	const char *program; /* the path of the real shell */
	char **argv;         /* its arguments */
	bool typed;          /* a program types into this shell */
	const char *agent;   /* the agent whose tool call this is; NULL: none, so the real shell is
				executed */
	char *command;       /* the part that the model wrote; NULL: it is not known */
	char base[PATH_MAX + 1]; /* holds the new argv[0] */
	char *string[4];         /* holds argv, if the only argument is a shell string */
};

#define PROGRAM "TERSE_SHIM_PROGRAM"
#define PRELOAD "TERSE_SHIM_PRELOAD"

/* Decides what is done with the call. `ask`: asks the agents' rules; without it the real shell is
   executed. Changes the environment and argv[0]. */
static void decision_make(struct decision *d, const struct settings *s, char **argv, bool ask)
{
	const char *meant = getenv(PROGRAM), *preload = getenv(PRELOAD);
	const char *name = argv[0] ? argv[0] : "";
	bool shimmed = meant && *meant, login = *name == '-';
	*d = (struct decision){.program = meant, .argv = argv};
	if (!shimmed && strcmp(shell_call_name(name) + login, SHELL_NAME_BASH) == 0)
		d->program = shell_find(NULL);
	else if (!shimmed)
		d->program = shell_real(s->shell, argv[0] && argv[1]);
	bool one = shell_is_one_string(argv, getenv(SHELL_PREFIX));
	/* argv[0] becomes the real shell's name, with the "-" of a login shell. */
	if (!shimmed && argv[0]) {
		snprintf(d->base, sizeof(d->base), "-%s", d->program);
		argv[0] = d->base + !login;
	}
	if (one) {
		d->string[0] = argv[0];
		d->string[1] = (char *)"-c";
		d->string[2] = argv[1];
		d->argv = d->string;
	}
	const char *string = shell_call_script(d->argv);
	if (ask)
		d->agent = rule_call(s, d->argv, string, &d->command);
	/* For a script file, the arguments say more than the file's path. */
	if (d->agent && !string) {
		free(d->command);
		d->command = NULL;
	}
	d->typed = ask && s->interactive && argv[0] && !string && !shell_call_file(argv) &&
		   isatty(STDIN_FILENO);
	/* A call that is passed on keeps the library; a supervised command runs without it. */
	if (preload && !d->agent && !d->typed)
		setenv("LD_PRELOAD", preload, 1);
	unsetenv(PROGRAM);
	unsetenv(PRELOAD);
}

/* Claude Code redirects the input of each command from /dev/null (eval '...' < /dev/null && ...). A
   command whose comment asks for yield gets its answers at its terminal, so its redirection is
   changed to /dev/tty. */
static void shell_open_terminal(char *script)
{
	static const char null[] = "< /dev/null", terminal[] = "< /dev/tty ";
	char *behind = NULL;
	for (char *at = script; (at = strstr(at, COMMENT_MARK)) != NULL; at++)
		behind = at;
	behind = behind ? strstr(behind, null) : NULL;
	if (behind)
		memcpy(behind, terminal, strlen(terminal));
}

static int shell_supervise(struct settings *s, struct decision *d)
{
	char *shown[] = {(char *)d->program, (char *)"-c", d->command, NULL};
	struct job job = {.program = d->program,
			  .argv = d->argv,
			  .shown = d->command ? shown : d->argv,
			  .started_ms = clock_real_ms(),
			  .begun_ms = clock_monotonic_ms()};
	struct option_error error;
	struct comment comment;
	rule_apply(s, d->agent);
	const bool comments = s->comments && d->command;
	if (comments && comment_read(&comment, d->command, s, &error) < 0)
		verb_error(NULL, "the comment is not obeyed: %s", error.text);
	else if (comments && comment.count > 0 && s->yield)
		shell_open_terminal((char *)shell_call_script(d->argv));
	/* An agent reads the output, and most agents merge both streams. So these are the defaults
	   here: they replace settings from files, but not those of an agent or from sources with a
	   higher precedence. Settings in files are meant for commands that begin with terse. */
	if (SETTING_ORIGIN(s, print) < ORIGIN_AGENT)
		s->print = PRINT_PREVIEW;
	if (SETTING_ORIGIN(s, streams) < ORIGIN_AGENT)
		s->streams = STREAMS_MERGED;
	return run_supervised(&job, s, d->argv, d->command);
}

int command_shell(char **argv)
{
	const char *names[] = {(const char *)getauxval(AT_EXECFN), argv[0]};
	bool is = false;
	for (int i = 0; i < 2; i++)
		is |= names[i] && shell_is_own_name(shell_call_name(names[i] + (*names[i] == '-')));
	if (!is)
		return -1;
	struct settings settings = {0};
	struct option_error error;
	struct decision d;
	bool loaded = settings_load(&settings, SETTINGS_SYSTEM_FILE, &error) == 0;
	const char *file = getenv(PROBE_VARIABLE);
	bool probed = file && *file;
	/* Under terse probe, records the call and executes the real shell. */
	if (probed && argv[0]) {
		bool one = shell_is_one_string(argv, getenv(SHELL_PREFIX));
		probe_record(file, argv, one ? argv[1] : shell_call_script(argv));
	}
	decision_make(&d, &settings, argv, !probed && loaded && !run_is_bypassed(&settings));
	const struct job job = {.settings = &settings, .program = d.program, .argv = d.argv};
	int status = d.agent   ? shell_supervise(&settings, &d)
		     : d.typed ? typed_run(&settings, d.program, d.argv)
			       : run_tell_exec_error(&job, spawn_exec(&job, environ));
	free(d.command);
	settings_release(&settings);
	return status;
}
