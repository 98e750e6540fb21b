// Who is whose child, with real processes.

#include "supervisor/process/supervisor_internal.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <signal.h>

static bool has(const struct buffer *found, pid_t pid)
{
	for (size_t i = 0; i < found->len; i += sizeof(pid)) {
		if (memcmp(found->data + i, &pid, sizeof(pid)) == 0)
			return true;
	}
	return false;
}

static pid_t sleeper(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		/* Even if the test fails. */
		alarm(60);
		for (;;)
			pause();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	child_wait(pid);
}

/* A child that has one of its own, which it names. */
static pid_t parent_of_one(pid_t *child)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		pid_t own = sleeper();
		CHECK(write(ends[1], &own, sizeof(own)) == sizeof(own));
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], child, sizeof(*child)), sizeof(*child));
	close(ends[0]), close(ends[1]);
	return pid;
}

TEST(children_and_theirs)
{
	pid_t grandchild, child = parent_of_one(&grandchild), other = sleeper();
	for (int passes = 0; passes <= 1; passes++) {
		struct process_tree process_tree = {.passes = passes};
		struct buffer found = BUFFER_INIT;
		assert_int_equal(process_tree_children(&process_tree, getpid(), &found), 0);
		assert_int_equal(found.len, 2 * sizeof(pid_t));
		assert_true(has(&found, child) && has(&found, other));
		assert_int_equal(process_tree_children(&process_tree, child, &found), 0);
		assert_int_equal(found.len, sizeof(pid_t));
		assert_true(has(&found, grandchild));
		assert_int_equal(process_tree_children(&process_tree, other, &found), 0);
		assert_int_equal(found.len, 0);
		assert_int_equal(process_tree.passes, passes);
		process_tree_release(&process_tree);
		buffer_release(&found);
	}
	struct buffer all = BUFFER_INIT;
	assert_int_equal(process_tree_descendants(getpid(), &all), 0);
	assert_int_equal(all.len, 3 * sizeof(pid_t));
	assert_true(has(&all, child) && has(&all, other) && has(&all, grandchild));
	buffer_release(&all);
	kill(grandchild, SIGKILL);
	end(child);
	end(other);
}

static void *start_one(void *pid)
{
	*(pid_t *)pid = sleeper();
	return NULL;
}

TEST(children_of_another_thread)
{
	struct process_tree process_tree = {.passes = false};
	struct buffer found = BUFFER_INIT;
	pthread_t thread;
	pid_t child = 0;
	assert_int_equal(pthread_create(&thread, NULL, start_one, &child), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(process_tree_children(&process_tree, getpid(), &found), 0);
	assert_true(has(&found, child));
	end(child);
	process_tree_release(&process_tree);
	buffer_release(&found);
}

/* A process that has gone has no children; that must not cause a pass over all processes. */
TEST(who_is_gone)
{
	struct process_tree process_tree = {.passes = false};
	struct buffer found = BUFFER_INIT;
	pid_t pid = sleeper();
	end(pid);
	assert_int_equal(process_tree_children(&process_tree, pid, &found), 0);
	assert_int_equal(found.len, 0);
	assert_false(process_tree.passes);
	process_tree_release(&process_tree);
	buffer_release(&found);
}

#define COMING 100

/* Other processes end all the time: one list alone would skip some that stay. */
TEST(nobody_who_stays_is_missed)
{
	pid_t stays[COMING], goes[COMING];
	struct buffer found = BUFFER_INIT;
	/* A process that ends is gone from the list at once. */
	signal(SIGCHLD, SIG_IGN);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < COMING; i++) {
			goes[i] = sleeper();
			stays[i] = sleeper();
		}
		pid_t killer = fork();
		if (killer == 0) {
			for (int i = 0; i < COMING; i++) {
				kill(goes[i], SIGKILL);
				usleep(10);
			}
			_exit(0);
		}
		while (kill(killer, 0) == 0) {
			struct process_tree process_tree = {.passes = false};
			assert_int_equal(process_tree_children(&process_tree, getpid(), &found), 0);
			for (int i = 0; i < COMING; i++)
				assert_true(has(&found, stays[i]));
			process_tree_release(&process_tree);
		}
		for (int i = 0; i < COMING; i++)
			kill(stays[i], SIGKILL);
	}
	signal(SIGCHLD, SIG_DFL);
	buffer_release(&found);
}

TEST_MAIN(NULL, NULL)
