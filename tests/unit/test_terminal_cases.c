// The cases of tests/terminal/cases: see the README there.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"
#include "tests/unit/unit.h"

#include <dirent.h>

#define FOLDER "tests/terminal/cases"

/* How the streams are fed. */
struct way {
	const char *name;
	bool grid;   /* the append gear stays off */
	bool single; /* byte by byte */
};

/* The case that is being run. */
struct play {
	const struct way *way;
	const char *file;
	char name[200];
	struct terminal_options options;
	struct terminal *t;
	struct buffer text;
	struct buffer expected;
	struct buffer replies;
	struct buffer picture; /* the rows expected so far */
	bool has_picture;
	bool stays;     /* lines that begin with "error" do */
	bool pictured;  /* expected at the end */
	unsigned asked; /* which lines stay */
	unsigned count, failures;
};

static void keep_text(void *ctx, const char *data, size_t len)
{
	struct play *play = ctx;
	buffer_append(&play->text, data, len);
}

static void keep_reply(void *ctx, const char *data, size_t len)
{
	struct play *play = ctx;
	buffer_append(&play->replies, data, len);
}

/* Appends `text` with its escapes resolved. */
static void unescape(struct buffer *out, const char *text)
{
	static const char names[] = "ernbt\\ ";
	static const char values[] = "\033\r\n\b\t\\ ";
	for (const char *p = text; *p; p++) {
		const char *name = p[1] ? strchr(names, p[1]) : NULL;
		if (*p != '\\') {
			buffer_append(out, p, 1);
			continue;
		}
		p++;
		if (name) {
			buffer_append(out, &values[name - names], 1);
		} else if (*p == 'V') {
			buffer_append_string(out, TERSE_VERSION);
		} else if (*p == 'x' || *p == 'u') {
			const size_t digits = *p == 'x' ? 2 : 4;
			char hex[5] = "", bytes[4];
			memcpy(hex, p + 1, digits);
			uint32_t value = (uint32_t)strtoul(hex, NULL, 16);
			*bytes = (char)value;
			buffer_append(out, bytes, *p == 'x' ? 1 : utf8_put(value, bytes));
			p += digits;
		} else {
			fail_msg("unknown escape in: %s", text);
		}
	}
}

static void print_bytes(const char *label, const struct buffer *b)
{
	size_t i;
	fprintf(stderr, "  %s \"", label);
	for (i = 0; i < b->len; i++) {
		unsigned char c = (unsigned char)b->data[i];
		if (c == '\n')
			fprintf(stderr, "\\n");
		else if (c < 0x20 || c >= 0x7F)
			fprintf(stderr, "\\x%02x", c);
		else
			fputc(c, stderr);
	}
	fprintf(stderr, "\"\n");
}

static void compare(struct play *play, const char *what, const struct buffer *got,
		    const struct buffer *want)
{
	if (got->len == want->len && (!got->len || memcmp(got->data, want->data, got->len) == 0))
		return;
	play->failures++;
	fprintf(stderr, "%s: %s (%s): %s\n", play->file, play->name, play->way->name, what);
	print_bytes("got ", got);
	print_bytes("want", want);
}

static void compare_number(struct play *play, const char *what, uint64_t got, uint64_t want)
{
	if (got == want)
		return;
	play->failures++;
	fprintf(stderr, "%s: %s (%s): %s: got %ju, want %ju\n", play->file, play->name,
		play->way->name, what, (uintmax_t)got, (uintmax_t)want);
}

/* Ends a list of picture rows. */
static void check_picture(struct play *play)
{
	struct buffer got = BUFFER_INIT;
	if (!play->has_picture)
		return;
	play->has_picture = false;
	assert_int_equal(terminal_picture(play->t, &got, NULL, NULL), 0);
	/* Blank rows at the end need not be given. */
	while (got.len > 1 && got.data[got.len - 1] == '\n' && got.data[got.len - 2] == '\n')
		got.len--;
	while (play->picture.len > 1 && play->picture.data[play->picture.len - 1] == '\n' &&
	       play->picture.data[play->picture.len - 2] == '\n')
		play->picture.len--;
	compare(play, "picture", &got, &play->picture);
	buffer_clear(&play->picture);
	buffer_release(&got);
}

static bool line_stays(void *ctx, const char *line, size_t len)
{
	struct play *play = ctx;
	play->asked++;
	return len >= 5 && memcmp(line, "error", 5) == 0;
}

static struct terminal *terminal(struct play *play)
{
	struct terminal_events events = {.text = keep_text,
					 .reply = keep_reply,
					 .stays = play->stays ? line_stays : NULL,
					 .ctx = play};
	if (!play->t) {
		play->options.cells = play->way->grid;
		play->t = terminal_new(&play->options, &events);
		assert_non_null(play->t);
	}
	return play->t;
}

static void finish(struct play *play)
{
	if (!play->name[0])
		return;
	terminal(play);
	check_picture(play);
	terminal_finish(play->t);
	compare(play, "text", &play->text, &play->expected);
	if (play->options.picture)
		compare_number(play, "pictured", terminal_facts(play->t).is_pictured,
			       play->pictured);
	compare_number(play, "replies that were not expected", play->replies.len, 0);
	terminal_free(play->t);
	play->t = NULL;
	play->count++;
	buffer_clear(&play->text);
	buffer_clear(&play->expected);
	buffer_clear(&play->replies);
}

static void feed(struct play *play, const char *text)
{
	struct buffer stream = BUFFER_INIT;
	size_t i;
	unescape(&stream, text);
	if (!play->way->single)
		terminal_feed(terminal(play), stream.data, stream.len);
	for (i = 0; play->way->single && i < stream.len; i++)
		terminal_feed(terminal(play), stream.data + i, 1);
	buffer_release(&stream);
}

static void check_word(struct play *play, const char *word, bool want)
{
	const struct terminal_facts facts = terminal_facts(terminal(play));
	bool got = false;
	if (strcmp(word, "lossy") == 0)
		got = facts.is_lossy;
	else if (strcmp(word, "redraws") == 0)
		got = facts.redraws;
	else if (strcmp(word, "alternate") == 0)
		got = facts.is_alternate;
	else
		fail_msg("%s: unknown word: %s", play->file, word);
	compare_number(play, word, got, want);
}

/* "WORD TEXT": whether that is so. Returns false for another word. */
static bool check_text(struct play *play, const char *line)
{
	static const char *const words[] = {"reply", "title", "handed", "pending", NULL};
	struct buffer got = BUFFER_INIT, want = BUFFER_INIT;
	const size_t len = strcspn(line, " ");
	int word = 0;
	while (words[word] && (strlen(words[word]) != len || memcmp(line, words[word], len) != 0))
		word++;
	if (!words[word])
		return false;
	if (word == 1)
		buffer_append_string(&got, terminal_facts(terminal(play)).title);
	else
		buffer_add(&got, word == 0 ? &play->replies : &play->text);
	if (word == 0)
		buffer_clear(&play->replies);
	if (word == 3)
		assert_int_equal(terminal_pending(terminal(play), &got), 0);
	unescape(&want, line[len] ? line + len + 1 : "");
	compare(play, words[word], &got, &want);
	buffer_release(&got);
	buffer_release(&want);
	return true;
}

static void check_cursor(struct play *play, unsigned want_row, unsigned want_col)
{
	struct buffer picture = BUFFER_INIT;
	unsigned row, col;
	assert_int_equal(terminal_picture(terminal(play), &picture, &row, &col), 0);
	compare_number(play, "cursor row", row, want_row);
	compare_number(play, "cursor column", col, want_col);
	buffer_release(&picture);
}

static void run_line(struct play *play, const char *line)
{
	unsigned a, b;
	if (line[0] == '|') {
		terminal(play);
		unescape(&play->picture, line[1] ? line + 2 : "");
		buffer_append(&play->picture, "\n", 1);
		play->has_picture = true;
		return;
	}
	if (play->t)
		check_picture(play);
	if (line[0] == '<')
		feed(play, line + 2);
	else if (line[0] == '>')
		unescape(&play->expected, line[1] ? line + 2 : "");
	else if (sscanf(line, "size %u %u", &play->options.cols, &play->options.rows) == 2)
		return;
	else if (strcmp(line, "onlcr") == 0)
		play->options.onlcr = true;
	else if (strcmp(line, "picture") == 0)
		play->options.picture = true;
	else if (strcmp(line, "stays") == 0)
		play->stays = true;
	else if (strcmp(line, "pictured") == 0)
		play->pictured = true;
	else if (strcmp(line, "cut") == 0)
		terminal_cut(terminal(play));
	else if (sscanf(line, "asked %u", &a) == 1)
		compare_number(play, "asked", play->asked, a);
	else if (sscanf(line, "resize %u %u", &a, &b) == 2)
		terminal_resize(terminal(play), a, b);
	else if (strcmp(line, "commit") == 0)
		terminal_commit(terminal(play));
	else if (sscanf(line, "cursor %u %u", &a, &b) == 2)
		check_cursor(play, a, b);
	else if (sscanf(line, "count %u", &a) == 1)
		compare_number(play, "lines", terminal_lines(terminal(play)), a);
	else if (strncmp(line, "is ", 3) == 0)
		check_word(play, line + 3, true);
	else if (strncmp(line, "not ", 4) == 0)
		check_word(play, line + 4, false);
	else if (!check_text(play, line))
		fail_msg("%s: unknown line: %s", play->file, line);
}

static void run_file(struct play *play, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	assert_non_null(file);
	play->file = path;
	play->name[0] = '\0';
	while ((len = getline(&line, &cap, file)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		if (line[0] != '=') {
			run_line(play, line);
			continue;
		}
		finish(play);
		snprintf(play->name, sizeof(play->name), "%s", line + 2);
		play->options = (struct terminal_options){.cols = 20, .rows = 5};
		play->stays = play->pictured = false;
		play->asked = 0;
	}
	finish(play);
	free(line);
	fclose(file);
}

static void run_all(const struct way *way)
{
	struct play play = {.way = way};
	DIR *folder = opendir(FOLDER);
	struct dirent *entry;
	char path[512];
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		if (!strstr(entry->d_name, ".case"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", FOLDER, entry->d_name);
		run_file(&play, path);
	}
	closedir(folder);
	buffer_release(&play.text);
	buffer_release(&play.expected);
	buffer_release(&play.replies);
	buffer_release(&play.picture);
	assert_int_equal(play.failures, 0);
	assert_true(play.count > 100);
}

TEST(in_every_way)
{
	static const struct way ways[] = {{"whole", false, false},
					  {"bytes", false, true},
					  {"grid", true, false},
					  {"grid, bytes", true, true}};
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		run_all(&ways[i]);
}

TEST_MAIN(NULL, NULL)
