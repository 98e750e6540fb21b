// Removing artifacts, sessions and the leftovers of crashes; gc over a whole store.

#include "lib/human.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "tests/unit/child.h"
#include "tests/unit/kept.h"
#include "tests/unit/store.h"
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
	snprintf(id, ID_LEN + 1, "%s", meta.id);
	artifact_close(a);
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

STORE_TEST(test_removal)
{
	char id[ID_LEN + 1];
	uint64_t freed = 0;
	make("a", 0, 5000, id);
	int dir = store_open_session(&store, "a", false);
	assert_true(id_exists(&store, id));
	assert_int_equal(removal_of(&store, "a", dir, id, &freed), REMOVAL_DONE);
	assert_true(freed >= 5000);
	assert_false(id_exists(&store, id));
	assert_string_equal(names_in(&store, "ids"), "");
	assert_string_equal(names_in(&store, "sessions/a"), "journal.jsonl");
	assert_int_equal(removal_of(&store, "a", dir, id, &freed), REMOVAL_ABSENT);
	close(dir);
}

STORE_TEST(test_running_stays)
{
	struct meta meta;
	uint64_t freed = 0;
	struct artifact *a = kept_create(&meta);
	int dir = store_open_session(&store, "test", false);
	assert_true(store_is_in_use(dir));
	assert_int_equal(removal_of(&store, "test", dir, meta.id, &freed), REMOVAL_RUNNING);
	/* A running one stays, whatever the limits are. */
	run(&store, (struct retention_limits){.max_age_ms = 1, .max_count = 1, .max_bytes = 1},
	    false);
	assert_true(id_exists(&store, meta.id));
	assert_false(gc_remove_session(&store, "test"));
	/* A lingering supervisor has said that the run is done. */
	meta.state = META_DONE;
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(removal_of(&store, "test", dir, meta.id, &freed), REMOVAL_RUNNING);
	artifact_close(a);
	assert_false(store_is_in_use(dir));
	assert_int_equal(removal_of(&store, "test", dir, meta.id, &freed), REMOVAL_DONE);
	close(dir);
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
STORE_TEST(test_without_locks)
{
	struct meta meta;
	char done[ID_LEN + 1];
	make("test", 0, 10, done);
	struct artifact *a = kept_create(&meta);
	meta.supervisor = getpid();
	assert_int_equal(artifact_update(a), 0);
	int dir = store_open_session(&store, "test", false);
	const struct without_locks c = {&store, dir, done, meta.id};
	assert_int_equal(child_run(check_without_locks, &c), 0);
	assert_true(id_exists(&store, meta.id));
	assert_false(id_exists(&store, done));
	artifact_close(a);
	close(dir);
}

/* Between the making of a text and its lock nobody takes it away. */
STORE_TEST(test_beginning_stays)
{
	char id[ID_LEN + 1] = "", name[ID_LEN + 5];
	uint64_t freed = 0;
	assert_int_equal(id_claim(&store, "a", clock_real_ms(), id), 0);
	snprintf(name, sizeof(name), "%s.txt", id);
	put(&store, "a", name, 0);
	int dir = store_open_session(&store, "a", false);
	assert_int_equal(removal_of(&store, "a", dir, id, &freed), REMOVAL_RUNNING);
	run(&store, (struct retention_limits){.max_count = 1}, false);
	assert_true(id_exists(&store, id));
	close(dir);
}

/* Reading does not make it look as if it were in use. */
STORE_TEST(test_readers)
{
	char id[ID_LEN + 1], name[ID_LEN + 5];
	uint64_t freed = 0;
	make("a", 0, 10, id);
	int dir = store_open_session(&store, "a", false);
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
	assert_int_equal(removal_of(&store, "a", dir, id, &freed), REMOVAL_DONE);
	assert_int_equal(child_wait(pid), 0);
	close(dir);
}

STORE_TEST(test_limits)
{
	char old[ID_LEN + 1], middle[ID_LEN + 1], new[ID_LEN + 1];
	make("a", 20 * DAY_MS, 5000, old);
	make("b", 2 * DAY_MS, 5000, middle);
	make("a", 0, 5000, new);
	const struct retention_limits age = {.max_age_ms = 14 * DAY_MS, .keep_ms = DAY_MS};
	struct gc_result r = run(&store, age, true);
	assert_int_equal(r.artifacts, 1);
	assert_true(id_exists(&store, old));
	r = run(&store, age, false);
	assert_int_equal(r.artifacts, 1);
	assert_true(r.bytes >= 5000);
	assert_int_equal(r.failed, 0);
	assert_false(id_exists(&store, old));
	/* A second gc has nothing to do. */
	r = run(&store, age, false);
	assert_int_equal(r.artifacts + r.sessions + r.leftovers + r.bytes, 0);
	r = run(&store, (struct retention_limits){.max_count = 1, .keep_ms = DAY_MS}, false);
	assert_int_equal(r.artifacts, 1);
	assert_false(id_exists(&store, middle));
	assert_true(id_exists(&store, new));
}

/* A line of an artifact that was made. */
#define MADE_LEN (36 + ID_LEN + 38)

/* Removed ones are passed over, and gone from the journal afterwards. */
STORE_TEST(test_made)
{
	char ids[5][ID_LEN + 1], text[512];
	struct id_found found;
	for (int i = 0; i < 5; i++)
		make("a", (5 - i) * DAY_MS, 10, ids[i]);
	run(&store, (struct retention_limits){.max_count = 2, .keep_ms = DAY_MS}, false);
	int dir = store_open_session(&store, "a", false);
	assert_int_equal(unit_read_file(dir, JOURNAL_FILE, text, sizeof(text)), 2 * MADE_LEN);
	/* One that a full disk has cut short does not hide those that follow. */
	int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"eventName\":1", 14), 14);
	close(fd);
	assert_int_equal(journal_add_made(dir, ids[3]), 0);
	run(&store, (struct retention_limits){.keep_ms = DAY_MS}, false);
	assert_int_equal(unit_read_file(dir, JOURNAL_FILE, text, sizeof(text)), 3 * MADE_LEN + 15);
	struct journal_line made;
	struct journal *j = journal_open(&store, 1, "a", JOURNAL_MADE);
	assert_int_equal(journal_next(j, &made), 1);
	assert_string_equal(made.of.id, ids[3]);
	journal_close(j);
	/* The last is the one that was started last, whenever its text came. */
	assert_int_equal(id_find(&store, 1, "a", "last", &found), 0);
	assert_string_equal(found.id, ids[4]);
	close(dir);
}

/* After a day without a look nothing goes by its age, until the next look; but if somebody asks. */
STORE_TEST(test_away)
{
	struct gc gc = {.store = &store,
			.limits = {.max_age_ms = DAY_MS, .keep_ms = DAY_MS},
			.now_ms = clock_real_ms()};
	char id[ID_LEN + 1];
	make("a", 20 * DAY_MS, 10, id);
	assert_false(gc_is_due(&store, 1));
	for (int i = 0; i < 2; i++) {
		const struct timespec t = {.tv_sec = gc.now_ms / 1000 - (i ? 7200 : 90000)};
		const struct timespec times[2] = {t, t};
		assert_int_equal(utimensat(store.fd, "gc", times, 0), 0);
		gc.interval_ms = 1000;
		assert_true(id_exists(&store, id));
		assert_int_equal(gc_run(&gc), 0);
	}
	assert_false(id_exists(&store, id));
	make("a", 20 * DAY_MS, 10, id);
	gc.interval_ms = 0;
	assert_int_equal(gc_run(&gc), 0);
	assert_false(id_exists(&store, id));
}

STORE_TEST(test_ended_session)
{
	char a[ID_LEN + 1], b[ID_LEN + 1];
	make("a", 0, 10, a);
	make("b", 0, 10, b);
	assert_int_equal(gc_end_session(&store, "a"), 0);
	assert_int_equal(gc_end_session(&store, "none"), -1);
	assert_int_equal(errno, ENOENT);
	struct gc_result r = run(&store, (struct retention_limits){.keep_ms = DAY_MS}, false);
	assert_int_equal(r.artifacts + r.sessions, 0);
	r = run(&store, (struct retention_limits){.keep_ms = 0}, false);
	assert_int_equal(r.artifacts, 1);
	assert_int_equal(r.sessions, 1);
	assert_string_equal(names_in(&store, "sessions"), "b");
	assert_string_equal(names_in(&store, "ids"), b);
}

/* A run in an ended session begins it anew. */
STORE_TEST(test_session_goes_on)
{
	char id[ID_LEN + 1];
	make("a", 0, 10, id);
	assert_int_equal(gc_end_session(&store, "a"), 0);
	make("a", 0, 10, id);
	struct gc_result r = run(&store, (struct retention_limits){.keep_ms = 0}, false);
	assert_int_equal(r.artifacts + r.sessions, 0);
	assert_true(id_exists(&store, id));
}

/* Sessions are named by their agent's process: it has ended, it goes on, it is another one. */
STORE_TEST(test_agents)
{
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
	struct gc_result r = run(&store, limits, false);
	assert_int_equal(r.artifacts, 0);
	struct inventory v;
	assert_int_equal(inventory_read(&v, &store, gone), 0);
	assert_true(v.sessions[0].agent_gone && v.sessions[0].ended_ms > 0);
	inventory_release(&v);
	r = run(&store, (struct retention_limits){.keep_ms = 0}, false);
	assert_int_equal(r.artifacts, 1);
	assert_string_equal(names_in(&store, "sessions"), here);
}

/* The leftovers of a crash go as soon as they are old enough to be such. */
STORE_TEST(test_leftovers)
{
	char id[ID_LEN + 1];
	make("a", 0, 10, id);
	put(&store, "a", "cmd-0123456789ab.raw", 300);
	put(&store, "a", "cmd-0123456789ab.json", 300);
	put(&store, "a", "cmd-0123456789ac.txt", 300);
	put(&store, "a", "cmd-0123456789ad.raw", 0);
	put(&store, "a", "notes", 300);
	int ids = store_open_folder(&store, STORE_IDS, true);
	assert_int_equal(symlinkat("a", ids, "cmd-0123456789ab"), 0);
	close(ids);
	struct gc gc = {.store = &store, .limits = {.keep_ms = DAY_MS}, .now_ms = clock_real_ms()};
	assert_int_equal(gc_run(&gc), 0);
	char want[256];
	snprintf(want, sizeof(want),
		 "cmd-0123456789ac.txt cmd-0123456789ad.raw %s.json %s.txt journal.jsonl notes", id,
		 id);
	assert_string_equal(names_in(&store, "sessions/a"), want);
	assert_string_equal(names_in(&store, "ids"), id);
	/* An hour later the rest is old as well; what is not ours stays. */
	gc.now_ms += 3600 * 1000;
	put(&store, "a", ".journal.77", 0);
	put(&store, "a", ".cmd-0123456789ab.json", 0);
	put(&store, "a", ".mine", 0);
	assert_int_equal(gc_run(&gc), 0);
	snprintf(want, sizeof(want),
		 ".mine cmd-0123456789ac.txt %s.json %s.txt journal.jsonl notes", id, id);
	assert_string_equal(names_in(&store, "sessions/a"), want);
}

STORE_TEST(test_empty_sessions)
{
	struct gc gc = {.store = &store, .limits = {.keep_ms = DAY_MS}, .now_ms = clock_real_ms()};
	close(store_open_session(&store, "new", true));
	int used = store_open_session(&store, "used", true);
	int history = store_open_session(&store, "history", true);
	assert_int_equal(journal_add_run(history, &(struct meta){.started_ms = gc.now_ms}, false),
			 0);
	close(history);
	assert_int_equal(gc_run(&gc), 0);
	assert_string_equal(names_in(&store, "sessions"), "history new used");
	gc.now_ms += 3600 * 1000;
	assert_int_equal(gc_run(&gc), 0);
	assert_string_equal(names_in(&store, "sessions"), "history used");
	assert_int_equal(gc.result.sessions, 1);
	close(used);
}

/* A run comes when its session is just being removed: it gets one that is there. */
STORE_TEST(test_use_while_removed)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		for (int i = 0; i < 3000; i++)
			gc_remove_session(&store, "a");
		_exit(0);
	}
	for (int i = 0; i < 3000; i++) {
		int dir = store_open_session(&store, "a", true);
		assert_true(dir >= 0);
		int fd = store_open_file(dir, JOURNAL_FILE, O_WRONLY | O_CREAT);
		assert_true(fd >= 0);
		close(fd);
		close(dir);
	}
	assert_int_equal(child_wait(pid), 0);
}

STORE_TEST(test_history)
{
	static char *argv[] = {(char *)"echo \"startTimeUnixNano\":5", NULL};
	int dir = store_open_session(&store, "a", true);
	for (int64_t ms = 1000; ms <= 5000; ms += 1000) {
		const struct meta m = {.argv = argv, .cwd = "/", .session = "a", .started_ms = ms};
		assert_int_equal(journal_add_run(dir, &m, false), 0);
	}
	assert_int_equal(journal_clean(dir, 0, 1001), 1);
	assert_int_equal(journal_clean(dir, 3000, 4000), 1);
	assert_int_equal(journal_clean(dir, 3000, 9999), 2);
	assert_int_equal(journal_clean(dir, 3000, 9999), 0);
	close(dir);
	/* gc removes artifacts that are too old. */
	run(&store, (struct retention_limits){.max_age_ms = DAY_MS, .keep_ms = DAY_MS}, false);
	dir = store_open_session(&store, "a", true);
	char text[16];
	assert_int_equal(unit_read_file(dir, JOURNAL_FILE, text, sizeof(text)), 0);
	close(dir);
}

STORE_TEST(test_session_part)
{
	char ids[4][ID_LEN + 1], other[ID_LEN + 1];
	for (int i = 0; i < 4; i++)
		make("a", (4 - i) * 1000, 10, ids[i]);
	make("b", 0, 10, other);
	struct gc gc = {.store = &store, .now_ms = clock_real_ms()};
	assert_int_equal(gc_remove_session_part(&gc, "a", id_pack(ids[1]), id_pack(ids[2])), 0);
	assert_int_equal(gc.result.artifacts, 2);
	assert_true(id_exists(&store, ids[0]) && id_exists(&store, ids[3]) &&
		    id_exists(&store, other));
	assert_false(id_exists(&store, ids[1]) || id_exists(&store, ids[2]));
	assert_int_equal(gc_remove_session_part(&gc, "none", 0, UINT64_MAX), 0);
}

STORE_TEST(test_turns)
{
	const struct timespec past[2] = {{1000, 0}, {1000, 0}},
			      future[2] = {{1LL << 33, 0}, {1LL << 33, 0}};
	/* A new store has nothing to be cleaned up. */
	assert_false(gc_is_due(&store, 1));
	assert_false(gc_is_due(&store, DAY_MS));
	assert_int_equal(utimensat(store.fd, "gc", past, 0), 0);
	assert_true(gc_is_due(&store, DAY_MS));
	assert_false(gc_is_due(&store, 0));
	struct gc gc = {.store = &store, .now_ms = clock_real_ms(), .interval_ms = DAY_MS};
	assert_int_equal(gc_run(&gc), 0);
	assert_false(gc_is_due(&store, DAY_MS));
	assert_int_equal(gc_run(&gc), 1);
	assert_int_equal(utimensat(store.fd, "gc", future, 0), 0);
	assert_true(gc_is_due(&store, DAY_MS));
}

/* Nothing outside of the store is read, written or removed, whatever somebody put into it. */
STORE_TEST(test_hostile)
{
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
	int dir = store_open_session(&store, "a", false);
	int sessions = store_open_folder(&store, STORE_SESSIONS, false),
	    ids = store_open_folder(&store, STORE_IDS, false);
	assert_int_equal(symlinkat(outside, sessions, "linked"), 0);
	assert_int_equal(symlinkat("../../outside", ids, "cmd-0123456789ab"), 0);
	/* These claim nothing. */
	assert_int_equal(mkfifoat(ids, "cmd-0123456789ba", 0600), 0);
	assert_int_equal(mkdirat(ids, "cmd-0123456789bb", 0700), 0);
	assert_int_equal(symlinkat(outside, dir, "cmd-0123456789ac.txt"), 0);
	assert_int_equal(linkat(away, files[0], dir, "cmd-0123456789ad.txt", 0), 0);
	assert_int_equal(unlinkat(dir, files[2], 0), 0);
	assert_int_equal(linkat(away, files[2], dir, files[2], 0), 0);
	assert_int_equal(mkdirat(dir, "cmd-0123456789ae.txt", 0700), 0);
	assert_int_equal(mkfifoat(dir, "cmd-0123456789af.txt", 0600), 0);
	assert_int_equal(mkfifoat(sessions, "fifo", 0600), 0);
	struct gc gc = {.store = &store,
			.limits = {.max_age_ms = 1, .max_count = 1, .max_bytes = 1},
			.now_ms = clock_real_ms() + 3600 * 1000};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(gc_run(&gc), 0);
		gc_end_session(&store, "a");
		assert_int_equal(gc_end_session(&store, "linked"), -1);
		gc_remove_session_part(&gc, "linked", 0, UINT64_MAX);
		journal_clean(dir, 0, INT64_MAX);
	}
	assert_false(id_exists(&store, id));
	assert_string_equal(names_in(&store, "ids"), "cmd-0123456789ba cmd-0123456789bb");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		assert_int_equal(unit_read_file(away, files[i], text, sizeof(text)), 9);
		assert_string_equal(text, "precious\n");
	}
	close(away);
	close(dir);
	close(ids);
	close(sessions);
}

TEST_MAIN(NULL, NULL)
