#!/usr/bin/env -S python3 -B
"""Many runs in one session at a time while it is listed, rewound and cleaned up; and a command that
prints far more than the disk holds. STORM_RUNS and STORM_BYTES say how many and how much
(make check-storm: 1,000 and 2 GB)."""

import contextlib
import os
import re
import subprocess
import threading
import time

from support.harness import Case, DEADLINE, TERSE, main, random_source, read_file, write_file

RUNS = int(os.environ.get("STORM_RUNS", "40"))
BYTES = int(os.environ.get("STORM_BYTES", str(100 << 20)))
GROUPS = 10
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
TEXT = b"".join(b"%d\n" % n for n in range(1, 1501))


def time_of(identifier):
    """When its run started, in seconds."""
    value = 0
    for digit in identifier[4:]:
        value = value * 32 + DIGITS.index(digit)
    return (value >> 15) / 1000


class Storm(Case):
    def setUp(self):
        super().setUp()
        self.errors, self.rewinds, self.stop = [], [], threading.Event()
        self.rewinding = threading.Lock()

    def say(self, *argv, **variables):
        """Output of a verb; it must succeed and have nothing to complain about."""
        done = subprocess.run([TERSE, *argv], env=self.env(**variables), cwd=self.work, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=10 * DEADLINE)
        if done.returncode or done.stderr:
            self.errors.append((argv, done.returncode, done.stderr))
        return done.stdout.decode()

    def listed(self):
        found = re.findall(r"^(cmd-\S+)", self.say("list", "--limit", "1000000"), re.M)
        if len(found) != len(set(found)):
            self.errors.append(("listed twice", found))
        return found

    def list_on(self):
        while not self.stop.is_set():
            self.listed()
            self.say("session")

    def clean_on(self):
        while not self.stop.is_set():
            self.say("gc", TERSE_KEEP="off")

    def rewind_on(self):
        """Skips the few newest ones."""
        chance = random_source(1)
        while not self.stop.is_set():
            there = [i for i in self.listed() if i > self.kept[-1]]
            if there:
                target = there[min(len(there) - 1, chance.randrange(5))]
                with self.rewinding:
                    began = time.time()
                    self.say("rewind", target)
                    self.rewinds.append((target, began, time.time()))

    def artifact_of_old(self, count):
        """Finished runs that are older than [gc] max_age."""
        ids = [self.terse("seq", "1500").id for _ in range(count)]
        for top, _, names in os.walk(self.store):
            for name in names:
                if name.startswith(tuple(ids)):
                    os.utime(os.path.join(top, name), (1e9, 1e9), follow_symlinks=False)
        return ids

    def start_run(self, number, gate):
        out = open(os.path.join(self.work, "out%d" % number), "wb")
        with out:
            return subprocess.Popen(
                [TERSE, "--preview", "sh", "-c", "seq 1500; read x <%s; echo end" % gate],
                env=self.env(), cwd=self.work, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def check_life(self, runs):
        """The artifacts that must be there, and those that must not."""
        alive = set(self.listed())
        sure = 0
        for identifier, released, ended in runs:
            started = time_of(identifier)
            gone = [r for r in self.rewinds if identifier >= r[0] and started < r[1] - 0.01 and
                    ended < r[1]]
            safe = all(identifier < target or started > end + 0.01 or released > end
                       for target, _, end in self.rewinds)
            if gone:
                self.assertNotIn(identifier, alive, gone)
            elif safe:
                self.assertIn(identifier, alive)
                self.assertTrue(self.artifact(identifier) == TEXT + b"end\n", identifier)
            sure += bool(gone) or safe
        self.assertGreaterEqual(sure, len(runs) // 2)
        return alive

    def test_one_session(self):
        old = self.artifact_of_old(10)
        self.kept = [self.terse("seq", "1500").id for _ in range(3)]
        gates = [os.path.join(self.work, "gate%d" % g) for g in range(GROUPS)]
        for gate in gates:
            os.mkfifo(gate)
        # Open at both ends until all have ended: a reader waits for its line, however late it comes.
        open_gates = [os.open(gate, os.O_RDWR) for gate in gates]
        loops = [threading.Thread(target=loop)
                 for loop in (self.list_on, self.clean_on, self.rewind_on)]
        for loop in loops:
            loop.start()
        ended = []
        try:
            started = [self.start_run(n, gates[n % GROUPS]) for n in range(RUNS)]
            for group in range(GROUPS):
                # No rewind is under way while every second group ends, so what must be there of it is known.
                with self.rewinding if group % 2 else contextlib.nullcontext():
                    released = time.time()
                    os.write(open_gates[group], b"\n" * len(range(group, RUNS, GROUPS)))
                    for number in range(group, RUNS, GROUPS):
                        self.assertEqual(started[number].wait(10 * DEADLINE), 0)
                        out = read_file(os.path.join(self.work, "out%d" % number))
                        found = re.search(rb": terse read (cmd-\w+)", out)
                        self.assertTrue(found, out[-300:])
                        ended.append((found[1].decode(), released, time.time()))
        finally:
            self.stop.set()
            for loop in loops:
                loop.join()
            for gate in open_gates:
                os.close(gate)
        self.assertEqual(self.errors, [])
        self.assertGreater(len(self.rewinds), 0)
        alive = self.check_life(ended)
        for identifier in self.kept:
            self.assertEqual(self.artifact(identifier), TEXT)
        self.say("gc")
        self.assertEqual(set(old) & alive, set())
        # Removed artifacts leave nothing.
        names = {n for _, _, files in os.walk(os.path.join(self.store, "sessions")) for n in files}
        self.assertEqual({n for n in names if n.startswith(".")}, set())
        self.assertEqual({n[:16] for n in names if n.startswith("cmd-")}, alive)
        self.assertEqual(set(os.listdir(os.path.join(self.store, "ids"))), alive)

    def test_many_sessions(self):
        """A session each, which is ended and made again all the time."""
        names = ["s%d" % n for n in range(5)]

        def end_on(name):
            while not self.stop.is_set():
                self.say("session", "end", name, "--now")

        loops = [threading.Thread(target=end_on, args=(n,)) for n in names]
        loops.append(threading.Thread(target=self.clean_on))
        for loop in loops:
            loop.start()
        try:
            for _ in range(max(2, RUNS // 20)):
                runs = [self.start(TERSE, "--session", n, "seq", "1500") for n in names]
                for run in runs:
                    run.finish()
                    self.assertEqual(run.code, 0)
                    self.assertTrue(run.id, run.out)
        finally:
            self.stop.set()
            for loop in loops:
                loop.join()
        self.assertEqual(self.errors, [])
        # Everything went where it was to go, not to the next place.
        self.assertEqual(os.listdir(self.tmp) + os.listdir(self.run_dir), [])


class Disk(Case):
    def test_more_than_it_holds(self):
        """64 MB of disk: the command ends as it would, the first and the last part are there, and
        the store is within its cap."""
        script = write_file(os.path.join(self.work, "script"), """
            terse --preview --max-artifact 16MB sh -c 'yes | head -c %d; echo last; exit 3'
            echo "status $?"
            du -sm "$TERSE_HOME"
            terse read last --offset 1 --limit 2
            terse read last --offset %d
            terse list
        """ % (BYTES, BYTES // 2))
        setup = "mkdir -p {0}; mount -t tmpfs -o size=64m none {0}".format(self.store)
        run = self.isolated(setup, "sh", script, oneself=False)
        out = run.out.decode()
        self.assertIn("\nstatus 3\n", out)
        used = int(re.search(r"^(\d+)\t", out, re.M)[1])
        self.assertLessEqual(used, 17)
        self.assertTrue(re.search(r"^y\ny\n(?s:.*)^y\nlast\n", out[out.index("status 3"):], re.M))
        self.assertIn("{:,}".format(BYTES // 2 + 1), out)
        self.assertNotIn("not kept: No space", out)

    def test_less_than_min_free(self):
        """As with a full disk: the text so far stays, one line reports it, and the command runs on."""
        setup = "mkdir -p {0}; mount -t tmpfs -o size=48m none {0}".format(self.store)
        run = self.isolated(setup, TERSE, "--preview", "--profile", "default", "sh", "-c",
                            "yes | head -c 60M; echo last; exit 3", oneself=False)
        self.assertEqual(run.code, 3)
        self.assertTrue(b"last\n" in run.out)
        self.assertEqual(run.out.count(b"output not kept: No space left on device\n"), 1)


if __name__ == "__main__":
    main()
