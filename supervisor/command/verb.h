// The verbs of the program. Each has a file with a `const struct verb`: its options, its help and
// its function. This header also has what they share: the reader of their output, errors, finding
// an artifact.
#ifndef TERSE_COMMAND_VERB_H
#define TERSE_COMMAND_VERB_H

#include "config/error.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"
#include "supervisor/process/job.h"
#include "supervisor/process/sink.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct meta;
struct settings;
struct text;
struct live_status;
struct verb_call;
struct wording_place;

/* Exit status of terse's own errors, as env(1) and timeout(1) use it. */
#define EXIT_TERSE 125

// A verb. Its parser, help and completion come from its rows.

/* Kinds of options: what is stored in the struct that verb_parse() gets. */
enum verb_kind {
	VERB_FLAG,    /* bool */
	VERB_COUNT,   /* a number from 1 on; uint64_t */
	VERB_NUMBER,  /* a number from 0 on; uint64_t */
	VERB_LINE,    /* a line number, not 0; -1 is the last line; int64_t */
	VERB_TEXT,    /* any text, given at most once; const char *, which has to be NULL before */
	VERB_STRING,  /* the same; no options follow it */
	VERB_TIME,    /* a duration above 0; int64_t in ms */
	VERB_WHEN,    /* a moment, given at most once; struct verb_when */
	VERB_STATUS,  /* an exit code from 0 to 255; int */
	VERB_WORD,    /* one of the words of `value`; int, its index */
	VERB_TAKE,    /* passed to the verb's take() each time that it is given */
	VERB_JSON,    /* sets call->json: output and errors are JSON */
	VERB_SESSION, /* sets call->session */
	VERB_COLOR,   /* sets call->colour, from always, never and auto */
};

/* A moment: "2h" ago, "14:05". text NULL: not given. */
struct verb_when {
	const char *text;
	int64_t ms;
};

struct verb_option {
	const char *name; /* "--limit"; "-a" if it has only a letter; "" takes the operands
			     (VERB_TAKE), in order with the options */
	char letter;      /* 'o' for -o FILE and -oFILE; 0: none */
	enum verb_kind kind;
	size_t at;         /* offset of the member that is stored; for VERB_TAKE any number */
	const char *value; /* its value, as help names it and completion offers it: "N", "FILE",
			      "always|never"; NULL: it has no value */
	const char *help;  /* one line of any length; NULL: the option is not shown */
};

/* Rows that several verbs have. */
#define VERB_JSON_ROW                                      \
	{                                                  \
		"--json", 0, VERB_JSON, 0, NULL, "as JSON" \
	}
#define VERB_END_ROW                              \
	{                                         \
		NULL, 0, VERB_FLAG, 0, NULL, NULL \
	}
#define VERB_SESSION_ROW(text)                                \
	{                                                     \
		"--session", 0, VERB_SESSION, 0, "NAME", text \
	}
#define VERB_LAST_ROW VERB_SESSION_ROW("the session in which last is looked up")
#define VERB_COLOR_ROW                                                       \
	{                                                                    \
		"--color", 0, VERB_COLOR, 0, "always|never|auto",            \
			"use colours; auto: at a terminal, without NO_COLOR" \
	}

struct verb {
	const char *name;
	const char *also[3]; /* other names: "--version" */
	const char *purpose; /* its line in `terse help`; NULL: it is not shown there */
	const char *forms;   /* what follows the options, a line for each form. Words in capitals
				stand for values, others are typed as they are; [optional],
				repeated... */
	const char *text;    /* its description: whole lines */
	const struct verb_option *options; /* up to VERB_END_ROW; NULL: none */
	int least, more;      /* the number of operands that it needs, and may have in addition; -1:
				 any number */
	bool command;         /* the first operand begins a command, so options end there */
	bool live;            /* its ID is that of a live run */
	const char *settings; /* the section of terse.ini whose options it takes; "": all; NULL:
				 none */
	bool lists_settings;  /* its help lists those options */
	/* For VERB_TAKE: takes an option with its value, or NULL. Returns NULL, or what is wrong
	   with the value. */
	const char *(*take)(void *into, const struct verb_option *o, const char *value);
	/* Runs the verb. Returns the exit status: 0; 1 if nothing was found, or could not be read;
	   EXIT_TERSE for bad usage and failures of terse itself. */
	int (*run)(struct verb_call *c);
};

/* All verbs (supervisor/verbs.c), up to NULL. The first one runs `terse COMMAND`. */
extern const struct verb *const verbs[];

/* The verb with this name, or NULL. */
const struct verb *verb_named(const char *name);

/* The verb that the word probably misspells, or NULL. */
const struct verb *verb_nearest(const char *word);

/* Prints what `terse help VERB` prints; NULL: what `terse help` prints. Returns the exit status. */
int verb_print_help(const struct verb *v);

/* A call of a verb. Functions that print errors take NULL if there is no call. */
struct verb_call {
	const struct verb *verb;
	struct settings *settings; /* from files and variables; verb_parse() adds options */
	int argc;
	char **argv; /* argv[0] is the verb's name; ends with NULL */

	/* Set by verb_parse(). */
	char **operands; /* ends with NULL */
	int operand_count;
	const char *session; /* --session; NULL: the caller's session */
	const char *setting; /* the last option of terse.ini that was given, or NULL */
	bool json, colour;
	bool plain;                 /* "--" was given */
	int asker;                  /* a socket over which terse mcp asks for the state of an
				       awaited run (FRAME_STATUS); 0: none */
	struct option_error *error; /* unless NULL, gets the error of bad usage, which is not
				       printed then */
};

/* Parses the arguments into `into`, according to the verb's rows. "--" ends the options. Returns 0,
   or -1 after printing an error, as JSON with --json; the verb then returns EXIT_TERSE. With --help
   or -h prints the help and ends the process. */
int verb_parse(struct verb_call *c, void *into);

/* Prints the forms of the verb as an error. Returns EXIT_TERSE. */
int verb_tell_usage(const struct verb_call *c);

/* The row of an option, by its name or letter ("-C"), which has `len` bytes; or NULL. */
const struct verb_option *verb_option_named(const struct verb *v, const char *name, size_t len);

// The reader of a verb's output. An agent gets a page, and a line that says what is missing. A
// program (`terse read ID | sort`) and a file (`terse read ID >copy`) get the whole text and
// nothing else. If standard error goes to the same file, an agent probably collects output in that
// file, so it gets what an agent gets.

/* Bytes of a page, notices included. Claude Code shows a model at most 30,000 characters. */
#define READER_PAGE ((size_t)30000)

/* Finds who reads standard output. Never returns SINK_PIPE. */
enum sink reader_find(const struct settings *s);

/* Finds who reads a text: SINK_PROGRAM for a file that gets nothing else, SINK_FILE for a file in
   which an agent collects output, SINK_AGENT for JSON; else what reader_find() returns. */
enum sink reader_of_text(const struct verb_call *c);

/* Prints notices about what is not shown: on standard output, coloured at a terminal; if a program
   reads, on standard error. Returns 0, or -1 with errno. */
int reader_notice(enum sink sink, const struct buffer *text);

// The output with --json, one line:
//
//   {"ok":true,"data":{...}}
//   {"ok":false,"error":{"code":"unknown_artifact","message":"..."}}
//
// The codes are an interface for programs; the messages are for people.

enum envelope_code {
	ENVELOPE_USAGE,            /* wrong usage */
	ENVELOPE_UNKNOWN_ARTIFACT, /* no such artifact or file, or more than one */
	ENVELOPE_UNKNOWN_SESSION,  /* no such session */
	ENVELOPE_BAD_PATTERN,      /* the pattern is not valid, or takes too long */
	ENVELOPE_BAD_RANGE,        /* no such line or byte */
	ENVELOPE_UNREADABLE,       /* it can't be read, or was not kept */
	ENVELOPE_BINARY,           /* it is not text; the message names its type */
	ENVELOPE_CODES,
};

/* Begin and end the JSON of a success. Between these calls, the caller appends the members of
   "data". */
void envelope_begin(struct buffer *out);
void envelope_end(struct buffer *out);

// Errors, and finding an artifact.

/* Prints "terse VERB: ..." (NULL: "terse: ...") on standard error, as one line without control
   characters. Returns 1. */
int verb_error(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* strerror(3), or plain words if `error` means that an artifact is damaged. */
const char *verb_reason(int error);

/* Prints an error as verb_error() does, or with --json as JSON on standard output. Returns the exit
   status: EXIT_TERSE for wrong usage and bad patterns, else 1. */
int verb_fail(const struct verb_call *c, enum envelope_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a text to standard output, and empties it. Returns 0, or -1 with errno. */
int verb_write(struct buffer *text);

/* Prints a verb's last text and releases it. Returns the exit status: 0, even if the reader is gone
   (EPIPE), or 1 after printing an error. */
int verb_print(const struct verb_call *c, struct buffer *text);

/* Stores the name of the directory of the call's session. Returns false after printing that there
   is no such session. The caller's own session always exists. */
bool verb_has_session(const struct verb_call *c, char directory[STORE_SESSION_LEN + 1]);

/* Stores the name of a session's directory. `session` NULL: the caller's session. */
void verb_session_name(const struct settings *settings, const char *session,
		       char directory[STORE_SESSION_LEN + 1]);

/* store_open_all() for a verb that lists artifacts. If some may be missing, prints that and sets
 *status to 1. */
int verb_open_stores(const struct verb_call *c, struct store stores[STORE_MAX], int *status);

/* Whether an artifact or run belongs to the call's session. */
bool verb_owns(const struct verb_call *c, const struct store *stores, int count, const char *id);

/* Whether the settings let the call use this name of an artifact or run. Without REACH_FILES it has
   to be a whole ID or "last"; with REACH_SESSION the ID has to belong to the call's session. */
bool verb_reaches(const struct verb_call *c, const struct store *stores, int count,
		  const char *name);

/* Finds the artifact that `name` means in the call's session, if verb_reaches() it. Opens *count
   stores, which the caller closes. Returns 0, or -1 with the errno of id_find(). */
int verb_find(const struct verb_call *c, const char *name, struct store stores[STORE_MAX],
	      int *count, struct id_found *found);

/* Prints an error: verb_find() has failed with `error`. */
void verb_not_found(const struct verb_call *c, const char *name, int error);

/* Prints why a part of the artifact `id` in the session directory `dir` can't be read: opening it
   has failed with `error`; or (0) it is empty, which is an error only if the command wrote to a
   file directly. Returns whether there was an error. */
bool verb_fail_part(const struct verb_call *c, enum artifact_part part, int dir, const char *id,
		    int error);

/* Finds an artifact and opens its session directory. Stores the directory's path in `path`, unless
   that is NULL, and fills in *found except its store. Returns the descriptor, or -1 after printing
   an error. */
int verb_find_directory(const struct verb_call *c, const char *name, struct id_found *found,
			char path[PATH_MAX]);

/* Opens a part of the artifact that `name` means; or a regular file, if the settings allow files,
   and sets text->id to "". Returns 0, or -1 after printing an error. */
int verb_open(const struct verb_call *c, enum artifact_part part, const char *name,
	      struct text *text);

/* Fills in the name of a text for commands that read it: its ID, or the path of a file, which is
   put into `quoted` as a word for a shell. Returns 0, or -1 with ENOMEM. */
int verb_place(const struct verb_call *c, const struct text *text, const char *path,
	       struct buffer *quoted, struct wording_place *place);

/* Appends the members that name a text: "artifact", "stream" and "running", or "path". */
void verb_json_place(struct buffer *out, const struct text *text, const char *path);

/* Whether the text begins with binary data; if so, fills in *kind. */
bool verb_is_binary(const struct text *text, const char **kind);

/* Appends what terse follow prints for a run that asks or is silent. */
void watched_add_state(struct buffer *out, const struct live_status *now, bool asks);

// Programs and commands without a row in `verbs`.

/* terse-sh. `argv`: this process's. Returns the exit status, or -1 if neither the executed file nor
   argv[0] is named terse-sh. */
int command_shell(char **argv);

/* Replaces this process with a shell to type into, or runs one and ends as the shell does.
   `program`: the shell's path, or NULL. If it returns, the shell could not be executed, and the
   result is the exit status. */
int typed_run(struct settings *s, const char *program, char **argv);

/* The function of terse agent; terse probe also starts its agent with it. */
int agent_run(struct verb_call *c);

// Starting a command, for terse run and for terse-sh.

/* Whether there is something to filter, as in `make | terse` and `terse <log`. */
bool run_is_fed(void);

/* Whether to execute the command without a supervisor: terse is switched off, or runs inside
   another run. Even inside a run it gets a supervisor if flags ask for a report (--format) or a
   background run (--yield, --detach), and with --tty unless a person sees the outer run. */
bool run_is_bypassed(struct settings *s);

/* Prints why a command can't be executed. Returns the exit status that a shell has for that. */
int run_tell_exec_error(const struct job *job, int error);

/* Runs job->argv; job->program and job->shown are set as well. Applies the settings of the agent
   that called terse, and of the profile for the shell string `string`, or, if that is NULL, for the
   command `words`. Ends this process with the command's status. If it returns, the command could
   not be executed, and the result is the exit status. */
int run_supervised(struct job *job, struct settings *s, char *const *words, const char *string);

#endif
