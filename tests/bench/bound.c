// The least that three processes do which run a command under a pty and hold what terse promises:
// the bound for `terse true`. Who was typed waits and passes signals on; the supervisor owns the
// pty, keeps a line of the run and reports its end; the watchdog is there before the command and
// ends it if the supervisor dies. No two that live long share memory.
//   bound FILE COMMAND [ARG...]

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static char data[65536];

static int take_signals(int sig)
{
	sigset_t set;
	sigfillset(&set);
	if (!sig)
		sigprocmask(SIG_BLOCK, &set, NULL);
	if (sig) {
		sigemptyset(&set);
		sigaddset(&set, sig);
	}
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

_Noreturn static void watch(int front, int supervisor)
{
	pid_t group = 0;
	struct pollfd fds[] = {{.fd = front, .events = POLLIN},
			       {.fd = supervisor, .events = POLLIN}};
	while (poll(fds, 2, -1) > 0 && fds[1].revents) {
		pid_t told;
		if (read(supervisor, &told, sizeof(told)) != sizeof(told))
			kill(-group, SIGHUP);
		else if ((group = told) != 0)
			continue;
		break;
	}
	_exit(0);
}

static int open_pty(int *master)
{
	struct termios modes;
	const struct winsize size = {.ws_row = 50, .ws_col = 160};
	int off = 0;
	*master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	ioctl(*master, TIOCSPTLCK, &off);
	ioctl(*master, TIOCSWINSZ, &size);
	tcgetattr(*master, &modes);
	modes.c_oflag &= ~(tcflag_t)OPOST;
	tcsetattr(*master, TCSANOW, &modes);
	return ioctl(*master, TIOCGPTPEER, O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

_Noreturn static void supervise(const char *file, char **argv, int front, int watchdog)
{
	struct signalfd_siginfo info;
	char go;
	int master, status = 0;
	setsid();
	int signals = take_signals(SIGCHLD);
	int slave = open_pty(&master);
	if (slave < 0 || recv(front, &go, 1, 0) != 1)
		_exit(125);
	pid_t pid = vfork();
	if (pid == 0) {
		sigset_t none;
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGHUP);
		dup2(slave, STDOUT_FILENO);
		dup2(slave, STDERR_FILENO);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(slave);
	send(front, &pid, sizeof(pid), MSG_NOSIGNAL);
	if (write(watchdog, &pid, sizeof(pid)) < 0)
		_exit(125);
	struct pollfd fds[] = {{.fd = front, .events = POLLIN},
			       {.fd = signals, .events = POLLIN},
			       {.fd = master, .events = POLLIN}};
	while (poll(fds, 3, -1) > 0) {
		if (fds[2].revents && read(master, data, sizeof(data)) < 0)
			fds[2].fd = -1;
		if (fds[1].revents && read(signals, &info, sizeof(info)) > 0 &&
		    waitpid(pid, &status, WNOHANG) == pid)
			break;
	}
	int journal = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int len = snprintf(data, sizeof(data), "{\"status\":%d,\"command\":\"%s\"}\n", status,
			   argv[0]);
	flock(journal, LOCK_SH);
	if (write(journal, data, (size_t)len) != len)
		_exit(125);
	pid = 0;
	if (write(watchdog, &pid, sizeof(pid)) < 0)
		_exit(125);
	send(front, &status, sizeof(status), MSG_NOSIGNAL);
	_exit(0);
}

int main(int argc, char **argv)
{
	int front[2], supervisor[2], watchdog[2], status = 0;
	if (argc < 3 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, front) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, watchdog) < 0 ||
	    pipe2(supervisor, O_CLOEXEC) < 0)
		return 125;
	int signals = take_signals(0);
	pid_t pid = fork();
	if (pid == 0)
		supervise(argv[1], argv + 2, front[1], supervisor[1]);
	pid_t guard = fork();
	if (guard == 0) {
		close_range(front[0], front[1], 0);
		close(supervisor[1]);
		close(watchdog[1]);
		watch(watchdog[0], supervisor[0]);
	}
	close(front[1]);
	close(supervisor[0]);
	close(supervisor[1]);
	send(front[0], "", 1, MSG_NOSIGNAL);
	struct pollfd fds[] = {{.fd = front[0], .events = POLLIN},
			       {.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo info;
	for (int told = 0; told < 2 && poll(fds, 2, -1) > 0;) {
		if (fds[1].revents && read(signals, &info, sizeof(info)) < 0)
			return 125;
		told += fds[0].revents && recv(front[0], &status, sizeof(status), 0) > 0;
	}
	waitpid(guard, NULL, 0);
	waitpid(pid, NULL, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
