#!/usr/bin/env -S python3 -B
"""The command line of `terse run`, switches in the environment, terse inside terse."""

import os
import re
import subprocess

from support.harness import (Case, FOOTER, TERSE, eventually, let_go_on, main, numbers, read_file,
                             write_file)


class Usage(Case):
    def bad(self, *argv, say=b""):
        run = self.terse(*argv, split=True)
        self.assertEqual((run.code, run.out), (125, b""), argv)
        self.assertTrue(run.err.startswith(b"terse"), run.err)
        self.assertIn(say, run.err)
        self.assertFalse(os.path.exists(os.path.join(self.work, "ran")))

    def test_bad_usage_runs_nothing(self):
        self.bad("--no-such-option", "touch", "ran", say=b"--no-such-option")
        self.bad("run", "--no-such-option", "touch", "ran", say=b"--no-such-option")
        self.bad("run", "--for", "x", "--no-such-option", "touch", "ran", say=b"--no-such-option")
        self.bad("-x", "touch", "ran")
        self.bad("--timeout", "soon", "touch", "ran", say=b"--timeout")
        self.bad("--size", "1", "touch", "ran", say=b"--size")
        self.bad("--mode=some", "touch", "ran", say=b"--mode")
        self.bad("--timeout")
        self.bad("-c")
        self.bad("--cwd")
        self.bad("run")
        self.bad("--")
        self.bad("--full")

    def test_nothing_at_all_prints_help(self):
        run = self.run_to_end(TERSE)
        self.assertEqual(run.code, 125)
        self.assertIn(b"terse COMMAND", run.out)

    def test_help_and_version(self):
        for words in (("help",), ("--help",), ("-h",), ("help", "run"), ("version",),
                      ("--version",)):
            run = self.terse(*words)
            self.assertEqual(run.code, 0)
            self.assertTrue(run.out)
        self.assertEqual(self.terse("help", "nothing").code, 125)

    def test_doctor_and_a_store_that_is_not_set(self):
        """It is no error, whichever of the others is used."""
        here = os.path.join(self.work, "here")
        os.mkdir(here)
        below = {"TERSE_HOME": here, "XDG_STATE_HOME": here + "/terse", "HOME": here + "/.local/state/terse",
                 "XDG_RUNTIME_DIR": here + "/terse", "TMPDIR": "%s/terse-%d" % (here, os.geteuid())}
        for nothing in (None, ""):
            for name, path in below.items():
                run = self.terse("doctor", env={**dict.fromkeys(below, nothing), name: here})
                self.assertEqual(re.findall(r"(?m)^.* store: .*$", run.out.decode()),
                                 ["ok       store: %s (%s)" % (path, name)])

    def test_doctor_and_a_store_that_cannot_be_used(self):
        here = os.path.join(self.work, "here")
        os.mkdir(here)
        for name in ("XDG_STATE_HOME", "HOME", "XDG_RUNTIME_DIR"):
            run = self.terse("doctor", env={"TERSE_HOME": None, "XDG_STATE_HOME": None, "HOME": None,
                                            "XDG_RUNTIME_DIR": None, "TMPDIR": here, name: "not/absolute"})
            self.assertEqual(re.findall(r"(?m)^.* store: .*$", run.out.decode()), [
                "-        store: %s is ignored: not an absolute path" % name,
                "ok       store: %s/terse-%d (TMPDIR)" % (here, os.geteuid())])

    def test_version_in_one_letter(self):
        for word in ("-V", "-v"):
            self.assertEqual(self.terse(word).out, self.terse("version").out)

    def test_typing_errors_get_a_hint(self):
        for argv, code, err in (
                (("list", "--faild"), 125,
                 b"terse list: --faild: no such option (did you mean --failed?)"),
                (("raed", "last"), 127, b"terse: raed: command not found (did you mean terse read?)"),
                (("xyzzy",), 127, b"terse: xyzzy: command not found"),
                (("help", "serach"), 125, b"terse help: serach: no such verb (did you mean search?)"),
                (("--sizee", "3", "true"), 125,
                 b"terse: --sizee: no such option (did you mean --size?)"),
                (("--sizee=3", "true"), 125,
                 b"terse: --sizee: no such option (did you mean --size?)"),
                (("--no-ptty", "true"), 125, b"terse: --no-ptty: no such option (did you mean --no-pty?)"),
                (("--ful", "true"), 125, b"terse: --ful: no such option (did you mean --full?)"),
                (("--frobnicate", "true"), 125,
                 b"terse: --frobnicate: no such option (see terse help run)"),
                (("--cdw", "/", "true"), 125,
                 b"terse: --cdw: no such option (did you mean --cwd?)"),
                (("read", "--limti", "3", "x"), 125,
                 b"terse read: --limti: no such option (did you mean --limit?)"),
                (("filter", "--exit-cod", "1"), 125,
                 b"terse filter: --exit-cod: no such option (did you mean --exit-code?)"),
                (("config", "--agent"), 125,
                 b"terse config: --agent: no such option (did you mean --agents?)"),
                (("config", "chekc"), 125, b"terse config: chekc: no such action, and no such "
                 b"command (see terse help config)"),
                (("config", "completion", "ksh"), 125, b"terse config: ksh: there are completions "
                 b"for bash, zsh and fish (see terse help config)")):
            run = self.terse(*argv, split=True)
            self.assertEqual((run.code, run.out, run.err), (code, b"", err + b"\n"))
        for argv in (("config", "sed", "-n", "1p"), ("config", "--", "profiles"),
                     ("config", "cd", "x"), ("config", "rg", "x"), ("config", "completion", "bash")):
            self.assertEqual(self.terse(*argv, split=True).err, b"", argv)

    def test_other_variables_are_left_alone(self):
        for name in ("TERSE_WORDS_OF_MINE", "TERSE_CONFIG", "TERSE_SHIM_SHELL", "TERSE_X"):
            run = self.terse("echo", "x", split=True, env={name: ""})
            self.assertEqual((run.out, run.err), (b"x\n", b""), name)

    def test_what_is_piped_into_terse_is_filtered(self):
        write_file(os.path.join(self.work, "log"), numbers(3000))
        want = self.shell("terse filter <log").out
        self.assertTrue(FOOTER.search(self.shell("cat log | terse").out))
        for command in ("terse <log", "terse filter log", "terse filter log </dev/null"):
            self.assertEqual(self.shell(command).out.split(b"[terse:")[0], want.split(b"[terse:")[0])
        self.assertIn(b"terse filter takes what is piped in", self.shell("cat log | terse --full").out)
        run = self.terse("filter", "nosuch", split=True)
        self.assertEqual((run.code, run.err),
                         (125, b"terse filter: nosuch: No such file or directory\n"))
        run = self.terse("filter", "log", "log", split=True)
        self.assertEqual((run.code, run.err.count(b"\n")), (125, 1))

    def test_every_verb_tells_of_itself(self):
        overview = self.terse("help").out.decode()
        verbs = re.findall(r"^  ([a-z]+) +[a-z]", overview.split("Verbs:")[1], re.M)
        self.assertGreater(len(verbs), 20)
        for verb in verbs:
            run = self.terse(verb, "--help")
            self.assertEqual(run.code, 0, verb)
            self.assertTrue(run.out.startswith(b"Usage: terse "), verb)
            self.assertEqual(run.out, self.terse("help", verb).out)
            for words in (("-h",), ("-h", "last", "x"), ("--help", "--", "touch x"), ("--json", "-h"),
                          ("--session", "--help", "--help")):
                if words[0] in ("-h", "--help") or b"  %s " % words[0].encode() in run.out:
                    again = self.terse(verb, *words)
                    self.assertEqual((again.code, again.out), (0, run.out), (verb, words))
        self.assertEqual(self.terse("read", "last", "--help").out, self.terse("help", "read").out)
        for words in (("--size", "4KB", "--help"), ("--yield=5s", "--cwd", "/", "-h", "touch", "x")):
            self.assertEqual(self.terse(*words).out, self.terse("help", "run").out, words)
        self.assertEqual(os.listdir(self.work), [])

    def test_help_that_is_asked_of_another(self):
        """A value, a word of the command, an argument of its string, what follows --."""
        write_file(os.path.join(self.work, "file"), "--help\n")
        tell = write_file(os.path.join(self.work, "tell"), '#!/bin/sh\necho "$1"\n', 0o755)
        for words, out in (((tell, "--help"), "--help"), (("--size", "4KB", tell, "-h"), "-h"),
                           (("run", "-c", "echo $0", "--help"), "--help"), (("run", "--", tell, "-h"), "-h"),
                           (("agent", "sh", tell, "--help"), "--help"), (("search", "file", "-e", "--help"), "1:--help")):
            run = self.terse(*words)
            self.assertEqual((run.code, run.out), (0, out.encode() + b"\n"), words)

    def test_words_with_a_typing_error(self):
        for words, code, err in (
                (("--verison",), 125, "terse: --verison: no such option (did you mean --version?)"),
                (("run", "--hepl"), 125, "terse: --hepl: no such option (did you mean --help?)"),
                (("list", "--hepl"), 125, "terse list: --hepl: no such option (did you mean --help?)"),
                (("config", "--hepl"), 125, "terse config: --hepl: no such option (did you mean --help?)"),
                (("read", "lats"), 1, "terse read: lats: no such artifact (did you mean last?)"),
                (("signal", "lsat"), 1, "terse signal: lsat: no such artifact (did you mean last?)"),
                (("show", "last"), 1, "terse show: last: no such artifact (terse list shows what there is)"),
                (("init", "cluade"), 125, "terse init: cluade: no such agent (did you mean claude?)"),
                (("init", "vscdoe", "--mcp"), 125, "terse init: vscdoe: no such agent (did you mean vscode?)"),
                (("read", "/nosuch/file"), 1, "terse read: /nosuch/file: No such file or directory"),
                (("search", "./file", "x"), 1, "terse search: ./file: No such file or directory")):
            run = self.terse(*words, split=True)
            self.assertEqual((run.code, run.out, run.err.decode()), (code, b"", err + "\n"), words)

    def test_options_end_at_the_command(self):
        self.assertEqual(self.terse("echo", "--size", "-c", "--").out, b"--size -c --\n")

    def test_double_dash(self):
        write_file(os.path.join(self.work, "read"), "#!/bin/sh\necho mine $1\n", 0o755)
        env = {"PATH": self.work + ":" + os.environ.get("PATH", "/usr/bin:/bin")}
        self.assertEqual(self.terse("--", "read", "x", env=env).out, b"mine x\n")
        self.assertEqual(self.terse("run", "read", "x", env=env).out, b"mine x\n")
        self.assertEqual(self.terse("--", "-c", "x").code, 127)

    def test_run_is_the_default(self):
        self.assertEqual(self.terse("run", "echo", "x").out, b"x\n")


class Strings(Case):
    def test_c(self):
        run = self.terse("-c", "x=1; echo $((x + 1)) | cat; exit 3")
        self.assertEqual((run.code, run.out), (3, b"2\n"))

    def test_c_with_arguments(self):
        self.assertEqual(self.terse("-c", "echo $0 $1 $2", "zero", "one", "two").out,
                         b"zero one two\n")

    def test_one_argument(self):
        for string, out in (("echo a b", b"a b\n"), ("cd / && pwd", b"/\n"),
                            ("x=1;echo $x", b"1\n"), ("echo a|tr a b", b"b\n"),
                            ("A=b env|grep ^A=", b"A=b\n")):
            self.assertEqual(self.terse(string).out, out)

    def test_one_argument_that_is_a_file(self):
        write_file(os.path.join(self.work, "my script"), "#!/bin/sh\necho ran\n", 0o755)
        self.assertEqual(self.terse("./my script").out, b"ran\n")

    def test_one_plain_word(self):
        self.assertEqual(self.terse("pwd").out, os.fsencode(self.work) + b"\n")

    def test_several_arguments_are_no_string(self):
        self.assertEqual(self.terse("echo", "a|b", "$x").out, b"a|b $x\n")

    def test_status_of_a_string(self):
        self.assertEqual(self.terse("exit 7").code, 7)
        self.assertEqual(self.terse("no-such-program x").code, 127)
        self.assertEqual(self.terse("kill -9 $$").code, -9)
        self.assertNotEqual(self.terse("if then").code, 0)

    def test_shell(self):
        self.assertEqual(self.terse('echo ${BASH_VERSION:+bash}').out, b"bash\n")
        self.assertEqual(self.terse("--shell", "/bin/sh", "-c", 'echo $0').out, b"/bin/sh\n")
        for string in ("-c", "-x y", "+x"):  # no option of the shell
            run = self.terse("-c", string)
            self.assertEqual((run.code, run.out), (127, b"/bin/bash: line 1: %s: command not found\n"
                                                   % string.split()[0].encode()))
        self.assertEqual(self.terse("-c", 'echo $0', env={"TERSE_SHELL": "/bin/sh"}).out,
                         b"/bin/sh\n")


class Settings(Case):
    """terse config."""

    def config(self, *words, code=0, env=None):
        run = self.terse("config", *words, split=True, env=env)
        self.assertEqual(run.code, code, (words, run.err))
        return (run.err if code else run.out).decode()

    def expect_lines(self, printed, lines):
        for line in lines.strip("\n").split("\n"):
            self.assertIn(line, printed.split("\n"))

    def own(self, text):
        """Where a file of the user's own is, with that text."""
        return {"TERSE_CONFIG": os.path.basename(write_file(os.path.join(self.work, "user.ini"), text))}

    def test_origins(self):
        env = {"TERSE_ROWS": "60", **self.own(
            "# mine\n[report]\nsize = 8KB\n[environment]\nset =\n A=1\n B=2\n[shim]\nshell = /\x1b\n")}
        write_file(os.path.join(self.work, ".terse.ini"), "[report]\nheartbeat = 9s\n")
        printed = self.config("--cols", "90", env=env)
        self.expect_lines(printed, """
[run]
timeout = off                    ; built in
size = 8KB                       ; user.ini:3
heartbeat = 9s                   ; %s/.terse.ini:2
rows = 60                        ; TERSE_ROWS
cols = 90                        ; --cols
name =                           ; built in
set =                            ; user.ini:5
\tA=1
\tB=2
shell = /\\x1b                    ; user.ini:9
""" % os.path.realpath(self.work))
        self.expect_lines(self.config("grep", "-rn", "foo", env=env), """
size = 10KB                      ; profile search
failure_size = 10KB              ; profile search
max_lines = 300                  ; profile search
unit = matches                   ; profile search
""")
        self.expect_lines(self.config("--size=1KB", "--", "ls; cat a", env=env), """
size = 1KB                       ; --size
mode = smart                     ; profile mixed
""")
        self.expect_lines(self.config("--", "check", env=env), "size = 8KB                       ; user.ini:3")

    def test_what_is_printed_can_be_loaded(self):
        printed = self.config("--size", "5KB", "--timeout=90s", "--env", "X=1")
        strip = lambda text: re.sub(" *; .*", "", text)
        self.assertEqual(strip(self.config(env=self.own(printed))), strip(printed))

    def test_profiles(self):
        env = self.own("[profile read]\nmatch = mdcat\nsize = 16KB\n[profile mine]\nmatch = x\n")
        self.expect_lines(self.config("--profiles", env=env), """
[profile read]
\tmdcat ; user.ini:2
size = 16KB ; user.ini:3
max_lines = 2000
[profile mine]
\tx ; user.ini:5
""")

    def check(self, *files, code=1, env=None):
        run = self.terse("config", "check", *files, split=True, env=env)
        self.assertEqual((run.code, run.err), (code, b""))
        return run.out.decode()

    def test_check_tells_of_all_errors(self):
        at = lambda name, text, *mode: write_file(os.path.join(self.work, name), text, *mode)
        at("good.ini", "[report]\nsize = 8KB\n")
        at("bad.ini", """lost = 1
[report]
size = 4XB
sise = 4KB
;
max_lines = 2
  more
[reprot]
size = whatever
[profile a b]
size = whatever
  more
[profile a]
size = 1
match = x
  -y
[run
pty = maybe
[environment]
set = A
  B
  C=1
end""")
        self.assertEqual(self.check("good.ini", code=0), "good.ini: no errors\n")
        self.assertEqual(self.check("bad.ini", "missing.ini", "good.ini"), """\
bad.ini:1: lost: a key before the first [section]
bad.ini:3: [report] size: 4XB: not a size (like 4096, 4KB or 1000tok)
bad.ini:4: [report] sise: no such key (did you mean size?)
bad.ini:7: [report] max_lines: more: an indented line adds to a list, and this takes one value
bad.ini:8: [reprot]: no such section (did you mean report?)
bad.ini:10: [profile a b]: a name is 1 to 40 letters, digits, _ . or -
bad.ini:14: [profile a] size: 1: out of range (64 to 16MB)
bad.ini:16: [profile a] match: -y: a pattern starts with the name of a program
bad.ini:17: [run: a section is [NAME] on a line of its own
bad.ini:20: [environment] set: A: not NAME=VALUE
bad.ini:21: [environment] set: B: not NAME=VALUE
bad.ini:23: end: neither [section] nor key = value
missing.ini: No such file or directory
good.ini: no errors
""")
        at(".terse.ini", "[run]\npty = no\n[report]\nsize = 8KB\ncols = 1\n")
        self.assertEqual(self.check(".terse.ini"), ".terse.ini:2: [run] pty: not allowed in a project's file\n"
                         ".terse.ini:5: [report] cols: no such key (did you mean [terminal] cols?)\n")
        at(".terse.ini", "[report]\nsize = 8KB\n", 0o666)
        self.assertEqual(self.check(".terse.ini"), ".terse.ini: not read: everybody can write to it\n")

    def test_check_looks_at_the_files_of_a_run(self):
        env = {"TERSE_CONFIG": "user.ini"}
        if not os.path.exists("/etc/terse.ini"):
            self.assertEqual(self.check(code=0, env=env), "there is no configuration file\n")
        write_file(os.path.join(self.work, ".terse.ini"), "[report]\nsize = 2\n")
        told = self.check(env=self.own("[report]\nsize = 1\n"))
        self.assertRegex(told, "(?m)^user.ini:2: .*\n.*/.terse.ini:2: ")

    def test_bad_usage(self):
        for words, say in ((("--bogus",), "--bogus: no such option (see terse help config)"),
                           (("--size", "1"), "--size: 1: out of range (64 to 16MB)"),
                           (("--profile", "raed"), "--profile: raed: no such profile (did you mean read?)"),
                           (("init", "here.ini"), "here.ini: must be - or nothing (see terse help config)")):
            self.assertEqual(self.config(*words, code=125), "terse config: %s\n" % say)

    def test_both_sizes(self):
        """--size is that of a failure, too."""
        for env, sizes in (({}, ["4KB", "6KB"]), ({"TERSE_SIZE": "9KB"}, ["9KB", "9KB"])):
            printed = self.config(env=env)
            self.assertEqual([re.search("^%s = (\\S+)" % key, printed, re.M)[1]
                              for key in ("size", "failure_size")], sizes)

    def test_get(self):
        for key in ("size", "report.size"):
            self.assertEqual(self.config("get", key), "4KB\n")
            self.assertEqual(self.config("get", key, env={"TERSE_SIZE": "9KB"}), "9KB\n")
        self.assertEqual(self.config("get", "shim.pass"), "")
        self.assertEqual(self.config("get", "environment.set").splitlines()[0], "PAGER=cat")
        self.assertEqual(self.config("get", "sizee", code=125), "terse config: sizee: no such key (did you mean size?)\n")
        self.config("get", code=125)
        self.config("get", "size", "mode", code=125)

    def test_init(self):
        path = os.path.join(self.home, "config", "terse", "terse.ini")
        self.assertEqual(self.config("init"), path + "\n")
        self.assertEqual(read_file(path).decode(), self.config("init", "-"))
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        self.assertIn("%s: exists already" % path, self.config("init", code=1))
        self.assertEqual(self.config("init", code=125, env={"TERSE_CONFIG": ""}),
                         "terse config: no home directory, or TERSE_CONFIG is empty\n")


class Switches(Case):
    def test_off(self):
        run = self.terse("sh", "-c", "seq 20000; test -t 1; echo $? $TERSE_ACTIVE $PAGER; exit 3",
                         env={"TERSE": "0"})
        self.assertEqual(run.code, 3)
        self.assertTrue(run.out.endswith(b"20000\n1\n"), run.out[-100:])
        self.assertEqual(len(self.mine()), 0)

    def test_off_executes_in_place(self):
        run = self.start(TERSE, "sh", "-c", "echo $$", env={"TERSE": "0"})
        run.finish()
        self.assertEqual(run.out, b"%d\n" % run.pid)

    def test_off_and_not_found(self):
        run = self.terse("no-such-program", env={"TERSE": "0"})
        self.assertEqual(run.code, 127)

    def test_off_with_shell_strings(self):
        self.assertEqual(self.terse("echo a | cat", env={"TERSE": "0"}).out, b"a\n")

    def test_terse_inside_terse(self):
        run = self.terse("sh", "-c", "terse seq 20000 | wc -l; terse sh -c 'exit 4'; echo $?;"
                         " exec terse sh -c 'echo ${TERSE_ACTIVE:+set}; exit 5'")
        self.assertEqual((run.code, run.out), (5, b"20000\n4\nset\n"))

    def assert_supervised(self, path):
        """Text that `terse --preview seq 20000` wrote, to its end."""
        eventually(lambda: os.path.exists(path) and b"\n20000\n" in read_file(path), path)
        eventually(lambda: not [p for p in self.mine() if "20000" in p.argv], "its end")
        self.assertTrue(FOOTER.search(read_file(path)), path)

    def test_terse_in_sessions_inside_terse(self):
        for inner in ("setsid -w %s", "(setsid -w env -i TERSE_ACTIVE=$TERSE_ACTIVE %s)",
                      "script -qc '%s' /dev/null </dev/null | tr -d '\\r'"):
            run = self.terse("sh", "-c", inner % (TERSE + " --preview seq 20000") + " | tail -n 1")
            self.assertEqual((run.code, run.out), (0, b"20000\n"), inner)

    def test_terse_in_a_process_namespace_inside_terse(self):
        """Its processes can't see the run, or see others under its numbers."""
        user = [] if os.geteuid() == 0 else ["-Ur"]
        for how in (["-pf"], ["-pf", "--mount-proc"]):
            # In a chroot nothing can be mounted, as unshare itself says.
            if subprocess.run(["unshare", *user, *how, "true"], stderr=subprocess.DEVNULL,
                              check=False).returncode:
                self.skipTest("unshare %s does not work here" % " ".join(how))
            for command in (["sh", "-c", "terse --preview seq 20000; :"],
                            ["setsid", "-w", "sh", "-c", "terse --preview seq 20000; :"],
                            ["terse", "--preview", "seq", "20000"]):
                run = self.terse("--full", "unshare", *user, *how, *command)
                self.assertEqual((run.code, run.out), (0, numbers(20000)), (how, command))

    def test_what_outlives_a_run_is_not_inside(self):
        child = "while [ ! -e go ]; do sleep 0.02; done; terse --preview seq 20000 >out"
        for how in ("setsid sh -c '%s' </dev/null >/dev/null 2>&1 &",
                    "nohup sh -c '%s' </dev/null >/dev/null 2>&1 &"):
            run = self.terse("sh", "-c", how % child)
            self.assertEqual((run.code, run.out), (0, b""))
            eventually(lambda: not [p for p in self.mine() if p.name == "terse"], "terse's end")
            write_file(os.path.join(self.work, "go"), "")
            self.assert_supervised(os.path.join(self.work, "out"))
            self.assert_nothing_left()
            os.unlink(os.path.join(self.work, "go"))
            os.unlink(os.path.join(self.work, "out"))

    def test_what_has_left_a_run_is_not_inside(self):
        """While that lives, too: a daemon's parent is another one."""
        os.mkfifo(os.path.join(self.work, "end"))
        run = self.start(TERSE, "sh", "-c", "(setsid sh -c 'while [ ! -e go ]; do sleep 0.02; done;"
                         " terse --preview seq 20000 >out' </dev/null >/dev/null 2>&1 &); "
                         ">left; read x <end; echo end")
        eventually(lambda: os.path.exists(os.path.join(self.work, "left")), "the end of the daemon's parent")
        write_file(os.path.join(self.work, "go"), "")
        self.assert_supervised(os.path.join(self.work, "out"))
        let_go_on(os.path.join(self.work, "end"))
        self.assertEqual(run.finish().out, b"end\n")

    def test_shells_of_a_terminal_multiplexer(self):
        tmux = "tmux -S %s -f /dev/null " % os.path.join(self.tmp, "t")
        os.mkfifo(os.path.join(self.work, "go"))
        run = self.terse("sh", "-c", tmux + "new-session -d 'read x <go'")
        self.assertEqual((run.code, run.out), (0, b""))
        self.run_to_end("sh", "-c", tmux + "new-window -d 'terse --preview seq 20000 >out'")
        self.assert_supervised(os.path.join(self.work, "out"))
        let_go_on(os.path.join(self.work, "go"))
        self.assert_nothing_left()

    def test_terse_terse(self):
        run = self.terse("terse", "seq", "1", "200000")
        self.assert_preview(run, numbers(200000))
        self.assertEqual(len(self.artifacts()), 1)

    def test_inner_executes_in_place(self):
        run = self.terse("sh", "-c", "echo $$; exec terse sh -c 'echo $$'")
        first, second = run.out.split()
        self.assertEqual(first, second)

    def test_verbs_work_inside(self):
        outer = self.terse("seq", "3000")
        run = self.terse("sh", "-c", "terse read %s --offset 2999 --limit 1" % outer.id)
        self.assertTrue(run.out.startswith(b"2999\n"), run.out)


class Channels(Case):
    def test_pty(self):
        script = "for i in 0 1 2; do test -t $i && printf 'tty ' || printf 'no '; done"
        self.assertEqual(self.terse("sh", "-c", script).out, b"no tty tty ")
        self.assertEqual(self.terse("--no-pty", "sh", "-c", script).out, b"no no no ")
        self.assertEqual(self.terse("--pty", "sh", "-c", script).out, b"no tty tty ")
        self.assertEqual(self.terse("sh", "-c", script, env={"TERSE_PTY": "no"}).out, b"no no no ")

    def test_pipe_for_a_program(self):
        run = self.shell("terse sh -c 'test -t 1; echo $?' | cat")
        self.assertEqual(run.out, b"1\n")
        run = self.shell("terse --pty sh -c 'test -t 1; echo $?' | cat")
        self.assertEqual(run.out, b"0\n")

    def test_tty_and_stdin(self):
        """With a terminal asked for, /dev/null gives way to it; data does not."""
        self.assertEqual(self.terse("--tty", "sh", "-c", "test -t 0; echo $?").out, b"0\n")
        self.assertEqual(self.terse("--tty", "cat", data=b"x\n").out, b"x\n")


class Configuration(Case):
    def config(self, text):
        os.makedirs(os.path.join(self.home, "config", "terse"), exist_ok=True)
        return write_file(os.path.join(self.home, "config", "terse", "terse.ini"), text)

    def shown(self, *argv, **how):
        run = self.terse(*argv, "seq", "20000", **how)
        return run.out.index(b"[terse: ")

    def test_later_wins(self):
        """File, then environment, then flag."""
        self.config("[report]\nsize = 1000\n")
        self.assertLessEqual(self.shown(), 1150)
        self.assertGreater(self.shown(), 500)
        self.assertLessEqual(self.shown(env={"TERSE_SIZE": "500"}), 575)
        self.assertGreater(self.shown("--size", "3000", env={"TERSE_SIZE": "500"}), 1500)


if __name__ == "__main__":
    main()
