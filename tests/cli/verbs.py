#!/usr/bin/env -S python3 -B
"""The verbs around a run: read, search, list, path, filter, doctor."""

import json
import os
import re
import shutil
import signal

from support.harness import (FOOTER, LIMIT, MARKER, TERSE, Case, eventually, let_go_on, main,
                             numbers, read_file, write_file)

ID = re.compile(rb"cmd-[0-9a-z]{12}")


class Read(Case):
    def setUp(self):
        super().setUp()
        self.kept = self.terse("seq", "5000").id

    def test_ranges(self):
        self.assertEqual(self.ask("read", self.kept, "--limit", "3")[:6], b"1\n2\n3\n")
        self.assertEqual(self.ask("read", self.kept, "--offset", "4999"), b"4999\n5000\n")
        self.assertEqual(self.ask("read", self.kept, "--offset=5000", "--limit=9"), b"5000\n")

    def test_names(self):
        first, second = self.kept, self.terse("seq", "6000").id
        for name, want in (("last", second), ("last-1", first), (second, second),
                           (second + ".txt", second), (first[:-1], first)):
            text = self.ask("read", name, "--offset", "4999", "--limit", "3")
            self.assertTrue(text.startswith(b"4999\n5000\n"))
            self.assertEqual(b"5001\n" in text, want == second, name)

    def test_page_by_page(self):
        """Each page ends with the command for the next; together they are the text."""
        run = self.terse("sh", "-c", "seq -f '%05.0f some words to fill a line' 6000")
        got, argv = b"", ["read", run.id]
        for _ in range(100):
            page = self.ask(*argv)
            self.assertLessEqual(len(page), 30000)
            more = re.search(rb"\[[^\n]*terse (read [^\n]*)\]\n\Z", page)
            got += page[:more.start()] if more else page
            if not more:
                break
            argv = more[1].decode().split()
        self.assertEqual(got, self.artifact(run.id))

    def test_file(self):
        write_file(os.path.join(self.work, "some file"), numbers(100))
        self.assertEqual(self.ask("read", "some file", "--offset", "99"), b"99\n100\n")
        write_file(os.path.join(self.work, "crlf"), b"a\r\nb\r\n")
        self.assertEqual(self.ask("read", "crlf"), b"a\r\nb\r\n")

    def test_only_clean_text(self):
        write_file(os.path.join(self.work, "f"), b"\x1b[31mred\a \xff\xe2\x80\xae\n")
        out = self.ask("read", "f")
        out.decode()
        self.assertFalse(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae", out), out)

    def test_failures(self):
        for argv, code in ((("read", self.kept, "--offset", "9999"), 1),
                           (("read", "cmd-nothing"), 1), (("read", "last-99"), 1), (("read",), 125),
                           (("read", self.kept, "--offset", "x"), 125),
                           (("read", self.kept, "--no-such"), 125)):
            run = self.terse(*argv, split=True)
            self.assertEqual((run.code, run.out), (code, b""), argv)
            self.assertTrue(run.err.startswith(b"terse read: "), run.err)

    def test_of_a_run_that_lives(self):
        os.mkfifo(os.path.join(self.work, "go"))
        run = self.start(TERSE, "sh", "-c", "seq 7000; read x <go; echo end")
        eventually(lambda: b"7000\n" in self.terse("read", "last", "--offset", "6999").out,
                   "the lines so far")
        self.assertIn(b"running", self.ask("list"))
        let_go_on(os.path.join(self.work, "go"))
        run.finish()
        self.assertEqual(self.ask("read", run.id, "--offset", "7000"), b"7000\nend\n")

    def test_stderr_apart(self):
        self.shell("terse --redact sh -c 'seq 6000; seq 7000 >&2' 2>err >out")
        self.assertEqual(self.ask("read", "last", "--stderr", "--offset", "7000"), b"7000\n")


class List(Case):
    def test_states(self):
        self.out_of_time("sh", "-c", "seq 3000; : >came; sleep 1000")
        self.terse("sh", "-c", "seq 3000; exit 3")
        self.terse("sh", "-c", "seq 3000; kill -SEGV $$", before=None)
        run = self.start(TERSE, "sh", "-c", "seq 3000; sleep 1000")
        eventually(lambda: len(self.artifacts()) == 4, "the fourth artifact")
        run.kill(signal.SIGKILL)
        run.finish()
        self.assert_nothing_left()
        states = [re.search(r"interrupted|timed out|SIGSEGV|exit 3", line)[0]
                  for line in self.ask("list").decode().splitlines()[1:]]
        self.assertEqual(states, ["interrupted", "SIGSEGV", "exit 3", "timed out"])

    def test_sessions(self):
        one = self.terse("--session", "one", "seq", "3000").id
        two = self.terse("seq", "3000", env={"TERSE_SESSION": "two"}).id
        every = self.ask("list", "--all")
        self.assertTrue(one.encode() in every and two.encode() in every)
        listed = self.terse("list", env={"TERSE_SESSION": "one"}).out
        self.assertTrue(one.encode() in listed and two.encode() not in listed)
        # An ID is found from every session; `last` is a run of the caller's session.
        self.assertTrue(self.ask("read", two).startswith(b"1\n"))
        last = self.terse("path", "last", env={"TERSE_SESSION": "one"}).out
        self.assertIn(one.encode(), last)

    def test_empty(self):
        run = self.terse("list")
        self.assertEqual(run.code, 0)
        self.assertFalse(os.path.exists(self.store))


class Path(Case):
    def test_text_and_raw(self):
        run = self.terse("--keep-raw", "sh", "-c", r"seq 3000; printf '\033[31mred\033[m\n'")
        self.assertEqual(read_file(self.ask("path", run.id).rstrip(b"\n")),
                         numbers(3000) + b"red\n")
        self.assertEqual(read_file(self.ask("path", "--raw", run.id).rstrip(b"\n")),
                         numbers(3000) + b"\x1b[31mred\x1b[m\n")

    def test_no_raw(self):
        run = self.terse("seq", "3000")
        self.assertEqual(self.terse("path", "--raw", run.id).code, 1)


class Filter(Case):
    def test_short(self):
        for data, text in ((b"a\nb", b"a\nb"), (b"", b""), (b"10%\r20%\n", b"20%\n"),
                           (b"\x1b[31mred\x1b[m\n", b"red\n"), (b"a\r\nb\n", b"a\nb\n")):
            self.assertEqual(self.terse("filter", data=data).out, text)

    def test_long(self):
        run = self.terse("filter", data=numbers(20000))
        self.assertEqual(run.code, 0)
        self.assert_preview(run, numbers(20000))

    def test_long_file_needs_no_artifact(self):
        write_file(os.path.join(self.work, "log"), numbers(20000))
        run = self.shell("terse filter <log")
        self.assertLessEqual(len(run.out), LIMIT + 400)
        self.assertRegex(run.out, rb"\[\.\.\. lines \d+-\d+, [\d.]+ KB\]\n")
        self.assertNotIn(b"terse read", run.out)
        self.assertEqual(self.artifacts(), [])

    def test_full(self):
        self.assertEqual(self.terse("filter", "--full", data=numbers(20000)).out, numbers(20000))

    def test_exit_code(self):
        run = self.terse("filter", "--exit-code", "3", data=numbers(20000))
        self.assertEqual(run.code, 0)
        self.assert_preview(run, numbers(20000), b"exit 3")

    def test_a_line_feed_is_a_newline(self):
        self.assertEqual(self.terse("filter", data=b"a\nb\r\nc").out, b"a\nb\nc")

    def test_bad_usage(self):
        for argv in (("--no-such",), ("--exit-code", "300"), ("--exit-code",), ("--size", "x"), ("operand",)):
            run = self.terse("filter", *argv, split=True, data=b"x\n")
            self.assertEqual((run.code, run.out), (125, b""), argv)

    def test_reader_that_goes_away(self):
        run = self.shell("yes | head -c 50000000 | terse filter --full | head -n 1")
        self.assertEqual((run.code, run.out), (0, b"y\n"))


class Doctor(Case):
    def test_all_well(self):
        run = self.terse("doctor")
        self.assertEqual(run.code, 0)
        self.assertNotIn(b"PROBLEM", run.out)
        self.assertIn(b"store: " + os.fsencode(self.store), run.out)
        self.assertIn(b"to an agent", run.out)
        self.assertFalse(os.path.exists(self.store), "it makes nothing")

    def test_who_reads(self):
        self.assertIn(b"a program", self.shell("terse doctor | cat").out)
        self.shell("terse doctor >out")
        self.assertIn(b"a file", read_file(os.path.join(self.work, "out")))

    def test_what_is_wrong(self):
        os.makedirs(os.path.join(self.home, "config", "terse"))
        write_file(os.path.join(self.home, "config", "terse", "terse.ini"), "[report]\nsizes = 1\n")
        run = self.terse("doctor")
        self.assertEqual(run.code, 1)
        self.assertIn(b"terse.ini:2: [report] sizes: no such key (did you mean size?)", run.out)

    def test_other_store(self):
        write_file(self.store, "a file is in the way")
        out = self.terse("doctor").out
        self.assertIn(b"TERSE_HOME", out)
        self.assertIn(os.fsencode(os.path.join(self.home, "state", "terse")), out)

    def test_switches(self):
        self.assertIn(b"TERSE=0", self.terse("doctor", env={"TERSE": "0"}).out)
        self.assertIn(b"inside terse", self.terse("sh", "-c", "terse doctor").out)


class Install(Case):
    def test_runs_from_anywhere(self):
        """One static program: a copy needs nothing beside it."""
        copy = os.path.join(self.dir, "copy")
        shutil.copy(TERSE, copy)
        run = self.run_to_end(copy, "seq", "3000")
        self.assertTrue(FOOTER.search(run.out))


class Search(Case):
    def setUp(self):
        super().setUp()
        self.kept = self.terse("seq", "5000").id

    def search(self, *argv):
        run = self.terse("search", *argv)
        return run.code, run.out

    def test_lines_with_their_numbers(self):
        code, text = self.search(self.kept, "^49[0-9]9$")
        self.assertEqual(code, 0)
        self.assertEqual(text, b"".join(b"%d:%d\n" % (n, n) for n in range(4909, 5000, 10)))

    def test_totals_and_how_to_go_on(self):
        code, text = self.search(self.kept, "7", "--limit", "2")
        self.assertEqual(code, 0)
        lines = text.splitlines()
        total = len([n for n in range(1, 5001) if "7" in str(n)])
        self.assertEqual(lines[:2], [b"7:7", b"17:17"])
        self.assertIn("2 of {:,} matches shown".format(total).encode(), text)
        more = re.search(rb"terse search (\S+) (\S+) --offset (\d+)", text)
        self.assertTrue(more, text)
        code, text = self.search(*[w.decode() for w in (more[1], more[2])], "--offset",
                                 more[3].decode(), "--limit", "1")
        self.assertTrue(text.startswith(b"27:27\n"), text)

    def test_nothing_and_bad_pattern(self):
        run = self.terse("search", self.kept, "x")
        self.assertEqual(run.code, 1)
        run = self.terse("search", self.kept, "(1")
        self.assertEqual(run.code, 125)
        self.assertIn(b"at offset 2: missing closing parenthesis", run.out)


class BothStreams(Case):
    """Once one of two streams is kept, the other one is."""

    def test_both_are_read(self):
        for script in ("echo few; seq 3000 >&2", "seq 3000; echo few >&2"):
            run = self.terse("--streams", "split", "sh", "-c", script)
            identifier = ID.search(run.out + (run.err or b"")).group().decode()
            quiet, loud = ([], ["--stderr"]) if script.startswith("echo") else (["--stderr"], [])
            self.assertEqual(self.ask("read", identifier, *quiet), b"few\n")
            self.assertEqual(self.ask("read", identifier, "--tail", "1", *loud), b"3000\n")
            self.assertEqual(self.ask("search", identifier, "few", *quiet), b"1:few\n")
            self.assertRegex(self.ask("show", identifier), rb"(?m)^(text|stderr) +1 line, 4 B: ")

    def test_a_live_run(self):
        """Not only when it has ended; and not only when more comes, if a pause has printed the short one before."""
        shown, go = os.path.join(self.work, "shown"), os.path.join(self.work, "go")
        os.mkfifo(shown)
        os.mkfifo(go)
        run = self.start(TERSE, "--streams", "split", "sh", "-c",
                         "echo few >&2; read x <%s; seq 1200; read x <%s" % (shown, go))
        run.until(b"few")
        let_go_on(shown)
        path = eventually(self.artifacts, "an artifact")[0][:-len(".txt")] + ".err.txt"
        eventually(lambda: os.path.exists(path) and read_file(path) == b"few\n",
                   "the other stream")
        let_go_on(go)
        run.wait()

    def test_why_there_is_none(self):
        kept = self.terse("seq", "3000").id
        apart = self.terse("--streams", "split", "seq", "3000").id
        self.assertEqual(self.ask("read", apart, "--stderr"), b"")
        os.unlink(self.ask("path", apart, "--stderr").rstrip(b"\n"))
        self.shell("terse --preview seq 3000 2>&-")
        elsewhere = self.ask("path", "last").split(b"/")[-1][:-5].decode()
        for identifier, why in ((kept, "was not kept apart: it is in the text"),
                                (apart, "was not kept"),
                                (elsewhere, "did not pass through terse")):
            for verb in ("read", "path"):
                run = self.run_to_end(TERSE, verb, identifier, "--stderr", split=True)
                self.assertEqual((run.code, run.out), (1, b""))
                self.assertEqual(run.err.decode(), "terse %s: %s: standard error %s\n"
                                 % (verb, identifier, why))

    def test_show_names_its_files(self):
        kept = self.terse("seq", "3000").id
        told = json.loads(self.ask("show", kept, "--json"))["data"]
        self.assertEqual([k for k, v in told.items() if v is None],
                         ["signal", "stderr", "raw", "cast"])


class Always(Case):
    """What is printed whole is kept, too."""

    def test_short_runs_are_kept(self):
        for argv, text in ((["echo", "hi"], b"hi\n"), (["true"], b""),
                           (["--streams", "split", "sh", "-c", "echo o; echo e >&2"], b"o\n"),
                           (["--pty", "printf", "a\\rb"], b"b")):
            printed = self.terse(*argv).out
            self.assertEqual(self.ask("read", "last"), text, argv)
            self.assertNotIn(b"[terse", printed)
            row = json.loads(self.ask("list", "--json", "--limit", "1"))["data"]["runs"][0]
            self.assertEqual(row["id"].encode() + b".txt",
                             self.ask("path", "last").split(b"/")[-1].rstrip(b"\n"))
        self.assertEqual(self.ask("read", "last-1", "--stderr"), b"e\n")
        # To read is not to make another one.
        self.terse("terse read last")
        self.terse("--spill", "overflow", "echo", "no")
        self.terse("--spill", "never", "seq", "3000")
        runs = json.loads(self.ask("list", "--json"))["data"]["runs"]
        self.assertEqual(sum(run["id"] is not None for run in runs), 4)


class Last(Case):
    """`last` is the last run, kept or not."""

    def env(self, **more):
        return super().env(**{"TERSE_SPILL": "overflow", **more})

    UNKEPT = rb"\Aterse %s: %s: that run is not kept \(terse list shows what is\)\n\Z"

    def fails(self, pattern, *argv):
        run = self.run_to_end(TERSE, *argv, split=True)
        self.assertEqual((run.code, run.out), (1, b""), argv)
        self.assertRegex(run.err, pattern)

    def test_a_run_that_fits_is_the_last(self):
        self.terse("sh", "-c", "seq 3000; exit 1")
        self.terse("echo", "green")
        for verb in ("read", "path", "snapshot", "archive", "drop"):
            name = verb.encode()
            self.fails(self.UNKEPT % (name, b"last"), verb, "last")
        self.fails(self.UNKEPT % (b"search", b"last"), "search", "last", "x")
        # A file of that name is not read instead.
        write_file(os.path.join(self.work, "last"), "other\n")
        self.fails(self.UNKEPT % (b"read", b"last"), "read", "last")
        self.assertEqual(self.ask("read", "last-1", "--tail", "1"), b"3000\n")
        run = self.run_to_end(TERSE, "read", "last", "--json")
        self.assertEqual(json.loads(run.out)["error"]["code"], "unreadable")

    def test_none_takes_another_run(self):
        self.terse("seq", "3000")
        self.terse("sh", "-c", "exit 3")
        for verb, *words in (("show",), ("await",), ("signal",), ("snapshot",), ("send", "x")):
            self.fails(self.UNKEPT % (verb.encode(), b"last"), verb, "last", *words)

    def test_reading_is_no_run(self):
        kept = self.terse("seq", "3000").id
        for string in ("terse read last", "cd / && terse search last 300 | head -3",
                       "bash -c 'terse list; echo done'"):
            self.terse(string)
            self.assertEqual(self.ask("path", "last").split(b"/")[-1], kept.encode() + b".txt\n")
        self.terse("terse read last; make --version")
        self.fails(self.UNKEPT % (b"read", b"last"), "read", "last")

    def test_none_is_kept(self):
        self.terse("echo", "one")
        self.fails(self.UNKEPT % (b"read", b"last"), "read", "last")
        self.fails(rb"\Aterse read: last-1: no such artifact", "read", "last-1")

    def test_one_that_was_removed_or_not_kept(self):
        _, second = (self.terse("seq", str(3000 + i)).id for i in range(2))
        self.ask("drop", second)
        self.fails(self.UNKEPT % (b"read", b"last"), "read", "last")
        self.assertEqual(self.ask("read", "last-1", "--tail", "1"), b"3000\n")
        self.terse("seq", "3000", env={"TERSE_MIN_FREE": "1000000GB"})
        self.fails(self.UNKEPT % (b"read", b"last"), "read", "last")

    def test_the_last_started(self):
        """A run that goes on counts by its start, and so it does when it has ended."""
        fifo = os.path.join(self.work, "go")
        os.mkfifo(fifo)
        run = self.terse("--detach", "sh", "-c", "read x <%s" % fifo)
        going = ID.search(run.out).group().decode()
        self.assertEqual(self.ask("path", "last").split(b"/")[-1], going.encode() + b".txt\n")
        kept = self.terse("seq", "3000").id
        for _ in range(2):
            self.assertEqual(self.ask("path", "last").split(b"/")[-1], kept.encode() + b".txt\n")
            self.assertEqual(self.ask("path", "last-1").split(b"/")[-1], going.encode() + b".txt\n")
            if not os.path.exists(fifo):
                break
            let_go_on(fifo)
            os.unlink(fifo)
            self.ask("await", going)


if __name__ == "__main__":
    main()
