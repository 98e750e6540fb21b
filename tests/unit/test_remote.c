// The remote's programs and keys, and what waits in the spool.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/option.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/remote/catalog.h"
#include "supervisor/remote/origin.h"
#include "supervisor/remote/packing.h"
#include "supervisor/remote/pusher.h"
#include "tests/unit/home.h"

static struct settings settings_with(const char *key, const char *value)
{
	struct settings s;
	struct option_error error;
	assert_int_equal(settings_init(&s), 0);
	assert_int_equal(option_set(&s, option_by_key("remote", key), value, &error), 0);
	return s;
}

/* The arguments of a transfer, with bars between. */
static const char *arguments(const char *key, const char *value, enum remote_work work)
{
	static char text[1024];
	struct remote r;
	struct settings s = settings_with(key, value);
	const struct remote_object o = {.file = "/F", .key = "K", .id = "I", .host = "H"};
	assert_int_equal(remote_init(&r, &s), 0);
	assert_true(remote_can(&r, work));
	char **argv = remote_arguments(&r.commands[work], &o);
	assert_non_null(argv);
	*text = '\0';
	for (char **a = argv; *a; a++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s|", *a);
	free(argv);
	remote_release(&r);
	settings_release(&s);
	return text;
}

static void assert_ends(const char *text, const char *end)
{
	assert_true(strlen(text) >= strlen(end));
	assert_string_equal(text + strlen(text) - strlen(end), end);
}

static void kinds_have_programs(void **state)
{
	(void)state;
	assert_ends(arguments("remote", "rclone:fleet:a b/it's/", REMOTE_PUSH),
		    "|--quiet|copyto|/F|fleet:a b/it's/K|");
	assert_ends(arguments("remote", "rclone:fleet:top", REMOTE_PULL),
		    "|--quiet|copyto|fleet:top/K|/F|");
	assert_ends(arguments("remote", "rclone:fleet:top", REMOTE_LIST),
		    "|--include|H*|copy|fleet:top/K|/F|");
	assert_string_equal(arguments("remote", "s3://b/p", REMOTE_PUSH),
			    "aws|s3|cp|--only-show-errors|/F|s3://b/p/K|");
	assert_ends(arguments("remote", "s3://b/p", REMOTE_LIST),
		    "|--exclude|*|--include|H*|s3://b/p/K/|/F|");
}

static void words_are_filled_in(void **state)
{
	(void)state;
	assert_string_equal(arguments("push_command",
				      "put '{file}' x{id}{id} {{key}} \"$A {host}\"", REMOTE_PUSH),
			    "put|/F|xII|{K}|$A H|");
	/* A session that is not known is empty. */
	assert_string_equal(arguments("push_command", "put {file} {key} '{session}'", REMOTE_PUSH),
			    "put|/F|K||");
}

static void a_command_alone_is_a_remote(void **state)
{
	struct remote r;
	struct settings s = settings_with("pull_command", "get {key} {file}");
	(void)state;
	assert_true(remote_is_set(&s));
	assert_false(remote_pushes(&s));
	assert_int_equal(remote_init(&r, &s), 0);
	assert_false(remote_can(&r, REMOTE_PUSH));
	assert_true(remote_can(&r, REMOTE_PULL));
	assert_string_equal(remote_name(&r), "the remote");
	remote_release(&r);
	settings_release(&s);
}

static void the_day_is_in_the_id(void **state)
{
	char key[REMOTE_KEY_LEN], id[ID_LEN + 1], want[REMOTE_KEY_LEN];
	(void)state;
	id_unpack(id_first_at(INT64_C(1763762399999)), id); /* 2025-11-21 21:59:59.999 UTC */
	remote_key(id, key);
	snprintf(want, sizeof(want), "artifacts/2025-11-21/%s.tar.zst", id);
	assert_string_equal(key, want);
}

static void names_are_clean(void **state)
{
	char name[8];
	(void)state;
	remote_clean_name("../a b", name, sizeof(name));
	assert_string_equal(name, "_._a_b");
	remote_clean_name("-x.y-z0123", name, sizeof(name));
	assert_string_equal(name, "_x.y-z0");
}

static void delays_grow_up_to_a_limit(void **state)
{
	(void)state;
	assert_int_equal(pusher_delay(0), 1000);
	assert_int_equal(pusher_delay(1), 1000);
	assert_int_equal(pusher_delay(2), 2000);
	assert_int_equal(pusher_delay(5), 16000);
	assert_int_equal(pusher_delay(9), 256000);
	assert_int_equal(pusher_delay(10), 300000);
	assert_int_equal(pusher_delay(UINT64_MAX), 300000);
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
	snprintf(id, ID_LEN + 1, "%s", artifact_id(made));
	if (a)
		*a = made;
	else
		artifact_close(made);
}

static struct spool open_spool(void)
{
	struct store store;
	struct spool spool;
	assert_int_equal(store_open_write(&store), 0);
	assert_int_equal(spool_open(&spool, &store, true), 0);
	store_close(&store);
	return spool;
}

static size_t archives(const struct spool *s)
{
	struct spool_item *items;
	size_t count;
	assert_int_equal(spool_list(s, &items, &count), 0);
	for (size_t i = 1; i < count; i++)
		assert_true(items[i - 1].id < items[i].id);
	free(items);
	return count;
}

static void wanted_runs_are_packed_when_they_have_ended(void **state)
{
	char bad[ID_LEN + 1], good[ID_LEN + 1], running[ID_LEN + 1];
	struct meta m, live = {0};
	struct artifact *a;
	struct settings s = settings_with("push", "failed");
	struct spool spool = open_spool();
	(void)state;
	assert_false(spool_has_work(&spool));
	make(1, bad, NULL, &m);
	make(0, good, NULL, &m);
	make(1, running, &a, &live);
	assert_int_equal(spool_want(&spool, &s, "test", bad), 0);
	assert_int_equal(spool_want(&spool, &s, "test", good), 0);
	assert_int_equal(spool_want(&spool, &s, "test", running), 0);
	/* One that is not there any more, and one that never was a session's. */
	assert_int_equal(spool_want(&spool, &s, "test", "cmd-000000000000"), 0);
	assert_int_equal(spool_want(&spool, &s, "../x", "cmd-000000000001"), 0);
	assert_true(spool_has_work(&spool));
	assert_int_equal(packing_all(&spool, &s), 0);
	assert_int_equal(archives(&spool), 1);
	assert_true(spool_has_archive(&spool, bad));
	spool_rest(&spool);
	assert_true(spool_has_work(&spool));

	live.state = META_DONE;
	assert_int_equal(artifact_update(a), 0);
	artifact_close(a);
	assert_int_equal(packing_all(&spool, &s), 0);
	assert_int_equal(archives(&spool), 2);
	spool_done(&spool, bad);
	spool_done(&spool, running);
	spool_rest(&spool);
	assert_false(spool_has_work(&spool));
	spool_close(&spool);
	settings_release(&s);
}

static void the_oldest_make_room(void **state)
{
	char ids[6][ID_LEN + 1];
	struct meta m;
	struct settings s = settings_with("push", "all");
	struct spool spool = open_spool();
	struct spool_item *items;
	size_t count;
	(void)state;
	for (int i = 0; i < 6; i++) {
		make(1, ids[i], NULL, &m);
		assert_int_equal(spool_want(&spool, &s, "test", ids[i]), 0);
		if (i > 0)
			continue;
		assert_int_equal(packing_all(&spool, &s), 0);
		assert_int_equal(spool_list(&spool, &items, &count), 0);
		assert_int_equal(count, 1);
		/* Room for two and a half. */
		s.spool_max = (int64_t)items[0].bytes * 5 / 2;
		free(items);
	}
	assert_int_equal(packing_all(&spool, &s), 0);
	assert_int_equal(archives(&spool), 2);
	assert_true(spool_has_archive(&spool, ids[5]));
	assert_int_equal(spool_read(&spool, SPOOL_DROPPED).a, 4);
	/* None is larger than all of it. */
	s.spool_max = 10;
	make(1, ids[0], NULL, &m);
	assert_int_equal(spool_want(&spool, &s, "test", ids[0]), 0);
	assert_int_equal(packing_all(&spool, &s), 0);
	assert_false(spool_has_archive(&spool, ids[0]));
	assert_int_equal(spool_read(&spool, SPOOL_DROPPED).a, 5);
	spool_close(&spool);
	settings_release(&s);
}

static void labels_are_those_of_the_run(void **state)
{
	const char *values[] = {"4812", "4813"};
	char ids[3][ID_LEN + 1], name[SPOOL_ENTRY_LEN + 1], text[4096];
	struct meta m;
	struct settings s = settings_with("labels", "job=$JOB_ID\nteam=a");
	struct settings none = settings_with("push", "all");
	struct spool spool = open_spool();
	(void)state;
	s.push = PUSHING_ALL;
	for (int i = 0; i < 3; i++) {
		make(1, ids[i], NULL, &m);
		if (i < 2)
			setenv("JOB_ID", values[i], 1);
		assert_int_equal(spool_want(&spool, i < 2 ? &s : &none, "test", ids[i]), 0);
	}
	/* The process that packs them is another one. */
	unsetenv("JOB_ID");
	assert_int_equal(packing_all(&spool, &s), 0);
	assert_int_equal(archives(&spool), 3);
	for (int i = 0; i < 3; i++) {
		char want[64] = "\"labels\":{},";
		if (i < 2)
			snprintf(want, sizeof(want), "\"labels\":{\"job\":\"%s\",\"team\":\"a\"},",
				 values[i]);
		spool_entry(ids[i], name);
		assert_true(io_read_file(spool.dir, name, text, sizeof(text)) > 0);
		assert_non_null(strstr(text, want));
	}
	spool_close(&spool);
	settings_release(&s);
	settings_release(&none);
}

/* A store on a volume that survives its machine: the run is packed on another one. */
static void the_host_is_that_of_the_run(void **state)
{
	const char *places[] = {"test/other-pod", "test/other-pod\n{\"a\":\"b\"}", "test",
				"test/../x"};
	const char *hosts[] = {"other-pod", "other-pod", NULL, "_._x"};
	char here[REMOTE_HOST_LEN + 1], id[ID_LEN + 1], name[SPOOL_ENTRY_LEN + 1], text[4096];
	struct meta m;
	struct settings s = settings_with("push", "all");
	struct spool spool = open_spool();
	(void)state;
	remote_host(here);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char want[128];
		make(1, id, NULL, &m);
		if (strchr(places[i], '\n')) {
			int fd = store_open_file(spool.dir, id, O_WRONLY | O_CREAT);
			assert_int_equal(write(fd, places[i], strlen(places[i])),
					 strlen(places[i]));
			close(fd);
		} else {
			assert_int_equal(symlinkat(places[i], spool.dir, id), 0);
		}
		assert_int_equal(packing_all(&spool, &s), 0);
		spool_entry(id, name);
		assert_true(io_read_file(spool.dir, name, text, sizeof(text)) > 0);
		snprintf(want, sizeof(want), "\"host\":\"%s\",\"container\":%s",
			 hosts[i] ? hosts[i] : here, hosts[i] ? "null," : "");
		assert_non_null(strstr(text, want));
	}
	spool_close(&spool);
	settings_release(&s);
}

static void damaged_labels_are_none(void **state)
{
	const char *texts[] = {"test\n{\"a\":", "test\n[]", "test\n", "test", ""};
	char id[ID_LEN + 1], name[SPOOL_ENTRY_LEN + 1], text[4096];
	struct meta m;
	struct settings s = settings_with("push", "all");
	struct spool spool = open_spool();
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		make(1, id, NULL, &m);
		assert_int_equal(spool_want(&spool, &s, "test", id), 0);
		spool_forget(&spool, id);
		int fd = store_open_file(spool.dir, id, O_WRONLY | O_CREAT);
		assert_int_equal(write(fd, texts[i], strlen(texts[i])), strlen(texts[i]));
		close(fd);
		assert_int_equal(packing_all(&spool, &s), 0);
		/* Without a session there is no run. */
		bool is_run = strchr(texts[i], '\n');
		assert_int_equal(spool_has_archive(&spool, id), is_run);
		spool_entry(id, name);
		if (is_run)
			assert_true(io_read_file(spool.dir, name, text, sizeof(text)) > 0 &&
				    strstr(text, "\"labels\":{},"));
		assert_false(io_is_there(spool.dir, id));
	}
	spool_close(&spool);
	settings_release(&s);
}

/* A process that packs a run which another one has just packed changes nothing. */
static void the_first_who_packs_a_run_wins(void **state)
{
	char id[ID_LEN + 1], name[SPOOL_ENTRY_LEN + 1], text[4096];
	struct meta m;
	struct settings s = settings_with("push", "all");
	struct spool spool = open_spool();
	(void)state;
	make(1, id, NULL, &m);
	assert_int_equal(spool_want(&spool, &s, "test", id), 0);
	assert_int_equal(packing_all(&spool, &s), 0);
	spool_entry(id, name);
	int fd = store_open_file(spool.dir, name, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, "the first", 9), 9);
	close(fd);
	assert_int_equal(spool_want(&spool, &s, "test", id), 0);
	assert_int_equal(packing_all(&spool, &s), 0);
	assert_int_equal(io_read_file(spool.dir, name, text, sizeof(text)), 9);
	assert_int_equal(archives(&spool), 1);
	assert_false(io_is_there(spool.dir, id));
	spool_close(&spool);
	settings_release(&s);
}

static void runs_that_have_just_ended_are_waited_for(void **state)
{
	const int64_t hour = 3600 * 1000;
	struct spool spool = open_spool();
	(void)state;
	int one = spool_hold(&spool), two = spool_hold(&spool);
	assert_true(one >= 0 && two >= 0);
	int64_t until = clock_monotonic_ms() + 5;
	spool_settle(&spool, until);
	assert_true(clock_monotonic_ms() >= until);
	close(one);
	close(two);
	spool_settle(&spool, clock_monotonic_ms() + hour);
	one = spool_hold(&spool);
	assert_true(one >= 0);
	close(one);
	spool_close(&spool);
}

static void a_crash_leaves_nothing(void **state)
{
	struct spool spool = open_spool();
	(void)state;
	const char *names[] = {".cmd-000000000000.77", "cmd-000000000000.tar.zst.filtered",
			       "cmd-000000000000.tar.zst"};
	for (size_t i = 0; i < 3; i++)
		close(store_open_file(spool.dir, names[i], O_WRONLY | O_CREAT));
	spool_sweep(&spool);
	assert_int_equal(faccessat(spool.dir, names[0], F_OK, 0), -1);
	assert_int_equal(faccessat(spool.dir, names[1], F_OK, 0), -1);
	assert_int_equal(archives(&spool), 1);
	spool_close(&spool);
}

static void containers_are_found_by_their_mounts(void **state)
{
	static const char docker[] =
		"719 708 254:1 /var/lib/docker/containers/"
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/hostname "
		"/etc/hostname rw - ext4 /dev/vda1 rw\n";
	static const char none[] = "22 1 0:20 / /proc rw - proc proc rw\n"
				   "23 1 8:1 /containers/0123/x /etc/hosts rw - ext4 x rw\n";
	char id[ORIGIN_CONTAINER + 1];
	(void)state;
	assert_true(origin_container(docker, id));
	assert_string_equal(id, "0123456789ab");
	assert_false(origin_container(none, id));
	assert_false(origin_container("", id));
}

/* The lines of the hour in which `now_ms` is. */
static size_t index_lines(const struct spool *s, const char *hour)
{
	char name[64], text[8192];
	size_t lines = 0;
	snprintf(name, sizeof(name), "index.%s", hour);
	ssize_t n = io_read_file(s->dir, name, text, sizeof(text));
	for (ssize_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

static void an_hour_has_each_run_once(void **state)
{
	const int64_t now = INT64_C(1763762399999); /* 2025-11-21 21:59:59.999 UTC */
	char ids[2][ID_LEN + 1];
	struct meta m;
	struct settings s = settings_with("push", "all");
	struct spool spool = open_spool();
	(void)state;
	for (int i = 0; i < 2; i++) {
		make(1, ids[i], NULL, &m);
		assert_int_equal(spool_want(&spool, &s, "test", ids[i]), 0);
	}
	assert_int_equal(packing_all(&spool, &s), 0);
	assert_false(catalog_is_dirty(&spool));
	assert_int_equal(catalog_add(&spool, ids[0], now), 0);
	assert_true(catalog_is_dirty(&spool));
	assert_int_equal(catalog_add(&spool, ids[0], now), 0);
	assert_int_equal(index_lines(&spool, "2025-11-21.21"), 1);

	/* A process was killed in the middle of a line. */
	int fd = store_open_file(spool.dir, "index.2025-11-21.21", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"run", 5), 5);
	close(fd);
	assert_int_equal(catalog_add(&spool, ids[1], now), 0);
	assert_int_equal(index_lines(&spool, "2025-11-21.21"), 3);
	assert_int_equal(catalog_add(&spool, ids[1], now + 1), 0);
	assert_int_equal(index_lines(&spool, "2025-11-21.22"), 1);

	char session[STORE_SESSION_LEN + 1];
	catalog_session(&spool, ids[1], session);
	assert_string_equal(session, "test");
	/* One without a line is pushed all the same. */
	assert_int_equal(catalog_add(&spool, "cmd-000000000000", now), 0);
	spool_close(&spool);
	settings_release(&s);
}

static void lines_stay_short(void **state)
{
	static char word[100000], *argv[] = {word, word, NULL};
	struct meta m = {.argv = argv, .cwd = word, .session = "test", .id = "cmd-000000000000"};
	struct settings s = settings_with("labels", "a=$LONG\nb=c");
	struct buffer line = BUFFER_INIT, labels = BUFFER_INIT, want = BUFFER_INIT;
	(void)state;
	memset(word, '\x01', sizeof(word) - 1);
	setenv("LONG", word, 1);
	origin_add_labels(&labels, &s);
	assert_int_equal(catalog_encode(&line, &m, &labels, "host", 7), 0);
	assert_true(line.len < CATALOG_LINE);
	buffer_append_string(&want, "\"labels\":{\"a\":\"");
	for (int i = 0; i < LABEL_MAX; i++)
		buffer_append_string(&want, "\\u0001");
	buffer_append_string(&want, "\",\"b\":\"c\"},\"object_bytes\":7}");
	assert_ends(buffer_string(&line), buffer_string(&want));
	unsetenv("LONG");
	buffer_release(&line);
	buffer_release(&labels);
	buffer_release(&want);
	settings_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_have_programs),
		cmocka_unit_test(words_are_filled_in),
		cmocka_unit_test(a_command_alone_is_a_remote),
		cmocka_unit_test(the_day_is_in_the_id),
		cmocka_unit_test(names_are_clean),
		cmocka_unit_test(delays_grow_up_to_a_limit),
		cmocka_unit_test(containers_are_found_by_their_mounts),
		cmocka_unit_test(lines_stay_short),
		cmocka_unit_test_setup_teardown(wanted_runs_are_packed_when_they_have_ended,
						home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(the_oldest_make_room, home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(an_hour_has_each_run_once, home_setup,
						home_teardown),
		cmocka_unit_test_setup_teardown(labels_are_those_of_the_run, home_setup,
						home_teardown),
		cmocka_unit_test_setup_teardown(the_host_is_that_of_the_run, home_setup,
						home_teardown),
		cmocka_unit_test_setup_teardown(damaged_labels_are_none, home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(the_first_who_packs_a_run_wins, home_setup,
						home_teardown),
		cmocka_unit_test_setup_teardown(runs_that_have_just_ended_are_waited_for,
						home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(a_crash_leaves_nothing, home_setup, home_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
