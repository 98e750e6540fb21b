#!/usr/bin/env -S python3 -B
"""terse init, hook, agent and doctor: an agent's files get the lines that they need, and nothing else in them
changes. --undo restores them byte for byte, except empty tables and objects."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import tomllib

from support.harness import BUILD, DEADLINE, TERSE, Case, main, read_file, write_file

# The home directory of every case, so that its path is known here; and the launcher's directory in it.
HOME = os.path.join(os.environ.get("SANDBOX") or tempfile.mkdtemp(), "at-home")
LAUNCHER = os.path.join(HOME, ".local", "lib", "terse-launcher")
TERSE_SH = os.path.join(LAUNCHER, "terse-sh")
SHIM = os.path.join(LAUNCHER, "libterse-shim.so")
HOOKS_OF = os.path.join(LAUNCHER, "terse")  # executed for hooks
OWN_SH, OWN_SHIM = os.path.join(BUILD, "terse-sh"), os.path.join(BUILD, "libterse-shim.so")
PREFIX = '"CLAUDE_CODE_SHELL_PREFIX": "%s"' % TERSE_SH
HOOK = '"%s hook claude SessionEnd"' % HOOKS_OF


def group(call, matcher=None, **more):
    """One hook, as Claude Code and Gemini CLI have them."""
    return {**({"matcher": matcher} if matcher else {}),
            "hooks": [{"type": "command", **more, "command": "%s hook %s" % (HOOKS_OF, call)}]}


END = group("claude SessionEnd")
BEFORE = group("claude PreToolUse", "Bash", **{"if": "Bash(terse *)"})


def hook_lines(indent, unit="  ", hook=None):
    return json.dumps(hook or END, indent=unit).replace("\n", "\n" + indent)


def both_hooks(unit="  ", hooks=(("SessionEnd", END), ("PreToolUse", BEFORE))):
    return ",\n".join('%s"%s": [\n%s%s\n%s]' % (unit * 2, event, unit * 3, hook_lines(unit * 3, unit, hook), unit * 2)
                      for event, hook in hooks)


def whole_claude(unit="  "):
    return '{\n%s"env": {\n%s%s\n%s},\n%s"hooks": {\n%s\n%s}\n}\n' % (
        unit, unit * 2, PREFIX, unit, unit, both_hooks(unit), unit)


HOOKS = '  "hooks": {\n%s\n  }' % both_hooks()
ENV = '  "env": {\n    %s\n  }' % PREFIX

# A file before and after.
CLAUDE = {
    "no bytes": ("", whole_claude()),
    "blanks": (" \n", " \n" + whole_claude()),
    "an empty object": ("{}", whole_claude().rstrip("\n")),
    "an empty object of two lines": ("{\n}\n", whole_claude()),
    "a member": ('{\n  "model": "opus"\n}\n',
                 '{\n  "model": "opus",\n%s,\n%s\n}\n' % (ENV, HOOKS)),
    "a trailing comma": ('{\n  "model": "opus",\n}\n',
                         '{\n  "model": "opus",\n%s,\n%s,\n}\n' % (ENV, HOOKS)),
    "comments": ('// mine\n{\n  "model": "opus" // the best, "x": {\n  /* } */\n}\n// end\n',
                 '// mine\n{\n  "model": "opus", // the best, "x": {\n%s,\n%s\n  /* } */\n}\n// end\n'
                 % (ENV, HOOKS)),
    "a comment in what is empty": (
        '{\n  "env": {\n    // "B": "c"\n  }\n}\n',
        '{\n  "env": {\n    %s\n    // "B": "c"\n  },\n%s\n}\n' % (PREFIX, HOOKS)),
    "one line": ('{"a": [1, 2], "env": {"B": "c"}}',
                 '{"a": [1, 2], "env": {"B": "c", %s}, "hooks": {"SessionEnd": [%s], "PreToolUse": [%s]}}'
                 % (PREFIX, json.dumps(END), json.dumps(BEFORE))),
    "a variable, and an order of its own": (
        '{\n  "z": 1,\n  "env": {\n    "B": "c"\n  },\n  "a": 2\n}',
        '{\n  "z": 1,\n  "env": {\n    "B": "c",\n    %s\n  },\n  "a": 2,\n%s\n}' % (PREFIX, HOOKS)),
    "hooks of its own": (
        '{\n  "env": {},\n  "hooks": {\n    "PreToolUse": [],\n    "SessionEnd": [\n'
        '      {"hooks": [{"type": "command", "command": "bye"}]}\n    ]\n  }\n}\n',
        '{\n  "env": {\n    %s\n  },\n  "hooks": {\n    "PreToolUse": [\n      %s\n    ],\n    "SessionEnd": [\n'
        '      {"hooks": [{"type": "command", "command": "bye"}]},\n      %s\n    ]\n  }\n}\n'
        % (PREFIX, hook_lines("      ", hook=BEFORE), hook_lines("      "))),
    "a byte order mark": ("\ufeff{}", "\ufeff" + whole_claude().rstrip("\n")),
    "tabs": ('{\n\t"a": 1\n}\n', whole_claude("\t").replace("{\n", '{\n\t"a": 1,\n', 1)),
    "CRLF": ('{\r\n  "a": 1\r\n}\r\n',
             whole_claude().replace("{\n", '{\n  "a": 1,\n', 1).replace("\n", "\r\n")),
    "other letters and unknown keys": (
        '{\n  "ümlaut \\u00e4": {"1e5": [1.50, -0, null, "\\"{\\\\"]}\n}\n',
        '{\n  "ümlaut \\u00e4": {"1e5": [1.50, -0, null, "\\"{\\\\"]},\n%s,\n%s\n}\n'
        % (ENV, HOOKS)),
}

REFUSED_JSON = {
    '{"a": 1': ":1: the text ends too early",
    '{\n  "a": 1\n  "b": 2\n}': ":3: a comma or } is expected",
    '{\n  a: 1\n}': ":2: a key in double quotes is expected",
    '{"a": "b\n}': ":1: a string is not closed",
    '{"a": "\\x"}': ":1: a string with an invalid escape or character",
    '{"a": tru}': ":1: a value is expected",
    '{\n\n"a": 01}': ":3: a value is expected",
    '[]': ":1: not an object",
    '{}\n{}': ":2: something follows the end of the object",
    '{"a": 1} /* x': ":1: something follows the end of the object",
    '{"a":' * 70 + "1" + "}" * 70: ":1: nested too deeply",
    '{"env": 7}': ':1: "env" is not what the agent expects there',
    '{"hooks": {"SessionEnd": {}}}': ':1: "hooks" is not what the agent expects there',
    '{\n  "env": {"CLAUDE_CODE_SHELL_PREFIX": "/opt/other"}\n}':
        ':2: "CLAUDE_CODE_SHELL_PREFIX" is "/opt/other" already; terse would be: "%s"' % TERSE_SH,
}

CODEX_SET = [("LD_PRELOAD", SHIM), ("TERSE_SHIM_SHELL", TERSE_SH)]
if os.path.exists(os.path.join(os.path.dirname(BUILD), "shim", "bash-env")):
    CODEX_SET.append(("BASH_ENV", os.path.join(LAUNCHER, "bash-env") + "${-//[!v]}"))
CODEX_LINES = "".join('%s = "%s"\n' % pair for pair in CODEX_SET)
BY_HAND = ", ".join('%s = "%s"' % pair for pair in CODEX_SET)
TABLE = "[shell_environment_policy.set]\n"

# An empty table goes with what terse put into it, and the last line has an end then.
CODEX_BACK = {"no line end": "a = 1\n", "an empty table": "# mine\n"}

CODEX = {
    "no bytes": ("", TABLE + CODEX_LINES),
    "keys and tables": ('# mine\nmodel = "x" # [a]\n\n[a."b.c"]\nd = """\n[e]\n"""\n',
                        '# mine\nmodel = "x" # [a]\n\n[a."b.c"]\nd = """\n[e]\n"""\n\n'
                        + TABLE + CODEX_LINES),
    "no line end": ("a = 1", "a = 1\n\n" + TABLE + CODEX_LINES),
    "the policy": ('[shell_environment_policy]\ninherit = "all"\n[b]\nc = [\n  1, # ]\n]\n',
                   '[shell_environment_policy]\ninherit = "all"\n[b]\nc = [\n  1, # ]\n]\n\n'
                   + TABLE + CODEX_LINES),
    "the table": ("[ 'shell_environment_policy' . set ] # x\nA = \"b\" # c\n\n[d]\ne = 1\n",
                  "[ 'shell_environment_policy' . set ] # x\n" + 'A = "b" # c\n' + CODEX_LINES + '\n[d]\ne = 1\n'),
    "an empty table": (TABLE + "# mine\n", TABLE + CODEX_LINES + "# mine\n"),
    "what only looks like it": ("a = '" + TABLE[:-1] + "'\nb = [\n" + '"""\n' + TABLE + '"""]\n',
                                "a = '" + TABLE[:-1] + "'\nb = [\n" + '"""\n' + TABLE + '"""]\n\n'
                                + TABLE + CODEX_LINES),
    "CRLF": ("a = 1\r\n", ("a = 1\n\n" + TABLE + CODEX_LINES).replace("\n", "\r\n")),
}

FOREIGN = "shell_environment_policy.set is not a table with a line for each key: add by hand: " + BY_HAND

REFUSED_TOML = {
    "a = 1\nb\n": ":2: = is expected behind a key",
    'a = "b\nc = 1\n': ":1: a string or bracket is not closed",
    "[a\n": ":1: ] is expected",
    "a = 1\nb = [1, 2\n": ":2: a string or bracket is not closed",
    "shell_environment_policy = 1\n": ":1: " + FOREIGN,
    '[shell_environment_policy]\ninherit = "all"\nset = { A = "b" } # c\n': ":3: " + FOREIGN,
    '[shell_environment_policy]\nset.A = "b"\n[x]\n': ":2: " + FOREIGN,
    "[[shell_environment_policy]]\n": ":1: " + FOREIGN,
    TABLE + 'LD_PRELOAD = "/usr/lib/mine.so"\n':
        ':2: "LD_PRELOAD" is "/usr/lib/mine.so" already; terse would be: "%s"' % SHIM,
}

# For each agent: its file below the home directory, the one of a project, and its content afterwards.
FILES = {
    "claude": (".claude/settings.json", ".claude/settings.local.json", whole_claude()),
    "codex": (".codex/config.toml", ".codex/config.toml", TABLE + CODEX_LINES),
    "opencode": ("config/opencode/opencode.json", "opencode.json",
                 '{\n  "shell": "%s"\n}\n' % TERSE_SH),
    "pi": (".pi/agent/settings.json", ".pi/settings.json",
           '{\n  "shellPath": "%s"\n}\n' % TERSE_SH),
    "gemini": (".gemini/settings.json", ".gemini/settings.json",
               '{\n  "hooks": {\n%s\n  }\n}\n' % both_hooks(hooks=(
                   ("SessionEnd", group("gemini SessionEnd")),
                   ("BeforeTool", group("gemini BeforeTool", "run_shell_command"))))),
    "kilo": ("config/kilo/kilo.json", "kilo.json", '{\n  "shell": "%s"\n}\n' % TERSE_SH),
    "crush": ("config/crush/crush.json", "crush.json",
              '{\n  "hooks": {\n    "PreToolUse": [\n      {\n        "matcher": "^bash$",\n'
              '        "command": "%s hook crush PreToolUse"\n      }\n    ]\n  }\n}\n' % HOOKS_OF),
    "cursor": (".cursor/hooks.json", ".cursor/hooks.json",
               '{\n  "version": 1,\n  "hooks": {\n    "preToolUse": [\n      {\n'
               '        "command": "%s hook cursor preToolUse",\n        "matcher": "Shell"\n'
               '      }\n    ],\n    "sessionEnd": [\n      {\n'
               '        "command": "%s hook cursor sessionEnd"\n      }\n    ]\n  }\n}\n'
               % (HOOKS_OF, HOOKS_OF)),
}


class Wiring(Case):
    def setUp(self):
        super().setUp()
        os.rmdir(self.home)
        shutil.rmtree(HOME, ignore_errors=True)
        os.mkdir(HOME, 0o700)
        self.home = HOME

    def init(self, *argv, code=0, env=None, cwd=None):
        run = self.terse("init", *argv, split=True, env=env, cwd=cwd)
        self.assertEqual(run.code, code, (argv, run.out, run.err))
        return run

    def in_home(self, name):
        return os.path.join(self.home, name)

    def put(self, name, text, mode=0o644):
        path = self.in_home(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return write_file(path, text, mode)

    def walk(self, top):
        """Without the launcher's directory, which stays."""
        return [found for found in os.walk(top)
                if not found[0].startswith(os.path.join(HOME, ".local"))]

    def tree(self, top):
        return {os.path.relpath(os.path.join(folder, name), top): read_file(
                    os.path.join(folder, name))
                for folder, _, names in self.walk(top) for name in names}

    def folders(self, top):
        return sorted(folder for folder, _, _ in self.walk(top))

    def there_and_back(self, agent, name, before, after, back=None, mode=0o640):
        """Wires up, twice, and undoes it; returns nothing: whatever differs is a failure. A file without anything in
        it is gone then."""
        path = self.put(name, before, mode)
        diff = self.init(agent, "--dry-run").out
        self.assertEqual(read_file(path), before.encode())
        self.assertEqual(diff.count(b"+++ " + path.encode()), 1, diff)
        self.init(agent)
        self.assertEqual(read_file(path).decode(), after)
        self.assertEqual(os.stat(path).st_mode & 0o7777, mode)
        if "\ufeff" not in before:  # which is not printed
            self.check_diff(before, after, diff, path)
        left = self.tree(self.home)
        self.assertIn(b"needs no change", self.init(agent).out)
        self.assertEqual(self.tree(self.home), left)
        self.init(agent, "--undo")
        if not before.strip("{} \n"):
            self.assertFalse(os.path.exists(os.path.dirname(path)))
            return
        self.assertEqual(read_file(path).decode(), before if back is None else back)
        self.assertEqual(os.stat(path).st_mode & 0o7777, mode)
        self.assertEqual(os.listdir(os.path.dirname(path)), [os.path.basename(path)])

    def check_diff(self, before, after, diff, path):
        """patch turns the one file into the other."""
        old = write_file(os.path.join(self.work, "old"), before)
        text = diff[diff.index(b"--- " + path.encode()):]
        text = text[:text.find(b"--- /dev/null", 1)] if b"--- /dev/null" in text[1:] else text
        lines = text.split(b"\n")
        self.assertEqual(lines[1], b"+++ " + path.encode())
        done = subprocess.run(["git", "apply", "--unidiff-zero", "-p1", "-"], cwd=self.work,
                              input=text.replace(path.encode(), b"a/old"), check=False,
                              capture_output=True)
        self.assertEqual(done.returncode, 0, (done.stderr, text))
        self.assertEqual(read_file(old).decode(), after)


class Claude(Wiring):
    def test_every_shape(self):
        for what, (before, after) in CLAUDE.items():
            with self.subTest(what):
                # What was empty goes as well.
                back = re.sub(r' *"(env|PreToolUse)": (\{\}|\[\]),\n', "", before)
                self.there_and_back("claude", ".claude/settings.json", before, after, back)

    def test_what_cannot_be_read_is_refused(self):
        for text, reason in REFUSED_JSON.items():
            path = self.put(".claude/settings.json", text)
            run = self.init("claude", code=1)
            self.assertEqual(run.err.decode(), "terse init: %s%s\n" % (path, reason))
            self.assertEqual(self.tree(os.path.dirname(path)), {"settings.json": text.encode()})

    def test_another_place_of_terse_is_renewed(self):
        text = '{"env": {"CLAUDE_CODE_SHELL_PREFIX": "/old/terse-sh"}, "hooks": {"SessionEnd": [%s], "PreToolUse": [%s]}}'
        text %= json.dumps(END), json.dumps(BEFORE)
        old = text.replace(HOOKS_OF, "/old/terse")
        path = self.put(".claude/settings.json", old)
        self.init("claude")
        self.assertEqual(read_file(path).decode(), text.replace("/old/terse-sh", TERSE_SH))
        self.init("claude", "--undo")
        self.assertFalse(os.path.exists(path))

    def test_undo_after_a_change(self):
        """Later additions of the user stay; those of terse init are gone."""
        path = self.put(".claude/settings.json", '{\n  "model": "opus"\n}\n')
        self.init("claude")
        text = read_file(path).decode()
        write_file(path, text.replace('"opus"', '"haiku"').replace(
            PREFIX, PREFIX + ',\n    "MINE": "x"').replace(
                '"SessionEnd": [', '"Stop": [],\n    "SessionEnd": ['))
        run = self.init("claude", "--undo")
        self.assertIn(b"the rest stays", run.out)
        self.assertEqual(read_file(path).decode(),
                         '{\n  "model": "haiku",\n  "env": {\n    "MINE": "x"\n  },\n'
                         '  "hooks": {\n    "Stop": []\n  }\n}\n')
        self.assertIn(b"nothing of terse in it", self.init("claude", "--undo").out)

    def test_undo_of_a_hook_among_others(self):
        path = self.put(".claude/settings.json", "")
        self.init("claude")
        text = read_file(path).decode()
        hook = '{\n            "type": "command",\n            "command": %s\n          }' % HOOK
        self.assertIn(hook, text)
        write_file(path, text.replace(hook, '{"type": "command", "command": "x"},\n          '
                                      + hook))
        self.init("claude", "--undo")
        self.assertEqual(json.loads(read_file(path)), {"hooks": {"SessionEnd": [
            {"hooks": [{"type": "command", "command": "x"}]}]}})

    def test_a_link_stays_one(self):
        real = self.put("dotfiles/claude.json", '{"a": 1}', 0o600)
        os.mkdir(self.in_home(".claude"))
        link = self.in_home(".claude/settings.json")
        os.symlink("../dotfiles/claude.json", link)
        self.init("claude")
        self.assertTrue(os.path.islink(link))
        self.assertIn(PREFIX, read_file(real).decode())
        self.assertEqual(os.stat(real).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(os.path.dirname(real)), ["claude.json"])
        self.init("claude", "--undo")
        self.assertEqual((read_file(real), os.path.islink(link)), (b'{"a": 1}', True))
        self.put("dotfiles/claude.json", "{}")
        self.init("claude")
        self.init("claude", "--undo")
        self.assertEqual((read_file(real), os.path.islink(link)), (b"{}", True))

    def test_links_that_lead_astray(self):
        os.mkdir(os.path.join(self.work, ".claude"))
        link = os.path.join(self.work, ".claude", "settings.local.json")
        outside = self.put("secrets.json", "{}")
        os.symlink(outside, link)
        run = self.init("claude", "--project", code=1)
        self.assertIn(b"settings.local.json: a symbolic link leads out of the project", run.err)
        self.assertEqual(read_file(outside), b"{}")
        os.unlink(link)
        os.rmdir(os.path.dirname(link))
        # Nor a directory, whether the file is there or not; --undo says the same.
        outside = os.path.join(self.home, "elsewhere")
        os.mkdir(outside)
        os.symlink(outside, os.path.dirname(link))
        for undo in ((), ("--undo",)):
            run = self.init("claude", "--project", *undo, code=1)
            self.assertIn(b"settings.local.json: a symbolic link leads out of the project", run.err)
        self.assertEqual(os.listdir(outside), [])
        os.mkdir(self.in_home(".claude"))
        os.symlink("nowhere", self.in_home(".claude/settings.json"))
        self.assertIn(b"a symbolic link to nothing", self.init("claude", code=1).err)

    def test_what_is_no_file(self):
        os.makedirs(self.in_home(".claude/settings.json"))
        self.assertIn(b"settings.json: not a file", self.init("claude", code=1).err)
        os.rmdir(self.in_home(".claude/settings.json"))
        os.mkfifo(self.in_home(".claude/settings.json"))
        self.assertIn(b"settings.json: not a file", self.init("claude", code=1).err)

    def test_other_folder(self):
        folder = os.path.join(self.work, "elsewhere")
        self.init("claude", env={"CLAUDE_CONFIG_DIR": folder})
        self.assertEqual(read_file(os.path.join(folder, "settings.json")).decode(), whole_claude())
        self.assertFalse(os.path.exists(self.in_home(".claude")))

    def test_what_to_allow(self):
        self.assertIn(b"claude: to let it read on without being asked, allow Bash(terse read:*), Bash(terse search:*) and "
                      b"Bash(terse list:*) and no more of terse\n", self.init("claude").out)

    def test_terse_that_is_not_in_path(self):
        self.assertNotIn(b"not in PATH, so", self.init("claude").out)
        self.assertIn(b"terse is not in PATH, so", self.init("claude", env={
            "PATH": "/usr/bin:/bin"}).out)


class Codex(Wiring):
    def test_every_shape(self):
        for what, (before, after) in CODEX.items():
            with self.subTest(what):
                self.there_and_back("codex", ".codex/config.toml", before, after, CODEX_BACK.get(what))

    def test_what_cannot_be_read_is_refused(self):
        for text, reason in REFUSED_TOML.items():
            path = self.put(".codex/config.toml", text)
            run = self.init("codex", code=1)
            self.assertEqual(run.err.decode(), "terse init: %s%s\n" % (path, reason))
            self.assertEqual(self.tree(os.path.dirname(path)), {"config.toml": text.encode()})

    def test_what_was_added_by_hand(self):
        """In a form that is not changed; nor is it taken out again."""
        path = self.put(".codex/config.toml", "[shell_environment_policy]\nset = { A = '', %s }\n" % BY_HAND)
        self.assertIn(b"needs no change", self.init("codex").out)
        self.assertIn("codex: %s names terse" % path, self.terse("doctor").out.decode())
        self.assertEqual(self.init("codex", "--undo", code=1).err.decode(), "terse init: %s:2: shell_environment_policy"
                         ".set is not a table with a line for each key: take out what names terse by hand\n" % path)

    def test_undo_after_a_change(self):
        for what, (before, after) in CODEX.items():
            self.assertLessEqual(dict(CODEX_SET).items(), tomllib.loads(after)["shell_environment_policy"]["set"].items())
        for what, (before, _) in CODEX.items():
            with self.subTest(what):
                path = self.put(".codex/config.toml", before)
                self.init("codex")
                line = "# new\r\n" if what == "CRLF" else "# new\n"
                write_file(path, line.encode() + read_file(path))
                self.init("codex", "--undo")
                self.assertEqual(read_file(path).decode(), line + CODEX_BACK.get(what, before))


class EveryAgent(Wiring):
    def test_files(self):
        """Made where there was nothing, of the user's and of a project's, and removed again."""
        for agent, (own, project, text) in FILES.items():
            for top, options, name in ((self.home, (), own), (self.work, ("--project",), project)):
                with self.subTest(agent, options=options):
                    before = self.folders(top)
                    self.init(agent, *options, "--dry-run")
                    self.assertEqual((self.tree(top), self.folders(top)), ({}, before))
                    self.init(agent, *options)
                    made = self.tree(top)
                    self.assertEqual(made[name].decode(), text)
                    self.init(agent, *options)
                    self.assertEqual(self.tree(top), made)
                    self.init(agent, *options, "--undo")
                    self.assertEqual((self.tree(top), self.folders(top)), ({}, before))

    def test_instructions(self):
        """Printed, and no more. An agent whose rules judge a comment as a part of the command is not told of it."""
        self.assertIn(b"terse init claude --instructions\n", self.init("claude").out)
        self.init("claude", "--undo")
        for agents, comment in ((("claude",), True), (("opencode", "pi", "gemini"), True), (("claude", "codex"), False),
                                (("cursor",), False), ((), False)):
            text = self.init(*agents, "--instructions").out.decode()
            self.assertTrue(text.startswith("Shell commands run under terse"))
            self.assertTrue(text.endswith("`# terse: timeout=5m, size=20KB` sets these.\n" if comment else
                                          "`terse signal ID` ends it.\n"), agents)
            self.assertNotIn("terse --", text)
        self.assertEqual(self.tree(self.home), {})

    def test_jsonc_of_opencode(self):
        path = self.put("config/opencode/opencode.jsonc", "{\n  // mine\n}\n")
        self.init("opencode")
        self.assertEqual(read_file(path).decode(),
                         '{\n  "shell": "%s"\n  // mine\n}\n' % TERSE_SH)
        self.assertFalse(os.path.exists(self.in_home("config/opencode/opencode.json")))
        self.init("opencode", "--undo")
        self.assertEqual(read_file(path), b"{\n  // mine\n}\n")

    def test_hooks_of_cursor(self):
        """With the last hook, --undo also removes the version, which the file needs only beside hooks."""
        hook = '{"command": "%s hook cursor %%s"%%s}' % HOOKS_OF
        self.there_and_back(
            "cursor", ".cursor/hooks.json", '{"version": 1, "hooks": {"stop": [1]}}',
            '{"version": 1, "hooks": {"stop": [1], "preToolUse": [%s], "sessionEnd": [%s]}}' % (
                hook % ("preToolUse", ', "matcher": "Shell"'), hook % ("sessionEnd", "")))
        path = self.put(".cursor/hooks.json", '{"version": 1, "hooks": {"preToolUse": []}}')
        self.init("cursor")
        self.init("cursor", "--undo")
        self.assertFalse(os.path.exists(path))

    def test_a_shell_in_the_way(self):
        text = b'{\n  "shell": "/bin/zsh"\n}\n'
        path = self.put("config/opencode/opencode.json", text)
        self.assertIn(b'opencode.json:2: "shell" is "/bin/zsh" already', self.init(
            "opencode", code=1).err)
        self.init("opencode", "--undo")
        self.assertEqual(self.tree(self.home), {os.path.relpath(path, self.home): text})

    def test_a_plugin_in_the_way(self):
        path = self.put("config/opencode/plugins/terse.js", "// somebody's\n")
        self.assertIn(b"there is such a file already", self.init("opencode", code=1).err)
        self.init("opencode", "--undo")
        self.assertEqual(read_file(path), b"// somebody's\n")

    def test_a_plugin_calls_terse(self):
        self.init("opencode")
        plugin = read_file(self.in_home("config/opencode/plugins/terse.js")).decode()
        call = 'spawnSync(%s, ["hook", "opencode", event], {\n' % json.dumps(HOOKS_OF)
        self.assertIn(call, plugin)
        if not shutil.which("node"):
            self.skipTest("node is not there")
        # The model's timeout becomes that of the call alone; more than a day is a day.
        path = write_file(os.path.join(self.work, "terse.mjs"), plugin)
        script = ("const t = await (await import('%s')).Terse(); const told = [];"
                  "for (const timeout of [60000, undefined, 1e9]) {"
                  " await t['tool.execute.before']({ tool: 'bash', callID: 1 }, { args: { command: 'x', timeout } });"
                  " for (const i of [1, 2]) { const o = { env: {} }; await t['shell.env']({ callID: 1 }, o);"
                  " told.push(o.env.TERSE_HAND_OVER ?? null); } } console.log(JSON.stringify(told))" % path)
        told = json.loads(subprocess.run(["node", "--input-type=module", "-e", script], check=True, capture_output=True,
                                         timeout=DEADLINE).stdout)
        self.assertEqual(told, ["60000ms", None, None, None, "86400000ms", None])
        self.assertEqual(self.terse("true", env={"TERSE_HAND_OVER": told[4]}, split=True).err, b"")

    def test_usage(self):
        for argv, reason in ((("--undo",), b"which agent? terse init AGENT, or --all\n"),
                             (("--project",), b"which agent? terse init AGENT, or --all\n"),
                             (("claude", "--all"), b"--all means every agent that is found"),
                             (("vim",), b"vim: no such agent"),
                             (("claude", "--dryrun"), b"no such option")):
            self.assertIn(reason, self.init(*argv, code=125).err)
        self.assertIn(b"there is no home directory", self.init("claude", code=1, env={
            "HOME": None}).err)

    def test_without_terse_sh(self):
        lonely = os.path.join(self.work, "lonely")
        shutil.copy(TERSE, lonely)
        run = self.run_to_end(lonely, "init", "claude", split=True)
        self.assertEqual(run.code, 1)
        self.assertIn(b"terse-sh is not beside " + lonely.encode(), run.err)
        run = self.run_to_end(lonely, "agent", "sh", "-c", "echo ran", split=True)
        self.assertEqual((run.code, run.out), (0, b"ran\n"))
        self.assertEqual(run.err, b"terse agent: libterse-shim.so is not there: sh runs without "
                                  b"terse (see terse doctor)\n")


class Several(Wiring):
    """terse init without a name."""

    def setUp(self):
        super().setUp()
        self.programs = os.path.join(self.dir, "programs")
        os.mkdir(self.programs)
        for name in ("claude", "pi", "qwen"):
            write_file(os.path.join(self.programs, name), "", 0o755)

    def listed(self, *argv):
        run = self.init(*argv, env={"PATH": self.programs})
        return [line.replace(self.programs, "BIN") for line in run.out.decode().splitlines()]

    def test_the_list(self):
        states = ["claude    not wired      BIN/claude", "pi        not wired      BIN/pi",
                  "qwen      by terse agent BIN/qwen"]
        states.append("to wire one up: terse init NAME; all of them: terse init --all")
        self.assertEqual(self.listed(), states)
        self.init("pi")
        self.assertEqual(self.listed()[1], "pi        wired          BIN/pi")
        self.assertEqual(os.listdir(self.in_home(".pi/agent")), ["settings.json"])
        self.init("pi", "--undo")
        self.assertEqual(self.listed(), states)

    def test_all(self):
        before = self.listed()
        said = self.listed("--all")
        self.assertTrue(os.path.exists(self.in_home(".claude/settings.json")))
        self.assertTrue(os.path.exists(self.in_home(".pi/agent/settings.json")))
        self.assertFalse(os.path.exists(self.in_home(".codex")))
        self.assertIn("qwen: start it so: terse agent qwen; for good, in your shell's start-up file: "
                      "alias qwen='terse agent qwen'", said)
        self.listed("--all", "--undo")
        self.assertEqual(self.listed(), before)
        self.assertFalse(os.path.exists(self.in_home(".claude/settings.json")))

    def test_names(self):
        """All of them, or none if one is not known."""
        run = self.init("pi", "cluade", code=125)
        self.assertIn(b"terse init: cluade: no such agent (did you mean claude?)", run.err)
        self.assertEqual(os.listdir(self.home), [])
        self.init("claude", "pi")
        self.assertEqual([s.split()[1] for s in self.listed()[:3]], ["wired", "wired", "by"])
        self.init("claude", "pi", "--undo")
        self.assertEqual([s.split()[1] for s in self.listed()[:3]], ["not", "not", "by"])


class Hook(Wiring):
    def hook(self, agent, event, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        run = self.terse("hook", agent, event, data=data, split=True)
        self.assertEqual((run.code, run.err), (0, b""), (agent, message))
        return json.loads(run.out) if run.out else None

    def test_whatever_is_said(self):
        """An event that a hook can't read blocks nothing."""
        for agent, event in (("claude", "SessionEnd"), ("gemini", "SessionEnd"),
                             ("opencode", "session.deleted"), ("cursor", "sessionEnd"),
                             ("claude", "NoSuchEvent"), ("vi", "x")):
            for data in (b"", b"{", b"[]", b"null", b"\0\xff", b'{"tool_input": 3}',
                         b'{"session_id": "../../etc"}', b'{"session_id": ["x"]}'):
                self.assertIsNone(self.hook(agent, event, data))
        # Cursor takes the lack of an answer for a refusal.
        for data in (b"", b"{", b"[]", b'{"tool_name": "Shell"}'):
            self.assertEqual(self.hook("cursor", "preToolUse", data), {"permission": "ask"})

    def test_cursor(self):
        def answer(command, tool="Shell"):
            return self.hook("cursor", "preToolUse", {
                "conversation_id": "abc-1", "tool_name": tool,
                "tool_input": {"command": command, "timeout": 5}})
        for command in ("make", "npm test 2>&1 | tail -5", "git status && git diff",
                        "echo $(date) 'a b'"):
            reply = answer(command)
            self.assertEqual(reply["permission"], "ask")
            self.assertEqual(reply["updated_input"]["timeout"], 5)
            line = reply["updated_input"]["command"]
            self.assertTrue(line.startswith(TERSE + " --session abc-1 -c "), line)
            plain = subprocess.run(["sh", "-c", "printf %s " + line.split(" -c ", 1)[1]],
                                   stdout=subprocess.PIPE, check=True)
            self.assertEqual(plain.stdout.decode(), command)
        line = answer("make # terse: yield=10s, size=1x")["updated_input"]["command"]
        self.assertEqual(line, TERSE + " --session abc-1 --yield=10s -c 'make # terse: yield=10s, size=1x'")
        # Commands with an effect on their shell, commands of terse itself, and unclear ones.
        for command in ("cd web", "cd web && make", "export A=b; make", ". ./env", "terse list",
                        "/usr/bin/terse read last", "echo 'open", ""):
            self.assertEqual(answer(command), {"permission": "ask"}, command)
        self.assertEqual(answer("make", tool="Write"), {"permission": "ask"})

    def test_terse_in_front(self):
        """Rules do not see what terse runs: such a command is refused, and what to type is said."""
        reason = "Type the command itself, without terse in front of it: it runs under terse anyway."
        comment = reason + (" For what options would ask, end it with a comment: "
                            "# terse: yield=10s, timeout=5m, size=20KB (each as needed).")

        def said(agent, event, command, **env):
            data = json.dumps({"tool_name": "Bash", "tool_input": {"command": command}}).encode()
            run = self.terse("hook", agent, event, data=data, split=True, env=env)
            self.assertEqual((run.code, run.err), (0, b""))
            return run.out.decode()

        def claude(decision):
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision,
                                           "permissionDecisionReason": comment}}
        refusals = {("claude", "PreToolUse"): claude("deny"),
                    ("gemini", "BeforeTool"): {"decision": "deny", "reason": comment},
                    ("cursor", "preToolUse"): {"permission": "deny", "agent_message": reason}}
        for (agent, event), refusal in refusals.items():
            self.assertEqual(json.loads(said(agent, event, "terse touch x")), refusal)
        self.assertEqual(said("opencode", "tool.execute.before", "terse touch x"), comment + "\n")
        # However it is typed; not where it runs nothing, or where that is not plain.
        for command in ("terse --yield 10s npm test", "cd x && terse touch y | cat", "terse -c 'touch x'", "terse -- read",
                        "/usr/bin/terse run touch x", "env A=1 sudo terse touch x", "A=1 terse touch x",
                        "terse agent touch x", "terse probe touch x", "terse shell touch x", "terse read last; terse 'touch x'"):
            self.assertTrue(said("claude", "PreToolUse", command), command)
        for command in ("touch x", "terse", "terse read last", "terse list | head", "terse --version", "terse -h",
                        "echo terse touch x", "terse 'touch x", "terse-foo touch x", ""):
            self.assertEqual(said("claude", "PreToolUse", command), "", command)
        # The key. Who can't ask goes on denying.
        for agent, event in refusals:
            self.assertEqual('"ask"' in said(agent, event, "terse touch x", TERSE_IN_FRONT="ask"),
                             agent in ("claude", "cursor"))
        self.assertEqual(json.loads(said("claude", "PreToolUse", "terse make", TERSE_IN_FRONT="ask")), claude("ask"))
        self.assertEqual(said("claude", "PreToolUse", "terse touch x", TERSE_IN_FRONT="pass"), "")

    def test_rewritten_command_runs(self):
        reply = self.hook("cursor", "preToolUse", {"conversation_id": "s1", "tool_name": "Shell",
                                                   "tool_input": {"command": "seq 3000; false"}})
        run = self.shell(reply["updated_input"]["command"])
        self.assertEqual(run.code, 1)
        self.assertIn(b"[terse: exit 1 after", run.out)
        self.assertTrue(self.artifacts()[0].startswith(os.path.join(self.store, "sessions", "s1")))


class Agent(Wiring):
    def test_its_environment(self):
        script = os.path.join(self.work, "agent")
        write_file(script, "#!/bin/sh\necho \"$LD_PRELOAD|$TERSE_SHIM_SHELL|${TERSE_ACTIVE-none}|"
                           "${CLAUDE_CODE_SHELL_PREFIX-none}|$*\"; exit 7\n", 0o755)
        run = self.terse("agent", script, "a", "b c", env={"TERSE_ACTIVE": "1"}, split=True)
        self.assertEqual(run.code, 7)
        self.assertEqual(run.out.decode(), "%s|%s|none|none|a b c\n" % (OWN_SHIM, OWN_SH))
        os.rename(script, os.path.join(self.work, "claude"))
        run = self.terse("agent", "--", "./claude", env={"LD_PRELOAD": OWN_SHIM})
        self.assertEqual(run.out.decode(), "%s:%s|%s|none|%s|\n" % (OWN_SHIM, OWN_SHIM, OWN_SH, OWN_SH))
        run = self.terse("agent", "./claude", env={"TERSE": "0"})
        self.assertEqual(run.out, b"||none|none|\n")

    def test_its_shell_is_the_launcher(self):
        """Where that is installed and starts this terse, which may be replaced while the agent runs."""
        self.init("pi")
        show = ("sh", "-c", 'echo "$LD_PRELOAD|$TERSE_SHIM_SHELL"')
        self.assertEqual(self.terse("agent", *show).out.decode(), "%s|%s\n" % (OWN_SHIM, TERSE_SH))
        target = os.path.join(LAUNCHER, "target")
        write_file(target, read_file(target).replace(b"program ", b"program /other"))
        self.assertEqual(self.terse("agent", *show).out.decode(), "%s|%s\n" % (OWN_SHIM, OWN_SH))

    def test_a_tool_call_below_it(self):
        """pi's, from a process that has its name."""
        os.symlink("/bin/bash", os.path.join(self.work, "pi"))
        run = self.terse("agent", "./pi", "-c",
                         "export PI_CODING_AGENT=true; /bin/bash -c 'seq 3000; exit 4' </dev/null; "
                         "exit $?", kind="socket")
        self.assertEqual(run.code, 4)
        self.assertIn(b"[terse: exit 4 after", run.out)

    def test_one_that_no_rule_knows(self):
        def said(*argv, **env):
            run = self.terse("agent", *argv, split=True, env=env)
            self.assertEqual(run.code, 0, argv)
            return run.err.decode()
        other = write_file(os.path.join(self.work, "other"), "#!/bin/sh\n", 0o755)
        for name in ("pi", "codex-x86_64"):
            shutil.copy(other, os.path.join(self.work, name))
        sentence = ("terse agent: no rule knows %s: its own commands run without terse (terse probe %s makes a "
                    "rule)\n" % (other, other))
        self.assertEqual(said(other), sentence)
        self.assertEqual(said("env", "A=1", other), sentence)
        for argv in (("./pi",), ("./codex-x86_64",), ("env", "A=1", "./pi"), ("sh", "-c", "./other")):
            self.assertEqual(said(*argv), "", argv)
        self.assertEqual(said(other, TERSE="0"), "")
        self.put("config/terse/terse.ini", "[agent other]\nenvironment = OTHER\nstring = {command}\n")
        self.assertEqual(said(other), "", "which process it is, its rule does not say")

    def test_usage(self):
        for argv, code in (((), 125), (("--fast", "x"), 125), (("no-such-agent",), 127),
                           (("/etc/passwd",), 126), (("/etc",), 126)):
            run = self.terse("agent", *argv, split=True)
            self.assertEqual((run.code, run.out, run.err.count(b"\n")), (code, b"", 1), argv)


# What doctor has seen of a command.
SEEN = r"seq 5000 run its way%s: 23\.3 KB became \S+ K?B with both ends and the ID, in .*"


class Doctor(Wiring):
    WIRED = ("claude", "codex", "opencode", "pi", "kilo", "cursor", "crush")

    def test_every_wiring_is_tried(self):
        for agent in FILES:
            self.init(agent)
        run = self.terse("doctor", "--json", env={"CLAUDECODE": "1", "TERSE_ACTIVE": "1"})
        report = json.loads(run.out)["data"]
        self.assertEqual((run.code, report["problems"]), (0, 0), report)
        details = {(c["what"], c["state"]): c["detail"] for c in report["checks"]}
        tried = [what for (what, state), detail in details.items()
                 if state == "ok" and re.fullmatch(SEEN % "" + "|its hook rewrites a command, in .*", detail)]
        self.assertEqual(tuple(tried), self.WIRED)
        self.assertEqual(details["gemini", "note"], self.in_home(".gemini/settings.json") + " ends its sessions; its "
                         "commands run under terse only if it is started as terse agent gemini")
        self.assertRegex(details["gemini", "ok"], SEEN % ", started as terse agent gemini")
        self.assertFalse(os.path.exists(self.store), "it makes nothing")
        self.assertEqual(os.listdir(self.tmp), [])

    def lines_of(self, run, agent):
        return [line.decode() for line in run.out.splitlines() if b" %s: " % agent.encode() in line]

    def test_once_in_the_home_directory(self):
        """There a project's file is the user's."""
        for agent in ("codex", "pi", "gemini"):
            self.init(agent)
            self.assertEqual(len(self.lines_of(self.terse("doctor", cwd=self.home), agent)),
                             len(self.lines_of(self.terse("doctor"), agent)))

    def test_agents_without_a_setting(self):
        """They are tried in the way that they have."""
        for name in ("qwen", "copilot", "grok"):
            program = write_file(os.path.join(self.work, name), "", 0o755)
            self.init(name)
            lines = self.lines_of(self.terse("doctor", env={"PATH": self.work + ":/usr/bin:/bin"}), name)
            self.assertEqual(lines[0], "-        %s: %s; its commands run under terse only if it is started as terse "
                             "agent %s" % (name, program, name))
            self.assertRegex(lines[1], "^ok       %s: " % name + SEEN % (", started as terse agent " + name))
        self.assertFalse(os.path.exists(LAUNCHER), "nothing names it")

    def test_one_agent(self):
        """By its files, by terse agent, or by a section alone."""
        self.init("pi")
        run = self.terse("doctor", "pi")
        self.assertEqual(run.code, 0)
        self.assertRegex(run.out.decode(), "^-        pi: .*no run through it was seen\nok       pi: " + SEEN % "" + "\n$")
        self.assertEqual(self.terse("doctor", "opencode").out,
                         b"-        opencode: not in PATH, not wired: terse init opencode\n")
        self.put("config/terse/terse.ini", "[agent mine]\nenvironment = MINE\nstring = ( {command}\n"
                 "stdin = /dev/pts/*\n[agent braces]\nenvironment = BRACES\nstring = { {command}; }\n[agent files]\nenvironment = TERSE_AGENT=files\nfile = */a/*.sh\n[agent none]\n")
        for name, start in (("aider", "aider"), ("autogen", "--as autogen"), ("openhands", "--as openhands"), ("files", "--as files"),
                            ("braces", "--as braces")):
            self.assertRegex(self.terse("doctor", name).out.decode(),
                             "^ok       %s: " % name + SEEN % (", started as terse agent " + start) + "\n$")
        self.assertFalse(os.path.exists(self.in_home(".bash_history")))
        run = self.terse("doctor", "mine")
        self.assertEqual(run.code, 1, "its first template is no command that a shell takes")
        self.assertRegex(run.out, b"^PROBLEM  mine: seq 5000 run its way is not previewed: ")
        self.assertEqual(self.terse("doctor", "none").out, b"-        none: how it runs commands is not known\n")
        run = self.terse("doctor", "nosuch", split=True)
        self.assertEqual((run.code, run.out, run.err), (
            125, b"", b"terse doctor: nosuch: no such agent (terse config --agents lists them)\n"))

    def test_a_shell_that_is_typed_into(self):
        """A line in front of what its start-up file has; in which no terminal of a person's changes."""
        for shell, name in [("bash", ".bashrc")] + [("zsh", ".zshrc")] * bool(shutil.which("zsh")):
            self.assertEqual(self.terse("doctor", shell).out, b"-        %s: %s, not wired: terse init %s\n" % (
                shell.encode(), shutil.which(shell, path="/usr/bin:/bin").encode(), shell.encode()))
            for before in ("# mine\nHISTFILE=~/history SAVEHIST=9\n", "no end", None):
                path = before and self.put(name, before)
                self.init(shell)
                line, rest = read_file(self.in_home(name)).split(b"\n", 1)
                self.assertEqual((rest, line.count(TERSE.encode())), ((before or "").encode(), 2), line)
                self.assertFalse(os.path.exists(LAUNCHER), "nothing names it")
                self.assertIn(b"needs no change", self.init(shell).out)
                self.assertRegex(self.terse("doctor", shell).out.decode(), "^ok       %s: " % shell + SEEN % "" + "\n$")
                self.assertFalse(os.path.exists(self.in_home("history")), "no history of the user's is written")
                self.assertNotIn(shell, [s.split()[0] for s in self.terse("init").out.decode().splitlines()])
                self.init(shell, "--undo")
                self.assertEqual(read_file(path).decode() if path else os.path.exists(self.in_home(name)), before or False)
                if path:
                    os.unlink(path)
        run = self.init("bash", "--project", code=1)
        self.assertEqual(run.err, b"terse init: bash: it has no file of a project's\n")

    def test_half_a_wiring(self):
        self.init("opencode")
        plugin = self.in_home("config/opencode/plugins/terse.js")
        os.unlink(plugin)
        self.assertIn("PROBLEM  opencode: %s: wired to other paths, or not all of it: terse init opencode" % plugin,
                      self.lines_of(self.terse("doctor"), "opencode"))

    def test_what_is_wrong(self):
        self.put(".claude/settings.json", "{\n1}")
        self.put(".pi/agent/settings.json", '{"shellPath": "/gone/terse-sh"}')
        write_file(os.path.join(self.work, "codex"), "", 0o755)
        run = self.terse("doctor", env={"PATH": self.work})
        self.assertEqual(run.code, 1)
        self.assertIn(b"PROBLEM  claude: %s:2: a key in double quotes" %
                      self.in_home(".claude/settings.json").encode(), run.out)
        self.assertIn(b"wired to other paths, or not all of it: terse init pi", run.out)
        self.assertIn(b"codex: %s/codex, not wired: terse init codex" % self.work.encode(), run.out)

    def test_wired_is_said_of_what_was_seen(self):
        path = self.put(".pi/agent/settings.json", "{}")
        self.init("pi")
        self.assertIn("-        pi: %s names terse; no run through it was seen" % path,
                      self.lines_of(self.terse("doctor"), "pi"))
        os.symlink("/bin/bash", os.path.join(self.work, "pi"))
        self.run_to_end("./pi", "-c", "export PI_CODING_AGENT=true; %s -c 'echo hello' </dev/null; exit $?" % TERSE_SH)
        self.assertRegex("\n".join(self.lines_of(self.terse("doctor"), "pi")),
                         r"ok       pi: wired: %s; the last run through it: \S+ \S+ ago, in %s\n" % (path, self.work))
        # It is eight days later.
        for folder, _, names in os.walk(self.store):
            for name in (n for n in names if n.startswith("journal")):
                later = re.sub(rb'("(?:end|start)TimeUnixNano":)(\d+)', lambda m: m[1] + b"%d" % (int(m[2]) - 8 * 86400 * 10**9),
                               read_file(os.path.join(folder, name)))
                write_file(os.path.join(folder, name), later)
        self.assertRegex("\n".join(self.lines_of(self.terse("doctor", "pi"), "pi")),
                         r"-        pi: wired, and not used for a week: %s; the last run through it: 8 d ago, in" % path)

    def test_a_project_that_takes_the_wiring_away(self):
        """Its files go before those of the user."""
        self.init("claude")
        tried = "ok       claude: " + SEEN % ""
        self.assertRegex("\n".join(self.lines_of(self.terse("doctor"), "claude")), tried)
        for name in ("settings.json", "settings.local.json"):
            os.makedirs(os.path.join(self.work, ".claude"))
            path = write_file(os.path.join(self.work, ".claude", name),
                              '{"env": {\n"CLAUDE_CODE_SHELL_PREFIX": ""}}')
            run = self.terse("doctor")
            lines = self.lines_of(run, "claude")
            self.assertIn('PROBLEM  claude: %s:2: "CLAUDE_CODE_SHELL_PREFIX" is "" already; terse would be: "%s"'
                          % (path, TERSE_SH), lines)
            self.assertEqual((run.code, bool(re.search(tried, "\n".join(lines)))), (1, False), lines)
            shutil.rmtree(os.path.join(self.work, ".claude"))

    def test_a_wiring_that_does_not_work(self):
        """The user's own rules keep terse from a command."""
        self.init("pi")
        self.put("config/terse/terse.ini", "[shim]\npass =\n\t*\n")
        run = self.terse("doctor")
        self.assertEqual(run.code, 1)
        self.assertIn(b"PROBLEM  pi: seq 5000 run its way is not previewed: 1\n", run.out)


if __name__ == "__main__":
    main()
