// Requests from anywhere: each gets an answer, and does what it says or nothing. An input is
// packets, each behind its length (two bytes, little-endian; the high bit: the client reads what
// has come before it goes on).

#include "supervisor/process/control.h"
#include "supervisor/process/live_status.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
	size_t typed;
};

static int on_text(void *ctx, struct buffer *out)
{
	const struct live_status c = {.id = "cmd-000000000000", .exit_code = -1};
	(void)ctx;
	return live_status_encode(out, &c) < 0 ? ENOMEM : 0;
}

static int on_picture(void *ctx, bool painted, struct buffer *out)
{
	(void)painted;
	return on_text(ctx, out);
}

static int on_status(void *ctx, bool reads, struct buffer *out)
{
	(void)reads;
	return on_text(ctx, out);
}

static int on_type(void *ctx, const char *data, size_t len, bool cursor_key)
{
	struct run *r = ctx;
	(void)data;
	(void)cursor_key;
	assert(len <= CONTROL_REQUEST_DATA);
	r->typed += len;
	return 0;
}

static int on_close(void *ctx)
{
	(void)ctx;
	return 0;
}

static int on_signal(void *ctx, int sig, bool own)
{
	(void)ctx;
	(void)own;
	assert(sig >= 0 && sig <= 1000);
	return sig > 64 ? EINVAL : 0;
}

static int on_resize(void *ctx, unsigned cols, unsigned rows, bool attached)
{
	(void)ctx;
	(void)attached;
	return cols > 1000 || rows > 500 ? EINVAL : 0;
}

static int on_reported(void *ctx, uint64_t lines)
{
	(void)ctx;
	(void)lines;
	return 0;
}

static void on_follow(void *ctx)
{
	(void)ctx;
}

/* Every packet is of a kind that a supervisor sends, and a status can be read. */
static void read_all(int fd)
{
	struct control_packet p;
	ssize_t n;
	while ((n = recv(fd, &p, sizeof(p), MSG_DONTWAIT)) > 0) {
		struct live_status c;
		assert((size_t)n >= sizeof(p.head));
		size_t len = (size_t)n - sizeof(p.head);
		switch (p.head.kind) {
		case CONTROL_DONE: assert(len == 0); break;
		case CONTROL_STATUS: assert(live_status_parse(p.data, len, &c) == 0); break;
		case CONTROL_PICTURE:
		case CONTROL_OUTPUT: break;
		default: assert(0);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run r = {0};
	const struct control_events events = {
		.status = on_status,
		.picture = on_picture,
		.repaint = on_text,
		.type = on_type,
		.close = on_close,
		.signal = on_signal,
		.resize = on_resize,
		.reported = on_reported,
		.follow = on_follow,
		.ctx = &r,
	};
	struct control c;
	struct live_status live_status;
	int ends[2];
	/* Possible answers of a supervisor. */
	live_status_parse((const char *)data, size, &live_status);
	control_init(&c, &events);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) < 0)
		return 0;
	control_adopt(&c, ends[0]);
	while (size >= 2) {
		size_t len = data[0] | (size_t)(data[1] & 0x7F) << 8;
		bool reads = data[1] & 0x80;
		data += 2;
		size -= 2;
		len = len < size ? len : size;
		send(ends[1], data, len, MSG_NOSIGNAL);
		control_serve(&c);
		control_output(&c, (const char *)data, len);
		control_changed(&c);
		if (reads)
			read_all(ends[1]);
		data += len;
		size -= len;
	}
	for (int i = 0; i < 10; i++) {
		control_serve(&c);
		read_all(ends[1]);
	}
	/* An empty packet is the end of a client. */
	assert(c.count <= 1);
	close(ends[1]);
	control_serve(&c);
	assert(c.count == 0);
	control_close(&c);
	return 0;
}
