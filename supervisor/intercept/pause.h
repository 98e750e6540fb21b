// When a reader who waits is given what is held back, and how much of it.
//
// A text for an agent is held back behind its head until it is known what is worth showing. At a
// pause the agent may wait for just these lines, so it gets them: all, while the text fits, and
// later the last lines from a share of their own.
//
// Arithmetic alone: no clock, no I/O, no text.
#ifndef TERSE_INTERCEPT_PAUSE_H
#define TERSE_INTERCEPT_PAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pause is so long without a new line, in ms. A line that is only redrawn is not new. */
#define PAUSE_MS 1500

/* Once lines are left out, the next pause comes so much later at least, then twice as much later,
   and so on: the share of the last lines lasts for hours. */
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

/* Bytes came, and so many lines are complete now. */
void pause_note(struct pause *p, uint64_t lines, int64_t now_ms);

/* When there is something to do; 0: not before more comes. */
int64_t pause_due(const struct pause *p);

/* Whether no new line, and whether no byte at all, has come for a pause's length. */
bool pause_is_quiet(const struct pause *p, int64_t now_ms);
bool pause_is_silent(const struct pause *p, int64_t now_ms);

/* Lines wait that may still change: they are looked at then. */
void pause_again(struct pause *p, int64_t at_ms);

/* Nothing of what came can be printed before more comes. */
void pause_pass(struct pause *p);

/* What is held back was printed; `omits`: lines of it were left out. */
void pause_printed(struct pause *p, int64_t now_ms, bool omits);

/* How much may be printed before the end, in bytes or in lines.

   What is printed in all stays within one and a half times the budget, and the preview at the end
   has half of the budget at least. A budget is no more than two thirds of the ceiling, so all stays
   within that, too. */
struct share {
	size_t budget;  /* see share_budget(); SIZE_MAX: no limit */
	size_t ceiling; /* for all that is printed; 0: none. Later it may be higher. */
	size_t least;   /* fewer would tell nothing */
	size_t printed; /* so far in all ... */
	size_t live;    /* ... of that at pauses ... */
	size_t tails;   /* ... and of that behind lines that were left out */
	size_t notices; /* bytes of other lines of terse's own, for the ceiling alone */
};

/* The budget at pauses of a text that would get `budget` at its end. */
size_t share_budget(size_t budget, size_t ceiling);

/* Up to this size a text is printed whole at a pause. */
size_t share_whole(const struct share *s);

/* How much the last lines may take now: half of what is left for them, or, if these are the last
   `words`, all. 0: nothing is left. */
size_t share_tail(const struct share *s, bool words);

/* How much may be printed in all when a preview of `budget` ends the text. */
size_t share_end(const struct share *s, size_t budget);

/* A line that says that the command runs was printed. */
void share_notice(struct share *s, size_t printed);

/* So much was printed at a pause. */
void share_take(struct share *s, size_t printed, bool omits);

#endif
