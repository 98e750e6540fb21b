// See trace.h.

#include "lib/trace.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Bytes of a line's text before they are escaped. */
#define TEXT_MOST 512

static const char *const area_names[TRACE_AREAS] = {
	[TRACE_PROCESS] = "process",   [TRACE_SIGNALS] = "signals", [TRACE_SINK] = "sink",
	[TRACE_TERMINAL] = "terminal", [TRACE_PREVIEW] = "preview", [TRACE_CONFIG] = "config",
};

int trace_fd = -1;

static int64_t trace_begun_ms; /* monotonic */

int trace_open(const char *file, const char *what)
{
	char date[32] = "";
	struct tm tm;
	if (!*file)
		return 0;
	if (*file != '/') {
		errno = EINVAL;
		return -1;
	}
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	trace_fd = io_above_standard(open(file, flags, 0600));
	if (trace_fd < 0)
		return -1;
	trace_begun_ms = clock_monotonic_ms();
	const time_t now = time(NULL);
	if (gmtime_r(&now, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &tm);
	trace_print(TRACE_PROCESS, "%s, %s", what, date);
	return 0;
}

/* Whether a write will neither wait nor exceed RLIMIT_FSIZE, where SIGXFSZ would end this
   process. */
static bool trace_can_write(size_t len)
{
	struct pollfd fd = {.fd = trace_fd, .events = POLLOUT};
	struct rlimit limit;
	struct stat st;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    fstat(trace_fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (rlim_t)st.st_size + len > limit.rlim_cur)
		return false;
	return poll(&fd, 1, 0) == 1 && fd.revents == POLLOUT;
}

void trace_print(enum trace_area area, const char *format, ...)
{
	struct buffer line = BUFFER_INIT;
	char text[TEXT_MOST];
	int saved = errno;
	va_list args;
	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	int64_t ms = clock_monotonic_ms() - trace_begun_ms;
	buffer_printf(&line, "%3" PRId64 ".%03d %7d %-8s ", ms / 1000, (int)(ms % 1000),
		      (int)getpid(), area_names[area]);
	quote_text(&line, text, len < 0 ? 0 : strnlen(text, sizeof(text)), 0);
	buffer_append_string(&line, "\n");
	/* In one piece, since other processes append to the file, too. */
	if (buffer_check(&line) == 0 && trace_can_write(line.len) &&
	    write(trace_fd, line.data, line.len) < 0 && errno != EAGAIN)
		trace_close();
	buffer_release(&line);
	errno = saved;
}

void trace_close(void)
{
	io_close(&trace_fd);
}
