#!/usr/bin/env -S python3 -B
"""Background children live on when the command has ended and terse has returned, and the artifact gets their
later output."""

import os
import re
import signal
import time

from support.harness import (Case, FOOTER, TERSE, descriptors, eventually, is_sanitized, main, read_file,
                             write_file)

# A child that reports that it lives, waits for the file `go`, prints `late` and ends.
CHILD = "sh -c 'echo $$ >pid; while [ ! -e go ]; do sleep 0.02; done; echo late'"

KINDS = {
    "holds the pty": CHILD + " &",
    "redirected": CHILD + " >out 2>&1 </dev/null &",
    "nohup": "nohup " + CHILD + " >out 2>&1 &",
    "setsid": "setsid " + CHILD + " >out 2>&1 </dev/null &",
    "double fork": "(" + CHILD + " >out 2>&1 </dev/null &)",
    "disowned": CHILD + " & disown",
    "job control": "set -m; " + CHILD + " >out 2>&1 </dev/null &",
}


class Survive(Case):
    def start_child(self, how, *options, shell="bash"):
        """The command ends as soon as its child has reported that it lives."""
        run = self.terse(*options, shell, "-c",
                         how + "\nwhile [ ! -s pid ]; do sleep 0.01; done; echo ok")
        self.assertEqual(run.code, 0, run.out)
        self.assertIn(b"ok\n", run.out)
        return run, int(read_file(os.path.join(self.work, "pid")))

    def let_go(self):
        write_file(os.path.join(self.work, "go"), "")
        self.assert_nothing_left()

    def check_kind(self, how, *options):
        """It lives on, and what it prints later has a place."""
        top = self.work
        self.work = os.path.join(top, str(len(self.runs)))
        os.mkdir(self.work)
        run, child = self.start_child(how, *options)
        self.assertIn(child, [p.pid for p in self.mine()], "it did not survive")
        # Nothing that terse does later kills it.
        if ">out" in how:
            eventually(lambda: not [p for p in self.mine() if p.name == "terse"], "terse's end")
            self.assertIn(child, [p.pid for p in self.mine()], "it did not survive terse's end")
        self.let_go()
        if ">out" in how:
            self.assertEqual(read_file(os.path.join(self.work, "out")), b"late\n")
        else:
            self.assertRegex(run.out, rb"\Aok\n\[terse: exit 0; \S+ (and \d others? )?still writes?: "
                                      rb"terse read cmd-\w+( --stderr)?\]\n")
            self.assertEqual(self.artifact(run.id), b"ok\nlate\n")
        self.work = top

    def test_each_kind(self):
        for options in ((), ("--no-pty",), ("--tty",), ("--streams=split",)):
            for name, how in KINDS.items():
                with self.subTest(name=name, options=options):
                    self.check_kind(how, *options)
                    self.kill_all()

    def test_no_hangup_reaches_it(self):
        """A shell that leads its session would take its background job along."""
        child = ("sh -c 'trap \"echo HUP >hup; exit\" HUP; echo $$ >pid; exec 3>&1 4>&2;"
                 " while [ ! -e go ]; do sleep 0.02; done' %s & while [ ! -s pid ]; do"
                 " sleep 0.01; done")
        for options in ((), ("--tty",)):
            for shell in ("sh", "bash"):
                for where in ("", ">out 2>&1 </dev/null"):
                    with self.subTest(options=options, shell=shell, where=where):
                        run = self.terse(*options, shell, "-c", child % where)
                        self.assertEqual(run.code, 0)
                        if where:
                            eventually(lambda: not [p for p in self.mine() if p.name == "terse"],
                                       "terse's end")
                        self.let_go()
                        left = os.listdir(self.work)
                        for name in left:
                            os.unlink(os.path.join(self.work, name))
                        self.assertNotIn("hup", left)

    def test_later_output_is_read_by_the_id_that_was_printed(self):
        run, _ = self.start_child("seq 3000; " + KINDS["holds the pty"])
        self.assertNotIn(b"late", run.out)
        self.assertTrue(FOOTER.search(run.out)["background"], run.out[-300:])
        self.let_go()
        text = self.ask("read", run.id, "--offset", "3000", "--limit", "5")
        self.assertTrue(text.startswith(b"3000\nok\nlate\n"), text)

    def test_what_comes_on_a_stream_that_was_silent(self):
        """Nothing was printed on it before, and the text of the other one fitted."""
        self.start_child(CHILD.replace("echo late", "echo late >&2") + " >out &",
                         "--streams=split")
        self.let_go()
        path, = self.artifacts()
        self.assertEqual(read_file(path), b"ok\n")
        self.assertEqual(read_file(path[:-len("txt")] + "err.txt"), b"late\n")

    def test_artifact_grows_while_the_child_lives(self):
        how = ("sh -c 'echo $$ >pid; i=0; while [ ! -e go ]; do i=$((i + 1)); echo tick $i;"
               " sleep 0.02; done' &")
        self.start_child(how)
        eventually(lambda: b"tick 20\n" in self.artifact("last"), "twenty lines")
        before = self.metadata("last")
        self.assertEqual(before["process.exit.code"], 0)
        self.let_go()
        self.assertIn(b"tick 20\n", self.artifact("last"))

    def test_holds_nothing_of_the_callers(self):
        """The reader sees the end of output although a child and the supervisor live on."""
        run = self.start(TERSE, "sh", "-c", CHILD + " & echo ok", kind="pipe", split=True)
        run.finish()
        supervisor = []

        def only_supervisor():
            supervisor[:] = [p for p in self.mine() if p.name == "terse"]
            return len(supervisor) == 1
        eventually(only_supervisor, "the watchdog's end")
        # For that it looks through /proc once.
        eventually(lambda: self.metadata("last").get("held_by"), "who holds it")
        for link in descriptors(supervisor[0].pid).values():
            self.assertFalse(link.startswith(self.work), link)
        self.let_go()

    def supervisors(self):
        return [p for p in self.mine() if p.name == "terse"]

    def test_who_holds_the_output_is_told(self):
        other = CHILD.replace("echo $$ >pid; ", "")
        _, child = self.start_child(KINDS["holds the pty"] + " setsid " + other + " &")
        held = eventually(lambda: self.metadata("last").get("held_by"), "who holds it")
        self.assertIn({"pid": child, "name": "sh"}, held)
        self.assertGreater(len(held), 1)
        self.assertRegex(self.ask("list", "--live"), rb"(?m)^    held by .*sh \(%d\)" % child)
        self.let_go()
        self.assertNotIn("held_by", self.metadata("last"))

    def recorded(self):
        """The run's text, when nothing more is added to it."""
        def ended():
            text = self.artifact("last")
            return b"[... recording ended: " in text and text
        text = eventually(ended, "the end of the recording")
        eventually(lambda: not os.listdir(os.path.join(self.store, "live")), "the socket's end")
        return text

    @staticmethod
    def anonymous_kb(pid):
        return int(re.search(rb"RssAnon:\s*(\d+)", read_file("/proc/%d/status" % pid))[1])

    def test_recording_ends_and_writing_goes_on(self):
        """A daemon that is silent for long, as ssh -o ControlPersist, gradle and adb leave one: its output is
        then not kept, and its writes neither fail nor wait."""
        # More than a pty or pipe holds, and whether all of it could be written.
        late = "for i in $(seq 30000); do echo late $i || exit; done; echo fine >done"
        child = CHILD.replace("echo late", late).replace("sh -c", "bash -c")
        for options in ((), ("--no-pty",), ("--tty",), ("--streams=split",)):
            with self.subTest(options=options):
                _, pid = self.start_child("setsid " + child + " &", "--linger-idle", "50ms", *options)
                self.assertEqual(self.recorded(), b"ok\n[... recording ended: silent for 50 ms ([run] linger_idle)"
                                 b"; what background processes write later is not kept]\n")
                eventually(lambda: "held_by" not in self.metadata("last"), "the last metadata")
                self.assertIn(pid, [p.pid for p in self.mine()], "it was ended")
                supervisor = self.supervisors()[0].pid
                eventually(lambda: sum(fd > 2 for fd in descriptors(supervisor)) == 1 + ("--streams=split" in options),
                           "that only what is drained is open")
                if not is_sanitized():
                    eventually(lambda: self.anonymous_kb(supervisor) < 512, "little memory")
                # A removed artifact is not missed.
                self.assertEqual(self.terse("drop", "last").code, 0)
                self.let_go()
                self.assertEqual(read_file(os.path.join(self.work, "done")), b"fine\n")
                for name in os.listdir(self.work):
                    os.unlink(os.path.join(self.work, name))

    def test_flood(self):
        """It waits in its writes, so that it does not keep a processor and a disk busy for hours."""
        began = time.monotonic()
        self.terse("sh", "-c", "yes & echo $! >pid")
        path = eventually(self.artifacts, "its place")[0]
        burst, rate, size = 16 << 20, 1 << 20, os.path.getsize(path)
        eventually(lambda: os.path.getsize(path) > size + burst + 4 * rate, "the burst, and more of it")
        # At least, on however slow a machine.
        self.assertGreater(time.monotonic() - began, 3)
        self.kill_all()

    def test_signal_ends_a_run_whose_daemon_lives_on(self):
        run = self.terse("--yield", "100ms", "--tty", "sh", "-c",
                         "setsid sleep 1000 & seq 3; sleep 1000")
        identifier = re.search(rb"cmd-\w+", run.out)[0].decode()
        eventually(lambda: [p for p in self.mine() if p.name == "sleep" and p.session == p.pid], "the daemon")
        self.ask("signal", identifier)
        self.assertIn(b"terse signal ended the run", self.recorded())
        self.assertEqual(len([p for p in self.mine() if p.name == "sleep"]), 1)
        self.assertEqual(self.ask("list", "--live"), b"")
        self.kill_all()

    def test_silent_background_job_is_waited_for(self):
        # Longer than a look at all processes takes on a loaded machine, so that it sleeps between two.
        self.start_child(KINDS["holds the pty"], "--linger-idle", "100ms")
        supervisor = eventually(lambda: self.supervisors()[0] if len(self.supervisors()) == 1 else None,
                            "only the supervisor")

        def wakes():
            status = read_file("/proc/%d/status" % supervisor.pid)
            return int(re.search(rb"\nvoluntary_ctxt_switches:\s*(\d+)", status)[1])
        before = wakes()
        eventually(lambda: wakes() > before + 10, "the supervisor to look around")
        self.let_go()
        self.assertEqual(self.artifact("last"), b"ok\nlate\n")

    def test_child_that_never_stops_writing(self):
        """The end of the command is reported although a child writes without pause."""
        run = self.terse("sh", "-c", "yes background & echo $! >pid; echo ok")
        self.assertEqual(run.code, 0)
        os.kill(int(read_file(os.path.join(self.work, "pid"))), signal.SIGKILL)
        self.assert_nothing_left()

    def test_daemon_with_a_pipe_to_a_program(self):
        """`terse server & | wc`: the output for a program ends with the command, as terse promises."""
        run = self.shell("terse sh -c '" + CHILD.replace("'", '"').replace("$$", "$$") +
                         " >out 2>&1 & echo ok' | wc -l")
        self.assertEqual(run.out.strip(), b"1")
        eventually(lambda: os.path.exists(os.path.join(self.work, "pid")), "the child")
        self.let_go()


class Group(Case):
    def test_the_command_leads_a_group_of_its_own(self):
        """`kill 0` and `kill -- -$$` in a script must reach the script, not terse."""
        run = self.terse("bash", "-c", "trap 'exit 5' TERM; sleep 1000 & kill 0; wait")
        self.assertEqual(run.code, 5)
        self.assert_nothing_left()

    def test_background_reader_of_the_terminal_is_not_stopped(self):
        run = self.terse("sh", "-c", "cat & wait", data=b"")
        self.assertEqual(run.code, 0)


if __name__ == "__main__":
    main()
