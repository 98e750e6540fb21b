#!/usr/bin/env -S python3 -B
"""terse ends as the command did: exit codes, signals, commands that can't be run, signals sent to it."""

import os
import resource
import signal

from support.harness import (Case, Process, TERSE, eventually, let_go_on, main, read_file,
                             signal_if_there, write_file)

# Signals whose default action ends a process. 32 and 33 are the C library's own.
FATAL = [s for s in list(range(1, 32)) + list(range(34, 65)) if s not in (
    signal.SIGCHLD, signal.SIGCONT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN,
    signal.SIGTTOU, signal.SIGURG, signal.SIGWINCH)]


def allow_core():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


class ExitCode(Case):
    def test_every_code(self):
        for code in range(256):
            run = self.terse("sh", "-c", "exit %d" % code)
            self.assertEqual((run.code, run.out), (code, b""))

    def test_every_code_through_a_shell(self):
        script = ("n=0; while [ $n -lt 256 ]; do terse sh -c \"exit $n\"; echo $?;"
                  " n=$((n + 1)); done")
        run = self.shell(script, kind="file")
        self.assertEqual(run.out.split(), [b"%d" % n for n in range(256)])

    def test_of_a_command_with_long_output(self):
        run = self.terse("sh", "-c", "seq 5000; exit 9")
        self.assertEqual(run.code, 9)
        self.assertIn(b"[terse: exit 9 after ", run.out)

    def test_status_line_is_printed_on_request(self):
        script = ("terse", "--status", "failure", "sh", "-c", "echo x; exit 4")
        self.assertEqual(self.run_to_end(*script).out, b"x\n[terse: exit 4]\n")
        self.assertEqual(self.terse("--status=failure", "echo", "x").out, b"x\n")
        self.assertEqual(self.terse("--status=always", "echo", "x").out, b"x\n[terse: exit 0]\n")
        self.assertEqual(self.terse("sh", "-c", "echo x; exit 4").out, b"x\n")


class Signal(Case):
    def test_every_fatal_signal(self):
        for sig in FATAL:
            # Python as the command: a shell can't send itself all of them everywhere.
            argv = ("sh", "-c", "kill -%d $$; exit 99" % sig)
            plain = self.run_to_end(*argv)
            through = self.terse(*argv)
            self.assertTrue(os.WIFSIGNALED(through.status), (sig, through.status))
            self.assertEqual(os.WTERMSIG(through.status), sig)
            self.assertEqual(os.WTERMSIG(plain.status), sig)

    def test_every_fatal_signal_through_a_shell(self):
        for sig in FATAL:
            run = self.shell("terse sh -c 'kill -%d $$'; echo $?" % sig, kind="file", split=True)
            self.assertEqual(run.out, b"%d\n" % (128 + sig))

    def test_no_second_core(self):
        elsewhere = os.path.join(self.dir, "elsewhere")
        os.mkdir(elsewhere)
        plain = self.start("sh", "-c", "kill -SEGV $$", cwd=elsewhere, before=allow_core).finish()
        run = self.terse("--cwd", elsewhere, "sh", "-c", "kill -SEGV $$", before=allow_core)
        self.assertEqual(os.WTERMSIG(run.status), signal.SIGSEGV)
        self.assertFalse(os.WCOREDUMP(run.status))
        self.assertEqual(os.listdir(self.work), [])
        pattern = read_file("/proc/sys/kernel/core_pattern")
        if os.WCOREDUMP(plain.status) and pattern in (b"core\n", b"core.%p\n"):
            self.assertNotEqual(os.listdir(elsewhere), [], "the command's own core is missing")

    def test_the_shell_tells_the_signal_as_usual(self):
        run = self.shell("sh -c 'kill -SEGV $$'; terse sh -c 'kill -SEGV $$'; :", kind="file",
                         split=True)
        plain, through = run.err.splitlines()
        self.assertEqual(through.replace(b" (core dumped)", b""),
                         plain.replace(b" (core dumped)", b""))


class NotRun(Case):
    def same_as_env(self, path):
        """The report of env(1), which only executes the command, on the same file."""
        plain = self.run_to_end("env", path)
        run = self.terse(path)
        self.assertEqual(run.code, plain.code, path)
        return run

    def test_missing(self):
        run = self.same_as_env("no-such-program")
        self.assertEqual(run.code, 127)
        self.assertEqual(run.out, b"terse: no-such-program: command not found\n")

    def test_missing_path(self):
        run = self.same_as_env("./no/such")
        self.assertEqual((run.code, run.out),
                         (127, b"terse: ./no/such: No such file or directory\n"))

    def test_empty_name(self):
        self.assertEqual(self.terse("").code, 127)

    def test_not_executable(self):
        path = write_file(os.path.join(self.work, "plain"), "exit 0\n")
        run = self.same_as_env(path)
        self.assertEqual((run.code, run.out),
                         (126, b"terse: %s: Permission denied\n" % os.fsencode(path)))

    def test_directory(self):
        run = self.same_as_env(self.work)
        self.assertEqual((run.code, run.out),
                         (126, b"terse: %s: Permission denied\n" % os.fsencode(self.work)))

    def test_file_as_directory(self):
        path = write_file(os.path.join(self.work, "plain"), "")
        self.assertEqual(self.same_as_env(path + "/x").code, 126)

    def test_script_without_interpreter_line(self):
        path = write_file(os.path.join(self.work, "script"), "echo $1; exit 3\n", 0o755)
        run = self.terse(path, "yes")
        plain = self.run_to_end("env", path, "yes")
        self.assertEqual((run.code, run.out), (3, b"yes\n"))
        self.assertEqual((plain.code, plain.out), (3, b"yes\n"))

    def test_missing_interpreter(self):
        path = write_file(os.path.join(self.work, "script"), "#!/no/such\n", 0o755)
        self.assertEqual(self.same_as_env(path).code, 127)

    def test_empty_executable(self):
        path = write_file(os.path.join(self.work, "empty"), "", 0o755)
        self.same_as_env(path)

    def test_broken_binary(self):
        """As a shell says it: 126, and sh does not read it."""
        path = write_file(os.path.join(self.work, "broken"), b"\x7fELF" + bytes(60), 0o755)
        for name, env in ((path, None), ("./broken", None),
                          ("broken", {"PATH": "/nosuch:%s:/bin" % self.work})):
            plain = self.run_to_end("/bin/bash", "-c", name, env=env)
            run = self.run_to_end(TERSE, name, env=env)
            self.assertEqual((run.code, plain.code), (126, 126))
            self.assertEqual(run.out, b"terse: %s: Exec format error\n" % name.encode())

    def test_too_many_arguments(self):
        """E2BIG comes from the kernel, for terse itself as for any program."""
        run = self.shell("terse sh -c 'exit 5' \"$(head -c 200000 /dev/zero | tr '\\0' x)\"")
        self.assertNotEqual(run.code, 0)

    def test_a_command_that_exits_126_or_127_itself(self):
        for code in (126, 127):
            run = self.terse("sh", "-c", "exit %d" % code)
            self.assertEqual((run.code, run.out), (code, b""))

    def test_hint_for_a_shell_word(self):
        run = self.terse("export", "A=b")
        self.assertEqual(run.code, 127)
        self.assertIn(b"terse -c 'export ...'", run.out)
        run = self.terse("A=b", "make")
        self.assertEqual(run.code, 127)
        self.assertIn(b"terse -c 'A=b ...'", run.out)

    def test_message_is_on_stderr(self):
        run = self.terse("no-such-program", split=True)
        self.assertEqual(run.out, b"")
        self.assertIn(b"command not found", run.err)

    def test_path_of_the_caller_is_searched(self):
        os.mkdir(os.path.join(self.work, "bin"))
        write_file(os.path.join(self.work, "bin", "mine"), "#!/bin/sh\necho found\n", 0o755)
        run = self.terse("mine", env={"PATH": os.path.join(self.work, "bin")})
        self.assertEqual((run.code, run.out), (0, b"found\n"))

    def test_no_artifact_and_nothing_left(self):
        self.terse("no-such-program")
        self.assert_nothing_left()
        self.assertEqual(self.artifacts(), [])


class Sent(Case):
    """Signals that are sent to terse."""

    def started(self, script):
        run = self.start(TERSE, "sh", "-c", script)
        run.until(rb"ready")
        return run

    def test_ends_the_command_by_the_same_signal(self):
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                    signal.SIGUSR2, signal.SIGALRM):
            run = self.started("echo ready; exec sleep 1000")
            run.kill(sig)
            run.finish()
            self.assertEqual(run.code, -sig)
            self.assert_nothing_left()

    def test_reaches_a_handler(self):
        run = self.started("trap 'echo got it; exit 3' TERM; sleep 1000 & until grep -q sleep /proc/$!/comm; do :; done;"
                           " echo ready; wait")
        run.kill(signal.SIGTERM)
        run.finish()
        self.assertEqual(run.code, 3)
        self.assertRegex(run.out, rb"\Aready\ngot it\n\[terse: exit 3; sleep still writes: terse read cmd-\w+\]\n\Z")
        self.kill_all()

    def test_reaches_every_kind_of_handler(self):
        names = ("HUP", "INT", "QUIT", "USR1", "USR2", "TERM", "ALRM", "VTALRM", "PROF", "WINCH")
        traps = " ".join("trap 'echo got %s' %s;" % (n, n) for n in names)
        run = self.started(traps + " echo ready; while [ ! -e go ]; do sleep 0.02; done; exit 3")
        for name in names:
            run.kill(getattr(signal, "SIG" + name))
            run.until(b"got %s\n" % name.encode())
        write_file(os.path.join(self.work, "go"), "")
        run.finish()
        self.assertEqual(run.code, 3)

    def test_reaches_the_whole_group(self):
        run = self.start(TERSE, "sh", "-c", "sleep 1000 | sleep 1001 & echo ready; wait",
                         before=lambda: os.setpgid(0, 0))
        run.until(rb"ready")
        os.killpg(run.pid, signal.SIGTERM)
        run.finish()
        self.assertEqual(run.code, -signal.SIGTERM)
        self.assert_nothing_left()

    def test_stop_and_continue(self):
        run = self.started("echo ready; read x <%s; echo went $x" % self.fifo())
        run.kill(signal.SIGTSTP)
        self.assertTrue(os.WIFSTOPPED(run.wait(os.WUNTRACED)))
        command = [p for p in self.mine() if p.argv[:1] == ["sh"]]
        self.assertEqual([p.state for p in command], ["T"])
        run.kill(signal.SIGCONT)
        eventually(lambda: [p.state for p in self.mine() if p.argv[:1] == ["sh"]] == ["S"],
                   "the command continues")
        let_go_on(os.path.join(self.work, "fifo"))
        run.finish()
        self.assertEqual((run.code, run.out), (0, b"ready\nwent on\n"))

    def test_command_that_stops_itself(self):
        run = self.started("echo ready; kill -STOP $$; echo went on; exit 2")
        self.assertTrue(os.WIFSTOPPED(run.wait(os.WUNTRACED)))
        run.kill(signal.SIGCONT)
        run.finish()
        self.assertEqual((run.code, run.out), (2, b"ready\nwent on\n"))

    def test_command_that_another_continues(self):
        run = self.started("echo ready; kill -STOP $$; echo went on; exit 2")
        self.assertTrue(os.WIFSTOPPED(run.wait(os.WUNTRACED)))
        command = [p for p in self.mine() if p.argv[:1] == ["sh"]]
        os.kill(command[0].pid, signal.SIGCONT)
        run.finish()
        self.assertEqual((run.code, run.out), (2, b"ready\nwent on\n"))

    def test_command_that_another_continues_at_once(self):
        """Stopped and continued before terse can have stopped itself."""
        for _ in range(30):
            run = self.started("echo ready; p=$$; sh -c 'kill -STOP '$p'; kill -CONT '$p;"
                               " echo went on; exit 2")
            run.finish()
            self.assertEqual((run.code, run.out), (2, b"ready\nwent on\n"))

    def test_command_that_stops_twice(self):
        run = self.started("echo ready; kill -STOP $$; kill -STOP $$; echo went on; exit 2")
        self.assertTrue(os.WIFSTOPPED(run.wait(os.WUNTRACED)))
        command = [p for p in self.mine() if p.argv[:1] == ["sh"]][0].pid
        for _ in range(2):
            eventually(lambda: Process(command).state == "T", "the command to stop")
            os.kill(command, signal.SIGCONT)
        run.finish()
        self.assertEqual((run.code, run.out), (2, b"ready\nwent on\n"))

    def test_command_that_is_killed_while_stopped(self):
        run = self.started("echo ready; kill -STOP $$")
        self.assertTrue(os.WIFSTOPPED(run.wait(os.WUNTRACED)))
        command = [p for p in self.mine() if p.argv[:1] == ["sh"]]
        os.kill(command[0].pid, signal.SIGKILL)
        run.finish()
        self.assertEqual(run.code, -signal.SIGKILL)

    def test_last_words_after_a_term_to_all(self):
        """Agents end the whole tree; the command's farewell is still printed."""
        # The command gets it twice: from here, and from terse, which passes it on.
        run = self.started("trap 'trap \"\" TERM; echo 1; echo 2; exit 7' TERM; exec 3<>%s;"
                           " echo ready; read x <&3" % self.fifo())
        for process in self.mine():
            signal_if_there(process.pid, signal.SIGTERM)
        run.finish()
        self.assertEqual((run.code, run.out), (7, b"ready\n1\n2\n"))


if __name__ == "__main__":
    main()
