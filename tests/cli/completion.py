#!/usr/bin/env -S python3 -B
"""Completion of terse's command line: what `terse __complete` answers, and the scripts in the shells
themselves. zsh and fish are tried where they are installed."""

import os
import re
import shutil

from support.harness import main, write_file
from support.screen import ScreenCase


class Words(ScreenCase):
    def offered(self, *words):
        """Returns (directive, candidates) for the last word."""
        lines = self.ask("__complete", *words).decode().split("\n")
        self.assertEqual(lines.pop(), "")
        for line in lines[1:]:
            self.assertEqual(line.count("\t"), 1, line)
        return lines[0], [line.split("\t")[0] for line in lines[1:]]

    def flags_of(self, text):
        found = set()
        for no, name in re.findall(r"(?<![\w-])--(\[no-\])?([a-z][a-z0-9-]*)", text):
            found |= {"--" + name} | ({"--no-" + name} if no else set())
        return found

    def test_every_verb_and_option_of_the_help(self):
        overview = self.ask("help").decode().split("Verbs:")[1]
        verbs = re.findall(r"^  ([a-z]+) ", overview, re.M)
        directive, found = self.offered("")
        self.assertEqual((directive, found), ("command 1", verbs))
        for verb in verbs:
            text = self.ask("help", verb).decode()
            head, _, table = text.partition("\n[run]\n")
            usage, _, rest = head.partition("\n\n")
            lines = "\n".join(re.findall(r"^  (-.*?)(?:  |$)", rest, re.M))
            lines += "\n" + "\n".join(re.findall(r"^  (--\S+)", table, re.M))
            want = self.flags_of(usage + "\n" + lines)
            directive, found = self.offered(verb, "--")
            self.assertEqual(directive, "none")
            self.assertEqual(len(found), len(set(found)), verb)
            if verb in ("config", "read"):  # take those of a run, but for what is no setting
                alone = self.ask("help", "run").decode().partition("\n[run]\n")[0]
                alone = "\n".join(re.findall(r"(?m)^  (-.*?)(?:  |$)", alone))
                want |= set(self.offered("run", "--")[1]) - self.flags_of(alone)
            self.assertEqual(set(found), want, verb)

    def test_values_and_operands(self):
        for words, directive, want in (
                (("rewi",), "command 1", ["rewind"]),
                (("--mode", ""), "none", ["smart", "head", "tail", "ends"]),
                (("--mode=s",), "none", ["--mode=smart"]),
                (("--cols", "80", "--mode", "t"), "none", ["tail"]),
                (("run", "--profile", "rea"), "none", ["read"]),
                (("--size", ""), "none", ["small", "medium", "large"]),
                (("--cols", ""), "none", []),
                (("--cwd", "x"), "folders", []),
                (("--shell", "ba"), "commands", []),
                (("-c", "x"), "none", []),
                (("ls", "-"), "command 1", []),
                (("--cols", "80", "ls", "x", ""), "command 3", []),
                (("--", "rea"), "command 2", []),
                (("run", "--no-pty", "l"), "command 3", []),
                (("agent", "claude", "--re"), "command 2", []),
                (("probe", "--to", "x", "m"), "command 4", []),
                (("filter", "x"), "files", []),
                (("list", "--state", "r"), "none", ["running"]),
                (("list", "--exit", ""), "none", []),
                (("config", "c"), "command 2", ["check", "completion"]),
                (("config", "completion", ""), "none", ["bash", "zsh", "fish"]),
                (("config", "get", "report.siz"), "none", ["report.size"]),
                (("config", "make", ""), "command 2", []),
                (("session", "e"), "none", ["end"]),
                (("init", "co"), "none", ["codex", "copilot"]),
                (("init", "claude", "co"), "none", ["codex", "copilot"]),
                (("help", "vers"), "none", ["version"]),
                (("send", "x", "--key", "ctrl-c"), "none", ["ctrl-c"]),
                (("signal", "x", "TE"), "none", ["TERM"]),
                (("read", "x", "y"), "none", []),
                (("doctor", "cod"), "none", ["codex"]),
                (("unarchive", ""), "files", [])):
            self.assertEqual(self.offered(*words), (directive, want), words)

    def test_runs_and_sessions(self):
        kept = self.terse("--session", "here", "seq", "3000").id
        live = re.search(r"cmd-\w+", self.terse("--detach", "sleep", "1000").out.decode())[0]
        for verb, directive in (("read", "files"), ("show", "none"), ("drop", "none")):
            self.assertEqual(self.offered(verb, "--session", "here", ""), (directive, [kept, "last"]))
        self.assertEqual(self.offered("drop", "--session", "here", "x", kept[:6])[1], [kept])
        for verb in "await", "send", "attach", "snapshot", "signal":
            self.assertEqual(self.offered(verb, ""), ("none", [live]))
        self.assertIn(b"%s\tseq 3000\n" % kept.encode(), self.ask("__complete", "read", "--session=here", "cmd-"))
        self.assertIn("here", self.offered("session", "end", "")[1])
        self.kill_all()

    def test_a_profile_of_the_user(self):
        os.makedirs(os.path.join(self.home, "config", "terse"))
        write_file(os.path.join(self.home, "config", "terse", "terse.ini"), "[profile mine]\nmatch =\n\tx y\n")
        self.assertEqual(self.offered("--profile", "min")[1], ["mine"])


class Shells(ScreenCase):
    def script(self, shell, name):
        return write_file(os.path.join(self.work, name), self.ask("config", "completion", shell))

    def find(self, shell):
        path = shutil.which(shell)
        if not path:
            self.skipTest("no %s" % shell)
        return path

    def test_bash_by_its_words(self):
        """COMP_WORDS as bash splits them: at = as well."""
        self.script("bash", "completion")
        for words, want in ((("--mode", ""), "smart head tail ends"), (("--mode", "="), "smart head tail ends"),
                            (("--mode", "=", "s"), "smart"), (("--no-pty", "--cols", "=", "80", "--mode", "h"), "head"),
                            (("read", "--o"), "--offset"), (("config", "completion", "z"), "zsh"),
                            (("--session", "=", "x", "seq", ""), "")):
            run = self.run_to_end("/bin/bash", "-c", ". ./completion; COMP_WORDS=(terse \"$@\"); COMP_CWORD=$#; "
                                  "_terse; echo \"${COMPREPLY[*]}\"", "bash", *words, split=True)
            self.assertEqual((run.err, run.out.decode().rstrip("\n")), (b"", want), words)

    def press(self, screen, line, pattern):
        """Types a line that ends with Tab."""
        screen.until(r"^now>$")
        screen.keys("-l", line)
        screen.until(re.escape(line.rstrip()))
        screen.keys("Tab")
        screen.until(pattern)
        screen.keys("C-u")

    def in_shell(self, screen):
        self.press(screen, "terse snaps", r"terse snapshot")
        self.press(screen, "terse --mode=sm", r"--mode=smart")
        self.press(screen, "terse read ./compl", r"read \./completion")
        self.press(screen, "terse --full ls ./compl", r"--full ls \./completion")
        self.press(screen, "terse --cwd ./inne", r"--cwd \./inner/")
        self.press(screen, "terse --full sleepy-com", r"--full sleepy-command")
        screen.type("exit")

    def prepare(self, shell):
        self.script(shell, "completion")
        os.mkdir(os.path.join(self.work, "inner"))
        write_file(os.path.join(self.work, "sleepy-command"), "#!/bin/sh\n", 0o755)
        return {"PATH": self.work + ":" + self.env()["PATH"]}

    def test_bash(self):
        env = self.prepare("bash")
        screen = self.screen("/bin/bash", "--norc", "--noprofile", "-i", env=env)
        screen.type("bind 'set bell-style none'; PS1='now> '; . ./completion; clear")
        self.in_shell(screen)

    def test_zsh(self):
        zsh, env = self.find("zsh"), self.prepare("zsh")
        os.mkdir(os.path.join(self.work, "functions"))
        shutil.copy(os.path.join(self.work, "completion"), os.path.join(self.work, "functions", "_terse"))
        screen = self.screen(zsh, "-f", "-i", env=env)
        screen.type("PS1='now> '; fpath=($PWD/functions $fpath); autoload -U compinit; compinit -D -u; clear")
        self.in_shell(screen)

    def test_fish(self):
        """`complete -C` completes as Tab does, without a terminal."""
        fish, env = self.find("fish"), self.prepare("fish")
        for line, want in (("terse snaps", "snapshot"), ("terse --mode=sm", "--mode=smart"),
                           ("terse read ./compl", "./completion"), ("terse --full ls ./compl", "./completion"),
                           ("terse --cwd ./inne", "./inner/"), ("terse --full sleepy-com", "sleepy-command"),
                           ("terse config completion z", "zsh")):
            run = self.run_to_end(fish, "--no-config", "-c", "source completion; complete -C $argv[1]", line,
                                  env=env, split=True)
            self.assertEqual(run.err, b"", line)
            self.assertIn(want, [found.split("\t")[0] for found in run.out.decode().splitlines()], line)


main()
