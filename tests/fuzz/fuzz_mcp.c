// What a client of terse mcp sends: lines in any pieces come out as they went in or are reported as
// too long; every message has one kind, its answer is one line of JSON, and the arguments of a run
// become a command line that holds nothing else; and what a shell left is taken over or refused as
// a whole.
//
// The first byte chooses what the rest is.

#include "lib/buffer.h"
#include "lib/json_read.h"
#include "supervisor/mcp/server.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

/* A line of the fuzzer at most. */
#define MOST 64

/* Each line of the input is there in its order, or too long; blank ones are not. */
static void fuzz_lines(const char *data, size_t size, size_t step)
{
	struct inbox i = {.fd = memfd_create("lines", MFD_CLOEXEC), .most = MOST};
	const char *line;
	size_t len, at = 0;
	assert(i.fd >= 0);
	for (size_t from = 0; !i.ended; from += step) {
		size_t n = from >= size ? 0 : size - from < step ? size - from : step;
		assert(pwrite(i.fd, data + from, n, (off_t)from) == (ssize_t)n);
		inbox_read(&i, 0);
		while (inbox_next(&i, &line, &len)) {
			size_t want, blanks;
			do {
				assert(at < size);
				const char *newline = memchr(data + at, '\n', size - at);
				want = newline ? (size_t)(newline - data) - at : size - at;
				for (blanks = 0;
				     blanks < want && memchr(" \t\r", data[at + blanks], 3);)
					blanks++;
				at += want + 1;
			} while (blanks == want && want <= MOST);
			assert(!line == (want > MOST));
			assert(!line || (len == want && !memcmp(line, data + at - want - 1, len)));
		}
	}
	for (; at < size; at++)
		assert(memchr(" \t\r\n", data[at], 4));
	close(i.fd);
	buffer_release(&i.data);
}

/* A line of JSON without anything behind it. */
static void check_line(struct buffer *line)
{
	assert(buffer_check(line) == 0 && line->len > 1);
	assert(memchr(line->data, '\n', line->len) == line->data + line->len - 1);
	json_t *value = json_read(line->data, line->len, JSON_ALLOW_NUL, NULL);
	assert(json_is_object(value));
	json_decref(value);
	buffer_release(line);
}

static void fuzz_message(const char *data, size_t size)
{
	struct rpc_message m;
	struct buffer line = BUFFER_INIT;
	rpc_read(&m, data, size);
	assert((m.kind == RPC_WRONG) == (*m.wrong != '\0'));
	assert(m.method != NULL);
	rpc_error(&line, m.id, RPC_INVALID, m.wrong);
	check_line(&line);
	rpc_begin(&line, m.id, "result");
	rpc_end(&line);
	check_line(&line);
	json_decref(m.value);
}

static void fuzz_arguments(const char *data, size_t size, const struct tool *tool)
{
	static struct server s = {.artifacts = "s"};
	struct arguments a;
	struct buffer words = BUFFER_INIT;
	json_t *value = json_loadb(data, size, JSON_DECODE_ANY, NULL);
	struct buffer wrong = BUFFER_INIT;
	bool good = value && arguments_read(&a, tool, value, &wrong) == 0;
	assert(!value || good == !wrong.len);
	buffer_release(&wrong);
	if (good && tool->verb && tool != tools) {
		bool json;
		const char *verb = call_verb_words(&words, &s, &a, &json);
		assert(buffer_check(&words) == 0 && !words.data[words.len - 1]);
		assert(!strcmp(words.data, verb));
		buffer_release(&words);
	} else if (good && tool == tools) {
		call_run_words(&words, &s, &a, NULL);
		assert(buffer_check(&words) == 0 && !words.data[words.len - 1]);
		assert(!memcmp(words.data, "terse\0run\0--preview", 20));
		buffer_release(&words);
	}
	json_decref(value);
}

static void fuzz_left(const char *data, size_t size)
{
	struct buffer s = BUFFER_INIT, before = BUFFER_INIT;
	char *env[] = {(char *)"A=1", (char *)"B=2", NULL};
	shell_state_init(&s, "/a", env);
	shell_state_init(&before, "/a", env);
	if (shell_state_take(&s, &before, data, size) < 0)
		assert(s.len == before.len && !memcmp(s.data, before.data, s.len));
	assert(*shell_state_value(&s, "PWD") == '/' && !s.data[s.len - 1]);
	buffer_release(&s);
	buffer_release(&before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	const char *text = (const char *)data + 1;
	uint8_t what = *data;
	size_t count = 0;
	while (tools[count].name)
		count++;
	size--;
	switch (what % 4) {
	case 0: fuzz_lines(text, size, 1 + what / 4); break;
	case 1: fuzz_message(text, size); break;
	case 2: fuzz_arguments(text, size, &tools[what / 4 % count]); break;
	default: fuzz_left(text, size); break;
	}
	return 0;
}
