// See redactor.h.

#include "supervisor/redact/redactor.h"

#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Limits on the work for one match. A line that needs more is replaced as a whole. */
#define STEPS_MAX 1000000
#define HEAP_MAX  4096 /* KiB, without JIT */

/* The number of times that a secret may begin within another one on a line. */
#define AGAIN_MAX 100

#define PATTERN_OPTIONS PCRE2_NEVER_BACKSLASH_C

/* The edge of a word. Bytes that a terminal does not show are an edge, too; the callout detects
   them. */
#define EDGE "(?:\\b|(?C1))"

/* The start of a word, also after an escape of program text, JSON or a URL. */
#define START                                                                          \
	"(?:\\b|(?C1)|(?<=\\\\[0abefnrtv])|(?<=\\\\[0-7]{3})|(?<=[\\\\%][0-9A-F]{2})|" \
	"(?<=\\\\x[0-9A-Fa-f]{2})|(?<=\\\\u[0-9A-Fa-f]{4})|(?<=[0-9;[]m))"

/* Each pattern looks back at the text that announces the secret (its mark), so a match begins only
   after a mark. Bytes before it need not be held back, and lines without a mark need no search. */
static const struct shape {
	const char *name, *pattern;
	const char *mark;      /* the pattern of the mark */
	const char *fragments; /* FRAGMENT_LEN bytes each: one is in every mark; NULL: too short */
	bool is_key;
} shapes[] = {
	{.name = "AWS key",
	 .pattern = "(?<=" START "AKIA|" START "ASIA)[0-9A-Z]{16}" EDGE,
	 .mark = "AKIA|ASIA",
	 .fragments = "AKIAASIA"},
	{.name = "AWS secret",
	 .pattern = "(?i)(?<=secret_access_key|secretaccesskey)"
		    "[\"']?\\s*[=:]\\s*[\"']?\\K[a-z0-9/+=]{40,}",
	 .mark = "(?i)secret_access_key|secretaccesskey",
	 .fragments = "secr"},
	{.name = "GitHub token",
	 .pattern = "(?<=" START "gh[pousr]_)[A-Za-z0-9]{20,}|"
		    "(?<=" START "github_pat_)[A-Za-z0-9_]{20,}",
	 .mark = "gh[pousr]_|github_pat_",
	 .fragments = "ghp_gho_ghu_ghs_ghr_hub_"},
	{.name = "GitLab token",
	 .pattern = "(?<=" START "glpat-)[A-Za-z0-9_.-]{16,}",
	 .mark = "glpat-",
	 .fragments = "glpa"},
	{.name = "Slack token",
	 .pattern = "(?<=" START "xox[abceoprs]-)[A-Za-z0-9-]{10,}|"
		    "(?<=hooks\\.slack\\.com/services/)[A-Za-z0-9/]{20,}",
	 .mark = "xox|hooks\\.slack\\.com/"},
	{.name = "npm token",
	 .pattern = "(?<=" START "npm_)[A-Za-z0-9]{30,}",
	 .mark = "npm_",
	 .fragments = "npm_"},
	{.name = "Google key",
	 .pattern = "(?<=" START "AIza)[0-9A-Za-z_-]{35,}",
	 .mark = "AIza",
	 .fragments = "AIza"},
	{.name = "Stripe key",
	 .pattern = "(?<=" START "[rs]k_live_)[0-9A-Za-z]{16,}",
	 .mark = "k_live_",
	 .fragments = "k_li"},
	{.name = "API key",
	 .pattern = "(?<=" START "sk-)(?:[a-z0-9]+-)*[A-Za-z0-9_-]{20,}",
	 .mark = "sk-"},
	{.name = "JSON web token",
	 .pattern = "(?<=" START "eyJ)[A-Za-z0-9_-]{6,}\\.[A-Za-z0-9_-]{6,}\\.[A-Za-z0-9_-]*",
	 .mark = "eyJ"},
	{.name = "bearer token",
	 .pattern = "(?i)(?<=" START "bearer[ \\t])[ \\t]*\\K[a-z0-9._~+/-]{12,}=*",
	 .mark = "(?i)bearer",
	 .fragments = "bear"},
	{.name = "password",
	 .pattern = "(?i)(?<=authorization:)\\s*basic\\s+\\K[a-z0-9+/]{6,}=*",
	 .mark = "(?i)authorization:",
	 .fragments = "riza"},
	{.name = "password",
	 .pattern = "(?<=://)[^\\s/:@\"'<>]*:\\K[^\\s/@\"'<>]+(?=@)",
	 .mark = "://"},
	{.name = "password",
	 .pattern = "(?i)(?<=password|passwd|passphrase|client_secret|api_key|apikey)"
		    "(?:\\s*=\\s*[\"']?|[\"']\\s*:\\s*[\"'])\\K[^\\s\"',;&]{8,}",
	 .mark = "(?i)password|passwd|passphrase|client_secret|api_key|apikey",
	 .fragments = "passent_api_apik"},
	{.name = "private key",
	 .pattern = "(?<=-----BEGIN )[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
	 .mark = "-----BEGIN ",
	 .fragments = "BEGI",
	 .is_key = true},
};

#define SHAPES (sizeof(shapes) / sizeof(*shapes))

struct pattern {
	const struct shape *shape; /* without a mark: the user's own pattern */
	pcre2_code *code, *mark;   /* NULL until they are needed; most never are */
};

struct secrets {
	struct pattern *patterns;
	size_t count;
	/* Those of all patterns: one search shows that nearly every text has none. */
	struct literals fragments;
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

/* A callout of PCRE2: returns 0 (go on) if there is a gap at the current position. */
static int on_edge(pcre2_callout_block *b, void *gaps)
{
	const char *gap = gaps;
	return gap && b->current_position < b->subject_length &&
			       gap[b->current_position] & SECRETS_GAP
		       ? 0
		       : 1;
}

/* Compiles a pattern. Returns NULL with errno. */
static pcre2_code *secrets_compile(const char *text)
{
	int number;
	size_t offset;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PATTERN_OPTIONS,
					 &number, &offset, NULL);
	if (!code) {
		errno = number == PCRE2_ERROR_HEAP_FAILED ? ENOMEM : EINVAL;
		return NULL;
	}
	/* Without JIT the pattern is interpreted. */
	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
	return code;
}

/* Compiles a pattern of the settings. Each \b in it becomes EDGE, except in quotations (\Q...\E)
   and in character classes. */
static pcre2_code *compile_own(const char *text)
{
	struct buffer edged = BUFFER_INIT;
	bool in_class = false;
	size_t n;
	for (const char *at = text; *at; at += n) {
		bool quotes = strncmp(at, "\\Q", 2) == 0;
		const char *end = quotes ? strstr(at, "\\E") : NULL;
		n = *at == '\\' && at[1] ? 2 : 1;
		if (quotes) {
			n = end ? (size_t)(end - at) : strlen(at);
		} else if (in_class && strncmp(at, "[:", 2) == 0 && (end = strstr(at, ":]"))) {
			n = (size_t)(end - at) + 2;
		} else if (!in_class && *at == '[') {
			/* A closing bracket at the start of a class is one of its characters. */
			n += at[n] == '^';
			n += at[n] == ']';
			in_class = true;
		} else if (*at == ']') {
			in_class = false;
		}
		if (!in_class && strncmp(at, "\\b", 2) == 0)
			buffer_append_string(&edged, EDGE);
		else
			buffer_append(&edged, at, n);
	}
	const char *string = buffer_string(&edged);
	pcre2_code *code = string ? secrets_compile(string) : NULL;
	/* EDGE may break the pattern, for example within a comment of the pattern. Then uses the
	   pattern as it is. */
	if (!code && errno == EINVAL)
		code = secrets_compile(text);
	buffer_release(&edged);
	return code;
}

struct secrets *secrets_new(const struct settings *settings)
{
	size_t own = settings->redact_patterns.count, built_in = settings->redact ? SHAPES : 0;
	errno = 0;
	if (own + built_in == 0)
		return NULL;
	struct secrets *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->patterns = calloc(own + built_in, sizeof(*s->patterns));
	s->match = pcre2_match_data_create(1, NULL);
	s->limits = pcre2_match_context_create(NULL);
	errno = ENOMEM;
	if (!s->patterns || !s->match || !s->limits)
		goto fail;
	literals_init(&s->fragments);
	pcre2_set_match_limit(s->limits, STEPS_MAX);
	pcre2_set_heap_limit(s->limits, HEAP_MAX);
	for (size_t i = 0; i < built_in; i++) {
		const char *fragment = shapes[i].fragments;
		for (; fragment && *fragment; fragment += FRAGMENT_LEN)
			literals_add(&s->fragments, fragment, i % FRAGMENT_GROUPS);
		s->patterns[s->count++].shape = &shapes[i];
	}
	for (size_t i = 0; i < own; i++) {
		static const struct shape unnamed = {.name = ""};
		struct pattern *p = &s->patterns[s->count++];
		p->shape = &unnamed;
		p->code = compile_own(settings->redact_patterns.items[i]);
		if (!p->code)
			goto fail;
	}
	return s;
fail:
	secrets_free(s);
	return NULL;
}

void secrets_free(struct secrets *s)
{
	if (!s)
		return;
	int saved = errno;
	for (size_t i = 0; i < s->count; i++) {
		pcre2_code_free(s->patterns[i].code);
		pcre2_code_free(s->patterns[i].mark);
	}
	free(s->patterns);
	pcre2_match_data_free(s->match);
	pcre2_match_context_free(s->limits);
	free(s);
	errno = saved;
}

/* The end of the next mark from `from` on; `len`: there is none. */
static size_t find_mark(struct secrets *s, const struct pattern *p, const char *data, size_t len,
			size_t from)
{
	if (!p->shape->mark)
		return from;
	int rc = pcre2_match(p->mark, (PCRE2_SPTR)data, len, from, 0, s->match, NULL);
	return rc == PCRE2_ERROR_NOMATCH ? len
	       : rc < 0                  ? from
					 : pcre2_get_ovector_pointer(s->match)[0];
}

/* Where the search continues after a match of from..to: another secret may begin within the match,
   after a gap. */
static size_t secrets_resume(struct secrets *s, const struct pattern *p,
			     const struct secrets_text *l, size_t from, size_t to)
{
	for (size_t at = from + 1; l->gaps && at < to; at++) {
		at = find_mark(s, p, l->data, l->len, at);
		/* Some marks begin with the second letter of a word. */
		if (at < to && ((l->gaps[at] | l->gaps[at - 1]) & SECRETS_GAP))
			return at;
	}
	return to;
}

/* Adds a pattern's matches in a line at offset `base`. Lowers *hold to where an incomplete match
   may begin. */
static void match_line(struct secrets *s, const struct pattern *p, const struct secrets_text *l,
		       size_t base, struct buffer *spans, size_t *hold)
{
	uint32_t options =
		(l->begins ? 0 : PCRE2_NOTBOL) | (l->ends ? 0 : PCRE2_NOTEOL | PCRE2_PARTIAL_HARD);
	const size_t *ends = pcre2_get_ovector_pointer(s->match);
	pcre2_set_callout(s->limits, on_edge, (void *)(uintptr_t)l->gaps);
	int again = 0;
	for (size_t at = l->start; at <= l->len;) {
		int rc = pcre2_match(p->code, (PCRE2_SPTR)l->data, l->len, at, options, s->match,
				     s->limits);
		if (rc == PCRE2_ERROR_PARTIAL && base + ends[0] < *hold)
			*hold = base + ends[0];
		if (rc == PCRE2_ERROR_PARTIAL || rc == PCRE2_ERROR_NOMATCH)
			return;
		/* If the search fails (it took too long, for example), replaces the whole line. */
		bool failed = rc < 0 || again > AGAIN_MAX;
		size_t start = failed ? l->start : pcre2_get_startchar(s->match);
		const struct secrets_span span = {
			.begin = base + start,
			.from = base + (failed ? start : ends[0]),
			.to = base + (failed ? l->len : ends[1]),
			.name = p->shape->name,
			.then = failed             ? l->ends ? REDACTOR_OPEN : REDACTOR_LINE
				: p->shape->is_key ? REDACTOR_KEY
						   : REDACTOR_OPEN,
		};
		if (failed || ends[1] > ends[0])
			buffer_append(spans, &span, sizeof(span));
		if (failed)
			return;
		size_t to = ends[1], next = secrets_resume(s, p, l, start, to);
		again += next < to;
		at = next > at ? next : at + 1;
	}
}

static int scan(struct secrets *s, struct pattern *p, const struct secrets_text *t,
		struct buffer *spans, size_t *hold)
{
	const struct shape *shape = p->shape;
	if (!p->mark && shape->mark && !(p->mark = secrets_compile(shape->mark)))
		return -1;
	for (size_t at = 0; at < t->len;) {
		size_t found = find_mark(s, p, t->data, t->len, at);
		if (found >= t->len)
			break;
		if (!p->code && !(p->code = secrets_compile(shape->pattern)))
			return -1;
		const char *before = memrchr(t->data + at, '\n', found - at);
		size_t from = before ? (size_t)(before - t->data) + 1 : at;
		const char *end = memchr(t->data + found, '\n', t->len - found);
		size_t to = end ? (size_t)(end - t->data) : t->len;
		/* A carriage return belongs to the newline. */
		size_t stop = end && to > from && end[-1] == '\r' ? to - 1 : to;
		const struct secrets_text line = {
			.data = t->data + from,
			.gaps = t->gaps ? t->gaps + from : NULL,
			.len = stop - from,
			.start = t->start > from ? t->start - from : 0,
			.begins = from > 0 || t->begins,
			.ends = end || t->ends,
		};
		if (stop >= t->start)
			match_line(s, p, &line, from, spans, hold);
		at = to + 1;
	}
	return 0;
}

int secrets_find(struct secrets *s, const struct secrets_text *text, struct buffer *spans,
		 size_t *hold)
{
	size_t lines = 0;
	bool has_fragment = literals_find(&s->fragments, text->data, text->len, &lines) < text->len;
	for (size_t i = 0; i < s->count; i++) {
		struct pattern *p = &s->patterns[i];
		if ((has_fragment || !p->shape->fragments) && scan(s, p, text, spans, hold) < 0)
			return -1;
	}
	return buffer_check(spans);
}
