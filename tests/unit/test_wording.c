// Every line that terse prints, word for word: agents read and act on them.

#include "supervisor/base/buffer.h"
#include "supervisor/preview/preview.h"
#include "supervisor/report/wording.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ID "cmd-1m5zq8k3x7f"

static const struct wording_place kept = {.id = ID};
static const struct wording_place kept_stderr = {.id = ID, .is_stderr = true};
static const struct wording_place lost = {.error = ENOSPC};
static const struct wording_place lost_stderr = {.error = EACCES, .is_stderr = true};
static const struct wording_place in_a_file = {NULL, 0, false};

static void assert_text(struct buffer *out, int result, const char *want)
{
	assert_int_equal(result, 0);
	assert_string_equal(buffer_string(out), want);
	buffer_release(out);
}

static void marker(const struct preview_piece *piece, const struct wording_place *place,
		   const char *want)
{
	struct buffer out = BUFFER_INIT;
	int result = wording_marker(&out, piece, place);
	assert_text(&out, result, want);
}

static void markers(void **state)
{
	const struct preview_piece many = {
		.kind = PREVIEW_GAP, .from = 31, .to = 1234, .bytes = 62464};
	const struct preview_piece one = {.kind = PREVIEW_GAP, .from = 7, .to = 7, .bytes = 1};
	const struct preview_piece huge = {.kind = PREVIEW_GAP,
					   .from = 1,
					   .to = 12345678,
					   .bytes = (uint64_t)10 * 1024 * 1024 * 1024};
	const struct preview_piece fold = {
		.kind = PREVIEW_FOLD, .from = 1012, .to = 1421, .bytes = 4100};
	const struct preview_piece fold_one = {.kind = PREVIEW_FOLD, .from = 2, .to = 2};
	(void)state;
	marker(&many, &kept,
	       "[... 1,204 lines (61.0 KB) omitted: terse read " ID " --offset 31 --limit 1204]\n");
	marker(&one, &kept, "[... 1 line (1 B) omitted: terse read " ID " --offset 7 --limit 1]\n");
	marker(&huge, &kept,
	       "[... 12,345,678 lines (10.0 GB) omitted: terse read " ID
	       " --offset 1 --limit 12345678]\n");
	marker(&many, &kept_stderr,
	       "[... 1,204 lines (61.0 KB) omitted: terse read " ID
	       " --stderr --offset 31 --limit 1204]\n");
	marker(&many, &lost,
	       "[... 1,204 lines (61.0 KB) omitted: not kept: No space left on device]\n");
	marker(&many, &in_a_file, "[... 1,204 lines (61.0 KB) omitted: lines 31-1234]\n");
	marker(&fold, &kept, "[... lines 1012-1421 repeat the line above]\n");
	marker(&fold_one, &lost, "[... line 2 repeats the line above]\n");
}

static struct wording_ending ended(int exit_code)
{
	return (struct wording_ending){
		.exit_code = exit_code, .duration_ms = 12345, .lines = 8432, .bytes = 484352};
}

static void footer(const struct wording_ending *e, const struct wording_place *place,
		   const char *want)
{
	struct buffer out = BUFFER_INIT;
	int result = wording_footer(&out, e, place);
	assert_text(&out, result, want);
}

static void footers(void **state)
{
	struct wording_ending e = ended(1);
	(void)state;
	footer(&e, &kept,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; full text: terse read " ID
	       ", search: terse search " ID " REGEX]\n");
	footer(&e, &kept_stderr,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; full text: terse read " ID
	       " --stderr, search: terse search " ID " --stderr REGEX]\n");
	footer(&e, &lost,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; full text: not kept: No space "
	       "left on device]\n");
	footer(&e, &lost_stderr,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; full text: not kept: Permission "
	       "denied]\n");
	footer(&e, &in_a_file, "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB]\n");
	e.background = true;
	footer(&e, &kept,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; background processes still "
	       "write; full text: terse read " ID ", search: terse search " ID " REGEX]\n");
	e = (struct wording_ending){.exit_code = 0, .duration_ms = 3, .lines = 1, .bytes = 5000};
	footer(&e, &in_a_file, "[terse: exit 0 after 3 ms; 1 line, 4.9 KB]\n");
}

static void status(const struct wording_ending *e, const char *want)
{
	struct buffer out = BUFFER_INIT;
	int result = wording_status(&out, e);
	assert_text(&out, result, want);
}

/* How a command can end. */
static void endings(void **state)
{
	struct wording_ending e = ended(0);
	(void)state;
	status(&e, "[terse: exit 0]\n");
	e = ended(255);
	status(&e, "[terse: exit 255]\n");
	e = ended(-1);
	e.signal = SIGKILL;
	status(&e, "[terse: killed by SIGKILL]\n");
	e.signal = SIGSEGV;
	status(&e, "[terse: killed by SIGSEGV]\n");
	e.signal = SIGHUP;
	status(&e, "[terse: killed by SIGHUP]\n");
	e.signal = 40;
	status(&e, "[terse: killed by signal 40]\n");
	/* The keeper reports 124 for it, as terse exits. */
	e = ended(124);
	e.timed_out = true;
	status(&e, "[terse: timed out (exit 124)]\n");
	e = ended(-1);
	e.signal = SIGTERM;
	e.timed_out = true;
	status(&e, "[terse: timed out (exit 124)]\n");
	e = ended(-1);
	e.signal = SIGHUP;
	e.state = WORDING_INTERRUPTED;
	status(&e, "[terse: interrupted]\n");
	footer(&e, &kept,
	       "[terse: interrupted after 12.3 s; 8,432 lines, 473 KB; full text: terse read " ID
	       ", search: terse search " ID " REGEX]\n");
}

static void heartbeat(int64_t ms, uint64_t lines, uint64_t bytes, const struct wording_place *place,
		      const char *want)
{
	struct buffer out = BUFFER_INIT;
	int result = wording_heartbeat(&out, ms, lines, bytes, place);
	assert_text(&out, result, want);
}

static void heartbeats(void **state)
{
	(void)state;
	heartbeat(60000, 812, 48128, &kept,
		  "[terse: still running after 1 min 0 s; 812 lines, 47.0 KB so far: terse "
		  "read " ID "]\n");
	heartbeat(60000, 0, 0, &kept,
		  "[terse: still running after 1 min 0 s; 0 lines, 0 B so far: terse read " ID
		  "]\n");
	heartbeat(5500, 1, 10, &lost,
		  "[terse: still running after 5.5 s; 1 line, 10 B so far: not kept: No space "
		  "left on device]\n");
	heartbeat(5500, 1, 10, &in_a_file,
		  "[terse: still running after 5.5 s; 1 line, 10 B so far]\n");
}

static void binary(const char *kind, const struct wording_place *place, const char *want)
{
	struct buffer out = BUFFER_INIT;
	struct wording_ending e = {.exit_code = 0, .duration_ms = 3, .bytes = 12897485};
	int result = wording_binary(&out, &e, kind, place);
	assert_text(&out, result, want);
}

static void binaries(void **state)
{
	(void)state;
	binary("gzip", &kept,
	       "[terse: exit 0 after 3 ms; 12.3 MB of binary output (gzip): terse path --raw " ID
	       "]\n");
	binary(NULL, &kept,
	       "[terse: exit 0 after 3 ms; 12.3 MB of binary output: terse path --raw " ID "]\n");
	binary(NULL, &kept_stderr,
	       "[terse: exit 0 after 3 ms; 12.3 MB of binary output: terse path --raw " ID "]\n");
	binary("ELF", &lost,
	       "[terse: exit 0 after 3 ms; 12.3 MB of binary output (ELF): not kept: No space left "
	       "on device]\n");
	binary("ELF", &in_a_file, "[terse: exit 0 after 3 ms; 12.3 MB of binary output (ELF)]\n");
}

static void person(void **state)
{
	struct buffer out = BUFFER_INIT;
	struct wording_ending e = ended(0);
	(void)state;
	assert_text(&out, wording_person(&out, &e, &kept),
		    "[terse: 8,432 lines, 473 KB: terse read " ID "]\n");
	assert_text(&out, wording_person(&out, &e, &lost),
		    "[terse: 8,432 lines, 473 KB: not kept: No space left on device]\n");
}

static void not_kept(void **state)
{
	struct buffer out = BUFFER_INIT;
	(void)state;
	assert_text(&out, wording_not_kept(&out, ENOSPC),
		    "terse: output not kept: No space left on device\n");
}

/* Lines are appended to what is there. */
static void appends(void **state)
{
	struct buffer out = BUFFER_INIT;
	struct wording_ending e = ended(2);
	(void)state;
	assert_int_equal(buffer_append_string(&out, "before\n"), 0);
	assert_text(&out, wording_status(&out, &e), "before\n[terse: exit 2]\n");
}

static void kinds(void **state)
{
	static const struct {
		const char *data;
		size_t len;
		const char *kind;
	} cases[] = {
		{"\x1f\x8b\x08", 3, "gzip"},
		{"\x28\xb5\x2f\xfd", 4, "zstd"},
		{"\xfd"
		 "7zXZ\0",
		 6, "xz"},
		{"BZh9", 4, "bzip2"},
		{"PK\x03\x04", 4, "zip"},
		{"\x7f"
		 "ELF\x02",
		 5, "ELF"},
		{"\x89PNG\r\n", 6, "PNG image"},
		{"\xff\xd8\xff\xe0", 4, "JPEG image"},
		{"GIF89a", 6, "GIF image"},
		{"%PDF-1.7", 8, "PDF"},
		{"SQLite format 3\0", 16, "SQLite database"},
	};
	char tar[262] = "";
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_string_equal(wording_binary_kind(cases[i].data, cases[i].len),
				    cases[i].kind);
		assert_null(wording_binary_kind(cases[i].data, 1));
	}
	memcpy(tar + 257, "ustar", 5);
	assert_string_equal(wording_binary_kind(tar, sizeof(tar)), "tar");
	assert_null(wording_binary_kind(tar, sizeof(tar) - 1));
	assert_null(wording_binary_kind("", 0));
	assert_null(wording_binary_kind("text", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markers),    cmocka_unit_test(footers),  cmocka_unit_test(endings),
		cmocka_unit_test(heartbeats), cmocka_unit_test(binaries), cmocka_unit_test(person),
		cmocka_unit_test(not_kept),   cmocka_unit_test(appends),  cmocka_unit_test(kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
