// For tests that change their process (descriptors, limits, signals): runs a check
// in a forked one.
#ifndef TERSE_TESTS_UNIT_CHILD_H
#define TERSE_TESTS_UNIT_CHILD_H

#include "tests/unit/unit.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Ends the forked process when a condition does not hold. */
#define CHECK(live_status)                                                                   \
	do {                                                                                 \
		if (!(live_status)) {                                                        \
			dprintf(STDERR_FILENO, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, \
				#live_status, errno);                                        \
			_exit(99);                                                           \
		}                                                                            \
	} while (0)

/* The tests do not depend on how they were started (nohup, a shell's background job). */
static inline void child_default_signals(void)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
}

/* Waits for one child; returns its status as waitpid() tells it. */
static inline int child_wait(pid_t pid)
{
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Runs `check` in a process of its own; returns 0 if it came to its end. */
static inline int child_run(void (*check)(const void *ctx), const void *ctx)
{
	pid_t pid = fork();
	if (pid == 0) {
		check(ctx);
		_exit(0);
	}
	return pid < 0 ? -1 : child_wait(pid);
}

/* A test that runs in a process of its own. */
#define CHILD_TEST(check)                                    \
	static void check(const void *ctx);                  \
	TEST(check##_in_a_child)                             \
	{                                                    \
		assert_int_equal(child_run(check, NULL), 0); \
	}                                                    \
	static void check(__attribute__((unused)) const void *ctx)

/* The same; `out` gets what it writes to standard output and error, as a string. */
static inline int child_run_output(void (*check)(const void *ctx), const void *ctx, char *out,
				   size_t size)
{
	int ends[2];
	size_t len = 0;
	ssize_t n;
	if (pipe(ends) < 0)
		return -1;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		check(ctx);
		_exit(0);
	}
	close(ends[1]);
	while (len < size - 1 && (n = read(ends[0], out + len, size - 1 - len)) > 0)
		len += (size_t)n;
	out[len] = '\0';
	close(ends[0]);
	return pid < 0 ? -1 : child_wait(pid);
}

/* From here on the system call `number` fails with `error` in this process. Returns 0, or -1. */
static inline int child_deny(int number, int error)
{
	/* Libcs differ in which of two they call. */
	int other = number == SYS_clone3 ? SYS_clone : number;
#ifdef SYS_open
	if (number == SYS_openat)
		other = SYS_open;
#endif
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)other, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#endif
