// See wrapper.h.

#include "config/wrapper.h"

#include "config/pattern.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *program;
	const char *valued;  /* options that take the next word, with blanks around each */
	const char *without; /* options with which it runs no command */
	unsigned operands;   /* before the command */
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

static bool wrapper_is_assignment(const char *word)
{
	const char *equals = strchr(word, '=');
	return equals && equals > word;
}

char *const *wrapper_inner(char *const words[])
{
	const char *program = pattern_program(words[0]);
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
		} else if (wrappers[i].assignments && wrapper_is_assignment(*word)) {
			options = false;
		} else if (operands > 0) {
			operands--;
			options = false;
		} else {
			return word;
		}
	}
	return NULL;
}

/* The string of `sh -c`, with words[0] a shell. */
static const char *shell_string(char *const words[])
{
	bool string = false;

	for (char *const *word = words + 1; *word; word++) {
		const char *w = *word;

		if (w[0] != '-' && w[0] != '+')
			return string ? w : NULL;
		if (w[0] == '-' && w[1] != '-' && strchr(w, 'c'))
			string = true;
		/* -o pipefail, also in -euo pipefail */
		if (w[1] != '-' && w[1] != '\0' && strchr("oO", w[strlen(w) - 1]) && word[1])
			word++;
	}
	return NULL;
}

const char *wrapper_string(char *const words[])
{
	static const char shells[] = " sh bash dash zsh ksh mksh ash rbash terse-sh ";
	const char *program = pattern_program(words[0]);

	if (wrapper_is_in(shells, program))
		return shell_string(words);
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
