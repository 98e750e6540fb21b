// See template.h.

#include "config/template.h"

#include <stddef.h>
#include <string.h>

static const char command[] = "{command}";
static const char word[] = "{word}";

#define LENGTH(literal) (sizeof(literal) - 1)

static bool template_starts_with(const char *text, const char *start, size_t len)
{
	return strncmp(text, start, len) == 0;
}

const char *template_refuse(const char *template)
{
	unsigned parts = 0;
	if (*template == '\0')
		return "empty";
	for (const char *t = template; *t; t++) {
		parts += template_starts_with(t, command, LENGTH(command)) ||
			 template_starts_with(t, word, LENGTH(word));
		if (*t != '\\')
			continue;
		if (!*++t || !strchr("n\\*", *t))
			return "a backslash needs n, * or a backslash behind it";
	}
	return parts > 1 ? "only one {command} or {word} is allowed" : NULL;
}

/* The end of the quoted part at `text`, or NULL. Appends it without quotes to *out, unless NULL. */
static const char *skip_quoted(const char *text, char **out)
{
	char quote = *text++;
	for (; *text != quote; text++) {
		if (quote == '"' && *text == '\\' && text[1] && strchr("$`\"\\", text[1]))
			text++;
		if (*text == '\0')
			return NULL;
		if (*out)
			*(*out)++ = *text;
	}
	return text + 1;
}

/* The end of the shell's word at `text`, or NULL if there is none. Writes the word without quotes
   to `out`, unless NULL. */
static const char *skip_word(const char *text, char *out)
{
	const char *start = text;
	while (text && *text && !strchr(" \t\n|&;<>()", *text)) {
		if (*text == '\'' || *text == '"') {
			text = skip_quoted(text, &out);
			continue;
		}
		if (*text == '\\' && *++text == '\0')
			return NULL;
		if (out)
			*out++ = *text;
		text++;
	}
	if (out)
		*out = '\0';
	return text == start ? NULL : text;
}

/* The result, in the text. */
struct part {
	const char *from, *to;
	bool is_word;
};

/* Matches one element other than a star and {command}. Moves both pointers; false: the text
   differs. */
static bool match_one(const char **template, const char **text, struct part *part)
{
	if (template_starts_with(*template, word, LENGTH(word))) {
		const char *end = skip_word(*text, NULL);
		if (!end)
			return false;
		*part = (struct part){.from = *text, .to = end, .is_word = true};
		*template += LENGTH(word);
		*text = end;
		return true;
	}
	char c = *(*template)++;
	if (c == '\\') {
		c = *(*template)++;
		if (c == 'n')
			c = '\n';
	}
	return *(*text)++ == c;
}

/* Moves behind a star or {command} if there is one. */
static bool take_star(const char **template, bool *is_command)
{
	bool named = template_starts_with(*template, command, LENGTH(command));
	if (!named && **template != '*')
		return false;
	*template += named ? LENGTH(command) : 1;
	*is_command = named;
	return true;
}

/* Tries from the left; after a mismatch the last star takes one more character. */
static bool template_match_at(const char *template, const char *text, struct part *part)
{
	const char *behind = NULL, *end = NULL; /* of the last star, in template and text */
	bool is_command = false;
	for (;;) {
		if (take_star(&template, &is_command)) {
			behind = template;
			end = text;
			if (is_command)
				*part = (struct part){.from = text, .to = text};
			continue;
		}
		if (*template == '\0' && *text == '\0')
			return true;
		if (template == behind && *template == '\0')
			text = end = end + strlen(end);
		else if (*template && *text && match_one(&template, &text, part))
			continue;
		else if (!behind || *end == '\0')
			return false;
		else
			text = ++end;
		template = behind;
		if (is_command)
			part->to = end;
	}
}

bool template_match(const char *template, const char *text)
{
	struct part part = {NULL, NULL, false};
	return template_match_at(template, text, &part);
}

int template_take(const char *template, const char *text, char **result)
{
	struct part part = {NULL, NULL, false};
	if (!template_match_at(template, text, &part))
		return 0;
	if (!part.from)
		part = (struct part){.from = text, .to = text + strlen(text)};
	*result = strndup(part.from, (size_t)(part.to - part.from));
	if (!*result)
		return -1;
	/* Removing quotes never makes a word longer. */
	if (part.is_word)
		skip_word(part.from, *result);
	return 1;
}
