// Shared by the files of this room. Nobody outside of it includes this.
//
//   input.c        from the command to the terminal: raw bytes, passed bytes, binary output
//   interceptor.c  from the terminal into the held text, the artifact and the preview; the contract
//                  with other rooms
//   progress.c     runs of lines that report success or progress
//   reader.c       what each kind of reader gets, and when
#ifndef TERSE_INTERCEPT_INTERNAL_H
#define TERSE_INTERCEPT_INTERNAL_H

#include "config/limit.h"
#include "lib/buffer.h"
#include "lib/quote.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/preview/head.h"
#include "supervisor/preview/preview.h"
#include "supervisor/report/file_type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For the trace. */
#define PART_NAME(s) ((s)->options.part == ARTIFACT_ERR ? "stderr" : "stdout")

/* The raw bytes of a stream: when they are kept.

   The artifact gets them beside its text if rendering dropped more than colours. The first RAW_HOLD
   bytes are held in memory until that happens. If more bytes come before it does, they are freed
   and no raw bytes are kept, since keeping those of every plain log would double its cost. A
   picture leaves no text, so a stream with a picture goes to disk before the limit is reached: see
   struct terminal_facts. */

#define RAW_HOLD ((size_t)256 * 1024)

enum raw_state { RAW_HOLDING, RAW_STREAMING, RAW_OFF };

/* When, and how much of, the text that is held back from an agent is printed before the end.

   An agent gets the first lines of a text as they come. Later lines are held back until the end,
   when it is known which are worth showing. When the command pauses, the agent may be waiting for
   these lines, so they are printed: all of them while the text fits, later only the last ones,
   within a separate budget. */

/* A pause is this many ms without a new line. A redrawn line is not new. */
#define PAUSE_MS 1500

/* Once lines have been left out, at least this many ms pass before text is printed at a pause
   again, then twice as many, and so on. So the budget of the last lines lasts for hours. */
#define PAUSE_DISTANCE_MS 3000

/* A zeroed struct is a new one. Times are of one monotonic clock, in ms. */
struct pause {
	uint64_t lines;     /* the largest number of complete lines so far */
	bool is_fresh;      /* new lines came since the last print */
	bool is_touched;    /* new bytes came since the unfinished line was last considered */
	int64_t line_at;    /* when the last new line came */
	int64_t byte_at;    /* when the last byte came */
	int64_t not_before; /* no print at a pause before this time */
	int64_t distance;   /* the next print moves `not_before` by this much */
};

/* How much may be printed before the end, in bytes or in units of the limit.

   The sum of all prints is at most one and a half times the budget, and at least half of the budget
   is left for the preview at the end. A budget is at most two thirds of the ceiling, so the sum
   stays below the ceiling too. */
struct share {
	size_t budget;  /* see share_budget(); SIZE_MAX: no limit */
	size_t ceiling; /* the most that may be printed in total; 0: no limit. It may rise later. */
	size_t least;   /* less room than this is not used */
	size_t printed; /* so far, in total */
	size_t live;    /* the part of `printed` that was printed at pauses */
	size_t tails;   /* the part of `live` that was last lines after a marker */
	size_t notices; /* bytes of heartbeats, which count against the ceiling alone */
};

/* The budget before the end, for a text whose preview has `budget`. */
size_t share_budget(size_t budget, size_t ceiling);

/* Up to this size a text is printed whole at a pause. */
size_t share_whole(const struct share *s);

/* The room for last lines after a marker now: half of what is left for them; all of it with
   `words`, when somebody wants the run to end. 0: no room is left. */
size_t share_tail(const struct share *s, bool words);

/* How much may be printed in total if the text ends with a preview of `budget`. */
size_t share_end(const struct share *s, size_t budget);

/* Notes what was printed at a pause. `omits`: it was last lines after a marker. */
void share_take(struct share *s, size_t printed, bool omits);

/* Signs that a command draws, so that it may change lines that are complete. */
struct drawing {
	uint64_t redraws;              /* the terminal's count when it was last looked at */
	bool hides;                    /* the cursor was hidden then */
	int64_t redrawn_at, hidden_at; /* when `redraws` last grew; when the cursor was hidden */
};

/* Progress: successive lines that report success, or how far the command is. */

enum { PROGRESS_FOLDS = 8 };

/* A run of progress, as places in the held text. Lines from `at` to `last` may be left out; the
   last line, from `last` to `end`, may not. `first` and `last_number` are the numbers of the lines
   at `at` and `last`. */
struct progress_fold {
	size_t at, last, end;
	uint64_t first, last_number;
};

/* A zeroed struct is a new one. */
struct progress {
	size_t end;                      /* lines up to here, in the held text, were looked at */
	uint64_t lines, count;           /* the number of these lines; the length of the run that
					    ends there */
	struct progress_fold now, *open; /* that run; its place in `folds` once it is long enough,
					   else NULL */
	struct progress_fold folds[PROGRESS_FOLDS];
	size_t fold_count;
	bool is_worth; /* leaving the folds out saves enough */
};

/* A kind of reader. */
struct reader {
	const char *name; /* for the trace */
	bool previews;    /* a preview, if the text does not fit */
	bool along;       /* while the command runs */
	bool reports;     /* gets the text and the ranges of its lines, no markers */
	/* Which complete lines are wanted before they are final: none, those of the opening, or
	   all. */
	enum { LINES_NONE, LINES_OF_OPENING, LINES_ALL } lines;
};

/* By enum interceptor_reader. */
extern const struct reader readers[];

/* How the command's bytes are handled. */
enum bytes_state {
	BYTES_UNJUDGED, /* not enough has come */
	BYTES_RENDERED, /* the terminal turns them into text */
	BYTES_PASSED,   /* a program or file gets them as they are; the artifact gets their text */
	BYTES_BINARY,   /* the artifact gets them, the reader one line about them */
	BYTES_VERBATIM, /* binary bytes for a reader without previews: they pass unchanged as the
			   text */
};

/* The most gaps before the end. The budget of the last lines is used up before that many. */
#define LEFT_OUT_MAX 16

struct interceptor {
	struct interceptor_options options;
	/* `resolve` becomes NULL once it was called, `artifact` once it has failed. */
	struct interceptor_events events;
	const struct reader *reader;
	struct terminal *terminal;
	struct preview *preview;   /* NULL unless one may be printed */
	struct artifact *artifact; /* NULL until the text spilled */
	enum raw_state raw_state;
	struct buffer raw; /* while they are held */

	struct buffer unjudged; /* the bytes so far, until they are judged */
	struct sniff sniff;
	struct preview_judge *judge; /* NULL until it is needed */
	struct progress progress;
	enum bytes_state state;
	const char *kind; /* of binary output, or NULL */

	uint64_t raw_bytes, text_bytes;
	size_t line_text;   /* bytes of the unfinished line that have come from the terminal */
	struct tally tally; /* counts the text for an agent as long as it fits; in mode head, counts
			       all of it */
	size_t most;        /* a text up to this many bytes is printed whole */
	/* Once it is known, options.limit.bytes is the budget for it. */
	enum interceptor_outcome outcome;
	struct buffer held;      /* the text so far, while it is within the limit */
	size_t counted;          /* bytes of its whole lines */
	size_t clean_len;        /* how many bytes these take when they are printed */
	size_t begun, begun_len; /* the same two for the unfinished line, whole characters only */
	bool fits;
	bool followed;     /* somebody reads the artifact as it grows */
	int64_t settle_at; /* when interceptor_settle() is due; 0: nothing waits for it */
	struct drawing drawing;
	struct buffer line;      /* a line of terse's own; its memory is reserved at the start */
	struct buffer collected; /* what is printed for a report */
	enum limit_part broken;  /* which part of the limit the last line names as exceeded */
	uint64_t omitted, cut;   /* how many omissions, and how many cut lines, were printed */

	/* Bytes and whole lines of the text, from its start, that were printed or left out. */
	uint64_t printed, printed_lines;
	struct preview_range left_out[LEFT_OUT_MAX]; /* the lines of them that were left out */
	size_t left_out_count;
	struct share share, line_share; /* what was and may be printed, in bytes and in units of the
					   limit */
	struct pause pause;
	struct buffer partial;      /* the printed part of the line that follows `printed_lines` */
	uint64_t put;               /* bytes printed, notices included */
	bool opening_over;          /* nothing more is printed before a pause or the end */
	struct report_stream shown; /* for its ranges: the lines that were shown */
	bool ended_line;            /* the last byte printed was a newline */
	bool finished;              /* nothing is left in the terminal */
	bool reported;
	uint64_t live_version; /* the terminal's version when the artifact's end was written */
};

/* interceptor.c */

/* The terminal's event: final text. `ctx` is the interceptor. */
void intercept_text(void *ctx, const char *data, size_t len);

/* The text is too long to be printed whole: moves it to disk. Only mode head prints lines as they
   come after that. */
void intercept_overflow(struct interceptor *s);

/* Lines and bytes of the text so far; 0 lines where nothing counts them. */
struct intercept_totals {
	uint64_t lines, bytes;
};

struct intercept_totals intercept_totals(const struct interceptor *s);

/* Call it when the report is made: takes in the text that the terminal still holds, and the
   outcome. */
void intercept_end_text(struct interceptor *s, const struct wording_ending *e);

/* Whether the command draws, so that it may overwrite complete lines. */
bool intercept_is_drawn(struct interceptor *s, int64_t now_ms);

/* How many ms a line has to be unchanged before a live reader gets it: the shorter time for a line
   that was overwritten, the longer one for any line of a command that draws. A command counts as
   drawing until the longer time has passed since it last redrew a line or hid the cursor: a command
   that hides the cursor for good may be a server. */
#define INTERCEPT_SETTLE_MS       1500
#define INTERCEPT_SETTLE_DRAWN_MS 5000

/* reader.c */

/* Whether only the first part of the text is shown if it does not fit. */
bool intercept_is_by_head(const struct interceptor *s);

/* For this reader: whether a line that looks like terse's own gets a guard. */
enum guard_mode intercept_guard(const struct interceptor *s);

/* Gives bytes to the reader, or to its report. */
void intercept_print(struct interceptor *s, const char *data, size_t len);

/* intercept_line() empties s->line, to which the caller then appends a line of terse's own.
   intercept_print_line() prints it, if there was memory for all of it. */
struct buffer *intercept_line(struct interceptor *s);
void intercept_print_line(struct interceptor *s);

/* Call it when the kind of reader begins to matter: asks `resolve` once. A program then gets the
   text so far, and later everything. */
void intercept_resolve(struct interceptor *s);

/* Prints those complete lines of the held text that the reader gets for every outcome. With `all`,
   prints all of them; their markers name that place. */
void intercept_print_lines(struct interceptor *s, const struct wording_place *all);

/* Takes text from the terminal. If a program reads, prints the text. In mode head, prints the lines
   of the first part that are shown whatever the outcome is. */
void intercept_pass_on(struct interceptor *s, const char *data, size_t len);

/* progress.c */

/* Looks for progress in the new lines of the held text. Opens the artifact if some will be left
   out. */
void intercept_find_progress(struct interceptor *s);

/* The next lines to leave out of the held text, at or after `at`, where line `number` begins. `end`
   is 0 if there are none. */
struct progress_fold progress_next(const struct progress *c, size_t at, uint64_t number);

/* input.c */

/* Decides whether the output is text or binary. Call it when enough bytes are there, or when no
   more come for now. `end`: it has to decide. */
void intercept_judge(struct interceptor *s, bool end);

/* Holds raw bytes, writes them to the artifact, or drops them: see enum raw_state. */
void intercept_keep_raw(struct interceptor *s, const char *data, size_t len);

#endif
