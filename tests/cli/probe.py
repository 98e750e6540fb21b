#!/usr/bin/env -S python3 -B
"""terse probe: an agent that terse does not know gets a section that works."""

import os

from support.harness import FOOTER, Case, main, numbers, read_file, write_file


class Probe(Case):
    def agent(self, call, name="some-agent", setup=""):
        """An agent that runs its arguments as commands, one after the other."""
        return write_file(os.path.join(self.work, name), "#!/bin/bash\n%s\nfor c; do\n%s\ndone\n" % (
            setup, call), 0o755)

    def probe(self, agent, *commands, code=0, options=()):
        run = self.run_to_end("terse", "probe", *options, agent, *commands, split=True,
                              env={"SHELL": "/bin/bash"})
        self.assertEqual(run.code, code, (run.out, run.err))
        return run

    def section(self, run):
        return run.out[run.out.index(b"[agent "):].decode()

    def check(self, agent, section, calls=1):
        """With the section, the agent's tool calls are supervised, and nothing else that it runs."""
        config = write_file(os.path.join(self.dir, "ini"), section)
        run = self.run_to_end("terse", "agent", agent, "seq 3000; exit 3", split=True,
                              env={"SHELL": "/bin/bash", "TERSE_CONFIG": config})
        self.assertEqual(len(FOOTER.findall(run.out)), calls, (section, run.out))
        return run

    def test_what_is_found(self):
        agent = self.agent('bash -c "$c" </dev/null', setup="export SOME_AGENT=1 "
                           "SOME_AGENT_SESSION_ID=0123456789 OTHER=x; bash -l -c 'echo other'")
        run = self.probe(agent, "echo terse-probe")
        self.assertTrue(run.out.startswith(b"other\nterse-probe\n"), run.out)
        lines = self.section(run).splitlines()
        self.assertEqual(lines[0], "[agent some-agent]")
        self.assertIn("environment = SOME_AGENT", lines)
        self.assertIn("session = SOME_AGENT_SESSION_ID", lines)
        self.assertEqual(lines[2:5], ["string = {command}", "shell = *sh -c", "stdin = /dev/null"])
        self.assertIn("process = some-agent", lines)
        self.check(agent, self.section(run))

    def test_what_it_runs_for_itself(self):
        """In the same way as its model's commands: only the text tells which they are."""
        own = ["/usr/bin/true", "git status --short | head -n 3", "#!/bin/sh\nseq 3000",
               "cat /proc/123/status {1..3} * # 2024", "x=1; " * 60]
        agent = self.agent('bash -c "$c" </dev/null', setup="export SOME_AGENT=1\n" + "\n".join(
            "bash -c '%s' </dev/null" % c for c in own * 2) + "\nsh -l -c 'echo other' </dev/null")
        section = self.section(self.probe(agent, "echo terse-probe"))
        self.assertIn("\npass =\n\tgit status --short | head -n 3\n\t*!*\\nseq *\n\tcat * *1..3} \\* # *\n\t%s*\nshell"
                      % ("x=1; " * 24), section)
        self.check(agent, section)

    def test_strings(self):
        for call in ('bash -c "$c"', 'bash --norc -c "$c"', 'bash -c "( $c )"',
                     'bash -c "cd /tmp/x.$RANDOM$RANDOM 2>/dev/null; { $c; }; r=\\$?; exit \\$r"',
                     "bash -c \"set -o pipefail\n(\n  trap ':' EXIT\n$c\n)\nr=\\$?\nexit \\$r\"",
                     'bash -c "eval \'$c\' </dev/null && pwd -P >|/dev/null"'):
            agent = self.agent(call + " </dev/null", setup="export SOME_AGENT=yes SOMEAGENT=1")
            self.check(agent, self.section(self.probe(agent, "echo terse-probe")))

    def test_an_agent_that_sets_no_variable(self):
        agent = self.agent('sh -c "$c" </dev/null')
        section = self.section(self.probe(agent, "echo terse-probe"))
        self.assertIn("environment = TERSE_AGENT=some-agent\n", section)
        self.check(agent, section)

    def test_a_shell_that_is_typed_into(self):
        agent = write_file(os.path.join(self.work, "typist"), "#!/usr/bin/python3\nimport pty, os\n"
                           "pid, fd = pty.fork()\npid or os.execvp('bash', ['bash'])\nos.write(fd, b'exit 3\\n')\n"
                           "os.waitpid(pid, 0)\n", 0o755)
        run = self.probe(agent)
        self.assertIn("interactive = yes\n", self.section(run))
        self.assertRegex(run.err.decode(), r"\nterse probe: seq 5000: both ends and the ID are seen: 3\.\d KB, exit 0\n"
                         r"terse probe: echo out; exit 3: as it has to be: \d+ B, exit 3\n"
                         r"terse probe: echo terse-probe: as it has to be: 12 B, exit 0\n\Z")

    def test_output_in_a_file(self):
        agent = self.agent('mkdir -p tasks; bash -c "$c" </dev/null >tasks/$RANDOM.output 2>&1; '
                           'cat tasks/*.output; rm tasks/*')
        section = self.section(self.probe(agent, "echo terse-probe"))
        self.assertIn("output = */tasks/*.output\n", section)
        self.check(agent, section)

    def test_its_commands_run_as_they_are(self):
        agent = self.agent('bash -c "$c"', setup="export SOME_AGENT=1")
        run = self.probe(agent, "yes | head -n 3000 | cat -n", "echo terse-probe")
        self.assertEqual(run.out.count(b"\ty\n"), 3000)
        self.assertEqual(self.artifacts(), [])

    def test_to_a_file(self):
        agent = self.agent('bash -c "$c" </dev/null')
        to = write_file(os.path.join(self.work, "mine.ini"), "[report]\nsize = 3KB\n")
        run = self.probe(agent, "echo terse-probe", options=("--to", to))
        self.assertEqual(run.out, b"terse-probe\n")
        self.assertRegex(read_file(to), rb"\A\[report\]\nsize = 3KB\n\n\[agent some-agent\]\n")
        self.assertEqual(self.terse("config", "check", to).code, 0)

    def test_nothing_is_found(self):
        run = self.probe(self.agent('bash -c "$c"'), "echo other", code=1)
        self.assertIn(b"# seen: echo other\n", run.err)
        self.assertIn(b"none ran `echo terse-probe`", run.err)
        run = self.probe(self.agent(":"), code=1)
        self.assertIn(b"no shell was seen", run.err)
        self.assertEqual(os.listdir(self.tmp), [])

    def test_no_secret_is_kept(self):
        """The records name the variables, without their values."""
        agent = self.agent('bash -c "$c" </dev/null; cp "$TERSE_PROBE" kept',
                           setup="export SOME_AGENT=1 SOME_KEY=sk-own SOME_SESSION_ID=conversation SHORT=abc EMPTY=")
        run = self.run_to_end("terse", "probe", agent, "echo terse-probe", split=True,
                              env={"SHELL": "/bin/bash", "API_KEY": "sk-inherited"})
        self.assertEqual(run.code, 0, run.err)
        kept = read_file(os.path.join(self.work, "kept"))
        for entry in (b"SOME_AGENT=1", b"SOME_KEY=******", b"SOME_SESSION_ID=********", b"SHORT=***", b"EMPTY=",
                      b"API_KEY=********"):
            self.assertIn(b'"%s"' % entry, kept)
        self.assertNotIn(b"sk-", kept)
        self.assertNotIn(b"conversation", kept)

    def test_a_file_that_is_not_the_probes(self):
        """After the probe no file is made, no other file is written, and nothing is waited for."""
        gone = os.path.join(self.work, "gone")
        pipe = os.path.join(self.work, "pipe")
        os.mkfifo(pipe)
        for path in (gone, pipe, self.work):
            run = self.run_to_end("terse-sh", "-c", "echo hello", env={"TERSE_PROBE": path, "SHELL": "/bin/bash"})
            self.assertEqual((run.code, run.out), (0, b"hello\n"), path)
        self.assertFalse(os.path.exists(gone))

    def test_a_section_that_cannot_be_written(self):
        run = self.probe(self.agent('bash -c "$c" </dev/null'), "echo terse-probe", code=125,
                         options=("--to", "/dev/full"))
        self.assertIn(b"terse probe: /dev/full: No space left on device\n", run.err)

    def test_a_file_that_cannot_be_made(self):
        """It is said before the agent runs."""
        agent = self.agent('touch ran')
        for to, reason in (("nodir/x.ini", "No such file or directory"), (".", "Is a directory"),
                           (agent + "/x", "Not a directory")):
            run = self.probe(agent, "x", code=125, options=("--to", to))
            self.assertEqual((run.out, run.err.decode()), (b"", "terse probe: %s: %s\n" % (to, reason)))
        self.assertEqual(os.listdir(self.work), ["some-agent"])

    def test_usage(self):
        for argv, why in (((), b"usage: terse probe COMMAND [ARG...]"), (("--to",), b"--to: needs a value"),
                          (("--wrong", "x"), b"--wrong: no such option (see terse help probe)")):
            run = self.terse("probe", *argv, split=True)
            self.assertEqual((run.code, run.err), (125, b"terse probe: " + why + b"\n"))


if __name__ == "__main__":
    main()
