#!/usr/bin/env -S python3 -B
"""A command inherits the same as without terse: stdin, descriptors, signal state, umask, limits, environment,
arguments, directory."""

import os
import resource
import signal
import unittest

from support.harness import (Case, TERSE, is_sanitized, let_go_on, main, numbers, read_file,
                             read_to_end, write_file)


class Stdin(Case):
    def test_pipe(self):
        for options in ((), ("--no-pty",), ("--streams=split",), ("--tty",)):
            run = self.terse(*options, "cat", data=b"data\n")
            self.assertEqual((run.code, run.out), (0, b"data\n"))
        self.assertEqual(self.shell("echo data | terse cat").out, b"data\n")

    def test_heredoc(self):
        self.assertEqual(self.shell("terse cat <<'E'\n a\n\tb\nE\n").out, b" a\n\tb\n")
        self.assertEqual(self.shell("terse sh <<'E'\necho from stdin\nexit 3\nE\n").out,
                         b"from stdin\n")
        self.assertEqual(self.run_to_end("bash", "-c", "terse cat <<<word").out, b"word\n")

    def test_1_mb(self):
        data = b"".join(b"%d %s\n" % (i, b"x" * (i % 200)) for i in range(10000))
        self.assertGreater(len(data), 1000000)
        run = self.terse("cksum", data=data)
        plain = self.run_to_end("cksum", data=data)
        self.assertEqual(run.out, plain.out)
        self.assertEqual(self.terse("--full", "cat", data=data).out, data)

    def test_line_longer_than_a_terminal_takes(self):
        data = b"x" * 5000 + b"\n" + b"y" * 100000 + b"\n"
        self.assertEqual(self.terse("wc", "-c", data=data).out, b"105002\n")

    def test_binary(self):
        data = bytes(range(256)) * 500
        self.assertEqual(self.terse("cksum", data=data).out,
                         self.run_to_end("cksum", data=data).out)

    def test_file(self):
        write_file(os.path.join(self.work, "data"), "one\ntwo\nthree\n")
        self.assertEqual(self.shell("terse wc -l <data").out, b"3\n")
        # The position is shared: input that the command leaves is there for the next one.
        run = self.shell("{ terse sh -c 'read x; echo got $x'; cat; } <data")
        self.assertEqual(run.out, b"got one\ntwo\nthree\n")

    def test_what_is_left_in_a_pipe(self):
        run = self.shell("printf 'a\\nb\\nc\\n' | { terse sh -c 'read x; echo got $x'; cat; }")
        self.assertEqual(run.out, b"got a\nb\nc\n")

    def test_while_loop_around_it_keeps_its_input(self):
        script = "printf '1\\n2\\n3\\n' | while read n; do terse echo run $n; done"
        self.assertEqual(self.shell(script).out, b"run 1\nrun 2\nrun 3\n")

    def test_dev_null(self):
        self.assertEqual(self.terse("wc", "-c").out, b"0\n")
        self.assertEqual(self.terse("sh", "-c", "test -t 0 || readlink /proc/$$/fd/0").out,
                         b"/dev/null\n")

    def test_closed(self):
        script = "terse sh -c 'test -e /proc/$$/fd/0 && echo open || echo closed' <&-"
        plain = self.shell(script.replace("terse ", ""))
        self.assertEqual(self.shell(script).out, plain.out)
        self.assertEqual(self.shell("terse cat <&-").code, self.shell("cat <&-").code)
        self.assertEqual(self.shell("terse seq 20000 <&- | wc -l").out.strip(), b"20000")

    def test_everything_closed(self):
        run = self.shell("terse sh -c 'echo x; exit 3' <&- >&- 2>&-; echo $?")
        self.assertEqual(run.out, b"3\n")

    def test_writer_sees_the_command_close_it(self):
        """Nothing of terse holds the reading end."""
        r, w = os.pipe()
        run = self.start(TERSE, "sh", "-c", "exec <&-; echo closed; read x <go || :", stdin=r,
                         cwd=self.work, before=None)
        os.close(r)
        run.until(b"closed")
        with self.assertRaises(BrokenPipeError):
            end = 0
            while end < 1 << 20:
                end += os.write(w, b"x" * 4096)
        os.close(w)
        run.finish()


class Descriptors(Case):
    def test_number_3(self):
        r, w = os.pipe()
        script = "exec 3>&%d; terse sh -c 'echo through 3 >&3'" % w
        self.shell(script, fds=(w,))
        os.close(w)
        self.assertEqual(read_to_end(r), b"through 3\n")

    def test_end_of_file_when_the_command_closes_it(self):
        r, w = os.pipe()
        fifo = os.path.join(self.work, "fifo")
        os.mkfifo(fifo)
        script = "exec 3>&%d %d>&-; exec terse sh -c 'echo x >&3; exec 3>&-; read y <fifo'" % (w, w)
        run = self.start("bash", "-c", script, fds=(w,))
        os.close(w)
        self.assertEqual(read_to_end(r), b"x\n")  # no end while anybody still holds it
        let_go_on(fifo)
        run.finish()
        self.assertEqual(run.code, 0)

    def test_exactly_the_inherited_ones(self):
        """As node does for its children, and make for its jobs."""
        write_file(os.path.join(self.work, "data"), "content\n")
        script = "exec 3<data 7>made 9</dev/null; %s ls /proc/self/fd | tr '\\n' ' '"
        plain = self.run_to_end("bash", "-c", script % "")
        run = self.run_to_end("bash", "-c", script % "terse")
        self.assertEqual(run.out, plain.out)
        run = self.run_to_end("bash", "-c", "exec 3<data 7>made 9</dev/null;"
                              " terse ls /proc/self/fd")
        # 4 is the directory that ls reads.
        self.assertEqual(run.out.split(), [b"0", b"1", b"2", b"3", b"4", b"7", b"9"])

    def test_high_number(self):
        run = self.run_to_end("bash", "-c", "exec 200>made;"
                              " terse sh -c 'echo x >/proc/self/fd/200'")
        self.assertEqual(run.code, 0)
        self.assertEqual(read_file(os.path.join(self.work, "made")), b"x\n")

    def test_make_jobserver(self):
        write_file(os.path.join(self.work, "Makefile"),
                   "all:\n\t+terse $(MAKE) -f inner\n")
        write_file(os.path.join(self.work, "inner"),
                   "all: a b c d\na b c d:\n\t@echo $@ >$@\n")
        run = self.shell("make -j4 2>&1")
        self.assertEqual(run.code, 0)
        self.assertNotIn(b"jobserver unavailable", run.out)

    def test_flock_on_an_inherited_descriptor(self):
        """A lock taken on an inherited file is released when the command and the shell are done."""
        run = self.run_to_end("bash", "-c", "exec 9>lock; flock 9; terse sh -c 'sleep 1000 &"
                              " until grep -q sleep /proc/$!/comm; do :; done'"
                              " 9>&-; exec 9>&-; flock -n lock echo free")
        self.assertRegex(run.out, rb"\A\[terse: exit 0; sleep still writes: terse read cmd-\w+\]\nfree\n\Z")
        self.kill_all()


class Signals(Case):
    """SigBlk, SigIgn and the like of the command, from /proc."""
    SCRIPT = ("grep", "^Sig[BI]", "/proc/self/status")

    def same(self, before):
        plain = self.run_to_end(*self.SCRIPT, before=before)
        for options in ((), ("--no-pty",), ("--tty",)):
            run = self.terse(*options, *self.SCRIPT, before=before)
            self.assertEqual(run.out, plain.out)
        return plain.out

    def test_nothing_special(self):
        out = self.same(None)
        self.assertIn(b"SigBlk:\t0000000000000000", out)

    def test_ignored(self):
        for sig in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT, signal.SIGTERM,
                    signal.SIGUSR1, signal.SIGCHLD, signal.SIGTSTP, signal.SIGTTOU, signal.SIGXFSZ,
                    signal.SIGWINCH, signal.SIGRTMIN):
            with self.subTest(sig=sig):
                self.same(lambda: signal.signal(sig, signal.SIG_IGN))

    def test_blocked(self):
        for sig in (signal.SIGINT, signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR2, signal.SIGTTOU,
                    signal.SIGRTMIN):
            with self.subTest(sig=sig):
                self.same(lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [sig]))

    def test_ignored_sigint_stays_ignored(self):
        """As in a background job of sh: terse and the command live on."""
        os.mkfifo(os.path.join(self.work, "fifo"))
        run = self.start(TERSE, "sh", "-c", "echo ready; read x <fifo; echo went on",
                         before=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        run.until(b"ready")
        for process in self.mine():
            os.kill(process.pid, signal.SIGINT)
        let_go_on(os.path.join(self.work, "fifo"))
        run.finish()
        self.assertEqual((run.code, run.out), (0, b"ready\nwent on\n"))

    def test_nohup(self):
        os.mkfifo(os.path.join(self.work, "fifo"))
        run = self.start("nohup", "terse", "sh", "-c", "echo ready; read x <fifo; echo went on")
        run.until(b"ready")
        run.kill(signal.SIGHUP)
        let_go_on(os.path.join(self.work, "fifo"))
        run.finish()
        self.assertEqual(run.code, 0)
        self.assertIn(b"went on\n", run.out)

    def test_status_with_ignored_sigchld(self):
        run = self.terse("sh", "-c", "exit 7",
                         before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(run.code, 7)

    def test_status_with_blocked_sigchld(self):
        run = self.terse("sh", "-c", "exit 7",
                         before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)))
        self.assertEqual(run.code, 7)


class Group(Case):
    """setsid(1) is no leader of its process group where terse is none, and so does not fork."""

    def test_setsid_is_waited_for(self):
        for options in ((), ("--tty",)):
            run = self.terse(*options, "setsid", "sh", "-c", "echo begin; echo end; exit 3")
            self.assertEqual((run.code, run.out), (3, b"begin\nend\n"))

    def test_leader_does_not_wait(self):
        run = self.terse("setsid", "sh", "-c", "exit 3", before=lambda: os.setpgid(0, 0))
        self.assertEqual(run.code, 0)

    def test_command_in_a_session_of_its_own_is_ended(self):
        run = self.terse("--timeout", "100ms", "setsid", "sleep", "1000")
        self.assertEqual(run.code, 124)
        run = self.start(TERSE, "setsid", "sh", "-c", "echo ready; exec sleep 1000")
        run.until(b"ready")
        run.kill()
        self.assert_nothing_left()
        run.finish()


class Limits(Case):
    def bash(self, script):
        return self.run_to_end("bash", "-c", script, kind="file")

    def same(self, setup, script):
        plain = self.bash("%s; exec bash -c '%s'" % (setup, script))
        for words in ("terse", "terse --no-pty"):
            run = self.bash("%s; exec %s bash -c '%s'" % (setup, words, script))
            self.assertEqual((run.out, run.code), (plain.out, plain.code))
        return plain

    def test_umask(self):
        plain = self.same("umask 027", "umask; : >file; stat -c %a file; rm file")
        self.assertEqual(plain.out, b"0027\n640\n")
        self.same("umask 000", "umask")

    def test_all_limits(self):
        limits = "ulimit -n 100; ulimit -s 4096; ulimit -c 0; ulimit -u 5000; ulimit -f 10000"
        if not is_sanitized():
            limits += "; ulimit -v 4000000"
        plain = self.same(limits, "ulimit -a")
        self.assertIn(b"(-u) 5000\n", plain.out)
        self.same("ulimit -Sn 77", "ulimit -Sn; ulimit -Hn")

    def test_file_size(self):
        """The limit is the command's, not that of terse's artifact: nothing is lost."""
        self.same("ulimit -f 4", "yes | head -c 100000 >big; echo $?; stat -c %s big; rm -f big")
        run = self.shell("ulimit -f 4; exec terse --full seq 20000", kind="pipe")
        self.assertEqual(run.out, numbers(20000))
        run = self.shell("ulimit -f 4; exec terse sh -c 'seq 20000; exit 3'")
        self.assertEqual(run.code, 3)
        self.assertTrue(run.out.startswith(b"1\n2\n"))
        self.assertIn(b"\n20000\n", run.out)

    def test_few_descriptors(self):
        for count in range(8 if is_sanitized() else 3, 24):
            script = "ulimit -n %d; %s sh -c 'echo x; exit 3'"
            plain = self.shell(script % (count, ""))
            run = self.shell(script % (count, "exec terse"))
            if plain.code == 3:
                self.assertEqual((run.code, run.out), (3, b"x\n"), count)

    def test_very_many_descriptors(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        run = self.terse("sh", "-c", "ulimit -n", before=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (hard, hard)))
        self.assertEqual(run.out, b"%d\n" % hard)

    def test_priority(self):
        # Whatever the tests themselves run at.
        plain = self.shell("nice -n 5 nice").out
        self.assertEqual(self.shell("nice -n 5 terse nice").out, plain)

    # What the scheduler goes by among sessions.
    GROUP = "/proc/self/autogroup"

    @unittest.skipUnless(os.path.exists(GROUP), "the kernel has no autogroups")
    def test_priority_among_sessions(self):
        """The session's niceness is the caller's: that of its session and its own."""
        mine = os.nice(0)
        wait = "until grep -q 'nice %%d$' %s; do sleep 0.02; done; cat %s" % (self.GROUP, self.GROUP)
        terse = self.for_everybody()
        # The kernel accepts few changes a second from ordinary users, so the second one repeats its own until it is taken.
        for before in [None, lambda: os.setresuid(65534, 65534, 65534)][:2 if os.geteuid() == 0 else 1]:
            for session, own in ((0, 7), (3, 4), (15, 10), (5, 0)):
                want = min(session + mine + own, 19)
                with self.subTest(session=session, own=own, root=not before):
                    script = "until echo %d >%s; do sleep 0.02; done 2>/dev/null; exec nice -n %d %s sh -c \"%s\"" % (
                        session, self.GROUP, own, terse, wait % want)
                    run = self.run_to_end("setsid", "sh", "-c", script, before=before)
                    self.assertRegex(run.out, rb"^/autogroup-\d+ nice %d\n$" % want)
        self.assertIn(b" nice %d\n" % mine, self.shell("exec setsid %s cat %s" % (TERSE, self.GROUP)).out)
        # The kernel makes only others wait, so that a command has it from its beginning.
        for _ in range(10 if os.geteuid() == 0 else 0):
            run = self.shell("exec setsid nice -n 5 %s cat %s" % (TERSE, self.GROUP))
            self.assertIn(b" nice %d\n" % min(mine + 5, 19), run.out)

    def test_cpu_limit_kills_the_command(self):
        run = self.shell("ulimit -t 1; exec terse sh -c 'while :; do :; done'")
        self.assertIn(run.code, (-signal.SIGXCPU, -signal.SIGKILL))


class Environment(Case):
    def variables(self, *options, env=None):
        run = self.terse("--full", *options, "env", "-0", env=env)
        return dict(e.split(b"=", 1) for e in run.out.rstrip(b"\0").split(b"\0"))

    def plain(self, env=None):
        run = self.run_to_end("env", "-0", env=env)
        return dict(e.split(b"=", 1) for e in run.out.rstrip(b"\0").split(b"\0"))

    DEFAULTS = {b"PAGER": b"cat", b"GIT_PAGER": b"cat", b"GH_PAGER": b"cat",
                b"MANPAGER": b"cat", b"SYSTEMD_PAGER": b"cat", b"TERM": b"xterm-256color"}

    def test_defaults_and_nothing_else(self):
        want = self.plain()
        want.update(self.DEFAULTS)
        got = self.variables()
        self.assertRegex(got.pop(b"TERSE_ACTIVE"), rb"^\d+-\d+$")
        self.assertEqual(got, want)

    def test_overrides_the_callers(self):
        got = self.variables(env={"PAGER": "less", "TERM": "dumb"})
        self.assertEqual((got[b"PAGER"], got[b"TERM"]), (b"cat", b"xterm-256color"))

    def test_options(self):
        got = self.variables("--env", "MINE=a=b", "--env", "PAGER=more", "--unset-env", "LANG",
                             "--keep-env", "TERM", env={"TERM": "vt100"})
        self.assertEqual(got[b"MINE"], b"a=b")
        self.assertEqual(got[b"PAGER"], b"more")
        self.assertEqual(got[b"TERM"], b"vt100")
        self.assertNotIn(b"LANG", got)

    def test_from_the_ini_file(self):
        os.makedirs(os.path.join(self.home, "config", "terse"))
        write_file(os.path.join(self.home, "config", "terse", "terse.ini"),
                   "[environment]\nset = CI=1\n  NO_COLOR=1\n")
        got = self.variables()
        self.assertEqual((got[b"CI"], got[b"NO_COLOR"]), (b"1", b"1"))

    def test_odd_entries_pass(self):
        odd = ("env", "-i", "A=", "B==", "=x=y", self.mark, "TERSE_HOME=" + self.store)
        run = self.run_to_end(*odd, TERSE, "--full", "env", "-0")
        plain = self.run_to_end(*odd, "env", "-0")
        got = [e for e in run.out.split(b"\0") if e.split(b"=")[0] in (b"A", b"B", b"")]
        want = [e for e in plain.out.split(b"\0") if e.split(b"=")[0] in (b"A", b"B", b"")]
        self.assertEqual(got, want)

    def test_size_of_the_terminal(self):
        self.assertEqual(self.terse("sh", "-c", "stty size <&1").out, b"50 160\n")
        self.assertEqual(self.terse("--cols", "100", "--rows", "30", "sh", "-c",
                                    "stty size <&1").out, b"30 100\n")

    def test_arguments(self):
        arguments = ["", " ", "a b", "*", "'", '"', "\\", "$HOME", "\n", "--size", "-c", "é"]
        run = self.terse("printf", "[%s]", *arguments)
        plain = self.run_to_end("printf", "[%s]", *arguments)
        self.assertEqual(run.out, plain.out)

    def test_directory(self):
        self.assertEqual(self.terse("pwd").out, os.fsencode(self.work) + b"\n")
        self.assertEqual(self.terse("--cwd", "/", "pwd").out, b"/\n")
        run = self.terse("--cwd", "/no/such", "pwd")
        self.assertEqual((run.code, run.out),
                         (125, b"terse: --cwd: /no/such: No such file or directory\n"))

    def test_removed_directory(self):
        gone = os.path.join(self.dir, "gone")
        os.mkdir(gone)
        run = self.run_to_end("sh", "-c", "cd %s; rmdir %s; exec terse seq 3000" % (gone, gone))
        self.assertEqual(run.code, 0)
        self.assertTrue(run.id)


class Processes(Case):
    def test_parent_and_group(self):
        """The command leads its group, and its session is not the caller's; nothing else shows."""
        script = ("import os; print(os.getpid() == os.getpgrp(), os.getsid(0) == os.getppid())")
        self.assertEqual(self.terse("python3", "-c", script).out, b"True True\n")

    def test_no_children_of_terse_show(self):
        run = self.terse("sh", "-c", "wait; echo $?; cat /proc/$$/task/$$/children")
        self.assertEqual(len(run.out.split()), 2)  # 0 and cat

    def test_one_run_leaves_nothing(self):
        self.terse("true")
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
