// Reports to be written, and a text that comes in pieces. Include after cmocka.h.
#ifndef TERSE_TESTS_UNIT_REPORT_H
#define TERSE_TESTS_UNIT_REPORT_H

#include "lib/buffer.h"
#include "supervisor/report/report.h"
#include "tests/unit/unit.h"

static char *const report_command[] = {(char *)"npm", (char *)"test", NULL};

/* The report of a command that printed nothing. */
static inline struct report report_make(void)
{
	return (struct report){.command = report_command,
			       .cwd = "/work",
			       .started_ms = 1795424614123,
			       .duration_ms = 877};
}

/* Gives a stream a text that is returned as a whole. */
static inline void report_set_text(struct report_stream *s, const char *text, uint64_t lines)
{
	buffer_append_string(&s->text, text);
	s->total_lines = lines;
	s->total_bytes = strlen(text);
	assert_int_equal(report_add_range(s, 1, lines), 0);
}

/* A text from elsewhere: the strings in order, then the end or an error. */
struct report_pieces {
	const char *const *next;
	int error;
	struct report_stream *stream;
};

static inline int report_pieces_next(void *ctx, struct buffer *out)
{
	struct report_pieces *p = ctx;
	if (*p->next) {
		buffer_append_string(out, *p->next++);
		return buffer_check(out) < 0 ? -1 : 1;
	}
	errno = p->error;
	return p->error ? -1 : report_add_range(p->stream, 1, p->stream->total_lines);
}

/* Writes all of it, one step at a time, and releases the report. */
static inline void report_is(struct report *r, const char *want)
{
	struct buffer out = BUFFER_INIT, piece = BUFFER_INIT;
	int more = 1;
	for (int steps = 0; more > 0; buffer_clear(&piece)) {
		more = report_next(r, &piece);
		buffer_add(&out, &piece);
		assert_true(++steps < 1000);
	}
	assert_int_equal(more, 0);
	assert_int_equal(report_next(r, &out), 0);
	buffer_release(&piece);
	assert_string_equal(buffer_string(&out), want);
	buffer_release(&out);
	report_release(r);
}

#endif
