#!/usr/bin/env -S python3 -B
"""Signals reach the same processes as without terse: every signal that can be caught, sent to terse alone or to
its process group, for a command and a child that handle it, ignore it, or do neither.

`make check-faults` does it with every layout of streams (FAULT_STEP=1); by default with one.
"""

import ctypes
import itertools
import os
import signal
import socket

from support.harness import (Case, DEADLINE, Process, TERSE, eventually, let_go_on, main,
                             read_file, signal_if_there)

# 32 and 33 are the C library's own.
CAUGHT = [s for s in list(range(1, 32)) + list(range(34, 65))
          if s not in (signal.SIGKILL, signal.SIGSTOP)]
STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
HARMLESS = (signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH)
LAST = signal.SIGRTMAX

# Options, and whether terse is the leader of its process group.
LAYOUTS = list(itertools.product([(), ("--tty",), ("--no-pty",), ("--streams=split",)],
                                 [True, False]))
if os.environ.get("FAULT_STEP") != "1":
    del LAYOUTS[1:]


def ignore_all():
    for sig in CAUGHT:
        signal.signal(sig, signal.SIG_IGN)


class Victim:
    """A command that reports its signals (helper/victim.c), with or without terse in front. It is the leader
    of its process group, or (`leads` is false) there is another one."""

    def __init__(self, case, front, mode, leads, ignores):
        self.leader = None
        if not leads:
            self.leader = case.start("sleep", "1000", before=self.join)
        self.told, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.told.settimeout(DEADLINE)
        self.run = case.start(*front, "victim", str(other.fileno()), mode, fds=(other.fileno(),),
                              before=lambda: (self.join(), ignores and ignore_all()))
        other.close()
        case.addCleanup(self.told.close)
        self.child = int(self.hear().split()[1])
        self.command = Process(self.child).parent
        # Terse has all its processes.
        if front:
            case.roles(self.run.pid)

    def join(self):
        os.setpgid(0, self.leader.pid if self.leader else 0)

    def hear(self):
        return self.told.recv(100).decode()

    def send(self, target, sig):
        if target == "pid":
            os.kill(self.run.pid, sig)
        else:
            # A leader that has ended keeps the number until it is waited for.
            os.killpg(self.leader.pid if self.leader else self.run.pid, sig)

    def queue(self, sig, value):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.sigqueue(self.run.pid, int(sig), ctypes.c_void_p(value)) < 0:
            raise OSError(ctypes.get_errno(), "sigqueue")

    def all_of(self, sends, per_signal):
        """The signals that both report when each of `sends` is called in turn, with `per_signal` answers
        waited for. The last signal goes to both, so earlier ones have been reported by then."""
        heard = []
        for send in sends:
            send()
            heard.append(sorted(self.hear() for _ in range(per_signal)))
        self.send("group", LAST)
        rest = []
        while not {"command %d" % LAST, "child %d" % LAST} <= set(rest):
            rest.append(self.hear())
        return heard + [sorted(rest)]

    def child_lives(self):
        """It answers; a signal that ends or stops it would have done so before."""
        try:
            self.told.send(b"?")
            self.told.settimeout(DEADLINE)
            return self.told.recv(100) == b"alive"
        except OSError:
            return False  # nobody has the other end

    def end(self):
        for pid in (self.command, self.child):
            signal_if_there(pid, signal.SIGKILL)
        self.run.finish()
        if self.leader:
            self.leader.kill()
            self.leader.finish()


class Sweep(Case):
    def each(self, mode, do, ignores=False):
        """do(victim) with terse, in every layout, is what it is without."""
        victim = Victim(self, (), mode, True, ignores)
        plain = do(victim)
        victim.end()
        for options, leads in LAYOUTS:
            with self.subTest(mode=mode, options=options, leads=leads):
                victim = Victim(self, (TERSE,) + options, mode, leads, ignores)
                self.assertEqual(do(victim), plain)
                victim.end()
        return plain

    def test_handled(self):
        for ignores in (False, True):
            for target, answers in (("pid", 1), ("group", 2)):
                heard = self.each("handled", lambda v: v.all_of(
                    [lambda s=s: v.send(target, s) for s in CAUGHT[:-1]], answers), ignores)
                self.assertEqual([len(h) for h in heard], [answers] * len(CAUGHT[:-1]) + [2])

    def test_ignored(self):
        for target in ("pid", "group"):
            def all_at_once(victim, target=target):
                for sig in CAUGHT[:-1]:
                    victim.send(target, sig)
                return victim.all_of([], 0)
            self.each("ignored", all_at_once)

    def test_default(self):
        for sig in CAUGHT:
            if sig in STOPS + HARMLESS:
                continue
            for target in ("pid", "group"):
                def one(victim, sig=sig, target=target):
                    victim.send(target, sig)
                    return victim.run.wait() & 0x7f, victim.child_lives()
                self.assertEqual(self.each("default", one), (sig, target == "pid"))

    def test_harmless(self):
        def do(victim):
            for sig in HARMLESS:
                for target in ("pid", "group"):
                    victim.send(target, sig)
            lives = victim.child_lives()
            victim.send("group", signal.SIGTERM)
            return lives, victim.run.wait(), victim.child_lives()
        self.assertEqual(self.each("default", do), (True, signal.SIGTERM, False))

    def test_stops(self):
        for sig in STOPS:
            for target in ("pid", "group"):
                def do(victim, sig=sig, target=target):
                    victim.send(target, sig)
                    eventually(lambda: Process(victim.command).state == "T", "a stopped command")
                    # Both are signalled in one call: a process that answers now was not.
                    if target == "pid":
                        self.assertTrue(victim.child_lives())
                    else:
                        eventually(lambda: Process(victim.child).state == "T", "a stopped child")
                    stopped = os.WIFSTOPPED(victim.run.wait(os.WUNTRACED))
                    victim.send("group", signal.SIGCONT)
                    eventually(lambda: Process(victim.command).state == "S", "a running command")
                    lives = victim.child_lives()
                    victim.send("group", signal.SIGTERM)
                    return stopped, lives, victim.run.wait()
                self.assertEqual(self.each("default", do), (True, True, signal.SIGTERM))

    def test_queued_with_values(self):
        def do(victim):
            sends = [lambda n=n: victim.queue(signal.SIGRTMIN + 1 + n % 2, n) for n in range(20)]
            return victim.all_of(sends + [lambda: victim.queue(signal.SIGUSR1, 7)], 1)
        heard = self.each("handled", do)
        self.assertEqual(heard[3], ["command %d 3 %d" % (signal.SIGRTMIN + 2, os.getpid())])

    def test_none_of_many_is_lost(self):
        def do(victim):
            for n in range(100):
                victim.queue(signal.SIGRTMIN, n)
            return victim.all_of([lambda: None] * 100, 1)
        self.each("handled", do)


class Stopped(Case):
    def test_supervisor_that_reads_later(self):
        """More than the socket holds waits in the front end, and is delivered in order."""
        victim = Victim(self, (TERSE,), "handled", True, False)
        supervisor = self.roles(victim.run.pid)[0]
        os.kill(supervisor, signal.SIGSTOP)
        for n in range(600):
            victim.queue(signal.SIGRTMIN, n)
        os.kill(supervisor, signal.SIGCONT)
        self.assertEqual([int(victim.hear().split()[2]) for _ in range(600)], list(range(600)))
        victim.end()

    def test_front_end_that_reads_later(self):
        """The command stops more often than the socket holds; its end is reported nevertheless."""
        run = self.start(TERSE, "sh", "-c", "echo ready; read x <fifo; exit 5",
                         before=lambda: os.mkfifo("fifo"))
        run.until(b"ready")
        command = self.roles(run.pid)[2]
        os.kill(run.pid, signal.SIGSTOP)
        for _ in range(600):
            os.kill(command, signal.SIGSTOP)
            os.kill(command, signal.SIGCONT)
        let_go_on(os.path.join(self.work, "fifo"))
        eventually(lambda: command not in [p.pid for p in self.mine()], "the command's end")
        os.kill(run.pid, signal.SIGCONT)
        run.finish()
        self.assertEqual((run.code, run.out), (5, b"ready\n"))


class Echo(Case):
    """A signal that a command sends to all does not come back to it (kill -TERM -1 hits terse, too)."""

    def is_taken(self, pid):
        """Whether the front end has read what it was sent."""
        status = read_file("/proc/%d/status" % pid).decode()
        return int(status.split("ShdPnd:")[1].split()[0], 16) == 0

    def test_own_signal(self):
        r, w = os.pipe()
        script = ("trap 'echo again' TERM USR1; trap 'exit 5' INT; echo ready; read front <&%d;"
                  " kill -TERM $front; kill -USR1 $front; echo sent; read x <&%d" % (r, r))
        run = self.start(TERSE, "bash", "-c", script, fds=(r,))
        os.close(r)
        run.until(b"ready")
        self.roles(run.pid)
        os.write(w, b"%d\n" % run.pid)
        run.until(b"sent")
        eventually(lambda: self.is_taken(run.pid), "both signals")
        run.kill(signal.SIGINT)
        run.finish()
        os.close(w)
        self.assertEqual((run.code, run.out), (5, b"ready\nsent\n"))


if __name__ == "__main__":
    main()
