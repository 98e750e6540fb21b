// The ini reader's report on each line, with inih behind it.

#include "config/ini.h"

#include "lib/buffer.h"
#include "tests/unit/unit.h"

#define TEXT(string) string, sizeof(string) - 1

/* Notes every call as a line of text; stops after `left` of them. */
struct log {
	struct buffer text;
	int left;
};

static int note(void *ctx, const struct ini_line *line)
{
	static const char *const kinds[] = {
		[INI_SECTION] = "section",
		[INI_KEY] = "key",
		[INI_MORE] = "more",
		[INI_MALFORMED] = "malformed",
	};
	struct log *log = ctx;
	buffer_printf(&log->text, "%u %s", line->number, kinds[line->kind]);
	if (line->section)
		buffer_printf(&log->text, " [%s]", line->section);
	if (line->key)
		buffer_printf(&log->text, " <%s>", line->key);
	if (line->value)
		buffer_printf(&log->text, " <%s>", line->value);
	if (line->reason)
		buffer_printf(&log->text, " %s", line->reason);
	buffer_append_string(&log->text, "\n");
	return --log->left == 0;
}

static void client(const char *text, size_t len, int calls, const char *expected)
{
	struct log log = {.left = calls};
	ini_visit(text, len, note, &log);
	assert_string_equal(buffer_string(&log.text), expected);
	buffer_release(&log.text);
}

TEST(tells_each_line)
{
	client(TEXT("# comment\n"
		    "[a]\n"
		    "k = v\n"
		    "\n"
		    "  w\n"
		    "  ; comment\n"
		    "\tx = y ; comment\n"
		    "l: m=n\n"
		    "[b]\n"
		    "  indented = 1\n"
		    "  [c]\n"),
	       0,
	       "2 section [a]\n"
	       "3 key [a] <k> <v>\n"
	       "5 more [a] <k> <w>\n"
	       "7 more [a] <k> <x = y>\n"
	       "8 key [a] <l> <m=n>\n"
	       "9 section [b]\n"
	       "10 key [b] <indented> <1>\n"
	       "11 more [b] <indented> <[c]>\n");
}

/* All mistakes of a file, and what is good between them. */
TEST(goes_on_after_mistakes)
{
	client(TEXT("lost\n"
		    "[a]\n"
		    "k = v\n"
		    "[b\n"
		    "  still a's\n"
		    "l\n"
		    "= 1\n"
		    "  m = 2\n"
		    "[c] x\n"
		    "n = \0\n"
		    "o = 3\n"
		    "p"),
	       0,
	       "1 malformed <lost> neither [section] nor key = value\n"
	       "2 section [a]\n"
	       "3 key [a] <k> <v>\n"
	       "4 malformed <[b> no ] behind the section's name\n"
	       "5 more [a] <k> <still a's>\n"
	       "6 malformed <l> neither [section] nor key = value\n"
	       "7 malformed <= 1> a value without a key\n"
	       "8 key [a] <m> <2>\n"
	       "9 malformed <[c] x> text behind the section's name\n"
	       "10 malformed a NUL byte; is this a text file?\n"
	       "11 key [a] <o> <3>\n"
	       "12 malformed <p> neither [section] nor key = value\n");
}

TEST(stops_when_told)
{
	static const char text[] = "[a]\nk = v\nbad\n[b]\nl = w\n";
	client(TEXT(text), 1, "1 section [a]\n");
	client(TEXT(text), 2, "1 section [a]\n2 key [a] <k> <v>\n");
	client(TEXT(text), 3,
	       "1 section [a]\n2 key [a] <k> <v>\n"
	       "3 malformed <bad> neither [section] nor key = value\n");
}

TEST(tells_nothing_of_nothing)
{
	client("", 0, 0, "");
	client(TEXT("\xEF\xBB\xBF"), 0, "");
	client(TEXT("\r\n \t\n;\n#"), 0, "");
}

TEST_MAIN(NULL, NULL)
