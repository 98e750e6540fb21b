// Shell strings as agents write them, by the profiles of the commands that count in them: one name,
// or several with + between them (mixed).

#include "config/profile.h"
#include "tests/unit/unit.h"

struct sample {
	const char *profiles, *strings[17];
};

static void check(const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (const char *const *string = samples[i].strings; *string; string++) {
			struct option_error error = {""};
			struct profile_choice choice;
			struct settings s;
			char names[256] = "";
			size_t len = 0;
			assert_int_equal(settings_init(&s), 0);
			assert_int_equal(profile_choose(&s, NULL, *string, &choice, &error), 0);
			assert_true(choice.count >= 1);
			for (size_t j = 0; j < choice.count; j++)
				len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
							j ? "+" : "", choice.names[j]);
			if (strcmp(names, samples[i].profiles) != 0)
				fail_msg("%s\nis %s, not %s", *string, names, samples[i].profiles);
			settings_release(&s);
		}
	}
}

#define CHECK(samples) check(samples, sizeof(samples) / sizeof(*(samples)))

TEST(single_commands)
{
	static const struct sample samples[] = {
		{"build",
		 {"npm test", "make -j8", "cargo build --release", "python3 manage.py migrate",
		  "git push origin HEAD", "terse npm test", "python -m build",
		  "python setup.py build", "python tests/run.py", "node --test",
		  "node node_modules/.bin/jest", "uv sync", "bash build.sh"}},
		{"build",
		 {"bash ./run_tests.sh", "sh -c 'make && make test'", "env A=1 make",
		  "curl -sSLo x u", "curl --output=x u", "wget u", "poetry install", "sudo make",
		  "go test ./...", "./gradlew assemble", "./run_tests.sh", "git clone u",
		  "cargo test"}},
		{"pytest",
		 {"pytest -x tests/", "pytest", "pytest-3 -v", "python -m pytest -q",
		  "uv run pytest", "uv run -m pytest", "poetry run pytest",
		  "coverage run -m pytest", "cd a && timeout 9 pytest"}},
		{"default",
		 {"./run.sh --all", "git status", "tar -xzf dist.tar.gz", "gh pr create", "file a",
		  "stat a", "./list"}},
		{"redraws",
		 {"docker build -t app .", "docker build .", "sudo docker compose up", "npx vitest",
		  "vitest run"}},
		{"fetch",
		 {"curl -sS https://example.com/api", "curl -s u", "wget -O- u", "wget -qO- u",
		  "wget -O - u", "wget -q -O - u"}},
		{"read",
		 {"cat src/main.c", "/usr/bin/cat /etc/passwd", "head -n 100 README.md",
		  "tail -n +200 server.log", "sed -n '120,180p' src/app.ts",
		  "awk '{print $1; print \"a|b\"}' data.tsv",
		  "jq '.dependencies | keys[]' package.json", "nl -ba config/option.c",
		  "bat --plain src/lib.rs", "ps aux", "git diff", "git diff --stat HEAD~3",
		  "git --no-pager diff --cached", "git -C ../other show HEAD:file.c",
		  "git -c color.ui=never blame -L 10,20 f.c"}},
		{"read",
		 {"git stash show -p", "gh pr diff 42", "gh -R owner/repo pr diff 42",
		  "grep -n -A 30 'def main' app.py", "grep -rnC3 error logs/",
		  "rg --context=5 panic", "rg -B2 -A10 'class Foo' src",
		  "find . -name '*.c' -exec grep -l main {} +", "git --no-pager log -p -2",
		  "terse cat file", "terse -c 'cat a | head'", "go doc fmt", "man ls", "git log -p",
		  "perl -pe s/a/b/ c", "gh pr diff"}},
		{"search",
		 {"grep -rn 'TODO' src", "grep -rn \"foo\\|bar\" --include='*.py' .",
		  "rg -n 'fn main' --glob '*.rs'", "ag pattern lib/", "git grep -n settings_load",
		  "egrep '^(a|b)' x", "terse 'cd x && grep -rn foo .'", "grep a b",
		  "find . | xargs grep a", "find . | sort | grep a", "cat a | grep b",
		  "make | grep a"}},
		{"find",
		 {"grep -rl deprecated .", "grep -c error app.log", "rg --files src", "rg -l TODO",
		  "find . -name '*.c' -not -path './build/*'", "find . -maxdepth 2 -type d",
		  "fd -e ts src", "locate libssl", "git ls-files '*.h'", "find . -type f -delete",
		  "find . | grep a", "find . | grep -v a | grep b", "git ls-files | rg a"}},
		{"list",
		 {"ls", "ls -la /etc", "ls -R /usr/include", "tree -L 2", "du -sh *",
		  "tar -tzf dist.tar.gz", "ls | grep a", "tar -tf a"}},
		{"history",
		 {"git log --oneline -20", "git reflog", "git log", "git -C a log --oneline",
		  "git stash list"}},
		{"log",
		 {"journalctl -u nginx --no-pager", "docker logs web",
		  "docker -H tcp://host logs web", "docker compose logs --tail=100 api",
		  "docker compose -f dev.yml logs api", "kubectl -n prod logs deploy/api",
		  "kubectl logs -f pod/x", "gh run view 123 --log-failed", "dmesg",
		  "journalctl -u a", "docker logs a", "kubectl logs a", "gh run view --log"}},
		{"show",
		 {"gh run view 123", "env", "sudo env", "printenv", "gh api a", "gh pr view 1",
		  "gh pr checks", "gh issue view 2", "gh run view 3", "kubectl -n a describe pod b",
		  "kubectl get pods -o yaml", "docker inspect a", "docker image inspect a",
		  "systemctl status a", "sqlite3 a 'select 1'", "psql -U a -c 'select 1'"}},
		{"show",
		 {"pip show a", "npm view a", "apt-cache show a", "readelf -a b", "objdump -d b",
		  "kubectl get pods", "docker ps -a", "pip list", "python3 -m pip list", "npm ls",
		  "dpkg -l", "dpkg -L a", "apt-cache search a", "nm -D a", "gh pr list",
		  "systemctl list-units"}},
		{"service", {"nohup ./server", "setsid ./daemon --port 80"}},
		{"terse",
		 {"terse read cmd-1m5zq8k3x7f --offset 31", "terse search last 'error|fail' -C 3",
		  "terse list"}},
		{"quiet",
		 {"cd /tmp", "mkdir -p a/b", "echo done", "sed -i 's/a/b/' f.c",
		  "sed -i.bak -e 's/a/b/' f.c", "sed -ni '1p' f.c", "perl -pi -e 's/a/b/' f.c",
		  "grep -q foo bar", "which node"}},
		{"script",
		 {"python -c 'print(1)'", "python3 - <<X\nX\n", "python3 <<X\nX\n",
		  "python3.12 x.py", "uv run x.py", "poetry run python x.py", "node -e 1",
		  "node x.mjs", "tsx x.ts", "bash x.sh", "sh -c 'bash x.sh'", "go run .",
		  "perl -e 1", "ruby x.rb", "deno run x.ts", "bun x.ts"}},
		{"plain", {"jest --ci", "npx jest", "tsc --noEmit", "pnpm tsc -b"}},
	};
	CHECK(samples);
}

TEST(silent_parts_do_not_count)
{
	static const struct sample samples[] = {
		{"search",
		 {"cd /usr && grep -rn include include", "which rg && rg foo",
		  "grep foo a || true"}},
		{"read",
		 {"cd x && make 2>&1 | tail -50", "cd /repo && git log --oneline | head -5",
		  "cd /repo && git add -A && git diff --cached", "set -euo pipefail; cat a.txt",
		  ". ./env.sh; cat x", "sleep 2; cat server.log", "FOO=bar; cat $FOO",
		  "files=$(git ls-files); cat $files", "[ -f a ] && cat a",
		  "[[ -n \"$X\" && -f a ]] && cat a", "echo '--- a'; cat a; echo '--- b'; cat b"}},
		{"read",
		 {"cat a && echo && cat b", "printf 'x\\n'; head -5 a",
		  "cat missing 2>/dev/null || echo none", "grep -q foo a && cat a",
		  "wc -l src/*.c; cat src/a.c", "kill %1; cat log",
		  "cd a; # comment with 'quote\ncat b", "((i++)); cat f", "let i=1; cat f",
		  "cd \"$(git rev-parse --show-toplevel)\" && cat README.md",
		  "trap 'rm -f t' EXIT; cat t", "alias ll='ls -l'; cat x"}},
		{"build",
		 {"cd app; npm run build", "export NODE_ENV=test && npm test",
		  "rm -rf build; mkdir build; cd build; cmake ..", "npm test; echo \"exit: $?\"",
		  "make; echo $?"}},
		{"list",
		 {"export A=1 B=2; ls -la", "mkdir -p out && cp a out/ && ls out",
		  "test -d src && ls src", "command -v node >/dev/null && ls", "pwd; ls",
		  "read -r x < f; ls"}},
		{"pytest", {"source venv/bin/activate && pytest -q"}},
		{"quiet",
		 {"x=$(ls | wc -l); echo $x", "find . -name x | wc -l", "true # cat x | grep y",
		  "umask 022; touch a; chmod +x a"}},
		{"history", {"date; git log -3", "git checkout -b fix && git log -1"}},
	};
	CHECK(samples);
}

TEST(the_last_member_of_a_pipeline_counts)
{
	static const struct sample samples[] = {
		{"read",
		 {"npm test 2>&1 | tail -40", "cat a | sort | uniq -c | sort -rn | head",
		  "git diff | cat", "npm test 2>&1 | tee test.log | tail -20", "cat a b | cat -n",
		  "cat a | tee b > c", "git ls-files | xargs -I{} sh -c 'head -1 {}'",
		  "find . -name '*.ts' | head -20", "ls -t | head -1 | xargs cat",
		  "docker ps | awk '{print $1}'", "curl -s url | jq ."}},
		{"read",
		 {"curl -s url | python3 -m json.tool", "echo '{\"a\":1}' | jq .a",
		  "cat list | while read -r f; do cat \"$f\"; done",
		  "(cd a && make) 2>&1 | tail -30", "{ make; make test; } 2>&1 | tail -30",
		  "make \\\n  2>&1 \\\n  | tail -5", "make |\n# filter\ntail -5",
		  "! grep foo bar | head", "terse read last | head -50", "time make 2>&1 | tail -3",
		  "diff <(sort a) <(sort b) | head", "comm -12 <(ls a) <(ls b)"}},
		{"search",
		 {"npm test 2>&1 | grep -E 'FAIL|✕'", "ps aux | grep node | grep -v grep",
		  "grep -rn foo . | tee out.txt", "make |& tee build.log | grep -i error",
		  "find . -type f | xargs grep -n foo",
		  "find . -name '*.py' -print0 | xargs -0 -n 50 grep -Hn import",
		  "seq 10 | while read i; do echo $i; done | grep 5"}},
		{"history", {"git log | cat", "git log --stat | less", "git log | less -R"}},
		{"build",
		 {"npm test | cat", "npm test 2>&1 | tee test.log", "yes | apt-get install foo"}},
		{"quiet", {"git ls-files | xargs wc -l"}},
		{"default", {"ls | xargs", "a | b || c"}},
		{"read+list", {"grep foo x | head -5 || ls"}},
	};
	CHECK(samples);
}

TEST(what_goes_elsewhere_does_not_count)
{
	static const struct sample samples[] = {
		{"read",
		 {"make > build.log 2>&1; tail -20 build.log",
		  "cat <<EOF > conf\na=1\nEOF\ncat conf",
		  "python3 <<'PY' | head -5\nprint('x')\nPY", "cat <<EOF\nno end",
		  "sort < in > out && cat out", "nohup ./server > s.log 2>&1 &\nsleep 1\ncat s.log",
		  "if make; then ls; fi > log 2>&1; cat log",
		  "(make; make test) > log 2>&1 || tail log", "cat x > /dev/tty"}},
		{"search",
		 {"make &> build.log; grep -n error build.log", "grep foo <<< \"$text\""}},
		{"list",
		 {"npm ci >/dev/null && ls node_modules", "npm ci 1>/dev/null && ls node_modules",
		  "npm ci >&-; ls", "cat <<-EOF >> conf\n\ta\n\tEOF\nls",
		  "tee f <<'EOF' >/dev/null\nx\nEOF\nls",
		  "cat > x <<A; cat > y <<B; ls\na\nA\nb\nB", "cat <<\"E O F\" > f\nx\nE O F\nls",
		  "cat <<\\EOF > f\n'\nEOF\nls", "for f in a b; do cat $f; done > all; ls"}},
		{"build+list",
		 {"npm ci > /dev/stderr && ls node_modules", "npm ci >&2; ls",
		  "npm ci 2>/dev/null; ls"}},
		{"script",
		 {"cat > a.py << 'EOF'\nprint(\"it's | a $(test\")\nEOF\npython3 a.py",
		  "python3 - <<'PY'\nimport os\nprint(os.listdir('.'))\nPY"}},
		{"service", {"nohup ./server > s.log 2>&1 &"}},
		{"default+fetch", {"./server & sleep 1; curl -s localhost"}},
		{"default+read", {"./server &\ncat log", "exec 3>log; cat x"}},
		{"service+build", {"nohup ./server &\nnpm test"}},
		{"history", {"git commit -q -m 'x' > /dev/null; git log -1"}},
		{"build", {"make 3>&1 1>&2 2>&3 | cat", "make > >(tee log) 2>&1"}},
	};
	CHECK(samples);
}

TEST(several_printing_parts_are_mixed)
{
	static const struct sample samples[] = {
		{"build+read", {"npm test; cat report.txt"}},
		{"list+read", {"ls; cat a"}},
		{"list+read+search", {"ls -la && cat a && grep -n x b"}},
		{"default+read", {"git status && git diff", "$CMD x; cat a"}},
		{"default+history",
		 {"git status; git log --oneline -5",
		  "git add -A && git commit -m 'x' && git log -1"}},
		{"read+list", {"cat a\nls b", "test -f a && cat a || ls"}},
		{"find+list", {"find . -name a; ls"}},
		{"build+default", {"make && ./a.out"}},
		{"build", {"npm run lint && npm test && npm run build"}},
		{"read", {"cat a; cat b; cat c"}},
		{"search", {"grep a x; grep b y"}},
		{"list+find", {"ls a 2>/dev/null || find . -name a"}},
	};
	CHECK(samples);
}

TEST(loops_and_conditions)
{
	static const struct sample samples[] = {
		{"read",
		 {"for f in *.c; do echo \"== $f\"; head -5 \"$f\"; done",
		  "for f in a b c\ndo\n  cat $f\ndone",
		  "for ((i = 0; i < 3; i++)); do cat f$i; done",
		  "while ! curl -s localhost >/dev/null; do sleep 1; done; cat log",
		  "if [ -f a ]; then cat a; else echo no; fi",
		  "case $1 in a) cat a ;; b|c) cat b ;; *) echo no ;; esac",
		  "select x in a b; do cat $x; done", "f () ( ls ); cat x", "{ cat a; cat b; }",
		  "( cat a )", "time (cat a; cat b)",
		  "for x in 1 2; do for y in 3 4; do cat $x$y; done; done",
		  "for f in a; do case $f in a) cat a;; esac; done"}},
		{"search",
		 {"for i in $(seq 1 5); do grep -n $i f; done",
		  "case x in\n  # comment )\n  x) grep a b\nesac"}},
		{"history", {"for d in */; do (cd \"$d\" && git log -1); done"}},
		{"quiet", {"while read -r l; do echo \"$l\"; done < f"}},
		{"list",
		 {"until [ -f done ]; do sleep 1; done; ls", "time { ls; }",
		  "for f in *; do [ -d $f ] || continue; ls $f; done",
		  "while :; do ls; break; done"}},
		{"read+list", {"if grep -q x a; then cat a; elif [ -d b ]; then ls b; fi"}},
		{"build+read", {"if ! make; then tail log; fi"}},
		{"list+read", {"case \"$x\" in (a) ls ;& (b) cat b ;; esac"}},
		{"default", {"f() { cat \"$1\"; }; f a"}},
	};
	CHECK(samples);
}

TEST(programs_in_front)
{
	static const struct sample samples[] = {
		{"read",
		 {"sudo cat /var/log/syslog", "sudo FOO=1 cat x", "env cat x",
		  "A=1 B='x y' C+=z cat f", "arr[0]=x cat f", "/usr/bin/time -f %e cat x",
		  "nice -10 cat x", "timeout 10 cat fifo", "timeout -s KILL -k 5 30s tail -f log",
		  "stdbuf -oL tail -f x", "command cat x"}},
		{"read",
		 {"\\cat x", "\"cat\" x", "c\"a\"t x", "exec cat x",
		  "sudo env A=1 timeout 5 nice cat x", "sudo -- cat x", "bash -c 'cat a'",
		  "sh -c 'npm test 2>&1 | tail -5'", "bash -c -l 'cat a'",
		  "sudo bash -c 'cat /etc/shadow'", "eval 'cat a'", "xargs -a files cat"}},
		{"show", {"sudo -u postgres psql -c 'select 1'"}},
		{"search",
		 {"sudo -E -u www grep -rn x /etc", "env -u HOME grep x y", "LC_ALL=C grep -n x y",
		  "time grep -rn foo .", "stdbuf -o L grep x y", "'grep' x y",
		  "bash -lc \"cd x && grep -rn foo .\"",
		  "source snap && eval 'grep -rn x .' < /dev/null && pwd -P >| /tmp/cwd"}},
		{"log", {"sudo -n journalctl -u x"}},
		{"list",
		 {"env -i PATH=/bin A=b ls", "a=(1 2 'b c') ls", "ionice -c3 du -sh /",
		  "command ls -la", "\\ls", "bash -euo pipefail -c 'cd x; ls'",
		  "bash -c \"bash -c 'ls'\"", "busybox ls"}},
		{"build", {"CI=1 npm test", "timeout 60 npm test"}},
		{"find", {"nice -n 10 find / -name x"}},
		{"history", {"timeout --signal=KILL 5 git log"}},
		{"service", {"sudo nohup ./server"}},
		{"default", {"timeout 5 sudo", "bash", "eval \"$cmd\""}},
		{"script", {"bash script.sh"}},
	};
	CHECK(samples);
}

TEST(unclear_strings_have_the_default)
{
	static const struct sample samples[] = {
		{"default",
		 {"", "   \n\t", "# only a comment", "A=1", "> out", "$CMD file", "\"$CMD\" file",
		  "$(which cat) file", "`which cat` file", "${CAT:-cat} file", "cat 'unterminated",
		  "cat \"unterminated", "cat $(unterminated", "cat `unterminated",
		  "cat ${unterminated", "(cat a"}},
		{"default",
		 {"cat a)", "{ cat a", "if cat a; then ls", "for f in a; do cat $f", "cat a | | ls",
		  "| cat a", "cat a &&& ls", "cat a |", "done", "cat a; fi", "case x in a) cat a",
		  "cat a > ", "[[ -f x", "fn main() { println!(\"hi\"); }", "ssh host 'cat x'",
		  "watch ls"}},
		{"search", {"$HOME/bin/grep -n x y"}},
		{"read", {"\"$VENV\"/bin/cat x"}},
		{"quiet", {"alias"}},
	};
	CHECK(samples);
}

TEST(quoting_does_not_mislead)
{
	static const struct sample samples[] = {
		{"quiet", {"echo 'cat a | grep b'", "echo \"$(ls | head)\""}},
		{"list",
		 {"echo \"a; cat b\"; ls", "echo $(cat <<EOF\n)\nEOF\n); ls",
		  "rm !(a|b); ls @(x|y)*", "ls *.{c,h}", "ls {a,b}/{c,d}"}},
		{"default", {"git commit -m 'fix: cat | grep; ls'"}},
		{"default+history",
		 {"git commit -m \"$(cat <<'EOF'\nit's (a | message) `here` $( \"x\n\nEOF\n)\" && "
		  "git log -1"}},
		{"search",
		 {"grep -n \"it's\" a", "grep -n a\\'b c", "grep \"a\\\"b|c\" d", "grep $'a\\'b' c",
		  "cat a|grep b"}},
		{"read",
		 {"grep -n 'a\"b' c | head", "cat \"$(git ls-files | head -1)\"", "cat ${f%.*}.c",
		  "cat \"${a:-\"b c\"}\"", "cat $((1 + (2 * 3)))", "cat `ls \\`pwd\\` | head -1`",
		  "cat a\\;b", "cat a\\\n b", "ca\\\nt a", "cat a&&cat b", "cat<a", "ls>a;cat a",
		  "awk 'BEGIN { while ((\"ls\" | getline l) > 0) print l }'",
		  "python3 -c 'import sys; print(1)' | head", "[[ $a =~ ^(x|y)$ ]] && cat b",
		  "[[ $a == *\"(\"* ]] && cat b"}},
		{"read+list", {"cat a#b; ls c", "cat a;ls", "cat a\r\nls b\r\n"}},
		{"script", {"node -e \"console.log(1); process.exit()\""}},
	};
	CHECK(samples);
}

TEST_MAIN(NULL, NULL)
