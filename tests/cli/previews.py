#!/usr/bin/env -S python3 -B
"""The previews of real runs. The preview of a failed run contains the cause, wherever it was in the output.
The preview of a successful run contains the results, and no line is presented as an error.

Tools that the tests may not need were run elsewhere: their output is in tests/preview, each NAME.log
with what its preview has to show (NAME.labels) and the exit status (NAME.exit). It was recorded with
script(1), and has nothing changed but paths."""

import os
import re
import resource
import shutil
import subprocess

from support.harness import (BUDGET, FAILURE_BUDGET, MARKER, SOURCE, TERSE, Case, main, put_forward, read_file,
                             write_file)

RECORDED = os.path.join(SOURCE, "tests", "preview")

# Words that mark an error.
FALSE_ALARM = re.compile("error|fail|fatal|panic|abort", re.I)


def alarms_in(shown):
    """Returns the lines that a preview prefers and that look like an error."""
    lines = put_forward(shown.decode("utf-8", "replace"))
    return [line for line in lines if FALSE_ALARM.search(line)]


C_TEST = """
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_no_error(void **state) { (void)state; assert_int_equal(1 + 1, 2); }
static void test_sum(void **state) { (void)state; assert_int_equal(20 + 2, SUM); }

int main(void)
{
	struct CMUnitTest tests[100];

	for (size_t i = 0; i < 100; i++)
		tests[i] = (struct CMUnitTest){i %% 3 ? "fails_on_error" : "keeps_failed", test_no_error,
					       NULL, NULL, NULL};
	tests[47] = (struct CMUnitTest)cmocka_unit_test(test_sum);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
"""

PY_TEST = """
import unittest

class ErrorTest(unittest.TestCase):
    pass

for number in range(100):
    setattr(ErrorTest, "test_failure_%d" % number, lambda self: self.assertTrue(True))
unittest.main(verbosity=2)
"""

LOADER = """
import atexit, json, sys

def load(text):
    return json.loads(text)

def close(number):
    print("connection %d closed after 0 errors" % number)

print("loading", flush=True)
for number in range(150):
    print("table_%d: %d rows, 0 failed" % (number, number * 7 % 23))
    atexit.register(close, number)
load('{"name": }')
"""

CRASH = """
#include <stdio.h>

struct node { int value; struct node *next; };

static int last(const struct node *n)
{
	return n->next->value;
}

int main(void)
{
	static struct node one = {1, NULL};

	for (int i = 0; i < 200; i++)
		printf("step %d done, no errors\\n", i);
	fflush(stdout);
	return last(&one);
}
"""


class RealRuns(Case):
    def write(self, name, text):
        return write_file(os.path.join(self.work, name), text)

    def preview(self, *command, codes=(1, 2)):
        """The output that an agent gets in the room of a success, which has to be a preview."""
        run = self.terse("--session", "previews", "--size", "4KB", *command)
        self.assertIn(run.code, codes, run.out[-500:])
        self.assertIn(b"[terse: exit %d after " % run.code, run.out)
        # A run that pauses gets half more.
        self.assertLessEqual(run.out.index(b"[terse: exit "), FAILURE_BUDGET * 3 // 2)
        return run.out

    def assert_shows(self, shown, *texts):
        for text in texts:
            self.assertIn(text, shown, shown.decode(errors="replace"))

    def write_makefile(self, flags, bad=None):
        """40 small C files of a program, of which one may be bad."""
        names = ["error_handler_%02d" % number for number in range(40)]
        for name in names:
            self.write(name + ".c", "int %s(void) { return 1; }\n" % name)
        if bad is not None:
            self.write(names[20] + ".c", bad)
        self.write("main.c", "int error_handler_39(void);\n"
                   "int main(void) { return error_handler_39() - 1; }\n")
        objects = " ".join(name + ".o" for name in names + ["main"])
        self.write("Makefile", "CC = gcc\nCFLAGS = -std=c17 -O0 -Wall -Wextra -Werror "
                   "-Wno-error=unused %s\n"
                   "program: %s\n\t$(CC) -o $@ $^\n\t@echo 'built program: 0 errors'\n"
                   % (flags, objects))


class Failures(RealRuns):
    def test_compiler(self):
        """gcc, in the middle of what make -j goes on with."""
        self.write_makefile("", "int f(void)\n{\n\treturn missing_count + 1;\n}\n")
        shown = self.preview("make", "-j4", "-k")
        self.assert_shows(shown, "error: ‘missing_count’ undeclared".encode(),
                          b"return missing_count + 1;", b"error_handler_20.o] Error 1")

    def test_warning_as_error(self):
        """make -j that stops soon: the warning that -Werror made an error of."""
        self.write_makefile("", "int error_handler_20(int a) { int unused; return a; }\n")
        shown = self.preview("make", "-j2", "CFLAGS=-std=c17 -Wall -Wextra -Werror "
                             + "-DLONG_LINES=1 " * 24)
        self.assert_shows(shown, b"error_handler_20.c:1:", b"[-Werror=unused-variable]")

    def test_linker(self):
        self.write_makefile("", "int not_there(void);\n"
                            "int error_handler_20(void) { return not_there(); }\n")
        shown = self.preview("make", "-j4")
        self.assert_shows(shown, b"undefined reference to `not_there'",
                          b"collect2: error: ld returned 1 exit status")

    def test_cmocka(self):
        self.write("t.c", C_TEST.replace("%%", "%"))
        subprocess.run(["gcc", "-DSUM=23", "-o", "t", "t.c", "-lcmocka"], cwd=self.work, check=True)
        shown = self.preview("./t")
        self.assert_shows(shown, b"[  ERROR   ] --- 0x16 != 0x17", b"t.c:9: error: Failure!",
                          b"[  FAILED  ] test_sum", b"1 FAILED TEST(S)")

    def test_traceback(self):
        """Python, with much printed while it ends."""
        self.write("load.py", LOADER)
        shown = self.preview("python3", "-u", "load.py")
        self.assert_shows(shown, b"Traceback (most recent call last):", b'load.py", line 5, in load',
                          b"json.decoder.JSONDecodeError: Expecting value: line 1 column 10")

    def test_unittest(self):
        self.write("t.py", PY_TEST.replace("unittest.main", """
def test_total(self):
    self.assertEqual(sum([1, 2]), 4)
ErrorTest.test_failure_51 = test_total
unittest.main"""))
        shown = self.preview("python3", "t.py")
        self.assert_shows(shown, b"FAIL: test_total" if b"FAIL: test_total" in shown
                          else b"FAIL: test_failure_51", b"AssertionError: 3 != 4",
                          b"FAILED (failures=1)")

    def test_traced_shell_script(self):
        """set -x, with a clean-up behind what failed."""
        self.write("build.sh", "set -ex\ntrap 'for i in $(seq 120); do rm -f out/error_$i.log; done'"
                   " EXIT\nmkdir out\nfor i in $(seq 120); do echo 0 errors >out/error_$i.log; done\n"
                   "cp config.in out/config\necho done\n")
        shown = self.preview("sh", "build.sh")
        self.assert_shows(shown, b"cp: cannot stat 'config.in': No such file or directory",
                          b"+ cp config.in out/config")

    def test_sanitizer(self):
        """A null pointer under AddressSanitizer, in a script that goes on."""
        self.write("crash.c", CRASH)
        subprocess.run(["gcc", "-g", "-fsanitize=address", "-o", "crash", "crash.c"], cwd=self.work,
                       check=True)
        shown = self.preview("sh", "-c", "./crash || code=$?; for i in $(seq 200); do "
                             "echo removing temporary file $i; done; exit $code")
        self.assert_shows(shown, b"ERROR: AddressSanitizer: SEGV on unknown address", b" in last ",
                          b"crash.c:8")

    def test_package_manager(self):
        """apt-get, in the middle of what a provisioning script lists."""
        self.write("provision.sh", "dpkg-query -W | head -n 150\n"
                   "apt-get -s -q install no-such-package-of-ours || code=$?\n"
                   "dpkg-query -W | tail -n 150\nexit $code\n")
        shown = self.preview("sh", "provision.sh", codes=(100,))
        self.assert_shows(shown, b"E: Unable to locate package no-such-package-of-ours")

    def test_missing_program(self):
        self.write("ci.sh", "for i in $(seq 150); do echo \"[$i/150] generated table_$i.c\"; done\n"
                   "protocol-compiler-of-ours --out gen api.proto\n"
                   "for i in $(seq 150); do echo \"[$i/150] copied table_$i.c\"; done\nexit 1\n")
        shown = self.preview("bash", "ci.sh")
        self.assert_shows(shown, b"ci.sh: line 2: protocol-compiler-of-ours: command not found")


class Successes(RealRuns):
    def assert_calm(self, shown, *results):
        self.assert_shows(shown, *results)
        self.assertEqual(alarms_in(shown), [], shown.decode(errors="replace"))

    def test_make(self):
        self.write_makefile("-DFAIL_ON_ERROR=0")
        self.assert_calm(self.preview("make", "-j4", codes=(0,)), b"built program: 0 errors")

    def test_cmocka(self):
        self.write("t.c", C_TEST.replace("%%", "%"))
        subprocess.run(["gcc", "-DSUM=22", "-o", "t", "t.c", "-lcmocka"], cwd=self.work, check=True)
        self.assert_calm(self.preview("./t", codes=(0,)), b"[  PASSED  ] 100 test(s).")

    def test_unittest(self):
        self.write("t.py", PY_TEST)
        self.assert_calm(self.preview("python3", "t.py", codes=(0,)), b"Ran 100 tests in ", b"\nOK\n")

    def test_traced_shell_script(self):
        self.write("check.sh", "set -x\nfor i in $(seq 300); do test ! -e error_$i; done\n"
                   "set +x\necho '300 files checked, 0 errors'\n")
        self.assert_calm(self.preview("sh", "check.sh", codes=(0,)), b"300 files checked, 0 errors")

    def test_archive(self):
        for number in range(300):
            self.write("exception_%d_failed.log" % number, "")
        self.assert_calm(self.preview("sh", "-c", "tar -cvf all.tar *.log && echo wrote all.tar",
                                      codes=(0,)), b"wrote all.tar")


# Lines that say that something went well or goes on, and others.
FOLDED = ("test tests::part_%d ... ok", " \u2713 adds part %d 2ms", "tests/test_a.py::test_%d PASSED    [ 33%%]",
          "--- PASS: TestPart%d (0.00s)", "   Compiling part v1.0.%d", "[ 33%%] Building C object part%d.o",
          "  CC      build/part%d.o", "gcc -O2 -c -o part%d.o part.c", "ok %d - adds", "Setting up part%d (1.2) ...",
          "%d/90 Test #3: part ...........   Passed    0.01 sec", "[INFO] Downloading from central: part%d.pom",
          "test_error_%d (test_a.Test) ... ok")
NOT_FOLDED = ("part.c:%d: warning: unused variable", "test tests::part_%d ... FAILED", "part%d.o | 12 | 4.5 KB", "%d",
              "error: downloading part %d failed", "Loading part %d failed", "the value of part %d is 7",
              "[INFO] part %d", "2026-01-02 12:00:%02d request served", "/usr/lib/part%d",
              "ok %d - adds # TODO", "ok %d - adds # SKIP", "\u2713 adds part %d (1 failed)", "PASS part%d.js ... FAIL",
              "link %d is not OK", "suite %d: 3 of 4 passed", "checking for part%d.h... no", "Finding %d: an open port",
              "tests/test_a.py::test_%d SKIPPED [ 33%%]", "Crashing part %d")


class Folds(Case):
    def folded(self, form, *options):
        """The lines that are left out of 40 of that form, a failing line and 20 more; these, and the text."""
        text = "".join(form % n + "\n" if n != 41 else "error: no such part\n" for n in range(1, 62)).encode()
        run = self.terse(*options, "-c", "cat %s; exit 1" % write_file(os.path.join(self.work, "text"), text))
        self.assertIn(b"error: no such part\n", run.out)
        return run.out, [[int(m["from"]), int(m["to"])] for m in MARKER.finditer(run.out)], text

    def test_progress_is_folded_where_it_fits(self):
        for form in FOLDED:
            out, folds, text = self.folded(form, "--profile", "build")
            lines = text.split(b"\n")
            self.assertEqual([last for _, last in folds], [39, 60], (form, out))
            for (first, last), begins in zip(folds, (1, 42)):
                # Two of them, or what came before the eighth.
                self.assertIn(first - begins, range(2, 8), out)
                self.assertIn(b"\n".join(lines[begins - 1:first - 1]) + b"\n[... lines %d-%d alike" % (first, last), out)
                self.assertIn(b"]\n" + lines[last] + b"\n", out)
            read = self.ask("read", MARKER.search(out)["id"].decode(), "--lines", "%d-%d" % tuple(folds[0]))
            self.assertTrue(read.startswith(b"\n".join(lines[folds[0][0] - 1:folds[0][1]]) + b"\n"), read)

    def test_what_was_asked_for_is_not(self):
        for form in NOT_FOLDED:
            self.assertEqual(self.folded(form, "--profile", "build")[1], [], form)
        for options in (("--profile", "default"), ("--profile", "build", "--fold", "overflow"), ("--profile", "read")):
            self.assertEqual(self.folded(FOLDED[0], *options)[1], [], options)

    def test_the_last_of_a_fold_keeps_to_the_longest_line(self):
        text = b"".join(b"item %d of those that were worked on %s\n" % (n, b"x" * 50)
                        for n in range(3000))
        for size in (64, 80, 500):
            run = self.run_to_end(TERSE, "filter", "--size", "1KB", "--max-line", str(size),
                                  data=text)
            last = re.search(rb" like this.*; last: (.*)\]\n", run.out)[1]
            self.assertLessEqual(len(last), size)
            self.assertEqual(b"[... byte" in last, size < 90, last)


WORDS = [a + b for a in ("al", "be", "ca", "do", "ex", "fo") for b in ("ma", "no", "pi", "ru", "sto", "tu", "va", "we", "xi", "zo")]
PROGRESS = "".join("Compiling %s for %s\n" % (word, other) for word in WORDS for other in ("shop", "bank", "port"))

# Lines that tell nothing, each with other words.
PROSE = ["%s is %s of %s\n" % (word, other, word[::-1]) for other in WORDS[:3] for word in WORDS]

# What belongs together: a failure with PROGRESS above it and below it, and what has to be shown of it in 1.5 KB.
BLOCKS = (
    ("the place below a message that ends with a colon",
     "Error found:\nin module Main\nat /home/dev/orders/%s/Rates.purs:6:1 - 6:28 (line 6, column 1)\n\n" % ("long" * 30) +
     "".join("%s: no such part: %s\n" % (word, word * 40) for word in WORDS[:20]), ("Error found:", "Rates.purs:6:1 - 6:28")),
)


class Rules(Case):
    def shown(self, text, size):
        return self.run_to_end(TERSE, "filter", "--exit-code", "1", "--size", size, data=text.encode()).out.decode()

    def test_blocks(self):
        for name, failure, labels in BLOCKS:
            with self.subTest(name):
                out = self.shown(PROGRESS + failure + PROGRESS, "1500")
                for label in labels:
                    self.assertIn(label, out)

    def test_place_in_brackets(self):
        out = self.shown("".join(PROSE[:90]) + "Orders/Rates.cs(12,5): a semicolon belongs here\n" + "".join(PROSE[90:]), "1500")
        self.assertIn("Rates.cs(12,5): a semicolon", out)

    def test_frames_of_a_library(self):
        """None is shown without the user's own frame of its stack, although that is long."""
        frame, text = "    at %s (/home/dev/%s.js:5:5)\n", ""
        for n, word in enumerate(WORDS[:20]):
            libraries = [frame % (name + word, "node_modules/%s/%s" % (word, name)) for name in ("ka", "mo", "zu")]
            own = frame % ("check", "/".join(["orders/" + word] * 15))
            text += "".join(["the call of %s\n" % word] + libraries[:2] + [own] + libraries[2:] + PROSE[n * 9:n * 9 + 9])
        out = self.shown(text, "1500")
        stacks = set(re.findall("node_modules/([a-z]+)/", out))
        self.assertGreater(len(stacks), 1)
        self.assertEqual([word for word in stacks if "orders/" + word not in out], [], out)

    def test_message_of_a_stack(self):
        """It is shown with the user's own frame, although its words tell nothing."""
        text = ""
        for n, word in enumerate(WORDS[:3]):
            between = ["    with %s and %s beside %s\n" % (x, x * 3, x[::-1]) for x in WORDS[30:36]]
            own = "    at check (/home/dev/orders/%s.js:57:7)\n\n" % word
            text += "".join(["%s went another way\n" % word] + between + [own] + PROSE[n * 60:n * 60 + 60])
        out = self.shown(text, "1500")
        for word in WORDS[:3]:
            self.assertIn("orders/%s.js" % word, out)
            self.assertIn(word + " went another way", out)

    def test_no_neighbour_alone(self):
        """A line that tells only by what is beside it is not shown where that is left out."""
        text = "".join("error[E%d]: the type %s of this value is not the one that is asked for\nsee %s %s\nso much for %s\n"
                       % (n, word * (20 + n % 7 * 10), word, word[::-1], word) for n, word in enumerate(WORDS))
        out = self.shown(text, "2KB").split("\n")
        found = [n for n, line in enumerate(out) if line.startswith(("see ", "so much "))]
        alone = [out[n] for n in found[:-2] if n > 6 and out[n - 1].startswith("[... ") and out[n + 1].startswith("[... ")]
        self.assertEqual(alone, [], out)
        self.assertGreater(sum(line.startswith("error[") for line in out), 2)

    def test_what_fills_the_room(self):
        """First what is said once, however far from the failure it stands; then lines that begin like many others, which
        leave an eighth of the size. Lines of progress have no room."""
        notes = ["%s is the %s of today\n" % pair for pair in zip(WORDS, WORDS[5:15])]
        steps = PROGRESS.replace("Compiling", "Step")
        for lines, least, most in ((steps, 1500, 1843), (PROGRESS, 600, 1200)):
            out = self.shown(lines + "".join(notes) + lines + "error: no such part\n", "2KB")
            for note in notes:
                self.assertIn(note, out)
            self.assertIn(out.rindex("[terse: "), range(least, most))
        tests = ["=== RUN   Test%s\n--- PASS: Test%s (0.00s)\n" % (w, w) for w in WORDS + [w + "n" for w in WORDS]]
        failed = "=== RUN   TestSum\n    sum_test.go:8: got 3, want 4\n--- FAIL: TestSum (0.00s)\n"
        out = self.shown("".join(tests[:60]) + failed + "".join(tests[60:]) + "FAIL\nFAIL\tex/app\t0.01s\n", "4KB")
        self.assertIn(failed, out)
        self.assertLess(len(out), 2000, out)

    def test_success_ends_with_one_line_of_progress(self):
        text = "".join("=== RUN   Test%s\n--- PASS: Test%s (0.00s)\n" % (word, word) for word in WORDS)
        out = self.run_to_end(TERSE, "filter", "--fold", "overflow", "--size", "1KB", data=(text + "PASS\nok  \tex/app\t0.01s\n").encode()).out.decode()
        self.assertRegex(out, r"\n\[\.\.\. lines .*\]\nPASS\nok  \tex/app\t0\.01s\n\[terse: ")

    def test_no_caret_without_its_line(self):
        """It has its value by the message below it, which the line that it points into may be too long for."""
        text = "".join("    call_%s(%s);\n    ^\n%s.h:98:40: note: expanded from macro '%s'\nerror: %s\n%s" %
                       (word, word * 30, word, word.upper(), word, "".join(PROSE[n * 9:n * 9 + 9])) for n, word in enumerate(WORDS[:20]))
        for size in ("1KB", "2KB", "3KB"):
            out = self.shown(text, size)
            self.assertNotIn("]\n    ^\n", out)
            self.assertIn("expanded from macro", out)


class Budgets(Case):
    def test_a_large_one_is_filled_at_once(self):
        """Minutes if the way to the next line that is taken is searched anew for each."""
        text = b"x" * 3000000 + b"\n" + b"".join(b"%d\n" % n for n in range(200000))
        run = self.run_to_end(TERSE, "filter", "--size", "1MB", data=text,
                              before=lambda: resource.setrlimit(resource.RLIMIT_CPU, (15, 15)))
        self.assertIn(b"\n199999\n[terse: ", run.out)


class Recorded(Case):
    def preview(self, name):
        path = os.path.join(RECORDED, name)
        code = read_file(path + ".exit").decode().strip()
        with open(path + ".log", "rb") as log:
            done = subprocess.run([TERSE, "filter", "--size", "4KB", "--exit-code", code], stdin=log, env=self.env(),
                                  stdout=subprocess.PIPE, check=True)
        self.assertLessEqual(done.stdout.index(b"\n[terse: exit %s after " % code.encode()), BUDGET)
        for label in read_file(path + ".labels").splitlines():
            self.assertIn(label, done.stdout, done.stdout.decode())
        return int(code), done.stdout

    def test_all(self):
        names = sorted(name[:-4] for name in os.listdir(RECORDED) if name.endswith(".log"))
        codes, alarmed = [], 0
        for name in names:
            with self.subTest(name):
                code, shown = self.preview(name)
                codes.append(code)
                if code == 0:
                    self.assertEqual(alarms_in(shown), [], shown.decode())
                else:
                    alarmed += bool(alarms_in(shown))
        # So what is not found in successes is found where it is.
        self.assertGreaterEqual(alarmed, 3)
        self.assertGreaterEqual(sum(code != 0 for code in codes), 4)
        self.assertGreaterEqual(sum(code == 0 for code in codes), 5)


main()
