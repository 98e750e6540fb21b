// See live.h and supervisor_internal.h.

#include "supervisor/process/supervisor_internal.h"

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/artifact/store.h"
#include "supervisor/process/spawn.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <string.h>
#include <termios.h>

/* Interval between messages about more text to clients that watch. */
#define CHANGED_MS 200

/* Bytes at the end of a text in which its last line is searched. */
#define TAIL_MOST ((size_t)4096)

const struct terminal *live_screen(struct supervisor *s)
{
	struct interceptor *text = source_text(&s->sources[0]);
	if (!text)
		return NULL;
	interceptor_pause(text);
	return interceptor_terminal(text);
}

/* Copies text, cut where it does not fit. */
static void live_set_text(char out[LIVE_TEXT], const char *text, size_t len)
{
	size_t n = utf8_floor(text, len, len < LIVE_TEXT ? len : LIVE_TEXT - 1);
	memcpy(out, text, n);
	out[n] = '\0';
}

/* Copies the command, whose words may hold any bytes, cut where it does not fit. */
static void live_set_argv(struct live_status *now, char *const *argv)
{
	struct buffer word = BUFFER_INIT;
	for (; argv && *argv && !now->argv_cut; argv++) {
		size_t room = LIVE_ARGV - now->argv_len;
		buffer_clear(&word);
		utf8_clean(&word, *argv, strlen(*argv));
		now->argv_cut = word.failed || word.len >= room;
		/* The start of a long word. */
		size_t len = !now->argv_cut ? word.len
			     : room > 1     ? utf8_floor(word.data, word.len, room - 1)
					    : 0;
		if (now->argv_cut && len == 0)
			break;
		memcpy(now->argv + now->argv_len, word.data, len);
		now->argv_len += len + 1;
	}
	buffer_release(&word);
}

/* The last line that is not blank. */
static void live_find_last_line(const char *text, size_t len, char out[LIVE_TEXT])
{
	struct buffer clean = BUFFER_INIT;
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	const char *newline = len ? memrchr(text, '\n', len) : NULL;
	const char *line = newline ? newline + 1 : text;
	size_t rest = len - (size_t)(line - text);
	out[0] = '\0';
	if (rest > LIVE_TEXT)
		rest = utf8_floor(line, rest, LIVE_TEXT);
	utf8_clean(&clean, line, rest);
	if (buffer_string(&clean))
		live_set_text(out, clean.data, clean.len);
	buffer_release(&clean);
}

/* The alternate screen is not part of the text. */
static void live_describe_text(struct supervisor *s, const struct terminal *t,
			       struct live_status *c)
{
	struct buffer text = BUFFER_INIT;
	const struct interceptor *own = s->sources[0].text;
	c->lines = terminal_lines(t);
	c->settled = interceptor_settled(own);
	if (terminal_pending(t, &text) == 0)
		c->bytes = c->settled + text.len;
	if (terminal_is_alternate(t)) {
		buffer_clear(&text);
		terminal_picture(t, &text, NULL, NULL);
	}
	size_t from = text.len > TAIL_MOST ? text.len - TAIL_MOST : 0;
	if (text.len > 0)
		live_find_last_line(text.data + from, text.len - from, c->last_line);
	if (!c->last_line[0]) {
		size_t len;
		const char *last = interceptor_last_line(own, &len);
		live_find_last_line(last, len, c->last_line);
	}
	buffer_release(&text);
}

/* In the first store where a socket can be. */
static void live_try_open(struct supervisor *s)
{
	struct store store;
	int next = 0, result = -1;
	s->live.open_at = 0;
	if (s->live.opened)
		return;
	s->live.opened = true;
	while (result < 0 && record_claim(&s->record) == 0 && store_open_next(&store, &next) == 0) {
		int dir = store_open_live(&store, true);
		if (dir >= 0)
			result = control_open(&s->live.control, dir, s->record.meta.id);
		store_close(&store);
	}
	if (result < 0)
		TRACE(PROCESS, "supervisor: no control socket: %m");
	else
		TRACE(PROCESS, "supervisor: control socket %s", s->live.control.name);
}

int live_describe(struct supervisor *s, bool reads, struct live_status *now)
{
	int64_t now_ms = clock_monotonic_ms();
	/* The caller asks earlier than others can: the answer has the ID. */
	if (s->live.open_at)
		live_try_open(s);
	const struct terminal *t = live_screen(s);
	if (!t && s->sources[0].job)
		return ENOMEM;
	if (reads)
		record_open(&s->record);
	if (reads && t) {
		interceptor_spill(s->sources[0].text);
		interceptor_update_live(s->sources[0].text);
	}
	*now = (struct live_status){
		.state = s->live.state == LIVE_RUNNING && s->live.prompt.waits ? LIVE_WAITING
									       : s->live.state,
		.pid = s->record.meta.command,
		.elapsed_ms = now_ms - s->job->begun_ms,
		.quiet_ms = s->live.active ? 0 : now_ms - s->live.prompt.active_ms,
		.reported = s->live.reported,
		.terminal = s->live.terminal,
	};
	/* The socket's name: without an artifact the metadata have no ID. */
	memcpy(now->id, s->live.control.name, sizeof(now->id) - 1);
	if (now->state == LIVE_WAITING)
		live_prompt(s, now->prompt);
	live_set_argv(now, s->record.meta.argv);
	if (t)
		live_describe_text(s, t, now);
	return 0;
}

int live_picture(struct supervisor *s, bool painted, struct buffer *out)
{
	struct buffer picture = BUFFER_INIT, clean = BUFFER_INIT, paint = BUFFER_INIT;
	unsigned row, col, cols, rows;
	int result = ENOMEM;
	const struct terminal *t = live_screen(s);
	if (!t || terminal_picture(t, &picture, &row, &col) < 0)
		goto out;
	utf8_clean(&clean, picture.data, picture.len);
	if (buffer_check(&clean) < 0 || (painted && terminal_repaint(t, &paint) < 0))
		goto out;
	terminal_size(t, &cols, &rows);
	json_begin_object(out, NULL);
	json_add_count(out, "cols", cols);
	json_add_count(out, "rows", rows);
	json_add_count(out, "row", row);
	json_add_count(out, "col", col);
	json_add_bool(out, "alternate", terminal_is_alternate(t));
	json_add_bool(out, "cursor", terminal_shows_cursor(t));
	json_add_string(out, "title", terminal_title(t));
	json_add_text(out, "text", clean.data, clean.len);
	if (painted)
		json_add_text(out, "paint", paint.data, paint.len);
	json_end_object(out);
	result = buffer_check(out) < 0 ? ENOMEM : 0;
out:
	buffer_release(&picture);
	buffer_release(&clean);
	buffer_release(&paint);
	return result;
}

/* In the middle of a line the first end of input only sends the line. */
size_t live_end_of_input(struct supervisor *s, char end[2])
{
	struct termios modes;
	if (!s->live.terminal || s->sources[0].fd < 0 || tcgetattr(s->sources[0].fd, &modes) < 0)
		return 0;
	end[0] = end[1] = (char)modes.c_cc[VEOF];
	bool in_line = (modes.c_lflag & ICANON) && s->live.typed && s->live.typed != '\n' &&
		       s->live.typed != '\r' && s->live.typed != end[0];
	return in_line ? 2 : 1;
}

int live_resize(struct supervisor *s, unsigned cols, unsigned rows, bool own)
{
	if (cols < 2 || cols > 1000 || rows < 2 || rows > 500)
		return EINVAL;
	if (!s->sources[0].pty || s->sources[0].fd < 0)
		return ENOTTY;
	TRACE(TERMINAL, "size %ux%u", cols, rows);
	pty_resize(s->sources[0].fd, cols, rows);
	cast_resize(&s->live.cast, clock_monotonic_ms() - s->job->begun_ms, cols, rows);
	if (source_text(&s->sources[0]))
		interceptor_resize(s->sources[0].text, cols, rows);
	if (own) {
		s->live.cols = cols;
		s->live.rows = rows;
	}
	return 0;
}

int live_open(struct supervisor *s)
{
	live_try_open(s);
	struct interceptor *text = s->live.control.fd >= 0 ? source_text(&s->sources[0]) : NULL;
	if (!text)
		return -1;
	interceptor_pause(text);
	interceptor_spill(text);
	interceptor_update_live(text);
	return s->record.artifact ? 0 : -1;
}

void live_output(void *supervisor, const char *data, size_t len)
{
	struct supervisor *s = supervisor;
	s->live.active = true;
	/* The artifact is there from the first byte on. */
	if (s->live.recording) {
		bool cooked = s->sources[0].pty && s->job->channels.controlling;
		s->live.recording = false;
		if (source_text(&s->sources[0]))
			interceptor_spill(s->sources[0].text);
		if (s->record.artifact)
			cast_start(&s->live.cast, s->record.artifact, &s->record.meta, !cooked);
	}
	if (s->live.cast.artifact)
		cast_output(&s->live.cast, clock_monotonic_ms() - s->job->begun_ms, data, len);
	if (s->live.control.clients)
		control_output(&s->live.control, data, len);
}

bool live_step(struct supervisor *s, int64_t now_ms)
{
	struct interceptor *text = s->live.follows ? source_text(&s->sources[0]) : NULL;
	const uint64_t settled = s->live.settled;
	/* Makes lines final for those who follow. */
	if (text) {
		int64_t due = interceptor_settle_due(text);
		if (s->live.active || (due && now_ms >= due))
			interceptor_settle(text, now_ms);
		s->live.settled = interceptor_settled(text);
	}
	if (s->live.open_at && now_ms >= s->live.open_at)
		live_try_open(s);
	if (s->live.active)
		prompt_touch(&s->live.prompt, now_ms);
	if (s->live.active || s->live.settled != settled) {
		s->live.active = false;
		if (s->live.control.clients && !s->live.changed_at)
			s->live.changed_at = s->live.changes_sent_at + CHANGED_MS > now_ms
						     ? s->live.changes_sent_at + CHANGED_MS
						     : now_ms;
	}
	if (s->live.changed_at && now_ms >= s->live.changed_at) {
		s->live.changes_sent_at = now_ms;
		live_changed(s);
	}
	if (!s->live.asks || s->live.state == LIVE_ENDED || s->sources[0].fd < 0)
		return false;
	if (!s->live.prompt.look_at || now_ms < s->live.prompt.look_at)
		return false;
	bool waited = s->live.prompt.waits;
	const struct terminal *t = live_screen(s);
	bool began = t && prompt_step(&s->live.prompt, t, now_ms);
	if (waited != s->live.prompt.waits)
		live_changed(s);
	return began;
}

int64_t live_due(struct supervisor *s)
{
	if (s->live.active)
		return 1;
	int64_t due = s->live.open_at;
	bool looks = s->live.asks && s->live.state != LIVE_ENDED && s->sources[0].fd >= 0;
	struct interceptor *text = s->live.follows ? source_text(&s->sources[0]) : NULL;
	const int64_t times[] = {s->live.changed_at, looks ? s->live.prompt.look_at : 0,
				 text ? interceptor_settle_due(text) : 0};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (times[i] && (!due || times[i] < due))
			due = times[i];
	}
	return due;
}

void live_changed(struct supervisor *s)
{
	s->live.changed_at = 0;
	control_changed(&s->live.control);
}

void live_prompt(struct supervisor *s, char out[LIVE_TEXT])
{
	struct buffer line = BUFFER_INIT;
	const struct terminal *t = live_screen(s);
	out[0] = '\0';
	if (t && prompt_text(t, &line) == 0 && line.len > 0)
		live_set_text(out, line.data, line.len);
	buffer_release(&line);
}

void live_count(struct supervisor *s, uint64_t *lines, uint64_t *bytes)
{
	struct live_status c = {.lines = 0};
	const struct terminal *t = live_screen(s);
	if (t)
		live_describe_text(s, t, &c);
	*lines = c.lines;
	*bytes = c.bytes;
}
