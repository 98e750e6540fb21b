#!/usr/bin/env -S python3 -B
"""Runs generated shell snippets without terse up to the end of file, and by each way into terse, and compares: no
output is lost, before the end of the command or after it, whoever reads.

The seven ways: a script (terse ./SCRIPT), a string (terse -c STRING), Claude Code's prefix, Codex's preloaded
library, Codex's BASH_ENV, the shell of opencode (the launcher, terse-sh), and run_command of terse mcp. For the
first two, which are typed into other commands as well, the reader is also a program and a file."""

import os
import re
import shlex

from launcher import Installed
from support.harness import eventually, main, random_source, read_file, write_file
from support.mcp import Client

TYPED = "script", "string"
WIRED = "claude", "codex", "codex by bash", "opencode"

# Waits for the end of the command, whose process is gone or nobody has asked about yet.
ENDED = "while read -r s </proc/$$/stat && [[ $s != *\\)\\ Z* ]]; do sleep 0.01; done 2>/dev/null; "

BEFORE = (
    "", "exec > >(tee log)", "exec > >(tee log) 2>&1", "exec 2> >(sed 's/^/E: /' >&2)",
    "exec > >(sed s/o/0/ | tee log)", "exec > >(sleep 0.05; cat)", "(%s echo late) &" % ENDED,
    "(%s echo late; echo later >&2) & disown" % ENDED, "{ echo a; sleep 0.02; echo b; } | tee log &",
    "coproc { sed 's/^/co: /' >&2; }; echo x >&${COPROC[1]}", "yes 2>/dev/null | head -n 2; echo ${PIPESTATUS[0]}",
    "exec 3>&1; { echo three >&3; } | cat >/dev/null", "trap 'echo bye' EXIT", "trap 'echo term; exit 7' TERM; kill $$",
    "nohup sh -c 'echo immune' >log 2>&1 &", "setsid sh -c 'echo apart' & wait", "(set -m; (echo job) & wait) 2>/dev/null",
)
AFTER = "echo one; echo FAILED >&2; exit 3", "echo one; (exit 4)", "echo bad >&2; exit 2", "exec cat <<<over", "kill -PIPE $$"


class Sweep(Installed):
    def snippets(self):
        """Each beginning with two endings."""
        random = random_source()
        found = ["%s\n%s" % (before, after) for before in BEFORE for after in random.sample(AFTER, 2)]
        random.shuffle(found)
        return found

    def place(self, name):
        self.work = os.path.join(self.dir, "work", re.sub(r"\W", "_", name))
        os.mkdir(self.work)

    def run_as(self, way, argv, env, kind):
        """(status, lines, log) of what came to the end of file."""
        self.place("%s %s %d" % (way, kind, len(self.runs)))
        run = self.start("/bin/sh", "-c", '"$@"; exit $?', "sh", *argv, env=env, kind=kind).finish()
        self.assert_nothing_left()
        return run.code, run.out, self.log()

    def log(self):
        path = os.path.join(self.work, "log")
        return sorted(read_file(path).splitlines()) if os.path.exists(path) else None

    def lines(self, out):
        """Without terse's own; with what is in the artifact that the last line names, as it says that somebody
        still writes."""
        notice = re.search(rb"^\[terse: [^\n]*still writes?: (?:terse read|read_command_output artifact_id=) ?(cmd-\w+)",
                           out, re.M)
        text = re.sub(rb"^\[terse: .*\]\n", b"", out, flags=re.M)
        if notice:
            whole = self.artifact(notice[1].decode())
            self.assertLessEqual(set(text.splitlines()), set(whole.splitlines()))
            text = whole
        return sorted(text.replace(b"\r", b"").splitlines())

    def check(self, way, snippet, plain, got):
        code, out, log = got
        self.assertEqual((code, self.lines(out), log), (plain[0], sorted(plain[1].splitlines()), plain[2]),
                         "%s: %s\nprinted %r" % (way, snippet, out))

    def typed(self, way, snippet):
        script = write_file(os.path.join(self.dir, "script"), "#!/bin/bash\n" + snippet + "\n", 0o755)
        return [self.program, script] if way == "script" else [self.program, "-c", snippet]

    def bare(self, snippet):
        return self.run_as("bare", ["/bin/bash", "-c", snippet], {}, "pipe")

    def test_agents(self):
        """Through a pipe and a socket in turn, by one of the ways that are typed and one that is wired."""
        env = {"SHELL": "/bin/bash", "TERSE_SHELL": "/bin/bash"}
        for i, snippet in enumerate(self.snippets()):
            plain, kind = self.bare(snippet), ("pipe", "socket")[i // 4 % 2]
            way, wired = TYPED[i % 2], WIRED[i % 4]
            with self.subTest(way=way, snippet=snippet):
                self.check(way, snippet, plain, self.run_as(way, self.typed(way, snippet), env, kind))
            argv, more = self.ways(snippet)[wired]
            with self.subTest(way=wired, snippet=snippet):
                self.check(wired, snippet, plain, self.run_as(wired, argv, {**env, **more}, kind))

    def test_tools(self):
        for snippet in self.snippets()[::2]:
            with self.subTest(snippet=snippet):
                plain = self.bare(snippet)
                self.place("mcp %d" % len(self.runs))
                client = Client(self.env(TERSE_SHELL="/bin/bash"), self.work, program=self.program)
                out = client.finish(client.start("run_command", command=snippet))[0].encode()
                # The server ends what its session left.
                eventually(lambda: [p.pid for p in self.mine()] == [client.popen.pid], "the end of what still writes")
                client.close()
                self.assert_nothing_left()
                self.check("mcp", snippet, plain, (plain[0], out, self.log()))

    def test_programs_and_files(self):
        """Byte for byte, and without a word of terse's."""
        for i, snippet in enumerate(self.snippets()):
            plain = self.bare(snippet)
            argv = self.typed(TYPED[i % 2], snippet)
            for sink in "program", "file":
                with self.subTest(sink=sink, snippet=snippet):
                    if sink == "file":
                        got = self.run_as(sink, argv, {}, "file")
                    else:
                        got = self.run_as(sink, ["/bin/bash", "-c", shlex.join(argv) + " 2>&1 | cat; exit ${PIPESTATUS[0]}"], {},
                                          "pipe")
                    self.assertEqual((got[0], sorted(got[1].splitlines()), got[2]),
                                     (plain[0], sorted(plain[1].splitlines()), plain[2]))


if __name__ == "__main__":
    main()
