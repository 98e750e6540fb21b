#!/usr/bin/env -S python3 -B
"""terse mcp from outside, by a client of our own: the protocol, every tool, sessions, what may run, bad input,
a slow client, many calls, and the end of the server."""

import json
import os
import random
import re
import resource
import shutil
import signal
import time

from support.harness import (BUILD, Case, SEED, TERSE, Process, eventually, is_sanitized, main, numbers,
                             processes, random_source, read_file, write_file)
from support.mcp import Client, Refused

REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
ID = re.compile(r"artifact_id=(cmd-[0-9a-z]+)")


def open_files(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def memory(pid):
    """The most that the process ever had in memory, in bytes."""
    return int(re.search(rb"VmHWM:\s+(\d+) kB", read_file("/proc/%d/status" % pid)).group(1)) * 1024


class McpCase(Case):
    def setUp(self):
        super().setUp()
        self.clients = []

    def tearDown(self):
        for client in self.clients:
            client.popen.kill()
            client.popen.wait()
            for end in (client.popen.stdin, client.popen.stdout, client.popen.stderr):
                end.close()
        super().tearDown()

    def client(self, *options, env=None, **more):
        client = Client(self.env(**(env or {})), self.work, *options, **more)
        self.clients.append(client)
        return client

    def start_sleeper(self, client, **arguments):
        """A command that has said its process ID, and waits."""
        pid_file = os.path.join(self.work, "pid%d" % client.number)
        number = client.start("run_command", command="echo on; echo $$ >%s.new && mv %s.new %s; exec sleep 1000"
                              % (pid_file, pid_file, pid_file), **arguments)
        return number, int(eventually(lambda: os.path.exists(pid_file) and read_file(pid_file), "its start"))

    def go_on(self, client, command, says):
        """A command that outlasts its timeout, and has said this. Returns the text of the answers."""
        text = client.call("run_command", command=command, timeout=100)
        artifact = ID.search(text)[1]
        while says not in text:
            text += client.call("await_command", artifact_id=artifact, **{"for": re.escape(says.strip())})
        return text

    def assert_ends(self, pid):
        def has_ended():
            try:
                return Process(pid).state == "Z"
            except (FileNotFoundError, ProcessLookupError):
                return True
        eventually(has_ended, "the end of %d" % pid)


class Protocol(McpCase):
    def test_revisions(self):
        for asked in REVISIONS + ("1999-01-01",):
            with self.subTest(asked=asked):
                client = self.client(revision=asked)
                self.assertEqual(client.server["protocolVersion"], asked if asked in REVISIONS else REVISIONS[0])
                self.assertEqual(client.server["serverInfo"]["name"], "terse")
                self.assertEqual(set(client.server["capabilities"]), {"tools"})
                self.assertEqual(client.request("ping"), {})
                self.assertEqual(client.close(), (0, b""))

    def test_bad_input(self):
        """Each gets one clear sentence, and the server lives on."""
        client = self.client(initialize=False)
        for line, code, message in (
                (b"{", -32700, "not JSON: string or '}' expected near end of file at byte 1"),
                (b"\xff\xfe", -32700, None),
                (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600,
                 "a message is one JSON object, not an array of them"),
                (b"7", -32700, None),
                (b'{"jsonrpc":"2.0","method":"ping","id":{}}', -32600,
                 "id: must be a string or a whole number of at most 500 bytes"),
                (b'{"jsonrpc":"2.0","method":"ping","id":null}', -32600,
                 "id: must be a string or a whole number of at most 500 bytes"),
                (b'{"jsonrpc":"2.0","method":"ping","id":1.5}', -32600,
                 "id: must be a string or a whole number of at most 500 bytes"),
                (b"{} {}", -32700, "not JSON: end of file expected near '{' at byte 4"),
                (b'{"jsonrpc":"2.0","method":"x\\y"}', -32700, None)):
            client.write(line + b"\n")
            errors = client.take(None)
            self.assertEqual([e["error"]["code"] for e in errors], [code], line)
            if message:
                self.assertEqual(errors[0]["error"]["message"], message)
        # A request that can be parsed is answered by its ID, even if it is refused.
        for members, message in (('"method":"n"', 'jsonrpc: must be "2.0"'),
                                 ('"jsonrpc":"1.0","method":"n"', 'jsonrpc: must be "2.0"'),
                                 ('"jsonrpc":"2.0","method":2', "method: must be a string"),
                                 ('"jsonrpc":"2.0","method":"n","params":[]', "params: must be an object")):
            client.write(b'{"id":"a\\"b",%s}\n' % members.encode())
            with self.assertRaises(Refused) as refused:
                client.take('a"b')
            self.assertEqual((refused.exception.code, refused.exception.message), (-32600, message))
        with self.assertRaises(Refused) as refused:
            client.request("tools/list")
        self.assertEqual((refused.exception.code, refused.exception.message),
                         (-32600, "tools/list: initialize has to come first"))
        for params, want in (({}, "initialize: protocolVersion: must be a string"),
                             ({"protocolVersion": 1}, "initialize: protocolVersion: must be a string")):
            with self.assertRaises(Refused) as refused:
                client.request("initialize", **params)
            self.assertEqual(refused.exception.message, want)
        client.request("initialize", protocolVersion=REVISIONS[0])
        for method, params, code, want in (
                ("nonsense", {}, -32601, "nonsense: there is no such method"),
                ("tools/call", {}, -32602, "tools/call: name: must be a string"),
                ("tools/call", {"name": "rm"}, -32602, "tools/call: there is no tool rm; tools/list has all"),
                ("prompts/list", {}, -32601, "prompts/list: there is no such method")):
            with self.subTest(method=method, params=params), self.assertRaises(Refused) as refused:
                client.request(method, **params)
            self.assertEqual(refused.exception.code, code)
            self.assertEqual(refused.exception.message, want)
        for arguments, want in (
                ({"tool": "run_command", "command": "x", "session": "none"},
                 "run_command: session: there is none called none; new_session starts one"),
                ({"tool": "run_command", "command": "x", "cwd": "/nosuch"},
                 "run_command: /nosuch: No such file or directory; give another cwd, or start anew with end_session\n"),
                ({"tool": "run_command", "command": "x", "profile": "none"}, None),
                ({"tool": "await_command", "artifact_id": "cmd-1m80txd5zbxv"},
                 "cmd-1m80txd5zbxv: no such artifact (list_commands shows what there is)\n"),
                ({"tool": "read_command_output", "artifact_id": "last"}, None),
                ({"tool": "end_session", "session": "none"},
                 "end_session: session: there is none of that name"),
                *(({"tool": "new_session", "session": name},
                   "new_session: session: must be letters, digits, '.', '_' or '-', 64 at most")
                  for name in ("a b", "a/b", "\xfc", 65 * "a"))):
            with self.subTest(arguments=arguments):
                text = client.wrong(**arguments)
                self.assertNotIn("terse ", text)
                if want:
                    self.assertEqual(text, want)
        for tool, arguments, want in (
                ("run_command", {}, "command: is missing"),
                ("run_command", [], "arguments: must be an object"),
                ("run_command", {"command": 1}, "command: must be a string"),
                ("run_command", {"command": None}, "command: is missing"),
                ("run_command", {"command": "x", "timeout": -1}, "timeout: must be a whole number from 1 to 86400000"),
                ("run_command", {"command": "x", "timeout": 1.5}, "timeout: must be a whole number from 1 to 86400000"),
                ("run_command", {"command": "x", "args": [1]}, "args: must be a list of strings"),
                ("run_command", {"command": "x", "env": {"A=B": ""}},
                 "env: must be an object of strings, by the variables' names"),
                ("run_command", {"command": "x", "kill_on_timeout": 1}, "kill_on_timeout: must be true or false"),
                ("read_command_output", {"artifact_id": "x", "stream": "all"},
                 'stream: must be one of ["stdout","stderr","raw"]'),
                ("read_command_output", {"artifact_id": "x", "offset": "a"}, "offset: must be a whole number"),
                ("read_command_output", {"artifact_id": "x", "limit": -1}, "limit: must be a whole number, 1 at least"),
                ("read_command_output", {"artifact_id": "x", "context": 3}, "context: goes with search"),
                ("read_command_output", {"artifact_id": "x", "search": "y", "offset": -1},
                 "search: goes with offset from 1 on, limit, context and stream stderr, and with nothing else"),
                ("send_input", {"artifact_id": "x"}, "text or keys: one of them is needed"),
                ("screen", {"artifact_id": "x", "y\x1b": 0}, "y\\x1b: no such argument; there are artifact_id")):
            with self.subTest(tool=tool, arguments=arguments):
                result = client.request("tools/call", name=tool, arguments=arguments)
                self.assertEqual((result["content"][0]["text"], result["isError"]), ("%s: %s" % (tool, want), True))
        # Notifications and responses have no answer, whatever they say.
        client.notify("notifications/cancelled", requestId=99)
        client.notify("notifications/cancelled", requestId=[])
        client.notify("nonsense")
        client.write(b'{"jsonrpc":"2.0","id":5,"result":{}}\n')
        self.assertEqual(client.request("ping"), {})
        self.assertEqual(client.notes, [])
        self.assertEqual(client.close(), (0, b""))

    def test_huge_line(self):
        """It is not kept in memory, and answered."""
        client = self.client()
        client.write(b'{"params":"')
        for _ in range(40):
            client.write(b"x" * (1 << 20))
        client.write(b'","id":"huge"}\n{"jsonrpc":"2.0","id":"behind","method":"ping"}\n')
        self.assertEqual(client.take("behind"), {})
        self.assertEqual([e["error"]["message"] for e in client.take(None)],
                         ["the message is over 16 MB long, so it was not read"])
        if not is_sanitized():
            self.assertLess(memory(client.popen.pid), 64 << 20)

    def test_what_parsers_refuse(self):
        """It is mended, or answered by an error."""
        client = self.client()

        def answer(number, arguments, tool="run_command"):
            client.write(b'{"method":"tools/call","params":{"name":"%s","arguments":%s},"jsonrpc":"2.0","id":%s}\n'
                         % (tool.encode(), arguments, str(number).encode()))
            return client.until(lambda: client.answers.pop(number, None), "the answer to %s" % number)

        def text(*call):
            return answer(*call)["result"]["content"][0]["text"]
        self.assertEqual(text(101, rb'{"command":"echo cut \ud83d"}'), "cut \ufffd\n")
        self.assertEqual(text(102, b'{"command":"echo \xff."}'), "\ufffd.\n")
        self.assertEqual(text(103, rb'{"command":"echo\u0000 x"}'),
                         "run_command: command: must not have a NUL character")
        self.assertEqual(text(104, rb'{"command":"od","args":["-An","-c\u0000"]}'),
                         "run_command: args: must not have a NUL character")
        self.assertEqual(text(105, rb'{"command":"od -An -c","stdin":"a\u0000b"}'), "   a  \\0   b\n")
        for number, arguments, want in ((107, rb'{"command":"\x"}', "not JSON: invalid escape"),
                                        (108, b'{"command":1e999}', "not JSON: real number overflow"),
                                        (109, b'{"command":"x",}', "not JSON: "),
                                        ("18446744073709551616", b"{}", "not JSON: too big integer")):
            with self.subTest(number=number):
                client.write(b'{"method":"tools/call","params":{"name":"run_command","arguments":%s},"jsonrpc":"2.0",'
                             b'"id":%s}\n' % (arguments, str(number).encode()))
                error, = client.take(None)
                self.assertTrue(error["error"]["message"].startswith(want), error)
        self.assertEqual(client.close(), (0, b""))

    def test_ids(self):
        """A string stays one; one that is not answered yet can't be used again."""
        client = self.client()
        self.assertEqual(client.take(client.send("ping", number="7")), {})
        self.assertEqual(client.take(client.send("ping", number=-5)), {})
        number, pid = self.start_sleeper(client)
        client.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode() + b"\n")
        with self.assertRaises(Refused) as refused:
            client.take(number)
        self.assertEqual(refused.exception.message, "id: belongs to a request that is not answered yet")
        client.notify("notifications/cancelled", requestId=number)
        self.assert_ends(pid)

    def test_only_messages_on_stdout(self):
        """Also where the configuration is wrong; an unfinished last line counts."""
        config = os.path.join(self.home, "config", "terse")
        os.makedirs(config)
        write_file(os.path.join(config, "terse.ini"), "[run]\nnosuch = 1\n")
        client = self.client()
        self.assertRegex(client.call("run_command", command="echo x"), r"\Ax\n[^\n]*nosuch: no such key[^\n]*\n\Z")
        self.assertEqual(client.notes, [])
        client.write(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
        client.popen.stdin.close()
        self.assertEqual(client.take("last"), {})
        status, errors = client.close()
        self.assertEqual(status, 0)
        self.assertIn(b"nosuch", errors)

    def test_ignored_signal(self):
        """The end of a command is noticed although the client ignores that of its own children."""
        client = self.client(before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(client.call("run_command", command="echo x; exit 3"), "x\n[terse: exit 3]\n")

    def test_options(self):
        for options, want in (
                (("--read-only=x",), b"terse mcp: --read-only: takes no value\n"),
                (("x",), b"terse mcp: x: one argument too many (see terse help mcp)\n"),
                (("--nosuch",), None)):
            run = self.terse("mcp", *options, split=True)
            self.assertEqual(run.code, 125, options)
            self.assertEqual(run.out, b"")
            if want:
                self.assertEqual(run.err, want)


class Commands(McpCase):
    def test_text(self):
        """What an agent's shell would have printed; a failure is a result with its status."""
        client = self.client()
        for arguments, want in (
                ({"command": "echo out; echo err >&2"}, "out\nerr\n"),
                ({"command": "true"}, "[terse: exit 0]\n"),
                ({"command": "echo x; exit 3"}, "x\n[terse: exit 3]\n"),
                ({"command": "false"}, "[terse: exit 1]\n"),
                ({"command": "kill -TERM $$"}, "[terse: killed by SIGTERM]\n"),
                ({"command": "nosuch_program"}, "/bin/bash: line 1: nosuch_program: command not found\n"
                                                "[terse: exit 127]\n"),
                ({"command": "nosuch_program", "args": ["x"]},
                 "nosuch_program: command not found\n[terse: exit 127]\n"),
                ({"command": "printf", "args": ["%s|", "a b", "$x", "*"]}, "a b|$x|*|"),
                ({"command": "printf '\\033[31mred\\033[0m\\rblue\\n'"}, "blue\n"),
                ({"command": "-c"}, "/bin/bash: line 1: -c: command not found\n[terse: exit 127]\n"),
                ({"command": "+x"}, "/bin/bash: line 1: +x: command not found\n[terse: exit 127]\n"),
                ({"command": "pwd", "cwd": "/", "timeout_ms": 9000, "description": "Prints it"}, "/\n"),
                ({"command": "echo $A-$PWD", "env": {"A": "1 2"}}, "1 2-%s\n" % self.work),
                ({"command": "cat", "stdin": "in\n"}, "in\n"),
                ({"command": "cat", "stdin": ""}, "[terse: exit 0]\n"),
                ({"command": "exit 125"}, "[terse: exit 125]\n"),
                ({"command": "echo ü; echo \"'\\\"\""}, "ü\n'\"\n"),
                ({"command": "echo $0 $# \"$@\""}, "/bin/bash 0\n"),
                ({"command": "trap 'echo mine' EXIT; exit 4"}, "mine\n[terse: exit 4]\n"),
                ({"command": "set -eu; false; echo x"}, "[terse: exit 1]\n"),
                ({"command": "exec sleep 1000", "timeout": 50, "kill_on_timeout": True},
                 "[terse: timed out (exit 124)]\n")):
            with self.subTest(arguments=arguments):
                self.assertEqual(client.call("run_command", **arguments), want)
        self.assertEqual(client.close(), (0, b""))

    def test_long_output(self):
        """A preview in the words of tools, and every one of its words works."""
        client = self.client()
        text = client.call("run_command", command="seq 20000; echo error: here >&2; seq 20001 40000; exit 2")
        gap = re.search(r"\[\.\.\. lines (\d+)-(\d+)[^:\n]*: read_command_output artifact_id=(\S+) "
                        r"offset=(\d+) limit=(\d+)[];]", text)
        self.assertTrue(gap, text[-500:])
        first, last, artifact = int(gap[1]), int(gap[2]), gap[3]
        self.assertEqual((int(gap[4]), int(gap[5])), (first, last - first + 1))
        self.assertIn("\nerror: here\n", text)
        self.assertRegex(text, r"\[terse: exit 2 after [^;]+; 40,001 lines, [^;:]+: read_command_output "
                               r"artifact_id=%s \[offset=FROM limit=COUNT \| search=REGEX\]\]\n\Z" % artifact)
        self.assertNotIn("terse read", text)
        page = client.call("read_command_output", artifact_id=artifact, offset=first, limit=3)
        self.assertTrue(page.startswith("%d\n%d\n%d\n" % (first, first + 1, first + 2)), page)
        # Each page says how to read the next one, and together they are the text.
        whole, offset, limit = b"", 1, None
        while offset:
            arguments = {"limit": limit} if limit else {}
            page = client.call("read_command_output", artifact_id=artifact, offset=offset, **arguments)
            more = re.search(r"\[terse: lines [^\n]* continue: read_command_output artifact_id=%s offset=(\d+)"
                             r"(?: limit=(\d+))?\]\n\Z" % artifact, page)
            whole += page[:more.start() if more else None].encode()
            offset, limit = (int(more[1]), more[2] and int(more[2])) if more else (0, None)
        self.assertEqual(whole, numbers(20000) + b"error: here\n" + numbers(40000)[len(numbers(20000)):])
        self.assertEqual(client.call("read_command_output", artifact_id=artifact, tail=2), "39999\n40000\n")
        self.assertEqual(client.call("read_command_output", artifact_id=artifact, offset=-1), "40000\n")
        self.assertEqual(client.call("read_command_output", artifact_id=artifact, search="^error", context=1),
                         "20000-20000\n20001:error: here\n20002-20001\n")
        self.assertIn("no match in 40,001 lines", client.call("read_command_output", artifact_id="last",
                                                              search="nothing like it"))
        many = client.call("read_command_output", artifact_id=artifact, search="7", limit=2)
        self.assertRegex(many, r"\[2 of [\d,]+ matches shown: read_command_output artifact_id=%s search=\"7\" "
                               r"offset=27 limit=2, or narrow the pattern\]" % artifact)
        self.assertIn("bytes", client.call("read_command_output", artifact_id=artifact, bytes="0-5"))

    def test_limits(self):
        client = self.client()
        for arguments in ({"max_output_lines": "5"}, {"max_output_lines": 5}, {"max_bytes": 100}):
            text = client.call("run_command", command="seq 100", **arguments)
            self.assertRegex(text, r"\[\.\.\. lines \d+-\d+", arguments)
            self.assertLess(len(text), 600)
        self.assertEqual(client.call("run_command", command="seq 30000", include_full_output=True).encode(),
                         numbers(30000))

    def test_full_output(self):
        """Up to 1 MB; beyond that the first marker says how to read on, and so all can be read."""
        client = self.client()
        text = client.call("run_command", command="seq 300000", include_full_output=True)
        self.assertLess(len(text), (1 << 20) + 4096)
        whole, lines = b"", numbers(300000)
        for part in re.split(r"(\[\.\.\. lines \d+-\d+[^\n]*\]\n|\[terse: [^\n]*\]\n)", text):
            gap = re.match(r"\[\.\.\. lines (\d+)-(\d+)", part)
            if gap:
                whole += b"".join(b"%d\n" % i for i in range(int(gap[1]), int(gap[2]) + 1))
            elif not part.startswith("[terse: "):
                whole += part.encode()
        self.assertEqual(whole, lines)
        gap = re.search(r", [\d.]+ KB: read_command_output artifact_id=(\S+) offset=(\d+) limit=(\d+)\]", text)
        page = client.call("read_command_output", artifact_id=gap[1], offset=int(gap[2]), limit=int(gap[3]))
        self.assertTrue(page.startswith("%d\n%d\n" % (int(gap[2]), int(gap[2]) + 1)))

    def test_lenient(self):
        """What models write for numbers and booleans is understood."""
        client = self.client()
        text = client.call("run_command", command="seq 9000", timeout="5000", kill_on_timeout="false")
        artifact = ID.search(text)[1]
        self.assertEqual(client.call("read_command_output", artifact_id=artifact, offset="-2", limit="1"),
                         client.call("read_command_output", artifact_id=artifact, offset=-2, limit=1))
        for arguments, want in (({"limit": "5x"}, "limit: must be a whole number, 1 at least"),
                                ({"limit": ""}, "limit: must be a whole number, 1 at least"),
                                ({"limit": "99999999999999999999"}, "limit: must be a whole number, 1 at least")):
            self.assertEqual(client.wrong("read_command_output", artifact_id=artifact, **arguments),
                             "read_command_output: " + want)
        going_on = self.go_on(client, "echo on; read x", "on\n")
        self.assertEqual(client.call("run_command", command="echo a | tr a b", args=[]), "b\n")
        self.assertEqual(client.call("read_command_output", artifact_id="last"), "b\n")
        for tool, more in (("signal_command", {}), ("screen", {}), ("send_input", {"text": "x"})):
            self.assertRegex(client.wrong(tool, artifact_id="last", **more), r"^cmd-\w+: has ended")
        self.assertEqual(client.wrong("send_input", artifact_id=ID.search(going_on)[1], keys=["none"]),
                         "none: no such key (there are enter, tab, escape, up, ctrl-c, ctrl-d, f1 ...)\n")

    def test_project_with_errors(self):
        """The footer says by a tool what is wrong."""
        client = self.client()
        write_file(os.path.join(self.work, ".terse.ini"), "[report]\nnosuch = 1\n")
        text = client.call("run_command", command="seq 9000")
        command = re.search(r"; \.terse\.ini is ignored: run_command command=\"(.*?)\";", text)[1]
        self.assertIn(".terse.ini:2: [report] nosuch: no such key", client.call("run_command", command=command))

    def test_timeout_goes_on(self):
        """Then it is awaited, typed to, looked at, and ended."""
        client = self.client()
        text = self.go_on(client, "echo first; read x; echo got $x; read y", "first\n")
        artifact = ID.search(text)[1]
        self.assertIn("first\n[terse: ", text)
        # Nothing blocks the session meanwhile.
        self.assertEqual(client.call("run_command", command="echo free"), "free\n")
        self.assertIn(artifact + "  running ", client.call("list_commands"))
        self.assertEqual(client.call("screen", artifact_id=artifact), "first\n")
        typed = client.call("send_input", artifact_id=artifact, text="-n", keys=["enter"])
        self.assertIn("got -n\n", typed)
        late = client.call("await_command", artifact_id=artifact, timeout=1)
        self.assertIn("[terse: ", late)
        self.assertEqual(client.call("signal_command", artifact_id=artifact),
                         "[terse: ended; what was not shown yet: await_command artifact_id=%s]\n" % artifact)
        self.assertIn("killed by SIGTERM", client.call("await_command", artifact_id=artifact))
        self.assertEqual(client.wrong("send_input", artifact_id=artifact, text="x"),
                         "%s: has ended (read_command_output artifact_id=%s)\n" % (artifact, artifact))

    def test_prompt(self):
        client = self.client()
        text = client.call("run_command", command="read -p 'name: ' x; echo hello $x")
        self.assertRegex(text, r"\[terse: waiting for input: \"name: \"; answer: send_input artifact_id=\S+ "
                               r"text=TEXT keys=\[\"enter\"\]; with that ID: screen, signal_command \(ends it\)\]")
        self.assertIn("hello you\n[terse: exit 0]\n",
                      client.call("send_input", artifact_id=ID.search(text)[1], text="you", keys=["enter"]))

    def test_await_for(self):
        client = self.client()
        text = self.go_on(client, "echo one; read x; echo listening on 80; read y", "one\n")
        artifact = ID.search(text)[1]
        self.assertIn("[terse: found \"listening on 80\"; running]",
                      client.call("send_input", artifact_id=artifact, keys=["enter"], **{"for": "listening"}))
        self.assertNotIn("[terse: found", client.call("send_input", artifact_id=artifact, text="still listening",
                                                         timeout=300, **{"for": "listening"}))
        client.call("signal_command", artifact_id=artifact, signal="KILL")

    def test_list(self):
        """As terse list has them, with all of their commands."""
        client = self.client()
        self.assertEqual(client.call("list_commands"), "[terse: nothing is there]\n")
        number, pid = self.start_sleeper(client, timeout=200)
        running = ID.search(client.finish(number)[0])[1]
        client.call("run_command", command="seq 9000; : " + 200 * "x")
        lines = client.call("list_commands").splitlines()
        self.assertRegex(lines[1], r"^cmd-\S+  exit 0 .* 9,000   42.9 KB .* seq 9000; : x{200}$")
        self.assertRegex(lines[2], "^" + running + "  running .* 1 ")
        self.assertIn("[newest 1 shown; more: list_commands limit=10]", client.call("list_commands", limit=1))

    def test_progress(self):
        """Only where it is asked for, and always growing."""
        client = self.client()
        silent = client.start("run_command", command="echo x; read y </dev/null; sleep 0.1")
        client.finish(silent)
        self.assertEqual(client.notes, [])
        fifo = os.path.join(self.work, "fifo")
        os.mkfifo(fifo)
        number = client.start("run_command", token="t1", command="echo one; cat fifo; echo two; cat fifo")
        for count in (1, 2):
            client.until(lambda: len(client.notes) >= count, "progress %d" % count)
            with open(fifo, "w"):
                pass
        self.assertEqual(client.finish(number)[0], "one\ntwo\n")
        said = [note["params"] for note in client.notes]
        self.assertEqual({note["method"] for note in client.notes}, {"notifications/progress"})
        self.assertEqual({p["progressToken"] for p in said}, {"t1"})
        self.assertEqual([p["message"] for p in said][:2], ["1 line, 4 B: one", "2 lines, 8 B: two"])
        self.assertEqual(sorted({p["progress"] for p in said}), [p["progress"] for p in said])

    def test_progress_of_waiting(self):
        """What waits for a run tells of it, too; of a question in the words of terse follow."""
        client = self.client(env={"TERSE_PROMPT": "await"})
        fifo = os.path.join(self.work, "fifo")
        os.mkfifo(fifo)
        artifact = ID.search(self.go_on(client, "echo one; cat fifo; read -p 'more? ' x; echo got $x", "one\n"))[1]
        number = client.start("await_command", token="t2", artifact_id=artifact)
        client.until(lambda: client.notes, "what there is")
        with open(fifo, "w"):
            pass
        client.until(lambda: client.notes[-1]["params"]["message"] == 'asks: "more? "', "the question")
        client.call("send_input", artifact_id=artifact, text="it", keys=["enter"])
        self.assertIn("got it\n", client.finish(number)[0])
        said = [note["params"] for note in client.notes]
        self.assertEqual({p["progressToken"] for p in said}, {"t2"})
        self.assertEqual(said[0]["message"], "1 line, 4 B: one")
        self.assertEqual(sorted({p["progress"] for p in said}), [p["progress"] for p in said])

    def test_cancel(self):
        """The command ends with all of its session, and there is no answer; twice is as once."""
        client = self.client()
        number, pid = self.start_sleeper(client)
        for _ in range(2):
            client.notify("notifications/cancelled", requestId=number, reason="enough")
        self.assert_ends(pid)
        waits = client.call("run_command", command="sleep 1000", timeout=50)
        awaited = client.start("await_command", artifact_id=ID.search(waits)[1])
        client.notify("notifications/cancelled", requestId=awaited)
        client.request("ping")
        self.assertEqual(client.answers, {})
        client.call("run_command", command="true")
        self.assertEqual(client.answers, {})

    def test_structured(self):
        """JSON as the verbs have it, in both forms; without the option in none."""
        client = self.client("--structured")
        result = client.request("tools/call", name="run_command", arguments={"command": "seq 9000; exit 3"})
        run = result["structuredContent"]
        self.assertEqual(json.loads(result["content"][0]["text"]), run)
        self.assertEqual((run["exit_code"], run["success"], run["state"]), (3, False, "done"))
        self.assertNotIn("isError", result)
        read = client.request("tools/call", name="read_command_output",
                              arguments={"artifact_id": run["artifact"]["id"], "offset": 5, "limit": 1})
        self.assertEqual(read["structuredContent"]["data"]["text"], "5\n")
        wrong = client.request("tools/call", name="read_command_output", arguments={"artifact_id": "cmd-9"})
        self.assertEqual((wrong["structuredContent"]["ok"], wrong["isError"]), (False, True))
        self.assertEqual(wrong["structuredContent"]["error"]["message"],
                         "cmd-9: no such artifact (list_commands shows what there is)")
        missing = client.request("tools/call", name="run_command", arguments={"command": "nosuch", "args": ["x"]})
        self.assertEqual((missing["structuredContent"]["state"], "isError" in missing), ("not_started", False))
        self.assertIn("structuredContent", client.request("tools/call", name="list_commands"))
        client.call("run_command", command="seq 9000")
        listed = client.request("tools/call", name="list_commands", arguments={"limit": 1})
        self.assertEqual(listed["structuredContent"]["data"]["next"], "list_commands limit=10")
        plain = self.client()
        self.assertEqual(plain.request("tools/call", name="run_command", arguments={"command": "echo x"}),
                         {"content": [{"type": "text", "text": "x\n"}]})

    def test_structured_answers(self):
        """Each is an object, and the same in both forms, errors too."""
        client = self.client("--structured")

        def call(tool, **arguments):
            result = client.request("tools/call", name=tool, arguments=arguments)
            self.assertIsInstance(result["structuredContent"], dict)
            self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])
            return result["structuredContent"]
        for arguments in ({"command": "seq 9000; exit 3"}, {"command": 1}, {"command": "x", "cwd": "/nosuch"}):
            call("run_command", **arguments)
        live = call("run_command", command="echo on; cat", timeout=100)["artifact"]["id"]
        for artifact in (live, "cmd-9"):
            for tool, arguments in (
                    ("read_command_output", {}), ("read_command_output", {"search": "o"}), ("screen", {}),
                    ("read_command_output", {"search": "("}), ("read_command_output", {"bytes": "0-1"}),
                    ("await_command", {"timeout": 50}), ("send_input", {"text": "x"}), ("signal_command", {})):
                call(tool, artifact_id=artifact, **arguments)
        for tool, arguments in (("list_commands", {}), ("new_session", {"session": "b"}),
                                ("end_session", {"session": "b"}), ("end_session", {"session": "b"})):
            call(tool, **arguments)


class Sessions(McpCase):
    def test_carried_over(self):
        client = self.client()
        os.mkdir(os.path.join(self.work, "a"))
        os.mkdir(os.path.join(self.home, "config"))
        write_file(os.path.join(self.work, "activate"), "export VENV=yes; f() { :; }\nPATH=/venv:$PATH\n")
        for command, want in (
                ("cd a; export A='1\n2'; B=3; echo $OLDPWD", self.work + "\n"),
                ("pwd; echo \"$A\" ${B-none}", self.work + "/a\n1\n2 none\n"),
                ("source ../activate; unset A", "[terse: exit 0]\n"),
                ("echo $VENV ${A-gone}; echo $PATH | cut -c1-6", "yes gone\n/venv:\n"),
                ("cd /; exit 7", "[terse: exit 7]\n"),
                ("cd -", self.work + "/a\n"),
                ("(cd /; export C=1); cd .. | cat; false", "[terse: exit 1]\n"),
                ("pwd; echo ${C-none}", self.work + "/a\nnone\n"),
                ("export TERSE_ACTIVE=1 SHLVL=9 D=1; exec true", "[terse: exit 0]\n"),
                ("echo ${D-none}", "none\n"),
                ("trap 'echo bye' EXIT; export E=5", "bye\n"),
                ("echo ${E-none}", "none\n"),
                ("set -e; export F=6; false", "[terse: exit 1]\n"),
                ("echo $F", "6\n"),
                ("cd .; PWD=.; export K=8", "[terse: exit 0]\n"),
                ("echo $K; pwd", "8\n%s/a\n" % self.work),
                ("export G=1; if", None),
                ("echo ${G-none}", "none\n")):
            with self.subTest(command=command):
                text = client.call("run_command", command=command)
                if want is not None:
                    self.assertEqual(text, want)
        self.assertEqual(client.call("run_command", command="pwd", cwd=".."), self.work + "\n")
        self.assertEqual(client.call("run_command", command="pwd", cwd="~/config"),  # of the session's HOME
                         os.path.join(self.home, "config") + "\n")
        # For one command only; no shell, no change.
        client.call("run_command", command="export H=1; cd sub", cwd="/", env={"I": "2"})
        self.assertEqual(client.call("run_command", command="pwd; echo $H ${I-none}"), self.work + "/a\n1 none\n")
        client.call("run_command", command="env", args=["J=1", "true"])
        self.assertEqual(client.call("run_command", command="echo ${J-none}"), "none\n")

    def test_changes_only(self):
        """bash starts terse at its end only if something has changed, whatever options it ends with."""
        program = os.path.join(self.work, "terse")
        shutil.copy(TERSE, program)
        client = self.client(program=program, env={"TERSE_SHELL": "/bin/bash"})
        os.unlink(program)
        write_file(program, '#!/bin/bash\necho left >>%s/left\nexec "%s" "$@"\n' % (self.work, TERSE))
        os.chmod(program, 0o755)
        for command, leaves, want in (
                ("true", False, "[terse: exit 0]\n"),
                ("set -eu; f() { local -x A=1; }; f; false", False, "[terse: exit 1]\n"),
                ("IFS=xyz; set -fC", False, "[terse: exit 0]\n"),
                ("shopt -s expand_aliases; alias read=:; B=1", False, "[terse: exit 0]\n"),
                ("read() { echo mine; }; printf() { read; }; mapfile() { read; }", False, "[terse: exit 0]\n"),
                ("set -a; A=1", True, "[terse: exit 0]\n"),
                ("export A=1; echo $A; set | grep ^_terse", False, "1\n[terse: exit 1]\n"),
                ("f() { echo of f; }; export -f f", True, "[terse: exit 0]\n"),
                ("f; f() { :; }", True, "of f\n"),
                ("f; unset -f f", True, "[terse: exit 0]\n"),
                ("trap 'echo D' DEBUG", False, "D\nD\n"),
                ("ulimit -f 0", True, "[terse: exit 0]\n"),
                ("mkdir a; cd a", True, "[terse: exit 0]\n"),
                ("mv ../a ../b", True, "[terse: exit 0]\n"),
                ("pwd; kill -TERM $$", False, self.work + "/b\n[terse: killed by SIGTERM]\n"),
                ("BASH_VERSION=; BASH=; _terse_new=x", True, "[terse: exit 0]\n"),
                ("unset A; exec <&- >&-", True, "[terse: exit 0]\n"),
                ("echo ${A-none}", False, "none\n")):
            with self.subTest(command=command):
                self.assertEqual(client.call("run_command", command=command), want)
                self.assertEqual(os.path.exists(os.path.join(self.work, "left")), leaves)
                if leaves:
                    os.unlink(os.path.join(self.work, "left"))

    def test_a_relative_pwd(self):
        client = self.client(env={"PWD": "."})
        self.assertEqual(client.call("new_session", session="b"), "session b begins in %s\n" % self.work)

    def test_sh(self):
        """Not only of bash."""
        client = self.client(env={"TERSE_SHELL": "/bin/sh"})
        client.call("run_command", command="cd /usr; export A=1; exit 3")
        self.assertEqual(client.call("run_command", command="pwd; echo $A"), "/usr\n1\n")

    def test_side_by_side(self):
        client = self.client()
        self.assertEqual(client.call("new_session", session="b", cwd="/usr"), "session b begins in /usr\n")
        self.assertEqual(client.call("new_session"), "session session-2 begins in %s\n" % self.work)
        client.call("run_command", command="export A=b; cd lib", session="b")
        client.call("run_command", command="export A=d")
        self.assertEqual(client.call("run_command", command="echo $A; pwd", session="b"), "b\n/usr/lib\n")
        self.assertEqual(client.call("run_command", command="echo $A; pwd"), "d\n%s\n" % self.work)
        self.assertEqual(client.call("end_session", session="b"), "session b has ended\n")
        self.assertEqual(client.call("new_session", session="c", cwd="~"), "session c begins in %s\n" % self.home)
        self.assertEqual(client.call("end_session", session="c"), "session c has ended\n")
        client.call("new_session", session="session-5")
        self.assertEqual(client.call("new_session"), "session session-6 begins in %s\n" % self.work)
        self.assertEqual(client.wrong("new_session", session="session-5"),
                         "new_session: there is a session session-5 already")
        os.mkdir(os.path.join(self.work, "~x"))
        self.assertEqual(client.call("run_command", command="pwd", cwd="~x"), self.work + "/~x\n")
        self.assertEqual(client.wrong("new_session", cwd="nosuch"),
                         "new_session: cwd: %s/nosuch: not a directory" % self.work)
        self.assertIn("there is none called b", client.wrong("run_command", command="true", session="b"))
        for _ in range(64 - 4):
            client.call("new_session")
        self.assertEqual(client.wrong("new_session"), "new_session: there are 64 sessions already; end one")
        # A command of a session that was ended leaves nothing to the new one of its name.
        os.mkfifo(os.path.join(self.work, "fifo"))
        slow = client.start("run_command", command="export A=1; cat fifo")
        self.assertEqual(client.call("end_session", session="default"), "session default begins anew\n")
        with open(os.path.join(self.work, "fifo"), "w"):
            pass
        client.finish(slow)
        self.assertEqual(client.call("run_command", command="echo ${A-none}"), "none\n")

    def test_at_the_same_time(self):
        """No command takes back what another one changed."""
        client = self.client()
        fifo = os.path.join(self.work, "fifo")
        os.mkfifo(fifo)
        slow = client.start("run_command", command="export A=1; cat %s" % fifo)
        client.call("run_command", command="export B=2; cd /usr")
        with open(fifo, "w"):
            pass
        client.finish(slow)
        self.assertEqual(client.call("run_command", command="echo $A $B; pwd"), "1 2\n/usr\n")

    def test_directory_gone(self):
        client = self.client()
        gone = os.path.join(self.work, "gone")
        os.mkdir(gone)
        client.call("run_command", command="cd gone")
        os.rmdir(gone)
        self.assertIn("give another cwd, or start anew with end_session", client.wrong("run_command", command="true"))
        self.assertEqual(client.call("run_command", command="pwd", cwd=self.work), self.work + "\n")
        client.call("end_session", session="default")
        self.assertEqual(client.call("run_command", command="pwd"), self.work + "\n")


class Allowed(McpCase):
    def test_read_only(self):
        client = self.client("--read-only")
        tools = client.request("tools/list")["tools"]
        self.assertEqual({t["name"] for t in tools}, {"read_command_output", "list_commands", "await_command",
                                                      "screen"})
        self.assertTrue(all(t["annotations"]["readOnlyHint"] for t in tools))
        for tool in ("run_command", "send_input", "signal_command", "new_session", "end_session"):
            with self.subTest(tool=tool), self.assertRaises(Refused):
                client.request("tools/call", name=tool, arguments={"command": "echo x", "session": "default"})

    def test_reach(self):
        """Artifacts and runs of the own session by ID alone: no tool reaches a path, nor another session's."""
        path = os.path.join(self.work, "secret")
        write_file(path, "secret\n" * 9)
        for name in ("last", "cmd-1m80txd5zbxv"):
            write_file(os.path.join(self.work, name), "secret\n")
        yielded = self.terse("--session", "other", "--yield", "1ms", "echo secret; read x; seq 9000",
                             env={"TERSE_SPILL": "always"}).out.decode()
        other = re.search(r"cmd-\w+", yielded)[0]
        kept = os.path.join(self.store, "sessions", "other", other)
        names = [path, "secret", "./secret", "../" + os.path.basename(self.work) + "/secret", "/etc/passwd", "last",
                 "cmd-1m80txd5zbxv", other, other[:-1], other + ".txt", kept + ".txt"]
        calls = [("read_command_output", {}), ("read_command_output", {"search": "secret"}), ("screen", {}),
                 ("read_command_output", {"stream": "raw"}), ("await_command", {"timeout": 50}),
                 ("read_command_output", {"search": path})]
        types = [("send_input", {"text": "x", "keys": ["enter"]}), ("signal_command", {})]
        for options in (("--read-only",), (), ("--structured",)):
            client = self.client(*options)
            for tool, arguments in calls if "--read-only" in options else calls + types:
                for name in names:
                    with self.subTest(options=options, tool=tool, name=name):
                        text = client.wrong(tool, artifact_id=name, **arguments)
                        self.assertIn("%s: no such artifact (list_commands shows what there is)" % name, text)
            self.assertNotIn(other, client.request("tools/call", name="list_commands")["content"][0]["text"])
        client = self.client("--all-sessions")
        eventually(lambda: client.call("read_command_output", artifact_id=other, limit=1).startswith("secret\n"),
                   "its first line")
        self.assertIn(other + "  running", client.call("list_commands"))
        self.assertIn("[terse: exit 0", client.call("send_input", artifact_id=other, keys=["enter"]))
        for name in (path, "./secret", other[:-1], kept + ".txt"):
            self.assertIn("no such artifact", client.wrong("read_command_output", artifact_id=name))


class Endurance(McpCase):
    def test_many_at_once(self):
        client = self.client()
        numbers_ = [client.start("run_command", command="echo %d; exit %d" % (i, i % 7)) for i in range(100)]
        random_source().shuffle(numbers_)
        for number in numbers_:
            i = number - 2
            want = "%d\n%s" % (i, "[terse: exit %d]\n" % (i % 7) if i % 7 else "")
            self.assertEqual(client.finish(number), (want, False))
        self.assertEqual(client.close(), (0, b""))

    def test_few_descriptors(self):
        """What there are no descriptors for waits, and loses neither an answer nor a change."""
        client = self.client(before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50)))
        sent = [client.start("run_command", command="echo %d; export V%d=1" % (i, i)) for i in range(60)]
        for i, number in enumerate(sent):
            self.assertEqual(client.finish(number), ("%d\n" % i, False))
        self.assertEqual(client.call("run_command", command="export -p | grep -c ' V[0-9]*='"), "60\n")

    def test_many_in_a_row(self):
        """No descriptor and no memory is left over; MCP_CALLS=10000 for the long form."""
        client = self.client()
        calls = int(os.environ.get("MCP_CALLS", "300"))

        def call(i):
            if i % 3 == 0:
                return client.call("run_command", command="echo %d" % i)
            if i % 3 == 1:
                return client.call("list_commands", limit=1)
            return client.call("run_command", command="sleep", args=["0"])
        for i in range(30):
            call(i)
        files = open_files(client.popen.pid)
        for i in range(calls):
            call(i)
        # The last command's may be closed just behind its answer.
        eventually(lambda: open_files(client.popen.pid) <= files, "the end of what was open")
        if not is_sanitized():
            self.assertLess(memory(client.popen.pid), 16 << 20)

    def test_slow_client(self):
        """It does not read: commands run on, memory is bounded, and later every answer is there once."""
        def exist(name):
            return all(os.path.exists(os.path.join(self.work, name + str(i))) for i in range(150))
        client = self.client()
        os.mkfifo(os.path.join(self.work, "go"))
        sent = [client.start("run_command", command="touch begun%d; : <go; seq 6000; touch done%d" % (i, i),
                             include_full_output=True, timeout=600000) for i in range(150)]
        # No request is read while too many answers wait: none may come before all have begun.
        eventually(lambda: exist("begun"), "the begin of all commands")
        with open(os.path.join(self.work, "go"), "w"):
            eventually(lambda: exist("done"), "the end of all commands")
        if not is_sanitized():
            self.assertLess(memory(client.popen.pid), 48 << 20)
        for number in sent:
            self.assertEqual(client.finish(number)[0].encode(), numbers(6000))

    def test_random_bytes(self):
        """Whatever comes, the server lives on and writes nothing but messages."""
        random_ = random_source()
        client = self.client()
        client.strict = False
        line = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}'
        for _ in range(300):
            bad = bytearray(line)
            for _ in range(random_.randrange(1, 6)):
                bad[random_.randrange(len(bad))] = random_.choice(b'{}[]":,x10\xff\x00')
            client.write(bytes(bad) + b"\n")
            client.read(0)
        client.number = 1000
        self.assertEqual(client.request("ping"), {})


class End(McpCase):
    def start_both(self, client):
        """One command that is waited for, and one that goes on."""
        waited, first = self.start_sleeper(client)
        going_on, second = self.start_sleeper(client, timeout=50)
        return first, second, ID.search(client.finish(going_on)[0])[1]

    def test_end_of_input(self):
        client = self.client()
        first, second, _ = self.start_both(client)
        client.popen.stdin.close()
        self.assert_ends(first)
        self.assert_ends(second)
        self.assertEqual(client.close()[0], 0)

    def test_answers_before_the_end(self):
        """What is quick is answered although the client has closed its end."""
        client = self.client()
        number = client.start("new_session", session="b")
        client.popen.stdin.close()
        self.assertIn("session b begins", client.finish(number)[0])
        self.assertEqual(client.close(), (0, b""))

    def test_killed(self):
        """Commands end, artifacts are exact prefixes of what they wrote."""
        for kill in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(kill=kill):
                client = self.client()
                first, second, artifact = self.start_both(client)
                text = self.go_on(client, "i=0; while :; do echo $((i += 1)); done", "1\n")
                writer = ID.search(text)[1]
                os.kill(client.popen.pid, kill)
                self.assert_ends(first)
                self.assert_ends(second)
                path = [p for p in self.artifacts() if writer in p][0]
                eventually(lambda: json.loads(read_file(path[:-3] + "json"))["state"] != "running", "its end")
                kept = read_file(path)
                self.assertTrue(numbers(kept.count(b"\n") + 1).startswith(kept))
                self.assertGreater(len(kept), 0)

    def test_reason_in_the_text(self):
        """What goes on with a daemon's output ends with the server, and says so."""
        client = self.client()
        text = self.go_on(client, "setsid sleep 1000 & echo on; sleep 1000", "on\n")
        artifact = ID.search(text)[1]
        client.close()
        eventually(lambda: b"[... recording ended: its caller has gone" in self.artifact(artifact), "the reason")
        self.kill_all()

    def test_as_many_as_it_holds(self):
        """A run that it could not hold is refused: none ends behind an answer that says it goes on."""
        client = self.client(before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
        for _ in range(20):
            self.assertIn(" running after ", client.call("run_command", command="sleep 1000", timeout=1))
        self.assertEqual(client.wrong("run_command", command="true"), "run_command: 20 commands run already, as "
                         "many as this server can hold; await_command or signal_command ends one")
        self.assertEqual(client.call("list_commands").count("  running "), 20)
        client.call("signal_command", artifact_id="last")
        client.call("await_command", artifact_id="last")
        # Its last process ends behind the answer.
        eventually(lambda: client.finish(client.start("run_command", command="echo x")) == ("x\n", False), "a place")

    def test_keep(self):
        client = self.client("--keep")
        first, second, artifact = self.start_both(client)
        os.kill(client.popen.pid, signal.SIGKILL)
        client.popen.wait()
        self.assertIn(artifact.encode(), self.ask("list", "--live"))
        for pid in (first, second):
            eventually(lambda pid=pid: Process(pid).name == "sleep", "the command")
            os.kill(pid, signal.SIGKILL)

    def test_leash_of_a_run(self):
        """The option that terse mcp uses, and what it refuses."""
        for fd in ("1", "99", "x", "", "-3", "99999999999"):
            run = self.terse("--leash", fd, "true", split=True)
            self.assertEqual((run.code, run.err),
                             (125, b"terse: --leash: %s: not an open socket above 2\n" % fd.encode()))
        self.assertEqual(self.terse("--prelude", split=True).code, 125)

    def test_front_end_inherits_nothing(self):
        """A command has the descriptors that any command has."""
        client = self.client()
        self.assertEqual(client.call("run_command", command="ls", args=["-1", "/proc/self/fd"]), "0\n1\n2\n3\n")
        self.assertEqual(client.call("run_command", command="echo ${TERSE_WORDS-none}"), "none\n")


class Init(McpCase):
    """terse init AGENT --mcp: the agent's file gets the server, and --undo takes it out."""

    FILES = {
        "claude": (".claude.json", ".mcp.json", '{\n  "numStartups": 3\n}\n'),
        "codex": (".codex/config.toml", ".codex/config.toml", 'model = "x"\n\n[a]\nb = 1\n'),
        "opencode": (".config/opencode/opencode.json", "opencode.json", '{"theme": "x", "mcp": {"y": {}}}'),
        "kilo": (".config/kilo/kilo.json", "kilo.json", "// mine\n{\n}\n"),
        "gemini": (".gemini/settings.json", ".gemini/settings.json", '{"mcpServers": {"y": {"command": "z"}}}\n'),
        "qwen": (".qwen/settings.json", ".qwen/settings.json", "{}"),
        "copilot": (".copilot/mcp-config.json", ".copilot/mcp-config.json", '{"mcpServers": {}}\n'),
        "cursor": (".cursor/mcp.json", ".cursor/mcp.json", '{\r\n  "a": 1\r\n}\r\n'),
        "crush": (".config/crush/crush.json", "crush.json", '{"lsp": {}}\n'),
        "vscode": (".config/Code/User/mcp.json", ".vscode/mcp.json", '{\n\t"servers": {\n\t}\n}\n'),
    }

    def init(self, *args, code=0):
        run = self.terse("init", *args, split=True, env={"XDG_CONFIG_HOME": None})
        self.assertEqual(run.code, code, run.out + run.err)
        return run

    def test_round_trip(self):
        self.assertEqual(len(self.FILES), 10)
        for agent, (user, project, before) in self.FILES.items():
            for options, path in (((), os.path.join(self.home, user)),
                                  (("--project",), os.path.join(self.work, project))):
                for text in (None, before):
                    with self.subTest(agent=agent, options=options, text=text):
                        os.makedirs(os.path.dirname(path), exist_ok=True)
                        if text is not None:
                            write_file(path, text)
                        self.assertIn(TERSE.encode(), self.init(agent, "--mcp", "--dry-run", *options).out)
                        self.assertEqual(read_file(path) if text else b"", (text or "").encode())
                        self.init(agent, "--mcp", *options)
                        wired = read_file(path)
                        self.assertEqual(wired.count(b'"%s"' % TERSE.encode()), 1)
                        self.assertIn(b'"mcp"', wired)
                        self.assertIn(b"needs no change", self.init(agent, "--mcp", *options).out)
                        self.init(agent, "--mcp", "--undo", *options)
                        # What has nothing but the empty object of servers is gone.
                        if re.fullmatch(r'[{}\s]*("(mcpS|s)ervers": [{}\s]*)?', text or ""):
                            self.assertFalse(os.path.exists(path))
                        else:
                            self.assertEqual(read_file(path), text.encode().replace(b"{\n}", b"{}"))
                            os.unlink(path)

    def test_moved(self):
        """A server that another terse was is made this one; a stranger's stays."""
        path = os.path.join(self.home, ".cursor", "mcp.json")
        os.mkdir(os.path.dirname(path))
        write_file(path, '{"mcpServers": {"terse": {"command": "/old/terse", "args": ["mcp", "--read-only"]}}}')
        self.init("cursor", "--mcp")
        self.assertEqual(read_file(path).decode(), '{"mcpServers": {"terse": {"command": "%s", '
                         '"args": ["mcp", "--read-only"]}}}' % TERSE)
        write_file(path, '{"mcpServers": {"terse": {"command": "other"}}}')
        self.assertIn(b'"terse" is {"command": "other"} already', self.init("cursor", "--mcp", code=1).err)
        self.init("cursor", "--mcp", "--undo")
        self.assertEqual(read_file(path), b'{"mcpServers": {"terse": {"command": "other"}}}')

    def test_beside_the_shell(self):
        """Both wirings of one file come and go in any order."""
        path = os.path.join(self.home, ".gemini", "settings.json")
        os.mkdir(os.path.dirname(path))
        for first, second in ((("gemini",), ("gemini", "--mcp")), (("gemini", "--mcp"), ("gemini",))):
            for undo in ((first, second), (second, first)):
                with self.subTest(first=first, undo=undo):
                    write_file(path, '{\n  "a": 1\n}\n')
                    self.init(*first)
                    self.init(*second)
                    for one in undo:
                        self.init(*one, "--undo")
                    self.assertEqual(json.loads(read_file(path)), {"a": 1})

    def test_refused(self):
        for args, want in (
                (("pi", "--mcp"), b"terse init: pi takes no server of tools; terse init pi wires up its shell\n"),
                (("nosuch", "--mcp"), b"terse init: nosuch: no such agent (terse init --help names them)\n"),
                (("--mcp",), b"terse init: --mcp goes with an agent, and without --instructions\n")):
            self.assertTrue(self.init(*args, code=125).err.startswith(want), args)


if __name__ == "__main__":
    main()
