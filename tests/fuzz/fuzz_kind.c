// Binary data of any kind, cut anywhere.

#include "supervisor/report/file_type.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *kind = file_type_find((const char *)data, size);
	assert(!kind || (size > 1 && *kind));
	return 0;
}
