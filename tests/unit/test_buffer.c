// The growing array of bytes.

#include "lib/buffer.h"
#include "tests/unit/unit.h"

TEST(appends_and_grows)
{
	struct buffer b;
	memset(&b, 0, sizeof(b));
	assert_string_equal(buffer_string(&b), "");
	buffer_release(&b);
	buffer_append(&b, NULL, 0);
	assert_null(b.data);
	for (int i = 0; i < 10000; i++) {
		char c = (char)('a' + i % 26);
		buffer_append(&b, &c, 1);
	}
	buffer_append(&b, NULL, 0);
	assert_int_equal(b.len, 10000);
	assert_true(b.cap >= b.len);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(b.data[i], 'a' + i % 26);
	buffer_append_string(&b, "end");
	assert_memory_equal(b.data + 10000, "end", 3);
	buffer_release(&b);
	assert_null(b.data);
	assert_int_equal(b.len + b.cap, 0);
	buffer_release(&b);
}

TEST(compares_its_text)
{
	struct buffer b = BUFFER_INIT;
	assert_true(buffer_is(&b, NULL, 0));
	assert_false(buffer_is(&b, "a", 1));
	buffer_append(&b, "a\0b", 3);
	assert_true(buffer_is(&b, "a\0b", 3));
	assert_false(buffer_is(&b, "a\0c", 3));
	assert_false(buffer_is(&b, "a\0b", 2));
	assert_false(buffer_is(&b, NULL, 0));
	buffer_clear(&b);
	assert_true(buffer_is(&b, "", 0));
	buffer_release(&b);
}

TEST(reserve_makes_room_once)
{
	struct buffer b = BUFFER_INIT;
	assert_int_equal(buffer_reserve(&b, 1000), 0);
	const char *data = b.data;
	size_t cap = b.cap;
	assert_true(cap >= 1000);
	assert_int_equal(b.len, 0);
	memset(b.data, 'x', 1000);
	b.len = 1000;
	assert_int_equal(buffer_reserve(&b, cap - 1000), 0);
	assert_ptr_equal(b.data, data);
	assert_int_equal(b.cap, cap);
	buffer_release(&b);
}

TEST(prints_like_printf)
{
	struct buffer b = BUFFER_INIT;
	buffer_printf(&b, "%d-%s", 42, "x");
	buffer_printf(&b, "%s", "");
	buffer_printf(&b, "%300d|", 7);
	assert_int_equal(b.len, 4 + 301);
	assert_memory_equal(b.data, "42-x", 4);
	assert_memory_equal(b.data + b.len - 3, " 7|", 3);
	buffer_release(&b);
	/* A format that fills the room to the last byte must not write behind it. */
	for (size_t len = 60; len < 70; len++) {
		char text[80];
		memset(text, 'z', len);
		text[len] = '\0';
		buffer_printf(&b, "%s", text);
		assert_int_equal(b.len, len);
		assert_true(b.cap > len);
		assert_string_equal(buffer_string(&b), text);
		buffer_release(&b);
	}
}

TEST(string_is_not_counted)
{
	struct buffer b = BUFFER_INIT;
	for (int i = 0; i < 200; i++) {
		assert_int_equal(strlen(buffer_string(&b)), i);
		assert_int_equal(b.len, i);
		buffer_append(&b, "y", 1);
	}
	buffer_release(&b);
}

TEST(consume_and_clear)
{
	struct buffer b = BUFFER_INIT;
	buffer_consume(&b, 0);
	buffer_append_string(&b, "0123456789");
	buffer_consume(&b, 3);
	assert_string_equal(buffer_string(&b), "3456789");
	buffer_consume(&b, 7);
	assert_int_equal(b.len, 0);
	buffer_append_string(&b, "again");
	size_t cap = b.cap;
	buffer_clear(&b);
	assert_int_equal(b.len, 0);
	assert_int_equal(b.cap, cap);
	buffer_release(&b);
}

/* An append after a failure would leave a hole in the text; only a new text begins without it. */
TEST(a_failure_is_remembered)
{
	struct buffer b = BUFFER_INIT;
	buffer_append_string(&b, "whole");
	assert_int_equal(buffer_check(&b), 0);
	buffer_append(&b, "x", SIZE_MAX);
	errno = 0;
	assert_int_equal(buffer_check(&b), -1);
	assert_int_equal(errno, ENOMEM);
	buffer_append_string(&b, "y");
	buffer_printf(&b, "%d", 1);
	errno = 0;
	assert_int_equal(buffer_try_append(&b, "z", 1), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(buffer_reserve(&b, 0), -1);
	assert_null(buffer_string(&b));
	assert_int_equal(b.len, 5);
	assert_memory_equal(b.data, "whole", 5);
	buffer_truncate(&b, 2);
	buffer_consume(&b, 2);
	assert_int_equal(buffer_check(&b), -1);
	buffer_clear(&b);
	buffer_append_string(&b, "again");
	assert_string_equal(buffer_string(&b), "again");
	buffer_append(&b, "x", SIZE_MAX);
	buffer_release(&b);
	assert_int_equal(buffer_check(&b), 0);
}

TEST(a_failed_try_leaves_no_mark)
{
	struct buffer b = BUFFER_INIT;
	assert_int_equal(buffer_try_append(&b, "queue", 5), 0);
	size_t cap = b.cap;
	errno = 0;
	assert_int_equal(buffer_try_append(&b, "x", SIZE_MAX), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(buffer_reserve(&b, SIZE_MAX), -1);
	assert_int_equal(buffer_reserve(&b, SIZE_MAX / 2), -1);
	assert_int_equal(b.cap, cap);
	assert_int_equal(buffer_check(&b), 0);
	assert_int_equal(buffer_try_append(&b, "d", 1), 0);
	assert_string_equal(buffer_string(&b), "queued");
	buffer_release(&b);
}

TEST_MAIN(NULL, NULL)
