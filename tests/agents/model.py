"""A model for coding agents to talk to, on loopback: it asks for what a script says, one tool call
after the other, and keeps what the agent sends back for each, as a model would have seen it.

It speaks what Claude Code (Messages), Codex (Responses), Gemini CLI (GenerateContent) and all the
others (Chat Completions) speak.
"""

import http.server
import json
import re
import threading

USAGE = {"input_tokens": 1, "output_tokens": 1}


def flat(content):
    """The text of a message's content."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return json.dumps(content)


def in_order(results):
    """The texts of (ID, text) in the order of the calls: agents answer two at once as they end."""
    def key(result):
        found = re.search(r"_(\d+)_(\d+)$", result[0])
        return tuple(map(int, found.groups())) if found else (0, 0)
    return [text for _, text in sorted(results, key=key)]


class Anthropic:
    def __init__(self, request):
        self.model = request.get("model")
        self.stream = request.get("stream")
        self.tools = [tool["name"] for tool in request.get("tools", [])]
        messages = request.get("messages", [])
        self.start = json.dumps(messages[:1])
        self.results = in_order((part["tool_use_id"], flat(part["content"])) for message in messages
                                if isinstance(message["content"], list) for part in message["content"]
                                if part["type"] == "tool_result")

    def shell(self):
        return "Bash"

    def arguments(self, command):
        return {"command": command, "description": "run it"}

    def reply(self, number, calls):
        blocks = [{"type": "tool_use", "id": "toolu_%d_%d" % (number, k), "name": name, "input": args}
                  for k, (name, args) in enumerate(calls)] or [{"type": "text", "text": "done"}]
        message = {"id": "msg_%d" % number, "type": "message", "role": "assistant",
                   "model": self.model, "content": [], "stop_reason": None, "stop_sequence": None,
                   "usage": USAGE}
        stop = "tool_use" if calls else "end_turn"
        if not self.stream:
            return {**message, "content": blocks, "stop_reason": stop}
        return [{"type": "message_start", "message": message},
                *(event for k, block in enumerate(blocks) for event in self.events(k, block)),
                {"type": "message_delta", "usage": {"output_tokens": 1},
                 "delta": {"stop_reason": stop, "stop_sequence": None}},
                {"type": "message_stop"}]

    @staticmethod
    def events(index, block):
        is_call = block["type"] == "tool_use"
        empty = {**block, "input": {}} if is_call else {**block, "text": ""}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])} \
            if is_call else {"type": "text_delta", "text": block["text"]}
        return [{"type": "content_block_start", "index": index, "content_block": empty},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index}]


class Responses:
    def __init__(self, request):
        items = request.get("input", [])
        self.tools = [tool.get("name", tool["type"]) for tool in request.get("tools", [])]
        # Those of a server of tools have a name within a namespace.
        self.tools += ["%s/%s" % (space["name"], tool["name"]) for space in request.get("tools", [])
                       for tool in space.get("tools", [])]
        self.start = json.dumps(items)
        self.results = in_order((item["call_id"], flat(item["output"])) for item in items
                                if item.get("type", "").endswith("_call_output"))

    def shell(self):
        return "exec_command"

    def arguments(self, command):
        return {"cmd": command}

    def reply(self, number, calls):
        items = [{"type": "function_call", "id": "fc_%d_%d" % (number, k),
                  "call_id": "call_%d_%d" % (number, k), "arguments": json.dumps(args), "status": "completed",
                  "name": name.rsplit("/", 1)[-1],
                  **({"namespace": name.split("/")[0]} if "/" in name else {})} for k, (name, args) in enumerate(calls)] or [
                      {"type": "message", "id": "m_%d" % number, "role": "assistant",
                       "status": "completed",
                       "content": [{"type": "output_text", "text": "done", "annotations": []}]}]
        response = {"id": "resp_%d" % number, "object": "response", "status": "completed",
                    "output": items, "usage": {**USAGE, "total_tokens": 2}}
        started = {**response, "status": "in_progress", "output": [], "usage": None}
        return [{"type": "response.created", "response": started},
                *({"type": "response.output_item." + what, "output_index": k, "item": item}
                  for k, item in enumerate(items) for what in ("added", "done")),
                {"type": "response.completed", "response": response}]


class Chat:
    def __init__(self, request):
        messages = request.get("messages", [])
        self.model = request.get("model")
        self.stream = request.get("stream")
        self.tools = [tool["function"]["name"] for tool in request.get("tools", [])]
        self.start = json.dumps(messages)
        self.results = in_order((m["tool_call_id"], flat(m["content"])) for m in messages
                                if m["role"] == "tool")

    def shell(self):
        return next((t for t in self.tools if t in ("bash", "run_shell_command")), "bash")

    def arguments(self, command):
        more = {"is_background": False} if self.shell() == "run_shell_command" else {}
        return {"command": command, "description": "run it", **more}

    def reply(self, number, calls):
        delta = {"role": "assistant", "content": "done"}
        if calls:
            delta = {"role": "assistant", "tool_calls": [
                {"index": k, "id": "call_%d_%d" % (number, k), "type": "function",
                 "function": {"name": name, "arguments": json.dumps(args)}}
                for k, (name, args) in enumerate(calls)]}
        stop = "tool_calls" if calls else "stop"
        if not self.stream:
            return {"id": "chat_%d" % number, "object": "chat.completion", "created": 1,
                    "model": self.model, "usage": USAGE,
                    "choices": [{"index": 0, "message": delta, "finish_reason": stop}]}
        choices = [(delta, None), ({}, stop)]
        return [{"id": "chat_%d" % number, "object": "chat.completion.chunk", "created": 1,
                 "model": self.model,
                 "choices": [{"index": 0, "delta": d, "finish_reason": f}]}
                for d, f in choices] + ["[DONE]"]


class Gemini:
    def __init__(self, request):
        contents = request.get("contents", [])
        self.tools = [f["name"] for tool in request.get("tools", [])
                      for f in tool.get("functionDeclarations", [])]
        self.start = json.dumps(contents)
        self.results = [self.shown(part["functionResponse"]["response"]) for content in contents
                        for part in content.get("parts", []) if "functionResponse" in part]

    @staticmethod
    def shown(response):
        return response.get("output") or response.get("error") or json.dumps(response)

    def shell(self):
        return "run_shell_command"

    def arguments(self, command):
        return {"command": command, "description": "run it"}

    def reply(self, number, calls):
        parts = [{"functionCall": {"name": name, "args": args}} for name, args in calls]
        return [{"candidates": [{"content": {"role": "model", "parts": parts or [{"text": "done"}]},
                                 "index": 0,
                                 "finishReason": "STOP"}],
                 "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1,
                                   "totalTokenCount": 2}}]


PROTOCOLS = [(r":(streamG|g)enerateContent", Gemini), (r"/messages(\?|$)", Anthropic), (r"/responses(\?|$)", Responses),
             (r"/chat/completions(\?|$)", Chat)]


class Model:
    """`scripts`: for each conversation, known by a word in its prompt, a list of steps. A step is a
    shell command, or (tool, arguments) for another tool or other arguments (tool None: the shell),
    or a list of these, which are asked for at once, or a function of the results so far that returns
    one of these. `results`: the same word, and
    what came back for each step. `tools`: the names of all tools that were offered. A request that does not
    offer a tool that ends with `needed`, or else a shell, is about something else (a title for example)."""

    needed = None

    def __init__(self, **scripts):
        self.scripts = scripts
        self.results = {word: [] for word in scripts}
        self.tools = set()
        self.number = 0
        self.lock = threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                self.answer(model.answer(self.path, body))

            def do_GET(self):
                self.answer({})

            def do_HEAD(self):
                self.answer({})

            def answer(self, reply):
                kind, body = "application/json", json.dumps(reply)
                if isinstance(reply, list):
                    kind, body = "text/event-stream", "".join(
                        ("event: %s\n" % e["type"] if "type" in e else "") +
                        "data: %s\n\n" % (e if isinstance(e, str) else json.dumps(e))
                        for e in reply)
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body.encode())))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body.encode())

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, body):
        for pattern, protocol in PROTOCOLS:
            if re.search(pattern, path):
                with self.lock:
                    request = json.loads(body)
                    reply = self.go_on(protocol(request))
                    streams = "stream" in path if protocol is Gemini else True
                    return reply if streams else reply[0]
        return {}

    def go_on(self, request):
        """The next step of the conversation."""
        self.number += 1
        self.tools.update(request.tools)
        word = next((w for w in self.scripts if w in request.start), None)
        needed = self.needed or request.shell()
        if word is None or not any(tool.endswith(needed) for tool in request.tools):
            return request.reply(self.number, [])
        # As they came first: some agents take what is older back to a few words.
        results = self.results[word]
        results += request.results[len(results):]
        return request.reply(self.number, self.next_calls(self.scripts[word], request, results))

    @staticmethod
    def next_calls(steps, request, results):
        """The calls of the first step that has no results yet."""
        at = 0
        for step in steps:
            if at == len(results):
                step = step(results) if callable(step) else step
                step = step if isinstance(step, list) else [step]
                step = [(None, request.arguments(s)) if isinstance(s, str) else s for s in step]
                return [(name or request.shell(), args) for name, args in step]
            at += len(step) if isinstance(step, list) else 1
        return []
