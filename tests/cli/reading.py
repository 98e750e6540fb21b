#!/usr/bin/env -S python3 -B
"""Reading on, from outside: pages and slices make the text, every command in a notice runs as it stands; runs
that still write; JSON; facts about runs."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess

from support.harness import (FOOTER, MARKER, TERSE, Case, eventually, is_sanitized, let_go_on, main,
                             numbers, random_source, read_file, write_file)

PEAK_KB = 8 * 1024

WORDS = ("error", "naïve", "日本語", "✓", "😀", "a", "0x1f", "-" * 30, "\t", "é" * 20, "\r", "x" * 200)


def make_text(rng, size, long_lines=True):
    """Valid UTF-8 of lines of all lengths; some end in CRLF, the last may be open."""
    lines, length = [], 0
    while length < size:
        line = " ".join(rng.choice(WORDS[:-2]) for _ in range(rng.randrange(12)))
        if long_lines and rng.randrange(400) == 0:
            line = "".join(rng.choice("aé✓😀") for _ in range(rng.randrange(60000)))
        lines.append(line + rng.choice(("", "", "\r")))
        length += len(lines[-1].encode()) + 1
    if rng.randrange(2):
        return "\n".join(lines).encode() + b"\n"
    return "\n".join(lines).rstrip("\r").encode()


class Reader(Case):
    def page(self, *argv, **how):
        run = self.terse("read", *argv, split=True, **how)
        self.assertEqual((run.code, run.err), (0, b""), argv)
        self.assertLessEqual(len(run.out), 30000)
        run.out.decode()  # no character is split
        return run.out

    def data(self, verb, *argv):
        """The answer of a verb to a program that asks for JSON."""
        run = self.terse(verb, *argv, "--json", split=True)
        self.assertEqual((run.code, run.err), (0, b""), run.out)
        answer = json.loads(run.out)
        self.assertIs(answer["ok"], True)
        return answer["data"]

    def command(self, told):
        """Runs a command from a notice, literally."""
        run = self.run_to_end("bash", "-c", os.fsdecode(told))
        self.assertEqual(run.code, 0, (told, run.out))
        self.assertLessEqual(len(run.out), 30000)
        return run.out


class Properties(Reader):
    def follow(self, first):
        """The text of a page and of all that follow, whose commands are run literally."""
        got, told = b"", first
        while told:
            out, told = self.command(told), None
            more = re.search(rb"\n?\[terse: (?:lines?|bytes) [^\n]* shown[^\n]*; continue: (terse [^\n]*)\]\n\Z", out)
            if more:
                told = more[1]
                # A slice that ended inside a line was given a newline before the notice.
                out = out[:more.start()] + (b"\n" if b"[terse: line" in more[0] else b"")
                if b"[terse: bytes" in more[0]:
                    before = int(re.search(rb"-([\d,]+) of", more[0])[1].replace(b",", b""))
                    if self.text[before:before + 1] == b"\n":
                        out += b"\n"
            cut = re.search(rb"\[\.\.\. bytes \d+-\d+: (terse read [^\n]*)\]\n\Z", out)
            if cut:
                out = out[:cut.start()] + self.follow_cut(cut[1])
            got += out
        return got

    def follow_cut(self, told):
        """The rest of a line, known by where it begins and ends."""
        at, last = (int(n) for n in re.search(rb"--bytes (\d+)-(\d+)", told).groups())
        end, got = last + 1, b""
        while at < end:
            data = self.data("read", self.name, "--bytes", "%d-%d" % (at, last))
            self.assertEqual(data["from"], at)
            at = data["to"] + 1
            got += data["text"].encode()
        return got

    def test_pages(self):
        for seed in range(3):
            rng = random_source(seed)
            self.text = make_text(rng, 200000)
            self.name = "it's a file"
            write_file(os.path.join(self.work, self.name), self.text)
            for first in ("", " --limit 99999", " --bytes 0", " --bytes 0-7000"):
                with self.subTest(seed=seed, first=first):
                    got = self.follow(os.fsencode("terse read %s%s" % (shlex.quote(self.name), first)))
                    self.assertEqual(got, self.text)

    def test_pages_of_an_artifact(self):
        run = self.terse("--profile", "default", "sh", "-c", "seq -f '%05.0f some words to fill a line' 9000")
        self.text, self.name = self.artifact(run.id), run.id
        for first in ("", " --offset 1 --limit 5000", " --bytes 0"):
            got = self.follow(os.fsencode("terse read %s%s" % (run.id, first)))
            # Behind the requested lines, the command asks for as many again.
            self.assertEqual(got, self.text)

    def test_json_pages(self):
        self.text = make_text(random_source(9), 150000)
        write_file(os.path.join(self.work, "f"), self.text)
        self.name, got, argv = "f", b"", ["f"]
        while argv:
            data = self.data("read", *argv)
            text = data["text"].encode()
            self.assertLessEqual(len(text), 30000)
            cut = re.search(rb"\[\.\.\. bytes \d+-\d+: (terse read [^\n]*)\]\n\Z", text)
            got += text[:cut.start()] + self.follow_cut(cut[1]) if cut else text
            argv = data["next"] and [w for w in shlex.split(data["next"])[2:] if w != "--json"]
        self.assertEqual(got, self.text)

    def test_last_lines(self):
        """The output of tail, or its end and the command for the part before."""
        rng = random_source(4)
        for _ in range(6):
            text = make_text(rng, rng.choice((500, 20000, 200000)))
            write_file(os.path.join(self.work, "f"), text)
            lines = text.splitlines(True) if b"\r" not in text else re.findall(rb"[^\n]*\n|[^\n]+\Z", text)
            for count in (1, 2, 50, 5000):
                out = self.page("f", "--tail", str(count))
                omitted = re.match(rb"\[\.\.\. ([\d,]+) lines?: terse (read [^\n]*)\]\n", out)
                want = b"".join(lines[-count:])
                if omitted:
                    out = out[omitted.end():]
                    left = int(omitted[1].replace(b",", b""))
                    shown = b"".join(lines[-min(count, len(lines)) + left:])
                    argv = omitted[2].decode().split()[1:]
                    first = self.data("read", *argv)
                    self.assertEqual(first["from"], len(lines) - min(count, len(lines)) + 1)
                    want = shown
                cut = re.match(rb"\[\.\.\. bytes (\d+)-(\d+) of line [\d,]+: [^\n]*\]\n", out)
                if cut:
                    out = out[cut.end():]
                    want = want[int(cut[2]) + 1 - int(cut[1]):]
                self.assertEqual(out, want)

    def test_what_a_preview_says(self):
        run = self.terse("--profile", "default", "sh", "-c", "seq -f 'line %.0f' 20000; exit 3")
        for marker in MARKER.finditer(run.out):
            data = self.data("read", run.id, "--lines", marker["range"].decode())
            self.assertTrue(data["text"].startswith("line %d\n" % int(marker["from"])))


class Readers(Reader):
    def test_program_gets_everything(self):
        write_file(os.path.join(self.work, "f"), numbers(50000))
        for options, want in (("", numbers(50000)), ("--tail 9000", numbers(50000)[-54000:]),
                              ("--offset 49990", numbers(50000)[-66:]),
                              ("--offset 10 --limit 20000", b"".join(b"%d\n" % n for n in range(10, 20010))),
                              ("--offset -3 --limit 2", b"49998\n49999\n"),
                              ("--bytes 100", numbers(50000)[100:100 + 32768]),
                              ("--bytes 3-200002", numbers(50000)[3:200003])):
            run = self.shell("terse read f %s | cat" % options)
            self.assertEqual(run.out, want, options)
        self.assertEqual(self.shell("terse read f | head -n 1").out, b"1\n")
        # A mistake is not a line of the text.
        run = self.shell("terse read f --offset 60000 | cat", split=True)
        self.assertEqual(run.out, b"")
        self.assertIn(b"is past the end", run.err)

    def test_file(self):
        """It gets all, unless standard error is in it: there an agent collects output."""
        write_file(os.path.join(self.work, "f"), numbers(50000))
        run = self.terse("read", "f", kind="file", split=True)
        self.assertEqual((run.out, run.err), (numbers(50000), b""))
        run = self.terse("read", "f", kind="file")
        self.assertIn(b"\n[terse: lines 1-2,000 of 50,000 shown (limit 2,000 lines); continue: ", run.out)

    def test_terminal(self):
        """Everything, by a pager, and clean. Notices are coloured there, and nowhere else."""
        write_file(os.path.join(self.work, "f"), numbers(50000) + b"\033[31mred\n")
        rows = [b"%d" % n for n in range(1, 50001)] + ["\ufffd[31mred".encode()]
        for options, rows in (((), rows), (("--lines", "3000-6000"), rows[2999:6000]), (("--tail", "1"), rows[-1:])):
            self.assertEqual(self.at_a_terminal("read", "f", *options, TERSE_PAGER="", PAGER="false"),
                             b"".join(row + b"\r\n" for row in rows))
            self.assertEqual(self.at_a_terminal("read", "f", *options, PAGER="sed 's/^/| /'"),
                             b"".join(b"| " + row + b"\r\n" for row in rows))
        # less shows what fits on the screen and ends.
        if shutil.which("less"):
            self.assertRegex(self.at_a_terminal("read", "f", "--lines", "1001-1002"),
                             rb"1001(\033\[m)?\r\n1002")
        kept = self.terse("--keep-raw", "sh", "-c", r"seq 3000; printf '\033[31mred\033[m\n'").id
        self.assertEqual(self.at_a_terminal("read", kept, "--raw", "--tail", "1", PAGER="cat"),
                         "\ufffd[31mred\ufffd[m\r\n".encode())
        write_file(os.path.join(self.work, "png"), b"\x89PNG\r\n\x1a\n" + bytes(50))
        for value, notice in ((None, rb"\A\033\[33m\[PNG[^]]*: not shown\]\r\n\033\[m\Z"),
                              ("1", rb"\A\[PNG[^]]*: not shown\]\r\n\Z")):
            self.assertRegex(self.at_a_terminal("read", "png", NO_COLOR=value, PAGER="false"), notice)
        self.assertIn(b"no such artifact", self.at_a_terminal("read", "nosuch", PAGER="false"))

    def test_raw(self):
        run = self.terse("--keep-raw", "sh", "-c", r"seq 3000; printf '\033[31mred\033[m\n'")
        raw = numbers(3000) + b"\x1b[31mred\x1b[m\n"
        self.assertEqual(self.page(run.id, "--raw", "--tail", "1"), "\ufffd[31mred\ufffd[m\n".encode())
        self.assertEqual(self.shell("terse read --raw %s | cat" % run.id).out, raw)
        self.shell("terse read --raw %s >out" % run.id)
        self.assertEqual(read_file(os.path.join(self.work, "out")), raw)
        self.assertEqual(self.shell("terse read --raw --tail 1 %s | cat" % run.id).out, b"\x1b[31mred\x1b[m\n")
        data = self.data("read", run.id, "--raw", "--tail", "1")
        self.assertEqual((data["stream"], data["text"]), ("raw", "\ufffd[31mred\ufffd[m\n"))
        kept = self.terse("--profile", "default", "seq", "3000").id
        run = self.terse("read", "--raw", kept)
        self.assertEqual((run.code, run.out), (1, b"terse read: %s: its raw bytes were not kept (--keep-raw keeps "
                                                  b"them)\n" % kept.encode()))

    def test_binary_run(self):
        write_file(os.path.join(self.work, "data"), b"\x1f\x8b\x08\x00" + bytes(range(256)) * 100)
        run = self.terse("cat", "data")
        told = b"gzip, 25.0 KB: not shown; its bytes: terse path --raw " + run.id.encode()
        for argv in ((run.id,), (run.id, "--raw"), (run.id, "--preview")):
            self.assertEqual(self.page(*argv), b"[" + told + b"]\n")
        answer = self.terse("read", run.id, "--json")
        self.assertEqual(answer.code, 1)
        self.assertEqual(json.loads(answer.out)["error"]["code"], "binary")
        path = self.command(told[told.index(b"terse"):]).rstrip(b"\n")
        self.assertEqual(read_file(path), read_file(os.path.join(self.work, "data")))
        self.assertEqual(self.shell("terse read --raw %s | cat" % run.id).out, read_file(path))

    def test_preview(self):
        """As run printed it, with the exit status of the run."""
        run = self.terse("--profile", "default", "sh", "-c", "seq 20000; exit 3")
        again = self.page(run.id, "--preview")
        self.assertEqual(FOOTER.search(again)["end"], b"exit 3")
        self.assertEqual(again, run.out)
        self.assertEqual(self.data("read", run.id, "--preview")["preview"].encode(), run.out)
        short = self.terse("--profile", "default", "--size", "1KB", "seq", "500").id
        self.assertEqual(self.page(short, "--preview"), numbers(500))
        write_file(os.path.join(self.work, "a b"), numbers(20000))
        out = self.page("a b", "--preview")
        self.assertTrue(out.endswith(b"\n[terse: 20,000 lines, 106 KB: terse read 'a b' [--lines FROM-TO], "
                                     b"terse search 'a b' REGEX]\n"), out[-200:])
        marker = re.search(rb"lines [^:\n]+: (terse read 'a b' --lines (\d+)-\d+)[;\]]", out)
        self.assertTrue(self.command(marker[1]).startswith(marker[2] + b"\n"))


class Pages(Reader):
    GAP = rb"\[\.\.\. lines \d,\d{3}-\d\d,\d{3} "

    def kept(self, *argv):
        return self.terse("--profile", "default", "--spill", "always", *argv).id

    def test_an_explicit_limit_over_a_page(self):
        out = self.page(self.kept("seq", "100000", "199999"), "--offset", "11", "--limit", "50000")
        self.assertTrue(out.startswith(b"100010\n"))
        more = re.search(rb"\[terse: lines 11-\d,\d{3} of 100,000 shown \(limit 30,000 bytes\); continue: terse read "
                         rb"cmd-[0-9a-z]+ --offset (\d+) --limit (\d+)\]\n\Z", out)
        self.assertEqual(int(more[1]) + int(more[2]), 50011)
        # More than the default number of lines, since it was asked for.
        self.assertEqual(self.page(self.kept("seq", "5000"), "--limit", "5000"), numbers(5000))

    def test_a_line_over_a_page(self):
        """Kept and omitted bytes are the line with its newline; invalid ones become three bytes."""
        for unit, times, cells, argv in ((b"x", 31000, 1, ["f"]), (b"x", 5000000, 1, ["f"]),
                                         (b"\xf0\x9f\x98\x80", 100000, 4, ["f"]),
                                         (b"\xe2\x82\xac", 100000, 3, ["f"]),
                                         (b"\x01", 20000, 3, ["f", "-a"]), (b"\xff", 1000000, 3, ["f", "-a"])):
            with self.subTest(unit=unit, times=times):
                write_file(os.path.join(self.work, "f"), b"before\n" + unit * times + b"\nafter\n")
                command = b"terse read " + " ".join(argv).encode()
                self.assertEqual(self.page(*argv), b"before\n[terse: line 1 of 3 shown (limit 30,000 bytes); continue: "
                                                   b"%s --offset 2]\n" % command)
                out = self.page(*argv, "--offset", "2")
                told = rb"\[\.\.\. bytes (\d+)-(\d+): %s --bytes \d+-\d+\]\n\[terse: line 2 of 3 shown" % command
                cut = re.search(told + rb" \(limit 30,000 bytes\); continue: %s --offset 3\]\n\Z" % command, out)
                first, last = int(cut[1]), int(cut[2])
                self.assertGreater(cut.start(), 28000)
                self.assertEqual(cut.start() % cells, 0)
                self.assertEqual(first, len(b"before\n") + cut.start() // cells * len(unit))
                self.assertEqual(last, len(b"before\n") + times * len(unit))
                self.assertRegex(self.page(*argv, "--offset", "2", "--limit", "1"), told + rb"; continue: [^\n]*\n\Z")
                self.assertEqual(self.page(*argv, "--offset", "3"), b"after\n")

    def test_of_a_run_that_waits(self):
        # One each: a reader that opens it before the writer has closed it would see its end.
        first, second, _ = (self.fifo(name) for name in ("first", "second", "third"))
        run = self.start(TERSE, "--profile", "default", "sh", "-c",
                         "seq 7000; read x <first; echo one; read x <second; printf 'Password: '; read x <third")
        eventually(lambda: self.terse("read", "last", "--offset", "7000").out.startswith(b"7000\n"), "the artifact")
        goes_on = b"[terse: the run goes on: terse read " + self.data("list")["runs"][0]["id"].encode()

        def shows(want, offset):
            def shown():
                return self.terse("read", "last", "--offset", "7001").out
            eventually(lambda: shown() == want + goes_on + b" --offset %d]\n" % offset, lambda: str(shown()))
        shows(b"", 7001)
        let_go_on(first)
        shows(b"one\n", 7002)
        let_go_on(second)
        shows(b"one\nPassword: \n", 7002)
        self.assertTrue(self.page("last", "--offset", "7001", "--limit", "1").startswith(b"one\n[terse: line 7,001 of"))
        # The reader may get the text before the next line comes.
        self.assertEqual(self.page("last", "--offset", "7003"), goes_on + b" --offset 7003]\n")
        self.assertEqual(self.terse("read", "last", "--offset", "7004").code, 1)
        run.kill(signal.SIGKILL)
        run.finish()
        self.assert_nothing_left()
        self.assertEqual(self.page("last", "--offset", "7001"), b"one\nPassword: ")

    def test_a_gap(self):
        name = self.kept("--max-artifact", "64KB", "seq", "100000")
        gap = self.metadata(name)["stdout"]["gap"]
        first, last = gap["from"], gap["to"]
        self.assertTrue(1 < first < last < 100000)
        shown = rb"\[terse: lines? [^\n]*\n\Z"
        self.assertRegex(self.page(name, "--offset", str(first - 1), "--limit", str(last - first + 3)),
                         rb"\A%d\n%s\([\d,]+, [\d.]+ KB\) not kept: over the disk cap \(\[spill\] max_artifact\)\]\n%d\n%s"
                         % (first - 1, self.GAP, last + 1, shown))
        # From inside the gap, and only inside: all of the gap is announced.
        self.assertRegex(self.page(name, "--offset", str(last - 10), "--limit", "5"),
                         rb"\A%s[^\n]*\n%s" % (self.GAP, shown))
        self.assertRegex(self.page(name, "--offset", str(last), "--limit", "2"),
                         rb"\A%s[^\n]*\n%d\n%s" % (self.GAP, last + 1, shown))
        self.assertEqual(self.page(name, "--offset", "100000"), b"100000\n")
        self.assertEqual(self.terse("read", name, "--offset", "100001").code, 1)

    def test_a_gap_inside_a_line(self):
        name = self.kept("--max-artifact", "64KB", "sh", "-c",
                         "echo first; head -c 900000 /dev/zero | tr '\\0' x; echo; echo last")
        told = rb"x+\n\[\.\.\. [\d.]+ KB of line 2 not kept: [^\n]*\nx+\n"
        self.assertRegex(self.shell("terse read %s | cat" % name).out, rb"\Afirst\n%slast\n\Z" % told)
        self.assertRegex(self.shell("terse read %s --offset 2 --limit 1 | cat" % name).out, rb"\A%s\Z" % told)
        self.assertEqual(self.page(name, "--offset", "3"), b"last\n")

    def test_files(self):
        write_file(os.path.join(self.work, "it's"), numbers(3000))
        self.assertEqual(self.page("it's", "--offset", "2999"), b"2999\n3000\n")
        self.assertTrue(self.page("it's").endswith(b" of 3,000 shown (limit 2,000 lines); continue: terse read "
                                                   b"'it'\\''s' --offset 2001]\n"))
        self.assertEqual(self.terse("read", "it's", "--stderr").code, 1)
        for name, why in ((self.work, b"Is a directory\n"), ("/dev/null", b"not a regular file\n")):
            run = self.terse("read", name)
            self.assertEqual((run.code, run.out[-len(why):]), (1, why))

    def test_bad_usage(self):
        for line in ("read", "read x y", "read x --foo", "read x --offset", "read x --offset 0", "read x --offset -0",
                     "read x --offset -", "read x --bytes", "read x --bytes x", "read x --bytes 1-0",
                     "read x --bytes :5", "read x --tail 0", "read x --tail 3 --offset 2", "read x --tail 3 --limit 2",
                     "read x --bytes 3 --preview", "read x --stderr --raw", "read x --raw --preview",
                     "read x --limit 1k", "read x --stderr=1", "read x --offset 99999999999999999999999", "list x",
                     "path", "path x y", "list --limit 0"):
            run = self.terse(*line.split(), split=True)
            self.assertEqual((run.code, run.out), (125, b""), line)
            self.assertRegex(run.err, rb"\Aterse (read|list|path): [^\n]*\n\Z")
        self.assertEqual(self.terse("read", "x", "--xyzzy=3").out,
                         b"terse read: --xyzzy: no such option (see terse help read)\n")

    def test_what_is_not_there(self):
        for name in ("cmd-000000000000", "cmd-xyz", "last", "last-3", "nothing"):
            run = self.terse("read", name)
            self.assertEqual((run.code, run.out), (1, b"terse read: %s: no such artifact (terse list shows what there "
                                                      b"is)\n" % name.encode()))
        self.kept("echo", "a")
        self.kept("echo", "b")
        run = self.terse("path", "cmd-1")
        self.assertEqual(run.code, 1)
        self.assertIn(b"several artifacts begin like this", run.out)
        # Typed text is printed clean.
        run = self.terse("path", "\x1b[m")
        self.assertEqual((run.code, b"\x1b" in run.out), (1, False))

    def test_lists(self):
        self.assertRegex(self.terse("list").out, rb"\Aterse list: nothing in session [^\n]*\n\Z")
        self.assertEqual(self.terse("list", "--all", "--state", "running").out,
                         b"terse list: no such run in any session\n")
        self.kept("seq", "1234")
        self.terse("--spill", "always", "sh", "-c", "echo x; kill -SEGV $$")
        live = self.start(TERSE, "--spill", "always", "sh", "-c", "seq 3000; exec sleep 1000")
        row = rb"cmd-[0-9a-z]{12}  %s +[\d.]+ m?s +%s +%s +\d+ s  %s\n"
        want = (rb"\AID +STATE +TOOK +LINES +SIZE +AGE +COMMAND\n" +
                row % (rb"running", rb"3,000", rb"13\.6 KB", rb"sh -c 'seq 3000; exec sleep 1000'") +
                row % (rb"SIGSEGV", rb"1", rb"2 B", rb"sh -c 'echo x; kill -SEGV \$\$'") +
                row % (rb"exit 0", rb"1,234", rb"[\d.]+ KB", rb"seq 1234") + rb"\Z")
        eventually(lambda: re.match(want, self.ask("list")), lambda: str(self.ask("list")))
        self.assertTrue(self.ask("list", "--limit", "2").endswith(b"[newest 2 shown; more: terse list --limit 20]\n"))
        live.kill(signal.SIGKILL)
        live.finish()
        self.assert_nothing_left()
        self.assertRegex(self.ask("list"), want.replace(b"running", b"interrupted"))

    def test_a_row_is_clean_and_narrow(self):
        self.terse("--spill", "always", "sh", "-c",
                   b"echo \x1b[31m\n\xe6\xbc\xa2\xe6\xbc\xa2 \xff" + b"a" * 150)
        row = self.ask("list").decode().splitlines()[1:]
        self.assertEqual(len(row), 1)
        self.assertRegex(row[0], r"sh -c 'echo \\x1b\[31m \u6f22\u6f22 \ufffda+\.\.\.$")
        # Two of the characters are two columns wide.
        self.assertEqual(len(row[0]) + 2, 120)


class Numbers(Reader):
    """read -n: as cat -n, in a page, for a program and for JSON; what goes on does so with numbers."""

    def test_numbers(self):
        write_file(os.path.join(self.work, "f"), b"".join(b"line %d\n" % n for n in range(1, 5001)) + b"[terse: x]\n" + b"no end")
        whole = b"".join(b"%6d\tline %d\n" % (n, n) for n in range(1, 5001)) + b"  5001\t[terse: x]\n  5002\tno end"
        for argv, want in ((("--lines", "7-8"), b"     7\tline 7\n     8\tline 8\n"),
                           (("--offset", "5000", "--limit", "1"), b"  5000\tline 5000\n")):
            self.assertEqual(self.page("f", "-n", *argv)[:len(want)], want)
        page = self.page("f", "-n")
        text, notice = page[:page.rindex(b"[terse: ")], page[page.rindex(b"[terse: "):]
        self.assertTrue(whole.startswith(text) and len(text) > 20000)
        self.assertRegex(notice, rb"; continue: terse read f -n --offset \d+\]\n\Z")
        self.assertTrue(self.page("f", "-n", "--tail", "2").endswith(b"  5002\tno end"))
        self.assertNotIn(b"\n  5001\t[terse", self.page("f", "-n", "--tail", "2"))
        self.assertEqual(self.data("read", "f", "-n", "--lines", "3-3")["text"], "     3\tline 3\n")
        for argv, want in (((), whole), (("--lines", "7-8"), whole[84:112]), (("--tail", "1"), b"  5002\tno end")):
            self.assertEqual(self.shell("terse read f -n %s | cat" % " ".join(argv)).out, want, argv)
        run = self.shell("terse read f -n --offset 9999 | cat")
        self.assertEqual(run.out, b"terse read: f: has 5,002 lines, --offset 9999 is past the end\n")
        for option in ("--bytes=0-9", "--raw", "--preview"):
            self.assertEqual(self.terse("read", "f", "-n", option).code, 125)
        # Bytes have no numbers, so the command that shows those of a line that is cut asks for none.
        write_file(os.path.join(self.work, "f"), b"x" * 100000)
        self.assertEqual(len(self.page("f", "-n")), len(self.page("f")))
        self.assertEqual(len(self.page("f", "-n", "--tail", "1")), len(self.page("f", "--tail", "1")))
        command = re.search(rb"\[\.\.\. [^:\n]+: terse (read f --bytes \d+-\d+)\]", self.page("f", "-n")).group(1).decode()
        self.assertEqual(self.terse(*command.split()).code, 0)

    def test_gaps_and_long_lines(self):
        one = self.terse("--max-artifact", "64KB", "-c", "seq 1 30000; seq -s, 20000; echo end").id
        for program in "", "| cat":
            out = self.shell("terse read %s -n --tail 3 %s" % (one, program)).out
            self.assertRegex(out, rb"(?m)^ 30002\tend$")
            # How much of the long line is kept depends on the pieces in which it came: it may be more than a page.
            omitted = re.match(rb"\[\.\.\. 2 lines: terse (read \S+ -n --offset 30000 --limit 2)\]\n", out)
            if omitted and not program:
                out = self.page(*omitted.group(1).decode().split()[1:])
            self.assertEqual(len(re.findall(rb"(?m)^ 30001\t", out)), 1, out[:300])
        out = self.shell("terse read %s -n | cat" % one).out
        gap = re.search(rb"\n( *\d+)\t\d*\n?\[\.\.\. lines ([\d,]+)-([\d,]+) ", out)
        self.assertTrue(gap, out[30000:34000])


class Live(Reader):
    def test_never_a_torn_line(self):
        """While a run writes in pieces of any length, readers get whole lines from any place, and no
        errors."""
        os.mkfifo(os.path.join(self.work, "go"))
        script = "seq -f 'line %.0f of this text.' 400000; read x <go; echo end"
        run = self.start(TERSE, "--profile", "default", "sh", "-c", script)
        line = re.compile(rb"line (\d+) of this text\.\n")

        def without_part(text):
            """A part of a line that stood for a third of a second is shown, as a prompt is: where
            the machine is so slow, the last one may be one."""
            last = text[text.rfind(b"\n", 0, -1) + 1:].rstrip(b"\n")
            whole = b"line %d of this text." % (total + 1000000)
            is_part = len(last) < len(whole) and re.fullmatch(rb"l?i?n?e? ?\d* ?[of this text]*", last)
            return text[:text.rfind(b"\n", 0, -1) + 1] if is_part and not line.fullmatch(last + b"\n") else text
        total = 0

        def all_there():
            nonlocal total
            found = self.terse("read", "last", "--tail", "5", split=True)
            if found.code == 1 and b"no such" in found.err:  # nothing kept yet
                return False
            self.assertEqual((found.code, found.err), (0, b""))
            data = self.data("read", "last", "--tail", "3")
            text = without_part(data["text"].rstrip("\n").encode() + b"\n")
            self.assertEqual(line.sub(b"", text), b"", data)
            text = re.sub(rb"\[terse: the run goes on: terse read \S+ --offset \d+\]\n\Z", b"", found.out)
            text = without_part(text)
            self.assertEqual(line.sub(b"", text), b"", found.out)
            lines = [int(n) for n in line.findall(text)]
            self.assertEqual(lines, list(range(lines[0], lines[0] + len(lines))) if lines else [])
            # The screen is a part of the file only until what is final has been written.
            self.assertGreaterEqual(lines[-1] if lines else 0, total - 50)
            total = lines[-1] if lines else 0
            if total:
                middle = self.page("last", "--offset", str(total // 2 + 1), "--limit", "2")
                self.assertTrue(middle.startswith(b"line %d of this text.\n" % (total // 2 + 1)), middle)
            return total == 400000
        eventually(all_there, lambda: "all lines; %d so far" % total)
        out = self.page("last", "--tail", "1")
        told = re.search(rb"\n\[terse: the run goes on: (terse read \S+ --offset 400001)\]\n\Z", out)
        self.assertTrue(told, out)
        self.assertIs(self.data("read", "last", "--tail", "1")["running"], True)
        let_go_on(os.path.join(self.work, "go"))
        run.finish()
        self.assertEqual(self.command(told[1]), b"end\n")


class Runs(Reader):
    def setUp(self):
        super().setUp()
        self.failed = self.terse("--profile", "default", "sh", "-c", "seq 3000; exit 3").id
        self.killed = self.terse("--profile", "default", "sh", "-c", "seq 3000; kill -SEGV $$").id
        self.terse("echo", "a short text")
        self.short = self.ids("list")[0]
        self.good = self.terse("--profile", "default", "seq", "4000").id

    def ids(self, verb, *argv):
        return [run["id"] for run in self.data(verb, *argv)["runs"]]

    def test_list(self):
        every = [self.good, self.short, self.killed, self.failed]
        for argv, want in (((), every), (("--failed",), [self.killed, self.failed]),
                           (("--exit", "3"), [self.failed]), (("--exit", "0"), every[:2]),
                           (("--exit", "139"), [self.killed]), (("--state", "done"), every),
                           (("--state", "running"), []), (("--command", "exit 3"), [self.failed]),
                           (("--since", "1h"), every), (("--until", "1h"), []), (("--limit", "1"), every[:1]),
                           (("--since", "2001-01-01", "--failed", "--limit", "1"), [self.killed])):
            self.assertEqual(self.ids("list", *argv), want, argv)
        run = self.data("list")["runs"][2]
        self.assertEqual({k: run[k] for k in ("session", "command", "cwd", "state", "exit_code", "signal", "success",
                                              "timed_out", "binary", "lines", "bytes")},
                         {"session": "default", "command": ["sh", "-c", "seq 3000; kill -SEGV $$"], "cwd": self.work,
                          "state": "done", "exit_code": None, "signal": "SIGSEGV", "success": False,
                          "timed_out": False, "binary": False, "lines": 3000, "bytes": 13893})
        self.assertRegex(run["started"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
        data = self.data("list", "--limit", "2")
        self.assertEqual((data["shown"], data["truncated"], data["next"]), (2, True, "terse list --json --limit 20"))
        table = self.ask("list", "--failed", "--limit", "1")
        self.assertTrue(table.endswith(b"[newest 1 shown; more: terse list --failed --limit 10]\n"), table)

    def test_list_of_what_was_not_kept(self):
        self.terse("--spill", "overflow", "echo", "only in the journal")
        data = self.data("list", "--command", "only in")
        self.assertEqual([(r["command"], r["lines"]) for r in data["runs"]], [(["echo", "only in the journal"], None)])
        rows = self.ask("list").decode().splitlines()
        self.assertRegex(rows[1], r"^- +exit 0 +[\d.]+ m?s +- +- +\d+ s  echo 'only in the journal'$")
        self.assertRegex(rows[3], self.short + r" +exit 0 +[\d.]+ m?s +1 +13 B +\d+ s  echo 'a short text'$")
        self.assertEqual(self.ids("list", "--limit", "1"), [None])
        self.terse("--session", "other", "true")
        self.assertEqual(len(self.ids("list", "--all")), 6)
        self.assertEqual(len(self.ids("list", "--session", "other")), 1)
        # A damaged line is passed over and reported.
        path = os.path.join(os.path.dirname(os.fsdecode(self.ask("path", self.good))), "journal.jsonl")
        with open(path, "ab") as f:
            f.write(b"{nonsense\n")
        run = self.terse("list", split=True)
        self.assertEqual((run.code, len(run.out.splitlines())), (0, 6))
        self.assertEqual(run.err, b"terse list: damaged lines skipped: 1\n")

    def test_another_preview_of_a_kept_text(self):
        first = self.ask("read", self.failed, "--preview")
        again = self.ask("read", self.failed, "--preview", "--size", "1000", "--mode=tail")
        self.assertTrue(900 < len(again) < 1300, again)
        self.assertEqual(FOOTER.search(first)["end"], b"exit 3")
        self.assertEqual(FOOTER.search(again)["end"], b"exit 3")
        self.assertTrue(again.startswith(b"[... lines 1-2"), again[:80])
        self.assertTrue(numbers(3000).endswith(again[again.index(b"\n") + 1:FOOTER.search(again).start()]))
        shown = self.ask("read", self.failed, "--preview", "--profile", "read")
        self.assertTrue(shown.startswith(numbers(1750) + b"[... lines 1751-"), shown[-1000:])
        for argv in (("--size", "1000"), ("--exit-code", "1"), ("--preview", "--size", "1"),
                     ("--preview", "--sizee", "1000")):
            self.assertEqual(self.terse("read", self.failed, *argv).code, 125, argv)

    def test_a_gap_is_not_walked_through(self):
        """However many lines it is said to have: those behind it have their numbers and places."""
        run = self.terse("--profile", "default", "--max-artifact", "64KB", "seq", "300000")
        path = self.ask("path", run.id).decode().strip()
        text = json.loads(read_file(path[:-4] + ".json"))
        gap, more = text["stdout"]["gap"], 2 ** 62
        preview = self.ask("read", run.id, "--preview")
        self.assertIn(b"; 300,000 lines, 1.9 MB", preview)
        self.assertTrue(preview[:preview.index(b"[terse:")].endswith(b"\n299999\n300000\n"))
        gap["to"] += more
        text["stdout"]["lines"] += more
        write_file(path[:-4] + ".json", json.dumps(text, separators=(",", ":")).encode())
        for mode in ("smart", "head", "tail", "ends"):
            told = self.ask("read", run.id, "--preview", "--mode", mode)
            self.assertIn(b"%d" % (300000 + more), told.replace(b",", b""), mode)
        self.assertIn(b"\n300000\n[terse: ", self.ask("show", run.id))

    def test_show(self):
        out = self.ask("show", self.failed)
        head, preview = out.split(b"\n\n", 1)
        for pattern in (rb"^artifact +" + self.failed.encode(), rb"^session +default$",
                        rb"^state +exit 3 after ", rb"^command +sh -c 'seq 3000; exit 3'$",
                        rb"^directory +" + os.fsencode(self.work), rb"^started +\d{4}-.* ago\)$",
                        rb"^text +3,000 lines, 13\.6 KB: /.*\.txt$", rb"^terminal +160 columns, 50 rows$"):
            self.assertRegex(head, re.compile(pattern, re.M))
        self.assertEqual(FOOTER.search(preview)["end"], b"exit 3")
        data = self.data("show", self.failed)
        self.assertEqual((data["id"], data["exit_code"], data["stdout"]["lines"]), (self.failed, 3, 3000))
        self.assertEqual(read_file(data["stdout"]["path"]), numbers(3000))
        self.assertEqual((data["stderr"], data["raw"]), (None, None))
        self.assertEqual(data["preview"].encode(), preview)

    def test_show_of_a_run_that_lives(self):
        run = self.start(TERSE, "--profile", "default", "sh", "-c", "seq 5000; exec sleep 1000")
        eventually(lambda: self.ids("list", "--state", "running"), "the artifact")
        out = self.ask("show", "last")
        self.assertRegex(out, re.compile(rb"^state +running after ", re.M))
        self.assertRegex(out, re.compile(rb"^processes +command \d+, supervisor \d+$", re.M))
        self.assertEqual(self.data("show", "last")["state"], "running")
        run.kill(signal.SIGTERM)
        run.finish()

    def test_damaged_metadata(self):
        """Damaged metadata are reported; the text can still be read, searched and previewed."""
        path = os.fsdecode(self.ask("path", self.good).rstrip(b"\n"))
        write_file(path[:-4] + ".json", b"{nonsense")
        self.assertEqual(self.ids("list")[0], self.good)
        # Of a run that has no line, since it lives or was killed, they are read.
        journal = os.path.join(os.path.dirname(path), "journal.jsonl")
        write_file(journal, b"".join(line for line in read_file(journal).splitlines(True) if b'"terse.run"' not in line))
        self.assertIn(b"(metadata: ", self.ask("list"))
        self.assertEqual(self.data("list")["runs"][0], {"id": self.good, "error": "damaged on disk"})
        out = self.ask("show", self.good)
        self.assertRegex(out, re.compile(rb"^metadata +can't be read \(damaged on disk\); the text can$", re.M))
        self.assertRegex(out, re.compile(rb"^text +4,000 lines, ", re.M))
        self.assertTrue(out.endswith(b" REGEX]\n"))
        self.assertEqual(self.data("show", self.good)["metadata_error"], "damaged on disk")
        self.assertEqual(self.page(self.good, "--offset", "4000"), b"4000\n")
        self.assertEqual(self.terse("search", self.good, "^3999$").out, b"3999:3999\n")

    def test_damaged_short_text(self):
        self.terse("echo", "hello")
        identifier = re.search(rb"(?m)^cmd-\w+", self.ask("list"))[0]
        path = os.path.join(self.store, "sessions", "default", "%s.texts" % identifier[:8].decode())
        write_file(path, read_file(path).replace(b"hello", b"Hello"))
        for verb in (("read",), ("search", "l"), ("show",)):
            out = self.terse(verb[0], identifier.decode(), *verb[1:]).out
            self.assertEqual(out, b"terse %s: %s: damaged on disk\n" % (verb[0].encode(), identifier))

    def test_damaged_index(self):
        """Is as good as none: the text is read instead."""
        path = os.fsdecode(self.ask("path", self.good).rstrip(b"\n"))
        for damage in (b"", b"terseix1", b"x" * 4000, read_file(path[:-4] + ".idx")[:-3] + b"abc"):
            write_file(path[:-4] + ".idx", damage)
            self.assertEqual(self.page(self.good, "--offset", "3500", "--limit", "1"),
                             b"3500\n[terse: line 3,500 of 4,000 shown; continue: terse read %s --offset 3501 "
                             b"--limit 1]\n" % self.good.encode())
            self.assertEqual(self.data("read", self.good, "--tail", "1")["from"], 4000)

    def test_codes(self):
        """Every verb reports its failures as JSON, with a status to match."""
        for argv, code, status in ((("read", "nothing"), "unknown_artifact", 1),
                                   (("show", "cmd-0"), "unknown_artifact", 1),
                                   (("path", "last-99"), "unknown_artifact", 1),
                                   (("search", "nothing", "x"), "unknown_artifact", 1),
                                   (("list", "--session", "nobody"), "unknown_session", 1),
                                   (("list", "--session", "nobody"), "unknown_session", 1),
                                   (("search", "--session", "nobody", "x"), "unknown_session", 1),
                                   (("search", "last", "("), "bad_pattern", 125),
                                   (("read", "last", "--offset", "99999"), "bad_range", 1),
                                   (("read", "last", "--bytes", "9999999"), "bad_range", 1),
                                   (("read", "/"), "unreadable", 1), (("path", "last", "--raw"), "unreadable", 1),
                                   (("read", TERSE), "binary", 1), (("read",), "usage", 125),
                                   (("list", "--state", "x"), "usage", 125), (("show",), "usage", 125),
                                   (("search", "--nothing"), "usage", 125)):
            run = self.terse(*argv, "--json", split=True)
            answer = json.loads(run.out)
            self.assertEqual((answer["ok"], answer["error"]["code"], run.code, run.err), (False, code, status, b""),
                             argv)
            self.assertTrue(answer["error"]["message"])


class SearchJson(Reader):
    def test_matches(self):
        """Lines in order, those around a match and what is cut told apart; more of them by `next`."""
        write_file(os.path.join(self.work, "f"), numbers(1000) + b"y" * 600 + b"x\xff\n")
        data = self.data("search", "f", "^(10|12)$", "-C", "1")
        self.assertEqual(data["found"], [{"line": n, "match": n in (10, 12), "text": str(n), "truncated": False}
                                         for n in range(9, 14)])
        self.assertEqual((data["shown"], data["total"], data["truncated"], data["next"]), (2, 2, False, None))
        self.assertEqual(data["gaps"], [])
        self.assertEqual(self.data("search", "f", "x")["found"],
                         [{"line": 1001, "match": True, "text": "y" * 498 + "x\ufffd", "truncated": True}])
        data, seen = self.data("search", "f", "7"), []
        self.assertEqual((data["shown"], data["total"], data["truncated"]), (100, 271, True))
        while True:
            seen += [found["line"] for found in data["found"]]
            if not data["next"]:
                break
            data = self.data(*[w for w in shlex.split(data["next"])[1:] if w != "--json"])
        self.assertEqual(seen, [n for n in range(1, 1001) if "7" in str(n)])
        for option, total in (("-c", 271), ("-l", None)):
            data = self.data("search", "f", option, "7")
            self.assertEqual((data["path"], data["found"], data["truncated"]),
                             ("f", [{"artifact": None, "total": total, "binary": None}], False))
        run = self.terse("search", "f", "nothing", "--json")
        self.assertEqual((run.code, json.loads(run.out)["data"]["found"]), (1, []))
        write_file(os.path.join(self.work, "f"), b"\x7fELF" + b"\0" * 60 + b"\nx\n")
        self.assertEqual(self.data("search", "f", "x")["found"], [{"artifact": None, "total": 1, "binary": "ELF"}])

    def test_size(self):
        """Quotes and newlines that are escaped count, so that no answer is longer than a page."""
        write_file(os.path.join(self.work, "f"), b'""\n' * 30000)
        for argv in (("search", "f", "."), ("search", "f", ".", "--limit", "9999"), ("read", "f"),
                     ("read", "f", "--bytes", "0")):
            self.assertLess(len(self.terse(*argv, "--json").out), 30001, argv)

    def test_session(self):
        first = self.terse("--profile", "default", "seq", "3000").id
        second = self.terse("--profile", "default", "seq", "4000").id
        data = self.data("search", "--all", "^299[89]$")
        self.assertEqual([(found["artifact"], found["line"]) for found in data["found"]],
                         [(run, n) for run in (second, first) for n in (2998, 2999)])
        self.assertEqual((data["session"], data["searched"]), ("default", 2))
        self.assertEqual(self.data("search", "--all", "-c", "^3")["found"],
                         [{"artifact": run, "total": total, "binary": None}
                          for run, total in ((second, 1111), (first, 112))])
        self.assertEqual(self.data("search", "--all", "-l", "^3999$")["found"],
                         [{"artifact": second, "total": None, "binary": None}])


class Memory(Reader):
    def measure(self, *argv):
        report = os.path.join(self.dir, "report")
        run = self.run_to_end("reaper", report, "terse", *argv, split=True)
        peak = max(int(line.split()[-2]) for line in read_file(report).splitlines()
                   if line.startswith(b"terse "))
        print("note  %s: peak memory %d KB" % (" ".join(argv), peak))
        if not is_sanitized():
            self.assertLessEqual(peak, PEAK_KB)
        return run

    def test_memory(self):
        """A large file and a line of 100 MB: the same few megabytes."""
        with open(os.path.join(self.work, "f"), "wb") as f:
            for n in range(0, 1000000, 20000):
                f.write(b"".join(b"%d some text \xc3\xa9\n" % i for i in range(n, n + 20000)))
            for _ in range(100):
                f.write(b"x" * 1000000)
            f.write(b"\nend\n")
        size = os.path.getsize(os.path.join(self.work, "f"))
        self.assertEqual(self.measure("read", "f", "--offset", "777777", "--limit", "1").out,
                         "777776 some text é\n[terse: line 777,777 of 1,000,002 shown; continue: terse read f "
                         "--offset 777778 --limit 1]\n".encode())
        out = self.measure("read", "f", "--tail", "3").out
        self.assertTrue(out.startswith(b"[... 2 lines: terse read f --offset 1000000 --limit 2]\n"
                                       b"end\n"), out[:200])
        out = self.command(b"terse read f --offset 1000000 --limit 2")
        self.assertTrue(out.startswith("999999 some text é\n".encode()), out)
        self.assertTrue(out.endswith(b"[terse: line 1,000,000 of 1,000,002 shown (limit 30,000 bytes); continue: terse "
                                     b"read f --offset 1000001 --limit 1]\n"), out[-200:])
        out = self.measure("read", "f", "--offset", "1000001").out
        cut = re.search(rb"x\[\.\.\. bytes (\d+)-(\d+): terse read f --bytes (\d+)-(\d+)\]\n", out)
        self.assertEqual(int(cut[4]), size - 5)
        self.assertEqual((int(cut[1]), int(cut[2])), (int(cut[3]), size - 5))
        self.assertEqual(self.data("read", "f", "--limit", "1")["total_lines"], 1000002)
        self.assertEqual(self.measure("read", "f", "--bytes", str(size - 4)).out, b"end\n")
        self.measure("read", "f", "--limit", "900000")
        self.measure("read", "f", "--json", "--limit", "900000")
        self.measure("read", "f", "--preview")

    def test_more_lines_than_are_counted(self):
        """A file over 1 GB, most of it a hole, is not read as a whole to tell how many lines it has."""
        path = os.path.join(self.work, "f")
        write_file(path, "first\n" + "some text\n" * 100000)
        with open(path, "r+b") as f:
            f.truncate(1 << 30)
            f.seek(1 << 30)
            f.write(b"\nlast\n")
        out = self.measure("read", "f", "--limit", "1").out
        self.assertEqual(out, b"first\n[terse: line 1 shown; continue: terse read f --offset 2 --limit 1]\n")
        data = self.data("read", "f", "--limit", "1")
        self.assertEqual((data["total_lines"], data["truncated"]), (None, True))
        self.assertEqual(self.measure("read", "f", "--offset", "-1").out, b"last\n")
        self.assertEqual(self.data("read", "f", "--tail", "1")["from"], 100003)


if __name__ == "__main__":
    main()
