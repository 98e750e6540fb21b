// The parts of the terminal that others there rely on: the scanner's variants, the parser's short
// cut, clusters; and a terminal without memory.

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "supervisor/terminal/internal.h"
#include "supervisor/terminal/terminal.h"
#include "tests/unit/child.h"
#include "tests/unit/random.h"

#include <sys/resource.h>

/* The expected result of the scanner, one byte at a time. */
static size_t text_length(const char *data, size_t len, bool line, size_t *newlines)
{
	size_t i;
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)data[i];
		if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7F)
			break;
		if (c == '\n' && line)
			break;
		*newlines += c == '\n';
	}
	return i;
}

static size_t ascii_length(const char *data, size_t len)
{
	size_t i = 0;
	while (i < len && (unsigned char)data[i] >= 0x20 && (unsigned char)data[i] < 0x7F)
		i++;
	return i;
}

static void check_scan(const struct scan *scan, const char *data, size_t len)
{
	for (int line = 0; line < 2; line++) {
		size_t want_newlines = 0, newlines = 0;
		size_t want = text_length(data, len, line, &want_newlines);
		assert_int_equal(scan->text(data, len, line, &newlines), want);
		assert_int_equal(newlines, want_newlines);
	}
	assert_int_equal(scan->ascii(data, len), ascii_length(data, len));
	if (len < MARKS)
		return;
	struct marks want = {0, 0, 0}, marks = scan->marks(data + len - MARKS);
	for (size_t i = 0; i < MARKS; i++) {
		char c = data[len - MARKS + i];
		size_t none = 0;
		want.control |= (uint64_t)(text_length(&c, 1, false, &none) == 0) << i;
		want.newline |= (uint64_t)(c == '\n') << i;
		want.digit |= (uint64_t)(c >= '0' && c <= ';') << i;
	}
	assert_true(marks.control == want.control);
	assert_true(marks.newline == want.newline);
	assert_true(marks.digit == want.digit);
}

TEST(scan_variants_agree)
{
	uint32_t seed = random_start(1);
	unsigned variants = 0;
	for (const struct scan *const *v = scan_variants(); *v; v++, variants++) {
		for (int round = 0; round < 4000; round++) {
			char block[300];
			size_t len = random_next(&seed) % sizeof(block);
			/* An exact allocation, so that a read past it is found. */
			char *data = malloc(len + 1);
			assert_non_null(data);
			for (size_t i = 0; i < len; i++)
				data[i] = random_next(&seed) % 20 ? 'a' : '\n';
			/* Every byte value, at every place. */
			if (len)
				data[random_next(&seed) % len] = (char)round;
			data = realloc(data, len ? len : 1);
			assert_non_null(data);
			check_scan(*v, data, len);
			free(data);
		}
	}
	assert_true(variants >= 1);
}

TEST(widen_and_narrow)
{
	char data[100], back[100];
	uint32_t cells[100];
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(0x21 + i % 90);
	for (size_t len = 1; len <= sizeof(data); len++) {
		scan_widen(cells, data, len);
		for (size_t i = 0; i < len; i++)
			assert_int_equal(cells[i], data[i]);
		assert_int_equal(scan_narrow(back, cells, len), len);
		assert_memory_equal(back, data, len);
	}
	/* Blanks at the end of a run are left out, those in it are not. */
	scan_widen(cells, "a b  ", 5);
	assert_int_equal(scan_narrow(back, cells, 5), 3);
	cells[1] = 0xE9;
	assert_int_equal(scan_narrow(back, cells, 5), 1);
}

/* The parser's short cut does what stepping does, or nothing. */
TEST(quick_is_like_steps)
{
	static const char alphabet[] = "0123456789;;;;::?>$ \x1b\x07mHJKAhl\x80";
	uint32_t seed = random_start(7);
	unsigned hits = 0;
	for (int round = 0; round < 200000; round++) {
		char text[40];
		size_t len = random_next(&seed) % sizeof(text);
		struct parser quick, slow;
		size_t n;
		for (size_t i = 0; i < len; i++)
			text[i] = alphabet[random_next(&seed) % (sizeof(alphabet) - 1)];
		quick = (struct parser){.state = PARSER_GROUND};
		n = parser_quick(&quick, text, text + len);
		if (!n)
			continue;
		hits++;
		slow = (struct parser){.state = PARSER_GROUND};
		parser_step(&slow, 0x1B);
		parser_step(&slow, '[');
		for (size_t i = 0; i + 1 < n; i++)
			assert_int_equal(parser_step(&slow, (unsigned char)text[i]),
					 PARSER_NOTHING);
		assert_int_equal(parser_step(&slow, (unsigned char)text[n - 1]), PARSER_CSI);
		assert_int_equal(quick.state, slow.state);
		assert_int_equal(quick.collect, slow.collect);
		assert_int_equal(quick.count, slow.count);
		assert_memory_equal(quick.params, slow.params, slow.count * sizeof(slow.params[0]));
	}
	assert_true(hits > 1000);
}

TEST(parameters)
{
	struct parser p = {.state = PARSER_GROUND};
	for (const char *c = "\033[;5:7;99999999999;0"; *c; c++)
		parser_step(&p, (unsigned char)*c);
	assert_int_equal(parser_step(&p, 'm'), PARSER_CSI);
	assert_int_equal(p.count, 4);
	assert_int_equal(parser_param(&p, 0, 1), 1);
	assert_int_equal(parser_param(&p, 1, 1), 5);
	assert_int_equal(parser_param(&p, 2, 1), INT32_MAX);
	assert_int_equal(parser_param(&p, 3, 9), 9);
	assert_int_equal(parser_param(&p, 4, 9), 9);
}

TEST(clusters)
{
	struct cluster_pool pool = {.limit = 100};
	uint32_t cell = 'e' | CELL_ZERO;
	uint32_t parts[CLUSTER_PARTS];
	assert_int_equal(cluster_parts(&pool, cell, parts), 1);
	assert_int_equal(parts[0], 'e');
	for (uint32_t i = 1; i < CLUSTER_PARTS; i++)
		assert_true(cluster_add(&pool, &cell, 0x300 + i));
	assert_false(cluster_add(&pool, &cell, 0x400));
	assert_true((cell & CELL_CLUSTER) && (cell & CELL_ZERO));
	assert_int_equal(cluster_parts(&pool, cell, parts), CLUSTER_PARTS);
	assert_int_equal(parts[0], 'e');
	for (uint32_t i = 1; i < CLUSTER_PARTS; i++)
		assert_int_equal(parts[i], 0x300 + i);
	free(pool.text);
}

static void keep(void *ctx, const char *data, size_t len)
{
	buffer_append(ctx, data, len);
}

/* With a sanitizer, too, an allocation that is not possible fails. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* Where there is no memory for a larger screen all goes on in the old one. */
CHILD_TEST(without_memory)
{
	struct buffer text = BUFFER_INIT;
	struct terminal_options options = {.cols = 20, .rows = 5, .onlcr = true};
	struct terminal_events events = {.text = keep, .ctx = &text};
	struct terminal *t = terminal_new(&options, &events);
	static const struct rlimit none = {0};
	static const char before[] = "one\ntwo", after[] = "\033[Aand\n\nthree\n";
	CHECK(t && buffer_reserve(&text, 4096) == 0);
	CHECK(setrlimit(RLIMIT_AS, &none) == 0);
	terminal_feed(t, before, strlen(before));
	terminal_resize(t, 1000, 500);
	CHECK(terminal_facts(t).cols == 20 && terminal_facts(t).rows == 5);
	terminal_feed(t, after, strlen(after));
	terminal_finish(t);
	CHECK(strcmp(buffer_string(&text), "oneand\ntwo\nthree\n") == 0);
	terminal_free(t);
	buffer_release(&text);
}

/* A CR before LF stays, however the bytes come in pieces and whichever gear is on. */
TEST(returns_kept)
{
	static const char in[] = "\r\n1\r\n\r\n\033[31mred\033[m\r\n\ttab \r\n\xC3\xA9 \xFF\r\n"
				 "one that is wrapped\r\n0123456789\r\na\nb\n\r\n\f\r\nend";
	static const char want[] = "\r\n1\r\n\r\nred\r\n\ttab \r\n\xC3\xA9 \xFF\r\n"
				   "one that is wrapped\r\n0123456789\r\na\nb\n\r\n\n\r\nend";
	size_t len = sizeof(in) - 1;
	for (int gear = 0; gear < 2; gear++) {
		for (size_t size = 1; size <= len; size++) {
			struct terminal_options options = {.cols = 10,
							   .rows = 4,
							   .onlcr = true,
							   .returns = true,
							   .cells = gear == 1};
			struct buffer text = BUFFER_INIT;
			struct terminal_events events = {.text = keep, .ctx = &text};
			struct terminal *t = terminal_new(&options, &events);
			assert_non_null(t);
			for (size_t at = 0; at < len; at += size)
				terminal_feed(t, in + at, len - at < size ? len - at : size);
			terminal_finish(t);
			assert_string_equal(buffer_string(&text), want);
			terminal_free(t);
			buffer_release(&text);
		}
	}
}

TEST_MAIN(NULL, NULL)
