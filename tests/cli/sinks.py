#!/usr/bin/env -S python3 -B
"""Sinks: into a file the command writes directly; a program's pipe stays open as long as there are writers; an
agent is told who still writes."""

import json
import os
import re
import signal

from support.harness import Case, eventually, let_go_on, main, numbers, read_file, write_file

ITSELF = "readlink /proc/self/fd/1"


class File(Case):
    def path(self, name):
        return os.path.join(self.work, name)

    def test_it_is_the_commands_own(self):
        """Whether it is appended to, shared with standard error, beside a device, or of one stream alone."""
        of_stderr = ITSELF.replace("1", "2")
        for script in ("terse %s >f" % ITSELF, "terse %s >>f 2>&1" % ITSELF, "terse %s >f 2>g" % ITSELF,
                       "terse --no-pty --timeout 20s %s >f" % ITSELF,
                       "terse sh -c '%s >&2' 2>f >/dev/null" % of_stderr,
                       "terse --streams merged sh -c '%s >&2' >f" % of_stderr):
            with self.subTest(script=script):
                self.assertEqual(self.shell(script).code, 0)
                self.assertEqual(read_file(self.path("f")), self.path("f").encode() + b"\n")
                os.unlink(self.path("f"))

    def test_in_between_where_it_was_asked_for(self):
        for option in ("--redact", "--redact-pattern=x", "--record", "--pty", "--full", "--preview",
                       "--yield=20s"):
            with self.subTest(option=option):
                self.shell("terse %s sh -c 'readlink /proc/self/fd/1' >f" % option)
                self.assertRegex(read_file(self.path("f")), rb"pipe:|/dev/pts/")

    def test_what_is_written_after_the_end(self):
        self.fifo("go")
        self.shell("terse sh -c '(read x <go; echo late) & echo ok' >f")
        let_go_on(self.path("go"))
        self.assert_nothing_left()
        self.assertEqual(read_file(self.path("f")), b"ok\nlate\n")

    def test_it_is_named_and_not_copied(self):
        run = self.shell("terse sh -c 'seq 30000; echo x >&2; exit 3' >f 2>g")
        self.assertEqual((run.code, run.out), (3, b""))
        names = {"stdout_file": self.path("f"), "stderr_file": self.path("g")}
        known = json.loads(self.ask("list", "--json"))["data"]["runs"][0]
        self.assertEqual((known["exit_code"], known["lines"], known["bytes"]), (3, None, None))
        kept, = self.artifacts()
        self.assertEqual(os.path.getsize(kept), 0)
        for told in (known, json.loads(read_file(kept[:-len("txt")] + "json")),
                     json.loads(self.ask("show", "last", "--json"))["data"],
                     json.loads(self.ask("list", "--json"))["data"]["runs"][0]):
            self.assertEqual({key: told.get(key) for key in names}, names)
        for argv in ("list",), ("show", "last"):
            self.assertIn(b"stdout is in %s\n" % self.path("f").encode(), self.ask(*argv))
        self.assertEqual(self.ask("path", "last"), self.path("f").encode() + b"\n")
        for argv, why in ((("read", known["id"]), "output to " + self.path("f")),
                          (("search", "last", "7"), "output to " + self.path("f")),
                          (("read", "last", "--stderr"), "error to " + self.path("g"))):
            run = self.run_to_end("terse", *argv, split=True)
            self.assertEqual((run.code, run.out, run.err.decode()), (
                1, b"", "terse %s: %s: the command wrote its standard %s\n" % (argv[0], known["id"], why)))

    def test_a_device_is_named_in_the_history(self):
        self.shell("terse seq 3000 >/dev/null 2>&1")
        self.assertEqual(self.artifacts(), [])
        known, = json.loads(self.ask("list", "--json"))["data"]["runs"]
        self.assertEqual(known["stdout_file"], "/dev/null")
        run = self.run_to_end("terse", "read", "last", split=True)
        self.assertEqual(run.err.decode(), "terse read: %s: the command wrote its standard output to /dev/null\n" % known["id"])

    def test_it_can_be_found_while_it_runs(self):
        self.fifo("go")
        run = self.start("/bin/sh", "-c", "exec terse sh -c 'echo begun; read x <go' >f 2>&1")
        row = eventually(lambda: self.ask("list", "--live").splitlines()[1:], "the run")[0]
        self.assertIn(b"running", row)
        identifier = row.split()[0].decode()
        self.assertIn(self.path("f").encode(), self.run_to_end("terse", "read", identifier).out)
        self.ask("signal", identifier, "TERM")
        self.assertEqual(run.finish().code, -15)


class Program(Case):
    """What a program reads of `terse A | B` and of `A | B` is the same, to the end of file."""

    def test_what_is_written_after_the_end(self):
        for option in "", "--pty", "--redact", "--linger-idle 10ms", "--streams split":
            with self.subTest(option=option):
                go, ended = self.fifo("go"), self.fifo("ended")
                run = self.start("/bin/bash", "-c", "{ terse %s sh -c '(read x <go; echo late; seq 30000) & echo ok;"
                                 " exit 3'; echo $? >ended; } | cat" % option, split=True)
                # The front end has ended, and the program that reads still waits for text.
                self.assertEqual(read_file(ended), b"3\n")
                run.until(b"ok\n")
                let_go_on(go)
                self.assertEqual(run.finish().out.replace(b"\r", b""), b"ok\nlate\n" + numbers(30000))
                self.assert_nothing_left()
                self.assertEqual(self.artifact("last"), b"ok\nlate\n" + numbers(30000))
                os.unlink(go), os.unlink(ended)

    def test_late_writers_learn_that_the_reader_has_gone(self):
        go = self.fifo("go")
        run = self.shell("terse bash -c '(trap \"echo PIPE >got\" PIPE; read x <go; while [ ! -e got ]; do"
                         " echo late; sleep 0.02; done) 2>/dev/null & echo ok' | head -n 1")
        self.assertEqual(run.out, b"ok\n")
        let_go_on(go)
        self.assert_nothing_left()
        self.assertEqual(read_file(os.path.join(self.work, "got")), b"PIPE\n")

    def test_a_reader_that_left_before_anything_was_written(self):
        run = self.run_to_end("bash", "-c", "terse sleep 0.2 | true; echo ${PIPESTATUS[0]}")
        self.assertEqual(run.out, b"0\n")

    def test_a_run_that_was_let_go_holds_nothing(self):
        run = self.shell("id=$(terse --detach sleep 1000); terse signal $id KILL; echo done")
        self.assertIn(b"done\n", run.out)


class Agent(Case):
    """What reads the rest of a pipe is waited for; nothing else is, and the last line names it."""

    def check(self, script, out, code, *options, ends=True, env=None):
        write_file(os.path.join(self.work, "s.sh"), "#!/bin/bash\n" + script, 0o755)
        for kind in "pipe", "socket":
            for form in (), ("--no-pty",), ("--streams=split",):
                with self.subTest(script=script, kind=kind, form=form):
                    run = self.terse(*options, *form, "./s.sh", kind=kind, env=env)
                    self.assertEqual(run.code, code)
                    self.assertRegex(run.out, out)
                    if ends:
                        self.assert_nothing_left()

    def test_what_works_off_a_pipe_is_waited_for(self):
        for script, out in (("exec > >(tee log); echo one; echo FAILED; exit 3", b"one\nFAILED\n"),
                            ("exec > >(sleep 0.2; sed s/o/0/ | cat); echo one; exit 3", b"0ne\n"),
                            ("exec 2> >(sed 's/^/E: /' >&2); echo bad >&2; exit 3", b"E: bad\n"),
                            ("rm -f read; echo a | { cat; : >read; sleep 0.2; echo b; } &"
                             " until [ -e read ]; do sleep 0.01; done; exit 3", b"a\nb\n"),
                            ("coproc { cat >&2; }; echo x >&${COPROC[1]}; exit 3", b"x\n")):
            self.check(script, rb"\A" + out + rb"\Z", 3, "--finish", "20s")

    def test_what_has_worked_it_off_is_not_named(self):
        """It has ended, and its output is closed a moment later: until then it is in flight, where nobody sees it. It was
        seen before: the supervisor, which leads its session, sleeps after it has looked."""
        trace = os.path.join(self.work, "trace")
        write_file(os.path.join(self.work, "last"), """#!/usr/bin/env python3
import os, re, socket, sys, time
ours, theirs = socket.socketpair()
let_go, is_let_go = os.pipe()
os.write(1, sys.stdin.buffer.read())
looks = rb" %d signals +supervisor: the command has ended" % os.getsid(0)
while not (re.search(looks, open("trace", "rb").read()) and ") S " in open("/proc/%d/stat" % os.getsid(0)).read()):
    time.sleep(0.01)
if os.fork() == 0:
    os.closerange(0, 3)
    ours.close()
    os.close(is_let_go)
    time.sleep(0.2)
    os._exit(0)
os.close(is_let_go)
os.read(let_go, 1)
socket.send_fds(ours, [b"x"], [1])
os._exit(0)
""", 0o755)
        self.check("exec > >(exec ./last); echo one; exit 3", rb"\Aone\n\Z", 3, "--finish", "20s",
                   env={"TERSE_DEBUG": trace})

    def test_it_is_named_where_it_takes_too_long(self):
        """Not before: a command that has failed is told as one, with what still writes."""
        for limit, script, who in (
                ("0", "exec > >(while [ ! -e go ]; do sleep 0.02; done; exec cat); echo x; exit 3", rb"s\.sh|sleep"),
                ("50ms", "exec > >(exec perl -e 'sleep 1 until -e \"go\"'); echo x; exit 3", rb"s\.sh|perl")):
            self.check(script, rb"\A\[terse: exit 3; (%s) (and \d others? )?still writes?:"
                               rb" terse read cmd-\w+\]\n" % who, 3, "--finish", limit, ends=False)
            write_file(os.path.join(self.work, "go"), "")
            self.assert_nothing_left()
            os.unlink(os.path.join(self.work, "go"))

    def test_servers_cost_nothing(self):
        """With --finish of an hour they would be waited for until the harness gives up."""
        for script in ("while [ ! -e go ]; do sleep 0.02; done & echo up",
                       "set -m; perl -e 'sleep 1 until -e \"go\"' & echo up",
                       "setsid perl -e 'sleep 1 until -e \"go\"' & echo up",
                       "perl -e 'sleep 1 until -e \"go\"' | cat & echo up"):
            self.check(script, rb"\Aup\n\[terse: exit 0; \S+ (and \d others? )?still writes?: terse read cmd-\w+\]\n", 0,
                       "--finish", "1h", ends=False)
            run = self.start("terse", "--finish", "1h", "./s.sh", data=b"")
            self.assertEqual(run.finish().code, 0)
            write_file(os.path.join(self.work, "go"), "")
            self.assert_nothing_left()
            os.unlink(os.path.join(self.work, "go"))

    def test_every_form_names_it(self):
        write_file(os.path.join(self.work, "server"), "#!/bin/sh\n: >up\nread x <go\n", 0o755)
        go = self.fifo("go")
        who, server = rb"server still writes", "rm -f up; ./server & until [ -e up ]; do sleep 0.01; done; "
        for options, script, out in (
                ((), "seq 3000; exit 3", rb"\[terse: exit 3 after .*; %s; full text: terse read \S+ " % who),
                (("--mode", "head"), "seq 3000", rb"\[terse: lines 1-.*; %s\]" % who),
                (("--format", "json"), "exit 3", rb'"warnings":\["stdout: %s"' % who),
                ((), "head -c 5000 /dev/zero", rb"\[terse: exit 0 after .*; %s: terse path --raw" % who),
                (("--status", "always"), "true", rb"\[terse: exit 0; %s: terse read \S+\]\n\Z" % who)):
            with self.subTest(options=options, script=script):
                run = self.terse(*options, "sh", "-c", server + script)
                self.assertRegex(run.out, out)
                let_go_on(go)
                self.assert_nothing_left()
        out = self.at_a_terminal("sh", "-c", server + "echo hi")
        self.assertRegex(out, rb"hi\r\n\[terse: 1 line, 3 B; server still writes: terse read \S+\]\r\n\Z")
        let_go_on(go)


class Gone(Case):
    """An agent that has closed its end: the command is told at its next write, as without terse."""

    def run_alone(self, *argv, kind):
        """The end of a run whose output nobody holds any more."""
        run = self.start("terse", *argv, kind=kind)
        run.close()
        run.wait()
        return run.code

    def test_it_ends_at_its_next_write(self):
        for kind in "pipe", "socket":
            for form in (), ("--no-pty",), ("--streams=split",), ("--format=json",):
                with self.subTest(kind=kind, form=form):
                    self.assertEqual(self.run_alone(*form, "yes", kind=kind), -signal.SIGPIPE)
        self.assert_nothing_left()

    def test_one_that_writes_nothing_ends_as_it_would(self):
        for form in (), ("--no-pty",):
            self.assertEqual(self.run_alone(*form, "sh", "-c", "sleep 0.2; exit 4", kind="socket"), 4)

    def test_a_run_that_yielded_goes_on(self):
        run = self.start("terse", "--yield", "1ms", "sh", "-c", "while [ ! -e go ]; do echo tick; sleep 0.02; done",
                         kind="socket").finish()
        identifier = re.search(rb"cmd-\w+", run.out)[0].decode()
        came = self.artifact(identifier).count(b"tick")
        eventually(lambda: self.artifact(identifier).count(b"tick") > came + 3, "more text")
        write_file(os.path.join(self.work, "go"), "")


if __name__ == "__main__":
    main()
