#!/usr/bin/env -S python3 -B
"""Colours are for people: at a terminal, and where an option asks for them; never for an agent or a program. At a
terminal, terse without arguments says what it is."""

import os
import re

from support.harness import Case, TERSE, main

ESCAPE = re.compile(rb"\x1b\[[\d;]*m")


class Colours(Case):
    VERBS = (("list",), ("show", "last"), ("stats",), ("doctor",), ("search", "last", "99$"))

    def setUp(self):
        super().setUp()
        self.terse("sh", "-c", "seq 3000; exit 3")

    def test_at_a_terminal(self):
        for argv in self.VERBS:
            out = self.at_a_terminal(*argv)
            self.assertRegex(out, ESCAPE, argv)
            self.assertNotRegex(self.at_a_terminal(*argv, NO_COLOR="1"), ESCAPE, argv)
            self.assertNotRegex(self.at_a_terminal(*argv, "--color", "never"), ESCAPE, argv)

    def test_nowhere_else(self):
        for argv in self.VERBS:
            for env in ({}, {"CLICOLOR_FORCE": "1"}):
                self.assertNotRegex(self.terse(*argv, env=env).out, rb"\x1b", argv)
            self.assertNotRegex(self.shell("terse %s | cat" % " ".join(argv[:2])).out, rb"\x1b", argv)
            self.assertNotRegex(self.terse(*argv, "--json", "--color", "always").out, rb"\x1b", argv) \
                if argv[0] != "doctor" else None

    def test_where_they_are_asked_for(self):
        self.assertIn(b"\x1b[31mexit 3     \x1b[m", self.terse("list", "--color", "always").out)
        self.assertIn(b"\x1b[31mexit 3     \x1b[m", self.shell("CLICOLOR_FORCE=1 terse list | cat").out)
        plain = self.shell("NO_COLOR=1 CLICOLOR_FORCE=1 terse list | cat").out
        self.assertNotRegex(plain, ESCAPE)
        # The columns are the same.
        painted = self.terse("list", "--color=always").out
        self.assertEqual(len(ESCAPE.sub(b"", painted).splitlines()[1].split(b"sh -c")[0]),
                         len(plain.splitlines()[1].split(b"sh -c")[0]))
        self.assertIn(b"28\x1b[1;31m99\x1b[m\n", self.terse("search", "last", "99", "--color", "always").out)

    def test_wrong_usage(self):
        run = self.terse("list", "--color", "sometimes")
        self.assertEqual((run.code, run.out),
                         (125, b"terse list: --color: sometimes: must be always|never|auto\n"))

    def test_terse_alone(self):
        out = self.at_a_terminal().replace(b"\r\n", b"\n")
        self.assertEqual(out, self.ask("help"))


if __name__ == "__main__":
    main()
