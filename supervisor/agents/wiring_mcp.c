// The agents that take terse mcp as a server of tools, and the file in which each looks for it; see
// wiring.h.

#include "supervisor/agents/wiring.h"

/* Most clients have the same object below a name of their own. */
#define SERVER(type) "{" type "\"command\":%s,\"args\":[\"mcp\"]}"
#define STDIO        "\"type\":\"stdio\","
#define LOCAL        "{\"type\":\"local\",\"command\":[%s,\"mcp\"],\"enabled\":true}"

#define ALLOW_TOOLS(prefix)                                                                        \
	prefix "read_command_output, " prefix "list_commands, " prefix "await_command and " prefix \
	       "screen"

const char wiring_mcp_names[] =
	"claude, codex, opencode, kilo, gemini, qwen, copilot, cursor, crush, vscode";

const struct wiring wirings_mcp[] = {
	{
		.agent = "claude",
		.programs = "claude",
		.files = {{.folder = {"CLAUDE_CONFIG_DIR", "", ".claude.json", ".mcp.json"},
			   .items = {{WIRING_MEMBER,
				      {"mcpServers", "terse"},
				      SERVER(STDIO),
				      NULL}}}},
		.note = "to let it read without asking, allow " ALLOW_TOOLS("mcp__terse__") "\n",
	},
	{
		.agent = "codex",
		.programs = "codex",
		.files = {{.folder = {"CODEX_HOME", ".codex", "config.toml", ".codex/config.toml"},
			   .items = {{WIRING_MEMBER, {"mcp_servers", "terse"}, SERVER(""), NULL}}}},
	},
	{
		.agent = "opencode",
		.programs = "opencode",
		.files = {{.folder = {NULL, ".config/opencode", "opencode.jsonc|opencode.json",
				      "opencode.jsonc|opencode.json"},
			   .items = {{WIRING_MEMBER, {"mcp", "terse"}, LOCAL, NULL}}}},
		.note = "to be asked before commands: \"permission\": {\"terse_run_command\": "
			"\"ask\"}\n",
	},
	{
		.agent = "kilo",
		.programs = "kilo|kilocode",
		.files = {{.folder = {NULL, ".config/kilo", "kilo.jsonc|kilo.json",
				      "kilo.jsonc|kilo.json"},
			   .items = {{WIRING_MEMBER, {"mcp", "terse"}, LOCAL, NULL}}}},
	},
	{
		.agent = "gemini",
		.programs = "gemini",
		.files = {{.folder = {NULL, ".gemini", "settings.json", ".gemini/settings.json"},
			   .items = {{WIRING_MEMBER, {"mcpServers", "terse"}, SERVER(""), NULL}}}},
	},
	{
		.agent = "qwen",
		.programs = "qwen",
		.files = {{.folder = {NULL, ".qwen", "settings.json", ".qwen/settings.json"},
			   .items = {{WIRING_MEMBER, {"mcpServers", "terse"}, SERVER(""), NULL}}}},
	},
	{
		.agent = "copilot",
		.programs = "copilot",
		.files = {{.folder = {"COPILOT_HOME", ".copilot", "mcp-config.json",
				      ".copilot/mcp-config.json"},
			   .items = {{WIRING_MEMBER,
				      {"mcpServers", "terse"},
				      "{\"type\":\"local\",\"command\":%s,\"args\":[\"mcp\"],"
				      "\"tools\":[\"*\"]}",
				      NULL}}}},
		.note = "by its documents, not tried\n",
	},
	{
		.agent = "cursor",
		.programs = "cursor-agent|cursor",
		.files = {{.folder = {NULL, ".cursor", "mcp.json", ".cursor/mcp.json"},
			   .items = {{WIRING_MEMBER, {"mcpServers", "terse"}, SERVER(""), NULL}}}},
		.note = "by its documents, not tried\n",
	},
	{
		.agent = "crush",
		.programs = "crush",
		.files = {{.folder = {NULL, ".config/crush", "crush.json",
				      ".crush.json|crush.json"},
			   .items = {{WIRING_MEMBER, {"mcp", "terse"}, SERVER(STDIO), NULL}}}},
		.note = "by its documents, not tried\n",
	},
	{
		.agent = "vscode",
		.programs = "code",
		.files = {{.folder = {NULL, ".config/Code/User", "mcp.json", ".vscode/mcp.json"},
			   .items = {{WIRING_MEMBER, {"servers", "terse"}, SERVER(STDIO), NULL}}}},
		.note = "by its documents, not tried\n",
	},
	{.agent = NULL},
};
