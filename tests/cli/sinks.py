#!/usr/bin/env -S python3 -B
"""Who holds what: a file is the command's own, a program's pipe lives as long as its writers, an agent is told
who still writes."""

import json
import os

from support.harness import Case, eventually, let_go_on, main, read_file

ITSELF = "readlink /proc/self/fd/1"


class File(Case):
    def path(self, name):
        return os.path.join(self.work, name)

    def test_it_is_the_commands_own(self):
        """Whether it is appended to, shared with standard error, beside a device, or of one stream alone."""
        of_stderr = ITSELF.replace("1", "2")
        for script in ("terse %s >f" % ITSELF, "terse %s >>f 2>&1" % ITSELF, "terse %s >f 2>g" % ITSELF,
                       "terse --no-pty --timeout 20s %s >f" % ITSELF,
                       "terse sh -c '%s >&2' 2>f >/dev/null" % of_stderr,
                       "terse --streams merged sh -c '%s >&2' >f" % of_stderr):
            with self.subTest(script=script):
                self.assertEqual(self.shell(script).code, 0)
                self.assertEqual(read_file(self.path("f")), self.path("f").encode() + b"\n")
                os.unlink(self.path("f"))

    def test_in_between_where_it_was_asked_for(self):
        for option in ("--redact", "--redact-pattern=x", "--record", "--pty", "--full", "--preview",
                       "--format=blocks", "--yield=20s"):
            with self.subTest(option=option):
                self.shell("terse %s sh -c 'readlink /proc/self/fd/1' >f" % option)
                self.assertRegex(read_file(self.path("f")), rb"pipe:|/dev/pts/")

    def test_what_is_written_after_the_end(self):
        self.fifo("go")
        self.shell("terse sh -c '(read x <go; echo late) & echo ok' >f")
        let_go_on(self.path("go"))
        self.assert_nothing_left()
        self.assertEqual(read_file(self.path("f")), b"ok\nlate\n")

    def test_it_is_named_and_not_copied(self):
        run = self.shell("terse sh -c 'seq 30000; echo x >&2; exit 3' >f 2>g")
        self.assertEqual((run.code, run.out), (3, b""))
        names = {"stdout_file": self.path("f"), "stderr_file": self.path("g")}
        known = json.loads(self.ask("list", "--json"))["data"]["runs"][0]
        self.assertEqual((known["exit_code"], known["lines"], known["bytes"]), (3, None, None))
        kept, = self.artifacts()
        self.assertEqual(os.path.getsize(kept), 0)
        for told in (known, json.loads(read_file(kept[:-len("txt")] + "json")),
                     json.loads(self.ask("show", "last", "--json"))["data"],
                     json.loads(self.ask("history", "--json"))["data"]["runs"][0]):
            self.assertEqual({key: told.get(key) for key in names}, names)
        for argv in ("list",), ("show", "last"):
            self.assertIn(b"stdout is in %s\n" % self.path("f").encode(), self.ask(*argv))
        self.assertEqual(self.ask("path", "last"), self.path("f").encode() + b"\n")
        for argv, why in ((("read", known["id"]), "output to " + self.path("f")),
                          (("search", "last", "7"), "output to " + self.path("f")),
                          (("read", "last", "--stderr"), "error to " + self.path("g"))):
            run = self.run_to_end("terse", *argv, split=True)
            self.assertEqual((run.code, run.out, run.err.decode()), (
                1, b"", "terse %s: %s: the command wrote its standard %s\n" % (argv[0], known["id"], why)))

    def test_a_device_is_named_in_the_history(self):
        self.shell("terse seq 3000 >/dev/null 2>&1")
        self.assertEqual(self.artifacts(), [])
        known, = json.loads(self.ask("history", "--json"))["data"]["runs"]
        self.assertEqual((known["stdout_file"], known["id"]), ("/dev/null", None))

    def test_it_can_be_found_while_it_runs(self):
        self.fifo("go")
        run = self.start("/bin/sh", "-c", "exec terse sh -c 'echo begun; read x <go' >f 2>&1")
        row = eventually(lambda: self.ask("list", "--live").splitlines()[1:], "the run")[0]
        self.assertIn(b"running", row)
        identifier = row.split()[0].decode()
        self.assertIn(self.path("f").encode(), self.run_to_end("terse", "read", identifier).out)
        self.ask("signal", identifier, "TERM")
        self.assertEqual(run.finish().code, -15)


if __name__ == "__main__":
    main()
