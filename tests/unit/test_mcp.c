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

#define LIMITS "--max-lines=500 --max-err-lines=750 --prelude=leave -c "

/* The words of a run or another verb, with blanks between them; "run ..." stands for those that
   each run begins with. */
TEST(words)
{
	static const struct {
		const char *tool, *json, *want;
	} cases[] = {
		{"run_command", "{\"command\":\"a b\"}", "run ... --yield=30000ms " LIMITS "a b "},
		{"run_command",
		 "{\"command\":\"-a\",\"args\":[\"-c\"],\"timeout\":5,\"kill_on_timeout\":true,"
		 "\"max_output_lines\":7,\"max_error_lines\":8,\"max_bytes\":99,\"profile\":"
		 "\"read\"}",
		 "run ... --tty --timeout=5ms --max-lines=7 --max-err-lines=8 --profile=read "
		 "--size=99 --err-size=99 -- -a -c "},
		{"run_command", "{\"command\":\"a\",\"include_full_output\":true}",
		 "run ... --yield=30000ms --max-lines=500 --max-err-lines=750 "
		 "--max-lines=1000000000 --max-err-lines=1000000000 --size=1048576 "
		 "--err-size=1048576 --prelude=leave -c a "},
		{"run_command",
		 "{\"command\":\"a\",\"timeout_ms\":\"7\",\"description\":\"Runs a\"}",
		 "run ... --yield=7ms " LIMITS "a "},
		{"run_command",
		 "{\"command\":\"a\",\"timeout\":0,\"cwd\":\"\",\"profile\":null,\"args\":[]}",
		 "run ... --yield=30000ms " LIMITS "a "},
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
	static const char head[] =
		"terse run --preview --words=tools --heartbeat=off --prompt=report --ceiling=0 "
		"--status=failure --exit-delay=off --no-detach --signal-status --yield-status=0 "
		"--session=S --streams=merged --format=text --leash=3";
	static struct server s = {.artifacts = "S"};
	bool json;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer words = BUFFER_INIT;
		struct arguments a;
		const struct tool *tool = tool_find(cases[i].tool, false);
		json_t *given = json_loads(cases[i].json, 0, NULL);
		const bool runs = strcmp(tool->verb, "run") == 0;
		assert_int_equal(arguments_read(&a, tool, given, &words), 0);
		if (runs)
			call_run_words(&words, &s, &a, "leave");
		else
			call_verb_words(&words, &s, &a, &json);
		for (size_t k = 0; k < words.len; k++)
			words.data[k] = words.data[k] ? words.data[k] : ' ';
		size_t skipped = runs ? strlen(head) : 0;
		assert_string_equal(buffer_string(&words) + skipped,
				    cases[i].want + (runs ? strlen("run ...") : 0));
		assert_memory_equal(words.data, head, skipped);
		buffer_release(&words);
		json_decref(given);
	}
}

TEST_MAIN(NULL, NULL)
