// See html.h.

#include "supervisor/command/html.h"

#include "lib/io.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "lib/utf8.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/text.h"
#include "supervisor/reading/page.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>

static const char *const stream_names[] = {"stdout", "stderr"};

void html_add_clean(struct buffer *out, const char *key, const char *data, size_t len)
{
	struct buffer clean = BUFFER_INIT;
	utf8_clean(&clean, data, len);
	json_add_text(out, key, clean.data, clean.len);
	out->failed |= clean.failed;
	buffer_release(&clean);
}

/* Reads the first `most` bytes of a file of the artifact. Returns 0, or -1 with errno. */
static int read_file(int dir, const char *id, enum artifact_part part, size_t most,
		     struct buffer *out)
{
	int fd = id_open_file(dir, id, part, O_RDONLY);
	ssize_t n = fd < 0 || buffer_reserve(out, most) < 0 ? -1 : io_read(fd, out->data, most);
	out->len = n > 0 ? (size_t)n : 0;
	io_close(&fd);
	return n < 0 ? -1 : 0;
}

/* An archive of somebody else may have anything there. */
static void add_ranges(struct buffer *out, const json_t *head)
{
	json_begin_object(out, "ranges");
	for (int i = 0; i < 2; i++) {
		const json_t *ranges = json_object_get(head, stream_names[i]), *range;
		size_t k;
		json_begin_array(out, stream_names[i]);
		json_array_foreach(ranges, k, range)
		{
			json_int_t from = json_integer_value(json_array_get(range, 0));
			json_int_t to = json_integer_value(json_array_get(range, 1));
			if (from < 1 || to < from)
				continue;
			json_begin_array(out, NULL);
			json_add_number(out, NULL, from);
			json_add_number(out, NULL, to);
			json_end_array(out);
		}
		json_end_array(out);
	}
	json_end_object(out);
}

void html_add_shown(struct buffer *out, int dir, const char *id, size_t most)
{
	struct buffer file = BUFFER_INIT;
	json_t *lines = NULL;
	const char *newline = NULL;
	if (*id && read_file(dir, id, ARTIFACT_SHOWN, META_MAX, &file) == 0 && file.len > 0)
		newline = memchr(file.data, '\n', file.len);
	size_t head = newline ? (size_t)(newline - file.data) : 0;
	if (head > 0)
		lines = json_read(file.data, head, 0, NULL);
	if (json_is_object(lines)) {
		const char *printed = newline + 1;
		size_t len = file.len - head - 1;
		size_t kept = len > most ? utf8_floor(printed, len, most) : len;
		html_add_clean(out, "shown", printed, kept);
		if (kept < len)
			json_add_count(out, "shown_cut", len - kept);
		add_ranges(out, lines);
	} else {
		json_add_null(out, "shown");
	}
	json_decref(lines);
	buffer_release(&file);
}

/* Adds the bytes from `from` to `to`, in whole lines if `lines` is true; lines about gaps stand in
   their places. Returns 0, or -1 with errno. */
static int add_part(struct buffer *out, const char *key, struct text *t, uint64_t from, uint64_t to,
		    bool lines)
{
	struct buffer part = BUFFER_INIT;
	struct slice s = {.to = from};
	int result;
	do {
		const struct slice_request request = {
			.from = s.to, .length = to - s.to, .room = 3 * (size_t)(to - s.to) + 1};
		result = slice_make(&s, t, &request);
		buffer_add(&part, &s.text);
	} while (result == 0 && s.more && s.to < to);
	const char *newline = lines && part.len ? memrchr(part.data, '\n', part.len) : NULL;
	if (newline)
		buffer_truncate(&part, (size_t)(newline - part.data) + 1);
	json_add_text(out, key, part.data, part.len);
	out->failed |= part.failed;
	buffer_release(&part);
	slice_release(&s);
	return result;
}

void html_add_texts(struct buffer *out, int dir, const char *id, size_t most)
{
	json_begin_array(out, "texts");
	for (int i = 0; i < 2; i++) {
		struct text t;
		uint64_t lines = 0, start;
		if (text_open(&t, dir, id, i ? ARTIFACT_ERR : ARTIFACT_OUT) < 0)
			continue;
		text_lines(&t, &lines);
		json_begin_object(out, NULL);
		json_add_string(out, "name", stream_names[i]);
		json_add_count(out, "bytes", t.size);
		json_add_count(out, "lines", lines);
		bool cut = t.size > most;
		int result = add_part(out, "head", &t, 0, cut ? most / 2 : t.size, cut);
		if (cut && result == 0) {
			/* A line that is longer than that begins in its middle. */
			uint64_t from = t.size - most / 2;
			if (text_line_start(&t, from, &start) == 0 && from - start < most / 2)
				from = start;
			result = add_part(out, "tail", &t, from, t.size, false);
		}
		if (result < 0)
			json_add_string(out, "error", strerror(errno));
		json_end_object(out);
		text_close(&t);
	}
	json_end_array(out);
}

void html_add_recording(struct buffer *out, int dir, const char *id, size_t most)
{
	struct buffer cast = BUFFER_INIT;
	if (read_file(dir, id, ARTIFACT_CAST, most + 1, &cast) == 0 && cast.len > 0) {
		if (cast.len > most)
			json_add_bool(out, "recording_cut", true);
		json_add_text(out, "recording", cast.data, cast.len > most ? most : cast.len);
	}
	buffer_release(&cast);
}
