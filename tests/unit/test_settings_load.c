// Ini files into settings: what is taken, what is refused and in which words,
// and that a refused file leaves nothing behind.

#include "lib/buffer.h"
#include "tests/unit/configured.h"

#define TEN          "0123456789"
#define HUNDRED      TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define FIFTY        TEN TEN TEN TEN TEN
#define FIVE_HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
#define TEXT(string) string, sizeof(string) - 1

static void load(struct settings *s, const char *text, size_t len)
{
	struct option_error error = {""};
	if (settings_load_text(s, ORIGIN_USER, "t.ini", text, len, &error) < 0)
		fail_msg("%s", error.text);
}

TEST(takes_all_forms)
{
	struct settings s = start();
	load(&s, TEXT("\xEF\xBB\xBF# a comment\r\n"
		      "  ; another\r\n"
		      "\r\n"
		      "[report] ; comment\r\n"
		      "size=8KB\r\n"
		      "max_lines :\t7 ; comment\r\n"
		      "[terminal]#comment\r\n"
		      "   cols   =   100   \r\n"
		      "[environment]\r\n"
		      "set = A=1\r\n"
		      "\tB=2 ; comment\r\n"
		      "# comment\r\n"
		      "\r\n"
		      "    C=a=b;c\r\n"
		      "unset =\r\n"
		      "  X\r\n"
		      "[report]\r\n"
		      "heartbeat = off\r\n"));
	assert_int_equal(s.size, 8192);
	assert_int_equal(s.max_lines, 7);
	assert_int_equal(s.heartbeat, 0);
	assert_int_equal(s.cols, 100);
	assert_int_equal(s.env_set.count, 3);
	assert_string_equal(s.env_set.items[0], "A=1");
	assert_string_equal(s.env_set.items[1], "B=2");
	assert_string_equal(s.env_set.items[2], "C=a=b;c");
	assert_null(s.env_set.items[3]);
	assert_int_equal(s.env_unset.count, 1);
	assert_string_equal(s.env_unset.items[0], "X");
	settings_release(&s);
}

TEST(takes_an_end_without_newline)
{
	struct settings s = start();
	load(&s, TEXT("[report]\nsize = 1KB"));
	assert_int_equal(s.size, 1024);
	load(&s, "", 0);
	load(&s, TEXT("\n\n\n"));
	load(&s, TEXT("\xEF\xBB\xBF"));
	load(&s, TEXT("\r\n \t\n;\n#"));
	assert_int_equal(s.size, 1024);
	settings_release(&s);
}

TEST(takes_the_longest_line)
{
	struct settings s = start();
	/* Comments may be longer; blanks at a line's end do not count. */
	load(&s, TEXT("# " FIVE_HUNDRED "\n"
		      "[environment]\n"
		      "set = A=" HUNDRED FIFTY TEN TEN TEN TEN "           \r\n"
		      " B=" HUNDRED FIFTY TEN TEN TEN TEN "01234\n"));
	assert_int_equal(s.env_set.count, 2);
	assert_int_equal(strlen(s.env_set.items[0]), 192);
	assert_int_equal(strlen(s.env_set.items[1]), 197);
	settings_release(&s);
}

TEST(empty_values_empty)
{
	struct settings s = start();
	load(&s, TEXT("[session]\nname = a\n[environment]\nset =\nkeep = A\n  B\n"));
	assert_string_equal(s.session, "a");
	assert_int_equal(s.env_set.count, 0);
	assert_null(s.env_set.items);
	assert_int_equal(s.env_keep.count, 2);
	load(&s, TEXT("[session]\nname =\n[environment]\nkeep =\n"));
	assert_null(s.session);
	assert_int_equal(s.env_keep.count, 0);
	settings_release(&s);
}

TEST(later_files_and_lines_win_key_by_key)
{
	struct settings s = start();
	load(&s, TEXT("[report]\nsize = 1KB\nmax_lines = 9\n[session]\nname = one\n"));
	load(&s, TEXT("[report]\nsize = 1MB\nsize = 2KB\n[session]\nname = two\n"));
	assert_int_equal(s.size, 2048);
	assert_int_equal(s.max_lines, 9);
	assert_string_equal(s.session, "two");
	assert_int_equal(s.env_set.count, 6);
	settings_release(&s);
}

TEST(a_long_list_is_kept)
{
	struct settings s = start();
	char *text = malloc(100000);
	size_t len;
	assert_non_null(text);
	len = (size_t)snprintf(text, 100000, "[environment]\nset =\n");
	for (int i = 0; i < 5000; i++)
		len += (size_t)snprintf(text + len, 100000 - len, " A%d=%d\n", i, i);
	load(&s, text, len);
	assert_int_equal(s.env_set.count, 5000);
	assert_string_equal(s.env_set.items[4999], "A4999=4999");
	assert_null(s.env_set.items[5000]);
	free(text);
	settings_release(&s);
}

/* One kind of mistake each. */
static const struct {
	const char *text;
	size_t len;
	const char *message;
} malformed[] = {
	{TEXT("[report]\nsize = 4XB\n"),
	 "t.ini:2: [report] size: 4XB: not a size (like 4096, 4KB or 1000tok)"},
	{TEXT("\n\n[report]\nsise = 4KB\n"),
	 "t.ini:4: [report] sise: no such key (did you mean size?)"},
	{TEXT("[report]\nfrobnicate = 4KB\n"), "t.ini:2: [report] frobnicate: no such key"},
	{TEXT("[run]\nsize = 4KB\n"),
	 "t.ini:2: [run] size: no such key (did you mean [report] size?)"},
	{TEXT("[reprot]\nsize = 4KB\n"),
	 "t.ini:1: [reprot]: no such section (did you mean report?)"},
	{TEXT("# c\n[xyzzy]\n"), "t.ini:2: [xyzzy]: no such section"},
	{TEXT("[]\nsize = 4KB\n"), "t.ini:1: []: no such section"},
	{TEXT("[ report ]\n"), "t.ini:1: [ report ]: no such section (did you mean report?)"},
	{TEXT("size = 4KB\n"), "t.ini:1: size: a key before the first [section]"},
	{TEXT("[terminal]\r\ncols = 1\r\n"),
	 "t.ini:2: [terminal] cols: 1: out of range (2 to 1000)"},
	{TEXT("[terminal]\ncols = 99999999999999999999\n"),
	 "t.ini:2: [terminal] cols: 99999999999999999999: out of range (2 to 1000)"},
	{TEXT("[terminal]\ncols = wide\n"), "t.ini:2: [terminal] cols: wide: not a whole number"},
	{TEXT("[terminal]\ncols =\n"), "t.ini:2: [terminal] cols: not a whole number"},
	{TEXT("[run]\ntimeout = soon\n"),
	 "t.ini:2: [run] timeout: soon: not a duration (like 500ms, 2s, 5m or 1h)"},
	{TEXT("[run]\ngrace = off\n"), "t.ini:2: [run] grace: off: out of range (1ms to 1h)"},
	{TEXT("[run]\ntimeout = 999d\n"),
	 "t.ini:2: [run] timeout: 999d: out of range (up to 365d, or off)"},
	{TEXT("[preview]\nmode = clever\n"),
	 "t.ini:2: [preview] mode: clever: not smart, head, tail or ends"},
	{TEXT("[run]\npty = maybe\n"), "t.ini:2: [run] pty: maybe: not auto, yes or no"},
	{TEXT("[run]\ndetach = auto\n"), "t.ini:2: [run] detach: auto: not yes or no"},
	{TEXT("[report\nsize = 4KB\n"),
	 "t.ini:1: [report: a section is [NAME] on a line of its own"},
	{TEXT("[report ; ]x\n"), "t.ini:1: [report ; ]x: a section is [NAME] on a line of its own"},
	{TEXT("[report] size = 4KB\n"),
	 "t.ini:1: [report] size = 4KB: a section is [NAME] on a line of its own"},
	{TEXT("[report]\rsize = 4KB\r"),
	 "t.ini:1: [report]\\rsize = 4KB: a section is [NAME] on a line of its own"},
	{TEXT("[" FIFTY "]\n"), "t.ini:1: [" FIFTY "]: no such section"},
	{TEXT("[report]\nsize\n"), "t.ini:2: size: neither [section] nor key = value"},
	{TEXT("[report]\nsize 4KB"), "t.ini:2: size 4KB: neither [section] nor key = value"},
	{TEXT("[report]\nsize ; = 4KB\nmax_lines = 1\n"),
	 "t.ini:2: size ; = 4KB: neither [section] nor key = value"},
	{TEXT("[report]\n= 4KB\n"), "t.ini:2: = 4KB: neither [section] nor key = value"},
	{TEXT("[report]\n" FIFTY " = 4KB\n"), "t.ini:2: [report] " FIFTY ": no such key"},
	{TEXT("[report]\nsize = 4KB\n  max_lines = 5\n"),
	 "t.ini:3: [report] size: max_lines = 5: an indented line adds to a list, and this takes "
	 "one value"},
	{TEXT("[report]\nsize = 4KB\n [run]\n"),
	 "t.ini:3: [report] size: [run]: an indented line adds to a list, and this takes one "
	 "value"},
	{TEXT("[environment]\nset = A=1\n  unset = X\n"),
	 "t.ini:3: [environment] set: unset = X: not NAME=VALUE"},
	{TEXT("[environment]\nset = PAGER\n"), "t.ini:2: [environment] set: PAGER: not NAME=VALUE"},
	{TEXT("[environment]\nset = =x\n"), "t.ini:2: [environment] set: =x: not NAME=VALUE"},
	{TEXT("[environment]\nunset =\n  A\n  B=1\n"),
	 "t.ini:4: [environment] unset: B=1: not the name of a variable"},
	{TEXT("[environment]\nset = A=" HUNDRED FIFTY TEN TEN TEN TEN "0"), /* 199 bytes */
	 "t.ini:2: set = A=" FIFTY
	 "01...: a line has at most 198 bytes; more values go on indented "
	 "lines below"},
	{TEXT("[environment]\nset = A=" HUNDRED HUNDRED "\n"),
	 "t.ini:2: set = A=" FIFTY "01...: a line has at "
	 "most 198 bytes; more values go on indented lines below"},
	{TEXT("[environment]\nset =\n A=" HUNDRED HUNDRED "\n"),
	 "t.ini:3: A=" FIFTY "01234567...: a line has at "
	 "most 198 bytes; more values go on indented lines below"},
	{TEXT("[session]\nname = " HUNDRED "x\n"),
	 "t.ini:2: [session] name: " FIFTY TEN "...: longer than 100 bytes"},
	{TEXT("[report]\nsize = 4\0KB\n"), "t.ini:2: size = 4: a NUL byte; is this a text file?"},
	{TEXT("\xFF\xFE[\0r\0e\0"), "t.ini:1: \\xff\\xfe[: a NUL byte; is this a text file?"},
	{TEXT("[report]\nsize = 4KB # small\n"),
	 "t.ini:2: [report] size: 4KB # small: not a size (like 4096, 4KB or 1000tok)"},
	{TEXT("[report]\nsize = \"4KB\"\n"),
	 "t.ini:2: [report] size: \"4KB\": not a size (like 4096, 4KB or 1000tok)"},
	{TEXT("[report]\nsize = \x1B[31m\xC2\x9B\xFF\n"),
	 "t.ini:2: [report] size: \\x1b[31m\\u009b\\xff: not a size (like 4096, "
	 "4KB or 1000tok)"},
	{TEXT("[report]\n\xEF\xBB\xBFsize = 4KB\n"), "t.ini:2: [report] \\ufeffsize: no such key"},
	{TEXT("{\"report\": {\"size\": \"4KB\"}}\n"),
	 "t.ini:1: {\"report\": a key before the first [section]"},
	/* Sections with a name. */
	{TEXT("[profile]\n"), "t.ini:1: [profile]: a name is 1 to 40 letters, digits, _ . or -"},
	{TEXT("[profile a b]\n"),
	 "t.ini:1: [profile a b]: a name is 1 to 40 letters, digits, _ . or -"},
	{TEXT("[profile ]\n"), "t.ini:1: [profile ]: a name is 1 to 40 letters, digits, _ . or -"},
	{TEXT("[profile a]\nsize = 1\n"),
	 "t.ini:2: [profile a] size: 1: out of range (64 to 16MB)"},
	{TEXT("[profile a]\nsise = 1KB\n"),
	 "t.ini:2: [profile a] sise: no such key of a profile (did you mean size?)"},
	{TEXT("[profile a]\nmacth = b\n"),
	 "t.ini:2: [profile a] macth: no such key of a profile (did you mean match?)"},
	{TEXT("[profile a]\nshell = /bin/sh\n"),
	 "t.ini:2: [profile a] shell: no such key of a profile"},
	{TEXT("[profile a]\nmatch = -x\n"),
	 "t.ini:2: [profile a] match: -x: a pattern starts with the name of a program"},
	{TEXT("[profile a]\nmatch =\n  b\n  /bin/c d\n"),
	 "t.ini:4: [profile a] match: /bin/c d: a program's name has no /"},
	{TEXT("[profile a]\nmatch = b||c\n"),
	 "t.ini:2: [profile a] match: b||c: an alternative is empty"},
	{TEXT("[profile a]\nmatch = b |c\n"),
	 "t.ini:2: [profile a] match: b |c: an alternative is empty"},
	{TEXT("[profile a]\nmatch = b\nsize = 1KB\n  c\n"),
	 "t.ini:4: [profile a] size: c: an indented line adds to a list, and this takes one value"},
	{TEXT("[profile a]\npatterns =\n  lost lock\n  a*b\n"),
	 "t.ini:4: [profile a] patterns: a*b: needs 4 characters in a row that are not *"},
	{TEXT("[preview]\nignore = abc\n"),
	 "t.ini:2: [preview] ignore: abc: needs 4 characters in a row that are not *"},
	{TEXT("[profile a]\nset = A=1\n"), "t.ini:2: [profile a] set: no such key of a profile"},
	{TEXT("[run]\nprofile = a b\n"),
	 "t.ini:2: [run] profile: a b: a name is 1 to 40 letters, digits, _ . or -"},
	{TEXT("[agent a b]\n"),
	 "t.ini:1: [agent a b]: a name is 1 to 40 letters, digits, _ . or -"},
	{TEXT("[agent a]\nstring = \\x\n"),
	 "t.ini:2: [agent a] string: \\x: a backslash needs n, * or a backslash behind it"},
	{TEXT("[agent a]\nstring =\n  {word} {command}\n"),
	 "t.ini:3: [agent a] string: {word} {command}: only one {command} or {word} is allowed"},
	{TEXT("[agent a]\nenvironment = A B\n"),
	 "t.ini:2: [agent a] environment: A B: not the name of a variable"},
	{TEXT("[agent a]\nstrin = x\n"),
	 "t.ini:2: [agent a] strin: no such key of an agent (did you mean string?)"},
	{TEXT("[agent a]\nceiling = 1\n"),
	 "t.ini:2: [agent a] ceiling: 1: out of range (512 to 16MB, or 0)"},
	{TEXT("[shim]\npass = \\\n"),
	 "t.ini:2: [shim] pass: \\: a backslash needs n, * or a backslash behind it"},
};

/* Each also behind lines that are good: none of them may have an effect. */
TEST(refuses_malformed_files)
{
	static const char good[] =
		"[run]\nlinger_idle = 1h\n[shim]\nshell = /bin/dash\n[environment]\n"
		"keep = TERM\n";
	for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
		struct option_error error = {""};
		struct settings s = start();
		const struct settings before = s;
		char text[2048];
		size_t len = sizeof(good) - 1;
		errno = 0;
		assert_int_equal(settings_load_text(&s, ORIGIN_USER, "t.ini", malformed[i].text,
						    malformed[i].len, &error),
				 -1);
		assert_int_equal(errno, EINVAL);
		assert_string_equal(error.text, malformed[i].message);
		assert_memory_equal(&s, &before, sizeof(s));

		memcpy(text, good, len);
		memcpy(text + len, malformed[i].text, malformed[i].len);
		settings_load_text(&s, ORIGIN_USER, "t.ini", text, len + malformed[i].len, &error);
		assert_memory_equal(&s, &before, sizeof(s));
		settings_release(&s);
	}
}

TEST(names_no_more_than_a_line_can_show)
{
	struct option_error error = {""};
	struct settings s = start();
	char path[5000];
	memset(path, 'p', sizeof(path));
	memcpy(path + sizeof(path) - 6, "/\n.ini", 6);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(settings_load_text(&s, ORIGIN_USER, path,
					    TEXT("[environment]\n"
						 "kepe" FIFTY " = \xC3\xA4\xC3\xA4\n"),
					    &error),
			 -1);
	assert_null(strpbrk(error.text, "\n"));
	assert_memory_equal(error.text, "...ppp", 6);
	assert_true(strlen(error.text) < 300);
	assert_non_null(strstr(error.text, "no such key"));
	settings_release(&s);
	/* A name is cut between characters, whatever it has of them, and keeps its end. */
	s = start();
	for (size_t i = 0; i + 3 < sizeof(path); i += 3)
		memcpy(path + i, "\xE6\x97\xA5", 3);
	strcpy(path + 4800, "/\n.ini");
	assert_int_equal(settings_load_text(&s, ORIGIN_USER, path, TEXT("x\n"), &error), -1);
	assert_memory_equal(error.text, "...\xE6\x97\xA5", 6);
	assert_non_null(strstr(error.text, "/\\n.ini:1: x: "));
	settings_release(&s);
}

static int load_file(struct settings *s, const char *path, struct option_error *error)
{
	struct buffer text = BUFFER_INIT;
	int result = settings_read_file(ORIGIN_USER, path, &text, error);
	if (result == 0)
		result = settings_load_text(s, ORIGIN_USER, path, text.data, text.len, error);
	buffer_release(&text);
	return result;
}

/* A file in a directory of its own. */
struct place {
	char dir[64], path[96];
};

static struct place make_place(void)
{
	struct place p = {.dir = "/tmp/terse-test-XXXXXX"};
	assert_non_null(mkdtemp(p.dir));
	snprintf(p.path, sizeof(p.path), "%s/t.ini", p.dir);
	return p;
}

static void remove_place(const struct place *p)
{
	unlink(p->path);
	assert_int_equal(rmdir(p->dir), 0);
}

static void write_bytes(const char *path, const char *text, size_t len)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

TEST(reads_files)
{
	struct option_error error = {""};
	struct place p = make_place();
	struct settings s = start();
	char expected[160];
	assert_int_equal(load_file(&s, p.path, &error), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(load_file(&s, p.dir, &error), -1);
	assert_int_equal(errno, EISDIR);
	assert_string_equal(error.text, "");

	write_bytes(p.path, TEXT("[report]\nsize = 1KB\n"));
	assert_int_equal(load_file(&s, p.path, &error), 0);
	assert_int_equal(s.size, 1024);

	write_bytes(p.path, TEXT("[report]\nsize = 1KB\n\nsize\n"));
	assert_int_equal(load_file(&s, p.path, &error), -1);
	assert_int_equal(errno, EINVAL);
	snprintf(expected, sizeof(expected), "%s:4: size: neither [section] nor key = value",
		 p.path);
	assert_string_equal(error.text, expected);
	settings_release(&s);
	remove_place(&p);
}

/* A large file that is all comment except its last line, up to the limit and over it. */
TEST(bounds_files)
{
	static const char last[] = "\n[report]\nsize = 1KB\n";
	const size_t limit = (size_t)1 << 20;
	struct option_error error = {""};
	struct place p = make_place();
	struct settings s = start();
	char *text = malloc(limit + 1), expected[160];
	assert_non_null(text);
	memset(text, '#', limit + 1);
	memcpy(text + limit - (sizeof(last) - 1), last, sizeof(last) - 1);
	text[limit] = '\n';
	write_bytes(p.path, text, limit);
	assert_int_equal(load_file(&s, p.path, &error), 0);
	assert_int_equal(s.size, 1024);
	write_bytes(p.path, text, limit + 1);
	assert_int_equal(load_file(&s, p.path, &error), -1);
	assert_int_equal(errno, EINVAL);
	snprintf(expected, sizeof(expected), "%s: larger than 1 MB", p.path);
	assert_string_equal(error.text, expected);
	assert_int_equal(load_file(&s, "/dev/zero", &error), -1);
	assert_int_equal(errno, EINVAL);
	free(text);
	settings_release(&s);
	remove_place(&p);
}

/* Neither for a writer, nor for what that writes. */
TEST(does_not_wait_for_a_fifo)
{
	struct option_error error = {""};
	struct place p = make_place();
	struct settings s = start();
	assert_int_equal(mkfifo(p.path, 0600), 0);
	alarm(60);
	assert_int_equal(load_file(&s, p.path, &error), 0);
	int writer = open(p.path, O_RDWR | O_CLOEXEC);
	assert_int_equal(load_file(&s, p.path, &error), -1);
	assert_int_equal(errno, EAGAIN);
	close(writer);
	alarm(0);
	settings_release(&s);
	remove_place(&p);
}

TEST_MAIN(NULL, NULL)
