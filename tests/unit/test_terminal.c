// The terminal as its users see it: when text comes and how, what is pending, what is counted.
// tests/terminal/cases covers the sequences.

#include "lib/buffer.h"
#include "supervisor/terminal/terminal.h"
#include "tests/unit/unit.h"

/* The text that a terminal handed on. */
struct sink {
	struct buffer text;
	unsigned calls;
	size_t asked;      /* which lines stay */
	size_t from_input; /* bytes handed on from within `input` */
	const char *input;
	size_t input_len;
};

static void keep(void *ctx, const char *data, size_t len)
{
	struct sink *sink = ctx;
	assert_true(len > 0);
	sink->calls++;
	if (sink->input && data >= sink->input && data + len <= sink->input + sink->input_len)
		sink->from_input += len;
	buffer_append(&sink->text, data, len);
}

static struct terminal *make(struct sink *sink, unsigned cols, unsigned rows)
{
	struct terminal_options options = {
		.cols = cols, .rows = rows, .onlcr = true, .collapse = true};
	struct terminal_events events = {.text = keep, .ctx = sink};
	struct terminal *t = terminal_new(&options, &events);
	assert_non_null(t);
	return t;
}

static void feed(struct terminal *t, const char *text)
{
	terminal_feed(t, text, strlen(text));
}

static void assert_text(const struct buffer *got, const char *want)
{
	if (got->len != strlen(want) || (got->len && memcmp(got->data, want, got->len) != 0))
		fail_msg("got \"%.*s\", want \"%s\"", (int)got->len, got->data ? got->data : "",
			 want);
}

/* Finishes, compares the whole text and frees. */
static void assert_end(struct terminal *t, struct sink *sink, const char *want)
{
	terminal_finish(t);
	assert_text(&sink->text, want);
	terminal_free(t);
	buffer_release(&sink->text);
}

static void assert_pending(const struct terminal *t, const char *want)
{
	struct buffer out = BUFFER_INIT;
	assert_int_equal(terminal_pending(t, &out), 0);
	assert_text(&out, want);
	buffer_release(&out);
}

TEST(options_out_of_range)
{
	static const struct terminal_options bad[] = {
		{.cols = 1, .rows = 24},
		{.cols = 1001, .rows = 24},
		{.cols = 80, .rows = 1},
		{.cols = 80, .rows = 501},
	};
	struct terminal_events events = {.text = keep};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		assert_null(terminal_new(&bad[i], &events));
		assert_int_equal(errno, EINVAL);
	}
	terminal_free(NULL);
}

TEST(largest_and_smallest)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 1000, 500);
	feed(t, "\033[500;1000Hx");
	terminal_finish(t);
	assert_int_equal(sink.text.len, 499 + 1000);
	terminal_free(t);
	buffer_release(&sink.text);

	t = make(&sink, 2, 2);
	feed(t, "abcde\n\033[2Ax");
	assert_end(t, &sink, "abcdx\n");
}

/* Lines are held back while they are on the screen. */
TEST(held_back)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 20, 3);
	feed(t, "1\n2\n");
	assert_int_equal(sink.calls, 0);
	assert_pending(t, "1\n2\n");
	feed(t, "3");
	assert_pending(t, "1\n2\n3");
	feed(t, "\n4");
	assert_text(&sink.text, "1");
	assert_pending(t, "\n2\n3\n4");
	assert_end(t, &sink, "1\n2\n3\n4");
}

/* A large piece of plain lines goes out in a few calls, from where it is. */
TEST(from_the_input)
{
	struct buffer in = BUFFER_INIT;
	struct sink sink = {0};
	struct terminal *t = make(&sink, 80, 24);
	while (in.len < 65536)
		buffer_printf(&in, "line %zu of the text\n", in.len);
	sink.input = in.data;
	sink.input_len = in.len;
	terminal_feed(t, in.data, in.len);
	assert_true(sink.calls <= 4);
	assert_true(sink.from_input > in.len - 2000);
	terminal_feed(t, in.data, in.len);
	assert_true(sink.calls <= 10);
	terminal_finish(t);
	assert_int_equal(sink.text.len, 2 * in.len);
	assert_memory_equal(sink.text.data, in.data, in.len);
	assert_memory_equal(sink.text.data + in.len, in.data, in.len);
	terminal_free(t);
	buffer_release(&in);
	buffer_release(&sink.text);
}

/* Whatever comes, the text that is held is bounded: a line without end, tabs that
   go nowhere, marks without end. */
TEST(bounded)
{
	static const char *const pieces[] = {"0123456789",   "\t",   "a\xCC\x81",       "\xCC\x81",
					     "\xE6\x97\xA5", "\xFF", "x\033[m\xCC\x81", "\t\033[m"};
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct buffer in = BUFFER_INIT;
		struct sink sink = {0};
		struct terminal *t = make(&sink, 80, 24);
		size_t fed = 0;
		while (in.len < 50000)
			buffer_append_string(&in, pieces[i]);
		for (int k = 0; k < 20; k++) {
			terminal_feed(t, in.data, in.len);
			fed += in.len;
		}
		assert_true(sink.text.len + 120000 >
			    fed * strcspn(pieces[i], "\033") / strlen(pieces[i]) * 3 / 4);
		terminal_finish(t);
		if (!strchr(pieces[i], '\033')) {
			assert_int_equal(sink.text.len, fed);
			for (int k = 0; k < 20; k++)
				assert_memory_equal(sink.text.data + k * in.len, in.data, in.len);
		}
		terminal_free(t);
		buffer_release(&in);
		buffer_release(&sink.text);
	}
}

/* The same for a progress line that never ends. */
TEST(endless_progress)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 80, 24);
	char frame[64];
	for (int i = 0; i < 100000; i++) {
		snprintf(frame, sizeof(frame), "\r%d of 100000 ", i);
		feed(t, frame);
	}
	assert_int_equal(sink.calls, 0);
	assert_end(t, &sink, "99999 of 100000");
}

TEST(version)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 20, 3);
	uint64_t before = terminal_version(t);
	terminal_feed(t, "", 0);
	assert_true(terminal_version(t) == before);
	feed(t, "a");
	assert_true(terminal_version(t) != before);
	before = terminal_version(t);
	feed(t, "\r");
	feed(t, "b");
	assert_true(terminal_version(t) != before);
	before = terminal_version(t);
	feed(t, "\n");
	terminal_commit(t, 1);
	assert_true(terminal_version(t) != before);
	before = terminal_version(t);
	terminal_resize(t, 10, 3);
	assert_true(terminal_version(t) != before);
	assert_end(t, &sink, "b\n");
}

TEST(counting)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 10, 3);
	assert_int_equal(terminal_lines(t), 0);
	feed(t, "one");
	assert_int_equal(terminal_lines(t), 0);
	feed(t, "\n");
	assert_int_equal(terminal_lines(t), 1);
	feed(t, "a line of several rows is one line\n");
	assert_int_equal(terminal_lines(t), 2);
	feed(t, "\n\n\n\n");
	assert_int_equal(terminal_lines(t), 6);
	feed(t, "x\r");
	assert_int_equal(terminal_lines(t), 6);
	feed(t, "y\n");
	assert_int_equal(terminal_lines(t), 7);
	/* The lines that the cursor went up over are not complete any more. */
	feed(t, "\033[2A");
	assert_int_equal(terminal_lines(t), 5);
	feed(t, "\033[2B");
	assert_int_equal(terminal_lines(t), 7);
	assert_end(t, &sink, "one\na line of several rows is one line\n\n\n\n\ny\n");
}

/* Committed text comes at once and not again. */
TEST(commit_as_it_comes)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 20, 4);
	struct buffer want = BUFFER_INIT;
	char line[32];
	for (int i = 0; i < 50; i++) {
		snprintf(line, sizeof(line), "line %d\n", i);
		buffer_append_string(&want, line);
		feed(t, line);
		terminal_commit(t, terminal_lines(t));
		assert_text(&sink.text, buffer_string(&want));
		assert_pending(t, "");
	}
	assert_end(t, &sink, buffer_string(&want));
	buffer_release(&want);
}

/* The number of lines is that of the newlines in the text, final and pending. */
TEST(commit_counts)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 20, 5);
	feed(t, "1\n2\n3\n4");
	terminal_commit(t, 1);
	assert_text(&sink.text, "1\n");
	assert_int_equal(terminal_lines(t), 3);
	terminal_commit(t, 2);
	assert_text(&sink.text, "1\n2\n");
	terminal_commit(t, 1000);
	assert_text(&sink.text, "1\n2\n3\n");
	assert_int_equal(terminal_lines(t), 3);
	/* A line above that changes is one more. */
	feed(t, "\033[3Ax\033[3B");
	assert_int_equal(terminal_lines(t), 4);
	assert_pending(t, "1x\n4");
	assert_end(t, &sink, "1\n2\n3\n1x\n4");
}

TEST(pictures)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 10, 3);
	struct buffer out = BUFFER_INIT;
	unsigned row, col;
	assert_int_equal(terminal_picture(t, &out, &row, &col), 0);
	assert_text(&out, "\n\n\n");
	assert_int_equal(row, 1);
	assert_int_equal(col, 1);

	buffer_clear(&out);
	feed(t, "1\n2\n3\n\tfour");
	assert_int_equal(terminal_picture(t, &out, &row, &col), 0);
	assert_text(&out, "3\n        fo\nur\n");
	assert_int_equal(row, 3);
	assert_int_equal(col, 3);

	/* Looking changes nothing. */
	assert_text(&sink.text, "1\n2");
	buffer_clear(&out);
	feed(t, "\033[?1049h\033[2;2Hfull\033[4D");
	assert_int_equal(terminal_picture(t, &out, NULL, &col), 0);
	assert_text(&out, "\n full\n\n");
	assert_int_equal(col, 2);
	assert_true(terminal_is_alternate(t));
	buffer_release(&out);
	assert_end(t, &sink, "1\n2\n3\n\tfour");
}

/* Lines that begin with "error" stay. */
static bool stays(void *ctx, const char *line, size_t len)
{
	struct sink *sink = ctx;
	sink->asked++;
	return len >= 5 && memcmp(line, "error", 5) == 0;
}

/* A line stays if something unlike it is written over it: in its place, once, however the bytes
   come. */
TEST(overwritten_lines)
{
	static const struct {
		const char *written, *text;
		size_t asked;
	} cases[] = {
		{"one\nerror in a\rall is well\ntwo\n", "one\nerror in a\nall is well\ntwo\n", 1},
		{" 5% [#  ]\rerror in a\r 9% [## ]\rdone      \n", "error in a\ndone\n", 3},
		{"error in a\r\033[32mall\033[m is well\n", "error in a\nall is well\n", 1},
		{"error in a\r\xE2\x9C\x93 is done \n", "error in a\n\xE2\x9C\x93 is done\n", 1},
		/* alike; the end of the line; no longer than a word; erased; not from the start on
		 */
		{"error in a\rerror in b\n", "error in b\n", 0},
		{"error in a\r\nall is well\n", "error in a\nall is well\n", 0},
		{"error\rall is well\n", "all is well\n", 0},
		{"error in a\r\033[Kall is well\n", "all is well\n", 0},
		{"error in a\033[3Gall is well\n", "erall is well\n", 0},
		{"reading a\rworking b\n", "working b\n", 1},
		/* Seen twice with something else between, it is said once. */
		{"error in a\rall is well\rerror in a \rthat is it\n", "error in a\nthat is it\n",
		 3},
		/* What is left of it is not said again. */
		{"error in a, b, error\rand c\rdone\n",
		 "error in a, b, error\ndonec in a, b, error\n", 1},
		/* Several lines are drawn. */
		{"one\ntwo\n\033[2Aerror in a\rall is well\n\n", "all is well\ntwo\n", 0},
		{"error in a\033[?1049herror in b\rall is well\033[?1049l\rall is well\n",
		 "error in a\nall is well\n", 1},
		/* The end of a line of two rows. */
		{"error in what is longer than\rall is well\n", "error in what is lonall is well\n",
		 0},
	};
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const char *p = cases[i / 2].written;
		struct sink sink = {0};
		struct terminal_options options = {
			.cols = 20, .rows = 8, .onlcr = true, .collapse = true};
		struct terminal_events events = {.text = keep, .stays = stays, .ctx = &sink};
		struct terminal *t = terminal_new(&options, &events);
		assert_non_null(t);
		for (size_t n = i % 2 ? 1 : strlen(p); *p; p += n)
			terminal_feed(t, p, n);
		assert_int_equal(sink.asked, cases[i / 2].asked);
		assert_end(t, &sink, cases[i / 2].text);
	}
}

/* What is drawn without end is not looked at for ever, unless lines of it stay. */
TEST(overwritten_for_ever)
{
	struct sink sink = {0};
	struct terminal_options options = {.cols = 20, .rows = 8, .onlcr = true, .collapse = true};
	struct terminal_events events = {.text = keep, .stays = stays, .ctx = &sink};
	struct terminal *t = terminal_new(&options, &events);
	assert_non_null(t);
	for (int i = 0; i < 100000; i++)
		feed(t, i % 2 ? "one of many\r" : "two of many\r");
	assert_true(sink.asked > 10000 && sink.asked < 100000);
	feed(t, "error in a \rthe rest is not seen\n");
	assert_end(t, &sink, "the rest is not seen\n");
}

static struct terminal *make_for_reader(struct sink *sink)
{
	struct terminal_options options = {
		.cols = 40, .rows = 10, .onlcr = true, .collapse = true, .picture = true};
	struct terminal_events events = {.text = keep, .ctx = sink};
	struct terminal *t = terminal_new(&options, &events);
	assert_non_null(t);
	return t;
}

#define BOX                                                                           \
	"\033[?1049h\033[2;5H\u250C------------------\033[3;5H\u2502\033[4;5H\u2502 " \
	"a\033[5;5H\u2502"                                                            \
	"\033[6;5H\u2502\033[7;5H\u2514=====\n\n"
#define TIDY "\u250C--------\n\u2502 a\n\u2514=====\n"

/* The last picture of the alternate screen, without what only looks good. */
TEST(last_pictures)
{
	static const struct {
		const char *written, *text;
		bool cut, pictured;
	} cases[] = {
		{BOX, TIDY, false, true},
		{"\033[?1049ha\r\n~\r\n~ b\r\n\r\nc", "a\n~ b\nc\n", false, true},
		{BOX "\033[?1049l", TIDY, false, true},
		{"\n\n" BOX "\033[?1049l", TIDY, false, true},
		{BOX "\033[?1049l" BOX "\033[2J\033[Hsecond\033[?1049l", "second\n", false, true},
		{"\033[?1049h\033[?1049l\n", "\n", false, false},
		{"text\n" BOX, "text\n", false, false},
		{"text\n" BOX, "text\n" TIDY, true, true},
		{"text" BOX, "text\n" TIDY, true, true},
		{"text\n" BOX "\033[?1049l", "text\n", true, false},
		{BOX "\033[?1049ltext\n", "text\n", false, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sink sink = {0};
		struct terminal *t = make_for_reader(&sink);
		feed(t, cases[i].written);
		if (cases[i].cut)
			terminal_cut(t);
		terminal_finish(t);
		assert_text(&sink.text, cases[i].text);
		assert_int_equal(terminal_is_pictured(t), cases[i].pictured);
		terminal_free(t);
		buffer_release(&sink.text);
	}
}

/* Resizing many times keeps every line. */
TEST(resizing)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 40, 10);
	feed(t, "\033[1mplain\t line  \nover\rOVER\nwide \xE6\x97\xA5\xE6\x9C\xAC\rW\n"
		"and one that is longer than the narrowest of the windows\n");
	for (unsigned i = 0; i < 60; i++)
		terminal_resize(t, 8 + i * 7 % 50, 10 - i % 4);
	assert_end(t, &sink,
		   "plain\t line  \nOVER\nWide \xE6\x97\xA5\xE6\x9C\xAC\n"
		   "and one that is longer than the narrowest of the windows\n");
}

/* Without collapse all text is final at once. */
TEST(lines_as_written)
{
	struct terminal_options options = {.cols = 80, .rows = 24, .onlcr = true};
	struct sink sink = {0};
	struct terminal_events events = {.text = keep, .ctx = &sink};
	struct terminal *t = terminal_new(&options, &events);
	struct buffer out = BUFFER_INIT;
	assert_non_null(t);
	feed(t, "a\033[1mb\rc");
	assert_text(&sink.text, "ab\nc");
	assert_pending(t, "");
	assert_int_equal(terminal_lines(t), 1);
	terminal_commit(t, 5);
	terminal_resize(t, 10, 10);
	assert_int_equal(terminal_picture(t, &out, NULL, NULL), 0);
	assert_int_equal(out.len, 0);
	assert_false(terminal_is_alternate(t));
	assert_end(t, &sink, "ab\nc");
}

/* A string that is begun with `start` and goes on with so many bytes: what is its text. */
static void assert_string_text(const char *start, const char *fill, size_t count, const char *end,
			       size_t held, const char *rest)
{
	for (int single = 0; single < 2; single++) {
		struct sink sink = {.text = BUFFER_INIT};
		struct buffer stream = BUFFER_INIT, want = BUFFER_INIT;
		struct terminal *t = make(&sink, 80, 24);
		buffer_append_string(&stream, start);
		while (stream.len < strlen(start) + count)
			buffer_append_string(&stream, fill);
		buffer_append(&want, stream.data + 1, held);
		buffer_append_string(&want, rest);
		buffer_append_string(&stream, end);
		for (size_t at = 0, n; at < stream.len; at += n) {
			n = single ? 1 : stream.len;
			terminal_feed(t, stream.data + at, n);
		}
		assert_true(terminal_is_lossy(t));
		terminal_finish(t);
		assert_int_equal(sink.text.len, want.len);
		if (want.len)
			assert_memory_equal(sink.text.data, want.data, want.len);
		terminal_free(t);
		buffer_release(&sink.text);
		buffer_release(&stream);
		buffer_release(&want);
	}
}

TEST(strings_that_are_too_long)
{
	static const char *const strings[] = {"\033]0;", "\033P1;2|", "\033X", "\033^", "\033_x"};
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		size_t start = strlen(strings[i]);
		/* Up to so much it is dropped when it ends, and text when the run does. */
		assert_string_text(strings[i], "a", 4097 - start, "\033\\b", 0, "b");
		assert_string_text(strings[i], "a", 4097 - start, "", 4096, "");
		/* The end of what is too long is none. */
		assert_string_text(strings[i], "a", 4098 - start, "\033\\b", 4097, "b");
		assert_string_text(strings[i], "a", 100000, "\033\\b", 100000 + start - 1, "b");
	}
}

TEST(strings_of_data_may_be_long)
{
	static const struct {
		const char *start, *shown;
	} strings[] = {
		{"\033Pq", "[image]"},
		{"\033_Ga=T,f=100;", "[image]"},
		{"\033_Gm=1;", ""},
		{"\033]1337;File=inline=1:", "[image]"},
		{"\033]52;c;", ""},
		{"\033Ptmux;", ""},
		{"\033P0;1;0q\"1;1;", "[image]"},
	};

	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		const char *start = strings[i].start;
		char with_end[32];
		snprintf(with_end, sizeof(with_end), "%sb", strings[i].shown);
		assert_string_text(start, "A", 300000, "\033\\b", 0, with_end);
		/* As long as it looks like data. */
		assert_string_text(start, "A", 300000, " log\nb", 4096, "[...] log\nb");
		assert_string_text(start, "A line ", 7000, "\nb", 6999 + strlen(start), "\nb");
		assert_string_text(start, "A", 300000, "", 4096, "[...]");
	}
}

TEST_MAIN(NULL, NULL)
