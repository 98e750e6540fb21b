#!/usr/bin/env -S python3 -B
"""If terse itself fails, the command still runs and its status is returned; a loss is reported."""

import json
import os
import re
import resource
import shutil
import subprocess

from support.harness import (Case, FAILURE_LIMIT, FOOTER, TERSE, is_sanitized, main, numbers, random_source,
                             read_file, write_file)

SMALL = ("sh", "-c", "echo out; echo err >&2; exit 3")
LONG = ("sh", "-c", "seq 20000; exit 3")
NUMBERS = numbers(20000)


class FailOpen(Case):
    def check_small(self, run):
        self.assertEqual((run.code, run.out, run.err), (3, b"out\nerr\n", b""))

    def check_long(self, run):
        """A preview as always, whose artifact may or may not exist."""
        self.assertEqual(run.code, 3)
        self.assertTrue(run.out.startswith(b"1\n2\n"), run.out[:200])
        self.assertIn(b"\n20000\n[terse: exit 3 after ", run.out)
        self.assertLessEqual(len(run.out), FAILURE_LIMIT + 400)

    def check_kept(self, run, **env):
        self.check_long(run)
        footer = FOOTER.search(run.out)
        self.assertTrue(footer, run.out[-300:])
        done = subprocess.run([TERSE, "path", footer["id"]], env=self.env(**env), cwd=self.work,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True)
        self.assertEqual(read_file(done.stdout.rstrip(b"\n")), NUMBERS)

    def check_not_kept(self, run):
        self.check_long(run)
        self.assertIn(b"not kept: ", run.out)
        self.assertFalse(FOOTER.search(run.out))

    no_store = {"TERSE_HOME": "/full/a", "XDG_STATE_HOME": "/full/b", "HOME": "/full/c",
                "XDG_RUNTIME_DIR": "/full/d", "TMPDIR": "/full/e"}


class NoPty(FailOpen):
    SETUPS = ("mount --bind /dev/null /dev/ptmx",
              "mount -t tmpfs none /dev/pts; mount --bind /dev/null /dev/ptmx",
              "mount -t tmpfs none /dev; mknod /dev/null c 1 3 2>/dev/null ||"
              " { :>/dev/null; }; chmod 666 /dev/null")

    def test_no_ptmx(self):
        for setup in self.SETUPS:
            with self.subTest(setup=setup):
                for options in ((), ("--pty",), ("--tty",), ("--streams=split",)):
                    split = "--streams=split" in options
                    run = self.isolated(setup, TERSE, *options, *SMALL)
                    self.assertEqual((run.code, run.out), (3, b"out\nerr\n"), options)
                    self.check_kept(self.isolated(setup, TERSE, *options, *LONG))

    def test_no_more_descriptors_for_a_pty(self):
        # A sanitizer's library is one more file to load.
        for count in range(8 if is_sanitized() else 3, 30):
            run = self.shell("ulimit -n %d; exec terse sh -c 'exit 3'" % count)
            plain = self.shell("ulimit -n %d; exec sh -c 'exit 3'" % count)
            self.assertEqual((run.code, run.out), (plain.code, plain.out), count)


class Disk(FailOpen):
    def full(self, options):
        return "mkdir -p {0}; mount -t tmpfs -o {1} none {0}".format(self.store, options)

    def test_full_while_writing(self):
        run = self.isolated(self.full("size=256k"), TERSE, "sh", "-c", "seq 200000; exit 3",
                            split=True, env={"TERSE_MIN_FREE": "0"})
        self.assertEqual(run.code, 3)
        text = run.out + run.err
        self.assertTrue(run.out.startswith(b"1\n2\n"))
        self.assertRegex(run.out, rb"\n200000\n\[terse: exit 3 after [^;]+; 200,000 lines, 1.2 MB; lines "
                         rb"[\d,]+-200,000 \([\d,]+, [^)]+\) not kept: No space left on device; the "
                         rb"rest: terse read cmd-")
        self.assertIn(b"terse: output not kept: No space left on device\n", text)

    def test_what_was_kept_is_told_alike(self):
        """Every verb reports a gap in the same words, for a full disk and for the disk cap; the run with JSON is another
        one, for which a full disk may have a page more or less."""
        for setup, options, reason in (
                (self.full("size=256k"), "--min-free 0", b"No space left on device"),
                ("true", "--max-artifact 64KB", b"over the disk cap ([spill] max_artifact)")):
            out = os.path.join(self.work, "out")
            script = """cd {0}; terse {1} --format json seq 200000 >json; rm -r {2}/*
                terse {1} --preview seq 200000 2>/dev/null >footer; terse list >list
                terse list --json >listed; terse show last >show; terse show last --json >shown
                terse read last --offset 100000 --limit 3 >read; terse read last --tail 1 >tail
                terse read --json last --offset 100000 --limit 3 >page
                terse search last '^1000000$' 2>search; echo $? >status
                terse search last -c 5 2>count >/dev/null
                terse search last -l '^100000$' 2>names; echo $? >>status
                terse search last -c x --json >counted; echo $? >>status
                terse search --session default '^100000$' 2>all; echo $? >>status
                """.format(out, options, self.store)
            shutil.rmtree(out, ignore_errors=True)
            os.mkdir(out)
            self.isolated(setup, "sh", "-c", script)
            told = {name: read_file(os.path.join(out, name)) for name in os.listdir(out)}
            form = rb"lines [\d,]+-[\d,]+ \([\d,]+, [^)]+\) not kept: " + re.escape(reason)
            words = re.search(form, told["footer"])
            self.assertTrue(words, told["footer"][-300:])
            words = words.group()
            for name in ("footer", "list", "show", "read", "search", "count", "names", "all"):
                self.assertIn(words, told[name], name)
            self.assertEqual(words in told["tail"], options == "--min-free 0")
            self.assertNotIn(b"full text", told["footer"])
            self.assertEqual(told["status"], b"2\n2\n2\n2\n")
            own = json.loads(told["json"])
            gap, = own["truncation"]["stdout"]["gaps"]
            told_of = "stdout: lines {0:,}-{1:,} ({2:,}, ".format(gap["from"], gap["to"], gap["to"] - gap["from"] + 1)
            self.assertTrue(own["warnings"][0].startswith(told_of), own["warnings"])
            gaps = json.loads(told["counted"])["data"]["gaps"]
            for each in (gap, *gaps):
                each.pop("before", None)
            self.assertEqual(gaps, [dict(gap, **{"from": gaps[0]["from"], "bytes": gaps[0]["bytes"]})])
            self.assertIn(words, json.loads(told["page"])["data"]["text"].encode())
            gaps = [dict(gaps[0], stream="stdout")]
            self.assertEqual(json.loads(told["shown"])["data"]["gaps"], gaps)
            self.assertEqual(json.loads(told["listed"])["data"]["runs"][0]["gaps"], gaps)

    def test_binary_over_the_cap(self):
        write_file(os.path.join(self.work, "noise"), random_source().randbytes(300000))
        run = self.terse("--max-artifact", "64KB", "head", "-c", "300000", "noise")
        words = b"the last 229 KB not kept: over the disk cap ([spill] max_artifact)"
        self.assertRegex(run.out, rb"293 KB of binary output, %s: terse path --raw cmd-"
                         % re.escape(words))
        self.assertIn(words, self.run_to_end(TERSE, "show", "last").out)
        run = self.terse("--format", "json", "--max-artifact", "64KB", "head", "-c", "300000",
                         "noise")
        told = json.loads(run.out)
        self.assertIn("stdout: " + words.decode(), told["warnings"])
        self.assertEqual(told["truncation"]["stdout"]["gaps"],
                         [{"bytes": 234464, "reason": "disk cap"}])

    def test_full_from_the_start(self):
        """The next place that can be written is taken."""
        run = self.isolated(self.full("size=4k,nr_inodes=1"), TERSE, *LONG)
        self.check_kept(run)
        for home in self.store, self.store + "/new":
            run = self.isolated(self.full("size=4k,nr_inodes=1"), TERSE, "doctor", env={"TERSE_HOME": home})
            self.assertRegex(run.out, rb"-        store: %s \(TERSE_HOME\): No space left on device\nok       store: /"
                             % re.escape(os.fsencode(home)))

    def test_texts_that_went_elsewhere(self):
        """TERSE_HOME has room for the runs and not for their texts: `last` and the list find these in the next place."""
        run = self.isolated(self.full("size=1m"), "sh", "-c",
                            "terse seq 20000 | tail -n 1; terse list | tail -n 1; terse path last",
                            env={"TERSE_MIN_FREE": "32MB"})
        text, row, path = run.out.decode().splitlines()
        self.assertEqual(text, "20000")
        self.assertFalse(path.startswith(self.store), path)
        self.assertEqual(row.split()[0] + ".txt", os.path.basename(path))

    def test_full_everywhere(self):
        setup = ("mount -t tmpfs -o size=4k,nr_inodes=6 none /mnt;"
                 " mkdir /mnt/a /mnt/b /mnt/c /mnt/d /mnt/e")
        env = {k: v.replace("/full", "/mnt") for k, v in self.no_store.items()}
        run = self.isolated(setup, TERSE, *LONG, env=env, split=True)
        self.check_not_kept(run)
        self.assertEqual(run.err, b"terse: output not kept: No space left on device\n")
        self.check_small(self.isolated(setup, TERSE, *SMALL, env=env))

    def test_reports_tell_it(self):
        """A full disk is a warning in the object, and nothing is written beside it."""
        setup = ("mount -t tmpfs -o size=4k,nr_inodes=6 none /mnt;"
                 " mkdir /mnt/a /mnt/b /mnt/c /mnt/d /mnt/e")
        env = {k: v.replace("/full", "/mnt") for k, v in self.no_store.items()}
        for options in ((), ("--full",)):
            run = self.isolated(setup, TERSE, "--format", "json", *options, *LONG, env=env,
                                split=True)
            self.assertEqual((run.code, run.err), (3, b""))
            report = json.loads(run.out)
            counts = report["truncation"]["stdout"]
            self.assertEqual(report["warnings"],
                             ["stdout: output not kept: No space left on device"])
            self.assertEqual((report.get("artifact"), report["exit_code"], counts["truncated_by"],
                              counts["total_lines"]), (None, 3, "bytes", 20000))
            self.assertEqual(report["stdout"].splitlines(),
                             [str(n) for r in counts["ranges"]
                              for n in range(r["from"], r["to"] + 1)])
            self.assertGreater(counts["returned_lines"], 500)

    def test_a_full_report_of_what_fits_the_disk(self):
        run = self.isolated(self.full("size=256k"), TERSE, "--format", "json", "--full", "seq",
                            "200000", split=True, env={"TERSE_MIN_FREE": "0"})
        self.assertEqual((run.code, run.err), (0, b""))
        report = json.loads(run.out)
        counts = report["truncation"]["stdout"]
        self.assertEqual((counts["truncated_by"], counts["total_lines"]), ("bytes", 200000))
        self.assertEqual(counts["ranges"], [{"from": 1, "to": counts["returned_lines"]}])
        shown = report["stdout"].splitlines()
        self.assertEqual(shown[:-1], [str(n) for n in range(1, len(shown))])
        self.assertTrue(str(len(shown)).startswith(shown[-1]))
        self.assertGreater(len(shown), 10000)
        self.assertEqual(counts["last_line_partial"], shown[-1] != str(len(shown)))
        self.assertEqual(len(report["warnings"]), 1)
        self.assertRegex(report["warnings"][0],
                         r"^stdout: lines [\d,]+-200,000 \([\d,]+, [^)]+\) not kept: No space left "
                         r"on device$")

    def test_a_program_gets_everything_and_nobody_a_message(self):
        setup = ("mount -t tmpfs -o size=4k,nr_inodes=6 none /mnt;"
                 " mkdir /mnt/a /mnt/b /mnt/c /mnt/d /mnt/e")
        env = {k: v.replace("/full", "/mnt") for k, v in self.no_store.items()}
        run = self.isolated(setup, "sh", "-c", "terse seq 200000 | cksum", env=env, split=True)
        self.assertEqual(run.out, self.shell("seq 200000 | cksum").out)
        self.assertEqual(run.err, b"")

    def test_full_output_file(self):
        """The command's problem, not terse's: it gets a broken pipe."""
        run = self.isolated("mount -t tmpfs -o size=64k none /mnt",
                            "sh", "-c", "terse seq 200000 >/mnt/out; echo $?; wc -c </mnt/out")
        code, size = run.out.split()[-2:]
        self.assertNotEqual(code, b"0")
        self.assertEqual(int(size), 65536)
        run = self.shell("terse seq 200000 >/dev/full; echo $?")
        self.assertNotEqual(run.out.split()[-1], b"0")


class Home(FailOpen):
    def test_read_only(self):
        """Every place but the last can't be written."""
        setup = "mkdir -p {0} && mount -t tmpfs -o ro none {0}".format(self.store)
        env = {"TERSE_HOME": self.store + "/x", "XDG_STATE_HOME": self.store + "/state",
               "HOME": self.store + "/home", "XDG_RUNTIME_DIR": self.store + "/run"}
        run = self.isolated(setup, TERSE, *LONG, env=env)
        self.check_kept(run, TERSE_HOME=None)
        self.check_small(self.isolated(setup, TERSE, *SMALL, env=env))

    def test_nothing_can_be_written(self):
        setup = "mount -t tmpfs -o ro none /mnt"
        env = {k: v.replace("/full", "/mnt") for k, v in self.no_store.items()}
        run = self.isolated(setup, TERSE, *LONG, env=env, split=True)
        self.check_not_kept(run)
        self.assertEqual(run.err, b"terse: output not kept: Read-only file system\n")
        self.check_small(self.isolated(setup, TERSE, *SMALL, env=env))

    def test_no_home(self):
        none = dict.fromkeys(("HOME", "TERSE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
                              "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"))
        self.check_kept(self.terse(*LONG, env=none), **none)
        self.check_small(self.terse(*SMALL, env=none))

    def test_empty_environment(self):
        run = self.run_to_end("env", "-i", self.mark, "TMPDIR=" + self.tmp, TERSE, "/bin/sh", "-c",
                              "echo out; exit 3")
        self.assertEqual((run.code, run.out), (3, b"out\n"))

    def test_relative_and_odd_homes(self):
        for value in ("", "relative", "/dev/null", "/dev/null/x", "/proc/self", "/" + "x" * 5000):
            run = self.terse(*LONG, env={"TERSE_HOME": value})
            self.check_kept(run, TERSE_HOME=value)

    def test_home_that_is_a_link_or_of_another(self):
        elsewhere = os.path.join(self.dir, "elsewhere")
        os.mkdir(elsewhere)
        os.symlink(elsewhere, self.store)
        self.check_long(self.terse(*LONG))
        os.unlink(self.store)
        if os.geteuid() == 0:
            os.mkdir(self.store)
            os.chown(self.store, 12345, 12345)
            run = self.terse(*LONG)
            self.check_kept(run)
            self.assertEqual(os.listdir(self.store), [])

    def test_damaged_store(self):
        """A file where a directory should be, in every place of the store."""
        self.terse(*LONG)
        self.assert_nothing_left()
        for name in os.listdir(self.store):
            with self.subTest(name=name):
                path = os.path.join(self.store, name)
                saved = path + ".saved"
                os.rename(path, saved)
                write_file(path, "not a directory")
                self.check_long(self.terse(*LONG))
                os.unlink(path)
                os.rename(saved, path)


class Config(FailOpen):
    def config(self, text):
        path = os.path.join(self.home, "config", "terse", "terse.ini")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return write_file(path, text)

    def check(self, complaint=b"", **how):
        """One line says what was not understood; everything else is as always."""
        run = self.terse(*SMALL, split=True, **how)
        self.assertEqual((run.code, run.out), (3, b"out\nerr\n"))
        self.assertEqual(run.err, complaint)
        run = self.terse(*LONG, split=True, **how)
        self.check_kept(run)
        self.assertEqual(run.err, complaint)

    def test_malformed(self):
        noise = b"\xf5\0\xb1" + random_source(1).randbytes(3000)
        for text, complaint in (
                ("nonsense\n", "1: nonsense: neither [section] nor key = value"),
                ("[report\nsize=1\n", "1: [report: a section is [NAME] on a line of its own"),
                ("[report]\nsize = a lot\n",
                 "2: [report] size: a lot: not a size (like 4096, 4KB or 1000tok)"),
                ("[report]\nsize = 5\n", "2: [report] size: 5: out of range (64 to 16MB)"),
                ("key = 1\n", "1: key: a key before the first [section]"),
                ("[no such]\nkey = 1\n", "1: [no such]: no such section"),
                ("[report]\nsizes = 1\n", "2: [report] sizes: no such key (did you mean size?)"),
                (b"\0\0\0\0", "1: a NUL byte; is this a text file?"),
                (noise, "1: \\xf5: a NUL byte; is this a text file?"),
                ("[report]\nsize = " + "1" * 100000 + "\n",
                 "2: size = 11111111111111111111111111111111111111111111111111111...: a line has "
                 "at most 198 bytes; more values go on indented lines below"),
                ("#" * 2000000, " larger than 1 MB")):
            with self.subTest(text=text[:30]):
                path = self.config(text)
                self.check(b"terse: %s:%s\n" % (os.fsencode(path), complaint.encode()))

    def test_directory_instead_of_file(self):
        os.makedirs(os.path.join(self.home, "config", "terse", "terse.ini"))
        self.check()

    def test_unreadable(self):
        if os.geteuid() == 0:
            # Root reads everything: a file that gives an error when read.
            path = os.path.join(self.home, "config", "terse")
            os.makedirs(path)
            os.symlink("/proc/self/mem", os.path.join(path, "terse.ini"))
        else:
            os.chmod(self.config("[report]\nsize = 1000\n"), 0)
        self.check()

    def test_dangling_and_fifo(self):
        path = os.path.join(self.home, "config", "terse")
        os.makedirs(path)
        os.symlink("/no/such/file", os.path.join(path, "terse.ini"))
        self.check()
        os.unlink(os.path.join(path, "terse.ini"))
        os.mkfifo(os.path.join(path, "terse.ini"))  # must not wait for a writer
        self.check()

    def test_variables(self):
        for name, value, complaint in (
                ("TERSE_SIZE", "a lot", "a lot: not a size (like 4096, 4KB or 1000tok)"),
                ("TERSE_MODE", "x", "x: not smart, head, tail or ends"),
                ("TERSE_CONFIG", "/no/such", "/no/such: No such file or directory"),
                ("TERSE_UNKNOWN", "1", None)):
            with self.subTest(name=name):
                self.check(b"terse: %s: %s\n" % (name.encode(), complaint.encode())
                           if complaint else b"", env={name: value})


class Refused(FailOpen):
    """System calls that fail, as in a sandbox or when the machine is full."""

    CALLS = ("fork=EAGAIN", "fork=ENOMEM", "socketpair=EMFILE", "pipe2=EMFILE", "signalfd4=EINVAL",
             "setsid=EPERM", "setpgid=EPERM", "prctl=EPERM", "kcmp=EPERM", "kcmp=ENOSYS",
             "close_range=ENOSYS", "memfd_create=ENOSYS", "getrandom=ENOSYS", "flock=ENOSYS",
             "fallocate=ENOSYS", "symlinkat=EPERM", "clone3=ENOSYS", "pidfd_open=ENOSYS",
             "faccessat2=EPERM", "poll=ENOMEM", "sendmsg=EPERM", "recvfrom=EPERM")

    def test_each_call(self):
        for call in self.CALLS:
            with self.subTest(call=call):
                for options in ((), ("--no-pty",), ("--tty",), ("--timeout", "1h")):
                    # No fork in the command itself, which must work without, too.
                    run = self.run_to_end("deny", call, "--", "terse", *options, "sh", "-c",
                                          "echo out; exit 3")
                    self.assertEqual((run.code, run.out), (3, b"out\n"), options)

    def test_long_output(self):
        write_file(os.path.join(self.work, "text"), NUMBERS)
        for call in self.CALLS:
            with self.subTest(call=call):
                run = self.run_to_end("deny", call, "--", "terse", "--profile", "default",
                                      "cat", "text")
                self.assertEqual(run.code, 0)
                self.assertTrue(run.out.startswith(b"1\n2\n"))
                self.assertIn(b"\n20000\n", run.out)

    def test_a_system_call_that_is_refused_keeps_nothing_from_the_store(self):
        """Older container runtimes refuse system calls that they do not know."""
        run = self.run_to_end("deny", "faccessat2=EPERM", "--", "terse", "seq", "20000")
        self.assert_preview(run, NUMBERS)
        self.assertIn(b"100", self.run_to_end("deny", "faccessat2=EPERM", "--", "terse", "read",
                                              "last", "--offset", "100", "--limit", "1").out)

    def test_to_a_program(self):
        write_file(os.path.join(self.work, "text"), NUMBERS)
        for call in self.CALLS:
            with self.subTest(call=call):
                run = self.shell("deny %s -- terse cat text | cksum; cksum <text" % call)
                self.assertEqual(*run.out.splitlines())

    def test_no_poll(self):
        """A wait that always fails costs no processor."""
        def spent():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        before = spent()
        for kind in "socket", "pipe", "file":
            run = self.run_to_end("deny", "poll=ENOMEM", "--", "terse", "sh", "-c",
                                  "sleep 1; echo out", kind=kind)
            self.assertEqual(run.out, b"out\n")
        run = self.shell("deny poll=ENOMEM -- terse sh -c 'sleep 1; echo out' | cat")
        self.assertEqual(run.out, b"out\n")
        self.assertLess(spent() - before, 1)

    def test_end_that_nobody_tells(self):
        """The stand-in for the signal of a child's end is a pipe that nobody writes to."""
        r, w = os.pipe2(os.O_NONBLOCK)
        for options in ((), ("--no-pty",), ("--tty",)):
            # The second one is the supervisor's.
            run = self.run_to_end("fault", "report", TERSE, "signalfd4=+%d" % r, "2", "--", TERSE,
                                  *options, "sh", "-c", "echo out; exit 3", fds=(r,))
            self.assertEqual((run.code, run.out), (3, b"out\n"), options)
            self.assertIn(b"signalfd4", read_file(os.path.join(self.work, "report")))
        os.close(r)
        os.close(w)

    def test_each_fork(self):
        """The first, the second or the third fork fails, as at a user's limit of processes."""
        if os.geteuid() != 0:
            self.skipTest("needs root to become a user without processes")
        write_file(os.path.join(self.work, "text"), NUMBERS)
        user = str(61000 + os.getpid() % 1000)
        become = ("setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--inh-caps",
                  "+dac_override", "--ambient-caps", "+dac_override")
        for count in range(1, 6):
            for _ in range(10):  # which of two processes forks first is chance
                run = self.run_to_end(*become, "bash", "-c", "ulimit -u %d; exec terse sh -c "
                                      "'echo out; exit 3'" % count)
                self.assertEqual((run.code, run.out), (3, b"out\n"), count)
                run = self.run_to_end(*become, "bash", "-c", "ulimit -u %d; exec terse "
                                      "--profile default cat text" % count, env={"TERSE_HOME": os.path.join(self.tmp, "s")})
                self.assertEqual(run.code, 0)
                self.assertTrue(run.out.startswith(b"1\n2\n"))
                self.assertIn(b"\n20000\n", run.out)

    def test_memory(self):
        """There is enough address space for the command, but not for everything that terse would use."""
        if is_sanitized():
            self.skipTest("a sanitizer reserves terabytes of address space")
        for limit in range(1000, 30000, 500):
            script = "ulimit -v %d; exec %s sh -c 'echo out; exit 3'"
            plain = self.shell(script % (limit, ""))
            if plain.code != 3:
                continue
            run = self.shell(script % (limit, TERSE))
            if run.code in (-11, 127):
                # The limit is too low for the kernel and libc to load terse itself.
                probe = self.shell("ulimit -v %d; exec %s version" % (limit, TERSE))
                self.assertEqual(probe.code, run.code, limit)
                continue
            self.assertEqual((run.code, run.out), (3, b"out\n"), limit)


class NoProc(FailOpen):
    def setUp(self):
        if is_sanitized():
            self.skipTest("a sanitizer needs /proc")
        super().setUp()

    def without_proc(self, *argv):
        # Becoming oneself again would need /proc.
        return self.isolated("mount -t tmpfs none /proc", *argv, oneself=False)

    def test_commands_run(self):
        self.check_small(self.without_proc(TERSE, *SMALL))
        self.check_kept(self.without_proc(TERSE, *LONG))

    def test_a_program_is_never_given_a_preview(self):
        run = self.without_proc("sh", "-c", "terse seq 20000 | cksum")
        self.assertEqual(run.out, self.shell("seq 20000 | cksum").out)
        run = self.without_proc("sh", "-c", 'x=$(terse seq 20000); echo "$x" | cksum')
        self.assertEqual(run.out, self.shell("seq 20000 | cksum").out)

    def test_timeout_still_ends_the_command(self):
        run = self.without_proc(TERSE, "--timeout", "200ms", "--grace", "100ms", "sh", "-c",
                                "trap '' TERM HUP; while :; do sleep 0.02; done")
        self.assertEqual(run.code, 124)

    def test_an_old_kernel(self):
        """Where nothing closes all descriptors, the command's ends are closed all the same: a run has an end."""
        for options in ((), ("--no-pty",), ("--tty",), ("--streams=split",)):
            with self.subTest(options=options):
                run = self.without_proc("deny", "close_range=ENOSYS", "--", TERSE, *options, *SMALL)
                self.assertEqual((run.code, sorted(run.out + run.err)), (3, sorted(b"out\nerr\n")))
        self.assert_nothing_left()


if __name__ == "__main__":
    main()
