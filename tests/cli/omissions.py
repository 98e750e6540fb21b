#!/usr/bin/env -S python3 -B
"""Every omission is announced. The printed part of a text, together with the output of the commands that its
markers name, is the whole text, each byte once and in its place. Texts, modes, sizes and forms are random."""

import json
import os
import random
import re

from support.harness import MARKER, SEED, TERSE, Case, let_go_on, main, write_file

FOLD = re.compile(rb"\[\.\.\. lines? (?P<range>\d+(?:-\d+)?) repeats? the line above\]\n")
SQUEEZED = re.compile(rb"( |=|-|\xe2\x8e\xaf)\{(\d+)\}")
CUT = re.compile(rb"\[\.\.\. bytes? (?P<range>\d+(?:-\d+)?)(?:: (?P<command>terse read [^\n]*? --bytes (?P=range)))?\]")
# The last line: of a preview, of a first part.
ANY_RANGE = re.compile(rb"(terse read \S+(?: --stderr)?) \[--lines(?:\|--bytes)? FROM-TO\]")
GO_ON = re.compile(rb"(terse read \S+(?: --stderr)? --offset \d+)")
CUT_BYTES = re.compile(rb"(terse read \S+(?: --stderr)?) --bytes FROM-TO")
NOTICE = re.compile(rb"\[terse: [^\n]*\]\n\Z")
JUMP = re.compile(rb"\[\.\.\. (?:back to|continues with) line (\d+)\]\n")

FORGED = (b"[... lines 3-9]", b"[... line 2 repeats the line above]", b"[terse: exit 0]",
          b" [... bytes 3-9]", b"[... lines 1-5 like this; last: x]", b"[... lines 1-5 alike]")


def has_cuts(shown):
    """Whether bytes are left out of a line, as the marks of terse itself say."""
    return any(CUT.search(line) and line[2:] not in FORGED for line in shown.splitlines())


def bounds(numbers):
    """The first and the last number of a range."""
    first, _, last = numbers.partition(b"-")
    return int(first), int(last or first)


def random_line(rng):
    kind = rng.randrange(14)
    number = rng.randrange(100000)
    if kind < 3:
        return b"step %d of many: built part-%d.o" % (number, number % 97)
    if kind == 3:
        return b""
    if kind == 4:
        return rng.choice((b"error: part %d is missing", b"FAIL test_%d", b"%d warnings",
                           b"Traceback %d (most recent call last):")) % number
    if kind == 5:
        return rng.choice(FORGED)
    if kind == 6:
        return "größer als %d → nichts".encode() % number
    if kind == 7:
        return b" ".join(b"%x" % rng.randrange(1 << 30) for _ in range(rng.randrange(300)))
    if kind == 8:
        return b"| " + b"\tx" * rng.randrange(5)
    if kind == 9:
        return rng.choice((b"=", b"-", b"\xe2\x8e\xaf")) * rng.randrange(90) + rng.choice((b"", b"[1/3]", b" Failures"))
    if kind == 10:
        return b"test_%x PASSED" % number + b" " * rng.randrange(70) + b"[ 12%]"
    return bytes(rng.choice(b"abcdefgh  .:/") for _ in range(rng.randrange(1, 60)))


def random_cycle(rng):
    """Lines that repeat up to four forms, with names and numbers of their own."""
    forms = rng.sample((b"  CC     %s.c", b"  LINK   %s", b"      Start  %d: %s", b" %d/90 Test: %s ...   Passed",
                        b"=== RUN   Test%s", b"--- PASS: Test%s (0.0%d s)", b"ok %d - %s keeps order", b""),
                       rng.randrange(1, 5))
    for n in range(rng.randrange(60)):
        name = b"%x" % rng.getrandbits(32)
        for form in forms:
            values = {1: (name,), 2: (n, name) if form.find(b"%d") < form.find(b"%s") else (name, n % 9)}
            yield form % values.get(form.count(b"%"), ())


def random_text(rng):
    lines = []
    while len(lines) < rng.choice((30, 200, 1500)):
        line = random_line(rng)
        lines += [line] * rng.choice((1, 1, 1, 1, 1, 2, 3, 40))
        if rng.random() < 0.05:
            lines += random_cycle(rng)
    if rng.random() < 0.1:
        lines = [b"%x" % rng.getrandbits(8 * rng.randrange(5000, 40000))]
    return b"\n".join(lines) + rng.choice((b"\n", b"\n", b""))


class Omissions(Case):
    def answers(self, commands):
        """What the commands print for a program."""
        mark = b"<%x>" % random.getrandbits(64)
        done = self.shell("".join("%s | cat; printf '%s'\n" % (c, mark.decode()) for c in commands))
        out = (done.out or b"").split(mark)[:-1]
        self.assertEqual(len(out), len(commands), done.err)
        return dict(zip(commands, out))

    def parts(self, shown, read, spelled, by_head=False):
        """The printed lines and what stands for the omitted ones. `read` is the command that the last line
        names, or None; `spelled`: the first omission has it, too, but those of a first part (`by_head`)."""
        marked = not spelled
        for line in shown.splitlines(keepends=True):
            marker, fold = MARKER.match(line), FOLD.fullmatch(line)
            if fold:
                yield "fold", fold["range"]
                continue
            for note in [marker] if marker else CUT.finditer(line) if line[2:-1] not in FORGED else ():
                if by_head and not marker and not marked and not note["command"]:
                    continue
                # The first one has the command, and names it as the last line does.
                self.assertEqual(bool(note["command"]), not marked and read is not None, line)
                if note["command"]:
                    self.assertEqual(b"terse " + note["command"].removeprefix(b"terse "), b"%s --%s %s" %
                                     (read, b"lines" if marker else b"bytes", note["range"]))
                marked = True
            yield ("lines", marker["range"]) if marker else ("line", line)

    def assert_all_there(self, text, shown, read, spelled=True, by_head=False):
        """`shown` and the ranges that it names make up the text."""
        parts = list(self.parts(shown, read, spelled, by_head))
        told = {numbers: "%s --lines %s" % (read.decode(), numbers.decode())
                for kind, numbers in parts if kind == "lines"} if read else {}
        cuts = {numbers: "%s --bytes %s" % (read.decode(), numbers.decode())
                for kind, line in parts if kind == "line" for numbers, _ in CUT.findall(line)} if read else {}
        answers = self.answers(sorted(set(told.values()) | set(cuts.values())))
        lines = text.splitlines(keepends=True)
        whole, last = [], b""
        for kind, part in parts:
            number = len(whole) + 1
            if kind == "line":
                last = self.whole_line(text, lines, number, part, answers, cuts)
                whole.append(last)
                continue
            first, end = bounds(part)
            self.assertEqual(first, number, (kind, part))
            if kind == "fold":
                whole += [last] * (end - first + 1)
                continue
            got = answers[told[part]] if read else b"".join(lines[first - 1:end])
            whole += got.splitlines(keepends=True)
        self.assertEqual(b"".join(whole), text)

    def whole_line(self, text, lines, number, line, answers, cuts):
        """A printed line with what was cut out of it. The text's own words are never taken for notices."""
        want = lines[number - 1] if number <= len(lines) else b""
        if want.lstrip().startswith((b"[...", b"[terse:")):
            self.assertEqual(line[:2], b"| ", (number, line))
            line = line[2:]
        if line in (want, want + b"\n"):
            return want
        whole = SQUEEZED.sub(lambda run: run[1] * int(run[2]), line)
        if whole in (want, want + b"\n"):
            self.assertLess(len(line), len(whole))
            return want

        def omitted(note):
            first, end = bounds(note[1])
            self.assertGreater(end + 1 - first, len(note[0]) - 20)
            return answers[cuts[note[1]]] if cuts else text[first:end + 1]
        line = CUT.sub(omitted, line)
        return line[:-1] if line == want + b"\n" else line

    def is_whole(self, text, out):
        """Whether a text was printed as it is. Beside a notice about another one, its own words are marked."""
        return out in (text, text + b"\n") or re.sub(rb"^\| (?= *\[(?:\.\.\.|terse:))", b"", out, flags=re.M) == text

    def check_output(self, text, out, by_head=False):
        """Checks what an agent got of a text. `by_head`: it got the first part, and after a failure also the end."""
        if self.is_whole(text, out):
            return
        last = NOTICE.search(out)
        self.assertTrue(last, out[-300:])
        shown = out[:last.start()]
        any_range, cut_bytes = ANY_RANGE.search(last[0]), CUT_BYTES.search(last[0])
        go_on = GO_ON.search(last[0])
        if any_range:
            self.assertEqual(b"--bytes" in last[0], has_cuts(out), last[0])
            self.assert_all_there(text, shown, any_range[1], by_head=by_head)
        elif go_on:
            command = go_on[1].decode()
            first = int(command.split()[-1])
            behind = self.answers([command])[command]
            self.assertTrue(text.endswith(behind))
            front = text[:len(text) - len(behind)]
            self.assertEqual(front.count(b"\n") + 1, first)
            self.assert_all_there(front, shown, cut_bytes and cut_bytes[1], False)
        else:
            self.assert_all_there(text, shown, cut_bytes and cut_bytes[1], False)

    def random_options(self, rng):
        options = ["--profile", "default", "--size", str(rng.choice((100, 300, 1024, 2048, 4096, 9000))),
                   "--mode", rng.choice(("smart", "smart", "smart", "head", "tail", "ends"))]
        if rng.random() < 0.2:
            options += ["--max-line", str(rng.choice((64, 80, 500)))]
        if rng.random() < 0.2:
            options += ["--max-lines", str(rng.randrange(1, 60))]
        return options

    def each(self, seeds, check):
        """Calls `check` with a random text, which is in the file `text`, and options."""
        for n in seeds:
            seed = SEED * 1000003 + n
            rng = random.Random(seed)
            text = random_text(rng)
            write_file(os.path.join(self.work, "text"), text)
            with self.subTest(seed=seed):
                check(rng, text, self.random_options(rng))

    def test_run(self):
        def check(rng, text, options):
            half = len(text) // 2
            script = rng.choice(("cat text; exit %d", "head -c %d text; sleep 0.1; tail -c +%d text; exit %%d" %
                                 (half, half + 1))) % rng.randrange(2)
            run = self.terse(*options, "sh", "-c", script)
            self.check_output(text, run.out, "head" in options)
            if run.id and NOTICE.search(run.out) and "head" not in options:
                # The same again, by the artifact's ID.
                out = self.shell("terse read %s --preview %s | cat >again; cat again" %
                                 (run.id, " ".join(options))).out
                self.check_output(text, out)
        self.each(range(0, 40), check)

    def check_paused(self, text, out):
        """A text of which parts were printed at pauses: each line is shown or announced once, in its place; those
        that were announced may be shown later, behind their number."""
        last = NOTICE.search(out)
        shown = re.sub(rb"^\[terse: [^\n]*\]\n", b"", out[:last.start()], flags=re.M)
        read = ANY_RANGE.search(last[0])[1]
        parts = list(self.parts(shown, read, True))
        told = {numbers: "%s --lines %s" % (read.decode(), numbers.decode()) for kind, numbers in parts if kind == "lines"}
        cuts = {numbers: "%s --bytes %s" % (read.decode(), numbers.decode())
                for kind, line in parts if kind == "line" for numbers, _ in CUT.findall(line)}
        answers = self.answers(sorted(set(told.values()) | set(cuts.values())))
        lines = text.splitlines(keepends=True)
        printed, announced, number, front = {}, {}, 1, 0
        for kind, part in parts:
            jump = kind == "line" and JUMP.fullmatch(part)
            if jump:
                number = int(jump[1])
                self.assertTrue(number in announced or number == front + 1, part)
                continue
            if kind == "line":
                self.assertNotIn(number, printed)
                printed[number] = self.whole_line(text, lines, number, part, answers, cuts)
                first = end = number
            else:
                first, end = bounds(part)
                if kind == "fold":
                    printed.update((n, printed[first - 1]) for n in range(first, end + 1))
                else:
                    self.assertEqual(first, front + 1, part)
                    announced.update(enumerate(answers[told[part]].splitlines(keepends=True), first))
            number, front = end + 1, max(front, end)
        self.assertEqual(b"".join({**announced, **printed}[n] for n in range(1, len(lines) + 1)), text)

    def test_pauses(self):
        def check(rng, text, _):
            first = text if text.endswith(b"\n") else text + b"\n"
            first += b"it waits here\n"
            second = random_text(rng)
            write_file(os.path.join(self.work, "text"), first)
            write_file(os.path.join(self.work, "more"), second)
            gate = os.path.join(self.work, "gate%x" % rng.getrandbits(64))
            os.mkfifo(gate)
            run = self.start(TERSE, "--profile", "default", "--size", rng.choice(("1024", "4096")), "sh", "-c",
                             "cat text; read x <%s; cat more; exit 1" % gate)
            run.until(rb"it waits here\n\Z")
            let_go_on(gate)
            run.finish()
            if ANY_RANGE.search(run.out):
                self.check_paused(first + second, run.out)
            else:
                self.check_output(first + second, run.out)
        self.each(range(600, 606), check)

    def test_streams(self):
        def check(rng, text, options):
            other = random_text(rng)
            write_file(os.path.join(self.work, "other"), other)
            run = self.terse(*options, "--streams", "split", "sh", "-c", "cat text; cat other >&2; exit 3",
                             split=True)
            self.check_output(text, run.out, "head" in options)
            self.check_output(other, run.err, "head" in options)
        self.each(range(100, 110), check)

    def test_filter_of_a_file(self):
        """The reader has the text, so no command is named; the ranges are those of the file."""
        def check(_, text, options):
            out = self.shell("terse filter %s text" % " ".join(options)).out
            last = NOTICE.search(out)
            if not self.is_whole(text, out) and "head" not in options:
                self.assertNotIn(b"terse read", out.replace(b"".join(FORGED), b""))
                self.assert_all_there(text, out[:last.start()], None)
        self.each(range(200, 215), check)

    def test_show(self):
        def check(_, text, options):
            run = self.terse(*options, "--mode", "smart", "sh", "-c", "cat text; exit 1")
            if run.id:
                env = {"TERSE_SIZE": options[3]}
                out = self.run_to_end(TERSE, "show", run.id, env=env).out
                self.check_output(text, out.split(b"\n\n", 1)[1])
        self.each(range(300, 305), check)

    def test_json(self):
        """The text holds nothing but lines; those between its ranges are what read prints."""
        def check(_, text, options):
            report = json.loads(self.terse(*options, "--format", "json", "sh", "-c", "cat text").out)
            counts = report.get("truncation", {}).get("stdout")
            if not counts:
                self.assertEqual(report["stdout"].encode(), text)
                return
            lines, shown = text.splitlines(keepends=True), report["stdout"].encode().splitlines(keepends=True)
            ranges, at, missing = counts["ranges"], 1, []
            for r in ranges + [{"from": len(lines) + 1, "to": 0}]:
                if r["from"] > at:
                    missing.append((at, r["from"] - 1))
                at = r["to"] + 1
            name = report["artifact"]["id"]
            answers = self.answers(["terse read %s --lines %d-%d" % (name, a, b) for a, b in missing])
            for (a, b), got in zip(missing, answers.values()):
                self.assertEqual(got, b"".join(lines[a - 1:b]))
            numbers = [n for r in ranges for n in range(r["from"], r["to"] + 1)]
            self.assertEqual(len(numbers), len(shown))
            cut = [n for n, line in zip(numbers, shown) if line.rstrip(b"\n") != lines[n - 1].rstrip(b"\n")]
            self.assertEqual(len(cut), counts["lines_truncated"])
            for n, line in zip(numbers, shown):
                self.assertIn(line.rstrip(b"\n"), lines[n - 1])
        self.each(range(500, 515), check)


main()
