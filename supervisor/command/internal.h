// Shared by the verbs. Only files of this room include it.
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

// Colours and a pager, for a person at a terminal.

// Output is coloured at a terminal, unless NO_COLOR is set. Elsewhere it is coloured with --color
// always, and with CLICOLOR_FORCE if no agent reads. Colours come from the terminal's own palette,
// so that they fit its background.

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

// The pager is $TERSE_PAGER, else $PAGER, else less, as with git. There is no pager if that name is
// empty or "cat", or if standard output is not a terminal. LESS=FRX is set unless LESS is set, so
// that less ends at once if everything fits on the screen.

/* Makes standard output a pipe to the pager. Returns the pager's process, or 0 if there is no
   pager; then standard output is unchanged. */
pid_t pager_start(void);

/* Waits until the pager has ended. Keeps errno. */
void pager_end(pid_t pager);

/* --- a file that a verb writes ---------------------------------------------------------------- */

// The file that a verb writes (--output). A regular file is replaced in one step, when the new
// contents are complete. Symbolic links are followed. A file that is not regular (a device, a fifo)
// is opened and written, never replaced.

struct output {
	int fd; /* where to write */
	const char *name;
	bool made;                /* the file did not exist before */
	char target[PATH_MAX];    /* the path of the file to be replaced, links resolved */
	char temporary[PATH_MAX]; /* path of the new file beside it; "": `fd` is the file itself */
	uint64_t size;            /* bytes of a regular file, set by output_close(); else 0 */
};

/* Opens the file. `name` has to outlive the struct; "-" is standard output. New files have mode
   0600. Returns 0, or -1 with errno: EEXIST if there is a regular file and `replace` is false. */
int output_open(struct output *o, const char *name, bool replace);

/* Closes the file and puts it in place. `result`: -1 if writing has failed, with errno; then the
   old file stays, or no file is made. Returns 0, or -1 with errno. */
int output_close(struct output *o, int result);

/* --- live runs -------------------------------------------------------------------------------- */

// Live runs: finding one by its name, and waiting for it.

/* Input that `terse send` has typed before it waits. */
struct typed {
	uint64_t from;      /* size of the text at that time */
	struct buffer text; /* what was typed */
};

/* Connects *run to the run that `name` means: by the rules of verb_find(), or by its whole ID, if
   it has no artifact yet. Returns 0, or -1 after printing an error. With `may_end` returns 1 if the
   run has ended; then *run is -1, and `id` is filled in. */
int live_run_find(const struct verb_call *c, const char *name, int *run, char id[ID_LEN + 1],
		  bool may_end);

/* Whether the run belongs to the call's session. */
bool live_run_is_own(const struct verb_call *c, const char *id);

/* An await: the run, and what is waited for. */
struct await {
	const char *name;          /* the run */
	const char *pattern;       /* or NULL */
	const struct typed *typed; /* input whose echo is not searched; or NULL */
	bool answers;              /* the same command has typed an answer */
	uint64_t port;             /* the run has to listen on this port first; 0: none */
	uint64_t from;             /* the pattern is searched from this line on; 1: in all lines */
	int64_t timeout, idle;     /* in ms; 0: none */
	bool at_once;              /* does not wait: prints what is new */
	bool whole;                /* prints the whole text, not only what is new */
};

/* Waits, and prints the new text. Returns the exit status. */
int await_answer(const struct verb_call *c, const struct await *a);

/* Sends a signal to the run. `sig` 0: ends the run and all that it has started, and waits for that.
   `own`: the caller belongs to the run's session. Returns 0, or -1 with errno. */
int live_run_signal(int run, int sig, bool own);

/* Prints an error: a request to a run has failed with `error`. */
void live_run_failed(const struct verb_call *c, const char *id, int error);

/* Reads how a run has ended, and its metadata. Call meta_release() in every case. Returns 0, or -1
   after printing an error. */
int live_run_ended(const struct verb_call *c, const char *id, struct meta *m,
		   struct wording_ending *e);

/* Compiles the pattern of --for. Returns NULL after printing an error. */
struct matcher *live_run_pattern(const struct verb_call *c, const char *pattern);

// A lookout searches the text of a run for lines that match. It reads the text from disk, so the
// run does not wait for it.

/* A pattern. */
struct sought {
	const char *pattern;
	struct matcher *matcher;
	size_t next; /* offset of its next match in the lines that are searched */
};

/* Bytes; a longer line is matched in pieces. */
#define LOOKOUT_BLOCK ((size_t)256 * 1024)

struct lookout {
	const struct verb_call *call;
	const char *id;
	struct sought *sought;
	size_t count;
	uint64_t at, line; /* the next byte to look at, and the number of its line */
	bool told;         /* a piece of that line has matched already */
	char *block;       /* LOOKOUT_BLOCK bytes; lookouts that take turns can share it */
	/* Called with each line that matches, without its newline; `cut`: with a part of one. A
	   result other than 0 ends the search. */
	int (*match)(void *ctx, const struct sought *by, const char *line, size_t len, bool cut);
	void (*gap)(void *ctx, const struct gap *gap); /* or NULL */
	void *ctx;
};

/* Searches the lines that end before the offset `to`; with UINT64_MAX all lines, even an unfinished
   one. Returns 0; what `match` returned; or -1 after printing an error. */
int lookout_turn(struct lookout *l, uint64_t to);

/* Searches whole lines, or a piece of one, that the caller has read. Returns as lookout_turn(). */
int lookout_lines(struct lookout *l, const char *text, size_t len);

// A live run whose state is followed. In each turn of a loop, watched_wait() adds what it waits
// for, and watched_take() takes what has come.

struct watched {
	const struct verb_call *call;
	char id[ID_LEN + 1];
	int run;                /* the connection from live_run_find() */
	int64_t idle;           /* ms of silence that the caller waits for; 0: none */
	struct live_status now; /* the last status, if `known` */
	bool known;
	int64_t begun, said; /* monotonic times of watched_begin() and of `now` */
	int64_t answer_by;   /* monotonic: by when the first status has to come; 0: no limit */
	int asker;           /* call->asker; 0 once it is closed */
	bool due;            /* a newer status was requested */
	bool ready;          /* the connection is readable */
};

enum watched_news {
	WATCHED_SAME,    /* nothing has come */
	WATCHED_CHANGED, /* `now` is new */
	WATCHED_OVER,    /* the supervisor is gone */
	WATCHED_FAILED   /* it does not answer; an error was printed */
};

/* `grows`: a status also comes when the text grows (FRAME_WATCH), and the caller waits until the
   supervisor is gone, even if it is stopped. Without `grows` a stopped supervisor is
   WATCHED_FAILED. */
void watched_begin(struct watched *w, bool grows);
void watched_wait(struct watched *w, struct loop *l);
enum watched_news watched_take(struct watched *w);

/* Whether the run had been silent for `idle` when it sent `now`. */
bool watched_is_quiet(const struct watched *w);

/* --- services --------------------------------------------------------------------------------- */

// A directory has at most one such run at a time: a server with a name (--service), or a command
// that later callers join while it runs (--join). A caller holds a lock while it looks for a run or
// starts one, so two callers never start two runs.

struct service {
	const char *name;   /* of the service; NULL: --join */
	char *const *argv;  /* the command, as the user typed it */
	struct await ready; /* the pattern and the port that show that it is ready */
	bool restart;       /* a live one is ended first */
};

/* Finds the live run in this directory. If there is none, starts one, but only with s->name. Waits
   until it is ready, and prints the new text. Returns the exit status. If no run lives and s->name
   is NULL, returns -1 and stores the lock in *held; the caller's run holds the lock until it can be
   found. Also returns -1 in a detached child, which has to run the command; *caller is its
   connection to the first process, which becomes a client of the run. */
int service_run(const struct verb_call *c, const struct service *s, int *caller, int *held);

/* Finds the live run in this directory. Returns whether there is one. */
bool service_find(const struct service *wanted, struct store *stores, int count,
		  char id[ID_LEN + 1]);

/* --- rows of runs ----------------------------------------------------------------------------- */

// The form in which `terse list` shows runs: as rows of a table, or as JSON:
//
//   {"id":"cmd-...","session":"default","command":["npm","test"],"cwd":"/work","state":"done",
//    "exit_code":1,"signal":null,"success":false,"timed_out":false,"binary":false,
//    "started":"2026-11-20T09:03:34.123Z","ended":"...","duration_ms":12345,
//    "lines":8432,"bytes":484352}
//
// There is also "gaps" if a part of the text was not kept, "stdout_file" and "stderr_file" if the
// command wrote to files directly, and "command_cut" if the command is cut. "id", "lines" and
// "bytes" are null if there is no artifact. "lines" and "bytes" are also null if all output is in
// files that the command wrote to directly. "ended" and "duration_ms" are null while the run lives.

/* Append to a row: the command, in one line; `text`, in one line, clean, cut to `width` columns; a
   line for each gap; a line for each file that the command wrote to directly. */
void row_add_command(struct buffer *out, const struct meta *m);
void row_add_cell(struct buffer *out, const char *text, size_t len, size_t width);
void row_add_gaps(struct buffer *out, int indent, struct gaps gaps);
void row_add_files(struct buffer *out, int indent, const struct meta *m);

/* The colour for the state of a run. `m` NULL: nothing is known about the run. */
enum paint runs_paint(const struct meta *m);

/* A run and its artifact each have a line in the journal, in either order. Call it for each line:
   returns 0 for the first line of an ID, 1 for the second, or -1 with ENOMEM. *tree, a tree of
   tsearch(3), has the IDs whose second line is still to come; free it with tdestroy(*tree,
   free). */
int runs_seen(void **tree, const char *id);

/* Whether the metadata have the lines and bytes of the text. */
bool runs_is_counted(const struct meta *m);

/* Counts the lines of a text whose run has not ended: its metadata have no count yet. */
void runs_count_lines(int dir, const char *id, enum artifact_part part, struct meta_stream *s);

/* Appends the members of the object above, with at most `budget` bytes of the command. */
void runs_append_json(struct buffer *out, const struct meta *m, size_t budget);

// A filter for runs: options of `terse list` and `terse search`.

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
		{"--since", 0,                                                                    \
		 VERB_WHEN, at(since),                                                            \
		 "WHEN",    "that ended after this or still run: 2h (ago), 14:05, 2026-11-20"},   \
		{"--until", 0, VERB_WHEN, at(until), "WHEN", "that started before this"},         \
	{                                                                                         \
		"--host", 0, VERB_TEXT, at(host), "HOST",                                         \
			"--remote: of machines whose name begins with this"                       \
	}

/* Whether the filter can leave out runs. Without `times`, since and until are not considered. */
bool runs_filter_is_set(const struct runs_filter *f, bool times);

/* Returns 1 if the filter lets the run through, 0 if not, or -1 with ENOMEM. */
int runs_filter_match(const struct runs_filter *f, const struct meta *m);

/* Appends the filter as options. */
void runs_filter_add(struct buffer *out, const struct runs_filter *f);

/* Appends the labels of a run: as " NAME=VALUE", or with `json` as members. */
void runs_add_labels(struct buffer *out, const struct meta *m, bool json);

/* The newest runs of the remote that a filter lets through, each once. */
struct runs_remote {
	/* Set by the caller; the rest is zeroed. */
	const struct verb_call *call;
	struct runs_filter *filter; /* if it has no time, runs of the last hour */
	uint64_t most;
	void (*describe)(void *ctx, struct buffer *out, const struct meta *m);
	void *ctx;

	struct runs_found {
		uint64_t id; /* packed (artifact/id.h) */
		char *text;  /* what `describe` has appended */
		size_t len;
	} * runs;
	size_t count, room;
	bool more; /* there are more than `most` */
	uint64_t damaged;
};

/* Finds the runs. Returns 0, or the exit status after printing an error. Call runs_remote_release()
   in every case. */
int runs_remote_find(struct runs_remote *r);
void runs_remote_release(struct runs_remote *r);

/* --- statistics ------------------------------------------------------------------------------- */

// Sums of what runs have shown, and of what was read later (artifact/journal.h), for terse stats
// and terse report.
//
// The sums of a session up to a line of its journal are kept in a file beside the journal. The next
// call reads only the lines after that line. The sums are valid while that line is at its offset:
// lines are only appended or removed, and no two lines are the same. A damaged file of sums is
// ignored.

/* Bytes, and an estimate of their tokens. */
struct stats_size {
	uint64_t bytes, tokens;
};

struct stats_sum {
	uint64_t runs, failed; /* without terse's own commands */
	int64_t duration_ms;
	uint64_t text;           /* bytes of text that commands wrote for an agent */
	struct stats_size shown; /* how much of that text was printed */
	struct stats_size own;   /* how much the agents would have shown without terse */
	struct stats_size read;  /* how much was read later */
	uint64_t reads;          /* how often something was read later */
};

/* Returns own - (shown + read) in bytes, which may be negative; in *tokens (unless NULL) in
   tokens. */
int64_t stats_saved(const struct stats_sum *s, int64_t *tokens);

struct stats {
	/* Set by the caller; the rest is zeroed. */
	int64_t from_ms;  /* only runs and reads since this time count */
	const char *only; /* one artifact's ID; NULL: every run */

	struct stats_sum all;
	int64_t first_ms; /* when the first of these runs started; 0: there is none */
	uint64_t damaged; /* damaged lines */
	/* The sums of each agent. A session belongs to the agent of its newest run that has an
	   agent. */
	struct stats_agent {
		char name[SECTION_NAME_MAX + 1]; /* "": none is known */
		struct stats_sum sum;
	} * agents;
	size_t agent_count, agent_room;
	char agent[SECTION_NAME_MAX + 1]; /* the agent of the session that is being read */
};

/* Adds a session of a store. Returns 0, or -1 with errno. */
int stats_add_session(struct stats *s, struct store *store, const char *session);

void stats_release(struct stats *s);

/* Appends the members of an object: "runs", "failed", ... (docs/json.md). */
void stats_append_json(struct buffer *out, const struct stats_sum *s);

/* --- follow-ups ------------------------------------------------------------------------------- */

// A follow-up is what an agent later reads of an artifact, which adds to the cost of its preview.
// Verbs note it in the journal for terse stats (artifact/journal.h), unless a person reads.

/* Zeroed except for `is_counted`. */
struct followup {
	/* An agent may read the output. Output to a program or a file, unless it is JSON, counts as
	   a follow-up of 0 bytes: nobody knows how much of it an agent sees. */
	bool is_counted;
	uint64_t bytes;
	struct tokens tokens;
};

/* Adds bytes that were printed. */
void followup_add(struct followup *f, const char *data, size_t len);

/* Call it at the end: notes what was printed of the artifact `id` in the session directory `dir`.
   Does nothing if `id` is "" (a file that is not an artifact). */
void followup_keep(const struct followup *f, int dir, const char *id);

/* --- previews of existing texts --------------------------------------------------------------- */

// Prints an existing text as `terse run` would: a recorded stream (filter), an artifact or a file
// (read --preview, show).

struct excerpts {
	struct interceptor *text; /* the caller asks for its report */
	struct buffer *into;      /* NULL: standard output */
	int error;                /* errno of printing */
	/* Returns the artifact that keeps the omitted text; NULL: there is none. */
	struct artifact *(*artifact)(struct excerpts *d);
};

/* Applies the profile that a flag names. Returns 0, or -1 after printing an error. */
int excerpts_apply_profile(const char *verb, struct settings *s);

/* Begins a text. `d` is zeroed except `into` and `artifact`, and must not move afterwards. The
   caller sets the members of `o` for the reader, the terminal's treatment of line feeds, and the
   size of the text before; the rest is zeroed. Returns 0, or -1 with errno. Call
   interceptor_free(d->text) in every case. */
int excerpts_init(struct excerpts *d, const struct settings *s, struct interceptor_options *o);

/* Begins a text, takes all of `t`, finishes it, and prints its report unless `end` is NULL. With
   `lines`, takes only what follows the first *lines lines, and adds the new lines to *lines. `d` as
   for excerpts_init(). Returns 0, or -1 with errno. */
int excerpts_take(struct excerpts *d, const struct settings *s, struct text *t, uint64_t *lines,
		  enum interceptor_reader reader, const struct interceptor_ending *end);

/* Prints, unless printing has failed before. It is the `print` event of the interceptor, whose
   context is the struct excerpts. */
void excerpts_print(void *excerpts, const char *data, size_t len);

/* Fills in how a run ended, or that it still runs. */
struct wording_ending excerpts_ending(const struct meta *m);

/* Fills in the ending for the report on a part of an artifact. `m`: the run, or NULL; `place`: the
   artifact's ID, or a file's name, quoted for a shell. */
struct interceptor_ending excerpts_end(const struct settings *settings, const struct meta *m,
				       const char *place, enum artifact_part part);

/* Prints the preview of a text for an agent, like excerpts_take(). Returns 0, or -1 with errno. */
int excerpts_text(const struct settings *settings, struct text *t, uint64_t *lines,
		  const struct interceptor_ending *end, struct buffer *into);

/* --- run --cached ----------------------------------------------------------------------------- */

// A command that succeeded a short time ago is not run again: its kept texts are printed, with the
// settings of this call.

/* A hash of this process's environment, for struct job; never 0. */
uint64_t cached_environment(void);

/* Answers a command with its last run in the same directory and environment, if that run succeeded
   at most job->cached_ms ago. The reader has to be an agent or a person, or a report is asked for.
   Returns the exit status, or -1 if the command has to be run. */
int cached_answer(struct job *job);

/* --- hooks ------------------------------------------------------------------------------------ */

enum { HOOK_SESSION_MAX = 128 };

/* The session that the event ends, if any: its name, or the variable from which the agent's
   commands know it. */
struct hook_outcome {
	char session[HOOK_SESSION_MAX + 1]; /* or "" */
	const char *mark;                   /* or NULL */
};

struct hook_terse {
	const char *program; /* the path of terse */
	int64_t in_front;    /* [shim] in_front */
};

/* Appends the answer to an agent's hook (verb_hook.c). Returns 0, or -1 with errno: EINVAL if there
   is no such agent or event; ENOMEM. */
int hook_answer(const char *agent, const char *event, const char *input, size_t len,
		const struct hook_terse *terse, struct buffer *answer,
		struct hook_outcome *outcome);

#endif
