// See pattern.h.

#include "config/pattern.h"

#include "config/words.h"
#include "shim/exec_call.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* --- matching, with stars ---------------------------------------------------------------- */

/* The part of the text that {command} or {word} stands for. */
struct part {
	const char *from, *to;
	bool is_word;
};

/* The length of `name` if the template begins with it, else 0. */
static size_t part_len(const char *template, const char *name)
{
	size_t len = strlen(name);
	return strncmp(template, name, len) == 0 ? len : 0;
}

/* Whether a pattern up to `end` matches all of `text`. Tries from the left; after a mismatch the
   last star takes one more character. `part`: not NULL for a template. */
static bool match_stars(const char *pattern, const char *end, const char *text, struct part *part)
{
	/* After the last star: the place in the pattern, and in the text. */
	const char *behind = NULL, *next = NULL;
	bool is_command = false;
	while (pattern < end || *text) {
		size_t named = part ? part_len(pattern, "{command}") : 0;
		size_t word = part ? part_len(pattern, "{word}") : 0;
		if (pattern < end && (named || *pattern == '*')) {
			pattern += named ? named : 1;
			is_command = named;
			behind = pattern;
			next = text;
			if (is_command)
				*part = (struct part){.from = text, .to = text};
			continue;
		}
		const char *to = word ? words_skip(text, NULL) : NULL;
		bool escaped = part && *pattern == '\\';
		char c = escaped && pattern[1] == 'n' ? '\n' : pattern[escaped];
		if (to) {
			*part = (struct part){.from = text, .to = to, .is_word = true};
			pattern += word;
			text = to;
			continue;
		}
		if (pattern < end && !word && *text == c && *text) {
			pattern += 1 + escaped;
			text++;
			continue;
		}
		if (!behind || (pattern != end && *next == '\0'))
			return false;
		/* A star at the end takes all that is left. */
		next += pattern == end && pattern == behind ? strlen(next) : 1;
		text = next;
		pattern = behind;
		if (is_command)
			part->to = next;
	}
	return true;
}

/* Whether an alternative that starts with '-' matches one word of a command. */
static bool match_option(const char *pattern, const char *end, const char *text)
{
	size_t len = (size_t)(end - pattern);
	/* -X may be in a bundle of letters, such as -rnX5. */
	if (len == 2 && isalpha((unsigned char)pattern[1])) {
		if (text[0] != '-' || text[1] == '-')
			return false;
		for (text++; isalpha((unsigned char)*text) && *text != pattern[1];)
			text++;
		return *text == pattern[1];
	}
	if (match_stars(pattern, end, text, NULL))
		return true;
	return strcspn(text, "=") == len && text[len] == '=' && memcmp(pattern, text, len) == 0;
}

static bool match_word(const char *pattern, size_t len, const char *text, bool option)
{
	for (const char *end = pattern + len, *bar;; pattern = bar + 1) {
		bar = memchr(pattern, '|', (size_t)(end - pattern));
		const char *one = bar ? bar : end;
		if (option ? match_option(pattern, one, text)
			   : match_stars(pattern, one, text, NULL))
			return true;
		if (!bar)
			return false;
	}
}

bool pattern_is_among(const char *words, const char *word)
{
	return words && match_word(words, strlen(words), word, false);
}

/* --- programs that run another one -------------------------------------------------------- */

static const struct {
	const char *programs;
	const char *valued;  /* options that take the next word */
	const char *without; /* options with which it runs no command */
	unsigned operands;   /* before the command */
	const char *word;    /* what the first operand has to be; NULL: anything */
	bool assignments;    /* NAME=VALUE before the command */
} wrappers[] = {
	{.programs = "sudo",
	 .valued = "-u|-g|-h|-p|-C|-r|-t|-T|-U|-D|-R|--user|--group|--host|--prompt|--chdir",
	 .without = "-l|-v|-k|-K|-V|-e|--list|--validate|--edit|--version|--help",
	 .assignments = true},
	{.programs = "doas", .valued = "-u|-C", .without = "-L"},
	{.programs = "env",
	 .valued = "-u|-C|-S|--unset|--chdir|--split-string",
	 .without = "--version|--help",
	 .assignments = true},
	{.programs = "command|builtin|unbuffer|busybox|terse"},
	{.programs = "exec", .valued = "-a"},
	{.programs = "time|gtime", .valued = "-f|-o|--format|--output"},
	{.programs = "nice", .valued = "-n|--adjustment"},
	{.programs = "ionice", .valued = "-c|-n|--class|--classdata", .without = "-p|--pid"},
	{.programs = "chrt|taskset", .operands = 1},
	{.programs = "timeout|gtimeout", .valued = "-k|-s|--kill-after|--signal", .operands = 1},
	{.programs = "stdbuf", .valued = "-i|-o|-e|--input|--output|--error"},
	{.programs = "flock", .valued = "-w|--timeout", .operands = 1},
	{.programs = "xargs",
	 .valued = "-a|-d|-E|-I|-L|-n|-P|-s|--arg-file|--delimiter|--max-lines|--max-args|"
		   "--max-procs|--max-chars|--replace"},
	{.programs = "uv",
	 .valued = "--with|-p|--python|--extra|--group|--directory|--project|--env-file|--package",
	 .without = "-m|--module",
	 .operands = 1,
	 .word = "run"},
	{.programs = "poetry|pdm|pipenv", .operands = 1, .word = "run"},
};

char *const *wrapper_inner(char *const words[])
{
	const char *program = shell_call_name(words[0]);
	size_t i = 0, count = sizeof(wrappers) / sizeof(*wrappers);
	bool options = true;
	while (i < count && !pattern_is_among(wrappers[i].programs, program))
		i++;
	if (i == count)
		return NULL;
	unsigned operands = wrappers[i].operands;
	for (char *const *word = words + 1; *word; word++) {
		if (options && strcmp(*word, "--") == 0) {
			options = false;
		} else if (options && (*word)[0] == '-' && (*word)[1] != '\0') {
			if (pattern_is_among(wrappers[i].without, *word))
				return NULL;
			if (pattern_is_among(wrappers[i].valued, *word) && word[1])
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

/* --- patterns for commands ---------------------------------------------------------------- */

/* Options before a subcommand that take the next word as their value, by program. */
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
		while (i < known && !pattern_is_among(valued[i].programs, program))
			i++;
		if (i < known && word[1] && pattern_is_among(valued[i].options, *word))
			word++;
	}
	return NULL;
}

unsigned pattern_match(const char *pattern, char *const words[])
{
	const char *program = shell_call_name(words[0]);
	char *const *operand = words;
	unsigned count = 1;
	/* A quick test first, since each command is compared with hundreds of alternatives. */
	if (!strstr(pattern, program) && !strchr(pattern, '*'))
		return 0;
	size_t len = strcspn(pattern, " \t");
	if (!match_word(pattern, len, program, false))
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
			       (**word != '-' || !match_word(pattern, len, *word, true)))
				word++;
			if (!*word || strcmp(*word, "--") == 0)
				return 0;
			continue;
		}
		operand = next_operand(program, operand + 1);
		if (!operand || !match_word(pattern, len, *operand, false))
			return 0;
	}
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

const char *template_refuse(const char *template)
{
	unsigned parts = 0;
	if (*template == '\0')
		return "empty";
	for (const char *t = template; *t; t++) {
		parts += part_len(t, "{command}") || part_len(t, "{word}");
		if (*t != '\\')
			continue;
		if (!*++t || !strchr("n\\*", *t))
			return "a backslash needs n, * or a backslash behind it";
	}
	return parts > 1 ? "only one {command} or {word} is allowed" : NULL;
}

bool template_match(const char *template, const char *text)
{
	struct part part = {NULL, NULL, false};
	return match_stars(template, template + strlen(template), text, &part);
}

int template_take(const char *template, const char *text, char **result)
{
	struct part part = {.from = text, .to = text + strlen(text)};
	if (!match_stars(template, template + strlen(template), text, &part))
		return 0;
	*result = strndup(part.from, (size_t)(part.to - part.from));
	if (!*result)
		return -1;
	/* Removing quotes never makes a word longer. */
	if (part.is_word)
		words_skip(part.from, *result);
	return 1;
}
