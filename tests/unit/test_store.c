// Where artifacts live: candidates, owners, links, modes.

#include "lib/io.h"
#include "supervisor/artifact/store.h"
#include "tests/unit/home.h"
#include "tests/unit/unit.h"

static char path_of[PATH_MAX];

/* A path below the test's directory. */
static const char *at(const char *below)
{
	snprintf(path_of, sizeof(path_of), "%s/%s", home, below);
	return path_of;
}

static mode_t mode_of(const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

TEST_IN(test_home_is_made, home_setup, home_teardown)
{
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	assert_string_equal(s.path, at("store"));
	assert_int_equal(mode_of(s.path), 0700);
	assert_true(fcntl(s.fd, F_GETFD) & FD_CLOEXEC);
	store_close(&s);
	assert_int_equal(s.fd, -1);
}

TEST_IN(test_parents_are_made, home_setup, home_teardown)
{
	struct store s;
	setenv("TERSE_HOME", at("a/b/c"), 1);
	assert_int_equal(store_open_write(&s), 0);
	assert_int_equal(mode_of(at("a")), 0700);
	assert_int_equal(mode_of(at("a/b/c")), 0700);
	store_close(&s);
}

TEST_IN(test_relative_xdg_is_ignored, home_setup, home_teardown)
{
	struct store s;
	unsetenv("TERSE_HOME");
	setenv("XDG_STATE_HOME", "relative", 1);
	setenv("HOME", at("user"), 1);
	assert_int_equal(mkdir(at("user"), 0700), 0);
	assert_int_equal(store_open_write(&s), 0);
	assert_string_equal(s.path, at("user/.local/state/terse"));
	store_close(&s);
}

TEST_IN(test_missing_home_stays_missing, home_setup, home_teardown)
{
	struct store s;
	unsetenv("TERSE_HOME");
	setenv("HOME", at("gone"), 1);
	setenv("XDG_RUNTIME_DIR", at("gone too"), 1);
	assert_int_equal(store_open_write(&s), 0);
	assert_non_null(strstr(s.path, "/tmp/terse-"));
	store_close(&s);
	setenv("TMPDIR", at("nor this"), 1);
	assert_int_equal(store_open_write(&s), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(access(at("gone"), F_OK), -1);
	assert_int_equal(access(at("gone too"), F_OK), -1);
	assert_int_equal(access(at("nor this"), F_OK), -1);
	/* What is named for it alone is made. */
	setenv("XDG_STATE_HOME", at("a/state"), 1);
	assert_int_equal(store_open_write(&s), 0);
	assert_string_equal(s.path, at("a/state/terse"));
	store_close(&s);
}

TEST_IN(test_order, home_setup, home_teardown)
{
	char expected[STORE_MAX][PATH_MAX];
	static const char *const variables[] = {"TERSE_HOME", "XDG_STATE_HOME", "HOME",
						"XDG_RUNTIME_DIR"};
	static const char *const below[] = {"1", "2/terse", "3/.local/state/terse", "4/terse"};
	for (size_t i = 0; i < 4; i++) {
		char base[PATH_MAX];
		snprintf(base, sizeof(base), "%s/%zu", home, i + 1);
		assert_int_equal(mkdir(base, 0700), 0);
		setenv(variables[i], base, 1);
		snprintf(expected[i], PATH_MAX, "%s/%s", home, below[i]);
	}
	snprintf(expected[4], PATH_MAX, "%s/tmp/terse-%u", home, (unsigned)geteuid());
	/* Each falls away in turn: a file is in its way. */
	for (size_t i = 0; i < STORE_MAX; i++) {
		struct store s;
		assert_int_equal(store_open_write(&s), 0);
		assert_string_equal(s.path, expected[i]);
		store_close(&s);
		assert_int_equal(rmdir(expected[i]), 0);
		int fd = open(expected[i], O_WRONLY | O_CREAT, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	struct store s;
	assert_int_equal(store_open_write(&s), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(s.fd, -1);
}

TEST_IN(test_open_next, home_setup, home_teardown)
{
	struct store s;
	int next = 0;
	assert_int_equal(store_open_next(&s, &next), 0);
	assert_string_equal(s.path, at("store"));
	store_close(&s);
	assert_int_equal(store_open_next(&s, &next), 0);
	assert_string_not_equal(s.path, at("store"));
	assert_non_null(strstr(s.path, "/tmp/terse-"));
	store_close(&s);
	assert_int_equal(store_open_next(&s, &next), -1);
}

TEST_IN(test_unwritable, home_setup, home_teardown)
{
	struct store s;
	/* Not even root makes a directory here. */
	setenv("TERSE_HOME", "/proc/terse", 1);
	assert_int_equal(store_open_write(&s), 0);
	assert_non_null(strstr(s.path, "/tmp/terse-"));
	store_close(&s);
}

TEST_IN(test_too_long, home_setup, home_teardown)
{
	struct store s;
	char path[PATH_MAX + 16];
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	setenv("TERSE_HOME", path, 1);
	assert_int_equal(store_open_write(&s), 0);
	assert_non_null(strstr(s.path, "/tmp/terse-"));
	store_close(&s);
}

TEST_IN(test_other_owner, home_setup, home_teardown)
{
	struct store s;
	if (geteuid() == 0) {
		assert_int_equal(mkdir(at("other"), 0777), 0);
		assert_int_equal(chown(at("other"), 12345, 12345), 0);
		setenv("TERSE_HOME", at("other"), 1);
		assert_int_equal(store_open_write(&s), 0);
		assert_non_null(strstr(s.path, "/tmp/terse-"));
		store_close(&s);
		/* Nor does root make one inside. */
		setenv("TERSE_HOME", at("other/inside"), 1);
	} else {
		setenv("TERSE_HOME", "/", 1);
	}
	assert_int_equal(store_open_write(&s), 0);
	assert_non_null(strstr(s.path, "/tmp/terse-"));
	store_close(&s);
}

TEST_IN(test_link_in_tmp, home_setup, home_teardown)
{
	struct store s;
	char link[PATH_MAX];
	unsetenv("TERSE_HOME");
	assert_int_equal(mkdir(at("victim"), 0700), 0);
	snprintf(link, sizeof(link), "%s/tmp/terse-%u", home, (unsigned)geteuid());
	assert_int_equal(symlink(at("victim"), link), 0);
	assert_int_equal(store_open_write(&s), -1);
	struct store all[STORE_MAX];
	assert_int_equal(store_open_all(all), 0);
}

TEST_IN(test_links_inside, home_setup, home_teardown)
{
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	assert_int_equal(mkdir(at("victim"), 0700), 0);
	assert_int_equal(symlinkat("../victim", s.fd, "ids"), 0);
	assert_int_equal(store_open_folder(&s, STORE_IDS, true), -1);
	assert_int_equal(store_open_folder(&s, STORE_IDS, false), -1);
	assert_int_equal(symlinkat("../victim", s.fd, "sessions"), 0);
	assert_int_equal(store_open_session(&s, "x", true), -1);
	assert_int_equal(unlinkat(s.fd, "sessions", 0), 0);
	assert_int_equal(mkdirat(s.fd, "sessions", 0700), 0);
	assert_int_equal(symlinkat("../../victim", s.fd, "sessions/x"), 0);
	assert_int_equal(store_open_session(&s, "x", true), -1);
	store_close(&s);
}

TEST_IN(test_session_directory, home_setup, home_teardown)
{
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	assert_int_equal(store_open_session(&s, "x", false), -1);
	assert_int_equal(errno, ENOENT);
	mode_t before = umask(0777);
	int dir = store_open_session(&s, "x", true);
	int ids = store_open_folder(&s, STORE_IDS, true);
	umask(before);
	assert_true(dir >= 0);
	assert_true(ids >= 0);
	assert_int_equal(mode_of(at("store/sessions/x")), 0700);
	assert_int_equal(mode_of(at("store/ids")), 0700);
	close(dir);
	close(ids);
	static const char *const bad[] = {"", ".", "..", "../x", "a/b", "-x"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(store_open_session(&s, bad[i], true), -1);
		assert_int_equal(errno, EINVAL);
	}
	store_close(&s);
}

TEST_IN(test_session_name, home_setup, home_teardown)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{NULL, "default"},
		{"", "default"},
		{"abc-1_2.3", "abc-1_2.3"},
		{"..", "_."},
		{"-x", "_x"},
		{"../../etc", "_._.._etc"},
		{"a b\nc\xC3\xA9", "a_b_c__"},
	};
	char out[STORE_SESSION_LEN + 1];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		store_session_name(cases[i].in, out);
		assert_string_equal(out, cases[i].out);
		/* A result stays as it is. */
		char again[sizeof(out)];
		store_session_name(out, again);
		assert_string_equal(again, out);
	}
	char lengthy[300];
	memset(lengthy, 'y', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	store_session_name(lengthy, out);
	assert_int_equal(strlen(out), STORE_SESSION_LEN);
}

TEST_IN(test_open_all, home_setup, home_teardown)
{
	struct store all[STORE_MAX], s;
	assert_int_equal(store_open_all(all), 0);
	assert_int_equal(store_open_write(&s), 0);
	store_close(&s);
	assert_int_equal(mkdir(at("terse"), 0700), 0);
	setenv("XDG_STATE_HOME", home, 1);
	/* The same directory by another name counts once. */
	setenv("XDG_RUNTIME_DIR", home, 1);
	assert_int_equal(store_open_everywhere(all), 2);
	assert_string_equal(all[0].path, at("store"));
	assert_string_equal(all[1].path, at("terse"));
	store_close(&all[0]);
	store_close(&all[1]);
	/* With TERSE_HOME set the others are not this one's. */
	assert_int_equal(store_open_all(all), 1);
	assert_string_equal(all[0].path, at("store"));
	store_close(&all[0]);
	/* Empty is as not set. */
	setenv("TERSE_HOME", "", 1);
	assert_int_equal(store_open_all(all), 1);
	assert_string_equal(all[0].path, at("terse"));
	store_close(&all[0]);
}

TEST_IN(test_files, home_setup, home_teardown)
{
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	int dir = store_open_session(&s, "x", true);
	assert_true(dir >= 0);
	mode_t before = umask(0777);
	int fd = store_open_file(dir, "f", O_WRONLY | O_CREAT | O_EXCL);
	umask(before);
	assert_true(fd > STDERR_FILENO);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(mode_of(at("store/sessions/x/f")), 0600);
	close(fd);
	assert_int_equal(store_open_file(dir, "f", O_WRONLY | O_CREAT | O_EXCL), -1);
	assert_int_equal(errno, EEXIST);

	assert_int_equal(symlinkat("f", dir, "link"), 0);
	assert_int_equal(store_open_file(dir, "link", O_RDONLY), -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(store_open_file(dir, "link", O_WRONLY | O_CREAT | O_APPEND), -1);
	assert_int_equal(mkfifoat(dir, "fifo", 0600), 0);
	assert_int_equal(store_open_file(dir, "fifo", O_RDONLY), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(store_open_file(dir, ".", O_RDONLY), -1);

	/* A second name may be of a file outside: read it, but never write it. */
	assert_int_equal(linkat(dir, "f", dir, "hard", 0), 0);
	assert_int_equal(store_open_file(dir, "hard", O_WRONLY | O_APPEND), -1);
	assert_int_equal(errno, EPERM);
	fd = store_open_file(dir, "hard", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);

	if (geteuid() == 0) {
		assert_int_equal(unlinkat(dir, "hard", 0), 0);
		assert_int_equal(fchownat(dir, "f", 12345, 12345, 0), 0);
		assert_int_equal(store_open_file(dir, "f", O_RDONLY), -1);
		assert_int_equal(errno, EPERM);
	}
	close(dir);
	store_close(&s);
}

TEST_IN(test_closed_standard_streams, home_setup, home_teardown)
{
	int kept = dup(STDIN_FILENO);
	close(STDIN_FILENO);
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	assert_true(s.fd > STDERR_FILENO);
	int dir = store_open_session(&s, "x", true);
	assert_true(dir > STDERR_FILENO);
	close(dir);
	store_close(&s);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

struct explained {
	int count, usable;
	char first_usable[PATH_MAX];
	bool unset_seen;
};

static void on_candidate(void *ctx, const char *path, const char *origin, int error)
{
	struct explained *e = ctx;
	assert_non_null(origin);
	e->count++;
	e->unset_seen |= !*path && error == ENOENT;
	if (error == 0 && e->usable++ == 0)
		snprintf(e->first_usable, sizeof(e->first_usable), "%s", path);
}

TEST_IN(test_explain, home_setup, home_teardown)
{
	struct explained e = {0};
	close(open(at("file"), O_CREAT | O_WRONLY, 0600));
	setenv("TERSE_HOME", at("file/store"), 1);
	setenv("XDG_STATE_HOME", at("state"), 1);
	store_explain(0, on_candidate, &e);
	assert_int_equal(e.count, STORE_MAX);
	assert_int_equal(e.usable, 2);
	assert_true(e.unset_seen);
	assert_string_equal(e.first_usable, at("state/terse"));
	assert_int_equal(access(at("state"), F_OK), -1);
}

TEST_MAIN(NULL, NULL)
