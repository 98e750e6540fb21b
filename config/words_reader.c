// Words and redirections of shell strings. See words_reader.h.

#include "config/words_reader.h"

#include <errno.h>
#include <string.h>

int words_fail(struct words_reader *r, int failure)
{
	r->failure = failure;
	return -1;
}

/* --- words: quotes, escapes, expansions ----------------------------------------------- */

void words_skip_blanks(struct words_reader *r)
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

static void word_put(struct words_reader *r, const char *from, size_t len)
{
	if (r->hidden)
		return;
	memcpy(r->text, from, len);
	r->text += len;
}

/* Skips `...` as bash does. */
static int skip_backquotes(struct words_reader *r)
{
	for (r->at++; *r->at != '`'; r->at++) {
		if (r->at[0] == '\\' && r->at[1] != '\0')
			r->at++;
		if (*r->at == '\0')
			return words_fail(r, EINVAL);
	}
	r->at++;
	return 0;
}

/* Skips '...', or $'...' where a backslash escapes. */
static int skip_single_quotes(struct words_reader *r, bool escapes)
{
	for (r->at++; *r->at != '\''; r->at++) {
		if (escapes && r->at[0] == '\\' && r->at[1] != '\0')
			r->at++;
		if (*r->at == '\0')
			return words_fail(r, EINVAL);
	}
	r->at++;
	return 0;
}

static int skip_expansion(struct words_reader *r);

/* Whether an expansion that can hold anything starts here. */
static bool at_expansion(const char *p)
{
	return *p == '`' || (*p == '$' && (p[1] == '(' || p[1] == '{'));
}

static int skip_double_quotes(struct words_reader *r)
{
	for (r->at++; *r->at != '"';) {
		if (at_expansion(r->at)) {
			if (skip_expansion(r) < 0)
				return -1;
			continue;
		}
		if (r->at[0] == '\\' && r->at[1] != '\0')
			r->at++;
		if (*r->at == '\0')
			return words_fail(r, EINVAL);
		r->at++;
	}
	r->at++;
	return 0;
}

int words_skip_brackets(struct words_reader *r, char open, char close)
{
	size_t nested = 0;
	int result = 0;
	do {
		char c = *r->at;
		if (c == '\0')
			return words_fail(r, EINVAL);
		if (c == '\'') {
			result = skip_single_quotes(r, false);
		} else if (c == '"') {
			result = skip_double_quotes(r);
		} else if (at_expansion(r->at)) {
			result = skip_expansion(r);
		} else {
			nested += c == open;
			nested -= c == close;
			r->at += 1 + (c == '\\' && r->at[1] != '\0');
		}
	} while (result == 0 && nested > 0);
	return result;
}

/* Skips the expansion that at_expansion() saw. */
static int skip_expansion(struct words_reader *r)
{
	int result;
	if (*r->at == '`')
		return skip_backquotes(r);
	if (++r->depth > WORDS_DEPTH_MAX)
		return words_fail(r, EINVAL);
	r->at++;
	if (*r->at == '{') {
		result = words_skip_brackets(r, '{', '}');
	} else if (r->at[1] == '(') {
		result = words_skip_brackets(r, '(', ')');
	} else {
		r->at++;
		result = words_read_nested(r);
	}
	r->depth--;
	return result;
}

/* Reads double quotes, where a backslash stays unless it escapes. */
static int read_double_quotes(struct words_reader *r)
{
	for (r->at++; *r->at != '"';) {
		const char *start = r->at;
		if (at_expansion(r->at)) {
			if (skip_expansion(r) < 0)
				return -1;
		} else if (*r->at == '\0') {
			return words_fail(r, EINVAL);
		} else {
			if (*r->at == '\\' && r->at[1] != '\0' && strchr("$`\"\\\n", r->at[1]))
				start = ++r->at;
			r->at++;
			if (*start == '\n' && start[-1] == '\\')
				continue;
		}
		word_put(r, start, (size_t)(r->at - start));
	}
	r->at++;
	return 0;
}

/* Reads one quoted or expanded part, or plain bytes. */
static int read_part(struct words_reader *r)
{
	const char *from = r->at;
	char c = *from;
	int result = 0;
	if (c == '"')
		return read_double_quotes(r);
	if (c == '$' && from[1] == '"') {
		r->at++;
		return read_double_quotes(r);
	}
	if (c == '\'' || (c == '$' && from[1] == '\'')) {
		r->at += c == '$';
		from = r->at + 1;
		if (skip_single_quotes(r, c == '$') < 0)
			return -1;
		word_put(r, from, (size_t)(r->at - 1 - from));
		return 0;
	}
	if (c == '\\') {
		r->at += from[1] != '\0' ? 2 : 1;
		if (from[1] != '\n')
			word_put(r, r->at - 1, 1);
		return 0;
	}
	if (at_expansion(from)) {
		result = skip_expansion(r);
	} else if (c == '(' || c == '<' || c == '>') {
		/* An array, an extended pattern, or <(...) and >(...). */
		r->at += c != '(';
		if (++r->depth > WORDS_DEPTH_MAX)
			return words_fail(r, EINVAL);
		if (c != '(') {
			r->at++;
			result = words_read_nested(r);
		} else {
			result = words_skip_brackets(r, '(', ')');
		}
		r->depth--;
	} else {
		r->at = from + 1 + strcspn(from + 1, " \t\r\n;&|()<>'\"\\$`");
	}
	word_put(r, from, (size_t)(r->at - from));
	return result;
}

/* Whether the word that begins at `start` ends at r->at. */
static bool ends(const struct words_reader *r, const char *start)
{
	const char *p = r->at;
	if (*p == '\0' || strchr(" \t\r\n;&|)", *p))
		return true;
	if (*p == '<' || *p == '>')
		return p[1] != '(';
	return *p == '(' && (p == start || !strchr("=?*+@!", p[-1]));
}

int words_read_word(struct words_reader *r)
{
	const char *start = r->at;
	if (ends(r, start))
		return words_fail(r, EINVAL);
	while (!ends(r, start)) {
		if (read_part(r) < 0)
			return -1;
	}
	word_put(r, "", 1);
	return 0;
}

int words_skip_word(struct words_reader *r)
{
	int result;
	r->hidden++;
	result = words_read_word(r);
	r->hidden--;
	return result;
}

/* --- redirections and here-documents ---------------------------------------------------- */

static const char *skip_digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* Skips the descriptor in front of the operator: a number, or {name}. */
static const char *skip_descriptor(const char *p)
{
	const char *end;
	if (*p != '{')
		return skip_digits(p);
	end = p + strcspn(p, " \t\n},;\"'$");
	return *end == '}' && (end[1] == '<' || end[1] == '>') ? end + 1 : p;
}

bool words_at_redirection(const struct words_reader *r)
{
	const char *p = skip_descriptor(r->at);
	if (*p == '<' || *p == '>')
		return p > r->at || p[1] != '(';
	return p[0] == '&' && p[1] == '>' && p == r->at;
}

/* Whether a line ends the here-document with this delimiter, which may have quotes. */
static bool is_end_line(const char *line, size_t len, const char *delimiter)
{
	const char *end = line + len;
	char quote = '\0';
	for (; *delimiter != '\0'; delimiter++) {
		if (quote ? *delimiter == quote : *delimiter == '\'' || *delimiter == '"') {
			quote = quote ? '\0' : *delimiter;
			continue;
		}
		if (!quote && strchr(" \t\r\n;&|<>()", *delimiter))
			break;
		if (*delimiter == '\\' && quote != '\'' && delimiter[1] != '\0')
			delimiter++;
		if (line == end || *line != *delimiter)
			return false;
		line++;
	}
	return line == end;
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
		if (is_end_line(line, len, h->delimiter))
			return;
	}
}

void words_skip_newline(struct words_reader *r)
{
	r->at++;
	for (size_t i = 0; i < r->heredoc_count; i++)
		skip_heredoc(r, &r->heredocs[i]);
	r->heredoc_count = 0;
}

static int read_heredoc(struct words_reader *r)
{
	struct heredoc h = {.tabs = *r->at == '-'};
	r->at += h.tabs;
	words_skip_blanks(r);
	h.delimiter = r->at;
	if (r->heredoc_count == HEREDOCS_MAX)
		return words_fail(r, EINVAL);
	r->heredocs[r->heredoc_count++] = h;
	return words_skip_word(r);
}

/* Whether output to `target` is still shown. */
static bool is_shown(const char *target)
{
	static const char *const shown[] = {"/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1",
					    "/dev/fd/2"};
	if (target[0] == '>' && target[1] == '(')
		return true;
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		if (strcmp(target, shown[i]) == 0)
			return true;
	}
	return false;
}

/* Reads the target of `>`, `>&` ... */
static int read_target(struct words_reader *r, bool descriptor, bool of_stdout, int *into)
{
	char *target = r->text;
	words_skip_blanks(r);
	if (!of_stdout || r->hidden)
		return words_skip_word(r);
	if (words_read_word(r) < 0)
		return -1;
	r->text = target;
	if (descriptor && strcmp(target, "-") != 0 && *skip_digits(target) == '\0')
		*into = WORDS_OUT;
	else
		*into = is_shown(target) ? WORDS_OUT : WORDS_NOWHERE;
	return 0;
}

int words_read_redirection(struct words_reader *r, int *into)
{
	const char *start = r->at;
	bool both = *start == '&', descriptor;
	bool of_stdout = both || *start == '>' || (start[0] == '1' && start[1] == '>');
	r->at = skip_descriptor(start) + both;
	if (r->at[0] == '<') {
		if (r->at[1] == '<' && r->at[2] != '<') {
			r->at += 2;
			return read_heredoc(r);
		}
		r->at += r->at[1] == '<' ? 3 : 1;
		r->at += *r->at == '&' || *r->at == '>';
		return read_target(r, false, false, into);
	}
	r->at++;
	descriptor = *r->at == '&';
	r->at += descriptor || *r->at == '>' || *r->at == '|';
	return read_target(r, descriptor, of_stdout, into);
}
