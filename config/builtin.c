// The built-in profiles; terse config --profiles shows them in ini syntax.
//
// A table needs no parsing at run time. Among equally exact patterns the last one wins, so special
// profiles follow general ones.
//
// The limits come from agents and from recorded sessions. pi reads 2,000 lines of a file, and shows
// 1,000 found files and 500 entries of a directory. Codex shows 10 KB of any command; that would
// have held 98.9 % of the output that agents later used. 10 KB of search matches are about 130
// lines of 80 bytes, or 300 of 35. A script prints what its author wants to see, but at any length:
// it gets 8 KB, twice as much as a build. 16 KB hold most tables and descriptions in full; the
// start of a longer dump (dpkg -l, objdump -d) seldom has what the agent looks for.

#include "config/pattern.h"
#include "config/profile.h"
#include "config/value.h"

#define KB             ((int64_t)1 << 10)
#define MB             ((int64_t)1 << 20)
#define PROFILE(name)  SECTION_BEGIN(name)
#define MATCH(pattern) SECTION_ITEM(PROFILES_MATCH, pattern)
#define SET(field, is) SECTION_SET(field, is)

/* For commands that are run for their output: its start counts most, and it is the same on a
   pipe. */
#define FROM_START(bytes) \
	SET(pty, TRI_NO), SET(size, (bytes)), SET(err_size, 4 * KB), SET(mode, MODE_HEAD)

#define PYTHON "python|python2|python3|python3.*|pypy|pypy3"
#define GREP   "grep|egrep|fgrep|zgrep|rgrep|rg|ag|ack|ugrep"
#define DOCKER "docker|podman|nerdctl"

static const struct section_entry entries[] = {
	/* One-off scripts print what their author wants to see. */
	PROFILE("script"),
	MATCH(PYTHON "|*.py"),
	MATCH("node|nodejs|tsx|ts-node"),
	MATCH("bun -e|-p|--eval|--print"),
	MATCH("bun|deno *.js|*.mjs|*.ts"),
	MATCH("deno eval"),
	MATCH("deno|bun run *.js|*.mjs|*.ts"),
	MATCH("ruby|perl|lua|Rscript|julia|elixir -e|-E"),
	MATCH("ruby *.rb"),
	MATCH("perl *.pl"),
	MATCH("php -r"),
	MATCH("php *.php"),
	MATCH("bash|sh|zsh|dash|ksh *.sh|*.bash|*.zsh"),
	MATCH("go run"),
	SET(size, 8 * KB),
	SET(failure_size, 6 * KB),
	/* Builds, tests and installs print similar lines as they progress. */
	PROFILE("build"),
	MATCH("make|gmake|cmake|ctest|cpack|ninja|samu|meson|scons|bazel|bazelisk|buck2|just|task|"
	      "rake|waf"),
	MATCH("ant|mvn|mvnw|gradle|gradlew|sbt|mill|lein|xcodebuild|msbuild|dotnet|swift|zig|nix|"
	      "nix-build"),
	MATCH("gcc|g++|cc|c++|clang|clang++|rustc|javac|kotlinc|scalac|swiftc|ghc|cargo|mix|"
	      "rebar3|dune"),
	MATCH("go build|test|vet|install|get|mod|generate"),
	MATCH("npm|pnpm|yarn|bun|npx|bunx|corepack|lerna|nx|turbo|rush|gulp|grunt|ng|webpack|vite|"
	      "rollup"),
	MATCH("next|nuxt|astro|esbuild|parcel|babel|eslint|prettier|stylelint|biome|deno"),
	MATCH("pip|pip3|pipx|uv|poetry|pdm|hatch|conda|mamba|micromamba|tox|nox|pre-commit|bundle|"
	      "bundler"),
	MATCH("gem|composer|cabal|stack|opam|vcpkg|conan|luarocks|cpan|cpanm|brew|port|mypy|pylint|"
	      "flake8"),
	MATCH("apt|apt-get|aptitude|dpkg|dnf|yum|zypper|apk|pacman|rpm|snap|flatpak|emerge|"
	      "debuild"),
	MATCH("mocha|ava|tap|karma|cypress|playwright|rspec|phpunit|pest|behat|cucumber|bats|prove|"
	      "gotestsum"),
	MATCH("terraform|tofu|pulumi|ansible-playbook|helm|packer|vagrant|autoreconf|configure|"
	      "rsync|scp|wget"),
	MATCH("git clone|fetch|pull|push|submodule|lfs|gc"),
	MATCH("*test*|*build*|*install*|*setup*|*deploy*"),
	/* The same commands match patterns of other profiles, such as "script". These patterns win,
	   since they have more words or come later. */
	MATCH("setup.py|manage.py|*test*.py"),
	MATCH("curl -o|-O|--output|--remote-name"),
	MATCH(PYTHON " -m"),
	MATCH(PYTHON " setup.py|manage.py|*/setup.py|*/manage.py|*test*.py"),
	MATCH("node|nodejs|bun|deno|tsx|ts-node *test*|*spec*|*node_modules*"),
	MATCH("node|nodejs|tsx|bun --test|--watch|--run"),
	MATCH("bash|sh|zsh|dash|ksh *test*.sh|*build*.sh|*install*.sh"),
	SET(fold, FOLD_ALWAYS),
	PROFILE("read"),
	MATCH("cat|tac|head|tail|nl|rev|fold|fmt|pr|column|expand|unexpand"),
	MATCH("sed|awk|gawk|mawk|nawk|cut|paste|join|tr|sort|uniq|comm|shuf"),
	MATCH("perl -n|-p"),
	MATCH("bat|batcat|less|more|most|zcat|zless|zmore|bzcat|xzcat|zstdcat|lz4cat"),
	MATCH("jq|yq|xq|gron|xmllint|od|xxd|hexdump|hd|strings"),
	MATCH("python|python3 -m json.tool"),
	MATCH("diff|sdiff|diff3|colordiff|cmp"),
	MATCH("ps|pstree|lsof|getent"),
	MATCH("man|info|tldr|pydoc|pydoc3|perldoc|ri"),
	MATCH("go doc|help"),
	MATCH("git diff|show|blame|annotate|cat-file"),
	MATCH("git log|reflog -p|-u|-L|--patch"),
	MATCH("git stash show"),
	MATCH("gh pr diff"),
	MATCH("glab mr diff"),
	MATCH(GREP " -A|-B|-C|--after-context|--before-context|--context"),
	MATCH("git grep -A|-B|-C|--after-context|--before-context|--context"),
	MATCH("find -exec|-execdir|-ok|-okdir"),
	MATCH("fd|fdfind -x|-X|--exec|--exec-batch"),
	FROM_START(30 * KB),
	SET(max_lines, 2000),
	SET(max_line, 1 * MB),
	/* Descriptions of the things that a tool manages. */
	PROFILE("show"),
	MATCH("gh api|issue"),
	MATCH("gh pr view|checks|list|status"),
	MATCH("gh run|release|repo|workflow|gist view|list"),
	MATCH("glab api|issue"),
	MATCH("glab mr view|list"),
	MATCH("kubectl|oc get|describe|explain|top|api-resources"),
	MATCH(DOCKER " inspect|ps|images|history|info"),
	MATCH(DOCKER " container|image|volume|network|context inspect|ls|list"),
	MATCH("systemctl status|show|cat|list-*"),
	MATCH("top -b|--batch"),
	MATCH("sqlite3|duckdb"),
	MATCH("psql -c|-f|-l|--command|--file|--list"),
	MATCH("mysql|mariadb -e|--execute"),
	MATCH("env|printenv"),
	MATCH("go list|env"),
	MATCH("pip|pip3 list|freeze|show|config"),
	MATCH("python|python3 -m pip list|freeze|show"),
	MATCH("uv pip list|freeze|show"),
	MATCH("npm|pnpm|yarn ls|list|view|info|show"),
	MATCH("cargo tree"),
	MATCH("dpkg -l|-L|--list|--listfiles"),
	MATCH("dpkg-query"),
	MATCH("apt-cache show|showpkg|depends|rdepends|policy|search|pkgnames"),
	MATCH("apt show|policy|list|search"),
	MATCH("brew list|info"),
	MATCH("readelf|objdump|otool|nm"),
	FROM_START(16 * KB),
	/* These draw a progress meter if standard output is a pipe, so they get a terminal. */
	PROFILE("fetch"),
	MATCH("curl|http|https|xh"),
	MATCH("wget -*O-|--output-document=-"),
	MATCH("wget -O -"),
	SET(size, 10 * KB),
	SET(err_size, 4 * KB),
	SET(mode, MODE_HEAD),
	PROFILE("search"),
	MATCH(GREP),
	MATCH("git grep"),
	FROM_START(10 * KB),
	SET(max_lines, 300),
	SET(unit, UNIT_MATCHES),
	/* A path is useless if it is cut. */
	PROFILE("find"),
	MATCH("find|fd|fdfind|locate|plocate|mlocate"),
	MATCH("git ls-files|ls-tree"),
	MATCH("grep|egrep|fgrep|zgrep|rgrep|ag|ack|ugrep "
	      "-l|-L|-c|--files-with-matches|--files-without-match|--count"),
	MATCH("rg "
	      "-l|-c|--files|--files-with-matches|--files-without-match|--count|--count-matches"),
	MATCH("git grep -l|-L|-c|--files-with-matches|--files-without-match|--name-only|--count"),
	FROM_START(30 * KB),
	SET(max_lines, 1000),
	SET(unit, UNIT_RESULTS),
	SET(max_line, 1 * MB),
	PROFILE("list"),
	MATCH("ls|dir|vdir|exa|eza|lsd|tree|du"),
	MATCH("tar -t|--list"),
	MATCH("unzip -l"),
	FROM_START(30 * KB),
	SET(max_lines, 500),
	SET(unit, UNIT_ENTRIES),
	SET(max_line, 1 * MB),
	/* The newest entry comes first. */
	PROFILE("history"),
	MATCH("git log|reflog|shortlog|whatchanged|rev-list"),
	MATCH("git stash list"),
	MATCH("hg|svn|jj log"),
	FROM_START(10 * KB),
	/* The newest entry comes last. */
	PROFILE("log"),
	MATCH("journalctl|dmesg"),
	MATCH(DOCKER "|docker-compose|podman-compose|kubectl|oc|pm2 logs"),
	MATCH(DOCKER " compose logs"),
	MATCH("gh run view --log|--log-failed"),
	SET(pty, TRI_NO),
	SET(size, 10 * KB),
	SET(mode, MODE_ENDS),
	/* On a terminal, tsc quotes the source at each error, and jest draws what it soon
	   erases. */
	PROFILE("plain"),
	MATCH("jest|tsc"),
	MATCH("npx|bunx|pnpm|yarn jest|tsc"),
	SET(pty, TRI_NO),
	SET(fold, FOLD_ALWAYS),
	/* These print plain lines at first, and soon redraw them. */
	PROFILE("redraws"),
	MATCH(DOCKER "|docker-compose|podman-compose|buildctl"),
	MATCH("vitest|ink"),
	MATCH("npx|bunx|pnpm|yarn vitest"),
	SET(settle, 400),
	SET(fold, FOLD_ALWAYS),
	/* The separators that pytest draws say nothing, and are as wide as the terminal. */
	PROFILE("pytest"),
	MATCH("pytest|pytest-3|py.test"),
	MATCH(PYTHON " -m pytest"),
	MATCH("coverage|uv run pytest"),
	SET(cols, 80),
	SET(fold, FOLD_ALWAYS),
	PROFILE("service"),
	MATCH("nohup|setsid|daemonize|start-stop-daemon"),
	SET(pty, TRI_NO),
	PROFILE(PROFILE_TERSE),
	MATCH("terse " PROFILE_TERSE_VERBS),
	MATCH("terse --yield|--detach|--tty"),
	SET(pty, TRI_NO),
	SET(size, 16 * MB),
	SET(max_lines, 0),
	SET(max_line, 1 * MB),
	SET(mode, MODE_HEAD),
	PROFILE("quiet"),
	MATCH("cd|pushd|popd|export|set|unset|shopt|alias|unalias|source|.|umask|ulimit|trap|wait|"
	      "kill|pkill"),
	MATCH("sleep|true|false|:|test|[|[[|read|shift|local|declare|typeset|readonly|let|return|"
	      "exit"),
	MATCH("break|continue|hash|mkdir|rmdir|rm|cp|mv|ln|touch|chmod|chown|chgrp|mktemp|"
	      "truncate"),
	MATCH("echo|printf|pwd|date|whoami|id|hostname|uname|which|type|basename|dirname|realpath|"
	      "readlink"),
	MATCH("wc|nproc|clear"),
	MATCH("git add|checkout|switch|restore|config|rev-parse|init|rm|mv|remote"),
	MATCH("sed -i|--in-place"),
	MATCH("perl -i"),
	MATCH(GREP " -q|--quiet|--silent"),
	MATCH("git grep -q|--quiet"),
	MATCH("diff -q|--brief"),
	MATCH("command -v|-V"),
};

static const struct option keys[] = {
	{SECTION_LIST(PROFILES_MATCH, pattern_refuse), .project_least = PROJECT_ANY},
	{SECTION_LIST("patterns", phrase_refuse), .project_least = PROJECT_ANY},
	{SECTION_LIST("ignore", phrase_refuse)},
	{.key = NULL},
};

const struct section_form profiles_form = {
	.word = "profile",
	.what = "a profile",
	.keys = keys,
	.adds = true,
	.in_project = true,
	.builtin = entries,
	.builtin_count = sizeof(entries) / sizeof(*entries),
	.offset = offsetof(struct settings, profiles),
};
