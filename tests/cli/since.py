#!/usr/bin/env -S python3 -B
"""The last run of the same command, in the last line of a preview and in JSON."""

import json
import os
import re
import threading

from support.harness import Case, main, random_source, write_file

SINCE = re.compile(rb"\[terse: exit (\d+) after [^;,]+(.*?); [\d,]+ lines?, ")


class Since(Case):
    def say(self, failing, extra="", cwd=None):
        """The output of the next run of the tests: of 800, these fail, with two lines each."""
        lines = []
        for n in range(800):
            lines.append("test number_%03d ... %s" % (n, "FAILED" if n in failing else "ok"))
            if n in failing:
                lines.append("  AssertionError: number_%03d is wrong" % n)
        lines += [extra] * bool(extra) + ["", "%d failed, %d passed in 1.%d s" % (
            len(failing), 800 - len(failing), len(failing))]
        write_file(os.path.join(cwd or self.work, "said"), "\n".join(lines) + "\n")
        write_file(os.path.join(cwd or self.work, "tests"), "#!/bin/sh\ncat said\nexit %d\n" % bool(failing), 0o755)

    def run_tests(self, session="s", cwd=None, *options):
        return self.terse("--session", session, *options, "./tests", cwd=cwd)

    def since(self, run):
        """Exit code, and what is told of the run before."""
        told = SINCE.search(run.out)
        self.assertTrue(told, run.out[-500:])
        return int(told[1]), told[2]

    def test_words(self):
        """How the last run ended is told, and whether its text was the same. What nobody counted is not."""
        before, last = None, None
        for failing in ({3}, {3}, {3, 9, 700}, {9, 700}, set(), set(), {5}):
            self.say(failing)
            run = self.run_tests()
            code, told = self.since(run)
            self.assertEqual(code, bool(failing))
            if before is None:
                how = b""
            elif before == failing:
                how = rb"; same text as %s \d+ s ago"
            else:
                how = rb", as %s \d+ s ago" if before and failing else rb"; %s \d+ s ago: exit \d"
            self.assertRegex(told, rb"\A" + (how and how % last) + rb"\Z")
            before, last = failing, run.id.encode()

    def test_a_value_is_no_same_text(self):
        """Every byte counts, even in a number, and nothing else does."""
        self.say({3}, "Expected: 883\nReceived: 582")
        first = self.run_tests()
        self.say({3}, "Expected: 883\nReceived: 583")
        second = self.run_tests()
        self.assertNotIn(b"same text", second.out)
        self.assertIn(b", as " + first.id.encode(), self.since(second)[1])
        self.assertIn(b"; same text as " + second.id.encode(), self.since(self.run_tests())[1])
        for value, same in ((583, True), (583, True), (884, False)):
            self.say({3}, "Expected: 883\nReceived: %d" % value)
            data = json.loads(self.run_tests("t", None, "--format", "json").out)
            self.assertEqual(data["since"]["identical"], same)

    def test_json(self):
        self.say({3, 4})
        first = json.loads(self.run_tests("s", None, "--format", "json").out)
        self.assertNotIn("since", first)
        self.say({4, 5, 6})
        second = json.loads(self.run_tests("s", None, "--format", "json").out)
        self.assertEqual(second["since"], {"id": first["artifact"]["id"], "exit_code": 1, "identical": False})
        third = json.loads(self.run_tests("s", None, "--format", "json").out)
        self.assertEqual(third["since"], {"id": second["artifact"]["id"], "exit_code": 1, "identical": True})

    def test_names(self):
        """The last line and JSON name tests that fail now and did not before; not if a run was ended early, or a
        name is redacted."""
        def run(text, end, *options):
            write_file(os.path.join(self.work, "said"), "setting up\n" * 5000 + text)
            write_file(os.path.join(self.work, "tests"), "#!/bin/sh\ncat said\n%s\n" % end, 0o755)
            return self.run_tests("s", None, *options)
        passes, fails = "test a ... ok\ntest b ... FAILED\n", "test a ... FAILED\ntest b ... ok\n"
        result = "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 filtered out; finished in 0.1s\n"
        first = run(passes + result, "exit 1").id
        again = run(fails + result, "exit 1")
        self.assertRegex(self.since(again)[1].decode(),
                         r"\A, as %s \d+ s ago; failed: 1 \(new: a; fixed: b\)\Z" % first)
        data = json.loads(run(passes + result, "exit 1", "--format", "json").out)
        self.assertEqual(data["since"]["tests"], "failed: 1 (new: b; fixed: a)")
        self.assertNotIn(b"failed:", run(fails + result, "kill -TERM $$").out.split(b"\n")[-2])
        self.assertNotIn(b"failed:", run(passes + result, "exit 1").out.split(b"\n")[-2])
        secret = "ghp_" + "a1B2" * 9
        run(passes.replace("test b", "test " + secret) + result, "exit 1", "--redact")
        told = run("test a ... ok\ntest %s ... ok\n" % secret + result.replace("1 passed; 1", "2 passed; 0"), "exit 0",
                   "--redact").out.split(b"\n")[-2]
        self.assertNotIn(b"failed:", told)
        self.assertNotIn(secret.encode(), told)

    def test_folded(self):
        """A text that fits and has a last line, since its progress is left out, tells the same, also of one without."""
        def run(failing, count=30):
            lines = ["tests/test_all.py::test_%s %s" % (n, "FAILED" if n in failing else "PASSED")
                     for n in range(count)]
            lines += ["FAILED tests/test_all.py::test_%d - AssertionError" % n for n in failing]
            lines.append("%d failed, %d passed in 0.12s" % (len(failing), count - len(failing)))
            write_file(os.path.join(self.work, "said"), "\n".join(lines) + "\n")
            write_file(os.path.join(self.work, "tests"), "#!/bin/sh\ncat said\nexit %d\n" % bool(failing), 0o755)
            return self.run_tests()
        self.assertNotIn(b"[terse", run([], 5).out)
        first = run([1])
        self.assertIn(b" alike", first.out)
        self.assertRegex(self.since(first)[1].decode(), r"\A; cmd-\w+ \d+ s ago: exit 0; failed: 1 \(new: \S+_1\)\Z")
        second = run([1])
        self.assertRegex(self.since(second)[1].decode(), r"\A; same text as %s \d+ s ago\Z" % first.id)
        third = run([2])
        name = "tests/test_all.py::test_"
        self.assertRegex(self.since(third)[1].decode(), r"\A, as %s \d+ s ago; failed: 1 \(new: %s2; fixed: %s1\)\Z"
                         % (second.id, name, name))

    def test_which_run(self):
        """The last run has the same words and directory: it is looked for in the session, then in the whole
        store."""
        other = os.path.join(self.dir, "other")
        os.mkdir(other)
        self.say({3}, cwd=other)
        self.say({3})
        self.run_tests("s", other)
        self.assertEqual(self.since(self.run_tests("s"))[1], b"")
        mine = self.run_tests("s").id.encode()
        theirs = self.run_tests("t")
        self.assertIn(mine, self.since(theirs)[1])
        self.assertIn(theirs.id.encode(), self.since(self.run_tests("u"))[1])
        self.assertIn(mine, self.since(self.run_tests("s"))[1])
        # Removed runs are not compared with.
        self.ask("session", "end", "--now", "u")
        self.ask("session", "end", "--now", "t")
        self.ask("session", "end", "--now", "s")
        self.assertEqual(self.since(self.run_tests("v"))[1], b"")

    def test_rewound(self):
        self.say({3})
        first = self.run_tests().id.encode()
        self.say({4})
        second = self.run_tests()
        self.assertIn(first, self.since(second)[1])
        self.ask("rewind", "--session", "s", second.id)
        self.say({5})
        self.assertIn(first, self.since(self.run_tests())[1])

    def test_short_and_read(self):
        """Runs that fit say nothing, nor do texts that were asked for."""
        for _ in range(2):
            run = self.terse("--session", "s", "--status", "always", "sh", "-c", "seq 3; exit 3")
            self.assertEqual(run.out, b"1\n2\n3\n[terse: exit 3]\n")
        write_file(os.path.join(self.work, "long"), "a line of text\n" * 9000)
        for _ in range(2):
            self.assertNotIn(b" as cmd-", self.terse("--session", "s", "cat", "long").out)

    def test_at_once(self):
        """Runs of one command that end at the same time: each says something right, and the last is one of them."""
        self.say({3, 4})
        self.run_tests()
        runs = []
        threads = [threading.Thread(target=lambda: runs.append(self.run_tests())) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(runs), 6)
        for run in runs:
            self.assertIn(b"same text as cmd-", self.since(run)[1])
        told = self.since(self.run_tests())[1]
        self.assertTrue(any(run.id.encode() in told for run in runs), told)

    def test_success_is_normal(self):
        """What the last success of the command has said, too, gives way to what only the failing run says, in
        whatever session that was; numbers do not count."""
        rng = random_source(1)

        def error(n):
            return "%d error: %s of %s failed" % (n, *("".join(rng.choice("aeioubdgklmnprst") for _ in range(8))
                                                       for _ in range(2)))

        def run(session, lines, code):
            write_file(os.path.join(self.work, "said"), "".join(line + "\n" for line in lines))
            write_file(os.path.join(self.work, "tests"), "#!/bin/sh\ncat said\nexit %d\n" % code, 0o755)
            out = self.terse("--session", session, "--size", "4KB", "--failure-size", "4KB", "./tests").out
            return sum(line.encode() in out for line in news)
        noise, news = [error(n) for n in range(900)], [error(500 + n) for n in range(10)]
        failing = [line.replace(" ", "0 ", 1) for line in noise]
        for n, line in enumerate(news):
            failing.insert(150 + 60 * n, line)
        self.assertLess(run("a", failing, 1), 8)
        run("b", noise, 0)
        self.assertEqual(run("c", failing, 1), 10)

    def test_removed(self):
        """What was removed is not found, nor is what a damaged journal says."""
        self.say({3})
        kept = self.run_tests("s")
        self.run_tests("t")
        self.ask("session", "end", "--now", "t")
        with open(os.path.join(self.store, "sessions", "s", "journal.jsonl"), "ab") as file:
            file.write(b"damaged\n\n" + b"x" * 70000 + b"\n")
        self.assertIn(kept.id.encode(), self.since(self.run_tests("u"))[1])


if __name__ == "__main__":
    main()
