// See allow.h.

#include "supervisor/mcp/allow.h"

#include "config/pattern.h"
#include "lib/buffer.h"
#include "lib/quote.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *allow_add(struct allow *a, const char *pattern)
{
	const char *why = *pattern ? pattern_refuse(pattern) : "is empty";
	if (why)
		return why;
	const char **item = array_add(&a->patterns, &a->count, &a->room, sizeof(*item));
	if (!item)
		return strerror(ENOMEM);
	*item = pattern;
	return NULL;
}

void allow_release(struct allow *a)
{
	free(a->patterns);
	*a = (struct allow){.patterns = NULL};
}

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

int allow_words(const struct allow *a, char *const words[], char why[ALLOW_WHY_MAX])
{
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	for (size_t i = 0; i < a->count; i++) {
		if (allow_match(a->patterns[i], words))
			return 0;
	}
	if (a->count == 0)
		return 0;
	/* "'curl -O x' is not allowed here; allowed are: make|ninja *, git diff" */
	for (size_t i = 0; words[i]; i++)
		buffer_printf(&text, "%s%s", i ? " " : "", words[i]);
	quote_text(&out, text.data, text.len < 60 ? text.len : 60, '\'');
	buffer_append_string(&out, strchr(words[0], '/')
					   ? " is a path; a program is named, and found by the "
					     "server's PATH; allowed are: "
					   : " is not allowed here; allowed are: ");
	for (size_t i = 0; i < a->count; i++)
		buffer_printf(&out, "%s%s", i ? ", " : "", a->patterns[i]);
	const char *whole = buffer_string(&out);
	snprintf(why, ALLOW_WHY_MAX, "%s", whole ? whole : "not allowed here");
	buffer_release(&text);
	buffer_release(&out);
	return -1;
}

static int allow_unread(const char *what, char why[ALLOW_WHY_MAX])
{
	snprintf(why, ALLOW_WHY_MAX,
		 "%s can't be checked against what is allowed here; call it with args, or write "
		 "plain commands",
		 what);
	return -1;
}

/* Refuses what is more than plain words, quotes and the operators of lists: expansions,
   redirections, escapes, patterns, comments, line ends. */
static int allow_check_plain(const char *string, char why[ALLOW_WHY_MAX])
{
	for (const char *at = string; *at; at++) {
		char what[40];
		bool control = (unsigned char)*at < ' ' && *at != '\t';
		if (!control && !strchr("$`<>\\{}()!*?[~#", *at))
			continue;
		snprintf(what, sizeof(what), control ? "a control character" : "'%c' in a command",
			 *at);
		return allow_unread(*at == '\n' ? "a line end in a command" : what, why);
	}
	return 0;
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

/* Words that are no program, whatever a pattern with * says: what follows is. */
static bool allow_is_keyword(const char *word)
{
	static const char *const keywords[] = {
		"case",     "coproc", "do", "done",   "elif", "else", "esac",  "fi",   "for",
		"function", "if",     "in", "select", "then", "time", "until", "while"};
	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
		if (strcmp(keywords[i], word) == 0)
			return true;
	}
	return false;
}

int allow_string(const struct allow *a, const char *string, char why[ALLOW_WHY_MAX])
{
	if (a->count == 0)
		return 0;
	if (allow_check_plain(string, why) < 0)
		return -1;
	size_t len = strlen(string);
	char *text = malloc(len + 1), **words = calloc(len + 2, sizeof(*words));
	int result = text && words ? 0 : allow_unread("without memory a command", why);
	bool any = false;
	for (const char *at = string; result == 0 && *at; at += strspn(at, ";&|")) {
		at = allow_read(at, text, words);
		if (!at)
			result = allow_unread("a quote that is not closed", why);
		else if (*words && allow_is_keyword(*words))
			result = allow_unread("more than a list of commands", why);
		else if (*words)
			result = allow_words(a, words, why);
		if (result < 0)
			break;
		any |= *words != NULL;
	}
	if (result == 0 && !any)
		result = allow_unread("an empty command", why);
	free(words);
	free(text);
	return result;
}

int allow_clean_path(const char *path, struct buffer *out)
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
	return buffer_string(out) ? 0 : -1;
}
