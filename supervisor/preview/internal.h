// Shared by the files of this room. Nobody outside of it includes this.
//
//   line.c      one line as it is printed, cut or whole
//   weights.c   what words and forms tell; generated
//   keywords.c  finds words; the user's own; where to look for them
//   score.c     how much one line says about the outcome: by its form and its words
//   run.c       runs of lines that are alike
//   smart.c     the best candidates so far, and how much each of them tells among the others
//   layout.c    what is shown of them: lines and gaps in order, each paid for, within the budget
//   head.c      the first lines
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

/* Whether `c` is one of the characters of a string. That is a constant everywhere: unrolled (which
   clang does by itself), the comparisons become a single test of bits. */
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

static inline size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
	return a > b ? a : b;
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

/* Whether a word is one of those in a list, each between blanks. */
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

/* line.c: one line of the text as far as its bytes are at hand, and how it looks when it is
   printed: whole, or cut with a note on the omitted bytes. */

struct line {
	uint64_t number; /* 1-based */
	uint64_t offset; /* of its first byte in the text */
	uint64_t length; /* its newline included, when it has one */
	bool ended;      /* it has one */
	/* `front`: the line's first bytes. If they are not the whole line, `back` holds later
	   bytes, without the newline: the last ones, or, if there are bytes `after` them, the most
	   telling ones; it is empty if these are gone, too. If the line is whole, only `back_len`
	   and `after` count, for the place that tells most. */
	const char *front, *back;
	size_t front_len, back_len, after;
};

/* How a line is printed that is longer than `limit` bytes, newline included. */
struct line_form {
	size_t limit;
	bool last;       /* its end tells most, else its start */
	bool first;      /* nothing but its start tells */
	bool bare;       /* nothing but that stays, without a note */
	uint64_t before; /* bytes of the text in front of offset 0, for the places in notes */
	/* The command in the first note, with the range behind it; it is not counted in the limit.
	   Or NULL. */
	const char *command;
};

/* A note that replaces less is not worth it. */
enum { LINE_SLACK = 40 };

/* Whether all bytes of the line are at hand. */
bool line_is_whole(const struct line *l);

/* Writes the line to `out` (NULL: only counts). "[... bytes 496-4936]" (the first and the last
   missing byte, counted in the text), or nothing, replaces the rest; cuts are between characters.
   Returns the length; 0 when not even a few bytes beside that fit. */
size_t line_write(const struct line *l, const struct line_form *form, char *out);

/* weights.c: what the words and the forms of a line tell of a failure, fitted on labelled logs.
   They are ordinary words of the trade, not of any one tool. A line has the sum of its weights. */

enum word_kind {
	WORD_FAIL = 1, /* something went wrong */
	WORD_WARN,
	WORD_PASS,
	WORD_RESULT, /* something was made */
	WORD_DONE,   /* so it was, or is so: at the end of a line, the line says nothing else */
	WORD_SKIP,   /* neither passed nor failed */
	WORD_STATUS, /* a number that follows is an exit status */
	WORD_EXPECTED,
	WORD_UNIT, /* of a time */
	WORD_OTHER,
};

/* Words of one kind and weight. */
struct word {
	unsigned char kind;
	signed char weight;
	bool counted;      /* "3 failed": may be counted by a summary */
	const char *words; /* lower case; "not_found" is "found" behind "not"; NULL: no more */
};

extern const struct word word_weights[];

/* How messages of one kind and weight may begin. */
struct opening {
	unsigned char kind; /* enum score_kind */
	signed char weight;
	const char *prefixes; /* a bar between them; NULL: no more */
};

extern const struct opening opening_weights[];

/* What else tells; each counts once in a line. */
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
	FORM_COLON,           /* a word of failure with a colon behind it, */
	FORM_UPPER,           /* in capitals, */
	FORM_FIRST,           /* or the first one */
	FORM_COUNT,           /* 12 passed */
	FORM_FAILURES,        /* 3 failed */
	FORM_NO_FAILURES,     /* 0 failed */
	FORM_STATUS,          /* exit code 1 */
	FORM_BLOCKED,         /* goroutine 7 [sync.Mutex.Lock]: */
	FORM_OPENS,           /* ends with a colon */
	FORMS,
};

extern const signed char form_weights[FORMS];

/* keywords.c: finds a word of the table, and lines in which one may be. */

enum { KEYWORDS_SLOTS = 1024 };

/* Words by their hashes: two that share one are taken for the same. */
struct keywords {
	struct keyword {
		uint32_t hash;          /* 0: the slot is free */
		const struct word *row; /* NULL: it is the first of two words alone */
		bool is_first;          /* of two words of a row */
	} slots[KEYWORDS_SLOTS];
};

/* Where a lower-case word is, or would be, by its hash. */
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
	SCORE_HEADING, /* names what the lines below are about: "1) name", "___ name ___" */
	SCORE_DETAIL,  /* of a failure: expected and actual, a marked source line, a diff */
	SCORE_FRAME,   /* of a stack */
	SCORE_PLACE,   /* only says where in a file what follows was found: "a.c:1:2:" */
	SCORE_QUOTE,   /* a source line with its number: its words are not of the run */
	SCORE_SUMMARY, /* counts results */
	SCORE_WARNING,
	SCORE_PASS, /* says that something went well, or was skipped */
};

struct score {
	uint8_t kind;    /* enum score_kind */
	uint8_t score;   /* 0 to 100: how much it says about a failure */
	uint8_t result;  /* 0 to 100: how much it says about a success */
	uint8_t indent;  /* columns before the first visible character, 255 at most */
	bool ends;       /* says with which status something ended */
	bool thread;     /* names a thread, whose stack follows */
	bool opens;      /* says that what follows belongs to it */
	bool tells;      /* is no line of progress, of which there may be many */
	bool field;      /* is a name of letters, a colon and a value, ... */
	bool names;      /* ... and the words of failure are in that name, not at its end */
	bool alarms;     /* has a word of failure, whatever it says, or is a frame of a stack */
	uint32_t focus;  /* where in a very long line it tells most; 0: at its ends */
	uint32_t shape;  /* the same for lines that differ only in numbers, paths, hashes */
	uint32_t family; /* the same for lines that begin alike and tell the same */
};

/* What is known of a line beside its bytes; zero where nothing is. */
struct trait {
	struct score score;
	unsigned value;   /* set by whoever weighs */
	uint32_t threads; /* named up to it, and it; 0: not known */
	uint64_t owner;   /* the line without which it tells nothing; 0: there is none */
	uint64_t frame;   /* the line of a stack that it is, or whose source it is; 0: there is
			     none */
	bool foreign;     /* that is not in the user's own code */
	bool common;      /* many lines of progress are of its family */
};

/* Corrects the score of a line by the user's texts for lines that tell much or nothing
   (config/value.h), and by the question. */
void phrases_apply(const struct limit *limit, const struct line *line, struct score *score);

/* score.c: the form of one message (how it begins, what it consists of), its words, and what both
   tell together. */

enum {
	SCORE_TELLING = 20,  /* from here on a line may tell why a run ended as it did */
	SCORE_FAILURES = 46, /* at least this: counts failures */
	/* How much a success tells: by its counts, by a word of success, by a warning or a word for
	   what was made. */
	RESULT_COUNTS = 45,
	RESULT_PASS = 32,
	RESULT_MADE = 16,
};

struct preview_judge {
	struct keywords keywords;
	bool openings[UINT8_MAX + 1]; /* the first bytes of those */
	/* Fragments of words that tell of failures, for a search at the speed of memory. */
	struct literals prefilter;
	struct limit limit; /* its texts */
};

/* keywords.c. The texts of the limit have to live as long. */
void judge_init(struct preview_judge *j, const struct limit *limit);

/* Judges a line. Of a very long one only the start and the end are looked at. */
void score_judge(const struct preview_judge *j, const struct line *line, struct score *out);

#define SHAPE_SEED 2166136261u

/* FNV-1a of one more value behind those of `hash`, which is SHAPE_SEED at first. */
static inline uint32_t shape_mix(uint32_t hash, uint32_t value)
{
	return (hash ^ value) * 16777619u;
}

/* run.c: successive lines that are one: equal ones, or the second to the last of some that are
 * alike. */

enum run_kind {
	RUN_EQUAL,  /* to the first, or that alone */
	RUN_COUNTS, /* each is the one in front of it but for a counter or a time */
	RUN_ALIKE,  /* of one shape */
	RUN_NONE,
};

/* How many bytes are shown of the last of several lines that are alike. */
enum { ALIKE_LAST = 120 };

struct run {
	struct line line; /* the first */
	struct line last; /* unless they are equal */
	uint64_t to;      /* the number of the last */
	uint64_t length;  /* of all of them */
	enum run_kind kind;
	uint32_t shape;
};

/* A line is also one run. */
struct run run_of(const struct line *line, uint32_t shape);

/* Lines that tell more than others of their shape are not like them. */
static inline uint32_t run_shape(const struct score *score)
{
	return score->shape ? shape_mix(score->shape, score->score) : 0;
}

/* Whether a line is the one in front of it but for one counter that went up, and for times; or the
   same. Lines without words do not count. Both have to be whole. */
bool run_counts_on(const struct line *before, const struct line *line);

/* A line of a run becomes the rest of that, which is more than the line. */
void run_cut(struct run *line, const struct run *of);

/* Joins the last of `count` runs in an array whose elements have `stride` bytes and begin with a
   run: with the one in front of it, or, where that saves much of what is printed, with several.
   Only runs that are `most` or less become one. Returns how many elements at the end of the array
   are no longer used. */
size_t run_join(void *array, size_t count, size_t stride, enum run_kind most);

enum {
	LOOK_BACK = 4096,      /* bytes of the window in front of what is judged next, at least */
	LONG_LINE = 32 * 1024, /* longer ones are known by their start and end only */
	STORE_LINES = 5120,
	STORE_BYTES = 288 * 1024,
	STORE_FRONT = 640, /* bytes kept of a long line's start ... */
	STORE_BACK = 256,  /* ... and of its end, or of where it tells most */
	STORE_VALUES = 1024,
	STORE_UNIT = 6,    /* of a value, for one of a score */
	FOUND_BEFORE = 60, /* bytes in front of what is found in a long line that are shown */
};

/* preview.c: the window: the last bytes of the text, and its totals. The last `keep` bytes of the
   window depend on the text only; the bytes in front of them do not. */

struct window {
	char *tail;            /* the last bytes of the text, ... */
	size_t len, cap, keep; /* ... at least `keep` of them */
	uint64_t bytes, newlines;
	uint64_t last_start;     /* where what follows the last newline starts */
	uint64_t prev_start;     /* where the line before that starts */
	char front[STORE_FRONT]; /* of what follows it, if the tail has not its start any more */
};

/* Where the tail begins in the text. */
static inline uint64_t window_offset(const struct window *w)
{
	return w->bytes - w->len;
}

/* How often each shape of line occurred, in constant memory: never too low, and
   too high only when shapes collide in both rows. */

enum { SKETCH_BITS = 14 };

struct sketch {
	uint16_t rows[2][1 << SKETCH_BITS];
};

/* Counts one more and returns the count so far, at most 65535. */
unsigned sketch_add(struct sketch *s, uint32_t shape);
unsigned sketch_count(const struct sketch *s, uint32_t shape);

/* smart.c: the lines that may be worth showing, with their texts, in constant memory. When it is
   full, the least telling ones are dropped. */

struct stored {
	struct run run;     /* its bytes stand in the text, one part behind the other */
	struct trait trait; /* of its first line; the value is below STORE_VALUES */
	bool normal;        /* a run that went well has said it, too: smart_compare() */
};

struct store {
	struct stored lines[STORE_LINES]; /* by number */
	size_t count;
	char text[STORE_BYTES];
	size_t used;
};

/* The least value v for which at most *count lines have v or more. Sets *count to how many lines of
   the next lower value would still fit. */
unsigned store_least(const struct store *s, size_t *count);

/* Finds the telling lines of a text while it is fed, and weighs them.

   Every line of the first megabytes is judged; later on only lines in which a
   fast search finds a telling word, and those around them. The result depends on
   the text only, not on where it was cut when it was fed. */

enum {
	FOUND_BITS = 12,
	REGULAR_SHARE = 60, /* percent of the lines of a regular text are of common families */
	COMMON = 5, /* lines of one family, or of one shape, of which further ones tell little */
};

struct smart {
	struct window *window;
	struct preview_judge judge;
	struct sketch sketch;
	struct store store;
	uint64_t stored; /* number of the line stored last */
	bool compared;   /* the stored lines, with a run that went well */
	unsigned follow; /* how many more lines are judged in any case */
	/* Lines that were judged in order, and those of them whose family is common. */
	uint64_t judged, regular;
	uint32_t threads; /* that were named, and 1; 0: not known */
	/* How often what the fast search finds stood in such surroundings. */
	uint16_t found[1 << FOUND_BITS], found_words[1 << FOUND_BITS];
};

/* The limit's texts and the window have to live as long. To be freed with free(); NULL with ENOMEM.
 */
struct smart *smart_new(struct window *window, const struct limit *limit);

/* Reads the lines from `from` up to the last newline of the window: counts them there, and stores
   those that may tell something. */
void smart_read(struct smart *s, uint64_t from);

/* The outcome for which the lines are weighed. */
enum outcome { OUTCOME_UNKNOWN, OUTCOME_SUCCESS, OUTCOME_FAILURE };

/* Compares the stored lines with those of a run of the same command that went well. Lines that such
   a run has said, too, are normal; the others tell more. Returns 0, or -1 with ENOMEM. */
int smart_compare(struct smart *s, const struct fingerprints *success);

/* Fills in, for all stored lines of a text of `bytes` bytes, what is known beside their scores. */
void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome);

/* Whether many lines of progress are of the family of a line with that score. */
bool smart_is_common(const struct smart *s, const struct score *score);

/* head.c: the first lines, in mode head those behind what is printed live, until there can be room
   for no more of them. Of long ones no more is kept than what there may be room for beside the
   others. */

struct head {
	struct limit limit;
	struct head_place at; /* behind the lines */
	size_t level;         /* bytes of a line that are kept */
	struct line *lines;
	size_t count, cap;
	struct buffer text;
	bool is_inside; /* the last line has not ended */
	bool is_open;   /* further ones are taken */
};

/* Lines follow those that are printed; limit->bytes is the most for all of them. */
void head_begin(struct head *h, const struct limit *limit, const struct head_place *printed);

void head_feed(struct head *h, const char *data, size_t len);

/* Those that are complete, or at the `end` all, can be used until more comes. Returns how many. */
size_t head_settle(struct head *h, bool end);

void head_release(struct head *h);

/* layout.c puts together the printed preview: lines are taken one by one for as long as the budget
   lasts, and the rest becomes gaps. Every marker is paid for, so the cost is exact at any time,
   except for the command in the first marker: room for the longest one is kept free.

   The lines that could be taken are added first, in order; a run of equal lines is one unit,
   printed as the line and a fold where that is shorter, and so is one of lines that are alike. */

struct entry {
	struct run run;
	size_t range; /* of the lines left out it is of this one, or behind all of them */
	size_t limit; /* bytes to print of its first line at most */
	size_t cost;  /* printed bytes */
	bool chosen;
	bool folded;
	bool is_first; /* of mode head */
	struct trait trait;
};

struct layout {
	struct entry *units;
	size_t count, cap;
	size_t back;   /* so many of them are lines that were left out of what is printed */
	size_t single; /* ... or are first lines: they are shown as they are */
	/* Units from..to-1, none of them chosen, between two chosen ones or the ends: those that
	   were looked at last, so that no long way is searched twice. */
	struct hole {
		size_t from, to;
	} hole;
	struct preview_piece *pieces;
	size_t piece_count, piece_cap;
	struct buffer text; /* of the pieces */

	const struct preview_ask *ask;
	size_t budget, used;
	size_t gap_cost;   /* about what the marker of a gap costs */
	size_t spell_cost; /* of the command in the first one, at most */
	enum unit unit;
	uint64_t max_lines, lines; /* in that; 0: no limit; printed so far */
	size_t max_line;
	size_t ceiling;      /* how long a chosen line may become where there is room */
	bool at_ceiling;     /* only that ceiling cuts the chosen lines */
	bool brief;          /* the text tells little: what has room is not filled with it */
	bool asked_for;      /* no line tells less for being one of many of its form */
	enum run_kind joins; /* what becomes one unit */
	uint64_t total_lines, total_bytes;
	bool bare;
	enum guard_mode mode; /* in which its lines will be printed */
	bool spelled;         /* a piece has the command already */
};

/* Empties it for a new choice. The memory is kept. */
void layout_begin(struct layout *l, const struct limit *limit, const struct preview_options *given,
		  const struct preview_ask *ask, uint64_t lines, uint64_t bytes);

/* Adds a run behind those already there; ignores runs that were printed live, and runs that were
   left out and tell little. `is_first`: the line is of the head. Its bytes must stay where they are
   until the pieces are made. 0, or -1 with ENOMEM. */
int layout_add(struct layout *l, const struct run *run, const struct trait *trait, bool is_first);

/* The bytes and units of a limit that the start of the text may take, however the run ends. */
struct limit layout_head_share(const struct limit *limit);

/* All lines are added: takes them all, or those that tell most, and makes the pieces. Their count,
   or -1 with ENOMEM. */
int layout_choose(struct layout *l, const struct limit *limit);

#endif
