// The official TypeScript SDK's client drives terse mcp: every tool, progress and
// cancellation. It is run by tests/mcp/check, in a directory below which the SDK
// is installed: node client.mjs TERSE

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "test", version: "1" });
const transport = new StdioClientTransport({
  command: process.argv[2],
  args: ["mcp"],
  env: { ...process.env },
  stderr: "inherit",
});
await client.connect(transport);

async function call(name, args = {}, options = {}) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  assert.equal(result.content.length, 1);
  assert.equal(result.structuredContent, undefined);
  return { text: result.content[0].text, isError: result.isError ?? false };
}
const text = async (name, args, options) => {
  const answer = await call(name, args, options);
  assert.equal(answer.isError, false, answer.text);
  return answer.text;
};
const idOf = (answer) => answer.match(/artifact_id=(cmd-[0-9a-z]+)/)[1];

// Tools.
const { tools } = await client.listTools();
assert.equal(tools.length, 9);
for (const tool of tools) assert.equal(typeof tool.annotations.readOnlyHint, "boolean");
assert.equal(await text("run_command", { command: "cd /usr; export A=1; echo hi" }), "hi\n");
assert.equal(await text("run_command", { command: "pwd; echo $A" }), "/usr\n1\n");
const failed = await text("run_command", { command: "seq 9000; echo error: it; exit 3" });
assert.match(failed, /error: it\n\[terse: exit 3 after /);
const artifact = idOf(failed);
assert.equal(await text("read_command_output", { artifact_id: artifact, offset: 4000, limit: 1 }).then((t) => t.split("\n")[0]), "4000");
assert.match(await text("read_command_output", { artifact_id: artifact, search: "^error" }), /9001:error: it/);
const asked = await text("run_command", { command: "read -p 'name: ' x; echo got $x; read -p 'more: ' y" });
const live = idOf(asked);
assert.match(asked, /waiting for input: "name: "/);
assert.match(await text("list_commands"), new RegExp("\n" + live + "  running "));
assert.match(await text("screen", { artifact_id: live }), /name:/);
assert.match(await text("send_input", { artifact_id: live, text: "me", keys: ["enter"] }), /got me/);
assert.match(await text("await_command", { artifact_id: live, timeout: 10 }), /waiting for input: "more: "/);
await text("signal_command", { artifact_id: live });
assert.match(await text("await_command", { artifact_id: live }), /killed by SIGTERM|exit/);
assert.match(await text("new_session", { session: "b" }), /session b begins/);
assert.match(await text("end_session", { session: "b" }), /session b has ended/);
assert.equal((await call("run_command", { command: "x", nonsense: 1 })).isError, true);
await assert.rejects(client.callTool({ name: "nonsense", arguments: {} }), /there is no tool nonsense/);

// Progress, and cancellation: the command ends.
const progress = [];
await text("run_command", { command: "echo one; sleep 1; echo two; sleep 1" }, { onprogress: (p) => progress.push(p) });
assert.ok(progress.length >= 1);
assert.match(progress.at(-1).message, /line/);
// What waits tells of its run, too, so that a call may outlast a client's own limit for silent ones.
const slow = idOf(await text("run_command", { command: "for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done; echo end", timeout: 100 }));
const waiting = [];
const limits = { timeout: 1500, resetTimeoutOnProgress: true, onprogress: (p) => waiting.push(p.message) };
let told = "";
while (!/\nend\n/.test("\n" + told)) told = await text("await_command", { artifact_id: slow }, limits);
assert.ok(waiting.length > 2 && /^\d lines?, \d+ B: \d$/.test(waiting[0]), String(waiting));
const cancel = new AbortController();
const sleeping = call("run_command", { command: "exec sleep 987654" }, { signal: cancel.signal });
await new Promise((done) => setTimeout(done, 300));
cancel.abort("enough");
await assert.rejects(sleeping);
assert.deepEqual(await client.ping(), {});
await client.close();
console.log("ok   the SDK's client");
