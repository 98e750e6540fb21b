// See record.h: the report of one run.

#include "supervisor/process/record.h"

#include "lib/human.h"
#include "lib/io.h"
#include "lib/utf8.h"
#include "supervisor/redact/redactor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)32 * 1024)

/* Hands out the chunk. Unless `end`, it holds back an incomplete character. */
static void summary_text_emit(struct summary_text *r, bool end, struct buffer *out)
{
	size_t len = r->chunk.len, cut = 0;
	if (len == 0)
		return;
	if (!end && utf8_incomplete(r->chunk.data, len, &cut))
		len -= cut;
	if (!end && len > 0 && r->chunk.data[len - 1] == '\r')
		len--;
	utf8_clean(out, r->chunk.data, len);
	if (len > 0)
		r->in_line = r->chunk.data[len - 1] != '\n';
	buffer_consume(&r->chunk, len);
}

static int summary_text_next(void *ctx, struct buffer *out)
{
	struct summary_text *r = ctx;
	struct report_stream *s = &r->report->streams[r->which];
	struct text_piece piece;
	int result = 1;
	if (buffer_reserve(&r->chunk, CHUNK) < 0 ||
	    text_next(&r->text, r->chunk.data + r->chunk.len, CHUNK, &piece) < 0)
		return -1;
	if (piece.kind == TEXT_GAP) {
		uint64_t to = piece.gap.from - 1;
		summary_text_emit(r, true, out);
		if (r->in_line) {
			to = piece.gap.from;
			s->lines_truncated++;
			buffer_append(out, "\n", 1);
			r->in_line = false;
		}
		if (to >= r->from && report_add_range(s, r->from, to) < 0)
			return -1;
		s->broken = LIMIT_BYTES;
		s->last_line_partial = to == piece.gap.from;
		r->from = piece.gap.to + 1;
		r->skips = piece.goes_on;
	} else if (piece.kind == TEXT_END) {
		summary_text_emit(r, true, out);
		result = s->total_lines >= r->from ? report_add_range(s, r->from, s->total_lines)
						   : 0;
	} else {
		size_t before = out->len;
		r->chunk.len += piece.len;
		/* Leaves out the rest of a line whose start is missing. */
		if (r->skips) {
			const char *newline = memchr(r->chunk.data, '\n', r->chunk.len);
			size_t len = newline ? (size_t)(newline - r->chunk.data) + 1 : r->chunk.len;
			buffer_consume(&r->chunk, len);
			r->skips = !newline;
		}
		summary_text_emit(r, false, out);
		if (out->len > before)
			s->last_line_partial = false;
	}
	return buffer_check(out) < 0 ? -1 : result;
}

void summary_init(struct summary *a, const struct job *job, struct record *record)
{
	const struct meta *m = &record->meta;
	bool running = m->state == META_RUNNING;
	*a = (struct summary){.out = a->out,
			      .is_open = true,
			      .report = {
				      .piece = a->report.piece,
				      .command = job->shown,
				      .cwd = record->cwd,
				      .state = running                        ? REPORT_RUNNING
					       : m->state == META_INTERRUPTED ? REPORT_INTERRUPTED
									      : REPORT_DONE,
				      .exit_code = running ? -1 : m->exit_code,
				      .signal = m->signal,
				      .timed_out = m->timed_out,
				      .started_ms = m->started_ms,
				      .duration_ms = running ? clock_monotonic_ms() - job->begun_ms
							     : m->duration_ms,
			      }};
}

void summary_add(struct summary *a, struct interceptor *text, const struct interceptor_ending *e,
		 const struct record *record)
{
	struct report *r = &a->report;
	const bool is_stderr = e->place.is_stderr;
	const char *name = is_stderr ? "stderr" : "stdout", *background = e->ending.background;
	struct report_stream *s = &r->streams[is_stderr];
	if (record->artifact) {
		r->id = record->meta.id;
		for (enum artifact_part part = ARTIFACT_OUT; part < ARTIFACT_PARTS; part++) {
			if (artifact_part_path(record->artifact, part, a->paths[part]))
				r->paths[part] = a->paths[part];
		}
		store_session_name(record->meta.session, a->session);
		r->session = a->session;
	}
	if (text && interceptor_collect(text, e, s) < 0)
		report_warn(r, "%s: %s", name, strerror(ENOMEM));
	bool left_out = report_is_truncated(s);
	if (left_out && text && interceptor_facts(text).is_on_disk) {
		struct summary_text *rest = &a->texts[is_stderr];
		*rest = (struct summary_text){.report = r, .which = is_stderr, .from = 1};
		/* The report then takes the stream's text from the artifact. */
		rest->is_open = text_open(&rest->text, artifact_directory(record->artifact), r->id,
					  is_stderr ? ARTIFACT_ERR : ARTIFACT_OUT) == 0;
		if (rest->is_open) {
			s->next = summary_text_next;
			s->ctx = rest;
		} else {
			report_warn(r, "%s: %s", name, strerror(errno));
		}
	}
	/* The report names only the type and the place of binary output. */
	if (s->binary) {
		char size[HUMAN_LEN];
		struct buffer bytes = BUFFER_INIT;
		if (r->id) {
			buffer_append_string(&bytes, ": ");
			buffer_printf(&bytes, vocabularies[record->settings->words].raw_bytes,
				      r->id);
		}
		report_warn(r, "%s: %s of binary output%s%s%s%s", name,
			    human_size(size, s->total_bytes), s->kind ? " (" : "",
			    s->kind ? s->kind : "", s->kind ? ")" : "",
			    bytes.len > 0 && buffer_string(&bytes) ? bytes.data : "");
		buffer_release(&bytes);
	}
	s->gaps = e->place.gaps;
	for (int i = 0; i < s->gaps.count; i++) {
		char words[GAP_ANNOUNCE_MAX];
		gap_describe(words, &s->gaps.items[i]);
		report_warn(r, "%s: %s", name, words);
	}
	if (e->place.error && s->gaps.count == 0 && (left_out || background))
		report_warn(r, "%s: output not kept: %s", name, gap_reason(e->place.error));
	if (background && r->state != REPORT_RUNNING)
		report_warn(r, "%s: %s", name,
			    *background ? background : "background processes still write");
}

int summary_next(struct summary *a, struct buffer *out)
{
	if (a->is_open && report_next(&a->report, out) <= 0)
		a->is_open = false;
	return a->is_open;
}

void summary_release(struct summary *a)
{
	a->is_open = false;
	for (int i = 0; i < 2; i++) {
		struct summary_text *r = &a->texts[i];
		if (r->is_open)
			text_close(&r->text);
		r->is_open = false;
		buffer_release(&r->chunk);
	}
	report_release(&a->report);
	buffer_release(&a->out);
}

void summary_print_failure(const struct job *job, const struct report *failure)
{
	char cwd[PATH_MAX];
	struct buffer out = BUFFER_INIT;
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = '\0';
	if (job->secrets)
		redactor_inside(job->secrets, cwd, sizeof(cwd));
	struct summary a = {.is_open = true, .report = *failure};
	a.report.command = job->shown;
	a.report.cwd = cwd;
	a.report.started_ms = job->started_ms;
	a.report.duration_ms = clock_monotonic_ms() - job->begun_ms;
	while (summary_next(&a, &out))
		;
	io_write(STDOUT_FILENO, out.data, out.len);
	buffer_release(&out);
	summary_release(&a);
}
