#!/usr/bin/env -S python3 -B
"""terse changes: prints the lines in which two runs differ, for every kind of reader."""

import json
import os
import pty
import re
import shlex
import subprocess

from support.harness import TERSE, Case, eventually, main, random_source, write_file

MORE = re.compile(rb"; continue: (terse changes [^\]]+)\]\n\Z")


class Changes(Case):
    def setUp(self):
        super().setUp()
        self.old = os.path.join(self.work, "old")
        self.new = os.path.join(self.work, "new")

    def write(self, old, new):
        for path, lines in ((self.old, old), (self.new, new)):
            write_file(path, "".join(line + "\n" for line in lines))

    def page(self, *argv):
        """What an agent gets."""
        run = self.terse("changes", *(argv or (self.old, self.new)))
        self.assertEqual(run.code, 0, run.out)
        self.assertLessEqual(len(run.out), 30000)
        return run.out

    def cat(self, *argv):
        """What a program gets."""
        return self.shell("%s | cat" % shlex.join((TERSE, "changes") + (argv or (self.old, self.new))),
                          split=True).out

    def test_unified(self):
        self.write(["a%s" % "x" * n for n in range(1, 21)],
                   ["a%s" % "x" * n for n in range(1, 21) if n != 7] + ["end"])
        done = subprocess.run(["diff", "-U3", self.old, self.new], capture_output=True, check=False)
        # Without the names of the files; terse ends with a line about all of it.
        self.assertEqual(self.cat().split(b"\n")[2:], done.stdout.split(b"\n")[2:])
        self.assertEqual(self.page().split(b"\n")[2:-2], done.stdout.split(b"\n")[2:-1])
        self.assertTrue(self.page().endswith(b"\n[2 changes; in all 1 line gone, 1 new]\n"))
        self.assertTrue(self.page().startswith(("--- %s\n+++ %s\n@@ " % (self.old, self.new)).encode()))

    def random_lines(self, rng):
        words = ("one", "two", "", "a  b", "\ttab", "x" * 300, "caf\u00e9", "-dash", "+plus", "@@ -1 +1 @@", "--- a",
                 "\\ No newline")
        numbers = rng.choice((6, 500))
        return [rng.choice(words) + rng.choice(("", " %d" % rng.randrange(numbers)))
                for _ in range(rng.choice((0, 1, 2, 10, 50, 400)))]

    def test_patch_applies(self):
        """`patch` makes the second text of the first, whatever was changed, to the newline at its end; the diff is
        hardly longer than that of diff. PAIRS=1000 tries more."""
        rng, longer = random_source(1), []
        for _ in range(int(os.environ.get("PAIRS", "30"))):
            old = self.random_lines(rng)
            new = [line for line in old if rng.random() > rng.choice((0, .02, .2))]
            for _ in range(rng.choice((0, 1, 2, 5, 30))):
                new.insert(rng.randrange(len(new) + 1), rng.choice(("new", "one 1", "", "%d" % rng.randrange(9))))
            if rng.randrange(20) == 0:
                rng.shuffle(new)
            whole = ["".join(line + "\n" for line in lines) for lines in (old, new)]
            texts = [text[:-1] if rng.randrange(4) == 0 else text for text in whole]
            for path, text in zip((self.old, self.new), texts):
                write_file(path, text)
            diff = self.cat("--exact", self.old, self.new)
            if texts[0] == texts[1]:
                self.assertNotIn(b"@@", diff)
                continue
            if texts == whole:
                # Without a tool: what stands behind the marks, by its numbers.
                self.assertEqual(self.patched(old, diff), new)
            if self.has("patch") and self.has("diff"):
                subprocess.run(["patch", "-s", "-f", "-o", os.path.join(self.work, "made"), self.old], input=diff,
                               check=True, cwd=self.work)
                with open(os.path.join(self.work, "made"), encoding="utf-8") as f:
                    self.assertEqual(f.read(), texts[1])
                theirs = subprocess.run(["diff", "-u", self.old, self.new], capture_output=True, check=False).stdout
                longer.append(len(diff.split(b"\n", 2)[2]) / len(theirs.split(b"\n", 2)[2]))
        self.assertLessEqual(sorted(longer)[len(longer) // 2] if longer else 0, 1.02)

    def test_many_neighbours(self):
        """However many changes stand near each other: they are one piece, and its numbers are right."""
        old = ["line %s" % ("x" * (n % 90) + "y" * (n // 90)) for n in range(2000)]
        new = [line + " changed" if n % 3 == 0 else line for n, line in enumerate(old)]
        self.write(old, new)
        diff = self.cat("--exact", self.old, self.new)
        self.assertEqual(diff.count(b"\n@@ "), 1)
        self.assertEqual(self.patched(old, diff), new)

    def test_too_long(self):
        """More than a million lines are not compared, and it is said what does; fewer behind equal ones are."""
        lines = ["%x" % n for n in range(1100000)]
        self.write(["a"] + lines, ["b"] + lines)
        run = self.terse("changes", self.old, self.new, split=True)
        self.assertEqual((run.code, run.out, run.err), (1, b"", b"terse changes: over a million lines are left from the "
                         b"first difference on; diff(1) compares the files (terse path ID names them)\n"))
        self.write(lines + ["a"], lines + ["b"])
        self.assertIn(b"\n-a\n+b\n", self.page())

    def has(self, tool):
        return any(os.access(os.path.join(p, tool), os.X_OK) for p in os.environ["PATH"].split(":"))

    def patched(self, old, diff):
        made, at = [], 0
        hunks = re.split(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n", diff.decode(), flags=re.M)
        for i in range(1, len(hunks), 5):
            start, count = int(hunks[i]), int(hunks[i + 1] or 1)
            start -= count > 0
            made += old[at:start]
            at = start + count
            body = hunks[i + 4].splitlines()
            self.assertEqual(len(made) + (int(hunks[i + 3] or 1) == 0),
                             int(hunks[i + 2]) - (int(hunks[i + 3] or 1) > 0) + (int(hunks[i + 3] or 1) == 0))
            self.assertEqual([line[1:] for line in body if line[0] in " -"], old[start:at])
            made += [line[1:] for line in body if line[0] in " +"]
        return made + old[at:]

    def test_masked(self):
        self.write(["took 12 ms", "in /tmp/a1/x", "commit 9fceb02d0ae5", "same"],
                   ["took 3.1 s", "in /tmp/b7/x", "commit a3b02d00ae59", "same"])
        exact = b"terse changes %s %s --exact]\n" % (self.old.encode(), self.new.encode())
        self.assertEqual(self.page(), b"[no changes; only numbers, times, hashes or temporary paths differ in 3 "
                         b"lines: " + exact)
        data = json.loads(self.ask("changes", "--json", self.old, self.new))["data"]
        self.assertEqual((data["identical"], data["masked"]), (False, 3))
        self.assertIn(b"-took 12 ms\n-in /tmp/a1/x\n", self.page("--exact", self.old, self.new))
        for same in (self.page("--exact", self.old, self.old), self.page(self.old, self.old)):
            self.assertEqual(same, b"[same text]\n")
        self.write(["Received: 582", "a"], ["Received: 883", "b"])
        self.assertTrue(self.page().endswith(
            b"\n-a\n+b\n[1 change; in all 1 line gone, 1 new; only numbers, times, hashes or temporary paths differ in "
            b"1 more line: " + exact))

    def test_pages(self):
        """The pages one after the other are all that a program gets."""
        self.write(["word %s %s" % ("x" * 20, "y" * (n % 70)) for n in range(9000)],
                   ["%s %s %s" % ("other" if n % 31 == 0 else "word", "x" * 20, "y" * (n % 70))
                    for n in range(9000)])
        whole = self.cat().split(b"\n", 2)[2]
        pages, command = b"", ["changes", self.old, self.new]
        for _ in range(50):
            page = self.terse(*command).out
            self.assertLessEqual(len(page), 30000)
            pages += page[:page.rindex(b"\n[") + 1].split(b"\n", 2)[2]
            more = MORE.search(page)
            if not more:
                break
            command = shlex.split(more[1].decode())[1:]
        self.assertEqual(pages, whole)

    def test_long_names(self):
        """They stand in the titles, in the last line and where a change is cut."""
        folder = os.path.join(self.work, *(["d" * 200] * 12))
        os.makedirs(folder)
        self.old, self.new = os.path.join(folder, "old"), os.path.join(folder, "new")
        self.write(["word %s" % n for n in "abcdefghij" * 900],
                   ["%s %s" % ("other" if i % 11 == 0 else "word", n) for i, n in enumerate("abcdefghij" * 900)])
        names = len(self.old + self.new)
        page = self.page()
        # What is kept free, and one change.
        self.assertGreater(len(page[:page.rindex(b"\n[")]), 30000 - 1024 - 2 * names - 300)
        self.write(["gone"], ["new %d" % n for n in range(9000)])
        page = self.page()
        self.assertIn(b"\n[... the rest of this change: terse read ", page)
        self.assertGreater(len(page), 30000 - 1024 - 2 * names - 300)

    def test_large_change(self):
        """One that fits into no page is cut, and the commands for the rest of it stand there."""
        self.write(["gone%s" % ("x" * n) for n in range(100)] + ["same", "b"],
                   ["new%s" % ("y" * (n % 90)) for n in range(5000)] + ["same", "c"])
        page = self.page()
        rest = re.search(rb"^\[\.\.\. the rest of this change: terse read (\S+) --lines (\d+)-(\d+)(; terse read "
                         rb"(\S+) --lines (\d+)-(\d+))\]$", page, re.M)
        self.assertTrue(rest, page[-600:])
        shown = len(re.findall(rb"^\+new", page, re.M))
        self.assertEqual([int(n) for n in rest.group(2, 3, 6, 7)], [101, 102, shown + 1, 5002])
        self.assertNotIn(b"continue: ", page)

    def test_json(self):
        self.write(["a", "b", "c"], ["a", "B", "c", "d"])
        data = json.loads(self.page("--json", self.old, self.new))["data"]
        self.assertEqual(data["text"], "--- %s\n+++ %s\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n" % (self.old, self.new))
        self.assertEqual((data["identical"], data["shown"], data["total"], data["gone"], data["new"],
                          data["truncated"], data["next"]), (False, 1, 1, 1, 2, False, None))
        self.assertEqual(data["old_text"], {"path": self.old})
        data = json.loads(self.page("--json", self.old, self.old))["data"]
        self.assertEqual((data["identical"], data["text"]), (True, ""))

    def test_long_line(self):
        self.write(["a", "x" * 5000], ["a", "y" * 5000])
        self.assertIn(b"\n-" + b"x" * 500 + b"[... 4.4 KB more]\n+", self.page())
        self.assertIn(b"\n-" + b"x" * 5000 + b"\n+" + b"y" * 5000 + b"\n", self.cat())

    def test_person(self):
        """At a terminal: in colour, through the pager."""
        self.write(["a", "b"], ["a", "c"])
        for pager, prefix in (("cat", b""), ("sed 's/^/| /'", b"| ")):
            master, slave = pty.openpty()
            run = subprocess.Popen([TERSE, "changes", self.old, self.new], stdin=slave, stdout=slave,
                                   stderr=slave, env=self.env(PAGER=pager, TERM="xterm"), cwd=self.work)
            os.close(slave)
            out = b""
            while True:
                try:
                    data = os.read(master, 65536)
                except OSError:
                    break
                out += data
            os.close(master)
            self.assertEqual(run.wait(), 0)
            self.assertIn(prefix + b"\033[31m-b\033[m\r\n" + prefix + b"\033[32m+c\033[m\r\n", out)


    def test_colours_where_they_are_asked_for(self):
        self.write(["a", "b"], ["a", "c"])
        painted = self.terse("changes", self.old, self.new, "--color", "always").out
        self.assertIn(b"\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n a\n\x1b[31m-b\x1b[m\n\x1b[32m+c\x1b[m\n", painted)
        self.assertNotIn(b"\x1b", self.terse("changes", self.old, self.new, "--color", "never").out)
        self.assertNotIn(b"\x1b", self.terse("changes", self.old, self.new, env={"CLICOLOR_FORCE": "1"}).out)
        self.assertNotIn(b"\x1b", self.terse("changes", self.old, self.new, "--json", "--color", "always").out)


class Runs(Case):
    """Which runs are compared."""

    def run_it(self, what, cwd=None, session="s"):
        path = os.path.join(cwd or self.work, "said")
        write_file(path, what)
        run = self.terse("--session", session, "--spill", "always", "cat", "said", cwd=cwd)
        return eventually(lambda: self.newest(session), "an artifact") if run.code == 0 else None

    def newest(self, session):
        runs = json.loads(self.ask("list", "--session", session, "--json", "--limit", "1"))["data"]["runs"]
        return runs[0]["id"] if runs else None

    def test_last(self):
        """The last run and the one before of the same command in the same directory."""
        other = os.path.join(self.dir, "other")
        os.mkdir(other)
        first = self.run_it("a\nb\n")
        self.run_it("x\n", cwd=other)
        self.terse("--session", "s", "--spill", "always", "echo", "hello")
        self.assertIn(b"no text was kept of an earlier run of echo hello in this directory",
                      self.terse("changes", "--session", "s").out)
        second = self.run_it("a\nc\n")
        out = self.terse("changes", "--session", "s").out
        self.assertRegex(out, rb"\A--- %s, exit 0, \d+ s ago\n\+\+\+ %s, exit 0, \d+ s ago\n"
                         rb"@@ -1,2 \+1,2 @@\n a\n-b\n\+c\n\[1 change; in all 1 line gone, 1 new\]\n\Z"
                         % (first.encode(), second.encode()))
        # The ages may differ by then.
        for operands in (("--session", "s", second), (first, second)):
            again = self.terse("changes", *operands).out
            self.assertEqual(re.sub(rb"\d+ s ago", b"", again), re.sub(rb"\d+ s ago", b"", out))
        # Another session has no run of its own before.
        third = self.run_it("d\n", session="t")
        self.assertTrue(self.terse("changes", third).out.startswith(b"--- %s, " % second.encode()))

    def test_refused(self):
        for argv, message in ((("nothing",), b"nothing"),
                              (("--session", "none"), b"none: no such session"),
                              (("a", "b", "c"), b"c"),
                              (("--offset", "0"), b"--offset")):
            run = self.terse("changes", *argv)
            self.assertIn(message, run.out)
            self.assertIn(run.code, (1, 125), run.out)
        run = self.terse("changes")
        self.assertEqual((run.code, run.out), (1, b"terse changes: last: no such artifact (terse list shows what there is)\n"))


if __name__ == "__main__":
    main()
