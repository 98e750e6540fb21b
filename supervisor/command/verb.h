// Shared by the verbs: the reader of their output, errors, options, and finding an artifact.
#ifndef TERSE_COMMAND_VERB_H
#define TERSE_COMMAND_VERB_H

#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"
#include "supervisor/process/sink.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct kind;
struct meta;
struct settings;
struct text;

// The reader of a verb's output: an agent gets a page, then a line that says what is missing; a
// program (`terse read ID | sort`) and a file (`terse read ID >copy`) everything, and nothing else.
// A file that holds standard error as well is one in which an agent collects output.

/* Bytes of a page, notices included: Claude Code shows an agent 30,000 characters and cuts what is
   longer. */
#define READER_PAGE ((size_t)30000)

/* Finds who reads standard output; never SINK_PIPE. */
enum sink reader_find(void);

/* Finds who reads a text that was asked for: SINK_PROGRAM for a file that gets nothing else,
   SINK_FILE for one in which an agent collects output; else as reader_find(). */
enum sink reader_of_text(void);

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
	ENVELOPE_BINARY,           /* it is not text; the message says what it is */
	ENVELOPE_CODES,
};

/* Begin and end a success; the members of its data come between. */
void envelope_begin(struct buffer *out);
void envelope_end(struct buffer *out);

/* Appends a failure. */
void envelope_fail(struct buffer *out, enum envelope_code code, const char *message, size_t len);

// Options, errors, and finding an artifact.

/* How a verb reports errors. */
struct verb {
	const char *name; /* "": a tool of terse mcp, whose errors begin with nothing */
	bool json;        /* on standard output, else as text on standard error */
	bool *failed;     /* unless NULL: verb_fail() sets it */
};

enum verb_kind {
	VERB_FLAG,     /* --name; bool */
	VERB_COUNT,    /* --name N or --name=N, N at least 1; uint64_t */
	VERB_NUMBER,   /* the same, N at least 0 */
	VERB_LINE,     /* the same, N not 0: -1 is the last one; int64_t */
	VERB_TEXT,     /* --name TEXT or --name=TEXT, once; const char *, NULL before */
	VERB_TIME,     /* the same, a duration above 0; int64_t in ms */
	VERB_STATUS,   /* the same, an exit code from 0 to 255; int */
	VERB_SETTINGS, /* "": any flag of the settings; struct verb_settings */
};

struct verb_settings {
	struct settings *settings;
	const char *flag; /* the last one that was given; NULL before */
};

struct verb_option {
	const char
		*name; /* "--limit"; or of one letter, "-C", which may stand as -C N, -CN, -iCN */
	enum verb_kind kind;
	void *value; /* its type depends on the kind */
};

/* Parses the arguments from argv[1] by a table that ends with a NULL name; "--" ends the options.
   Stores at most `max` operands. Returns their number, or -1 after saying what is wrong, as JSON if
   --json is given and in the table; the caller then returns EXIT_TERSE. */
int verb_parse(const struct verb_option *table, int argc, char **argv, const char **operands,
	       int max);

/* verb_parse() for a verb with one operand. Returns 0, or -1 after saying what is wrong. `missing`
   is the message if there is no operand. */
int verb_parse_one(const struct verb_option *table, int argc, char **argv, const char **operand,
		   const char *missing);

/* Prints "terse VERB: ..." (NULL: "terse: ...") on standard error, as one line without control
   characters. */
void verb_error(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, or JSON on standard output. */
void verb_fail(const struct verb *v, enum envelope_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a text to standard output. Returns 0, or -1 with errno. */
int verb_write(const struct buffer *text);

/* Prints the last text of a verb and releases it. Returns the exit status: 0, also if the reader
   has gone (EPIPE), or 1 after saying what is wrong. */
int verb_print(const struct verb *v, struct buffer *text);

/* Whether there is a session of this name; reports it if not. NULL is the caller's own and always
   exists. */
bool verb_has_session(const struct verb *v, const struct settings *settings, const char *session);

/* Stores the name of a session's directory; `session` NULL: the caller's. */
void verb_session(const struct settings *settings, const char *session,
		  char directory[STORE_SESSION_LEN + 1]);

/* store_open_all() for a verb that lists artifacts: sets *status to 1 after saying that some may be
   missing. */
int verb_open_stores(const char *verb, struct store stores[STORE_MAX], int *status);

/* Whether the settings let this name stand for an artifact, or for a run that has none yet: beyond
   REACH_FILES it has to be a whole ID or "last", with REACH_SESSION an ID of the session's own
   (NULL: the caller's). */
bool verb_reaches(const struct settings *settings, const char *session, const struct store *stores,
		  int count, const char *name);

/* Finds the artifact that `name` means in a session (NULL: the caller's), if it can be reached.
   Opens *count stores, which the caller closes. Returns 0, or -1 with errno as id_find(). */
int verb_find(const struct settings *settings, const char *session, const char *name,
	      struct store stores[STORE_MAX], int *count, struct id_found *found);

/* Reports that verb_find() failed with `error`. `found`: the artifact before, if the last run has
   none. */
void verb_not_found(const char *verb, const struct settings *settings, const char *name, int error,
		    const struct id_found *found);

/* Tells how the run ended that verb_find() knows and that has no artifact, for the verbs that this
   answers. Returns false, and says nothing, if `error` is another one. */
bool verb_tell_last(const struct verb *v, const char *name, int error,
		    const struct id_found *found);

/* Reports that a part of the artifact `id` in the session directory `dir` can't be opened, with
   errno. */
void verb_fail_part(const struct verb *v, enum artifact_part part, int dir, const char *id);

/* Finds an artifact and opens its session's directory, whose path it stores in `path`. Returns the
   descriptor and fills in *found except its store, or -1 after saying why not. `told`, unless NULL:
   set to whether verb_tell_last() has said it. */
int verb_find_directory(const struct verb *v, const struct settings *settings, const char *session,
			const char *name, struct id_found *found, char path[PATH_MAX], bool *told);

/* Opens a part of the artifact that `name` means, or, if the settings reach files, a regular file;
   text->id is "" for a file.
   Returns 0, or -1 after saying why not. */
int verb_open(const struct verb *v, const struct settings *settings, const char *session,
	      enum artifact_part part, const char *name, struct text *text);

/* Reads the metadata of an artifact that was found. Returns 0, or -1 with errno; meta_release() it
   in any case. */
int verb_read_meta(const struct id_found *found, struct meta *m);

/* Opens a part of an artifact that was found. Returns 0, or -1 with errno. */
int verb_open_found(const struct id_found *found, enum artifact_part part, struct text *text);

/* Appends the members that name a text: "artifact", "stream" and "running", or "path". */
void verb_json_place(struct buffer *out, const struct text *text, const char *path);

/* Whether the text begins with binary data; if so, fills in *kind. */
bool verb_is_binary(const struct text *text, struct kind *kind);

#endif
