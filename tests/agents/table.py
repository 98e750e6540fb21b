#!/usr/bin/env -S python3 -B
"""Prints a table of agents and scenarios: what the model gets with terse, as `terse init` or `terse agent` wires
the agent up, and what it gets without.

    AGENTS_DIR=DIR BUILD=DIR tests/agents/table.py [NAME...]

A scenario fails where the model does not get what it needs, and terse is there.
"""

import os
import re
import sys

os.environ.setdefault("DEADLINE", "600")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from support.harness import main

from drivers import Claude, Codex, Copilot, Gemini, Grok, Kilo, Opencode, Pi, Qwen

SERVER = "seq -f '[build] compiled module number %g of the application' 40; echo Server ready; exec sleep 30"
# What is looked for is not in the command, which some agents quote.
CAUSE = ("x=frobnicate; seq -f 'compiling unit_%g.c' 700; echo \"main.c:12: undefined reference to '$x'\"; "
         "seq -f 'compiling unit_%g.c' 701 1500; exit 2")
PROGRESS = "for i in {1..400}; do printf '\\r%3d%%' $i; done; echo; echo done"
QUESTION = "read -p 'name: ' n; echo hello $n"
SLOW = "x=lock; seq 3000; echo waiting for the $x of the database; sleep 100"


def any_id(text):
    return re.findall(r"cmd-\w+", text)[-1]


def any_file(text):
    return re.search(r"/\S+\.output", text)[0]


def when_ready(path):
    """A command that ends as soon as the server's words are in the file. Qwen Code runs no plain sleep."""
    return "timeout 30 sh -c 'until grep -q Server.ready %s; do sleep 0.1; done'" % path


def has(*parts):
    """What makes a result good: these are in it."""
    return lambda text: all(part in text for part in parts)


def is_short(text):
    """What a progress bar leaves."""
    return text.rstrip().endswith("done") and len(text) < 200


class Row:
    """One scenario of one agent: steps, of which the last has to show something, and others that end what
    they have begun."""

    def __init__(self, name, steps, good, plain=None, ending=(), as_without=False):
        self.name, self.steps, self.good, self.as_without = name, steps, good, as_without
        self.plain = steps if plain is None else plain  # without terse
        self.ending = list(ending)


class Table:
    """Three conversations with terse and three without."""

    def rows(self):
        def large(r):
            name = any_id(r[-1])
            return "terse read %s --lines 100000-100001" % name
        run = self.in_one
        return [
            Row("large output: both ends", ["seq 200000"], has("1\n2\n3\n", "\n200000\n")),
            Row("reading on", ["seq 200000", large], has("100000\n100001"), plain=[]),
            Row("failure: its cause", [CAUSE], has("reference to 'frobnicate'")),
            Row("failure: its status", ["echo why >&2; exit 3"], lambda text: self.status(self.raw) == 3),
            Row("progress", [run(PROGRESS)], is_short),
            Row("two calls at once", [["seq 3000; echo one", "seq 4000; echo two"]],
                has("\n4000\ntwo")),
            Row("cd carries over", ["mkdir -p sub", "cd sub", "pwd"], has("/sub"), as_without=True),
            Row("server, by a comment", [SERVER + " # terse: yield=5s"],
                has("Server ready"), plain=[]),
            Row("prompt", [QUESTION + " # terse: yield=60s",
                           lambda r: "terse send %s world --key enter --await" % any_id(r[-1])],
                has("hello world"), plain=["timeout 5 bash -c \"%s\"" % QUESTION.replace("$", "\\$")]),
        ]

    def in_one(self, command):
        return command

    def test_table(self):
        bad = []
        for make, options in ((self.rows, {}), (self.background_rows, {}), (self.timeout_rows, self.for_timeouts())):
            rows = make()
            ours = self.play([(row.steps, row.ending) for row in rows], options)
            wiring, self.wiring = self.wiring, "plain"
            self.tearDown()
            self.setUp()
            theirs = self.play([(row.plain, row.ending) for row in rows], options)
            self.wiring = wiring
            self.tearDown()
            self.setUp()
            for row, with_terse, without in zip(rows, ours, theirs):
                print("| %s | %s | %s | %s |" % (self.name, row.name, self.cell(row, with_terse),
                                                 self.cell(row, without)), flush=True)
                wanted = self.good(row, without) if row.as_without else row.name not in self.hidden
                if self.good(row, with_terse) != wanted:
                    bad.append((row.name, with_terse))
        self.assertEqual(bad, [])

    def good(self, row, result):
        """The command's own text decides, where there is one."""
        if result is None:
            return True
        self.raw = result
        try:
            text = self.text(result)
        except IndexError:
            text = None
        try:
            return bool(row.good(text or result))
        except (IndexError, ValueError, TypeError):
            return False

    def cell(self, row, result):
        if result is None:
            return "-"
        return "%s, %s B" % ("yes" if self.good(row, result) else "no", format(len(result.encode()), ","))

    def play(self, groups, options):
        """One conversation. Returns the last result of each group of steps; None where there are none."""
        steps, ends = [], []
        for group, ending in groups:
            steps += group
            ends.append(sum(len(s) if isinstance(s, list) else 1 for s in steps) if group else None)
            steps += ending if group else []
        if not steps:
            return [None] * len(groups)
        results = self.drive(*steps, **options)
        return [None if end is None else results[end - 1] for end in ends]

    def plain(self):
        return {}

    hidden = ()  # what the agent shows its model of no command

    def background_rows(self):
        steps = self.background(SERVER)
        return [Row("server, by its own tool", steps, has("Server ready"), ending=self.ending)] if steps else []

    def timeout_rows(self):
        steps = self.limited(SLOW)
        return [Row("timeout: the last words", steps, has("waiting for the lock"))] if steps else []

    ending = []

    def background(self, command):
        """Steps of which the last shows what a command in the background has printed; `ending` ends it."""
        return []

    def limited(self, command):
        """A step with a timeout of a few seconds."""
        return []

    def for_timeouts(self):
        return {}


class ClaudeTable(Table, Claude):
    wiring = "init"

    def background(self, command):
        return [(None, {"command": command, "description": "a server", "run_in_background": True}),
                lambda r: when_ready(any_file(r[-1])),
                lambda r: ("Read", {"file_path": any_file(r[-2])})]

    def limited(self, command):
        return [(None, {"command": command, "timeout": 5000, "description": "slow"})]

    def for_timeouts(self):
        return {"env": {"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"}}


class CodexTable(Table, Codex):
    wiring = "init"

    def background(self, command):
        return [("exec_command", {"cmd": command, "yield_time_ms": 5000})]

    def limited(self, command):
        return [("exec_command", {"cmd": command, "yield_time_ms": 5000})]


class PiTable(Table, Pi):
    wiring = "init"

    def limited(self, command):
        return [(None, {"command": command, "timeout": 5})]


class OpencodeTable(Table, Opencode):
    wiring = "init"

    def limited(self, command):
        return [(None, {"command": command, "timeout": 5000, "description": "slow"})]


class KiloTable(OpencodeTable, Kilo):
    def background(self, command):
        return [("background_process", {"action": "start", "command": command, "description": "a server",
                                        "ready": {"pattern": "Server ready", "timeout": 10000}}),
                lambda r: ("background_process", {"action": "logs", "id": re.search(
                    r"(?:id|ID)\W+(\w+)", r[-1])[1]})]


class QwenTable(Table, Qwen):
    wiring = "agent"

    def background(self, command):
        return [(None, {"command": command, "is_background": True, "description": "a server"}),
                lambda r: when_ready(any_file(r[-1])),
                lambda r: ("read_file", {"file_path": any_file(r[-2])})]

    def limited(self, command):
        return [(None, {"command": command, "timeout": 5000, "is_background": False, "description": "slow"})]


class CopilotTable(Table, Copilot):
    wiring = "agent"
    ending = [("stop_bash", {"shellId": "server"})]

    def background(self, command):
        return [(None, {"command": command, "description": "a server", "mode": "async", "shellId": "server"}),
                ("read_bash", {"shellId": "server", "delay": 5})]

    def timeout_rows(self):
        """It goes on after that."""
        slow = {"command": SLOW, "description": "slow", "mode": "sync", "initial_wait": 30, "shellId": "server"}
        return [Row("timeout: the last words", [(None, slow)], has("waiting for the lock"), ending=self.ending)]


class GeminiTable(Table, Gemini):
    wiring = "agent"

    def background(self, command):
        return [(None, {"command": command, "description": "a server", "is_background": True, "delay_ms": 1000}),
                lambda r: ("read_background_output", {"pid": int(re.search(r"PID: (\d+)", r[-1])[1]),
                                                      "delay_ms": 4000})]

    def limited(self, command):
        self.configure(tools={"shell": {"inactivityTimeout": 5}})
        return [command]


class GrokTable(Table, Grok):
    wiring = "agent"
    # Of what fails it shows standard error alone.
    hidden = ("failure: its cause", "timeout: the last words")

    def in_one(self, command):
        return "bash -c \"%s\"" % command.replace("$", "\\$")

    def limited(self, command):
        return [command]


if __name__ == "__main__":
    main()
