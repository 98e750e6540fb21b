// See detour.h.

#include "shim/detour.h"

#include <paths.h>
#include <string.h>

static const char before[] = "exec " _PATH_BSHELL " -c '";
static const char after[] = "' sh";
/* An apostrophe within apostrophes. */
static const char quoted[] = "'\\''";

size_t detour_size(const char *command)
{
	size_t size = sizeof(before) - 1 + sizeof(after);
	if (*command == '-' || *command == '+')
		return 0;
	for (; *command; command++)
		size += *command == '\'' ? sizeof(quoted) - 1 : 1;
	return size;
}

void detour_write(char *out, const char *command)
{
	memcpy(out, before, sizeof(before) - 1);
	out += sizeof(before) - 1;
	for (; *command; command++) {
		if (*command == '\'') {
			memcpy(out, quoted, sizeof(quoted) - 1);
			out += sizeof(quoted) - 1;
		} else {
			*out++ = *command;
		}
	}
	memcpy(out, after, sizeof(after));
}
