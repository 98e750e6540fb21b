// Commands that hold other ones: groups, loops, conditions, cases, functions. See
// words_reader.h.

#include "config/words_reader.h"

#include <errno.h>
#include <string.h>

static int read_if(struct words_reader *r)
{
	return words_read_list(r, END_IF);
}

static int read_while(struct words_reader *r)
{
	return words_read_list(r, END_LOOP);
}

static int words_compound_read_group(struct words_reader *r)
{
	return words_read_list(r, END_BRACE);
}

/* for NAME in WORD...; do ... done; for ((...)); do ... done; select likewise. */
static int read_for(struct words_reader *r)
{
	words_skip_blanks(r);
	if (*r->at == '(' && words_skip_brackets(r, '(', ')') < 0)
		return -1;
	for (;;) {
		words_skip_blanks(r);
		if (*r->at == '\n' || *r->at == ';' || words_take(r, "do")) {
			r->at += *r->at == ';';
			return words_read_list(r, END_LOOP);
		}
		if (words_skip_word(r) < 0)
			return -1;
	}
}

/* PATTERN | PATTERN ) */
static int read_patterns(struct words_reader *r)
{
	r->at += *r->at == '(';
	for (;;) {
		words_skip_blanks(r);
		if (*r->at == ')') {
			r->at++;
			return 0;
		}
		if (*r->at == '|')
			r->at++;
		else if (words_skip_word(r) < 0)
			return -1;
	}
}

static int read_case(struct words_reader *r)
{
	words_skip_blanks(r);
	if (words_skip_word(r) < 0)
		return -1;
	words_skip_lines(r);
	if (!words_take(r, "in"))
		return words_fail(r, EINVAL);
	for (;;) {
		words_skip_lines(r);
		if (words_take(r, "esac"))
			return 0;
		if (read_patterns(r) < 0 || words_read_list(r, END_CLAUSE) < 0)
			return -1;
	}
}

/* The inside is no list of commands: operators compare. */
static int read_condition(struct words_reader *r)
{
	char *text = r->text;

	if (!r->hidden) {
		memcpy(text, "[[", 3);
		r->text += 3;
	}
	for (;;) {
		words_skip_lines(r);
		if (words_take(r, "]]"))
			break;
		if (*r->at != '\0' && strchr("()<>&|;", *r->at))
			r->at++;
		else if (words_skip_word(r) < 0)
			return -1;
	}
	if (words_note(r, text) < 0)
		return -1;
	return words_note_command(r, r->words->word_count - 1, WORDS_OUT);
}

int words_read_body(struct words_reader *r)
{
	size_t first = r->words->count;

	words_skip_lines(r);
	if (words_read_element(r) < 0)
		return -1;
	words_lead(r, first, r->words->count, WORDS_NOWHERE);
	return 0;
}

/* function NAME [()] BODY */
static int read_function(struct words_reader *r)
{
	words_skip_blanks(r);
	if (words_skip_word(r) < 0)
		return -1;
	words_skip_blanks(r);
	if (*r->at == '(' && words_skip_brackets(r, '(', ')') < 0)
		return -1;
	return words_read_body(r);
}

static const struct {
	const char *word;
	int (*read)(struct words_reader *r);
} compounds[] = {
	{"if", read_if},
	{"while", read_while},
	{"until", read_while},
	{"for", read_for},
	{"select", read_for},
	{"case", read_case},
	{"{", words_compound_read_group},
	{"[[", read_condition},
	{"function", read_function},
};

/* Behind a compound command. */
static int read_redirections(struct words_reader *r, size_t first)
{
	int into = WORDS_OUT;

	for (;;) {
		words_skip_blanks(r);
		if (!words_at_redirection(r))
			break;
		if (words_read_redirection(r, &into) < 0)
			return -1;
	}
	words_lead(r, first, r->words->count, into);
	return 0;
}

/* Whether "((" begins arithmetic, and not a subshell in a subshell: its end is "))". */
static bool at_arithmetic(const struct words_reader *r)
{
	const char *p = r->at + 1;
	size_t open = 0;

	if (r->at[0] != '(' || *p != '(')
		return false;
	do {
		open += *p == '(';
		open -= *p == ')';
		p++;
	} while (open > 0 && *p != '\0');
	return *p == ')';
}

static int read_compound(struct words_reader *r, bool *found)
{
	*found = true;
	for (size_t i = 0; i < sizeof(compounds) / sizeof(*compounds); i++) {
		if (words_take(r, compounds[i].word))
			return compounds[i].read(r);
	}
	if (at_arithmetic(r))
		return words_skip_brackets(r, '(', ')');
	if (*r->at == '(') {
		r->at++;
		return words_read_list(r, END_PARENTHESIS);
	}
	*found = false;
	return 0;
}

bool words_take_compound(struct words_reader *r, int *result)
{
	size_t first = r->words->count;
	bool found;

	*result = read_compound(r, &found);
	if (found && *result == 0)
		*result = read_redirections(r, first);
	return found;
}
