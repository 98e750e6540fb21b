#!/usr/bin/env -S python3 -B
"""The life of artifacts, from outside: session, rewind, drop, gc, and their messages, word for word."""

import os
import re
import signal
import subprocess
import time

from support.harness import Case, DEADLINE, TERSE, eventually, let_go_on, main, read_file, write_file

ID = rb"cmd-[0-9a-z]{12}"


class Life(Case):
    def say(self, *argv, env=None):
        """(status, output, errors) of a verb."""
        done = subprocess.run([TERSE, *argv], env=self.env(**(env or {})), cwd=self.work,
                              timeout=DEADLINE, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def make(self, count=1, *options, env=None):
        """Makes this many artifacts. Returns their IDs, oldest first."""
        return [self.terse(*options, "seq", str(3500 + i), env=env).id for i in range(count)]

    def listed(self, *options):
        return re.findall(r"^(cmd-\S+)", self.ask("list", *options).decode(), re.M)

    def session_dir(self, name="default"):
        return os.path.join(self.store, "sessions", name)

    def age(self, seconds, *names):
        """Makes everything in the store, or only these artifacts, older by this much. The stamp of the last
        cleaning stays as it is."""
        # One time for all: the last run must not seem later than the end of its session.
        then = time.time() - seconds
        for top, _, files in os.walk(self.store):
            for name in files:
                if any(name.startswith(n) for n in names or (name[name == "gc":] or "-",)):
                    path = os.path.join(top, name)
                    if name == "journal.jsonl":  # when the session has ended
                        write_file(path, re.sub(rb'(end","timeUnixNano":)\d+', rb'\g<1>%d' % (then * 10**9), read_file(path)))
                    os.utime(path, (then, then), follow_symlinks=False)

    def running(self, *options):
        """A run that goes on until the pipe `go` is written to; returns it and its ID."""
        go = os.path.join(self.work, "go%d" % len(self.runs))
        os.mkfifo(go)
        run = self.start(TERSE, *options, "sh", "-c", "seq 3000; read x <%s; echo end" % go)
        run.until(rb"\n3000\n")
        identifier = eventually(
            lambda: [os.path.basename(p)[:-4] for p in self.artifacts()
                     if read_file(p).endswith(b"\n3000\n")], "the text on disk")[-1]
        return run, identifier, go


class Drop(Life):
    def test_drop(self):
        first, second, third = self.make(3)
        status, out, err = self.say("drop", "last-1", first)
        self.assertEqual((status, err), (0, b""))
        self.assertRegex(out, rb"\A%s: removed, freed [\d.]+ KB\n%s: removed, freed [\d.]+ KB\n\Z"
                         % (second.encode(), first.encode()))
        self.assertEqual(self.listed(), [third])
        self.assertEqual(sorted(os.listdir(os.path.join(self.store, "ids"))), [third])
        self.assertEqual([n for n in os.listdir(self.session_dir()) if n.startswith(first)], [])
        # Once more is no error.
        self.assertEqual(self.say("drop", first),
                         (0, first.encode() + b": does not exist (any more)\n", b""))

    def test_wrong(self):
        self.assertEqual(self.say("drop"),
                         (125, b"", b"terse drop: usage: terse drop ID...\n"))
        for name in ("nothing", "../../x", "cmd-", "/etc/passwd", "ids/../sessions/default"):
            self.assertEqual(self.say("drop", name),
                             (1, b"", b"terse drop: %s: no such artifact (terse list shows what "
                              b"there is)\n" % name.encode()))

    def test_running_stays(self):
        run, identifier, go = self.running()
        self.assertEqual(self.say("drop", identifier),
                         (1, b"", b"terse drop: %s: still in use by its run, not removed\n"
                          % identifier.encode()))
        let_go_on(go)
        self.assertTrue(run.finish().out.find(b"\nend\n") > 0)
        self.assertTrue(self.artifact(identifier).endswith(b"3000\nend\n"))
        self.assertEqual(self.say("drop", identifier)[0], 0)

    def test_lingering_stays(self):
        """The command has ended; a background process of it still writes."""
        go = os.path.join(self.work, "go")
        os.mkfifo(go)
        run = self.terse("sh", "-c", "seq 3000; { read x <%s; echo late; } &" % go)
        self.assertEqual(self.say("drop", run.id)[0], 1)
        let_go_on(go)
        eventually(lambda: self.artifact(run.id).endswith(b"late\n"), "the late line")
        eventually(lambda: self.say("drop", run.id)[0] == 0, "the end of its supervisor")


class Rewind(Life):
    def history(self):
        return [line for line in read_file(self.session_dir() + "/journal.jsonl").splitlines()
                if line.startswith(b'{"eventName":"terse.run"')]

    def test_rewind(self):
        ids = self.make(4)
        other = self.make(1, "--session", "other")
        dry = self.say("rewind", "--dry-run", ids[2])
        self.assertRegex(dry[1], rb"\A(%s +[\d.]+ KB +\d+ s  session default\n){2}"
                         rb"would remove 2 artifacts; would free [\d.]+ KB\n\Z" % ID)
        self.assertEqual(self.listed(), ids[::-1])
        status, out, err = self.say("rewind", ids[2])
        self.assertEqual((status, err), (0, b""))
        self.assertRegex(out, rb"\A%s .*\n%s .*\nremoved 2 artifacts; freed [\d.]+ KB\n\Z"
                         % (ids[3].encode(), ids[2].encode()))
        self.assertEqual(self.listed(), [ids[1], ids[0]])
        self.assertEqual(len(self.history()), 2)
        # Once more, and the rest is as it was.
        self.assertEqual(self.say("rewind", ids[2]), (0, b"nothing to remove\n", b""))
        self.assertEqual(self.listed("--session", "other"), other)
        self.assertEqual(self.say("rewind", "last-1")[0], 0)
        self.assertEqual(self.listed(), [])

    def test_time(self):
        ids = self.make(3)
        started = self.metadata(ids[1])["startTimeUnixNano"] // 10**6
        time_ = "@%d" % (started // 1000 + 100)
        self.assertEqual(self.say("rewind", "--to", time_), (0, b"nothing to remove\n", b""))
        for text in ("yesterday", "", "-5m", "25:00", "@x", "off", "2026-13-01"):
            status, out, err = self.say("rewind", "--to", text)
            self.assertEqual((status, out), (125, b""), text)
            self.assertIn(b'must be how long ago (2h) or when (14:05, 2026-11-20)', err)
        self.assertEqual(self.say("rewind")[0], 125)
        self.assertEqual(self.say("rewind", "--to", "1h", ids[0])[0], 125)
        self.assertEqual(self.listed(), ids[::-1])
        day = time.strftime("%Y-%m-%d", time.localtime(started // 1000 - 86400))
        for text in (day, day + " 00:00", day + "T00:00:00"):
            self.assertIn(b"would remove 3 artifacts",
                          self.say("rewind", "--dry-run", "--to", text)[1])
        self.assertIn(b"removed 3 artifacts; ", self.say("rewind", "--to", "10m")[1])
        self.assertEqual(self.listed(), [])

    def test_running_stays(self):
        first = self.make(1)[0]
        run, identifier, go = self.running()
        status, out, _ = self.say("rewind", first)
        self.assertEqual(status, 0)
        self.assertIn(b"\n1 still in use by its run, left as it is (terse list)\n"
                      b"removed 1 artifact; ", out)
        let_go_on(go)
        run.finish()
        self.assertEqual(self.listed(), [identifier])
        self.assertEqual(len(self.history()), 1)


class Gc(Life):
    def test_nothing_to_do(self):
        self.make(2)
        self.assertEqual(self.say("gc"), (0, b"nothing to remove\n", b""))

    def test_age(self):
        old, new = self.make(2)
        self.age(15 * 86400, old)
        dry = self.say("gc", "--dry-run")
        self.assertRegex(dry[1], rb"\A%s +[\d.]+ KB +15 d  session default: \[gc\] max_age\n"
                         rb"would remove 1 artifact; would free [\d.]+ KB\n\Z" % old.encode())
        self.assertEqual(self.listed(), [new, old])
        self.assertIn(b"\nremoved 1 artifact; freed ", self.say("gc")[1])
        self.assertEqual(self.listed(), [new])
        self.assertEqual(self.say("gc")[1], b"nothing to remove\n")

    def test_count_and_size(self):
        ids = self.make(5) + self.make(2, "--session", "other")
        self.assertIn(b": [gc] max_count\n", self.say("gc", "--gc-count=5")[1])
        self.assertEqual(self.listed("--all"), ids[:1:-1])
        self.assertIn(b": [gc] max_count\n", self.say("gc", "--gc-count=4")[1])
        self.assertEqual(self.listed("--all"), ids[:2:-1])
        self.assertIn(b"removed 3 artifacts", self.say("gc", "--gc-size", "40KB")[1])
        self.assertEqual(self.listed("--all"), ids[-1:])

    def test_many_lines(self):
        self.make(32)
        out = self.say("gc", "--gc-count", "1")[1]
        self.assertEqual(len(re.findall(rb"^cmd-", out, re.M)), 30)
        self.assertIn(b"\n[... and 1 more]\nremoved 31 artifacts; freed ", out)

    def test_wrong(self):
        self.assertEqual(self.say("gc", "--what"), (125, b"", b"terse gc: --what: no such option "
                                                    b"(see terse help gc)\n"))
        self.assertEqual(self.say("gc", "--gc-age", "old")[0], 125)

    def test_running_stays(self):
        run, identifier, go = self.running()
        for options in (("--gc-age", "1ms"), ("--gc-count", "1"), ("--gc-size", "1")):
            self.assertEqual(self.say("gc", *options)[:2], (0, b"nothing to remove\n"))
        self.assertEqual(self.say("session", "end", "--now")[0], 0)
        self.say("gc", env={"TERSE_KEEP": "off"})
        let_go_on(go)
        run.finish()
        self.assertTrue(self.artifact(identifier).endswith(b"3000\nend\n"))
        self.assertEqual(self.listed(), [identifier])

    def test_by_itself(self):
        """After a run, when it was not done for an hour; never before the front end has ended."""
        old = self.make(1)[0]
        stamp = os.path.join(self.store, "gc")
        self.age(15 * 86400, old)
        self.make(1)
        self.assertEqual(len(self.listed()), 2)
        os.utime(stamp, (time.time() - 7200,) * 2)
        self.make(1, env={"TERSE_GC_INTERVAL": "off"})
        self.assertEqual(len(self.listed()), 3)
        self.assertEqual(self.terse("true").code, 0)
        eventually(lambda: old not in self.listed(), "the cleaning up")
        self.assertEqual(len(self.listed()), 3)
        self.assertLess(time.time() - os.stat(stamp).st_mtime, 3600)

    def test_crash_leftovers(self):
        """A run whose supervisor was killed is complete up to its last byte, and as good as any other."""
        run, identifier, _ = self.running()
        supervisor, _, _ = self.roles(run.pid)
        os.kill(supervisor, signal.SIGKILL)
        run.wait()
        eventually(lambda: not self.mine(), "the end of everything")
        self.assertIn(b"interrupted", self.ask("list"))
        self.assertTrue(self.artifact(identifier).endswith(b"\n3000\n"))
        self.assertEqual(self.ask("read", identifier, "--offset", "3000"), b"3000\n")
        self.assertEqual(self.say("drop", identifier)[0], 0)
        self.assertIn(self.say("gc")[1], (b"nothing to remove\n",
                                          b"removed 1 leftover; freed 0 B\n"))  # its socket
        for top, _, files in os.walk(self.store):
            self.assertEqual([n for n in files if n.startswith((".", "cmd-"))], [], top)


class Sessions(Life):
    def test_list(self):
        self.assertEqual(self.say("session"), (0, b"", b""))
        self.make(2)
        self.make(1, "--session", "other")
        then = time.time() - 100
        os.utime(os.path.join(self.session_dir("default"), "journal.jsonl"), (then, then))
        status, out, err = self.say("session")
        self.assertEqual((status, err), (0, b""))
        self.assertRegex(out, rb"\A  SESSION +STATE +ARTIFACTS +SIZE +LAST RUN\n"
                         rb"  other +open +1 +[\d.]+ KB +\d+ s\n"
                         rb"\* default +open +2 +[\d.]+ KB +\d+ \w+\n\Z")
        # The ages may differ by then.
        self.assertEqual(*(re.sub(rb"\d+ \w+\n", b"", text) for text in (out, self.say("session", "list")[1])))
        run, _, go = self.running()
        self.assertRegex(self.say("session")[1], rb"\n\* default +1 running +")
        let_go_on(go)
        run.finish()

    def test_a_page(self):
        """Those used last, and how to see more; an agent is shown 30, a program all."""
        for n in range(32):
            os.makedirs(self.session_dir("s%d" % n), 0o700)
            os.utime(self.session_dir("s%d" % n), (1000 + n * 7 % 32, 1000 + n * 7 % 32))
        newest = [b"s%d" % n for n in sorted(range(32), key=lambda n: -(n * 7 % 32))]
        for options, count, more in (((), 30, 300), (("--limit", "3"), 3, 30), (("--limit", "32"), 32, 0)):
            status, out, err = self.say("session", "list", *options)
            self.assertEqual((status, err), (0, b""))
            self.assertEqual(re.findall(rb"(?m)^  (s\d+) ", out), newest[:count])
            end = b"\n[newest %d of 32 shown; more: terse session --limit %d]\n" % (count, more)
            self.assertEqual(out.endswith(end), more > 0, out)
        self.assertEqual(self.say("session", "end", "--limit", "3"), (
            125, b"", b"terse session end: --limit: not valid here (see terse help session)\n"))

    def test_end(self):
        ids = self.make(2)
        self.assertEqual(self.say("session", "end"),
                         (0, b"session default ended; its artifacts are kept for 24 h "
                          b"(terse session end default --now removes them)\n", b""))
        self.assertRegex(self.say("session")[1], rb"\* default +ended \d+ s ago +2 ")
        self.say("gc")
        self.assertEqual(self.listed(), ids[::-1])
        # A day later; a run in between would have begun it anew.
        self.age(86400 + 10)
        self.assertRegex(self.say("gc")[1], rb"session default: its session has ended\n"
                         rb"removed 2 artifacts, 1 session; freed ")
        self.assertEqual(os.listdir(os.path.join(self.store, "sessions")), [])
        self.assertEqual(self.say("session", "end"),
                         (0, b"session default does not exist (any more)\n", b""))

    def test_end_now(self):
        self.make(2, "--session", "a")
        write_file(os.path.join(self.session_dir("a"), "journal.sums"), b"sums")
        status, out, _ = self.say("session", "end", "a", "--now")
        self.assertEqual(status, 0)
        self.assertRegex(out, rb"\A(cmd-.* session a\n){2}session a ended\nremoved 2 artifacts; freed [\d.]+ KB\n\Z")
        self.assertFalse(os.path.exists(self.session_dir("a")))
        self.make(1)
        self.assertIn(b"\nremoved 1 artifact; ",
                      self.say("session", "end", env={"TERSE_KEEP": "off"})[1])

    def test_end_that_cannot_be_noted(self):
        self.make(1)
        journal = os.path.join(self.session_dir("default"), "journal.jsonl")
        os.rename(journal, journal + ".old")
        os.mkdir(journal)
        self.assertEqual(self.say("session", "end"), (
            1, b"", b"terse session end: default/journal.jsonl: Is a directory\n"))

    def test_end_while_it_runs(self):
        run, identifier, go = self.running()
        self.assertIn(b"\n1 still in use by its run, left as it is (terse list)\n",
                      self.say("session", "end", "--now")[1])
        let_go_on(go)
        run.finish()
        self.assertEqual(self.listed(), [identifier])

    def test_wrong(self):
        self.assertEqual(self.say("session", "stop"),
                         (125, b"", b"terse session: stop: must be list or end "
                          b"(see terse help session)\n"))
        self.assertEqual(self.say("session", "list", "a")[0], 125)
        self.assertEqual(self.say("session", "list", "--now")[0], 125)

    def test_agent_is_gone(self):
        """A session that is named after its agent's process ends with it."""
        agent = subprocess.Popen(["sleep", "1000"], env=self.env(), stdin=subprocess.DEVNULL)
        stat = read_file("/proc/%d/stat" % agent.pid).decode()
        name = "agent-pi-%d-%s.%s" % (agent.pid, stat[stat.rindex(")") + 2:].split()[19],
                                      os.readlink("/proc/self/ns/pid")[5:-1])
        made = self.make(1, "--session", name)
        self.say("gc", env={"TERSE_KEEP": "off"})
        self.assertEqual(self.listed("--session", name), made)
        agent.kill()
        agent.wait()
        self.assertRegex(self.say("session")[1], rb"  agent-\S+ +agent gone +1 ")
        self.say("gc")
        self.assertEqual(self.listed("--session", name), made)
        self.assertIn(b"removed 1 artifact, 1 session", self.say("gc", env={"TERSE_KEEP": "off"})[1])


class Hostile(Life):
    def test_names(self):
        """Names that lead out of the store reach nothing."""
        victim = os.path.join(self.dir, "x.txt")
        with open(victim, "w") as file:
            file.write("precious\n")
        identifier = self.make(1)[0]
        for name in ("../../x", "../../x.txt", "../x/" + identifier, "x", "..", ".",
                     victim[:-4], "cmd-" + "../" * 4, "%s/../../x" % identifier):
            for verb in (("drop",), ("rewind",), ("archive",), ("path",), ("rewind", "--dry-run")):
                status, _, err = self.say(*verb, name)
                self.assertNotEqual(status, 0, (verb, name))
                self.assertTrue(err.startswith(b"terse "), err)
            self.say("session", "end", "--now", name)
        for name in ("../../..", "..", "/", "a/b"):
            self.terse("--session", name, "seq", "3000")
        self.assertEqual(read_file(victim), b"precious\n")
        self.assertEqual(self.listed(), [identifier])
        for name in os.listdir(os.path.join(self.store, "sessions")):
            self.assertRegex(name, r"\A[\w][\w.-]*\Z")

    def test_metadata(self):
        """Huge and malformed metadata: listed as such, removed like any other."""
        ids = self.make(6)
        bad = (b"", b"{", b"\0" * 100, b"[" * 100000, b'{"version":1,"id":"../../x"}',
               b'{"version":1,"id":"%s","command":["' + b"x" * (3 << 20) + b'"]}')
        for identifier, text in zip(ids, bad):
            with open(os.path.join(self.session_dir(), identifier + ".json"), "wb") as file:
                file.write(text)
        for verb in (("list",), ("session",), ("gc", "--dry-run"), ("list", "--all")):
            self.assertEqual(self.say(*verb)[0], 0, verb)
        self.assertTrue(self.artifact(ids[0]).endswith(b"\n3500\n"))
        self.assertEqual(self.say("rewind", ids[1])[0], 0)
        self.assertEqual(self.say("drop", ids[0])[0], 0)
        self.assertEqual(self.listed(), [])

    def test_a_clock_that_jumps(self):
        """After a day without cleaning up nothing is removed by its age where nobody asks, but the next time."""
        kept = self.make(1)[0]
        stamp = os.path.join(self.store, "gc")
        for away, there in ((20 * 86400, True), (7200, False)):
            self.age(20 * 86400, kept, "journal")
            self.age(away, "gc")
            then = os.stat(stamp).st_mtime
            self.make(1, env={"TERSE_GC_INTERVAL": "1s"})
            eventually(lambda: os.stat(stamp).st_mtime > then, "a cleaning up")
            self.assert_nothing_left()
            self.assertEqual(kept in self.listed(), there)

    def test_home_is_the_only_store(self):
        """With TERSE_HOME set, verbs that list, count, find `last` or remove see no other store. Verbs that
        name a run by its whole ID do."""
        theirs = self.make(1, env={"TERSE_HOME": None})[0]
        old = time.time() - 30 * 86400
        for top, _, files in os.walk(os.path.join(self.home, "state")):
            for name in files:
                os.utime(os.path.join(top, name), (old, old), follow_symlinks=False)
        self.assertEqual(self.listed("--all"), [])
        self.assertEqual(self.ask("list", "--all"), b"")
        self.assertEqual(self.ask("session"), b"")
        self.assertEqual(self.say("gc")[1], b"nothing to remove\n")
        self.assertEqual(self.say("search", "--all", "3500")[:2], (1, b""))
        for argv in (["read", "last"], ["read", theirs[:-1]], ["path", "last"]):
            self.assertEqual(self.say(*argv)[0], 1)
        for argv in (["session", "end", "default", "--now"], ["rewind", "--to", "99d"],
                     ["drop", theirs], ["drop", "last"]):
            self.say(*argv)
        for argv in (["read", theirs], ["show", theirs], ["search", theirs, "^3500"],
                     ["path", theirs]):
            status, out, err = self.say(*argv)
            self.assertEqual((status, err), (0, b""), argv)
            self.assertNotEqual(out, b"")
        # And a run's own cleaning up leaves it alone.
        self.make(1)
        self.age(7200, "gc")
        self.make(1, env={"TERSE_GC_INTERVAL": "1s"})
        self.assertEqual(self.say("read", "--tail", "1", theirs)[1], b"3500\n")
        self.assertNotIn(theirs, self.listed("--all"))
        # Without it the verbs look in all that are left.
        self.assertEqual(re.findall(rb"cmd-\S+", self.say("list", env={"TERSE_HOME": None})[1]),
                         [theirs.encode()])

    def test_another_users_directory(self):
        """It is refused, the next place is taken, and doctor reports it."""
        if os.geteuid() != 0:
            self.skipTest("only root can make another user's directory")
        os.mkdir(self.store)
        os.chown(self.store, 12345, 12345)
        identifier = self.make(1)[0]
        self.assertEqual(os.listdir(self.store), [])
        self.assertTrue(self.artifact(identifier).endswith(b"\n3500\n"))
        doctor = self.run_to_end(TERSE, "doctor").out
        self.assertRegex(doctor, rb"(?m)^.*%s.*Operation not permitted" % self.store.encode())


if __name__ == "__main__":
    main()
