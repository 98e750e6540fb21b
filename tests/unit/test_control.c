// The control socket: requests and answers, clients that misbehave.

#include "lib/io.h"
#include "supervisor/process/supervisor_internal.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/child.h"
#include "tests/unit/home.h"
#include "tests/unit/unit.h"

/* A run in a terminal, of a command that does not exist. */
struct run {
	struct settings settings;
	struct job job;
	struct pty pty;
	struct supervisor s;
};

static void start(struct run *r, unsigned cols, unsigned rows)
{
	static char *argv[] = {(char *)"test", NULL};
	*r = (struct run){.job = {.argv = argv, .shown = argv, .cols = cols, .rows = rows}};
	assert_int_equal(settings_init(&r->settings), 0);
	r->job.settings = &r->settings;
	assert_int_equal(pty_open(&r->pty, cols, rows, PTY_TYPED, NULL), 0);
	r->s.job = &r->job;
	r->s.device = 1;
	r->s.group = 0x3fffffff;
	r->s.sources[0] = (struct source){.fd = r->pty.master,
					  .child = r->pty.slave,
					  .pty = true,
					  .run = &r->s,
					  .sink = SINK_PERSON,
					  .queue = {.own = -1}};
	r->s.sources[1].fd = r->s.sources[1].child = -1;
	r->s.end = r->s.sources + 1;
	record_init(&r->s.record, &r->job);
	r->s.live = (struct live){.dir = -1, .fd = -1, .cols = r->job.cols, .rows = r->job.rows};
	r->s.timer[TIMER_OPEN] = 1;
}

static void end(struct run *r)
{
	live_close(&r->s.live);
	source_release(&r->s.sources[0]);
	record_close(&r->s.record, false);
	buffer_release(&r->s.input);
	settings_release(&r->settings);
}

/* A client; what it does not read waits. */
static int client(struct run *r)
{
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	live_adopt(&r->s.live, ends[0], false);
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
	live_serve(&r->s);
	assert_int_equal(take(fd, FRAME_DONE, &p), 0);
	assert_int_equal(p.a, error);
}

static void assert_size(const struct run *r, unsigned cols, unsigned rows)
{
	struct winsize size;
	assert_int_equal(ioctl(r->pty.master, TIOCGWINSZ, &size), 0);
	assert_int_equal(size.ws_col, cols);
	assert_int_equal(size.ws_row, rows);
}

TEST_IN(requests_are_done, home_setup, home_teardown)
{
	static struct run r;
	struct frame p;
	start(&r, 80, 24);
	int fd = client(&r);
	ask(fd, FRAME_TYPE, 0, 0, "hello");
	ask(fd, FRAME_TYPE, 0, 0, " you");
	assert_done(&r, fd, 0);
	assert_done(&r, fd, 0);
	assert_true(buffer_is(&r.s.input, "hello you", 9));
	ask(fd, FRAME_RESIZE, 90, 33, "");
	assert_done(&r, fd, 0);
	assert_size(&r, 90, 33);
	ask(fd, FRAME_STATUS, 0, 0, "");
	live_serve(&r.s);
	assert_int_equal(take(fd, FRAME_STATUS, &p), sizeof(struct live_status));
	assert_int_equal(p.a, 0);
	close(fd);
	end(&r);
}

TEST_IN(errors_are_answered, home_setup, home_teardown)
{
	static const struct {
		enum frame_kind kind;
		int a, b, error;
	} cases[] = {{FRAME_TYPE, 0, 0, ENOTTY},    {FRAME_CLOSE, 0, 0, ENOTTY},
		     {FRAME_RESIZE, 1, 1, EINVAL},  {FRAME_ATTACH, 1, 1, EINVAL},
		     {FRAME_SIGNAL, -1, 0, EINVAL}, {FRAME_SIGNAL, SIGUSR1, 0, ESRCH}};
	static struct run r;
	start(&r, 80, 24);
	int fd = client(&r);
	r.s.device = 0;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ask(fd, cases[i].kind, cases[i].a, cases[i].b, "x");
		assert_done(&r, fd, cases[i].error);
	}
	assert_false(r.s.live.clients->attached);
	close(fd);
	end(&r);
}

TEST_IN(what_is_no_request_is_refused, home_setup, home_teardown)
{
	static char huge[FRAME_DATA * 4];
	static struct frame other = {.version = PROTOCOL_VERSION + 1};
	static const enum frame_kind none[] = {(enum frame_kind)4711, FRAME_DONE,
					       /* The front end's. */
					       FRAME_AWAKE, FRAME_PASS};
	static struct run r;
	start(&r, 80, 24);
	int fd = client(&r);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		ask(fd, none[i], 0, 0, "x");
		assert_done(&r, fd, EPROTO);
	}
	assert_int_equal(send(fd, "abc", 3, 0), 3);
	assert_done(&r, fd, EPROTO);
	assert_int_equal(send(fd, huge, sizeof(huge), 0), sizeof(huge));
	assert_done(&r, fd, EPROTO);
	assert_int_equal(send(fd, &other, FRAME_HEAD, 0), FRAME_HEAD);
	assert_done(&r, fd, EPROTONOSUPPORT);
	assert_int_equal(frame_send(fd, FRAME_TYPE, 0, 0, huge, FRAME_REQUEST + 1, 0), 0);
	assert_done(&r, fd, EPROTO);
	assert_int_equal(r.s.input.len, 0);
	assert_int_equal(frame_send(fd, FRAME_TYPE, 0, 0, huge, FRAME_REQUEST, 0), 0);
	assert_done(&r, fd, 0);
	assert_int_equal(r.s.input.len, FRAME_REQUEST);
	close(fd);
	end(&r);
}

TEST_IN(long_answers_come_in_pieces, home_setup, home_teardown)
{
	static struct run r;
	struct frame p;
	struct buffer got = BUFFER_INIT;
	start(&r, 1000, 500);
	for (int i = 0; i < 499; i++) {
		char line[1000];
		memset(line, 'a' + i % 26, sizeof(line) - 1);
		line[sizeof(line) - 1] = '\n';
		interceptor_feed(source_text(&r.s.sources[0]), line, sizeof(line));
	}
	int fd = client(&r);
	ask(fd, FRAME_PICTURE, 0, 0, "");
	size_t total = 0;
	do {
		live_serve(&r.s);
		buffer_append(&got, p.data, take(fd, FRAME_PICTURE, &p));
		total = total ? total : got.len + (size_t)p.a;
		assert_int_equal(p.a, total - got.len);
	} while (p.a > 0);
	assert_true(got.len > 499 * 999);
	assert_memory_equal(got.data, "{\"cols\":1000,", 13);
	assert_memory_equal(got.data + got.len - 2, "\"}", 2);
	for (int i = 0; i < 26; i++)
		assert_non_null(memchr(got.data + 100 * FRAME_HEAD, 'a' + i, got.len / 2));
	assert_false(live_is_pending(&r.s.live));
	buffer_release(&got);
	close(fd);
	end(&r);
}

TEST_IN(watchers_are_told, home_setup, home_teardown)
{
	static struct run r;
	struct frame p;
	start(&r, 80, 24);
	int fd = client(&r), other = client(&r), told = 0;
	ask(fd, FRAME_WATCH, 0, 0, "");
	live_serve(&r.s);
	take(fd, FRAME_STATUS, &p);
	live_tell_now(&r.s, 1);
	take(fd, FRAME_STATUS, &p);
	assert_int_equal(recv(other, &p, sizeof(p), 0), -1);
	/* However often it changes, one that does not read has little waiting for it. */
	for (int i = 0; i < 100000; i++)
		live_tell_now(&r.s, 1);
	for (;; told++) {
		live_serve(&r.s);
		if (recv(fd, &p, sizeof(p), 0) < 0)
			break;
	}
	assert_true(told > 0 && told < 10000);
	assert_false(live_is_pending(&r.s.live));
	close(fd), close(other);
	end(&r);
}

TEST_IN(the_attached_get_the_output, home_setup, home_teardown)
{
	static struct run r;
	struct frame p;
	start(&r, 80, 24);
	int fd = client(&r), other = client(&r);
	ask(fd, FRAME_ATTACH, 90, 33, "");
	assert_done(&r, fd, 0);
	assert_size(&r, 90, 33);
	live_serve(&r.s);
	assert_true(take(fd, FRAME_OUTPUT, &p) > 0);
	live_output(&r.s, "abc", 3);
	assert_int_equal(take(fd, FRAME_OUTPUT, &p), 3);
	assert_memory_equal(p.data, "abc", 3);
	assert_int_equal(recv(other, &p, sizeof(p), 0), -1);
	close(fd);
	live_serve(&r.s);
	/* The last client leaves: the run has its own size again. */
	assert_size(&r, 80, 24);
	close(other);
	end(&r);
}

/* It misses output, and nothing grows; when it reads again it gets the screen. */
TEST_IN(one_that_stalls_is_skipped, home_setup, home_teardown)
{
	static char data[32768];
	static struct run r;
	struct frame p;
	start(&r, 80, 24);
	int fd = client(&r);
	ask(fd, FRAME_ATTACH, 80, 24, "");
	assert_done(&r, fd, 0);
	live_serve(&r.s);
	take(fd, FRAME_OUTPUT, &p);
	memset(data, 'x', sizeof(data));
	for (int i = 0; i < 10000; i++)
		live_output(&r.s, data, sizeof(data));
	size_t got = 0, repaints = 0;
	for (;;) {
		live_serve(&r.s);
		ssize_t n = recv(fd, &p, sizeof(p), 0);
		if (n < 0)
			break;
		got += (size_t)n;
		repaints += p.data[0] != 'x';
	}
	assert_true(got < 2u << 20);
	assert_int_equal(repaints, 1);
	assert_int_not_equal(p.data[0], 'x');
	live_output(&r.s, "abc", 3);
	assert_int_equal(take(fd, FRAME_OUTPUT, &p), 3);
	close(fd);
	end(&r);
}

TEST_IN(there_is_room_for_so_many, home_setup, home_teardown)
{
	static struct run r;
	struct frame p;
	int fds[LIVE_CLIENTS + 1];
	start(&r, 80, 24);
	for (int i = 0; i <= LIVE_CLIENTS; i++)
		fds[i] = client(&r);
	assert_int_equal(r.s.live.count, LIVE_CLIENTS);
	assert_int_equal(recv(fds[LIVE_CLIENTS], &p, sizeof(p), 0), FRAME_HEAD);
	assert_int_equal(p.kind, FRAME_DONE);
	assert_int_equal(p.a, EBUSY);
	assert_int_equal(recv(fds[LIVE_CLIENTS], &p, sizeof(p), 0), 0);
	for (int i = 0; i <= LIVE_CLIENTS; i++)
		close(fds[i]);
	live_serve(&r.s);
	assert_int_equal(r.s.live.count, 0);
	end(&r);
}

static void address_of(const struct run *r, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "%s/store/live/%s", home,
		 r->s.live.name);
}

TEST_IN(the_socket, home_setup, home_teardown)
{
	static struct run r;
	struct stat st;
	struct frame p;
	struct sockaddr_un address;
	start(&r, 80, 24);
	mode_t mask = umask(0);
	live_try_open(&r.s, 1);
	umask(mask);
	address_of(&r, &address);
	assert_int_equal(stat(address.sun_path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	for (size_t clients = 0; clients < 2; clients++) {
		struct loop l;
		loop_begin(&l);
		live_watch(&r.s.live, &l);
		assert_int_equal(l.count, 1 + clients);
		loop_until(&l, 1);
		loop_turn(&l);
		assert_int_equal(r.s.live.count, 1);
	}
	ask(fd, FRAME_STATUS, 0, 0, "");
	live_serve(&r.s);
	take(fd, FRAME_STATUS, &p);
	assert_string_equal(p.data, r.s.live.name);
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
	/* Acts as if the directories and the file were open to all. */
	CHECK(connect(fd, ctx, sizeof(struct sockaddr_un)) == 0);
	CHECK(recv(fd, &p, sizeof(p), 0) <= 0);
}

TEST_IN(another_user_is_not_let_in, home_setup, home_teardown)
{
	static struct run r;
	struct sockaddr_un address;
	if (geteuid() != 0)
		skip();
	start(&r, 80, 24);
	live_try_open(&r.s, 1);
	address_of(&r, &address);
	assert_int_equal(chmod(address.sun_path, 0777), 0);
	for (size_t len = strlen(address.sun_path); len > strlen(home); len--) {
		char path[sizeof(address.sun_path)];
		snprintf(path, len, "%s", address.sun_path);
		if (address.sun_path[len - 1] == '/')
			assert_int_equal(chmod(path, 0755), 0);
	}
	pid_t pid = fork();
	if (pid == 0) {
		connect_as_another(&address);
		_exit(0);
	}
	struct loop l;
	loop_begin(&l);
	live_watch(&r.s.live, &l);
	assert_int_equal(loop_turn(&l), 1);
	assert_int_equal(r.s.live.count, 0);
	assert_int_equal(child_wait(pid), 0);
	end(&r);
}

TEST_MAIN(NULL, NULL)
