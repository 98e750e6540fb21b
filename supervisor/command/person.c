// See person.h.

#include "supervisor/command/person.h"

#include "lib/exec.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- colours ---------------------------------------------------------------------------- */

bool paint_by_default(void)
{
	const char *none = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
	const char *term = getenv("TERM");
	if (none && *none)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return reader_find() != SINK_AGENT;
	return isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

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
		/* Becomes it, or tells that it can't. */
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

/* --- progress --------------------------------------------------------------------------- */

/* In milliseconds: nobody who waits less is told anything. */
#define PROGRESS_AFTER 1000
#define PROGRESS_EVERY 200

void progress_begin(struct progress *p)
{
	*p = (struct progress){.on = isatty(STDERR_FILENO), .began_ms = clock_monotonic_ms()};
}

void progress_tell(struct progress *p, const char *format, ...)
{
	char line[100] = "\r\033[K";
	const size_t begin = 4;
	if (!p->on)
		return;
	int64_t now = clock_monotonic_ms();
	if (now - p->began_ms < PROGRESS_AFTER || now - p->shown_ms < PROGRESS_EVERY)
		return;
	va_list args;
	va_start(args, format);
	int len = vsnprintf(line + begin, sizeof(line) - begin, format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(line) - begin)
		return;
	p->shown_ms = now;
	p->shows = true;
	io_write(STDERR_FILENO, line, begin + (size_t)len);
}

void progress_end(struct progress *p)
{
	if (p->shows)
		io_write(STDERR_FILENO, "\r\033[K", 4);
	p->shows = false;
}
