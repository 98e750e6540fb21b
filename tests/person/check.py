#!/usr/bin/env -S python3 -B
"""Real sudo and ssh in a command of a wired-up agent, and a person who answers them at another terminal. Needs
root, sudo and openssh-server (`make check-person` installs them), and makes a temporary user."""

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from person import ASKED, LONG, Person, PersonCase  # noqa: E402
from support.harness import eventually, main, read_file, write_file  # noqa: E402

USER = "terse-person"
SSHD = "/usr/sbin/sshd"


def missing():
    """Why this can't be tried here, or None."""
    if os.geteuid() != 0:
        return "not root"
    gone = [name for name in ("sudo", "ssh", SSHD) if not shutil.which(name)]
    return "no " + ", ".join(gone) if gone else None


class Real(PersonCase):
    def setUp(self):
        if missing():
            self.skipTest(missing())
        super().setUp()
        self.password = secrets.token_hex(8)
        subprocess.run(["userdel", "-rf", USER], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["useradd", "-m", "-s", "/bin/bash", USER], check=True)
        self.addCleanup(subprocess.run, ["userdel", "-rf", USER], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["chpasswd"], input="%s:%s\n" % (USER, self.password), text=True, check=True)
        rule = "/etc/sudoers.d/" + USER
        write_file(rule, "%s ALL=(ALL) ALL\nDefaults:%s timestamp_timeout=0\n" % (USER, USER), 0o440)
        self.addCleanup(os.unlink, rule)
        self.configure(person="(?i)password", wait=LONG, call="true")
        # The user's are terse, store and settings.
        self.program = self.for_everybody()
        subprocess.run(["chown", "-R", USER, self.dir], check=True)

    def as_user(self, *argv):
        return ["setsid", "-w", "setpriv", "--reuid", USER, "--regid", USER, "--init-groups", *argv]

    def wired(self, script, *options):
        return self.start(*self.as_user(self.program, *options, "-c", script), env={"CLAUDECODE": "1"})

    def answer(self, run, text, how):
        """The person sees the question, and types."""
        identifier = run.until(ASKED)[1].decode()
        person = Person(self, identifier, program=self.as_user(self.program)[2:])
        person.until(text)
        person.type(how.encode() + b"\r")
        return person

    def nothing_kept(self, *given):
        for data in given:
            self.assertNotIn(self.password.encode(), data)
        for top, _, names in os.walk(self.dir):
            for path in (os.path.join(top, name) for name in names):
                if os.path.isfile(path):
                    self.assertNotIn(self.password.encode(), read_file(path), path)

    def server(self):
        """A server that asks for passwords; returns the command that connects to it."""
        folder = os.path.join(self.dir, "sshd")
        os.mkdir(folder, 0o700)
        os.makedirs("/run/sshd", exist_ok=True)
        key = os.path.join(folder, "key")
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        write_file(os.path.join(folder, "config"),
                   "Port %d\nListenAddress 127.0.0.1\nHostKey %s\nPasswordAuthentication yes\nUsePAM no\n"
                   "KbdInteractiveAuthentication no\nPidFile none\n" % (port, key))
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", os.path.join(folder, "config")],
                                  stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})

        def stop():
            server.terminate()
            server.wait()
        self.addCleanup(stop)

        def listens():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", port)) == 0
        eventually(listens, "the server")
        return "ssh -p %d -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR %%s %s@127.0.0.1 " % (port, USER)

    def test_sudo(self):
        run = self.wired("sudo id -un; echo status $?", "--record", "--keep-raw")
        person = self.answer(run, rb"password for", self.password)
        run.finish()
        self.assertRegex(run.out, rb"\A" + ASKED + rb"[^\n]*password for [^\n]*: \nroot\nstatus 0\n\Z")
        self.nothing_kept(run.out, person.to_end())

    def test_sudo_with_a_profile_that_has_a_pipe(self):
        run = self.wired("sudo cat /etc/hostname")
        self.answer(run, rb"password for", self.password)
        run.finish()
        self.assertIn(read_file("/etc/hostname"), run.out)

    def test_sudo_wrong_first(self):
        run = self.wired("sudo id -un; echo status $?")
        person = self.answer(run, rb"password for", "wrong")
        person.until(rb"Sorry, try again")
        person.type(self.password.encode() + b"\r")
        run.finish()
        self.assertIn(b"root\nstatus 0\n", run.out)

    def test_sudo_without_an_answer(self):
        self.configure(person="(?i)password", wait="200ms", call="true")
        run = self.wired("sudo id -un; echo status $?").finish()
        self.assertRegex(run.out, rb"a password is required\nstatus 1\n\Z")

    def test_sudo_without_a_person(self):
        self.configure(wait="1h")
        run = self.wired("sudo id -un; echo status $?").finish()
        self.assertRegex(run.out, rb"a terminal is required(.|\n)*status 1\n\Z")

    def test_ssh(self):
        run = self.wired(self.server() % "-o StrictHostKeyChecking=no" + "whoami; echo status $?", "--record")
        person = self.answer(run, rb"password: ", self.password)
        run.finish()
        self.assertTrue(run.out.endswith(USER.encode() + b"\nstatus 0\n"), run.out)
        self.nothing_kept(run.out, person.to_end())

    def test_ssh_without_an_answer(self):
        """It asks three times."""
        self.configure(person="(?i)password", wait="200ms", call="true")
        run = self.wired(self.server() % "-o StrictHostKeyChecking=no" + "whoami; echo status $?").finish()
        self.assertRegex(run.out, rb"Permission denied[^\n]*\nstatus 255\n\Z")
        self.assertEqual(len(re.findall(ASKED, run.out)), 1, run.out)

    def test_ssh_with_a_question_for_nobody(self):
        """An unknown host: the question is at its end at once."""
        run = self.wired(self.server() % "" + "whoami; echo status $?").finish()
        self.assertRegex(run.out, rb"continue connecting(.|\n)*Host key verification failed.\nstatus 255\n\Z")
        self.assertNotRegex(run.out, ASKED)


if __name__ == "__main__":
    main()
