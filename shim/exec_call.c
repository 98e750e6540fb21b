// See exec_call.h.

#include "shim/exec_call.h"

#include <paths.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

const char *shell_call_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool shell_call_is_shell(const char *name)
{
	/* Arrays of characters: pointers would be relocated in every process. */
	static const char shells[][8] = {"sh",   "bash", "dash", "zsh", "ksh",  "ksh93",
					 "mksh", "oksh", "lksh", "ash", "yash", "fish"};
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(name, shells[i]) == 0)
			return true;
	}
	return false;
}

/* Goes through the options: sets `string` for -c and `interactive` for -i. Returns the arguments
   after the options, or NULL if an option's value is missing. */
static char *const *shell_call_options(char *const *argv, bool *string, bool *interactive)
{
	char *const *word = argv + 1;
	for (; *word && (**word == '-' || **word == '+'); word++) {
		const char *letters = *word + 1;
		if (strcmp(*word, "--") == 0 || strcmp(*word, "-") == 0)
			return word + 1;
		if (**word == '-' && *letters == '-') {
			/* The next argument is the value of these options. */
			bool valued = strcmp(*word, "--rcfile") == 0 ||
				      strcmp(*word, "--init-file") == 0 ||
				      strcmp(*word, "--emulate") == 0;
			if (valued && *++word == NULL)
				return NULL;
			continue;
		}
		bool is_set = **word == '-';
		for (; *letters; letters++) {
			*string |= *letters == 'c' && is_set;
			*interactive |= *letters == 'i' && is_set;
			/* -o NAME and bash's -O NAME take an argument each. */
			if ((*letters == 'o' || *letters == 'O') && *++word == NULL)
				return NULL;
		}
	}
	return word;
}

const char *shell_call_script(char *const *argv)
{
	bool string = false, interactive = false;
	if (!argv || !argv[0])
		return NULL;
	char *const *rest = shell_call_options(argv, &string, &interactive);
	return rest && string ? *rest : NULL;
}

const char *shell_call_file(char *const *argv)
{
	bool string = false, interactive = false;
	if (!argv || !argv[0])
		return NULL;
	char *const *rest = shell_call_options(argv, &string, &interactive);
	return rest && !string ? *rest : NULL;
}

bool shell_call_runs_files(const char *name)
{
	return shell_call_is_shell(name) || strncmp(name, "python", strlen("python")) == 0;
}

bool shell_call_is_interactive(char *const *argv)
{
	bool string = false, interactive = false;
	const char *name = shell_call_name(argv[0]);
	if (!shell_call_is_shell(*name == '-' ? name + 1 : name))
		return false;
	shell_call_options(argv, &string, &interactive);
	return interactive;
}

bool shell_is_string(const char *argument)
{
	return strpbrk(argument, " \t\n|&;<>()$`\\\"'*?[]{}~#!=") && access(argument, F_OK) < 0;
}

bool shell_is_one_string(char *const *argv, const char *prefix)
{
	if (!argv[0] || !argv[1] || argv[2] || *argv[1] == '-' || *argv[1] == '+')
		return false;
	/* After the prefix, any string is a command, even the mere name of a program. A file that
	   can't be executed is a script, not a string. */
	if (prefix && *prefix)
		return access(argv[1], F_OK) < 0 || access(argv[1], X_OK) == 0;
	return shell_is_string(argv[1]);
}

bool shell_is_own_name(const char *name)
{
	return strcmp(name, "terse-sh") == 0 || strcmp(name, SHELL_NAME_BASH) == 0;
}

static const char before[] = "exec " _PATH_BSHELL " -c '";
static const char after[] = "' sh";
/* An apostrophe in a single-quoted string. */
static const char quoted[] = "'\\''";

size_t detour_size(const char *command)
{
	size_t size = sizeof(before) - 1 + sizeof(after);
	if (*command == '-' || *command == '+')
		return 0;
	for (; *command; command++)
		size += *command == '\'' ? sizeof(quoted) - 1 : 1;
	return size;
}

void detour_write(char *out, const char *command)
{
	memcpy(out, before, sizeof(before) - 1);
	out += sizeof(before) - 1;
	for (; *command; command++) {
		if (*command == '\'') {
			memcpy(out, quoted, sizeof(quoted) - 1);
			out += sizeof(quoted) - 1;
		} else {
			*out++ = *command;
		}
	}
	memcpy(out, after, sizeof(after));
}

bool preload_remove(char *out, const char *list, const char *name)
{
	size_t name_len = strlen(name);
	bool removed = false, is_first = true;
	for (const char *entry = list;; entry++) {
		size_t len = strcspn(entry, ": ");
		const char *last = len < name_len ? NULL : entry + len - name_len;
		if (last && strncmp(last, name, name_len) == 0 &&
		    (last == entry || last[-1] == '/')) {
			removed = true;
		} else {
			/* Copies the library, and the separator before it unless it is the first
			   one that stays. */
			size_t lead = is_first ? 0 : 1;
			memcpy(out, entry - lead, len + lead);
			out += len + lead;
			is_first = false;
		}
		entry += len;
		if (!*entry)
			break;
	}
	*out = '\0';
	return removed;
}
