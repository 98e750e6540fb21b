// Values as text: numbers, sizes and durations, both ways; names of keys.

#include "config/value.h"
#include "tests/unit/unit.h"

#define KB ((int64_t)1 << 10)
#define MB ((int64_t)1 << 20)
#define GB ((int64_t)1 << 30)
#define PB ((int64_t)1 << 50)

struct example {
	const char *text;
	int64_t value;
};

static void check(const struct example *examples, const char *const *invalid,
		  int (*parse)(const char *text, int64_t *out))
{
	int64_t value;
	for (; examples->text; examples++) {
		value = 4711;
		int result = parse(examples->text, &value);
		if (result != 0 || value != examples->value)
			fail_msg("\"%s\": %d, %lld", examples->text, result, (long long)value);
	}
	for (; *invalid; invalid++) {
		errno = 0;
		if (parse(*invalid, &value) == 0)
			fail_msg("\"%s\" was taken as %lld", *invalid, (long long)value);
		assert_int_equal(errno, EINVAL);
	}
}

TEST(counts)
{
	static const struct example examples[] = {
		{"0", 0},
		{"50", 50},
		{"007", 7},
		{"-3", -3},
		{"9223372036854775807", INT64_MAX},
		{"9223372036854775808", INT64_MAX},
		{"99999999999999999999999", INT64_MAX},
		{"-99999999999999999999999", -INT64_MAX},
		{NULL, 0},
	};
	static const char *const invalid[] = {"",    " ",  "-",  "+5", "0x10",  "1e3",
					      "1.5", "5 ", " 5", "5x", "1,000", NULL};
	check(examples, invalid, value_parse_count);
}

TEST(sizes)
{
	static const struct example examples[] = {
		{"0", 0},
		{"4096", 4096},
		{"4096B", 4096},
		{"4K", 4 * KB},
		{"4KB", 4 * KB},
		{"4kb", 4 * KB},
		{"4 KB", 4 * KB},
		{"4KiB", 4 * KB},
		{"1M", MB},
		{"16MB", 16 * MB},
		{"1GB", GB},
		{"2TB", 2048 * GB},
		{"1PB", PB},
		{"1.5MB", MB + MB / 2},
		{"0.25KB", 256},
		{"0.001KB", 2},
		{"1000tok", 4000},
		{"1000 tok", 4000},
		{"small", 2 * KB},
		{"Medium", 4 * KB},
		{"large", 8 * KB},
		{"9999999PB", INT64_MAX},
		{"9223372036854775807.999PB", INT64_MAX},
		{"-1KB", -KB},
		{NULL, 0},
	};
	static const char *const invalid[] = {"",     "KB",   "4XB",  "4KBB",     "4  KB",
					      "4 ",   ".5MB", "1.MB", "1.2345MB", "1.2.3MB",
					      "smal", "4KB;", "off",  NULL};
	check(examples, invalid, value_parse_size);
}

TEST(ranges)
{
	static const struct {
		const char *text;
		int64_t from, to;
	} examples[] = {
		{"330-412", 330, 412},
		{"7", 7, 7},
		{"7-7", 7, 7},
		{"7-", 7, INT64_MAX},
		{"0-9223372036854775807", 0, INT64_MAX},
		{"1-99999999999999999999999", 1, INT64_MAX},
	};
	static const char *const invalid[] = {"",      "-",           "-5",    "-5-",
					      "5-4",   "5--4",        "1.5-2", "1-2.5",
					      "1-2-3", "1,000-2,000", "1:2",   "1-2KB"};
	int64_t from, to;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		assert_int_equal(value_parse_range(examples[i].text, &from, &to), 0);
		assert_int_equal(from, examples[i].from);
		assert_int_equal(to, examples[i].to);
	}
	for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++)
		assert_int_equal(value_parse_range(invalid[i], &from, &to), -1);
}

TEST(durations)
{
	static const struct example examples[] = {
		{"off", 0},
		{"OFF", 0},
		{"0", 0},
		{"0ms", 0},
		{"500ms", 500},
		{"2", 2000},
		{"2s", 2000},
		{"0.5", 500},
		{"1.5s", 1500},
		{"0.5ms", 1},
		{"0.001ms", 1},
		{"5m", 300000},
		{"5min", 300000},
		{"12h", 43200000},
		{"1.5h", 5400000},
		{"365d", 31536000000},
		{"106751991168d", INT64_MAX},
		{"-1s", -1000},
		{NULL, 0},
	};
	static const char *const invalid[] = {"", "s", "5x", "5 s s", "5KB", "1h30m", "on", NULL};
	check(examples, invalid, value_parse_duration);
}

TEST(formats)
{
	static const struct {
		int64_t value;
		const char *size, *duration;
	} examples[] = {
		{0, "0", "off"},
		{1, "1", "1ms"},
		{500, "500", "500ms"},
		{1000, "1000", "1s"},
		{4 * KB, "4KB", "4096ms"},
		{16 * MB, "16MB", "16777216ms"},
		{PB, "1PB", "1125899906842624ms"},
		{60000, "60000", "1m"},
		{43200000, "43200000", "12h"},
		{86400000, "84375KB", "1d"},
		{INT64_MAX, "9223372036854775807", "9223372036854775807ms"},
	};
	char out[VALUE_LEN];

	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		int64_t back;
		assert_string_equal(value_format_size(out, examples[i].value), examples[i].size);
		assert_int_equal(value_parse_size(out, &back), 0);
		assert_int_equal(back, examples[i].value);
		assert_string_equal(value_format_duration(out, examples[i].value),
				    examples[i].duration);
		assert_int_equal(value_parse_duration(out, &back), 0);
		assert_int_equal(back, examples[i].value);
	}
}

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
