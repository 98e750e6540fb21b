// terse report: writes a session, or one run, as a page for a browser: a single file, which needs
// no network. --watch writes it again when something has happened.
//
// page/ has the page: its style, and the script that draws it from data. The data are base64 in
// elements that a browser doesn't execute, so nothing that a command has printed can be taken for
// HTML. A Content-Security-Policy with a random nonce allows only this script to run, and nothing
// to be loaded.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <zlib.h>

/* The most runs on a page; the newest ones. */
#define RUNS_MOST 20000

/* Sizes in bytes: of a page, above which older runs have no texts; of a text, above which only its
   start and end are shown; of the end of a growing text; of each other file of a run; and of
   ID.shown, if the whole text was shown. */
#define PAGE_MOST  ((size_t)128 * 1024 * 1024)
#define TEXT_MOST  ((uint64_t)16 * 1024 * 1024)
#define LIVE_MOST  ((uint64_t)64 * 1024)
#define OTHER_MOST ((uint64_t)4 * 1024 * 1024)
#define SHOWN_LINE ((uint64_t)256)

/* The texts of a page form one stream of bytes, in parts of this size. Each part is an element, so
   a browser unpacks only the parts that are looked at. */
#define PART_LEN ((size_t)512 * 1024)

struct report_call {
	const char *output;
	bool watch;
	struct id_found one; /* the only run; id "": all runs of the session */
	char directory[STORE_SESSION_LEN + 1];

	struct store stores[STORE_MAX];
	int store_count;
	struct stats stats;
	void *seen;             /* of runs_seen() */
	uint64_t count;         /* number of runs in the list */
	uint64_t total;         /* number of runs, including those that are too old for the page */
	bool lives;             /* at least one run lives */
	struct live_status now; /* the last status that was received */
	bool is_silent;         /* a supervisor did not answer, so no others are asked */

	struct buffer list;  /* the runs, as elements of a JSON array */
	struct buffer parts; /* the elements of the stream */
	struct buffer open;  /* the last part, which is not complete */
	uint64_t size;       /* bytes of the stream */
};

/* --- texts -------------------------------------------------------------------------------- */

/* Appends an element with data for DecompressionStream: compressed by deflate, in base64. */
static void page_add_data(struct buffer *page, const char *class, uint64_t from,
			  const struct buffer *data)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uLongf len = compressBound(data->len);
	unsigned char *packed = data->failed ? NULL : calloc(1, len + 2);
	/* Level 1, the fastest, already makes logs 4 to 10 times smaller. */
	if (!packed || compress2(packed, &len, (unsigned char *)data->data, data->len, 1) != Z_OK ||
	    buffer_reserve(page, len / 3 * 4 + 128) < 0) {
		page->failed = true;
		free(packed);
		return;
	}
	buffer_printf(page, "<script type=\"text/plain\" class=\"%s\" data-from=\"%" PRIu64 "\">",
		      class, from);
	for (size_t i = 0; i < len; i += 3) {
		unsigned bits =
			(unsigned)packed[i] << 16 | (unsigned)packed[i + 1] << 8 | packed[i + 2];
		for (size_t k = 0; k < 4 && !page->failed; k++)
			page->data[page->len++] =
				i + k > len ? '=' : digits[bits >> (18 - 6 * k) & 63];
	}
	buffer_append_string(page, "</script>\n");
	free(packed);
}

static void report_end_part(struct report_call *c)
{
	if (c->open.len > 0)
		page_add_data(&c->parts, "part", c->size - c->open.len, &c->open);
	buffer_clear(&c->open);
}

/* Adds a text to the stream, and its pieces to `json`: [[LINE,FROM,TO]...]. LINE is the number of
   the first line of a piece, or 0 if the piece ends with the last line of the text. A string
   between pieces says which lines are not kept, or why the rest can't be read. A long text is cut
   to its first `head` and its last `tail` bytes. */
static void report_add_text(struct report_call *c, struct buffer *json, struct text *t,
			    uint64_t head, uint64_t tail)
{
	struct text_piece piece = {.kind = TEXT_BYTES};
	uint64_t lines = 0, line = 1, from = c->size,
		 cut = t->size > head + tail ? head : UINT64_MAX;
	text_lines(t, &lines);
	json_add_count(json, "lines", lines);
	json_begin(json, "pieces", '[');
	for (int result = 0; result == 0 && piece.kind != TEXT_END;) {
		char words[GAP_ANNOUNCE_MAX];
		size_t room = PART_LEN - c->open.len;
		bool skips = t->offset >= cut;
		if (skips)
			text_seek_byte(t, t->size - tail);
		else if (buffer_reserve(&c->open, room) < 0)
			result = -1;
		else
			result = text_next(
				t, c->open.data + c->open.len,
				cut - t->offset < room ? (size_t)(cut - t->offset) : room, &piece);
		if (!skips && result == 0 && piece.kind == TEXT_BYTES) {
			c->open.len += piece.len;
			c->size += piece.len;
			if (c->open.len == PART_LEN)
				report_end_part(c);
			continue;
		}
		if (c->size > from)
			buffer_printf(json, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
				      json->data[json->len - 1] == '[' ? "" : ",", line, from,
				      c->size);
		line = 0;
		from = c->size;
		if (skips) {
			cut = UINT64_MAX;
		} else if (result < 0) {
			json_add_string(json, NULL, verb_reason(errno));
		} else if (piece.kind == TEXT_GAP) {
			gap_describe(words, &piece.gap);
			json_add_string(json, NULL, words);
			line = piece.gap.to + !piece.goes_on;
		}
	}
	json_end(json, ']');
}

/* --- runs --------------------------------------------------------------------------------- */

/* Adds a run to the list: the members that terse list prints (internal.h), further facts, and where
   its texts are in the stream. */
static void report_add_run(struct report_call *c, const struct store *store, const struct meta *m)
{
	static const struct {
		const char *key;
		uint64_t head, tail;
	} texts[] = {
		[ARTIFACT_OUT] = {"stdout", TEXT_MOST / 2, TEXT_MOST / 2},
		[ARTIFACT_ERR] = {"stderr", TEXT_MOST / 2, TEXT_MOST / 2},
		[ARTIFACT_RAW] = {"raw", OTHER_MOST, 0},
		[ARTIFACT_CAST] = {"recording", OTHER_MOST, 0},
		[ARTIFACT_SHOWN] = {"shown", OTHER_MOST, 0},
	};
	struct buffer *json = &c->list;
	const bool lives = m->state == META_RUNNING;
	const uint64_t kept = m->out.bytes + m->err.bytes,
		       bytes = m->shown.text > kept ? m->shown.text : kept;
	c->count++;
	c->lives |= lives;
	json_begin(json, NULL, '{');
	runs_append_json(json, m, META_LINE);
	json_begin(json, "labels", '{');
	runs_add_labels(json, m, true);
	json_end(json, '}');
	json_add_string(json, "profile", m->profile);
	json_add_string(json, "agent", m->agent);
	json_add_count(json, "shown_bytes", m->shown.bytes);
	json_add_count(json, "tokens", m->shown.tokens);
	json_add_count(json, "text_bytes", bytes);
	json_add_bool(json, "left_out", c->parts.len > PAGE_MOST);
	int dir = *m->id && c->parts.len <= PAGE_MOST
			  ? store_open_session(store, c->directory, false)
			  : -1;
	for (enum artifact_part i = 0; dir >= 0 && i < (lives ? ARTIFACT_RAW : ARTIFACT_JSON);
	     i++) {
		struct text t;
		if (text_open(&t, dir, m->id, i) < 0)
			continue;
		/* If the whole text was shown, the first line of ID.shown says so, and no more of
		   it is needed. */
		bool again = i == ARTIFACT_SHOWN && m->shown.bytes == bytes;
		json_begin(json, texts[i].key, '{');
		report_add_text(c, json, &t,
				lives   ? 0
				: again ? SHOWN_LINE
					: texts[i].head,
				lives ? LIVE_MOST : texts[i].tail);
		json_end(json, '}');
		text_close(&t);
	}
	json_end(json, '}');
	io_close(&dir);
}

/* Reads the metadata of the run that a line of the journal is about. Live runs, and runs whose
   output a process still holds, have only the line which says that their artifact was made. Returns
   0, 1 if there is no run to add, or -1 with errno. */
static int report_read_run(struct report_call *c, const struct journal_line *line, struct meta *m)
{
	int seen = runs_seen(&c->seen, line->of.id);
	if (seen != 0)
		return seen;
	int read = line->kind == JOURNAL_RUN ? meta_parse(line->text, line->len, m)
					     : meta_read_found(&line->of, m);
	if (read < 0)
		return errno == ENOMEM ? -1 : 1;
	if (m->state != META_RUNNING || c->is_silent)
		return 0;
	/* Asks the supervisor whether the run waits now. A stopped supervisor doesn't answer. */
	int run = client_open(c->stores, c->store_count, m->id);
	bool answers = run >= 0 && client_status(run, FRAME_STATUS, &c->now) == 0;
	c->is_silent = run >= 0 && !answers && errno == ETIMEDOUT;
	if (answers && c->now.state == LIVE_WAITING)
		m->waits = (struct meta_waits){.count = 1,
					       .from_ms = clock_real_ms() - c->now.quiet_ms,
					       .question = c->now.prompt};
	io_close(&run);
	return 0;
}

/* Reads the session from all stores, newest runs first. Returns 0, or -1 with errno. */
static int report_collect(struct report_call *c)
{
	for (int i = 0; i < c->store_count; i++) {
		if (stats_add_session(&c->stats, &c->stores[i], c->directory) < 0)
			return -1;
	}
	struct journal *j =
		journal_open(c->stores, c->store_count, c->directory, JOURNAL_MADE | JOURNAL_RUN);
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
			report_add_run(c, line.of.store, &m);
		meta_release(&m);
	}
	journal_close(j);
	report_end_part(c);
	return got;
}

/* --- the page ------------------------------------------------------------------------------ */

/* The files of the page, which the assembler puts into the program. */
__asm__(".pushsection .rodata\n"
	"report_page:  .incbin \"supervisor/command/page/page.html\"\n.byte 0\n"
	"report_style: .incbin \"supervisor/command/page/page.css\"\n.byte 0\n"
	"report_script:\n"
	".irp part, base,name,data,terminal,player,differ,lines,timeline,list,run,main\n"
	".incbin \"supervisor/command/page/\\part\\().js\"\n"
	".endr\n.byte 0\n.popsection\n");
extern const char report_page[] __asm__("report_page"), report_style[] __asm__("report_style"),
	report_script[] __asm__("report_script");

/* Makes the page, and writes it. Returns 0, or -1 with errno. */
static int report_write(struct report_call *c, bool goes_on, uint64_t *size)
{
	struct buffer page = BUFFER_INIT, json = BUFFER_INIT, index = BUFFER_INIT;
	uint64_t random[2];
	char nonce[33];
	struct output o;
	int result = -1;
	if (report_collect(c) < 0 ||
	    getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -1;
	snprintf(nonce, sizeof(nonce), "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	json_begin(&json, NULL, '{');
	json_add_string(&json, "session", *c->one.id ? c->one.id : c->directory);
	json_add_number(&json, "written_ms", clock_real_ms());
	json_add_bool(&json, "watch", goes_on);
	json_add_count(&json, "older", c->total - c->count);
	stats_append_json(&json, &c->stats.all);
	json_begin(&json, "list", '[');
	buffer_add(&json, &c->list);
	json_end(&json, ']');
	json_end(&json, '}');
	page_add_data(&index, "index", 0, &json);
	/* These replace the words between @ and @, in order. */
	const char *const words[] = {nonce,
				     nonce,
				     nonce,
				     report_style,
				     buffer_string(&index),
				     nonce,
				     report_script,
				     buffer_string(&c->parts)};
	const char *at = report_page;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t len = strcspn(at, "@");
		buffer_append(&page, at, len);
		page.failed |= !words[i];
		buffer_append_string(&page, words[i] ? words[i] : "");
		at += len + 1 + strcspn(at + len + 1, "@") + 1;
	}
	buffer_append_string(&page, at);
	*size = page.len;
	if (buffer_check(&page) == 0 && output_open(&o, c->output, true) == 0)
		result = output_close(&o, io_write(o.fd, page.data, page.len));
	buffer_release(&page);
	buffer_release(&json);
	buffer_release(&index);
	return result;
}

static void report_drop(struct report_call *c)
{
	stats_release(&c->stats);
	tdestroy(c->seen, free);
	buffer_release(&c->list);
	buffer_release(&c->parts);
	buffer_release(&c->open);
}

/* --- the verb ------------------------------------------------------------------------------ */

/* Returns when a run last began or ended, or something was last read. */
static int64_t report_changed_ms(struct report_call *c)
{
	struct journal_session *of = NULL;
	size_t count = 0;
	int64_t ms = 0;
	if (journal_sessions(c->stores, c->store_count, c->directory, &of, &count) == 0 &&
	    count > 0)
		ms = of->ms;
	free(of);
	return ms;
}

/* Writing the page takes at most 1/WATCH_SHARE of the time. Every WATCH_MS ms, terse checks whether
   the page has to be written. */
#define WATCH_SHARE 10
#define WATCH_MS    ((int64_t)1000)

/* Writes the page when a run begins or ends, and again and again while a run lives, until a signal
   comes. Returns 0, or -1 with errno. */
static int report_watch(struct report_call *c, const struct report_call *fresh)
{
	int64_t took = 0;
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	for (int64_t changed = 0;;) {
		int64_t ms = WATCH_MS + took * WATCH_SHARE, began;
		const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
		bool ended = sigtimedwait(&ends, NULL, &pause) >= 0;
		uint64_t size;
		int64_t now = report_changed_ms(c);
		if (now == changed && !c->lives && !ended)
			continue;
		report_drop(c);
		*c = *fresh;
		began = clock_monotonic_ms();
		if (report_write(c, !ended, &size) < 0 || ended)
			return ended - 1;
		took = clock_monotonic_ms() - began;
		changed = now;
	}
}

static int report_run(struct verb_call *call)
{
	struct report_call made = {.output = NULL}, *c = &made;
	struct buffer line = BUFFER_INIT;
	uint64_t size = 0;
	int status = 0;
	if (verb_parse(call, c) < 0)
		return EXIT_TERSE;
	const bool prints = c->output && strcmp(c->output, "-") == 0;
	if (!c->output || (prints && c->watch))
		return verb_fail(call, ENVELOPE_USAGE,
				 "where to? terse report -o FILE.html (-: standard output)");
	if (prints && isatty(STDOUT_FILENO))
		return verb_fail(call, ENVELOPE_USAGE,
				 "standard output is a terminal: terse report -o FILE.html");
	/* The operand names a run if it looks like an ID or "last", else a session. */
	const char *name = call->operands[0];
	if (name && (strncmp(name, "cmd-", 4) == 0 || strncmp(name, "last", 4) == 0)) {
		int dir = verb_find_directory(call, name, &c->one, NULL);
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
	const struct report_call fresh = *c;
	int written = report_write(c, c->watch, &size);
	if (written == 0 && !prints) {
		quote_text(&line, c->output, strlen(c->output), 0);
		buffer_append_string(&line, ": ");
		if (c->total > c->count)
			buffer_printf(&line, "the newest %s of ", HUMAN_COUNT(c->count));
		buffer_printf(&line, "%s run%s", HUMAN_COUNT(c->total), c->total == 1 ? "" : "s");
		buffer_printf(&line, ", %s%s\n", HUMAN_SIZE(size),
			      c->total ? "" : " (terse session lists the sessions)");
		verb_print(call, &line);
	}
	if (written == 0 && c->watch)
		written = report_watch(c, &fresh);
	if (written < 0)
		verb_error(call->verb->name, "%s: %m", c->output);
	report_drop(c);
	store_close_all(c->stores, c->store_count);
	return written < 0 ? 1 : status;
}

static const struct verb_option report_options[] = {
	{"--output", 'o', VERB_TEXT, offsetof(struct report_call, output), "FILE",
	 "write to this file; -: standard output"},
	{"--watch", 0, VERB_FLAG, offsetof(struct report_call, watch), NULL,
	 "write it again when a run begins, prints or ends, until Ctrl-C"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_report = {
	.name = "report",
	.purpose = "write a session as a page for a browser",
	.forms = "-o FILE.html [SESSION|ID]",
	.text = "Writes this session, another one or one run as one file for a browser: what ran\n"
		"when, exactly what the agent was shown beside the whole text, what differs from\n"
		"the command's last run, and recordings. The page loads nothing, and runs only\n"
		"its own script.\n",
	.options = report_options,
	.more = 1,
	.run = report_run,
};
