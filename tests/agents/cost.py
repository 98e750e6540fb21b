#!/usr/bin/env -S python3 -B
"""Checks that a command shows an agent at most 4 KB, or as much as without terse, if that is more. `terse read`
and `terse search` are exceptions: they print what they were asked for.

    AGENTS_DIR=DIR BUILD=DIR tests/agents/cost.py [NAME...]
"""

import os
import sys

os.environ.setdefault("DEADLINE", "1200")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from support.harness import main, write_file

from drivers import Claude, Codex, Copilot, Gemini, Kilo, Opencode, Pi, Qwen

LEAST = 4096

# What agents run: short and long texts, whole and cut lines, successes and failures, reads, searches, lists,
# streams, progress, colours, bytes that are no text.
COMMANDS = [
    "true", "false", "echo hello", "pwd; ls", "cat small", "cat medium", "cat large", "cat huge", "cat line",
    "cat lines", "head -n 100 huge", "tail -n 100 huge", "tail -c 20000 huge", "sed -n '100,900p' huge",
    "cat medium medium", "cat large; exit 1", "cat huge; exit 3", "cat line; exit 1", "grep 7 huge",
    "grep -n 77 huge", "grep -c 7 huge", "grep nothing huge", "grep -o x line", "find tree", "ls -l tree/a",
    "ls -R tree", "seq 100", "seq 1000", "seq 5000", "seq 100000", "seq 5000; exit 2", "seq 100000; exit 2",
    "seq 3000 >&2; echo out", "cat huge >&2; exit 4", "head -c 200000 /dev/urandom", "cat colours",
    "for i in {1..500}; do printf '\\r%d %%' $i; done; echo", "awk 'NR % 2' huge", "cat huge | sort -r",
    "diff medium large",
]


class Cost:
    """One conversation with terse, one without."""

    def setUp(self):
        super().setUp()
        for name, size in (("small", 500), ("medium", 8000), ("large", 27000), ("huge", 1000000)):
            text = "".join("%06d %s\n" % (n, "word " * (n % 13)) for n in range(size // 30))
            write_file(os.path.join(self.work, name), text[:size])
        write_file(os.path.join(self.work, "line"), "x y" * 33000 + "\n")
        write_file(os.path.join(self.work, "lines"), ("z" * 3000 + "\n") * 30)
        write_file(os.path.join(self.work, "colours"), "".join(
            "\x1b[3%dmline %d\x1b[0m of a report\n" % (n % 8, n) for n in range(2000)))
        for folder in "abc":
            os.makedirs(os.path.join(self.work, "tree", folder))
            for n in range(700):
                write_file(os.path.join(self.work, "tree", folder, "file-%04d.txt" % n), "")

    def test_no_command_costs_more(self):
        self.assertEqual(len(COMMANDS), 40)
        ours = self.drive_all()
        self.tearDown()
        self.setUp()
        wiring, self.wiring = self.wiring, "plain"
        theirs = self.drive_all(env={"TERSE": "0"})
        self.wiring = wiring
        dear, sums = [], [0, 0]
        for command, with_terse, without in zip(COMMANDS, ours, theirs):
            cost = [len(text.encode()) for text in (with_terse, without)]
            sums = [a + b for a, b in zip(sums, cost)]
            print("%8d %8d  %s" % (*cost, command))
            lost = self.lost and self.lost in without
            if cost[0] > max(cost[1] + len(self.status_line), LEAST) and not lost:
                dear.append((command, *cost))
        print("%8d %8d  together" % tuple(sums), flush=True)
        self.assertEqual(dear, [])

    def drive_all(self, **how):
        return [result for at in range(0, len(COMMANDS), self.most)
                for result in self.drive(*COMMANDS[at:at + self.most], **how)]

    # How many commands one conversation may have.
    most = len(COMMANDS)

    def plain(self):
        return {}

    # What terse adds for agents that show their model no exit status.
    status_line = ""
    # What it shows where it has lost the output.
    lost = None


class ClaudeCost(Cost, Claude):
    wiring = "prefix"


class CodexCost(Cost, Codex):
    wiring = "preload"


class PiCost(Cost, Pi):
    wiring = "preload"


class OpencodeCost(Cost, Opencode):
    wiring = "preload"
    status_line = "[terse: exit 1]\n\n"


class CopilotCost(Cost, Copilot):
    wiring = "agent"


class GeminiCost(Cost, Gemini):
    wiring = "agent"
    most = 10  # from about 30 turns on it asks its model whether it goes round in circles


class KiloCost(Cost, Kilo):
    wiring = "agent"
    status_line = "[terse: exit 1]\n\n"


class QwenCost(Cost, Qwen):
    wiring = "agent"
    lost = "Output: (empty)"


main()
