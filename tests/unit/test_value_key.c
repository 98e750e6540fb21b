// Names of keys.

#include "config/option.h"
#include "tests/unit/unit.h"

TEST(known_keys)
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
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct key_bytes key;
		assert_int_equal(key_parse(keys[i].name, &key), 0);
		assert_int_equal(key.len, strlen(keys[i].bytes));
		assert_memory_equal(key.data, keys[i].bytes, key.len);
		assert_int_equal(key.cursor, keys[i].cursor);
	}
}

TEST(a_nul_key)
{
	struct key_bytes key;
	assert_int_equal(key_parse("ctrl-space", &key), 0);
	assert_int_equal(key.len, 1);
	assert_int_equal(key.data[0], '\0');
}

TEST(unknown_keys)
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
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct key_bytes key;
		errno = 0;
		assert_int_equal(key_parse(names[i], &key), -1);
		assert_int_equal(errno, EINVAL);
	}
}

TEST_MAIN(NULL, NULL)
