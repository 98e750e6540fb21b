// The poll loop: who is called, in which order, and when a turn ends.

#include "lib/human.h"
#include "lib/loop.h"
#include "tests/unit/unit.h"

struct seen {
	char order[8];
	short revents;
};

static void on_first(void *ctx, short revents)
{
	struct seen *s = ctx;
	strcat(s->order, "1");
	s->revents = revents;
}

static void on_second(void *ctx, short revents)
{
	struct seen *s = ctx;
	strcat(s->order, "2");
	s->revents = revents;
}

TEST(in_the_order_of_watching)
{
	struct loop l;
	loop_begin(&l);
	struct seen s = {.revents = 0};
	int a[2], b[2];
	assert_int_equal(pipe(a) + pipe(b), 0);
	assert_int_equal(write(a[1], "x", 1) + write(b[1], "x", 1), 2);
	loop_watch(&l, b[0], POLLIN, on_second, &s);
	loop_watch(&l, -1, POLLIN, on_first, &s);
	loop_watch(&l, a[0], POLLIN, on_first, &s);
	assert_int_equal(loop_turn(&l), 2);
	assert_string_equal(s.order, "21");
	assert_int_equal(s.revents, POLLIN);
	/* Each turn begins with nothing; a watch may have no handler. */
	loop_watch(&l, a[0], POLLIN, NULL, NULL);
	assert_int_equal(loop_turn(&l), 1);
	assert_string_equal(s.order, "21");
	/* The end is told even if it was not asked for. */
	close(a[1]);
	loop_watch(&l, a[0], 0, on_first, &s);
	assert_int_equal(loop_turn(&l), 1);
	assert_int_equal(s.revents, POLLHUP);
	close(a[0]), close(b[0]), close(b[1]);
}

TEST(the_first_deadline_counts)
{
	struct loop l;
	loop_begin(&l);
	int64_t now = clock_monotonic_ms();
	loop_until(&l, 0);
	loop_until(&l, now + 60000);
	loop_until(&l, now + 20);
	loop_until(&l, now + 30000);
	assert_int_equal(loop_turn(&l), 0);
	int64_t after = clock_monotonic_ms();
	assert_in_range(after - now, 20, 29999);
	/* One that is over does not wait. */
	loop_until(&l, now);
	assert_int_equal(loop_turn(&l), 0);
}

TEST(one_too_many)
{
	struct loop l;
	loop_begin(&l);
	for (int i = 0; i <= LOOP_MOST; i++)
		loop_watch(&l, STDIN_FILENO, 0, NULL, NULL);
	assert_int_equal(l.count, LOOP_MOST);
}

TEST_MAIN(NULL, NULL)
