// See matcher.h.

#include "supervisor/reading/matcher.h"

#include "lib/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* The most steps that PCRE2 may take to match from one position. This is PCRE2's default; it lasts
   a tenth of a second or more. */
#define STEPS_MAX 10000000

/* Most patterns need at most STEPS_FEW steps from one position, so each call tries them at STARTS
   positions. Other patterns get STEPS_MAX steps, and each call tries them at only STARTS_FEW
   positions; the time is checked between calls. All calls together may take SPENT_MAX_US plus
   US_PER_BYTE for each byte of text. */
#define STEPS_FEW    1000
#define STARTS       ((size_t)64 * 1024)
#define STARTS_FEW   ((size_t)16)
#define SPENT_MAX_US 2000000
#define US_PER_BYTE  1

/* The error of a match that took too long; PCRE2 does not use this number. */
#define ERROR_TIME (-1000)

/* KiB of heap that matching without JIT may take. */
#define HEAP_MAX 4096

#define JIT_STACK_MIN ((size_t)32 * 1024)
#define JIT_STACK_MAX ((size_t)1024 * 1024)

struct matcher {
	const char *pattern;
	struct matcher_options options;
	pcre2_code *code;
	pcre2_code *windows; /* the same, compiled with PCRE2_USE_OFFSET_LIMIT, for
				matcher_run_windows(); or NULL */
	bool jit;
	bool in_line; /* a match in a text of many lines is also a match of one line */
	pcre2_match_data *match;
	pcre2_match_context *limits;
	pcre2_jit_stack *stack;
	int error;                  /* of PCRE2, or ERROR_TIME: why it gave up */
	uint64_t searched;          /* bytes */
	int64_t clock_us, spent_us; /* processor time */
};

/* --- compiling ------------------------------------------------------------- */

static int matcher_compile(struct matcher *m, const struct buffer *pattern, uint32_t options,
			   pcre2_compile_context *context, struct matcher_error *error)
{
	int number;
	size_t offset;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern->data, pattern->len, options, &number,
					 &offset, context);
	if (!code) {
		error->offset = offset;
		pcre2_get_error_message(number, (PCRE2_UCHAR *)error->text, sizeof(error->text));
		errno = number == PCRE2_ERROR_HEAP_FAILED ? ENOMEM : EINVAL;
		return -1;
	}
	pcre2_code_free(m->code);
	m->code = code;
	/* If JIT fails, the pattern is interpreted: some systems refuse executable memory, and the
	   pattern may begin with "(*NO_JIT)". */
	size_t size = 0;
	/* JIT does not count the steps of non-atomic assertions, so a match with them could go on
	   forever. */
	bool counts = !memmem(pattern->data, pattern->len, "(?*", 3) &&
		      !memmem(pattern->data, pattern->len, "(?<*", 4) &&
		      !memmem(pattern->data, pattern->len, "(*n", 3);
	m->jit = counts && pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0 &&
		 pcre2_pattern_info(code, PCRE2_INFO_JITSIZE, &size) == 0 && size > 0;
	return 0;
}

/* Compiles the pattern. `more`: flags of PCRE2 besides those of the options. */
static int compile_all(struct matcher *m, uint32_t more, struct matcher_error *error)
{
	const char *pattern = m->pattern;
	const struct matcher_options *options = &m->options;
	struct buffer text = BUFFER_INIT, word = BUFFER_INIT;
	struct matcher_error ignored;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	uint32_t flags = PCRE2_UTF | PCRE2_UCP | more | PCRE2_MATCH_INVALID_UTF |
			 PCRE2_NEVER_BACKSLASH_C | (options->ignore_case ? PCRE2_CASELESS : 0);
	int result = -1;
	for (const char *at = pattern; *at; at++) {
		if (options->literal && strchr("\\^$.[]|()?*+{}#", *at))
			buffer_append(&text, "\\", 1);
		buffer_append(&text, at, 1);
	}
	if (!context || buffer_reserve(&text, 1) < 0) {
		errno = ENOMEM;
		goto out;
	}
	/* PCRE2 10.42 would not find "(?=b)a?b" in "b", since it computes a minimum length of two
	   characters. */
	if (memmem(text.data, text.len, "(?=", 3))
		flags |= PCRE2_NO_START_OPTIMIZE;
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	if (matcher_compile(m, &text, flags, context, error) < 0)
		goto out;
	m->in_line = options->literal ? !strchr(pattern, '\n') : !strpbrk(pattern, "\n$\\([^");
	if (options->word) {
		/* Asserts that no word character is before or after the pattern. Some patterns
		   can't be put into a group; PCRE2's own option is used for these, but it doesn't
		   find "-x" in "a -x b". */
		buffer_printf(&word, "(?<!\\w)(?:%.*s\\E)(?!\\w)", (int)text.len, text.data);
		if (buffer_check(&word) < 0)
			goto out;
		if (matcher_compile(m, &word, flags, context, &ignored) < 0) {
			pcre2_set_compile_extra_options(context, PCRE2_EXTRA_MATCH_WORD);
			if (errno != EINVAL || matcher_compile(m, &text, flags, context, error) < 0)
				goto out;
		}
	}
	result = 0;
out:
	pcre2_compile_context_free(context);
	buffer_release(&text);
	buffer_release(&word);
	return result;
}

struct matcher *matcher_new(const char *pattern, const struct matcher_options *options,
			    struct matcher_error *error)
{
	struct matcher *m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->pattern = pattern;
	m->options = *options;
	if (compile_all(m, 0, error) < 0)
		goto fail;
	m->match = pcre2_match_data_create(1, NULL);
	m->limits = pcre2_match_context_create(NULL);
	m->stack = pcre2_jit_stack_create(JIT_STACK_MIN, JIT_STACK_MAX, NULL);
	if (!m->match || !m->limits) {
		errno = ENOMEM;
		goto fail;
	}
	pcre2_set_match_limit(m->limits, STEPS_FEW);
	pcre2_set_heap_limit(m->limits, HEAP_MAX);
	if (m->stack)
		pcre2_jit_stack_assign(m->limits, NULL, m->stack);
	return m;
fail:
	matcher_free(m);
	return NULL;
}

void matcher_free(struct matcher *m)
{
	if (!m)
		return;
	int saved = errno;
	pcre2_code_free(m->code);
	pcre2_code_free(m->windows);
	pcre2_match_data_free(m->match);
	pcre2_match_context_free(m->limits);
	pcre2_jit_stack_free(m->stack);
	free(m);
	errno = saved;
}

/* --- one line -------------------------------------------------------------- */

/* Adds the time since the last call. Returns whether the sum is too much for this much text. */
static bool matcher_is_late(struct matcher *m)
{
	const int64_t before_us = m->clock_us;
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	m->clock_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
	m->spent_us += before_us ? m->clock_us - before_us : 0;
	return m->spent_us > SPENT_MAX_US + (int64_t)m->searched * US_PER_BYTE;
}

static enum matcher_result matcher_run(struct matcher *m, const char *data, size_t len,
				       size_t start, uint32_t options, struct matcher_span *span)
{
	PCRE2_SPTR subject = (PCRE2_SPTR)data;
	int rc =
		m->jit ? pcre2_jit_match(m->code, subject, len, start, options, m->match, m->limits)
		       : pcre2_match(m->code, subject, len, start, options, m->match, m->limits);
	/* rc is 0 if the pattern has groups, which are not stored. */
	if (rc >= 0 && span) {
		const size_t *ends = pcre2_get_ovector_pointer(m->match);
		*span = (struct matcher_span){ends[0], ends[1]};
	}
	if (rc < 0 && rc != PCRE2_ERROR_NOMATCH)
		m->error = rc;
	return rc >= 0 ? MATCHER_FOUND : rc == PCRE2_ERROR_NOMATCH ? MATCHER_NONE : MATCHER_GAVE_UP;
}

enum matcher_result matcher_line(struct matcher *m, const char *line, size_t len,
				 struct matcher_span *span)
{
	enum matcher_result result = matcher_part(m, line, len, 0, true, span);
	if (result == MATCHER_NONE && len > 0 && line[len - 1] == '\r')
		result = matcher_part(m, line, len - 1, 0, true, span);
	return result;
}

/* Does what matcher_run() does, but at a part of the positions in each call, so that the time can
   be checked between calls. */
static enum matcher_result matcher_run_windows(struct matcher *m, const char *data, size_t len,
					       size_t start, uint32_t options,
					       struct matcher_span *span)
{
	pcre2_code *const code = m->code;
	struct matcher_error ignored;
	enum matcher_result result = MATCHER_NONE;
	size_t from = start, few = start; /* before this offset, STARTS_FEW are tried a call */
	m->code = m->windows;
	if (!m->windows && compile_all(m, PCRE2_USE_OFFSET_LIMIT, &ignored) < 0) {
		m->error = PCRE2_ERROR_NOMEMORY;
		result = MATCHER_GAVE_UP;
	}
	m->windows = m->code;
	m->clock_us = 0;
	while (result == MATCHER_NONE && from <= len) {
		size_t to = from + (from < few ? STARTS_FEW : STARTS);
		while (to < len && ((unsigned char)data[to] & 0xC0) == 0x80)
			to++;
		pcre2_set_offset_limit(m->limits, to < len ? to - 1 : PCRE2_UNSET);
		pcre2_set_match_limit(m->limits, from < few ? STEPS_MAX : STEPS_FEW);
		bool is_late = matcher_is_late(m);
		result = is_late ? MATCHER_GAVE_UP : matcher_run(m, data, len, from, options, span);
		m->error = is_late ? ERROR_TIME : m->error;
		if (result == MATCHER_GAVE_UP && m->error == PCRE2_ERROR_MATCHLIMIT &&
		    from >= few) {
			result = MATCHER_NONE;
			few = to;
		} else {
			from = to;
		}
	}
	matcher_is_late(m);
	pcre2_set_offset_limit(m->limits, PCRE2_UNSET);
	pcre2_set_match_limit(m->limits, STEPS_FEW);
	m->code = code;
	return result;
}

enum matcher_result matcher_part(struct matcher *m, const char *data, size_t len, size_t start,
				 bool ends, struct matcher_span *span)
{
	const uint32_t options = (start ? PCRE2_NOTBOL : 0) | (ends ? 0 : PCRE2_NOTEOL);
	enum matcher_result result = MATCHER_GAVE_UP;
	m->error = PCRE2_ERROR_MATCHLIMIT;
	m->searched += len - start;
	if (len - start <= STARTS)
		result = matcher_run(m, data, len, start, options, span);
	if (result == MATCHER_GAVE_UP && m->error == PCRE2_ERROR_MATCHLIMIT)
		result = matcher_run_windows(m, data, len, start, options, span);
	return result;
}

/* --- many lines ------------------------------------------------------------ */

enum matcher_result matcher_next(struct matcher *m, const char *data, size_t len, size_t *at)
{
	/* Searches all lines at once, since some patterns are found far faster that way. If PCRE2
	   gives up, searches line by line. */
	if (m->in_line) {
		struct matcher_span span;
		enum matcher_result result = matcher_run(m, data, len, 0, 0, &span);
		if (result == MATCHER_FOUND) {
			const char *newline = memrchr(data, '\n', span.from);
			*at = newline ? (size_t)(newline - data) + 1 : 0;
		}
		if (result != MATCHER_GAVE_UP)
			return result;
	}
	for (size_t from = 0; from < len;) {
		const char *newline = memchr(data + from, '\n', len - from);
		size_t stop = newline ? (size_t)(newline - data) : len;
		enum matcher_result result = matcher_line(m, data + from, stop - from, NULL);
		*at = from;
		if (result != MATCHER_NONE)
			return result;
		from = stop + 1;
	}
	return MATCHER_NONE;
}

/* --- errors ---------------------------------------------------------------- */

const char *matcher_reason(const struct matcher *m)
{
	switch (m->error) {
	case PCRE2_ERROR_MATCHLIMIT:
		return "it takes over 10 million steps, as repeats inside repeats do: (a+)+";
	case PCRE2_ERROR_JIT_STACKLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_NOMEMORY:
		return "it takes too much memory, as repeated groups do in a long line";
	case ERROR_TIME: return "it takes over a second a megabyte, as repeats inside repeats do";
	default: return "PCRE2 failed";
	}
}
