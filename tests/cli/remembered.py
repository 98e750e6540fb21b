#!/usr/bin/env -S python3 -B
"""A session's memory of shown lines: what is left out because of it, and that nothing is lost by it."""

import json
import os
import re
import threading

from support.harness import FOOTER, MARKER, Case, main, random_source, write_file

REPEATS = re.compile(rb"\[\.\.\. lines? (?P<from>\d+)(?:-(?P<to>\d+))? repeats? the line above\]$")


class Remembered(Case):
    def say(self, lines, status=1):
        write_file(os.path.join(self.work, "said"), "".join(line + "\n" for line in lines))
        write_file(os.path.join(self.work, "tests"), "#!/bin/sh\ncat said\nexit %d\n" % status, 0o755)

    def run_tests(self, session="s", *options):
        return self.terse("--session", session, *options, "./tests")

    def words(self, rng, count):
        return ["%s %s: %s" % (rng.choice(("read", "write", "load", "keep", "send")), rng.choice("abcdefgh") * 3,
                               " ".join("".join(rng.choice("aeioubcdfgklmnprst") for _ in range(6))
                                        for _ in range(rng.randrange(3, 9))))
                for _ in range(count)]

    def read(self, identifier, first, last):
        """What the command of a marker prints, for a program: without a line about what follows."""
        return self.shell("terse read %s --lines %d-%d | cat" % (identifier, first, last)).out

    def check_nothing_lost(self, run, lines):
        """Every line is printed in its place, or stands in a marker whose command prints it."""
        footer = FOOTER.search(run.out)
        if not footer:
            self.assertEqual(run.out.decode().splitlines(), lines)
            return
        identifier, at, left = footer["id"].decode(), 0, []
        for line in run.out[:footer.start()].decode().splitlines():
            named = MARKER.match(line.encode())
            marker = named or REPEATS.match(line.encode())
            if not marker:
                self.assertEqual(line, lines[at], "line %d" % (at + 1))
                at += 1
                continue
            first, last = int(marker["from"]), int(marker["to"] or marker["from"])
            self.assertEqual(first, at + 1, line)
            left.append((first, last))
            if named and named["as"]:
                shown = self.read(marker["as"].decode(), int(marker["as_from"]), int(marker["as_to"]))
                mine = self.read(identifier, first, last)
                self.assertEqual(re.sub(rb"\d+", b"#", shown), re.sub(rb"\d+", b"#", mine), line)
            at = last
        self.assertEqual(at, len(lines))
        for first, last in left:
            self.assertEqual(self.read(identifier, first, last).decode().splitlines(), lines[first - 1:last])

    def test_same_again(self):
        """The second time only what explains the failure is printed again."""
        rng = random_source(1)
        lines = self.words(rng, 400) + ["error: the table is full", "  at insert (table.c:12)"] + self.words(rng, 200)
        self.say(lines + ["1 failed, 40 passed"])
        first = self.run_tests()
        second = self.run_tests()
        for run in (first, second):
            self.assertIn(b"\nerror: the table is full\n  at insert (table.c:12)\n", run.out)
            self.assertIn(b"\n1 failed, 40 passed\n", run.out)
        self.assertLess(len(second.out), 0.6 * len(first.out), second.out)
        self.assertGreater(len(self.run_tests("s", "--seen", "no").out), 0.95 * len(first.out))
        # Another session has seen nothing.
        self.assertGreater(len(self.run_tests("t").out), 0.95 * len(first.out))

    def test_new_failure(self):
        """What is new is printed, though all around it was shown."""
        rng = random_source(2)
        lines = self.words(rng, 300)
        self.say(lines + ["fatal: first thing is wrong"] + lines[:50])
        self.run_tests()
        self.say(lines + ["fatal: first thing is wrong"] + lines[:20] + ["fatal: second thing is wrong"] + lines[20:50])
        out = self.run_tests().out
        self.assertIn(b"\nfatal: first thing is wrong\n", out)
        self.assertIn(b"\nfatal: second thing is wrong\n", out)
        # The value counts in a line that tells of a failure.
        self.say(lines + ["fatal: first thing is wrong", "assertion failed: 4 is not 5"] + lines[:50])
        self.run_tests()
        self.say(lines + ["fatal: first thing is wrong", "assertion failed: 4 is not 6"] + lines[:50])
        self.assertIn(b"\nassertion failed: 4 is not 6\n", self.run_tests().out)

    def test_nothing_lost(self):
        """Random histories: lines come, go and fail."""
        rng = random_source(3)
        for history in range(4):
            lines = self.words(rng, rng.randrange(200, 700))
            for _ in range(6):
                for _ in range(rng.randrange(12)):
                    at = rng.randrange(len(lines) - 20)
                    kind = rng.randrange(4)
                    if kind == 0:
                        del lines[at:at + rng.randrange(20)]
                    elif kind == 1:
                        lines[at:at] = self.words(rng, rng.randrange(20))
                    elif kind == 2:
                        lines[at] = "error: %s in step %d" % (lines[at], rng.randrange(100))
                    else:
                        lines[at:at + 1] = [lines[at]] * rng.randrange(1, 9)
                self.say(lines, rng.randrange(2))
                self.check_nothing_lost(self.run_tests("h%d" % history, "--size", "%d" % rng.choice(
                    (2000, 4096, 12000))), lines)

    def test_names_the_place(self):
        """A gap of shown lines says where, while that text can be read."""
        rng = random_source(4)
        lines = self.words(rng, 300) + ["error: one thing"] + self.words(rng, 14) + ["error: another thing"]
        self.say(lines)
        first = self.run_tests("s", "--size", "8KB")
        lines[-1] = "error: a third thing"
        self.say(lines)
        second = self.run_tests("s", "--size", "8KB")
        named = [m for m in MARKER.finditer(second.out) if m["as"]]
        self.assertTrue(named, second.out)
        self.assertEqual({m["as"].decode() for m in named}, {first.id})
        self.check_nothing_lost(second, lines)
        self.ask("drop", first.id)
        self.ask("drop", second.id)
        self.assertFalse([m for m in MARKER.finditer(self.run_tests("s", "--size", "8KB").out) if m["as"]])

    def test_rewound(self):
        """What removed runs had shown is new again."""
        rng = random_source(5)
        self.say(self.words(rng, 500))
        first = self.run_tests()
        self.assertLess(len(self.run_tests().out), 0.8 * len(first.out))
        self.ask("rewind", "--session", "s", first.id)
        self.assertGreater(len(self.run_tests().out), 0.95 * len(first.out))

    def test_no_session(self):
        """Where nobody knows who reads, nothing is remembered."""
        rng = random_source(6)
        self.say(self.words(rng, 500))
        runs = [self.terse("./tests") for _ in range(2)]
        self.assertGreater(len(runs[1].out), 0.95 * len(runs[0].out))
        self.assertEqual([name for _, _, names in os.walk(self.store) for name in names if name == "memory"], [])

    def test_bad_files(self):
        """A file that is damaged or huge is ignored, and written anew; a link is not followed."""
        rng = random_source(7)
        self.say(self.words(rng, 500))
        first = self.run_tests()
        path = os.path.join(self.store, "sessions", "s", "memory")
        for content in (b"", b"x", os.urandom(5000), b"\0" * 10000000):
            write_file(path, content)
            self.assertGreater(len(self.run_tests().out), 0.95 * len(first.out))
            self.assertLess(len(self.run_tests().out), 0.8 * len(first.out))
        os.unlink(path)
        os.symlink(write_file(os.path.join(self.dir, "elsewhere"), b"mine"), path)
        for _ in range(2):
            self.assertGreater(len(self.run_tests().out), 0.95 * len(first.out))
        self.assertEqual(os.stat(path).st_size, 4)

    def test_at_once(self):
        """Runs that end at the same time are all remembered."""
        rng = random_source(8)
        scripts = []
        for n in range(5):
            scripts.append(os.path.join(self.work, "tests%d" % n))
            write_file(scripts[-1] + ".said", "".join(line + "\n" for line in self.words(rng, 400)))
            write_file(scripts[-1], "#!/bin/sh\ncat %s.said\nexit 1\n" % scripts[-1], 0o755)
        before = {}

        def run(script):
            before[script] = len(self.terse("--session", "s", script).out)
        threads = [threading.Thread(target=run, args=(script,)) for script in scripts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for script in scripts:
            self.assertLess(len(self.terse("--session", "s", script).out), 0.8 * before[script], script)

    def test_programs_and_json(self):
        """A program gets the whole text; a JSON report has what it always had."""
        rng = random_source(10)
        lines = self.words(rng, 500)
        self.say(lines, 0)
        self.run_tests()
        self.assertEqual(self.shell("terse --session s ./tests | cat").out.decode().splitlines(), lines)
        reports = [json.loads(self.run_tests("s", "--format", "json").out) for _ in range(2)]
        self.assertEqual(reports[0]["stdout"], reports[1]["stdout"])


if __name__ == "__main__":
    main()
