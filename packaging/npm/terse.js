#!/usr/bin/env node
// Executes the program for this machine, which is in a package of its own. Agents that `terse init`
// wires up execute it without this file.
"use strict";
const { spawn } = require("child_process");
const { constants } = require("os");
const path = require("path");

const name = "terse-cli-linux-" + process.arch;
let program;
try {
	const called = path.basename(process.argv[1]) === "terse-sh" ? "terse-sh" : "terse";
	program = path.join(path.dirname(require.resolve(name + "/package.json")), "bin", called);
} catch {
	console.error("terse: the package " + name + " is missing: npm install terse-cli, on Linux and without --omit=optional");
	process.exit(125);
}
const args = process.argv.slice(2);
if (process.execve) {
	process.execve(program, [program, ...args], process.env);
}
const child = spawn(program, args, { stdio: "inherit" });
const passed = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR2", "SIGCONT", "SIGWINCH"];
for (const signal of passed) {
	process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
	console.error("terse: " + program + ": " + error.message);
	process.exit(125);
});
child.on("exit", (code, signal) => {
	if (signal === null) {
		process.exit(code);
	}
	passed.forEach((each) => process.removeAllListeners(each));
	process.kill(process.pid, signal);
	// One that does not end this process.
	setTimeout(() => process.exit(128 + constants.signals[signal]), 1000);
});
