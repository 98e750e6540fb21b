#!/usr/bin/env -S python3 -B
"""Names that would forge a line, end it, or hide something in it: each line that terse writes of
them is one line, and clean."""

import json
import os
import re
import subprocess

from support.harness import Case, TERSE, main, write_file

# Characters that end a line, move the cursor, close a quote, change the direction, or are invisible.
PARTS = (b"\nFORGED", b"\rFORGED", b"\x1b[31m", b"\"'", "\u202e".encode(), "\u2028FORGED".encode(),
         "\u2029".encode(), "\u200b\u200d".encode(), "\ufe0f".encode(), "\U000e0041".encode(),
         "\x85\x9b1m".encode(), b"\xff\xfe", b"\x7f\b\t")
EVIL = b"evil" + b"".join(PARTS)
UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f"
                     "\ufeff\U000e0000-\U000e0fff]|^FORGED|\tFORGED", re.MULTILINE)


# In JSON only characters that a terminal obeys or that end a line for JavaScript.
UNCLEAN_JSON = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
                          "\U000e0000-\U000e0fff]")


class Names(Case):
    def setUp(self):
        super().setUp()
        self.where = os.path.join(os.fsencode(self.work), EVIL)
        os.mkdir(self.where)

    def clean(self, *argv, **options):
        """The output of both streams, in which nothing is forged or hidden."""
        run = self.terse(*argv, **options)
        self.assert_clean(run.out, argv)
        self.assertTrue(run.out, argv)
        return run

    def assert_clean(self, out, what):
        text = out.decode("utf-8")
        is_json = text.startswith("{")
        found = (UNCLEAN_JSON if is_json else UNCLEAN).search(text)
        self.assertFalse(found, (what, found, text[:found.end() + 50][-400:] if found else ""))
        if is_json:
            json.loads(text)

    def test_run(self):
        nosuch = os.path.join(self.where, b"nosuch")
        for argv in ((b"--cwd", nosuch, "true"), (b"--cwd=" + nosuch, "true"), (b"--nosuch" + EVIL, "true"),
                     (b"--size", EVIL, "true"), (b"--format=" + EVIL, "true"), (b"--mode", EVIL, "true"),
                     (b"--profile", EVIL, "true"), (b"--", EVIL), (nosuch,), (b"--", self.where),
                     (b"--redact-pattern", b"(" + EVIL, "true"), (b"-" + EVIL, "true")):
            for form in ((), ("--format=json",)):
                run = self.clean(*form, *argv)
                self.assertNotEqual(run.code, 0, argv)

    def test_directory_and_session(self):
        options = ("--cwd", self.where, "--session", EVIL)
        for form in ("text", "json"):
            run = self.clean("--format", form, *options, "seq", "9000")
            self.assertEqual(run.code, 0)
        self.clean(*options, "sh", "-c", "seq 9000", EVIL)
        for verb in (("show",), ("show", "--json"), ("read", "--preview"), ("read", "--json", "--limit=2")):
            self.clean(*verb, "--session", EVIL, "last")
        for verb in ("list", "session"):
            self.clean(verb, "--all") if verb != "session" else self.clean(verb)
            self.clean(verb, "--json") if verb == "list" else None
        self.clean("list", "--session", EVIL)
        self.clean("session", "end", EVIL, "--now")

    def test_the_stores_directory(self):
        home = {"TERSE_HOME": self.where}
        self.terse("--preview", "--keep-raw=yes", "seq", "9000", env=home)
        for verb in (("show", "last"), ("doctor",), ("list",), ("session",), ("gc", "--dry-run")):
            self.clean(*verb, env=home)

    def test_prompt(self):
        ask = ("printf 'evil\\nName \"quoted\" \u2028FORGED\u200b: '; read x").encode()
        run = self.terse("--yield=20s", "sh", "-c", ask)
        line = [l for l in run.out.decode().split("\n") if l.startswith("[terse: waiting")][0]
        self.assertFalse(UNCLEAN.search(line), line)
        self.assertIn('waiting for input: "Name \\"quoted\\" \ufffdFORGED\\u200b: "', line)
        self.clean("list", "--live")
        self.terse("signal", re.search(r"cmd-\w+", line).group(0))

    def test_verbs(self):
        """An operand, an option, and a session of this name."""
        for verb in ("read", "search", "changes", "show", "list", "path", "attach", "await",
                     "send", "signal", "snapshot", "config", "doctor", "help", "session", "rewind",
                     "drop", "gc", "archive", "unarchive", "agent", "init", "hook", "filter"):
            nosuch = os.path.join(self.where, b"nosuch")
            for argv in ((EVIL,), (b"--nosuch" + EVIL,), (b"--session", EVIL, b"x"), (nosuch, b"x"),
                         (b"x", EVIL), (EVIL, b"x", EVIL), (b"--limit", EVIL), (b"-" + EVIL,)):
                run = self.terse(verb, *argv)
                self.assert_clean(run.out, (verb, argv))

    def test_a_projects_file_that_is_wrong(self):
        """Others may have written it: doctor, config and the footer report it, but not to a program."""
        write_file(os.path.join(self.where, b".terse.ini"), b"[report]\nsize = wrong\n")
        for kind in ("socket", "pipe", "file"):
            self.assertEqual(self.terse("--cwd", self.where, "seq", "3", kind=kind).out, b"1\n2\n3\n")
        for argv in ("seq 3", "doctor", "config", "config check"):
            run = self.shell(b"cd \"$EVIL\" && exec terse %s 2>&1" % argv.encode(), env={"EVIL": self.where})
            self.assertEqual(run.out.count(b"size: wrong"), argv != "seq 3", (argv, run.out))
        # A person is there to read it.
        run = self.start("script", "-qec", "cd \"$EVIL\" && exec terse seq 3", "/dev/null", env={"EVIL": self.where},
                         stdin=subprocess.PIPE)  # whose end script would type
        run.finish()
        run.popen.stdin.close()
        self.assertEqual((run.out.count(b"size: wrong"), run.out[-9:]), (1, b"1\r\n2\r\n3\r\n"))
        # An agent's footer reports it, since the agent can mend the file.
        run = self.shell(b'cd "$EVIL" && exec terse --preview seq 3000', env={"EVIL": self.where})
        self.assertIn(b"; .terse.ini is ignored: terse config check; full text: ", run.out)
        # So is one that would hide a failure; what a good one sets is named where text is cut.
        fails = b'cd "$EVIL" && exec terse --preview -c \'seq 3000; echo "Error: the cause"; exit 1\''
        for text, said in ((b"[preview]\nmode = head\n[report]\nsize = 64\nfailure_size = 64\n",
                            b"; .terse.ini is ignored: terse config check; "),
                           (b"[preview]\nmode = ends\n[report]\nsize = 3KB\n", b"; .terse.ini sets size, mode; "),
                           (b"[report]\nsize = 3KB\n", b"; .terse.ini sets size; "),
                           (b"[profile mine]\nmatch = seq\nmax_lines = 100\n", b"; .terse.ini sets max_lines; ")):
            write_file(os.path.join(self.where, b".terse.ini"), text)
            run = self.shell(fails, env={"EVIL": self.where})
            self.assertIn(b"Error: the cause\n", run.out)
            self.assertIn(said, run.out)

    def test_relative_home(self):
        """Is no place for a store."""
        self.assertIn(b" TERSE_HOME is ignored: not an absolute path\n",
                      self.terse("doctor", env={"TERSE_HOME": "rel"}).out)
        self.assertFalse(os.path.exists(os.path.join(self.work, "rel")))

    def test_files(self):
        """Those that terse writes, reads, or is set up by."""
        file = os.path.join(self.where, b"f")
        write_file(file, b"[report]\nsize = " + EVIL.replace(b"\n", b"").replace(b"\r", b"") + b"\n")
        run = self.clean("seq", "9000")
        self.clean("archive", run.id, "-o", os.path.join(self.where, b"out"))
        self.clean("restore", os.path.join(self.where, b"out"))
        self.clean("search", file, "report", "-l")
        self.clean("search", "--all", EVIL)
        for env in ({"TERSE_CONFIG": file}, {"TERSE_CONFIG": os.path.join(self.where, b"nosuch")},
                    {"TERSE_SIZE": EVIL}, {"TERSE_SESSION": EVIL}, {"TERSE_HOME": os.path.join(self.where, b"s")},
                    {"HOME": self.where, "XDG_CONFIG_HOME": os.path.join(self.where, b"c")}):
            for argv in (("doctor",), ("config",), ("config", "check"), ("seq", "3"), ("seq", "9000"),
                         ("list",), ("init", "claude", "--dry-run")):
                run = self.terse(*argv, env=env)
                self.assert_clean(run.out, (env, argv))
        write_file(os.path.join(self.where, b".terse.ini"), b"[report]\n" + b"\x1b[31m" + "\u202e".encode() + b" = 3\n")
        for argv in (("doctor",), ("config",), ("config", "check"), ("seq", "9000")):
            run = self.shell(b"cd \"$EVIL\" && exec terse " + " ".join(argv).encode() + b" 2>&1",
                             env={"EVIL": self.where})
            self.assert_clean(run.out, argv)


if __name__ == "__main__":
    main()
