#!/usr/bin/env -S python3 -B
"""libterse-shim.so: a shell that runs a string becomes terse-sh, and nothing else changes.

A small program stands for terse-sh (helper/terse-stand-in): it reports how it was called and executes
what was meant. Every call is made without the library and with it, and has to come to the same."""

import os
import re
import shutil
import subprocess
import sys
import unittest

from support.harness import BUILD, Case, DEADLINE, HELPER, SOURCE, main, read_file, write_file

LIBRARY = os.path.join(BUILD, "libterse-shim.so")
STAND_IN = os.path.join(HELPER, "terse-stand-in")
CALLER = os.path.join(HELPER, "exec_caller")

PATH_SEARCH = ["execvp", "execvpe", "execlp", "posix_spawnp", "pidfd_spawnp"]
BY_PATH = ["execve", "execv", "execl", "execle", "posix_spawn", "pidfd_spawn"]
STRINGS = ["system", "popen"]
LISTS = ["execl", "execlp", "execle"]
EVERY = BY_PATH + PATH_SEARCH
GLIBC = subprocess.run([CALLER, "libc"], capture_output=True, check=False).stdout == b"glibc\n"
# The functions that this libc has.
HERE = [e for e in EVERY if subprocess.run([CALLER, e, "plain", "/bin/true", "true"],
                                           capture_output=True, check=False).returncode != 77]


class Shimmed(Case):
    def setUp(self):
        super().setUp()
        self.report = os.path.join(self.dir, "report")

    def call(self, argv, preload=None, cwd=None, data=None, **env):
        """Runs to the end; returns (status, stdout, stderr)."""
        if preload:
            env = {"LD_PRELOAD": preload, "TERSE_SHIM_SHELL": STAND_IN, **env}
        env["STAND_IN_REPORT"] = self.report
        done = subprocess.run(argv, env=self.env(**env), cwd=cwd or self.work, input=data,
                              stdin=subprocess.DEVNULL if data is None else None,
                              capture_output=True, timeout=DEADLINE, check=False)
        return done.returncode, done.stdout, done.stderr

    def records(self):
        """The calls of the stand-in since the last time, as dictionaries, each with its argv."""
        if not os.path.exists(self.report):
            return []
        found = []
        for text in read_file(self.report).decode().split("\n\n")[:-1]:
            record = dict(re.findall(r"^(\w+)=((?:.|\n(?!\w+=))*)", text, re.M))
            record["argv"] = [record[k] for k in sorted(record) if k.startswith("argv")]
            found.append(record)
        os.unlink(self.report)
        return found

    def both(self, *argv, **how):
        """Without the library and with it: the same. Returns the outcome, and what the stand-in
        reported."""
        self.records()
        plain = self.call(argv, **how)
        self.assertEqual(self.records(), [])
        shimmed = self.call(argv, preload=LIBRARY, **how)
        # Threads print as they come.
        self.assertEqual([sorted(x.split(b"\n")) if x is shimmed[1] else x for x in shimmed],
                         [sorted(x.split(b"\n")) if x is plain[1] else x for x in plain], argv)
        return plain, self.records()

    def rewritten(self, *argv, times=1, **how):
        outcome, records = self.both(*argv, **how)
        self.assertEqual(len(records), times, (argv, outcome, records))
        for record in records:
            self.assertEqual(record["file"], STAND_IN)
            self.assertEqual(record["TERSE_SHIM_PRELOAD"], LIBRARY)
            self.assertNotIn("LD_PRELOAD", record)
        return outcome, records

    def untouched(self, *argv, **how):
        outcome, records = self.both(*argv, **how)
        self.assertEqual(records, [], (argv, outcome))
        return outcome


class Table(Shimmed):
    """Every entry point of libc, in each kind of call."""

    def table(self, entries, test):
        for entry in entries:
            for how in ("plain", "vfork"):
                with self.subTest(entry=entry, how=how):
                    test(entry, how)

    def test_a_shell_with_a_string_becomes_terse_sh(self):
        script = "echo \"out $0 $1 $CALLER\"; echo err >&2; exit 3"
        argv = ["-name", "-c", script, "zero", "one"]

        def test(entry, how):
            (status, out, err), records = self.rewritten(CALLER, entry, how, "/bin/sh", *argv)
            given = entry not in ("execv", "execvp", "execl", "execlp")
            self.assertIn(b"out zero one %s\n" % (b"given" if given else b""), out)
            self.assertEqual(records[0].get("CALLER"), "given" if given else None)
            self.assertEqual(err, b"err\n")
            self.assertTrue(status == 3 or b"status 768" in out, (status, out))
            self.assertEqual(records[0]["argv"], argv)
            self.assertEqual(records[0]["TERSE_SHIM_PROGRAM"], "/bin/sh")
        self.table(HERE, test)

    def test_the_path_is_searched(self):
        def test(entry, how):
            _, records = self.rewritten(CALLER, entry, how, "bash", "bash", "-lc", "exit 5")
            self.assertEqual(records[0]["TERSE_SHIM_PROGRAM"], shutil.which("bash"))
        self.table([e for e in PATH_SEARCH if e in HERE], test)

    def test_the_path_leads_past_what_can_not_be_executed(self):
        for name, mode in (("a", 0o644), ("b", 0o755)):
            os.mkdir(os.path.join(self.work, name))
            write_file(os.path.join(self.work, name, "bash"), "#!/bin/sh\necho mine\n", mode)
        os.makedirs(os.path.join(self.work, "c", "bash"))
        path = ":".join(os.path.join(self.work, n) for n in ("none", "c", "a", "b")) + ":/bin"

        def test(entry, how):
            (_, out, _), records = self.rewritten(CALLER, entry, how, "bash", "bash", "-c",
                                                  "echo bash's", PATH=path)
            self.assertEqual(records[0]["TERSE_SHIM_PROGRAM"], os.path.join(self.work, "b/bash"))
            self.assertIn(b"mine", out)
        self.table([e for e in PATH_SEARCH if e in HERE], test)

    def test_a_relative_entry_of_the_path_is_left_alone(self):
        write_file(os.path.join(self.work, "bash"), "#!/bin/sh\necho mine\n", 0o755)

        def test(entry, how):
            for path in (".:/bin", ":/bin"):
                out = self.untouched(CALLER, entry, how, "bash", "bash", "-c", "x", PATH=path)[1]
                self.assertIn(b"mine", out)
        self.table([e for e in PATH_SEARCH if e in HERE], test)

    def test_other_programs(self):
        script = write_file(os.path.join(self.work, "script"), "echo script $*; exit 4")

        def test(entry, how):
            for argv in (["/bin/echo", "echo", "-c", "x"], ["/bin/sh", "sh", script, "-c", "x"],
                         ["/usr/bin/env", "env", "false"]):
                self.untouched(CALLER, entry, how, *argv)
        self.table(HERE, test)

    def test_missing_files(self):
        def test(entry, how):
            for path in ("/nonexistent/sh", "nosuchshell/sh", "/bin/sh/sh", "/" + "x" * 5000 + "/sh"):
                out = self.untouched(CALLER, entry, how, path, "sh", "-c", "echo it ran")[1]
                self.assertNotIn(b"it ran", out)
            self.untouched(CALLER, entry, how, "bash", "bash", "-c", "echo hi", PATH="/nonexistent")
        self.table(HERE, test)

    def test_bad_arguments(self):
        def test(entry, how):
            for argv in (["sh", "-c"], ["sh", "-o"], ["sh", "-c", "--"], ["sh", "-o", "-c", "x"]):
                self.untouched(CALLER, entry, how, "/bin/sh", *argv)
            # That is for the shell to say.
            self.rewritten(CALLER, entry, how, "/bin/bash", "bash", "--wrong", "-c", "x")
            if entry not in LISTS:
                self.untouched(CALLER, entry, how, "/bin/sh", "EMPTY")
                self.untouched(CALLER, entry, how, "/bin/sh")
            if entry not in LISTS and entry not in ("execv", "execvp", "execlp"):
                self.untouched(CALLER, entry, how, "/bin/sh", "sh", "-c", "echo hi",
                               CALLER_ENVP="null")
        self.table(HERE, test)

    def test_files_that_can_not_be_executed(self):
        path = os.path.join(self.work, "sh")
        write_file(path, "#!/bin/sh\necho hi\n", 0o644)
        os.mkdir(os.path.join(self.work, "dir"))
        os.mkdir(os.path.join(self.work, "dir", "sh"))
        os.mkfifo(os.path.join(self.work, "dir", "bash"))
        os.chmod(os.path.join(self.work, "dir", "bash"), 0o755)

        def test(entry, how):
            out = self.untouched(CALLER, entry, how, path, "sh", "-c", "x")[1]
            self.assertIn(b"errno 13\n" if "spawn" not in entry else b"returned 13", out)
            self.untouched(CALLER, entry, how, os.path.join(self.work, "dir/sh"), "sh", "-c", "x")
            self.untouched(CALLER, entry, how, os.path.join(self.work, "dir/bash"), "sh", "-c", "x")
            if entry in PATH_SEARCH:
                self.untouched(CALLER, entry, how, "sh", "sh", "-c", "x", PATH=self.work)
        self.table(HERE, test)

    def test_a_script_without_its_interpreter_is_run_by_libc_or_refused(self):
        for name in ("plain", "sh"):
            write_file(os.path.join(self.work, name), "echo by sh: $*\n", 0o755)

        def test(entry, how):
            for name in ("plain", "sh"):
                path = os.path.join(self.work, name)
                out = self.untouched(CALLER, entry, how, path, "zero", "-c", "x")[1]
                runs = GLIBC and entry in ("execvp", "execvpe", "execlp")
                self.assertEqual(b"by sh: -c x" in out, runs, out)
                if entry in PATH_SEARCH:
                    self.untouched(CALLER, entry, how, name, "zero", "-c", "x",
                                   PATH=self.work + ":/bin")
        self.table(HERE, test)

    def test_a_relative_path_is_left_alone(self):
        os.symlink("/bin/sh", os.path.join(self.work, "sh"))

        def test(entry, how):
            self.assertIn(b"hi", self.untouched(CALLER, entry, how, "./sh", "sh", "-c", "echo hi")[1])
        self.table(HERE, test)

    def test_spawns_keep_their_actions_and_attributes(self):
        script = "echo nine >&9; grep SigBlk /proc/self/status"
        for entry in [e for e in HERE if "spawn" in e]:
            (_, out, _), _ = self.rewritten(CALLER, entry, "plain", "/bin/bash", "bash", "-c",
                                                 script)
            self.assertRegex(out, rb"nine\nSigBlk:\t0+200\n(.*\n)?returned 0(, errno 4242)?\n")

    def test_strings_of_system_and_popen(self):
        scripts = ["echo out; echo \"$0 $#\"; exit 3", "kill -9 $$", "exit 127", "nosuchcommand", "",
                   "echo 'it'\\''s' \"$HOME\" `echo b` \\\\", "if", "# comment", "echo a\necho b",
                   "trap 'echo exit' EXIT; true", "echo $PPID >/dev/null; read x; echo \"got $x\""]
        for script in scripts:
            for entry in STRINGS:
                for how in ("plain", "vfork"):
                    with self.subTest(entry=entry, how=how, script=script):
                        _, records = self.rewritten(CALLER, entry, how, "-", script)
                        self.assertEqual(records[0]["argv"], ["/bin/sh", "-c", script, "sh"])
                        self.assertEqual(records[0]["TERSE_SHIM_PROGRAM"], "/bin/sh")

    def test_strings_that_are_not_for_terse(self):
        for entry in STRINGS:
            for script in ("-x", "+x", "true " + "x" * 9000, "true " + "\\'" * 2500):
                self.untouched(CALLER, entry, "plain", "-", script)
        self.untouched(CALLER, "system", "plain", "-")
        # Without the library in the environment of the shell between, the string just runs.
        script = "import os; del os.environ['LD_PRELOAD']; os.system('echo \"$0\"; exit 3')"
        self.untouched(sys.executable, "-c", script.replace("del os.environ['LD_PRELOAD']",
                                                            "os.environ.pop('LD_PRELOAD', 0)"))

    def test_threads(self):
        # musl's popen() closes other threads' descriptors, without the library, too.
        for entry in HERE + STRINGS[:None if GLIBC else 1]:
            with self.subTest(entry=entry):
                # The longest that system() takes there, too.
                argv = ["-", "exit 6 #" + "x" * 8000] if entry in STRINGS else \
                    ["/bin/sh", "sh", "-c", "exit 6"]
                outcome, _ = self.rewritten(CALLER, entry, "threads", *argv, times=30)
                self.assertEqual(outcome[1].count(b"1536"), 30, outcome)

    def test_a_small_stack_holds_every_environment(self):
        """PTHREAD_STACK_MIN, and from 0 to 1,100 variables; up to 1,024 go to terse-sh."""
        for entry, path in (("execve", "/bin/sh"), ("execvpe", "sh"), ("posix_spawnp", "sh")):
            outcome, records = self.both(CALLER, entry, "sizes", path, "sh", "-c", ":")
            self.assertEqual(outcome, (0, b"", b""), entry)
            # Without the second variable there is no report.
            self.assertIn(len(records), range(1023, 1100), entry)

    def test_a_small_stack_holds_arguments_and_environment(self):
        for count in range(0, 1100, 100):
            env = {"V%d" % n: "" for n in range(count)}
            outcome, records = self.both(CALLER, "execl_long", "threads", "/bin/sh", "sh", "-c",
                                         "exit 6", **env)
            self.assertEqual(outcome[1].count(b"status 1536\n"), 30, count)
            self.assertEqual(len(records), 30 if count < 450 else 0, count)

    def test_system_and_popen_stay_those_of_libc(self):
        # system() ignores these meanwhile.
        script = "kill -INT $PPID; kill -QUIT $PPID; echo on"
        (status, out, _), _ = self.rewritten(CALLER, "system", "plain", "-", script)
        self.assertEqual((status, out), (0, b"on\nreturned 0, errno 4242\n"))
        outcome, _ = self.rewritten(CALLER, "popen_to", "plain", "-", "read x; echo got $x; exit 2")
        self.assertIn(b"got written\n", outcome[1])
        self.assertIn(b"status 512\n", outcome[1])

    def test_many_arguments(self):
        argv = ["sh", "-c", "echo $# ${299}; exit 3"]
        outcome, records = self.rewritten(CALLER, "execl_long", "plain", "/bin/bash", *argv)
        self.assertEqual(outcome[:2], (3, b"299 x\n"))
        self.assertEqual(len(records[0]["argv"]), 303)
        self.assertEqual(self.untouched(CALLER, "execl_long", "vfork", "/bin/echo", *argv)[0], 0)
        words = ["word%d" % n for n in range(20000)]
        self.rewritten(CALLER, "execve", "vfork", "/bin/sh", "sh", "-c", "echo $#", *words)


class Environment(Shimmed):
    """The environment of terse-sh, and the cases in which it is not called at all."""

    def shell(self, entry="execv", path="/bin/sh", script="env -0 | sort -z", **env):
        """An exec with the library; returns (output, records)."""
        status, out, err = self.call([CALLER, entry, "plain", path, "sh", "-c", script],
                                     preload=env.pop("preload", LIBRARY), **env)
        self.assertEqual((status, err), (0, b""), out)
        return out, self.records()

    @unittest.skipUnless(GLIBC, "the libraries are glibc's")
    def test_other_libraries_are_kept_and_nothing_else_changes(self):
        for preload, rest in (("libm.so.6:%s", "libm.so.6"), ("%s libm.so.6", "libm.so.6"),
                              ("libm.so.6 %s:libdl.so.2", "libm.so.6:libdl.so.2"),
                              ("libm.so.6:%s libdl.so.2", "libm.so.6 libdl.so.2")):
            before = self.call(["/bin/sh", "-c", "env -0 | sort -z"], TERSE_SHIM_SHELL=STAND_IN,
                               LD_PRELOAD=rest)[1]
            out, (record,) = self.shell(preload=preload % LIBRARY)
            self.assertEqual(record["LD_PRELOAD"], rest)
            self.assertEqual(record["TERSE_SHIM_PRELOAD"], preload % LIBRARY)
            self.assertEqual(out, before)

    def test_what_was_not_preloaded_is_not_restored(self):
        script = ("import os; e = dict(os.environ); del e['LD_PRELOAD']; "
                  "e.update(TERSE_SHIM_PRELOAD='old', TERSE_SHIM_PROGRAM='old'); "
                  "os.execve('/bin/sh', ['sh', '-c', 'exit 3'], e)")
        status, _, err = self.call([sys.executable, "-c", script], preload=LIBRARY)
        self.assertEqual((status, err), (3, b""))
        record, = self.records()
        self.assertEqual(record["TERSE_SHIM_PROGRAM"], "/bin/sh")
        self.assertFalse({"LD_PRELOAD", "TERSE_SHIM_PRELOAD"} & set(record))

    def test_one_level(self):
        script = "sh -c 'bash -c \"exec sh -c : \"'; env sh -c :; echo ${LD_PRELOAD-none}"
        out, records = self.shell(script=script)
        self.assertEqual((out, len(records)), (b"none\n", 1))
        # terse-sh may put it back.
        out, records = self.shell(script=script, STAND_IN_RESTORE="1")
        self.assertEqual((out, len(records)), (LIBRARY.encode() + b"\n", 5))

    def test_launchers_keep_it(self):
        launcher = write_file(os.path.join(self.work, "agent"),
                              "#!/usr/bin/env bash\nexec env \"$@\"\n", 0o755)
        (_, out, _), records = self.rewritten(
            "/usr/bin/nice", launcher, "--", sys.executable, "-c",
            "import subprocess as s; s.run(['sh', '-c', 'echo tool; sh -c :'])")
        self.assertEqual((out, len(records)), (b"tool\n", 1))

    def test_terse_sh_beside_the_library(self):
        directory = os.path.join(self.work, "lib")
        os.mkdir(directory)
        library = shutil.copy(LIBRARY, directory)
        out, records = self.shell(preload=library, TERSE_SHIM_SHELL=None, script="echo")
        self.assertEqual((out, records), (b"\n", []))
        shutil.copy(STAND_IN, os.path.join(directory, "terse-sh"))
        _, (record,) = self.shell(preload=library, TERSE_SHIM_SHELL=None, script="echo")
        self.assertEqual(record["file"], os.path.join(directory, "terse-sh"))

    def test_terse_sh_under_another_name(self):
        os.mkdir(os.path.join(self.work, "terse"))
        link = os.path.join(self.work, "terse", "bash")
        other = os.path.join(self.work, "terse-bash")
        os.symlink(STAND_IN, link)
        os.symlink(STAND_IN, other)
        for path in (link, other, STAND_IN):
            for argv in (["bash", "-c", "exit 3"], ["bash", "-c"], ["bash", "script"]):
                self.call([CALLER, "posix_spawn", "plain", path, *argv], preload=LIBRARY)
                record, = self.records()
                self.assertEqual(record["argv"], argv)
                self.assertEqual(record["TERSE_SHIM_PRELOAD"], LIBRARY)
                self.assertFalse({"LD_PRELOAD", "TERSE_SHIM_PROGRAM"} & set(record))

    def test_without_terse_sh_calls_go_on(self):
        not_executable = write_file(os.path.join(self.work, "text"), "")
        no_format = write_file(os.path.join(self.work, "empty"), "neither\n", 0o755)
        no_loader = write_file(os.path.join(self.work, "lost"), "#!/nonexistent\n", 0o755)
        for shell in ("/nonexistent", "build/terse-sh", "", not_executable, self.work, no_format,
                      no_loader, "/" + "x" * 5000):
            for entry in HERE + STRINGS:
                argv = [CALLER, entry, "plain", "/bin/sh", "sh", "-c", "echo $0 hi; exit 3"]
                with self.subTest(shell=shell[:40], entry=entry):
                    self.assertEqual(self.call(argv, preload=LIBRARY, TERSE_SHIM_SHELL=shell),
                                     self.call(argv))
        self.assertEqual(self.records(), [])

    def test_below_a_terse_that_captures_it_does_nothing(self):
        """In its session; where the variable was only inherited terse-sh looks."""
        active = "%d-1" % os.getsid(0)
        self.assertEqual(self.shell(script="echo", TERSE_ACTIVE=active)[1], [])
        for active in ("", "1", "1-1", "99999999999999999999-1", "%d0-1" % os.getsid(0)):
            self.assertEqual(len(self.shell(script="echo", TERSE_ACTIVE=active)[1]), 1, active)

    def test_what_would_need_much_memory_goes_on(self):
        """A budget for all of it together."""
        def many(count):
            return {"V%d" % n: "" for n in range(count)}

        def libraries(count):
            return {"preload": ":".join([LIBRARY] + ["libm.so.6"] * count)}

        for env in (many(1100), libraries(450), {**many(900), **libraries(100)}):
            self.assertEqual(self.shell(script="echo", **env)[1], [])
        for env in (many(900), libraries(300), {**many(700), **libraries(100)}):
            self.assertEqual(len(self.shell(script="echo", **env)[1]), 1)

    def test_a_call_from_a_constructor_before_its_own(self):
        source = write_file(os.path.join(self.work, "early.c"), """
            #include <spawn.h>
            #include <stdio.h>
            #include <stdlib.h>
            #include <sys/wait.h>
            #include <unistd.h>
            static __attribute__((constructor)) void early(void)
            {
                char *argv[] = {"sh", "-c", "echo spawned", NULL};
                int status;
                pid_t pid;
                if (!getenv("EARLY"))
                    return;
                unsetenv("EARLY");
                printf("%d\\n", system("echo system; exit 3"));
                fflush(stdout);
                if (posix_spawnp(&pid, "sh", NULL, NULL, argv, environ) == 0)
                    waitpid(pid, &status, 0);
                if (vfork() == 0)
                    execl("/bin/sh", "sh", "-c", "echo child", (char *)NULL);
                wait(&status);
                argv[2] = "echo replaced";
                execvp("sh", argv);
            }""")
        early = os.path.join(self.work, "early.so")
        subprocess.run(["gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", early, source], check=True)
        for preload in (early, early + ":" + LIBRARY, LIBRARY + ":" + early):
            status, out, err = self.call(["/bin/true"], EARLY="1", TERSE_SHIM_SHELL=STAND_IN,
                                         LD_PRELOAD=preload)
            self.assertEqual((status, err), (0, b""))
            self.assertEqual(out, b"system\n768\nspawned\nchild\nreplaced\n")


def executable(*names):
    return next((path for path in map(shutil.which, names) if path), None)


class Callers(Shimmed):
    """Programs that start shells, each in its own way."""

    def test_shells(self):
        for shell in ("bash", "dash", "sh", "zsh", "ksh"):
            path = shutil.which(shell)
            if not path:
                continue
            script = write_file(os.path.join(self.work, "script"), """
                sh -c 'echo one; exit 3'; echo $?
                x=$(bash -c 'echo two $0' zero); echo "$x"
                echo three | sh -c 'cat; exit 1' | cat
                sh -c 'kill -9 $$' || echo $?
                /bin/echo four; nosuchprogram 2>/dev/null; echo $?
                sh -c 'sleep 0' & wait $!; echo $?
                exec -- bash -euo pipefail -c 'echo five; false | true; echo not'
            """.replace("-- ", ""))
            with self.subTest(shell=shell):
                # bash names the killed process by its ID.
                (status, _, _), _ = self.rewritten(path, "-c", ". %s 2>/dev/null" % script, times=6)
                self.assertEqual(status, 1)

    def test_python(self):
        script = write_file(os.path.join(self.work, "caller.py"), r"""
import os, signal, subprocess, sys
sub = subprocess
def say(*what):
    print(*what, flush=True)
sub._USE_VFORK = sub._USE_POSIX_SPAWN = False
say(sub.run("echo fork; exit 3", shell=True).returncode)
sub._USE_VFORK = True
say(sub.run("echo vfork; exit 3", shell=True, cwd="/").returncode)
say(sub.run(["bash", "-c", "echo path"], env={"PATH": "/nonexistent:/bin"}).returncode)
sub._USE_POSIX_SPAWN = True
say(sub.run(["/bin/sh", "-c", "echo spawn"], close_fds=False).returncode)
say(sub.run("cat; echo err >&2", shell=True, input=b"in", capture_output=True))
say(sub.run("kill -TERM $$", shell=True, preexec_fn=lambda: None).returncode)
try:
    sub.run(["nosuchprogram", "-c", "x"])
except OSError as error:
    say(error)
try:
    sub.run(["sh", "-c", "x"], executable="/nonexistent/sh")
except OSError as error:
    say(error)
say(os.system("echo system; exit 4"), os.popen("echo popen").read())
say(os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", "exit 5"],
    os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 1, 9)], setsigdef=[signal.SIGPIPE]), 0)[1]))
for call in (lambda: os.execl("/bin/sh", "sh", "-c", "echo execl"),
             lambda: os.execvpe("sh", ["sh", "-c", "echo $X"], {"X": "execvpe", "PATH": "/bin"})):
    pid = os.fork()
    if pid == 0:
        call()
    os.waitpid(pid, 0)
os.execlp("bash", "-bash", "-c", "echo $0; exit 6")
""")
        outcome, records = self.both(sys.executable, script)
        self.assertEqual((outcome[0], outcome[2]), (6, b""), outcome)
        # The one with an environment of its own has no place for the report.
        self.assertEqual(len(records), 10)

    def test_perl(self):
        outcome, records = self.rewritten("perl", "-e", r"""
            $| = 1;
            print system("echo a; exit 3"), "\n";
            print `echo b; exit 4`, $?, "\n";
            print system("/bin/sh", "-c", "exit 5"), "\n";
            open(my $p, "-|", "echo c | cat") or die; print <$p>; close($p);
            print system("nosuchprogram"), "\n";
            exec "echo d; exit 6";
        """, times=5)
        self.assertEqual(outcome[0], 6)
        self.assertEqual(records[0]["argv"], ["sh", "-c", "echo a; exit 3"])

    def test_make(self):
        write_file(os.path.join(self.work, "Makefile"),
                   "x := $(shell echo one; true)\nall: sub\n\t@echo $(x); true\n\t-@exit 3\n"
                   "sub:\n\t@$(MAKE) --no-print-directory deep\ndeep:\n\t@echo deep; true\n")
        outcome, _ = self.rewritten("make", "-j2", "all", times=5)
        self.assertIn(b"deep\none\n", outcome[1])
        self.assertEqual(self.both("make", "SHELL=/bin/bash", ".SHELLFLAGS=-ec", "deep")[0][0], 0)

    def test_xargs_find_and_env(self):
        self.rewritten("sh", "-c", "seq 3 | xargs -n1 sh -c 'echo $0'", times=3)
        self.rewritten("find", "/", "-maxdepth", "0", "-exec", "sh", "-c", "echo $0", "{}", ";")
        self.rewritten("env", "-i", "/bin/bash", "-c", "echo ${PATH:+path}", times=0)
        self.rewritten("timeout", "20", "sh", "-c", "exit 3")

    def test_node(self):
        node = executable("node")
        if not node:
            self.skipTest("no node")
        script = r"""
            const c = require("child_process");
            const show = r => console.log(r.status, r.signal, String(r.stdout), String(r.stderr));
            show(c.spawnSync("echo a; echo b >&2; exit 3", {shell: true}));
            show(c.spawnSync("bash", ["-c", "kill -9 $$"]));
            show(c.spawnSync("/bin/bash", ["-c", "cat"], {input: "in"}));
            console.log(c.spawnSync("nosuchprogram", ["-c", "x"]).error.code);
            console.log(c.spawnSync("sh", ["-c", "x"], {cwd: "/nonexistent"}).error.code);
            const p = c.spawn("bash", ["-c", "exec >&4; echo four"],
                              {detached: true, stdio: ["pipe", "pipe", "pipe", "pipe", "pipe"]});
            p.stdio[4].on("data", d => console.log(String(d)));
            p.on("close", code => console.log(code));
        """
        self.rewritten(node, "-e", script, times=4)

    def test_rust(self):
        rustc = executable("rustc")
        if not rustc or subprocess.run([rustc, "-V"], capture_output=True, check=False).returncode:
            self.skipTest("no rustc")
        source = write_file(os.path.join(self.work, "caller.rs"), r"""
            use std::os::unix::process::CommandExt;
            use std::process::Command;
            fn main() {
                let sh = || { let mut c = Command::new("sh"); c.arg("-c").arg("echo a; exit 3"); c };
                println!("{:?}", sh().status());
                println!("{:?}", sh().output());
                println!("{:?}", unsafe { sh().pre_exec(|| Ok(())) }.output());
                println!("{:?}", sh().env("PATH", "/bin").current_dir("/").output());
                println!("{:?}", Command::new("nosuchprogram").arg("-c").arg("x").status());
                println!("{:?}", Command::new("/nonexistent/sh").arg("-c").arg("x").status());
                println!("{:?}", Command::new("sh").arg0("zero").arg("-c").arg("exit 4").exec());
            }""")
        subprocess.run([rustc, "-o", "caller", source], cwd=self.work, check=True,
                       capture_output=True)
        self.assertEqual(self.rewritten(os.path.join(self.work, "caller"), times=5)[0][0], 4)

    def test_static_programs_are_unharmed(self):
        static = os.path.join(self.work, "caller")
        subprocess.run(["gcc", "-static", "-D_GNU_SOURCE", "-w", "-o", static,
                        os.path.join(SOURCE, "tests/cli/helper/exec_caller.c")], check=True)
        for entry in HERE + STRINGS:
            self.untouched(static, entry, "plain", "/bin/sh", "sh", "-c", "echo hi; exit 3")
        # Their children are not static: the shell between has the library.
        (_, out, _), _ = self.rewritten(static, "execve", "plain", "/bin/bash", "bash", "-c",
                                        "echo outer; exec sh -c 'echo inner; sh -c :'")
        self.assertEqual(out, b"outer\ninner\n")

    def test_go_programs_are_unharmed(self):
        go = executable("go")
        if not go:
            self.skipTest("no go")
        source = write_file(os.path.join(self.work, "caller.go"), """
            package main
            import ("fmt"; "os/exec")
            func main() {
                out, err := exec.Command("sh", "-c", "echo a; exit 3").CombinedOutput()
                fmt.Println(string(out), err)
            }""")
        # Go's own library is compiled only once.
        env = self.env(GOCACHE=os.path.join(BUILD, "go-cache"), GOFLAGS="-mod=mod")
        subprocess.run([go, "build", "-o", "caller", source], cwd=self.work, check=True,
                       env=env, capture_output=True)
        self.untouched(os.path.join(self.work, "caller"))

    def test_sanitized_programs_are_unharmed(self):
        source = os.path.join(SOURCE, "tests/cli/helper/exec_caller.c")
        caller = os.path.join(self.work, "caller")
        for compiler in ("clang", "gcc"):
            subprocess.run([compiler, "-fsanitize=address,undefined", "-D_GNU_SOURCE", "-w", "-o",
                            caller, source], check=True)
            for entry in ("execve", "execl", "posix_spawnp", "system", "popen"):
                self.rewritten(caller, entry, "plain", "/bin/sh", "sh", "-c", "exit 3",
                               ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")


class BashEnv(Shimmed):
    """bash-env: terse-sh replaces a bash with a string, with its options and its path."""

    SCRIPT = ("echo \"$0 $# $* $-\" $SHELLOPTS $BASHOPTS $BASH; echo ${TERSE_BASH_ENV-gone}; false; "
              "echo \"on $nosuch\" /etc/pass* /nosuch* {a,b}; false | true; echo $?; "
              "type mine; echo \"${unexported-none}\"")

    def bash(self, *options, replaced=True, suffix="${-//[!v]}", library=(), **env):
        """The same with and without it, and whether terse-sh was called."""
        argv = ["/bin/bash", *options, "-c", self.SCRIPT, "zero", "one", "2  3"]

        def call(**how):
            # Both members of a pipeline trace as they come.
            status, out, err = self.call(argv, **how)
            return status, out, sorted(err.split(b"\n"))

        plain = call(**env)
        path = os.path.join(SOURCE, "shim", "bash-env") + suffix
        for preload in (None, *library):
            ours = call(preload=preload, BASH_ENV=path, **{
                "TERSE_SHIM_SHELL": STAND_IN, "STAND_IN_RESTORE": "1", "SHELL": "/bin/dash", **env})
            self.assertEqual(ours, plain, (options, preload))
            records = [r["TERSE_SHIM_PROGRAM"] for r in self.records()]
            self.assertEqual(records, ["/bin/bash"] if replaced else [], (options, preload))

    def test_every_option_stays(self):
        for options in ([], ["-e"], ["-u"], ["-f"], ["+B"], ["-l"], ["-C"], ["+h"], ["-a"], ["-b"],
                        ["-m"], ["-E"], ["-T"], ["-P"], ["-t"], ["-H"], ["-o", "pipefail"],
                        ["-o", "nolog"], ["-euo", "pipefail"], ["-O", "extglob"],
                        ["-O", "nullglob", "-O", "globstar", "-f"], ["+O", "sourcepath"],
                        ["-leu", "-O", "failglob"], ["+hB", "+o", "interactive-comments"]):
            self.bash(*options)
        self.bash(library=[LIBRARY])

    def test_what_can_not_be_handed_on_is_left_alone(self):
        for options in (["-x"], ["-v"], ["-n"], ["-k"], ["-p"], ["--posix"], ["-vx"], ["-i"], ["-r"]):
            self.bash(*options, replaced=False)
        self.bash("-ex", replaced=False, suffix="")
        for options in ([], ["-eu"]):
            self.bash(*options, replaced=False, TERSE_ACTIVE="%d-1" % os.getsid(0))
            self.bash(*options, TERSE_ACTIVE="1-1")

    def test_where_it_can_not_be_executed(self):
        """The string runs in the shell that is there, with all it had."""
        bad = write_file(os.path.join(self.work, "bad"), b"\x7fELF garbage\0", 0o755)
        path = os.path.join(SOURCE, "shim", "bash-env") + "${-//[!v]}"
        for options in ([], ["-e"], ["-u"], ["-l"], ["-leu"], ["-O", "execfail"], ["-euo", "pipefail"]):
            argv = ["/bin/bash", *options, "-c", self.SCRIPT + "; env | grep -c TERSE_", "zero", "one", "2  3"]
            plain = self.call(argv, TERSE_SHIM_SHELL=bad)
            status, out, err = self.call(argv, BASH_ENV=path, TERSE_SHIM_SHELL=bad)
            self.assertEqual((status, out), plain[:2], options)
            self.assertIn(b"cannot execute binary file", err)

    def test_options_and_functions_of_a_profile(self):
        profile = os.path.join(self.home, ".bash_profile")
        write_file(profile, "export PATH=$PATH:/mine; set -f; shopt -s nullglob; echo once")
        self.bash("-l", HOME=self.home)
        write_file(profile, "mine() { :; }; unexported=1; echo once")
        self.bash("-l", replaced=False, HOME=self.home)


class Build(Case):
    """The content of the file."""

    def readelf(self, *options):
        return subprocess.run(["readelf", "-W", *options, LIBRARY], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def test_it_needs_nothing_and_exports_what_it_stands_for(self):
        symbols = re.findall(r"(\w+) +DEFAULT +(\w+) (\S+)$", self.readelf("--dyn-syms"), re.M)
        exported = {name for _, section, name in symbols if section != "UND"}
        self.assertLessEqual(set(BY_PATH + PATH_SEARCH + STRINGS) - exported,
                             {"pidfd_spawn", "pidfd_spawnp"})
        self.assertLessEqual(exported, set(BY_PATH + PATH_SEARCH + STRINGS))
        # Those that every libc has: nothing fortified, no malloc. And those that only some have, weak.
        weak = set(re.findall(r"WEAK +DEFAULT +UND (\S+)$", self.readelf("--dyn-syms"), re.M))
        self.assertEqual(weak, {"dlsym", "dladdr", "__libc_dlopen_mode", "__libc_dlsym"})
        self.assertLessEqual({name for _, section, name in symbols if section == "UND"} - weak, {
            "__errno_location", "__stack_chk_fail", "environ", "faccessat",
            "getenv", "memcpy", "memset", "stpcpy", "strcmp", "strcpy", "strcspn", "strlen",
            "strncmp", "strrchr", "syscall"})
        dynamic = self.readelf("-d")
        self.assertNotIn("(NEEDED)", dynamic)
        self.assertNotIn("TEXTREL", dynamic)
        self.assertIn("BIND_NOW", dynamic)
        self.assertNotIn("Version needs", self.readelf("-V"))

    def test_it_is_hardened(self):
        segments = self.readelf("-l")
        self.assertRegex(segments, r"GNU_STACK.* RW +0x")
        self.assertIn("GNU_RELRO", segments)
        self.assertNotRegex(segments, r"LOAD.* RWE ")

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "libterse.a")), "terse was not built there")
    def test_it_is_installed_and_removed(self):
        for goal, there in (("install", True), ("uninstall", False)):
            subprocess.run(["make", "-s", "-C", SOURCE, goal, "BUILD=" + BUILD, "PREFIX=/usr",
                            "DESTDIR=" + self.work], check=True, capture_output=True)
            directory = os.path.join(self.work, "usr/lib/terse")
            self.assertEqual(os.path.exists(os.path.join(directory, "libterse-shim.so")), there)
            self.assertEqual(os.path.exists(os.path.join(directory, "terse-launcher")),
                             there and os.uname().machine in ("x86_64", "aarch64"))
            # Where the library looks for it.
            self.assertEqual(os.path.lexists(os.path.join(directory, "terse-sh")), there)


main()
