// See html.h: the texts of a run.

#include "lib/gap.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "lib/utf8.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/html.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

/* Reads up to `most` bytes of the text from its current place on; lines about gaps stand in
   their places. */
static int read_some(struct text *t, size_t most, struct buffer *out)
{
	while (most > 0) {
		struct text_piece piece;
		char line[GAP_ANNOUNCE_MAX];
		if (buffer_reserve(out, most) < 0 ||
		    text_next(t, out->data + out->len, most, &piece) < 0)
			return -1;
		if (piece.kind == TEXT_END)
			break;
		if (piece.kind == TEXT_GAP) {
			buffer_append(out, line, gap_announce(line, &piece.gap));
			continue;
		}
		out->len += piece.len;
		most -= piece.len;
	}
	return buffer_check(out);
}

void html_add_clean(struct buffer *out, const char *key, const char *data, size_t len)
{
	struct buffer clean = BUFFER_INIT;
	utf8_clean(&clean, data, len);
	json_add_text(out, key, clean.data, clean.len);
	out->failed |= clean.failed;
	buffer_release(&clean);
}

static uint64_t count_lines(const struct buffer *text)
{
	if (text->len == 0)
		return 0;
	uint64_t lines = text->data[text->len - 1] != '\n';
	for (const char *at = text->data, *end = at + text->len;
	     at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
		lines++;
	return lines;
}

/* The start of a text ends with a whole line, if there is one. */
static void end_with_line(struct buffer *head)
{
	const char *newline = head->len ? memrchr(head->data, '\n', head->len) : NULL;
	buffer_truncate(head, newline ? (size_t)(newline - head->data) + 1
				      : utf8_floor(head->data, head->len, head->len));
}

/* Both ends of a text that is too long. */
static int add_ends(struct buffer *out, struct text *t, size_t most, uint64_t lines)
{
	struct buffer head = BUFFER_INIT, tail = BUFFER_INIT;
	uint64_t start, from = t->size - most / 2;
	int result = read_some(t, most / 2, &head);
	end_with_line(&head);
	/* A line that is longer than that begins in its middle. */
	if (result == 0 && text_line_start(t, from, &start) == 0 && from - start < most / 2)
		from = start;
	text_seek_byte(t, from);
	if (result == 0)
		result = read_some(t, (size_t)(t->size - from), &tail);
	html_add_clean(out, "head", head.data, head.len);
	html_add_clean(out, "tail", tail.data, tail.len);
	uint64_t behind = count_lines(&tail);
	json_add_count(out, "tail_from", lines > behind ? lines - behind + 1 : 1);
	buffer_release(&head);
	buffer_release(&tail);
	return result;
}

static int add_text(struct buffer *out, struct text *t, size_t most)
{
	struct buffer all = BUFFER_INIT;
	uint64_t lines = 0;
	text_lines(t, &lines);
	text_seek_byte(t, 0);
	json_add_count(out, "bytes", t->size);
	json_add_count(out, "lines", lines);
	if (t->size > most)
		return add_ends(out, t, most, lines);
	int result = read_some(t, most + 1, &all);
	html_add_clean(out, "head", all.data, all.len);
	buffer_release(&all);
	return result;
}

/* Reads ID.shown: its head, and what follows. NULL: there is none. */
static json_t *read_shown(int dir, const char *id, struct buffer *printed)
{
	int fd = id_open_file(dir, id, ARTIFACT_SHOWN, O_RDONLY);
	json_t *head = NULL;
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > META_MAX ||
	    buffer_reserve(printed, (size_t)st.st_size) < 0)
		goto out;
	ssize_t n = io_read(fd, printed->data, (size_t)st.st_size);
	printed->len = n > 0 ? (size_t)n : 0;
	const char *newline = printed->len ? memchr(printed->data, '\n', printed->len) : NULL;
	if (!newline)
		goto out;
	head = json_read(printed->data, (size_t)(newline - printed->data), 0, NULL);
	buffer_consume(printed, (size_t)(newline - printed->data) + 1);
out:
	io_close(&fd);
	return head;
}

void html_add_shown(struct buffer *out, int dir, const char *id, size_t most)
{
	struct buffer printed = BUFFER_INIT;
	json_t *head = *id ? read_shown(dir, id, &printed) : NULL;
	size_t len = printed.len;
	if (head && len > most)
		buffer_truncate(&printed, utf8_floor(printed.data, len, most));
	if (head)
		html_add_clean(out, "shown", printed.data, printed.len);
	else
		json_add_null(out, "shown");
	if (printed.len < len)
		json_add_count(out, "shown_cut", len - printed.len);
	json_decref(head);
	buffer_release(&printed);
}

/* The ranges that were shown, as they are in ID.shown. An archive of somebody else may have
   anything there. */
static void add_ranges(struct buffer *out, const json_t *head, const char *name)
{
	const json_t *ranges = json_object_get(head, name), *range;
	size_t i;
	if (!json_is_array(ranges))
		return;
	json_begin_array(out, "ranges");
	json_array_foreach(ranges, i, range)
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

void html_add_texts(struct buffer *out, int dir, const char *id, size_t most)
{
	static const struct {
		enum artifact_part part;
		const char *name;
	} parts[] = {{ARTIFACT_OUT, "stdout"}, {ARTIFACT_ERR, "stderr"}};
	struct buffer printed = BUFFER_INIT;
	json_t *head = read_shown(dir, id, &printed);
	json_begin_array(out, "texts");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct text text;
		if (text_open(&text, dir, id, parts[i].part) < 0)
			continue;
		json_begin_object(out, NULL);
		json_add_string(out, "name", parts[i].name);
		add_ranges(out, head, parts[i].name);
		if (add_text(out, &text, most) < 0)
			json_add_string(out, "error", strerror(errno));
		json_end_object(out);
		text_close(&text);
	}
	json_end_array(out);
	json_decref(head);
	buffer_release(&printed);
}
