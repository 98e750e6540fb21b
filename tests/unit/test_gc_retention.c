// Which artifacts gc removes: by age, number, size, session and state.

#include "supervisor/artifact/gc.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#define NOW INT64_C(1000000)

/* One letter for each decision, in the order of the enum: "." stays. */
static const char letters[] = ".leaCB";

struct one {
	unsigned session;
	uint64_t bytes;
	int64_t age;
	bool running;
};

/* One case: items from the oldest to the newest, and what becomes of each. */
struct situation {
	const char *name;
	struct retention_limits limits;
	int64_t ended_ago[3]; /* of the sessions; -1: goes on */
	struct one items[8];
	size_t count;
	const char *want;
};

static const struct situation situations[] = {
	{"no limits", {.keep_ms = 5}, {-1, -1, -1}, {{0, 10, 900, 0}, {1, 20, 5, 0}}, 2, ".."},
	{"age: over it, not at it",
	 {.max_age_ms = 100},
	 {-1, -1, -1},
	 {{0, 1, 101, 0}, {0, 1, 100, 0}, {0, 1, 1, 0}},
	 3,
	 "a.."},
	{"age: a running one stays",
	 {.max_age_ms = 100},
	 {-1, -1, -1},
	 {{0, 1, 500, true}, {0, 1, 400, 0}},
	 2,
	 ".a"},
	{"age: a time in the future", {.max_age_ms = 100}, {-1, -1, -1}, {{0, 1, -500, 0}}, 1, "."},
	{"ended: only that session, when its time is over",
	 {.keep_ms = 50},
	 {50, 49, -1},
	 {{0, 1, 60, 0}, {1, 1, 60, 0}, {2, 1, 60, 0}, {0, 1, 55, true}},
	 4,
	 "e..."},
	{"ended: nothing is kept",
	 {.keep_ms = 0},
	 {0, -1, -1},
	 {{0, 1, 0, 0}, {1, 1, 0, 0}},
	 2,
	 "e."},
	{"ended comes before age",
	 {.keep_ms = 10, .max_age_ms = 10},
	 {20, -1, -1},
	 {{0, 1, 30, 0}},
	 1,
	 "e"},
	{"count: the oldest go",
	 {.max_count = 2},
	 {-1, -1, -1},
	 {{0, 1, 4, 0}, {1, 1, 3, 0}, {0, 1, 2, 0}, {2, 1, 1, 0}},
	 4,
	 "CC.."},
	{"count: a running one has its place",
	 {.max_count = 2},
	 {-1, -1, -1},
	 {{0, 1, 4, true}, {1, 1, 3, 0}, {0, 1, 2, 0}, {2, 1, 1, 0}},
	 4,
	 ".CC."},
	{"count: more running ones than that",
	 {.max_count = 1},
	 {-1, -1, -1},
	 {{0, 1, 4, true}, {1, 1, 3, true}, {0, 1, 2, 0}},
	 3,
	 "..C"},
	{"size: the oldest go, and none that is older stays",
	 {.max_bytes = 100},
	 {-1, -1, -1},
	 {{0, 1, 4, 0}, {1, 60, 3, 0}, {0, 50, 2, 0}, {2, 50, 1, 0}},
	 4,
	 "BB.."},
	{"size: one that is larger than all may be",
	 {.max_bytes = 100},
	 {-1, -1, -1},
	 {{0, 10, 2, 0}, {0, 101, 1, 0}},
	 2,
	 "BB"},
	{"size: what goes for another reason is not counted",
	 {.max_bytes = 100, .max_age_ms = 10},
	 {-1, -1, -1},
	 {{0, 90, 1, 0}, {1, 90, 50, 0}, {0, 10, 2, 0}},
	 3,
	 ".a."},
	{"nothing there", {.max_count = 1}, {-1, -1, -1}, {{0, 0, 0, 0}}, 0, ""},
	{"sizes that overflow",
	 {.max_bytes = 100},
	 {-1, -1, -1},
	 {{0, UINT64_MAX, 3, 0}, {0, UINT64_MAX, 2, 0}, {0, 1, 1, 0}},
	 3,
	 "BB."},
};

TEST(test_situations)
{
	for (size_t k = 0; k < sizeof(situations) / sizeof(*situations); k++) {
		const struct situation *c = &situations[k];
		struct inventory_item items[8];
		struct inventory_session sessions[3];
		struct inventory v = {.items = items,
				      .count = c->count,
				      .sessions = sessions,
				      .session_count = 3};
		char got[9] = "";
		for (size_t i = 0; i < 3; i++)
			sessions[i] = (struct inventory_session){
				.ended_ms = c->ended_ago[i] < 0 ? 0 : NOW - c->ended_ago[i]};
		for (size_t i = 0; i < c->count; i++)
			items[i] = (struct inventory_item){.id = i,
							   .text = true,
							   .bytes = c->items[i].bytes,
							   .last_ms = NOW - c->items[i].age,
							   .session = c->items[i].session,
							   .running = c->items[i].running};
		retention_decide(&v, &c->limits, NOW);
		for (size_t i = 0; i < c->count; i++)
			got[i] = letters[items[i].why];
		if (strcmp(got, c->want) != 0)
			fail_msg("%s: %s, not %s", c->name, got, c->want);
	}
}

/* For any items: no running one is removed, the rest is within the limits, and deciding again about
   the rest removes nothing. */
TEST(test_any)
{
	for (unsigned seed = 0; seed < 2000; seed++) {
		unsigned r = random_start(seed);
		struct inventory_item items[64], left[64];
		struct inventory_session sessions[4];
		const struct retention_limits limits = {
			.max_age_ms = rand_r(&r) % 2 ? rand_r(&r) % 1000 : 0,
			.keep_ms = rand_r(&r) % 100,
			.max_count = (uint64_t)(rand_r(&r) % 40),
			.max_bytes = (uint64_t)(rand_r(&r) % 3000),
		};
		size_t count = (size_t)(rand_r(&r) % 64), stay = 0, running = 0;
		uint64_t bytes = 0, running_bytes = 0;
		for (size_t i = 0; i < 4; i++)
			sessions[i].ended_ms = rand_r(&r) % 3 ? 0 : NOW - rand_r(&r) % 200;
		for (size_t i = 0; i < count; i++)
			items[i] = (struct inventory_item){.id = i,
							   .text = true,
							   .bytes = (uint64_t)(rand_r(&r) % 200),
							   .last_ms = NOW - rand_r(&r) % 2000,
							   .session = (unsigned)rand_r(&r) % 4,
							   .running = rand_r(&r) % 8 == 0};
		struct inventory v = {
			.items = items, .count = count, .sessions = sessions, .session_count = 4};
		retention_decide(&v, &limits, NOW);
		for (size_t i = 0; i < count; i++) {
			assert_false(items[i].running && items[i].why != RETENTION_STAYS);
			if (items[i].why != RETENTION_STAYS)
				continue;
			running += items[i].running;
			running_bytes += items[i].running ? items[i].bytes : 0;
			bytes += items[i].bytes;
			left[stay++] = items[i];
		}
		assert_true(!limits.max_count || stay <= limits.max_count || stay == running);
		assert_true(!limits.max_bytes || bytes <= limits.max_bytes ||
			    bytes == running_bytes);
		v.items = left;
		v.count = stay;
		retention_decide(&v, &limits, NOW);
		for (size_t i = 0; i < stay; i++)
			assert_int_equal(left[i].why, RETENTION_STAYS);
	}
}

TEST_MAIN(NULL, NULL)
