#!/usr/bin/env -S python3 -B
"""Where a verb writes a file, by whatever option: what is no regular file is written and stays what
it is, a link is followed, and a failure leaves the file that was there."""

import json
import os
import stat

from support.harness import Case, main, read_file, write_file


class Outputs(Case):
    def setUp(self):
        super().setUp()
        self.kept = self.newest("kept", "--record", "echo", "hello")
        self.verbs = (
            ("report", "-o"), ("archive", self.kept, "--force", "-o"))
        self.new = (("archive", self.kept, "-o"),)

    def newest(self, session, *argv):
        self.terse("--spill", "always", *argv, env={"TERSE_SESSION": session})
        return json.loads(self.ask("list", "--session", session, "--json"))["data"]["runs"][0]["id"]

    def path(self, name):
        return os.path.join(self.work, name)

    def write(self, verb, path, code=0):
        run = self.terse(*verb, path, split=True)
        self.assertEqual(run.code, code, (verb, run.err))
        return run

    def test_a_device(self):
        try:
            os.mknod(self.path("null"), 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            os.close(os.open(self.path("null"), os.O_WRONLY))
        except PermissionError:
            self.skipTest("no device can be made here")
        os.symlink("null", self.path("link"))
        for verb in self.verbs + self.new:
            for name in ("null", "link"):
                self.write(verb, self.path(name))
                st = os.lstat(self.path("null"))
                self.assertEqual((stat.S_ISCHR(st.st_mode), st.st_rdev), (True, os.makedev(1, 3)), verb)
                self.assertEqual(sorted(os.listdir(self.work)), ["link", "null"])

    def test_a_fifo(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for verb in self.verbs + self.new:
            reader = self.start("cat", fifo)
            self.write(verb, fifo)
            self.assertTrue(reader.finish().out, verb)
            self.assertTrue(stat.S_ISFIFO(os.lstat(fifo).st_mode), verb)
            self.assertEqual(os.listdir(self.work), ["fifo"])

    def test_a_link(self):
        os.mkdir(self.path("there"))
        os.symlink("there/file", self.path("link"))
        for verb in self.verbs:
            for before in (b"before", None):
                if before:
                    write_file(self.path("there/file"), before, 0o640)
                self.write(verb, self.path("link"))
                self.assertEqual(os.readlink(self.path("link")), "there/file", verb)
                self.assertGreater(len(read_file(self.path("there/file"))), 20, verb)
                self.assertEqual(stat.S_IMODE(os.stat(self.path("there/file")).st_mode),
                                 0o640 if before else 0o600, verb)
                self.assertEqual(os.listdir(self.path("there")), ["file"])
                os.unlink(self.path("there/file"))
        for verb in self.new:
            write_file(self.path("there/file"), "before")
            self.write(verb, self.path("link"), 1)
            self.assertEqual(read_file(self.path("there/file")), b"before")

    def test_a_failure_leaves_what_was_there(self):
        write_file(self.path("file"), "before")
        lives = self.newest("live", "--yield", "1ms", "cat")
        self.write(("archive", lives, "--force", "-o"), self.path("file"), 1)
        self.write(("archive", lives, "-o"), self.path("new"), 1)
        self.terse("signal", lives)
        self.assertEqual(os.listdir(self.work), ["file"])
        self.assertEqual(read_file(self.path("file")), b"before")


if __name__ == "__main__":
    main()
