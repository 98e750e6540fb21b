// Binary data of any kind, cut anywhere.

#include "lib/buffer.h"
#include "supervisor/report/file_type.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer out = BUFFER_INIT;
	struct kind k;
	file_type_find(&k, (const char *)data, size);
	assert(k.name || (k.width == 0 && k.height == 0));
	assert(file_type_append(&out, &k) == 0);
	assert(out.len > 0 && out.len < 64);
	buffer_release(&out);
	return 0;
}
