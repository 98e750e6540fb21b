#!/usr/bin/env -S python3 -B
"""Programs that print and exit at once lose not a byte; many runs side by side do not mix."""

import concurrent.futures
import os
import subprocess

from support.harness import (Case, DEADLINE, FOOTER, TERSE, eventually, main, random_source,
                             read_file)


def burst(seed, size):
    """The output of helper/burst."""
    line = b"%d:%08d abcdefghijklmnopqrstuvwxyz\n"
    count = size // len(line % (seed, 0)) + 1
    return b"".join(line % (seed, i) for i in range(count))[:size]


class Threads(Case):
    def preview(self, _):
        done = subprocess.run([TERSE, "seq", "3000"], cwd=self.work, env=self.env(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=DEADLINE,
                              check=False)
        return FOOTER.search(done.stdout) is not None

    def test_a_reader_with_threads_is_an_agent(self):
        """While one thread's command runs, the others' children hold its pipe until their exec."""
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            previews = list(pool.map(self.preview, range(180)))
        self.assertEqual(previews.count(False), 0)


class Races(Case):
    def run_burst(self, seed, size, *options):
        """Returns what the reader got and the exit code."""
        done = subprocess.run([TERSE, *options, "burst", str(seed), str(size)], cwd=self.work,
                              env=self.env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=DEADLINE, check=False)
        return done.stdout, done.returncode

    def check_whole(self, job):
        seed, size, options = job
        out, code = self.run_burst(seed, size, "--full", *options)
        if out != burst(seed, size) or code != seed % 251:
            return "seed %d, size %d: %d bytes came, status %d: ...%r" % (
                seed, size, len(out), code, out[-100:])
        return None

    def check_artifact(self, job):
        seed, size, options = job
        out, code = self.run_burst(seed, size, *options)
        if code != seed % 251:
            return "seed %d: status %d" % (seed, code)
        footer = FOOTER.search(out)
        if not footer:
            text = out
        else:
            # The artifact is complete when the front end has returned.
            path = os.path.join(self.store, "sessions", "default",
                                footer["id"].decode() + ".txt")
            text = read_file(path)
        if text != burst(seed, size):
            return "seed %d, size %d: %d bytes kept" % (seed, size, len(text))
        return None

    def test_a_run_that_is_looked_at_as_it_begins(self):
        """A reader holds the text's lock for a moment: the run takes it a moment later."""
        # The text's is one of the first locks that a run takes.
        for n in range(1, 5):
            run = self.start("fault", "report", TERSE, "flock=EAGAIN", str(n), "--", TERSE,
                             "--preview", "sh", "-c", "seq 3000; read x", stdin=subprocess.PIPE)
            eventually(lambda: b"running" in self.ask("list"), "a run that is known to live")
            run.popen.stdin.close()
            run.finish()
            self.assertIn(b"flock", read_file(os.path.join(self.work, "report")))

    def all_of(self, check, jobs):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            wrong = [w for w in pool.map(check, jobs) if w]
        self.assertEqual(wrong, [])

    def jobs(self, count, *options):
        generator = random_source(count)
        return [(seed, generator.randrange(1024, 102400), options) for seed in range(count)]

    def test_a_short_text_that_is_removed_while_files_are_made_of_it(self):
        """It is gone whole, whichever of them comes first."""
        for n in range(60):
            words = b"words of run %d" % n
            self.terse("printf", "%s", words.decode())
            argv = ((TERSE, "path", "last"), (TERSE, "drop", "last"))
            both = [subprocess.Popen(a, cwd=self.work, env=self.env(), stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for a in argv[::1 - 2 * (n % 2)]]
            outs = [p.communicate(timeout=DEADLINE)[0] for p in both]
            self.assertEqual([b"removed, freed" in out for out in outs].count(True), 1, outs)
            left = [os.path.join(top, name) for top, _, names in os.walk(os.path.join(self.store, "sessions"))
                    for name in names if name.startswith("cmd-")]
            self.assertEqual([name for name in left if words in read_file(name)], [])

    def test_2000_runs_that_exit_at_once(self):
        """Half of them through the whole text, half through the artifact."""
        self.all_of(self.check_whole, self.jobs(700))
        self.all_of(self.check_whole, self.jobs(300, "--no-pty"))
        self.all_of(self.check_artifact, self.jobs(700))
        self.all_of(self.check_artifact, self.jobs(300, "--no-pty"))

    def test_200_side_by_side(self):
        runs = []
        for seed in range(200):
            runs.append(self.start(TERSE, "burst", str(seed), str(20000 + seed)))
        identifiers = set()
        for seed, run in enumerate(runs):
            run.finish()
            self.assertEqual(run.code, seed)
            self.assertTrue(run.id, run.out[-300:])
            identifiers.add(run.id)
            path = os.path.join(self.store, "sessions", "default", run.id + ".txt")
            self.assertEqual(read_file(path), burst(seed, 20000 + seed))
        self.assertEqual(len(identifiers), 200)
        self.assertEqual(len(self.artifacts()), 200)
        listed = self.ask("list", "--all", "--limit", "1000")
        for identifier in identifiers:
            self.assertIn(identifier.encode(), listed)

    def test_3_mb_at_once(self):
        run = self.terse("--full", "burst", "7", "3000000")
        self.assertEqual(run.out, burst(7, 3000000))

    def test_a_chain_of_writers(self):
        """Each process prints and exits while the next one already writes."""
        script = "for i in $(seq 50); do burst $i 5000 & done; wait"
        run = self.terse("--full", "bash", "-c", script)
        # A terminal takes each write whole; nobody knows in which order.
        at, missing = 0, {i: burst(i, 5000) for i in range(1, 51)}
        while at < len(run.out):
            seed = int(run.out[at:].split(b":")[0])
            self.assertIn(seed, missing, "byte %d" % at)
            self.assertEqual(run.out[at:at + 5000], missing.pop(seed), "byte %d" % at)
            at += 5000
        self.assertEqual(missing, {})


if __name__ == "__main__":
    main()
