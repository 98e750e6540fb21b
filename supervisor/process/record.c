// See record.h.

#include "supervisor/process/record.h"

#include "config/agents.h"
#include "config/profile.h"
#include "lib/bytes.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/proc.h"
#include "lib/trace.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/short.h"
#include "supervisor/process/protocol.h"
#include "supervisor/redact/redactor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The most shown bytes that are kept. An agent is shown less of one command, except with
   `--full`. */
#define SHOWN_MOST ((size_t)256 * 1024)

void shown_add(struct shown *w, const char *data, size_t len)
{
	size_t room = w->bytes < SHOWN_MOST ? SHOWN_MOST - (size_t)w->bytes : 0;
	w->bytes += len;
	len = len < room ? len : room;
	tokens_feed(&w->tokens, data, len);
	buffer_append(&w->printed, data, len);
}

void shown_forget(struct shown *w, uint64_t bytes)
{
	w->unseen += bytes;
	if (w->unseen < w->bytes)
		return;
	buffer_release(&w->printed);
	buffer_release(&w->ranges);
	*w = (struct shown){0};
}

static void shown_describe(const struct shown *w, struct buffer *file)
{
	buffer_add(file, &w->ranges);
	if (file->len == 0)
		json_begin(file, NULL, '{');
	json_add_count(file, "bytes", w->bytes);
	json_end(file, '}');
	buffer_append_string(file, "\n");
}

void shown_keep(struct shown *w, struct artifact *a)
{
	struct buffer file = BUFFER_INIT;
	if (!a || w->bytes == 0)
		return;
	shown_describe(w, &file);
	buffer_add(&file, &w->printed);
	/* If ID.shown is missing, `terse report` says so. */
	if (buffer_check(&file) == 0)
		artifact_keep_shown(a, file.data, file.len);
	buffer_release(&file);
}

void record_init(struct record *r, const struct job *job)
{
	r->settings = job->settings;
	r->history = -1;
	r->error = job->settings->spill == SPILL_NEVER ? GAP_NEVER : 0;
	if (!getcwd(r->cwd, sizeof(r->cwd)))
		r->cwd[0] = '\0';
	static const enum meta_stderr stderrs[] = {
		[CHANNEL_PTY] = META_STDERR_APART,
		[CHANNEL_PIPE] = META_STDERR_APART,
		[CHANNEL_INHERIT] = META_STDERR_ELSEWHERE,
		[CHANNEL_MERGED] = META_STDERR_MERGED,
	};
	const char *session = session_name(job->settings, job->parent, r->session);
	r->pushing = settings_push(job->settings) ? job->settings : NULL;
	r->outbox.dir = -1;
	if (job->secrets) {
		redactor_inside(job->secrets, r->cwd, sizeof(r->cwd));
		snprintf(r->session, sizeof(r->session), "%s", session);
		redactor_inside(job->secrets, r->session, sizeof(r->session));
		session = r->session;
	}
	snprintf(r->description, sizeof(r->description), "%s",
		 job->description ? job->description : "");
	if (job->secrets)
		redactor_inside(job->secrets, r->description, sizeof(r->description));
	r->meta = (struct meta){
		.standard_error = stderrs[job->channels.channel[1]],
		.argv = job->shown,
		.cwd = r->cwd,
		.session = session,
		.service = job->service,
		.description = r->description,
		.environment = job->environment,
		.started_ms = job->started_ms,
		.state = META_RUNNING,
		.exit_code = -1,
		.cols = job->cols,
		.rows = job->rows,
		.supervisor = getpid(),
	};
	if (r->pushing || job->settings->labels.count > 0)
		outbox_describe(job->settings, &r->origin, &r->meta);
	/* Notes the files and devices that the command writes to directly. */
	for (int i = 0; i < 2; i++) {
		struct stat st;
		if (job->channels.channel[i] != CHANNEL_INHERIT ||
		    job->channels.sink[i] != SINK_FILE ||
		    process_link(0, r->files[i], sizeof(r->files[i]), "fd/%d", STDOUT_FILENO + i) <=
			    0 ||
		    *r->files[i] != '/')
			continue;
		r->meta.files[i] = r->files[i];
		r->writes_file |= fstat(STDOUT_FILENO + i, &st) == 0 && S_ISREG(st.st_mode);
	}
}

int record_claim(struct record *r)
{
	struct store store;
	char session[STORE_SESSION_LEN + 1];
	if (r->meta.id[0])
		return 0;
	if (store_open_write(&store) < 0)
		return -1;
	store_session_name(r->meta.session, session);
	int result = id_claim(&store, session, r->meta.started_ms, r->meta.id);
	if (result < 0)
		r->meta.id[0] = '\0';
	r->claimed = result == 0;
	store_close(&store);
	return result;
}

/* Notes in the outbox that a run with an artifact is to be pushed. This happens before the run's
   end, so that the run is pushed even if its supervisor is killed. If the command has ended already
   (`over`), record_end() decides, since the outcome may show that the run is not wanted. */
static void record_want_push(struct record *r)
{
	bool ended = r->meta.ended_ms != 0;
	if (r->outbox.dir < 0 || !r->artifact || r->noted || (r->over && !ended) ||
	    (ended && !outbox_is_wanted(r->pushing, &r->meta)))
		return;
	r->noted = outbox_want(&r->outbox, r->meta.id) == 0;
	if (!r->noted)
		TRACE(PROCESS, "it can't be pushed: %m");
}

struct artifact *record_open(struct record *r)
{
	if (r->artifact || r->error || r->settled)
		return r->artifact;
	r->artifact = artifact_create(&r->meta, (uint64_t)r->settings->max_artifact,
				      (uint64_t)r->settings->min_free);
	if (!r->artifact)
		r->error = errno ? errno : EIO;
	record_want_push(r);
	TRACE(PROCESS, "artifact %s", r->artifact ? r->meta.id : strerror(r->error));
	return r->artifact;
}

struct wording_place record_place(const struct record *r, bool is_stderr)
{
	struct wording_place place = {
		.is_stderr = is_stderr, .error = r->error, .words = r->settings->words};
	if (r->artifact) {
		place.error = artifact_error(r->artifact);
		/* The text that came before the disk was full can still be read. */
		place.id = r->meta.id;
		place.gaps = r->meta.binary ? meta_raw_gaps(&r->meta)
					    : meta_gaps(is_stderr ? &r->meta.err : &r->meta.out);
	}
	return place;
}

void record_end(struct record *r, int status, bool timed_out, bool interrupted, int64_t duration_ms)
{
	struct meta *m = &r->meta;
	m->state = interrupted ? META_INTERRUPTED : META_DONE;
	m->exit_code = timed_out ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	m->signal = WIFSIGNALED(status) && !timed_out ? WTERMSIG(status) : 0;
	m->timed_out = timed_out;
	m->duration_ms = duration_ms;
	m->ended_ms = m->started_ms + duration_ms;
	if (r->artifact)
		artifact_update(r->artifact);
	record_want_push(r);
}

void record_prepare(struct record *r, int64_t gc_interval_ms)
{
	struct store store;
	char session[STORE_SESSION_LEN + 1];
	if (store_open_write(&store) < 0)
		return;
	store_session_name(r->meta.session, session);
	r->history = store_open_session(&store, session, true);
	r->gc_due = gc_is_due(&store, gc_interval_ms);
	if (r->pushing)
		outbox_open(&r->outbox, &store, true);
	store_close(&store);
}

int record_keep(struct record *r, const struct buffer *const texts[2])
{
	struct meta *m = &r->meta;
	const struct shown *w = &r->shown;
	struct buffer shown = BUFFER_INIT;
	const struct buffer *parts[ARTIFACT_JSON] = {NULL};
	struct meta_stream *const streams[] = {&m->out, &m->err};
	static const struct buffer none = BUFFER_INIT;
	int result = 0;
	if (r->artifact)
		return 0;
	parts[ARTIFACT_OUT] = &none;
	for (int i = 0; i < 2; i++) {
		const struct buffer *text = texts[i];
		if (!text)
			continue;
		uint64_t lines = 0;
		if (text->len > 0)
			lines = newline_count(text->data, text->len) +
				(text->data[text->len - 1] != '\n');
		*streams[i] =
			(struct meta_stream){.present = true, .bytes = text->len, .lines = lines};
		parts[ARTIFACT_OUT + i] = text;
	}
	r->settled = true;
	/* Keeps the short text, since somebody may ask for it later, above all after a failure. */
	bool pushes = r->outbox.dir >= 0 && outbox_is_wanted(r->pushing, m);
	if ((r->settings->spill != SPILL_ALWAYS && !pushes) || r->error || r->history < 0 ||
	    profile_is_own(m->argv))
		return 0;
	if (w->bytes > 0) {
		shown_describe(w, &shown);
		if (!buffer_is(&w->printed, parts[ARTIFACT_OUT]->data, parts[ARTIFACT_OUT]->len))
			buffer_add(&shown, &w->printed);
		parts[ARTIFACT_SHOWN] = &shown;
	}
	errno = EFBIG;
	result = -1;
	if (m->out.bytes + m->err.bytes <= SHORT_MOST && buffer_check(&shown) == 0)
		result = short_add(r->history, m, (uint64_t)r->settings->min_free, parts);
	r->is_short = r->settled = result == 0;
	if (r->is_short && pushes)
		r->noted = outbox_want(&r->outbox, m->id) == 0;
	TRACE(PROCESS, "short text %s", r->is_short ? m->id : strerror(errno));
	buffer_release(&shown);
	return result;
}

void record_tell_shown(struct record *r)
{
	/* Finds out whether the command only reads earlier output, as in `terse read ID | tail`. */
	const struct shown *w = &r->shown;
	struct meta *m = &r->meta;
	bool failed = m->state == META_INTERRUPTED || m->exit_code != 0, named = false;
	for (char *const *word = m->argv; word && *word && w->bytes > 0 && !named; word++)
		named = strstr(*word, "terse");
	bool own = w->bytes > 0 && (r->settings->own_words || (named && profile_is_own(m->argv)));
	m->agent = r->settings->agent;
	m->profile = own ? PROFILE_TERSE : r->settings->applied;
	uint64_t seen = w->bytes < SHOWN_MOST ? w->bytes : SHOWN_MOST;
	m->shown = (struct meta_shown){.bytes = w->bytes};
	if (w->bytes > 0)
		m->shown.tokens = tokens_scale(tokens_estimate(&w->tokens), seen, w->bytes);
	/* A command of terse is not compared with the same command without terse, which can't
	   exist. */
	if (w->bytes > 0 && !own) {
		m->shown.text = w->text;
		m->shown.own = agent_would_show(r->settings, failed, w->text, w->lines);
	}
}

void record_add_history(struct record *r)
{
	struct meta *m = &r->meta;
	char id = m->id[0];
	record_tell_shown(r);
	/* A run that is not kept has only claimed its ID. */
	if (!r->artifact && !r->is_short)
		m->id[0] = '\0';
	if (r->history >= 0)
		journal_add_run(r->history, m, r->is_short);
	m->id[0] = id;
	io_close(&r->history);
}

void record_close(struct record *r, bool grown)
{
	/* Releases the claimed ID of a run that is not kept. */
	if (r->claimed && !r->artifact && !r->is_short) {
		struct store stores[STORE_MAX];
		int count = store_open_everywhere(stores);
		for (int i = 0; i < count; i++) {
			id_release(&stores[i], r->meta.id);
			store_close(&stores[i]);
		}
		r->meta.id[0] = '\0';
	}
	r->meta.holders = 0;
	if (r->artifact) {
		if (grown)
			artifact_update(r->artifact);
		artifact_close(r->artifact);
		if (r->noted && !outbox_is_wanted(r->pushing, &r->meta)) {
			outbox_forget(&r->outbox, r->meta.id);
			r->noted = false;
		}
	}
	record_add_history(r);
	r->artifact = NULL;
	buffer_release(&r->shown.printed);
	buffer_release(&r->shown.ranges);
	buffer_release(&r->origin.labels);
	r->meta.labels = NULL;
	r->push_due = r->outbox.dir >= 0 && outbox_has_work(&r->outbox, r->noted);
}

void record_clean_up(const struct record *r)
{
	struct store stores[STORE_MAX];
	setpriority(PRIO_PROCESS, 0, PRIO_MAX - 1);
	int count = store_open_all(stores);
	for (int i = 0; i < count; i++) {
		struct gc gc = {
			.store = &stores[i],
			.limits = gc_limits(r->settings),
			.now_ms = clock_real_ms(),
			.interval_ms = r->settings->gc_interval,
		};
		if (gc_run(&gc) <= 0)
			client_sweep(&stores[i]);
		store_close(&stores[i]);
	}
}
