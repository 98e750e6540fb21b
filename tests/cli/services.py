#!/usr/bin/env -S python3 -B
"""--service and --join: one run where several would be one too many."""

import contextlib
import os
import random
import re
import signal
import socket

from support.harness import Case, TERSE, eventually, let_go_on, main, read_file, write_file

ID = rb"cmd-[0-9a-z]{12}"

# Listens, says where, and goes on.
SERVER = ("import socket, time; s = socket.create_server(('127.0.0.1', %d)); "
          "open('starts', 'a').write('x'); print('ready', flush=True); time.sleep(1000)")


def free_port():
    """One that nobody is given who asks for any."""
    while True:
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", random.randrange(10000, 30000))) as free:
            return free.getsockname()[1]


class Services(Case):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.server = ["python3", "-c", SERVER % self.port]

    def serve(self, *options, code=0):
        run = self.terse("--service", "web", *options, *self.server)
        self.assertEqual(run.code, code, run.out)
        return re.search(ID, run.out)[0].decode(), run.out

    def starts(self):
        return len(read_file(os.path.join(self.work, "starts")))

    def test_it_is_started_once(self):
        first, out = self.serve("--port", str(self.port))
        socket.create_connection(("127.0.0.1", self.port)).close()
        self.assertRegex(out, rb"\[terse: running after ")
        again, out = self.serve("--for", "^ready$")
        self.assertEqual(again, first)
        self.assertIn(b'[terse: found "ready"; running after ', out)
        self.assertEqual(self.starts(), 1)
        listed = self.ask("list", "--live").decode()
        self.assertIn("\n    service web, port %d\n" % self.port, listed)
        self.ask("signal", "web")
        self.assertEqual(self.terse("list", "--live").out, b"terse list: nothing runs\n")

    def test_a_second_start_without_a_name(self):
        """It fails, and the run that has the port is named, without waiting for an answer from it; another
        command's failure names none, and neither does one that is not about it."""
        program = write_file(os.path.join(self.work, "server"), self.server[2])
        self.server = ["python3", program]
        first, _ = self.serve("--port", str(self.port))
        supervisor = self.metadata(first)["process.parent_pid"]
        os.kill(supervisor, signal.SIGSTOP)
        again = self.terse("--preview", *self.server)
        os.kill(supervisor, signal.SIGCONT)
        self.assertEqual(again.code, 1)
        self.assertIn(b"Address already in use", again.out)
        line = "[terse: %s still listens on port %d: terse read %s, or terse signal to end it]\n" % (first, self.port, first)
        self.assertTrue(again.out.endswith(line.encode()), again.out)
        self.assertNotIn(b"listens", self.terse("--preview", "false").out)
        write_file(program, "x")
        self.assertRegex(self.terse("--preview", *self.server).out, rb"NameError.*\n\Z")
        self.ask("signal", "web")

    def test_two_at_the_same_moment(self):
        runs = [self.start(TERSE, "--service", "web", "--for", "ready", *self.server) for _ in range(6)]
        ids = {(re.search(ID, run.finish().out) or [run.out])[0] for run in runs}
        self.assertEqual(len(ids), 1)
        self.assertEqual([run.code for run in runs], [0] * 6)
        self.assertEqual(self.starts(), 1)
        self.ask("signal", "web")

    def test_restart(self):
        first, _ = self.serve("--for", "ready")
        second, out = self.serve("--restart", "--for", "ready")
        self.assertNotEqual(first, second)
        self.assertIn(b'found "ready"', out)
        self.assertEqual((self.starts(), self.metadata(first)["state"]), (2, "done"))
        self.ask("signal", "web")

    def test_a_name_is_its_directory_s(self):
        first, _ = self.serve("--for", "ready")
        elsewhere = os.path.join(self.work, "elsewhere")
        os.mkdir(elsewhere)
        run = self.terse("--service", "web", "--for", "on", "sh", "-c", "echo on; exec sleep 1000", cwd=elsewhere)
        self.assertNotIn(first.encode(), run.out)
        self.assertEqual(self.terse("signal", "web", cwd=elsewhere).code, 0)
        self.assertIn(first.encode(), self.ask("list", "--live"))
        self.ask("signal", "web")

    def test_one_that_ends_before_it_is_ready(self):
        run = self.terse("--service", "web", "--for", "ready", "sh", "-c", "echo no; exit 3")
        self.assertEqual((run.code, run.out), (3, b'no\n[terse: exit 3 (not found: "ready")]\n'))
        run = self.terse("--service", "web", "--port", str(self.port), "sh", "-c", "echo no; exit 4")
        self.assertEqual((run.code, run.out), (4, b"no\n[terse: exit 4]\n"))

    def test_one_that_can_t_be_started(self):
        run = self.terse("--service", "web", "./nothing")
        self.assertEqual((run.code, run.out), (127, b"terse: ./nothing: No such file or directory\n"))

    def test_an_equal_command_is_joined(self):
        command = ["sh", "-c", "echo x >>starts; echo begun; read x <go; echo on; exit 3"]
        os.mkfifo(os.path.join(self.work, "go"))
        first = self.start(TERSE, "--yield", "1ms", *command)
        first.finish()
        trace = os.path.join(self.work, "trace")
        runs = [self.start(TERSE, "--join", *command, env={"TERSE_DEBUG": trace}) for _ in range(2)]
        eventually(lambda: os.path.exists(trace) and read_file(trace).count(b"joins cmd-") == 2, "two that join")
        let_go_on(os.path.join(self.work, "go"))
        for run in runs:
            run.finish()
        self.assertEqual({(run.code, run.out) for run in runs}, {(3, b"begun\non\n[terse: exit 3]\n")})
        self.assertEqual(self.starts(), len("x\n"))
        # None runs any more.
        run = self.terse("--join", "sh", "-c", "exit 5")
        self.assertEqual((run.code, run.out), (5, b""))

    def test_equal_commands_that_start_at_once(self):
        os.mkfifo(os.path.join(self.work, "go"))
        trace = os.path.join(self.work, "trace")
        runs = [self.start(TERSE, "--join", "sh", "-c", "echo x >>starts; read x <go; exit 3", env={"TERSE_DEBUG": trace})
                for _ in range(4)]
        eventually(lambda: os.path.exists(trace) and read_file(trace).count(b"joins cmd-") == 3, "three that join")
        let_go_on(os.path.join(self.work, "go"))
        self.assertEqual([run.finish().code for run in runs], [3] * 4)
        self.assertEqual(self.starts(), len("x\n"))

    def test_bad_usage(self):
        for argv, said in ((("--port", "80", "true"), b"terse: --for, --port and --restart go with --service\n"),
                           (("run", "--port", "80", "--xyzzy"),
                            b"terse: --xyzzy: no such option (see terse help run)\n"),
                           (("--service", "", "true"), b"terse: --service: a name is missing\n"),
                           (("--service", "web", "--port", "65536", "true"), b"terse: --port: from 1 to 65535\n")):
            run = self.terse(*argv)
            self.assertEqual((run.code, run.out), (125, said))


if __name__ == "__main__":
    main()
