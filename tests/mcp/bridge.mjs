// An HTTP server (Streamable HTTP with plain JSON answers) in front of terse mcp, which speaks on its
// standard streams only: the conformance suite talks HTTP. Each MCP session is a process of its own.
//   node bridge.mjs TERSE     prints the URL, and serves until standard input is closed

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { randomUUID } from "node:crypto";

const sessions = new Map();

function open() {
  const child = spawn(process.argv[2], ["mcp"], { stdio: ["pipe", "pipe", "inherit"] });
  const session = { child, waiting: new Map() };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    session.waiting.get(JSON.stringify(message.id))?.(message);
  });
  return session;
}

function ask(session, message) {
  session.child.stdin.write(JSON.stringify(message) + "\n");
  if (message.id === undefined || !message.method) return null;
  const key = JSON.stringify(message.id);
  return new Promise((done) => session.waiting.set(key, done)).finally(() => session.waiting.delete(key));
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const host = request.headers.host ?? "";
  if (!/^(localhost|127\.0\.0\.1)(:|$)/.test(host)) return response.writeHead(403).end();
  if (request.method !== "POST") return response.writeHead(405).end();
  const message = JSON.parse(body);
  let id = request.headers["mcp-session-id"];
  if (message.method === "initialize") sessions.set((id = randomUUID()), open());
  const session = sessions.get(id);
  if (!session) return response.writeHead(404).end();
  const answer = await ask(session, message);
  response.writeHead(answer ? 200 : 202, { "content-type": "application/json", "mcp-session-id": id });
  response.end(answer ? JSON.stringify(answer) : undefined);
});
server.listen(0, "127.0.0.1", () => console.log(`http://localhost:${server.address().port}/mcp`));
process.stdin.resume().on("end", () => {
  for (const { child } of sessions.values()) child.stdin.end();
  process.exit(0);
});
