// Calling the verbs that read in a test, and what they printed. Include after cmocka.h.
#ifndef TERSE_TESTS_UNIT_SEARCH_H
#define TERSE_TESTS_UNIT_SEARCH_H

#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/command/verb.h"
#include "tests/unit/home.h"
#include "tests/unit/unit.h"

#include <sys/socket.h>

#define WORDS_MAX 24

static struct settings settings;
static struct meta meta;
static struct buffer out, err; /* what the last call printed */

static char *command[] = {(char *)"make", NULL};

static inline int setup(void **state)
{
	settings = (struct settings){0};
	int result = home_setup(state);
	return result == 0 ? chdir(home) : result;
}

static inline int teardown(void **state)
{
	buffer_release(&out);
	buffer_release(&err);
	return chdir("/") == 0 ? home_teardown(state) : -1;
}

static inline void write_file(const char *name, const char *data, size_t len)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static inline struct artifact *create(const char *session, uint64_t max)
{
	meta = (struct meta){.argv = command,
			     .session = session,
			     .cwd = "/",
			     .started_ms = clock_real_ms(),
			     .exit_code = -1};
	struct artifact *a = artifact_create(&meta, max, 0);
	assert_non_null(a);
	return a;
}

static inline void finish(struct artifact *a)
{
	meta.state = META_DONE;
	meta.exit_code = 0;
	assert_int_equal(artifact_update(a), 0);
	artifact_close(a);
}

static inline void make(const char *session, const char *text)
{
	struct artifact *a = create(session, 0);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, text, strlen(text)), 0);
	finish(a);
}

static inline void load(int fd, struct buffer *b)
{
	char data[4096];
	ssize_t n;
	buffer_clear(b);
	while ((n = recv(fd, data, sizeof(data), MSG_DONTWAIT)) > 0)
		buffer_append(b, data, (size_t)n);
	assert_non_null(buffer_string(b));
	close(fd);
}

static inline int run_verb(int argc, char **argv)
{
	struct verb_call c = {
		.verb = verb_named(argv[0]), .settings = &settings, .argc = argc, .argv = argv};
	assert_non_null(c.verb);
	return c.verb->run(&c);
}

/* Calls the verb with these words; its output goes to sockets, as an agent's does. */
static inline int call_words(int argc, char **argv)
{
	int pairs[2][2], kept[2];
	int room = 1 << 20;
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]), 0);
		setsockopt(pairs[i][1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
		kept[i] = dup(STDOUT_FILENO + i);
		dup2(pairs[i][1], STDOUT_FILENO + i);
		close(pairs[i][1]);
	}
	int status = run_verb(argc, argv);
	for (int i = 0; i < 2; i++) {
		dup2(kept[i], STDOUT_FILENO + i);
		close(kept[i]);
	}
	load(pairs[0][0], &out);
	load(pairs[1][0], &err);
	return status;
}

/* Splits a line as a shell does that knows blanks, '...' and \'; "@" is the ID. */
static inline int call(const char *line)
{
	char words[4096], *argv[WORDS_MAX + 1], *to = words;
	int argc = 0;
	for (const char *at = line; *at;) {
		if (*at == ' ') {
			at++;
			continue;
		}
		assert_true(argc < WORDS_MAX);
		argv[argc++] = to;
		bool quoted = false;
		for (; *at && (quoted || *at != ' '); at++) {
			if (*at == '\'') {
				quoted = !quoted;
			} else if (*at == '\\' && !quoted) {
				*to++ = *++at;
			} else if (*at == '@' && !quoted) {
				to += snprintf(to, ID_LEN + 1, "%s", meta.id);
			} else {
				*to++ = *at;
			}
		}
		*to++ = '\0';
	}
	argv[argc] = NULL;
	return call_words(argc, argv);
}

/* `format` with each @ replaced by the ID. */
static inline void expect(const struct buffer *got, const char *format)
{
	struct buffer b = BUFFER_INIT;
	for (const char *c = format; *c; c++) {
		if (*c == '@')
			buffer_append_string(&b, meta.id);
		else
			buffer_append(&b, c, 1);
	}
	assert_non_null(buffer_string(&b));
	assert_string_equal(got->data, b.data);
	buffer_release(&b);
}

struct call {
	const char *line;
	int status;
	const char *out, *err;
};

static inline void check_calls(const struct call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int status = call(calls[i].line);
		if (status != calls[i].status)
			fail_msg("%s: %d\n%s%s", calls[i].line, status, out.data, err.data);
		expect(&out, calls[i].out);
		expect(&err, calls[i].err);
	}
}

#define CHECK(calls) check_calls(calls, sizeof(calls) / sizeof(*(calls)))

#endif
