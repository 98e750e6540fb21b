#!/usr/bin/env -S python3 -B
"""terse report: the page has exactly what the agent was shown, and output of commands can't break out of its
place in the page. tests/page drives the page in a browser."""

import base64
import json
import os
import re
import signal
import zlib

from support.harness import TERSE, Case, eventually, main, read_file, write_file

# Elements of data, which nothing executes.
DATA = re.compile(rb'<script type="text/plain" class="(\w+)" data-from="(\d+)">([A-Za-z0-9+/=]*)</script>\n')


class Page(Case):
    def page(self, *argv, output="page.html"):
        path = os.path.join(self.work, output)
        run = self.terse("report", *argv, "-o", path)
        self.assertEqual(run.code, 0, run.out)
        return read_file(path)

    def data(self, page):
        """Returns the facts, and the runs from the oldest on. A text is a list of pieces: (number of its first line,
        bytes), or a remark. `shown` is without its first line, which has the ranges."""
        parts = [(name, int(at), zlib.decompress(base64.b64decode(text))) for name, at, text in DATA.findall(page)]
        facts, stream = json.loads(parts[0][2]), b""
        self.assertEqual([name for name, _, _ in parts], [b"index"] + [b"part"] * (len(parts) - 1))
        for _, at, text in parts[1:]:
            self.assertEqual(at, len(stream))
            stream += text
        runs = facts.pop("list")[::-1]
        for run in runs:
            for name in "stdout", "stderr", "raw", "recording", "shown":
                run[name + "_lines"] = run.get(name, {}).get("lines")
                run[name] = [piece if isinstance(piece, str) else (piece[0], stream[piece[1]:piece[2]])
                             for piece in run.get(name, {}).get("pieces", ())]
            ranges, newline, run["shown"] = (run["shown"][0][1] if run["shown"] else b"").partition(b"\n")
            run["ranges"] = json.loads(ranges) if newline else None
        return {"facts": facts, **{"r%d" % i: run for i, run in enumerate(runs)}}

    def test_shown_as_it_was(self):
        runs = [self.terse("-c", "seq 1 3000; echo error: it broke; seq 1 3000; exit 1"),
                self.terse("--streams", "split", "-c", "seq 1 4000; seq 1 3000 >&2")]
        self.terse("seq", "1", "5")
        found = self.data(self.page())
        for i, run in enumerate(runs):
            self.assertEqual(len(found["r%d" % i]["shown"]), len(run.out + run.err))
            self.assertEqual(found["r%d" % i]["id"], run.id)
        self.assertEqual(found["r0"]["shown"], runs[0].out)
        self.assertEqual((found["r0"]["exit_code"], found["r0"]["success"]), (1, False))
        self.assertEqual((found["r2"]["shown"], found["r2"]["shown_bytes"]), (b"1\n2\n3\n4\n5\n", 10))
        self.assertEqual([found["r1"]["stdout_lines"], found["r1"]["stderr_lines"]], [4000, 3000])
        self.assertEqual(found["facts"]["shown"]["bytes"], sum(len(run.out + run.err) for run in runs) + 10)

    def test_a_process_that_is_left_behind(self):
        """How much was shown is known while it writes."""
        gate = write_file(os.path.join(self.work, "gate"), "")
        run = self.terse("-c", "seq 3000; while [ -e gate ]; do sleep 0.05; done &")
        shown = eventually(lambda: self.data(self.page())["r0"]["shown_bytes"], "it is told")
        os.unlink(gate)
        self.assertEqual(shown, len(run.out))

    def test_whole_text_and_its_shown_lines(self):
        run = self.terse("-c", "seq 1 3000; echo error: it broke; seq 1 3000; exit 1")
        data = self.data(self.page(run.id))
        [(first, text)] = data["r0"]["stdout"]
        lines = text.decode().splitlines()
        self.assertEqual((first, len(lines), data["r0"]["stdout_lines"]), (1, 6001, 6001))
        said = [line for line in run.out.decode().splitlines() if not line.startswith(("[... ", "[terse: "))]
        self.assertEqual([line for a, b in data["r0"]["ranges"]["stdout"] for line in lines[a - 1:b]], said)

    def test_both_ends_of_a_long_text(self):
        run = self.terse("seq", "1", "2500000")
        data = self.data(self.page(run.id))["r0"]
        (first, head), (last, tail) = data["stdout"]
        text = b"".join(b"%d\n" % (i + 1) for i in range(2500000))
        self.assertEqual((first, last, data["stdout_lines"]), (1, 0, 2500000))
        self.assertEqual((len(head), len(tail)), (8 << 20, 8 << 20))
        self.assertTrue(text.startswith(head) and text.endswith(tail))

    def test_what_the_disk_cap_left_out(self):
        run = self.terse("--max-artifact", "1MB", "seq", "1", "500000")
        (first, head), gap, (last, tail) = self.data(self.page(run.id))["r0"]["stdout"]
        self.assertRegex(gap, r"^lines [\d,]+-[\d,]+ \(.*\) not kept: over the disk cap")
        self.assertEqual((first, head[:4], tail.split(b"\n", 1)[0]), (1, b"1\n2\n", b"%d" % last))

    def test_hostile_output(self):
        hostile = ("printf '</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\\n'; "
                   "printf '\\033]0;title\\007\\342\\200\\256rtl\\000\\377\\376 &amp; \\033[31m\\n'; ")
        run = self.terse("-c", hostile + "head -c 1000000 /dev/zero | tr '\\0' x; seq 1 3000",
                         env={"TERSE_SESSION": "</title><b>"})
        page = self.page(run.id)
        # What is no data and no style or script of terse's own is the same for every page.
        frame = DATA.sub(b"", page)
        self.assertEqual(re.findall(rb"</?script|<img|<b>|onerror|alert", frame), [b"<script", b"</script"])
        self.assertEqual(re.sub(rb"[0-9a-f]{32}", b"", frame), re.sub(rb"[0-9a-f]{32}", b"", DATA.sub(b"", self.page(self.terse("seq", "3000").id))))
        shown = self.data(page)["r0"]["shown"]
        self.assertTrue(shown.startswith(b"</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\n"))

    def test_nothing_is_loaded(self):
        self.terse("seq", "3000")
        page = self.page()
        policy = re.search(rb'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1).decode()
        nonce = re.search(r"script-src 'nonce-([0-9a-f]{32})'", policy).group(1)
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(page.count(('nonce="%s"' % nonce).encode()), 2)
        self.assertNotIn(nonce.encode(), self.page())
        self.assertNotRegex(page, rb"https?://(?!www\.w3\.org/2000/svg)")

    def test_recording(self):
        """As it is in the store; the page plays it (tests/page)."""
        run = self.terse("--record", "--spill", "always", "--tty",
                         r"printf one; sleep 0.2; printf '\r\033[31m<two>\n'; sleep 0.2; echo end")
        data = self.data(self.page("last"))["r0"]
        [(_, recording)] = data["recording"]
        header, *events = map(json.loads, recording.splitlines())
        self.assertEqual((header["version"], header["width"]), (2, 160), run.out)
        self.assertEqual("".join(text for _, kind, text in events if kind == "o"), "one\r\033[31m<two>\r\nend\r\n")
        path = os.path.join(self.store, "sessions", "default", os.path.basename(self.artifacts()[0])[:-4] + ".cast")
        self.assertEqual(recording, read_file(path))

    def test_long_recording(self):
        self.terse("--record", "--spill", "always", "--tty", "yes recorded | head -c 6000000")
        data = self.data(self.page("last"))["r0"]
        self.assertEqual([(line, len(text)) for line, text in data["recording"]][:1], [(1, 4 << 20)])

    def test_what_runs_now(self):
        self.terse("--detach", "--", "sh", "-c", "echo up; sleep 300")
        name = os.path.basename(self.artifacts()[0])[:-len(".txt")]
        found = self.data(self.page())
        self.assertEqual((found["r0"]["state"], found["r0"]["id"]), ("running", name))
        self.terse("signal", name)
        self.terse("await", name)
        eventually(lambda: self.data(self.page()).get("r0", {}).get("state") == "done", "its end on the page")

    def test_what_waits_for_somebody_to_type(self):
        """While it waits, as its supervisor says, and later as its line has it."""
        self.terse("--yield=20s", "sh", "-c", "printf 'Go on? '; read x; printf 'Sure? '; read x; exec sleep 300")
        waits = self.data(self.page())["r0"]["waits"]
        self.assertEqual((waits["question"], waits["ended"]), ("Go on? ", None))
        for question in "Sure? ", None:
            self.terse("send", "last", "y", "--key", "enter")
            eventually(lambda: self.data(self.page())["r0"].get("waits", {}).get("question") == question, question)
        self.terse("signal", "last")
        self.terse("await", "last")
        run = eventually(lambda: [run for run in [self.data(self.page())["r0"]] if run["state"] == "done"], "its end")[0]
        waits = run["waits"]
        self.assertEqual((waits["count"], waits["question"]), (2, "Sure? "))
        self.assertTrue(run["started"] <= waits["started"] < waits["ended"] <= run["ended"], run)
        self.assertTrue(0 < waits["duration_ms"] <= run["duration_ms"], run)
        self.assertEqual(json.loads(self.ask("list", "--json"))["data"]["runs"][0]["waits"], waits)

    def test_what_has_ended_and_left_a_process_behind(self):
        """Its line is not in the history until that has gone, too."""
        self.terse("sh", "-c", "seq 3000; while [ ! -e go ]; do sleep 0.05; done & exit 3")
        found = self.data(self.page())
        self.assertEqual((found["r0"]["state"], found["r0"]["exit_code"], found["r0"]["success"]), ("done", 3, False))
        self.assertTrue(found["r0"]["shown"].startswith(b"1\n2\n"))
        write_file(os.path.join(self.work, "go"), b"")
        eventually(lambda: self.data(self.page())["r0"]["shown_bytes"] > 0, "its line in the history")
        self.assertEqual(len([name for name in self.data(self.page()) if name.startswith("r")]), 1)

    def test_one_run_has_its_own_figures(self):
        first, second = self.terse("seq", "1", "3000"), self.terse("seq", "1", "4000")
        read = self.terse("read", first.id, "--lines", "10-500")
        self.terse("read", second.id)
        for run, back in ((first, [1, len(read.out)]), (second, [1, None])):
            facts = self.data(self.page(run.id))["facts"]
            self.assertEqual(facts["shown"]["bytes"], len(run.out))
            self.assertEqual([facts["reads"], facts["read_back"]["bytes"]],
                             [back[0], back[1] or facts["read_back"]["bytes"]])
            self.assertEqual(facts["written_bytes"], sum(len(b"%d\n" % (i + 1)) for i in range(3000 if run is first else 4000)))

    def test_a_session_without_runs(self):
        run = self.terse("report", "-o", "page.html")
        self.assertRegex(run.out, rb"\Apage.html: 0 runs, [\d.]+ KB \(terse session lists the sessions\)\n\Z")

    def test_the_newest_of_very_many(self):
        self.terse("seq", "1", "3000")
        self.terse("seq", "1", "5")
        path = os.path.join(self.store, "sessions", "default", "journal.jsonl")
        line = json.loads(read_file(path).splitlines()[-1])
        with open(path, "a") as f:
            for i in range(24000):
                f.write(json.dumps(dict(line, **{"id": "", "startTimeUnixNano": line["startTimeUnixNano"] + i * 10**6,
                                                 "process.command_args": ["run", str(i)]}), separators=(",", ":")) + "\n")
        run = self.terse("report", "-o", "page.html")
        self.assertRegex(run.out, rb"\Apage.html: the newest 20,000 of 24,002 runs, [\d.]+ KB\n\Z")
        found = self.data(read_file(os.path.join(self.work, "page.html")))
        self.assertEqual((found["facts"]["older"], found["r0"]["command"], found["r19999"]["command"]),
                         (4002, ["run", "4000"], ["run", "23999"]))

    def test_damage(self):
        run = self.terse("seq", "3000")
        directory = os.path.join(self.store, "sessions", "default")
        with open(os.path.join(directory, "journal.jsonl"), "ab") as f:
            f.write(b'{"eventName":"terse.run","id":"","startTimeUnixNano":5000000,"state":[]}\n{"eventName":"terse.run","id":"","startTimeUnixNano":7000000}\nnonsense\n')
        found = self.data(self.page())
        self.assertEqual([found[name]["id"] for name in found if name.startswith("r")], [run.id])

    def test_wrong_usage(self):
        self.terse("seq", "3000")
        for argv, code, message in (
                ((), 125, b"terse report: where to? terse report -o FILE.html (-: standard output)\n"),
                (("--watch", "-o", "-"), 125, b"terse report: where to?"),
                (("nobody", "-o", "x"), 1, b"nobody"), (("cmd-0none", "-o", "x"), 1, b"cmd-0none"),
                (("-o", "/nosuch/x.html"), 1, b"terse report: /nosuch/x.html: No such file or directory\n")):
            run = self.terse("report", *argv)
            self.assertEqual(run.code, code, run.out)
            self.assertIn(message, run.out)
        self.assertEqual(os.listdir(self.work), [])

    def test_to_standard_output_and_of_a_session(self):
        self.terse("seq", "3000", env={"TERSE_SESSION": "other"})
        whole = self.shell("terse report other -o - | cat").out
        self.assertEqual(self.data(whole)["facts"]["session"], "other")
        self.assertTrue(whole.endswith(b"</html>\n"))

    def test_watch(self):
        """The page is written anew when a run begins and ends, whole each time; a signal ends that, with the page of
        then."""
        self.terse("seq", "1", "5")
        path = os.path.join(self.work, "page.html")
        watch = self.start(TERSE, "report", "--watch", "-o", path)
        look = lambda: self.data(read_file(path)) if os.path.exists(path) and os.path.getsize(path) else {"facts": {}}
        eventually(lambda: look()["facts"].get("watch"), "the page")
        self.terse("--detach", "--", "sh", "-c", "echo up; while [ ! -e go ]; do sleep 0.05; done; echo down")
        eventually(lambda: look().get("r1", {}).get("stdout") == [(1, b"up\n")], "what lives")
        write_file(os.path.join(self.work, "go"), b"")
        eventually(lambda: look().get("r1", {}).get("stdout") == [(1, b"up\ndown\n")], "its end")
        watch.kill(signal.SIGINT)
        self.assertEqual(watch.finish().code, 0)
        found = look()
        self.assertEqual((found["facts"]["watch"], len(found)), (False, 3))


if __name__ == "__main__":
    main()
