"""How each real agent is started so that it talks to our model and asks nobody.

The agents are what npm has (see install); they know terse only by how it is wired up: an environment, and
files below the home directory.
"""

import json
import os
import re
import subprocess

from support.harness import BUILD, TERSE, Case, read_file, write_file

from model import Model

AGENTS = os.path.abspath(os.environ.get("AGENTS_DIR", os.path.join(BUILD, "agents")))
MODULES = os.path.join(AGENTS, "node_modules")
TERSE_SH = os.path.join(BUILD, "terse-sh")
TERSE_BASH = os.path.join(BUILD, "terse-bash")
SHIM = os.path.join(BUILD, "libterse-shim.so")
UUID = r"^[0-9a-f]{8}-[0-9a-f-]{27}$"


class Agent(Case):
    """One agent wired up in one way; the cases of a group are in mixins."""

    wiring = None  # a method that prepares the home directory and returns an environment
    conversation = None  # the form of its conversations' names, which are those of sessions

    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "-q", "."], cwd=self.work, env=self.env(), check=True)
        self.models = []

    def tearDown(self):
        for model in self.models:
            model.close()
        super().tearDown()

    def preload(self):
        return {"LD_PRELOAD": SHIM}

    def agent(self):
        """By `terse agent`, which begin() puts in front."""
        return {}

    def files(self):
        """Those of the home directory, but for the launcher's, which stay, and those of the project."""
        return {os.path.join(folder, name): read_file(os.path.join(folder, name))
                for top in (self.home, self.work) for folder, _, names in os.walk(top) for name in names
                if not folder.endswith("/.local/lib/terse-launcher") and os.path.isfile(os.path.join(folder, name))}

    def damaged(self):
        """As a terse of the case's own wires it up that is then what `damage` makes of it."""
        program = os.path.join(self.dir, "installed", "terse")
        os.makedirs(os.path.dirname(program), exist_ok=True)
        for name in ("terse", "libterse-shim.so", "terse-launcher"):
            write_file(os.path.join(self.dir, "installed", name), read_file(os.path.join(BUILD, name)), 0o755)
        if not os.path.lexists(program + "-sh"):
            os.symlink("terse", program + "-sh")
        subprocess.run([program, "init", self.name], env=self.env(), cwd=self.work, check=True,
                       capture_output=True)
        data = read_file(program)
        os.unlink(program)
        self.damage(program, data)
        return {}

    def session_of(self, name):
        return self.metadata(name)["session.id"]

    def check_session(self, session):
        """Where no name of the conversation arrives, the session is that of the agent's process."""
        self.assertRegex(session, self.conversation or r"^agent-%s-\d+-\d+\.\d+$" % self.name)

    def init(self, *options):
        """As `terse init` wires it up; `before` and `after` are the files around that."""
        self.before = self.files()
        self.ask("init", self.name, *options)
        self.after = self.files()
        return {}

    def project(self):
        """The same in the project's own files."""
        return self.init("--project")

    def begin(self, model, word="main", env=None, options=()):
        """Starts the agent with the prompt `word`."""
        self.models.append(model)
        launch = [TERSE, "agent"] if self.wiring == "agent" else []
        return self.start(*launch, *self.argv(word, options), env={
            "SHELL": "/bin/bash", "TERM": "xterm", **self.environment(model), **getattr(self, self.wiring)(),
            **(env or {})}, kind="file", split=True)

    def drive(self, *steps, model=None, **how):
        """Runs the agent to its end; returns what the model was shown for each step."""
        model = model or Model(main=list(steps))
        run = self.begin(model, **how)
        run.wait()
        self.assertEqual(run.code, 0, (run.out, run.err))
        results = model.results["main"]
        wanted = sum(len(s) if isinstance(s, list) else 1 for s in model.scripts["main"])
        self.assertEqual(len(results), wanted, (run.out, run.err, results))
        return results


class Claude(Agent):
    name = "claude"
    conversation = UUID

    def argv(self, word, options):
        program = os.path.join(MODULES, "@anthropic-ai", "claude-code-linux-x64", "claude")
        return [program, "-p", word, *(options or ["--allowedTools", "Bash"])]

    def environment(self, model):
        return {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none",
                "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}

    def settings(self, **settings):
        folder = os.path.join(self.home, ".claude")
        os.makedirs(folder, exist_ok=True)
        write_file(os.path.join(folder, "settings.json"), json.dumps(settings))

    def deny(self, *commands):
        self.settings(permissions={"deny": ["Bash(%s:*)" % c for c in commands]})
        return []

    def allow_only(self, *commands):
        self.settings(permissions={"allow": ["Bash(%s:*)" % c for c in commands]})
        return ["--permission-mode", "default"]

    def prefix(self):
        return {"CLAUDE_CODE_SHELL_PREFIX": TERSE_SH}

    def shell(self):
        return {"SHELL": TERSE_BASH}

    def text(self, result):
        """The text of the command in what the model is shown."""
        return result.partition("\n")[2] if self.status(result) else result

    def status(self, result):
        found = result.startswith("Exit code ")
        return int(result.split("\n")[0].split()[-1]) if found else 0


class Codex(Agent):
    name = "codex"
    conversation = UUID
    sandbox = ["--dangerously-bypass-approvals-and-sandbox"]

    def argv(self, word, options):
        program = os.path.join(MODULES, "@openai", "codex-linux-x64", "vendor",
                               "x86_64-unknown-linux-musl", "bin", "codex")
        return [program, "exec", "--skip-git-repo-check", *(options or self.sandbox), word]

    def environment(self, model):
        # Its shells are login shells, whose PATH is that of the profile.
        write_file(os.path.join(self.home, ".profile"), "PATH=%s:$PATH\n" % BUILD)
        folder = os.path.join(self.home, ".codex")
        os.makedirs(folder, exist_ok=True)
        write_file(os.path.join(folder, "config.toml"),
                   'model = "gpt-5"\nmodel_provider = "loopback"\n[model_providers.loopback]\n'
                   'name = "loopback"\nbase_url = "%s/v1"\nwire_api = "responses"\n'
                   'env_key = "LOOPBACK_KEY"\n' % model.url)
        return {"LOOPBACK_KEY": "none"}

    def deny(self, *commands):
        folder = os.path.join(self.home, ".codex", "rules")
        os.makedirs(folder, exist_ok=True)
        write_file(os.path.join(folder, "mine.rules"), "".join(
            'prefix_rule(pattern=["%s"], decision="forbidden")\n' % c for c in commands))
        return ["--sandbox", "danger-full-access"]

    def text(self, result):
        return result.split("\nOutput:\n", 1)[1]

    def status(self, result):
        return int(result.split("exited with code ")[1].split("\n")[0])


class Pi(Agent):
    name = "pi"

    def argv(self, word, options):
        return [os.path.join(MODULES, ".bin", "pi"), "-p", "--provider", "loopback", "--model", "m",
                *options, word]

    def environment(self, model):
        folder = os.path.join(self.home, ".pi", "agent")
        os.makedirs(folder, exist_ok=True)
        cost = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
        write_file(os.path.join(folder, "models.json"), json.dumps({"providers": {"loopback": {
            "baseUrl": model.url + "/v1", "api": "openai-completions", "apiKey": "none",
            "models": [{"id": "m", "name": "m", "reasoning": False, "input": ["text"],
                        "contextWindow": 100000, "maxTokens": 1000, "cost": cost}]}}}))
        return {}

    def shell(self):
        folder = os.path.join(self.home, ".pi", "agent")
        os.makedirs(folder, exist_ok=True)
        write_file(os.path.join(folder, "settings.json"), json.dumps({"shellPath": TERSE_SH}))
        return {}

    def text(self, result):
        return result.split("\n\nCommand exited with code ")[0]

    def status(self, result):
        return int(result.rsplit(" ", 1)[1]) if "Command exited with code " in result else 0


class Opencode(Agent):
    name = "opencode"
    quiet = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1"}
    folder = "opencode"
    schema = "https://opencode.ai/config.json"

    def argv(self, word, options):
        program = os.path.join(MODULES, "opencode-linux-x64", "bin", "opencode")
        return [program, "run", *options, word]

    def configure(self, **more):
        folder = os.path.join(self.home, "config", self.folder)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, self.folder + ".json")
        settings = json.loads(read_file(path)) if os.path.exists(path) else {}
        # Without the schema it would write the file anew.
        write_file(path, json.dumps({"$schema": self.schema, **settings, **more}))

    def project(self):
        write_file(os.path.join(self.work, self.folder + ".json"), json.dumps({"$schema": self.schema}))
        return super().project()

    def deny(self, *commands):
        self.configure(permission={"bash": {"*": "allow", **{c + " *": "deny" for c in commands}}})
        return []

    def allow_only(self, *commands):
        self.configure(permission={"bash": {"*": "deny", **{c + " *": "allow" for c in commands}}})
        return []

    def environment(self, model):
        self.configure(model="loopback/m", autoupdate=False, share="disabled", provider={
            "loopback": {"npm": "@ai-sdk/openai-compatible", "models": {"m": {"name": "m"}},
                         "options": {"baseURL": model.url + "/v1", "apiKey": "none"}}})
        return self.quiet

    def shell(self):
        self.configure(shell=TERSE_SH)
        return {}

    def text(self, result):
        return result

    def status(self, result):
        """It shows the model none: terse's line does."""
        return int(result.rsplit("[terse: exit ", 1)[1].split("]")[0].split()[0])


class Kilo(Opencode):
    """It grew out of opencode, and has its settings."""
    name = "kilo"
    quiet = {"KILO_DISABLE_AUTOUPDATE": "1", "KILO_DISABLE_LSP_DOWNLOAD": "1",
             "KILO_TELEMETRY_LEVEL": "off"}
    folder = "kilo"
    schema = "https://app.kilo.ai/config.json"
    rewrites = False  # its first start writes the file anew, with a permission that it had not

    def configure(self, **more):
        super().configure(**more)
        if not self.rewrites:
            write_file(os.path.join(self.home, "config", "kilo", ".bash-permission-migrated"), "")

    def argv(self, word, options):
        program = os.path.join(MODULES, "@kilocode", "cli-linux-x64", "bin", "kilo")
        return [program, "run", "--auto", *options, word]


def field(result, name):
    """What follows a label at the start of a line, up to the next label."""
    found = re.search(r"(?:^|\n)%s: (.*?)(?=\n(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID|"
                      r"</untrusted_context>)\b|\Z)" % name, result, re.S)
    return found[1] if found else None


class Qwen(Agent):
    name = "qwen"
    conversation = UUID

    def argv(self, word, options):
        return [os.path.join(MODULES, ".bin", "qwen"), *(options or ["--yolo"]), "-p", word]

    def environment(self, model):
        return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model.url + "/v1",
                "OPENAI_MODEL": "m"}

    def deny(self, *commands):
        folder = os.path.join(self.home, ".qwen")
        os.makedirs(folder, exist_ok=True)
        write_file(os.path.join(folder, "settings.json"), json.dumps(
            {"permissions": {"deny": ["Bash(%s *)" % c for c in commands]}}))
        return ["--yolo"]

    def text(self, result):
        return field(result, "Output")

    def status(self, result):
        return int(field(result, "Exit Code"))


class Copilot(Agent):
    """With a model of the user's own, it needs no account."""
    name = "copilot"
    conversation = UUID
    allow = ["--allow-all-tools", "--allow-all-paths"]

    def argv(self, word, options):
        program = os.path.join(MODULES, "@github", "copilot-linux-x64", "copilot")
        return [program, "-p", word, *(options or self.allow)]

    def environment(self, model):
        return {"COPILOT_PROVIDER_BASE_URL": model.url + "/v1", "COPILOT_MODEL": "m",
                "COPILOT_PROVIDER_API_KEY": "none", "COPILOT_OFFLINE": "true",
                "COPILOT_AUTO_UPDATE": "false"}

    def deny(self, *commands):
        return [*self.allow, *("--deny-tool=shell(%s)" % c for c in commands)]

    def allow_only(self, *commands):
        return ["--allow-all-paths", *("--allow-tool=shell(%s)" % c for c in commands)]

    def text(self, result):
        return result.rsplit("\n<shellId: ", 1)[0]

    def status(self, result):
        return int(result.rsplit(" with exit code ", 1)[1].split(">")[0])


class Gemini(Agent):
    name = "gemini"

    def argv(self, word, options):
        return [os.path.join(MODULES, ".bin", "gemini"), "--skip-trust", *(options or ["--yolo"]), "-p", word]

    def configure(self, **more):
        folder = os.path.join(self.home, ".gemini")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "settings.json")
        settings = json.loads(read_file(path)) if os.path.exists(path) else {}
        write_file(path, json.dumps({**settings, **more}))

    def environment(self, model):
        self.configure(security={"auth": {"selectedType": "gemini-api-key"}})
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model.url,
                "GEMINI_MODEL": "gemini-2.5-pro"}

    def policy(self, decision, commands):
        return ["--policy", write_file(os.path.join(self.home, "policy.toml"), "".join(
            '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "%s"\ndecision = "%s"\n'
            'priority = 999\n' % (c, decision) for c in commands))]

    def deny(self, *commands):
        return ["--yolo", *self.policy("deny", commands)]

    def allow_only(self, *commands):
        return self.policy("allow", commands)

    def text(self, result):
        return field(result, "Output")

    def status(self, result):
        return int(field(result, "Exit Code") or 0)


class Grok(Agent):
    name = "grok"

    def argv(self, word, options):
        return [os.path.join(MODULES, ".bin", "grok"), "-p", word, *options]

    def environment(self, model):
        return {"GROK_API_KEY": "none", "GROK_BASE_URL": model.url + "/v1", "GROK_MODEL": "m"}

    def text(self, result):
        return result

    def status(self, result):
        """It shows the model none."""
        return 3 if result.startswith("Command failed: ") else 0
