// Rules: the strings that agents send, what is known of each agent, and rules of files.

#include "config/limit.h"
#include "config/profile.h"
#include "supervisor/agents/rule.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define WORDS(...) ((char *const *)(const char *const[]){__VA_ARGS__, NULL})

static const char *const variables[] = {
	"CLAUDECODE",
	"CLAUDE_CODE_SESSION_ID",
	"CODEX_THREAD_ID",
	"OPENCODE",
	"GEMINI_CLI",
	"PI_CODING_AGENT",
	"MINE",
};

static int clear(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		unsetenv(variables[i]);
	return 0;
}

static struct settings start(const char *text)
{
	struct option_error error = {""};
	struct settings s;
	assert_int_equal(settings_init(&s), 0);
	if (settings_load_text(&s, ORIGIN_USER, "t.ini", text, strlen(text), &error) < 0)
		fail_msg("%s", error.text);
	return s;
}

/* The text that Claude Code puts around a command; see the facts in config/agents.c. */
#define SNAPSHOT                                                                        \
	"source /home/u/.claude/shell-snapshots/snapshot-bash-1795165749720-rb6pqm.sh " \
	"2>/dev/null || true && { shopt -u extglob || setopt NO_EXTENDED_GLOB "         \
	"NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true && "
#define END " && pwd -P >| /tmp/claude-0c07-cwd"

static const char gemini[] =
	"shopt -u promptvars nullglob extglob nocaseglob dotglob; "
	"_bgpids_file=/tmp/gemini-shell-x/bgpids.tmp\n(\n  trap 'jobs -p > "
	"\"$_bgpids_file\"' EXIT\nnpm test\n# done\n)\n__code=$?\nexit $__code";

/* Observed strings: tool calls with the part that the model wrote, and others. Rules that ask for
   the parent process are tried in test_decision and with real agents. */
TEST_IN(tool_calls_are_known, clear, NULL)
{
	static const struct {
		const char *variable, *string, *command; /* NULL: no tool call */
	} rows[] = {
		{"CLAUDECODE", SNAPSHOT "eval 'echo hi' < /dev/null" END, "echo hi"},
		{"CLAUDECODE", SNAPSHOT "eval pwd < /dev/null" END, "pwd"},
		{"CLAUDECODE", SNAPSHOT "eval 'cat <<EOF\nx y\nEOF'" END, "cat <<EOF\nx y\nEOF"},
		{"CLAUDECODE",
		 SNAPSHOT "eval 'printf '\"'\"'it'\"'\"'\"'\"'\"'\"'\"'\"'s a $HOME\\n'\"'\"' | "
			  "cat' < /dev/null" END,
		 "printf 'it'\"'\"'s a $HOME\\n' | cat"},
		{"CLAUDECODE", SNAPSHOT "eval 'a' \\< /dev/null" END, "a"},
		{"CLAUDECODE", SNAPSHOT "eval 'eval x < /dev/null && pwd -P >| y' < /dev/null" END,
		 "eval x < /dev/null && pwd -P >| y"},
		{"CLAUDECODE", "env", NULL},
		{"CLAUDECODE", "python3 /srv.py 'a b' '$X'", NULL},
		{"CLAUDECODE", "cat >/tmp/hook-in; echo hi", NULL},
		{"CLAUDECODE", "ps aux | grep x", NULL},
		{"CLAUDECODE", "SNAPSHOT_FILE=/home/u/.claude/x.sh\n  # No user config file", NULL},
		{"OPENCODE", SNAPSHOT "eval 'echo hi' < /dev/null" END, NULL},
		{NULL, SNAPSHOT "eval 'echo hi' < /dev/null" END, NULL},
		{"GEMINI_CLI", gemini, "npm test\n# done"},
		{"GEMINI_CLI", "{ npm test; }; __code=$?; pgrep -g 0 >/tmp/x 2>&1; exit $__code;",
		 "npm test"},
		{"GEMINI_CLI", "lspci -vvv", NULL},
		{"GEMINI_CLI", "xdpyinfo | grep dimensions", NULL},
	};
	struct settings s = start("");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *command = NULL;
		const char *agent;
		clear(NULL);
		if (rows[i].variable)
			setenv(rows[i].variable, "1", 1);
		agent = rule_call(&s, WORDS("/bin/bash", "-c", rows[i].string), rows[i].string,
				  &command);
		if (!agent != !rows[i].command)
			fail_msg("%s: %s", rows[i].string, agent ? agent : "no tool call");
		if (agent)
			assert_string_equal(command, rows[i].command);
		free(command);
	}
	settings_release(&s);
}

/* Whether a child of this process, which is called `parent`, makes a tool call. */
static bool is_call_of_child(const struct settings *s, const char *parent, int input,
			     char *const *argv, const char *string)
{
	char name[16], *command = NULL;
	int status;
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, parent);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(input, STDIN_FILENO);
		_exit(rule_call(s, argv, string, &command) != NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	prctl(PR_SET_NAME, name);
	return WEXITSTATUS(status);
}

TEST_IN(parent_stdin_and_shell_are_asked, clear, NULL)
{
	static const struct {
		const char *shell, *option, *string, *parent;
		bool has_input, is_call;
	} rows[] = {
		{"/bin/bash", "-c", "a", "my-agent", false, true},
		{"/bin/bash", "-lc", "a", "my-agent", false, true},
		{"/bin/bash", "-l", "a", "my-agent", false, false},
		{"/bin/fish", "-c", "a", "my-agent", false, false},
		{"/bin/bash", "-c", "no", "my-agent", false, false},
		{"/bin/bash", "-c", "not here", "my-agent", false, false},
		{"/bin/bash", "-c", "a", "other", false, false},
		{"/bin/bash", "-c", "a", "my-agent", true, false},
	};
	struct settings s = start("[shim]\npass = not*\n"
				  "[agent mine]\nenvironment = MINE=on*\nstring = {command}\n"
				  "pass = no\nshell = bash|sh -c\nstdin = /dev/null\n"
				  "parent = my-agent\nprocess = my-agent\n");
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	setenv("MINE", "only", 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *const *argv = WORDS(rows[i].shell, rows[i].option, rows[i].string);
		if (is_call_of_child(&s, rows[i].parent, rows[i].has_input ? ends[0] : null, argv,
				     rows[i].string) != rows[i].is_call)
			fail_msg("row %zu", i);
	}
	setenv("MINE", "off", 1);
	assert_false(is_call_of_child(&s, "my-agent", null, WORDS("/bin/bash", "-c", "a"), "a"));
	close(null);
	close(ends[0]);
	close(ends[1]);
	settings_release(&s);
}

TEST_IN(agents_are_known_by_their_variables, clear, NULL)
{
	struct settings s = start("");
	assert_null(rule_agent(&s));
	setenv("CODEX_THREAD_ID", "", 1);
	assert_null(rule_agent(&s));
	setenv("CODEX_THREAD_ID", "t1", 1);
	assert_string_equal(rule_agent(&s), "codex");
	assert_string_equal(rule_session(&s, "codex"), "t1");
	clear(NULL);
	setenv("PI_CODING_AGENT", "true", 1);
	assert_string_equal(rule_agent(&s), "pi");
	assert_null(rule_session(&s, "pi"));
	settings_release(&s);
}

/* An agent that was started by another one: its process is nearer. */
TEST_IN(the_nearest_of_several_counts, clear, NULL)
{
	struct settings s = start("[agent mine]\nenvironment = MINE\nprocess = terse-parent\n");
	char name[16];
	int status;
	setenv("MINE", "1", 1);
	setenv("CLAUDECODE", "1", 1);
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, "terse-parent");
	pid_t pid = fork();
	if (pid == 0) {
		struct process p;
		const char *agent = rule_agent(&s);
		bool known = agent && strcmp(agent, "mine") == 0;
		const char *above = rule_ancestor(&s, NULL, getppid(), &p);
		_exit(known && above && strcmp(above, "mine") == 0 && p.pid == getppid() &&
		      p.started > 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	prctl(PR_SET_NAME, name);
	assert_int_equal(WEXITSTATUS(status), 1);
	settings_release(&s);
}

TEST_IN(output_files_are_known, clear, NULL)
{
	struct settings s = start("");
	char top[] = "/tmp/claude-XXXXXX", dir[64], file[96], other[96];
	assert_non_null(mkdtemp(top));
	snprintf(dir, sizeof(dir), "%s/tasks", top);
	assert_int_equal(mkdir(dir, 0700), 0);
	snprintf(file, sizeof(file), "%s/b8s66d6wa.output", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	int a = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int b = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(rule_has_file(&s, "claude", RULE_OUTPUT, a));
	assert_false(rule_has_file(&s, "claude", RULE_OUTPUT, b));
	assert_false(rule_has_file(&s, "codex", RULE_OUTPUT, a));
	close(a);
	close(b);
	unlink(file);
	unlink(other);
	rmdir(dir);
	rmdir(top);
	settings_release(&s);
}

static struct limit limit_for(struct settings *s, const char *agent, const char *string)
{
	struct option_error error = {""};
	struct profile_choice choice;
	if (agent)
		rule_apply(s, agent);
	assert_int_equal(profile_choose(s, NULL, string, &choice, &error), 0);
	profile_apply(s, &choice);
	return limit_of(s, false);
}

/* Whatever a profile, a variable or a flag allows, the printed text stays within the agent's
   ceiling. 400 bytes and 4 lines are for notices. */
TEST_IN(every_limit_is_held_under_the_ceiling, clear, NULL)
{
	static const struct {
		const char *agent, *string, *size;
		size_t most, failure_most, lines;
	} rows[] = {
		{"claude", "cat a", NULL, 30000, 10000, 2000},
		{"claude", "terse read a", NULL, 30000, 10000, 0},
		{"claude", "make; cat a", NULL, 30000, 10000, 0},
		{"claude", "make", "--size=1MB", 30000, 10000, 0},
		{"codex", "make", "--failure-size=1MB", 10000, 10000, 0},
		{"codex", "cat a", NULL, 10000, 10000, 2000},
		{"codex", "terse read a", NULL, 10000, 10000, 0},
		{"opencode", "terse read a", NULL, 51200, 51200, 1996},
		{"pi", "cat a", NULL, 51200, 51200, 1996},
		{"gemini", "terse read a", NULL, 40000, 40000, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct option_error error;
		struct settings s = start("");
		int index = 0;
		char *flags[] = {(char *)rows[i].size, NULL};
		if (rows[i].size)
			assert_int_equal(settings_take_flag(&s, 1, flags, &index, &error), 1);
		struct limit l = limit_for(&s, rows[i].agent, rows[i].string);
		assert_true(limit_most(l.bytes) <= rows[i].most);
		assert_true(l.bytes + 400 <= rows[i].most);
		assert_true(limit_most(l.failure_bytes) <= rows[i].failure_most);
		assert_true(l.failure_bytes + 400 <= rows[i].failure_most);
		assert_int_equal(l.count, rows[i].lines);
		settings_release(&s);
	}
	/* Small limits stay as they are. */
	struct settings s = start("");
	assert_int_equal(limit_for(&s, "claude", "make").bytes, 4096);
	assert_int_equal(limit_for(&s, "claude", "make").failure_bytes, 6144);
	settings_release(&s);
}

TEST_IN(what_can_not_be_kept_has_all_the_room, clear, NULL)
{
	struct settings s = start("");
	struct limit l = limit_for(&s, NULL, "make");
	limit_widen(&l, &s);
	assert_int_equal(l.bytes, 4096);
	assert_int_equal(l.failure_bytes, 6144);
	settings_release(&s);

	s = start("");
	l = limit_for(&s, "claude", "grep a b");
	limit_widen(&l, &s);
	assert_in_range(l.bytes, 25000, 30000 - 400);
	assert_in_range(l.failure_bytes, 8000, 10000 - 400);
	assert_int_equal(l.count, 0);
	settings_release(&s);
}

TEST_IN(a_rule_sets_options, clear, NULL)
{
	struct settings s = start("[report]\nheartbeat = 5s\nstatus = always\n");
	rule_apply(&s, "codex");
	assert_int_equal(s.heartbeat, 8000);
	rule_apply(&s, "opencode");
	assert_int_equal(s.status, STATUS_FAILURE);
	assert_int_equal(option_source(&s, option_by_key("report", "status"))->by, ORIGIN_AGENT);
	settings_release(&s);

	/* Variables and flags know better. */
	s = start("");
	option_source(&s, option_by_key("report", "heartbeat"))->by = ORIGIN_FLAG;
	rule_apply(&s, "codex");
	assert_int_equal(s.heartbeat, 60000);
	settings_release(&s);
}

/* What is known of an agent's limit, and of this call. */
TEST_IN(a_run_is_handed_over_before_the_limit, clear, NULL)
{
	struct settings s = start("");
	static const struct {
		const char *agent, *variable, *value;
		int64_t after;
		int status;
	} rows[] = {
		{"opencode", NULL, NULL, 114000, EXIT_HANDED_OVER},
		{"opencode", "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS", "600000", 570000,
		 EXIT_HANDED_OVER},
		{"opencode", "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS", "5000", 3000,
		 EXIT_HANDED_OVER},
		{"opencode", "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS", "1s", 114000,
		 EXIT_HANDED_OVER},
		{"grok", NULL, NULL, 28000, 0},
		/* It takes them into its background, unless that is off. */
		{"claude", NULL, NULL, 0, EXIT_HANDED_OVER},
		{"claude", "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1", 114000, EXIT_HANDED_OVER},
		{"codex", NULL, NULL, 0, EXIT_HANDED_OVER},
		{NULL, NULL, NULL, 0, EXIT_HANDED_OVER},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].variable)
			setenv(rows[i].variable, rows[i].value, 1);
		const struct hand_over h = rule_hand_over(&s, rows[i].agent);
		if (h.after != rows[i].after || h.status != rows[i].status)
			fail_msg("row %zu: %" PRId64 " ms, status %d", i, h.after, h.status);
		if (rows[i].variable)
			unsetenv(rows[i].variable);
	}
	/* A variable or an option knows better, and terse mcp has limits of its own. */
	s.hand_over = 4000;
	option_source(&s, option_by_key("run", "hand_over"))->by = ORIGIN_VARIABLE;
	assert_int_equal(rule_hand_over(&s, "claude").after, 2000);
	s.hand_over = 2000;
	assert_int_equal(rule_hand_over(&s, "claude").after, 1000);
	s.words = WORDS_TOOLS;
	assert_int_equal(rule_hand_over(&s, "claude").after, 0);
	settings_release(&s);
}

TEST_IN(files_replace_lists_and_values, clear, NULL)
{
	struct settings s = start("[agent claude]\nceiling = 20KB\nsession =\n  MINE\n"
				  "environment =\n[agent codex]\nstring = run {command}\n");
	char *command = NULL;
	setenv("MINE", "session", 1);
	setenv("CLAUDECODE", "1", 1);
	assert_string_equal(rule_session(&s, "claude"), "session");
	assert_null(rule_call(&s, WORDS("bash", "-c", "x"), SNAPSHOT "eval 'a'" END, &command));
	rule_apply(&s, "claude");
	assert_int_equal(s.ceiling, 20480);
	assert_int_equal(s.failure_ceiling, 10000);
	settings_release(&s);
}

/* Each built-in item is one that a file could have. */
TEST_IN(built_in_rules_are_well_formed, clear, NULL)
{
	const char *name;
	for (size_t i = 0; i < rules_form.builtin_count; i++) {
		const struct section_entry *e = &rules_form.builtin[i];
		if (e->kind == SECTION_NAME)
			assert_null(section_refuse_name(e->text));
		for (const struct option *k = rules_form.keys; k->key; k++) {
			if (e->kind == SECTION_TEXT && strcmp(k->key, e->key) == 0)
				assert_null(k->refuse(e->text));
		}
	}
	static const char *const keys[] = {RULE_ENVIRONMENT, RULE_PROCESS};
	for (size_t i = 0; (name = section_name(NULL, &rules_form, i)) != NULL; i++) {
		for (size_t k = 0; k < 2; k++) {
			size_t at = 0;
			assert_non_null(section_next(NULL, &rules_form, name, keys[k], &at));
		}
	}
}

TEST_MAIN(NULL, NULL)
