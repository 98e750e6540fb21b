// Text or binary.

#include "lib/buffer.h"
#include "supervisor/report/file_type.h"

#include "tests/unit/unit.h"

static bool is_binary(const char *data, size_t len)
{
	const char *kind;
	return sniff_is_binary(data, len, &kind);
}

#define IS(data) is_binary(data, sizeof(data) - 1)

TEST(texts)
{
	assert_false(IS(""));
	assert_false(IS("\n"));
	assert_false(IS("plain text\n"));
	assert_false(IS("\x1b[1;31mcolour\x1b[0m\r\n\x07\b\t\v\f\x0e\x0f"));
	assert_false(IS("\x1b\x1b\x1b\x1b\r\r\r"));
	assert_false(IS("ünïcödé 日本語 🙂"));
	assert_false(IS("\xEF\xBF\xBD\xEF\xBF\xBD"));
	/* A NUL is one byte that is no text. */
	assert_false(IS("text and then \0 a NUL"));
	assert_false(IS("one\0two\0three\0"));
	/* Latin-1: some letters of a word are invalid. */
	assert_false(IS("na\xEFve caf\xE9, \xFC"
			"ber stra\xDF"
			"e"));
}

TEST(binaries)
{
	assert_true(IS("\0"));
	assert_true(IS("U\0T\0F\0-\0001\0006\0"));
	assert_true(IS("\x1f\x8b\x08\x01\x02\x03\xff\xfe\xfd\xfc"));
	assert_true(IS("\x01\x02\x03\x04"));
	assert_true(IS("\x7f\x7f\x7f"));
	/* A kind known by its first bytes, one of which is no text. */
	assert_true(IS("%PDF-1.5 and so on, then \xE2\xE3\n"));
	assert_false(IS("%PDF-1.5 and so on\n"));
	assert_true(IS("\xEF\xEF\xEF\xEF"));
}

/* Thirty per cent are still text, one byte more is not. */
TEST(share)
{
	char data[100];
	memset(data, 'a', sizeof(data));
	memset(data, 0xFF, 30);
	assert_false(is_binary(data, sizeof(data)));
	data[30] = (char)0xFF;
	assert_true(is_binary(data, sizeof(data)));
}

/* Looked at after some lengths, and not behind the last; a character that is cut is no fault. */
TEST(length)
{
	static const size_t lengths[] = {SNIFF_LEN, SNIFF_NUL, SNIFF_MOST};
	char data[SNIFF_MOST + 10];
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t bad = lengths[i] * 3 / 10;
		memset(data, 'a', sizeof(data));
		memset(data + lengths[i] - bad, 1, bad);
		assert_false(is_binary(data, sizeof(data)));
		data[lengths[i] - bad - 1] = 1;
		assert_true(is_binary(data, sizeof(data)));
	}
	memset(data, 'a', SNIFF_MOST);
	memset(data + SNIFF_MOST, 1, 10);
	assert_false(is_binary(data, sizeof(data)));
	assert_false(IS("\xF0\x9F\x99"));
	assert_false(IS("\xE2\x82"));
	assert_false(IS("\xC3"));
	for (size_t i = 0; i < SNIFF_LEN; i += 4)
		memcpy(data + i, "\xF0\x9F\x99\x82", 4);
	assert_false(is_binary(data, SNIFF_LEN - 1));
}

/* However the bytes come in pieces. */
TEST(pieces)
{
	static const char data[] = "\xE6\x97\xA5\xE6\x9C\xAC \0\n\x01\xFF\xC3 \xF0\x9F\x99\x82";
	struct sniff whole = {.len = 0}, one = {.len = 0};
	sniff_add(&whole, data, sizeof(data));
	for (size_t i = 0; i < sizeof(data); i++)
		sniff_add(&one, data + i, 1);
	assert_int_equal(whole.bad, 5);
	assert_int_equal(one.bad, whole.bad);
	assert_true(one.nul && one.newline && !one.binary);
}

TEST_MAIN(NULL, NULL)
