// See progress.h.

#include "supervisor/command/progress.h"

#include "lib/human.h"
#include "lib/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* In milliseconds: nobody who waits less is told anything. */
#define PROGRESS_AFTER 1000
#define PROGRESS_EVERY 200

void progress_begin(struct progress *p)
{
	*p = (struct progress){.on = isatty(STDERR_FILENO), .began_ms = clock_monotonic_ms()};
}

void progress_tell(struct progress *p, const char *format, ...)
{
	char line[100] = "\r\033[K";
	const size_t begin = 4;
	if (!p->on)
		return;
	int64_t now = clock_monotonic_ms();
	if (now - p->began_ms < PROGRESS_AFTER || now - p->shown_ms < PROGRESS_EVERY)
		return;
	va_list args;
	va_start(args, format);
	int len = vsnprintf(line + begin, sizeof(line) - begin, format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(line) - begin)
		return;
	p->shown_ms = now;
	p->shows = true;
	io_write(STDERR_FILENO, line, begin + (size_t)len);
}

void progress_end(struct progress *p)
{
	if (p->shows)
		io_write(STDERR_FILENO, "\r\033[K", 4);
	p->shows = false;
}
