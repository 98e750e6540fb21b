// What the parts of the interceptor share. Nobody outside of this room includes it.
//
//   bytes.c      from the command to the terminal
//   text.c       from the terminal to the reader, what is held, the artifact
//   closing.c    what a live reader gets when the command has ended
//   preview.c    the part of it that is printed of a text that does not fit
//   collect.c    the same for who gets a report when all is over
#ifndef TERSE_INTERCEPT_INTERNAL_H
#define TERSE_INTERCEPT_INTERNAL_H

#include "supervisor/base/buffer.h"
#include "supervisor/intercept/head.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/intercept/plain.h"
#include "supervisor/intercept/raw.h"
#include "supervisor/intercept/sniff.h"
#include "supervisor/intercept/tally.h"
#include "supervisor/preview/preview.h"
#include "supervisor/report/kind.h"

struct interceptor {
	struct interceptor_options options;
	struct interceptor_events events;
	struct terminal *terminal;
	struct preview *preview;   /* NULL unless a preview may be printed, and in mode head */
	struct artifact *artifact; /* NULL until the text spilled */
	struct raw raw;

	struct buffer first; /* the first bytes, until they are judged */
	struct sniff sniff;
	bool judged;
	bool binary;
	struct plain plain; /* for a program or file behind a pipe, while nothing has redrawn: */
	bool is_plain;      /* it gets the bytes, not the terminal's text ... */
	bool is_bytes;      /* ... whatever comes */
	size_t line_text;   /* of the unfinished line: what the terminal has let go */
	bool held_return;   /* the last byte was a CR: what follows decides */
	bool verbatim;      /* what comes is text as it is: not rendered */

	uint64_t raw_bytes, text_bytes;
	struct tally tally; /* of the text, for an agent: while it fits, in mode head always */
	struct head head;   /* what an agent gets in mode head, whether the command fails or not */
	bool has_full;      /* it gets more of one that succeeds: */
	struct head full;   /* this goes on from where the text did not fit any more ... */
	struct buffer more; /* ... and is what is printed then ... */
	size_t more_len;    /* ... but for that much, which the head has, too */
	struct buffer rest; /* of the head, held back because a success is shown otherwise */
	size_t most;        /* a text up to this many bytes is printed whole */
	struct buffer held; /* the text so far, while it is within the limit */
	size_t counted;     /* bytes of it, up to the end of a character ... */
	size_t clean_len;   /* ... and how many they are when they are printed clean */
	bool fits;
	struct buffer line;      /* what terse itself says; its memory is there from the start */
	struct buffer collected; /* what is printed, where the form is not INTERCEPT_LIVE ... */
	bool lost;               /* ... and there was no memory for all of it */
	enum limit_part broken;  /* what of the limit was over first, or keeps it from more */
	struct line_gap cut;     /* the first part of a line that was left out */

	/* The live reader: bytes and lines of the text that are printed. */
	size_t printed, printed_lines;
	size_t shown; /* bytes printed for them, after cleaning */
	bool head_closed;
	bool resolved;
	struct kind kind; /* of binary output */
	bool ended_line;  /* the last byte printed was a newline */
	bool finished;    /* nothing is left in the terminal */
	bool reported;

	uint64_t live_version; /* of the terminal, when the artifact's end was written */
	bool spill_failed;
	bool forgotten; /* what was held is gone, so it is too late to spill */
};

/* The terminal's event: final text. `ctx` is the interceptor. */
void intercept_text(void *ctx, const char *data, size_t len);

/* Hands bytes to the reader. */
void intercept_print(struct interceptor *s, const char *data, size_t len);

/* Prints text for a reader that is no terminal and no program: only clean characters. Returns the
   bytes printed. */
size_t intercept_print_clean(struct interceptor *s, const char *data, size_t len);

/* It begins to matter who reads: asks once. When it is a program after all, it gets everything. */
void intercept_resolve(struct interceptor *s);

/* Whether the text is shown by its first part if it does not fit. */
bool intercept_is_by_head(const struct interceptor *s);

/* Whether all of the text goes through the tally. */
bool intercept_is_counted(const struct interceptor *s);

/* Whether what is printed is kept for a report. */
bool intercept_is_collected(const struct interceptor *s);

/* Empties s->line for something that terse itself has to say. */
struct buffer *intercept_line(struct interceptor *s);

/* Prints it, if it could be put together (0; -1: it could not). */
void intercept_print_line(struct interceptor *s, int made);

/* Whether the text so far is over the limit; `end`: nothing more comes. */
bool intercept_is_over(struct interceptor *s, bool end);

/* The text is longer than what is printed whole: it goes to disk, and of what the reader gets only
   the head is settled. */
void intercept_overflow(struct interceptor *s);

/* What the terminal still holds of a command whose background children live on: the reader gets it
   as it is now, the artifact goes on with what becomes of it. */
void intercept_take_pending(struct interceptor *s);

/* Nothing that redraws came: the last plain bytes go to the reader. */
void intercept_finish_plain(struct interceptor *s);

/* Prints the rest of a text that does not fit: the preview's pieces behind what was printed live,
   or the end of its first part, each with its notices unless the form is INTERCEPT_BARE. What is
   printed is told in `report`, where there is one. Returns 0, or -1 with ENOMEM. */
int intercept_print_preview(struct interceptor *s, const struct interceptor_ending *e,
			    struct report_stream *report);
int intercept_print_end_of_head(struct interceptor *s, const struct interceptor_ending *e,
				struct report_stream *report);

/* Enough is there to tell text from binary, or nothing more comes for now; `end`: at all. */
void intercept_judge(struct interceptor *s, bool end);

#endif
