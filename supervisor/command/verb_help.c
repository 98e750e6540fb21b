// terse help [VERB]

#include "config/error.h"
#include "config/option.h"
#include "lib/buffer.h"
#include "supervisor/command/command.h"
#include "supervisor/command/help.h"
#include "supervisor/command/verb.h"

#include <stdio.h>
#include <string.h>

#define COLOR_HELP \
	"  --color WHEN          always, never or auto: at a terminal, without NO_COLOR\n"

#define RUNS_HELP                                                              \
	"  --all                 of all sessions\n"                            \
	"  --session NAME        of this session\n"                            \
	"  --command TEXT        with TEXT in the command\n"                   \
	"  --state STATE         running, done or interrupted\n"               \
	"  --exit N|failed       with this exit status, or any but 0\n"        \
	"  --since WHEN          started since: 2h (ago), 14:05, 2026-11-20\n" \
	"  --until WHEN          started until\n"                              \
	"  --limit N             at most N (30)\n"                             \
	"  --json                as JSON\n" COLOR_HELP

const struct help_topic help_topics[] = {
	{"run", "run a command",
	 "terse [run] [OPTIONS] COMMAND [ARG...]\n"
	 "       terse [run] [OPTIONS] -c STRING",
	 "Runs COMMAND and prints what a person at a terminal would have seen. Output that\n"
	 "is too long is kept on disk as an artifact; a preview with its ID is printed.\n"
	 "Exits with the command's status: its exit code, or by the same signal. 124: timed\n"
	 "out, 125: wrong usage, 126 and 127: the command can't be run or found.\n\n"
	 "  -c STRING             run a shell string (so is one argument with blanks or\n"
	 "                        shell syntax)\n"
	 "  --cwd DIR             run the command in DIR\n"
	 "  --control FD          for programs that run commands for others: speak the protocol\n"
	 "                        of a live run on this socket\n"
	 "  --leash FD            the same; the run ends when its other end is closed\n"
	 "  --leave STRING        the shell of a string executes this one before it ends\n"},
	{"read", "print lines or bytes of an artifact or a file", "terse read [OPTIONS] ID|FILE",
	 "Prints lines of an artifact or of any file: a page at most, then how to continue.\n"
	 "A program that reads the output gets everything, and so does a person, in a pager\n"
	 "($TERSE_PAGER, $PAGER or less). ID: as printed, a unique beginning of it, or last,\n"
	 "last-1, ... of this session.\n\n"
	 "  --lines FROM-TO       these lines, as notices name them\n"
	 "  --offset N            first line, from 1; below 0: from the end\n"
	 "  --limit N             number of lines\n"
	 "  --tail N              the last N lines\n"
	 "  --follow              the last 10 (or from --offset or --tail on), and what is added\n"
	 "                        until nobody writes any more; for people and programs\n"
	 "  --bytes FROM-TO       these bytes; FROM[:LENGTH]: from there on (LENGTH: 32KB)\n"
	 "  --preview             what run printed, or would print with --size, --mode and\n"
	 "                        other options of run, and with --exit-code N\n"
	 "  --stderr              standard error, if it was kept apart\n"
	 "  --raw                 the bytes that the command wrote, if they were kept\n"
	 "  -a                    print binary data, too\n"
	 "  --session NAME        the session in which last is looked up\n"
	 "  --json                as JSON\n"},
	{"search", "print matching lines of an artifact or a file",
	 "terse search [OPTIONS] ID|FILE|--all REGEX",
	 "Prints the lines of an artifact or of any file that match, as LINE:text, at most\n"
	 "100 of them, and their total. A program that reads the output gets every one.\n"
	 "Patterns are Perl's. Exits with 1 if nothing matches.\n\n"
	 "  -i, -w, -v, -F        ignore case, match whole words, invert, plain string\n"
	 "  -A N, -B N, -C N      lines of context: after, before, around\n"
	 "  -c, -l                print only the count; only the names of matching texts\n"
	 "  -e REGEX              the pattern, if it begins with a hyphen\n"
	 "  -a                    print lines of binary data, too\n"
	 "  --limit N             at most N matches\n"
	 "  --offset N            start at line N\n"
	 "  --all                 search all artifacts of the session\n"
	 "  --session NAME        search this session\n"
	 "  --stderr              search standard error, if it was kept apart\n"
	 "  --json                as JSON\n" COLOR_HELP},
	{"changes", "print the lines in which two runs differ",
	 "terse changes [OPTIONS] [ID|FILE [ID|FILE]]",
	 "Prints the lines in which the texts of two runs differ, as a unified diff with the\n"
	 "line numbers of both; of one ID, that run against the one before of the same\n"
	 "command in the same directory; without one, the last run. Numbers, times, hashes\n"
	 "and temporary paths do not count.\n\n"
	 "  --exact               they do\n"
	 "  --offset N            start at the N-th change\n"
	 "  --stderr              standard error, if it was kept apart\n"
	 "  --session NAME        the session in which last is looked up\n"
	 "  --json                as JSON\n" COLOR_HELP},
	{"show", "print the facts about a run, and its preview",
	 "terse show [--session NAME] [--json] ID",
	 "Prints the facts about a run, and its preview.\n\n" COLOR_HELP},
	{"list", "list the artifacts of this session; --live: what runs now",
	 "terse list [OPTIONS]\n"
	 "       terse list --live [--watch]\n"
	 "       terse list --remote [--host NAME] [--failed] [OPTIONS]",
	 "Lists the artifacts of this session, newest first.\n\n" RUNS_HELP
	 "  --live                what runs now in all sessions, with its last line\n"
	 "  --watch               the same, redrawn until a key is pressed\n"
	 "  --remote              what all machines pushed to the remote (--since 1h), with\n"
	 "                        --session, --command, --since, --limit, --json\n"
	 "  --host NAME           by machines whose name begins so\n"
	 "  --failed              only failed or interrupted runs\n"},
	{"history", "list all runs of this session", "terse history [OPTIONS]",
	 "Lists all runs of this session that have ended, newest first. With --command the\n"
	 "last line says how these runs went.\n\n" RUNS_HELP},
	{"stats", "sum up what runs showed and what terse saved", "terse stats [OPTIONS]",
	 "Sums up the runs of this session: what commands wrote, what the agent was shown of\n"
	 "it, what was read back later, and what the agent would have shown by itself. Saved\n"
	 "is the last less the two before, and may be less than nothing.\n\n"
	 "  --all                 of all sessions\n"
	 "  --session NAME        of this session\n"
	 "  --since WHEN          since: 2h (ago), 14:05, 2026-11-20\n"
	 "  --by WHAT             a row for each command, profile, agent or day\n"
	 "  --limit N             at most N rows (20)\n"
	 "  --advise              lines for terse.ini: more room for commands whose previews\n"
	 "                        were read on, less for those whose previews never were\n"
	 "  --json                as JSON\n" COLOR_HELP},
	{"report", "write a session as a page for a browser",
	 "terse report [SESSION|ID] -o FILE.html [--watch]",
	 "Writes this session, another one or one run as one file for a browser: when what\n"
	 "ran, what the agent was shown of it exactly as it was, the whole texts with the\n"
	 "shown lines marked, recordings. The page loads nothing and runs nothing but itself.\n\n"
	 "  -o FILE               write to this file; -: standard output\n"
	 "  --watch               write it anew whenever a run begins or ends\n"
	 "  --session NAME        the session in which last is looked up\n"},
	{"await", "wait until a command in the background ends or prints a line",
	 "terse await ID [--timeout TIME] [--for REGEX [--offset N]] [--idle TIME]",
	 "Waits until a command in the background (run --yield, --detach) ends or asks for\n"
	 "input, and prints its new output. Exits with the command's status (128 plus the\n"
	 "signal; 0 if terse signal of this session ended it), or with [run] yield_status if\n"
	 "it asks.\n\n"
	 "  --timeout TIME        wait at most so long, and exit with 124\n"
	 "  --for REGEX           until a line matches, even one that may be redrawn; exits\n"
	 "                        with 0, or with 1 if the command succeeds without it\n"
	 "  --offset N            search from line N on (default 1)\n"
	 "  --idle TIME           until there was no output and no input for so long\n"},
	{"send", "type into a running command",
	 "terse send ID TEXT|--key KEY|--eof|--file FILE ... [--await]",
	 "Types into a running command that has a terminal (run --yield, --detach, --tty),\n"
	 "in the order given. TEXT is typed as it is; --key enter ends a line.\n\n"
	 "  --key KEY             enter tab escape space backspace up down left right home\n"
	 "                        end insert delete pageup pagedown f1 to f12 ctrl-c alt-x\n"
	 "                        shift-tab\n"
	 "  --eof                 end of input\n"
	 "  --file FILE           the contents of FILE (-: of standard input)\n"
	 "  --await               then wait as terse await does, with these options:\n"
	 "  --timeout TIME, --for REGEX, --idle TIME\n"},
	{"snapshot", "print the screen of a running command",
	 "terse snapshot ID [--json|--svg FILE]",
	 "Prints the screen of a running command, full-screen programs included.\n\n"
	 "  --json                with its size, cursor and title, and whether it is the\n"
	 "                        alternate screen\n"
	 "  --svg FILE            as a picture, with its colours if it has a terminal or is\n"
	 "                        recorded\n"},
	{"attach", "connect this terminal to a running command", "terse attach ID [--read-only]",
	 "Connects this terminal to a running command, which gets its size. ctrl-\\ leaves\n"
	 "it again ([terminal] detach_key).\n\n"
	 "  --read-only           look only\n"},
	{"signal", "end a running command, or send it a signal", "terse signal ID [SIGNAL]",
	 "Ends a running command and all that it has started: SIGTERM, then SIGKILL after\n"
	 "the grace time. Processes with a session of their own (daemons) are left alone.\n"
	 "With SIGNAL: sends that to the command's process group.\n"},
	{"replay", "play back a recorded run", "terse replay ID [--speed N] [--max-wait TIME]",
	 "Plays back a command's output at its own pace, if it was run with --record.\n\n"
	 "  --speed N             N times as fast\n"
	 "  --max-wait TIME       shorten longer pauses to this\n"
	 "  --svg FILE            only its last screen, as a picture with its colours\n"},
	{"path", "print the path of an artifact's text",
	 "terse path [--stderr|--raw] [--session NAME] [--json] ID",
	 "Prints the path of the file with an artifact's text (--stderr: its standard\n"
	 "error, --raw: its raw bytes).\n"},
	{"session", "list, show, end and create sessions",
	 "terse session [list]\n"
	 "       terse session show [NAME]\n"
	 "       terse session end [NAME] [--now]\n"
	 "       terse session new [NAME]",
	 "Lists the sessions, describes one, ends one, or creates one and prints its name\n"
	 "(export TERSE_SESSION=$(terse session new)). NAME defaults to the caller's\n"
	 "session. Artifacts of an ended session are removed after [session] keep.\n\n"
	 "  --now                 remove them at once\n"},
	{"rewind", "remove a run and all later ones of its session",
	 "terse rewind [--dry-run] [--session NAME] ID | --to TIME",
	 "Removes the artifact of this run and those of all later runs of its session, and\n"
	 "takes these runs out of its history. Running commands stay.\n\n"
	 "  --to TIME             runs since then: 30m (ago), 14:05, \"2026-11-20 14:05\",\n"
	 "                        @SECONDS\n"
	 "  --dry-run             only print what would be removed\n"},
	{"drop", "remove artifacts", "terse drop [--session NAME] ID...",
	 "Removes artifacts. Running commands stay.\n"},
	{"gc", "remove old artifacts and those of ended sessions",
	 "terse gc [--dry-run] [--gc-age TIME] [--gc-size SIZE] [--gc-count N]",
	 "Removes artifacts over the limits of [gc], those of ended sessions, and leftovers\n"
	 "of crashes. Running commands stay. A run does this now and then ([gc] interval).\n"
	 "terse help run explains --gc-age, --gc-size and --gc-count.\n\n"
	 "  --dry-run             only print what would be removed\n"},
	{"archive", "write an artifact to one file",
	 "terse archive [--output FILE|-] [--force] [--cast|--cast3] [--session NAME] ID",
	 "Writes an artifact with all that belongs to it to one compressed tar file\n"
	 "(ID.tar.zst in this directory).\n\n"
	 "  --output FILE         write to this file; -: standard output\n"
	 "  --force               replace the file\n"
	 "  --cast, --cast3       only the recording (run --record), as an asciicast of\n"
	 "                        version 2 or 3 for asciinema (ID.cast)\n"},
	{"unarchive", "restore an artifact from such a file",
	 "terse unarchive [--session NAME] FILE|-",
	 "Restores an artifact from such a file into this session. It keeps its ID.\n"},
	{"push", "push artifacts that wait to the remote now", "terse push [--wait TIME] [--json]",
	 "Pushes the artifacts that wait to the remote ([remote] in the ini file): each run\n"
	 "pushes its own when it has ended, and this is for what is left, such as in the stop\n"
	 "hook of a container. Exits with 1 if something is left.\n\n"
	 "  --wait TIME           try again and again, for at most this long (10s)\n"
	 "  --json                as JSON\n"},
	{"filter", "treat a file or standard input as a command's output",
	 "terse filter [OPTIONS] [FILE]",
	 "Treats FILE or standard input as a command's output and prints what run would\n"
	 "have printed. terse alone does this if its input is a pipe or a file.\n\n"
	 "  --exit-code N         the command's exit code (default 0)\n"
	 "  --onlcr yes|no        no: a line feed only moves down, as in a recording of a\n"
	 "                        terminal with output processing (default yes)\n"},
	{"config", "print the settings in force; check and write ini files",
	 "terse config [--json] [OPTIONS] [[--] COMMAND...]\n"
	 "       terse config --profiles|--agents [--json]\n"
	 "       terse config get KEY\n"
	 "       terse config set KEY VALUE...\n"
	 "       terse config check [FILE...]\n"
	 "       terse config init [FILE|-]\n"
	 "       terse config completion [bash|zsh|fish]",
	 "Prints the settings in force (for COMMAND) and where each comes from, or one of\n"
	 "them (get); changes one in the user's ini file and leaves the rest alone (set);\n"
	 "checks ini files; writes a commented one (init); prints a shell's completion.\n"
	 "KEY: report.size, size, --size and TERSE_SIZE are the same.\n\n"
	 "  --profiles            the known commands, in the syntax of the ini file\n"
	 "  --agents              the known agents, in the same syntax\n"
	 "  --json                the same as JSON\n"
	 "  --man                 the manual page terse.ini(5)\n"},
	{"agent", "start an agent whose shell commands run through terse",
	 "terse agent COMMAND [ARG...]",
	 "Starts an agent with libterse-shim.so in LD_PRELOAD, so that its shell commands\n"
	 "run through terse. terse config --agents lists those it knows; terse probe finds out\n"
	 "about others. If the library is missing, the agent starts without it. It is said if\n"
	 "no rule knows COMMAND, so that its own commands run without terse.\n"},
	{"probe", "find out how an unknown agent calls its shell",
	 "terse probe [--to FILE] AGENT [ARG...]",
	 "Starts an agent that terse does not know, and prints the section [agent NAME] for it\n"
	 "when it has ended. Ask the agent to run this command once: echo terse-probe\n"
	 "Its commands run as they would without terse.\n\n"
	 "  --to FILE             append the section to this file\n"},
	{"init", "wire an agent up in its own configuration",
	 "terse init AGENT... [--user|--project] [--instructions] [--dry-run]\n"
	 "       terse init AGENT... --undo [--user|--project] [--dry-run]\n"
	 "       terse init AGENT... --mcp [--undo] [--user|--project] [--dry-run]\n"
	 "       terse init [--all|--show]",
	 "Makes agents run their commands through terse, in their own configuration. AGENT:\n"
	 "claude, codex, opencode, kilo, pi, gemini, qwen, copilot, grok, cursor, crush.\n"
	 "The rest of their files stays. Without AGENT: lists the agents that are in PATH, and\n"
	 "at a terminal asks which to wire up.\n\n"
	 "  --all                 every agent that is in PATH\n"
	 "  --show                only print the state of each\n"
	 "  --mcp                 give terse mcp to the agent as a server of tools instead: "
	 "claude,\n"
	 "                        codex, opencode, kilo, gemini, qwen, copilot, cursor, crush, "
	 "vscode\n"
	 "  --user                for all your projects (default)\n"
	 "  --project             for the project in this directory\n"
	 "  --instructions        add lines for the model to the file that it reads\n"
	 "                        (CLAUDE.md, AGENTS.md ...)\n"
	 "  --dry-run             only print the changes\n"
	 "  --undo                restore the files\n"},
	{"hook", "the program that terse init puts into an agent's files", "terse hook AGENT EVENT",
	 "Agents call this: it reads an event from standard input, and ends the session of\n"
	 "a conversation that has ended, or rewrites a command (cursor, crush).\n"},
	{"mcp", "serve the tools of terse to an agent without a shell",
	 "terse mcp [--read-only] [--allow PATTERN]... [--all-sessions] [--keep] [--structured]",
	 "Speaks the Model Context Protocol on standard input and output: an agent starts it and\n"
	 "gets running, reading, searching and typing as tools.\n\n"
	 "  --read-only           only the tools that neither run nor type anything\n"
	 "  --allow PATTERN       run only commands that match word by word, such as\n"
	 "                        'npm test' or 'git log *' (with options, too); may be given\n"
	 "                        several times; what can't be checked is refused\n"
	 "  --all-sessions        the tools reach the artifacts of every session\n"
	 "  --keep                commands that run when the server ends go on\n"
	 "  --structured          answers are JSON, as text and as structured content\n"},
	{"doctor", "check that everything is in place", "terse doctor [--json]",
	 "Checks that everything terse needs is in place, and how agents are wired up: runs\n"
	 "a command as each of these agents would.\n\n"
	 "  --json                as JSON\n" COLOR_HELP},
	{"help", "print this text, or what VERB does", "terse help [VERB]",
	 "Prints this text, or what VERB does.\n"},
	{"version", "print the version", "terse version [--json]",
	 "Prints the version.\n\n"
	 "  --json                with commit, architecture, C library, and what is linked in\n"},
	{NULL, NULL, NULL, NULL},
};

const struct help_topic *help_find(const char *name)
{
	for (const struct help_topic *t = help_topics; t->verb; t++) {
		if (strcmp(t->verb, name) == 0)
			return t;
	}
	return NULL;
}

static int help_print_options(void)
{
	struct buffer out = BUFFER_INIT;
	int result = option_print_help(&out);
	if (result == 0)
		fwrite(out.data, 1, out.len, stdout);
	buffer_release(&out);
	return result;
}

static int help_print_topic(const struct help_topic *t)
{
	printf("Usage: %s\n\n%s", t->synopsis, t->text);
	if (strcmp(t->verb, "run") == 0 || strcmp(t->verb, "filter") == 0)
		return help_print_options();
	return 0;
}

static void help_print_overview(void)
{
	fputs("terse runs a command and prints what a person would have seen of it, in a few\n"
	      "kilobytes. Longer output is kept on disk and can be read piece by piece.\n\n"
	      "  terse COMMAND [ARG...]      run a command\n"
	      "  terse 'cd x && make'        run a shell string\n"
	      "  terse read ID --offset N    read more of what a run printed\n\nVerbs:\n",
	      stdout);
	for (const struct help_topic *t = help_topics; t->verb; t++)
		printf("  %-10s %s\n", t->verb, t->summary);
	fputs("\nterse VERB --help prints more. `terse -- NAME` runs a command that has a verb's "
	      "name.\n"
	      "TERSE=0 in the environment switches terse off.\n",
	      stdout);
}

const char *help_nearest(const char *word)
{
	/* Programs that are often missing: no verb is meant. */
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
	for (const struct help_topic *t = help_topics; t->verb; t++)
		nearest_offer(&n, t->verb);
	return n.best;
}

int command_help(struct command_context *c, int argc, char **argv)
{
	(void)c;
	if (argc < 2) {
		help_print_overview();
		return 0;
	}
	const struct help_topic *topic = help_find(argv[1]);
	if (topic)
		return help_print_topic(topic) < 0 ? EXIT_TERSE : 0;
	const char *verb = help_nearest(argv[1]);
	if (verb)
		verb_error("help", "%s: no such verb (did you mean %s?)", argv[1], verb);
	else
		verb_error("help", "%s: no such verb (terse help lists them)", argv[1]);
	return EXIT_TERSE;
}
