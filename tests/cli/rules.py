#!/usr/bin/env -S python3 -B
"""What an agent's section sets: every option that it accepts is in force for the agent's commands, and
what the sections are for does what it says."""

import json
import os
import pty
import re
import signal
import subprocess

from support.harness import (BUILD, FOOTER, SOURCE, Case, eventually, let_go_on, main, numbers, read_file,
                             write_file)

TERSE_SH = os.path.join(BUILD, "terse-sh")

# A value that is not the default for each option that a section accepts. The command is one that none of
# them disturbs.
VALUES = {
    "timeout": "1d", "grace": "7s", "linger_idle": "7m", "pty": "yes", "tty": "no",
    "streams": "split", "yield": "1d", "yield_status": "7", "hand_over": "7m", "detach": "yes", "prompt": "await",
    "hang_up": "7s", "finish": "7s", "signal_status": "yes", "cols": "77", "rows": "33", "settle": "77ms",
    "format": "json", "size": "5KB", "failure_size": "7KB", "fold": "always",
    "max_lines": "77", "unit": "matches",
    "err_size": "5KB", "max_err_lines": "77", "print": "full", "heartbeat": "7s", "status": "always",
    "ceiling": "7KB", "failure_ceiling": "6KB", "cut_ceiling": "5KB", "line_ceiling": "77",
    "exit_delay": "7ms", "mode": "ends", "head_share": "17", "end_share": "7", "max_line": "777",
    "words": "tools",
    "when": "always", "max_artifact": "7MB", "min_free": "7MB", "raw": "yes", "record": "yes",
}


# A section does not set these.
TEXTS = ("profile", "about", "patterns", "ignore")


class RuleCase(Case):
    def section(self, *lines):
        self.config = write_file(os.path.join(self.dir, "ini"), "\n".join(
            ("[agent mine]", "environment = MY_AGENT", "string = {command}", "process = my-agent",
             *lines)) + "\n")

    def call(self, command, env=None, **how):
        """A tool call of that agent, to its end."""
        return self.run_to_end(TERSE_SH, "-c", command, env={
            "MY_AGENT": "1", "SHELL": "/bin/bash", "TERSE_CONFIG": self.config, **(env or {})}, **how)


class Options(RuleCase):
    def keys(self):
        """The keys of the sample file, and which sections they are in."""
        section = None
        for line in read_file(os.path.join(SOURCE, "config", "terse.ini")).decode().splitlines():
            section = line.strip("[]") if line.startswith("[") else section
            found = re.match(r"#(\w+) =", line)
            if found and section:
                yield section, found[1]

    def test_every_option_is_in_force(self):
        """One after the other, as some change what the others mean."""
        seen = set()
        for section, key in self.keys():
            if section == "shim" or key in TEXTS:
                continue  # The first are also lists of a rule.
            known = section in ("run", "terminal", "report", "preview", "spill")
            value = VALUES[key] if known else "1d"
            self.section("%s = %s" % (key, value))
            check = self.terse("config", "check", self.config)
            if not known:
                self.assertIn(b"%s: no such key of an agent" % key.encode(), check.out)
                continue
            self.assertEqual(check.code, 0, check.out)
            log = os.path.join(self.dir, "trace")
            self.call("git frobnicate || exit 0", env={"TERSE_DEBUG": log})
            eventually(lambda: os.path.exists(log) and b" by agent mine: " in read_file(log),
                       lambda: "the trace of " + key)
            said = re.findall(r" by agent mine: (.*)", read_file(log).decode())
            self.assertEqual(said, ["%s = %s" % (key, value)])
            os.unlink(log)
            seen.add(key)
        self.assertEqual(seen, set(VALUES))

    def test_built_in_sections_have_variables(self):
        """Those that have none set are passed over by that."""
        sections = self.terse("config", "--agents").out.decode().split("\n[agent ")
        self.assertGreater(len(sections), 10)
        for section in sections[1:]:
            self.assertIn("\nenvironment =", section)

    def test_a_variable_wins(self):
        self.section("streams = split", "print = full")
        run = self.call("echo out; echo err >&2; seq 3000", split=True,
                        env={"TERSE_STREAMS": "merged", "TERSE_PRINT": "preview"})
        self.assertTrue(run.out.startswith(b"out\nerr\n1\n"), run.out)
        self.assertTrue(FOOTER.search(run.out), run.out)

    def test_streams(self):
        for lines, out, err in (((), b"out\nerr\n", b""), (("streams = split",), b"out\n", b"err\n")):
            self.section(*lines)
            run = self.call("echo out; echo err >&2", split=True)
            self.assertEqual((run.out, run.err), (out, err), lines)

    def test_print(self):
        self.section("print = full")
        self.assertEqual(self.call("seq 3000").out, numbers(3000))
        self.section()
        self.assertTrue(FOOTER.search(self.call("seq 3000").out))

    def test_format(self):
        self.section("format = json")
        self.assertEqual(json.loads(self.call("echo x; exit 3").out)["exit_code"], 3)

    def test_a_signal_as_a_status(self):
        self.section()
        self.assertEqual(self.call("kill -TERM $$").code, -signal.SIGTERM)
        self.section("signal_status = yes")
        self.assertEqual(self.call("kill -TERM $$").code, 128 + signal.SIGTERM)
        self.assertEqual(self.call("exit 3").code, 3)


    def test_exit_delay(self):
        """Who reads a terminal has all of the output while terse is still there."""
        self.section("exit_delay = 10s")
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        run = subprocess.Popen([TERSE_SH, "-c", "seq 900; exit 3"], stdin=slave, stdout=slave, stderr=slave,
                               cwd=self.work, env=self.env(MY_AGENT="1", SHELL="/bin/bash",
                                                           TERSE_CONFIG=self.config))
        os.close(slave)
        text = b""
        while not text.endswith(b"\n900\r\n"):
            text += os.read(master, 65536)
        self.assertIsNone(run.poll())
        run.terminate()
        run.wait()


class Comments(RuleCase):
    """What a command asks in its last comment."""

    def test_yield(self):
        self.section()
        ready, go = (os.path.join(self.work, name) for name in ("ready", "go"))
        os.mkfifo(go)
        run = self.call("echo listening; touch ready; read x <go; echo bye; exit 3 # terse: yield=1s")
        self.assertIn(b"listening\n[terse: running after ", run.out)
        self.assertTrue(os.path.exists(ready))
        name = re.search(rb"terse await (cmd-\w+)", run.out)[1].decode()
        write_file(go, "x\n")
        self.assertEqual(self.terse("await", name).code, 3)

    def test_yield_behind_an_eval_without_input(self):
        """As Claude Code runs a command; its own redirection stays."""
        self.section()
        self.config = write_file(self.config, read_file(self.config).replace(
            b"string = {command}", b"string = eval {word} < /dev/null && pwd"))
        run = self.call("eval 'read x < /dev/null; printf \"$x name: \"; read n; echo hello $n # terse: yield=60s' "
                        "< /dev/null && pwd")
        self.assertRegex(run.out, rb"^ name: \n?\[terse: waiting for input")
        name = re.search(rb"cmd-\w+", run.out)[0].decode()
        self.assertIn(b"hello world\n", self.terse("send", name, "world", "--key", "enter", "--await").out)
        # Without the comment there is no input.
        self.assertIn(b"name: hello\n", self.call("eval 'printf name:\\ ; read n; echo hello $n' < /dev/null && pwd").out)

    def test_size_and_timeout(self):
        self.section()
        run = self.call("seq 3000 # terse: size=300")
        self.assertLess(len(run.out), 900)
        self.assertTrue(FOOTER.search(run.out))
        self.assertEqual(self.call("sleep 1000 # terse: timeout=100ms").code, 124)

    def test_what_is_not_obeyed(self):
        self.section()
        for comment in ("# terse: be brief", "# terse: size=300 pty=no", "'# terse: size=300'", "# terse: size=300\n:"):
            run = self.call("seq 1500; echo " + comment)
            self.assertGreater(len(run.out), 3000, comment)
        run = self.call("echo hello # terse: yield=1x", split=True)
        self.assertEqual((run.code, run.out, run.err), (0, b"hello\n", b"terse: the comment is not obeyed: --yield: "
                         b"1x: not a duration (like 500ms, 2s, 5m or 1h)\n"))
        # Only terse-sh reads it, and only where it is an agent's.
        self.assertGreater(len(self.terse("-c", "seq 1500 # terse: size=300").out), 3000)
        run = self.run_to_end(TERSE_SH, "-c", "seq 1500 # terse: size=300", env={"SHELL": "/bin/bash"})
        self.assertEqual(run.out, numbers(1500))

    def test_the_key(self):
        self.section("[shim]", "comments = no")
        self.assertGreater(len(self.call("seq 1500 # terse: size=300").out), 3000)


class HandOver(RuleCase):
    """A run that outlasts the limit of its agent, which is this process."""

    COMMAND = "echo started >>starts; echo listening; read x <go; echo bye; exit 3"

    def section(self, *lines):
        super().section("  python3*", "  rules.py", *lines)

    def setUp(self):
        super().setUp()
        os.mkfifo(os.path.join(self.work, "go"))

    def name_in(self, run):
        found = re.search(rb"\[terse: handed over after [\d.]+ m?s, it goes on: terse await (cmd-\w+)\]\n\Z", run.out)
        self.assertTrue(found, run.out)
        return found[1].decode()

    def check_end(self, name, status=3, out=b"bye\n"):
        let_go_on(os.path.join(self.work, "go"))
        texts = []

        def ended():
            texts.append(self.call("terse await " + name))
            return texts[-1].code != 75
        eventually(ended, "the end of the run")
        self.assertEqual(texts[-1].code, status)
        self.assertIn(out, texts[-1].out)
        self.assertEqual(read_file(os.path.join(self.work, "starts")), b"started\n")

    def test_it_goes_on(self):
        """What the agent then does to the process group of the call does not reach it."""
        self.section("hand_over = 2s")
        run = self.call(self.COMMAND, before=os.setsid)
        self.assertEqual(run.code, 75)
        self.assertTrue(run.out.startswith(b"listening\n[terse: handed over"), run.out)
        self.assertRaises(ProcessLookupError, os.killpg, run.pid, signal.SIGKILL)
        name = self.name_in(run)
        # The agent would end this call, too.
        waiting = self.call("terse await " + name)
        self.assertEqual(waiting.code, 75)
        self.assertRegex(waiting.out, rb"\A\[terse: waited [\d.]+ m?s; running after .*terse await " + name.encode())
        self.check_end(name)

    def test_its_status_and_what_is_left_out(self):
        self.section("hand_over = 2s", "yield_status = 7")
        run = self.call("seq 3000; " + self.COMMAND)
        self.assertEqual(run.code, 7)
        found = re.search(rb"terse await (cmd-\w+); with that ID: terse read ID --lines FROM-TO, terse signal \(ends it\)\]",
                          run.out)
        name = found[1].decode()
        self.assertEqual(self.artifact(name), numbers(3000) + b"listening\n")
        let_go_on(os.path.join(self.work, "go"))
        eventually(lambda: self.call("terse await " + name).code == 3, "the end")

    def test_a_limit_that_the_environment_tells(self):
        self.section("hand_over = 1d", "limit = MY_LIMIT")
        run = self.call(self.COMMAND, env={"MY_LIMIT": "2000"})
        self.assertEqual(run.code, 75)
        self.check_end(self.name_in(run))

    def test_its_own_timeout_ends_it(self):
        self.section("hand_over = 2s")
        run = self.call(self.COMMAND + " # terse: timeout=6s")
        name = self.name_in(run)
        eventually(lambda: self.call("terse await " + name).code == 124, "its timeout")

    def check_not(self, *enter):
        """The run is not handed over at its time, and ends as it would have."""
        trace = os.path.join(self.dir, "trace")
        run = self.start(*enter, TERSE_SH, "-c", self.COMMAND, env={
            "MY_AGENT": "1", "SHELL": "/bin/bash", "TERSE_CONFIG": self.config, "TERSE_DEBUG": trace})
        eventually(lambda: os.path.exists(trace) and b"the run is not handed over" in read_file(trace), "the decision")
        let_go_on(os.path.join(self.work, "go"))
        run.finish()
        self.assertEqual((run.code, run.out), (3, b"listening\nbye\n"))

    def test_the_background_of_the_agent(self):
        """It has a file open that says so."""
        self.section("hand_over = 2s", "background = */background-*.output")
        with open(os.path.join(self.dir, "background-1.output"), "w"):
            self.check_not()

    def test_a_namespace_that_ends_with_the_call(self):
        enter = ["unshare", *([] if os.geteuid() == 0 else ["-Ur"]), "-pf", "--mount-proc"]
        if subprocess.run([*enter, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("unshare does not work here")
        self.section("hand_over = 2s")
        self.check_not(*enter)


class Cuts(RuleCase):
    """What an agent would show of a text that is over its ceiling is less than the ceiling."""

    def test_a_text_over_the_ceiling(self):
        self.section("ceiling = 20000", "cut_ceiling = 4KB", "failure_ceiling = 10000")
        text = os.path.join(self.work, "text")
        for size, status, most in ((19000, 0, 19000), (21000, 0, 4096), (400000, 0, 4096),
                                   (9000, 1, 9000), (12000, 1, 10000)):
            write_file(text, b"".join(b"%049d\n" % n for n in range(size // 50)))
            for command in ("cat text", "cat text; git --version"):
                run = self.call(command + "; exit %d" % status)
                self.assertLessEqual(len(run.out), most + 50, (size, command))
            run = self.call("cat text; exit %d" % status)
            if most == size:
                self.assertEqual(run.out, read_file(text))
            else:
                self.assertGreater(len(run.out), most * 7 // 10)
                self.assertEqual(self.artifact(run.id), read_file(text))

    def test_one_that_is_over_its_size_alone(self):
        """It has that size, though it is more than what would be left of it over the ceiling."""
        self.section("ceiling = 30000", "cut_ceiling = 4KB", "failure_ceiling = 10000")
        write_file(os.path.join(self.work, "text"), b"".join(b"%049d\n" % n for n in range(440)))
        for command, least, most in (("grep 0 text", 9500, 10240), ("cat text; false", 8000, 10000),
                                     ("cat text", 22000, 22000)):
            run = self.call(command)
            self.assertLessEqual(len(run.out), most + 400, command)
            self.assertGreaterEqual(len(run.out), least, command)

    def test_pauses(self):
        """What is printed at pauses counts, too."""
        self.section("ceiling = 20000", "cut_ceiling = 4KB", "failure_ceiling = 10000")
        for first in (40, 3000):
            fifo = os.path.join(self.work, "fifo-%d" % first)
            os.mkfifo(fifo)
            run = self.start(TERSE_SH, "-c", "seq %d 9999; echo ready; read x <%s; seq 9000" % (10000 - first, fifo),
                             env={"MY_AGENT": "1", "SHELL": "/bin/bash", "TERSE_CONFIG": self.config})
            run.until(rb"ready\n\Z")
            let_go_on(fifo)
            run.finish()
            self.assertLessEqual(len(run.out), 4096)
            self.assertTrue(run.out.startswith(b"%d\n" % (10000 - first)), run.out)
            self.assertIn(b"\n9000\n[terse: exit 0 after ", run.out)

    def test_what_terse_was_asked_for_is_free_of_it(self):
        self.section("ceiling = 20000", "cut_ceiling = 4KB")
        name = self.call("seq 30000").id
        run = self.call("terse read %s --limit 4000" % name)
        self.assertGreater(len(run.out), 16000)

    def test_one_long_line(self):
        self.section("ceiling = 50KB")
        write_file(os.path.join(self.work, "text"), b"x" * 98000 + b"\nsecond\n")
        run = self.call("cat text")
        self.assertIn(len(run.out), range(30 * 1024 - 64, 30 * 1024 + 200))
        self.assertIn(b"-97999]\nsecond\n[terse: 1 long line cut: ", run.out)


class Inside(RuleCase):
    """terse typed in a command that runs under terse."""

    def setUp(self):
        super().setUp()
        self.section("ceiling = 30000", "size = 4KB")

    def name_in(self, run):
        return re.search(rb"cmd-\w+", run.out)[0].decode()

    def test_yield(self):
        run = self.with_time(lambda limit: self.call(
            "terse --yield %s sh -c 'echo ready; read answer; echo got $answer; exit 3'" % limit),
                             lambda run: run.out.startswith(b"ready\n"))
        self.assertRegex(run.out, rb"\Aready\n\[terse: (running|waiting)[^\n]*\]\n\Z")
        name = self.name_in(run)
        run = self.call("terse send %s yes --key enter --await" % name)
        self.assertIn(b"got yes\n", run.out)
        self.assertEqual(run.code, 3)

    def test_a_long_text_of_it_is_cut_once(self):
        run = self.call("terse --yield 1h sh -c 'seq 3000; exit 3'")
        self.assertEqual(run.code, 3)
        self.assertTrue(FOOTER.search(run.out), run.out)
        self.assertEqual(run.out.count(b"[terse: "), 1)
        self.assertEqual(self.artifact(run.id), numbers(3000))

    def test_detach(self):
        run = self.call("terse --detach sh -c 'seq 3000'")
        name = self.name_in(run)
        run = self.call("terse await " + name)
        self.assertEqual(run.code, 0, run.out)
        self.assertEqual(self.artifact(name), numbers(3000))

    def test_tty(self):
        run = self.call("terse --tty sh -c 'test -t 0 && exec 3</dev/tty && echo terminal'")
        self.assertEqual(run.out, b"terminal\n")

    def test_any_other_executes_its_command(self):
        run = self.call("echo $$; exec terse sh -c 'echo $$; test -t 0; echo $?'")
        first, second, terminal = run.out.split()
        self.assertEqual((first, terminal), (second, b"1"))


if __name__ == "__main__":
    main()
