// See paint.h.

#include "supervisor/command/paint.h"

#include "supervisor/command/verb.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_variable_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value;
}

bool paint_by_default(void)
{
	const char *force = getenv("CLICOLOR_FORCE"), *term = getenv("TERM");
	if (is_variable_set("NO_COLOR"))
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return reader_find() != SINK_AGENT;
	return isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

const char *paint_code(bool on, enum paint paint)
{
	static const char *const codes[] = {
		[PAINT_GOOD] = "\033[32m",   [PAINT_BAD] = "\033[31m",
		[PAINT_LIVE] = "\033[33m",   [PAINT_SOFT] = "\033[2m",
		[PAINT_NOTICE] = "\033[33m", [PAINT_MATCH] = "\033[1;31m",
		[PAINT_PLACE] = "\033[36m",  [PAINT_TITLE] = "\033[1m",
	};
	return on ? codes[paint] : "";
}

const char *paint_none(bool on)
{
	return on ? "\033[m" : "";
}

void paint_begin(struct buffer *out, bool on, enum paint paint)
{
	buffer_append_string(out, paint_code(on, paint));
}

void paint_end(struct buffer *out, bool on)
{
	buffer_append_string(out, paint_none(on));
}
