// The outcome of a run whose reader stalls, goes away, or has no room.

#include "config/option.h"
#include "lib/io.h"
#include "supervisor/process/supervisor_internal.h"
#include "tests/unit/child.h"

#include <sys/mman.h>

#include "tests/unit/home.h"
#include "tests/unit/unit.h"

/* A run that has ended, whose standard output is ours to choose and whose standard error is a
   file. */
struct run {
	struct settings settings;
	struct job job;
	struct record record;
	struct source sources[2];
	struct delivery delivery;
	int err;
};

static void start(struct run *r, int out, enum sink sink)
{
	static char *argv[] = {(char *)"test", NULL};
	*r = (struct run){.err = memfd_create("err", MFD_CLOEXEC),
			  .sources = {{.fd = -1, .child = -1}, {.fd = -1, .child = -1}}};
	CHECK(settings_init(&r->settings) == 0);
	r->job = (struct job){
		.argv = argv, .shown = argv, .settings = &r->settings, .cols = 160, .rows = 50};
	r->job.channels.channel[0] = CHANNEL_PIPE;
	r->job.channels.sink[0] = sink;
	signals_take(&r->job.signals);
	CHECK(source_open(&r->sources[0], &r->job, 0) == 0);
	dup2(out, STDOUT_FILENO);
	dup2(r->err, STDERR_FILENO);
	record_init(&r->record, &r->job);
	source_connect(&r->sources[0], &r->record, NULL, NULL, NULL);
	r->delivery =
		(struct delivery){.job = &r->job, .sources = r->sources, .record = &r->record};
}

/* The command prints so many bytes, and ends. */
static void print(struct run *r, size_t len)
{
	char *text = malloc(len), *chunk = malloc(SOURCE_CHUNK);
	memset(text, 'x', len);
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < 4096 ? len - at : 4096;
		CHECK(write(r->sources[0].child, text + at, n) == (ssize_t)n);
		source_read(&r->sources[0], chunk, SOURCE_TURN);
	}
	io_close(&r->sources[0].child);
	source_close(&r->sources[0]);
	record_end(&r->record, 0, false, false, 7);
	free(text);
	free(chunk);
}

static void says(struct run *r, const char *want)
{
	char data[512];
	ssize_t n = pread(r->err, data, sizeof(data) - 1, 0);
	CHECK(n >= 0);
	data[n] = '\0';
	CHECK(*want ? strstr(data, want) != NULL : n == 0);
}

static void end(struct run *r)
{
	source_release(&r->sources[0]);
	record_close(&r->record, true);
	settings_release(&r->settings);
}

static void all_is_delivered(const void *ctx)
{
	struct run r;
	(void)ctx;
	start(&r, memfd_create("out", 0), SINK_FILE);
	print(&r, 3);
	delivery_begin(&r.delivery, 1000, 0);
	CHECK(delivery_step(&r.delivery, 1000));
	CHECK(delivery_status(&r.delivery, W_EXITCODE(3, 0)) == W_EXITCODE(3, 0));
	CHECK(!r.record.artifact);
	says(&r, "");
	end(&r);
}

/* A short text, too, which otherwise needs no artifact. */
static void without_room_the_text_is_kept(const void *ctx)
{
	struct run r;
	(void)ctx;
	start(&r, open("/dev/full", O_WRONLY | O_CLOEXEC), SINK_FILE);
	print(&r, 3);
	delivery_begin(&r.delivery, 1000, 0);
	while (!delivery_step(&r.delivery, 1000))
		;
	says(&r, "terse: standard output could not be written: No space left on device; full text: "
		 "terse read cmd-");
	CHECK(r.record.artifact && r.record.meta.out.bytes == 3);
	CHECK(r.record.meta.state == META_DONE);
	CHECK(delivery_status(&r.delivery, 0) == W_EXITCODE(1, 0));
	CHECK(delivery_status(&r.delivery, W_EXITCODE(3, 0)) == W_EXITCODE(3, 0));
	/* It ended by the broken pipe that the supervisor made for it. */
	CHECK(delivery_status(&r.delivery, SIGPIPE) == W_EXITCODE(1, 0));
	CHECK(delivery_status(&r.delivery, SIGTERM) == SIGTERM);
	end(&r);
}

static int pipe_to(int *reader)
{
	int ends[2];
	CHECK(pipe(ends) == 0);
	*reader = ends[0];
	return ends[1];
}

static void a_reader_that_left(const void *ctx)
{
	struct run r;
	int reader, writer = pipe_to(&reader);
	const enum sink *sink = ctx;
	start(&r, writer, *sink);
	close(reader);
	print(&r, 3);
	/* The text of an agent that is read by its head is printed when the run is reported. */
	output_queue_write(&r.sources[0].queue, "xxx", 3);
	delivery_begin(&r.delivery, 1000, 0);
	CHECK(delivery_step(&r.delivery, 1000));
	says(&r, "");
	int want = *sink == SINK_AGENT ? 0 : SIGPIPE;
	CHECK(delivery_status(&r.delivery, 0) == want);
	signal(SIGPIPE, SIG_IGN);
	CHECK(delivery_status(&r.delivery, 0) == (want ? W_EXITCODE(1, 0) : 0));
	end(&r);
}

/* More than a pipe takes. */
#define MUCH ((size_t)100 * 1024)

static void a_reader_that_stalls_is_waited_for_until_the_end_is_wanted(const void *ctx)
{
	struct run r;
	char data[8192];
	int reader, writer = pipe_to(&reader);
	(void)ctx;
	start(&r, writer, SINK_PROGRAM);
	print(&r, MUCH);
	delivery_begin(&r.delivery, 1000, 0);
	CHECK((r.delivery.begun ? r.delivery.stall_at : 0) == 0);
	CHECK(!delivery_step(&r.delivery, 1000 * DELIVERY_STALL_MS));
	delivery_signal(&r.delivery, 5000, SIGUSR1);
	CHECK((r.delivery.begun ? r.delivery.stall_at : 0) == 0);
	delivery_signal(&r.delivery, 5000, SIGTERM);
	CHECK((r.delivery.begun ? r.delivery.stall_at : 0) == 5000 + DELIVERY_STALL_MS);
	CHECK(!delivery_step(&r.delivery, 5000 + DELIVERY_STALL_MS - 1));
	/* It takes some after all. */
	CHECK(read(reader, data, sizeof(data)) == sizeof(data));
	output_queue_pump(&r.sources[0].queue);
	CHECK(!delivery_step(&r.delivery, 5000 + DELIVERY_STALL_MS));
	CHECK((r.delivery.begun ? r.delivery.stall_at : 0) == 5000 + 2 * DELIVERY_STALL_MS);
	CHECK(delivery_step(&r.delivery, 5000 + 2 * DELIVERY_STALL_MS));
	says(&r, "its reader takes nothing; full text: terse read cmd-");
	CHECK(delivery_status(&r.delivery, 0) == SIGTERM);
	CHECK(delivery_status(&r.delivery, SIGINT) == SIGINT);
	end(&r);
}

/* The reader is given up only if the command ends from the signal that it was sent. */
static void what_was_sent_long_before_is_not_why(const void *ctx)
{
	const int64_t sent = 1000, grace = 5000;
	for (int late = 0; late < 2; late++) {
		struct delivery d = {.begun = false};
		delivery_signal(&d, sent, SIGHUP);
		CHECK((d.begun ? d.stall_at : 0) == 0);
		int64_t ended = sent + DELIVERY_STALL_MS + grace + late;
		delivery_begin(&d, ended, grace);
		CHECK((d.begun ? d.stall_at : 0) == (late ? 0 : ended + DELIVERY_STALL_MS));
	}
	(void)ctx;
}

TEST(test)
{
	static const enum sink agent = SINK_AGENT, program = SINK_PROGRAM, file = SINK_FILE;
	const struct {
		void (*check)(const void *);
		const void *ctx;
	} checks[] = {
		{all_is_delivered, NULL},
		{without_room_the_text_is_kept, NULL},
		{a_reader_that_left, &agent},
		{a_reader_that_left, &program},
		{a_reader_that_left, &file},
		{a_reader_that_stalls_is_waited_for_until_the_end_is_wanted, NULL},
		{what_was_sent_long_before_is_not_why, NULL},
	};
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		assert_int_equal(child_run(checks[i].check, checks[i].ctx), 0);
}

TEST_MAIN(home_setup, home_teardown)
