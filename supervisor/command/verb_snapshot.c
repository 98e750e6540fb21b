// terse snapshot ID: the screen of a running command, or the last one of a recorded run.

#include "config/settings.h"
#include "lib/io.h"
#include "lib/json_read.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/command/internal.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void snapshot_on_text(void *ctx, const char *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
}

/* A terminal of that size. NULL with errno. */
static struct terminal *snapshot_terminal(const json_t *cols, const json_t *rows)
{
	const struct terminal_options options = {
		.cols = (unsigned)json_integer_value(cols),
		.rows = (unsigned)json_integer_value(rows),
	};
	const struct terminal_events events = {.text = snapshot_on_text};
	return terminal_new(&options, &events);
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
static int snapshot_recorded(const struct verb_call *c, const char *id, struct buffer *out)
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
	if (t && !error && picture_append(out, t) < 0)
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

static int snapshot_run(struct verb_call *c)
{
	struct buffer screen = BUFFER_INIT;
	json_t *root = NULL;
	char id[ID_LEN + 1];
	int run, result = -1;
	bool json = false; /* that of the run, without an envelope */
	if (verb_parse(c, &json) < 0)
		return EXIT_TERSE;
	int found = live_run_find(c, c->operands[0], &run, id, true);
	if (found < 0)
		return 1;
	if (found == 0 && client_ask(run, FRAME_PICTURE, 0, 0, NULL, 0, &screen) < 0) {
		found = errno == EPIPE ? 1 : -1;
		if (found < 0)
			live_run_failed(c, id, errno);
	}
	if (found == 1)
		found = snapshot_recorded(c, id, &screen);
	if (found < 0)
		goto out;
	if (json) {
		buffer_append_string(&screen, "\n");
		result = verb_write(&screen);
	} else if ((root = json_read(screen.data, screen.len, 0, NULL))) {
		const json_t *text = json_object_get(root, "text");
		errno = EPROTO;
		if (json_is_string(text))
			result = screen_print(json_string_value(text), json_string_length(text));
	}
	if (result < 0)
		verb_error(c->verb->name, "%s: %m", id);
out:
	json_decref(root);
	buffer_release(&screen);
	io_close(&run);
	return result < 0;
}

static const struct verb_option snapshot_options[] = {
	{"--json", 0, VERB_FLAG, 0, NULL,
	 "with its size, cursor and title, and whether it is the alternate screen"},
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
		"asciinema play $(terse path --cast ID)\n",
	.options = snapshot_options,
	.least = 1,
	.live = true,
	.run = snapshot_run,
};
