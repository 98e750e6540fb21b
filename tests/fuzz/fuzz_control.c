// Requests from anywhere: each gets an answer, and does what it says or nothing. An input is
// packets, each behind its length (two bytes, little-endian; the high bit: the client reads what
// has come before it goes on).

#include "supervisor/process/supervisor_internal.h"
#include "tests/fuzz/fuzz.h"

#include <sys/socket.h>

/* Every packet is a frame of a kind that a supervisor sends. */
static void read_all(int fd)
{
	struct frame f;
	ssize_t len;
	while ((len = frame_receive(fd, &f, MSG_DONTWAIT)) >= 0)
		assert(f.kind == FRAME_DONE ? len == 0
					    : f.kind == FRAME_STATUS || f.kind == FRAME_OUTPUT ||
						      f.kind == FRAME_PICTURE);
	assert(errno != EPROTO && errno != EPROTONOSUPPORT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *argv[] = {(char *)"x", NULL};
	static struct settings settings;
	static struct supervisor s;
	const struct job job = {.argv = argv, .settings = &settings, .cols = 80, .rows = 24};
	if (!settings.size)
		settings_init(&settings);
	/* Without a process, an artifact or a socket: signals reach nobody. */
	s = (struct supervisor){.job = &job, .device = 1, .group = 0x3fffffff};
	s.sources[0] = (struct source){
		.fd = -1, .child = -1, .run = &s, .sink = SINK_PERSON, .queue = {.own = -1}};
	s.end = s.sources + 1;
	s.record = (struct record){.settings = &settings, .history = -1, .error = ENOSPC};
	s.live = (struct live){.dir = -1, .fd = -1, .cols = job.cols, .rows = job.rows};
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) < 0)
		return 0;
	live_adopt(&s.live, ends[0], false);
	while (size >= 2) {
		size_t len = data[0] | (size_t)(data[1] & 0x7F) << 8;
		bool reads = data[1] & 0x80;
		data += 2;
		size -= 2;
		len = len < size ? len : size;
		send(ends[1], data, len, MSG_NOSIGNAL);
		live_serve(&s);
		live_output(&s, (const char *)data, len);
		live_tell_now(&s, 1);
		if (reads)
			read_all(ends[1]);
		data += len;
		size -= len;
	}
	for (int i = 0; i < 10; i++) {
		live_serve(&s);
		read_all(ends[1]);
	}
	/* An empty packet is the end of a client. */
	assert(s.live.count <= 1);
	close(ends[1]);
	live_serve(&s);
	assert(s.live.count == 0);
	live_close(&s.live);
	source_release(&s.sources[0]);
	buffer_release(&s.input);
	return 0;
}
