#!/usr/bin/env -S python3 -B
"""Compares the figures of `terse stats` with what the model has really received, byte for byte, in ten
conversations of real agents. The same commands without terse show what the agent's own cut would have been.

    AGENTS_DIR=DIR BUILD=DIR tests/agents/stats.py [NAME...]
"""

import json
import os
import re
import sys

os.environ.setdefault("DEADLINE", "300")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from support.harness import main, read_file, write_file

from drivers import Claude, Codex, Copilot, Gemini, Grok, Kilo, Opencode, Pi, Qwen

# What the record of the model is measured with: six bytes.
MEASURE = "seq 3"

# Each prints something, and ends with a newline. What runs of others have left is read in between.
SHOWN = ["seq 1 3000", "cat medium", "cat huge", "grep 77 huge", "ls tree", "seq 20 >&2; echo out",
         "for i in {1..50}; do printf '\\r%d %%' $i; done; echo", "cat colours", "printf 'caf\\303\\251 \\342\\202\\254\\n'"]
FAILING = ["seq 5000; exit 2", "seq 10; exit 1"]


def identifier(text):
    return re.findall(r"terse read (cmd-\w+)", text)[-1]


class Stats:
    """One conversation with terse, one without."""
    failing = FAILING
    warm_up = []  # commands that terse may not see
    inexact = 0.1

    def setUp(self):
        super().setUp()
        for name, size in (("medium", 8000), ("huge", 1000000)):
            text = "".join("%06d %s\n" % (n, "word " * (n % 13)) for n in range(size // 30))
            write_file(os.path.join(self.work, name), text[:size - 1] + "\n")
        write_file(os.path.join(self.work, "colours"), "".join(
            "\x1b[3%dmline %d\x1b[0m of a report\n" % (n % 8, n) for n in range(2000)))
        os.makedirs(os.path.join(self.work, "tree"))
        for n in range(700):
            write_file(os.path.join(self.work, "tree", "file-%04d.txt" % n), "")

    def stats(self):
        return json.loads(self.ask("stats", "--all", "--json"))["data"]

    def commands_run(self):
        """The journal's of all commands but terse's own, by their start."""
        sessions = os.path.join(self.store, "sessions")
        lines = b"".join(read_file(os.path.join(sessions, name, "journal.jsonl")) for name in os.listdir(sessions))
        runs = [json.loads(line) for line in lines.splitlines() if line.startswith(b'{"eventName":"terse.run"')]
        return sorted((run for run in runs if run["profile"] != "terse"), key=lambda run: run["startTimeUnixNano"])

    def received(self, results):
        """How many bytes of terse's are in each of them: what its agent put around them is none of these."""
        sizes = [len(self.text(result).encode()) for result in results]
        trimmed = len("1\n2\n3\n") - sizes[0]
        self.assertIn(trimmed, (0, 1), results[0])
        return [size + trimmed for size in sizes]

    def test_every_byte(self):
        first = len(self.warm_up)
        commands = [MEASURE, *SHOWN, *self.failing]
        results = self.drive(*self.warm_up, *commands,
                             lambda r: "terse read %s --lines 100-700" % identifier(self.text(r[first + 1])),
                             lambda r: "terse search %s 77" % identifier(self.text(r[first + 1])),
                             lambda r: "terse read %s | tail -n 5" % identifier(self.text(r[first + 3])))[first:]
        sizes = self.received(results)
        shown, read = sum(sizes[:len(commands)]), sum(sizes[len(commands):])
        found = self.stats()
        print("%-10s shown %d, read back %d; the model received %d and %d" % (
            self.name, found["shown"]["bytes"], found["read_back"]["bytes"], shown, read), flush=True)
        self.assertEqual((found["shown"]["bytes"], found["read_back"]["bytes"]), (shown, read),
                         list(zip(sizes, commands + ["read", "search", "tail"])))
        runs = self.commands_run()
        # Whether terse sees a warm-up is a matter of time: of those that it has seen, each is a run.
        seen = [run for run in runs if run["process.command_args"][-1] in self.warm_up]
        self.assertLessEqual(len(seen), len(self.warm_up))
        self.assertEqual((found["runs"] - len(seen), found["failed"]), (len(commands), len(self.failing)))
        self.assertEqual(found["reads"], 3)
        cuts = [run.get("shown", {}).get("own", 0) for run in runs if run not in seen]
        self.tearDown()
        self.setUp()
        self.wiring, wiring = "plain", self.wiring
        plain = self.received(self.drive(*self.warm_up, *commands, env={"TERSE": "0"})[first:])
        self.wiring = wiring
        own = found["own_cut"]["bytes"]
        print("%-10s own cut %d; without terse the model received %d" % ("", own, sum(plain)), flush=True)
        # It is counted over texts without colours and other escapes.
        self.assertLess(abs(own - sum(plain)), self.inexact * sum(plain), list(zip(commands, cuts, plain)))

    def plain(self):
        return {}


class ClaudePrefix(Stats, Claude):
    wiring = "prefix"


class ClaudeShell(Stats, Claude):
    wiring = "shell"


class CodexStats(Stats, Codex):
    wiring = "preload"
    warm_up = ["sleep 0.5"]


class PiStats(Stats, Pi):
    wiring = "preload"


class OpencodeStats(Stats, Opencode):
    wiring = "preload"


class KiloStats(Stats, Kilo):
    wiring = "agent"


class QwenStats(Stats, Qwen):
    """Without terse it loses the end of what quick commands print."""
    wiring = "agent"
    inexact = 1


class CopilotStats(Stats, Copilot):
    wiring = "agent"


class GeminiStats(Stats, Gemini):
    wiring = "agent"


class GrokStats(Stats, Grok):
    """It does not show its model the output of what fails."""
    wiring = "agent"
    failing = []

    def text(self, result):
        """Without the label in front of standard error."""
        return result.replace("\nSTDERR: ", "", 1)


main()
