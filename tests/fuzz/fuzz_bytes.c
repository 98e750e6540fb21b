// Any bytes: each variant that scans them, with vectors or a word at a time, says what plain loops
// say. FUZZ_VARIANT=avx2|sse2|neon|word tries that one alone.

#include "lib/bytes.h"
#include "tests/fuzz/fuzz.h"

static const char *const words[] = {"erro", "fail", "warn", "  at", "#0: ", "e+10", "@@@@", "éxy"};
enum { WORDS = sizeof(words) / sizeof(*words) };

static bool is_control(unsigned char c)
{
	return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7F;
}

static void check_scan(const struct scan *scan, const char *text, size_t size, bool line)
{
	size_t plain = 0, printable = 0, newlines = 0, found = 0;
	while (plain < size && !is_control((unsigned char)text[plain]) &&
	       !(line && text[plain] == '\n'))
		newlines += text[plain++] == '\n';
	assert(scan->text(text, size, line, &found) == plain && found == newlines);
	while (printable < size && text[printable] >= 0x20 && text[printable] < 0x7F)
		printable++;
	assert(scan->ascii(text, size) == printable);
	for (size_t at = 0; at + MARKS <= size; at++) {
		struct marks marks = scan->marks(text + at);
		for (size_t i = 0; i < MARKS; i++) {
			unsigned char c = (unsigned char)text[at + i];
			assert((marks.control >> i & 1) == is_control(c));
			assert((marks.newline >> i & 1) == (c == '\n'));
			assert((marks.digit >> i & 1) == (c >= '0' && c <= ';'));
		}
	}
}

static void check_newlines(const char *text, size_t size, uint64_t skip)
{
	uint64_t count = 0, left = skip;
	size_t at = 0;
	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	assert(newline_count(text, size) == count);
	for (; at < size && left > 0; at++)
		left -= text[at] == '\n';
	assert(newline_skip(text, size, &skip) == (left ? size : at));
	assert(skip == left);
}

static bool is_literal(const char *text)
{
	unsigned which = 0, same = 0;
	for (; which < WORDS && same < FRAGMENT_LEN; which++) {
		for (same = 0; same < FRAGMENT_LEN; same++) {
			if (((unsigned char)text[same] | 0x20) !=
			    ((unsigned char)words[which][same] | 0x20))
				break;
		}
	}
	return same == FRAGMENT_LEN;
}

static void check_literals(const char *text, size_t size, bool wide)
{
	struct literals all;
	size_t at = 0, newlines = 0, found = 0;
	literals_init(&all);
	all.wide &= wide;
	for (unsigned i = 0; i < WORDS; i++)
		literals_add(&all, words[i], i % FRAGMENT_GROUPS);
	while (at + FRAGMENT_LEN <= size && !is_literal(text + at))
		newlines += text[at++] == '\n';
	if (at + FRAGMENT_LEN > size) {
		for (; at < size; at++)
			newlines += text[at] == '\n';
	}
	assert(literals_find(&all, text, size, &found) == at && found == newlines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *only = getenv("FUZZ_VARIANT");
	if (size < 2 || size > 600)
		return 0;
	/* At every alignment, and in a block of its own, so that a read past the end is found. */
	const size_t shift = data[0] & 63, len = size - 2;
	char *block = malloc(shift + len + 1);
	assert(block);
	char *text = block + shift;
	memcpy(text, data + 2, len);
	block = realloc(block, shift + len ? shift + len : 1);
	assert(block);
	text = block + shift;
	for (const struct scan *const *v = scan_variants(); *v; v++) {
		if (!only || strcmp((*v)->name, only) == 0) {
			check_scan(*v, text, len, false);
			check_scan(*v, text, len, true);
		}
	}
	check_newlines(text, len, data[1]);
	check_literals(text, len, true);
	check_literals(text, len, false);
	free(block);
	return 0;
}
