// See html.h: a recording as pictures of its screen.

#include "lib/io.h"
#include "lib/json.h"
#include "lib/utf8.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/command/html.h"
#include "supervisor/command/recording.h"
#include "supervisor/terminal/terminal.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Milliseconds between two pictures at least: what the eye takes for motion. */
#define APART 40

/* A recording of an hour would else have too many. */
#define FRAMES_MOST 2000

struct frames {
	struct buffer *out;
	struct terminal *terminal;
	struct buffer now, before; /* pictures */
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

static void add_changes(struct frames *f)
{
	size_t at = 0, at_before = 0;
	unsigned cols, rows;
	terminal_size(f->terminal, &cols, &rows);
	json_begin_array(f->out, NULL);
	for (unsigned row = 0; row < rows; row++) {
		struct member_value now = take_line(&f->now, &at);
		struct member_value before = take_line(&f->before, &at_before);
		struct buffer clean = BUFFER_INIT;
		if (now.len == before.len && memcmp(now.data, before.data, now.len) == 0)
			continue;
		utf8_clean(&clean, now.data, now.len);
		json_begin_array(f->out, NULL);
		json_add_count(f->out, NULL, row);
		json_add_text(f->out, NULL, clean.data, clean.len);
		json_end_array(f->out);
		buffer_release(&clean);
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
	buffer_clear(&f->now);
	if (terminal_picture(f->terminal, &f->now, &row, &col) < 0) {
		f->out->failed = true;
		return;
	}
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

/* Seconds of the whole recording: the time of its last event. */
static double find_end(int fd)
{
	struct recording r = {.fd = fd};
	struct recording_event e;
	double end = 0;
	json_decref(recording_header(&r));
	while (recording_next(&r, &e) == 1) {
		end = e.at;
		json_decref(e.array);
	}
	buffer_release(&r.buffer);
	lseek(fd, 0, SEEK_SET);
	return end;
}

static void add_all(struct frames *f, struct recording *r)
{
	struct recording_event e;
	int64_t ms = 0;
	json_begin_array(f->out, "frames");
	while (!f->cut && recording_next(r, &e) == 1) {
		ms = (int64_t)(e.at * 1000);
		take_event(f, &e, ms);
		json_decref(e.array);
	}
	if (!f->cut)
		add_frame(f, ms);
	json_end_array(f->out);
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
	f.terminal = header ? recording_terminal(header, false) : NULL;
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
	buffer_release(&r.buffer);
	io_close(&fd);
}
