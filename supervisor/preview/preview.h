// Chooses which parts of a text are printed if the whole text does not fit.
//
// It is fed the final text piece by piece, and keeps a bounded number of candidates. So it can
// choose at any moment, and never reads the text again. The choice depends on the text, the status,
// the settings and the text of a successful run, not on the pieces in which the text was fed.
// Memory is constant for given options: a few times the budget, and about 1 MB, of which only the
// needed part is touched.
//
// Lines are numbered from 1 as in the artifact. Text is cut only between characters. It is returned
// as it was fed; the caller cleans it when it prints, and the budget counts the cleaned bytes.
//
// Mode smart shows the start, the end, and lines between them that tell why a command has failed,
// or what a successful one has achieved:
//   - Each line is judged by its form and its words (score.c). Each form and word has a weight
//     (weights.c).
//   - The best lines are kept with their neighbours (smart.c). Every line of the first megabytes is
//     judged; later only lines in which a fast search finds a fragment of a relevant word
//     (keywords.c).
//   - At the end each line gets a value (smart.c): a lower one if many lines, or a successful run,
//     say the same; a higher one near the end or beside a relevant line. The lines that are most
//     relevant per byte are taken until the budget is used up (layout.c).
// The other modes show the first and the last lines. If the command has failed, a part of the
// budget is for relevant lines between them. Mode head shows only the first lines of a success; it
// keeps them (head.c) until the outcome is known.
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
	/* The most that is printed, markers included: the largest of the limit's sizes (at least 64
	   bytes), and `count` units. A single marker for the whole text may be longer. The text of
	   a success counts as asked for if its budget is above that of a failure, or `fold` is
	   FOLD_COUNTERS. Then lines count as alike only if they differ in no more than a counter
	   or a time, and spare room is filled with lines. */
	struct limit limit;
	bool bare; /* only text is printed: markers and notes cost nothing */
};

enum preview_kind {
	PREVIEW_TEXT, /* lines from..to, as in `text` */
	PREVIEW_GAP,  /* lines from..to, of `bytes` bytes, are left out */
	PREVIEW_FOLD, /* lines from..to repeat the line before */
	/* The next text begins with line `from`, which does not follow the line before. The lines
	   between were announced as left out, or printed, before. */
	PREVIEW_JUMP,
	/* Lines from..to are left out: they differ from the line before only in numbers and paths.
	   `text` is the last of them, whole or cut, without its newline. */
	PREVIEW_ALIKE,
};

struct preview_piece {
	enum preview_kind kind;
	uint64_t from, to; /* 1-based, inclusive */
	uint64_t bytes;    /* of lines from..to, newlines included */
	uint64_t threads;  /* PREVIEW_GAP: how many threads these lines name; 0: none, or not
			      known */
	const char *text;  /* ends with a newline unless the run's last line did not */
	size_t len;
	uint64_t cut;  /* how many of the lines in `text` are not whole */
	bool cut_last; /* the last line is not whole */
	bool marked;   /* the first line begins with a note */
	bool back;     /* PREVIEW_JUMP: back to lines that were left out */
	bool spelled;  /* its marker spells out the command, being the first */
};

/* Lines from..to, 1-based and inclusive. */
struct preview_range {
	uint64_t from, to;
};

/* The request for a choice: the text's state as the caller knows it. */
struct preview_ask {
	size_t budget;          /* from 64 to the largest size of the limit; 0: that size */
	uint64_t printed_bytes; /* how many bytes at the start of the text are printed or announced
				   already */
	uint64_t printed_lines; /* how many whole lines these are */
	/* Those of these lines that were announced as left out, in order. */
	const struct preview_range *left_out;
	size_t left_out_count;
	bool spelled;        /* a marker has spelled out the command */
	size_t used;         /* bytes that were printed so far */
	uint64_t used_lines; /* units that were printed so far; both count in the budget */
	/* If not 0: how many bytes and units may be printed in total, in place of the budget. */
	size_t total;
	uint64_t total_lines;
	uint64_t bytes_before; /* notes on cut bytes add this to offsets */
	bool is_pause;         /* more text will come: only the last complete lines are wanted */
	bool is_head; /* mode head: only the first lines are wanted (at a pause, complete ones), and
			 markers cost nothing */
	int status;   /* 0 success, > 0 failure, -1 still running */
	/* Writes the marker for a piece to `out` (cap bytes), newline included, and returns its
	   length, which counts in the budget. Not called if `bare`. In a spelled marker, the
	   command must not be longer for smaller line numbers. */
	size_t (*marker)(void *ctx, const struct preview_piece *piece, char *out, size_t cap);
	void *ctx;
	/* The command that prints bytes of the text, without the range at its end, for a note that
	   is the first omission. NULL: none is printed. */
	const char *command;
};

/* NULL with errno ENOMEM or EINVAL. */
struct preview *preview_new(const struct preview_options *options);
void preview_free(struct preview *p);

/* The next bytes of the final text; a piece may end anywhere. */
void preview_feed(struct preview *p, const char *data, size_t len);

/* For mode head. preview_begin_head() says that the text does not fit, and how much of it is
   printed. The text after that is then fed to preview_feed_head() as well as to preview_feed(). */
void preview_begin_head(struct preview *p, const struct head_place *printed);
void preview_feed_head(struct preview *p, const char *data, size_t len);

/* Skips missing bytes of the text, which had this many newlines. Both these bytes and the text
   before them have to end with a newline. */
void preview_skip(struct preview *p, uint64_t bytes, uint64_t newlines);

struct preview_facts {
	uint64_t lines, bytes;             /* so far, an unfinished line included */
	uint64_t whole_lines, whole_bytes; /* complete lines, and their bytes */
	/* About the last choice: how many units of the limit are printed; whether lines were cut by
	   max_line although there was room. */
	uint64_t shown;
	bool is_line_limited;
};

struct preview_facts preview_facts(const struct preview *p);

/* How much of the start may be printed before the outcome is known: whole lines, up to this many
   bytes and units, each of max_line bytes at most. These lines are shown whatever the outcome
   is. */
struct limit preview_live_limit(const struct preview *p);

/* Chooses. The pieces cover each line after the printed ones exactly once, in order. Before them
   may come relevant lines that were left out earlier. The printed text and the pieces with their
   markers together fit into the budget. In a line that does not fit whole, a note "[... bytes
   FROM-TO]" stands for the cut bytes; if bare, only one part of the line is shown: the end of the
   last line, the start of others. Returns the number of pieces. They belong to `p`, and are valid
   until its next call. If there is no memory, the only piece is a gap. */
int preview_choose(struct preview *p, const struct preview_ask *ask,
		   const struct preview_piece **pieces);

/* Call it when the text is complete: compares it with the lines of a successful run of the same
   command. Lines that only this text has count more in the choice. Does nothing if memory runs
   out. */
void preview_compare(struct preview *p, const struct fingerprints *success);

/* Judges single lines. */
struct preview_judge;

/* NULL with ENOMEM. The caller frees it with free(). */
struct preview_judge *preview_judge_new(void);

/* Whether a line, without its newline, reports a failure. */
bool preview_judge_is_failure(const struct preview_judge *j, const char *data, size_t len);

/* Whether a line, with its newline, reports success or progress. */
bool preview_judge_is_progress(const struct preview_judge *j, const char *data, size_t len);

#endif
