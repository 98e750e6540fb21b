#!/usr/bin/env -S python3 -B
"""A person answers questions that an agent can't or must not answer: secrets, and those that [prompt] person
names. The person types at another terminal (terse attach). Input that is not echoed is kept nowhere."""

import contextlib
import os
import pty
import re
import select
import subprocess
import time

from support.harness import BUILD, DEADLINE, TERSE, Case, eventually, main, read_file, write_file

LONG = "1000s"
PLANTED = b"Pl4nted"  # what is looked for
SECRET = b"hunter2-" + PLANTED
ASKED = rb"\[terse: a secret is asked for; a person has to run: terse attach (cmd-[0-9a-z]{12})\]\n"

# Reads a line with echo off, as getpass(3) does, and says how long it was.
READER = 'read -rs%s -p "Secret: " x; echo; echo "got ${#x}"'


class Person:
    """A terminal with somebody at it who has typed `terse attach ID`."""

    def __init__(self, case, identifier, program=(TERSE,)):
        self.seen = bytearray()
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*program, "attach", identifier], cwd=case.work, env=case.env(TERM="xterm"),
            preexec_fn=lambda: os.login_tty(slave), pass_fds=[slave])
        os.close(slave)
        case.addCleanup(self.leave)

    def until(self, text):
        end = time.monotonic() + DEADLINE
        while not re.search(text, bytes(self.seen)):
            if time.monotonic() > end:
                raise AssertionError("%r did not come: %r" % (text, bytes(self.seen)))
            if select.select([self.master], [], [], 0.5)[0]:
                self.seen += os.read(self.master, 1 << 16)

    def type(self, data):
        os.write(self.master, data)

    def to_end(self):
        with contextlib.suppress(OSError):
            while data := os.read(self.master, 1 << 16):
                self.seen += data
        self.process.wait()
        return bytes(self.seen)

    def leave(self):
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.type(b"\x1c")
            self.to_end()
        with contextlib.suppress(OSError):
            os.close(self.master)


class PersonCase(Case):
    def configure(self, **keys):
        folder = os.path.join(self.home, "config", "terse")
        os.makedirs(folder, exist_ok=True)
        write_file(os.path.join(folder, "terse.ini"),
                   "[prompt]\n" + "".join("%s = %s\n" % pair for pair in keys.items()))

    def calls(self):
        """A command for [prompt] call, and what it was called with so far: a list for each call."""
        log, script = (os.path.join(self.dir, name) for name in ("calls", "call"))
        write_file(script, "#!/bin/sh\n{ printf '%%s|' \"$@\"; [ -t 0 ] || [ -t 1 ] || echo; } >>%s\n" % log, 0o755)
        write_file(log, "")
        return script, lambda: [line.split("|")[:-1] for line in read_file(log).decode().splitlines()]

    def start_(self, script, *options, **how):
        """Starts a command as an agent does that lets it go on; returns the ID that a person needs."""
        run = self.terse("--yield", LONG, *options, "-c", script, **how)
        self.assertEqual(run.code, 0, run.out)
        match = re.search(ASKED + rb"\Z", run.out)
        self.assertTrue(match, run.out)
        self.given.append(run.out)
        return match[1].decode()

    def setUp(self):
        super().setUp()
        self.given = []  # every byte that a client received

    def wired(self, script, *options):
        """A command of an agent that terse knows, without a terminal of its own."""
        return self.start("setsid", "-w", TERSE, *options, "-c", script, env={"CLAUDECODE": "1"})

    def await_(self, identifier, *options, **how):
        """Starts `terse await`; the supervisor knows of it."""
        run = self.start(TERSE, "await", identifier, *options, **how)
        folder = "/proc/%d/fd" % run.pid

        def connected():
            with contextlib.suppress(OSError):
                return any(os.readlink(os.path.join(folder, fd)).startswith("socket:")
                           for fd in os.listdir(folder) if int(fd) > 2)
        eventually(connected, "a connection")
        self.ask("list", "--live")
        return run

    def is_asked(self):
        """Whether a run waits for a person."""
        match = re.search(rb"a person has to run: terse attach (\S+)", self.ask("list", "--live"))
        return match and match[1].decode()


class Secret(PersonCase):
    def check(self, answer, *options, configured=True):
        """Answers by answer(ID), and looks for the secret everywhere."""
        if configured:
            self.configure(person="(?i)secret", call=self.calls()[0])
        trace = os.path.join(self.tmp, "trace")
        identifier = self.start_("printf 'before\\n'; " + READER % "", "--record", "--keep-raw", *options,
                                 env={"TERSE_DEBUG": trace})
        waiting = self.await_(identifier, env={"TERSE_DEBUG": trace})
        following = self.start(TERSE, "follow", identifier, "--for", ".", "--json")
        following.until(b'"asks"')
        answer(identifier)
        for run in waiting, following:
            self.given.append(run.finish().out)
        self.assertEqual(waiting.code, 0)
        self.assertIn(b"got %d\n" % len(SECRET), waiting.out)
        for verb in (("read", identifier), ("list",), ("show", identifier),
                     ("read", identifier, "--raw"), ("snapshot", identifier), ("report",), ("stats",)):
            done = self.terse(*verb)
            self.given.append(done.out + done.err)
        self.assertIn(b"got", b"".join(self.given))
        for given in self.given:
            self.assertNotIn(PLANTED, given)
        kinds = set()
        for top, _, names in os.walk(self.dir):
            for name in names:
                path = os.path.join(top, name)
                if os.path.isfile(path):
                    kinds.add(name.split(".", 1)[-1])
                    self.assertNotIn(PLANTED, read_file(path), path)
        self.assertTrue({"txt", "raw", "cast", "json"} <= kinds, kinds)
        self.assertGreater(os.path.getsize(trace), 1000)

    def by_attach(self, identifier):
        person = Person(self, identifier)
        person.until(b"Secret: ")
        # Key by key, with pauses in which terse looks again.
        person.type(SECRET[:4])
        self.assertTrue(self.is_asked())
        person.type(SECRET[4:] + b"\r")
        person.until(b"got")
        self.given.append(person.to_end())

    def by_send(self, identifier):
        for what in (SECRET, b"\n" + SECRET, "--text=%s" % SECRET.decode()):
            run = self.terse("send", identifier, what, "--key", "enter")
            self.assertEqual(run.code, 1, run.out)
            self.assertIn(b"a secret is asked for; a person has to run: terse attach " + identifier.encode(), run.out)
            self.given.append(run.out)
        run = self.terse("send", identifier, "--secret", "--file", "-", "--key", "enter", "--await", data=SECRET)
        self.assertEqual(run.code, 0, run.out)
        self.given.append(run.out)

    def test_attach(self):
        self.check(self.by_attach)

    def test_send(self):
        self.check(self.by_send)

    def test_nobody_is_configured(self):
        """The notice is the same, and names no way for the agent to type it."""
        self.check(self.by_attach, configured=False)

    def test_as_an_argument(self):
        def answer(identifier):
            self.given.append(self.ask("send", identifier, "--secret", SECRET.decode(), "--key", "enter"))
        self.check(answer)

    def test_json(self):
        identifier = re.search(rb"terse attach (cmd-\w+)", self.terse(
            "--yield", LONG, "--format", "json", "-c", READER % "").out)[1].decode()
        self.ask("send", identifier, "--key", "ctrl-c")

    def test_single_keys(self):
        """A program that reads keys itself, and says what for."""
        script = "stty -echo -icanon; printf 'Password: '; head -c %d >/dev/null; echo; stty sane" % len(SECRET)
        identifier = self.start_(script)
        run = self.terse("send", identifier, SECRET)
        self.assertEqual(run.code, 1, run.out)
        person = Person(self, identifier)
        person.until(b"Password: ")
        # Not yet an answer, though terse looks again.
        person.type(SECRET[:4])
        for _ in range(2):
            run = self.terse("await", identifier, "--timeout", "200ms")
            self.assertEqual(run.code, 124, run.out)
            self.assertRegex(run.out, ASKED)
        person.type(SECRET[4:])
        person.to_end()

    def test_echo_is_no_secret(self):
        run = self.terse("--yield", LONG, "-c", 'read -p "Password policy: " x; echo "$x"')
        self.assertIn(b'[terse: waiting for input: "Password policy: "; answer: terse send', run.out)
        identifier = re.search(rb"cmd-\w+", run.out)[0].decode()
        self.assertIn(b"\nlax\n", self.terse("send", identifier, "lax", "--key", "enter", "--await").out)


class Called(PersonCase):
    def test_who_is_called(self):
        call, called = self.calls()
        self.configure(person="^Unlock", call=call + " --urgent")
        identifier = self.start_(READER % "")
        eventually(lambda: called() == [["--urgent", "terse: Secret: ", "terse attach " + identifier]],
                   lambda: str(called()))
        run = self.terse("--yield", LONG, "-c", 'read -p "Unlock? " x; echo "$x"')
        other = re.search(rb'\n\[terse: a person is asked: "Unlock\? "; a person has to run: terse attach (\S+)\]\n\Z',
                          run.out)[1].decode()
        eventually(lambda: len(called()) == 2, lambda: str(called()))
        run = self.terse("--yield", LONG, "-c", 'read -p "Name: " x')
        third = re.search(rb"answer: terse send (\S+)", run.out)[1].decode()
        # The newest is a matter of the agent's.
        rows = [line for line in self.ask("list", "--live").decode().splitlines() if line.startswith("cmd-")]
        self.assertEqual([row.split()[0] for row in rows], [other, identifier, third])
        for limit in range(1, 4):
            run = self.terse("list", "--live", "--limit", str(limit))
            self.assertEqual(len(re.findall(rb"(?m)^cmd-", run.out)), limit)
            self.assertEqual(b"; more: " in run.out, limit < 3, run.out)
        # Not a secret: the agent can be told to answer it.
        self.ask("send", other, "yes", "--key", "enter")
        for one in identifier, third:
            self.ask("signal", one)
        self.assertEqual(len(called()), 2)

    def test_by_default(self):
        """notify-send, where there is one on PATH."""
        call, called = self.calls()
        os.rename(call, os.path.join(self.work, "notify-send"))
        self.configure(person="Secret")
        identifier = self.start_(READER % "", env={"PATH": "%s:%s" % (self.work, os.environ["PATH"])})
        eventually(called, "a call")
        self.ask("signal", identifier)
        self.configure(person="Secret", call="/nowhere/to/be/found")
        self.ask("signal", self.start_(READER % ""))

    def test_nobody(self):
        """Without a word about a person in the user's settings."""
        call, called = self.calls()
        os.rename(call, os.path.join(self.work, "notify-send"))
        identifier = self.start_(READER % "", env={"PATH": "%s:%s" % (self.work, os.environ["PATH"])})
        self.ask("signal", identifier)
        self.assertEqual(called(), [])

    def test_a_repository_can_not(self):
        call, called = self.calls()
        for line in "person = .", "call = " + call, "wait = 1h":
            write_file(os.path.join(self.work, ".terse.ini"), "[prompt]\n%s\n" % line)
            self.assertIn(b"not allowed in a project's file", self.terse("config", "check").out)
            self.ask("signal", self.start_(READER % "", env={"TERSE_PERSON": ".", "TERSE_CALL": call,
                                                            "TERSE_PROMPT_CALL": call}))
        self.assertEqual(called(), [])
        for flag in "--person", "--call":
            self.assertEqual(self.terse(flag, ".", "true").code, 125)

    def test_the_next_question_is_the_agents(self):
        self.configure(person="Secret")
        identifier = self.start_(READER % "" + '; read -p "name: " y; echo "$y"')
        run = self.await_(identifier)
        person = Person(self, identifier)
        person.until(b"Secret: ")
        person.type(SECRET + b"\r")
        run.finish()
        self.assertIn(b'[terse: waiting for input: "name: "; answer: terse send', run.out)
        self.assertIn(b"web\n[terse: exit 0]", self.terse("send", identifier, "web", "--key", "enter", "--await").out)
        self.assertNotIn(SECRET, self.artifact(identifier))

    def test_await_returns_when_it_was_answered(self):
        os.mkfifo(os.path.join(self.work, "gate"))
        identifier = self.start_(READER % "" + "; read x <gate; echo ready; sleep 1000")
        run, longer = self.await_(identifier), self.await_(identifier, "--for", "ready")
        self.terse("send", identifier, "--secret", "x", "--key", "enter")
        run.finish()
        self.assertEqual(run.code, 0)
        self.assertIn(b"got 1\n[terse: running after", run.out)
        # A line is still waited for.
        write_file(os.path.join(self.work, "gate"), b"\n")
        longer.finish()
        self.assertIn(b'[terse: found "ready"; running after', longer.out)
        self.ask("signal", identifier)

    def test_a_question_that_ends_by_itself(self):
        os.mkfifo(os.path.join(self.work, "gate"))
        program = ("import getpass, signal; signal.signal(signal.SIGUSR1, lambda *_: (print('on', flush=True), "
                   "open('gate').read())); getpass.getpass('Secret: ')")
        identifier = self.start_('exec python3 -c "%s"' % program)
        run = self.await_(identifier)
        self.ask("signal", identifier, "USR1")
        run.finish()
        self.assertIn(b"on\n[terse: running after", run.out)
        self.ask("signal", identifier)


class Wired(PersonCase):
    """An agent's command, where [prompt] person is set."""

    TTY = "(" + READER % "" + ") </dev/tty; echo end"

    def test_without_a_person(self):
        run = self.wired("read x </dev/tty || echo failed").finish()
        self.assertIn(b"/dev/tty: No such device or address\nfailed\n", run.out)

    def test_he_answers(self):
        call, called = self.calls()
        self.configure(person="^Secret", call=call, wait=LONG)
        run = self.wired(self.TTY)
        match = run.until(ASKED)
        eventually(lambda: called() == [["terse: Secret: ", "terse attach " + match[1].decode()]], "the call")
        person = Person(self, match[1].decode())
        person.until(b"Secret: ")
        person.type(SECRET + b"\r")
        run.finish()
        self.assertEqual(run.code, 0)
        self.assertTrue(run.out.endswith(b"\ngot %d\nend\n" % len(SECRET)), run.out)
        self.assertNotIn(SECRET, run.out + person.to_end())
        self.assertEqual(len(called()), 1)

    def test_he_does_not(self):
        """After `wait` this question and all others are at their end."""
        self.configure(person="^Secret", wait="100ms", call="true")
        run = self.wired(self.TTY + "; " + self.TTY).finish()
        self.assertEqual(run.code, 0)
        self.assertEqual(len(re.findall(ASKED, run.out)), 1, run.out)
        self.assertTrue(run.out.endswith(b"got 0\nend\nSecret: \ngot 0\nend\n"), run.out)

    def test_any_other_question_is_at_its_end(self):
        call, called = self.calls()
        self.configure(person="^Never", call=call)
        run = self.wired('for i in 1 2 3 4; do read -p "$i? " x </dev/tty; echo "status $?"; done; ' + self.TTY).finish()
        self.assertEqual(run.out, b"".join(b"%d? status 1\n" % i for i in range(1, 5)) + b"Secret: \ngot 0\nend\n")
        self.assertEqual(called(), [])

    def test_a_program_that_reads_keys_is_hung_up(self):
        self.configure(person="^Never")
        run = self.wired("vim -u NONE -N x; echo status $?").finish()
        self.assertRegex(run.out, rb"status [1-9]\d*\n")

    def test_all_else_is_as_before(self):
        self.configure(person="^Never")
        script = "cat; tty; [ -t 1 ] && echo terminal; stty -a <&1 | grep -c .; readlink /proc/self/fd/0; printf 'a\\nb\\tc\\r\\n'"
        self.assertIn(b"not a tty\nterminal\n", self.wired(script).finish().out)
        run = self.wired("seq 3; exit 3").finish()
        self.assertEqual((run.code, run.out), (3, b"1\n2\n3\n"))
        run = self.wired("sleep 1000 & echo $!; exit 0").finish()
        os.kill(int(run.out.split()[0]), 9)
        run = self.terse("--tty", "-c", "tty", env={"CLAUDECODE": "1"})
        self.assertRegex(run.out, rb"\A/dev/pts/")

    def test_handed_over_while_he_is_waited_for(self):
        """By terse-sh, for an agent (this process) that would end the call."""
        self.configure(person="^Secret", wait=LONG, call="true")
        with open(os.path.join(self.home, "config", "terse", "terse.ini"), "a", encoding="utf-8") as f:
            f.write("[agent mine]\nenvironment = MY_AGENT\nstring = {command}\nhand_over = 2s\n"
                    "process =\n\tpython3*\n\tperson.py\n")
        agent = {"MY_AGENT": "1", "SHELL": "/bin/bash"}
        run = self.run_to_end(os.path.join(BUILD, "terse-sh"), "-c", self.TTY, env=agent)
        self.assertEqual(run.code, 75, run.out)
        identifier = re.search(ASKED, run.out)[1].decode()
        person = Person(self, identifier)
        person.until(b"Secret: ")
        waiting = self.await_(identifier)
        person.type(SECRET + b"\r")
        waiting.finish()
        self.assertEqual(waiting.code, 0)
        self.assertTrue(waiting.out.endswith(b"got %d\nend\n[terse: exit 0]\n" % len(SECRET)), waiting.out)

    def test_one_who_is_there_decides(self):
        """While he is attached, no question is at its end; it is when he leaves."""
        self.configure(person="^Secret", wait=LONG, call="true")
        run = self.wired(self.TTY + '; read -p "Name: " x </dev/tty; echo "status $?"')
        identifier = run.until(ASKED)[1].decode()
        person = Person(self, identifier)
        person.until(b"Secret: ")
        person.type(b"x\r")
        eventually(lambda: b"Name: " in self.ask("list", "--live") and b"waiting" in self.ask("list", "--live"),
                   "the second question")
        person.leave()
        run.finish()
        self.assertTrue(run.out.endswith(b"Name: status 1\n"), run.out)


if __name__ == "__main__":
    main()
