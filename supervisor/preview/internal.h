// Shared by the files of this room. Nobody outside of it includes this.
//
//   line.c      one line as it is printed, cut or whole
//   weights.c   the weights of words and forms; generated
//   keywords.c  finds words of the table, and the phrases of settings
//   score.c     how much one line says about the outcome: by its form and its words
//   run.c       runs of lines that are equal or alike
//   smart.c     the best candidates so far, and their values compared with each other
//   layout.c    which of them are shown: lines and gaps in order, within the budget
//   head.c      the first lines
//
// A relevant line is one that says why a run ended as it did. Its value says how relevant it is
// beside the other lines.
#ifndef TERSE_PREVIEW_INTERNAL_H
#define TERSE_PREVIEW_INTERNAL_H

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/fingerprint.h"
#include "lib/quote.h"
#include "supervisor/preview/head.h"
#include "supervisor/preview/preview.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Classes of characters, independent of the locale. */

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static inline bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Whether a string has the character `c`. All callers pass a constant string, so the loop compiles
   to a single bit test once it is unrolled. Only gcc has to be told to unroll it. */
static inline __attribute__((always_inline)) bool is_one_of(char c, const char *set)
{
	bool found = false;
	size_t count = strlen(set);

#ifndef __clang__
	UNROLL
#endif
	for (size_t i = 0; i < count; i++)
		found |= c == set[i];
	return found;
}

static inline size_t skip_digits(const char *text, size_t len, size_t at)
{
	while (at < len && is_digit(text[at]))
		at++;
	return at;
}

static inline size_t skip_blanks(const char *text, size_t len, size_t at)
{
	while (at < len && is_blank(text[at]))
		at++;
	return at;
}

/* Whether a list has a word. The list begins and ends with a blank, and blanks separate its
   words. */
static inline bool word_is_of(const char *list, const char *word, size_t len)
{
	for (const char *at = list + 1, *end; *at; at = end + 1) {
		end = strchr(at, ' ');
		if ((size_t)(end - at) == len && memcmp(at, word, len) == 0)
			return true;
	}
	return false;
}

static inline bool starts_with(const char *text, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && memcmp(text, prefix, n) == 0;
}

static inline bool ends_with(const char *text, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && memcmp(text + len - n, suffix, n) == 0;
}

/* line.c: a line of the text, whose bytes may not all be in memory. It is printed whole, or cut
   with a note on the omitted bytes. */

struct line {
	uint64_t number; /* 1-based */
	uint64_t offset; /* of its first byte in the text */
	uint64_t length; /* its newline included, if it has one */
	bool ended;      /* it has a newline */
	/* `front` has the line's first bytes. If it lacks some, `back` has later ones, without the
	   newline: the last bytes, or, if `after` is not 0, the most relevant part, which `after`
	   bytes follow. `back` is empty if these bytes are no longer in memory. If `front` has the
	   whole line, `back_len` and `after` only locate the most relevant part in it. */
	const char *front, *back;
	size_t front_len, back_len, after;
};

/* How to print a line that is longer than `limit` bytes, including its newline. */
struct line_form {
	size_t limit;
	bool last;       /* if it is cut, its end is shown rather than its start */
	bool first;      /* if it is cut, only its start is shown */
	bool bare;       /* if it is cut, only one part is shown, without a note */
	uint64_t before; /* notes add this to offsets: bytes of text before offset 0 */
	/* The command that the first note spells out, without the range at its end; not counted in
	   `limit`. Or NULL. */
	const char *command;
};

enum {
	/* A line is not cut if a note would replace fewer bytes. */
	LINE_SLACK = 40,
	/* Bytes that are added to a line's cost when lines are compared. After a failure, a gap
	   beside a taken line is closed if it has at most this many bytes. */
	LINE_COST = 120,
	/* Bytes of the longest note on omitted bytes. */
	NOTE_MAX = 64,
};

/* Whether `front` has all bytes of the line. */
bool line_is_whole(const struct line *l);

/* Writes to `out` what is printed of the line: no more than its bytes in memory, two notes and the
   command. A note "[... bytes 496-4936]", which names the first and last omitted byte of the text,
   replaces what is cut; if bare, nothing does. Cuts are between characters. Returns the length; 0
   if there is too little room for even a few bytes of the line. */
size_t line_write(const struct line *l, const struct line_form *form, char *out);

/* weights.c: how strongly each word and form of a line points to a failure, fitted on labelled
   logs. The words are common ones, not those of a single tool. A line's weight is the sum of
   these. */

enum word_kind {
	WORD_FAIL = 1, /* something went wrong */
	WORD_WARN,
	WORD_PASS,
	WORD_RESULT, /* something was made */
	WORD_DONE,   /* a state, or something done; a line that ends with such a word says nothing
			more */
	WORD_SKIP,   /* neither passed nor failed */
	WORD_STATUS, /* a number that follows is an exit status */
	WORD_EXPECTED,
	WORD_UNIT, /* a unit of time */
	WORD_OTHER,
};

/* Words of one kind and weight. */
struct word {
	unsigned char kind;
	signed char weight;
	bool counted;      /* a summary may count it: "3 failed" */
	const char *words; /* lower case, separated by blanks; "not_found" is "found" after "not";
			      NULL ends the table */
};

extern const struct word word_weights[];

/* How messages of one kind and weight may begin. */
struct opening {
	unsigned char kind; /* enum score_kind */
	signed char weight;
	const char *prefixes; /* separated by bars; NULL ends the table */
};

extern const struct opening opening_weights[];

/* The forms of a line; each counts once. */
enum form {
	FORM_RULED,           /* === heading === */
	FORM_UNDERSCORED,     /* ___ heading ___ */
	FORM_BRACKETED,       /* 12) heading */
	FORM_NUMBERED,        /* 12. heading */
	FORM_PLACE,           /* file.c:12: */
	FORM_DIAGNOSTIC,      /* file.c:12: message */
	FORM_PLACED,          /* file.c:12 message */
	FORM_FRAME,           /* file.rb:12:in `load' */
	FORM_EXCEPTION,       /* ValueError */
	FORM_EXCEPTION_COLON, /* ValueError: message */
	FORM_COLON,           /* a word of failure, followed by a colon */
	FORM_UPPER,           /* a word of failure in capitals */
	FORM_FIRST,           /* a word of failure that comes first */
	FORM_COUNT,           /* 12 passed */
	FORM_FAILURES,        /* 3 failed */
	FORM_NO_FAILURES,     /* 0 failed */
	FORM_STATUS,          /* exit code 1 */
	FORM_BLOCKED,         /* goroutine 7 [sync.Mutex.Lock]: */
	FORM_OPENS,           /* ends with a colon */
	FORMS,
};

extern const signed char form_weights[FORMS];

/* keywords.c: finds words of the table, and lines that may have one. */

enum { KEYWORDS_SLOTS = 1024 };

/* Words by their hashes. Two words with the same hash count as one. */
struct keywords {
	struct keyword {
		uint32_t hash;          /* 0: the slot is free */
		const struct word *row; /* NULL: only the first word of a pair ("not" of
					   "not_found") */
		bool is_first;          /* the word is also the first of a pair */
	} slots[KEYWORDS_SLOTS];
};

/* The slot where a lower-case word with this hash is, or would be put. */
static inline const struct keyword *keywords_find(const struct keywords *k, uint32_t hash)
{
	unsigned slot = hash % KEYWORDS_SLOTS;
	while (k->slots[slot].hash && k->slots[slot].hash != hash)
		slot = (slot + 1) % KEYWORDS_SLOTS;
	return &k->slots[slot];
}

enum score_kind {
	SCORE_PLAIN,
	SCORE_BLANK,
	SCORE_RULE,    /* a separator: ----, ====, #### */
	SCORE_FAIL,    /* says that something failed */
	SCORE_HEADING, /* names the subject of the lines below: "1) name", "___ name ___" */
	SCORE_DETAIL,  /* detail of a failure: expected and actual values, a marked source line, a
			  diff */
	SCORE_FRAME,   /* a frame of a stack */
	SCORE_PLACE,   /* only names a place in a file: "a.c:1:2:" */
	SCORE_QUOTE,   /* a source line with its number, whose words are not the run's own */
	SCORE_SUMMARY, /* counts results */
	SCORE_WARNING,
	SCORE_PASS, /* says that something went well, or was skipped */
};

struct score {
	uint8_t kind;   /* enum score_kind */
	uint8_t score;  /* 0 to 100: how much it says about a failure */
	uint8_t result; /* 0 to 100: how much it says about a success */
	uint8_t indent; /* columns before the first visible character, 255 at most */
	bool ends;      /* names the status with which something ended */
	bool thread;    /* names a thread, whose stack follows */
	bool opens;     /* says that what follows belongs to it */
	bool tells;     /* is not a line of progress, of which there may be many */
	bool field;     /* is a name of letters, a colon and a value */
	bool names;     /* its words of failure are inside that name, not at the end of the name */
	bool alarms;    /* has a word of failure, in whatever sense, or is a frame of a stack */
	uint32_t focus; /* offset of the most relevant part of a very long line; 0: show its ends */
	uint32_t shape; /* equal for lines that differ only in numbers, paths and hashes */
	uint32_t family; /* equal for lines that begin alike and have the same strongest word */
};

/* Facts about a line; zero if nothing is known. */
struct trait {
	struct score score;
	unsigned value;   /* how relevant it is, compared with the others: smart_weigh() */
	uint32_t threads; /* how many threads were named up to this line, plus 1; 0: not known */
	uint64_t owner;   /* number of the line without which this one makes no sense; 0: none */
	uint64_t frame;   /* number of the stack frame that it is, or whose source it shows; 0:
			     none */
	bool foreign;     /* that frame is not in the user's own code */
	bool common;      /* its family has many lines of progress */
};

/* Adjusts a line's score for the phrases of settings, which mark lines as relevant or as
   unimportant, and for the question ([preview] about). */
void phrases_apply(const struct limit *limit, const struct line *line, struct score *score);

/* score.c: judges one message by its form (how it begins, what it consists of) and its words. */

enum {
	SCORE_RELEVANT = 20, /* a line with this score or more may tell why a run ended as it did */
	SCORE_FAILURES = 46, /* a line that counts failures has at least this score */
	/* The `result` of a line with counts; of one with a word of success; of one with a warning,
	   or a word for what was made. */
	RESULT_COUNTS = 45,
	RESULT_PASS = 32,
	RESULT_MADE = 16,
};

struct preview_judge {
	struct keywords keywords;
	bool openings[UINT8_MAX + 1]; /* for each byte, whether an opening begins with it */
	/* Fragments of words that report failures, for a search at the speed of memory. */
	struct literals prefilter;
	struct limit limit; /* for its texts */
	bool has_phrases;   /* the limit has phrases or a question */
};

/* keywords.c. The limit's texts have to outlive the judge. */
void judge_init(struct preview_judge *j, const struct limit *limit);

/* Judges a line. Looks only at the start and the end of a very long one, and at a few places
   between. */
void score_judge(const struct preview_judge *j, const struct line *line, struct score *out);

/* Whether a judged line reports success, or how far the command is. False for a line that is not
   whole, or that denies its success. */
bool score_is_progress(const struct line *line, const struct score *score);

#define SHAPE_SEED 2166136261u

/* FNV-1a: adds a value to `hash`, which is SHAPE_SEED at first. */
static inline uint32_t shape_mix(uint32_t hash, uint32_t value)
{
	return (hash ^ value) * 16777619u;
}

/* run.c: successive lines that are handled as one, since they are equal or alike. */

enum run_kind {
	RUN_EQUAL,  /* all lines are equal; or there is one line */
	RUN_COUNTS, /* each differs from the one before only in a counter or times */
	RUN_ALIKE,  /* all have one shape */
	RUN_NONE,
};

/* The most bytes that are shown of the last of several lines that are alike. */
enum { ALIKE_LAST = 120 };

struct run {
	struct line line; /* the first line */
	struct line last; /* the last line; not set for RUN_EQUAL */
	uint64_t to;      /* the number of the last line */
	uint64_t length;  /* bytes of all lines */
	enum run_kind kind;
	uint32_t shape;
};

/* Makes a run of one line. */
struct run run_of(const struct line *line, uint32_t shape);

/* The shape that decides which lines are joined: lines of one shape that differ in score are not
   alike. */
static inline uint32_t run_shape(const struct score *score)
{
	return score->shape ? shape_mix(score->shape, score->score) : 0;
}

/* Whether a line equals the one before, or differs from it only in times and in one counter that
   went up. False for lines without words. Both lines have to be whole. */
bool run_counts_on(const struct line *before, const struct line *line);

/* `line` is a line of the run `of`, but not its last one: makes it the rest of that run. */
void run_cut(struct run *line, const struct run *of);

/* Joins the last of `count` runs with the one before it, or with several if that saves much of what
   is printed. The runs are at the start of array elements of `stride` bytes. `most`: the last kind
   of enum run_kind that the joined run may have. Returns how many elements at the end of the array
   are no longer used. */
size_t run_join(void *array, size_t count, size_t stride, enum run_kind most);

enum {
	LOOK_BACK = 4096,      /* the fewest bytes that the window has before the line that is
				  judged next */
	LONG_LINE = 32 * 1024, /* only the start and end of longer lines are in memory */
	STORE_LINES = 5120,
	STORE_BYTES = 288 * 1024,
	STORE_FRONT = 640, /* bytes of a long line's start that are stored */
	STORE_BACK = 256,  /* bytes of its end, or of its most relevant part */
	STORE_VALUES = 1024,
	STORE_UNIT = 6,    /* values are scores multiplied by this */
	FOUND_BEFORE = 60, /* bytes that are shown before what is found in a long line */
};

/* preview.c: the window has the end of the text, at least the last `keep` bytes, and totals of the
   whole text. How many earlier bytes it has depends on how the text was fed. */

struct window {
	char *tail;            /* the last bytes of the text */
	size_t len, cap, keep; /* `len` bytes; `cap` fit; `keep` are always there */
	uint64_t bytes, newlines;
	uint64_t last_start;     /* offset of what follows the last newline */
	uint64_t prev_start;     /* offset of the line before that */
	char front[STORE_FRONT]; /* start of what follows the last newline, if the tail no longer
				    has it */
};

/* The offset of the tail in the text. */
static inline uint64_t window_offset(const struct window *w)
{
	return w->bytes - w->len;
}

/* Counts how often each shape of line has occurred, in constant memory. A count is never too low,
   and too high only if shapes collide in both rows. */

enum { SKETCH_BITS = 14 };

struct sketch {
	uint16_t rows[2][1 << SKETCH_BITS];
};

/* sketch_add() adds 1 to the count of a shape. Both return its count, at most 65535. */
unsigned sketch_add(struct sketch *s, uint32_t shape);
unsigned sketch_count(const struct sketch *s, uint32_t shape);

/* smart.c: the store has the lines that may be worth showing, in constant memory. When it is full,
   the least relevant half of them is dropped. */

struct stored {
	struct run run;     /* its bytes are in the store's text */
	struct trait trait; /* of its first line; its value is below STORE_VALUES */
	bool normal;        /* a successful run has printed it too: smart_compare() */
};

struct store {
	struct stored lines[STORE_LINES]; /* by number */
	size_t count;
	char text[STORE_BYTES];
	size_t used;
};

/* Returns the smallest value v such that at most *count lines have the value v or more. Sets *count
   to the number of lines with value v - 1 that also fit. */
unsigned store_least(const struct store *s, size_t *count);

/* Finds the relevant lines of a text while it is fed, and compares how relevant they are.

   Every line of the first megabytes is judged. Later a line is judged only if a fast search finds a
   part of a relevant word in it, or near it. The result does not depend on the pieces in which the
   text was fed. */

enum {
	FOUND_BITS = 12,
	REGULAR_SHARE = 60, /* a text is regular if this percentage of its lines is of common
			       families */
	COMMON = 5, /* once a family or shape has this many lines, further ones count for little */
};

struct smart {
	struct window *window;
	struct preview_judge judge;
	struct sketch sketch;
	struct store store;
	uint64_t stored; /* number of the last stored line */
	unsigned follow; /* how many of the next lines are judged without a hit of the fast
			    search */
	/* How many lines were judged, not counting those that the fast search found, and how many
	   of them are of common families. */
	uint64_t judged, regular;
	uint32_t threads; /* how many threads were named, plus 1; 0: not known */
	/* How often the fast search has found a fragment with the same bytes around it; how often
	   it has found the fragment at all. */
	uint16_t found[1 << FOUND_BITS], found_words[1 << FOUND_BITS];
};

/* The limit's texts and the window have to outlive it. The caller frees it with free(); NULL with
   ENOMEM. */
struct smart *smart_new(struct window *window, const struct limit *limit);

/* Reads the lines from offset `from` up to the window's last newline. Counts them in the window,
   and stores those that may be relevant. */
void smart_read(struct smart *s, uint64_t from);

/* The outcome of the run, which decides how relevant a line is. */
enum outcome { OUTCOME_UNKNOWN, OUTCOME_SUCCESS, OUTCOME_FAILURE };

/* Compares the stored lines with those of a successful run of the same command. Lines that this run
   has printed too are normal; the others are more relevant. Returns 0, or -1 with ENOMEM. */
int smart_compare(struct smart *s, const struct fingerprints *success);

/* Fills in the traits of all stored lines; the text has `bytes` bytes. */
void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome);

/* Whether a line with this score is of a family with many lines of progress. */
bool smart_is_common(const struct smart *s, const struct score *score);

/* head.c: keeps the first lines of a text, as many as there may be room to print; in mode head,
   those after what was printed live. A long line is kept only up to the number of bytes that can be
   printed together with the other lines. */

struct head {
	struct limit limit;
	struct head_place at; /* the end of the lines that are kept */
	size_t level;         /* bytes of a line that are kept */
	struct line *lines;
	size_t count, cap;
	struct buffer text;
	bool is_inside; /* the last line has not ended */
	bool is_open;   /* further lines are taken */
};

/* The lines fed from now on come after the printed ones. Everything printed together stays within
   the largest size of the limit. */
void head_begin(struct head *h, const struct limit *limit, const struct head_place *printed);

void head_feed(struct head *h, const char *data, size_t len);

/* Returns how many lines can be used: the complete ones, or, if this is the `end` of the text, all.
   They are valid until more is fed. */
size_t head_settle(struct head *h, bool end);

void head_release(struct head *h);

/* layout.c makes the printed preview: it takes lines one by one until the budget is used up, and
   the rest becomes gaps. Markers count in the budget, so the cost is exact at any time. The only
   estimate is the command in the first marker: the longest one is assumed.

   First all lines that could be taken are added, in order. A run of lines that are equal or alike
   is one unit. It is printed as its first line and a fold, if that is shorter. */

struct entry {
	struct run run;
	size_t range; /* the index of the line's range in ask->left_out; left_out_count: it was not
			 left out */
	size_t limit; /* the most bytes that are printed of its first line */
	size_t cost;  /* printed bytes */
	bool chosen;
	bool folded;
	bool is_first; /* it is a line of the first part, in mode head */
	struct trait trait;
};

struct layout {
	struct entry *units;
	size_t count, cap;
	size_t back;   /* how many of the first units are lines that were left out before */
	size_t single; /* how many of the first units are not joined: those left out before, and
			  lines of the head */
	/* The last result of find_hole(): units from..to-1 are not chosen, those around them
	   are. */
	struct hole {
		size_t from, to;
	} hole;
	struct preview_piece *pieces;
	size_t piece_count, piece_cap;
	struct buffer text; /* the text of the pieces */

	const struct preview_ask *ask;
	size_t budget, used;
	size_t gap_cost; /* the approximate cost of a gap's marker */
	enum unit unit;
	uint64_t max_lines, lines; /* the most units (0: no limit), and the units that are printed
				      so far */
	size_t max_line;
	size_t ceiling;      /* the most bytes of a chosen line, if there is room */
	bool at_ceiling;     /* the ceiling cuts a chosen line */
	bool brief;          /* the text is mostly routine: spare room is not filled with lines */
	bool asked_for;      /* the text was asked for: lines of common families count as any
				others */
	enum run_kind joins; /* the last kind of runs that are joined to one unit */
	uint64_t total_lines, total_bytes;
	bool bare;
	enum guard_mode mode; /* with which the text will be printed */
	bool spelled;         /* a marker has spelled out the command */
};

/* Empties the layout for a new choice, but keeps its memory. */
void layout_begin(struct layout *l, const struct limit *limit, const struct preview_options *given,
		  const struct preview_ask *ask, uint64_t lines, uint64_t bytes);

/* Adds a run after the others. Ignores runs that are printed already, and runs that were left out
   and have little value. `is_first`: the line comes from the head. The line's bytes have to stay
   valid until the pieces are made. Returns 0, or -1 with ENOMEM. */
int layout_add(struct layout *l, const struct run *run, const struct trait *trait, bool is_first);

/* The share of a limit that the start of a text may take, whatever the outcome will be. */
struct limit layout_head_share(const struct limit *limit);

/* Call it when all lines are added: takes them all, or the most relevant ones, and makes the
   pieces. Returns the number of pieces, or -1 with ENOMEM. */
int layout_choose(struct layout *l, const struct limit *limit);

#endif
