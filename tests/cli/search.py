#!/usr/bin/env -S python3 -B
"""Search: the same lines and totals as grep and Python's re, for every kind of reader."""

import os
import pty
import re
import shlex
import subprocess

from support.harness import (TERSE, Case, eventually, is_sanitized, main, numbers, random_source,
                             read_file, write_file)

# A search needs 7.7 MB for a line of that length. The kernel counts pages for each processor and sums them up
# now and then: on a machine with many of them it is some hundred KB off.
PEAK_KB = 10 * 1024

WORDS = ("error", "Error", "warning", "a", "b", "foo", "foobar", "42", "1234", "0x1f", "x=1", "file.c:12:3",
         "naïve", "Ärger", "日本", "✓", "[ok]", "(none)", "a.b", "--", "end", "\t", "  ", "_id", "é")


def make_text(rng, size, longest=12, repeated=400):
    """Some of it in long lines, so that it takes several blocks; the last may be open."""
    lines, length = [], 0
    while length < size:
        line = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(longest)))
        if rng.randrange(300) == 0:
            line *= rng.randrange(1, repeated)
        lines.append(line)
        length += len(line.encode()) + 1
    return "\n".join(lines) + rng.choice(("", "\n"))


def make_regex(rng, atoms, quantifiers, nested=True):
    """Some engines search for ever for what is repeated in something repeated, unless that is not `nested`."""
    parts = []
    for _ in range(rng.randrange(1, 4)):
        part = rng.choice(atoms)
        if rng.randrange(3) == 0 and (nested or not re.search(r"[*+?]\Z", part)):
            part = "(%s)%s" % (part, rng.choice(quantifiers))
        parts.append(part)
        if rng.randrange(6) == 0:
            parts.append("|")
    return "".join(parts).strip("|")


class Compared(Case):
    def search_as_program(self, *argv):
        """The output for a program that reads it."""
        run = self.shell("%s | cat" % shlex.join((TERSE, "search") + argv))
        return run.out

    def totals(self, *argv):
        """The output for an agent: matching lines, and the total that the notice gives."""
        run = self.terse("search", *argv, split=True)
        self.assertLessEqual(len(run.out), 30000)
        told = re.search(rb"^\[([\d,]+) of ([\d,]+) match(?:es)? shown", run.out, re.M)
        lines = re.findall(rb"^(\d+):", run.out, re.M)
        if told:
            self.assertEqual(int(told[1].replace(b",", b"")), len(lines))
            return [int(n) for n in lines], int(told[2].replace(b",", b""))
        return [int(n) for n in lines], len(lines)

    def test_grep(self):
        """Over a pipe to a program: byte for byte what grep -n prints."""
        rng = random_source(1)
        atoms = ("error", "[Ee]rror", "foo", "a", "b", "[0-9]", "[a-z]", "[^a-z ]", ".", ".*", "\\.", "^", "$",
                 "\\w", "\\b", "é", "✓", "[äöÄé]", "(foo|42)", "x=", "\\[", "日", " ", "end$", "^$", "\\W", "\\s")
        for number in range(8):
            write_file(os.path.join(self.work, "f"), make_text(rng, 60000 if number else 900000))
            for _ in range(12):
                pattern = make_regex(rng, atoms, ("*", "+", "?", "{2}", "{1,3}"))
                flags = [f for f in ("-i", "-v", "-w") if rng.randrange(4) == 0]
                # grep disagrees with itself about the places where nothing is a word.
                empty = subprocess.run(["grep", "-qE", "-e", pattern], input=b"\n", check=False).returncode == 0
                flags = [f for f in flags if f != "-w" or not empty]
                flags += rng.choice(([], [], ["-C2"], ["-A1"], ["-B3"]))
                with self.subTest(pattern=pattern, flags=flags, number=number):
                    try:
                        grep = subprocess.run(["grep", "-nE", *flags, "-e", pattern, "f"], cwd=self.work,
                                              env=self.env(LC_ALL="C.UTF-8"), capture_output=True,
                                              check=False, timeout=20)
                    except subprocess.TimeoutExpired:  # (.*){2} and the like
                        continue
                    self.assertLess(grep.returncode, 2, grep.stderr)
                    got = self.search_as_program("f", "-e", pattern, *flags)
                    if b": gave up at line " in got:  # (.*)* and the like
                        continue
                    self.assertEqual(self.without_hint(got), grep.stdout)

    def without_hint(self, out):
        """Standard error comes along, when nothing matches."""
        return re.sub(rb"\Aterse search: no(ne that does not)? match[^\n]*\n\Z", b"", out)

    def test_python(self):
        """As an agent: the first lines, and how many there are."""
        rng = random_source(2)
        atoms = ("error", "[Ee]rror", "foo(?=bar)", "(?<!o)b", "a", "\\d", "\\w+", "\\S", "[^a-z ]", ".", ".*?",
                 "\\.", "^", "$", "\\b", "é", "(?:foo|42|x=1)", "(?i:ERROR)", "\\x61", "[\\w.]+:\\d", " ",
                 "(\\w)\\1", "(?!\\d)\\w", "\\s")
        for number in range(6):
            # Python's .*? takes the square of a line's length; grep's test has longer ones.
            text = make_text(rng, 300000, repeated=80)
            write_file(os.path.join(self.work, "f"), text)
            lines = text[:-1 if text.endswith("\n") else None].split("\n")
            for _ in range(12):
                pattern = make_regex(rng, atoms, ("*", "+", "?", "{2}", "+?"), nested=False)
                fold = rng.randrange(4) == 0
                try:
                    compiled = re.compile(pattern, re.I if fold else 0)
                except re.error:
                    continue
                want = [n for n, line in enumerate(lines, 1) if compiled.search(line)]
                with self.subTest(pattern=pattern, fold=fold, number=number):
                    shown, total = self.totals("f", "-e", pattern, *(["-i"] if fold else []))
                    self.assertEqual(total, len(want))
                    self.assertEqual(shown, want[:len(shown)])
                    if total:
                        self.assertGreater(len(shown), 0)
                    run = self.terse("search", "f", "-c", "-e", pattern, *(["-i"] if fold else []))
                    self.assertEqual(run.out, b"%d\n" % len(want))
                    self.assertEqual(run.code, 0 if want else 1)


class Readers(Case):
    def setUp(self):
        super().setUp()
        write_file(os.path.join(self.work, "f"), numbers(5000) + b"y" * 600 + b"x\n")

    def test_program_gets_everything(self):
        got = self.shell("terse search f . | cat")
        self.assertEqual(got.out, b"".join(b"%d:%d\n" % (n, n) for n in range(1, 5001)) +
                         b"5001:" + b"y" * 600 + b"x\n")
        self.assertEqual(self.shell("terse search f 7 | wc -l").out.strip(), b"1355")
        self.assertEqual(self.shell("x=$(terse search f 7); echo \"$x\" | wc -l").out.strip(), b"1355")
        # As many as it asks for; the notice is no line of them.
        run = self.shell("terse search f 7 --limit 3 | cat", split=True)
        self.assertEqual(run.out, b"7:7\n17:17\n27:27\n")
        self.assertTrue(run.err.startswith(b"[3 of 1,355 matches shown: "), run.err)

    def test_program_that_has_enough(self):
        run = self.shell("terse search f . | head -2")
        self.assertEqual(run.out, b"1:1\n2:2\n")

    def test_agent(self):
        for kind in ("socket", "pipe"):
            run = self.terse("search", "f", "7", kind=kind)
            self.assertEqual(run.code, 0)
            self.assertIn(b"\n[100 of 1,355 matches shown: terse search f 7 --offset 557, or narrow "
                          b"the pattern]\n", run.out)
        self.assertIn(b"[truncated]" + b"y" * 499 + b"x [whole line (601 B): ",
                      self.terse("search", "f", "x").out)

    def test_file(self):
        """It gets all, unless standard error is in it: there an agent collects output."""
        run = self.terse("search", "f", "7", kind="file", split=True)
        self.assertEqual((run.out.count(b"\n"), run.err), (1355, b""))
        run = self.terse("search", "f", "7", kind="file")
        self.assertEqual(run.out.count(b"[100 of 1,355 matches shown: "), 1)

    def test_full_disk(self):
        """What could not be printed before a block without matches was read."""
        write_file(os.path.join(self.work, "far"), "match\n" + "nothing\n" * 1000000)
        run = self.shell("terse search far match >/dev/full", split=True)
        self.assertEqual((run.code, run.err), (1, b"terse search: No space left on device\n"))

    def test_terminal(self):
        master, slave = pty.openpty()
        with subprocess.Popen([TERSE, "search", "f", "7", "--limit", "1"], cwd=self.work, stdin=slave,
                              stdout=slave, stderr=slave, env=self.env(NO_COLOR=None)) as process:
            os.close(slave)
            out = b""
            try:
                while data := os.read(master, 4096):
                    out += data
            except OSError:
                pass
            process.wait()
        os.close(master)
        self.assertTrue(out.startswith(b"7:\033[1;31m7\033[m\r\n\033[33m[1 of 1,355 matches shown: "), out)
        self.assertTrue(out.endswith(b"]\r\n\033[m"), out)

    def test_commands_that_are_told_run_as_they_are(self):
        names = ("a b", "it's", "-x", "$HOME", "a\nb", "ü")
        for name in names:
            write_file(os.path.join(self.work, name), "a'b $x \\ \"q\" \x01\n" * 3)
            for pattern in ("a'b \\$x", "\"q\"", "\x01", "-?a"):
                argv = ("search", "./" + name if name[0] == "-" else name, "-e", pattern)
                run = self.terse(*argv, "--limit", "1")
                more = re.search(rb"^\[1 of 3 matches shown: (terse .*), or narrow the pattern\]$",
                                 run.out, re.M)
                self.assertTrue(more, run.out)
                again = self.run_to_end("bash", "-c", os.fsdecode(more[1]))
                self.assertEqual(again.code, 0, again.out)
                self.assertTrue(again.out.startswith(b"2:"), (more[1], again.out))
                self.assertEqual(again.out.count(b"\n"), 2)


class Artifacts(Case):
    def test_live(self):
        """A run that still writes: whole lines only, and true numbers."""
        os.mkfifo(os.path.join(self.work, "go"))
        script = "seq -f 'line %.0f.' 300000; read x <go; echo end"
        run = self.start(TERSE, "--profile", "default", "sh", "-c", script)
        seen, total = 0, 0

        def all_there():
            nonlocal seen, total
            found = self.terse("search", "last", "-c", r"^line \d+\.$", split=True)
            if found.code == 1 and not found.out:  # nothing kept yet
                return False
            odd = self.terse("search", "last", "-v", r"^line \d+\.$")
            # A part of a line that stood for a third of a second is shown, as a prompt is: where
            # the machine is so slow, the last one may be one.
            self.assertTrue(odd.code == 1 or re.fullmatch(rb"\d+:(l(i(n(e( \d*\.?)?)?)?)?)?\n", odd.out), odd.out)
            now = int(found.out)
            self.assertGreaterEqual(now, total)
            seen, total = seen + 1, now
            return total == 300000
        eventually(all_there, lambda: "all lines; %d so far" % total)
        self.assertEqual(self.terse("search", "last", "^line 299999").out, b"299999:line 299999.\n")
        with open(os.path.join(self.work, "go"), "w") as go:
            go.write("\n")
        run.finish()
        self.assertEqual(self.terse("search", run.id, "end$").out, b"300001:end\n")

    def test_what_the_footer_says(self):
        run = self.terse("--profile", "default", "seq", "5000")
        told = re.search(rb", terse (search ID) REGEX\]", run.out)[1].decode().replace("ID", run.id).split()
        self.assertEqual(self.terse(*told, "^4321$").out, b"4321:4321\n")

    def test_sessions(self):
        first = self.terse("--session", "a", "seq", "3000").id
        second = self.terse("--session", "a", "seq", "4000").id
        self.terse("--session", "b", "seq", "5000")
        run = self.terse("search", "--session", "a", "^2999$")
        self.assertEqual(run.out, b"%s:2999:2999\n%s:2999:2999\n" % (second.encode(), first.encode()))
        run = self.terse("search", "--all", "-l", "^3999$", env={"TERSE_SESSION": "a"})
        self.assertEqual(run.out, second.encode() + b"\n")
        self.assertEqual(self.terse("search", "--all", "x").code, 1)

    def test_cut_line_can_be_read(self):
        run = self.terse("--profile", "default", "sh", "-c",
                         "seq 2000; head -c 9000 /dev/zero | tr '\\0' x; echo here; seq 2000")
        found = self.terse("search", run.id, "here$")
        told = re.search(rb"\[whole line \(8\.8 KB\): terse (.*)\]\n\Z", found.out)[1]
        out = self.terse(*told.decode().split()).out
        self.assertTrue(out.startswith(b"x" * 9000 + b"here\n[terse: line 2,001 of 4,001 shown; "), out[-200:])


class Memory(Case):
    def measure(self, *argv):
        report = os.path.join(self.dir, "report")
        run = self.run_to_end("reaper", report, "terse", "search", *argv, split=True)
        peak = max(int(line.split()[-2]) for line in read_file(report).splitlines()
                   if line.startswith(b"terse "))
        print("note  search %s: peak memory %d KB" % (" ".join(argv), peak))
        if not is_sanitized():
            self.assertLessEqual(peak, PEAK_KB)
        return run

    def test_memory(self):
        with open(os.path.join(self.work, "f"), "wb") as f:
            for n in range(0, 2000000, 20000):
                f.write(b"".join(b"%d some text \xc3\xa9\n" % i for i in range(n, n + 20000)))
            f.write(b"x" * 5000000 + b"needle\n")
            f.write(b"y" * 20000000)
        self.assertIn(b"100 of 2,000,000 matches shown", self.measure("f", "some").out)
        self.assertIn(b" of 2,000,000 matches shown", self.measure("f", "text", "-C", "30").out)
        self.assertIn(b"2000001:[truncated]", self.measure("f", "needle", "-B", "3").out)
        self.assertEqual(self.measure("f", "-c", r"\w{9}$").out.splitlines()[-1], b"2")
        self.assertEqual(self.measure("f", "-v", "-c", "some").out.splitlines()[-1], b"2")


if __name__ == "__main__":
    main()
