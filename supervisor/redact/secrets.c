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

/* A line that needs more is replaced as a whole. */
#define STEPS_MAX 1000000
#define HEAP_MAX  4096 /* KiB, without JIT */

/* The number of times that a secret may begin within another one on a line. */
#define AGAIN_MAX 100

#define PATTERN_OPTIONS PCRE2_NEVER_BACKSLASH_C

/* The edge of a word. Bytes that a terminal does not show are an edge, too; the callout detects
   them. */
#define EDGE "(?:\\b|(?C1))"

/* The start of a word, also behind an escape of program text, JSON or a URL. */
#define START                                                                          \
	"(?:\\b|(?C1)|(?<=\\\\[0abefnrtv])|(?<=\\\\[0-7]{3})|(?<=[\\\\%][0-9A-F]{2})|" \
	"(?<=\\\\x[0-9A-Fa-f]{2})|(?<=\\\\u[0-9A-Fa-f]{4})|(?<=[0-9;[]m))"

/* Each pattern looks back at the text that announces the secret, so a match begins only behind that
   text. Until then a reader need not wait, and lines without that text need no search. */
static const struct shape {
	const char *name, *pattern;
	const char *mark;      /* the pattern of what is before every match */
	const char *fragments; /* FRAGMENT_LEN bytes each: one is in every mark; NULL: too short */
	bool block;
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
	 .block = true},
};

#define SHAPES (sizeof(shapes) / sizeof(*shapes))

struct pattern {
	const char *name;
	const struct shape *shape; /* NULL: the user's own */
	pcre2_code *code, *mark;   /* a shape's are NULL until they are needed: most never are */
	bool block;
};

struct secrets {
	struct pattern *patterns;
	size_t count;
	struct literals fragments; /* one search for all: nearly no text has any */
	pcre2_match_data *match;
	pcre2_match_context *limits;
	struct secrets_span *spans;
	size_t span_count, span_room;
};

/* Callout of PCRE2: matches where there is a gap. */
static int on_edge(pcre2_callout_block *b, void *gaps)
{
	const char *gap = gaps;
	return gap && b->current_position < b->subject_length &&
			       gap[b->current_position] & SECRETS_GAP
		       ? 0
		       : 1;
}

/* NULL with errno. */
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

/* The length of the character class that begins with the bracket at `text`. */
static size_t class_length(const char *text)
{
	size_t n = text[1] == '^' ? 2 : 1;
	if (text[n] == ']')
		n++;
	for (; text[n] && text[n] != ']'; n++) {
		const char *end =
			text[n] == '[' && text[n + 1] == ':' ? strstr(text + n, ":]") : NULL;
		if (end)
			n = (size_t)(end - text) + 1;
		else if (text[n] == '\\' && text[n + 1])
			n++;
	}
	return text[n] ? n + 1 : n;
}

/* A pattern of the settings, each \b in it as EDGE. */
static int add_own(struct pattern *p, const char *text)
{
	struct buffer edged = BUFFER_INIT;
	*p = (struct pattern){.name = ""};
	size_t n;
	for (const char *at = text; *at; at += n) {
		bool escape = *at == '\\' && at[1], edge = escape && at[1] == 'b';
		const char *end = escape && at[1] == 'Q' ? strstr(at, "\\E") : NULL;
		n = end ? (size_t)(end - at) : escape ? 2 : *at == '[' ? class_length(at) : 1;
		if (edge)
			buffer_append_string(&edged, EDGE);
		else
			buffer_append(&edged, at, n);
	}
	const char *string = buffer_string(&edged);
	p->code = string ? secrets_compile(string) : NULL;
	/* The replaced text may be no pattern any more (in a comment, say). */
	if (!p->code && errno == EINVAL)
		p->code = secrets_compile(text);
	buffer_release(&edged);
	return p->code ? 0 : -1;
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
		s->patterns[s->count++] = (struct pattern){
			.name = shapes[i].name, .shape = &shapes[i], .block = shapes[i].block};
	}
	for (size_t i = 0; i < own; i++) {
		if (add_own(&s->patterns[s->count++], settings->redact_patterns.items[i]) < 0)
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
	free(s->spans);
	pcre2_match_data_free(s->match);
	pcre2_match_context_free(s->limits);
	free(s);
	errno = saved;
}

static int add_span(struct secrets *s, const struct pattern *p, size_t begin, size_t from,
		    size_t to)
{
	struct secrets_span *added =
		array_add(&s->spans, &s->span_count, &s->span_room, sizeof(*added));
	if (!added)
		return -1;
	*added = (struct secrets_span){
		.begin = begin, .from = from, .to = to, .name = p->name, .block = p->block};
	return 0;
}

/* A line that matches are looked for in. */
struct line {
	const char *data, *gaps;
	size_t len;
	size_t start;
	bool begins, ends;
};

/* Where the next match can be announced, from `from` on; `len`: nowhere. */
static size_t find_mark(struct secrets *s, const struct pattern *p, const char *data, size_t len,
			size_t from)
{
	if (!p->shape)
		return from;
	int rc = pcre2_match(p->mark, (PCRE2_SPTR)data, len, from, 0, s->match, NULL);
	return rc == PCRE2_ERROR_NOMATCH ? len
	       : rc < 0                  ? from
					 : pcre2_get_ovector_pointer(s->match)[0];
}

/* The offset to go on from after a match of from..to: a secret may begin within it, behind a
   gap. */
static size_t go_on(struct secrets *s, const struct pattern *p, const struct line *l, size_t from,
		    size_t to)
{
	for (size_t at = from + 1; l->gaps && at < to; at++) {
		at = find_mark(s, p, l->data, l->len, at);
		/* The marks of some begin with a word's second letter. */
		if (at < to && ((l->gaps[at] | l->gaps[at - 1]) & SECRETS_GAP))
			return at;
	}
	return to;
}

/* Adds what the pattern finds in the line, which is at `base`; lowers *hold to where a match may
   have begun. */
static int match_line(struct secrets *s, const struct pattern *p, const struct line *l, size_t base,
		      size_t *hold)
{
	uint32_t options =
		(l->begins ? 0 : PCRE2_NOTBOL) | (l->ends ? 0 : PCRE2_NOTEOL | PCRE2_PARTIAL_HARD);
	const size_t *ends = pcre2_get_ovector_pointer(s->match);
	pcre2_set_callout(s->limits, on_edge, (void *)(uintptr_t)l->gaps);
	int again = 0;
	for (size_t at = l->start; at <= l->len;) {
		int rc = pcre2_match(p->code, (PCRE2_SPTR)l->data, l->len, at, options, s->match,
				     s->limits);
		if (rc == PCRE2_ERROR_NOMATCH)
			return 0;
		if (rc == PCRE2_ERROR_PARTIAL) {
			if (base + ends[0] < *hold)
				*hold = base + ends[0];
			return 0;
		}
		/* Fail safe (it took too long, say): replace the whole line. */
		if (rc < 0 || again > AGAIN_MAX)
			return add_span(s, p, base + l->start, base + l->start, base + l->len);
		if (ends[1] > ends[0] && add_span(s, p, base + pcre2_get_startchar(s->match),
						  base + ends[0], base + ends[1]) < 0)
			return -1;
		size_t to = ends[1], next = go_on(s, p, l, pcre2_get_startchar(s->match), to);
		again += next < to;
		at = next > at ? next : at + 1;
	}
	return 0;
}

static int scan(struct secrets *s, struct pattern *p, const struct secrets_text *t, size_t *hold)
{
	if (!p->mark && p->shape && !(p->mark = secrets_compile(p->shape->mark)))
		return -1;
	for (size_t at = 0; at < t->len;) {
		size_t found = find_mark(s, p, t->data, t->len, at);
		if (found >= t->len)
			break;
		if (!p->code && !(p->code = secrets_compile(p->shape->pattern)))
			return -1;
		const char *before = memrchr(t->data + at, '\n', found - at);
		size_t from = before ? (size_t)(before - t->data) + 1 : at;
		const char *end = memchr(t->data + found, '\n', t->len - found);
		size_t to = end ? (size_t)(end - t->data) : t->len;
		/* A carriage return belongs to the newline. */
		size_t stop = end && to > from && end[-1] == '\r' ? to - 1 : to;
		const struct line line = {
			.data = t->data + from,
			.gaps = t->gaps ? t->gaps + from : NULL,
			.len = stop - from,
			.start = t->start > from ? t->start - from : 0,
			.begins = from > 0 || t->begins,
			.ends = end || t->ends,
		};
		if (stop >= t->start && match_line(s, p, &line, from, hold) < 0)
			return -1;
		at = to + 1;
	}
	return 0;
}

static int secrets_compare(const void *a, const void *b)
{
	const struct secrets_span *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

/* Makes one of those that overlap. */
static void secrets_merge(struct secrets *s)
{
	size_t n = 0;
	if (s->span_count > 1)
		qsort(s->spans, s->span_count, sizeof(*s->spans), secrets_compare);
	for (size_t i = 0; i < s->span_count; i++) {
		struct secrets_span *span = &s->spans[i];
		if (n > 0 && span->from < s->spans[n - 1].to) {
			if (span->to > s->spans[n - 1].to)
				s->spans[n - 1].to = span->to;
			if (span->begin < s->spans[n - 1].begin)
				s->spans[n - 1].begin = span->begin;
			s->spans[n - 1].block |= span->block;
		} else {
			s->spans[n++] = *span;
		}
	}
	s->span_count = n;
}

int secrets_find(struct secrets *s, const struct secrets_text *text, struct secrets_found *found)
{
	size_t hold = text->len, lines = 0;
	bool has_fragment = literals_find(&s->fragments, text->data, text->len, &lines) < text->len;
	s->span_count = 0;
	for (size_t i = 0; i < s->count; i++) {
		struct pattern *p = &s->patterns[i];
		bool has_mark = !p->shape || !p->shape->fragments || has_fragment;
		if (has_mark && scan(s, p, text, &hold) < 0)
			return -1;
	}
	secrets_merge(s);
	/* No secret is cut in two. */
	while (s->span_count > 0 && s->spans[s->span_count - 1].to > hold) {
		const struct secrets_span *last = &s->spans[--s->span_count];
		if (last->begin < hold)
			hold = last->begin;
	}
	*found = (struct secrets_found){.spans = s->spans, .count = s->span_count, .hold = hold};
	return 0;
}

size_t secrets_block_end(const char *data, size_t len)
{
	static const char begin[] = "-----END ", dashes[] = "-----";
	const char *end = data + len;
	for (const char *at = data; (at = memmem(at, (size_t)(end - at), begin, strlen(begin)));) {
		at += strlen(begin);
		size_t left = (size_t)(end - at);
		const char *stop = memmem(at, left < 64 ? left : 64, dashes, strlen(dashes));
		if (stop)
			return (size_t)(stop - data) + strlen(dashes);
	}
	return 0;
}
