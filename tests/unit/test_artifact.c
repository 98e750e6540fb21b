// Writing artifacts: what is on disk at any moment, and what failures leave behind.

#include "lib/buffer.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/index.h"
#include "tests/unit/kept.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The failures that the kernel may report at any write; the library calls this function. */
static bool hostile_writes;
ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
	if (hostile_writes && random_below(3) == 0) {
		errno = EINTR;
		return -1;
	}
	if (hostile_writes && len > 1)
		len = 1 + (size_t)random_below(len);
	return syscall(SYS_pwrite64, fd, data, len, offset);
}

static char *command[] = {(char *)"make", NULL};

static struct meta new_meta(void)
{
	return (struct meta){.argv = command,
			     .cwd = "/",
			     .session = "s/1",
			     .started_ms = 1760000000000,
			     .exit_code = -1};
}

static struct meta meta;

static struct artifact *create(uint64_t max_bytes)
{
	meta = new_meta();
	struct artifact *a = artifact_create(&meta, max_bytes, 0);
	assert_non_null(a);
	return a;
}

/* The path of a file beside the text. */
static const char *beside(const struct artifact *a, const char *suffix)
{
	static char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s", kept_path(a));
	snprintf(path + strlen(path) - 4, 16, "%s", suffix);
	return path;
}

static void load(const char *path, struct buffer *out)
{
	buffer_clear(out);
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(buffer_reserve(out, (size_t)st.st_size + 1), 0);
	assert_int_equal(read(fd, out->data, (size_t)st.st_size), st.st_size);
	out->len = (size_t)st.st_size;
	close(fd);
}

static void expect_file(const char *path, const char *text, size_t len)
{
	struct buffer b = BUFFER_INIT;
	load(path, &b);
	assert_int_equal(b.len, len);
	if (len > 0)
		assert_memory_equal(b.data, text, len);
	buffer_release(&b);
}

static void expect_text(const struct artifact *a, const char *text)
{
	expect_file(kept_path(a), text, strlen(text));
}

static void append(struct artifact *a, const char *text)
{
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, text, strlen(text)), 0);
}

static void set_live(struct artifact *a, const char *text)
{
	assert_int_equal(artifact_set_live(a, ARTIFACT_OUT, text, strlen(text)), 0);
}

TEST_IN(test_create, home_setup, home_teardown)
{
	struct artifact *a = create(0);
	struct stat st;
	assert_true(id_is_valid(meta.id));
	assert_int_equal(kept_path(a)[0], '/');
	assert_non_null(strstr(kept_path(a), "/store/sessions/s_1/cmd-"));
	assert_int_equal(stat(kept_path(a), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(beside(a, ".json"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(access(beside(a, ".idx"), F_OK), -1);
	assert_int_equal(access(beside(a, ".err.txt"), F_OK), -1);
	assert_int_equal(access(beside(a, ".raw"), F_OK), -1);

	int fd = open(kept_path(a), O_RDONLY);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	struct store s;
	struct id_found found;
	assert_int_equal(store_open_write(&s), 0);
	assert_int_equal(id_find(&s, 1, "s_1", "last", &found), 0);
	assert_string_equal(found.id, meta.id);
	store_close(&s);
	artifact_close(a);
	assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
	close(fd);
}

TEST_IN(test_parts, home_setup, home_teardown)
{
	struct artifact *a = create(0);
	append(a, "out\n");
	assert_int_equal(artifact_append(a, ARTIFACT_ERR, "err", 3), 0);
	assert_int_equal(artifact_append(a, ARTIFACT_RAW, "\x1b[mout\r\n", 8), 0);
	expect_text(a, "");
	meta.state = META_DONE;
	meta.exit_code = 0;
	assert_int_equal(artifact_update(a), 0);
	expect_text(a, "out\n");
	expect_file(beside(a, ".err.txt"), "err", 3);
	expect_file(beside(a, ".raw"), "\x1b[mout\r\n", 8);
	assert_true(meta.out.present && meta.err.present);
	assert_int_equal(meta.out.bytes, 4);
	assert_int_equal(meta.out.lines, 1);
	assert_int_equal(meta.err.bytes, 3);
	assert_int_equal(meta.err.lines, 1);
	assert_int_equal(meta.raw_bytes, 8);
	artifact_close(a);
}

TEST_IN(test_nothing_makes_no_file, home_setup, home_teardown)
{
	struct artifact *a = create(0);
	assert_int_equal(artifact_set_live(a, ARTIFACT_ERR, NULL, 0), 0);
	assert_int_equal(artifact_append(a, ARTIFACT_ERR, NULL, 0), 0);
	assert_int_equal(artifact_set_live(a, ARTIFACT_OUT, NULL, 0), 0);
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(access(beside(a, ".err.txt"), F_OK), -1);
	assert_false(meta.err.present);
	artifact_close(a);
}

TEST_IN(test_live, home_setup, home_teardown)
{
	struct artifact *a = create(0);
	set_live(a, "10%");
	expect_text(a, "10%");
	set_live(a, "100%");
	expect_text(a, "100%");
	set_live(a, "");
	expect_text(a, "");
	append(a, "one\n");
	set_live(a, "two\nthree");
	expect_text(a, "one\ntwo\nthree");
	append(a, "two\n");
	expect_text(a, "one\ntwo\nthree");
	set_live(a, "three");
	expect_text(a, "one\ntwo\nthree");
	/* The live part turned out differently, and shorter. */
	append(a, "3\n");
	assert_int_equal(artifact_update(a), 0);
	expect_text(a, "one\ntwo\n3\n");
	set_live(a, "4\n5\n6");
	assert_int_equal(artifact_update(a), 0);
	expect_text(a, "one\ntwo\n3\n4\n5\n6");
	assert_int_equal(meta.out.bytes, 15);
	assert_int_equal(meta.out.lines, 6);
	set_live(a, "4\n");
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(meta.out.lines, 4);
	assert_int_equal(meta.out.bytes, 12);
	set_live(a, "");
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(meta.out.lines, 3);
	artifact_close(a);
}

/* Numbered lines of many lengths; a few are longer than all buffers. */
static void make_text(struct buffer *out, size_t size)
{
	while (out->len < size) {
		buffer_printf(out, "%zu:", out->len);
		size_t len = (size_t)random_below(120);
		if (random_below(2000) == 0)
			len = (size_t)random_below(600000);
		assert_int_equal(buffer_reserve(out, len + 1), 0);
		memset(out->data + out->len, 'a' + (int)random_below(26), len);
		out->data[out->len + len] = '\n';
		out->len += len + 1;
	}
}

static size_t random_length(void)
{
	static const size_t sizes[] = {10, 100, 5000, 70000, 400000};
	return 1 + (size_t)random_below(sizes[random_below(5)]);
}

/* The file has `final` bytes of the text, and `live` ones behind them. */
static void check_file(const char *path, const struct buffer *text, size_t final, size_t live)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, final + live);
	/* The end is where it could go wrong; the whole is compared when all is written. */
	size_t len = final + live < 200000 ? final + live : 200000;
	static char end[200000];
	int fd = open(path, O_RDONLY);
	assert_int_equal(pread(fd, end, len, (off_t)(final + live - len)), (ssize_t)len);
	assert_memory_equal(end, text->data + final + live - len, len);
	close(fd);
}

/* Appends and sets what follows as live, at random, up to the end of `text`. */
static void write_all(struct artifact *a, const struct buffer *text)
{
	for (size_t at = 0; at < text->len;) {
		size_t len = random_length();
		if (len > text->len - at)
			len = text->len - at;
		assert_int_equal(artifact_append(a, ARTIFACT_OUT, text->data + at, len), 0);
		at += len;
		size_t live = 0;
		if (random_below(4) == 0) {
			live = random_length() % 10000;
			if (live > text->len - at)
				live = text->len - at;
			assert_int_equal(artifact_set_live(a, ARTIFACT_OUT, text->data + at, live),
					 0);
		} else if (random_below(10) == 0) {
			artifact_update(a);
		} else {
			continue;
		}
		check_file(kept_path(a), text, at, live);
	}
}

static uint64_t count_newlines(const struct buffer *b)
{
	uint64_t n = 0;
	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n;
}

static void write_and_compare(size_t size)
{
	struct buffer text = BUFFER_INIT;
	make_text(&text, size);
	struct artifact *a = create(0);
	write_all(a, &text);
	assert_int_equal(artifact_update(a), 0);
	expect_file(kept_path(a), text.data, text.len);
	assert_int_equal(meta.out.bytes, text.len);
	assert_int_equal(meta.out.lines, count_newlines(&text));

	/* The index on disk is complete and right. */
	int fd = open(kept_path(a), O_RDONLY), idx = open(beside(a, ".idx"), O_RDONLY);
	assert_true(idx >= 0);
	struct stat st;
	assert_int_equal(fstat(idx, &st), 0);
	assert_int_equal(st.st_size, 16 + 8 * (meta.out.lines / INDEX_STRIDE));
	struct index_range range = {.line = 1, .start = 0, .end = text.len};
	uint64_t indexed, scanned, last;
	for (uint64_t line = 1; line <= meta.out.lines; line += INDEX_STRIDE / 2) {
		assert_int_equal(index_find(fd, idx, &range, line, &indexed, &last), 0);
		assert_int_equal(index_find(fd, -1, &range, line, &scanned, &last), 0);
		assert_int_equal(indexed, scanned);
	}
	close(fd);
	close(idx);
	artifact_close(a);
	buffer_release(&text);
}

TEST_IN(test_large, home_setup, home_teardown)
{
	write_and_compare(8000000);
}

TEST_IN(test_hostile_writes, home_setup, home_teardown)
{
	hostile_writes = true;
	write_and_compare(4000000);
	hostile_writes = false;
}

TEST_IN(test_writes_are_large, home_setup, home_teardown)
{
	static const size_t pieces[] = {100, 3000, 70000, 300000};
	static char text[300000];
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < 4; i++) {
		struct artifact *a = create(0);
		struct stat st;
		/* Whatever was flushed before, later writes end at round offsets. */
		set_live(a, "live");
		append(a, "final");
		artifact_update(a);
		for (size_t at = 5; at < 2000000; at += pieces[i]) {
			artifact_append(a, ARTIFACT_OUT, text, pieces[i]);
			assert_int_equal(stat(kept_path(a), &st), 0);
			assert_true(st.st_size == 5 || st.st_size % (256 * 1024) == 0);
			assert_true(st.st_size + 256 * 1024 > (off_t)(at + pieces[i]));
		}
		artifact_close(a);
	}
}

/* A write may end among live bytes that have become final as they were: those behind it stay, so a
   reader finds no less than before. Where they turned out differently, they go. */
TEST_IN(test_write_that_ends_in_the_live_part, home_setup, home_teardown)
{
	static char text[ARTIFACT_WINDOW];
	memset(text, 'x', sizeof(text));
	struct artifact *a = create(0);
	struct stat st;
	for (size_t edge = ARTIFACT_WINDOW; edge <= 2 * ARTIFACT_WINDOW; edge += ARTIFACT_WINDOW) {
		artifact_append(a, ARTIFACT_OUT, text, ARTIFACT_WINDOW - 100);
		artifact_set_live(a, ARTIFACT_OUT, text, 300);
		memset(text, edge == ARTIFACT_WINDOW ? 'x' : 'y', 200);
		artifact_append(a, ARTIFACT_OUT, text, 100);
		assert_int_equal(stat(kept_path(a), &st), 0);
		assert_int_equal(st.st_size, edge + (edge == ARTIFACT_WINDOW ? 200 : 0));
	}
	artifact_close(a);
}

/* A writer that is killed at any moment leaves an exact prefix: what is live is what
   comes next, so any mixture would show. */
TEST_IN(test_killed_writer, home_setup, home_teardown)
{
	struct buffer text = BUFFER_INIT, got = BUFFER_INIT;
	make_text(&text, 3000000);
	size_t sizes = 0;
	for (int round = 0; round < 60; round++) {
		int events[2];
		char path[PATH_MAX];
		assert_int_equal(pipe(events), 0);
		random_begin((uint32_t)round);
		uint64_t rounds = random_below(200);
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			struct artifact *a = create(0);
			if (write(events[1], kept_path(a), PATH_MAX / 4) < 0)
				_exit(1);
			for (size_t at = 0; at < text.len;) {
				size_t len = 1 + (size_t)random_below(20000), live;
				if (len > text.len - at)
					len = text.len - at;
				artifact_append(a, ARTIFACT_OUT, text.data + at, len);
				at += len;
				live = (size_t)random_below(5000);
				if (live > text.len - at)
					live = text.len - at;
				if (random_below(3) == 0)
					artifact_set_live(a, ARTIFACT_OUT, text.data + at, live);
				if (write(events[1], ".", 1) < 0)
					_exit(1);
			}
			artifact_update(a);
			_exit(0);
		}
		close(events[1]);
		assert_int_equal(read(events[0], path, PATH_MAX / 4), PATH_MAX / 4);
		char event;
		while (rounds-- > 0 && read(events[0], &event, 1) == 1)
			;
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, NULL, 0), child);
		close(events[0]);
		load(path, &got);
		assert_true(got.len <= text.len);
		if (got.len > 0)
			assert_memory_equal(got.data, text.data, got.len);
		sizes += got.len;
	}
	assert_true(sizes > 0);
	buffer_release(&got);
	buffer_release(&text);
}

static void with_file_limit(rlim_t limit, void (*run)(const struct buffer *),
			    const struct buffer *text)
{
	struct rlimit before, now;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	now = before;
	now.rlim_cur = limit;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
	run(text);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
}

static void fill_up(const struct buffer *text)
{
	struct artifact *a = create(0);
	bool failed = false;
	for (size_t at = 0; at < text->len; at += 10000) {
		size_t len = text->len - at < 10000 ? text->len - at : 10000;
		bool was_failed = failed;
		failed = artifact_append(a, ARTIFACT_OUT, text->data + at, len) < 0;
		assert_true(failed || !was_failed);
		assert_int_equal(artifact_error(a), failed ? EFBIG : 0);
	}
	assert_true(failed);
	assert_int_equal(artifact_set_live(a, ARTIFACT_OUT, "live", 4), -1);
	meta.state = META_DONE;
	meta.exit_code = 0;
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(meta.out.bytes, text->len);
	assert_int_equal(meta.out.lines, count_newlines(text));
	assert_int_equal(meta.out.error, EFBIG);
	assert_int_equal(meta.out.gap_from, 0);
	struct buffer got = BUFFER_INIT;
	load(kept_path(a), &got);
	assert_true(got.len > 900000 && got.len <= 1000000);
	assert_memory_equal(got.data, text->data, got.len);
	buffer_release(&got);
	artifact_close(a);
}

TEST_IN(test_write_fails, home_setup, home_teardown)
{
	struct buffer text = BUFFER_INIT;
	make_text(&text, 2000000);
	with_file_limit(1000000, fill_up, &text);
	buffer_release(&text);
}

static void fail_live(const struct buffer *text)
{
	struct artifact *a = create(0);
	set_live(a, "old live part");
	/* The final part fits, the live part behind it does not. */
	artifact_append(a, ARTIFACT_OUT, text->data, 999990);
	assert_int_equal(artifact_set_live(a, ARTIFACT_OUT, text->data + 999990, 5000), -1);
	assert_int_equal(artifact_error(a), EFBIG);
	expect_file(kept_path(a), text->data, 999990);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "more", 4), -1);
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(meta.out.bytes, 999994);
	expect_file(kept_path(a), text->data, 999990);
	artifact_close(a);
}

TEST_IN(test_live_write_fails, home_setup, home_teardown)
{
	struct buffer text = BUFFER_INIT;
	make_text(&text, 2000000);
	with_file_limit(1000000, fail_live, &text);
	buffer_release(&text);
}

TEST_IN(test_part_that_cannot_be_made, home_setup, home_teardown)
{
	struct artifact *a = create(0);
	char link[PATH_MAX];
	snprintf(link, sizeof(link), "%s", beside(a, ".err.txt"));
	assert_int_equal(symlink("/dev/null", link), 0);
	append(a, "out\n");
	assert_int_equal(artifact_append(a, ARTIFACT_ERR, "err\n", 4), -1);
	assert_int_equal(artifact_set_live(a, ARTIFACT_ERR, "err\n", 4), -1);
	assert_int_equal(artifact_error(a), EEXIST);
	assert_int_equal(artifact_update(a), 0);
	expect_text(a, "out\n");
	assert_int_equal(meta.err.bytes, 4);
	assert_int_equal(meta.err.error, EEXIST);
	artifact_close(a);
}

TEST_IN(test_index_that_cannot_be_made, home_setup, home_teardown)
{
	struct artifact *a = create(0);
	char link[PATH_MAX];
	snprintf(link, sizeof(link), "%s", beside(a, ".idx"));
	assert_int_equal(symlink("/dev/null", link), 0);
	for (int i = 0; i < 5000; i++)
		append(a, "line\n");
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(artifact_error(a), 0);
	assert_int_equal(meta.out.lines, 5000);
	artifact_close(a);
}

TEST_IN(test_falls_back, home_setup, home_teardown)
{
	/* The first store can be opened, but nothing can be claimed there. */
	struct store s;
	char victim[128];
	snprintf(victim, sizeof(victim), "%s/victim", home);
	assert_int_equal(mkdir(victim, 0700), 0);
	assert_int_equal(store_open_write(&s), 0);
	assert_int_equal(symlinkat(victim, s.fd, "ids"), 0);
	struct artifact *a = create(0);
	assert_non_null(strstr(kept_path(a), "/tmp/terse-"));
	append(a, "text\n");
	assert_int_equal(artifact_update(a), 0);
	expect_text(a, "text\n");
	artifact_close(a);
	assert_int_equal(rmdir(victim), 0);

	/* If the last step fails, earlier files are removed. */
	assert_int_equal(unlinkat(s.fd, "ids", 0), 0);
	int dir = store_open_session(&s, "s_1", true);
	assert_int_equal(mkdirat(dir, "journal.jsonl", 0700), 0);
	a = create(0);
	assert_non_null(strstr(kept_path(a), "/tmp/terse-"));
	artifact_close(a);
	assert_int_equal(unlinkat(dir, "journal.jsonl", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(s.fd, "sessions/s_1", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(s.fd, "ids", AT_REMOVEDIR), 0);
	close(dir);
	store_close(&s);
}

TEST_IN(test_no_store, home_setup, home_teardown)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/file", home);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	setenv("TERSE_HOME", path, 1);
	setenv("TMPDIR", path, 1);
	meta = new_meta();
	assert_null(artifact_create(&meta, 0, 0));
	assert_int_equal(errno, ENOTDIR);
	assert_string_equal(meta.id, "");
}

TEST_IN(test_no_descriptor_is_left, home_setup, home_teardown)
{
	int before = dup(0);
	close(before);
	for (int i = 0; i < 3; i++) {
		struct artifact *a = create(0);
		append(a, "out");
		artifact_append(a, ARTIFACT_ERR, "err", 3);
		artifact_update(a);
		artifact_close(a);
	}
	test_no_store(state);
	int after = dup(0);
	close(after);
	assert_int_equal(after, before);
}

TEST_IN(test_parallel, home_setup, home_teardown)
{
	enum { CHILDREN = 10, EACH = 20 };
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (child > 0)
			continue;
		for (int k = 0; k < EACH; k++) {
			char text[32];
			struct artifact *a = create(0);
			snprintf(text, sizeof(text), "%d %d\n", i, k);
			append(a, text);
			meta.state = META_DONE;
			meta.exit_code = i;
			meta.duration_ms = k;
			if (artifact_update(a) < 0)
				_exit(1);
			artifact_close(a);
		}
		_exit(0);
	}
	for (int i = 0; i < CHILDREN; i++) {
		int status;
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	bool seen[CHILDREN][EACH] = {0};
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	int dir = store_open_session(&s, "s_1", false);
	for (int n = 0; n < CHILDREN * EACH; n++) {
		char name[32], text[32];
		struct id_found found;
		struct meta m;
		snprintf(name, sizeof(name), "last-%d", n);
		assert_int_equal(id_find(&s, 1, "s_1", name, &found), 0);
		assert_int_equal(meta_read(dir, found.id, &m), 0);
		assert_int_equal(m.state, META_DONE);
		snprintf(name, sizeof(name), "%s.txt", found.id);
		int fd = openat(dir, name, O_RDONLY);
		ssize_t len = read(fd, text, sizeof(text) - 1);
		close(fd);
		assert_true(len > 0);
		text[len] = '\0';
		char expected[32];
		snprintf(expected, sizeof(expected), "%d %d\n", m.exit_code, (int)m.duration_ms);
		assert_string_equal(text, expected);
		assert_false(seen[m.exit_code][m.duration_ms]);
		seen[m.exit_code][m.duration_ms] = true;
		meta_release(&m);
	}
	close(dir);
	store_close(&s);
}

TEST_IN(test_recording_ends, home_setup, home_teardown)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"done\n", "done\n"},
		{"in the middle", "in the middle\n"},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char want[256];
		struct artifact *a = create(0);
		artifact_append(a, ARTIFACT_OUT, cases[i].text, strlen(cases[i].text));
		assert_int_equal(artifact_end_recording(a, ARTIFACT_OUT, "it is late"), 0);
		assert_int_equal(artifact_update(a), 0);
		int len = snprintf(want, sizeof(want),
				   "%s[... recording ended: it is late; what background processes "
				   "write later is not kept]\n",
				   cases[i].want);
		expect_file(kept_path(a), want, (size_t)len);
		assert_int_equal(meta.out.bytes, len);
		assert_int_equal(meta.out.lines, 1 + (*cases[i].text != 0));
		artifact_close(a);
	}
}

TEST_MAIN(NULL, NULL)
