// Reading texts: plain files, artifacts at every stage, what was lost.

#include "config/settings.h"
#include "lib/buffer.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/text.h"
#include "tests/unit/home.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct meta meta;
static int dir;

static struct artifact *create(void)
{
	meta = (struct meta){.session = "x", .cwd = "/", .started_ms = 1, .exit_code = -1};
	struct artifact *a = artifact_create(&meta, 0, 0);
	assert_non_null(a);
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	dir = store_open_session(&s, "x", false);
	store_close(&s);
	return a;
}

static void append(struct artifact *a, enum artifact_part part, const char *text)
{
	artifact_append(a, part, text, strlen(text));
}

/* Opens, reads from `line` on in pieces of `piece` bytes, and compares. */
static void expect_from(struct text *t, uint64_t line, size_t piece, const char *expected)
{
	struct buffer got = BUFFER_INIT;
	struct text_piece p;
	char block[64];
	uint64_t lines;
	assert_int_equal(text_seek(t, line, &lines), 0);
	for (;;) {
		assert_int_equal(text_next(t, block, piece, &p), 0);
		if (p.kind != TEXT_BYTES)
			break;
		buffer_append(&got, block, p.len);
	}
	assert_int_equal(p.kind, TEXT_END);
	assert_non_null(buffer_string(&got));
	assert_string_equal(got.data, expected);
	buffer_release(&got);
}

static void expect_lines(struct text *t, uint64_t expected)
{
	uint64_t lines;
	assert_int_equal(text_lines(t, &lines), 0);
	assert_int_equal(lines, expected);
	assert_int_equal(text_seek(t, expected + 1, &lines), 1);
	assert_int_equal(lines, expected);
}

static void expect_artifact(enum artifact_part part, uint64_t lines, const char *text)
{
	struct text t;
	assert_int_equal(text_open(&t, dir, meta.id, part), 0);
	expect_lines(&t, lines);
	if (lines > 0)
		expect_from(&t, 1, 3, text);
	text_close(&t);
}

static const char *write_file(const char *text, size_t len)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s/file", home);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
	return path;
}

TEST_IN(test_plain_file, home_setup, home_teardown)
{
	static const struct {
		const char *text;
		uint64_t lines;
	} cases[] = {
		{"", 0}, {"\n", 1}, {"a", 1}, {"a\n", 1}, {"a\nb", 2}, {"a\n\nb\n", 3},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct text t;
		const char *text = cases[i].text;
		assert_int_equal(text_open_file(&t, write_file(text, strlen(text))), 0);
		expect_lines(&t, cases[i].lines);
		for (uint64_t line = 1; line <= cases[i].lines; line++) {
			expect_from(&t, line, 1, text);
			expect_from(&t, line, 64, text);
			text += strcspn(text, "\n") + 1;
		}
		text_close(&t);
	}
}

/* From the end, within the last `most` bytes: how many lines are found, and where the first is. */
TEST_IN(test_from_the_end, home_setup, home_teardown)
{
	static const struct {
		const char *text;
		uint64_t count, most, found, offset;
	} cases[] = {
		{"", 1, 100, 0, 0},
		{"a", 1, 100, 1, 0},
		{"a\n", 1, 100, 1, 0},
		{"a\n", 5, 100, 1, 0},
		{"a\nb", 1, 100, 1, 2},
		{"a\nb\n", 1, 100, 1, 2},
		{"a\nb\n", 2, 100, 2, 0},
		{"\n\n\n", 2, 100, 2, 1},
		{"\n\n\n", 9, 100, 3, 0},
		/* Lines that begin before do not count, but one that begins just there. */
		{"one\ntwo\nsix\n", 9, 8, 2, 4},
		{"one\ntwo\nsix\n", 9, 7, 1, 8},
		{"one\ntwo\nsix\n", 9, 4, 1, 8},
		{"one\ntwo\nsix\n", 9, 3, 0, 9},
		{"one\ntwo\nsix", 1, 2, 0, 9},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct text t;
		uint64_t found, start;
		const char *text = cases[i].text;
		assert_int_equal(text_open_file(&t, write_file(text, strlen(text))), 0);
		assert_int_equal(text_seek_back(&t, cases[i].count, cases[i].most, &found), 0);
		assert_int_equal(found, cases[i].found);
		assert_int_equal(t.offset, cases[i].offset);
		for (uint64_t at = 0; at < t.size; at++) {
			assert_int_equal(text_line_start(&t, at, &start), 0);
			assert_true(start <= at && (start == 0 || text[start - 1] == '\n'));
			assert_null(memchr(text + start, '\n', at - start));
		}
		text_close(&t);
	}
	/* Over more than one block. */
	struct buffer b = BUFFER_INIT;
	for (int line = 0; line < 100000; line++)
		buffer_printf(&b, "%d\n", line);
	struct text t;
	uint64_t found;
	assert_int_equal(text_open_file(&t, write_file(b.data, b.len)), 0);
	assert_int_equal(text_seek_back(&t, 70000, UINT64_MAX, &found), 0);
	assert_int_equal(found, 70000);
	assert_memory_equal(b.data + t.offset, "30000\n", 6);
	text_close(&t);
	buffer_release(&b);
}

TEST_IN(test_no_regular_file, home_setup, home_teardown)
{
	struct text t;
	char path[128];
	assert_int_equal(text_open_file(&t, home), -1);
	assert_int_equal(errno, EISDIR);
	snprintf(path, sizeof(path), "%s/fifo", home);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(text_open_file(&t, path), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(text_open_file(&t, "/nowhere/at/all"), -1);
	assert_int_equal(errno, ENOENT);
}

TEST_IN(test_running, home_setup, home_teardown)
{
	struct artifact *a = create();
	expect_artifact(ARTIFACT_OUT, 0, "");
	append(a, ARTIFACT_OUT, "one\n");
	artifact_set_live(a, ARTIFACT_OUT, "Password: ", 10);
	expect_artifact(ARTIFACT_OUT, 2, "one\nPassword: ");
	append(a, ARTIFACT_OUT, "Password: \ntwo\n");
	artifact_set_live(a, ARTIFACT_OUT, NULL, 0);
	expect_artifact(ARTIFACT_OUT, 3, "one\nPassword: \ntwo\n");

	/* The command ends; a job goes on writing. */
	meta.state = META_DONE;
	meta.exit_code = 0;
	assert_int_equal(artifact_update(a), 0);
	expect_artifact(ARTIFACT_OUT, 3, "one\nPassword: \ntwo\n");
	append(a, ARTIFACT_OUT, "late");
	artifact_update(a);
	expect_artifact(ARTIFACT_OUT, 4, "one\nPassword: \ntwo\nlate");
	artifact_close(a);
	expect_artifact(ARTIFACT_OUT, 4, "one\nPassword: \ntwo\nlate");
	close(dir);
}

TEST_IN(test_standard_error, home_setup, home_teardown)
{
	struct artifact *a = create();
	struct text t;
	assert_int_equal(text_open(&t, dir, meta.id, ARTIFACT_ERR), -1);
	assert_int_equal(errno, ENOENT);
	append(a, ARTIFACT_OUT, "out\n");
	append(a, ARTIFACT_ERR, "err 1\nerr 2\n");
	artifact_update(a);
	expect_artifact(ARTIFACT_ERR, 2, "err 1\nerr 2\n");
	artifact_update(a);
	artifact_close(a);
	expect_artifact(ARTIFACT_ERR, 2, "err 1\nerr 2\n");
	expect_artifact(ARTIFACT_OUT, 1, "out\n");
	close(dir);
}

TEST_IN(test_damaged_metadata, home_setup, home_teardown)
{
	struct artifact *a = create();
	append(a, ARTIFACT_OUT, "one\ntwo\n");
	artifact_update(a);
	artifact_close(a);
	char name[ID_LEN + 6];
	snprintf(name, sizeof(name), "%s.json", meta.id);
	int fd = openat(dir, name, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, "{nonsense", 9), 9);
	close(fd);
	expect_artifact(ARTIFACT_OUT, 2, "one\ntwo\n");
	assert_int_equal(unlinkat(dir, name, 0), 0);
	expect_artifact(ARTIFACT_OUT, 2, "one\ntwo\n");
	/* A gap beyond the end of the file is none. */
	meta.out.gap_from = 5;
	meta.out.gap_to = 9;
	meta.out.gap_offset = 1000;
	meta.out.gap_bytes = 50;
	meta.out.bytes = 7;
	meta.state = META_DONE;
	assert_int_equal(meta_write(dir, &meta), 0);
	expect_artifact(ARTIFACT_OUT, 2, "one\ntwo\n");
	close(dir);
}

TEST_IN(test_lost_end, home_setup, home_teardown)
{
	struct rlimit before, now;
	struct text t;
	struct text_piece piece;
	char block[64];
	uint64_t lines;
	struct artifact *a = create();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	now = before;
	now.rlim_cur = 1000;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 120; i++)
		append(a, ARTIFACT_OUT, "123456789\n");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
	artifact_update(a);
	for (int i = 0; i < 80; i++)
		append(a, ARTIFACT_OUT, "123456789\n");
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(artifact_error(a), EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(artifact_update(a), 0);

	/* The loss is announced while the run lives, and afterwards. */
	for (int done = 0; done < 2; done++) {
		assert_int_equal(text_open(&t, dir, meta.id, ARTIFACT_OUT), 0);
		expect_lines(&t, 200);
		assert_int_equal(text_seek(&t, 100, &lines), 0);
		assert_int_equal(text_next(&t, block, sizeof(block), &piece), 0);
		assert_int_equal(piece.kind, TEXT_BYTES);
		assert_int_equal(piece.len, 10);
		const uint64_t sought[] = {101, 150, 200};
		for (size_t i = 0; i < 3; i++) {
			if (i > 0)
				assert_int_equal(text_seek(&t, sought[i], &lines), 0);
			assert_int_equal(text_next(&t, block, sizeof(block), &piece), 0);
			assert_int_equal(piece.kind, TEXT_GAP);
			/* The whole of it, wherever reading began. */
			assert_int_equal(piece.gap.from, 101);
			assert_int_equal(piece.gap.to, 200);
			assert_int_equal(piece.gap.bytes, 1000);
			assert_int_equal(piece.gap.error, EFBIG);
			assert_int_equal(text_next(&t, block, sizeof(block), &piece), 0);
			assert_int_equal(piece.kind, TEXT_END);
		}
		text_close(&t);
		if (!done) {
			meta.state = META_DONE;
			assert_int_equal(artifact_update(a), 0);
			artifact_close(a);
		}
	}
	close(dir);
}

/* Half of a write is on disk when the reader looks: no line is torn. */
TEST_IN(test_reads_no_half_write, home_setup, home_teardown)
{
	int stop[2];
	struct artifact *a = create();
	assert_int_equal(pipe(stop), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(stop[1]);
		fcntl(stop[0], F_SETFL, O_NONBLOCK);
		static char lines[300000];
		memset(lines, 'x', sizeof(lines));
		for (size_t i = 99; i < sizeof(lines); i += 100)
			lines[i] = '\n';
		char byte;
		for (int i = 0; i < 2000 && read(stop[0], &byte, 1) != 0; i++)
			artifact_append(a, ARTIFACT_OUT, lines, sizeof(lines));
		_exit(0);
	}
	close(stop[0]);
	for (int i = 0; i < 300; i++) {
		struct text t;
		assert_int_equal(text_open(&t, dir, meta.id, ARTIFACT_OUT), 0);
		assert_int_equal(t.size % 100, 0);
		text_close(&t);
	}
	close(stop[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	artifact_close(a);
	close(dir);
}

TEST_IN(test_planted_links, home_setup, home_teardown)
{
	struct artifact *a = create();
	struct text t;
	char name[ID_LEN + 9], secret[128];
	snprintf(secret, sizeof(secret), "%s", write_file("secret\n", 7));
	snprintf(name, sizeof(name), "%s.err.txt", meta.id);
	assert_int_equal(symlinkat(secret, dir, name), 0);
	assert_int_equal(text_open(&t, dir, meta.id, ARTIFACT_ERR), -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(symlinkat(secret, dir, "cmd-000000000000.txt"), 0);
	assert_int_equal(text_open(&t, dir, "cmd-000000000000", ARTIFACT_OUT), -1);
	assert_int_equal(mkfifoat(dir, "cmd-000000000001.txt", 0600), 0);
	assert_int_equal(text_open(&t, dir, "cmd-000000000001", ARTIFACT_OUT), -1);
	artifact_close(a);
	close(dir);
}

TEST_IN(test_session_name, home_setup, home_teardown)
{
	char name[] = "set";
	struct settings settings = {0};
	char room[SESSION_ROOM];
	assert_string_equal(session_name(&settings, getppid(), room), "default");
	setenv("CODEX_THREAD_ID", "codex", 1);
	assert_string_equal(session_name(&settings, getppid(), room), "codex");
	setenv("CLAUDE_CODE_SESSION_ID", "claude", 1);
	assert_string_equal(session_name(&settings, getppid(), room), "claude");
	setenv("CLAUDE_CODE_SESSION_ID", "", 1);
	assert_string_equal(session_name(&settings, getppid(), room), "codex");
	settings.session = name;
	assert_string_equal(session_name(&settings, getppid(), room), "set");
}

TEST_MAIN(NULL, NULL)
