// An interceptor under test, and the events that its owner got. Include after cmocka.h.
#ifndef TERSE_TESTS_UNIT_INTERCEPTOR_H
#define TERSE_TESTS_UNIT_INTERCEPTOR_H

#include "lib/buffer.h"
#include "supervisor/intercept/interceptor.h"
#include "tests/unit/kept.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#define BUDGET ((size_t)1000)
#define LIMIT  ((size_t)1150) /* with 15 % of slack */

/* A run: the interceptor and the events that its owner got. */
struct run {
	struct interceptor_options options;
	struct interceptor *text;
	struct buffer out; /* printed */
	struct buffer replies;
	struct meta meta;
	struct artifact *artifact;
	bool full; /* no artifact can be made */
	int asked_for_artifact, asked_who_reads;
	enum interceptor_reader reader; /* the answer */
	bool unknown;                   /* who reads is not known at the start */
};

static inline struct artifact *on_artifact(void *ctx)
{
	struct run *r = ctx;
	r->asked_for_artifact++;
	if (r->full)
		return NULL;
	r->artifact = kept_create(&r->meta);
	assert_non_null(r->artifact);
	return r->artifact;
}

static inline void on_print(void *ctx, const char *data, size_t len)
{
	struct run *r = ctx;
	buffer_append(&r->out, data, len);
}

static inline enum interceptor_reader on_resolve(void *ctx)
{
	struct run *r = ctx;
	r->asked_who_reads++;
	return r->reader;
}

static inline void on_reply(void *ctx, const char *data, size_t len)
{
	struct run *r = ctx;
	buffer_append(&r->replies, data, len);
}

static inline struct wording_place place_of(const struct run *r)
{
	struct wording_place place = {.error = r->full ? ENOSPC : 0};
	if (r->artifact)
		place.id = r->meta.id;
	return place;
}

/* Set up as for an agent; a test changes what it needs before run_start(). */
static inline struct run run_make(void)
{
	return (struct run){
		.options = {.terminal = {.cols = 160, .rows = 50, .onlcr = true},
			    .limit = {.mode = MODE_SMART,
				      .bytes = BUDGET,
				      .head_share = 25,
				      .max_line = 500},
			    .reader = INTERCEPT_AGENT,
			    .raw = INTERCEPT_RAW_AUTO,
			    .part = ARTIFACT_OUT,
			    .settle_ms = 50},
	};
}

static inline void run_start(struct run *r)
{
	const struct interceptor_events events = {.artifact = on_artifact,
						  .print = on_print,
						  .resolve = r->unknown ? on_resolve : NULL,
						  .reply = on_reply,
						  .ctx = r};
	r->text = interceptor_new(&r->options, &events);
	assert_non_null(r->text);
}

static inline void feed(struct run *r, const char *text)
{
	interceptor_feed(r->text, text, strlen(text));
}

/* Whether complete lines wait that a live reader has not got. */
static inline bool is_unsettled(struct run *r)
{
	interceptor_settle(r->text, 0);
	return interceptor_facts(r->text).settle_due > 0;
}

static inline struct interceptor_ending ending(const struct run *r, int exit_code)
{
	return (struct interceptor_ending){.ending = {.exit_code = exit_code, .duration_ms = 7},
					   .place = place_of(r)};
}

static inline void report(struct run *r)
{
	const struct interceptor_ending e = ending(r, 0);
	interceptor_report(r->text, &e);
}

static inline void finish(struct run *r)
{
	interceptor_finish(r->text);
	report(r);
}

static inline void printed(struct run *r, const char *want)
{
	assert_string_equal(buffer_string(&r->out), want);
}

static inline bool has_printed(struct run *r, const char *part)
{
	return strstr(buffer_string(&r->out), part);
}

static inline void run_end(struct run *r)
{
	interceptor_free(r->text);
	if (r->artifact)
		artifact_close(r->artifact);
	buffer_release(&r->out);
	buffer_release(&r->replies);
}

/* "line 1\n" and so on. */
static inline void number_lines(struct buffer *b, int from, int to)
{
	for (int i = from; i <= to; i++)
		buffer_printf(b, "line %d\n", i);
}

static inline void feed_lines(struct run *r, int from, int to)
{
	struct buffer lines = BUFFER_INIT;
	number_lines(&lines, from, to);
	interceptor_feed(r->text, lines.data, lines.len);
	buffer_release(&lines);
}

/* Text of `len` bytes in lines of `width`. */
static inline void make_text(struct buffer *b, size_t len, size_t width)
{
	for (size_t i = 0; i < len; i++) {
		char c = (char)(i % width == width - 1 ? '\n' : 'a' + i % 26);
		buffer_append(b, &c, 1);
	}
}

static inline uint32_t rnd(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

static inline void make_binary(struct buffer *b, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = (char)(i * 2654435761u >> 11);
		buffer_append(b, &c, 1);
	}
	memcpy(b->data, "\x1f\x8b\x08\0", 4);
}

static inline void assert_raw(struct artifact *a, const struct buffer *want)
{
	struct buffer raw = BUFFER_INIT;
	assert_int_equal(kept_read(a, ".raw", &raw), 0);
	assert_int_equal(raw.len, want->len);
	assert_memory_equal(raw.data, want->data, want->len);
	buffer_release(&raw);
}

/* Lines that contain their number, with invalid bytes in some (none of which can make a C1
   control). */
static inline void random_text(struct buffer *b, uint32_t *s)
{
	uint32_t lines = rnd(s, 300), dirt = rnd(s, 3) ? 0 : rnd(s, 40);
	for (uint32_t i = 1; i <= lines; i++) {
		buffer_printf(b, "<%u> ", i);
		uint32_t len = rnd(s, 12) ? rnd(s, 60) : rnd(s, 2500);
		bool same = rnd(s, 5) == 0;
		for (uint32_t k = 0; k < len; k++) {
			char c = (char)(same ? 'x' : 'a' + rnd(s, 26));
			if (dirt && rnd(s, dirt) == 0)
				c = (char)(0xA0 + rnd(s, 0x60));
			buffer_append(b, &c, 1);
		}
		if (i < lines || rnd(s, 2))
			buffer_append(b, "\n", 1);
	}
}

#endif
