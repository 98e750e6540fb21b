// Signal state is handed down as it was, and a process ends as another did.

#include "supervisor/process/spawn.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <sys/resource.h>

static bool is_ignored(int sig)
{
	struct sigaction action;
	return sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static bool is_blocked(int sig)
{
	sigset_t set;
	sigprocmask(SIG_SETMASK, NULL, &set);
	return sigismember(&set, sig);
}

CHILD_TEST(everything_comes_back)
{
	struct signals saved;
	sigset_t before, after;
	/* As under nohup, in a shell's background job, and with a signal blocked. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	sigaddset(&before, SIGTERM);
	sigprocmask(SIG_SETMASK, &before, NULL);
	signals_take(&saved);
	/* Those from 32 to SIGRTMIN are the C library's own. */
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		CHECK(is_blocked(sig) ==
		      (sig != SIGKILL && sig != SIGSTOP && (sig < 32 || sig >= SIGRTMIN)));
	signals_restore(&saved);
	sigprocmask(SIG_SETMASK, NULL, &after);
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		CHECK(sigismember(&after, sig) == sigismember(&before, sig));
		CHECK(is_ignored(sig) == (sig == SIGHUP || sig == SIGQUIT || sig == SIGTSTP));
	}
}

/* With SIGCHLD ignored no status could be waited for; the command still gets it ignored. */
CHILD_TEST(ignored_children)
{
	struct signals saved;
	int status = -1;
	signal(SIGCHLD, SIG_IGN);
	signals_take(&saved);
	CHECK(!is_ignored(SIGCHLD));
	pid_t pid = fork();
	if (pid == 0)
		_exit(7);
	CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
	signals_restore(&saved);
	CHECK(is_ignored(SIGCHLD) && !is_blocked(SIGCHLD));
}

static void end_like(const void *ctx)
{
	const int *status = ctx;
	struct signals saved;
	const struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
	setrlimit(RLIMIT_CORE, &core);
	/* The front end has its signals blocked when the command has ended. */
	signals_take(&saved);
	signals_end_like(*status);
}

TEST(ends_with_the_exit_code)
{
	static const int codes[] = {0, 1, 2, 124, 126, 127, 128, 130, 255};
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		const int status = codes[i] << 8;
		assert_int_equal(child_run(end_like, &status), status);
	}
}

/* By the same signal, and no second core is written. */
TEST(ends_by_the_signal)
{
	for (int sig = 1; sig < SIGRTMAX; sig++) {
		bool ends = sig != SIGCHLD && sig != SIGCONT && sig != SIGURG && sig != SIGWINCH &&
			    sig != SIGSTOP && sig != SIGTSTP && sig != SIGTTIN && sig != SIGTTOU &&
			    sig != 32 && sig != 33;
		if (!ends)
			continue;
		/* The command left a core. */
		const int given = sig | 0x80;
		assert_int_equal(child_run(end_like, &given), sig);
	}
}

/* PID 1 of a container is not ended by signals it does not handle: then a shell's code for it. */
TEST(ends_even_where_the_signal_does_not)
{
	const int status = SIGWINCH;
	assert_int_equal(child_run(end_like, &status), (128 + SIGWINCH) << 8);
}

int main(void)
{
	child_default_signals();
	return unit_run(NULL, NULL);
}
