#!/usr/bin/env -S python3 -B
"""terse-sh acts as the real shell, with any arguments. It supervises an agent's tool calls, and nothing else that
an agent runs through a shell."""

import os
import re
import shutil
import subprocess

from support.harness import (BUILD, DEADLINE, FOOTER, HEARTBEAT, MARKER, Case, let_go_on, main, numbers, read_file,
                             write_file)
from support.screen import ScreenCase

TERSE_SH = os.path.join(BUILD, "terse-sh")
TERSE_BASH = os.path.join(BUILD, "terse-bash")
BASH = "/bin/bash"

SAY = "echo \"$0|$#|$*\"; echo err >&2"


def claude(command, stdin=" < /dev/null"):
    """The string that Claude Code 2.1 makes of a command."""
    quoted = command if re.fullmatch(r"\w+", command) else \
        "'" + command.replace("'", "'\"'\"'") + "'"
    return ("source /nowhere/snapshot-bash-1.sh 2>/dev/null || true && { shopt -u extglob || "
            "setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true && eval "
            + quoted + stdin + " && pwd -P >| \"$CWD_FILE\"-cwd")


def gemini(command):
    return ("shopt -u promptvars nullglob extglob nocaseglob dotglob; _bgpids_file='/dev/null'\n(\n"
            "  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n" + command +
            "\n)\n__code=$?\nexit $__code")


class Shell(Case):
    def setUp(self):
        super().setUp()
        self.claude = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "conversation-1",
                       "SHELL": BASH, "CWD_FILE": os.path.join(self.dir, "cwd")}

    def call(self, *argv, env=None, data=b"", **how):
        return subprocess.run(argv, env=self.env(**{"SHELL": BASH, **(env or {})}), input=data,
                              cwd=self.work, capture_output=True, timeout=DEADLINE, check=False,
                              **how)

    def tool_call(self, command, kind="pipe", env=None, **how):
        """Calls terse-sh as Claude Code calls its prefix, and waits for the end."""
        return self.run_to_end(TERSE_SH, claude(command), kind=kind,
                               env={**self.claude, **(env or {})}, **how)

    def as_agent(self, name, script, env=None, **how):
        """A shell whose process is called as an agent runs the script, to its end."""
        program = os.path.join(self.work, name)
        if not os.path.exists(program):
            os.symlink(BASH, program)
        return self.run_to_end(program, "-c", script + "\nexit $?", env=env, **how)


class Forms(Shell):
    """No rule recognises the call."""

    def same(self, *args, env=None, data=b"", file=TERSE_SH, want=BASH, prefix=()):
        plain = self.call(want, *prefix, *args, env=env, data=data)
        ours = self.call(file, *args, env=env, data=data)
        self.assertEqual((ours.returncode, ours.stdout, ours.stderr),
                         (plain.returncode, plain.stdout, plain.stderr), args)
        return plain

    def test_arguments(self):
        self.file = write_file(os.path.join(self.work, "script"), SAY + "; cat; exit 5")
        for args in (["-c", SAY], ["-c", SAY, "zero"], ["-c", SAY, "zero", "one", "two  three"],
                     ["-lc", SAY], ["-ic", SAY], ["-l", "-c", SAY, "x"], ["-c", "-l", SAY],
                     ["-euo", "pipefail", "-c", "false | true; echo not reached"],
                     ["-o", "pipefail", "-c", "false | true"], ["+e", "-c", "false; echo on"],
                     ["-O", "extglob", "-c", "echo !(x)"],
                     ["-c", "--", SAY, "a"], ["-c", "exit 42"], ["-c", "kill -TERM $$"],
                     ["-c", ""], ["-c"], ["-c", "no-such-command"], ["-c", "if"],
                     ["--norc", "-c", SAY], ["--rcfile", "/dev/null", "-c", SAY],
                     ["--version"], ["--no-such-option"], ["-s", "a", "b"],
                     ["script"], ["script", "a", "b c"], ["./script", "-c"], ["--", "script", "x"],
                     ["no-such-file"], ["-x", "script"], [], ["-"], ["-i"]):
            self.same(*args, data=b"echo from stdin; exit 6\n")

    def test_one_string(self):
        """One argument that is no file is a string."""
        for string in (SAY, "echo 'a b'; exit 3", "cat", "cd / && pwd", "echo $HOME | tr a-z A-Z"):
            if " " in string:
                self.same(string, data=b"input", prefix=["-c"])
        os.mkdir(os.path.join(self.work, "a b"))
        write_file(os.path.join(self.work, "a script"), SAY)
        self.same("a script")

    def test_one_string_of_a_prefix(self):
        """Claude Code also runs its hooks and servers in this way, even by the name of a program alone."""
        env = {"CLAUDECODE": "1", "CLAUDE_CODE_SHELL_PREFIX": TERSE_SH}
        script = write_file(os.path.join(self.work, "hook"), "#!/usr/bin/env python3\n"
                            "print(input())\n", 0o755)
        for string in ("cat", "/bin/cat", script, "true", "false", "no-such-command",
                       "python3 -c 'print(input())' 'a b' '$X'", "cat; echo \"$0\" >&2; exit 2"):
            self.same(string, env=env, data=b"a line\n", prefix=["-c"])
        write_file(os.path.join(self.work, "plain"), SAY)
        self.same("plain", env=env)

    def test_descriptors_and_environment(self):
        """Not one byte of what a program sees differs."""
        script = ("ls -l /proc/self/fd | grep -o '[0-9]* -> .*' | grep -v /proc/; env | sort | "
                  "grep -v '^_=\\|^BASHOPTS'; umask; ulimit -a; cat /proc/self/stat | "
                  "cut -d' ' -f7; ps -o ppid= -p $$ | tr -d ' '")
        r, w = os.pipe()
        try:
            outputs = []
            for file in (BASH, TERSE_SH):
                done = self.call(file, "-c", "echo extra >&%d; " % w + script, pass_fds=[w])
                self.assertEqual(os.read(r, 100), b"extra\n")
                # Pipes of their own.
                outputs.append((done.returncode, re.sub(rb"pipe:\[\d+\]", b"pipe", done.stdout),
                                done.stderr))
            self.assertEqual(outputs[0], outputs[1])
        finally:
            os.close(r)
            os.close(w)

    def test_it_is_executed(self):
        """The same process: no supervisor stays."""
        done = self.call(TERSE_SH, "-c", "readlink /proc/$$/exe; cat /proc/$$/comm; tr '\\0' ' ' "
                                         "</proc/$$/cmdline")
        self.assertEqual(done.stdout.splitlines()[:2], [b"/usr/bin/bash", b"bash"])
        self.assertTrue(done.stdout.splitlines()[2].startswith(b"/bin/bash -c "))

    def test_login_shell(self):
        env = {"ENV": "", "SHELL": BASH}
        script = "exec -a -%s %s -c 'shopt login_shell; echo $0'"
        plain = self.call(BASH, "-c", script % (BASH, BASH), env=env)
        ours = self.call(BASH, "-c", script % ("terse-sh", TERSE_SH), env=env)
        self.assertEqual((ours.returncode, ours.stdout), (plain.returncode, plain.stdout))
        self.assertIn(b"on\n", ours.stdout)


class Interactive(ScreenCase):
    def test_at_a_terminal(self):
        screen = self.screen(TERSE_SH, "--norc", env={"TERSE_SHELL": BASH})
        screen.until(r"^ready>$")
        screen.type("echo $0 $- $((6*7)); test -t 0 && test -t 1 && echo terminal")
        screen.until(r"^/bin/bash \w*i\w* 42\nterminal$")
        screen.type("exit")


class Real(Shell):
    """Which shell it is."""

    def shell(self, *argv, **env):
        done = self.call(*(argv or (TERSE_SH,)), "-c", "readlink /proc/$$/exe; :", env=env)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode().strip()

    def test_from_the_environment(self):
        self.assertEqual(self.shell(SHELL="/bin/dash"), "/usr/bin/dash")
        self.assertEqual(self.shell(SHELL=BASH), "/usr/bin/bash")

    def test_never_itself(self):
        link = os.path.join(self.work, "my-shell")
        os.symlink(TERSE_SH, link)
        copy = shutil.copy(os.path.join(BUILD, "terse"), os.path.join(self.work, "terse-sh"))
        for own in (TERSE_SH, TERSE_BASH, os.path.join(BUILD, "terse"), link, copy):
            self.assertEqual(self.shell(SHELL=own), "/usr/bin/bash", own)
            self.assertEqual(self.shell(TERSE_SHELL=own, SHELL=own), "/usr/bin/bash", own)

    def test_configured(self):
        self.assertEqual(self.shell(SHELL=BASH, TERSE_SHELL="/bin/dash"), "/usr/bin/dash")
        self.assertEqual(self.shell(SHELL="/no/such/bash", TERSE_SHELL="/none"), "/usr/bin/bash")

    def test_one_that_reads_other_strings_is_none(self):
        fish = write_file(os.path.join(self.work, "fish"), "#!/bin/sh\necho fish\n", 0o755)
        self.assertEqual(self.shell(SHELL=fish), "/usr/bin/bash")
        done = self.call(TERSE_SH, env={"SHELL": fish})
        self.assertEqual(done.stdout, b"fish\n")

    def test_terse_bash(self):
        self.assertEqual(self.shell(TERSE_BASH, SHELL="/bin/dash"), "/usr/bin/bash")

    def test_without_anything(self):
        done = self.call("/usr/bin/env", "-i", TERSE_SH, "-c", "echo $0")
        self.assertEqual((done.returncode, done.stdout), (0, b"/bin/bash\n"))

    def test_the_one_that_the_shim_replaced(self):
        """libterse-shim.so names the shell, and hands on the arguments unchanged."""
        env = {"TERSE_SHIM_PROGRAM": "/bin/dash", "TERSE_SHIM_PRELOAD": "/nowhere/a.so", "X": "1"}
        script = "readlink /proc/$$/exe; echo $0; env | grep TERSE_; echo $LD_PRELOAD"
        done = self.call(BASH, "-c", "exec -a sh %s -c '%s'" % (TERSE_SH, script), env=env)
        self.assertEqual(done.stdout, b"/usr/bin/dash\nsh\nTERSE_HOME=%s\n/nowhere/a.so\n"
                         % self.store.encode())
        # A supervised one has no library.
        done = self.run_to_end(TERSE_SH, "-c", claude(script), env={**self.claude, **env})
        self.assertEqual(done.out.splitlines()[:2], [b"/usr/bin/dash", TERSE_SH.encode()])
        self.assertRegex(done.out.splitlines()[2], rb"^TERSE_ACTIVE=\d+-\d+$")
        self.assertEqual(done.out.splitlines()[-1], b"")

    def test_broken_configuration_is_silent(self):
        """A call that is handed on prints only its own output."""
        os.makedirs(os.path.join(self.home, "config", "terse"))
        write_file(os.path.join(self.home, "config", "terse", "terse.ini"), "[nonsense\n")
        done = self.call(TERSE_SH, "-c", "echo on")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"on\n", b""))


class Claude(Shell):
    def test_preview_and_read_back(self):
        run = self.tool_call("seq 200000")
        self.assertEqual(run.code, 0)
        identifier = self.assert_preview(run, numbers(200000))
        back = self.tool_call("terse read %s --offset 100000 --limit 1500" % identifier)
        self.assertEqual(back.out.splitlines()[:1500], numbers(101499).splitlines()[99999:])
        meta = self.metadata(identifier)
        self.assertEqual(meta["process.command_args"], ["/bin/bash", "-c", "seq 200000"])
        self.assertEqual(meta["session.id"], "conversation-1")

    def test_forms_of_the_call(self):
        for argv in ((claude("seq 3000"),), ("-c", claude("seq 3000")),
                     ("-c", "-l", claude("seq 3000")), ("-c", claude("seq 3000", ""))):
            run = self.run_to_end(TERSE_SH, *argv, env=self.claude)
            self.assertTrue(FOOTER.search(run.out), argv)

    def test_both_streams_to_its_file(self):
        """One regular file for both, as Claude Code has it."""
        run = self.tool_call("seq 3000; echo last >&2; exit 3", kind="file")
        self.assertEqual(run.code, 3)
        self.assertTrue(FOOTER.search(run.out)["end"] == b"exit 3", run.out)
        self.assertRegex(run.out, rb"3000\]?\nlast\n")
        run = self.tool_call("echo one; echo two >&2", kind="file", split=True)
        self.assertEqual((run.out, run.err), (b"one\ntwo\n", b""))

    def test_its_directory_carries_over(self):
        run = self.tool_call("cd / && echo there")
        self.assertEqual((run.code, run.out), (0, b"there\n"))
        self.assertEqual(read_file(self.claude["CWD_FILE"] + "-cwd"), b"/\n")

    def test_failure_keeps_its_status(self):
        self.assertEqual(self.tool_call("exit 7").code, 7)
        self.assertEqual(self.tool_call("kill -TERM $$").code, -15)
        self.assertFalse(os.path.exists(self.claude["CWD_FILE"] + "-cwd"))

    def test_progress_is_collapsed(self):
        run = self.tool_call("for i in $(seq 100); do printf '%d%%\\r' $i; done; echo done")
        self.assertEqual(run.out, b"done\n")

    def test_input_is_handed_through(self):
        run = self.run_to_end(TERSE_SH, claude("cat", ""), env=self.claude, data=b"input")
        self.assertEqual(run.out, b"input")

    def test_nested_shells_and_pipelines_are_untouched(self):
        env = {**self.claude, "SHELL": TERSE_SH, "TERSE_SHELL": BASH}
        inner = claude("seq 3000").replace("'", "'\"'\"'")
        run = self.run_to_end(TERSE_SH, claude("%s '%s' | wc -l; $SHELL -c 'seq 3000' | tail -n 1"
                                               % (TERSE_SH, inner)), env=env)
        self.assertEqual(run.out, b"3000\n3000\n")

    def test_what_else_it_runs_is_not_supervised(self):
        write_file(os.path.join(self.work, "server.py"),
                   "import sys\nfor line in sys.stdin: print(line.strip() * 2000, flush=True)\n")
        for argv in (("-c", "env | grep -v '^_='"), ("seq 3000; printf '\\033[1m\\a'",),
                     ("python3 server.py 'a b' '$X'",), ("-c", "-l", "SNAPSHOT_FILE=x; seq 3000"),
                     ("test -t 1 || echo no terminal; echo err >&2; exit 9",)):
            args = argv if argv[0] == "-c" else ("-c", *argv)
            plain = self.call(BASH, *args, env=self.claude, data=b"one\ntwo\n")
            ours = self.call(TERSE_SH, *argv, env=self.claude, data=b"one\ntwo\n")
            self.assertEqual((ours.returncode, ours.stdout, ours.stderr),
                             (plain.returncode, plain.stdout, plain.stderr), argv)

    def test_switched_off(self):
        for env in ({"TERSE": "0"}, {"TERSE_PASS": "seq *"}):
            self.assertEqual(self.tool_call("seq 3000", env=env).out, numbers(3000))
        # A variable that names no run does not.
        for active in ("1", "1-1", "x", "%d-1" % os.getpid(), "0-0", "0-1", "99999999-0", "-1-1"):
            run = self.tool_call("seq 3000", env={"TERSE_ACTIVE": active})
            self.assertTrue(FOOTER.search(run.out), active)

    def test_ceilings(self):
        """Claude Code cuts at 30,000 characters, and at 10,000 if the command failed. Of a success over
        that it shows 2,000."""
        for size, status, most in ((9000, 1, 10000), (20000, 0, 30000), (29000, 0, 30000),
                                   (12000, 1, 10000), (29000, 1, 10000), (90000, 0, 30000),
                                   (90000, 1, 10000)):
            text = b"".join(b"%05d %s\n" % (i, b"x" * 43) for i in range(size // 50))
            write_file(os.path.join(self.work, "text"), text)
            run = self.tool_call("cat text; exit %d" % status)
            self.assertLessEqual(len(run.out), most)
            self.assertEqual(run.code, status)
            if len(text) <= most:
                self.assertEqual(run.out, text)
                continue
            shown, notice = re.fullmatch(rb"(.*?)(\[terse: .*\]\n)", run.out, re.S).groups()
            self.assertLessEqual(len(run.out), most if status else 4096)
            self.assertGreater(len(shown), (most if status else 4096) * 8 // 10)
            self.assertEqual(self.artifact(run.id), text)
            if status:
                # Of a failure the end as well.
                marker = MARKER.search(shown)
                self.assertTrue(text.startswith(shown[:marker.start()]) and text.endswith(shown[marker.end() + 1:]))
                self.assertTrue(FOOTER.search(run.out))
                continue
            self.assertTrue(text.startswith(shown))
            self.assertRegex(notice, rb"^\[terse: lines 1-[\d,]+ of [\d,]+ shown ")
            offset = re.search(rb"--offset (\d+)", notice)[1]
            self.assertEqual(int(offset), shown.count(b"\n") + 1)

    def test_a_plain_terse_writes_a_preview_to_its_file(self):
        folder = os.path.join(self.dir, "claude-0", "conversation-1", "tasks")
        os.makedirs(folder)
        for name, previewed in (("b8s66d6wa.output", True), ("mine", False)):
            path = os.path.join(folder, name)
            with open(path, "wb") as f:
                subprocess.run([os.path.join(BUILD, "terse"), "seq", "3000"], cwd=self.work,
                               env=self.env(**self.claude), stdin=subprocess.DEVNULL, stdout=f,
                               stderr=f, timeout=DEADLINE, check=True)
            self.assertEqual(bool(FOOTER.search(read_file(path))), previewed)


class Others(Shell):
    def test_codex(self):
        env = {"CODEX_THREAD_ID": "thread-1", "SHELL": BASH}
        run = self.as_agent("codex", TERSE_SH + " -c 'seq 3000; exit 3'", env=env)
        self.assertTrue(FOOTER.search(run.out), run.out[-300:])
        self.assertEqual(run.code, 3)
        self.assertEqual(self.metadata(run.id)["session.id"], "thread-1")
        # The shell that saves its variables becomes the shell of the command.
        run = self.as_agent("codex", TERSE_SH + " -c '__CODEX_SNAPSHOT_OVERRIDE_0=x; seq 3000'",
                            env=env)
        self.assertEqual(run.out, numbers(3000))
        # Not the agent's own: below another program.
        run = self.as_agent("other", TERSE_SH + " -c 'seq 3000'", env=env)
        self.assertEqual(run.out, numbers(3000))

    def test_codex_hears_of_a_command_that_goes_on_printing(self):
        """It gives up waiting after 10 s: before that it needs the output so far and the ID."""
        fifo = os.path.join(self.work, "fifo")
        os.mkfifo(fifo)
        program = os.path.join(self.work, "codex")
        os.symlink(BASH, program)
        run = self.start(program, "-c", TERSE_SH + " -c 'seq 2000; read x <fifo; seq 5'; :",
                         env={"CODEX_THREAD_ID": "t", "SHELL": BASH, "TERSE_HEARTBEAT": "500ms"})
        run.until(HEARTBEAT)
        self.assertTrue(run.out.startswith(b"1\n2\n3\n"))
        identifier = HEARTBEAT.search(run.out)[2].decode()
        self.assertEqual(self.artifact(identifier), numbers(2000))
        let_go_on(fifo)
        run.finish()
        self.assertTrue(FOOTER.search(run.out))

    def test_codex_in_a_sandbox_that_writes_nowhere(self):
        """Text that can't be kept is printed as far as the agent shows it: the agent loses no line that it
        would have had without terse."""
        for path in (self.store, os.path.join(self.home, "state"),
                     os.path.join(self.home, ".local"), os.path.join(self.work, "tmp")):
            write_file(path, "")
        env = {"CODEX_THREAD_ID": "t", "SHELL": BASH, "XDG_RUNTIME_DIR": None,
               "TMPDIR": os.path.join(self.work, "tmp")}
        run = self.as_agent("codex", TERSE_SH + " -c 'seq 1900'", env=env)
        self.assertEqual(run.out, numbers(1900))
        run = self.as_agent("codex", TERSE_SH + " -c 'seq 3000'", env=env)
        self.assertIn(b"; not kept: ", run.out)
        self.assertGreater(len(run.out), 8000)
        self.assertLess(len(run.out), 10000)

    def test_opencode_is_told_the_status(self):
        env = {"OPENCODE": "1", "SHELL": BASH}
        run = self.as_agent("opencode", TERSE_SH + " -c 'echo hi; exit 4'", env=env)
        self.assertEqual((run.code, run.out), (4, b"hi\n[terse: exit 4]\n"))
        run = self.as_agent("opencode", TERSE_SH + " -c 'echo hi'", env=env)
        self.assertEqual(run.out, b"hi\n")
        # A server of its own has an input.
        run = self.as_agent("opencode", TERSE_SH + " -c 'cat; seq 3000'", env=env, data=b"in\n")
        self.assertEqual(run.out, b"in\n" + numbers(3000))

    def test_pi(self):
        run = self.as_agent("pi", TERSE_SH + " -c 'seq 3000'",
                            env={"PI_CODING_AGENT": "true", "SHELL": BASH})
        self.assertTrue(FOOTER.search(run.out))
        self.assertRegex(self.metadata(run.id)["session.id"], r"^agent-pi-\d+-\d+\.\d+$")

    def test_gemini(self):
        run = self.run_to_end(TERSE_SH, "-c", gemini("seq 3000 # all"),
                              env={"GEMINI_CLI": "1", "SHELL": BASH})
        self.assertTrue(FOOTER.search(run.out))
        self.assertEqual(self.metadata(run.id)["process.command_args"], [BASH, "-c", "seq 3000 # all"])
        run = self.run_to_end(TERSE_SH, "-c", "seq 3000", env={"GEMINI_CLI": "1", "SHELL": BASH})
        self.assertEqual(run.out, numbers(3000))

    def test_an_agent_of_the_users(self):
        config = write_file(os.path.join(self.work, "ini"), "[agent mine]\nenvironment = MY_AGENT\n"
                            "string = run {command} end\nsize = 1KB\nstatus = always\n")
        env = {"MY_AGENT": "1", "SHELL": BASH, "TERSE_CONFIG": config}
        run = self.run_to_end(TERSE_SH, "-c", "run() { :; }; echo x", env=env)
        self.assertEqual(run.out, b"x\n")
        write_file(config, "[agent mine]\nenvironment = MY_AGENT\nstring = {command}; :\n"
                   "status = always\n")
        run = self.run_to_end(TERSE_SH, "-c", "echo x; :", env=env)
        self.assertEqual(run.out, b"x\n[terse: exit 0]\n")
        self.assertIn(b"[agent mine]\n", self.call(os.path.join(BUILD, "terse"), "config",
                                                   "--agents", env=env).stdout)

    def test_a_projects_file_has_no_say(self):
        os.mkdir(os.path.join(self.work, ".git"))
        write_file(os.path.join(self.work, ".terse.ini"),
                   "[agent mine]\nenvironment = HOME\nstring = {command}\n")
        done = self.call(TERSE_SH, "-c", "seq 3000")
        self.assertEqual(done.stdout, numbers(3000))
        done = self.call(os.path.join(BUILD, "terse"), "config", "check")
        self.assertIn(b"not allowed in a project's file", done.stdout + done.stderr)


class Sessions(Shell):
    def listed(self, **env):
        done = self.call(os.path.join(BUILD, "terse"), "list", env=env)
        return set(re.findall(rb"cmd-\w+", done.stdout))

    def test_conversations_are_apart(self):
        ids = {}
        for name in ("one", "two"):
            run = self.tool_call("seq 3000", env={"CLAUDE_CODE_SESSION_ID": name})
            ids[name] = run.id.encode()
        for name in ("one", "two"):
            self.assertEqual(self.listed(CLAUDE_CODE_SESSION_ID=name, CLAUDECODE="1"), {ids[name]})
        last = self.tool_call("terse path last", env={"CLAUDE_CODE_SESSION_ID": "one"})
        self.assertIn(ids["one"], last.out)

    def test_processes_are_apart(self):
        """Two agents that name no conversation, side by side; each sees its own runs."""
        script = TERSE_SH + " -c 'seq 3000' >/dev/null; " + TERSE_SH + " -c 'terse list'"
        env = {"PI_CODING_AGENT": "true", "SHELL": BASH, "TERSE_PRINT": "preview"}
        seen = []
        for _ in range(2):
            run = self.as_agent("pi", script, env=env)
            found = set(re.findall(rb"cmd-\w+", run.out))
            self.assertEqual(len(found), 1, run.out)
            seen.append(found)
        self.assertNotEqual(seen[0], seen[1])

    def test_an_agent_within_an_agent(self):
        """The inner one's process is nearer than the outer one's conversation."""
        env = {"PI_CODING_AGENT": "true", "TERSE_PRINT": "preview", **self.claude}
        run = self.as_agent("pi", TERSE_SH + " -c 'seq 3000'", env=env)
        self.assertRegex(self.metadata(run.id)["session.id"], r"^agent-pi-")

    def test_by_hand(self):
        run = self.tool_call("seq 3000", env={"TERSE_SESSION": "mine"})
        self.assertEqual(self.metadata(run.id)["session.id"], "mine")


main()
