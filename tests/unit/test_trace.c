// The trace: which file, and what a line looks like.

#include "lib/trace.h"

#include "home.h"
#include "tests/unit/unit.h"

static char text[8192];

static const char *content(const char *path)
{
	assert_true(unit_read_file(AT_FDCWD, path, text, sizeof(text)) >= 0);
	return text;
}

static const char *named(const char *name)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s/%s", home, name);
	return path;
}

static int teardown(void **state)
{
	trace_close();
	return home_teardown(state);
}

TEST_IN(only_absolute_paths, home_setup, teardown)
{
	assert_int_equal(trace_open("trace", "x"), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(trace_fd, -1);
}

TEST_IN(control_bytes_are_escaped, home_setup, teardown)
{
	const char *path = named("trace");
	assert_int_equal(trace_open(path, "terse test"), 0);
	TRACE(SINK, "a\x1b[31m\n\x80\\\xc3\xa9\xe2\x80\xae|%s|", "\t\x7f");
	assert_non_null(strstr(content(path), "a\\x1b[31m\\n\\x80\\\xc3\xa9\\u202e|\\t\\x7f|\n"));
}

TEST_IN(long_lines_are_cut, home_setup, teardown)
{
	char much[4096];
	memset(much, '\a', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\0';
	assert_int_equal(trace_open(named("trace"), "terse test"), 0);
	TRACE(SINK, "%s", much);
	TRACE(SINK, "next");
	assert_non_null(strstr(content(named("trace")), "\\x07\n"));
	assert_non_null(strstr(text, " next\n"));
}

TEST_IN(errno_is_kept, home_setup, teardown)
{
	assert_int_equal(trace_open(named("trace"), "terse test"), 0);
	errno = ENOTTY;
	TRACE(SINK, "%m");
	assert_int_equal(errno, ENOTTY);
	assert_non_null(strstr(content(named("trace")), strerror(ENOTTY)));
}

/* A reader that has gone or is slow costs only lines. */
TEST_IN(a_pipe_is_never_waited_for, home_setup, teardown)
{
	int ends[2];
	char path[32];
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	assert_int_equal(trace_open(path, "terse test"), 0);
	for (int i = 0; i < 10000; i++)
		TRACE(SINK, "%0500d", i);
	close(ends[0]);
	close(ends[1]);
	TRACE(SINK, "no SIGPIPE");
}

TEST_MAIN(NULL, NULL)
