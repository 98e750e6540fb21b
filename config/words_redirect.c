// Redirections of a shell string, and here-documents. See words_reader.h.

#include "config/words_reader.h"

#include <errno.h>
#include <string.h>

static const char *skip_digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* The descriptor in front of the operator: a number, or {name}. */
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

/* Whether the end of a here-document with this delimiter (as it is written) starts at `line`. */
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

/* Whether what is written to `target` is still to be seen. */
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

/* What is behind `>`, `>&` ... */
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
