#!/usr/bin/env -S python3 -B
"""A person takes over a command that somebody else has started: attach, detach, resize, read-only; afterwards the
terminal is as before. The commands are programs that need a terminal."""

import os
import re
import shutil
import signal

from support.harness import TERSE, eventually, main, read_file, write_file
from support.screen import ScreenCase

ID = rb"cmd-[0-9a-z]{12}"
LONG = "1000s"
LEFT = r"^\[terse: detached; again: terse attach (cmd-\w+), end: terse signal \1\]$"


class AttachCase(ScreenCase):
    def start_(self, *argv, options=(), **how):
        """A command that waits for input, started as an agent does; returns its ID."""
        run = self.terse("--yield", LONG, *options, *argv, **how)
        self.assertEqual(run.code, 0, run.out)
        self.assertRegex(run.out, b"waiting for input|a secret is asked for")
        return re.search(ID, run.out)[0].decode()

    def detach(self, *argv, options=()):
        return re.search(ID, self.terse("--detach", *options, *argv).out)[0].decode()

    def until_snapshot(self, identifier, pattern):
        shown = [""]

        def there():
            shown[0] = self.ask("snapshot", identifier).decode()
            return re.search(pattern, shown[0], re.M)
        return eventually(there, lambda: "%r in %s" % (pattern, shown[0]))

    def attach(self, identifier, *options, **how):
        s = self.bash(**how)
        s.type(" ".join(("terse", "attach", identifier) + options))
        s.until_raw()
        return s

    def leave(self, s):
        s.keys("C-\\")
        s.until(LEFT)
        s.until(r"^ready>$")

    def finish(self, identifier, code=0):
        run = self.terse("await", identifier)
        self.assertEqual(run.code, code, run.out)
        return run.out


class Colours(AttachCase):
    def test_they_are_put_back(self):
        """What a terminal gets that comes later, of another size, too; those for which there is no room have none."""
        for before in ("--read-only", ""), ("", "stty rows 30 cols 100; "):
            identifier = self.detach("sh", "-c", r"printf 'plain \033[1;31mred\033[0m \033[38;2;1;2;3;42mb\033[m\n';"
                                     r"printf '%099d\346\274\242\033[32mgreen\033[m\n' 0; printf '\t\033[33mtab\033[m\n';"
                                     r"for i in $(seq 0 255); do printf '\033[38;5;%dm%d\033[m ' $i $i; done; exec sleep 300", options=("--tty",))
            self.until_snapshot(identifier, r"\b255$")
            path = os.path.join(self.work, "shown" + before[0])
            attached = self.start("script", "-qfc", "%sterse attach %s %s" % (before[1], before[0], identifier), path)
            eventually(lambda: os.path.exists(path) and b"255" in read_file(path), "the screen")
            self.terse("signal", identifier)
            attached.finish()
            shown = read_file(path)
            for part in (rb"0mplain \x1b\[1;7H\x1b\[0;1;31mred", rb"\x1b\[0;38;2;1;2;3;42mb", rb"\x1b\[0;32mgreen\x1b", rb"\x1b\[0;33mtab\x1b", rb"\x1b\[0;38;5;100m100\x1b",
                         rb"\x1b\[0m 125 126 "):
                self.assertRegex(shown, part)


class Title(AttachCase):
    def test_it_says_how_to_leave_and_is_put_back(self):
        identifier = self.detach("sh", "-c", r"printf '\033]2;mine\007there\n'; exec sleep 300", options=("--tty",))
        path = os.path.join(self.work, "shown")
        attached = self.start("script", "-qfc", "terse attach " + identifier, path)
        eventually(lambda: os.path.exists(path) and b"there" in read_file(path), "the screen")
        self.terse("signal", identifier)
        attached.finish()
        self.assertRegex(read_file(path), rb"(?s)\x1b\[22;0t\x1b\]2;terse attach: ctrl-\\ leaves\x07.*\x1b\]2;mine\x07.*\x1b\[23;0t")


class Programs(AttachCase):
    def test_python(self):
        identifier = self.start_("python3", "-q")
        s = self.attach(identifier)
        s.until(r"^>>>$")
        s.type("print(6 * 7)")
        s.until(r"^42$")
        self.leave(s)
        self.ask("send", identifier, "exit(3)", "--key", "enter")
        self.assertIn(b">>> print(6 * 7)\n42\n>>> exit(3)\n[terse: exit 3]\n",
                      self.finish(identifier, 3))

    def test_vim(self):
        identifier = self.start_("vim", "-u", "NONE", "-N", "file")
        self.ask("send", identifier, "ione", "--key", "enter")
        self.until_snapshot(identifier, r"\Aone$")
        s = self.attach(identifier)
        s.until(r"\Aone$")
        s.keys("two", "Escape")
        self.until_snapshot(identifier, r"\Aone\ntwo$")
        self.leave(s)
        s.type("terse attach " + identifier)
        s.until(r"\Aone\ntwo$")
        s.type(":wq")
        s.until(r"has ended: terse await")
        self.assertEqual(read_file(os.path.join(self.work, "file")), b"one\ntwo\n")
        self.finish(identifier)

    def test_less(self):
        write_file(os.path.join(self.work, "text"), "".join("line %d\n" % i for i in range(900)))
        identifier = self.start_("env", "less", "text")
        s = self.attach(identifier, cols=90, rows=20)
        s.until(r"\Aline 0$")
        s.keys("/", "line 500", "Enter")
        s.until(r"\Aline 500$")
        self.until_snapshot(identifier, r"\Aline 500\n(line \d+\n){18}:")
        s.keys("q")
        s.until(r"has ended")
        self.finish(identifier)

    def test_top(self):
        identifier = self.detach("top")
        self.until_snapshot(identifier, r"load average")
        s = self.attach(identifier)
        s.until(r"load average")
        self.leave(s)
        self.ask("send", identifier, "q")
        self.finish(identifier)

    def test_gdb(self):
        if not shutil.which("gdb") or not shutil.which("gcc"):
            self.skipTest("no gdb")
        write_file(os.path.join(self.work, "crash.c"),
                   "int main(int argc, char **argv)\n{\n\tint *p = argv[5 * argc - 5 + 1] ? 0 : 0;"
                   "\n\treturn *p;\n}\n")
        self.run_to_end("gcc", "-g", "-O0", "-o", "crash", "crash.c")
        identifier = self.start_("gdb", "-q", "-nx", "./crash")
        self.ask("send", identifier, "set disable-randomization off", "--key", "enter",
                 "run", "--key", "enter")
        self.until_snapshot(identifier, r"received signal SIGSEGV(.|\n)*^\(gdb\)")
        s = self.attach(identifier)
        s.until(r"received signal SIGSEGV")
        s.type("bt")
        s.until(r"^#0 .*main \(.*crash\.c:4$")
        s.type("quit")
        s.until(r"Quit anyway|has ended")
        s.keys("y", "Enter")
        s.until(r"has ended")
        self.assertIn(b"SIGSEGV", self.artifact(identifier))

    def test_dialog(self):
        box = shutil.which("whiptail") or shutil.which("dialog")
        if not box:
            self.skipTest("no dialog")
        identifier = self.start_("sh", "-c", box + " --yesno 'Go on?' 10 30; echo status $?")
        self.until_snapshot(identifier, "Go on\\?")
        s = self.attach(identifier)
        s.until(r"Go on\?")
        s.keys("Tab", "Enter")
        s.until(r"has ended")
        self.assertIn(b"status 1\n", self.artifact(identifier))

    def test_password(self):
        """Typed by the person, echoed nowhere."""
        script = "import getpass; print(len(getpass.getpass()))"
        identifier = self.start_("python3", "-c", script)
        s = self.attach(identifier)
        s.until(r"^Password:")
        s.type("secret")
        s.until(r"^6$")
        self.finish(identifier)
        self.assertEqual(self.artifact(identifier), b"Password: \n6\n")


class Window(AttachCase):
    # Not a shell's trap: bash forgets a signal that comes while the trap of the last one runs.
    SIZE = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
print("ready", flush=True)
while signal.sigwait([signal.SIGWINCH]):
    size = os.get_terminal_size()
    print(size.lines, size.columns, flush=True)
"""

    def test_its_size_is_that_of_the_person(self):
        identifier = self.detach("python3", "-c", self.SIZE,
                                 options=("--cols", "70", "--rows", "20"))
        self.until_snapshot(identifier, "ready")
        s = self.attach(identifier, cols=90, rows=25)
        s.until(r"^25 90$")
        s.resize(95, 26)
        s.until(r"^26 95$")
        self.leave(s)
        # Its own again.
        self.until_snapshot(identifier, r"^20 70$")
        self.ask("signal", identifier)

    def test_look_only(self):
        identifier = self.detach("bash", "-c", "trap 'stty size' WINCH; read x; echo got $x",
                                 options=("--cols", "70", "--rows", "20"))
        s = self.bash()
        s.type("terse attach --read-only " + identifier)
        s.until_raw()
        s.keys("no", "Enter")
        self.ask("send", identifier, "yes", "--key", "enter")
        s.until(r"^got yes$")
        s.until(r"has ended")
        self.assertEqual(self.artifact(identifier), b"yes\ngot yes\n")

    def test_several_at_once(self):
        identifier = self.detach("cat")
        screens = [self.attach(identifier) for _ in range(3)]
        screens[0].type("hello")
        for s in screens:
            s.until(r"^hello\nhello$")
        screens[1].type("you")
        for s in screens:
            s.until(r"^you\nyou$")
        self.leave(screens[2])
        screens[0].keys("C-d")
        for s in screens[:2]:
            s.until(r"has ended")
        self.finish(identifier)


class Modes(AttachCase):
    def setUp(self):
        super().setUp()
        self.identifier = self.detach("sh", "-c", r"stty raw -echo; printf '\033[?1049h\033[?25l"
                                      r"\033[?2004hscreen'; cat >typed")
        self.until_snapshot(self.identifier, "screen")
        self.s = self.bash()
        self.before = self.s.modes()
        self.s.type("terse attach " + self.identifier)
        self.s.until_raw()
        self.s.until(r"\Ascreen$")

    def check(self):
        """The terminal is as it was: its screen, its cursor, its line editing."""
        eventually(lambda: self.s.modes() == self.before, lambda: str(self.s.modes()))
        eventually(lambda: self.s.tmux("display-message", "-p",
                                       "#{alternate_on} #{cursor_flag}").split() == ["0", "1"],
                   "the screen of before")
        # The shell learns of a killed client before the screen is back, and has prompted by then.
        self.s.keys("Enter")
        self.s.until(r"^ready>$")
        self.s.type("echo $((6*7))")
        self.s.until(r"^42$")

    def client(self):
        return [p.pid for p in self.mine() if p.argv[1:2] == ["attach"] and
                p.group == p.pid][0]

    def test_detached(self):
        self.s.keys("C-\\")
        self.check()
        self.ask("signal", self.identifier)

    def test_ended(self):
        self.ask("signal", self.identifier)
        self.check()

    def test_ended_by_signals(self):
        for sig in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            os.kill(self.client(), sig)
            self.check()
            self.s.type("clear; terse attach " + self.identifier)
            self.s.until_raw()
            self.s.until(r"\Ascreen$")
        self.ask("signal", self.identifier)
        self.check()

    def test_killed_supervisor(self):
        os.kill(self.metadata(self.identifier)["process.parent_pid"], signal.SIGKILL)
        self.check()


class AtTheTerminal(AttachCase):
    def test_what_a_person_runs_can_be_seen_by_others(self):
        s = self.bash()
        s.type("terse cat")
        s.until_raw()
        s.type("hello")
        live = eventually(lambda: self.ask("list", "--live"), "the run")
        identifier = re.search(ID, live)[0].decode()
        self.until_snapshot(identifier, r"^hello\nhello$")
        self.ask("send", identifier, "from afar", "--key", "enter")
        s.until(r"^from afar\nfrom afar$")
        s.keys("C-d")
        s.until(r"^ready>$")

    def test_yield_gives_the_terminal_back(self):
        s = self.bash()
        before = s.modes()
        s.type("terse --yield 1s sh -c 'echo hello; cat >copy'; echo status $?")
        s.until(r"^\[terse: running after [^;]*; (1 line, 6|0 lines, 0) B; wait: terse await")
        s.until(r"^status 0\nready>$")
        self.assertEqual(s.modes(), before)
        identifier = re.search(ID, self.ask("list", "--live"))[0].decode()
        self.ask("send", identifier, "typed", "--key", "enter", "--eof")
        self.finish(identifier)
        self.assertEqual(read_file(os.path.join(self.work, "copy")), b"typed\n")

    def test_detach_shows_only_the_id(self):
        s = self.bash()
        s.type("terse --detach sh -c 'echo hello; sleep 1000'; echo status $?")
        s.until(r"^\[terse: running after [^;]*; 0 lines, 0 B; wait: terse await (?s:.)*\]\n"
                r"status 0\nready>$")
        identifier = re.search(ID, self.ask("list", "--live"))[0].decode()
        self.ask("signal", identifier)


if __name__ == "__main__":
    main()
