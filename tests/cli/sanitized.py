#!/usr/bin/env -S python3 -B
"""Runs every verb on every kind of artifact, with the program that `make check` has built with sanitizers: none
reads or writes outside of its memory."""

import os
import re

from support import harness
from support.harness import Case, eventually, main, write_file

SANITIZED = os.path.join(harness.BUILD, "asan", "terse")
if os.path.exists(SANITIZED):
    harness.TERSE = SANITIZED
else:
    print("note  without sanitizers: %s is not there" % SANITIZED, flush=True)
TERSE = harness.TERSE

COLOURS = r"for i in $(seq 300); do printf '\033[3%dmrow %d\033[m \033[1;4mend\033[m   \r\n' $((i % 8)) $i; done"
SCREEN = r"printf '\033[?1049h\033[2J\033[5;5H\033[7mmenu\033[m\033[K'; sleep 0.05; printf '\033[?1049l'; seq 2000"

# How they were run, by name.
KINDS = {
    "long": ("seq", "5000"),
    "short": ("--spill=always", "echo", "short"),
    "empty": ("--spill=always", "true"),
    "failed": ("-c", "seq 3000; echo 'error: it broke'; seq 3000; exit 3"),
    "killed": ("-c", "seq 5000; kill -9 $$"),
    "timed out": ("--timeout", "300ms", "-c", "seq 5000; sleep 1000"),
    "coloured recording": ("--record", "-c", COLOURS),
    "recording of a screen": ("--record", "--tty", "-c", SCREEN),
    "empty recording": ("--record", "--spill=always", "true"),
    "raw bytes": ("--keep-raw", "-c", COLOURS),
    "split": ("--streams=split", "-c", "seq 4000; seq 4000 >&2; exit 1"),
    "gap": ("--max-artifact", "64KB", "seq", "40000"),
    "one long line": ("-c", "head -c 300000 /dev/zero | tr '\\0' x; exit 1"),
    "binary": ("head", "-c", "300000", "/bin/sh"),
    "wide": ("-c", "for i in $(seq 900); do printf '\\360\\237\\253\\251 e\\314\\201 \\377 \\344\\270\\255\\t%d\\n' $i; done"),
    "progress": ("-c", "for i in $(seq 3000); do printf '%d %%\\r' $i; done; seq 3000"),
    "matches": ("grep", "-rn", "e", os.path.join(harness.SOURCE, "config")),
}

# With the ID of one, and of another one (in place of A and B).
VERBS = (
    ("read", "A"), ("read", "A", "--lines", "2-40"), ("read", "A", "--tail", "5"), ("read", "A", "--bytes", "10-5000"),
    ("read", "A", "--offset", "250", "--limit", "9"), ("read", "A", "--json"), ("read", "A", "--stderr"),
    ("show", "A"), ("show", "A", "--json"), ("path", "A"), ("path", "--raw", "A"),
    ("search", "A", "error|9+"), ("search", "A", "-i", "-C", "2", "row 1."), ("search", "A", "x", "--json"),
    ("search", "--all", "menu"), ("changes", "A", "B"), ("changes", "B", "A", "--json"),
    ("snapshot", "A"), ("snapshot", "A", "--json"),
    ("read", "A", "--preview"), ("read", "A", "--raw", "-a"), ("report", "A", "-o", "page.html"),
    ("archive", "A", "--output", "A.terse", "--force"), ("path", "--cast", "A"),
    ("unarchive", "A.terse"),
)

ONCE = (
    ("list",), ("list", "--json"), ("list", "--all"), ("list", "--live"),
    ("stats",), ("stats", "--json"), ("report", "-o", "session.html"), ("session", "list"),
    ("doctor",), ("config",), ("help",), ("version",), ("push",), ("gc", "--dry-run"),
    ("await", "last"), ("signal", "last"), ("send", "last", "x"), ("rewind", "last"), ("gc",),
)


class Sanitized(Case):
    def check(self, *argv, **how):
        run = self.terse(*argv, **how)
        told = re.search(rb"(?:ERROR: \w+Sanitizer|runtime error:).*(?:\n.*){6}", run.out + run.err)
        self.assertIsNone(told, (argv, told and told[0].decode()))
        self.assertGreaterEqual(run.code, 0, (argv, run.out[-2000:]))
        return run

    def terse(self, *argv, **how):
        return self.run_to_end(TERSE, *argv, **how)

    def test_every_verb_over_every_kind(self):
        ids = {}
        for kind, argv in KINDS.items():
            self.terse("--preview", *argv)
            ids[kind] = self.ask("list", "--limit", "1", "--json").split(b'"id":"')[1].split(b'"')[0].decode()
        self.assertEqual(len(set(ids.values())), len(KINDS))
        other = ids["failed"]
        for kind, identifier in ids.items():
            for verb in VERBS:
                words = [identifier if w == "A" else other if w == "B" else w for w in verb]
                with self.subTest(kind=kind, verb=verb):
                    self.check(*words)
            with self.subTest(kind=kind, verb="filter"):
                path = os.fsdecode(self.ask("path", identifier).rstrip(b"\n"))
                for options in ((), ("--mode", "tail"), ("--format", "json")):
                    self.check("filter", *options, path)
        for verb in ONCE:
            with self.subTest(verb=verb):
                self.check(*verb)
        for kind, identifier in ids.items():
            self.check("drop", identifier)

    def test_live_run(self):
        fifo = self.fifo()
        self.terse("--detach", "sh", "-c", "%s; cat %s" % (COLOURS, fifo))
        eventually(lambda: b"row 300" in self.check("read", "last", "--tail", "3").out, "its text")
        for verb in (("list", "--live"), ("show", "last"), ("show", "last", "--json"), ("snapshot", "last"),
                     ("snapshot", "last", "--json"), ("read", "last"),
                     ("search", "last", "row 29."), ("send", "last", "text", "--key", "enter"),
                     ("await", "last", "--timeout", "10ms"), ("report", "last", "-o", "page.html")):
            with self.subTest(verb=verb):
                self.check(*verb)
        self.check("signal", "last")


if __name__ == "__main__":
    main()
