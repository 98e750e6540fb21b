// See guard.h.

#include "supervisor/process/guard.h"

#include "supervisor/base/clock.h"
#include "supervisor/base/io.h"
#include "supervisor/process/family.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#define LOOK_MS 20

void guard_restore_terminal(int terminal, const struct termios *modes, const struct termios *raw)
{
	struct termios now;
	/* A shell that noticed first has set its own by now. */
	if (tcgetattr(terminal, &now) < 0 || now.c_lflag != raw->c_lflag ||
	    now.c_iflag != raw->c_iflag || now.c_oflag != raw->c_oflag)
		return;
	tcsetattr(terminal, TCSADRAIN, modes);
}

_Noreturn static void watch(const struct guard *g)
{
	char byte;
	ssize_t n;
	setsid();
	io_close_others(0, (int[]){g->pipe, g->terminal}, 2);
	do
		n = read(g->pipe, &byte, 1);
	while (n < 0 && errno == EINTR);
	/* Told that all is over, or nothing can be known. */
	if (n != 0)
		_exit(0);
	if (g->terminal >= 0)
		guard_restore_terminal(g->terminal, g->modes, g->raw);
	struct family_end end = {.session = g->session, .group = g->group, .grace_ms = g->grace_ms};
	while (family_end_step(&end, FAMILY_HUP, clock_monotonic_ms()))
		poll(NULL, 0, LOOK_MS);
	_exit(0);
}

pid_t guard_start(const struct guard *g)
{
	pid_t pid = fork();
	if (pid == 0)
		watch(g);
	return pid;
}
