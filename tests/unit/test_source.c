// One channel: output that the command writes to its end comes out at the standard stream.

#include "config/option.h"
#include "lib/io.h"
#include "supervisor/process/supervisor_internal.h"
#include "tests/unit/child.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/unit/home.h"
#include "tests/unit/unit.h"

/* A channel in a process whose standard output and error are files. */
struct run {
	struct settings settings;
	struct job job;
	struct supervisor supervisor;
	struct source *source;
	struct record *record;
	int out, err; /* the files */
	char *chunk;
};

static void start(struct run *r, int which, enum channel channel, enum sink sink)
{
	static char *argv[] = {(char *)"test", NULL};
	*r = (struct run){.out = memfd_create("out", MFD_CLOEXEC),
			  .err = memfd_create("err", MFD_CLOEXEC),
			  .chunk = malloc(SOURCE_CHUNK)};
	CHECK(settings_init(&r->settings) == 0 && r->chunk);
	r->job = (struct job){.argv = argv,
			      .shown = argv,
			      .settings = &r->settings,
			      .front = getpid(),
			      .cols = 160,
			      .rows = 50};
	r->job.channels.keyboard = -1;
	r->job.channels.channel[which] = channel;
	r->job.channels.sink[which] = sink;
	r->supervisor.job = &r->job;
	r->record = &r->supervisor.record;
	r->source = r->supervisor.sources;
	CHECK(source_open(r->source, &r->supervisor, which) == 0);
	CHECK(r->source->fd > 2 && r->source->child > 2);
	CHECK(fcntl(r->source->fd, F_GETFL) & O_NONBLOCK);
	CHECK(!(fcntl(r->source->child, F_GETFL) & O_NONBLOCK));
	record_init(r->record, &r->job);
	dup2(r->out, STDOUT_FILENO);
	output_queue_init(&r->source->queue, which ? STDERR_FILENO : STDOUT_FILENO);
}

static void put(struct run *r, const char *text)
{
	CHECK(write(r->source->child, text, strlen(text)) == (ssize_t)strlen(text));
}

static int take(struct run *r)
{
	return source_read(r->source, r->chunk, SOURCE_TURN);
}

/* The command has ended. */
static void report(struct run *r)
{
	io_close(&r->source->child);
	CHECK(take(r) == -1 && r->source->fd == -1);
	CHECK(take(r) == -1);
	record_end(r->record, 0, false, false, 7);
	const struct interceptor_ending e = {
		.ending = {.lines = r->record->meta.out.lines, .bytes = r->record->meta.out.bytes},
		.place = record_place(r->record, false)};
	source_report(r->source, &e);
}

static void release(struct run *r)
{
	source_release(r->source);
	source_release(r->source);
	record_close(r->record, true);
	settings_release(&r->settings);
	free(r->chunk);
}

static void end(struct run *r)
{
	report(r);
	release(r);
}

static void holds(int file, const char *want)
{
	char data[8192];
	ssize_t n = pread(file, data, sizeof(data) - 1, 0);
	CHECK(n >= 0);
	data[n] = '\0';
	CHECK(strcmp(data, want) == 0);
}

/* Whether there is something within so many milliseconds. */
static bool has_more(const struct run *r, int ms)
{
	struct pollfd p = {.fd = r->source->fd, .events = POLLIN};
	return poll(&p, 1, ms) == 1;
}

/* A process writes bytes with a pattern which is no multiple of any buffer. */
static pid_t write_pattern(int fd, size_t len)
{
	static char data[10007];
	pid_t pid = fork();
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t at = 0; pid == 0 && at < len;) {
		size_t n = 1 + at % sizeof(data);
		n = n < len - at ? n : len - at;
		for (size_t i = 0; i < n; i++)
			data[i] = (char)('!' + (at + i) % 89);
		CHECK(io_write(fd, data, n) == 0);
		at += n;
	}
	if (pid == 0)
		_exit(0);
	return pid;
}

static void check_pattern(const char *data, size_t len, size_t *at)
{
	for (size_t i = 0; i < len; i++, ++*at)
		CHECK(data[i] == (char)('!' + *at % 89));
}

/* All bytes come out, in order and once. */
static void much_and_little(const void *ctx)
{
	const size_t total = (size_t)10 * 1024 * 1024;
	static char data[SOURCE_CHUNK];
	struct run r;
	start(&r, 0, *(const enum channel *)ctx, SINK_PERSON);
	pid_t pid = write_pattern(r.source->child, total);
	while (r.source->came < total) {
		CHECK(has_more(&r, 60000));
		take(&r);
	}
	CHECK(child_wait(pid) == 0 && !has_more(&r, 0));
	put(&r, "a\n");
	CHECK(has_more(&r, 60000) && take(&r) == 0);
	CHECK(lseek(r.out, 0, SEEK_SET) == 0);
	for (size_t at = 0; at < total;) {
		size_t left = total - at;
		ssize_t n = read(r.out, data, left < sizeof(data) ? left : sizeof(data));
		CHECK(n > 0);
		check_pattern(data, (size_t)n, &at);
	}
	CHECK(read(r.out, data, 3) == 2 && memcmp(data, "a\n", 2) == 0);
	end(&r);
}

/* Programs that write and are gone at once, with more than the kernel holds in one place. */
CHILD_TEST(writers_that_end_at_once)
{
	for (size_t run = 0; run < 400; run++) {
		size_t at = 0, n, len = 1 + run * 7919 % 40000;
		static char data[16384];
		struct pty pty;
		int end = EAGAIN;
		CHECK(pty_open(&pty, 80, 24, PTY_WRITTEN, NULL) == 0);
		pid_t pid = write_pattern(pty.slave, len);
		close(pty.slave);
		struct pollfd p = {.fd = pty.master, .events = POLLIN};
		while (end == EAGAIN && poll(&p, 1, 60000) == 1) {
			while ((n = source_read_once(pty.master, at == 0, data,
						     1 + run * 31 % sizeof(data), &end)) > 0)
				check_pattern(data, n, &at);
		}
		CHECK(end == EIO && at == len);
		close(pty.master);
		CHECK(child_wait(pid) == 0);
	}
}

/* Standard output turns out to have a program for its reader: what an agent was shown of standard
   error still counts. */
CHILD_TEST(shown_beside_a_program)
{
	struct run r;
	char name[4096];
	snprintf(name, sizeof(name), "%s/fifo", home);
	CHECK(mkfifo(name, 0600) == 0);
	start(&r, 0, CHANNEL_PTY, SINK_PIPE);
	record_prepare(r.record, 0);
	r.settings.size = r.settings.failure_size = 64;
	int fifo = open(name, O_RDWR | O_CLOEXEC);
	CHECK(fifo >= 0 && dup2(fifo, STDOUT_FILENO) == STDOUT_FILENO);
	output_queue_init(&r.source->queue, STDOUT_FILENO);
	shown_add(&r.record->shown, "oops\n", 5);
	for (int i = 0; i < 50; i++)
		put(&r, "a line of the output\n");
	CHECK(take(&r) == 0);
	report(&r);
	CHECK(interceptor_reader(r.source->text) == INTERCEPT_PROGRAM);
	CHECK(r.record->shown.bytes == 5);
	/* The other one turns out to have a program, too. */
	shown_add(&r.record->shown, "more\n", 5);
	shown_forget(&r.record->shown, 5);
	CHECK(r.record->shown.bytes == 10);
	shown_forget(&r.record->shown, 5);
	CHECK(r.record->shown.bytes == 0 && r.record->shown.printed.len == 0);
	release(&r);
	io_close(&fifo);
}

/* A person gets the bytes, and a line at the end if it was more than a screen or so. */
CHILD_TEST(to_a_person)
{
	struct run r;
	char want[8192], line[32];
	size_t len = 0;
	start(&r, 0, CHANNEL_PTY, SINK_PERSON);
	put(&r, "\x1b[31mred\x1b[m\r\n\x1b[6n");
	CHECK(take(&r) == 0);
	holds(r.out, "\x1b[31mred\x1b[m\r\n\x1b[6n");
	end(&r);
	holds(r.out, "\x1b[31mred\x1b[m\r\n\x1b[6n");
	/* Its own terminal answers. */
	CHECK(r.supervisor.input.len == 0);

	start(&r, 0, CHANNEL_PTY, SINK_PERSON);
	r.settings.size = r.settings.failure_size = 64;
	for (int i = 10; i < 60; i++) {
		snprintf(line, sizeof(line), "line %d\r\n", i);
		put(&r, line);
		len += (size_t)snprintf(want + len, sizeof(want) - len, "%s", line);
	}
	put(&r, "unfinished");
	CHECK(take(&r) == 0);
	report(&r);
	CHECK(r.record->artifact);
	snprintf(want + len, sizeof(want) - len,
		 "unfinished\r\n[terse: 51 lines, 410 B: terse read %s]\r\n", r.record->meta.id);
	release(&r);
	holds(r.out, want);
}

/* An answer is typed only where the command reads it raw. */
CHILD_TEST(queries)
{
	struct run r;
	struct termios modes;
	start(&r, 0, CHANNEL_PTY, SINK_AGENT);
	put(&r, "\x1b[c");
	CHECK(take(&r) == 0 && r.supervisor.input.len == 0);
	CHECK(tcgetattr(r.source->child, &modes) == 0);
	cfmakeraw(&modes);
	CHECK(tcsetattr(r.source->child, TCSANOW, &modes) == 0);
	put(&r, "\x1b[6n");
	CHECK(take(&r) == 0 && buffer_is(&r.supervisor.input, "\x1b[1;1R", 6));
	end(&r);
	holds(r.out, "");
}

/* A turn ends after some bytes, or when the reader does not keep up. */
static void turns(const void *ctx)
{
	static char data[60000];
	struct run r;
	int stalled[2];
	(void)ctx;
	memset(data, 'x', sizeof(data));
	start(&r, 0, CHANNEL_PIPE, SINK_PROGRAM);
	fcntl(r.source->child, F_SETPIPE_SZ, 1 << 20);
	for (int i = 0; i < 10; i++)
		CHECK(write(r.source->child, data, sizeof(data)) == sizeof(data));
	CHECK(source_read(r.source, r.chunk, 1) == 1);
	CHECK(source_read(r.source, r.chunk, 1) == 1);
	CHECK(lseek(r.out, 0, SEEK_END) <= (off_t)(2 * SOURCE_CHUNK));
	CHECK(take(&r) == 0);
	CHECK(lseek(r.out, 0, SEEK_END) == 10 * sizeof(data));
	end(&r);

	start(&r, 0, CHANNEL_PIPE, SINK_PROGRAM);
	CHECK(pipe2(stalled, O_CLOEXEC) == 0 && dup2(stalled[1], STDOUT_FILENO) == STDOUT_FILENO);
	output_queue_init(&r.source->queue, STDOUT_FILENO);
	fcntl(r.source->child, F_SETPIPE_SZ, 1 << 20);
	for (int i = 0; i < 10; i++)
		CHECK(write(r.source->child, data, sizeof(data)) == sizeof(data));
	CHECK(take(&r) == 1);
	CHECK(output_queue_is_full(&r.source->queue));
	/* The command waits, as it would for a reader of its own. */
	struct pollfd p = {.fd = r.source->fd, .events = POLLIN};
	CHECK(poll(&p, 1, 0) == 1);
	source_release(r.source);
}

/* Where no pty can be had it is a pipe; a person's command is left alone. */
CHILD_TEST(no_pty)
{
	struct job job = {.cols = 80, .rows = 24, .front = getpid()};
	struct supervisor s = {.job = &job};
	struct source *source = s.sources;
	job.channels.keyboard = -1;
	job.channels.channel[0] = CHANNEL_PTY;
	job.channels.sink[0] = SINK_AGENT;
	int before = unit_count_open();
	CHECK(child_deny(SYS_openat, ENOENT) == 0);
	CHECK(source_open(source, &s, 0) == 0);
	CHECK(!source->pty && !isatty(source->child));
	CHECK(unit_count_open() == before + 2);
	source_release(source);
	CHECK(unit_count_open() == before);
	job.channels.sink[0] = SINK_PERSON;
	CHECK(source_open(source, &s, 0) == -1 && errno == ENOENT);
	CHECK(source->fd == -1 && source->child == -1 && unit_count_open() == before);
}

TEST(test_turns)
{
	assert_int_equal(child_run(turns, NULL), 0);
}

TEST(test_much_and_little)
{
	for (enum channel channel = CHANNEL_PTY; channel <= CHANNEL_PIPE; channel++)
		assert_int_equal(child_run(much_and_little, &channel), 0);
}

TEST_MAIN(home_setup, home_teardown)
