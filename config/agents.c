// The built-in rules; terse config --agents shows them in ini syntax.
//
// The strings are those of Claude Code 2.1.197 and 2.1.328, Codex 0.169.0, opencode 1.18.33, pi
// 0.73.1, Gemini CLI 0.61.0, Qwen Code 0.24.4, GitHub Copilot CLI 1.0.102, Kilo 7.7.7 and Grok CLI
// 0.0.34. The ceilings are how much of one command's output each agent shows its model: Claude Code
// 30,000 characters (10,000 if the command failed), but only 2,000 of a longer text; Codex 10,000
// bytes; opencode, Kilo and pi 50 KB and 2,000 lines; Gemini CLI 40,000 characters; Qwen Code
// 25,000, but only 4,400 of a longer text; Copilot 20,000 bytes, but only 500 of a longer text.
//
// The sections after Grok CLI's were written from the agents' sources: mini-swe-agent 2.4, aider
// 0.86, AutoGen 0.7 (files of its local executor), goose 1.30 (50,000 bytes and 2,000 lines, but
// only the last 50 lines of a longer text), LangChain's ShellTool (community 0.4), Roo Code 3.52,
// crush 0.90, OpenHands 0.62, SWE-agent 1.1 with SWE-ReX 1.4, open-interpreter 0.4.

#include "config/agents.h"

#include "config/pattern.h"

#include <string.h>

#define KB     ((int64_t)1 << 10)
#define SECOND ((int64_t)1000)

#define AGENT(name)       SECTION_BEGIN(name)
#define ENVIRONMENT(item) SECTION_ITEM(RULE_ENVIRONMENT, item)
#define STRING(item)      SECTION_ITEM(RULE_STRING, item)
#define FILES(item)       SECTION_ITEM(RULE_FILE, item)
#define PASS(item)        SECTION_ITEM(RULE_PASS, item)
#define SHELL(item)       SECTION_ITEM(RULE_SHELL, item)
#define STDIN(item)       SECTION_ITEM(RULE_STDIN, item)
#define PARENT(item)      SECTION_ITEM(RULE_PARENT, item)
#define PROCESS(item)     SECTION_ITEM(RULE_PROCESS, item)
#define SESSION(item)     SECTION_ITEM(RULE_SESSION, item)
#define OUTPUT(item)      SECTION_ITEM(RULE_OUTPUT, item)
#define ENDS(item)        SECTION_ITEM(RULE_ENDS, item)
#define LIMIT(item)       SECTION_ITEM(RULE_LIMIT, item)
#define BACKGROUND(item)  SECTION_ITEM(RULE_BACKGROUND, item)
#define SET(field, is)    SECTION_SET(field, is)

/* The command's shell is a direct child of a program with one of these names. */
#define STARTED_BY(names) \
	STRING("{command}"), SHELL("*sh -c"), STDIN("/dev/null"), PARENT(names), PROCESS(names)

/* A harness sets no variable of its own; `terse agent` sets one for it. `as`: the name of its
   program, with * for any characters. */
#define HARNESS(name, as) AGENT(name), ENVIRONMENT(RULE_AGENT "=" as), PROCESS(as)

/* Its shell gets the command unchanged. */
#define STRINGS(shell) STRING("{command}"), SHELL(shell)

static const struct section_entry entries[] = {
	/* Claude Code wraps only its model's commands like this, not its hooks, MCP servers and
	   snapshots. */
	AGENT("claude"),
	ENVIRONMENT("CLAUDECODE"),
	ENVIRONMENT("CLAUDE_CODE_SESSION_ID"),
	STRING("*&& eval {word} < /dev/null && pwd -P >| *"),
	STRING("*&& eval {word} && pwd -P >| *"),
	STRING("*&& eval {word} \\\\< /dev/null && pwd -P >| *"),
	PROCESS("claude"),
	SESSION("CLAUDE_CODE_SESSION_ID"),
	OUTPUT("*/claude-*/tasks/*.output"),
	SET(ceiling, 30000),
	SET(failure_ceiling, 10000),
	SET(cut_ceiling, 4 * KB),
	/* Unless this variable is set, Claude Code moves a command that reaches its time limit into
	   the background. */
	ENDS("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"),
	LIMIT("BASH_DEFAULT_TIMEOUT_MS"),
	SET(hand_over, 120 * SECOND),

	/* Codex's shell saves variables and then executes the command's shell. After 10 s without
	   output Codex continues its work; a heartbeat, which comes earlier, says what still
	   runs. */
	AGENT("codex"),
	ENVIRONMENT("CODEX_THREAD_ID"),
	STRINGS("*sh -c"),
	PASS("__CODEX_SNAPSHOT_OVERRIDE_*"),
	PARENT("codex*|bwrap"),
	PROCESS("codex*"),
	SESSION("CODEX_THREAD_ID"),
	SET(ceiling, 10000),
	SET(heartbeat, 8000),

	/* opencode shows its model no exit status, and waits for its whole timeout if a signal ends
	   the shell. */
	AGENT("opencode"),
	ENVIRONMENT("OPENCODE"),
	STARTED_BY("opencode|.opencode"),
	SET(ceiling, 50 * KB),
	SET(line_ceiling, 2000),
	SET(status, STATUS_FAILURE),
	SET(signal_status, true),
	LIMIT("OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS"),
	SET(hand_over, 120 * SECOND),

	/* A fork of opencode. */
	AGENT("kilo"),
	ENVIRONMENT("KILO"),
	STARTED_BY("kilo|.kilo"),
	SET(ceiling, 50 * KB),
	SET(line_ceiling, 2000),
	SET(status, STATUS_FAILURE),
	SET(signal_status, true),
	LIMIT("KILO_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS"),
	SET(hand_over, 120 * SECOND),

	AGENT("pi"),
	ENVIRONMENT("PI_CODING_AGENT"),
	STARTED_BY("pi"),
	SET(ceiling, 50 * KB),
	SET(line_ceiling, 2000),

	AGENT("gemini"),
	ENVIRONMENT("GEMINI_CLI"),
	STRING("*_bgpids_file=*\\n(\\n*EXIT\\n{command}\\n)\\n__code=$?\\nexit $__code"),
	STRING("*{ {command}; }; __code=$?; pgrep -g 0 >*"),
	PROCESS("gemini*"),
	SET(ceiling, 40000),
	SET(exit_delay, 50),

	AGENT("qwen"),
	ENVIRONMENT("QWEN_CODE"),
	STRINGS("*sh -c"),
	STDIN("/dev/pts/*"),
	STDIN("/dev/null"),
	PROCESS("qwen"),
	SESSION("QWEN_CODE_SESSION_ID"),
	SET(ceiling, 25000),
	SET(failure_ceiling, 4 * KB),
	SET(cut_ceiling, 4 * KB),
	SET(exit_delay, 100),
	BACKGROUND("*/background-shells/*.output"),
	SET(hand_over, 120 * SECOND),

	AGENT("copilot"),
	ENVIRONMENT("COPILOT_CLI"),
	STRINGS("*sh --norc --noprofile -c"),
	STDIN("/dev/null"),
	PROCESS("copilot"),
	SESSION("COPILOT_AGENT_SESSION_ID"),
	SET(ceiling, 20000),
	SET(failure_ceiling, 4 * KB),
	SET(cut_ceiling, 4 * KB),
	SET(signal_status, true),

	/* If a command fails, Grok CLI shows its model only standard error. So a front end that
	   leaves its run reports status 0. */
	HARNESS("grok", "grok"),
	STRINGS("sh -c"),
	STDIN("socket:*"),
	PARENT("grok"),
	SET(streams, STREAMS_SPLIT),
	SET(hand_over, 30 * SECOND),
	SET(yield_status, 0),

	/* The result of mini-swe-agent is the output of its last command, from the second line on,
	   so terse passes that command on. */
	HARNESS("mini", "mini*"),
	STRINGS("*sh -c"),
	PASS("*COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT*"),
	SET(ceiling, 10000),
	SET(hand_over, 30 * SECOND),

	HARNESS("aider", "aider"),
	STRINGS("*sh -c"),

	/* AutoGen writes a script file and executes it. */
	HARNESS("autogen", "autogen*"),
	FILES("*/tmp_code_*"),

	HARNESS("goose", "goose*"),
	ENVIRONMENT("GOOSE_TERMINAL"),
	STRINGS("*sh -c"),
	PASS("echo $PATH"),
	STDIN("/dev/null"),
	SET(ceiling, 50000),
	SET(line_ceiling, 2000),

	HARNESS("langchain", "langchain*"),
	STRINGS("sh -c"),

	HARNESS("roo", "roo"),
	STRINGS("sh -c"),
	STDIN("/dev/null"),
	SET(ceiling, 10 * KB),

	/* Crush's commands come through a hook. */
	AGENT("crush"),
	ENVIRONMENT("CRUSH"),
	PROCESS("crush"),
	SET(ceiling, 30000),

	/* OpenHands and SWE-agent type their commands into one shell that keeps running. */
	HARNESS("openhands", "openhands*"),
	SET(interactive, true),
	SET(ceiling, 30000),

	HARNESS("sweagent", "sweagent"),
	SET(interactive, true),
	SET(ceiling, 100000),

	HARNESS("interpreter", "interpreter"),
	SET(ceiling, 2800),
};

static const char *refuse_variable(const char *text)
{
	size_t len = strcspn(text, "=");
	if (len == 0 || memchr(text, ' ', len))
		return "not the name of a variable";
	return text[len] ? template_refuse(text + len + 1) : NULL;
}

static const struct option keys[] = {
	{SECTION_LIST(RULE_ENVIRONMENT, refuse_variable)},
	{SECTION_LIST(RULE_STRING, template_refuse)},
	{SECTION_LIST(RULE_FILE, template_refuse)},
	{SECTION_LIST(RULE_PASS, template_refuse)},
	{SECTION_LIST(RULE_SHELL, pattern_refuse)},
	{SECTION_LIST(RULE_STDIN, template_refuse)},
	{SECTION_LIST(RULE_PARENT, pattern_refuse)},
	{SECTION_LIST(RULE_PROCESS, pattern_refuse)},
	{SECTION_LIST(RULE_SESSION, refuse_variable)},
	{SECTION_LIST(RULE_OUTPUT, template_refuse)},
	{SECTION_LIST(RULE_ENDS, refuse_variable)},
	{SECTION_LIST(RULE_LIMIT, refuse_variable)},
	{SECTION_LIST(RULE_BACKGROUND, template_refuse)},
	{.key = NULL},
};

const struct section_form rules_form = {
	.word = "agent",
	.what = "an agent",
	.keys = keys,
	.shim = "interactive",
	.builtin = entries,
	.builtin_count = sizeof(entries) / sizeof(*entries),
	.offset = offsetof(struct settings, agents),
};

/* --- what an agent would show --------------------------------------------------------- */

/* Agents that cut a text over their limit to less than the limit. These figures can't be taken from
   the ceilings in their sections, which leave room for a preview. */
static const struct would_show_row {
	const char *agent;
	/* The most bytes of a success, and of a failure, that it shows uncut. */
	uint64_t whole, failed;
	uint64_t cut;   /* bytes that it shows of a longer success; of a longer failure `failed` */
	uint64_t lines; /* 0: no limit */
} rows[] = {
	{"claude", 30000, 10000, 2000, 0},
	{"qwen", 25000, 4400, 4400, 0},
	{"copilot", 20000, 500, 500, 0},
	/* Grok CLI shows as much as Node's exec() takes, and no standard output at all if there is
	   more or if the command failed. */
	{"grok", 1048576, 0, 0, 0},
	{"goose", 50000, 50000, 2000, 0},
};

uint64_t agent_would_show(const struct settings *s, bool failed, uint64_t bytes, uint64_t lines)
{
	/* All other agents, including those that the user has added, show what their ceilings
	   say. */
	uint64_t whole = s->ceiling > 0 ? (uint64_t)s->ceiling : AGENT_SHOWS_ASSUMED;
	uint64_t ceiling = s->failure_ceiling > 0 ? (uint64_t)s->failure_ceiling : whole;
	struct would_show_row row = {NULL, whole, ceiling, whole, (uint64_t)s->line_ceiling};
	for (size_t i = 0; s->agent && i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(rows[i].agent, s->agent) == 0)
			row = rows[i];
	}
	if (row.lines && lines > row.lines)
		bytes = (uint64_t)((double)bytes * (double)row.lines / (double)lines);
	uint64_t most = failed ? row.failed : row.whole;
	if (bytes <= most)
		return bytes;
	return failed ? row.failed : row.cut;
}
