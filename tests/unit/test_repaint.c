// A screen for another terminal, and a window's title.

#include "lib/buffer.h"
#include "supervisor/terminal/terminal.h"
#include "tests/unit/unit.h"

static void ignore(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
}

static struct terminal *make(void)
{
	const struct terminal_options options = {
		.cols = 20, .rows = 5, .onlcr = true, .collapse = true};
	const struct terminal_events events = {.text = ignore};
	struct terminal *t = terminal_new(&options, &events);
	assert_non_null(t);
	return t;
}

static void feed(struct terminal *t, const char *text)
{
	terminal_feed(t, text, strlen(text));
}

/* Another terminal that gets the repaint shows the same, in the same modes. */
static void assert_same_after(const char *text)
{
	struct terminal *t = make(), *other = make();
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
	assert_int_equal(terminal_is_alternate(t), terminal_is_alternate(other));
	assert_int_equal(terminal_shows_cursor(t), terminal_shows_cursor(other));
	assert_int_equal(terminal_cursor_keys(t), terminal_cursor_keys(other));
	assert_string_equal(terminal_title(t), terminal_title(other));
	buffer_release(&paint);
	buffer_release(&a);
	buffer_release(&b);
	terminal_free(t);
	terminal_free(other);
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
	struct terminal *t = make();
	unsigned row, col;
	feed(t, "one\ntwo\033[?1h\033[?25l\033[2;3r\033[3;6H");
	feed(t, terminal_unpaint);
	assert_true(terminal_shows_cursor(t));
	assert_false(terminal_cursor_keys(t));
	struct buffer picture = BUFFER_INIT;
	assert_int_equal(terminal_picture(t, &picture, &row, &col), 0);
	/* The cursor is where it was. */
	assert_int_equal(row * 1000 + col, 3006);
	feed(t, "\033[?1049h");
	feed(t, terminal_unpaint);
	assert_false(terminal_is_alternate(t));
	buffer_release(&picture);
	terminal_free(t);
}

TEST(titles)
{
	static const struct {
		const char *text, *title;
	} cases[] = {
		{"\033]0;one\007", "one"},
		{"\033]2;two\033\\", "two"},
		{"\033]2;a\xC3\xA4\xE4\xB8\xAD\007", "a\xC3\xA4\xE4\xB8\xAD"},
		{"\033]2;a\xE2\x80\xAE\x62\007", "ab"},
		{"\033]2;\007", ""},
		{"\033]1;icon\007", ""},
		{"\033]8;;http://x\007link\033]8;;\007", ""},
		{"\033]2;never ended", ""},
		{"plain", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct terminal *t = make();
		feed(t, cases[i].text);
		assert_string_equal(terminal_title(t), cases[i].title);
		terminal_free(t);
		/* Byte by byte. */
		t = make();
		for (const char *p = cases[i].text; *p; p++)
			terminal_feed(t, p, 1);
		assert_string_equal(terminal_title(t), cases[i].title);
		terminal_free(t);
	}
}

static void feed_title(struct terminal *t, int characters)
{
	feed(t, "\033]2;");
	for (int i = 0; i < characters; i++)
		feed(t, "\xC3\xA4");
	feed(t, "\007");
}

TEST(a_long_title_is_cut)
{
	struct terminal *t = make();
	feed_title(t, 2000);
	assert_int_equal(strlen(terminal_title(t)), 254);
	terminal_free(t);
}

TEST(what_is_too_long_is_no_title)
{
	struct terminal *t = make();
	feed_title(t, 10000);
	assert_string_equal(terminal_title(t), "");
	terminal_free(t);
}

TEST_MAIN(NULL, NULL)
