// The append gear hands on without copying only what is longer than inputs are: as fuzz_terminal,
// with the stream many times over.

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/terminal.h"

#define HEADER  4
#define MOST    ((size_t)1024)
#define REPEATS 40

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
	struct buffer stream = BUFFER_INIT, first = BUFFER_INIT, other = BUFFER_INIT;
	struct way way = {.options = {.cols = 0}};
	if (size < HEADER)
		return 0;
	size_t len = size - HEADER < MOST ? size - HEADER : MOST;

	way.options.cols = 2 + input[0] % 200;
	way.options.rows = 2 + input[1] % 50;
	way.options.onlcr = input[2] & 1;
	for (int i = 0; i < REPEATS; i++)
		buffer_append(&stream, input + HEADER, len);
	bool lossy = render(&way, stream.data, stream.len, &first);

	way.seed = input[3];
	way.grid = input[3] & 1;
	way.piece = (size_t[]){9000, 4096, 100000, 500}[input[3] >> 1 & 3];
	assert(render(&way, stream.data, stream.len, &other) == lossy);
	assert(is_equal(&first, &other));
	buffer_release(&stream);
	buffer_release(&first);
	buffer_release(&other);
	return 0;
}
