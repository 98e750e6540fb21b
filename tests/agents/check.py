#!/usr/bin/env -S python3 -B
"""Runs real, unmodified agents, each wired up in every way that it supports, and checks what a model would see.

    AGENTS_DIR=DIR BUILD=DIR tests/agents/check.py [NAME...]
"""

import json
import os
import re
import subprocess
import sys

os.environ.setdefault("DEADLINE", "150")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from support.harness import (FOOTER, HEARTBEAT, MARKER, SOURCE, TERSE, eventually, main, numbers,
                             read_file, write_file)

from drivers import SHIM, Claude, Codex, Copilot, Gemini, Grok, Kilo, Opencode, Pi, Qwen
from model import Model

PROGRESS = "for i in {1..100}; do printf '\\r%3d%%' $i; done; echo; echo done"


# A failure that says why in the middle of a long text.
CAUSE = ("for i in {1..1500}; do echo \"compiling unit_$i.c\"; [ $i = 700 ] && "
         "echo \"main.c:12: undefined reference to 'frobnicate'\"; done; exit 2")


def any_id(text):
    return re.findall(r"cmd-\w+", text)[-1]


def identifier(text):
    return re.findall(r"terse read (cmd-\w+)", text)[-1]


class Commands:
    """One conversation, as a model would lead it."""

    def test_commands(self):
        first = len(self.warm_up)
        results = self.drive(
            *self.warm_up,
            "seq 200000",
            lambda r: "terse read %s --offset 100000 --limit 1000" % identifier(r[first]),
            lambda r: "terse search %s '^1999.{1,2}$'" % identifier(r[first]),
            "echo before; echo why >&2; exit 3",
            PROGRESS,
            "seq 20000; echo the end; exit 4")[first:]
        texts = [self.text(r) for r in results]
        shown = texts[0].encode() + b"\n" * (not texts[0].endswith("\n"))
        self.assertTrue(shown.startswith(b"1\n2\n3\n"), shown)
        self.assertIn(b"\n200000\n", shown)
        self.assertTrue(MARKER.search(shown) and FOOTER.search(shown), shown)
        self.assertLess(len(shown), 6000)
        asked = numbers(200000).decode().splitlines()
        self.assertEqual(texts[1].splitlines()[:1000], asked[99999:100999])
        self.assertLess(len(texts[1].splitlines()), 1003)
        self.assertEqual(texts[2].splitlines()[:11],
                         ["%d:%d" % (n, n) for n in (*range(19990, 20000), 199900)])
        self.assertEqual(self.status(results[3]), 3)
        self.assertIn("before\nwhy", texts[3])
        self.assertEqual(texts[4].strip().splitlines(), ["100%", "done"])
        self.assertEqual(self.status(results[5]), 4)
        self.assertRegex(texts[5], r"20000\]?\nthe end\n\[terse: exit 4 after ")
        # The first marker and the last line name the command.
        self.assertEqual(texts[5].count("terse read"), 2)
        self.assertEqual(self.session_of(identifier(texts[5])), self.session_of(
            identifier(texts[0])))
        self.check_session(self.session_of(identifier(texts[0])))

    def test_more_commands(self):
        """The cause of a failure, two calls at once, a server, and a prompt."""
        first = len(self.warm_up)
        results = self.drive(
            *self.warm_up, CAUSE, ["seq 3000; echo one", "seq 4000; echo two"],
            "seq 40; echo Server ready; sleep 300 # terse: yield=2s",
            lambda r: "terse signal " + any_id(r[first + 3]),
            "printf 'name: '; read n; echo hello $n # terse: yield=60s",
            lambda r: "terse send %s world --key enter --await" % any_id(r[first + 5]))[first:]
        texts = [self.text(r) for r in results]
        self.assertIn("undefined reference to 'frobnicate'", texts[0])
        self.assertIn("[terse: exit 2 after ", texts[0])
        for text, last, word in ((texts[1], "3000", "one"), (texts[2], "4000", "two")):
            self.assertIn("\n%s\n%s\n[terse: exit 0 after " % (last, word), text)
        self.assertRegex(texts[3], r"\nServer ready\n\[terse: running after .*terse await cmd-")
        self.assertRegex(texts[5], r"name: \n?\[terse: waiting for input")
        self.assertIn("hello world", texts[6])

    warm_up = []


class Project:
    """`terse init --project`, then the agent as it is, then `--undo`."""
    wiring = "project"
    options = ["--project"]
    warm_up = []

    def test_init(self):
        first = len(self.warm_up)
        results = self.drive(
            *self.warm_up, "seq 200000",
            lambda r: "terse read %s --offset 100000 --limit 2" % identifier(r[first]),
            "echo why >&2; exit 3")[first:]
        shown = self.text(results[0])
        self.assertTrue(shown.startswith("1\n2\n3\n"), shown)
        self.assertTrue(FOOTER.search(shown.encode() + b"\n" * (not shown.endswith("\n"))), shown)
        self.assertLess(len(shown), 6000)
        self.assertEqual(self.text(results[1]).splitlines()[:2], ["100000", "100001"])
        self.assertEqual(self.status(results[2]), 3)
        self.check_session(self.session_of(identifier(shown)))
        changed = {path for path in self.after if self.after[path] != self.before.get(path)}
        self.assertTrue(changed)
        self.ask("init", self.name, "--undo", *self.options)
        there = self.files()
        for path in changed:
            self.assertEqual(there.get(path), self.before.get(path), path)

    def check_ended(self, session):
        """Ended by a hook, while the agent ends or after it."""
        def ended():
            listed = self.ask("session", "list").decode()
            return re.search(re.escape(session) + r"\s+ended", listed)
        eventually(ended, "the end of session " + session)


class Init(Project):
    """The same with the user's own files. The agent outlives terse."""
    wiring = "init"
    options = []

    def test_without_terse(self):
        """Its shell still runs what the model wrote."""
        self.wiring = "damaged"
        for what, damage in (("removed", lambda path, data: None),
                             ("garbage", lambda path, data: write_file(path, b"\1 garbage\n" * 99, 0o755)),
                             ("not executable", lambda path, data: write_file(path, data, 0o644)),
                             ("truncated", lambda path, data: write_file(path, data[:len(data) // 2], 0o755))):
            with self.subTest(what):
                self.damage = damage
                results = self.drive("echo hello", "seq 3; exit 3")
                # The notice may be shown before or behind it.
                self.assertIn("hello", self.text(results[0]).splitlines())
                self.assertIn("1\n2\n3", self.text(results[1]))


class Server:
    def test_a_server_in_the_background_survives(self):
        first = len(self.warm_up)
        at = first + len(self.server_step)

        def pid(results):
            return re.search(r"server (\d+)", results[at])[1]
        results = self.drive(
            *self.warm_up, *self.server_step, "sleep 0.2; sed 's/^/server /' pid",
            lambda r: "kill -0 %s && echo alive; seq 5000 | tail -n 1" % pid(r),
            lambda r: "kill %s" % pid(r), **self.server_how)[first:]
        self.assertIn("alive\n5000", self.text(results[-2]))

    server_step = ["(sleep 300 & echo $! >pid) >/dev/null 2>&1; echo started"]
    server_how = {}


class TwoAtOnce:
    def test_two_agents_at_once(self):
        """Side by side in one directory: neither sees the other's runs."""
        first = len(self.warm_up)
        models = [Model(main=[*self.warm_up, "seq 3000", "sleep 0.5; seq 4000", "terse list",
                              "terse path last"]) for _ in range(2)]
        runs = []
        for model in models:
            runs.append(self.begin(model))
            # Before the next one's model takes its place in the configuration.
            eventually(lambda: model.number > 0, "the agent's first request")
        for run in runs:
            run.wait()
        ids = []
        for model in models:
            results = [self.text(r) for r in model.results["main"]][first:]
            made = {identifier(results[0]), identifier(results[1])}
            listed = set(re.findall(r"cmd-\w+", results[2]))
            self.assertLessEqual(made, listed)
            self.assertIn(identifier(results[1]), results[3])
            ids.append(listed)
        self.assertFalse(ids[0] & ids[1])


class Denied:
    def test_denied_commands_stay_denied(self):
        results = self.drive("touch made", "seq 3000", options=self.deny("touch"))
        self.assertFalse(os.path.exists(os.path.join(self.work, "made")), results[0])
        self.assertTrue(FOOTER.search(self.text(results[1]).strip().encode() + b"\n"), results[1])


class CommentJudged(Denied):
    """If the model is told that it may add a comment, the agent's rules judge the command as without it."""

    def made(self, options):
        results = self.drive("touch made # terse: yield=10s", options=options)
        return os.path.exists(os.path.join(self.work, "made")), results

    def test_a_comment_is_denied_with_the_command(self):
        self.assertFalse(*self.made(self.deny("touch")))

    def test_a_comment_is_allowed_with_the_command(self):
        self.assertTrue(*self.made(self.allow_only("touch")))


class InFront:
    """What the agent's rules do not see is not run by terse either."""

    def test_terse_in_front(self):
        results = self.drive("terse touch made", "cd . && terse --yield 10s touch made", "terse list")
        for result in results[:2]:
            self.assertIn("Type the command itself", result)
        self.assertFalse(os.path.exists(os.path.join(self.work, "made")))
        self.assertNotIn("Type the command itself", results[2])


class ReadOnlyHome:
    def test_home_that_cannot_be_written(self):
        """The store is somewhere else then, and the ID in the footer still leads to it."""
        first = len(self.warm_up)
        # Read-only even for root: a file where the directory would be.
        for folder in (os.path.join(self.home, "state"), os.path.join(self.home, ".local/state")):
            os.makedirs(folder, exist_ok=True)
            write_file(os.path.join(folder, "terse"), "")
        env = {"TERSE_HOME": None}
        results = self.drive(*self.warm_up, "seq 3000",
                             lambda r: "terse read %s --offset 1500 --limit 2" %
                             identifier(r[first]), env=env)[first:]
        self.assertEqual(self.text(results[1]).splitlines()[:2], ["1500", "1501"])


class HandedOver:
    """A command that outlasts the agent's limit."""

    def test_a_command_that_outlasts_the_limit(self):
        """It goes on, its end is read by `terse await`, and it is started once."""
        os.mkfifo(os.path.join(self.work, "go"))
        results = self.drive(
            self.limited("echo started >>starts; echo listening; read x <go; echo bye; exit %d" %
                         self.end_status),
            lambda r: "echo on >go; terse await " + any_id(r[0]), env=self.short_limit)
        self.assertRegex(results[0], r"listening\n\[terse: handed over after [^;]+, it goes on: terse await cmd-\w+\]")
        self.assertIn("bye\n[terse: exit %d]" % self.end_status, results[1])
        self.assertEqual(read_file(os.path.join(self.work, "starts")), b"started\n")

    short_limit = {}
    end_status = 3

    def limited(self, command):
        return command


# --- Claude Code ----------------------------------------------------------------------------

class ClaudeCommands(Commands, Server, TwoAtOnce, ReadOnlyHome):
    server_step = [(None, {"command": "echo $$ >pid; exec sleep 300", "description": "a server",
                           "run_in_background": True})]

    def test_its_directory_carries_over(self):
        results = self.drive("mkdir -p sub/deep && cd sub", "cd deep", "pwd", "false", "pwd")
        self.assertEqual(results[2], os.path.join(os.path.realpath(self.work), "sub", "deep"))
        self.assertEqual(results[4], results[2])

    def test_denied_commands_stay_denied(self):
        self.settings(permissions={"deny": ["Bash(touch:*)", "Bash(git status)"]})
        results = self.drive("touch made", "git status", "echo fine")
        for result in results[:2]:
            self.assertIn("denied", result)
        self.assertEqual(results[2], "fine")
        self.assertFalse(os.path.exists(os.path.join(self.work, "made")))

    def test_timeout(self):
        """It sends SIGTERM to the whole tree; what came is kept, and nothing is left running."""
        started = os.path.join(self.work, "started")
        results = self.drive(
            (None, {"command": "seq 3000; touch %s; sleep 100" % started, "timeout": 2000,
                    "description": "slow"}), "terse list",
            env={"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1"})
        self.assertTrue(os.path.exists(started))
        self.assertTrue(results[0].startswith("Exit code 143"), results[0])
        self.assertIn("\n1\n2\n3\n", results[0])
        self.assertEqual(self.artifact(re.search(r"cmd-\w+", results[1])[0]), numbers(3000))

    def test_in_the_background(self):
        """Its output file is what the model reads later: the preview, not 1 MB."""
        def ended(_):
            def is_done():
                return b"exit 0" in subprocess.run(
                    [TERSE, "list", "--all"], env=self.env(), capture_output=True, check=False,
                    stdin=subprocess.DEVNULL).stdout
            eventually(is_done, "the end of the command in the background")
            return "cat %s" % self.output_of(self.models[-1].results["main"][0])
        results = self.drive((None, {"command": "seq 200000", "description": "long",
                                     "run_in_background": True}), ended)
        self.assertTrue(FOOTER.search(results[1].encode() + b"\n"), results[1])
        self.assertLess(len(results[1]), 6000)

    def output_of(self, result):
        return re.search(r"/\S+\.output", result)[0]

    def test_a_sub_agent(self):
        """It belongs to the same conversation, and its runs are found by their IDs."""
        model = Model(main=[("Agent", {"description": "sub", "prompt": "inner", "subagent_type":
                                       "general-purpose"}), "seq 4000",
                            lambda r: "terse list"],
                      inner=["seq 3000", lambda r: "terse read %s --offset 1500 --limit 2"
                             % identifier(r[0])])
        results = self.drive(model=model, options=["--allowedTools", "Bash,Agent,Task"])
        inner = model.results["inner"]
        self.assertEqual(inner[1].splitlines()[:2], ["1500", "1501"])
        self.assertEqual(set(re.findall(r"cmd-\w+", results[2])),
                         {identifier(inner[0]), identifier(results[1])})


class ClaudePrefix(ClaudeCommands, Claude):
    wiring = "prefix"

    def test_by_its_settings_file(self):
        self.settings(env=self.prefix())
        results = self.drive("seq 3000", env={"CLAUDE_CODE_SHELL_PREFIX": None})
        self.assertTrue(FOOTER.search(results[0].encode() + b"\n"), results[0])

    def record(self, **env):
        """The input and output of a hook and a server of Claude Code, and the results."""
        log = os.path.join(self.work, "log")
        write_file(os.path.join(self.work, "spy.py"), """
import json, os, sys
log = open(sys.argv[1], "ab", buffering=0)
kinds = [os.readlink("/proc/self/fd/%d" % fd).split(":")[0] for fd in range(3)]
log.write(json.dumps([sys.argv[2:], kinds, sorted(os.environ), os.getcwd()]).encode() + b"\\n")
for line in sys.stdin:
    log.write(line.encode())
    message = json.loads(line)
    method = message.get("method")
    result = {}
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "spy", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "look", "description": "d" * 9000,
                             "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "\\x1b[1m" + "x" * 20000}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
""")
        spy = "python3 %s/spy.py %s" % (self.work, log)
        hook = [{"hooks": [{"type": "command", "command": spy + " hook 'a b' \"$HOME\" '$X'"}]}]
        self.settings(hooks={"PreToolUse": [{"matcher": "Bash", **hook[0]}], "SessionStart": hook})
        config = write_file(os.path.join(self.work, "mcp.json"), json.dumps({"mcpServers": {"spy": {
            "command": "python3", "args": [self.work + "/spy.py", log, "server", "a b", "$X"]}}}))
        model = Model(main=["echo hi", ("mcp__spy__look", {})])
        results = self.drive(model=model, env=env, options=[
            "--allowedTools", "Bash,mcp__spy__look", "--mcp-config", config])
        text = read_file(log).decode()
        os.unlink(log)
        self.assertIn("mcp__spy__look", model.tools)
        # These differ from run to run.
        for pattern in (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", r"toolu_\w+", r"msg_\w+",
                        r"\d{10,}", r'"duration_ms":\d+'):
            text = re.sub(pattern, "", text)
        return sorted(text.split("\n")), results

    def test_hooks_and_servers_are_as_without(self):
        """The same as with a prefix that does nothing but run the string."""
        with_terse = self.record()
        nothing = write_file(os.path.join(self.work, "nothing"),
                             "#!/bin/sh\nexec /bin/bash -c \"$1\"\n", 0o755)
        without = self.record(CLAUDE_CODE_SHELL_PREFIX=nothing)
        self.assertEqual(with_terse[0], without[0])
        self.assertEqual(with_terse[1][1], without[1][1])


class ClaudeShell(ClaudeCommands, Claude):
    wiring = "shell"


class ClaudePreload(ClaudeCommands, Claude):
    wiring = "preload"


class ClaudeInit(Init, HandedOver, CommentJudged, InFront, Claude):
    short_limit = {"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1", "BASH_DEFAULT_TIMEOUT_MS": "8000"}

    def check_session(self, session):
        super().check_session(session)
        self.check_ended(session)


class ClaudeProject(Project, Claude):
    pass


# --- Codex ----------------------------------------------------------------------------------

class CodexCommands(Commands, Server, TwoAtOnce, ReadOnlyHome):
    def test_a_command_that_prints_for_long(self):
        """It yields after 10 s: by then the model has the start of it and the ID."""
        def poll(results):
            session = int(re.search(r"session ID (\d+)", results[-1])[1])
            return "write_stdin", {"session_id": session, "chars": "", "yield_time_ms": 30000}
        first = len(self.warm_up)
        results = self.drive(*self.warm_up,
                             "for i in $(seq 60); do seq $i 1000; sleep 0.3; done", poll)[first:]
        self.assertIn("Process running with session ID", results[0])
        text = self.text(results[0]).encode()
        self.assertTrue(text.startswith(b"1\n2\n3\n"), text)
        beat = HEARTBEAT.search(text + b"\n")
        self.assertTrue(beat, text)
        self.assertIn("exited with code 0", results[1])
        footer = FOOTER.search(self.text(results[1]).encode())
        self.assertTrue(footer, results[1])
        self.assertEqual(footer["id"], beat[2])

    def test_its_own_sandbox(self):
        """The default one of `codex exec` writes nowhere, or what the user allows."""
        for options, kept in ((["--sandbox", "workspace-write"], True),
                              (["--sandbox", "read-only"], False)):
            first = len(self.warm_up)
            results = self.drive(*self.warm_up, "seq 3000; exit 5", options=options,
                                 env={"TERSE_HOME": None, "XDG_RUNTIME_DIR": None,
                                      "TMPDIR": None})[first:]
            self.assertEqual(self.status(results[0]), 5)
            text = self.text(results[0])
            self.assertEqual("terse read cmd-" in text, kept, text)
            self.assertIn("\n3000\n", text)
            self.assertLess(len(text), 20000)


class CodexPreload(CodexCommands, Codex):
    wiring = "preload"

    def test_by_its_configuration(self):
        model = Model(main=["sleep 0.5", "seq 3000"])
        self.environment(model)
        with open(os.path.join(self.home, ".codex", "config.toml"), "a") as f:
            f.write('[shell_environment_policy]\nset = { LD_PRELOAD = "%s" }\n' % SHIM)
        self.environment = lambda model: {"LOOPBACK_KEY": "none"}
        results = self.drive(model=model, env={"LD_PRELOAD": None})
        self.assertTrue(FOOTER.search(self.text(results[1]).encode()), results[1])

    # Its first command is started before its snapshot of the shell is there: by itself, which a
    # library can't see since it is static.
    warm_up = ["sleep 0.5"]


class CodexPreloadAndBashEnv(CodexCommands, Codex):
    """BASH_ENV reaches the first command, too."""
    wiring = "both"

    def both(self):
        return {**self.preload(), "BASH_ENV": os.path.join(SOURCE, "shim", "bash-env")}


class CodexInit(Init, Denied, Codex):
    pass


class CodexProject(Project, Codex):
    """A project that the user trusts."""

    def environment(self, model):
        variables = super().environment(model)
        with open(os.path.join(self.home, ".codex", "config.toml"), "a") as f:
            f.write('[projects."%s"]\ntrust_level = "trusted"\n' % os.path.realpath(self.work))
        return variables


# --- pi -------------------------------------------------------------------------------------

class PiCommands(Commands, Server, TwoAtOnce, ReadOnlyHome):
    def test_timeout(self):
        """It kills the group with SIGKILL: what came is kept, and nothing is left running."""
        results = self.drive((None, {"command": "seq 3000; sleep 100", "timeout": 2}),
                             "terse list")
        self.assertIn("1\n2\n3\n", results[0])
        self.assertEqual(self.artifact(re.search(r"cmd-\w+", results[1])[0]), numbers(3000))


class PiShell(PiCommands, Pi):
    wiring = "shell"


class PiPreload(PiCommands, Pi):
    wiring = "preload"


class PiInit(Init, Pi):
    pass


class PiProject(Project, Pi):
    pass


# --- opencode ---------------------------------------------------------------------------------

class OpencodeCommands(Commands, Server, ReadOnlyHome):
    def test_a_signal_ends_the_command(self):
        """Without terse it waits for its whole timeout then."""
        results = self.drive((None, {"command": "kill -TERM $$", "description": "end", "timeout": 60000}))
        self.assertEqual(results[0].strip(), "[terse: killed by SIGTERM]")


class OpencodeShell(OpencodeCommands, HandedOver, Opencode):
    wiring = "shell"
    short_limit = {"OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS": "8000"}


class OpencodePreload(OpencodeCommands, Opencode):
    wiring = "preload"


class Plugin(Init, HandedOver, InFront):
    """It tells the timeout that the model sets, and the conversation."""

    def limited(self, command):
        return (None, {"command": command, "description": "slow", "timeout": 8000})

    def check_session(self, session):
        self.assertRegex(session, r"^ses_\w+$")
        deleted = self.run_to_end(self.argv("", ())[0], "session", "delete", session, env=self.quiet)
        self.assertEqual(deleted.code, 0, deleted.out)
        self.check_ended(session)


class OpencodeInit(Plugin, Opencode):
    pass


class OpencodeProject(Project, Opencode):
    conversation = r"^ses_\w+$"


class OpencodeDenied(CommentJudged, Opencode):
    wiring = "shell"


# --- Kilo -----------------------------------------------------------------------------------

class KiloCommands(Commands, Server, ReadOnlyHome, CommentJudged):
    pass


class KiloShell(KiloCommands, HandedOver, Kilo):
    wiring = "shell"
    short_limit = {"KILO_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS": "8000"}


class KiloPreload(KiloCommands, Kilo):
    wiring = "agent"


class KiloInit(Plugin, Kilo):
    def test_undo_after_it_has_written_its_file_anew(self):
        """What it has added and how it lays the file out stays."""
        self.rewrites = True
        self.drive("echo hello")
        path = next(path for path in self.before if path.endswith("kilo.json"))
        now = read_file(path)
        self.assertNotEqual(now, self.after[path])
        self.ask("init", "kilo", "--undo")
        there = json.loads(read_file(path))
        self.assertEqual(there, {name: value for name, value in json.loads(now).items() if name != "shell"})
        self.assertEqual(there, {**json.loads(self.before[path]), "permission": {"bash": "allow"}})


class KiloProject(Project, Kilo):
    conversation = r"^ses_\w+$"


# --- Qwen Code, GitHub Copilot CLI, Gemini CLI -----------------------------------------------

class QwenAgent(Commands, HandedOver, Server, TwoAtOnce, ReadOnlyHome, Denied, Qwen):
    wiring = "agent"
    short_limit = {"TERSE_HAND_OVER": "8s"}

    def limited(self, command):
        return (None, {"command": command, "description": "slow", "timeout": 8000, "is_background": False})


class CopilotAgent(Commands, Server, TwoAtOnce, ReadOnlyHome, CommentJudged, Copilot):
    wiring = "agent"


class GeminiAgent(Commands, Server, TwoAtOnce, ReadOnlyHome, CommentJudged, Gemini):
    wiring = "agent"


class GeminiInit(InFront, Gemini):
    wiring = "init"


# --- Grok CLI -------------------------------------------------------------------------------

class GrokAgent(HandedOver, ReadOnlyHome, Grok):
    """Of what fails it shows only standard error, which therefore stays apart."""
    wiring = "agent"
    warm_up = []
    end_status = 0

    def test_commands(self):
        results = self.drive(
            "seq 200000", lambda r: "terse read %s --lines 100000-100001" % identifier(r[0]),
            "seq 3000; echo why >&2; exit 3", PROGRESS.replace("{1..100}", "`seq 100`"))
        self.assertTrue(FOOTER.search(results[0].encode() + b"\n"), results[0])
        self.assertEqual(results[1].splitlines()[:2], ["100000", "100001"])
        self.assertIn("\nwhy\n", results[2])
        self.assertNotIn("\n2\n3\n", results[2])
        self.assertEqual(results[3].strip().splitlines(), ["100%", "done"])


main()
