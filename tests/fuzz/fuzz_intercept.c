// Any bytes of a command, cut anywhere, under any options: an agent gets clean text
// within its budget, a program all of it.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/intercept/interceptor.h"
#include "tests/fuzz/fuzz.h"

/* NOTE: the longest line about a last picture, which is not part of the text. */
enum { OPTIONS = 8, FOOTER = 300, NOTE = 60 };

/* Bits of the byte of flags. */
enum { EXACT = 1, ONLCR = 4, SETTLE = 8, RESIZE = 16, PAUSE = 32, LATE = 64, REPORT = 128 };

struct run {
	struct buffer out;
	enum interceptor_reader reader;
};

/* Nothing is kept: the artifact has tests of its own. */
static struct artifact *on_artifact(void *ctx)
{
	(void)ctx;
	return NULL;
}

static void on_print(void *ctx, const char *data, size_t len)
{
	struct run *r = ctx;
	buffer_append(&r->out, data, len);
}

static enum interceptor_reader on_resolve(void *ctx)
{
	struct run *r = ctx;
	return r->reader;
}

static void on_text(void *ctx, const char *data, size_t len)
{
	buffer_append(ctx, data, len);
}

static bool is_same(const struct buffer *a, const char *data, size_t len)
{
	return a->len == len && (len == 0 || memcmp(a->data, data, len) == 0);
}

/* The text that the terminal alone makes of the input. */
static void render(const struct terminal_options *options, const char *data, size_t len,
		   struct buffer *out)
{
	const struct terminal_events events = {.text = on_text, .ctx = out};
	struct terminal *t = terminal_new(options, &events);
	assert(t != NULL);
	terminal_feed(t, data, len);
	terminal_finish(t);
	terminal_free(t);
}

static void feed(struct interceptor *text, const char *data, size_t size, size_t step, int flags)
{
	for (size_t at = 0, n; at < size; at += n) {
		n = size - at < step ? size - at : step;
		interceptor_feed(text, data + at, n);
		if (flags & PAUSE)
			interceptor_pause(text);
		if (flags & SETTLE)
			interceptor_settle(text, (int64_t)at * 100);
		if (flags & RESIZE && at % 7 == 0)
			terminal_resize(interceptor_terminal(text), 20 + (unsigned)(at % 100),
					5 + (unsigned)at % 50);
		if (flags & RESIZE && at % 5 == 0)
			interceptor_update_live(text);
	}
}

/* The most that a text or preview takes. */
static size_t most_for(const struct interceptor *text, const struct limit *l,
		       const struct interceptor_ending *e)
{
	bool failed = e->ending.exit_code != 0;
	if (!failed && l->cut_bytes && !interceptor_facts(text).fits &&
	    interceptor_facts(text).bytes > l->cut_over)
		return l->cut_bytes;
	return limit_most(failed && l->failure_bytes ? l->failure_bytes : l->bytes);
}

/* The collected text is clean, within the budget, and has as many lines as its ranges. */
static void check_report(struct interceptor *text, const struct interceptor_options *options,
			 const struct interceptor_ending *ending)
{
	struct report report = {.command = NULL};
	struct report_stream *s = &report.streams[0];
	uint64_t lines = 0, last = 0;
	assert(interceptor_collect(text, ending, s) == 0);
	size_t limit = most_for(text, &options->limit, ending);
	assert(utf8_all_clean(s->text.data, s->text.len));
	for (size_t i = 0; i < s->text.len; i++)
		lines += s->text.data[i] == '\n' || i + 1 == s->text.len;
	for (size_t i = 0; i < s->range_count; i++) {
		assert(s->ranges[i].from > last && s->ranges[i].to >= s->ranges[i].from);
		last = s->ranges[i].to;
	}
	assert(last <= s->total_lines && s->lines_truncated <= s->returned_lines);
	if (options->reader == INTERCEPT_COLLECTED) {
		assert(lines == s->returned_lines);
		assert(s->text.len <= limit);
	}
	if (interceptor_facts(text).fits)
		assert(!report_is_truncated(s));
	report_release(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < OPTIONS)
		return 0;
	const char *bytes = (const char *)data + OPTIONS;
	size_t len = size - OPTIONS;
	int flags = data[0];
	static const enum interceptor_reader kinds[][3] = {
		{INTERCEPT_AGENT, INTERCEPT_PROGRAM, INTERCEPT_PERSON},
		{INTERCEPT_COLLECTED, INTERCEPT_PROGRAM, INTERCEPT_SILENT},
	};
	enum interceptor_reader reader = kinds[(flags & REPORT) > 0][data[1] % 3];
	bool reported = reader == INTERCEPT_COLLECTED || reader == INTERCEPT_SILENT;
	bool late = flags & LATE && reader != INTERCEPT_PERSON && !reported;
	const struct interceptor_options options = {
		.terminal = {.cols = 20 + data[2],
			     .rows = 5 + data[3] % 60,
			     .onlcr = flags & ONLCR},
		.limit = {.mode = (enum mode)(data[4] % 4),
			  .bytes = 64 + 8 * (size_t)data[5],
			  .failure_bytes = data[3] & 1 ? 64 + 8 * (size_t)data[2] : 0,
			  .cut_bytes = data[3] & 2 ? 64 + 4 * (size_t)data[5] : 0,
			  .cut_over = 16 * (size_t)data[7],
			  .count = data[4] / 4,
			  .unit = (enum unit)(data[6] % 4),
			  .head_share = data[6] % 101,
			  .max_line = 40 + data[7],
			  .grow = data[7] & 2},
		.reader = late ? INTERCEPT_AGENT : reader,
		.raw = (enum interceptor_raw)(data[6] % 3),
		.part = ARTIFACT_OUT,
		.exact = flags & EXACT,
	};
	struct run r = {.reader = reader};
	const struct interceptor_events events = {.artifact = on_artifact,
						  .print = on_print,
						  .resolve = late ? on_resolve : NULL,
						  .ctx = &r};
	const struct interceptor_ending ending = {.ending = {.exit_code = data[4] % 2},
						  .place = {.error = ENOSPC}};
	struct interceptor *text = interceptor_new(&options, &events);
	assert(text != NULL);
	feed(text, bytes, len, 1 + data[7], flags);
	interceptor_finish(text);
	if (reported)
		check_report(text, &options, &ending);
	else
		interceptor_report(text, &ending);

	if (reported) {
		assert(r.out.len == 0);
	} else if (reader == INTERCEPT_PERSON) {
		assert(r.out.len == 0);
	} else if (reader == INTERCEPT_PROGRAM) {
		bool binary = interceptor_facts(text).is_binary && !options.exact;
		struct buffer want = BUFFER_INIT;
		if (binary || (options.exact && !late)) {
			assert(is_same(&r.out, bytes, len));
		} else if (!options.exact && !(flags & (SETTLE | RESIZE)) &&
			   !memchr(bytes, '\0', len)) {
			render(&options.terminal, bytes, len, &want);
			assert(is_same(&r.out, want.data, want.len));
		}
		buffer_release(&want);
	} else {
		size_t limit = most_for(text, &options.limit, &ending);
		assert(utf8_all_clean(r.out.data, r.out.len));
		assert(r.out.len <= limit + FOOTER);
		assert(!interceptor_facts(text).fits || r.out.len <= limit + NOTE);
	}
	interceptor_free(text);
	buffer_release(&r.out);
	return 0;
}
