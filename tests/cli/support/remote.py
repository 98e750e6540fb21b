"""A remote for tests: a directory, or programs that are made here and fail as they are told."""

import os
import re
import subprocess

from support.harness import DEADLINE, TERSE, Case, eventually, numbers, read_file, write_file

# A run that is pushed, whichever are, and its text.
FAIL = ("sh", "-c", "seq 3000; exit 3")
TEXT = numbers(3000)


class Remote(Case):
    """A case with a directory for objects, and a configuration that names it."""

    def setUp(self):
        super().setUp()
        self.objects = os.path.join(self.dir, "objects")
        os.mkdir(self.objects, 0o700)
        self.tools = os.path.join(self.dir, "tools")
        os.mkdir(self.tools)
        self.config = os.path.join(self.dir, "terse.ini")
        self.configure()

    def configure(self, **settings):
        settings.setdefault("push", "all")
        if "push_command" not in settings:
            settings.setdefault("remote", "file:" + self.objects)
        write_file(self.config, "[remote]\n" + "".join("%s = %s\n" % pair for pair in settings.items()))

    def program(self, name, script):
        path = os.path.join(self.tools, name)
        return write_file(path, "#!/bin/sh\n" + script, 0o755)

    def env(self, **more):
        return super().env(**dict({"TERSE_CONFIG": self.config}, **more))

    def at(self, *names):
        return os.path.join(self.dir, *names)

    def pushed(self, top=None):
        """The IDs of the artifacts in the remote; nothing but whole objects is there."""
        found = []
        for top, _, names in os.walk(top or self.objects):
            for name in names:
                match = re.fullmatch(r"(cmd-[0-9a-z]{12})\.tar\.zst", name)
                if match:
                    found.append(match[1])
                elif not name.startswith("."):  # A copy that is being made.
                    self.assertRegex(os.path.relpath(top, self.objects), r"\Aindex/", name)
        return sorted(found)

    def in_spool(self, name):
        return os.path.join(self.store, "push", name)

    def retry(self):
        """How often the remote failed, and when the next attempt is due, in ms since 1970."""
        path = self.in_spool("retry")
        words = read_file(path).split()[:2] if os.path.isfile(path) else []
        return tuple(int(word) for word in words) if len(words) == 2 else (0, 0)

    def spooled(self):
        push = os.path.join(self.store, "push")
        return sorted(n for n in os.listdir(push) if n.endswith(".tar.zst")) if os.path.isdir(push) else []

    def push(self, *argv):
        done = subprocess.run([TERSE, "push", *argv], env=self.env(), cwd=self.work, timeout=DEADLINE,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def push_all(self):
        """Pushes until nothing waits, whoever does it."""
        eventually(lambda: self.push()[0] == 0 and not self.spooled(), lambda: "pushed: %s" % self.spooled())

    def object(self, identifier):
        for top, _, names in os.walk(self.objects):
            if identifier + ".tar.zst" in names:
                return os.path.join(top, identifier + ".tar.zst")
        raise AssertionError("no object %s" % identifier)

    def restored(self, identifier):
        """The text of an object, as another machine has it."""
        env = self.env(TERSE_HOME=self.at("other"))
        subprocess.run([TERSE, "unarchive", self.object(identifier)], env=env, check=True,
                       capture_output=True, timeout=DEADLINE)
        path = subprocess.run([TERSE, "path", identifier], env=env, check=True, capture_output=True,
                              timeout=DEADLINE).stdout.rstrip(b"\n")
        return read_file(path)
