// The input that the shim reads in another process: arguments of a call, LD_PRELOAD, strings of
// system(). The input's lines are LD_PRELOAD and then the arguments; all of it is the string.

#include "shim/exec_call.h"
#include "tests/fuzz/fuzz.h"

#define NAME          "libterse-shim.so"
#define ARGUMENTS_MAX 64

/* The script is one of the arguments, after one that has the c, and none before is it. */
static void check_arguments(char *const *argv)
{
	const char *script = shell_call_script(argv);
	bool has_c = false;
	(void)shell_call_is_shell(shell_call_name(argv[0] ? argv[0] : ""));
	if (!script)
		return;
	for (size_t i = 1;; i++) {
		assert(argv[i]);
		if (argv[i] == script)
			break;
		has_c = has_c || (*argv[i] == '-' && strchr(argv[i], 'c'));
	}
	assert(has_c);
}

/* No entry of the name is left, and once it is gone nothing more is taken out. */
static void check_preload(const char *list)
{
	char *once = malloc(strlen(list) + 1), *twice = malloc(strlen(list) + 1);
	assert(once && twice);
	bool removed = preload_remove(once, list, NAME);
	assert(removed ? strlen(once) < strlen(list) : strcmp(once, list) == 0);
	assert(!preload_remove(twice, once, NAME) && strcmp(once, twice) == 0);
	free(once);
	free(twice);
}

/* The quoted part is the command again when a shell's quoting is undone. */
static void check_detour(const char *command)
{
	static const char before[] = "exec /bin/sh -c '", after[] = "' sh";
	size_t size = detour_size(command);
	if (size == 0)
		return;
	char *out = malloc(size);
	assert(out);
	detour_write(out, command);
	assert(strlen(out) == size - 1 && memcmp(out, before, sizeof(before) - 1) == 0);
	const char *at = out + sizeof(before) - 1;
	for (; *command; command++) {
		if (*command == '\'') {
			assert(memcmp(at, "'\\''", 4) == 0);
			at += 4;
		} else {
			assert(*at++ == *command);
		}
	}
	assert(strcmp(at, after) == 0);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text;
	char *argv[ARGUMENTS_MAX + 1] = {NULL};
	if (!text)
		return 0;
	check_detour(text);
	const char *list = strsep(&rest, "\n");
	for (size_t i = 0; rest && i < ARGUMENTS_MAX; i++)
		argv[i] = strsep(&rest, "\n");
	check_preload(list);
	check_arguments(argv);
	free(text);
	return 0;
}
