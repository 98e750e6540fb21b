// Shared by the files of this room. Nobody outside of it includes this.
//
//   input.c        from the command to the terminal: raw bytes, plain bytes, binary output
//   lines.c        from the terminal to the reader, the held text, the artifact and the preview
//   held.c         what is held back, at a pause
//   pause.c        when that is, and how much of it
//   interceptor.c  the contract with other rooms, the end of the command, the report
#ifndef TERSE_INTERCEPT_PARTS_H
#define TERSE_INTERCEPT_PARTS_H

#include "config/limit.h"
#include "lib/buffer.h"
#include "lib/guard.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/intercept/pause.h"
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
   bytes wait in memory for that to show; if the text has not spilled or nothing was dropped by
   then, they are let go, since keeping gigabytes twice just in case would cost every plain log
   double. Where a picture, or what looks like one, has swallowed so much, the owner lets the text
   spill: see terminal_is_swallowing(). */

#define RAW_HOLD ((size_t)256 * 1024)

enum raw_state { RAW_HOLDING, RAW_STREAMING, RAW_OFF };

struct raw {
	enum raw_state state;
	struct buffer held;
};

/* The next bytes; `artifact` is NULL until the text spills. `wanted`: more than colours was
   dropped. */
void raw_feed(struct raw *r, const char *data, size_t len, struct artifact *artifact, bool wanted);

/* Writes what is held to the artifact and passes on everything from here. */
void raw_start(struct raw *r, struct artifact *artifact);

void raw_release(struct raw *r);

/* The bytes of a pipe on their way to a program or file, as long as they are plain.

   A program must get what the command wrote: CR before LF, form feeds, invalid
   UTF-8, everything (a patch has to apply). Only what redraws (ESC, backspace, CR without LF) is
   resolved by the terminal. So whole lines are passed on as they are until the first such byte;
   from its line on the text of the terminal is what is printed. */

/* An unfinished line longer than this is passed on before its end is known. */
#define PLAIN_LINE ((size_t)64 * 1024)

/* A zeroed struct is a new one. */
struct plain {
	struct buffer line; /* of the unfinished line: what is not passed on yet */
	size_t passed;      /* bytes of the unfinished line that are */
};

void plain_release(struct plain *p);

/* The interceptor. */

/* So often lines are left out before the end. The share of the last lines is used up earlier. */
#define LEFT_OUT_MAX 16

struct interceptor {
	struct interceptor_options options;
	struct interceptor_events events;
	struct terminal *terminal;
	struct preview *preview;   /* NULL unless one may be printed; in mode head of a failure */
	struct artifact *artifact; /* NULL until the text spilled */
	struct raw raw;

	struct buffer first; /* the first bytes, until they are judged */
	struct sniff sniff;
	struct preview_judge *judge; /* NULL until it is needed */
	bool judged;
	bool binary;
	struct plain plain; /* for a program or file behind a pipe, while nothing has redrawn: */
	bool is_plain;      /* it gets the bytes, not the terminal's text ... */
	bool is_bytes;      /* ... whatever comes */
	size_t line_text;   /* of the unfinished line: what the terminal has let go */
	bool held_return;   /* the last byte was a CR: what follows decides */
	bool verbatim;      /* what comes is text as it is: not rendered */

	uint64_t raw_bytes, text_bytes;
	char last[256]; /* the beginning of the last line that is final and not blank */
	size_t last_len;
	struct tally tally; /* of the text, for an agent: while it fits, in mode head always */
	struct head head;   /* an agent's text in mode head, whether the command fails or not */
	/* It gets more after some outcomes: these go on from where the text did not fit any more.
	 */
	struct longer {
		struct head head;
		struct buffer text; /* printed then, except what the first `head` has, too: */
	} longer[3];
	size_t longer_count, common;
	struct buffer rest; /* what the head hands out; held back where the others show otherwise */
	const struct head *ended; /* the one of the outcome */
	size_t most;              /* a text up to this many bytes is printed whole */
	bool concluded;           /* the outcome is known, and with it options.limit.bytes: */
	bool failed, succeeded;   /* or it goes on */
	struct buffer held;       /* the text so far, while it is within the limit */
	size_t counted;           /* bytes of it, up to the end of a character ... */
	size_t guarded;           /* ... and of a line whose guard is counted, ... */
	size_t clean_len;         /* ... and how many they are when they are printed */
	bool fits;
	bool followed; /* somebody reads the artifact as it grows */
	bool waits;    /* for whether the text fits: nothing is printed yet, so its lines can be
			  grouped ... */
	int64_t waits_since; /* ... on the clock of interceptor_settle(); 0: not known yet */
	int64_t settle_at;   /* when interceptor_settle() is due; 0: nothing waits for it */
	uint64_t redraws;    /* terminal_redraws() when it was last looked at ... */
	bool hides;          /* ... and whether the cursor was hidden ... */
	int64_t redrawn_at, hidden_at; /* ... and since when that is so */
	struct buffer line;      /* what terse itself says; its memory is there from the start */
	struct buffer collected; /* what is printed, where the form is not INTERCEPT_LIVE ... */
	bool lost;               /* ... and there was no memory for all of it */
	enum limit_part broken;  /* what of the limit was over first, or keeps it from more */
	bool omits, cuts;        /* lines, or bytes of lines, are left out of what is printed */

	/* The live reader: bytes and lines of the text that are printed. */
	uint64_t printed, printed_lines;
	struct preview_range left_out[LEFT_OUT_MAX]; /* of them */
	size_t left_out_count;
	bool spelled; /* an omission was announced, with the command that reads it */
	struct share share, line_share; /* how many bytes and lines that took, and may take */
	struct pause pause;
	struct buffer partial; /* of the line behind them: its start, printed already */
	uint64_t put;          /* bytes printed, notices included */
	bool head_closed;
	bool resolved;
	struct kind kind;           /* of binary output */
	struct report_stream shown; /* only its ranges: what a live reader was shown at last */
	bool ended_line;            /* the last byte printed was a newline */
	bool ended_text;            /* the last byte of the text was one */
	bool finished;              /* nothing is left in the terminal */
	bool reported;

	uint64_t live_version; /* of the terminal, when the artifact's end was written */
	bool spill_failed;
	bool forgotten; /* what was held is gone, so it is too late to spill */
};

/* A line that was written over must stand unchanged for so long before a live reader gets it, and
   each line once a program draws. It is done with drawing when it has not for so long: what hides
   the cursor for good may be a server. */
#define INTERCEPT_SETTLE_MS       1500
#define INTERCEPT_SETTLE_DRAWN_MS 5000

/* The terminal's event: final text. `ctx` is the interceptor. */
void intercept_text(void *ctx, const char *data, size_t len);

/* Hands bytes to the reader. */
void intercept_print(struct interceptor *s, const char *data, size_t len);

/* How the text is printed for a reader that is no terminal and no program, from where what is
   printed ends. */
static inline enum guard_mode intercept_guard(const struct interceptor *s)
{
	if (s->options.limit.own_words || s->options.form == INTERCEPT_BARE)
		return GUARD_NONE;
	return s->ended_line ? GUARD_LINE : GUARD_INSIDE;
}

/* Prints text for such a reader. */
void intercept_print_text(struct interceptor *s, const char *data, size_t len);

/* The line behind what is printed comes, whose start may be printed already: returns how much of
   `data` that is, or ends the line that was begun and has changed since. */
size_t intercept_go_on(struct interceptor *s, const char *data, size_t len);

/* It begins to matter who reads: asks once. When it is a program after all, it gets everything. */
void intercept_resolve(struct interceptor *s);

/* Whether the text is shown by its first part if it does not fit. */
static inline bool intercept_is_by_head(const struct interceptor *s)
{
	return s->options.print == INTERCEPT_PREVIEW && s->options.limit.mode == MODE_HEAD;
}

/* Whether what is printed is kept for a report. */
static inline bool intercept_is_collected(const struct interceptor *s)
{
	return s->options.form != INTERCEPT_LIVE;
}

/* How much of the text the first part may have while the outcome is open. */
struct limit intercept_open_limit(const struct limit *limit);

/* Whether all of the text goes through the tally. */
static inline bool intercept_is_counted(const struct interceptor *s)
{
	return intercept_is_by_head(s) ||
	       (intercept_is_collected(s) && s->options.print == INTERCEPT_SILENT);
}

/* Whether the command draws, so that complete lines may be stale soon. */
bool intercept_is_drawn(struct interceptor *s, int64_t now_ms);

/* Empties s->line for something that terse itself has to say. */
struct buffer *intercept_line(struct interceptor *s);

/* Prints it, unless there was no memory for all of it. */
void intercept_print_line(struct interceptor *s);

/* Prints the lines of the held text that a reader may have already. */
void intercept_print_head(struct interceptor *s);

/* Whether the text so far is over the limit; `end`: nothing more comes. */
bool intercept_is_over(struct interceptor *s, bool end);

/* The text is longer than what is printed whole: it goes to disk, and of what the reader gets only
   the head is settled. */
void intercept_overflow(struct interceptor *s);

/* The command ended and its background children live on: the reader gets the text that the terminal
   still holds as it is now, the artifact goes on with its later state. */
void intercept_take_pending(struct interceptor *s);

/* Nothing that redraws came: the last plain bytes go to the reader. */
void intercept_finish_plain(struct interceptor *s);

/* Prints the last of the complete lines in so many bytes and lines, behind the marker of those
   before them, or all that are new. Returns whether there was room for a line. */
bool intercept_print_last(struct interceptor *s, size_t bytes, size_t lines,
			  const struct wording_place *place);

/* Prints the rest of the first part that the outcome gets. Returns whether a preview of what
   follows it has to be printed: of a text that does not fit, unless the run ended well. */
bool intercept_finish_head(struct interceptor *s);

/* Prints the rest of a text that does not fit: the preview's pieces behind what was printed, or the
   notice behind a first part, each with its notices unless the form is INTERCEPT_BARE. If
   `report` is not NULL, the printed ranges are stored in it. Returns 0, or -1 with ENOMEM. */
int intercept_print_preview(struct interceptor *s, const struct interceptor_ending *e,
			    struct report_stream *report);
int intercept_print_end_of_head(struct interceptor *s, const struct interceptor_ending *e,
				struct report_stream *report);

/* Enough is there to tell text from binary, or nothing more comes for now; `end`: at all. */
void intercept_judge(struct interceptor *s, bool end);

#endif
