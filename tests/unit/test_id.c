// IDs: their form, claiming them, finding artifacts by name, and the newest first.

#include "lib/io.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/journal.h"
#include "tests/unit/store.h"
#include "tests/unit/unit.h"

#define START INT64_C(1760000000000)

/* An artifact as far as finding it goes: claimed, its text there, noted in the session. */
static void make(struct store *s, const char *session, int64_t ms, char id[ID_LEN + 1])
{
	*id = '\0';
	assert_int_equal(id_claim(s, session, ms, id), 0);
	int dir = store_open_session(s, session, true);
	char name[ID_LEN + 5];
	snprintf(name, sizeof(name), "%s.txt", id);
	int fd = store_open_file(dir, name, O_WRONLY | O_CREAT | O_EXCL);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(journal_add_made(dir, id), 0);
	close(dir);
}

static void remove_text(struct store *s, const char *session, const char *id)
{
	char name[ID_LEN + 5];
	int dir = store_open_session(s, session, false);
	snprintf(name, sizeof(name), "%s.txt", id);
	assert_int_equal(unlinkat(dir, name, 0), 0);
	close(dir);
}

TEST(test_valid)
{
	static const struct {
		const char *text;
		bool valid;
	} cases[] = {
		{"cmd-0123456789ab", true},
		{"cmd-vwxyzjkmnpqr", true},
		{"cmd-0123456789a", false},
		{"cmd-0123456789abc", false},
		{"cmd-0123456789aI", false},
		{"cmd-0123456789ai", false},
		{"cmd-0123456789al", false},
		{"cmd-0123456789ao", false},
		{"cmd-0123456789au", false},
		{"", false},
		{"cmd-", false},
		{"cmd-../../../..", false},
		{"xmd-0123456789ab", false},
		{"cmd-0123456789a/", false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(id_is_valid(cases[i].text), cases[i].valid);
}

TEST(test_pack)
{
	char id[ID_LEN + 1], before[ID_LEN + 1] = "";
	for (uint64_t n = 0; n < UINT64_C(1) << 60; n = n * 3 + 7) {
		id_unpack(n, id);
		assert_true(id_is_valid(id));
		assert_true(id_pack(id) == n);
		assert_true(strcmp(before, id) < 0);
		memcpy(before, id, sizeof(id));
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

STORE_TEST(test_claim_is_unique)
{
	enum { COUNT = 3000 };
	static char ids[COUNT][ID_LEN + 1];
	/* A clock that stands still, and one that steps back. */
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(id_claim(&store, "x", START - (int64_t)(i / 1000), ids[i]), 0);
		assert_true(id_is_valid(ids[i]));
	}
	qsort(ids, COUNT, sizeof(*ids), compare);
	for (size_t i = 1; i < COUNT; i++)
		assert_string_not_equal(ids[i - 1], ids[i]);
	id_release(&store, ids[0]);
	int dir = store_open_folder(&store, STORE_IDS, false);
	assert_int_equal(faccessat(dir, ids[0], F_OK, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(faccessat(dir, ids[1], F_OK, AT_SYMLINK_NOFOLLOW), 0);
	close(dir);
}

STORE_TEST(test_claim_when_a_millisecond_is_full)
{
	char id[ID_LEN + 1];
	int ids = store_open_folder(&store, STORE_IDS, true);
	/* All but none of the 32,768 IDs of the first millisecond are taken. */
	for (uint64_t n = 0; n < 1 << 15; n++) {
		id_unpack((uint64_t)START << 15 | n, id);
		assert_int_equal(symlinkat("x", ids, id), 0);
	}
	close(ids);
	*id = '\0';
	assert_int_equal(id_claim(&store, "x", START, id), 0);
	assert_true(id_pack(id) >> 15 > START);
}

STORE_TEST(test_ids_sort_by_time)
{
	char early[ID_LEN + 1] = "", late[ID_LEN + 1] = "";
	assert_int_equal(id_claim(&store, "x", START, early), 0);
	assert_int_equal(id_claim(&store, "x", START + 1, late), 0);
	assert_true(strcmp(early, late) < 0);
	*early = '\0';
	assert_int_equal(id_claim(&store, "x", -5, early), 0);
}

static void expect(struct store *stores, int count, const char *name, const char *id)
{
	struct id_found found;
	assert_int_equal(id_find(stores, count, "x", name, &found), 0);
	assert_string_equal(found.id, id);
}

static void expect_error(struct store *stores, int count, const char *name, int error)
{
	struct id_found found;
	errno = 0;
	assert_int_equal(id_find(stores, count, "x", name, &found), -1);
	assert_int_equal(errno, error);
}

STORE_TEST(test_find)
{
	char a[ID_LEN + 1], b[ID_LEN + 1], name[256];
	make(&store, "x", START, a);
	make(&store, "y", START + 1000000, b);

	expect(&store, 1, a, a);
	expect(&store, 1, b, b); /* of another session */
	static const char *const forms[] = {"%s.txt", "/some/where/%s.txt", "%s.err.txt",
					    "./%s.json", "%s.idx"};
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const char *percent = strchr(forms[i], '%');
		snprintf(name, sizeof(name), "%.*s%s%s", (int)(percent - forms[i]), forms[i], a,
			 percent + 2);
		expect(&store, 1, name, a);
	}
	/* The first digit where they differ makes a prefix unique. */
	size_t same = 0;
	while (a[same] == b[same])
		same++;
	snprintf(name, sizeof(name), "%.*s", (int)same + 1, b);
	expect(&store, 1, name, b);
	name[same] = '\0';
	expect_error(&store, 1, name, EEXIST);

	expect_error(&store, 1, "cmd-", EINVAL);
	expect_error(&store, 1, "", EINVAL);
	expect_error(&store, 1, "file.txt", EINVAL);
	expect_error(&store, 1, "cmd-000000000000", ENOENT);
	expect_error(&store, 1, "cmd-zzz", ENOENT);
	expect_error(&store, 1, "cmd-0123456789ab.exe", EINVAL);
	snprintf(name, sizeof(name), "%s.txt/..", a);
	expect_error(&store, 1, name, EINVAL);
	expect_error(&store, 0, a, ENOENT);
	remove_text(&store, "x", a);
	expect_error(&store, 1, a, ENOENT);
}

STORE_TEST(test_find_hostile_links)
{
	int ids = store_open_folder(&store, STORE_IDS, true);
	char text[4096];
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(symlinkat("../..", ids, "cmd-000000000001"), 0);
	assert_int_equal(symlinkat("/etc", ids, "cmd-000000000002"), 0);
	assert_int_equal(symlinkat(text, ids, "cmd-000000000003"), 0);
	assert_int_equal(mkdirat(ids, "cmd-000000000004", 0700), 0);
	close(ids);
	/* The target of ../.. exists. */
	char outside[128];
	snprintf(outside, sizeof(outside), "%s/cmd-000000000001.txt", home);
	close(open(outside, O_CREAT | O_WRONLY, 0600));
	for (int i = 1; i <= 4; i++) {
		char name[ID_LEN + 1];
		snprintf(name, sizeof(name), "cmd-%012d", i);
		expect_error(&store, 1, name, ENOENT);
	}
	expect_error(&store, 1, "cmd-0000", ENOENT);
	struct journal *r = journal_open(&store, 1, NULL, JOURNAL_MADE);
	struct journal_line made;
	assert_non_null(r);
	while (journal_next(r, &made) == 1)
		assert_null(strchr(made.of.session, '/'));
	journal_close(r);
}

static void check_last(struct store *stores, int count, char ids[][ID_LEN + 1], int made)
{
	char name[32];
	expect(stores, count, "last", ids[made - 1]);
	for (int back = 0; back < made; back++) {
		snprintf(name, sizeof(name), "last-%d", back);
		expect(stores, count, name, ids[made - 1 - back]);
	}
	snprintf(name, sizeof(name), "last-%d", made);
	expect_error(stores, count, name, ENOENT);
}

STORE_TEST(test_last)
{
	enum { COUNT = 200 };
	char ids[COUNT][ID_LEN + 1], other[ID_LEN + 1];
	expect_error(&store, 1, "last", ENOENT);
	for (int i = 0; i < COUNT; i++) {
		make(&store, "x", START + i, ids[i]);
		make(&store, "other", START + i, other);
	}
	check_last(&store, 1, ids, COUNT);
	expect_error(&store, 1, "last-", EINVAL);
	expect_error(&store, 1, "last-x", EINVAL);
	expect_error(&store, 1, "last--1", EINVAL);
	expect_error(&store, 1, "last-99999999999999999999999", EINVAL);
	expect_error(&store, 1, "lastly", EINVAL);

	/* Removed ones are passed over. */
	for (int i = 100; i < COUNT; i++)
		remove_text(&store, "x", ids[i]);
	check_last(&store, 1, ids, 100);

	/* A part of a line. */
	char path[128];
	snprintf(path, sizeof(path), "%s/store/sessions/x/journal.jsonl", home);
	int fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"eventName\":", 13), 13);
	close(fd);
	check_last(&store, 1, ids, 100);
}

STORE_TEST(test_damaged_record)
{
	char ids[3][ID_LEN + 1];
	for (int i = 0; i < 3; i++)
		make(&store, "x", START + i, ids[i]);
	char path[128];
	snprintf(path, sizeof(path), "%s/store/sessions/x/journal.jsonl", home);
	int fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "../../../etc/pass", 17, 90 + 36), 17);
	close(fd);
	expect(&store, 1, "last", ids[2]);
	expect(&store, 1, "last-1", ids[0]);
	expect_error(&store, 1, "last-2", ENOENT);
}

TEST_IN(test_last_over_stores, home_setup, home_teardown)
{
	enum { COUNT = 20 };
	char ids[COUNT][ID_LEN + 1];
	struct store stores[2];
	assert_int_equal(store_open_write(&stores[0]), 0);
	char path[128];
	snprintf(path, sizeof(path), "%s/second", home);
	setenv("TERSE_HOME", path, 1);
	assert_int_equal(store_open_write(&stores[1]), 0);
	for (int i = 0; i < COUNT; i++)
		make(&stores[i % 3 == 0], "x", START + i, ids[i]);
	check_last(stores, 2, ids, COUNT);
	store_close(&stores[0]);
	store_close(&stores[1]);
}

STORE_TEST(test_all_sessions)
{
	enum { COUNT = 50 };
	char ids[COUNT][ID_LEN + 1];
	for (int i = 0; i < COUNT; i++)
		make(&store, i % 2 ? "odd" : "even", START + i, ids[i]);
	struct journal *r = journal_open(&store, 1, NULL, JOURNAL_MADE);
	assert_non_null(r);
	struct journal_line made;
	int64_t before = INT64_MAX;
	/* Newest first; which of two sessions comes first in one millisecond is open. */
	int next[] = {COUNT - 2, COUNT - 1};
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(journal_next(r, &made), 1);
		bool odd = strcmp(made.of.session, "odd") == 0;
		assert_true(odd || strcmp(made.of.session, "even") == 0);
		assert_true(next[odd] >= 0);
		assert_string_equal(made.of.id, ids[next[odd]]);
		assert_true(journal_line_ms(&made) <= before);
		before = journal_line_ms(&made);
		assert_ptr_equal(made.of.store, &store);
		next[odd] -= 2;
	}
	assert_int_equal(journal_next(r, &made), 0);
	assert_int_equal(journal_next(r, &made), 0);
	journal_close(r);
}

TEST_MAIN(NULL, NULL)
