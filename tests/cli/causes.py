#!/usr/bin/env -S python3 -B
"""Previews of recorded runs of many tools. tests/preview/fails are runs that failed, most of them with
the cause in the middle of what they printed: NAME.labels has what a developer needs to mend it (the
message, its place, what was expected), written before any preview of it was looked at. tests/preview/passes
are runs that did not fail, half of them of tools that speak of failures all the time: no preview puts forward
what NAME.false has, which are parts of lines that look like failures and are none.

Each was recorded under a pseudo-terminal of 160 columns, with colours, and has nothing changed but paths.
NAME.cmd is what was typed. The floors are what previews kept when they were last measured, less a little: rules for single tools,
which kept more of these and less of others' logs, were given up for weights that are fitted on all (docs/preview.md);
`make bench-preview DATA=tests/preview/fails FLAGS='--tools --misses'` tells more."""

import lzma
import os
import re
import shutil
import subprocess

from support.harness import BUILD, SOURCE, TERSE, Case, let_go_on, main, put_forward, read_file, write_file

RECORDED = os.path.join(SOURCE, "tests", "preview")
FAILS = os.path.join(RECORDED, "fails")
PASSES = os.path.join(RECORDED, "passes")

# Percent of the runs in whose previews of that size all labels are kept, and any.
FLOOR = "1024=80/99,2048=90/99,4096=96/99"
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
            done = subprocess.run([TERSE, "filter", "--preview", "--profile", "build", "--size", "4KB", "--exit-code",
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


# What shows files and tables, with one thing wrong: the command, and what tells what that is.
SHOWS = (
    ("cat big nofile", "nofile: No such file"),
    ("cat big nofile big", "nofile: No such file"),
    ("cat big; echo 'Error: the cause'; exit 1", "Error: the cause"),
    ("cat big; echo 'it was a Tuesday'; exit 1", "it was a Tuesday"),
    ("awk '{ print } END { print \"column 7 is not there\" >\"/dev/stderr\"; exit 2 }' big", "column 7 is not there"),
    ("jq . good.json nofile", "Could not open file nofile"),
    ("jq . cut.json", "parse error"),
    ("diff big other; diff big nofile", "nofile: No such file"),
    ("sqlite3 base 'select * from numbers; select * from nowhere'", "no such table"),
    ("tar -tvf cut.tar", "Unexpected EOF"),
    ("find tree nofile", "nofile"),
    ("du -a tree nofile", "cannot access 'nofile'"),
    ("ls -lR tree nofile", "cannot access 'nofile'"),
    ("grep -rn f tree big nofile", "nofile: No such file"),
    ("grep -n 1 big nofile", "nofile: No such file"),
    ("sed s/1/one/ big nofile", "can't read nofile"),
    ("head -n 4000 big nofile", "cannot open 'nofile'"),
    ("tail -n 4000 big nofile", "cannot open 'nofile'"),
    ("tac big nofile", "failed to open 'nofile'"),
    ("nl big nofile", "nofile: No such file"),
    ("cut -c1-9 big nofile", "nofile: No such file"),
    ("sort big; sort nofile", "cannot read: nofile"),
    ("xxd big; xxd nofile", "nofile: No such file"),
    ("od big nofile", "nofile: No such file"),
    ("objdump -s big.tar nofile", "nofile"),
    ("strings big nofile", "nofile"),
    ("wc -l tree/* nofile", "nofile: No such file"),
    ("stat tree/* nofile", "cannot statx 'nofile'"),
)

BASE = "create table numbers (n); with recursive r(n) as (select 1 union all select n + 1 from r limit 5000) " \
       "insert into numbers select n from r"


class Shows(Case):
    """A text that is shown by its first lines is still a run with an outcome."""

    def setUp(self):
        super().setUp()
        at = lambda name: os.path.join(self.work, name)
        os.mkdir(at("tree"))
        for n in range(600):
            write_file(at("tree/file-%d" % n), b"of file %d\n" % n)
        write_file(at("big"), b"".join(b"%d\n" % n for n in range(1, 5001)))
        write_file(at("other"), b"".join(b"%d.\n" % n for n in range(1, 5001)))
        write_file(at("good.json"), b"[%s]" % b",".join(b"%d" % n for n in range(5000)))
        write_file(at("cut.json"), b"[1] " * 5000 + b"[1, }")
        subprocess.run("tar -cf big.tar tree; head -c 300500 big.tar >cut.tar; ! command -v sqlite3 >&2 || "
                       "sqlite3 base \"$BASE\"", shell=True, cwd=self.work, check=True, stderr=subprocess.DEVNULL,
                       env={**os.environ, "BASE": BASE})
        self.shows = [show for show in SHOWS if shutil.which(show[0].split()[0])]
        self.assertGreaterEqual(len(self.shows), 20)

    def each(self, *options, **how):
        """Checks what the commands print as a run with such options. Returns how much that is at most."""
        longest = 0
        for command, cause in self.shows:
            run = self.terse(*options, "-c", command, **how)
            self.assertNotEqual(run.code, 0, command)
            shown = run.out + (run.err or b"")
            self.assertIn(cause, shown.decode(), (options, command))
            longest = max(longest, len(shown))
        return longest

    def test_the_cause_is_printed(self):
        self.assertGreater(self.each(), 25000)
        self.each("--streams", "split", split=True)
        for mode in ("smart", "head", "tail", "ends"):
            self.assertLess(self.each("--mode", mode, "--size", "2KB"), 2 * 1024 * 115 // 100 + 400)

    def test_the_cause_is_printed_behind_what_was_live(self):
        for mode in ("smart", "head", "tail", "ends"):
            for text in ("big", "tree/file-1"):
                gate = self.fifo("%s-%d" % (mode, len(text)))
                run = self.start(TERSE, "--mode", mode, "--size", "8KB", "--head-share", "100", "-c",
                                 "cat %s; read x <%s; cat big; echo 'Error: the cause'; cat tree/* nofile" % (text, gate))
                run.until(rb"of file 1\n" if text != "big" else rb"\n")
                let_go_on(gate)
                run.finish()
                self.assertIn(b"Error: the cause", run.out)
                self.assertIn(b"nofile: No such file", run.out)
                self.assertLess(len(run.out), 12 * 1024 + 800)

    def test_errors_of_a_success_have_their_own_room(self):
        run = self.terse("--streams", "split", "-c", "cat big; echo 'warning: old format' >&2", split=True)
        self.assertEqual(run.code, 0)
        self.assertEqual(run.err, b"warning: old format\n")
        self.assertIn(b" of 5,000 shown ", run.out)


main()
