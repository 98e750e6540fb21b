#!/usr/bin/env -S python3 -B
"""Programs that wait for keys that nobody can type get SIGHUP, or a line reports them. Also the text that a
full-screen program leaves."""

import json
import os
import re

from support.harness import Case, main, write_file

# Far below what a test waits, and far above what the program needs to get there.
SOON = ("--hang-up", "1s")

HUNG_UP = rb" \(hung up: it waited for keys that nobody can type; a run with yield=5s lets you"
WAITS = rb"; python3 waits for keys that nobody can type \(a run with yield=5s lets you\)\]\n"
PICTURE = rb"above: its screen, as it was last\)\]\n\Z"

# A program that finds stdin no terminal, and waits on the one of its output.
WAITS_FOR_KEYS = """
import os, select, signal, socket, sys, termios, tty
how, raw = sys.argv[1], sys.argv[2] != "cooked"
fd = os.open(os.ttyname(1), os.O_RDONLY | os.O_NOCTTY)
if raw:
    tty.setraw(fd)
if "ignores" in sys.argv:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
if "ignores all" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "server" in sys.argv:
    server = socket.create_server(("127.0.0.1", 0))
if "local" in sys.argv:
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket")
    server.listen()
fds = [fd] + ([0] if "stdin" in sys.argv else [])
print("drawn", flush=True)
if how == "read":
    os.read(fd, 1)
elif how == "select":
    select.select(fds, [], [])
elif how == "poll":
    p = select.poll()
    for one in fds:
        p.register(one, select.POLLIN)
    p.poll()
elif how == "often":
    while not select.select(fds, [], [], 0.2)[0]:
        pass
elif how == "epoll":
    p = select.epoll()
    for one in fds:
        p.register(one, select.EPOLLIN)
    p.poll()
elif how == "alone":
    p = select.poll()
    p.register(os.pipe()[0], select.POLLIN)
    p.poll()
elif how == "timed":
    select.poll().poll(60000)
elif how == "stdin":
    os.dup2(1, 0)
    select.poll().poll()
print("went on", flush=True)
"""

BOX = ("\033[?1049h\033[2J\033[3;5H\u250c" + "\u2500" * 30 + "\u2510\033[4;5H\u2502" + " " * 30 +
       "\u2502\033[5;5H\u2502  really?" + " " * 21 + "\u2502\033[6;5H\u2514" + "\u2500" * 30 +
       "\u2518")
SHOWN = ("\u250c" + "\u2500" * 8 + "\u2510\n\u2502  really?" + " " * 21 + "\u2502\n\u2514" +
         "\u2500" * 8 + "\u2518\n").encode()


class KeysCase(Case):
    def setUp(self):
        super().setUp()
        self.program = write_file(os.path.join(self.work, "waits"), WAITS_FOR_KEYS)

    def begin(self, *argv, options=SOON, **how):
        return self.start("terse", *options, "python3", self.program, *argv, **how)

    def assert_hung_up(self, run, end):
        run.finish()
        self.assertTrue(re.search(rb"\Adrawn\n\[terse: " + end + HUNG_UP + rb"\)\]\n\Z", run.out),
                        run.out)


class HangUp(KeysCase):
    def test_by_the_way_it_waits(self):
        for how in ("read", "select", "poll", "epoll", "stdin", "alone", "often"):
            run = self.begin(how, "raw", kind="pipe")
            self.assert_hung_up(run, rb"killed by SIGHUP")
            self.assertEqual(run.code, -1)

    def test_signals_that_are_ignored(self):
        self.assert_hung_up(self.begin("read", "raw", "ignores"), rb"killed by SIGTERM")
        self.assert_hung_up(self.begin("read", "raw", "ignores", "ignores all",
                                       options=SOON + ("--grace", "100ms")), rb"killed by SIGKILL")

    def test_a_local_socket_is_no_server(self):
        self.assert_hung_up(self.begin("read", "raw", "local"), rb"killed by SIGHUP")

    def test_only_the_one_that_waits(self):
        """As the editor of a commit: who started it goes on."""
        run = self.start("terse", *SOON, "sh", "-c", "python3 waits poll raw; echo status $?; exit 4")
        run.finish()
        self.assertTrue(re.match(rb"drawn\n(Hangup\n)?status 129\n\[terse: exit 4" + HUNG_UP, run.out),
                        run.out)
        self.assertEqual(run.code, 4)

    def test_whiptail(self):
        run = self.start("terse", *SOON, "whiptail", "--yesno", "really?", "8", "20").finish()
        self.assertNotEqual(run.code, 0)
        self.assertIn(b"really?", run.out)
        self.assertTrue(re.search(HUNG_UP + rb"; " + PICTURE, run.out), run.out)

    def test_as_json(self):
        run = self.start("terse", *SOON, "--format", "json", "python3", self.program, "read", "raw")
        run.finish()
        told = json.loads(run.out)
        self.assertEqual(told["signal"], "SIGHUP")
        self.assertTrue(told["warnings"][0].startswith("hung up: it waited for keys"), told)


class OnlyTold(KeysCase):
    def assert_told(self, run):
        run.until(rb"drawn\n\[terse: still running after [^;]+; 1 line, 6 B so far: terse read "
                  rb"cmd-\w+" + WAITS)
        run.kill(15)
        run.finish()

    def test_line_editing_is_on(self):
        self.assert_told(self.begin("read", "cooked"))

    def test_a_server(self):
        self.assert_told(self.begin("read", "raw", "server"))

    def test_standard_input_may_bring_something(self):
        r, w = os.pipe()
        for how in ("poll", "select", "epoll"):
            self.assert_told(self.begin(how, "raw", "stdin", stdin=r))
        os.close(r)
        os.close(w)

    def test_what_may_go_on_by_itself(self):
        for script in ("sleep 1000 & exec python3 waits alone raw", "exec python3 waits timed raw"):
            run = self.start("terse", "--hang-up", "300ms", "--heartbeat", "3s", "bash", "-c", script)
            told = run.until(rb"drawn\n\[terse: still running after .* terse read (cmd-\w+).*\]\n")
            self.assertEqual(self.terse("signal", told[1].decode()).code, 0)
            run.finish()

    def test_switched_off(self):
        self.assert_told(self.begin("read", "raw", options=("--hang-up", "off")))


class Heartbeat(Case):
    def assert_heartbeat(self, end, *argv, **how):
        run = self.start("terse", "--heartbeat", "300ms", *argv, **how)
        run.until(rb"\[terse: still running after .*; " + end + rb"\]\n")
        run.kill(15)
        run.finish()

    def test_what_it_waits_for(self):
        lock = write_file(os.path.join(self.work, "lock"), "")
        r, w = os.pipe()
        self.assert_heartbeat(b"sleep sleeps", "sleep", "1000")
        self.assert_heartbeat(b"cat waits for its standard input", "cat", stdin=r)
        holder = self.start("flock", lock, "sh", "-c", "echo held; read x", stdin=r)
        holder.until(b"held\n")
        self.assert_heartbeat(b"flock waits for a lock", "flock", lock, "true")
        os.close(r)
        os.close(w)
        holder.finish()


class Picture(Case):
    def test_of_a_screen_that_was_left(self):
        write_file(os.path.join(self.work, "draw"), BOX + "\033[?1049l")
        run = self.terse("--pty", "cat", "draw")
        self.assertEqual(run.out, SHOWN + b"[terse: exit 0 (above: its screen, as it was last)]\n")

    def test_not_where_there_is_a_text(self):
        write_file(os.path.join(self.work, "draw"), BOX + "\033[?1049lanswer\n")
        self.assertEqual(self.terse("--pty", "cat", "draw").out, b"answer\n")

    def test_of_a_run_that_was_cut_short(self):
        write_file(os.path.join(self.work, "draw"), "before\n" + BOX)
        run = self.out_of_time("sh", "-c", "cat draw; : >came; exec sleep 1000")
        self.assertEqual(run.code, 124)
        self.assertEqual(run.out, b"before\n" + SHOWN + b"[terse: timed out (exit 124; above: its "
                         b"screen, as it was last)]\n")

    def test_of_an_earlier_program_it_is_not(self):
        write_file(os.path.join(self.work, "draw"), "before\n" + BOX + "\033[?1049l")
        run = self.out_of_time("sh", "-c", "cat draw; : >came; exec sleep 1000")
        self.assertNotIn(b"really?", run.out)

    def test_watch(self):
        # The second time, what it showed the first time is there.
        run = self.out_of_time("sh", "-c", "rm -f once; exec watch -n 0.1 'echo tick; [ -e once ] && : >came; : >once'")
        self.assertTrue(re.search(rb"(?m)^tick$", run.out), run.out)
        self.assertTrue(re.search(PICTURE, run.out), run.out)

    def test_a_program_that_draws_and_does_not_end_is_told_of(self):
        script = "printf '\\033[?1049h'; while :; do date +%N; sleep 0.1; done"
        run = self.start("terse", "bash", "-c", script)
        run.until(rb"it draws on a screen that nobody sees \(a run with timeout=5s shows the last")
        run.kill(15)
        run.finish()


if __name__ == "__main__":
    main()
