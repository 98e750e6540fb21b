// A key of a table in TOML, as a line: found, added, taken away again.

#include "supervisor/agents/outline.h"

#include "lib/buffer.h"
#include "tests/unit/unit.h"

static const char *const path[] = {"a", "b", "c", NULL};

TEST(keys_are_found_or_refused)
{
	static const struct {
		const char *text, *value, *reason;
		bool foreign;
	} rows[] = {
		{"", NULL, NULL, false},
		{"[a.b]\nc = 1", "1", NULL, false},
		{"[a.b]\nc = 1 #", "1", NULL, false},
		{"\xef\xbb\xbf[ \"a\" . 'b' ] # d\n d.e = 2\n\t'c' = [ # ]\n '''\n]''' ] # "
		 "f\n[g]\n",
		 "[ # ]\n '''\n]''' ]", NULL, false},
		{"[a.b]\nd = 1979-05-27 07:32:00\nc = \"\\\"#\" # \"\n", "\"\\\"#\"", NULL, false},
		{"[a.b]\r\nc = 'd'\r\n", "'d'", NULL, false},
		{"[d.\"e\\\"f\"]\n\"\\\\\" = 1\n[a.b]\nc = 1\n", "1", NULL, false},
		{"[a.b.d]\nc = 1\n[a]\nd = 1\n[d.a.b]\nc = 1\n[[d]]\n", NULL, NULL, false},
		{"d = \"\"\"\n[a.b]\nc = 1\"\"\"\"\n", NULL, NULL, false},
		/* In another form. */
		{"a = { d = 1 }\n", NULL, NULL, true},
		{"[a]\nb = { c = 1 }\n", NULL, NULL, true},
		{"[a]\nb.c = 1\n", NULL, NULL, true},
		{"a.b.d = 1\n", NULL, NULL, true},
		{"[[a]]\n", NULL, NULL, true},
		{"[[a.b]]\nc = 1\n", NULL, NULL, true},
		{"[a.b.c]\n", NULL, NULL, true},
		{"[a.b]\nc.d = 1\n", NULL, NULL, true},
		{"a\n", NULL, "= is expected behind a key", false},
		{"[a\n", NULL, "] is expected", false},
		{"a = 'b\n'", NULL, "a string or bracket is not closed", false},
		{"a = \"\"\"\n", NULL, "a string or bracket is not closed", false},
		{"a = [1, # ]\n", NULL, "a string or bracket is not closed", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct toml t;
		int status = toml_find(&t, rows[i].text, strlen(rows[i].text), path);
		assert_int_equal(status, rows[i].reason ? -1 : 0);
		if (rows[i].reason) {
			assert_int_equal(errno, EINVAL);
			assert_string_equal(t.reason, rows[i].reason);
			continue;
		}
		assert_int_equal(t.foreign > 0, rows[i].foreign);
		assert_int_equal(t.end > 0, rows[i].value != NULL);
		if (rows[i].value) {
			assert_int_equal(t.value_end - t.value, strlen(rows[i].value));
			assert_memory_equal(rows[i].text + t.value, rows[i].value,
					    t.value_end - t.value);
		}
	}
}

TEST(lines_come_and_go)
{
	static const struct {
		const char *text, *want;
		bool back; /* the first text comes back */
	} rows[] = {
		{"", "[a.b]\nc = 1\n", true},
		{"x = 0", "x = 0\n\n[a.b]\nc = 1\n", false},
		{"x = 0\n", "x = 0\n\n[a.b]\nc = 1\n", true},
		{"x = 0\r\n", "x = 0\r\n\r\n[a.b]\r\nc = 1\r\n", true},
		{"[a]\n[b.d]\n", "[a]\n[b.d]\n\n[a.b]\nc = 1\n", true},
		{"[a.b] # e\n\n[d]\n", "[a.b] # e\nc = 1\n\n[d]\n", false},
		{"[a.b]\n  x.y = \"\"\"\n[\"\"\" # e\n[c]",
		 "[a.b]\n  x.y = \"\"\"\n[\"\"\" # e\nc = 1\n[c]", true},
		{"[a.b]\nd = 1", "[a.b]\nd = 1\nc = 1\n", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer text = BUFFER_INIT;
		struct splice add = {.from = 0}, remove = {.from = 0};
		struct toml t;
		buffer_append_string(&text, rows[i].text);
		assert_non_null(buffer_string(&text));
		assert_int_equal(toml_find(&t, text.data, text.len, path), 0);
		toml_add(&add, &t, text.data, text.len, path, "1");
		assert_int_equal(splice_make(&add, &text), 0);
		assert_string_equal(text.data, rows[i].want);
		assert_int_equal(toml_find(&t, text.data, text.len, path), 0);
		assert_true(t.end > 0);
		toml_remove(&remove, &t, text.data);
		assert_int_equal(splice_make(&remove, &text), 0);
		assert_int_equal(strcmp(text.data, rows[i].text) == 0, rows[i].back);
		buffer_release(&text);
	}
}

TEST_MAIN(NULL, NULL)
