#!/usr/bin/env -S python3 -B
"""Artifacts in a remote: which runs are pushed, by which process and when. Waiting runs survive kills, and a
remote that is unreachable, slow or broken. The command never waits for the remote.

The remotes are a directory (file:/DIR) and a stand-in for rclone, which fails as it is told.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time

from support.harness import (DEADLINE, TERSE, eventually, let_go_on, main, random_source, read_file, signal_if_there,
                             write_file)
from support.remote import FAIL, TEXT, Remote


class Push(Remote):
    def test_after_the_run(self):
        run = self.terse(*FAIL)
        self.assertEqual(run.code, 3)
        eventually(lambda: self.pushed() == [run.id], "the object")
        self.assertEqual(self.restored(run.id), TEXT)
        self.assert_nothing_left()
        self.assertEqual(self.waiting(), [])
        self.assertEqual(self.push(), (0, "0 pushed to file:%s\n" % self.objects, ""))

    def test_key(self):
        """The hour in a key is the one in the ID."""
        run = self.terse(*FAIL)
        eventually(lambda: self.pushed() == [run.id], "the object")
        self.assertRegex(os.path.relpath(self.object(run.id), self.objects),
                         time.strftime(r"\Aartifacts/%Y/%m/%d/%H/", time.gmtime(self.started(run.id))) +
                         r"%s\.tar\.zst\Z" % run.id)
        self.assertEqual(os.stat(self.object(run.id)).st_mode & 0o777, 0o600)

    def started(self, one):
        """Seconds since 1970, by the ID."""
        ms = 0
        for digit in one[4:13]:
            ms = ms * 32 + "0123456789abcdefghjkmnpqrstvwxyz".index(digit)
        return ms / 1000

    def test_failed_ones_only(self):
        self.configure(push="failed")
        # First, since it may need several attempts, each with a new store.
        late = self.out_of_time("sh", "-c", "seq 3000; >came; sleep 100")
        attempts = set(self.pushed()) - {late.id}
        self.terse("seq", "3000")
        bad = [late, self.terse(*FAIL), self.terse("sh", "-c", "seq 3000; kill -9 $$")]
        eventually(lambda: set(self.pushed()) - attempts == {run.id for run in bad},
                   lambda: "%s and not %s" % (bad, self.pushed()))
        self.assert_nothing_left()
        self.assertEqual(self.waiting(), [])

    def test_beside_another_push(self):
        """Wherever a run is held up while another process pushes all there is: it is pushed when it has ended."""
        self.configure(push="failed")
        self.terse(*FAIL)
        report = self.at("report")
        for what, step in (("change", 1), ("open", 7)):
            held, n = True, step
            while held:
                run = self.start("fault", report, TERSE, what + "=HOLD", str(n), "--", TERSE, *FAIL)
                eventually(lambda: os.path.exists(report + ".held") or os.waitid(
                    os.P_PID, run.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT), "call %d, or the end" % n)
                held = os.path.exists(report + ".held")
                if held:
                    with subprocess.Popen([TERSE, "push"], env=self.env(), cwd=self.work,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as push:
                        try:
                            push.wait(0.2)
                        except subprocess.TimeoutExpired:
                            pass  # It waits for a lock that the run has.
                        os.unlink(report + ".held")
                self.assertEqual(run.finish().code, 3)
                eventually(lambda: run.id in self.pushed(), lambda: "%s %d: %s is not pushed; in the outbox: %s" % (
                    what, n, run.id, os.listdir(self.in_outbox())))
                n += step
        self.assert_nothing_left()

    def test_off(self):
        self.configure(push="off")
        self.terse(*FAIL)
        self.assert_nothing_left()
        self.assertEqual(self.pushed(), [])
        self.assertFalse(os.path.exists(self.in_outbox()))

    def test_short_failures(self):
        """A failure of a line is what somebody asks for the next morning: it is kept for the remote alone."""
        self.configure(push="failed")
        for argv, out in ((("sh", "-c", "echo no such host; exit 4"), b"no such host\n"), (("false",), b""),
                          (("--streams=split", "sh", "-c", "echo out; echo err >&2; exit 4"), b"out\n"),
                          (("sh", "-c", "kill -9 $$"), b"")):
            before = self.pushed()
            run = self.terse(*argv)
            self.assertIn(out, run.out)
            # The command's caller did not wait for it; terse push does.
            self.assertEqual(self.push()[0], 0)
            new = sorted(set(self.pushed()) - set(before))
            self.assertEqual(len(new), 1, argv)
            self.assertEqual(self.restored(new[0]), out)
        self.assertEqual(self.terse("echo", "x").out, b"x\n")
        self.assert_nothing_left()
        self.assertEqual((len(self.pushed()), self.waiting()), (4, []))

    def test_all(self):
        self.assertEqual(self.terse("echo", "x").out, b"x\n")
        self.assertEqual(self.push()[0], 0)
        one, = self.pushed()
        self.assertEqual(self.restored(one), b"x\n")
        self.assertEqual(json.loads(self.ask("list", "--json", "--limit", "1"))["data"]["runs"][0]["id"], one)

    def test_push_follows_at_once(self):
        """As the last command of a container, behind a short failure."""
        self.configure(push="failed")
        for n in range(1, 21):
            self.terse("sh", "-c", "echo %d; exit 1" % n)
            self.assertEqual(self.push("--wait", "20s")[0], 0)
            self.assertEqual(len(self.pushed()), n)

    def test_short_texts_without_a_remote(self):
        write_file(self.config, "")
        self.assertEqual(self.terse("sh", "-c", "echo x; exit 3").out, b"x\n")
        self.configure(push="off")
        self.assertEqual(self.terse("sh", "-c", "echo x; exit 3").out, b"x\n")
        self.assert_nothing_left()
        self.assertEqual(self.artifacts(), [])

    def test_only_from_trusted_files(self):
        """Neither a project nor a variable can send anything anywhere."""
        theirs = self.at("theirs")
        os.mkdir(theirs)
        write_file(self.config, "")
        write_file(os.path.join(self.work, ".terse.ini"), "[remote]\nremote = file:%s\npush = all\n" % theirs)
        run = self.start(TERSE, *FAIL, env={"TERSE_REMOTE": "file:" + theirs, "TERSE_PUSH": "all"}).finish()
        self.assertEqual(run.code, 3)
        self.assert_nothing_left()
        self.assertEqual(self.pushed(theirs), [])
        done = subprocess.run([TERSE, "config", "check"], env=self.env(), cwd=self.work, capture_output=True,
                              timeout=DEADLINE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"[remote] remote: not allowed in a project's file", done.stdout + done.stderr)

    def test_no_remote(self):
        write_file(self.config, "")
        self.assertEqual(self.push(), (
            125, "", "terse push: there is no remote: [remote] of your terse.ini names one\n"))
        self.assertEqual(self.push("--json")[:2], (125, '{"ok":false,"error":{"code":"usage","message":'
                                                   '"there is no remote: [remote] of your terse.ini names one"}}\n'))

    def test_bad_settings(self):
        for key, value, reason in (
                ("remote", "s3://x", "not rclone:NAME:PATH or file:/DIR"),
                ("remote", "rclone:", "not rclone:NAME:PATH or file:/DIR"),
                ("remote", "file:relative", "not rclone:NAME:PATH or file:/DIR"),
                ("push", "some", "not off, failed or all")):
            self.configure(**{key: value, "push": "all"} if key != "push" else {"push": value})
            done = subprocess.run([TERSE, "config", "check"], env=self.env(), cwd=self.work, capture_output=True,
                                  timeout=DEADLINE, check=False)
            self.assertIn("[remote] %s: %s: %s" % (key, value, reason),
                          (done.stdout + done.stderr).decode(), done)

    def test_program(self):
        """Nothing of it is supervised, and it has nothing of ours: no input, no descriptor, no signal's change."""
        self.rclone('printf "%%s\n" "$TERSE" "$1" "$2" "$3" "$(readlink /proc/$$/fd/0)" "$(ls -l /proc/$$/fd | grep -c -e socket -e /outbox/)" '
                    '"$(grep -E "Sig(Blk|Ign)" /proc/$$/status | tr -d "\n\t")" >%s.new; mv %s.new %s.$1.$(basename $2)\n'
                    % ((self.at("words"),) * 3))
        run = self.terse(*FAIL)
        eventually(lambda: self.pushed() == [run.id] and self.lines() == [run.id], "the object, and its line")
        self.assert_nothing_left()
        for folder in ("artifacts", "index"):
            words = read_file(self.at("words.move." + folder)).decode().split("\n")
            self.assertEqual(words[:5], ["0", "move", self.in_outbox("new", folder),
                                         "fleet:%s/%s" % (self.objects, folder), "/dev/null"])
            self.assertEqual(words[5], "0")
            # SIGXFSZ alone is ignored, of the signals that can be (32 and 33 are the C library's).
            blocked, ignored = re.fullmatch(r"SigBlk:(\w+)SigIgn:(\w+)", words[6]).groups()
            self.assertEqual((int(blocked, 16), int(ignored, 16) & ~(3 << 31)), (0, 1 << 24))

    def test_artifacts_first(self):
        """A run that is listed can be fetched."""
        self.rclone('case $2 in */index) for one in $(grep -ho "cmd-[0-9a-z]*" -r $2); do '
                    'test -e %s/artifacts/*/*/*/*/$one.tar.zst || echo $one >>%s; done;; esac\n' % (
                        self.objects, self.at("missing")))
        for _ in range(5):
            self.terse(*FAIL)
        eventually(lambda: len(self.lines()) == 5, "five lines")
        self.assertFalse(os.path.exists(self.at("missing")))


class Away(Remote):
    """The remote can't be reached, or only now and then."""

    def setUp(self):
        super().setUp()
        self.away = self.at("away")
        self.told = ('echo x >>%s\ntake() { test ! -e %s || { echo "server away" >&2; return 1; }; }\n' % (
            self.at("tries"), self.away))
        self.rclone(self.told)
        self.name = "rclone:fleet:" + self.objects

    def fail_once(self, *command):
        """A run while the remote is away; its pusher has tried and waits."""
        write_file(self.away, "")
        run = self.terse(*(command or FAIL))
        eventually(lambda: self.retry()[0], "a failure")
        return run

    def test_comes_back(self):
        """The process that stays behind tries again by itself."""
        run = self.fail_once()
        self.assertEqual(self.pushed(), [])
        os.unlink(self.away)
        eventually(lambda: self.pushed() == [run.id], "the object")
        self.assert_nothing_left()
        self.assertEqual(self.waiting(), [])

    def test_push_says_why(self):
        run = self.fail_once()
        self.assertEqual(self.push(), (1, "0 pushed to %s\n" % self.name, "terse push: left: 1: server away\n"))
        self.assertEqual(self.push("--json")[:2], (1, '{"ok":true,"data":{"pushed":0,"left":1,"dropped":0,'
                                                   '"reason":"server away"}}\n'))
        os.unlink(self.away)
        self.push_all()
        self.assertEqual(self.pushed(), [run.id])

    def test_next_run_goes_on(self):
        """Whatever was killed: the next run pushes what waits, even if it keeps nothing itself."""
        run = self.fail_once()
        self.kill_all()
        os.unlink(self.away)
        os.unlink(self.in_outbox("retry"))
        self.rclone(self.told, push="failed")
        self.assertEqual(self.terse("echo", "x").out, b"x\n")
        eventually(lambda: self.pushed() == [run.id], "the object")

    def test_one_process_waits(self):
        """While the remote is away there is one process, which does not try at every run."""
        self.fail_once()
        tries = len(read_file(self.at("tries")))
        for _ in range(5):
            self.terse(*FAIL)
        eventually(lambda: len(self.mine()) == 1, lambda: "one process: %s" % self.mine())
        self.assertLess(len(read_file(self.at("tries"))) - tries, 20)
        self.assertEqual(len(self.waiting()), 6)
        os.unlink(self.away)
        self.push_all()
        self.assertEqual(len(self.pushed()), 6)

    def test_pauses_grow(self):
        """Also behind a success: an object that is refused is not tried every second."""
        bad = self.fail_once()
        self.tell('take() { case $1 in *%s.tar*) echo refused >&2; return 1;; esac; }\n' % bad.id)
        good = self.terse(*FAIL)
        eventually(lambda: self.pushed() == [good.id], "the good one")
        eventually(lambda: self.retry()[0] >= 3, lambda: "pauses grow: %s" % (self.retry(),))
        self.kill_all()

    def test_no_pauses_without_a_file(self):
        """The disk is full, so that the next attempt can't be noted: no process stays, and each run tries once."""
        self.rclone('date >>%s; exit 1\n' % self.at("tries"), push="failed")
        self.terse("true")
        os.makedirs(self.in_outbox("retry"))
        for n in (1, 2):
            self.terse(*FAIL)
            eventually(lambda: os.path.exists(self.at("tries")) and
                       len(read_file(self.at("tries")).splitlines()) == n, "attempt %d" % n)
            self.assert_nothing_left()

    def test_waits_for_a_stop(self):
        """terse push --wait goes on trying."""
        run = self.fail_once()
        self.kill_all()
        self.tell('echo x >>%s\ntest $(wc -c <%s) -gt 6 || exit 1\n' % ((self.at("tries2"),) * 2))
        self.assertEqual(self.push("--wait", "25s"), (0, "1 pushed to %s\n" % self.name, ""))
        self.assertEqual(self.pushed(), [run.id])

    def test_lock_that_cannot_be_taken(self):
        """That is said, and not waited for."""
        self.fail_once()
        self.kill_all()
        os.unlink(self.in_outbox("lock"))
        os.mkdir(self.in_outbox("lock"))
        self.assertEqual(self.push(), (1, "0 pushed to %s\n" % self.name, "terse push: left: 1: Is a directory\n"))

    def test_archives_that_cannot_be_read(self):
        """Somebody else's directory in the outbox, as after a run by sudo: that is said, and not tried for ever."""
        self.fail_once()
        self.kill_all()
        os.rename(self.in_outbox("new", "artifacts"), self.at("theirs"))
        write_file(self.in_outbox("new", "artifacts"), "")
        self.assertEqual(self.push(), (1, "0 pushed to %s\n" % self.name, "terse push: left: 1: Not a directory\n"))

    def test_wait_ends(self):
        self.fail_once()
        self.kill_all()
        status, out, err = self.push("--wait", "600ms")
        self.assertEqual((status, out), (1, "0 pushed to %s\n" % self.name))
        # On a slow machine that comes while the program starts.
        self.assertRegex(err, r"\Aterse push: left: 1: (server away|the time was over)\n\Z")

    def test_terminated(self):
        """SIGTERM: the process that waits tries once more and leaves."""
        run = self.fail_once()
        waiting = eventually(lambda: [p for p in self.mine() if p.argv[:1] == [TERSE]], "the pusher")
        os.unlink(self.away)
        for process in waiting:
            signal_if_there(process.pid, signal.SIGTERM)
        self.assert_nothing_left()
        self.assertEqual(self.pushed(), [run.id])

    def test_removed_meanwhile(self):
        """What was packed does not depend on the store any more."""
        run = self.fail_once()
        self.ask("session", "end", "--now")
        os.unlink(self.away)
        self.push_all()
        self.assertEqual(self.restored(run.id), TEXT)

    def test_dropped(self):
        """What is dropped is not pushed any more, also if the store has it no longer."""
        runs = [self.fail_once(), self.terse(*FAIL), self.terse(*FAIL)]
        eventually(lambda: len(self.waiting()) == 3, "all packed")
        self.kill_all()
        self.assertRegex(self.ask("drop", runs[0].id), rb"\A%s: removed, freed [\d.]+ KB; it will not be pushed\n\Z"
                         % runs[0].id.encode())
        self.ask("session", "end", "--now")
        self.assertEqual(self.ask("drop", runs[1].id),
                         b"%s: does not exist (any more); it will not be pushed\n" % runs[1].id.encode())
        self.assertEqual(self.ask("drop", runs[1].id), b"%s: does not exist (any more)\n" % runs[1].id.encode())
        os.unlink(self.away)
        self.assertEqual(self.push(), (0, "1 pushed to %s\n" % self.name, ""))
        self.assertEqual(self.pushed(), [runs[2].id])

    def test_dropped_before_it_is_packed(self):
        run = self.start(TERSE, "sh", "-c", "seq 3000; echo ready; sleep 100")
        supervisor = self.roles(run.pid)[0]
        eventually(lambda: self.artifacts() and read_file(self.artifacts()[0]) == TEXT + b"ready\n", "the text")
        os.kill(supervisor, signal.SIGKILL)
        run.finish()
        self.assertIn(b"; it will not be pushed", self.ask("drop", "last"))
        self.assertEqual(self.push(), (0, "0 pushed to %s\n" % self.name, ""))

    def doctor(self):
        done = subprocess.run([TERSE, "doctor"], env=self.env(), cwd=self.work, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=DEADLINE, check=False)
        return [line for line in done.stdout.decode().split("\n") if re.match(r"\S+ +(remote|push): ", line)]

    def test_doctor(self):
        """It says what waits, for how long, and why."""
        self.assertEqual(self.doctor(), ["ok       remote: " + self.name])
        self.fail_once()
        self.kill_all()
        about, waiting = self.doctor()
        self.assertEqual(about, "ok       remote: " + self.name)
        self.assertRegex(waiting, r"\APROBLEM  push: waiting: 1, [\d.]+ KB, the oldest for \d+ \w+; failures: \d+, "
                         r"the last: server away \(terse push tries now\)\Z")
        os.unlink(self.away)
        self.push_all()
        self.assertEqual(self.doctor()[1:], ["ok       push: nothing waits"])
        os.unlink(os.path.join(self.tools, "rclone"))
        if not shutil.which("rclone"):
            self.assertEqual(self.doctor()[0], "PROBLEM  remote: %s: the program rclone is not there" % self.name)
        self.configure(remote="file:" + self.at("nowhere"))
        self.assertEqual(self.doctor()[0], "PROBLEM  remote: %s: No such file or directory" % self.at("nowhere"))
        write_file(self.config, "")
        self.assertEqual(self.doctor(), [])

    def test_bounded(self):
        """The oldest go first, and that is said once."""
        self.rclone(self.told, outbox_max="64KB")
        write_file(self.away, "")
        runs = [self.terse("sh", "-c", "head -c 12000 /dev/urandom | od -A n -t x1; exit 1") for _ in range(8)]
        eventually(lambda: not os.listdir(self.in_outbox("wanted")),
                   lambda: "all packed: %s" % os.listdir(self.in_outbox("wanted")))
        self.kill_all()
        left = self.waiting()
        self.assertEqual(left, [run.id for run in runs][-len(left):])
        self.assertLess(len(left), 8)
        self.assertLessEqual(sum(os.stat(os.path.join(top, n)).st_size
                                 for top, _, names in os.walk(self.in_outbox("new")) for n in names), 64 * 1024)
        status, _, err = self.push()
        self.assertEqual(status, 1)
        self.assertRegex(err, r"\Aterse push: dropped before, unpushed: %d, [\d.]+ KB \(\[remote\] outbox_max\)\n"
                         r"terse push: left: %d: server away\n\Z" % (8 - len(left), len(left)))
        os.unlink(self.away)
        self.assertEqual(self.push()[0::2], (0, ""))
        self.assertEqual(self.pushed(), left)

    def test_one_bad_object(self):
        """An object that the remote never takes does not keep the others."""
        bad = self.fail_once()
        self.kill_all()
        self.tell('take() { case $1 in *%s.tar*) echo refused >&2; return 1;; esac; }\n' % bad.id)
        runs = [self.terse(*FAIL) for _ in range(3)]
        self.assertEqual(self.push()[0::2], (1, "terse push: left: 1: refused\n"))
        self.assertEqual(self.pushed(), sorted(run.id for run in runs))
        self.kill_all()


class Slow(Remote):
    """An upload that does not end."""

    def setUp(self):
        super().setUp()
        self.go = self.at("go")
        os.mkfifo(self.go)
        self.told = 'take() { echo $$ >>%s; read x <%s; }\ncase $2 in */index) take() { :; };; esac\n' % (
            self.at("began"), self.go)
        self.rclone(self.told)

    def began(self):
        path = self.at("began")
        return len(read_file(path).split()) if os.path.exists(path) else 0

    def test_the_command_does_not_wait(self):
        first = self.terse(*FAIL)
        eventually(lambda: self.began() == 1, "an upload")
        second = self.terse("seq", "3000")
        self.assertEqual((first.code, second.code), (3, 0))
        self.assertEqual(self.pushed(), [])
        let_go_on(self.go)
        eventually(lambda: self.began() == 2, "the other upload")
        let_go_on(self.go)
        eventually(lambda: len(self.pushed()) == 2, "both objects")

    def test_takes_too_long(self):
        self.rclone(self.told, transfer_time="300ms")
        self.terse(*FAIL)
        eventually(lambda: self.retry()[0], "a failure")
        self.kill_all()
        self.assertEqual(self.push()[0::2], (1, "terse push: left: 1: took too long ([remote] transfer_time)\n"))
        self.assertEqual([p for p in self.mine() if "rclone" in " ".join(p.argv)], [])

    def test_takes_long_and_goes_on(self):
        """As long as objects leave the program has time."""
        self.rclone("exit 1\n")
        for _ in range(6):
            self.terse(*FAIL)
        eventually(lambda: len(self.waiting()) == 6, "all packed")
        self.kill_all()
        self.rclone("take() { sleep 1; }\n", transfer_time="4s")
        self.assertEqual(self.push()[0::2], (0, ""))
        self.assertEqual(len(self.pushed()), 6)

    def test_wait_leaves_in_time(self):
        """Another process uploads and does not end: terse push does not wait for it longer than it may."""
        self.terse(*FAIL)
        eventually(lambda: self.began() == 1, "an upload")
        self.assertEqual(self.push("--wait", "300ms")[0::2],
                         (1, "terse push: left: 1: another process still pushes\n"))
        let_go_on(self.go)
        eventually(lambda: len(self.pushed()) == 1, "the object")

    def test_background(self):
        """Background processes write on while their run is pushed."""
        on = self.at("on")
        os.mkfifo(on)
        run = self.terse("--linger-idle", "300ms", "sh", "-c",
                         "seq 3000; setsid sh -c 'read x <%s; seq 20000; echo over >%s' &" % (on, self.at("over")))
        eventually(lambda: self.began() == 1, "an upload")
        let_go_on(on)
        eventually(lambda: os.path.exists(self.at("over")), "the end of the background process")
        self.assertEqual(self.pushed(), [])
        let_go_on(self.go)
        eventually(lambda: self.pushed() == [run.id], "the object")


class Ends(Remote):
    """Runs whose end is no ordinary one."""

    def test_supervisor_is_killed(self):
        """The next run pushes what it left."""
        self.configure(push="failed")
        run = self.start(TERSE, "sh", "-c", "seq 3000; echo ready; sleep 100")
        supervisor = self.roles(run.pid)[0]
        eventually(lambda: self.artifacts() and TEXT + b"ready\n" == read_file(self.artifacts()[0]), "the text")
        os.kill(supervisor, signal.SIGKILL)
        run.finish()
        identifier = os.path.basename(self.artifacts()[0])[:16]
        self.terse("true")
        eventually(lambda: self.pushed() == [identifier], "the object")
        self.assertEqual(self.restored(identifier), TEXT + b"ready\n")

    def test_terminated_while_recording(self):
        """A machine that goes down: the supervisor of a background process pushes what there is."""
        run = self.terse("sh", "-c", "seq 3000; sleep 100 &")
        supervisor = eventually(lambda: [p for p in self.mine() if p.argv[:1] == [TERSE]], "the supervisor")
        self.assertEqual(self.pushed(), [])
        for process in supervisor:
            signal_if_there(process.pid, signal.SIGTERM)
        eventually(lambda: self.pushed() == [run.id], "the object")
        self.assertTrue(self.restored(run.id).startswith(TEXT))
        self.kill_all()

    def test_front_end_is_killed(self):
        run = self.start(TERSE, "sh", "-c", "seq 3000; echo ready; sleep 100")
        run.until(rb"terse read cmd-")
        run.kill()
        run.finish()
        eventually(lambda: len(self.pushed()) == 1, "the object")


class Container(Remote):
    """A command that is process 1 of its container."""

    def contained(self, *argv):
        """Runs a command as process 1 of a namespace of processes, which end with it."""
        enter = ["unshare", "-p", "-f", "--mount-proc"]
        if os.geteuid() != 0:
            enter[1:1] = ["-U", "-r"]
        if subprocess.run(enter + ["true"], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode:
            self.skipTest("a namespace of processes can't be made here")
        return self.run_to_end(*enter, *argv)

    def test_terse(self):
        self.configure(push="failed")
        run = self.contained(TERSE, "sh", "-c", "echo no; exit 4")
        self.assertEqual((run.code, run.out), (4, b"no\n"))
        self.assertEqual([self.restored(one) for one in self.pushed()], [b"no\n"])
        run = self.contained(TERSE, *FAIL)
        self.assertEqual((run.code, len(self.pushed())), (3, 2))
        self.assertEqual(self.contained(TERSE, "echo", "x").code, 0)
        self.assertEqual((len(self.pushed()), self.waiting()), (2, []))

    def test_script(self):
        self.configure(push="failed")
        run = self.contained("sh", "-c", "%s sh -c 'echo no; exit 4'; status=$?; %s push --wait 10s; exit $status"
                             % (TERSE, TERSE))
        self.assertEqual((run.code, len(self.pushed())), (4, 1))


class Kills(Remote):
    """Every process is killed at a random moment: nothing is lost, and nothing is there twice."""

    def test_random_moments(self):
        count = int(os.environ.get("REMOTE_KILLS", "12"))
        chance = random_source(3)
        self.rclone()
        runs, killed = [], 0
        for n in range(count):
            runs.append(self.terse("sh", "-c", "seq %d; exit 1" % (3000 + n)))
            time.sleep(chance.random() * 0.04)
            for process in self.mine():
                signal_if_there(process.pid, signal.SIGKILL)
                killed += 1
        self.assert_nothing_left()
        self.push_all()
        self.assertEqual(self.pushed(), sorted(run.id for run in runs))
        for run in runs[::max(1, count // 10)]:
            self.assertTrue(self.restored(run.id).startswith(TEXT))
        self.assertEqual(self.lines(), sorted(run.id for run in runs))
        left = [n for n in os.listdir(self.in_outbox()) if n.startswith(".") or n in ("wanted", "lines", "new", "segment")]
        self.assertEqual(left, [])
        print("note  %d runs, %d processes killed" % (count, killed))


if __name__ == "__main__":
    main()
