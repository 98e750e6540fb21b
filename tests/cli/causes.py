#!/usr/bin/env -S python3 -B
"""Previews of recorded runs of many tools. tests/preview/fails are runs that failed, most of them with
the cause in the middle of what they printed: NAME.labels has what a developer needs to mend it (the
message, its place, what was expected), written before any preview of it was looked at. tests/preview/passes
are runs that did not fail, half of them of tools that speak of failures all the time: no preview puts forward
what NAME.false has, which are parts of lines that look like failures and are none.

Each was recorded under a pseudo-terminal of 160 columns, with colours, and has nothing changed but paths.
NAME.cmd is what was typed. The floors are what previews kept when they were last measured, less a little;
`make bench-preview DATA=tests/preview/fails FLAGS='--tools --misses'` tells more."""

import lzma
import os
import re
import shutil
import subprocess

from support.harness import BUILD, SOURCE, TERSE, Case, main, put_forward, read_file, write_file

RECORDED = os.path.join(SOURCE, "tests", "preview")
FAILS = os.path.join(RECORDED, "fails")
PASSES = os.path.join(RECORDED, "passes")

# Percent of the runs in whose previews of that size all labels are kept, and any.
FLOOR = "1024=84/98,2048=96/99,4096=99/99"
# Percent of the runs of which an agent sees all labels, at the size that a failure has.
SEEN_FLOOR = 94
# Percent of the passes that put nothing false forward.
CALM_FLOOR = 100

# Stands in for the tool that a command names: writes what that wrote, and ends as it did.
REPLAY = '#!/bin/sh\ncat "$REPLAY_LOG"\nexit "$REPLAY_STATUS"\n'


def names_in(folder):
    return sorted(name[:-len(".log.xz")] for name in os.listdir(folder) if name.endswith(".log.xz"))


def read_lines(path):
    return read_file(path).decode().splitlines()


def read_log(stem):
    with lzma.open(stem + ".log.xz") as f:
        return f.read()


def fold_blanks(text):
    return re.sub(r"\s+", " ", text)


class Causes(Case):
    def test_previews_keep_them(self):
        done = subprocess.run([os.path.join(SOURCE, "tests", "bench", "preview"), BUILD, FAILS,
                               "--floor", FLOOR, "--misses"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self.env())
        self.assertEqual(done.returncode, 0, done.stdout.decode())
        self.assertGreaterEqual(len(names_in(FAILS)), 150)

    def test_an_agent_sees_them(self):
        """Whole runs of some of them: the command as it was typed, with a stand-in for the tool."""
        replay = write_file(os.path.join(self.work, "replay"), REPLAY, 0o755)
        tools = os.path.join(self.work, "tools")
        os.mkdir(tools)
        log = os.path.join(self.work, "log")
        names, seen, missed = names_in(FAILS)[::4], 0, []
        for name in names:
            stem = os.path.join(FAILS, name)
            command = read_file(stem + ".cmd").decode().strip()
            status = int(read_file(stem + ".exit"))
            write_file(log, read_log(stem))
            tool = os.path.join(tools, command.split()[0])
            if not os.path.exists(tool):
                shutil.copy(replay, tool)
            run = self.terse("--session", "causes", "-c", command,
                             env={"PATH": tools + ":" + os.environ["PATH"], "REPLAY_LOG": log,
                                  "REPLAY_STATUS": str(status)})
            self.assertEqual(run.code, status, name)
            shown = fold_blanks(run.out.decode("utf-8", "replace"))
            missing = [label for label in read_lines(stem + ".labels")
                       if fold_blanks(label).strip()[:80] not in shown]
            seen += not missing
            missed += ["%s: %s" % (name, label) for label in missing]
        self.assertGreaterEqual(len(names), 35)
        self.assertGreaterEqual(100 * seen, SEEN_FLOOR * len(names), "\n".join(missed))

    def test_nothing_false_is_put_forward(self):
        names, loud = names_in(PASSES), {}
        for name in names:
            stem = os.path.join(PASSES, name)
            done = subprocess.run([TERSE, "filter", "--preview", "--size", "4KB", "--exit-code",
                                   read_file(stem + ".exit").decode().strip()],
                                  input=read_log(stem), stdout=subprocess.PIPE, env=self.env(), check=True)
            shown = done.stdout.decode("utf-8", "replace")
            self.assertIn("\n[... ", shown, "%s is too short for a preview" % name)
            for label in read_lines(stem + ".labels"):
                self.assertIn(label, shown, "%s: %s" % (name, shown))
            false = read_lines(stem + ".false")
            self.assertTrue(false, name)
            lines = [line for line in put_forward(shown) if any(text in line for text in false)]
            if lines:
                loud[name] = lines
        self.assertGreaterEqual(len(names), 20)
        self.assertGreaterEqual(100 * (len(names) - len(loud)), CALM_FLOOR * len(names), loud)


main()
