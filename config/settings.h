// The effective settings of one call, filled from the option table (option.h):
// built-in defaults, then files, the agent's section, the command's profile,
// TERSE_* variables and flags, later ones winning.
//
// Durations are milliseconds, 0 meaning off; sizes are bytes.
#ifndef TERSE_CONFIG_SETTINGS_H
#define TERSE_CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct layer;

enum tristate { TRI_AUTO, TRI_YES, TRI_NO };
enum streams { STREAMS_AUTO, STREAMS_MERGED, STREAMS_SPLIT };
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_BLOCKS };
enum printing { PRINT_AUTO, PRINT_PREVIEW, PRINT_FULL };
enum status_line { STATUS_NEVER, STATUS_FAILURE, STATUS_ALWAYS };
enum mode { MODE_SMART, MODE_HEAD, MODE_TAIL, MODE_ENDS };

/* Which texts are kept. */
enum spill { SPILL_OVERFLOW, SPILL_ALWAYS };

/* What is done about a command that waits for input when nobody is there to type. */
enum prompting { PROMPTING_REPORT, PROMPTING_AWAIT, PROMPTING_EOF, PROMPTING_FAIL };

/* What a line of the text is to the one who asked for it. */
enum unit { UNIT_LINES, UNIT_MATCHES, UNIT_RESULTS, UNIT_ENTRIES };

/* A list of strings; the settings own it. */
struct strings {
	char **items; /* NULL-terminated when not NULL */
	size_t count;
};

/* Where a value comes from; of two, the later one here wins. */
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

/* More options than this there are not. */
#define OPTION_LIMIT 64

struct setting_source {
	enum origin by;
	unsigned line; /* in a file, from 1 */
};

struct settings {
	/* [run] */
	char *profile;   /* NULL: the command's own (config/profile.h) */
	int64_t timeout; /* TERM to the command after this long */
	int64_t grace;   /* KILL this long after TERM */
	int64_t linger;  /* keep recording background writers this long */
	/* ... silent daemons this long */
	int64_t linger_idle;
	int64_t pty;     /* enum tristate */
	int64_t tty;     /* enum tristate: controlling terminal for the command */
	int64_t streams; /* enum streams */
	int64_t yield;   /* let the caller go after this long */
	int64_t yield_status;
	int64_t detach;  /* bool: at once */
	int64_t prompt;  /* enum prompting */
	int64_t hang_up; /* what waits for keys that nobody can type, after this long */

	/* [terminal] */
	int64_t cols, rows;
	int64_t collapse; /* bool */
	char *detach_key;

	/* [report] */
	int64_t format;        /* enum format */
	int64_t size;          /* budget of what is printed, bytes */
	int64_t max_lines;     /* 0: no limit; counted in `unit` (config/limit.h) */
	int64_t unit;          /* enum unit */
	int64_t longest_line;  /* bytes; 0: no limit */
	int64_t err_size;      /* of standard error kept apart; 0: as size */
	int64_t max_err_lines; /* the same; 0: no limit */
	int64_t print;         /* enum printing: --preview, --full */
	int64_t heartbeat;
	int64_t status;          /* enum status_line */
	int64_t ceiling;         /* bytes that whoever reads would cut itself; 0: not known */
	int64_t failure_ceiling; /* the same of a command that failed; 0: as ceiling */
	int64_t line_ceiling;    /* the same in lines; 0: not known */

	/* [preview] */
	int64_t mode;                    /* enum mode */
	int64_t head_share;              /* percent */
	int64_t end_share;               /* percent */
	struct strings patterns, ignore; /* config/value.h */
	int64_t max_line;                /* bytes; 0: as there is room */

	/* [spill] */
	int64_t spill; /* enum spill */
	int64_t max_artifact;
	int64_t min_free;
	int64_t raw;    /* enum tristate */
	int64_t record; /* bool: when what was written */

	/* [session] */
	char *session; /* NULL: find out */
	int64_t keep;  /* artifacts of one that has ended */

	/* [gc] 0: no limit */
	int64_t gc_interval; /* 0: never by itself */
	int64_t gc_age;
	int64_t gc_size, gc_count;
	int64_t gc_session_size, gc_session_count;

	/* [redact] */
	int64_t redact;                 /* bool: what looks like a secret */
	struct strings redact_patterns; /* further ones, PCRE2 */

	/* [shim] */
	char *shell;         /* NULL: bash where there is one, else sh */
	struct strings pass; /* templates (config/template.h) */

	/* [environment] */
	struct strings env_set;   /* NAME=VALUE */
	struct strings env_unset; /* NAME */
	struct strings env_keep;  /* NAME: not touched by set and unset when the caller has it */

	/* Where each value comes from, in the order of the option table, and the paths of the
	   files that were read (NULL for the others). */
	struct setting_source sources[OPTION_LIMIT];
	char *files[ORIGIN_PROJECT + 1];
	bool project_is_wrong; /* the first error is in its file, which others may have written */

	/* config/layer.h; NULL: the files define none. */
	struct layer *profiles; /* config/profile.h */
	struct layer *agents;   /* supervisor/agents/rule.h */
	const char *agent;      /* whose section was applied; NULL: none */
	bool own_words;         /* the command's profile is PROFILE_TERSE */
};

/* Why a setting was refused. */
struct option_error {
	/* "path:line: [section] key: value: reason", "TERSE_COLS: value: reason" or
	   "--cols: value: reason"; one line of clean UTF-8 */
	char text[512];
};

/* Fills in the defaults. Returns 0, or -1 with ENOMEM and nothing to release. */
int settings_init(struct settings *s);
void settings_release(struct settings *s);

/* Initializes *s with the defaults, then the files, then the TERSE_* variables. TERSE_CONFIG names
   a file to read in place of the user's one (empty: none). A file with an error counts as absent as
   a whole, and so does a variable; the first error of all is returned in *error. A file
   that is missing or can't be read is no error, unless TERSE_CONFIG names it; a project's file that
   is not trusted is one. Returns 0 (also with an error noted: error->text is then not empty), or -1
   with ENOMEM and nothing to release. */
int settings_load(struct settings *s, struct option_error *error);

/* One file, all or nothing. Returns 0, or -1 with errno: ENOENT, EACCES ..., EINVAL with
   *error filled. A file over 1 MB, one with a NUL byte and one with a line that inih would cut
   are errors too. */
int settings_load_file(struct settings *s, const char *path, struct option_error *error);

/* The same for the text of a file; `path` is its name in messages. */
int settings_load_text(struct settings *s, const char *path, const char *text, size_t len,
		       struct option_error *error);

/* If argv[*index] is an option's flag ("--cols 100", "--cols=100", "--full", "--no-pty"), sets it
   (a list: adds to it), moves *index past it and returns 1. Returns 0 if it is none, -1 with errno
   EINVAL and *error filled when the value is bad or missing, or ENOMEM. */
int settings_take_flag(struct settings *s, int argc, char *const argv[], int *index,
		       struct option_error *error);

#define SETTINGS_SYSTEM_FILE "/etc/terse.ini"

/* settings_load() with another file in place of /etc/terse.ini. */
int settings_load_after(struct settings *s, const char *system_file, struct option_error *error);

/* settings_load_text() for a text that comes from `by`. Of a project's, options that are not safe
   are errors. */
int settings_load_text_by(struct settings *s, enum origin by, const char *path, const char *text,
			  size_t len, struct option_error *error);

/* Tells of every error in a text, and returns how many there are, or -1 with ENOMEM. */
int settings_check_text(enum origin by, const char *path, const char *text, size_t len,
			void (*tell)(void *ctx, const char *message), void *ctx);

/* Appends a file's text as it is read from there. Returns 0, or -1 with errno; EINVAL: it is not
   read, and *error says why. */
int settings_read_file(enum origin by, const char *path, struct buffer *text,
		       struct option_error *error);

/* The path of the user's file, there or not: the one that TERSE_CONFIG names (*named), or the usual
   one, written into `room` (PATH_MAX bytes). NULL: there is none. */
const char *settings_user_file(char *room, bool *named);

// The .terse.ini of the project that the current directory is in: the nearest one
// from there up to the repository's root (the directory with a .git). Outside of a
// repository only the current directory is looked at.
//
// A repository is not trusted, so that only options marked safe in the table are
// taken from the file, and it has to be a plain file of the user (or of root)
// that not everybody can write to.

#define PROJECT_FILE ".terse.ini"

/* Finds it: writes its absolute path into `path` (PATH_MAX bytes). Looks for names only and opens
   nothing. */
bool project_find(char *path);

#endif
