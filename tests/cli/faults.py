#!/usr/bin/env -S python3 -B
"""Every system call and every allocation of terse fails once, one after the other, and every
process is killed before each of its calls: the command runs and its status comes back, nothing
crashes or hangs, and the store stays in order. A verb may fail, but it says so.

`make check-faults` tries each point (FAULT_STEP=1), and a note for each test gives their number by kind of
failure. By default only some points are tried, so that it takes seconds.
"""

import collections
import json
import os
import re
import shutil
import signal
import struct

from support.harness import BUILD, FOOTER, TERSE, Case, main, numbers, read_file, write_file
from support.mcp import Client

STEP = int(os.environ.get("FAULT_STEP", "97"))

LONG = ("sh", "-c", "seq 3000; echo over >&2; exit 7")
SMALL = ("sh", "-c", "echo out; echo over >&2; exit 7")
TEXT = numbers(3000) + b"over\n"

# The calls that fail, and the errors that they give in practice.
FAULTS = ("open=EMFILE", "open=EACCES", "open=ENOENT", "stat=EIO", "change=ENOSPC", "change=EACCES",
          "write=ENOSPC", "read=EIO", "fork=EAGAIN", "memory=ENOMEM", "ioctl=EIO", "pipe=EMFILE",
          "fd=EINVAL", "process=EPERM", "socket=ENOMEM", "poll=ENOMEM")
AGAIN = ("write=EINTR", "read=EINTR", "change=EINTR", "wait=EINTR", "fd=EINTR",
         "socket=EINTR")
MEMORY = ("allocation",)

# A terse whose allocations fail.
FORGETFUL = os.path.join(BUILD, "fault", "terse")

NAMES = re.compile(r"(cmd-[0-9a-z]{12}(\.err)?\.(txt|json|idx|raw|shown)|cmd-[0-9a-z]{4}\.(texts|link)|journal\.jsonl)$")


class Fault(Case):
    """The result of one run with a fault."""

    text = TEXT

    def fault(self, what, n, *argv, env=None, **how):
        """Returns the run and the name of the call, None if there were fewer than n."""
        report = os.path.join(self.dir, "report")
        if what in MEMORY:
            write_file(report, struct.pack("=QQ", n, 0))
            # Its name says whether it is a shell.
            program = FORGETFUL[:-len("terse")] + os.path.basename(argv[0])
            run = self.run_to_end(program, *argv[1:], env=dict(env or {}, FAULT_MEMORY=report),
                                  **how)
            # The supervisor of a detached run allocates until it has ended.
            with self.subTest(what=what, n=n):
                self.assert_nothing_left()
            return run, "malloc" if struct.unpack("=QQ", read_file(report))[1] >= n else None
        run = self.run_to_end("fault", report, TERSE, what, str(n), "--", *argv, env=env, **how)
        words = read_file(report).decode().split()
        return run, words[1] if len(words) > 1 else None

    def sweep(self, faults, check, *argv, renew=True, before=None, **how):
        """Calls check(run, call) for one call after the other, and notes how many there were."""
        counts = collections.Counter()
        for what in faults:
            step = max(1, STEP // 8) if what in MEMORY else STEP
            n, call = 1 + sum((what + self.id()).encode()) % step, True
            while call:
                if before:
                    before()
                run, call = self.fault(what, n, *argv, **how)
                with self.subTest(what=what, n=n, call=call):
                    try:
                        check(run, call)
                        self.check_store(call)
                    finally:
                        if renew:
                            shutil.rmtree(self.store, ignore_errors=True)
                counts[what] += call is not None
                n += step
        if STEP == 1:
            print("note  %s: %d points: %s" % (
                ".".join(self.id().split(".")[-2:]), sum(counts.values()),
                ", ".join("%s %d" % pair for pair in sorted(counts.items()) if pair[1])))

    def check_store(self, call=None):
        self.assert_nothing_left()
        for top, _, names in os.walk(self.store):
            for name in names:
                if os.path.basename(os.path.dirname(top)) == "sessions":
                    self.assertTrue(NAMES.match(name), os.path.join(top, name))
        self.check_states()
        for name in re.findall(rb"(?m)^cmd-\w+", self.ask("list")):
            text = self.artifact(name.decode())
            if text in (b"", b"out\n", b"over\n", b"out\nover\n"):
                continue
            same = len(os.path.commonprefix([self.text, text]))
            self.assertEqual(text[same:], b"", "other than what was printed from byte %d on" % same)

    def prints(self, call):
        """Whether it was the printing itself that failed."""
        return call and re.match(r"write\w*\([12]\)|send", call)

    def is_refused(self, run):
        """Without its settings terse can't tell what is asked of it."""
        return (run.code, run.out + run.err) == (125, b"terse: Cannot allocate memory\n")

    def check_long(self, run, call):
        self.assertEqual(run.code, 7, run.out[-500:])
        if self.prints(call):
            return
        self.assertTrue(run.out.startswith(b"1\n2\n"), run.out[:200])
        # Without memory the end is in the one gap.
        self.assertRegex(run.out, rb"\n(over|\[\.\.\. lines \d+-3001.*\])\n(\[terse: exit 7 after .*\]\n)?"
                         rb"(terse: output not kept: .*\n)?\Z")
        if TEXT in run.out:
            return
        # Missing text is announced, and is on disk unless a notice says otherwise.
        told = re.findall(rb"(?m)^\[\.\.\. .*", run.out)
        self.assertTrue(told and all(line.endswith(b"]") for line in told), run.out)
        end = FOOTER.search(run.out)
        if end:
            self.assertEqual(self.artifact(end["id"].decode()), TEXT)
        else:
            self.assertIn(b"not kept", run.out)

    def check_small(self, run, call):
        self.assertEqual(run.code, 7, run.out[-500:])
        if not self.prints(call):
            self.assertEqual(run.out, b"out\nover\n")

    def check_file(self, run, call):
        self.assertEqual(run.code, 7, run.out[-500:])
        if not self.prints(call):
            self.assertEqual((run.out, run.err[-5:]), (numbers(3000), b"over\n"))

    def check_json(self, run, call):
        self.assertEqual(run.code, 7, run.out[-500:])
        if self.prints(call) or run.out + run.err == b"out\nover\n":
            return
        told = json.loads(run.out)
        self.assertEqual((told["exit_code"], told["state"]), (7, "done"))
        if "warnings" not in told:
            self.assertEqual((told["stdout"], told["stderr"]), ("out\n", "over\n"))


class Run(Fault):
    def test_spilled(self):
        self.sweep(FAULTS + MEMORY, self.check_long, TERSE, *LONG)

    def test_small(self):
        self.sweep(FAULTS + MEMORY, self.check_small, TERSE, *SMALL)

    def test_file(self):
        self.sweep(FAULTS + MEMORY, self.check_file, TERSE, *LONG, kind="file", split=True)

    def test_printing(self):
        """Success means that the reader has all of it."""
        def check(run, call):
            if self.is_refused(run):
                return
            if run.code == 0:
                self.assertRegex(run.out, rb"(over|\]|\})\n\Z", call)
            elif run.code == 125:
                # The message with the status did not arrive.
                self.assertRegex(call, "send|recv")
                self.assertIn(b"its status is unknown", run.err + run.out)
            else:
                self.assertEqual(run.code, 1)
                self.assertIn(b"terse: standard output could not be written: ", run.err)
        for form, kind in ((("--full",), "file"), ((), "file"), (("--full",), "pipe"),
                           (("--preview",), "pipe"), (("--preview",), "socket"),
                           (("--format=json",), "pipe"), (("--format=json", "--full"), "file")):
            self.sweep(("write=ENOSPC", "write=EIO", "socket=EIO"), check, TERSE, *form,
                       "--streams=split", "sh", "-c", "seq 3000; echo over", kind=kind, split=True)

    def test_interrupted_calls(self):
        def check(run, _):
            self.assertEqual(run.code, 7, run.out)
            self.assert_preview(run, TEXT, b"exit 7")
        self.sweep(AGAIN, check, TERSE, *LONG)

    def test_timeout(self):
        """The command is ended, and terse says so."""
        self.text = b"begun\ngone on\n"
        printed = os.path.join(self.work, "printed")
        # It goes on only where terse could not supervise it: nobody ends it there.
        script = ("echo begun; echo >printed; case $(readlink /proc/$PPID/exe) in */terse)"
                  " exec sleep 1000; esac; echo gone on; exit 7")

        def before():
            if os.path.exists(printed):
                os.unlink(printed)

        def check(run, call):
            if self.is_refused(run) or (run.code, run.out) == (7, self.text):
                return
            self.assertEqual(run.code, 124, run.out)
            # On a busy machine the time can be over before that.
            if not self.prints(call) and os.path.exists(printed):
                self.assertTrue(run.out.startswith(b"begun\n"), run.out)
                # Text that was printed whole is kept whole, if it is kept at all.
                for path in self.artifacts():
                    self.assertEqual(read_file(path), b"begun\n")
        self.sweep(("fork=EAGAIN", "memory=ENOMEM", "ioctl=EIO", "pipe=EMFILE", "fd=EINVAL",
                    "process=EPERM", "poll=ENOMEM", "wait=EINTR") + MEMORY, check,
                   TERSE, "--timeout", "0.2", "sh", "-c", script, before=before)

    def test_timeout_without_a_session(self):
        run, call = self.fault("setsid=EPERM", 1, TERSE, "--timeout", "0.2", "sleep", "1000")
        self.assertRegex(call, "setsid")
        self.assertEqual(run.code, 124, run.out)

    def test_terminal(self):
        """With a controlling terminal of its own."""
        def check(run, call):
            self.assertEqual(run.code, 7, run.out)
            if not self.prints(call):
                self.assertEqual(run.out, b"out\nover\n")
        self.sweep(("open=EMFILE", "ioctl=EIO", "pipe=EMFILE", "fork=EAGAIN", "process=EPERM"),
                   lambda run, call: self.is_refused(run) or check(run, call),
                   TERSE, "--tty", *SMALL)

    def test_json(self):
        def unless_refused(run, call):
            if not self.is_refused(run):
                self.check_json(run, call)
        self.sweep(FAULTS + MEMORY, unless_refused, TERSE, "--format", "json", *SMALL, split=True)

    def test_detached(self):
        """It runs to its end whether or not that could be done behind the caller's back."""
        done = os.path.join(self.work, "done")

        def check(run, call):
            if self.is_refused(run):
                return
            self.assert_nothing_left()
            self.assertEqual(read_file(done), b"on\n")
            os.unlink(done)
            if run.code == 0 and not self.prints(call):
                told = re.search(rb"(cmd-\w+)", run.out)
                self.assertTrue(told, run.out)
                self.assertEqual(self.terse("await", told[1].decode()).code, 7)
            elif run.code != 0:
                self.assertIn(run.code, (7, 1) if self.prints(call) else (7,), run.out)
        self.sweep(FAULTS + MEMORY, check, TERSE, "--detach", "sh", "-c",
                   "seq 3000; echo on > %s; echo over; exit 7" % done)

    def test_agents_shell(self):
        """As Claude Code calls the shell that stands in front of its own."""
        call = ("source /nowhere/snapshot 2>/dev/null || true && { shopt -u extglob || setopt "
                "NO_EXTENDED_GLOB; } >/dev/null 2>&1 || true && eval 'seq 3000; echo over; (exit 7)'"
                " < /dev/null && pwd -P >| /dev/null")
        env = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "one", "SHELL": "/bin/bash"}
        self.sweep(FAULTS + MEMORY, self.check_long, os.path.join(BUILD, "terse-sh"), call, env=env)


class Settings(Fault):
    FILE = b"""[redact]
patterns = SECRET[a-z]+
[environment]
set = MINE=1
[profile made]
match = printenv
size = 9000
"""

    def test_memory_for_a_file(self):
        """It is read whole or not at all; where terse can't work, the command runs without it, and nothing is kept."""
        folder = os.path.join(self.home, "config", "terse")
        os.makedirs(folder)
        write_file(os.path.join(folder, "terse.ini"), self.FILE)
        with_it, too_long, without = b"1 [redacted]\n", b"[redacted]", b" SECRETabc\n"
        n, call = 1, True
        while call:
            run, call = self.fault(MEMORY[0], n, TERSE, "-c", 'echo "$MINE SECRETabc"; exit 7')
            with self.subTest(n=n):
                if not self.is_refused(run):
                    self.assertIn((run.code, run.out + run.err), [(7, out) for out in (with_it, too_long, without)])
            n += 1
        for top, _, names in os.walk(self.store):
            for name in names:
                if not os.path.islink(os.path.join(top, name)):
                    self.assertNotIn(b"SECRETabc", read_file(os.path.join(top, name)))


class Killed(Fault):
    """Before each call, and so between any two things that terse does."""

    def check(self, run, call):
        self.assertIn(run.code, (7, 125, 128 + signal.SIGKILL, 128 + signal.SIGHUP), call)
        for top, _, names in os.walk(self.store):
            for name in names:
                # A file that a killed process was about to rename.
                if name.startswith(".cmd-"):
                    os.unlink(os.path.join(top, name))

    def test_spilled(self):
        self.sweep(["any=KILL"], self.check, TERSE, *LONG)

    def test_file(self):
        self.sweep(["any=KILL"], self.check, TERSE, *LONG, kind="file", split=True)

    def test_short(self):
        """A short text is there as a whole or not at all."""
        def check(run, call):
            self.check(run, call)
            for found in re.findall(rb"(?m)^(cmd-\w+) +exit 7", self.ask("list")):
                self.assertEqual(self.ask("read", found.decode()), b"out\nover\n")

        self.sweep(["any=KILL"], check, TERSE, *SMALL)

    def test_drop(self):
        """And one that is removed is there as a whole or not at all; the next cleaning leaves no byte."""
        def check(run, call):
            self.assertIn(run.code, (0, 1, 128 + signal.SIGKILL))
            kept = self.terse("read", self.last, split=True)
            self.assertIn((kept.code, kept.out), ((0, b"out\nover\n"), (1, b"")))
            self.ask("gc")
            files = [read_file(os.path.join(top, name)) for top, _, names in os.walk(self.store) for name in names
                     if name.endswith((".texts", ".txt"))]
            self.assertEqual(any(b"over\n" in text for text in files), kept.code == 0)

        def keep():
            self.terse(*SMALL)
            self.last = json.loads(self.ask("list", "--limit", "1", "--json"))["data"]["runs"][0]["id"]

        self.sweep(["any=KILL"], check, TERSE, "drop", "last", before=keep)


class Verbs(Fault):
    """They may fail, but not with a wrong answer and success."""

    # A missing artifact is no fault in a list of those that exist.
    THERE = tuple(what for what in FAULTS if what != "open=ENOENT")

    def without_age(self, out):
        return re.sub(rb" +\d+ m?s ", b" ", out)

    def check(self, *argv, code=0, part=lambda out: out, told=None, faults=FAULTS):
        right = self.terse(*argv, split=True)
        self.assertEqual(right.code, code)
        filed = self.terse(*argv, split=True, kind="file").out

        def check(run, call):
            if run.code == code and not self.prints(call):
                if call == "newfstatat(1)":
                    # A reader of whom nothing is known gets what a file gets: all, and no notices.
                    self.assertIn(part(run.out), (part(right.out), part(filed)))
                elif not told or told not in run.out + run.err:
                    self.assertEqual(part(run.out), part(right.out))
            elif run.code != code:
                self.assertIn(run.code, (1, 125))
                self.assertTrue(self.prints(call) or run.err or b'"error":{' in run.out, call)

        self.sweep(faults + MEMORY, check, TERSE, *argv, renew=False, split=True)
        # A lock is not waited for.
        self.sweep([what for what in AGAIN if what != "fd=EINTR"],
                   lambda run, _: self.assertEqual((run.code, part(run.out)),
                                                   (code, part(right.out))),
                   TERSE, *argv, renew=False, split=True)

    def setUp(self):
        super().setUp()
        self.kept = self.terse("--profile", "default", *LONG).id

    def test_read(self):
        self.check("read", self.kept, "--offset", "2000", "--limit", "10")

    def test_read_last(self):
        self.check("read", "last")

    def test_search(self):
        self.check("search", self.kept, "9(9|0)$", "-C", "1")

    def test_search_all(self):
        self.check("search", "--all", "over")

    def test_path(self):
        self.check("path", "last")

    def test_await(self):
        # Without memory it is another preview.
        self.check("await", self.kept, code=7, part=lambda out: out.splitlines()[-1])

    def test_show(self):
        self.check("show", self.kept, part=lambda out: self.without_age(out).splitlines()[:4],
                   told=b"can't be read")

    def test_list(self):
        self.check("list", part=self.without_age, told=b"damaged lines skipped", faults=self.THERE)

    def test_list_of_what_has_no_line(self):
        path = os.path.join(self.store, "sessions", "default", "journal.jsonl")
        write_file(path, b"".join(line for line in read_file(path).splitlines(True) if b'"terse.run"' not in line))
        self.check("list", part=self.without_age, told=b"(metadata: ", faults=self.THERE)

    def test_list_all(self):
        self.check("list", "--all", "--json", part=lambda out: len(out.splitlines()),
                   faults=self.THERE)

    def pushed_run(self):
        """Makes a run and pushes it into a directory. Returns variables for its environment, and the directory."""
        config, objects = os.path.join(self.dir, "terse.ini"), os.path.join(self.dir, "objects")
        os.mkdir(objects)
        write_file(config, "[remote]\nremote = file:%s\npush = all\n" % objects)
        env = {"TERSE_CONFIG": config}
        self.terse(*LONG, env=env)
        self.assertEqual(self.terse("push", env=env).code, 0)
        self.assert_nothing_left()
        return env, objects

    def test_push_labels(self):
        """Labels that a run has noted reach the index, whichever allocation of the packer fails."""
        env, objects = self.pushed_run()
        wanted = os.path.join(self.store, "outbox", "wanted")
        path = [path for path in self.artifacts() if self.kept not in path][0]
        name, path = os.path.basename(path)[:16], path[:-4] + ".json"
        write_file(path, json.dumps(dict(json.loads(read_file(path)), labels={"job": "4812"}), separators=(",", ":")))
        n, call, step = 1, True, 1 if STEP == 1 else 11
        while call:
            for top, _, names in os.walk(self.dir):
                for one in names:
                    if one.endswith(".jsonl") and "index" in top:
                        os.unlink(os.path.join(top, one))
            os.makedirs(wanted, 0o700, exist_ok=True)
            write_file(os.path.join(wanted, name), "", 0o600)
            _, call = self.fault("allocation", n, TERSE, "push", env=env, split=True)
            with self.subTest(n=n):
                self.assertEqual(self.terse("push", env=env).code, 0)
                found = [read_file(os.path.join(top, one)) for top, _, names in os.walk(os.path.join(objects, "index"))
                         for one in names]
                self.assertEqual([text.count(b'"labels":{"job":"4812"}') for text in found], [1], found)
            n += step

    def test_list_remote(self):
        """A run is never left out without a word, whichever allocation fails."""
        env, _ = self.pushed_run()
        n, call = 0, True
        while call:
            n += 1
            run, call = self.fault("allocation", n, TERSE, "list", "--remote", "--json", "--command", "seq", env=env,
                                   split=True)
            with self.subTest(n=n):
                if run.code == 0:
                    told = json.loads(run.out)["data"]
                    self.assertEqual(len(told["runs"]) + told["damaged_lines"], 1, run.out)
                else:
                    self.assertTrue(run.err or b'"error":{' in run.out, run)
        self.assertGreater(n, 30)

    def test_config(self):
        self.check("config", "--", "npm", "test")


class Server(Fault):
    """terse mcp answers each request, as it should or with an error, and never with a part of the answer."""

    TALK = (("initialize", {"protocolVersion": "2025-11-25"}), ("tools/list", {}),
            ("tools/call", {"name": "run_command", "arguments": {"command": "echo out; exit 7"}}),
            ("tools/call", {"name": "run_command", "arguments": {"command": "seq 3000; echo over; exit 7"}}),
            ("tools/call", {"name": "list_commands"}),
            ("tools/call", {"name": "read_command_output", "arguments": {"artifact_id": "last", "offset": 7}}),
            ("tools/call", {"name": "new_session"}))

    CALLS = ("pipe=EMFILE", "fork=EAGAIN", "fd=EINVAL", "poll=ENOMEM", "socket=EINTR", "read=EINTR", "write=EINTR",
             "wait=EINTR", "fd=EINTR", "open=EMFILE", "socket=ENOMEM")

    def begin(self, what, n):
        """A server in which the n-th of these calls or allocations fails, and whether there was such a one."""
        report = os.path.join(self.dir, "report")
        if what in MEMORY:
            write_file(report, struct.pack("=QQ", n, 0))
            client = Client(self.env(FAULT_MEMORY=report), self.work, initialize=False, program=FORGETFUL)
            return client, lambda: struct.unpack("=QQ", read_file(report))[1] >= n
        program = os.path.join(self.dir, "terse")
        write_file(program, "#!/bin/sh\nexec fault '%s' '%s' %s %d -- '%s' \"$@\"\n" % (report, TERSE, what, n, TERSE),
                   0o755)
        client = Client(self.env(), self.work, initialize=False, program=program)
        return client, lambda: len(read_file(report).split()) > 1

    def talk(self, what, n):
        """The results, None for an error or a server that ended, and whether something has failed."""
        client, has_failed = self.begin(what, n)
        results = []
        try:
            for number, (method, params) in enumerate(self.TALK):
                client.send(method, params, number)
                # What could not be read has no number that could be answered.
                client.until(lambda: number in client.answers or None in client.answers, "an answer to " + method)
                results.append(client.answers.pop(number, {}).get("result"))
                client.answers.pop(None, None)
        except (EOFError, BrokenPipeError):
            results += [None] * (len(self.TALK) - len(results))
        self.assertIn(client.close()[0], (0, 125))
        self.assert_nothing_left()
        shutil.rmtree(self.store, ignore_errors=True)
        return results, has_failed()

    def same(self, result):
        """What differs from one run to the next is left out."""
        return re.sub(r"cmd-\w+|\d+ m?s old|after \d+ m?s", "", json.dumps(result))

    def sweep_talk(self, faults):
        right = [self.same(result) for result in self.talk(MEMORY[0], 1 << 60)[0]]
        self.assertNotIn("null", right)
        counts = collections.Counter()
        for what in faults:
            step = max(1, STEP // 8) if what in MEMORY else STEP
            n, more = 1 + sum((what + self.id()).encode()) % step, True
            while more:
                more = False  # unless it is answered
                with self.subTest(what=what, n=n):
                    results, more = self.talk(what, n)
                    self.check_talk(results, right)
                counts[what] += more
                n += step
        if STEP == 1:
            print("note  %s: %s" % (self.id(), ", ".join("%s %d" % pair for pair in sorted(counts.items()))))

    # What an answer has to begin or end with, by its place in TALK; a run may lose terse, but not its status.
    SAYS = {2: r"\Aout\r?\n(.*\n)?\[terse: (exit 7|interrupted)\b", 5: r"\A7\n8\n9\n",
            3: r"(?s)\A1\r?\n2\r?\n.*\n(over|\[\.\.\. lines \d+-3001[^\n]*\])\r?\n(.*\n)?\[terse: (exit 7|interrupted)\b"}

    def check_talk(self, results, right):
        for number, result in enumerate(results):
            if not result:
                continue
            text = result["content"][0]["text"] if "content" in result else None
            self.assertNotEqual(text, "")
            if text and "standard output could not be written: " in text:
                self.assertRegex(text, r"written: [^;]+; full text: read_command_output artifact_id=cmd-\w+\n"
                                 r"\[terse: (exit 7|interrupted)\]\n\Z")
            elif number in self.SAYS and "isError" not in result:
                self.assertRegex(text, self.SAYS[number])
            elif self.TALK[number][0] in ("initialize", "tools/list"):
                self.assertEqual(self.same(result), right[number])

    def test_memory(self):
        self.sweep_talk(MEMORY)

    def test_calls(self):
        self.sweep_talk(self.CALLS)


class Changes(Fault):
    """The verbs that remove or copy artifacts do so, or report that they did not and do so the next time;
    whatever is left is in order."""

    def setUp(self):
        super().setUp()
        self.ids = [self.terse("--profile", "default", *LONG).id for _ in range(3)]
        self.before = os.path.join(self.dir, "before")
        os.rename(self.store, self.before)
        self.packed = os.path.join(self.dir, "packed")

    def renew(self):
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.before, self.store, symlinks=True)
        for name in os.listdir(self.work):
            os.unlink(os.path.join(self.work, name))

    def left(self):
        return sorted(re.findall(rb"(?m)^cmd-\w+", self.ask("list", "--all")))

    # Artifacts that they can't reach are left alone.
    OPEN = tuple(what for what in Verbs.THERE if what != "open=EACCES")

    def check(self, wanted, *argv, again=0, faults=OPEN):
        wanted = sorted(one.encode() for one in wanted)

        def check(run, call):
            # One that can't be looked at is for the next time.
            if run.code == 0 and not self.prints(call) and "newfstatat" not in str(call):
                self.assertEqual(self.left(), wanted)
            elif run.code != 0:
                self.assertIn(run.code, (1, 125))
                self.assertTrue(self.prints(call) or run.err, call)
            self.check_store()
            self.assertIn(self.terse(*argv).code, (0, again))
            self.assertEqual(self.left(), wanted)
        self.sweep(faults + MEMORY, check, TERSE, *argv, split=True, before=self.renew)

    def test_drop(self):
        self.check([self.ids[0], self.ids[2]], "drop", self.ids[1], again=1)

    def test_rewind(self):
        self.check(self.ids[:1], "rewind", self.ids[1], again=1)

    def test_gc(self):
        self.check(self.ids[1:], "gc", "--gc-count", "2")

    def test_session_end(self):
        self.check([], "session", "end", "default", "--now")

    def test_archive(self):
        """A file that is there can be restored."""
        packed = os.path.join(self.work, "packed")

        def check(run, call):
            if run.code == 0 and not self.prints(call):
                self.assertTrue(os.path.exists(packed))
            elif run.code != 0:
                self.assertIn(run.code, (1, 125))
                self.assertTrue(self.prints(call) or run.err, call)
            if os.path.exists(packed):
                self.assertEqual(self.terse("drop", self.ids[1]).code, 0)
                self.assertEqual(self.terse("unarchive", packed).code, 0)
                self.assertEqual(self.artifact(self.ids[1]), TEXT)
        self.sweep(Verbs.THERE + MEMORY, check, TERSE, "archive", "--output", packed, self.ids[1],
                   split=True, before=self.renew)

    def test_restore(self):
        packed = os.path.join(self.dir, "packed")
        self.renew()
        self.assertEqual(self.terse("archive", "--output", packed, self.ids[1]).code, 0)
        shutil.rmtree(self.before)
        self.terse("drop", self.ids[1])
        os.rename(self.store, self.before)
        # Where the store can't be opened it goes into the next one.
        self.check(self.ids, "unarchive", packed, again=1,
                   faults=("change=ENOSPC", "write=ENOSPC", "read=EIO", "memory=ENOMEM",
                           "fd=EINVAL"))


main()
