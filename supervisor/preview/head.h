// The first part of a text by whole lines, which mode head prints as it comes, and how much text
// there is. Matches of a search stand below the names of their files in it, as rg --heading prints
// them:
//
//   src/a.c:12:int x;          src/a.c
//   src/a.c:40:int y;          12:int x;
//   src/b.c:7:int z;           40:int y;
//
//                              src/b.c
//                              7:int z;
//
// The names are about a third of what grep -rn prints. Nothing is lost: a name, a colon and a line
// below it are a line of the text.
#ifndef TERSE_PREVIEW_HEAD_H
#define TERSE_PREVIEW_HEAD_H

#include "config/limit.h"
#include "lib/buffer.h"
#include "lib/quote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The form of a search's matches. */
enum grouping_form {
	GROUPING_NONE,
	GROUPING_OPEN, /* not known before the text does not fit: until then nothing is printed */
	GROUPING_NUMBERED, /* NAME:12:TEXT */
	GROUPING_PLAIN,    /* NAME:TEXT */
};

/* The form of a text, by its complete lines. GROUPING_NONE: it is no list of matches in several
   files, or grouping them would save less than an eighth. */
enum grouping_form grouping_find_form(const char *text, size_t len);

/* The length of the file's name in front of a match (without its newline); 0: there is none. */
size_t grouping_name(enum grouping_form form, const char *line, size_t len);

/* How much text there is, in lines and in the unit that its limit counts
   (config/limit.h), while it passes by in pieces. */

/* Kept bytes of an unfinished line: enough to see whether it counts. */
#define TALLY_FRONT 16

struct tally {
	enum unit unit;
	uint64_t bytes, lines, units; /* an unfinished last line is in none of the last two ... */
	uint64_t length;              /* ... but its bytes so far are here */
	char front[TALLY_FRONT];      /* its first bytes; the last of them is the line's last */
};

/* The next bytes of the text. `t` is all zeroes at first except `unit`. */
void tally_feed(struct tally *t, const char *data, size_t len);

/* Passes over bytes that are not there, with so many newlines. */
void tally_skip(struct tally *t, uint64_t bytes, uint64_t newlines);

/* Lines and units so far, the unfinished line included. */
uint64_t tally_lines(const struct tally *t);
uint64_t tally_units(const struct tally *t);

/* The first part of a text that is too long, by whole lines: what mode head prints, as it comes.
   Nothing that was handed out is ever taken back.

   Lines over limit.max_line are cut, with a mark in place unless it is to be `bare`. It ends where
   the next line would break a limit. From the first line on that more can be shown of, as with
   limit.grow or where it is a large part of the room, lines are held until the outcome is known,
   and with it the limit: then the long ones are shown as far as there is room for each of them. */

enum head_end {
	HEAD_OPEN,
	HEAD_COUNT, /* limit.count was reached */
	HEAD_BYTES, /* the next line is too much for limit.bytes */
};

/* How far a head has come. */
struct head_place {
	uint64_t offset;       /* of the next line in the text; set by the owner */
	size_t bytes;          /* handed out, as they are printed */
	uint64_t lines, units; /* handed out */
};

/* A line that is held, as far as it may be shown. */
struct head_line {
	size_t start, len;       /* in the bytes that are kept; of `length` */
	size_t skip;             /* bytes in front of it: the name of its group */
	uint64_t offset, length; /* in the text, behind the name */
	bool begins;             /* it is the first of a group */
	bool counts;             /* in the unit of the limit */
	bool ended;
};

struct head {
	/* These are set by the owner; the rest is zero at first. */
	struct limit limit;       /* while the outcome is open ... */
	struct limit outcomes[3]; /* ... and those that it may have, each at least as large */
	size_t outcome_count;
	bool bare;               /* as in preview_options */
	bool cut_off;            /* no line that begins now is a next one */
	enum guard_mode guard;   /* in which a line is printed */
	enum grouping_form form; /* of matches, which are handed out in groups */
	struct head_place at;
	enum head_end end; /* once it is finished ... */
	uint64_t cut;      /* how many lines are cut */
	bool last_cut;     /* the last of them is */

	struct buffer name;     /* of the group */
	struct buffer line;     /* the unfinished line, as far as it could be shown */
	uint64_t length;        /* of all of it */
	struct head_line *held; /* their bytes are in `kept` */
	size_t count, cap;
	size_t bytes; /* that they are printed in, about the least */
	struct buffer kept;
	size_t trim_at;
	bool more; /* lines follow that nothing is known of: there is room for none */
};

/* Whether a whole line (with its newline) can be handed out before it is known whether the text
   fits; it is counted then. */
bool head_take(struct head *h, const char *line, size_t len);

/* Whether there is room for a line whole, however long it is; it is counted then. */
bool head_give(struct head *h, const char *line, size_t len);

/* The next bytes of a text that does not fit, behind what head_take() took. Appends what is to be
   printed already, clean. Without memory it ends early. */
void head_feed(struct head *h, const char *data, size_t len, struct buffer *out);

/* No more comes, and this is the limit: a last line without a newline is a line. `leaves_cut`: a
   last line that is cut is left out, since others show its end, too. */
void head_finish(struct head *h, const struct limit *limit, bool leaves_cut, struct buffer *out);

/* Whether long lines are shown further than what each gets in any case, where there is room. */
bool head_grows(const struct limit *limit);

/* Whether matches were handed out in groups. */
static inline bool head_is_grouped(const struct head *h)
{
	return h->form > GROUPING_OPEN && h->at.lines > 0;
}

void head_release(struct head *h);

#endif
