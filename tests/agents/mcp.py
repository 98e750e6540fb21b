#!/usr/bin/env -S python3 -B
"""Real agents with a model of ours, and terse as a server of tools (`terse init AGENT --mcp`) and nothing else: their
own shells are switched off by their own settings. A build that fails with 1 MB of output becomes a preview that
reaches the model once, the model reads on, `cd` is carried over, and a question is answered. A note for each agent
says which tools the model had, and what of the build reached it. The agents are those of check-agents: AGENTS_DIR,
BUILD."""

import os
import re
import sys

# Some agents take half a minute to begin on a loaded machine.
os.environ.setdefault("DEADLINE", "300")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from support.harness import main

import drivers
from model import Model

# The line that a model looks for is not where a preview would put it forward.
BUILD_FAILS = ("for i in $(seq 20000); do echo \"cc -c -o part_$i.o part_$i.c -O2 -Wall -Wextra\"; done; "
               "echo 'main.c:7: error: undeclared'; exit 2")
# The tools of the agents that execute commands.
SHELLS = {"Bash", "BashOutput", "Monitor", "REPL", "exec_command", "write_stdin", "shell", "shell_command", "local_shell", "bash",
          "run_shell_command"}
ID = re.compile(r"artifact_id=(cmd-[0-9a-z]+)")


class Served:
    """A group of cases for one agent."""
    wiring = "serve"
    wired = ()  # options of the agent, which switch its shell off

    def serve(self):
        self.ask("init", self.name, "--mcp")
        self.disable_shell()
        return {}

    def disable_shell(self):
        """By the agent's files, where its options do not."""

    def tool(self, name, **arguments):
        """A call of a tool, by the name that this agent gives it; arguments may need the results so far."""
        def call(results):
            found = sorted(t for t in self.model.tools if t.endswith(name) and "terse" in t)
            self.assertEqual(len(found), 1, sorted(self.model.tools))
            return found[0], {k: v(results) if callable(v) else v for k, v in arguments.items()}
        return call

    def last_id(self, results):
        return ID.search(results[-1].replace("\\", ""))[1]

    def test_served(self):
        self.model = Model(main=[
            self.tool("run_command", command=BUILD_FAILS, timeout=600000),
            self.tool("read_command_output", artifact_id=self.last_id, offset=12345, limit=1),
            self.tool("run_command", command="cd /usr; export A=carried"),
            self.tool("run_command", command="pwd; echo $A"),
            self.tool("run_command", command="read -p 'name: ' x; echo got $x"),
            self.tool("send_input", artifact_id=self.last_id, text="me", keys=["enter"])])
        self.model.needed = "run_command"
        build, line, _, carried, asked, answered = self.drive(model=self.model, options=self.wired)
        own = sorted(tool for tool in self.model.tools if "terse" not in tool)
        print("note  %s: besides terse's, the model had %s\n      of the build it was shown %d bytes: %s ... %s" % (
            self.name, ", ".join(own) or "no tools", len(build), repr(build[:60]), repr(build[-120:])))
        self.assertEqual(SHELLS & self.model.tools, set())
        self.assertEqual(build.count("main.c:7: error: undeclared"), 1, build)
        self.assertIn("[terse: exit 2 after ", build)
        self.assertLess(len(build), 9000)
        self.assertIn("part_12345.o", line)
        self.assertIn("/usr", carried)
        self.assertIn("carried", carried)
        self.assertIn("waiting for input", asked)
        self.assertIn("got me", answered)


class Claude(Served, drivers.Claude):
    wired = ["--disallowedTools", "Bash", "--allowedTools", "mcp__terse"]


class Codex(Served, drivers.Codex):
    wired = [*drivers.Codex.sandbox, "--disable", "shell_tool", "--disable", "unified_exec"]


class Opencode(Served, drivers.Opencode):
    def disable_shell(self):
        self.configure(tools={"bash": False})


class Gemini(Served, drivers.Gemini):
    def disable_shell(self):
        self.configure(tools={"exclude": ["run_shell_command"]})


if __name__ == "__main__":
    main()
