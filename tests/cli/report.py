#!/usr/bin/env -S python3 -B
"""terse report: the page has what the agent was shown, as it was, and nothing that a command prints can
leave its place in it. tests/page drives the page in a browser."""

import json
import os
import re

from support.harness import Case, eventually, main, read_file, write_file

# Elements of data, which nothing executes.
DATA = re.compile(rb'<script type="application/json" class="(\w+)">(.*?)</script>', re.S)


class Page(Case):
    def page(self, *argv, output="page.html"):
        path = os.path.join(self.work, output)
        run = self.terse("report", *argv, "-o", path)
        self.assertEqual(run.code, 0, run.out)
        return read_file(path)

    def data(self, page):
        """The facts, and the runs; of what was shown, its ranges apart."""
        facts, *runs = [json.loads(text) for _, text in DATA.findall(page)]
        for run in runs:
            ranges, newline, run["shown"] = run.get("shown", "").partition("\n")
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
        self.assertEqual(found["r0"]["shown"].encode(), runs[0].out)
        self.assertEqual((found["r0"]["exit_code"], found["r0"]["success"]), (1, False))
        self.assertEqual((found["r2"]["shown"], found["r2"]["shown_bytes"]), ("1\n2\n3\n4\n5\n", 10))
        self.assertEqual([text["name"] for text in found["r1"]["texts"]], ["stdout", "stderr"])
        self.assertEqual(found["facts"]["shown"]["bytes"], sum(len(run.out + run.err) for run in runs) + 10)

    def test_whole_text_and_its_shown_lines(self):
        run = self.terse("-c", "seq 1 3000; echo error: it broke; seq 1 3000; exit 1")
        data = self.data(self.page(run.id))
        text = data["r0"]["texts"][0]
        lines = text["head"].splitlines()
        self.assertEqual((len(lines), text["lines"]), (6001, 6001))
        said = [line for line in run.out.decode().splitlines() if not line.startswith(("[... ", "[terse: "))]
        self.assertEqual([line for a, b in data["r0"]["ranges"]["stdout"] for line in lines[a - 1:b]], said)

    def test_both_ends_of_a_long_text(self):
        run = self.terse("seq", "1", "900000")
        text = self.data(self.page(run.id))["r0"]["texts"][0]
        # The page leaves out the cut line of each.
        head, tail = text["head"].splitlines()[:-1], text["tail"].splitlines()[1:]
        self.assertEqual(head, [str(i + 1) for i in range(len(head))])
        self.assertEqual(tail, [str(900001 - len(tail) + i) for i in range(len(tail))])
        self.assertEqual(text["lines"], 900000)
        self.assertGreater(len(head) + len(tail), 30000)

    def test_hostile_output(self):
        hostile = ("printf '</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\\n'; "
                   "printf '\\033]0;title\\007\\342\\200\\256rtl\\000\\377\\376 &amp; \\033[31m\\n'; ")
        run = self.terse("-c", hostile + "head -c 1000000 /dev/zero | tr '\\0' x; seq 1 3000",
                         env={"TERSE_SESSION": "</title><b>"})
        page = self.page(run.id)
        # What is no data and no style or script of terse's own is the same for every page.
        frame = DATA.sub(b"", page)
        self.assertEqual(re.findall(rb"</?script|<img|<b>|onerror|alert", frame),
                         [b"<script", b"</script"])
        for _, text in DATA.findall(page):
            self.assertNotIn(b"<", text)
            self.assertNotRegex(text.decode(), "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")
        shown = self.data(page)["r0"]["shown"]
        self.assertTrue(shown.startswith("</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\n"))

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
        header, *events = map(json.loads, data["recording"].splitlines())
        self.assertEqual((header["version"], header["width"]), (2, 160), run.out)
        self.assertEqual("".join(text for _, kind, text in events if kind == "o"), "one\r\033[31m<two>\r\nend\r\n")
        self.assertNotIn("recording_cut", data)
        path = os.path.join(self.store, "sessions", "default", os.path.basename(self.artifacts()[0])[:-4] + ".cast")
        self.assertEqual(data["recording"].encode(), read_file(path))

    def test_long_recording(self):
        self.terse("--record", "--spill", "always", "--tty", "yes recorded | head -c 3000000")
        data = self.data(self.page("last"))["r0"]
        self.assertEqual((len(data["recording"]), data["recording_cut"]), (1 << 20, True))

    def test_what_runs_now(self):
        self.terse("--detach", "--", "sh", "-c", "echo up; sleep 300")
        name = os.path.basename(self.artifacts()[0])[:-len(".txt")]
        found = self.data(self.page())
        self.assertEqual((found["r0"]["state"], found["r0"]["id"]), ("running", name))
        self.terse("signal", name)
        self.terse("await", name)
        eventually(lambda: self.data(self.page()).get("r0", {}).get("state") == "done", "its end on the page")

    def test_what_has_ended_and_left_a_process_behind(self):
        """Its line is not in the history until that has gone, too."""
        self.terse("sh", "-c", "seq 3000; while [ ! -e go ]; do sleep 0.05; done & exit 3")
        found = self.data(self.page())
        self.assertEqual((found["r0"]["state"], found["r0"]["exit_code"], found["r0"]["success"]), ("done", 3, False))
        self.assertTrue(found["r0"]["shown"].startswith("1\n2\n"))
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

    def test_the_newest_of_very_many(self):
        self.terse("seq", "1", "3000")
        self.terse("seq", "1", "5")
        path = os.path.join(self.store, "sessions", "default", "journal.jsonl")
        line = json.loads(read_file(path).splitlines()[-1])
        with open(path, "a") as f:
            for i in range(12000):
                f.write(json.dumps(dict(line, **{"startTimeUnixNano": line["startTimeUnixNano"] + i * 10**6,
                                                 "process.command_args": ["run", str(i)]}), separators=(",", ":")) + "\n")
        run = self.terse("report", "-o", "page.html")
        self.assertRegex(run.out, rb"\Apage.html: the newest 5,000 of 12,002 runs, [\d.]+ MB\n\Z")
        found = self.data(read_file(os.path.join(self.work, "page.html")))
        self.assertEqual((found["facts"]["older"], found["r0"]["command"], found["r4999"]["command"]),
                         (7002, ["run", "7000"], ["run", "11999"]))

    def test_many_runs_and_much_text(self):
        """A page has at most 20 MB, whatever is in the store."""
        for _ in range(20):
            self.terse("-c", "seq 1 200000 | tr '0-9' '\"-/'")
        page = self.page()
        self.assertLess(len(page), 20 << 20)
        runs = [run for name, run in self.data(page).items() if name != "facts"]
        self.assertEqual([len(run["texts"][0]["tail"]) > 100000 for run in runs], [True] * 20)

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


if __name__ == "__main__":
    main()
