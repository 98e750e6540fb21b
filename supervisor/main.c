// terse: the program.
//
// docs/DESIGN.md lists all rooms and files. Everything but this file is in libterse.a, which tests,
// fuzzers and benchmarks also link.

#include "lib/exec.h"
#include "lib/trace.h"
#include "shim/exec_call.h"
#include "shim/shell.h"
#include "supervisor/command/verb.h"
#include "supervisor/mcp/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Called if there is no memory for the settings: executes the command as TERSE=0 does, if no
   options of terse precede it. Returns if that is not possible. */
static void run_anyway(int argc, char **argv)
{
	const char *shell[] = {shell_find(NULL), "-c", argv[1], NULL};
	if (argv[1][0] == '-' || verb_named(argv[1]))
		return;
	if (argc == 2 && shell_is_string(argv[1]))
		execv(shell[0], (char **)shell);
	else
		exec_search(argv[1], argv + 1);
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct option_error error = {""};
	char *filter[] = {argv[0], (char *)"filter", NULL};
	const char *traced = getenv(TRACE_VARIABLE);
	/* Ignores errors: terse doctor reports a trace that can't be written. */
	if (traced)
		trace_open(traced, "terse " TERSE_VERSION);
	int status = command_shell(argv);
	if (status >= 0)
		return status;
	/* The shells of terse mcp's commands run this when they end, so no settings are loaded for
	   it. */
	if (argc == 5 && strcmp(argv[1], "mcp") == 0 && strcmp(argv[2], "--leave") == 0)
		return shell_leave_main(argv[3], argv[4], environ);
	if (argc < 2 && !run_is_fed()) {
		status = verb_print_help(NULL);
		return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? status : EXIT_TERSE;
	}
	if (argc < 2) {
		argv = filter;
		argc = 2;
	}
	const struct verb *named = verb_named(argv[1]);
	/* Without a verb's name, the words are arguments of `terse run`. */
	struct verb_call call = {.verb = named ? named : verbs[0],
				 .settings = &settings,
				 .argc = named ? argc - 1 : argc,
				 .argv = named ? argv + 1 : argv};
	if (settings_load(&settings, SETTINGS_SYSTEM_FILE, &error) < 0) {
		run_anyway(argc, argv);
		perror("terse");
		return EXIT_TERSE;
	}
	/* An error in a configuration file is printed on standard error. An error in .terse.ini,
	   which others may have written, is printed only for people; an agent sees it in footers
	   and in terse doctor. `terse config check` prints errors itself. */
	bool tells = !settings.project_is_wrong || (isatty(STDIN_FILENO) && isatty(STDERR_FILENO));
	if (named && strcmp(named->name, "config") == 0)
		tells = !argv[2] || strcmp(argv[2], "check") != 0;
	if (*error.text && tells)
		verb_error(NULL, "%s", error.text);
	status = call.verb->run(&call);
	settings_release(&settings);
	/* Some verbs don't check whether their output was written, so that is checked here. */
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno != EPIPE)
		perror("terse: standard output");
	return status ? status : 1;
}
