#!/usr/bin/env -S python3 -B
"""Signals reach whom they would without terse: every one that can be caught, sent to terse alone or
to its process group, to a command and a child that handle it, ignore it, or do neither.

`make check-faults` does it with every layout of streams (FAULT_STEP=1); by default with one.
"""

import ctypes
import os
import signal
import socket

from support.harness import (Case, DEADLINE, Process, TERSE, eventually, main, read_file,
                             signal_if_there)

# 32 and 33 are the C library's own.
CAUGHT = [s for s in list(range(1, 32)) + list(range(34, 65))
          if s not in (signal.SIGKILL, signal.SIGSTOP)]
STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
HARMLESS = (signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH)
LAST = signal.SIGRTMAX

LAYOUTS = [(), ("--tty",), ("--no-pty",), ("--streams=split",)]
if os.environ.get("FAULT_STEP") != "1":
    del LAYOUTS[1:]


def ignore_all():
    os.setpgid(0, 0)
    for sig in CAUGHT:
        signal.signal(sig, signal.SIG_IGN)


def own_group():
    os.setpgid(0, 0)


class Victim:
    """A command that tells of its signals (helper/victim.c), with or without terse in front."""

    def __init__(self, case, front, mode, before=own_group):
        self.told, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.told.settimeout(DEADLINE)
        self.run = case.start(*front, "victim", str(other.fileno()), mode, before=before,
                              fds=(other.fileno(),))
        other.close()
        case.addCleanup(self.told.close)
        self.child = int(self.hear().split()[1])
        self.command = Process(self.child).parent
        # Terse has all its processes.
        if front:
            case.roles(self.run.pid)

    def hear(self):
        return self.told.recv(100).decode()

    def send(self, target, sig):
        (os.kill if target == "pid" else os.killpg)(self.run.pid, sig)

    def queue(self, sig, value):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.sigqueue(self.run.pid, int(sig), ctypes.c_void_p(value)) < 0:
            raise OSError(ctypes.get_errno(), "sigqueue")

    def all_of(self, sends, per_signal):
        """What both are told of when each of `sends` is called in turn and `per_signal` answers
        are waited for. The last signal is for both: what came before it has been told by then."""
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
        """It answers: what is to end or to stop it would do so before that."""
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


class Sweep(Case):
    def each(self, mode, do, before=own_group):
        """do(victim) with terse, in every layout, is what it is without."""
        victim = Victim(self, (), mode, before)
        plain = do(victim)
        victim.end()
        for options in LAYOUTS:
            with self.subTest(mode=mode, options=options):
                victim = Victim(self, (TERSE,) + options, mode, before)
                self.assertEqual(do(victim), plain)
                victim.end()
        return plain

    def test_handled(self):
        for before in (own_group, ignore_all):
            for target, answers in (("pid", 1), ("group", 2)):
                heard = self.each("handled", lambda v: v.all_of(
                    [lambda s=s: v.send(target, s) for s in CAUGHT[:-1]], answers), before)
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
                    # Both are signalled in one call.
                    child = Process(victim.child).state == "T"
                    stopped = os.WIFSTOPPED(victim.run.wait(os.WUNTRACED))
                    victim.send("group", signal.SIGCONT)
                    eventually(lambda: Process(victim.command).state == "S", "a running command")
                    lives = victim.child_lives()
                    victim.send("group", signal.SIGTERM)
                    return child, stopped, lives, victim.run.wait()
                self.assertEqual(self.each("default", do),
                                 (target == "group", True, True, signal.SIGTERM))

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


class Echo(Case):
    """What a command sends to all does not come back to it (kill -TERM -1 hits terse, too)."""

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
