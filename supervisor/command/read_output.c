#include "lib/gap.h"
#include "lib/io.h"
#include "lib/json.h"
#include "supervisor/command/read.h"
#include "supervisor/command/verb.h"

#include <unistd.h>

/* A member that is a string which some function appends; null if it appends nothing. */
static int add_made(struct buffer *out, const char *key, struct buffer *made, int result)
{
	if (result == 0)
		result = made->len ? json_add_text(out, key, made->data, made->len)
				   : json_add_null(out, key);
	buffer_release(made);
	return result;
}

/* {"from":5001,"to":9000,"bytes":1234567,"reason":"disk cap","before":3} */
static int read_json_add_gap(struct buffer *out, const struct text_piece *gap, size_t before)
{
	if (gap_begin_json(out, &gap->gap) < 0 || json_add_count(out, "before", before) < 0)
		return -1;
	return buffer_append_string(out, "}");
}

static int read_json_add_gaps(struct buffer *out, const struct page *p)
{
	const struct text_piece *gap = p->gaps;
	size_t lines = 0;
	if (json_begin_array(out, "gaps") < 0)
		return -1;
	for (size_t i = 0; i < p->count; i++) {
		if (p->pieces[i].kind == PAGE_LINE)
			lines++;
		else if (read_json_add_gap(out, gap++, lines) < 0)
			return -1;
	}
	return buffer_append_string(out, "]");
}

/* The lines without their newlines; *bytes is what was shown. */
static int read_json_add_lines(struct buffer *out, const struct page *p, uint64_t *bytes)
{
	bool newline = false;
	if (json_begin_array(out, "lines") < 0)
		return -1;
	for (size_t i = 0; i < p->count; i++) {
		const struct page_piece *piece = &p->pieces[i];
		const char *data = p->text.data + piece->start;
		if (piece->kind != PAGE_LINE)
			continue;
		newline = piece->len > 0 && data[piece->len - 1] == '\n';
		*bytes += piece->len;
		if (json_add_text(out, NULL, data, piece->len - newline) < 0)
			return -1;
	}
	if (buffer_append_string(out, "]") < 0)
		return -1;
	return json_add_bool(out, "newline_at_end", newline);
}

/* The first and last line that are there, or null. */
static int read_json_add_range(struct buffer *out, const struct page *p)
{
	const struct page_piece *first = NULL, *last = NULL;
	for (size_t i = 0; i < p->count; i++) {
		if (p->pieces[i].kind != PAGE_LINE)
			continue;
		last = &p->pieces[i];
		first = first ? first : last;
	}
	if (!first)
		return json_add_null(out, "from") < 0 ? -1 : json_add_null(out, "to");
	return json_add_number(out, "from", first->number) < 0
		       ? -1
		       : json_add_number(out, "to", last->number);
}

/* "cut":{"end":"behind","bytes":1234,"command":"terse read ID --bytes 29000:1234 --json"} */
static int read_json_add_cut(struct buffer *out, const struct hint_place *place,
			     const struct page *p)
{
	struct buffer command = BUFFER_INIT;
	const struct page_cut *cut = &p->cut;
	if (!cut->bytes)
		return json_add_null(out, "cut");
	if (json_begin_object(out, "cut") < 0 ||
	    json_add_string(out, "end", cut->before ? "before" : "behind") < 0 ||
	    json_add_count(out, "bytes", cut->bytes) < 0)
		return -1;
	int made = hint_command(&command, place);
	if (made == 0)
		made = hint_bytes(&command, cut->at, cut->bytes);
	if (add_made(out, "command", &command, made) < 0)
		return -1;
	return buffer_append_string(out, "}");
}

static const char *reason(const struct page *p)
{
	return p->stop == PAGE_LINES              ? "lines"
	       : p->stop == PAGE_ASKED && p->next ? "limit"
						  : "bytes";
}

/* Whether there is more than this, why, and the commands that show it. */
static int read_json_add_truncation(struct buffer *out, const struct read *r, const struct page *p)
{
	struct buffer next = BUFFER_INIT, previous = BUFFER_INIT;
	bool truncated = p->next || p->omitted || p->cut.bytes;
	int made = 0;
	if (json_add_bool(out, "truncated", truncated) < 0 ||
	    json_add_string(out, "truncated_by", truncated ? reason(p) : NULL) < 0 ||
	    read_json_add_cut(out, &r->place, p) < 0 ||
	    add_made(out, "next", &next, hint_next(&next, &r->place, p)) < 0)
		return -1;
	if (p->omitted) {
		made = hint_command(&previous, &r->place);
		if (made == 0)
			made = hint_lines(&previous, p->omitted_from, p->omitted);
	}
	return add_made(out, "previous", &previous, made);
}

static int add_page(struct buffer *out, struct read *r, const struct page *p)
{
	uint64_t total, bytes = 0;
	int known = page_total(&r->text, &total);
	if (known < 0 || envelope_begin(out) < 0 || verb_json_place(out, &r->text, r->name) < 0 ||
	    read_json_add_range(out, p) < 0 || read_json_add_lines(out, p, &bytes) < 0 ||
	    json_add_count(out, "lines_shown", p->lines) < 0 ||
	    json_add_count(out, known ? "total_lines" : "total_lines_over", total) < 0 ||
	    json_add_count(out, "bytes", bytes) < 0 ||
	    json_add_count(out, "total_bytes", r->text.size) < 0 ||
	    read_json_add_gaps(out, p) < 0 || read_json_add_truncation(out, r, p) < 0)
		return -1;
	return envelope_end(out);
}

int read_json_page(struct read *r)
{
	struct buffer out = BUFFER_INIT;
	struct page p;
	uint64_t total;
	int status = 0;
	int result = page_make(&p, &r->text, &r->lines, &total);
	if (result == 1)
		status = read_past_lines(r, total);
	else if (result < 0 || add_page(&out, r, &p) < 0 ||
		 io_write(STDOUT_FILENO, out.data, out.len) < 0)
		status = read_failed(r);
	buffer_release(&out);
	page_release(&p);
	return status;
}

static int add_slice(struct buffer *out, const struct read *r, const struct slice *s)
{
	struct buffer next = BUFFER_INIT;
	if (envelope_begin(out) < 0 || verb_json_place(out, &r->text, r->name) < 0 ||
	    json_add_count(out, "offset", s->from) < 0 ||
	    json_add_count(out, "length", s->to - s->from) < 0 ||
	    json_add_count(out, "total_bytes", r->text.size) < 0 ||
	    json_add_text(out, "text", s->text.data, s->text.len) < 0 ||
	    json_begin_array(out, "gaps") < 0 ||
	    (s->gap.kind == TEXT_GAP && read_json_add_gap(out, &s->gap, 0) < 0) ||
	    (s->lost.kind == TEXT_GAP && read_json_add_gap(out, &s->lost, s->text.len) < 0) ||
	    buffer_append_string(out, "]") < 0 || json_add_bool(out, "truncated", s->more) < 0 ||
	    json_add_string(out, "truncated_by",
			    !s->more  ? NULL
			    : s->full ? "bytes"
				      : "limit") < 0 ||
	    add_made(out, "next", &next, hint_next_slice(&next, &r->place, s, r->length)) < 0)
		return -1;
	return envelope_end(out);
}

int read_json_slice(struct read *r)
{
	struct buffer out = BUFFER_INIT;
	struct slice s = {.more = false};
	const struct slice_request request = {
		.from = r->from,
		.length = r->length ? r->length : READ_LENGTH,
		.room = r->lines.room,
		.json = true,
	};
	int status = 0;
	if (r->from > r->text.size)
		return read_past_bytes(r);
	if (slice_make(&s, &r->text, &request) < 0 || add_slice(&out, r, &s) < 0 ||
	    io_write(STDOUT_FILENO, out.data, out.len) < 0)
		status = read_failed(r);
	buffer_release(&out);
	slice_release(&s);
	return status;
}

/* What is printed, piece by piece: text as it is, lines about what is missing as notices. */
struct printer {
	enum sink sink;
	bool inside; /* of a line */
	struct buffer notice;
};

static int read_text_print_text(struct printer *out, const char *data, size_t len)
{
	if (len == 0)
		return 0;
	out->inside = data[len - 1] != '\n';
	return io_write(STDOUT_FILENO, data, len);
}

/* Prints out->notice on a line of its own, or behind what is on the line. */
static int print_notice(struct printer *out, bool own_line)
{
	if (out->notice.len == 0)
		return 0;
	if (own_line && out->inside && read_text_print_text(out, "\n", 1) < 0)
		return -1;
	int result = reader_notice(out->sink, &out->notice);
	out->inside = false;
	buffer_clear(&out->notice);
	return result;
}

static int print_gap(struct printer *out, const struct text_piece *gap)
{
	char line[GAP_ANNOUNCE_MAX];
	size_t len = gap_announce(line, &gap->gap);
	if (buffer_append(&out->notice, line, len) < 0)
		return -1;
	return print_notice(out, true);
}

static int print_omitted(struct printer *out, const struct read *r, const struct page *p)
{
	if ((p->omitted && hint_omitted(&out->notice, &r->place, p) < 0) ||
	    (p->cut.before && hint_cut(&out->notice, &r->place, p) < 0))
		return -1;
	return print_notice(out, true);
}

/* The lines, in writes that are as large as can be. */
static int print_pieces(struct printer *out, const struct read *r, const struct page *p)
{
	const struct text_piece *gap = p->gaps;
	bool cut = p->cut.bytes && !p->cut.before;
	for (size_t i = 0; i < p->count;) {
		if (p->pieces[i].kind == PAGE_GAP) {
			if (print_gap(out, gap++) < 0)
				return -1;
			i++;
			continue;
		}
		size_t start = p->pieces[i].start;
		do {
			i++;
		} while (i < p->count && p->pieces[i].kind == PAGE_LINE);
		size_t end = p->pieces[i - 1].start + p->pieces[i - 1].len;
		if (read_text_print_text(out, p->text.data + start, end - start) < 0)
			return -1;
		/* A line that is cut is the only one. */
		if (cut &&
		    (hint_cut(&out->notice, &r->place, p) < 0 || print_notice(out, false) < 0))
			return -1;
		cut = false;
	}
	return 0;
}

/* How to go on. */
static int print_next(struct printer *out, struct read *r, const struct page *p)
{
	uint64_t total = 0;
	/* What was asked for, and no more, is told an agent alone. */
	if (p->next && (p->stop != PAGE_ASKED || r->sink == SINK_AGENT)) {
		int exact = page_total(&r->text, &total);
		if (exact < 0 || hint_page(&out->notice, &r->place, p, total, exact) < 0)
			return -1;
	} else if ((p->stop == PAGE_END || r->lines.tail) && r->text.held &&
		   r->place.part != ARTIFACT_RAW) {
		/* An unfinished line may go on, too. */
		if (hint_running(&out->notice, &r->place, out->inside ? p->number - 1 : p->number) <
		    0)
			return -1;
	}
	return print_notice(out, true);
}

int read_print_page(struct read *r)
{
	struct printer out = {.sink = r->sink};
	struct page p;
	uint64_t total;
	int status = 0;
	int result = page_make(&p, &r->text, &r->lines, &total);
	if (result == 1)
		status = read_past_lines(r, total);
	else if (result < 0 || print_omitted(&out, r, &p) < 0 || print_pieces(&out, r, &p) < 0 ||
		 print_next(&out, r, &p) < 0)
		status = read_failed(r);
	buffer_release(&out.notice);
	page_release(&p);
	return status;
}

int read_print_slice(struct read *r)
{
	struct printer out = {.sink = r->sink};
	struct slice s = {.more = false};
	const struct slice_request request = {
		.from = r->from,
		.length = r->length ? r->length : READ_LENGTH,
		.room = r->lines.room,
	};
	int status = 0;
	if (r->from > r->text.size)
		return read_past_bytes(r);
	if (slice_make(&s, &r->text, &request) < 0 ||
	    (s.gap.kind == TEXT_GAP && print_gap(&out, &s.gap) < 0) ||
	    read_text_print_text(&out, s.text.data, s.text.len) < 0 ||
	    (s.lost.kind == TEXT_GAP && print_gap(&out, &s.lost) < 0) ||
	    (s.more && hint_slice(&out.notice, &r->place, &s, r->text.size, r->length) < 0) ||
	    print_notice(&out, true) < 0)
		status = read_failed(r);
	buffer_release(&out.notice);
	slice_release(&s);
	return status;
}
