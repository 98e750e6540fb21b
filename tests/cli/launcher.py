#!/usr/bin/env -S python3 -B
"""The launcher, which terse init makes agents execute, works whatever happens to terse."""

import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import tomllib

from support.harness import BUILD, DEADLINE, Case, main, read_file, write_file

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLAUDE = "true && eval %s < /dev/null && pwd -P >| /dev/null"
NOTICE = re.compile(rb"^terse: (/\S+|terse) (is not there|does not work|can't be executed), so commands run "
                    rb"without it \(said once a day\): install it again, or see what is wired: "
                    rb"/\S+/\.local/lib/terse-launcher/wired\n", re.M)


class Installed(Case):
    """A terse of this case's own, and agents wired up with it."""

    TOP = ("..", "installed")  # below the home directory

    def setUp(self):
        super().setUp()
        if os.uname().machine not in ("x86_64", "aarch64"):
            self.skipTest("the launcher is not built here")
        top = os.path.normpath(os.path.join(self.home, *self.TOP))
        self.bin, library = os.path.join(top, "bin"), os.path.join(top, "lib", "terse")
        os.makedirs(self.bin)
        os.makedirs(library)
        self.program = os.path.join(self.bin, "terse")
        self.install()
        shutil.copy(os.path.join(BUILD, "libterse-shim.so"), library)
        shutil.copy(os.path.join(BUILD, "terse-launcher"), library)
        shutil.copy(os.path.join(SOURCE, "shim", "bash-env"), library)
        self.folder = os.path.join(self.home, ".local", "lib", "terse-launcher")
        self.launcher = os.path.join(self.folder, "terse-sh")

    def install(self):
        write_file(self.program + ".new", read_file(os.path.join(BUILD, "terse")), 0o755)
        os.rename(self.program + ".new", self.program)
        if not os.path.islink(self.program + "-sh"):
            os.symlink("terse", self.program + "-sh")

    def init(self, agent, *options):
        run = self.run_to_end(self.program, "init", agent, *options, split=True)
        self.assertEqual(run.code, 0, run.err)

    def file(self, *names):
        return read_file(os.path.join(self.home, *names)).decode()

    def target(self):
        return dict(line.split(" ", 1) for line in self.file(".local", "lib", "terse-launcher", "target").splitlines())

    def ways(self, command="echo hello"):
        """{name: (argv, environment)} of the command as each wired agent runs it."""
        quoted = shlex.quote(command)
        for agent in ("claude", "codex", "opencode", "pi", "gemini", "cursor"):
            self.init(agent)
        claude = json.loads(self.file(".claude", "settings.json"))
        prefix = claude["env"]["CLAUDE_CODE_SHELL_PREFIX"]
        codex = tomllib.loads(self.file(".codex", "config.toml"))["shell_environment_policy"]["set"]
        shell = json.loads(self.file("config", "opencode", "opencode.json"))["shell"]
        path = json.loads(self.file(".pi", "agent", "settings.json"))["shellPath"]
        codex_env = {"CODEX_THREAD_ID": "t", **codex}
        only_bash = {k: v for k, v in codex_env.items() if k != "LD_PRELOAD"}
        return {
            "claude": (["/bin/bash", "-c", "%s %s" % (prefix, shlex.quote(CLAUDE % quoted))],
                       {"CLAUDECODE": "1", "CLAUDE_CODE_SHELL_PREFIX": prefix}),
            "claude's helper": (["/bin/bash", "-c", "%s %s" % (prefix, quoted)],
                                {"CLAUDECODE": "1", "CLAUDE_CODE_SHELL_PREFIX": prefix}),
            "codex": (["/bin/bash", "-c", "exec /bin/bash -c " + quoted], codex_env),
            "codex by bash": (["/bin/bash", "-c", "exec /bin/bash -c " + quoted], only_bash),
            "opencode": ([shell, "-c", command], {"OPENCODE": "1"}),
            "pi": ([path, "-c", command], {"PI_CODING_AGENT": "true"}),
            "a person's": ([os.path.join(self.folder, "terse-bash"), "-c", command], {}),
        }

    def hooks(self):
        """The commands of the hooks that init writes."""
        found = []
        for names in ((".claude", "settings.json"), (".gemini", "settings.json"), (".cursor", "hooks.json")):
            found += re.findall(r'"command": "([^"]+ hook [^"]+)"', self.file(*names))
        self.assertEqual(len(found), 6)
        return found

    def try_every_way(self, ways):
        """Each prints its word; returns what all of them said on standard error."""
        said = b""
        for way, (argv, env) in ways.items():
            with self.subTest(way):
                run = self.run_to_end(*argv, env=env, split=True)
                self.assertEqual((run.code, run.out), (0, b"hello\n"), run.err)
                said += run.err
        for command in self.hooks():
            with self.subTest(command):
                run = self.run_to_end("/bin/sh", "-c", command, data=b"{}", split=True)
                answer = b'{"permission":"ask"}' if "cursor preToolUse" in command else b""
                self.assertEqual((run.code, run.out.strip(), run.err), (0, answer, b""))
        return said

    def forget(self):
        """As if the launcher had never said that terse is not usable."""
        path = os.path.join(self.folder, "target")
        write_file(path, re.sub(rb"(?m)^said .*\n", b"", read_file(path)))


class AtHome(Installed):
    """As the tarball and `make install` put terse into ~/.local."""

    TOP = (".local",)

    def test_it_lives_beside_an_installation(self):
        """Installed, wired up, run, upgraded, removed: the agents' shells work, and the wiring is undone."""
        top, whole = os.path.dirname(self.bin), read_file(self.program)
        os.symlink("../../bin/terse-sh", os.path.join(top, "lib", "terse", "terse-sh"))
        before = write_file(os.path.join(self.home, ".claude.json"), '{"model": "opus"}')
        os.mkdir(os.path.join(self.home, ".claude"))
        settings = os.path.join(self.home, ".claude", "settings.json")
        os.rename(before, settings)
        ways = self.ways()
        self.assertEqual(read_file(self.program), whole)
        self.assertEqual(self.try_every_way(ways), b"")
        self.install()
        self.assertEqual(self.try_every_way(ways), b"")
        shutil.rmtree(self.bin)
        shutil.rmtree(os.path.join(top, "lib", "terse"))
        self.assertEqual(len(NOTICE.findall(self.try_every_way(ways))), 1)
        terse = os.path.join(self.folder, "terse")
        run = self.run_to_end(terse, "init", "pi", split=True)
        self.assertEqual((run.code, run.out, run.err), (127, b"", b"terse: not usable\n"))
        for line in self.file(".local", "lib", "terse-launcher", "wired").splitlines():
            run = self.run_to_end("/bin/sh", "-c", line.split("\t")[1], split=True)
            self.assertEqual((run.code, run.err), (0, b""), line)
            self.assertNotIn(b"was changed since", run.out)
        self.assertEqual(self.file(".claude", "settings.json"), '{"model": "opus"}')
        self.assertEqual(self.file(".local", "lib", "terse-launcher", "wired"), "")
        self.assertEqual(sorted(name for name in os.listdir(self.home) if name in (".codex", ".pi")), [])


class Links(Installed):
    def test_nothing_is_written_through_one(self):
        other = write_file(os.path.join(self.dir, "other"), "not the launcher's", 0o644)
        os.makedirs(self.folder)
        names = ("terse-sh", "libterse-shim.so", "bash-env", "undo", "terse", "terse-bash")
        for name in names:
            os.symlink(other, os.path.join(self.folder, name))
        self.init("codex")
        self.assertEqual(read_file(other), b"not the launcher's")
        self.assertEqual([name for name in names if os.path.realpath(os.path.join(self.folder, name)) == other], [])
        shutil.rmtree(self.folder)
        os.symlink(self.bin, self.folder)
        run = self.run_to_end(self.program, "init", "pi", split=True)
        self.assertEqual((run.code, run.err), (1, b"terse init: %s: Not a directory\n" % self.folder.encode()))
        self.assertEqual(sorted(os.listdir(self.bin)), ["terse", "terse-sh"])


class Broken(Installed):
    def damage(self):
        """Every way in which a terse can be unusable."""
        with open(os.path.join(BUILD, "terse"), "rb") as f:
            whole = f.read()

        def put(data, mode=0o755):
            return lambda: write_file(self.program, data, mode)
        yield "removed", lambda: None
        yield "garbage", put(b"\x01\x02 garbage\n" * 500)
        yield "empty", put(b"")
        yield "not executable", put(whole, 0o644)
        yield "a script that does nothing", put("#!/bin/sh\nexit 0\n")
        yield "a script that fails", put("#!/bin/sh\necho terse 1.0\nexit 3\n")
        yield "another program", put(read_file("/bin/true"))
        yield "a directory", lambda: os.mkdir(self.program)
        for share in (0.001, 0.01, 0.3, 0.6, 0.9):
            yield "truncated to %g" % share, put(whole[:int(len(whole) * share)])

    def test_every_damage(self):
        ways = self.ways()
        self.assertEqual(self.try_every_way(ways), b"")
        for what, damage in self.damage():
            with self.subTest(what):
                self.forget()
                os.unlink(self.program) if os.path.isfile(self.program) else None
                damage()
                said = self.try_every_way(ways)
                self.assertEqual(len(NOTICE.findall(said)), 1, said)
                self.assertEqual(NOTICE.sub(b"", said), b"")
                if os.path.isdir(self.program):
                    os.rmdir(self.program)
        self.install()
        self.assertEqual(self.try_every_way(ways), b"")
        self.assertEqual(os.listdir(self.work), [], "no core")

    def test_the_real_commands(self):
        """A terse that hangs delays only one command; the next commands do not try it again at once."""
        self.init("pi")
        write_file(self.program, "#!/bin/sh\nexec sleep 1000\n", 0o755)
        run = self.run_to_end(self.launcher, "-c", "exit 7", split=True)
        self.assertEqual((run.code, run.out), (7, b""))
        self.assertEqual(len(NOTICE.findall(run.err)), 1)
        tried = self.target()["tried"]
        write_file(self.program + ".log", "")
        run = self.run_to_end(self.launcher, "-c", "echo $0 $#", "zero", "a", "b", split=True)
        self.assertEqual((run.code, run.out, run.err), (0, b"zero 2\n", b""))
        self.assertEqual(self.target()["tried"], tried)
        # Once terse is repaired, it is tried again, and works.
        self.install()
        run = self.run_to_end(self.launcher, "-c", "seq 5000", env={"PI_CODING_AGENT": "true"}, split=True)
        self.assertEqual((run.code, run.err), (0, b""))
        self.assertEqual(self.target()["worked"].split()[0], str(os.stat(self.program).st_size))

    def test_the_link_alone(self):
        self.init("pi")
        os.unlink(self.program + "-sh")
        run = self.run_to_end(self.launcher, "-c", "echo hello", split=True)
        self.assertEqual((run.code, run.out), (0, b"hello\n"))
        self.assertIn(b" can't be executed, so", run.err)

    def test_without_what_it_knows(self):
        self.init("pi")
        for text in (None, "", "\n\n", "program\n", "program \nshell /x\n", "x" * 20000, "\0\xff\n",
                     "worked 99999999999999999999999 1 1\nprogram /nowhere\n"):
            path = os.path.join(self.folder, "target")
            os.unlink(path)
            if text is not None:
                write_file(path, text)
            run = self.run_to_end(self.launcher, "-c", "echo hello", split=True)
            self.assertEqual((run.code, run.out), (0, b"hello\n"))
            self.assertEqual(len(NOTICE.findall(run.err)), 1, run.err)
        # It is found again by init, and alone it is a shell as well.
        self.init("pi")
        self.assertEqual(self.target()["program"], self.program)
        alone = os.path.join(self.work, "alone")
        shutil.copy(self.launcher, alone)
        run = self.run_to_end(alone, "-c", "echo hello", split=True)
        self.assertEqual((run.code, run.out), (0, b"hello\n"))

    def test_a_directory_that_cannot_be_written(self):
        """Nothing can be noted, so nothing is said."""
        self.init("pi")
        os.unlink(self.program)
        path = os.path.join(self.folder, "target")
        os.unlink(path)
        # Root may write anywhere, but not over a directory.
        os.mkdir(path)
        for _ in range(2):
            run = self.run_to_end(self.launcher, "-c", "echo hello", split=True)
            self.assertEqual((run.code, run.out, run.err), (0, b"hello\n", b""))
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("target.")], [])


class AsTheShell(Installed):
    """What the launcher executes has what it would have had without it."""

    SHOW = ("import os,signal,sys; print(sys.argv, sorted(os.environ.items()), os.getpid() == int(os.environ['P']), "
            "[(n, os.readlink('/proc/self/fd/%s' % n)) for n in sorted(os.listdir('/proc/self/fd')) if "
            "os.path.exists('/proc/self/fd/%s' % n) and int(n) < 20 and n != '3'], signal.pthread_sigmask(0, []), "
            "[s for s in range(1, 32) if signal.getsignal(s) == signal.SIG_IGN], "
            "signal.sigpending(), os.umask(0))")

    def show(self, program, ignored):
        """Prints the state of a process that `program` starts in its place."""
        script = os.path.join(self.work, "show.py")
        write_file(script, self.SHOW)

        def prepare():
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD, signal.SIGUSR1))
            os.dup2(0, 9)
            os.environ["P"] = str(os.getpid())
        env = self.env(TERSE="0", SHELL="/bin/bash")
        pid = os.fork()
        if pid == 0:
            out = os.open(os.path.join(self.work, "out"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(out, 1)
            os.close(out)
            prepare()
            os.execve(program, [program, "-c", "exec python3 %s \"$0\" \"$@\"" % script, "a", "", "c d"],
                      {**env, "P": str(os.getpid())})
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        return re.sub(rb"('P', '|SHLVL', ')\d+'", rb"\1'", read_file(os.path.join(self.work, "out")))

    def test_the_same_process(self):
        self.init("pi")
        for ignored in ((), (signal.SIGCHLD, signal.SIGINT)):
            plain = self.show("/bin/bash", ignored)
            self.assertIn(b"True", plain)
            self.assertEqual(self.show(self.launcher, ignored), plain)
            # Tried first.
            os.utime(self.program)
            self.assertEqual(self.show(self.launcher, ignored), plain)
        os.unlink(self.program)
        for ignored in ((), (signal.SIGCHLD, signal.SIGINT)):
            self.assertEqual(self.show(self.launcher, ignored), self.show("/bin/bash", ignored))

    def test_the_callers_sigchld(self):
        """Terse is tried all the same, and no signal of that waits for the shell."""
        self.init("pi")
        path = os.path.join(self.folder, "target")
        out = os.path.join(self.work, "out")
        shell = write_file(os.path.join(self.work, "shell"), "#!/usr/bin/env python3\nimport os, signal\n"
                           "try:\n    left = os.waitpid(-1, os.WNOHANG | 0x40000000)  # __WALL\n"
                           "except ChildProcessError:\n    left = 'none'\n"
                           "print(signal.sigpending(), left, file=open(%r, 'w'))\n" % out, 0o755)

        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
        for prepare in (ignore, block, lambda: (ignore(), block()), None):
            for good in (True, False):
                write_file(path, "program %s\nshell %s\nreal %s\n" % (
                    self.program if good else "/bin/true", shell, shell))
                pid = os.fork()
                if pid == 0:
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                    if prepare:
                        prepare()
                    os.execve(self.launcher, [self.launcher, "-c", "true"], self.env(SHELL="/nowhere"))
                self.assertEqual(os.waitpid(pid, 0)[1], 0)
                target = self.target()
                noted = [name for name in ("worked", "failed") if target[name] != "0 0 0"]
                self.assertEqual(noted, ["worked" if good else "failed"])
                if good:
                    self.assertEqual(read_file(out), b"set() none\n")
                    os.unlink(out)

    def test_names(self):
        """$0 and the arguments are those that terse-sh would give."""
        self.init("pi")
        os.symlink(self.program, os.path.join(self.bin, "terse-bash"))
        script = write_file(os.path.join(self.work, "script"), "echo script $0 $#\n")
        calls = [["-c", "echo $0 $#"], ["-c", "echo $0 $#", "zero", "one"], ["echo $0 $#"], [script, "a"],
                 ["-lc", "shopt -q login_shell && echo login $0"], ["-c", "kill -TERM $$"], ["-c", "exit 9"],
                 ["ls /nowhere/at/all; echo $?"]]
        env = {"SHELL": "/bin/bash"}
        for name in ("terse-sh", "terse-bash"):
            want = [self.run_to_end(os.path.join(self.bin, name), *argv, env=env) for argv in calls]
            for state in ("good", "gone"):
                if state == "gone":
                    os.rename(self.program, self.program + ".away")
                    self.run_to_end(self.launcher, "-c", "true", env=env)
                for argv, before in zip(calls, want):
                    run = self.run_to_end(os.path.join(self.folder, name), *argv, env=env)
                    self.assertEqual((run.code, run.out), (before.code, before.out), (state, argv))
            os.rename(self.program + ".away", self.program)

    def test_the_shell_that_was_meant(self):
        """Of the preloaded library's variables nothing is left."""
        self.init("pi")
        os.unlink(self.program)
        self.run_to_end(self.launcher, "-c", "true")
        show = "echo $0 ${BASH_VERSION:+bash}; env | grep -E '^(TERSE_SHIM|LD_PRELOAD)'; true"
        run = self.run_to_end(self.launcher, "-c", show, split=True, env={
            "TERSE_SHIM_PROGRAM": "/bin/sh", "TERSE_SHIM_PRELOAD": "", "LD_PRELOAD": ""})
        self.assertEqual((run.out, run.err), (b"%s\nLD_PRELOAD=\n" % self.launcher.encode(), b""))
        # Shells that can't be meant: this one, one that is not there, no shell, one of another language.
        loop = os.path.join(self.work, "bash")
        os.symlink(self.launcher, loop)
        for shell in (self.launcher, loop, "/nowhere/zsh", "/bin/true", "fish", ""):
            run = self.run_to_end(self.launcher, "-c", "echo $0", split=True, env={"SHELL": shell})
            self.assertEqual((run.out, run.err), (b"/bin/bash\n", b""), shell)
        run = self.run_to_end(self.launcher, "-c", "echo $0", split=True, env={"SHELL": "/bin/sh"})
        self.assertEqual(run.out, b"/bin/sh\n")

    def test_a_link_to_it_is_no_real_shell(self):
        """Else terse-sh and the launcher would execute each other for ever."""
        self.init("pi")
        loop = os.path.join(self.work, "bash")
        os.symlink(self.launcher, loop)
        run = self.run_to_end(self.launcher, "-c", "echo $0", split=True, env={"SHELL": loop})
        self.assertEqual((run.out.strip().rsplit(b"/", 1)[1], run.err), (b"bash", b""))

    def test_a_notice_disturbs_nobody(self):
        self.init("pi")
        os.unlink(self.program)
        # Closed, a pipe without a reader, one that is full.
        run = self.run_to_end("/bin/bash", "-c", "exec 2>&-; exec %s -c 'echo hello'" % self.launcher)
        self.assertEqual((run.code, run.out), (0, b"hello\n"))
        for closed in (True, False):
            self.forget()
            read, write = os.pipe()
            os.set_blocking(write, False)
            if closed:
                os.close(read)
            else:
                try:
                    while True:
                        os.write(write, b"x" * 4096)
                except BlockingIOError:
                    os.set_blocking(write, True)
            done = subprocess.run([self.launcher, "-c", "echo hello"], env=self.env(), stderr=write,
                                  stdout=subprocess.PIPE, timeout=DEADLINE, check=True)
            self.assertEqual(done.stdout, b"hello\n")
            os.close(write)
            if not closed:
                os.close(read)

    def test_many_at_once(self):
        """While terse is replaced again and again, each call runs its command."""
        self.init("pi")
        running = [self.start("/bin/bash", "-c", "for i in $(seq 60); do %s -c 'echo hello' || exit 1; done >out.%d"
                              % (self.launcher, n)) for n in range(3)]
        while any(os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None for run in running):
            os.utime(self.program)
        for n, run in enumerate(running):
            run.wait()
            self.assertEqual(run.code, 0)
            self.assertEqual(read_file(os.path.join(self.work, "out.%d" % n)), b"hello\n" * 60)
        self.assertEqual([n for n in os.listdir(self.folder) if n.startswith("target.")], [])


class Directory(Installed):
    def test_who_may_write(self):
        umask = os.umask(0)
        try:
            self.init("codex")
        finally:
            os.umask(umask)
        self.assertEqual(stat.S_IMODE(os.stat(self.folder).st_mode), 0o755)
        modes = {name: stat.S_IMODE(os.lstat(os.path.join(self.folder, name)).st_mode)
                 for name in os.listdir(self.folder) if not os.path.islink(os.path.join(self.folder, name))}
        self.assertEqual(modes, {"terse-sh": 0o755, "libterse-shim.so": 0o644, "bash-env": 0o644, "undo": 0o755,
                                 "target": 0o644, "wired": 0o600})
        for mode, then in ((0o700, 0o700), (0o777, 0o755), (0o2770, 0o2750)):
            os.chmod(self.folder, mode)
            self.init("codex")
            self.assertEqual(stat.S_IMODE(os.stat(self.folder).st_mode), then)

    def test_it_is_renewed(self):
        self.init("pi")
        for name in ("terse-sh", "bash-env", "libterse-shim.so"):
            write_file(os.path.join(self.folder, name), "old")
        os.unlink(os.path.join(self.folder, "terse"))
        names = os.listdir(self.folder) + ["terse"]
        os.unlink(os.path.join(self.folder, "terse-bash"))
        os.symlink("old", os.path.join(self.folder, "terse-bash"))
        run = self.run_to_end(self.program, "doctor")
        self.assertIn(b"launcher: not ", run.out)
        self.init("pi")
        for name in ("bash-env", "libterse-shim.so"):
            self.assertEqual(read_file(os.path.join(self.folder, name)), read_file(
                os.path.join(self.bin, "..", "lib", "terse", name)))
        for name in ("terse", "terse-bash"):
            self.assertEqual(os.readlink(os.path.join(self.folder, name)), "terse-sh")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names), "nothing is left beside them")
        self.assertIn(b"launcher: starts " + self.program.encode(), self.run_to_end(self.program, "doctor").out)

    def test_another_terse(self):
        self.init("pi")
        run = self.terse("doctor")
        self.assertIn(b"launcher: agents run another terse, %s: terse init" % self.program.encode(), run.out)

    def test_upgrade_while_a_run_lives(self):
        """The old program goes on and answers the new one."""
        script = "read x; echo got $x; seq 3000; exit 3"
        run = self.run_to_end(self.program, "--detach", "--tty", "sh", "-c", script)
        name = re.search(r"cmd-\w+", run.out.decode())[0]
        self.install()
        self.assertTrue([p for p in self.mine() if os.readlink("/proc/%d/exe" % p.pid) == self.program + " (deleted)"])

        def new(*argv):
            return self.run_to_end(self.program, *argv, split=True)
        self.assertIn(name.encode(), new("list", "--live").out)
        self.assertEqual(new("send", name, "hello", "--key", "enter").code, 0)
        ended = new("await", name)
        self.assertEqual(ended.code, 3, ended.err)
        self.assertIn(b"got hello\n", ended.out)
        # Its end may not be noted yet.
        self.assertRegex(new("read", name, "--tail", "1").out, rb"\A3000\n")

    def test_versions(self):
        """Of the library, the launcher, the terse that agents run, and the one in PATH."""
        mark = b"terse-version="
        version = self.run_to_end(self.program, "version").out.split()[1]
        library = os.path.join(self.bin, "..", "lib", "terse", "libterse-shim.so")

        def age(path):
            data = read_file(path)
            write_file(path + ".new", data.replace(mark + version, mark + b"0.0.9\0"[:len(version) + 1]),
                       os.stat(path).st_mode)
            self.assertNotEqual(data, read_file(path + ".new"))
            os.rename(path + ".new", path)
        self.init("pi")
        age(os.path.join(self.folder, "libterse-shim.so"))
        run = self.run_to_end(self.program, "doctor")
        self.assertIn(b"launcher: not the one of this terse: terse init AGENT renews it\n", run.out)
        self.init("pi")
        age(library)
        run = self.run_to_end(self.program, "doctor")
        self.assertRegex(run.out, rb"PROBLEM +libterse-shim.so: /.*/libterse-shim.so is of terse 0.0.9, this is %s: "
                         rb"install both from the same package\n" % re.escape(version))
        age(self.program)
        run = self.terse("doctor", env={"PATH": self.bin + ":/usr/bin:/bin"})
        self.assertIn(b"PATH: %s is terse 0.0.9, this is %s: remove the one that you do not use\n" %
                      (self.program.encode(), version), run.out)
        self.assertIn(b"launcher: agents run another terse, %s: terse init" % self.program.encode(),
                      run.out)

    def test_what_is_wired(self):
        self.init("pi")
        self.init("pi")
        self.init("claude", "--project")
        wired = self.file(".local", "lib", "terse-launcher", "wired")
        undo = os.path.join(self.folder, "terse") + " init"
        self.assertEqual(wired, "%s/.pi/agent/settings.json\t%s pi --undo\n"
                         "%s/.claude/settings.local.json\tcd %s && %s claude --project --undo\n"
                         % (self.home, undo, self.work, self.work, undo))
        self.init("pi", "--undo")
        self.assertEqual(self.file(".local", "lib", "terse-launcher", "wired"), wired.split("\n", 1)[1])

    def test_still_wired(self):
        """Whoever removes terse reads what is wired, and can undo it."""
        def still_wired(*argv):
            run = self.run_to_end(os.path.join(SOURCE, "shim", "still-wired"), *argv, split=True,
                                  env={"PATH": "/usr/bin:/bin"})
            self.assertEqual((run.code, run.err), (0, b""))
            return run.out.decode()
        project = os.path.join(self.work, "it's a project: x")
        os.mkdir(project)
        self.assertEqual(still_wired(), "")
        self.init("claude")
        self.init("pi")
        run = self.run_to_end(self.program, "init", "opencode", "--project", cwd=project)
        self.assertEqual(run.code, 0)
        names = ("%s/.claude/settings.json: %s/terse init claude --undo" % (self.home, self.folder),
                 "%s/.pi/agent/settings.json: %s/terse init pi --undo" % (self.home, self.folder),
                 "opencode.json: cd ", "plugins/terse.js: cd ")
        for argv in ((), ("no",)):
            out = still_wired(*argv)
            self.assertEqual([name for name in names if name not in out], [], argv)
        # One that somebody took out otherwise.
        write_file(os.path.join(self.home, ".pi", "agent", "settings.json"), "{}")
        self.assertNotIn("terse init pi", still_wired())
        os.unlink(self.program)  # before or after terse is gone
        still_wired("yes")
        self.assertFalse(os.path.exists(os.path.join(self.home, ".claude")))
        self.assertEqual(os.listdir(project), [])
        self.assertEqual(still_wired(), "")

    def test_still_wired_with_odd_files(self):
        """A name that is not ASCII is undone as it is; what another user put there hangs and disturbs nobody."""
        project = os.path.join(self.work, "Größe \u96ea")
        script = os.path.join(SOURCE, "shim", "still-wired")
        os.mkdir(project)
        self.assertEqual(self.run_to_end(self.program, "init", "pi", "--project", cwd=project).code, 0)
        wired = os.path.join(self.folder, "wired")
        pipe = os.path.join(self.work, "pipe")
        os.mkfifo(pipe)
        odd = write_file(os.path.join(self.work, "a\033[31mb"), "/.local/lib/terse-launcher/")
        with open(wired, "a", encoding="utf-8") as f:
            f.write("%s\ttrue\n-r\ttrue\n%s\tfalse \033[31m\n" % (pipe, odd))
        run = self.run_to_end(script, "yes", split=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
        self.assertEqual((run.code, run.err), (0, b""))
        self.assertIn(("Größe \u96ea/.pi/settings.json: cd ").encode(), run.out)
        self.assertIn(b"a[31mb: false [31m\n", run.out)
        self.assertIn(b"This failed: false [31m\n", run.out)
        self.assertNotIn(b"pipe", run.out)
        self.assertNotIn(b"\033", run.out)
        self.assertEqual(run.out.count(b"This failed"), 1)
        self.assertEqual(os.listdir(project), [])
        os.unlink(wired)
        os.mkfifo(wired)
        run = self.run_to_end(script, split=True, env={"PATH": "/usr/bin:/bin"})
        self.assertEqual((run.code, run.out, run.err), (0, b"", b""))

    def test_where_programs_are_not_executed(self):
        """A file in the way stands for a directory without exec: terse's own files are named, and it is said."""
        os.makedirs(self.folder)
        os.mkdir(self.launcher)
        run = self.run_to_end(self.program, "init", "pi", split=True)
        self.assertEqual((run.code, run.err), (1, b"terse init: %s: not a file\n" % self.launcher.encode()))
        self.assertFalse(os.path.exists(os.path.join(self.home, ".pi")))

    def test_where_it_is_built(self):
        for machine, built in (("x86_64-linux-gnu", True), ("aarch64-unknown-linux-musl", True),
                               ("riscv64-linux-gnu", False)):
            compiler = write_file(os.path.join(self.work, "cc"), "#!/bin/sh\necho %s\n" % machine, 0o755)
            for goal in ("programs", "install"):
                made = subprocess.run(["make", "-n", "-C", SOURCE, goal, "CC=" + compiler, "BUILD=" + self.dir],
                                      stdout=subprocess.PIPE, timeout=DEADLINE, check=True).stdout
                self.assertIn(b"libterse-shim.so", made)
                self.assertEqual(b"terse-launcher" in made, built, (machine, goal))

    def test_a_machine_without_launcher(self):
        os.unlink(os.path.join(self.bin, "..", "lib", "terse", "terse-launcher"))
        warning = (b"warning: terse-launcher is not there, so terse's own files are named: the agent's shell is gone "
                   b"when they are\n")
        run = self.run_to_end(self.program, "init", "pi", split=True)
        self.assertEqual((run.code, run.err), (0, b""))
        self.assertIn(warning, run.out)
        self.assertEqual(json.loads(self.file(".pi", "agent", "settings.json"))["shellPath"], self.program + "-sh")
        self.assertFalse(os.path.exists(self.folder))
        run = self.run_to_end(self.program, "doctor", split=True)
        self.assertIn(b"launcher: terse-launcher is not there: terse init names terse's own files\n", run.out)
        self.assertNotIn(b"warning: terse-launcher", self.run_to_end(self.program, "init", "qwen", split=True).out)
        self.init("pi", "--undo")
        self.assertFalse(os.path.exists(os.path.join(self.home, ".pi")))

    def test_without_home(self):
        run = self.run_to_end(self.program, "init", "pi", "--project", split=True, env={"HOME": None})
        self.assertEqual(run.code, 0, run.err)
        shell = json.loads(read_file(os.path.join(self.work, ".pi", "settings.json")))["shellPath"]
        self.assertEqual(shell, self.program + "-sh")


if __name__ == "__main__":
    main()
