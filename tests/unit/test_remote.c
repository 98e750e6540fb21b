// The remote's keys and what its program says; what waits in the outbox.

#include "config/option.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/remote/outbox.h"
#include "supervisor/remote/remote.h"
#include "tests/unit/home.h"
#include "tests/unit/unit.h"

static struct settings settings_with(const char *key, const char *value)
{
	struct settings s;
	struct option_error error;
	assert_int_equal(settings_init(&s), 0);
	assert_int_equal(option_set(&s, option_by_key("remote", key), value, &error), 0);
	return s;
}

TEST(the_hour_is_in_the_id)
{
	char key[REMOTE_KEY_LEN], id[ID_LEN + 1], want[REMOTE_KEY_LEN];
	id_unpack(id_first_at(INT64_C(1763762399999)), id); /* 2025-11-21 21:59:59.999 UTC */
	remote_key(id, key);
	snprintf(want, sizeof(want), "artifacts/2025/11/21/21/%s.tar.zst", id);
	assert_string_equal(key, want);
}

TEST(the_cause_is_told_first)
{
	static const struct {
		const char *said, *cause;
	} cases[] = {
		{"", ""},
		{"\n \n", ""},
		{"away\n", "away"},
		{"sh: 1: rclone: not found", "sh: 1: rclone: not found"},
		{"2026/11/22 07:00:00 Failed to create file system for \"x:\": didn't find section "
		 "in config file\n",
		 "Failed to create file system for \"x:\": didn't find section in config file"},
		{"2026/11/22 07:00:00 NOTICE: Config file \"/c\" not found - using defaults\n"
		 "2026/11/22 07:00:00 CRITICAL: Failed to create file system for \"x:\": why\n",
		 "Failed to create file system for \"x:\": why"},
		{"2026/11/22 07:00:00 NOTICE: Failed to create file system for \"x:\": why\n",
		 "Failed to create file system for \"x:\": why"},
		{"2026/11/22 07:00:00 ERROR : a/b.zst: Failed to copy: no route\r\n"
		 "2026/11/22 07:00:00 ERROR : Attempt 1/1 failed with 1 errors and: no route\n"
		 "2026/11/22 07:00:00 Failed to move: no route\n",
		 "a/b.zst: Failed to copy: no route"},
		{"2026/11/22 07:00:00 ERROR : : error reading source directory: why\n",
		 "error reading source directory: why"},
		{"2026/11/22 07:00:00 INFO  : one\n2026/11/22 07:00:00 NOTICE: two\n", "two"},
		{"Error: unknown flag: --x\nUsage:\n", "Error: unknown flag: --x"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char said[512];
		snprintf(said, sizeof(said), "%s", cases[i].said);
		assert_string_equal(remote_cause(said), cases[i].cause);
	}
}

TEST(names_are_clean)
{
	char name[8];
	store_clean_name("../a b", name, sizeof(name));
	assert_string_equal(name, "_._a_b");
	store_clean_name("-x.y-z0123", name, sizeof(name));
	assert_string_equal(name, "_x.y-z0");
}

/* An artifact whose run has ended with this code; still written to if `a` is not NULL. */
static void make(int exit_code, char id[ID_LEN + 1], struct artifact **a, struct meta *meta)
{
	static char *argv[] = {(char *)"test", NULL};
	static int64_t start_ms = 1000;
	/* A later one has a later ID. */
	*meta = (struct meta){
		.argv = argv, .cwd = "/", .session = "test", .started_ms = start_ms++};
	struct artifact *made = artifact_create(meta, 0, 0);
	assert_non_null(made);
	assert_int_equal(artifact_append(made, ARTIFACT_OUT, "text\n", 5), 0);
	if (!a)
		meta->state = META_DONE;
	meta->exit_code = exit_code;
	assert_int_equal(artifact_update(made), 0);
	snprintf(id, ID_LEN + 1, "%s", meta->id);
	if (a)
		*a = made;
	else
		artifact_close(made);
}

static struct outbox open_outbox(void)
{
	struct store store;
	struct outbox outbox;
	assert_int_equal(store_open_write(&store), 0);
	assert_int_equal(outbox_open(&outbox, &store, true), 0);
	store_close(&store);
	return outbox;
}

/* Takes the archive away, as the remote's program does. */
static void move(const struct outbox *o, const char *id)
{
	char key[REMOTE_KEY_LEN], path[REMOTE_KEY_LEN + 8];
	remote_key(id, key);
	snprintf(path, sizeof(path), "new/%s", key);
	assert_int_equal(unlinkat(o->dir, path, 0), 0);
}

static bool has_archive(const struct outbox *o, const char *id)
{
	char key[REMOTE_KEY_LEN], path[REMOTE_KEY_LEN + 8];
	remote_key(id, key);
	snprintf(path, sizeof(path), "new/%s", key);
	return io_is_there(o->dir, path);
}

/* Reads a file of the outbox. */
static const char *content(const struct outbox *o, const char *path)
{
	static char text[4 * INDEX_LINE];
	assert_true(unit_read_file(o->dir, path, text, sizeof(text)) >= 0);
	return text;
}

/* The line of a run that is archived. */
static const char *line_of(const struct outbox *o, const char *id)
{
	char path[64];
	snprintf(path, sizeof(path), "lines/%s", id);
	return content(o, path);
}

TEST_IN(wanted_runs_are_archived_when_they_have_ended, home_setup, home_teardown)
{
	char bad[ID_LEN + 1], good[ID_LEN + 1], running[ID_LEN + 1];
	struct meta m, live = {0};
	struct artifact *a;
	struct settings s = settings_with("push", "failed");
	struct outbox outbox = open_outbox();
	assert_false(outbox_has_work(&outbox, false));
	make(1, bad, NULL, &m);
	make(0, good, NULL, &m);
	make(1, running, &a, &live);
	assert_int_equal(outbox_want(&outbox, bad), 0);
	assert_int_equal(outbox_want(&outbox, good), 0);
	assert_int_equal(outbox_want(&outbox, running), 0);
	/* One that is not there any more, and one that never was a session's. */
	assert_int_equal(outbox_want(&outbox, "cmd-000000000000"), 0);
	assert_int_equal(outbox_want(&outbox, "cmd-000000000001"), 0);
	assert_true(outbox_has_work(&outbox, false));
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	assert_int_equal(outbox_look(&outbox).waiting, 1);
	assert_true(has_archive(&outbox, bad));
	assert_true(outbox_has_work(&outbox, false));

	live.state = META_DONE;
	assert_int_equal(artifact_update(a), 0);
	artifact_close(a);
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	assert_int_equal(outbox_look(&outbox).waiting, 2);
	/* While things are moved none is taken out; what has gone is in the index. */
	int lock = outbox_lock(&outbox, "lock", OUTBOX_AT_ONCE);
	assert_false(outbox_drop(&outbox, running));
	assert_true(has_archive(&outbox, running));
	close(lock);
	move(&outbox, bad);
	assert_true(outbox_look(&outbox).index_left);
	assert_int_equal(outbox_index(&outbox, 1000), 1);
	assert_true(outbox_look(&outbox).index_left);
	assert_true(outbox_drop(&outbox, running));
	assert_false(outbox_drop(&outbox, bad));
	assert_int_equal(outbox_look(&outbox).waiting, 0);
	assert_true(outbox_has_work(&outbox, false));
	/* Another process will try again, but for a run that adds something; a clock was set back.
	 */
	for (int minutes = -1; minutes <= 6; minutes++) {
		int fd = store_open_file(outbox.dir, "retry", O_WRONLY | O_CREAT | O_TRUNC);
		dprintf(fd, "1 %lld\n", (long long)clock_real_ms() + minutes * 60000LL - 1000);
		close(fd);
		assert_true(outbox_has_work(&outbox, true));
		assert_int_equal(outbox_has_work(&outbox, false), minutes < 1 || minutes > 5);
	}
	outbox_close(&outbox);
	settings_release(&s);
}

TEST_IN(the_oldest_make_room, home_setup, home_teardown)
{
	char ids[6][ID_LEN + 1];
	struct meta m;
	struct settings s = settings_with("push", "all");
	struct outbox outbox = open_outbox();
	for (int i = 0; i < 6; i++) {
		make(1, ids[i], NULL, &m);
		assert_int_equal(outbox_want(&outbox, ids[i]), 0);
		if (i > 0)
			continue;
		assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
		/* Room for two and a half. */
		s.outbox_max = (int64_t)outbox_look(&outbox).bytes * 5 / 2;
	}
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	assert_int_equal(outbox_look(&outbox).waiting, 2);
	assert_true(has_archive(&outbox, ids[5]));
	assert_int_equal(outbox_look(&outbox).dropped.a, 4);
	/* What was dropped is not said to be pushed. */
	assert_int_equal(outbox_index(&outbox, 1000), 0);
	assert_int_equal(outbox_look(&outbox).waiting, 2);
	/* None is larger than all of it. */
	s.outbox_max = 10;
	make(1, ids[0], NULL, &m);
	assert_int_equal(outbox_want(&outbox, ids[0]), 0);
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	assert_false(has_archive(&outbox, ids[0]));
	assert_int_equal(outbox_look(&outbox).dropped.a, 5);
	outbox_close(&outbox);
	settings_release(&s);
}

/* Also on another machine, where the store is on a volume that survives the first one. */
TEST_IN(labels_are_those_of_the_run, home_setup, home_teardown)
{
	static const char *const labels[] = {"{\"job\":\"4812\",\"team\":\"a\"}",
					     "{\"team\":\"a\"}", "{}"};
	char ids[3][ID_LEN + 1], want[256], host[REMOTE_HOST_LEN + 1];
	struct outbox_origin origin = {.host = ""};
	struct settings s = settings_with("labels", "job=$JOB_ID\nteam=a");
	struct settings none = settings_with("push", "all");
	struct outbox outbox = open_outbox();
	s.push = PUSHING_ALL;
	for (int i = 0; i < 3; i++) {
		struct meta m;
		struct artifact *a;
		make(1, ids[i], &a, &m);
		if (i == 0)
			setenv("JOB_ID", "4812", 1);
		outbox_describe(i < 2 ? &s : &none, &origin, &m);
		unsetenv("JOB_ID");
		m.host = "other-pod";
		m.state = META_DONE;
		assert_int_equal(artifact_update(a), 0);
		artifact_close(a);
		assert_int_equal(outbox_want(&outbox, ids[i]), 0);
	}
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	assert_int_equal(outbox_look(&outbox).waiting, 3);
	for (int i = 0; i < 3; i++) {
		snprintf(want, sizeof(want),
			 "\"host.name\":\"other-pod\",\"labels\":%s,\"object_"
			 "bytes\":",
			 labels[i]);
		assert_non_null(strstr(line_of(&outbox, ids[i]), want));
	}
	remote_host(host);
	assert_string_equal(origin.host, host);
	buffer_release(&origin.labels);
	outbox_close(&outbox);
	settings_release(&s);
	settings_release(&none);
}

/* Whatever step of archiving a process was killed behind. */
TEST_IN(a_run_is_archived_once, home_setup, home_teardown)
{
	char id[ID_LEN + 1], path[64];
	struct meta m;
	struct settings s = settings_with("push", "all");
	struct outbox outbox = open_outbox();
	make(1, id, NULL, &m);
	snprintf(path, sizeof(path), "wanted/%s", id);
	assert_int_equal(outbox_want(&outbox, id), 0);
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	assert_false(io_is_there(outbox.dir, path));
	/* Behind the archive. */
	assert_int_equal(outbox_want(&outbox, id), 0);
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	assert_false(io_is_there(outbox.dir, path));
	/* Behind the line. */
	assert_int_equal(outbox_want(&outbox, id), 0);
	move(&outbox, id);
	close(store_open_file(outbox.dir, ".archive", O_WRONLY | O_CREAT));
	assert_int_equal(outbox_index(&outbox, 1000), 0);
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	assert_false(io_is_there(outbox.dir, ".archive"));
	assert_int_equal(outbox_look(&outbox).waiting, 1);
	assert_false(outbox_look(&outbox).index_left);
	move(&outbox, id);
	assert_int_equal(outbox_index(&outbox, 1000), 1);
	assert_false(io_is_there(outbox.dir, path));
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	assert_int_equal(outbox_look(&outbox).waiting, 0);
	/* What another process archives is left to it. */
	int lock = outbox_lock(&outbox, "adding", OUTBOX_AT_ONCE);
	assert_int_equal(outbox_pack(&outbox, &s, OUTBOX_AT_ONCE), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	close(lock);
	outbox_close(&outbox);
	settings_release(&s);
}

TEST_IN(a_push_leaves_nothing, home_setup, home_teardown)
{
	char id[ID_LEN + 1], objects[80], remote[96];
	struct meta m;
	struct outbox outbox = open_outbox();
	snprintf(objects, sizeof(objects), "%s/objects", home);
	snprintf(remote, sizeof(remote), "file:%s", objects);
	struct settings s = settings_with("remote", remote);
	s.push = PUSHING_ALL;
	make(1, id, NULL, &m);
	assert_int_equal(outbox_want(&outbox, id), 0);
	struct outbox_state result = outbox_push(&outbox, &s, 0);
	assert_int_equal(result.waiting, 1);
	assert_non_null(strstr(result.why, "No such file or directory"));
	assert_int_equal(mkdir(objects, 0700), 0);
	result = outbox_push(&outbox, &s, 0);
	assert_int_equal(result.pushed, 1);
	assert_string_equal(result.why, "");
	assert_false(outbox_has_work(&outbox, false));
	assert_false(io_is_there(outbox.dir, "new"));
	outbox_close(&outbox);
	settings_release(&s);
}

TEST_IN(a_run_is_in_one_segment, home_setup, home_teardown)
{
	const int64_t now = INT64_C(1763762399999); /* 2025-11-21 21:59:59.999 UTC */
	char ids[4][ID_LEN + 1], segment[REMOTE_KEY_LEN], host[REMOTE_HOST_LEN + 1], path[64];
	struct meta m;
	struct settings s = settings_with("push", "all");
	struct outbox outbox = open_outbox();
	for (int i = 0; i < 4; i++) {
		make(1, ids[i], NULL, &m);
		assert_int_equal(outbox_want(&outbox, ids[i]), 0);
	}
	assert_int_equal(outbox_pack(&outbox, &s, 0), 0);
	/* Nothing has gone. */
	assert_int_equal(outbox_index(&outbox, now), 0);
	assert_int_equal(outbox_look(&outbox).waiting, 4);
	assert_false(outbox_look(&outbox).index_left);
	/* Two have gone. */
	char *line = strdup(line_of(&outbox, ids[2]));
	move(&outbox, ids[0]);
	move(&outbox, ids[2]);
	assert_int_equal(outbox_index(&outbox, now), 2);
	remote_host(host);
	snprintf(segment, sizeof(segment), "new/index/2025/11/21/21/%s-%s-2.jsonl", host, ids[0]);
	const char *text = content(&outbox, segment);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_non_null(strstr(text, ids[0]));
	assert_null(strstr(text, ids[1]));
	assert_string_equal(strstr(text, line), line);
	assert_int_equal(outbox_index(&outbox, now), 0);
	assert_int_equal(outbox_look(&outbox).waiting, 2);
	move(&outbox, ids[1]);
	assert_int_equal(outbox_index(&outbox, now), 1);
	snprintf(path, sizeof(path), "lines/%s", ids[1]);
	assert_false(io_is_there(outbox.dir, path));
	assert_int_equal(outbox_index(&outbox, now), 0);
	assert_int_equal(outbox_look(&outbox).waiting, 1);
	free(line);
	outbox_close(&outbox);
	settings_release(&s);
}

TEST_IN(lines_stay_short, home_setup, home_teardown)
{
	static char word[100000], *argv[] = {word, word, NULL};
	struct meta m;
	struct settings s = settings_with("labels", "a=$LONG\nb=c");
	struct outbox_origin origin = {.host = ""};
	struct buffer line = BUFFER_INIT, want = BUFFER_INIT;
	char id[ID_LEN + 1];
	make(1, id, NULL, &m);
	m.argv = argv;
	m.cwd = word;
	memset(word, '\x01', sizeof(word) - 1);
	setenv("LONG", word, 1);
	outbox_describe(&s, &origin, &m);
	m.object_bytes = 7;
	meta_encode(&line, &m, INDEX_COMMAND);
	buffer_append_string(&line, "\n");
	assert_true(line.len < INDEX_LINE);
	buffer_append_string(&want, "\"labels\":{\"a\":\"");
	for (int i = 0; i < LABEL_MAX; i++)
		buffer_append_string(&want, "\\u0001");
	buffer_append_string(&want, "\",\"b\":\"c\"},\"object_bytes\":7}\n");
	assert_true(line.len > want.len);
	assert_memory_equal(line.data + line.len - want.len, want.data, want.len);
	unsetenv("LONG");
	buffer_release(&line);
	buffer_release(&want);
	buffer_release(&origin.labels);
	settings_release(&s);
}

TEST_MAIN(NULL, NULL)
