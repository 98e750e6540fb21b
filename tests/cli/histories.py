#!/usr/bin/env -S python3 -B
"""Projects whose tests are run again and again while they are mended: the new failure is in every preview."""

import json
import os
import re
import shutil
import subprocess
import sys

from support.harness import Case, main, write_file

TESTS = 450
NAMES = ("parser", "reader", "writer", "socket", "table", "index", "cursor", "window", "option", "format", "session")
DOES = ("keeps", "drops", "splits", "joins", "counts", "rejects", "accepts", "merges", "orders", "repeats")
WHAT = ("empty input", "the last item", "an open end", "two of a kind", "a long name", "nothing", "the first line",
        "unknown keys", "every byte", "late data", "a second call")


def title(n):
    return "%s %s %s" % (NAMES[n % 11], DOES[n // 11 % 10], WHAT[n // 3 % 11])


# The tests that fail, whether there is a new warning, whether the source is broken.
STEPS = ((set(), False, False), ({40}, False, False), ({40, 200, 301}, False, False), ({200, 301}, False, False),
         ({200, 301}, True, False), ({200, 301}, True, True), ({200, 301}, True, False), (set(), False, False))


class Projects(Case):
    def history(self, write, command, failure):
        """Writes each step of the project and runs its tests. failure(n): what the preview shows of a test that
        fails."""
        before = set()
        for failing, warning, broken in STEPS:
            write(failing, warning, broken)
            run = self.terse("--size", "4KB", *command)
            text = self.artifact(run.id) if run.id else run.out
            if broken:
                self.assertIn(b"rror", run.out)
                continue
            self.assertGreater(len(text), 20000)
            for n in failing - before:
                self.assertIn(failure(n), run.out, "step %r" % ((failing, warning),))
            before = failing

    def test_c(self):
        """A program in C that make builds and runs."""
        if not shutil.which("cc") or not shutil.which("make"):
            self.skipTest("there is no compiler")

        def write(failing, warning, broken):
            source = ["#include <stdio.h>", "static int bad;",
                      "static void check(int ok, const char *name, int line)", "{",
                      '\tprintf("%s: tests.c:%d: %s\\n", ok ? "ok" : "FAILED", line, name);', "\tbad += !ok;", "}",
                      "int main(void)", "{"]
            source += ["\tint unused;"] * warning + ["\tundeclared(1);"] * broken
            source += ['\tcheck(%d, "%s, test_%d", __LINE__);' % (n not in failing, title(n), n)
                       for n in range(TESTS)]
            source += ['\tprintf("%d of %d failed\\n", bad, ' + "%d);" % TESTS, "\treturn bad > 0;", "}"]
            write_file(os.path.join(self.work, "tests.c"), "\n".join(source) + "\n")
            write_file(os.path.join(self.work, "Makefile"), "check: tests\n\t./tests\n.PHONY: check tests\n"
                       "tests:\n\tcc -Wall -Werror=implicit-function-declaration -o tests tests.c\n")

        self.history(write, ("make", "check"), lambda n: b"FAILED: tests.c:")

    def test_python(self):
        def write(failing, warning, broken):
            source = ["import unittest, warnings", "", "class Tests(unittest.TestCase):"]
            for n in range(TESTS):
                name = re.sub(r"\W", "_", title(n))
                source += ["    def test_%d_%s(self):" % (n, name),
                           "        self.assertEqual(%d, 3, 'value of test_%d')" % (4 if n in failing else 3, n), ""]
            source += ["    def broken(self:" if broken else ""]
            write_file(os.path.join(self.work, "test_it.py"), "\n".join(source) + "\n")
            write_file(os.path.join(self.work, "run"), "#!/bin/sh\n%s%s -B -m unittest -v test_it\n" % (
                "echo 'warning: the cache is old' >&2\n" if warning else "", sys.executable), 0o755)

        self.history(write, ("./run",), lambda n: b"value of test_%d" % n)

    def test_node(self):
        version = subprocess.run(["node", "--version"], stdout=subprocess.PIPE).stdout if shutil.which("node") else b""
        if not re.match(rb"v(2\d|[3-9]\d)\.", version):
            self.skipTest("there is no node of version 20 or later")

        def write(failing, warning, broken):
            source = ['const test = require("node:test"), assert = require("node:assert");']
            source += ['console.error("warning: the cache is old");'] * warning
            source += ["test(%s, () => assert.strictEqual(%d, 3, 'value of test_%d'));" % (
                json.dumps("%s, test_%d" % (title(n), n)), 4 if n in failing else 3, n) for n in range(TESTS)]
            source += ["function broken( {"] * broken
            write_file(os.path.join(self.work, "it.test.js"), "\n".join(source) + "\n")

        self.history(write, ("node", "--test-reporter=spec", "it.test.js"), lambda n: b"value of test_%d" % n)


if __name__ == "__main__":
    main()
