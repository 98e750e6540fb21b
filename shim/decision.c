// See decision.h.

#include "shim/decision.h"

#include "shim/rule.h"
#include "shim/shell.h"
#include "shim/shell_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define PROGRAM "TERSE_SHIM_PROGRAM"
#define PRELOAD "TERSE_SHIM_PRELOAD"

/* Set by Claude Code for whatever it starts through its shell prefix. */
#define PREFIX "CLAUDE_CODE_SHELL_PREFIX"

static bool decision_is_own(const char *path)
{
	return shell_is_own_name(shell_call_name(*path == '-' ? path + 1 : path));
}

bool decision_is_shell(const char *name)
{
	const char *file = (const char *)getauxval(AT_EXECFN);

	return (file && decision_is_own(file)) || (name && decision_is_own(name));
}

/* Whether argv[1] alone is a string and no file. */
static bool is_one_string(char *const *argv)
{
	const char *prefix = getenv(PREFIX);

	if (!argv[0] || !argv[1] || argv[2] || *argv[1] == '-' || *argv[1] == '+')
		return false;
	/* The prefix's strings are commands: a program's name alone, too. What can't be executed
	   is at most a script. */
	if (prefix && *prefix)
		return access(argv[1], F_OK) < 0 || access(argv[1], X_OK) == 0;
	return shell_is_string(argv[1]);
}

/* The shell's name as its argv[0], with the '-' of a login shell. The arguments are not copied. */
static int decision_make_argv(struct decision *d, char **argv, bool shimmed)
{
	bool login = argv[0] && *argv[0] == '-';
	size_t count = 0, n = 0, len = strlen(d->program);

	while (argv[count])
		count++;
	d->made = malloc((count + 3) * sizeof(*d->made));
	d->base = malloc(len + 2);
	if (!d->made || !d->base)
		return -1;
	d->argv = d->made;
	d->base[0] = '-';
	memcpy(d->base + 1, d->program, len + 1);
	d->argv[n++] = shimmed && argv[0] ? argv[0] : d->base + !login;
	if (is_one_string(argv))
		d->argv[n++] = (char *)"-c";
	for (size_t i = 1; i < count; i++)
		d->argv[n++] = argv[i];
	d->argv[n] = NULL;
	return 0;
}

/* Without memory the arguments are handed on as they are, but that a string stays one. */
static int decision_fail(struct decision *d, char **argv)
{
	d->argv = argv;
	if (is_one_string(argv)) {
		d->plain[0] = argv[0];
		d->plain[1] = (char *)"-c";
		d->plain[2] = argv[1];
		d->argv = d->plain;
	}
	errno = ENOMEM;
	return -1;
}

static const char *decision_find_program(const struct settings *s, char *const *argv, char *room)
{
	bool strings = argv[0] && argv[1];
	const char *meant = getenv(PROGRAM), *name = argv[0] ? shell_call_name(argv[0]) : "";

	if (meant && *meant)
		return meant;
	if (strcmp(*name == '-' ? name + 1 : name, "terse-bash") == 0)
		return shell_find(NULL);
	return shell_real(s->shell, strings, room);
}

int decision_make(struct decision *d, const struct settings *s, char **argv, bool ask)
{
	const char *meant = getenv(PROGRAM), *preload = getenv(PRELOAD);
	bool shimmed = meant && *meant;

	*d = (struct decision){.program = NULL};
	d->program = decision_find_program(s, argv, d->room);
	if (decision_make_argv(d, argv, shimmed) < 0)
		return decision_fail(d, argv);
	const char *string = shell_call_script(d->argv);
	if (ask && string)
		d->agent = rule_call(s, d->argv, string, &d->command);
	if (preload && !d->agent && setenv("LD_PRELOAD", preload, 1) < 0)
		return decision_fail(d, argv);
	unsetenv(PROGRAM);
	unsetenv(PRELOAD);
	return 0;
}

void decision_release(struct decision *d)
{
	free(d->made);
	free(d->base);
	free(d->command);
}
