// terse report: a session, or one run, as a page for a browser: one file, for one without a
// network.
//
// page/report.html has the style, and the script that builds what is seen from data. Data are JSON
// in elements that nothing executes, with no "<" in them, so whatever a command printed stays text;
// a Content-Security-Policy with a random nonce lets nothing else run and nothing be loaded.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/internal.h"
#include "supervisor/reading/page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Runs on a page: the newest. */
#define RUNS_MOST 5000

/* Bytes of a page, as far as its texts can be cut; of one of them; of a recording. */
#define PAGE_MOST      ((size_t)16 * 1024 * 1024)
#define TEXT_MOST      ((size_t)256 * 1024)
#define RECORDING_MOST ((size_t)1024 * 1024)

struct report_call {
	const char *output;
	struct id_found one; /* only this run; id "": all of the session */
	char directory[STORE_SESSION_LEN + 1];

	struct store stores[STORE_MAX];
	int store_count;
	struct stats stats;
	/* The newest, in the order of their ends, the last one first. */
	struct report_run {
		struct meta meta;
		struct store *store;
	} * runs;
	size_t count;
	uint64_t total; /* those that are too old for the page included */
};

/* --- collecting -------------------------------------------------------------------------- */

/* The facts about the run of a line. One that lives has only told that its artifact was made; so
   has one that left a process behind, which holds its output. Returns 0, 1: there is none, or -1
   with errno. */
static int report_read_run(const struct report_call *c, const struct journal_line *line,
			   struct meta *m)
{
	if (line->kind == JOURNAL_RUN)
		return meta_parse(line->text, line->len, m) == 0 ? 0 : errno == ENOMEM ? -1 : 1;
	/* Has it a run already? Behind the newest the history knows all. */
	size_t at = c->count;
	while (at > 0 && strcmp(c->runs[at - 1].meta.id, line->of.id) != 0)
		at--;
	if (at > 0 || c->count == RUNS_MOST)
		return 1;
	return meta_read_found(&line->of, m) == 0 ? 0 : errno == ENOMEM ? -1 : 1;
}

/* Reads the session in all stores. Returns 0, or -1 with errno. */
static int report_collect(struct report_call *c)
{
	for (int i = 0; i < c->store_count; i++) {
		if (stats_add_session(&c->stats, &c->stores[i], c->directory) < 0)
			return -1;
	}
	c->runs = calloc(RUNS_MOST, sizeof(*c->runs));
	struct journal *j = c->runs ? journal_open(c->stores, c->store_count, c->directory,
						   JOURNAL_MADE | JOURNAL_RUN)
				    : NULL;
	struct journal_line line;
	int got = j ? 0 : -1;
	while (j && (got = journal_next(j, &line)) == 1) {
		struct meta m;
		if (c->stats.only && strcmp(line.of.id, c->stats.only) != 0)
			continue;
		got = report_read_run(c, &line, &m);
		if (got < 0)
			break;
		if (got > 0)
			continue;
		c->total++;
		if (c->count < RUNS_MOST)
			c->runs[c->count++] = (struct report_run){m, line.of.store};
		else
			meta_release(&m);
	}
	journal_close(j);
	return got;
}

/* --- writing ------------------------------------------------------------------------------ */

/* The page as it was when terse was built, put into the program by the assembler. */
__asm__(".pushsection .rodata\nreport_page:\n"
	".incbin \"supervisor/command/page/report.html\"\n.byte 0\n.popsection\n");
extern const char report_page[] __asm__("report_page");

/* What stands in it for the nonce, and for the data. */
#define NONCE "@NONCE@"
#define DATA  "@DATA@\n"

/* Appends data with one text in the place of another. */
static void page_add(struct buffer *page, const char *data, size_t len, const char *old,
		     const char *new)
{
	for (const char *end = data + len, *at; data < end; data = at ? at + strlen(old) : end) {
		at = memmem(data, (size_t)(end - data), old, strlen(old));
		buffer_append(page, data, (size_t)((at ? at : end) - data));
		buffer_append_string(page, at ? new : "");
	}
}

/* Appends an element of data, in which nothing can be its end; empties the JSON. */
static void page_add_data(struct buffer *page, const char *class, struct buffer *json)
{
	buffer_printf(page, "<script type=\"application/json\" class=\"%s\">", class);
	page_add(page, json->data, json->len, "<", "\\u003c");
	buffer_append_string(page, "</script>\n");
	page->failed |= json->failed;
	buffer_clear(json);
}

/* What a text may take: half of what is left of its run's share, so that the next one has some. */
static size_t page_room(const struct buffer *json, size_t share)
{
	size_t half = json->len < share ? (share - json->len) / 2 : 0;
	return half < TEXT_MOST ? half : TEXT_MOST;
}

/* Adds the beginning of a file of the artifact, and "KEY_cut" if it has more; nothing if there is
   none. */
static void report_add_file(struct buffer *json, const char *key, const char *key_cut, int dir,
			    const char *id, enum artifact_part part, size_t most)
{
	struct buffer file = BUFFER_INIT;
	int fd = id_open_text(dir, id, part);
	ssize_t n = fd < 0 || buffer_reserve(&file, most + 1) < 0
			    ? -1
			    : io_read(fd, file.data, most + 1);
	size_t len = n > 0 ? (size_t)n : 0;
	if (len > most) {
		len = utf8_floor(file.data, len, most);
		json_add_bool(json, key_cut, true);
	}
	if (len > 0)
		json_add_text(json, key, file.data, len);
	json->failed |= file.failed;
	io_close(&fd);
	buffer_release(&file);
}

/* Adds the bytes from `from` to `to`; lines about gaps stand in their places. Returns 0, or -1 with
   errno. */
static int report_add_part(struct buffer *json, const char *key, struct text *t, uint64_t from,
			   uint64_t to)
{
	struct slice s = {.to = from};
	int result;
	json_begin(json, key, '"');
	do {
		const struct slice_request request = {
			.from = s.to, .length = to - s.to, .room = 3 * (size_t)(to - s.to) + 1};
		result = slice_make(&s, t, &request);
		json_text_piece(json, s.text.data, s.text.len);
	} while (result == 0 && s.more && s.to < to);
	json_end(json, '"');
	slice_release(&s);
	return result;
}

/* Adds "texts":[{"name","lines","head","tail"}], each whole in "head" if there is room for
   it, else both ends, cut inside of lines. */
static void report_add_texts(struct buffer *json, int dir, const char *id, size_t share)
{
	json_begin(json, "texts", '[');
	for (enum artifact_part part = ARTIFACT_OUT; part <= ARTIFACT_ERR; part++) {
		struct text t;
		uint64_t lines = 0;
		if (text_open(&t, dir, id, part) < 0)
			continue;
		text_lines(&t, &lines);
		json_begin(json, NULL, '{');
		json_add_string(json, "name", part == ARTIFACT_OUT ? "stdout" : "stderr");
		json_add_count(json, "lines", lines);
		size_t most = page_room(json, share);
		bool cut = t.size > most;
		int result = report_add_part(json, "head", &t, 0, cut ? most / 2 : t.size);
		if (cut && result == 0)
			result = report_add_part(json, "tail", &t, t.size - most / 2, t.size);
		if (result < 0)
			json_add_string(json, "error", strerror(errno));
		json_end(json, '}');
		text_close(&t);
	}
	json_end(json, ']');
}

/* Appends a run: its members in a list (internal.h), what else is known of it, and its texts, which
   have a share of what is `left` of the page; recordings are rare and may have more. */
static void report_add_run(struct buffer *json, const struct report_call *c,
			   const struct report_run *r, size_t left, size_t share)
{
	const struct meta *m = &r->meta;
	struct buffer text = BUFFER_INIT;
	json_begin(json, NULL, '{');
	runs_append_json(json, m, META_LINE);
	stats_name_command(&text, m->argv);
	json_add_made(json, "name", &text);
	json_add_string(json, "profile", m->profile);
	json_add_string(json, "agent", m->agent);
	json_add_count(json, "shown_bytes", m->shown.bytes);
	json_add_count(json, "tokens", m->shown.tokens);
	uint64_t bytes = m->out.bytes + m->err.bytes;
	json_add_count(json, "text_bytes", m->shown.text > bytes ? m->shown.text : bytes);
	int dir = *m->id ? store_open_session(r->store, c->directory, false) : -1;
	if (dir >= 0) {
		/* A run has an ID, but no text, where it was slow and printed nothing. */
		if (id_has_file(dir, m->id, ARTIFACT_OUT)) {
			buffer_printf(&text, "%s/sessions/%s/%s.txt", r->store->path, c->directory,
				      m->id);
			json_add_made(json, "path", &text);
		}
		report_add_file(json, "shown", "shown_cut", dir, m->id, ARTIFACT_SHOWN,
				page_room(json, share));
		report_add_texts(json, dir, m->id, share);
		report_add_file(json, "recording", "recording_cut", dir, m->id, ARTIFACT_CAST,
				left / 8 < RECORDING_MOST ? left / 8 : RECORDING_MOST);
		io_close(&dir);
	}
	json_end(json, '}');
}

static void report_make(const struct report_call *c, const char *nonce, struct buffer *page)
{
	const char *data = strstr(report_page, DATA), *behind = data + strlen(DATA);
	struct buffer json = BUFFER_INIT;
	json_begin(&json, NULL, '{');
	json_add_string(&json, "session", *c->one.id ? c->one.id : c->directory);
	json_add_number(&json, "written_ms", clock_real_ms());
	json_add_count(&json, "older", c->total - c->count);
	stats_append_json(&json, &c->stats.all);
	json_end(&json, '}');
	page_add(page, report_page, (size_t)(data - report_page), NONCE, nonce);
	page_add_data(page, "facts", &json);
	for (size_t i = c->count; i > 0; i--) {
		/* What older ones did not need is there for newer ones. */
		size_t left = page->len < PAGE_MOST ? PAGE_MOST - page->len : 0;
		report_add_run(&json, c, &c->runs[i - 1], left, left / i);
		page_add_data(page, "run", &json);
	}
	page_add(page, behind, strlen(behind), NONCE, nonce);
	buffer_release(&json);
}

static int report_write(const struct report_call *c, uint64_t *size)
{
	struct buffer page = BUFFER_INIT;
	unsigned char random[16];
	char nonce[2 * sizeof(random) + 1];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -1;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(nonce + 2 * i, 3, "%02x", random[i]);
	report_make(c, nonce, &page);
	int result = output_write(c->output, &page);
	*size = page.len;
	buffer_release(&page);
	return result;
}

/* --- the verb ------------------------------------------------------------------------------ */

static int report_run(struct verb_call *call)
{
	struct report_call made = {.stats.by = STATS_BY_NOTHING}, *c = &made;
	struct buffer line = BUFFER_INIT;
	uint64_t size = 0;
	int status = 0;
	if (verb_parse(call, c) < 0)
		return EXIT_TERSE;
	if (!c->output)
		return verb_fail(call, ENVELOPE_USAGE,
				 "where to? terse report -o FILE.html (-: standard output)");
	if (strcmp(c->output, "-") == 0 && isatty(STDOUT_FILENO))
		return verb_fail(call, ENVELOPE_USAGE,
				 "standard output is a terminal: terse report -o FILE.html");
	/* Does the operand name a run, or a session? */
	const char *name = call->operands[0];
	if (name && (strncmp(name, "cmd-", 4) == 0 || strncmp(name, "last", 4) == 0)) {
		int dir = verb_find_directory(call, name, &c->one, NULL, NULL);
		if (dir < 0)
			return 1;
		io_close(&dir);
		memcpy(c->directory, c->one.session, sizeof(c->directory));
		c->stats.only = c->one.id;
	} else {
		call->session = name ? name : call->session;
		if (!verb_has_session(call, c->directory))
			return 1;
	}
	c->store_count = verb_open_stores(call, c->stores, &status);
	int written = report_collect(c) < 0 ? -1 : report_write(c, &size);
	if (written < 0)
		verb_error(call->verb->name, "%s: %m", c->output);
	if (written == 0 && strcmp(c->output, "-") != 0) {
		quote_text(&line, c->output, strlen(c->output), 0);
		buffer_append_string(&line, ": ");
		if (c->total > c->count)
			buffer_printf(&line, "the newest %s of ", HUMAN_COUNT(c->count));
		buffer_printf(&line, "%s run%s", HUMAN_COUNT(c->total), c->total == 1 ? "" : "s");
		buffer_printf(&line, ", %s\n", HUMAN_SIZE(size));
		verb_print(call, &line);
	}
	for (size_t i = 0; i < c->count; i++)
		meta_release(&c->runs[i].meta);
	free(c->runs);
	stats_release(&c->stats);
	store_close_all(c->stores, c->store_count);
	return written < 0 ? 1 : status;
}

static const struct verb_option report_options[] = {
	{"--output", 'o', VERB_TEXT, offsetof(struct report_call, output), "FILE",
	 "write to this file; -: standard output"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_report = {
	.name = "report",
	.purpose = "write a session as a page for a browser",
	.forms = "-o FILE.html [SESSION|ID]",
	.text = "Writes this session, another one or one run as one file for a browser: when what\n"
		"ran, what the agent was shown of it exactly as it was, the whole texts with the\n"
		"shown lines marked, recordings. The page loads nothing and runs nothing but "
		"itself.\n",
	.options = report_options,
	.more = 1,
	.run = report_run,
};
