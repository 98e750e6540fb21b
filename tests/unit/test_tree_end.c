// Ending everything a command has left behind: HUP, TERM, KILL, and nobody else.

#include "supervisor/process/supervisor_internal.h"
#include "tests/unit/child.h"

#include <sys/syscall.h>

#include "tests/unit/session.h"
#include "tests/unit/unit.h"

#define GRACE 5000

/* plain, stopped, nohup, stubborn, in its own group; no leader, zombie or daemon */
#define COUNT 5

/* The next steps see at last that nobody is left: a process that has closed everything may still be
   ending. */
static void comes_to_its_end(struct tree_end *e, int64_t now)
{
	while (tree_end_step(e, 0, now)) {
		now += 1000;
		sched_yield();
	}
}

TEST(counts_members)
{
	struct session s;
	session_start(&s);
	assert_int_equal(tree_signal(s.leader, 0), COUNT);
	assert_int_equal(tree_signal(s.pids[MEMBER_DAEMON], 0), 0);
	session_release(&s);
}

TEST(signals_members)
{
	struct session s;
	session_start(&s);
	assert_int_equal(tree_signal(s.leader, SIGKILL), COUNT);
	for (int i = MEMBER_PLAIN; i <= MEMBER_OWN_GROUP; i++)
		session_wait_for_end_of(&s, (enum member)i);
	assert_true(session_has(&s, MEMBER_DAEMON));
	assert_int_equal(kill(s.leader, 0), 0);
	assert_int_equal(waitpid(s.leader, NULL, WNOHANG), 0);
	session_release(&s);
}

/* The time is the test's: what happens when is exact. */
TEST(step_by_step)
{
	struct session s;
	session_start(&s);
	struct tree_end e = {.session = s.leader, .grace_ms = GRACE};
	assert_true(tree_end_step(&e, TREE_HUP, 1000));
	session_wait_for_end_of(&s, MEMBER_PLAIN);
	session_wait_for_end_of(&s, MEMBER_STOPPED);
	session_wait_for_end_of(&s, MEMBER_OWN_GROUP);
	/* No TERM before its time. */
	for (int64_t now = 1000; now < 1100; now += 11)
		assert_true(tree_end_step(&e, 0, now));
	assert_true(session_has(&s, MEMBER_NOHUP));
	assert_true(tree_end_step(&e, 0, 1100));
	session_wait_for_end_of(&s, MEMBER_NOHUP);
	for (int64_t now = 1100; now < 1100 + GRACE; now += 499)
		assert_true(tree_end_step(&e, TREE_HUP, now));
	assert_true(session_has(&s, MEMBER_STUBBORN));
	assert_true(tree_end_step(&e, 0, 1100 + GRACE));
	session_wait_for_end_of(&s, MEMBER_STUBBORN);
	comes_to_its_end(&e, 1100 + GRACE + 1000);
	assert_true(session_has(&s, MEMBER_DAEMON));
	assert_int_equal(waitpid(s.leader, NULL, WNOHANG), 0);
	session_release(&s);
}

/* A timeout begins with TERM, and a HUP that comes later does not begin again. */
TEST(beginning_with_term)
{
	struct session s;
	session_start(&s);
	struct tree_end e = {.session = s.leader, .grace_ms = GRACE};
	assert_true(tree_end_step(&e, TREE_TERM, 50));
	session_wait_for_end_of(&s, MEMBER_PLAIN);
	session_wait_for_end_of(&s, MEMBER_STOPPED);
	session_wait_for_end_of(&s, MEMBER_NOHUP);
	assert_true(tree_end_step(&e, TREE_HUP, 60));
	assert_int_equal(e.step, TREE_TERM);
	assert_true(session_has(&s, MEMBER_STUBBORN));
	assert_true(tree_end_step(&e, 0, 50 + GRACE));
	session_wait_for_end_of(&s, MEMBER_STUBBORN);
	comes_to_its_end(&e, 50 + GRACE + 1000);
	session_release(&s);
}

/* A front end that dies while a timeout is running: at once as far as that. */
TEST(a_later_step_is_taken_at_once)
{
	struct session s;
	session_start(&s);
	struct tree_end e = {.session = s.leader, .grace_ms = GRACE};
	assert_true(tree_end_step(&e, TREE_HUP, 50));
	assert_true(tree_end_step(&e, TREE_TERM, 51));
	session_wait_for_end_of(&s, MEMBER_NOHUP);
	session_release(&s);
}

TEST(nobody_left)
{
	struct session s;
	session_start(&s);
	session_release(&s);
	while (tree_signal(s.leader, 0) > 0)
		sched_yield();
	struct tree_end e = {.session = s.leader, .grace_ms = GRACE};
	assert_false(tree_end_step(&e, TREE_HUP, 1));
}

/* Sessions that are nobody's. The first look sends nothing, so that a fault ends the test only. */
TEST(never_signals_others)
{
	const pid_t sessions[] = {0, 1, -1, getsid(0)};
	for (size_t i = 0; i < sizeof(sessions) / sizeof(*sessions); i++) {
		struct tree_end e = {.session = sessions[i], .grace_ms = GRACE};
		assert_int_equal(tree_signal(sessions[i], 0), 0);
		assert_false(tree_end_step(&e, TREE_HUP, 1));
	}
}

/* Old kernels and sandboxes have no pidfd. */
static void without_pidfd(const void *ctx)
{
	const pid_t *leader = ctx;
	CHECK(child_deny(SYS_pidfd_open, ENOSYS) == 0);
	CHECK(tree_signal(*leader, SIGKILL) == COUNT);
}

TEST(also_without_pidfd)
{
	struct session s;
	session_start(&s);
	assert_int_equal(child_run(without_pidfd, &s.leader), 0);
	session_wait_for_end_of(&s, MEMBER_STUBBORN);
	assert_true(session_has(&s, MEMBER_DAEMON));
	session_release(&s);
}

int main(void)
{
	child_default_signals();
	return unit_run(NULL, NULL);
}
