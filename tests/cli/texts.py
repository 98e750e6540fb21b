#!/usr/bin/env -S python3 -B
"""Every kind of output becomes the right text, in bounded memory."""

import json
import os

from support.harness import (FAILURE_LIMIT, FOOTER, LIMIT, TERSE, Case, eventually, is_sanitized, let_go_on, main,
                             random_source, read_file, write_file)

# The limit for one process of terse.
PEAK_KB = 8 * 1024


class Exact(Case):
    def printed(self, data, *options):
        """The output that an agent gets for a file's bytes."""
        write_file(os.path.join(self.work, "data"), data)
        run = self.terse("--profile", "default", *options, "cat", "data")
        self.assertEqual(run.code, 0)
        return run.out

    def test_line_ends(self):
        for options in ((), ("--no-pty",), ("--tty",)):
            with self.subTest(options=options):
                end = b"\r\n" if "--no-pty" in options else b"\n"
                self.assertEqual(self.printed(b"a\r\nb\n", *options), b"a" + end + b"b\n")
                self.assertEqual(self.printed(b"a\nb\n", *options), b"a\nb\n")
                self.assertEqual(self.printed(b"a\r\r\nb\n", *options), b"a" + end + b"b\n")
                self.assertEqual(self.printed(b"a\n\n\nb", *options), b"a\n\n\nb")
                self.assertEqual(self.printed(b"\n", *options), b"\n")
                self.assertEqual(self.printed(b"\n\n", *options), b"\n\n")

    def test_crlf_through_a_pipe(self):
        """The same bytes printed, in JSON, kept and read again; line numbers and searches agree."""
        short = b"one\r\ntwo\r\n\r\nfour"
        data = b"".join(b"line %d\r\n" % i for i in range(1, 9001))
        write_file(os.path.join(self.work, "short"), short)
        write_file(os.path.join(self.work, "long"), data)
        self.assertEqual(self.terse("cat", "short").out, short)
        run = self.terse("--format=json", "cat", "short")
        self.assertEqual(json.loads(run.out)["stdout"].encode(), short)
        for options in ((), ("--profile=default", "--no-pty"),
                        ("--profile=default", "--no-pty", "--mode=ends"), ("--max-lines=9",)):
            run = self.terse(*options, "cat", "long")
            self.assertEqual(self.artifact(run.id), data, options)
            lines = run.out.split(b"\n")
            self.assertEqual(lines[0], b"line 1\r")
            for line in lines:
                self.assertTrue(line.startswith(b"[") or line.endswith(b"\r") or not line, line)
            if "--mode=ends" in options:
                self.assertEqual(lines[-3], b"line 9000\r")
        page = self.ask("read", run.id, "--offset", "77", "--limit", "2")
        self.assertTrue(page.startswith(b"line 77\r\nline 78\r\n[terse: lines 77-78 of 9,000 "), page)
        self.assertEqual(self.ask("search", run.id, "e 77$"), b"77:line 77\n")
        self.assertIn(b"\nline 9\r\n", self.ask("read", run.id, "--preview"))

    def test_nul(self):
        """A newline where there is none, else U+2400; the byte for a program and a file."""
        cases = ((b"one\0two\0", b"one\ntwo\n"), (b"a\0b\nhello\n", "a\u2400b\nhello\n".encode()))
        for data, text in cases:
            for options in ((), ("--no-pty",)):
                self.assertEqual(self.printed(data, *options), text)
            for script in ("terse cat data >copy", "terse cat data | cat >copy"):
                self.shell(script)
                self.assertEqual(read_file(os.path.join(self.work, "copy")), data)
        os.mkdir(os.path.join(self.work, "dir"))
        for name in ("one", "two words", "three"):
            write_file(os.path.join(self.work, "dir", name), b"")
        self.assertEqual(sorted(self.terse("find", "dir", "-type", "f", "-print0").out.split(b"\n")),
                         [b"", b"dir/one", b"dir/three", b"dir/two words"])
        self.assertEqual(self.shell("terse find dir -type f -print0 | xargs -0 -n1 echo | sort").out,
                         b"dir/one\ndir/three\ndir/two words\n")
        self.assertIn(b"\nHOME=", self.terse("env", "-0").out)
        self.assertEqual(self.terse("cat", "/proc/self/cmdline").out, b"cat\n/proc/self/cmdline\n")
        run = self.terse("sh", "-c", r"printf '\0\0\0ok\n'; seq 3000; exit 3")
        self.assertIn(b"[terse: exit 3 after", run.out)
        self.assertEqual(self.ask("read", run.id, "--limit", "2").decode().split("[")[0],
                         "\u2400\u2400\u2400ok\n1\n")
        self.assertEqual(self.ask("search", run.id, "\u2400ok$"), "1:\u2400\u2400\u2400ok\n".encode())
        self.assertIn(b"\0\0\0ok\n", read_file(self.ask("path", "--raw", run.id).strip()))
        self.assertEqual(self.ask("read", "data"), cases[1][1])

    def test_nul_behind_a_part_of_a_line(self):
        """A program gets every byte of it."""
        go = os.path.join(self.work, "go")
        os.mkfifo(go)
        run = self.start(TERSE, "--full", "--no-pty", "sh", "-c",
                         r"printf 'abc'; read x <%s; printf 'd\0e\n'" % go)
        let_go_on(go)
        run.finish()
        self.assertEqual(run.out, b"abcd\0e\n")

    def test_overwritten(self):
        self.assertEqual(self.printed(b"10%\r50%\r100%\n"), b"100%\n")
        self.assertEqual(self.printed(b"long line\rshort\n"), b"shortline\n")
        self.assertEqual(self.printed(b"long line\r\033[Kshort\n"), b"short\n")
        self.assertEqual(self.printed(b"ab\b\bAB\n"), b"AB\n")

    def test_failure_that_is_overwritten(self):
        """It stays for an agent, in front of what replaces it; a program gets what a terminal shows."""
        data = (b"Building\n 10% [#  ]\rerror in part.c: no such member\r 90% [## ]\r"
                b"Building is over, all 31 parts done\nend\n")
        shown = b"Building\n%sBuilding is over, all 31 parts done\nend\n"
        stays = b"error in part.c: no such member\n"
        self.assertEqual(self.printed(data), shown % stays)
        run = self.terse("--profile", "default", "cat data | cat; seq 3000")
        self.assertTrue(run.out.startswith(shown % stays), run.out)
        self.assertTrue(self.artifact(run.id).startswith(shown % stays))
        self.assertEqual(self.terse("--full", "cat", "data").out, shown % b"")
        self.assertEqual(self.terse("filter", "--full", data=data).out, shown % b"")

    def test_colours(self):
        self.assertEqual(self.printed(b"\033[1;31mred\033[0m \033[38;5;9mtext\033[m\n"),
                         b"red text\n")
        link = b"\033]0;title\007x\033]8;;http://e\033\\link\033]8;;\033\\\n"
        self.assertEqual(self.printed(link), b"xlink\n")

    def test_what_does_not_end_swallows_nothing(self):
        for options in ((), ("--no-pty",), ("--tty",)):
            with self.subTest(options=options):
                self.assertEqual(self.printed(b"\033]0;x\n1\n2\n", *options), b"]0;x\n1\n2\n")
                self.assertEqual(self.printed(b"a\033_b\n\xc3\xa9", *options), b"a_b\n\xc3\xa9")
                self.assertEqual(self.printed(b"\033P" + b"line\n" * 1000, "--full", *options),
                                 b"P" + b"line\n" * 1000)

    def test_bytes_of_what_does_not_end_are_kept(self):
        data = b"\033Pq" + b"1234567\n" * 70000
        write_file(os.path.join(self.work, "data"), data)
        for options in ((), ("--no-pty",)):
            run = self.terse("--profile", "default", "--size", "1KB", *options, "cat", "data")
            path = os.fsdecode(self.ask("path", "--raw", run.id).rstrip(b"\n"))
            self.assertEqual(read_file(path), data)
            self.assertEqual(self.artifact(run.id), data[1:4097] + b"[...]")

    def test_a_program_gets_what_does_not_end(self):
        data = b"a\n\033]8;;http://e\nb\n\033P" + b"line\n" * 1000
        write_file(os.path.join(self.work, "data"), data)
        for options in ((), ("--no-pty",)):
            run = self.terse("--full", *options, "cat", "data")
            self.assertEqual(run.out, data.replace(b"\033", b""))

    def test_as_small_as_a_terminal_can_be(self):
        run = self.terse("filter", "--cols", "2", "--rows", "2", data=b"abc\r\033[Cx\n")
        self.assertEqual(run.out, b"abcx\n")
        self.assertEqual(self.terse("filter", "--cols", "1", data=b"").code, 125)

    def test_pictures(self):
        self.assertEqual(self.printed(b"a\033Pq~~\033\\\n\033_Ga=T;QUJD\033\\\n"),
                         b"a[image]\n[image]\n")

    def test_tabs_and_trailing_blanks(self):
        data = b"\ta\tb\t\n  x  \n \n\t\n"
        self.assertEqual(self.printed(data), data)
        self.assertEqual(self.printed(data, "--no-pty"), data)

    def test_long_line_is_not_broken(self):
        data = b"x" * 1000 + b"\n" + b"y" * 160 + b"\nend\n"
        self.assertEqual(self.printed(data), data)

    def test_invalid_utf8(self):
        data = b"bad \xff\xfe \xc3( \xed\xa0\x80 ok caf\xc3\xa9 \xf0\x9f\x98\x80\n"
        run = self.printed(data)
        run.decode()  # what is shown is valid
        self.assertTrue(run.startswith(b"bad "))
        self.assertTrue(run.endswith("café 😀\n".encode()))
        many = data * 200
        write_file(os.path.join(self.work, "data"), many)
        long = self.terse("--profile", "default", "cat", "data")
        long.out.decode()
        self.assertEqual(self.artifact(long.id), many)

    def test_utf8_cut_between_writes(self):
        script = r"printf '\303'; sh -c :; printf '\251 \360\237'; sh -c :; printf '\230\200\n'"
        self.assertEqual(self.terse("sh", "-c", script).out, "é 😀\n".encode())

    def test_empty(self):
        for argv in (("true",), ("sh", "-c", ":"), ("--no-pty", "true"), ("--full", "true")):
            run = self.terse(*argv)
            self.assertEqual((run.code, run.out), (0, b""))
        self.assertEqual(self.artifacts(), [])

    def test_only_escapes(self):
        self.assertEqual(self.printed(b"\033[H\033[2J\033[?25l\033[?25h"), b"")

    def test_cleared_screen_stays_in_the_text(self):
        out = self.printed(b"one\ntwo\n\033[H\033[2Jthree\n")
        self.assertEqual(out.split(), [b"one", b"two", b"three"])

    def test_alternate_screen_is_not_text(self):
        self.assertEqual(self.printed(b"before\n\033[?1049hpicture\033[?1049lafter\n"),
                         b"before\nafter\n")

    def test_raw_bytes_are_kept_when_rendering_drops_more_than_colours(self):
        write_file(os.path.join(self.work, "data"), b"10%\r100%\n" * 2000)
        run = self.terse("--profile", "default", "cat", "data")
        path = os.fsdecode(self.ask("path", "--raw", run.id).rstrip(b"\n"))
        self.assertEqual(read_file(path), b"10%\r100%\n" * 2000)
        self.assertEqual(self.artifact(run.id), b"100%\n" * 2000)

    def test_binary_is_described(self):
        data = b"\x1f\x8b\x08\x00" + bytes(range(256)) * 100
        write_file(os.path.join(self.work, "data"), data)
        for options in ((), ("--no-pty",)):
            run = self.terse(*options, "cat", "data")
            self.assertRegex(run.out, rb"\A\[terse: exit 0 after [^;]+; 25.0 KB of binary output "
                                      rb"\(gzip\): terse path --raw cmd-[0-9a-z]+\]\n\Z")
            path = os.fsdecode(self.ask("path", "--raw", run.id).rstrip(b"\n"))
            self.assertEqual(read_file(path), data)



class Much(Case):
    """Enough for a thread to begin reading ahead."""

    FIRST, MORE = 900000, 700000

    def lines(self, count):
        return b"".join(b"%d\n" % n for n in range(1, count + 1))

    def test_every_byte_is_kept(self):
        for options in (("--pty",), ("--no-pty",), ("--tty",)):
            with self.subTest(options=options):
                run = self.terse(*options, "seq", str(self.FIRST))
                self.assertEqual(run.code, 0)
                self.assertEqual(self.artifact(run.id), self.lines(self.FIRST))

    def test_streams_kept_apart(self):
        run = self.terse("--streams", "split", "sh", "-c",
                         "seq %d >&2 & seq %d; wait" % (self.FIRST, self.FIRST))
        self.assertEqual(run.code, 0)
        path = os.fsdecode(self.ask("path", run.id).rstrip(b"\n"))
        self.assertEqual(self.artifact(run.id), self.lines(self.FIRST))
        self.assertEqual(read_file(path[:-len(".txt")] + ".err.txt"), self.lines(self.FIRST))

    def test_a_child_goes_on_after_the_end(self):
        """Output that was read ahead when the command ended comes before its child's output."""
        for options in (("--pty",), ("--no-pty",)):
            with self.subTest(options=options):
                run = self.terse(*options, "sh", "-c",
                                 "seq %d; sh -c 'while [ ! -e go ]; do sleep 0.02; done; seq %d' &"
                                 % (self.FIRST, self.MORE))
                self.assertEqual(run.code, 0)
                self.assertTrue(FOOTER.search(run.out)["background"], run.out[-300:])
                write_file(os.path.join(self.work, "go"), "")
                self.assert_nothing_left()
                self.assertEqual(self.artifact(run.id),
                                 self.lines(self.FIRST) + self.lines(self.MORE))
                os.unlink(os.path.join(self.work, "go"))


class Memory(Case):
    """Peak resident memory over all processes of a run, measured by a subreaper. As the kernel counts, a
    process's peak is at least that of the children it waited for."""

    def measure(self, what, *argv, **how):
        report = os.path.join(self.dir, "report")
        run = self.run_to_end("reaper", report, "terse", *argv, **how)
        peaks = []
        for line in read_file(report).splitlines():
            name, kb, _ = line.rsplit(b" ", 2)
            if name == b"terse":
                peaks.append(int(kb))
        print("note  %s: peak memory of the largest process of terse %d KB" % (what, max(peaks)))
        self.assertGreaterEqual(len(peaks), 1, read_file(report))
        if not is_sanitized():
            self.assertLessEqual(max(peaks), PEAK_KB)
        return run

    def test_5_mb_on_one_line(self):
        script = "head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end"
        run = self.measure("5 MB on one line", "--profile", "default", "sh", "-c", script)
        self.assertLessEqual(len(run.out), LIMIT + 400)
        self.assertIn(b"\nend\n[terse: exit 0", run.out)
        self.assertEqual(self.artifact(run.id), b"x" * 5000000 + b"\nend\n")

    def test_a_million_empty_lines(self):
        """The first part of a text holds its lines, however short they are."""
        run = self.measure("a million empty lines", "--profile", "default", "--mode", "head", "--size",
                           "30KB", "sh", "-c", "yes '' | head -n 1000000")
        self.assertRegex(run.out, rb"\A\n{4096}\[terse: lines 1-4,096 of 1,000,000 shown \(limit 4,096 lines\): ")

    def test_a_report_of_everything(self):
        run = self.measure("20 MB as one JSON object", "--format", "json", "--full", "sh", "-c",
                           "yes 'a \"line\"' | head -c 20000000")
        self.assertEqual(json.loads(run.out)["stdout"].count('a "line"\n'), 2222222)

    def test_100_mb_of_yes(self):
        for options in ((), ("--no-pty",), ("--profile", "read")):
            if "--profile" not in options:
                options += ("--profile", "default")
            run = self.measure("100 MB of yes " + " ".join(options), *options, "sh", "-c",
                               "yes | head -c 100000000")
            if "read" in options:
                self.assertIn(b"\n[terse: lines 1-2,000 of 50,000,000 shown (limit", run.out)
            else:
                self.assertEqual(FOOTER.search(run.out)["lines"], b"50,000,000")
            path = os.fsdecode(self.ask("path", run.id).rstrip(b"\n"))
            self.assertEqual(os.path.getsize(path), 100000000)
            os.unlink(path)

    def test_100_mb_of_lines_to_a_program(self):
        report = os.path.join(self.dir, "report")
        script = "reaper %s terse seq 12000000 | cksum; seq 12000000 | cksum" % report
        run = self.shell(script)
        first, second = run.out.splitlines()
        self.assertEqual(first, second)
        peaks = [int(line.split()[-2]) for line in read_file(report).splitlines()
                 if line.startswith(b"terse ")]
        if not is_sanitized():
            self.assertLessEqual(max(peaks), PEAK_KB)

    def test_urandom(self):
        write_file(os.path.join(self.work, "noise"), random_source().randbytes(20000000))
        for options in ((), ("--no-pty",)):
            run = self.measure("20 MB of random bytes " + " ".join(options), *options,
                               "head", "-c", "20000000", "noise")
            self.assertRegex(run.out, rb"\A\[terse: exit 0 after [^;]+; 19.1 MB of binary output: "
                                      rb"terse path --raw cmd-[0-9a-z]+\]\n\Z")
            path = os.fsdecode(self.ask("path", "--raw", run.id).rstrip(b"\n"))
            self.assertEqual(os.path.getsize(path), 20000000)

    def test_random_bytes_after_text(self):
        """Not judged as binary where much text came: goes through the terminal as escape sequences
        and all."""
        write_file(os.path.join(self.work, "noise"), random_source().randbytes(20000000))
        for lines in (4000, 1000):
            run = self.measure("20 MB of random bytes after text", "--profile", "default", "sh",
                               "-c", "seq %d; head -c 20000000 noise; exit 4" % lines)
            self.assertEqual(run.code, 4)
            self.assertLessEqual(len(run.out), FAILURE_LIMIT + 400)
            self.assertEqual(b"19.1 MB of binary output" in run.out, lines == 1000)
            run.out.decode()

    def test_progress(self):
        # Not Python: children that the supervisor waited for count in its peak.
        script = ('BEGIN { for (i = 0; i < 400000; i++) { if (i % 8000 == 0) bar = bar "#";'
                  ' printf "\\r\\033[K%5.1f%% [%-50s]", i / 4000, bar } print "\\ndone" }')
        run = self.measure("400,000 frames of a progress bar", "awk", script)
        self.assertEqual(run.out, b"100.0%% [%-50s]\ndone\n" % (b"#" * 50))

    def test_stalled_reader(self):
        """Output that a reader does not take does not pile up."""
        report = os.path.join(self.dir, "report")
        run = self.start("reaper", report, "terse", "--full", "yes", kind="pipe")
        run.until(b"y\ny\n")
        def supervisor_waits():
            # The command has filled all there is and waits in its write.
            found = [p for p in self.mine() if p.argv[:1] == ["yes"]]
            return found and read_file("/proc/%d/wchan" % found[0].pid) not in (b"0", b"")
        if os.path.exists("/proc/self/wchan"):
            eventually(supervisor_waits, "a full pipe")
        for process in self.mine():
            if process.argv[:1] == ["yes"]:
                os.kill(process.pid, 15)
        run.finish()
        peaks = [int(line.split()[-2]) for line in read_file(report).splitlines()
                 if line.startswith(b"terse ")]
        if not is_sanitized():
            self.assertLessEqual(max(peaks), PEAK_KB)


if __name__ == "__main__":
    main()
