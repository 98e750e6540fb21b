// Removing artifacts, sessions and the leftovers of crashes; gc over a whole store.

#include "lib/human.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "tests/unit/child.h"
#include "tests/unit/kept.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <sys/file.h>
#include <sys/syscall.h>

#define DAY_MS (INT64_C(24) * 3600 * 1000)

/* An artifact that ended `age_ms` ago, with a text of `len` bytes. */
static void make(const char *session, int64_t age_ms, size_t len, char id[ID_LEN + 1])
{
	static char *argv[] = {(char *)"test", NULL};
	static char text[100000];
	struct meta meta = {.argv = argv,
			    .cwd = "/",
			    .session = session,
			    .started_ms = clock_real_ms() - age_ms,
			    .exit_code = 0};
	struct artifact *a = artifact_create(&meta, 0, 0);
	assert_non_null(a);
	memset(text, 'x', sizeof(text));
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, text, len), 0);
	meta.state = META_DONE;
	meta.ended_ms = meta.started_ms;
	assert_int_equal(artifact_update(a), 0);
	int64_t s = meta.started_ms / 1000;
	const struct timespec times[2] = {{s, 0}, {s, 0}};
	assert_int_equal(utimensat(AT_FDCWD, kept_path(a), times, 0), 0);
	snprintf(id, ID_LEN + 1, "%s", artifact_id(a));
	artifact_close(a);
}

static struct store open_store(void)
{
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	return s;
}

static struct gc_result run(const struct store *s, struct retention_limits limits, bool dry)
{
	struct gc gc = {.store = s, .limits = limits, .now_ms = clock_real_ms(), .dry = dry};
	assert_int_equal(gc_run(&gc), 0);
	return gc.result;
}

/* The names in a directory below the store, sorted, with blanks between. */
static const char *names_in(const struct store *s, const char *below)
{
	static char names[4096];
	char path[PATH_MAX * 2];
	struct dirent **entries;
	snprintf(path, sizeof(path), "%s/%s", s->path, below);
	int count = scandir(path, &entries, NULL, alphasort);
	names[0] = '\0';
	for (int i = 0; i < count; i++) {
		size_t used = strlen(names);
		if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0)
			snprintf(names + used, sizeof(names) - used, "%s%s", used ? " " : "",
				 entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return names;
}

/* Puts a file into a session as if it had been there for some minutes. As its change time can't be
   set, this is for what is judged by when it was written. */
static void put(const struct store *s, const char *session, const char *name, int64_t age_s)
{
	int dir = store_open_session(s, session, true);
	int fd = store_open_file(dir, name, O_WRONLY | O_CREAT);
	assert_true(fd >= 0);
	const struct timespec times[2] = {{clock_real_ms() / 1000 - age_s, 0},
					  {clock_real_ms() / 1000 - age_s, 0}};
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	close(dir);
}

TEST_IN(test_removal, home_setup, home_teardown)
{
	struct store s = open_store();
	char id[ID_LEN + 1];
	uint64_t freed = 0;
	make("a", 0, 5000, id);
	int dir = store_open_session(&s, "a", false);
	assert_true(id_exists(&s, id));
	assert_int_equal(removal_of(&s, "a", dir, id, &freed), REMOVAL_DONE);
	assert_true(freed >= 5000);
	assert_false(id_exists(&s, id));
	assert_string_equal(names_in(&s, "ids"), "");
	assert_string_equal(names_in(&s, "sessions/a"), "journal.jsonl");
	assert_int_equal(removal_of(&s, "a", dir, id, &freed), REMOVAL_ABSENT);
	close(dir);
	store_close(&s);
}

TEST_IN(test_running_stays, home_setup, home_teardown)
{
	struct store s = open_store();
	struct meta meta;
	uint64_t freed = 0;
	struct artifact *a = kept_create(&meta);
	int dir = store_open_session(&s, "test", false);
	assert_true(store_is_in_use(dir));
	assert_int_equal(removal_of(&s, "test", dir, meta.id, &freed), REMOVAL_RUNNING);
	/* A running one stays, whatever the limits are. */
	run(&s, (struct retention_limits){.max_age_ms = 1, .max_count = 1, .max_bytes = 1}, false);
	assert_true(id_exists(&s, meta.id));
	assert_false(gc_remove_session(&s, "test"));
	/* A lingering supervisor has said that the run is done. */
	meta.state = META_DONE;
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(removal_of(&s, "test", dir, meta.id, &freed), REMOVAL_RUNNING);
	artifact_close(a);
	assert_false(store_is_in_use(dir));
	assert_int_equal(removal_of(&s, "test", dir, meta.id, &freed), REMOVAL_DONE);
	close(dir);
	store_close(&s);
}

struct without_locks {
	const struct store *s;
	int dir;
	const char *done, *running;
};

static void check_without_locks(const void *ctx)
{
	const struct without_locks *c = ctx;
	uint64_t freed = 0;
	CHECK(child_deny(SYS_flock, ENOLCK) == 0);
	CHECK(removal_of(c->s, "test", c->dir, c->running, &freed) == REMOVAL_RUNNING);
	CHECK(removal_of(c->s, "test", c->dir, c->done, &freed) == REMOVAL_DONE);
	CHECK(!gc_remove_session(c->s, "test"));
}

/* Where the file system has no locks, the metadata tell what may be removed. */
TEST_IN(test_without_locks, home_setup, home_teardown)
{
	struct store s = open_store();
	struct meta meta;
	char done[ID_LEN + 1];
	make("test", 0, 10, done);
	struct artifact *a = kept_create(&meta);
	meta.supervisor = getpid();
	assert_int_equal(artifact_update(a), 0);
	int dir = store_open_session(&s, "test", false);
	const struct without_locks c = {&s, dir, done, meta.id};
	assert_int_equal(child_run(check_without_locks, &c), 0);
	assert_true(id_exists(&s, meta.id));
	assert_false(id_exists(&s, done));
	artifact_close(a);
	close(dir);
	store_close(&s);
}

/* Between the making of a text and its lock nobody takes it away. */
TEST_IN(test_beginning_stays, home_setup, home_teardown)
{
	struct store s = open_store();
	char id[ID_LEN + 1], name[ID_LEN + 5];
	uint64_t freed = 0;
	assert_int_equal(id_claim(&s, "a", clock_real_ms(), id), 0);
	snprintf(name, sizeof(name), "%s.txt", id);
	put(&s, "a", name, 0);
	int dir = store_open_session(&s, "a", false);
	assert_int_equal(removal_of(&s, "a", dir, id, &freed), REMOVAL_RUNNING);
	run(&s, (struct retention_limits){.max_count = 1}, false);
	assert_true(id_exists(&s, id));
	close(dir);
	store_close(&s);
}

/* Reading does not make it look as if it were in use. */
TEST_IN(test_readers, home_setup, home_teardown)
{
	struct store s = open_store();
	char id[ID_LEN + 1], name[ID_LEN + 5];
	uint64_t freed = 0;
	make("a", 0, 10, id);
	int dir = store_open_session(&s, "a", false);
	snprintf(name, sizeof(name), "%s.txt", id);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < 200000; i++) {
			int fd = store_open_file(dir, name, O_RDONLY);
			if (fd < 0)
				_exit(0);
			meta_is_held(fd);
			close(fd);
		}
		_exit(1);
	}
	assert_int_equal(removal_of(&s, "a", dir, id, &freed), REMOVAL_DONE);
	assert_int_equal(child_wait(pid), 0);
	close(dir);
	store_close(&s);
}

TEST_IN(test_limits, home_setup, home_teardown)
{
	struct store s = open_store();
	char old[ID_LEN + 1], middle[ID_LEN + 1], new[ID_LEN + 1];
	make("a", 20 * DAY_MS, 5000, old);
	make("b", 2 * DAY_MS, 5000, middle);
	make("a", 0, 5000, new);
	const struct retention_limits age = {.max_age_ms = 14 * DAY_MS, .keep_ms = DAY_MS};
	struct gc_result r = run(&s, age, true);
	assert_int_equal(r.artifacts, 1);
	assert_true(id_exists(&s, old));
	r = run(&s, age, false);
	assert_int_equal(r.artifacts, 1);
	assert_true(r.bytes >= 5000);
	assert_int_equal(r.failed, 0);
	assert_false(id_exists(&s, old));
	/* A second gc has nothing to do. */
	r = run(&s, age, false);
	assert_int_equal(r.artifacts + r.sessions + r.leftovers + r.bytes, 0);
	r = run(&s, (struct retention_limits){.max_count = 1, .keep_ms = DAY_MS}, false);
	assert_int_equal(r.artifacts, 1);
	assert_false(id_exists(&s, middle));
	assert_true(id_exists(&s, new));
	store_close(&s);
}

/* Removed ones are passed over, and gone from the journal afterwards. */
/* A line of an artifact that was made. */
#define MADE_LEN (9 + ID_LEN + 3)

TEST_IN(test_made, home_setup, home_teardown)
{
	struct store s = open_store();
	char ids[5][ID_LEN + 1], text[256];
	struct id_found found;
	for (int i = 0; i < 5; i++)
		make("a", (5 - i) * DAY_MS, 10, ids[i]);
	run(&s, (struct retention_limits){.max_count = 2, .keep_ms = DAY_MS}, false);
	int dir = store_open_session(&s, "a", false);
	assert_int_equal(unit_read_file(dir, JOURNAL_FILE, text, sizeof(text)), 2 * MADE_LEN);
	/* One that a full disk has cut short does not hide those that follow. */
	int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"made\":\"cmd-1", 14), 14);
	close(fd);
	assert_int_equal(journal_add_made(dir, ids[3]), 0);
	run(&s, (struct retention_limits){.keep_ms = DAY_MS}, false);
	assert_int_equal(unit_read_file(dir, JOURNAL_FILE, text, sizeof(text)), 3 * MADE_LEN + 15);
	struct journal *j = journal_open(&s, 1, "a", JOURNAL_MADE);
	assert_int_equal(journal_next_made(j, &found), 1);
	assert_string_equal(found.id, ids[3]);
	journal_close(j);
	/* The last is the one that was started last, whenever its text came. */
	assert_int_equal(id_find(&s, 1, "a", "last", &found), 0);
	assert_string_equal(found.id, ids[4]);
	close(dir);
	store_close(&s);
}

/* Time that the store has not seen pass makes no artifact older: days without a look at it, or a
   clock that was set. What damaged its file is no such time. */
TEST_IN(test_unseen_time, home_setup, home_teardown)
{
	struct store s = open_store();
	const int64_t start = clock_real_ms(), hour = 3600 * 1000;
	const struct timespec t = {.tv_sec = start / 1000}, times[2] = {t, t};
	struct gc gc = {.store = &s,
			.limits = {.max_age_ms = 60 * DAY_MS, .keep_ms = DAY_MS},
			.now_ms = start};
	char id[ID_LEN + 1];
	make("a", 0, 10, id);
	assert_false(gc_is_due(&s, 1));
	int fd = store_open_file(s.fd, "gc", O_RDWR);
	assert_int_equal(write(fd, "damaged, as a text of any length is", 35), 35);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	/* More of them than the file has room for; a look that only tells is not one. */
	for (int i = 1; i <= 40; i++) {
		gc.now_ms = start + i * 2 * DAY_MS;
		gc.dry = true;
		assert_int_equal(gc_run(&gc), 0);
		gc.dry = false;
		assert_int_equal(gc_run(&gc), 0);
		assert_int_equal(gc.result.artifacts, 0);
	}
	/* 40 times 23 hours count of 80 days; the rest of its 60 days is seen. */
	for (int64_t seen = 40 * 23 * hour; seen <= 60 * DAY_MS; seen += 23 * hour) {
		assert_true(id_exists(&s, id));
		gc.now_ms += 23 * hour;
		assert_int_equal(gc_run(&gc), 0);
	}
	assert_false(id_exists(&s, id));
	store_close(&s);
}

TEST_IN(test_ended_session, home_setup, home_teardown)
{
	struct store s = open_store();
	char a[ID_LEN + 1], b[ID_LEN + 1];
	make("a", 0, 10, a);
	make("b", 0, 10, b);
	assert_int_equal(gc_end_session(&s, "a"), 0);
	assert_int_equal(gc_end_session(&s, "none"), -1);
	assert_int_equal(errno, ENOENT);
	struct gc_result r = run(&s, (struct retention_limits){.keep_ms = DAY_MS}, false);
	assert_int_equal(r.artifacts + r.sessions, 0);
	r = run(&s, (struct retention_limits){.keep_ms = 0}, false);
	assert_int_equal(r.artifacts, 1);
	assert_int_equal(r.sessions, 1);
	assert_string_equal(names_in(&s, "sessions"), "b");
	assert_string_equal(names_in(&s, "ids"), b);
	store_close(&s);
}

/* A run in an ended session begins it anew. */
TEST_IN(test_session_goes_on, home_setup, home_teardown)
{
	struct store s = open_store();
	char id[ID_LEN + 1];
	make("a", 0, 10, id);
	assert_int_equal(gc_end_session(&s, "a"), 0);
	make("a", 0, 10, id);
	struct gc_result r = run(&s, (struct retention_limits){.keep_ms = 0}, false);
	assert_int_equal(r.artifacts + r.sessions, 0);
	assert_true(id_exists(&s, id));
	store_close(&s);
}

/* Sessions are named by their agent's process: it has ended, it goes on, it is another one. */
TEST_IN(test_agents, home_setup, home_teardown)
{
	struct store s = open_store();
	char gone[64], here[64], other[64], elsewhere[64], id[ID_LEN + 1], text[1024],
		link[64] = "";
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(0);
	child_wait(pid);
	assert_true(unit_read_file(AT_FDCWD, "/proc/self/stat", text, sizeof(text)) > 0);
	assert_true(readlink("/proc/self/ns/pid", link, sizeof(link) - 1) > 0);
	char *field = strrchr(text, ')') + 2;
	for (int i = 3; i < 22; i++)
		field = strchr(field, ' ') + 1;
	unsigned long long start = strtoull(field, NULL, 10);
	unsigned long long space = strtoull(link + strlen("pid:["), NULL, 10);
	snprintf(gone, sizeof(gone), "agent-pi-%d-1.%llu", (int)pid, space);
	snprintf(here, sizeof(here), "agent-pi-%d-%llu.%llu", (int)getpid(), start, space);
	snprintf(other, sizeof(other), "agent-pi-%d-%llu.%llu", (int)getpid(), start - 1, space);
	snprintf(elsewhere, sizeof(elsewhere), "agent-pi-%d-1.%llu", (int)pid, space + 1);
	assert_false(session_is_over(elsewhere));
	assert_true(session_is_over(gone));
	assert_false(session_is_over(here));
	assert_true(session_is_over(other));
	static const char *const none[] = {"default",    "agent-",      "agent-1",
					   "agent-1-2x", "agent-1-2",   "xagent-a-1-2",
					   "agent-x-2",  "agent-a-1-2", "agent-a-1-2.x"};
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_false(session_is_over(none[i]));
	make(gone, 0, 10, id);
	make(here, 0, 10, id);
	/* The time counts from when the end is noticed. */
	const struct retention_limits limits = {.keep_ms = DAY_MS};
	struct gc_result r = run(&s, limits, false);
	assert_int_equal(r.artifacts, 0);
	struct inventory v;
	assert_int_equal(inventory_read(&v, &s, gone), 0);
	assert_true(v.sessions[0].agent_gone && v.sessions[0].ended_ms > 0);
	inventory_release(&v);
	r = run(&s, (struct retention_limits){.keep_ms = 0}, false);
	assert_int_equal(r.artifacts, 1);
	assert_string_equal(names_in(&s, "sessions"), here);
	store_close(&s);
}

/* The leftovers of a crash go as soon as they are old enough to be such. */
TEST_IN(test_leftovers, home_setup, home_teardown)
{
	struct store s = open_store();
	char id[ID_LEN + 1];
	make("a", 0, 10, id);
	put(&s, "a", "cmd-0123456789ab.raw", 300);
	put(&s, "a", "cmd-0123456789ab.json", 300);
	put(&s, "a", "cmd-0123456789ac.txt", 300);
	put(&s, "a", "cmd-0123456789ad.raw", 0);
	put(&s, "a", "notes", 300);
	int ids = store_open_folder(&s, STORE_IDS, true);
	assert_int_equal(symlinkat("a", ids, "cmd-0123456789ab"), 0);
	close(ids);
	struct gc gc = {.store = &s, .limits = {.keep_ms = DAY_MS}, .now_ms = clock_real_ms()};
	assert_int_equal(gc_run(&gc), 0);
	char want[256];
	snprintf(want, sizeof(want),
		 "cmd-0123456789ac.txt cmd-0123456789ad.raw %s.json %s.txt journal.jsonl notes", id,
		 id);
	assert_string_equal(names_in(&s, "sessions/a"), want);
	assert_string_equal(names_in(&s, "ids"), id);
	/* An hour later the rest is old as well; what is not ours stays. */
	gc.now_ms += 3600 * 1000;
	put(&s, "a", ".journal.77", 0);
	put(&s, "a", ".cmd-0123456789ab.json", 0);
	put(&s, "a", ".mine", 0);
	assert_int_equal(gc_run(&gc), 0);
	snprintf(want, sizeof(want),
		 ".mine cmd-0123456789ac.txt %s.json %s.txt journal.jsonl notes", id, id);
	assert_string_equal(names_in(&s, "sessions/a"), want);
	store_close(&s);
}

TEST_IN(test_empty_sessions, home_setup, home_teardown)
{
	struct store s = open_store();
	struct gc gc = {.store = &s, .limits = {.keep_ms = DAY_MS}, .now_ms = clock_real_ms()};
	close(store_open_session(&s, "new", true));
	int used = store_open_session(&s, "used", true);
	int history = store_open_session(&s, "history", true);
	assert_int_equal(journal_add_run(history, &(struct meta){.started_ms = gc.now_ms}), 0);
	close(history);
	assert_int_equal(gc_run(&gc), 0);
	assert_string_equal(names_in(&s, "sessions"), "history new used");
	gc.now_ms += 3600 * 1000;
	assert_int_equal(gc_run(&gc), 0);
	assert_string_equal(names_in(&s, "sessions"), "history used");
	assert_int_equal(gc.result.sessions, 1);
	close(used);
	store_close(&s);
}

/* A run comes when its session is just being removed: it gets one that is there. */
TEST_IN(test_use_while_removed, home_setup, home_teardown)
{
	struct store s = open_store();
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < 3000; i++)
			gc_remove_session(&s, "a");
		_exit(0);
	}
	for (int i = 0; i < 3000; i++) {
		int dir = store_open_session(&s, "a", true);
		assert_true(dir >= 0);
		int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY | O_CREAT);
		assert_true(fd >= 0);
		close(fd);
		close(dir);
	}
	assert_int_equal(child_wait(pid), 0);
	store_close(&s);
}

TEST_IN(test_history, home_setup, home_teardown)
{
	struct store s = open_store();
	static char *argv[] = {(char *)"echo \"started_ms\":5", NULL};
	int dir = store_open_session(&s, "a", true);
	for (int64_t ms = 1000; ms <= 5000; ms += 1000) {
		const struct meta m = {.argv = argv, .cwd = "/", .session = "a", .started_ms = ms};
		assert_int_equal(journal_add_run(dir, &m), 0);
	}
	assert_int_equal(journal_clean(dir, 0, 1001), 1);
	assert_int_equal(journal_clean(dir, 3000, 4000), 1);
	assert_int_equal(journal_clean(dir, 3000, 9999), 2);
	assert_int_equal(journal_clean(dir, 3000, 9999), 0);
	close(dir);
	/* gc removes artifacts that are too old. */
	run(&s, (struct retention_limits){.max_age_ms = DAY_MS, .keep_ms = DAY_MS}, false);
	dir = store_open_session(&s, "a", true);
	char text[16];
	assert_int_equal(unit_read_file(dir, JOURNAL_FILE, text, sizeof(text)), 0);
	close(dir);
	store_close(&s);
}

TEST_IN(test_session_part, home_setup, home_teardown)
{
	struct store s = open_store();
	char ids[4][ID_LEN + 1], other[ID_LEN + 1];
	for (int i = 0; i < 4; i++)
		make("a", (4 - i) * 1000, 10, ids[i]);
	make("b", 0, 10, other);
	struct gc gc = {.store = &s, .now_ms = clock_real_ms()};
	assert_int_equal(gc_remove_session_part(&gc, "a", id_pack(ids[1]), id_pack(ids[2])), 0);
	assert_int_equal(gc.result.artifacts, 2);
	assert_true(id_exists(&s, ids[0]) && id_exists(&s, ids[3]) && id_exists(&s, other));
	assert_false(id_exists(&s, ids[1]) || id_exists(&s, ids[2]));
	assert_int_equal(gc_remove_session_part(&gc, "none", 0, UINT64_MAX), 0);
	store_close(&s);
}

TEST_IN(test_turns, home_setup, home_teardown)
{
	struct store s = open_store();
	const struct timespec past[2] = {{1000, 0}, {1000, 0}},
			      future[2] = {{1LL << 33, 0}, {1LL << 33, 0}};
	/* A new store has nothing to be cleaned up. */
	assert_false(gc_is_due(&s, 1));
	assert_false(gc_is_due(&s, DAY_MS));
	assert_int_equal(utimensat(s.fd, "gc", past, 0), 0);
	assert_true(gc_is_due(&s, DAY_MS));
	assert_false(gc_is_due(&s, 0));
	struct gc gc = {.store = &s, .now_ms = clock_real_ms(), .interval_ms = DAY_MS};
	assert_int_equal(gc_run(&gc), 0);
	assert_false(gc_is_due(&s, DAY_MS));
	assert_int_equal(gc_run(&gc), 1);
	assert_int_equal(utimensat(s.fd, "gc", future, 0), 0);
	assert_true(gc_is_due(&s, DAY_MS));
	store_close(&s);
}

/* Nothing outside of the store is read, written or removed, whatever somebody put into it. */
TEST_IN(test_hostile, home_setup, home_teardown)
{
	struct store s = open_store();
	char outside[sizeof(home) + 16], id[ID_LEN + 1], text[64];
	snprintf(outside, sizeof(outside), "%s/outside", home);
	assert_int_equal(mkdir(outside, 0700), 0);
	int away = open(outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	static const char *const files[] = {"cmd-0123456789ab.txt", "cmd-0123456789ab.json",
					    "journal.jsonl"};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int fd = openat(away, files[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(write(fd, "precious\n", 9), 9);
		close(fd);
	}
	make("a", 20 * DAY_MS, 10, id);
	int dir = store_open_session(&s, "a", false);
	int sessions = store_open_folder(&s, STORE_SESSIONS, false),
	    ids = store_open_folder(&s, STORE_IDS, false);
	assert_int_equal(symlinkat(outside, sessions, "linked"), 0);
	assert_int_equal(symlinkat("../../outside", ids, "cmd-0123456789ab"), 0);
	assert_int_equal(symlinkat(outside, dir, "cmd-0123456789ac.txt"), 0);
	assert_int_equal(linkat(away, files[0], dir, "cmd-0123456789ad.txt", 0), 0);
	assert_int_equal(unlinkat(dir, files[2], 0), 0);
	assert_int_equal(linkat(away, files[2], dir, files[2], 0), 0);
	assert_int_equal(mkdirat(dir, "cmd-0123456789ae.txt", 0700), 0);
	assert_int_equal(mkfifoat(dir, "cmd-0123456789af.txt", 0600), 0);
	assert_int_equal(mkfifoat(sessions, "fifo", 0600), 0);
	struct gc gc = {.store = &s,
			.limits = {.max_age_ms = 1, .max_count = 1, .max_bytes = 1},
			.now_ms = clock_real_ms() + 3600 * 1000};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(gc_run(&gc), 0);
		gc_end_session(&s, "a");
		assert_int_equal(gc_end_session(&s, "linked"), -1);
		gc_remove_session_part(&gc, "linked", 0, UINT64_MAX);
		journal_clean(dir, 0, INT64_MAX);
	}
	assert_false(id_exists(&s, id));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		assert_int_equal(unit_read_file(away, files[i], text, sizeof(text)), 9);
		assert_string_equal(text, "precious\n");
	}
	close(away);
	close(dir);
	close(ids);
	close(sessions);
	store_close(&s);
}

TEST_MAIN(NULL, NULL)
