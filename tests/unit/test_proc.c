// The reader of /proc, with real processes.

#include "lib/proc.h"

#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/syscall.h>

TEST(a_process)
{
	struct process p;
	char room[4096];
	assert_int_equal(process_read(getpid(), &p), 0);
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.parent, getppid());
	assert_int_equal(p.group, getpgrp());
	assert_int_equal(p.session, getsid(0));
	assert_string_equal(p.name, "test_proc");
	assert_true(p.started > 0);
	assert_true(process_is_alive(&p));
	assert_false(p.ending);
	assert_string_equal(process_program(getpid(), room, sizeof(room)), "test_proc");
}

TEST(one_that_has_ended)
{
	struct process p;
	struct process_walk w;
	char text[16];
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_read(pid, &p), 0);
	assert_false(process_is_alive(&p));
	assert_true(p.ending);
	child_wait(pid);
	assert_int_equal(process_read(pid, &p), -1);
	assert_int_equal(process_file(pid, text, sizeof(text), "stat"), -1);
	assert_int_equal(process_walk(&w, PROCESS_THREADS, pid), -1);
	assert_null(w.dir);
	process_walk_end(&w);
}

static bool finds(enum process_list list, pid_t pid, long wanted, char *link, size_t size)
{
	struct process_walk w;
	bool found = false;
	for (long n = process_walk(&w, list, pid); n >= 0; n = process_walk_next(&w)) {
		if (n == wanted)
			found = !link || process_walk_link(&w, n, link, size);
	}
	process_walk_end(&w);
	return found;
}

TEST(walks)
{
	assert_true(finds(PROCESS_ALL, 0, getpid(), NULL, 0));
	assert_true(finds(PROCESS_THREADS, getpid(), getpid(), NULL, 0));
	assert_true(finds(PROCESS_DESCRIPTORS, getpid(), STDIN_FILENO, NULL, 0));
	assert_false(finds(PROCESS_DESCRIPTORS, getpid(), 999999, NULL, 0));
}

TEST(descriptors)
{
	int ends[2];
	char link[64], expected[64], cut[6];
	struct stat st;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fstat(ends[0], &st), 0);
	snprintf(expected, sizeof(expected), "pipe:[%llu]", (unsigned long long)st.st_ino);
	assert_true(finds(PROCESS_DESCRIPTORS, getpid(), ends[0], link, sizeof(link)));
	assert_string_equal(link, expected);
	assert_true(finds(PROCESS_DESCRIPTORS, getpid(), ends[1], cut, sizeof(cut)));
	assert_string_equal(cut, "pipe:");
	assert_true(process_link(0, link, sizeof(link), "fd/%d", ends[1]) > 0);
	assert_string_equal(link, expected);
	assert_true(process_can_read(getpid(), (unsigned long)ends[0], NULL));
	assert_false(process_can_read(getpid(), (unsigned long)ends[1], NULL));
	assert_int_equal(process_stat(getpid(), (unsigned long)ends[1], &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	close(ends[0]);
	close(ends[1]);
	assert_false(process_can_read(getpid(), (unsigned long)ends[0], NULL));
	assert_int_equal(process_stat(getpid(), (unsigned long)ends[0], &st), -1);
}

TEST(a_call)
{
	int ends[2];
	char byte;
	struct process_call call;
	struct process p = {.state = 'R'};
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		/* Even if the test fails. */
		alarm(60);
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) != 0);
	}
	while (p.state != 'S')
		assert_int_equal(process_read(pid, &p), 0);
	/* Not where a sandbox hides it. */
	if (process_call(pid, pid, &call) == 0) {
		assert_false(call.runs);
		assert_int_equal(call.number, SYS_read);
		assert_int_equal(call.args[0], ends[0]);
	}
	close(ends[0]);
	close(ends[1]);
	child_wait(pid);
}

TEST_MAIN(NULL, NULL)
