#!/usr/bin/env -S python3 -B
"""Runs that other machines have pushed: read, search and show take their whole IDs, list --remote lists them. An
object that is damaged, swapped, hostile or too large is refused, and leaves nothing behind."""

import json
import os
import re
import shutil
import subprocess
import threading
import time

from support.harness import DEADLINE, TERSE, eventually, let_go_on, main, random_source, read_file, write_file
from support.remote import FAIL, TEXT, Remote


class Fetching(Remote):
    def here(self, *argv, env=None, store="other"):
        """Runs a verb as another machine would, with another store."""
        done = subprocess.run([TERSE, *argv], env=self.env(TERSE_HOME=self.at(store), **(env or {})), cwd=self.work,
                              timeout=DEADLINE, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr.decode()

    def pushed_run(self, *command, **how):
        run = self.terse(*(command or FAIL), **how)
        eventually(lambda: run.id in self.pushed() and not self.mine(), "the object")
        return run.id

    def text(self, one, store="other"):
        """All of a text."""
        status, out, err = self.here("read", one, "--limit", "9000", store=store)
        self.assertEqual(status, 0, err)
        return out

    def files(self, store="other"):
        """What an other store has of artifacts."""
        return sorted(name for _, _, names in os.walk(self.at(store)) for name in names
                      if "cmd-" in name or "fetched" in name)


class Read(Fetching):
    def test_read(self):
        """The first read comes from the remote, later ones from the store."""
        one = self.pushed_run()
        status, out, err = self.here("read", one, "--limit", "9000")
        self.assertEqual((status, out, err), (0, TEXT, ""))
        shutil.rmtree(self.objects)
        self.assertEqual(self.text(one), TEXT)
        self.assertEqual(self.here("read", one, "--tail", "1")[2], "")
        self.assertEqual(self.here("read", one[:12], "--tail", "1"), (0, b"3000\n", ""))

    def test_every_verb(self):
        one = self.pushed_run("--streams=split", "sh", "-c", "seq 3000; seq 5000 6999 >&2; exit 3")
        self.assertEqual(self.here("read", "--stderr", "--limit", "9000", one, store="a")[1], b"".join(b"%d\n" % n
                                                                                   for n in range(5000, 7000)))
        self.assertEqual(self.here("search", one, "^2999", store="b")[:2], (0, b"2999:2999\n"))
        status, out, err = self.here("show", one, store="c")
        self.assertEqual(status, 0, err)
        self.assertIn(b"state      exit 3", out)
        self.assertIn(b"\nsession    from-remote\n", out)
        status, out, _ = self.here("read", "--json", one, "--tail", "1", store="d")
        self.assertEqual((status, json.loads(out)["data"]["text"]), (0, "3000\n"))
        path = self.here("path", one, store="e")[1].decode().rstrip("\n")
        self.assertEqual(read_file(path), TEXT)

    def test_only_whole_ids(self):
        """A beginning, last and a file's name ask nobody."""
        one = self.pushed_run()
        asked = self.at("asked")
        self.rclone("echo x >>%s; exit 3\n" % asked)
        for name in (one[:15], "last", "last-1", one + ".txt", "./" + one, "cmd-nothing"):
            status, _, err = self.here("read", name)
            self.assertEqual(status, 1, name)
            self.assertNotIn("remote", err.replace(self.dir, ""))
        self.assertFalse(os.path.exists(asked))
        self.assertEqual(self.here("read", one)[0], 1)
        self.assertTrue(os.path.exists(asked))

    def test_a_file_of_that_name(self):
        one = self.pushed_run()
        write_file(os.path.join(self.work, one), "a file\n")
        self.assertEqual(self.here("read", one), (0, b"a file\n", ""))

    def test_not_there(self):
        self.pushed_run()
        self.assertEqual(self.here("read", "cmd-000000000000"), (
            1, b"", "terse read: cmd-000000000000: no such artifact, here or in file:%s\n" % self.objects))
        self.assertEqual(self.here("search", "--json", "cmd-000000000000", "x")[:2], (
            1, b'{"ok":false,"error":{"code":"unknown_artifact","message":"cmd-000000000000: no such artifact, '
            b'here or in file:%s"}}\n' % self.objects.encode()))

    def test_rclone(self):
        """rclone's status tells that something is missing, but not for an S3 object. A summary is not taken for
        the reason."""
        place = "rclone:fleet:" + self.objects
        for told, say in (("exit 0", "cmd-000000000000: no such artifact, here or in " + place),
                          ("exit 3", "cmd-000000000000: no such artifact, here or in " + place),
                          ("exit 4", "cmd-000000000000: no such artifact, here or in " + place),
                          ("echo '2026/11/22 07:00:00 NOTICE: Config file not found - using defaults\n"
                           "2026/11/22 07:00:00 ERROR : x.zst: Failed to copy: no route to host\n"
                           "2026/11/22 07:00:00 ERROR : Attempt 1/1 failed with 1 errors and: no route\n"
                           "2026/11/22 07:00:00 Failed to copyto: no route' >&2; exit 1",
                           "cmd-000000000000: not here, and %s: x.zst: Failed to copy: no route to host" % place)):
            self.rclone(told + "\n")
            self.assertEqual(self.here("read", "cmd-000000000000"), (1, b"", "terse read: %s\n" % say))

    def test_read_by_a_program(self):
        self.rclone()
        one = self.pushed_run()
        self.assertEqual(self.text(one), TEXT)

    def test_away(self):
        one = self.pushed_run()
        os.rename(self.objects, self.objects + ".away")
        status, out, err = self.here("read", one)
        self.assertEqual((status, out, err), (
            1, b"", "terse read: %s: not here, and file:%s: %s: No such file or directory\n" % (
                one, self.objects, self.objects)))
        self.assertEqual(self.files(), [])

    def test_takes_too_long(self):
        fifo = self.at("fifo")
        os.mkfifo(fifo)
        self.rclone("read x <%s\n" % fifo, transfer_time="300ms")
        self.assertEqual(self.here("read", "cmd-000000000000"), (
            1, b"", "terse read: cmd-000000000000: not here, and rclone:fleet:%s: took too long "
            "([remote] transfer_time)\n" % self.objects))
        self.assert_nothing_left()

    def test_cleaned_up(self):
        """Who only reads cleans the store up as well: the oldest go."""
        ids = [self.pushed_run() for _ in range(3)]
        for one in ids[:2]:
            self.assertEqual(self.here("read", one, "--tail", "1")[0], 0)
        stamp = os.path.join(self.at("other"), "gc")
        os.utime(stamp, (1, os.stat(stamp).st_mtime - 7200))
        self.assertEqual(self.here("read", ids[2], "--tail", "1", env={"TERSE_GC_COUNT": "1"})[0], 0)
        there = [one for one in ids if any(name.startswith(one) for name in self.files())]
        self.assertEqual(there, ids[1:])

    def test_readers_at_once(self):
        one = self.pushed_run()
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.here("read", one, "--limit", "9000"))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual({(status, out) for status, out, _ in results}, {(0, TEXT)})
        self.assertEqual(self.files().count(one + ".txt"), 1)


class Hostile(Fetching):
    """Nothing that the remote has is trusted."""

    def refused(self, one, why, env=None):
        status, out, err = self.here("read", one, env=env)
        self.assertEqual((status, out, err), (
            1, b"", "terse read: %s: not here, and file:%s: %s\n" % (one, self.objects, why)))
        self.assertEqual(self.files(), [])

    DAMAGED = "what it has under this ID is no archive of terse, or damaged"

    def test_damaged(self):
        one = self.pushed_run()
        whole, path = read_file(self.object(one)), self.object(one)
        chance = random_source(5)
        bad = [b"", b"x", whole[:-1], whole[:len(whole) // 2], whole + whole, b"<html>404</html>\n"]
        for _ in range(8):
            at = chance.randrange(4, len(whole))
            bad.append(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1:])
        for data in bad:
            write_file(path, data)
            self.refused(one, self.DAMAGED)
        write_file(path, whole)
        self.assertEqual(self.text(one), TEXT)

    def test_swapped(self):
        one, other = self.pushed_run(), self.pushed_run("sh", "-c", "seq 4000; exit 3")
        shutil.copy(self.object(other), self.object(one))
        self.refused(one, "what it has under this ID is another run")

    def test_too_large(self):
        """Small and unpacked large, and large itself."""
        limit = {"TERSE_MAX_ARTIFACT": "1MB"}
        one = self.pushed_run("sh", "-c", "yes | head -c 4M; exit 3")
        self.assertLess(os.stat(self.object(one)).st_size, 100000)
        self.refused(one, "larger than [spill] max_artifact", limit)
        with open(self.object(one), "r+b") as f:
            f.truncate(3 << 20)
        status, _, err = self.here("read", one, env=limit)
        self.assertEqual(status, 1)
        self.assertIn("File too large", err)
        self.assertEqual(self.files(), [])

    def test_a_program_that_makes_something_else(self):
        """An object that is a link, a directory or missing: links are not followed, and nothing is waited for."""
        target = write_file(self.at("target"), "secret\n")
        for script, why in (('ln -s %s "$3"; exit 0' % target, "its program has made no file"),
                            ('mkdir "$3"; exit 0', "its program has made no file"),
                            ("echo 'no bucket' >&2; exit 1", "no bucket"),
                            ("kill -9 $$", "killed by SIGKILL"),
                            ("exit 7", "status 7"),
                            ("printf '\\033[31mred\\n\\n' >&2; exit 1", "\\x1b[31mred")):
            self.rclone(script + "\n")
            status, out, err = self.here("read", "cmd-000000000000")
            self.assertEqual((status, out, err), (
                1, b"", "terse read: cmd-000000000000: not here, and rclone:fleet:%s: %s\n" % (self.objects, why)))
            self.assertEqual(self.files(), [])
        self.assertEqual(read_file(target), b"secret\n")



class Search(Fetching):
    """search --remote: the texts of runs that the index chooses; and the same options with --all."""

    def setUp(self):
        super().setUp()
        write_file(self.config, "[remote]\nremote = file:%s\npush = all\nlabels =\n\tjob=$JOB\n" % self.objects)
        self.one = self.terse("sh", "-c", "seq 3000; echo needle one; exit 3", env={"JOB": "1"}).id
        self.two = self.terse("sh", "-c", "echo needle two; seq 3000", env={"JOB": "2"}).id
        eventually(lambda: sorted(self.pushed()) == sorted((self.one, self.two)) and not self.mine(), "the objects")

    def searched(self, *argv, store="other", where="--remote"):
        status, out, err = self.here("search", where, "needle", *argv, store=store)
        return status, out.decode(), err

    def test_remote(self):
        both = "%s:1:needle two\n%s:3001:needle one\n" % (self.two, self.one)
        for _ in range(2):
            self.assertEqual(self.searched(), (0, both, ""))
        for argv, want in ((("--label", "job=1"), self.one), (("--failed",), self.one), (("--exit", "0"), self.two),
                           (("--command", "needle two"), self.two), (("--since", "1h", "--label", "job=2"), self.two),
                           (("--session", "default", "--label", "job=1"), self.one)):
            status, out, _ = self.searched("-c", *argv, store="new")
            self.assertEqual((status, out), (0, want + ":1\n"), argv)
        self.assertEqual(self.files("new").count(self.one + ".txt"), 1)
        for argv in ("--label", "job=3"), ("--until", "1h"), ("--host", "nobody"), ("--session", "none"):
            self.assertEqual(self.searched(*argv), (
                1, "", "terse search: file:%s has no such artifacts\n" % self.objects), argv)
        self.assertEqual(self.here("search", "--remote", "nothing at all")[2],
                         "terse search: no match in 2 artifacts of file:%s\n" % self.objects)
        status, out, err = self.searched("--json", "--label", "job=1")
        data = json.loads(out)["data"]
        self.assertEqual((status, err, data["session"], data["searched"], data["found"][0]["artifact"]),
                         (0, "", None, 1, self.one))
        status, out, err = self.searched("--limit", "1", "--since", "2h")
        self.assertIn("[1 of 2 matches shown: terse search --remote --since 2h needle --limit 2, or narrow", out)

    def test_what_cannot_be_fetched(self):
        """Is said; the others are searched."""
        os.unlink(self.object(self.two))
        status, out, err = self.searched()
        self.assertEqual((status, out), (1, "%s:3001:needle one\n" % self.one))
        self.assertTrue(err.startswith("terse search: %s: no such artifact, here or in file:" % self.two), err)
        write_file(self.object(self.one), b"damaged")
        status, out, err = self.searched(store="new")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("terse search: %s: " % self.one, err)

    def test_all(self):
        def here(*argv):
            run = self.terse("search", "--all", "needle", "-c", *argv)
            return sorted(line[:16] for line in run.out.decode().splitlines() if line.startswith("cmd-") and line[17] != "0")
        self.assertEqual(here(), sorted((self.one, self.two)))
        for argv, want in ((("--label", "job=1"), [self.one]), (("--failed",), [self.one]), (("--exit", "0"), [self.two]),
                           (("--until", "1h"), []), (("--since", "1h", "--command", "two"), [self.two])):
            self.assertEqual(here(*argv), want, argv)
        write_file(self.config, "[remote]\nlabels = where=here\n")
        for n in 1, 3000:
            self.terse("sh", "-c", "echo needle; seq %d" % n)
        local = json.loads(self.ask("list", "--json", "--label", "where=here"))["data"]["runs"]
        self.assertEqual((len(local), here("--label", "where=here")), (2, sorted(run["id"] for run in local)))
        self.assertEqual(self.terse("search", "--all", "needle", "--label", "x=y").out,
                         b"terse search: session default has no such artifacts\n")

    def test_usage(self):
        for argv, said in ((("--all", "--remote", "x"), "one of --all and --remote"),
                           (("--remote", "last", "x"), "--all and --remote search many artifacts: name no text"),
                           (("last", "x", "--failed"), "options that choose runs go with --all or --remote"),
                           (("--all", "x", "--host", "h"), "--host goes with --remote")):
            self.assertEqual(self.here("search", *argv)[::2], (125, "terse search: %s\n" % said))


class Index(Fetching):
    def listed(self, *argv, store="other"):
        status, out, err = self.here("list", "--remote", "--json", *argv, store=store)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)["data"]["runs"]

    def index_is(self, *ids):
        """Waits until the index has these runs."""
        eventually(lambda: sorted(run["id"] for run in self.listed("--limit", "1000")) == sorted(ids) and
                   not self.mine(), lambda: "the index: %s" % self.listed(), 120)

    def test_list(self):
        write_file(self.config, "[remote]\nremote = file:%s\npush = all\nlabels =\n\tjob=$JOB_ID\n\tteam=a b\n"
                   "\tnone=$NOT_SET\n" % self.objects)
        bad = self.terse(*FAIL, env={"JOB_ID": "4812", "TERSE_SESSION": "one"}).id
        good = self.terse("seq", "3000", env={"TERSE_SESSION": "two"}).id
        self.index_is(bad, good)
        runs = {run["id"]: run for run in self.listed()}
        self.assertEqual(runs[bad]["labels"], {"job": "4812", "team": "a b"})
        self.assertEqual((runs[bad]["exit_code"], runs[bad]["lines"]), (3, 3000))
        self.assertEqual(runs[bad]["object_bytes"], os.stat(self.object(bad)).st_size)
        self.assertEqual([run["id"] for run in self.listed("--failed")], [bad])
        self.assertEqual([run["id"] for run in self.listed("--exit", "0")], [good])
        self.assertEqual([run["id"] for run in self.listed("--label", "job=4812")], [bad])
        self.assertEqual([run["id"] for run in self.listed("--label", "team=a b", "--exit", "3")], [bad])
        for label in ("job", "job=", "job=48", "=4812", "team=a", "none="):
            self.assertEqual(self.listed("--label", label), [], label)
        self.assertEqual((len(self.listed("--until", "2099-01-01")), self.listed("--until", "1h")), (2, []))
        self.assertEqual([run["id"] for run in self.listed("--session", "two")], [good])
        self.assertEqual([run["id"] for run in self.listed("--command", "exit 3")], [bad])
        self.assertEqual(len(self.listed("--host", runs[bad]["host"][:2])), 2)
        self.assertEqual(self.listed("--host", "no-such-host"), [])
        self.assertEqual(len(self.listed("--limit", "1")), 1)
        self.assertEqual(len(self.listed("--since", "25h")), 2)
        status, out, err = self.here("list", "--remote", "--journal", "--failed")
        self.assertEqual((status, err, json.loads(out)["id"]), (0, "", bad))
        # Here, too, with the labels of its time.
        self.assertEqual([run["id"] for run in json.loads(self.ask("list", "--all", "--json", "--label", "job=4812"))
                          ["data"]["runs"]], [bad])
        status, out, err = self.here("list", "--remote")
        self.assertEqual((status, err), (0, ""))
        lines = out.decode().split("\n")
        self.assertRegex(lines[0], r"\AID +STATE +TOOK +LINES +SIZE +AGE +HOST +COMMAND\Z")
        self.assertRegex(lines[1], r"\A%s  exit 0 +[\d.]+ m?s +3,000 +13.6 KB +\d+ \w+  \S+ team=a b +seq 3000\Z" % good)
        self.assertRegex(lines[2], r"\A%s  exit 3 .* job=4812 team=a b +sh -c 'seq 3000; exit 3'\Z" % bad)

    def test_nothing(self):
        self.assertEqual(self.here("list", "--remote"), (
            0, b"", "terse list: no such run was pushed (--since 1h)\n"))
        self.assertEqual(self.here("list", "--remote", "--since", "soon")[0], 125)
        self.assertEqual(self.listed(), [])
        write_file(self.config, "")
        self.assertEqual(self.here("list", "--remote"), (
            125, b"", "terse list: there is no remote: [remote] of your terse.ini names one\n"))

    def test_segments(self):
        """Runs that wait together share one; what is there is never changed."""
        self.rclone("exit 1\n")
        ids = [self.terse(*FAIL).id for _ in range(5)]
        eventually(lambda: self.waiting() == ids, "all packed")
        self.kill_all()
        self.tell("")
        self.push_all()
        segment, = self.indexes()
        host = re.sub(r"[^A-Za-z0-9.-]", "_", os.uname().nodename)
        self.assertRegex(os.path.relpath(segment, self.objects),
                         r"\Aindex/\d{4}/\d\d/\d\d/\d\d/%s-%s-5\.jsonl\Z" % (host, ids[0]))
        before = read_file(segment)
        one = self.pushed_run()
        self.index_is(*ids, one)
        self.assertEqual((len(self.indexes()), read_file(segment), self.lines()), (2, before, ids + [one]))

    def test_newest_hours_first(self):
        """Hours are read from the newest one back, and no more of them than the limit needs."""
        asked = self.at("asked")
        self.rclone('test $1 != copy || echo "$2 $@" >>%s\n' % asked)
        one = self.pushed_run()
        two = self.pushed_run()
        self.index_is(one, two)
        now = time.time()
        line = json.loads(read_file(self.indexes()[0]).splitlines()[0])
        for hours in range(1, 60):
            at = int((now - hours * 3600) * 1000)
            digits = "".join("0123456789abcdefghjkmnpqrstvwxyz"[at >> 5 * n & 31] for n in range(8, -1, -1))
            line.update({"id": "cmd-%s000" % digits, "startTimeUnixNano": at * 10**6, "endTimeUnixNano": at * 10**6})
            path = os.path.join(self.objects, time.strftime("index/%Y/%m/%d/%H", time.gmtime(at / 1000)))
            os.makedirs(path, exist_ok=True)
            write_file(os.path.join(path, "web-%s.jsonl" % line["id"]), json.dumps(line, separators=(",", ":")) + "\n")
        for argv, count, least, most in ((("--limit", "1"), 1, 1, 2), (("--limit", "10"), 10, 2, 6),
                                         (("--limit", "100"), 61, 4, 14), (("--host", "web"), 0, 4, 14)):
            write_file(asked, "")
            runs = self.listed("--since", "61h", *argv)
            self.assertEqual(len(runs), count)
            ids = [run["id"] for run in runs]
            self.assertEqual(ids, sorted(ids, reverse=True))
            calls = read_file(asked).splitlines()
            self.assertTrue(least <= len(calls) <= most, calls)
        self.assertEqual([run["id"] for run in self.listed("--since", "61h", "--limit", "2")], [two, one])

    def test_writers(self):
        """Many machines at a time: no line is lost, cut or there twice."""
        runs = [self.start(TERSE, *FAIL, env={"TERSE_HOME": self.at("machine%d" % n)}) for n in range(20)
                for _ in range(2)]
        ids = [run.finish().id for run in runs]
        self.index_is(*ids)
        self.assertEqual(self.lines(), sorted(ids))

    def test_index_is_away(self):
        """The artifact is pushed and the index is not: that is said, and made up for."""
        self.rclone('case $2 in */index) test ! -e %s || { echo "no index" >&2; exit 1; };; esac\n' % self.at("away"))
        place = "rclone:fleet:" + self.objects
        write_file(self.at("away"), "")
        one = self.terse(*FAIL).id
        eventually(lambda: self.retry()[0], "a failure")
        self.kill_all()
        self.assertEqual(self.push(), (1, "0 pushed to %s\n" % place, "terse push: left: the index: no index\n"))
        os.unlink(self.at("away"))
        self.assertEqual(self.push()[0::2], (0, ""))
        self.assertEqual([run["id"] for run in self.listed()], [one])

    def hanging_index(self):
        """An upload of the index that does not end before somebody lets it go on."""
        self.rclone('case $2 in */index) echo x >>%s; read x <%s;; esac\n' % (self.at("began"), self.at("go")))
        os.mkfifo(self.at("go"))
        self.place = "rclone:fleet:" + self.objects

    def index_begun(self):
        return os.path.exists(self.at("began")) and len(read_file(self.at("began"))) // 2

    def test_index_takes_too_long(self):
        """terse push --wait ends in time, and says what is left."""
        self.hanging_index()
        self.terse(*FAIL)
        eventually(lambda: self.index_begun() == 1, "an upload of the index")
        self.assertEqual(self.push("--wait", "300ms"), (
            1, "0 pushed to %s\n" % self.place, "terse push: left: the index: another process still pushes\n"))
        self.kill_all()
        self.assertEqual(self.push("--wait", "300ms"), (
            1, "0 pushed to %s\n" % self.place, "terse push: left: the index: the time was over\n"))
        self.assertEqual(self.push("--wait", "300ms", "--json")[:2], (
            1, '{"ok":true,"data":{"pushed":0,"left":0,"dropped":0,"reason":"the time was over"}}\n'))
        self.assert_nothing_left()

    def test_runs_that_end_meanwhile(self):
        """A run that ends while terse push is busy with the index finds the lock held; it is pushed all the
        same."""
        self.hanging_index()
        one = self.terse(*FAIL)
        eventually(lambda: self.index_begun() == 1, "an upload of the index")
        self.kill_all()
        push = self.start(TERSE, "push")
        eventually(lambda: self.index_begun() == 2, "another one")
        two = self.terse(*FAIL)
        eventually(lambda: len(self.waiting()) == 1 and not [p for p in self.mine() if "exit 3" in " ".join(p.argv)],
                   lambda: "only terse push is left: %s" % self.mine())
        let_go_on(self.at("go"))
        eventually(lambda: self.index_begun() == 3, "the index again")
        self.assertEqual(self.pushed(), [one.id, two.id])
        let_go_on(self.at("go"))
        self.assertEqual((push.finish().code, push.out), (0, b"1 pushed to %s\n" % self.place.encode()))

    def test_hostile_lines(self):
        """What is no line of an index is skipped and counted; what is one is shown clean."""
        one = self.terse(*FAIL).id
        self.index_is(one)
        path = self.indexes()[0]
        good = read_file(path)
        line = json.loads(good)
        odd = dict(line, labels={"a": "\x07", "b": 7}, id="cmd-000000000000",
                   **{"host.name": "h\x1b[31m\u202e", "process.command_args": ["rm\n-rf"]})
        bad = [b"", b"{}", b"[]", b"null", good[:100], b'{"id":"../../x","state":"done"}', b"\0\xff", b"x" * 70000,
               json.dumps(dict(line, id="cmd-x"), separators=(",", ":")).encode()]
        write_file(path, good + b"\n".join(bad) + b"\n" + json.dumps(odd, separators=(",", ":")).encode() + b"\n" + good)
        status, out, err = self.here("list", "--remote")
        self.assertEqual((status, err), (0, "terse list: damaged lines skipped: %d\n" % len(bad)))
        self.assertEqual(out.count(one.encode()), 1)
        self.assertIn(b"h\\x1b[31m\\u202e a=\\x07 ", out)
        self.assertNotIn(b"\x1b", out)
        self.assertEqual(len(out.split(b"\n")), 4)
        self.assertEqual(len(self.listed()), 2)


if __name__ == "__main__":
    main()
