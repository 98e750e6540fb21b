// terse: the program.
//
// The rooms, each above those that it may include. docs/DESIGN.md has the edges between them and
// every file:
//
//   lib/                    buffer, io, json, utf8, proc ...: below all others
//   config/                 options, ini files, profiles, the words of a shell string
//   shim/                   shells; library/ is libterse-shim.so, which is preloaded
//   supervisor/agents/      rules, sessions, wiring, hook: all that is known of agents
//   supervisor/terminal/    bytes to text, as a terminal shows it
//   supervisor/preview/     which lines of a long text are shown
//   supervisor/artifact/    the store on disk, its history, cleaning up, archives
//   supervisor/remote/      artifacts in an object store: outbox, moving, reading
//   supervisor/redact/      secrets, replaced before anything else sees them
//   supervisor/report/      what is printed of a run: text, blocks, JSON
//   supervisor/reading/     pages, slices and searches of a text
//   supervisor/compare/     how two texts differ
//   supervisor/intercept/   one stream: terminal, artifact, preview and report put together
//   supervisor/process/     front end, supervisor, watchdog; pty, signals, control socket
//   supervisor/command/     the verbs
//   supervisor/mcp/         terse mcp: a server whose tools are these verbs
//
// Everything but this file is in libterse.a, which the tests, fuzzers and benchmarks link, too.

#include "config/option.h"
#include "lib/exec.h"
#include "lib/trace.h"
#include "shim/shell.h"
#include "shim/shell_string.h"
#include "supervisor/command/command.h"
#include "supervisor/command/help.h"
#include "supervisor/command/verb.h"
#include "supervisor/mcp/mcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
	const char *name;
	int (*run)(struct command_context *c, int argc, char **argv);
};

static const struct entry verbs[] = {
	{"run", command_run},           {"read", command_read},
	{"search", command_search},     {"show", command_show},
	{"list", command_list},         {"history", command_history},
	{"path", command_path},         {"filter", command_filter},
	{"replay", command_replay},     {"attach", command_attach},
	{"await", command_await},       {"send", command_send},
	{"signal", command_signal},     {"unarchive", command_unarchive},
	{"snapshot", command_snapshot}, {"config", command_config},
	{"doctor", command_doctor},     {"help", command_help},
	{"--help", command_help},       {"-h", command_help},
	{"version", command_version},   {"--version", command_version},
	{"-V", command_version},        {"-v", command_version},
	{"session", command_session},   {"rewind", command_rewind},
	{"drop", command_drop},         {"gc", command_gc},
	{"archive", command_archive},   {"agent", command_agent},
	{"probe", command_probe},       {"init", command_init},
	{"hook", command_hook},         {"__complete", command_complete},
	{"changes", command_changes},   {"stats", command_stats},
	{"report", command_report},     {"push", command_push},
	{"mcp", command_mcp},
};

static const struct entry *find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	}
	return NULL;
}

/* The verb whose help is asked for: --help or -h behind it, or behind options without a verb, which
   are those of a run. NULL: none. */
static const char *main_asked_help(const struct entry *verb, int argc, char **argv)
{
	const struct entry *first = verbs;
	/* Of several names of a verb its help has the first. */
	while (verb && first->run != verb->run)
		first++;
	const struct help_topic *topic = verb || argv[1][0] == '-' ? help_find(first->name) : NULL;
	int words = verb ? 2 : 1;
	return topic && help_is_asked(topic, argc - words, argv + words) ? topic->verb : NULL;
}

/* Without memory for the settings: a command that no option goes with is run as with TERSE=0.
   Returns if it is none, or can't be. */
static void run_anyway(int argc, char **argv)
{
	const char *shell[] = {shell_find(NULL), "-c", argv[1], NULL};
	if (argv[1][0] == '-' || find_verb(argv[1]))
		return;
	if (argc == 2 && shell_is_string(argv[1]))
		execv(shell[0], (char **)shell);
	else
		exec_search(argv[1], argv + 1);
}

/* Not every verb checks whether its output was written. */
static int main_end(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno != EPIPE)
		perror("terse: standard output");
	return status ? status : 1;
}

/* `make | terse` and `terse <log`: there is something to filter. */
static bool main_is_fed(void)
{
	struct stat st;
	return fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode));
}

/* Whether the error of a configuration file is a line on standard error. `terse config check`
   prints it itself. One in .terse.ini, which others may have written, is for people; an agent finds
   it in the footers and in doctor. */
static bool main_tells(const struct settings *s, const struct entry *verb, char **argv)
{
	if (verb && verb->run == command_config)
		return !argv[2] || strcmp(argv[2], "check") != 0;
	return !s->project_is_wrong || (isatty(STDIN_FILENO) && isatty(STDERR_FILENO));
}

int main(int argc, char **argv)
{
	struct settings settings;
	struct option_error error = {""};
	struct command_context context = {&settings};
	char *filter[] = {argv[0], (char *)"filter", NULL};
	/* A trace that can't be written stops nothing; doctor reports it. */
	trace_open(getenv(TRACE_VARIABLE), "terse " TERSE_VERSION);
	if (decision_is_shell(argv[0]))
		return command_shell(argv);
	if (mcp_is_leaving(argc, argv))
		return mcp_leave(argv);
	if (argc < 2 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return command_welcome();
	if (argc < 2 && !main_is_fed()) {
		command_help(&context, 1, argv);
		return EXIT_TERSE;
	}
	if (argc < 2) {
		argv = filter;
		argc = 2;
	}
	const struct entry *verb = find_verb(argv[1]);
	const char *asked = main_asked_help(verb, argc, argv);
	if (asked)
		return main_end(
			command_help(&context, 2, (char *[]){argv[0], (char *)asked, NULL}));
	if (settings_load(&settings, &error) < 0) {
		run_anyway(argc, argv);
		perror("terse");
		return EXIT_TERSE;
	}
	if (*error.text && main_tells(&settings, verb, argv))
		verb_error(NULL, "%s", error.text);
	int status =
		verb ? verb->run(&context, argc - 1, argv + 1) : command_run(&context, argc, argv);
	settings_release(&settings);
	return main_end(status);
}
