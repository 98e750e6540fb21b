// Names of keys.

#include "config/option.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void known_keys(void **state)
{
	static const struct {
		const char *name, *bytes;
		bool cursor;
	} keys[] = {
		{"enter", "\r", false},
		{"Return", "\r", false},
		{"tab", "\t", false},
		{"esc", "\033", false},
		{"space", " ", false},
		{"backspace", "\177", false},
		{"up", "\033[A", true},
		{"HOME", "\033[H", true},
		{"pageup", "\033[5~", false},
		{"f1", "\033OP", false},
		{"f12", "\033[24~", false},
		{"shift-tab", "\033[Z", false},
		{"ctrl-c", "\003", false},
		{"Ctrl-C", "\003", false},
		{"ctrl-\\", "\034", false},
		{"ctrl-]", "\035", false},
		{"ctrl-?", "\177", false},
		{"alt-x", "\033x", false},
		{"alt-up", "\033\033[A", false},
		{"a", "a", false},
		{"-", "-", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct key_bytes key;
		assert_int_equal(key_parse(keys[i].name, &key), 0);
		assert_int_equal(key.len, strlen(keys[i].bytes));
		assert_memory_equal(key.data, keys[i].bytes, key.len);
		assert_int_equal(key.cursor, keys[i].cursor);
	}
}

static void a_nul_key(void **state)
{
	(void)state;
	struct key_bytes key;
	assert_int_equal(key_parse("ctrl-space", &key), 0);
	assert_int_equal(key.len, 1);
	assert_int_equal(key.data[0], '\0');
}

static void unknown_keys(void **state)
{
	static const char *const names[] = {"",
					    "entr",
					    "ctrl-",
					    "ctrl-cc",
					    "ctrl-1",
					    "alt-",
					    "alt-up-",
					    "f13",
					    "f0",
					    "\xC3\xA4",
					    "ctrl-\xC3\xA4",
					    ("alt-alt-alt-alt-alt-alt-alt-alt-alt-"
					     "alt-alt-alt-alt-alt-alt-alt-x")};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct key_bytes key;
		errno = 0;
		assert_int_equal(key_parse(names[i], &key), -1);
		assert_int_equal(errno, EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_keys),
		cmocka_unit_test(a_nul_key),
		cmocka_unit_test(unknown_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
