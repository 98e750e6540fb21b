// terse version

#include "config/error.h"
#include "config/option_print.h"
#include "lib/buffer.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"

#include <stdio.h>
#include <string.h>

int command_version(struct command_context *c, int argc, char **argv)
{
	(void)c, (void)argc, (void)argv;
	puts("terse " TERSE_VERSION);
	return 0;
}

// terse help [VERB]

struct topic {
	const char *verb, *summary, *synopsis, *text;
};

#define RUNS_HELP                                                                       \
	"  --all                 of all sessions\n"                                     \
	"  --session NAME        of that session\n"                                     \
	"  --command TEXT        whose command holds TEXT\n"                            \
	"  --state STATE         running, done, interrupted\n"                          \
	"  --exit N|failed       that ended so\n"                                       \
	"  --since WHEN          that began then or later: 2h ago, 14:05, 2026-11-20\n" \
	"  --until WHEN          or before\n"                                           \
	"  --limit N             so many (30)\n"                                        \
	"  --json                for programs\n"

static const struct topic topics[] = {
	{"run", "run a command",
	 "terse [run] [OPTIONS] COMMAND [ARG...]\n       terse [run] [OPTIONS] -c STRING",
	 "Runs COMMAND and prints what a person at a terminal would have seen of it. Output that "
	 "is\n"
	 "too long is kept on disk, and a preview with the ID of that artifact is printed.\n"
	 "Ends with the command's status: its exit code, or by the same signal. 124: timed out,\n"
	 "125: terse was called wrongly, 126 and 127: the command can't be run or found.\n\n"
	 "  -c STRING             run a shell string (one argument with blanks or shell syntax is "
	 "one, too)\n"
	 "  --cwd DIR             run the command in DIR\n"},
	{"read", "lines, bytes or the end of an artifact or a file", "terse read [OPTIONS] ID|FILE",
	 "Prints lines of an artifact (or of any file). A page at most, then how to go on; a "
	 "program that\n"
	 "reads it gets all of them. ID: as printed, a unique beginning of it, or last, last-1, "
	 "... "
	 "of\n"
	 "this session.\n\n"
	 "  --offset N            first line, from 1; below 0: from the end\n"
	 "  --limit N             how many lines\n"
	 "  --tail N              the last N lines\n"
	 "  --bytes FROM[:LENGTH] bytes by their place in the text (LENGTH: 32KB)\n"
	 "  --preview             what run printed of it; or would with --size, --mode and other\n"
	 "                        options of run, and with --exit-code N\n"
	 "  --stderr              the text of standard error, where it was kept apart\n"
	 "  --raw                 the bytes as the command wrote them, where they were kept\n"
	 "  -a                    print binary data, too\n"
	 "  --session NAME        the session that last looks at\n"
	 "  --json                for programs\n"},
	{"search", "lines of an artifact or a file that match",
	 "terse search [OPTIONS] ID|FILE|--all REGEX",
	 "Prints the lines of an artifact (or of any file) that match, as LINE:text, at most 100 "
	 "of them,\n"
	 "and how many there are in all; a program that reads it gets every one. Patterns are "
	 "Perl's.\n"
	 "Ends with 1 if nothing matches.\n\n"
	 "  -i, -w, -v, -F        ignore case, whole words, lines that do not match, a plain "
	 "string\n"
	 "  -A N, -B N, -C N      lines of context behind, before, around\n"
	 "  -c, -l                only the count; only the names of the texts that match\n"
	 "  -e REGEX              the pattern, if it begins with a hyphen\n"
	 "  -a                    print lines of binary data, too\n"
	 "  --limit N             print so many matches\n"
	 "  --offset N            begin at line N\n"
	 "  --all                 all artifacts of the session\n"
	 "  --session NAME        of that session\n"
	 "  --stderr              the text of standard error, where it was kept apart\n"
	 "  --json                for programs\n"},
	{"show", "what is known about a run, and its preview",
	 "terse show [--session NAME] [--json] ID",
	 "What is known about a run, and its preview.\n"},
	{"list", "what was kept in this session; --live: what runs now",
	 "terse list [OPTIONS]\n       terse list --live [--watch]",
	 "What was run and kept in this session, newest first.\n\n" RUNS_HELP
	 "  --live                what runs now, in all sessions, and its last line\n"
	 "  --watch               the same again and again, until a key is pressed\n"},
	{"history", "all runs of this session", "terse history [OPTIONS]",
	 "All runs of this session that have ended, newest first.\n\n" RUNS_HELP},
	{"await", "wait for the end of a command that goes on by itself, or for a line of it",
	 "terse await ID [--timeout TIME] [--for REGEX [--offset N]] [--idle TIME]",
	 "Waits until a command that goes on by itself (run --yield, --detach) has ended or asks "
	 "for\n"
	 "input, prints what was not shown yet, and ends with the command's status (128 and the\n"
	 "signal), or [run] yield_status when it asks.\n\n"
	 "  --timeout TIME        wait this long at most, and end with 124\n"
	 "  --for REGEX           until a line of its text matches, also one that can still be "
	 "redrawn;\n"
	 "                        ends with 0, or 1 if the command ends well without it\n"
	 "  --offset N            look from line N on (default 1)\n"
	 "  --idle TIME           until it has printed nothing and was not typed to for this "
	 "long\n"},
	{"send", "type into a command that runs",
	 "terse send ID TEXT|--key KEY|--eof|--file FILE ... [--await]",
	 "Types into a command that runs and has a terminal (run --yield, --detach, --tty), all "
	 "in\n"
	 "the order given. TEXT is typed as it is; --key enter ends a line.\n\n"
	 "  --key KEY             enter tab escape space backspace up down left right home end "
	 "insert\n"
	 "                        delete pageup pagedown f1 to f12 ctrl-c alt-x shift-tab\n"
	 "  --eof                 the end of input\n"
	 "  --file FILE           what is in FILE (-: in standard input)\n"
	 "  --await               then waits as terse await does; --timeout, --for and --idle are "
	 "for that\n"},
	{"snapshot", "the screen of a command that runs", "terse snapshot ID [--json]",
	 "Prints the screen of a command that runs, full-screen programs, too.\n\n"
	 "  --json                with its size, cursor, title, and whether it is a screen of its "
	 "own\n"},
	{"attach", "make this terminal the one of a command that runs",
	 "terse attach ID [--read-only]",
	 "Makes this terminal the one of a command that runs, which gets its size; ctrl-\\ leaves "
	 "it "
	 "again.\n\n"
	 "  --read-only           look only\n"},
	{"signal", "end a command that runs, or send it a signal", "terse signal ID [SIGNAL]",
	 "Ends a command that runs and all it has started: SIGTERM, SIGKILL after the grace time; "
	 "what\n"
	 "made a session of its own (daemons) is left alone. With SIGNAL, sends that to the "
	 "command's\n"
	 "process group.\n"},
	{"replay", "show a recorded run as it was", "terse replay ID [--speed N] [--max-wait TIME]",
	 "Shows what a command wrote as it wrote it, if it was run with --record.\n\n"
	 "  --speed N             so many times as fast\n"
	 "  --max-wait TIME       no pause is longer\n"},
	{"path", "the file that holds the text of an artifact",
	 "terse path [--stderr|--raw] [--session NAME] [--json] ID",
	 "The file that holds the text of an artifact (--raw: its raw bytes).\n"},
	{"session", "list, show, end and make sessions",
	 "terse session [list]\n       terse session show [NAME]\n       terse session end [NAME] "
	 "[--now]\n       terse session new [NAME]",
	 "Lists the sessions, tells about one, ends one, or makes a new one and prints its name\n"
	 "(export TERSE_SESSION=$(terse session new)). NAME: else the caller's session.\n"
	 "The artifacts of a session that has ended are removed after [session] keep.\n\n"
	 "  --now                 remove them at once\n"},
	{"rewind", "remove a run and all later ones of its session",
	 "terse rewind [--dry-run] [--session NAME] ID | --to TIME",
	 "Removes the artifact of that run and those of all later runs of its session, and these\n"
	 "runs from its history. What still runs stays.\n\n"
	 "  --to TIME             runs from then on: 30m (ago), 14:05, \"2026-11-20 14:05\", "
	 "@SECONDS\n"
	 "  --dry-run             only tell what would be removed\n"},
	{"drop", "remove artifacts", "terse drop [--session NAME] ID...",
	 "Removes artifacts. What still runs stays.\n"},
	{"gc", "remove what is old, too much, or of ended sessions",
	 "terse gc [--dry-run] [OPTIONS]",
	 "Removes artifacts over the limits of [gc], those of sessions that have ended, and what\n"
	 "crashes have left behind. What still runs stays. Done by itself after a run, once in a\n"
	 "while ([gc] interval). OPTIONS: --gc-age, --gc-size, --gc-count (see terse help run).\n\n"
	 "  --dry-run             only tell what would be removed\n"},
	{"archive", "write an artifact to one file, to be passed on",
	 "terse archive [--output FILE|-] [--force] [--cast|--cast3] [--session NAME] ID",
	 "Writes an artifact with all that belongs to it to one compressed file, to be passed on\n"
	 "(ID.terse.zst in this directory).\n\n"
	 "  --output FILE         to this file; -: to standard output\n"
	 "  --force               in place of one that is there\n"
	 "  --cast, --cast3       the recording alone (run --record), as an asciicast of version 2 "
	 "or "
	 "3,\n"
	 "                        which asciinema plays (ID.cast)\n"},
	{"unarchive", "take an artifact out of such a file",
	 "terse unarchive [--session NAME] FILE|-",
	 "Takes an artifact out of such a file, into this session. It keeps its ID.\n"},
	{"filter", "treat a file or standard input as a command's output",
	 "terse filter [OPTIONS] [FILE]",
	 "Treats FILE, or standard input (terse alone does, if that is a pipe or a file), as a "
	 "command's\n"
	 "output and prints what run would have printed.\n\n"
	 "  --exit-code N         the command ended so (default 0)\n"
	 "  --onlcr yes|no        no: a line feed only moves down, as in a recording of a "
	 "terminal\n"
	 "                        that did output processing (default yes)\n"},
	{"config", "the settings in force; check and write ini files",
	 "terse config [--json] [OPTIONS] [[--] COMMAND...]\n       terse config "
	 "--profiles|--agents [--json]\n"
	 "       terse config get KEY\n       terse config set KEY VALUE...\n"
	 "       terse config check [FILE...]\n       terse config init [FILE|-]\n"
	 "       terse config completion [bash]",
	 "Prints the settings in force and where each comes from, or one of them (get); changes "
	 "one in\n"
	 "the user's ini file and leaves the rest of that as it is (set); checks ini files; writes "
	 "a\n"
	 "commented one (init); prints a completion for bash. KEY: as in report.size; size, --size "
	 "and\n"
	 "TERSE_SIZE are the same.\n\n"
	 "  --profiles            what is known about commands, in the syntax of the ini\n"
	 "  --agents              what is known about agents, in the same syntax\n"
	 "  --json                the same for programs\n"
	 "  --man                 the manual page terse.ini(5)\n"},
	{"agent", "start an agent whose shell commands go through terse",
	 "terse agent COMMAND [ARG...]",
	 "Starts an agent so that its shell commands are run through terse, by libterse-shim.so "
	 "in\n"
	 "LD_PRELOAD: claude, codex, opencode, pi and gemini are known (terse config --agents).\n"
	 "If the library is missing, the agent starts without.\n"},
	{"init", "wire an agent up in its own configuration",
	 "terse init AGENT [--user|--project] [--instructions] [--dry-run]\n"
	 "       terse init AGENT --undo [--user|--project] [--dry-run]",
	 "Tells an agent, in its own configuration, to run its commands through terse. AGENT: "
	 "claude,\n"
	 "codex, opencode, pi, gemini, cursor, crush. Everything else in its files stays as it "
	 "is.\n\n"
	 "  --user                for all projects of yours (what is done by itself)\n"
	 "  --project             for the project in this directory\n"
	 "  --instructions        put lines for the model into the file it reads (CLAUDE.md, "
	 "AGENTS.md "
	 "...)\n"
	 "  --dry-run             only print what would change\n"
	 "  --undo                make the files what they were\n"},
	{"hook", "what terse init puts into an agent's files", "terse hook AGENT EVENT",
	 "What terse init puts into an agent's files: reads from standard input what happened, "
	 "and\n"
	 "ends the session of a conversation that has ended, or rewrites a command (cursor, "
	 "crush).\n"},
	{"doctor", "whether everything is in place here", "terse doctor [--json]",
	 "Checks whether everything terse needs is in place here, and how agents are wired up; for "
	 "each\n"
	 "of these a command is run as the agent would run it.\n\n"
	 "  --json                the same for programs\n"},
	{"help", "this text, or what VERB does", "terse help [VERB]",
	 "This text, or what VERB does.\n"},
	{"version", "the version", "terse version", "Prints the version.\n"},
};

static int print_options(void)
{
	struct buffer out = BUFFER_INIT;
	int result = option_print_help(&out);
	if (result == 0)
		fwrite(out.data, 1, out.len, stdout);
	buffer_release(&out);
	return result;
}

static int print_topic(const struct topic *t)
{
	printf("Usage: %s\n\n%s", t->synopsis, t->text);
	if (strcmp(t->verb, "run") == 0 || strcmp(t->verb, "filter") == 0)
		return print_options();
	return 0;
}

static void print_overview(void)
{
	fputs("terse runs a command and prints what a person would have seen of it, in a few\n"
	      "kilobytes; what does not fit is kept on disk and can be read on.\n\n"
	      "  terse COMMAND [ARG...]      run a command\n"
	      "  terse 'cd x && make'        run a shell string\n"
	      "  terse read ID --offset N    read on in what a run printed\n\nVerbs:\n",
	      stdout);
	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++)
		printf("  %-10s %s\n", topics[i].verb, topics[i].summary);
	fputs("\nterse VERB --help tells more. `terse -- NAME` runs a command that has a verb's "
	      "name.\n"
	      "TERSE=0 in the environment switches terse off.\n",
	      stdout);
}

const char *help_nearest(const char *word)
{
	/* Programs that are often not there. */
	static const char *const programs[] = {"patch", "helm", NULL};
	struct nearest n;
	if (strlen(word) < 4)
		return NULL;
	nearest_init(&n, word);
	for (size_t i = 0; programs[i]; i++)
		nearest_offer(&n, programs[i]);
	if (n.best && n.distance == 0)
		return NULL;
	nearest_init(&n, word);
	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++)
		nearest_offer(&n, topics[i].verb);
	return n.best;
}

int command_help(struct command_context *c, int argc, char **argv)
{
	(void)c;
	if (argc < 2) {
		print_overview();
		return 0;
	}
	for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++) {
		if (strcmp(topics[i].verb, argv[1]) == 0)
			return print_topic(&topics[i]) < 0 ? EXIT_TERSE : 0;
	}
	const char *verb = help_nearest(argv[1]);
	if (verb)
		verb_error("help", "%s: no such verb (did you mean %s?)", argv[1], verb);
	else
		verb_error("help", "%s: no such verb (terse help lists them)", argv[1]);
	return EXIT_TERSE;
}
