// Any bytes: decoding goes on, cuts fall between characters, and what is cleaned is clean.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "tests/fuzz/fuzz.h"

/* Valid characters are encoded as they were; returns whether there was nothing else. */
static bool check_decoding(const char *text, size_t size)
{
	bool valid = true;
	for (size_t at = 0, n; at < size; at += n) {
		char again[4];
		uint32_t cp;
		n = utf8_decode(text + at, size - at, &cp);
		assert(n >= 1 && n <= 4 && n <= size - at && cp <= 0x10FFFF);
		assert(cp < 0xD800 || cp > 0xDFFF);
		bool same = utf8_put(cp, again) == n && memcmp(again, text + at, n) == 0;
		assert(same || cp == UTF8_REPLACEMENT);
		valid &= same;
	}
	return valid;
}

/* The parts before and behind a cut decode as the whole does. */
static void check_cuts(const char *text, size_t size)
{
	for (size_t len = 0; len <= size; len++) {
		size_t tail, floor = utf8_floor(text, size, len);
		assert(floor <= len && len - floor <= 3);
		if (floor > 0 && utf8_incomplete(text, floor, &tail))
			assert(tail >= 1 && tail <= 3 && tail <= floor);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct buffer once = BUFFER_INIT, twice = BUFFER_INIT;
	bool valid = check_decoding(text, size);
	if (size < 200)
		check_cuts(text, size);
	utf8_clean(&once, text, size);
	assert(utf8_clean(NULL, text, size) == once.len);
	assert(utf8_all_clean(once.data, once.len));
	assert(check_decoding(once.data, once.len));
	bool same = once.len == size && (size == 0 || memcmp(once.data, data, size) == 0);
	assert(utf8_all_clean(text, size) == same && (valid || !same));
	utf8_clean(&twice, once.data, once.len);
	assert(twice.len == once.len);
	buffer_release(&once);
	buffer_release(&twice);
	return 0;
}
