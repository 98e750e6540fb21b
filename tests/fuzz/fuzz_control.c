// Requests from anywhere: each gets an answer, and does what it says or nothing. An input is
// packets, each behind its length (two bytes, little-endian; the high bit: the client reads what
// has come before it goes on).

#include "supervisor/process/supervisor_internal.h"
#include "tests/fuzz/fuzz.h"

#include <sys/socket.h>

struct run {
	size_t typed;
};

static int on_repaint(void *ctx, struct buffer *out)
{
	(void)ctx;
	buffer_append_string(out, "repaint");
	return 0;
}

static int on_status(void *ctx, struct control_client *client, const struct frame *f, size_t len)
{
	(void)ctx, (void)len;
	client->watches |= f->kind == FRAME_WATCH;
	control_answer(client, FRAME_STATUS, "status", 6);
	return CONTROL_ANSWERED;
}

static int on_type(void *ctx, struct control_client *client, const struct frame *f, size_t len)
{
	struct run *r = ctx;
	(void)client, (void)f;
	assert(len <= FRAME_REQUEST);
	r->typed += len;
	return 0;
}

static int on_attach(void *ctx, struct control_client *client, const struct frame *f, size_t len)
{
	(void)ctx, (void)len;
	client->attached = client->behind = true;
	client->sizes = f->a && f->b;
	return f->a > 1000 ? EINVAL : 0;
}

/* Every packet is a frame of a kind that a supervisor sends. */
static void read_all(int fd)
{
	struct frame f;
	ssize_t len;
	while ((len = frame_receive(fd, &f, MSG_DONTWAIT)) >= 0)
		assert(f.kind == FRAME_DONE ? len == 0
					    : f.kind == FRAME_STATUS || f.kind == FRAME_OUTPUT);
	assert(errno != EPROTO && errno != EPROTONOSUPPORT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static control_handler *const requests[FRAME_REQUESTS] = {
		[FRAME_STATUS] = on_status,
		[FRAME_WATCH] = on_status,
		[FRAME_TYPE] = on_type,
		[FRAME_ATTACH] = on_attach,
	};
	struct run r = {0};
	struct control c = {
		.requests = requests, .repaint = on_repaint, .ctx = &r, .dir = -1, .fd = -1};
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) < 0)
		return 0;
	control_adopt(&c, ends[0], false);
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
