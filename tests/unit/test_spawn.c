// Starting the command.

#include "supervisor/process/job.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>

static char dir[] = "/tmp/terse-test-XXXXXX";

/* A file of the test's directory. */
static const char *in_dir(const char *name)
{
	static char path[64];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* The caller's state, as it is. */
static const struct signals *no_signals(void)
{
	static struct signals s;
	sigemptyset(&s.mask);
	return &s;
}

static pid_t spawn(char *const *argv, char *const *envp, int out)
{
	const struct job job = {.argv = (char **)argv, .signals = *no_signals(), .leads = true};
	const int fds[] = {-1, out, out};
	pid_t group;
	return spawn_command(&job, envp, fds, -1, &group);
}

/* Runs a command; checks its status and what it prints. */
static void prints(char *const *argv, char *const *envp, int status, const char *want)
{
	char data[4096] = "";
	size_t len = 0;
	ssize_t n;
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = spawn(argv, envp, ends[1]);
	assert_true(pid > 0);
	close(ends[1]);
	while ((n = read(ends[0], data + len, sizeof(data) - 1 - len)) > 0)
		len += (size_t)n;
	close(ends[0]);
	assert_int_equal(child_wait(pid), status);
	assert_string_equal(data, want);
}

#define ARGV(...) ((char *[]){__VA_ARGS__, NULL})
#define S(text)   ((char *)(uintptr_t)(text))

TEST(runs_it)
{
	prints(ARGV(S("echo"), S("a b"), S("")), environ, 0, "a b \n");
	prints(ARGV(S("sh"), S("-c"), S("echo err >&2; exit 3")), environ, 3 << 8, "err\n");
	prints(ARGV(S("sh"), S("-c"), S("kill -TERM $$")), environ, SIGTERM, "");
	/* The command's own exit status is no error of its start. */
	prints(ARGV(S("sh"), S("-c"), S("exit 127")), environ, 127 << 8, "");
	prints(ARGV(S("sh"), S("-c"), S("exit 126")), environ, 126 << 8, "");
}

static void can_not(char *const *argv, int error, int status)
{
	errno = 0;
	assert_int_equal(spawn(argv, environ, -1), 0);
	assert_int_equal(errno, error);
	assert_int_equal(spawn_exit_status(error), status);
	/* Nothing is left to be waited for. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

TEST(tells_why_not)
{
	write_file("plain", "text\n", 0600);
	write_file("lost", "#!/no/such/interpreter\n", 0700);
	can_not(ARGV(S("terse-no-such-command")), ENOENT, 127);
	can_not(ARGV(S("/no/such/command")), ENOENT, 127);
	can_not(ARGV(S("")), ENOENT, 127);
	can_not(ARGV(S(in_dir("plain"))), EACCES, 126);
	can_not(ARGV(S(dir)), EACCES, 126);
	can_not(ARGV(S(in_dir("lost"))), ENOENT, 127);
	can_not(ARGV(S("/etc/passwd/x")), ENOTDIR, 126);
}

/* As execvp() and every shell do. */
TEST(script_without_interpreter)
{
	write_file("script", "echo script $1\n", 0700);
	prints(ARGV(S(in_dir("script")), S("arg")), environ, 0, "script arg\n");
}

/* Its environment decides where it is found; this process's is not touched. */
TEST(environment)
{
	char path[64], active[] = "TERSE_ACTIVE=1";
	char **own = environ;
	write_file("terse-only-here", "#!/bin/sh\necho \"here $TERSE_ACTIVE\"\n", 0700);
	snprintf(path, sizeof(path), "PATH=%s", dir);
	prints(ARGV(S("terse-only-here")), ARGV(path, active), 0, "here 1\n");
	assert_ptr_equal(environ, own);
	can_not(ARGV(S("terse-only-here")), ENOENT, 127);
	assert_ptr_equal(environ, own);
}

/* Descriptor 9 is handed down, the pipes are not but as 0 and 1; it is a group of its own. */
static void own_group_and_streams(const void *ctx)
{
	char script[256], data[16];
	int out[2], in[2];
	CHECK(pipe2(out, O_CLOEXEC) == 0 && pipe2(in, O_CLOEXEC) == 0);
	CHECK(dup2(STDERR_FILENO, 9) == 9);
	snprintf(script, sizeof(script),
		 "read x; [ -e /proc/$$/fd/9 ] && for i in %d %d %d %d; do "
		 "[ ! -e /proc/$$/fd/$i ] || exit 1; done && echo $x && exec sleep 100",
		 in[0], in[1], out[0], out[1]);
	char *argv[] = {S("sh"), S("-c"), script, NULL};
	const bool *leads = ctx;
	const struct job job = {.argv = (char **)argv, .signals = *no_signals(), .leads = *leads};
	const int fds[] = {in[0], out[1], -1};
	pid_t group, pid = spawn_command(&job, environ, fds, -1, &group);
	CHECK(pid > 0);
	CHECK(getpgid(pid) == group && getpgid(0) != group && (group == pid) == *leads);
	close(in[0]), close(out[1]);
	CHECK(write(in[1], "typed\n", 6) == 6);
	CHECK(read(out[0], data, sizeof(data)) == 6 && memcmp(data, "typed\n", 6) == 0);
	CHECK(kill(-group, SIGKILL) == 0);
	CHECK(read(out[0], data, 1) == 0);
	CHECK(child_wait(pid) == SIGKILL);
	CHECK(*leads || child_wait(group) == 0);
}

static void signal_state(const void *ctx)
{
	struct signals saved;
	char *argv[] = {S("sh"), S("-c"), S("kill -HUP $$; kill -PIPE $$; exit 5"), NULL};
	(void)ctx;
	signal(SIGHUP, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	signals_take(&saved);
	const struct job job = {.argv = (char **)argv, .signals = saved};
	const int fds[] = {-1, -1, -1};
	pid_t group, pid = spawn_command(&job, environ, fds, -1, &group);
	CHECK(pid > 0);
	/* HUP is ignored as the caller had it, PIPE is not blocked as this process has it. */
	CHECK(child_wait(pid) == SIGPIPE);
	/* This process has not changed. */
	struct sigaction action;
	CHECK(sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
	sigset_t mask;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	CHECK(sigismember(&mask, SIGTERM) && sigismember(&mask, SIGCHLD));
}

static void controlling_terminal(const void *ctx)
{
	struct signals saved;
	int master, slave;
	char *argv[] = {S("sh"), S("-c"),
			S("[ -t 0 ] && read x </dev/tty && [ \"$x\" = yes ] && exit 6"), NULL};
	(void)ctx;
	signals_take(&saved);
	CHECK(setsid() >= 0);
	CHECK(openpty(&master, &slave, NULL, NULL, NULL) == 0);
	CHECK(ioctl(slave, TIOCSCTTY, 0) == 0);
	const struct job job = {.argv = (char **)argv, .signals = saved};
	const int fds[] = {slave, slave, slave};
	pid_t group, pid = spawn_command(&job, environ, fds, slave, &group);
	CHECK(pid > 0);
	CHECK(tcgetpgrp(slave) == group);
	CHECK(write(master, "yes\n", 4) == 4);
	CHECK(child_wait(pid) == 6 << 8);
}

TEST(details)
{
	assert_int_equal(child_run(own_group_and_streams, &(const bool){true}), 0);
	assert_int_equal(child_run(own_group_and_streams, &(const bool){false}), 0);
	assert_int_equal(child_run(signal_state, NULL), 0);
	assert_int_equal(child_run(controlling_terminal, NULL), 0);
}

/* The command ends when the process that started it is killed. */
TEST(dies_with_its_parent)
{
	char byte;
	int out[2], ready[2];
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid_t supervisor = fork();
	if (supervisor == 0) {
		close(out[0]);
		if (spawn(ARGV(S("sleep"), S("100")), environ, out[1]) <= 0)
			_exit(1);
		close(out[1]);
		CHECK(write(ready[1], "x", 1) == 1);
		pause();
	}
	close(out[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct pollfd p = {.fd = out[0], .events = POLLIN};
	assert_int_equal(poll(&p, 1, 0), 0);
	kill(supervisor, SIGKILL);
	assert_int_equal(read(out[0], &byte, 1), 0);
	child_wait(supervisor);
	close(out[0]), close(ready[0]), close(ready[1]);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const files[] = {"plain", "lost", "script", "terse-only-here"};
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		unlink(in_dir(files[i]));
	return rmdir(dir);
}

int main(void)
{
	child_default_signals();
	return unit_run(set_up, tear_down);
}
