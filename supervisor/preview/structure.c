#include "supervisor/preview/structure.h"

#include "supervisor/preview/chars.h"

#include <string.h>

/* clang-format off */
static const struct {
	const char *prefix;
	enum salience_kind kind;
	unsigned char score;
} openings[] = {
	/* TAP, and the marks that test runners draw */
	{"not ok ",       SALIENCE_FAIL,    48},
	{"ok ",           SALIENCE_PASS,    0},
	{"\xE2\x9C\x93",  SALIENCE_PASS,    0},  /* check mark */
	{"\xE2\x9C\x94",  SALIENCE_PASS,    0},  /* heavy check mark */
	{"\xE2\x9C\x85",  SALIENCE_PASS,    0},  /* white heavy check mark */
	{"\xE2\x88\x9A",  SALIENCE_PASS,    0},  /* square root */
	{"\xE2\x9C\x95",  SALIENCE_FAIL,    42}, /* multiplication x */
	{"\xE2\x9C\x96",  SALIENCE_FAIL,    42}, /* heavy multiplication x */
	{"\xE2\x9C\x97",  SALIENCE_FAIL,    42}, /* ballot x */
	{"\xE2\x9C\x98",  SALIENCE_FAIL,    42}, /* heavy ballot x */
	{"\xE2\x9D\x8C",  SALIENCE_FAIL,    42}, /* cross mark */
	{"\xC3\x97 ",     SALIENCE_FAIL,    38}, /* multiplication sign */
	{"\xE2\x97\x8F",  SALIENCE_HEADING, 34}, /* black circle */
	{"\xE2\x80\xA2 ", SALIENCE_HEADING, 12}, /* bullet */
	{"--- FAIL",      SALIENCE_HEADING, 50},
	/* what a failure is explained with */
	{"E  ",           SALIENCE_DETAIL,  36},
	{">  ",           SALIENCE_DETAIL,  16},
	{"+ ",            SALIENCE_DETAIL,  6},
	{"- ",            SALIENCE_DETAIL,  6},
	{"@@ ",           SALIENCE_DETAIL,  6},
	{"** (",          SALIENCE_FAIL,    45},
	{"[-] ",          SALIENCE_FAIL,    42},
	{"[+] ",          SALIENCE_PASS,    0},
	{"E: ",           SALIENCE_FAIL,    45},
	{"***",           SALIENCE_PLAIN,   14},
	{"!!!",           SALIENCE_PLAIN,   14},
	{"npm ERR!",      SALIENCE_FAIL,    30},
	{"Caused by:",    SALIENCE_FAIL,    45},
	{"Traceback (",   SALIENCE_FAIL,    50},
	/* stacks */
	{"at ",           SALIENCE_FRAME,   6},
	{"from /",        SALIENCE_FRAME,   6},
	{"#0 ",           SALIENCE_FRAME,   10},
	{"#1 ",           SALIENCE_FRAME,   8},
	{"File \"",       SALIENCE_FRAME,   14},
};
/* clang-format on */

/* A separator, or a heading inside one. */
static bool read_rule(const char *text, size_t len, struct structure *s)
{
	size_t n = 1, end = len;

	if (!is_one_of(text[0], "-=_*~#+<>!"))
		return false;
	while (n < len && text[n] == text[0])
		n++;
	if (n < 3)
		return false;
	if (skip_blanks(text, len, n) == len) {
		s->kind = SALIENCE_RULE;
		return true;
	}
	while (text[end - 1] == text[0])
		end--;
	if (len - end < 3)
		return false;
	s->kind = SALIENCE_HEADING;
	s->score = text[0] == '_' ? 44 : 12;
	return true;
}

/* "12) name", "3. name" */
static bool read_numbered(const char *text, size_t len, struct structure *s)
{
	size_t n = 0;

	while (n < len && n < 5 && is_digit(text[n]))
		n++;
	if (n == 0 || n + 2 >= len || !is_blank(text[n + 1]) || !is_one_of(text[n], ")."))
		return false;
	s->kind = SALIENCE_HEADING;
	s->score = text[n] == ')' ? 34 : 14;
	return true;
}

/* "file.c:12:5: message", as compilers and linters begin. */
static bool read_diagnostic(const char *text, size_t len, struct structure *s)
{
	size_t n = 0, numbers = 0;
	bool dot = false;

	while (n < len && !is_blank(text[n]) && text[n] != ':') {
		dot |= text[n] == '.' && n > 0;
		n++;
	}
	while (n + 1 < len && text[n] == ':' && is_digit(text[n + 1])) {
		for (n++; n < len && is_digit(text[n]); n++)
			;
		numbers++;
	}
	if (!dot || numbers == 0 || numbers > 2 || n >= len || !is_one_of(text[n], ": "))
		return false;
	s->kind = SALIENCE_DETAIL;
	s->score = text[n] == ':' ? 20 : 8;
	return true;
}

/* A line that only points at something in the line above. */
static bool read_pointer(const char *text, size_t len, struct structure *s)
{
	for (size_t i = 0; i < len; i++) {
		if (!is_digit(text[i]) && !is_one_of(text[i], " ^~|-\t.=>+"))
			return false;
	}
	if (!memchr(text, '^', len))
		return false;
	s->kind = SALIENCE_DETAIL;
	s->score = 12;
	return true;
}

/* A stack frame behind something else: it ends with "(file.ext:12)" and has an
   "at", or ends with "file.go:12 +0x1d". */
static bool structure_read_frame(const char *text, size_t len, struct structure *s)
{
	const char *plus = memrchr(text, '+', len);
	size_t n = len, digits = 0;
	bool frame;

	if (text[len - 1] == ')') {
		n--;
		while (n > 0 && (is_digit(text[n - 1]) || text[n - 1] == ':')) {
			digits += is_digit(text[n - 1]);
			n--;
		}
		frame = digits && text[n] == ':' && memrchr(text, '(', n) &&
			memmem(text, n, "at ", 3);
	} else {
		frame = plus && plus - text > 4 && plus[-1] == ' ' && is_digit(plus[-2]) &&
			starts_with(plus, len - (size_t)(plus - text), "+0x");
	}
	if (!frame)
		return false;
	s->kind = SALIENCE_FRAME;
	s->score = 6;
	return true;
}

struct structure structure_of(const char *text, size_t len)
{
	struct structure s = {SALIENCE_PLAIN, 0};

	if (structure_read_frame(text, len, &s) || read_rule(text, len, &s) ||
	    read_numbered(text, len, &s) || read_pointer(text, len, &s) ||
	    read_diagnostic(text, len, &s))
		return s;
	for (size_t i = 0; i < sizeof(openings) / sizeof(*openings); i++) {
		if (text[0] == openings[i].prefix[0] &&
		    starts_with(text, len, openings[i].prefix)) {
			s.kind = openings[i].kind;
			s.score = openings[i].score;
			break;
		}
	}
	return s;
}
