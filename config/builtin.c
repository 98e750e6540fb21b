// The built-in profiles; terse config --profiles shows them in ini syntax.
//
// They are a table, so that choosing one parses nothing. Their limits follow the agents' own tools:
// pi reads 2,000 lines, and shows 100 matches of at most 500 characters, 1,000 found files and 500
// entries of a directory.

#include "config/profile.h"

#define KB             ((int64_t)1 << 10)
#define MB             ((int64_t)1 << 20)
#define PROFILE(name)  LAYER_SECTION(name)
#define MATCH(pattern) LAYER_ITEM(PROFILES_MATCH, pattern)
#define SET(field, is) LAYER_SET(field, is)

static const struct layer_entry entries[] = {
	PROFILE("read"),
	MATCH("cat|tac|head|tail|nl|rev|fold|fmt|pr|column|expand|unexpand"),
	MATCH("sed|awk|gawk|mawk|nawk|cut|paste|join|tr|sort|uniq|comm|shuf"),
	MATCH("bat|batcat|less|more|most|zcat|zless|zmore|bzcat|xzcat|zstdcat|lz4cat"),
	MATCH("jq|yq|xq|gron|xmllint|od|xxd|hexdump|hd|strings"),
	MATCH("diff|sdiff|diff3|colordiff|cmp"),
	MATCH("ps|pstree|lsof|printenv|man|info|getent"),
	MATCH("git diff|show|blame|annotate|cat-file"),
	MATCH("git stash show"),
	MATCH("gh pr diff"),
	MATCH("grep|egrep|fgrep|zgrep|rgrep|rg|ag|ack|ugrep "
	      "-A|-B|-C|--after-context|--before-context|--context"),
	MATCH("git grep -A|-B|-C|--after-context|--before-context|--context"),
	MATCH("find -exec|-execdir|-ok|-okdir"),
	MATCH("fd|fdfind -x|-X|--exec|--exec-batch"),
	SET(pty, TRI_NO),
	SET(size, 30 * KB),
	SET(max_lines, 2000),
	SET(max_line, 1 * MB),
	SET(err_size, 4 * KB),
	SET(mode, MODE_HEAD),
	PROFILE("search"),
	MATCH("grep|egrep|fgrep|zgrep|rgrep|rg|ag|ack|ugrep"),
	MATCH("git grep"),
	SET(pty, TRI_NO),
	SET(size, 30 * KB),
	SET(max_lines, 100),
	SET(unit, UNIT_MATCHES),
	SET(longest_line, 500),
	SET(max_line, 500),
	SET(err_size, 4 * KB),
	SET(mode, MODE_HEAD),
	PROFILE("find"),
	MATCH("find|fd|fdfind|locate|plocate|mlocate"),
	MATCH("git ls-files|ls-tree"),
	MATCH("grep|egrep|fgrep|zgrep|rgrep|ag|ack|ugrep "
	      "-l|-L|-c|--files-with-matches|--files-without-match|--count"),
	MATCH("rg "
	      "-l|-c|--files|--files-with-matches|--files-without-match|--count|--count-matches"),
	MATCH("git grep -l|-L|-c|--files-with-matches|--files-without-match|--name-only|--count"),
	SET(pty, TRI_NO),
	SET(size, 30 * KB),
	SET(max_lines, 1000),
	SET(unit, UNIT_RESULTS),
	SET(err_size, 4 * KB),
	SET(mode, MODE_HEAD),
	PROFILE("list"),
	MATCH("ls|dir|vdir|exa|eza|lsd|tree|du"),
	MATCH("tar -t|--list"),
	MATCH("unzip -l"),
	SET(pty, TRI_NO),
	SET(size, 30 * KB),
	SET(max_lines, 500),
	SET(unit, UNIT_ENTRIES),
	SET(err_size, 4 * KB),
	SET(mode, MODE_HEAD),
	PROFILE("log"),
	MATCH("git log|reflog|shortlog"),
	MATCH("journalctl|dmesg"),
	MATCH("docker|podman|nerdctl|docker-compose|podman-compose|kubectl|oc|pm2 logs"),
	MATCH("docker|podman|nerdctl compose logs"),
	MATCH("gh run view --log|--log-failed"),
	SET(pty, TRI_NO),
	SET(size, 10 * KB),
	SET(mode, MODE_ENDS),
	PROFILE("service"),
	MATCH("nohup|setsid|daemonize|start-stop-daemon"),
	SET(pty, TRI_NO),
	PROFILE("terse"),
	MATCH("terse read|search|list|show|path|history|snapshot|config|doctor|help|version"),
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
	MATCH("grep|egrep|fgrep|zgrep|rgrep|rg|ag|ack|ugrep -q|--quiet|--silent"),
	MATCH("git grep -q|--quiet"),
	MATCH("diff -q|--brief"),
	MATCH("command -v|-V"),
};

const struct layer profiles_builtin = {
	.by = ORIGIN_BUILT_IN,
	.entries = (struct layer_entry *)entries,
	.count = sizeof(entries) / sizeof(*entries),
};
