// Chooses which part of a text is printed when the whole does not fit.
//
// It is fed with the final text as it comes and keeps bounded candidates, so it has an answer at
// any moment without reading the text again. Deterministic (in the text, the status, the settings
// and the text of a success), and the same however the text was cut when it was fed; no I/O, no
// clock, no globals. Memory is a constant for given options: a few times the budget and about 1 MB
// more, of which only the needed part is touched.
//
// Lines are numbered from 1 as in the artifact. Text is cut only at characters;
// bytes of lines are as fed (the caller cleans them when it prints, which the
// budget allows for).
//
// Mode smart shows the start, the end, and from between the lines that show why a failed command
// failed, or what a successful one achieved:
//   - Each line is judged by its words in their places and by its form (score.c); each word and
//     form has a weight (weights.c).
//   - The best are kept with their neighbours (smart.c): every line of the first
//     megabytes is looked at, later ones where a fast search finds a fragment of
//     a telling word (keywords.c).
//   - At the end they are weighed (smart.c): further lines of many that tell the same count less,
//     and so do lines that a run which went well has said, too; lines near the end or beside a
//     telling line count more. The lines that tell most per byte are taken until the budget is used
//     up (layout.c).
// The other modes show the first and the last lines; when the command has failed, a part of the
// budget is for the lines between that tell of it. Mode head shows the first lines of a success,
// and keeps them (head.c) until its outcome is known.
#ifndef TERSE_PREVIEW_PREVIEW_H
#define TERSE_PREVIEW_PREVIEW_H

#include "config/limit.h"
#include "supervisor/preview/head.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct preview;
struct fingerprints;

struct preview_options {
	/* The most that is printed, markers included: the largest of the limit's bytes (>= 64), and
	   `count` units. A single marker for everything is printed even if it is longer. A choice
	   may ask for less: a success for which more is asked than the smallest prints what
	   somebody asked for. So does each success where `fold` is FOLD_COUNTERS: lines that differ
	   in more than a counter or a time are no less worth than others, and the room is
	   filled. */
	struct limit limit;
	bool bare; /* nothing but the text is printed: no marker or note counts */
};

enum preview_kind {
	PREVIEW_TEXT, /* lines from..to, as in `text` */
	PREVIEW_GAP,  /* lines from..to are left out: `bytes` of them */
	PREVIEW_FOLD, /* lines from..to repeat the line before */
	/* The text that follows begins with line `from`, which is not the next line: earlier text
	   has left out lines before it, or ended with them. */
	PREVIEW_JUMP,
	/* Lines from..to are left out: they differ from the line before only in numbers and paths.
	   `text` is the last of them, whole or cut, without its newline. */
	PREVIEW_ALIKE,
};

struct preview_piece {
	enum preview_kind kind;
	uint64_t from, to; /* 1-based, inclusive */
	uint64_t bytes;    /* of these lines in the text, newlines included */
	uint64_t threads;  /* PREVIEW_GAP: so many are named in them; 0: none, or not known */
	const char *text;  /* ends with a newline unless the run's last line did not */
	size_t len;
	uint64_t cut;  /* how many of the lines in `text` are not whole */
	bool cut_last; /* the last line is one of them */
	bool marked;   /* the first line begins with a mark of terse's own */
	bool back;     /* PREVIEW_JUMP: to lines that were left out */
	bool spelled;  /* the first omission: its marker spells out the command */
};

/* Lines from..to, 1-based and inclusive. */
struct preview_range {
	uint64_t from, to;
};

/* The caller's knowledge at the time of the choice. */
struct preview_ask {
	size_t budget;          /* 64 to the largest bytes of the limit; 0: that */
	uint64_t printed_bytes; /* the first bytes of the text are printed already ... */
	uint64_t printed_lines; /* ... which are this many whole lines, ... */
	/* ... but for these, in order, which were announced as left out ... */
	const struct preview_range *left_out;
	size_t left_out_count;
	bool spelled;        /* ... by a marker that spells out the command. */
	size_t used;         /* Bytes that were printed for that, ... */
	uint64_t used_lines; /* ... and units; they count in the budget. */
	/* Bytes and units that may be printed in all, instead of what the budget says; 0: that. */
	size_t total;
	uint64_t total_lines;
	uint64_t bytes_before; /* in front of the text, for the places of what is cut */
	bool is_pause;         /* more comes: only the last of the complete lines are wanted */
	bool is_head; /* mode head: only the first lines are wanted (at a pause, of those that are
			 whole), and no marker counts */
	int status;   /* 0 success, > 0 failure, -1 still running */
	/* Writes the marker for a gap or fold into `out` (cap bytes), newline included, and returns
	   its length. Used to count the marker in the budget; not called when only the text is
	   printed. The command makes a spelled marker longer, for smaller line numbers by the same
	   length or less. */
	size_t (*marker)(void *ctx, const struct preview_piece *piece, char *out, size_t cap);
	void *ctx;
	/* The command that prints bytes of the text, without the range at its end. It is printed
	   where the first omission is a part of a line. NULL: there is none. */
	const char *command;
};

/* NULL with errno ENOMEM or EINVAL. */
struct preview *preview_new(const struct preview_options *options);
void preview_free(struct preview *p);

/* The next bytes of the final text; may be cut anywhere. */
void preview_feed(struct preview *p, const char *data, size_t len);

/* For mode head: preview_begin_head() says that the text does not fit and how much of it is
   printed; from then on preview_feed_head() gets the text behind that, beside preview_feed(). */
void preview_begin_head(struct preview *p, const struct head_place *printed);
void preview_feed_head(struct preview *p, const char *data, size_t len);

/* Passes over missing bytes of the text, which had this many newlines; a line begins behind them.
   The text before must end with a newline. */
void preview_skip(struct preview *p, uint64_t bytes, uint64_t newlines);

/* Totals so far. A last line without newline counts as a line. */
uint64_t preview_lines(const struct preview *p);
uint64_t preview_bytes(const struct preview *p);

/* What may be printed live before the end is known: whole lines up to this many bytes and units,
   each of max_line bytes at most. They will always be part of the choice. */
struct limit preview_live_limit(const struct preview *p);

/* The complete lines so far, and their bytes. */
uint64_t preview_whole_lines(const struct preview *p, uint64_t *bytes);

/* Chooses. The pieces cover every line after the printed ones exactly once and in order; in front
   of these are the most telling lines of those that were left out. Text and markers together with
   what was printed are at most the budget. A line that does not fit whole is cut: the piece's
   `text` then holds "[... bytes FROM-TO]" in its place, or, bare, the one part of it that tells
   most (the last line's end, the others' start). *pieces and the texts belong to `p` and are valid
   until its next call. Returns the count. Without memory to choose with, the pieces are one gap. */
int preview_choose(struct preview *p, const struct preview_ask *ask,
		   const struct preview_piece **pieces);

/* Compares the text, which has to be complete, with the lines of a run of the same command that
   went well: lines that only this text has weigh more in the choice. Does nothing without
   memory. */
void preview_compare(struct preview *p, const struct fingerprints *success);

/* About the last choice: how many lines are printed, in the unit of the limit, and whether lines
   were cut because of max_line alone, although there was room. */
uint64_t preview_shown(const struct preview *p);
bool preview_is_line_limited(const struct preview *p);

/* Tells lines that report a failure from others, judging each by itself. */
struct preview_judge;

/* NULL without memory. To be freed with free(). */
struct preview_judge *preview_judge_new(void);

/* Whether a line, without its newline, is one. */
bool preview_judge_is_failure(const struct preview_judge *j, const char *data, size_t len);

/* Whether a line, with its newline, says that something went well or goes on. */
bool preview_judge_is_progress(const struct preview_judge *j, const char *data, size_t len);

#endif
