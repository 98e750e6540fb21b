#!/usr/bin/env -S python3 -B
"""A recorded run: the output with its times as an asciicast."""

import json
import os

from support.harness import Case, eventually, let_go_on, main, read_file, write_file
from support.screen import ScreenCase

SCRIPT = r"printf 'h\303\251llo\n'; read x <go; printf '\033[31mred\033[m\n'"


def cast(case, name="last"):
    path = case.ask("path", "--cast", name).rstrip()
    return [json.loads(line) for line in read_file(path).splitlines()]


class Recorded(Case):
    def record(self, *options):
        """A run whose two lines come one after the other."""
        os.mkfifo(os.path.join(self.work, "go"))
        run = self.start("terse", "--record", *options, "bash", "-c", SCRIPT)
        run.until("h\xe9llo\n".encode())
        let_go_on(os.path.join(self.work, "go"))
        self.assertEqual(run.finish().code, 0)
        return run

    def test_asciicast(self):
        run = self.record()
        self.assertEqual(run.out, "h\xe9llo\nred\n".encode())
        header, *events = cast(self)
        self.assertEqual((header["version"], header["width"], header["height"]), (2, 160, 50))
        self.assertEqual([e[1] for e in events], ["o"] * len(events))
        self.assertEqual("".join(e[2] for e in events), "h\xe9llo\r\n\033[31mred\033[m\r\n")
        self.assertEqual(sorted(e[0] for e in events), [e[0] for e in events])
        self.assertGreaterEqual(events[0][0], 0)

    def test_a_pipe_and_a_terminal(self):
        for options in (["--no-pty"], ["--tty"]):
            self.assertEqual(self.terse("--record", *options, "printf", r"a\nb\n").code, 0)
            self.assertEqual("".join(e[2] for e in cast(self)[1:]), "a\r\nb\r\n")

    def test_characters_in_pieces_and_invalid_ones(self):
        data = "x\u20ac\u4e2d\U0001f600".encode() * 3000 + b"\xff\xc3\n"
        write_file(os.path.join(self.work, "data"), data)
        self.terse("--record", "--pty", "dd", "bs=7", "status=none", "if=data")
        text = "".join(e[2] for e in cast(self)[1:])
        self.assertEqual(text, data.decode(errors="replace").replace("\n", "\r\n"))

    def test_new_lines_in_pieces(self):
        """A LF that the terminal took for a new line has one CR in front of it, wherever the pieces end."""
        data = b"a\nb\r\n\n" * 1000
        write_file(os.path.join(self.work, "data"), data)
        self.terse("--record", "--no-pty", "dd", "bs=3", "status=none", "if=data")
        text = "".join(e[2] for e in cast(self)[1:])
        self.assertEqual(text.encode(), data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))

    def test_a_long_command(self):
        self.terse("--record", "echo", "w" * 5000)
        self.assertEqual(cast(self)[0]["command"], ("echo " + "w" * 5000)[:1000])


class AtATerminal(ScreenCase):
    def test_sizes(self):
        run = self.terse("--detach", "--record", "--cols", "70", "--rows", "20", "sh", "-c",
                         "echo ready; read x")
        identifier = run.id or run.out.split(b"terse await ")[1].split(b";")[0].decode()
        self.ask("await", identifier, "--for", "ready")
        s = self.screen("terse", "attach", identifier, cols=90, rows=30)
        s.until(r"^ready$")
        s.keys("Enter")
        # Not by await, which may still see the question that was just answered.
        eventually(lambda: self.metadata(identifier)["state"] == "done", "the end")
        self.assertIn("90x30", [e[2] for e in cast(self, identifier)[1:] if e[1] == "r"])


if __name__ == "__main__":
    main()
