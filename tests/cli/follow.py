#!/usr/bin/env -S python3 -B
"""terse follow: one line for each event of runs, whole, in order and at the reader's pace."""

import json
import os
import re
import subprocess

from support.harness import Case, TERSE, let_go_on, main

# Lines that a command prints as fast as it can, of which each hundredth matches.
FLOOD = 200_000


class Follow(Case):
    def detach(self, *argv):
        run = self.terse("--detach", *argv)
        self.assertEqual(run.code, 0, run.out)
        return re.search(rb"terse await (cmd-[0-9a-z]{12})", run.out)[1].decode()

    def follow(self, *argv, code=0):
        run = self.terse("follow", *argv)
        self.assertEqual(run.code, code, run.out)
        return run.out.decode().splitlines()

    def gates(self, *names):
        for name in names:
            os.mkfifo(os.path.join(self.work, name))

    def test_each_event_as_it_comes(self):
        self.gates("one", "two")
        one = self.detach("sh", "-c", "echo error 1; read x <one; echo fine; echo error 2; read x <two; exit 3")
        run = self.start(TERSE, "follow", one, "--for", "error", "--for", "^fi")
        run.until(b"%s line 1: error 1\n" % one.encode())
        let_go_on(os.path.join(self.work, "one"))
        run.until(b"line 3: error 2\n")
        let_go_on(os.path.join(self.work, "two"))
        run.finish()
        self.assertRegex(run.out.decode(), r"\A{0} line 1: error 1\n{0} line 2: fine\n{0} line 3: error 2\n"
                                           r"{0} ended: exit 3 after [^\n]+\n\Z".format(one))
        self.assertEqual(run.code, 0)

    def test_several_runs(self):
        self.gates("one", "two")
        first = self.detach("sh", "-c", "read x <one; echo a")
        second = self.detach("sh", "-c", "read x <two; echo b; kill -TERM $$")
        run = self.start(TERSE, "follow", first, second, "--for", ".")
        let_go_on(os.path.join(self.work, "one"))
        run.until(b"%s ended: exit 0" % first.encode())
        let_go_on(os.path.join(self.work, "two"))
        run.finish()
        self.assertIn(b"%s line 1: b\n%s ended: killed by SIGTERM" % ((second.encode(),) * 2), run.out)

    def test_a_question_and_silence(self):
        one = self.detach("bash", "-c", "read -p 'go on? ' x; echo $x")
        run = self.start(TERSE, "follow", one, "--idle", "1ms", "--json")
        run.until(rb'"event":"asks","id":"%s","prompt":"go on\? "\}\n' % one.encode())
        run.until(rb'"event":"quiet"')
        self.ask("send", one, "yes", "--key", "enter")
        run.finish()
        events = [json.loads(line) for line in run.out.splitlines()]
        self.assertEqual([e["event"] for e in events if e["event"] != "quiet"], ["asks", "end"], events)
        self.assertTrue(all(e["id"] == one for e in events))
        self.assertEqual((events[-1]["exit_code"], events[-1]["signal"]), (0, None))

    def test_a_run_that_has_ended(self):
        one = self.detach("seq", "1000")
        self.ask("await", one)
        lines = self.follow(one, "--for", "00$")
        self.assertEqual(lines[:-1], ["%s line %d: %d" % (one, n, n) for n in range(100, 1001, 100)])
        told = [json.loads(line) for line in self.follow(one, "--for", "00$", "--json")]
        self.assertEqual(told[0], {"event": "match", "id": one, "line": 100, "text": "100", "cut": False,
                                   "pattern": "00$"})

    def test_lines_are_told_once(self):
        """What is redrawn counts as it ends; of a line that is longer than all blocks the first match."""
        one = self.detach("bash", "-c", r"for i in 1 2 3; do printf '\rerror %d' $i; done; echo; "
                                        "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo error")
        self.ask("await", one)
        lines = self.follow(one, "--for", "error", "--for", "x")
        self.assertEqual(lines[0], "%s line 1: error 3" % one)
        self.assertEqual(lines[1], "%s line 2: %s..." % (one, "x" * 300))
        self.assertEqual(lines[2], "%s line 3: error" % one)
        self.assertEqual(len(lines), 4)

    def test_a_flood_and_a_reader_that_rests(self):
        """None is lost, and the command doesn't wait for who follows it."""
        one = self.detach("sh", "-c", "seq %d" % FLOOD)
        out, inlet = os.pipe()
        run = subprocess.Popen([TERSE, "follow", one, "--for", ""], env=self.env(), cwd=self.work,
                               stdout=inlet, stdin=subprocess.DEVNULL)
        os.close(inlet)
        self.ask("await", one)
        self.assertEqual(self.metadata(one)["state"], "done")
        with open(out, "rb") as lines:
            told = lines.read().decode().splitlines()
        self.assertEqual(run.wait(), 0)
        self.assertEqual(told[:-1], ["%s line %d: %d" % (one, n, n) for n in range(1, FLOOD + 1)])

    def test_what_was_not_kept(self):
        one = self.detach("--max-artifact", "64KB", "seq", "200000")
        self.ask("await", one)
        lines = self.follow(one, "--for", "^(1|200000)$")
        self.assertEqual(len(lines), 4, lines)
        self.assertRegex(lines[1], r"\A%s lines [\d,]+-[\d,]+ \([^)]+\) not kept: over the disk cap" % one)
        self.assertEqual(lines[2], "%s line 200000: 200000" % one)

    def test_the_reader_goes(self):
        one = self.detach("sleep", "1000")
        run = self.start(TERSE, "follow", one)
        run.close()
        run.wait()
        self.ask("signal", one)

    def test_bad_usage(self):
        one = self.detach("true")
        for argv, said in ((("follow",), "usage: terse follow ID"),
                           (("follow", one, "--for", "("), "terse follow: --for: (: missing closing parenthesis"),
                           (("follow", one, "--idle", "0"), "--idle")):
            run = self.terse(*argv)
            self.assertEqual(run.code, 125)
            self.assertIn(said, run.out.decode())
        run = self.terse("follow", "cmd-zzzzzzzzzzzz", one)
        self.assertEqual(run.code, 1)
        self.assertRegex(run.out.decode(), r"terse follow: cmd-zzzzzzzzzzzz: no such artifact[^\n]*\n.*%s ended" % one)


if __name__ == "__main__":
    main()
