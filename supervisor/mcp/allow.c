// See allow.h.

#include "supervisor/mcp/allow.h"

#include "config/pattern.h"
#include "lib/buffer.h"
#include "lib/quote.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a word changes what a program does, rather than being what it does it to. */
static bool allow_is_option(const char *word)
{
	size_t name = 0;
	while (isalnum((unsigned char)word[name]) || word[name] == '_')
		name++;
	return (word[0] == '-' && word[1]) || (name > 0 && word[name] == '=');
}

/* Word by word, from the program on. */
static bool allow_match(const char *pattern, char *const words[])
{
	bool first = true;
	for (;; words++, first = false) {
		size_t len = strcspn(pattern, " \t");
		const char *next = pattern + len + strspn(pattern + len, " \t");
		if (len == 0)
			break;
		if (!first && len == 1 && *pattern == '*' && !*next)
			return true;
		if (!*words || (first && strchr(*words, '/')) ||
		    (allow_is_option(*words) && *pattern != '-') ||
		    !pattern_match_word(pattern, len, *words))
			return false;
		pattern = next;
	}
	while (*words && !allow_is_option(*words))
		words++;
	return !*words;
}

int allow_words(const char *const allow[], char *const words[], struct buffer *why)
{
	struct buffer text = BUFFER_INIT;
	size_t at = 0;
	while (allow[at] && !allow_match(allow[at], words))
		at++;
	if (allow[at])
		return 0;
	/* "'curl -O x' is not allowed here; allowed are: make|ninja *, git diff" */
	for (size_t i = 0; words[i]; i++)
		buffer_printf(&text, "%s%s", i ? " " : "", words[i]);
	quote_text(why, text.data, text.len < 60 ? text.len : 60, '\'');
	buffer_append_string(why, strchr(words[0], '/')
					  ? " is a path; a program is named, and found by the "
					    "server's PATH; allowed are: "
					  : " is not allowed here; allowed are: ");
	for (size_t i = 0; allow[i]; i++)
		buffer_printf(why, "%s%s", i ? ", " : "", allow[i]);
	why->failed |= text.failed;
	buffer_release(&text);
	return -1;
}

/* Reads the words of one command into `words` and the memory at `text`. Returns where it ends, or
   NULL where a quote does not. */
static const char *allow_read(const char *at, char *text, char **words)
{
	for (;;) {
		at += strspn(at, " \t");
		if (!*at || strchr(";&|", *at))
			break;
		*words++ = text;
		while (*at && !strchr(" \t;&|", *at)) {
			bool quoted = *at == '\'' || *at == '"';
			const char *end = quoted ? strchr(at + 1, *at) : at + 1;
			if (!end)
				return NULL;
			at += quoted;
			text = mempcpy(text, at, (size_t)(end - at));
			at = end + quoted;
		}
		*text++ = '\0';
	}
	*words = NULL;
	return at;
}

int allow_string(const char *const allow[], const char *string, struct buffer *why)
{
	/* Words that are no program, whatever a pattern with * says: what follows is. */
	static const char *const keywords[] = {
		"case",     "coproc", "do", "done",   "elif", "else", "esac",  "fi",    "for",
		"function", "if",     "in", "select", "then", "time", "until", "while", NULL};
	const char *at = string, *unread = NULL;
	char what[40], *text = malloc(strlen(string) + 1);
	char **words = calloc(strlen(string) + 2, sizeof(*words));
	bool any = false;
	int result = 0;
	/* More than plain words, quotes and the operators of lists: expansions, redirections,
	   escapes, patterns, comments, line ends. */
	while (*at && ((unsigned char)*at >= ' ' || *at == '\t') &&
	       !strchr("$`<>\\{}()!*?[~#", *at))
		at++;
	snprintf(what, sizeof(what),
		 (unsigned char)*at < ' ' ? "a control character" : "'%c' in a command", *at);
	if (*at)
		unread = *at == '\n' ? "a line end in a command" : what;
	else if (!text || !words)
		unread = "without memory a command";
	for (at = string; !unread && result == 0 && *at; at += strspn(at, ";&|")) {
		size_t i = 0;
		at = allow_read(at, text, words);
		if (!at) {
			unread = "a quote that is not closed";
			break;
		}
		while (*words && keywords[i] && strcmp(keywords[i], *words) != 0)
			i++;
		if (*words && keywords[i])
			unread = "more than a list of commands";
		else if (*words)
			result = allow_words(allow, words, why);
		any |= *words != NULL;
	}
	if (!unread && !any)
		unread = "an empty command";
	if (unread)
		buffer_printf(why,
			      "%s can't be checked against what is allowed here; call it with "
			      "args, or write plain commands",
			      unread);
	free(words);
	free(text);
	return unread ? -1 : result;
}

void allow_clean_path(const char *path, struct buffer *out)
{
	const char *at = path ? path : "";
	buffer_append_string(out, "PATH=");
	size_t start = out->len;
	for (; *at; at += *at == ':') {
		size_t len = strcspn(at, ":");
		if (*at == '/') {
			buffer_append_string(out, out->len > start ? ":" : "");
			buffer_append(out, at, len);
		}
		at += len;
	}
	/* Empty, it would be the directory. */
	if (out->len == start)
		buffer_append_string(out, "/usr/local/bin:/usr/bin:/bin");
}
