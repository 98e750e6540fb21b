// The lines of two texts, the one before and the one now: what is told of them can stand in a line
// as it is.

#include "lib/utf8.h"
#include "supervisor/compare/outcome.h"
#include "tests/fuzz/fuzz.h"

/* Lines from here on are those of the text now. */
#define NOW "== now"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome *o = outcome_new();
	char told[OUTCOME_LEN];
	bool before = true;
	assert(o);
	while (size > 0) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) : size;
		/* A copy, so that nothing behind it is read. */
		char *line = malloc(len + !len);
		assert(line);
		memcpy(line, data, len);
		before &= len != strlen(NOW) || memcmp(line, NOW, len) != 0;
		outcome_add_line(o, before, line, len);
		free(line);
		len += end != NULL;
		data += len;
		size -= len;
	}
	outcome_compare(told, o, true);
	assert(!*told || strncmp(told, "failed: ", strlen("failed: ")) == 0);
	assert(utf8_all_clean(told, strlen(told)) && !strpbrk(told, "\\\n\t"));
	outcome_free(o);
	return 0;
}
