#!/usr/bin/env -S python3 -B
"""Nobody can answer a prompt when an agent runs a command: it must fail at once, as without
terse, and not wait. With --tty there is a terminal to ask on."""

import fcntl
import http.server
import os
import pty
import re
import signal
import termios
import threading

from support.harness import Case, eventually, main, write_file


class AskPassword(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="private"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


class Prompts(Case):
    def server(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), AskPassword)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()

        def stop():
            server.shutdown()
            thread.join()
            server.server_close()
        self.addCleanup(stop)
        return server.server_address[1]

    def without_terminal(self, *argv, **how):
        """As an agent starts it: a session without a controlling terminal."""
        return self.run_to_end("setsid", "-w", *argv, **how)

    def test_git_password(self):
        url = "http://127.0.0.1:%d/x" % self.server()
        for kind in ("socket", "pipe"):
            plain = self.without_terminal("git", "ls-remote", url, kind=kind)
            run = self.without_terminal("terse", "git", "ls-remote", url, kind=kind)
            self.assertEqual((run.code, run.out), (plain.code, plain.out))
            self.assertEqual(run.code, 128)
            self.assertIn(b"could not read Username", run.out)

    def test_git_password_with_stdin_that_never_ends(self):
        """Stdin is a pipe that stays open and silent."""

        r, w = os.pipe()
        url = "http://127.0.0.1:%d/x" % self.server()
        run = self.start("setsid", "-w", "terse", "git", "ls-remote", url, stdin=r)
        run.finish()
        os.close(r)
        os.close(w)
        self.assertEqual(run.code, 128)

    def test_dev_tty(self):
        for script in ("read x </dev/tty", "echo x >/dev/tty", "exec 3<>/dev/tty"):
            plain = self.without_terminal("sh", "-c", script)
            run = self.without_terminal("terse", "sh", "-c", script)
            self.assertNotEqual(run.code, 0)
            self.assertEqual((run.code, run.out), (plain.code, plain.out))

    def test_getpass(self):
        script = "import getpass; print(repr(getpass.getpass()))"
        run = self.without_terminal("terse", "python3", "-c", script)
        self.assertNotEqual(run.code, 0)
        self.assertIn(b"EOFError", run.out)

    def test_keys_from_the_output(self):
        """Programs whose standard input is no terminal read keys from standard error; nobody types there."""
        for script in ("read x <&2", "read x <&1"):
            plain = self.without_terminal("bash", "-c", script, kind="pipe")
            run = self.without_terminal("terse", "bash", "-c", script, kind="pipe")
            self.assertNotEqual(run.code, 0)
            self.assertEqual(run.code, plain.code)

    def test_editor(self):
        self.run_to_end("git", "init", "-q", ".")
        env = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_EDITOR": "vim",
               "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}
        run = self.without_terminal("terse", "git", "commit", "--allow-empty", env=env)
        self.assertEqual(run.code, 1)
        self.assertIn(b"problem with the editor", run.out)

    def test_output_is_a_terminal_all_the_same(self):
        run = self.without_terminal("terse", "sh", "-c", "test -t 1 && test -t 2 && tty <&1")
        self.assertEqual(run.code, 0)
        self.assertTrue(run.out.startswith(b"/dev/pts/"), run.out)

    def test_interactive_shell_does_not_hang(self):
        run = self.without_terminal("terse", "bash", "--norc", "-i", "-c", "echo $((6 * 7))")
        self.assertEqual(run.code, 0)
        self.assertTrue(run.out.endswith(b"42\n"))

    def test_tty_on_request(self):
        run = self.without_terminal("terse", "--tty", "sh", "-c", "tty; echo x >/dev/tty")
        self.assertEqual(run.code, 0)
        lines = run.out.split()
        self.assertTrue(lines[0].startswith(b"/dev/pts/"), run.out)
        self.assertEqual(lines[1], b"x")

    def test_tty_gets_the_foreground(self):
        script = ("import os, sys; fd = os.open('/dev/tty', os.O_RDWR);"
                  " print(os.tcgetpgrp(fd) == os.getpgrp(), os.getsid(0) != os.getpid())")
        run = self.without_terminal("terse", "--tty", "python3", "-c", script)
        self.assertEqual(run.out, b"True True\n")


class JobControl(Case):
    """An interactive shell, started by a caller that has a controlling terminal, like an agent on a pty."""

    def at_a_terminal_of_its_own(self, *argv, user=False, typed=b"", **how):
        master, slave = pty.openpty()

        def before():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            if user:
                os.setresuid(65534, 65534, 65534)
        run = self.start(*argv, before=before, fds=(slave,), **how)
        os.close(slave)
        if typed:
            run.until(rb"ready\n")
            os.write(master, typed)
        run.finish()
        os.close(master)
        return run

    SHELL = ("bash", "--norc", "-i", "-c")

    def job(self):
        """One that ends when it is in the foreground."""
        write_file(os.path.join(self.work, "job"), "#!/bin/sh\nuntil read -r pid name state parent group session terminal "
                   "front rest </proc/self/stat && [ $group = $front ]; do sleep 0.01; done\n", 0o755)
        return "./job"

    def test_as_without_terse(self):
        for script in (self.job() + " & fg", "sleep 1000 & kill %1; wait %1; exit 3", "(exit 3) | cat; echo ${PIPESTATUS[0]}",
                       "cat </dev/null; echo $-"):
            for options, how in ((), {}), (("--streams=split",), {"split": True}):
                with self.subTest(script=script, **how):
                    run = self.at_a_terminal_of_its_own("terse", *options, *self.SHELL, script, **how)
                    plain = self.at_a_terminal_of_its_own(*self.SHELL, script, **how)
                    said = [re.sub(rb"(?m)^\[1\] \d+", b"[1] N", out)
                            for one in (run, plain) for out in (one.out, one.err if how else b"")]
                    self.assertEqual((run.code, said[:2]), (plain.code, said[2:]))

    def test_other_shell(self):
        run = self.at_a_terminal_of_its_own("terse", "dash", "-i", "-c", self.job() + " & fg")
        self.assertEqual((run.code, run.out), (0, b"./job\n"))

    def test_typed_interrupt(self):
        """The prompt belongs to the foreground job."""
        script = "sh -c 'trap \"echo caught; exit 5\" INT; echo ready; while :; do sleep 0.02; done'; echo $?"
        run = self.at_a_terminal_of_its_own("terse", *self.SHELL, script, typed=b"\x03")
        self.assertEqual(run.out, b"ready\ncaught\n5\n")

    def test_nobody_can_be_asked(self):
        terse = self.for_everybody()
        for user in (False, True)[:2 if os.geteuid() == 0 else 1]:
            for script in ("read x </dev/tty", "read -s -n1 x </dev/tty", "read x <&2"):
                with self.subTest(user=user, script=script):
                    run = self.at_a_terminal_of_its_own(terse, *self.SHELL, script, user=user)
                    self.assertNotEqual(run.code, 0)
                    self.assertNotIn(b"job control", run.out)

    def test_only_there(self):
        argv = ("terse", *self.SHELL, "echo hi")
        self.assertEqual(self.at_a_terminal_of_its_own(*argv).out, b"hi\n")
        self.assertIn(b"no job control", self.at_a_terminal_of_its_own("terse", "--no-tty", *argv[1:]).out)
        run = self.at_a_terminal_of_its_own("terse", "sh", "-c", "echo </dev/tty")
        self.assertIn(b"No such device", run.out)
        self.assertIn(b"no job control", self.run_to_end("setsid", "-w", *argv).out)

    def test_what_it_leaves_in_the_background_lives_on(self):
        """No hangup comes when its terminal goes, as none comes from an agent's."""
        run = self.at_a_terminal_of_its_own("terse", *self.SHELL, "exec sh -c 'sleep 1000 >/dev/null 2>&1 & echo $!'")
        eventually(lambda: [p.name for p in self.mine()] == ["sleep"], lambda: str(self.mine()))
        os.kill(int(run.out), signal.SIGKILL)


if __name__ == "__main__":
    main()
