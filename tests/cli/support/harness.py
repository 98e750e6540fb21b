"""Shared by the tests of whole runs.

Every case gets its own directory, an environment that has only PATH from the caller, and a mark in
that environment, by which each process that it starts can be found in /proc.
A case that leaves a process behind has failed.

Nothing here waits for a time to pass: `eventually` and the readers wait for an event, and
their deadline only turns a hang into a failure.
"""

import errno
import json
import os
import pty
import random
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

# A script that runs the tests in the background makes them ignore ^C. Shells and programs that they
# start would ignore it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A failure is shown from the frame of the test on, without the frames of this file.
__unittest = True

SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(SOURCE, "build")))
TERSE = os.path.join(BUILD, "terse")
HELPER = os.path.join(BUILD, "helper")
PATH = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")

# A wait counts as a hang after this many seconds.
DEADLINE = float(os.environ.get("DEADLINE", "300"))

# The same seed, which the log names, gives the same random data.
SEED = int(os.environ.get("TEST_SEED", "1"))

# The default of [report] size, and the length up to which text is printed whole rather than cut a little.
BUDGET = 4096
LIMIT = BUDGET + BUDGET * 15 // 100
FAILURE_BUDGET = 6144
FAILURE_LIMIT = FAILURE_BUDGET + FAILURE_BUDGET * 15 // 100
FOOTER_MAX = 400

FOOTER = re.compile(
    rb"\[terse: (?P<end>exit \d+|killed by \w+|timed out \(exit 124\)|interrupted) after [^;,]+"
    rb"(?P<since>(?:, as|; same text as|;) cmd-[^;]+)?; "
    rb"(?P<lines>[\d,]+) lines?, (?P<size>[\d.]+ (?:B|KB|MB|GB))(?: \((?P<limit>limit [^)]+)\))?"
    rb"(?P<background>; [^;]+ still writes?)?"
    rb"(?:; full text|; (?P<gaps>[^;]+ not kept: [^;]+(?:; [^;]+ not kept: [^;]+)*); the rest)?: "
    rb"terse read (?P<id>cmd-[0-9a-z]+)( --stderr)? \[--lines(?P<cuts>\|--bytes)? FROM-TO\], "
    rb"terse search ID( --stderr)? REGEX\]\n\Z")
MARKER = re.compile(
    rb"^\[\.\.\. lines? (?P<range>(?P<from>\d+)(?:-(?P<to>\d+))?)(?: like this| alike)?"
    rb"(?:, [\d.]+ (?:KB|MB|GB))?"
    rb"(?:: terse (?P<command>read (?P<id>cmd-[0-9a-z]+)(?: --stderr)? "
    rb"--lines (?P=range)))?(?:; last: .*)?\]$", re.M)
HEARTBEAT = re.compile(
    rb"^\[terse: still running after [^;]+; ([\d,]+) lines?, [^ ]+ \w+ so far: "
    rb"terse read (cmd-[0-9a-z]+)(?:; [^\]\n]+)?\]$", re.M)


def put_forward(shown):
    """The lines of a preview between its first and last gap: from the middle of the text."""
    lines = shown.splitlines()
    gaps = [number for number, line in enumerate(lines) if re.match(r"\[\.\.\. .*\]$", line)]
    return [lines[number] for number in range(gaps[0], gaps[-1]) if number not in gaps] if gaps else []


def is_sanitized():
    """Whether the program under test is built with a sanitizer, which needs memory of its own."""
    with open(TERSE, "rb") as f:
        return b"__asan_init" in f.read()


def read_file(path):
    with open(path, "rb") as f:
        return f.read()


def write_file(path, data, mode=0o644):
    if isinstance(data, str):
        data = data.encode()
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, mode)
    return path


def random_source(which=0):
    """A source of random numbers; `which` distinguishes those of one test."""
    print("random data: TEST_SEED=%d" % SEED, flush=True)
    return random.Random(which + (SEED - 1) * 1000003)


def numbers(last):
    """The output of seq."""
    return b"".join(b"%d\n" % n for n in range(1, last + 1))


def eventually(test, what, deadline=None):
    """Waits until test() is true and returns its value."""
    end = time.monotonic() + (deadline or DEADLINE)
    while True:
        value = test()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("waited in vain: " + (what() if callable(what) else what))
        time.sleep(0.01)


def signal_if_there(pid, number):
    """Sends a signal to a process that may have ended already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def let_go_on(fifo):
    """Writes a line to the reader of a named pipe, as soon as there is one. Once for each pipe: a
    next reader could open it before we have closed it, and would see its end."""
    def opened():
        try:
            return open(fifo, "wb", buffering=0, opener=lambda path, flags: os.open(
                path, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return None  # nobody reads yet
    with eventually(opened, "a reader of " + fifo) as f:
        f.write(b"on\n")


def read_to_end(fd):
    """Everything until the last writer closes, and then the descriptor, which may be a terminal's."""
    data = b""
    while select.select([fd], [], [], DEADLINE)[0]:
        try:
            chunk = os.read(fd, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            chunk = b""
        if not chunk:
            os.close(fd)
            return data
        data += chunk
    raise AssertionError("no end of output: %r" % data[-500:])


class Process:
    """The state of one process from /proc."""

    def __init__(self, pid):
        self.pid = pid
        stat = read_file("/proc/%d/stat" % pid).decode(errors="replace")
        self.name = stat[stat.index("(") + 1:stat.rindex(")")]
        rest = stat[stat.rindex(")") + 2:].split()
        self.state, self.parent, self.group, self.session = \
            rest[0], int(rest[1]), int(rest[2]), int(rest[3])
        self.terminal = int(rest[4])
        self.argv = [os.fsdecode(a) for a in read_file("/proc/%d/cmdline" % pid).split(b"\0")[:-1]]

    def __repr__(self):
        return "%d %s (parent %d, group %d, session %d, %s)" % (
            self.pid, " ".join(self.argv) or self.name, self.parent, self.group, self.session,
            self.state)


def environment(pid):
    """The variables of a process. In the middle of an exec they are not there for a moment, and where they end is not
    known."""
    def end():
        return read_file("/proc/%s/stat" % pid).rsplit(b") ", 1)[1].split()[48]
    found, before = read_file("/proc/%s/environ" % pid), b"0"
    while not found and not before == end() != b"0":
        os.readlink("/proc/%s/exe" % pid)  # A kernel thread has none, nor has a process that has ended.
        time.sleep(0.001)
        before, found = end(), read_file("/proc/%s/environ" % pid)
    return found.split(b"\0")


def descriptors(pid):
    """What the descriptors of a process are, by their numbers; one that is closed meanwhile is left out."""
    found, folder = {}, "/proc/%d/fd" % pid
    for fd in os.listdir(folder):
        try:
            found[int(fd)] = os.readlink(os.path.join(folder, fd))
        except FileNotFoundError:
            continue
    return found


def processes(mark):
    """The living processes that have `mark` in their environment."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            if mark.encode() in environment(entry):
                process = Process(int(entry))
                if process.state not in "ZX":
                    found.append(process)
        except (OSError, ValueError):
            continue
    return found


class Run:
    """A command that was started, the ends of its streams that we hold, and how it ended.

    `kind` says what its output goes to: "socket", "pipe" (both are read by this process, which is
    neither a shell nor a sibling, and so an agent), or "file". `split`: stderr apart.
    """

    def __init__(self, argv, env, cwd, kind="socket", split=False, stdin=None, data=None,
                 umask=-1, before=None, fds=()):
        self.buffers = [bytearray(), bytearray()]
        self.status = None
        self.ends = []
        self.files = []
        theirs = []
        for i in range(2 if split else 1):
            if kind == "socket":
                ours, other = socket.socketpair()
                self.ends.append(ours.detach())
                theirs.append(other.detach())
            elif kind == "pipe":
                r, w = os.pipe()
                self.ends.append(r)
                theirs.append(w)
            else:
                path = os.path.join(cwd, "stdout" if i == 0 else "stderr")
                self.files.append(path)
                theirs.append(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        self.kept = list(self.ends)
        if data is not None:
            stdin = subprocess.PIPE
        self.popen = subprocess.Popen(
            argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=theirs[0], stderr=theirs[-1], umask=umask, preexec_fn=before, pass_fds=fds)
        self.pid = self.popen.pid
        for fd in theirs:
            os.close(fd)
        if data is not None:
            self.feed(data)

    def feed(self, data):
        """Writes all of it, while output is collected, and closes."""
        fd = self.popen.stdin.fileno()
        os.set_blocking(fd, False)
        left = memoryview(data)
        while left:
            try:
                left = left[os.write(fd, left):]
            except BlockingIOError:
                select.select([], [fd], [], 0.01)
                self.collect(0)
            except BrokenPipeError:
                break
        self.popen.stdin.close()

    def collect(self, wait):
        """Reads what has arrived; returns whether any stream is still open."""
        open_ends = [fd for fd in self.ends if fd is not None]
        if not open_ends:
            return False
        for fd in select.select(open_ends, [], [], wait)[0]:
            try:
                data = os.read(fd, 1 << 16)
            except ConnectionResetError:
                data = b""
            which = self.ends.index(fd)
            if data:
                self.buffers[which] += data
            else:
                self.ends[which] = None
        return True

    def __str__(self):
        return "pid %d, status %s, read so far: %r" % (
            self.pid, self.status, bytes(self.buffers[0][-2000:]) + bytes(self.buffers[1][-500:]))

    def until(self, text, which=0):
        """Reads until the output matches the pattern; returns the match."""
        end = time.monotonic() + DEADLINE
        while True:
            match = re.search(text, bytes(self.buffers[which]))
            if match:
                return match
            if time.monotonic() > end or not self.collect(0.5):
                raise AssertionError("%r did not come: %s" % (text, self))

    def to_end(self):
        """Reads until every end is closed."""
        end = time.monotonic() + DEADLINE
        while self.collect(0.5):
            if time.monotonic() > end:
                raise AssertionError("no end of output: %s" % self)
        return self

    def wait(self, options=0):
        """Waits for the process; returns its status as waitpid gives it."""
        if self.status is None or os.WIFSTOPPED(self.status) or os.WIFCONTINUED(self.status):
            def ended():
                pid, status = os.waitpid(self.pid, os.WNOHANG | options)
                self.status = status if pid else None
                return pid
            eventually(ended, lambda: "the end of %s" % self)
            if not os.WIFSTOPPED(self.status) and not os.WIFCONTINUED(self.status):
                self.popen.returncode = 0
        return self.status

    def finish(self):
        """The front end has ended and all output was read."""
        self.to_end()
        self.wait()
        self.close()
        return self

    def close(self):
        for fd in self.kept:
            os.close(fd)
        self.kept, self.ends = [], []

    def kill(self, sig=signal.SIGKILL):
        os.kill(self.pid, sig)

    @property
    def out(self):
        return read_file(self.files[0]) if self.files else bytes(self.buffers[0])

    @property
    def err(self):
        return read_file(self.files[1]) if self.files else bytes(self.buffers[1])

    @property
    def code(self):
        """Exit code, or minus the signal."""
        return os.waitstatus_to_exitcode(self.status)

    @property
    def id(self):
        """The artifact named by the last message."""
        ids = re.findall(rb"terse (?:read|path --raw) (cmd-[0-9a-z]+)", self.out)
        return ids[-1].decode() if ids else None


class Case(unittest.TestCase):
    """A group of cases; see the head of this file."""

    longMessage = True

    def run(self, result=None):
        self.result = result
        return super().run(result)

    def setUp(self):
        base = os.environ.get("SANDBOX") or tempfile.gettempdir()
        self.dir = tempfile.mkdtemp(prefix="t", dir=base)
        self.mark = "TEST_MARK=" + uuid.uuid4().hex
        self.home = os.path.join(self.dir, "home")
        self.store = os.path.join(self.dir, "store")
        self.work = os.path.join(self.dir, "work")
        self.tmp = os.path.join(self.dir, "tmp")
        self.run_dir = os.path.join(self.dir, "run")
        for path in (self.home, self.work, self.tmp, self.run_dir):
            os.mkdir(path, 0o700)
        self.runs = []

    def tearDown(self):
        left = []

        def all_gone():
            left[:] = processes(self.mark)
            return not left
        try:
            if not any(test is self for test, _ in self.result.failures + self.result.errors):
                eventually(all_gone, lambda: "processes left behind: %s" % left)
                self.check_states()
        finally:
            self.kill_all()
            for run in self.runs:
                if run.popen.returncode is None:
                    run.popen.kill()
                    run.popen.wait()
                run.close()
            shutil.rmtree(self.dir, ignore_errors=True)

    def check_states(self):
        """No run whose end is known is reported as running, however it ended."""
        for path in self.artifacts():
            try:
                meta = json.loads(read_file(path[:-len("txt")] + "json"))
            except (OSError, ValueError):
                continue  # The test has removed or damaged it.
            if meta.get("state") == "running" and meta.get("endTimeUnixNano"):
                raise AssertionError("it has ended, and says that it runs: %s" % meta)

    def kill_all(self):
        """Ends every process of this case."""
        def gone():
            found = processes(self.mark)
            for process in found:
                try:
                    os.kill(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return not found
        eventually(gone, "the end of killed processes")

    def for_everybody(self):
        """A copy of terse that every user of the machine may execute; the build directory may be closed to them."""
        folder = tempfile.mkdtemp(prefix="t", dir="/tmp")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        return shutil.copy(TERSE, folder)

    def env(self, **more):
        """The environment of a run; None takes a variable out."""
        name, value = self.mark.split("=")
        env = {
            "PATH": BUILD + ":" + HELPER + ":" + PATH,
            "HOME": self.home,
            "TERSE_HOME": self.store,
            "XDG_STATE_HOME": os.path.join(self.home, "state"),
            "XDG_CONFIG_HOME": os.path.join(self.home, "config"),
            "XDG_CACHE_HOME": os.path.join(self.home, "cache"),
            "XDG_RUNTIME_DIR": self.run_dir,
            "TMPDIR": self.tmp,
            "LANG": "C.UTF-8",
            name: value,
        }
        for key in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "RUN_MARK"):
            if key in os.environ:
                env[key] = os.environ[key]
        env.update(more)
        return {k: v for k, v in env.items() if v is not None}

    def start(self, *argv, env=None, cwd=None, **how):
        """Starts a command; see Run. `env` is what differs from env()."""
        run = Run(list(argv), self.env(**(env or {})), cwd or self.work, **how)
        self.runs.append(run)
        return run

    def run_to_end(self, *argv, **how):
        return self.start(*argv, **how).finish()

    def terse(self, *argv, **how):
        """Runs terse for an agent, to its end."""
        return self.run_to_end(TERSE, *argv, **how)

    def at_a_terminal(self, *argv, **env):
        """What terse prints at a terminal, which is the controlling one of its session."""
        master, slave = pty.openpty()
        with subprocess.Popen([TERSE, *argv], cwd=self.work, env=self.env(**{"TERM": "xterm", **env}),
                              preexec_fn=lambda: os.login_tty(slave), pass_fds=[slave]) as process:
            os.close(slave)
            out = read_to_end(master)
            process.wait()
        return out

    def fifo(self, name="fifo"):
        path = os.path.join(self.work, name)
        os.mkfifo(path)
        return path

    def with_time(self, start, came):
        """Calls start(limit) with longer and longer limits until came(run) says that the run got far
        enough, which takes longer on a busy machine. Returns that run."""
        for limit in ("300ms", "2s", "10s", "60s"):
            run = start(limit)
            if came(run):
                return run
            self.kill_all()
            shutil.rmtree(self.store, ignore_errors=True)
        raise AssertionError("it did not come that far: %s" % run)

    def out_of_time(self, *argv, **how):
        """Runs terse for an agent with a --timeout that lets the command make the file `came` first."""
        came = os.path.join(self.work, "came")
        run = self.with_time(lambda limit: self.terse("--timeout", limit, *argv, **how),
                             lambda run: os.path.exists(came))
        os.unlink(came)
        return run

    def isolated(self, setup, *argv, oneself=True, **how):
        """Runs `setup`, and then a command, in a separate mount namespace."""
        enter, leave = ["unshare", "-m"], ""
        if os.geteuid() != 0:
            # One user namespace makes us root for the mounts, a second one gives us our own user ID
            # again.
            enter = ["unshare", "-U", "-r", "-m"]
        if os.geteuid() != 0 and oneself:
            leave = "unshare -U --map-user=%d --map-group=%d" % (os.geteuid(), os.getegid())
        if not hasattr(Case, "can_unshare"):
            Case.can_unshare = subprocess.run(
                enter + ["true"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                check=False).returncode == 0
        if not Case.can_unshare:
            self.skipTest("a mount namespace can't be made here")
        script = "{ %s; } || exit 99; exec %s \"$@\"" % (setup, leave)
        run = self.run_to_end(*enter, "sh", "-c", script, "sh", *argv, **how)
        self.assertNotEqual(run.code, 99, run.out + run.err)
        return run

    def shell(self, script, **how):
        """Runs a script of sh, whose output we read, to its end."""
        return self.run_to_end("/bin/sh", "-c", script, **how)

    def ask(self, *argv):
        """Output of a verb of terse that must succeed."""
        done = subprocess.run([TERSE, *argv], env=self.env(), cwd=self.work, timeout=DEADLINE,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def artifact(self, identifier):
        """The text of an artifact."""
        return read_file(os.fsdecode(self.ask("path", identifier).rstrip(b"\n")))

    def metadata(self, identifier):
        path = os.fsdecode(self.ask("path", identifier).rstrip(b"\n"))
        return json.loads(read_file(path[:-len(".txt")] + ".json"))

    def artifacts(self):
        """Paths of all texts in the store."""
        found = []
        for top, _, names in os.walk(self.store):
            found += [os.path.join(top, n) for n in names
                      if n.endswith(".txt") and not n.endswith(".err.txt")]
        return found

    def mine(self):
        return processes(self.mark)

    def roles(self, front):
        """The processes of a run, as (supervisor, watchdog, command) by their place in the tree, as soon as
        all of them are there."""
        everyone = []

        def found():
            everyone[:] = self.mine()
            parents = {p.parent for p in everyone}
            ours = [p for p in everyone if p.parent == front]
            supervisor = [p for p in ours if p.session == p.pid and p.pid in parents]
            watchdog = [p for p in ours if p not in supervisor]
            command = [p for p in everyone if supervisor and p.parent == supervisor[0].pid]
            if (len(supervisor), len(watchdog), len(command)) != (1, 1, 1):
                return None
            return supervisor[0].pid, watchdog[0].pid, command[0].pid
        return eventually(found, lambda: "the three processes of %d: %s" % (front, everyone))

    def assert_nothing_left(self):
        left = []

        def none():
            left[:] = self.mine()
            return not left
        eventually(none, lambda: "still there: %s" % left)

    def assert_preview(self, run, text, end=b"exit 0"):
        """The output that an agent got for a long `text`: within the budget, every line shown or announced in
        place, and the artifact holds the text. Returns the artifact's ID."""
        footer = FOOTER.search(run.out)
        self.assertTrue(footer, run.out[-600:])
        self.assertEqual(footer["end"], end)
        shown = run.out[:footer.start()]
        self.assertLessEqual(len(shown), LIMIT if end == b"exit 0" else FAILURE_LIMIT)
        self.assertLessEqual(len(run.out) - len(shown), FOOTER_MAX)
        identifier = footer["id"].decode()
        self.assertEqual(self.artifact(identifier), text)
        lines = text.split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        self.assertEqual(int(footer["lines"].replace(b",", b"")), len(lines))
        at = markers = 0  # lines of the text accounted for
        for line in shown.split(b"\n")[:-1]:
            marker = MARKER.match(line)
            if marker:
                # Only the first marker has the command.
                self.assertEqual(marker["id"], identifier.encode() if markers == 0 else None)
                self.assertEqual(int(marker["from"]), at + 1, line)
                at = int(marker["to"] or marker["from"])
                markers += 1
                continue
            self.assertEqual(line, lines[at], "line %d" % (at + 1))
            at += 1
        self.assertEqual(at, len(lines))
        return identifier


def computed():
    """Processor time so far, of this process and of all that it waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class _Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = 0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic(), computed()

    def name(self, test):
        return test.id().split(".", 1)[1]

    def say(self, text):
        print(text, flush=True)

    def say_failed(self, test, failures):
        text = failures[-1][1]
        if len(text) > 4000:
            text = text[:2500] + "\n...\n" + text[-1500:]
        self.say("FAIL  %s\n%s" % (self.name(test), text))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self.say("ok    %s (%.1f s, %.1f s of a processor)" % (
            self.name(test), time.monotonic() - self.began[0], computed() - self.began[1]))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("skip  %s: %s" % (self.name(test), reason))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say_failed(test, self.failures)

    def addError(self, test, err):
        super().addError(test, err)
        self.say_failed(test, self.errors)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.say_failed(subtest, self.failures if self.failures and
                            self.failures[-1][0] is subtest else self.errors)


def main():
    """Runs the cases of the calling file: all, or those whose name holds one of the arguments."""
    loader = unittest.TestLoader()
    suite = unittest.TestSuite()
    for group in loader.loadTestsFromModule(sys.modules["__main__"]):
        for test in group:
            if len(sys.argv) < 2 or any(word in test.id() for word in sys.argv[1:]):
                suite.addTest(test)
    result = _Result()
    suite.run(result)
    failed = len(result.failures) + len(result.errors)
    print("%d passed, %d failed, %d skipped" % (result.passed, failed, len(result.skipped)))
    sys.exit(1 if failed else 0)
