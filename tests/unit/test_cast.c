// A recording, word for word.

#include "supervisor/process/record.h"

#include "tests/unit/kept.h"
#include "tests/unit/unit.h"

static struct meta meta;

static struct artifact *start(struct cast *c, bool newlines)
{
	struct artifact *a = kept_create(&meta);
	assert_non_null(a);
	meta.cols = 80;
	meta.rows = 24;
	meta.started_ms = 1700000000999;
	cast_start(c, a, &meta, newlines);
	return a;
}

#define HEADER "{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":1700000000,\"command\":"

TEST(events)
{
	struct cast c;
	struct artifact *a = start(&c, false);
	cast_output(&c, 7, "a\r\nb\n", 5);
	cast_resize(&c, 1034, 100, 50);
	cast_output(&c, 61000, "\033[1m\"\\", 6);
	kept_equals(a, ".cast",
		    HEADER "\"test\"}\n"
			   "[0.007,\"o\",\"a\\r\\nb\\n\"]\n"
			   "[1.034,\"r\",\"100x50\"]\n"
			   "[61.000,\"o\",\"\\u001b[1m\\\"\\\\\"]\n");
	artifact_close(a);
}

/* A new line of a pty without output processing. */
TEST(new_lines)
{
	struct cast c;
	struct artifact *a = start(&c, true);
	cast_output(&c, 0, "a\nb\r", 4);
	cast_output(&c, 0, "\n\n", 2);
	kept_equals(a, ".cast",
		    HEADER "\"test\"}\n"
			   "[0.000,\"o\",\"a\\r\\nb\\r\"]\n"
			   "[0.000,\"o\",\"\\n\\r\\n\"]\n");
	artifact_close(a);
}

TEST(characters_in_pieces)
{
	struct cast c;
	struct artifact *a = start(&c, false);
	cast_output(&c, 1, "\xE2", 1);
	cast_output(&c, 2, "\x82", 1);
	cast_output(&c, 3, "\xAC\xFF\xC3", 3);
	cast_output(&c, 4, "x", 1);
	kept_equals(a, ".cast",
		    HEADER "\"test\"}\n"
			   "[0.003,\"o\",\"\xE2\x82\xAC\xEF\xBF\xBD\"]\n"
			   "[0.004,\"o\",\"\xEF\xBF\xBDx\"]\n");
	artifact_close(a);
}

TEST(a_long_command)
{
	static char word[5000];
	struct cast c;
	struct buffer out = BUFFER_INIT;
	memset(word, 'w', sizeof(word) - 1);
	struct artifact *a = kept_create(&meta);
	char *argv[] = {word, word, NULL};
	meta.argv = argv;
	cast_start(&c, a, &meta, false);
	assert_int_equal(kept_read(a, ".cast", &out), 0);
	assert_in_range(out.len, 1000, 1200);
	buffer_release(&out);
	artifact_close(a);
}

TEST(nowhere)
{
	struct cast c = {.artifact = NULL};
	cast_output(&c, 1, "x", 1);
	cast_resize(&c, 1, 80, 24);
	assert_null(c.artifact);
}

TEST_MAIN(home_setup, home_teardown)
