#!/usr/bin/env -S python3 -B
"""Programs and files get the whole text and nothing else, never a preview."""

import os
import subprocess

from support.harness import Case, main, numbers, read_file, write_file


class Program(Case):
    def same(self, script, shells=("sh", "bash"), **how):
        """The script with terse must do what it does without."""
        for shell in shells:
            # A pipe that we read, which is an agent's, but for what the script redirects.
            plain = self.run_to_end(shell, "-c", script.replace("terse ", ""), split=True, **how)
            run = self.run_to_end(shell, "-c", script, split=True, **how)
            self.assertEqual((run.out, run.err, run.code), (plain.out, plain.err, plain.code),
                             shell)
        return run

    def test_file(self):
        self.shell("terse seq 1 200000 >file")
        self.assertEqual(read_file(os.path.join(self.work, "file")), numbers(200000))

    def test_file_that_takes_both(self):
        self.shell("terse sh -c 'for i in $(seq 9000); do echo $i; echo e >&2; done' >file 2>&1")
        want = b"".join(b"%d\ne\n" % i for i in range(1, 9001))
        self.assertEqual(read_file(os.path.join(self.work, "file")), want)

    def test_file_that_both_are_appended_to(self):
        """Two opens of one file, whose order is that of the writes."""
        self.shell("terse sh -c 'for i in $(seq 9000); do echo $i; echo e >&2; done' >>file 2>>file")
        want = b"".join(b"%d\ne\n" % i for i in range(1, 9001))
        self.assertEqual(read_file(os.path.join(self.work, "file")), want)

    def test_file_is_appended_to(self):
        self.shell("echo first >file; terse echo second >>file; terse seq 20000 >>file")
        self.assertEqual(read_file(os.path.join(self.work, "file")),
                         b"first\nsecond\n" + numbers(20000))

    def test_wc(self):
        run = self.same("terse seq 1 200000 | wc -l")
        self.assertEqual(run.out.strip(), b"200000")

    def test_wc_of_many(self):
        self.same("{ terse seq 1 20000; terse seq 5; } | wc -c")

    def test_pipeline_of_terses(self):
        # Many times: the pipe's reader is found at different moments of its start.
        script = "terse seq 1 50000 | terse sort -rn | terse head -n 30000 | tail -n 1"
        for _ in range(20):
            self.assertEqual(self.shell(script).out, b"20001\n")

    def test_wrappers_as_readers(self):
        for reader in ("sh -c 'wc -l; :'", "(cd /; wc -l)", "env A=b wc -l", "timeout 20 wc -l",
                       "nice wc -l", "{ read x; wc -l; }", "xargs -n 30000 echo | wc -l",
                       "terse sh -c 'wc -l; :'"):
            self.same("terse seq 1 20000 | " + reader)

    def test_slow_readers(self):
        """The reader starts to read long after the output began."""
        self.same("terse seq 1 20000 | { sleep 0.3; wc -l; }")
        self.same("{ sleep 0.3; terse seq 1 20000; } | wc -l")

    def test_command_substitution(self):
        run = self.same('x=$(terse seq 1 20000); echo "${#x}"; echo "$x" | tail -n 1')
        self.assertEqual(run.out, b"108893\n20000\n")

    def test_nested_substitution(self):
        self.same('x=$(echo "$(terse seq 1 20000)"); echo "${#x}"')
        self.same('f() { terse seq 1 20000; }; x=$(f; f); echo "${#x}"')
        self.same('x=`terse seq 1 20000`; echo "${#x}"')

    def test_process_substitution(self):
        self.same('wc -l < <(terse seq 1 20000)', shells=("bash",))
        self.same('while read -r x; do y=$x; done < <(terse seq 1 20000); echo $y',
                  shells=("bash",))
        self.same('mapfile -t a < <(terse seq 1 20000); echo ${#a[@]}', shells=("bash",))
        self.same('terse seq 1 20000 > >(wc -l); wait $!', shells=("bash",))
        self.same('diff <(terse seq 1 20000) <(seq 1 20000) && echo same', shells=("bash",))

    def test_while_read(self):
        self.same('terse seq 1 20000 | while read -r x; do echo $x; done | tail -n 1')

    def test_named_pipe(self):
        self.same('mkfifo p; wc -l <p & terse seq 1 20000 >p; wait; rm p')

    def test_xargs_and_find(self):
        self.same('echo 20000 | xargs terse seq 1 | wc -l')

    def test_python_check_output_in_a_script(self):
        """The script that reads is run by the agent, terse by the script."""
        program = ("import subprocess\n"
                   "out = subprocess.run('terse seq 1 20000 | cat', shell=True,"
                   " capture_output=True).stdout\n"
                   "print(len(out))\n")
        write_file(os.path.join(self.work, "p.py"), program)
        self.assertEqual(self.shell("python3 p.py").out, b"108894\n")

    def test_full_on_request(self):
        self.assertEqual(self.terse("--full", "seq", "1", "20000").out, numbers(20000))
        self.assertEqual(self.terse("seq", "1", "20000", env={"TERSE_PRINT": "full"}).out,
                         numbers(20000))

    def test_preview_on_request(self):
        self.shell("terse --preview seq 1 20000 >file")
        text = read_file(os.path.join(self.work, "file"))
        self.assertLess(len(text), 6000)
        self.assertIn(b": terse read ", text)

    def test_whole_text_makes_no_footer_on_stderr(self):
        run = self.shell("terse seq 1 20000 | wc -l", split=True)
        self.assertEqual(run.err, b"")

    def test_dev_null(self):
        run = self.same("terse sh -c 'seq 20000; echo warn >&2; exit 3' >/dev/null")
        self.assertEqual((run.err, run.code), (b"warn\n", 3))

    def test_binary_is_exact(self):
        data = bytes(range(256)) * 400
        write_file(os.path.join(self.work, "data"), data)
        for script in ("terse cat data >copy", "terse cat data | cat >copy",
                       "terse --pty cat data >copy"):
            self.shell(script)
            self.assertEqual(read_file(os.path.join(self.work, "copy")), data, script)

    def test_binary_that_looks_like_text_at_first(self):
        data = numbers(3000) + bytes(range(256)) * 40 + b"end"
        write_file(os.path.join(self.work, "data"), data)
        self.shell("terse cat data >copy")
        self.assertEqual(read_file(os.path.join(self.work, "copy")), data)

    def test_tar_and_gzip(self):
        self.same("seq 50000 >f; terse tar c f | tar t; terse gzip -c f | gzip -dc | cksum;"
                  " terse tar cz f >t.gz; tar tzf t.gz")

    def test_text_is_exact(self):
        data = (b"plain\ttabs \t \ntrailing  \n\n\xff\xfe invalid \xc3\n caf\xc3\xa9\r\n"
                b"\f\v\a\x7f\r\nzero \0 byte\nno newline")
        write_file(os.path.join(self.work, "data"), data)
        self.shell("terse cat data >copy; terse cat data | cat >copy2")
        self.assertEqual(read_file(os.path.join(self.work, "copy")), data)
        self.assertEqual(read_file(os.path.join(self.work, "copy2")), data)

    def test_what_redraws_passes(self):
        """A program and a file get the bytes that a pipe would have carried; an agent gets the text."""
        data = (b"latin \xe9\r\n\fpage\n\x1b[31mred\x1b[m\n10%\r50%\r100%\nabc\b\b\bABC\n"
                b"end\tof it  \n")
        write_file(os.path.join(self.work, "data"), data)
        for script in ("terse --full cat data >copy", "terse cat data | cat >copy",
                       "x=$(terse cat data; echo .); printf %s \"${x%.}\" >copy"):
            self.shell(script)
            self.assertEqual(read_file(os.path.join(self.work, "copy")), data, script)
        self.assertIn(b"red\n100%\nABC\n", self.terse("cat", "data").out)

    def test_reader_that_has_enough(self):
        """SIGPIPE ends the command as it would without terse."""
        run = self.same("terse seq 1 100000000 | head -n 1")
        self.assertEqual(run.out, b"1\n")
        run = self.run_to_end("bash", "-c", "terse yes | head -n 3; echo ${PIPESTATUS[0]}")
        self.assertEqual(run.out, b"y\ny\ny\n141\n")

    def test_lines_reach_a_program_as_they_come(self):
        """The command waits until its first line was seen behind the pipe."""
        script = ("mkfifo go; terse sh -c 'echo first; read x <go; echo second' |"
                  " while read -r line; do echo got $line; [ $line = second ] || echo >go; done")
        self.assertEqual(self.shell(script).out, b"got first\ngot second\n")


class Apart(Case):
    def test_stderr_to_a_file(self):
        self.shell("terse sh -c 'seq 20000; seq 30000 >&2' >out 2>err")
        self.assertEqual(read_file(os.path.join(self.work, "out")), numbers(20000))
        self.assertEqual(read_file(os.path.join(self.work, "err")), numbers(30000))

    def test_only_stderr_to_a_file(self):
        run = self.shell("terse sh -c 'echo out; seq 30000 >&2' 2>err")
        self.assertEqual(run.out, b"out\n")
        self.assertEqual(read_file(os.path.join(self.work, "err")), numbers(30000))

    def test_only_stderr_to_a_program(self):
        run = self.shell("terse sh -c 'echo out; seq 30000 >&2' 2>&1 >out | wc -l")
        self.assertEqual(run.out.strip(), b"30000")
        self.assertEqual(read_file(os.path.join(self.work, "out")), b"out\n")

    def test_swapped(self):
        run = self.shell("(terse sh -c 'seq 20000; seq 30000 >&2' 3>&1 >&2 2>&3 3>&-) 2>out |"
                         " wc -l")
        self.assertEqual(run.out.strip(), b"30000")
        self.assertEqual(read_file(os.path.join(self.work, "out")), numbers(20000))

    def test_stdout_to_a_program_stderr_to_the_agent(self):
        run = self.shell("terse sh -c 'seq 20000; echo warn >&2' | wc -l", split=True)
        self.assertEqual((run.out.strip(), run.err), (b"20000", b"warn\n"))

    def test_split_on_request(self):
        run = self.terse("--streams", "split", "sh", "-c", "echo out; echo err >&2", split=True)
        self.assertEqual((run.out, run.err), (b"out\n", b"err\n"))

    def test_split_previews(self):
        run = self.terse("--streams=split", "sh", "-c", "seq 20000; seq 30000 >&2", split=True)
        self.assert_preview(run, numbers(20000))
        self.assertIn(b": terse read %s --stderr" % run.id.encode(), run.err)
        self.assertTrue(self.ask("read", run.id, "--stderr", "--offset", "30000")
                        .startswith(b"30000\n"))

    def test_merged_on_request(self):
        self.shell("terse --streams=merged sh -c 'echo a; echo b >&2; echo c' >out 2>err")
        self.assertEqual(read_file(os.path.join(self.work, "out")), b"a\nb\nc\n")
        self.assertEqual(read_file(os.path.join(self.work, "err")), b"")

    def test_two_opens_of_one_file_are_two_files(self):
        """Each has its own position, so they overwrite each other; not ours to change."""
        plain = self.shell("sh -c 'echo out; echo longer error >&2' >f 2>f; cat f")
        run = self.shell("terse sh -c 'echo out; echo longer error >&2' >f 2>f; cat f")
        self.assertEqual(run.out, plain.out)


class Git(Case):
    def git(self, *argv):
        subprocess.run(["git", *argv], cwd=self.work, env=self.env(**self.identity), check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    identity = {
        "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def test_diff_can_be_applied(self):
        files = {
            "plain": b"".join(b"line %d\n" % i for i in range(3000)),
            "crlf": b"".join(b"line %d\r\n" % i for i in range(300)),
            "tabs": b"\ta\t b \n  \n\n" * 50,
            "latin": b"caf\xe9\n" * 20,
            "feeds": b"line 7\f\v\a\x7f\n\f\n" * 9,
            "open end": b"no newline",
            "binary": bytes(range(256)) * 8,
        }
        self.git("init", "-q", "-b", "main", ".")
        for name, text in files.items():
            write_file(os.path.join(self.work, name), text)
        self.git("add", "-A")
        self.git("-c", "core.autocrlf=false", "commit", "-q", "-m", "x")
        for name, text in files.items():
            changed = text.replace(b"line 7", b"LINE 7").replace(b"\t", b" \t") + b"more\r\nend"
            write_file(os.path.join(self.work, name), changed)
        changed = {n: read_file(os.path.join(self.work, n)) for n in files}
        # Reads all of the difference before it takes the changes back.
        apply = write_file(os.path.join(self.dir, "apply"),
                           "#!/usr/bin/env python3\nimport subprocess, sys\n"
                           "d = sys.stdin.buffer.read()\n"
                           "subprocess.run(['git', 'checkout', '-q', '.'], check=True)\n"
                           "sys.exit(subprocess.run(['git', 'apply'], input=d).returncode)\n",
                           0o755)
        for how in ("terse git diff --binary >../d; {0} <../d",
                    "terse git diff --binary | {0}",
                    'x=$(terse git diff --binary; echo .); printf %s "${{x%.}}" | {0}'):
            with self.subTest(how=how):
                for name, text in changed.items():
                    write_file(os.path.join(self.work, name), text)
                run = self.shell(how.format(apply), env=self.identity)
                self.assertEqual(run.code, 0, run.out)
                for name, text in changed.items():
                    self.assertEqual(read_file(os.path.join(self.work, name)), text, name)


if __name__ == "__main__":
    main()
