// See internal.h.

#include "supervisor/command/internal.h"

#include "lib/exec.h"
#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- colours ---------------------------------------------------------------------------- */

const char *paint_code(bool on, enum paint paint)
{
	static const char *const codes[] = {
		[PAINT_GOOD] = "\033[32m",   [PAINT_BAD] = "\033[31m",
		[PAINT_LIVE] = "\033[33m",   [PAINT_SOFT] = "\033[2m",
		[PAINT_NOTICE] = "\033[33m", [PAINT_MATCH] = "\033[1;31m",
		[PAINT_PLACE] = "\033[36m",  [PAINT_TITLE] = "\033[1m",
	};
	return on ? codes[paint] : "";
}

const char *paint_none(bool on)
{
	return on ? "\033[m" : "";
}

/* --- the pager -------------------------------------------------------------------------- */

pid_t pager_start(void)
{
	const char *own = getenv("TERSE_PAGER"), *common = getenv("PAGER");
	const char *command = own ? own : common ? common : "less";
	int input[2] = {-1, -1}, told[2] = {-1, -1}, error = 0;
	pid_t pager = 0;
	if (!*command || strcmp(command, "cat") == 0 || !isatty(STDOUT_FILENO))
		return 0;
	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(told, O_CLOEXEC) < 0)
		goto out;
	pager = fork();
	if (pager == 0) {
		/* Becomes the pager, or tells the parent that it can't. */
		const char *shell[] = {"sh", "-c", command, NULL}, *plain[] = {command, NULL};
		dup2(input[0], STDIN_FILENO);
		setenv("LESS", "FRX", 0);
		signal(SIGPIPE, SIG_DFL);
		const char **argv = strpbrk(command, " \t|&;<>()$`\\\"'*?[#~=%") ? shell : plain;
		error = exec_search(argv[0], (char **)argv);
		io_write(told[1], &error, sizeof(error));
		_exit(127);
	}
	io_close(&told[1]);
	if (pager > 0 && io_read(told[0], &error, sizeof(error)) != 0) {
		waitpid(pager, NULL, 0);
		pager = 0;
	}
	/* The user may quit the pager before it has read everything. */
	if (pager > 0) {
		signal(SIGPIPE, SIG_IGN);
		dup2(input[1], STDOUT_FILENO);
	}
out:
	for (int i = 0; i < 2; i++) {
		io_close(&input[i]);
		io_close(&told[i]);
	}
	return pager > 0 ? pager : 0;
}

void pager_end(pid_t pager)
{
	int error = errno;
	close(STDOUT_FILENO);
	/* ctrl-c is meant for the pager. */
	signal(SIGINT, SIG_IGN);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	errno = error;
}
