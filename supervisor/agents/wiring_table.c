// The agents and the changes to their files; see wiring.h.
//
// Tried with Claude Code 2.1.197, Codex 0.169.0, opencode 1.18.33, pi 0.73.1, Kilo 7.7.7, Gemini
// CLI 0.61.0, Qwen Code 0.24.4, GitHub Copilot CLI 1.0.102 and Grok CLI 0.0.34. Gemini CLI checks
// its policy after a hook has rewritten the command, so deny rules would no longer match. Gemini
// CLI, Qwen Code, Copilot CLI and Grok CLI have no setting for the shell. `comment` is set for
// agents whose rules judge a command alike with and without a comment at its end, and for pi, which
// has no rules. Codex's rules judge it differently; the rules of other agents were not tried.
// Cursor is known only from its documentation.

#include "supervisor/agents/wiring.h"

#define LINES                                                                        \
	"Shell commands run under terse here: short output is printed whole, "       \
	"long output as a preview.\n"                                                \
	"Do not add head, tail or 2>&1 to shorten output. "                          \
	"A line \"[... lines N-M]\" stands for\n"                                    \
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

/* Only for agents whose rules ignore the comment. */
#define COMMENT                                                                  \
	"For a server, a slow command or one that asks, end it with a comment: " \
	"`COMMAND # terse: yield=10s`\n"                                         \
	"returns after 10 s at most, with its output so far and an ID; "         \
	"`# terse: timeout=5m, size=20KB` sets these.\n"

const char wiring_lines[] = LINES, wiring_lines_with_comment[] = LINES COMMENT;

/* One hook in a group, as Claude Code and Gemini CLI have them. */
#define GROUP "{\"hooks\":[{\"type\":\"command\",\"command\":%s}]}"

/* Like GROUP, but for tools that match a pattern; `more`: further members of the hook. */
#define MATCHING(tools, more) \
	"{\"matcher\":\"" tools "\",\"hooks\":[{\"type\":\"command\"," more "\"command\":%s}]}"

#define PLUGIN(agent)                                                                             \
	"// Written by terse init " agent "; terse init " agent " --undo removes it.\n"           \
	"import { spawnSync } from \"node:child_process\";\n\n"                                   \
	"const hook = (event, input) => spawnSync(%s, [\"hook\", \"opencode\", event], {\n"       \
	"  input: JSON.stringify(input), encoding: \"utf8\", timeout: 5000,\n"                    \
	"});\n\n"                                                                                 \
	"// Each conversation is a session of its own, and ends when it is deleted. Permission\n" \
	"// rules do not see a command that terse runs, so none is typed with terse in front.\n"  \
	"// A command is handed over before its timeout.\n"                                       \
	"const limits = new Map();\n\n"                                                           \
	"export const Terse = async () => ({\n"                                                   \
	"  \"shell.env\": async (input, output) => {\n"                                           \
	"    if (input.sessionID) output.env.TERSE_SESSION = input.sessionID;\n"                  \
	"    const limit = limits.get(input.callID);\n"                                           \
	"    if (limit) output.env.TERSE_HAND_OVER = Math.min(limit, 864e5) + \"ms\";\n"          \
	"    limits.delete(input.callID);\n"                                                      \
	"  },\n"                                                                                  \
	"  \"tool.execute.before\": async (input, output) => {\n"                                 \
	"    const command = output.args?.command;\n"                                             \
	"    if (input.tool === \"bash\") limits.set(input.callID, output.args?.timeout);\n"      \
	"    if (input.tool !== \"bash\" || !/\\bterse\\b/.test(command)) return;\n"              \
	"    const said = hook(\"tool.execute.before\", { tool_input: { command } }).stdout;\n"   \
	"    if (said) throw new Error(said.trim());\n"                                           \
	"  },\n"                                                                                  \
	"  event: async ({ event }) => {\n"                                                       \
	"    if (event.type === \"session.deleted\") hook(event.type, event);\n"                  \
	"  },\n"                                                                                  \
	"});\n"

/* Items: the keys come last. */
#define PATH_OF(member, ...)  WIRING_STRING, {__VA_ARGS__}, member, NULL
#define HOOK(text, call, ...) WIRING_HOOK, {__VA_ARGS__}, text, call
#define SERVER_AT(text, ...)  WIRING_MEMBER, {__VA_ARGS__}, text, NULL
#define PRESENT(value, ...)   WIRING_PRESENT, {__VA_ARGS__}, value, NULL
#define POLICY(member, name)  PATH_OF(member, "shell_environment_policy", "set", name)

/* Folders of agents, each with the names of the user's and of the project's file. */
#define IN(variable, home, user, project)     \
	{                                     \
		variable, home, user, project \
	}
#define FILE_IN(home, user, project) IN(NULL, home, user, project)
#define SETTINGS(folder)             FILE_IN(folder, "settings.json", folder "/settings.json")
#define EITHER(folder, name) \
	FILE_IN(folder, name ".jsonc|" name ".json", name ".jsonc|" name ".json")
#define CODEX_FILE IN("CODEX_HOME", ".codex", "config.toml", ".codex/config.toml")

#define NO_SHELL "it has no setting for the shell of its commands\n"
#define MATCHES  "its permissions go on matching the commands as the model writes them\n"

/* The agent has no configuration file that could name terse. */
#define BY_START(agent_, programs_, note_)                                   \
	{                                                                    \
		.agent = (agent_), .programs = (programs_), .note = (note_), \
		.start = "terse agent " agent_                               \
	}

/* A shell that an agent types into replaces itself with `terse shell` at its start if
   TERSE_INTERACTIVE is "yes". The new shell reads the rest of a login shell's files. */
#define TYPED_INTO(shell_, name, login, variable, file)                                            \
	{                                                                                          \
		.agent = (shell_), .programs = (shell_), .shell = true,                            \
		.files = {{.folder = IN(variable, "", file, NULL),                                 \
			   .items = {{WIRING_LINE,                                                 \
				      {NULL},                                                      \
				      "[[ $- != *i* || ${TERSE_INTERACTIVE-} != yes || -n ${" name \
				      "_EXECUTION_STRING-} || ! -t 0 || ! -t 1 || ! -x %s ]] || "  \
				      "exec %s shell " shell_ " $(" login                          \
				      " && echo -l)  # terse init " shell_ "\n",                   \
				      NULL}}}},                                                    \
		.note = "TERSE_INTERACTIVE=yes in the environment of the program that types "      \
			"into it asks for it; elsewhere that line does nothing\n",                 \
	}

const struct wiring wirings[] = {
	{
		.agent = "claude",
		.programs = "claude",
		.files = {{.folder = IN("CLAUDE_CONFIG_DIR", ".claude", "settings.json",
					".claude/settings.local.json"),
			   .items = {{PATH_OF("shell", "env", "CLAUDE_CODE_SHELL_PREFIX")},
				     {HOOK(GROUP, "claude SessionEnd", "hooks", "SessionEnd")},
				     {HOOK(MATCHING("Bash", "\"if\":\"Bash(terse *)\","),
					   "claude PreToolUse", "hooks", "PreToolUse")}}}},
		.shared = ".claude/settings.json",
		.comment = true,
		.allow = "Bash(terse read:*), Bash(terse search:*) and Bash(terse list:*)",
		.note = "its permission rules go on matching the "
			"commands as the model writes them\n",
	},
	{
		.agent = "codex",
		.programs = "codex",
		.files = {{.folder = CODEX_FILE,
			   .items = {{POLICY("library", "LD_PRELOAD")},
				     {POLICY("shell", "TERSE_SHIM_SHELL")},
				     {POLICY("bash_env", "BASH_ENV")}}}},
		.note = "its rules and its sandbox go on deciding about the "
			"commands as the model writes them\n"
			"shell_environment_policy.include_only, if it is set, has to have "
			"LD_PRELOAD, TERSE_SHIM_SHELL and BASH_ENV\n"
			"it has no event for the end of a "
			"conversation: terse gc ends the session\n",
	},
	{
		.agent = "opencode",
		.programs = "opencode",
		.files = {{.folder = EITHER(".config/opencode", "opencode"),
			   .items = {{PATH_OF("shell", "shell")}}},
			  {.folder = FILE_IN(".config/opencode", "plugins/terse.js",
					     ".opencode/plugins/terse.js"),
			   .items = {{WIRING_FILE, {NULL}, PLUGIN("opencode"), NULL}}}},
		.comment = true,
		.allow = "\"terse read *\", \"terse search *\" and \"terse list*\"",
		.note = MATCHES,
	},
	{
		.agent = "pi",
		.programs = "pi",
		.files = {{.folder = IN("PI_CODING_AGENT_DIR", ".pi/agent", "settings.json",
					".pi/settings.json"),
			   .items = {{PATH_OF("shell", "shellPath")}}}},
		.comment = true,
		.note = "a session is one process of pi; terse gc ends it when that is gone\n",
	},
	{
		.agent = "gemini",
		.programs = "gemini",
		.files = {{.folder = SETTINGS(".gemini"),
			   .items = {{HOOK(GROUP, "gemini SessionEnd", "hooks", "SessionEnd")},
				     {HOOK(MATCHING("run_shell_command", ""), "gemini BeforeTool",
					   "hooks", "BeforeTool")}}}},
		.comment = true,
		.allow = "run_shell_command(terse read), run_shell_command(terse search) and "
			 "run_shell_command(terse list)",
		.note = "it has no setting for the shell of its commands, and its deny rules "
			"would not match what a hook makes of them\n",
		.start = "terse agent gemini",
	},
	BY_START("qwen", "qwen",
		 NO_SHELL "a session is one process of it; terse gc ends it when that is gone\n"),
	{
		.agent = "copilot",
		.programs = "copilot",
		.comment = true,
		.note = NO_SHELL MATCHES,
		.start = "terse agent copilot",
	},
	{
		.agent = "kilo",
		.programs = "kilo|kilocode",
		.files = {{.folder = EITHER(".config/kilo", "kilo"),
			   .items = {{PATH_OF("shell", "shell")}}},
			  {.folder = FILE_IN(".config/kilo", "plugins/terse.js",
					     ".kilo/plugins/terse.js"),
			   .items = {{WIRING_FILE, {NULL}, PLUGIN("kilo"), NULL}}}},
		.comment = true,
		.allow = "\"terse read *\", \"terse search *\" and \"terse list*\"",
		.note = MATCHES,
	},
	BY_START("grok", "grok",
		 NO_SHELL "of a command that failed it shows its model standard error alone\n"),
	{
		.agent = "cursor",
		.programs = "cursor-agent|cursor",
		.files = {{.folder = FILE_IN(".cursor", "hooks.json", ".cursor/hooks.json"),
			   .items = {{PRESENT("1", "version")},
				     {HOOK("{\"command\":%s,\"matcher\":\"Shell\"}",
					   "cursor preToolUse", "hooks", "preToolUse")},
				     {HOOK("{\"command\":%s}", "cursor sessionEnd", "hooks",
					   "sessionEnd")}}}},
		.note = "by the contract of its hooks, not tried: commands are rewritten, and the "
			"hook asks you about each\n"
			"its own lists of commands see the rewritten ones\n",
	},
	{
		.agent = "crush",
		.programs = "crush",
		.files = {{.folder =
				   FILE_IN(".config/crush", "crush.json", ".crush.json|crush.json"),
			   .items = {{HOOK("{\"matcher\":\"^bash$\",\"command\":%s}",
					   "crush PreToolUse", "hooks", "PreToolUse")}}}},
		.note = "by the contract of its hooks, not tried: it asks you about the rewritten "
			"commands, and what it refuses is not rewritten\n",
	},
	TYPED_INTO("bash", "BASH", "shopt -q login_shell", NULL, ".bashrc"),
	TYPED_INTO("zsh", "ZSH", "[[ -o login ]]", "ZDOTDIR", ".zshrc"),
	BY_START("aider", "aider", NO_SHELL),
	BY_START("goose", "goose", NO_SHELL),
	BY_START("mini", "mini|mini-swe-agent", NO_SHELL),
	{.agent = NULL},
};

/* --- terse mcp ---------------------------------------------------------------------- */

/* Most clients have the same object, below different keys. */
#define SERVER(type) "{" type "\"command\":%s,\"args\":[\"mcp\"]}"
#define STDIO        "\"type\":\"stdio\","
#define LOCAL        "{\"type\":\"local\",\"command\":[%s,\"mcp\"],\"enabled\":true}"

#define ALLOW_TOOLS(prefix)                                                                        \
	prefix "read_command_output, " prefix "list_commands, " prefix "await_command and " prefix \
	       "screen"
#define BY_DOCUMENTS "by its documents, not tried\n"

#define CLIENT(agent_, programs_, folder_, text, key, note_)                                \
	{                                                                                   \
		.agent = (agent_), .programs = (programs_),                                 \
		.files = {{.folder = folder_, .items = {{SERVER_AT(text, key, "terse")}}}}, \
		.note = (note_),                                                            \
	}

const struct wiring wirings_mcp[] = {
	CLIENT("claude", "claude", IN("CLAUDE_CONFIG_DIR", "", ".claude.json", ".mcp.json"),
	       SERVER(STDIO), "mcpServers",
	       "to let it read without asking, allow " ALLOW_TOOLS("mcp__terse__") "\n"),
	{
		.agent = "codex",
		.programs = "codex",
		.files = {{.folder = CODEX_FILE,
			   .items = {{PRESENT("[\"mcp\"]", "mcp_servers", "terse", "args")},
				     {PATH_OF("program", "mcp_servers", "terse", "command")}}}},
	},
	CLIENT("opencode", "opencode", EITHER(".config/opencode", "opencode"), LOCAL, "mcp",
	       "to be asked before commands: \"permission\": {\"terse_run_command\": \"ask\"}\n"),
	CLIENT("kilo", "kilo|kilocode", EITHER(".config/kilo", "kilo"), LOCAL, "mcp", NULL),
	CLIENT("gemini", "gemini", SETTINGS(".gemini"), SERVER(""), "mcpServers", NULL),
	CLIENT("qwen", "qwen", SETTINGS(".qwen"), SERVER(""), "mcpServers", NULL),
	CLIENT("copilot", "copilot",
	       IN("COPILOT_HOME", ".copilot", "mcp-config.json", ".copilot/mcp-config.json"),
	       "{\"type\":\"local\",\"command\":%s,\"args\":[\"mcp\"],\"tools\":[\"*\"]}",
	       "mcpServers", BY_DOCUMENTS),
	CLIENT("cursor", "cursor-agent|cursor", FILE_IN(".cursor", "mcp.json", ".cursor/mcp.json"),
	       SERVER(""), "mcpServers", BY_DOCUMENTS),
	CLIENT("crush", "crush", FILE_IN(".config/crush", "crush.json", ".crush.json|crush.json"),
	       SERVER(STDIO), "mcp", BY_DOCUMENTS),
	CLIENT("vscode", "code", FILE_IN(".config/Code/User", "mcp.json", ".vscode/mcp.json"),
	       SERVER(STDIO), "servers", BY_DOCUMENTS),
	{.agent = NULL},
};
