#!/usr/bin/python3 -B
"""The parts of harnesses that run commands, rewritten from their sources. The name by which this
program is called is the harness, its arguments are the commands. Prints a list of [what the model
gets, the status that the harness knows, its result or null] as JSON.

mini         mini-swe-agent 2.4: environments/local.py, config/mini.yaml
aider        aider 0.86: aider/run_cmd.py, with a terminal as without
autogen      AutoGen 0.7: code_executors/local/__init__.py
goose        goose 1.30: platform_extensions/developer/shell.rs
langchain    LangChain: langchain_experimental 0.4, llm_bash/bash.py, as ShellTool calls it
roo          Roo Code 3.52 (cb83656): ExecaTerminalProcess.ts, OutputInterceptor.ts: 10 KB, half of each end
crush        crush 0.90: internal/hooks/runner.go, internal/agent/tools/bash.go; its shell is part of it
openhands    OpenHands 0.62 (d6fab19): runtime/utils/bash.py (tmux), events/observation/commands.py
sweagent     SWE-ReX 1.4: runtime/local.py (pexpect), SWE-agent 1.1: tools/tools.py
interpreter  open-interpreter 0.4: terminal/languages/subprocess_language.py, shell.py
gptme        gptme 0.33 (d27f98d): tools/shell.py
zed          Zed (0129684): agent/src/tools/terminal_tool.rs, util/src/shell_builder.rs, acp_thread/src/terminal.rs
middleware   LangChain 1.0 (00aa1d6): agents/middleware/shell_tool.py, _execution.py
"""

import hashlib
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
import uuid

PIPES = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}


def text_of(data):
    return data.decode("utf-8", "replace")


def middle(text, most, note="\n[%d characters elided]\n"):
    """Both ends of a text, as most harnesses cut one."""
    half = most // 2
    note = note % (len(text) - most) if "%" in note else note
    return text if len(text) <= most else text[:half] + note + text[-half:]


class Mini:
    def call(self, command):
        done = subprocess.run(command, shell=True, start_new_session=True, check=False, timeout=300, **{
            **PIPES, "stdin": None})
        out = text_of(done.stdout)
        lines = out.lstrip().splitlines(keepends=True)
        submitted = lines and lines[0].strip() == "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" and done.returncode == 0
        return "<returncode>%d</returncode>\n<output>\n%s</output>" % (
            done.returncode, middle(out, 10000)), done.returncode, "".join(lines[1:]) if submitted else None


class Aider:
    def call(self, command):
        import pexpect
        if os.environ.get("AIDER_TERMINAL"):
            shell = os.environ.get("SHELL", "/bin/sh")
            child = pexpect.spawn(shell, args=["-i", "-c", command], timeout=300)
            out, alive = b"", True
            while alive:
                alive = child.isalive()
                try:
                    while True:
                        out += child.read_nonblocking(1 << 16, timeout=0.05)
                except (pexpect.TIMEOUT, pexpect.EOF):
                    pass
            child.close()
            return text_of(out), child.exitstatus, None
        done = subprocess.run(command, shell=True, check=False, **PIPES)
        return text_of(done.stdout), done.returncode, None


class Autogen:
    def __init__(self):
        self.folder = tempfile.mkdtemp()

    def call(self, command):
        program, ext = ("sh", "sh")
        if command.startswith("import "):
            program, ext = sys.executable, "py"
        name = "tmp_code_%s.%s" % (hashlib.sha256(command.encode()).hexdigest(), ext)
        path = os.path.join(os.path.realpath(self.folder), name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(command)
        done = subprocess.run([program, path], cwd=self.folder, check=False, **{**PIPES, "stderr": subprocess.PIPE})
        return text_of(done.stderr + done.stdout), done.returncode, None


class Goose:
    def call(self, command):
        done = subprocess.run(["/bin/bash", "-c", command], check=False, **{**PIPES, "stderr": subprocess.PIPE})
        out = text_of(done.stdout + done.stderr)
        if out.count("\n") > 2000 or len(out) > 50000:
            out = "\n".join(out.split("\n")[-50:]) + "\n[Output exceeded the limit. Full output saved to /tmp/x]"
        if done.returncode:
            out += "\n\nCommand exited with code %d" % done.returncode
        return out, done.returncode, None


class Langchain:
    def call(self, command):
        try:
            out = subprocess.run(command, shell=True, check=True, **PIPES).stdout
        except subprocess.CalledProcessError as error:
            return text_of(error.stdout), None, None
        return text_of(out), 0, None


class Roo:
    def call(self, command):
        done = subprocess.run(["/bin/sh", "-c", command], check=False, env={
            **os.environ, "LANG": "en_US.UTF-8", "LC_ALL": "en_US.UTF-8"}, **PIPES)
        return "Exit code: %d\n%s" % (done.returncode, middle(text_of(done.stdout), 10 << 10)), done.returncode, None


class Crush:
    """crush's shell is built in; here bash stands for it."""

    def call(self, command):
        given = {"event": "PreToolUse", "session_id": "s-1", "cwd": os.getcwd(), "tool_name": "bash",
                 "tool_input": {"command": command, "description": "x"}}
        hook = os.environ.get("CRUSH_HOOK")
        if hook:
            answer = subprocess.run(hook, shell=True, input=json.dumps(given).encode(), check=True,
                                    stdout=subprocess.PIPE, env={**os.environ, "CRUSH": "1"}).stdout
            reply = json.loads(answer or b"{}")
            if reply.get("decision") in ("deny", "block"):
                return reply["reason"], None, None
            command = reply.get("updated_input", given["tool_input"])["command"]
        done = subprocess.run(["bash", "-c", command], check=False, env={**os.environ, "CRUSH": "1"}, **{
            **PIPES, "stderr": subprocess.PIPE})
        out = middle(text_of(done.stdout), 30000) + text_of(done.stderr)
        return out + ("\nExit code %d" % done.returncode if done.returncode else ""), done.returncode, None


class Openhands:
    BEGIN, END = "###PS1JSON###", "###PS1END###"
    WANTED = {"pid": "$!", "exit_code": "$?", "username": r"\u", "hostname": r"\h", "working_dir": "$(pwd)",
              "py_interpreter_path": '$(which python 2>/dev/null || echo "")'}
    PROMPT = "\n%s\n%s\n%s\n" % (BEGIN, json.dumps(WANTED, indent=2).replace('"', r'\"'), END)
    BLOCK = re.compile("^%s(.*?)%s" % (BEGIN, END), re.S | re.M)

    def __init__(self):
        self.socket = os.path.join(tempfile.mkdtemp(), "tmux")
        # Opens a new window, since the first one has a shorter history.
        self.tmux("new-session", "-d", "-x", "1000", "-y", "1000", "-s", "x")
        self.tmux("set-option", "-g", "history-limit", "10000")
        self.tmux("new-window", "-n", "bash", "su root -" if os.geteuid() == 0 else "/bin/bash")
        self.tmux("kill-window", "-t", "x:0")
        self.tmux("send-keys", "export PROMPT_COMMAND='export PS1=\"%s\"'; export PS2=\"\"" % self.PROMPT, "Enter")
        self.completed()
        self.clear()

    def tmux(self, *words):
        return text_of(subprocess.run(["tmux", "-S", self.socket, *words], check=True,
                                      stdout=subprocess.PIPE).stdout)

    def screen(self):
        return "\n".join(line.rstrip() for line in self.tmux("capture-pane", "-J", "-pS", "-").split("\n"))

    def completed(self):
        while True:
            time.sleep(0.5)
            screen = self.screen()
            if screen.rstrip().endswith(self.END):
                return screen

    def clear(self):
        self.tmux("send-keys", "C-l")
        time.sleep(0.1)
        self.tmux("clear-history")

    def call(self, command):
        self.tmux("send-keys", command, "Enter")
        screen = self.completed()
        blocks = list(self.BLOCK.finditer(screen))
        found = json.loads(blocks[-1][1])
        if len(blocks) > 1:
            prefix, out = "", screen[blocks[-2].end() + 1:blocks[-1].start()]
        else:
            out = screen[:blocks[-1].start()]
            prefix = ("[Previous command outputs are truncated. Showing the last %d lines of the output below.]\n"
                      % out.count("\n"))
        out = middle(out.lstrip().removeprefix(command).strip(), 30000, "\n[... Observation truncated due to length ...]\n")
        self.clear()
        return "%s%s\n[The command completed with exit code %s.]\n[Current working directory: %s]" % (
            prefix, out, found["exit_code"], found["working_dir"]), int(found["exit_code"]), None

    def close(self):
        self.tmux("kill-server")


class SweAgent:
    PROMPT = "SHELLPS1PREFIX"

    def __init__(self):
        import pexpect
        self.shell = pexpect.spawn("/usr/bin/env bash", encoding="utf-8", codec_errors="backslashreplace", echo=False,
                                   env={**os.environ, "PS1": self.PROMPT, "PS2": "", "PS0": ""}, timeout=120)
        time.sleep(0.3)
        self.shell.sendline("export PS1='%s' ; export PS2='' ; export PS0=''" % self.PROMPT)
        self.shell.expect(self.PROMPT)

    def before(self):
        return re.sub(r"\x1B[@-_][0-?]*[ -/]*[@-~]", "", self.shell.before).replace("\r\n", "\n")

    def call(self, command):
        self.shell.sendline(command)
        self.shell.expect(self.PROMPT)
        out = self.before()
        self.shell.sendline("\necho EXITCODESTART$?EXITCODEEND")
        self.shell.expect("EXITCODEEND", timeout=60)
        status = re.findall("EXITCODESTART([0-9]+)", self.before())
        self.shell.expect(self.PROMPT, timeout=60)
        return middle(out, 100000), int(status[0]), None

    def close(self):
        self.shell.close(force=True)


class Piped:
    """A bash that reads its commands from a pipe."""

    def __init__(self):
        self.bash = subprocess.Popen([self.shell()], **{**PIPES, "stdin": subprocess.PIPE})

    def shell(self):
        return os.environ.get("SHELL", "bash")

    def type(self, text):
        self.bash.stdin.write(text.encode())
        self.bash.stdin.flush()

    def close(self):
        self.bash.stdin.close()
        self.bash.wait()


class Interpreter(Piped):
    def call(self, command):
        marked = "".join('echo "##active_line%d##"\n%s\n' % (i + 1, line) for i, line in enumerate(command.split("\n")))
        self.type(marked + 'echo "##end_of_execution##"\n')
        out = []
        for line in iter(self.bash.stdout.readline, b""):
            out.append(re.sub(r"##active_line\d+##\n?", "", text_of(line)))
            if "##end_of_execution##" in out[-1]:
                break
        out = "".join(out).replace("##end_of_execution##", "").strip()
        return out if len(out) < 2800 else "Output truncated. Showing the last 2800 characters.\n\n" + out[-2800:], None, None


class Middleware(Piped):
    """Its bash has only the environment that the user gives it."""

    def __init__(self):
        given = json.loads(os.environ.get("MIDDLEWARE_ENV", "{}"))
        self.bash = subprocess.Popen(["/bin/bash"], start_new_session=True, env=given, **{
            **PIPES, "stdin": subprocess.PIPE, "stderr": subprocess.PIPE})
        self.lines = queue.Queue()
        for stream, mark in ((self.bash.stdout, ""), (self.bash.stderr, "[stderr] ")):
            threading.Thread(target=self.take, args=(stream, mark), daemon=True).start()

    def take(self, stream, mark):
        for line in iter(stream.readline, b""):
            self.lines.put((mark, text_of(line)))

    def call(self, command):
        marker = "__LC_SHELL_DONE__" + uuid.uuid4().hex
        self.type("%s\nprintf '%s %%s\\n' $?\n" % (command, marker))
        out = []
        while True:
            mark, line = self.lines.get(timeout=300)
            if not mark and line.startswith(marker):
                break
            out.append(mark + line)
        status = int(line.split()[1])
        text = "".join(out[:100]) or "<no output>"
        if len(out) > 100:
            text = "%s\n\n... Output truncated at 100 lines (observed %d)." % (text.rstrip(), len(out))
        return text + ("\n\nExit code: %d" % status if status else ""), status, None


class Gptme(Piped):
    def __init__(self):
        self.bash = subprocess.Popen(["bash"], start_new_session=True, **{
            **PIPES, "stdin": subprocess.PIPE, "stderr": subprocess.PIPE})
        self.errors = []
        threading.Thread(target=lambda: self.errors.extend(self.bash.stderr), daemon=True).start()

    def call(self, command):
        end = "END_OF_COMMAND_OUTPUT"
        self.errors.clear()
        self.type("echo START_OF_COMMAND_OUTPUT_1\n%s < /dev/null\necho ReturnCode:$? %s\n" % (command, end))
        out = []
        while not out or end not in out[-1]:
            out.append(text_of(self.bash.stdout.readline()))
        before, status = out.pop().split("ReturnCode:")
        # 2,000 tokens of the start and 8,000 of the end.
        out = "".join(out[1:]) + before
        shown = out if len(out) < 40000 else out[:8000] + "\n... (truncated) ...\n" + out[-32000:]
        status = int(status.split()[0])
        return shown + text_of(b"".join(self.errors)) + ("Return code: %d\n" % status if status else ""), status, None


class Zed:
    """A terminal for each command; its model gets the first 16 KB of what that terminal shows."""

    def call(self, command):
        import pexpect
        child = pexpect.spawn(os.environ["SHELL"], ["-i", "-c", "(%s) </dev/null" % command], timeout=300,
                              dimensions=(24, 80), env={**os.environ, "ZED_TERM": "true", "TERM_PROGRAM": "zed",
                                                        "TERM": "xterm-256color", "PAGER": ""})
        child.expect(pexpect.EOF)
        child.close()
        text = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text_of(child.before)).replace("\r\n", "\n")
        text = "\n".join(line.rstrip("\r").split("\r")[-1] for line in text.split("\n"))
        if len(text) > 16 << 10:
            text = text[:text.rindex("\n", 0, 16 << 10)]
            text = "Command output too long. The first %d bytes:\n\n%s" % (len(text), text)
        return text, child.exitstatus, None


KINDS = {"mini": Mini, "aider": Aider, "autogen": Autogen, "goose": Goose, "langchain": Langchain, "roo": Roo,
         "crush": Crush, "openhands": Openhands, "sweagent": SweAgent, "interpreter": Interpreter,
         "middleware": Middleware, "gptme": Gptme, "zed": Zed}


def main():
    harness = KINDS[os.path.basename(sys.argv[0])]()
    try:
        print(json.dumps([harness.call(command) for command in sys.argv[1:]]))
    finally:
        if hasattr(harness, "close"):
            harness.close()


if __name__ == "__main__":
    main()
