// The control socket: requests and answers, clients that misbehave.

#include "supervisor/process/supervisor_internal.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/child.h"
#include "tests/unit/home.h"
#include "tests/unit/unit.h"

/* A run: what was asked of it. */
struct run {
	struct control control;
	struct buffer typed;
	size_t status_len; /* of what it tells */
	int statuses, others, repaints, error;
	int a, b; /* of the last other request */
};

static int on_status(void *ctx, struct control_client *client, const struct frame *f, size_t len)
{
	struct run *r = ctx;
	struct buffer status = BUFFER_INIT;
	(void)len;
	r->statuses++;
	client->watches |= f->kind == FRAME_WATCH;
	for (size_t i = 0; i < r->status_len; i++)
		buffer_append(&status, &"abcdefghij"[i % 10], 1);
	if (!r->error)
		control_answer(client, FRAME_STATUS, status.data, status.len);
	buffer_release(&status);
	return r->error ? r->error : CONTROL_ANSWERED;
}

static int on_repaint(void *ctx, struct buffer *out)
{
	struct run *r = ctx;
	r->repaints++;
	buffer_append_string(out, "<repaint>");
	return 0;
}

static int on_type(void *ctx, struct control_client *client, const struct frame *f, size_t len)
{
	struct run *r = ctx;
	(void)client;
	if (!r->error)
		buffer_append(&r->typed, f->data, len);
	return r->error;
}

/* Any other request. */
static int on_other(void *ctx, struct control_client *client, const struct frame *f, size_t len)
{
	struct run *r = ctx;
	(void)client, (void)len;
	r->others++;
	r->a = f->a;
	r->b = f->b;
	return r->error;
}

static int on_attach(void *ctx, struct control_client *client, const struct frame *f, size_t len)
{
	int error = on_other(ctx, client, f, len);
	if (error)
		return error;
	client->attached = client->behind = true;
	client->sizes = f->a && f->b;
	return 0;
}

static void start(struct run *r)
{
	static control_handler *const requests[FRAME_REQUESTS] = {
		[FRAME_STATUS] = on_status, [FRAME_WATCH] = on_status,  [FRAME_TYPE] = on_type,
		[FRAME_RESIZE] = on_other,  [FRAME_ATTACH] = on_attach,
	};
	*r = (struct run){.status_len = 5};
	r->control = (struct control){
		.requests = requests, .repaint = on_repaint, .ctx = r, .dir = -1, .fd = -1};
}

static void end(struct run *r)
{
	control_close(&r->control);
	buffer_release(&r->typed);
}

/* A client; what it does not read waits. */
static int client(struct run *r)
{
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	control_adopt(&r->control, ends[0], false);
	return ends[1];
}

static void ask(int fd, enum frame_kind kind, int a, int b, const char *data)
{
	assert_int_equal(frame_send(fd, kind, a, b, data, strlen(data), 0), 0);
}

/* The next packet must be of this kind; returns its length. */
static size_t take(int fd, enum frame_kind kind, struct frame *p)
{
	ssize_t n = frame_receive(fd, p, 0);
	assert_true(n >= 0);
	assert_int_equal(p->kind, kind);
	return (size_t)n;
}

static void assert_done(struct run *r, int fd, int error)
{
	struct frame p;
	control_serve(&r->control);
	assert_int_equal(take(fd, FRAME_DONE, &p), 0);
	assert_int_equal(p.a, error);
}

TEST(requests_are_done)
{
	struct run r;
	struct frame p;
	start(&r);
	int fd = client(&r);
	ask(fd, FRAME_TYPE, 0, 0, "hello");
	ask(fd, FRAME_TYPE, 1, 0, " you");
	assert_done(&r, fd, 0);
	assert_done(&r, fd, 0);
	assert_int_equal(r.typed.len, 9);
	assert_memory_equal(r.typed.data, "hello you", 9);
	ask(fd, FRAME_RESIZE, 90, 33, "");
	assert_done(&r, fd, 0);
	assert_int_equal(r.a * 1000 + r.b, 90033);
	ask(fd, FRAME_STATUS, 0, 0, "");
	control_serve(&r.control);
	assert_int_equal(take(fd, FRAME_STATUS, &p), 5);
	assert_int_equal(p.a, 0);
	close(fd);
	end(&r);
}

TEST(errors_are_answered)
{
	static const enum frame_kind kinds[] = {FRAME_TYPE, FRAME_RESIZE, FRAME_STATUS,
						FRAME_ATTACH};
	struct run r;
	start(&r);
	int fd = client(&r);
	r.error = ENOTTY;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		ask(fd, kinds[i], 1, 1, "");
		assert_done(&r, fd, ENOTTY);
	}
	close(fd);
	end(&r);
}

TEST(what_is_no_request_is_refused)
{
	static char huge[FRAME_DATA * 4];
	static struct frame other = {.version = PROTOCOL_VERSION + 1};
	struct run r;
	start(&r);
	int fd = client(&r);
	ask(fd, (enum frame_kind)4711, 0, 0, "x");
	assert_done(&r, fd, EPROTO);
	ask(fd, FRAME_DONE, 0, 0, "");
	assert_done(&r, fd, EPROTO);
	/* The front end's. */
	ask(fd, FRAME_AWAKE, 0, 0, "");
	assert_done(&r, fd, EPROTO);
	assert_int_equal(r.others, 0);
	/* Nobody handles it. */
	ask(fd, FRAME_PICTURE, 0, 0, "");
	assert_done(&r, fd, EPROTO);
	assert_int_equal(send(fd, "abc", 3, 0), 3);
	assert_done(&r, fd, EPROTO);
	assert_int_equal(send(fd, huge, sizeof(huge), 0), sizeof(huge));
	assert_done(&r, fd, EPROTO);
	assert_int_equal(send(fd, &other, FRAME_HEAD, 0), FRAME_HEAD);
	assert_done(&r, fd, EPROTONOSUPPORT);
	assert_int_equal(frame_send(fd, FRAME_TYPE, 0, 0, huge, FRAME_REQUEST + 1, 0), 0);
	assert_done(&r, fd, EPROTO);
	assert_int_equal(r.typed.len, 0);
	assert_int_equal(frame_send(fd, FRAME_TYPE, 0, 0, huge, FRAME_REQUEST, 0), 0);
	assert_done(&r, fd, 0);
	assert_int_equal(r.typed.len, FRAME_REQUEST);
	close(fd);
	end(&r);
}

TEST(long_answers_come_in_pieces)
{
	struct run r;
	struct frame p;
	start(&r);
	r.status_len = 1000000;
	int fd = client(&r);
	ask(fd, FRAME_STATUS, 0, 0, "");
	size_t got = 0;
	do {
		control_serve(&r.control);
		size_t n = take(fd, FRAME_STATUS, &p);
		assert_int_equal(p.data[0], "abcdefghij"[got % 10]);
		got += n;
		assert_int_equal(p.a, r.status_len - got);
	} while (p.a > 0);
	assert_int_equal(got, r.status_len);
	assert_false(control_is_pending(&r.control));
	close(fd);
	end(&r);
}

TEST(watchers_are_told)
{
	struct run r;
	struct frame p;
	start(&r);
	int fd = client(&r), other = client(&r);
	ask(fd, FRAME_WATCH, 0, 0, "");
	control_serve(&r.control);
	take(fd, FRAME_STATUS, &p);
	control_changed(&r.control);
	take(fd, FRAME_STATUS, &p);
	assert_int_equal(recv(other, &p, sizeof(p), 0), -1);
	/* However often it changes, one that does not read has little waiting for it. */
	for (int i = 0; i < 100000; i++)
		control_changed(&r.control);
	assert_true(r.statuses < 10000);
	int last = 0;
	for (;;) {
		control_serve(&r.control);
		if (recv(fd, &p, sizeof(p), 0) < 0)
			break;
		last++;
	}
	assert_true(last > 0);
	assert_false(control_is_pending(&r.control));
	close(fd), close(other);
	end(&r);
}

TEST(the_attached_get_the_output)
{
	struct run r;
	struct frame p;
	start(&r);
	int fd = client(&r), other = client(&r);
	ask(fd, FRAME_ATTACH, 80, 24, "");
	assert_done(&r, fd, 0);
	assert_int_equal(r.a, 80);
	control_serve(&r.control);
	assert_int_equal(take(fd, FRAME_OUTPUT, &p), strlen("<repaint>"));
	control_output(&r.control, "abc", 3);
	assert_int_equal(take(fd, FRAME_OUTPUT, &p), 3);
	assert_memory_equal(p.data, "abc", 3);
	assert_int_equal(recv(other, &p, sizeof(p), 0), -1);
	close(fd);
	control_serve(&r.control);
	/* The last client leaves: the run has its own size again. */
	assert_true(r.control.unsized);
	close(other);
	end(&r);
}

/* It misses output, and nothing grows; when it reads again it gets the screen. */
TEST(one_that_stalls_is_skipped)
{
	static char data[32768];
	struct run r;
	struct frame p;
	start(&r);
	int fd = client(&r);
	ask(fd, FRAME_ATTACH, 80, 24, "");
	assert_done(&r, fd, 0);
	control_serve(&r.control);
	take(fd, FRAME_OUTPUT, &p);
	memset(data, 'x', sizeof(data));
	for (int i = 0; i < 10000; i++)
		control_output(&r.control, data, sizeof(data));
	assert_int_equal(r.repaints, 1);
	size_t got = 0;
	ssize_t n;
	for (;;) {
		control_serve(&r.control);
		n = recv(fd, &p, sizeof(p), 0);
		if (n < 0)
			break;
		got += (size_t)n;
	}
	assert_true(got < 2u << 20);
	assert_int_equal(r.repaints, 2);
	assert_memory_equal(p.data, "<repaint>", 9);
	control_output(&r.control, "abc", 3);
	assert_int_equal(take(fd, FRAME_OUTPUT, &p), 3);
	close(fd);
	end(&r);
}

TEST(there_is_room_for_so_many)
{
	struct run r;
	struct frame p;
	int fds[CONTROL_CLIENTS + 1];
	start(&r);
	for (int i = 0; i <= CONTROL_CLIENTS; i++)
		fds[i] = client(&r);
	assert_int_equal(r.control.count, CONTROL_CLIENTS);
	assert_int_equal(recv(fds[CONTROL_CLIENTS], &p, sizeof(p), 0), FRAME_HEAD);
	assert_int_equal(p.kind, FRAME_DONE);
	assert_int_equal(p.a, EBUSY);
	assert_int_equal(recv(fds[CONTROL_CLIENTS], &p, sizeof(p), 0), 0);
	for (int i = 0; i <= CONTROL_CLIENTS; i++)
		close(fds[i]);
	control_serve(&r.control);
	assert_int_equal(r.control.count, 0);
	end(&r);
}

TEST_IN(the_socket, home_setup, home_teardown)
{
	struct run r;
	struct stat st;
	struct frame p;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/cmd-1", home);
	start(&r);
	mode_t mask = umask(0);
	int dir = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(control_open(&r.control, dir, "cmd-1"), 0);
	umask(mask);
	assert_int_equal(stat(address.sun_path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	for (size_t clients = 0; clients < 2; clients++) {
		struct loop l;
		loop_begin(&l);
		control_watch(&r.control, &l);
		assert_int_equal(l.count, 1 + clients);
		loop_until(&l, 1);
		loop_turn(&l);
		assert_int_equal(r.control.count, 1);
	}
	ask(fd, FRAME_STATUS, 0, 0, "");
	control_serve(&r.control);
	assert_int_equal(take(fd, FRAME_STATUS, &p), 5);
	end(&r);
	assert_int_equal(recv(fd, &p, sizeof(p), 0), 0);
	assert_int_equal(stat(address.sun_path, &st), -1);
	close(fd);
}

static void connect_as_another(const void *ctx)
{
	struct frame p;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	CHECK(setresuid(65534, 65534, 65534) == 0);
	/* Acts as if the directory and the file were open to all. */
	CHECK(connect(fd, ctx, sizeof(struct sockaddr_un)) == 0);
	CHECK(recv(fd, &p, sizeof(p), 0) <= 0);
}

TEST_IN(another_user_is_not_let_in, home_setup, home_teardown)
{
	struct run r;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (geteuid() != 0)
		skip();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/cmd-2", home);
	start(&r);
	int dir = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(control_open(&r.control, dir, "cmd-2"), 0);
	assert_int_equal(chmod(home, 0755), 0);
	assert_int_equal(chmod(address.sun_path, 0777), 0);
	pid_t pid = fork();
	if (pid == 0) {
		connect_as_another(&address);
		_exit(0);
	}
	struct loop l;
	loop_begin(&l);
	control_watch(&r.control, &l);
	assert_int_equal(loop_turn(&l), 1);
	assert_int_equal(r.control.count, 0);
	assert_int_equal(child_wait(pid), 0);
	assert_int_equal(r.statuses, 0);
	end(&r);
}

TEST_MAIN(NULL, NULL)
