#!/usr/bin/env -S python3 -B
"""Harnesses that terse has a section for: the part of each that runs commands (support/harnesses.py), started
by terse agent as its user would, with terse and without.

UPDATE=1 writes the table of docs/agents.md.
"""

import json
import os
import re
import shlex
import signal
import subprocess

from support.harness import BUILD, DEADLINE, SOURCE, Case, main, read_file, signal_if_there, write_file

EMULATION = os.path.join(SOURCE, "tests", "cli", "support", "harnesses.py")
CAUSE = ("x=frobnicate; seq -f 'compiling unit_%g.c' 700; echo \"main.c:12: undefined reference to '$x'\"; "
         "seq -f 'compiling unit_%g.c' 701 1500; (exit 2)")
PROGRESS = "i=0; while [ $i -lt 400 ]; do i=$((i+1)); printf '\\r%3d%%' $i; done; echo; echo done"
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && seq 20000"


GUIDE = os.path.join(SOURCE, "docs", "agents.md")


class Harness(Case):
    def play(self, name, *commands, wired=True, env=None):
        """Runs the commands in the harness. Returns for each [what its model gets, the status, its result]."""
        program = os.path.join(self.work, name)
        if not os.path.exists(program):
            os.symlink(EMULATION, program)
        agent = (os.path.join(BUILD, "terse"), "agent") if wired and name not in (*BY_HAND, "gptme") else ()
        done = subprocess.run([*agent, program, *commands], cwd=self.work, timeout=DEADLINE, check=False,
                              env=self.env(**{"SHELL": "/bin/bash", **(env or {})}), stdin=subprocess.DEVNULL,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        return json.loads(done.stdout)

    def probe(self, name, *commands, code=0):
        """Returns the lines of the section that terse probe prints, and its messages."""
        program = os.path.join(self.work, name)
        os.symlink(EMULATION, program)
        run = self.run_to_end("terse", "probe", program, *commands, split=True, env={"SHELL": "/bin/bash"})
        self.assertEqual(run.code, code, (run.out, run.err))
        section = run.out.decode()
        return section[section.index("[agent "):].splitlines(), run.err.decode()


# How those are wired that terse agent does not reach: by a hook, or by what their models type.
BY_HAND = {"crush": {"CRUSH_HOOK": os.path.join(BUILD, "terse") + " hook crush PreToolUse"}}
TYPED = ("interpreter", "gptme")
# Terse has no section for it: the one of terse probe, with the limit that its documents tell.
PROBED = {"zed": "ceiling = 16000\n"}
# Their shells stay.
PERSISTENT = ("openhands", *TYPED, "sweagent")
# Their names in the table, and what is special of them there.
ROWS = {"mini": "mini-swe-agent", "aider": "aider", "aider+": "aider, at a terminal", "autogen": "AutoGen, files",
        "goose": "goose", "langchain": "LangChain, ShellTool", "roo": "Roo Code, execa", "crush": "crush, by its hook",
        "openhands": "OpenHands, tmux", "sweagent": "SWE-agent, SWE-ReX", "interpreter": "open-interpreter, typed `terse`",
        "gptme": "gptme, typed `terse`", "zed": "Zed, by `terse probe`"}
HEAD = ("| harness | both ends, ID | cause | status | progress bar | `cd`, variables | background job | "
        "full-screen program | its parse | bytes (without) |\n|---|---|---|---|---|---|---|---|---|---|\n")


class Table(Harness):
    """What its model gets of the same commands. A dash: it has no such thing without terse either."""

    def results(self, row, wired):
        name = row.rstrip("+")
        typed = "terse " if wired and name in TYPED else ""
        env = {**(BY_HAND.get(name, {}) if wired else {}), "TERM": "xterm", **({"AIDER_TERMINAL": "1"} if row != name else {})}
        if wired and name in PROBED:
            section, _ = self.probe(name, "echo terse-probe")
            env["TERSE_CONFIG"] = write_file(os.path.join(self.dir, "ini"), "\n".join(section) + "\n" + PROBED[name])
        return self.play(
            name, typed + "seq 200000", typed and typed + "-c " + shlex.quote(CAUSE) or CAUSE, "sh -c 'exit 3'",
            typed and typed + "-c " + shlex.quote(PROGRESS) or PROGRESS, "mkdir -p sub; cd sub; v=7", "echo $v; pwd",
            "sleep 300 >/dev/null 2>&1 & echo $! >>%s/pids; echo started" % self.work,
            "vim -u NONE -c 'q!' </dev/tty >/dev/tty 2>&1; echo ended", SUBMIT if name == "mini" else "echo done", wired=wired, env=env)

    def good(self, row, r):
        """Of each column; None: it has none."""
        parses = row == "mini" or row in PERSISTENT
        r = [[text.replace("\r\n", "\n"), *rest] for text, *rest in r]
        return ["1\n2\n3\n" in r[0][0] and bool(re.search(r"\b200000\b", r[0][0])) and "terse read cmd-" in r[0][0],
                "reference to 'frobnicate'" in r[1][0], r[2][1] == 3, "done" in r[3][0] and len(r[3][0]) < 300,
                "7" in r[5][0] and "/sub" in r[5][0], "started" in r[6][0], "ended" in r[7][0],
                (r[8][2] or "").count("\n") == 20000 if row == "mini" else "done" in r[8][0] if parses else None]

    def check(self, row):
        ours, theirs = self.results(row, True), self.results(row, False)
        for pid in read_file(os.path.join(self.work, "pids")).split():
            signal_if_there(int(pid), signal.SIGKILL)
        cells = []
        for column, (a, b) in enumerate(zip(self.good(row, ours), self.good(row, theirs))):
            cells.append("-" if a is None or (not a and not b and column > 1) else "yes" if a else "no")
            self.assertTrue(a or not b, (row, column, ours[column], theirs[column]))
        sizes = [sum(len(r[0].encode()) for r in (results[0], results[1], results[3])) for results in (ours, theirs)]
        line = "| %s | %s | %s (%s) |\n" % (ROWS[row], " | ".join(cells), *map(rounded, sizes))
        guide = read_file(GUIDE).decode()
        head = guide.index(HEAD) + len(HEAD)
        table = guide[head:guide.index("\n\n", head) + 1]
        before = [known for known in table.splitlines(True) if known.startswith("| %s |" % ROWS[row])]
        if os.environ.get("UPDATE"):
            after = table.replace(before[0], line) if before else table + line
            write_file(GUIDE, guide.replace(HEAD + table, HEAD + after))
        else:
            # Sizes differ a little from run to run.
            self.assertEqual([known.split("|")[:-2] for known in before], [line.split("|")[:-2]])


for name_of_row in ROWS:
    setattr(Table, "test_" + re.sub(r"\W", "_", name_of_row), lambda self, row=name_of_row: self.check(row))


def rounded(size):
    """With two digits."""
    return "%.1f KB" % (size / 1024) if size < 10240 else "%d KB" % (size / 1024) if size < 1 << 20 else "%.1f MB" % (
        size / (1 << 20))


class Results(Harness):
    def test_a_result_that_is_read_by_its_form_is_whole(self):
        """mini-swe-agent's: everything behind the first line."""
        (shown, status, result), = self.play("mini", SUBMIT)
        self.assertEqual((status, result), (0, "".join("%d\n" % i for i in range(1, 20001))))
        self.assertEqual(self.artifacts(), [])

    def test_files(self):
        """AutoGen's: a shell's and python's, whatever else python runs is passed on."""
        shown, python, other = self.play(
            "autogen", "seq 3000; exit 3", "import sys\nfor i in range(3000): print(i)\nsys.exit(4)",
            "python3 -c 'print(1); exit(5)'")
        self.assertEqual([r[1] for r in (shown, python, other)], [3, 4, 5])
        self.assertRegex(shown[0], r"^1\n2\n[^\0]*\b3000\]?\n\[terse: exit 3 after")
        self.assertRegex(python[0], r"^0\n1\n[^\0]*\b2999\]?\n\[terse: exit 4 after")
        self.assertEqual(other[0], "1\n")
        self.assertRegex(self.ask("list", "--all").decode(), r"(?m) sh /\S+$")

    def test_a_limit_of_lines(self):
        """LangChain's ShellToolMiddleware: its bash reads a pipe, and it shows 100 lines."""
        config = write_file(os.path.join(self.dir, "ini"), "[agent middleware]\nenvironment = TERSE_AGENT=middleware\n"
                            "process = middleware\nline_ceiling = 100\n")
        given = self.env(TERSE_CONFIG=config, TERSE_AGENT="middleware")
        long, status, where = self.play("middleware", "terse seq 3000", "(exit 3)", "cd /; pwd", wired=False,
                                        env={"MIDDLEWARE_ENV": json.dumps(given)})
        self.assertRegex(long[0], r"^1\n2\n[^\0]*\b3000\]?\n\[terse: exit 0 after[^\n]*\n$")
        self.assertEqual((status[1], where[0]), (3, "/\n"))
        # It is cut where its user gives it no environment, as terse then knows nothing of it.
        (cut, _, _), = self.play("middleware", "TERSE_HOME=%s %s/terse seq 3000" % (self.store, BUILD), wired=False)
        self.assertIn("\n... Output truncated at 100 lines (observed ", cut)

    def test_the_name_of_an_agent(self):
        """That of its program, or the one that --as says."""
        shown = "[terse: exit 0 after"
        self.assertNotIn(shown, self.play("langchain", "seq 3000", wired=False)[0][0])
        self.assertIn(shown, self.play("langchain", "seq 3000")[0][0])
        sessions = os.path.join(self.store, "sessions")
        before = set(os.listdir(sessions))
        # A rule that could be about any program, and knows conversations.
        config = write_file(os.path.join(self.dir, "ini"), "[agent other]\nenvironment = OTHER\nsession = OTHER_ID\n")
        run = self.terse("agent", "--as", "langchain", "/usr/bin/python3", "-c",
                         "import subprocess; print(subprocess.run('seq 3000', shell=True, capture_output=True).stdout)",
                         split=True, env={"TERSE_CONFIG": config})
        self.assertEqual((run.code, run.err), (0, b""))
        self.assertIn(shown.encode(), run.out)
        # The session is the process's, which has another name.
        made, = set(os.listdir(sessions)) - before
        self.assertRegex(made, r"^agent-langchain-\d+-")
        for value in ("yes", "no"):
            config = write_file(os.path.join(self.dir, "ini"), "[agent typing]\nenvironment = TERSE_AGENT=typing\ninteractive = %s\n" % value)
            run = self.terse("agent", "--as", "typing", "printenv", "TERSE_INTERACTIVE", env={"TERSE_CONFIG": config})
            self.assertEqual(run.out, b"yes\n" if value == "yes" else b"")
        run = self.terse("agent", "--as", "nosuch", "true", split=True)
        self.assertEqual((run.code, run.err), (125, b"terse agent: --as: no rule knows nosuch\n"))


class Probed(Harness):
    """terse probe, as if terse had no section for it."""

    def test_a_protocol_passes(self):
        section, said = self.probe("mini", "echo terse-probe", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat /dev/null")
        self.assertEqual(section[:6], ["[agent mini]", "environment = TERSE_AGENT=mini", "string = {command}", "pass =",
                                       "\techo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT*", "shell = *sh -c"])
        self.assertRegex(said, r"\nterse probe: seq 5000: both ends and the ID are seen: 4\.1 KB, exit 0\n"
                         r"terse probe: echo out; exit 3: as it has to be: 4 B, exit 3\n"
                         r"terse probe: echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && seq 5000: as it has to be: 23\.4 KB, "
                         r"exit 0\n\Z")

    def test_files(self):
        section, said = self.probe("autogen", "echo terse-probe")
        self.assertEqual(section[:3], ["[agent autogen]", "environment = TERSE_AGENT=autogen", "file = */tmp_code_*"])
        self.assertEqual(said.count(": as it has to be"), 2, said)

    def test_what_does_not_hold_is_said(self):
        """Its model ran what the section passes over from now on."""
        _, said = self.probe("mini", "seq 2000", "echo terse-probe", code=1)
        self.assertIn("terse probe: seq 5000: NOT as it has to be: 23.3 KB, exit 0\n", said)


if __name__ == "__main__":
    main()
