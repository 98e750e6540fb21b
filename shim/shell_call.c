// See shell_call.h.

#include "shim/shell_call.h"

#include <stddef.h>
#include <string.h>

const char *shell_call_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool shell_call_is_shell(const char *name)
{
	/* Arrays, not pointers, which would have to be relocated in every process. */
	static const char shells[][8] = {"sh",   "bash", "dash", "zsh", "ksh",  "ksh93",
					 "mksh", "oksh", "lksh", "ash", "yash", "fish"};
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(name, shells[i]) == 0)
			return true;
	}
	return false;
}

/* Long options whose value is the next argument. */
static bool shell_call_takes_value(const char *option)
{
	return strcmp(option, "--rcfile") == 0 || strcmp(option, "--init-file") == 0 ||
	       strcmp(option, "--emulate") == 0;
}

const char *shell_call_script(char *const *argv)
{
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
			if (shell_call_takes_value(*word) && *++word == NULL)
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
