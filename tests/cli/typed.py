#!/usr/bin/env -S python3 -B
"""terse shell: a shell that a program types into acts and prints as without terse, but long outputs become
previews before the prompt. The tests imitate the part of each harness that runs commands."""

import fcntl
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import unittest

from support.harness import (DEADLINE, SEED, SOURCE, TERSE, Case, eventually, main, numbers, processes, read_file,
                             write_file)

# Generated sessions of each shell; `make check-typed` runs many.
SESSIONS = int(os.environ.get("SESSIONS", "4"))
LINES = 20
SHELLS = [["bash", "--norc"]] + [["zsh"]] * bool(shutil.which("zsh"))
NOTICE = re.compile(rb"^\[(?:terse: |\.\.\. ).*\]\r?\n", re.M)


class Typing:
    """A program that types into a shell on a terminal, and reads what that shows."""

    def __init__(self, case, *argv, env=None, echo=True):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(case.work)
            if not echo:
                subprocess.run(["stty", "-echo"], check=False)
            os.execvpe(argv[0], argv, case.env(**{"PS1": "@> ", "TERM": "dumb", **(env or {})}))
        self.data = b""
        self.status = None

    def read(self):
        """What is there; b"" at the end."""
        if not select.select([self.fd], [], [], DEADLINE)[0]:
            raise AssertionError("nothing more came: %r" % self.data[-2000:])
        try:
            chunk = os.read(self.fd, 65536)
        except OSError:
            return b""
        self.data += chunk
        return chunk

    def until(self, pattern):
        """What came up to the end of the pattern's match, which is taken."""
        while not (found := re.search(pattern, self.data)):
            if not self.read():
                raise AssertionError("%r did not come: %r" % (pattern, self.data[-2000:]))
        taken, self.data = self.data[:found.end()], self.data[found.end():]
        return taken

    def send(self, text):
        os.write(self.fd, text.encode())

    def line(self, text, prompt=rb"@> "):
        """What a line shows, with the prompt behind it; further lines are typed when they are asked for."""
        *parts, last = text.split("\n")
        before = b""
        for part in parts:
            self.send(part + "\n")
            before += self.until(rb"(?:> |\? )(?:\d )?(?:%s)?\Z" % prompt[3:])
        self.send(last + "\n")
        return before + self.until(prompt)

    def end(self):
        while self.read():
            pass
        self.hang_up()
        return self.data

    def hang_up(self):
        os.close(self.fd)
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


BASH_STATE = """{ declare -p; declare -f; trap -p; shopt -p; set -o; alias; umask; dirs -v; jobs; history; pwd; ulimit -a
printf '%s\\n' "${PROMPT_COMMAND[0]}" "$-"; } >state 2>&1"""
ZSH_STATE = """{ typeset -p; functions; trap; setopt; alias; umask; dirs -v; jobs; fc -l 1; pwd; ulimit -a
print -r -- "$-"; } >state 2>&1"""
# What differs from run to run, and the hooks.
VOLATILE = re.compile(r"^(?:declare|typeset|export|integer|local)? ?(?:-\S+ )*(?:-?[a-zA-Z]+ )*"
                      r"(?:BASHPID|PPID|EPOCH\w*|S?RANDOM|SECONDS|BASH_ARGV\w*|BASH_ARGC|_|PROMPT_COMMAND|PS0|TERSE_\w+|"
                      r"TTYIDLE|TTY|SYSPARAMS|commands|precmd_functions|preexec_functions|functions\w*|"
                      r"jobdirs|jobstates|jobtexts|USERNAME|ZDOTDIR|ZSH_SUBSHELL|history|historywords|HISTCMD|nameddirs|"
                      r"parameters|dis_\w+|funcsourcetrace|functrace|usergroups|userdirs|builtins|saliases|galiases|"
                      r"epochtime|sysparams|LINENO|status|\?|\$|!)[=\s(]")


def clean(text):
    return re.sub(rb"\x1b\][^\a]*\a|[\0-\x09\x0b-\x1f]", b"", text)


def script(which, shell):
    """The lines of a generated session."""
    pick = random.Random("%d %s %d" % (SEED, shell, which))

    def sentinel():
        word = "".join(pick.choice("ABCDEF_#") for _ in range(8))
        return pick.choice(["echo '%s'$?" % word, "printf '%s\\n' $?" % word,
                            "printf '\\033]133;%s\\007\\n'" % word, "printf '\\001%s\\002'; echo" % word])
    bash = shell == "bash"
    forms = [
        lambda: "echo '%s'" % ("word " * pick.randrange(30)),
        lambda: "seq %d" % pick.choice([3, 40, 300, 900, 3000, 6000]),
        lambda: "seq %d; %s" % (pick.choice([5, 2000]), sentinel()),
        sentinel,
        lambda: "(exit %d)" % pick.randrange(200),
        lambda: "echo $?",
        lambda: "false | true | (exit 7)",
        lambda: "echo ${PIPESTATUS[@]}" if bash else "echo $pipestatus",
        lambda: "echo \"$_\"",
        lambda: "mkdir -p d%d && cd d%d" % ((pick.randrange(9),) * 2),
        lambda: "cd ..",
        lambda: "v%d=$((v%d + %d))" % ((pick.randrange(3),) * 2 + (pick.randrange(9),)),
        lambda: "f%d() { echo \"f $1 $v0\"; return %d; }" % (pick.randrange(2), pick.randrange(3)),
        lambda: "f0 x; f1 y",
        lambda: "for i in 1 2 3\ndo echo $i\ndone",
        lambda: "cat <<X\na $v1\nX",
        lambda: "set -%s" % pick.choice("uC"),
        lambda: "set +%s" % pick.choice("uC"),
        lambda: "trap 'echo got' USR1; kill -USR1 $$; :",
        lambda: "trap 'v0=9' USR2",
        lambda: "(sleep 0.01 & wait); echo $?",
        # A job that has ended before a wait for all is not told of.
        lambda: ("sleep 1000 &", "jobs", "kill -9 $!; wait $!; :"),
        lambda: "alias a%d='echo alias'" % pick.randrange(3),
        lambda: "a1",
        lambda: "echo err >&2",
        lambda: "printf 'no end'",
        lambda: "printf '10%%\\r20%%\\r\\033[31mred\\033[0m\\n'",
        lambda: "printf '%%%ds\\n' x" % pick.choice([100, 3000]),
        lambda: "umask 0%d" % pick.choice([22, 27]),
        lambda: "printf '\\77 '; read -r x\nanswer %d" % pick.randrange(9),
        lambda: "PS2='> %d '" % pick.randrange(3),
        lambda: "export E%d=%d" % (pick.randrange(3), pick.randrange(9)),
        lambda: "env | grep -a ^E | sort",
        lambda: "ls nowhere",
        lambda: "nosuchcommand",
        lambda: "seq 2000 | while read -r n; do echo \"file $n ok\"; done; ls /nowhere",
    ]
    if bash:
        forms += [
            lambda: "export PROMPT_COMMAND='export PS1=\"@\"\"> \"'",
            lambda: "PROMPT_COMMAND='echo \"=$?=\"'",
            lambda: "unset PROMPT_COMMAND",
            lambda: "PS0=''",
            lambda: "shopt -s %s" % pick.choice(["extglob", "nullglob", "autocd"]),
            lambda: "set -o pipefail",
            lambda: ("echo again", "!-1"),
            lambda: "echo $LINENO ${#BASH_SOURCE[@]} $BASH_SUBSHELL",
            lambda: ("unset PROMPT_COMMAND", "set -x", "echo \"$v0\"", "(exit 3)", "set +x"),
        ]
    lines = []
    while len(lines) < LINES:
        form = pick.choice(forms)()
        lines += [form] if isinstance(form, str) else form
    return lines


class Sessions(Case):
    def session(self, argv, which):
        """A generated session: what each line showed, and the shell's state at its end."""
        shell = argv[-1] if argv[-1] == "zsh" else "bash"
        shutil.rmtree(self.work)
        shutil.rmtree(self.store, ignore_errors=True)
        os.mkdir(self.work)
        state = write_file(os.path.join(self.dir, "dump"), BASH_STATE if shell == "bash" else ZSH_STATE)
        write_file(os.path.join(self.home, ".zshrc"), "unsetopt prompt_sp prompt_cr; PS1='@> '; PS2='> '\n")
        typing = Typing(self, *argv, env={"HISTFILE": ""}, echo=which % 2 == 0)
        prompt = rb"@> \x1b\[\?2004h" if shell == "zsh" else rb"@> "
        shown = [typing.until(prompt)]
        # The first line installs bash's hooks.
        for line in [":"] + script(which, shell):
            shown.append(typing.line(line, prompt))
        shown.append(typing.line("cd %s; . %s" % (self.work, state), prompt))
        typing.send("exit 3\n")
        shown.append(typing.end())
        dump = read_file(os.path.join(self.work, "state")).decode(errors="replace")
        lines = [re.sub(r"\b\d{2,7}\b(?= *(?:running|done|$))", "PID", line) for line in dump.split("\n")
                 if not VOLATILE.match(line) and not re.search("_terse_|TERSE_|7770", line)]
        return shown, lines, typing.status

    def compare(self, which, argv):
        lines = script(which, argv[0])
        about = "session %d of %s, TEST_SEED=%d: %r" % (which, argv[0], SEED, lines)
        bare, state, status = self.session(argv, which)
        shown, own, ended = self.session([TERSE, "shell"] + argv, which)
        self.assertEqual((sorted(set(own) - set(state)), sorted(set(state) - set(own))), ([], []), about)
        self.assertEqual(ended, status, about)
        for number, (with_it, without) in enumerate(zip(shown, bare)):
            with_it, without = (re.sub(rb"(\[\d+\] )\d+", rb"\1PID", text) for text in (with_it, without))
            where = "%s\nat %d" % (about, number)
            if not NOTICE.search(with_it):
                self.assertEqual(with_it, without, where)
                continue
            first, last = NOTICE.search(with_it), list(NOTICE.finditer(with_it))[-1]
            self.assertEqual(with_it[:first.start()], without[:first.start()], where)
            self.assertEqual(with_it[last.end():], without[last.start() - len(with_it):][-len(with_it) + last.end():],
                             where)
            self.assertGreaterEqual(with_it[last.end():].count(b"\n"), 1, where)
            found = re.search(rb"terse read (cmd-\w+)", last.group())
            text = read_file([path for path in self.artifacts() if found.group(1).decode() in path][0])
            self.assertIn(clean(text), clean(without), where)
            self.assertLess(len(with_it.replace(b"\r", b"")), 9000, where)

    def test_generated(self):
        print("random data: TEST_SEED=%d" % SEED, flush=True)
        for which in range(SESSIONS):
            for argv in SHELLS:
                with self.subTest(which=which, shell=argv[0]):
                    self.compare(which, argv)


class Passages(Case):
    """What a harness sees of a long output, and what passes as it is."""

    def setUp(self):
        super().setUp()
        self.open = []

    def tearDown(self):
        for typing in self.open:
            if typing.status is None:
                typing.hang_up()
        super().tearDown()

    def typing(self, *argv, **how):
        typing = Typing(self, TERSE, "shell", *(argv or ("bash", "--norc")), **how)
        self.open.append(typing)
        typing.until(rb"@> ")
        typing.line(":")
        return typing

    def commands(self):
        """The commands in the journal."""
        lines = read_file(os.path.join(self.store, "sessions", "default", "journal.jsonl")).splitlines()
        return [run for run in map(json.loads, lines) if run["eventName"] == "terse.run"]

    def test_preview(self):
        typing = self.typing(echo=False)
        shown = typing.line("seq 20000; echo 'error: it broke'; seq 20000; echo SENTINEL$?; (exit 9)")
        self.assertRegex(shown, rb"(?s)^1\r\n2\r\n.*\r\nerror: it broke\r\n.*\[terse: exit 9 after .*40,002 lines, "
                                rb".*terse search ID REGEX\]\r\n(\d+\r\n)+SENTINEL0\r\n@> $")
        gaps = re.findall(rb"\[\.\.\. lines (\d+)-(\d+)", shown)
        self.assertIn(b"\r\n%d\r\n[... lines" % (int(gaps[0][0]) - 1), shown)
        read = typing.line("terse read last --lines 20001-20001; echo %s" % ("-" * 9)).split(b"\r\n")
        self.assertIn(b"error: it broke", read)
        meta = self.metadata(re.search(rb"cmd-\w+", shown).group().decode())
        self.assertEqual(meta["process.command_args"][-1], "seq 20000; echo 'error: it broke'; seq 20000; echo SENTINEL$?; (exit 9)")
        self.assertEqual((meta["process.exit.code"], meta["process.working_directory"]), (9, self.work))

    def test_notices_are_guarded(self):
        typing = self.typing(echo=False)
        shown = typing.line("echo '[terse: exit 0 after 1 ms; mine]'; seq 3000; echo '[terse: exit 0; mine]'")
        self.assertEqual(len(re.findall(rb"(?m)^\[terse: exit", shown)), 1)
        self.assertEqual(len(re.findall(rb"(?m)^\| \[terse: exit 0", shown)), 2)

    def test_pauses_and_questions(self):
        """A long command is not silent, and a question comes before its answer."""
        fifo = self.fifo()
        typing = self.typing(echo=False)
        typing.send("seq 3000; : <%s; seq 3000 4000; read -rp 'Really? ' x; echo got $x\n" % fifo)
        shown = typing.until(rb"(?s)terse read cmd-\w+ .*\n3000\r\n")
        self.assertTrue(shown.startswith(b"1\r\n2\r\n"), shown[:99])
        with open(fifo, "wb"):
            pass
        typing.until(rb"\n4000\r\nReally\? ")
        shown = typing.line("yes")
        self.assertRegex(shown, rb"(?s)\[terse: exit 0.*got yes\r\n@> $")
        # The answer is not the command.
        meta = self.metadata(re.search(rb"cmd-\w+", shown).group().decode())
        self.assertIn("got $x", meta["process.command_args"][-1])

    def test_programs_with_keys_pass(self):
        """A program that reads keys has the terminal: nothing of it is held."""
        typing = self.typing(echo=False)
        typing.send("sh -c 'stty raw; seq 3000; head -c 1; stty sane -echo'\n")
        self.assertEqual(typing.until(rb"\n3000\n"), numbers(3000))
        typing.send("x")
        typing.until(rb"x.*@> ")
        typing.send("seq 3000; read -n1 x; (exit 5)\n")
        typing.until(rb"(?s)\[terse: .*\n3000\r\n")
        typing.send("x")
        typing.until(rb"@> ")
        self.assertEqual((self.commands()[-1]["state"], self.commands()[-1]["process.exit.code"]), ("done", 5))

    def test_nothing_printed(self):
        """A command that printed nothing and went well is a line of the journal; one that failed is kept."""
        typing = self.typing(echo=False)
        typing.line(":")
        typing.line("(exit 3)")
        self.assertEqual([(bool(run.get("id")), run["process.exit.code"]) for run in self.commands()], [(False, 0), (True, 3)])

    def test_end_is_whole(self):
        """A reader that is slow gets all that the shell wrote."""
        typing = Typing(self, TERSE, "shell", "bash", "--norc", "-ic", "seq 100000")
        eventually(lambda: not any(p.name == "bash" for p in processes(self.mark)), "the shell's end")
        self.assertEqual(typing.end(), numbers(100000).replace(b"\n", b"\r\n"))

    def test_terminal_is_left(self):
        """terse sleeps while nothing of the shell's has the terminal open."""
        typing = self.typing(echo=False)
        typing.send("exec sleep 1000 </dev/null >/dev/null 2>&1\n")
        eventually(lambda: any(p.name == "sleep" for p in processes(self.mark)), "the sleep")
        stat = "/proc/%d/stat" % typing.pid
        eventually(lambda: all(read_file(stat).split(b") ")[1][:1] == b"S" for _ in range(50)), "that terse sleeps")

    def test_overwritten_hooks(self):
        """Marks of one kind alone count for nothing."""
        typing = self.typing(echo=False)
        for form in ("PS0='> '", "readonly PROMPT_COMMAND; unset 'PROMPT_COMMAND[7770]'"):
            typing.line(form)
        self.assertIn(numbers(3000).replace(b"\n", b"\r\n"), typing.line("seq 3000"))

    def test_no_terminal(self):
        """A shell on a pipe, one with a string, another shell, and TERSE=0: the shell itself."""
        run = self.run_to_end(TERSE, "shell", "bash", data=b"echo $-; seq 3000\n")
        self.assertEqual(run.out.split(b"\n", 1)[1], numbers(3000))
        for argv, env in ((("bash", "-c", "seq 3000"), {}), (("sh", "-c", "seq 3000"), {}),
                          (("bash", "--norc", "-ic", "seq 3000"), {"TERSE": "0"})):
            typing = Typing(self, TERSE, "shell", *argv, env=env)
            self.assertEqual(typing.end(), numbers(3000).replace(b"\n", b"\r\n"))
            self.assertEqual(typing.status, 0)

    def test_wired(self):
        """A wired $SHELL is left alone unless asked, also with options (su USER -)."""
        shell = os.path.join(os.path.dirname(TERSE), "terse-sh")
        for asked, held, *words in (("no", False), ("yes", True), ("yes", True, "-")):
            typing = Typing(self, shell, *words, env={"SHELL": "/bin/bash", "TERSE_INTERACTIVE": asked}, echo=False)
            write_file(os.path.join(self.home, ".bashrc"), "PS1='@> '\n")
            typing.until(rb"@> ")
            typing.line(":")
            self.assertEqual(b"terse read" in typing.line("seq 3000"), held)
            typing.send("exit 4\n")
            typing.end()
            self.assertEqual(typing.status, 4)

    def test_signals_and_size(self):
        typing = self.typing()
        typing.send("sh -c 'echo g\"\"o; exec cat'\n")
        typing.until(rb"\ngo\r\n")
        typing.send("\x03")
        self.assertIn(b"^C", typing.until(rb"@> "))
        self.assertIn(b"\n130\r\n", typing.line("echo $?"))
        fcntl.ioctl(typing.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 90, 0, 0))
        typing.send("until [ \"$(stty size)\" = '40 90' ]; do sleep 0.01; done; stty size\n")
        typing.until(rb"\n40 90\r\n")
        os.kill(typing.pid, signal.SIGTERM)  # which a shell ignores
        typing.send("echo o''k\n")
        typing.until(rb"\nok\r\n")

    def test_redaction(self):
        typing = self.typing(echo=False, env={"TERSE_REDACT": "yes"})
        secret = "ghp_" + "Ab3dEf" * 6
        for command in ("echo token '%s''%s'; seq 3000" % (secret[:9], secret[9:]), "echo %s" % secret):
            self.assertNotIn(secret.encode(), typing.line(command))
        self.assertNotIn(secret.encode(), read_file(self.artifacts()[0]))
        self.assertNotIn(secret, json.dumps(self.commands()))

    def test_remote(self):
        """Each run is pushed while the shell lives."""
        remote = os.path.join(self.work, "remote")
        os.mkdir(remote)
        os.makedirs(os.path.join(self.home, "config/terse"))
        write_file(os.path.join(self.home, "config/terse/terse.ini"),
                   "[remote]\nremote = file:%s\npush = failed\n" % remote)
        typing = self.typing(echo=False)
        descriptors = "/proc/%d/fd" % typing.pid
        before = len(os.listdir(descriptors))
        for _ in range(3):
            shown = typing.line("seq 3000; (exit 4)")
        last = re.search(rb"cmd-\w+", shown).group().decode()
        eventually(lambda: any(name.startswith(last) for _, _, names in os.walk(remote) for name in names),
                   lambda: "%s is not in %s" % (last, list(os.walk(remote))))
        eventually(lambda: len(os.listdir(descriptors)) == before, "that only its own are open")

    def test_nothing_is_left(self):
        """The harness dies; terse is killed."""
        for kill in (False, True):
            typing = self.typing(echo=False)
            typing.send("seq 3000; sleep 1000 & sleep 1000\n")
            eventually(lambda: sum(p.name == "sleep" for p in processes(self.mark)) == 2, "two sleeps")
            if kill:
                os.kill(typing.pid, signal.SIGKILL)
            typing.hang_up()
            eventually(lambda: not processes(self.mark), lambda: "the end of %s" % processes(self.mark))

    def test_nothing_can_be_kept(self):
        typing = self.typing(echo=False, env=dict.fromkeys(
            ("HOME", "TERSE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "TMPDIR"), "/dev/null"))
        self.assertIn(numbers(3000).replace(b"\n", b"\r\n"), typing.line("seq 3000"))


class Harnesses(Case):
    """The part of each that runs commands."""

    LONG = "for i in $(seq 5000); do echo file $i ok; done; echo 'E: it broke'; cd /; (exit 6)"

    def wire(self):
        """bash reads the line of terse init bash."""
        self.assertEqual(self.run_to_end(TERSE, "init", "bash").code, 0)
        return self.env(TERSE_INTERACTIVE="yes", TERM="xterm")

    def test_a_line_in_a_start_up_file(self):
        """It does nothing for a person, to a string, without a terminal, and where terse is off or gone."""
        env = self.wire()
        path = os.path.join(self.home, ".bashrc")
        line = read_file(path).decode()
        whole = numbers(3000).replace(b"\n", b"\r\n")
        self.assertIn(whole, Typing(self, "bash", "-ic", "seq 3000", env=env).end())
        write_file(path, line + "alias a='echo its own'\n")
        for words in ("echo a | bash -i", "echo a | bash -i | cat"):
            self.assertIn(b"its own\r\n", Typing(self, "sh", "-c", words, env=env).end(), words)
        # A login shell stays one, and reads what its file has behind this one.
        write_file(os.path.join(self.home, ".bash_profile"), ". ~/.bashrc\nlate=yes\n")
        write_file(path, line + "PS1='@> '\n")
        typing = Typing(self, "bash", "-l", env=env, echo=False)
        typing.until(rb"@> ")
        self.assertIn(b"yes0", typing.line("shopt -q login_shell; echo $late$?"))
        self.assertNotIn(whole, typing.line("seq 3000"))
        typing.hang_up()
        for asked, program, off in (("", TERSE, ""), ("yes", "/nowhere/terse", ""), ("yes", TERSE, "0"), ("yes", TERSE, "")):
            write_file(path, line.replace(TERSE, program) + "PS1='@> '\n")
            typing = Typing(self, "bash", env={**env, "TERSE_INTERACTIVE": asked, "TERSE": off}, echo=False)
            typing.until(rb"@> ")
            typing.line(":")
            self.assertEqual(whole in typing.line("seq 3000"), asked != "yes" or program != TERSE or off == "0")
            typing.send("exit 4\n")
            typing.end()
            self.assertEqual(typing.status, 4)

    def test_swe_rex(self):
        """SWE-ReX at 0bed753 (src/swerex/runtime/local.py): pexpect, PS0 emptied, the status asked for."""
        try:
            import pexpect  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("pexpect is not there")
        env = self.wire()
        shell = pexpect.spawn("/usr/bin/env bash", encoding="utf-8", echo=False, cwd=self.work, timeout=DEADLINE,
                              env={**env, "PS1": "SHELLPS1PREFIX", "PS2": "", "PS0": ""})
        shell.sendline("export PS1='SHELLPS1PREFIX' ; export PS2='' ; export PS0=''")
        shell.expect("SHELLPS1PREFIX")

        def run(command):
            shell.sendline(command)
            shell.expect("SHELLPS1PREFIX")
            output = re.sub(r"\x1B[@-_][0-?]*[ -/]*[@-~]", "", shell.before).replace("\r\n", "\n")
            shell.sendline("\necho EXITCODESTART$?EXITCODEEND")
            shell.expect("EXITCODEEND")
            status = re.findall("EXITCODESTART([0-9]+)", shell.before)
            shell.expect("SHELLPS1PREFIX")
            return output, status
        output, status = run(self.LONG)
        self.assertEqual(status, ["6"])
        self.assertLess(len(output), 8500)
        self.assertRegex(output, r"(?s)file 1 ok.*\[terse: exit 6 .*terse read cmd-.*E: it broke")
        self.assertEqual(run("pwd")[0].strip(), "/")
        # A ^C that comes before the shell has started the program is lost, with terse and without.
        shell.sendline("sh -c 'echo g\"\"o; exec cat'")
        shell.expect("go\r\n")
        shell.sendintr()
        shell.expect("SHELLPS1PREFIX")
        shell.close()

    def test_openhands(self):
        """OpenHands at 9342160 (runtime/utils/bash.py), its SDK at 40e712f (tmux_terminal.py): tmux, a prompt of
        JSON that PROMPT_COMMAND sets, the whole pane read."""
        if not shutil.which("tmux"):
            self.skipTest("tmux is not there")
        env = self.wire()
        socket = os.path.join(self.dir, "tmux")

        def tmux(*argv):
            return subprocess.run(["tmux", "-S", socket, "-f", "/dev/null", *argv], env=env, cwd=self.work, check=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE).stdout.decode()
        tmux("new-session", "-d", "-x", "1000", "-y", "1000", ";",
             "set-option", "-g", "history-limit", "10000", ";", "new-window", "/bin/bash")
        self.addCleanup(subprocess.run, ["tmux", "-S", socket, "kill-server"], check=False, capture_output=True)
        begin, end = "###PS1JSON###", "###PS1END###"
        prompt = json.dumps({"exit_code": "$?", "dir": "$(pwd)"}).replace('"', '\\\\\\"')
        prompt = "\\n%s\\n%s\\n%s\\n" % (begin, prompt, end)

        def blocks():
            return re.findall(r"(?ms)^%s\n(.*?)^%s" % (begin, end), tmux("capture-pane", "-J", "-pS", "-"))

        def run(command):
            before = len(blocks())
            tmux("send-keys", "-l", command)
            tmux("send-keys", "Enter")
            eventually(lambda: len(blocks()) > before, lambda: "a prompt: " + tmux("capture-pane", "-p"))
            shown = tmux("capture-pane", "-J", "-pS", "-")
            return shown.split(end)[-2].split(begin)[0], json.loads(blocks()[-1])
        run("set +H; export PROMPT_COMMAND='export PS1=\"%s\"'; export PS2=\"\"" % prompt)
        output, after = run(self.LONG)
        self.assertEqual(after, {"exit_code": "6", "dir": "/"})
        self.assertLess(len(output), 9000)
        self.assertRegex(output, r"(?s)file 1 ok.*\[terse: exit 6 .*terse read cmd-.*E: it broke")
        self.assertEqual(run("echo short")[0].strip().split("\n")[-1], "short")
        tmux("kill-server")

    def test_sentinels(self):
        """A word after the command, in its line or the next one, is there once and whole."""
        typing = Typing(self, TERSE, "shell", "bash", "--norc", echo=False, env={"PS1": ""})
        typing.send(":\necho ready\n")
        typing.until(rb"ready\r\n")
        for join in ("; ", "\n"):
            typing.send("seq 5000%secho '##END##'$?\n" % join)
            shown = typing.until(rb"##END##0\r\n")
            self.assertRegex(shown, rb"(?s)1\r\n2\r\n.*\[terse: exit 0 .*REGEX\]\r\n(\d+\r\n)+##END##0\r\n$")
        typing.send("exit\n")
        typing.end()


if __name__ == "__main__":
    main()
