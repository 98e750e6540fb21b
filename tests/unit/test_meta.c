// Metadata: written and read back, cut, damaged, of a run that is gone.

#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"
#include "tests/unit/home.h"
#include "tests/unit/unit.h"

#include <jansson.h>
#include <signal.h>
#include <sys/syscall.h>

#define ID "cmd-0123456789ab"

/* The disk is full: the library's renames fail. */
static bool full;

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	if (full) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

static struct store store;
static int dir;

static int setup(void **state)
{
	if (home_setup(state) < 0 || store_open_write(&store) < 0)
		return -1;
	dir = store_open_session(&store, "x", true);
	return dir < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	close(dir);
	store_close(&store);
	return home_teardown(state);
}

static char *command[] = {(char *)"make", (char *)"-j8", (char *)"", (char *)"a \"b\"\n\x1b[m",
			  NULL};

static struct meta example(void)
{
	return (struct meta){
		.id = ID,
		.argv = command,
		.cwd = "/src/\xC3\xA9",
		.session = "x",
		.started_ms = 1760000000123,
		.ended_ms = 1760000001123,
		.duration_ms = 1000,
		.state = META_DONE,
		.exit_code = 2,
		.cols = 160,
		.rows = 50,
		.supervisor = 123,
		.command = 124,
		.out = {.bytes = 1000, .lines = 50, .present = true},
	};
}

static void check_same_stream(const struct meta_stream *a, const struct meta_stream *b)
{
	assert_int_equal(a->present, b->present);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->lines, b->lines);
	assert_int_equal(a->error, b->error);
	assert_int_equal(a->gap_from, b->gap_from);
	assert_int_equal(a->gap_to, b->gap_to);
	assert_int_equal(a->gap_offset, b->gap_offset);
	assert_int_equal(a->gap_bytes, b->gap_bytes);
}

static void check_same(const struct meta *a, const struct meta *b)
{
	assert_string_equal(a->id, b->id);
	assert_string_equal(a->cwd, b->cwd);
	assert_string_equal(a->session, b->session);
	size_t i = 0;
	for (; a->argv[i]; i++)
		assert_string_equal(a->argv[i], b->argv[i]);
	assert_null(b->argv[i]);
	assert_int_equal(a->started_ms, b->started_ms);
	assert_int_equal(a->ended_ms, b->ended_ms);
	assert_int_equal(a->duration_ms, b->duration_ms);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->exit_code, b->exit_code);
	assert_int_equal(a->signal, b->signal);
	assert_int_equal(a->timed_out, b->timed_out);
	assert_int_equal(a->binary, b->binary);
	assert_int_equal(a->cut, b->cut);
	assert_int_equal(a->cols, b->cols);
	assert_int_equal(a->rows, b->rows);
	assert_int_equal(a->supervisor, b->supervisor);
	assert_int_equal(a->command, b->command);
	assert_int_equal(a->raw_bytes, b->raw_bytes);
	check_same_stream(&a->out, &b->out);
	check_same_stream(&a->err, &b->err);
}

static char *many_characters(const char *what, size_t times)
{
	char *text = malloc(strlen(what) * times + 1);
	assert_non_null(text);
	for (size_t i = 0; i < times; i++)
		memcpy(text + i * strlen(what), what, strlen(what));
	text[strlen(what) * times] = '\0';
	return text;
}

static void check_round_trip(const struct meta *m)
{
	struct meta back;
	assert_int_equal(meta_write(dir, m), 0);
	assert_int_equal(meta_read(dir, m->id, &back), 0);
	check_same(m, &back);
	meta_release(&back);
	assert_int_equal(faccessat(dir, "." ID ".json", F_OK, 0), -1);
}

TEST_IN(test_round_trip, setup, teardown)
{
	struct meta m = example();
	check_round_trip(&m);
	m.exit_code = -1;
	m.signal = SIGSEGV;
	m.timed_out = m.binary = true;
	m.raw_bytes = UINT64_C(1) << 40;
	m.out.gap_from = 7;
	m.out.gap_to = 70000;
	m.out.gap_offset = 100;
	m.out.gap_bytes = UINT64_C(1) << 35;
	m.err = (struct meta_stream){.present = true, .bytes = 1, .lines = 1, .error = ENOSPC};
	check_round_trip(&m);
	m.state = META_INTERRUPTED;
	check_round_trip(&m);
	char *none[] = {NULL};
	m.argv = none;
	check_round_trip(&m);
}

TEST_IN(test_full_disk, setup, teardown)
{
	struct meta m = example();
	full = true;
	assert_int_equal(meta_write(dir, &m), -1);
	full = false;
	assert_int_equal(meta_write(dir, &m), 0);
	full = true;
	char *words[] = {(char *)"a command that is longer than before, but not by so much", NULL};
	char *word[] = {(char *)"x", NULL};
	m.argv = words;
	m.cwd = "/src";
	check_round_trip(&m);
	m.argv = word;
	check_round_trip(&m);
	/* More than the file's blocks hold: what was there stays. */
	char *text = many_characters("x", 50000);
	char *argv[] = {text, NULL};
	struct meta large = m, back;
	large.argv = argv;
	assert_int_equal(meta_write(dir, &large), -1);
	assert_int_equal(meta_read(dir, ID, &back), 0);
	check_same(&m, &back);
	meta_release(&back);
	free(text);
	full = false;
}

TEST_IN(test_leftover_temporary, setup, teardown)
{
	struct meta m = example();
	close(openat(dir, "." ID ".json", O_CREAT | O_WRONLY, 0600));
	check_round_trip(&m);
	/* A planted link is replaced, not followed. */
	char victim[128];
	snprintf(victim, sizeof(victim), "%s/victim", home);
	close(open(victim, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(symlinkat(victim, dir, "." ID ".json"), 0);
	check_round_trip(&m);
	assert_int_equal(unlinkat(dir, ID ".json", 0), 0);
	assert_int_equal(symlinkat(victim, dir, ID ".json"), 0);
	struct meta back;
	assert_int_equal(meta_read(dir, ID, &back), -1);
	check_round_trip(&m);
	struct stat st;
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 0);
}

TEST_IN(test_invalid_utf8, setup, teardown)
{
	char *argv[] = {(char *)"caf\xE9", (char *)"\xED\xA0\x80", (char *)"\xC3\xA9", NULL};
	struct meta m = example(), back;
	m.argv = argv;
	m.cwd = "/\xFF";
	assert_int_equal(meta_write(dir, &m), 0);
	assert_int_equal(meta_read(dir, ID, &back), 0);
	assert_string_equal(back.argv[0], "caf\xEF\xBF\xBD");
	assert_string_equal(back.argv[2], "\xC3\xA9");
	assert_string_equal(back.cwd, "/\xEF\xBF\xBD");
	meta_release(&back);
}

TEST_IN(test_huge_command, setup, teardown)
{
	static const char *const what[] = {"x", "\xE2\x82\xAC", "\x01", "\xFF", "\""};
	for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++) {
		char *text = many_characters(what[i], 1000000);
		char *argv[] = {(char *)"sh", (char *)"-c", text, (char *)"more", NULL};
		struct meta m = example(), back;
		m.argv = argv;
		assert_int_equal(meta_write(dir, &m), 0);
		assert_int_equal(meta_read(dir, ID, &back), 0);
		assert_true(back.cut);
		assert_string_equal(back.argv[1], "-c");
		assert_true(strlen(back.argv[2]) > 100000);
		if (*what[i] != '\xFF')
			assert_int_equal(strlen(back.argv[2]) % strlen(what[i]), 0);
		assert_null(back.argv[3]);
		meta_release(&back);
		free(text);
	}
}

TEST_IN(test_many_arguments, setup, teardown)
{
	enum { COUNT = 200000 };
	char **argv = calloc(COUNT + 1, sizeof(*argv));
	for (size_t i = 0; i < COUNT; i++)
		argv[i] = (char *)"";
	struct meta m = example(), back;
	m.argv = argv;
	assert_int_equal(meta_write(dir, &m), 0);
	assert_int_equal(meta_read(dir, ID, &back), 0);
	assert_true(back.cut);
	meta_release(&back);
	free(argv);
}

TEST_IN(test_damaged, setup, teardown)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"null",
		"{}",
		"{\"id\":1,\"state\":\"done\"}",
		"{\"id\":\"../../etc/passwd\",\"state\":\"done\"}",
		"{\"id\":\"" ID "0\",\"state\":\"done\"}",
		"{\"id\":\"" ID "\",\"state\":\"gone\"}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"startTimeUnixNano\":-1}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"startTimeUnixNano\":1e300}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"startTimeUnixNano\":99999999999999999999}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"process.exit.code\":256}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"signal\":1000}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"timed_out\":3}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"process.command_args\":\"x\"}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"process.command_args\":[1]}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"process.working_directory\":[]}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"process.working_directory\":\"\\u0000\"}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"stdout\":3}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"stdout\":{\"gap\":{}}}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"stdout\":{\"gap\":{\"from\":9,\"to\":8}}}",
		"{\"id\":\"" ID "\",\"state\":\"done\",\"stdout\":{\"gap\":{\"from\":1,\"to\":8,"
		"\"offset\":9223372036854775807,\"bytes\":9223372036854775807}}}",
		"{\"id\":\"cmd-000000000000\",\"state\":\"done\"}",
		"{\"id\":\"\",\"state\":\"done\"}",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct meta m;
		int fd = openat(dir, ID ".json", O_CREAT | O_TRUNC | O_WRONLY, 0600);
		assert_int_equal(write(fd, bad[i], strlen(bad[i])), (ssize_t)strlen(bad[i]));
		close(fd);
		errno = 0;
		assert_int_equal(meta_read(dir, ID, &m), -1);
		assert_int_equal(errno, EBADMSG);
	}
	/* Deeply nested, and too large. */
	static const char *const what[] = {"[", " "};
	for (size_t i = 0; i < 2; i++) {
		char *text = many_characters(what[i], META_MAX + 10);
		struct meta m;
		int fd = openat(dir, ID ".json", O_CREAT | O_TRUNC | O_WRONLY, 0600);
		size_t len = strlen(text) - 20 * (i == 0);
		assert_int_equal(write(fd, text, len), (ssize_t)len);
		close(fd);
		assert_int_equal(meta_read(dir, ID, &m), -1);
		assert_int_equal(errno, EBADMSG);
		free(text);
	}
	struct meta m;
	assert_int_equal(meta_read(dir, "cmd-zzzzzzzzzzzz", &m), -1);
	assert_int_equal(errno, ENOENT);
}

TEST_IN(test_unknown_fields, setup, teardown)
{
	static const char text[] = "{\"id\":\"" ID "\",\"state\":\"done\",\"new\":{\"x\":[1,2]}}";
	struct meta m;
	assert_int_equal(meta_parse(text, strlen(text), &m), 0);
	assert_string_equal(m.cwd, "");
	assert_null(m.argv[0]);
	assert_int_equal(m.exit_code, -1);
	meta_release(&m);
}

static json_t *next_line(FILE *f)
{
	char line[META_LINE + 2];
	if (!fgets(line, sizeof(line), f))
		return NULL;
	assert_true(strlen(line) <= META_LINE);
	assert_int_equal(line[strlen(line) - 1], '\n');
	json_t *o = json_loads(line, 0, NULL);
	assert_non_null(o);
	return o;
}

TEST_IN(test_history, setup, teardown)
{
	static const char *const what[] = {"x", "\x01", "\xFF", "\xF0\x9F\x98\x80"};
	char *cwd = many_characters("\x01", 4000);
	struct meta m = example();
	assert_int_equal(journal_add_run(dir, &m, false), 0);
	m.id[0] = '\0';
	for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++) {
		char *text = many_characters(what[i], 100000);
		char *argv[] = {text, text, NULL};
		m.argv = argv;
		m.cwd = i % 2 ? cwd : "/";
		assert_int_equal(journal_add_run(dir, &m, false), 0);
		free(text);
	}
	free(cwd);
	m.argv = command;
	m.cwd = "/";
	int fd = openat(dir, JOURNAL_FILE, O_RDONLY);
	FILE *f = fdopen(fd, "r");
	assert_non_null(f);
	json_t *o = next_line(f);
	assert_string_equal(json_string_value(json_object_get(o, "id")), ID);
	assert_int_equal(json_array_size(json_object_get(o, "process.command_args")), 4);
	assert_null(json_object_get(o, "command_cut"));
	json_decref(o);
	for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++) {
		o = next_line(f);
		assert_string_equal(json_string_value(json_object_get(o, "id")), "");
		assert_true(json_is_true(json_object_get(o, "command_cut")));
		json_decref(o);
	}
	assert_null(next_line(f));
	fclose(f);
	/* Not through a link. */
	assert_int_equal(unlinkat(dir, JOURNAL_FILE, 0), 0);
	assert_int_equal(symlinkat("elsewhere", dir, JOURNAL_FILE), 0);
	assert_int_equal(journal_add_run(dir, &m, false), -1);
	assert_int_equal(faccessat(dir, "elsewhere", F_OK, 0), -1);
}

TEST_IN(test_states_of_a_run, setup, teardown)
{
	char *argv[] = {(char *)"true", NULL};
	struct meta m = {
		.argv = argv, .cwd = "/", .session = "x", .started_ms = 1, .exit_code = -1};
	struct meta back;
	struct artifact *a = artifact_create(&m, 0, 0);
	assert_non_null(a);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "one\ntwo\n", 8), 0);
	assert_int_equal(artifact_append(a, ARTIFACT_ERR, "e\n", 2), 0);
	assert_int_equal(artifact_update(a), 0);
	assert_int_equal(meta_read(dir, m.id, &back), 0);
	assert_int_equal(back.state, META_RUNNING);
	assert_int_equal(back.exit_code, -1);
	assert_int_equal(back.ended_ms, 0);
	assert_int_equal(back.out.bytes, 8);
	assert_true(back.err.present);
	assert_int_equal(back.err.bytes, 2);
	meta_release(&back);

	/* The supervisor is gone without a word. */
	artifact_close(a);
	assert_int_equal(meta_read(dir, m.id, &back), 0);
	assert_int_equal(back.state, META_INTERRUPTED);
	assert_int_equal(back.out.bytes, 8);
	assert_true(back.ended_ms > 1760000000000);
	assert_int_equal(back.duration_ms, back.ended_ms - 1);
	meta_release(&back);

	/* Without its text there is nobody to ask, either. */
	char name[ID_LEN + 5];
	snprintf(name, sizeof(name), "%s.txt", m.id);
	assert_int_equal(unlinkat(dir, name, 0), 0);
	assert_int_equal(meta_read(dir, m.id, &back), 0);
	assert_int_equal(back.state, META_INTERRUPTED);
	meta_release(&back);
}

TEST_MAIN(NULL, NULL)
