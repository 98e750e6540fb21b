// terse archive ID, terse unarchive FILE, terse replay ID: a kept run as one file, and the last
// screen of a recorded one (run --record: an asciicast of version 2,
// process/supervisor_internal.h).

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json_read.h"
#include "lib/quote.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/command/internal.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- recordings ---------------------------------------------------------------------- */

/* To be closed in any case. */
struct recording {
	struct io_lines lines;
	json_t *header;
	json_t *event;    /* the last one that was read; owns `data` */
	const char *line; /* as it is written */
	size_t line_len;
	char kind; /* 'o': output, 'r': a size, as "80x24" */
	const char *data;
	size_t len;
};

/* Bytes of one line: an event holds the result of one read(2), escaped. */
#define LINE_MOST ((size_t)1024 * 1024)

/* Reports that it could not be read. Returns -1. */
static int recording_fail(const struct verb_call *c, const char *name, int error)
{
	verb_error(c->verb->name, "%s: %s", name,
		   error == ENODATA   ? "the recording is empty"
		   : error == EBADMSG ? "the recording is damaged"
				      : strerror(error));
	return -1;
}

/* Opens the recording of an artifact and reads its header; `name`: as errors call it. Returns 0, or
   -1 after saying why not. */
static int recording_open(struct recording *r, const struct verb_call *c, int dir, const char *id,
			  const char *name)
{
	int fd = id_open_file(dir, id, ARTIFACT_CAST, O_RDONLY);
	*r = (struct recording){.lines = {.fd = fd, .most = LINE_MOST}};
	if (fd < 0) {
		verb_error(c->verb->name,
			   errno == ENOENT ? "%s: was not recorded (run it with --record)"
					   : "%s: %m",
			   id);
		return -1;
	}
	int got = io_lines_next(&r->lines, &r->line, &r->line_len);
	r->header = got == 1 ? json_read(r->line, r->line_len, 0, NULL) : NULL;
	if (json_integer_value(json_object_get(r->header, "version")) == 2)
		return 0;
	return recording_fail(c, name, got == 0 && r->lines.block.len == 0 ? ENODATA : EBADMSG);
}

/* Reads the next event. Returns 1, 0 at the end, or -1 with errno. */
static int recording_next(struct recording *r)
{
	int got = io_lines_next(&r->lines, &r->line, &r->line_len);
	if (got <= 0)
		return got;
	json_decref(r->event);
	r->event = json_read(r->line, r->line_len, 0, NULL);
	int error = !r->event && errno == ENOMEM ? ENOMEM : EBADMSG;
	const json_t *at = json_array_get(r->event, 0), *kind = json_array_get(r->event, 1),
		     *data = json_array_get(r->event, 2);
	r->line_len++; /* with its newline */
	if (!(json_is_number(at) && json_number_value(at) >= 0) || !json_is_string(kind) ||
	    !json_is_string(data) || json_string_length(kind) != 1) {
		errno = error;
		return -1;
	}
	r->kind = *json_string_value(kind);
	r->data = json_string_value(data);
	r->len = json_string_length(data);
	return 1;
}

static void recording_close(struct recording *r)
{
	json_decref(r->header);
	json_decref(r->event);
	buffer_release(&r->lines.block);
	io_close(&r->lines.fd);
}

/* The screen at the end of the recording; NULL with errno. */
static struct terminal *recording_screen(struct recording *r)
{
	unsigned cols, rows;
	int got = 0;
	struct terminal *t = svg_terminal(json_object_get(r->header, "width"),
					  json_object_get(r->header, "height"));
	while (t && (got = recording_next(r)) == 1) {
		if (r->kind == 'o')
			terminal_feed(t, r->data, r->len);
		else if (r->kind == 'r' && sscanf(r->data, "%ux%u", &cols, &rows) == 2 &&
			 cols >= 2 && cols <= 1000 && rows >= 2 && rows <= 500)
			terminal_resize(t, cols, rows);
	}
	if (got == 0)
		return t;
	terminal_free(t);
	return NULL;
}

static int replay_run(struct verb_call *c)
{
	const char *svg = NULL;
	struct id_found found;
	struct recording recording;
	struct buffer text = BUFFER_INIT;
	int result = -1;
	if (verb_parse(c, &svg) < 0)
		return EXIT_TERSE;
	const char *name = c->operands[0];
	int dir = verb_find_directory(c, name, &found, NULL, NULL);
	if (dir < 0)
		return 1;
	if (recording_open(&recording, c, dir, found.id, name) == 0) {
		struct terminal *t = recording_screen(&recording);
		if (t && svg)
			result = svg_write(svg, t);
		else if (t && terminal_picture(t, &text, NULL, NULL) == 0)
			result = screen_print(text.data, text.len);
		if (result < 0)
			recording_fail(c, t && svg ? svg : name, errno);
		terminal_free(t);
	}
	recording_close(&recording);
	buffer_release(&text);
	io_close(&dir);
	return result < 0;
}

static const struct verb_option replay_options[] = {
	{"--svg", 0, VERB_TEXT, 0, "FILE", "as a picture with its colours"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_replay = {
	.name = "replay",
	.purpose = "print the last screen of a recorded run",
	.forms = "ID",
	.text = "Prints the last screen of a command that was run with --record. To play it at\n"
		"its own pace: terse archive --cast -o - ID | asciinema play -\n",
	.options = replay_options,
	.least = 1,
	.run = replay_run,
};

/* --- archive ------------------------------------------------------------------------- */

/* Writes only the recording, as far as it is whole. Returns 0, or -1 after saying why not. */
static int archive_write_cast(const struct verb_call *c, int dir, const char *id, int to)
{
	struct recording r;
	int result = recording_open(&r, c, dir, id, id);
	if (result == 0) {
		result = io_write(to, r.lines.block.data, r.lines.at);
		while (result == 0 && (result = recording_next(&r)) == 1)
			result = io_write(to, r.line, r.line_len);
		if (result < 0)
			recording_fail(c, id, errno);
	}
	recording_close(&r);
	return result;
}

struct archive_options {
	const char *output;
	bool force, cast;
};

static int archive_run(struct verb_call *c)
{
	struct archive_options o = {.output = NULL};
	char name[ID_LEN + 16];
	struct id_found found;
	struct output out;
	struct buffer line = BUFFER_INIT;
	int status = 1, written;
	if (verb_parse(c, &o) < 0)
		return EXIT_TERSE;
	int dir = verb_find_directory(c, c->operands[0], &found, NULL, NULL);
	if (dir < 0)
		return 1;
	snprintf(name, sizeof(name), "%s.%s", found.id, o.cast ? "cast" : "tar.zst");
	if (!o.output)
		o.output = name;
	if (strcmp(o.output, "-") == 0 && isatty(STDOUT_FILENO)) {
		verb_error(c->verb->name,
			   "standard output is a terminal: give a file with --output");
		goto out;
	}
	if (output_open(&out, o.output, o.force) < 0) {
		verb_error(c->verb->name,
			   errno == EEXIST ? "%s: exists already (--force replaces it)" : "%s: %m",
			   o.output);
		goto out;
	}
	if (o.cast) {
		written = archive_write_cast(c, dir, found.id, out.fd);
	} else {
		written = archive_write(dir, found.id, out.fd);
		if (written < 0)
			verb_error(c->verb->name,
				   errno == EBUSY ? "%s: its run is still writing" : "%s: %m",
				   found.id);
	}
	status = output_close(&out, written) < 0;
	if (status && written == 0) {
		verb_error(c->verb->name, "%s: %m", o.output);
	} else if (out.size && !status) {
		quote_text(&line, o.output, strlen(o.output), 0);
		buffer_printf(&line, ": %s\n", HUMAN_SIZE(out.size));
		status = verb_print(c, &line);
	}
out:
	io_close(&dir);
	return status;
}

static const struct verb_option archive_options[] = {
	{"--output", 'o', VERB_TEXT, offsetof(struct archive_options, output), "FILE",
	 "write to this file; -: standard output"},
	{"--force", 0, VERB_FLAG, offsetof(struct archive_options, force), NULL,
	 "replace the file"},
	{"--cast", 0, VERB_FLAG, offsetof(struct archive_options, cast), NULL,
	 "only the recording (run --record), as an asciicast for asciinema (ID.cast)"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_archive = {
	.name = "archive",
	.purpose = "write an artifact to one file",
	.forms = "ID",
	.text = "Writes an artifact with all that belongs to it to one compressed tar file\n"
		"(ID.tar.zst in this directory).\n",
	.options = archive_options,
	.least = 1,
	.run = archive_run,
};

/* --- unarchive --------------------------------------------------------------- */

static int unarchive_run(struct verb_call *c)
{
	int status = 1;
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	const char *name = c->operands[0];
	char directory[STORE_SESSION_LEN + 1];
	verb_session_name(c->settings, c->session, directory);
	struct archive_restored r;
	struct store store;
	struct buffer out = BUFFER_INIT;
	int fd =
		strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return verb_error("unarchive", "%s: %m", name);
	if (store_open_write(&store) < 0) {
		verb_error("unarchive", "%m");
	} else if (archive_restore(&store, directory, NULL, fd, (uint64_t)c->settings->max_artifact,
				   (uint64_t)c->settings->min_free, &r) == 0) {
		if (r.there)
			buffer_printf(&out, "%s exists already: terse read %s\n", r.id, r.id);
		else
			buffer_printf(
				&out, "%s restored to session %s; %s lines, %s: terse read %s\n",
				r.id, directory, HUMAN_COUNT(r.lines), HUMAN_SIZE(r.bytes), r.id);
		status = verb_print(c, &out);
	} else {
		verb_error("unarchive", "%s: %s", name,
			   errno == EBADMSG ? "not an archive of terse, or damaged"
			   : errno == EFBIG ? "larger than [spill] max_artifact (--max-artifact)"
					    : strerror(errno));
	}
	store_close(&store);
	if (fd != STDIN_FILENO)
		io_close(&fd);
	return status;
}

static const struct verb_option unarchive_options[] = {
	VERB_SESSION_ROW("restore it into this session"),
	VERB_END_ROW,
};

const struct verb verb_unarchive = {
	.name = "unarchive",
	.purpose = "restore an artifact from such a file",
	.forms = "FILE",
	.text = "Restores an artifact from such a file (-: standard input) into this session. It\n"
		"keeps its ID.\n",
	.options = unarchive_options,
	.least = 1,
	.run = unarchive_run,
};
