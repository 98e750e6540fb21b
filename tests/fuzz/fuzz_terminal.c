// Any stream gives the same text however it is cut and in either gear, the pending text is the text
// that comes at the end, plain lines come out as they went in, and a stream that is not lossy has
// lost nothing. fuzz_terminal_long does so with much text, fuzz_terminal_strings looks at what does
// not end.

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/terminal.h"

/* The first bytes of the input: the size of the window, and what is done. */
#define HEADER 4

/* Length of the stream; more only takes longer. */
#define MOST 1024

enum {
	ONLCR = 1,
	RESIZE = 4,
	COMMIT = 8,
	LARGE = 16,
	LOOK = 32,
	STAYS = 64,
};

static bool is_plain(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)data[i];
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
			return false;
	}
	return true;
}

/* How often each byte is in a text; blanks may be tabs, or none at all. */
static void count(const char *data, size_t len, int step, int counts[256])
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)data[i] > ' ' && data[i] != 0x7F)
			counts[(unsigned char)data[i]] += step;
}

/* The last byte of a sequence from `i` on, which ends with a byte from `final` on, or where another
   one begins. */
static size_t sequence_end(const char *data, size_t len, size_t i, unsigned char final)
{
	while (i < len && data[i] != '\033' && ((unsigned char)data[i] < final || data[i] == 0x7F))
		i++;
	return i < len && data[i] == '\033' ? i - 1 : i;
}

/* The same of a stream that is not lossy: its sequences are colours and the like. */
static void count_stream(const char *data, size_t len, int counts[256])
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] != '\033') {
			count(data + i, 1, 1, counts);
			continue;
		}
		while (i + 1 < len && (data[i + 1] == '\033' || data[i + 1] == 0x7F))
			i++;
		/* ESC ( B and the like: intermediates, then the end. */
		if (++i < len && (unsigned char)data[i] >= 0x20 && (unsigned char)data[i] < 0x30) {
			i = sequence_end(data, len, i + 1, 0x30);
			continue;
		}
		if (i >= len || data[i] != '[')
			continue;
		i = sequence_end(data, len, i + 1, 0x40);
	}
}

static void check_all_is_there(const char *data, size_t len, const struct buffer *text)
{
	int counts[256] = {0};
	count_stream(data, len, counts);
	count(text->data, text->len, -1, counts);
	for (int c = 0; c < 256; c++)
		assert(counts[c] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct buffer first = BUFFER_INIT, other = BUFFER_INIT;
	struct way way = {.options = {.cols = 0}};
	if (size < HEADER)
		return 0;
	unsigned flags = input[2];
	const char *data = (const char *)input + HEADER;
	size_t len = size - HEADER < MOST ? size - HEADER : MOST;

	way.options.cols = flags & LARGE ? 120 : 2 + input[0] % 40;
	way.options.rows = flags & LARGE ? 40 : 2 + input[1] % 12;
	way.options.onlcr = flags & ONLCR;
	way.stays = flags & STAYS;
	bool lossy = render(&way, data, len, &first);

	if ((flags & ONLCR) && is_plain(data, len))
		assert(first.len == len && (!len || memcmp(first.data, data, len) == 0));
	if (!lossy)
		check_all_is_there(data, len, &first);

	way.commit = flags & COMMIT;
	way.resize = flags & RESIZE;
	way.look = flags & LOOK;
	way.seed = input[3];
	way.grid = input[3] & 1;
	way.scan = input[3] >> 3 & 3;
	way.piece = (size_t[]){0, 1, 17, 400}[input[3] >> 1 & 3];
	bool other_lossy = render(&way, data, len, &other);

	if (!way.resize && !(way.commit && lossy)) {
		assert(other_lossy == lossy);
		assert(is_equal(&first, &other));
	}
	buffer_release(&first);
	buffer_release(&other);
	return 0;
}
