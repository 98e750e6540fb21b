"""A person's terminal: a tmux server that only this test uses."""

import os
import re
import subprocess
import termios
import uuid

from support.harness import DEADLINE, Case, eventually


class Screen:
    """One window that runs a command. Tests send keys to it, and wait for what it shows."""

    def __init__(self, case, *argv, cols=100, rows=30, env=None):
        self.env = case.env(PS1="ready> ", HISTFILE="", SHELL="/bin/sh",
                            **(env or {}))
        self.work = case.work
        # Starts a separate server: a server that is just ending can't be used again.
        self.socket = os.path.join(case.dir, uuid.uuid4().hex[:8])
        self.tmux("new-session", "-d", "-x", str(cols), "-y", str(rows), *argv)

    def tmux(self, *argv):
        done = subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", *argv], env=self.env,
                              cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=DEADLINE, check=False)
        if done.returncode != 0:
            raise AssertionError("tmux %s: %s" % (argv[0], done.stdout))
        return done.stdout.decode()

    def show(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def until(self, pattern, *options):
        """Waits until the pattern is on the screen (`^` and `$` are those of lines)."""
        last = [""]

        def shown():
            last[0] = self.show(*options)
            return re.search(pattern, last[0], re.M)
        return eventually(shown, lambda: "%r on the screen:\n%s" % (pattern, last[0]))

    def keys(self, *names):
        """Keys as tmux calls them: Enter, C-c, Escape, or text."""
        self.tmux("send-keys", *names)

    def type(self, line):
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def resize(self, cols, rows):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def modes(self):
        """Its terminal modes as tcgetattr gives them."""
        path = self.tmux("display-message", "-p", "#{pane_tty}").strip()
        fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            return termios.tcgetattr(fd)
        finally:
            os.close(fd)

    def until_raw(self):
        """Waits until terse reads the keyboard (a shell's line editor leaves ISIG on)."""
        eventually(lambda: not self.modes()[3] & termios.ISIG, "raw mode")

    def close(self):
        try:
            self.tmux("kill-server")
        except AssertionError:
            pass


class ScreenCase(Case):
    def screen(self, *argv, **how):
        self.screens = getattr(self, "screens", [])
        self.screens.append(Screen(self, *argv, **how))
        return self.screens[-1]

    def bash(self, **how):
        """A person's shell, waiting at its prompt."""
        screen = self.screen("bash", "--norc", "--noprofile", "-i", **how)
        screen.until(r"^ready>$")
        return screen

    def tearDown(self):
        for screen in getattr(self, "screens", []):
            screen.close()
        super().tearDown()
