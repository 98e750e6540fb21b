// The grammar of shell strings: lists, pipelines, commands, and those that hold other ones. See
// words.h.

#include "config/words.h"

#include "config/words_reader.h"
#include "lib/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- notes of words and commands -------------------------------------------------- */

/* Adds a word, unless words are hidden. */
static int words_note(struct words_reader *r, char *text)
{
	struct words *w = r->words;
	if (r->hidden)
		return 0;
	char **added = array_add(&w->words, &w->word_count, &r->word_room, sizeof(*added));
	if (!added)
		return words_fail(r, ENOMEM);
	*added = text;
	return 0;
}

/* Makes the words from `first` on a command, unless words are hidden. */
static int words_note_command(struct words_reader *r, size_t first, int into)
{
	struct words *w = r->words;
	if (r->hidden || first == w->word_count)
		return 0;
	if (w->count == WORDS_COMMANDS_MAX)
		return words_fail(r, EINVAL);
	struct words_command *added =
		array_add(&w->commands, &w->count, &r->command_room, sizeof(*added));
	if (!added)
		return words_fail(r, ENOMEM);
	*added = (struct words_command){
		.first = first, .count = w->word_count - first, .into = into};
	return words_note(r, NULL);
}

/* Directs the output of the commands `first` to before `end`, where it has no destination yet. */
static void words_lead(struct words_reader *r, size_t first, size_t end, int into)
{
	for (size_t i = first; i < end; i++) {
		if (r->words->commands[i].into == WORDS_OUT)
			r->words->commands[i].into = into;
	}
}

/* --- lines and keywords ------------------------------------------------------------- */

static void skip_comment(struct words_reader *r)
{
	if (*r->at != '#')
		return;
	r->words->comment = r->at;
	r->at += strcspn(r->at, "\n");
}

/* Skips blanks, comments and newlines. */
static void words_skip_lines(struct words_reader *r)
{
	for (;;) {
		words_skip_blanks(r);
		skip_comment(r);
		if (*r->at != '\n')
			return;
		words_skip_newline(r);
	}
}

/* Moves behind the plain word `word` if it stands here. */
static bool words_take(struct words_reader *r, const char *word)
{
	size_t len = strlen(word);
	if (strncmp(r->at, word, len) != 0)
		return false;
	if (r->at[len] != '\0' && !strchr(" \t\r\n;&|()<>", r->at[len]))
		return false;
	r->at += len;
	return true;
}

/* --- commands that hold other ones -------------------------------------------------- */

/* The end of a list of commands. */
enum words_ending {
	END_STRING,
	END_PARENTHESIS,
	END_BRACE,
	END_IF,
	END_LOOP,
	END_CLAUSE, /* of a case: ;; or esac, which is not skipped */
};

/* Commands up to and behind their end. */
static int words_read_list(struct words_reader *r, enum words_ending ending);

/* One command, simple or not, with its redirections. */
static int words_read_element(struct words_reader *r);

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

/* [[ ... ]]. Operators compare in it and separate no commands. */
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

/* Reads a function behind its name. Its commands go nowhere, since it may never be called. */
static int words_read_body(struct words_reader *r)
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
	int (*read)(struct words_reader *r); /* NULL: a list up to `ending` */
	enum words_ending ending;
} compounds[] = {
	{"if", NULL, END_IF},   {"while", NULL, END_LOOP}, {"until", NULL, END_LOOP},
	{"for", read_for, 0},   {"select", read_for, 0},   {"case", read_case, 0},
	{"{", NULL, END_BRACE}, {"[[", read_condition, 0}, {"function", read_function, 0},
};

/* Reads the redirections behind a compound command. */
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
		if (!words_take(r, compounds[i].word))
			continue;
		return compounds[i].read ? compounds[i].read(r)
					 : words_read_list(r, compounds[i].ending);
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

/* If a command that holds other ones starts here, reads it with its redirections, and sets *result
   to 0 or -1. */
static bool words_take_compound(struct words_reader *r, int *result)
{
	size_t first = r->words->count;
	bool found;
	*result = read_compound(r, &found);
	if (found && *result == 0)
		*result = read_redirections(r, first);
	return found;
}

/* --- lists, pipelines, simple commands ------------------------------------------------ */

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

/* Moves behind () if it follows the name of a function. */
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
	unsigned count = 0; /* of words, hidden ones too */
	int into = WORDS_OUT;
	for (;;) {
		char *text = r->text;
		words_skip_blanks(r);
		if (words_at_redirection(r)) {
			if (words_read_redirection(r, &into) < 0)
				return -1;
			continue;
		}
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

static int words_read_element(struct words_reader *r)
{
	int result;
	if (++r->depth > WORDS_DEPTH_MAX)
		return words_fail(r, EINVAL);
	if (!words_take_compound(r, &result))
		result = read_simple(r);
	r->depth--;
	return result;
}

/* Skips `time` and its option before a pipeline. With other options it is a program. */
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

/* Skips words that stand before a command. */
static void skip_prefixes(struct words_reader *r)
{
	while (words_take(r, "!") || words_take(r, "then") || words_take(r, "do") ||
	       words_take(r, "else") || words_take(r, "elif") || words_take(r, "coproc") ||
	       take_time(r))
		words_skip_lines(r);
}

/* Whether the list ends here. Sets r->failure if that is not the expected end. */
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

/* Skips the operator behind a command. Returns whether it is a pipe. */
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

static int words_read_list(struct words_reader *r, enum words_ending ending)
{
	const size_t none = (size_t)-1;
	size_t feeding = none; /* the first command of the element that the last pipe comes from */
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

int words_parse(struct words *w, const char *string)
{
	struct words_reader r = {.at = string, .words = w};
	*w = (struct words){.text = NULL};
	w->text = malloc(strlen(string) + 2);
	if (!w->text) {
		errno = ENOMEM;
		return -1;
	}
	r.text = w->text;
	if (words_read_list(&r, END_STRING) < 0) {
		words_release(w);
		errno = r.failure;
		return -1;
	}
	const char *behind = w->comment ? w->comment + strcspn(w->comment, "\n") : "";
	if (behind[strspn(behind, " \t\r\n")])
		w->comment = NULL;
	return 0;
}

void words_release(struct words *w)
{
	free(w->commands);
	free(w->words);
	free(w->text);
	*w = (struct words){.text = NULL};
}
