// A test with a store that is open, below a home of its own. Include after cmocka.h.
#ifndef TERSE_TESTS_UNIT_STORE_H
#define TERSE_TESTS_UNIT_STORE_H

#include "supervisor/artifact/store.h"
#include "tests/unit/home.h"

#define STORE_TEST(test) TEST_IN(test, store_set_up, store_tear_down)

static struct store store;

static int store_set_up(void **state)
{
	home_setup(state);
	return store_open_write(&store);
}

static int store_tear_down(void **state)
{
	store_close(&store);
	return home_teardown(state);
}

#endif
