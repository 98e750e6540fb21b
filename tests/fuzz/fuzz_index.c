// A damaged line index: whatever is in it, the answer is the start of a line in the text,
// and with an undamaged one it is the right line.
//
// Input: how many lines a byte of text stands for, how many changes, the changes to the
// index (two bytes of place, one of value), the text.

#include "lib/buffer.h"
#include "supervisor/artifact/index.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

/* The offset where `line` starts, found by counting; `len` when there is none. */
static size_t count_to(const char *text, size_t len, uint64_t line)
{
	size_t at = 0;
	while (--line > 0 && at < len) {
		const char *newline = memchr(text + at, '\n', len - at);
		at = newline ? (size_t)(newline - text) + 1 : len;
	}
	return at;
}

static void make_text(struct buffer *text, const uint8_t *data, size_t size, unsigned repeat)
{
	for (size_t i = 0; i < size && text->len < 20000; i++) {
		for (unsigned n = 0; n < repeat; n++) {
			buffer_append(text, "xxxxxxx", (data[i] + n) % 8);
			buffer_append(text, "\n", 1);
		}
	}
	if (text->len > 0 && data[0] % 2)
		text->len--;
}

static void check(int fd, int idx, const struct buffer *text, uint64_t line, bool sound)
{
	struct index_range range = {.line = 1, .start = 0, .end = text->len};
	size_t expected = count_to(text->data, text->len, line);
	uint64_t offset = 0, last = 0;
	int result = index_find(fd, idx, &range, line, &offset, &last);
	assert(result >= 0);
	if (result == 0) {
		assert(offset < text->len);
		assert(offset == 0 || text->data[offset - 1] == '\n');
	} else {
		assert(last < line);
	}
	if (sound)
		assert(result == 0 ? offset == expected : expected == text->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	unsigned repeat = data[0];
	size_t changes = data[1] % 16;
	const uint8_t *change = data + 2;
	if (size < 2 + changes * 3)
		return 0;
	struct buffer text = BUFFER_INIT;
	struct index_writer writer;
	make_text(&text, change + changes * 3, size - 2 - changes * 3, repeat);
	assert(index_init(&writer) == 0);
	assert(text.len == 0 || index_feed(&writer, text.data, text.len) == 0);
	bool sound = true;
	for (size_t i = 0; i < changes; i++, change += 3) {
		size_t place = ((size_t)change[0] << 8 | change[1]) % writer.entries.len;
		sound &= writer.entries.data[place] == (char)change[2];
		writer.entries.data[place] = (char)change[2];
	}
	int fd = memfd_create("text", 0), idx = memfd_create("idx", 0);
	assert(text.len == 0 || write(fd, text.data, text.len) == (ssize_t)text.len);
	assert(write(idx, writer.entries.data, writer.entries.len) == (ssize_t)writer.entries.len);
	for (uint64_t line = 1; line < writer.lines + 3; line += INDEX_STRIDE / 2 + 1)
		check(fd, idx, &text, line, sound);
	check(fd, idx, &text, UINT64_MAX, sound);
	close(fd);
	close(idx);
	buffer_release(&text);
	buffer_release(&writer.entries);
	return 0;
}
