#!/usr/bin/env -S python3 -B
"""Which tests failed, now and before: random suites, as runners print them. What is told is right, or nothing is."""

import json
import os
import re

from support.harness import Case, main, random_source, write_file

PAIRS = 4


def count(suite, did):
    return list(suite.values()).count(did)


def sums(suite, joint, **words):
    return joint.join("%d %s" % (count(suite, did), word) for did, word in words.items() if count(suite, did))


def lines(suite, form, **words):
    """A line for each test that did one of these things; {f} is its file, {n} its name, {w} the word for it."""
    return [form.format(f=f, n=n, w=words[did]) for (f, n), did in suite.items() if did in words]


def pytest(suite):
    return lines(suite, "FAILED {f}.py::{n} - assert", F="") + [
        "=== %s in 0.21s ===" % (sums(suite, ", ", F="failed", P="passed", S="skipped") or "no tests ran")]


def pytest_v(suite):
    return lines(suite, "{f}.py::{n} {w}   [ 50%]", F="FAILED", P="PASSED", S="SKIPPED (why)") + pytest(suite)


def unittest(suite):
    name = "test_{n} (u.{f}.T.test_{n})"
    return lines(suite, name + " ... {w}", F="FAIL", P="ok", S="skipped 'why'") + lines(suite, "FAIL: " + name, F="") + [
        "Ran %d tests in 0.001s" % len(suite), "FAILED (failures=%d)" % count(suite, "F") if count(suite, "F") else "OK"]


def go(suite):
    return lines(suite, "=== RUN   {n}\n--- {w}: {n} (0.00s)", F="FAIL", P="PASS", S="SKIP")


def cargo(suite):
    text = []
    for file in sorted({f for f, n in suite}):
        part = {key: did for key, did in suite.items() if key[0] == file}
        text += lines(part, "test {n} ... {w}", F="FAILED", P="ok", S="ignored") + [
            "test result: ok. %d passed; %d failed; %d ignored; 0 measured; 0 filtered out; finished in 0.00s" % tuple(
                count(part, did) for did in "PFS")]
    return text


def mocha(suite):
    return lines(suite, "    {w} {n}", F="1)", P="✔", S="-") + ["  %d passing (3ms)" % count(suite, "P"),
                                                              "  %d pending" % count(suite, "S"),
                                                              "  %d failing" % count(suite, "F")]


def jest(suite):
    return lines(suite, "    {w} {n}", F="✕", P="✓", S="○ skipped") + [
        "Tests:       %s, %d total" % (sums(suite, ", ", F="failed", S="skipped", P="passed"), len(suite))]


def vitest(suite):
    return lines(suite, " {w} {f}.mjs > s > {n}", F="×", P="✓", S="↓") + lines(suite, " FAIL  {f}.mjs > s > {n}", F="") + [
        "      Tests  %s (%d)" % (sums(suite, " | ", F="failed", P="passed", S="skipped"), len(suite))]


def node(suite):
    return lines(suite, "{w} {n} (1.2ms)", F="✖", P="✔", S="﹣") + [
        "ℹ tests %d" % len(suite), "ℹ suites 0", "ℹ fail %d" % count(suite, "F")] + lines(suite, "✖ {n} (1.2ms)", F="")


def tap(suite):
    return ["1..%d" % len(suite)] + lines(suite, "{w} 1 - {n}", F="not ok", P="ok") + lines(
        suite, "ok 1 - {n} # SKIP why", S="")


def ctest(suite):
    return lines(suite, "1/9 Test #1: {f}_{n} ....{w}   0.00 sec", F="***Failed", P="   Passed", S="***Skipped") + [
        "50%% tests passed, %d tests failed out of %d" % (count(suite, "F"), len(suite))]


# How a name is told.
NAMES = {pytest: "{f}.py::{n}", pytest_v: "{f}.py::{n}", unittest: "test_{n} (u.{f}.T.test_{n})",
         vitest: "{f}.mjs > s > {n}", ctest: "{f}_{n}"}
RUNNERS = (pytest, pytest_v, unittest, go, cargo, mocha, jest, vitest, node, tap, ctest)


class Outcomes(Case):
    def suite(self, rng, before=None):
        """A random suite, or what has become of one: most tests do the same again, some come, some go."""
        suite = {key: did if rng.random() < 0.8 else rng.choice("FPPS") for key, did in (before or {}).items()
                 if rng.random() < 0.97}
        for _ in range(rng.choice((0, 0, 1)) if before else rng.randint(2, 9)):
            suite[rng.choice("xyz"), "t%d" % rng.randint(0, 40)] = rng.choice("FPPP")
        return suite

    def told(self, runner, suite):
        write_file(os.path.join(self.work, "said"), "setting up\n" * 300 + "\n".join(runner(suite)) + "\n")
        write_file(os.path.join(self.work, "tests"), "#!/bin/sh\ncat said\nexit %d\n" % bool(count(suite, "F")), 0o755)
        run = self.terse("--session", runner.__name__, "--size", "1KB", "--failure-size", "1KB", "--format", "json", "./tests")
        return json.loads(run.out).get("since", {}).get("tests", "")

    def test_each_runner(self):
        """The lines of each runner tell all of this pair; pytest names passed tests only with -v."""
        for runner in RUNNERS:
            with self.subTest(runner.__name__):
                self.told(runner, {("x", "t%d" % n): did for n, did in enumerate("FPFP")})
                told = self.told(runner, {("x", "t%d" % n): did for n, did in enumerate("PFFP")})
                gone, fresh = (NAMES.get(runner, "{n}").format(f="x", n=n) for n in ("t0", "t1"))
                self.assertEqual(told.replace('"', ""), "failed: 2 (new: %s; %s: %s)" % (
                    fresh, "no longer" if runner is pytest else "fixed", gone))

    def test_random(self):
        rng, said = random_source(1), 0
        for runner in RUNNERS:
            suite = self.suite(rng)
            self.told(runner, suite)
            for _ in range(PAIRS):
                before, suite = suite, self.suite(rng, suite)
                told = self.told(runner, suite)
                said += bool(told)
                self.check(told, *({did: sorted(lines(s, NAMES.get(runner, "{n}"), **{did: ""})) for did in "FP"}
                                   for s in (before, suite)))
        self.assertGreater(said, PAIRS)

    def check(self, told, before, now):
        if not told:
            return
        number, text = re.fullmatch(r"failed: (\d+) \((.*)\)", told).groups()
        self.assertEqual(int(number), len(now["F"]), told)
        lists = {"new": [], "fixed": [], "no longer": []}
        for part in text.split("; ") if text != "the same" else ():
            what, names = re.sub(r" and \d+ more$", "", part).split(": ", 1)
            lists[what] = [name.strip('"') for name in re.findall(r'"[^"]*"|[^", ]+', names)]
        for name in lists["new"]:
            self.assertTrue(name in now["F"] and name not in before["F"], told)
        if not lists["new"]:
            self.assertLessEqual(set(now["F"]), set(before["F"]), told)
        for name in lists["fixed"]:
            self.assertTrue(name in before["F"] and name in now["P"], told)
        for name in lists["no longer"]:
            self.assertTrue(name in before["F"] and name not in now["F"], told)


if __name__ == "__main__":
    main()
