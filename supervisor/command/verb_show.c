// terse path ID: prints the path of an artifact's text, standard error, raw bytes or recording.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct path_options {
	bool raw, standard_error, cast;
};

static int path_run(struct verb_call *c)
{
	struct path_options o = {.raw = false};
	if (verb_parse(c, &o) < 0)
		return EXIT_TERSE;
	if (o.raw + o.standard_error + o.cast > 1)
		return verb_fail(c, ENVELOPE_USAGE, "only one of --stderr, --raw and --cast");

	struct id_found found;
	char path[PATH_MAX], file[ID_LEN + 9];
	enum artifact_part part = o.raw              ? ARTIFACT_RAW
				  : o.cast           ? ARTIFACT_CAST
				  : o.standard_error ? ARTIFACT_ERR
						     : ARTIFACT_OUT;
	int dir = verb_find_directory(c, c->operands[0], &found, path);
	if (dir < 0)
		return 1;
	int status = 1;
	size_t len = strlen(path);
	snprintf(file, sizeof(file), "%s%s", found.id, artifact_suffixes[part]);
	snprintf(path + len, sizeof(path) - len, "/%s", file);
	struct meta m = {.exit_code = 0};
	const char *filed = part < ARTIFACT_RAW && meta_read(dir, found.id, &m) == 0
				    ? m.files[part == ARTIFACT_ERR]
				    : NULL;
	const char *at = filed ? filed : path;
	struct buffer out = BUFFER_INIT;
	if (!filed && !io_is_there(dir, file)) {
		verb_fail_part(c, part, dir, found.id, errno);
	} else {
		if (c->json) {
			envelope_begin(&out);
			json_add_string(&out, "artifact", found.id);
			json_add_string(&out, "path", at);
			envelope_end(&out);
		} else {
			buffer_printf(&out, "%s\n", at);
		}
		status = verb_print(c, &out);
	}
	meta_release(&m);
	io_close(&dir);
	return status;
}

static const struct verb_option path_options[] = {
	{"--stderr", 0, VERB_FLAG, offsetof(struct path_options, standard_error), NULL,
	 "of its standard error"},
	{"--raw", 0, VERB_FLAG, offsetof(struct path_options, raw), NULL, "of its raw bytes"},
	{"--cast", 0, VERB_FLAG, offsetof(struct path_options, cast), NULL,
	 "of its recording (run --record), an asciicast"},
	VERB_LAST_ROW,
	VERB_JSON_ROW,
	VERB_END_ROW,
};

const struct verb verb_path = {
	.name = "path",
	.purpose = "print the path of an artifact's text",
	.forms = "ID",
	.text = "Prints the path of the file with an artifact's text.\n",
	.options = path_options,
	.least = 1,
	.run = path_run,
};

// terse show ID: prints the facts about a run, and its preview.

struct show {
	struct verb_call *call;
	struct id_found found;
	int dir;
	char path[PATH_MAX]; /* of the session directory */
	struct meta meta;
	int damaged; /* errno of reading the metadata, or 0 */
	struct buffer out;
};

/* A file of an artifact. */
struct show_part {
	char path[PATH_MAX + ID_LEN + 10];
	bool is_text;         /* has lines */
	struct meta_stream m; /* its size */
};

static const struct {
	const char *key, *title;
} parts[ARTIFACT_PARTS] = {
	[ARTIFACT_OUT] = {"stdout", "text"},
	[ARTIFACT_ERR] = {"stderr", "stderr"},
	[ARTIFACT_RAW] = {"raw", "raw bytes"},
	[ARTIFACT_CAST] = {"cast", "recording"},
};

/* Fills in a file of the artifact. Returns whether it exists. The lines of a text come from the
   metadata; they are counted if the run lives or the metadata are damaged. */
static bool show_find_part(const struct show *s, enum artifact_part part, struct show_part *p)
{
	struct stat st;
	snprintf(p->path, sizeof(p->path), "%s/%s%s", s->path, s->found.id,
		 artifact_suffixes[part]);
	if (fstatat(s->dir, strrchr(p->path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	p->is_text = part == ARTIFACT_OUT || part == ARTIFACT_ERR;
	p->m = (struct meta_stream){.bytes = (uint64_t)st.st_size};
	if (!p->is_text)
		return true;
	if (!s->damaged)
		p->m = part == ARTIFACT_ERR ? s->meta.err : s->meta.out;
	runs_count_lines(s->dir, s->found.id, part, &p->m);
	return true;
}

static int show_preview(const struct show *s, struct text *text, struct buffer *into)
{
	const struct settings *settings = s->call->settings;
	const struct interceptor_ending end =
		excerpts_end(settings, s->damaged ? NULL : &s->meta, text->id, ARTIFACT_OUT);
	return excerpts_text(settings, text, NULL, &end, into);
}

/* --- for a person ------------------------------------------------------------------ */

static void show_add_line(struct show *s, const char *title, const char *text)
{
	buffer_printf(&s->out, "%-10s ", title);
	quote_text(&s->out, text, strlen(text), 0);
	buffer_append_string(&s->out, "\n");
}

static int show_print_text(struct show *s, struct text *text)
{
	const struct meta *m = &s->meta;
	struct buffer *out = &s->out, words = BUFFER_INIT;
	struct show_part p = {.path = ""};
	char age[HUMAN_LEN];
	show_add_line(s, "artifact", s->found.id);
	show_add_line(s, "session", s->found.session);
	if (s->damaged) {
		buffer_printf(out, "%-10s can't be read (%s); the text can\n", "metadata",
			      verb_reason(s->damaged));
	} else {
		const struct wording_ending end = excerpts_ending(m);
		buffer_printf(out, "%-10s ", "state");
		buffer_append_string(out, paint_code(s->call->colour, runs_paint(m)));
		wording_end(out, &end);
		buffer_append_string(out, paint_none(s->call->colour));
		buffer_append_string(out, "\n");
		row_add_command(&words, m);
		show_add_line(s, "command", buffer_string(&words) ? words.data : "");
		out->failed |= words.failed;
		buffer_release(&words);
		if (m->description)
			show_add_line(s, "purpose", m->description);
		show_add_line(s, "directory", m->cwd);
		buffer_printf(out, "%-10s %s (%s ago)\n", "started", HUMAN_TIME(m->started_ms),
			      human_age(age, clock_real_ms() - m->started_ms));
		if (m->state == META_RUNNING)
			buffer_printf(out, "%-10s command %d, supervisor %d\n", "processes",
				      m->command, m->supervisor);
		row_add_files(out, 0, m);
		if (m->cols)
			buffer_printf(out, "%-10s %u columns, %u rows\n", "terminal", m->cols,
				      m->rows);
	}
	for (enum artifact_part part = ARTIFACT_OUT; part < ARTIFACT_PARTS; part++) {
		/* If the command wrote its output to a file directly, there is no text. */
		if (!show_find_part(s, part, &p) ||
		    (part == ARTIFACT_OUT && s->meta.files[0] && text->size == 0))
			continue;
		buffer_printf(out, "%-10s ", parts[part].title);
		if (p.is_text)
			buffer_printf(out, "%s line%s, ", HUMAN_COUNT(p.m.lines),
				      p.m.lines == 1 ? "" : "s");
		buffer_printf(out, "%s: ", HUMAN_SIZE(p.m.bytes));
		quote_text(out, p.path, strlen(p.path), 0);
		buffer_append_string(out, "\n");
		row_add_gaps(out, 11,
			     part == ARTIFACT_RAW ? meta_raw_gaps(&s->meta) : meta_gaps(&p.m));
	}
	if (text->size > 0)
		buffer_append_string(out, "\n");
	if (verb_write(out) < 0)
		return -1;
	return text->size ? show_preview(s, text, NULL) : 0;
}

/* --- for a program ------------------------------------------------------------------ */

static int show_print_json(struct show *s, struct text *text)
{
	struct buffer preview = BUFFER_INIT, *out = &s->out;
	const struct meta *m = &s->meta;
	struct show_part p = {.path = ""};
	envelope_begin(out);
	if (s->damaged) {
		json_add_string(out, "id", s->found.id);
		json_add_string(out, "metadata_error", verb_reason(s->damaged));
	} else {
		/* With the whole command that was kept. */
		runs_append_json(out, m, META_MAX);
		json_add_count(out, "cols", m->cols);
		json_add_count(out, "rows", m->rows);
	}
	if (!s->damaged && m->state == META_RUNNING) {
		json_add_number(out, "command_pid", m->command);
		json_add_number(out, "supervisor_pid", m->supervisor);
	}
	/* "stdout":{"path":"...","lines":8432,"bytes":484352} */
	for (enum artifact_part part = ARTIFACT_OUT; part < ARTIFACT_PARTS; part++) {
		if (!show_find_part(s, part, &p)) {
			json_add_null(out, parts[part].key);
			continue;
		}
		json_begin(out, parts[part].key, '{');
		json_add_string(out, "path", p.path);
		if (p.is_text)
			json_add_count(out, "lines", p.m.lines);
		json_add_count(out, "bytes", p.m.bytes);
		if (p.m.error)
			json_add_string(out, "error", strerror(p.m.error));
		json_end(out, '}');
	}
	int result = show_preview(s, text, &preview);
	if (result == 0) {
		json_add_text(out, "preview", preview.data, preview.len);
		envelope_end(out);
		result = verb_write(out);
	}
	buffer_release(&preview);
	return result;
}

static int show_run(struct verb_call *c)
{
	struct show s = {.call = c};
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	s.dir = verb_find_directory(c, c->operands[0], &s.found, s.path);
	if (s.dir < 0)
		return 1;
	if (meta_read(s.dir, s.found.id, &s.meta) < 0)
		s.damaged = errno;
	struct text text;
	int result = text_open(&text, s.dir, s.found.id, ARTIFACT_OUT);
	if (result == 0) {
		result = c->json ? show_print_json(&s, &text) : show_print_text(&s, &text);
		int error = errno;
		text_close(&text);
		errno = error;
	}
	int status = result < 0 && errno != EPIPE;
	if (status)
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: %s", s.found.id, verb_reason(errno));
	meta_release(&s.meta);
	buffer_release(&s.out);
	io_close(&s.dir);
	return status;
}

static const struct verb_option show_options[] = {
	VERB_LAST_ROW,
	VERB_JSON_ROW,
	VERB_COLOR_ROW,
	VERB_END_ROW,
};

const struct verb verb_show = {
	.name = "show",
	.purpose = "print the facts about a run, and its preview",
	.forms = "ID",
	.text = "Prints the facts about a run, and its preview.\n",
	.options = show_options,
	.least = 1,
	.run = show_run,
};
