// Words as a shell reads them back.

#include "lib/buffer.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "tests/unit/unit.h"

#include <sys/wait.h>

TEST(test_table)
{
	static const struct {
		const char *word, *want;
	} cases[] = {
		{"plain", "plain"},
		{"a/b_c.d-e,f:g@h%i+j=k", "a/b_c.d-e,f:g@h%i+j=k"},
		{"", "''"},
		{"a b", "'a b'"},
		{"it's", "'it'\\''s'"},
		{"'", "''\\'''"},
		{"$HOME", "'$HOME'"},
		{"a*", "'a*'"},
		{"~", "'~'"},
		{"^a|b$", "'^a|b$'"},
		{"\xc3\xa9", "'\xc3\xa9'"},
		{"a\tb", "$'a\\011b'"},
		{"a\nb", "$'a\\012b'"},
		{"\x1b[0m", "$'\\033[0m'"},
		{"\xff", "$'\\377'"},
		{"\xe2\x80\xae'\\1", "$'\\342\\200\\256\\047\\1341'"},
	};
	struct buffer got = BUFFER_INIT;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buffer_clear(&got);
		quote_append(&got, cases[i].word);
		assert_string_equal(buffer_string(&got), cases[i].want);
	}
	buffer_release(&got);
}

/* Characters that may not stand in a line are escaped, and no others. */
TEST(test_text)
{
	static const struct {
		const char *text, *want;
		char mark;
	} cases[] = {
		{"plain \"text\" it's \\ \xc3\xa9 \xe6\x97\xa5",
		 "plain \"text\" it's \\ \xc3\xa9 \xe6\x97\xa5", 0},
		{"a\nb\rc\td", "a\\nb\\rc\\td", 0},
		{"\x1b[31m\x7f\xc2\x9b", "\\x1b[31m\\x7f\\u009b", 0},
		{"\u202e\u2028\u2029\u200b\ufe0f\U000e0041",
		 "\\u202e\\u2028\\u2029\\u200b\\ufe0f\\U000e0041", 0},
		{"\xff \xe2\x80", "\\xff \\xe2\\x80", 0},
		{"\xef\xbf\xbd", "\xef\xbf\xbd", 0},
		{"say \"x\" \\ it's", "\"say \\\"x\\\" \\\\ it's\"", '"'},
		{"say \"x\" it's", "'say \"x\" it\\'s'", '\''},
		{"", "\"\"", '"'},
	};
	struct buffer got = BUFFER_INIT;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buffer_clear(&got);
		quote_text(&got, cases[i].text, strlen(cases[i].text), cases[i].mark);
		assert_string_equal(buffer_string(&got), cases[i].want);
	}
	buffer_release(&got);
}

/* The words that bash makes of it. */
static void read_back(const struct buffer *quoted, char *out, size_t cap)
{
	char script[4096];
	int ends[2];
	size_t len = 0;
	ssize_t n;
	snprintf(script, sizeof(script), "printf %%s %.*s", (int)quoted->len, quoted->data);
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execlp("bash", "bash", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while ((n = read(ends[0], out + len, cap - 1 - len)) > 0)
		len += (size_t)n;
	close(ends[0]);
	out[len] = '\0';
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Every byte but NUL, alone and next to others that mean something. */
TEST(test_read_back)
{
	struct buffer got = BUFFER_INIT;
	char word[600], back[600];
	for (int part = 0; part < 4; part++) {
		size_t len = 0;
		for (int c = part * 64; c < (part + 1) * 64; c++) {
			if (c == 0)
				continue;
			word[len++] = (char)c;
			word[len++] = "a'1\\ $"[c % 6];
		}
		word[len] = '\0';
		buffer_clear(&got);
		quote_append(&got, word);
		assert_true(utf8_all_clean(got.data, got.len));
		read_back(&got, back, sizeof(back));
		assert_string_equal(back, word);
	}
	buffer_release(&got);
}

TEST_MAIN(NULL, NULL)
