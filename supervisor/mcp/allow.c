// See allow.h.

#include "supervisor/mcp/allow.h"

#include "config/pattern.h"
#include "config/words.h"
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

/* "curl is not allowed; allowed are: make|ninja, git diff" */
static int allow_refuse(const struct allow *a, const char *program, char why[ALLOW_WHY_MAX])
{
	struct buffer out = BUFFER_INIT;
	quote_text(&out, program, strnlen(program, 60), '\'');
	buffer_append_string(&out, " is not allowed here; allowed are: ");
	for (size_t i = 0; i < a->count; i++)
		buffer_printf(&out, "%s%s", i ? ", " : "", a->patterns[i]);
	const char *text = buffer_string(&out);
	snprintf(why, ALLOW_WHY_MAX, "%s", text ? text : "not allowed here");
	buffer_release(&out);
	return -1;
}

int allow_words(const struct allow *a, char *const words[], char why[ALLOW_WHY_MAX])
{
	for (size_t i = 0; i < a->count; i++) {
		if (pattern_match(a->patterns[i], words) > 0)
			return 0;
	}
	return a->count == 0 ? 0 : allow_refuse(a, words[0], why);
}

/* The first character that the shell reader does not follow: the start of an expansion, a
   redirection, an escape; or 0. */
static char allow_find_unread(const char *string)
{
	const char *at = strpbrk(string, "$`<>\\\n{}()!*?[~#");
	return at ? *at : 0;
}

/* Whether a word is an assignment, in front of a command or on its own: it could change what the
   command is (PATH, LD_PRELOAD). The words of the reader leave these out, so any is refused. */
static bool allow_has_assignment(const char *string)
{
	for (const char *at = string; *at;) {
		const char *start = at;
		while (isalnum((unsigned char)*at) || *at == '_')
			at++;
		if (at > start && (*at == '=' || (*at == '+' && at[1] == '=')))
			return true;
		at += strcspn(at, " \t;|&");
		at += strspn(at, " \t;|&");
	}
	return false;
}

static int allow_unread(const char *what, char why[ALLOW_WHY_MAX])
{
	snprintf(why, ALLOW_WHY_MAX,
		 "%s can't be checked against what is allowed here; call it with args, or write "
		 "plain commands",
		 what);
	return -1;
}

int allow_string(const struct allow *a, const char *string, char why[ALLOW_WHY_MAX])
{
	struct words w;
	char what[40];
	if (a->count == 0)
		return 0;
	char unread = allow_find_unread(string);
	snprintf(what, sizeof(what),
		 unread == '\n' ? "a line end in a command" : "'%c' in a command", unread);
	if (unread)
		return allow_unread(what, why);
	if (allow_has_assignment(string))
		return allow_unread("an assignment in a command", why);
	if (words_parse(&w, string) < 0)
		return allow_unread("a command that the shell reader does not understand", why);
	int result = w.count ? 0 : allow_unread("an empty command", why);
	for (size_t i = 0; i < w.count && result == 0; i++)
		result = allow_words(a, w.words + w.commands[i].first, why);
	words_release(&w);
	return result;
}
