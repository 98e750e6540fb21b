// A session of stubborn processes, as a command may leave them. Each member holds the
// write end of a pipe, so that its end can be waited for. Include after cmocka.h.
#ifndef TERSE_TESTS_UNIT_SESSION_H
#define TERSE_TESTS_UNIT_SESSION_H

#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

enum member {
	MEMBER_PLAIN,     /* ends by HUP */
	MEMBER_STOPPED,   /* the same, but it is stopped */
	MEMBER_NOHUP,     /* ends by TERM */
	MEMBER_STUBBORN,  /* ends by KILL only */
	MEMBER_OWN_GROUP, /* plain, in a process group of its own */
	MEMBER_ZOMBIE,    /* has ended; nobody waits for it */
	MEMBER_DAEMON,    /* has left the session */
	MEMBERS,
};

struct session {
	pid_t leader;
	pid_t pids[MEMBERS];
	int alive[MEMBERS]; /* read ends: end of file when the member is gone */
};

/* Becomes the member; writes its process ID to `alive` when it is one. */
static inline void session_member(enum member kind, int alive)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (kind == MEMBER_NOHUP || kind == MEMBER_STUBBORN)
		signal(SIGHUP, SIG_IGN);
	if (kind == MEMBER_STUBBORN)
		signal(SIGTERM, SIG_IGN);
	if (kind == MEMBER_OWN_GROUP)
		setpgid(0, 0);
	if (kind == MEMBER_DAEMON)
		setsid();
	pid_t self = getpid();
	if (write(alive, &self, sizeof(self)) != sizeof(self) || kind == MEMBER_ZOMBIE)
		_exit(0);
	for (;;) {
		if (kind == MEMBER_STOPPED)
			raise(SIGSTOP);
		pause();
	}
}

/* The supervisor's part: makes the session and all members in it, and stays until it is killed. */
static inline void session_lead(const int alive[MEMBERS])
{
	/* A test that fails must not leave them behind. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	for (int i = 0; i < MEMBERS; i++) {
		if (fork() == 0) {
			for (int k = 0; k < MEMBERS; k++) {
				if (k != i)
					close(alive[k]);
			}
			session_member((enum member)i, alive[i]);
		}
	}
	for (int i = 0; i < MEMBERS; i++)
		close(alive[i]);
	for (;;)
		pause();
}

/* Waits until a process is in `state`, as /proc tells it. */
static inline void session_wait_for_state(pid_t pid, char state)
{
	char path[64], text[512], is = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (is != state) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		ssize_t n = read(fd, text, sizeof(text) - 1);
		close(fd);
		assert_true(n > 0);
		text[n] = '\0';
		assert_int_equal(sscanf(strrchr(text, ')') + 1, " %c", &is), 1);
		sched_yield();
	}
}

/* Forks; the child's process ID is `pid` if that is not 0, which only root may ask for. */
static inline pid_t session_fork(pid_t pid)
{
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid_size = 1};
	args.set_tid = (uintptr_t)&pid;
	return pid ? (pid_t)syscall(SYS_clone3, &args, sizeof(args)) : fork();
}

/* `pid`: the leader's, see session_fork(). */
static inline void session_start_as(struct session *s, pid_t pid)
{
	int ends[MEMBERS][2], writers[MEMBERS];
	for (int i = 0; i < MEMBERS; i++) {
		assert_int_equal(pipe2(ends[i], O_CLOEXEC), 0);
		writers[i] = ends[i][1];
		s->alive[i] = ends[i][0];
	}
	s->leader = session_fork(pid);
	if (s->leader == 0) {
		for (int i = 0; i < MEMBERS; i++)
			close(ends[i][0]);
		session_lead(writers);
	}
	assert_true(s->leader > 0);
	for (int i = 0; i < MEMBERS; i++) {
		close(writers[i]);
		assert_int_equal(read(s->alive[i], &s->pids[i], sizeof(pid_t)), sizeof(pid_t));
	}
	session_wait_for_state(s->pids[MEMBER_STOPPED], 'T');
	session_wait_for_state(s->pids[MEMBER_ZOMBIE], 'Z');
}

static inline void session_start(struct session *s)
{
	session_start_as(s, 0);
}

static inline bool session_has(const struct session *s, enum member kind)
{
	struct pollfd p = {.fd = s->alive[kind], .events = POLLIN};
	return poll(&p, 1, 0) == 0;
}

static inline void session_wait_for_end_of(const struct session *s, enum member kind)
{
	struct pollfd p = {.fd = s->alive[kind], .events = POLLIN};
	assert_int_equal(poll(&p, 1, 60000), 1);
}

/* Ends the rest of the session. */
static inline void session_release(struct session *s)
{
	for (int i = 0; i < MEMBERS; i++) {
		if (session_has(s, (enum member)i)) {
			kill(s->pids[i], SIGKILL);
			session_wait_for_end_of(s, (enum member)i);
		}
		close(s->alive[i]);
	}
	kill(s->leader, SIGKILL);
	child_wait(s->leader);
}

#endif
