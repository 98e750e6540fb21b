#!/usr/bin/env -S python3 -B
"""terse stats: what it says was shown and read back is what came out of terse, byte for byte; what is
saved is counted against what the agent would have shown by itself."""

import fcntl
import json
import os
import re
import subprocess

from support.harness import Case, TERSE, eventually, let_go_on, main, read_file, write_file

# The agent shows 30,000 bytes of a success, 2,000 of a longer one, 10,000 of a failure.
CLAUDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "talk"}


class Stats(Case):
    def stats(self, *argv, env=None):
        run = self.terse("stats", *argv, "--json", env=env or {})
        self.assertEqual(run.code, 0, run.out)
        return json.loads(run.out)["data"]

    def history(self, session="default"):
        path = os.path.join(self.store, "sessions", session, "journal.jsonl")
        return [json.loads(line) for line in read_file(path).splitlines() if line.startswith(b'{"eventName":"terse.run"')]

    def test_what_was_shown_is_what_was_printed(self):
        runs = [self.terse("seq", "1", "3000"), self.terse("-c", "seq 1 50; exit 3"),
                self.terse("true"), self.terse("seq", "1", "900", kind="pipe"),
                self.terse("-c", "seq 1 2000; seq 1 1000 >&2", split=True),
                self.terse("--format", "json", "seq", "1", "2000"),
                self.terse("-c", "head -c 5000 /dev/zero")]
        found = self.stats()
        self.assertEqual(found["shown"]["bytes"], sum(len(run.out) + len(run.err) for run in runs))
        self.assertEqual((found["runs"], found["failed"]), (len(runs), 1))
        self.assertEqual(found["read_back"], {"bytes": 0, "tokens_estimated": 0})
        self.assertEqual(found["saved"]["bytes"],
                         found["own_cut"]["bytes"] - found["shown"]["bytes"])

    def test_labels_are_no_members(self):
        config, objects = os.path.join(self.dir, "labels.ini"), os.path.join(self.dir, "objects")
        os.mkdir(objects)
        write_file(config, "[remote]\nremote = file:%s\npush = all\nlabels =\n\ta=b\n\tprofile=terse\n"
                   "\tgen_ai.agent.name=other\n" % objects)
        shown = self.terse("seq", "1", "3000", env=dict(CLAUDE, TERSE_CONFIG=config)).out
        found = self.stats(env=CLAUDE)
        self.assertEqual((found["runs"], found["shown"]["bytes"], found["read_back"]["bytes"]), (1, len(shown), 0))
        self.terse("true", env={"TERSE_CONFIG": config})
        self.assertEqual([agent["name"] for agent in self.stats()["agents"]], [None])

    def test_what_a_program_a_file_and_a_person_get_is_not_shown(self):
        self.shell("terse seq 1 3000 | wc -l; terse seq 1 3000 >file")
        found = self.stats()
        self.assertEqual((found["runs"], found["shown"]["bytes"], found["own_cut"]["bytes"]), (2, 0, 0))

    def test_what_is_read_back(self):
        run = self.terse("seq", "1", "3000")
        reads = [self.terse("read", run.id, "--lines", "5-900"), self.terse("search", run.id, "77"),
                 self.terse("read", run.id, "--json"), self.terse("read", run.id, "--bytes", "0-99"),
                 self.terse("read", run.id, "--preview"), self.terse("search", "--all", "123"),
                 self.terse("search", run.id, "9", "--json")]
        found = self.stats()
        self.assertEqual(found["read_back"]["bytes"], sum(len(read.out) for read in reads))
        self.assertEqual(found["reads"], len(reads))

    def test_what_is_read_within_a_run_counts_once(self):
        run = self.terse("seq", "1", "3000")
        inner = self.terse("%s read %s --lines 1-2000" % (TERSE, run.id))
        cut = self.terse("%s read %s | tail -n 3" % (TERSE, run.id))
        found = self.stats()
        self.assertEqual(found["shown"]["bytes"], len(run.out))
        self.assertEqual(found["read_back"]["bytes"], len(inner.out) + len(cut.out))
        self.assertEqual((found["runs"], found["reads"], found["own_cut"]["bytes"]), (1, 2, 10000))

    def test_a_file_is_no_follow_up(self):
        write_file(os.path.join(self.work, "log"), b"a\nb\n")
        self.terse("true")
        self.terse("read", "log")
        self.assertEqual(self.stats()["reads"], 0)

    def test_agents_own_cut(self):
        for script, own in (("head -c 20000 /dev/zero | tr '\\0' x | fold", 20000 + 249),
                            ("seq 1 9000", 2000), ("seq 1 9000; exit 1", 10000),
                            ("seq 1 100", 292)):
            self.terse("-c", script, env=CLAUDE)
            self.assertEqual(self.history("talk")[-1]["shown"]["own"], own, script)
        self.terse("seq", "1", "9000")
        self.assertEqual(self.history()[-1]["shown"]["own"], 10000)

    def test_less_than_nothing_is_said(self):
        run = self.terse("seq", "1", "9000", env=CLAUDE)
        found = self.stats(env=CLAUDE)
        self.assertEqual(found["saved"]["bytes"], 2000 - len(run.out))
        self.assertLess(found["saved"]["bytes"], 0)
        text = self.terse("stats", env=CLAUDE).out.decode()
        self.assertRegex(text, r"\Asaved for claude: nothing; [\d.,]+ KB more than it would have shown by itself\n")

    def test_words(self):
        """All that is said, with one of each and with none."""
        empty = self.terse("stats").out.decode()
        self.assertEqual(empty, "session default: no runs\n")
        self.shell("terse seq 1 3000 >file")
        since = r"session default, since \d\d\d\d-\d\d-\d\d \d\d:\d\d\n"
        self.assertRegex(self.terse("stats").out.decode(),
                         r"\Asaved: nothing; no agent was shown anything\n" + since +
                         r"  runs             1, 0 failed, .* in all\n\Z")
        run = self.terse("seq", "1", "9000")
        end = r"Tokens are estimated from the kind of text; the median error is 7 %.\n\Z"
        text = self.terse("stats").out.decode()
        self.assertRegex(text, r"\n  read back        nothing\n")
        self.terse("read", run.id, "--lines", "4-4")
        self.assertRegex(self.terse("stats", "--since", "1d").out.decode(),
                         r"\Asaved: 5.\d KB, about [\d,]+ tokens: \d+ % of what agents would have shown by themselves\n" +
                         since + r"  runs             2, 0 failed, .* in all\n"
                         r"  written          42.9 KB\n"
                         r"  shown            4.\d KB, about [\d,]+ tokens\n"
                         r"  read back        \d+ B, about \d+ tokens?; 1 read or search\n"
                         r"  without terse    9.8 KB, about [\d,]+ tokens\n" + end)
        self.terse("read", run.id)
        self.assertRegex(self.terse("stats").out.decode(), r" tokens; 2 reads or searches\n")

    def test_for_whom(self):
        """Each agent by its sessions, and all of them together."""
        self.terse("seq", "9000", env={**CLAUDE, "CLAUDE_CODE_SESSION_ID": "other"})
        self.terse("seq", "9000")
        run = self.terse("seq", "9000", env=CLAUDE)
        self.terse("read", run.id, env=CLAUDE)
        found = self.stats("--all")
        agents = {agent["name"]: agent for agent in found["agents"]}
        self.assertEqual({name: (agent["runs"], agent["reads"]) for name, agent in agents.items()},
                         {None: (1, 0), "claude": (2, 1)})
        self.assertEqual(sum(agent["saved"]["bytes"] for agent in agents.values()), found["saved"]["bytes"])
        saved = self.terse("stats", "--all").out.decode().split("all sessions")[0]
        self.assertRegex(saved, r"\Asaved for claude: nothing; \S+ KB more than it would have shown by itself\n"
                         r"saved for an unknown agent: \S+ KB, about [\d,]+ tokens: \d+ % of what it would have shown by "
                         r"itself\nsaved: nothing; \S+ KB more than agents would have shown by themselves\n\Z")

    def test_since(self):
        self.terse("seq", "100")
        self.assertEqual(self.stats("--since", "1h")["runs"], 1)
        self.assertEqual(self.stats("--since", "2099-01-01")["runs"], 0)

    def test_history_grows_little(self):
        """120 bytes a run at most."""
        self.terse("seq", "1", "300000", env=CLAUDE)
        path = os.path.join(self.store, "sessions", "talk", "journal.jsonl")
        line = read_file(path).splitlines()[-1]
        before = json.loads(line)
        for key in ("shown", "gen_ai.agent.name", "profile"):
            del before[key]
        grown = len(line) - len(json.dumps(before, separators=(",", ":")))
        self.assertLessEqual(grown, 120)
        self.assertGreater(grown, 0)

    def test_damage(self):
        self.terse("seq", "100")
        with open(os.path.join(self.store, "sessions", "default", "journal.jsonl"), "ab") as f:
            f.write(b'{"version":1,"id"\n\xff\n{}\n{"read":"cmd-","bytes":1}\n')
        run = self.terse("stats", split=True)
        self.assertEqual(run.err, b"terse stats: damaged lines skipped: 4\n")
        self.assertIn(b"\n  runs             1, 0 failed, ", run.out)

    def test_rewind_takes_reads_too(self):
        run = self.terse("seq", "3000")
        self.terse("read", run.id)
        self.terse("rewind", run.id)
        found = self.stats()
        self.assertEqual((found["runs"], found["reads"], found["read_back"]["bytes"]), (0, 0, 0))

    def test_session_ends_without_leftovers(self):
        run = self.terse("seq", "3000")
        self.terse("read", run.id)
        self.terse("session", "end", "--now")
        self.assertFalse(os.path.exists(os.path.join(self.store, "sessions", "default")))

    def test_wrong_usage(self):
        run = self.terse("stats", "--since", "moon")
        self.assertEqual(run.code, 125, run.out)
        self.assertIn(b"--since: moon: must be how long ago (2h) or when (14:05, 2026-11-20)", run.out)
        self.assertEqual(self.terse("stats", "--session", "nobody").code, 1)


class Shown(Case):
    def shown(self, run):
        """The head of ID.shown, and what was printed."""
        path = os.fsdecode(self.ask("path", run.id).rstrip(b"\n"))
        head, printed = read_file(path[:-len("txt")] + "shown").split(b"\n", 1)
        return json.loads(head), printed

    def test_ranges_and_bytes(self):
        run = self.terse("-c", "seq 1 3000; echo error: it broke; seq 1 3000; exit 1")
        head, printed = self.shown(run)
        self.assertEqual(printed, run.out)
        self.assertEqual(head["bytes"], len(run.out))
        lines = read_file(os.fsdecode(self.ask("path", run.id).strip())).splitlines()
        ranges = head["stdout"]
        self.assertEqual((ranges[0][0], ranges[-1][1]), (1, len(lines)))
        said = [line for line in run.out.splitlines() if not line.startswith((b"[... ", b"[terse: "))]
        self.assertEqual([line for a, b in ranges for line in lines[a - 1:b]], said)

    def test_first_part(self):
        write_file(os.path.join(self.work, "log"), b"".join(b"line %d\n" % i for i in range(9000)))
        run = self.terse("cat", "log")
        head, printed = self.shown(run)
        self.assertEqual(printed, run.out)
        shown = run.out.count(b"\nline ") + 1
        self.assertEqual(head["stdout"], [[1, shown]])

    def test_a_command_ends_before_the_answer_that_it_goes_on_is_read(self):
        """What that answer shows is counted once."""
        fifo, trace = (os.path.join(self.work, name) for name in ("fifo", "trace"))
        os.mkfifo(fifo)
        reader, writer = os.pipe()
        room = fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)
        os.write(writer, b"x" * room)
        with subprocess.Popen([TERSE, "--preview", "--tty", "bash", "-c",
                               "seq 9; (read x <fifo; kill $$) & read y </dev/tty"], cwd=self.work,
                              env=self.env(TERSE_DEBUG=trace), stdout=writer, stdin=subprocess.DEVNULL) as run:
            os.close(writer)
            eventually(lambda: os.path.exists(trace) and b"yields as" in read_file(trace), "the answer")
            let_go_on(fifo)
            eventually(lambda: b"supervisor: report" in read_file(trace), "the end of the command")
            with open(reader, "rb") as file:
                out = file.read()[room:]
        run.id = re.search(rb"cmd-[0-9a-z]{12}", out)[0].decode()
        journal = os.path.join(self.store, "sessions", "default", "journal.jsonl")
        eventually(lambda: b'"shown":' in read_file(journal), "the run in the history")
        self.assertIn(b'"text":%d,' % out.index(b"[terse"), read_file(journal))
        self.assertEqual(self.shown(run)[0]["stdout"], [[1, 9]])

    def test_what_is_kept_and_whole(self):
        for argv, shown in ((["seq", "3"], b"1\n2\n3\n"), (["-c", "echo '[terse: x]'"], b"| [terse: x]\n")):
            self.terse(*argv)
            path = self.ask("path", "last").decode()[:-len("txt\n")] + "shown"
            self.assertTrue(read_file(path).endswith(b"}\n" + shown), argv)

    def test_goes_with_the_artifact(self):
        run = self.terse("seq", "3000")
        directory = os.path.join(self.store, "sessions", "default")
        self.assertIn(run.id + ".shown", os.listdir(directory))
        self.terse("drop", run.id)
        self.assertEqual([name for name in os.listdir(directory) if name.startswith("cmd-")], [])


if __name__ == "__main__":
    main()
