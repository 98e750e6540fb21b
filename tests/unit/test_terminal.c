// The terminal as its users see it: when text comes and how, what is pending, the screen for
// another terminal. tests/terminal/cases covers the sequences.

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
	struct terminal_options options = {.cols = cols, .rows = rows, .onlcr = true};
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

TEST(largest)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 1000, 500);
	feed(t, "\033[500;1000Hx");
	terminal_finish(t);
	assert_int_equal(sink.text.len, 499 + 1000);
	terminal_free(t);
	buffer_release(&sink.text);
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
	uint64_t before = terminal_facts(t).version;
	terminal_feed(t, "", 0);
	assert_true(terminal_facts(t).version == before);
	feed(t, "a");
	assert_true(terminal_facts(t).version != before);
	before = terminal_facts(t).version;
	feed(t, "\r");
	feed(t, "b");
	assert_true(terminal_facts(t).version != before);
	before = terminal_facts(t).version;
	feed(t, "\n");
	terminal_commit(t);
	assert_true(terminal_facts(t).version != before);
	before = terminal_facts(t).version;
	terminal_resize(t, 10, 3);
	assert_true(terminal_facts(t).version != before);
	assert_end(t, &sink, "b\n");
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
		terminal_commit(t);
		assert_text(&sink.text, buffer_string(&want));
		assert_pending(t, "");
	}
	assert_end(t, &sink, buffer_string(&want));
	buffer_release(&want);
}

/* Lines that begin with "error" stay. */
static bool stays(void *ctx, const char *line, size_t len)
{
	struct sink *sink = ctx;
	sink->asked++;
	return len >= 5 && memcmp(line, "error", 5) == 0;
}

/* What is drawn without end is not looked at for ever, unless lines of it stay. */
TEST(overwritten_for_ever)
{
	struct sink sink = {0};
	struct terminal_options options = {.cols = 20, .rows = 8, .onlcr = true};
	struct terminal_events events = {.text = keep, .stays = stays, .ctx = &sink};
	struct terminal *t = terminal_new(&options, &events);
	assert_non_null(t);
	for (int i = 0; i < 100000; i++)
		feed(t, i % 2 ? "one of many\r" : "two of many\r");
	assert_true(sink.asked > 10000 && sink.asked < 100000);
	feed(t, "error in a \rthe rest is not seen\n");
	assert_end(t, &sink, "the rest is not seen\n");
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
		assert_true(terminal_facts(t).is_lossy);
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

/* Another terminal that gets the repaint shows the same, in the same modes. */
static void assert_same_after(const char *text)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 20, 5), *other = make(&sink, 20, 5);
	struct buffer paint = BUFFER_INIT, a = BUFFER_INIT, b = BUFFER_INIT;
	unsigned row[2], col[2];
	feed(t, text);
	/* It had something else on it, and other modes. */
	feed(other, "old\nold\nold\n\033[?1049hfull\033[?25l\033[?1h\033[2;3rxx\033[31m");
	assert_int_equal(terminal_repaint(t, &paint), 0);
	terminal_feed(other, paint.data, paint.len);
	assert_int_equal(terminal_picture(t, &a, &row[0], &col[0]), 0);
	assert_int_equal(terminal_picture(other, &b, &row[1], &col[1]), 0);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.data, b.data, a.len);
	assert_int_equal(row[0] * 1000 + col[0], row[1] * 1000 + col[1]);
	const struct terminal_facts x = terminal_facts(t), y = terminal_facts(other);
	assert_int_equal(x.is_alternate, y.is_alternate);
	assert_int_equal(x.shows_cursor, y.shows_cursor);
	assert_int_equal(x.has_cursor_keys, y.has_cursor_keys);
	assert_string_equal(x.title, y.title);
	buffer_release(&paint);
	buffer_release(&a);
	buffer_release(&b);
	terminal_free(t);
	terminal_free(other);
	buffer_release(&sink.text);
}

TEST(the_same_screen)
{
	assert_same_after("");
	assert_same_after("hello");
	assert_same_after("one\ntwo\n");
	assert_same_after("1\n2\n3\n4\n5\n6\n7");
	assert_same_after("\033[31mred\033[m\tblue \xE4\xB8\xAD\xC3\xA4\033[3;7Hx");
	assert_same_after("text\n\033[?1049h\033[2J\033[4;4Hfull\033[?25l\033[?1h\033=");
	assert_same_after("\033]0;A title\007\033[?2004h$ ");
	assert_same_after("a very long line that is wrapped by the terminal");
}

TEST(modes_are_put_back)
{
	struct sink sink = {0};
	struct terminal *t = make(&sink, 20, 5);
	unsigned row, col;
	feed(t, "one\ntwo\033[?1h\033[?25l\033[2;3r\033[3;6H");
	feed(t, terminal_unpaint);
	assert_true(terminal_facts(t).shows_cursor);
	assert_false(terminal_facts(t).has_cursor_keys);
	struct buffer picture = BUFFER_INIT;
	assert_int_equal(terminal_picture(t, &picture, &row, &col), 0);
	/* The cursor is where it was. */
	assert_int_equal(row * 1000 + col, 3006);
	feed(t, "\033[?1049h");
	feed(t, terminal_unpaint);
	assert_false(terminal_facts(t).is_alternate);
	buffer_release(&picture);
	terminal_free(t);
	buffer_release(&sink.text);
}

/* A long title is cut, and what is too long is none. */
TEST(long_titles)
{
	static const struct {
		int characters;
		size_t len;
	} cases[] = {{2000, 254}, {10000, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sink sink = {0};
		struct terminal *t = make(&sink, 20, 5);
		feed(t, "\033]2;");
		for (int k = 0; k < cases[i].characters; k++)
			feed(t, "\xC3\xA4");
		feed(t, "\007");
		assert_int_equal(strlen(terminal_facts(t).title), cases[i].len);
		terminal_free(t);
		buffer_release(&sink.text);
	}
}

TEST_MAIN(NULL, NULL)
