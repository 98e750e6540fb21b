// The verbs of the program, one file each: a `const struct verb` with its options, its help and its
// function. And what they share: the reader of their output, errors, finding an artifact.
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

// A verb. The parser, `terse help`, completion and the answer to --help follow its rows.

/* What an option does. Those that store something store it in the struct that verb_parse() gets. */
enum verb_kind {
	VERB_FLAG,    /* bool */
	VERB_COUNT,   /* a number from 1 on; uint64_t */
	VERB_NUMBER,  /* the same from 0 on */
	VERB_LINE,    /* a line number, not 0; -1 is the last line; int64_t */
	VERB_TEXT,    /* any text, once; const char *, NULL before */
	VERB_STRING,  /* the same; options end behind it */
	VERB_TIME,    /* a duration above 0; int64_t in ms */
	VERB_WHEN,    /* a moment, once; struct verb_when */
	VERB_STATUS,  /* an exit code from 0 to 255; int */
	VERB_WORD,    /* one of the words of `value`; int, its position */
	VERB_TAKE,    /* passed to the verb's take(), each time that it is given */
	VERB_JSON,    /* sets call->json: what the verb prints is JSON, errors as well */
	VERB_SESSION, /* sets call->session */
	VERB_COLOR,   /* sets call->colour, from always, never and auto */
};

/* When: "2h" ago, "14:05". text NULL: not given. */
struct verb_when {
	const char *text;
	int64_t ms;
};

struct verb_option {
	const char *name; /* "--limit"; "-a" if it has only a letter. The row "" takes the operands,
			     in their order among the options (VERB_TAKE) */
	char letter;      /* 'o': -o FILE and -oFILE, too; 0: none */
	enum verb_kind kind;
	size_t at;         /* offset of what it stores; VERB_TAKE: which one it is */
	const char *value; /* its value, as help names it and completion offers it: "N", "FILE",
			      "always|never"; NULL: it has none */
	const char *help;  /* one line of any length; NULL: the option is taken but not shown */
};

/* The rows that several verbs have. */
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
	const char *purpose; /* a line of `terse help`; NULL: it is not for people */
	const char *forms; /* the forms of what follows the options, a line each. Words in capitals
			      stand for a value, others are typed as they are; [optional],
			      repeated... */
	const char *text;  /* what it does: whole lines */
	const struct verb_option *options; /* up to VERB_END_ROW; NULL: none */
	int least, more;      /* how many operands it needs, and how many more it may have; -1: any
				 number */
	bool command;         /* the first operand begins a command, so options end there */
	bool live;            /* its ID is that of a run that lives */
	const char *settings; /* it takes the options of terse.ini, too: those of one section, or ""
				 for all; NULL: none */
	bool lists_settings;  /* its help lists them */
	/* VERB_TAKE: returns NULL, or what is wrong with the value (NULL: the option has none). */
	const char *(*take)(void *into, const struct verb_option *o, const char *value);
	/* Does what the verb is for. Returns the exit status: 0, 1 (nothing found, or it could not
	   be read), or EXIT_TERSE for bad usage and terse's own failures. */
	int (*run)(struct verb_call *c);
};

/* All of them (supervisor/verbs.c), up to NULL; the first is what `terse COMMAND` means. */
extern const struct verb *const verbs[];

/* The verb with this name, or NULL. */
const struct verb *verb_named(const char *name);

/* The verb that the word probably misspells, or NULL. */
const struct verb *verb_nearest(const char *word);

/* Prints `terse help VERB`; NULL: `terse help`. Returns the exit status. */
int verb_print_help(const struct verb *v);

/* One call of a verb. A function that reports errors takes NULL where there is no call. */
struct verb_call {
	const struct verb *verb;
	struct settings *settings; /* with files and variables; verb_parse() adds options */
	int argc;
	char **argv; /* argv[0] is the verb's name; NULL behind the last one */

	/* From verb_parse(). */
	char **operands; /* they end with NULL */
	int operand_count;
	const char *session; /* --session, or NULL: the caller's */
	const char *setting; /* the last option of terse.ini that was given, or NULL */
	bool json, colour;
	bool plain;                 /* -- was given */
	int asker;                  /* the socket of somebody who may ask, by FRAME_STATUS, what an
				       awaited run does (mcp); 0: nobody */
	struct option_error *error; /* unless NULL, bad usage is stored here and not reported */
};

/* Parses the arguments by the rows of the verb into `into`; "--" ends the options. Returns 0, or -1
   after saying what is wrong (in JSON if --json is given, and a row); the verb then returns
   EXIT_TERSE. At --help or -h it prints the help and ends the process. */
int verb_parse(struct verb_call *c, void *into);

/* Prints which forms the verb has. Returns EXIT_TERSE. */
int verb_tell_usage(const struct verb_call *c);

/* The row of an option by its name, or letter ("-C"), of `len` bytes; NULL: there is none. */
const struct verb_option *verb_option_named(const struct verb *v, const char *name, size_t len);

// The reader of a verb's output: an agent gets a page, then a line that says what is missing; a
// program (`terse read ID | sort`) and a file (`terse read ID >copy`) everything, and nothing else.
// If standard error goes to the same file, an agent is taken to collect output in it.

/* Bytes of a page, notices included: Claude Code shows an agent 30,000 characters and cuts what is
   longer. */
#define READER_PAGE ((size_t)30000)

/* Finds who reads standard output; never SINK_PIPE. */
enum sink reader_find(const struct settings *s);

/* Finds who reads a text that was asked for: SINK_PROGRAM for a file that gets nothing else,
   SINK_FILE for a file in which an agent collects output, SINK_AGENT for JSON; else as
   reader_find().
 */
enum sink reader_of_text(const struct verb_call *c);

/* Prints notices about what is not shown: on standard output, coloured at a terminal; for a program
   on standard error. Returns 0, or -1 with errno. */
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
	ENVELOPE_UNREADABLE,       /* it exists but can't be read, or was not kept */
	ENVELOPE_BINARY,           /* it is not text; the message says of which type */
	ENVELOPE_CODES,
};

/* Begin and end the JSON of a success; the members of "data" come between. */
void envelope_begin(struct buffer *out);
void envelope_end(struct buffer *out);

// Errors, and finding an artifact.

/* Prints "terse VERB: ..." (NULL: "terse: ...") on standard error, as one line without control
   characters. Returns 1. */
int verb_error(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* strerror(3), in plain words where an artifact is damaged. */
const char *verb_reason(int error);

/* The same as verb_error(), or JSON on standard output. Returns the exit status: EXIT_TERSE for
   wrong usage and bad patterns, else 1. */
int verb_fail(const struct verb_call *c, enum envelope_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a text to standard output, and empties it. Returns 0, or -1 with errno. */
int verb_write(struct buffer *text);

/* Prints the last text of a verb and releases it. Returns the exit status: 0, also if the reader
   has gone (EPIPE), or 1 after saying what is wrong. */
int verb_print(const struct verb_call *c, struct buffer *text);

/* Stores the directory's name of the call's session. Returns false after saying that there is no
   such session; the caller's own session always exists. */
bool verb_has_session(const struct verb_call *c, char directory[STORE_SESSION_LEN + 1]);

/* Stores the directory's name of a session; `session` NULL: the caller's. */
void verb_session_name(const struct settings *settings, const char *session,
		       char directory[STORE_SESSION_LEN + 1]);

/* store_open_all() for a verb that lists artifacts: sets *status to 1 after saying that some may be
   missing. */
int verb_open_stores(const struct verb_call *c, struct store stores[STORE_MAX], int *status);

/* Whether the artifact, or the run, belongs to the call's session. */
bool verb_owns(const struct verb_call *c, const struct store *stores, int count, const char *id);

/* Whether the settings allow this name for an artifact, or for a run that has none yet. Without
   REACH_FILES it has to be a whole ID or "last"; with REACH_SESSION, an ID of the call's
   session. */
bool verb_reaches(const struct verb_call *c, const struct store *stores, int count,
		  const char *name);

/* Finds the artifact that `name` means in the call's session, if it can be reached. Opens *count
   stores, which the caller closes. Returns 0, or -1 with errno as id_find(). */
int verb_find(const struct verb_call *c, const char *name, struct store stores[STORE_MAX],
	      int *count, struct id_found *found);

/* Reports that verb_find() failed with `error`. */
void verb_not_found(const struct verb_call *c, const char *name, int error);

/* Reports why a part of the artifact `id` in the session directory `dir` can't be read: opening it
   has failed with `error`, or (0) it is empty. An empty part is no failure unless the command wrote
   to a file directly. Returns whether there was something to report. */
bool verb_fail_part(const struct verb_call *c, enum artifact_part part, int dir, const char *id,
		    int error);

/* Finds an artifact and opens its session's directory, whose path it stores in `path`, unless that
   is NULL. Returns the descriptor and fills in *found except its store, or -1 after saying why not.
 */
int verb_find_directory(const struct verb_call *c, const char *name, struct id_found *found,
			char path[PATH_MAX]);

/* Opens a part of the artifact that `name` means, or, if the settings reach files, a regular file;
   text->id is "" for a file.
   Returns 0, or -1 after saying why not. */
int verb_open(const struct verb_call *c, enum artifact_part part, const char *name,
	      struct text *text);

/* Fills in how commands name a text to open it again: its ID, or the path of a file, as a word in
   `quoted`. Returns 0, or -1 with ENOMEM. */
int verb_place(const struct verb_call *c, const struct text *text, const char *path,
	       struct buffer *quoted, struct wording_place *place);

/* Appends the members that name a text: "artifact", "stream" and "running", or "path". */
void verb_json_place(struct buffer *out, const struct text *text, const char *path);

/* Whether the text begins with binary data; if so, fills in *kind. */
bool verb_is_binary(const struct text *text, const char **kind);

/* Appends the words by which terse follow tells of a question or of silence. */
void watched_add_state(struct buffer *out, const struct live_status *now, bool asks);

// Without a verb of their own.

/* terse-sh, with argv as it was started. Returns the exit status, or -1 if this process was not
   started as terse-sh, by the name of the executed file or by argv[0]. */
int command_shell(char **argv);

/* Replaces this process by a shell to type into, or runs one and ends as the shell did. `program`:
   the shell's path, or NULL. Returns the exit status only if the shell can't be executed. */
int typed_run(struct settings *s, const char *program, char **argv);

/* terse agent, with which terse probe starts its agent. */
int agent_run(struct verb_call *c);

// Starting a command, for terse run and for terse-sh.

/* `make | terse` and `terse <log`: whether there is something to filter. */
bool run_is_fed(void);

/* Whether terse is switched off, or the command is supervised already. Flags that ask for a report
   (--format) or for a background run (--yield, --detach) are obeyed everywhere, --tty only where no
   person sees the run around this one. */
bool run_is_bypassed(struct settings *s);

/* Reports why a command can't be executed. Returns a shell's exit status for that. */
int run_tell_exec_error(const struct job *job, int error);

/* Runs job->argv; job->program and job->shown are set as well. Applies the settings of the agent
   that called terse, and those of a profile: the shell string's (`string`), or that of `words` if
   `string` is NULL. Ends this process with the command's status; returns only if that could not be
   executed, with the exit status that says so. */
int run_supervised(struct job *job, struct settings *s, char *const *words, const char *string);

#endif
