#!/usr/bin/env -S python3 -B
"""Terminal queries that programs wait for are answered while they read raw; modes that a command
sets do not disturb its text."""

import os
import subprocess

from support.harness import Case, DEADLINE, main, read_file, write_file

# Sends a query in some parts and prints what comes back.
ASK = r"""
import os, select, sys, termios, tty
raw = sys.argv[1] == "raw"
saved = termios.tcgetattr(1)
if raw:
    tty.setraw(1)
for part in sys.argv[2:]:
    os.write(1, part.encode().decode("unicode_escape").encode("latin-1"))
answer = b""
# An answer ends with a letter or a string terminator; the last query of all is answered.
while not (answer.endswith((b"c", b"n", b"R", b"y", b"t")) or answer.endswith(b"\x1b\\")):
    if not select.select([0], [], [], 20 if raw else 0)[0]:
        break
    answer += os.read(0, 1000)
termios.tcsetattr(1, termios.TCSANOW, saved)
print(ascii(answer.decode("latin-1")))
"""


class Queries(Case):
    def ask(self, *parts, mode="raw"):
        write_file(os.path.join(self.work, "ask.py"), ASK)
        run = self.terse("--tty", "python3", "ask.py", mode, *parts)
        self.assertEqual(run.code, 0, run.out)
        return run.out.decode().strip()

    def test_each(self):
        for query, answer in ((r"\e[c", r"'\\x1b\[\?[\d;]+c'"), (r"\e[0c", r"'\\x1b\[\?[\d;]+c'"),
                              (r"\e[>c", r"'\\x1b\[>\d+;\d+;\d+c'"),
                              (r"\e[5n", r"'\\x1b\[0n'"), (r"\e[6n", r"'\\x1b\[1;1R'"),
                              (r"ab\r\n\e[6n", r"ab\s+'\\x1b\[2;1R'"),
                              (r"\e[?2026$p", r"'\\x1b\[\?2026;[0-4]\$y'"),
                              (r"\e[18t", r"'\\x1b\[8;50;160t'"),
                              (r"\e[>q", r"'\\x1bP>\|terse.*\\x1b\\\\'")):
            with self.subTest(query=query):
                out = self.ask(query.replace(r"\e", r"\x1b"))
                self.assertRegex(out, r"\A%s\Z" % answer)

    def test_split_between_writes(self):
        self.assertEqual(self.ask("\\x1b", "[", "5", "n"), r"'\x1b[0n'")

    def test_unanswered_one_before_device_attributes(self):
        self.assertRegex(self.ask(r"\x1b]11;?\x07\x1b[?u\x1b[c"), r"\A'\\x1b\[\?[\d;]+c'\Z")

    def test_several_at_once(self):
        out = self.ask(r"\x1b[5n\x1b[6n\x1b[c")
        self.assertRegex(out, r"\A'\\x1b\[0n\\x1b\[1;1R\\x1b\[\?[\d;]+c'\Z")

    def test_not_while_lines_are_edited(self):
        """An answer would be echoed, and be read as typed."""
        out = self.ask(r"\x1b[c\x1b[6n", mode="cooked")
        self.assertEqual(out, "''")

    def test_without_a_pty(self):
        run = self.terse("--no-pty", "printf", r"\033[5nx\n")
        self.assertEqual(run.out, b"x\n")


class Modes(Case):
    def test_set_by_the_command(self):
        for mode in ("sane", "raw", "-opost", "opost onlcr", "cbreak", "-onlcr",
                     "raw <&1; stty sane"):
            for options in ((), ("--tty",)):
                script = "echo before; stty %s <&1; echo after; seq 3" % mode
                run = self.terse(*options, "sh", "-c", script)
                text = b"".join(l.strip() + b"\n" for l in run.out.splitlines())
                self.assertEqual(text, b"before\nafter\n1\n2\n3\n", (mode, options))

    def test_output_bytes_are_not_changed(self):
        """Without a person OPOST is off, and nothing is echoed."""
        run = self.terse("--profile", "default", "sh", "-c",
                         "stty -a <&2 | tr ' ;' '\\n\\n' | grep -xe -opost -e -echo -e iutf8")
        self.assertEqual(sorted(run.out.split()), [b"-echo", b"-opost", b"iutf8"])

    def test_size_is_never_zero(self):
        """Programs misbehave on a terminal of 0 by 0, the size of a new pty."""
        master, slave = os.openpty()
        done = subprocess.run(["setsid", "-c", "terse", "sh", "-c", "stty size >size"],
                              env=self.env(), cwd=self.work, stdin=slave, stdout=slave,
                              stderr=slave, timeout=DEADLINE, check=False)
        os.close(master)
        os.close(slave)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(read_file(os.path.join(self.work, "size")), b"50 160\n")


if __name__ == "__main__":
    main()
