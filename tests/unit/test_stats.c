// The sums of a session: what was kept of them and the lines behind it are a count of all lines,
// whatever has become of the journal.

#include "supervisor/command/internal.h"

#include "lib/io.h"
#include "supervisor/artifact/id.h"
#include "tests/unit/store.h"
#include "tests/unit/unit.h"

#include <sys/inotify.h>
#include <sys/wait.h>

static unsigned draw_state;

static unsigned draw(unsigned below)
{
	draw_state = draw_state * 1103515245 + 12345;
	return (draw_state >> 16) % below;
}

/* One of few artifacts, so that they are met again. */
static const char *draw_id(void)
{
	static char id[ID_LEN + 1];
	id_unpack(id_first_at(1000) + draw(50), id);
	return id;
}

static int open_session(void)
{
	int dir = store_open_session(&store, "s", true);
	assert_true(dir >= 0);
	return dir;
}

/* Lines are unlike each other by their processes and times, as those of terse are. */
static void add_run(int dir, int n)
{
	char *argv[] = {(char *)"make", NULL};
	struct meta m = {.argv = argv,
			 .cwd = "/src",
			 .session = "s",
			 .started_ms = 100 + draw(1000),
			 .duration_ms = draw(9),
			 .exit_code = (int)draw(2),
			 .state = META_DONE,
			 .supervisor = n + 1,
			 .agent = draw(2) ? "claude" : "codex",
			 .profile = draw(9) ? "default" : "terse",
			 .shown = {draw(99), draw(99), draw(99), draw(99)}};
	if (draw(2))
		memcpy(m.id, draw_id(), sizeof(m.id));
	assert_int_equal(journal_add_run(dir, &m, false), 0);
}

static void add_read(int dir, int n)
{
	struct journal_read read = {
		.at_ms = 10000 + n, .bytes = draw(99), .tokens = draw(99), .inside = draw(3) == 0};
	memcpy(read.id, draw_id(), sizeof(read.id));
	assert_int_equal(journal_add_read(dir, &read), 0);
}

/* `from_ms`: 0, or a time before all runs, with which all lines are counted each time. */
static struct stats count_all(int64_t from_ms)
{
	struct stats s = {.from_ms = from_ms};
	assert_int_equal(stats_add_session(&s, &store, "s"), 0);
	stats_release(&s);
	return s;
}

static void expect_equal(void)
{
	struct stats kept = count_all(0), all = count_all(1);
	assert_memory_equal(&kept.all, &all.all, sizeof(all.all));
	assert_string_equal(kept.agent, all.agent);
	assert_int_equal(kept.first_ms, all.first_ms);
	assert_int_equal(kept.damaged, all.damaged);
}

static void shorten(int dir)
{
	struct stat st;
	int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY | O_CREAT);
	assert_int_equal(fstat(fd, &st), 0);
	off_t by = (off_t)draw(20000);
	assert_int_equal(ftruncate(fd, st.st_size > by ? st.st_size - by : 0), 0);
	close(fd);
}

/* A writer that was killed, or whose disk was full. */
static void damage(int dir)
{
	static const char part[] = "{\"eventName\":\"terse.run\",\"id\":\"\",\"sess";
	int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY | O_CREAT | O_APPEND);
	assert_int_equal(io_write(fd, part, draw(sizeof(part))), 0);
	close(fd);
}

STORE_TEST(any_order)
{
	int dir = open_session();
	for (unsigned seed = 1; seed < 4; seed++) {
		draw_state = seed;
		for (int n = 0; n < 5000; n++) {
			int64_t from = 100 + draw(1000);
			unsigned what = draw(300);
			if (what == 0)
				shorten(dir);
			else if (what == 1)
				journal_clean(dir, from, from + draw(300));
			else if (what < 6)
				damage(dir);
			else if (what < 10)
				journal_add_end(dir, "x", n);
			else if (what < 60)
				add_read(dir, n);
			else if (what < 100)
				journal_add_made(dir, draw_id());
			else
				add_run(dir, n);
			if (draw(40) == 0)
				expect_equal();
		}
		expect_equal();
	}
	close(dir);
}

/* A change of what was counted that terse never makes shows that it was not read again. */
STORE_TEST(read_once)
{
	int dir = open_session();
	for (int n = 0; n < 300; n++)
		add_run(dir, n);
	expect_equal();
	/* A journal that has not changed is not even opened. */
	char path[64], event[512];
	snprintf(path, sizeof(path), "/proc/self/fd/%d/" JOURNAL_FILE, dir);
	int opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(inotify_add_watch(opened, path, IN_OPEN) >= 0);
	count_all(0);
	assert_int_equal(read(opened, event, sizeof(event)), -1);
	count_all(1);
	assert_true(read(opened, event, sizeof(event)) > 0);
	close(opened);
	int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY);
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	close(fd);
	assert_int_equal(count_all(0).damaged, 0);
	assert_int_equal(count_all(1).damaged, 1);
	/* With any bit of it wrong, and with any length, all are counted. */
	static char sums[100000];
	fd = store_open_file(dir, JOURNAL_SUMS, O_RDWR);
	ssize_t len = pread(fd, sums, sizeof(sums), 0);
	assert_true(len > 100 && len < (ssize_t)sizeof(sums));
	for (ssize_t i = 0; i < len; i += i < 200 ? 1 : 97) {
		char bad = (char)(sums[i] ^ 1 << i % 8);
		assert_int_equal(pwrite(fd, &bad, 1, i), 1);
		assert_int_equal(count_all(0).damaged, 1);
		assert_int_equal(pwrite(fd, sums, (size_t)len, 0), len);
		assert_int_equal(ftruncate(fd, i), 0);
		assert_int_equal(count_all(0).damaged, 1);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, sums, (size_t)len, 0), len);
		assert_int_equal(count_all(0).damaged, 0);
	}
	close(fd);
	close(dir);
}

/* The last line that was counted goes, and another one, as long or longer, comes in its place. */
STORE_TEST(another_line)
{
	int dir = open_session();
	struct journal_read read = {.id = "cmd-0123456789ab", .at_ms = 11, .bytes = 10};
	struct stat st, now;
	for (int n = 0; n < 300; n++)
		add_run(dir, n);
	int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY);
	assert_int_equal(fstat(fd, &st), 0);
	for (int i = 0; i < 3; i++) {
		read.bytes += i == 2 ? 1000 : 1;
		assert_int_equal(fstat(fd, &now), 0);
		const struct timespec before = now.st_ctim;
		assert_int_equal(ftruncate(fd, st.st_size), 0);
		assert_int_equal(journal_add_read(dir, &read), 0);
		/* Until the clock of files has gone on. */
		while (fchmod(fd, 0600) == 0 && fstat(fd, &now) == 0 &&
		       now.st_ctim.tv_sec == before.tv_sec && now.st_ctim.tv_nsec == before.tv_nsec)
			;
		expect_equal();
	}
	close(fd);
	close(dir);
}

/* Several write, one takes lines out, and several count. */
STORE_TEST(together)
{
	enum { CHILDREN = 4 };
	pid_t children[CHILDREN];
	int dir = open_session();
	for (int i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] != 0)
			continue;
		draw_state = (unsigned)i;
		for (int n = 0; n < 600; n++) {
			if (i < 2)
				add_run(dir, n * 2 + i);
			else if (i == 2 && n % 20 == 0)
				journal_clean(dir, 100 + n, 110 + n);
			else if (n % 20 == 0)
				count_all(0);
		}
		_exit(0);
	}
	for (int n = 0; n < 30; n++)
		count_all(0);
	for (int i = 0; i < CHILDREN; i++) {
		int status;
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	expect_equal();
	close(dir);
}

TEST_MAIN(NULL, NULL)
