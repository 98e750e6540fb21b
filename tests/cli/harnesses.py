#!/usr/bin/env -S python3 -B
"""Harnesses that terse has a section for: the part of each that runs commands (support/harnesses.py), started
by terse agent as its user would, with terse and without."""

import json
import os
import subprocess

from support.harness import BUILD, DEADLINE, SOURCE, Case, main

EMULATION = os.path.join(SOURCE, "tests", "cli", "support", "harnesses.py")
CAUSE = ("x=frobnicate; seq -f 'compiling unit_%g.c' 700; echo \"main.c:12: undefined reference to '$x'\"; "
         "seq -f 'compiling unit_%g.c' 701 1500; (exit 2)")
PROGRESS = "i=0; while [ $i -lt 400 ]; do i=$((i+1)); printf '\\r%3d%%' $i; done; echo; echo done"
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && seq 20000"


class Harness(Case):
    def play(self, name, *commands, wired=True, env=None, shown_as=None):
        """What the harness makes of the commands: [what its model gets, the status, its result] of each."""
        program = os.path.join(self.work, shown_as or name)
        if not os.path.exists(program):
            os.symlink(EMULATION, program)
        agent = (os.path.join(BUILD, "terse"), "agent") if wired else ()
        done = subprocess.run([*agent, program, *commands], cwd=self.work, timeout=DEADLINE, check=False,
                              env=self.env(**{"SHELL": "/bin/bash", **(env or {})}), stdin=subprocess.DEVNULL,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        return json.loads(done.stdout)


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
        self.assertRegex(shown[0], r"^1\n2\n[^\0]*\n3000\n\[terse: exit 3 after")
        self.assertRegex(python[0], r"^0\n1\n[^\0]*\n2999\n\[terse: exit 4 after")
        self.assertEqual(other[0], "1\n")
        self.assertRegex(self.ask("list", "--all").decode(), r"(?m) sh /\S+$")

    def test_the_name_of_an_agent(self):
        """That of its program, or the one that --as says."""
        shown = "[terse: exit 0 after"
        self.assertNotIn(shown, self.play("langchain", "seq 3000", wired=False)[0][0])
        self.assertIn(shown, self.play("langchain", "seq 3000")[0][0])
        run = self.terse("agent", "--as", "langchain", "/usr/bin/python3", "-c",
                         "import subprocess; print(subprocess.run('seq 3000', shell=True, capture_output=True).stdout)",
                         split=True)
        self.assertEqual((run.code, run.err), (0, b""))
        self.assertIn(shown.encode(), run.out)
        run = self.terse("agent", "--as", "nosuch", "true", split=True)
        self.assertEqual((run.code, run.err), (125, b"terse agent: --as: no rule knows nosuch\n"))


class Probed(Harness):
    """terse probe, as if terse had no section for it."""

    def probe(self, name, *commands, code=0):
        program = os.path.join(self.work, name)
        os.symlink(EMULATION, program)
        run = self.run_to_end("terse", "probe", program, *commands, split=True, env={"SHELL": "/bin/bash"})
        self.assertEqual(run.code, code, (run.out, run.err))
        section = run.out.decode()
        return section[section.index("[agent "):].splitlines(), run.err.decode()

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
