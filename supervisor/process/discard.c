// See discard.h.

#include "supervisor/process/discard.h"

#include "supervisor/base/clock.h"
#include "supervisor/base/io.h"
#include "supervisor/process/intake.h"
#include "supervisor/process/pace.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

static void discard_drop(int *fd, struct pace *pace)
{
	static char chunk[4096];
	int end = -1;
	while (end < 0 && pace_wait(pace, clock_monotonic_ms()) == 0)
		pace_take(pace, intake_read(*fd, chunk, sizeof(chunk), &end), clock_monotonic_ms());
	if (end >= 0 && end != EAGAIN)
		io_close(fd);
}

void discard_all(int fds[2])
{
	struct pace pace = {0};
	while (fds[0] >= 0 || fds[1] >= 0) {
		int64_t wait = pace_wait(&pace, clock_monotonic_ms());
		struct pollfd polled[] = {{.fd = fds[0], .events = POLLIN},
					  {.fd = fds[1], .events = POLLIN}};
		if (wait > 0)
			io_poll(NULL, 0, (int)wait);
		else
			io_poll(polled, 2, -1);
		for (int i = 0; i < 2; i++) {
			if (fds[i] >= 0)
				discard_drop(&fds[i], &pace);
		}
	}
}
