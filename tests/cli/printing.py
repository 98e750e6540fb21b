#!/usr/bin/env -S python3 -B
"""Standard output that is full, gone or stalls: the unwritten text is reported and kept, and the status is
not that of a success."""

import contextlib
import os
import re
import select
import signal

from support.harness import TERSE, Case, eventually, main, numbers, read_file, write_file

TOLD = re.compile(rb"terse: standard output could not be written: (.*); "
                  rb"full text: terse read (cmd-\w+)\n")

# Those in which terse writes to a file itself.
FORMS = (("--preview",), ("--full",), ("--full", "--tty"), ("--redact",), ("--record",), ("--format=json",),
         ("--format=json", "--full"))


class Full(Case):
    def told(self, run, text, why=b"No space left on device"):
        """That it was not written, and where all of it is."""
        match = TOLD.search(run.err or run.out)
        self.assertTrue(match, (run.out[-300:], run.err[-300:]))
        self.assertEqual(match[1], why)
        self.assertEqual(self.artifact(match[2].decode()), text)
        self.assertEqual(self.metadata(match[2].decode())["state"], "done")

    def test_each_form(self):
        for form in FORMS:
            for script, text in (("echo hi", b"hi\n"), ("seq 3000; echo end", numbers(3000) + b"end\n")):
                for status in 0, 3:
                    with self.subTest(form=form, script=script, status=status):
                        # Not more than a command has written that learns of it early.
                        run = self.shell('"$@" >/dev/full', argv=(
                            TERSE, *form, "sh", "-c", "trap '' PIPE; { %s; } 2>/dev/null; exit %d" %
                            (script, status)), split=True)
                        self.assertEqual(run.code, status or 1)
                        match = TOLD.search(run.err)
                        self.assertTrue(match, run.err)
                        kept = self.artifact(match[2].decode())
                        self.assertEqual(kept, text[:len(kept)])
                        if len(text) < 4096 or "--preview" in form or "--format=json" in form:
                            self.told(run, text)

    def shell(self, script, argv=(), **how):
        return self.run_to_end("/bin/sh", "-c", script, "sh", *argv, **how)

    def test_ended_by_it(self):
        """As without terse, where the command itself finds no room."""
        for options in ((), ("--no-pty",), ("--tty",), ("--full",)):
            plain = self.shell("seq 100000 >/dev/full", split=True)
            run = self.shell('"$@" seq 100000 >/dev/full', (TERSE, *options), split=True)
            self.assertEqual((run.code, plain.code), (1, 1))

    def test_midway(self):
        """A small disk: what is there is the start, and the rest is not silently gone."""
        place = os.path.join(self.work, "disk")
        os.mkdir(place)
        run = self.isolated("mount -t tmpfs -o size=48k none %s" % place, "sh", "-c",
                            '"$@" >disk/f; echo $?; cat disk/f', "sh", TERSE, "--full", "seq", "12000",
                            split=True)
        self.assertTrue(run.out.startswith(b"1\n1\n2\n"), run.out[:20])
        self.assertLess(len(run.out), len(numbers(12000)))
        # The command was ended at that moment, whatever it had written by then.
        kept = self.artifact(TOLD.search(run.err)[2].decode())
        self.assertGreaterEqual(len(kept), len(run.out) - 2)
        self.told(run, numbers(12000)[:len(kept)])

    def test_when_it_goes_on_without_its_reader(self):
        run = self.shell('terse --detach sleep 1000 >/dev/full', split=True)
        self.assertEqual(run.code, 1)
        self.assertRegex(run.err, TOLD)
        self.kill_all()

    def test_limit_of_file_size(self):
        for limit in "ulimit -f 8", "ulimit -S -f 8":
            for options in ("", "--full", "--preview --size 100KB"):
                plain = self.shell("%s; seq 10000 >f; echo $?; wc -c <f" % limit, split=True)
                run = self.shell("%s; terse %s seq 10000 >f; echo $?; wc -c <f" % (limit, options),
                                 split=True)
                self.assertEqual(run.out, plain.out, (limit, options))


    def test_low_limits_of_the_command(self):
        """They are the command's own: its text is kept all the same."""
        for limit in "ulimit -S -f 8", "ulimit -S -n 11":
            run = self.shell(limit + "; terse --preview sh -c 'seq 10000; ulimit -S -f; ulimit -S -n'")
            own = self.shell(limit + "; ulimit -S -f; ulimit -S -n")
            self.assertNotIn(b"not kept", run.out)
            self.assertEqual(self.artifact(run.id), numbers(10000) + own.out)


class Verbs(Case):
    """Every verb that prints fails where it can't, and says so."""

    # The arguments of each verb, for a run that has ended and for one that lives; None: see there.
    ASKED = {
        "run": None,  # above
        "attach": None,  # draws on a terminal
        "agent": None,  # executes the agent
        "hook": None,  # whatever happens, the agent goes on
        "mcp": None,  # see mcp.py
        "probe": None,  # executes the agent
        "read": (("{kept}",), ("--json", "{kept}"), ("--bytes", "0-8", "{kept}"),
                 ("--bytes", "0-8", "--json", "{kept}"), ("--tail", "1", "{kept}"),
                 ("--preview", "{kept}"), ("--raw", "{kept}"), ("{kept}", "--offset", "9999", "--json")),
        "search": (("{kept}", "7"), ("--json", "{kept}", "7"), ("-c", "{kept}", "7"),
                   ("-l", "{kept}", "7"), ("--all", "7"), ("-c", "--json", "{kept}", "7")),
        "changes": (("{kept}", "/etc/passwd"), ("--json", "{kept}", "{live}")),
        "show": (("{kept}",), ("--json", "{kept}")),
        "list": ((), ("--json",), ("--all",), ("--live",)),
        "stats": ((), ("--json",)),
        "push": (("--json",),),
        "report": (("-o", "-"), ("{kept}", "-o", "-")),
        "path": (("{kept}",), ("--raw", "{kept}")),
        "filter": (("--full",), ("--preview",), ("--format=json",)),
        "await": (("{kept}",), ("--json", "{kept}")),
        "follow": (("{kept}",), ("--json", "{kept}", "--for", "7")),
        "send": None,  # says nothing
        "signal": None,
        "shell": None,  # that is the shell
        "snapshot": (("{live}",), ("--json", "{live}")),
        "config": ((), ("check",), ("init", "-"), ("completion", "bash"), ("profiles",)),
        "doctor": ((), ("--json",)),
        "help": ((), ("run",), ("read",)),
        "version": ((),),
        "session": ((), ("list",), ("end", "other", "--now")),
        "rewind": (("{kept}", "--dry-run"),),
        "drop": (("{lost}",),),
        "gc": (("--dry-run",), ()),
        "archive": (("{kept}", "--output", "-"), ("{kept}", "--force", "--output", "{dir}/packed")),
        "unarchive": (("{dir}/packed",),),
        "init": (("claude", "--dry-run"),),
    }

    def test_each(self):
        told = re.findall(r"(?m)^  (\w+) ", self.ask("help").decode().split("Verbs:")[1])
        self.assertEqual(sorted(told), sorted(self.ASKED))
        kept = self.terse("--preview", "--record", "--keep-raw=yes", "seq", "3000").id
        live = re.search(rb"cmd-\w+", self.terse("--tty", "--detach", "sh", "-c", "seq 3000; sleep 1000").out)[0].decode()
        self.ask("await", live, "--for", "^3000$")
        self.terse("--session", "other", "--preview", "seq", "3000")
        self.ask("archive", kept, "--output", os.path.join(self.dir, "packed"))
        places = {"kept": kept, "live": live, "dir": self.dir, "lost": "cmd-000000000000"}
        for verb, asked in self.ASKED.items():
            printed = asked is None
            for words in asked or ():
                argv = [TERSE, verb, *(word.format(**places) for word in words)]
                with self.subTest(argv=argv[1:]):
                    right = self.run_to_end(*argv, split=True, data=b"some text\n")
                    run = self.run_to_end("sh", "-c", 'exec "$@" >/dev/full', "sh", *argv,
                                          split=True, data=b"some text\n")
                    printed |= bool(right.out)
                    if not right.out:
                        self.assertEqual(run.code, right.code)
                    else:
                        self.assertNotIn(run.code, (0, 125) if right.code != 125 else (0,))
                        self.assertIn(b"No space left on device", run.err)
            self.assertTrue(printed, verb)
        self.kill_all()


class Gone(Case):
    def test_as_without_terse(self):
        """However late the reader leaves."""
        for terse in ("", "terse ", "terse --no-pty "):
            for trap, status in (("", 141), ("trap '' PIPE; ", 1)):
                script = ("set -o pipefail; %s{ %scat text 2>/dev/null; } | "
                          "{ head -c 1 >/dev/null; exit 0; }" % (trap, terse))
                write_file(os.path.join(self.work, "text"), numbers(40000))
                run = self.run_to_end("bash", "-c", script, split=True)
                self.assertEqual(run.code, status, (terse, trap, run.err))


class Stalled(Case):
    """A reader that takes nothing does not keep terse from handling signals."""

    # More is written than its pipe and a terminal hold, so some of it waits, whoever was slow; then the
    # command goes on for ever, or ends.
    COMMANDS = [("sh", "-c", "seq 30000; echo >written; %s" % then) for then in ("exec yes", "")]

    def start_stalled(self, *argv):
        self.written = os.path.join(self.work, "written")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.written)
        r, w = os.pipe()
        run = self.start("bash", "-c", 'exec "$@" >&%d %d>&-' % (w, r), "sh", *argv, split=True,
                         fds=(r, w))
        self.writer = w
        self.addCleanup(os.close, w)
        self.addCleanup(os.close, r)
        return run

    def test_timeout(self):
        for options in (("--full",), ("--full", "--no-pty"), ("--full", "--format=json")):
            for command in self.COMMANDS:
                run = self.with_time(
                    lambda limit: self.start_stalled(TERSE, "--timeout", limit, *options, *command).finish(),
                    lambda run: self.is_waiting())
                self.assertEqual(run.code, 124)
                self.assertIn(b"its reader takes nothing; full text: terse read cmd-", run.err)

    def test_signals(self):
        for sig in signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT:
            for command in self.COMMANDS:
                run = self.start_stalled(TERSE, "--full", *command)
                eventually(self.is_waiting, "a reader that stalls")
                run.kill(sig)
                run.finish()
                self.assertEqual(run.code, -sig)
                self.assertIn(b"its reader takes nothing", run.err)

    def test_signal_long_before_the_end(self):
        """It is not why the command has ended, so the reader is waited for."""
        r, w = os.pipe()
        script = "trap 'sleep 1.5; exit' TERM; seq 30000; echo $$ >pid; while :; do sleep 0.01; done"
        run = self.start("bash", "-c", 'exec "$@" >&%d %d>&-' % (w, r), "sh", TERSE, "--full", "--grace", "10ms",
                         "sh", "-c", script, split=True, fds=(r, w))
        os.close(w)
        path = os.path.join(self.work, "pid")
        pid = int(eventually(lambda: os.path.exists(path) and read_file(path), "the command"))
        run.kill(signal.SIGTERM)
        eventually(lambda: not os.path.exists("/proc/%d" % pid), "the command's end")
        # A reader that stalls from now on is given up: this one would have been before.
        later = self.start_stalled(TERSE, "--full", *self.COMMANDS[0])
        eventually(self.is_waiting, "a reader that stalls")
        later.kill(signal.SIGTERM)
        later.finish()
        self.assertIn(b"its reader takes nothing", later.err)
        with open(r, "rb") as reader:
            self.assertEqual(reader.read(), numbers(30000))
        run.finish()
        self.assertEqual((run.code, run.err), (0, b""))

    def is_waiting(self):
        """A full pipe alone does not tell: what was read at once may have filled it and left nothing."""
        return os.path.exists(self.written) and not select.select([], [self.writer], [], 0)[1]


if __name__ == "__main__":
    main()
