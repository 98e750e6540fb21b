// See read.h.

#include "supervisor/base/gap.h"
#include "supervisor/base/io.h"
#include "supervisor/command/read.h"
#include "supervisor/command/reader.h"

#include <unistd.h>

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
