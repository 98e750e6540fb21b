#!/usr/bin/env -S python3 -B
"""--timeout: TERM, then KILL after the grace; exit status 124; printed text stays."""

import json
import os
import shutil
import signal

from support.harness import Case, FOOTER, TERSE, eventually, main, numbers, read_file


class Timeout(Case):
    def test_ended_by_term(self):
        for options in ((), ("--no-pty",), ("--tty",), ("--streams=split",)):
            run = self.terse("--timeout", "100ms", *options, "sleep", "1000")
            self.assertEqual((run.code, run.out), (124, b"[terse: timed out (exit 124)]\n"))
            self.assert_nothing_left()

    def test_what_was_printed_is_shown(self):
        run = self.out_of_time("sh", "-c", "echo before; : >came; sleep 1000")
        self.assertEqual(run.out, b"before\n[terse: timed out (exit 124)]\n")

    def test_short_output_is_kept_whole_or_not_at_all(self):
        """Text that was printed whole needs no artifact, and no line says that the run goes on."""
        for options in ((), ("--no-pty",), ("--tty",), ("--streams=split",)):
            for script in ("echo hi; : >came; sleep 1000",
                           "echo hi; setsid sh -c ': >came; exec sleep 1000' & sleep 1000"):
                with self.subTest(options=options, script=script):
                    run = self.out_of_time(*options, "sh", "-c", script)
                    self.assertEqual((run.code, run.out[:3]), (124, b"hi\n"))
                    if "setsid" in script:
                        eventually(self.artifacts, "a place for what comes later")
                        self.kill_all()
                    self.assert_nothing_left()
                    for path in self.artifacts():
                        self.assertEqual(read_file(path), b"hi\n")
                        self.assertNotIn(b"running", self.ask("list"))
                        os.unlink(path)

    def test_long_output(self):
        run = self.out_of_time("sh", "-c", "seq 5000; : >came; sleep 1000")
        self.assert_preview(run, numbers(5000), b"timed out (exit 124)")
        meta = self.metadata(run.id)
        self.assertTrue(meta["timed_out"])
        self.assertEqual(meta["process.exit.code"], 124)

    def test_processes_that_are_being_ended_are_no_background(self):
        """A child that dies later than the command, after a timeout and if an agent kills terse."""
        script = "seq 5000; (trap '' TERM HUP; exec sleep 1000) & : >came; wait"
        run = self.out_of_time("--grace", "300ms", "sh", "-c", script)
        self.assertIsNone(FOOTER.search(run.out)["background"])
        run = self.start(TERSE, "--preview", "--grace", "300ms", "sh", "-c", script, before=os.setsid)
        eventually(lambda: os.path.exists(os.path.join(self.work, "came")), "the command")
        os.killpg(run.pid, signal.SIGKILL)
        run.finish()
        self.assertEqual((FOOTER.search(run.out)["end"], FOOTER.search(run.out)["background"]), (b"interrupted", None))

    def test_the_history_has_it_at_once(self):
        """Even during the grace time of processes that ignore TERM."""
        for before in "echo hi; ", "":
            run = self.out_of_time("--grace", "1000s", "sh", "-c",
                                   "%s(trap '' TERM HUP; : >came; exec sleep 1000) & wait" % before)
            self.assertEqual(run.code, 124)
            known, = json.loads(self.ask("list", "--json"))["data"]["runs"]
            self.assertTrue(known["timed_out"])
            self.assertEqual(self.terse("read", known["id"]).out.startswith(b"hi\n"), bool(before))
            self.kill_all()
            shutil.rmtree(self.store)

    def test_the_history_tells_that_it_could_not_be_kept(self):
        self.out_of_time("--min-free", "1000000GB", "--grace", "1000s", "sh", "-c",
                         "seq 3000; (trap '' TERM HUP; : >came; exec sleep 1000) & wait")
        self.assertIn(b"that run is not kept", self.terse("read", "last").out)
        self.kill_all()

    def test_a_command_that_ignores_term_is_killed(self):
        script = "trap '' TERM HUP INT; echo ready; : >came; while :; do sleep 0.02; done"
        run = self.out_of_time("--grace", "100ms", "sh", "-c", script)
        self.assertEqual(run.code, 124)
        self.assertTrue(run.out.startswith(b"ready\n"))
        self.assert_nothing_left()

    def test_last_words(self):
        os.mkfifo(os.path.join(self.work, "fifo"))
        script = ("trap 'echo cleaned up; exit 0' TERM; exec 3<>fifo; echo ready; : >came;"
                  " read x <&3")
        run = self.out_of_time("sh", "-c", script)
        self.assertEqual(run.code, 124)
        self.assertEqual(run.out, b"ready\ncleaned up\n[terse: timed out (exit 124)]\n")

    def test_children_go_too(self):
        os.mkfifo(os.path.join(self.work, "fifo"))
        script = ("sh -c 'trap \"\" TERM HUP; echo >fifo; while :; do sleep 0.02; done' & "
                  "bash -c 'set -m; sleep 1000 & echo >fifo; wait' & "
                  "exec 3<>fifo; read x <&3; read x <&3; : >came; sleep 1000 | sleep 1000")
        run = self.out_of_time("--grace", "100ms", "sh", "-c", script)
        self.assertEqual(run.code, 124)
        self.assert_nothing_left()

    def test_a_stopped_command_ends(self):
        run = self.with_time(
            lambda limit: self.start(TERSE, "--timeout", limit, "sh", "-c", "echo ready; kill -STOP $$; echo no"),
            lambda run: os.WIFSTOPPED(run.wait(os.WUNTRACED)))
        # The process that had stopped it continues it at some time.
        run.kill(signal.SIGCONT)
        run.finish()
        self.assertIn(run.code, (0, 124))
        self.assert_nothing_left()

    def test_quick_commands_are_not_touched(self):
        run = self.terse("--timeout", "1h", "sh", "-c", "echo x; exit 3")
        self.assertEqual((run.code, run.out), (3, b"x\n"))

    def test_from_the_environment(self):
        run = self.terse("sleep", "1000", env={"TERSE_TIMEOUT": "100ms"})
        self.assertEqual(run.code, 124)

    def test_whole_text_to_a_file(self):
        run = self.with_time(lambda limit: self.shell(
            "terse --timeout %s sh -c 'seq 5000; : >came; exec sleep 1000' >out; echo $?" % limit, split=True),
                             lambda run: os.path.exists(os.path.join(self.work, "came")))
        self.assertEqual((run.out, run.err), (b"124\n", b"[terse: timed out (exit 124)]\n"))
        self.assertEqual(read_file(os.path.join(self.work, "out")), numbers(5000))

    def test_background_of_a_finished_command_is_not_ended(self):
        run = self.with_time(
            lambda limit: self.terse("--timeout", limit, "sh", "-c", "sleep 1000 & echo $! >pid"),
            lambda run: run.code == 0)
        child = int(read_file(os.path.join(self.work, "pid")))
        eventually(lambda: child in [p.pid for p in self.mine()], "the background process")
        self.kill_all()


if __name__ == "__main__":
    main()
