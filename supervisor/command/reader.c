// See reader.h.

#include "supervisor/command/reader.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/io.h"
#include "supervisor/process/kin.h"

#include <stdlib.h>
#include <unistd.h>

enum sink reader_find(void)
{
	enum sink sink = sink_of(STDOUT_FILENO);
	struct kin kin = {.passes = false};
	return sink == SINK_PIPE ? sink_of_pipe(STDOUT_FILENO, getpid(), getppid(), &kin) : sink;
}

int reader_notice(enum sink sink, const struct buffer *text)
{
	const char *no_colour = getenv("NO_COLOR");
	bool colour = sink == SINK_PERSON && (!no_colour || !*no_colour);
	bool both = sink == SINK_FILE && !sink_is_same(STDOUT_FILENO, STDERR_FILENO);
	if (text->len == 0)
		return 0;
	if (sink == SINK_PROGRAM || both)
		io_write(STDERR_FILENO, text->data, text->len);
	if (sink == SINK_PROGRAM)
		return 0;
	if ((colour && io_write(STDOUT_FILENO, "\033[33m", 5) < 0) ||
	    io_write(STDOUT_FILENO, text->data, text->len) < 0 ||
	    (colour && io_write(STDOUT_FILENO, "\033[m", 3) < 0))
		return -1;
	return 0;
}
