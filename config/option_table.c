// The table of the options. See option.h.

#include "config/option.h"

#include "config/pattern.h"
#include "config/profile.h"
#include "config/value.h"

#include <stddef.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define KB             ((int64_t)1 << 10)
#define MB             ((int64_t)1 << 20)
#define GB             ((int64_t)1 << 30)
#define PB             ((int64_t)1 << 50)
#define SECOND         ((int64_t)1000)
#define MINUTE         (60 * SECOND)
#define HOUR           (60 * MINUTE)
#define DAY            (24 * HOUR)
#define OFFSET(member) offsetof(struct settings, member)

#define NAMES(section_, key_, flag_, variable_) \
	.section = (section_), .key = (key_), .flag = (flag_), .variable = (variable_)

#define BOOL(field, initial_) .type = OPTION_BOOL, .offset = OFFSET(field), .initial = (initial_)
#define TRISTATE(field, initial_) \
	.type = OPTION_TRISTATE, .offset = OFFSET(field), .initial = (initial_)
/* `...`: the words, in the order of the C enum. */
#define WORD(field, initial_, ...)                                           \
	.type = OPTION_ENUM, .offset = OFFSET(field), .initial = (initial_), \
	.choices = (const char *const[])                                     \
	{                                                                    \
		__VA_ARGS__, NULL                                            \
	}

#define NUMBER(type_, field, min_, max_, initial_)                              \
	.type = (type_), .offset = OFFSET(field), .min = (min_), .max = (max_), \
	.initial = (initial_)
#define COUNT(field, min_, max_, initial_, unit_) \
	NUMBER(OPTION_COUNT, field, min_, max_, initial_), .unit = (unit_)
#define SIZE(field, min_, max_, initial_) NUMBER(OPTION_SIZE, field, min_, max_, initial_)
/* 0 is valid, too, and the default. */
#define SIZE_OR_ZERO(field, min_, max_)       SIZE(field, min_, max_, 0), .or_zero = true
#define DURATION(field, min_, max_, initial_) NUMBER(OPTION_DURATION, field, min_, max_, initial_)

/* `max_` is the length of a text or item. */
#define TEXT(field, max_, unit_, refuse_)                                               \
	.type = OPTION_STRING, .offset = OFFSET(field), .max = (max_), .unit = (unit_), \
	.refuse = (refuse_)
#define LIST(field, max_, unit_, refuse_)                                             \
	.type = OPTION_LIST, .offset = OFFSET(field), .max = (max_), .unit = (unit_), \
	.refuse = (refuse_)

/* The longest string that Linux passes to a program (MAX_ARG_STRLEN). */
#define LONGEST (128 * KB - 1)

/* Whether the first `len` bytes can be a variable's name. Shells export functions under
   odd names, so only what is surely a mistake is refused. */
static bool option_is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] <= ' ' || text[i] == '=' || text[i] == 0x7F)
			return false;
	}
	return len > 0;
}

static const char *refuse_name(const char *value)
{
	return option_is_name(value, strlen(value)) ? NULL : "not the name of a variable";
}

static const char *refuse_assignment(const char *value)
{
	return option_is_name(value, strcspn(value, "=")) && strchr(value, '=') ? NULL
										: "not NAME=VALUE";
}

static const char *refuse_expression(const char *value)
{
	int number;
	size_t offset;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)value, PCRE2_ZERO_TERMINATED,
					 PCRE2_NEVER_BACKSLASH_C, &number, &offset, NULL);
	pcre2_code_free(code);
	/* If memory runs out, the value can't be checked here; the code that compiles it later
	   reports a mistake. */
	return code || number == PCRE2_ERROR_HEAP_FAILED ? NULL : "not a regular expression";
}

static const char *refuse_remote(const char *value)
{
	bool good = strncmp(value, "file:/", 6) == 0;
	if (strncmp(value, "rclone:", 7) == 0)
		good = value[7] && value[7] != '-' && strchr(value + 8, ':');
	return good ? NULL : "not rclone:NAME:PATH or file:/DIR";
}

static const char *refuse_label(const char *value)
{
	size_t len =
		strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
	return len > 0 && len < 64 && value[len] == '=' ? NULL : "not NAME=VALUE";
}

const struct option option_table[] = {
	{
		NAMES("run", "profile", "--profile", "TERSE_PROFILE"),
		TEXT(profile, SECTION_NAME_MAX, "PROFILE", section_refuse_name),
		.help = "The profile whose settings apply (terse config --profiles lists them); "
			"empty: the one that the command belongs to.",
	},
	{
		NAMES("run", "timeout", "--timeout", "TERSE_TIMEOUT"),
		DURATION(timeout, 0, 365 * DAY, 0),
		.help = "End the command (SIGTERM) after this time; terse then exits with 124.",
	},
	{
		NAMES("run", "grace", "--grace", "TERSE_GRACE"),
		DURATION(grace, 1, HOUR, 5 * SECOND),
		.help = "Kill the command (SIGKILL) if it still runs this long after the SIGTERM.",
	},
	{
		NAMES("run", "finish", "--finish", "TERSE_FINISH"),
		DURATION(finish, 0, HOUR, SECOND),
		.help = "When the command has ended, wait at most this long for processes that "
			"still have to print its last output, such as tee in exec > >(tee log): "
			"they hold the output and read a pipe without writers.",
	},
	{
		NAMES("run", "linger_idle", "--linger-idle", "TERSE_LINGER_IDLE"),
		DURATION(linger_idle, 0, 365 * DAY, 10 * MINUTE),
		.help = "Stop recording the output of background processes if all of them are "
			"daemons (each in a session of its own) and have written nothing for this "
			"long.",
	},
	{
		NAMES("run", "pty", "--pty", "TERSE_PTY"),
		TRISTATE(pty, TRI_AUTO),
		.help = "Whether the command writes to a pseudo-terminal or to a pipe.",
	},
	{
		NAMES("run", "tty", "--tty", "TERSE_TTY"),
		TRISTATE(tty, TRI_AUTO),
		.help = "Whether the pseudo-terminal is the command's controlling terminal, so "
			"that programs can ask for passwords; auto: only if somebody can "
			"answer, or for the job control of an interactive shell.",
	},
	{
		NAMES("run", "streams", "--streams", "TERSE_STREAMS"),
		WORD(streams, STREAMS_AUTO, "auto", "merged", "split"),
		.help = "Whether stdout and stderr are one text in true order or separate; auto: "
			"separate if their destinations differ.",
	},
	{
		NAMES("run", "yield", "--yield", "TERSE_YIELD"),
		DURATION(yield, 0, 365 * DAY, 0),
		.help = "Report the output so far when the command has run this long, and let it "
			"continue in the background (terse await, send, signal). The command gets "
			"a controlling terminal.",
	},
	{
		NAMES("run", "yield_status", "--yield-status", "TERSE_YIELD_STATUS"),
		COUNT(yield_status, 0, 255, 0, "status"),
		.help = "The exit status of terse when the command continues in the background.",
	},
	{
		NAMES("run", "hand_over", "--hand-over", "TERSE_HAND_OVER"),
		DURATION(hand_over, 0, DAY, 0),
		.help = "The time after which the caller, such as an agent, ends a command. "
			"Shortly before it (by 5 %, at least 2 s) the command continues in the "
			"background as with yield; the status is 75, unless yield_status is set.",
	},
	{
		NAMES("run", "detach", "--detach", "TERSE_DETACH"),
		BOOL(detach, false),
		.help = "Run the command in the background from the start, and print its ID.",
	},
	{
		NAMES("run", "prompt", "--prompt", "TERSE_PROMPT"),
		WORD(prompt, PROMPTING_REPORT, "report", "await", "eof", "fail"),
		.help = "What to do if the command waits for input on its controlling terminal "
			"and nobody is attached: report it and let the command wait (like "
			"yield), await its end, type the end of input, or end the command.",
	},
	{
		NAMES("run", "hang_up", "--hang-up", "TERSE_HANG_UP"),
		DURATION(hang_up, 0, HOUR, 3 * SECOND),
		.help = "After this time without output, send SIGHUP to a full-screen program "
			"that waits for keys that nobody can type (not with --yield, --detach "
			"or --tty); off: only report it. Servers are only reported.",
	},
	{
		NAMES("run", "signal_status", "--signal-status", "TERSE_SIGNAL_STATUS"),
		BOOL(signal_status, false),
		.help = "If a signal ended the command, exit with 128 and the signal's number; "
			"no: end by the same signal.",
	},

	{
		NAMES("prompt", "person", NULL, NULL),
		TEXT(person, 1024, "REGEX", refuse_expression),
		.help = "The questions that a person answers (terse attach) rather than the "
			"agent, such as (?i)password|passphrase. The person is called to these, "
			"and to each prompt with echo off that the agent could not answer. If "
			"this is set, an agent's command gets a controlling terminal; any other "
			"question on it gets the end of input at once.",
	},
	{
		NAMES("prompt", "call", NULL, NULL),
		TEXT(call, 1024, "COMMAND", NULL),
		.preset = "notify-send",
		.help = "The command that calls the person: words separated by blanks, executed "
			"without a shell. It gets two more arguments, the question and the "
			"command that answers it.",
	},
	{
		NAMES("prompt", "wait", NULL, NULL),
		DURATION(person_wait, 1, DAY, 2 * MINUTE),
		.help = "How long an agent's command waits for the person; then its questions "
			"get the end of input, as if nobody could answer.",
	},

	{
		NAMES("terminal", "cols", "--cols", "TERSE_COLS"),
		COUNT(cols, 2, 1000, 160, "columns"),
		.project_least = 80,
		.help = "Width of the pseudo-terminal; many programs cut their output to it.",
	},
	{
		NAMES("terminal", "rows", "--rows", "TERSE_ROWS"),
		COUNT(rows, 2, 500, 50, "rows"),
		.project_least = 24,
		.help = "Height of the pseudo-terminal.",
	},
	{
		NAMES("terminal", "settle", "--settle", "TERSE_SETTLE"),
		DURATION(settle, 0, 60 * 1000, 50),
		.help = "Print a line this long after its newline, though the command could "
			"still overwrite it. Longer for programs that redraw only later.",
	},
	{
		NAMES("report", "format", "--format", "TERSE_FORMAT"),
		WORD(format, FORMAT_TEXT, "text", "json"),
		.help = "The form of the output: plain text as it comes, or one JSON object at "
			"the end.",
	},
	{
		NAMES("report", "size", "--size", "TERSE_SIZE"),
		SIZE(size, 64, 16 * MB, 4 * KB),
		.project_least = 2 * KB,
		.help = "Text up to this size is printed whole, longer text as a preview of this "
			"size. It holds for a failure too, unless failure_size is set in the same "
			"place or a later one.",
	},
	{
		NAMES("report", "failure_size", "--failure-size", "TERSE_FAILURE_SIZE"),
		SIZE(failure_size, 64, 16 * MB, 6 * KB),
		.project_least = 2 * KB,
		.help = "The size for a command that fails. While a command runs, the smaller "
			"of the two sizes holds.",
	},
	{
		NAMES("report", "max_lines", "--max-lines", "TERSE_MAX_LINES"),
		COUNT(max_lines, 0, 1000000000, 0, "lines"),
		.project_least = 50,
		.help = "Text of more lines than this is also printed as a preview; 0: no limit.",
	},
	{
		NAMES("report", "unit", NULL, "TERSE_UNIT"),
		WORD(unit, UNIT_LINES, "lines", "matches", "results", "entries"),
		.project_least = PROJECT_ANY,
		.help = "The unit of max_lines and of counts in notices; entries: lines without "
			"a listing's headings and totals.",
	},
	{
		NAMES("report", "err_size", "--err-size", "TERSE_ERR_SIZE"),
		SIZE_OR_ZERO(err_size, 64, 16 * MB),
		.project_least = 2 * KB,
		.help = "The size for separate standard error; 0: as size.",
	},
	{
		NAMES("report", "max_err_lines", "--max-err-lines", "TERSE_MAX_ERR_LINES"),
		COUNT(max_err_lines, 0, 1000000000, 0, "lines"),
		.project_least = 50,
		.help = "The max_lines for separate standard error; 0: no limit.",
	},
	{
		NAMES("report", "print", "--print", "TERSE_PRINT"),
		WORD(print, PRINT_AUTO, "auto", "preview", "full"),
		.choices_are_flags = true,
		.help = "The form of text over the limit; auto: a preview for an agent, the full "
			"text for a file or a program.",
	},
	{
		NAMES("report", "heartbeat", "--heartbeat", "TERSE_HEARTBEAT"),
		DURATION(heartbeat, 0, DAY, MINUTE),
		.project_least = PROJECT_ANY,
		.help = "Report that the command still runs if for this time no output has "
			"come, or none that is shown.",
	},
	{
		NAMES("report", "status", "--status", "TERSE_STATUS"),
		WORD(status, STATUS_NEVER, "never", "failure", "always"),
		.project_least = PROJECT_ANY,
		.project_never = "never",
		.help = "When to add a line with the exit status to text that is printed whole.",
	},
	{
		NAMES("report", "words", "--words", "TERSE_WORDS"),
		WORD(words, WORDS_COMMANDS, "commands", "tools"),
		.help = "How terse's own lines say what to do next: as terse commands, or as calls "
			"of the tools of terse mcp.",
	},
	{
		NAMES("report", "ceiling", "--ceiling", "TERSE_CEILING"),
		SIZE_OR_ZERO(ceiling, 512, 16 * MB),
		.help = "The most that is printed, including notices, even if size is larger: the "
			"agent would cut off the rest; 0: unknown.",
	},
	{
		NAMES("report", "failure_ceiling", "--failure-ceiling", "TERSE_FAILURE_CEILING"),
		SIZE_OR_ZERO(failure_ceiling, 512, 16 * MB),
		.help = "The ceiling for a command that fails; 0: as ceiling.",
	},
	{
		NAMES("report", "cut_ceiling", "--cut-ceiling", "TERSE_CUT_CEILING"),
		SIZE_OR_ZERO(cut_ceiling, 512, 16 * MB),
		.help = "The ceiling for a success whose text is longer than the ceiling, since "
			"the agent would show only so much of it; 0: as ceiling.",
	},
	{
		NAMES("report", "line_ceiling", "--line-ceiling", "TERSE_LINE_CEILING"),
		COUNT(line_ceiling, 0, 1000000000, 0, "lines"),
		.help = "The ceiling in lines; 0: unknown.",
	},
	{
		NAMES("report", "exit_delay", "--exit-delay", "TERSE_EXIT_DELAY"),
		DURATION(exit_delay, 0, 10 * 1000, 0),
		.help = "Wait this long after the last output before terse ends, since some "
			"agents lose what they have not read by then.",
	},
	{
		NAMES("preview", "mode", "--mode", "TERSE_MODE"),
		WORD(mode, MODE_SMART, "smart", "head", "tail", "ends"),
		.project_least = PROJECT_ANY,
		.project_never = "head",
		.help = "The part of the text that a preview shows; smart: the start, the end, "
			"and the lines that explain the result. If a command has failed, half "
			"of the size, at most 2 KB, is for the lines that tell why and for the "
			"last lines, in any mode.",
	},
	{
		NAMES("preview", "fold", "--fold", "TERSE_FOLD"),
		WORD(fold, FOLD_COUNTERS, "counters", "overflow", "always"),
		.project_least = PROJECT_ANY,
		.help = "Which similar lines of a success a smart preview folds; counters: lines "
			"that differ only in a counter or a time, and spare room is filled with "
			"others; overflow: lines that differ only in numbers and paths, and "
			"progress is shown briefly; always: also eight or more successive lines "
			"that report success or progress, even in a text that would fit.",
	},
	{
		NAMES("preview", "head_share", "--head-share", "TERSE_HEAD_SHARE"),
		COUNT(head_share, 0, 100, 5, "percent"),
		.help = "The share of a preview for the start of the text. The start is printed "
			"as it comes.",
	},
	{
		NAMES("preview", "end_share", "--end-share", "TERSE_END_SHARE"),
		COUNT(end_share, 0, 100, 8, "percent"),
		.help = "The share of a smart preview for the last lines, whatever they say; after "
			"a success at least 30, or 12 if most lines report progress.",
	},
	{
		NAMES("preview", "about", "--about", "TERSE_ABOUT"),
		TEXT(about, 1024, "WORDS", NULL),
		.project_least = PROJECT_ANY,
		.help = "A question to the output: a smart preview prefers lines with these "
			"words (of three letters or more), the more of them the more.",
	},
	{
		NAMES("preview", "patterns", "--pattern", "TERSE_PATTERN"),
		LIST(patterns, PHRASE_MAX, "TEXT", phrase_refuse),
		.most = PHRASE_COUNT,
		.in_profile = true,
		.project_least = PROJECT_ANY,
		.help = "A smart preview prefers lines with one of these texts (in any case; * "
			"for any text), whatever the exit status; a profile adds its own.",
	},
	{
		NAMES("preview", "ignore", "--ignore", "TERSE_IGNORE"),
		LIST(ignore, PHRASE_MAX, "TEXT", phrase_refuse),
		.most = PHRASE_COUNT,
		.in_profile = true,
		.help = "A smart preview never prefers lines with one of these texts; a profile "
			"adds its own.",
	},
	{
		NAMES("preview", "max_line", "--max-line", "TERSE_MAX_LINE"),
		SIZE_OR_ZERO(max_line, 64, MB),
		.project_least = 500,
		.help = "A preview cuts lines that are longer than this; 0: longer than 500 "
			"bytes, unless there is room.",
	},
	{
		NAMES("spill", "when", "--spill", "TERSE_SPILL"),
		WORD(spill, SPILL_ALWAYS, "never", "overflow", "always"),
		.help = "The texts that are kept: none, those that are not printed whole, or "
			"all. With never, no run can continue without its caller.",
	},
	{
		NAMES("spill", "max_artifact", "--max-artifact", "TERSE_MAX_ARTIFACT"),
		SIZE(max_artifact, 64 * KB, PB, GB),
		.help = "Keep the first and the last part of text that is larger than this.",
	},
	{
		NAMES("spill", "min_free", "--min-free", "TERSE_MIN_FREE"),
		SIZE(min_free, 0, PB, 32 * MB),
		.help = "A disk with less free space than this counts as full.",
	},
	{
		NAMES("spill", "raw", "--keep-raw", "TERSE_KEEP_RAW"),
		TRISTATE(raw, TRI_AUTO),
		.help = "Whether the command's original bytes are kept beside the text; auto: if "
			"the text lacks more than colours.",
	},
	{
		NAMES("spill", "record", "--record", "TERSE_RECORD"),
		BOOL(record, false),
		.help = "Keep the times of all output, for terse archive --cast.",
	},
	{
		NAMES("session", "name", "--session", "TERSE_SESSION"),
		TEXT(session, 100, "SESSION", NULL),
		.help = "The session of the artifacts; empty: the agent's conversation.",
	},
	{
		NAMES("session", "reach", "--reach", "TERSE_REACH"),
		WORD(reach, REACH_FILES, "files", "store", "session"),
		.help = "What verbs that take an ID can read; files: also any file, by its "
			"path; store: artifacts of the store, by whole IDs; session: only those "
			"of the session. terse mcp sets this for its tools.",
	},
	{
		NAMES("session", "keep", NULL, "TERSE_KEEP"),
		DURATION(keep, 0, 3650 * DAY, DAY),
		.help = "Keep the artifacts of an ended session for this long; off: not at all.",
	},
	{
		NAMES("gc", "interval", NULL, "TERSE_GC_INTERVAL"),
		DURATION(gc_interval, 0, 365 * DAY, HOUR),
		.help = "Clean up the store after a run if the last cleaning was this long ago; "
			"off: only by terse gc.",
	},
	{
		NAMES("gc", "max_age", "--gc-age", "TERSE_GC_AGE"),
		DURATION(gc_age, 0, 3650 * DAY, 14 * DAY),
		.help = "Remove artifacts that are older than this, counted from when they were "
			"last written; off: none.",
	},
	{
		NAMES("gc", "max_size", "--gc-size", "TERSE_GC_SIZE"),
		SIZE(gc_size, 0, PB, 5 * GB),
		.help = "Remove the oldest artifacts while all together take more disk space than "
			"this; 0: no limit.",
	},
	{
		NAMES("gc", "max_count", "--gc-count", "TERSE_GC_COUNT"),
		COUNT(gc_count, 0, 1000000000, 20000, "artifacts"),
		.help = "Remove the oldest artifacts while there are more than this; 0: no limit.",
	},
	{
		NAMES("redact", "secrets", "--redact", "TERSE_REDACT"),
		BOOL(redact, false),
		.help = "Replace what looks like a secret (keys, tokens, passwords in URLs) before "
			"anything is printed or kept.",
	},
	{
		NAMES("redact", "patterns", "--redact-pattern", "TERSE_REDACT_PATTERN"),
		LIST(redact_patterns, 4096, "REGEX", refuse_expression),
		.help = "Also replace the matches of these (Perl's syntax, within a line).",
	},
	{
		NAMES("remote", "remote", NULL, NULL),
		TEXT(remote, 1024, "PLACE", refuse_remote),
		.help = "The place that outputs are pushed to and read from: rclone:NAME:PATH "
			"(moved by rclone) or file:/DIR (a shared directory).",
	},
	{
		NAMES("remote", "push", NULL, NULL),
		WORD(push, PUSHING_OFF, "off", "failed", "all"),
		.help = "The ended runs that are pushed, however short their texts are; failed: "
			"those with a status other than 0.",
	},
	{
		NAMES("remote", "outbox_max", NULL, NULL),
		SIZE(outbox_max, 64 * KB, PB, 256 * MB),
		.help = "The most disk space for runs that wait to be pushed. Beyond it the "
			"oldest are dropped, and terse push says so.",
	},
	{
		NAMES("remote", "transfer_time", NULL, NULL),
		DURATION(transfer_time, 100, DAY, 2 * MINUTE),
		.help = "If no object is moved or read for this time, the remote has failed.",
	},
	{
		NAMES("remote", "labels", NULL, "TERSE_LABELS"),
		LIST(labels, 256, "NAME=VALUE", refuse_label),
		.most = 16,
		.help = "Words that terse list --remote shows with the runs of this machine, such "
			"as a job's number; $VARIABLE as a value is replaced by that variable.",
	},
	{
		NAMES("shim", "shell", "--shell", "TERSE_SHELL"),
		TEXT(shell, 4095, "PROGRAM", NULL),
		.help = "The shell for shell strings; empty: bash if it is installed, else sh.",
	},
	{
		NAMES("shim", "interactive", NULL, "TERSE_INTERACTIVE"),
		BOOL(interactive, false),
		.help = "Whether terse-sh, if it is started as an interactive shell, acts as terse "
			"shell bash (or zsh), for a program that types commands into one shell.",
	},
	{
		NAMES("shim", "pass", NULL, "TERSE_PASS"),
		LIST(pass, LONGEST, "TEMPLATE", template_refuse),
		.help = "Commands of an agent that terse-sh does not supervise (* for any "
			"characters).",
	},
	{
		NAMES("shim", "in_front", NULL, "TERSE_IN_FRONT"),
		WORD(in_front, IN_FRONT_DENY, "deny", "ask", "pass"),
		.help = "What the hook of an agent answers if terse precedes another command, "
			"which the agent's rules then do not see; pass: nothing. Only Claude "
			"Code and Cursor can ask; others deny in place of that.",
	},
	{
		NAMES("shim", "comments", NULL, "TERSE_COMMENTS"),
		BOOL(comments, true),
		.help = "Whether a comment at the end of an agent's command, such as \"# terse: "
			"yield=10s\", sets options of its run (yield, timeout and size).",
	},
	{
		NAMES("environment", "set", "--env", "TERSE_ENV"),
		LIST(env_set, LONGEST, "NAME=VALUE", refuse_assignment),
		.preset = "PAGER=cat\n"
			  "GIT_PAGER=cat\n"
			  "GH_PAGER=cat\n"
			  "MANPAGER=cat\n"
			  "SYSTEMD_PAGER=cat\n"
			  "TERM=xterm-256color",
		.help = "Variables that the command gets if its output is captured.",
	},
	{
		NAMES("environment", "unset", "--unset-env", "TERSE_UNSET_ENV"),
		LIST(env_unset, LONGEST, "NAME", refuse_name),
		.help = "Variables that the command does not get if its output is captured.",
	},
	{
		NAMES("environment", "keep", "--keep-env", "TERSE_KEEP_ENV"),
		LIST(env_keep, LONGEST, "NAME", refuse_name),
		.help = "Variables that set and unset do not change if terse's own environment "
			"has them.",
	},
};

const size_t option_count = sizeof(option_table) / sizeof(*option_table);
_Static_assert(sizeof(option_table) / sizeof(*option_table) <= OPTION_LIMIT, "raise OPTION_LIMIT");
