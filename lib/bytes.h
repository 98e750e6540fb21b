// Scanning bytes at memory speed: counting newlines, finding the end of plain text, finding short
// literals.
//
// Each function uses the widest vector instructions that the processor has; the results are the
// same with all of them.
#ifndef TERSE_LIB_BYTES_H
#define TERSE_LIB_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Unrolls the loop that follows, which must be short and have a constant end. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* How many newlines there are. */
uint64_t newline_count(const char *data, size_t len);

/* The length of the first line, with its newline; `len` if there is none. */
static inline size_t line_size(const char *text, size_t len)
{
	const char *newline = len ? memchr(text, '\n', len) : NULL;
	return newline ? (size_t)(newline - text) + 1 : len;
}

/* The line ending of a text: "\r\n" if the first line ends with it, else "\n". */
const char *newline_of(const char *text, size_t len);

/* Skips up to *n newlines and subtracts their number from *n. Returns the offset after the last one
   if *n is now 0, else `len`. */
size_t newline_skip(const char *data, size_t len, uint64_t *n);

/* Classes of MARKS bytes: a bit for each byte, the lowest bit for the first byte. */
#define MARKS 64

struct marks {
	uint64_t control; /* control characters except tab and newline, and DEL */
	uint64_t newline;
	uint64_t digit; /* a parameter of a control sequence: 0 to 9, colon, semicolon */
};

/* One way to look for the end of plain text. */
struct scan {
	const char *name;
	/* Returns how many bytes come before the first control character. DEL counts as one, tab
	   does not, and newline does only if `line` is set. Adds the newlines before that character
	   to *newlines. */
	size_t (*text)(const char *data, size_t len, bool line, size_t *newlines);
	/* The classes of the MARKS bytes at `data`. */
	struct marks (*marks)(const char *data);
	/* How many bytes at the start are printable ASCII. */
	size_t (*ascii)(const char *data, size_t len);
};

/* The variants that run here, the fastest one first, up to a NULL. */
const struct scan *const *scan_variants(void);

/* Copies ASCII into cells. */
void scan_widen(uint32_t *restrict cells, const char *restrict data, size_t len);

/* Copies cells up to the first one that is not printable ASCII, without trailing blanks. Returns
   the number copied. */
size_t scan_narrow(char *restrict data, const uint32_t *restrict cells, size_t len);

/* Literals of FRAGMENT_LEN bytes, searched all at once without regard to the case of ASCII letters.

   The search looks up each half of a byte in a table of sixteen entries (the "Teddy" method of
   Hyperscan), 32 positions at once where the processor can. An entry has one bit for a whole group
   of literals, so false alarms are rare if similar literals are in one group. */
enum { FRAGMENT_LEN = 4, FRAGMENT_GROUPS = 8, FRAGMENT_MAX = 16 };

struct literals {
	/* `low[i][h]`: the groups that have a literal whose byte `i` has the low half `h`;
	   `high[i][h]`: the same for high halves. */
	uint8_t low[FRAGMENT_LEN][16], high[FRAGMENT_LEN][16];
	uint32_t folded[FRAGMENT_GROUPS][FRAGMENT_MAX];
	uint8_t counts[FRAGMENT_GROUPS];
	bool wide; /* the vector search is used */
};

void literals_init(struct literals *s);

/* Adds the first FRAGMENT_LEN bytes of `text` to a group that is not full. */
void literals_add(struct literals *s, const char *text, unsigned group);

/* Returns where the first literal starts, or `len`, and adds the newlines before it to *newlines.
   No literal may contain a newline. */
size_t literals_find(const struct literals *s, const char *data, size_t len, size_t *newlines);

#endif
