// terse report: a session, or one run, as a page for a browser: one file, for one without a
// network.
//
// page/report.html has the style, and the script that builds what is seen from data. Data are JSON
// in elements that nothing executes, with no "<" in them, so whatever a command printed stays text;
// a Content-Security-Policy with a random nonce lets nothing else run and nothing be loaded.

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/command/html.h"
#include "supervisor/command/output.h"
#include "supervisor/command/person.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/stats.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Runs on a page: the newest. */
#define RUNS_MOST 5000

/* Bytes of all texts on a page, before they become JSON; of all that was shown (1,000 runs with a
   usual preview fit); of all recordings. */
#define TEXTS_MOST      ((uint64_t)10 * 1024 * 1024)
#define SHOWN_MOST      ((uint64_t)6 * 1024 * 1024)
#define RECORDINGS_MOST ((uint64_t)4 * 1024 * 1024)

/* Bytes of one of them, and of one that is cut at least. */
#define TEXT_MOST      ((uint64_t)256 * 1024)
#define RECORDING_MOST ((uint64_t)1024 * 1024)
#define TEXT_LEAST     ((uint64_t)2 * 1024)

/* From this size on the page gets no more texts. JSON may take six bytes for one. */
#define PAGE_FULL ((uint64_t)16 * 1024 * 1024)

/* How often --watch looks whether a run has ended, in milliseconds. */
#define LOOK_MS 500

/* A run on the page. */
struct report_run {
	char *line; /* as in the history; owned */
	size_t len;
	uint64_t id; /* packed; 0: no artifact */
	int64_t started_ms;
	int store; /* where its artifact is */
};

struct report_call {
	struct verb_call *call;
	const char *output;
	uint64_t size; /* bytes of the page, if it is a file */
	bool watch;
	struct id_found one; /* only this run; id "": all of the session */
	char directory[STORE_SESSION_LEN + 1];

	struct store stores[STORE_MAX];
	int store_count;
	int dirs[STORE_MAX];     /* of the session, or -1 */
	int store;               /* the one that is being read */
	struct report_run *runs; /* in the end the newest, the oldest of them first */
	size_t count, room;
	uint64_t total; /* those that are too old for the page included */
	bool failed;    /* there was no memory */
	struct stats stats;
};

/* --- collecting -------------------------------------------------------------------------- */

static int compare_starts(const void *a, const void *b)
{
	const struct report_run *x = a, *y = b;
	return (x->started_ms > y->started_ms) - (x->started_ms < y->started_ms);
}

/* Adds a run, and a copy of its line. */
static void report_add(struct report_call *c, const struct meta *m, const char *line, size_t len)
{
	struct report_run *r = array_add(&c->runs, &c->count, &c->room, sizeof(*r));
	c->failed |= !r;
	if (!r)
		return;
	*r = (struct report_run){.line = malloc(len + 1),
				 .len = len,
				 .id = *m->id ? id_pack(m->id) : 0,
				 .started_ms = m->started_ms,
				 .store = c->store};
	c->failed |= !r->line;
	if (r->line)
		memcpy(r->line, line, len);
	c->total++;
}

static bool report_wants(const struct report_call *c, const char *id)
{
	return !*c->one.id || strcmp(id, c->one.id) == 0;
}

static void report_on_run(void *ctx, const struct meta *m, const char *line, size_t len)
{
	struct report_call *c = ctx;
	if (!report_wants(c, m->id))
		return;
	report_add(c, m, line, len);
	stats_add_run(&c->stats, m, line, len);
}

static void report_on_read(void *ctx, const struct journal_read *read)
{
	struct report_call *c = ctx;
	if (report_wants(c, read->id))
		stats_add_read(&c->stats, read);
}

/* The artifacts of a store that are in no history: their runs live, or have ended while a process
   that they have left behind holds their output. They are rare and new, so only the last thousand
   are looked at. */
static int report_add_newest(struct report_call *c)
{
	struct id_found found;
	struct meta m;
	struct journal *j = journal_open(&c->stores[c->store], 1, c->directory, JOURNAL_MADE);
	int got = j ? 0 : -1;
	for (int i = 0; j && i < 1000 && (got = journal_next_made(j, &found)) == 1; i++) {
		/* Runs of the history stand in the order of their ends, so a new one is found
		   soon. */
		size_t at = c->count;
		while (at > 0 && c->runs[at - 1].id != id_pack(found.id))
			at--;
		if (at > 0 || !report_wants(c, found.id) ||
		    meta_read(c->dirs[c->store], found.id, &m) < 0)
			continue;
		struct buffer line = BUFFER_INIT;
		if (meta_encode(&line, &m, META_LINE) == 0)
			report_add(c, &m, line.data, line.len);
		buffer_release(&line);
		meta_release(&m);
	}
	journal_close(j);
	return got < 0 ? -1 : 0;
}

static void report_clear(struct report_call *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->runs[i].line);
	c->count = 0;
	c->total = 0;
	stats_release(&c->stats);
	c->stats = (struct stats){.by = STATS_BY_NOTHING};
}

/* Reads the session in all stores. Returns 0, or -1 with errno. */
static int report_collect(struct report_call *c)
{
	const struct journal_events events = {report_on_run, report_on_read, c};
	int result = 0;
	report_clear(c);
	for (c->store = 0; c->store < c->store_count && result == 0; c->store++) {
		if (c->dirs[c->store] < 0)
			continue;
		stats_begin_session(&c->stats);
		result = journal_scan(&c->stores[c->store], c->directory, &events,
				      &c->stats.damaged);
		if (result == 0)
			result = report_add_newest(c);
	}
	if (c->count > 0)
		qsort(c->runs, c->count, sizeof(*c->runs), compare_starts);
	size_t cut = c->count > RUNS_MOST ? c->count - RUNS_MOST : 0;
	for (size_t i = 0; i < cut; i++)
		free(c->runs[i].line);
	c->count -= cut;
	if (cut > 0)
		memmove(c->runs, c->runs + cut, c->count * sizeof(*c->runs));
	if (c->failed || c->stats.failed)
		errno = ENOMEM;
	return c->failed || c->stats.failed ? -1 : result;
}

/* --- writing ------------------------------------------------------------------------------ */

/* The page as it was when terse was built, put into the program by the assembler. */
__asm__(".pushsection .rodata\nreport_page:\n"
	".incbin \"supervisor/command/page/report.html\"\n.byte 0\n.popsection\n");
extern const char report_page[] __asm__("report_page");

/* What stands in it for the nonce, and for the data. */
#define NONCE "@NONCE@"
#define DATA  "@DATA@\n"

struct page {
	int fd;
	uint64_t written; /* bytes */
};

/* Writes data with one text in the place of another. Returns 0, or -1 with errno. */
static int page_write(struct page *p, const char *data, size_t len, const char *old,
		      const char *new)
{
	struct buffer out = BUFFER_INIT;
	for (const char *end = data + len, *at; data < end; data = at ? at + strlen(old) : end) {
		at = memmem(data, (size_t)(end - data), old, strlen(old));
		buffer_append(&out, data, (size_t)((at ? at : end) - data));
		buffer_append_string(&out, at ? new : "");
	}
	int result = buffer_check(&out) < 0 ? -1 : io_write(p->fd, out.data, out.len);
	p->written += out.len;
	buffer_release(&out);
	return result;
}

/* Writes an element of data, in which nothing can be its end; empties the JSON. */
static int page_add(struct page *p, const char *class, size_t number, struct buffer *json)
{
	static const char end[] = "</script>\n";
	char begin[80];
	int len = snprintf(begin, sizeof(begin),
			   "<script type=\"application/json\" class=\"%s\" id=\"%s%zu\">", class,
			   class, number);
	int result = buffer_check(json) < 0 || page_write(p, begin, (size_t)len, NONCE, "") < 0 ||
				     page_write(p, json->data, json->len, "<", "\\u003c") < 0 ||
				     page_write(p, end, sizeof(end) - 1, NONCE, "") < 0
			     ? -1
			     : 0;
	buffer_clear(json);
	return result;
}

/* The facts about a run, and at most `most` bytes of what was shown of it. Returns 0, or -1 if its
   line is damaged. */
static int report_add_run(struct buffer *out, const struct report_call *c,
			  const struct report_run *r, size_t most)
{
	struct meta m;
	struct buffer text = BUFFER_INIT;
	if (meta_parse(r->line, r->len, &m) < 0)
		return -1;
	json_begin_object(out, NULL);
	json_add_string(out, "id", *m.id ? m.id : NULL);
	row_add_command(&text, &m);
	html_add_clean(out, "command", text.data, text.len);
	out->failed |= text.failed;
	buffer_clear(&text);
	stats_name_command(&text, m.argv);
	json_add_made(out, "name", &text);
	html_add_clean(out, "cwd", m.cwd, strlen(m.cwd));
	json_add_string(out, "state", meta_state_name(m.state));
	json_add_known(out, "exit", m.exit_code >= 0, (uint64_t)m.exit_code);
	json_add_signal(out, "signal", m.signal);
	json_add_bool(out, "timed_out", m.timed_out);
	json_add_bool(out, "failed", m.state != META_RUNNING && meta_has_failed(&m));
	json_add_number(out, "started", m.started_ms);
	json_add_number(out, "duration", m.duration_ms);
	html_add_clean(out, "profile", m.profile ? m.profile : "",
		       m.profile ? strlen(m.profile) : 0);
	html_add_clean(out, "agent", m.agent ? m.agent : "", m.agent ? strlen(m.agent) : 0);
	json_add_count(out, "shown_bytes", m.shown.bytes);
	json_add_count(out, "tokens", m.shown.tokens);
	uint64_t bytes = m.out.bytes + m.err.bytes;
	json_add_count(out, "text_bytes", m.shown.text > bytes ? m.shown.text : bytes);
	html_add_shown(out, c->dirs[r->store], m.id, most);
	if (*m.id) {
		buffer_printf(&text, "%s/sessions/%s/%s.txt", c->stores[r->store].path,
			      c->directory, m.id);
		json_add_made(out, "path", &text);
	}
	json_end_object(out);
	meta_release(&m);
	return 0;
}

/* What one of `count` runs may take of what is left: what older ones did not need is there for
   newer ones. */
static size_t share(uint64_t left, size_t count)
{
	uint64_t most = left / count;
	return most > TEXT_MOST ? TEXT_MOST : most < TEXT_LEAST ? TEXT_LEAST : most;
}

static int report_write(const struct report_call *c, int fd)
{
	uint64_t texts = TEXTS_MOST, shown = SHOWN_MOST, recordings = RECORDINGS_MOST;
	const struct stats_sum *s = &c->stats.all;
	const struct {
		const char *key;
		const struct stats_size *size;
	} sizes[] = {{"shown", &s->shown}, {"read", &s->read}, {"own", &s->own}};
	const char *data = strstr(report_page, DATA), *behind = data + strlen(DATA);
	struct page page = {.fd = fd};
	struct progress progress;
	struct buffer json = BUFFER_INIT;
	unsigned char random[16];
	char nonce[2 * sizeof(random) + 1];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -1;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(nonce + 2 * i, 3, "%02x", random[i]);
	progress_begin(&progress);
	json_begin_object(&json, NULL);
	json_add_string(&json, "session", *c->one.id ? c->one.id : c->directory);
	json_add_number(&json, "written_ms", clock_real_ms());
	json_add_count(&json, "older", c->total - c->count);
	json_add_count(&json, "written", s->text);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		json_begin_array(&json, sizes[i].key);
		json_add_count(&json, NULL, sizes[i].size->bytes);
		json_add_count(&json, NULL, sizes[i].size->tokens);
		json_end_array(&json);
	}
	json_add_number(&json, "saved", stats_saved(s));
	json_add_number(&json, "saved_tokens", stats_saved_tokens(s));
	json_add_count(&json, "reads", s->reads);
	json_end_object(&json);
	int result = page_write(&page, report_page, (size_t)(data - report_page), NONCE, nonce);
	if (result == 0)
		result = page_add(&page, "facts", 0, &json);
	for (size_t i = 0; i < c->count && result == 0; i++) {
		const struct report_run *r = &c->runs[i];
		int dir = c->dirs[r->store];
		char id[ID_LEN + 1];
		progress_tell(&progress, "%zu of %zu runs", i, c->count);
		if (report_add_run(&json, c, r, share(shown, c->count - i)) < 0)
			continue;
		shown -= json.len < shown ? json.len : shown;
		result = page_add(&page, "r", i, &json);
		if (result < 0 || !r->id || page.written > PAGE_FULL)
			continue;
		id_unpack(r->id, id);
		json_begin_object(&json, NULL);
		html_add_texts(&json, dir, id, share(texts, c->count - i));
		texts -= json.len < texts ? json.len : texts;
		size_t before = json.len;
		if (recordings > 0)
			html_add_recording(&json, dir, id,
					   recordings < RECORDING_MOST ? recordings
								       : RECORDING_MOST);
		recordings -= json.len - before < recordings ? json.len - before : recordings;
		json_end_object(&json);
		result = page_add(&page, "t", i, &json);
	}
	int error = errno;
	progress_end(&progress);
	buffer_release(&json);
	errno = error;
	return result < 0 ? -1 : page_write(&page, behind, strlen(behind), NONCE, nonce);
}

/* What tells that there is something new: size and time of the session's journal. */
static uint64_t report_stamp(const struct report_call *c)
{
	uint64_t stamp = 0;
	for (int i = 0; i < c->store_count; i++) {
		struct stat st;
		if (c->dirs[i] >= 0 && fstatat(c->dirs[i], JOURNAL_FILE, &st, 0) == 0)
			stamp = stamp * 31 + (uint64_t)st.st_size + (uint64_t)st.st_mtim.tv_nsec +
				st.st_ino;
	}
	return stamp;
}

/* --- the verb ------------------------------------------------------------------------------ */

static int report_run(struct verb_call *call)
{
	struct report_call made = {.call = call}, *c = &made;
	struct buffer line = BUFFER_INIT;
	int status = 0, written = -1;
	if (verb_parse(call, c) < 0)
		return EXIT_TERSE;
	if (!c->output) {
		verb_error(call->verb->name,
			   "where to? terse report -o FILE.html (-: standard output)");
		return EXIT_TERSE;
	}
	if (strcmp(c->output, "-") == 0 && (c->watch || isatty(STDOUT_FILENO))) {
		verb_error(call->verb->name, "%s: terse report -o FILE.html",
			   c->watch ? "--watch needs a file" : "standard output is a terminal");
		return EXIT_TERSE;
	}
	/* Does the operand name a run, or a session? */
	const char *name = call->operands[0];
	if (name && (strncmp(name, "cmd-", 4) == 0 || strncmp(name, "last", 4) == 0)) {
		int dir = verb_find_directory(call, name, &c->one, NULL, NULL);
		if (dir < 0)
			return 1;
		io_close(&dir);
		memcpy(c->directory, c->one.session, sizeof(c->directory));
	} else {
		call->session = name ? name : call->session;
		if (!verb_has_session(call))
			return 1;
		verb_session_name(call->settings, call->session, c->directory);
	}
	c->store_count = verb_open_stores(call, c->stores, &status);
	for (int i = 0; i < c->store_count; i++)
		c->dirs[i] = store_open_session(&c->stores[i], c->directory, false);

	/* With --watch whenever a run has begun or ended, until a signal ends this process. */
	uint64_t stamp = 0;
	do {
		struct output output;
		while (written == 0 && report_stamp(c) == stamp)
			usleep(LOOK_MS * 1000);
		stamp = report_stamp(c);
		written = report_collect(c) < 0 || output_open(&output, c->output, true) < 0
				  ? -1
				  : output_close(&output, report_write(c, output.fd));
		if (written < 0)
			verb_error(call->verb->name, "%s: %m", c->output);
		else
			c->size = output.size;
	} while (written == 0 && c->watch);
	if (written == 0 && strcmp(c->output, "-") != 0) {
		quote_text(&line, c->output, strlen(c->output), 0);
		buffer_append_string(&line, ": ");
		if (c->total > c->count)
			buffer_printf(&line, "the newest %s of ", HUMAN_COUNT(c->count));
		buffer_printf(&line, "%s run%s", HUMAN_COUNT(c->total), c->total == 1 ? "" : "s");
		if (c->size)
			buffer_printf(&line, ", %s", HUMAN_SIZE(c->size));
		buffer_append_string(&line, "\n");
		verb_print(call, &line);
	}
	report_clear(c);
	free(c->runs);
	for (int i = 0; i < c->store_count; i++)
		io_close(&c->dirs[i]);
	store_close_all(c->stores, c->store_count);
	return written < 0 ? 1 : status;
}

static const struct verb_option report_options[] = {
	{"--output", 'o', VERB_TEXT, offsetof(struct report_call, output), "FILE",
	 "write to this file; -: standard output"},
	{"--watch", 0, VERB_FLAG, offsetof(struct report_call, watch), NULL,
	 "write it anew whenever a run begins or ends"},
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
	.most = 1,
	.run = report_run,
};
