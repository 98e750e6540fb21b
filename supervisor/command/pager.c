// See pager.h.

#include "supervisor/command/pager.h"

#include "lib/exec.h"
#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *pager_command(void)
{
	const char *command = getenv("TERSE_PAGER");
	if (!command)
		command = getenv("PAGER");
	return command ? command : "less";
}

/* In the child: becomes the pager, or tells by `told` that it can't. */
static void pager_execute(const char *command, int input, int told)
{
	const char *shell[] = {"sh", "-c", command, NULL}, *plain[] = {command, NULL};
	dup2(input, STDIN_FILENO);
	setenv("LESS", "FRX", 0);
	signal(SIGPIPE, SIG_DFL);
	const char **argv = strpbrk(command, " \t|&;<>()$`\\\"'*?[#~=%") ? shell : plain;
	int error = exec_search(argv[0], (char **)argv);
	io_write(told, &error, sizeof(error));
	_exit(127);
}

pid_t pager_start(void)
{
	const char *command = pager_command();
	int input[2] = {-1, -1}, told[2] = {-1, -1}, error = 0;
	pid_t pager = 0;
	if (!*command || strcmp(command, "cat") == 0 || !isatty(STDOUT_FILENO))
		return 0;
	if (pipe2(input, O_CLOEXEC) < 0 || pipe2(told, O_CLOEXEC) < 0)
		goto out;
	pager = fork();
	if (pager == 0)
		pager_execute(command, input[0], told[1]);
	io_close(&told[1]);
	if (pager > 0 && io_read(told[0], &error, sizeof(error)) != 0) {
		waitpid(pager, NULL, 0);
		pager = 0;
	}
	/* The person may leave it before it has all. */
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
	if (pager == 0)
		return;
	close(STDOUT_FILENO);
	/* ctrl-c is for the pager. */
	signal(SIGINT, SIG_IGN);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}
