// See read.h.

#include "supervisor/command/read.h"

#include "lib/gap.h"
#include "lib/json.h"

/* {"from":5001,"to":9000,"bytes":1234567,"reason":"disk cap","before":3} */
static void read_json_add_gap(struct buffer *out, const struct text_piece *gap, size_t before)
{
	gap_begin_json(out, &gap->gap);
	json_add_count(out, "before", before);
	json_end_object(out);
}

static void read_json_add_gaps(struct buffer *out, const struct page *p)
{
	const struct text_piece *gap = p->gaps;
	size_t lines = 0;
	json_begin_array(out, "gaps");
	for (size_t i = 0; i < p->count; i++) {
		if (p->pieces[i].kind == PAGE_LINE)
			lines++;
		else
			read_json_add_gap(out, gap++, lines);
	}
	json_end_array(out);
}

/* The lines without their newlines. Returns how many bytes are shown. */
static uint64_t read_json_add_lines(struct buffer *out, const struct page *p)
{
	bool newline = false;
	uint64_t bytes = 0;
	json_begin_array(out, "lines");
	for (size_t i = 0; i < p->count; i++) {
		const struct page_piece *piece = &p->pieces[i];
		const char *data = p->text.data + piece->start;
		if (piece->kind != PAGE_LINE)
			continue;
		newline = piece->len > 0 && data[piece->len - 1] == '\n';
		bytes += piece->len;
		json_add_text(out, NULL, data, piece->len - newline);
	}
	json_end_array(out);
	json_add_bool(out, "newline_at_end", newline);
	return bytes;
}

/* The first and last line that are there, or null. */
static void read_json_add_range(struct buffer *out, const struct page *p)
{
	const struct page_piece *first = NULL, *last = NULL;
	for (size_t i = 0; i < p->count; i++) {
		if (p->pieces[i].kind != PAGE_LINE)
			continue;
		last = &p->pieces[i];
		first = first ? first : last;
	}
	if (first) {
		json_add_number(out, "from", first->number);
		json_add_number(out, "to", last->number);
	} else {
		json_add_null(out, "from");
		json_add_null(out, "to");
	}
}

/* "cut":{"end":"behind","bytes":1234,"command":"terse read ID --bytes 29000:1234 --json"} */
static void read_json_add_cut(struct buffer *out, const struct notice_place *place,
			      const struct page *p)
{
	struct buffer command = BUFFER_INIT;
	const struct page_cut *cut = &p->cut;
	if (!cut->bytes) {
		json_add_null(out, "cut");
		return;
	}
	json_begin_object(out, "cut");
	json_add_string(out, "end", cut->before ? "before" : "behind");
	json_add_count(out, "bytes", cut->bytes);
	notice_read_bytes(&command, place, cut->at, cut->bytes);
	json_add_made(out, "command", &command);
	json_end_object(out);
}

static const char *read_reason(const struct page *p)
{
	return p->stop == PAGE_LINES              ? "lines"
	       : p->stop == PAGE_ASKED && p->next ? "limit"
						  : "bytes";
}

/* Whether there is more than this, why, and the commands that show it. */
static void read_json_add_truncation(struct buffer *out, const struct read *r, const struct page *p)
{
	struct buffer next = BUFFER_INIT, previous = BUFFER_INIT;
	bool truncated = p->next || p->omitted || p->cut.bytes;
	json_add_bool(out, "truncated", truncated);
	json_add_string(out, "truncated_by", truncated ? read_reason(p) : NULL);
	read_json_add_cut(out, &r->place, p);
	notice_page_next(&next, &r->place, p);
	json_add_made(out, "next", &next);
	if (p->omitted)
		notice_read_lines(&previous, &r->place, p->omitted_from, p->omitted);
	json_add_made(out, "previous", &previous);
}

int read_json_add_page(struct buffer *out, struct read *r, const struct page *p)
{
	uint64_t total;
	int known = page_total(&r->text, &total);
	if (known < 0)
		return -1;
	envelope_begin(out);
	verb_json_place(out, &r->text, r->name);
	read_json_add_range(out, p);
	uint64_t bytes = read_json_add_lines(out, p);
	json_add_count(out, "lines_shown", p->lines);
	json_add_count(out, known ? "total_lines" : "total_lines_over", total);
	json_add_count(out, "bytes", bytes);
	json_add_count(out, "total_bytes", r->text.size);
	read_json_add_gaps(out, p);
	read_json_add_truncation(out, r, p);
	envelope_end(out);
	return 0;
}

void read_json_add_slice(struct buffer *out, const struct read *r, const struct slice *s)
{
	struct buffer next = BUFFER_INIT;
	envelope_begin(out);
	verb_json_place(out, &r->text, r->name);
	json_add_count(out, "offset", s->from);
	json_add_count(out, "length", s->to - s->from);
	json_add_count(out, "total_bytes", r->text.size);
	json_add_text(out, "text", s->text.data, s->text.len);
	json_begin_array(out, "gaps");
	if (s->gap.kind == TEXT_GAP)
		read_json_add_gap(out, &s->gap, 0);
	if (s->lost.kind == TEXT_GAP)
		read_json_add_gap(out, &s->lost, s->text.len);
	json_end_array(out);
	json_add_bool(out, "truncated", s->more);
	json_add_string(out, "truncated_by", !s->more ? NULL : s->full ? "bytes" : "limit");
	notice_slice_next(&next, &r->place, s, r->length);
	json_add_made(out, "next", &next);
	envelope_end(out);
}
