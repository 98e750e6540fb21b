// The line index against counting by hand: any text, any damage.

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "supervisor/artifact/index.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>

/* A text in memory, as a file, and its index as a file. */
struct sample {
	struct buffer text;
	struct index_writer writer;
	int fd, idx;
};

static void add_line(struct buffer *b, size_t len)
{
	assert_int_equal(buffer_reserve(b, len + 1), 0);
	memset(b->data + b->len, 'x', len);
	b->data[b->len + len] = '\n';
	b->len += len + 1;
}

static int memory_file(const struct buffer *b)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->data, b->len), (ssize_t)b->len);
	return fd;
}

/* Feeds s->text in pieces of up to `piece` bytes. */
static void build(struct sample *s, size_t piece)
{
	assert_int_equal(index_init(&s->writer), 0);
	for (size_t at = 0; at < s->text.len;) {
		size_t n = 1 + (size_t)random_below(piece);
		if (n > s->text.len - at)
			n = s->text.len - at;
		assert_int_equal(index_feed(&s->writer, s->text.data + at, n), 0);
		at += n;
	}
	s->fd = memory_file(&s->text);
	s->idx = memory_file(&s->writer.entries);
}

static void release(struct sample *s)
{
	buffer_release(&s->text);
	buffer_release(&s->writer.entries);
	close(s->fd);
	close(s->idx);
}

static uint64_t naive_count(const char *data, size_t len)
{
	uint64_t n = 0;
	for (size_t i = 0; i < len; i++)
		n += data[i] == '\n';
	return n;
}

/* The offset of a line, or -1 with the number of lines in *last. */
static int64_t naive_find(const char *data, size_t len, uint64_t line, uint64_t *last)
{
	size_t at = 0;
	uint64_t here = 1;
	while (at < len && here < line) {
		const char *newline = memchr(data + at, '\n', len - at);
		if (!newline) {
			*last = here;
			return -1;
		}
		at = (size_t)(newline - data) + 1;
		here++;
	}
	if (at < len)
		return (int64_t)at;
	*last = here - 1;
	return -1;
}

static void check_line(const struct sample *s, int idx, size_t size, uint64_t line)
{
	struct index_range range = {.line = 1, .start = 0, .end = size};
	uint64_t offset = 0, last = 0, expected_last = 0;
	int64_t expected = naive_find(s->text.data, size, line, &expected_last);
	int got = index_find(s->fd, idx, &range, line, &offset, &last);
	assert_int_equal(got, expected < 0);
	if (got == 0)
		assert_int_equal(offset, expected);
	else
		assert_int_equal(last, expected_last);
}

static void check_some_lines(const struct sample *s, int idx, size_t size)
{
	uint64_t lines = naive_count(s->text.data, size);
	const uint64_t special[] = {
		1,     2,         INDEX_STRIDE, INDEX_STRIDE + 1, INDEX_STRIDE + 2,
		lines, lines + 1, lines + 2,    UINT64_MAX};
	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++) {
		if (special[i] > 0)
			check_line(s, idx, size, special[i]);
	}
	for (int i = 0; i < 40; i++)
		check_line(s, idx, size, 1 + random_below(lines + 3));
}

TEST(test_newline_count)
{
	static char data[20000];
	for (int round = 0; round < 300; round++) {
		uint64_t often = 1 + random_below(300);
		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = random_below(often) == 0 ? '\n' : (char)random_below(256);
		size_t from = (size_t)random_below(40),
		       len = (size_t)random_below(sizeof(data) - from);
		uint64_t count = naive_count(data + from, len);
		assert_int_equal(newline_count(data + from, len), count);
		uint64_t wanted = random_below(count + 5), left = wanted;
		size_t at = newline_skip(data + from, len, &left);
		assert_int_equal(naive_count(data + from, at), wanted - left);
		if (left > 0)
			assert_int_equal(at, len);
		else if (wanted > 0)
			assert_int_equal(data[from + at - 1], '\n');
		else
			assert_int_equal(at, 0);
	}
}

TEST(test_only_newlines)
{
	static char data[1 << 16];
	memset(data, '\n', sizeof(data));
	for (size_t len = 0; len <= sizeof(data); len += 257)
		assert_int_equal(newline_count(data, len), len);
}

TEST(test_lines_of_all_lengths)
{
	static const size_t longest[] = {1, 3, 40, 200, 3000};
	for (size_t i = 0; i < sizeof(longest) / sizeof(*longest); i++) {
		struct sample s = {0};
		for (int n = 0; n < 5000; n++)
			add_line(&s.text, (size_t)random_below(longest[i]));
		if (i % 2)
			s.text.len--; /* no final newline */
		build(&s, i == 2 ? 10 : 300000);
		assert_int_equal(s.writer.bytes, s.text.len);
		assert_int_equal(s.writer.lines, naive_count(s.text.data, s.text.len));
		check_some_lines(&s, s.idx, s.text.len);
		check_some_lines(&s, -1, s.text.len);
		release(&s);
	}
}

TEST(test_small_texts)
{
	static const char *const texts[] = {"", "\n", "a", "a\n", "a\nb", "\n\n", "a\n\nb\n"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct sample s = {0};
		buffer_append_string(&s.text, texts[i]);
		build(&s, 1);
		for (uint64_t line = 1; line < 6; line++) {
			check_line(&s, s.idx, s.text.len, line);
			check_line(&s, -1, s.text.len, line);
		}
		release(&s);
	}
}

/* Makes a sample of this many strides, with lines of random length. */
static struct sample random_sample(int strides)
{
	struct sample s = {0};
	for (int n = 0; n < strides * INDEX_STRIDE; n++)
		add_line(&s.text, (size_t)random_below(10));
	build(&s, 5000);
	return s;
}

TEST(test_exact_strides)
{
	for (int extra = -1; extra <= 1; extra++) {
		struct sample s = {0};
		for (int n = 0; n < 2 * INDEX_STRIDE + extra; n++)
			add_line(&s.text, 1);
		build(&s, 7);
		assert_int_equal(s.writer.entries.len, 8 + 8 * (extra < 0 ? 2 : 3));
		check_some_lines(&s, s.idx, s.text.len);
		release(&s);
	}
}

/* The text was larger when the index was written, or only its start counts. */
TEST(test_index_ahead)
{
	struct sample s = random_sample(50);
	for (int i = 0; i < 30; i++)
		check_some_lines(&s, s.idx, (size_t)random_below(s.text.len + 1));
	release(&s);
}

TEST(test_index_behind)
{
	struct sample s = random_sample(20);
	for (off_t size = 0; size < (off_t)s.writer.entries.len; size += 5) {
		assert_int_equal(ftruncate(s.idx, size), 0);
		check_line(&s, s.idx, s.text.len, 1 + random_below(20 * INDEX_STRIDE));
		assert_int_equal(pwrite(s.idx, s.writer.entries.data, s.writer.entries.len, 0),
				 (ssize_t)s.writer.entries.len);
	}
	release(&s);
}

TEST(test_damaged_index)
{
	struct sample s = random_sample(10);
	for (size_t at = 0; at < s.writer.entries.len; at++) {
		char bad = (char)(s.writer.entries.data[at] ^ (1 << random_below(8)));
		assert_int_equal(pwrite(s.idx, &bad, 1, (off_t)at), 1);
		for (uint64_t line = 500; line < 10 * INDEX_STRIDE; line += INDEX_STRIDE)
			check_line(&s, s.idx, s.text.len, line);
		assert_int_equal(pwrite(s.idx, s.writer.entries.data + at, 1, (off_t)at), 1);
	}
	/* Entries in each other's place, as after a lost write; zeros; a foreign file. */
	for (size_t at = 16; at + 16 <= s.writer.entries.len; at += 8)
		assert_int_equal(pwrite(s.idx, s.writer.entries.data + at + 8, 8, (off_t)at), 8);
	check_some_lines(&s, s.idx, s.text.len);
	assert_int_equal(ftruncate(s.idx, 8), 0);
	assert_int_equal(ftruncate(s.idx, (off_t)s.writer.entries.len), 0);
	check_some_lines(&s, s.idx, s.text.len);
	check_some_lines(&s, s.fd, s.text.len);
	release(&s);
}

/* Only a part of the text counts, and its lines have other numbers. */
TEST(test_range)
{
	struct sample s = random_sample(8);
	for (int i = 0; i < 50; i++) {
		uint64_t first = 1 + random_below(7 * INDEX_STRIDE), unused;
		uint64_t line = first + random_below(INDEX_STRIDE);
		int64_t start = naive_find(s.text.data, s.text.len, first, &unused);
		int64_t expected = naive_find(s.text.data, s.text.len, line, &unused);
		struct index_range range = {
			.line = first, .start = (uint64_t)start, .end = s.text.len};
		uint64_t offset, last;
		assert_int_equal(index_find(s.fd, s.idx, &range, line, &offset, &last), 0);
		assert_int_equal(offset, expected);
		/* A start inside the line before: then one line more passes. */
		range.line--;
		range.start--;
		if (range.line > 0) {
			assert_int_equal(index_find(s.fd, -1, &range, line, &offset, &last), 0);
			assert_int_equal(offset, expected);
		}
		range.end = range.start;
		assert_int_equal(index_find(s.fd, s.idx, &range, line, &offset, &last), 1);
		assert_int_equal(last, range.line - 1);
	}
	release(&s);
}

TEST_MAIN(NULL, NULL)
