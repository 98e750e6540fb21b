// What the verbs share: who reads what they print, how they fail, their options, and finding the
// artifact that is meant.
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

// Who reads what a verb prints, and how much of it: an agent gets a page, then a line that tells
// what is missing; a program (`terse read ID | sort`) everything, and nothing else; a file may be
// one an agent reads, or one that only looks complete.

/* Bytes of a page, notices included: Claude Code shows an agent 30,000 characters and cuts what is
   longer. */
#define READER_PAGE ((size_t)30000)

/* A person asked for what is printed, and can scroll. */
#define READER_PAGE_PERSON ((size_t)256 * 1024)

/* Who reads standard output; never SINK_PIPE. */
enum sink reader_find(void);

/* Prints lines about what is not shown: on standard output, in a warning colour at a terminal;
   for a program on standard error, for a file on both. Returns 0, or -1 with errno. */
int reader_notice(enum sink sink, const struct buffer *text);

// What the verbs print with --json: one line,
//
//   {"ok":true,"data":{...}}
//   {"ok":false,"error":{"code":"unknown_artifact","message":"..."}}
//
// The codes are an interface: programs decide by them, the messages are for people.

enum envelope_code {
	ENVELOPE_USAGE,            /* called wrongly */
	ENVELOPE_UNKNOWN_ARTIFACT, /* there is no such artifact or file, or more than one */
	ENVELOPE_UNKNOWN_SESSION,  /* there is no such session */
	ENVELOPE_BAD_PATTERN,      /* the pattern is not valid, or takes too long */
	ENVELOPE_BAD_RANGE,        /* there is no such line or byte */
	ENVELOPE_UNREADABLE,       /* it is there, and can't be read; or it was not kept */
	ENVELOPE_BINARY,           /* it is not text: the message tells what it is */
	ENVELOPE_CODES,
};

/* Appends what goes before and behind the members of a success's data. Returns 0, or -1 with
   ENOMEM. */
int envelope_begin(struct buffer *out);
int envelope_end(struct buffer *out);

/* Appends a failure. Returns 0, or -1 with ENOMEM. */
int envelope_fail(struct buffer *out, enum envelope_code code, const char *message, size_t len);

// What the verbs that read artifacts share: their options, their messages, and
// finding the artifact that is meant.

/* How a verb tells that it failed. */
struct verb {
	const char *name;
	bool json; /* on standard output, as command/verb.h has it */
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
	void *value; /* of the kind's type */
};

/* Parses argv[1] on by a table that ends with a NULL name; "--" ends the options. What
   is no option is stored in `operands`, at most `max` of them. Returns how many, or -1
   after saying what is wrong (the caller returns EXIT_TERSE): on stderr, or, if the table has
   --json and the arguments do, as JSON. */
int verb_parse(const struct verb_option *table, int argc, char **argv, const char **operands,
	       int max);

/* verb_parse() for a verb with one operand. Returns 0, or -1 after saying what is wrong; `missing`:
   that there is no operand. */
int verb_parse_one(const struct verb_option *table, int argc, char **argv, const char **operand,
		   const char *missing);

/* "terse VERB: ..." (NULL: "terse: ...") on stderr as one line; what may not stand in it is
 * escaped.
 */
void verb_error(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, or as JSON. */
void verb_fail(const struct verb *v, enum envelope_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes a text to standard output. Returns 0, or -1 with errno. */
int verb_write(const struct buffer *text);

/* The same with the last text of a verb, which it releases. Returns the exit status after saying
   what is wrong. That the reader has gone (EPIPE) is not. */
int verb_print(const struct verb *v, struct buffer *text);

/* Whether there is a session of this name; says so if not. NULL, the caller's own, always is. */
bool verb_has_session(const struct verb *v, const struct settings *settings, const char *session);

/* The directory's name of the session `session`, or of the caller's if NULL. */
void verb_session(const struct settings *settings, const char *session,
		  char directory[STORE_SESSION_LEN + 1]);

/* store_open_all() for a verb that tells what there is: sets *status to 1 after saying that it may
   not be all. */
int verb_open_stores(const char *verb, struct store stores[STORE_MAX], int *status);

/* Finds the artifact that `name` means in the session `session`, or the caller's if NULL.
   Opens the stores; *count of them are to be closed. Returns 0, or -1 with errno as id_find. */
int verb_find(const struct settings *settings, const char *session, const char *name,
	      struct store stores[STORE_MAX], int *count, struct id_found *found);

/* Says that verb_find() failed with `error`. `found`: what it found in place of a run that has no
   artifact. */
void verb_not_found(const char *verb, const char *name, int error, const struct id_found *found);

/* Says that a part of the artifact `id` in the session directory `dir` can't be opened, with errno.
 */
void verb_fail_part(const struct verb *v, enum artifact_part part, int dir, const char *id);

/* Finds an artifact and opens its session's directory, whose path it stores in `path`. Returns the
   descriptor and fills in *found but for its store, or -1 after saying why not. */
int verb_find_directory(const struct verb *v, const struct settings *settings, const char *session,
			const char *name, struct id_found *found, char path[PATH_MAX]);

/* Opens what `name` means, a part of an artifact or else any regular file.
   Returns 0, or -1 after saying why not. text->id is "" for a file. */
int verb_open(const struct verb *v, const struct settings *settings, const char *session,
	      enum artifact_part part, const char *name, struct text *text);

/* Reads the metadata of an artifact that was found. Returns 0, or -1 with errno; meta_release() it
   in any case. */
int verb_read_meta(const struct id_found *found, struct meta *m);

/* The same of an artifact that was found. -1 with errno, nothing said. */
int verb_open_found(const struct id_found *found, enum artifact_part part, struct text *text);

/* Appends what a text is to an object in JSON: its "artifact", "stream" and whether it is
   "running", or its "path". */
void verb_json_place(struct buffer *out, const struct text *text, const char *path);

/* Whether the text begins with binary data; then fills in *kind. */
bool verb_is_binary(const struct text *text, struct kind *kind);

#endif
