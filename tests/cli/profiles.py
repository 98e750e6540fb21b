#!/usr/bin/env -S python3 -B
"""The profile of a command decides how much of its text an agent gets, in which unit that is counted, and what
the notice about the rest says. The tests run every command that a notice names."""

import json
import os
import re
import shutil

from support.harness import BUDGET, FOOTER, MARKER, TERSE, Case, main, read_file, write_file

KB = 1024
ID = rb"cmd-[0-9a-z]+"


def lines_of(count, width=0):
    """Numbered lines, each of `width` bytes and a newline."""
    return b"".join(b"%d " % n + b"x" * (width - len(str(n)) - 1) + b"\n"
                    for n in range(1, count + 1))


class Profiles(Case):
    def file(self, name, data):
        return write_file(os.path.join(self.work, name), data)

    def split_notice(self, run):
        """The text and the notice, which is the last line, without its ID."""
        text, notice = re.fullmatch(rb"(.*?)(\[terse: [^\n]*\]\n)", run.out, re.S).groups()
        return text, re.sub(ID, b"ID", notice).decode()

    def go_on(self, run):
        """The output of the command in the notice."""
        command = re.findall(rb"terse read " + ID + rb"(?: --stderr)? --offset \d+", run.out)[0]
        done = self.shell(command.decode())
        self.assertEqual(done.code, 0)
        return done.out

    def assert_cut(self, run, text, shown, notice, code=0):
        """`shown` lines of the text were printed, then the notice; the named command goes on."""
        lines = text.splitlines(keepends=True)
        self.assertEqual(self.split_notice(run), (b"".join(lines[:shown]), notice + "\n"))
        self.assertEqual(run.code, code)
        self.assertTrue(self.go_on(run).startswith(lines[shown]))
        self.assertEqual(self.artifact(run.id), text)


class Scripts(Profiles):
    def test_a_script_prints_what_was_asked_for(self):
        """As many rows are shown as there is room for; the same lines of a build, or of a script that fails, are
        folded."""
        rows = b"".join(b"row %4d  balance %d.00 of the account\n" % (n, n * 3) for n in range(1, 501))
        self.file("rows", rows)
        self.file("print.sh", "cat rows; exit $1")
        for command, least, most in ((("bash", "print.sh", "0"), 7 * KB, 9 * KB), (("bash", "print.sh", "1"), 0, 3 * KB),
                                     (("--profile", "build", "bash", "print.sh", "0"), 0, 3 * KB)):
            run = self.terse(*command)
            self.assertGreater(len(run.out), least, command)
            self.assertLess(len(run.out), most, command)


class Tables(Profiles):
    def test_a_table_fills_the_room(self):
        """Lines of names and values are shown while there is room; those of a build are folded."""
        for n in range(500):
            self.file("the-part%03d.c" % n, b"x\n" * (n * 7919 % 1000))
        for command in ("wc -l *.c", "stat -c '%n is of %s bytes' *.c", "file *.c",
                        'for f in *.c; do echo "$f: $(wc -c <$f) bytes"; done'):
            if not shutil.which(command.split()[0]) and not command.startswith("for"):
                continue
            run = self.terse(command)
            self.assertEqual(run.code, 0)
            self.assertGreater(len(run.out), BUDGET * 95 // 100, command)
            self.assertNotIn(b" like this", run.out)
            for folds in (("--profile", "build"), ("--fold", "overflow")):
                self.assertLess(len(self.terse(*folds, command).out), BUDGET // 2, command)

    def test_counters_are_folded(self):
        run = self.terse("for i in $(seq 900); do echo \"Received part $i of 900\"; done; echo 'all is there'")
        self.assertIn(b" like this", run.out)
        self.assertLess(len(run.out), BUDGET // 2)
        # In a long text, too.
        run = self.terse("--profile", "default", "-c", "seq 300000 | sed 's/.*/Received part & of 300000/'; echo 'all is there'")
        self.assertLess(len(run.out), BUDGET)
        self.assertIn(b"\nall is there\n", run.out)


class Read(Profiles):
    def test_20_kb_whole_byte_for_byte(self):
        text = b"\ttab  \n" + lines_of(20 * KB // 50, 49) + "é 😀".encode()
        self.file("text", text)
        for argv in (("cat", "text"), ("cat text",), ("cd . && cat text",), ("cat < text | cat",)):
            run = self.terse(*argv)
            self.assertEqual((run.code, run.out), (0, text), argv)

    def test_a_little_more_is_whole_too(self):
        text = lines_of(30 * KB // 50 + 50, 49)
        self.file("text", text)
        self.assertEqual(self.terse("cat", "text").out, text)

    def test_100_kb_first_30_by_whole_lines(self):
        text = lines_of(2000, 49)
        self.file("text", text)
        for kind in ("socket", "pipe"):
            run = self.terse("cat", "text", kind=kind)
            self.assert_cut(run, text, 614, "[terse: lines 1-614 of 2,000 shown (limit 30 KB): "
                                            "terse read ID --offset 615]")

    def test_3000_lines_stop_at_2000(self):
        text = lines_of(3000)
        self.file("text", text)
        self.assertLess(len(text), 30 * KB)
        self.assert_cut(self.terse("cat", "text"), text, 2000,
                        "[terse: lines 1-2,000 of 3,000 shown (limit 2,000 lines): "
                        "terse read ID --offset 2001]")
        self.file("text", lines_of(2000))
        self.assertEqual(self.terse("cat", "text").out, lines_of(2000))

    def test_first_line_too_long(self):
        self.file("text", b"x" * 100000 + b"\n")
        run = self.terse("cat", "text")
        text, notice = self.split_notice(run)
        note = re.fullmatch(rb"x+(\[\.\.\. bytes (\d+)-99999\])\n", text)
        self.assertEqual(text.count(b"x"), int(note[2]))
        self.assertIn(len(text), range(30 * KB - 8, 30 * KB + 1))
        self.assertEqual(notice, "[terse: 1 long line cut: terse read ID --bytes FROM-TO]\n")
        # It has the room that is asked for, and leaves the other lines theirs.
        run = self.terse("--size", "50KB", "cat", "text")
        self.assertGreater(run.out.count(b"x"), 50 * KB - 64)
        self.file("text", b"x" * 50000 + b"\n" + lines_of(100))
        run = self.terse("cat", "text")
        self.assertEqual(self.split_notice(run)[1], "[terse: 1 long line cut: terse read ID --bytes FROM-TO]\n")
        self.assertIn(b"]\n" + lines_of(100) + b"[terse: ", run.out)
        self.assertGreater(run.out.count(b"x"), 29 * KB)
        run = self.terse("cat text; echo 'Error: the cause'; exit 1")
        self.assertIn(b"\nError: the cause\n[terse: exit 1 after ", run.out)
        # Of a failure that ends with such a line, its end is shown.
        self.file("end", b"x" * 50000 + b" Error: the cause")
        run = self.terse("cat text end; exit 1")
        self.assertIn(b"x Error: the cause\n[terse: exit 1 after ", run.out)
        self.assertLess(len(run.out), 31 * KB)
        run = self.terse("cat end; exit 1")
        self.assertIn(b"x Error: the cause\n[terse: exit 1 after ", run.out)
        self.assertLess(len(run.out), 31 * KB)

    def test_later_line_too_long(self):
        text = b"a\nb\n" + b"x" * 100000 + b"\nend\n"
        self.file("text", text)
        shown, notice = self.split_notice(self.terse("cat", "text"))
        self.assertRegex(shown, rb"\Aa\nb\nx{30000,}\[\.\.\. bytes \d+-100003\]\nend\n\Z")
        self.assertEqual(notice, "[terse: 1 long line cut: terse read ID --bytes FROM-TO]\n")

    def test_failure_is_told_behind(self):
        text = lines_of(3000)
        self.file("text", text)
        run = self.terse("--status", "always", "cat", "text")
        self.assertIn(b"\n[terse: exit 0; lines 1-", run.out)
        run = self.terse("cat text; kill -TERM $$")
        self.assertEqual(run.code, -15)
        self.assertIn(b"\n[terse: killed by SIGTERM after ", run.out)
        run = self.terse("--max-lines", "6", "cat text; echo last; exit 3")
        shown, notice = self.split_notice(run)
        self.assertEqual(shown.replace(run.id.encode(), b"ID"),
                         b"1 \n2 \n3 \n[... lines 4-2998, 16.5 KB: terse read ID --lines 4-2998]\n"
                         b"2999 \n3000 \nlast\n")
        self.assertRegex(notice, r"\A\[terse: exit 3 after [^;]*; 3,001 lines, 16\.5 KB \(limit 6 lines\): "
                                 r"terse read ID \[--lines FROM-TO\], terse search ID REGEX\]\n\Z")

    def test_stderr_kept_apart(self):
        text = lines_of(3000)
        self.file("text", text)
        run = self.terse("--streams", "split", "cat text >&2", split=True)
        end = re.search(rb"\[terse: .*\]\n\Z", run.err)
        self.assertRegex(end[0], rb"\A\[terse: lines 1-(\d+) of 3,000 shown \(limit 4 KB\): terse "
                                 rb"read cmd-[0-9a-z]+ --stderr --offset \d+\]\n\Z")
        self.assertLessEqual(end.start(), 4 * KB)
        shown = run.err[:end.start()].count(b"\n")
        command = re.search(rb"terse read [^\]]*", end[0])[0].decode()
        self.assertTrue(self.shell(command).out.startswith(b"%d \n" % (shown + 1)), command)

    def test_last_of_a_pipeline(self):
        """A read of 50 lines, whatever feeds it."""
        self.file("Makefile", "all:\n\t@seq 20000 | sed 's/$$/ of what make prints/'\n")
        run = self.terse("make 2>&1 | tail -50")
        self.assertEqual(run.out, b"".join(b"%d of what make prints\n" % n
                                           for n in range(19951, 20001)))
        text = lines_of(2000, 199)
        self.file("text", text)
        run = self.terse("true && seq 9 | cat - text | tail -100")
        self.assertEqual(run.out, text[-100 * 200:])

    def test_several_parts(self):
        """The largest of their limits, chosen by what the lines tell."""
        self.file("text", lines_of(500, 49))
        run = self.terse("seq 3; cat text")
        self.assertEqual(run.out, b"1\n2\n3\n" + lines_of(500, 49))
        text = lines_of(5000, 49)
        self.file("text", text)
        run = self.terse("seq 3; cat text")
        self.assertTrue(FOOTER.search(run.out))
        self.assertTrue(MARKER.search(run.out))
        self.assertIn(b"\n" + text[-50:], run.out)
        # Alike lines do not fill the room, one that is long does.
        self.assertLess(len(run.out), 20 * KB)
        self.file("text", text + b"z" * 100 * KB + b"\n")
        run = self.terse("seq 3; cat text")
        self.assertGreater(len(run.out), 20 * KB)

    def test_programs_and_files_get_everything(self):
        text = lines_of(5000, 99)
        self.file("text", text)
        script = "terse cat text > copy; cmp text copy && terse cat text | cksum; cksum < text"
        one, two = self.shell(script).out.splitlines()
        self.assertEqual(one, two)

    def test_it_is_printed_as_it_comes(self):
        fifo = self.fifo()
        run = self.start(TERSE, "cat", fifo)
        with open(fifo, "wb", buffering=0) as f:
            f.write(b"first\n")
            run.until(rb"first\n")
            f.write(lines_of(3000))
            run.until(rb"\n1749 \n")
            f.write(b"last\n")
        run.finish()
        self.assertEqual(self.split_notice(run)[1],
                         "[terse: lines 1-2,000 of 3,002 shown (limit 2,000 lines): "
                         "terse read ID --offset 2001]\n")

    def test_interrupted_in_the_middle(self):
        """Text that a killed run printed stays, and the rest can be read."""
        fifo = self.fifo()
        run = self.start(TERSE, "cat", fifo)
        with open(fifo, "wb", buffering=0) as f:
            f.write(lines_of(3000))
            run.until(rb"\n1750 \n")
            run.kill()
            run.finish()
        text, notice = self.split_notice(run)
        self.assertTrue(text.startswith(lines_of(1750) + b"[... lines 1751-"))
        self.assertTrue(text.endswith(lines_of(3000)[-100 * 6:]))
        self.assertRegex(notice, r"\A\[terse: interrupted after .*: terse read ID \[--lines FROM-TO\], ")


class Outcome(Profiles):
    """A failure gets 6 KB, a success 4 KB, and --size sets both."""

    def test_between_both(self):
        text = lines_of(100, 59)
        self.file("text", text)
        for options, code, whole in (((), 3, True), ((), 0, False), (("--size", "4KB"), 3, False),
                                     (("--failure-size", "4KB"), 3, False),
                                     (("--size", "6KB"), 0, True)):
            run = self.terse(*options, "--profile", "default", "-c", "cat text; exit %d" % code)
            self.assertEqual((run.code, run.out == text), (code, whole), options)
            self.assertEqual(len(self.artifacts()), not whole, options)
            if not whole:
                self.assertLessEqual(len(run.out), 5 * KB)
                self.assertEqual(self.artifact(run.id), text)
                self.shell("terse drop " + run.id)

    def test_a_success_below_what_its_agent_would_cut(self):
        """That such an agent gets less of a longer text makes no difference for this one."""
        self.file("text", "".join("tests/part_%d.py::test_%d PASSED [%3d%%]\n" % (i / 20, i, i / 3)
                                  for i in range(300)))
        sizes = [len(self.terse("--profile", "pytest", "-c", "cat text", env=env).out)
                 for env in ({}, {"CLAUDECODE": "1"})]
        self.assertLess(max(sizes), KB, sizes)

    def test_while_it_runs(self):
        run = self.with_time(lambda limit: self.terse("--yield", limit, "--profile", "default", "-c",
                                                      "seq -w 1 1000; sleep 1000"), lambda run: run.id)
        self.assertIn(b"[terse: running after ", run.out)
        self.assertLessEqual(len(run.out), 5 * KB)
        self.shell("terse signal " + run.id)

    def test_json(self):
        text = lines_of(100, 59)
        self.file("text", text)
        for code in (0, 3):
            run = self.terse("--format", "json", "--profile", "default", "-c",
                             "cat text; exit %d" % code)
            report = json.loads(run.out)
            self.assertEqual("truncation" in report, code == 0)


class Search(Profiles):
    def test_stops_at_300_matches(self):
        text = b"".join(b"a match %d\n" % n for n in range(1, 2432))
        self.file("text", text)
        notice = ("[terse: 300 matches of 2,431 shown: terse read ID --offset 301, or narrow the "
                  "pattern]")
        for argv in (("grep", "match", "text"), ("cd . && grep match text",),
                     ("cat text | grep match",)):
            self.assert_cut(self.terse(*argv), text, 300, notice)
        self.assertEqual(self.terse("grep", "-m100", "match", "text").out.count(b"\n"), 100)

    def test_bytes_first(self):
        text = b"".join(b"match %d %s\n" % (n, b"y" * 340) for n in range(1000, 3431))
        self.file("text", text)
        shown = 10 * KB // len(text.splitlines()[0] + b"\n")
        self.assert_cut(self.terse("grep", "match", "text"), text, shown,
                        "[terse: %d matches of 2,431 shown (limit 10 KB): terse read ID --offset "
                        "%d, or narrow the pattern]" % (shown, shown + 1))

    def test_long_lines(self):
        """A few long lines are shown whole, many as far as there is room for each."""
        lines = [b"match %d\n" % n for n in range(1, 51)]
        for n in (12, 20, 33):
            lines[n - 1] = b"match " + b"z" * 1000 + b"\n"
        self.file("text", b"".join(lines))
        self.assertEqual(self.terse("grep", "match", "text").out, b"".join(lines))

        for n in (12, 20, 33):
            lines[n - 1] = b"match " + b"z" * 100000 + b"\n"
        self.file("text", b"".join(lines))
        run = self.terse("grep", "match", "text")
        text, notice = self.split_notice(run)
        self.assertIn(b"match 50\n", text)
        self.assertEqual([l for l in text.splitlines() if len(l) < 20],
                         [l[:-1] for l in lines if len(l) < 20])
        cut = [l for l in text.splitlines() if len(l) >= 20]
        self.assertEqual(len(cut), 3)
        for line in cut:
            self.assertGreater(len(line), 3000)
            self.assertRegex(line, rb"\Amatch z+\[\.\.\. bytes \d+-\d+\]\Z")
        self.assertEqual(notice, "[terse: 3 long lines cut: terse read ID --bytes FROM-TO]\n")

    def test_no_match(self):
        self.file("text", "a\n")
        run = self.terse("grep", "match", "text")
        self.assertEqual((run.code, run.out), (1, b""))
        run = self.terse("grep", "match", "nothing")
        self.assertEqual((run.code, run.out), (2, b"grep: nothing: No such file or directory\n"))

    def test_includes_of_this_machine(self):
        script = "cd /usr && grep -rn include include"
        plain = self.shell(script).out.splitlines()
        if len(plain) < 1000:
            self.skipTest("no headers in /usr/include")
        run = self.terse(script)
        self.assertEqual(run.code, 0)
        text, notice = self.split_notice(run)
        self.assertRegex(notice, r"\A\[terse: (\d+) matches of [\d,]+ shown.*: terse read ID "
                                 r"--offset \d+, or narrow the pattern\]\n\Z")
        self.assertIn("of {:,} shown".format(len(plain)), notice)
        lines = text.splitlines()
        self.assertEqual([l[:400] for l in lines], [l[:400] for l in plain[:len(lines)]])
        self.assertTrue(self.go_on(run).startswith(plain[len(lines)][:400]))


class Find(Profiles):
    def test_stops_at_1000_results(self):
        for n in range(1500):
            self.file("%04d" % n, "")
        text = b"".join(sorted(b"%04d\n" % n for n in range(1500)))
        run = self.terse("find . -type f -printf '%f\\n'")
        self.assertEqual(run.code, 0)
        text, notice = self.split_notice(run)
        self.assertEqual(notice, "[terse: 1,000 results of 1,500 shown: terse read ID --offset "
                                 "1001, or narrow the search]\n")
        rest = self.go_on(run).splitlines()
        self.assertEqual(sorted(text.splitlines() + rest), [b"%04d" % n for n in range(1500)])

    def test_usr(self):
        run = self.terse("find", "/usr")
        text, notice = self.split_notice(run)
        found = re.fullmatch(r"\[terse: ([\d,]+) results of [\d,]+ shown(?: \(limit 30 KB\))?: terse "
                             r"read ID --offset (\d+), or narrow the search\]\n", notice)
        self.assertTrue(found, notice)
        self.assertEqual(text.count(b"\n"), int(found[1].replace(",", "")))
        self.assertEqual(int(found[2]), text.count(b"\n") + 1)
        self.assertLessEqual(len(text), 30 * KB)
        kept = self.artifact(run.id)
        self.assertTrue(kept.startswith(text))
        self.assertTrue(self.go_on(run).startswith(kept[len(text):].split(b"\n")[0] + b"\n"))


class List(Profiles):
    def test_stops_at_500_entries(self):
        for n in range(40):
            os.mkdir(os.path.join(self.work, "d%02d" % n))
            for m in range(20):
                self.file("d%02d/%02d" % (n, m), "")
        plain = self.shell("ls -R").out
        run = self.terse("ls", "-R")
        text, notice = self.split_notice(run)
        lines = plain.splitlines(keepends=True)
        shown = text.count(b"\n")
        self.assertEqual(text, b"".join(lines[:shown]))
        self.assertEqual(sum(1 for l in lines[:shown] if l.strip() and not l.endswith(b":\n")), 500)
        self.assertEqual(notice, "[terse: 500 entries of 840 shown: terse read ID --offset %d, or "
                                 "list less]\n" % (shown + 1))
        self.assertTrue(self.go_on(run).startswith(lines[shown]))

    def test_usr(self):
        run = self.terse("ls", "-R", "/usr")
        text, notice = self.split_notice(run)
        self.assertRegex(notice, r"\A\[terse: [\d,]+ entries of [\d,]+ shown(?: \(limit 30 KB\))?: "
                                 r"terse read ID --offset \d+, or list less\]\n\Z")
        kept = self.artifact(run.id)
        self.assertTrue(kept.startswith(text))

    def test_as_without_a_terminal(self):
        """One name a line, no colours, no columns."""
        for name in "abc":
            self.file(name, "")
        self.assertEqual(self.terse("ls").out, b"a\nb\nc\n")


class OfTerse(Profiles):
    def test_pages_are_not_cut_again(self):
        self.terse("sh", "-c", "seq 100000; :")
        page = self.ask("read", "last", "--limit", "1500")
        self.assertEqual(self.terse("terse read last --limit 1500").out, page)
        page = self.ask("read", "last")
        self.assertEqual(self.terse("cd . && terse read last").out, page)


class Chosen(Profiles):
    def test_by_hand(self):
        run = self.terse("--profile", "search", "seq", "3000")
        self.assert_cut(run, b"".join(b"%d\n" % n for n in range(1, 3001)), 300,
                        "[terse: 300 matches of 3,000 shown: terse read ID --offset 301, or narrow "
                        "the pattern]")
        run = self.terse("seq", "3000", env={"TERSE_PROFILE": "find"})
        self.assertEqual(self.split_notice(run)[1],
                         "[terse: 1,000 results of 3,000 shown: terse read ID --offset 1001, or "
                         "narrow the search]\n")

    def test_filter(self):
        data = b"".join(b"%d\n" % n for n in range(1, 3001))
        run = self.terse("filter", "--profile", "read", data=data)
        self.assertEqual(self.split_notice(run), (
            data[:data.index(b"2001\n")],
            "[terse: lines 1-2,000 of 3,000 shown (limit 2,000 lines): terse read ID --offset "
            "2001]\n"))
        self.assertEqual(self.terse("filter", "--profile", "raed", data=data).code, 125)
        self.file("data", data)
        with open(os.path.join(self.work, "data"), "rb") as f:
            run = self.terse("filter", "--profile", "read", stdin=f)
        self.assertEqual(self.split_notice(run)[1],
                         "[terse: lines 1-2,000 of 3,000 shown (limit 2,000 lines)]\n")

    def test_unknown(self):
        self.file("ran", "")
        run = self.terse("--profile", "raed", "rm", "ran")
        self.assertEqual((run.code, run.out), (
            125, b"terse: --profile: raed: no such profile (did you mean read?)\n"))
        self.assertTrue(os.path.exists(os.path.join(self.work, "ran")))
        run = self.terse("echo", "x", env={"TERSE_PROFILE": "raed"})
        self.assertEqual((run.code, run.out), (
            0, b"terse: TERSE_PROFILE: raed: no such profile (did you mean read?)\nx\n"))

    def test_flags_win(self):
        self.file("text", lines_of(3000))
        self.assertEqual(self.terse("--max-lines", "0", "cat", "text").out, lines_of(3000))
        run = self.terse("cat", "text", env={"TERSE_MAX_LINES": "7"})
        self.assertTrue(run.out.startswith(lines_of(7) + b"[terse: lines 1-7 of 3,000 shown (limit "))
        run = self.terse("--mode", "tail", "cat", "text")
        self.assertTrue(FOOTER.search(run.out))
        self.assertIn(lines_of(3000)[-50:] + b"[terse: exit 0", run.out)

    def test_of_the_user(self):
        path = os.path.join(self.home, "config", "terse")
        os.makedirs(path)
        write_file(os.path.join(path, "terse.ini"),
                   "[profile rows]\nmatch = seq\nmax_lines = 4\nmode = head\n"
                   "[profile search]\nmax_lines = 2\n")
        self.assertTrue(self.terse("seq", "9").out.startswith(b"1\n2\n3\n4\n[terse: lines 1-4 of 9 "))
        self.file("text", "a\na\na\n")
        self.assertTrue(self.terse("grep", "a", "text").out.startswith(
            b"a\na\n[terse: 2 matches of 3 shown: "))

    def test_terminal_or_pipe(self):
        """A program that shows text gets a pipe, or a terminal if one was asked for."""
        for options, script, want in (((), "cat /dev/null; test -t 1", 1),
                                      ((), "test -t 1", 0),
                                      (("--pty",), "cat /dev/null; test -t 1", 0),
                                      (("--tty",), "cat /dev/null; test -t 1 && : < /dev/tty", 0),
                                      (("--profile", "default"), "cat /dev/null; test -t 1", 0)):
            self.assertEqual(self.terse(*options, "-c", script).code, want, (options, script))

    def test_exit_statuses(self):
        self.file("text", lines_of(3000))
        for script, code in (("cat text; exit 7", 7), ("grep -q nothing text", 1),
                             ("cat nothing", 1), ("ls nothing", 2), ("find nothing", 1),
                             ("cat text; kill -9 $$", -9), ("cat text", 0)):
            self.assertEqual(self.terse(script).code, code, script)
        self.assertEqual(self.terse("--timeout", "200ms", "cat text; sleep 60").code, 124)


class Malformed(Profiles):
    """One line says where and why, and the command ran, with the defaults."""

    CASES = (
        ("[report]\nsize = many\n", ":2: [report] size: many: "),
        ("[report]\nsize = 1\n", ":2: [report] size: 1: "),
        ("[report]\nsize = 99MB\n", ":2: [report] size: 99MB: "),
        ("[report]\nmax_lines = -1\n", ":2: [report] max_lines: -1: "),
        ("[report]\nunit = words\n", ":2: [report] unit: words: "),
        ("[report]\nsise = 4KB\n", ":2: [report] sise: "),
        ("[reprot]\nsize = 4KB\n", "reprot"),
        ("size = 4KB\n", "size"),
        ("[report\nsize = 4KB\n", ":1: "),
        ("[report]\nsize 4KB\n", ":2: "),
        ("[report]\n= 4KB\n", ":2: "),
        ("[report]\nsize = " + "9" * 300 + "\n", ":2: "),
        ("[run]\npty = perhaps\n", ":2: [run] pty: perhaps: "),
        ("[run]\ntimeout = 2 fortnights\n", ":2: [run] timeout: 2 fortnights: "),
        ("[run]\nprofile = raed\n", ":2: [run] profile: raed: no such profile (did you mean read?)"),
        ("[terminal]\ncols = 1\n", ":2: [terminal] cols: 1: "),
        ("[preview]\nmode = clever\n", ":2: [preview] mode: clever: "),
        ("[preview]\nhead_share = 101\n", ":2: [preview] head_share: 101: "),
        ("[environment]\nset =\n\tPAGER\n", "PAGER"),
        ("[profile read]\nsize = no\n", ":2: [profile read] size: no: "),
        ("[profile read]\nshell = sh\n", ":2: [profile read] shell: "),
        ("[profile mine]\nmatch = |\n", ":2: [profile mine] match: "),
        ("[report]\nsize = \0\n", ""),
    )

    def test_each(self):
        path = os.path.join(self.dir, "bad.ini")
        for text, message in self.CASES:
            with self.subTest(text=text[:60]):
                write_file(path, text)
                run = self.terse("-c", "echo ran; exit 3", split=True, env={"TERSE_CONFIG": path})
                self.assertEqual((run.code, run.out), (3, b"ran\n"))
                self.assertRegex(run.err, rb"\Aterse: [^\n]+\n\Z")
                self.assertIn(message.encode(), run.err)
                self.assertTrue(run.err.startswith(b"terse: " + path.encode() + b":"), run.err)


main()
