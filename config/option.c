// The table itself, and finding a row of it. See option.h.

#include "config/option.h"

#include "config/error.h"
#include "config/profile.h"
#include "config/template.h"
#include "config/value.h"

#include <string.h>

#define KB             ((int64_t)1 << 10)
#define MB             ((int64_t)1 << 20)
#define PB             ((int64_t)1 << 50)
#define HOUR           ((int64_t)3600000)
#define DAY            (24 * HOUR)
#define OFFSET(member) offsetof(struct settings, member)

/* The longest string that Linux passes to a program (MAX_ARG_STRLEN). */
#define LONGEST (128 * KB - 1)

static const char *const streams_choices[] = {"auto", "merged", "split", NULL};
static const char *const format_choices[] = {"text", "json", "blocks", NULL};
static const char *const prompt_choices[] = {"report", "await", "eof", "fail", NULL};
static const char *const print_choices[] = {"auto", "preview", "full", NULL};
static const char *const status_choices[] = {"never", "failure", "always", NULL};
static const char *const unit_choices[] = {"lines", "matches", "results", "entries", NULL};
static const char *const when_choices[] = {"overflow", "always", NULL};
static const char *const mode_choices[] = {"smart", "head", "tail", "ends", NULL};

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

static const char *refuse_detach_key(const char *value)
{
	struct key_bytes key;
	return key_parse(value, &key) == 0 && key.len == 1 ? NULL : "not the name of a control key";
}

const struct option option_table[] = {
	{
		.section = "run",
		.key = "profile",
		.type = OPTION_STRING,
		.offset = OFFSET(profile),
		.max = LAYER_NAME_MAX,
		.unit = "NAME",
		.flag = "--profile",
		.variable = "TERSE_PROFILE",
		.help = "The profile whose settings are used (terse config --profiles lists them); "
			"empty: the one that the command belongs to.",
		.refuse = layer_refuse_name,
	},
	{
		.section = "run",
		.key = "timeout",
		.type = OPTION_DURATION,
		.offset = OFFSET(timeout),
		.max = 365 * DAY,
		.preset = "off",
		.flag = "--timeout",
		.variable = "TERSE_TIMEOUT",
		.help = "End the command (SIGTERM) when it has run this long; terse then exits "
			"with 124.",
	},
	{
		.section = "run",
		.key = "grace",
		.type = OPTION_DURATION,
		.offset = OFFSET(grace),
		.min = 1,
		.max = HOUR,
		.preset = "5s",
		.flag = "--grace",
		.variable = "TERSE_GRACE",
		.help = "Kill the command (SIGKILL) when it is still there this long after the "
			"SIGTERM.",
	},
	{
		.section = "run",
		.key = "linger",
		.type = OPTION_DURATION,
		.offset = OFFSET(linger),
		.max = 365 * DAY,
		.preset = "12h",
		.flag = "--linger",
		.variable = "TERSE_LINGER",
		.help = "Record what background processes still write for at most this long "
			"after the command has ended.",
	},
	{
		.section = "run",
		.key = "linger_idle",
		.type = OPTION_DURATION,
		.offset = OFFSET(linger_idle),
		.max = 365 * DAY,
		.preset = "10m",
		.flag = "--linger-idle",
		.variable = "TERSE_LINGER_IDLE",
		.help = "Stop that sooner when all that hold the output are daemons (each made a "
			"session of its own) which have written nothing for this long.",
	},
	{
		.section = "run",
		.key = "pty",
		.type = OPTION_TRISTATE,
		.offset = OFFSET(pty),
		.preset = "auto",
		.flag = "--pty",
		.negated = "--no-pty",
		.variable = "TERSE_PTY",
		.help = "Whether the command writes to a pseudo-terminal or to a pipe.",
	},
	{
		.section = "run",
		.key = "tty",
		.type = OPTION_TRISTATE,
		.offset = OFFSET(tty),
		.preset = "auto",
		.flag = "--tty",
		.negated = "--no-tty",
		.variable = "TERSE_TTY",
		.help = "Whether the pseudo-terminal is the command's controlling terminal, so "
			"that programs can ask for passwords; auto: only when somebody can answer.",
	},
	{
		.section = "run",
		.key = "streams",
		.type = OPTION_ENUM,
		.offset = OFFSET(streams),
		.preset = "auto",
		.choices = streams_choices,
		.flag = "--streams",
		.variable = "TERSE_STREAMS",
		.help = "Whether stdout and stderr are one text in true order or kept apart; auto: "
			"apart where they have different destinations.",
	},
	{
		.section = "run",
		.key = "yield",
		.type = OPTION_DURATION,
		.offset = OFFSET(yield),
		.max = 365 * DAY,
		.preset = "off",
		.flag = "--yield",
		.variable = "TERSE_YIELD",
		.help = "Report what there is when the command has run this long, and let it go on "
			"by itself (terse await, send, signal). The command gets a controlling "
			"terminal.",
	},
	{
		.section = "run",
		.key = "yield_status",
		.type = OPTION_COUNT,
		.offset = OFFSET(yield_status),
		.max = 255,
		.preset = "0",
		.unit = "status",
		.flag = "--yield-status",
		.variable = "TERSE_YIELD_STATUS",
		.help = "The exit status when the command goes on.",
	},
	{
		.section = "run",
		.key = "detach",
		.type = OPTION_BOOL,
		.offset = OFFSET(detach),
		.preset = "no",
		.flag = "--detach",
		.negated = "--no-detach",
		.variable = "TERSE_DETACH",
		.help = "Let the command go on by itself at once, and print its ID.",
	},
	{
		.section = "run",
		.key = "prompt",
		.type = OPTION_ENUM,
		.offset = OFFSET(prompt),
		.preset = "report",
		.choices = prompt_choices,
		.flag = "--prompt",
		.variable = "TERSE_PROMPT",
		.help = "When the command waits for input on its controlling terminal and nobody "
			"is there: report it and let the command wait (as yield does), await its "
			"end "
			"all the same, type the end of input, or end the command.",
	},
	{
		.section = "run",
		.key = "hang_up",
		.type = OPTION_DURATION,
		.offset = OFFSET(hang_up),
		.max = HOUR,
		.preset = "3s",
		.flag = "--hang-up",
		.variable = "TERSE_HANG_UP",
		.help = "Hang up on a program that draws on the screen and waits for keys where "
			"nobody can type (not after --yield, --detach or --tty) when it has "
			"written nothing for this long; off: only tell. Servers are only told of.",
	},

	{
		.section = "terminal",
		.key = "cols",
		.type = OPTION_COUNT,
		.offset = OFFSET(cols),
		.min = 2,
		.max = 1000,
		.preset = "160",
		.unit = "columns",
		.flag = "--cols",
		.variable = "TERSE_COLS",
		.safe = true,
		.help = "Width of the pseudo-terminal; many programs cut what they print to it.",
	},
	{
		.section = "terminal",
		.key = "rows",
		.type = OPTION_COUNT,
		.offset = OFFSET(rows),
		.min = 2,
		.max = 500,
		.preset = "50",
		.unit = "rows",
		.flag = "--rows",
		.variable = "TERSE_ROWS",
		.safe = true,
		.help = "Height of the pseudo-terminal.",
	},
	{
		.section = "terminal",
		.key = "collapse",
		.type = OPTION_BOOL,
		.offset = OFFSET(collapse),
		.preset = "yes",
		.flag = "--collapse",
		.negated = "--no-collapse",
		.variable = "TERSE_COLLAPSE",
		.safe = true,
		.help = "Show what a terminal would show in the end; no: leave overwritten text "
			"such as progress in, and take only escape sequences out.",
	},
	{
		.section = "terminal",
		.key = "detach_key",
		.type = OPTION_STRING,
		.offset = OFFSET(detach_key),
		.max = 16,
		.preset = "ctrl-\\",
		.unit = "KEY",
		.variable = "TERSE_DETACH_KEY",
		.safe = true,
		.help = "The key that leaves terse attach.",
		.refuse = refuse_detach_key,
	},
	{
		.section = "report",
		.key = "format",
		.type = OPTION_ENUM,
		.offset = OFFSET(format),
		.preset = "text",
		.choices = format_choices,
		.flag = "--format",
		.variable = "TERSE_FORMAT",
		.help = "How a run is told: its text as it comes, or when it has ended as one JSON "
			"object, or in blocks with a header.",
	},
	{
		.section = "report",
		.key = "size",
		.type = OPTION_SIZE,
		.offset = OFFSET(size),
		.min = 64,
		.max = 16 * MB,
		.preset = "4KB",
		.flag = "--size",
		.variable = "TERSE_SIZE",
		.safe = true,
		.help = "Text up to this size is printed whole, longer text as a preview of this "
			"size.",
	},
	{
		.section = "report",
		.key = "max_lines",
		.type = OPTION_COUNT,
		.offset = OFFSET(max_lines),
		.max = 1000000000,
		.preset = "0",
		.unit = "lines",
		.flag = "--max-lines",
		.variable = "TERSE_MAX_LINES",
		.safe = true,
		.help = "Text of more lines than this is printed as a preview too; 0: no limit.",
	},
	{
		.section = "report",
		.key = "unit",
		.type = OPTION_ENUM,
		.offset = OFFSET(unit),
		.preset = "lines",
		.choices = unit_choices,
		.variable = "TERSE_UNIT",
		.safe = true,
		.help = "What max_lines counts and the notices speak of; entries: a listing's "
			"headings and totals do not count.",
	},
	{
		.section = "report",
		.key = "longest_line",
		.type = OPTION_SIZE,
		.offset = OFFSET(longest_line),
		.min = 40,
		.max = MB,
		.or_zero = true,
		.preset = "0",
		.variable = "TERSE_LONGEST_LINE",
		.safe = true,
		.help = "Text with a line longer than this is printed as a preview too; 0: no "
			"limit.",
	},
	{
		.section = "report",
		.key = "err_size",
		.type = OPTION_SIZE,
		.offset = OFFSET(err_size),
		.min = 64,
		.max = 16 * MB,
		.or_zero = true,
		.preset = "0",
		.flag = "--err-size",
		.variable = "TERSE_ERR_SIZE",
		.safe = true,
		.help = "The size for standard error where it is kept apart; 0: as size.",
	},
	{
		.section = "report",
		.key = "max_err_lines",
		.type = OPTION_COUNT,
		.offset = OFFSET(max_err_lines),
		.max = 1000000000,
		.preset = "0",
		.unit = "lines",
		.flag = "--max-err-lines",
		.variable = "TERSE_MAX_ERR_LINES",
		.safe = true,
		.help = "The max_lines for standard error where it is kept apart; 0: no limit.",
	},
	{
		.section = "report",
		.key = "print",
		.type = OPTION_ENUM,
		.offset = OFFSET(print),
		.preset = "auto",
		.choices = print_choices,
		.flag = "--print",
		.variable = "TERSE_PRINT",
		.help = "What is printed of text over the limit; auto: a preview for an agent, the "
			"full text for a file or a program.",
	},
	{
		.section = "report",
		.key = "heartbeat",
		.type = OPTION_DURATION,
		.offset = OFFSET(heartbeat),
		.max = DAY,
		.preset = "60s",
		.flag = "--heartbeat",
		.variable = "TERSE_HEARTBEAT",
		.safe = true,
		.help = "Tell that the command still runs when nothing was printed for this long, "
			"or not "
			"all there is.",
	},
	{
		.section = "report",
		.key = "status",
		.type = OPTION_ENUM,
		.offset = OFFSET(status),
		.preset = "never",
		.choices = status_choices,
		.flag = "--status",
		.variable = "TERSE_STATUS",
		.safe = true,
		.help = "When text that is printed whole is followed by a line with the exit "
			"status.",
	},
	{
		.section = "report",
		.key = "ceiling",
		.type = OPTION_SIZE,
		.offset = OFFSET(ceiling),
		.min = 512,
		.max = 16 * MB,
		.or_zero = true,
		.preset = "0",
		.flag = "--ceiling",
		.variable = "TERSE_CEILING",
		.safe = true,
		.help = "What is printed at most, notices included, whatever size says: more than "
			"that the agent would cut itself; 0: not known.",
	},
	{
		.section = "report",
		.key = "failure_ceiling",
		.type = OPTION_SIZE,
		.offset = OFFSET(failure_ceiling),
		.min = 512,
		.max = 16 * MB,
		.or_zero = true,
		.preset = "0",
		.flag = "--failure-ceiling",
		.variable = "TERSE_FAILURE_CEILING",
		.safe = true,
		.help = "The ceiling for a command that fails; 0: as ceiling.",
	},
	{
		.section = "report",
		.key = "line_ceiling",
		.type = OPTION_COUNT,
		.offset = OFFSET(line_ceiling),
		.max = 1000000000,
		.preset = "0",
		.unit = "lines",
		.flag = "--line-ceiling",
		.variable = "TERSE_LINE_CEILING",
		.safe = true,
		.help = "The ceiling in lines; 0: not known.",
	},
	{
		.section = "preview",
		.key = "mode",
		.type = OPTION_ENUM,
		.offset = OFFSET(mode),
		.preset = "smart",
		.choices = mode_choices,
		.flag = "--mode",
		.variable = "TERSE_MODE",
		.safe = true,
		.help = "Which part of the text a preview shows; smart: the start, the end, and "
			"the lines that tell why.",
	},
	{
		.section = "preview",
		.key = "head_share",
		.type = OPTION_COUNT,
		.offset = OFFSET(head_share),
		.max = 100,
		.preset = "15",
		.unit = "percent",
		.flag = "--head-share",
		.variable = "TERSE_HEAD_SHARE",
		.safe = true,
		.help = "How much of a preview the start of the text gets; it is printed as it "
			"comes.",
	},
	{
		.section = "preview",
		.key = "end_share",
		.type = OPTION_COUNT,
		.offset = OFFSET(end_share),
		.max = 100,
		.preset = "8",
		.unit = "percent",
		.flag = "--end-share",
		.variable = "TERSE_END_SHARE",
		.safe = true,
		.help = "How much of a smart preview the last lines get whatever they say; after a "
			"success at least 30.",
	},
	{
		.section = "preview",
		.key = "patterns",
		.type = OPTION_LIST,
		.offset = OFFSET(patterns),
		.max = PHRASE_MAX,
		.most = PHRASE_COUNT,
		.in_profile = true,
		.unit = "TEXT",
		.flag = "--pattern",
		.variable = "TERSE_PATTERN",
		.safe = true,
		.help = "Lines with one of these texts in them (letters in either case, * for "
			"anything between) are put forward by a smart preview, whatever the exit "
			"status; a profile adds its own.",
		.refuse = phrase_refuse,
	},
	{
		.section = "preview",
		.key = "ignore",
		.type = OPTION_LIST,
		.offset = OFFSET(ignore),
		.max = PHRASE_MAX,
		.most = PHRASE_COUNT,
		.in_profile = true,
		.unit = "TEXT",
		.flag = "--ignore",
		.variable = "TERSE_IGNORE",
		.help = "Lines with one of these texts in them are not put forward by a smart "
			"preview, whatever they say; a profile adds its own.",
		.refuse = phrase_refuse,
	},
	{
		.section = "preview",
		.key = "max_line",
		.type = OPTION_SIZE,
		.offset = OFFSET(max_line),
		.min = 64,
		.max = MB,
		.or_zero = true,
		.preset = "0",
		.flag = "--max-line",
		.variable = "TERSE_MAX_LINE",
		.safe = true,
		.help = "A preview cuts lines that are longer than this; 0: longer than 500 bytes, "
			"unless there is room for more of them.",
	},
	{
		.section = "spill",
		.key = "when",
		.type = OPTION_ENUM,
		.offset = OFFSET(spill),
		.choices = when_choices,
		.preset = "overflow",
		.flag = "--spill",
		.variable = "TERSE_SPILL",
		.help = "Which texts are kept: those that are not printed whole, or always, so "
			"that "
			"terse read last shows short ones again, too.",
	},
	{
		.section = "spill",
		.key = "max_artifact",
		.type = OPTION_SIZE,
		.offset = OFFSET(max_artifact),
		.min = 64 * KB,
		.max = PB,
		.preset = "1GB",
		.flag = "--max-artifact",
		.variable = "TERSE_MAX_ARTIFACT",
		.help = "An artifact keeps the first and the last part of text that is larger than "
			"this.",
	},
	{
		.section = "spill",
		.key = "min_free",
		.type = OPTION_SIZE,
		.offset = OFFSET(min_free),
		.max = PB,
		.preset = "32MB",
		.flag = "--min-free",
		.variable = "TERSE_MIN_FREE",
		.help = "Where less than this is free on the disk, it counts as full.",
	},
	{
		.section = "spill",
		.key = "raw",
		.type = OPTION_TRISTATE,
		.offset = OFFSET(raw),
		.preset = "auto",
		.flag = "--keep-raw",
		.negated = "--no-keep-raw",
		.variable = "TERSE_KEEP_RAW",
		.help = "Whether the bytes as the command wrote them are kept beside the text; "
			"auto: when more than colours is missing from the text.",
	},
	{
		.section = "spill",
		.key = "record",
		.type = OPTION_BOOL,
		.offset = OFFSET(record),
		.preset = "no",
		.flag = "--record",
		.negated = "--no-record",
		.variable = "TERSE_RECORD",
		.help = "Keep when the command wrote what, for terse replay.",
	},
	{
		.section = "session",
		.key = "name",
		.type = OPTION_STRING,
		.offset = OFFSET(session),
		.max = 100,
		.unit = "NAME",
		.flag = "--session",
		.variable = "TERSE_SESSION",
		.help = "The session that artifacts belong to; empty: the agent's conversation.",
	},
	{
		.section = "session",
		.key = "keep",
		.type = OPTION_DURATION,
		.offset = OFFSET(keep),
		.max = 3650 * DAY,
		.preset = "1d",
		.variable = "TERSE_KEEP",
		.help = "How long the artifacts of a session that has ended are kept; off: not at "
			"all.",
	},
	{
		.section = "gc",
		.key = "interval",
		.type = OPTION_DURATION,
		.offset = OFFSET(gc_interval),
		.max = 365 * DAY,
		.preset = "1h",
		.variable = "TERSE_GC_INTERVAL",
		.help = "The store is cleaned up after a run when that was not done for this long; "
			"off: only by terse gc.",
	},
	{
		.section = "gc",
		.key = "max_age",
		.type = OPTION_DURATION,
		.offset = OFFSET(gc_age),
		.max = 3650 * DAY,
		.preset = "14d",
		.flag = "--gc-age",
		.variable = "TERSE_GC_AGE",
		.help = "Artifacts that were last written longer ago than this are removed; off: "
			"none.",
	},
	{
		.section = "gc",
		.key = "max_size",
		.type = OPTION_SIZE,
		.offset = OFFSET(gc_size),
		.max = PB,
		.preset = "5GB",
		.flag = "--gc-size",
		.variable = "TERSE_GC_SIZE",
		.help = "The oldest artifacts are removed when all take more disk space than this; "
			"0: no limit.",
	},
	{
		.section = "gc",
		.key = "max_count",
		.type = OPTION_COUNT,
		.offset = OFFSET(gc_count),
		.max = 1000000000,
		.preset = "20000",
		.unit = "artifacts",
		.flag = "--gc-count",
		.variable = "TERSE_GC_COUNT",
		.help = "The oldest are removed when there are more than this; 0: no limit.",
	},
	{
		.section = "gc",
		.key = "session_size",
		.type = OPTION_SIZE,
		.offset = OFFSET(gc_session_size),
		.max = PB,
		.preset = "0",
		.variable = "TERSE_GC_SESSION_SIZE",
		.help = "The size for each session; 0: no limit.",
	},
	{
		.section = "gc",
		.key = "session_count",
		.type = OPTION_COUNT,
		.offset = OFFSET(gc_session_count),
		.max = 1000000000,
		.preset = "0",
		.unit = "artifacts",
		.variable = "TERSE_GC_SESSION_COUNT",
		.help = "The count for each session; 0: no limit.",
	},
	{
		.section = "redact",
		.key = "secrets",
		.type = OPTION_BOOL,
		.offset = OFFSET(redact),
		.preset = "no",
		.flag = "--redact",
		.negated = "--no-redact",
		.variable = "TERSE_REDACT",
		.help = "Replace what looks like a secret (keys, tokens, passwords in URLs) before "
			"anything is printed or kept.",
	},
	{
		.section = "redact",
		.key = "patterns",
		.type = OPTION_LIST,
		.offset = OFFSET(redact_patterns),
		.max = 4096,
		.unit = "REGEX",
		.flag = "--redact-pattern",
		.variable = "TERSE_REDACT_PATTERN",
		.help = "Replace also what matches one of these (Perl's syntax, within a line).",
		.refuse = expression_refuse,
	},
	{
		.section = "shim",
		.key = "shell",
		.type = OPTION_STRING,
		.offset = OFFSET(shell),
		.max = 4095,
		.unit = "PROGRAM",
		.flag = "--shell",
		.variable = "TERSE_SHELL",
		.help = "The shell that runs a shell string; empty: bash where there is one, else "
			"sh.",
	},
	{
		.section = "shim",
		.key = "pass",
		.type = OPTION_LIST,
		.offset = OFFSET(pass),
		.max = LONGEST,
		.unit = "TEMPLATE",
		.variable = "TERSE_PASS",
		.help = "What an agent's command looks like (with * for any characters) that "
			"terse-sh does not supervise.",
		.refuse = template_refuse,
	},
	{
		.section = "environment",
		.key = "set",
		.type = OPTION_LIST,
		.offset = OFFSET(env_set),
		.max = LONGEST,
		.preset = "PAGER=cat\n"
			  "GIT_PAGER=cat\n"
			  "GH_PAGER=cat\n"
			  "MANPAGER=cat\n"
			  "SYSTEMD_PAGER=cat\n"
			  "TERM=xterm-256color",
		.unit = "NAME=VALUE",
		.flag = "--env",
		.variable = "TERSE_ENV",
		.help = "Variables that the command gets when its output is captured.",
		.refuse = refuse_assignment,
	},
	{
		.section = "environment",
		.key = "unset",
		.type = OPTION_LIST,
		.offset = OFFSET(env_unset),
		.max = LONGEST,
		.unit = "NAME",
		.flag = "--unset-env",
		.variable = "TERSE_UNSET_ENV",
		.help = "Variables that the command does not get when its output is captured.",
		.refuse = refuse_name,
	},
	{
		.section = "environment",
		.key = "keep",
		.type = OPTION_LIST,
		.offset = OFFSET(env_keep),
		.max = LONGEST,
		.unit = "NAME",
		.flag = "--keep-env",
		.variable = "TERSE_KEEP_ENV",
		.help = "Variables that set and unset leave alone when terse's own environment has "
			"them.",
		.refuse = refuse_name,
	},
};

const size_t option_count = sizeof(option_table) / sizeof(*option_table);
_Static_assert(sizeof(option_table) / sizeof(*option_table) <= OPTION_LIMIT, "raise OPTION_LIMIT");

const struct option_shorthand option_shorthands[] = {
	{
		.flag = "--preview",
		.section = "report",
		.key = "print",
		.value = "preview",
		.help = "Print a preview of text over the limit, whoever reads it.",
	},
	{
		.flag = "--full",
		.section = "report",
		.key = "print",
		.value = "full",
		.help = "Print the full text, whoever reads it.",
	},
};

const size_t option_shorthand_count = sizeof(option_shorthands) / sizeof(*option_shorthands);

const struct option *option_by_key(const char *section, const char *key)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		if (strcmp(o->key, key) == 0 && strcmp(o->section, section) == 0)
			return o;
	}
	return NULL;
}

const struct option *option_by_variable(const char *name, size_t len)
{
	for (size_t i = 0; i < option_count; i++) {
		const char *variable = option_table[i].variable;
		if (strncmp(variable, name, len) == 0 && variable[len] == '\0')
			return &option_table[i];
	}
	return NULL;
}

bool option_is_number(const struct option *o)
{
	return o->type != OPTION_STRING && o->type != OPTION_LIST;
}

int64_t *option_number(struct settings *s, const struct option *o)
{
	return (int64_t *)(void *)((char *)s + o->offset);
}

const struct option *option_by_section_key(const char *key)
{
	for (size_t i = 0; i < option_count; i++) {
		if (option_is_number(&option_table[i]) && strcmp(option_table[i].key, key) == 0)
			return &option_table[i];
	}
	return NULL;
}

struct setting_source *option_source(struct settings *s, const struct option *o)
{
	return &s->sources[o - option_table];
}

bool option_has_section(const char *section)
{
	for (size_t i = 0; i < option_count; i++) {
		if (strcmp(option_table[i].section, section) == 0)
			return true;
	}
	return false;
}

const char *option_nearest_flag(const char *flag, const char *const *more)
{
	struct nearest n;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(flag, "="), flag);
	nearest_init(&n, name);
	for (; *more; more++)
		nearest_offer(&n, *more);
	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].flag)
			nearest_offer(&n, option_table[i].flag);
		if (option_table[i].negated)
			nearest_offer(&n, option_table[i].negated);
	}
	for (size_t i = 0; i < option_shorthand_count; i++)
		nearest_offer(&n, option_shorthands[i].flag);
	return n.best;
}
