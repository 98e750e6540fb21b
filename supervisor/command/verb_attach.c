// terse attach ID: connects this terminal to a running command.

#include "config/option.h"
#include "lib/io.h"
#include "lib/loop.h"
#include "supervisor/command/live_run.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/spawn.h"
#include "supervisor/process/watchdog.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* Why the client leaves. */
enum leaving { LEAVING_NOT, LEAVING_DETACHED, LEAVING_ENDED, LEAVING_SIGNAL };

struct attach {
	const char *verb;
	char id[ID_LEN + 1];
	int run;
	bool read_only;
	char detach; /* the key */
	int signals; /* signalfd */
	enum leaving leaving;
	int sig; /* LEAVING_SIGNAL */
	struct termios modes, raw;
	int watchdog; /* write end of its pipe, or -1 */
	pid_t watchdog_pid;
};

static void attach_restore_screen(void)
{
	io_write(STDOUT_FILENO, terminal_unpaint, strlen(terminal_unpaint));
}

/* Starts a process that restores the terminal if this one is killed. */
static void attach_start_watchdog(struct attach *a)
{
	int ends[2];
	a->watchdog = -1;
	a->watchdog_pid = -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	a->watchdog_pid = fork();
	if (a->watchdog_pid == 0) {
		char byte;
		close(ends[1]);
		io_close(&a->run);
		setsid();
		if (io_read(ends[0], &byte, 1) != 1) {
			attach_restore_screen();
			watchdog_restore_terminal(STDIN_FILENO, &a->modes, &a->raw);
		}
		_exit(0);
	}
	close(ends[0]);
	a->watchdog = ends[1];
}

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

static void attach_on_frame(void *ctx, short revents)
{
	struct attach *a = ctx;
	struct frame f;
	(void)revents;
	ssize_t n = frame_receive(a->run, &f, MSG_DONTWAIT);
	if (n < 0)
		a->leaving = errno == EAGAIN ? LEAVING_NOT : LEAVING_ENDED;
	else if (f.kind == FRAME_OUTPUT && io_write(STDOUT_FILENO, f.data, (size_t)n) < 0)
		a->leaving = LEAVING_DETACHED;
}

/* Passes on the input up to the detach key. */
static void attach_on_keys(void *ctx, short revents)
{
	struct attach *a = ctx;
	char keys[1024];
	(void)revents;
	ssize_t n = a->leaving ? 0 : read(STDIN_FILENO, keys, sizeof(keys));
	if (a->leaving || (n < 0 && (errno == EINTR || errno == EAGAIN)))
		return;
	const char *detach = n > 0 ? memchr(keys, a->detach, (size_t)n) : NULL;
	ssize_t len = detach ? detach - keys : n;
	if (len > 0 && !a->read_only)
		frame_send(a->run, FRAME_TYPE, 0, 0, keys, (size_t)len, 0);
	if (detach || n <= 0)
		a->leaving = LEAVING_DETACHED;
}

static void attach_on_signal(void *ctx, short revents)
{
	struct attach *a = ctx;
	struct signalfd_siginfo info;
	int cols, rows;
	(void)revents;
	if (a->leaving || read(a->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo != SIGWINCH) {
		a->sig = (int)info.ssi_signo;
		a->leaving = LEAVING_SIGNAL;
	} else if (!a->read_only) {
		attach_window_size(&cols, &rows);
		frame_send(a->run, FRAME_RESIZE, cols, rows, NULL, 0, 0);
	}
}

static int attach_relay(struct attach *a)
{
	static const int watched[] = {SIGWINCH, SIGHUP, SIGTERM, SIGINT, SIGQUIT};
	static const char bottom[] = "\033[999;1H";
	int cols, rows;
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		sigaddset(&set, watched[i]);
	if (tcgetattr(STDIN_FILENO, &a->modes) < 0 || sigprocmask(SIG_BLOCK, &set, NULL) < 0 ||
	    (a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) < 0) {
		verb_error(a->verb, "%m");
		return 1;
	}
	a->raw = a->modes;
	cfmakeraw(&a->raw);
	attach_start_watchdog(a);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &a->raw);
	/* The screen goes into the terminal's history. */
	attach_window_size(&cols, &rows);
	io_write(STDOUT_FILENO, bottom, sizeof(bottom) - 1);
	for (int i = 0; i < rows; i++)
		io_write(STDOUT_FILENO, "\n", 1);
	if (frame_send(a->run, FRAME_ATTACH, a->read_only ? 0 : cols, a->read_only ? 0 : rows, NULL,
		       0, 0) < 0)
		a->leaving = LEAVING_ENDED;
	struct loop l;
	loop_begin(&l);
	while (!a->leaving) {
		loop_watch(&l, a->run, POLLIN, attach_on_frame, a);
		loop_watch(&l, STDIN_FILENO, POLLIN, attach_on_keys, a);
		loop_watch(&l, a->signals, POLLIN, attach_on_signal, a);
		loop_turn(&l);
	}
	attach_restore_screen();
	tcsetattr(STDIN_FILENO, TCSADRAIN, &a->modes);
	/* The watchdog is not needed any more. */
	if (a->watchdog >= 0)
		io_write(a->watchdog, "", 1);
	io_close(&a->watchdog);
	while (a->watchdog_pid > 0 && waitpid(a->watchdog_pid, NULL, 0) < 0 && errno == EINTR)
		;
	io_close(&a->signals);
	if (a->leaving == LEAVING_SIGNAL)
		signals_end_like(W_EXITCODE(0, a->sig));
	if (a->leaving == LEAVING_DETACHED)
		printf("\n\033[J[terse: detached; again: terse attach %s, end: terse signal %s]\n",
		       a->id, a->id);
	else
		printf("\n\033[J[terse: %s has ended: terse await %s]\n", a->id, a->id);
	return 0;
}

static int attach_run(struct verb_call *c)
{
	struct attach a = {.run = -1, .signals = -1};
	struct key_bytes detach;
	if (verb_parse(c, &a) < 0)
		return EXIT_TERSE;
	const char *key = c->settings->detach_key ? c->settings->detach_key : "";
	if (key_parse(key, &detach) < 0 || detach.len != 1) {
		verb_error("attach",
			   "[terminal] detach_key: %s: must be the name of a key such as ctrl-a",
			   key);
		return EXIT_TERSE;
	}
	a.detach = detach.data[0];
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		verb_error("attach", "needs a terminal (terse snapshot ID prints the screen)");
		return EXIT_TERSE;
	}
	if (live_run_find(c, c->operands[0], &a.run, a.id, true) < 0)
		return 1;
	int status = attach_relay(&a);
	io_close(&a.run);
	return status;
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
		"it again ([terminal] detach_key).\n",
	.options = attach_options,
	.least = 1,
	.most = 1,
	.live = true,
	.run = attach_run,
};
