#!/usr/bin/env -S python3 -B
"""run --cached: the kept text of an earlier run is printed, with a line that says so; in any doubt the command
runs. Also --description."""

import json
import os
import re

from support.harness import FOOTER, Case, main, numbers, read_file, write_file

SAID = re.compile(rb"\[terse: not run again: this is (cmd-\w+), \d+ \w+ old \(--cached\)\]\n\Z")


class Cached(Case):
    def setUp(self):
        super().setUp()
        self.ran = os.path.join(self.work, "ran")
        write_file(os.path.join(self.work, "job"), "#!/bin/sh\necho >>ran\nseq ${1-3000}\nexit ${2-0}\n", 0o755)

    def count(self):
        return len(read_file(self.ran)) if os.path.exists(self.ran) else 0

    def cached(self, *options, command=("./job",), **how):
        return self.terse("run", "--cached", "5m", *options, *command, **how)

    def test_answers(self):
        """Prints what run would print by the settings of this call, then a line that says so. It counts as read
        back."""
        first, again = self.cached(), self.cached()
        self.assertEqual((self.count(), first.code, again.code), (1, 0, 0))
        self.assertEqual(SAID.search(again.out)[1].decode(), first.id)
        self.assertEqual(again.out[:SAID.search(again.out).start()], first.out)
        small = self.cached("--size", "600")
        self.assertLess(len(small.out), 1200)
        self.assertIn(b"\n2999\n3000\n[terse: exit 0", small.out)
        full = self.cached("--full").out
        self.assertEqual(full[:SAID.search(full).start()], numbers(3000))
        self.assertEqual(self.count(), 1)
        run, = json.loads(self.ask("list", "--json"))["data"]["runs"]
        self.assertEqual(run["id"], first.id)
        self.assertEqual(json.loads(self.ask("stats", "--json"))["data"]["reads"], 3)

    def test_short(self):
        first, again = self.cached(command=("./job", "3")), self.cached(command=("./job", "3"))
        self.assertEqual((self.count(), first.out), (1, b"1\n2\n3\n"))
        self.assertRegex(again.out, rb"\A1\n2\n3\n\[terse: not run again: ")

    def test_json(self):
        first, again = (json.loads(self.cached("--format", "json").out) for _ in range(2))
        self.assertEqual(self.count(), 1)
        self.assertEqual((again.pop("cached"), again.pop("cache_strategy")), (True, "age"))
        self.assertEqual(again["artifact"], {key: first["artifact"][key] for key in ("id", "session")})
        for key in ("stdout", "stderr", "truncation", "exit_code", "success", "command", "cwd", "started", "duration_ms"):
            self.assertEqual(again[key], first[key], key)
        whole = json.loads(self.cached("--format", "json", "--full").out)
        self.assertEqual((whole["stdout"].encode(), self.count(), "cached" in whole), (numbers(3000), 2, False))

    def test_streams(self):
        command = ("--streams", "split", "sh", "-c", "echo >>ran; echo out; seq 9 >&2")
        first, again = (self.cached(command=command, split=True) for _ in range(2))
        self.assertEqual((self.count(), again.err), (1, first.err))
        self.assertTrue(again.out.startswith(b"out\n[terse: not run again: "), again.out)
        # Into one it is another text.
        self.cached(command=command[2:])
        self.assertEqual(self.count(), 2)

    def test_runs(self):
        """Another command, directory, environment or input; too old; failed; not noted; a program or a file reads."""
        self.cached()
        os.mkdir(os.path.join(self.work, "sub"))
        write_file(os.path.join(self.work, "sub", "job"), "#!/bin/sh\necho >>../ran\n", 0o755)
        for n, (options, how) in enumerate((
                ({"command": ("./job", "3000")}, {}), ({}, {"cwd": os.path.join(self.work, "sub")}),
                ({}, {"env": {"X": "1"}}), ({}, {"data": b"input"}), ({"command": ("./job", "9", "3")}, {}),
                ({"command": ("./job", "9", "3")}, {}), ({}, {"kind": "file", "split": True})), 2):
            run = self.cached(**options, **how)
            self.assertEqual((self.count(), SAID.search(run.out)), (n, None), (options, how))
        self.terse("./job")
        self.shell("terse run --cached 5m ./job | cat")
        self.terse("run", "--cached", "1ms", "./job")
        self.assertEqual(self.count(), n + 3)
        # What a shell changes by itself does not count.
        self.assertTrue(SAID.search(self.cached(env={"OLDPWD": "/", "SHLVL": "7", "_": "x"}).out))
        self.ask("drop", "last")
        while SAID.search(self.cached().out):
            self.ask("drop", "last")
        self.assertEqual(self.count(), n + 4)

    def test_the_newest_decides(self):
        command = ("sh", "-c", "echo >>ran; seq 3000; test ! -e fail")
        self.assertEqual(self.cached(command=command).code, 0)
        write_file(os.path.join(self.work, "fail"), "")
        os.unlink(os.path.join(self.work, "ran"))
        self.assertEqual(self.cached(command=command).code, 0)
        self.assertEqual(self.cached("--timeout", "100s", command=command).code, 0)
        self.terse("drop", "last")
        self.assertEqual([self.cached(command=command).code for _ in range(2)], [1, 1])
        self.assertEqual(self.count(), 2)

    def test_usage(self):
        for options in (("--detach",), ("--service", "x")):
            self.assertEqual(self.cached(*options, split=True).err,
                             b"terse: --cached goes with neither --service nor --detach\n")
        self.assertEqual(self.terse("run", "--cached", "0", "true").code, 125)

    def test_description(self):
        run = self.terse("run", "--redact", "--description", "all\n\x1b tests ghp_" + "a1" * 18, "seq", "3000")
        self.assertTrue(FOOTER.search(run.out))
        want = "all\n\x1b tests ghp_[redacted: GitHub token]"
        self.assertEqual(self.metadata(run.id)["description"], want)
        self.assertEqual(json.loads(self.ask("list", "--json"))["data"]["runs"][0]["description"], want)
        self.assertTrue(self.ask("list").endswith(b" seq 3000\n" + b" " * 18 +
                                                  b"all \\x1b tests ghp_[redacted: GitHub token]\n"), self.ask("list"))
        self.assertIn(b"\npurpose    all", self.ask("show", run.id))
        self.terse("run", "--description", "x" * 9000, "true")
        self.assertEqual(json.loads(self.ask("list", "--json", "--limit", "1"))["data"]["runs"][0]["description"], "x" * 256)


if __name__ == "__main__":
    main()
