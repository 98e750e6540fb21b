#!/usr/bin/env -S python3 -B
"""With --redact no byte of a secret is printed or kept, wherever it comes from; without, nothing
changes."""

import os

from support.harness import Case, TERSE, let_go_on, main, read_file

SECRETS = {
    "aws": ("AKIA", "IOSFODNN7EXAMPLE", "AWS key"),
    "github": ("ghp_", "abcdefghijklmnopqrstuvwxyz0123456789", "GitHub token"),
    "url": ("https://me:", "hunter2hunter2", "password"),
    "bearer": ("Bearer ", "abc.def.ghi_jkl-mno", "bearer token"),
}
TEXT = "key %s%s\ntoken %s%s end\n%s%s@host/x\nAuthorization: %s%s\n" % sum(
    ((a, b) for a, b, _ in SECRETS.values()), ())
WANT = "key %s%s\ntoken %s%s end\n%s%s@host/x\nAuthorization: %s%s\n" % sum(
    ((a, "[redacted: %s]" % c) for a, _, c in SECRETS.values()), ())


class Redaction(Case):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.work, "text")
        with open(self.file, "w") as file:
            file.write(TEXT)

    def assert_none_kept(self):
        """In the whole store, whatever the file."""
        files = 0
        for top, _, names in os.walk(self.store):
            for name in names:
                data = read_file(os.path.join(top, name)) if not os.path.islink(
                    os.path.join(top, name)) else b""
                files += 1
                for _, secret, _ in SECRETS.values():
                    for part in (secret, secret[:10], secret[-10:]):
                        self.assertNotIn(part.encode(), data, name)
        self.assertGreater(files, 0)

    def test_off(self):
        self.assertEqual(self.terse("cat", self.file).out.decode(), TEXT)

    def test_every_reader(self):
        for options in ((), ("--pty",), ("--no-pty",), ("--streams=split",), ("--print=full",)):
            for kind in ("socket", "pipe", "file"):
                run = self.terse("--redact", *options, "cat", self.file, kind=kind)
                self.assertEqual(run.out.decode(), WANT, (options, kind))
        run = self.shell("terse --redact cat %s | cat" % self.file)
        self.assertEqual(run.out.decode(), WANT)
        run = self.shell("terse filter --redact <%s" % self.file)
        self.assertEqual(run.out.decode(), WANT)
        self.assert_none_kept()

    def test_pieces(self):
        """As they come from the command, byte for byte."""
        script = ("import os\nfor b in open(%r, 'rb').read(): os.write(1, bytes([b]))\n"
                  % self.file)
        for options in ((), ("--no-pty",)):
            run = self.terse("--redact", *options, "python3", "-c", script)
            self.assertEqual(run.out.decode(), WANT)

    def test_artifact(self):
        """Text, raw bytes, standard error, metadata, history; the live part; read and search."""
        script = "seq 9000; cat %s; printf 'red\\033[31m\\rover\\n'; cat %s >&2; exit 3" % (
            self.file, self.file)
        argument = "".join(SECRETS["github"][:2])
        run = self.terse("--redact", "--record", "--keep-raw", "--streams=split", "sh", "-c", script, argument,
                         split=True)
        self.assertEqual(run.code, 3)
        text = self.artifact(run.id).decode()
        self.assertIn(WANT, text)
        self.assertEqual(run.err.decode(), WANT)
        self.assertEqual(self.metadata(run.id)["process.command_args"][-1], "ghp_[redacted: GitHub token]")
        self.assertEqual(self.ask("search", run.id, "AKIA"),
                         b"9001:key AKIA[redacted: AWS key]\n")
        self.assert_none_kept()

    def test_behind_controls(self):
        """Bytes that a terminal does not show end a word, and hide nothing."""
        prefix, secret, kind = SECRETS["aws"]
        for before, after in ((r"a\0", r"\0b"), (r"\e]0;bash\a", ""), (r"\e]8;;http://x\e\\", r"\e]8;;\e\\"),
                              (r"\e]133;A\a", ""), ("a\u009b", ""), (r"a\e[1\x18", r"\e[0m"),
                              (r"a\e[32m", r"\e[0mb"), (r"\e]0;x ", r"\a")):
            for options in ((), ("--no-pty",), ("--keep-raw",)):
                for form in ("text", "json"):
                    run = self.terse("--redact", "--record", "--format", form, *options, "printf",
                                     before + prefix + secret + after + "\n")
                    self.assertNotIn(secret.encode(), run.out, (before, options))
                    self.assertEqual(run.out.count(kind.encode()) > 0, r"]0;x" not in before
                                     or form == "json", (before, options, run.out))
        self.assert_none_kept()

    def test_environment(self):
        env = {"A": "x", "TOKEN": "".join(SECRETS["github"][:2]), "DB_PASSWORD": SECRETS["url"][1],
               "B": "seen"}
        for options in ((), ("--no-pty",), ("--keep-raw", "--full")):
            for kind in ("socket", "pipe", "file"):
                run = self.terse("--redact", *options, "cat", "/proc/self/environ", kind=kind,
                                 env=env)
                self.assertIn(b"B=seen", run.out)
                for _, secret, _ in SECRETS.values():
                    self.assertNotIn(secret.encode(), run.out)
        self.assert_none_kept()

    def test_own_words(self):
        """Errors, the directory, the session."""
        prefix, secret, kind = SECRETS["aws"]
        where = os.path.join(self.work, prefix + secret)
        os.mkdir(where)
        runs = [self.terse("--redact", *args) for args in (
            ("DB_PASSWORD=" + secret, "npm", "test"), ("--cwd", where + "/nosuch", "true"),
            ("--nosuch=" + prefix + secret, "true"), (where, "x"),
            ("--format=json", "DB_PASSWORD=" + secret, "true"),
            ("--format=json", "--cwd", where + "/nosuch", "true"),
            ("--format=json", "--cwd", where, "/nosuch/" + prefix + secret))]
        runs.append(self.terse("--cwd", where + "/nosuch", "--redact", "--format=json", "true"))
        runs += [self.terse("--redact", "--cwd", where, "--format", form, "--session",
                            "s-" + prefix + secret, "seq", "9000") for form in ("text", "json")]
        for run in runs:
            self.assertTrue(run.out)
            self.assertNotIn(secret.encode(), run.out)
        self.assertIn(b"cwd: %s[redacted: %s]/nosuch: No such" % (
            os.path.join(self.work, prefix).encode(), kind.encode()), runs[1].out)
        env = {"TERSE_REDACT": "yes"}
        run = self.terse("list", "--session", "s-" + prefix + secret, env=env, kind="socket")
        self.assertEqual(run.out.count(b"seq 9000"), 2, run.out)
        for verb in (("list", "--all"), ("list", "--all", "--json"), ("session",)):
            self.assertNotIn(secret.encode(), self.terse(*verb).out)
        self.assert_none_kept()
        for top, names, _ in os.walk(self.store):
            self.assertFalse([name for name in names if secret in name])

    def test_live(self):
        """An unfinished secret is not in what a reader sees meanwhile; a prompt is."""
        go = os.path.join(self.work, "go")
        os.mkfifo(go)
        prefix, secret, kind = SECRETS["aws"]
        run = self.start(TERSE, "--redact", "sh", "-c",
                         "echo first; printf 'Name: %s%s'; read x <%s; echo '%s'; exit 3"
                         % (prefix, secret[:9], go, secret[9:]))
        run.until(rb"first\n")
        let_go_on(go)
        run.finish()
        self.assertEqual(run.out.decode(), "first\nName: %s[redacted: %s]\n" % (prefix, kind))

    def test_own_patterns(self):
        run = self.terse("--redact-pattern", r"pin=\K\d+", "--redact-pattern", "(?i)geheim",
                         "echo", "pin=1234 GEHEIM", "".join(SECRETS["aws"][:2]))
        self.assertEqual(run.out.decode(), "pin=[redacted] [redacted] AKIAIOSFODNN7EXAMPLE\n")
        # A \b in a quotation or a class is none of a word's edges.
        run = self.terse("--redact-pattern", r"\Qcorp\bob\E", "--redact-pattern", r"[[:digit:]\b]{4}",
                         "printf", "%s", r"corp\bob ((((1234")
        self.assertEqual(run.out, b"[redacted] (((([redacted]")
        run = self.terse("--redact-pattern", "a(", "true")
        self.assertEqual((run.code, run.out),
                         (125, b"terse: --redact-pattern: a(: not a regular expression\n"))

    def test_status(self):
        self.assertEqual(self.terse("--redact", "sh", "-c", "exit 7").code, 7)
        self.assertEqual(self.terse("--redact", "no-such-command").code, 127)


if __name__ == "__main__":
    main()
