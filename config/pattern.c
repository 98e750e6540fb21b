// See pattern.h.

#include "config/pattern.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const char *pattern_program(const char *word)
{
	const char *slash = strrchr(word, '/');
	return slash ? slash + 1 : word;
}

/* Whether the first `len` bytes of a pattern, with * in it, match all of `text`. */
static bool match_stars(const char *pattern, size_t len, const char *text)
{
	const char *end = pattern + len, *star = NULL, *resume = NULL;

	for (;;) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			resume = text;
		} else if (pattern < end && *text != '\0' && *pattern == *text) {
			pattern++;
			text++;
		} else if (pattern == end && *text == '\0') {
			return true;
		} else if (star && *resume != '\0') {
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
}

/* -X: the letter in a bundle of them, like -rnX5. */
static bool match_letter(char letter, const char *text)
{
	if (text[0] != '-' || text[1] == '-')
		return false;
	for (text++; isalpha((unsigned char)*text); text++) {
		if (*text == letter)
			return true;
	}
	return false;
}

/* Whether an alternative that starts with '-' matches one word of a command. */
static bool match_option(const char *pattern, size_t len, const char *text)
{
	const char *equals;
	size_t name;

	if (len == 2 && isalpha((unsigned char)pattern[1]))
		return match_letter(pattern[1], text);
	if (match_stars(pattern, len, text))
		return true;
	equals = strchr(text, '=');
	name = equals ? (size_t)(equals - text) : 0;
	return name == len && memcmp(pattern, text, len) == 0;
}

/* Whether one of a pattern word's alternatives matches. */
static bool match_word(const char *pattern, size_t len, const char *text,
		       bool (*match)(const char *pattern, size_t len, const char *text))
{
	const char *end = pattern + len;

	for (;;) {
		const char *bar = memchr(pattern, '|', (size_t)(end - pattern));
		size_t one = (size_t)((bar ? bar : end) - pattern);

		if (match(pattern, one, text))
			return true;
		if (!bar)
			return false;
		pattern = bar + 1;
	}
}

/* Options in front of a subcommand that take the next word as their value. */
static const struct {
	const char *programs, *options;
} valued[] = {
	{"git", "-C|-c|--git-dir|--work-tree|--namespace|--config-env"},
	{"docker|podman|nerdctl", "-H|--host|-c|--context|-l|--log-level|--config|-f|--file|-p|"
				  "--project-name|--env-file|--profile"},
	{"kubectl|oc", "-n|--namespace|--context|--cluster|--user|--kubeconfig|-s|--server"},
	{"gh", "-R|--repo"},
	{"npm|pnpm|yarn", "--prefix|-C|--dir|--cwd|-w|--workspace|-F|--filter"},
	{"systemctl|journalctl", "-u|--unit|-H|--host|-M|--machine"},
};

static bool match_exactly(const char *pattern, size_t len, const char *text)
{
	return strncmp(pattern, text, len) == 0 && text[len] == '\0';
}

static bool pattern_takes_value(const char *program, const char *option)
{
	for (size_t i = 0; i < sizeof(valued) / sizeof(*valued); i++) {
		if (match_word(valued[i].programs, strlen(valued[i].programs), program,
			       match_exactly))
			return match_word(valued[i].options, strlen(valued[i].options), option,
					  match_exactly);
	}
	return false;
}

/* The next operand from `word` on; NULL: there is none. */
static char *const *next_operand(const char *program, char *const *word)
{
	for (; *word; word++) {
		if (**word != '-' || (*word)[1] == '\0')
			return word;
		if (pattern_takes_value(program, *word) && word[1])
			word++;
	}
	return NULL;
}

static bool has_option(const char *pattern, size_t len, char *const *word)
{
	for (; *word && strcmp(*word, "--") != 0; word++) {
		if (**word == '-' && match_word(pattern, len, *word, match_option))
			return true;
	}
	return false;
}

unsigned pattern_match(const char *pattern, char *const words[])
{
	const char *program = pattern_program(words[0]);
	char *const *operand = words;
	size_t len = strcspn(pattern, " \t");
	unsigned count = 1;

	if (!match_word(pattern, len, program, match_stars))
		return 0;
	for (;;) {
		pattern += len;
		pattern += strspn(pattern, " \t");
		if (*pattern == '\0')
			return count;
		len = strcspn(pattern, " \t");
		count++;
		if (*pattern == '-') {
			if (!has_option(pattern, len, words + 1))
				return 0;
			continue;
		}
		operand = next_operand(program, operand + 1);
		if (!operand || !match_word(pattern, len, *operand, match_stars))
			return 0;
	}
}

const char *pattern_refuse(const char *pattern)
{
	if (*pattern == '-')
		return "a pattern starts with the name of a program";
	if (memchr(pattern, '/', strcspn(pattern, " \t")))
		return "the name of a program has no / in it";
	for (const char *p = pattern; *p != '\0'; p++) {
		if (*p == '|' && (p == pattern || strchr("| \t", p[-1]) || strchr("| \t", p[1])))
			return "an alternative is empty";
	}
	return NULL;
}
