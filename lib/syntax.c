// See syntax.h.
//
// With PCRE2_AUTO_CALLOUT, PCRE2 lists the items of a pattern: characters, classes, escapes and
// brackets, each with its quantifier. Characters in a row are a string that a match holds, unless
// they are in a group that may be left out. The rarest string of each alternative is kept.

#include "lib/syntax.h"

#include "lib/utf8.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Groups inside groups. */
#define DEPTH_MAX 16

/* Strings that classes make out of one. */
#define EXPANDED_MAX 8

/* A group, or the whole pattern. */
struct level {
	struct literal_set all;  /* every finished alternative holds one of them */
	struct literal_set best; /* the same for the alternative that is being read */
	bool unknown;            /* an alternative holds none */
	bool assertion;
};

struct syntax_reader {
	struct syntax *syntax;
	const char *pattern;
	size_t at; /* the items before this offset have been read */
	uint32_t options;
	pcre2_compile_context *context;
	pcre2_match_data *match;
	struct literal_set run; /* the characters read last, in a row; all of one length */
	bool fold;              /* both cases of a letter may match from here on */
	bool plain;             /* so far only characters and "|" */
	unsigned depth;
	struct level levels[DEPTH_MAX];
};

static bool syntax_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool syntax_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool syntax_begins(const char *item, size_t len, const char *text)
{
	size_t n = strlen(text);
	return len >= n && memcmp(item, text, n) == 0;
}

/* --- strings --------------------------------------------------------------- */

static void syntax_keep_better(struct literal_set *best, const struct literal_set *other)
{
	if (literal_set_rarity(other) > literal_set_rarity(best))
		*best = *other;
}

static void syntax_end_run(struct syntax_reader *r)
{
	syntax_keep_better(&r->levels[r->depth].best, &r->run);
	r->run = (struct literal_set){.count = 1};
}

static void syntax_append(const struct syntax_reader *r, struct literal *l, const char *bytes,
			  size_t len)
{
	memcpy(l->bytes + l->len, bytes, len);
	if (r->fold && syntax_is_letter(*bytes)) {
		l->bytes[l->len] |= 0x20;
		l->fold |= UINT64_C(1) << l->len;
	}
	l->len = (unsigned char)(l->len + len);
}

static void syntax_add_character(struct syntax_reader *r, const char *bytes, size_t len)
{
	/* Only PCRE2 knows the other case of a letter beyond ASCII. */
	if ((r->fold && (unsigned char)*bytes >= 0x80) || r->run.items[0].len + len > LITERAL_LEN) {
		r->plain = false;
		syntax_end_run(r);
		return;
	}
	for (unsigned i = 0; i < r->run.count; i++)
		syntax_append(r, &r->run.items[i], bytes, len);
}

/* Returns false if the item is no class of a few letters and digits, behind a character. */
static bool syntax_add_class(struct syntax_reader *r, const char *item, size_t len)
{
	struct literal_set *run = &r->run;
	if (len < 3 || *item != '[' || item[len - 1] != ']' || run->items[0].len == 0 ||
	    run->items[0].len == LITERAL_LEN || run->count * (len - 2) > EXPANDED_MAX)
		return false;
	const unsigned count = (unsigned)len - 2;
	for (unsigned i = 1; i <= count; i++) {
		if (!syntax_is_letter(item[i]) && !syntax_is_digit(item[i]))
			return false;
	}
	/* From the last one on, so that each is read before it is replaced. */
	for (unsigned k = run->count * count; k-- > 0;) {
		run->items[k] = run->items[k / count];
		syntax_append(r, &run->items[k], item + 1 + k % count, 1);
	}
	run->count *= count;
	return true;
}

static void syntax_end_alternative(struct syntax_reader *r)
{
	struct level *l = &r->levels[r->depth];
	syntax_end_run(r);
	if (l->best.count == 0 || !literal_set_join(&l->all, &l->best))
		l->unknown = true;
	l->best.count = 0;
}

/* With caseless matching, two more characters stand for s and k. */
static bool syntax_add_other_cases(struct literal_set *s)
{
	static const struct literal_set others = {
		.count = 2,
		.items = {{.len = 2, .bytes = "\xC5\xBF"},      /* LATIN SMALL LETTER LONG S */
			  {.len = 3, .bytes = "\xE2\x84\xAA"}}, /* KELVIN SIGN */
	};
	bool wanted = false;
	for (unsigned i = 0; i < s->count; i++) {
		const struct literal *l = &s->items[i];
		for (unsigned n = 0; n < l->len; n++)
			wanted |= (l->fold >> n & 1) && (l->bytes[n] == 's' || l->bytes[n] == 'k');
	}
	return !wanted || literal_set_join(s, &others);
}

/* --- items ----------------------------------------------------------------- */

/* A match may depend on what is around the line. */
static void syntax_leave_line(struct syntax_reader *r)
{
	r->syntax->in_line = false;
	r->syntax->line_end = true;
}

/* Whether text that the item matches may begin with a newline. PCRE2 tries it. */
static bool syntax_takes_newline(struct syntax_reader *r, const char *item, size_t len)
{
	const uint32_t how = PCRE2_ANCHORED | PCRE2_NOTEMPTY | PCRE2_PARTIAL_SOFT;
	int error;
	size_t offset;
	pcre2_code *code =
		pcre2_compile((PCRE2_SPTR)item, len, r->options, &error, &offset, r->context);
	/* Such as a back reference, without its group. */
	if (!code)
		return true;
	int result = pcre2_match(code, (PCRE2_SPTR) "\n", 1, 0, how, r->match, NULL);
	pcre2_code_free(code);
	return result != PCRE2_ERROR_NOMATCH;
}

/* After `item`, which begins with "(". Returns -1 if it is not understood. */
static int syntax_open_group(struct syntax_reader *r, const char *item, size_t len)
{
	static const char *const assertions[] = {"(?=", "(?!", "(?<=", "(?<!"};
	static const char *const groups[] = {"(?:", "(?<", "(?P<", "(?'", "(?|", "(?>", "(?i:"};
	bool assertion = false, group = len == 1;
	for (size_t i = 0; i < sizeof(assertions) / sizeof(*assertions); i++)
		assertion |= syntax_begins(item, len, assertions[i]);
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		group |= syntax_begins(item, len, groups[i]);
	syntax_end_run(r);
	/* Until the end, though it may end with the group: both cases are never too few. */
	r->fold |= syntax_begins(item, len, "(?i");
	if (syntax_begins(item, len, "(?i)")) {
		r->plain &= r->at == 0;
		return 0;
	}
	if ((!group && !assertion) || r->depth + 1 == DEPTH_MAX)
		return -1;
	if (assertion || syntax_begins(item, len, "(?>"))
		syntax_leave_line(r);
	r->plain = false;
	r->levels[++r->depth] = (struct level){.assertion = assertion};
	return 0;
}

/* Whether a group with this quantifier, if any, is matched at least once. */
static bool syntax_is_needed(const char *quantifier, size_t len)
{
	return len == 0 || *quantifier == '+' ||
	       (len > 1 && *quantifier == '{' && quantifier[1] >= '1');
}

static int syntax_close_group(struct syntax_reader *r, const char *item, size_t len)
{
	if (r->depth == 0)
		return -1;
	syntax_end_alternative(r);
	const struct level *l = &r->levels[r->depth--];
	if (!l->unknown && !l->assertion && syntax_is_needed(item + 1, len - 1))
		syntax_keep_better(&r->levels[r->depth].best, &l->all);
	return 0;
}

/* The bytes of the one character that the item stands for, without quantifier; NULL: not such. */
static const char *syntax_character(const char *item, size_t len, size_t *count)
{
	uint32_t cp;
	unsigned char c = (unsigned char)item[len > 1 && *item == '\\'];
	*count = len;
	if (c >= 0x80)
		return len == 1 || utf8_decode(item, len, &cp) == len ? item : NULL;
	if (*item != '\\')
		return len == 1 && c != '\n' && !strchr("^$.[", c) ? item : NULL;
	*count = 1;
	return len == 2 && !syntax_is_letter((char)c) && !syntax_is_digit((char)c) && c != '\n'
		       ? item + 1
		       : NULL;
}

/* A class, an escape, a character with a quantifier, or an assertion such as "^". */
static void syntax_read_other(struct syntax_reader *r, const char *item, size_t len)
{
	r->plain = false;
	syntax_end_run(r);
	r->syntax->line_end |= *item == '$';
	if (len > 1 && *item == '\\' && strchr("AGKZz", item[1]))
		syntax_leave_line(r);
	if (r->syntax->in_line && syntax_takes_newline(r, item, len))
		r->syntax->in_line = false;
}

/* Takes what it has matched as it is: it never tries another way. */
static bool syntax_is_possessive(const char *item, size_t len)
{
	return len > 1 && item[len - 1] == '+' && strchr("*+?}", item[len - 2]);
}

static int syntax_read_item(pcre2_callout_enumerate_block *b, void *ctx)
{
	struct syntax_reader *r = ctx;
	const char *item = r->pattern + b->pattern_position, *character;
	size_t len = b->next_item_length, count;
	int result = 0;
	/* PCRE2 has copied a group that is repeated. */
	if (b->pattern_position < r->at || len == 0)
		return 0;
	if (b->pattern_position > r->at)
		return -1;
	if (syntax_is_possessive(item, len))
		syntax_leave_line(r);
	if (*item == '(')
		result = syntax_open_group(r, item, len);
	else if (*item == ')')
		result = syntax_close_group(r, item, len);
	else if (*item == '|')
		syntax_end_alternative(r);
	else if ((character = syntax_character(item, len, &count)))
		syntax_add_character(r, character, count);
	else if (!syntax_add_class(r, item, len))
		syntax_read_other(r, item, len);
	r->at += len;
	return result;
}

/* Returns 0, or -1 if not all of it is understood. */
static int syntax_read_items(struct syntax_reader *r, size_t len)
{
	int error, result = -1;
	size_t offset;
	pcre2_code *code = NULL;
	r->context = pcre2_compile_context_create(NULL);
	r->match = pcre2_match_data_create(1, NULL);
	/* Behind "\Q" an item does not tell whether it is quoted. */
	if (!r->context || !r->match || memmem(r->pattern, len, "\\Q", 2))
		goto out;
	pcre2_set_newline(r->context, PCRE2_NEWLINE_LF);
	code = pcre2_compile((PCRE2_SPTR)r->pattern, len, r->options | PCRE2_AUTO_CALLOUT, &error,
			     &offset, r->context);
	if (!code || pcre2_callout_enumerate(code, syntax_read_item, r) != 0 || r->at != len)
		goto out;
	syntax_end_alternative(r);
	result = 0;
out:
	pcre2_code_free(code);
	pcre2_match_data_free(r->match);
	pcre2_compile_context_free(r->context);
	return result;
}

void syntax_read(struct syntax *s, const char *pattern, size_t len, uint32_t options)
{
	struct syntax_reader r = {
		.syntax = s,
		.pattern = pattern,
		.options = options,
		.fold = options & PCRE2_CASELESS,
		.run.count = 1,
		.plain = true,
	};
	*s = (struct syntax){.in_line = true};
	if (syntax_read_items(&r, len) < 0) {
		*s = (struct syntax){.line_end = true};
		return;
	}
	const struct level *top = &r.levels[0];
	if (top->unknown)
		return;
	s->literals = top->all;
	if (!syntax_add_other_cases(&s->literals))
		s->literals.count = 0;
	s->sure = r.plain && s->literals.count ? top->all.count : 0;
}
