// The estimate of tokens: the same in whatever pieces the text comes, and near what tokenizers say
// (make bench-tokens measures that).

#include "lib/tokens.h"
#include "tests/unit/unit.h"

static uint64_t estimate(const char *text)
{
	struct tokens t = {.run = 0};
	tokens_feed(&t, text, strlen(text));
	return tokens_estimate(&t);
}

TEST(nothing)
{
	assert_int_equal(estimate(""), 0);
}

/* What o200k makes of them, give or take a quarter and one. */
TEST(near_a_tokenizer)
{
	static const struct {
		const char *text;
		uint64_t tokens;
	} cases[] = {
		{"The quick brown fox jumps over the lazy dog.", 10},
		{"error: expected ';' before 'return'\n", 9},
		{"2026-11-22T07:38:36.655Z", 15},
		{"for (size_t i = 0; i < count; i++)\n", 15},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t got = estimate(cases[i].text), want = cases[i].tokens;
		assert_in_range(got, want - want / 4 - 1, want + want / 4 + 1);
	}
}

TEST(in_pieces)
{
	static const char text[] = "camelCaseWord 12345678 -- >>> \n\n    "
				   "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80 0xdeadBEEF a1b2";
	for (size_t piece = 1; piece < sizeof(text); piece++) {
		struct tokens t = {.run = 0};
		for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
			size_t left = sizeof(text) - 1 - at;
			tokens_feed(&t, text + at, left < piece ? left : piece);
		}
		assert_int_equal(tokens_estimate(&t), estimate(text));
	}
}

TEST(scale)
{
	assert_int_equal(tokens_scale(100, 400, 800), 200);
	assert_int_equal(tokens_scale(100, 400, 0), 0);
	/* Nothing is known of the text. */
	assert_int_equal(tokens_scale(0, 0, 800), 200);
}

TEST_MAIN(NULL, NULL)
