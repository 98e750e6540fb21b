// terse mcp: the tools, and the command lines of runs and verbs.

#include "lib/buffer.h"
#include "supervisor/command/verb.h"
#include "supervisor/mcp/server.h"
#include "tests/unit/unit.h"

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
