"""A client of terse mcp: sends requests, and keeps what the server sends until a test asks for it."""

import json
import os
import select
import subprocess
import time

from support.harness import DEADLINE, TERSE


class Refused(Exception):
    """The protocol's error."""

    def __init__(self, error):
        super().__init__("%(code)d: %(message)s" % error)
        self.code = error["code"]
        self.message = error["message"]


class Client:
    def __init__(self, env, cwd, *options, initialize=True, revision="2025-11-25", program=TERSE, fds=(),
                 before=None):
        self.popen = subprocess.Popen([program, "mcp", *options], env=env, cwd=cwd, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=fds,
                                      preexec_fn=before)
        self.out = self.popen.stdout.fileno()
        self.pending = b""
        self.answers = {}
        self.notes = []
        self.number = 0
        self.strict = True  # no number is answered twice
        if initialize:
            self.server = self.request("initialize", protocolVersion=revision, capabilities={},
                                       clientInfo={"name": "test", "version": "1"})
            self.notify("notifications/initialized")

    def write(self, data):
        self.popen.stdin.write(data)
        self.popen.stdin.flush()

    def send(self, method, params=None, number=None):
        """Sends a request; returns its number."""
        if number is None:
            self.number += 1
            number = self.number
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        if params is not None:
            message["params"] = params
        self.write(json.dumps(message).encode() + b"\n")
        return number

    def notify(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def read(self, wait):
        """Takes what has come. Returns whether anything came."""
        if not select.select([self.out], [], [], wait)[0]:
            return False
        data = os.read(self.out, 1 << 16)
        if not data:
            raise EOFError("the server has closed its output")
        self.pending += data
        *lines, self.pending = self.pending.split(b"\n")
        for line in lines:
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0", line
            if "id" not in message:
                self.notes.append(message)
            else:
                twice = message["id"] is not None and message["id"] in self.answers
                assert not twice or not self.strict, "answered twice: %r" % line
                self.answers.setdefault(message["id"], message) if message["id"] is not None else \
                    self.answers.setdefault(None, []).append(message)
        return True

    def until(self, test, what):
        end = time.monotonic() + DEADLINE
        while True:
            value = test()
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError("waited in vain: %s; notes %r" % (what, self.notes[-3:]))
            self.read(0.5)

    def take(self, number):
        """The result of a request."""
        message = self.until(lambda: self.answers.get(number), "the answer to %r" % number)
        if number is None:
            return self.answers.pop(None)
        del self.answers[number]
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def request(self, method, **params):
        return self.take(self.send(method, params))

    def start(self, tool, token=None, **arguments):
        params = {"name": tool, "arguments": arguments}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        return self.send("tools/call", params)

    def finish(self, number):
        """The text of a tool's answer, and whether it is an error."""
        result = self.take(number)
        assert [c["type"] for c in result["content"]] == ["text"], result
        return result["content"][0]["text"], result.get("isError", False)

    def call(self, tool, **arguments):
        """The text of an answer that is not an error."""
        text, wrong = self.finish(self.start(tool, **arguments))
        assert not wrong, text
        return text

    def wrong(self, tool, **arguments):
        """The text of one of terse's own errors."""
        text, wrong = self.finish(self.start(tool, **arguments))
        assert wrong, text
        return text

    def close(self):
        """Closes standard input. Returns the exit status and standard error."""
        try:
            self.popen.stdin.close()
        except BrokenPipeError:
            pass  # The server has ended, although a request was still unread.
        status = self.popen.wait(DEADLINE)
        errors = self.popen.stderr.read()
        self.popen.stdout.close()
        self.popen.stderr.close()
        return status, errors
