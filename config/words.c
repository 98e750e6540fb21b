// Shell strings: words and redirections, then the grammar of lists, pipelines and commands. See
// words.h.
//
// Functions that read or skip something move r->at past it. Those that return an int return 0, or
// -1 with r->failure set, which ends the reading: EINVAL if the meaning of the string is unclear.

#include "config/words.h"

#include "lib/buffer.h"
#include "shim/shell.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A here-document: its body starts after the next newline. */
struct heredoc {
	char delimiter[64]; /* without quotes */
	bool tabs;          /* <<-: its lines may have tabs in front */
};

enum { HEREDOCS_MAX = 8 };

struct words_reader {
	const char *at; /* in the string, which ends with a NUL */
	struct words *words;
	char *text; /* where the next word goes in words->text, which has room for all words */
	size_t word_room, command_room;
	unsigned hidden; /* > 0 within expansions: nothing is noted */
	unsigned depth;
	struct heredoc heredocs[HEREDOCS_MAX];
	size_t heredoc_count;
	int failure; /* errno; 0 while all is well */
};

static int words_fail(struct words_reader *r, int failure)
{
	r->failure = failure;
	return -1;
}

/* Reads a list of commands and its end: "" (of the string), ")", "}", "fi" or "done". "esac" stands
   for a clause of a case, which ends at ;; or at esac. */
static int words_read_list(struct words_reader *r, const char *ending);

/* --- words: quotes, escapes, expansions ----------------------------------------------- */

/* Skips blanks, and newlines after a backslash. */
static void words_skip_blanks(struct words_reader *r)
{
	for (;;) {
		if (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
			r->at++;
		else if (r->at[0] == '\\' && r->at[1] == '\n')
			r->at += 2;
		else
			return;
	}
}

/* Skips a quoted part as bash does, from the quote at r->at past the closing one: '...', $'...' or
   `...`. */
static int skip_quotes(struct words_reader *r, bool escapes)
{
	char quote = *r->at;
	for (r->at++; *r->at != quote; r->at++) {
		if (escapes && r->at[0] == '\\' && r->at[1] != '\0')
			r->at++;
		if (*r->at == '\0')
			return words_fail(r, EINVAL);
	}
	r->at++;
	return 0;
}

/* Whether an expansion that can hold anything starts here. */
static bool at_expansion(const char *p)
{
	return *p == '`' || (*p == '$' && (p[1] == '(' || p[1] == '{'));
}

static int skip_expansion(struct words_reader *r);

/* Skips from the bracket at r->at past the one that closes it; respects quotes and expansions. */
static int words_skip_brackets(struct words_reader *r, char open, char close)
{
	size_t nested = 0;
	bool quoted = false;
	do {
		char c = *r->at;
		if (c == '\0')
			return words_fail(r, EINVAL);
		if (at_expansion(r->at)) {
			if (skip_expansion(r) < 0)
				return -1;
		} else if (c == '\'' && !quoted) {
			if (skip_quotes(r, false) < 0)
				return -1;
		} else {
			quoted ^= c == '"';
			nested += c == open && !quoted;
			nested -= c == close && !quoted;
			r->at += 1 + (c == '\\' && r->at[1] != '\0');
		}
	} while (nested > 0);
	return 0;
}

/* Skips the expansion that at_expansion() saw; or <(...), >(...), an array, an extended pattern. */
static int skip_expansion(struct words_reader *r)
{
	char first = *r->at;
	int result;
	if (first == '`')
		return skip_quotes(r, true);
	if (++r->depth > WORDS_DEPTH_MAX)
		return words_fail(r, EINVAL);
	r->at += first != '(';
	if (*r->at == '{') {
		result = words_skip_brackets(r, '{', '}');
	} else if (first == '(' || (first == '$' && r->at[1] == '(')) {
		result = words_skip_brackets(r, '(', ')');
	} else {
		r->at++;
		r->hidden++;
		result = words_read_list(r, ")");
		r->hidden--;
	}
	r->depth--;
	return result;
}

/* Whether the word that begins at `start` ends at r->at. */
static bool words_ends(const struct words_reader *r, const char *start)
{
	const char *p = r->at;
	if (*p == '\0' || strchr(" \t\r\n;&|)", *p))
		return true;
	if (*p == '<' || *p == '>')
		return p[1] != '(';
	return *p == '(' && (p == start || !strchr("=?*+@!", p[-1]));
}

/* Reads one word: adds its text to r->text, with a NUL. Fails where no word starts. */
static int words_read_word(struct words_reader *r)
{
	const char *start = r->at;
	bool quoted = false; /* in double quotes, where a backslash stays unless it escapes */
	if (words_ends(r, start))
		return words_fail(r, EINVAL);
	while (quoted || !words_ends(r, start)) {
		const char *from = r->at;
		size_t behind = 0; /* how many bytes before r->at do not belong to the text */
		char c = *from, next = c ? from[1] : c;
		if (c == '\0')
			return words_fail(r, EINVAL);
		if (c == '"') {
			quoted = !quoted;
			r->at++;
			continue;
		}
		if (at_expansion(from) || (!quoted && strchr("(<>", c))) {
			if (skip_expansion(r) < 0)
				return -1;
		} else if (c == '\\' && (!quoted || (next && strchr("$`\"\\\n", next)))) {
			r->at += 1 + (next != '\0');
			from = r->at - (next != '\n');
		} else if (!quoted && (c == '\'' || (c == '$' && next == '\''))) {
			r->at += c == '$';
			from = r->at + 1;
			if (skip_quotes(r, c == '$') < 0)
				return -1;
			behind = 1;
		} else {
			r->at += 1 + strcspn(from + 1, quoted ? "\"\\$`" : " \t\r\n;&|()<>'\"\\$`");
		}
		if (!r->hidden)
			r->text = mempcpy(r->text, from, (size_t)(r->at - from) - behind);
	}
	if (!r->hidden)
		*r->text++ = '\0';
	return 0;
}

static int words_skip_word(struct words_reader *r)
{
	int result;
	r->hidden++;
	result = words_read_word(r);
	r->hidden--;
	return result;
}

/* --- redirections and here-documents ---------------------------------------------------- */

static const char digits[] = "0123456789";

static bool words_at_redirection(const struct words_reader *r)
{
	const char *p = r->at + strspn(r->at, digits);
	if (*p == '<' || *p == '>')
		return p > r->at || p[1] != '(';
	return p[0] == '&' && p[1] == '>' && p == r->at;
}

static void skip_heredoc(struct words_reader *r, const struct heredoc *h)
{
	while (*r->at != '\0') {
		const char *line = r->at;
		size_t len = strcspn(line, "\n");
		r->at += len + (line[len] == '\n');
		if (h->tabs) {
			size_t tabs = strspn(line, "\t");
			line += tabs;
			len -= tabs;
		}
		if (len > 0 && line[len - 1] == '\r')
			len--;
		if (len == strlen(h->delimiter) && memcmp(line, h->delimiter, len) == 0)
			return;
	}
}

/* Reads `<<` and the delimiter. words_skip_lines() skips the body, which begins on another line. */
static int words_read_heredoc(struct words_reader *r)
{
	struct heredoc h = {.tabs = r->at[2] == '-'};
	size_t len = 0;
	r->at += 2 + h.tabs;
	words_skip_blanks(r);
	const char *start = r->at;
	if (words_skip_word(r) < 0)
		return -1;
	for (const char *p = start; p < r->at && len < sizeof(h.delimiter); p++) {
		if (!strchr("'\"\\", *p))
			h.delimiter[len++] = *p;
	}
	if (len == sizeof(h.delimiter) || r->heredoc_count == HEREDOCS_MAX)
		return words_fail(r, EINVAL);
	r->heredocs[r->heredoc_count++] = h;
	return 0;
}

/* Reads a redirection. Sets *into to WORDS_NOWHERE if it sends standard output to a file, and to
   WORDS_OUT if it sends it to a descriptor, a terminal or >(...). */
static int words_read_redirection(struct words_reader *r, int *into)
{
	const char *start = r->at;
	bool both = *start == '&';
	bool of_stdout = both || *start == '>' || (start[0] == '1' && start[1] == '>');
	r->at += strspn(start, digits) + both;
	bool twice = r->at[0] == '<' && r->at[1] == '<';
	if (twice && r->at[2] != '<')
		return words_read_heredoc(r);
	r->at += twice ? 3 : 1;
	bool descriptor = *r->at == '&';
	r->at += descriptor || *r->at == '>' || *r->at == '|';
	words_skip_blanks(r);
	char *target = r->text;
	if (!of_stdout || r->hidden)
		return words_skip_word(r);
	if (words_read_word(r) < 0)
		return -1;
	r->text = target;
	bool is_number = descriptor && !target[strspn(target, digits)];
	bool is_shown = is_number || strncmp(target, ">(", 2) == 0 ||
			strncmp(target, "/dev/std", 8) == 0 || strcmp(target, "/dev/tty") == 0;
	*into = is_shown ? WORDS_OUT : WORDS_NOWHERE;
	return 0;
}

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

/* Makes a command of the words from `first` on, unless words are hidden. */
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

/* Sets the destination of the commands from `first` up to `end` (not included) that have none
   yet. */
static void words_lead(struct words_reader *r, size_t first, size_t end, int into)
{
	for (size_t i = first; i < end; i++) {
		if (r->words->commands[i].into == WORDS_OUT)
			r->words->commands[i].into = into;
	}
}

/* --- lines and keywords ------------------------------------------------------------- */

/* Skips the comment that begins here. */
static void skip_comment(struct words_reader *r)
{
	if (*r->at != '#')
		return;
	r->words->comment = r->at;
	r->at += strcspn(r->at, "\n");
}

/* Skips blanks, comments, newlines, and the here-documents that begin after a newline. */
static void words_skip_lines(struct words_reader *r)
{
	for (;;) {
		words_skip_blanks(r);
		skip_comment(r);
		if (*r->at != '\n')
			return;
		r->at++;
		for (size_t i = 0; i < r->heredoc_count; i++)
			skip_heredoc(r, &r->heredocs[i]);
		r->heredoc_count = 0;
	}
}

/* If the plain word `word` is at r->at, moves past it. */
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

/* One command, simple or not, with its redirections. */
static int words_read_element(struct words_reader *r);

/* Reads what follows `for` or `select`: NAME in WORD...; do ... done, or ((...)); do ... done. */
static int read_for(struct words_reader *r)
{
	words_skip_blanks(r);
	if (*r->at == '(' && words_skip_brackets(r, '(', ')') < 0)
		return -1;
	for (;;) {
		words_skip_blanks(r);
		if (*r->at == '\n' || *r->at == ';' || words_take(r, "do")) {
			r->at += *r->at == ';';
			return words_read_list(r, "done");
		}
		if (words_skip_word(r) < 0)
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
		/* PATTERN | PATTERN ) */
		r->at += *r->at == '(';
		words_skip_blanks(r);
		while (*r->at != ')') {
			if (*r->at == '|')
				r->at++;
			else if (words_skip_word(r) < 0)
				return -1;
			words_skip_blanks(r);
		}
		r->at++;
		if (words_read_list(r, "esac") < 0)
			return -1;
	}
}

/* Reads what follows [[, up to ]]. Operators inside do not separate commands. */
static int read_condition(struct words_reader *r)
{
	for (;;) {
		words_skip_lines(r);
		if (words_take(r, "]]"))
			break;
		if (*r->at != '\0' && strchr("()<>&|;", *r->at))
			r->at++;
		else if (words_skip_word(r) < 0)
			return -1;
	}
	char *word = r->text;
	if (!r->hidden)
		r->text = mempcpy(word, "[[", sizeof("[["));
	if (words_note(r, word) < 0)
		return -1;
	return words_note_command(r, r->words->word_count - 1, WORDS_OUT);
}

static const struct {
	const char *word;
	int (*read)(struct words_reader *r); /* NULL: a list up to `ending` */
	const char *ending;
} compounds[] = {
	{"if", NULL, "fi"},      {"while", NULL, "done"},      {"until", NULL, "done"},
	{"for", read_for, NULL}, {"select", read_for, NULL},   {"case", read_case, NULL},
	{"{", NULL, "}"},        {"[[", read_condition, NULL},
};

/* Whether the bracket here begins arithmetic, "((" up to "))", and not a subshell. */
static bool at_arithmetic(const struct words_reader *r)
{
	const char *p = r->at + 1;
	size_t open = 0;
	if (*p != '(')
		return false;
	do {
		open += *p == '(';
		open -= *p == ')';
		p++;
	} while (open > 0 && *p != '\0');
	return *p == ')';
}

/* --- lists, pipelines, simple commands ------------------------------------------------ */

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
		if (*r->at == '(' && count == 1) {
			const char *open = r->at++;
			words_skip_blanks(r);
			if (*r->at == ')') {
				/* This defines a function, which may never be called, so its
				   commands have no output. */
				size_t body = r->words->count;
				r->at++;
				r->words->word_count = first;
				words_skip_lines(r);
				int result = words_read_element(r);
				words_lead(r, body, r->words->count, WORDS_NOWHERE);
				return result;
			}
			r->at = open;
		}
		if (words_read_word(r) < 0)
			return -1;
		if (count == 0 && !r->hidden && shell_is_assignment(text)) {
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
	const size_t known = sizeof(compounds) / sizeof(*compounds);
	size_t first = r->words->count, i = 0;
	int into = WORDS_OUT, result;
	bool compound = true;
	if (++r->depth > WORDS_DEPTH_MAX)
		return words_fail(r, EINVAL);
	while (i < known && !words_take(r, compounds[i].word))
		i++;
	if (i < known) {
		result = compounds[i].read ? compounds[i].read(r)
					   : words_read_list(r, compounds[i].ending);
	} else if (*r->at == '(' && at_arithmetic(r)) {
		result = words_skip_brackets(r, '(', ')');
	} else if (*r->at == '(') {
		r->at++;
		result = words_read_list(r, ")");
	} else {
		compound = false;
		result = read_simple(r);
	}
	while (compound && result == 0) {
		words_skip_blanks(r);
		if (!words_at_redirection(r)) {
			words_lead(r, first, r->words->count, into);
			break;
		}
		result = words_read_redirection(r, &into);
	}
	r->depth--;
	return result;
}

/* Whether the list ends here. Sets r->failure if that is not the expected end. */
static bool at_end(struct words_reader *r, const char *ending)
{
	static const char *const closing[] = {"}", "fi", "done", "esac"};
	const bool clause = strcmp(ending, "esac") == 0;
	const char *start = r->at, *found = NULL;
	if (*r->at == '\0' || *r->at == ')') {
		found = *r->at ? ")" : "";
		r->at += *r->at == ')';
	} else if (clause && r->at[0] == ';' && (r->at[1] == ';' || r->at[1] == '&')) {
		found = ending;
		r->at += 2;
		r->at += *r->at == '&';
	}
	for (size_t i = 0; !found && i < sizeof(closing) / sizeof(*closing); i++) {
		if (!words_take(r, closing[i]))
			continue;
		found = closing[i];
		if (clause)
			r->at = start;
	}
	if (found && strcmp(found, ending) != 0)
		words_fail(r, EINVAL);
	return found;
}

static int words_read_list(struct words_reader *r, const char *ending)
{
	static const char *const prefixes[] = {"!", "then", "do", "else", "elif"};
	const size_t none = (size_t)-1;
	size_t feeding = none; /* the first command of the element before the last pipe */
	for (;;) {
		size_t first = r->words->count;
		/* Skips words that may stand before a command. `time` with options is a program. */
		for (const char *start = NULL; r->at != start;) {
			words_skip_lines(r);
			start = r->at;
			for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
				words_take(r, prefixes[i]);
			if (words_take(r, "time") && r->at[strspn(r->at, " \t")] == '-')
				r->at = start;
		}
		if (feeding == none && at_end(r, ending))
			return r->failure ? -1 : 0;
		if (words_read_element(r) < 0)
			return -1;
		if (feeding != none)
			words_lead(r, feeding, first,
				   r->words->count == first + 1 ? (int)first : WORDS_NOWHERE);
		words_skip_blanks(r);
		char c = *r->at;
		bool twice = c && r->at[1] == c;
		if (c == '|' || c == '&')
			r->at += 1 + (twice || (c == '|' && r->at[1] == '&'));
		else if (c == ';' && !twice && r->at[1] != '&')
			r->at++;
		feeding = c == '|' && !twice ? first : none;
	}
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
	if (words_read_list(&r, "") < 0) {
		words_release(w);
		errno = r.failure;
		return -1;
	}
	const char *behind = w->comment ? w->comment + strcspn(w->comment, "\n") : "";
	if (behind[strspn(behind, " \t\r\n")])
		w->comment = NULL;
	return 0;
}

const char *words_skip(const char *text, char *out)
{
	struct words none = {.text = NULL};
	struct words_reader r = {.at = text, .words = &none, .text = out, .hidden = !out};
	return words_read_word(&r) < 0 ? NULL : r.at;
}

void words_release(struct words *w)
{
	free(w->commands);
	free(w->words);
	free(w->text);
	*w = (struct words){.text = NULL};
}
