#!/usr/bin/env -S python3 -B
"""Real programs that draw, colour, page or ask when they see a terminal: no bar frames, no
escape bytes, no pager, no hang. Everything is local."""

import http.server
import os
import re
import shutil
import subprocess
import threading

from support.harness import Case, main, random_source, read_file, write_file

IDENTITY = {
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_NOSYSTEM": "1",
}

ESCAPES = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


class Slow(http.server.BaseHTTPRequestHandler):
    """4 MB in pieces, so that whoever draws a bar draws many frames."""
    PIECE = b"x" * 65536

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(64 * len(self.PIECE)))
        self.end_headers()
        for _ in range(64):
            self.wfile.write(self.PIECE)
            self.wfile.flush()

    def log_message(self, *args):
        pass


class Tools(Case):
    def need(self, program):
        """Skips a tool that the machine does not have."""
        if not shutil.which(program):
            self.skipTest("%s is not installed" % program)

    def server(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()

        def stop():
            server.shutdown()
            thread.join()
            server.server_close()
        self.addCleanup(stop)
        return "http://127.0.0.1:%d/file" % server.server_address[1]

    def clean(self, *argv, code=0, frames=None, most=1, **how):
        """Runs the tool. Its text has to be clean, with at most `most` frames of its bar."""
        run = self.terse(*argv, **how)
        self.assertEqual(run.code, code, run.out)
        self.assertFalse(ESCAPES.search(run.out), run.out)
        if frames:
            found = re.findall(frames, run.out)
            self.assertLessEqual(len(found), most, run.out)
            self.assertTrue(found, run.out)
        return run.out

    def repository(self, commits=30):
        path = os.path.join(self.dir, "repository")
        os.mkdir(path)
        env = self.env(**IDENTITY)
        git = lambda *argv, **how: subprocess.run(
            ["git", *argv], cwd=path, env=env, check=True, stdout=subprocess.DEVNULL, **how)
        git("init", "-q", "-b", "main", ".")
        stream, source = b"", random_source()
        for i in range(commits):
            body = source.randbytes(20000)
            stream += (b"commit refs/heads/main\ncommitter A <a@example.org> %d +0000\n"
                       b"data 9\ncommit %02d\nM 644 inline file%d\ndata %d\n%s\n" % (
                           1700000000 + i, i, i, len(body), body))
        git("fast-import", "--quiet", input=stream)
        git("reset", "-q", "--hard")
        return path

    def test_pv(self):
        self.need("pv")
        write_file(os.path.join(self.work, "data"), random_source().randbytes(3000000))
        bar = rb"\[=*>? *\]"
        # It draws only in the foreground of a controlling terminal, which there is with --tty.
        self.clean("--tty", "sh", "-c", "pv -i 0.1 -L 10m data >copy", frames=bar)
        self.clean("sh", "-c", "pv -i 0.1 -L 10m data >copy")
        self.assertEqual(read_file(os.path.join(self.work, "copy")),
                         read_file(os.path.join(self.work, "data")))

    def test_pv_with_a_cursor(self):
        """The second one begins when the first one sends data. One that sets the terminal up while
        the other one asks it for the cursor's place may end raw mode: that one would wait for a
        newline behind the answer, on every terminal."""
        self.need("pv")
        write_file(os.path.join(self.work, "data"), random_source().randbytes(3000000))
        write_file(os.path.join(self.work, "then"), "import os, select, sys\n"
                   "select.select([0], [], [])\nos.execvp(sys.argv[1], sys.argv[1:])\n")
        script = ("pv -c -i 0.1 -N one -L 10m data | "
                  "python3 -S then pv -c -i 0.1 -N two >copy")
        out = self.clean("--tty", "sh", "-c", script)
        self.assertEqual((out.count(b"one:"), out.count(b"two:")), (1, 1), out)
        self.assertEqual(self.clean("sh", "-c", script).strip(), b"")

    def test_wget(self):
        self.need("wget")
        self.clean("wget", "-O", "copy", "--progress=bar:force", "--limit-rate=20m", self.server(),
                   frames=rb"\d+%\[", env={"no_proxy": "*"})

    def test_curl(self):
        self.need("curl")
        out = self.clean("curl", "--limit-rate", "20M", "-o", "copy", self.server(),
                         env={"no_proxy": "*"})
        self.assertLessEqual(len(out.splitlines()), 4, out)
        out = self.clean("curl", "-#", "--limit-rate", "20M", "-o", "copy", self.server(),
                         frames=rb"\d+\.\d%", env={"no_proxy": "*"})

    def test_git_clone(self):
        out = self.clean("git", "clone", "--no-local", "--progress", self.repository(), "copy",
                         frames=rb"Receiving objects: +\d+%", env=IDENTITY)
        self.assertIn(b"Receiving objects: 100% (60/60)", out.replace(b"90/90", b"60/60"))
        self.assertLessEqual(out.count(b"Counting objects:"), 1)

    def test_git_log_without_pager(self):
        repository = self.repository()
        out = self.clean("git", "log", cwd=repository, env=IDENTITY)
        self.assertIn(b"commit 29", out)
        self.assertIn(b"commit 00", out)
        plain = subprocess.run(["git", "log"], cwd=repository, env=self.env(**IDENTITY),
                               stdout=subprocess.PIPE, check=True).stdout
        # As without terse, except what git prints only to a terminal (names of branches).
        self.assertEqual(re.sub(rb" \(HEAD.*\)", b"", out), plain)

    def test_pagers(self):
        write_file(os.path.join(self.work, "text"), "".join("%d\n" % i for i in range(300)))
        want = read_file(os.path.join(self.work, "text"))
        for script in ("${PAGER:-less} text", "$GIT_PAGER text", "$MANPAGER text",
                       "$SYSTEMD_PAGER text", "$GH_PAGER text"):
            self.assertEqual(self.clean("sh", "-c", script), want)

    def test_less_through_a_pipe(self):
        """If its output is no terminal, it copies."""
        self.need("less")
        write_file(os.path.join(self.work, "text"), "".join("%d\n" % i for i in range(300)))
        self.assertEqual(self.clean("--no-pty", "less", "text"),
                         read_file(os.path.join(self.work, "text")))

    def test_ls_and_grep_with_colours(self):
        for name in ("a", "b", "c"):
            write_file(os.path.join(self.work, name), "needle\n", 0o755)
        self.assertEqual(self.clean("ls", "--color=always", "-1"), b"a\nb\nc\n")
        self.assertEqual(self.clean("grep", "--color=always", "needle", "a"), b"needle\n")

    def test_make(self):
        write_file(os.path.join(self.work, "Makefile"),
                   "all: a.o b.o\n%.o: %.c\n\t$(CC) -Wall -c $<\n")
        write_file(os.path.join(self.work, "a.c"), "int main(void) { return 0; }\n")
        write_file(os.path.join(self.work, "b.c"), "int f(void) { int unused; return g(); }\n")
        for options in ((), ("-j2",)):
            run = self.terse("make", *options, "-k", "CFLAGS=-fdiagnostics-color=always -Werror",
                             "CC=cc $(CFLAGS)")
            self.assertEqual(run.code, 2)
            self.assertFalse(ESCAPES.search(run.out), run.out)
            self.assertIn(b"unused variable", run.out)
            os.unlink(os.path.join(self.work, "a.o"))

    def test_apt_get(self):
        self.need("apt-get")
        state = os.path.join(self.dir, "apt")
        os.makedirs(os.path.join(state, "lists", "partial"))
        run = self.terse("apt-get", "--simulate", "-y", "-o", "Dir::State::lists=" +
                         os.path.join(state, "lists"), "-o", "Dir::Cache=" + state, "-o",
                         "Debug::NoLocking=1", "reinstall", "bash")
        self.assertFalse(ESCAPES.search(run.out), run.out)
        self.assertLessEqual(run.out.count(b"Reading package lists"), 1, run.out)
        self.assertIn(b"Reading package lists... Done\n", run.out)

    def test_npm(self):
        self.need("npm")
        for name, text in (("package.json", '{"name": "outer", "version": "1.0.0"}'),
                           ("inner/package.json", '{"name": "inner", "version": "1.0.0"}')):
            path = os.path.join(self.work, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_file(path, text)
        out = self.clean("npm", "install", "--offline", "--no-audit", "--no-fund",
                         "--progress=true", "--no-update-notifier", "./inner")
        self.assertRegex(out, rb"(?m)^added 1 package")
        self.assertFalse(re.search("[⠀-⣿]".encode(), out), out)

    def test_python_traceback(self):
        out = self.clean("python3", "-c", "import no_such_module", code=1)
        self.assertIn(b"ModuleNotFoundError", out)

    def test_top_in_batch_mode(self):
        self.need("top")
        self.clean("top", "-b", "-n", "1", "-p", "1")

    def test_top_that_draws(self):
        """Full-screen; ends by itself. Its last picture is what there is to show."""
        self.need("top")
        run = self.terse("--timeout", "30s", "top", "-n", "1", "-p", "1")
        self.assertFalse(ESCAPES.search(run.out), run.out)

    def test_dialog_of_script(self):
        """A pty within the pty."""
        self.need("script")
        run = self.terse("script", "-qec", "echo inside; exit 3", "/dev/null")
        self.assertEqual((run.code, run.out), (3, b"inside\n"))


if __name__ == "__main__":
    main()
