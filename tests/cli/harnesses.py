#!/usr/bin/env -S python3 -B
"""Harnesses that terse has a section for: the part of each that runs commands (support/harnesses.py), started
by terse agent as its user would, with terse and without.

    BUILD=DIR tests/cli/harnesses.py --table    prints the table of docs/agents.md
"""

import json
import os
import subprocess
import sys

from support.harness import BUILD, DEADLINE, FOOTER, SOURCE, Case, main, read_file, write_file

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
