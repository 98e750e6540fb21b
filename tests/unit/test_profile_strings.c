// Shell strings as agents write them, each with the profiles of the commands that
// count in it: one name, or several with + between them (mixed).

#include "config/profile.h"
#include "tests/unit/unit.h"

struct sample {
	const char *string, *profiles;
};

static void check(const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct option_error error = {""};
		struct profile_choice choice;
		struct settings s;
		char names[256] = "";
		size_t len = 0;
		assert_int_equal(settings_init(&s), 0);
		assert_int_equal(profile_choose(&s, NULL, samples[i].string, &choice, &error), 0);
		assert_true(choice.count >= 1);
		for (size_t j = 0; j < choice.count; j++)
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						j ? "+" : "", choice.names[j]);
		if (strcmp(names, samples[i].profiles) != 0)
			fail_msg("%s\nis %s, not %s", samples[i].string, names,
				 samples[i].profiles);
		settings_release(&s);
	}
}

#define CHECK(samples) check(samples, sizeof(samples) / sizeof(*(samples)))

TEST(single_commands)
{
	static const struct sample samples[] = {
		{"npm test", "build"},
		{"make -j8", "build"},
		{"cargo build --release", "build"},
		{"pytest -x tests/", "pytest"},
		{"./run.sh --all", "default"},
		{"python3 manage.py migrate", "build"},
		{"docker build -t app .", "redraws"},
		{"git status", "default"},
		{"git push origin HEAD", "build"},
		{"curl -sS https://example.com/api", "fetch"},
		{"cat src/main.c", "read"},
		{"/usr/bin/cat /etc/passwd", "read"},
		{"head -n 100 README.md", "read"},
		{"tail -n +200 server.log", "read"},
		{"sed -n '120,180p' src/app.ts", "read"},
		{"awk '{print $1; print \"a|b\"}' data.tsv", "read"},
		{"jq '.dependencies | keys[]' package.json", "read"},
		{"nl -ba config/option.c", "read"},
		{"bat --plain src/lib.rs", "read"},
		{"ps aux", "read"},
		{"git diff", "read"},
		{"git diff --stat HEAD~3", "read"},
		{"git --no-pager diff --cached", "read"},
		{"git -C ../other show HEAD:file.c", "read"},
		{"git -c color.ui=never blame -L 10,20 f.c", "read"},
		{"git stash show -p", "read"},
		{"gh pr diff 42", "read"},
		{"gh -R owner/repo pr diff 42", "read"},
		{"grep -rn 'TODO' src", "search"},
		{"grep -rn \"foo\\|bar\" --include='*.py' .", "search"},
		{"rg -n 'fn main' --glob '*.rs'", "search"},
		{"ag pattern lib/", "search"},
		{"git grep -n settings_load", "search"},
		{"egrep '^(a|b)' x", "search"},
		{"grep -n -A 30 'def main' app.py", "read"},
		{"grep -rnC3 error logs/", "read"},
		{"rg --context=5 panic", "read"},
		{"rg -B2 -A10 'class Foo' src", "read"},
		{"grep -rl deprecated .", "find"},
		{"grep -c error app.log", "find"},
		{"rg --files src", "find"},
		{"rg -l TODO", "find"},
		{"find . -name '*.c' -not -path './build/*'", "find"},
		{"find . -maxdepth 2 -type d", "find"},
		{"fd -e ts src", "find"},
		{"locate libssl", "find"},
		{"git ls-files '*.h'", "find"},
		{"find . -name '*.c' -exec grep -l main {} +", "read"},
		{"find . -type f -delete", "find"},
		{"ls", "list"},
		{"ls -la /etc", "list"},
		{"ls -R /usr/include", "list"},
		{"tree -L 2", "list"},
		{"du -sh *", "list"},
		{"tar -tzf dist.tar.gz", "list"},
		{"tar -xzf dist.tar.gz", "default"},
		{"git log --oneline -20", "history"},
		{"git --no-pager log -p -2", "read"},
		{"git reflog", "history"},
		{"journalctl -u nginx --no-pager", "log"},
		{"docker logs web", "log"},
		{"docker -H tcp://host logs web", "log"},
		{"docker compose logs --tail=100 api", "log"},
		{"docker compose -f dev.yml logs api", "log"},
		{"kubectl -n prod logs deploy/api", "log"},
		{"kubectl logs -f pod/x", "log"},
		{"gh run view 123 --log-failed", "log"},
		{"gh run view 123", "show"},
		{"dmesg", "log"},
		{"nohup ./server", "service"},
		{"setsid ./daemon --port 80", "service"},
		{"terse read cmd-1m5zq8k3x7f --offset 31", "terse"},
		{"terse search last 'error|fail' -C 3", "terse"},
		{"terse list", "terse"},
		{"terse npm test", "build"},
		{"terse cat file", "read"},
		{"terse 'cd x && grep -rn foo .'", "search"},
		{"terse -c 'cat a | head'", "read"},
		{"cd /tmp", "quiet"},
		{"mkdir -p a/b", "quiet"},
		{"echo done", "quiet"},
		{"sed -i 's/a/b/' f.c", "quiet"},
		{"sed -i.bak -e 's/a/b/' f.c", "quiet"},
		{"sed -ni '1p' f.c", "quiet"},
		{"perl -pi -e 's/a/b/' f.c", "quiet"},
		{"grep -q foo bar", "quiet"},
		{"which node", "quiet"},
	};
	CHECK(samples);
}

TEST(silent_parts_do_not_count)
{
	static const struct sample samples[] = {
		{"cd /usr && grep -rn include include", "search"},
		{"cd x && make 2>&1 | tail -50", "read"},
		{"cd app; npm run build", "build"},
		{"cd /repo && git log --oneline | head -5", "read"},
		{"cd /repo && git add -A && git diff --cached", "read"},
		{"set -euo pipefail; cat a.txt", "read"},
		{"export NODE_ENV=test && npm test", "build"},
		{"export A=1 B=2; ls -la", "list"},
		{"source venv/bin/activate && pytest -q", "pytest"},
		{". ./env.sh; cat x", "read"},
		{"mkdir -p out && cp a out/ && ls out", "list"},
		{"rm -rf build; mkdir build; cd build; cmake ..", "build"},
		{"sleep 2; cat server.log", "read"},
		{"FOO=bar; cat $FOO", "read"},
		{"x=$(ls | wc -l); echo $x", "quiet"},
		{"files=$(git ls-files); cat $files", "read"},
		{"[ -f a ] && cat a", "read"},
		{"[[ -n \"$X\" && -f a ]] && cat a", "read"},
		{"test -d src && ls src", "list"},
		{"which rg && rg foo", "search"},
		{"command -v node >/dev/null && ls", "list"},
		{"echo '--- a'; cat a; echo '--- b'; cat b", "read"},
		{"cat a && echo && cat b", "read"},
		{"printf 'x\\n'; head -5 a", "read"},
		{"pwd; ls", "list"},
		{"date; git log -3", "history"},
		{"cat missing 2>/dev/null || echo none", "read"},
		{"grep -q foo a && cat a", "read"},
		{"grep foo a || true", "search"},
		{"find . -name x | wc -l", "quiet"},
		{"wc -l src/*.c; cat src/a.c", "read"},
		{"kill %1; cat log", "read"},
		{"cd a; # comment with 'quote\ncat b", "read"},
		{"true # cat x | grep y", "quiet"},
		{"umask 022; touch a; chmod +x a", "quiet"},
		{"git checkout -b fix && git log -1", "history"},
		{"read -r x < f; ls", "list"},
		{"((i++)); cat f", "read"},
		{"let i=1; cat f", "read"},
		{"npm test; echo \"exit: $?\"", "build"},
		{"make; echo $?", "build"},
		{"cd \"$(git rev-parse --show-toplevel)\" && cat README.md", "read"},
		{"trap 'rm -f t' EXIT; cat t", "read"},
		{"alias ll='ls -l'; cat x", "read"},
	};
	CHECK(samples);
}

TEST(the_last_member_of_a_pipeline_counts)
{
	static const struct sample samples[] = {
		{"npm test 2>&1 | tail -40", "read"},
		{"npm test 2>&1 | grep -E 'FAIL|✕'", "search"},
		{"ps aux | grep node | grep -v grep", "search"},
		{"cat a | sort | uniq -c | sort -rn | head", "read"},
		{"git log | cat", "history"},
		{"git diff | cat", "read"},
		{"npm test | cat", "build"},
		{"npm test 2>&1 | tee test.log", "build"},
		{"npm test 2>&1 | tee test.log | tail -20", "read"},
		{"grep -rn foo . | tee out.txt", "search"},
		{"make |& tee build.log | grep -i error", "search"},
		{"git log --stat | less", "history"},
		{"git log | less -R", "history"},
		{"cat a b | cat -n", "read"},
		{"cat a | tee b > c", "read"},
		{"find . -type f | xargs grep -n foo", "search"},
		{"find . -name '*.py' -print0 | xargs -0 -n 50 grep -Hn import", "search"},
		{"git ls-files | xargs wc -l", "quiet"},
		{"git ls-files | xargs -I{} sh -c 'head -1 {}'", "read"},
		{"ls | xargs", "default"},
		{"find . -name '*.ts' | head -20", "read"},
		{"ls -t | head -1 | xargs cat", "read"},
		{"docker ps | awk '{print $1}'", "read"},
		{"curl -s url | jq .", "read"},
		{"curl -s url | python3 -m json.tool", "read"},
		{"echo '{\"a\":1}' | jq .a", "read"},
		{"yes | apt-get install foo", "build"},
		{"a | b || c", "default"},
		{"grep foo x | head -5 || ls", "read+list"},
		{"cat list | while read -r f; do cat \"$f\"; done", "read"},
		{"seq 10 | while read i; do echo $i; done | grep 5", "search"},
		{"(cd a && make) 2>&1 | tail -30", "read"},
		{"{ make; make test; } 2>&1 | tail -30", "read"},
		{"make \\\n  2>&1 \\\n  | tail -5", "read"},
		{"make |\n# filter\ntail -5", "read"},
		{"! grep foo bar | head", "read"},
		{"terse read last | head -50", "read"},
		{"time make 2>&1 | tail -3", "read"},
		{"diff <(sort a) <(sort b) | head", "read"},
		{"comm -12 <(ls a) <(ls b)", "read"},
	};
	CHECK(samples);
}

TEST(what_goes_elsewhere_does_not_count)
{
	static const struct sample samples[] = {
		{"make > build.log 2>&1; tail -20 build.log", "read"},
		{"make &> build.log; grep -n error build.log", "search"},
		{"npm ci >/dev/null && ls node_modules", "list"},
		{"npm ci 1>/dev/null && ls node_modules", "list"},
		{"npm ci > /dev/stderr && ls node_modules", "build+list"},
		{"npm ci >&2; ls", "build+list"},
		{"npm ci 2>/dev/null; ls", "build+list"},
		{"npm ci >&-; ls", "list"},
		{"cat > a.py << 'EOF'\nprint(\"it's | a $(test\")\nEOF\npython3 a.py", "script"},
		{"cat <<EOF > conf\na=1\nEOF\ncat conf", "read"},
		{"cat <<-EOF >> conf\n\ta\n\tEOF\nls", "list"},
		{"tee f <<'EOF' >/dev/null\nx\nEOF\nls", "list"},
		{"cat > x <<A; cat > y <<B; ls\na\nA\nb\nB", "list"},
		{"python3 - <<'PY'\nimport os\nprint(os.listdir('.'))\nPY", "script"},
		{"python3 <<'PY' | head -5\nprint('x')\nPY", "read"},
		{"cat <<\"E O F\" > f\nx\nE O F\nls", "list"},
		{"cat <<\\EOF > f\n'\nEOF\nls", "list"},
		{"cat <<EOF\nno end", "read"},
		{"grep foo <<< \"$text\"", "search"},
		{"sort < in > out && cat out", "read"},
		{"nohup ./server > s.log 2>&1 &\nsleep 1\ncat s.log", "read"},
		{"nohup ./server > s.log 2>&1 &", "service"},
		{"./server & sleep 1; curl -s localhost", "default+fetch"},
		{"./server &\ncat log", "default+read"},
		{"nohup ./server &\nnpm test", "service+build"},
		{"git commit -q -m 'x' > /dev/null; git log -1", "history"},
		{"for f in a b; do cat $f; done > all; ls", "list"},
		{"if make; then ls; fi > log 2>&1; cat log", "read"},
		{"(make; make test) > log 2>&1 || tail log", "read"},
		{"make 3>&1 1>&2 2>&3 | cat", "build"},
		{"exec 3>log; cat x", "default+read"},
		{"make > >(tee log) 2>&1", "build"},
		{"cat x > /dev/tty", "read"},
	};
	CHECK(samples);
}

TEST(several_printing_parts_are_mixed)
{
	static const struct sample samples[] = {
		{"npm test; cat report.txt", "build+read"},
		{"ls; cat a", "list+read"},
		{"ls -la && cat a && grep -n x b", "list+read+search"},
		{"git status && git diff", "default+read"},
		{"git status; git log --oneline -5", "default+history"},
		{"git add -A && git commit -m 'x' && git log -1", "default+history"},
		{"cat a\nls b", "read+list"},
		{"find . -name a; ls", "find+list"},
		{"make && ./a.out", "build+default"},
		{"npm run lint && npm test && npm run build", "build"},
		{"cat a; cat b; cat c", "read"},
		{"grep a x; grep b y", "search"},
		{"$CMD x; cat a", "default+read"},
		{"test -f a && cat a || ls", "read+list"},
		{"ls a 2>/dev/null || find . -name a", "list+find"},
	};
	CHECK(samples);
}

TEST(loops_and_conditions)
{
	static const struct sample samples[] = {
		{"for f in *.c; do echo \"== $f\"; head -5 \"$f\"; done", "read"},
		{"for f in a b c\ndo\n  cat $f\ndone", "read"},
		{"for i in $(seq 1 5); do grep -n $i f; done", "search"},
		{"for ((i = 0; i < 3; i++)); do cat f$i; done", "read"},
		{"for d in */; do (cd \"$d\" && git log -1); done", "history"},
		{"while read -r l; do echo \"$l\"; done < f", "quiet"},
		{"while ! curl -s localhost >/dev/null; do sleep 1; done; cat log", "read"},
		{"until [ -f done ]; do sleep 1; done; ls", "list"},
		{"if [ -f a ]; then cat a; else echo no; fi", "read"},
		{"if grep -q x a; then cat a; elif [ -d b ]; then ls b; fi", "read+list"},
		{"if ! make; then tail log; fi", "build+read"},
		{"case $1 in a) cat a ;; b|c) cat b ;; *) echo no ;; esac", "read"},
		{"case \"$x\" in (a) ls ;& (b) cat b ;; esac", "list+read"},
		{"case x in\n  # comment )\n  x) grep a b\nesac", "search"},
		{"select x in a b; do cat $x; done", "read"},
		{"f() { cat \"$1\"; }; f a", "default"},
		{"f () ( ls ); cat x", "read"},
		{"{ cat a; cat b; }", "read"},
		{"( cat a )", "read"},
		{"time (cat a; cat b)", "read"},
		{"time { ls; }", "list"},
		{"for f in *; do [ -d $f ] || continue; ls $f; done", "list"},
		{"for x in 1 2; do for y in 3 4; do cat $x$y; done; done", "read"},
		{"for f in a; do case $f in a) cat a;; esac; done", "read"},
		{"while :; do ls; break; done", "list"},
	};
	CHECK(samples);
}

TEST(programs_in_front)
{
	static const struct sample samples[] = {
		{"sudo cat /var/log/syslog", "read"},
		{"sudo -u postgres psql -c 'select 1'", "show"},
		{"sudo -E -u www grep -rn x /etc", "search"},
		{"sudo FOO=1 cat x", "read"},
		{"sudo -n journalctl -u x", "log"},
		{"env cat x", "read"},
		{"env -i PATH=/bin A=b ls", "list"},
		{"env -u HOME grep x y", "search"},
		{"LC_ALL=C grep -n x y", "search"},
		{"A=1 B='x y' C+=z cat f", "read"},
		{"arr[0]=x cat f", "read"},
		{"a=(1 2 'b c') ls", "list"},
		{"CI=1 npm test", "build"},
		{"time grep -rn foo .", "search"},
		{"/usr/bin/time -f %e cat x", "read"},
		{"nice -n 10 find / -name x", "find"},
		{"nice -10 cat x", "read"},
		{"ionice -c3 du -sh /", "list"},
		{"timeout 60 npm test", "build"},
		{"timeout 10 cat fifo", "read"},
		{"timeout -s KILL -k 5 30s tail -f log", "read"},
		{"timeout --signal=KILL 5 git log", "history"},
		{"stdbuf -oL tail -f x", "read"},
		{"stdbuf -o L grep x y", "search"},
		{"command cat x", "read"},
		{"command ls -la", "list"},
		{"\\cat x", "read"},
		{"\\ls", "list"},
		{"'grep' x y", "search"},
		{"\"cat\" x", "read"},
		{"c\"a\"t x", "read"},
		{"exec cat x", "read"},
		{"sudo env A=1 timeout 5 nice cat x", "read"},
		{"sudo -- cat x", "read"},
		{"sudo nohup ./server", "service"},
		{"timeout 5 sudo", "default"},
		{"bash -c 'cat a'", "read"},
		{"bash -lc \"cd x && grep -rn foo .\"", "search"},
		{"sh -c 'npm test 2>&1 | tail -5'", "read"},
		{"bash -euo pipefail -c 'cd x; ls'", "list"},
		{"bash -c -l 'cat a'", "read"},
		{"sudo bash -c 'cat /etc/shadow'", "read"},
		{"bash -c \"bash -c 'ls'\"", "list"},
		{"bash script.sh", "script"},
		{"bash", "default"},
		{"eval 'cat a'", "read"},
		{"eval \"$cmd\"", "default"},
		{"source snap && eval 'grep -rn x .' < /dev/null && pwd -P >| /tmp/cwd", "search"},
		{"busybox ls", "list"},
		{"xargs -a files cat", "read"},
	};
	CHECK(samples);
}

TEST(unclear_strings_have_the_default)
{
	static const struct sample samples[] = {
		{"", "default"},
		{"   \n\t", "default"},
		{"# only a comment", "default"},
		{"A=1", "default"},
		{"> out", "default"},
		{"$CMD file", "default"},
		{"\"$CMD\" file", "default"},
		{"$(which cat) file", "default"},
		{"`which cat` file", "default"},
		{"${CAT:-cat} file", "default"},
		{"$HOME/bin/grep -n x y", "search"},
		{"\"$VENV\"/bin/cat x", "read"},
		{"cat 'unterminated", "default"},
		{"cat \"unterminated", "default"},
		{"cat $(unterminated", "default"},
		{"cat `unterminated", "default"},
		{"cat ${unterminated", "default"},
		{"(cat a", "default"},
		{"cat a)", "default"},
		{"{ cat a", "default"},
		{"if cat a; then ls", "default"},
		{"for f in a; do cat $f", "default"},
		{"cat a | | ls", "default"},
		{"| cat a", "default"},
		{"cat a &&& ls", "default"},
		{"cat a |", "default"},
		{"done", "default"},
		{"cat a; fi", "default"},
		{"case x in a) cat a", "default"},
		{"cat a > ", "default"},
		{"[[ -f x", "default"},
		{"fn main() { println!(\"hi\"); }", "default"},
		{"alias", "quiet"},
		{"ssh host 'cat x'", "default"},
		{"watch ls", "default"},
	};
	CHECK(samples);
}

TEST(quoting_does_not_mislead)
{
	static const struct sample samples[] = {
		{"echo 'cat a | grep b'", "quiet"},
		{"echo \"a; cat b\"; ls", "list"},
		{"git commit -m 'fix: cat | grep; ls'", "default"},
		{"git commit -m \"$(cat <<'EOF'\nit's (a | message) `here` $( \"x\n\nEOF\n)\" && "
		 "git "
		 "log -1",
		 "default+history"},
		{"grep -n \"it's\" a", "search"},
		{"grep -n 'a\"b' c | head", "read"},
		{"grep -n a\\'b c", "search"},
		{"grep \"a\\\"b|c\" d", "search"},
		{"grep $'a\\'b' c", "search"},
		{"echo \"$(ls | head)\"", "quiet"},
		{"echo $(cat <<EOF\n)\nEOF\n); ls", "list"},
		{"cat \"$(git ls-files | head -1)\"", "read"},
		{"cat ${f%.*}.c", "read"},
		{"cat \"${a:-\"b c\"}\"", "read"},
		{"cat $((1 + (2 * 3)))", "read"},
		{"cat `ls \\`pwd\\` | head -1`", "read"},
		{"cat a#b; ls c", "read+list"},
		{"cat a\\;b", "read"},
		{"cat a\\\n b", "read"},
		{"ca\\\nt a", "read"},
		{"rm !(a|b); ls @(x|y)*", "list"},
		{"ls *.{c,h}", "list"},
		{"ls {a,b}/{c,d}", "list"},
		{"cat a;ls", "read+list"},
		{"cat a&&cat b", "read"},
		{"cat a|grep b", "search"},
		{"cat<a", "read"},
		{"ls>a;cat a", "read"},
		{"awk 'BEGIN { while ((\"ls\" | getline l) > 0) print l }'", "read"},
		{"node -e \"console.log(1); process.exit()\"", "script"},
		{"python3 -c 'import sys; print(1)' | head", "read"},
		{"[[ $a =~ ^(x|y)$ ]] && cat b", "read"},
		{"[[ $a == *\"(\"* ]] && cat b", "read"},
		{"cat a\r\nls b\r\n", "read+list"},
	};
	CHECK(samples);
}

TEST_MAIN(NULL, NULL)
