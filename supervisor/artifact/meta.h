// The metadata of a run: ID.json beside its text, one compact JSON object that is replaced by
// rename, so that a reader never sees half of it. The journal has the same object as a line.
#ifndef TERSE_ARTIFACT_META_H
#define TERSE_ARTIFACT_META_H

#include "lib/gap.h"
#include "supervisor/artifact/id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;

#define META_MAX         (1024 * 1024) /* the most bytes of ID.json */
#define META_LINE        4096          /* the most bytes of a line in the journal */
#define META_NAME        24            /* how much of an agent's or a profile's name is kept */
#define META_DESCRIPTION 256           /* of a description */

/* Bytes of arguments that are kept. Escaping makes them six times as long at most, which is under
   META_MAX. */
#define META_COMMAND ((size_t)128 * 1024)

enum meta_state { META_RUNNING, META_DONE, META_INTERRUPTED };

struct meta;

/* Whether a run that has ended has failed: by its status, a signal, its timeout, or by never
   reporting an end. */
bool meta_has_failed(const struct meta *m);

/* "running", "done", "interrupted" */
const char *meta_state_name(enum meta_state state);

struct meta_stream {
	uint64_t bytes, lines; /* of the whole text, gaps included */
	/* The part that the disk cap left out: gap_bytes bytes from file offset gap_offset on, of
	   lines gap_from..gap_to (1-based, 0: no gap). The other bytes stand at their offsets in
	   the file. The gap may begin and end inside a line (text.h). */
	uint64_t gap_from, gap_to, gap_offset, gap_bytes;
	/* errno of the write that ended the storing, or 0. After an error lost_bytes bytes are
	   lost, of lines from lost_from on; a part of line lost_from may be there. */
	int error;
	uint64_t lost_from, lost_bytes;
	bool present;
};

/* The destination of standard error. */
enum meta_stderr {
	META_STDERR_MERGED,    /* in the text */
	META_STDERR_APART,     /* a text of its own; if one of the two texts is kept, both are */
	META_STDERR_ELSEWHERE, /* not through terse */
};

#define META_HOLDERS     4
#define META_HOLDER_NAME 64

/* A process that keeps the output open after the command has ended. */
struct meta_holder {
	pid_t pid;
	char name[META_HOLDER_NAME]; /* the name that the process has set: may hold any bytes */
};

/* How much of a run was shown to a reader who may be an agent: bytes, and their tokens as
   lib/tokens.h estimates them; `text`: bytes of the whole text; `own`: how many bytes of it the
   agent would have shown without terse (config/agents.h). */
struct meta_shown {
	uint64_t bytes, tokens, text, own;
};

/* The command's waits for somebody to type, as far as terse has noticed them: their number, when
   the first one began and the last one ended (0: it has not), and their total time. All in real
   time. */
struct meta_waits {
	uint64_t count;
	int64_t from_ms, to_ms, ms;
	const char *question; /* the last question, clean; may be "" or NULL; not owned */
};

struct meta {
	char id[ID_LEN + 1];          /* "" in the history: no artifact was written */
	char **argv;                  /* the command's arguments, NULL-terminated; not owned */
	const char *cwd;              /* not owned */
	const char *session;          /* not owned */
	const char *service;          /* its name as a service (--service), or NULL; not owned */
	const char *description;      /* --description, or NULL; not owned */
	uint64_t environment;         /* a hash of the environment (--cached), or 0 */
	int64_t started_ms, ended_ms; /* real time; ended 0 while it runs */
	int64_t duration_ms;
	enum meta_state state;
	int exit_code; /* -1: ended by `signal`, or still running */
	int signal;
	bool timed_out;
	bool wanted; /* `terse signal` of the run's own session ended it */
	bool binary;
	bool cut; /* `argv` is only the first part of the command */
	enum meta_stderr standard_error;
	unsigned cols, rows;
	pid_t supervisor, command; /* process IDs while it runs */
	struct meta_waits waits;
	uint64_t reported; /* how many lines were printed before the run ended ("told" in the
			      JSON) */
	struct meta_stream out, err;
	uint64_t raw_bytes; /* 0: raw bytes not kept */
	uint64_t raw_lost;  /* raw bytes that were lost; raw_error: as `error` of meta_stream */
	int raw_error;
	/* The files or devices that were the command's standard output and error directly, or NULL;
	   not owned. */
	const char *files[2];
	struct meta_holder held_by[META_HOLDERS]; /* while the supervisor records their output */
	int holders;                              /* how many of held_by are set */
	/* Only in the journal. The names are not owned and may be NULL. */
	struct meta_shown shown;
	const char *agent, *profile;
	/* For a run that may be pushed (remote/outbox.h): its machine (NULL: not known) and its
	   labels, a JSON object of strings; in the index also the size of its archive. */
	const char *host, *labels;
	uint64_t object_bytes;
	void *owned; /* memory of a struct that was read; meta_release() frees it */
};

/* The gaps of a stream, and of the raw bytes. */
struct gaps meta_gaps(const struct meta_stream *s);
struct gaps meta_raw_gaps(const struct meta *m);

/* Writes ID.json in the session directory `dir` (under the temporary name ".ID.json", then renamed;
   if that fails, in place, so that the end of a run that filled the disk is still recorded).
   Commands over 128 KB are cut. Returns 0, or -1 with errno. */
int meta_write(int dir, const struct meta *m);

/* Reads ID.json. For a run that is not done, `bytes` come from the files and `lines` are 0
   (text_lines() counts them). If ID.json says that the run is running, but no supervisor locks
   ID.txt, the state is META_INTERRUPTED, and the end is when the text was last written. Returns 0,
   or -1 with errno (EBADMSG: damaged). Strings live until meta_release(). */
int meta_read(int dir, const char *id, struct meta *m);

/* The same for an artifact that was found. Call meta_release(m) even after a failure. */
int meta_read_found(const struct id_found *found, struct meta *m);
void meta_release(struct meta *m);

/* Whether a supervisor holds the lock on this text, so that it may still grow. */
bool meta_is_held(int text_fd);

// Writes struct meta as JSON, and reads it. The form is the same in ID.json, in the session's
// journal (journal.h), and in the remote's index (remote/remote.h).
//
//   {"eventName":"terse.run","id":"cmd-...","session.id":"...",
//    "process.command_args":["make","-j8"],
//    "process.working_directory":"/src","state":"done","startTimeUnixNano":...,
//    "endTimeUnixNano":...,"duration_ns":...,"process.exit.code":2,"cols":160,"rows":50,
//    "stdout":{"bytes":...,"lines":...}}
//
// Names are those of OpenTelemetry's semantic conventions and of OTLP where there are any, and
// docs/journal.schema.json has all of them: other programs read the lines. Times are in ns, with a
// precision of 1 ms. A value of 0, false or empty is left out; a run without an exit code has null.
// "shown" has "bytes", "tokens", "text" and "own" (struct meta_shown); "stdout_file" and
// "stderr_file" name files to which the command wrote directly. A stream has
// "gap":{"from","to","offset","bytes"}, "error" and "lost" where there are any; "command_cut": a
// part of the command is missing. JSON is UTF-8: invalid bytes in arguments and paths become
// U+FFFD.

/* Appends the object. Keeps at most `budget` bytes of the arguments, and a quarter as many of the
   directory and of each file's name. Returns 0, or -1 with errno ENOMEM. */
int meta_encode(struct buffer *out, const struct meta *m, size_t budget);

/* Reads an object as meta_encode() writes it. Returns 0, or -1 with errno EBADMSG or ENOMEM, and
   nothing to release. */
int meta_parse(const char *data, size_t len, struct meta *m);

#endif
