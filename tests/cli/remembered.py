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

    def show(self, *options, session="s"):
        return self.terse("--session", session, "--seen", "all", *options, "cat", "said")

    def check_shown(self, run, lines):
        """Every line up to the last one that is named is printed, or told by a marker that names equal lines of an
        earlier page. Returns how many that are, and how many are told."""
        at = told = 0
        last = re.search(rb"\[terse: lines 1-([\d,]+) of", run.out)
        for line in run.out.decode().splitlines():
            marker = MARKER.match(line.encode())
            if line.startswith("[terse: "):
                break
            if not marker:
                self.assertEqual(line, lines[at], "line %d" % (at + 1))
                at += 1
                continue
            first, end = int(marker["from"]), int(marker["to"])
            self.assertEqual(first, at + 1, line)
            self.assertGreaterEqual(end + 1 - first, 50)
            for place in (marker["as"], marker["as_from"], marker["as_to"]), (run.id, first, end):
                identifier = place[0] if isinstance(place[0], str) else place[0].decode()
                self.assertEqual(self.read(identifier, int(place[1]), int(place[2])).decode().splitlines(),
                                 lines[first - 1:end], line)
            told += end + 1 - first
            at = end
        self.assertEqual(at, int(last[1].replace(b",", b"")) if last else len(lines))
        return at, told

    def test_pages(self):
        """With --seen all a file is read on where it is read again, and what has changed in it is printed."""
        rng = random_source(11)
        lines = self.words(rng, 1500)
        for at in range(0, 1500, 9):
            lines[at] = "}"
        lines[700:700] = [""]
        self.say(lines, 0)
        last = 0
        while last < 1501:
            page = self.show()
            before = last
            last, told = self.check_shown(page, lines)
            # A page that begins with a line like many is found by the next line.
            self.assertGreaterEqual(told, before - 3)
            self.assertGreater(last, before)
        lines[200] += " now"
        self.say(lines, 0)
        page = self.show()
        last, told = self.check_shown(page, lines)
        self.assertEqual(last, 1501)
        self.assertGreaterEqual(told, 1497)
        self.assertTrue(page.out.endswith(b"\n[terse: all 1,501 lines shown, {:,} of them before; as they came: "
                                          b"terse read %s]\n".replace(b"{:,}", "{:,}".format(told).encode())
                                          % page.id.encode()), page.out[-300:])
        self.assertIn(b"\n" + lines[200].encode() + b"\n", page.out)
        # A text that fits is whole, and so is one that was asked for by its lines.
        self.assertEqual(self.terse("--session", "s", "--seen", "all", "head", "-400", "said").out.decode().splitlines(),
                         lines[:400])
        again = self.terse("--session", "s", "--seen", "all", "sh", "-c", "terse read %s" % page.id)
        self.assertEqual(again.out.decode().splitlines()[:500], lines[:500])
        for session, seen in (("t", "all"), ("s", "previews"), ("s", "no")):
            out = self.terse("--session", session, "--seen", seen, "cat", "said").out
            self.assertNotIn(b"omitted", out)
        self.ask("session", "forget", "s")
        self.assertNotIn(b"omitted", self.show().out)

    def test_pages_that_are_not_kept(self):
        """A marker stands for no line that the disk cap has taken, nor names one."""
        lines = self.words(random_source(13), 4000)
        self.say(lines, 0)
        for _ in range(4):
            run = self.show("--max-artifact", "64KB")
            for m in MARKER.finditer(run.out):
                first, last = int(m["from"]), int(m["to"])
                for place in ((run.id, first, last), (m["as"].decode(), int(m["as_from"]), int(m["as_to"]))):
                    self.assertEqual(self.read(*place).decode().splitlines(), lines[first - 1:last], m[0])
        self.assertIn(b" of them before", run.out)
        # The lines in front of the hole are told, those in it are printed each time.
        again = self.show("--max-artifact", "64KB")
        self.assertEqual(again.out.replace(again.id.encode(), b"ID"), run.out.replace(run.id.encode(), b"ID"))

    def test_pages_of_matches(self):
        """Matches that were shown before are told below the files' names."""
        lines = ["%s.c:%d:  call_%d(x)" % ("abc"[n // 100], n, n * n) for n in range(300)]
        self.say(lines, 0)
        first = self.terse("--session", "s", "--seen", "all", "--profile", "search", "--size", "4KB", "cat", "said")
        self.assertRegex(first.out, rb"matches of 300 shown, grouped by file \(limit 4 KB\)")
        out = self.terse("--session", "s", "--seen", "all", "--profile", "search", "--size", "4KB", "cat", "said").out
        marker = MARKER.search(out)
        self.assertEqual((marker.start(), marker["as"].decode(), marker["from"], marker["as_from"]),
                         (0, first.id, b"1", b"1"))
        self.assertRegex(out, rb"\]\n\n[abc]\.c\n\d+:  call_")
        self.assertIn(b"\n[terse: all 300 matches shown, %s of them before, grouped by file; as they came: terse read "
                      % marker["to"], out)

    def test_nothing_lost_in_pages(self):
        """Random histories of a file that is read."""
        rng = random_source(12)
        told = 0
        for history in range(3):
            lines = self.words(rng, rng.randrange(400, 900))
            for _ in range(6):
                for _ in range(rng.randrange(4)):
                    at = rng.randrange(len(lines) - 20)
                    lines[at:at + rng.randrange(20)] = self.words(rng, rng.randrange(20)) + [""] * rng.randrange(2)
                self.say(lines, 0)
                run = self.show("--size", "64KB", "--max-lines", "300", session="h%d" % history)
                told += self.check_shown(run, lines)[1]
        self.assertGreater(told, 2000)

    def test_programs_and_json(self):
        """A program gets the whole text; a JSON report has what it always had."""
        rng = random_source(10)
        lines = self.words(rng, 500)
        self.say(lines, 0)
        self.run_tests()
        self.assertEqual(self.shell("terse --session s ./tests | cat").out.decode().splitlines(), lines)
        reports = [json.loads(self.run_tests("s", "--format", "json").out) for _ in range(2)]
        self.assertEqual(reports[0]["stdout"], reports[1]["stdout"])
        self.say(lines * 3, 0)
        self.show()
        self.assertIn(b"omitted", self.show().out)
        self.assertEqual(self.shell("terse --session s --seen all cat said | cat").out.decode().splitlines(), lines * 3)
        reports = [json.loads(self.show("--format", "json").out) for _ in range(2)]
        self.assertEqual(reports[0]["stdout"], reports[1]["stdout"])


if __name__ == "__main__":
    main()
