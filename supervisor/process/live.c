// See live.h.

#include "supervisor/process/live.h"

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

/* How long a run lives before it gets its socket. */
#define OPEN_MS 100

/* Interval between messages about more text to clients that watch. */
#define CHANGED_MS 200

/* Bytes at the end of a text in which its last line is searched. */
#define TAIL_MOST ((size_t)4096)

const struct terminal *live_screen(const struct live *l)
{
	struct interceptor *text = source_text(l->source);
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
static void live_describe_text(const struct live *l, const struct terminal *t,
			       struct live_status *c)
{
	struct buffer text = BUFFER_INIT;
	const struct interceptor *s = l->source->text;
	c->lines = terminal_lines(t);
	c->settled = interceptor_settled(s);
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
		const char *last = interceptor_last_line(s, &len);
		live_find_last_line(last, len, c->last_line);
	}
	buffer_release(&text);
}

/* In the first store where a socket can be. */
static void live_try_open(struct live *l)
{
	struct store store;
	int next = 0, result = -1;
	l->open_at = 0;
	if (l->opened)
		return;
	l->opened = true;
	while (result < 0 && record_claim(l->record) == 0 && store_open_next(&store, &next) == 0) {
		int dir = store_open_live(&store, true);
		if (dir >= 0)
			result = control_open(&l->control, dir, l->record->meta.id);
		store_close(&store);
	}
	if (result < 0)
		TRACE(PROCESS, "supervisor: no control socket: %m");
	else
		TRACE(PROCESS, "supervisor: control socket %s", l->control.name);
}

int live_describe(struct live *l, bool reads, struct live_status *now)
{
	int64_t now_ms = clock_monotonic_ms();
	/* The caller asks earlier than others can: the answer has the ID. */
	if (l->open_at)
		live_try_open(l);
	const struct terminal *t = live_screen(l);
	if (!t && l->source->job)
		return ENOMEM;
	if (reads)
		record_open(l->record);
	if (reads && t) {
		interceptor_spill(l->source->text);
		interceptor_update_live(l->source->text);
	}
	*now = (struct live_status){
		.state = l->state == LIVE_RUNNING && l->prompt.waits ? LIVE_WAITING : l->state,
		.pid = l->record->meta.command,
		.elapsed_ms = now_ms - l->job->begun_ms,
		.quiet_ms = l->active ? 0 : now_ms - l->prompt.active_ms,
		.reported = l->reported,
		.terminal = l->terminal,
	};
	/* The socket's name: without an artifact the metadata have no ID. */
	memcpy(now->id, l->control.name, sizeof(now->id) - 1);
	if (now->state == LIVE_WAITING)
		live_prompt(l, now->prompt);
	live_set_argv(now, l->record->meta.argv);
	if (t)
		live_describe_text(l, t, now);
	return 0;
}

int live_picture(const struct live *l, bool painted, struct buffer *out)
{
	struct buffer picture = BUFFER_INIT, clean = BUFFER_INIT, paint = BUFFER_INIT;
	unsigned row, col, cols, rows;
	int result = ENOMEM;
	const struct terminal *t = live_screen(l);
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
size_t live_end_of_input(const struct live *l, char end[2])
{
	struct termios modes;
	if (!l->terminal || l->source->fd < 0 || tcgetattr(l->source->fd, &modes) < 0)
		return 0;
	end[0] = end[1] = (char)modes.c_cc[VEOF];
	bool in_line = (modes.c_lflag & ICANON) && l->typed && l->typed != '\n' &&
		       l->typed != '\r' && l->typed != end[0];
	return in_line ? 2 : 1;
}

int live_resize(struct live *l, unsigned cols, unsigned rows, bool own)
{
	if (cols < 2 || cols > 1000 || rows < 2 || rows > 500)
		return EINVAL;
	if (!l->source->pty || l->source->fd < 0)
		return ENOTTY;
	TRACE(TERMINAL, "size %ux%u", cols, rows);
	pty_resize(l->source->fd, cols, rows);
	cast_resize(&l->cast, clock_monotonic_ms() - l->job->begun_ms, cols, rows);
	if (source_text(l->source))
		interceptor_resize(l->source->text, cols, rows);
	if (own) {
		l->cols = cols;
		l->rows = rows;
	}
	return 0;
}

void live_init(struct live *l, const struct job *job, struct source *source, struct record *record,
	       dev_t device, const struct control_events *events)
{
	*l = (struct live){
		.job = job,
		.record = record,
		.source = source,
		.prompt = {.master = source->fd, .device = device, .active_ms = job->begun_ms},
		.terminal = device != 0,
		.asks = device != 0 && job->channels.keyboard < 0,
		.recording = job->settings->record,
		.active = true,
		.cols = job->cols,
		.rows = job->rows,
		.open_at = job->begun_ms + OPEN_MS,
	};
	control_init(&l->control, events);
	if (job->caller)
		control_adopt(&l->control, job->caller, true);
}

int live_open(struct live *l)
{
	live_try_open(l);
	struct interceptor *text = l->control.fd >= 0 ? source_text(l->source) : NULL;
	if (!text)
		return -1;
	interceptor_pause(text);
	interceptor_spill(text);
	interceptor_update_live(text);
	return l->record->artifact ? 0 : -1;
}

void live_output(struct live *l, const char *data, size_t len)
{
	l->active = true;
	/* The artifact is there from the first byte on. */
	if (l->recording) {
		bool cooked = l->source->pty && l->job->channels.controlling;
		l->recording = false;
		if (source_text(l->source))
			interceptor_spill(l->source->text);
		if (l->record->artifact)
			cast_start(&l->cast, l->record->artifact, &l->record->meta, !cooked);
	}
	if (l->cast.artifact)
		cast_output(&l->cast, clock_monotonic_ms() - l->job->begun_ms, data, len);
	if (l->control.clients)
		control_output(&l->control, data, len);
}

bool live_step(struct live *l, int64_t now_ms)
{
	struct interceptor *text = l->follows ? source_text(l->source) : NULL;
	const uint64_t settled = l->settled;
	/* Makes lines final for those who follow. */
	if (text) {
		int64_t due = interceptor_settle_due(text);
		if (l->active || (due && now_ms >= due))
			interceptor_settle(text, now_ms);
		l->settled = interceptor_settled(text);
	}
	if (l->open_at && now_ms >= l->open_at)
		live_try_open(l);
	if (l->active)
		prompt_touch(&l->prompt, now_ms);
	if (l->active || l->settled != settled) {
		l->active = false;
		if (l->control.clients && !l->changed_at)
			l->changed_at = l->changes_sent_at + CHANGED_MS > now_ms
						? l->changes_sent_at + CHANGED_MS
						: now_ms;
	}
	if (l->changed_at && now_ms >= l->changed_at) {
		l->changes_sent_at = now_ms;
		live_changed(l);
	}
	if (!l->asks || l->state == LIVE_ENDED || l->source->fd < 0)
		return false;
	if (!l->prompt.look_at || now_ms < l->prompt.look_at)
		return false;
	bool waited = l->prompt.waits;
	const struct terminal *t = live_screen(l);
	bool began = t && prompt_step(&l->prompt, t, now_ms);
	if (waited != l->prompt.waits)
		live_changed(l);
	return began;
}

int64_t live_due(const struct live *l)
{
	if (l->active)
		return 1;
	int64_t due = l->open_at;
	bool looks = l->asks && l->state != LIVE_ENDED && l->source->fd >= 0;
	struct interceptor *text = l->follows ? source_text(l->source) : NULL;
	const int64_t times[] = {l->changed_at, looks ? l->prompt.look_at : 0,
				 text ? interceptor_settle_due(text) : 0};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (times[i] && (!due || times[i] < due))
			due = times[i];
	}
	return due;
}

void live_changed(struct live *l)
{
	l->changed_at = 0;
	control_changed(&l->control);
}

void live_prompt(const struct live *l, char out[LIVE_TEXT])
{
	struct buffer line = BUFFER_INIT;
	const struct terminal *t = live_screen(l);
	out[0] = '\0';
	if (t && prompt_text(t, &line) == 0 && line.len > 0)
		live_set_text(out, line.data, line.len);
	buffer_release(&line);
}

void live_count(const struct live *l, uint64_t *lines, uint64_t *bytes)
{
	struct live_status c = {.lines = 0};
	const struct terminal *t = live_screen(l);
	if (t)
		live_describe_text(l, t, &c);
	*lines = c.lines;
	*bytes = c.bytes;
}
