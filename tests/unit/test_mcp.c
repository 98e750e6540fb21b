// terse mcp: lines, JSON-RPC, arguments of tools, the command line of a run, what may run.

#include "lib/buffer.h"
#include "supervisor/command/verb.h"
#include "supervisor/mcp/server.h"
#include "tests/unit/unit.h"

/* --- lines --- */

/* Feeds it by a pipe, which is closed behind that if it `ends`. */
static void feed(struct inbox *i, const char *text, size_t len, bool ends)
{
	int ways[2];
	assert_int_equal(pipe(ways), 0);
	assert_int_equal(write(ways[1], text, len), len);
	close(ways[1]);
	inbox_read(i, ways[0]);
	if (ends)
		inbox_read(i, ways[0]);
	close(ways[0]);
}

#define LINE(text) text, sizeof(text) - 1

/* The next lines: each with a | behind it, NULL as !. */
static void assert_lines(struct inbox *i, const char *want)
{
	struct buffer got = BUFFER_INIT;
	const char *line;
	size_t len;
	while (inbox_next(i, &line, &len)) {
		if (line)
			buffer_append(&got, line, len);
		buffer_append_string(&got, line ? "|" : "!|");
	}
	assert_string_equal(buffer_string(&got), want);
	buffer_release(&got);
}

TEST(lines)
{
	struct inbox i = {.most = 100};
	assert_lines(&i, "");
	feed(&i, LINE("one\ntw"), false);
	assert_lines(&i, "one|");
	feed(&i, LINE("o\r\n\n  \n3\n4"), false);
	assert_lines(&i, "two\r|3|");
	feed(&i, LINE("\n"), false);
	assert_lines(&i, "4|");
	feed(&i, LINE("last"), true);
	assert_lines(&i, "last|");
	buffer_release(&i.data);
}

/* A line that is too long is reported once, at its place, and is not kept. */
TEST(too_long)
{
	struct inbox i = {.most = 10};
	feed(&i, LINE("before\n"), false);
	assert_lines(&i, "before|");
	for (int n = 0; n < 1000; n++) {
		feed(&i, LINE("0123456789"), false);
		assert_lines(&i, "");
	}
	assert_true(i.data.len < 50);
	feed(&i, LINE("\nbehind\n0123456789\n01234567890\n01234567890"), false);
	assert_lines(&i, "!|behind|0123456789|!|");
	feed(&i, LINE(""), true);
	assert_lines(&i, "!|");
	buffer_release(&i.data);
}

/* --- messages --- */

/* How a message is read; what can be read has an ID, also where it is refused. */
TEST(messages)
{
	static const struct {
		const char *line, *id, *what;
		enum rpc_kind kind;
	} cases[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"b\",\"method\":\"ping\",\"params\":{}}",
		 "\"a\\\"b\"", "ping", RPC_REQUEST},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"n\"}", "null", "n", RPC_NOTIFICATION},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "1", NULL, RPC_RESPONSE},
		{"{\"id\":1,\"method\":\"n\"}", "1", "jsonrpc: must be \"2.0\"", RPC_WRONG},
		{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"n\"}", "1", "jsonrpc: must be \"2.0\"",
		 RPC_WRONG},
		{"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"n\"}", "null",
		 "id: must be a string or a whole number of at most 500 bytes", RPC_WRONG},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":2}", "1", "method: must be a string",
		 RPC_WRONG},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"n\",\"params\":[]}", "1",
		 "params: must be an object", RPC_WRONG},
		{"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"x\\y\"}", "null", NULL, RPC_WRONG},
	};
	struct rpc_message m;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		rpc_read(&m, cases[i].line, strlen(cases[i].line));
		assert_int_equal(m.kind, cases[i].kind);
		assert_string_equal(m.id, cases[i].id);
		if (cases[i].what)
			assert_string_equal(m.kind == RPC_WRONG ? m.wrong : m.method,
					    cases[i].what);
		json_decref(m.value);
	}
	rpc_read(&m, "{} {}", 5);
	assert_int_equal(m.code, RPC_NOT_JSON);
	rpc_read(&m, NULL, 20);
	assert_int_equal(m.code, RPC_INVALID);
}

/* --- tools --- */

/* A model reads all of it with each conversation. */
TEST(tools_are_short)
{
	struct buffer out = BUFFER_INIT;
	tools_list(&out, false);
	assert_true(out.len / 4 < 1500);
	for (const struct tool *t = tools; t->name; t++) {
		assert_true(strlen(t->description) < 700);
		assert_ptr_equal(tool_find(t->name, false), t);
		assert_ptr_equal(tool_find(t->name, true), t->read_only ? t : NULL);
		assert_true(!t->serve != !t->verb);
		assert_true(t->serve || verb_named(t->verb));
	}
	assert_null(tool_find("rm", false));
	buffer_release(&out);
}

TEST(wrong_arguments)
{
	static const struct {
		const char *json, *want;
	} cases[] = {
		{"{}", "run_command: command: is missing"},
		{"[]", "run_command: arguments: must be an object"},
		{"{\"command\":1}", "run_command: command: must be a string"},
		{"{\"command\":null}", "run_command: command: is missing"},
		{"{\"command\":\"x\",\"timeout\":-1}",
		 "run_command: timeout: must be a whole number from 1 to 86400000"},
		{"{\"command\":\"x\",\"timeout\":1.5}",
		 "run_command: timeout: must be a whole number from 1 to 86400000"},
		{"{\"command\":\"x\",\"args\":[1]}",
		 "run_command: args: must be a list of strings"},
		{"{\"command\":\"x\",\"env\":{\"A=B\":\"\"}}",
		 "run_command: env: must be an object of strings, by the variables' names"},
		{"{\"command\":\"x\",\"kill_on_timeout\":1}",
		 "run_command: kill_on_timeout: must be true or false"},
		{"{\"artifact_id\":\"x\",\"stream\":\"all\"}",
		 "read_command_output: stream: must be one of [\"stdout\",\"stderr\",\"raw\"]"},
		{"{\"artifact_id\":\"x\",\"offset\":\"a\"}",
		 "read_command_output: offset: must be a whole number"},
		{"{\"artifact_id\":\"x\",\"limit\":-1}",
		 "read_command_output: limit: must be a whole number, 1 at least"},
		{"{\"artifact_id\":\"x\",\"context\":3}",
		 "read_command_output: context: goes with search"},
		{"{\"artifact_id\":\"x\",\"search\":\"y\",\"offset\":-1}",
		 "read_command_output: search: goes with offset from 1 on, limit, context and "
		 "stream "
		 "stderr, and with nothing else"},
		{"{\"artifact_id\":\"x\"}", "send_input: text or keys: one of them is needed"},
		{"{\"artifact_id\":\"x\",\"y\\u001b\":0}",
		 "screen: y\\x1b: no such argument; there are artifact_id"},
		{"{\"y\":0}", "list_sessions: y: it takes no arguments"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arguments a;
		struct buffer wrong = BUFFER_INIT;
		char *tool = strndup(cases[i].want, strcspn(cases[i].want, ":"));
		json_t *given = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
		assert_int_equal(arguments_read(&a, tool_find(tool, false), given, &wrong), -1);
		assert_string_equal(buffer_string(&wrong), cases[i].want + strlen(tool) + 2);
		buffer_release(&wrong);
		json_decref(given);
		free(tool);
	}
}

/* The arguments of a run, and what they add to its command line, with blanks between the words. */
TEST(runs)
{
	static const struct {
		const char *json, *want;
	} cases[] = {
		{"{\"command\":\"a b\"}",
		 "--yield 30000ms --max-lines=500 --max-err-lines=750 --leave leave -c a b "},
		{"{\"command\":\"-a\",\"args\":[\"-c\"],\"timeout\":5,\"kill_on_timeout\":true,"
		 "\"max_output_lines\":7,\"max_error_lines\":8,\"max_bytes\":99,\"profile\":"
		 "\"read\"}",
		 "--tty --timeout 5ms --max-lines=7 --max-err-lines=8 --profile=read --size 99 "
		 "--failure-size 99 --err-size 99 -- -a -c "},
		{"{\"command\":\"a\",\"include_full_output\":true}",
		 "--yield 30000ms --max-lines=500 --max-err-lines=750 --max-lines 1000000000 "
		 "--max-err-lines 1000000000 --size 1048576 "
		 "--failure-size 1048576 --err-size 1048576 --leave leave -c a "},
		{"{\"command\":\"a\",\"timeout_ms\":\"7\",\"description\":\"Runs a\"}",
		 "--yield 7ms --max-lines=500 --max-err-lines=750 --leave leave -c a "},
		{"{\"command\":\"a\",\"timeout\":0,\"cwd\":\"\",\"profile\":null,\"args\":[]}",
		 "--yield 30000ms --max-lines=500 --max-err-lines=750 --leave leave -c a "},
	};
	static const char head[] =
		"terse run --session S --preview --words tools --heartbeat off --prompt report "
		"--ceiling 0 --status failure --exit-delay off --no-detach --signal-status "
		"--yield-status 0 --streams merged --format text --leash 3 ";
	static struct server s = {.artifacts = "S"};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer words = BUFFER_INIT;
		struct arguments a;
		json_t *given = json_loads(cases[i].json, 0, NULL);
		assert_int_equal(arguments_read(&a, tool_find("run_command", false), given, &words),
				 0);
		call_run_words(&words, &s, &a, "leave");
		for (size_t k = 0; k < words.len; k++)
			words.data[k] = words.data[k] ? words.data[k] : ' ';
		assert_string_equal(buffer_string(&words) + strlen(head), cases[i].want);
		assert_memory_equal(words.data, head, strlen(head));
		buffer_release(&words);
		json_decref(given);
	}
}

/* The options of a verb, with blanks between the words. */
TEST(words_of_verbs)
{
	static const struct {
		const char *tool, *json, *want;
	} cases[] = {
		{"read_command_output", "{\"artifact_id\":\"a\"}", "read -- a "},
		{"read_command_output",
		 "{\"artifact_id\":\"a\",\"offset\":-3,\"limit\":\"5\",\"tail\":0,\"stream\":"
		 "\"stdout\"}",
		 "read --offset=-3 --limit=5 -- a "},
		{"read_command_output",
		 "{\"artifact_id\":\"a\",\"bytes\":\"1-2\",\"stream\":\"raw\"}",
		 "read --bytes=1-2 --raw -- a "},
		{"read_command_output",
		 "{\"artifact_id\":\"-a\",\"search\":\"-v\",\"context\":2,\"stream\":\"stderr\"}",
		 "search --regexp=-v --context=2 --stderr -- -a "},
		{"list_commands", "{}", "list -- "},
		{"await_command", "{\"artifact_id\":\"a\"}", "await --timeout=30000ms -- a "},
		{"send_input",
		 "{\"artifact_id\":\"a\",\"text\":\"-x y\",\"keys\":[\"up\",\"enter\"]}",
		 "send --await --text=-x y --key=up --key=enter --idle=1000ms --timeout=10000ms -- "
		 "a "},
		{"send_input", "{\"artifact_id\":\"a\",\"keys\":[\"up\"],\"for\":\"x\"}",
		 "send --await --key=up --for=x --timeout=10000ms -- a "},
		{"signal_command", "{\"artifact_id\":\"a\",\"signal\":\"INT\"}",
		 "signal -- a INT "},
		{"screen", "{\"artifact_id\":\"a\"}", "snapshot -- a "},
	};
	static struct server s = {.artifacts = "S"};
	bool json;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer words = BUFFER_INIT;
		struct arguments a;
		json_t *given = json_loads(cases[i].json, 0, NULL);
		assert_int_equal(arguments_read(&a, tool_find(cases[i].tool, false), given, &words),
				 0);
		call_verb_words(&words, &s, &a, &json);
		for (size_t k = 0; k < words.len; k++)
			words.data[k] = words.data[k] ? words.data[k] : ' ';
		assert_string_equal(buffer_string(&words), cases[i].want);
		buffer_release(&words);
		json_decref(given);
	}
}

TEST_MAIN(NULL, NULL)
