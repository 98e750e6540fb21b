#!/usr/bin/env -S python3 -B
"""One or all of terse's processes are killed at a random moment. Then the kept text is an exact prefix of the
command's output, no process is left behind, and the store has no errors. If only the front end is killed, all
earlier output of the command is kept. A short text is there as a whole or not at all, and those that are removed
leave no byte.

KILL_RUNS says how many runs (make check-kills: 5,000), KILL_SEED which ones.
"""

import collections
import json
import os
import random
import re
import signal
import time

from support.harness import TERSE, Case, eventually, main, read_file, signal_if_there, write_file

RUNS = int(os.environ.get("KILL_RUNS", "100"))
SEED = int(os.environ.get("KILL_SEED", "1"))

# How many at a time, and after how many the store is looked at and emptied.
AT_A_TIME = 8
BATCH = 40

LINES = 4000
TEXT = b"".join(b"line %d of what the command writes\n" % n for n in range(LINES))

# Writes the text in pieces, and to a file of its own how much of it the terminal has taken.
COMMAND = r"""
import os, sys, time
text = b"".join(b"line %d of what the command writes\n" % n for n in range(int(sys.argv[1])))
note = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o600)
done = 0
while done < len(text):
    done += os.write(1, text[done:done + 997])
    os.pwrite(note, b"%010d" % done, 0)
    time.sleep(0.002)
"""

# Which processes are killed.
KINDS = (("front",), ("supervisor",), ("front", "supervisor"), ("watchdog",), ("watchdog", "supervisor"),
         ("front", "watchdog"), ("front", "supervisor", "watchdog"))


class One:
    """A run, and which of its processes are killed when."""

    def __init__(self, case, number, chance):
        self.case = case
        self.kind = KINDS[chance.randrange(len(KINDS))]
        self.delay = chance.random() * 0.4
        self.note = os.path.join(case.work, "note%d" % number)
        self.command = os.path.join(case.work, "command.py")
        self.options = (("--record",), ("--full",), ("--timeout=250ms",), (), (),
                        ())[chance.randrange(6)]
        self.run = case.start(TERSE, "--preview", *self.options, "python3", "-SE", self.command,
                              str(LINES), self.note)
        self.began = time.monotonic()
        self.killed = None

    def written(self):
        try:
            return int(read_file(self.note) or 0)
        except FileNotFoundError:
            return 0

    def timed_out(self, meta):
        return meta.get("timed_out", False) if meta else bool(self.options)

    def family(self):
        """The processes of terse in the order they were made: front end, supervisor, watchdog."""
        try:
            with open("/proc/%d/task/%d/children" % (self.run.pid, self.run.pid)) as f:
                children = [int(word) for word in f.read().split()]
        except OSError:
            children = []
        return dict(zip(("front", "supervisor", "watchdog"), [self.run.pid] + children))

    def kill(self):
        family = self.family()
        # Text written before the kill has reached the terminal.
        self.before = self.written()
        for who in self.kind:
            if who in family:
                signal_if_there(family[who], signal.SIGKILL)
        self.killed = [who for who in self.kind if who in family]


class Kills(Case):
    def check_batch(self, ones, sums):
        self.assert_nothing_left()
        # The temporary files of a killed supervisor are removed later.
        left = {re.search(r"cmd-\w+", name)[0] for name in self.leftovers()} - self.left
        self.assertLessEqual(len(left), sum("supervisor" in one.killed for one in ones), left)
        self.left |= left
        listed = self.ask("list", "--limit", "1000").decode()
        self.assertNotIn("running", listed)
        by_note = {}
        for identifier in re.findall(r"(?m)^cmd-\w+", listed):
            meta = self.metadata(identifier)
            by_note[meta["process.command_args"][-1]] = (identifier, meta)
        for one in ones:
            identifier, meta = by_note.pop(one.note, (None, None))
            text = self.artifact(identifier) if identifier else b""
            with self.subTest(kind=one.kind, killed=one.killed, options=one.options,
                              id=identifier, before=one.before, kept=len(text)):
                self.assertEqual(text, TEXT[:len(text)])
                if one.killed == ["front"] and identifier:
                    self.assertGreaterEqual(len(text), one.before)
                if not set(one.killed) & {"front", "supervisor"}:
                    self.assertEqual(one.run.code, 124 if one.timed_out(meta) else 0)
                    self.assertEqual(meta["state"] if meta else "done", "done")
                    # All that it has written was taken, whoever ended it.
                    self.assertGreaterEqual(len(text) if identifier else len(one.run.out),
                                            one.written())
                # Where nothing was kept, all there was has been printed, or nothing was written.
                if one.killed == ["front"] and not identifier:
                    self.assertLessEqual(one.before, len(one.run.out))
            sums["killed " + (" ".join(one.killed) or "nobody")] += 1
            sums["kept whole" if text == TEXT else "kept a part" if text else "kept nothing"] += 1
        self.assertEqual(by_note, {})

    def leftovers(self):
        """Temporary files, sockets, texts without metadata, claims of nothing."""
        there = {os.path.join(os.path.relpath(top, self.store), name)
                 for top, dirs, names in os.walk(self.store) for name in dirs + names}
        kept = {name[-21:-5] for name in there if name.endswith(".json")}
        kept |= {name[4:] for name in there if name.startswith("ids/") and
                 "+" in os.readlink(os.path.join(self.store, name))}
        return [name for name in there if re.match(r"\.?cmd-", os.path.basename(name)) and
                not name.endswith((".texts", ".link")) and (name.startswith("live/") or os.path.basename(name)[:16] not in kept)]

    def test_random_moments(self):
        chance = random.Random(SEED)
        with open(os.path.join(self.work, "command.py"), "w") as f:
            f.write(COMMAND)
        sums, number = collections.Counter(), 0
        self.left = set()
        while number < RUNS:
            ones, live = [], []
            while (number < RUNS and len(ones) < BATCH) or live:
                while number < RUNS and len(ones) < BATCH and len(live) < AT_A_TIME:
                    live.append(One(self, number, chance))
                    ones.append(live[-1])
                    number += 1
                time.sleep(0.001)
                for one in live[:]:
                    if not one.run.collect(0) and one.killed is not None:
                        one.run.finish()
                        live.remove(one)
                    elif one.killed is None and time.monotonic() - one.began >= one.delay:
                        one.kill()
            self.check_batch(ones, sums)
            self.ask("session", "end", "default", "--now")
            for one in ones:
                if os.path.exists(one.note):
                    os.unlink(one.note)
            self.runs.clear()
        if RUNS >= 1000:
            eventually(lambda: self.ask("gc") and not self.leftovers(),
                       lambda: "a clean store: %s" % self.leftovers(), 300)
        print("note  %d runs, seed %d: %s" % (number, SEED, ", ".join(
            "%s %d" % pair for pair in sorted(sums.items()))))
        print("note  left in hand by killed supervisors: %d" % len(self.left))


class Short(Case):
    """Runs that end at once, whose processes are killed before, while and after their texts are kept."""

    def family(self, run):
        try:
            with open("/proc/%d/task/%d/children" % (run.pid, run.pid)) as f:
                return [run.pid] + [int(word) for word in f.read().split()]
        except OSError:
            return [run.pid]

    def texts(self):
        """{number of the run: (ID, text, whether its command may have been ended)}"""
        lines, found = {}, {}
        for line in self.shell("terse search --all '' | cat").out.splitlines(True):
            identifier, _, text = line.split(b":", 2)
            lines.setdefault(identifier.decode(), []).append(text)
        for run in json.loads(self.ask("list", "--json", "--limit", "100000"))["data"]["runs"]:
            number = int(run["command"][-1][4:])
            if not run["id"]:
                continue
            self.assertNotIn(number, found)
            found[number] = (run["id"], b"".join(lines.get(run["id"], [])), not run["success"])
        return found

    def test_random_moments(self):
        chance = random.Random(SEED)
        took, sums, number = [0.01], collections.Counter(), 0
        while number < RUNS:
            wanted, live = {}, []
            for number in range(number, min(number + 10 * BATCH, RUNS)):
                length = chance.choice((0, 1, 10, 300))
                wanted[number] = b"".join(b"%d: %032x\n" % (number, chance.getrandbits(128)) for _ in range(length))
                write_file(os.path.join(self.work, "text%d" % number), wanted[number])
                live.append((self.start(TERSE, "cat", "text%d" % number), time.monotonic(),
                             chance.uniform(0, 2 * sorted(took)[len(took) // 2]), chance.randrange(7)))
                while len(live) >= AT_A_TIME // 2 or (live and number + 1 in (RUNS, min(wanted) + 10 * BATCH)):
                    for one in live[:]:
                        run, began, delay, who = one
                        if not run.collect(0):
                            took = took[-100:] + [time.monotonic() - began]
                            run.finish()
                            live.remove(one)
                        elif time.monotonic() - began >= delay:
                            for i, pid in enumerate(self.family(run)):
                                if (who + 1) >> i & 1:
                                    signal_if_there(pid, signal.SIGKILL)
                            sums["killed"] += 1
                            run.finish()
                            live.remove(one)
            number += 1
            self.assert_nothing_left()
            found = self.texts()
            for n, (identifier, text, cut) in found.items():
                self.assertEqual(text, wanted[n][:len(text)] if cut else wanted[n], identifier)
            sums["kept"] += len(found)
            self.check_removal(chance, wanted, found)
            self.runs.clear()
        print("note  %d short runs, seed %d: %s" % (number, SEED, dict(sums)))

    def check_removal(self, chance, wanted, found):
        """One that was removed leaves no byte in the store; whoever removes it may be killed, too."""
        gone = chance.sample(sorted(found), min(len(found), 8))
        for n in gone:
            run = self.start(TERSE, "drop", found[n][0])
            if chance.randrange(2):
                time.sleep(chance.random() * 0.005)
                signal_if_there(run.pid, signal.SIGKILL)
            run.finish()
        self.ask("gc")
        left = self.texts()
        for n in gone:
            if n not in left:
                self.assert_nowhere(wanted[n])
        for n, (identifier, text, _) in left.items():
            self.assertEqual((identifier, text), found[n][:2])
        self.ask("rewind", "--to", "1h")
        for n in wanted:
            self.assert_nowhere(wanted[n])

    def assert_nowhere(self, text):
        for top, _, names in os.walk(self.store):
            for name in names:
                path = os.path.join(top, name)
                # The socket of a run that was killed as it began, too.
                held = b"" if os.path.islink(path) or not os.path.isfile(path) else read_file(path)
                for line in text.splitlines()[::50]:
                    self.assertNotIn(line, held, path)


main()
