#!/usr/bin/env -S python3 -B
"""archive and unarchive: one file that holds everything, read back as it was; any other file is
refused and leaves nothing."""

import io
import os
import subprocess
import tarfile

from support.harness import Case, DEADLINE, TERSE, let_go_on, main, numbers, random_source, read_file


def zstd(data, *options):
    return subprocess.run(["zstd", "-q", *options], input=data, stdout=subprocess.PIPE, check=True).stdout


def decompress(data):
    return zstd(data, "-d")


def compress(data):
    return zstd(data)


def unpack(packed):
    """The members of an archive: [(name, content)]."""
    with tarfile.open(fileobj=io.BytesIO(decompress(packed))) as archive:
        return [(m.name, archive.extractfile(m).read()) for m in archive.getmembers()]


def tar_of(members, **how):
    """An archive of them; a number for a content is a size of which nothing follows."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", **how) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = content if isinstance(content, int) else len(content)
            if isinstance(content, int):
                out.write(member.tobuf())
                break
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def repack(packed):
    """As another tar would write it."""
    return tar_of([("./" + name, content) for name, content in unpack(packed)], format=tarfile.GNU_FORMAT)


class Archives(Case):
    def say(self, *argv, data=None):
        done = subprocess.run([TERSE, *argv], env=self.env(), cwd=self.work, timeout=DEADLINE,
                              input=data or b"", capture_output=True,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def files(self, identifier):
        """The content of an artifact, without its index, and without the fields of its metadata that say where it
        is and who ran it."""
        found = {}
        for top, _, names in os.walk(os.path.join(self.store, "sessions")):
            for name in names:
                if name.startswith(identifier) and not name.endswith(".idx"):
                    found[name] = read_file(os.path.join(top, name))
        meta = self.metadata(identifier)
        for key in ("session.id", "process.parent_pid", "process.pid"):
            meta.pop(key, None)
        found[identifier + ".json"] = meta
        return found

    def check(self, run):
        """An artifact that is archived and restored is the same."""
        before = self.files(run.id)
        status, out, err = self.say("archive", run.id)
        self.assertEqual((status, err), (0, b""))
        self.assertRegex(out, rb"\A%s\.tar\.zst: [\d.]+ \w+\n\Z" % run.id.encode())
        file = os.path.join(self.work, run.id + ".tar.zst")
        self.assertEqual(os.stat(file).st_mode & 0o777, 0o600)
        self.assertEqual(self.say("unarchive", file)[:2], (
            0, b"%s exists already: terse read %s\n" % (run.id.encode(), run.id.encode())))
        self.assertEqual(self.say("drop", run.id)[0], 0)
        status, out, err = self.say("unarchive", "--session", "theirs", file)
        self.assertEqual((status, err), (0, b""))
        self.assertRegex(out, rb"\A%s restored to session theirs; [\d,]+ lines?, [\d.]+ \w+: "
                         rb"terse read %s\n\Z" % (run.id.encode(), run.id.encode()))
        self.assertTrue(self.files(run.id) == before)
        self.assertIn(run.id.encode(), self.ask("list", "--session", "theirs"))
        self.assertEqual(self.metadata(run.id)["session.id"], "theirs")
        return file

    def test_text(self):
        self.check(self.terse("sh", "-c", "seq 30000; exit 3"))

    def test_every_part(self):
        self.check(self.terse("--keep-raw", "--streams=split", "sh", "-c",
                              "seq 3000; seq 4000 >&2; printf '\\033[31mred\\n'", split=True))
        run = self.terse("--record", "sh", "-c", "seq 3000")
        self.check(run)
        self.assertIn(run.id + ".cast", self.files(run.id))

    def test_gap(self):
        """Text that the disk cap left out takes no room in the archive, nor when it is restored."""
        run = self.terse("--max-artifact", "1MB", "seq", "3000000")
        file = self.check(run)
        self.assertLess(os.stat(file).st_size, 1 << 20)
        text = os.path.join(self.store, "sessions", "theirs", run.id + ".txt")
        self.assertLess(os.stat(text).st_blocks * 512, 2 << 20)
        self.assertEqual(self.ask("read", run.id, "--offset", "2999999"), b"2999999\n3000000\n")

    def test_tar_opens_it(self):
        """tar extracts the artifact's files; text behind a gap is a file of its own."""
        run = self.terse("--max-artifact", "1MB", "seq", "3000000")
        packed = self.say("archive", run.id, "--output", "-")[1]
        with tarfile.open(fileobj=io.BytesIO(decompress(packed))) as archive:
            self.assertEqual(archive.getnames(), [run.id + end for end in (".json", ".txt", ".rest.txt", ".shown")])
            text, rest = (archive.extractfile(run.id + end).read() for end in (".txt", ".rest.txt"))
        self.assertTrue(text.startswith(numbers(1000)))
        self.assertTrue(rest.endswith(b"\n2999999\n3000000\n"))
        self.assertIn(b"lines", text[-512:])
        again = compress(repack(packed))
        self.assertEqual(self.say("drop", run.id)[0], 0)
        self.assertEqual(self.say("unarchive", "-", data=again)[0], 0)
        self.assertEqual(self.ask("read", run.id, "--offset", "2999999"), b"2999999\n3000000\n")

    def test_sizes_that_metadata_do_not_tell_of(self):
        """A few bytes that declare a large hole are refused."""
        run = self.terse("seq", "3000")
        packed = self.say("archive", run.id, "-o", "-")[1]
        self.say("session", "end", "--now")
        members = unpack(packed)
        rest = [(members[1][0].replace(".txt", ".rest.txt"), b"\nx\n")]
        for bad in (members + rest, rest + members, members[1:], members + members[1:2], members[:1],
                    [members[0], (members[1][0], 1 << 40)], [("cmd-000000000000.txt", b"x")] + members,
                    members + [(run.id + ".nothing", b"")]):
            status, out, err = self.say("unarchive", "-", data=compress(tar_of(bad)))
            self.assertEqual((status, out), (1, b""), bad[-1][0])
            self.assertRegex(err, rb"\Aterse unarchive: -: (not an archive of terse, or damaged|larger than .*)\n\Z")
            self.assertEqual(self.artifacts(), [])
        self.assertEqual(self.say("unarchive", "-", data=compress(tar_of(members)))[0], 0)

    def test_output(self):
        run = self.terse("seq", "3000")
        self.assertEqual(self.say("archive", run.id, "-o", "a")[0], 0)
        self.assertEqual(self.say("archive", run.id, "-o", "a"),
                         (1, b"", b"terse archive: a: exists already (--force replaces it)\n"))
        self.assertEqual(self.say("archive", run.id, "-o", "a", "--force")[0], 0)
        self.assertEqual(self.say("archive", run.id, "-o", "nowhere/a")[0], 1)
        self.assertEqual(self.say("archive")[0], 125)
        self.assertEqual(self.say("archive", "nothing")[0], 1)

    def test_back_again_is_there_once(self):
        run = self.terse("seq", "9000")
        self.check(run)
        self.assertEqual(self.ask("list", "--all").count(run.id.encode()), 1)
        journal = read_file(os.path.join(self.store, "sessions", "default", "journal.jsonl"))
        self.assertEqual(journal.count(b'{"eventName":"terse.artifact","id":"%s"' % run.id.encode()), 1)

    def test_running(self):
        go = os.path.join(self.work, "go")
        os.mkfifo(go)
        run = self.terse("sh", "-c", "seq 3000; { read x <%s; } &" % go)
        self.assertEqual(self.say("archive", run.id),
                         (1, b"", b"terse archive: %s: its run is still writing\n" % run.id.encode()))
        self.assertEqual(os.listdir(self.work), ["go"])
        let_go_on(go)

    def test_damaged(self):
        run = self.terse("sh", "-c", "seq 3000; exit 3")
        packed = self.say("archive", run.id, "-o", "-")[1]
        self.say("session", "end", "--now")
        chance = random_source(1)
        bad = [b"", b"x", packed[:-1], packed + b"x", packed + packed, packed[:len(packed) // 2],
               bytes(chance.randrange(256) for _ in range(2000)), b"ustar"]
        for _ in range(60):
            # Behind the frame's header, some bits of which mean nothing (RFC 8878, 3.1.1.1).
            at, bit = chance.randrange(6, len(packed)), chance.randrange(8)
            bad.append(packed[:at] + bytes([packed[at] ^ 1 << bit]) + packed[at + 1:])
        for data in bad:
            status, out, err = self.say("unarchive", "-", data=data)
            self.assertEqual((status, out, err), (
                1, b"", b"terse unarchive: -: not an archive of terse, or damaged\n"))
        for top, _, names in os.walk(self.store):
            self.assertEqual([n for n in names if "cmd-" in n], [], top)
        self.assertEqual(self.say("unarchive", "nothing")[0], 1)
        self.assertEqual(self.say("unarchive", self.work)[0], 1)
        self.assertEqual(self.say("unarchive", "-", data=packed)[0], 0)

    def test_too_large(self):
        """A small file may hold much: it is not believed."""
        run = self.terse("--max-artifact", "16MB", "sh", "-c",
                         "yes | head -c 8M")
        packed = self.say("archive", run.id, "-o", "-")[1]
        self.assertLess(len(packed), 100000)
        self.say("session", "end", "--now")
        env = self.env(TERSE_MAX_ARTIFACT="1MB")
        done = subprocess.run([TERSE, "unarchive", "-"], env=env, input=packed, capture_output=True,
                              check=False, timeout=DEADLINE)
        self.assertEqual((done.returncode, done.stderr), (
            1, b"terse unarchive: -: larger than [spill] max_artifact (--max-artifact)\n"))
        self.assertEqual(self.artifacts(), [])


if __name__ == "__main__":
    main()
