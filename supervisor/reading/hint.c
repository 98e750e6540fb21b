// See hint.h.

#include "supervisor/reading/hint.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/human.h"

#include <inttypes.h>

static int add_if(struct buffer *out, bool on, const char *text)
{
	return on ? buffer_append_string(out, text) : 0;
}

int hint_command(struct buffer *out, const struct hint_place *place)
{
	if (buffer_printf(out, "terse read %s", place->name) < 0 ||
	    add_if(out, place->part == ARTIFACT_ERR, " --stderr") < 0 ||
	    add_if(out, place->part == ARTIFACT_RAW, " --raw") < 0 ||
	    add_if(out, place->binary, " -a") < 0)
		return -1;
	return add_if(out, place->json, " --json");
}

int hint_lines(struct buffer *out, int64_t first, uint64_t count)
{
	if (buffer_printf(out, " --offset %" PRId64, first) < 0)
		return -1;
	return count ? buffer_printf(out, " --limit %" PRIu64, count) : 0;
}

int hint_bytes(struct buffer *out, uint64_t from, uint64_t length)
{
	if (buffer_printf(out, " --bytes %" PRIu64, from) < 0)
		return -1;
	return length ? buffer_printf(out, ":%" PRIu64, length) : 0;
}

/* "9", or "-9", the ninth from the end. */
static int hint_add_number(struct buffer *out, int64_t line)
{
	char count[HUMAN_LEN];
	return buffer_printf(out, "%s%s", line < 0 ? "-" : "",
			     human_count(count, line < 0 ? (uint64_t)-line : (uint64_t)line));
}

int hint_cut(struct buffer *out, const struct hint_place *place, const struct page *p)
{
	const struct page_cut *cut = &p->cut;
	if (buffer_printf(out, "[... bytes %" PRIu64 "-%" PRIu64, cut->at,
			  cut->at + cut->bytes - 1) < 0)
		return -1;
	if (cut->before && (buffer_append_string(out, " of line ") < 0 ||
			    hint_add_number(out, p->pieces[p->count - 1].number) < 0))
		return -1;
	if (buffer_append_string(out, " omitted: ") < 0 || hint_command(out, place) < 0 ||
	    hint_bytes(out, cut->at, cut->bytes) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int hint_omitted(struct buffer *out, const struct hint_place *place, const struct page *p)
{
	char count[HUMAN_LEN];
	if (buffer_printf(out, "[... %s line%s omitted: ", human_count(count, p->omitted),
			  p->omitted == 1 ? "" : "s") < 0 ||
	    hint_command(out, place) < 0 || hint_lines(out, p->omitted_from, p->omitted) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

static int add_reason(struct buffer *out, const struct hint_place *place, const struct page *p)
{
	char limit[HUMAN_LEN];
	bool lines = p->stop == PAGE_LINES;
	return buffer_printf(out, " (limit %s %s)",
			     human_count(limit, lines ? p->request->most : place->room),
			     lines ? "lines" : "bytes");
}

int hint_next(struct buffer *out, const struct hint_place *place, const struct page *p)
{
	if (!p->next)
		return 0;
	if (hint_command(out, place) < 0)
		return -1;
	return p->next_byte ? hint_bytes(out, p->next_byte, 0) : hint_lines(out, p->next, p->left);
}

int hint_page(struct buffer *out, const struct hint_place *place, const struct page *p,
	      uint64_t total, bool exact)
{
	char all[HUMAN_LEN];
	/* Where a line goes on behind a gap, it is shown in part. */
	int64_t to = p->next_byte ? p->next : p->next - 1;
	bool many = to > p->first;
	if (buffer_append_string(out, many ? "[lines " : "[line ") < 0 ||
	    hint_add_number(out, p->first) < 0 ||
	    (many && (buffer_append_string(out, to < 0 ? " to " : "-") < 0 ||
		      hint_add_number(out, to) < 0)) ||
	    buffer_printf(out, " of %s%s shown", exact ? "" : "more than ",
			  human_count(all, total)) < 0 ||
	    (p->stop != PAGE_ASKED && add_reason(out, place, p) < 0) ||
	    buffer_append_string(out, "; continue: ") < 0 || hint_next(out, place, p) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int hint_next_slice(struct buffer *out, const struct hint_place *place, const struct slice *s,
		    uint64_t length)
{
	if (!s->more)
		return 0;
	return hint_command(out, place) < 0
		       ? -1
		       : hint_bytes(out, s->to, length && s->full ? s->left : length);
}

int hint_slice(struct buffer *out, const struct hint_place *place, const struct slice *s,
	       uint64_t total, uint64_t length)
{
	char first[HUMAN_LEN], last[HUMAN_LEN], all[HUMAN_LEN];
	human_count(all, total);
	if (s->to > s->from) {
		if (buffer_printf(out, "[bytes %s-%s of %s shown", human_count(first, s->from),
				  human_count(last, s->to - 1), all) < 0)
			return -1;
	} else if (buffer_printf(out, "[no bytes of %s shown", all) < 0) {
		return -1;
	}
	if (buffer_append_string(out, "; continue: ") < 0 ||
	    hint_next_slice(out, place, s, length) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int hint_running(struct buffer *out, const struct hint_place *place, int64_t line)
{
	if (buffer_append_string(out, "[the run goes on: ") < 0 || hint_command(out, place) < 0 ||
	    hint_lines(out, line, 0) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}
