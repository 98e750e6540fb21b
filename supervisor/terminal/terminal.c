#include "supervisor/terminal/terminal.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TAIL_SIZE 65536

/* If fewer bytes than this come at a time, the command is slow, and its lines are emitted at
   once. */
#define LITTLE 1024

void terminal_reset(struct terminal *t)
{
	t->modes = (struct modes){.wrap = true, .cursor = true};
	t->charsets = (struct charsets){.current = CHARSET_ASCII};
	memset(t->charsets.sets, CHARSET_ASCII, sizeof(t->charsets.sets));
	t->styles.pen = (struct style){0};
	t->style = 0;
}

struct terminal *terminal_new(const struct terminal_options *options,
			      const struct terminal_events *events)
{
	if (options->cols < 2 || options->cols > 1000 || options->rows < 2 || options->rows > 500) {
		errno = EINVAL;
		return NULL;
	}
	struct terminal *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->options = *options;
	t->events = *events;
	t->overwritten.watched = events->stays != NULL;
	t->scan = scan_variants()[0];
	t->emitter.write = events->text;
	t->emitter.ctx = events->ctx;
	t->emitter.stage = io_block(EMITTER_STAGE);
	t->tail.cap = TAIL_SIZE;
	t->tail.data = io_block(TAIL_SIZE);
	t->normal = screen_new(options->cols, options->rows, &t->emitter);
	t->alternate = screen_new(options->cols, options->rows, NULL);
	if (!t->emitter.stage || !t->tail.data || !t->normal || !t->alternate) {
		terminal_free(t);
		errno = ENOMEM;
		return NULL;
	}
	t->screen = t->normal;
	screen_begin(t->screen, 0);
	terminal_reset(t);
	t->appending = !options->styles && !options->cells;
	return t;
}

void terminal_free(struct terminal *t)
{
	if (!t)
		return;
	screen_free(t->normal);
	screen_free(t->alternate);
	buffer_release(&t->overwritten.stayed);
	free(t->tail.data);
	free(t->emitter.stage);
	free(t);
}

void terminal_show_nul(struct terminal *t, enum terminal_nul how)
{
	t->nul = how;
}

bool terminal_keeps_return(const struct terminal *t, const char *p)
{
	return t->options.returns && (p > t->fed ? p[-1] == '\r' : t->after_return);
}

const char *terminal_resume(struct terminal *t, const char *p, const char *end)
{
	char bytes[4];
	unsigned held = t->partial_len;
	unsigned len = held;
	size_t tail;
	uint32_t cp;
	memcpy(bytes, t->partial, held);
	while (len < sizeof(bytes) && p + (len - held) < end) {
		bytes[len] = p[len - held];
		len++;
	}
	size_t n;
	bool valid = utf8_next(bytes, len, &cp, &n);
	if (!valid && n == len && utf8_incomplete(bytes, len, &tail)) {
		memcpy(t->partial, bytes, len);
		t->partial_len = len;
		return end;
	}
	/* A character that is not completed is taken as the bytes that came. */
	if (n < held)
		n = held;
	t->partial_len = 0;
	/* A sequence treats all characters beyond ASCII alike, C1 controls included. */
	if (t->parser.state != PARSER_GROUND)
		dispatch_event(t, valid ? parser_step(&t->parser, 0xA0) : PARSER_SKIP, cp);
	else if (valid)
		grid_print(t, cp, bytes, (unsigned)n);
	else
		grid_print_invalid(t, bytes, (unsigned)n);
	return p + (n - held);
}

const char *terminal_escape(struct terminal *t, const char *p, const char *end)
{
	size_t n = end - p > 1 && p[1] == '[' ? parser_quick(&t->parser, p + 2, end) : 0;
	if (!n) {
		parser_step(&t->parser, (unsigned char)*p);
		t->tail.apart = true;
		return p + 1;
	}
	p += n + 2;
	/* SGR, the most frequent sequence, does not change the text. */
	if (p[-1] == 'm' && !t->parser.collect && !t->options.styles)
		dispatch_ended(t);
	else
		dispatch_event(t, PARSER_CSI, (unsigned char)p[-1]);
	return p;
}

static const char *sequence_feed(struct terminal *t, const char *p, const char *end)
{
	while (p < end && t->parser.state != PARSER_GROUND) {
		unsigned char c = (unsigned char)*p;
		if (t->partial_len || c >= 0x80) {
			p = terminal_resume(t, p, end);
			continue;
		}
		p++;
		enum parser_event event = parser_step(&t->parser, c);
		if (event != PARSER_NOTHING)
			dispatch_event(t, event, c);
		if (t->parser.state >= PARSER_STRING) {
			/* The first byte says which kind of string it is. */
			t->parser.state = PARSER_STRING;
			t->string.held[0] = (char)c;
			t->string.len = 1;
			t->string.more = false;
			t->lossy = true;
			break;
		}
	}
	return p;
}

void terminal_take(struct terminal *t, const char *data, size_t len)
{
	const char *p = data;
	const char *end = data + len;
	const char *outer = t->fed;
	t->fed = data;
	while (p < end) {
		if (t->parser.state == PARSER_STRING)
			p = string_feed(t, p, end);
		else if (t->parser.state != PARSER_GROUND)
			p = sequence_feed(t, p, end);
		else if (t->appending)
			p = append_feed(t, p, end);
		else
			p = grid_feed(t, p, end, false);
	}
	t->fed = outer;
}

void terminal_feed(struct terminal *t, const char *data, size_t len)
{
	if (!len)
		return;
	terminal_take(t, data, len);
	t->after_return = data[len - 1] == '\r';
	/* Long text is emitted in large pieces, since each call costs time. */
	if (t->appending)
		append_trim(t, len < LITTLE ? 0 : t->tail.cap / 2);
	emitter_flush(&t->emitter);
	t->version++;
}

/* Emits the cells of the first `rows` rows, each row as a line. */
static void emit_picture(const struct screen *s, unsigned rows, struct emitter *e)
{
	for (unsigned y = 0; y < rows; y++) {
		emitter_row(e, false, false);
		row_emit_cells(s->lines[y], s->cols, &s->clusters, e);
	}
	emitter_close(e);
}

/* A picture of the screen for an agent, without decoration. */

/* Horizontal rules are cut to this length. */
#define RULE_MOST 8

/* Whether the row is blank, apart from the sides of a box. */
static bool picture_is_blank(const char *row, size_t len)
{
	uint32_t cp;
	while (len > 0 && row[len - 1] == ' ')
		len--;
	for (size_t i = 0; i < len;) {
		i += utf8_decode(row + i, len - i, &cp);
		if (cp != ' ' && cp != '|' && cp != 0x2502 && cp != 0x2503 && cp != 0x2551)
			return false;
	}
	return true;
}

static void append_row(struct buffer *out, const char *row, size_t len)
{
	uint32_t cp, last = 0;
	size_t run = 0, n;
	for (size_t i = 0; i < len; i += n) {
		n = utf8_decode(row + i, len - i, &cp);
		run = cp == last ? run + 1 : 1;
		last = cp;
		bool is_rule =
			cp == '-' || cp == '=' || cp == '_' || (cp >= 0x2500 && cp <= 0x257F);
		if (run <= RULE_MOST || !is_rule)
			buffer_append(out, row + i, n);
	}
}

/* How many blank columns every row begins with, not counting empty rows. */
static unsigned find_indent(const struct screen *s, unsigned rows)
{
	unsigned least = s->cols - 1;
	for (unsigned y = 0; y < rows; y++) {
		const struct row *row = s->lines[y];
		unsigned x = 0;
		while (x < row->used && !cell_has_ink(row->cells[x]))
			x++;
		least = x < row->used && x < least ? x : least;
	}
	return least;
}

/* Emits the rows of the last picture, without blank rows and with short rules. */
static void emit_last_picture(const struct terminal *t, unsigned depth, struct emitter *e)
{
	const struct screen *s = t->alternate;
	struct buffer text = BUFFER_INIT, line = BUFFER_INIT;
	const unsigned indent = find_indent(s, depth);
	for (unsigned y = 0; y < depth; y++) {
		const struct row *row = s->lines[y];
		struct row rest = {.cells = row->cells + indent,
				   .used = row->used > indent ? row->used - indent : 0};
		struct emitter gather = {.write = emitter_collect, .ctx = &text};
		buffer_clear(&text);
		buffer_clear(&line);
		row_emit_cells(&rest, s->cols - indent, &s->clusters, &gather);
		append_row(&line, text.data, text.len);
		line.failed |= text.failed;
		/* Editors and pagers put a tilde where the text has ended. */
		bool ended = indent == 0 && text.len == 1 && *text.data == '~';
		if (!line.failed && (ended || picture_is_blank(text.data, text.len)))
			continue;
		emitter_row(e, false, false);
		if (line.failed)
			row_emit_cells(&rest, s->cols - indent, &s->clusters, e);
		else
			emitter_text(e, line.data, line.len);
	}
	emitter_close(e);
	buffer_release(&text);
	buffer_release(&line);
}

/* Emits all text as if the run ended here. Returns whether a picture ends it. */
static bool terminal_emit(const struct terminal *t, struct emitter *e)
{
	const struct screen *s = t->normal;
	unsigned depth, y;
	if (t->appending) {
		append_emit(t, e);
	} else {
		depth = screen_depth(s);
		for (y = 0; y < depth; y++)
			row_emit(s->lines[y], s->cols, &s->clusters, e);
		if (!depth && e->open)
			e->owed++;
	}
	/* The alternate screen as it is, or as it was when it was left, down to the last row that
	   shows something. */
	bool wanted = (t->options.picture || t->screen != s) && (t->cut || !e->any);
	depth = wanted ? t->alternate->rows : 0;
	while (depth > 0 && !row_has_text(t->alternate->lines[depth - 1], false))
		depth--;
	if (depth == 0) {
		emitter_settle(e);
		return false;
	}
	/* The picture ends the text: there is no other text, or the run was cut short in it. */
	e->owed = e->in_line;
	e->open = false;
	if (t->options.picture)
		emit_last_picture(t, depth, e);
	else
		emit_picture(t->alternate, depth, e);
	return true;
}

void terminal_cut(struct terminal *t)
{
	t->cut = t->screen != t->normal;
}

void terminal_finish(struct terminal *t)
{
	if (t->parser.state == PARSER_STRING)
		string_give_up(t);
	/* A character that is not completed is printed as the bytes it has, but not inside a
	   sequence. */
	if (t->partial_len && t->parser.state != PARSER_GROUND)
		t->lossy = true;
	else if (t->partial_len)
		grid_print_invalid(t, t->partial, t->partial_len);
	t->partial_len = 0;
	t->pictured = terminal_emit(t, &t->emitter);
	emitter_flush(&t->emitter);
	t->version++;
}

uint64_t terminal_settled(const struct terminal *t)
{
	return t->emitter.newlines + t->emitter.owed;
}

/* The first row from y on that was not emitted, or the cursor's row. */
static unsigned next_row(const struct screen *s, unsigned y)
{
	while (y < s->y && s->lines[y]->emitted)
		y++;
	return y;
}

/* Whether the row continues the line that was emitted last. */
static bool row_continues(const struct row *row)
{
	return row->wrapped || (row->partial && row->plain);
}

uint64_t terminal_lines(const struct terminal *t)
{
	const struct screen *s = t->normal;
	uint64_t lines = terminal_settled(t);
	bool open = t->emitter.open;
	for (unsigned y = next_row(s, 0); y <= s->y; y++) {
		const struct row *row = s->lines[y];
		if (open && !row_continues(row))
			lines++;
		open = !row->emitted;
	}
	return t->appending ? lines + t->tail.newlines : lines;
}

/* Whether no row of a line has changed lately. Checks every row even so, to record when it changed.
   Sets *plain if all rows are plain and a newline ended the line; a program that draws would have
   moved the cursor. */
static bool is_settled(struct screen *s, unsigned from, unsigned to, int64_t now, int64_t plain_age,
		       int64_t age, bool *plain)
{
	bool all = true, ended = s->lines[to]->begun;
	for (*plain = ended; age && from < to; from++) {
		struct row *row = s->lines[from];
		uint64_t sum = row_sum(row, &s->clusters);
		if (row->sum != sum) {
			row->sum = sum;
			row->since = now;
		}
		*plain = *plain && row->plain;
		all = all && now - row->since >= (ended && row->plain ? plain_age : age);
	}
	return all;
}

/* Where the line that begins in row `first` ends, above row `current`. */
static unsigned line_end(const struct screen *s, unsigned first, unsigned current)
{
	unsigned next = first + 1;
	while (next < current && s->lines[next]->wrapped)
		next++;
	return next;
}

/* Emits the line of these rows, unless it was emitted before. */
static void emit_line(struct terminal *t, unsigned from, unsigned to)
{
	struct screen *s = t->normal;
	bool emitted = true;
	for (unsigned y = from; y < to; y++)
		emitted = emitted && s->lines[y]->emitted;
	for (unsigned y = from; y < to && !emitted; y++) {
		struct row *row = s->lines[y];
		row_emit(row, s->cols, &s->clusters, &t->emitter);
		row->emitted = true;
		row->reported = to - from == 1 ? row_sum(row, &s->clusters) : 0;
	}
}

void terminal_settle(struct terminal *t, int64_t now, int64_t plain_age, int64_t age)
{
	struct emitter *e = &t->emitter;
	struct screen *s = t->normal;
	unsigned current, next, rows = 0, done;
	bool plain;
	if (terminal_settled(t) == terminal_lines(t))
		return;
	if (t->appending)
		append_leave(t, false);
	for (current = s->y; current > 0 && s->lines[current]->wrapped; current--)
		;
	for (unsigned first = 0; first < current; first = next) {
		next = line_end(s, first, current);
		if (is_settled(s, first, next, now, plain_age, age, &plain) &&
		    (rows == first || (plain && plain_age < age)))
			rows = next;
	}
	for (done = 0; done < rows; done = next) {
		next = line_end(s, done, current);
		emit_line(t, done, next);
	}
	if (e->open && !row_continues(s->lines[next_row(s, done)]))
		emitter_close(e);
	emitter_flush(e);
	t->version++;
	append_enter(t);
}

void terminal_commit(struct terminal *t)
{
	terminal_settle(t, 0, 0, 0);
}

void terminal_keep_row(struct terminal *t)
{
	unsigned y = t->normal->y;
	terminal_commit(t);
	emit_line(t, y, y + 1);
	emitter_close(&t->emitter);
	emitter_flush(&t->emitter);
}

void terminal_copy_end(struct terminal *copy)
{
	buffer_release(&copy->overwritten.stayed);
	screen_free(copy->normal);
	screen_free(copy->alternate);
}

int terminal_copy(struct terminal *copy, const struct terminal *t, struct buffer *out)
{
	*copy = *t;
	copy->emitter.write = emitter_collect;
	copy->emitter.ctx = out;
	copy->emitter.stage = NULL;
	copy->emitter.staged = 0;
	copy->options.cells = true;
	copy->overwritten.stayed = (struct buffer)BUFFER_INIT;
	copy->normal = screen_copy(t->normal, t->normal->cols, t->normal->rows);
	copy->alternate = screen_copy(t->alternate, t->alternate->cols, t->alternate->rows);
	if (!copy->normal || !copy->alternate ||
	    buffer_try_append(&copy->overwritten.stayed, t->overwritten.stayed.data,
			      t->overwritten.stayed.len) < 0) {
		terminal_copy_end(copy);
		return -1;
	}
	copy->screen = t->screen == t->normal ? copy->normal : copy->alternate;
	copy->normal->emitter = &copy->emitter;
	if (t->appending)
		append_leave(copy, false);
	return 0;
}

int terminal_pending(const struct terminal *t, struct buffer *out)
{
	struct terminal copy;
	if (t->parser.state != PARSER_STRING) {
		struct emitter e = t->emitter;
		e.write = emitter_collect;
		e.ctx = out;
		e.stage = NULL;
		e.staged = 0;
		terminal_emit(t, &e);
		return buffer_check(out);
	}
	/* A string that does not end becomes text. */
	if (terminal_copy(&copy, t, out) < 0)
		return -1;
	string_give_up(&copy);
	terminal_emit(&copy, &copy.emitter);
	terminal_copy_end(&copy);
	return buffer_check(out);
}

void terminal_find_cursor(const struct terminal *seen, unsigned *row, unsigned *col)
{
	/* While a wrap is due, the cursor is on the last column. */
	const struct screen *s = seen->screen;
	*row = s->y + 1;
	*col = s->x < s->cols ? s->x + 1 : s->cols;
}

int terminal_picture(const struct terminal *t, struct buffer *out, unsigned *row, unsigned *col)
{
	struct emitter e = {.write = emitter_collect, .ctx = out};
	struct terminal copy;
	unsigned y, x;
	if (terminal_copy(&copy, t, NULL) < 0)
		return -1;
	terminal_find_cursor(&copy, row ? row : &y, col ? col : &x);
	emit_picture(copy.screen, copy.screen->rows, &e);
	terminal_copy_end(&copy);
	return buffer_check(out);
}

struct terminal_facts terminal_facts(const struct terminal *t)
{
	return (struct terminal_facts){
		.cols = t->options.cols,
		.rows = t->options.rows,
		.title = t->string.title,
		.version = t->version,
		.redraws = t->redraws,
		.is_alternate = t->screen != t->normal,
		.shows_cursor = t->modes.cursor,
		.has_cursor_keys = t->modes.cursor_keys,
		.is_pictured = t->pictured,
		.is_lossy = t->lossy,
		.is_swallowing = t->parser.state == PARSER_STRING && t->string.more,
	};
}
