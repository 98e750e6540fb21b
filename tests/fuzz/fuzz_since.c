// The texts of two runs, the one before and the one now: what is told of them can stand in a line
// as it is.

#include "lib/utf8.h"
#include "supervisor/compare/since.h"
#include "tests/fuzz/fuzz.h"

/* Text from here on is that of the run now. */
#define NOW "\n== now\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wording_since told = {.id = ""};
	const uint8_t *now = memmem(data, size, NOW, strlen(NOW));
	const size_t before = now ? (size_t)(now - data) : size;
	struct text texts[4];
	char *copies[4];
	for (int i = 0; i < 4; i++) {
		/* A copy, so that nothing behind it is read. */
		const uint8_t *from = i == 2 ? data : now ? now + strlen(NOW) : data;
		const size_t len = i == 2          ? before
				   : i == 0 && now ? size - before - strlen(NOW)
						   : 0;
		copies[i] = malloc(len + !len);
		assert(copies[i]);
		memcpy(copies[i], from, len);
		texts[i] = (struct text){.fd = -1,
					 .idx = -1,
					 .dir = -1,
					 .json = -1,
					 .memory = {.data = copies[i], .len = len},
					 .size = len};
	}
	since_compare_tests(&told, texts, true);
	assert(!*told.tests || strncmp(told.tests, "failed: ", strlen("failed: ")) == 0);
	assert(utf8_all_clean(told.tests, strlen(told.tests)) && !strpbrk(told.tests, "\\\n\t"));
	for (int i = 0; i < 4; i++)
		free(copies[i]);
	return 0;
}
