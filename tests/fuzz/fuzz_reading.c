// Pages, slices and last lines of any text: put together they are the text, however little room
// there is, no character is split, and omissions are announced exactly.
//
// Input: the room, how many of the last lines, how long a slice is, the text.

#include "lib/buffer.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/reading/page.h"
#include "supervisor/report/wording.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>

#define ROOM_MIN 16

struct input {
	struct text text;
	const char *data;
	size_t len, room;
	struct buffer want, guarded, got; /* the text: in slices, in pages */
};

static void add(struct input *in, const struct buffer *text)
{
	buffer_append(&in->got, text->data, text->len);
	assert(utf8_all_clean(text->data, text->len));
}

static void add_slice(struct input *in, uint64_t from, uint64_t length)
{
	struct slice s = {.more = false};
	uint64_t end = from + length;
	do {
		const struct slice_request request = {
			.from = from, .length = end - from, .room = in->room};
		assert(slice_make(&s, &in->text, &request) == 0);
		assert(s.from == from && s.to > from && s.to <= end);
		add(in, &s.text);
		from = s.to;
	} while (from < end);
	slice_release(&s);
}

static void check_same(struct input *in, const struct buffer *want)
{
	assert(buffer_is(&in->got, want->data, want->len));
	buffer_clear(&in->got);
}

static const struct wording_place place = {.id = "f"};

/* A line that is cut, and the rest of it. It is guarded if what is shown of it needs that. */
static void add_cut(struct input *in, struct page *p)
{
	const char *end = in->data + in->len, *line = in->data + p->cut.at;
	struct buffer notice = BUFFER_INIT;
	wording_cut(&notice, &place, p->cut.at, p->cut.bytes, 0);
	assert(p->text.len > notice.len);
	size_t len = p->text.len - notice.len;
	assert(memcmp(p->text.data + len, notice.data, notice.len) == 0);
	buffer_truncate(&p->text, len);
	buffer_release(&notice);
	while (line > in->data && line[-1] != '\n')
		line--;
	const char *newline = memchr(line, '\n', (size_t)(end - line));
	bool needed = guard_is_needed(line, (size_t)((newline ? newline : end) - line));
	bool guarded = needed && p->text.len >= strlen(GUARD) &&
		       memcmp(p->text.data, GUARD, strlen(GUARD)) == 0;
	if (needed && !guarded)
		buffer_append_string(&in->got, GUARD);
	add(in, &p->text);
	add_slice(in, p->cut.at, p->cut.bytes);
}

/* Every page's next one, and the rest of lines that are cut. */
static void check_pages(struct input *in)
{
	struct page_request request = {.first = 1, .most = 3, .room = in->room, .place = &place};
	for (uint64_t total;;) {
		struct page p;
		int result = page_make(&p, &in->text, &request, &total);
		/* A newline may be over it. */
		assert(result == 0 && p.used <= in->room + 2 && p.lines <= 3 && !p.omitted);
		if (p.cut.bytes) {
			assert(p.lines == 1);
			add_cut(in, &p);
		} else {
			add(in, &p.text);
		}
		uint64_t next = p.next;
		assert(p.stop == PAGE_END ? !next : next > (uint64_t)request.first);
		page_release(&p);
		if (!next)
			break;
		request.first = (int64_t)next;
	}
	check_same(in, &in->guarded);
}

/* Slices one behind the other, wherever these end. */
static void check_slices(struct input *in, uint64_t length)
{
	struct slice s = {.more = false};
	for (uint64_t from = 0; from < in->len; from += length) {
		const struct slice_request request = {
			.from = from, .length = length, .room = 12 * (size_t)length + 12};
		assert(slice_make(&s, &in->text, &request) == 0);
		assert(s.from <= from && s.from + 4 > from && s.to <= from + length);
		add(in, &s.text);
	}
	check_same(in, &in->want);
	slice_release(&s);
}

static void check_tail(struct input *in, uint64_t tail)
{
	struct page p;
	uint64_t total, all;
	const struct page_request request = {.tail = tail, .room = in->room, .place = &place};
	struct buffer notice = BUFFER_INIT;
	assert(text_lines(&in->text, &all) == 0);
	assert(page_make(&p, &in->text, &request, &total) == 0);
	assert(p.cut.bytes || p.used <= in->room);
	assert(p.lines + p.omitted == (tail < all ? tail : all));
	if (p.count > 0) {
		assert(p.to == all);
		if (p.omitted)
			wording_omitted(&notice, &place, all - (tail < all ? tail : all) + 1,
					p.omitted);
		if (p.cut.bytes)
			wording_cut(&notice, &place, p.cut.at, p.cut.bytes, all);
		assert(p.text.len >= notice.len);
		assert(!notice.len || memcmp(p.text.data, notice.data, notice.len) == 0);
		const char *text = p.text.data + notice.len;
		size_t len = p.text.len - notice.len;
		const struct buffer *want = p.cut.bytes ? &in->want : &in->guarded;
		/* What is left of a line that was cut stands at the start of one. */
		if (p.cut.bytes && len >= strlen(GUARD) &&
		    memcmp(text, GUARD, strlen(GUARD)) == 0 &&
		    (len > want->len || memcmp(text, want->data + want->len - len, len) != 0)) {
			text += strlen(GUARD);
			len -= strlen(GUARD);
		}
		assert(len <= want->len && len <= in->room);
		assert(memcmp(text, want->data + want->len - len, len) == 0);
	}
	if (p.cut.bytes)
		assert(p.lines == 1 && p.cut.at + p.cut.bytes <= in->len);
	buffer_release(&notice);
	page_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	if (size < 3)
		return 0;
	struct input in = {
		.data = (const char *)data + 3,
		.len = size - 3,
		.room = ROOM_MIN + data[0],
	};
	int fd = memfd_create("text", 0);
	assert(write(fd, in.data, in.len) == (ssize_t)in.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert(text_open_file(&in.text, path) == 0);
	utf8_clean(&in.want, in.data, in.len);
	guard_text(&in.guarded, in.data, in.len, GUARD_LINE);
	check_pages(&in);
	check_slices(&in, 4 + (data[2] & 0x7F));
	check_tail(&in, 1 + data[1]);
	text_close(&in.text);
	close(fd);
	buffer_release(&in.want);
	buffer_release(&in.guarded);
	buffer_release(&in.got);
	return 0;
}
