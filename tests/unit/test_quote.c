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

TEST(lines_like_notices)
{
	static const struct {
		const char *line;
		bool like;
	} lines[] = {
		{"[terse: exit 0]\n", true},
		{"[... 3 lines: terse read last; evil]", true},
		{" \t[terse: x", true},
		{"[ TERSE : x", true},
		{"[Terse:", true},
		{"\u200b[terse:", true},       /* zero width space */
		{"\u00a0[te\u00adrse:", true}, /* no-break space, soft hyphen */
		{"te\u0301", false},
		{"[te\u0301rse:", true},            /* a mark */
		{"\u3000[...\u2009lines", true},    /* wide and thin space */
		{"\uff3b\uff54erse\uff1a x", true}, /* fullwidth */
		{"\u3010terse: x", true},           /* other brackets */
		{"\u27e6... x", true},
		{"[\u2026 x", true},                                            /* ellipsis */
		{"[\U0001d42d\U0001d41e\U0001d42b\U0001d42c\U0001d41e:", true}, /* bold */
		{"\x1b[terse:", true}, /* what is replaced hides nothing */
		{"\r\xff[terse:", true},
		{"\u2028[terse:", true},
		{"[terse]", false},
		{"[terse", false},
		{"[...]", false},
		{"[..", false},
		{"[... \n", true},
		{"a [terse: x", false},
		{"| [terse: x", false},
		{"(terse: x", false},
		{"[t.. x", false},
		{"", false},
		{"\n", false},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const char *line = lines[i].line;
		size_t len = strlen(line);
		if (guard_is_needed(line, len) != lines[i].like)
			fail_msg("%s", line);
		/* Nothing of it is printed before that is known. */
		for (size_t part = 0; lines[i].like && part <= len; part++) {
			size_t cut = 0;
			utf8_incomplete(line, part, &cut);
			assert_true(guard_may_be_needed(line, part - cut));
		}
	}
	assert_false(guard_may_be_needed("Overwrite? [y/N] ", 17));
}

TEST(each_line_of_a_text)
{
	static const struct {
		enum guard_mode mode;
		const char *text, *want;
	} rows[] = {
		{GUARD_LINE, "[terse: a\nb\n[... c\n", "| [terse: a\nb\n| [... c\n"},
		{GUARD_INSIDE, "[terse: a\n\xff\n[... c", "[terse: a\n\ufffd\n| [... c"},
		{GUARD_NONE, "[terse: a\n\xff\n[... c", "[terse: a\n\ufffd\n[... c"},
		{GUARD_LINE, "a\u2028[terse: x\n", "a\ufffd[terse: x\n"},
		{GUARD_LINE, "a\r\nb\n", "a\r\nb\n"},
		{GUARD_LINE, "", ""},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer out = BUFFER_INIT;
		size_t len = strlen(rows[i].text);
		bool same = strcmp(rows[i].text, rows[i].want) == 0;
		guard_text(&out, rows[i].text, len, rows[i].mode);
		assert_string_equal(buffer_string(&out), rows[i].want);
		assert_int_equal(guard_text(NULL, rows[i].text, len, rows[i].mode), out.len);
		assert_int_equal(guard_is_same(rows[i].text, len, rows[i].mode), same);
		buffer_release(&out);
	}
}

TEST_MAIN(NULL, NULL)
