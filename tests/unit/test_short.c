// Short texts: what was kept is read back, or nothing is; removed ones leave no byte.

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/short.h"
#include "supervisor/artifact/text.h"
#include "tests/unit/random.h"
#include "tests/unit/store.h"
#include "tests/unit/unit.h"

#include <sys/file.h>

#define START INT64_C(1760000000000)

static int add(int dir, const char *session, const char *text, char id[ID_LEN + 1])
{
	static char *argv[] = {(char *)"make", NULL};
	static int64_t started_ms = START; /* so that none gets the ID of one that was removed */
	struct meta m = {.argv = argv,
			 .cwd = "/",
			 .session = session,
			 .state = META_DONE,
			 .started_ms = started_ms++,
			 .out = {.present = true, .bytes = strlen(text)}};
	struct buffer out = BUFFER_INIT, shown = BUFFER_INIT;
	const struct buffer *parts[ARTIFACT_JSON] = {
		[ARTIFACT_OUT] = &out, [ARTIFACT_SHOWN] = &shown};
	buffer_append_string(&out, text);
	buffer_append_string(&shown, "{\"bytes\":1}\n");
	memcpy(m.id, id, sizeof(m.id));
	int result = short_add(dir, &m, 0, parts);
	memcpy(id, m.id, sizeof(m.id));
	buffer_release(&out);
	buffer_release(&shown);
	return result;
}

/* The part as it is read; NULL with errno. */
static const char *part(int dir, const char *id, enum artifact_part which)
{
	static char text[8192];
	int fd = id_open_text(dir, id, which);
	if (fd < 0)
		return NULL;
	ssize_t n = io_read(fd, text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	return text;
}

/* What the first file of records holds; `is_there` false: there is none. */
static struct buffer records(int dir, const char *id, bool is_there)
{
	struct buffer file = BUFFER_INIT;
	char name[16];
	snprintf(name, sizeof(name), "%.8s.texts", id);
	int fd = store_open_file(dir, name, O_RDONLY);
	assert_int_equal(fd >= 0, is_there);
	if (fd >= 0)
		assert_int_equal(io_read_all(fd, &file, 1 << 20), 0);
	io_close(&fd);
	return file;
}

static void put(int dir, const char *id, const struct buffer *file)
{
	char name[16];
	snprintf(name, sizeof(name), "%.8s.texts", id);
	int fd = store_open_file(dir, name, O_WRONLY | O_TRUNC);
	assert_int_equal(io_write(fd, file->data, file->len), 0);
	close(fd);
}

STORE_TEST(test_parts)
{
	(void)state;
	int dir = store_open_session(&store, "a", true);
	char id[ID_LEN + 1] = "";
	struct meta m;
	struct text text;
	uint64_t lines;
	assert_int_equal(add(dir, "a", "one\ntwo\n", id), 0);
	assert_true(id_is_kept(dir, id) && id_exists(&store, id));
	assert_true(id_is_of(&store, 1, id, "a"));
	assert_string_equal(part(dir, id, ARTIFACT_OUT), "one\ntwo\n");
	assert_string_equal(part(dir, id, ARTIFACT_SHOWN), "{\"bytes\":1}\none\ntwo\n");
	assert_null(part(dir, id, ARTIFACT_ERR));
	assert_int_equal(errno, ENOENT);
	assert_null(part(dir, id, ARTIFACT_OUT_INDEX));
	assert_int_equal(meta_read(dir, id, &m), 0);
	assert_string_equal(m.argv[0], "make");
	meta_release(&m);
	assert_int_equal(text_open(&text, dir, id, ARTIFACT_OUT), 0);
	assert_true(text_lines(&text, &lines) == 0 && lines == 2 && !text.held);
	text_close(&text);
	/* As files it is the same. */
	assert_int_equal(short_unpack(dir, id), 0);
	assert_int_equal(short_unpack(dir, id), 0);
	assert_true(id_has_file(dir, id, ARTIFACT_OUT) && id_has_file(dir, id, ARTIFACT_JSON));
	assert_string_equal(part(dir, id, ARTIFACT_SHOWN), "{\"bytes\":1}\none\ntwo\n");
	assert_true(id_is_of(&store, 1, id, "a"));
	struct buffer none = records(dir, id, false);
	buffer_release(&none);
	close(dir);
}

STORE_TEST(test_an_id_that_is_taken)
{
	(void)state;
	int dir = store_open_session(&store, "a", true);
	char id[ID_LEN + 1] = "", other[ID_LEN + 1] = "";
	/* A run that was given one keeps it. */
	assert_int_equal(id_claim(&store, "a", START, id), 0);
	memcpy(other, id, sizeof(id));
	assert_int_equal(add(dir, "a", "mine\n", id), 0);
	assert_string_equal(id, other);
	/* Another's record is nobody's, wherever a link leads. */
	*other = '\0';
	assert_int_equal(add(dir, "a", "another's\n", other), 0);
	char name[64], link[64];
	snprintf(name, sizeof(name), "ids/%s", id);
	ssize_t n = readlinkat(store.fd, name, link, sizeof(link) - 1);
	assert_true(n > 0);
	link[n] = '\0';
	snprintf(name, sizeof(name), "ids/%s", other);
	assert_int_equal(unlinkat(store.fd, name, 0), 0);
	assert_int_equal(symlinkat(link, store.fd, name), 0);
	assert_null(part(dir, other, ARTIFACT_OUT));
	assert_int_equal(errno, EBADMSG);
	assert_string_equal(part(dir, id, ARTIFACT_OUT), "mine\n");
	close(dir);
}

STORE_TEST(test_links)
{
	static const struct {
		const char *link, *session;
		bool is_short, is_whole;
	} cases[] = {
		{"a", "a", false, false},
		{"a+", "a", true, false},
		{"a+7", "a", true, true},
		{"a+7x", "a", true, false},
		{"a+-7", "a", true, false},
		{"a+99999", "a", true, false},
		{"a+99999999999999999999", "a", true, false},
		{"+7", "", true, true},
		{"a/../b+0", "a/../b", true, true}, /* which no session is called */
	};
	struct short_place place;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(symlinkat(cases[i].link, store.fd, "link"), 0);
		assert_int_equal(short_follow(store.fd, "link", &place), 0);
		assert_int_equal(unlinkat(store.fd, "link", 0), 0);
		assert_string_equal(place.session, cases[i].session);
		assert_int_equal(place.is_short, cases[i].is_short);
		assert_int_equal(place.is_whole, cases[i].is_whole);
	}
}

/* The links of many texts are one file, and where that can't be they are several. */
STORE_TEST(test_names_of_one_file)
{
	(void)state;
	int dir = store_open_session(&store, "a", true);
	char ids[3][ID_LEN + 1] = {"", "", ""}, name[64];
	struct stat st[3];
	for (int i = 0; i < 3; i++) {
		if (i == 2) {
			snprintf(name, sizeof(name), "%.8s.link", ids[0]);
			assert_int_equal(unlinkat(dir, name, 0), 0);
		}
		assert_int_equal(add(dir, "a", "text\n", ids[i]), 0);
		snprintf(name, sizeof(name), "ids/%s", ids[i]);
		assert_int_equal(fstatat(store.fd, name, &st[i], AT_SYMLINK_NOFOLLOW), 0);
	}
	assert_true(st[0].st_ino == st[1].st_ino && st[1].st_ino != st[2].st_ino);
	for (int i = 0; i < 3; i++)
		assert_string_equal(part(dir, ids[i], ARTIFACT_OUT), "text\n");
	close(dir);
}

/* Runs of the same millisecond elsewhere have other IDs, as those that begin another machine's. */
STORE_TEST(test_a_base_for_each_session)
{
	(void)state;
	uint64_t differ = 0, first = 0;
	for (int i = 0; i < 8; i++) {
		char session[] = {(char)('a' + i), '\0'}, id[ID_LEN + 1] = "";
		int dir = store_open_session(&store, session, true);
		assert_int_equal(add(dir, session, "text\n", id), 0);
		first = i == 0 ? id_pack(id) : first;
		differ |= (id_pack(id) ^ first) % ID_DRAWS;
		close(dir);
	}
	assert_true(differ);
}

/* Somebody who does not know it has made the link of the records, or it can't be made. */
STORE_TEST(test_a_link_of_others)
{
	static const char *const links[] = {"b+7",           "b+", "a", "a+x",
					    "" /* a file */, "/" /* a directory */};
	(void)state;
	int dir = store_open_session(&store, "a", true);
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		char id[ID_LEN + 1] = "", name[16];
		assert_int_equal(add(dir, "a", "before\n", id), 0);
		snprintf(name, sizeof(name), "%.8s.link", id);
		assert_int_equal(unlinkat(dir, name, 0), 0);
		*id = '\0';
		if (*links[i] == '/')
			assert_int_equal(mkdirat(dir, name, 0700), 0);
		else if (*links[i])
			assert_int_equal(symlinkat(links[i], dir, name), 0);
		else
			close(store_open_file(dir, name, O_WRONLY | O_CREAT));
		assert_int_equal(add(dir, "a", "text\n", id), 0);
		assert_string_equal(part(dir, id, ARTIFACT_OUT), "text\n");
		assert_true(id_is_of(&store, 1, id, "a"));
	}
	close(dir);
}

/* Behind so many records that the digits of an ID begin again. */
STORE_TEST(test_a_long_file)
{
	(void)state;
	int dir = store_open_session(&store, "a", true);
	char ids[3][ID_LEN + 1] = {"", "", ""}, name[16], text[32];
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "text %d\n", i);
		assert_int_equal(add(dir, "a", text, ids[i]), 0);
		snprintf(name, sizeof(name), "%.8s.texts", ids[i]);
		int fd = store_open_file(dir, name, O_WRONLY);
		assert_int_equal(ftruncate(fd, (i + 1) * 64 * (off_t)ID_DRAWS), 0);
		close(fd);
		assert_int_equal(id_pack(ids[i]) % ID_DRAWS, id_pack(ids[0]) % ID_DRAWS);
	}
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "text %d\n", i);
		assert_string_equal(part(dir, ids[i], ARTIFACT_OUT), text);
	}
	assert_int_equal(short_sweep(dir, "a"), 0);
	assert_string_equal(part(dir, ids[2], ARTIFACT_OUT), "text 2\n");
	close(dir);
}

/* Whatever byte is another one, the text is not there, and its neighbours are. */
STORE_TEST(test_damage)
{
	(void)state;
	int dir = store_open_session(&store, "a", true);
	char ids[3][ID_LEN + 1] = {"", "", ""};
	for (int i = 0; i < 3; i++)
		assert_int_equal(add(dir, "a", "one\ntwo\nthree\n", ids[i]), 0);
	struct buffer file = records(dir, ids[0], true);
	const size_t len = short_bytes(dir, ids[1]),
		     from = (short_bytes(dir, ids[0]) + 63) / 64 * 64;
	assert_true(len > 0 && file.len > from + len);
	for (size_t at = 0; at < file.len; at++) {
		bool hit = at >= from && at < from + len;
		for (int bit = 1; bit < 256; bit *= 4) {
			file.data[at] = (char)(file.data[at] ^ bit);
			put(dir, ids[0], &file);
			const char *text = part(dir, ids[1], ARTIFACT_OUT);
			assert_true(hit ? !text && errno == EBADMSG
					: text && strcmp(text, "one\ntwo\nthree\n") == 0);
			file.data[at] = (char)(file.data[at] ^ bit);
		}
	}
	/* So where it ends early. */
	for (file.len = from + len; file.len-- > from;) {
		put(dir, ids[0], &file);
		assert_null(part(dir, ids[1], ARTIFACT_OUT));
		assert_string_equal(part(dir, ids[0], ARTIFACT_OUT), "one\ntwo\nthree\n");
	}
	/* Where there is no record left, the claim of its ID goes, and so does one that was not
	 * made. */
	char name[32];
	snprintf(name, sizeof(name), "ids/.%s", ids[1]);
	assert_int_equal(symlinkat("a", store.fd, name), 0);
	struct gc gc = {.store = &store, .now_ms = clock_real_ms() + 2 * STORE_SETTLED_S * 1000};
	assert_int_equal(gc_remove_session_part(&gc, "a", 0, UINT64_MAX), 0);
	assert_int_equal(gc.result.artifacts, 1);
	assert_int_equal(gc_run(&gc), 0);
	assert_int_equal(gc.result.leftovers, 3);
	assert_false(id_exists(&store, ids[1]) || id_exists(&store, ids[2]));
	buffer_release(&file);
	file = records(dir, ids[0], false);
	buffer_release(&file);
	close(dir);
}

#define RUNS 400

/* Runs come and go, and killed writers leave parts. */
STORE_TEST(test_random_runs)
{
	static const char *const sessions[] = {"a", "b"};
	char ids[RUNS][ID_LEN + 1], texts[RUNS][64], name[16];
	bool live[RUNS] = {false};
	int dirs[2] = {store_open_session(&store, "a", true),
		       store_open_session(&store, "b", true)};
	(void)state;
	for (int i = 0; i < RUNS; i++) {
		int s = i % 2, gone = (int)random_below((uint64_t)i + 1);
		uint64_t freed = 0;
		*ids[i] = '\0';
		snprintf(texts[i], sizeof(texts[i]), "<%d of %d>\n", i, (int)random_below(1000000));
		assert_int_equal(add(dirs[s], sessions[s], texts[i], ids[i]), 0);
		live[i] = true;
		if (random_below(4) == 0) {
			snprintf(name, sizeof(name), "%.8s.texts", ids[i]);
			int fd = store_open_file(dirs[s], name, O_WRONLY);
			off_t end = (lseek(fd, 0, SEEK_END) + 63) / 64 * 64;
			assert_int_equal(io_write_at(fd, "<left>", 6, end), 0);
			close(fd);
		}
		if (random_below(2) == 0 && live[gone]) {
			assert_int_equal(removal_of(&store, sessions[gone % 2], dirs[gone % 2],
						    ids[gone], &freed),
					 REMOVAL_DONE);
			assert_true(freed > 0);
			assert_int_equal(short_sweep(dirs[gone % 2], sessions[gone % 2]), 0);
			live[gone] = false;
			bool any_left = false;
			for (int k = gone % 2; k <= i; k += 2)
				any_left |= live[k];
			struct buffer file = records(dirs[gone % 2], ids[gone], any_left);
			assert_true(!any_left || !memmem(file.data, file.len, "<left>", 6));
			for (int k = gone % 2; any_left && k <= i; k += 2)
				assert_int_equal(memmem(file.data, file.len, texts[k],
							strlen(texts[k])) != NULL,
						 live[k]);
			buffer_release(&file);
		}
		int any = (int)random_below((uint64_t)i + 1);
		const char *text = part(dirs[any % 2], ids[any], ARTIFACT_OUT);
		assert_true(live[any] ? text && strcmp(text, texts[any]) == 0 : !text);
	}
	struct inventory v;
	size_t left = 0;
	for (int i = 0; i < RUNS; i++)
		left += live[i];
	assert_int_equal(inventory_read(&v, &store, NULL), 0);
	assert_int_equal(v.count, left);
	assert_int_equal(v.session_count, 2);
	assert_int_equal(v.sessions[0].count + v.sessions[1].count, left);
	inventory_release(&v);
	close(dirs[0]);
	close(dirs[1]);
}

/* A writer waits for nobody who holds the file for long; the run has another place then. */
STORE_TEST(test_a_file_that_is_held)
{
	(void)state;
	int dir = store_open_session(&store, "a", true);
	char id[ID_LEN + 1] = "", name[16];
	assert_int_equal(add(dir, "a", "text\n", id), 0);
	snprintf(name, sizeof(name), "%.8s.texts", id);
	int fd = store_open_file(dir, name, O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	char other[ID_LEN + 1] = "";
	assert_int_equal(add(dir, "a", "text\n", other), -1);
	assert_string_equal(other, "");
	assert_string_equal(part(dir, id, ARTIFACT_OUT), "text\n");
	close(fd);
	close(dir);
}

TEST_MAIN(NULL, NULL)
