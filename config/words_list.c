// Lists of commands, pipelines and simple commands of a shell string. See
// words_reader.h.

#include "config/words_reader.h"

#include <errno.h>
#include <string.h>

static void skip_comment(struct words_reader *r)
{
	if (*r->at == '#')
		r->at += strcspn(r->at, "\n");
}

void words_skip_lines(struct words_reader *r)
{
	for (;;) {
		words_skip_blanks(r);
		skip_comment(r);
		if (*r->at != '\n')
			return;
		words_skip_newline(r);
	}
}

bool words_take(struct words_reader *r, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(r->at, word, len) != 0)
		return false;
	if (r->at[len] != '\0' && !strchr(" \t\r\n;&|()<>", r->at[len]))
		return false;
	r->at += len;
	return true;
}

/* NAME=..., NAME+=... or NAME[...]=... */
static bool list_words_is_assignment(const char *word)
{
	size_t len =
		strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (len == 0 || (word[0] >= '0' && word[0] <= '9'))
		return false;
	if (word[len] == '[') {
		len += strcspn(word + len, "]");
		len += word[len] == ']';
	}
	len += word[len] == '+';
	return word[len] == '=';
}

/* Behind NAME: whether it is followed by (), which is then taken. */
static bool take_parentheses(struct words_reader *r)
{
	const char *start = r->at;

	if (*r->at == '(') {
		r->at++;
		words_skip_blanks(r);
		if (*r->at == ')') {
			r->at++;
			return true;
		}
	}
	r->at = start;
	return false;
}

static int read_simple(struct words_reader *r)
{
	size_t first = r->words->word_count;
	const char *start = r->at;
	unsigned count = 0; /* also of words that are not noted */
	int into = WORDS_OUT;

	for (;;) {
		char *text = r->text;

		words_skip_blanks(r);
		if (words_at_redirection(r)) {
			if (words_read_redirection(r, &into) < 0)
				return -1;
			continue;
		}
		if (*r->at == '#')
			skip_comment(r);
		if (*r->at == '\0' || strchr("\n;&|)", *r->at))
			break;
		if (*r->at == '(' && count == 1 && take_parentheses(r)) {
			r->words->word_count = first;
			return words_read_body(r);
		}
		if (words_read_word(r) < 0)
			return -1;
		if (count == 0 && !r->hidden && list_words_is_assignment(text)) {
			r->text = text;
			continue;
		}
		if (words_note(r, text) < 0)
			return -1;
		count++;
	}
	if (r->at == start)
		return words_fail(r, EINVAL); /* an operator without a command */
	return words_note_command(r, first, into);
}

int words_read_element(struct words_reader *r)
{
	int result;

	if (++r->depth > WORDS_DEPTH_MAX)
		return words_fail(r, EINVAL);
	if (!words_take_compound(r, &result))
		result = read_simple(r);
	r->depth--;
	return result;
}

/* `time` and its option before a pipeline. With other options it is a program like others. */
static bool take_time(struct words_reader *r)
{
	const char *start = r->at;

	if (words_take(r, "time")) {
		do
			words_skip_blanks(r);
		while (words_take(r, "-p") || words_take(r, "--"));
		if (*r->at != '\0' && !strchr("-\n;&|)", *r->at))
			return true;
		r->at = start;
	}
	return false;
}

/* Words that stand before a command and change nothing here. */
static void skip_prefixes(struct words_reader *r)
{
	while (words_take(r, "!") || words_take(r, "then") || words_take(r, "do") ||
	       words_take(r, "else") || words_take(r, "elif") || words_take(r, "coproc") ||
	       take_time(r))
		words_skip_lines(r);
}

/* Whether the list ends here. Sets r->failure if it ends otherwise than it began. */
static bool at_end(struct words_reader *r, enum words_ending ending)
{
	static const char *const closing[] = {
		[END_BRACE] = "}",
		[END_IF] = "fi",
		[END_LOOP] = "done",
		[END_CLAUSE] = "esac",
	};
	const char *start = r->at;

	if (*r->at == '\0' || *r->at == ')') {
		enum words_ending found = *r->at == ')' ? END_PARENTHESIS : END_STRING;

		r->at += *r->at == ')';
		if (found != ending)
			words_fail(r, EINVAL);
		return true;
	}
	if (r->at[0] == ';' && (r->at[1] == ';' || r->at[1] == '&') && ending == END_CLAUSE) {
		r->at += 2;
		r->at += *r->at == '&';
		return true;
	}
	for (enum words_ending e = END_BRACE; e <= END_CLAUSE; e++) {
		if (!words_take(r, closing[e]))
			continue;
		if (e == END_CLAUSE)
			r->at = start;
		if (e != ending)
			words_fail(r, EINVAL);
		return true;
	}
	return false;
}

/* Moves behind the operator that follows a command. Returns whether it is a pipe. */
static bool take_operator(struct words_reader *r)
{
	char c = *r->at;

	if (c == '|' || c == '&') {
		bool twice = r->at[1] == c;

		r->at += 1 + (twice || (c == '|' && r->at[1] == '&'));
		return c == '|' && !twice;
	}
	if (c == ';' && r->at[1] != ';' && r->at[1] != '&')
		r->at++;
	return false;
}

int words_read_list(struct words_reader *r, enum words_ending ending)
{
	const size_t none = (size_t)-1;
	size_t feeding = none; /* the first command of what is piped into the next one */

	for (;;) {
		size_t first = r->words->count;

		words_skip_lines(r);
		skip_prefixes(r);
		if (feeding == none && at_end(r, ending))
			return r->failure ? -1 : 0;
		if (words_read_element(r) < 0)
			return -1;
		if (feeding != none)
			words_lead(r, feeding, first,
				   r->words->count == first + 1 ? (int)first : WORDS_NOWHERE);
		words_skip_blanks(r);
		feeding = take_operator(r) ? first : none;
	}
}

int words_read_nested(struct words_reader *r)
{
	int result;

	r->hidden++;
	result = words_read_list(r, END_PARENTHESIS);
	r->hidden--;
	return result;
}
