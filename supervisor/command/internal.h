// What the verbs share, for the files of this room alone.
#ifndef TERSE_COMMAND_INTERNAL_H
#define TERSE_COMMAND_INTERNAL_H

#include "config/section.h"
#include "lib/buffer.h"
#include "lib/gap.h"
#include "lib/tokens.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"
#include "supervisor/command/verb.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/process/protocol.h"
#include "supervisor/report/wording.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct matcher;
struct settings;
struct text;

/* --- colours and the pager -------------------------------------------------------------------- */

// What only a person at a terminal gets: colours and a pager.

// Colours: at a terminal, unless NO_COLOR is set; elsewhere only with --color always, or with
// CLICOLOR_FORCE where no agent reads. They are few and from the terminal's own palette, so that
// they fit its background.

enum paint {
	PAINT_GOOD,
	PAINT_BAD,
	PAINT_LIVE,
	PAINT_SOFT,
	PAINT_NOTICE,
	PAINT_MATCH,
	PAINT_PLACE,
	PAINT_TITLE
};

/* The sequences that begin and end a colour; "" if not `on`. */
const char *paint_code(bool on, enum paint paint);
const char *paint_none(bool on);

// A pager, as git starts one: $TERSE_PAGER, else $PAGER, else less. There is none if that is empty
// or "cat", or if standard output is no terminal. less gets LESS=FRX unless it is set, so what fits
// on the screen is just printed.

/* Makes standard output a pipe to the pager. Returns the pager's process, or 0 if there is none and
   standard output is as it was. */
pid_t pager_start(void);

/* Waits until the person has left the pager (0: there is none). Keeps errno. */
void pager_end(pid_t pager);

/* --- a file that a verb writes ---------------------------------------------------------------- */

// The file that a verb writes because somebody named it (--output): the same for all of them. A
// regular file gets its new contents in one step, when they are complete. Links are followed. A
// file that is not regular (a device, a fifo) is opened and written, never replaced.

struct output {
	int fd; /* to write to */
	const char *name;
	bool made;                /* and it was not there before */
	char target[PATH_MAX];    /* the file to be replaced, without links */
	char temporary[PATH_MAX]; /* beside it; "": `fd` is the file itself */
	uint64_t size;            /* bytes of a regular file, once it is closed; else 0 */
};

/* `name` must outlive the struct; "-" is standard output. New files have mode 0600. Returns 0, or
   -1 with errno (EEXIST: there is a regular file, and `replace` is false). */
int output_open(struct output *o, const char *name, bool replace);

/* `result`: -1 if writing has failed; a file then stays as it was, or is not made. Returns 0, or -1
   with errno: the writer's, if writing has failed. */
int output_close(struct output *o, int result);

/* --- live runs -------------------------------------------------------------------------------- */

// A live run as the verbs reach it: finding it by its name, and waiting for it.

/* What `terse send` has typed before it awaits. */
struct typed {
	uint64_t from;      /* the bytes of the text before */
	struct buffer text; /* as it was typed */
};

/* Connects *run to the run that `name` means by the rules of verb_find(), or by its whole ID if it
   has no artifact yet. Returns 0, or -1 after saying why not. With `may_end` also returns 1 if the
   run has ended; *run is then -1, and `id` is filled in. */
int live_run_find(const struct verb_call *c, const char *name, int *run, char id[ID_LEN + 1],
		  bool may_end);

/* Whether the run belongs to the call's session. */
bool live_run_is_own(const struct verb_call *c, const char *id);

/* What is waited for. */
struct await {
	const char *name;          /* the run */
	const char *pattern;       /* or NULL */
	const struct typed *typed; /* only text behind its echo counts; or NULL */
	bool answers;              /* what was typed by the same command */
	uint64_t port;             /* that it has to listen on first; 0: none */
	uint64_t from;             /* the line to look for the pattern from; 1: all */
	int64_t timeout, idle;     /* ms; 0: none */
	bool at_once;              /* nothing: what is new is printed now */
	bool whole;                /* all of the text is printed, not what is new */
};

/* Waits, and prints what is new. Returns the exit status. */
int await_answer(const struct verb_call *c, const struct await *a);

/* Sends the run a signal; 0: ends it with all that it has started, and waits until that has ended.
   `own`: the caller belongs to the run's session. Returns 0, or -1 with errno. */
int live_run_signal(int run, int sig, bool own);

/* Reports that a request failed with `error`. */
void live_run_failed(const struct verb_call *c, const char *id, int error);

/* Reads how a run has ended, and its metadata, which meta_release() frees in any case. Returns 0,
   or -1 after saying why not. */
int live_run_ended(const struct verb_call *c, const char *id, struct meta *m,
		   struct wording_ending *e);

/* Compiles the pattern of a line that is waited for (--for). NULL after saying what is wrong with
   it. */
struct matcher *live_run_pattern(const struct verb_call *c, const char *pattern);

// Looks through the text of a run for lines that match. The text is read from disk, at the reader's
// own pace.

/* A pattern. */
struct sought {
	const char *pattern;
	struct matcher *matcher;
	size_t next; /* where the next line begins, unless that was looked at */
};

/* A longer line is matched in pieces. */
#define LOOKOUT_BLOCK ((size_t)256 * 1024)

struct lookout {
	const struct verb_call *call;
	const char *id;
	struct sought *sought;
	size_t count;
	uint64_t at, line; /* the byte that is looked at next, and the number of its line */
	bool told;         /* that line has matched in a piece before */
	char *block;       /* LOOKOUT_BLOCK bytes; lookouts that take turns can share it */
	/* Gets a line without its newline, or a part of a line that is cut or not complete. Returns
	   0; any other value ends the look. */
	int (*match)(void *ctx, const struct sought *by, const char *line, size_t len, bool cut);
	void (*gap)(void *ctx, const struct gap *gap); /* or NULL */
	void *ctx;
};

/* Looks at the lines that end before the byte `to` of the text; UINT64_MAX: at all lines, also a
   last one without an end. Returns 0, what `match` returned, or -1 after saying what is wrong. */
int lookout_turn(struct lookout *l, uint64_t to);

/* The same for whole lines, or a piece of one, that the caller has read. */
int lookout_lines(struct lookout *l, const char *text, size_t len);

// A run that is watched: each turn of a loop, watched_wait() says what it waits for, and
// watched_take() takes what has come.

struct watched {
	const struct verb_call *call;
	char id[ID_LEN + 1];
	int run;                /* a connection to it (live_run_find) */
	int64_t idle;           /* ms of silence that are waited for; 0: none */
	struct live_status now; /* once it is `known` */
	bool known;
	int64_t begun, said; /* monotonic: watched_begin(), and the time of `now` */
	int64_t answer_by;   /* and until when the first status has to come; 0: any time */
	int asker;           /* the call's, as long as it is there */
	bool due;            /* a newer status was asked for */
	bool ready;          /* there is something to take */
};

enum watched_news {
	WATCHED_SAME,    /* nothing has come */
	WATCHED_CHANGED, /* `now` is new */
	WATCHED_OVER,    /* the supervisor has gone */
	WATCHED_FAILED   /* it does not answer; that was said */
};

/* `grows`: statuses also report that the text grows (FRAME_WATCH), and the caller waits until the
   supervisor has gone. Without it, a supervisor that is stopped counts as failed. */
void watched_begin(struct watched *w, bool grows);
void watched_wait(struct watched *w, struct loop *l);
enum watched_news watched_take(struct watched *w);

/* Whether the run had been silent for that time when it sent `now`. */
bool watched_is_quiet(const struct watched *w);

/* --- services --------------------------------------------------------------------------------- */

// One run where several would be one too many: a server that has a name in its directory, and a
// command that others join while it runs. A caller looks for one and starts it under a lock, so
// that of two callers at the same moment one finds the other's run.

struct service {
	const char *name;   /* NULL: the run of the same command */
	char *const *argv;  /* the command, as the user typed it */
	struct await ready; /* when it is: the pattern, the port */
	bool restart;       /* one that lives is ended first */
};

/* Finds the run that lives in this directory, or starts it if it has a name; waits until it is
   ready, and prints what is new. Returns the exit status, or -1: either no run lives and it has no
   name; or this process is the child that has to run it, now detached, with *caller as a client of
   the run. */
int service_run(const struct verb_call *c, const struct service *s, int *caller);

/* Finds the run that lives in this directory. */
bool service_find(const struct service *wanted, struct store *stores, int count,
		  char id[ID_LEN + 1]);

/* --- rows of runs ----------------------------------------------------------------------------- */

// Runs as `terse list` shows them, as rows of a table or as JSON:
//
//   {"id":"cmd-...","session":"default","command":["npm","test"],"cwd":"/work","state":"done",
//    "exit_code":1,"signal":null,"success":false,"timed_out":false,"binary":false,
//    "started":"2026-11-20T09:03:34.123Z","ended":"...","duration_ms":12345,
//    "lines":8432,"bytes":484352}
//
// and "gaps" if a part of its text was not kept, "stdout_file" and "stderr_file" if the command
// wrote to files itself. "id", "lines" and "bytes" are null if no artifact was made; "lines" and
// "bytes" also if all output is in such files; "ended" and "duration_ms" while the run lives.
// "command_cut" is there if the command was cut.

/* These append to a row: the command as one line of words; `text` on one line, clean, cut to
   `width` columns; a line for each gap and for each file that the command wrote to directly. */
void row_add_command(struct buffer *out, const struct meta *m);
void row_add_cell(struct buffer *out, const char *text, size_t len, size_t width);
void row_add_gaps(struct buffer *out, int indent, struct gaps gaps);
void row_add_files(struct buffer *out, int indent, const struct meta *m);

/* The colour for how a run ended, or that it lives; NULL: nothing is known of it. */
enum paint runs_paint(const struct meta *m);

/* A run and its artifact each have a line in the journal, in any order. Returns 0 for the first
   line of an ID, 1 for the second, or -1 with ENOMEM. *tree keeps the IDs of which one line was
   met, by tsearch(3): tdestroy(*tree, free). */
int runs_meet(void **tree, const char *id);

/* Whether the metadata have the sizes of what the command wrote. */
bool runs_is_counted(const struct meta *m);

/* Counts the lines of a text whose metadata lack them, since its run has not ended. */
void runs_count_lines(int dir, const char *id, enum artifact_part part, struct meta_stream *s);

/* Appends the members above, with at most `budget` bytes of the command. */
void runs_append_json(struct buffer *out, const struct meta *m, size_t budget);

// Which runs are meant: options of `terse list` and `terse search`.

struct runs_filter {
	const char *command, *label, *host; /* NULL: any */
	int state;                          /* enum meta_state; -1: any */
	int exit_code;                      /* as a shell reports it; -1: any */
	bool failed;
	struct verb_when since, until;
};

#define RUNS_FILTER_NONE                                                                   \
	{                                                                                  \
		.state = -1, .exit_code = -1, .since.ms = INT64_MIN, .until.ms = INT64_MAX \
	}

#define RUNS_FILTER_ROWS(at)                                                                      \
	{"--command", 0, VERB_TEXT, at(command), "TEXT", "with TEXT in the command"},             \
		{"--failed", 0,    VERB_FLAG,                                                     \
		 at(failed), NULL, "that ended with a status other than 0, or were interrupted"}, \
		{"--exit", 0, VERB_STATUS, at(exit_code), "N", "with this exit status"},          \
		{"--label",    0,                                                                 \
		 VERB_TEXT,    at(label),                                                         \
		 "NAME=VALUE", "with this label ([remote] labels)"},                              \
		{"--since", 0,      VERB_WHEN,                                                    \
		 at(since), "WHEN", "that did not end before: 2h (ago), 14:05, 2026-11-20"},      \
		{"--until", 0, VERB_WHEN, at(until), "WHEN", "that started until then"},          \
	{                                                                                         \
		"--host", 0, VERB_TEXT, at(host), "HOST",                                         \
			"--remote: by machines whose name begins so"                              \
	}

/* Whether the filter leaves any run out, even if only by its `times`. */
bool runs_filter_is_set(const struct runs_filter *f, bool times);

/* Whether the filter wants the run: 1 or 0; -1: no memory to find out. */
int runs_filter_match(const struct runs_filter *f, const struct meta *m);

/* Appends it as options. */
void runs_filter_add(struct buffer *out, const struct runs_filter *f);

/* Appends the labels of a run as " NAME=VALUE" or as members. */
void runs_add_labels(struct buffer *out, const struct meta *m, bool json);

/* The newest runs of the remote that a filter wants, each once. */
struct runs_remote {
	/* Set by the owner; the rest is zeroed. */
	const struct verb_call *call;
	struct runs_filter *filter; /* without a time: since 1 h ago */
	uint64_t most;
	void (*describe)(void *ctx, struct buffer *out, const struct meta *m);
	void *ctx;

	struct runs_found {
		uint64_t id; /* packed */
		char *text;  /* as it was described */
		size_t len;
	} * runs;
	size_t count, room;
	bool more; /* some were left out */
	uint64_t damaged;
};

/* Finds the runs. Returns 0, or the exit status after saying why not; runs_remote_release() in any
   case. */
int runs_remote_find(struct runs_remote *r);
void runs_remote_release(struct runs_remote *r);

/* --- statistics ------------------------------------------------------------------------------- */

// Sums over what runs have shown and what was read back (artifact/journal.h), for terse stats and
// terse report.
//
// The sums of a session are kept beside its journal, up to one of its lines: the next time only the
// lines behind that line are read. The sums hold while the line is where it was: lines are only
// appended or taken out, and no two are the same. A damaged file of sums is ignored.

/* Bytes, and the estimate of their tokens. */
struct stats_size {
	uint64_t bytes, tokens;
};

struct stats_sum {
	uint64_t runs, failed; /* commands of terse itself do not count */
	int64_t duration_ms;
	uint64_t text;           /* bytes that commands wrote for a reader, as text */
	struct stats_size shown; /* printed of that; what no agent read is in neither */
	struct stats_size own;   /* what the agents would have shown by themselves */
	struct stats_size read;  /* read back later */
	uint64_t reads;          /* how often */
};

/* own - (shown + read), which may be negative. *tokens (unless NULL): the same difference in
   tokens. */
int64_t stats_saved(const struct stats_sum *s, int64_t *tokens);

struct stats {
	/* Set by the owner; the rest is zeroed. */
	int64_t from_ms;  /* runs and reads since then */
	const char *only; /* one artifact's ID; NULL: every run */

	struct stats_sum all;
	int64_t first_ms; /* when the first of these runs started; 0: there is none */
	uint64_t damaged; /* lines */
	/* For whom the sums are. A session belongs to the agent of its last run that has an
	   agent. */
	struct stats_agent {
		char name[SECTION_NAME_MAX + 1]; /* "": none is known */
		struct stats_sum sum;
	} * agents;
	size_t agent_count, agent_room;
	char agent[SECTION_NAME_MAX + 1]; /* of the session that is being read */
};

/* Adds a session of a store. Returns 0, or -1 with errno. */
int stats_add_session(struct stats *s, struct store *store, const char *session);

void stats_release(struct stats *s);

/* Appends the members of an object: "runs", "failed", ... (docs/json.md). */
void stats_append_json(struct buffer *out, const struct stats_sum *s);

/* --- follow-ups ------------------------------------------------------------------------------- */

// A verb that prints something of an artifact notes that for terse stats (artifact/journal.h),
// unless a person reads it: a preview that is followed up has cost more than it shows.

/* Zeroed but for `is_counted`. */
struct followup {
	/* An agent may read it: the reader is no program, or the output is JSON. Output to a
	   program or a file counts as a follow-up of no bytes: nobody knows how much of it an agent
	   sees. */
	bool is_counted;
	uint64_t bytes;
	struct tokens tokens;
};

/* These bytes were printed. */
void followup_add(struct followup *f, const char *data, size_t len);

/* Call it when all is printed that is wanted of the artifact `id` in the session directory `dir`.
   Does nothing if `id` is "" (a file that is no artifact). */
void followup_keep(const struct followup *f, int dir, const char *id);

/* --- previews of what is there ---------------------------------------------------------------- */

// Prints an existing text as `terse run` would: a recorded stream (filter), an artifact or a file
// (read --preview, show).

struct excerpts {
	struct interceptor *text; /* the caller asks for its report */
	struct buffer *into;      /* NULL: standard output */
	int error;                /* errno of printing */
	/* Returns the artifact that keeps the omitted text; NULL: there is none. */
	struct artifact *(*artifact)(struct excerpts *d);
};

/* Applies the requested profile. Returns 0, or -1 after saying that the profile named by a flag
   does not exist. */
int excerpts_apply_profile(const char *verb, struct settings *s);

/* Begins a text. `d` is zeroed except `into` and `artifact`, and must not move afterwards. `o` is
   zeroed except for what differs from a run: the reader, what the terminal does at a line feed, and
   the size of the text before. Returns 0, or -1 with errno; interceptor_free(text) in any case. */
int excerpts_init(struct excerpts *d, const struct settings *s, struct interceptor_options *o);

/* Begins a text and takes all of `t`; with `lines` only what follows the first *lines, which were
   shown before, and adds the new lines to *lines. Finishes the text, and prints its report unless
   `end` is NULL. `d` as above. Returns 0, or -1 with errno. */
int excerpts_take(struct excerpts *d, const struct settings *s, struct text *t, uint64_t *lines,
		  enum interceptor_reader reader, const struct interceptor_ending *end);

/* Prints, unless printing has failed before. As an event of a text it gets a struct excerpts. */
void excerpts_print(void *excerpts, const char *data, size_t len);

/* Describes how a run ended, or that it still runs. */
struct wording_ending excerpts_ending(const struct meta *m);

/* Makes the ending for the report on a part. `m`: the run, or NULL; `place`: the artifact's ID or
   the file's name, quoted for a shell. */
struct interceptor_ending excerpts_end(const struct settings *settings, const struct meta *m,
				       const char *place, enum artifact_part part);

/* Takes a text in this way for an agent, and prints its preview. Returns 0, or -1 with errno. */
int excerpts_text(const struct settings *settings, struct text *t, uint64_t *lines,
		  const struct interceptor_ending *end, struct buffer *into);

/* --- run --cached ----------------------------------------------------------------------------- */

// A command that ended well a short time ago is not run again: its kept texts are printed, within
// the limits of now.

/* A hash of this process's environment, for struct job; never 0. */
uint64_t cached_environment(void);

/* Answers a command from its last run in the same directory and environment, if that ended well
   within job->cached_ms, and if an agent or a person reads or a report is asked for. Returns the
   exit status, or -1: the command has to be run. */
int cached_answer(struct job *job);

/* --- hooks ------------------------------------------------------------------------------------ */

enum { HOOK_SESSION_MAX = 128 };

/* The session that ends, if any: its name, or a variable by which the agent's commands know it. */
struct hook_outcome {
	char session[HOOK_SESSION_MAX + 1]; /* or "" */
	const char *mark;                   /* or NULL */
};

struct hook_terse {
	const char *program; /* its path */
	int64_t in_front;    /* [shim] in_front */
};

/* Appends the answer to an agent's hook (verb_hook.c). Returns 0, or -1 with errno: EINVAL: no such
   agent or event; ENOMEM. */
int hook_answer(const char *agent, const char *event, const char *input, size_t len,
		const struct hook_terse *terse, struct buffer *answer,
		struct hook_outcome *outcome);

#endif
