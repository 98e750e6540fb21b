#!/usr/bin/env -S python3 -B
"""The screen of a live or recorded run as a picture: what is there, in its colours, and nothing that
a command prints as anything but text."""

import os
import xml.dom.minidom

from support.harness import Case, eventually, main, read_file

PAINT = (r"printf 'plain \033[1;31mbold red\033[0m \033[42mgreen\033[m \033[7mturned\033[27m "
         r"\033[4;38;5;208mline\033[m\n\033[38;2;1;2;3m<&>\"\033[m \302\200\377 \n\n'; ")


class Pictures(Case):
    def texts(self, svg):
        """[(text, x, y, color)...], and [(x, y, width, color)...] of the areas."""
        root = xml.dom.minidom.parseString(svg).documentElement
        texts = [(node.firstChild.data, int(node.getAttribute("x")), int(node.getAttribute("y")),
                  node.getAttribute("fill")) for node in root.getElementsByTagName("text")]
        areas = [(int(node.getAttribute("x")), int(node.getAttribute("y")), int(node.getAttribute("width")),
                  node.getAttribute("fill")) for node in root.getElementsByTagName("rect")[1:]]
        self.assertEqual({node.tagName for node in root.childNodes if node.nodeType == 1}, {"rect", "text"})
        return texts, areas

    def test_recorded(self):
        self.terse("--record", "--spill", "always", "--tty", "--cols", "60", PAINT)
        path = os.path.join(self.work, "screen.svg")
        self.assertEqual(self.terse("snapshot", "last", "--svg", path).code, 0)
        texts, areas = self.texts(read_file(path))
        self.assertEqual(texts[:6], [
            ("plain", 8, 21, "#d8dee4"), ("bold red", 56, 21, "#cd3131"), ("green", 128, 21, "#d8dee4"),
            ("turned", 176, 21, "#16191d"), ("line", 232, 21, "#ff8700"), ("<&>\"", 8, 38, "#010203")])
        self.assertEqual(areas, [(128, 8, 40, "#0dbc79"), (176, 8, 48, "#d8dee4")])
        self.assertIn(b'font-weight="bold">bold red<', read_file(path))
        self.assertEqual(self.shell("terse snapshot last --svg - | cat").out, read_file(path))

    def test_full_screen(self):
        self.terse("--record", "--spill", "always", "--tty", "--cols", "40",
                   r"printf '\033[?1049h\033[2J\033[5;10H\033[44m\344\270\255x\033[m\033[10;1Hend'")
        texts, areas = self.texts(self.shell("terse snapshot last --svg - | cat").out)
        self.assertEqual(texts, [("\u4e2dx", 80, 89, "#d8dee4"), ("end", 8, 174, "#d8dee4")])
        self.assertEqual(areas, [(80, 76, 24, "#2472c8")])

    def test_live(self):
        for options in (("--record", "--no-tty"), ("--no-record",), ("--no-record", "--tty")):
            run = self.terse("--detach", *options, "--", "sh", "-c", r"printf '\033[31mred\033[m\n'; exec sleep 300")
            name = self.ask("list", "--limit", "1", "--json").decode().split('"id":"')[1].split('"')[0]
            self.terse("await", name, "--for", "red")
            texts, _ = self.texts(self.shell("terse snapshot %s --svg - | cat" % name).out)
            self.assertEqual(texts, [("red", 8, 21, "#cd3131")], run.out)
            self.terse("signal", name)
            self.terse("await", name)

    def test_live_as_recorded(self):
        """Every style, and a program that fills the screen: as the same run's recording has it."""
        for script, color in (
                (PAINT + r"printf '\033[3;9;2;93;104mall\033[m \033[38;5;9;48;5;200mp\033[m\033[48;2;9;8;7m \033[m'", b"#090807"),
                (r"printf 'before\033[?1049h\033[2J\033[5;10H\033[44m\344\270\255x\033[m\033[10;70H.\r'", b"#2472c8")):
            self.terse("--detach", "--tty", "--record", "--cols", "70", "--", "sh", "-c",
                       script + "; touch shown; exec sleep 300")
            name = self.ask("list", "--limit", "1", "--json").decode().split('"id":"')[1].split('"')[0]
            shown = os.path.join(self.work, "shown")
            eventually(lambda: os.path.exists(shown), "what is printed")
            os.unlink(shown)
            draw = "terse %s %s --svg - | cat"
            eventually(lambda: color in self.shell(draw % ("snapshot", name)).out, "what is drawn")
            live = self.shell(draw % ("snapshot", name)).out
            self.terse("signal", name)
            self.terse("await", name)
            self.assertEqual(self.shell(draw % ("snapshot", name)).out, live)

    def test_many_styles(self):
        """Those for which there is no room have none."""
        self.terse("--record", "--spill", "always", "--tty",
                   r"for i in $(seq 0 255); do printf '\033[38;5;%dm%d\033[m ' $i $i; done")
        texts, _ = self.texts(self.shell("terse snapshot last --svg - | cat").out)
        self.assertEqual("".join(text for text, *_ in texts).replace(" ", ""), "".join(map(str, range(256))))

    def test_errors(self):
        self.terse("--spill", "always", "true")
        run = self.terse("snapshot", "last", "--svg", "x")
        self.assertEqual(run.code, 1)
        self.assertIn(b"has ended, and was not recorded with --record (terse read cmd-", run.out)
        self.terse("--record", "--spill", "always", "echo", "hello")
        run = self.terse("snapshot", "last", "--svg", "/nosuch/x")
        self.assertEqual((run.code, run.out), (1, b"terse snapshot: /nosuch/x: No such file or directory\n"))
        self.assertEqual(self.terse("snapshot", "last", "--svg", "x", "--json").code, 125)


if __name__ == "__main__":
    main()
