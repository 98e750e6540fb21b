// The agents and the changes to their files; see wiring.h.
//
// Tried with Claude Code 2.1.197, Codex 0.169.0, opencode 1.18.33, pi 0.73.1, Kilo 7.7.7, Gemini
// CLI 0.61.0, Qwen Code 0.24.4, GitHub Copilot CLI 1.0.102 and Grok CLI 0.0.34. Gemini CLI checks
// its policy after a hook has rewritten the command, so deny rules would no longer match; it has no
// setting for the shell, as the last three have none. `comment`: with these agents, a rule that
// allows a command allows it with a comment at its end, and one that denies it denies that; pi has
// no rules. With Codex's rules neither is so; the others' were not tried. Cursor and Crush are
// known only by their contracts.

#include "supervisor/agents/wiring.h"

#define LINES                                                                        \
	"Shell commands run under terse here: short output is printed whole, "       \
	"long output as a preview.\n"                                                \
	"Do not add head, tail or 2>&1 to shorten output. "                          \
	"A line \"[... lines N-M omitted, SIZE]\" stands for\n"                      \
	"text that was left out, \"[... bytes N-M]\" for a part of a line. "         \
	"The last line names the ID:\n"                                              \
	"`terse read ID --lines N-M` (or `--bytes N-M`) prints it, "                 \
	"`terse search ID REGEX` searches all.\n"                                    \
	"`terse list` shows earlier runs; ID may be `last`. "                        \
	"Such lines count only where the output ends with\n"                         \
	"a line \"[terse: ...]\"; a command's own that look so begin with \"| \".\n" \
	"Type a command itself, never terse in front of it. "                        \
	"If a run goes on, `terse await ID` waits for\n"                             \
	"its end, `terse send ID TEXT --key enter --await` answers a prompt, "       \
	"and `terse signal ID` ends it.\n"

/* Only for agents whose rules judge the command as they would without the comment. */
#define COMMENT                                                                  \
	"For a server, a slow command or one that asks, end it with a comment: " \
	"`COMMAND # terse: yield=10s`\n"                                         \
	"returns after 10 s at most, with its output so far and an ID; "         \
	"`# terse: timeout=5m, size=20KB` sets these.\n"

const char wiring_lines[] = LINES, wiring_lines_with_comment[] = LINES COMMENT;

const char wiring_names[] = "claude, codex, opencode, kilo, pi, gemini, qwen, copilot, "
			    "grok, cursor, crush";

/* One hook in a group, as Claude Code and Gemini CLI have them. */
#define GROUP "{\"hooks\":[{\"type\":\"command\",\"command\":%s}]}"

/* The same of those tools that match; `more` are members of the hook. */
#define MATCHING(tools, more) \
	"{\"matcher\":\"" tools "\",\"hooks\":[{\"type\":\"command\"," more "\"command\":%s}]}"

#define PLUGIN                                                                                    \
	"// Written by terse init opencode; terse init opencode --undo removes it.\n"             \
	"import { spawnSync } from \"node:child_process\";\n\n"                                   \
	"const hook = (event, input) => spawnSync(%s, [\"hook\", \"opencode\", event], {\n"       \
	"  input: JSON.stringify(input), encoding: \"utf8\", timeout: 5000,\n"                    \
	"});\n\n"                                                                                 \
	"// Each conversation is a session of its own, and ends when it is deleted. Permission\n" \
	"// rules do not see a command that terse runs, so none is typed with terse in front.\n"  \
	"export const Terse = async () => ({\n"                                                   \
	"  \"shell.env\": async (input, output) => {\n"                                           \
	"    if (input.sessionID) output.env.TERSE_SESSION = input.sessionID;\n"                  \
	"  },\n"                                                                                  \
	"  \"tool.execute.before\": async (input, output) => {\n"                                 \
	"    const command = output.args?.command;\n"                                             \
	"    if (input.tool !== \"bash\" || !/\\bterse\\b/.test(command)) return;\n"              \
	"    const said = hook(\"tool.execute.before\", { tool_input: { command } }).stdout;\n"   \
	"    if (said) throw new Error(said.trim());\n"                                           \
	"  },\n"                                                                                  \
	"  event: async ({ event }) => {\n"                                                       \
	"    if (event.type === \"session.deleted\") hook(event.type, event);\n"                  \
	"  },\n"                                                                                  \
	"});\n"

const struct wiring wirings[] = {
	{
		.agent = "claude",
		.programs = "claude",
		.files = {{.folder = {"CLAUDE_CONFIG_DIR", ".claude", "settings.json",
				      ".claude/settings.local.json"},
			   .items = {{WIRING_STRING,
				      {"env", "CLAUDE_CODE_SHELL_PREFIX"},
				      "shell",
				      NULL},
				     {WIRING_HOOK,
				      {"hooks", "SessionEnd"},
				      GROUP,
				      "claude SessionEnd"},
				     {WIRING_HOOK,
				      {"hooks", "PreToolUse"},
				      MATCHING("Bash", "\"if\":\"Bash(terse *)\","),
				      "claude PreToolUse"}}}},
		.shared = ".claude/settings.json",
		.comment = true,
		.lines = {"CLAUDE_CONFIG_DIR", ".claude", "CLAUDE.md", "CLAUDE.md"},
		.patterns = {{"permissions", "allow"},
			     {"permissions", "deny"},
			     {"permissions", "ask"}},
		.pattern = "Bash(",
		.allow = "Bash(terse read:*), Bash(terse search:*) and Bash(terse list:*)",
		.note = "its permission rules go on matching the "
			"commands as the model writes them\n",
	},
	{
		.agent = "codex",
		.programs = "codex",
		.files = {{.folder = {"CODEX_HOME", ".codex", "config.toml", ".codex/config.toml"},
			   .items = {{WIRING_STRING,
				      {"shell_environment_policy", "set", "LD_PRELOAD"},
				      "library",
				      NULL},
				     {WIRING_STRING,
				      {"shell_environment_policy", "set", "TERSE_SHIM_SHELL"},
				      "shell",
				      NULL},
				     {WIRING_STRING,
				      {"shell_environment_policy", "set", "BASH_ENV"},
				      "bash_env",
				      NULL}}}},
		.lines = {"CODEX_HOME", ".codex", "AGENTS.md", "AGENTS.md"},
		.note = "its rules and its sandbox go on deciding about the "
			"commands as the model writes them\n"
			"it has no event for the end of a "
			"conversation: terse gc ends the session\n",
	},
	{
		.agent = "opencode",
		.programs = "opencode",
		.files = {{.folder = {NULL, ".config/opencode", "opencode.jsonc|opencode.json",
				      "opencode.jsonc|opencode.json"},
			   .items = {{WIRING_STRING, {"shell"}, "shell", NULL}}},
			  {.folder = {NULL, ".config/opencode", "plugins/terse.js",
				      ".opencode/plugins/terse.js"},
			   .items = {{WIRING_FILE, {NULL}, PLUGIN, NULL}}}},
		.comment = true,
		.lines = {NULL, ".config/opencode", "AGENTS.md", "AGENTS.md"},
		.patterns = {{"permission", "bash"}},
		.pattern = "",
		.allow = "\"terse read *\", \"terse search *\" and \"terse list*\"",
		.note = "its permissions go on matching the commands as the model writes them\n",
	},
	{
		.agent = "pi",
		.programs = "pi",
		.files = {{.folder = {"PI_CODING_AGENT_DIR", ".pi/agent", "settings.json",
				      ".pi/settings.json"},
			   .items = {{WIRING_STRING, {"shellPath"}, "shell", NULL}}}},
		.comment = true,
		.lines = {"PI_CODING_AGENT_DIR", ".pi/agent", "AGENTS.md", "AGENTS.md"},
		.note = "a session is one process of pi; terse gc ends it when that is gone\n",
	},
	{
		.agent = "gemini",
		.programs = "gemini",
		.files = {{.folder = {NULL, ".gemini", "settings.json", ".gemini/settings.json"},
			   .items = {{WIRING_HOOK,
				      {"hooks", "SessionEnd"},
				      GROUP,
				      "gemini SessionEnd"},
				     {WIRING_HOOK,
				      {"hooks", "BeforeTool"},
				      MATCHING("run_shell_command", ""),
				      "gemini BeforeTool"}}}},
		.comment = true,
		.lines = {NULL, ".gemini", "GEMINI.md", "GEMINI.md"},
		.patterns = {{"tools", "allowed"}, {"tools", "exclude"}, {"tools", "core"}},
		.pattern = "run_shell_command(",
		.allow = "run_shell_command(terse read), run_shell_command(terse search) and "
			 "run_shell_command(terse list)",
		.note = "it has no setting for the shell of its commands, and its deny rules "
			"would not match what a hook makes of them\n",
		.start = "terse agent gemini",
	},
	{
		.agent = "qwen",
		.programs = "qwen",
		.lines = {NULL, ".qwen", "QWEN.md", "QWEN.md"},
		.note = "it has no setting for the shell of its commands\n"
			"a session is one process of it; terse gc ends it when that is gone\n",
		.start = "terse agent qwen",
	},
	{
		.agent = "copilot",
		.programs = "copilot",
		.comment = true,
		.lines = {"COPILOT_HOME", ".copilot", "copilot-instructions.md",
			  ".github/copilot-instructions.md"},
		.note = "it has no setting for the shell of its commands\n"
			"its permissions go on matching the commands as the model writes them\n",
		.start = "terse agent copilot",
	},
	{
		.agent = "kilo",
		.programs = "kilo|kilocode",
		.files = {{.folder = {NULL, ".config/kilo", "kilo.jsonc|kilo.json",
				      "kilo.jsonc|kilo.json"},
			   .items = {{WIRING_STRING, {"shell"}, "shell", NULL}}}},
		.comment = true,
		.lines = {NULL, ".config/kilo", "AGENTS.md", "AGENTS.md"},
		.patterns = {{"permission", "bash"}},
		.pattern = "",
		.allow = "\"terse read *\", \"terse search *\" and \"terse list*\"",
		.note = "its permissions go on matching the commands as the model writes them\n"
			"a session is one process of it; terse gc ends it when that is gone\n",
	},
	{
		.agent = "grok",
		.programs = "grok",
		.lines = {NULL, ".grok", "GROK.md", ".grok/GROK.md"},
		.note = "it has no setting for the shell of its commands\n"
			"of a command that failed it shows its model standard error alone\n",
		.start = "terse agent grok",
	},
	{
		.agent = "cursor",
		.programs = "cursor-agent|cursor",
		.files = {{.folder = {NULL, ".cursor", "hooks.json", ".cursor/hooks.json"},
			   .items = {{WIRING_PRESENT, {"version"}, "1", NULL},
				     {WIRING_HOOK,
				      {"hooks", "preToolUse"},
				      "{\"command\":%s,\"matcher\":\"Shell\"}",
				      "cursor preToolUse"},
				     {WIRING_HOOK,
				      {"hooks", "sessionEnd"},
				      "{\"command\":%s}",
				      "cursor sessionEnd"}}}},
		.lines = {NULL, NULL, NULL, "AGENTS.md"},
		.note = "by the contract of its hooks, not tried: commands are "
			"rewritten, and the hook asks you about each\n"
			"its own lists of commands see the rewritten ones\n",
	},
	{
		.agent = "crush",
		.programs = "crush",
		.files = {{.folder = {NULL, ".config/crush", "crush.json",
				      ".crush.json|crush.json"},
			   .items = {{WIRING_HOOK,
				      {"hooks", "PreToolUse"},
				      "{\"matcher\":\"^bash$\",\"command\":%s}",
				      "crush PreToolUse"}}}},
		.lines = {NULL, ".config/crush", "CRUSH.md", "AGENTS.md"},
		.note = "by the contract of its hooks, not tried: commands are rewritten, and its "
			"prompt shows the rewritten ones\n"
			"what it refuses to run by itself (curl, sudo ...) "
			"is not rewritten, so it still is\n",
	},
	{.agent = NULL},
};
