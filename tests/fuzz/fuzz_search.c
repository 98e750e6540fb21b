// Any pattern in any text: a matcher finds the lines that PCRE2 itself matches, one by one,
// whatever strings, blocks and shortcuts it uses; and what is cut out of a line is in it.
//
// Input: a byte of switches, the pattern up to a newline, the text.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/reading/matcher.h"
#include "tests/fuzz/fuzz.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define PATTERN_MAX 200
#define TEXT_MAX    4096

/* The pattern as PCRE2 has it: interpreted, and translated. */
enum way { INTERPRETED, TRANSLATED, WAYS };

struct reference {
	pcre2_code *code[WAYS];
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

static void open_reference(struct reference *r, const char *pattern, bool fold)
{
	uint32_t flags = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
			 (fold ? PCRE2_CASELESS : 0) |
			 (strstr(pattern, "(?=") ? PCRE2_NO_START_OPTIMIZE : 0);
	for (int way = 0; way < WAYS; way++) {
		int number;
		size_t offset;
		r->code[way] = pcre2_compile((PCRE2_SPTR)pattern, strlen(pattern), flags, &number,
					     &offset, NULL);
		/* JIT counts no steps of non-atomic assertions. */
		bool counts = !strstr(pattern, "(?*") && !strstr(pattern, "(?<*") &&
			      !strstr(pattern, "(*n");
		if (r->code[way] && way != INTERPRETED && counts)
			pcre2_jit_compile(r->code[way], PCRE2_JIT_COMPLETE);
	}
	r->match = pcre2_match_data_create(1, NULL);
	r->limits = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(r->limits, 2000);
}

static void close_reference(struct reference *r)
{
	for (int way = 0; way < WAYS; way++)
		pcre2_code_free(r->code[way]);
	pcre2_match_data_free(r->match);
	pcre2_match_context_free(r->limits);
}

/* Returns whether PCRE2 finds a match; -1 if that takes long, or if its ways of matching
   disagree. */
static int match_line(const struct reference *r, const char *line, size_t len)
{
	int result = -1;
	for (int way = 0; way < WAYS; way++) {
		if (!r->code[way])
			continue;
		int rc =
			pcre2_match(r->code[way], (PCRE2_SPTR)line, len, 0, 0, r->match, r->limits);
		int here = rc >= 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : -1;
		if (here < 0 || (result >= 0 && result != here))
			return -1;
		result = here;
	}
	return result;
}

static int match_either(const struct reference *r, const char *line, size_t len)
{
	int result = match_line(r, line, len);
	if (result == 0 && len > 0 && line[len - 1] == '\r')
		result = match_line(r, line, len - 1);
	return result;
}

static void check(const struct reference *r, struct matcher *m, const char *text, size_t len)
{
	size_t from = 0, at = 0;
	enum matcher_result result = MATCHER_NONE;
	bool known = false;
	while (from < len) {
		const char *newline = memchr(text + from, '\n', len - from);
		size_t stop = newline ? (size_t)(newline - text) : len;
		int want = match_either(r, text + from, stop - from);
		if (want < 0)
			return;
		if (!known) {
			result = matcher_next(m, text + from, len - from, &at);
			at += from;
		}
		known = true;
		assert(result != MATCHER_GAVE_UP);
		assert(result == MATCHER_NONE || at >= from);
		assert((result == MATCHER_FOUND && at == from) == want);
		struct matcher_span span;
		assert(matcher_line(m, text + from, stop - from, &span) ==
		       (want ? MATCHER_FOUND : MATCHER_NONE));
		assert(!want || (span.from <= span.to && span.to <= stop - from));
		known &= !want;
		from = stop + 1;
	}
}

/* A text in which a line takes PCRE2 long can't be compared. */
static bool is_quick(const struct reference *r, const char *text, size_t len)
{
	for (size_t from = 0; from < len;) {
		const char *newline = memchr(text + from, '\n', len - from);
		size_t stop = newline ? (size_t)(newline - text) : len;
		if (match_either(r, text + from, stop - from) < 0)
			return false;
		from = stop + 1;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char pattern[PATTERN_MAX + 1];
	if (size < 2)
		return 0;
	const char *start = (const char *)data + 1, *end = memchr(start, '\n', size - 1);
	size_t len = end ? (size_t)(end - start) : 0;
	if (!end || len > PATTERN_MAX || size - len - 2 > TEXT_MAX || memchr(start, '\0', len))
		return 0;
	memmove(pattern, start, len);
	pattern[len] = '\0';
	const struct matcher_options options = {.ignore_case = *data & 1};
	struct matcher_error error;
	struct matcher *m = matcher_new(pattern, &options, &error);
	if (!m) {
		assert(error.offset <= len && memchr(error.text, '\0', sizeof(error.text)));
		return 0;
	}
	struct reference r;
	open_reference(&r, pattern, options.ignore_case);
	size_t text_len = size - len - 2;
	/* In memory that ends with it. */
	char *text = malloc(text_len + 1);
	assert(text);
	memmove(text + 1, end + 1, text_len);
	if (is_quick(&r, text + 1, text_len))
		check(&r, m, text + 1, text_len);
	free(text);
	close_reference(&r);
	matcher_free(m);
	return 0;
}
