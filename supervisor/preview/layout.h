// Puts together the printed preview: lines are taken one by one for as long as
// the budget lasts, and the rest becomes gaps. Every marker is paid for, so the
// cost is exact at any time, but for the command in the first marker: its most is kept free.
//
// The lines that could be taken are added first, in order; a run of equal lines
// is one unit, printed as the line and a fold where that is shorter, and so is a
// run of lines that are alike where that is much shorter.
#ifndef TERSE_PREVIEW_LAYOUT_H
#define TERSE_PREVIEW_LAYOUT_H

#include "lib/buffer.h"
#include "lib/guard.h"
#include "supervisor/preview/line.h"
#include "supervisor/preview/preview.h"
#include "supervisor/preview/score.h"
#include "supervisor/preview/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit {
	struct line line;
	size_t range;      /* of the lines left out it is of this one, or behind all of them */
	uint64_t to;       /* the last of the equal lines, or of those that are alike */
	uint64_t length;   /* of all of them */
	size_t limit;      /* bytes to print of the line at most */
	size_t cost;       /* printed bytes */
	uint64_t lines;    /* printed lines */
	enum line_cut cut; /* where it is cut, if it is longer */
	bool chosen;
	bool squeezed; /* runs of one character are printed short */
	bool folded;
	bool alike;       /* not equal */
	unsigned above;   /* alike: like so many in front of the fold, this one included */
	struct line last; /* of lines that are alike */
	struct trait trait;
};

/* Lines of less value are no part of what explains the end of the run. */
enum { LAYOUT_TELLING = 40 };

struct layout {
	struct unit *units;
	size_t count, cap;
	size_t back; /* so many of them are lines that were left out of what is printed */
	/* Caches, so that no long way is searched twice. `before`: the unit in front of `from` is
	   the last chosen one before each of from..to (0: none). `behind`: `to` is the first chosen
	   one behind each of from..to-1 (count: none). */
	struct nearest_chosen {
		size_t from, to;
	} before, behind;
	/* What the gaps cost that were asked for last, between two units (NULL: the start or end of
	   the text): of the three that taking a unit asks for, two were asked for before. */
	struct known_gap {
		const struct unit *a, *b;
		size_t cost;
	} gaps[2];
	unsigned gap_next; /* the one that is replaced next */
	struct preview_piece *pieces;
	size_t piece_count, piece_cap;
	struct buffer text; /* of the pieces */

	/* Which lines that are not added are known to be the same as, or like those around them;
	   NULL: none. */
	const struct streaks *same, *similar;
	const struct preview_ask *ask;
	size_t budget, used;
	size_t gap_cost;           /* about what the marker of a gap costs */
	size_t spell_cost;         /* of the command in the first one, at most */
	uint64_t max_lines, lines; /* 0: no limit; printed so far */
	size_t max_line;
	size_t ceiling;   /* how long a chosen line may become where there is room */
	bool at_ceiling;  /* only that ceiling cuts the chosen lines */
	size_t end_share; /* bytes for the last lines in any case */
	bool brief;       /* the text tells little: what has room is not filled with it */
	bool asked_for;   /* no line tells less for being one of many of its form */
	uint64_t total_lines, total_bytes;
	bool bare;
	enum guard_mode mode; /* in which its lines will be printed */
	bool spelled;         /* a piece has the command already */
};

/* Empties it for a new choice. The memory is kept. */
void layout_begin(struct layout *l, const struct preview_options *options,
		  const struct preview_ask *ask, size_t end_share, uint64_t lines, uint64_t bytes);
void layout_release(struct layout *l);

/* Adds a line behind those already there; one that was printed live is ignored, and so is one that
   was left out and tells little.
   Its bytes must stay where they are until the pieces are made. 0, or -1 with
   ENOMEM. */
int layout_add(struct layout *l, const struct line *line, const struct trait *trait);

/* All lines are added. `join`: those that are alike become one unit where that saves much. */
void layout_price(struct layout *l, bool join);

/* fold.c: makes one unit of lines that are alike, where that saves much: of those that differ only
   in numbers and paths, and of those that repeat a few common forms. All units are priced. */
void layout_fold(struct layout *l);

/* Whether a line follows a unit, or those between are `known` to be of one kind. */
bool layout_goes_on(const struct streaks *known, const struct unit *u, uint64_t number);

/* Finds out what a unit costs when it is printed. */
void layout_price_unit(struct layout *l, struct unit *u);

/* Sets how many bytes of a unit's line are shown at most. */
void layout_limit(struct layout *l, size_t unit, size_t limit);

/* Whether all lines of the text fit; then they are taken. */
bool layout_take_all(struct layout *l);

/* Takes a unit if the budget allows. */
bool layout_take(struct layout *l, size_t unit);

/* The same with the line cut so that it fits, and to `limit` bytes at most. */
bool layout_take_cut(struct layout *l, size_t unit, size_t limit);

/* Takes the lines of each gap that cost no more than its marker. */
void layout_close_gaps(struct layout *l);

/* Gives what is left of the budget to the taken lines that are cut: to the shortest first. */
void layout_grow(struct layout *l);

/* names.c: takes what is between a line that says that something failed and the line near above
   that names the same. */
void layout_take_named(struct layout *l, size_t unit);

/* Makes the pieces. Their count, or -1 with ENOMEM. */
int layout_pieces(struct layout *l);

/* Which of the lines in a layout are taken. */

/* The bytes of the budget that the start of the text may take. */
size_t choose_head_share(const struct preview_options *options);

/* Those that the last lines have in any case; `brief` as in struct layout. */
size_t choose_end_share(const struct preview_options *options, int status, bool brief);

/* Takes lines of a layout whose lines do not all fit. */
void choose(struct layout *l, const struct preview_options *options);

#endif
