#!/usr/bin/env -S python3 -B
"""The report of `--format json`: one object, however the command ends."""

import datetime
import json
import os
import pty
import re
import signal
import unittest.mock

from support.harness import (BUDGET, LIMIT, TERSE, Case, eventually, main, numbers, read_file,
                             write_file)

ID = r"cmd-[0-9a-z]+"
ANY = unittest.mock.ANY

FIELDS = ["version", "command", "cwd", "exit_code", "signal", "success", "started", "duration_ms",
          "timed_out", "state", "stdout", "stderr", "truncation", "artifact", "since", "warnings", "error"]
# The values of omitted fields: a field is left out only if it has this value.
NOTHING = {"command": None, "exit_code": None, "signal": None, "success": None, "timed_out": False,
           "truncation": {}, "artifact": None, "since": None, "warnings": [], "error": None}
COUNTS = ["truncated", "truncated_by", "total_lines", "total_bytes", "returned_lines",
          "returned_bytes", "ranges", "lines_truncated", "last_line_partial"]


def whole(text):
    """The counts of a text that is returned as a whole."""
    size = len(text.encode())
    lines = len(text.split("\n")) - text.endswith("\n") if text else 0
    return {"truncated": False, "truncated_by": None, "total_lines": lines, "total_bytes": size,
            "returned_lines": lines, "returned_bytes": size,
            "ranges": [{"from": 1, "to": lines}] if text else [],
            "lines_truncated": 0, "last_line_partial": False}


class Formats(Case):
    def parse(self, out):
        """The one object, on one line, in printable UTF-8."""
        text = out.decode()
        self.assertTrue(text.endswith("}\n"), text[-200:])
        self.assertEqual(text.count("\n"), 1)
        self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text))
        report = json.loads(text)
        self.assertEqual(list(report), [f for f in FIELDS if f in report])
        self.assertEqual(set(FIELDS) - set(report) - set(NOTHING), set())
        for name, nothing in NOTHING.items():
            if name in report:
                self.assertNotEqual(report[name], nothing, name)
            else:
                report[name] = nothing
        for name, counts in report["truncation"].items():
            self.assertTrue(counts["truncated"])
            self.assertEqual([c for c in counts if c != "gaps"], COUNTS)
            self.assertEqual(counts["returned_bytes"], len(report[name].encode()))
            self.assertEqual(counts["returned_lines"],
                             sum(r["to"] - r["from"] + 1 for r in counts["ranges"]))
            ends = [n for r in counts["ranges"] for n in (r["from"], r["to"] + 1)]
            self.assertEqual(ends, sorted(set(ends)) if len(counts["ranges"]) < 2 else ends)
            # Between two ranges something is left out.
            for a, b in zip(counts["ranges"], counts["ranges"][1:]):
                self.assertLess(a["to"] + 1, b["from"])
        report["truncation"] = {name: report["truncation"].get(name) or whole(report[name])
                                for name in ("stdout", "stderr")}
        return report

    def json(self, *argv, **how):
        run = self.terse("--format", "json", *argv, **how)
        report = self.parse(run.out)
        report["terse"] = run.code
        return report

    def check(self, report, **want):
        for name, value in want.items():
            self.assertEqual(report[name], value, name)

    def lines_of(self, report, name="stdout"):
        """The text that `terse read` prints for the ranges."""
        text = b""
        options = ["--stderr"] if name == "stderr" else []
        for r in report["truncation"][name]["ranges"]:
            at = r["from"]
            while at <= r["to"]:
                limit = min(200, r["to"] - at + 1)  # a page has at most 30,000 bytes
                page = self.ask("read", report["artifact"]["id"], *options, "--offset", str(at),
                                "--limit", str(limit))
                text += b"".join(page.split(b"\n")[i] + b"\n" for i in range(limit)) \
                    if page.count(b"\n") >= limit else page
                at += limit
        return text.decode()


class Json(Formats):
    def test_every_field(self):
        before = datetime.datetime.now(datetime.timezone.utc)
        report = self.json("sh", "-c", "echo 'a \"b\" \\'; echo oops >&2; exit 3")
        after = datetime.datetime.now(datetime.timezone.utc)
        self.check(report, command=["sh", "-c", "echo 'a \"b\" \\'; echo oops >&2; exit 3"],
                   cwd=os.path.realpath(self.work), exit_code=3, signal=None, success=False,
                   timed_out=False, state="done", stdout="a \"b\" \\\n", stderr="oops\n",
                   artifact=None, warnings=[], error=None, terse=3,
                   truncation={"stdout": whole("a \"b\" \\\n"), "stderr": whole("oops\n")})
        started = datetime.datetime.strptime(report["started"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(
            tzinfo=datetime.timezone.utc)
        ended = started + datetime.timedelta(milliseconds=report["duration_ms"])
        slack = datetime.timedelta(seconds=2)
        self.assertTrue(before - slack <= started <= ended <= after + slack)

    def test_small(self):
        """A text that fits needs few fields."""
        run = self.terse("--format", "json", "echo", "hi", cwd="/")
        self.assertLess(len(run.out), 200)
        self.assertEqual(set(json.loads(run.out)),
                         {"version", "command", "cwd", "exit_code", "success", "started",
                          "duration_ms", "state", "stdout", "stderr"})

    def test_files(self):
        """Once one stream is kept, both are, and the object says where."""
        for loud, quiet in (("stdout", "stderr"), ("stderr", "stdout")):
            redirect = (">&2", "") if loud == "stderr" else ("", ">&2")
            report = self.json("--record", "sh", "-c", "echo few %s; seq 3000 %s" % redirect[::-1])
            files = report["artifact"]
            self.assertEqual(list(files), ["id", "path", "stderr_path", "cast_path", "session"])
            paths = {"stdout": files["path"], "stderr": files["stderr_path"]}
            self.assertEqual(read_file(paths[quiet]), b"few\n")
            self.assertEqual(read_file(paths[loud]), numbers(3000))
            self.assertTrue(read_file(files["cast_path"]))
        report = self.json("seq", "3000")
        self.assertEqual(read_file(report["artifact"]["stderr_path"]), b"")
        report = self.json("sh", "-c", r"printf 'xxx\rab\n\033[2Kc\n'; seq 3000")
        self.assertTrue(read_file(report["artifact"]["raw_path"]).startswith(b"xxx\r"))

    def test_ends(self):
        cases = (
            (("true",), {"exit_code": 0, "success": True, "terse": 0}),
            (("sh", "-c", "exit 255"), {"exit_code": 255, "success": False, "terse": 255}),
            (("sh", "-c", "kill -KILL $$"),
             {"exit_code": None, "signal": "SIGKILL", "success": False,
              "terse": -signal.SIGKILL}),
            (("--timeout", "50ms", "sleep", "1000"),
             {"exit_code": 124, "signal": None, "success": False, "timed_out": True,
              "state": "done", "terse": 124}),
        )
        for argv, want in cases:
            with self.subTest(argv=argv):
                self.check(self.json(*argv), stdout="", stderr="", artifact=None, warnings=[],
                           error=None, truncation={"stdout": whole(""), "stderr": whole("")},
                           **want)

    def test_not_started(self):
        write_file(os.path.join(self.work, "plain"), "text")
        cases = (
            (("nosuch",), 127, "not_found", "nosuch: command not found"),
            (("./nosuch",), 127, "not_found", "./nosuch: No such file or directory"),
            (("ulimit", "-n"), 127, "not_found",
             "ulimit: command not found (a shell string needs: terse -c 'ulimit ...')"),
            (("./plain",), 126, "not_executable", "./plain: Permission denied"),
        )
        for argv, code, name, message in cases:
            with self.subTest(argv=argv):
                self.check(self.json(*argv), command=list(argv), cwd=os.path.realpath(self.work),
                           exit_code=code, signal=None, success=False, state="not_started",
                           stdout="", stderr="", artifact=None, terse=code,
                           error={"code": name, "message": message})

    def test_bad_usage(self):
        """The object reports it, and standard error does not."""
        no = "--bogus: no such option (see terse help run)"
        cases = (
            (("--format", "json", "--bogus", "true"), no),
            (("--format", "json"), "run: no command given (see terse help run)"),
            (("--format", "json", "--cwd", "/nosuch", "true"),
             "--cwd: /nosuch: No such file or directory"),
            (("--format", "json", "--size", "1", "true"), "--size: 1: out of range (64 to 16MB)"),
            (("--format", "json", "--profile", "raed", "true"),
             "--profile: raed: no such profile (did you mean read?)"),
        )
        for argv, message in cases:
            with self.subTest(argv=argv):
                run = self.terse(*argv, split=True)
                self.assertEqual((run.code, run.err), (125, b""))
                self.check(self.parse(run.out), command=None, exit_code=125, success=False,
                           state="not_started", error={"code": "usage", "message": message})
        # The option belongs to the command.
        for argv in (("--bogus", "--", "ls", "--format", "json"),
                     ("--bogus", "5", "ls", "--format", "json")):
            run = self.terse(*argv, split=True)
            self.assertEqual((run.code, run.out), (125, b""))
            self.assertEqual(run.err, b"terse: " + no.encode() + b"\n")

    def test_text_of_any_kind(self):
        cases = (
            (r"le caf\351 est \377 bon", "le caf\ufffd est \ufffd bon"),
            (r"\033[1mbold\033[m 10%%\r20%%\n", "20%d 10%\n"),
            (r"tab\there\r\nnext\n", "tab\there\nnext\n"),
            (r"\342\200\256evil\342\200\254\n", "\ufffdevil\ufffd\n"),
            (r"\360\237\230\200 \303\251\n", "\U0001f600 \u00e9\n"),
            (r"\n\n", "\n\n"),
        )
        for written, want in cases:
            with self.subTest(written=written):
                for stream, redirect in (("stdout", ""), ("stderr", ">&2")):
                    report = self.json("sh", "-c", "printf '%s' %s" % (written, redirect))
                    self.check(report, **{stream: want})
                    self.assertFalse(report["truncation"][stream]["truncated"])

    def test_binary(self):
        report = self.json("head", "-c", "50000", "/bin/sh", )
        counts = report["truncation"]["stdout"]
        self.assertEqual((counts["truncated"], counts["truncated_by"], counts["total_bytes"],
                          counts["returned_bytes"], counts["ranges"]),
                         (True, "binary", 50000, 0, []))
        raw = self.ask("path", "--raw", report["artifact"]["id"])
        self.check(report, stdout="", warnings=[
            "stdout: 48.8 KB of binary output (ELF): terse path --raw " +
            report["artifact"]["id"]])
        self.assertEqual(read_file(raw.rstrip(b"\n")), read_file("/bin/sh")[:50000])

    def test_streams(self):
        script = "echo out; echo err >&2; seq 1 3000; seq 5001 8000 >&2"
        report = self.json("--streams", "split", "sh", "-c", script)
        for name, first in (("stdout", "out\n"), ("stderr", "err\n")):
            self.assertTrue(report[name].startswith(first))
            self.assertEqual(self.lines_of(report, name), report[name])
            self.assertLessEqual(len(report[name]), BUDGET)
            self.assertEqual(report["truncation"][name]["total_lines"], 3001)
        report = self.json("--streams", "merged", "sh", "-c", "echo out; echo err >&2; echo more")
        self.check(report, stdout="out\nerr\nmore\n", stderr="",
                   truncation={"stdout": whole("out\nerr\nmore\n"), "stderr": whole("")})

    def test_limits_by_stream(self):
        report = self.json("--max-lines", "10", "--max-err-lines", "5", "sh", "-c",
                           "seq 100; seq 100 >&2")
        for name, most in (("stdout", 10), ("stderr", 5)):
            counts = report["truncation"][name]
            self.assertEqual((counts["truncated_by"], counts["total_lines"],
                              counts["returned_lines"]), ("lines", 100, most))
            self.assertEqual(self.lines_of(report, name), report[name])
        report = self.json("--size", "1000tok", "--err-size", "64", "sh", "-c",
                           "seq 2000; seq 2000 >&2")
        self.assertLessEqual(len(report["stdout"]), 4000)
        self.assertLessEqual(len(report["stderr"]), 64)
        self.assertEqual(report["truncation"]["stderr"]["truncated_by"], "bytes")

    def test_options(self):
        os.mkdir(os.path.join(self.work, "sub"))
        report = self.json("--cwd", "sub", "--env", "A=1 2", "--env", "B=", "--env=PAGER=less",
                           "sh", "-c", 'pwd; echo "$A,${B-unset},$PAGER,$GIT_PAGER"')
        here = os.path.realpath(os.path.join(self.work, "sub"))
        self.check(report, cwd=here, stdout=here + "\n1 2,,less,cat\n")
        self.check(self.json("cd sub && pwd"), stdout=here + "\n",
                   command=[ANY, "-c", "cd sub && pwd"])
        self.check(self.json("sh", "-c", "exit 0", env={"TERSE_FORMAT": "text"}), exit_code=0)
        run = self.terse("true", env={"TERSE_FORMAT": "json"})
        self.check(self.parse(run.out), command=["true"])

    def test_artifact(self):
        report = self.json("--session", "mine", "seq", "3000")
        artifact = report["artifact"]
        self.assertRegex(artifact["id"], ID)
        self.assertEqual(artifact["session"], "mine")
        self.assertEqual(read_file(artifact["path"]), numbers(3000))
        self.assertEqual(self.artifact(artifact["id"]), numbers(3000))

    def test_a_background_process(self):
        fifo = os.path.join(self.work, "fifo")
        os.mkfifo(fifo)
        report = self.json("sh", "-c", "echo started; (read x < fifo; echo later) &")
        self.check(report, stdout="started\n", state="done",
                   warnings=["stdout: sh still writes", "stderr: sh still writes"])
        with open(fifo, "w") as f:
            f.write("on\n")
        eventually(lambda: self.artifact(report["artifact"]["id"]) == b"started\nlater\n",
                   "what the background process wrote")

    def test_readers(self):
        """The same for a program, a file and a person, and nothing before the end."""
        script = "terse --format json sh -c 'echo a; seq 3000' | cat"
        self.assertEqual(self.parse(self.shell(script).out)["stdout"][:4], "a\n1\n")
        run = self.terse("--format", "json", "echo", "x", kind="file")
        self.check(self.parse(run.out), stdout="x\n")
        pid, master = pty.fork()
        if pid == 0:
            os.execve(TERSE, [TERSE, "--format", "json", "sh", "-c", "echo seen; test -t 1"],
                      self.env())
        out = b""
        while not out.endswith(b"\n"):
            out += os.read(master, 65536)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(master)
        self.check(self.parse(out.replace(b"\r\n", b"\n")), stdout="seen\n", exit_code=0)

    def test_stdout_closed(self):
        """Nobody reads: the command runs, and so does terse."""
        self.assertEqual(self.shell("terse --format json sh -c 'echo x >f; exit 4' >&-; "
                                    "echo $?").out, b"4\n")
        self.assertEqual(read_file(os.path.join(self.work, "f")), b"x\n")
        run = self.shell("terse --format json sh -c 'echo o; echo x >&2' 2>&-")
        self.check(self.parse(run.out), stdout="o\n", stderr="")

    def test_silence(self):
        """A heartbeat would not be JSON."""
        fifo = os.path.join(self.work, "fifo")
        os.mkfifo(fifo)
        run = self.start(TERSE, "--format", "json", "--heartbeat", "20ms", "sh", "-c",
                         "echo a; sleep 0.3; read x < fifo; echo b")
        with open(fifo, "w") as f:
            f.write("on\n")
        run.finish()
        self.check(self.parse(run.out), stdout="a\nb\n")

    def test_inside(self):
        """A program that asks for a report has it also where another terse supervises."""
        inner = self.terse("--full", TERSE, "--format", "json", "echo", "x")
        self.check(self.parse(inner.out), stdout="x\n")
        self.assertEqual(self.terse("--format", "json", "echo", "x", env={"TERSE": "0"}).out,
                         b"x\n")
        run = self.terse("--full", TERSE, "echo", "x", env={"TERSE_FORMAT": "text"})
        self.assertEqual(run.out, b"x\n")

    def test_filter(self):
        run = self.terse("filter", "--format", "json", "--exit-code", "2", data=numbers(3000))
        report = self.parse(run.out)
        self.check(report, command=["filter"], exit_code=2, success=False, state="done")
        self.assertEqual(self.lines_of(report), report["stdout"])
        run = self.terse("filter", "--format", "json", "--full", data=numbers(30000))
        self.check(self.parse(run.out), stdout=numbers(30000).decode())


class Truncated(Formats):
    def file(self, name, text):
        write_file(os.path.join(self.work, name), text)

    def test_by_each_limit(self):
        """The profiles, and in each the limit that was reached first."""
        self.file("long", "".join("line %d\n" % n for n in range(1, 2501)))
        self.file("large", ("x" * 99 + "\n") * 1000)
        self.file("found", "needle\n" * 900)
        self.file("wide", "needle\n" + "needle" + "x" * 2000 + "\n")
        os.mkdir(os.path.join(self.work, "many"))
        for n in range(1200):
            self.file("many/%04d" % n, "")
        cases = (
            (("cat", "long"), "lines", 2000, 0),
            (("cat", "large"), "bytes", 307, 0),
            (("grep", "needle", "found"), "matches", 300, 0),
            (("grep", "needle", "wide"), "line_length", 2, 1),
            (("find", "many"), "results", 1000, 0),
            (("ls", "many"), "entries", 500, 0),
            (("--profile", "log", "cat", "long"), "bytes", ANY, 0),
            (("--profile", "default", "cat", "long"), "bytes", ANY, 0),
            (("--profile", "default", "--max-lines", "7", "cat", "long"), "lines", 7, 0),
            (("--profile", "find", "--max-lines", "7", "seq", "50"), "results", 7, 0),
            (("--profile", "search", "seq", "-s,", "500"), "line_length", 1, 1),
        )
        for argv, by, lines, cut in cases:
            with self.subTest(argv=argv):
                cuts = ("--max-line", "64", "--size", "400") if by == "line_length" else ()
                report = self.json(*cuts, *argv)
                counts = report["truncation"]["stdout"]
                self.assertEqual((counts["truncated"], counts["truncated_by"],
                                  counts["returned_lines"], counts["lines_truncated"]),
                                 (True, by, lines, cut))
                if not cut:
                    self.assertEqual(self.lines_of(report), report["stdout"])

    def test_ranges_are_the_text(self):
        """The returned text is that of the ranges, for any text in any mode."""
        text = "".join(
            "error: failed at %d\n" % n if n % 97 == 0 else
            "same\n" if n % 50 < 20 else "line %d \xe9 \U0001f600 %s\n" % (n, "y" * (n % 60))
            for n in range(1, 3001))
        self.file("text", text.encode())
        for mode in ("smart", "head", "tail", "ends"):
            for size in ("300", "4KB", "16KB"):
                for end in ("", "printf 'no newline'"):
                    with self.subTest(mode=mode, size=size, end=end):
                        report = self.json("--profile", "default", "--mode", mode, "--size", size,
                                           "-c", "cat text; %s" % end)
                        self.assertEqual(self.lines_of(report), report["stdout"])
                        counts = report["truncation"]["stdout"]
                        self.assertLessEqual(counts["returned_bytes"],
                                             int(size.replace("KB", "000")) * 1.15 + 700)
                        self.assertEqual(counts["lines_truncated"], 0)

    def test_a_line_longer_than_everything(self):
        self.file("one", "x" * 100000)
        for mode in ("head", "tail", "smart", "ends"):
            report = self.json("--mode", mode, "--size", "1000", "cat", "one")
            counts = report["truncation"]["stdout"]
            self.assertEqual((counts["truncated_by"], counts["total_lines"],
                              counts["returned_lines"], counts["ranges"],
                              counts["lines_truncated"], counts["last_line_partial"]),
                             ("bytes", 1, 1, [{"from": 1, "to": 1}], 1, True), mode)
            self.assertEqual(set(report["stdout"]), {"x"})
            self.assertTrue(100 < len(report["stdout"]) <= 1000)

    def test_the_end_of_the_last_line(self):
        """A last line that is over the limit keeps its end."""
        self.file("end", numbers(1000) + b"start" + b"-" * 5000 + b"the reason")
        report = self.json("--profile", "default", "cat", "end")
        self.assertTrue(report["stdout"].endswith("-the reason"))
        self.assertNotIn("start", report["stdout"])
        self.assertTrue(report["truncation"]["stdout"]["last_line_partial"])
        self.assertEqual(report["truncation"]["stdout"]["ranges"][-1]["to"], 1001)

    def test_slack(self):
        """A text is returned whole rather than cut a little."""
        text = "x" * (LIMIT - 1) + "\n"
        self.file("text", text)
        report = self.json("--profile", "default", "cat", "text")
        self.check(report, stdout=text, artifact=None)
        self.assertEqual(report["truncation"]["stdout"], whole(text))


class Full(Formats):
    def test_full(self):
        """All of a text of any size, in little memory."""
        report = self.json("--full", "sh", "-c", "seq 200000; seq 100000 >&2")
        for name, count in (("stdout", 200000), ("stderr", 100000)):
            text = numbers(count).decode()
            self.assertEqual(report[name], text)
            self.assertEqual(report["truncation"][name], whole(text))
        self.assertEqual(self.artifact(report["artifact"]["id"]), numbers(200000))
        self.check(self.json("--full", "echo", "x"), stdout="x\n", artifact=None)

    def test_characters_at_the_edges(self):
        text = "".join("%d\xe9\U0001f600\t\"q\"\n" % n for n in range(20000))
        write_file(os.path.join(self.work, "text"), text)
        for options in ((), ("--pty", "--profile", "default")):
            self.check(self.json("--full", *options, "cat", "text"), stdout=text)

    def test_invalid_bytes_at_the_edges(self):
        write_file(os.path.join(self.work, "text"), b"\xff\xe2\x82ab\r\n" * 30000)
        report = self.json("--full", "cat", "text")
        self.assertEqual(report["stdout"].replace("\r", ""), "\ufffd\ufffdab\n" * 30000)

    def test_over_the_cap(self):
        """Text that the disk does not keep is not in the ranges, and is reported."""
        report = self.json("--full", "--max-artifact", "64KB", "seq", "100000")
        counts = report["truncation"]["stdout"]
        self.assertEqual((counts["truncated"], counts["truncated_by"], counts["total_lines"]),
                         (True, "bytes", 100000))
        want = "".join("%d\n" % n for r in counts["ranges"]
                       for n in range(r["from"], r["to"] + 1))
        self.assertEqual(report["stdout"], want)
        self.assertEqual(len(counts["ranges"]), 2)
        a, b = counts["ranges"]
        gap = {"from": a["to"] + 1, "to": b["from"] - 1, "bytes": ANY, "reason": "disk cap"}
        self.assertEqual(counts["gaps"], [gap])
        self.assertEqual(len(report["warnings"]), 1)
        self.assertRegex(report["warnings"][0],
                         r"\Astdout: lines {from:,}-{to:,} \(".format(**gap) +
                         r"[\d,]+, [\d.]+ KB\) not kept: over the disk cap \(\[spill\] max_artifact\)\Z")

    def test_a_reader_that_stalls_or_leaves(self):
        run = self.start(TERSE, "--format", "json", "--full", "seq", "300000")
        run.until(rb'"stdout":"1')
        self.check(self.parse(run.finish().out), stdout=numbers(300000).decode())
        run = self.shell("terse --format json --full seq 300000 | head -c 10 >/dev/null; echo ok")
        self.assertEqual(run.out, b"ok\n")


class Killed(Formats):
    def test_front_end(self):
        """The object is complete although nobody waits for it."""
        run = self.start(TERSE, "--format", "json", "sh", "-c", "echo first; echo $$ >pid; "
                                                                 "exec sleep 1000")
        eventually(lambda: os.path.exists(os.path.join(self.work, "pid")), "the command")
        run.kill()
        run.finish()
        report = self.parse(run.out)
        self.check(report, state="interrupted", stdout="first\n", success=False, error=None)
        self.assertEqual(self.artifact(report["artifact"]["id"]), b"first\n")

    def test_supervisor(self):
        run = self.start(TERSE, "--format", "json", "sh", "-c", "echo $$ >pid; exec sleep 1000")
        eventually(lambda: os.path.exists(os.path.join(self.work, "pid")), "the command")
        supervisor = self.roles(run.pid)[0]
        os.kill(supervisor, signal.SIGKILL)
        run.finish()
        self.assertEqual(run.code, 125)
        self.check(self.parse(run.out), state="interrupted", exit_code=None, signal=None,
                   success=False, stdout="",
                   error={"code": "supervisor_killed",
                          "message": "the process that supervised the command was killed; the "
                                     "command was ended, its status is unknown"})

    def test_signals_are_the_commands(self):
        run = self.start(TERSE, "--format", "json", "sh", "-c",
                         "trap 'echo caught; exit 7' TERM; exec 3<>%s; echo $$ >pid; while :; do read x <&3; done"
                         % self.fifo())
        eventually(lambda: os.path.exists(os.path.join(self.work, "pid")), "the command")
        run.kill(signal.SIGTERM)
        run.finish()
        self.assertEqual(run.code, 7)
        self.check(self.parse(run.out), state="done", exit_code=7, stdout="caught\n")


if __name__ == "__main__":
    main()
