// terse snapshot ID [--json|--svg FILE]: the screen of a running command, or the last one of a
// recorded run; as text or as a picture, for documents and for models that see.

#include "config/settings.h"
#include "lib/io.h"
#include "lib/json_read.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/command/internal.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Pixels of a cell, and where in it the line of writing is. */
#define CELL_WIDTH  8
#define CELL_HEIGHT 17
#define BASELINE    13
#define MARGIN      8

/* The colours of a terminal whose user has chosen none. */
#define INK   0xd8dee4u
#define PAPER 0x16191du

struct svg {
	struct buffer out;
	unsigned rows; /* down to the last one that has something */
};

/* One of `colour`, else the preset. The palette is that of xterm: 16 names, a cube of 6 x 6 x 6, 24
   greys. */
static uint32_t colour_of(uint32_t colour, uint32_t preset)
{
	static const uint32_t named[16] = {
		0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5,
		0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff,
	};
	static const uint8_t levels[6] = {0, 95, 135, 175, 215, 255};
	uint32_t n = colour & 255;
	if (!(colour & TERMINAL_PALETTE))
		return colour ? colour & 0xffffff : preset;
	if (n < 16)
		return named[n];
	if (n >= 232)
		return (8 + (n - 232) * 10) * 0x010101u;
	n -= 16;
	return (uint32_t)levels[n / 36] << 16 | (uint32_t)levels[n / 6 % 6] << 8 | levels[n % 6];
}

static void svg_on_run(void *ctx, unsigned row, unsigned column, unsigned width, const char *text,
		       size_t len, const struct terminal_style *style)
{
	static const struct {
		uint32_t attribute;
		const char *text;
	} attributes[] = {
		{TERMINAL_BOLD, " font-weight=\"bold\""},
		{TERMINAL_FAINT, " opacity=\"0.65\""},
		{TERMINAL_ITALIC, " font-style=\"italic\""},
		{TERMINAL_UNDERLINE, " text-decoration=\"underline\""},
		{TERMINAL_STRUCK, " text-decoration=\"line-through\""},
	};
	struct svg *s = ctx;
	struct buffer *out = &s->out, clean = BUFFER_INIT;
	bool inverse = style->attributes & TERMINAL_INVERSE;
	uint32_t own_ink = colour_of(style->ink, INK), own_paper = colour_of(style->paper, PAPER);
	uint32_t ink = inverse ? own_paper : own_ink, paper = inverse ? own_ink : own_paper;
	bool has_paper = style->paper || inverse;
	unsigned x = MARGIN + column * CELL_WIDTH, y = MARGIN + row * CELL_HEIGHT;
	if (has_paper)
		buffer_printf(
			out,
			"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" fill=\"#%06" PRIx32
			"\"/>\n",
			x, y, width * CELL_WIDTH, CELL_HEIGHT, paper);
	unsigned drawn = width * CELL_WIDTH;
	/* Without blanks at both ends, which some viewers do not keep. */
	for (; len > 0 && *text == ' '; text++, len--) {
		x += CELL_WIDTH;
		drawn -= CELL_WIDTH;
	}
	for (; len > 0 && text[len - 1] == ' '; len--)
		drawn -= CELL_WIDTH;
	if (has_paper || len > 0)
		s->rows = row + 1;
	if (len == 0)
		return;
	/* As wide as its cells, whatever font there is. */
	buffer_printf(out, "<text x=\"%u\" y=\"%u\" textLength=\"%u\" fill=\"#%06" PRIx32 "\"", x,
		      y + BASELINE, drawn, ink);
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		if (style->attributes & attributes[i].attribute)
			buffer_append_string(out, attributes[i].text);
	}
	buffer_append_string(out, ">");
	utf8_clean(&clean, text, len);
	for (size_t i = 0; i < clean.len; i++) {
		if (strchr("<>&", clean.data[i]) && clean.data[i])
			buffer_printf(out, "&#%d;", clean.data[i]);
		else
			buffer_append(out, &clean.data[i], 1);
	}
	out->failed |= clean.failed;
	buffer_release(&clean);
	buffer_append_string(out, "</text>\n");
}

static void svg_on_text(void *ctx, const char *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
}

/* A terminal that keeps styles. NULL with errno. */
static struct terminal *snapshot_terminal(const json_t *cols, const json_t *rows)
{
	const struct terminal_options options = {
		.cols = (unsigned)json_integer_value(cols),
		.rows = (unsigned)json_integer_value(rows),
		.collapse = true,
		.styles = true,
	};
	const struct terminal_events events = {.text = svg_on_text};
	return terminal_new(&options, &events);
}

/* Writes the screen as SVG to a file (output_open()), down to the last row that is not blank.
   Nothing in the picture is active or refers to anything. Returns 0, or -1 with errno. */
static int svg_write(const char *path, const struct terminal *t)
{
	struct svg s = {.rows = 0};
	const struct terminal_painter painter = {svg_on_run, &s};
	struct buffer out = BUFFER_INIT;
	out.failed = terminal_paint(t, &painter) < 0;
	unsigned width = terminal_facts(t).cols * CELL_WIDTH + 2 * MARGIN,
		 height = s.rows * CELL_HEIGHT + 2 * MARGIN;
	buffer_printf(&out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		      "viewBox=\"0 0 %u %u\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
		      "monospace\" font-size=\"13\" style=\"white-space:pre\">\n"
		      "<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n",
		      width, height, width, height, PAPER);
	buffer_add(&out, &s.out);
	buffer_append_string(&out, "</svg>\n");
	buffer_release(&s.out);
	int result = output_write(path, &out);
	buffer_release(&out);
	return result;
}

/* Prints the rows of a screen (terminal_picture()) down to the last one that is not blank. Returns
   0, or -1 with errno. */
static int screen_print(const char *rows, size_t len)
{
	struct buffer clean = BUFFER_INIT, shown = BUFFER_INIT;
	while (len > 1 && rows[len - 1] == '\n' && rows[len - 2] == '\n')
		len--;
	utf8_clean(&clean, rows, len == 1 ? 0 : len);
	guard_text(&shown, clean.data, clean.len, GUARD_LINE);
	shown.failed |= clean.failed;
	int result = verb_write(&shown);
	buffer_release(&clean);
	buffer_release(&shown);
	return result;
}

/* Bytes of one line: an event holds the result of one read(2), escaped. */
#define LINE_MOST ((size_t)1024 * 1024)

/* Feeds an event of a recording: output, or a size as "80x24". Returns whether it is one. */
static bool snapshot_play(struct terminal *t, const json_t *event)
{
	const json_t *at = json_array_get(event, 0), *data = json_array_get(event, 2);
	const char *kind = json_string_value(json_array_get(event, 1));
	unsigned cols, rows;
	if (!(json_is_number(at) && json_number_value(at) >= 0) || !kind || !json_is_string(data))
		return false;
	if (strcmp(kind, "o") == 0)
		terminal_feed(t, json_string_value(data), json_string_length(data));
	else if (strcmp(kind, "r") == 0 &&
		 sscanf(json_string_value(data), "%ux%u", &cols, &rows) == 2 && cols >= 2 &&
		 cols <= 1000 && rows >= 2 && rows <= 500)
		terminal_resize(t, cols, rows);
	return true;
}

/* Appends the screen at the end of a recorded run (an asciicast, supervisor_internal.h), as
   picture_append() has it. Returns 0, or -1 after saying why there is none. */
static int snapshot_recorded(const struct verb_call *c, const char *id, bool painted,
			     struct buffer *out)
{
	struct id_found found;
	struct io_lines lines = {.most = LINE_MOST};
	struct terminal *t = NULL;
	const char *line;
	size_t len;
	int got = 1, error = 0, dir = verb_find_directory(c, id, &found, NULL);
	if (dir < 0)
		return -1;
	lines.fd = id_open_file(dir, id, ARTIFACT_CAST, O_RDONLY);
	if (lines.fd < 0)
		verb_error(c->verb->name,
			   errno == ENOENT
				   ? "%s: has ended, and was not recorded with --record (%s%s)"
				   : "%s: %m",
			   id, vocabularies[c->settings->words].read, id);
	while (lines.fd >= 0 && !error && (got = io_lines_next(&lines, &line, &len)) == 1) {
		json_t *json = json_read(line, len, 0, NULL);
		bool is_head = !t && json_integer_value(json_object_get(json, "version")) == 2;
		if (is_head)
			t = snapshot_terminal(json_object_get(json, "width"),
					      json_object_get(json, "height"));
		if (!t || !(is_head || snapshot_play(t, json)))
			error = (!json || is_head) && errno == ENOMEM ? ENOMEM : EBADMSG;
		json_decref(json);
	}
	error = got < 0 ? errno : error;
	if (t && !error && picture_append(out, t, painted) < 0)
		error = errno;
	if (lines.fd >= 0 && (!t || error))
		verb_error(c->verb->name, "%s: %s", id,
			   error == EBADMSG ? "the recording is damaged"
			   : error          ? strerror(error)
					    : "the recording is empty");
	int result = t && !error ? 0 : -1;
	terminal_free(t);
	buffer_release(&lines.block);
	io_close(&lines.fd);
	io_close(&dir);
	return result;
}

struct snapshot {
	const char *svg;
	bool json; /* that of the run, without an envelope */
};

static int snapshot_run(struct verb_call *c)
{
	struct snapshot s = {.json = false};
	struct buffer screen = BUFFER_INIT;
	json_t *root = NULL;
	struct terminal *t = NULL;
	char id[ID_LEN + 1];
	int run, result = -1;
	if (verb_parse(c, &s) < 0)
		return EXIT_TERSE;
	if (s.json && s.svg)
		return verb_fail(c, ENVELOPE_USAGE, "--svg does not go with --json");
	int found = live_run_find(c, c->operands[0], &run, id, true);
	if (found < 0)
		return 1;
	if (found == 0 && client_ask(run, FRAME_PICTURE, s.svg != NULL, 0, NULL, 0, &screen) < 0) {
		found = errno == EPIPE ? 1 : -1;
		if (found < 0)
			live_run_failed(c, id, errno);
	}
	if (found == 1)
		found = snapshot_recorded(c, id, s.svg != NULL, &screen);
	if (found < 0)
		goto out;
	if (s.json) {
		buffer_append_string(&screen, "\n");
		result = verb_write(&screen);
	} else if ((root = json_read(screen.data, screen.len, 0, NULL))) {
		const json_t *text = json_object_get(root, s.svg ? "paint" : "text");
		const char *data = json_string_value(text);
		const size_t len = json_string_length(text);
		if (!data) {
			errno = EPROTO;
		} else if (!s.svg) {
			result = screen_print(data, len);
		} else if ((t = snapshot_terminal(json_object_get(root, "cols"),
						  json_object_get(root, "rows")))) {
			terminal_feed(t, data, len);
			result = svg_write(s.svg, t);
		}
	}
	if (result < 0)
		verb_error(c->verb->name, "%s: %m", s.svg ? s.svg : id);
out:
	terminal_free(t);
	json_decref(root);
	buffer_release(&screen);
	io_close(&run);
	return result < 0;
}

static const struct verb_option snapshot_options[] = {
	{"--json", 0, VERB_FLAG, offsetof(struct snapshot, json), NULL,
	 "with its size, cursor and title, and whether it is the alternate screen"},
	{"--svg", 0, VERB_TEXT, offsetof(struct snapshot, svg), "FILE",
	 "as a picture, with its colours if it has a terminal or is recorded"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_snapshot = {
	.name = "snapshot",
	.purpose = "print the screen of a running command",
	.forms = "ID",
	.text = "Prints the screen of a running command, full-screen programs included, or the "
		"last\n"
		"one of a command that was run with --record. To play that at its own pace:\n"
		"terse archive --cast -o - ID | asciinema play -\n",
	.options = snapshot_options,
	.least = 1,
	.live = true,
	.run = snapshot_run,
};
