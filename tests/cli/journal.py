#!/usr/bin/env -S python3 -B
"""The journal's lines, which other programs read: every kind of line and every member is as
docs/journal.schema.json says."""

import json
import os
import re
import time

import jsonschema
import yaml

from support.harness import SOURCE, Case, eventually, main, read_file, write_file
from support.remote import FAIL, Remote

SCHEMA = json.loads(read_file(os.path.join(SOURCE, "docs", "journal.schema.json")))
CLAUDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "talk"}


class Journal(Remote):
    def lines(self):
        """All lines of the store's journals, of ID.json of runs that have ended, and of the index."""
        paths = [os.path.join(top, name) for folder in (self.store, self.objects)
                 for top, _, names in os.walk(folder) for name in names if name.endswith((".jsonl", ".json"))]
        return [(os.path.basename(path), json.loads(line)) for path in paths for line in read_file(path).splitlines()]

    def test_every_line(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        line = jsonschema.Draft202012Validator(SCHEMA)
        for command in (["true"], ["seq", "3000"], ["sh", "-c", "kill -9 $$"], ["--timeout", "1ms", "sleep", "100"],
                        ["./nothing"], ["-c", "echo \"$(seq 99)\" | cat"], ["echo", "\x1b[31m\udcff\u20ac\n"], ["echo", "x" * 9000],
                        ["--keep-raw", "--max-artifact", "64KB", "seq", "200000"], ["head", "-c", "9000", "/dev/zero"],
                        ["--streams", "split", "-c", "seq 3000; seq 3000 >&2"], ["--record", "seq", "3000"],
                        ["-c", "seq 3000; sleep 0.2; seq 3000"], ["--format", "json", "false"],
                        ["--cached", "5m", "--description", "all", "seq", "9"]):
            self.terse(*command, env=CLAUDE)
        self.shell("terse seq 3000 >file; terse -c 'seq 9; seq 3000 >&2' 2>errors; terse seq 3 | cat")
        self.terse("--service", "web", "--for", "on", "sh", "-c", "echo on; exec sleep 1000")
        self.terse("signal", "last")
        self.terse("--yield=20s", "sh", "-c", "printf 'Go on? '; read answer")
        self.terse("send", "last", "y", "--key", "enter")
        self.terse("await", "last")
        one = self.terse(*FAIL, env={"TERSE_LABELS": "team=x"}).id
        eventually(lambda: one in self.pushed() and not self.mine(), "the object")
        self.terse("read", one)
        self.terse("terse", "read", one)
        self.terse("session", "end")
        kinds, members = set(), set()
        for name, found in self.lines():
            with self.subTest(name, line=found):
                self.assertEqual(list(line.iter_errors(found)), [])
            kinds.add(found["eventName"])
            members |= set(found)
        known = {kind["properties"]["eventName"]["const"]: set(kind["properties"])
                 for kind in SCHEMA["$defs"].values() if "eventName" in kind.get("properties", {})}
        self.assertEqual(kinds, set(known))
        # These need a full disk, or a process that still writes.
        self.assertEqual(set.union(*known.values()) - members, {"raw_error", "held_by"})

    def test_configurations(self):
        """What packaging/telemetry names are members of lines."""
        folder, known = os.path.join(SOURCE, "packaging", "telemetry"), set()
        for kind in SCHEMA["$defs"].values():
            known |= set(kind.get("properties", {}))
        for name in os.listdir(folder):
            text = read_file(os.path.join(folder, name)).decode()
            yaml.safe_load(text)
            named = re.findall(r"\battributes\.(\w+)|attributes\[\"(.+?)\"\]|\.(\w+Nano)|record\[\"(.+?)\"\]", text)
            named = {name for names in named for name in names if name} | set(" ".join(
                re.findall(r"type_int_key: (.*)", text)).split())
            self.assertGreater(len(named), 1)
            self.assertEqual(named - known, set(), name)


class Printed(Case):
    def test_printed(self):
        """As they are, of all sessions, newest first; --limit, times, and what is about runs alone."""
        def printed(*argv):
            return [json.loads(line) for line in self.ask("list", "--journal", *argv).splitlines() if line[:1] == b"{"]
        kept, one = self.terse("seq", "3000", env={"TERSE_LABELS": "team=x"}).id, {"TERSE_SESSION": "other"}
        self.terse("read", kept)
        self.terse("sh", "-c", "exit 3", env=one)
        self.terse("session", "end", env=one)
        every = printed("--all")
        self.assertEqual([line["eventName"][6:] for line in every],
                         ["session.end", "run", "artifact", "read", "run", "artifact"])
        written = [json.loads(line) for top, _, names in os.walk(self.store) if "journal.jsonl" in names
                   for line in read_file(os.path.join(top, "journal.jsonl")).splitlines()]
        self.assertCountEqual(every, written)
        self.assertEqual(printed(), every[3:])
        self.assertEqual(printed("--session", "other"), every[:3])
        self.assertEqual(printed("--all", "--failed"), every[1:2])
        self.assertEqual(printed("--all", "--label", "team=x"), every[4:5])
        self.assertEqual(printed("--all", "--limit", "2"), every[:2])
        self.assertEqual(printed("--all", "--since", "1h"), every)
        self.assertEqual(self.terse("list", "--all", "--journal", "--until", "1h", split=True).out, b"")
        run = self.terse("list", "--all", "--journal", "--limit", "1")
        self.assertTrue(run.out.endswith(b"\n[newest 1 shown; more: terse list --all --journal --limit 10]\n"), run.out)
        # Behind a run that ended long before nothing is looked for, and it is not one more.
        path = os.path.join(self.store, "sessions", "default", "journal.jsonl")
        since = "list", "--journal", "--since", "1h"
        recent, lines = self.terse(*since, split=True).out, read_file(path)
        old = re.sub(rb'(imeUnixNano":)(\d+)', lambda m: m[1] + b"%d" % (int(m[2]) - 3 * 86400 * 10**9), lines)
        write_file(path, old + lines, 0o600)
        self.assertEqual(self.terse(*since, split=True).out, recent)
        self.assertEqual(recent.count(b"\n"), 3)

    def test_order(self):
        """Runs are listed by their ends, and so are their ages; a text that was taken back hides none."""
        id = self.terse("--session", "a", "seq", "3000").id
        self.terse("--session", "b", "true")
        directory, other = (os.path.join(self.store, "sessions", name) for name in "ab")
        line = json.loads(read_file(os.path.join(other, "journal.jsonl")).splitlines()[-1])
        now = time.time_ns()

        def ran(started, ended):
            return json.dumps(line | {"id": "", "startTimeUnixNano": now - started * 60 * 10**9,
                                      "endTimeUnixNano": now - ended * 60 * 10**9}, separators=(",", ":")).encode() + b"\n"

        write_file(os.path.join(other, "journal.jsonl"), ran(9000, 8000) + ran(20, 15) + ran(90, 3), 0o600)
        rows = self.terse("list", "--session", "b").out
        self.assertEqual(re.findall(rb" (\d+) (min|d)  true", rows), [(b"3", b"min"), (b"15", b"min"), (b"5", b"d")], rows)
        # Its run was long ago, and it is back since now.
        old = "cmd-1m00" + id[8:]
        for suffix in (".txt", ".json"):
            text = read_file(os.path.join(directory, id + suffix))
            write_file(os.path.join(directory, old + suffix), text.replace(id.encode(), old.encode()), 0o600)
        os.symlink("a", os.path.join(self.store, "ids", old))
        with open(os.path.join(directory, "journal.jsonl"), "ab") as f:
            f.write(b'{"eventName":"terse.artifact","id":"%s","timeUnixNano":%d}\n' % (old.encode(), now))
        self.assertIn(id.encode(), self.terse("list", "--all", "--since", "1h").out)


if __name__ == "__main__":
    main()
