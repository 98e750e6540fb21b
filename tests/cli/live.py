#!/usr/bin/env -S python3 -B
"""A command that goes on by itself: yield, detach, await, send, snapshot, signal, list --live."""

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading

from support.harness import Case, DEADLINE, TERSE, descriptors, eventually, let_go_on, main, numbers, read_file, \
    write_file

ID = rb"cmd-[0-9a-z]{12}"
RUNNING = (rb"\[terse: ((?:found|not found in [^:]+:) \"[^\n]*\"; |waited [^;]+; )?running after "
           rb"[^;]+; ([\d,]+) lines?, [^;]+; wait: terse await (" + ID + rb"); with that ID: "
           rb"(?:terse read ID --lines FROM-TO, )?terse send ID TEXT, terse snapshot, terse signal \(ends it\)\]\n\Z")
ASKS = (rb"\[terse: waiting for input: \"(.*)\"; answer: terse send (" + ID + rb") TEXT --key enter "
        rb"--await; with that ID: (?:terse read ID --lines FROM-TO, )?terse snapshot, terse signal \(ends it\)\]\n\Z")
SCREEN = (rb"\[terse: waiting for input; screen: terse snapshot (" + ID + rb"); with that ID: terse "
          rb"send ID TEXT --key enter --await, terse signal \(ends it\)\]\n\Z")

# Never reached by a test that works.
LONG = "1000s"

# As in supervisor/process/protocol.h.
VERSION = 2
STATUS, TYPE, SIGNAL, RESIZE, ATTACH, AWAKE, DONE = 0, 2, 4, 5, 7, 11, 13


def frame(kind, a=0, b=0, version=VERSION):
    return struct.pack("=HHii", kind, version, a, b)


def answer_as_another(listening):
    """Answers a request as a supervisor of another version does."""
    s = listening.accept()[0]
    with s:
        s.recv(65536)
        s.send(frame(DONE, 1, version=VERSION + 1))


class LiveCase(Case):
    def detach(self, *argv, **how):
        """Starts a command by itself; returns its ID."""
        run = self.terse("--detach", *argv, **how)
        self.assertEqual(run.code, 0, run.out)
        match = re.search(RUNNING, run.out)
        self.assertTrue(match, run.out)
        return match[3].decode()

    def await_(self, identifier, *options, code=0):
        run = self.terse("await", identifier, *options)
        self.assertEqual(run.code, code, run.out)
        return run.out

    def send(self, identifier, *what):
        self.ask("send", identifier, *what)

    def asked(self, out, prompt):
        match = re.search(ASKS, out)
        self.assertTrue(match, out)
        self.assertEqual(match[1].decode(), prompt)
        return match[2].decode()

    def asked_for_secret(self, out, text):
        """What was printed: the text, and that a person has to answer."""
        match = re.fullmatch(re.escape(text) + rb"\n\[terse: a secret is asked for; a person has to run: "
                             rb"terse attach (cmd-\w+)\]\n", out)
        self.assertTrue(match, out)
        return match[1].decode()

    def left(self):
        """The runs that are left; their supervisors end a moment later."""
        return [p.pid for p in self.mine() if p.name != "terse"]

    def status(self, identifier):
        """The state of the run and its lines, from its socket, as in supervisor/process/protocol.h."""
        with self.connect(identifier) as s:
            s.send(frame(STATUS))
            _, state, _, _, _, _, _, lines = struct.unpack_from("@17si256siiqqQ", s.recv(65536), 12)
            return {"state": ("running", "waiting", "stopped", "ended")[state], "lines": lines}

    def connect(self, identifier):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(DEADLINE)
        here = os.getcwd()
        os.chdir(os.path.join(self.store, "live"))
        try:
            s.connect(identifier)
        finally:
            os.chdir(here)
        return s

    def until_state(self, identifier, state):
        eventually(lambda: self.status(identifier)["state"] == state, "state " + state)


class Yield(LiveCase):
    def test_a_command_that_ends_in_time(self):
        run = self.terse("--yield", LONG, "sh", "-c", "echo hello; exit 3")
        self.assertEqual((run.code, run.out), (3, b"hello\n"))

    def test_it_goes_on(self):
        os.mkfifo(os.path.join(self.work, "go"))
        run = self.terse("--yield", "1ms", "sh", "-c", "echo hello; read x <go; echo on; exit 3")
        self.assertEqual(run.code, 0)
        match = re.search(RUNNING, run.out)
        self.assertTrue(match, run.out)
        identifier = match[3].decode()
        self.assertIn(identifier.encode(), self.ask("list", "--live"))
        let_go_on(os.path.join(self.work, "go"))
        out = self.await_(identifier, code=3)
        self.assertIn(b"on\n[terse: exit 3]\n", out)
        self.assertEqual(self.artifact(identifier), b"hello\non\n")
        self.assert_nothing_left()
        self.assertEqual(os.listdir(os.path.join(self.store, "live")), [])

    def test_a_list_since_a_time(self):
        """It has what lives, however early that began, and does not read what ended long before."""
        old = self.detach("sleep", "1000")
        self.assertEqual(self.terse("true").code, 0)
        journal = os.path.join(self.store, "sessions", "default", "journal.jsonl")
        write_file(journal, b"damaged\n" + read_file(journal))
        self.assertIn(b"damaged lines skipped: 1", self.terse("list").out)
        run = self.terse("list", "--since", "2999-01-01", "--until", "2999-01-02")
        self.assertEqual(re.findall(rb"(?m)^cmd-\w+|damaged", run.out), [old.encode()])
        self.ask("signal", old)
        self.assertIn(b"no such run", self.terse("list", "--since", "2999-01-01").out)

    def test_yield_status(self):
        run = self.terse("--yield", "1ms", "--yield-status", "77", "sleep", "1000")
        self.assertEqual(run.code, 77)
        self.ask("signal", re.search(RUNNING, run.out)[3].decode())

    def test_a_long_text_so_far(self):
        run = self.terse("--yield", LONG, "bash", "-c", "seq 3000; read -p 'on? ' x; seq 3000 6000")
        self.assertEqual(run.code, 0)
        identifier = self.asked(run.out, "on? ")
        self.assertTrue(run.out.startswith(b"1\n2\n"))
        self.assertRegex(run.out, rb"\[\.\.\. lines [^:\n]+: terse read " + identifier.encode())
        self.assertIn(b"\n3000\non?", run.out)
        self.send(identifier, "--key", "enter")
        out = self.await_(identifier)
        # Text is shown once, and lines are numbered as in the text.
        self.assertTrue(out.startswith(b"on? \n3000\n3001\n"), out[:100])
        marker = re.search(rb"\[\.\.\. lines (\d+)-\d+[^:\n]*: terse read \S+ --lines \d+-\d+\]", out)
        first = out[:marker.start()].count(b"\n")
        self.assertEqual(int(marker[1]), 3001 + first)
        text = self.artifact(identifier)
        self.assertEqual(text, numbers(3000) + b"on? \n" +
                         b"".join(b"%d\n" % n for n in range(3000, 6001)))

    def test_as_json(self):
        run = self.terse("--format", "json", "--yield", LONG, "--streams", "merged", "bash", "-c",
                         "echo hello; read -p 'Name? ' x; exit 4")
        self.assertEqual(run.code, 0)
        told = json.loads(run.out)
        identifier = told["artifact"]["id"]
        self.assertEqual((told["state"], told["stdout"]), ("running", "hello\nName? "))
        self.assertFalse({"exit_code", "signal", "success", "ended"} & set(told), told)
        self.assertEqual(told["warnings"], ['waiting for input: "Name? "; answer: terse send %s '
                                            "TEXT --key enter --await" % identifier])
        self.send(identifier, "--key", "enter")
        self.await_(identifier, code=4)

    def test_front_end_killed_after_the_yield(self):
        """The run needs nothing from its caller any more."""
        run = self.start("sh", "-c", "terse --yield 1ms sleep 1000; kill -KILL 0",
                         before=os.setsid)
        run.finish()
        identifier = re.search(ID, run.out)[0].decode()
        self.assertEqual(self.status(identifier)["state"], "running")
        self.ask("signal", identifier)

    def test_it_ends_with_the_agent(self):
        """A run that yields by a rule, and not because somebody asked for that."""
        os.makedirs(os.path.join(self.home, "config", "terse"))
        write_file(os.path.join(self.home, "config", "terse", "terse.ini"),
                   "[agent mine]\nenvironment = MINE\nstring = {command}\nprocess = mine\nyield = 1ms\n")
        os.symlink("/bin/bash", os.path.join(self.work, "mine"))
        for options, ends in (("", True), ("terse --detach", False), ("terse --yield 1ms", False)):
            command = "%s sleep 1000" % options if options else "terse-sh -c 'sleep 1000'"
            run = self.start("./mine", "-c", "%s; read x; exit 0" % command, env={"MINE": "1"}, stdin=subprocess.PIPE)
            identifier = run.until(ID)[0].decode()
            self.assertEqual(self.status(identifier)["state"], "running")
            run.popen.stdin.close()
            run.finish()
            if ends:
                eventually(lambda: not self.left(), "the end of the command")
                eventually(lambda: self.metadata(identifier)["state"] == "interrupted", "its end in the store")
            else:
                self.assertEqual(self.status(identifier)["state"], "running")
                self.ask("signal", identifier)

    def test_a_program_gets_its_text_and_nothing_else(self):
        run = self.with_time(lambda limit: self.shell(
            "terse --yield %s sh -c 'echo hello; sleep 1000' | cat" % limit, split=True), lambda run: run.out)
        self.assertEqual(run.out, b"hello\n")
        self.assertRegex(run.err, rb"\A\[terse: running [^\n]+\]\n\Z")
        identifier = self.ask("list", "--live").split()[7].decode()
        self.ask("signal", identifier)

    def test_no_place_for_a_socket(self):
        """It can't be reached then, so the caller waits."""
        write_file(self.store, "")
        env = {"HOME": None, "XDG_STATE_HOME": None, "XDG_RUNTIME_DIR": None,
               "TMPDIR": self.store}
        run = self.terse("--yield", "1ms", "sh", "-c", "sleep 0.3; echo hello; exit 3", env=env)
        self.assertEqual((run.code, run.out), (3, b"hello\n"))


class Detach(LiveCase):
    def test_ends_at_once(self):
        identifier = self.detach("sh", "-c", "echo hello; sleep 1000")
        self.await_(identifier, "--for", "hello")
        self.ask("signal", identifier)
        self.assert_nothing_left()

    def test_a_program_gets_the_id(self):
        run = self.shell("id=$(terse --detach sh -c 'echo hello; exit 4'); echo $id;"
                         " terse await $id | cat; terse await $id >/dev/null; echo $?")
        lines = run.out.split(b"\n")
        self.assertRegex(lines[0], rb"\A" + ID + rb"\Z")
        self.assertEqual(lines[1:], [b"hello", b"[terse: exit 4]", b"4", b""])

    def test_inside_of_terse(self):
        """As an agent's command line that is supervised already has it."""
        for option in (["--detach"], ["--yield", "1ms"]):
            run = self.terse("sh", "-c", "terse %s sleep 1000; echo status $?" % " ".join(option))
            self.assertEqual(run.code, 0)
            self.assertRegex(run.out, rb"(?s)\A\[terse: running .*\]\nstatus 0\n\Z")
            self.ask("signal", re.search(ID, run.out)[0].decode())
        self.assertEqual(self.terse("sh", "-c", "TERSE=0 terse --detach sleep 0").out, b"")

    def test_not_found(self):
        run = self.terse("--detach", "no-such-command")
        self.assertEqual(run.code, 127)
        self.assertIn(b"command not found", run.out)

    def test_holds_nothing_of_the_callers(self):
        run = self.terse("--detach", "sleep", "1000", kind="pipe", split=True)
        identifier = re.search(ID, run.out)[0].decode()
        for process in self.mine():
            for link in descriptors(process.pid).values():
                self.assertFalse(link.startswith("pipe:") and process.name != "terse", link)
        self.ask("signal", identifier)

    def test_killed_supervisor(self):
        """The watchdog ends the command; the socket that is left is no obstacle."""
        identifier = self.detach("sleep", "1000")
        os.kill(self.metadata(identifier)["process.parent_pid"], signal.SIGKILL)
        self.assert_nothing_left()
        run = self.terse("list", "--live", split=True)
        self.assertEqual((run.code, run.out, run.err), (0, b"", b"terse list: nothing runs\n"))
        self.assertEqual(os.listdir(os.path.join(self.store, "live")), [])
        run = self.terse("send", identifier, "x")
        self.assertEqual((run.code, run.out), (1, b"terse send: %s: has ended (terse read %s)\n" %
                                               (identifier.encode(), identifier.encode())))
        self.await_(identifier, code=125)

    def test_yes_for_ever_with_a_cap(self):
        identifier = self.detach("--max-artifact", "64KB", "yes")
        eventually(lambda: self.status(identifier)["lines"] > 100000, "many lines")
        self.ask("signal", identifier)


class Prompts(LiveCase):
    """Each prompt is reported, though the time to yield is far away."""

    def start_(self, *argv, **how):
        run = self.terse("--yield", LONG, *argv, **how)
        self.assertEqual(run.code, 0, run.out)
        return run.out

    def test_read(self):
        out = self.start_("bash", "-c", "read -p 'Name? ' x; echo hi $x")
        self.assertTrue(out.startswith(b"Name? \n[terse: "))
        identifier = self.asked(out, "Name? ")
        self.send(identifier, "joe", "--key", "enter")
        self.assertEqual(self.await_(identifier), b"Name? joe\nhi joe\n[terse: exit 0]\n")

    def test_one_after_the_other(self):
        out = self.start_("bash", "-c", "for i in 1 2 3; do read -p \"$i? \" x; done; echo $x")
        for i in (1, 2, 3):
            identifier = self.asked(out, "%d? " % i)
            self.send(identifier, "answer", "--key", "enter")
            out = self.await_(identifier)
        self.assertTrue(out.endswith(b"answer\n[terse: exit 0]\n"), out)

    def test_password(self):
        script = "import getpass; print(getpass.getpass()[::-1])"
        identifier = self.asked_for_secret(self.start_("python3", "-c", script), b"Password: ")
        run = self.terse("send", identifier, "secret", "--key", "enter")
        self.assertEqual((run.code, run.out), (1, b"terse send: %s: a secret is asked for; a person has to run: "
                                               b"terse attach %s\n" % ((identifier.encode(),) * 2)))
        self.send(identifier, "--secret", "secret", "--key", "enter")
        self.assertEqual(self.await_(identifier), b"Password: \nterces\n[terse: exit 0]\n")

    def test_ssh_keygen(self):
        out = self.start_("ssh-keygen", "-q", "-t", "ed25519", "-f", "key")
        identifier = self.asked_for_secret(out, b"Enter passphrase (empty for no passphrase): ")
        self.send(identifier, "--key", "enter")
        self.asked_for_secret(self.await_(identifier),
                              b"Enter passphrase (empty for no passphrase): \nEnter same passphrase again: ")
        self.send(identifier, "--key", "enter")
        self.await_(identifier)
        self.assertTrue(os.path.exists(os.path.join(self.work, "key.pub")))

    def test_python(self):
        """Waits in poll, with its terminal raw."""
        identifier = self.asked(self.start_("python3", "-q"), ">>> ")
        self.send(identifier, "6*7", "--key", "enter")
        out = self.await_(identifier)
        self.assertIn(b"6*7\n42\n", out)
        self.asked(out, ">>> ")
        self.send(identifier, "--eof")
        self.await_(identifier)

    def test_editor_of_a_commit(self):
        self.run_to_end("git", "init", "-q", ".")
        env = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_EDITOR":
               "vim -u NONE", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}
        out = self.start_("git", "commit", "--allow-empty", env=env)
        match = re.search(SCREEN, out)
        self.assertTrue(match, out)
        identifier = match[1].decode()
        self.assertIn(b"# Please enter the commit message", self.ask("snapshot", identifier))
        self.send(identifier, "iA message", "--key", "escape", ":wq", "--key", "enter")
        self.assertIn(b"A message\n[terse: exit 0]\n", self.await_(identifier))

    def test_ssh_to_an_unknown_host(self):
        """It asks on /dev/tty, whatever its standard input is."""
        sshd = shutil.which("sshd", path="/usr/sbin:" + os.environ["PATH"])
        if not sshd:
            self.skipTest("no sshd")
        self.run_to_end("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key")
        config = write_file(os.path.join(self.work, "config"), "")
        server = "%s -i -f %s -h %s" % (sshd, config, os.path.join(self.work, "key"))
        if os.getuid() == 0:
            os.makedirs("/run/sshd", 0o755, exist_ok=True)
        out = self.start_("ssh", "-F", "none", "-o", "ProxyCommand=" + server, "-o",
                          "UserKnownHostsFile=" + os.path.join(self.work, "hosts"), "-o",
                          "BatchMode=no", "-o", "PreferredAuthentications=publickey", "host")
        identifier = self.asked(out, "Are you sure you want to continue connecting "
                                "(yes/no/[fingerprint])? ")
        self.send(identifier, "yes", "--key", "enter")
        out = self.await_(identifier, code=255)
        self.assertIn(b"Permanently added 'host'", out)
        self.assertTrue(os.path.getsize(os.path.join(self.work, "hosts")))

    def test_npm_init(self):
        """Node waits in epoll, with its terminal raw."""
        if not shutil.which("npm"):
            self.skipTest("no npm")
        os.mkdir(os.path.join(self.work, "thing"))
        out = self.start_("npm", "init", cwd=os.path.join(self.work, "thing"),
                          env={"npm_config_update_notifier": "false"})
        identifier = self.asked(out, "package name: (thing) ")
        self.send(identifier, "other", "--key", "enter")
        self.asked(self.await_(identifier), "version: (1.0.0) ")
        for _ in range(20):
            self.send(identifier, "--key", "enter")
            last = self.terse("await", identifier).out
            if b"waiting for input" not in last:
                break
        with open(os.path.join(self.work, "thing", "package.json"), "rb") as f:
            self.assertEqual(json.load(f)["name"], "other")

    def test_apt_like_question(self):
        """A process of the group reads; the pipe in front of it does not matter."""
        script = "echo Need to get 5 MB.; printf 'Do you want to continue? [Y/n] '; read x; echo $x"
        identifier = self.asked(self.start_("sh", "-c", "sh -c \"$0\" | cat", script),
                                "Do you want to continue? [Y/n] ")
        self.send(identifier, "n", "--key", "enter")
        self.assertIn(b"[Y/n] n\nn\n[terse: exit 0]", self.await_(identifier))

    def test_only_with_a_terminal(self):
        run = self.terse("--tty", "bash", "-c", "read -p 'Name? ' x")
        self.assertEqual(run.code, 0)
        self.send(self.asked(run.out, "Name? "), "--eof")

    def test_prompt_await(self):
        os.mkfifo(os.path.join(self.work, "go"))
        run = self.start(TERSE, "--tty", "--prompt", "await", "bash", "-c",
                         "{ read x <go; kill -TERM $$; } & read -p 'Name? ' x </dev/tty")
        live = []

        def waits():
            live[:] = self.ask("list", "--live").split()
            return b"waiting" in live
        eventually(waits, lambda: str(live))
        let_go_on(os.path.join(self.work, "go"))
        run.finish()
        self.assertEqual(run.code, -signal.SIGTERM)

    def test_prompt_eof(self):
        run = self.terse("--tty", "--prompt", "eof", "bash", "-c",
                         "read -p 'Name? ' x || exit 9")
        self.assertEqual((run.code, run.out), (9, b"Name? "))

    def test_prompt_eof_that_does_not_help(self):
        run = self.terse("--tty", "--prompt", "eof", "--grace", "100ms", "sh", "-c",
                         "while :; do printf 'More? '; read x; done")
        self.assertNotEqual(run.code, 0)

    def test_prompt_fail(self):
        run = self.terse("--tty", "--prompt", "fail", "bash", "-c", "read -p 'Name? ' x")
        self.assertEqual(run.code, -signal.SIGHUP)
        self.assertRegex(run.out, rb"(?s)Name\? .*killed by SIGHUP \(waited for input: \"Name\? "
                                  rb"\"\)")

    def test_a_command_that_works_is_not_waiting(self):
        """A pipe that is read, a child that is waited for, a sleep: no input is asked."""
        os.mkfifo(os.path.join(self.work, "go"))
        identifier = self.detach("sh", "-c", "printf 'Working: '; read x <go; echo done")
        self.assertEqual(self.await_(identifier, "--idle", "700ms").count(b"waiting"), 0)
        self.assertEqual(self.status(identifier)["state"], "running")
        let_go_on(os.path.join(self.work, "go"))
        self.await_(identifier)


class Await(LiveCase):
    def test_for_a_line(self):
        os.mkfifo(os.path.join(self.work, "go"))
        identifier = self.detach("sh", "-c", "echo start; read x <go; echo listening on 80; "
                                 "sleep 1000")
        waiter = self.start(TERSE, "await", identifier, "--for", r"listening on \d+")
        eventually(lambda: self.status(identifier)["lines"] == 1, "the first line")
        let_go_on(os.path.join(self.work, "go"))
        waiter.finish()
        self.assertEqual(waiter.code, 0)
        match = re.search(RUNNING, waiter.out)
        self.assertEqual(match[1], b'found "listening on 80"; ', waiter.out)
        # Once more: it is still there; and what is new is nothing.
        again = self.await_(identifier, "--for", r"listening on \d+")
        self.assertEqual(again.count(b"listening on 80"), 1)
        self.ask("signal", identifier)

    def test_for_a_line_that_is_not_finished(self):
        identifier = self.detach("sh", "-c", "printf 'ready: '; sleep 1000")
        self.assertIn(b'found "ready: "', self.await_(identifier, "--for", "^ready: $"))
        self.ask("signal", identifier)

    def test_for_a_line_that_does_not_come(self):
        identifier = self.detach("echo", "hello")
        self.assertTrue(self.await_(identifier, "--for", "good bye", code=1).endswith(
            b'[terse: exit 0 (not found: "good bye")]\n'))
        self.assertIn(b"hello", self.await_(identifier, "--for", "hello"))

    def test_for_a_line_of_a_background_process(self):
        """The command itself has ended long since."""
        os.mkfifo(os.path.join(self.work, "go"))
        run = self.terse("sh", "-c", "{ read x; echo listening on 80; read x; } <go & "
                         "echo started; sleep 0.2")
        self.assertEqual((run.code, run.out.splitlines()[0]), (0, b"started"))
        identifier = self.ask("list", "--live").split()[7].decode()
        waiter = self.start(TERSE, "await", identifier, "--for", "listening")
        with open(os.path.join(self.work, "go"), "wb", buffering=0) as go:
            go.write(b"on\n")
            waiter.finish()
            self.assertEqual(waiter.code, 0)
            self.assertIn(b"listening on 80\n[terse: exit 0]\n", waiter.out)

    def test_for_a_line_in_much_text(self):
        identifier = self.detach("sh", "-c", "seq 300000; echo here it is; seq 300000; sleep 1000")
        self.assertIn(b'found "here it is"', self.await_(identifier, "--for", "it is$"))
        self.ask("signal", identifier)

    def test_offset(self):
        identifier = self.detach("sh", "-c", "echo ready; echo ready; sleep 1000")
        eventually(lambda: self.status(identifier)["lines"] == 2, "two lines")
        self.await_(identifier, "--for", "ready", "--offset", "2")
        self.await_(identifier, "--for", "ready", "--offset", "3", "--timeout", "300ms", code=124)
        self.ask("signal", identifier)

    def test_timeout(self):
        identifier = self.detach("sleep", "1000")
        out = self.await_(identifier, "--timeout", "1ms", code=124)
        self.assertRegex(re.search(RUNNING, out)[1], rb"\Awaited [\d.]+ m?s; \Z")
        out = self.await_(identifier, "--timeout", "1100ms", "--for", "ready", code=124)
        match = re.search(RUNNING, out)
        self.assertRegex(match[1], rb'\Anot found in [1-9][^:]*: "ready"; \Z')
        # As long as it has run by now, not when it was asked.
        self.assertRegex(out, rb"; running after ([1-9]\.\d|\d\d+\.\d) s;")
        self.ask("signal", identifier)

    def test_send_and_await(self):
        out = self.terse("--yield", LONG, "bash", "-c", "for i in 1 2; do read -p \"$i? \" x; echo got "
                         "$x; done").out
        identifier = self.asked(out, "1? ")
        out = self.terse("send", identifier, "one", "--key", "enter", "--await").out
        self.assertTrue(out.startswith(b"1? one\ngot one\n"), out)
        self.assertTrue(out.endswith(b'\n[terse: waiting for input: "2? "]\n'), out)
        run = self.terse("send", identifier, "--await", "--timeout", "1ms", "x", "--for", "never")
        self.assertEqual(run.code, 124)
        self.assertIn(b'not found in ', run.out)
        run = self.terse("send", identifier, "two", "--key", "enter", "--await")
        self.assertEqual(run.code, 0)
        self.assertTrue(run.out.endswith(b"got xtwo\n[terse: exit 0]\n"), run.out)
        run = self.terse("send", identifier, "x", "--for", "y")
        self.assertEqual(run.code, 125)
        self.assertIn(b"--for: needs --await", run.out)

    def test_send_for(self):
        """What was there before, and the echo of what was typed, is no answer."""
        python = "exec %s -q" % sys.executable
        for command, asks, typed, found in (
                ('read -p "ready? " x; echo "it is ready"; sleep 1000', "ready? ", "say  ready", "it is ready"),
                ('read -p "ready? " x; sleep 1000', "ready? ", "ready", None),
                ("echo '>'; cat", ">", "ready", "ready"),
                ("echo '>'; cat", ">", "x" * 300 + " ready", "x" * 16),
                (python, ">>> ", 'print("rea" + "dy!")  # ready', "ready!"),
                (python, ">>> ", "import time; time.sleep(1000)  # ready", None),
                ("echo '>'; stty -echo; read x; echo ready to go; sleep 1000", ">", "secret", "ready to go"),
                ("echo '>'; stty -echo -icanon; read -n 1 x; echo yes, ready; sleep 1000", ">", "y", "yes, ready")):
            with self.subTest(command=command, typed=typed):
                identifier = self.detach("bash", "-c", command)
                self.await_(identifier, "--for", re.escape(asks))
                secret = ("--secret",) if typed == "secret" else ()
                run = self.terse("send", identifier, *secret, typed, "--key", "enter", "--await", "--for", "ready",
                                 "--timeout", LONG if found else "300ms")
                self.ask("signal", identifier)
                self.assertIn(b'[terse: found "%s' % found.encode() if found else b"[terse: not found in ", run.out)
                self.assertLessEqual(len(run.out.splitlines(True)[-1]), 60)

    def test_what_lives_did_not_end_before(self):
        lives = self.detach("sh", "-c", "seq 9000; exec sleep 1000")
        self.await_(lives, "--for", "9000")
        self.terse("seq", "3000")
        listed = json.loads(self.ask("list", "--since", "1ms", "--json"))["data"]["runs"]
        self.assertEqual([(run["id"], run["state"]) for run in listed], [(lives, "running")])
        self.terse("signal", lives)

    def test_status_after_signal(self):
        """0 where this session's own terse signal ended the run, else the run's."""
        ready = os.path.join(self.work, "ready")
        other = {"TERSE_SESSION": "other"}
        for traps, signals, env, code in (
                (":", [()], None, 0), (":", [("KILL",)], None, 0), ("trap 'exit 130' INT", [("INT",)], None, 0),
                ("trap : HUP", [("HUP",), ()], None, 0), ("trap : HUP", [("HUP",), ("KILL",)], other, 137),
                (":", [()], other, 143), ("trap 'exit 3' HUP", [("HUP",)], None, 3)):
            identifier = self.detach("sh", "-c", traps + "; touch ready; while :; do sleep 0.01; done")
            eventually(lambda: os.path.exists(ready), "its traps")
            os.unlink(ready)
            waiter = self.start(TERSE, "await", identifier)
            for words in signals:
                done = self.terse("signal", identifier, *words, env=env)
                self.assertEqual((done.code, done.out), (0, b""), traps)
            self.assertEqual(waiter.finish().code, code, traps)
            self.assertRegex(self.await_(identifier, code=code), rb"\[terse: (killed by|exit) \w+\]\n\Z")
            # Of another session the status is the run's.
            self.assertGreaterEqual(self.terse("await", identifier, env=other).code, 3, traps)

    def test_timeout_of_the_run(self):
        run = self.with_time(lambda limit: self.terse("--detach", "--timeout", limit, "--grace", "100ms", "sleep", "1000"),
                             lambda run: run.code == 0)
        self.assertIn(b"timed out", self.await_(re.search(RUNNING, run.out)[3].decode(), code=124))

    def test_two_at_once(self):
        os.mkfifo(os.path.join(self.work, "go"))
        identifier = self.detach("sh", "-c", "read x <go; exit 5")
        waiters = [self.start(TERSE, "await", identifier) for _ in range(2)]
        eventually(lambda: sum(p.argv[1:2] == ["await"] for p in self.mine()) == 2, "both")
        let_go_on(os.path.join(self.work, "go"))
        for waiter in waiters:
            self.assertEqual(waiter.finish().code, 5)

    def test_a_stopped_supervisor(self):
        """A verb reports this and does not hang; who follows the text waits until it goes on."""
        identifier = self.detach("sh", "-c", "echo ready; exec sleep 1000")
        supervisor = self.metadata(identifier)["process.parent_pid"]
        os.kill(supervisor, signal.SIGSTOP)
        reader = self.start(TERSE, "follow", identifier, "--for", "ready")
        eventually(lambda: any(p.argv[1:2] == ["follow"] for p in self.mine()), "it follows")
        run = self.terse("snapshot", identifier)
        self.assertEqual((run.code, run.out), (1, b"terse snapshot: %s: its supervisor does not answer\n"
                                               % identifier.encode()))
        os.kill(supervisor, signal.SIGCONT)
        reader.until(b"ready\n")
        self.ask("signal", identifier)
        self.assertEqual(reader.finish().code, 0)

    def test_bad_usage(self):
        for argv in (["await"], ["await", "x", "y"], ["await", "x", "--timeout", "abc"],
                     ["await", "x", "--for", "("], ["send", "x"], ["send", "x", "--key", "entr"],
                     ["send", "x", "--key"], ["send", "x", "--bad"], ["signal"],
                     ["signal", "x", "NOSUCH"], ["snapshot"], ["attach"],
                     ["list", "--host", "x"], ["attach", "x"]):
            run = self.terse(*argv)
            self.assertEqual(run.code, 125, argv)
            self.assertRegex(run.out, rb"\Aterse " + argv[0].encode() + rb": [^\n]+\n\Z")

    def test_no_such_run(self):
        for argv in (["await", "cmd-zzzz"], ["send", "last", "x"], ["signal", "nothing"]):
            run = self.terse(*argv)
            self.assertEqual(run.code, 1)
            self.assertIn(b"no such artifact", run.out)


class Signal(LiveCase):
    def test_ended_once_signal_returns(self):
        for _ in range(10):
            identifier = self.detach("sleep", "1000")
            self.ask("signal", identifier)
            self.assertEqual(self.ask("read", identifier), b"")
            self.assertIn(b"SIGTERM", self.ask("list", "--limit", "1"))

    def test_the_whole_tree(self):
        """Also processes that left the process group, ignore what they can, or are stopped."""
        script = ("sleep 1000 & bash -c 'set -m; sleep 1001 & wait' &"
                  " sh -c 'trap \"\" HUP TERM INT; echo x >r1; while :; do sleep 0.05; done' &"
                  " sh -c 'echo x >r2; kill -STOP $$' &"
                  " while [ ! -s r1 ] || [ ! -s r2 ]; do sleep 0.01; done; echo ready; wait")
        identifier = self.detach("--grace", "100ms", "sh", "-c", script)
        self.await_(identifier, "--for", "^ready$")
        self.ask("signal", identifier)
        self.assertEqual(self.left(), [])

    def test_a_daemon_is_left_alone(self):
        script = ("setsid sh -c 'echo $$ >pid; exec sleep 1000' >/dev/null 2>&1 & "
                  "while [ ! -s pid ]; do sleep 0.01; done; echo ready; sleep 1000")
        identifier = self.detach("sh", "-c", script)
        self.await_(identifier, "--for", "ready")
        self.ask("signal", identifier)
        daemon = int(read_file(os.path.join(self.work, "pid")))
        self.assertEqual(self.left(), [daemon])
        self.kill_all()

    def test_background_processes_of_an_ended_command(self):
        run = self.terse("sh", "-c", "echo hello; sleep 1000 & sleep 0.2")
        self.assertEqual(run.code, 0)
        identifier = self.ask("list", "--live").split()[7].decode()
        self.assertEqual(self.status(identifier)["state"], "ended")
        self.ask("signal", identifier)
        self.assertEqual(self.left(), [])

    def test_by_name(self):
        script = "trap 'echo got USR1' USR1; trap 'echo got INT; exit 6' INT; echo ready; " \
                 "while :; do sleep 0.02; done"
        identifier = self.detach("sh", "-c", script)
        self.await_(identifier, "--for", "ready")
        self.ask("signal", identifier, "usr1")
        self.await_(identifier, "--for", "got USR1")
        self.ask("signal", identifier, "SIGINT")
        self.await_(identifier, code=6)


class Screen(LiveCase):
    def test_snapshot(self):
        script = r"printf '\033]2;A title\007\033[?1049h\033[2J\033[3;5Hhello'; sleep 1000"
        identifier = self.detach("--cols", "40", "--rows", "10", "sh", "-c", script)
        eventually(lambda: self.ask("snapshot", identifier) == b"\n\n    hello\n", "the screen")
        shown = json.loads(self.ask("snapshot", "--json", identifier))
        self.assertEqual(shown, {"cols": 40, "rows": 10, "row": 3, "col": 10, "alternate": True,
                                 "cursor": True, "title": "A title",
                                 "text": "\n\n    hello\n" + "\n" * 7})
        self.ask("signal", identifier)

    def test_full_screen_programs(self):
        identifier = re.search(SCREEN, self.terse("--yield", LONG, "vim", "-u", "NONE", "-N",
                                                  "file").out)[1].decode()
        self.send(identifier, "ihello", "--key", "enter", "world", "--key", "escape")
        eventually(lambda: b"hello\nworld\n" in self.ask("snapshot", identifier), "the text")
        self.send(identifier, ":wq", "--key", "enter")
        self.await_(identifier)
        self.assertEqual(read_file(os.path.join(self.work, "file")), b"hello\nworld\n")

    def test_less(self):
        write_file(os.path.join(self.work, "text"), numbers(5000))
        identifier = re.search(SCREEN, self.terse("--yield", LONG, "env", "less",
                                                  "text").out)[1].decode()
        self.send(identifier, "/4321", "--key", "enter")
        eventually(lambda: self.ask("snapshot", identifier).startswith(b"4321\n"), "the line")
        self.send(identifier, "--key", "up")
        eventually(lambda: self.ask("snapshot", identifier).startswith(b"4320\n"), "the one above")
        self.send(identifier, "q")
        self.await_(identifier)

    def test_keys_in_both_forms(self):
        script = r"stty raw -echo; printf '%s'; echo ready; head -c 3 | od -An -c"
        for mode, key in (("", b"033   [   A"), (r"\033[?1h", b"033   O   A")):
            identifier = self.detach("sh", "-c", script % mode)
            self.await_(identifier, "--for", "ready")
            self.send(identifier, "--key", "up")
            self.await_(identifier)
            self.assertIn(key, self.artifact(identifier))

    def test_a_file_is_typed(self):
        text = b"".join(b"line %d\n" % i for i in range(20000))
        write_file(os.path.join(self.work, "text"), text)
        identifier = self.detach("sh", "-c", "stty -echo; echo ready; cat >copy")
        self.await_(identifier, "--for", "ready")
        self.send(identifier, "--secret", "--file", "text", "--eof")
        self.await_(identifier)
        self.assertEqual(read_file(os.path.join(self.work, "copy")), text)

    def test_no_terminal(self):
        run = self.start(TERSE, "sh", "-c", "echo ready; sleep 1000")
        run.until(b"ready")
        live = eventually(lambda: self.ask("list", "--live"), "the run")
        identifier = live.split()[7].decode()
        out = self.terse("send", identifier, "x")
        self.assertEqual(out.code, 1)
        self.assertIn(b"has no terminal to type into", out.out)
        self.assertEqual(self.ask("snapshot", identifier), b"ready\n")
        self.ask("signal", identifier)
        run.finish()
        self.assertEqual(run.code, -signal.SIGTERM)


class Door(LiveCase):
    def test_private(self):
        identifier = self.detach("sleep", "1000")
        live = os.path.join(self.store, "live")
        self.assertEqual(os.stat(live).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(os.path.join(live, identifier)).st_mode & 0o777, 0o600)
        self.ask("signal", identifier)

    def test_a_store_with_a_long_path(self):
        store = os.path.join(self.dir, *["a" * 50] * 5)
        run = self.terse("--detach", "echo", "hello", env={"TERSE_HOME": store})
        identifier = re.search(RUNNING, run.out)[3].decode()
        run = self.terse("await", identifier, env={"TERSE_HOME": store})
        self.assertEqual(run.out, b"hello\n[terse: exit 0]\n")

    def test_a_short_run_leaves_nothing(self):
        run = self.terse("sleep", "0.3")
        self.assertEqual(run.code, 0)
        self.assertEqual(os.listdir(os.path.join(self.store, "live")), [])
        self.assertEqual(self.artifacts(), [])
        self.assertEqual(self.ask("read", "last"), b"")

    def test_looking_changes_nothing(self):
        os.mkfifo(os.path.join(self.work, "go"))
        run = self.start("terse", "sh", "-c", "echo hello; read x <go")
        run.until(b"hello\n")
        row = eventually(lambda: self.ask("list", "--live"), "the run")
        self.assertTrue(row.endswith(b" sh -c 'echo hello; read x <go'\n    hello\n"), row)
        let_go_on(os.path.join(self.work, "go"))
        self.assertEqual(run.finish().out, b"hello\n")
        self.assertEqual(self.artifacts(), [])

    def test_one_that_is_listed_can_be_read(self):
        os.mkfifo(os.path.join(self.work, "go"))
        run = self.start("terse", "sh", "-c", "echo hello; read x <go")
        run.until(b"hello\n")
        row = eventually(lambda: self.ask("list", "--live"), "the run")
        self.assertTrue(self.ask("read", re.search(ID, row)[0].decode()).startswith(b"hello\n"))
        let_go_on(os.path.join(self.work, "go"))
        self.assertEqual(run.finish().out, b"hello\n")

    def test_one_with_too_many_clients_is_listed(self):
        identifier = self.detach("sleep", "1000")
        supervisor = self.metadata(identifier)["process.parent_pid"]
        clients = [self.connect(identifier) for _ in range(64)]

        eventually(lambda: sum(link.startswith("socket:") for link in descriptors(supervisor).values()) > 64,
                   "all of them")
        row = self.ask("list", "--live")
        self.assertTrue(re.search(identifier.encode() + rb"  \? +\S+ \S+ +-  +-  +\S+ \S+  sleep 1000\n"
                                  rb"    does not answer: too many clients\n\Z", row), row)
        run = self.terse("send", identifier, "x")
        self.assertEqual(run.code, 1)
        self.assertIn(b"has too many clients", run.out)
        run = self.terse("await", identifier)
        self.assertEqual((run.code, run.out), (1, b"terse await: %s: has too many clients\n"
                                               % identifier.encode()))
        for s in clients:
            s.close()
        eventually(lambda: self.terse("signal", identifier).code == 0, "room for one")

    def test_requests_of_no_sense(self):
        identifier = self.detach("sh", "-c", "read x; echo got $x")
        with self.connect(identifier) as s:
            for packet in (b"x", b"\xff" * 12, b"\0" * 12, frame(DONE), frame(AWAKE), frame(TYPE) + b"x" * 5000,
                           frame(SIGNAL, -1), frame(RESIZE, 1, 1)):
                s.send(packet)
                kind, version, error, _ = struct.unpack("=HHii", s.recv(65536))
                self.assertEqual((kind, version), (DONE, VERSION))
                self.assertNotEqual(error, 0)
        self.send(identifier, "hello", "--key", "enter")
        self.assertIn(b"got hello", self.await_(identifier))

    def test_a_run_of_another_version(self):
        """It is named, and left alone."""
        identifier = self.detach("sleep", "1000")
        os.rename(os.path.join(self.store, "live", identifier), os.path.join(self.store, "live", "aside"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            here = os.getcwd()
            os.chdir(os.path.join(self.store, "live"))
            try:
                s.bind(identifier)
            finally:
                os.chdir(here)
            s.listen()
            other = threading.Thread(target=lambda: [answer_as_another(s) for _ in range(3)])
            other.start()
            for argv in (("signal", identifier), ("await", identifier), ("snapshot", identifier)):
                run = self.terse(*argv)
                self.assertEqual((run.code, run.out), (1, b"terse %s: %s: runs under another version of terse\n"
                                                       % (argv[0].encode(), identifier.encode())))
            other.join()
        os.rename(os.path.join(self.store, "live", "aside"), os.path.join(self.store, "live", identifier))
        self.ask("signal", identifier)

    def test_many_clients_and_one_that_stalls(self):
        """50 clients on a run that prints 100 MB; only one of them reads."""
        os.mkfifo(os.path.join(self.work, "go"))
        size = 100 << 20
        identifier = self.detach("sh", "-c", "read x <go; yes 123456789 | head -c %d" % size)
        clients = [self.connect(identifier) for _ in range(50)]
        for s in clients:
            s.send(frame(ATTACH, 80, 24))
            self.assertEqual(s.recv(65536), frame(DONE))
        supervisor = self.metadata(identifier)["process.parent_pid"]
        let_go_on(os.path.join(self.work, "go"))
        peak = []

        def ended():
            try:
                status = read_file("/proc/%d/status" % supervisor)
            except OSError:
                return True
            peak[:] = re.findall(rb"VmHWM:\s+(\d+)", status) or peak
            return False
        eventually(ended, "the end")
        for s in clients:
            s.close()
        self.await_(identifier)
        path = os.fsdecode(self.ask("path", identifier).rstrip(b"\n"))
        self.assertEqual(os.path.getsize(path), size)
        digest = subprocess.run("yes 123456789 | head -c %d | cmp - %s" % (size, path), shell=True,
                                check=False)
        self.assertEqual(digest.returncode, 0)
        if not os.environ.get("ASAN_OPTIONS"):
            self.assertLess(int(peak[0]), 16 << 10)


if __name__ == "__main__":
    main()
