// Shared by the files of this room. Nobody outside of it includes this.
//
//   input.c        from the command to the terminal: raw bytes, passed bytes, binary output
//   interceptor.c  from the terminal into the held text, the artifact and the preview; the contract
//                  with other rooms
//   chatter.c      which lines of a text that fits say no more than those before them
//   reader.c       who reads, what each of them gets, and when an agent gets what is held back
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

/* Keeps the raw bytes of a stream until it is known whether they are wanted.

   They are wanted beside a spilled text when rendering dropped more than colours. Up to RAW_HOLD
   bytes wait in memory until that is known. If by then the text has not spilled or nothing was
   dropped, they are let go: keeping gigabytes twice just in case would double the cost of every
   plain log. Where a picture, or bytes that look like one, has swallowed that much, the owner lets
   the text spill: see struct terminal_facts. */

#define RAW_HOLD ((size_t)256 * 1024)

enum raw_state { RAW_HOLDING, RAW_STREAMING, RAW_OFF };

/* When a reader who waits is given what is held back, and how much of it.

   A text for an agent is held back behind its opening until it is known what is worth showing. At a
   pause the agent may wait for just the lines that are held back, so it gets them: all, while the
   text fits, and later the last lines, from a share of their own. */

/* A pause is this time, in ms, without a new line. A line that is only redrawn is not new. */
#define PAUSE_MS 1500

/* Once lines are left out, the next pause comes at least this much later, the next one twice as
   much later, and so on: so the share of the last lines lasts for hours. */
#define PAUSE_DISTANCE_MS 3000

/* A zeroed struct is a new one. Times are of one monotonic clock, in ms. */
struct pause {
	uint64_t lines;     /* the most complete lines that there were */
	bool is_fresh;      /* some of them came since the last print */
	bool is_touched;    /* bytes came since the last look at the unfinished line */
	int64_t line_at;    /* when the last new line came ... */
	int64_t byte_at;    /* ... and the last byte */
	int64_t not_before; /* the next print */
	int64_t distance;   /* to the one after that */
};

/* How much may be printed before the end, in bytes or in units of the limit.

   What is printed in all stays within one and a half times the budget, and the preview at the end
   has half of the budget at least. A budget is no more than two thirds of the ceiling, so all stays
   within that, too. */
struct share {
	size_t budget;  /* see share_budget(); SIZE_MAX: no limit */
	size_t ceiling; /* ceiling for all that is printed; 0: none. It may rise later. */
	size_t least;   /* fewer would tell nothing */
	size_t printed; /* so far in all ... */
	size_t live;    /* ... of that at pauses ... */
	size_t tails;   /* ... and how much of it was printed behind lines that were left out */
	size_t notices; /* bytes of terse's other lines, which count for the ceiling alone */
};

/* The budget at pauses, for a text that would get `budget` at its end. */
size_t share_budget(size_t budget, size_t ceiling);

/* Up to this size a text is printed whole at a pause. */
size_t share_whole(const struct share *s);

/* How much the last lines may take now: half of what is left for them, or all of it for the last
   words before the end (`words`). 0: nothing is left. */
size_t share_tail(const struct share *s, bool words);

/* How much may be printed in all if the text ends with a preview of `budget`. */
size_t share_end(const struct share *s, size_t budget);

/* So much was printed at a pause. */
void share_take(struct share *s, size_t printed, bool omits);

/* Signs that a command draws, so that it may change lines that are complete. */
struct drawing {
	uint64_t redraws;              /* of the terminal when it was last looked at ... */
	bool hides;                    /* ... and whether the cursor was hidden ... */
	int64_t redrawn_at, hidden_at; /* ... and since when that is so */
};

/* Runs of chatter: successive lines that say that something went well or goes on. */

enum { CHATTER_FOLDS = 8 };

/* One run: its lines that may be left out, and the last line, which may not. Has their places in
   the held text and their numbers. */
struct chatter_fold {
	size_t at, last, end;
	uint64_t first, last_number;
};

/* A zeroed struct is a new one. */
struct chatter {
	size_t end;                     /* end of the lines that were looked at, in the held text */
	uint64_t lines, count;          /* how many they are; how many of them are in the run that
					   ends there */
	struct chatter_fold now, *open; /* that run; the same among the folds, once it is long
					   enough */
	struct chatter_fold folds[CHATTER_FOLDS];
	size_t fold_count;
	bool is_worth; /* to leave them out saves much */
};

/* One who reads. */
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

/* How the bytes of the command are treated. */
enum bytes_state {
	BYTES_UNJUDGED, /* not enough has come */
	BYTES_RENDERED, /* the terminal makes text of them */
	BYTES_PASSED,   /* a program or file gets them as they are; the artifact gets their text */
	BYTES_BINARY,   /* they are kept, and the reader gets a line about them */
	BYTES_VERBATIM, /* binary ones are text as they are */
};

/* How often lines can be left out before the end; the share of the last lines is used up
   earlier. */
#define LEFT_OUT_MAX 16

struct interceptor {
	struct interceptor_options options;
	/* `resolve` is NULL after it was called, `artifact` if there can't be an artifact. */
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
	struct chatter chatter;
	enum bytes_state state;
	const char *kind; /* of binary output, or NULL */

	uint64_t raw_bytes, text_bytes;
	size_t line_text;   /* bytes that the terminal has let go of the unfinished line */
	struct tally tally; /* counts the text for an agent: while it fits, and in mode head
			       always */
	size_t most;        /* a text up to this many bytes is printed whole */
	/* The outcome is known, and with it options.limit.bytes. */
	enum interceptor_outcome outcome;
	struct buffer held;      /* the text so far, while it is within the limit */
	size_t counted;          /* bytes of its whole lines ... */
	size_t clean_len;        /* ... and how many bytes these take when they are printed */
	size_t begun, begun_len; /* the same two of the unfinished line, up to the end of a
				    character */
	bool fits;
	bool followed;     /* somebody reads the artifact as it grows */
	int64_t settle_at; /* when interceptor_settle() is due; 0: nothing waits for it */
	struct drawing drawing;
	struct buffer line;      /* a line of terse's own; its memory is reserved at the start */
	struct buffer collected; /* what is printed for a report */
	enum limit_part broken;  /* the part of the limit that was exceeded first, or that stops the
				    preview */
	uint64_t omitted, cut;   /* how many omissions, and how many cut lines, were printed */

	/* Somebody who reads along: bytes and lines of the text that are printed. */
	uint64_t printed, printed_lines;
	struct preview_range left_out[LEFT_OUT_MAX]; /* of them */
	size_t left_out_count;
	struct share share, line_share; /* how many bytes and units of the text were printed, and
					   how many may be */
	struct pause pause;
	struct buffer partial;      /* the start of the line behind the printed ones, itself printed
				       already */
	uint64_t put;               /* bytes printed, notices included */
	bool opening_over;          /* no more of the text is printed before a pause or the end */
	struct report_stream shown; /* has only ranges: those that were shown in the end */
	bool ended_line;            /* the last byte printed was a newline */
	bool finished;              /* nothing is left in the terminal */
	bool reported;
	uint64_t live_version; /* the terminal's version when the artifact's end was written */
};

/* interceptor.c */

/* The terminal's event: final text. `ctx` is the interceptor. */
void intercept_text(void *ctx, const char *data, size_t len);

/* The text is too long to be printed whole: it goes to disk. Nothing more is printed live, except
   in mode head. */
void intercept_overflow(struct interceptor *s);

/* Lines and bytes of the text, as far as they are counted. */
uint64_t intercept_lines(const struct interceptor *s);
uint64_t intercept_bytes(const struct interceptor *s);

/* Call it when the report is made: all of the text so far is known, and so is the outcome. */
void intercept_end_text(struct interceptor *s, const struct wording_ending *e);

/* Whether the command draws, so that complete lines may be stale soon. */
bool intercept_is_drawn(struct interceptor *s, int64_t now_ms);

/* How long a line has to be unchanged before a live reader gets it: a line that was written over,
   and any line of a program that draws. A program that has not drawn for the longer time counts as
   done with drawing: one that hides the cursor for good may be a server. */
#define INTERCEPT_SETTLE_MS       1500
#define INTERCEPT_SETTLE_DRAWN_MS 5000

/* reader.c */

/* Whether the text is shown by its first part if it does not fit. */
static inline bool intercept_is_by_head(const struct interceptor *s)
{
	return s->reader->previews && s->options.limit.mode == MODE_HEAD;
}

/* How a line of the text is printed for a reader that is no terminal and no program. */
static inline enum guard_mode intercept_guard(const struct interceptor *s)
{
	return s->options.limit.own_words || s->reader->reports ? GUARD_NONE : GUARD_LINE;
}

/* Hands bytes to the reader. */
void intercept_print(struct interceptor *s, const char *data, size_t len);

/* Empties s->line for something that terse itself has to say, and prints it, unless there was no
   memory for all of it. */
struct buffer *intercept_line(struct interceptor *s);
void intercept_print_line(struct interceptor *s);

/* Call it when it begins to matter who reads: asks once. If the reader is a program after all, it
   gets everything. */
void intercept_resolve(struct interceptor *s);

/* Prints complete lines of the held text: those that a reader gets whatever the outcome is. With
   the place `all`, which markers name for lines that are left out, prints all of them. */
void intercept_print_lines(struct interceptor *s, const struct wording_place *all);

/* Prints text that the terminal has let go: to a program, and of a first part those lines that it
   will have whatever the outcome is. */
void intercept_hand_on(struct interceptor *s, const char *data, size_t len);

/* chatter.c */

/* Looks through the new lines of the held text. Keeps the text on disk if chatter will be left out
   of it. */
void intercept_find_chatter(struct interceptor *s);

/* The next lines that are left out, from `at` on, where line `number` begins. `end` is 0 if there
   are none. */
struct chatter_fold chatter_next(const struct chatter *c, size_t at, uint64_t number);

/* input.c */

/* Decides between text and binary output. Call it when there are enough bytes, or when no more come
   for now or (`end`) at all. */
void intercept_judge(struct interceptor *s, bool end);

/* Takes raw bytes. Writes those that are held to the artifact once they are wanted, since more than
   colours was dropped. */
void intercept_keep_raw(struct interceptor *s, const char *data, size_t len);

#endif
