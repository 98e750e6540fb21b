// See html.h.

#include "supervisor/command/html.h"

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/command/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* Bytes of texts on a page, and of one text, before they become JSON. */
#define TEXTS_MOST ((uint64_t)10 * 1024 * 1024)
#define TEXT_MOST  ((size_t)256 * 1024)
#define TEXT_LEAST ((size_t)2 * 1024)

/* The same of what was shown: 1,000 runs with a usual preview fit. */
#define SHOWN_MOST ((uint64_t)6 * 1024 * 1024)

/* Bytes of all pictures of recordings, and of those of one. */
#define FRAMES_MOST    ((size_t)4 * 1024 * 1024)
#define RECORDING_MOST ((size_t)1024 * 1024)

/* From this size on the page gets no more texts. JSON may take six bytes for one. */
#define PAGE_FULL ((uint64_t)16 * 1024 * 1024)

#define NONCE_LEN 32

static int write_out(struct html_page *p)
{
	if (buffer_check(&p->out) < 0 || io_write(p->fd, p->out.data, p->out.len) < 0)
		return -1;
	p->written += p->out.len;
	buffer_clear(&p->out);
	return 0;
}

/* Puts JSON into an element whose end nothing in it can be. */
static int write_data(struct html_page *p, const char *class, size_t number, struct buffer *json)
{
	struct buffer *out = &p->out;
	buffer_printf(out, "<script type=\"application/json\" class=\"%s\" id=\"%s%zu\">", class,
		      class, number);
	for (size_t at = 0; at < json->len;) {
		const char *from = json->data + at, *angle = memchr(from, '<', json->len - at);
		size_t len = angle ? (size_t)(angle - from) : json->len - at;
		buffer_append(out, from, len);
		if (angle)
			buffer_append_string(out, "\\u003c");
		at += len + (angle != NULL);
	}
	buffer_append_string(out, "</script>\n");
	out->failed |= json->failed;
	buffer_clear(json);
	return write_out(p);
}

static void add_escaped(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("<>&\"'", *text))
			buffer_printf(out, "&#%d;", *text);
		else
			buffer_append(out, text, 1);
	}
}

static int make_nonce(char nonce[NONCE_LEN + 1])
{
	unsigned char bytes[NONCE_LEN / 2];
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -1;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static void add_head(struct buffer *out, const char *session, const char *nonce)
{
	const struct html_asset style = html_style();
	buffer_printf(
		out,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'nonce-%s'; script-src 'nonce-%s'; img-src data:; base-uri 'none'; "
		"form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"generator\" content=\"terse " TERSE_VERSION "\">\n"
		"<link rel=\"icon\" href=\"data:,\">\n<title>",
		nonce, nonce);
	add_escaped(out, session);
	buffer_printf(out, " - terse</title>\n<style nonce=\"%s\">\n", nonce);
	buffer_append(out, style.data, style.len);
	buffer_append_string(out, "</style>\n</head>\n<body>\n<main id=\"page\"></main>\n"
				  "<noscript>This page needs its script.</noscript>\n");
}

static void add_foot(struct buffer *out, const char *nonce)
{
	const struct html_asset script = html_script();
	buffer_printf(out, "<script nonce=\"%s\">\n", nonce);
	buffer_append(out, script.data, script.len);
	buffer_append_string(out, "</script>\n</body>\n</html>\n");
}

static void add_size(struct buffer *out, const char *key, const struct stats_size *size)
{
	json_begin_array(out, key);
	json_add_count(out, NULL, size->bytes);
	json_add_count(out, NULL, size->tokens);
	json_end_array(out);
}

static void add_facts(struct buffer *out, const struct html_page *p)
{
	const struct stats_sum *s = &p->stats->all;
	json_begin_object(out, NULL);
	json_add_string(out, "session", p->session);
	json_add_number(out, "written_ms", clock_real_ms());
	json_add_count(out, "older", p->total - p->count);
	json_add_count(out, "written", s->text);
	add_size(out, "shown", &s->shown);
	add_size(out, "read", &s->read);
	add_size(out, "own", &s->own);
	json_add_number(out, "saved", stats_saved(s));
	json_add_number(out, "saved_tokens", stats_saved_tokens(s));
	json_add_count(out, "reads", s->reads);
	json_end_object(out);
}

static void add_command(struct buffer *out, const struct meta *m)
{
	struct buffer words = BUFFER_INIT;
	row_add_command(&words, m);
	html_add_clean(out, "command", words.data, words.len);
	out->failed |= words.failed;
	buffer_release(&words);
}

/* The facts about a run, and what was shown of it. Returns false if its line is damaged. */
static bool add_run(struct buffer *out, const struct html_page *p, const struct html_run *r)
{
	struct meta m;
	struct usage_run usage;
	struct buffer name = BUFFER_INIT;
	if (meta_parse(r->line, r->len, &m) < 0)
		return false;
	usage_parse_run(r->line, r->len, &usage);
	json_begin_object(out, NULL);
	json_add_string(out, "id", *m.id ? m.id : NULL);
	add_command(out, &m);
	stats_name_command(&name, &usage.command);
	json_add_made(out, "name", &name);
	html_add_clean(out, "cwd", m.cwd, strlen(m.cwd));
	json_add_string(out, "state", meta_state_name(m.state));
	json_add_known(out, "exit", m.exit_code >= 0, (uint64_t)m.exit_code);
	json_add_signal(out, "signal", m.signal);
	json_add_bool(out, "timed_out", m.timed_out);
	json_add_bool(out, "failed", m.state != META_RUNNING && usage.failed);
	json_add_number(out, "started", m.started_ms);
	json_add_number(out, "duration", m.duration_ms);
	html_add_clean(out, "profile", usage.profile.data, usage.profile.len);
	html_add_clean(out, "agent", usage.agent.data, usage.agent.len);
	json_add_count(out, "shown_bytes", usage.shown.bytes);
	json_add_count(out, "tokens", usage.shown.tokens);
	json_add_count(out, "text_bytes", usage.shown.text > r->size ? usage.shown.text : r->size);
	html_add_shown(out, p->dirs[r->store], m.id, p->shown_most);
	if (*m.id) {
		buffer_printf(&name, "%s/%s.txt", p->paths[r->store], m.id);
		json_add_made(out, "path", &name);
	}
	json_end_object(out);
	meta_release(&m);
	return true;
}

/* Its texts and its recording, if there is room for them. */
static int write_texts(struct html_page *p, size_t number, struct buffer *json)
{
	const struct html_run *r = &p->runs[number];
	char id[ID_LEN + 1];
	if (!r->id || p->written > PAGE_FULL)
		return 0;
	id_unpack(r->id, id);
	json_begin_object(json, NULL);
	html_add_texts(json, p->dirs[r->store], id, p->text_most);
	size_t before = json->len;
	size_t most = p->frames_left < RECORDING_MOST ? p->frames_left : RECORDING_MOST;
	if (most > 0)
		html_add_frames(json, p->dirs[r->store], id, most);
	p->frames_left -= json->len - before < p->frames_left ? json->len - before : p->frames_left;
	json_end_object(json);
	return write_data(p, "t", number, json);
}

/* The largest limit, not over `most`, with which all sizes are at most `sum`. */
static size_t choose_most(const struct html_page *p, uint64_t (*size)(const struct html_run *r),
			  size_t most, uint64_t sum)
{
	for (; most > TEXT_LEAST; most = most / 8 * 7) {
		uint64_t all = 0;
		for (size_t i = 0; i < p->count; i++)
			all += size(&p->runs[i]) < most ? size(&p->runs[i]) : most;
		if (all <= sum)
			break;
	}
	return most;
}

static uint64_t size_of_text(const struct html_run *r)
{
	return r->size;
}

static uint64_t size_of_shown(const struct html_run *r)
{
	return r->shown;
}

int html_write(struct html_page *p, int fd)
{
	char nonce[NONCE_LEN + 1];
	struct buffer json = BUFFER_INIT;
	int result = make_nonce(nonce);
	p->fd = fd;
	p->written = 0;
	p->frames_left = FRAMES_MOST;
	p->text_most = choose_most(p, size_of_text, TEXT_MOST, TEXTS_MOST);
	p->shown_most = choose_most(p, size_of_shown, TEXT_MOST, SHOWN_MOST);
	add_head(&p->out, p->session, nonce);
	add_facts(&json, p);
	if (result == 0)
		result = write_data(p, "facts", 0, &json);
	for (size_t i = 0; i < p->count && result == 0; i++) {
		if (!add_run(&json, p, &p->runs[i])) {
			buffer_clear(&json);
			continue;
		}
		result = write_data(p, "r", i, &json);
		if (result == 0)
			result = write_texts(p, i, &json);
		if (p->tell)
			p->tell(p->ctx, i + 1);
	}
	add_foot(&p->out, nonce);
	if (result == 0)
		result = write_out(p);
	buffer_release(&json);
	buffer_release(&p->out);
	return result;
}
