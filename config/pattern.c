// See pattern.h.

#include "config/pattern.h"

#include "config/words.h"
#include "shim/exec_call.h"
#include "shim/shell_string.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *program;
	const char *valued;  /* options that take the next word, with blanks around each */
	const char *without; /* options that make it run no command */
	unsigned operands;   /* before the command */
	const char *word;    /* the first of them */
	bool assignments;    /* NAME=VALUE before the command */
} wrappers[] = {
	{.program = "sudo",
	 .valued = " -u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir ",
	 .without = " -l -v -k -K -V -e --list --validate --edit --version --help ",
	 .assignments = true},
	{.program = "doas", .valued = " -u -C ", .without = " -L "},
	{.program = "env",
	 .valued = " -u -C -S --unset --chdir --split-string ",
	 .without = " --version --help ",
	 .assignments = true},
	{.program = "command"},
	{.program = "builtin"},
	{.program = "exec", .valued = " -a "},
	{.program = "time", .valued = " -f -o --format --output "},
	{.program = "gtime", .valued = " -f -o --format --output "},
	{.program = "nice", .valued = " -n --adjustment "},
	{.program = "ionice", .valued = " -c -n --class --classdata ", .without = " -p --pid "},
	{.program = "chrt", .operands = 1},
	{.program = "taskset", .operands = 1},
	{.program = "timeout", .valued = " -k -s --kill-after --signal ", .operands = 1},
	{.program = "gtimeout", .valued = " -k -s --kill-after --signal ", .operands = 1},
	{.program = "stdbuf", .valued = " -i -o -e --input --output --error "},
	{.program = "unbuffer"},
	{.program = "flock", .valued = " -w --timeout ", .operands = 1},
	{.program = "xargs",
	 .valued = " -a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args "
		   "--max-procs --max-chars --replace "},
	{.program = "busybox"},
	{.program = "uv",
	 .valued =
		 " --with -p --python --extra --group --directory --project --env-file --package ",
	 .without = " -m --module ",
	 .operands = 1,
	 .word = "run"},
	{.program = "poetry", .operands = 1, .word = "run"},
	{.program = "pdm", .operands = 1, .word = "run"},
	{.program = "pipenv", .operands = 1, .word = "run"},
	{.program = "terse"},
};

/* Whether a word is one of those in a list with blanks around each. */
static bool wrapper_is_in(const char *list, const char *word)
{
	size_t len = strlen(word);
	for (const char *p = list; p && len > 0 && (p = strstr(p, word)) != NULL; p++) {
		if (p > list && p[-1] == ' ' && p[len] == ' ')
			return true;
	}
	return false;
}

char *const *wrapper_inner(char *const words[])
{
	const char *program = shell_call_name(words[0]);
	size_t i = 0, count = sizeof(wrappers) / sizeof(*wrappers);
	unsigned operands;
	bool options = true;
	while (i < count && strcmp(wrappers[i].program, program) != 0)
		i++;
	if (i == count)
		return NULL;
	operands = wrappers[i].operands;
	for (char *const *word = words + 1; *word; word++) {
		if (options && strcmp(*word, "--") == 0) {
			options = false;
		} else if (options && (*word)[0] == '-' && (*word)[1] != '\0') {
			if (wrapper_is_in(wrappers[i].without, *word))
				return NULL;
			if (wrapper_is_in(wrappers[i].valued, *word) && word[1])
				word++;
		} else if (wrappers[i].assignments && **word != '=' && strchr(*word, '=')) {
			options = false;
		} else if (operands > 0) {
			if (wrappers[i].word && strcmp(*word, wrappers[i].word) != 0)
				return NULL;
			operands--;
			options = wrappers[i].word;
		} else {
			return word;
		}
	}
	return NULL;
}

bool wrapper_is_shell(char *const words[])
{
	const char *name = shell_call_name(words[0]);
	return shell_call_is_shell(name) || shell_is_own_name(name);
}

const char *wrapper_string(char *const words[])
{
	const char *program = shell_call_name(words[0]);
	if (wrapper_is_shell(words))
		return shell_call_script(words);
	if (!words[1])
		return NULL;
	if (strcmp(program, "eval") == 0)
		return words[2] ? NULL : words[1];
	if (strcmp(program, "terse") != 0)
		return NULL;
	if (words[2])
		return strcmp(words[1], "-c") == 0 ? words[2] : NULL;
	return words[1];
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

/* Whether an alternative that starts with '-' matches one word of a command. */
static bool match_option(const char *pattern, size_t len, const char *text)
{
	/* -X: the letter in a bundle of them, like -rnX5. */
	if (len == 2 && isalpha((unsigned char)pattern[1])) {
		if (text[0] != '-' || text[1] == '-')
			return false;
		for (text++; isalpha((unsigned char)*text) && *text != pattern[1];)
			text++;
		return *text == pattern[1];
	}
	if (match_stars(pattern, len, text))
		return true;
	return strcspn(text, "=") == len && text[len] == '=' && memcmp(pattern, text, len) == 0;
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

/* The next operand from `word` on, or NULL. */
static char *const *next_operand(const char *program, char *const *word)
{
	const size_t known = sizeof(valued) / sizeof(*valued);
	for (; *word; word++) {
		size_t i = 0;
		if (**word != '-' || (*word)[1] == '\0')
			return word;
		while (i < known && !match_word(valued[i].programs, strlen(valued[i].programs),
						program, match_stars))
			i++;
		if (i < known && word[1] &&
		    match_word(valued[i].options, strlen(valued[i].options), *word, match_stars))
			word++;
	}
	return NULL;
}

unsigned pattern_match(const char *pattern, char *const words[])
{
	const char *program = shell_call_name(words[0]);
	char *const *operand = words;
	unsigned count = 1;
	/* Each command is compared with hundreds of alternatives. */
	if (!strstr(pattern, program) && !strchr(pattern, '*'))
		return 0;
	size_t len = strcspn(pattern, " \t");
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
			char *const *word = words + 1;
			while (*word && strcmp(*word, "--") != 0 &&
			       (**word != '-' || !match_word(pattern, len, *word, match_option)))
				word++;
			if (!*word || strcmp(*word, "--") == 0)
				return 0;
			continue;
		}
		operand = next_operand(program, operand + 1);
		if (!operand || !match_word(pattern, len, *operand, match_stars))
			return 0;
	}
}

bool pattern_match_word(const char *pattern, size_t len, const char *word)
{
	return match_word(pattern, len, word, match_stars);
}

const char *pattern_refuse(const char *pattern)
{
	if (*pattern == '-')
		return "a pattern starts with the name of a program";
	if (memchr(pattern, '/', strcspn(pattern, " \t")))
		return "a program's name has no /";
	for (const char *p = pattern; *p != '\0'; p++) {
		if (*p == '|' && (p == pattern || strchr("| \t", p[-1]) || strchr("| \t", p[1])))
			return "an alternative is empty";
	}
	return NULL;
}

/* --- templates for whole texts ------------------------------------------------------- */

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
		const char *end = words_skip(*text, NULL);
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

/* Tries from the left; after a mismatch the last star takes one more character. */
static bool template_match_at(const char *template, const char *text, struct part *part)
{
	const char *behind = NULL, *end = NULL; /* of the last star, in template and text */
	bool is_command = false;
	for (;;) {
		bool named = template_starts_with(template, command, LENGTH(command));
		if (named || *template == '*') {
			template += named ? LENGTH(command) : 1;
			is_command = named;
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
		words_skip(part.from, *result);
	return 1;
}
