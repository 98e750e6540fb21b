#!/usr/bin/env -S python3 -B
"""A person at a terminal: full-screen programs, job control, resize, one Ctrl-C, and modes that
are put back whoever is killed."""

import os
import signal
import subprocess
import termios

from support.harness import (Case, DEADLINE, TERSE, eventually, main, read_file, read_to_end, signal_if_there,
                             write_file)
from support.screen import ScreenCase


class Console(Case):
    """A terminal that is not the controlling one: a serial console, setsid ... </dev/ttyN."""

    def test_keyboard(self):
        master, slave = os.openpty()
        before = termios.tcgetattr(slave)
        run = subprocess.Popen([TERSE, "sh", "-c", "read x; echo got $x; exit 4"], stdin=slave,
                               stdout=slave, stderr=slave, env=self.env(), cwd=self.work,
                               start_new_session=True)
        eventually(lambda: not termios.tcgetattr(slave)[3] & termios.ICANON, "raw mode")
        os.write(master, b"typed\r")
        self.assertEqual(run.wait(DEADLINE), 4)
        self.assertEqual(termios.tcgetattr(slave), before)
        os.close(slave)
        self.assertEqual(read_to_end(master), b"typed\r\ngot typed\r\n")


class Programs(ScreenCase):
    def lines(self, count=300):
        return write_file(os.path.join(self.work, "text"),
                          "".join("line %d\n" % i for i in range(1, count + 1)))

    def test_plain_output_and_status(self):
        s = self.bash()
        s.type("terse sh -c 'echo hello; exit 3'; echo status $?")
        s.until(r"^hello\nstatus 3\nready>$")

    def test_colours_pass_through(self):
        s = self.bash()
        s.type(r"terse printf '\033[31mred\033[m\n'")
        s.until(r"^\x1b\[31mred", "-e")

    def test_environment_is_as_it_was(self):
        s = self.bash(env={"PAGER": "my-pager"})
        s.type("terse sh -c 'echo [$PAGER] [$GIT_PAGER] [$TERM]'; echo [$TERM]")
        shown = s.until(r"^\[my-pager\] \[\] (\[.*\])\n(\[.*\])$")
        self.assertEqual(shown[1], shown[2])

    def test_long_output_ends_with_one_line(self):
        s = self.bash()
        s.type("terse seq 20000")
        s.until(r"^20000\n\[terse: 20,000 lines, 106 KB: terse read cmd-\w+\]\nready>$")
        s.type("clear; terse seq 20")
        s.until(r"^19\n20\nready>$")

    def test_a_narrow_list(self):
        """It has room for commands, and no row is broken."""
        self.terse("--session", "one", "seq", "3000")
        for cols, sizes in ((80, ""), (120, ".* 3,000 ")):
            s = self.bash(cols=cols)
            s.type("clear; terse list --session one")
            s.until(r"^ID .* COMMAND\ncmd-\w+  exit 0 %s.* seq 3000$" % sizes)

    def test_timeout_is_told(self):
        for what, last, how in (("printf begin", "begin", r"\]\nready>"), ("seq 20000", "20000", " after .*terse read cmd-")):
            # A busy machine prints it later.
            for limit in "100ms", "2s", "10s", "60s":
                s = self.bash()
                s.type("terse --timeout %s sh -c '%s; exec sleep 1000'" % (limit, what))
                came = s.until(r"^(\w*)\n?\[terse: timed out \(exit 124\)" + how, "-J")[1]
                if came == last:
                    break
            self.assertEqual(came, last)

    def test_vim(self):
        s = self.bash()
        s.type("terse vim -u NONE -N file; echo status $?")
        s.until(r"^~\s*$")
        s.keys("i", "hello", "Enter", "world", "Escape")
        s.type(":wq")
        s.until(r"^status 0\nready>$")
        self.assertEqual(read_file(os.path.join(self.work, "file")), b"hello\nworld\n")

    def test_less(self):
        self.lines()
        s = self.bash()
        s.type("terse less text; echo status $?")
        s.until(r"^line 1$")
        s.keys("G")
        s.until(r"^line 300$")
        s.keys("g", "/", "line 150", "Enter")
        s.until(r"\Aline 150$")
        s.keys("q")
        s.until(r"^status 0\nready>$")

    def test_less_behind_a_pipe(self):
        """Its stdin is data, its keys come from the terminal."""
        self.lines()
        s = self.bash()
        s.type("cat text | terse less; echo status $?")
        s.until(r"^line 1$")
        s.keys("G")
        s.until(r"^line 300$")
        s.keys("q")
        s.until(r"^status 0\nready>$")

    def test_terse_in_front_of_a_pager(self):
        self.lines()
        s = self.bash()
        s.type("terse cat text | less; echo status ${PIPESTATUS[*]}")
        s.until(r"^line 1$")
        s.keys("G")
        s.until(r"^line 300$")
        s.keys("q")
        s.until(r"^status 0 0\nready>$")

    def test_in_a_pipeline(self):
        s = self.bash()
        s.type("terse seq 20000 | wc -l; x=$(terse seq 20000); echo ${#x}")
        s.until(r"^20000\n108893\nready>$")

    def test_top(self):
        s = self.bash()
        s.type("terse top; echo status $?")
        s.until(r"load average")
        s.keys("q")
        s.until(r"^status 0\nready>$")

    def test_typed_input(self):
        s = self.bash()
        s.type("terse cat; echo status $?")
        s.until_raw()
        s.type("abc")
        s.until(r"^abc\nabc$")
        s.keys("C-d")
        s.until(r"^status 0\nready>$")

    def test_password(self):
        s = self.bash()
        s.type("terse sh -c 'stty -echo; echo go; read x; stty echo; echo got $x'")
        s.until(r"^go$")
        s.until_raw()
        s.type("secret")
        s.until(r"^go\ngot secret\nready>$")

    def test_dev_tty(self):
        s = self.bash()
        s.type("terse sh -c 'echo ask >/dev/tty; read x </dev/tty; echo got $x' </dev/null")
        s.until(r"^ask$")
        s.until_raw()
        s.type("answer")
        s.until(r"^got answer\nready>$")

    def test_stderr_to_a_file(self):
        s = self.bash()
        s.type("terse sh -c 'echo out; echo err >&2' 2>err; cat err")
        s.until(r"^out\nerr\nready>$")

    def test_inner_bash(self):
        s = self.bash()
        s.type("PS1='inner> ' terse bash --norc --noprofile -i; echo status $?")
        s.until(r"^inner>$")
        s.type("sleep 1000")
        s.until(r"sleep 1000\n")
        eventually(lambda: any(p.argv == ["sleep", "1000"] for p in self.mine()), "the sleep")
        s.keys("C-c")
        s.until(r"^inner>$")
        s.type("sleep 2000")
        eventually(lambda: any(p.argv == ["sleep", "2000"] for p in self.mine()), "the sleep")
        s.keys("C-z")
        s.until(r"Stopped +sleep 2000\ninner>$")
        s.type("fg")
        s.until(r"inner> fg\nsleep 2000$")
        eventually(lambda: any(p.argv == ["sleep", "2000"] and p.state == "S"
                               for p in self.mine()), "the sleep to go on")
        s.keys("C-c")
        s.until(r"\^C\ninner>$")
        s.type("exit 5")
        s.until(r"^status 5\nready>$")

    def test_bash_has_job_control_and_no_warning(self):
        s = self.bash()
        s.type("terse bash --norc --noprofile -ic 'set -o | grep monitor'")
        s.until(r"^monitor\s+on\nready>$")
        self.assertNotIn("cannot set terminal process group", s.show())


class JobControl(ScreenCase):
    def wait_state(self, argv, state):
        eventually(lambda: any(p.argv == argv and p.state in state for p in self.mine()),
                   lambda: "%s in %s: %s" % (argv, state, self.mine()))

    def test_one_ctrl_c_ends_a_loop(self):
        s = self.bash()
        s.type("for i in 1 2 3; do terse sleep 1000; done; echo not reached")
        self.wait_state(["sleep", "1000"], "S")
        s.keys("C-c")
        s.until(r"\^C\nready>$")
        s.type("echo status $?")
        s.until(r"^status 130$")

    def script(self, text):
        return write_file(os.path.join(self.work, "script"), text, 0o755)

    def test_one_ctrl_c_ends_a_script(self):
        """The keyboard's signals are for all of the foreground, which the script is in, too."""
        for shell in ("sh", "bash"):
            with self.subTest(shell=shell):
                self.script("#!/bin/%s\nfor i in 1 2 3; do terse sleep 1000; done\n"
                            "echo not reached\n" % shell)
                s = self.bash()
                s.type("./script")
                self.wait_state(["sleep", "1000"], "S")
                s.keys("C-c")
                s.until(r"\^C\nready>$")
                s.type("echo status $?")
                s.until(r"^status 130$")
                self.assertNotIn("not reached", s.show())
                s.close()

    def test_ctrl_c_that_a_command_handles_does_not_end_a_script(self):
        """As without terse: it was the command's to deal with."""
        self.script("#!/bin/bash\nterse bash -c 'trap \"echo caught; exit 0\" INT; echo set;"
                    " while :; do sleep 0.05; done'\necho next\n")
        s = self.bash()
        s.type("./script")
        s.until(r"^set$")
        s.keys("C-c")
        s.until(r"caught\nnext\nready>$")

    def test_ctrl_z_stops_a_script(self):
        self.script("#!/bin/bash\nterse sleep 1000\necho next\n")
        s = self.bash()
        s.type("./script")
        self.wait_state(["sleep", "1000"], "S")
        s.keys("C-z")
        s.until(r"Stopped +\./script\nready>$")
        s.type("fg")
        self.wait_state(["sleep", "1000"], "S")
        s.keys("C-c")
        s.until(r"\^C\nready>$")
        self.assertNotIn("next", s.show())

    def test_ctrl_c_and_a_handler(self):
        s = self.bash()
        s.type("terse sh -c 'trap \"echo caught; exit 4\" INT; echo set; while :; do sleep 0.05;"
               " done'; echo status $?")
        s.until(r"^set$")
        s.keys("C-c")
        s.until(r"caught\nstatus 4\nready>$")

    def test_ctrl_backslash(self):
        s = self.bash()
        s.type("ulimit -c 0; terse sleep 1000; echo status $?")
        self.wait_state(["sleep", "1000"], "S")
        s.keys("C-\\")
        s.until(r"status 131\nready>$")

    def test_stop_and_foreground(self):
        s = self.bash()
        s.type("terse sleep 1000")
        self.wait_state(["sleep", "1000"], "S")
        s.keys("C-z")
        s.until(r"Stopped +terse sleep 1000\nready>$")
        self.wait_state(["sleep", "1000"], "T")
        s.type("fg")
        self.wait_state(["sleep", "1000"], "S")
        s.keys("C-c")
        s.until(r"\^C\nready>$")
        s.type("echo status $?")
        s.until(r"^status 130$")

    def test_stop_and_background(self):
        s = self.bash()
        s.type("terse sh -c 'echo begin; kill -TSTP $$; echo end'")
        s.until(r"Stopped.*\nready>$")
        s.type("bg; wait; echo waited")
        s.until(r"end\n(.*\n)*waited\nready>$")

    def test_vim_stopped_and_continued(self):
        s = self.bash()
        s.type("terse vim -u NONE -N file; echo status $?")
        s.until(r"^~\s*$")
        before = s.modes()
        s.keys("i", "hello", "Escape", "C-z")
        s.until(r"Stopped.*\n(.*\n)?ready>$")
        s.type("echo at the prompt")
        s.until(r"^at the prompt$")
        s.type("fg")
        s.until(r"^~\s*$")
        s.until(r"^hello\s*$")
        eventually(lambda: s.modes() == before, "raw mode")
        s.type(":wq")
        s.until(r"ready>$")
        self.assertEqual(read_file(os.path.join(self.work, "file")), b"hello\n")

    def test_background_then_foreground(self):
        s = self.bash()
        s.type("terse sh -c 'read x; echo got $x' &")
        s.until(r"^\[1\] \d+$")
        s.type("fg")
        s.until_raw()  # what is typed before that is the shell's
        s.type("typed later")
        s.until(r"got typed later\n")

    def test_reading_in_the_background_stops(self):
        """As the kernel stops one that reads its terminal there; it reads on in the foreground."""
        s = self.bash()
        s.type("terse cat &")
        s.until(r"^\[1\] \d+$")
        self.wait_state(["terse", "cat"], "T")
        s.keys("Enter")
        s.until(r"^\[1\]\+ +Stopped.* terse cat$")
        s.type("jobs -l")
        s.until(r"^\[1\]\+ +\d+ Stopped \(tty input\) +terse cat$")
        s.type("fg")
        s.until_raw()
        s.type("typed later")
        s.until(r"^typed later\ntyped later$")
        s.keys("C-d")
        s.until(r"^ready>$")

    def test_background_output(self):
        s = self.bash()
        s.type("terse sh -c 'echo from the background' & wait")
        s.until(r"from the background")

    def test_ctrl_c_ends_a_pipeline_with_the_keyboard_elsewhere(self):
        s = self.bash()
        s.type("yes | terse cat")
        s.until(r"^y\ny$")
        s.until_raw()
        s.keys("C-c")
        s.until(r"^ready>$")
        eventually(lambda: not [p for p in self.mine() if p.argv[:1] in (["yes"], ["cat"])],
                   lambda: str(self.mine()))

    def test_kill_of_a_stopped_one(self):
        s = self.bash()
        s.type("terse sleep 1000")
        self.wait_state(["sleep", "1000"], "S")
        s.keys("C-z")
        s.until(r"Stopped +terse sleep 1000\nready>$")
        s.type("kill -9 %1")
        eventually(lambda: not [p for p in self.mine() if p.name in ("terse", "sleep")],
                   lambda: str(self.mine()))
        s.type("clear; echo typed $((6 * 7))")
        s.until(r"^typed 42\nready>$")

    def test_end_in_the_background_leaves_the_prompt_alone(self):
        s = self.bash()
        s.type("terse sh -c 'while [ ! -e go ]; do sleep 0.02; done; echo over' &")
        s.until(r"^\[1\] \d+\nready>$")
        before = s.modes()
        write_file(os.path.join(self.work, "go"), "")
        s.until(r"over")
        eventually(lambda: not [p for p in self.mine() if p.name == "terse"], "terse's end")
        self.assertEqual(s.modes(), before)
        s.type("clear; echo typed $((6 * 7))")
        s.until(r"^typed 42\nready>$")

    def test_output_to_a_file(self):
        """A person's redirection does not need terse: the command replaces its process."""
        s = self.bash()
        s.type("terse sh -c 'seq 20000; exit 3' >out; echo status $?; wc -l out")
        s.until(r"^status 3\n20000 out\nready>$")
        s.type("clear; terse --timeout 100ms sleep 1000 >out; echo status $?")
        s.until(r"^status 124\nready>$")

    def test_resize(self):
        s = self.bash(cols=90, rows=20)
        # Not a loop of sleeps in bash: it goes on if the key comes just when one has ended.
        write_file(os.path.join(self.work, "watch"), """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
while True:
    size = os.get_terminal_size()
    print(size.lines, size.columns, flush=True)
    signal.sigwait([signal.SIGWINCH])
""")
        s.type("terse python3 watch")
        s.until(r"^20 90$")
        s.resize(110, 25)
        s.until(r"^25 110$")
        s.resize(70, 15)
        s.until(r"^15 70$")
        s.keys("C-c")
        s.until(r"ready>$")

    def test_resize_while_stopped(self):
        s = self.bash(cols=90, rows=20)
        s.type("terse sh -c 'kill -TSTP $$; stty size'")
        s.until(r"Stopped.*\nready>$")
        s.resize(80, 25)
        s.type("fg")
        s.until(r"^25 80$")

    def test_hangup_of_the_terminal(self):
        s = self.bash()
        s.type("terse sh -c 'echo up; while :; do sleep 0.05; done'")
        s.until(r"^up$")
        s.close()
        self.assert_nothing_left()


class Restored(ScreenCase):
    """Modes after SIGKILL of each process, without a shell that would put them back."""

    # vim sets modes of its own on the inner terminal, terse raw mode on the outer one.
    SCRIPT = "trap : INT; stty -echoctl; echo begin; {0} {1}; echo $? >status; echo over; read x"

    def start(self, command, wait):
        s = self.screen("sh", "-c", self.SCRIPT.format("terse", command))
        s.until(wait)
        return s

    def plain_modes(self):
        s = self.screen("sh", "-c", "stty -echoctl; echo begin; read x")
        s.until("begin")
        modes = s.modes()
        s.close()
        return modes

    def roles_of_terse(self):
        everyone = []

        def found():
            everyone[:] = self.mine()
            ours = {p.pid: p for p in everyone if p.name == "terse"}
            front = [p for p in ours.values() if p.parent not in ours]
            return front[0].pid if len(front) == 1 else None
        front = eventually(found, lambda: "one front end: %s" % everyone)
        return (front,) + self.roles(front)

    def check(self, *victims, command="vim -u NONE -N file", wait=r"^~\s*$"):
        before = self.plain_modes()
        s = self.start(command, wait)
        front, supervisor, watchdog, child = self.roles_of_terse()
        pids = {"front": front, "supervisor": supervisor, "watchdog": watchdog, "command": child}
        self.assertNotEqual(s.modes(), before)
        for victim in victims:
            signal_if_there(pids[victim], signal.SIGKILL)
        eventually(lambda: s.modes() == before, lambda: "modes %s, not %s" % (s.modes(), before))
        # The last output of a killed vim may have wiped the text from the screen.
        status = os.path.join(self.work, "status")
        eventually(lambda: os.path.exists(status), "the script to go on")
        os.unlink(status)
        eventually(lambda: not [p for p in self.mine() if p.pid in pids.values()],
                   lambda: "all ended: %s" % self.mine())
        self.assertEqual(s.modes(), before)

    def test_nobody(self):
        before = self.plain_modes()
        s = self.start("true", r"^over$")
        self.assertEqual(s.modes(), before)

    def test_front_end(self):
        self.check("front")

    def test_supervisor(self):
        self.check("supervisor")

    def test_command(self):
        self.check("command")

    def test_watchdog_and_command(self):
        self.check("watchdog", "command")

    def test_front_end_and_supervisor(self):
        self.check("front", "supervisor")
        self.close_all()
        self.check("supervisor", "front")

    def test_front_end_and_watchdog(self):
        self.check("watchdog", "front")

    def close_all(self):
        for screen in self.screens:
            screen.close()

    def test_modes_that_the_command_sets_are_its_own(self):
        """A stty of the command changes its terminal, not the person's."""
        before = self.plain_modes()
        s = self.start("stty -icanon -echo", r"^over$")
        self.assertEqual(s.modes(), before)


if __name__ == "__main__":
    main()
