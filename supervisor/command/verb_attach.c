// terse attach ID: connects this terminal to a running command.

#include "lib/io.h"
#include "lib/loop.h"
#include "supervisor/command/internal.h"
#include "supervisor/process/spawn.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Why the client leaves. */
enum leaving { LEAVING_NOT, LEAVING_DETACHED, LEAVING_ENDED, LEAVING_SIGNAL };

struct attach {
	bool read_only;
	int run;
	enum leaving leaving;
};

/* Stores the columns and rows of the terminal, within the limits of a run. */
static void attach_window_size(int *cols, int *rows)
{
	struct winsize size;
	*cols = 80;
	*rows = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2 || size.ws_row < 2)
		return;
	*cols = size.ws_col < 1000 ? size.ws_col : 1000;
	*rows = size.ws_row < 500 ? size.ws_row : 500;
}

/* ctrl-\ leaves the run. */
#define DETACH_KEY '\x1C'

/* Passes on the input, up to DETACH_KEY. */
static void attach_on_keys(void *ctx, short revents)
{
	struct attach *a = ctx;
	char keys[1024];
	(void)revents;
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	const char *detach = n > 0 ? memchr(keys, DETACH_KEY, (size_t)n) : NULL;
	ssize_t len = detach ? detach - keys : n;
	if (len > 0 && !a->read_only)
		frame_send(a->run, FRAME_TYPE, 0, 1, keys, (size_t)len, 0);
	if (detach || n <= 0)
		a->leaving = LEAVING_DETACHED;
}

static int attach_run(struct verb_call *c)
{
	static const int watched[] = {SIGWINCH, SIGHUP, SIGTERM, SIGINT, SIGQUIT};
	/* The terminal's title says how to leave, until the command sets another one. */
	static const char begin[] = "\033[22;0t\033]2;terse attach: ctrl-\\ leaves\007\033[999;1H";
	static const char own_title[] = "\033[23;0t";
	struct attach a = {.run = -1};
	if (verb_parse(c, &a) < 0)
		return EXIT_TERSE;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return verb_fail(c, ENVELOPE_USAGE,
				 "needs a terminal (terse snapshot ID prints the screen)");
	char id[ID_LEN + 1];
	if (live_run_find(c, c->operands[0], &a.run, id, false) < 0)
		return 1;
	struct termios modes, raw;
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		sigaddset(&set, watched[i]);
	int signals = -1, cols, rows, sig = 0;
	if (tcgetattr(STDIN_FILENO, &modes) < 0 || sigprocmask(SIG_BLOCK, &set, NULL) < 0 ||
	    (signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0) {
		verb_error("attach", "%m");
		io_close(&a.run);
		return 1;
	}
	raw = modes;
	cfmakeraw(&raw);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	/* Scrolls what is on the screen into the terminal's history. */
	attach_window_size(&cols, &rows);
	io_write(STDOUT_FILENO, begin, sizeof(begin) - 1);
	for (int i = 0; i < rows; i++)
		io_write(STDOUT_FILENO, "\n", 1);
	if (frame_send(a.run, FRAME_ATTACH, a.read_only ? 0 : cols, a.read_only ? 0 : rows, NULL, 0,
		       0) < 0)
		a.leaving = LEAVING_ENDED;
	struct loop l;
	loop_begin(&l);
	while (!a.leaving) {
		struct signalfd_siginfo info;
		struct frame f;
		loop_watch(&l, a.run, POLLIN, NULL, NULL);
		loop_watch(&l, STDIN_FILENO, POLLIN, attach_on_keys, &a);
		loop_watch(&l, signals, POLLIN, NULL, NULL);
		loop_turn(&l);
		ssize_t n = frame_receive(a.run, &f, MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			a.leaving = LEAVING_ENDED;
		else if (n >= 0 && f.kind == FRAME_OUTPUT &&
			 io_write(STDOUT_FILENO, f.data, (size_t)n) < 0)
			a.leaving = LEAVING_DETACHED;
		if (a.leaving || read(signals, &info, sizeof(info)) != sizeof(info))
			continue;
		if (info.ssi_signo != SIGWINCH) {
			sig = (int)info.ssi_signo;
			a.leaving = LEAVING_SIGNAL;
		} else if (!a.read_only) {
			attach_window_size(&cols, &rows);
			frame_send(a.run, FRAME_RESIZE, cols, rows, NULL, 0, 0);
		}
	}
	io_write(STDOUT_FILENO, terminal_unpaint, strlen(terminal_unpaint));
	io_write(STDOUT_FILENO, own_title, sizeof(own_title) - 1);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
	io_close(&signals);
	io_close(&a.run);
	if (a.leaving == LEAVING_SIGNAL)
		signals_end_like(W_EXITCODE(0, sig));
	if (a.leaving == LEAVING_DETACHED)
		printf("\n\033[J[terse: detached; again: terse attach %s, end: terse signal %s]\n",
		       id, id);
	else
		printf("\n\033[J[terse: %s has ended: terse await %s]\n", id, id);
	return 0;
}

static const struct verb_option attach_options[] = {
	{"--read-only", 0, VERB_FLAG, offsetof(struct attach, read_only), NULL, "look only"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_attach = {
	.name = "attach",
	.purpose = "connect this terminal to a running command",
	.forms = "ID",
	.text = "Connects this terminal to a running command, which gets its size. ctrl-\\ leaves\n"
		"it again.\n",
	.options = attach_options,
	.least = 1,
	.live = true,
	.run = attach_run,
};
