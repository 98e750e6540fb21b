"""A remote for tests: a directory, or a program named rclone that is made here and fails as it is told."""

import json
import os
import re
import subprocess

from support.harness import DEADLINE, TERSE, Case, eventually, numbers, read_file, write_file

# A run that is pushed under every setting of `push`, and its text.
FAIL = ("sh", "-c", "seq 3000; exit 3")
TEXT = numbers(3000)

# Does what rclone does, as far as terse needs it; fleet:/DIR is a directory. Before it moves a
# file, it calls take with the file's name; take may fail, or wait.
RCLONE = r"""#!/bin/sh
tools=%s
take() { :; }
. $tools/told
case $1 in
move)
    failed=0 to=${3#fleet:}
    cd "$2" || exit 3
    for file in $(find . -type f | sort); do
        if take "$file"; then
            mkdir -p "$to/$(dirname "$file")"
            cp "$file" $tools/new.$$ && mv $tools/new.$$ "$to/$file" && rm "$file"
        else
            failed=1
        fi
    done
    exit $failed;;
copyto)
    test -f "${2#fleet:}" || exit 4
    cp "${2#fleet:}" "$3";;
copy)
    cd "${2#fleet:}" 2>/dev/null || exit 3
    to=$3
    for option; do
        case $option in --include=*)
            for file in ${option#--include=/}; do
                test ! -f "$file" || { mkdir -p "$to/${file%%/*}" && cp "$file" "$to/$file"; }
            done;;
        esac
    done;;
esac
"""


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
        settings.setdefault("remote", "file:" + self.objects)
        write_file(self.config, "[remote]\n" + "".join("%s = %s\n" % pair for pair in settings.items()))

    def rclone(self, told="", **settings):
        """Makes the remote a program that does what `told` says."""
        write_file(os.path.join(self.tools, "rclone"), RCLONE % self.tools, 0o755)
        self.tell(told)
        self.configure(remote="rclone:fleet:" + self.objects, **settings)

    def tell(self, told):
        write_file(os.path.join(self.tools, "told.new"), told)
        os.rename(os.path.join(self.tools, "told.new"), os.path.join(self.tools, "told"))

    def env(self, **more):
        env = super().env(**dict({"TERSE_CONFIG": self.config}, **more))
        return dict(env, PATH=self.tools + ":" + env["PATH"])

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
                elif not name.startswith("."):  # A copy that is not complete yet.
                    self.assertRegex(os.path.relpath(top, self.objects), r"\Aindex/", name)
        return sorted(found)

    def in_outbox(self, *names):
        return os.path.join(self.store, "outbox", *names)

    def retry(self):
        """How often the remote failed, and when the next attempt is due, in ms since 1970."""
        path = self.in_outbox("retry")
        words = read_file(path).split()[:2] if os.path.isfile(path) else []
        return tuple(int(word) for word in words) if len(words) == 2 else (0, 0)

    def waiting(self):
        """The IDs of the archives in the outbox."""
        return sorted(name[:16] for _, _, names in os.walk(self.in_outbox("new")) for name in names
                      if name.endswith(".tar.zst"))

    def lines(self):
        """The IDs in all lines of the index, in the remote."""
        return sorted(json.loads(line)["id"] for path in self.indexes()
                      for line in read_file(path).splitlines())

    def indexes(self):
        return sorted(os.path.join(top, name) for top, _, names in os.walk(os.path.join(self.objects, "index"))
                      for name in names if not name.startswith("."))

    def push(self, *argv):
        done = subprocess.run([TERSE, "push", *argv], env=self.env(), cwd=self.work, timeout=DEADLINE,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def push_all(self):
        """Pushes until nothing waits; another process may do the pushing."""
        eventually(lambda: self.push()[0] == 0 and not self.waiting(), lambda: "pushed: %s" % self.waiting())

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
