// See shell_call.h.

#include "shim/shell_call.h"

#include <stddef.h>
#include <string.h>

const char *shell_call_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

bool shell_call_is_shell(const char *name)
{
	static const char *const shells[] = {"sh",    "bash",    "dash", "zsh",  "ksh",
					     "ksh93", "ksh2020", "mksh", "oksh", "lksh",
					     "ash",   "yash",    "fish"};
	return is_one_of(name, shells, sizeof(shells) / sizeof(*shells));
}

const char *shell_call_script(char *const *argv)
{
	/* Long options whose value is the next argument. */
	static const char *const valued[] = {"--rcfile", "--init-file", "--emulate"};
	bool is_string = false;
	if (!argv || !argv[0])
		return NULL;
	char *const *word = argv + 1;
	for (; *word && (**word == '-' || **word == '+'); word++) {
		const char *letters = *word + 1;
		if (strcmp(*word, "--") == 0 || strcmp(*word, "-") == 0) {
			word++;
			break;
		}
		if (**word == '-' && *letters == '-') {
			if (is_one_of(*word, valued, sizeof(valued) / sizeof(*valued)) &&
			    *++word == NULL)
				return NULL;
			continue;
		}
		char *const *options = word;
		for (; *letters; letters++) {
			if (*letters == 'c' && **options == '-')
				is_string = true;
			/* -o NAME and bash's -O NAME: each takes an argument of its own. */
			if ((*letters == 'o' || *letters == 'O') && *++word == NULL)
				return NULL;
		}
	}
	return is_string ? *word : NULL;
}
