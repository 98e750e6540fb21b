#!/usr/bin/env -S python3 -B
"""After SIGKILL of the front end, of the supervisor, of both, of the watchdog: nothing of the command's
session is left, and the artifact can be read."""

import contextlib
import fcntl
import os
import signal

from support.harness import (Case, Process, TERSE, eventually, main, numbers, read_file,
                             signal_if_there, write_file)

# Children of a command: one in its own process group, one that ignores all signals that can be ignored, one that
# is stopped.
FAMILY = """
seq 3000
sleep 1000 &
bash -c 'set -m; sleep 1001 & wait' &
sh -c 'trap "" HUP TERM INT; echo ready1 >ready1; while :; do sleep 0.05; done' &
sh -c 'echo $$ >stopped; kill -STOP $$; sleep 1002' &
while [ ! -s ready1 ] || [ ! -s stopped ]; do sleep 0.01; done
echo all ready
wait
"""


class Killed(Case):
    def family(self, *options):
        run = self.start(TERSE, "--grace", "100ms", *options, "sh", "-c", FAMILY)
        run.until(rb"\A1\n2\n")
        eventually(lambda: self.artifacts() and
                   read_file(self.artifacts()[0]).endswith(b"all ready\n"), "the family")
        return run

    def check(self, victims, *options):
        run = self.family(*options)
        supervisor, watchdog, command = self.roles(run.pid)
        pids = {"front": run.pid, "supervisor": supervisor, "watchdog": watchdog, "command": command}
        for victim in victims:
            signal_if_there(pids[victim], signal.SIGKILL)
        if "front" not in victims:
            run.wait()
        self.assert_nothing_left()
        run.finish()
        text = numbers(3000)
        identifier = os.path.basename(self.artifacts()[0])[:-4]
        self.assertTrue(self.artifact(identifier).startswith(text))
        self.assertTrue(self.ask("read", identifier, "--offset", "3000").startswith(b"3000\n"))
        self.assertIn(identifier.encode(), self.ask("list"))
        state = self.metadata(identifier)["state"]
        return run, state, identifier

    def test_front_end(self):
        run, state, _ = self.check(["front"])
        self.assertEqual(run.code, -signal.SIGKILL)
        self.assertEqual(state, "interrupted")

    def test_supervisor(self):
        run, _, identifier = self.check(["supervisor"])
        self.assertNotEqual(run.code, 0)
        self.assertIn(b"terse: ", run.out)

    def test_front_end_and_supervisor(self):
        for order in (["front", "supervisor"], ["supervisor", "front"]):
            with self.subTest(order=order):
                self.check(order)
                self.remove_artifacts()

    def test_front_end_and_supervisor_with_a_controlling_terminal(self):
        for victims in (["front"], ["supervisor"], ["front", "supervisor"]):
            with self.subTest(victims=victims):
                self.check(victims, "--tty")
                self.remove_artifacts()

    def remove_artifacts(self):
        for path in self.artifacts():
            os.unlink(path)
        for name in ("ready1", "stopped"):
            os.unlink(os.path.join(self.work, name))

    def test_watchdog(self):
        """Without its watchdog the run goes on."""
        run = self.start(TERSE, "sh", "-c", "echo ready; read x; exit 3", stdin=self.pipe())
        run.until(b"ready")
        os.kill(self.roles(run.pid)[1], signal.SIGKILL)
        os.close(self.pipe_end)
        run.finish()
        self.assertEqual(run.code, 3)

    def pipe(self):
        r, self.pipe_end = os.pipe()
        self.addCleanup(os.close, r)
        return r

    def test_command(self):
        run = self.start(TERSE, "sh", "-c", "echo ready; exec sleep 1000")
        run.until(b"ready")
        os.kill(self.roles(run.pid)[2], signal.SIGKILL)
        run.finish()
        self.assertEqual(run.code, -signal.SIGKILL)

    def test_everything_at_once(self):
        """As a kill of the process group, a container or a service does."""
        run = self.family()
        for process in self.mine():
            if process.name == "terse":
                signal_if_there(process.pid, signal.SIGKILL)
        run.finish()
        # PDEATHSIG reaches the command, but nobody is left for those that ignore it.
        self.kill_all()
        self.assertTrue(self.ask("read", os.path.basename(self.artifacts()[0])[:-4])
                        .startswith(b"1\n2\n"))

    def test_process_group_of_the_front_end(self):
        """An agent that gives up kills the group it had started."""
        run = self.start("sh", "-c", "terse --grace 100ms sh -c 'echo ready; sleep 1000'; :",
                         before=os.setsid)
        run.until(b"ready")
        os.killpg(run.pid, signal.SIGKILL)
        self.assert_nothing_left()
        run.finish()

    def test_timeout_of_coreutils(self):
        for options in ((), ("-s", "KILL"), ("-s", "HUP"), ("-k", "0.1", "-s", "INT")):
            with self.subTest(options=options):
                family = ("sh", "-c", "trap '' INT; sleep 1000 & echo ready; sleep 1000")
                plain = self.time_out(options, *family)
                # A child of the plain shell can be missed by the signal for the group.
                self.kill_all()
                plain.finish()
                run = self.time_out(options, "terse", "--grace", "100ms", *family)
                if "INT" not in options:
                    self.assertEqual(run.code, plain.code)
                self.assert_nothing_left()
                run.finish()

    def time_out(self, options, *argv):
        """Runs it below timeout(1), whose time is over when the command is ready: its timer's
        signal comes from us."""
        run = self.start("timeout", *options, "1000", *argv)
        run.until(b"ready")
        # The command can be faster than the one that has forked it, which then sets its timer and
        # waits: only now it knows whom to signal.
        eventually(lambda: read_file("/proc/%d/timers" % run.pid) and Process(run.pid).state == "S",
                   "timeout to wait")
        run.kill(signal.SIGALRM)
        run.wait()
        return run

    def test_term_to_the_group_then_kill(self):
        run = self.start("sh", "-c", "terse --grace 100ms sh -c 'trap \"\" TERM; echo ready;"
                         " while :; do sleep 0.05; done'; :", before=os.setsid)
        run.until(b"ready")
        os.killpg(run.pid, signal.SIGTERM)
        os.killpg(run.pid, signal.SIGKILL)
        self.assert_nothing_left()
        run.finish()

    def test_a_session_of_its_own_is_left_alone(self):
        script = "setsid sh -c 'echo $$ >pid; exec sleep 1000' >/dev/null 2>&1 & " \
                 "while [ ! -s pid ]; do sleep 0.01; done; echo ready; wait; sleep 1000"
        run = self.start(TERSE, "sh", "-c", script)
        run.until(b"ready")
        run.kill()
        run.finish()
        daemon = int(read_file(os.path.join(self.work, "pid")))
        eventually(lambda: [p.pid for p in self.mine()] == [daemon], lambda: str(self.mine()))
        self.kill_all()

    def test_early_kill(self):
        """Whatever its processes are just about to call while it starts: the front end is killed,
        and nothing stays."""
        report, begun = os.path.join(self.dir, "report"), os.path.join(self.work, "begun")
        self.run_to_end("fault", report, TERSE, "any=KILL", "0", "--", TERSE, "true")
        for call in range(1, int(read_file(report)), 5):
            run = self.start("fault", report, TERSE, "any=KILL-FIRST", str(call), "--", TERSE,
                             "sh", "-c", "echo >begun; sleep 1000 & sleep 1000")
            eventually(lambda: not run.collect(0) or os.path.exists(begun),
                       lambda: "the end of a start that was cut short: %s" % self.mine())
            # It may have started with fewer calls.
            for process in self.mine():
                if process.parent == run.pid:
                    signal_if_there(process.pid, signal.SIGKILL)
            run.finish()
            self.assert_nothing_left()
            if os.path.exists(begun):
                os.unlink(begun)

    def test_before_there_is_a_watchdog(self):
        """The command starts once somebody is there who would end it: front end and supervisor are killed while
        one of the processes is about to be made. The command ignores the signal that follows their end."""
        report = os.path.join(self.dir, "report")
        for fork in (2, 3):
            run = self.start("fault", report, TERSE, "fork=HOLD", str(fork), "--", TERSE,
                             "sh", "-c", "sleep 1000 & sleep 1000",
                             before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
            eventually(lambda: os.path.exists(report + ".held"), "the start of fork %d" % fork)
            eventually(lambda: all(p.state == "S" for p in self.mine()[1:]), "processes that wait")
            for process in self.mine():
                if process.parent == run.pid or process.session == process.pid:
                    signal_if_there(process.pid, signal.SIGKILL)
            os.unlink(report + ".held")
            run.finish()
            self.assert_nothing_left()

    def test_background_children_of_a_finished_command_are_left_alone(self):
        run = self.start(TERSE, "sh", "-c", "sleep 1000 & echo $! >pid; echo ok")
        run.finish()
        child = int(read_file(os.path.join(self.work, "pid")))
        supervisor = [p for p in self.mine() if p.name == "terse"]
        for process in supervisor:
            signal_if_there(process.pid, signal.SIGKILL)
        eventually(lambda: [p.pid for p in self.mine()] == [child], lambda: str(self.mine()))
        self.kill_all()


class Start(Case):
    """While the command is not executed yet, as where its file is on a server that does not answer:
    a lease on the file holds execve(2)."""

    def setUp(self):
        super().setUp()
        self.program = write_file(os.path.join(self.work, "held"), "#!/bin/sh\nexit 7\n", 0o755)
        self.fd = os.open(self.program, os.O_RDONLY)
        self.addCleanup(os.close, self.fd)
        before = signal.signal(signal.SIGIO, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGIO, before)
        fcntl.fcntl(self.fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)

    def is_held(self, run):
        """Waits until the run is held, or has ended before."""
        def seen():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # one ends while it is looked at
                if any(p.name == "terse" and b"lease" in read_file("/proc/%d/wchan" % p.pid) for p in self.mine()):
                    return "held"
            return None if run.collect(0) else "ended"
        return eventually(seen, "a held execve") == "held"

    def held(self):
        run = self.start(TERSE, self.program)
        self.assertTrue(self.is_held(run))
        return run

    def check_timeout(self, came):
        run = self.with_time(lambda limit: self.start(TERSE, "--timeout", limit, self.program), came).finish()
        self.assertEqual((run.code, run.out), (124, b"[terse: timed out (exit 124)]\n"))

    def test_goes_on(self):
        run = self.held()
        fcntl.fcntl(self.fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        run.finish()
        self.assertEqual((run.code, run.out), (7, b""))

    def test_timeout(self):
        self.check_timeout(self.is_held)

    def test_timeout_of_one_that_somebody_has_stopped(self):
        def is_stopped(run):
            child = self.is_held(run) and [p.pid for p in self.mine() if p.parent not in (run.pid, os.getpid())]
            for pid in child or ():
                signal_if_there(pid, signal.SIGSTOP)
            return child
        self.check_timeout(is_stopped)

    def wait_for_sitter(self, run):
        """The watchdog leaves the front end's group when the start takes long."""
        eventually(lambda: len([p for p in self.mine() if p.parent == run.pid and p.session == p.pid]) == 2,
                   "somebody who looks after the start")

    def test_signal(self):
        run = self.held()
        self.wait_for_sitter(run)
        run.kill(signal.SIGTERM)
        run.finish()
        self.assertEqual(run.code, -signal.SIGTERM)

    def test_front_end_killed(self):
        for late in (True, False):
            run = self.held()
            if late:
                self.wait_for_sitter(run)
            run.kill()
            self.assert_nothing_left()
            run.finish()


if __name__ == "__main__":
    main()
