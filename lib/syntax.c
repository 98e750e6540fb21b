// See syntax.h.
//
// Of every part of the pattern it is computed which strings it matches, if these are few, and
// else one of which strings are in everything it matches. The method is that of
// R. Cox, "Regular Expression Matching with a Trigram Index",
// https://swtch.com/~rsc/regexp/regexp4.html.

#include "lib/syntax.h"

#include "lib/utf8.h"

#include <string.h>

/* Groups inside groups; each level takes some kilobytes of stack. */
#define DEPTH_MAX 20

/* A class of more characters is not spelled out. */
#define CLASS_MAX 6

#define UNBOUNDED UINT32_MAX

struct part {
	bool exact;              /* `set` is all it matches */
	struct literal_set set;  /* exact; or, if not empty, what it begins and ends with one of */
	struct literal_set need; /* not exact: one of them is in all it matches; none: not known */
};

struct reader {
	struct syntax *syntax;
	const char *at, *end;
	bool fold;
	bool condition; /* not all that a part matches is matched where it stands */
	bool unknown;   /* met something that is not known here */
	unsigned depth;
};

/* The characters of a class: those below 128, and whether there are others. */
struct members {
	bool ascii[128];
	bool others;
};

static void read_alternatives(struct reader *r, struct part *part);

static void set_opaque(struct part *part)
{
	part->exact = false;
	part->set.count = part->need.count = 0;
}

static void set_empty(struct part *part)
{
	part->exact = true;
	literal_set_empty(&part->set);
	part->need.count = 0;
}

static bool next_is(const struct reader *r, const char *text)
{
	size_t len = strlen(text);
	return (size_t)(r->end - r->at) >= len && memcmp(r->at, text, len) == 0;
}

/* Met what does not try all the ways it can match. */
static void set_atomic(struct reader *r)
{
	r->condition = r->syntax->line_end = true;
	r->syntax->in_line = false;
}

/* Passes `text` if it comes next. */
static bool syntax_take(struct reader *r, const char *text)
{
	bool there = next_is(r, text);
	if (there)
		r->at += strlen(text);
	return there;
}

static bool syntax_is_letter(uint32_t cp)
{
	return (cp >= 'a' && cp <= 'z') || (cp >= 'A' && cp <= 'Z');
}

static bool is_alphanumeric(char c)
{
	return syntax_is_letter((unsigned char)c) || (c >= '0' && c <= '9');
}

static void add_character(struct literal_set *s, uint32_t cp, bool fold)
{
	struct literal *l = &s->items[s->count++];
	*l = (struct literal){.len = 0};
	bool folds = fold && syntax_is_letter(cp);
	char bytes[4];
	l->len = (unsigned char)utf8_put(folds ? cp | 0x20 : cp, bytes);
	memcpy(l->bytes, bytes, l->len);
	l->fold = folds;
}

static void set_character(struct reader *r, struct part *part, uint32_t cp)
{
	set_opaque(part);
	if (cp == '\n')
		r->syntax->in_line = false;
	/* The other case of a letter beyond ASCII is for PCRE2 to know. */
	if (cp == '\n' || (r->fold && cp >= 0x80))
		return;
	part->exact = true;
	add_character(&part->set, cp, r->fold);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *found = strchr(digits, c | 0x20);
	bool is_digit = (c >= '0' && c <= '9') || syntax_is_letter((unsigned char)c);
	return is_digit && found ? (int)(found - digits) : -1;
}

/* After "\x". */
static uint32_t read_hex(struct reader *r)
{
	uint32_t value = 0;
	bool braces = syntax_take(r, "{");
	for (int n = 0; r->at < r->end && (braces || n < 2); n++) {
		int digit = hex_digit(*r->at);
		if (digit < 0)
			break;
		value = value << 4 | (uint32_t)digit;
		r->at++;
	}
	if ((braces && !syntax_take(r, "}")) || value > 0x10FFFF)
		r->unknown = true;
	return r->unknown ? 0 : value;
}

/* After "\" and the letter `c`: the character it stands for. */
static bool read_escaped(struct reader *r, char c, uint32_t *cp)
{
	static const struct {
		char letter;
		unsigned char byte;
	} controls[] = {{'a', 7}, {'e', 27}, {'f', 12}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}};
	for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++) {
		if (controls[i].letter == c) {
			*cp = controls[i].byte;
			return true;
		}
	}
	if (c == 'x')
		*cp = read_hex(r);
	else if (!is_alphanumeric(c))
		r->at += utf8_decode(r->at - 1, (size_t)(r->end - r->at) + 1, cp) - 1;
	else
		return false;
	return true;
}

/* After "\" and `c`: what stands for one of many characters, or a backreference or octal
   number. Returns whether it is one; if not, nothing is passed. */
static bool read_escaped_class(struct reader *r, char c)
{
	if (strchr("sWDHvRX", c)) {
		r->syntax->in_line = false;
	} else if (c == 'p' || c == 'P') {
		r->syntax->in_line = false;
		const char *close =
			syntax_take(r, "{") ? memchr(r->at, '}', (size_t)(r->end - r->at)) : r->at;
		if (!close || close == r->end)
			r->unknown = true;
		else
			r->at = close + 1;
	} else if (c >= '0' && c <= '9') {
		r->syntax->in_line = false;
		while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
			r->at++;
	} else if (c == 'N' && next_is(r, "{")) {
		r->unknown = true;
	} else {
		return strchr("dwhSNV", c);
	}
	return true;
}

static void read_escape(struct reader *r, struct part *part)
{
	uint32_t cp;
	if (r->at == r->end) {
		r->unknown = true;
		return;
	}
	char c = *r->at++;
	set_opaque(part);
	if (c && strchr("bBAZzGK", c)) {
		set_empty(part);
		r->condition = true;
		r->syntax->in_line &= c == 'b' || c == 'B';
		r->syntax->line_end |= c == 'Z' || c == 'z';
	} else if (c && read_escaped_class(r, c)) {
		return;
	} else if (read_escaped(r, c, &cp)) {
		set_character(r, part, cp);
	} else {
		r->unknown = true;
	}
}

/* After "[", at ":": the name of a class, as in [[:alpha:]]. */
static bool read_named_class(struct reader *r)
{
	static const char *const inside[] = {"alpha", "digit", "alnum", "upper", "lower", "xdigit",
					     "word",  "punct", "print", "graph", "blank"};
	const char *name = r->at + 1, *end = name;
	while (end < r->end && is_alphanumeric(*end))
		end++;
	bool negated = end == name && end < r->end && *end == '^';
	if (negated) {
		end++;
		while (end < r->end && is_alphanumeric(*end))
			end++;
	}
	if (end == name || r->end - end < 2 || end[0] != ':' || end[1] != ']')
		return false;
	bool known = false;
	for (size_t i = 0; i < sizeof(inside) / sizeof(*inside) && !negated; i++)
		known |= strlen(inside[i]) == (size_t)(end - name) &&
			 memcmp(inside[i], name, (size_t)(end - name)) == 0;
	r->syntax->in_line &= known;
	r->at = end + 2;
	return true;
}

/* One character of a class, or something that stands for many (then false). */
static bool read_member(struct reader *r, uint32_t *cp)
{
	if (*r->at != '\\') {
		if (next_is(r, "[:") || next_is(r, "[.") || next_is(r, "[=")) {
			r->at++;
			if (*r->at == ':' && read_named_class(r))
				return false;
			/* A bracket, unless it is something like [[:<:]]. */
			r->unknown = true;
			return false;
		}
		r->at += utf8_decode(r->at, (size_t)(r->end - r->at), cp);
		return true;
	}
	if (r->end - r->at < 2) {
		r->unknown = true;
		return false;
	}
	char c = r->at[1];
	r->at += 2;
	if (c == 'b') {
		*cp = '\b';
		return true;
	}
	if (c && read_escaped_class(r, c))
		return false;
	if (!read_escaped(r, c, cp))
		r->unknown = true;
	return !r->unknown;
}

static void syntax_add_range(struct members *m, uint32_t first, uint32_t last)
{
	for (uint32_t cp = first; cp <= last && cp < 128; cp++)
		m->ascii[cp] = true;
	m->others |= last >= 128;
}

static void read_members(struct reader *r, struct members *m)
{
	bool first = true;
	while (!r->unknown && r->at < r->end && (first || *r->at != ']')) {
		uint32_t from, to;
		first = false;
		if (!read_member(r, &from)) {
			m->others = true;
			continue;
		}
		to = from;
		if (r->end - r->at >= 2 && r->at[0] == '-' && r->at[1] != ']') {
			r->at++;
			/* As in [a-\d], where the hyphen is one. */
			if (!read_member(r, &to))
				r->unknown = true;
		}
		if (!r->unknown)
			syntax_add_range(m, from, to);
	}
	r->unknown |= !syntax_take(r, "]");
}

/* After "[". */
static void read_class(struct reader *r, struct part *part)
{
	struct members m = {.others = false};
	bool negated = syntax_take(r, "^");
	read_members(r, &m);
	set_opaque(part);
	if (negated ? !m.ascii['\n'] : m.ascii['\n'])
		r->syntax->in_line = false;
	if (negated || m.others || r->unknown)
		return;
	part->exact = true;
	for (uint32_t cp = 0; cp < 128 && part->exact; cp++) {
		struct literal_set one = {.count = 0};
		if (!m.ascii[cp])
			continue;
		add_character(&one, cp, r->fold);
		part->exact = cp != '\n' && part->set.count < CLASS_MAX &&
			      literal_set_join(&part->set, &one);
	}
	if (!part->exact)
		set_opaque(part);
}

/* After "(?", at letters that switch something. Returns whether that is all of the group. */
static bool read_switches(struct reader *r)
{
	bool on = true;
	for (; r->at < r->end; r->at++) {
		switch (*r->at) {
		case '-': on = false; break;
		case 'i': r->fold = on; break;
		case 's':
		case 'm': r->syntax->in_line = false; break;
		case 'n':
		case 'J':
		case 'U': break;
		case ':': r->at++; return false;
		case ')': r->at++; return true;
		default: r->unknown = true; return true;
		}
	}
	r->unknown = true;
	return true;
}

/* After "(?P<", "(?<" or "(?'": a name and what ends it. */
static void syntax_read_name(struct reader *r, char end)
{
	while (r->at < r->end && (is_alphanumeric(*r->at) || *r->at == '_'))
		r->at++;
	r->unknown |= r->at == r->end || *r->at++ != end;
}

/* After "(": reads what makes it more than a group. Returns true when there is
   nothing left of it. */
static bool read_group_start(struct reader *r, bool *is_assertion)
{
	*is_assertion = false;
	if (next_is(r, "*"))
		r->unknown = true;
	if (!syntax_take(r, "?"))
		return r->unknown;
	if (syntax_take(r, "=") || syntax_take(r, "<=")) {
		*is_assertion = true;
	} else if (syntax_take(r, "!") || syntax_take(r, "<!")) {
		*is_assertion = true;
		r->syntax->line_end = true;
	} else if (syntax_take(r, ">")) {
		set_atomic(r);
	} else if (syntax_take(r, "P<") || syntax_take(r, "<")) {
		syntax_read_name(r, '>');
	} else if (syntax_take(r, "'")) {
		syntax_read_name(r, '\'');
	} else if (!syntax_take(r, "|")) {
		return read_switches(r);
	}
	if (*is_assertion)
		r->syntax->in_line = false;
	return r->unknown;
}

/* After "(". */
static void syntax_read_group(struct reader *r, struct part *part)
{
	bool fold = r->fold, is_assertion;
	set_empty(part);
	if (read_group_start(r, &is_assertion))
		return;
	if (++r->depth > DEPTH_MAX) {
		r->unknown = true;
		return;
	}
	read_alternatives(r, part);
	r->unknown |= !syntax_take(r, ")");
	r->depth--;
	r->fold = fold;
	if (is_assertion) {
		set_empty(part);
		r->condition = true;
	}
}

static void read_atom(struct reader *r, struct part *part)
{
	uint32_t cp;
	set_opaque(part);
	if (syntax_take(r, "(")) {
		syntax_read_group(r, part);
	} else if (syntax_take(r, "[")) {
		read_class(r, part);
	} else if (syntax_take(r, "\\")) {
		read_escape(r, part);
	} else if (syntax_take(r, ".")) {
		return;
	} else if (next_is(r, "^") || next_is(r, "$")) {
		set_empty(part);
		r->condition = true;
		r->syntax->line_end |= *r->at++ == '$';
	} else {
		r->at += utf8_decode(r->at, (size_t)(r->end - r->at), &cp);
		set_character(r, part, cp);
	}
}

static bool read_number(struct reader *r, uint32_t *n)
{
	const char *start = r->at;
	*n = 0;
	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
		if (*n < 100000)
			*n = *n * 10 + (uint32_t)(*r->at - '0');
	}
	return r->at > start;
}

/* Reads a quantifier if there is one. */
static bool read_quantifier(struct reader *r, uint32_t *min, uint32_t *max)
{
	const char *start = r->at;
	*min = 0;
	*max = UNBOUNDED;
	if (syntax_take(r, "+")) {
		*min = 1;
	} else if (syntax_take(r, "?")) {
		*max = 1;
	} else if (!syntax_take(r, "*")) {
		if (!syntax_take(r, "{"))
			return false;
		/* Newer versions know these, too. */
		r->unknown |= next_is(r, ",") || next_is(r, " ");
		bool good = read_number(r, min);
		*max = *min;
		if (good && syntax_take(r, ",") && !read_number(r, max))
			*max = UNBOUNDED;
		if (!good || !syntax_take(r, "}")) {
			r->at = start; /* a brace */
			return false;
		}
	}
	if (syntax_take(r, "+"))
		set_atomic(r);
	else
		syntax_take(r, "?");
	return true;
}

/* At least `min` times the exact `part`, as many as fit, into `set`. */
static uint32_t syntax_repeat(struct literal_set *set, const struct part *part, uint32_t min)
{
	uint32_t n = 0;
	literal_set_empty(set);
	while (n < min && literal_set_append(set, &part->set))
		n++;
	return n;
}

static void quantify(struct part *part, uint32_t min, uint32_t max)
{
	struct literal_set once = part->set;
	struct part empty;
	if (min == 1 && max == 1)
		return;
	set_empty(&empty);
	if (min == 0) {
		if (max != 1 || !part->exact || !literal_set_join(&part->set, &empty.set))
			set_opaque(part);
		return;
	}
	if (!part->exact) {
		part->set.count = 0;
		return;
	}
	bool all = syntax_repeat(&part->need, part, min) == min;
	part->exact = all && min == max;
	/* More of it may follow, or not: what it begins and ends with is one of them. */
	part->set = part->exact ? part->need : once;
}

static void keep_better(struct literal_set *best, const struct literal_set *other)
{
	if (literal_set_rarity(other) > literal_set_rarity(best))
		*best = *other;
}

/* Makes `all` what it was followed by `next`. */
static void syntax_append(struct part *all, const struct part *next)
{
	/* While nothing of unknown length came, all->set is all; after that, what comes
	   last. */
	if (next->exact && literal_set_append(&all->set, &next->set))
		return;
	struct literal_set begin = all->set;
	all->exact = false;
	keep_better(&all->need, &all->set);
	keep_better(&all->need, &next->need);
	if (!next->exact && next->set.count && literal_set_append(&begin, &next->need))
		keep_better(&all->need, &begin);
	if (next->set.count)
		all->set = next->set;
	else
		literal_set_empty(&all->set);
}

static void read_sequence(struct reader *r, struct part *all)
{
	struct part next;
	uint32_t min, max;
	set_empty(all);
	while (!r->unknown && r->at < r->end && *r->at != '|' && *r->at != ')') {
		read_atom(r, &next);
		while (!r->unknown && read_quantifier(r, &min, &max))
			quantify(&next, min, max);
		syntax_append(all, &next);
	}
	if (all->exact)
		return;
	keep_better(&all->need, &all->set);
	all->set.count = 0;
}

/* What there has to be, if anything. */
static const struct literal_set *needed(const struct part *part)
{
	return part->exact ? &part->set : &part->need;
}

/* Makes `all` either what it was or `next`. */
static void alternate(struct part *all, const struct part *next)
{
	if (all->exact && next->exact && literal_set_join(&all->set, &next->set))
		return;
	struct literal_set need = *needed(all);
	bool known = literal_set_rarity(&need) && literal_set_rarity(needed(next)) &&
		     literal_set_join(&need, needed(next));
	set_opaque(all);
	if (known)
		all->need = need;
}

static void read_alternatives(struct reader *r, struct part *all)
{
	struct part next;
	read_sequence(r, all);
	while (!r->unknown && syntax_take(r, "|")) {
		read_sequence(r, &next);
		alternate(all, &next);
	}
}

/* With caseless matching, two more characters stand for s and k. */
static bool add_other_cases(struct literal_set *s)
{
	struct literal_set others = {.count = 0};
	bool wanted = false;
	for (unsigned i = 0; i < s->count; i++) {
		const struct literal *l = &s->items[i];
		for (unsigned n = 0; n < l->len; n++)
			wanted |= (l->fold >> n & 1) && (l->bytes[n] == 's' || l->bytes[n] == 'k');
	}
	if (!wanted)
		return true;
	add_character(&others, 0x17F, false);  /* LATIN SMALL LETTER LONG S */
	add_character(&others, 0x212A, false); /* KELVIN SIGN */
	return literal_set_join(s, &others);
}

void syntax_read(struct syntax *s, const char *pattern, size_t len, bool fold)
{
	struct reader r = {.syntax = s, .at = pattern, .end = pattern + len, .fold = fold};
	struct part all;
	*s = (struct syntax){.in_line = true};
	read_alternatives(&r, &all);
	if (r.unknown || r.at < r.end) {
		*s = (struct syntax){.line_end = true};
		return;
	}
	s->literals = *needed(&all);
	unsigned count = s->literals.count;
	if (literal_set_rarity(&s->literals) == 0 || !add_other_cases(&s->literals))
		s->literals.count = 0;
	if (all.exact && !r.condition && s->literals.count)
		s->sure = count;
}
