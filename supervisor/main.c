// terse: the program.
//
// A map of the code, one line a file. Everything but this file is in
// libterse.a, which the tests, fuzzers and benchmarks link, too.
//
//   config/      option.c       the table every option comes from
//                value.c assign.c   typed values and putting them into the settings
//                ini.c load.c load_text.c project.c flag.c   files, variables, the command line
//                layer.c layer_list.c   sections with a name of their own
//                profile.c profiles.c builtin.c pattern.c wrapper.c   what a command is for
//                words*.c       shell strings
//                look.c         whether a command only looks at other runs
//                limit.c        how much of a text is printed
//                complaint.c nearest.c  what is said about a bad setting
//                help.c sample.c show.c completion.c wrap.c  written from the table
//   shim/        shell.c shell_call.c  when a shell is needed, which, and what it runs
//                preload.c detour.c   what the preloaded library has to know
//                library/       libterse-shim.so: see libterse-shim.h; not in libterse.a
//                rule.c agents.c template.c process.c  what is known of agents
//                decision.c     terse-sh: is it a tool call?
//                active.c       is this process inside a run?
//   supervisor/
//     base/      buffer io clock cpu human utf8 json_text: what all rooms use
//     process/   frontend.c     the process that was typed
//                keeper.c       the process that owns the pty
//                guard.c        ends a run whose keeper was killed; had it a signal, too?
//                front.c        whether the front end is stopped, or in the background
//                layout.c sink.c kin.c  who reads, and what the command gets as its streams
//                delivery.c     what has become of what was printed
//                lingering.c pace.c discard.c  background processes that still write
//                source.c       one channel from the command to its reader
//                intake.c       a thread that reads ahead of it where there is much
//                spawn.c environment.c signals.c pty.c  starting the command
//                family.c holder.c  ending it and all it started; who keeps its output open
//                message.c      between front end and keeper
//                live.c prompt.c  a run seen from outside; whether it waits for input
//                cast.c         when what was written
//                control.c visit.c condition.c  its socket: both sides, and what is told
//                record.c       its artifact and history
//                keys.c wait.c  what waits for keys that nobody can type, or for anything else
//                account.c reread.c  the report of it, where that is JSON or blocks
//     intercept/ interceptor.c  threshold, spill, live head, report; in parts:
//                bytes.c text.c preview.c closing.c collect.c
//                head.c tally.c  the first lines of what shows text; counting in its unit
//                raw.c sniff.c  raw bytes beside the text; binary output
//     terminal/  bytes to text: see terminal.h
//     preview/   which lines are shown: see preview.h
//     artifact/  the store on disk: see store.h and artifact.h
//                history.c recent.c last.c   the runs of a session; which one is `last`
//                gc.c retention.c seen.c inventory.c removal.c journal.c  and how it is cleaned up
//     redact/    secrets.c redactor.c  what is replaced before anything else sees it
//     archive/   an artifact as one file: see archive.h
//     search/    matcher.c      a pattern, and the lines it matches
//                syntax.c literal.c finder.c  strings that most lines lack
//                walk.c         through a text in blocks
//                listing.c excerpt.c notice.c  what is printed
//                watchdog.c     a pattern that takes for ever
//     report/    report.c json.c blocks.c  what is told of a run, and its writers
//                wording.c quote.c  every line terse itself prints
//                envelope.c     JSON of the verbs
//                kind.c         what binary data is
//                outlet.c       printing without blocking
//     reading/   page.c page_tail.c slice.c  the lines or bytes that are shown at once
//                fit.c hint.c   what fits; how to go on
//     wiring/    wirings.c      how each agent is told to run its commands through terse
//                wiring.c step.c wiring_json.c wiring_toml.c wiring_text.c  putting that into its
//                files, and taking it out
//                jsonc.c jsonc_edit.c toml.c toml_edit.c  changing a text in place
//                document.c diff.c  the files; what differs
//                hook.c         what an agent tells its hook, and the answer
//                place.c advice.c canary.c  where terse is; what to know; trying it
//     command/   one file a verb; runs.c (list, history), digest.c (filter, read --preview, show),
//                reader.c (who reads), verb.c, reach.c follow.c news.c live_list.c row.c
//                cleanup.c moment.c: what verbs share

#include "config/option.h"
#include "shim/decision.h"
#include "shim/shell.h"
#include "supervisor/command/command.h"
#include "supervisor/command/config.h"
#include "supervisor/command/verb.h"

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
	{"init", command_init},         {"hook", command_hook},
};

static const struct entry *find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	}
	return NULL;
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
		execvp(argv[1], argv + 1);
}

/* Not every verb looks at what has become of its words. */
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

int main(int argc, char **argv)
{
	struct settings settings;
	struct option_error error = {""};
	struct command_context context = {&settings};
	char *filter[] = {argv[0], (char *)"filter", NULL};
	if (decision_is_shell(argv[0]))
		return command_shell(argv);
	if (argc < 2 && !main_is_fed()) {
		command_help(&context, 1, argv);
		return EXIT_TERSE;
	}
	if (argc < 2) {
		argv = filter;
		argc = 2;
	}
	const struct entry *verb = find_verb(argv[1]);
	if (verb && argc == 3 && strcmp(argv[2], "--help") == 0)
		return main_end(command_help(&context, 2, (char *[]){argv[0], argv[1], NULL}));
	if (settings_load(&settings, &error) < 0) {
		run_anyway(argc, argv);
		perror("terse");
		return EXIT_TERSE;
	}
	/* What others have written into a directory is no reason to speak up in every run there. */
	if (*error.text && (!settings.project_is_wrong || (verb && verb->run == command_config)))
		verb_error(NULL, "%s", error.text);
	int status =
		verb ? verb->run(&context, argc - 1, argv + 1) : command_run(&context, argc, argv);
	settings_release(&settings);
	return main_end(status);
}
