#!/usr/bin/env -S python3 -B
"""Text that is printed while the command runs: at every pause an agent has the last lines, and the ID if lines
are left out. Nothing is shown twice, every line is shown or announced, and the sum is at most one and a half
budgets."""

import os
import re
import signal

from support.harness import (BUDGET, FOOTER, HEARTBEAT, MARKER, TERSE, Case, eventually, let_go_on, main, numbers,
                             write_file)

JUMP = re.compile(rb"\[\.\.\. (?:back to|continues with) line (\d+)\]\Z")
NOTICE = re.compile(rb"^\[terse: [^\n]*\]\n", re.M)


class PauseCase(Case):
    def account(self, out, text, budget=BUDGET):
        """Checks that each line of the text is printed or announced once, in its place. Announced lines may be
        printed later, behind a marker with their number. Returns how many lines are shown."""
        lines = text.split(b"\n")[:-1]
        shown = NOTICE.sub(b"", out)
        self.assertLessEqual(len(shown), budget * 3 // 2)
        seen, announced, next_line, front, spelled = set(), set(), 1, 0, False
        for line in shown.split(b"\n")[:-1]:
            marker, jump = MARKER.match(line), JUMP.match(line)
            if jump:
                next_line = int(jump[1])
                self.assertIn(next_line, announced | {front + 1})
                continue
            if marker:
                first, last = int(marker["from"]), int(marker["to"] or marker["from"])
                self.assertEqual(first, front + 1, line)
                self.assertEqual(bool(marker["id"]), not spelled, line)
                spelled = True
                announced |= set(range(first, last + 1))
                next_line, front = last + 1, last
                continue
            self.assertEqual(line, lines[next_line - 1])
            self.assertNotIn(next_line, seen)
            seen.add(next_line)
            front = max(front, next_line)
            next_line += 1
        self.assertEqual(front, len(lines))
        self.assertEqual(seen | announced, set(range(1, len(lines) + 1)))
        return len(seen)


class Pauses(PauseCase):
    def test_a_server_that_is_ready(self):
        """The whole of it is there while it waits, though it is more than the head."""
        text = b"".join(b"[build] compiled module number %d of the application\n" % i for i in range(1, 41))
        for kind in ("socket", "pipe"):
            script = ("for i in $(seq 40); do echo \"[build] compiled module number $i of the application\"; done;"
                      " echo Server ready; read x <%s" % self.fifo(kind))
            run = self.start(TERSE, "bash", "-c", script, kind=kind)
            run.until(rb"Server ready\n\Z")
            self.assertEqual(run.out, text + b"Server ready\n")
            let_go_on(os.path.join(self.work, kind))
            run.finish()
            self.assertEqual(run.out, text + b"Server ready\n")
            self.assertEqual(self.artifacts(), [])

    def test_progress_is_folded(self):
        """Progress is folded even in a text that fits, before a pause and after it. Lines that are left out can be
        read."""
        fifo = self.fifo()
        lines = [b"test part_%d of all ... ok\n" % i for i in range(1, 61)] + [b"test part_61 of all ... FAILED\n"]
        # In one write each, or there could be a pause in between.
        for name, part in ("before", lines[:30]), ("behind", lines[30:]):
            write_file(os.path.join(self.work, name), b"".join(part))
        run = self.start(TERSE, "--profile", "build", "bash", "-c", "cat before; read x <%s; cat behind; exit 1" % fifo)
        run.until(rb" --lines \d+-29\]\ntest part_30 of all ... ok\n\Z")
        let_go_on(fifo)
        run.finish()
        self.assertEqual(run.code, 1)
        text = b"".join(lines)
        self.assertLess(self.account(run.out, text), 20)
        self.assertIn(b"\ntest part_60 of all ... ok\ntest part_61 of all ... FAILED\n[terse: exit 1 after ", run.out)
        self.assertEqual(self.artifact(MARKER.search(run.out)["id"].decode()), text)

    def test_one_that_prints_much_before(self):
        fifo = self.fifo()
        run = self.start(TERSE, "bash", "-c", "seq 3000; echo Server ready; read x <%s; echo bye; exit 3" % fifo)
        marker = run.until(rb"\[\.\.\. lines \d+-\d+(?:, [\d.]+ KB)?: terse read (cmd-\w+) --lines (\d+-\d+)\]\n"
                           rb"(?:\d+\n)+Server ready\n\Z")
        identifier = marker[1].decode()
        # The ID is good while the command runs, and the marker's command prints just what is left out.
        text = numbers(3000) + b"Server ready\n"
        self.assertEqual(self.artifact(identifier), text)
        first, last = map(int, marker[2].split(b"-"))
        left_out = b"".join(b"%d\n" % n for n in range(first, last + 1))
        self.assertTrue(self.ask("read", identifier, "--lines", marker[2].decode()).startswith(left_out))
        self.assertIn(b"%d\n" % (last + 1), marker[0])
        let_go_on(fifo)
        run.finish()
        self.assertEqual(run.code, 3)
        footer = FOOTER.search(run.out)
        self.assertEqual(footer["id"].decode(), identifier)
        self.account(run.out, text + b"bye\n")
        self.assertTrue(run.out[:footer.start()].endswith(b"bye\n"))

    def test_more_than_one_pause(self):
        gates = [self.fifo("gate%d" % i) for i in range(3)]
        script = "".join("seq %d %d; echo part %d is done; read x <%s; " % (i * 3000 + 1, i * 3000 + 3000, i, gate)
                         for i, gate in enumerate(gates))
        run = self.start(TERSE, "bash", "-c", script + "echo error: it broke; seq 9; exit 1")
        text = b""
        for i, gate in enumerate(gates):
            run.until(rb"part %d is done\n\Z" % i)
            text += b"".join(b"%d\n" % n for n in range(i * 3000 + 1, i * 3000 + 3001)) + b"part %d is done\n" % i
            let_go_on(gate)
        run.finish()
        text += b"error: it broke\n" + numbers(9)
        self.account(run.out, text)
        self.assertIn(b"error: it broke\n", run.out)
        self.assertEqual(self.artifact(FOOTER.search(run.out)["id"].decode()), text)

    def test_the_cause_that_was_left_out_comes_at_the_end(self):
        fifo = self.fifo()
        run = self.start(TERSE, "bash", "-c", "seq 3000; echo 'main.c:7: error: no such member'; seq 3000;"
                         " read x <%s; echo stopped; exit 2" % fifo)
        run.until(rb"\n3000\n\Z")
        self.assertNotIn(b"error", run.out)
        let_go_on(fifo)
        run.finish()
        self.account(run.out, numbers(3000) + b"main.c:7: error: no such member\n" + numbers(3000) + b"stopped\n")
        self.assertIn(b"main.c:7: error: no such member\n", run.out)

    def test_a_line_that_is_redrawn(self):
        """It does not put the pause off."""
        stop = os.path.join(self.work, "stop")
        run = self.start(TERSE, "bash", "-c", "seq 400; echo ready; while [ ! -e %s ]; do for c in '|' / - '\\'; do"
                         " printf '\\r%%s working' \"$c\"; sleep 0.02; done; done; printf '\\r\\033[Kfinished\\n'" % stop)
        run.until(rb"\n400\nready\n\Z")
        open(stop, "w").close()
        run.finish()
        self.assertEqual(run.out, numbers(400) + b"ready\nfinished\n")

    def test_a_question(self):
        """What is asked on a pipe is seen, once, and the answer's line goes on behind it."""
        r, w = os.pipe()
        run = self.start(TERSE, "bash", "-c", "seq 500; printf 'Overwrite? [y/N] '; read x; echo \"answer $x\"", stdin=r)
        os.close(r)
        run.until(rb"\n500\nOverwrite\? \[y/N\] \Z")
        os.write(w, b"y\n")
        os.close(w)
        run.finish()
        self.assertEqual(run.out, numbers(500) + b"Overwrite? [y/N] answer y\n")

    def test_a_heartbeat(self):
        """The last lines come with it, before a pause would be over."""
        stop = os.path.join(self.work, "stop")
        run = self.start(TERSE, "--heartbeat", "300ms", "bash", "-c", "seq 3000; i=0; while [ ! -e %s ]; do echo line $((i += 1));"
                         " sleep 0.05; done" % stop)
        run.until(rb"\nline \d+\n\[terse: still running after ")
        self.assertTrue(HEARTBEAT.search(run.out), run.out)
        open(stop, "w").close()
        run.finish()
        self.account(run.out, self.artifact(FOOTER.search(run.out)["id"].decode()))

    def test_within_the_ceiling(self):
        fifo = self.fifo()
        run = self.start(TERSE, "bash", "-c", "seq 1000 3000; read x <%s; seq 3000 5000" % fifo,
                         env={"TERSE_CEILING": "5000"})
        run.until(rb"\n3000\n\Z")
        let_go_on(fifo)
        run.finish()
        self.assertLessEqual(len(run.out), 5000)

    def test_two_streams(self):
        fifo = self.fifo()
        run = self.start(TERSE, "--streams", "split", "bash", "-c", "seq 3000; seq 4000 >&2; echo ready >&2; read x <%s" % fifo, split=True,
                         kind="pipe")
        out = run.until(rb"\[\.\.\. lines [^:\n]+: terse read (cmd-\w+) --lines (?:[^\n]*\n)+3000\n\Z")
        err = run.until(rb"\[\.\.\. lines [^:\n]+: terse read (cmd-\w+) --stderr --lines (?:[^\n]*\n)+4000\nready\n\Z", 1)
        self.assertEqual(out[1], err[1])
        let_go_on(fifo)
        run.finish()

    def test_what_shows_text_names_the_id(self):
        """Its first lines are printed as they come; behind them a heartbeat has the ID."""
        fifo = self.fifo()
        run = self.start(TERSE, "--profile", "read", "--size", "1000", "bash", "-c", "seq 3000; read x <%s" % fifo)
        beat = run.until(HEARTBEAT)
        self.assertEqual(self.artifact(beat[2].decode()), numbers(3000))
        let_go_on(fifo)
        run.finish()
        self.assertIn(b" of 3,000 shown (limit 1000 bytes): terse read " + beat[2], run.out)


class Ends(PauseCase):
    """Agents that do not wait for the end."""

    def test_term(self):
        """The last words come at once, before the command has ended."""
        fifo = self.fifo()
        # It waits without a child, whose end by the same signal bash may report.
        run = self.start(TERSE, "bash", "-c", "trap 'echo stopping; read x <%s; exit 3' TERM; seq 4000; echo up;"
                         " exec 3<>%s; >came; while :; do read -t 0.05 x <&3; done" % (fifo, self.fifo("nothing")))
        eventually(lambda: os.path.exists(os.path.join(self.work, "came")), "the command")
        run.kill(signal.SIGTERM)
        run.until(rb"\[\.\.\. lines [^\n]*: terse read cmd-\w+ [^\n]*\]\n(?:\d+\n)+4000\nup\n")
        let_go_on(fifo)
        run.finish()
        self.assertEqual(run.code, 3)
        self.account(run.out, numbers(4000) + b"up\nstopping\n")

    def test_killed(self):
        """It reads its file before anything else could be printed."""
        for kind in ("socket", "file"):
            run = self.start(TERSE, "--preview", "bash", "-c", "seq 4000; echo up; read x <%s" % self.fifo(kind), kind=kind)
            if kind == "socket":
                run.until(rb"\nup\n\Z")
            else:
                eventually(lambda out=run: b"\nup\n" in out.out, "the last line")
            marker = MARKER.search(run.out)
            self.assertTrue(marker["id"], run.out)
            run.kill()
            run.finish()
            self.assertTrue(self.artifact(marker["id"].decode()).startswith(numbers(4000) + b"up\n"))
            self.account(run.out, numbers(4000) + b"up\n")
            self.assert_nothing_left()

    def test_a_reader_that_goes_away(self):
        """It closes its end while the command runs: it had what there was, and what is written next ends the command.
        More than a pty holds, or the command could end first."""
        fifo = self.fifo()
        run = self.start(TERSE, "bash", "-c", "seq 4000; echo up; read x <%s; yes; touch ended" % fifo, kind="pipe")
        marker = run.until(rb"terse read (cmd-\w+) --lines [^\n]*\n(?:\d+\n)+up\n\Z")
        run.close()
        let_go_on(fifo)
        run.wait()
        self.assertEqual(run.code, -signal.SIGPIPE)
        self.assertFalse(os.path.exists(os.path.join(self.work, "ended")))
        self.assertTrue(self.artifact(marker[1].decode()).startswith(numbers(4000) + b"up\n"))


main()
