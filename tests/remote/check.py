#!/usr/bin/env -S python3 -B
"""Real remotes (make check-remote): rclone with an S3 server (s3rver, from npm), with WebDAV (rclone serve
webdav) and with a directory, and terse's own file:/DIR.

    check.py                everything
    check.py s3 webdav ...  these: s3, webdav, rclone-directory, file, crypt, faults, writers, timing

REMOTE_RUNS (1,000) runs on 20 machines, each with a home and a store of its own, are pushed and read back on
another machine. Requests are counted by a proxy, which also cuts connections, delays and answers errors.
"""

import collections
import contextlib
import ctypes
import glob
import json
import math
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
TERSE = os.path.join(BUILD, "terse")
S3RVER = os.environ.get("S3RVER", os.path.join(BUILD, "s3rver"))
RUNS = int(os.environ.get("REMOTE_RUNS", "1000"))
FAULT_RUNS = int(os.environ.get("REMOTE_FAULT_RUNS", "100"))
PAIRS = int(os.environ.get("REMOTE_PAIRS", "300"))
SEED = int(os.environ.get("TEST_SEED", "1"))
MACHINES = 20
# Of a run's time with a remote over that without. One that waits for its upload takes several times as long; what is
# done behind a run may delay the news of its end on a machine that has few processors or much else to do.
BOUND = 2
PR_SET_CHILD_SUBREAPER = 36

problems = []


def wrong(text):
    problems.append(text)
    print("FAIL  " + text, flush=True)


def note(text):
    print("note  " + text, flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def eventually(test, what, seconds=120):
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            raise AssertionError("waited in vain: " + what)
        time.sleep(0.005)


class Proxy:
    """Passes connections on to a port; counts requests; breaks them as `mode` says."""

    def __init__(self, port):
        self.to, self.mode, self.requests = port, "pass", collections.Counter()
        self.chance = random.Random(SEED)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.handle, args=(client,), daemon=True).start()

    def handle(self, client):
        mode = self.mode
        if mode == "random":
            mode = self.chance.choice(["pass", "pass", "refuse", "error", "full", "cut", "slow"])
        try:
            if mode == "refuse":
                return
            if mode in ("error", "full"):
                client.recv(65536)
                client.sendall(b"HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % (
                    b"503 Slow Down" if mode == "error" else b"507 Insufficient Storage"))
                return
            if mode == "slow":
                time.sleep(0.5)
            with socket.create_connection(("127.0.0.1", self.to)) as server:
                left = [self.chance.randrange(100, 3000)] if mode == "cut" else None
                up = threading.Thread(target=self.pump, args=(client, server, True, left), daemon=True)
                up.start()
                self.pump(server, client, False, left)
                up.join(60)
        except OSError:
            pass
        finally:
            client.close()

    def pump(self, source, to, count, left):
        try:
            while data := source.recv(65536):
                for method in re.findall(rb"(?m)^(GET|PUT|HEAD|POST|DELETE|PROPFIND|MKCOL|MOVE|COPY) \S+ HTTP/1\.1\r$",
                                         data) if count else ():
                    self.requests[method.decode()] += 1
                if left is not None:
                    left[0] -= len(data)
                    if left[0] < 0:
                        break
                to.sendall(data)
        except OSError:
            pass
        for end in (source, to):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Remote:
    """A remote and the machines that use it."""

    def __init__(self, name):
        self.name, self.server, self.proxy = name, None, None
        self.dir = tempfile.mkdtemp(prefix="terse-remote-")
        self.config = os.path.join(self.dir, "terse.ini")
        self.objects = os.path.join(self.dir, "objects")
        os.mkdir(self.objects)
        self.more = {}
        place = getattr(self, "start_" + name.replace("-", "_"))()
        with open(self.config, "w") as f:
            f.write("[remote]\nremote = %s\npush = all\noutbox_max = 1GB\n" % place)

    def listen(self, argv, port):
        self.server = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", port)) == 0
        eventually(answers, self.name + " listens")
        self.proxy = Proxy(port)

    def start_file(self):
        return "file:" + self.objects

    def start_rclone_directory(self):
        self.more = {"RCLONE_CONFIG_FLEET_TYPE": "local"}
        return "rclone:FLEET:" + self.objects

    def start_webdav(self):
        port = free_port()
        self.listen(["rclone", "serve", "webdav", self.objects, "--addr", "127.0.0.1:%d" % port], port)
        self.more = {"RCLONE_CONFIG_FLEET_TYPE": "webdav", "RCLONE_CONFIG_FLEET_VENDOR": "other",
                     "RCLONE_CONFIG_FLEET_URL": "http://127.0.0.1:%d" % self.proxy.port}
        return "rclone:FLEET:outputs"

    def start_crypt(self):
        secret = subprocess.run(["rclone", "obscure", "secret"], check=True, capture_output=True).stdout.decode()
        self.more = {"RCLONE_CONFIG_FLEET_TYPE": "crypt", "RCLONE_CONFIG_FLEET_REMOTE": self.objects,
                     "RCLONE_CONFIG_FLEET_FILENAME_ENCRYPTION": "off",
                     "RCLONE_CONFIG_FLEET_DIRECTORY_NAME_ENCRYPTION": "false",
                     "RCLONE_CONFIG_FLEET_PASSWORD": secret.strip()}
        return "rclone:FLEET:"

    def start_s3(self):
        port = free_port()
        self.listen([os.path.join(S3RVER, "node_modules", ".bin", "s3rver"), "--directory", self.objects, "--address",
                     "127.0.0.1", "--port", str(port), "--silent", "--configure-bucket", "fleet"], port)
        self.more = {"RCLONE_CONFIG_FLEET_TYPE": "s3", "RCLONE_CONFIG_FLEET_PROVIDER": "Other",
                     "RCLONE_CONFIG_FLEET_ACCESS_KEY_ID": "S3RVER", "RCLONE_CONFIG_FLEET_SECRET_ACCESS_KEY": "S3RVER",
                     "RCLONE_CONFIG_FLEET_FORCE_PATH_STYLE": "true",
                     "RCLONE_CONFIG_FLEET_ENDPOINT": "http://127.0.0.1:%d" % self.proxy.port}
        return "rclone:FLEET:fleet/outputs"

    def end(self):
        if self.server:
            self.server.kill()
            self.server.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def env(self, machine):
        home = os.path.join(self.dir, "machine%s" % machine)
        os.makedirs(home, exist_ok=True)
        return dict(PATH=BUILD + ":" + os.environ["PATH"], HOME=home, TERSE_HOME=os.path.join(home, "store"),
                    TERSE_CONFIG=self.config, TMPDIR=self.dir, LANG="C.UTF-8", TERSE_LABELS="machine=%s" % machine,
                    RCLONE_CONFIG=os.path.join(self.dir, "none.conf"), **self.more)

    def ask(self, machine, *argv, check=True):
        done = subprocess.run([TERSE, *argv], env=self.env(machine), cwd=self.dir, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        if check and done.returncode:
            raise AssertionError("%s: %s" % (argv, done.stderr))
        return done.stdout

    def run(self, machine, n):
        """A run that is told from all others; every fourth fails. Returns its ID and text."""
        done = subprocess.run([TERSE, "--preview", "sh", "-c", "seq %d %d; exit %d" % (n, n + 2000, n % 4 == 0)],
                              env=self.env(machine), cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              check=False)
        ids = re.findall(rb"terse read (cmd-[0-9a-z]+)", done.stdout)
        if not ids:
            raise AssertionError("run %d names no artifact: %r" % (n, done.stdout[-600:]))
        identifier = ids[-1].decode()
        return identifier, b"".join(b"%d\n" % i for i in range(n, n + 2001))

    def runs(self, count):
        """{ID: (machine, text, failed)} of so many runs, on all machines at a time."""
        made = {}

        def machine_runs(machine):
            for n in range(machine, count, MACHINES):
                identifier, text = self.run(machine, n)
                made[identifier] = (machine, text, n % 4 == 0)
        on_machines(machine_runs)
        return made

    def push_all(self):
        def push(machine):
            eventually(lambda: subprocess.run([TERSE, "push", "--wait", "60s"], env=self.env(machine), cwd=self.dir,
                                              stdin=subprocess.DEVNULL, capture_output=True,
                                              check=False).returncode == 0, "machine %d pushes" % machine, 600)
        on_machines(push, 6)

    def check_all(self, made):
        """Each run reads the same on another machine, and the index has each once."""
        machines = collections.defaultdict(list)
        for identifier, (machine, text, _) in made.items():
            machines[machine].append((identifier, text))

        def read(machine):
            for identifier, text in machines[machine]:
                other = (machine + 7) % MACHINES
                got = self.ask(other, "read", identifier, "--lines", "1-2001", check=False)
                if got != text:
                    wrong("%s: %s differs on machine %d: %d bytes" % (self.name, identifier, other, len(got)))
        on_machines(read, 6)
        for failed in (False, True):
            argv = ["list", "--remote", "--json", "--limit", "100000", "--since", "3h"] + ["--failed"] * failed
            runs = json.loads(self.ask(0, *argv))["data"]["runs"]
            want = sorted(i for i, (_, _, f) in made.items() if f or not failed)
            if sorted(run["id"] for run in runs) != want:
                wrong("%s: the index has %d runs, not %d" % (self.name, len(runs), len(want)))
            for run in runs:
                if run["labels"] != {"machine": str(made[run["id"]][0])}:
                    wrong("%s: %s has labels %s" % (self.name, run["id"], run["labels"]))
        left = [n for m in range(MACHINES) for _, _, names in os.walk(os.path.join(
            self.dir, "machine%d" % m, "store", "outbox")) for n in names if "cmd-" in n]
        if left:
            wrong("%s: left in outboxes: %s" % (self.name, left[:5]))


def on_machines(work, at_a_time=MACHINES):
    """Calls work(machine) for all machines; a problem of one is one of the check."""
    machines, lock = iter(range(MACHINES)), threading.Lock()

    def take():
        while True:
            with lock:
                machine = next(machines, None)
            if machine is None:
                return
            try:
                work(machine)
            except Exception as problem:
                wrong("machine %d: %s" % (machine, problem))
    threads = [threading.Thread(target=take) for _ in range(at_a_time)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def check_kind(name):
    remote = Remote(name)
    try:
        began = time.monotonic()
        made = remote.runs(RUNS)
        ran = time.monotonic()
        remote.push_all()
        pushed = time.monotonic()
        requests = dict(remote.proxy.requests) if remote.proxy else {}
        remote.check_all(made)
        note("%s: %d runs on %d machines in %.0f s, pushed %.0f s later, read back in %.0f s" % (
            name, len(made), MACHINES, ran - began, pushed - ran, time.monotonic() - pushed))
        if requests:
            note("%s: requests to push one run: %s" % (name, ", ".join(
                "%s %.2f" % (method, n / len(made)) for method, n in sorted(requests.items()))))
            read = collections.Counter(remote.proxy.requests)
            read.subtract(requests)
            note("%s: requests to read one run: %s" % (name, ", ".join(
                "%s %.2f" % (method, n / len(made)) for method, n in sorted(read.items()) if n)))
    finally:
        remote.end()


def check_faults():
    """A server that is away, slow, full, or cuts connections: nothing is lost."""
    for name in ("webdav", "s3"):
        remote = Remote(name)
        try:
            made = {}
            for mode in ("refuse", "random", "error", "full", "cut", "random"):
                remote.proxy.mode = mode
                for n in range(FAULT_RUNS // 6):
                    machine = len(made) % MACHINES
                    identifier, text = remote.run(machine, len(made))
                    made[identifier] = (machine, text, len(made) % 4 == 0)
            remote.proxy.mode = "pass"
            remote.push_all()
            remote.check_all(made)
            note("%s with faults: %d runs are all there" % (name, len(made)))
        finally:
            remote.end()


def check_writers():
    """Writers of the index at a time, each with a store of its own: each run is in one line, in one segment."""
    remote = Remote("rclone-directory")
    try:
        made = remote.runs(MACHINES * 3)
        remote.push_all()
        remote.check_all(made)
        lines = []
        for top, _, names in os.walk(os.path.join(remote.objects, "index")):
            for name in names:
                with open(os.path.join(top, name)) as f:
                    lines += [json.loads(line)["id"] for line in f]
        if sorted(lines) != sorted(made):
            wrong("%d lines in the index for %d runs" % (len(lines), len(made)))
        note("index: %d writers, %d runs" % (MACHINES, len(made)))
    finally:
        remote.end()


def elapsed(argv, env, cwd):
    began = time.perf_counter()
    subprocess.run(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - began


def left_behind():
    """The processes that runs have left behind, which this one adopts."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    found = [os.getpid()]
    for pid in found:
        for path in glob.glob("/proc/%d/task/*/children" % pid):
            with contextlib.suppress(OSError), open(path) as f:
                found += map(int, f.read().split())
    return found[1:]


def is_quiet():
    """Whether all threads of those sleep: what is done behind a run is over, or waits for another attempt."""
    for path in [path for pid in left_behind() for path in glob.glob("/proc/%d/task/*/stat" % pid)]:
        with contextlib.suppress(OSError), open(path) as f:
            if f.read().rsplit(") ", 1)[1][0] != "S":
                return False
    return True


def paired(remote, argv):
    """[seconds with the remote, without] of so many runs by turns. What is done behind one is over before the next: it
    is not the command that waits for it, but it takes the processor from whoever is next."""
    plain = os.path.join(remote.dir, "plain.ini")
    open(plain, "w").close()
    pairs = []
    for n in range(PAIRS):
        pair = [0, 0]
        for which in (0, 1) if n % 2 else (1, 0):
            env = dict(remote.env("timing%d" % which), TERSE_CONFIG=plain if which else remote.config)
            pair[which] = elapsed([TERSE, *argv], env, remote.dir)
            eventually(lambda: all(is_quiet() for _ in range(3)), "the end of what is done behind a run")
        pairs.append(pair)
    return pairs


def ratio_of(pairs):
    """The median of the pairs' ratios, with its 95 % interval (bootstrap)."""
    logs, chance = [math.log(a / b) for a, b in pairs], random.Random(SEED)
    medians = sorted(statistics.median(chance.choices(logs, k=len(logs))) for _ in range(1000))
    return [math.exp(x) for x in (statistics.median(logs), medians[25], medians[975])]


def check_timing():
    remote = Remote("file")
    dead = free_port()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        for what, argv, push, is_dead in (
                ("terse true, push = failed", ["true"], "failed", False),
                ("terse true, push = all", ["true"], "all", False),
                ("a short failure is pushed", ["sh", "-c", "echo no; exit 1"], "failed", False),
                ("a short failure, the remote is dead", ["sh", "-c", "echo no; exit 1"], "failed", True),
                ("a long failure, the remote is dead", ["sh", "-c", "seq 3000; exit 1"], "all", True)):
            remote.more = {"RCLONE_CONFIG_FLEET_TYPE": "webdav", "RCLONE_CONFIG_FLEET_URL":
                           "http://127.0.0.1:%d" % dead}
            with open(remote.config, "w") as f:
                f.write("[remote]\nremote = %s\npush = %s\n" % (
                    "rclone:FLEET:outputs" if is_dead else "file:" + remote.objects, push))
            pairs = paired(remote, argv)
            ratio = ratio_of(pairs)
            note("%s: %.2f ms, times %.3f [%.3f %.3f] with the remote (%d pairs)" % (
                what, statistics.median(pair[1] for pair in pairs) * 1000, *ratio, len(pairs)))
            if ratio[1] > BOUND:
                wrong("%s: %.3f times as long" % (what, ratio[0]))
    finally:
        while left := left_behind():
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        remote.end()


KINDS = ("file", "rclone-directory", "crypt", "webdav", "s3")
CHECKS = {"faults": check_faults, "writers": check_writers, "timing": check_timing}


def main():
    chosen = sys.argv[1:] or [*KINDS, *CHECKS]
    for name in chosen:
        print("      " + name, flush=True)
        if name in CHECKS:
            CHECKS[name]()
        else:
            check_kind(name)
    print("%d problems" % len(problems))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
