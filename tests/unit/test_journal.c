// The journal of a session: lines that are appended while others are taken out, and read from the
// end and from the beginning.

#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/artifact/journal.h"
#include "tests/unit/child.h"
#include "tests/unit/store.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int open_dir(void)
{
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	int dir = store_open_session(&s, "test", true);
	assert_true(dir >= 0);
	store_close(&s);
	return dir;
}

static int try_append(int dir, const char *text)
{
	struct buffer line = BUFFER_INIT;
	buffer_append_string(&line, text);
	return journal_append(dir, &line);
}

static void append(int dir, const char *line)
{
	assert_int_equal(try_append(dir, line), 0);
}

/* A part of a line, as a writer that was killed leaves it. */
static void append_part(int dir, const char *text)
{
	int fd = openat(dir, JOURNAL_FILE, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(io_write(fd, text, strlen(text)), 0);
	close(fd);
}

static void equals(int dir, const char *want)
{
	char text[65536];
	assert_true(unit_read_file(dir, JOURNAL_FILE, text, sizeof(text)) >= 0);
	assert_string_equal(text, want);
}

/* Lines that hold the string `ctx` go. */
static bool keep_without(void *ctx, const char *line, size_t len)
{
	return !memmem(line, len, ctx, strlen(ctx));
}

STORE_TEST(filter)
{
	int dir = open_dir();
	char x[] = "x", y[] = "y";
	assert_int_equal(journal_filter(dir, keep_without, x), -1);
	assert_int_equal(errno, ENOENT);
	append(dir, "a");
	append(dir, "bx");
	append(dir, "c");
	assert_int_equal(journal_filter(dir, keep_without, y), 0);
	equals(dir, "a\nbx\nc\n");
	assert_int_equal(journal_filter(dir, keep_without, x), 1);
	equals(dir, "a\nc\n");
	append(dir, "d");
	equals(dir, "a\nc\nd\n");
	close(dir);
}

/* The disk is full in the middle of a line: nothing of it stays, and the next one is whole. */
STORE_TEST(short_write)
{
	struct rlimit before, few = {7, RLIM_INFINITY};
	int dir = open_dir();
	append(dir, "one");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	int result = try_append(dir, "two, too long"), error = errno;
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(result, -1);
	assert_int_equal(error, ENOSPC);
	equals(dir, "one\n");
	append(dir, "three");
	equals(dir, "one\nthree\n");
	close(dir);
}

/* A write that was cut short: the next line begins behind a newline. */
STORE_TEST(cut)
{
	int dir = open_dir();
	char x[] = "x";
	append(dir, "ab");
	append_part(dir, "tor");
	append(dir, "cd");
	append_part(dir, "e");
	equals(dir, "ab\ntor\ncd\ne");
	assert_int_equal(journal_filter(dir, keep_without, x), 1);
	equals(dir, "ab\ntor\ncd\n");
	close(dir);
}

STORE_TEST(long_lines)
{
	int dir = open_dir();
	static char line[300000];
	char x[] = "x";
	append(dir, "a");
	memset(line, 'z', sizeof(line) - 1);
	append(dir, line);
	append(dir, "b");
	assert_true(journal_filter(dir, keep_without, x) >= 1);
	char text[65536];
	assert_true(unit_read_file(dir, JOURNAL_FILE, text, sizeof(text)) >= 0);
	assert_int_equal(strncmp(text, "a\n", 2), 0);
	assert_string_equal(text + strlen(text) - 3, "\nb\n");
	close(dir);
}

/* The time of the last appended line is the time the session was last used. */
STORE_TEST(time)
{
	int dir = open_dir();
	char x[] = "x";
	const struct timespec times[2] = {{1000, 0}, {1000, 5000000}};
	struct stat st;
	append(dir, "a\nx");
	assert_int_equal(utimensat(dir, JOURNAL_FILE, times, 0), 0);
	assert_int_equal(journal_filter(dir, keep_without, x), 1);
	assert_int_equal(fstatat(dir, JOURNAL_FILE, &st, 0), 0);
	assert_int_equal(st.st_mtim.tv_sec, 1000);
	close(dir);
}

STORE_TEST(links)
{
	int dir = open_dir();
	char x[] = "x", path[sizeof(home) + 16], text[64];
	snprintf(path, sizeof(path), "%s/outside", home);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "x\n", 2), 2);
	close(fd);
	assert_int_equal(symlinkat(path, dir, JOURNAL_FILE), 0);
	assert_int_equal(try_append(dir, "y"), -1);
	assert_int_equal(journal_filter(dir, keep_without, x), -1);
	assert_int_equal(unlinkat(dir, JOURNAL_FILE, 0), 0);
	assert_int_equal(linkat(AT_FDCWD, path, dir, JOURNAL_FILE, 0), 0);
	assert_int_equal(try_append(dir, "y"), -1);
	assert_int_equal(errno, EPERM);
	assert_true(unit_read_file(AT_FDCWD, path, text, sizeof(text)) >= 0);
	assert_string_equal(text, "x\n");
	close(dir);
}

#define WRITERS 4
#define LINES   400

/* Four append and two take lines out: every line that is to stay is there, once. */
STORE_TEST(together)
{
	int dir = open_dir();
	pid_t pids[WRITERS + 2];
	for (int w = 0; w < WRITERS + 2; w++) {
		pids[w] = fork();
		assert_true(pids[w] >= 0);
		if (pids[w] > 0)
			continue;
		char line[32], x[] = "x";
		int failed = 0;
		for (int i = 0; i < LINES && w < WRITERS; i++) {
			snprintf(line, sizeof(line), "%c%d%s", 'a' + w, i, i % 3 ? "" : "x");
			failed |= try_append(dir, line) < 0;
		}
		for (int i = 0; i < LINES && w >= WRITERS; i++)
			failed |= journal_filter(dir, keep_without, x) < 0 && errno != ENOENT;
		_exit(failed);
	}
	for (int w = 0; w < WRITERS + 2; w++)
		assert_int_equal(child_wait(pids[w]), 0);
	char x[] = "x";
	assert_true(journal_filter(dir, keep_without, x) >= 0);
	static char text[65536];
	ssize_t len = unit_read_file(dir, JOURNAL_FILE, text, sizeof(text));
	assert_true(len > 0);
	int next[WRITERS] = {0}, count = 0;
	for (char *line = text; *line; line = strchr(line, '\n') + 1) {
		int w = line[0] - 'a';
		assert_true(w >= 0 && w < WRITERS);
		next[w] += next[w] % 3 == 0;
		assert_int_equal(strtol(line + 1, NULL, 10), next[w]++);
		count++;
	}
	assert_int_equal(count, WRITERS * (LINES - (LINES + 2) / 3));
	close(dir);
}

/* A run of a session that ended then. */
static void add(const char *session, const char *word, int64_t ended)
{
	char *argv[] = {(char *)word, NULL};
	struct meta m = {.argv = argv,
			 .cwd = "/",
			 .session = session,
			 .started_ms = 1,
			 .ended_ms = ended,
			 .state = META_DONE};
	int dir = store_open_session(&store, session, true);
	assert_true(dir >= 0);
	assert_int_equal(journal_add_run(dir, &m, false), 0);
	close(dir);
}

static void add_bytes(const char *session, const char *data, size_t len)
{
	int dir = store_open_session(&store, session, true);
	int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY | O_APPEND | O_CREAT);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
	close(dir);
}

/* The runs that are found, newest first, and the number of damaged lines. */
static void expect(const char *session, const char *words, uint64_t damaged)
{
	char got[256] = "";
	struct meta m;
	int result;
	struct journal *j = journal_open(&store, 1, session, JOURNAL_RUN);
	assert_non_null(j);
	while ((result = journal_next_run(j, &m)) == 1) {
		size_t len = strlen(got);
		assert_true(snprintf(got + len, sizeof(got) - len, "%s%s", len ? " " : "",
				     m.argv[0] ? m.argv[0] : "-") < (int)(sizeof(got) - len));
	}
	assert_int_equal(result, 0);
	assert_string_equal(got, words);
	assert_int_equal(journal_damaged(j), damaged);
	journal_close(j);
}

STORE_TEST(order)
{
	expect("a", "", 0);
	expect(NULL, "", 0);
	add("a", "one", 10);
	expect("a", "one", 0);
	add("a", "two", 20);
	add("a", "three", 30);
	add("b", "four", 15);
	add("b", "five", 40);
	expect("a", "three two one", 0);
	expect("b", "five four", 0);
	expect(NULL, "five three two four one", 0);
	expect("c", "", 0);
}

STORE_TEST(damaged)
{
	static char huge[10000];
	memset(huge, 'x', sizeof(huge));
	add_bytes("a", "{nonsense\n", 10);
	add("a", "one", 10);
	add_bytes("a", "\n\n", 2);
	add("a", "two", 20);
	add_bytes("a", huge, sizeof(huge));
	add_bytes("a", "\n", 1);
	add("a", "three", 30);
	/* A write that was cut: the next write begins a line of its own. */
	add_bytes("a", "{\"eventName\":", 13);
	add("a", "next", 40);
	add("a", "four", 50);
	/* What is being written is not damaged. */
	add_bytes("a", "{\"eventName\":\"terse.run\",\"id\":\"\"", 32);
	expect("a", "four next three two one", 3);
}

/* Meanwhile lines are taken out, so that it is another file, and a shorter one. */
STORE_TEST(changes_meanwhile)
{
	struct meta m;
	add("b", "other", 45);
	for (int i = 1; i <= 5; i++)
		add("a", i % 2 ? "odd" : "even", 10 * i);
	struct journal *j = journal_open(&store, 1, NULL, JOURNAL_RUN);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(journal_next_run(j, &m), 1);
		assert_int_equal(m.ended_ms, i ? 45 : 50);
	}
	int dir = store_open_session(&store, "a", false);
	assert_int_equal(unlinkat(dir, JOURNAL_FILE, 0), 0);
	for (int i = 2; i <= 5; i++)
		add("a", "again", 10 * i);
	/* One was found before it was asked for. */
	for (int i = 4; i >= 2; i--) {
		assert_int_equal(journal_next_run(j, &m), 1);
		assert_int_equal(m.ended_ms, 10 * i);
	}
	assert_int_equal(journal_next_run(j, &m), 0);
	journal_close(j);
	close(dir);
}

/* A session is opened when it may have the next line: what can't be read is no matter before. */
STORE_TEST(opened_late)
{
	const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct meta m;
	add("b", "older", 2000000);
	add("a", "newer", 3000000);
	int dir = store_open_session(&store, "c", true);
	assert_int_equal(mkdirat(dir, JOURNAL_FILE, 0700), 0);
	assert_int_equal(utimensat(dir, JOURNAL_FILE, old, 0), 0);
	struct journal *j = journal_open(&store, 1, NULL, JOURNAL_RUN);
	assert_int_equal(journal_next_run(j, &m), 1);
	assert_int_equal(m.ended_ms, 3000000);
	assert_int_equal(journal_next_run(j, &m), 1);
	assert_int_equal(m.ended_ms, 2000000);
	assert_int_equal(journal_next_run(j, &m), -1);
	assert_int_equal(errno, EPERM);
	journal_close(j);
	close(dir);
}

/* Lines of any length around the edges of the block that is read. */
STORE_TEST(block)
{
	static const size_t lengths[] = {1,    100,   8190, 3,    8191, 7,    8192,
					 4096, 20000, 50,   8193, 2,    4095, 3000};
	enum { COUNT = sizeof(lengths) / sizeof(*lengths) };
	static char text[20001];
	char want[256] = "";
	size_t at = 0;
	memset(text, 'x', sizeof(text));
	/* One of ours between each two, and the longest that is one. */
	for (int i = 0; i < COUNT; i++) {
		char word[8];
		snprintf(word, sizeof(word), "%d", i);
		add("a", word, i + 1);
		text[lengths[i]] = '\n';
		add_bytes("a", text, lengths[i] + 1);
		text[lengths[i]] = 'x';
	}
	for (int i = COUNT; i-- > 0;)
		at += (size_t)snprintf(want + at, sizeof(want) - at, "%s%d", at ? " " : "", i);
	expect("a", want, COUNT);
}

/* Each kind of line: found by its kind, read, cleaned up, and what the end of a session is. */
STORE_TEST(kinds)
{
	struct journal_read read = {.id = "cmd-0123456789ab", .at_ms = 7, .bytes = 2};
	struct journal_read found;
	struct journal_line line;
	int dir = store_open_session(&store, "a", true);
	assert_int_equal(journal_end_ms(dir), 0);
	assert_int_equal(journal_add_end(dir, "x", 5), 0);
	assert_int_equal(journal_end_ms(dir), 5);
	add("a", "one", 10);
	assert_int_equal(journal_end_ms(dir), 0);
	assert_int_equal(journal_add_made(dir, read.id), 0);
	assert_int_equal(journal_add_end(dir, "x", 6), 0);
	assert_int_equal(journal_add_read(dir, &read), 0);
	read.inside = true;
	assert_int_equal(journal_add_read(dir, &read), 0);
	assert_int_equal(journal_end_ms(dir), 6);
	static const char bad[] =
		"{\"eventName\":\"terse.read\",\"id\":\"x\"}\n"
		"{\"eventName\":\"terse.read\",\"id\":\"cmd-0123456789ab\",\"bytes\":-1}\n";
	add_bytes("a", bad, strlen(bad));
	expect("a", "one", 1);
	struct journal *j = journal_open(&store, 1, "a", JOURNAL_READ);
	assert_int_equal(journal_next(j, &line), 1);
	assert_false(journal_parse_read(&line, &found));
	for (int i = 1; i >= 0; i--) {
		assert_int_equal(journal_next(j, &line), 1);
		assert_true(journal_parse_read(&line, &found));
		assert_string_equal(found.id, read.id);
		assert_int_equal(found.at_ms, 7);
		assert_int_equal(found.bytes, 2);
		assert_int_equal(found.inside, i);
	}
	assert_int_equal(journal_next(j, &line), 0);
	journal_close(j);
	/* What was made and is gone goes; what was read at 7, too; the run started at 1. */
	assert_int_equal(journal_clean(dir, 2, 9), 3);
	assert_int_equal(journal_clean(dir, 0, 9), 1);
	assert_int_equal(journal_clean(dir, 0, 9), 0);
	close(dir);
}

TEST_MAIN(NULL, NULL)
