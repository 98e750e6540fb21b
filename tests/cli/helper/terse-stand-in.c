// Stands in for terse-sh in the tests of the shim: records how it was executed, then executes the
// original shell.
//
// One record a call is appended to the file that STAND_IN_REPORT names: lines NAME=VALUE, then an
// empty one. With STAND_IN_RESTORE in the environment, LD_PRELOAD is put back before (as terse-sh
// does for what no rule names); without TERSE_SHIM_PROGRAM the shell is /bin/sh.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static void report(const char *path, char **argv)
{
	static const char *const names[] = {"LD_PRELOAD", "TERSE_SHIM_PROGRAM",
					    "TERSE_SHIM_PRELOAD", "CALLER"};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (!out || fd < 0)
		_exit(99);
	fprintf(out, "file=%s\n", (const char *)getauxval(AT_EXECFN));
	for (int i = 0; argv[i]; i++)
		fprintf(out, "argv%d=%s\n", i, argv[i]);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (getenv(names[i]))
			fprintf(out, "%s=%s\n", names[i], getenv(names[i]));
	}
	fputs("\n", out);
	if (fclose(out) != 0 || write(fd, text, size) != (ssize_t)size)
		_exit(99);
	close(fd);
	free(text);
}

int main(int argc, char **argv)
{
	const char *path = getenv("STAND_IN_REPORT"), *program = getenv("TERSE_SHIM_PROGRAM");
	const char *preload = getenv("TERSE_SHIM_PRELOAD");
	(void)argc;
	if (path)
		report(path, argv);
	program = strdup(program ? program : "/bin/sh");
	if (!program || (preload && getenv("STAND_IN_RESTORE") && setenv("LD_PRELOAD", preload, 1)))
		return 99;
	unsetenv("TERSE_SHIM_PROGRAM");
	unsetenv("TERSE_SHIM_PRELOAD");
	execv(program, argv);
	perror(program);
	return 126;
}
