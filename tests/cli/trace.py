#!/usr/bin/env -S python3 -B
"""TERSE_DEBUG: a trace of a run's decisions in a file, and nothing at all when it is off."""

import os
import re
import signal

from support.harness import TERSE, Case, eventually, main, numbers, read_file, write_file

AREAS = {b"process", b"signals", b"sink", b"terminal", b"preview", b"config"}
LINE = re.compile(rb" *(\d+\.\d{3}) +(\d+) (\w+) +(\S.*)")


class Trace(Case):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.work, "trace")

    def lines(self, path=None):
        """(time, process, area, text) of each line."""
        found = [LINE.fullmatch(line) for line in read_file(path or self.file).splitlines()]
        self.assertTrue(all(found), read_file(path or self.file))
        return [(float(m[1]), int(m[2]), m[3], m[4]) for m in found]

    def texts(self, *areas):
        return [text for _, _, area, text in self.lines() if area.decode() in areas]

    def test_a_run(self):
        run = self.terse("sh", "-c", r"seq 5000; printf '\033[?1049h\033[?1049l\033[6n'; exit 3",
                         env={"TERSE_DEBUG": self.file})
        self.assertEqual(run.code, 3)
        self.assertIn(b"5,000 lines", run.out)
        lines = self.lines()
        self.assertTrue(lines[0][3].startswith(b"terse "))
        self.assertEqual({area for _, _, area, _ in lines} - AREAS, set())
        times = [time for time, _, _, _ in lines]
        self.assertTrue(all(time < 600 for time in times))
        self.assertEqual({pid for _, pid, _, text in lines if text.startswith(b"front end: ")},
                         {run.pid})
        self.assertEqual(len({pid for _, pid, _, text in lines
                              if text.startswith(b"supervisor: ")} - {run.pid}), 1)
        for text in (b"stdout: a pty, for an agent", b"alternate screen on",
                     b"stdout is too long to be printed whole", b"artifact " + run.id.encode(),
                     b"supervisor: the command has ended (wait status 0x300)",
                     b"stdout ends: ", b"front end: the run has ended (768)"):
            self.assertIn(text, read_file(self.file))

    def test_no_text_and_no_argument_is_in_it(self):
        self.terse("sh", "-c", "echo hidden $0; exit 1", "secret",
                   env={"TERSE_DEBUG": self.file})
        self.assertNotIn(b"hidden", read_file(self.file))
        self.assertNotIn(b"secret", read_file(self.file))

    def test_a_signal(self):
        run = self.start(TERSE, "sh", "-c", "echo ready; exec sleep 1000",
                         env={"TERSE_DEBUG": self.file})
        run.until(b"ready")
        os.kill(run.pid, signal.SIGINT)
        run.finish()
        texts = b"\n".join(self.texts("signals"))
        self.assertRegex(texts, rb"front end: SIGINT from %d, for the process: passed" % os.getpid())
        self.assertIn(b"supervisor: SIGINT to the command's process", texts)

    def test_the_watchdog(self):
        run = self.start(TERSE, "sh", "-c", "echo ready; sleep 1000",
                         env={"TERSE_DEBUG": self.file})
        run.until(b"ready")
        supervisor, watchdog, _ = self.roles(run.pid)
        os.kill(supervisor, signal.SIGKILL)
        run.finish()
        eventually(lambda: any(pid == watchdog and text.startswith(b"watchdog: the supervisor was")
                               for _, pid, _, text in self.lines()), "its line")
        self.assert_nothing_left()

    def test_off(self):
        run = self.terse("seq", "5000")
        self.assertEqual(run.code, 0)
        self.assertEqual(os.listdir(self.tmp), [])

    def test_a_line_in_the_file_is_one_line(self):
        """Names of other programs may hold anything."""
        program = os.path.join(self.work, "a\033[31m\nb")
        write_file(program, "#!/bin/sh\n%s seq 3\n" % TERSE, 0o755)
        self.shell("'%s' | cat" % program, env={"TERSE_DEBUG": self.file})
        self.assertNotRegex(read_file(self.file), rb"[\x00-\x09\x0b-\x1f\x7f]")
        self.lines()

    def test_the_command_has_no_descriptor_of_it(self):
        run = self.terse("sh", "-c", "ls -l /proc/$$/fd", env={"TERSE_DEBUG": self.file})
        self.assertNotIn(b"trace", run.out)

    def test_what_cannot_be_written_stops_nothing(self):
        for value in ("trace", "all:" + self.file, "/nowhere/trace", self.work):
            with self.subTest(value):
                run = self.terse("seq", "3", env={"TERSE_DEBUG": value})
                self.assertEqual((run.code, run.out), (0, numbers(3)))
                run = self.terse("doctor", env={"TERSE_DEBUG": value})
                self.assertEqual(run.code, 1)
                self.assertIn(b"PROBLEM  trace: TERSE_DEBUG=" + value.encode(), run.out)

    def test_a_limit_of_file_sizes(self):
        write_file(self.file, "x" * 4000)
        run = self.shell("ulimit -f 4; terse echo printed", env={"TERSE_DEBUG": self.file})
        self.assertEqual((run.code, run.out), (0, b"printed\n"))
        self.assertLessEqual(os.path.getsize(self.file), 4096)

    def test_doctor_names_it(self):
        self.assertIn(b"-        trace: off; TERSE_DEBUG=/", self.terse("doctor").out)
        run = self.terse("doctor", env={"TERSE_DEBUG": self.file})
        self.assertIn(b"-        trace: %s\n" % self.file.encode(), run.out)


if __name__ == "__main__":
    main()
