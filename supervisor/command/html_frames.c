// See html.h: a recording as pictures of its screen.

#include "lib/io.h"
#include "lib/json.h"
#include "lib/members.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/history.h"
#include "supervisor/command/html.h"
#include "supervisor/command/recording.h"
#include "supervisor/command/svg.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Milliseconds between two pictures at least: what the eye takes for motion. */
#define APART 40

/* A recording of an hour would else have too many. */
#define FRAMES_MOST 2000

struct frames {
	struct buffer *out;
	struct terminal *terminal;
	struct buffer now, before;     /* pictures, a line of JSON for each row */
	struct buffer plain;           /* text without a style, of the row that is painted */
	unsigned row;                  /* the one that is painted */
	struct terminal_style *styles; /* those that were met */
	size_t style_count, style_room;
	int64_t apart, last_ms;
	size_t start, most;
	bool any, cut;
};

/* The next line of a picture; moves *at behind it. */
static struct member_value take_line(const struct buffer *picture, size_t *at)
{
	const char *line = picture->data + *at;
	const char *newline = *at < picture->len ? memchr(line, '\n', picture->len - *at) : NULL;
	size_t len = newline ? (size_t)(newline - line) : 0;
	*at += newline ? len + 1 : 0;
	return (struct member_value){newline ? line : "", len};
}

/* The number of a style in the table, or -1 without memory for it. */
static ssize_t frames_find_style(struct frames *f, const struct terminal_style *style)
{
	for (size_t i = 0; i < f->style_count; i++) {
		if (memcmp(&f->styles[i], style, sizeof(*style)) == 0)
			return (ssize_t)i;
	}
	struct terminal_style *added =
		array_add(&f->styles, &f->style_count, &f->style_room, sizeof(*added));
	if (!added)
		return -1;
	*added = *style;
	return (ssize_t)f->style_count - 1;
}

static void frames_add_plain(struct frames *f)
{
	if (f->plain.len > 0)
		html_add_clean(&f->now, NULL, f->plain.data, f->plain.len);
	buffer_clear(&f->plain);
}

/* Begins rows up to this one, which is one behind the last to end the picture. */
static void frames_go_to(struct frames *f, unsigned row)
{
	for (; f->row < row; f->row++) {
		while (f->plain.len > 0 && f->plain.data[f->plain.len - 1] == ' ')
			buffer_truncate(&f->plain, f->plain.len - 1);
		frames_add_plain(f);
		json_end_array(&f->now);
		buffer_append_string(&f->now, "\n");
		json_begin_array(&f->now, NULL);
		json_add_count(&f->now, NULL, f->row + 1);
	}
}

static void frames_on_run(void *ctx, unsigned row, unsigned column, unsigned width,
			  const char *text, size_t len, const struct terminal_style *style)
{
	static const struct terminal_style none = {0};
	struct frames *f = ctx;
	(void)column, (void)width;
	frames_go_to(f, row);
	if (memcmp(style, &none, sizeof(none)) == 0) {
		buffer_append(&f->plain, text, len);
		f->now.failed |= f->plain.failed;
		return;
	}
	frames_add_plain(f);
	ssize_t number = frames_find_style(f, style);
	f->now.failed |= number < 0;
	json_begin_array(&f->now, NULL);
	json_add_number(&f->now, NULL, number);
	html_add_clean(&f->now, NULL, text, len);
	json_end_array(&f->now);
}

/* Makes the picture of now. Returns 0, or -1 with ENOMEM. */
static int frames_paint(struct frames *f)
{
	const struct terminal_painter painter = {frames_on_run, f};
	unsigned cols, rows;
	buffer_clear(&f->now);
	buffer_clear(&f->plain);
	f->row = 0;
	json_begin_array(&f->now, NULL);
	json_add_count(&f->now, NULL, 0);
	terminal_size(f->terminal, &cols, &rows);
	f->now.failed |= terminal_paint(f->terminal, &painter) < 0;
	frames_go_to(f, rows);
	return buffer_check(&f->now);
}

static void add_changes(struct frames *f)
{
	size_t at = 0, at_before = 0;
	json_begin_array(f->out, NULL);
	for (unsigned row = 0; row < f->row; row++) {
		struct member_value now = take_line(&f->now, &at);
		struct member_value before = take_line(&f->before, &at_before);
		/* At first all rows are blank. */
		bool same = before.len ? now.len == before.len &&
						 memcmp(now.data, before.data, now.len) == 0
				       : !memchr(now.data, ',', now.len);
		if (!same)
			json_add_raw(f->out, NULL, now.data, now.len);
	}
	json_end_array(f->out);
}

/* Adds the screen as it is. */
static void add_frame(struct frames *f, int64_t ms)
{
	unsigned row, col;
	if (f->out->len - f->start > f->most) {
		f->cut = true;
		return;
	}
	if (frames_paint(f) < 0) {
		f->out->failed = true;
		return;
	}
	terminal_cursor(f->terminal, &row, &col);
	json_begin_array(f->out, NULL);
	json_add_number(f->out, NULL, ms);
	json_add_count(f->out, NULL, terminal_shows_cursor(f->terminal) ? row : 0);
	json_add_count(f->out, NULL, col);
	add_changes(f);
	json_end_array(f->out);
	struct buffer swap = f->before;
	f->before = f->now;
	f->now = swap;
	f->last_ms = ms;
	f->any = true;
}

static void take_event(struct frames *f, const struct recording_event *e, int64_t ms)
{
	/* What was there until now was seen. */
	if (f->any && ms - f->last_ms >= f->apart)
		add_frame(f, f->last_ms + f->apart);
	recording_feed(f->terminal, e);
	if (!f->any || ms - f->last_ms >= f->apart)
		add_frame(f, ms);
}

/* Seconds of the whole recording: the time of its last event, with which its last line begins. 0:
   not known. */
static double find_end(int fd)
{
	char line[32] = "";
	uint64_t start;
	size_t len;
	struct stat st;
	if (fstat(fd, &st) < 0 ||
	    history_last_line(fd, (uint64_t)st.st_size, line, sizeof(line) - 1, &start, &len) != 1)
		return 0;
	double end = *line == '[' ? strtod(line + 1, NULL) : 0;
	return end > 0 && end < RECORDING_END_MOST ? end : 0;
}

static void add_styles(struct frames *f)
{
	json_begin_array(f->out, "styles");
	for (size_t i = 0; i < f->style_count; i++) {
		struct svg_colours colours = svg_colours(&f->styles[i]);
		json_begin_array(f->out, NULL);
		json_add_known(f->out, NULL, colours.has_ink, colours.ink);
		json_add_known(f->out, NULL, colours.has_paper, colours.paper);
		json_add_count(f->out, NULL, f->styles[i].attributes & ~TERMINAL_INVERSE);
		json_end_array(f->out);
	}
	json_end_array(f->out);
}

static void add_all(struct frames *f, struct recording *r)
{
	struct recording_event e;
	int64_t ms = 0;
	int got = 0;
	json_begin_array(f->out, "frames");
	while (!f->cut && (got = recording_next(r, &e)) == 1) {
		ms = (int64_t)(e.at * 1000);
		take_event(f, &e, ms);
		json_decref(e.array);
	}
	/* A damaged one ends there. */
	f->out->failed |= got < 0 && errno == ENOMEM;
	if (!f->cut)
		add_frame(f, ms);
	json_end_array(f->out);
	add_styles(f);
	json_add_bool(f->out, "cut", f->cut);
}

void html_add_frames(struct buffer *out, int dir, const char *id, size_t most)
{
	int fd = id_open_file(dir, id, artifact_files[ARTIFACT_CAST].suffix, O_RDONLY);
	if (fd < 0)
		return;
	double end = find_end(fd);
	struct recording r = {.fd = fd};
	json_t *header = recording_header(&r);
	struct frames f = {.out = out, .start = out->len, .most = most};
	f.apart = fmax(APART, end * 1000 / FRAMES_MOST);
	f.terminal = header ? recording_terminal(header) : NULL;
	if (f.terminal) {
		json_begin_object(out, "recording");
		unsigned cols, rows;
		terminal_size(f.terminal, &cols, &rows);
		json_add_count(out, "cols", cols);
		json_add_count(out, "rows", rows);
		add_all(&f, &r);
		json_end_object(out);
	}
	terminal_free(f.terminal);
	json_decref(header);
	buffer_release(&f.now);
	buffer_release(&f.before);
	buffer_release(&f.plain);
	free(f.styles);
	buffer_release(&r.buffer);
	io_close(&fd);
}
