// The effective settings of one call, in the order of the option table (option.h).
//
// Durations are milliseconds, 0 means off; sizes are bytes.
#ifndef TERSE_CONFIG_SETTINGS_H
#define TERSE_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct section_entry;

enum tristate { TRI_AUTO, TRI_YES, TRI_NO };
enum streams { STREAMS_AUTO, STREAMS_MERGED, STREAMS_SPLIT };
enum format { FORMAT_TEXT, FORMAT_JSON };
enum printing { PRINT_AUTO, PRINT_PREVIEW, PRINT_FULL };
/* How terse's own lines say what to do next. */
enum next_words { WORDS_COMMANDS, WORDS_TOOLS };

enum status_line { STATUS_NEVER, STATUS_FAILURE, STATUS_ALWAYS };
enum mode { MODE_SMART, MODE_HEAD, MODE_TAIL, MODE_ENDS };

/* Which lines are folded into one. */
enum fold { FOLD_COUNTERS, FOLD_OVERFLOW, FOLD_ALWAYS };

/* Which texts are kept. */
enum spill { SPILL_NEVER, SPILL_OVERFLOW, SPILL_ALWAYS };

/* The files and artifacts that a verb may reach by its argument. */
enum reach { REACH_FILES, REACH_STORE, REACH_SESSION };

/* Which runs are pushed to the remote. */
enum pushing { PUSHING_OFF, PUSHING_FAILED, PUSHING_ALL };

/* The reaction to a command that waits for input when nobody can type. */
enum prompting { PROMPTING_REPORT, PROMPTING_AWAIT, PROMPTING_EOF, PROMPTING_FAIL };

/* The answer of an agent's hook to a command that has terse in front of another one. */
enum in_front { IN_FRONT_DENY, IN_FRONT_ASK, IN_FRONT_PASS };

/* The meaning of a line of the text. */
enum unit { UNIT_LINES, UNIT_MATCHES, UNIT_RESULTS, UNIT_ENTRIES };

/* A list of strings; the settings own it. */
struct strings {
	char **items; /* NULL-terminated when not NULL */
	size_t count;
};

/* The entries of sections with a name of their own (config/section.h); the settings own them. */
struct sections {
	struct section_entry *entries;
	size_t count, room;
};

/* The origin of a value; later ones win. */
enum origin {
	ORIGIN_BUILT_IN,
	ORIGIN_SYSTEM,  /* /etc/terse.ini */
	ORIGIN_USER,    /* ~/.config/terse/terse.ini, or the file that TERSE_CONFIG names */
	ORIGIN_PROJECT, /* the project's .terse.ini */
	ORIGIN_AGENT,   /* the section of the agent that runs the command */
	ORIGIN_PROFILE,
	ORIGIN_VARIABLE,
	ORIGIN_FLAG,
};

/* The most options, and the index of the member at `offset` among them. */
#define OPTION_LIMIT         96
#define SETTING_SLOT(offset) ((offset) / sizeof(int64_t))

struct setting_source {
	enum origin by;
	unsigned line; /* in a file, from 1 */
	bool project;  /* set by a profile of the project's file */
};

struct settings {
	/* [run] */
	char *profile;   /* NULL: the command's own (config/profile.h) */
	int64_t timeout; /* TERM to the command after this long */
	int64_t grace;   /* KILL this long after TERM */
	int64_t finish;  /* wait this long for processes that have yet to print the last output */
	int64_t linger_idle; /* keep recording silent daemons this long */
	int64_t pty;         /* enum tristate */
	int64_t tty;         /* enum tristate: controlling terminal for the command */
	int64_t streams;     /* enum streams */
	int64_t yield;       /* let the caller go after this long */
	int64_t yield_status;
	int64_t hand_over;     /* an agent ends a call after this long; 0: never */
	int64_t detach;        /* bool: at once */
	int64_t prompt;        /* enum prompting */
	int64_t signal_status; /* bool: death by a signal is reported as 128 + its number */
	int64_t hang_up;       /* hang up on a program that waits for keys this long while nobody
				  can type */

	/* [prompt] */
	char *person;        /* which questions are for a person (PCRE2); NULL: none */
	char *call;          /* the command that calls a person, run without a shell */
	int64_t person_wait; /* how long to wait for that person, ms */

	/* [terminal] */
	int64_t cols, rows;
	int64_t settle; /* ms */

	/* [report] */
	int64_t format;        /* enum format */
	int64_t size;          /* budget of what is printed, bytes */
	int64_t failure_size;  /* the same for a command that failed (settings_size_is_for_all()) */
	int64_t max_lines;     /* 0: no limit; counted in `unit` (config/limit.h) */
	int64_t unit;          /* enum unit */
	int64_t err_size;      /* for separate standard error; 0: as size */
	int64_t max_err_lines; /* for separate standard error; 0: no limit */
	int64_t print;         /* enum printing: --preview, --full */
	int64_t heartbeat;
	int64_t status;          /* enum status_line */
	int64_t words;           /* enum next_words */
	int64_t ceiling;         /* bytes that the reader would cut itself; 0: unknown */
	int64_t failure_ceiling; /* the same for a command that failed; 0: as ceiling */
	int64_t cut_ceiling;  /* the same for a success with text over `ceiling`; 0: as ceiling */
	int64_t line_ceiling; /* the same in lines; 0: unknown */
	int64_t exit_delay;   /* delay before terse ends if an agent reads */

	/* [preview] */
	int64_t mode;                    /* enum mode */
	int64_t fold;                    /* enum fold */
	int64_t head_share;              /* percent */
	int64_t end_share;               /* percent */
	struct strings patterns, ignore; /* config/value.h */
	char *about;                     /* words; NULL: none */
	int64_t max_line;                /* bytes; 0: depends on the room */

	/* [spill] */
	int64_t spill; /* enum spill */
	int64_t max_artifact;
	int64_t min_free;
	int64_t raw;    /* enum tristate */
	int64_t record; /* bool: the times of output */

	/* [session] */
	char *session; /* NULL: find out */
	int64_t keep;  /* how long the artifacts of an ended session stay */
	int64_t reach; /* enum reach */

	/* [gc] 0: no limit */
	int64_t gc_interval; /* 0: no automatic gc */
	int64_t gc_age;
	int64_t gc_size, gc_count;

	/* [redact] */
	int64_t redact;                 /* bool: hide what looks like a secret */
	struct strings redact_patterns; /* further ones, PCRE2 */

	/* [remote] (supervisor/remote/remote.h) */
	char *remote; /* NULL: none */
	int64_t push; /* enum pushing */
	int64_t outbox_max;
	int64_t transfer_time; /* the longest time without progress */
	struct strings labels; /* NAME=VALUE */

	/* [shim] */
	char *shell;         /* NULL: bash where there is one, else sh */
	int64_t interactive; /* whether `terse shell` replaces an interactive shell */
	struct strings pass; /* templates (config/pattern.h) */
	int64_t in_front;    /* enum in_front */
	int64_t comments;    /* whether a command's last comment can set options */

	/* [environment] */
	struct strings env_set;   /* NAME=VALUE */
	struct strings env_unset; /* NAME */
	struct strings env_keep;  /* NAME: unchanged by set and unset if the caller has it */

	/* The origin of each value, by SETTING_SLOT(), and the paths of the files that were read
	   (NULL for the others). */
	struct setting_source sources[OPTION_LIMIT];
	char *files[ORIGIN_PROJECT + 1];
	bool project_is_wrong; /* the first error is in the project's file, which others may have
				  written */

	struct sections profiles; /* config/profile.h */
	struct sections agents;   /* supervisor/agents/rule.h */
	const char *agent;        /* the agent whose section was applied; NULL: none */
	bool own_words;           /* the command's profile is PROFILE_TERSE */
	const char *applied;      /* the name of the profile that was applied; NULL: none */
	char by_project[120]; /* which settings of previews the project's file has set: "size, mode"
			       */
};

#define SETTING_SLOTS SETTING_SLOT(offsetof(struct settings, sources))
_Static_assert(SETTING_SLOTS <= OPTION_LIMIT, "raise OPTION_LIMIT");

#define SETTING_ORIGIN(s, member) ((s)->sources[SETTING_SLOT(offsetof(struct settings, member))].by)

/* Whether `size` counts for a failure, too: it was set in a later place than failure_size. */
static inline bool settings_size_is_for_all(const struct settings *s)
{
	return SETTING_ORIGIN(s, size) > SETTING_ORIGIN(s, failure_size);
}

/* Why a setting was refused. */
struct option_error {
	/* "path:line: [section] key: value: reason", "TERSE_COLS: value: reason" or
	   "--cols: value: reason"; one line of clean UTF-8 */
	char text[512];
};

/* Fills in the defaults. Returns 0, or -1 with ENOMEM and nothing to release. */
int settings_init(struct settings *s);
void settings_release(struct settings *s);

/* Whether runs are pushed to a remote. */
bool settings_push(const struct settings *s);

#define SETTINGS_SYSTEM_FILE "/etc/terse.ini"

/* Initializes *s with the defaults, then the files, then the TERSE_* variables. `system_file`: the
   system's file. TERSE_CONFIG replaces the user's file (empty: none). A file or variable with an
   error is ignored as a whole; *error holds the first error. A file that is missing or can't be
   read is an error only if TERSE_CONFIG names it; a project's file that is not trusted is an error.
   Returns 0 (error->text is not empty after an error), or -1 with ENOMEM and nothing to release. */
int settings_load(struct settings *s, const char *system_file, struct option_error *error);

/* Loads the text of a file, all or nothing (except that a part may be set if memory runs out). It
   is read through inih (ini.c): [section]; key = value or key: value; an indented line continues
   the key above; # or ; at the start of a line, or ; after a blank, starts a comment. CRLF and a
   UTF-8 byte order mark are accepted; a NUL byte and a line that inih would cut are errors. `path`
   is its name in messages. An option that a project may not set is an error in its file. Returns 0,
   or -1 with errno: EINVAL with *error filled, or ENOMEM. */
int settings_load_text(struct settings *s, enum origin by, const char *path, const char *text,
		       size_t len, struct option_error *error);

/* If argv[*index] is an option's flag ("--cols 100", "--cols=100", "--full", "--no-pty"), sets it
   (a list: adds to it), moves *index past it and returns 1. Returns 0 if it is not such a flag, or
   -1 with errno: EINVAL (*error says what is wrong with the value, or that it is missing) or
   ENOMEM. */
int settings_take_flag(struct settings *s, int argc, char *const argv[], int *index,
		       struct option_error *error);

/* Finds the errors in a text: writes the first one to `error` and appends all to `messages`, a line
   each; both may be NULL. Returns their number, or -1 with ENOMEM. */
int settings_check_text(enum origin by, const char *path, const char *text, size_t len,
			struct buffer *messages, struct option_error *error);

/* Appends a file of the given origin to `text`. Never waits: a FIFO without a writer is empty.
   Returns 0, or -1 with errno; EINVAL: the file was refused (if it is over 1 MB, for example), and
   *error says why. */
int settings_read_file(enum origin by, const char *path, struct buffer *text,
		       struct option_error *error);

/* The path of the user's file, which may not exist: TERSE_CONFIG (*named), or the usual one,
   written into `room` (PATH_MAX bytes). NULL: there is none. */
const char *settings_user_file(char *room, bool *named);

// The project's .terse.ini: the nearest one from the current directory up to the root of its
// repository (the directory with .git). Outside a repository, only the file in the current
// directory counts.
//
// A repository is not trusted. Its file can set only the options that the table allows it
// (project_least), and it has to be a plain file of the user (or of root) that not everybody can
// write to.

#define PROJECT_FILE ".terse.ini"

/* Writes the file's absolute path into `path` (PATH_MAX bytes). Opens no file. Returns whether
   there is one. */
bool project_find(char *path);

// A request to terse in the comment that a command ends with, so that an agent's permission rules
// judge the command as they would without the comment:
//
//   npm run dev # terse: yield=10s
//   make # terse: timeout=5m, size=20KB
//
// It is the last comment of the whole string, and contains nothing but these names, each with a
// value: yield, timeout, size. terse ignores any other comment.

enum { COMMENT_MAX = 3, COMMENT_LEN = 48 };

#define COMMENT_MARK "terse:"

struct comment {
	size_t count;
	char flags[COMMENT_MAX][COMMENT_LEN]; /* "--yield=10s" */
};

/* Reads the comment, and sets its options as flags would. An invalid value is left out, since a
   comment must not keep a command from running. Returns 0, or -1 with the error of the last invalid
   value. */
int comment_read(struct comment *c, const char *command, struct settings *s,
		 struct option_error *error);

#endif
