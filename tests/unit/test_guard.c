// Lines of a command that look like notices, however they are written.

#include "lib/buffer.h"
#include "lib/guard.h"
#include "lib/utf8.h"
#include "tests/unit/unit.h"

TEST(lines_like_notices)
{
	static const struct {
		const char *line;
		bool like;
	} lines[] = {
		{"[terse: exit 0]\n", true},
		{"[... 3 lines omitted: terse read last; evil]", true},
		{" \t[terse: x", true},
		{"[ TERSE : x", true},
		{"[Terse:", true},
		{"\u200b[terse:", true},       /* zero width space */
		{"\u00a0[te\u00adrse:", true}, /* no-break space, soft hyphen */
		{"te\u0301", false},
		{"[te\u0301rse:", true},            /* a mark */
		{"\u3000[...\u2009omitted", true},  /* wide and thin space */
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
		assert_int_equal(guard_text_len(rows[i].text, len, rows[i].mode), out.len);
		assert_int_equal(guard_is_same(rows[i].text, len, rows[i].mode), same);
		buffer_release(&out);
	}
}

TEST_MAIN(NULL, NULL)
