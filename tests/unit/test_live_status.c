// The status of a live run, as JSON and back.

#include "lib/buffer.h"
#include "supervisor/process/live_status.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct live_status example(void)
{
	return (struct live_status){
		.id = "cmd-0123456789ab",
		.state = LIVE_WAITING,
		.prompt = "Name \"x\" \xC3\xA4? ",
		.screen = true,
		.pid = 4711,
		.elapsed_ms = 1200,
		.quiet_ms = 300,
		.lines = UINT64_C(10000000000),
		.bytes = UINT64_C(1) << 62,
		.settled = 5,
		.reported = 3,
		.cols = 160,
		.rows = 50,
		.terminal = true,
		.attached = 2,
		.exit_code = -1,
		.last_line = "last",
	};
}

/* As many whole arguments as fit, and the beginning of the next. */
static void the_command(void **state)
{
	static char longer[2000];
	const char *const argvs[][4] = {{"sh", "-c", "echo \xC3\xA4 \"x\"", NULL},
					{"printf", "", NULL},
					{"echo", longer, "x", NULL},
					{NULL}};
	(void)state;
	memset(longer, 'a', sizeof(longer) - 1);
	for (size_t i = 0; i < sizeof(argvs) / sizeof(*argvs); i++) {
		struct live_status c = example(), again;
		struct buffer json = BUFFER_INIT;
		live_status_set_argv(&c, (char *const *)argvs[i]);
		assert_int_equal(live_status_encode(&json, &c), 0);
		assert_int_equal(live_status_parse(json.data, json.len, &again), 0);
		assert_int_equal(again.argv_len, c.argv_len);
		assert_memory_equal(again.argv, c.argv, c.argv_len);
		assert_int_equal(again.argv_cut, i == 2);
		if (i == 2)
			assert_int_equal(c.argv_len, LIVE_ARGV);
		if (i < 2)
			assert_string_equal(c.argv, argvs[i][0]);
		buffer_release(&json);
	}
}

static void there_and_back(void **state)
{
	(void)state;
	for (int s = LIVE_RUNNING; s <= LIVE_ENDED; s++) {
		struct live_status c = example(), again;
		struct buffer json = BUFFER_INIT;
		c.state = (enum live_status_state)s;
		if (c.state == LIVE_ENDED)
			c.exit_code = 124, c.timed_out = true;
		assert_int_equal(live_status_encode(&json, &c), 0);
		assert_int_equal(live_status_parse(json.data, json.len, &again), 0);
		assert_string_equal(again.id, c.id);
		assert_int_equal(again.state, c.state);
		assert_string_equal(again.prompt, c.prompt);
		assert_string_equal(again.last_line, c.last_line);
		assert_int_equal(again.screen + 2 * again.terminal + 4 * again.timed_out,
				 c.screen + 2 * c.terminal + 4 * c.timed_out);
		assert_int_equal(again.pid, c.pid);
		assert_int_equal(again.elapsed_ms, c.elapsed_ms);
		assert_int_equal(again.quiet_ms, c.quiet_ms);
		assert_int_equal(again.lines, c.lines);
		assert_int_equal(again.bytes, c.bytes);
		assert_int_equal(again.settled, c.settled);
		assert_int_equal(again.reported, c.reported);
		assert_int_equal(again.cols * 1000 + again.rows, c.cols * 1000 + c.rows);
		assert_int_equal(again.attached, c.attached);
		assert_int_equal(again.exit_code, c.exit_code);
		buffer_release(&json);
	}
}

static void damaged(void **state)
{
	(void)state;
	struct live_status c = example(), again;
	struct buffer json = BUFFER_INIT;
	assert_int_equal(live_status_encode(&json, &c), 0);
	for (size_t len = 0; len < json.len; len++) {
		errno = 0;
		assert_int_equal(live_status_parse(json.data, len, &again), -1);
		assert_int_equal(errno, EPROTO);
	}
	static const char *const bad[] = {"[]", "null", "{}", "{\"id\":\"x\"}",
					  "{\"id\":\"cmd-0123456789ab\",\"state\":\"none\"}"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(live_status_parse(bad[i], strlen(bad[i]), &again), -1);
	buffer_release(&json);
}

static void long_texts_are_cut_between_characters(void **state)
{
	(void)state;
	char text[2 * LIVE_TEXT], out[LIVE_TEXT];
	for (size_t i = 0; i < sizeof(text); i += 2)
		memcpy(text + i, "\xC3\xA4", 2);
	live_status_set_text(out, text, sizeof(text));
	assert_int_equal(strlen(out), LIVE_TEXT - 2);
	live_status_set_text(out, text, 4);
	assert_int_equal(strlen(out), 4);
	live_status_set_text(out, "", 0);
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(the_command),
		cmocka_unit_test(damaged),
		cmocka_unit_test(long_texts_are_cut_between_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
